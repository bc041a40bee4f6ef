"""A run as algebra: each model of the server out of earlier ones and of what passes move, whatever the functions are.

A pass is a client's local steps from where it starts to where it ends; its move is the difference. Registers are
combinations of the server's models x[t] and of moves, so that what an algorithm says of x[t + 1] can be compared with
what a class of runs says of it, exactly. Tapes and event programs are both read so.
"""

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final, NamedTuple, TypeAlias, final

import numpy as np

from boundlab.algorithms import AffineRow, DescendRow, Event, EventLaw, EventProgram
from boundlab.arithmetic.rational import as_fraction, stands_for
from boundlab.tape import Initial, Op, Tape

X: Final = "x"
MOVE: Final = "move"
Name: TypeAlias = tuple[str, int]  # (X, t) is the server's model x[t], (MOVE, j) what pass j moves
Combination: TypeAlias = dict[Name, Fraction]
_ZERO, _ONE = Fraction(0), Fraction(1)
_ROUNDED: Final = Fraction(1, 10**12)  # relative: sums of weights that are no simple fractions


class ClientPass(NamedTuple):
    """Local steps of a client.

    Parameters
    ----------
    client
        Whose they are.
    start
        Where they begin.
    steps, size
        How many, and how large the first one is; unit (−1, 2).
    event
        During which event they are made; −1: before the first one.
    key
        What their randomness is drawn with: two passes with one key have the same noise.
    plain
        False where the others are of other sizes.
    implicit
        Whether each ends where it takes its gradient.
    """

    client: int
    start: Combination
    steps: int
    size: float
    event: int
    key: tuple[int, ...]
    plain: bool = True
    implicit: bool = False


@final
@dataclass(frozen=True, slots=True)
class Formal:
    """The algebra of a run.

    Parameters
    ----------
    clients
        n.
    actors
        Who acts in each event.
    passes
        In the order in which they begin.
    models
        x[1], x[2], …, each of what came before.
    events
        With which event each of these is made.
    odd
        Where a tape says of itself what is not so.
    """

    clients: int
    actors: Sequence[int]
    passes: list[ClientPass] = field(default_factory=list)
    models: list[Combination] = field(default_factory=list)
    events: list[int] = field(default_factory=list)
    odd: list[str] = field(default_factory=list)


def of_tape(tape: Tape) -> Formal:
    """Read a tape."""
    fold = _Fold(tape.initial.tolist(), tape.server, Formal(tape.clients, tape.events.actor.tolist()))
    affine, descend = tape.affine, tape.descend
    start, dst, src = affine.start.tolist(), affine.dst.tolist(), affine.src.tolist()
    coef = list(map(as_fraction, next(tape.recipes())))
    implicit = tape.implicit.tolist() or [False] * len(descend.dst)
    plain = not len(tape.local) or bool((tape.local == 1.0).all())
    columns = (descend.dst, descend.src, descend.client, descend.steps, descend.step_size, descend.update)
    passes = list(zip(*(one.tolist() for one in columns), implicit, strict=True))
    needed, versions, now = _needed(tape), tape.version.tolist(), -1
    for op, row, event in zip(tape.op.tolist(), tape.row.tolist(), tape.event.tolist(), strict=True):
        if event != now:
            fold.end(now, versions[now + 1])
            now = event
        if op == Op.AFFINE:
            if dst[row] in needed:
                fold.affine(dst[row], [(coef[at], src[at]) for at in range(start[row], start[row + 1])])
        elif op == Op.DESCEND:
            to, at, client, steps, size, update, of_prox = passes[row]
            fold.descend(to, at, client, steps, size, event, (client, update), plain, of_prox)
    fold.end(now, versions[now + 1])
    fold.found.odd.extend(_tables(tape, fold.found))
    return fold.found


def _tables(tape: Tape, found: Formal) -> Iterator[str]:
    """Yield where a tape says of its passes what is not so: symbols of theorems are read off these columns."""
    versions, arrivals = tape.descend.version.tolist(), tape.descend.arrival.tolist()
    for number, (one, at) in enumerate(zip(found.passes, versions, strict=True)):
        # Of updates that have reached a client out of order, x[0] + Σ (x[h+1] − x[h]), it says how many there are; what
        # is ahead of a model is of no version.
        whole = all(weight.denominator == 1 for weight in models(one.start).values())
        if whole and sum(weight * t for (_, t), weight in models(one.start).items()) != at:
            yield f"pass {number} does not begin at version {at}, as the tape has it"
    uses = tape.uses
    if not len(uses.update):
        return
    said: list[dict[int, Fraction]] = [{} for _ in found.models]
    for number, t, weight in zip(uses.update.tolist(), uses.version.tolist(), uses.weight.tolist(), strict=True):
        said[t][number] = stands_for(weight)
        if not 0 <= arrivals[number] <= found.events[t]:
            yield f"update {t}: pass {number} is used before it arrives"
    for t, (model, own) in enumerate(zip(found.models, said, strict=True)):
        moves = used(model)
        if moves.keys() != own.keys() or any(not near(moves[one], weight) for one, weight in own.items()):
            yield f"update {t}: x[{t + 1}] is not made of the passes that the tape says it uses"


def used(model: Combination) -> dict[int, Fraction]:
    """Return the passes of which a model is made, with their weights."""
    return {number: weight for (kind, number), weight in model.items() if kind == MOVE}


