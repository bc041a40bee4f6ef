"""Where a formula has a value: what must not vanish, not be negative, or be positive, read off it as it is written.

SymPy makes 1 of x/x before anybody sees it, and a float makes ∞ of 1/0, which every limit is below. A condition that
has no value is never met, so that whoever evaluates a formula asks here first.

Inside of a Min, 1/0 stands for a limit that is not there: Min(1/L, 1/(M − 1)) is 1/L at M = 1.
"""

import functools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, final

import sympy

from boundlab.formulas.folds import Choice, FoldIndex, IndexFold, MinFold

Kind = Literal["power", "root", "log", "index"]
_FAILS: dict[Kind, str] = {
    "power": "divides by 0",
    "root": "takes a root of what is negative",
    "log": "takes the logarithm of what is not positive",
    "index": "reads the step of an iteration before the first",
}


@final
@dataclass(frozen=True, slots=True)
class Demand:
    """Requirement of a formula on the numbers at which it has a value.

    Parameters
    ----------
    kind
        ``power``: not 0 to a negative exponent. ``root``, ``index``: not negative. ``log``: positive.
    of
        What that is said of.
    exponent
        Of a power.
    text
        How the file writes it.
    """

    kind: Kind
    of: sympy.Expr
    exponent: sympy.Expr
    text: str

    def met(self, value: Callable[[sympy.Expr], float]) -> bool:
        """Return whether numbers meet it.

        Parameters
        ----------
        value
            Gives the number that a formula is: 0 only where it is 0 exactly.
        """
        found = value(self.of)
        if self.kind == "power":
            return not (found == 0 and value(self.exponent) < 0)
        return found > 0 if self.kind == "log" else found >= 0

    @property
    def fails(self) -> str:
        """Phrase for messages about numbers that break the requirement."""
        return _FAILS[self.kind]


@final
@dataclass(frozen=True, slots=True)
class Least:
    """A Min: of its parts those may be without a value that are +∞, all but one."""

    parts: tuple[tuple[sympy.Expr, "Demands"], ...]


Demands: TypeAlias = tuple["Demand | Least", ...]


def power(base: sympy.Expr, exponent: sympy.Expr, text: str = "") -> Demands:
    """Return what base**exponent demands; nothing where that is known of all numbers of the symbols' domains."""
    found: list[Demand | Least] = []
    if not (exponent.is_nonnegative or base.is_zero is False):
        found.append(Demand("power", base, exponent, text or str(base)))
    if not (exponent.is_integer or all(part.is_nonnegative for part in sympy.fraction(base))):
        found.append(Demand("root", base, sympy.S.One, text or str(base)))
    return tuple(found)


def logarithm(of: sympy.Expr, text: str = "") -> Demands:
    """Return what log(of) demands."""
    return () if of.is_positive else (Demand("log", of, sympy.S.One, text or str(of)),)


def iteration(k: sympy.Expr, text: str = "") -> Demands:
    """Return what the step of iteration k demands."""
    return () if k.is_nonnegative else (Demand("index", k, sympy.S.One, text or str(k)),)


def where(low: sympy.Expr, high: sympy.Expr, then: Demands, otherwise: Demands) -> Demands:
    """Return what a formula by cases demands: of each branch what that demands, where it is taken."""

    def only(one: Demand | Least, *, taken: bool) -> Demand | Least:
        def inside(of: sympy.Expr) -> sympy.Expr:
            return Choice(low, high, *((of, sympy.S.One) if taken else (sympy.S.One, of)))

        if isinstance(one, Least):
            return Least(tuple((inside(part), tuple(only(o, taken=taken) for o in own)) for part, own in one.parts))
        return replace(one, of=inside(one.of))

    return (*(only(one, taken=True) for one in then), *(only(one, taken=False) for one in otherwise))


def least(parts: Iterable[tuple[sympy.Expr, Demands]]) -> Demands:
    """Return what a Min of parts demands, each with its own demands."""
    known = tuple(parts)
    return (Least(known),) if any(own for _, own in known) else ()


def everywhere(needed: Demands, index: FoldIndex, first: sympy.Expr, last: sympy.Expr) -> Demands:
    """Return what a fold demands whose term demands something: all of it, at each number of the index."""

    def closed(one: Demand) -> Iterable[Demand]:
        if index not in one.of.free_symbols | one.exponent.free_symbols:
            yield one
        elif one.kind != "power":
            yield Demand(one.kind, MinFold(one.of, index, first, last), one.exponent, one.text)
        else:  # a product vanishes where one of its factors does
            for part in factors(one.of):
                inside = index in part.free_symbols
                of = MinFold(sympy.Abs(part), index, first, last) if inside else part
                yield Demand("power", of, sympy.S.NegativeOne, one.text)

    return tuple(each for one in looked_at(needed) for each in closed(one))


def factors(of: sympy.Expr) -> Iterable[sympy.Expr]:
    """Yield the factors of a product that may be 0."""
    if of.is_Mul or (of.is_Pow and of.exp.is_positive):
        for one in of.args if of.is_Mul else (of.base,):
            yield from factors(one)
    elif isinstance(of, Choice):
        low, high, then, otherwise = of.args
        yield from (Choice(low, high, one, sympy.S.One) for one in factors(then))
        yield from (Choice(low, high, sympy.S.One, one) for one in factors(otherwise))
    elif of.is_zero is not False:
        yield of


@functools.lru_cache(maxsize=8192)
def demands(expression: sympy.Expr) -> Demands:
    """Return what a formula demands, as SymPy holds it."""
    if not expression.args or expression.is_number:
        return ()
    if isinstance(expression, IndexFold):
        body, index, *ends = expression.args
        inside = everywhere(demands(body), index, *ends)
        return tuple(dict.fromkeys((*inside, *(one for end in ends for one in demands(end)))))
    if isinstance(expression, Choice):
        low, high, then, otherwise = expression.args
        sides = (*demands(low), *demands(high))
        return tuple(dict.fromkeys((*sides, *where(low, high, demands(then), demands(otherwise)))))
    if isinstance(expression, sympy.Min):
        return least((part, demands(part)) for part in expression.args)
    own: Demands = ()
    if expression.is_Pow:
        own = power(*expression.args)
    elif isinstance(expression, sympy.log):
        own = logarithm(expression.args[0])
    inner = (one for part in expression.args for one in demands(part))
    return tuple(dict.fromkeys((*inner, *own)))


def broken(needed: Demands, value: Callable[[sympy.Expr], float]) -> Demand | None:
    """Return a demand that numbers break, or None; see :meth:`Demand.met`."""
    for one in needed:
        if isinstance(one, Demand):
            if not one.met(value):
                return one
            continue
        absent = [(part, found) for part, own in one.parts if (found := broken(own, value)) is not None]
        for part, found in absent:
            if len(absent) == len(one.parts) or value(part) != math.inf:
                return found
    return None


def looked_at(needed: Demands) -> Iterable[Demand]:
    """Yield all demands, those inside of a Min among them."""
    for one in needed:
        if isinstance(one, Demand):
            yield one
        else:
            for _, own in one.parts:
                yield from looked_at(own)
