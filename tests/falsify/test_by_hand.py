"""A search leads with a violation that a hand can check, where it finds one, and has the smallest beside it."""

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from boundlab.case import load_case
from boundlab.exact import evaluate
from boundlab.falsify import Falsification, _result, _shrink, falsify, known_witnesses
from boundlab.falsify._judge import Judge
from boundlab.falsify._search import Found
from boundlab.theorems import load_theorem

# Of each algorithm with a refuted theorem one whose violations near the bound hardly convince.
REFUTED = ("area.theorem8", "area.theorem8.fixed-step", "afl_dga.theorem1", "fedfa.theorem1", "fedstaleweight.theorem1")


@cache
def search(theorem: str) -> Falsification:
    return falsify(load_theorem(theorem), limit=60)


@pytest.mark.nightly
@pytest.mark.parametrize("theorem", REFUTED)
def test_a_hand_can_check_it_and_it_is_above_by_a_twentieth(theorem: str, tmp_path: Path) -> None:
    found = search(theorem)
    assert found.best is not None
    assert found.best.by_hand
    assert found.best.ratio >= 1.05
    path = tmp_path / "case.json"
    path.write_text(json.dumps(found.case), encoding="utf-8")
    way = evaluate(found.theorem, load_case(path), derive=True)
    assert way.violated
    assert way.derivation is not None
    assert way.derivation.by_hand
    assert way.ratio == pytest.approx(found.best.ratio, rel=1e-12)


@pytest.mark.nightly
@pytest.mark.parametrize("theorem", REFUTED)
def test_the_smallest_stands_beside_it(theorem: str) -> None:
    found = search(theorem)
    assert found.smallest is not None
    assert found.best is not None
    assert found.smallest.violated
    if found.smaller is not None:
        assert not (found.smaller.by_hand and found.smaller.ratio >= 1.05)
        assert found.as_dict()["smallest"]["words"] == found.smaller.words()
    else:
        assert found.smallest is found.best
        assert found.as_dict()["smallest"] is None


def test_nothing_is_smaller_where_nothing_is_found() -> None:
    found = falsify(load_theorem("area.theorem8.repaired"), limit=5)
    assert (found.smaller, found.smallest) == (None, None)
    assert found.called == "closest instance"


def test_what_is_said_to_convince_leads_only_where_it_is_confirmed(monkeypatch: pytest.MonkeyPatch) -> None:
    theorem = load_theorem("area.theorem8")
    judge = Judge(theorem, float("inf"))
    scores = [score for one in known_witnesses(theorem) if (score := judge.score(one)) is not None]
    broken = next(one for one in scores if one.violates and one.ratio >= 1.05)
    for other in ({"M": "1"}, {"M": "no number"}):
        given = replace(broken, candidate=replace(broken.candidate, settings={**broken.candidate.settings, **other}))

        def found(*_: Any, of: Any = given) -> Iterator[Found]:
            yield Found(broken, None, of)

        monkeypatch.setattr(_result, "search", found)
        answer = falsify(theorem)
        assert answer.violated
        assert answer.best is not None
        assert answer.best.violated
        assert answer.best.candidate == broken.candidate
        assert answer.smaller is None


def test_other_units_are_taken_only_where_a_hand_can_check_it_in_them(monkeypatch: pytest.MonkeyPatch) -> None:
    theorem = load_theorem("area.theorem8")
    judge = Judge(theorem, float("inf"))
    scores = [score for one in known_witnesses(theorem) if (score := judge.score(one)) is not None]
    broken = max(scores, key=lambda one: one.ratio)
    scaled = replace(broken, candidate=broken.candidate.in_units(10.0, 10.0))
    monkeypatch.setattr(_shrink, "near_one", lambda *_: scaled)
    monkeypatch.setattr(_shrink, "shrink", lambda score, *_, **__: score)
    small = replace(broken, ratio=1.001)
    for by_hand, answer in ((lambda _: True, scaled), (lambda one: one is broken, broken)):
        assert _shrink.convincing([broken], small, judge, lambda: False, by_hand) is answer
