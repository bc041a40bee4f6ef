"""The house does not grow: no room has more statements, and no concept more forms, than CONTRIBUTING.md allows."""

import pytest

from benchmarks.house import COUNTS
from benchmarks.size import limits, sizes

APART = ("tests", "benchmarks")


def test_no_room_is_above_its_number() -> None:
    allowed, now = limits(), sizes()
    rooms = {name: one.statements for name, one in now.items() if name not in APART}
    assert {name: count for name, count in rooms.items() if count > allowed.get(name, 0)} == {}
    assert sum(rooms.values()) <= allowed["product"]


@pytest.mark.parametrize("name", COUNTS)
def test_no_concept_has_more_forms_than_it_had(name: str) -> None:
    assert COUNTS[name]() <= limits()[name]
