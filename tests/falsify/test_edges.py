"""Searches look where conditions end, and where momentum cycles; what they find is found a second way."""

from pathlib import Path

import pytest

from boundlab.errors import UndecidedError
from boundlab.falsify import _result, falsify
from boundlab.falsify._families import edges
from boundlab.falsify._judge import Judge
from boundlab.falsify._search import worst_cases
from boundlab.theorems import Theorem, load_theorem

# Polyak's parameters: true of quadratics, false of f' = 25x, x + 24, 25x − 24 from 3.3 (Lessard, Recht and Packard).
HEAVY = """
id = "polyak"
algorithm = "heavy_ball"
metric = "squared-distance"
assumptions = ["strongly-convex", "smooth", "minimiser", "deterministic"]
conditions = [{conditions}]
[options]
beta = "4/9"
[step]
alpha = "4/(sqrt(L) + sqrt(mu))**2"
[terms]
bound = "100*(2/3)**K*R**2"
"""


def heavy_ball(folder: Path, *conditions: str) -> Theorem:
    path = folder / "polyak.toml"
    path.write_text(HEAVY.format(conditions=", ".join(f'"{one}"' for one in conditions)))
    return load_theorem(str(path))


@pytest.mark.parametrize(
    ("condition", "end"),
    [("L <= 25*mu", 0.04), ("L < 25*mu", 0.04), ("3*L <= 20*mu", 0.15), ("L <= 7*mu", 1 / 7), ("mu <= L/2", 0.5)],
)
def test_the_edge_of_a_condition_is_where_it_just_holds(tmp_path: Path, condition: str, end: float) -> None:
    theorem = heavy_ball(tmp_path, condition)
    (found,) = edges(theorem, "mu", {"L": 1.0})
    assert found == pytest.approx(end, rel=1e-8)
    (one,) = theorem.conditions
    theorem.evaluate({"mu": found, "L": 1.0, "R": 1.0, "K": 1}, exactly=not one.strict)


def test_what_a_condition_reads_beside_known_numbers_has_no_edge(tmp_path: Path) -> None:
    assert edges(heavy_ball(tmp_path, "L <= K*mu", "R <= 2"), "mu", {"L": 1.0}) == []
    assert edges(heavy_ball(tmp_path), "mu", {"L": 1.0}) == []


def test_worst_cases_are_asked_at_the_edge_first(tmp_path: Path) -> None:
    first = next(worst_cases(Judge(heavy_ball(tmp_path, "L <= 25*mu"), float("inf"))))
    assert first.constants == {"mu": "0.04"}


@pytest.mark.nightly
def test_a_search_finds_that_polyak_s_heavy_ball_cycles(tmp_path: Path) -> None:
    found = falsify(heavy_ball(tmp_path, "L <= 25*mu"), limit=400)
    assert found.violated
    assert found.best is not None
    assert found.best.candidate.problem["type"] == "smoothed-max-affine"
    assert found.best.iterations <= 10


@pytest.mark.nightly
def test_a_mean_that_its_runs_do_not_have_is_no_violation(monkeypatch: pytest.MonkeyPatch) -> None:
    theorem = load_theorem("area.theorem8")
    assert falsify(theorem, limit=20).violated

    def differ(*_: object) -> None:
        raise UndecidedError("the search and the mean of its runs differ on the left side")

    monkeypatch.setattr(_result, "_require_runs_agree", differ)
    found = falsify(theorem, limit=20)
    assert not found.violated
    assert any("the mean of its runs differ" in why for why in found.refused)
