"""A search looks where the theorem's own inequalities are met, or names those that no instance was found to meet."""

from pathlib import Path

import pytest

from boundlab.falsify import Falsification, falsify
from boundlab.theorems import load_theorem

GD = """id = "far"
algorithm = "gd"
metric = "squared-distance"
assumptions = ["strongly-convex", "smooth"]
conditions = CONDITIONS
[step]
alpha = "1/L"
[terms]
main = "TERM"
"""
BUFFERED = """id = "far"
algorithm = "fedbuff"
metric = "gradient-norm"
assumptions = ["smooth", "bounded-variance"]
conditions = CONDITIONS
[step]
eta_l = "eta_l"
eta_g = "1"
[terms]
main = "TERM"
"""
AREA = """id = "far"
algorithm = "area"
metric = "ergodic-gap"
assumptions = ["lipschitz", "bounded-variance", "iid-events"]
conditions = CONDITIONS
[options]
start = "analysis"
[step]
alpha = "alpha"
[definitions]
A = "(1/p_s + 2*qbar)*R**2"
[terms]
main = "TERM"
"""
HALF, RATE = "R**2/2", "(1 - mu/L)**(2*K)*R**2"
TRUE_AREA = "A/(2*alpha*M*K) + alpha*(sigma**2 + M*B**2)/2"
FALSE = "badly conditioned"
MET = {
    FALSE: (GD, '["10**5*mu <= L"]', HALF),
    "within a factor": (GD, '["300*mu <= L", "L <= 310*mu"]', HALF),
    "far away": (GD, '["10**5*mu <= L", "10**6 <= R"]', HALF),
    "a late horizon and a small L": (GD, '["500 <= K", "L <= 1/10**6"]', RATE),
    "much noise, small steps, stale": (
        BUFFERED,
        '["50*L <= sigma_l", "eta_l*L <= 1/1000", "40 <= tau_max"]',
        "F0/(eta_l*T)",
    ),
    "long rounds and few aggregations": (AREA, '["200 <= M", "R <= 1/1000", "p_s <= 1/50"]', TRUE_AREA),
}


def searched(folder: Path, statement: tuple[str, str, str], limit: int = 20) -> Falsification:
    text, conditions, term = statement
    path = folder / "far.toml"
    path.write_text(text.replace("CONDITIONS", conditions).replace("TERM", term), encoding="utf-8")
    return falsify(load_theorem(str(path)), limit=limit)


@pytest.mark.nightly
@pytest.mark.parametrize("words", sorted(MET))
def test_instances_meet_the_conditions(words: str, tmp_path: Path) -> None:
    found = searched(tmp_path, MET[words])
    assert sum(found.tried.values()) >= 3
    assert found.best is not None
    assert not found.unmet
    if words == FALSE:
        assert found.violated
        assert found.best.constants["L"].value >= 1e5 * found.best.constants["mu"].value


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("conditions", "unmet"),
    [
        ('["L <= mu/2"]', "L ≤ mu/2"),
        ('["10*mu <= L", "R <= 0*L"]', "R ≤ 0*L"),
    ],
)
def test_what_nothing_meets_is_named(conditions: str, unmet: str, tmp_path: Path) -> None:
    found = searched(tmp_path, (GD, conditions, HALF))
    assert (found.best, found.tried) == (None, {})
    assert unmet in found.unmet
    assert unmet in found.as_dict()["unmet"]
