"""Lines that say what is false are refused, whatever they are made from: each rule, with all premises of a file."""

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from boundlab.prove._writing import add, trial
from boundlab.recheck import kernel
from boundlab.recheck._numbers import begin
from boundlab.recheck._replay import Replay
from boundlab.recheck.kernel import REFUSALS, RULES

HERE = Path(__file__).parent
FILES = {path.stem: json.loads(path.read_text(encoding="utf-8"))["right"] for path in (HERE / "wrong").glob("*.json")}
PROOFS = sorted(name for name, raw in FILES.items() if raw["schema"] == "boundlab proof 2")
# These say what is assumed, or supposed: anything may be.
GIVEN = ("axiom", "claimed", "suppose", "mixture")
UNIT: list[Any] = [[{"top": [["1", []]]}, ["one"]]]
SYMBOL: list[Any] = [[{"top": [["1", [["x_9", 1]]]]}, ["one"]]]
VECTOR: list[Any] = [[{"top": [["1", []]]}, ["vector", "v_9", []]]]
SQUARE: list[Any] = [[{"top": [["1", []]]}, ["inner", ["v_9", []], ["v_9", []]]]]
# Of a symbol and a vector that no file speaks of.
FALSE: tuple[dict[str, Any], ...] = (
    *({"claim": {"left": [], "relation": relation, "right": UNIT}} for relation in (">=", "=")),
    {"claim": {"left": UNIT, "relation": "<=", "right": []}},
    {"claim": {"left": SYMBOL, "relation": ">=", "right": []}},
    {"claim": {"left": SQUARE, "relation": "<=", "right": []}},
    {"left": VECTOR, "right": []},
)
LINE: dict[str, Any] = {"context": 0, "premises": [], "axioms": []}
# 0 = 0 of vectors, 0 = 0 and 0 ≥ 0 of numbers.
NOTHING: tuple[dict[str, Any], ...] = (
    {**LINE, "rule": "combine vectors", "data": {"multipliers": [], "vectors": []}, "left": [], "right": []},
    *(
        {**LINE, "rule": "combine", "data": {"multipliers": [], "rest": {"top": []}}, "claim": claim}
        for claim in ({"left": [], "relation": relation, "right": []} for relation in ("=", ">="))
    ),
)


def opened(name: str) -> tuple[Replay, int]:
    """Return a right file with lines that say nothing, checked to its end; and how many lines are its own."""
    raw = copy.deepcopy(FILES[name])
    many = len(raw["facts"])
    raw["facts"] += copy.deepcopy(NOTHING)
    ends = dict.fromkeys(("low", "high", "by"))
    raw["symbols"].append({"name": "x_9", **ends, **dict.fromkeys(("above", "below", "integer"), False), "arity": 0})
    raw["vectors"]["v_9"] = {"arity": 0, "clock": None, "drawn": None}
    begin()
    replay = kernel.opened(raw)
    assert len([*replay.run()]) == many + len(NOTHING)
    replay.root.left.clear()  # signs that the file leaves to others
    return replay, many


def premises(own: tuple[int, ...], many: int) -> Iterator[tuple[int, ...]]:
    """Yield the premises of a line, one of them another one, all of them one, one that says nothing more, and one less.

    Parameters
    ----------
    many
        How many lines there are; the last of them say nothing.
    """
    yield own
    yield own[:-1]
    for one in range(many):
        yield from ((*own[:place], one, *own[place + 1 :]) for place in range(len(own)))
        yield (one,) * len(own)
    yield from ((*own, many - one) for one in range(1, len(NOTHING) + 1))


def accepted(replay: Replay, line: dict[str, Any]) -> bool:
    begin()
    try:
        with trial(replay):
            add(replay, line)
    except REFUSALS:
        return False
    return True


@pytest.mark.parametrize("name", PROOFS)
def test_no_rule_makes_what_is_false_of_any_premises(name: str) -> None:
    replay, many = opened(name)
    lines = replay.lines[:]
    for line in (one for one in lines[:many] if one["rule"] in RULES and one["rule"] not in GIVEN):
        plain = {key: line[key] for key in ("rule", "context", "data")}
        for used in dict.fromkeys(premises(tuple(line["premises"]), len(lines))):
            below = sorted(set().union(*(lines[one]["axioms"] for one in used)))
            for says in FALSE:
                for axioms in {tuple(below), tuple(line["axioms"])}:
                    wrong = {**plain, **says, "premises": [*used], "axioms": [*axioms]}
                    assert not accepted(replay, wrong), wrong
