"""Rules of norms: E‖v‖ is the value of one more function, called norm, and of equations between vectors."""

from boundlab.recheck import _structure as read
from boundlab.recheck._errors import WrongError
from boundlab.recheck._facts import Fact, above, equation, number_of, same, same_claim
from boundlab.recheck._numbers import ONE, ZERO, Number, Symbol, of, rational
from boundlab.recheck._ranges import Context, Range
from boundlab.recheck._replay import Replay, Rule
from boundlab.recheck._rules import declared, premises
from boundlab.recheck._structure import Claim
from boundlab.recheck._terms import Atom, Base, Combination, Open, Vec, dot, minus, plus, scalar, single, times

_AT_EVERY_OUTCOME = frozenset({"convex", "strongly-convex", "smooth", "lipschitz", "minimiser", "algorithm"})


def _norm(one: Vec) -> Base:
    return Base("value", (one,), "norm")


def _norm_of(one: Combination) -> Combination:
    own = single(one)
    if own is None:
        raise WrongError("the norm is taken of a vector with a name")
    return {Atom(_norm(own)): ONE}


def _combined(replay: Replay, fact: Fact) -> None:
    factors = read.as_list(fact.data.get("multipliers"), "multipliers")
    others = read.as_list(fact.data.get("vectors"), "vectors", len(fact.premises) - len(factors))
    parts: list[Combination] = []
    for place, (raw, one) in enumerate(zip(factors, fact.premises, strict=False)):
        if one.claim is not None:
            raise WrongError(f"fact {one.number} is no equation of vectors")
        own = read.number(raw, f"multiplier {place}")
        replay.use(fact, own)
        parts.append(times(minus(one.left, one.right), own))
    for raw, one in zip(others, fact.premises[len(factors) :], strict=True):
        own_vector = replay.combination_of(fact, raw, "a vector")
        if not one.says.equality:
            raise WrongError("only an equation between numbers multiplies a vector")
        parts.append(times(own_vector, number_of(one)))
    if fact.claim is not None:
        raise WrongError("it is an equation of vectors")
    same(minus(fact.left, fact.right), plus(*parts), "left − right − Σ multiplier·equation")
    replay.rests_on(fact)


def _nothing(replay: Replay, fact: Fact) -> None:
    (one,) = premises(fact, 1)
    own = replay.vector(fact, "of")
    same_claim(one.says, Claim(dot(own, own), "<=", {}), "a mean square that is 0")
    if fact.claim is not None:
        raise WrongError("it is an equation of vectors")
    same(fact.left, own, "its left side")
    same(fact.right, {}, "its right side")
    replay.rests_on(fact)


def _absolute(fact: Fact, value: Number, because: tuple[Fact, ...] = ()) -> Number:
    """Return |value|; its sign is shown by the ranges, or by a fact."""
    for sign in (ONE, -ONE):
        own = value * sign
        if any(one.says.body == scalar(own) for one in because) or fact.context.shown(own, strict=False):
            return own
    if any(one.says.equality and one.says.body in (scalar(value), scalar(-value)) for one in because):
        return value
    raise WrongError(f"the sign of {value.key} is not shown")


def _triangle(replay: Replay, fact: Fact) -> None:
    if not fact.premises or fact.premises[0].claim is not None:
        raise WrongError("it is about an equation of vectors")
    one, *because = fact.premises
    parts = []
    for atom, coefficient in one.right.items():
        size = _absolute(fact, coefficient, tuple(because))
        if not atom.ranges:
            parts.append({Atom(_norm(atom.base.vectors[0])): size})
            continue
        if len(atom.ranges) > 1 or atom.weight != ONE:
            raise WrongError(f"{atom.key} is no plain sum of vectors")
        ((lo, hi),) = atom.ranges
        fact.context.need(hi - lo, "the range of a sum")
        opened = atom.opened()
        parts.append(times(Open(opened.ranges, opened.weight, _norm(opened.base.vectors[0])).closed(), size))
    above(fact, minus(plus(*parts), _norm_of(one.left)))
    replay.rests_on(fact)


def _same_norm(replay: Replay, fact: Fact) -> None:
    (one,) = premises(fact, 1)
    if one.claim is not None or len(one.right) != 1:
        raise WrongError("the vector is no multiple of one vector")
    ((atom, coefficient),) = one.right.items()
    if atom.ranges:
        raise WrongError("the vector is no multiple of one vector")
    size = _absolute(fact, coefficient)
    equation(fact, _norm_of(one.left), {Atom(_norm(atom.base.vectors[0])): size} if size else {})
    replay.rests_on(fact)


