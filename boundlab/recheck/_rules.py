"""Rules of algebra, of instances, cases and induction, and of names for numbers."""

import itertools
from collections.abc import Iterable

from boundlab.recheck import _structure as read
from boundlab.recheck._forms import WrongError
from boundlab.recheck._numbers import ONE, ZERO, Number, Symbol, of
from boundlab.recheck._replay import (
    CLAIMED,
    Fact,
    LineRule,
    Replay,
    above,
    alike,
    equation,
    number_of,
    put,
    same,
    same_claim,
)
from boundlab.recheck._structure import Claim
from boundlab.recheck._terms import (
    Combination,
    Context,
    Range,
    Vec,
    dot,
    instance,
    minus,
    number_in,
    plus,
    replaced,
    scalar,
    single,
    times,
    total,
    vector,
)


def _combine(replay: Replay, fact: Fact) -> None:
    listed = read.as_list(fact.data.get("multipliers"), "multipliers", len(fact.premises))
    claim = fact.says
    rest = fact.data.get("rest")
    left = read.number(rest, "what is left over")
    replay.use(fact, left)
    parts = [scalar(left)]
    for place, (raw, one) in enumerate(zip(listed, fact.premises, strict=True)):
        own = read.number(raw, f"multiplier {place}")
        replay.use(fact, own)
        if not one.says.equality:
            if claim.equality:
                raise WrongError("an equation does not follow from an inequality")
            fact.context.need(own, f"multiplier {place} may be negative")
        parts.append(times(one.says.body, own))
    same(claim.body, plus(*parts), "claim − Σ multiplier·premise − rest")
    if claim.equality and left:
        raise WrongError("an equation leaves something over")
    fact.context.need(left, "what is left over may be negative")


def _square(replay: Replay, fact: Fact) -> None:
    own = replay.vector(fact, "vector")
    above(fact, dot(own, own))


def _scale(_: Replay, fact: Fact) -> None:
    number, other = fact.premises
    body = times(other.says.body, number_of(number))
    if number.says.equality or other.says.equality:
        return equation(fact, body, {})
    return above(fact, body)


def _times(replay: Replay, fact: Fact) -> None:
    (number,) = fact.premises
    if not number.says.equality:
        raise WrongError("only an equation between numbers multiplies any expression")
    equation(fact, times(replay.expression(fact, "by"), number_of(number)), {})


def _end(replay: Replay, fact: Fact) -> None:
    name, which = replay.name(fact, "name"), fact.data.get("which")
    known, own = fact.context.find(name), of(Symbol(name))
    end = known.low if which == "low" else known.high
    if known.arity or end is None:
        raise WrongError(f"{name} has no such end")
    above(fact, scalar(own - end if which == "low" else end - own))


def _against(replay: Replay, fact: Fact) -> None:
    (one,) = fact.premises
    own = replay.vector(fact, "vector")
    left, right = one.between
    equation(fact, dot(left, own), dot(right, own))


def _replace(_: Replay, fact: Fact) -> None:
    current = fact.says.left
    for one in fact.premises:
        left, right = one.between
        old = single(left)
        if old is None:
            raise WrongError(f"the left side of fact {one.number} is no single vector")
        current = replaced(current, old, right)
    equation(fact, fact.says.left, current)


def _suppose(replay: Replay, fact: Fact) -> None:
    replay.name(fact, "on")
    if fact.context.origin != ("suppose", fact.number):
        raise WrongError("a hypothesis holds in a context of its own")


def _induction(replay: Replay, fact: Fact) -> None:
    (base,) = fact.premises
    hypothesis, step = (replay.fact(fact.data.get(key), key) for key in ("hypothesis", "step"))
    on = replay.name(hypothesis, "on")
    if hypothesis.rule != "suppose" or fact.data.get("on") != on:
        raise WrongError(f"fact {hypothesis.number} is no hypothesis about {fact.data.get('on')}")
    if step.context is not hypothesis.context or fact.context is not step.context.parent:
        raise WrongError("the step is shown from its hypothesis, and what follows holds outside of it")
    if on in replay.parameters and (base.axioms or step.axioms):
        raise WrongError(f"vectors depend on {on}: there is no induction on it")
    for here in (step.context, fact.context):
        # Where another symbol has no value for some of these numbers, the step is shown for the others only.
        here.about_every(on, step.names, "on which the induction is")
    low = fact.context.find(on).low
    if low is None:
        raise WrongError(f"{on} has no lower end")
    same_claim(base.says, put(hypothesis.says, {on: low}), "the base of the induction")
    same_claim(step.says, put(hypothesis.says, {on: of(Symbol(on)) + ONE}), "the step of the induction")
    same_claim(hypothesis.says, fact.says, "the hypothesis")
    _take(fact, step)


