"""Wrong proofs about FedFa: the kernel or the setting refuses each, and says why."""

from typing import Any

import pytest
from kernel_values import refused

from boundlab.errors import SpecError
from boundlab.prove import Range, equal, expr, scalar, squared, total, variable
from boundlab.prove._scalars import ProofError
from boundlab.prove.settings import setting_of
from boundlab.theorems import load_theorem


@pytest.fixture
def delta() -> Any:
    return setting_of(load_theorem("fedfa.delta.a"))


@pytest.fixture
def param() -> Any:
    return setting_of(load_theorem("fedfa.param.a"))


def test_noise_of_an_arrival_meets_the_model_that_it_moved(delta: Any) -> None:
    s = delta
    for later in (s.w(s.t + 1), s.v(s.t + 1), s.z(s.t, 0, s.q + 1), s.gr(s.t), s.er(s.t)):
        with refused("may depend on"):
            s.unbiased(s.e(s.t, 0, s.q), later)


def test_noise_that_filled_the_window_meets_the_first_virtual_iterate(delta: Any) -> None:
    """v[0] holds what the K − 1 arrivals before it brought."""
    with refused("may depend on"):
        delta.unbiased(delta.e(scalar(-1), 0, delta.q), delta.v(0))


def test_a_run_begins_at_a_model_that_is_made_later(delta: Any) -> None:
    late = delta.begin(delta.t, 0)
    assert late.right.vec is not None
    with refused("may depend on"):
        delta.unbiased(delta.e(delta.t, 0, 0), delta.w(delta.t + 1))


def test_arrivals_before_the_window_was_empty(delta: Any) -> None:
    s = delta
    for wrong in (lambda: s.move(s.a - 1, 0, s.q), lambda: s.added("gr", scalar(0) - s.K), lambda: s.begin(s.a, 0)):
        with refused("said for"):
            wrong()


def test_windows_that_reach_past_the_last_arrival(delta: Any) -> None:
    s = delta
    for wrong in (lambda: s.bias(s.T), lambda: s.regrouped(s.k + 1), lambda: s.balance(s.t, expr(1))):
        with refused("said for 0 <= k <= T - 1"):
            wrong()
    with refused(r"said for 0 <= t <= T \+ N - 2"):
        s.delay(s.T + s.N - 1, 0)
    with refused(r"said for 0 <= t <= T \+ N - 2"):
        s.delay(s.t, 0)


def test_a_share_that_may_be_negative_is_a_weight(delta: Any) -> None:
    s = delta
    square = s.kernel.square(s.dv(s.i, s.k))
    with refused("weight of i may be negative"):
        total(s.kernel, square, "i", 0, s.n, s.over(s.i, s.k) - s.under(s.i, s.k))


def test_shares_are_balanced_against_what_differs_by_client(delta: Any) -> None:
    """Σ (over − under)·‖∇f_i‖² is not 0."""
    with refused("a sum here runs over"):
        delta.balance(delta.k, squared(delta.dv(delta.i, delta.k)))


def test_the_mean_of_all_lengths_is_generalised(delta: Any) -> None:
    with refused("fixed where|given|declared"):
        delta.kernel.at(delta.lengths(), {"T": 1})
    with refused("is fixed here"):
        delta.kernel.at(delta.delay(delta.r, 0), {"tau_a": 0})


def test_mode_delta_has_no_lag_and_mode_param_no_window_that_is_ahead(delta: Any, param: Any) -> None:
    for wrong in (lambda: delta.response(0), lambda: delta.response_error(0), lambda: delta.virtual_move(0)):
        with refused("has no"):
            wrong()
    with refused("said for 0 <= t <= 0"):
        param.ahead(param.t)


def test_a_response_is_said_of_models_that_are_not_looked_at(param: Any) -> None:
    for wrong in (param.response, param.response_error):
        with refused(r"said for 0 <= t <= T \+ N - 2"):
            wrong(param.T + param.N - 1)


def test_the_server_rate_takes_another_value(delta: Any) -> None:
    for name in ("eta_g", "eta_l", "N", "window", "Q"):
        with refused("is fixed here"):
            delta.kernel.at(delta.ahead(delta.t), {name: 1})


def test_a_window_has_no_arrival_of_negative_place(delta: Any) -> None:
    """The fact about arrivals from 1 − K on says nothing about earlier ones."""
    s = delta
    fact = s.kernel.combine(
        squared(s.g(s.a, 0, s.q)) <= expr(s.symbol("G_sq")), [(1, s.bounded_gradient(s.g(s.a, 0, s.q)))]
    )
    with refused("outside its range"):
        s.kernel.at(fact, {"a": s.t - s.K})


def test_full_gradients_have_no_noise() -> None:
    s = setting_of(load_theorem("fedfa.delta.b.noiseless"))
    with refused("no vector|is no noise|e "):
        s.variance(s.e(s.a, 0, s.q))


def test_a_proof_declares_a_second_virtual_iterate(delta: Any) -> None:
    with pytest.raises((ProofError, SpecError)):
        delta.kernel.vectors.declare("v", 1)
    with pytest.raises(ProofError):
        delta.context.declare("over", Range(low=scalar(0), arity=2))


def test_a_claim_about_the_first_model_alone_is_made_of_the_later_ones(delta: Any) -> None:
    s = delta
    first = s.ahead(0)
    with refused("no symbol|differ|left over"):
        s.kernel.combine(
            equal(squared(s.v(s.t) - s.w(s.t) - s.held_back(s.t)), 0), [(1, s.kernel.against(first, s.v(0)))]
        )
    assert variable("t").names() == {"t"}
