"""Which left sides have an expectation without sampling."""

import math
from typing import Any

import pytest
from problem_makers import make

from boundlab.algorithms import StepSize
from boundlab.algorithms.area import AREA, AreaParameters
from boundlab.algorithms.fedbuff import FEDBUFF
from boundlab.case import build_delays, build_problem
from boundlab.errors import SpecError
from boundlab.expectation import engine, left_side, operations
from boundlab.options import Options
from boundlab.registry import lookup

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
    assert asked(bowl, count=2, reply="post")[0].startswith("first and second moments")
    assert (
        "moments need a quadratic, enumeration needs full gradients or noise=sign"
        in asked(make("huber", c=[0, 1], sigma=1.0))[1]
    )
    assert asked(make("huber", c=[0, 1]))[0].startswith("enumeration")
    signs = make("huber", c=[0, 1], sigma=1.0, noise="sign")
    assert asked(signs)[0].startswith("enumeration of all event sequences")
    late = build_delays("pareto", {}, 2)
    buffered = FEDBUFF.read(Options("fedbuff", {"eta_l": 0.1}))
    why = engine("gap", "fedbuff", bowl, buffered, late, FEDBUFF.policy(None, late))
    assert why == ("", "times between updates are not exponential under pareto")
    compass = lookup("algorithms", "fedcompass")
    found = engine("gap", compass, bowl, compass.read(Options("fedcompass", {"eta": 0.1})), IID, None)[1]
    assert found == "fedcompass has no one-event program; replace delays by events"


@pytest.mark.parametrize(
    ("name", "options", "clients"),
    [("incremental", {"order": "shuffled"}, 9), ("ringmaster", {"threshold": 1}, 20), ("rennala", {"count": 3}, 20)],
)
@pytest.mark.parametrize("kind", ["quadratic", "huber"])
def test_an_engine_whose_program_refuses_is_never_affordable(
    name: str, options: dict[str, Any], clients: int, kind: str
) -> None:
    who, problem = lookup("algorithms", name), build_problem(kind, {"clients": clients, "dimension": 1})
    parameters, delays = who.read(Options(name, {"alpha": 0.1, **options})), build_delays("exponential", {}, clients)
    random_run = ("gap", name, problem, parameters, delays, who.policy(None, delays))
    assert engine(*random_run)[1] == ""
    assert operations(*random_run, 9) == math.inf
    with pytest.raises(SpecError, match=r"orders|at most 12 are told apart"):
        left_side(*random_run, 9)
