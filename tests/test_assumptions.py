"""What theorems assume: said once, and everything that follows from it."""

import pytest

from boundlab.assumptions import ASSUMPTIONS, RUN_ASSUMPTIONS, about_the_mean, assumption, independent_events
from boundlab.errors import SpecError
from boundlab.registry import registered


def test_assumptions_about_a_mean_are_about_the_run():
    assert {name for name, one in ASSUMPTIONS.items() if one.mean} <= RUN_ASSUMPTIONS
    assert {name for name, one in ASSUMPTIONS.items() if one.independent} == {"iid-events", "uniform-sampling"}
    assert all(one.mean for one in ASSUMPTIONS.values() if one.independent)


def test_a_run_that_may_fail_an_assumption_is_told_what_would_fit():
    checked = [one for one in ASSUMPTIONS.values() if one.of == "run" and not one.by_construction]
    assert {one.id for one in checked} == {
        "iid-events", "stationary-participation", "uniform-buffer", "uniform-sampling", "equal-weights",
    }  # fmt: skip
    assert all(one.fits.endswith("would fit") for one in checked)


@pytest.mark.parametrize("name", ["iid-events", "stationary-participation", "uniform-buffer", "uniform-sampling"])
def test_a_theorem_about_random_events_bounds_a_mean_and_no_single_schedule(name):
    # A schedule without noise must not refute what is said of the mean over schedules, whatever the algorithm.
    assert about_the_mean(["smooth", name])


def test_a_theorem_without_random_events_is_about_each_schedule():
    assert not about_the_mean(["smooth", "fixed-schedule", "constant-lag", "bounded-variance"])
    assert not independent_events(["stationary-participation", "uniform-buffer"])


def test_every_registered_theorem_assumes_what_is_known():
    for theorem in registered("theorems").values():
        assert {assumption(name).id for name in theorem.assumptions} == set(theorem.assumptions)


def test_an_unknown_assumption_is_refused_with_the_nearest():
    with pytest.raises(SpecError, match="did you mean smooth"):
        assumption("smoth")
