"""Each loss of one number is one function, in whatever numbers: arrays, tensors, rational numbers, balls."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from boundlab.arithmetic import numbers
from boundlab.arithmetic.numbers import EXACT, FLOATS, exact_array
from boundlab.errors import UndecidedError
from boundlab.problems.clients import LOSSES, WIDTHS, loss, loss_of, scalar_slopes, scalar_values
from boundlab.problems.rational import RationalSeparable

pytest.importorskip("flint")

POINTS = [Fraction(k, 8) for k in range(-24, 25)]  # with the kinks and both sides of them
WIDTH = Fraction(5, 4)
SEPARABLE = ("huber", "pseudo-huber", "lad")
MODELS = sorted(name for name in LOSSES if name != "softmax")


def floats(entries: list) -> np.ndarray:
    return np.array([float(numbers.ball(entry)) for entry in entries])


@pytest.mark.parametrize("kind", SEPARABLE)
def test_a_separable_loss_is_one_function_in_all_numbers(kind: str) -> None:
    torch = pytest.importorskip("torch")
    from boundlab.arithmetic.tensors import TENSORS

    phi, exact, r = loss_of(kind, float(WIDTH)), loss_of(kind, numbers.rational(WIDTH)), np.array(POINTS, dtype=float)
    for what in ("value", "slope"):
        one = getattr(phi, what)(r.copy(), FLOATS)
        np.testing.assert_allclose(getattr(phi, what)(torch.as_tensor(r.copy()), TENSORS).numpy(), one, rtol=1e-15)
        found = getattr(exact, what)(exact_array(POINTS), EXACT)
        np.testing.assert_allclose(floats(found), one, rtol=1e-15)
    if kind != "pseudo-huber":
        one = phi.prox(r, 0.75, FLOATS)
        np.testing.assert_allclose(phi.prox(torch.as_tensor(r), 0.75, TENSORS).numpy(), one, rtol=1e-15)
        found = exact.prox(exact_array(POINTS), numbers.rational(Fraction(3, 4)), EXACT)
        np.testing.assert_allclose(floats(found), one, rtol=1e-15)


@pytest.mark.parametrize("kind", MODELS)
def test_a_loss_of_margins_is_one_function_in_all_numbers(kind: str) -> None:
    torch = pytest.importorskip("torch")
    from boundlab.arithmetic.tensors import TENSORS

    z, signs = np.array(POINTS, dtype=float), np.where(np.arange(len(POINTS)) % 2, 1.0, -1.0)
    y = np.stack([np.abs(z), np.full(len(z), 2.0)], axis=1) if kind == "poisson" else signs
    for function in (scalar_values, scalar_slopes):
        one = function(LOSSES[kind], z.copy(), y, FLOATS)
        tensor = torch.as_tensor(z.copy()).view(-1, 1)
        found = function(LOSSES[kind], tensor, torch.as_tensor(y).view(len(y), -1), TENSORS)
        np.testing.assert_allclose(found.numpy().ravel(), one, rtol=1e-14, atol=1e-15)
        width = WIDTHS.get(kind)
        exact_loss = loss(kind, None if width is None else numbers.rational(Fraction(width)))
        exact = function(exact_loss, exact_array(z), exact_array(y), EXACT)
        np.testing.assert_allclose(floats(exact), one, rtol=1e-14, atol=1e-15)


def _exact(value: float) -> object:
    return numbers.rational(Fraction(value))


def test_a_ball_shrinks_by_a_step_on_the_quadratic_part() -> None:
    x, size = np.array([numbers.flint().arb(1, "1e-3")]), numbers.rational(Fraction(1, 4))
    [moved] = one_client(Fraction(2)).descend(0, x, size)
    assert float(moved.rad()) == pytest.approx(0.25e-3, rel=1e-6)


@given(
    middle=st.sampled_from([Fraction(k, 4) for k in range(-8, 9)]), radius=st.sampled_from(["0", "1e-9", "0.25", "1.5"])
)
def test_what_is_continuous_takes_any_ball_and_what_jumps_asks_for_more_digits(middle: Fraction, radius: str) -> None:
    around, size = numbers.flint().arb(_exact(middle), radius), numbers.rational(Fraction(1, 3))
    for width in (Fraction(5, 4), None):  # turns at ½ ± 5/4, or jumps at ½
        problem = one_client(width)
        ask = {"value": problem.value, "prox": lambda x, p=problem: p.prox(0, x, size)[0]}
        if width is not None:
            ask["descend"] = lambda x, p=problem: p.descend(0, x, size)[0]
            ask["gradient"] = lambda x, p=problem: p.gradient(0, x)[0]
        for one in ask.values():
            found = numbers.ball(one(np.array([around])))
            assert float(found.rad()) <= 10.0 * float(radius) + 1e-12  # Lipschitz, with 3·|x − ½| ≤ 10
            for part in (-1, 0, 1):
                point = middle + part * Fraction(radius)
                assert found.overlaps(numbers.ball(one(exact_array([point]))))
        if width is None and float(radius) >= abs(middle - Fraction(1, 2)) and float(radius):
            with pytest.raises(UndecidedError):
                problem.descend(0, np.array([around]), size)


def one_client(width: Fraction | None) -> RationalSeparable:
    """Give f(x) = 3·φ(x − ½)."""
    return RationalSeparable([[Fraction(1, 2)]], [[Fraction(3)]], width, [Fraction(0)], Fraction(0))
