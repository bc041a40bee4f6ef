"""Sums and products in one form: they keep their value, whatever their ranges are."""

import random
from fractions import Fraction

import pytest
from hypothesis import given, settings, strategies as st
from kernel_values import signed, value

from boundlab.prove import (
    Context,
    Expr,
    Kernel,
    ProofError,
    Range,
    Scalar,
    combine_vectors,
    dot,
    expr,
    finite_sum,
    scalar,
    squared,
    total,
    variable,
    vector_sum,
)
from boundlab.prove._terms import Lin, lin
from boundlab.prove.setting import Setting
from boundlab.prove.settings import setting_of
from boundlab.recheck._terms import Vec
from boundlab.theorems import load_theorem

a, b, k, j = (variable(name) for name in ("a", "b", "k", "j"))
ENDS = st.integers(-12, 12)


def _numbers(seed: int):  # type: ignore[no-untyped-def]
    """Return values of all vectors u[i], w[i, l] and numbers p[i] ≠ 0."""

    def of(name: str, indices: tuple[int, ...]) -> Fraction:
        source = random.Random(f"{seed} {name} {indices}")  # noqa: S311  (a test, no secret)
        return Fraction(source.choice((-1, 1)) * source.randint(1, 9), source.randint(1, 3))

    return of


def u(index: Scalar) -> Lin:
    return lin(Vec("u", (index,)))


def w(one: Scalar, other: Scalar) -> Lin:
    return lin(Vec("w", (one, other)))


def holds(left: Expr, right: Fraction, seed: int, **point: int) -> None:
    known = {name: Fraction(number) for name, number in point.items()}
    assert value(left, known, _numbers(seed), _numbers(seed)) == right


@settings(max_examples=40, deadline=None)
@given(ENDS, ENDS, st.integers(0, 99))
def test_a_sum_is_signed_where_its_range_is_reversed(lo: int, hi: int, seed: int) -> None:
    of = _numbers(seed)
    wanted = signed(lo, hi, lambda i: (i * i + 2) * of("u", (i + 1,)) ** 2 / of("p", (i,)))
    term = squared(u(k + 1)) * (k * k + 2) / variable("p", k)
    holds(finite_sum("k", a, b, term), wanted, seed, a=lo, b=hi)
    # Written out, or put in afterwards: the same.
    holds(finite_sum("k", lo, hi, term), wanted, seed)
    holds(finite_sum("k", a, b, term).put({"a": scalar(lo), "b": scalar(hi)}), wanted, seed)


@pytest.mark.nightly
@settings(max_examples=40, deadline=None)
@given(ENDS, ENDS, st.integers(-3, 3), st.integers(-2, 2), st.integers(0, 99))
def test_a_range_may_depend_on_an_index_further_out(lo: int, hi: int, shift: int, times: int, seed: int) -> None:
    of = _numbers(seed)
    wanted = signed(
        lo,
        hi,
        lambda i: signed(shift, times * i + 1, lambda r: (i - 3 * r) * of("w", (i, r)) * of("u", (r,)) * of("p", (i,))),
    )
    term = dot(w(k, j), u(j)) * (k - 3 * j) * variable("p", k)
    double = finite_sum("k", a, b, finite_sum("j", shift, times * k + 1, term))
    holds(double, wanted, seed, a=lo, b=hi)
    holds(double.put({"a": scalar(lo)}), wanted, seed, b=hi)
    # A value that names what a bound variable could be mixed up with.
    holds(double.put({"a": k, "b": j}), wanted, seed, k=lo, j=hi)


@settings(max_examples=40, deadline=None)
@given(ENDS, ENDS, ENDS, st.integers(0, 99))
def test_sums_with_independent_ranges_have_one_form(lo: int, hi: int, other: int, seed: int) -> None:
    of = _numbers(seed)
    term = dot(w(k, j), u(k)) * variable("p", j)
    one = finite_sum("k", a, b, finite_sum("j", 0, a * b, term))
    two = finite_sum("j", 0, a * b, finite_sum("k", a, b, term))
    assert not (one - two).terms
    wanted = (
        signed(lo, hi, lambda i: signed(0, lo * hi, lambda r: of("w", (i, r)) * of("u", (i,)) * of("p", (r,))))
        if abs(lo * hi) < 40
        else None
    )
    if wanted is not None:
        holds(one, wanted, seed, a=lo, b=hi)
    holds(finite_sum("k", a, b, expr(k) * other), signed(lo, hi, lambda i: Fraction(i * other)), seed, a=lo, b=hi)


