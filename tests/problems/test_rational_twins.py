"""The constants of rational twins worked out by hand, off the centre; floats say only an upper bound, or nothing."""

import itertools
from fractions import Fraction
from typing import Any

import pytest
import sympy
from problem_makers import make

from boundlab.arithmetic import numbers
from boundlab.arithmetic.numbers import exact_array

pytest.importorskip("flint")

root = sympy.sqrt
THIRD = sympy.Rational(1, 3)


def number(text: str) -> sympy.Rational:
    return sympy.Rational(text)


# x* = (3, 3/2): each coordinate is the zero of a piecewise linear slope.
HUBER = {
    "c": [[0, 1], [3, -1], [5, 2]],
    "w": [[1, 2], [2, 1], [1, 3]],
    "delta": "1/2",
    "x0": [4, -2],
    "sigma": "1/3",
}
# Slopes −1, 0 beyond 1/6, 3 beyond 1: every point between the kinks is a minimiser.
KINKS: dict[str, Any] = {"a": [[[-1], [2]], [[-2], [1]]], "b": [[0, -3], [1, "1/2"]], "x0": [3], "sigma": 2}
PLANE: dict[str, Any] = {
    "a": [[[1, 1], [0, 0]], [[-1, -1], [0, 0]]],
    "b": [[0, -1], [0, -2]],
    "minimiser": [0, 0],
    "x0": [3, 4],
}
BOWLS: dict[str, Any] = {
    "A": [[[2, 0], [0, 3]], [[2, 0], [0, 3]]],
    "b": [[0, 0], [3, 1]],
    "x0": [4, -1],
    "sigma": "1/2",
}
UNEQUAL = {**BOWLS, "A": [[[1, 0], [0, 4]], [[3, 0], [0, 2]]], "sigma": 0}

BY_HAND: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "huber": (
        "huber",
        HUBER,
        {
            "sigma": THIRD,
            "sigma_l": THIRD,
            "B": root(number("5/2")),
            "G_sq": number("5/2"),
            "G": root(number("47/18")),
            "L": 3,
            "L_sq": 9,
            "R": root(number("53/4")),
            "F0": number("31/12"),
            "zeta": root(number("37/4")),
        },
    ),
    "lad, one minimiser": (
        "lad",
        {"c": [0, 2, 7], "w": [1, 1, 3], "x0": -1},
        {"sigma": 0, "sigma_l": 0, "B": 3, "G_sq": 9, "G": 3, "R": 8, "F0": number("16/3")},
    ),
    "lad, many minimisers": (
        "lad",
        {"c": [[0], [2]], "x0": 5, "sigma": 1},
        {"sigma": 1, "sigma_l": 1, "B": 1, "G_sq": 1, "G": root(2), "R": 3, "F0": 3},
    ),
    "lad, begun at one of many minimisers": (
        "lad",
        {"c": [[0], [2]], "x0": "1/2"},
        {"sigma": 0, "sigma_l": 0, "B": 1, "G_sq": 1, "G": 1, "R": 0, "F0": 0},
    ),
    "max-affine on a line": (
        "max-affine",
        KINKS,
        {"sigma": 2, "sigma_l": 2, "B": 2, "G_sq": 4, "G": root(8), "R": 2, "F0": 3},
    ),
    "max-affine, begun below": (
        "max-affine",
        {**KINKS, "x0": [-1]},
        {"sigma": 2, "sigma_l": 2, "B": 2, "G_sq": 4, "G": root(8), "R": number("7/6"), "F0": number("7/4")},
    ),
    "max-affine in the plane": (
        "max-affine",
        PLANE,
        {"sigma": 0, "sigma_l": 0, "B": root(2), "G_sq": 2, "G": root(2), "R": 5, "F0": number("5/2")},
    ),
    "max-affine in the plane, no minimiser known": (
        "max-affine",
        {name: value for name, value in PLANE.items() if name != "minimiser"},
        {"sigma": 0, "sigma_l": 0, "B": root(2), "G_sq": 2, "G": root(2)},
    ),
    "max-affine, unbounded below": (
        "max-affine",
        {"a": [[[-1], [-2]]], "b": [[0, 1]], "x0": [3]},
        {"sigma": 0, "sigma_l": 0, "B": 2, "G_sq": 4, "G": 2},
    ),
    "max-affine, unbounded to the left": (
        "max-affine",
        {"a": [[[1], [2]]], "b": [[0, 1]], "x0": [3]},
        {"sigma": 0, "sigma_l": 0, "B": 2, "G_sq": 4, "G": 2},
    ),
    "quadratics with one A": (
        "quadratic",
        BOWLS,
        {
            "sigma": number("1/2"),
            "sigma_l": number("1/2"),
            "L": 3,
            "L_sq": 9,
            "mu": 2,
            "R": root(number("17/2")),
            "F0": number("77/8"),
            "zeta": root(number("5/2")),
            "sigma_g": root(number("45/4")),
            "sigma_g_mean": root(number("45/4")),
        },
    ),
    # x* = (9/4, 1/3); f(x0) − f* = ½(x0 − x*)ᵀ diag(2, 3)(x0 − x*).
    "quadratics with different A": (
        "quadratic",
        UNEQUAL,
        {
            "sigma": 0,
            "sigma_l": 0,
            "L": 4,
            "L_sq": 16,
            "mu": 1,
            "R": root(number("697/144")),
            "F0": number("49/16") + number("8/3"),
            "zeta": root(number("745/144")),
        },
    ),
}


