"""Whatever engines say or fail at, a search drops the candidate, says so, and goes on."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sympy import Integer

from boundlab import errors
from boundlab.cli import invoke
from boundlab.falsify import Candidate, _judge, _result, _shared_runs, falsify
from boundlab.falsify._judge import Judge
from boundlab.formulas.symbols import symbol
from boundlab.metrics import Enclosure
from boundlab.theorems import Condition, FormulaBound, Theorem, load_theorem

FAILURES = (
    errors.TapeError("two engines differ"),
    errors.SpecError("no engine"),
    errors.CertificateError("no certificate"),
    errors.UndecidedError("too many digits"),
    ZeroDivisionError("0"),
    OverflowError("large"),
    np.linalg.LinAlgError("singular"),
)


def wrong() -> Theorem:
    """Return a theorem that is refuted at once."""
    theorem = load_theorem("classics.gd.ergodic")
    return replace(theorem, id="wrong", status="user", bound=FormulaBound({"nothing": Integer(0)}))


def everywhere() -> Iterator[Any]:
    """Yield each failure at each place: by day the last one, and one of ours where an instance is confirmed."""
    for where in ("confirm", "evaluate", "alone"):
        for failure in FAILURES:
            by_day = failure is FAILURES[-1] or (where == "confirm" and failure is FAILURES[0])
            marks = () if by_day else pytest.mark.nightly
            yield pytest.param(failure, where, marks=marks, id=f"{where}-{type(failure).__name__}")


@pytest.mark.sweep(4)
@pytest.mark.parametrize(("failure", "where"), list(everywhere()))
def test_what_fails_is_counted_and_ends_nothing(
    failure: Exception, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise failure

    room, name = {
        "confirm": (_result, "left_of"),
        "evaluate": (_shared_runs, "run_columns"),
        "alone": (_judge, "plan_of"),
    }[where]
    monkeypatch.setattr(room, name, fails)
    theorem = load_theorem("area.theorem8.repaired") if where == "alone" else wrong()
    found = falsify(theorem, limit=5)
    assert not found.violated
    assert any(str(failure) in reason for reason in found.refused)


def test_engines_that_differ_refute_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_result, "left_of", lambda plan, *_: Enclosure.around(np.full(len(plan.ks), 7.0), 0.0))
    found = falsify(wrong(), limit=5)
    assert not found.violated
    assert any("differ on the left side" in reason for reason in found.refused)


@pytest.mark.nightly
def test_refused_candidates_do_not_count() -> None:
    # Hardly any step meets the condition.
    theorem = load_theorem("classics.gd.convex")
    alpha, L = symbol("alpha"), symbol("L")
    few = replace(theorem, id="few", conditions=(*theorem.conditions, Condition(alpha, 1 / (50 * L), "α ≤ 1/(50L)")))
    found = falsify(few, limit=100)
    assert sum(found.tried.values()) >= 100
    assert sum(found.refused.values()) > 0


@pytest.mark.nightly
def test_a_theorem_that_applies_to_nothing_ends_and_says_why(capsys: pytest.CaptureFixture[str], tmp_path) -> None:
    file = tmp_path / "nothing.toml"
    file.write_text(
        'id = "nothing"\nmetric = "gap"\nalgorithm = "gd"\nassumptions = ["convex", "smooth", "minimiser"]\n'
        'conditions = ["2*n <= n"]\n[step]\nalpha = "1/L"\n[terms]\nmain = "L*R**2/K"\n'
    )
    assert invoke(["falsify", str(file), "--candidates", "2", "--out", str(tmp_path / "out")]) == 3
    shown = capsys.readouterr().out
    assert "candidates were skipped" in shown
    assert "a condition that is not met" in shown


def test_weights_of_zero_are_a_problem_like_any_other() -> None:
    theorem = load_theorem("classics.gd.nonconvex")
    problem = {"type": "huber", "c": [0.0, 1.0], "w": [1.0, 1.0], "delta": 1.0, "x0": 0.5, "sigma": 0.0}
    some = [problem, {**problem, "w": [0.0, 1.0]}, {**problem, "w": [0.0, 0.0]}]
    judge = Judge(theorem, float("inf"))
    found = judge.scores([Candidate("test", one, "deterministic", {}, {}, 5) for one in some])
    assert len(found) == 2
    assert judge.count == 2
    assert sum(judge.refused.values()) == 1


@pytest.mark.sweep(4)
@pytest.mark.parametrize(
    ("step", "algorithm", "metric"),
    [
        ({"eta_l": symbol("eta_l"), "eta_g": Integer(1)}, "fedbuff", "gradient-norm"),
        ({"eta_l": symbol("eta_l"), "eta_g": symbol("eta_g")}, "fedbuff", "gradient-norm"),
        ({"c": symbol("c"), "d": symbol("d")}, "gd", "gradient-norm"),
        ({"alpha": symbol("alpha"), "beta": symbol("beta")}, "heavy_ball", "gradient-norm"),
    ],
)
def test_whatever_rates_are_open_some_candidates_are_looked_at(step, algorithm: str, metric: str) -> None:
    theorem = Theorem(
        id="open",
        title="",
        paper="",
        place="",
        status="user",
        assumptions=("smooth", "bounded-below"),
        algorithm=algorithm,
        options={},
        metric=metric,
        horizon="every",
        step=step,
        parameters={},
        bound=FormulaBound({"huge": 10**9 * symbol("F0") * symbol("L")}),
    )
    found = falsify(theorem, limit=60)
    assert sum(found.tried.values()) >= 60


def test_a_bound_below_zero_is_refuted() -> None:
    theorem = load_theorem("classics.gd.convex")
    below = replace(theorem, id="below", bound=FormulaBound({"main": -symbol("L") * symbol("R") ** 2}))
    found = falsify(below, limit=30)
    assert found.violated


def test_a_symbol_that_nothing_gives_a_value_ends_the_search_at_once(tmp_path: Path) -> None:
    path = tmp_path / "theorem.toml"
    path.write_text(
        """id = "own"
title = "enough iterations for the accuracy eps"
algorithm = "gd"
metric = "gap"
assumptions = ["convex", "smooth", "minimiser"]
conditions = ["L*R**2 <= 2*K*eps"]
[step]
alpha = "1/L"
[terms]
bound = "eps"
[symbols.eps]
meaning = "accuracy"
units = [1, 0]
""",
        encoding="utf-8",
    )
    with pytest.raises(errors.AssumptionError, match=r"nothing says what eps \(accuracy\) may be.*--set eps="):
        falsify(load_theorem(str(path)))
