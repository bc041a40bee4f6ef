"""What few proofs need: families of named numbers, values in place of names, and symbols that stand for powers of e.

Of AREA's theorem 7 and of little else: a file that asks for none of it is checked without this module.
"""

import functools
from collections.abc import Callable, Mapping
from fractions import Fraction

from boundlab.recheck import _structure as read
from boundlab.recheck._forms import WrongError
from boundlab.recheck._numbers import ONE, ZERO, Number, Symbol, of, rational
from boundlab.recheck._replay import INDEX, Fact, Replay, above, alike, equation
from boundlab.recheck._rules import declared
from boundlab.recheck._terms import FIRST, Atom, Combination, Context, Range, minus, plus, scalar

_TERMS = 30


def declare(replay: Replay, context: Context, name: str, own: Range, value: Number) -> None:
    """Make sure that e^value lies in a range."""
    context.after(name, value.names() - ({FIRST} if own.arity else set()), f"{name} is made of")
    there = value.put({FIRST: of(Symbol(INDEX))})
    replay.has_value(there, context)
    if own.integer or own.below or (own.arity and not own.guarded):
        raise WrongError(f"{name} stands for powers of e, which are not known to be whole, or below something")
    constant = value.constant
    if constant is not None:
        low, high = enclosure(Fraction(constant))
        if own.arity or own.above or own.low is None or own.high is None:
            raise WrongError(f"{name} is one number between two others")
        context.need(rational(low) - own.low, f"{name} may lie outside its range")
        context.need(own.high - rational(high), f"{name} may lie outside its range")
    elif own.high is not None or own.low not in (None, ZERO, ONE):
        raise WrongError(f"{name} has no such range")
    elif own.low == ONE:
        context.need(there, f"{name} may be below 1", strict=own.above)
    context.meaning[name] = value.names() - {FIRST}
    context.fix(name)
    replay.exponents[name] = value


def enclosure(value: Fraction) -> tuple[Fraction, Fraction]:
    """Return numbers between which e^value lies, for |value| ≤ 1: its series, and twice the first term left out."""
    if abs(value) > 1:
        raise WrongError(f"e^({value}): an exponent between -1 and 1 is expected")
    found, term = Fraction(0), Fraction(1)
    for count in range(1, _TERMS + 1):
        found += term
        term = term * value / count
    return found - 2 * abs(term), found + 2 * abs(term)


# Rules of families of named numbers, and of symbols that stand for e^v.


def _for_every_index(fact: Fact, index: str, value: Number, here: Context) -> Number:
    """Return a value by the index of its family, a symbol that runs through all whole numbers ≥ 0."""
    its = here.find(index)
    if not its.integer or its.arity or its.low != ZERO or its.above or its.high is not None or index in here.fixed:
        raise WrongError(f"{index} is to run through all whole numbers ≥ 0")
    here.about_every(index, value.names(), "the index")
    fact.names.update(here.closure(value.names()))
    return value.put({index: of(Symbol(FIRST))})


def _family(replay: Replay, fact: Fact) -> None:
    value, index, here = read.number(fact.data.get("value"), "value"), replay.name(fact, "index"), fact.context
    replay.has_value(value, here)
    own = _for_every_index(fact, index, value, here)
    name, known = declared(replay, fact, value.names() - {index}, family=True)
    _one_index(replay, fact, name)
    here.lies_in(known, own.put({FIRST: of(Symbol(INDEX))}), name)
    replay.families[name] = own
    equation(fact, scalar(of(Symbol(name, (of(Symbol(index)),)))), scalar(value))


def _one_index(replay: Replay, fact: Fact, name: str) -> None:
    known = fact.context.find(name)
    ends = [end for end in (known.low, known.high) if end is not None]
    if fact.context is not replay.root or known.arity != 1 or not known.guarded or known.integer:
        raise WrongError(f"{name} has one index, and its range is that of indices ≥ 0")
    if any(FIRST in end.names() for end in ends):
        raise WrongError(f"the range of {name} depends on its index")


def _unname(replay: Replay, fact: Fact) -> None:
    (one,) = fact.premises
    names = [read.name(raw, "unnamed") for raw in read.as_list(fact.data.get("unnamed"), "unnamed")]
    alike(fact, one, lambda side: functools.reduce(functools.partial(with_value, replay, fact.context), names, side))


def with_value(replay: Replay, here: Context, side: Mapping[Atom, Number], name: str) -> Combination:
    """Return a combination with what a name stands for in its place; raises where it stands for no number."""
    if name not in replay.values and name not in replay.families:
        raise WrongError(f"{name} is no name of a number")

    def new(symbol: Symbol) -> Number | None:
        if name not in symbol.names():
            return None
        if symbol.name != name or symbol.exponent is not None or any(name in i.names() for i in symbol.indices):
            raise WrongError(f"{name} occurs in {symbol.key}")
        if name in replay.values:
            return replay.values[name]
        (index,) = symbol.indices
        here.need(index, f"{name} is named for indices ≥ 0, and this one may be negative")
        return replay.families[name].put({FIRST: index})

    if any(name in atom.names() for atom in side):
        raise WrongError(f"{name} occurs in the terms of a sum or in an index")
    return plus(*({atom: value.mapped(new)} for atom, value in side.items()))


# ---------------------------------------------------------------------- powers of e


def exponent_of(replay: Replay, own: Number, here: Context) -> Number:
    """Return v of a product of powers of symbols that stand for powers of e, which is e^v; raises if it is none."""
    found = ZERO
    for symbol, count in own.powers("{} is no product of powers of exponentials"):
        if symbol.name not in replay.exponents:
            raise WrongError(f"{symbol.key} stands for no power of e")
        value = replay.exponents[symbol.name]
        for index in symbol.indices:
            here.need(index, "the index of an exponential may be negative")
            value = value.put({FIRST: index})
        found = found + value * (ONE if symbol.exponent is None else symbol.exponent) * count
    return found


def _exponential(replay: Replay, fact: Fact, key: str) -> tuple[Number, Number]:
    """Return a power of e that a fact was made with, and its exponent."""
    own = replay.number(fact, key)
    found = exponent_of(replay, own, fact.context)
    replay.use(fact, found)
    return own, found


def _tangent(replay: Replay, fact: Fact) -> None:
    own, value = _exponential(replay, fact, "of")
    above(fact, scalar(own - ONE - value))


def _monotone(replay: Replay, fact: Fact) -> None:
    (small, v), (large, w) = _exponential(replay, fact, "small"), _exponential(replay, fact, "large")
    fact.context.need(w - v, "the exponents may be in the other order")
    above(fact, scalar(large - small))


def _chord(replay: Replay, fact: Fact) -> None:
    (own, v), (end, s), share = (
        *(_exponential(replay, fact, key) for key in ("of", "end")),
        replay.number(fact, "share"),
    )
    if v != share * s:
        raise WrongError(f"the exponent of {own.key} is {v.key}, not {share.key} times {s.key}")
    fact.context.need(share, "a share may be negative")
    fact.context.need(ONE - share, "a share may be larger than 1")
    above(fact, minus(scalar(ONE - share + share * end), scalar(own)))


CHECKS: Mapping[str, Callable[[Replay, Fact], None]] = {
    "name family": _family,
    "unname": _unname,
    "exp tangent": _tangent,
    "exp monotone": _monotone,
    "exp chord": _chord,
}
