"""Whether there are numbers of which a theorem, or a step, speaks: where there are none, everything holds of them."""

import contextlib
import random
from collections.abc import Container, Iterable, Iterator, Mapping
from fractions import Fraction
from math import ceil, floor, isqrt

from boundlab.errors import SpecError
from boundlab.prove._context import Context, Range
from boundlab.prove._errors import REFUSED, ProofError
from boundlab.prove._facts import Shared
from boundlab.prove._kernel import Kernel
from boundlab.prove._scalars import Scalar, scalar, shape, variable
from boundlab.prove._terms import Claim, equal, expr
from boundlab.prove.setting import Setting
from boundlab.theorems import at_lowest

_POINTS = 600
_NEAR = tuple(Fraction(*pair) for pair in ((1, 1), (2, 1), (1, 2), (1, 16), (1, 256), (1, 65536), (8, 1), (64, 1)))


def make_sure_there_are_runs(setting: Setting) -> None:
    """Make sure that there are numbers in all ranges of a theorem that meet its conditions.

    Raises
    ------
    ProofError
        If a range is empty, or no such numbers are found.
    """
    _ranges(setting)
    conditions = [one.claim for one in setting.conditions if one.claim.body.number is not None]
    conditions += _asked(setting)  # also those that the proof needs not
    if conditions:
        drawn = random.Random("boundlab conditions")  # noqa: S311  (numbers to try, no secret)
        if not any(_meets(setting, conditions, drawn) for _ in range(4 * _POINTS)):
            raise ProofError("no numbers were found that meet all conditions: there may be no run of which it speaks")


def _asked(setting: Setting) -> Iterator[Claim]:
    """Yield the theorem's conditions, but for those that no number of the setting says."""
    for one in setting.theorem.conditions:
        with contextlib.suppress(SpecError):
            yield expr(setting.formula(one.quantity)) <= expr(setting.formula(one.limit))


def _ranges(setting: Setting) -> None:
    """Make sure that no range is empty at one exact point."""
    values: dict[str, Scalar] = {}
    for name in setting.context.order():
        known = setting.context.find(name)
        if known is None or known.moving or name in {*setting.kernel.values, *setting.kernel.roots}:
            continue
        low, high = _ends(known, values)
        if low is not None and high is not None and low > high:
            raise ProofError(f"no value of {name} is left: its range is empty")
        if low is not None and high is not None:
            value = low if known.integer else (low + high) / 2
            if known.integer and known.above:
                raise ProofError(f"{name} is whole and above {low}")
            if low == high and (known.above or known.below):
                raise ProofError(f"no value of {name} is left: its range is empty")
        elif low is not None:
            value = low + (1 if known.above or known.integer else 0)
        else:
            value = Fraction(0) if high is None else high - 1
        values[name] = scalar(value)


def _ends(known: Range, values: Mapping[str, Scalar]) -> tuple[Fraction | None, Fraction | None]:
    """Return the ends of a range, None where there is none, or none that is known."""
    low, high = (None if end is None else end.put(values).constant for end in (known.low, known.high))
    return (None if low is None else Fraction(low)), (None if high is None else Fraction(high))


def speaks_of_nothing(kernel: Kernel, fact: Shared, setting: Setting | None) -> str:
    """Return why a fact says nothing: the ranges of what a proof has declared may hold no numbers; empty if they do."""
    context, given = fact.context, () if setting is None else setting.declared or ()
    own = [known for name in fact.names if name not in given and (known := context.declared(name)) is not None]
    if all(known.low is None or known.high is None for known in own):
        return ""  # there are numbers beyond any end
    drawn = random.Random("boundlab ranges")  # noqa: S311  (numbers to try, no secret)
    if any(_point(kernel, context, fact.names, (), drawn) is not None for _ in range(_POINTS)):
        return ""
    return "no numbers were found in the ranges of its symbols: it may speak of nothing"


def _meets(setting: Setting, conditions: Iterable[Claim], drawn: random.Random) -> bool:
    """Return whether numbers that are drawn from the ranges meet all conditions."""
    theorem = setting.theorem
    equations = [
        *(one for one in conditions if one.equality),
        *(
            equal(variable(name), int(theorem.symbols[name].domain.low))
            for name in at_lowest(theorem.conditions, theorem.symbols)
        ),
    ]
    found = _point(setting.kernel, setting.context, setting.context.order(), equations, drawn)
    return found is not None and all(_holds(one, found) for one in conditions if not one.equality)


def _point(
    kernel: Kernel, context: Context, names: Container[str], equations: Iterable[Claim], drawn: random.Random
) -> dict[str, Scalar] | None:
    """Return numbers that are drawn from the ranges with which symbols were declared; None if one is empty there."""
    values: dict[str, Scalar] = {}
    for name in context.order():
        known = context.declared(name)
        if name not in names or known is None:
            continue
        if known.arity:
            low, high = _ends(known, values)
            if low is not None and high is not None and low > high:
                return None
            continue
        try:
            if name in kernel.values:
                found = kernel.values[name].put(values).constant
                if found is None:
                    continue  # it is made of members of families
            else:
                found = _solved(name, equations, values)
            value = _drawn(known, values, drawn) if found is None else Fraction(found)
        except REFUSED:  # it divides by 0 there
            return None
        if not _inside(value, known, values):
            return None
        values[name] = scalar(value)
    return values


def _solved(name: str, equations: Iterable[Claim], values: Mapping[str, Scalar]) -> Fraction | None:
    """Return a symbol's value from an equation a·x = b or a·x² = b with the symbols before it; -1 where it has none."""
    for one in equations:
        body = one.body.number
        if body is None or name not in body.names() or not body.names() <= {*values, name}:
            continue
        parts: dict[int, Fraction] = {}
        for powers, coefficient in shape(body.put(values)).top:
            degree = sum(power for _, power in powers)
            parts[degree] = parts.get(degree, Fraction(0)) + Fraction(coefficient)
        a, b = parts.get(1) or parts.get(2) or Fraction(0), -parts.get(0, Fraction(0))
        if not parts.keys() <= {0, 1, 2} or {1, 2} <= parts.keys():
            continue
        if not a:
            return Fraction(-1)
        if 1 in parts:
            return b / a
        # That the square is positive is what matters: a root is as good as its first digits.
        return Fraction(isqrt(int(b / a * 10**24)), 10**12) if b / a > 0 else Fraction(-1)
    return None


def _drawn(known: Range, values: Mapping[str, Scalar], drawn: random.Random) -> Fraction:
    low, high = _ends(known, values)
    step = drawn.choice(_NEAR)
    if low is not None and high is not None and not known.integer:
        return low + (high - low) * min(step, 1 / step)
    if known.integer:
        step = Fraction(max(1, int(step)) - (0 if known.above else drawn.choice((0, 1))))
        if low is not None:
            return ceil(low) + step if high is None else min(ceil(low) + step, Fraction(floor(high)))
        return floor(high) - step if high is not None else step
    return low + step if low is not None else high - step if high is not None else drawn.choice((-step, step))


def _inside(value: Fraction, known: Range, values: Mapping[str, Scalar]) -> bool:
    low, high = _ends(known, values)
    above = low is None or value > low or (value == low and not known.above)
    return above and (high is None or value < high or (value == high and not known.below))


def _holds(one: Claim, values: Mapping[str, Scalar]) -> bool:
    """Return whether a condition is met; one about members of families is not looked at."""
    body = one.body.number
    assert body is not None  # noqa: S101  (conditions are about numbers)
    try:
        found = body.put(values).constant
    except REFUSED:
        return False
    return found is None or found >= 0
