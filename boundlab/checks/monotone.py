"""Monotonicity: a class of problems that grows with a constant cannot have a smaller worst case."""

from collections.abc import Iterator
from fractions import Fraction
from functools import partial

import numpy as np
import sympy

from boundlab.checks._check import Check, Decision, View, asked, group
from boundlab.errors import BoundlabError, UndecidedError
from boundlab.formulas.enclose import enclose
from boundlab.formulas.symbols import names_of
from boundlab.signs import Direction, common, turned

_FACTORS = (sympy.Rational(11, 10), sympy.Integer(2), sympy.Integer(10))


@group("monotone", "worse constants do not lower the bound")
def checks(view: View) -> Iterator[Check]:
    """Check every one-sided constant, with the step held fixed."""
    zero = view.at_lowest
    found = False
    for name in view.inputs:
        info = view.symbols[name]
        given = info.role not in ("step", "short")  # what is chosen, or follows from others, has no worse side
        if given and info.side in ("upper", "lower") and not info.vector and name not in zero:
            found = True
            sign: Direction = 1 if info.side == "upper" else -1
            word = "larger" if sign == 1 else "smaller"
            statement = f"a {word} {name} does not lower the right side, the step held fixed where it is free"
            yield asked(f"monotone.{name}", statement, partial(_check, view, name, sign))
    if not found:
        yield Check("monotone", "worse constants do not lower the bound", "not applicable", "it has no such constant")


def _check(view: View, name: str, sign: Direction) -> Decision:
    if not view.formula:
        return _recursion(view, name, sign)
    symbol = view.symbol(name)
    trends = {part: _through(view, term, symbol) for part, term in view.terms.items()}
    open_terms = [part for part, trend in trends.items() if trend not in (0, sign)]
    if not open_terms:
        return Decision("passed", "" if any(trends.values()) else "it does not depend on it")
    chosen = [step for step in view.theorem.step if step not in view.free_steps]
    moved = [step for step in chosen if symbol in view.expand(view.symbol(step)).free_symbols]
    if moved:
        reason = f"the theorem's {', '.join(moved)} depends on {name}, so that the runs differ"
        return Decision("not applicable", reason)
    witness = _counterexample(view, name, sign)
    if witness:
        return Decision("suspicious", witness, "implies more")
    return Decision("unknown", f"no counterexample and no certificate for {', '.join(open_terms)}")


def _through(view: View, term: sympy.Expr, symbol: sympy.Symbol) -> Direction | None:
    """Return the trend of a term, through the definitions it uses; the whole is expanded if that fails."""
    rules = view.rules(frozenset(view.free_steps))
    memo: dict[str, Direction | None] = {}
    prover = view.prover()

    def of(name: str) -> Direction | None:
        if name == symbol.name:
            return 1
        if name not in rules:
            return 0
        if name not in memo:
            memo[name] = chain(rules[name])
        return memo[name]

    def chain(expression: sympy.Expr) -> Direction | None:
        return common(of_part(expression, name) for name in sorted(names_of(expression)))

    def of_part(expression: sympy.Expr, name: str) -> Direction | None:
        inner = of(name)
        outer = prover.direction(expression, view.symbol(name)) if inner else 0
        return None if inner is None or outer is None else turned(inner, outer) if outer else 0

    found = chain(term)
    return found if found is not None else prover.direction(view.expand(term), symbol)


def _counterexample(view: View, name: str, sign: Direction) -> str:
    """Return a point at which a worse constant has a smaller right side, by enclosures; '' if none is found."""
    integer = view.symbols[name].domain.integer
    for point in view.points:
        exact = {other: _near(float(value)) for other, value in point.items() if not view.symbols[other].vector}
        try:
            exact |= {step: view.at(view.symbol(step), exact) for step in view.free_steps}
        except UndecidedError:
            continue
        for factor in _FACTORS:
            worse = exact[name] + sympy.ceiling(factor) - 1 if integer else exact[name] * factor**sign
            try:
                witness = _lower(view, name, exact, worse)
            except UndecidedError:
                continue
            if witness:
                return witness
    return ""


def _lower(view: View, name: str, values: dict[str, sympy.Expr], worse: sympy.Expr) -> str:
    """Return in words that the worse constant has a smaller right side; '' if it has not, or conditions exclude it."""
    moved = {**values, name: worse}
    inside = view.symbols[name].domain.contains(np.asarray(float(worse)))
    if not inside or not (view.holds(values) and view.holds(moved)):
        return ""
    before, after = view.total(values), view.total(moved)
    if not enclose(after - before)[1] < 0:
        return ""
    shown = ", ".join(f"{other} = {value}" for other, value in values.items() if other != name)
    return (
        f"{name} = {values[name]} gives {sympy.N(before, 6)}, {name} = {worse} gives {sympy.N(after, 6)} at {shown}; "
        "what holds for the wider class holds for the narrower: the claim implies the smaller value for both"
    )


def _near(number: float) -> sympy.Rational:
    """Return a short rational near a float."""
    near = Fraction(number).limit_denominator(1000)
    return sympy.Rational(near.numerator, near.denominator)


def _recursion(view: View, name: str, sign: Direction) -> Decision:
    """Look for a counterexample among numbers; there is no proof."""
    tried = 0
    for point in view.points[:6]:
        try:
            fixed = {**point, **view.theorem.step_options(point)}
            fixed = {
                key: value
                for key, value in fixed.items()
                if key not in view.theorem.defining() or key in view.theorem.settable
            }
            value = fixed[name]
            worse = value + 1 if view.symbols[name].domain.integer else value * (1.1 if sign == 1 else 0.9)
            before, after = (float(view.theorem.evaluate({**fixed, name: one}).total) for one in (value, worse))
        except BoundlabError:
            continue
        tried += 1
        if after < before * (1 - 1e-9):
            shown = ", ".join(f"{key} = {number}" for key, number in fixed.items())
            witness = f"{name} = {worse:.6g} gives {after:.9g} < {before:.9g} at {shown} (numeric)"
            return Decision("suspicious", witness, "implies more")
    return Decision("unknown", f"iterated numerically: no counterexample at {tried} points")
