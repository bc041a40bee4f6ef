"""Wrong mathematics, one a test: the kernel refuses each, and says why."""

import dataclasses
from fractions import Fraction
from typing import Any

import pytest

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
from boundlab.prove._terms import Known, lin, vector_sum
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
    found.vectors.declare("v", Known(0))
    found.vectors.declare("w", Known(1))
    return found


x, mu, L, j, k, m, M = (variable(name) for name in ("x", "mu", "L", "j", "k", "m", "M"))
v = lin(Vec("v"))


def w(index: Any) -> Lin:
    return lin(Vec("w", (scalar(index),)))


def refused(words: str) -> Any:
    return pytest.raises(ProofError, match=words)


def true(kernel: Kernel, claim: Claim, context: Context | None = None) -> Fact:
    return kernel.combine(claim, [], context)


# ---------------------------------------------------------------------- combinations


def test_a_multiplier_divides_by_l_minus_mu_which_may_be_0(kernel: Kernel) -> None:
    fact = kernel.square(v)
    with refused("not shown to differ from 0"):
        kernel.combine(squared(v) / (L - mu) >= 0, [(1 / (L - mu), fact)])


def test_a_claim_divides_by_a_symbol_that_may_be_0(kernel: Kernel) -> None:
    with refused("not shown to differ from 0"):
        kernel.combine(equal(squared(v) * (x / mu), squared(v) * (x / mu)), [])


def test_a_multiplier_is_negative(kernel: Kernel) -> None:
    with refused("multiplier 0 may be negative"):
        kernel.combine(squared(v) * -1 >= 0, [(-1, kernel.square(v))])


def test_a_multiplier_is_of_unknown_sign(kernel: Kernel) -> None:
    with refused("multiplier 0 may be negative"):
        kernel.combine(squared(v) * x >= 0, [(x, kernel.square(v))])


def test_an_equation_follows_from_an_inequality(kernel: Kernel) -> None:
    with refused("does not follow from an inequality"):
        kernel.combine(equal(squared(v), 0), [(1, kernel.square(v))])


def test_a_term_is_left_out(kernel: Kernel) -> None:
    with refused("left over"):
        kernel.combine(squared(v) - squared(w(0)) >= 0, [(1, kernel.square(v))])


def test_a_number_is_left_over_that_may_be_negative(kernel: Kernel) -> None:
    with refused("may be negative"):
        kernel.combine(squared(v) - x >= 0, [(1, kernel.square(v))])


def test_a_vector_is_nothing_though_its_square_is_no_less_than_0(kernel: Kernel) -> None:
    with refused("a mean square that is 0"):
        nothing(kernel, kernel.square(v), v)


def test_a_fraction_is_written_as_a_float(kernel: Kernel) -> None:
    with refused("exact number"):
        _ = kernel.square(v).claim.left * 0.1  # type: ignore[operator]


def test_two_comparisons_in_a_row_are_one_claim(kernel: Kernel) -> None:
    with refused("two claims"):
        _ = expr(0) <= expr(x) <= expr(1)  # type: ignore[operator]


def test_a_claim_says_less_than_and_means_at_least() -> None:
    with refused("≤, ≥ or ="):
        Claim(expr(1), "<", expr(0))  # type: ignore[arg-type]


# ---------------------------------------------------------------------- facts that no rule has made


def test_a_claim_is_called_a_fact() -> None:
    with refused("only the kernel"):
        Fact(Context(), frozenset(), frozenset(), "combine", (), {}, 0, object(), claim=expr(1) <= 0)  # type: ignore[arg-type]


def test_a_fact_is_copied_with_another_claim(kernel: Kernel) -> None:
    with pytest.raises((ProofError, ValueError, TypeError)):
        dataclasses.replace(kernel.square(v), claim=expr(1) <= 0)


def test_a_proof_makes_its_own_fact(kernel: Kernel) -> None:
    with refused("a proof cannot use it"):
        kernel.make(expr(1) <= 0, kernel.context, "axiom")


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
    other.vectors.declare("v", Known(0, clock=lambda: (ZERO,), drawn=lambda: (ONE,)))
    with refused("no fact of this proof"):
        kernel.combine(squared(v) >= 0, [(1, other.square(v))])


# ---------------------------------------------------------------------- instances


def test_an_instance_lies_outside_of_its_range(kernel: Kernel) -> None:
    fact = true(kernel, expr(k) >= 0)
    with refused("may lie outside its range"):
        kernel.at(fact, {"k": -1})


def test_an_instance_of_a_whole_number_is_one_half(kernel: Kernel) -> None:
    fact = true(kernel, expr(k) >= 0)
    with refused("is whole"):
        kernel.at(fact, {"k": Fraction(1, 2)})


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


def test_a_symbol_is_declared_twice(kernel: Kernel) -> None:
    with refused("declared twice"):
        kernel.context.declare("k", Range())


def test_one_name_means_two_things_in_two_cases(kernel: Kernel) -> None:
    low, _ = kernel.split("k", 5)
    kernel.name("c", 7, context=low)
    with refused("declared twice"):
        kernel.context.declare("c", Range())


def test_the_range_of_a_symbol_names_itself(kernel: Kernel) -> None:
    with refused("not declared before"):
        kernel.context.declare("c", Range(low=variable("c") + 1))


def test_a_number_is_defined_by_itself(kernel: Kernel) -> None:
    with refused("not declared"):
        kernel.name("c", variable("c") + 1)


def test_a_named_number_is_said_to_be_positive(kernel: Kernel) -> None:
    with refused("may lie outside its range"):
        kernel.name("c", L - mu, Range(low=ZERO, above=True))


