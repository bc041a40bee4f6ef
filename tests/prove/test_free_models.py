"""Models of what a step cites: where there is one, no multipliers can exist; where a step is shown, there is none."""

from collections.abc import Callable, Iterable
from fractions import Fraction

import pytest
from proof_scripts import outcome, quick

from boundlab.prove import (
    Claim,
    Fact,
    Lin,
    Range,
    Script,
    Status,
    VectorFact,
    dot,
    expr,
    finite_sum,
    run,
    scalar,
    squared,
)
from boundlab.prove._free_models import free_model
from boundlab.prove.document import Proof
from boundlab.prove.setting import Setting

pytest.importorskip("cvxpy")
LIKE_ANOTHER = ("area.theorem8.repaired", "area.theorem8.algorithm-start")
LONG = ("fedstaleweight.rf1", "fedstaleweight.rf3", "area.theorem8.repaired.fixed-step")
Uses = Iterable[Fact | VectorFact]


@pytest.mark.sweep(33)
@pytest.mark.parametrize(
    "script",
    [
        pytest.param(one, id=one.id, marks=[pytest.mark.nightly] if one.id in LONG else [])
        for one in quick()
        if not one.printed and one.id not in LIKE_ANOTHER
    ],
)
def test_what_was_shown_has_no_model_in_which_it_is_false(script: Script) -> None:
    found = outcome(script)
    shown = [one for one in found.kernel.facts if isinstance(one, Fact) and one.rule == "combine" and one.premises]
    for fact in shown[:: max(1, len(shown) // 2)]:
        premises = [one for one in fact.premises if isinstance(one, Fact)]
        assert free_model(found.kernel, fact.claim, premises, [], fact.context) is None, fact.claim


def status_of(
    say: Callable[[Setting, Lin, Lin], Claim], uses: Callable[[Setting], Uses], theorem: str = "classics.gd.convex"
) -> tuple[Status, str]:
    """Return what becomes of a claim about x[k] − x* and the gradient there, which is false in no known instance."""

    def write(proof: Proof) -> None:
        s = proof.setting()
        proof.step("it", say(s, s.x(s.k) - s.star, s.gradient(s.k)), list(uses(s)))

    (step,) = run(Script("free", "", "", write, proves=theorem), witnesses=True).steps
    return step.status, step.how


def test_a_true_claim_need_not_follow_from_what_is_cited() -> None:
    # Convexity at one point says nothing about the next; the claim is true.
    status, how = status_of(
        lambda s, *_: s.objective(s.x(s.k + 1)) <= s.objective(s.x(s.k)),
        lambda s: [s.move(s.k), s.over_clients(s.convex(s.g(s.i, s.k), s.star))],
    )
    assert status is Status.DOES_NOT_FOLLOW
    assert "all that is cited holds" in how


def test_a_claim_that_is_false_in_the_setting_is_refuted_and_not_merely_underived() -> None:
    status, _ = status_of(lambda _, u, __: squared(u) <= 0, lambda _: [])
    assert status is Status.REFUTED


@pytest.mark.nightly
def test_what_follows_by_a_square_that_nobody_gave_is_unproved() -> None:
    status, _ = status_of(lambda s, u, g: dot(u, g) * 2 <= squared(u) * s.alpha + squared(g) / s.alpha, lambda _: [])
    assert status is Status.UNPROVED


@pytest.mark.nightly
def test_facts_hold_at_all_their_indices() -> None:
    # Σ ‖x[k] − x*‖² ≤ K·R² does not follow from ‖x[0] − x*‖² = R², and does from the fact for every k, though
    # nobody has summed it.
    def say(s: Setting, *_: Lin) -> Claim:
        total = finite_sum("k", 0, s.symbol("K"), squared(s.x(s.k) - s.star))
        return total <= expr(s.symbol("K") * s.symbol("R") ** 2)

    alone, _ = status_of(say, lambda s: [s.start()])
    assert alone is Status.DOES_NOT_FOLLOW

    def write(proof: Proof) -> None:
        s = proof.setting()
        every = proof.step("every", squared(s.x(s.k) - s.star) <= expr(s.symbol("R") ** 2), [s.start()])
        proof.step("sum", say(s), [every])

    *_, last = run(Script("free", "", "", write, proves="classics.gd.convex"), witnesses=True).steps
    assert last.status is Status.UNPROVED


@pytest.mark.nightly
def test_equations_of_vectors_hold_altogether() -> None:
    # ‖x[k+1] − x*‖² = ‖x[k] − x* − αg‖² is what the move says, in every product.
    status, _ = status_of(
        lambda s, u, g: squared(s.x(s.k + 1) - s.star) * 1000 <= squared(u - g * s.alpha) * 999,
        lambda s: [s.move(s.k)],
    )
    assert status in (Status.DOES_NOT_FOLLOW, Status.REFUTED)
    status, _ = status_of(
        lambda s, u, g: squared(s.x(s.k + 1) - s.star) * 2 <= squared(u) * 4 + squared(g) * (4 * s.alpha**2),
        lambda s: [s.move(s.k)],
    )
    assert status is Status.UNPROVED


def test_what_is_told_is_false_there() -> None:
    found: list[Fraction] = []

    def write(proof: Proof) -> None:
        s = proof.setting()
        kernel, k = proof.kernel, s.k
        claim = squared(s.x(k)) + 1 <= squared(s.gradient(k)) * 3
        model = free_model(kernel, claim, [], [], kernel.context)
        assert model is not None
        found.extend((model.left, model.right))

    run(Script("free", "", "", write, proves="classics.gd.convex"), witnesses=False)
    assert found[0] > found[1]


def follows_twice(s: Setting, later: int) -> tuple[Claim, Claim]:
    """Return D[k + 1] ≤ D[k] for every k, and D[k + later] ≤ D[k]."""
    now, after, late = (squared(s.x(s.k + more) - s.star) for more in (0, 1, later))
    return after <= now, late <= now


@pytest.mark.nightly
@pytest.mark.parametrize("later", [2, 4])
def test_what_follows_from_a_fact_at_later_indices_has_no_model(later: int) -> None:
    def write(proof: Proof) -> None:
        one, many = follows_twice(proof.setting(), later)
        cited = proof.undecided("one step", one, "it is only cited")
        proof.step("many steps", many, [cited])

    *_, last = run(Script("free", "", "", write, proves="classics.gd.convex"), witnesses=True).steps
    assert last.status is Status.UNPROVED


def test_what_does_not_follow_at_later_indices_has_one() -> None:
    def write(proof: Proof) -> None:
        one, _ = follows_twice(proof.setting(), 2)
        s = proof.setting()
        cited = proof.undecided("one step", one, "it is only cited")
        proof.step("the other way", s.objective(s.x(s.k + 2)) <= s.objective(s.x(s.k)), [cited])

    *_, last = run(Script("free", "", "", write, proves="classics.gd.convex"), witnesses=True).steps
    assert last.status is Status.DOES_NOT_FOLLOW


@pytest.mark.nightly
def test_what_follows_from_a_fact_outside_of_a_case_has_no_model() -> None:
    def write(proof: Proof) -> None:
        s = proof.setting()
        one, _ = follows_twice(s, 2)
        cited = proof.undecided("one step", one, "it is only cited")
        _, late = proof.kernel.split("k", 0)
        claim = squared(s.x(s.k) - s.star) <= squared(s.x(s.k - 1) - s.star)
        proof.step("at k − 1", claim, [cited], context=late)

    *_, last = run(Script("free", "", "", write, proves="classics.gd.convex"), witnesses=True).steps
    assert last.status is Status.UNPROVED


def test_what_follows_from_a_fact_about_every_number_has_no_model() -> None:
    """From ‖x[0]‖² ≤ t for every t > 0 follows ‖x[0]‖² ≤ 0."""

    def write(proof: Proof) -> None:
        s = proof.setting()
        t = proof.kernel.context.declare("t", Range(low=scalar(0), above=True))
        cited = proof.undecided("for every t", squared(s.gradient(s.k)) <= expr(t), "it is only cited")
        proof.step("for none", squared(s.gradient(s.k)) * 2 <= expr(t), [cited])

    *_, last = run(Script("free", "", "", write, proves="classics.gd.convex"), witnesses=True).steps
    assert last.status is not Status.DOES_NOT_FOLLOW
