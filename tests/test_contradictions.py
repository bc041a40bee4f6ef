"""Assumptions that contradict each other, and those that do not: each of these has an instance that meets it."""

import itertools
from functools import cache

import pytest

import boundlab as bl
from boundlab.assumptions import (
    ASSUMPTIONS,
    BOUNDED_DOMAIN,
    BOUNDED_RUN,
    COMPOSITE,
    CONTRADICTIONS,
    UNCONSTRAINED,
    contradiction,
    with_implied,
)
from boundlab.instance.applicability import along_run
from boundlab.objective import Problem
from boundlab.registry import registered
from boundlab.theorems import Theorem

FUNCTIONS = [one.id for one in ASSUMPTIONS.values() if one.of == "functions"]
QUADRATIC, HUBER = "quadratic:A=[[[1]]],b=[[0]],x0=1", "huber:w=[1],c=[0],x0=1"
ROWS = "least-squares:features=[[1]],targets=[0],clients=1,x0=1"
BATCHES = "least-squares:features=[[1],[1]],targets=[0,1],clients=1,batch=1,x0=1"
BOUNDS = ("lipschitz", "bounded-gradients", "bounded-second-moment")


@cache
def instances() -> list[tuple[str, frozenset[str]]]:
    """Return which assumptions a few problems meet, each with the one that takes it on a set, if one does."""
    found: list[tuple[str, Problem]] = [("", bl.problem(one)) for one in (QUADRATIC, HUBER, ROWS, BATCHES)]
    found += [(BOUNDED_RUN, along_run(bl.problem(one))) for one in (QUADRATIC, ROWS)]
    for one in (QUADRATIC, HUBER, ROWS, BATCHES):
        there = bl.problem(f"{one},ball=3").on_domain()
        assert there is not None
        found.append((BOUNDED_DOMAIN, there))
    return [(where, frozenset(one for one in FUNCTIONS if not problem.why_not(one))) for where, problem in found]


def whole(names: tuple[str, ...]) -> frozenset[str]:
    """Return what a theorem assumes that names these."""
    implied = with_implied(names)
    return implied if COMPOSITE in implied else implied | {UNCONSTRAINED}


def met(assumed: frozenset[str]) -> bool:
    """Return whether an instance meets it all; on a set where the theorem says so, and only there."""
    return any(assumed <= meets and where in ("", *assumed) for where, meets in instances())


@pytest.mark.parametrize("size", [2, 3])
def test_what_contradicts_has_no_instance_and_what_has_one_does_not_contradict(size: int) -> None:
    counted = dict.fromkeys(("contradictory", "consistent", "open"), 0)
    for names in itertools.combinations(FUNCTIONS, size):
        assumed = whole(names)
        found = contradiction(assumed)
        assert found is None or not met(assumed), names
        counted["contradictory" if found else "consistent" if met(assumed) else "open"] += 1
    least = {2: (4, 120), 3: (40, 480)}[size]
    assert counted["contradictory"] >= least[0]
    assert counted["consistent"] >= least[1]


@pytest.mark.sweep(2)
@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize(
    "more",
    [
        (),
        ("smooth",),
        ("minimiser",),
        ("bounded-variance",),
        ("bounded-heterogeneity",),
        ("one-function",),
        ("convex", "smooth", "deterministic"),
    ],
)
def test_strong_convexity_on_the_whole_space_bounds_no_gradient(bound: str, more: tuple[str, ...]) -> None:
    found = contradiction(whole(("strongly-convex", bound, *more)))
    assert found is not None
    assert found.among == ("strongly-convex", bound)
    # On a set that holds the run there is no contradiction, and an instance.
    for where in (BOUNDED_DOMAIN, BOUNDED_RUN):
        assert contradiction(whole(("strongly-convex", bound, where, *more))) is None
        assert met(whole(("strongly-convex", bound, where)))


def test_no_registered_theorem_is_about_nothing() -> None:
    theorems: dict[str, Theorem] = registered("theorems")
    assert [name for name, one in theorems.items() if contradiction(one.core.assumed)] == []


def test_each_contradiction_is_one_of_assumptions_that_are_registered() -> None:
    for one in CONTRADICTIONS:
        assert {*one.among, *one.unless} <= ASSUMPTIONS.keys()
        assert one.words.startswith("no problem meets ")
