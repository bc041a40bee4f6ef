"""Rules of noise and of random events, by the times and the law that the file declares."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

from boundlab.recheck import _structure as read
from boundlab.recheck._errors import WrongError
from boundlab.recheck._facts import Fact, equation
from boundlab.recheck._numbers import ONE, ZERO, Number, Symbol, of
from boundlab.recheck._ranges import Context
from boundlab.recheck._replay import LineRule, Replay
from boundlab.recheck._sum_rules import runs
from boundlab.recheck._terms import (
    UNIT,
    Atom,
    Base,
    Combination,
    Vec,
    dot,
    instance,
    plus,
    single,
    times,
    total,
    vector,
)

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


@final
@dataclass(frozen=True)
class Law:
    """Who acts in an iteration, and what a register becomes: with @i for the client and @k for the iteration."""

    p: Number
    p_s: Number
    clients: Number
    index: str
    registers: Mapping[str, tuple[str, Combination]]

    @classmethod
    def read(cls, raw: Any) -> "Law":
        """Return the law that stands in a file."""
        own = read.only(read.as_dict(raw, "law"), ("p", "p_s", "clients", "index", "registers"), "law")
        registers = {}
        for name, one in read.as_dict(own.get("registers"), "registers").items():
            each = read.only(read.as_dict(one, name), ("owner", "branch"), name)
            if each.get("owner") not in ("client", "server", "any"):
                raise WrongError(f"nobody owns {name}")
            registers[name] = each["owner"], read.combination(each.get("branch"), name, vectors=True)
        p, p_s, clients = (read.number(own.get(key), key) for key in ("p", "p_s", "clients"))
        return cls(p, p_s, clients, read.name(own.get("index"), "law"), registers)

    def words(self) -> str:
        """Return what it says, for a reader."""
        becomes = (
            f"{name}[…, @k + 1] becomes {read.text(branch)} (by {owner})"
            for name, (owner, branch) in sorted(self.registers.items())
        )
        acts = f"client @i of {self.clients.key} acts with probability {self.p.key}, the server with {self.p_s.key}"
        return f"events: {acts}; {'; '.join(becomes)}"


def law_of(replay: Replay, fact: Fact) -> Law:
    """Return the law that a fact names."""
    listed = read.as_list(replay.raw.get("laws"), "laws")
    which = read.whole(fact.data.get("law"), "law")
    if not 0 <= which < len(listed):
        raise WrongError(f"there is no law {which}")
    return Law.read(listed[which])


def _mixture(replay: Replay, fact: Fact) -> None:
    law, now, here = law_of(replay, fact), replay.number(fact, "now"), fact.context
    if not here.integer(now):
        raise WrongError("the number of an event is whole")
    here.need(now, "the number of an event may be negative")
    replay.use(fact, law.clients)
    drawn = any(owner == "any" for owner, _ in law.registers.values())
    if drawn and law.index in here.closure(read.names(fact.says.left)):
        raise WrongError(f"{law.index} stands for who acts")
    parts = [times(_mean(replay, law, atom, now, here), value) for atom, value in fact.says.left.items()]
    equation(fact, fact.says.left, plus(*parts))
    # What an event is drawn by, the theorem's assumptions: of that the setting knows.
    if not fact.axioms:
        raise WrongError("a law of events is an assumption, and has a name")
    replay.ask_setting("the law of events")


def _mean(replay: Replay, law: Law, atom: Atom, now: Number, here: Context) -> Combination:
    if atom.ranges:
        raise WrongError("an event is looked at before anything is summed")
    if atom.base == UNIT:
        return {atom: ONE}
    changed = [one for one in atom.base.vectors if _changes(law, one, now)]
    for one in atom.base.vectors:
        if one not in changed and not known_by(replay, one, [now], here):
            raise WrongError(f"{one.key} may depend on who acts")
    if not changed:
        return {atom: ONE}
    whose = [(law.registers[one.name][0], one.indices) for one in changed]
    owners = {(kind, indices[0].key if kind == "client" else "") for kind, indices in whose}
    if len(owners) > 1:
        raise WrongError(f"{atom.key} mixes registers that different events change")
    before = [Vec(v.name, (*v.indices[:-1], now)) if v in changed else v for v in atom.base.vectors]
    old = _with(atom, [vector(v) for v in before])
    i = of(Symbol(law.index))
    new = _with(atom, [_branch(law, v, now, i) if v in changed else vector(v) for v in atom.base.vectors])
    ((owner, _),) = owners
    if owner == "any":
        p = law.p.put({"@i": i})
        return plus(total(times(new, p), law.index, ZERO, law.clients), times(old, law.p_s))
    p = law.p.put({"@i": changed[0].indices[0]}) if owner == "client" else law.p_s
    return plus(times(new, p), times(old, ONE - p))


def _changes(law: Law, one: Vec, now: Number) -> bool:
    return one.name in law.registers and bool(one.indices) and one.indices[-1] == now + ONE


def _branch(law: Law, one: Vec, now: Number, client: Number) -> Combination:
    owner, branch = law.registers[one.name]
    values = {"@k": now}
    if owner != "server":
        values["@i"] = client if owner == "any" else one.indices[0]
    if owner != "any":
        between = one.indices[0 if owner == "server" else 1 : -1]
        values |= {f"@{place}": index for place, index in enumerate(between, 1)}
    return instance(branch, values)


def _with(atom: Atom, vectors: list[Combination]) -> Combination:
    if atom.base.kind == "inner":
        return dot(vectors[0], vectors[1])
    new = single(vectors[0])
    if new is None:
        raise WrongError("a function is taken at a single vector")
    return {Atom(Base("value", (new,), atom.base.function, atom.base.indices)): ONE}


CHANCE: dict[str, LineRule] = {
    "orthogonal": LineRule(_orthogonal, 0, _NOISE),
    "uncorrelated": LineRule(_uncorrelated, 0, _NOISE),
    "mixture": LineRule(_mixture, 0, own=None),
}
