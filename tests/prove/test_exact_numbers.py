"""What exact models are made of: functions and their minimisers, noise, and balls for exponentials."""

import itertools
import math
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from boundlab.prove import variable
from boundlab.prove._functions import (
    Huber,
    MaxAffine,
    PiecewiseQuadratic,
    Quadratic,
    in_hull,
    infimum,
    minimise,
)
from boundlab.prove._instance import Noise
from boundlab.prove._scalars import REFUSED
from boundlab.prove.models import PRECISIONS, Ball, Row, exponential, lower, upper

F = Fraction
ABS = MaxAffine((((F(1),), F(0)), ((F(-1),), F(0))))


def test_a_function_with_two_valleys_is_exact() -> None:
    valleys = PiecewiseQuadratic((F(-1), F(1)), (F(1), F(-1), F(1)), F(1))
    assert [valleys.slope((F(x),))[0] for x in (-3, -2, -1, 0, 1, 2, 3)] == [-1, 0, 1, 0, -1, 0, 1]
    assert [valleys.value((F(x),)) for x in (-2, -1, 0, 1, 2)] == [F(-1, 2), 0, F(1, 2), 0, F(-1, 2)]
    assert (valleys.smoothness(), valleys.convexity()) == (1, -1)
    assert infimum((valleys,)) == F(-1, 2)
    assert infimum((PiecewiseQuadratic((F(0),), (F(1), F(0)), F(-1)),)) is None
    assert infimum((Quadratic((F(2),), (F(3),)), Quadratic((F(2),), (F(5),)))) == 1
    # The slope is Lipschitz, and no better than that; the integral of the slope is the value.
    points = [F(x, 4) for x in range(-12, 13)]
    for x, y in itertools.pairwise(points):
        rise = valleys.value((y,)) - valleys.value((x,))
        assert rise == (valleys.slope((x,))[0] + valleys.slope((y,))[0]) / 2 * (y - x)


def test_exponentials_are_enclosed() -> None:
    for v in (F(1, 6), F(-3), F(5, 2), F(1, 1000)):
        for bits in PRECISIONS:
            found = exponential(v, bits)
            assert isinstance(found, Ball)
            assert found.low <= found.high
            assert abs(float(found.low) - math.exp(v)) < 1e-12 * math.exp(v)
            assert found.high - found.low < found.high / 2 ** (bits - 16)
            # e^v·e^(−v) = 1, wherever both lie.
            one = found * exponential(-v, bits)
            assert isinstance(one, Ball)
            assert one.low <= 1 <= one.high
    assert exponential(F(0), 128) == 1
    between = exponential(Ball(F(0), F(1), 128), 128)
    assert lower(between) <= 1 < math.e < float(upper(between)) + 1e-15
    assert float(upper(between) - lower(between)) < math.e - 1 + 1e-12


def test_a_claim_that_balls_do_not_decide_is_not_evaluated() -> None:
    w = exponential(F(1, 6), 128)
    assert not Row((), w, w, "≤").certain
    assert not Row((), w, w, "=").certain
    assert Row((), w, F(2), "≤").holds
    assert Row((), w, F(2), "=").slack < 0
    assert not Row((), w, F(1), "≤").holds
    assert Row((), w, F(1), "≥").certain
    assert Row((), w, F(1), "≥").holds


def test_minimisers_are_exact() -> None:
    bowl, far = Quadratic((F(1),), (F(3),)), Huber(F(1), F(0), F(1))
    assert minimise((bowl,), (F(0),)) == ((F(3),), ((F(0),),))
    assert minimise((bowl, far), (F(0),)) == ((F(2),), ((F(-1),), (F(1),)))
    assert minimise((ABS, ABS), (F(5),)) == ((F(0),), ((F(1),), (F(-1),)))
    assert minimise((MaxAffine((((F(1),), F(0)),)),), (F(0),)) is None
    valley = MaxAffine((((F(1),), F(-2)), ((F(0),), F(0)), ((F(-1),), F(-2))))
    for start, nearest in ((5, 2), (-5, -2), (1, 1)):
        assert minimise((valley,), (F(start),)) == ((F(nearest),), ((F(0),),))
    assert in_hull((F(1), F(1)), ((F(0), F(0)), (F(2), F(2))))
    assert not in_hull((F(1), F(2)), ((F(0), F(0)), (F(2), F(2))))
    assert not in_hull((F(3), F(3)), ((F(0), F(0)), (F(2), F(2))))
    assert in_hull((F(1, 2), F(1, 2)), ((F(0), F(0)), (F(2), F(0)), (F(0), F(2))))


def test_noise_has_mean_0_and_its_variance() -> None:
    for one in (Noise((F(2),)), Noise((F(2),), F(1, 5)), Noise((F(1),), F(1, 3), F(1, 2))):
        points = one.points()
        assert sum(p for p, _ in points) == 1
        assert sum(p * x for p, (x,) in points) == 0
        assert sum(p * x * x for p, (x,) in points) == one.variance()


@pytest.mark.parametrize("apply", [operator.add, operator.sub, operator.mul, operator.truediv])
def test_a_float_in_a_proof_is_refused_in_words(apply: Callable[[Any, Any], Any]) -> None:
    x = variable("x")
    for pair in ((x, 1 / 3), (1 / 3, x)):
        with pytest.raises(REFUSED, match="a fraction, not a float"):
            apply(*pair)
