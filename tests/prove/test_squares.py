"""Squares that a semidefinite program finds, and that the kernel checks."""

from collections.abc import Callable

import pytest

from boundlab.prove import Claim, Fact, Lin, ProofError, Script, Status, dot, equal, run, squared
from boundlab.prove.document import Proof
from boundlab.prove.setting import Setting

pytest.importorskip("cvxpy")


def of_gd(say: Callable[..., Claim], uses: Callable[..., list[Fact]] = lambda _: []) -> tuple[Status, str]:
    """Return what becomes of a claim about x[k] − x* and the gradient there."""

    def write(proof: Proof) -> None:
        s = proof.setting()
        u, g = s.x(s.k) - s.star, s.gradient(s.k)
        proof.step("it", say(s, u, g), uses(s), squares=[u, g], by="sdp")

    (step,) = run(Script("squares", "", "", write, proves="classics.gd.convex"), witnesses=False).steps
    return step.status, step.how


def test_youngs_inequality_with_any_weight() -> None:
    assert of_gd(lambda s, u, g: dot(u, g) * 2 <= squared(u) * s.alpha + squared(g) / s.alpha)[0] is Status.PROVED


def test_a_weighted_mean_of_squares() -> None:
    def say(s: Setting, u: Lin, g: Lin) -> Claim:
        return squared(u * s.alpha + g * 2) <= (squared(u) * s.alpha + squared(g) * 2) * (s.alpha + 2)

    assert of_gd(say)[0] is Status.PROVED


def test_a_square_of_three_terms_beside_a_fact() -> None:
    found = of_gd(
        lambda s, u, g: squared(s.x(s.k + 1) - s.star) <= squared(u) * 2 + squared(g) * (2 * s.alpha**2),
        lambda s: [s.move(s.k)],
    )
    assert found[0] is Status.PROVED


@pytest.mark.parametrize("thousandths", [1000, 1999])
def test_what_is_false_has_no_squares(thousandths: int) -> None:
    status, how = of_gd(lambda _, u, g: squared(u + g) * 1000 <= (squared(u) + squared(g)) * thousandths)
    assert status is Status.UNPROVED
    assert "no squares" in how


def test_an_equation_rests_on_no_square() -> None:
    def write(proof: Proof) -> None:
        s = proof.setting()
        proof.step("it", equal(squared(s.x(s.k)), 0), [], squares=[s.x(s.k)], by="sdp")

    (step,) = run(Script("squares", "", "", write, proves="classics.gd.convex"), witnesses=False).steps
    assert step.status is Status.UNPROVED


def test_there_is_no_third_way() -> None:
    def write(proof: Proof) -> None:
        s = proof.setting()
        with pytest.raises(ProofError, match="not magic"):
            proof.step("it", squared(s.x(s.k)) >= 0, [], by="magic")  # type: ignore[arg-type]

    run(Script("squares", "", "", write, proves="classics.gd.convex"), witnesses=False)
