"""Wrong mathematics, one a test: the kernel refuses each, and says why."""

import dataclasses
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from kernel_values import refused

from boundlab.prove import (
    Claim,
    Context,
    Expr,
    Fact,
    Kernel,
    Lin,
    Range,
    dot,
    equal,
    expr,
    finite_sum,
    nothing,
    scalar,
    shift,
    squared,
    telescope,
    total,
    variable,
    windows,
)
from boundlab.prove._kernel import exponential
from boundlab.prove._scalars import ProofError, bound_variable, of_symbol
from boundlab.prove._terms import lin, vector_sum
from boundlab.recheck._numbers import Symbol
from boundlab.recheck._terms import Vec

ZERO, ONE = scalar(0), scalar(1)


@pytest.fixture
def kernel() -> Kernel:
    """A kernel with x, L ≥ mu ≥ 0, whole indices j, k ≥ 0, M ≥ 1 and m ≤ M − 1, vectors v and w[k]."""
    found = Kernel(Context())
    declare = found.context.declare
    declare("x", Range())
    mu = declare("mu", Range(low=ZERO))
    declare("L", Range(low=mu))
    declare("j", Range(low=ZERO, integer=True))
    declare("k", Range(low=ZERO, integer=True))
    M = declare("M", Range(low=ONE, integer=True))
    declare("m", Range(low=ZERO, high=M - 1, integer=True))
    found.vectors.declare("v", 0)
    found.vectors.declare("w", 1)
    return found


x, mu, L, j, k, m, M = (variable(name) for name in ("x", "mu", "L", "j", "k", "m", "M"))
v = lin(Vec("v"))


def w(index: Any) -> Lin:
    return lin(Vec("w", (scalar(index),)))


def true(kernel: Kernel, claim: Claim, context: Context | None = None) -> Fact:
    return kernel.combine(claim, [], context)


