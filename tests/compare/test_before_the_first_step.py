"""K = 0: nothing has moved, and the left side is what the metric makes of x_0, whoever is asked."""

from dataclasses import replace

import numpy as np
import pytest
from exact_makers import exact_of

from boundlab import compare
from boundlab.errors import AssumptionError, SpecError
from boundlab.falsify import falsify
from boundlab.instance.fitting import fitting
from boundlab.metrics import Certified
from boundlab.registry import registered
from boundlab.theorems import FormulaBound, Theorem, load_theorem
from boundlab.verdict import Verdict


def from_the_start() -> list[str]:
    some = (load_theorem(name) for name in registered("theorems"))
    return [one.id for one in some if one.first_iteration == 0 and one.horizon == "every" and not one.shape]


STARTS = from_the_start()


def earlier(theorem: Theorem) -> Theorem:
    """Return the theorem with K + 1 in the place of K: its bounds at K = 0 are those at 1."""
    K = theorem.symbols[theorem.horizon_symbol].symbol
    return replace(
        theorem, bound=FormulaBound({name: term.subs(K, K + 1) for name, term in theorem.bound.terms.items()})
    )


@pytest.mark.sweep(27)
@pytest.mark.parametrize("name", STARTS)
def test_no_true_theorem_is_called_false_there(name: str) -> None:
    theorem = load_theorem(name)
    try:
        some = fitting(theorem, most=3)
    except AssumptionError:
        pytest.skip("no built-in setting is one that it is about")
    for one in some:
        found = replace(one, iterations=0)
        plan = found.plan(trials=2)
        assert (plan.iterations, plan.ks.tolist()) == (0, [0])
        left = theorem.left.at(Certified(plan.problem), plan.problem.x0)
        asked = {"iterations": 0, "trials": 2, "jobs": 1, "settings": dict(found.settings)}
        told = compare(theorem, found.problem, found.delays, **asked)
        assert told.verdict is not Verdict.VIOLATED
        # An interval, of which the certificate of the optimum says how wide it is.
        assert np.min(left) * (1 - 1e-9) - 1e-12 <= float(told.band.mean[0]) <= np.max(left) * (1 + 1e-9) + 1e-12


QUADRATIC = "quadratic:A=[[[1]],[[3]]],b=[[0],[1]],x0=2,sigma=0.5"


def test_three_ways_to_one_number() -> None:
    # f = x²/4 + 3(x − 1)²/4, x* = 3/4: ‖x_0 − x*‖² = 25/16, which is the bound, too: R² and no noise yet.
    theorem = load_theorem("classics.sgd.distance")
    case = {
        "algorithm": "gd",
        "problem": {"type": "quadratic", "A": [[[1]], [[3]]], "b": [[0], [1]], "sigma": "1/2"},
        "x0": [2],
        "events": [[1, "s"]],
        "claim": {"k": 0},
    }
    exact = exact_of("classics.sgd.distance", case)
    assert (exact.k, exact.left, exact.right, exact.kind) == (0, 25 / 16, 25 / 16, "exact")
    assert not exact.violated
    again = exact_of(
        "classics.sgd.distance", {**case, "theorem": "classics.sgd.distance", "iterations": 0, "claim": {}}
    )
    assert (again.k, again.left, again.right) == (0, 25 / 16, 25 / 16)
    for asked in ({"exact": True}, {"exact": False}):
        found = compare(theorem, QUADRATIC, iterations=0, trials=5, **asked)
        assert found.band.mean[0] == pytest.approx(25 / 16, rel=1e-12)
        assert found.verdict in (Verdict.HOLDS, Verdict.CONSISTENT)


@pytest.mark.parametrize("name", ["classics.subgradient", "classics.sgd.projected.strongly-convex", "fedbuff.rf1"])
def test_a_statement_that_begins_later_says_where(name: str) -> None:
    one = fitting(load_theorem(name))[0]
    with pytest.raises(SpecError, match="iterations must be ≥ 1, got 0"):
        replace(one, iterations=0).plan()


@pytest.mark.nightly
@pytest.mark.parametrize(
    "name", ["classics.gd.convex.book", "classics.sgd.gap.decreasing", "classics.sgd.heterogeneous"]
)
def test_a_bound_that_is_false_there_is_refuted_there(name: str) -> None:
    theorem = earlier(load_theorem(name))
    found = falsify(theorem, budget=60.0, limit=60)
    assert found.violated
    assert found.best is not None
    assert (found.best.iterations, found.best.candidate.clients) == (0, 1)
    assert found.best.kind == "exact"
    assert found.case is not None
    assert exact_of(theorem, dict(found.case)).ratio == pytest.approx(found.ratio, rel=1e-12)
    assert found.best.trials == 2  # the comparison that is printed computes it
