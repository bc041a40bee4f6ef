"""Proof files: the checker accepts every registered proof, and no forgery of any of them."""

import copy
import json
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from proof_files import (
    HEAVY,
    SMALL,
    WRITTEN,
    answered,
    changed,
    checked,
    coefficients,
    ends_with_0,
    file_of,
    outcome,
    refused,
    registered,
    steps_spent,
)

from boundlab.cli import invoke
from boundlab.prove import Proof, Range, Script, expr, run, scalar
from boundlab.prove.trace import registered_theorem, trace, with_setting, write_trace
from boundlab.recheck import Finding, recheck
from boundlab.recheck._numbers import MOST
from boundlab.recheck.kernel import recheck_proof

PROOFS = [one.id for one in registered().values() if not one.printed]
PRINTED = [one.id for one in registered().values() if one.printed]
EVERY = [*PROOFS, *SMALL]
# Files whose forgeries are tried one and all at night only: a few of them are replayed to the end.
WHOLE = "area.theorem8.repaired"  # one with a conclusion that rests on axioms
# A step is only claimed; an axiom belongs to no theorem.
OPEN = {"small.sums"}
FORGED = [name for name in EVERY if name not in HEAVY]
_AT_ONCE = 60  # forgeries of all files together, where not all are tried


@pytest.fixture(scope="module")
def bernoulli() -> dict[str, Any]:
    return copy.deepcopy(file_of("small.bernoulli"))


@lru_cache(maxsize=64)
def finding(name: str) -> Finding:
    return answered(name, file_of(name), checked(name))


def cases(proof: Proof) -> None:
    """Name a number in one of two cases."""
    kernel = proof.kernel
    x = kernel.context.declare("x", Range(low=scalar(0)))
    less, _more = kernel.split("x", 1)
    kernel.name("y", x + 1, context=less)
    proof.step("a number", expr(x) >= 0, [kernel.combine(expr(x) >= 0, [])])


def test_a_case_in_a_file_declares_its_own_symbols() -> None:
    raw = trace(run(Script("x", "", "", cases)))
    own = [[one["name"] for one in case.get("symbols", ())] for case in raw["contexts"]]
    assert own[0] == []
    assert ["y"] in own
    found = recheck_proof(raw)
    assert found.right, found.reason


@pytest.mark.parametrize(
    "name", [*FORGED, *(pytest.param(name, marks=pytest.mark.nightly) for name in sorted(HEAVY & {*PROOFS}))]
)
def test_a_proof_is_accepted_where_all_is_shown(name: str) -> None:
    found = finding(name)
    assert found.right, found.reason
    if name in OPEN:
        assert found.verdict == "not decided"
        assert found.trusted
    else:
        assert found.accepted, found.open
        assert found.checked == len(file_of(name)["facts"])


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.nightly] if name in HEAVY else []) for name in PROOFS]
)
def test_no_rule_and_no_sign_of_a_registered_proof_is_left_to_others(name: str) -> None:
    assert finding(name).left == ()
    assert (finding(name).trusted != ()) is (name in OPEN)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.nightly] if name in HEAVY else []) for name in PROOFS]
)
def test_no_registered_proof_comes_near_the_limit_of_steps(name: str) -> None:
    """A proof that runs out of steps is called not proved, and a file not decided."""
    raw, theorem = file_of(name), registered_theorem(file_of(name))
    assert 4 * WRITTEN[name] <= MOST
    found = recheck_proof(raw)
    assert 8 * steps_spent() <= MOST
    if theorem is not None:
        with_setting(raw, found, theorem)
        assert 8 * steps_spent() <= MOST


@pytest.mark.nightly
@pytest.mark.parametrize("name", PRINTED)
def test_of_a_printed_proof_no_line_is_wrong_and_what_is_claimed_is_named(name: str) -> None:
    found = finding(name)
    assert found.verdict == "not decided", found.reason
    assert any("which is only claimed" in one for one in found.trusted)


@pytest.mark.parametrize("name", FORGED)
def test_a_file_is_the_same_each_time(name: str) -> None:
    assert write_trace(outcome(name)) == write_trace(outcome.__wrapped__(name))


def places(name: str) -> list[tuple[int, Any, Any]]:
    """Return (fact, place in it, forged value): claims, multipliers, remainders, and all else that a rule is given.

    What a telescoping sum is told to be of may hold terms without the index: these cancel, and the claim is the same.
    So it is where a vector of one term is squared with the other sign.
    """
    found = []
    for number, line in enumerate(file_of(name)["facts"]):
        same_square = line["rule"] == "square" and len(line["data"]["vector"]) == 1
        for path, new in coefficients(line):
            if line["rule"] == "telescope" and path[:2] == ("data", "of"):
                continue
            if (
                same_square
                and path[2:] == (0, 0, "top", 0, 0)
                and new == f"-{line['data']['vector'][0][0]['top'][0][0]}"
            ):
                continue
            found.append((number, path, new))
    return found


