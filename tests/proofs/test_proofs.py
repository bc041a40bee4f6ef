"""The optimal server rate: every step is proved, and what is false of it is not."""

import pytest

from boundlab.proofs.optimal_rate import PROOFS
from boundlab.prove import (
    Context,
    Kernel,
    Outcome,
    Proof,
    ProofError,
    Range,
    Script,
    Status,
    equal,
    expr,
    run,
    scalar,
    total,
)


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    return run(PROOFS[0])


def test_every_step_is_proved_from_certificates_and_without_axioms(outcome: Outcome) -> None:
    assert [step.name for step in outcome.steps if step.status is not Status.PROVED] == []
    assert {axiom for step in outcome.steps if step.fact for axiom in step.fact.axioms} == set()


def test_the_proof_covers_stationarity_convexity_and_both_objectives(outcome: Outcome) -> None:
    names = {step.name for step in outcome.steps}
    assert {"stationarity", "strict convexity", "global minimum", "no optimum", "server cost, minimum"} <= names
    assert [script.id for script in PROOFS] == ["area.optimal-rate"]


def test_every_step_names_its_statement_in_words(outcome: Outcome) -> None:
    assert [step.name for step in outcome.steps if step.says in (step.name, str(step.claim))] == []


def rates(proof: Proof) -> None:
    """With Λ and h in place of sums, the statements of Section 4.2, each with a slip."""
    kernel = proof.kernel
    positive = Range(low=scalar(0), above=True)
    x, a, h, d = (kernel.context.declare(name, positive) for name in ("x", "a", "h", "d"))
    F = lambda rate: (rate + a) * (1 / rate + h)  # noqa: E731
    root = kernel.root("best", a / h)
    twice = kernel.root("twice", 2 * a / h)
    best = kernel.context.declare("other", positive)
    proof.step("a positive rate is above the best one", expr(x) >= expr(best))
    proof.step("half of the square", equal(expr(F(x) - F(best)), h * (x - best) ** 2 / (2 * x)), [root])
    proof.step("the optimum with 1/n in place of 2/n", equal(expr(h * best * best), a), [twice])
    proof.step("increasing everywhere", expr(F(x + d)) >= expr(F(x)))
    proof.step("the least value without its cross term", expr(F(x)) <= expr(1 + a * h))


def test_no_slip_is_proved() -> None:
    outcome = run(Script("slips", "false statements", "nowhere", rates))
    assert len(outcome.steps) == 5
    assert [step.status for step in outcome.steps] == [Status.UNPROVED] * 5
    assert all(step.how for step in outcome.steps)
    assert not outcome.proved


def test_a_number_that_may_be_0_gets_no_name_whose_range_is_open_at_0() -> None:
    kernel = Kernel(Context())
    x = kernel.context.declare("x", Range(low=scalar(0)))
    with pytest.raises(ProofError, match="range"):
        kernel.name("y", x, Range(low=scalar(0), above=True))
    with pytest.raises(ProofError, match="negative"):
        kernel.root("r", x - 1)


def test_a_wrong_step_does_not_stop_the_others() -> None:
    def write(proof: Proof) -> None:
        x = proof.kernel.context.declare("x", Range(low=scalar(0)))
        wrong = proof.step("wrong", equal(expr(x), 2 * x))
        proof.step("right", equal(expr(x + x), 2 * x))
        proof.step("on sand", equal(expr(2 * x), 4 * x), [wrong])

    wrong, right, sand = run(Script("test", "a test", "nowhere", write)).steps
    assert (wrong.status, right.status, sand.status) == (Status.UNPROVED, Status.PROVED, Status.FOLLOWS)
    assert sand.rests_on == ("wrong",)


def test_a_sum_of_powers_of_a_number_from_0_to_1_is_not_negative() -> None:
    kernel = Kernel(Context())
    here = kernel.context
    r = here.declare("r", Range(low=scalar(0), high=scalar(1)))
    K, j = (here.declare(name, Range(low=scalar(0), integer=True)) for name in ("K", "j"))
    power = kernel.combine(expr(r**j) >= 0, [])
    assert str(total(kernel, power, "j", 0, K)).endswith("≥ 0")