def test_the_root_of_what_may_be_negative_is_taken(kernel: Kernel) -> None:
    with refused("root of what may be negative"):
        kernel.root("c", mu - L)


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


def test_a_symbol_has_the_name_of_a_power(kernel: Kernel) -> None:
    forged = of_symbol(Symbol("mu", (), scalar(-1)))
    with refused("not shown to differ from 0"):
        kernel.combine(equal(expr(forged), forged), [])


def test_a_vector_is_declared_twice(kernel: Kernel) -> None:
    with refused("declared twice"):
        kernel.vectors.declare("v", Known(1))
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


def test_a_sum_of_inequalities_runs_backwards(kernel: Kernel) -> None:
    with refused("may be reversed"):
        total(kernel, kernel.square(w(k)), "k", M, 0)


def test_more_terms_are_summed_than_the_fact_is_about(kernel: Kernel) -> None:
    with refused("about fewer m"):
        total(kernel, kernel.square(w(m)), "m", 0, M + 1)


def test_a_weight_of_a_sum_is_negative(kernel: Kernel) -> None:
    with refused("weight of k may be negative"):
        total(kernel, kernel.square(w(k)), "k", 0, M, k - 1)


def test_a_weight_is_positive_in_one_case_and_the_sum_is_over_all(kernel: Kernel) -> None:
    _, late = kernel.split("k", 0)
    with refused("is fixed here"):
        total(kernel, kernel.square(w(k)), "k", 0, M, k - 1, context=late)


def test_a_weight_is_positive_because_its_range_moves_with_the_index(kernel: Kernel) -> None:
    c = kernel.context.declare("c", Range(low=k))
    with refused("c depends on k"):
        total(kernel, kernel.square(w(k)), "k", 0, M, c - k)


def test_a_sum_is_over_an_index_whose_range_another_one_needs(kernel: Kernel) -> None:
    """Σ over M of a fact about m ≤ M − 1 is Fubini for ranges that depend on one another."""
    with refused("m depends on M"):
        total(kernel, kernel.square(w(m)), "M", 1, k + 1)


def test_a_fixed_index_is_summed_over(kernel: Kernel) -> None:
    hypothesis = kernel.suppose(squared(w(k)) <= expr(L), "k")
    with refused("k is fixed"):
        total(kernel, hypothesis, "k", 0, M)


def test_a_sum_is_shifted_by_one_half(kernel: Kernel) -> None:
    with refused("index is a whole number|is not whole"):
        shift(kernel, "k", 0, M, Fraction(1, 2), squared(w(k)))
    with refused("is not whole"):
        shift(kernel, "k", 0, M, x, expr(k))


def test_a_sum_is_shifted_by_its_own_index(kernel: Kernel) -> None:
    with refused("over k names it"):
        shift(kernel, "k", 0, M, k, squared(w(k)))


def test_a_telescope_ends_at_its_own_index(kernel: Kernel) -> None:
    with refused("over k names it"):
        telescope(kernel, "k", 0, k, squared(w(k)))


def test_a_telescope_holds_a_number_that_moves_with_the_index(kernel: Kernel) -> None:
    kernel.name("c", k * k)
    with refused("c depends on k"):
        telescope(kernel, "k", 0, M, expr(variable("c") * k))


def test_an_end_of_a_sum_is_one_half(kernel: Kernel) -> None:
    with refused("whole"):
        total(kernel, kernel.square(w(k)), "k", 0, M / 2)


def test_a_sum_divides_by_its_index_which_begins_at_0(kernel: Kernel) -> None:
    divided = finite_sum("k", 0, M, squared(w(k)) / k)
    with refused("sum divides by"):
        kernel.combine(equal(divided, divided), [])


def test_a_power_in_a_sum_has_a_negative_exponent(kernel: Kernel) -> None:
    good = finite_sum("k", 0, M, expr(mu**k))
    assert kernel.combine(equal(good, good), [])
    bad = finite_sum("k", -2, M, expr(mu**k))
    with refused("in a sum may be negative"):
        kernel.combine(equal(bad, bad), [])


def test_a_range_is_enlarged_over_terms_that_may_be_negative(kernel: Kernel) -> None:
    fact = kernel.combine(equal(dot(w(j), v), dot(w(j), v)), [])
    with refused("shown ≥ 0"):
        windows(kernel, fact, "j", "k", 0, M, M)


def test_windows_are_short_because_the_index_is_bounded_in_one_case(kernel: Kernel) -> None:
    kernel.context.declare("c", Range(low=k - 5, high=ZERO))
    few = kernel.combine(expr(5 - k) >= 0, [(1, kernel.end("c", "low")), (1, kernel.end("c", "high"))])
    with refused("c depends on k"):
        windows(kernel, kernel.square(w(j)), "j", "k", 0, 5, M, because=(few,))


def test_windows_begin_at_a_number_that_moves_with_them(kernel: Kernel) -> None:
    named = kernel.name("c", k, Range(low=ZERO, integer=True))
    with refused("c depends on k"):
        windows(kernel, kernel.square(w(j)), "j", "k", variable("c"), 0, M, because=(named,))


def test_windows_are_longer_than_said(kernel: Kernel) -> None:
    with refused("window may be longer"):
        windows(kernel, kernel.square(w(j)), "j", "k", 0, 3, M)


def test_the_square_of_a_sum_is_the_sum_of_squares(kernel: Kernel) -> None:
    whole = squared(vector_sum("k", 0, M, w(k)))
    with refused("left over"):
        kernel.combine(whole <= finite_sum("k", 0, M, squared(w(k))), [])


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
