"""What has no value is never met: neither a condition, nor a step, nor a definition, nor a bound."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy
from statements import statement

from boundlab.errors import AssumptionError, SilentError
from boundlab.formulas.defined import broken, demands, looked_at
from boundlab.formulas.parse import parse
from boundlab.formulas.symbols import SYMBOLS
from boundlab.registry import registered
from boundlab.theorems import Theorem

_NAMES = {name: info.symbol for name, info in SYMBOLS.items() if not info.vector}
_AT: dict[str, Any] = {"L": 2, "F0": 1, "alpha": 0.5, "T": 10, "tau_max": 0, "sigma": 0, "concurrency": 1, "S": 0}


def _theorem(folder: Path, *conditions: str, step: str = "alpha", term: str = "F0", **definitions: str) -> Theorem:
    return statement(
        folder,
        algorithm="async_sgd",
        metric="gradient-norm",
        assumptions="smooth bounded-below",
        conditions=conditions,
        step={"alpha": step},
        definitions=definitions,
        terms={"all": term},
    )


UNDEFINED = [
    "1/(4*L*sqrt(concurrency*tau_max))",
    "1/tau_max",
    "tau_max/tau_max",
    "tau_max**2/tau_max",
    "5*tau_max**0/tau_max",
    "1/(1/tau_max)",
    "1/(1 + 1/tau_max)",
    "max(1, 1/tau_max)",
    "1/(alpha*L - 1)",
    "tau_max**(-2)",
    "L**(1/tau_max)",
    "log(tau_max)/log(tau_max)",
    "log(1 + S)*0/S",
    "sqrt(tau_max - 1)**2",
    "min(tau_max/tau_max, 1)",
    "exp(1/sigma)",
    "min(1/tau_max, 1/sigma)",
    "min(1, 1/(1 + 1/tau_max))",
    "0/tau_max",
]
DEFINED = [
    "1/(1 + tau_max)",
    "sqrt(tau_max)",
    "min(1/L, 1/tau_max)",
    "sqrt(alpha*L - 1)",
    "tau_max**0.5",
    "1/exp(tau_max)",
    "exp(600)/L",
    "1/(10**(-60)*L)",
    "log(1 + tau_max)",
    "max(tau_max, 1)/L",
    "1/(L - 1)",
]


@pytest.mark.sweep(2)
@pytest.mark.parametrize("formula", UNDEFINED)
def test_what_divides_by_0_as_it_is_written_makes_a_theorem_not_applicable(formula: str, tmp_path: Path) -> None:
    """Also where SymPy has made 1 of tau_max/tau_max before anybody sees it."""
    for conditions, place in (
        ((f"alpha <= {formula}",), {}),
        ((f"{formula} <= alpha",), {}),
        ((), {"step": f"1/L + {formula}"}),
        ((), {"term": formula}),
        ((), {"A": formula, "term": "A*F0"}),
    ):
        if "step" in place and "alpha" in formula:
            continue
        theorem = _theorem(tmp_path, *conditions, **place)
        at = {name: value for name, value in _AT.items() if name != "alpha" or "step" not in place}
        for exactly in (True, False):
            with pytest.raises(AssumptionError, match=r"divides by 0|takes the logarithm|takes a root"):
                theorem.evaluate(at, exactly=exactly)


@pytest.mark.parametrize("formula", DEFINED)
def test_what_has_a_value_is_not_refused(formula: str, tmp_path: Path) -> None:
    assert np.isfinite(_theorem(tmp_path, term=formula).evaluate(_AT, exactly=True).total)


def test_the_words_say_where_and_what_to_do(tmp_path: Path) -> None:
    condition = "alpha <= 1/(4*L*sqrt(concurrency*tau_max))"
    theorem = _theorem(tmp_path, condition)
    with pytest.raises(AssumptionError, match=r"divides by 0, .* at tau_max = 0; say 1 <= tau_max or multiply it out$"):
        theorem.evaluate(_AT)
    assert theorem.evaluate(_AT | {"tau_max": 1, "alpha": 0.1}).total == 1.0
    guarded = _theorem(tmp_path, "1 <= tau_max", condition)
    with pytest.raises(AssumptionError):
        guarded.evaluate(_AT)


def test_what_overflows_is_not_undefined(tmp_path: Path) -> None:
    """3 ≤ e^1000 is true, e^1000 ≤ 3 is not, and neither divides by anything."""
    assert _theorem(tmp_path, "3 <= exp(50*L*T)").evaluate(_AT, exactly=True)
    with pytest.raises(AssumptionError, match="needs"):
        _theorem(tmp_path, "exp(50*L*T) <= 3").evaluate(_AT, exactly=True)
    with pytest.raises(AssumptionError, match="needs"):
        _theorem(tmp_path, "exp(60*L*T) <= exp(50*L*T)").evaluate(_AT, exactly=True)


def test_where_only_the_horizon_divides_by_0_other_horizons_have_a_value(tmp_path: Path) -> None:
    with pytest.raises(SilentError, match="divides by 0"):
        _theorem(tmp_path, term="F0/log(T)").evaluate(_AT | {"T": 1}, exactly=True)
    assert _theorem(tmp_path, term="F0/log(T)").evaluate(_AT | {"T": 2}, exactly=True).total > 1


def test_some_places_of_a_grid_have_no_value(tmp_path: Path) -> None:
    theorem = _theorem(tmp_path, term="F0/(1 - alpha*L)")
    assert theorem.evaluate(_AT | {"alpha": np.array([0.1, 0.2, 3.0])}).total.shape == (3,)
    with pytest.raises(AssumptionError, match=r"at L = 2, alpha = 0\.5; multiply it out"):
        theorem.evaluate(_AT | {"alpha": np.array([0.1, 0.5])})


@pytest.mark.sweep(10)
@pytest.mark.parametrize("name", sorted(registered("theorems")))
def test_a_registered_theorem_demands_no_more_than_its_formulas_hold(name: str) -> None:
    """In numbers, too: where a demand is broken the formula has no finite value in floating point, but for a Min."""
    theorem = registered("theorems")[name]
    for _, formula in theorem.formulas():
        assert {symbol for one in looked_at(demands(formula)) for symbol in one.of.free_symbols} <= formula.free_symbols


def test_a_formula_that_is_typed_demands_what_its_tree_does() -> None:
    for text in UNDEFINED:
        written: dict[sympy.Expr, Any] = {}
        formula = parse(text, _NAMES, "formula", written)

        def value(of: sympy.Expr) -> float:
            found = of.subs({one: _AT.get(one.name, 1) for one in of.free_symbols})
            return math.inf if found is sympy.zoo or found is sympy.oo else float(found)

        assert broken(written[formula], value)
