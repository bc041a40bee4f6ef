"""How far above a bound a left side of floats may lie before it is told from it."""

from types import SimpleNamespace

import numpy as np
import pytest
from problem_makers import make

from boundlab.instance.rounding import ROOM, ceiling
from boundlab.metrics import METRICS

EPS = float(np.finfo(float).eps)
KS = np.array([0, 3, 15])
STEPS = 2  # local steps of an iteration
RIGHT = np.array([0.0, 1e-28, 4e-26])
HUBER = make("huber", c=[[0, 0], [0, 0]], w=[[2, 2], [2, 2]], x0=[3, 4])  # x* = 0, ‖x0‖ = 5, L = 2, f* = 0
KINK = make("lad", c=[[0]], w=[[1.5]], x0=[5])  # B = 3/2


def at(metric, problem):
    plan = SimpleNamespace(metric=METRICS[metric], problem=problem, ks=KS, local_steps=STEPS)
    return ceiling(plan, RIGHT)


def test_room_is_that_of_the_error_of_an_iterate_in_the_units_of_each_left_side():
    error = ROOM * np.sqrt(STEPS * (KS + 1.0)) * EPS * 5.0
    root = np.sqrt(RIGHT)
    assert at("squared-distance", HUBER) == pytest.approx((root + error) ** 2, rel=1e-12, abs=0)
    assert at("gradient-norm-last", HUBER) == pytest.approx((root + 2 * error) ** 2, rel=1e-12, abs=0)
    # f(x + e) − f* ≤ (√(f(x) − f*) + √(L/2)·e)²
    assert at("gap", HUBER) == pytest.approx((root + error) ** 2, rel=1e-12, abs=0)
    assert at("ergodic-gap", KINK) == pytest.approx(RIGHT + 1.5 * error, rel=1e-12, abs=0)


def test_a_mean_over_records_has_the_room_of_its_own_evaluation_only():
    found = at("gradient-norm", HUBER)
    assert (found >= RIGHT).all()
    assert (found <= RIGHT * (1 + 1e-9)).all()


def test_the_value_of_the_minimum_is_rounded_too():
    # x0 = x* = 0: iterates have no room, but f* = 4000 is a float.
    far = make("huber", c=[[-1000], [1000]], w=[[2], [2]], delta=2, x0=[0])
    best = far.optimum().value
    assert best == pytest.approx(4 * 999)
    assert at("gap", far) == pytest.approx(RIGHT + ROOM * EPS * best, rel=1e-9, abs=0)
