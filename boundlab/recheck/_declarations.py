"""Symbols as a proof file declares them: their ranges, the cases of a split, and symbols that stand for e^v."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from boundlab.recheck import _structure as read
from boundlab.recheck._errors import WrongError
from boundlab.recheck._numbers import ONE, ZERO, Number, Symbol, of, rational
from boundlab.recheck._ranges import FIRST, Context, Range
from boundlab.recheck._terms import is_own

# Stands for the index of a family, a whole number ≥ 0; no file can declare it.
INDEX = "@0"
_TERMS = 30
_SYMBOL = ("name", "low", "high", "above", "below", "integer", "guarded", "arity", "by", "exponent")


def root_of(replay: Any) -> Context:
    """Return the context of all symbols that are declared for the whole proof."""
    context = Context(None, {})
    context.own[INDEX] = Range(ZERO, integer=True)
    symbols_of(replay, replay.raw.get("symbols"), context)
    return context


def symbols_of(replay: Any, listed: Any, context: Context) -> None:
    """Declare the symbols of a context, one after the other."""
    for raw in read.as_list(listed, "symbols"):
        own = read.only(read.as_dict(raw, "a symbol"), _SYMBOL, "a symbol")
        name = read.name(own.get("name"), "symbols")
        if name in context.order or is_own(name) or name.startswith("@"):
            raise WrongError(f"{name} is declared twice, or is a kept name")
        found = range_of(own, name)
        if late := {one for one in found.names() if one not in context.order}:
            raise WrongError(f"the range of {name} names {', '.join(sorted(late))}, which is not declared before it")
        for end in (found.low, found.high):
            if end is not None:
                replay.has_value(end.put({FIRST: of(Symbol(INDEX))}), context)
        if own.get("by") is not None:
            replay.defined[name] = read.whole(own["by"], name)
            context.fix(name)
        elif own.get("exponent") is not None:
            _exponential(replay, context, name, found, read.number(own["exponent"], name))
        elif context.parent is not None:
            raise WrongError(f"{name} is declared in one case, and stands for nothing")
        context.order[name] = len(context.order)
        context.own[name] = found


def range_of(own: Mapping[str, Any], name: str) -> Range:
    """Return the range that a declaration says."""
    low, high = (None if own.get(end) is None else read.number(own[end], name) for end in ("low", "high"))
    above, below, integer = (_flag(own, flag) for flag in ("above", "below", "integer"))
    arity, guarded = read.whole(own.get("arity", 0), name), "guarded" in own and _flag(own, "guarded")
    found = Range(low, high, above, below, integer, arity, guarded)
    if arity < 0 or (arity == 0 and found.moving) or (arity > 1 and guarded):
        raise WrongError(f"{name} has a range that depends on an index, and no index")
    return found


def _exponential(replay: Any, context: Context, name: str, own: Range, value: Number) -> None:
    """Make sure that e^value lies in a range."""
    if late := {one for one in value.names() if one not in context.order and not (own.arity and one == FIRST)}:
        raise WrongError(f"{name} is made of {', '.join(sorted(late))}, which stands not before it")
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


def _flag(own: Mapping[str, Any], key: str) -> bool:
    if own.get(key) not in (True, False) or not isinstance(own[key], bool):
        raise WrongError(f"{key} is true or false")
    return bool(own[key])


def part_of(parent: Context, own: Mapping[str, Any], where: str) -> Context:
    """Return one case of a split."""
    name, at = read.name(own.get("name"), where), read.number(own.get("at"), where)
    which, known = read.whole(own.get("which"), where), parent.find(name)
    if known.arity or which not in (0, 1):
        raise WrongError(f"{where}: {name} is no symbol with a range, or there is no part {which}")
    if any(parent.order.get(one, len(parent.order)) >= parent.order[name] for one in at.names()):
        raise WrongError(f"{where}: {name} is split at {at.key}, whose symbols are not declared before it")
    if at.bottom != ONE:
        parent.need_nonzero(at.bottom)
    if known.integer and not parent.integer(at):
        raise WrongError(f"{where}: {name} is whole, which {at.key} is not")
    for gap, _ in known.gaps(at):
        parent.need(gap, f"{where}: the split may lie outside of the range")
    if which == 0:
        part = Range(known.low, at, above=known.above, integer=known.integer)
    else:
        part = Range(at + ONE if known.integer else at, known.high, below=known.below, integer=known.integer)
    return Context(parent, {name: part}, {name}, ("split", parent, name, at, which))
