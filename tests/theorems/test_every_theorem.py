"""What every registered theorem keeps: it asks for what it reads, its sides have the same units, and it is shown."""

import json
from typing import Any

import numpy as np
import pytest
import sympy
from theorem_points import values_at

from boundlab.errors import SymbolError
from boundlab.formulas import units
from boundlab.metrics import METRICS
from boundlab.registry import registered
from boundlab.theorems import Theorem

THEOREMS = registered("theorems")
EVERY = pytest.mark.parametrize("theorem", THEOREMS.values(), ids=THEOREMS)
SHAPES = {"area.theorem7", "fedcompass.corollary1", "fedfa.corollary", "afl_dga.corollary1"}

# Printed formulas whose two sides behave differently under f → c·f and x → s·x: term, step or condition → its degrees.
WRONG_TERMS = {
    # The left side is (0, 2): three terms lack 1/gamma², the one with L⁴ lacks 1/gamma⁴.
    "area.theorem7": {"noise": (2, -2), "synchronization": (2, -2), "mixed": (2, -2), "heterogeneity": (4, -6)},
    "fedcompass.corollary1": {"initial": (1, 0), "noise": (3, -4), "staleness": (4, -6)},
    "fedfa.theorem1.squared-smoothness": {"staleness and drift": (4, -6), "noise": (3, -4)},
    "fedfa.corollary": {"initial": (1, 0)},
}
WRONG_CONDITIONS = {"fedfa.theorem1.squared-smoothness": ["η_g·η_ℓ·Q ≤ 1/L_(2)"]}
WRONG_STEPS = {"fedfa.theorem1.squared-smoothness": {"eta_l": (-2, 4)}}


@pytest.mark.sweep(10)
@EVERY
def test_what_a_theorem_asks_for_is_what_it_takes_to_evaluate_it(theorem: Theorem) -> None:
    values = values_at(theorem)
    found = theorem.evaluate(values)
    assert float(found.total) > 0
    assert sum(float(term) for term in found.terms.values()) == pytest.approx(float(found.total))
    assert theorem.unused([name for name in values if name in theorem.inputs()]) == ()
    for name in theorem.inputs():
        rest = {other: value for other, value in values.items() if other != name}
        if name == "p" or (name in ("p_s", "p_min", "qbar") and "p" in values):
            continue  # these follow from p
        with pytest.raises(SymbolError, match=rf"{theorem.id} needs {name}: .*units .*; set {name}="):
            theorem.evaluate(rest)


@pytest.mark.sweep(8)
@EVERY
def test_it_prints_its_left_side_its_symbols_and_its_step(theorem: Theorem) -> None:
    latex = theorem.latex()
    assert latex.startswith(METRICS[theorem.metric].latex)
    assert r"\le" in latex or r"\mathcal{O}" in latex
    used = {one.name for term in theorem.bound.expressions().values() for one in term.free_symbols}
    assert all(theorem.symbols[name].latex in latex for name in used)
    letters = {name: r"\alpha_k" if name == "alpha" else theorem.symbols[name].latex for name in theorem.step}
    assert all(f"{letters[name]} = " in latex for name, rule in theorem.step.items() if str(rule) != name)
    assert json.loads(json.dumps(theorem.as_dict()))["id"] == theorem.id
    assert theorem.kind == theorem.evaluate(values_at(theorem)).kind == ("shape" if theorem.id in SHAPES else "bound")


def degrees(rule: sympy.Expr) -> tuple[sympy.Expr, ...] | None:
    """Return the degrees of function values and lengths: no registered theorem reads seconds."""
    found = units.degrees(rule)
    assert found is None or found[2] == 0
    return found and found[:2]


@pytest.mark.sweep(10)
@EVERY
def test_terms_steps_and_conditions_have_the_right_units_but_for_those_recorded(theorem: Theorem) -> None:
    found = {name: degrees(term) for name, term in theorem.bound.expressions().items()}
    wrong = {name: own for name, own in found.items() if own not in (METRICS[theorem.metric].units, None)}
    assert wrong == WRONG_TERMS.get(theorem.id, {})
    rules = {name: (degrees(rule), theorem.symbols[name].units) for name, rule in theorem.step.items()}
    wrong = {name: own for name, (own, right) in rules.items() if own != right and own is not None}
    assert wrong == WRONG_STEPS.get(theorem.id, {})
    for name, rule in theorem.definitions.items():
        assert degrees(rule) in (theorem.symbols[name].units, None), name
    sides = {one.statement: (degrees(one.quantity), degrees(one.limit)) for one in theorem.conditions}
    apart = [words for words, (left, right) in sides.items() if None not in (left, right) and left != right]
    assert apart == WRONG_CONDITIONS.get(theorem.id, [])


def test_only_printed_statements_have_wrong_units() -> None:
    assert {THEOREMS[name].status for name in (*WRONG_TERMS, *WRONG_CONDITIONS)} == {"as printed"}


@pytest.mark.sweep(21)
@pytest.mark.parametrize(("c", "s"), [(7.0, 1.0), (1.0, 3.0)])
@EVERY
def test_rescaling_f_or_x_rescales_the_number_by_the_units(theorem: Theorem, c: float, s: float) -> None:
    values: dict[str, Any] = values_at(theorem)
    if theorem.id in WRONG_CONDITIONS:  # a short step leaves room for sides that scale differently
        values |= {name: size / 400 for name, size in theorem.step_options(values).items() if name != "eta_g"}
    scaled = {
        name: np.asarray(value) * c ** theorem.symbols[name].units[0] * s ** theorem.symbols[name].units[1]
        for name, value in values.items()
    }
    a, b = METRICS[theorem.metric].units
    ratio = theorem.evaluate(scaled).total / theorem.evaluate(values).total
    assert (ratio == pytest.approx(c**a * s**b, rel=1e-9)) == (theorem.id not in WRONG_TERMS)
