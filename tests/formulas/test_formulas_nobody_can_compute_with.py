"""Formulas that are too large, too deep or without a rule: each question has an answer or says why not."""

import random
from pathlib import Path
from typing import Any

import pytest

from boundlab.cli import invoke

HEAD = """id = "any"
algorithm = "gd"
metric = "gap"
assumptions = ["convex", "smooth", "minimiser", "deterministic"]
[step]
alpha = "1/L"
[terms]
bound = "FORMULA"
"""
FOUND = [
    "exp(exp(K))",  # infinite at each K, and reads nothing else
    "Prod(2**k, k, 1, 2000)",
    "L*R**2/Prod(2**k, k, 1, 200)",  # with more digits than Python writes
    "L*R**2*Prod(2**k, k, 1, 400)/K",
    "L*R**2*Sum(i, i, 1, 5000) + L*R**2*Sum(i**2, i, 1, 5000)",
    "L*R**2*Sum(Sum(1/(i + j), j, 1, K), i, 1, K)",
    "L*R**2/Sum(Sum(j, j, 1, i), i, 1, K)",
]


def formula(rng: random.Random, depth: int, names: list[str]) -> str:
    """Draw a formula without units from the grammar: folds in folds, powers, exponentials, and choices."""
    if depth == 0:
        return rng.choice([*names, "K", "1", "2", "3/7", "1/(K + 1)"])
    one, two = (formula(rng, depth - 1, names) for _ in range(2))
    index = f"i{len(names)}"
    inner = formula(rng, depth - 1, [*names, index])
    last = rng.choice(["K", "3", "40", "5000", *names])
    return rng.choice(
        [
            f"({one} + {two})",
            f"({one})*({two})",
            f"({one})/(1 + ({two})**2)",
            f"exp(-({one}))",
            f"exp({one})",
            f"Min({one}, {two})",
            f"If(K <= 3, {one}, {two})",
            f"Sum({inner}, {index}, 1, {last})",
            f"Prod(1 - 1/(2 + ({inner})**2), {index}, 1, {last})",
            f"MaxOver({inner}, {index}, 0, {last})",
        ]
    )


def asked(text: str, folder: Path, capsys: Any, commands: list[list[str]]) -> None:
    path = folder / "any.toml"
    path.write_text(HEAD.replace("FORMULA", text), encoding="utf-8")
    for words in commands:
        code = invoke([words[0], str(path), *words[1:]])
        said = "".join(capsys.readouterr())
        assert code in (0, 1, 2, 3, 4), (text, words, said)
        assert "Traceback" not in said
        assert code != 2 or len(said.strip().splitlines()) == 1, (text, words, said)


SHOW = ["show"]
EVAL = ["eval", "--set", "L=1", "--set", "R=1", "--set", "K=3"]
FALSIFY = ["falsify", "--budget", "0.2", "--jobs", "1"]


@pytest.mark.sweep(7)
@pytest.mark.parametrize("text", FOUND)
def test_each_question_has_an_answer(text: str, tmp_path: Path, capsys: Any, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    asked(text, tmp_path, capsys, [SHOW, EVAL, FALSIFY, ["check", "--only", "units,scope,limits"]])


@pytest.mark.sweep(6)
@pytest.mark.parametrize("seed", range(6))
def test_formulas_at_random_crash_nothing(seed: int, tmp_path: Path, capsys: Any, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    rng = random.Random(seed)  # noqa: S311  (no secret)
    for place in range(4):  # a search takes the longest by far: of one formula
        asked(
            f"L*R**2*({formula(rng, 2, [])})",
            tmp_path,
            capsys,
            [SHOW, EVAL, *([FALSIFY] if place == 0 else []), ["check", "--only", "units,limits"]],
        )
