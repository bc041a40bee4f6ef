"""FedStaleWeight's printed proof: what is said of the weights, and the smallest runs that refute the theorem."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

from boundlab.proofs.fedstaleweight_printed import PROOFS
from boundlab.prove import Claim, Outcome, ProofError, Status, equal, expr, run, squared
from boundlab.prove._functions import Huber
from boundlab.prove._instance import Instance, Noise, UnfitError
from boundlab.prove.models import Model, evaluate, holds, models_of
from boundlab.prove.settings import setting_of
from boundlab.prove.settings._instances import BUFFERED
from boundlab.prove.settings.buffered import Buffers
from boundlab.theorems import load_theorem

F = Fraction
# One client with f(x) = x²/2 near 0, which starts there; the server takes ten times the client's step.
SMALLEST = Instance(
    (Huber(F(1), F(0), F(1)),), (F(0),), F(1, 100), 1, 2, (Noise((F(1),)),), events=(0, 0), options=(("eta_g", 10.0),)
)


def _setting() -> Any:
    return setting_of(load_theorem("fedstaleweight.theorem1"))


@cache
def _printed() -> Outcome:
    return run(PROOFS[0])


def test_every_printed_relation_is_proved_but_the_theorem() -> None:
    found = {step.name: step.status for step in _printed().steps if step.status is not Status.REMARK}
    assert [name for name, status in found.items() if status is not Status.PROVED] == ["Theorem 2", "conclusion"]
    assert found["conclusion"] is Status.FOLLOWS  # the step says what the registered theorem says
    assert len(found) >= 9


def test_two_updates_of_one_client_refute_the_theorem() -> None:
    outcome = _printed()
    (step,) = (one for one in outcome.steps if one.name == "Theorem 2")
    assert step.claim is not None
    (row,) = evaluate(Model(outcome.setting, SMALLEST), step.claim, outcome.kernel)  # type: ignore[arg-type]
    assert (row.left, row.right, row.holds) == (F(1, 200), F(3, 1250), False)


def test_one_update_adds_noise_that_no_term_of_the_bound_has() -> None:
    s = _setting()
    model = Model(s, SMALLEST)
    (row,) = evaluate(model, equal(s.objective(s.w(1)), F(1, 200)), s.kernel)
    assert row.holds
    size = s.rate * s.step * s.Q
    constant = 12 * s.step**2 * s.Q**2 * s.symbol("L") ** 2 * (s.symbol("sigma_l") ** 2 + s.symbol("G_sq"))
    claim = s.objective(s.w(1)) <= s.objective(s.w(0)) - squared(s.df(0)) * (size / 2) + size / 2 * constant
    (row,) = evaluate(model, claim, s.kernel)
    assert (row.left, row.right) == (F(1, 200), F(3, 25000))


def test_at_the_clients_own_rate_the_same_run_is_within_the_bound() -> None:
    outcome = _printed()
    (step,) = (one for one in outcome.steps if one.name == "Theorem 2")
    slow = replace(SMALLEST, options=())
    assert holds(Model(outcome.setting, slow), step.claim, outcome.kernel)  # type: ignore[arg-type]


# ---------------------------------------------------------------------- the setting


def _wrong(s: Any) -> Iterator[Claim]:
    k, y = s.k, s.y
    yield expr(s.alpha(k, y)) <= 1 / (s.many + 1)
    yield equal(expr(s.alpha(k, y) * (1 + s.scale * s.age(k, y))), 1)
    yield squared(s.w(k + 1) - s.w(k)) <= expr(0)


def test_a_wrong_axiom_of_the_printed_proof_is_false_in_a_model() -> None:
    s = _setting()
    for claim in _wrong(s):
        assert False in [holds(model, claim, s.kernel) for model in models_of(s)]


@pytest.mark.sweep(2)
@pytest.mark.parametrize("place", [place for place, one in enumerate(BUFFERED) if "count" in dict(one.options)])
def test_weights_of_the_algorithm_lie_between_the_printed_ones(place: int) -> None:
    one = replace(BUFFERED[place], noise=(), bounds=())
    own = Buffers("fedstaleweight", one)
    b, tau = own.many, own.symbols()["tau_max"]
    largest, smallest = (b * tau + 1) / (b * (tau + 1)), 1 / ((b - 1) * (b * tau + 1) + 1)
    assert all(smallest <= weight <= largest for weight in own.alpha.values())


def test_buffers_that_leave_clients_out_are_no_exact_model() -> None:
    two = replace(SMALLEST, functions=SMALLEST.functions * 2, noise=SMALLEST.noise * 2, events=(0, 1))
    for options in ((), (("count", 2),)):
        with pytest.raises(UnfitError, match="all clients"):
            Model(_setting(), replace(two, options=options))


def test_a_weight_of_an_entry_that_is_not_in_the_buffer_is_not_bounded() -> None:
    s = _setting()
    with pytest.raises(ProofError):
        s.kernel.at(s.kernel.combine(expr(s.many - 1 - s.y) >= 0, []), {"y": s.many})
    with pytest.raises(ProofError, match="said for 0 <= t <= T - 1"):
        s.oldest(s.T, 0)


def test_a_scale_above_b_is_not_the_theorems() -> None:
    s = _setting()
    with pytest.raises(ProofError, match="negative"):
        s.kernel.combine(expr(s.scale - s.many) >= 0, [])
    s.kernel.combine(expr(s.many - s.scale) >= 0, [])