def _take(fact: Fact, *others: Fact, without: Iterable[str] = ()) -> None:
    """Let a fact rest on others, of cases within its own."""
    fact.beside.extend(others)
    for one in others:
        fact.names.update(fact.context.closure(one.names - set(without)))
        fact.touched.update(one.touched)


def _at(replay: Replay, fact: Fact) -> None:
    (one,) = fact.premises
    here, there = fact.context, one.context
    values: dict[str, Number] = {}
    for key, raw in read.as_dict(fact.data.get("values"), "values").items():
        values[read.name(key, "values")] = read.number(raw, key)
    fact.names.difference_update(values)
    for name, value in values.items():
        known = there.find(name)
        if known.arity:
            raise WrongError(f"{name} is a family: no value can be given to it")
        if replay.is_fixed(name, one):
            raise WrongError(f"{name} is fixed here: no other value can be given to it")
        replay.use(fact, value)
        own = known.put(values)
        for end in (own.low, own.high):
            replay.use(fact, end or ZERO)
        here.lies_in(own, value, name)
    for other in there.closure(one.names) - values.keys():
        if touched := there.needs(other) & values.keys():
            raise WrongError(f"{other} depends on {', '.join(sorted(touched))}: it needs a value, too")
    kept = one.names - values.keys()
    fact.names.update(here.closure(kept))
    alike(fact, one, lambda side: instance(side, values))


def _join(replay: Replay, fact: Fact) -> None:
    cases = [replay.fact(one, "cases") for one in read.as_list(fact.data.get("cases"), "cases", 2)]
    one, two = (case.context for case in cases)
    if not one.completes(two) or one.parent is not fact.context:
        raise WrongError("the two facts do not belong to the two cases of one split")
    for case in cases:
        same_claim(case.says, fact.says, f"fact {case.number}")
    # A name that is given to a number in one case only: there it has its value.
    _take(fact, *cases, without=[name for name in replay.defined if not fact.context.has(name)])


def _lowest(replay: Replay, fact: Fact) -> None:
    (first,) = fact.premises
    rest = replay.fact(fact.data.get("case"), "case")
    kind, *made = rest.context.origin or ("",)
    if kind != "split" or made[3] != 1 or made[0] is not fact.context:
        raise WrongError("the other fact does not belong to the second case of a split")
    name, at = made[1:3]
    known = fact.context.find(name)
    if not known.integer or known.low != at:
        raise WrongError("the split is not at the lowest whole number")
    same_claim(first.says, put(rest.says, {name: at}), "the lowest case")
    same_claim(rest.says, fact.says, "the other cases")
    _take(fact, rest)


# ---------------------------------------------------------------------- names for numbers


def declared(replay: Replay, fact: Fact, names: set[str], *, family: bool = False) -> tuple[str, Range]:
    """Return the symbol that a fact says the value of, and its range; what it is made of was declared before it."""
    name, here = replay.name(fact, "name"), fact.context
    if replay.defined.get(name) != fact.number or name not in here.own or name in here.split:
        raise WrongError(f"{name} is not declared as what this fact says")
    known = here.find(name)
    here.after(name, names, f"{name} is made of")
    here.meaning[name] = set(names)
    if bool(known.arity) is not family:
        raise WrongError(f"{name} is {'a family' if known.arity else 'one number'}")
    return name, known


def _name(replay: Replay, fact: Fact) -> None:
    value = read.number(fact.data.get("value"), "value")
    replay.has_value(value, fact.context)
    name, known = declared(replay, fact, value.names())
    fact.context.lies_in(known, value, name)
    replay.values[name] = value
    equation(fact, scalar(of(Symbol(name))), scalar(value))


def _root(replay: Replay, fact: Fact) -> None:
    value = read.number(fact.data.get("value"), "value")
    replay.has_value(value, fact.context)
    name, known = declared(replay, fact, value.names())
    if known.low != ZERO or known.high is not None or known.integer or known.below:
        raise WrongError(f"{name} is a root: its range is from 0")
    fact.context.need(value, f"{name} is the root of what may be negative", strict=known.above)
    own = of(Symbol(name))
    equation(fact, scalar(own * own), scalar(value))


def _define(replay: Replay, fact: Fact) -> None:
    (least,) = fact.premises
    value = read.combination(fact.data.get("value"), "value")
    if any(atom.base.kind != "one" for atom in value):
        raise WrongError("the value is no number")
    name, known = declared(replay, fact, read.names(value))
    if known.low is None or known.high is not None or known.above or known.integer or known.below:
        raise WrongError(f"{name} has a lower end, and nothing else is known of it")
    if least.axioms or least.context is not replay.root or name in least.touched:
        raise WrongError(f"the range of {name} rests on more than numbers")
    same_claim(least.says, Claim(value, scalar(known.low), ">="), f"the range of {name}")
    if more := least.names - fact.context.closure(read.names(value) | known.low.names()):
        raise WrongError(f"the range of {name} is shown only where {', '.join(sorted(more))} has a value")
    equation(fact, scalar(of(Symbol(name))), value)


