"""The numbers of the checker: a field, in which equal numbers have one form; and work that is counted alike.

A number is compared with what fractions give at points, whichever way it is kept: by its terms, or as a quotient.
"""

import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, example, given, strategies as st
from proof_files import file_of

from boundlab.recheck._numbers import (
    _SPENT,
    ONE,
    ZERO,
    Number,
    NumberError,
    Symbol,
    begin,
    of,
    once,
    raised,
    rational,
)
from boundlab.recheck.kernel import recheck_proof

K = of(Symbol("k"))
X, Y, Q = Symbol("x"), Symbol("y"), Symbol("q")
SYMBOLS = (X, Y, Symbol("u", (K,)), Symbol("u", (K + ONE,)), Symbol("q", (), K))
OPERATIONS: tuple[Callable[[Any, Any], Any], ...] = (operator.add, operator.sub, operator.mul, operator.truediv)
Point = dict[Symbol, Fraction]
POINTS = tuple(
    {symbol: Fraction(7 * place + 3 + turn, 2 + place + 3 * turn) for place, symbol in enumerate((*SYMBOLS, Q))}
    for turn in range(3)
)

fractions = st.fractions(-3, 3, max_denominator=3)


def at(number: Number, point: Point) -> Fraction | None:
    """Return the value at a point; None where it is divided by 0 there."""
    parts = []
    for part in (number.upper, number.bottom):
        total = Fraction(0)
        for powers, value in part.terms():
            for symbol, count in powers.items():
                value *= point[symbol] ** count
            total += value
        parts.append(total)
    return parts[0] / parts[1] if parts[1] else None


def worked_out(tree: Any, point: Point) -> Fraction | None:
    """Return the value of a tree of operations, by fractions alone."""
    if isinstance(tree, Symbol):
        return point[tree]
    if isinstance(tree, Fraction):
        return tree
    operation, *sides = tree
    one, two = (worked_out(side, point) for side in sides)
    if one is None or two is None or (operation is operator.truediv and not two):
        return None
    return Fraction(operation(one, two))


def number(tree: Any) -> Number:
    if isinstance(tree, Symbol):
        return of(tree)
    if isinstance(tree, Fraction):
        return rational(tree)
    operation, *sides = tree
    found: Number = operation(*map(number, sides))
    return found


trees = st.recursive(
    st.sampled_from(SYMBOLS) | fractions,
    lambda inside: st.tuples(st.sampled_from(OPERATIONS), inside, inside),
    max_leaves=8,
)


@st.composite
def numbers(draw: Any) -> Number:
    try:
        return number(draw(trees))
    except NumberError:
        assume(False)
        raise


@given(trees)
def test_a_number_is_what_fractions_give_at_every_point(tree: Any) -> None:
    values = [worked_out(tree, point) for point in POINTS]
    try:
        found = number(tree)
    except NumberError:  # 0 divides everywhere
        assert values == [None] * len(POINTS)
        return
    for point, value in zip(POINTS, values, strict=True):
        assert value is None or at(found, point) == value


@given(numbers(), numbers(), numbers())
@example(ONE / (K + ONE), of(X), ZERO)
def test_equal_numbers_have_one_form(a: Number, b: Number, c: Number) -> None:
    pairs = [((a + b) * c, a * c + c * b), (a - a, ZERO), (a * b, b * a), (a + (b + c), c + b + a), (-a, ZERO - a)]
    if b:
        pairs += [(a * b / b, a), (b / b, ONE), (a / b - c, (a - b * c) / b), (b.power(-2), ONE / (b * b))]
    for one, two in pairs:
        assert one == two
        assert (one.key, hash(one), one.symbols, one.constant) == (two.key, hash(two), two.symbols, two.constant)
        assert not one - two


@given(numbers(), numbers())
def test_different_numbers_have_different_texts(a: Number, b: Number) -> None:
    assert (a.key == b.key) is (a == b) is (not a - b)


@given(numbers(), numbers(), numbers())
def test_to_put_numbers_in_place_of_symbols_is_to_work_out_there(a: Number, b: Number, c: Number) -> None:
    try:
        found = a.mapped({X: b, Y: c}.get)
    except NumberError:
        assume(False)
        raise
    for point in POINTS:
        new = {X: at(b, point), Y: at(c, point)}
        if None not in new.values() and (there := at(found, point)) is not None:
            value = at(a, point | {key: own for key, own in new.items() if own is not None})
            assert value is None or there == value


@given(numbers())
def test_a_number_without_the_names_that_are_put_stays(a: Number) -> None:
    assert a.put({"z": ONE}) is a
    assert a.put({}) is a
    moved = a.put({"k": K + ONE})
    assert moved.names() == a.names()
    assert moved.put({"k": K - ONE}) == a


