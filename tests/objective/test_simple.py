"""Proximal maps are what they are defined to be, in every arithmetic."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays

from boundlab.arithmetic import numbers
from boundlab.arithmetic.numbers import EXACT, exact_array, rational
from boundlab.errors import SpecError
from boundlab.objective.simple import L1, BallIndicator, BoxIndicator, ProxFunction, read_simple
from boundlab.options import Options

KINDS: tuple[ProxFunction, ...] = (
    L1(Fraction(3, 4)),
    BoxIndicator(Fraction(-1), Fraction(1, 2)),
    BallIndicator(Fraction(5, 4)),
)
SIZES = st.floats(0.01, 4.0)
POINTS = arrays(np.float64, 3, elements=st.floats(-4.0, 4.0))
CLOSE = 1e-9


def prox(h: ProxFunction, x: np.ndarray, size: float) -> np.ndarray:
    return np.asarray(h.prox(x.copy(), size))


@pytest.mark.parametrize("h", KINDS)
@given(a=POINTS, x=POINTS)
def test_the_support_function_is_the_largest_product_and_attained_on_bounded_sets(
    h: ProxFunction, a: np.ndarray, x: np.ndarray
) -> None:
    most = float(h.support(a[None])[0])
    assert a @ prox(h, x, 1.0) <= most
    assert np.isfinite(most) == h.bounded
    if h.bounded:
        assert a @ prox(h, 1e6 * a, 1.0) == pytest.approx(most, abs=1e-4)


@pytest.mark.parametrize("h", KINDS)
@given(x=POINTS, y=POINTS, size=SIZES)
def test_a_proximal_point_is_the_one_whose_way_there_is_a_subgradient(
    h: ProxFunction, x: np.ndarray, y: np.ndarray, size: float
) -> None:
    # p = prox(x) if and only if h(y) ≥ h(p) + ⟨(x − p)/size, y − p⟩ for all y.
    p = prox(h, x, size)
    other = y if np.isfinite(h.value(y)) else prox(h, y, 1.0)
    assert np.isfinite(h.value(p))
    assert h.value(other) >= h.value(p) + (x - p) @ (other - p) / size - CLOSE * (1.0 + 1.0 / size)


@pytest.mark.parametrize("h", KINDS)
@given(X=arrays(np.float64, (4, 3), elements=st.floats(-4.0, 4.0)), sizes=arrays(np.float64, 4, elements=SIZES))
def test_tensors_do_the_same_in_each_row(h: ProxFunction, X: np.ndarray, sizes: np.ndarray) -> None:
    torch = pytest.importorskip("torch")
    from boundlab.arithmetic.tensors import TENSORS

    rows = h.prox(torch.as_tensor(X.copy()), torch.as_tensor(sizes).unsqueeze(1), TENSORS)
    expected = np.array([prox(h, x, size) for x, size in zip(X, sizes.tolist(), strict=True)])
    assert np.allclose(rows.numpy(), expected, rtol=1e-14, atol=1e-15)
    assert h.values(torch.as_tensor(X), TENSORS).numpy() == pytest.approx(h.values(X), rel=1e-14)


FRACTIONS = st.lists(st.fractions(-4, 4, max_denominator=8), min_size=3, max_size=3)


@pytest.mark.parametrize("h", KINDS)
@given(x=FRACTIONS, size=st.fractions(Fraction(1, 8), 4, max_denominator=8))
def test_rational_numbers_and_balls_do_the_same(h: ProxFunction, x: list[Fraction], size: Fraction) -> None:
    expected = prox(h, np.array([float(entry) for entry in x]), float(size))
    point = exact_array(x)
    balls = h.prox(numbers.ball(1) * point, numbers.ball(rational(size)), EXACT)
    assert [float(entry) for entry in balls] == pytest.approx(expected.tolist(), abs=1e-12)
    try:
        exactly = h.prox(point, rational(size), EXACT)
    except SpecError:
        assert isinstance(h, BallIndicator)  # a projection onto a sphere takes roots
        assert sum(entry**2 for entry in x) > h.radius**2
        return
    assert [float(numbers.fraction(entry)) for entry in exactly] == pytest.approx(expected.tolist(), abs=1e-12)
    assert all(ball.overlaps(numbers.ball(entry)) for ball, entry in zip(balls, exactly, strict=True))
    assert float(numbers.fraction(h.values(exactly, EXACT))) == pytest.approx(h.value(expected), abs=1e-12)


def test_sharpness_by_hand() -> None:
    zero, slope = np.zeros(2), np.array([0.5, -0.25])
    assert L1(Fraction(1)).sharpness(zero, slope) == 0.5
    assert L1(Fraction(1)).sharpness(np.array([0.0, 1.0]), slope) == 0.0
    assert BoxIndicator(Fraction(0), Fraction(1)).sharpness(np.array([0.0, 1.0]), slope) == 0.25
    assert BoxIndicator(Fraction(0), Fraction(1)).sharpness(np.array([0.0, 0.0]), slope) == 0.0
    assert BoxIndicator(Fraction(0), Fraction(1)).sharpness(np.array([0.0, 0.5]), np.array([0.5, 0.0])) == 0.0


def test_balls_at_a_kink_need_not_know_on_which_side_they_lie() -> None:
    size = numbers.ball(rational(1))
    at_threshold = numbers.flint().arb(0.75, 1e-6)
    (out,) = L1(Fraction(3, 4)).prox(np.array([at_threshold]), size, EXACT)
    assert out.contains(0)
    assert float(out.upper()) < 1e-5


@pytest.mark.parametrize("h", KINDS)
@given(x=POINTS, slope=POINTS, size=SIZES)
def test_the_shortest_subgradient_is_one_and_no_longer_than_that_of_the_step(
    h: ProxFunction, x: np.ndarray, slope: np.ndarray, size: float
) -> None:
    p = prox(h, x, size)
    found, away = h.shortest(p, slope)
    v = found.value
    # (x − p)/size is a subgradient of h at p, so that slope + (x − p)/size is no shorter than the shortest.
    assert away <= 1e-8
    assert np.linalg.norm(v) <= np.linalg.norm(slope + (x - p) / size) + CLOSE * (1.0 + 1.0 / size)
    for y in (prox(h, x + step, size) for step in np.eye(3)):
        assert h.value(y) >= h.value(p) + (v - slope) @ (y - p) - 1e-7


@pytest.mark.parametrize("h", KINDS)
@given(x=POINTS, y=POINTS, slope=POINTS)
def test_no_point_of_the_level_set_beats_the_duality_gap(
    h: ProxFunction, x: np.ndarray, y: np.ndarray, slope: np.ndarray
) -> None:
    p, q = prox(h, x, 1.0), prox(h, y, 1.0)
    gap = h.duality_gap(p, slope, 0.0, h.value(q))
    # Projections are rounded: q may lie outside by that much.
    assert gap >= slope @ (p - q) + h.value(p) - h.value(q) - 1e-14 * (1.0 + np.linalg.norm(slope))


@pytest.mark.parametrize("h", KINDS)
@given(x=POINTS, y=POINTS, slope=POINTS)
def test_at_a_corner_the_linearised_objective_grows_at_the_rate_of_its_sharpness(
    h: ProxFunction, x: np.ndarray, y: np.ndarray, slope: np.ndarray
) -> None:
    corner, q = prox(h, 100.0 * x, 150.0), prox(h, y, 0.5)
    rate = h.sharpness(corner, slope)
    grown = slope @ (q - corner) + h.value(q) - h.value(corner)
    assert grown >= rate * np.abs(q - corner).sum() - CLOSE or rate == 0.0


def test_values_outside_a_set_are_infinite_and_at_its_rounded_edge_they_are_not() -> None:
    for h in (BoxIndicator(Fraction(-1), Fraction(1)), BallIndicator(Fraction(1))):
        third = np.array([1.0, 0.0]) / 3.0
        assert h.value(third + third + third + 1e-15) == 0.0
        assert h.value(np.array([1.001, 0.0])) == np.inf
        assert h.value(np.array([np.nan, 0.0])) == np.inf
        assert h.value(np.array([1.0 + 1e-7, 0.0], dtype=np.float32)) == 0.0


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({}, None),
        ({"l1": "1/3"}, L1(Fraction(1, 3))),
        ({"l1": 0.1}, L1(Fraction(1, 10))),
        ({"box": "[-1,0.5]"}, BoxIndicator(Fraction(-1), Fraction(1, 2))),
        ({"box": ["-1/3", 2]}, BoxIndicator(Fraction(-1, 3), Fraction(2))),
        ({"ball": "2"}, BallIndicator(Fraction(2))),
    ],
)
def test_options_are_taken_at_their_word_and_come_back(options: dict[str, object], found: ProxFunction | None) -> None:
    assert read_simple(Options("problem", options)) == found
    if found is not None:
        assert read_simple(Options("problem", found.options())) == found


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"l1": "0"}, "l1 must be > 0"),
        ({"l1": "much"}, "l1 must be a number"),
        ({"ball": "-1"}, "needs a radius > 0"),
        ({"box": "[1,1]"}, "needs low < high"),
        ({"box": "3"}, r"must be \[low,high\]"),
        ({"l1": "1", "ball": "1"}, "l1 and ball do not go together"),
    ],
)
def test_what_is_no_simple_function_is_refused_in_one_line(options: dict[str, object], words: str) -> None:
    with pytest.raises(SpecError, match=words):
        read_simple(Options("problem quadratic", options))
