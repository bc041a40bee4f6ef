"""Every numbered display of an argument on a theory page has a number of its own, and a test."""

import pytest
from theory_pages import PAGES, displays, shown

_PAGES = sorted(path.stem for path in PAGES.glob("*.md"))


@pytest.mark.parametrize("page", _PAGES)
def test_no_two_displays_have_one_number(page: str) -> None:
    tags = displays(page)
    assert len(tags) == len(set(tags))


@pytest.mark.sweep(2)
@pytest.mark.parametrize("page", _PAGES)
def test_each_display_has_a_test_and_each_test_a_display(page: str) -> None:
    assert set(displays(page)) == shown().get(page, set())