def _by_squares(replay: Replay, fact: Fact) -> None:
    (squares,) = fact.premises
    x, y = replay.number(fact, "one"), replay.number(fact, "other")
    wanted = Claim(scalar(x * x), scalar(y * y), "=" if squares.says.equality else "<=")
    same_claim(squares.says, wanted, "the comparison of the squares")
    fact.context.need(y, "the larger side may be negative")
    if squares.says.equality:
        fact.context.need(x, "a side may be negative")
        equation(fact, scalar(x), scalar(y))
    else:
        above(fact, scalar(y - x))


def _norms(replay: Replay, fact: Fact) -> None:
    pair = fact.premises
    u, v = replay.vector(fact, "u"), replay.vector(fact, "v")
    e, h, sign = (replay.number(fact, key) for key in ("e", "h", "sign"))
    if sign not in (ONE, -ONE):
        raise WrongError("the sign is 1 or -1")
    for one, own, size in zip(pair, (u, v), (e, h), strict=True):
        same_claim(one.says, Claim(dot(own, own), scalar(size * size), "<="), f"the bound on a norm, fact {one.number}")
        fact.context.need(size, "the bound on a norm may be negative")
    above(fact, minus(scalar(e * h), times(dot(u, v), sign)))


def _claimed(replay: Replay, fact: Fact) -> None:
    if len(fact.axioms) != 1 or not min(fact.axioms).startswith(CLAIMED):
        raise WrongError("what is only claimed carries the name of its step")
    replay.leave(replay.trusted, f"the {min(fact.axioms)}, which is only claimed", fact)


# Rules of equations between vectors.


def _combined(replay: Replay, fact: Fact) -> None:
    factors = read.as_list(fact.data.get("multipliers"), "multipliers")
    others = read.as_list(fact.data.get("vectors"), "vectors", len(fact.premises) - len(factors))
    parts: list[Combination] = []
    for place, (raw, one) in enumerate(zip(factors, fact.premises, strict=False)):
        own = read.number(raw, f"multiplier {place}")
        replay.use(fact, own)
        parts.append(times(minus(*one.between), own))
    for raw, one in zip(others, fact.premises[len(factors) :], strict=True):
        own_vector = replay.combination_of(fact, raw, "a vector")
        if not one.says.equality:
            raise WrongError("only an equation between numbers multiplies a vector")
        parts.append(times(own_vector, number_of(one)))
    same(minus(*fact.between), plus(*parts), "left − right − Σ multiplier·equation")


def _nothing(replay: Replay, fact: Fact) -> None:
    (one,) = fact.premises
    own = replay.vector(fact, "of")
    same_claim(one.says, Claim(dot(own, own), {}, "<="), "a mean square that is 0")
    same(minus(*fact.between), own, "left − right")


# Rules of finite sums.

_SUMMED = "which is summed over"


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
    here.about_every(name, over.names if over is not None else (), _SUMMED)
    here.need(hi - lo, f"the range of the sum over {name} may be reversed")
    if known.low is not None:
        replay.use(fact, known.low)
        here.need(lo - known.low, f"it is about fewer {name} than are summed", strict=known.above)
    if known.high is not None:
        replay.use(fact, known.high)
        here.need(known.high - hi + ONE, f"it is about fewer {name} than are summed", strict=known.below)


def _total(replay: Replay, fact: Fact) -> None:
    (one,) = fact.premises
    name = replay.name(fact, "index")
    lo, hi, weight = (replay.number(fact, key) for key in ("lo", "hi", "weight"))
    # In a smaller case a weight may be ≥ 0 for some of these indices only.
    runs(replay, fact, name, lo, hi, fact.context, one)
    fact.context.about_every(name, weight.names(), _SUMMED)
    if not one.claim.equality:
        fact.context.need(weight, f"the weight of {name} may be negative")
    alike(fact, one, lambda side: total(times(side, weight), name, lo, hi))
    fact.names.discard(name)


def _terms(replay: Replay, fact: Fact, *keys: str) -> tuple[str, Combination, list[Number]]:
    """Return the index of a sum, its terms, and where its parts end; nothing but the index may depend on the index."""
    name, ends = replay.name(fact, "index"), [replay.number(fact, key) for key in keys]
    own = replay.expression(fact, "of", vectors=fact.vectors)
    fact.context.about_every(name, read.names(own), _SUMMED)
    for lo, hi in itertools.pairwise(ends):
        runs(replay, fact, name, lo, hi, fact.context)
    return name, own, ends