# By what is wrong: what the refusal says, and who does it.
ATTACKS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "a multiplier divides by l minus mu which may be 0": (
        "not shown to differ from 0",
        lambda kernel: kernel.combine(squared(v) / (L - mu) >= 0, [(1 / (L - mu), kernel.square(v))]),
    ),
    "a claim divides by a symbol that may be 0": (
        "not shown to differ from 0",
        lambda kernel: kernel.combine(equal(squared(v) * (x / mu), squared(v) * (x / mu)), []),
    ),
    "a multiplier is negative": (
        "multiplier 0 may be negative",
        lambda kernel: kernel.combine(squared(v) * -1 >= 0, [(-1, kernel.square(v))]),
    ),
    "a multiplier is of unknown sign": (
        "multiplier 0 may be negative",
        lambda kernel: kernel.combine(squared(v) * x >= 0, [(x, kernel.square(v))]),
    ),
    "an equation follows from an inequality": (
        "does not follow from an inequality",
        lambda kernel: kernel.combine(equal(squared(v), 0), [(1, kernel.square(v))]),
    ),
    "a term is left out": (
        "left over",
        lambda kernel: kernel.combine(squared(v) - squared(w(0)) >= 0, [(1, kernel.square(v))]),
    ),
    "a number is left over that may be negative": (
        "may be negative",
        lambda kernel: kernel.combine(squared(v) - x >= 0, [(1, kernel.square(v))]),
    ),
    "a vector is nothing though its square is no less than 0": (
        "a mean square that is 0",
        lambda kernel: nothing(kernel, kernel.square(v), v),
    ),
    "a fraction is written as a float": ("exact number", lambda kernel: kernel.square(v).claim.left * 0.1),
    "two comparisons in a row are one claim": ("two claims", lambda _: expr(0) <= expr(x) <= expr(1)),
    "a claim says less than and means at least": ("≤, ≥ or =", lambda _: Claim(expr(1), "<", expr(0))),
    "a claim is called a fact": (
        "only the kernel",
        lambda _: Fact(Context(), frozenset(), frozenset(), "combine", (), {}, 0, object(), claim=expr(1) <= 0),
    ),
    "a proof makes its own fact": (
        "a proof cannot use it",
        lambda kernel: kernel.make(expr(1) <= 0, kernel.context, "axiom"),
    ),
    "an instance lies outside of its range": (
        "may lie outside its range",
        lambda kernel: kernel.at(true(kernel, expr(k) >= 0), {"k": -1}),
    ),
    "an instance of a whole number is one half": (
        "is whole",
        lambda kernel: kernel.at(true(kernel, expr(k) >= 0), {"k": Fraction(1, 2)}),
    ),
    "a symbol is declared twice": ("declared twice", lambda kernel: kernel.context.declare("k", Range())),
    "the range of a symbol names itself": (
        "not declared before",
        lambda kernel: kernel.context.declare("c", Range(low=variable("c") + 1)),
    ),
    "a number is defined by itself": ("not declared", lambda kernel: kernel.name("c", variable("c") + 1)),
    "a named number is said to be positive": (
        "may lie outside its range",
        lambda kernel: kernel.name("c", L - mu, Range(low=ZERO, above=True)),
    ),
    "the root of what may be negative is taken": (
        "root of what may be negative",
        lambda kernel: kernel.root("c", mu - L),
    ),
    "a symbol has the name of a power": (
        "not shown to differ from 0",
        lambda kernel: kernel.combine(
            equal(expr(of_symbol(Symbol("mu", (), scalar(-1)))), of_symbol(Symbol("mu", (), scalar(-1)))), []
        ),
    ),
    "a sum of inequalities runs backwards": (
        "may be reversed",
        lambda kernel: total(kernel, kernel.square(w(k)), "k", M, 0),
    ),
    "more terms are summed than the fact is about": (
        "about fewer m",
        lambda kernel: total(kernel, kernel.square(w(m)), "m", 0, M + 1),
    ),
    "a weight of a sum is negative": (
        "weight of k may be negative",
        lambda kernel: total(kernel, kernel.square(w(k)), "k", 0, M, k - 1),
    ),
    "a weight is positive in one case and the sum is over all": (
        "is fixed here",
        lambda kernel: total(kernel, kernel.square(w(k)), "k", 0, M, k - 1, context=kernel.split("k", 0)[1]),
    ),
    "a weight is positive because its range moves with the index": (
        "c depends on k",
        lambda kernel: total(kernel, kernel.square(w(k)), "k", 0, M, kernel.context.declare("c", Range(low=k)) - k),
    ),
    # Σ over M of a fact about m ≤ M − 1 is Fubini for ranges that depend on one another.
    "a sum is over an index whose range another one needs": (
        "m depends on M",
        lambda kernel: total(kernel, kernel.square(w(m)), "M", 1, k + 1),
    ),
    "a fixed index is summed over": (
        "k is fixed",
        lambda kernel: total(kernel, kernel.suppose(squared(w(k)) <= expr(L), "k"), "k", 0, M),
    ),
    "a sum is shifted by its own index": ("over k names it", lambda kernel: shift(kernel, "k", 0, M, k, squared(w(k)))),
    "a telescope ends at its own index": (
        "over k names it",
        lambda kernel: telescope(kernel, "k", 0, k, squared(w(k))),
    ),
    "an end of a sum is one half": ("whole", lambda kernel: total(kernel, kernel.square(w(k)), "k", 0, M / 2)),
    "a sum divides by its index which begins at 0": (
        "sum divides by",
        lambda kernel: kernel.combine(
            equal(finite_sum("k", 0, M, squared(w(k)) / k), finite_sum("k", 0, M, squared(w(k)) / k)), []
        ),
    ),
    "a range is enlarged over terms that may be negative": (
        "shown ≥ 0",
        lambda kernel: windows(kernel, kernel.combine(equal(dot(w(j), v), dot(w(j), v)), []), "j", "k", 0, M, M),
    ),
    "windows begin at a number that moves with them": (
        "c depends on k",
        lambda kernel: windows(
            kernel,
            kernel.square(w(j)),
            "j",
            "k",
            variable("c"),
            0,
            M,
            because=(kernel.name("c", k, Range(low=ZERO, integer=True)),),
        ),
    ),
    "windows are longer than said": (
        "window may be longer",
        lambda kernel: windows(kernel, kernel.square(w(j)), "j", "k", 0, 3, M),
    ),
    "the square of a sum is the sum of squares": (
        "left over",
        lambda kernel: kernel.combine(squared(vector_sum("k", 0, M, w(k))) <= finite_sum("k", 0, M, squared(w(k))), []),
    ),
}


@pytest.mark.sweep(3)
@pytest.mark.parametrize("attack", ATTACKS)
def test_wrong_mathematics_is_refused(kernel: Kernel, attack: str) -> None:
    words, wrong = ATTACKS[attack]
    with refused(words):
        wrong(kernel)


# ---------------------------------------------------------------------- facts that no rule has made


def test_a_fact_is_copied_with_another_claim(kernel: Kernel) -> None:
    with pytest.raises((ProofError, ValueError, TypeError)):
        dataclasses.replace(kernel.square(v), claim=expr(1) <= 0)


def test_what_a_fact_says_is_changed_afterwards(kernel: Kernel) -> None:
    fact = kernel.square(v)
    with pytest.raises((AttributeError, TypeError)):
        fact.claim.body.terms.clear()  # type: ignore[attr-defined]
    with pytest.raises((AttributeError, TypeError)):
        fact.claim.body.terms = {}
    with pytest.raises((AttributeError, TypeError)):
        fact.data["on"] = "j"  # type: ignore[index]


def test_a_fact_of_another_proof_with_other_vectors_is_used(kernel: Kernel) -> None:
    other = Kernel(kernel.context)
    with refused("declared twice"):
        other.vectors.declare("v", 0, clock=lambda: (ZERO,), drawn=lambda: (ONE,))
    with refused("no fact of this proof"):
        kernel.combine(squared(v) >= 0, [(1, other.square(v))])


# ---------------------------------------------------------------------- instances


