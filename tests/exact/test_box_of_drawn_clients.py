"""Where the algorithm draws its clients, moments stand for enumeration as long as no run leaves the quadratics."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from boundlab.case import read_case
from boundlab.exact import ExactResult, evaluate
from boundlab.expectation import _enumeration
from boundlab.theorems import load_theorem

READING = Path(__file__).parents[2] / "proofs" / "counterexamples" / "readings" / "fedfa.theorem1.uniform-client.toml"


def found(delta: str, rate: str, T: int, x0: str = "0") -> ExactResult:
    case: dict[str, Any] = {
        "theorem": "fedfa.theorem1.uniform-client",
        "algorithm": "gd",
        "problem": {"type": "huber", "c": [1, -1], "w": [1, 1], "delta": delta},
        "x0": [x0],
        "parameters": {"sampling": "uniform", "alpha": rate},
        "delays": "deterministic",
        "iterations": T,
    }
    return evaluate(load_theorem(READING), read_case(case, "case"))


def by_hand(delta: Fraction, rate: Fraction, T: int, x0: Fraction) -> Fraction:
    """Return the mean of f'(x_t)² over all sequences of clients."""
    models, left = [x0], Fraction(0)
    for _ in range(T):
        pairs = [[max(-delta, min(delta, x - c)) for c in (1, -1)] for x in models]
        left += sum((sum(pair) / 2) ** 2 for pair in pairs) / len(models) / T
        models = [x - rate * slope for x, pair in zip(models, pairs, strict=True) for slope in pair]
    return left


@pytest.mark.parametrize(
    ("delta", "rate", "x0", "stays"),
    [
        ("2", "1/4", "0", True),
        ("2", "1", "0", True),  # to ±1, where |x ∓ 1| is 2
        ("2", "1/4", "1/4", True),
        ("3/2", "1/2", "0", False),  # from ±1/2, where it is 3/2, to ±3/4
        ("2", "1/4", "5/4", False),
    ],
)
def test_moments_are_the_mean_over_all_sequences_and_are_taken_only_where_no_run_leaves_the_box(
    delta: str, rate: str, x0: str, stays: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_enumeration, "_MANY", 2)
    result = found(delta, rate, 4, x0)
    assert ("no run leaves the box" in result.method) is stays
    assert result.kind == "exact"
    assert result.left == float(by_hand(*map(Fraction, (delta, rate)), 4, Fraction(x0)))


def test_few_sequences_are_enumerated() -> None:
    result = found("2", "1/4", 4)
    assert "enumeration" in result.method
    assert result.left == float(by_hand(Fraction(2), Fraction(1, 4), 4, Fraction(0)))
