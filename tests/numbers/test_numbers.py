"""No number of a page goes stale: each is found again by a claim, or is no result by a rule or a listed phrase."""

import importlib
from collections import Counter
from pathlib import Path

import pytest
from page_numbers import CLAIMS, PAGES, given, held, spans

for _module in sorted(Path(__file__).parent.glob("claims_*.py")):
    importlib.import_module(_module.stem)


@pytest.mark.parametrize(
    "one",
    [pytest.param(one, marks=pytest.mark.nightly if one.nightly else (), id=one.name) for one in CLAIMS],
)
def test_the_page_says_what_is_found(one):
    one.check()


@pytest.mark.parametrize("page", PAGES)
def test_every_number_of_a_page_is_held(page):
    free = [f"{page}:{number.line}: {number.text} in “{number.around}”" for number, by in held(page) if not by]
    assert free == [], "each wants a claim in tests/numbers, or a phrase in given.toml that says what was chosen"


@pytest.mark.parametrize("page", PAGES)
def test_every_phrase_that_is_listed_stands_on_its_page(page):
    phrases = [phrase for kind in ("chosen", "by hand") for phrase in given(page, kind)]
    assert [phrase for phrase in phrases if not spans(page, phrase)] == []
    assert [phrase for phrase, count in Counter(phrases).items() if count > 1] == []
