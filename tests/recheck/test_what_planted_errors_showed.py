"""What planted errors in the checker went unseen by: symbols replaced together, hypotheses, cases in words."""

from fractions import Fraction

import pytest
from proof_files import file_of

from boundlab.prove import Context, Kernel, ProofError, expr, finite_sum
from boundlab.prove._context import Range
from boundlab.prove._scalars import ONE, ZERO, scalar, variable
from boundlab.recheck._numbers import Number, Symbol, of, rational
from boundlab.recheck._proof import recheck_proof
from boundlab.recheck._terms import UNIT, Open

A, B, X, Y = (of(Symbol(name)) for name in "abxy")


def at(number: Number, **values: int) -> Fraction:
    """The value of a number at whole values of its symbols."""
    found = number.put({name: rational(value) for name, value in values.items()}).constant
    assert found is not None
    return Fraction(found)


@pytest.mark.parametrize("quotient", [(A + 1) / (B + 1), 1 / (A + B), (A + 1) / (A * B + 2)])
@pytest.mark.parametrize("plain", [A + 2, A, rational(3), A * B])
@pytest.mark.parametrize("number", [X * Y + Y, X + Y**2, X / Y, (X + Y) / (X * Y + 1)])
def test_a_quotient_and_a_sum_take_the_place_of_two_symbols_at_once(
    number: Number, plain: Number, quotient: Number
) -> None:
    for one, other in ((quotient, plain), (plain, quotient)):
        both = number.put({"x": one, "y": other})
        for a, b in ((1, 2), (3, 1), (2, 5)):
            x, y = at(one, a=a, b=b), at(other, a=a, b=b)
            assert at(both, a=a, b=b) == at(number.put({"x": rational(x), "y": rational(y)}), a=a, b=b)


@pytest.mark.parametrize("high", [None, 9])
def test_a_symbol_stays_whole_where_a_claim_about_it_is_supposed(high: int | None) -> None:
    kernel = Kernel(Context())
    end = None if high is None else scalar(high)
    k = kernel.context.declare("k", Range(low=ZERO, high=end, integer=True))
    supposed = kernel.suppose(expr(k * k) >= 0, "k")
    known = supposed.context.find("k")
    assert known is not None
    assert known.integer
    # The step goes from k to k + 1, and no further than the end.
    assert known.high is None if high is None else known.high == scalar(high) - ONE
    assert supposed.context.checked.integer(variable("k"))


def test_a_conclusion_of_cases_says_which_ones() -> None:
    found = recheck_proof(file_of("classics.gd.strongly-convex"))
    assert "where 0 ≤ q, 0 < alpha ≤ (2)/(L + mu): " in found.reason
    assert "where 0 ≤ r, (2)/(L + mu) ≤ alpha" in found.reason


@pytest.mark.parametrize(("small", "large"), [("a", "b"), ("b", "a")])
def test_a_quotient_of_a_denominator_below_0_shows_no_sign(small: str, large: str) -> None:
    """X ≥ 1/(s − l), where s ≤ 1 and l ≥ 2, may be negative."""
    context = Context()
    below = context.declare(small, Range(low=ZERO, high=ONE))
    above = context.declare(large, Range(low=scalar(2), high=scalar(3)))
    x = context.declare("x", Range(low=1 / (below - above)))
    assert not context.nonnegative(x)


@pytest.mark.parametrize(("outer", "inner"), [("i", "j"), ("j", "i"), ("I", "a"), ("a", "I")])
def test_an_index_that_the_end_of_an_inner_sum_names_is_bound(outer: str, inner: str) -> None:
    """Σ_{i < n} Σ_{j < i} c(i, j)·d(j) has one form, whatever its indices are called."""
    i, j, n = (of(Symbol(name)) for name in (outer, inner, "n"))
    weight = of(Symbol("c", (i, j))) * of(Symbol("d", (j,)))
    ((triangle, factor),) = Open(((outer, ZERO, n), (inner, ZERO, i)), weight, UNIT).closed().items()
    assert factor == ONE
    assert triangle.names() == {"n", "c", "d"}
    assert triangle.opened().closed() == {triangle: ONE}


def test_a_sum_does_not_divide_by_what_its_index_stands_in() -> None:
    kernel = Kernel(Context())
    K, k = (kernel.context.declare(name, Range(low=ONE, integer=True)) for name in ("K", "k"))
    with pytest.raises(ProofError, match="divides by"):
        kernel.combine(finite_sum("j", 0, K, expr(1 / (variable("j") + k))) >= 0, [])


def test_a_symbol_whose_line_does_not_exist_is_no_crash() -> None:
    raw = file_of("classics.gd.strongly-convex")
    first, *others = raw["symbols"]
    for line in (len(raw["facts"]), len(raw["facts"]) + 7):
        found = recheck_proof({**raw, "symbols": [{**first, "by": line}, *others]})
        assert not found.right
