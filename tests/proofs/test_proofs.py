"""Proofs: every step is computed, and a wrong one is refuted."""

import pytest
import sympy

from boundlab.proofs._proof import Finding, Proof, Step, Verdict, identity, positive, unique_root
from boundlab.proofs.optimal_rate import OPTIMAL_RATE, PROOFS

x, y = sympy.symbols("x y", positive=True)


@pytest.mark.parametrize("step", OPTIMAL_RATE.steps, ids=lambda step: step.name)
def test_each_step_of_the_optimal_rate_is_verified(step: Step) -> None:
    assert step.check().verdict is Verdict.VERIFIED, step.check().detail


def test_the_proof_covers_stationarity_convexity_and_both_objectives() -> None:
    names = {result.name for result in OPTIMAL_RATE.run()}
    assert {"stationarity", "convexity", "global minimum", "no optimum", "server cost, stationarity"} <= names
    assert [proof.id for proof in PROOFS] == ["area.optimal-rate"]


@pytest.mark.parametrize(
    "finding",
    [
        lambda: identity((x + y) ** 2, x**2 + y**2),
        lambda: positive(x**2 - 2 * x * y),
        lambda: positive(-x / y),
        # The optimum with 1/n in place of 2/n.
        lambda: unique_root(2 * y - x**-2, x, 1 / sympy.sqrt(y)),
        lambda: unique_root(x - y, x, 2 * y),
    ],
)
def test_a_false_statement_is_refuted_with_a_witness(finding: object) -> None:
    found = finding()  # type: ignore[operator]
    assert found.verdict is Verdict.REFUTED
    assert found.detail


def test_a_wrong_step_does_not_stop_the_others() -> None:
    steps = (
        Step("wrong", "x = 2x", lambda: identity(x, 2 * x)),
        Step("right", "x + x = 2x", lambda: identity(x + x, 2 * x)),
    )
    results = Proof("test", "a test", "nowhere", steps).run()
    assert [result.finding.verdict for result in results] == [Verdict.REFUTED, Verdict.VERIFIED]
    assert "differ by" in results[0].finding.detail


def test_one_root_among_several_is_not_called_the_only_one() -> None:
    assert unique_root((x - 1) * (x - 2), x, sympy.Integer(1)).verdict is Verdict.UNKNOWN


def test_what_cannot_be_decided_is_unknown_and_never_verified() -> None:
    # x² − x·y + y² is positive, but not by the sign of its coefficients.
    assert positive(x**2 - x * y + y**2) == Finding(Verdict.UNKNOWN, "cannot decide the sign of x**2 - x*y + y**2")