def models(model: Combination) -> Combination:
    """Return its part of earlier models."""
    return {name: weight for name, weight in model.items() if name[0] == X}


def near(found: Fraction, wanted: Fraction) -> bool:
    """Return whether two numbers are equal up to the rounding of a few floats."""
    return found == wanted or abs(found - wanted) <= _ROUNDED * abs(wanted)


def _needed(tape: Tape) -> set[int]:
    """Return the registers of which models and passes are made; averages are shown, and nothing is made of them."""
    needed = {tape.server, *np.unique(tape.descend.src).tolist()}
    reads: dict[int, set[int]] = {}
    for row, dst in enumerate(tape.affine.dst.tolist()):
        reads.setdefault(dst, set()).update(
            tape.affine.src[tape.affine.start[row] : tape.affine.start[row + 1]].tolist()
        )
    new = set(needed)
    while new:
        new = set().union(*(reads.get(one, set()) for one in new)) - needed
        needed |= new
    return needed


def of_program(program: EventProgram, clients: int, events: Sequence[Event]) -> Formal:
    """Read the events of a program, one after the other, from its opening on."""
    fold = _Fold(program.initial, 0, Formal(clients, [one[0] for one in events]))
    plain = all(one == 1.0 for one in program.local)
    rows, control = program.opening()
    _run(fold, rows, -1, plain=plain)
    fold.end(-1)
    for place, event in enumerate(events):
        rows, control, *_ = program.event(control, event, place)
        _run(fold, rows, place, plain=plain)
        fold.end(place)
    return fold.found


def drawn(program: EventProgram, law: EventLaw[float], many: int, seed: int) -> list[Event]:
    """Return so many events of a program that are drawn as a law says."""
    draw, events = random.Random(seed), list[Event]()  # noqa: S311  (no secret)
    control = program.opening()[1]
    while len(events) < many:
        choices = program.choices(control, law)
        events += draw.choices([event for event, _ in choices], [share for _, share in choices])
        control = program.event(control, events[-1], len(events) - 1).control
    return events


def _run(fold: "_Fold", rows: Iterable[Any], event: int, *, plain: bool) -> None:
    for row in rows:
        if isinstance(row, AffineRow):
            fold.affine(row.dst, [(as_fraction(weight), src) for weight, src in row.terms])
        elif isinstance(row, DescendRow):
            key = (row.client, len(fold.found.passes))
            fold.descend(row.dst, row.src, row.client, row.steps, row.step_size, event, key, plain)
        else:
            fold.held[row.dst] = fold.held[row.src]


@final
class _Fold:
    """Runs rows on combinations in place of vectors."""

    def __init__(self, initial: Iterable[int], server: int, found: Formal) -> None:
        self.server, self.found = server, found
        self.held: dict[int, Combination] = {
            place: {(X, 0): _ONE} if Initial(one) is Initial.START else {}
            for place, one in enumerate(initial)
            if Initial(one) is not Initial.UNWRITTEN
        }
        self._lately: list[int] = []  # what was added up in this event

    def affine(self, dst: int, terms: Sequence[tuple[Fraction, int]]) -> None:
        """Add up registers."""
        value: Combination = {}
        for weight, src in terms:
            for name, part in self.held[src].items():
                more = weight if part == 1 else weight * part
                value[name] = value[name] + more if name in value else more
        added = [src for weight, src in terms if weight == 1]
        self._write(dst, {name: part for name, part in value.items() if part}, added)
        self._lately.append(dst)

    def descend(
        self, dst: int, src: int, client: int, steps: int, size: float, event: int, key: tuple[int, ...], plain: bool,
        implicit: bool = False,
    ) -> None:  # fmt: skip
        """Make local steps."""
        start = self.held[src]
        move = (MOVE, len(self.found.passes))
        self.found.passes.append(ClientPass(client, start, steps, size, event, key, plain, implicit))
        self._write(dst, {**start, move: _ONE}, [])

    def _write(self, dst: int, value: Combination, added: Sequence[int]) -> None:
        """Fill a register; where it is the server's, what is in it is a new model and has a name.

        What was added to the model before is the difference of two models from then on: sums of such stay short.
        """
        if dst != self.server:
            self.held[dst] = value
            return
        t = len(self.found.models)
        old, new = (X, t), (X, t + 1)
        self.found.models.append(value)
        self.held[dst] = {new: _ONE}
        for src in added:
            held = self.held[src]
            if src != dst and held and old not in held and value == {old: _ONE, **held}:
                self.held[src] = {new: _ONE, old: -_ONE}
        # What is ahead of the new model was made before it, of the same moves: it is that model, and earlier ones.
        moves = used(value)
        for src in self._lately if moves else ():
            own, parts = self.held[src], used(self.held[src])
            share = parts[min(moves)] / moves[min(moves)] if parts.keys() == moves.keys() else None
            if share is not None and all(near(parts[one], share * weight) for one, weight in moves.items()):
                rest = {name: own.get(name, _ZERO) - share * value.get(name, _ZERO) for name in {*value, *own}}
                kept = {name: part for name, part in rest.items() if name[0] == X and part}
                self.held[src] = {**kept, new: share}

    def end(self, event: int, version: int | None = None) -> None:
        """Note with which event new models were made, and where a tape counts others."""
        self._lately.clear()
        made = len(self.found.models)
        self.found.events.extend([event] * (made - len(self.found.events)))
        if version not in (None, made):
            self.found.odd.append(f"event {event + 1}: there are {made} models of the server, not {version}")