@pytest.mark.nightly
@settings(max_examples=20, deadline=None)
@given(ENDS, ENDS, st.integers(0, 99))
def test_the_square_of_a_sum_of_vectors_is_multiplied_out(lo: int, hi: int, seed: int) -> None:
    of = _numbers(seed)
    whole = vector_sum("k", a, b, u(k) * k) - u(a) * 2 + vector_sum("j", 0, 3, vector_sum("k", j, a, w(k, j)))
    number = signed(lo, hi, lambda i: i * of("u", (i,))) - 2 * of("u", (lo,))
    number += signed(0, 3, lambda r: signed(r, lo, lambda i: of("w", (i, r))))
    holds(squared(whole), number**2, seed, a=lo, b=hi)
    holds(dot(whole, u(b)), number * of("u", (hi,)), seed, a=lo, b=hi)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 9), st.integers(0, 9), st.integers(-3, 3), st.integers(0, 99))
def test_powers_in_a_sum_keep_their_exponent(lo: int, hi: int, base: int, seed: int) -> None:
    of = _numbers(seed)
    wanted = signed(lo, lo + hi, lambda i: Fraction(base) ** (2 * i + 1) * of("u", (i,)) ** 2)
    term = squared(u(k)) * variable("q") ** (2 * k + 1)
    holds(finite_sum("k", a, a + b, term), wanted, seed, a=lo, b=hi, q=base)


@pytest.mark.nightly
@settings(max_examples=40, deadline=None)
@given(st.integers(-4, 4), st.integers(-4, 4), st.integers(-4, 4), st.integers(-4, 4), st.integers(0, 99))
def test_three_indices_whose_ranges_depend_on_one_another(lo: int, hi: int, c: int, d: int, seed: int) -> None:
    of = _numbers(seed)
    wanted = signed(
        lo,
        hi,
        lambda i: signed(c, i + d, lambda r: signed(i - r, d, lambda m: (m + r) * of("w", (i + m, r)) * of("u", (m,)))),
    )
    m = variable("m")
    term = dot(w(k + m, j), u(m)) * (m + j)
    triple = finite_sum(
        "k", a, b, finite_sum("j", variable("c"), k + variable("d"), finite_sum("m", k - j, variable("d"), term))
    )
    holds(triple, wanted, seed, a=lo, b=hi, c=c, d=d)
    holds(triple.put({"c": scalar(c), "a": scalar(lo), "b": scalar(hi)}), wanted, seed, d=d)


@pytest.mark.parametrize("name", ["k", "j"])
def test_a_bound_variable_is_not_captured_by_a_value(name: str) -> None:
    inside = finite_sum("k", 0, a, squared(w(k, j)))
    once = finite_sum("j", 0, b, inside)
    moved = inside.put({"j": variable(name)})
    holds(moved, signed(0, 9, lambda i: _numbers(1)("w", (i, 4)) ** 2), 1, a=9, **{name: 4})
    assert not once.names() & {"j", "k"}


def test_the_range_of_a_sum_does_not_name_its_index() -> None:
    with pytest.raises(ProofError, match="over k names it"):
        finite_sum("k", 0, k, expr(k))


@pytest.mark.parametrize(
    ("above", "below", "lo", "hi", "shown"),
    [
        (False, False, 0, 4, True),
        (True, False, 0, 4, False),
        (True, False, 1, 4, True),
        (False, True, 0, 4, False),
        (False, True, 0, 3, True),
    ],
)
def test_an_end_that_a_range_does_not_reach_is_not_summed(
    above: bool, below: bool, lo: int, hi: int, shown: bool
) -> None:
    """With 0 < k the fact 1 ≤ k is true, and Σ over 0 ≤ k < 4 of it would say 4 ≤ 0 + 1 + 2 + 3 of one too many."""
    kernel = Kernel(Context())
    kernel.context.declare("k", Range(scalar(0), scalar(3), above=above, below=below, integer=True))
    fact = kernel.combine(expr(k * k) >= 0, [])
    if shown:
        total(kernel, fact, "k", lo, hi)
    else:
        with pytest.raises(ProofError, match="fewer k"):
            total(kernel, fact, "k", lo, hi)


# ---------------------------------------------------------------------- equations between vectors


@pytest.fixture
def setting() -> Setting:
    return setting_of(load_theorem("area.theorem7.explicit"))


@pytest.mark.sweep(2)
@pytest.mark.parametrize("factor", [scalar(1), scalar(-1), scalar(3), scalar(1) / 2, variable("M"), 1 / variable("M")])
def test_a_multiple_of_an_equation_between_vectors_is_that_multiple_of_both_sides(setting: Setting, factor) -> None:
    one = setting.begin(setting.i, setting.k)
    found = combine_vectors(setting.kernel, one.left * factor, one.right * factor, [(factor, one)])
    assert (found.left - one.left * factor).zero
    assert (found.right - one.right * factor).zero
    with pytest.raises(ProofError, match="left over"):
        combine_vectors(setting.kernel, one.left * factor, one.right * factor, [(2 * factor, one)])


def test_vectors_are_combined_without_a_rest(setting: Setting) -> None:
    with pytest.raises(ProofError, match="left over"):
        combine_vectors(setting.kernel, setting.xs(setting.k), setting.star, [])
