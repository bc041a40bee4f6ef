"""Multipliers of several horizons as closed forms, and a proof for every K that is made of them."""

import json
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from boundlab.cli._app import application
from boundlab.errors import CertificateError, SpecError
from boundlab.prove import Script, expr, run, squared, telescope, total
from boundlab.prove.document import Proof
from boundlab.theorems import load_theorem
from boundlab.worst_case import worst_case
from boundlab.worst_case.program import Compiled, Solution
from boundlab.worst_case.specification import Fitted, closed_form

pytest.importorskip("cvxpy")


@cache
def certificates(theorem: str, *horizons: int, **settings: str) -> dict[int, Any]:
    found = {K: worst_case(load_theorem(theorem), K, dict(settings)) for K in horizons}
    return {K: one.certificates["upper"] for K, one in found.items()}


def by_label(forms: tuple[Fitted, ...]) -> dict[str, Fitted]:
    return {one.label: one for one in forms}


def test_gradient_descent_has_the_known_multipliers() -> None:
    # Drori and Teboulle (2014), Theorem 3.1: lambda_k = k/(2K+1-k), from their (3.7), k = 1, ..., K.
    forms = by_label(closed_form(certificates("classics.gd.convex", 1, 2, 3, 4, 5, 6, L="1")))
    steps = forms["interpolation of f_0 at x_k, x_(k+1)"]
    for K in (3, 7, 40):
        assert [steps.at(K, k - 1) for k in range(1, K + 1)] == [Fraction(k, 2 * K + 1 - k) for k in range(1, K + 1)]
        assert forms["‖x_0 − x*‖² ≤ 1"].at(K) == Fraction(1, 2 * (2 * K + 1))


def test_a_form_that_is_not_there_is_not_made_up() -> None:
    forms = closed_form(certificates("classics.gd.strongly-convex", 1, 2, 3, L="1", mu="0.5", alpha="1"))
    bad = [one for one in forms if not one.fits]
    assert bad
    with pytest.raises(CertificateError, match="no closed form"):
        bad[0].at(5)


def test_one_horizon_is_not_enough() -> None:
    with pytest.raises(CertificateError, match="two or more"):
        closed_form(certificates("classics.gd.convex", 2, L="1"))


@pytest.mark.nightly
def test_fitted_multipliers_prove_the_subgradient_method_for_every_horizon() -> None:
    # In units with alpha = B = R = 1.
    forms = by_label(
        closed_form(certificates("classics.subgradient.fixed-step", 2, 3, 4, 5, 6, alpha="1", B="1", R="1"))
    )
    assert all(one.fits for one in forms.values())
    start, slope = forms["‖x_0 − x*‖² ≤ 1"], forms["the gradient of f_0 at x_k"]
    star, last = forms["interpolation of f_0 at x*, x_k"], forms["interpolation of f_0 at x_k, the last point"]

    def write(proof: Proof) -> None:
        s, kernel = proof.setting(), proof.kernel
        k, K, alpha, B, R = s.k, s.symbol("K"), s.alpha, s.symbol("B"), s.symbol("R")
        G, D = s.gradient(k), lambda j: squared(s.x(j) - s.star)
        bounded = proof.step(
            "bounded",
            squared(G) <= expr(B**2),
            [s.over_clients(s.lipschitz(s.g(s.i, k))), s.over_clients(kernel.square(s.g(s.i, k) - G))],
        )
        moved = proof.step(
            "moved", D(k + 1) - D(k) <= -(s.dot(G, s.x(k) - s.star)) * (2 * alpha) + squared(G) * alpha**2, [s.move(k)]
        )
        # The four kinds of inequalities with the multipliers that were fitted; the units are the theorem's.
        facts = [
            total(kernel, s.over_clients(s.convex(s.g(s.i, k), s.star)), "k", 0, K, star.at(K, k)),
            total(kernel, s.over_clients(s.convex(s.vec("gbar", s.i), s.x(k))), "k", 0, K, last.at(K, k)),
            total(kernel, bounded, "k", 0, K, slope.at(K, k)),
            total(kernel, moved, "k", 0, K, start.at(K)),
            telescope(kernel, "k", 0, K, D(k)),
            s.start(),
            kernel.against(s.averaging(), s.mean_vector(lambda j: s.vec("gbar", j))),
        ]
        gap = s.objective(s.average()) - s.objective(s.star)
        claim = gap <= expr(R**2 / (2 * alpha * K) + alpha * B**2 / 2)
        proof.conclude(proof.step("together", claim, facts, squares=[s.x(K) - s.star]))

    found = run(Script("fitted", "", "", write, proves="classics.subgradient.fixed-step"), witnesses=False)
    assert found.proved, [(one.name, one.how) for one in found.steps]


class TestCommand:
    """``boundlab worst-case --fit``."""

    def test_the_table_has_the_forms(self) -> None:
        found = CliRunner().invoke(
            application(), ["worst-case", "classics.gd.convex", "--set", "L=1", "--fit", "1,2,3,4,5"]
        )
        assert found.exit_code == 0, found.output
        assert "1/(2*(2*K + 1))" in found.stdout

    def test_json(self) -> None:
        command = ["worst-case", "classics.gd.convex", "--set", "L=1", "--fit", "1,2,3,4,5", "--json"]
        found = json.loads(CliRunner().invoke(application(), command).stdout)
        assert found["horizons"] == [1, 2, 3, 4, 5]
        assert all(one["formula"] for one in found["multipliers"])

    @pytest.mark.parametrize(
        ("given", "says"),
        [("3", "two or more"), ("1,2.5", "must be an integer"), ("0,1", "between 1"), ("a,b", "--fit")],
    )
    def test_nonsense(self, given: str, says: str) -> None:
        found = CliRunner().invoke(application(), ["worst-case", "classics.gd.convex", "--fit", given])
        assert isinstance(found.exception, SpecError)
        assert says in str(found.exception)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(4))
def test_what_a_solver_rounds_changes_no_multiplier(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # Solvers differ from machine to machine, here by as much as was seen: 1e-4 of the entries of G.
    rng, solve = np.random.default_rng(seed), Compiled.solve

    def rough(compiled: Compiled, **options: Any) -> Solution:
        found = solve(compiled, **options)
        off = 1e-4 * rng.uniform(-1.0, 1.0, found.gram.shape) * np.abs(found.gram).max()
        return replace(found, gram=found.gram + (off + off.T) / 2.0)

    names = {"alpha": "1", "B": "1", "R": "1"}
    theorem = load_theorem("classics.subgradient.fixed-step")
    plain = {K: one["rows"] for K, one in certificates("classics.subgradient.fixed-step", 3, 5, **names).items()}
    monkeypatch.setattr(Compiled, "solve", rough)
    assert {K: worst_case(theorem, K, names).certificates["upper"]["rows"] for K in (3, 5)} == plain
