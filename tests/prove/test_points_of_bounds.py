"""Theorems along the run bound gradients at the points that they name: nowhere else is an instance of such an axiom."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from setting_facts import models, setting

from boundlab.prove import Fact, Outcome, Proof, ProofError, Script
from boundlab.prove.settings import setting_of
from boundlab.prove.trace import with_setting, write_trace
from boundlab.recheck import digest, recheck_loaded
from boundlab.registry import registered
from boundlab.theorems import ALONG_RUN, POINT_SETS, core, load_theorem

ALONG = sorted(one.id for one in registered("theorems").values() if one.points)
# One theorem for each kind of setting and of points.
KINDS = [one for one in ALONG if one.removesuffix(ALONG_RUN) in {
    "fedbuff.rf1", "fedstaleweight.rf3", "fedcompass.window.b", "fedcompass.group", "fedfa.delta.b", "fedfa.param.a",
    "afl_dga.r2n", "afl_dga.r3", "area.theorem8.repaired.fixed-step", "area.theorem8.algorithm-start",
}]  # fmt: skip
Axiom = Callable[[], Fact]


def places(s: Any) -> dict[str, Any]:
    """Return indices of runs, local steps and ways that a theorem looks at, where a setting has none."""
    if s.theorem.algorithm == "fedcompass":
        j = s.index("j_9", 0, s.many(s.r) - 1)
        return {"j": j, "q": s.index("q_9", 0, s.steps(s.r, j) - 1), "y": s.index("y_9", 0, s.N - 1)}
    return {"y": s.index("y_9", 0, s.N - 1)} if s.theorem.algorithm == "fedfa" else {}


@cache
def known(theorem: str) -> tuple[Any, dict[str, Any]]:
    """Return the setting of a theorem, with such indices."""
    s = setting(theorem)
    return s, places(s)


def inside(s: Any, own: dict[str, Any]) -> Iterator[Axiom]:
    """Yield the bounds on gradients, at all points that a theorem looks at."""
    i = s.i
    match s.theorem.id.removesuffix(ALONG_RUN).split("."):
        case ["fedbuff" | "fedstaleweight", "rf1"]:
            yield lambda: s.bounded_gradient(s.g(s.k, s.j, s.q))
            yield lambda: s.mean_heterogeneity(s.k)
        case ["fedbuff" | "fedstaleweight", _]:
            yield lambda: s.entry_gradient(s.k, s.q)
            yield lambda: s.met_gradient(s.k, s.m, s.q)
            yield lambda: s.mean_heterogeneity(s.k)
            yield lambda: s.entry_variance(s.k, s.q)
            yield lambda: s.met_noise(s.k, s.m, s.q)[0]
            yield lambda: s.buffer_noise(s.k, s.q)
        case ["fedcompass", *_]:
            yield lambda: s.bounded_gradient(s.g(s.r, own["j"], own["q"]))
            yield lambda: s.bounded_mean(i, own["y"])
            yield lambda: s.heterogeneity(i, s.k)
        case ["fedfa", *_]:
            yield lambda: s.bounded_gradient(s.g(s.a, 0, s.q))
            yield lambda: s.bounded_mean(i, own["y"])
            yield lambda: s.spread(i, s.k)
        case ["afl_dga", _]:
            yield lambda: s.moment(s.t, i, s.q)
            yield lambda: s.own_moment(s.t, i, s.q, s.p)
        case ["area", *_]:
            yield lambda: s.lipschitz(s.g(i, s.r, s.m))
            yield lambda: s.variance(s.e(i, s.r, s.m))


def outside(s: Any, own: dict[str, Any]) -> Iterator[Axiom]:
    """Yield the same bounds, at the points that come next, and of gradients that are of another kind."""
    i = s.i
    match s.theorem.id.removesuffix(ALONG_RUN).split("."):
        case ["fedbuff" | "fedstaleweight", "rf1"]:
            yield from (
                lambda: s.bounded_gradient(s.g(s.T, s.j, s.q)),
                lambda: s.bounded_gradient(s.g(s.k, s.many, s.q)),
                lambda: s.bounded_gradient(s.g(s.k, s.j, s.Q)),
                lambda: s.bounded_gradient(s.g(s.t, s.j, s.q)),
                lambda: s.bounded_gradient(s.d(i, s.k)),
                lambda: s.mean_heterogeneity(s.T),
                lambda: s.mean_heterogeneity(s.t),
            )
        case ["fedbuff" | "fedstaleweight", _]:
            yield from (
                lambda: s.entry_gradient(s.k, s.Q),
                lambda: s.entry_gradient(s.T, s.q),
                lambda: s.met_gradient(s.k, s.m, s.Q),
                lambda: s.bounded_gradient(s.d(i, s.k)),
                lambda: s.mean_heterogeneity(s.T),
                lambda: s.entry_variance(s.k, s.Q),
                lambda: s.buffer_noise(s.k, s.Q),
            )
        case ["fedcompass", *_]:
            r, last = s.r, s.T + s.N - 1
            yield from (
                lambda: s.bounded_gradient(s.g(last, 0, 0)),
                lambda: s.bounded_gradient(s.g(r, s.many(r), 0)),
                lambda: s.bounded_gradient(s.g(r, own["j"], s.steps(r, own["j"]))),
                lambda: s.bounded_gradient(s.d(i, s.k)),
                lambda: s.bounded_mean(i, s.N),
                lambda: s.heterogeneity(i, s.T),
            )
        case ["fedfa", *_]:
            yield from (
                lambda: s.bounded_gradient(s.g(s.T + s.N - 1, 0, s.q)),
                lambda: s.bounded_gradient(s.g(-s.K, 0, s.q)),
                lambda: s.bounded_gradient(s.g(s.a, 1, s.q)),
                lambda: s.bounded_gradient(s.g(s.a, 0, s.Q)),
                lambda: s.bounded_gradient(s.dv(i, s.k)),
                lambda: s.bounded_mean(i, s.N),
                lambda: s.spread(i, s.T),
            )
        case ["afl_dga", _]:
            steps = s.steps(i, s.first(s.t, i))
            yield from (
                lambda: s.moment(s.symbol("T"), i, 0),
                lambda: s.moment(s.t, i, steps),
                lambda: s.own_moment(s.t, i, s.q, s.kept(s.t, i, s.q)),
                lambda: s.own_moment(s.t, i, steps, 0),
            )
        case ["area", *_]:
            yield from (
                lambda: s.lipschitz(s.g(i, s.symbol("K"), s.m)),
                lambda: s.lipschitz(s.g(i, s.opening - 1, s.m)),
                lambda: s.lipschitz(s.g(i, s.r, s.M)),
                lambda: s.lipschitz(s.d(i, s.k)),
                lambda: s.lipschitz(s.vec("h", i)),
                lambda: s.lipschitz(s.vec("gbar", i)),
                lambda: s.variance(s.e(i, s.symbol("K"), s.m)),
            )


@pytest.mark.sweep(4)
@pytest.mark.parametrize("theorem", ALONG)
def test_each_bound_holds_at_the_points_of_its_theorem_and_at_no_others(theorem: str) -> None:
    own = [one() for one in inside(*known(theorem))]
    assert own
    assert all(isinstance(one, Fact) for one in own)
    for one in outside(*known(theorem)):
        with pytest.raises(ProofError, match=r"is not shown|is no \w+\[|has no bounded_gradient|alone, not about"):
            one()


@pytest.mark.parametrize("theorem", KINDS)
def test_no_instance_of_a_bound_lies_beyond_its_ranges(theorem: str) -> None:
    s, own = known(theorem)
    beyond = s.symbol(s.theorem.horizon_symbol) + (s.N if hasattr(s, "N") else 0)
    facts = [one() for one in inside(s, own)]
    tried = [(fact, name) for fact in facts for name in sorted(fact.names & {"k", "r", "t", "a"})]
    assert tried
    for fact, name in tried:
        with pytest.raises(ProofError, match=r"may lie outside|depends on"):
            s.kernel.at(fact, {name: beyond})


@pytest.mark.sweep(2)
@pytest.mark.parametrize("theorem", KINDS)
def test_a_theorem_that_names_too_few_points_has_a_bound_less(theorem: str) -> None:
    stated = load_theorem(theorem)
    for name, words in stated.points.items():
        for word in words:
            others = tuple(one for one in ("segments", "virtual") if name in POINT_SETS[one].of and one not in words)
            if not (fewer := tuple(one for one in words if one != word) or others):
                continue  # the one set where it is read
            s = setting_of(replace(stated, points={**stated.points, name: fewer}))
            with pytest.raises(ProofError, match="alone, not about"):
                [one() for one in inside(s, places(s))]


def judged(theorem: str, axioms: Callable[[Any, dict[str, Any]], Iterator[Axiom]]) -> tuple[int, list[str]]:
    """Return how many axioms a proof cites that are true where bounds hold everywhere, and what is said of its file.

    The file states the theorem along the run.
    """
    plain = load_theorem(theorem.removesuffix(ALONG_RUN))
    s = setting_of(plain)
    proof, many = Proof(plain, s, s.kernel), 0
    for axiom in axioms(s, places(s)):
        try:
            fact = axiom()
        except ProofError:
            continue  # it is false there, too
        many += 1
        proof.step(f"bound {many}", fact.claim, [fact])
    outcome = Outcome(Script("forged", "", "", print), tuple(proof.steps), None, s.kernel, s)
    stated = json.loads(core(load_theorem(theorem)).json)
    raw = {**json.loads(write_trace(outcome)), "theorem": theorem, "statement": stated, "sha256": digest(stated)}
    found = with_setting(raw, recheck_loaded(raw), load_theorem(theorem))
    assert found.right, found.reason
    return many, [one for one in found.trusted if ", fact " in one]


@pytest.mark.sweep(4)
@pytest.mark.parametrize("theorem", KINDS)
def test_the_second_checker_finds_each_bound_at_another_point(theorem: str) -> None:
    many, wrong = judged(theorem, outside)
    assert many >= 4
    assert len(wrong) == many, wrong
    many, wrong = judged(theorem, inside)
    assert many
    assert wrong == []


# ---------------------------------------------------------------------- exact models


@pytest.mark.sweep(10)
@pytest.mark.parametrize("theorem", KINDS)
def test_constants_of_certain_points_are_smaller_in_exact_models(theorem: str) -> None:
    s, _ = known(theorem)
    plain = setting(theorem.removesuffix(ALONG_RUN))
    found = list(models(theorem))
    assert len(found) >= 5
    smaller = [
        one
        for one in found
        if any(one.constants[name] < plain.constants(one.instance).get(name, 0) for name in s.theorem.points)
    ]
    assert smaller, "no constant is smaller than where bounds hold everywhere"
    assert all(one.constants[name] <= plain.constants(one.instance)[name] for one in found for name in s.theorem.points)
