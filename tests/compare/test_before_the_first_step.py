"""K = 0: nothing has moved, and the left side is what the metric makes of x_0, whoever is asked."""

from dataclasses import replace

import pytest
from exact_makers import exact_of

from boundlab import compare
from boundlab.errors import SpecError
from boundlab.instance.fitting import fitting
from boundlab.theorems import load_theorem
from boundlab.verdict import Verdict

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
