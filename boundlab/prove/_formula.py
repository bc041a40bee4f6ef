"""Formulas of theorems as numbers of the kernel."""

from collections.abc import Callable, Mapping
from fractions import Fraction

import sympy

from boundlab.prove._context import Context
from boundlab.prove._errors import REFUSED, ProofError
from boundlab.prove._scalars import Scalar, Symbol as Name, of_symbol, same, scalar, variable


def translate(
    formula: sympy.Expr,
    context: Context,
    known: Mapping[str, Scalar],
    roots: Mapping[str, Scalar],
    powers: Mapping[str, Scalar],
    defined: Mapping[str, sympy.Expr],
    exponents: Mapping[str, Scalar],
) -> Scalar:
    """Return a formula as an exact number.

    Parameters
    ----------
    context
        Decides which argument a Max or a Min is.
    known
        Values of symbols that stand for others.
    roots, powers
        Names of roots, with what they are the root of; names of numbers that are raised to symbolic powers, with the
        number.
    defined
        Symbols that the theorem defines by formulas.
    exponents
        Names of exponentials, with v of e^v in the theorem's own symbols.

    Raises
    ------
    ProofError
        If it holds what is neither.
    """

    def of(part: sympy.Expr) -> Scalar:
        if part.is_Rational:
            return scalar(Fraction(int(part.p), int(part.q)))
        if part.is_Symbol:
            if part.name in known:
                return known[part.name]
            if part.name in defined:
                return of(defined[part.name])
            if context.find(part.name) is None:
                raise ProofError(f"{part.name} is no symbol of the setting")
            return variable(part.name)
        if part.is_Mul and any(_is_root(one) for one in part.args):
            # √a·√b is one root: of ab.
            inside = [one.base**one.exp.p for one in part.args if _is_root(one)]
            rest = [one for one in part.args if not _is_root(one)]
            return _named(of(sympy.Mul(*inside)), roots, "root") * of(sympy.Mul(*rest))
        if part.is_Add or part.is_Mul:
            values = [of(one) for one in part.args]
            found = values[0]
            for one in values[1:]:
                found = found + one if part.is_Add else found * one
            return found
        if isinstance(part, (sympy.Max, sympy.Min)):
            return _extreme([of(one) for one in part.args], isinstance(part, sympy.Max), context, powers)
        if isinstance(part, sympy.exp):
            return _exponential(of(part.args[0]), exponents)
        if part.is_Pow:
            return power(part.base, part.exp)
        raise ProofError(f"{part} is no quotient of polynomials, and no root, power or exponential of one")

    def power(base: sympy.Expr, exponent: sympy.Expr) -> Scalar:
        if exponent.is_Integer:
            return of(base) ** int(exponent)
        if exponent.is_Rational and exponent.q == 2:
            return _named(of(base), roots, "root") ** int(exponent.p)
        own = of(base)
        try:
            return own ** of(exponent)
        except REFUSED:
            return _named(own, powers, "number with a symbolic power") ** of(exponent)

    return of(formula)


def _is_root(part: sympy.Expr) -> bool:
    return bool(part.is_Pow and part.exp.is_Rational and part.exp.q == 2)


def _named(value: Scalar, names: Mapping[str, Scalar], what: str) -> Scalar:
    for name, own in names.items():
        if same(own, value):
            return of_symbol(Name(name))
    raise ProofError(f"the {what} {value} has no name in the proof: give it one")


def _exponential(value: Scalar, names: Mapping[str, Scalar]) -> Scalar:
    """Return e^value as a whole power of an exponential that has a name."""
    for name, own in names.items():
        times = (value / own).constant
        if times is not None and times.denominator == 1:
            return of_symbol(Name(name)) ** times
    raise ProofError(f"e^({value}) is no whole power of an exponential that has a name in the proof: give it one")


def _extreme(values: list[Scalar], largest: bool, context: Context, names: Mapping[str, Scalar]) -> Scalar:
    sign: Callable[[Scalar, Scalar], Scalar] = (lambda a, b: a - b) if largest else (lambda a, b: b - a)
    for one in values:
        if all(_at_least_zero(sign(one, other), context, names) for other in values):
            return one
    which = "largest" if largest else "smallest"
    raise ProofError(f"which of {', '.join(map(str, values))} is the {which} is not shown: split the cases")


def _at_least_zero(value: Scalar, context: Context, names: Mapping[str, Scalar]) -> bool:
    """Return whether a number is shown to be ≥ 0: by itself, or by the range of its name in this case."""
    if context.nonnegative(value):
        return True
    for name, own in names.items():
        for signed in (1, -1):
            if same(own * signed, value) and context.nonnegative(of_symbol(Name(name)) * signed):
                return True
    return False