def _telescope(replay: Replay, fact: Fact) -> None:
    name, own, (lo, hi) = _terms(replay, fact, "lo", "hi")
    following = instance(own, {name: of(Symbol(name)) + ONE})
    ends = minus(instance(own, {name: hi}), instance(own, {name: lo}))
    equation(fact, total(minus(following, own), name, lo, hi), ends)


def _split(replay: Replay, fact: Fact) -> None:
    name, own, (lo, middle, hi) = _terms(replay, fact, "lo", "middle", "hi")
    equation(fact, total(own, name, lo, hi), plus(total(own, name, lo, middle), total(own, name, middle, hi)))


def _shift(replay: Replay, fact: Fact) -> None:
    name, own, (lo, hi) = _terms(replay, fact, "lo", "hi")
    by, here = replay.number(fact, "by"), fact.context
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
    here.about_every(outer, first.names(), _SUMMED)
    for one in because:
        here.about_every(outer, one.names, _SUMMED)
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
    fact.names.difference_update((inner, outer))


def _says(fact: Fact, value: Number) -> bool:
    own = number_in(fact.says.body)
    return own is not None and (own == value or (fact.says.equality and own == -value))


# Rules of noise and of random events, by the times that the file declares.

_NOISE = frozenset({"bounded-variance"})


def not_after(one: list[Number], other: list[Number], here: Context) -> bool:
    """Return whether a time is certainly not after another: whole numbers, the first that differs decides."""
    for place in range(max(len(one), len(other))):
        a, b = (time[place] if place < len(time) else ZERO for time in (one, other))
        if a == b:
            continue
        if here.shown(b - a - ONE, strict=False):
            return True
        if not here.shown(b - a, strict=False):
            return False
    return True


def known_by(replay: Replay, one: Vec, time: list[Number], here: Context) -> bool:
    """Return whether a vector is known at a time."""
    clock = replay.times_of(one, "clock")
    return clock is None or not_after(clock, time, here)


def _orthogonal(replay: Replay, fact: Fact) -> None:
    noise, other = (single(replay.vector(fact, key)) for key in ("noise", "other"))
    if noise is None or other is None:
        raise WrongError("it is about two single vectors")
    drawn = replay.times_of(noise, "drawn")
    if drawn is None:
        raise WrongError(f"{noise.key} is no noise")
    if not known_by(replay, other, drawn, fact.context):
        raise WrongError(f"{other.key} may depend on {noise.key}: it is not shown to be known when that is drawn")
    equation(fact, dot(vector(noise), vector(other)), {})


def _uncorrelated(replay: Replay, fact: Fact) -> None:
    name = replay.name(fact, "index")
    noise = single(replay.vector(fact, "noise"))
    lo, hi, weight = (replay.number(fact, key) for key in ("lo", "hi", "weight"))
    if noise is None or replay.times_of(noise, "drawn") is None:
        raise WrongError("it is about noise")
    others = [one for one in noise.indices if one != of(Symbol(name))]
    if len(others) != len(noise.indices) - 1 or any(name in fact.context.closure(one.names()) for one in others):
        raise WrongError(f"one index of {noise.key} is summed over, and no other depends on it")
    runs(replay, fact, name, lo, hi, fact.context)
    one = total(dict.fromkeys(vector(noise), weight), name, lo, hi)
    squares = times(dot(vector(noise), vector(noise)), weight * weight)
    equation(fact, dot(one, one), total(squares, name, lo, hi))
    fact.names.discard(name)


# All but axioms and what few proofs need, by name.
RULES: dict[str, LineRule] = {
    "combine": LineRule(_combine),
    "square": LineRule(_square, 0),
    "scale": LineRule(_scale, 2),
    "times": LineRule(_times, 1),
    "end": LineRule(_end, 0),
    "against": LineRule(_against, 1),
    "replace": LineRule(_replace),
    "suppose": LineRule(_suppose, 0),
    "induction": LineRule(_induction, 1),
    "at": LineRule(_at, 1),
    "join": LineRule(_join, 0),
    "lowest": LineRule(_lowest, 1),
    "name": LineRule(_name, 0),
    "root": LineRule(_root, 0),
    "define": LineRule(_define, 1),
    "by squares": LineRule(_by_squares, 1),
    "norms": LineRule(_norms, 2),
    "claimed": LineRule(_claimed, 0, own=None),
    "combine vectors": LineRule(_combined),
    "nothing": LineRule(_nothing, 1),
    "total": LineRule(_total, 1),
    "telescope": LineRule(_telescope, 0),
    "split": LineRule(_split, 0),
    "shift": LineRule(_shift, 0),
    "windows": LineRule(_windows),
    "split vector": LineRule(_split, 0),
    "orthogonal": LineRule(_orthogonal, 0, _NOISE),
    "uncorrelated": LineRule(_uncorrelated, 0, _NOISE),
}
