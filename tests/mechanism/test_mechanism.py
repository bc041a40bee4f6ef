"""The mechanism of FedStaleWeight: three ways to each number, and what is true of reporting."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
import sympy
from hypothesis import given, settings, strategies as st

from boundlab import load_theorem
from boundlab.errors import SpecError
from boundlab.mechanism import (
    METHODS,
    MODELS,
    arrival_pattern,
    expected_staleness,
    fair_weights,
    frequencies,
    long_run_shares,
    normalised_weights,
    periodic,
    read_scale,
    share_slope,
    simulate_mechanism,
    staleness_formula,
    staleness_weights,
    truthful_limit,
    utility,
    utility_derivative,
)
from boundlab.mechanism.utility import C, D, b, gamma, n, r

RATES = [4.0, 2.0, 1.0, 1.0]
rate = st.fractions(Fraction(1, 8), Fraction(8), max_denominator=8)
rates = st.lists(rate, min_size=2, max_size=4)
sizes = st.integers(1, 4)
# A simulated mean of 8 trials has a t distribution with 7 degrees of freedom: |t| > 8 has probability 9e-5.
T_LIMIT = 8.0


def agrees(mean, error, exact, slack=0.0):
    return bool((np.abs(mean - np.asarray(exact, dtype=float)) <= T_LIMIT * error + slack).all())


# ------------------------------------------------------------------------------------------ staleness


def test_the_papers_formula_by_hand():
    # Rates 2, 1, 1: p = 1/2, 1/4, 1/4; (1/p − 1)/2 = 1/2, 3/2, 3/2.
    assert expected_staleness([Fraction(2), Fraction(1), Fraction(1)], 2).tolist() == [
        Fraction(1, 2),
        Fraction(3, 2),
        Fraction(3, 2),
    ]


def test_symbols_go_through_the_same_formula():
    x, y = sympy.symbols("x y", positive=True)
    found = expected_staleness([x, y], 3)
    assert sympy.simplify(found[0] - y / (3 * x)) == 0
    p, size = sympy.symbols("p_i b", positive=True)
    paper, post = staleness_formula("paper"), staleness_formula("post")
    assert sympy.simplify(post.subs(sympy.Symbol("P_c", positive=True), 1 / size) - paper) == 0
    assert sympy.simplify(size * paper + 1 - 1 / p) == 0


@given(rates, sizes)
def test_the_formula_is_the_identity_with_completions_1_over_b(given_rates, size):
    paper, post = (expected_staleness(given_rates, size, kind) for kind in ("paper", "post"))
    assert paper.tolist() == post.tolist()


@given(st.lists(st.integers(0, 2), max_size=9), sizes, st.sampled_from(["post", "pre"]))
def test_one_period_obeys_the_identity_exactly(middle, size, reply):
    run = periodic([0, 1, 2, *middle], size, reply)
    assert run.staleness == tuple(
        expected_staleness(run.p, size, reply, run.completes if reply == "post" else None).tolist()
    )


@pytest.mark.parametrize("reply", ["post", "pre"])
def test_one_period_is_what_the_compiler_makes_of_deterministic_times(reply):
    # Rates 4, 2, 1 (their times add up without rounding): seven arrivals a period and buffers of 3, so 28
    # aggregations are four whole periods. Dropping the first half leaves two, and what the tape says is exact.
    run = periodic(arrival_pattern([4, 2, 1]), 3, reply)
    seen = simulate_mechanism([4, 2, 1], 3, delays="deterministic", reply=reply, aggregations=28, trials=2)
    assert seen.staleness == pytest.approx([float(tau) for tau in run.staleness], abs=1e-12)
    assert seen.completes == pytest.approx([float(part) for part in run.completes], abs=1e-12)
    assert not seen.staleness_se.any()


def test_the_order_of_arrivals_by_hand():
    # Client 0 every 1/3, client 1 every 1/2: 0 at 1/3, 1 at 1/2, 0 at 2/3, both at 1.
    assert arrival_pattern([3, 2]) == (0, 1, 0, 0, 1)
    assert arrival_pattern([Fraction(3, 2), 1]) == (0, 1, 0, 0, 1)


def test_equally_fast_clients_in_turn_are_not_equally_stale():
    # 0, 1, 0, 1 with b = 2: client 1 completes every buffer and gets the new model at once; client 0 read its model
    # one arrival before the aggregation. Both have p = 1/2, and (6) gives both 1/2.
    run = periodic([0, 1], 2)
    assert run.staleness == (1, 0)
    assert run.completes == (0, 1)
    # So the fair scale b gives the weights 3 and 1, where FedBuff's equal ones are fair.
    assert run.staleness_shares(2) == (Fraction(3, 4), Fraction(1, 4))
    assert run.staleness_shares(0) == (Fraction(1, 2), Fraction(1, 2))


@pytest.mark.parametrize("reply", ["post", "pre", "wait"])
def test_simulated_staleness_agrees_with_the_identity(reply):
    seen = simulate_mechanism(RATES, 3, reply=reply, aggregations=600, seed=2)
    # The identity speaks of the frequencies and completions that happened; the ends of a trial cost O(1/T).
    kind = {"completes": seen.completes} if reply == "post" else {}
    identity = expected_staleness(seen.p, 3, reply, **kind)
    assert agrees(seen.staleness, seen.staleness_se, identity, slack=0.01)
    if reply != "wait":
        assert agrees(seen.p, seen.p_se, frequencies(RATES))
        assert agrees(seen.completes, seen.completes_se, np.full(4, 1 / 3))
    if reply == "post":
        assert agrees(seen.staleness, seen.staleness_se, expected_staleness(RATES, 3), slack=0.01)


# ------------------------------------------------------------------------------------------ weights and shares


@given(rates, sizes)
def test_fair_weights_are_those_of_staleness_b(given_rates, size):
    fair = fair_weights(given_rates)
    assert (staleness_weights(given_rates, size, "bE+1") / len(given_rates)).tolist() == fair.tolist()
    assert (frequencies(given_rates) * fair).sum() == 1


@given(rates, sizes, st.fractions(0, 6), st.sampled_from(["mean-field", "first-order", "enumeration"]))
@settings(max_examples=30)
def test_shares_sum_to_1_exactly(given_rates, size, scale, method):
    assert sum(long_run_shares(given_rates, size, scale, method)) == 1


@given(rates, sizes, st.sampled_from(["mean-field", "first-order", "enumeration"]))
@settings(max_examples=30)
def test_scale_0_gives_the_frequencies(given_rates, size, method):
    assert long_run_shares(given_rates, size, "equal", method).tolist() == frequencies(given_rates).tolist()


@given(rates, sizes)
def test_the_mean_field_is_flat_for_scale_b_and_a_mixture_for_any_scale(given_rates, size):
    count, p = len(given_rates), frequencies(given_rates)
    assert set(long_run_shares(given_rates, size, "bE+1")) == {Fraction(1, count)}
    for scale in (0, 1, 3):
        # π = λ·p + (1−λ)/n with λ = (b − scale)/(b + (n−1)·scale).
        part = Fraction(size - scale, size + (count - 1) * scale)
        mixture = part * p + (1 - part) / count
        assert long_run_shares(given_rates, size, Fraction(scale)).tolist() == mixture.tolist()


def test_buffers_of_one_know_no_weights():
    for weights in ("equal", "E+1", "bE+1", 7):
        assert long_run_shares([Fraction(3), Fraction(1)], 1, weights, "enumeration").tolist() == [
            Fraction(3, 4),
            Fraction(1, 4),
        ]


def test_the_share_that_the_fair_weights_leave_by_hand():
    # Rates 2, 1, b = 2: p = 2/3, weights ∝ 1/2, 1. Both own: 4/9, share 1. One each: 4/9, share (1/2)/(3/2) = 1/3.
    assert long_run_shares([Fraction(2), Fraction(1)], 2, "bE+1", "enumeration")[0] == Fraction(16, 27)
    # Algorithm 1's weights ∝ (b−1) + 1/p = 5/2, 4: 4/9 + 4/9·5/13.
    assert long_run_shares([Fraction(2), Fraction(1)], 2, "E+1", "enumeration")[0] == Fraction(8, 13)


def test_enumeration_is_the_sum_over_all_sequences():
    given_rates, size = [Fraction(3), Fraction(2), Fraction(1)], 3
    p, w = frequencies(given_rates), staleness_weights(given_rates, size, "E+1")
    total = [Fraction(0)] * 3
    for buffer in itertools.product(range(3), repeat=size):
        chance = math.prod(p[i] for i in buffer)
        for i, part in zip(buffer, normalised_weights(w, buffer), strict=True):
            total[i] += chance * part
    assert long_run_shares(given_rates, size, "E+1", "enumeration").tolist() == total


@given(rates, sizes, st.sampled_from(["equal", "E+1", "bE+1", 9]))
@settings(max_examples=20)
def test_quadrature_is_enumeration(given_rates, size, weights):
    exact = long_run_shares(given_rates, size, weights, "enumeration").astype(float)
    assert long_run_shares(given_rates, size, weights, "quadrature") == pytest.approx(exact, abs=1e-10)


@pytest.mark.sweep(2)
@pytest.mark.parametrize("method", ["mean-field", "first-order", "enumeration", "quadrature"])
@pytest.mark.parametrize("unit", [1e-9, 1e-3, 1e3, 1e9])
def test_shares_do_not_depend_on_the_unit_of_the_weights(method, unit):
    w = staleness_weights(RATES, 20)
    expected = long_run_shares(RATES, 20, w, method)
    assert long_run_shares(RATES, 20, unit * w, method) == pytest.approx(expected, abs=1e-10)
    assert expected.sum() == pytest.approx(1.0, abs=1e-10)


@pytest.mark.parametrize("weights", ["equal", "E+1", "bE+1"])
def test_what_the_first_order_leaves_falls_like_1_over_b_squared(weights):
    def rest(size):
        w = staleness_weights(RATES, 4, weights)
        first, exact = (long_run_shares(RATES, size, w, method) for method in ("first-order", "quadrature"))
        return np.abs(first - exact).max()

    assert rest(80) <= 0.3 * rest(40) + 1e-11


@pytest.mark.parametrize("weights", ["equal", "E+1", "bE+1"])
def test_simulated_shares_agree_with_the_exact_ones(weights):
    seen = simulate_mechanism(RATES, 3, weights, aggregations=600, seed=5)
    exact = long_run_shares(RATES, 3, weights, "quadrature")
    assert long_run_shares(RATES, 3, weights, "enumeration") == pytest.approx(exact, abs=1e-10)
    # The weights come from averages of 300 and more aggregations: an error of O(1/T) on top.
    assert agrees(seen.shares, seen.shares_se, exact, slack=0.003)
    assert (seen.shares_se < 0.012).all()


def test_waiting_for_full_buffers_is_synchronous():
    # b = n: everybody is in every buffer once and is never stale.
    seen = simulate_mechanism([4, 2, 1], 3, "bE+1", reply="wait", aggregations=20, trials=2)
    assert not seen.staleness.any()
    assert seen.shares == pytest.approx(np.full(3, 1 / 3))


# ------------------------------------------------------------------------------------------ reporting


def test_the_printed_utility_and_its_derivative():
    assert sympy.simplify(utility("printed") - r / ((1 + C * r) * (r + D))) == 0
    sign = (D - C * r**2) / ((1 + C * r) ** 2 * (r + D) ** 2)
    assert sympy.simplify(utility_derivative("printed") - sign) == 0


def test_scaling_all_rates_cannot_change_the_sign_of_the_printed_derivative():
    # The paper rescales the rates to make C small and D large; D − C·r² is homogeneous of degree 1.
    c = sympy.Symbol("c", positive=True)
    numerator = D - C * r**2
    scaled = numerator.subs({r: c * r, D: c * D, C: C / c}, simultaneous=True)
    assert sympy.simplify(scaled - c * numerator) == 0


def test_no_number_of_clients_saves_the_printed_claim():
    # A thousand clients of rate 1 and one that is slow; the other update in a buffer of 2 is the slow one's.
    others = [1.0] * 998 + [1e-4]
    assert truthful_limit(others, 2, model="printed", buffer=[1e-4]) == pytest.approx(math.sqrt(998.0001e-4))
    # Expected buffers: with b = n a client that is faster than the others on average throttles, for every n.
    for count in (2, 10, 1000):
        assert truthful_limit([1.0] * (count - 1), count, model="others") == pytest.approx(1.0)


@pytest.mark.parametrize("model", MODELS)
def test_derivatives_agree_with_finite_differences(model):
    values = {D: 3.7, n: 5, b: 3, gamma: 0.4, C: 1.3}
    u, du = (sympy.lambdify(r, form.subs(values)) for form in (utility(model), utility_derivative(model)))
    for at in (0.1, 1.0, 6.0):
        assert du(at) == pytest.approx((u(at + 1e-5) - u(at - 1e-5)) / 2e-5, rel=1e-6, abs=1e-9)


@given(st.lists(rate, min_size=1, max_size=4), st.integers(2, 6))
@settings(max_examples=25)
def test_the_limit_of_reporting_is_the_closed_form(others, size):
    total, count = float(sum(others)), len(others) + 1
    limit = truthful_limit(others, size, "bE+1", "others")
    assert limit == pytest.approx(total / math.sqrt((size - 1) * (count - 1)), rel=1e-6)
    assert truthful_limit(others, size, "equal", "others") == math.inf
    for weights in ("equal", "E+1", "bE+1"):
        assert truthful_limit(others, size, weights, "all") == math.inf
    assert truthful_limit(others, size, size + 1, "mean-field") == 0.0
    assert truthful_limit(others, 1, "bE+1") == math.inf


@pytest.mark.sweep(2)
@pytest.mark.parametrize("weights", ["equal", "E+1", "bE+1", 12])
@pytest.mark.parametrize("size", [1, 2, 5])
def test_the_slope_of_the_exact_share_agrees_with_differences(weights, size):
    def share(change):
        return long_run_shares([2.0, 3.0 * math.exp(change), 1.0], size, weights, "quadrature")[1]

    slope = share_slope([2.0, 3.0, 1.0], size, weights, 1)
    assert slope == pytest.approx((share(1e-4) - share(-1e-4)) / 2e-4, abs=1e-7)


@given(rates, st.integers(1, 12), st.fractions(0, 1, max_denominator=20))
@settings(max_examples=25)
def test_speed_pays_under_every_scale_up_to_b(given_rates, size, part):
    assert share_slope([float(x) for x in given_rates], size, part * size) > 0


def test_throttling_pays_for_scales_above_b():
    # Four clients, b = 10: 2 against 1, 1, 1. The derivative of the exact share is negative for scale = 2b.
    assert share_slope([2, 1, 1, 1], 10, 20) < -0.01
    assert share_slope([2, 1, 1, 1], 10, 10) > 0.01


def test_the_inequality_behind_strategy_proofness():
    """Prove r·∂π/∂r ≥ Cov(N, h) − E[h(1−h)] > 0 term by term: see docs/theory/fedstaleweight.md.

    With a own updates and m others of mean relative weight y, the coefficient of the Bernstein polynomial is at
    least that of equal others, m·y·(…) over squares; every coefficient in y is ≥ 0 for a ≥ 0, m ≥ 1, one is > 0.
    """
    a, y, more = sympy.symbols("a y k", nonnegative=True)
    m = more + 1
    here, added = a + m * y, a + 1 + (m - 1) * y
    numerator = sympy.expand(m * (a * added + a + 1) * here**2 - a * ((m + 1) * here - a) * added**2)
    bracket = sympy.Poly(sympy.cancel(numerator / (m * y)), y, a, more)
    assert min(bracket.coeffs()) > 0
    assert sympy.Poly(bracket.as_expr(), y).coeff_monomial(y).subs({a: 0, more: 0}) == 1
    # φ(y_k), the part that depends on one of the others, is convex, so equal others are the worst case (Jensen).
    rest, part = sympy.symbols("rest part", positive=True)
    phi = a / (a + 1 + rest - part) + (a + 1) / (a + 1 + rest - part) ** 2
    gap = sympy.Symbol("gap", positive=True)  # rest − part
    second = sympy.diff(phi, part, 2).subs(rest, gap + part)
    assert sympy.simplify(second).is_nonnegative


@given(st.lists(st.floats(0.01, 100), min_size=1, max_size=6), st.floats(0.02, 0.98))
def test_the_inequality_holds_for_any_relative_weights(others, p):
    # Slot k is an own update (weight 1) with probability p, else one of weight others[k].
    size, moments = len(others), Counter()
    for own in itertools.product((0, 1), repeat=size):
        N = sum(own)
        chance = p**N * (1 - p) ** (size - N)
        h = N / (N + sum(y for y, mine in zip(others, own, strict=True) if not mine))
        moments.update({"N": chance * N, "h": chance * h, "Nh": chance * N * h, "hh": chance * h * (1 - h)})
    assert moments["Nh"] - moments["N"] * moments["h"] > moments["hh"]


def test_periodic_arrivals_are_not_strategy_proof():
    # Three clients, b = 2, the others at rate 1, fair weights 1/r: from 7 down to 6 the share rises.
    def share(speed, weights):
        return periodic(arrival_pattern([speed, 1, 1]), 2).shares(weights)[0]

    assert share(6, [Fraction(1, 6), 1, 1]) == Fraction(3, 4)
    assert share(7, [Fraction(1, 7), 1, 1]) == Fraction(25, 36)
    # With the algorithm's own averages: at 3 the other client completes every buffer of 4, is never stale, and
    # counts least.
    own = [periodic(arrival_pattern([speed, 1]), 4).staleness_shares(4)[0] for speed in (3, Fraction(7, 2))]
    assert own == [Fraction(7, 8), Fraction(61, 117)]


# ------------------------------------------------------------------------------------------ the printed theorem


def test_theorem_1_as_printed_is_vacuous_once_updates_are_stale():
    # Its last term is at least 4·((b−1)·τ/(τ+1))²·G ≥ G for b ≥ 2, τ ≥ 1, and ‖∇f‖² ≤ G always.
    theorem = load_theorem("fedstaleweight.theorem1")
    for size, tau in itertools.product((2, 3, 10), (1, 2, 50)):
        values = {
            "L": 1,
            "F0": 0,
            "T": 1,
            "n": size,
            "Q": 1,
            "b": size,
            "sigma_l": 0,
            "sigma_g_mean": 0,
            "G_sq": 1,
            "eta_l": 1e-9,
            "eta_g": 1,
            "tau_max": tau,
            "scale": 1,
        }
        assert float(theorem.evaluate(values).total) >= 1.0


# ------------------------------------------------------------------------------------------ plots and bad input


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: expected_staleness([1, 0], 2), "rates must be > 0 and finite, got 0 for client 1"),
        (lambda: expected_staleness([], 2), "rates is an empty list"),
        (lambda: expected_staleness([1], 0), "the buffer size b must be an integer ≥ 1, got 0"),
        (lambda: expected_staleness([1], 2, "past"), "kind must be one of paper, post, pre, wait, got 'past'"),
        (lambda: expected_staleness([1], 2, "pre", [0.5]), "leave completes out of 'pre'"),
        (lambda: expected_staleness([1, 1], 2, "post", [0.5]), "completes has 1 entries for 2 clients"),
        (lambda: expected_staleness([3, 1], 2, "wait"), "no client sends more than 1/b = 0.5"),
        (lambda: read_scale("fair", 2), "weights must be a number or one of equal, E+1, bE+1"),
        (lambda: read_scale(-1, 2), "must be ≥ 0, got -1"),
        (lambda: long_run_shares([1, 2], 2, [1.0]), "1 weights for 2 clients"),
        (lambda: long_run_shares([1] * 40, 20, method="enumeration"), "use method='quadrature'"),
        (lambda: long_run_shares([1, 2], 2, method="guess"), f"method must be one of {', '.join(METHODS)}"),
        (lambda: periodic([0, 2], 2), "each of the clients 0 … n−1"),
        (lambda: periodic([0, 1], 2, "wait"), "reply must be post or pre"),
        (lambda: arrival_pattern([1, Fraction(1000001, 1000000)]), "round them to simpler fractions"),
        (lambda: simulate_mechanism([1], 1, trials=1), "trials ≥ 2"),
        (lambda: truthful_limit([1], 2, model="printed"), "needs the rates of the b − 1 = 1 other updates"),
        (lambda: truthful_limit([1], 2, "E+1", "printed", [1]), "equation (9) is about the weights bE+1"),
        (lambda: truthful_limit([1], 2, buffer=[1]), "leave buffer out"),
        (lambda: utility("exact"), "model must be one of printed, others, all, mean-field"),
    ],
)
def test_bad_input_gets_one_clear_line(call, message):
    with pytest.raises(SpecError) as caught:
        call()
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
