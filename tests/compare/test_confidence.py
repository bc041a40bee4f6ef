"""Confidence limits: coverage where it can be had, honesty where it cannot; verdicts wrong as often as promised."""

import json
import math
import os
from pathlib import Path

import numpy as np
import pytest
from benchmark_scripts import load
from hypothesis import given, strategies as st
from scipy.special import stdtrit

from boundlab.compare.judge import band, detectable_gap, lower_limits, trials_to_decide, trials_to_refute, upper_limits
from boundlab.errors import SpecError
from boundlab.randomness import Stream, Streams


def exponentials(seed, trials, points):
    return -np.log(Streams(seed).uniforms(Stream.START, 0, np.arange(trials), points))


@given(st.lists(st.floats(0.0, 1e6), min_size=2, max_size=30))
def test_a_lower_limit_never_exceeds_the_sample_mean(values):
    column = np.array(values)[:, None]
    assert lower_limits(column, 0.01)[0] <= column.mean() * (1 + 1e-12)


@given(st.floats(1e-6, 1e6), st.integers(0, 20))
def test_limits_scale_with_the_values(scale, seed):
    values = exponentials(seed, 30, 3)
    assert np.allclose(lower_limits(scale * values, 0.01), scale * lower_limits(values, 0.01), rtol=1e-6)


def test_lower_limits_err_less_often_than_promised_on_a_skewed_law():
    # 400 experiments at error 0.05; a promise kept has more than 33 misses with probability below 0.002.
    misses = sum(lower_limits(exponentials(seed, 15, 1), 0.05)[0] > 1.0 for seed in range(400))
    assert misses <= 33


def test_the_points_of_a_band_share_its_error():
    values = exponentials(0, 40, 1)
    many, one = np.tile(values, (1, 20)), band(values, values, 1 - 0.1 / 20, "student", 0)
    both = band(many, many, 0.9, "student", 0)
    assert both.lower == pytest.approx(np.full(20, one.lower[0]), rel=1e-9)
    assert both.upper == pytest.approx(np.full(20, one.upper[0]), rel=1e-9)


def test_the_approximate_band_is_nowhere_below_students():
    for seed in range(20):
        values = exponentials(seed, 4, 3)
        both = [band(values, values, 0.95, kind, seed).upper for kind in ("bootstrap", "student")]
        assert (both[0] >= both[1]).all()


LAWS = {
    "rare": (lambda u: 100.0 * (u < 0.01), 100.0),
    "uniform": (lambda u: 2.0 * u, 2.0),
    "two points": (lambda u: 2.0 * (u < 0.5), 2.0),
    "skewed": (lambda u: 10.0 * u**9, 10.0),
}


@pytest.mark.sweep(12)
@pytest.mark.parametrize("trials", [2, 10, 100])
@pytest.mark.parametrize("law", LAWS)
def test_upper_limits_from_a_range_err_less_often_than_promised(law, trials):
    # 400 experiments at error 0.05; the mean is 1.
    values, largest = LAWS[law]
    misses = 0
    for seed in range(400):
        u = Streams(seed).uniforms(Stream.START, 0, np.arange(trials), 1)
        misses += upper_limits(values(u), np.array([largest]), 0.05)[0] < 1.0
    assert misses <= 33


@given(st.lists(st.floats(0.0, 1.0), min_size=2, max_size=30), st.floats(1.0, 1e6))
def test_upper_limits_lie_between_the_mean_and_the_range(values, largest):
    limit = upper_limits(largest * np.array(values)[:, None], np.array([largest]), 0.01)[0]
    assert largest * np.mean(values) <= limit * (1 + 1e-9)
    assert limit <= largest


def test_the_upper_limit_is_about_that_of_the_bet_on_everything():
    """B − exp(ln(ε)/T + mean ln(B − X)): nine tenths of the stake follow this bet, which costs ln(0.9)/T."""
    values, B, error = exponentials(3, 25, 1) % 1.0, 50.0, 0.005
    formula = B - np.exp(np.log(error) / 25 + np.log(B - values).mean())
    limit = upper_limits(values, np.array([B]), error)[0]
    assert formula <= limit <= B - np.exp(np.log(0.9 * error) / 25 + np.log(B - values).mean()) + 1e-9


