"""The right side as a rational number, or between two: at the very numbers that the program is written with."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, final

import sympy

from boundlab.arithmetic import numbers
from boundlab.arithmetic.rational import Formula, exact
from boundlab.errors import BoundlabError, SpecError
from boundlab.formulas.assignments import of_arrivals
from boundlab.formulas.known_numbers import Formulas, KnownNumber, known_value
from boundlab.formulas.symbols import symbol
from boundlab.instance.enclosed import left_side, right_sides
from boundlab.metrics import Metric
from boundlab.theorems import Condition, Theorem

_BITS = 512  # irrational bounds are told from rational values that differ by more than 2⁻⁵⁰⁰
_FAR = 1e-6

Kind = Literal["exact", "certified", "numeric"]


@final
@dataclass(frozen=True, slots=True)
class RightSide:
    """A bound between two rational numbers.

    Parameters
    ----------
    low, high
        The bound lies between them; for ``exact`` they are equal.
    kind
        ``exact``: rational. ``certified``: enclosed. ``numeric``: between two evaluations that differ.
    """

    low: Fraction
    high: Fraction
    kind: Kind

    @property
    def exact(self) -> Fraction | None:
        """The bound where it is a rational number."""
        return self.low if self.kind == "exact" else None


@final
@dataclass(frozen=True, slots=True)
class RootStep:
    """A step size that is a square root, where its product with the bound is rational.

    Parameters
    ----------
    name
        Its option.
    square
        The step size squared.
    product
        The step size times the bound, both as the formulas give them.
    """

    name: str
    square: Fraction
    product: Fraction


@final
@dataclass(frozen=True, slots=True)
class Exactly:
    """A theorem at the rational numbers with which its run is made.

    Parameters
    ----------
    left
        The left side, with the numbers of its weights.
    right
        The right side.
    steps
        What step sizes stand for as the theorem's formulas give them, by the option.
    broken
        A condition that these numbers do not meet, in words, or ''.
    root
        The step size as its formula gives it, where that is a square root.
    """

    left: Metric
    right: RightSide
    steps: Mapping[str, Formula]
    broken: str
    root: RootStep | None


def exactly(theorem: Theorem, values: Mapping[str, Any], options: Mapping[str, Any], bound: float) -> Exactly:
    """Evaluate a theorem in rational numbers.

    Parameters
    ----------
    values
        Symbols, the counter among them; floats are read as the program reads them.
    options
        Of the algorithm, step sizes among them.
    bound
        The right side in floating point.
    """
    known = {name: known_value(value, lambda one: KnownNumber.of(exact(one).value)) for name, value in values.items()}
    known |= {name: KnownNumber.of(value) for name, value in _arrivals(theorem, values).items()}
    rules = {name: rule for name, rule in theorem.defining().items() if name not in known}
    formulas = Formulas(known, rules)
    steps: dict[str, Formula] = {}
    root = None
    for name in theorem.step:
        found = formulas.exact(_symbol(theorem, name)) if name in rules and name in options else None
        if found is None:
            continue
        about = float(options[name])
        if not found.is_Rational:
            root, steps[name] = _root(theorem, name, formulas, found), ("about", about)
        elif abs(float(found) - about) <= _FAR * abs(about):
            steps[name] = _fraction(found)
    left = left_side(theorem, lambda: formulas, int(values[theorem.horizon_symbol]))
    return Exactly(left, _right(theorem, formulas, values, bound), steps, _first_broken(theorem, formulas), root)


def _symbol(theorem: Theorem, name: str) -> sympy.Symbol:
    return theorem.symbols[name].symbol if name in theorem.symbols else symbol(name)


def _root(theorem: Theorem, name: str, formulas: Formulas, step: sympy.Expr) -> RootStep | None:
    square = sympy.expand(step**2)
    if not theorem.bound.closed or not square.is_Rational:
        return None
    product = formulas.exact(step * sympy.Add(*theorem.bound.expressions().values()))
    if product is None or not product.is_Rational:
        return None
    return RootStep(name, _fraction(square), _fraction(product))


def _first_broken(theorem: Theorem, formulas: Formulas) -> str:
    absent = theorem.bound.gone(frozenset(formulas.values))
    return next((words for one in theorem.conditions if (words := _broken(one, formulas, absent))), "")


def _arrivals(theorem: Theorem, values: Mapping[str, Any]) -> dict[str, Fraction]:
    """Return n, p_s, p_min and qbar of independent events."""
    if "p" not in values or "iid-events" not in theorem.core.assumed:
        return {}
    p = [exact(float(one)).value for one in values["p"]]
    return {name: Fraction(value) for name, value in of_arrivals(p, 1 - sum(p)).items()}


def _right(theorem: Theorem, formulas: Formulas, values: Mapping[str, Any], bound: float) -> RightSide:
    about = Fraction(bound)
    if not theorem.bound.closed:
        arrivals = {name: float(value) for name, value in _arrivals(theorem, values).items()}
        ends = right_sides(theorem, [{**arrivals, **values}], ())
        return RightSide(Fraction(float(ends.lower[0])), Fraction(float(ends.upper[0])), "certified")
    total = sympy.Add(*theorem.bound.expressions().values())
    found = formulas.exact(total)
    if found is not None and found.is_Rational:
        value = _fraction(found)
        side = RightSide(value, value, "exact")
    else:
        try:
            side = RightSide(*_enclosed(formulas, total), "certified")
        except (BoundlabError, ValueError) as error:
            raise SpecError(f"{theorem.id}: the bound is not enclosed here: {error}") from None
    if abs(side.low - about) <= Fraction(_FAR) * abs(about):
        return side
    # Both are evaluations of one formula: where they differ, neither is taken for the bound.
    return RightSide(min(side.low, about), max(side.high, about), "numeric")


def _enclosed(formulas: Formulas, expression: sympy.Expr) -> tuple[Fraction, Fraction]:
    with numbers.digits(_BITS):
        found = formulas.ball(expression)
        if not found.is_finite():
            raise ValueError("not finite")
        middle, radius = numbers.fraction(found.mid().fmpq()), numbers.fraction(found.rad().fmpq())
    return middle - radius, middle + radius


def _broken(condition: Condition, formulas: Formulas, absent: frozenset[str]) -> str:
    """Return the condition where it certainly fails, by however little, else ''."""
    if {one.name for side in (condition.quantity, condition.limit) for one in side.free_symbols} & absent:
        return ""
    left, right = formulas.exact(condition.quantity), formulas.exact(condition.limit)
    if left is not None and right is not None and left.is_Rational and right.is_Rational:
        fails = not condition.meets(left, right)
    else:
        try:
            fails = not condition.meets(
                _enclosed(formulas, condition.quantity)[0], _enclosed(formulas, condition.limit)[1]
            )
        except (BoundlabError, ValueError):
            return ""  # the evaluation in floating point has decided it
    return condition.statement if fails else ""


def _fraction(value: sympy.Rational) -> Fraction:
    return Fraction(int(value.p), int(value.q))
