"""One walk over a formula, in balls."""

import operator
from collections.abc import Callable

import pytest
import sympy
from hypothesis import assume, given, settings, strategies as st

from boundlab.arithmetic import numbers
from boundlab.errors import SymbolError, UndecidedError
from boundlab.formulas.enclose import BALLS, CERTAIN, Formulas, KnownNumber, enclose, walk
from boundlab.formulas.folds import EntryOf, FoldIndex
from boundlab.formulas.symbols import symbol

pytest.importorskip("flint")

BINARY: dict[str, Callable[[sympy.Expr, sympy.Expr], sympy.Expr]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": lambda a, b: a / (1 + b**2),
    "min": lambda a, b: sympy.Min(a, b, evaluate=False),
    "max": lambda a, b: sympy.Max(a, b, evaluate=False),
    "root": lambda a, b: (a**2 + 1) ** sympy.Rational(1, 2) * (b**2 + 1) ** sympy.Rational(-2, 3),
    "exp": lambda a, b: sympy.exp(-(a**2)) + b,
    "log": lambda a, b: sympy.log(1 + a**2) * b,
    "abs": lambda a, b: sympy.Abs(a - b, evaluate=False),
}
NUMBERS = (sympy.E, sympy.pi, sympy.Integer(0), sympy.Integer(3), sympy.Rational(-7, 5), sympy.Rational(1, 9))


@st.composite
def expressions(draw: st.DrawFn, depth: int = 3) -> sympy.Expr:
    if depth == 0 or draw(st.booleans()):
        return draw(st.sampled_from(NUMBERS))
    rule = BINARY[draw(st.sampled_from(sorted(BINARY)))]
    return rule(draw(expressions(depth - 1)), draw(expressions(depth - 1)))


@pytest.mark.nightly
@given(expressions())
@settings(max_examples=80, deadline=None)
def test_balls_and_fractions_around_them_enclose_the_same_number(expression: sympy.Expr) -> None:
    low, high = enclose(expression)
    assume(high < 10**9)  # the radius of a ball with 160 bits grows with its middle
    with numbers.digits(160):
        ball = walk(expression, BALLS, {}.__getitem__)
        interval = numbers.ball(numbers.rational(low)).union(numbers.ball(numbers.rational(high)))
        assert ball.overlaps(interval)
        assert ball.rad() < 1e-25


def test_each_number_system_has_its_own_floor_and_power() -> None:
    digits = sympy.floor(sympy.log(1000) / sympy.log(10), evaluate=False)
    with numbers.digits(128):
        assert walk(digits, BALLS, {}.__getitem__) == 3  # an integer up to rounding
        assert walk(digits, CERTAIN, {}.__getitem__).contains(2)  # what is certain of it
        assert walk(sympy.Pow(0, -1, evaluate=False), BALLS, {}.__getitem__) == numbers.flint().arb("+inf")
    assert enclose(sympy.floor(sympy.Rational(7, 2), evaluate=False)) == (3, 3)
    for nothing in (sympy.sqrt(-2, evaluate=False), sympy.Pow(0, -1, evaluate=False)):
        with pytest.raises(UndecidedError, match="is no number of which 136 bits are known"):
            enclose(nothing)


def test_of_an_entry_of_many_numbers_only_that_one_is_asked() -> None:
    asked: list[str] = []
    entry = EntryOf(sympy.Tuple(*(symbol(name) for name in ("L", "mu", "B"))), FoldIndex.named("k") - 1)
    found = walk(entry, BALLS, lambda name: asked.append(name) or numbers.rational(2))
    assert (found, asked) == (2, [FoldIndex.named("k").name, "mu"])


def test_what_has_no_rule_is_refused_in_the_words_of_its_number_system() -> None:
    for expression, words in ((sympy.sin(2), "no enclosure for sin"), (symbol("L") + 1, "L, which has no value")):
        with pytest.raises(UndecidedError, match=words):
            enclose(expression)
    with pytest.raises(SymbolError, match="sin has no interval evaluation"):
        walk(sympy.sin(2), BALLS, {}.__getitem__)
    with pytest.raises(SymbolError, match="mu, which has no value, has no interval evaluation"):
        Formulas({"L": KnownNumber.of(2)}, {}).ball(symbol("mu") / symbol("L"))


@pytest.mark.sweep(2)
@pytest.mark.parametrize("number", [sympy.E, sympy.pi, sympy.Float("0.1"), sympy.Float(2) ** -70])
@pytest.mark.parametrize("bits", [64, 512, 4096])
def test_a_ball_holds_its_constant_at_any_precision(number: sympy.Expr, bits: int) -> None:
    # e and π were balls of 60 decimals without their rounding: from 200 bits on they did not hold the number.
    with numbers.digits(4 * bits):
        finer = numbers.flint().arb.pi() if number == sympy.pi else numbers.flint().arb.const_e()
        if number.is_Float:
            exact = sympy.Rational(number)
            finer = numbers.ball(numbers.flint().fmpq(int(exact.p), int(exact.q)))
    with numbers.digits(bits):
        assert BALLS.constant(number).contains(finer)