@pytest.mark.sweep(2)
@pytest.mark.parametrize("name", BY_HAND)
def test_exact_constants_are_those_worked_out_by_hand(name: str) -> None:
    kind, options, expected = BY_HAND[name]
    found = make(kind, **options).rational(options).constants()
    unequal = {one for one in found if one.startswith("sigma_g")} - set(expected)
    assert set(found) - unequal == set(expected)
    for one, value in expected.items():
        assert sympy.simplify(found[one] - value) == 0, one


@pytest.mark.parametrize("name", [name for name, (kind, *_) in BY_HAND.items() if kind in ("huber", "lad")])
def test_heterogeneity_is_the_supremum_over_all_pieces(name: str) -> None:
    """The slopes are linear between the break points of a coordinate, so that some of these points attains it."""
    kind, options, _ = BY_HAND[name]
    twin = make(kind, **options).rational(options)
    width = twin.delta or Fraction(1, 2)
    places = [sorted({row[j] + shift for row in twin.c for shift in (-width, width)}) for j in range(twin.d)]
    worst, mean = Fraction(0), Fraction(0)
    for x in itertools.product(*places):
        slopes = [[numbers.fraction(one) for one in twin.gradient(client, exact_array(x))] for client in range(twin.n)]
        middle = [sum(column) / twin.n for column in zip(*slopes, strict=True)]
        away = [sum((a - b) ** 2 for a, b in zip(slope, middle, strict=True)) for slope in slopes]
        worst, mean = max(worst, *away), max(mean, sum(away) / twin.n)
    found = twin.constants()
    assert found["sigma_g"] ** 2 == sympy.Rational(worst.numerator, worst.denominator)
    assert found["sigma_g_mean"] ** 2 == sympy.Rational(mean.numerator, mean.denominator)


@pytest.mark.sweep(2)
@pytest.mark.parametrize("name", BY_HAND)
def test_the_exact_minimum_is_below_the_values_around_it(name: str) -> None:
    kind, options, expected = BY_HAND[name]
    twin = make(kind, **options).rational(options)
    best = twin.minimum()
    assert (best is None) == ("R" not in expected)
    if best is not None:
        assert numbers.fraction(twin.value(exact_array(best.x))) == best.value
        for shift in itertools.product((-1, Fraction(-1, 1000), 0, Fraction(1, 1000), 1), repeat=twin.d):
            near = exact_array([entry + by for entry, by in zip(best.x, shift, strict=True)])
            assert numbers.fraction(twin.value(near)) >= best.value


def test_the_first_of_two_equally_high_pieces_gives_the_slope() -> None:
    problem = make("max-affine", **KINKS)
    twin, kink = problem.rational(KINKS), exact_array([1])
    assert [int(numbers.fraction(twin.gradient(i, kink)[0])) for i in (0, 1)] == [-1, 1]
    assert [int(problem.gradient(i, [1.0])[0]) for i in (0, 1)] == [-1, 1]