def test_as_many_trials_as_are_asked_for_decide():
    B, bound, error = np.array([415.0]), np.array([180.0]), 0.005
    needed = trials_to_decide(np.zeros(1), B, bound, error)
    assert needed == pytest.approx(np.log(1 / error) / -np.log1p(-180 / 415), rel=0.03)
    enough, short = (np.zeros((count, 1)) for count in (int(np.ceil(needed)), int(needed)))
    assert upper_limits(enough, B, error)[0] <= bound[0] < upper_limits(short, B, error)[0]
    assert trials_to_decide(np.array([180.0]), B, bound, error) == np.inf


@pytest.mark.nightly
def test_the_bootstrap_band_covers_on_a_skewed_law_where_student_does_not():
    # 120 experiments, 95 % joint, 5 points, 20 trials of an exponential law: 6 misses expected.
    misses = {"student": 0, "bootstrap": 0}
    for seed in range(120):
        values = exponentials(seed, 20, 5)
        for kind in misses:
            limits = band(values, values, 0.95, kind, seed)
            misses[kind] += bool((limits.upper < 1.0).any() or (limits.lower > 1.0).any())
    assert misses["bootstrap"] <= 14  # P(more | a 5 % miss rate) < 0.002
    assert misses["student"] > misses["bootstrap"]


def test_a_constant_has_a_band_of_no_width_above_and_a_lower_limit_below():
    values = np.full((50, 2), 3.0)
    limits = band(values, values, 0.99, "bootstrap", 0)
    assert np.allclose(limits.upper, 3.0)
    assert (limits.lower < 3.0).all()
    assert (limits.lower > 2.5).all()


def test_the_certificate_widens_the_band_on_both_sides():
    values = exponentials(1, 40, 2)
    tight, wide = (
        band(values, values, 0.9, "student", 0),
        band(values - np.minimum(values, 0.1), values + 0.1, 0.9, "student", 0),
    )
    assert (wide.lower < tight.lower).all()
    assert (wide.upper > tight.upper).all()


@pytest.mark.parametrize(
    ("trials", "level", "message"),
    [(1, 0.9, "at least 2 trials"), (5, 1.0, "between 0.5 and 1"), (5, 0.2, "between 0.5 and 1")],
)
def test_impossible_bands_are_refused(trials, level, message):
    with pytest.raises(SpecError, match=message):
        band(np.ones((trials, 1)), np.ones((trials, 1)), level, "student", 0)


def test_where_nothing_but_zero_is_possible_the_limit_is_zero():
    values = np.array([[0.0, 0.5], [0.0, 0.25]])
    limits = upper_limits(values, np.array([0.0, 1.0]), 0.05)
    assert limits[0] == 0.0
    assert 0.375 < limits[1] <= 1.0
    assert upper_limits(values, np.array([np.inf, 1.0]), 0.05)[0] == np.inf


# However near 1 the confidence level is, a missing limit is not blamed on the iterates.


def test_limits_stay_finite_as_the_level_nears_one() -> None:
    values = np.random.default_rng(0).random((50, 7))
    before = np.zeros(7)
    for level in (0.99, 1 - 1e-9, 1 - 1e-14, float(np.nextafter(1.0, 0.0))):
        upper = band(values, values, level, "student", 0).upper
        assert np.isfinite(upper).all()
        assert (upper > before).all()
        before = upper


def test_where_one_minus_the_error_is_a_float_the_limit_is_that_of_students_t() -> None:
    values = np.random.default_rng(1).random((20, 1))
    spread = values.std(axis=0, ddof=1) / np.sqrt(20)
    assert np.allclose(
        band(values, values, 0.99, "student", 0).upper, values.mean(axis=0) + stdtrit(19, 0.995) * spread, rtol=1e-12
    )


# The size of a sample: what it is said to see it sees, and what nothing can see is infinite.

ERROR = 1e-4
DRAWN = {
    "uniform": lambda rng, shape: 2.0 * rng.random(shape),
    "exponential": lambda rng, shape: rng.exponential(size=shape),
    "lognormal": lambda rng, shape: np.exp(rng.normal(size=shape) - 0.5),
    "constant": lambda _, shape: np.ones(shape),
}


