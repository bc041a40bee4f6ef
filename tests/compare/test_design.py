"""The size of a sample: what it is said to see it sees, and what nothing can see is infinite."""

import math

import numpy as np
import pytest

from boundlab.compare.judge import detectable_gap, lower_limits, trials_to_refute

ERROR = 1e-4
LAWS = {
    "uniform": lambda rng, shape: 2.0 * rng.random(shape),
    "exponential": lambda rng, shape: rng.exponential(size=shape),
    "lognormal": lambda rng, shape: np.exp(rng.normal(size=shape) - 0.5),
    "constant": lambda _, shape: np.ones(shape),
}


@pytest.mark.sweep(2)
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("gap", [0.3, 1.0])
def test_a_sample_of_the_designed_size_sees_the_gap_in_most_experiments(law: str, gap: float) -> None:
    rng = np.random.default_rng(7)
    trials = int(trials_to_refute(LAWS[law](rng, (4000, 1)), gap, ERROR))
    # Bounds are 1, means 1 + gap: refuted where the lower limit is above 1. Of 60 experiments at 90 % fewer than 45
    # succeed with a probability of 0.0005.
    limits = lower_limits((1.0 + gap) * LAWS[law](rng, (trials, 60)), ERROR)
    assert np.count_nonzero(limits > 1.0) >= 45


def test_a_smaller_gap_takes_more_trials_and_the_gap_of_so_many_trials_is_the_gap() -> None:
    values = np.random.default_rng(3).exponential(size=(200, 2))
    sizes = [trials_to_refute(values, gap, ERROR) for gap in (0.05, 0.1, 0.3, 1.0)]
    assert sizes == sorted(sizes, reverse=True)
    for gap, trials in zip((0.05, 0.1, 0.3, 1.0), sizes, strict=True):
        assert detectable_gap(values, int(trials), ERROR) <= gap * (1.0 + 1e-9)
        assert detectable_gap(values, int(trials) - 1, ERROR) > gap * (1.0 - 1e-9)


def test_the_scale_of_the_values_does_not_matter() -> None:
    values = np.random.default_rng(3).exponential(size=(50, 1))
    assert trials_to_refute(values, 0.2, ERROR) == trials_to_refute(1e-9 * values, 0.2, ERROR)


def test_what_nothing_can_see_is_infinite() -> None:
    assert trials_to_refute(np.zeros((8, 2)), 1.0, ERROR) == math.inf
    assert detectable_gap(np.zeros((8, 2)), 10**6, ERROR) == math.inf
    assert detectable_gap(np.ones((8, 1)), 2, 1e-12) == math.inf


def test_points_at_which_nothing_moves_do_not_count() -> None:
    values = np.random.default_rng(3).exponential(size=(50, 1))
    beside = np.hstack([values, np.zeros_like(values)])
    assert trials_to_refute(beside, 0.2, ERROR) == trials_to_refute(values, 0.2, ERROR)