def test_a_last_step_m_exists_where_there_are_none(kernel: Kernel) -> None:
    """From 0 ≤ m ≤ M − 1 follows M ≥ 1 for M that have an m, not for every M."""
    N = kernel.context.declare("N", Range(low=ZERO, integer=True))
    kernel.context.declare("l", Range(low=ZERO, high=N - 1, integer=True))
    least = kernel.combine(expr(N) >= 1, [(1, kernel.end("l", "low")), (1, kernel.end("l", "high"))])
    assert "l" in least.names
    with refused("l depends on N"):
        kernel.at(least, {"N": 0})
    with refused("may lie outside its range"):
        kernel.at(least, {"N": 0, "l": 0})


# ---------------------------------------------------------------------- names


def test_one_name_means_two_things_in_two_cases(kernel: Kernel) -> None:
    low, _ = kernel.split("k", 5)
    kernel.name("c", 7, context=low)
    with refused("declared twice"):
        kernel.context.declare("c", Range())


def test_a_user_takes_the_name_of_a_bound_variable(kernel: Kernel) -> None:
    for name in ("_0", "_1", "x_", "E f", "t.x"):
        with refused("is no name"):
            variable(name)


def test_a_bound_variable_stands_outside_of_its_sum(kernel: Kernel) -> None:
    for number in (bound_variable(0), bound_variable(0) * k):
        with refused("index of a sum and stands outside|no name|not declared"):
            kernel.combine(expr(number) * 0 + number >= number, [])
    outside = finite_sum("k", 0, M, expr(bound_variable(3) * k))
    with refused("stands outside"):
        kernel.combine(equal(outside, outside), [])


def test_a_vector_is_declared_twice(kernel: Kernel) -> None:
    with refused("declared twice"):
        kernel.vectors.declare("v", 1)
    with refused("declared twice"):
        kernel.vectors.declare_function("v", 1)


def test_the_range_of_a_defined_sum_is_shown_by_an_empty_range(kernel: Kernel) -> None:
    context = kernel.context
    context.declare("p", Range(low=ZERO, arity=1))
    context.declare("c", Range(low=ONE, high=ZERO))
    absurd = kernel.combine(expr(-1) >= 0, [(1, kernel.end("c", "low")), (1, kernel.end("c", "high"))])
    value = finite_sum("k", 0, M, expr(variable("p", k)))
    small = total(kernel, true(kernel, expr(variable("p", k)) >= 0), "k", 0, M)
    least = kernel.combine(value >= 7, [(1, small), (7, absurd)])
    with refused("only where c has a value"):
        kernel.define("q", value, scalar(7), least)


def test_a_family_of_numbers_is_positive_because_a_range_moves_with_its_index(kernel: Kernel) -> None:
    """For c ≥ k is c − k ≥ 0, and not c − j for all other j."""
    c = kernel.context.declare("c", Range(low=k))
    with refused("c depends on k"):
        kernel.name_family("q", "k", c - k, Range(low=ZERO))
    with refused("c depends on k"):
        kernel.name_family("q", "k", k - c, Range(high=ZERO))
    with refused("may be below 1"):
        exponential(kernel, "q", c - k, "k")


# ---------------------------------------------------------------------- sums


def test_a_sum_is_shifted_by_one_half(kernel: Kernel) -> None:
    with refused("index is a whole number|is not whole"):
        shift(kernel, "k", 0, M, Fraction(1, 2), squared(w(k)))
    with refused("is not whole"):
        shift(kernel, "k", 0, M, x, expr(k))


def test_a_telescope_holds_a_number_that_moves_with_the_index(kernel: Kernel) -> None:
    kernel.name("c", k * k)
    with refused("c depends on k"):
        telescope(kernel, "k", 0, M, expr(variable("c") * k))


def test_a_power_in_a_sum_has_a_negative_exponent(kernel: Kernel) -> None:
    good = finite_sum("k", 0, M, expr(mu**k))
    assert kernel.combine(equal(good, good), [])
    bad = finite_sum("k", -2, M, expr(mu**k))
    with refused("in a sum may be negative"):
        kernel.combine(equal(bad, bad), [])


def test_windows_are_short_because_the_index_is_bounded_in_one_case(kernel: Kernel) -> None:
    kernel.context.declare("c", Range(low=k - 5, high=ZERO))
    few = kernel.combine(expr(5 - k) >= 0, [(1, kernel.end("c", "low")), (1, kernel.end("c", "high"))])
    with refused("c depends on k"):
        windows(kernel, kernel.square(w(j)), "j", "k", 0, 5, M, because=(few,))


def test_sums_with_dependent_ranges_are_exchanged(kernel: Kernel) -> None:
    term = squared(w(j + k))
    one = finite_sum("k", 0, M, finite_sum("j", 0, k, term))
    two = finite_sum("j", 0, M, finite_sum("k", 0, j, squared(w(2 * j + k))))
    with refused("left over"):
        kernel.combine(equal(one, two), [])


def test_a_sum_is_taken_apart_from_the_index_that_its_range_names(kernel: Kernel) -> None:
    inside: Expr = finite_sum("j", 0, k, expr(1))
    assert any(not atom.ranges for atom in inside.terms)
    with refused("left over"):
        kernel.combine(equal(finite_sum("k", 0, M, inside), expr(k * M)), [])
