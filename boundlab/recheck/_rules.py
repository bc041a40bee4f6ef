"""Rules of algebra, of instances, cases and induction, and of names for numbers."""

from collections.abc import Iterable

from boundlab.recheck import _structure as read
from boundlab.recheck._errors import WrongError
from boundlab.recheck._facts import Fact, above, alike, equation, number_of, put, same, same_claim
from boundlab.recheck._numbers import ONE, ZERO, Number, Symbol, of
from boundlab.recheck._ranges import Range
from boundlab.recheck._replay import CLAIMED, LineRule, Replay
from boundlab.recheck._structure import Claim
from boundlab.recheck._terms import (
    dot,
    instance,
    minus,
    plus,
    replaced,
    scalar,
    single,
    times,
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
    equation(fact, dot(one.left, own), dot(one.right, own))


def _replace(_: Replay, fact: Fact) -> None:
    current = fact.says.left
    for one in fact.premises:
        old = single(one.left)
        if old is None:
            raise WrongError(f"the left side of fact {one.number} is no single vector")
        current = replaced(current, old, one.right)
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
        for other in here.closure(step.names) - {on}:
            if on in here.needs(other):
                raise WrongError(f"{other} depends on {on}, on which the induction is")
    low = fact.context.find(on).low
    if low is None:
        raise WrongError(f"{on} has no lower end")
    same_claim(base.says, put(hypothesis.says, {on: low}), "the base of the induction")
    same_claim(step.says, put(hypothesis.says, {on: of(Symbol(on)) + ONE}), "the step of the induction")
    same_claim(hypothesis.says, fact.says, "the hypothesis")
    if fact.says.relation == "=" and not hypothesis.says.equality:
        raise WrongError("the claim is an equation, the hypothesis is none")
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
        if known.integer and not here.integer(value):
            raise WrongError(f"{name} is whole, which {value.key} is not")
        own = known.put(values)
        for end in (own.low, own.high):
            replay.use(fact, end or ZERO)
        for gap, strict in own.gaps(value):
            here.need(gap, f"{name} = {value.key} may lie outside its range", strict=strict)
    for other in there.closure(one.names) - values.keys():
        if touched := there.needs(other) & values.keys():
            raise WrongError(f"{other} depends on {', '.join(sorted(touched))}: it needs a value, too")
    kept = one.names - values.keys()
    fact.names.update(here.closure(kept))
    alike(fact, one, lambda side: instance(side, values))


def _join(replay: Replay, fact: Fact) -> None:
    cases = [replay.fact(one, "cases") for one in read.as_list(fact.data.get("cases"), "cases", 2)]
    one, two = (case.context.origin for case in cases)
    if one[:1] != ("split",) or one[:4] != two[:4] or {one[4], two[4]} != {0, 1} or one[1] is not fact.context:
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
    name = str(made[1])
    known = fact.context.find(name)
    if not known.integer or known.low is None or known.low != made[2]:
        raise WrongError("the split is not at the lowest whole number")
    same_claim(first.says, put(rest.says, {name: known.low}), "the lowest case")
    same_claim(rest.says, fact.says, "the other cases")
    _take(fact, rest)


# ---------------------------------------------------------------------- names for numbers


def declared(replay: Replay, fact: Fact, names: set[str], *, family: bool = False) -> tuple[str, Range]:
    """Return the symbol that a fact says the value of, and its range; what it is made of was declared before it."""
    name, here = replay.name(fact, "name"), fact.context
    if replay.defined.get(name) != fact.number or name not in here.own or name in here.split:
        raise WrongError(f"{name} is not declared as what this fact says")
    known = here.find(name)
    for other in names:
        if other not in here.order or here.order[other] >= here.order[name]:
            raise WrongError(f"{name} is made of {other}, which is not declared before it")
    here.meaning[name] = set(names)
    if bool(known.arity) is not family:
        raise WrongError(f"{name} is {'a family' if known.arity else 'one number'}")
    return name, known


def _name(replay: Replay, fact: Fact) -> None:
    value = read.number(fact.data.get("value"), "value")
    replay.has_value(value, fact.context)
    name, known = declared(replay, fact, value.names())
    for gap, strict in known.gaps(value):
        fact.context.need(gap, f"{name} may lie outside its range", strict=strict)
    if known.integer and not fact.context.integer(value):
        raise WrongError(f"{name} is whole, which {value.key} is not")
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
    same_claim(least.says, Claim(value, ">=", scalar(known.low)), f"the range of {name}")
    if more := least.names - fact.context.closure(read.names(value) | known.low.names()):
        raise WrongError(f"the range of {name} is shown only where {', '.join(sorted(more))} has a value")
    equation(fact, scalar(of(Symbol(name))), value)


def _by_squares(replay: Replay, fact: Fact) -> None:
    (squares,) = fact.premises
    x, y = replay.number(fact, "one"), replay.number(fact, "other")
    wanted = Claim(scalar(x * x), "=" if squares.says.equality else "<=", scalar(y * y))
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
        same_claim(one.says, Claim(dot(own, own), "<=", scalar(size * size)), f"the bound on a norm, fact {one.number}")
        fact.context.need(size, "the bound on a norm may be negative")
    above(fact, minus(scalar(e * h), times(dot(u, v), sign)))


def _claimed(replay: Replay, fact: Fact) -> None:
    if len(fact.axioms) != 1 or not min(fact.axioms).startswith(CLAIMED):
        raise WrongError("what is only claimed carries the name of its step")
    replay.trust(f"the {min(fact.axioms)}, which is only claimed", fact)


ALGEBRA: dict[str, LineRule] = {
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
}
