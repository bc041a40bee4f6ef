"""The battery: true theorems that no tool may call false, and false ones that the tools should see through.

What is true and what is false is the word of ``referee``, which shares no code with boundlab.
"""

import ast
import contextlib
import json
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from benchmark_scripts import load
from referee.claims import Claim, SilentError, sides
from referee.formula import value
from referee.instances import draw, worst
from referee.mutants import WITNESSES, Mutant, read_mutants, true_claims
from referee.tools import TOOLS

TRUE = true_claims()
FALSE = [raw["id"] for raw in json.loads(WITNESSES.read_text(encoding="utf-8"))]
SURVIVORS = json.loads((Path(__file__).parent / "survivors.json").read_text(encoding="utf-8"))
# What make test asks the tools about; make nightly asks about everything.
SAMPLE_TRUE = ("sgd-gap-decreasing", "subgradient-free", "async-any-step")
SAMPLE_FALSE = ("subgradient.1", "subgradient-free.2", "proximal-strong.3")
REFEREE = Path(__file__).parent / "referee"
# Some function of the class, in one dimension, makes the left side as large as the right one.
ATTAINED = ("gd-last", "gd-strong-kappa", "gd-average", "incremental", "proximal-strong", "sgd-gap", "async-one")


@cache
def false() -> dict[str, Mutant]:
    """Return the false theorems by their ids."""
    return {mutant.id: mutant for mutant in read_mutants()}


@cache
def scores() -> ModuleType:
    """Return the script that asks the tools."""
    return load("battery_scores")


def answers(claim: Claim, folder: Path, tools: tuple[str, ...], candidates: int) -> list[object]:
    """Ask tools about a claim, in a folder where they may leave files."""
    path = folder / "theorem.toml"
    path.write_text(claim.text(), encoding="utf-8")
    with contextlib.chdir(folder):
        return list(scores().ask(claim, path, tools, candidates))


# ---------------------------------------------------------------------------------------------- the referee


def test_the_referee_imports_nothing_of_boundlab() -> None:
    for path in REFEREE.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                imported = [node.module or ""]
            else:
                continue
            assert not any(name.split(".")[0] == "boundlab" for name in imported), path.name


def test_formulas_have_their_usual_values() -> None:
    assert value("2*K**2/(n + 1) - sqrt(max(4, M))", {"K": 3.0, "n": 2.0, "M": 9.0}) == 3.0


def test_the_minimiser_is_where_the_gradient_vanishes() -> None:
    random = np.random.default_rng(1)
    for name in ("gd-last", "sgd-lipschitz", "gd-strong-exp"):
        for _ in range(50):
            instance = draw(TRUE[name][0], random)
            functions = instance.functions
            best = functions.nearest_minimiser(instance.x0)
            near = [functions.value(best + step) for step in (-1e-3, 1e-3, -1.0, 1.0)]
            assert functions.value(best) <= min(near) + 1e-12


@pytest.mark.nightly
def test_there_are_enough_theorems_and_mutants_of_every_slip() -> None:
    assert len(TRUE) >= 60
    assert len(FALSE) >= 150
    assert len({mutant.slip for mutant in false().values()}) >= 13


@pytest.mark.sweep(9)
@pytest.mark.parametrize("name", TRUE)
def test_a_true_theorem_has_a_source_and_a_proof(name: str) -> None:
    data = TRUE[name][0].data
    assert data["paper"]
    assert data["place"]
    assert data["note"].strip()
    assert data["id"] == f"battery.{name}"


@pytest.mark.sweep(9)
@pytest.mark.parametrize("count", [8, pytest.param(1000, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("name", TRUE)
def test_no_instance_of_the_referee_contradicts_a_true_theorem(name: str, count: int) -> None:
    found = worst(TRUE[name][0], np.random.default_rng(7), count)
    assert found is not None or count == 8
    assert found is None or found[0].ratio <= 1 + 1e-9


@pytest.mark.parametrize("name", ATTAINED)
def test_the_referee_attains_tight_bounds(name: str) -> None:
    found = worst(TRUE[name][0], np.random.default_rng(3), 200, 1 - 1e-9)
    assert found is not None
    assert found[0].ratio == pytest.approx(1.0)


@pytest.mark.sweep(24)
@pytest.mark.parametrize("name", FALSE)
def test_the_witness_of_a_mutant_contradicts_it_and_not_its_theorem(name: str) -> None:
    mutant = false()[name]
    found = mutant.sides()
    assert found.left == pytest.approx(mutant.left, rel=1e-6)
    assert found.bound == pytest.approx(mutant.bound, rel=1e-6, abs=1e-12)
    assert found.ratio > 1.002
    with contextlib.suppress(SilentError):
        assert sides(TRUE[mutant.theorem][0], mutant.witness).ratio <= 1 + 1e-9


# ------------------------------------------------------------------------------------------------- the tools


def stands(claim: Claim, folder: Path, tools: tuple[str, ...], candidates: int) -> None:
    """Assert that no tool calls the claim false, refuses it or breaks over it."""
    for answer in answers(claim, folder, tools, candidates):
        assert not answer.refutes, answer
        # A check that fails without saying that the claim is false ends with 1, too: a vacuous theorem may be true.
        assert answer.code in (0, 1, 3), answer


@pytest.mark.nightly
@pytest.mark.parametrize("name", SAMPLE_TRUE)
def test_no_tool_speaks_against_a_true_theorem(name: str, tmp_path: Path) -> None:
    stands(TRUE[name][0], tmp_path, ("check", "falsify", "compare"), 30)


@pytest.mark.parametrize("name", SAMPLE_FALSE)
def test_a_tool_sees_through_a_mutant(name: str, tmp_path: Path) -> None:
    found = answers(false()[name].claim, tmp_path, ("check", "falsify"), 100)
    assert any(answer.refutes for answer in found), found


def test_few_mutants_are_known_to_survive() -> None:
    assert set(SURVIVORS) <= set(FALSE)
    assert len(SURVIVORS) <= 0.05 * len(FALSE)
    assert all(SURVIVORS.values()), "a survivor without a reason"


@pytest.mark.nightly
@pytest.mark.parametrize("name", TRUE)
def test_no_tool_speaks_against_any_true_theorem(name: str, tmp_path: Path) -> None:
    stands(TRUE[name][0], tmp_path, TOOLS, 300)


@pytest.mark.nightly
@pytest.mark.parametrize("name", FALSE)
def test_some_tool_sees_through_every_mutant_but_the_known_survivors(name: str, tmp_path: Path) -> None:
    found = answers(false()[name].claim, tmp_path, TOOLS, 300)
    assert any(answer.refutes for answer in found) == (name not in SURVIVORS), found
