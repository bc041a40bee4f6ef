"""Which left sides have an expectation without sampling."""

import pytest
from problem_makers import make

from boundlab.algorithms import StepSize
from boundlab.algorithms.area import AREA, AreaParameters
from boundlab.build import build_delays
from boundlab.expectation import engine

KINKS = {"a": [[[-1], [2]], [[-2], [1]]], "b": [[0, -3], [1, 0.5]], "x0": [3]}  # every point of [1/6, 1] is a minimiser
IID = build_delays("iid", {"p_s": 0.5}, 2)


@pytest.mark.parametrize("side", ["ergodic-gap", "gap", "squared-distance"])
def test_only_the_distance_needs_a_minimiser_that_is_certified(side):
    how, why = engine(
        side, "area", make("max-affine", **KINKS), AreaParameters(StepSize(0.1)), IID, AREA.policy(None, IID)
    )
    assert bool(how) == (not why) == (side != "squared-distance")
    assert (why == "problem max-affine has no unique minimiser with a certified distance") == (not how)


def test_with_noise_moments_need_a_quadratic_and_without_it_enumeration_needs_nothing():
    def asked(problem, **more):
        return engine("gap", "area", problem, AreaParameters(StepSize(0.1), **more), IID, AREA.policy(None, IID))

    bowl = make("quadratic", clients=2, dimension=2, sigma=1.0)
    assert asked(bowl) == ("first and second moments by linear recursion", "")
    assert "needs full gradients" in asked(bowl, count=2, reply="post")[1]
    assert "moments need a quadratic, enumeration needs full gradients" in asked(make("huber", c=[0, 1], sigma=1.0))[1]
    assert asked(make("huber", c=[0, 1]))[0].startswith("enumeration")
    waiting = engine("gap", "fedbuff", bowl, None, IID, AREA.policy(None, IID))
    assert waiting == ("", "the schedules of fedbuff depend on more than who comes next; replace delays by events")
    mean = engine("gradient-norm", "area", bowl, None, IID, AREA.policy(None, IID))[1]
    assert "the expectation of gradient-norm over random events has no exact engine" in mean
