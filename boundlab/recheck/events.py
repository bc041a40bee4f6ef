"""Who acts in an iteration, by a law: what few proofs need. A file that asks for no event is checked without this."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

from boundlab.recheck import _structure as read
from boundlab.recheck._forms import WrongError
from boundlab.recheck._numbers import ONE, ZERO, Number, Symbol, of
from boundlab.recheck._replay import Fact, Replay, equation
from boundlab.recheck._rules import known_by
from boundlab.recheck._terms import (
    UNIT,
    Atom,
    Base,
    Combination,
    Context,
    Vec,
    dot,
    instance,
    plus,
    single,
    times,
    total,
    vector,
)


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


def mixture(replay: Replay, fact: Fact) -> None:
    """Check that a fact is the mean over who acts of what becomes of its left side."""
    law, now, here = law_of(replay, fact), replay.number(fact, "now"), fact.context
    if not here.integer(now):
        raise WrongError("the number of an event is whole")
    here.need(now, "the number of an event may be negative")
    replay.use(fact, law.clients)
    drawn = any(owner == "any" for owner, _ in law.registers.values())
    if drawn and law.index in here.closure(read.names(fact.says.left)):
        raise WrongError(f"{law.index} stands for who acts")
    equation(fact, fact.says.left, becomes(replay, law, fact.says.left, now, here))
    # What an event is drawn by, the theorem's assumptions: of that the setting knows.
    if not fact.axioms:
        raise WrongError("a law of events is an assumption, and has a name")
    replay.leave(replay.setting, "the law of events")


def becomes(replay: Replay, law: Law, value: Mapping[Atom, Number], now: Number, here: Context) -> Combination:
    """Return what becomes of an expression in an event, in the mean over who acts."""
    return plus(*(times(_mean(replay, law, atom, now, here), weight) for atom, weight in value.items()))


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
