"""Rules of finite sums."""

from collections.abc import Iterable

from boundlab.recheck import _structure as read
from boundlab.recheck._errors import WrongError
from boundlab.recheck._facts import Fact, above, alike, equation, same
from boundlab.recheck._numbers import ONE, ZERO, Number, Symbol, of
from boundlab.recheck._ranges import Context
from boundlab.recheck._replay import LineRule, Replay
from boundlab.recheck._terms import Combination, instance, minus, number_in, plus, times, total


def runs(
    replay: Replay, fact: Fact, name: str, lo: Number, hi: Number, here: Context, over: Fact | None = None
) -> None:
    """Make sure that a symbol may run through lo ≤ name < hi: nothing that it meets depends on it."""
    known = here.find(name)
    if not known.integer or known.arity:
        raise WrongError(f"a sum is over a whole symbol, which {name} is not")
    if name in here.fixed or (over is not None and replay.is_fixed(name, over)):
        raise WrongError(f"{name} is fixed here: nothing is summed over it")
    for end in (lo, hi):
        if not here.integer(end) or name in here.closure(end.names()):
            raise WrongError(f"{end.key} is no end of a sum over {name}")
    about_every(here, name, over.names if over is not None else ())
    here.need(hi - lo, f"the range of the sum over {name} may be reversed")
    if known.low is not None:
        replay.use(fact, known.low)
        here.need(lo - known.low, f"it is about fewer {name} than are summed", strict=known.above)
    if known.high is not None:
        replay.use(fact, known.high)
        here.need(known.high - hi + ONE, f"it is about fewer {name} than are summed", strict=known.below)


def about_every(here: Context, name: str, names: Iterable[str]) -> None:
    """Make sure that nothing which these are made of has a value for some values of a symbol only."""
    for other in here.closure(names) - {name}:
        if name in here.needs(other):
            raise WrongError(f"{other} depends on {name}, which is summed over")


def _without(fact: Fact, *gone: str) -> None:
    fact.names.difference_update(gone)


def _total(replay: Replay, fact: Fact) -> None:
    (one,) = fact.premises
    name = replay.name(fact, "index")
    lo, hi, weight = (replay.number(fact, key) for key in ("lo", "hi", "weight"))
    # In a smaller case a weight may be ≥ 0 for some of these indices only.
    runs(replay, fact, name, lo, hi, fact.context, one)
    about_every(fact.context, name, weight.names())
    if one.claim is not None and not one.claim.equality:
        fact.context.need(weight, f"the weight of {name} may be negative")
    alike(fact, one, lambda side: total(times(side, weight), name, lo, hi))
    _without(fact, name)


def _equal(fact: Fact, left: Combination, right: Combination) -> None:
    """Raise unless a fact is left = right, of numbers or of vectors."""
    if fact.claim is not None:
        return equation(fact, left, right)
    same(fact.left, left, "its left side")
    return same(fact.right, right, "its right side")


def _terms(replay: Replay, fact: Fact, name: str) -> Combination:
    """Return the terms of a sum: nothing but the index itself may depend on the index."""
    own = replay.expression(fact, "of", vectors=fact.claim is None)
    about_every(fact.context, name, read.names(own))
    return own


def _telescope(replay: Replay, fact: Fact) -> None:
    name, lo, hi = replay.name(fact, "index"), replay.number(fact, "lo"), replay.number(fact, "hi")
    own = _terms(replay, fact, name)
    runs(replay, fact, name, lo, hi, fact.context)
    following = instance(own, {name: of(Symbol(name)) + ONE})
    ends = minus(instance(own, {name: hi}), instance(own, {name: lo}))
    _equal(fact, total(minus(following, own), name, lo, hi), ends)


def _split(replay: Replay, fact: Fact) -> None:
    name = replay.name(fact, "index")
    lo, middle, hi = (replay.number(fact, key) for key in ("lo", "middle", "hi"))
    own = _terms(replay, fact, name)
    runs(replay, fact, name, lo, middle, fact.context)
    runs(replay, fact, name, middle, hi, fact.context)
    _equal(fact, total(own, name, lo, hi), plus(total(own, name, lo, middle), total(own, name, middle, hi)))


def _empty(replay: Replay, fact: Fact) -> None:
    name, lo, hi = replay.name(fact, "index"), replay.number(fact, "lo"), replay.number(fact, "hi")
    own = _terms(replay, fact, name)
    runs(replay, fact, name, lo, hi, fact.context)
    fact.context.need(lo - hi, "the sum may have terms")
    _equal(fact, total(own, name, lo, hi), {})


def _shift(replay: Replay, fact: Fact) -> None:
    name = replay.name(fact, "index")
    lo, hi, by = (replay.number(fact, key) for key in ("lo", "hi", "by"))
    own, here = _terms(replay, fact, name), fact.context
    runs(replay, fact, name, lo, hi, here)
    if not here.integer(by) or name in here.closure(by.names()):
        raise WrongError(f"{by.key} is no shift of a sum over {name}")
    moved = instance(own, {name: of(Symbol(name)) - by})
    equation(fact, total(own, name, lo, hi), total(moved, name, lo + by, hi + by))


def _windows(replay: Replay, fact: Fact) -> None:
    if not fact.premises:
        raise WrongError("it has no premise")
    terms, *because = fact.premises
    inner, outer = replay.name(fact, "inner"), replay.name(fact, "outer")
    first, longest, hi = (replay.number(fact, key) for key in ("first", "longest", "hi"))
    here, k = fact.context, of(Symbol(outer))
    depends = inner in here.closure(first.names() | longest.names()) or outer in here.closure(longest.names())
    if inner == outer or depends or terms.says.equality or outer in terms.names:
        raise WrongError("the window of k depends on k alone, and its terms are shown ≥ 0 for every j, without k")
    runs(replay, fact, inner, ZERO, hi, terms.context, terms)
    runs(replay, fact, outer, ZERO, hi, here)
    # What is shown of k and its window is shown for every k, and without regard to j.
    about_every(here, outer, first.names())
    for one in because:
        about_every(here, outer, one.names)
        if replay.is_fixed(outer, one) or inner in one.names:
            raise WrongError(f"fact {one.number} is not about every {outer}, without regard to {inner}")
    if not here.integer(first) or not here.integer(longest):
        raise WrongError("the ends of a window are whole")
    for value, what in ((first, "begin below 0"), (k - first, "be reversed"), (longest - k + first, "be longer")):
        if not any(_says(one, value) for one in because):
            here.need(value, f"a window may {what}")
    body = terms.says.body
    double = total(total(body, inner, first, k), outer, ZERO, hi)
    above(fact, minus(times(total(body, inner, ZERO, hi), longest), double))
    _without(fact, inner, outer)


def _says(fact: Fact, value: Number) -> bool:
    own = number_in(fact.says.body)
    return own is not None and (own == value or (fact.says.equality and own == -value))


SUMS: dict[str, LineRule] = {
    "total": LineRule(_total, 1),
    "telescope": LineRule(_telescope, 0),
    "split": LineRule(_split, 0),
    "shift": LineRule(_shift, 0),
    "windows": LineRule(_windows),
    "split vector": LineRule(_split, 0),
    "empty vector": LineRule(_empty, 0),
}
