"""The exact values of a theorem's symbols are the floats that every other judge reads."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy

from boundlab.algorithms import EventLaw
from boundlab.arithmetic.numbers import InexactError
from boundlab.arithmetic.problem import root
from boundlab.case import build_delays, read_case
from boundlab.delays import frequencies, read_policy
from boundlab.exact import evaluate
from boundlab.exact._engine import _frequencies, _number
from boundlab.formulas.enclose import Formulas, KnownNumber
from boundlab.instance.from_case import plan_of
from boundlab.theorems import load_theorem

pytest.importorskip("flint")

HUBER = {"type": "huber", "c": [0, 1, "7/2"], "w": [1, 2, 1], "sigma": 0}
AREA = {"algorithm": "area", "problem": HUBER, "x0": "13/3", "parameters": {"M": 2, "alpha": "1/7"}, "iterations": 4}
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "iid, p": ("area.theorem8.repaired.fixed-step", {**AREA, "delays": {"type": "iid", "p": ["1/2", "1/5", "1/10"]}}),
    "iid, p_s": ("area.theorem8.repaired.fixed-step", {**AREA, "delays": "iid:p_s=0.3"}),
    "iid": ("area.theorem8.algorithm-start", {**AREA, "delays": "iid"}),
    "own step": ("area.theorem8", {**AREA, "parameters": {"M": 2}, "delays": "iid:p_s=0.3"}),
    "rates": (
        "area.theorem8.repaired.fixed-step",
        {**AREA, "delays": {"type": "exponential", "rates": [2, 1, 0.5]}, "server": "poisson:rate=1.5"},
    ),
    "moments": (
        "area.theorem7.explicit",
        {
            "algorithm": "area",
            "x0": [4, -1],
            "iterations": 3,
            "delays": "iid:p_s=0.4",
            "problem": {
                "type": "quadratic",
                "A": [[[1, 0], [0, 2]], [[2, 0], [0, 1]]],
                "b": [[0, 1], [3, 1]],
                "sigma": "1/2",
            },
            "parameters": {"M": 1, "D": "1/3"},
        },
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_exact_symbols_and_the_exact_bound_are_those_of_floats(name: str) -> None:
    theorem_id, fields = CASES[name]
    theorem, case = load_theorem(theorem_id), read_case(fields, has_theorem=True)
    found, plan = evaluate(theorem, case), plan_of(theorem, case)
    known = {**plan.values, **plan.parameter_values}
    if "p" in known:
        p, p_s = np.asarray(known["p"]), float(known["p_s"])
        known |= {"p_min": min(*p, p_s), "qbar": float((1 / p).mean())}
    for symbol, value in found.values.items():
        if symbol in known and symbol != theorem.horizon_symbol:
            exact = float(Fraction(value)) if isinstance(value, str) and "sqrt" not in value else None
            assert exact is None or exact == pytest.approx(float(known[symbol]), rel=1e-12), symbol
    assert {"n", "p_s", "qbar"} <= set(found.values) or name == "moments"
    assert found.right == pytest.approx(float(plan.bound[-1]), rel=1e-12)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_under_a_count_frequencies_are_long_run_fractions_of_all_iterations(count: int) -> None:
    rates = [Fraction(2), Fraction(1), Fraction(1, 2)]
    law = EventLaw(np.array([rate / sum(rates) for rate in rates], dtype=object), Fraction(0))
    found = {name: float(value.exact) for name, value in _frequencies(law, count).items()}
    delays = build_delays("exponential", {"rates": [float(rate) for rate in rates]}, 3)
    p, p_s = frequencies(delays, read_policy(f"count:every={count}", delays))
    assert found == pytest.approx({"n": 3, "p_s": p_s, "p_min": min(*p, p_s), "qbar": (1 / p).mean()}, rel=1e-14)


@pytest.mark.parametrize(
    ("x", "sign"),
    [
        (KnownNumber.of(0), 0.0),
        (KnownNumber(sympy.sqrt(2)), 1.0),
        (KnownNumber(-sympy.sqrt(2)), -1.0),
        (KnownNumber(None, 1.0, 0.5), 1.0),
        (KnownNumber(None, -1.0, 0.5), -1.0),
        (KnownNumber(None, 1.0, 2.0), None),
        (KnownNumber(None, 0.0, 1e-16), None),
    ],
)
def test_a_number_that_is_known_up_to_rounding_has_a_sign_only_where_that_is_told(
    x: KnownNumber, sign: float | None
) -> None:
    formulas = Formulas({"x": x}, {})
    if sign is None:
        with pytest.raises(InexactError, match="whether x is 0 is not decided"):
            _number(sympy.Symbol("x"), formulas)
    else:
        assert _number(sympy.Symbol("x"), formulas) == sign


# SymPy factors what stands under a root, and asks for the logarithm of a square that is left: these have none, for they
# are larger than any float.
SQUARE = Fraction((2**521 - 1) * (2**607 - 1)) ** 2
LONG = {"a": (2**2203 - 1) / (6 * SQUARE), "b": 20 * SQUARE / (3 * (2**2203 - 1))}


@pytest.mark.parametrize("square", [*LONG.values(), Fraction(8, 3), Fraction(0)])
def test_the_square_of_a_root_is_the_number_however_long(square: Fraction) -> None:
    assert root(square) ** 2 == sympy.Rational(square.numerator, square.denominator)
    assert float((KnownNumber(root(square)).ball() ** 2).mid()) == pytest.approx(float(square), rel=1e-12)


@pytest.mark.parametrize("text", ["a**2", "a**2*b**2", "a*b", "a + b", "2*a/b", "a**2 + 1", "(a + 1)*(b - 1)"])
def test_a_formula_of_roots_of_long_numbers_has_a_value(text: str) -> None:
    formula = sympy.sympify(text)
    formulas = Formulas({name: KnownNumber(root(square)) for name, square in LONG.items()}, {})
    value = eval(text, {name: math.sqrt(square) for name, square in LONG.items()})  # noqa: S307  (ours)
    exact = formulas.exact(formula)
    assert float(formulas.ball(formula).mid()) == pytest.approx(value, rel=1e-12)
    assert exact is None or float(exact.evalf(30)) == pytest.approx(value, rel=1e-12)
    assert exact is not None or "**2" not in text
