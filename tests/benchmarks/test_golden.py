"""Recorded answers stay: numbers to nine digits, exact ones as they are, enclosures with a number in common.

A tenth of them is asked here, chosen so that each judge, engine, algorithm and family is among them: together they take
most of a minute. ``make golden`` asks all.
"""

from collections import Counter

import pytest

from benchmarks.golden.ask import ask
from benchmarks.golden.differ import differences
from benchmarks.golden.lines import ANSWERS, Line, read
from benchmarks.golden.tenth import TIMES

PARTS = 12
LINES = read() if ANSWERS.exists() else []
TENTH = [line for line in LINES if line.tenth]


recorded = pytest.mark.skipif(not LINES, reason="no answers are recorded: python -m benchmarks.golden make")


@recorded
def test_there_are_five_thousand_in_six_megabytes() -> None:
    assert len(LINES) >= 5000
    assert ANSWERS.parent.joinpath("answers.jsonl.xz").stat().st_size < 6e6
    assert len({line.id for line in LINES}) == len(LINES)


@recorded
def test_no_crash_is_recorded() -> None:
    assert [line.id for line in LINES if isinstance(line.answer, dict) and line.answer.get("exit") in (70, 130)] == []


@recorded
def test_everything_that_occurs_is_asked_three_times() -> None:
    def tags(lines: list[Line]) -> Counter[str]:
        return Counter(tag for line in lines if line.kind != "notebook" for tag in line.tags)

    everywhere, here = tags(LINES), tags(TENTH)
    assert {tag for tag, count in everywhere.items() if here[tag] < min(TIMES, count)} == set()


@recorded
@pytest.mark.slow  # a hundred recorded answers a part
@pytest.mark.parametrize("part", range(PARTS))
def test_answers_are_those_that_were_recorded(part: int) -> None:
    changed = {line.id: list(differences(line.answer, ask(line).answer)) for line in TENTH[part::PARTS]}
    assert {name: found for name, found in changed.items() if found} == {}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (1.0, 1.0 + 1e-8),
        ("1/3", "2/3"),
        ("holds", "consistent"),
        ({"in": [0.0, 1.0]}, {"in": [1.1, 2.0]}),
        ({"about": 1.0}, {"about": 1.001}),
        ([1, 2], [1, 2, 3]),
        ({"a": 1}, {"a": 1, "b": 2}),
        ([1.0, "upper"], [1.0, "lower"]),
        (1.0, None),
        (True, 1.5),
    ],
)
def test_what_differs_is_told(old: object, new: object) -> None:
    assert list(differences(old, new)) != []
    assert list(differences(old, old)) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (1.0, 1.0 + 1e-11),
        ({"in": [0.0, 1.0]}, {"in": [0.5, 0.6]}),
        ({"in": [0.0, None]}, {"in": [5.0, 6.0]}),
        ({"about": 1.0}, {"about": 1.00001}),
        ({"seen": "other words"}, {"seen": "words"}),
        (float("nan"), float("nan")),
    ],
)
def test_what_may_change_is_not_told(old: object, new: object) -> None:
    assert list(differences(old, new)) == []
