"""Minimisers of empirical risks and their certificates."""

import sys

import pytest
from problem_makers import make

from boundlab.errors import CertificateError, MissingExtraError


def test_without_regulariser_a_certificate_exists_only_where_classes_overlap() -> None:
    overlap = {"features": [[1.0], [2.0], [-1.0], [1.5]], "targets": [1.0, 0.0, 0.0, 1.0], "owners": [0, 0, 1, 1]}
    problem = make("logistic", nu=0, bias="yes", **overlap)
    best = problem.optimum()
    assert best.gap < 1e-12
    assert best.distance is not None
    assert best.distance < 1e-9
    assert "self-concordance" in best.how
    assert problem.constants()["B"].value > 0
    with pytest.raises(CertificateError, match="set nu > 0"):
        make("logistic", nu=0, solver="newton", **(overlap | {"targets": [1.0, 1.0, 0.0, 1.0]})).optimum()


def test_smoothed_lbfgs_reaches_the_same_value_as_the_program() -> None:
    one, two = (make("hinge", nu=0.1, samples=200, solver=word) for word in ("clarabel", "newton"))
    assert two.optimum().how.startswith("L-BFGS")
    assert abs(one.optimum().value - two.optimum().value) <= one.optimum().gap + two.optimum().gap
    assert two.optimum().gap < 1e-4


def test_data_too_large_for_a_linear_program_are_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from boundlab.problems import erm

    monkeypatch.setattr(erm, "PIECEWISE_LIMIT", 6500)
    with pytest.raises(CertificateError, match="set nu > 0 or samples=100"):
        make("hinge").optimum()


def test_a_missing_solver_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cvxpy", None)
    with pytest.raises(MissingExtraError, match=r'pip install "boundlab\[solve\]"'):
        make("hinge", samples=50, clients=2).optimum()
