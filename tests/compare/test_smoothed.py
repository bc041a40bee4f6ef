"""Where gradients are looked for: a true bound holds, and one a little below the left side is violated."""

from pathlib import Path

import pytest
from exact_smoothed import PAIRS
from statements import statement
from test_compare import verdict_of

from boundlab.verdict import Verdict


@pytest.mark.nightly
@pytest.mark.parametrize("problem", ["smoothed-max-affine:clients=2,seed=0", PAIRS, PAIRS + ",mu=0.125"])
def test_the_textbook_bound_holds(problem: str) -> None:
    found = verdict_of("classics.gd.convex", problem, "deterministic", 100, trials=2)
    assert found.verdict is Verdict.HOLDS, found.reason


@pytest.mark.parametrize("problem", [PAIRS, PAIRS + ",mu=0.125"])
def test_a_bound_a_little_below_the_left_side_is_violated_and_one_above_holds(tmp_path: Path, problem: str) -> None:
    left = verdict_of("classics.gd.convex", problem, "deterministic", 4, trials=2).band.mean[-1]
    for factor, verdict in ((1.0 - 1e-9, Verdict.VIOLATED), (1.0 + 1e-9, Verdict.HOLDS)):
        twin = statement(
            tmp_path,
            horizon="fixed",
            assumptions="convex smooth",
            step={"alpha": "1/L"},
            terms={"all": repr(float(left) * factor)},
        )
        found = verdict_of(twin, problem, "deterministic", 4, trials=2)
        assert found.verdict is verdict, found.reason