def no_forgery_is_accepted(name: str, chosen: list[tuple[int, Any, Any]]) -> None:
    for number, path, new in chosen:
        forged = changed(file_of(name), ("facts", number, *path), new)
        assert not ends_with_0(name, forged, number), f"{name}: fact {number}, {path} = {new}"


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_number_is_found(name: str) -> None:
    every = places(name)
    step = max(1, len(every) * len(EVERY) // _AT_ONCE)
    no_forgery_is_accepted(name, every[step // 2 :: step])


@pytest.mark.nightly
@pytest.mark.parametrize("name", EVERY)
def test_every_forged_number_is_found(name: str) -> None:
    no_forgery_is_accepted(name, places(name))


@pytest.mark.parametrize("place", [-1, 3, 10**6, "0", None, 0.0, [0]])
def test_a_case_that_the_file_has_not_is_refused_in_words(place: Any) -> None:
    name = "afl_dga.r1"
    cited = [
        (number, ("data", "args", which, 1))
        for number, line in enumerate(file_of(name)["facts"])
        for which, (kind, *_) in enumerate(line["data"].get("args", ()))
        if kind == "case"
    ]
    assert cited
    for number, path in cited[:3]:
        assert not ends_with_0(name, changed(file_of(name), ("facts", number, *path), place), number)


@pytest.mark.parametrize("name", FORGED)
def test_every_multiplier_and_remainder_that_is_forged_is_found(name: str) -> None:
    chosen = [one for one in places(name) if one[1][:2] in (("data", "multipliers"), ("data", "rest"))]
    no_forgery_is_accepted(name, chosen[:: max(1, len(chosen) * len(EVERY) // _AT_ONCE)])


def test_a_forgery_found_in_part_is_found_in_the_whole_file() -> None:
    for number, path, new in places("small.bernoulli")[::9]:
        forged = changed(file_of("small.bernoulli"), ("facts", number, *path), new)
        assert not recheck_proof(forged).accepted
        assert refused("small.bernoulli", forged, number)


def reason(raw: Any) -> str:
    found = recheck_proof(raw)
    assert not found.accepted
    return found.reason


@pytest.mark.parametrize("name", ["small.bernoulli", "small.sums"])
def test_names_of_a_file_are_shown_as_its_own_words_and_beside_what_they_name(name: str) -> None:
    # Nothing binds a name to its fact: "Theorem 8" may be about 0 ≤ 1.
    raw = copy.deepcopy(file_of(name))
    raw["proof"] = "Theorem 8"
    for place, step in enumerate(raw["steps"]):
        step["name"] = f"Theorem 8 ({place})"
    found = recheck_proof(raw)
    shown = (found.reason, found.claim, *found.given, *found.open, *found.declared)
    named = [one for one in shown if "Theorem 8" in one]
    assert found.claim in named
    assert (len(named) > 1) is (name in OPEN)
    for one in named:
        assert re.search(
            r"^the (proof|step) that the file calls 'Theorem 8( \(\d+\))?'", one.removeprefix("taken on trust: ")
        )
        assert one == found.claim or re.search(r"which is not proved: (.+ (<=|=|<) |it has no fact)", one)


@pytest.mark.parametrize("place", ["facts", "symbols", "contexts", "vectors", "functions", "steps"])
@pytest.mark.parametrize("value", [None, 1, "x", [1], {"x": 1}, [[]], [{}]])
def test_nonsense_is_refused_in_words(place: str, value: Any, bernoulli: Any) -> None:
    raw = {**bernoulli, place: value}
    if (place, value) == ("functions", {"x": 1}):
        assert recheck_proof(raw).accepted
    else:
        assert reason(raw)


def test_the_command_reads_proofs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "proof.json"
    file.write_text(write_trace(outcome(WHOLE)), encoding="utf-8")
    # By itself it knows nothing of moves.
    assert recheck(file).verdict == "not decided"
    assert invoke(["recheck", str(file)]) == 0
    shown = capsys.readouterr().out
    assert "accepted" in shown
    assert "convex" in shown
    raw = json.loads(file.read_text(encoding="utf-8"))
    raw["facts"][-1]["claim"]["left"] = []
    file.write_text(json.dumps(raw), encoding="utf-8")
    assert invoke(["recheck", str(file)]) == 1
    assert "rejected: fact" in capsys.readouterr().out
    file.write_text(json.dumps({"schema": "boundlab proof 7"}), encoding="utf-8")
    assert invoke(["recheck", str(file)]) == 2