def _mean_norm(replay: Replay, fact: Fact) -> None:
    (one,) = premises(fact, 1)
    own, size = replay.vector(fact, "of"), replay.number(fact, "size")
    same_claim(one.says, Claim(dot(own, own), "<=", scalar(size * size)), "a bound on a mean square")
    fact.context.need(size, "the bound on a norm")
    above(fact, minus(scalar(size), _norm_of(own)))
    replay.rests_on(fact)


def _at_every_outcome(fact: Fact) -> None:
    here: Context | None = fact.context
    while here is not None:
        if here.origin[:1] == ("suppose",):
            raise WrongError(f"fact {fact.number} is supposed in the mean, not at every outcome")
        here = here.parent
    if more := sorted(fact.axioms - _AT_EVERY_OUTCOME):
        raise WrongError(f"fact {fact.number} holds in the mean, by {', '.join(more)}, not at every outcome")


def _shorter(replay: Replay, fact: Fact) -> None:
    (one,) = premises(fact, 1)
    u, v, factor = replay.vector(fact, "u"), replay.vector(fact, "v"), replay.number(fact, "factor")
    _at_every_outcome(one)
    same_claim(one.says, Claim(dot(u, u), "<=", times(dot(v, v), factor * factor)), "a comparison of two squares")
    fact.context.need(factor, "the factor of a norm")
    above(fact, minus(times(_norm_of(v), factor), _norm_of(u)))
    replay.rests_on(fact)


def _cauchy(replay: Replay, fact: Fact) -> None:
    (one,) = premises(fact, 1)
    u, v = replay.vector(fact, "u"), replay.vector(fact, "v")
    size, sign = replay.number(fact, "size"), replay.number(fact, "sign")
    _at_every_outcome(one)
    if sign not in (ONE, -ONE):
        raise WrongError("the sign is 1 or -1")
    same_claim(one.says, Claim(dot(v, v), "<=", scalar(size * size)), "a bound on a norm")
    fact.context.need(size, "the bound on a norm")
    above(fact, minus(times(_norm_of(u), size), times(dot(u, v), sign)))
    replay.rests_on(fact)


def _below_square(replay: Replay, fact: Fact) -> None:
    premises(fact, 0)
    own, weight = replay.vector(fact, "of"), replay.number(fact, "weight")
    fact.context.need(weight, "the weight", strict=True)
    half = rational(1) / rational(2)
    above(fact, minus(plus(times(dot(own, own), half / weight), scalar(weight * half)), _norm_of(own)))
    replay.rests_on(fact)


def _no_negative(replay: Replay, fact: Fact) -> None:
    premises(fact, 0)
    above(fact, _norm_of(replay.vector(fact, "of")))
    replay.rests_on(fact)


def _lengths(replay: Replay, fact: Fact) -> None:
    premises(fact, 0)
    own = replay.vector(fact, "of")
    one = single(own)
    if one is None or len(one.indices) != 1:
        raise WrongError("lengths are those of a family of vectors")
    if replay.times_of(one, "clock") is not None or replay.times_of(one, "drawn") is not None:
        raise WrongError(f"{one.name} is random: its norm is no number")
    name, known = declared(replay, fact, set(), family=True)
    if known != Range(ZERO, arity=1) or one.indices[0].key not in fact.context.order:
        raise WrongError(f"{name} is a family of lengths: from 0, one for each index")
    equation(fact, dot(own, own), scalar(of(Symbol(name, one.indices)).power(2)))
    replay.rests_on(fact)


def _length(replay: Replay, fact: Fact) -> None:
    (one,) = premises(fact, 1)
    if one.rule != "lengths":
        raise WrongError("the fact does not say what the length of a vector is")
    own = read.combination(one.data.get("of"), "of", vectors=True)
    found = single(own)
    if found is None:
        raise WrongError("lengths are those of a family of vectors")
    equation(fact, _norm_of(own), scalar(of(Symbol(replay.name(one, "name"), found.indices))))
    replay.rests_on(fact)


NORMS: dict[str, Rule] = {
    "combine vectors": _combined,
    "nothing": _nothing,
    "triangle": _triangle,
    "same norm": _same_norm,
    "mean norm": _mean_norm,
    "shorter": _shorter,
    "cauchy": _cauchy,
    "below square": _below_square,
    "norm": _no_negative,
    "lengths": _lengths,
    "length": _length,
}
