"""The house does not grow: no room has more statements, and no concept more forms, than CONTRIBUTING.md allows."""

from collections import Counter
from pathlib import Path

import pytest

from benchmarks.house import COUNTS, PRODUCT
from benchmarks.size import limits, sizes


@pytest.mark.slow  # it reads every module
def test_no_room_is_above_its_number() -> None:
    allowed = limits()
    rooms = {name: one.statements for name, one in sizes(PRODUCT).items()}
    assert {name: count for name, count in rooms.items() if count > allowed.get(name, 0)} == {}
    assert sum(rooms.values()) <= allowed["product"]


@pytest.mark.slow  # it reads every module
def test_no_concept_has_more_forms_than_it_had() -> None:
    allowed, now = limits(), {name: count() for name, count in COUNTS.items()}
    assert {name: count for name, count in now.items() if count > allowed[name]} == {}


def test_no_two_files_of_tests_have_one_name() -> None:
    """Their folders are no packages, so that the second is not collected."""
    names = Counter(path.name for path in Path(__file__).parents[1].rglob("test_*.py"))
    assert [name for name, count in names.items() if count > 1] == []
