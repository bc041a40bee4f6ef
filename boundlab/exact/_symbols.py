"""The values of a theorem's symbols for a case, exactly where they are known so."""

from collections.abc import Mapping
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import sympy

from boundlab.algorithms import EventLaw
from boundlab.arithmetic import numbers
from boundlab.arithmetic.exactly import exact_array
from boundlab.arithmetic.problem import AtMinimum, RationalProblem, root
from boundlab.assumptions import FIXED_TIMES, definers
from boundlab.case import Case, RandomEvents, plain
from boundlab.delays import IndependentEvents
from boundlab.errors import FormulaError
from boundlab.expectation import exact_event_law
from boundlab.formulas.assignments import of_arrivals
from boundlab.formulas.known_numbers import Formulas, KnownNumber, KnownVector, known_value
from boundlab.formulas.parse import parse
from boundlab.formulas.symbols import SYMBOLS
from boundlab.instance.enclosed import known_number
from boundlab.instance.from_case import given, own_rates
from boundlab.instance.plan import Plan
from boundlab.theorems import read_off_runs

_LAST_BIT = float(np.finfo(np.float64).eps) / 2


def exact_law(case: Case, plan: Plan) -> EventLaw[Fraction] | None:
    """Return the probabilities of random events as rational numbers, or None where they have none."""
    if not isinstance(case.events, RandomEvents):
        return None
    delays, policy = case.events.delays, case.events.policy
    n = case.problem.n
    if isinstance(delays, IndependentEvents):
        raw = _options(case.raw.get("delays"))
        if "p" in raw:
            p = tuple(_list(raw["p"]))
            p_s = numbers.read_number(raw["p_s"], "p_s") if "p_s" in raw else 1 - sum(p, Fraction(0))
        else:
            p_s = numbers.read_number(raw["p_s"], "p_s") if "p_s" in raw else Fraction(1, n + 1)
            p = ((1 - p_s) / n,) * n
        if sum(p, p_s) == 1:
            return EventLaw(np.array(p, dtype=object), p_s)
    return exact_event_law(delays, policy, counted=count_of(plan) is not None)


def count_of(plan: Plan) -> int | None:
    """Return after how many arrivals the server aggregates, where a count says so."""
    found: int | None = getattr(plan.parameters, "count", None)
    return found


def _options(raw: Any) -> Mapping[str, Any]:
    from boundlab.options import parse_spec

    if isinstance(raw, dict):
        return raw
    return parse_spec(str(raw), "delays")[1]


def _list(raw: Any) -> list[Fraction]:
    entries = raw if isinstance(raw, list) else str(raw).strip().strip("[]").replace(",", " ").split()
    return [numbers.read_number(entry, "p") for entry in entries]


def formulas(plan: Plan, case: Case, model: RationalProblem, law: EventLaw[Fraction] | None) -> Formulas:
    """Return all symbols with values, and the rules of the others.

    Parameters
    ----------
    model
        The problem, whose constants are known exactly.
    """
    constants = model.constants()
    own, chosen = own_rates(plan.theorem, case), given(case)
    scheduled = set(plan.values) - set(plan.fixed)
    values: dict[str, KnownNumber | KnownVector] = {}
    for name, value in plan.values.items():
        if name in plan.theorem.step and name not in scheduled and (name not in chosen or name in own):
            continue  # follows from its formula
        if np.ndim(value):
            if plan.theorem.symbols[name].role == "schedule" and FIXED_TIMES not in definers(name):
                continue  # what follows from p is known by what p is made of
            best = model.minimum() if name == "G_star" else None
            if best is not None:
                there, zero = AtMinimum.of(model, best), exact_array([0] * model.d)
                squares = (numbers.fraction(there.squared_control(zero, i)) for i in range(model.n))
                values[name] = KnownVector(tuple(KnownNumber(root(one)) for one in squares))
                continue
            values[name] = known_value(value, partial(known_number, rounded=name in scheduled))
            continue
        values[name] = _known_number(name, float(value), plan, constants, scheduled)
    for name, value in chosen.items():
        if name in values and name not in own and (found := read_formula(value)) is not None:
            values[name] = KnownNumber(found)
    counter = plan.theorem.horizon_symbol
    values[counter] = KnownNumber.of(int(plan.ks[-1]))
    if plan.theorem.horizon == "fixed":
        values[counter] = KnownNumber.of(plan.iterations)
    if law is not None:
        values |= _frequencies(law, count_of(plan)) if plan.algorithm.server == "any" else {}
    rules = {name: rule for name, rule in plan.theorem.defining().items() if name not in values}
    return Formulas(values, rules)


def _known_number(
    name: str, value: float, plan: Plan, constants: Mapping[str, sympy.Expr], scheduled: set[str]
) -> KnownNumber:
    if name in read_off_runs(plan.theorem):
        return KnownNumber(None, value, _LAST_BIT)  # an upper limit, and so is a number that is a last bit smaller
    if name in constants:
        return KnownNumber(constants[name])
    if value == 0.0 or (name in SYMBOLS and SYMBOLS[name].domain.integer):
        return KnownNumber.of(Fraction(value))
    if name in plan.constants or name in scheduled:
        return known_number(value, rounded=name in scheduled)
    return KnownNumber.of(Fraction(repr(value)))


def _frequencies(law: EventLaw[Fraction], count: int | None) -> dict[str, KnownNumber]:
    """Return n, p_s, p_min and qbar; where a count aggregates, the long-run fractions."""
    p, p_s = law.p.tolist(), law.p_s
    if count is not None:
        total = sum(p, Fraction(0))
        p_s = Fraction(1, count + 1)
        p = [one / total * (1 - p_s) for one in p]
    return {name: KnownNumber.of(value) for name, value in of_arrivals(p, p_s).items()}


def read_formula(value: Any) -> sympy.Expr | None:
    """Return a parameter as an exact SymPy number, or None if it is a word."""
    if isinstance(value, bool) or not isinstance(plain(value), (int, float)):
        return None
    if isinstance(value, str):
        try:
            found: sympy.Expr = parse(value, {})
        except FormulaError:  # a number of more digits than formulas have
            exact = numbers.read_number(value, "a parameter")
        else:
            return found
    else:
        exact = Fraction(repr(value))
    return sympy.Rational(exact.numerator, exact.denominator)
