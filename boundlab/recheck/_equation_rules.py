"""Rules of equations between vectors."""

from boundlab.recheck import _structure as read
from boundlab.recheck._errors import WrongError
from boundlab.recheck._facts import Fact, number_of, same, same_claim
from boundlab.recheck._replay import LineRule, Replay
from boundlab.recheck._structure import Claim
from boundlab.recheck._terms import Combination, dot, minus, plus, times


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


def _nothing(replay: Replay, fact: Fact) -> None:
    (one,) = fact.premises
    own = replay.vector(fact, "of")
    same_claim(one.says, Claim(dot(own, own), "<=", {}), "a mean square that is 0")
    if fact.claim is not None:
        raise WrongError("it is an equation of vectors")
    same(fact.left, own, "its left side")
    same(fact.right, {}, "its right side")


EQUATIONS: dict[str, LineRule] = {"combine vectors": LineRule(_combined), "nothing": LineRule(_nothing, 1)}