@pytest.mark.sweep(2)
@pytest.mark.parametrize("law", DRAWN)
@pytest.mark.parametrize("gap", [0.3, 1.0])
def test_a_sample_of_the_designed_size_sees_the_gap_in_most_experiments(law: str, gap: float) -> None:
    rng = np.random.default_rng(7)
    trials = int(trials_to_refute(DRAWN[law](rng, (4000, 1)), gap, ERROR))
    # Bounds are 1, means 1 + gap: refuted where the lower limit is above 1. Of 60 experiments at 90 % fewer than 45
    # succeed with a probability of 0.0005.
    limits = lower_limits((1.0 + gap) * DRAWN[law](rng, (trials, 60)), ERROR)
    assert np.count_nonzero(limits > 1.0) >= 45


def test_a_smaller_gap_takes_more_trials_and_the_gap_of_so_many_trials_is_the_gap() -> None:
    values = np.random.default_rng(3).exponential(size=(200, 2))
    sizes = [trials_to_refute(values, gap, ERROR) for gap in (0.05, 0.1, 0.3, 1.0)]
    assert sizes == sorted(sizes, reverse=True)
    for gap, trials in zip((0.05, 0.1, 0.3, 1.0), sizes, strict=True):
        assert detectable_gap(values, int(trials), ERROR) <= gap * (1.0 + 1e-9)
        assert detectable_gap(values, int(trials) - 1, ERROR) > gap * (1.0 - 1e-9)


def test_what_nothing_can_see_is_infinite() -> None:
    assert trials_to_refute(np.zeros((8, 2)), 1.0, ERROR) == math.inf
    assert detectable_gap(np.zeros((8, 2)), 10**6, ERROR) == math.inf
    assert detectable_gap(np.ones((8, 1)), 2, 1e-12) == math.inf


def test_points_at_which_nothing_moves_do_not_count() -> None:
    values = np.random.default_rng(3).exponential(size=(50, 1))
    beside = np.hstack([values, np.zeros_like(values)])
    assert trials_to_refute(beside, 0.2, ERROR) == trials_to_refute(values, 0.2, ERROR)


ROOT = Path(__file__).parents[2]


calibration = load("calibration")


@pytest.mark.parametrize("law", calibration.LAWS)
def test_every_law_has_mean_one_and_the_largest_value_that_is_said(law):
    u = (np.arange(200_000) + 0.5) / 200_000
    values = calibration.LAWS[law].quantile(u)
    assert values.mean() == pytest.approx(1.0, abs=0.03)
    assert values.min() >= 0.0
    assert values.max() <= calibration.LAWS[law].largest


@pytest.mark.sweep(6)
@pytest.mark.parametrize("trials", [2, 40])
@pytest.mark.parametrize("law", ["exponential", "rare", "uniform"])
def test_false_verdicts_are_no_more_frequent_than_promised(law, trials):
    # 40 experiments a cell; a promise that is kept fails with probability 0.001 for each of three kinds of error.
    assert calibration.broken(calibration.cell(law, trials, 40)) == []


@pytest.mark.nightly
@pytest.mark.parametrize("trials", calibration.TRIALS)
@pytest.mark.parametrize("law", calibration.LAWS)
def test_false_verdicts_of_all_laws_are_no_more_frequent_than_promised(law, trials):
    assert calibration.broken(calibration.cell(law, trials, int(os.environ.get("BOUNDLAB_EXAMPLES", "200")))) == []


def test_a_law_without_a_largest_value_never_holds():
    cell = calibration.cell("lognormal1", 10, 10)
    assert cell.holds == 0
    assert cell.consistent > 0


def test_a_broken_promise_is_found():
    wrong = calibration.Cell("rare", 2, 400, holds=40, consistent=0, violated=0, refuted=(0, 0, 0), joint=0)
    assert "false holds 40/400" in calibration.broken(wrong)[0]


def test_intervals_are_those_of_clopper_and_pearson():
    assert calibration.interval(0, 100) == pytest.approx((0.0, 1 - 0.025**0.01))
    assert calibration.interval(100, 100) == pytest.approx((0.025**0.01, 1.0))
    assert calibration.interval(5, 50) == pytest.approx((0.0333, 0.2181), abs=1e-4)


def test_no_promise_is_broken_in_what_was_measured():
    found = json.loads((ROOT / "benchmarks" / "calibration.json").read_text(encoding="utf-8"))
    cells = [calibration.Cell(**{**one, "refuted": tuple(one["refuted"])}) for one in found["cells"]]
    assert {(one.law, one.trials) for one in cells} == {
        (law, trials) for law in calibration.LAWS for trials in calibration.TRIALS
    }
    assert [words for one in cells for words in calibration.broken(one)] == []