@given(numbers(), st.integers(-4, 4))
def test_powers_are_products(a: Number, count: int) -> None:
    assume(a or count >= 0)
    found = ONE
    for _ in range(abs(count)):
        found = found * a if count > 0 else found / a
    assert a.power(count) == found


@given(numbers())
@example(ONE / (of(X) + rational(Fraction(1, 2))))
def test_factors_multiply_to_the_number(a: Number) -> None:
    first, parts = a.factors()
    found = rational(first)
    for part, count in parts:
        found = found * part.power(count)
    assert found == a
    assert a.upper / a.bottom == a


@given(numbers(), st.sets(st.sampled_from(SYMBOLS)))
def test_a_number_is_parted_by_symbols(a: Number, chosen: set[Symbol]) -> None:
    try:
        parts = list(a.parted(chosen.__contains__))
    except NumberError:
        # A sum is divided by in which one of them stands.
        assert len(list(a.bottom.terms())) > 1
        assert chosen & set(a.bottom.symbols)
        return
    found = ZERO
    for inside, outside in parts:
        assert set(inside.symbols) <= chosen
        assert [value for _, value in inside.terms()] == [1]
        assert not chosen & set(outside.symbols)
        found = found + inside * outside
    assert found == a


def test_long_products_are_those_of_their_terms() -> None:
    """Short ones are multiplied term by term, long ones as polynomials."""
    one = sum((of(Symbol(f"x{place}")).power(place - 5) for place in range(10)), start=ZERO)
    two = sum((of(Symbol(f"x{place}")).power(3 - place) for place in range(10)), start=K)
    parts = (one * part.mapped(lambda _: None) for part in two_terms(two))
    assert sum(parts, start=ZERO) == one * two == two * one
    assert one * two / two == one


def two_terms(number: Number) -> list[Number]:
    return [inside * outside for inside, outside in number.parted(lambda _: True)]


def test_what_is_put_in_is_multiplied_once_for_all_terms_with_its_power() -> None:
    """A quotient in place of one symbol of many: the terms beside it cost no step each for each term."""
    few, many = (_steps_of_a_quotient_in(size) for size in (10, 40))
    assert many <= 6 * few


def _steps_of_a_quotient_in(size: int) -> int:
    """Return the steps of q = k/(k + 1) in (x + x² + … + x^size)·(q + q²)."""
    whole = sum((of(X).power(count) for count in range(1, size + 1)), start=ZERO)
    whole = whole * (of(Symbol("q")) + of(Symbol("q")).power(2))
    begin()
    whole.mapped(lambda one: K / (K + ONE) if one.key == "q" else None)
    return (_SPENT.get() or [0])[0]


@pytest.mark.parametrize("count", [1001, -1001])
def test_powers_have_an_end(count: int) -> None:
    with pytest.raises(NumberError):
        K.power(count)
    with pytest.raises(NumberError):
        raised(Q, rational(count))


def test_nothing_is_divided_by_0() -> None:
    for one in (ZERO, K, ONE / (K + ONE)):
        with pytest.raises(NumberError):
            one / (K - K)
    with pytest.raises(NumberError):
        ZERO.power(-1)
    with pytest.raises(NumberError):
        (ONE / K).mapped(lambda _: ZERO)


class TestWorkedOutOnce:
    """What stands in a file many times is worked out once for each file, and nothing of it is kept for another."""

    def test_a_file_asks_for_the_same_work_each_time(self) -> None:
        found = []
        for name in ("small.sums", "small.bernoulli", "small.sums", "small.cases", "small.bernoulli"):
            recheck_proof(file_of(name))
            found.append((name, *(_SPENT.get() or ())))
        assert len(set(found)) == 3

    def test_of_equal_texts_the_first_is_taken_and_no_other(self) -> None:
        begin()
        made = [once(kind, text, object) for kind in "ab" for text in ("1", "True", "1")]
        assert made[0] is made[2]
        assert made[3] is made[5]
        assert len({id(one) for one in made}) == 4
        begin()
        assert once("a", "1", object) is not made[0]

    def test_what_cannot_be_made_is_tried_each_time(self) -> None:
        begin()
        for _ in range(2):
            with pytest.raises(ZeroDivisionError):
                once("a", "1", lambda: 1 // 0)

    @pytest.mark.parametrize("other", [True, 1.0, "1", [1], None])
    def test_what_only_looks_like_a_power_is_none(self, other: Any) -> None:
        """The power 1 is read before: that equal values are no equal texts is what keeps them apart."""
        raw = file_of("small.bernoulli")
        for line in ({"data": {"value": {"top": [["1", [["a", one]]]]}}} for one in (1, other)):
            changed = {**raw, "facts": [{**raw["facts"][0], **line}, *raw["facts"][1:]]}
            found = recheck_proof(changed)
            assert not found.accepted
        assert "must be a whole number" in found.reason
