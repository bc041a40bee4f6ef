"""No number of a page goes stale: each is found again by a claim, or is no result by a rule or a listed phrase."""

import importlib
import random
from collections import Counter
from pathlib import Path

import page_numbers
import pytest
from page_numbers import CLAIMS, PAGES, RULES, given, held, spans

for _module in sorted(Path(__file__).parent.glob("claims_*.py")):
    importlib.import_module(_module.stem)


@pytest.mark.sweep(86)
@pytest.mark.parametrize(
    "one",
    [pytest.param(one, marks=pytest.mark.nightly if one.nightly else (), id=one.name) for one in CLAIMS],
)
def test_the_page_says_what_is_found(one):
    one.check()


@pytest.mark.sweep(8)
@pytest.mark.parametrize("page", PAGES)
def test_every_number_of_a_page_is_held(page):
    free = [f"{page}:{number.line}: {number.text} in “{number.around}”" for number, by in held(page) if not by]
    assert free == [], "each wants a claim in tests/claims, or a phrase in given.toml that says what was chosen"


@pytest.mark.sweep(3)
@pytest.mark.parametrize("page", PAGES)
def test_every_phrase_that_is_listed_stands_on_its_page(page):
    phrases = [phrase for kind in ("chosen", "by hand") for phrase in given(page, kind)]
    assert [phrase for phrase in phrases if not spans(page, phrase)] == []
    assert [phrase for phrase, count in Counter(phrases).items() if count > 1] == []


def what_holds(page: str) -> list[object]:
    """Return what a change of a page may change: what claims say, whether phrases stand, what nothing holds."""
    said: list[object] = []
    for one in CLAIMS:
        if one.page == page:
            try:
                said.append(one.place().groups())
            except AssertionError:
                said.append(None)
    phrases = [bool(spans(page, phrase)) for kind in ("chosen", "by hand") for phrase in given(page, kind)]
    return [*said, phrases, [number.text for number, by in held(page) if not by] if None not in said else None]


@pytest.mark.sweep(15)
@pytest.mark.parametrize("page", PAGES)
def test_a_digit_that_is_changed_is_noticed(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = [number for number, by in held(page) if by not in RULES]
    before, text = what_holds(page), page_numbers.words(page)
    draw = random.Random(page)  # noqa: S311  (no secret)
    for number in draw.sample(numbers, min(3, len(numbers))):
        place = number.start + draw.choice([i for i, sign in enumerate(number.text) if sign in "0123456789"])
        digit = draw.choice([one for one in "123456789" if one != text[place]])
        monkeypatch.setattr(
            page_numbers, "words", lambda _, there=place, new=digit: text[:there] + new + text[there + 1 :]
        )
        assert what_holds(page) != before, f"{number.around}: {digit} at {place}"
        monkeypatch.undo()


def test_what_is_found_by_hand_stands_among_the_benchmarks() -> None:
    assert [page for page in PAGES if given(page, "by hand")] == ["benchmarks/README.md"]
