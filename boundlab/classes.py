"""Classes of runs: what proofs are about, decided exactly on every run."""

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from math import sqrt
from types import MappingProxyType
from typing import Any, ClassVar, Final, NamedTuple, TypeAlias, final

import numpy as np

from boundlab.algorithms import AffineRow, Algorithm, DescendRow, Event, EventLaw, EventProgram
from boundlab.algorithms.example_options import readable, settings
from boundlab.arithmetic.rational import as_fraction, stands_for
from boundlab.errors import SpecError
from boundlab.events import SERVER
from boundlab.options import Options
from boundlab.randomness import Streams
from boundlab.registry import lookup
from boundlab.tape import NOTHING, Initial, Op, Tape

# A run as algebra: each model of the server out of earlier ones and of what passes move, whatever the functions are.
#
# A pass is a client's local steps from where it starts to where it ends; its move is the difference. Registers are
# combinations of the server's models x[t] and of moves, so that what an algorithm says of x[t + 1] can be compared with
# what a class of runs says of it, exactly. Tapes and event programs are both read so.

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
    made: list[dict[int, Fraction]] = []
    for number, t, weight in zip(uses.update.tolist(), uses.version.tolist(), uses.weight.tolist(), strict=True):
        said[t][number] = stands_for(weight)
        if not 0 <= arrivals[number] <= found.events[t]:
            yield f"update {t}: pass {number} is used before it arrives"
    for t, (model, own) in enumerate(zip(found.models, said, strict=True)):
        if not _alike(used(model), own) and not _alike((made := made or steps(found))[t], own):
            yield f"update {t}: x[{t + 1}] is not made of the passes that the tape says it uses"


def used(model: Combination) -> dict[int, Fraction]:
    """Return the passes of which a model is made, with their weights."""
    return {number: weight for (kind, number), weight in model.items() if kind == MOVE}


def _alike(one: Mapping[Any, Fraction], other: Mapping[Any, Fraction]) -> bool:
    return one.keys() == other.keys() and all(near(weight, other[name]) for name, weight in one.items())


def steps(run: Formal) -> list[dict[int, Fraction]]:
    """Return the passes of which each x[t+1] − x[t] is made, also where they stand there as earlier differences.

    What is used again may stand there so: x[t+1] = x[t] + (x[t] − x[t−1]).
    """
    found: list[dict[int, Fraction]] = []
    for t, model in enumerate(run.models):
        moves, earlier, before = used(model), {s: weight for (_, s), weight in models(model).items()}, _ZERO
        for h in range(min(earlier, default=t), t):
            before += earlier.get(h, _ZERO)
            for number, weight in found[h].items() if before else ():
                moves[number] = moves.get(number, _ZERO) - before * weight
        found.append({number: weight for number, weight in moves.items() if weight})
    return found


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


# Classes of runs, each said twice: in words, and as what decides whether a run is one of them.
#
# A class says of which earlier models and of which passes each model of the server is made, where those passes begin,
# and
# how many local steps of which size they have. A proof that begins from these sentences speaks of every run that is in
# the class, whoever made it. What no run shows (that a schedule does not look at the noise, that events are drawn
# independently) stays an assumption of the theorem.


@dataclass(frozen=True)
class StepsOfPasses:
    """The passes of a class: how many local steps each has, and how large they are.

    Parameters
    ----------
    most, least
        Numbers of steps.
    size
        By the pass; unit (−1, 2).
    implicit
        Whether a step ends where it takes its gradient.
    """

    most: int
    size: Callable[[ClientPass], float]
    least: int | None = None
    implicit: bool = False

    def why_not(self, passes: list[ClientPass]) -> Iterator[str]:
        """Yield what is otherwise."""
        least = self.most if self.least is None else self.least
        for number, one in enumerate(passes):
            size = self.size(one)
            if not least <= one.steps <= self.most:
                yield f"pass {number} has {one.steps} local steps"
            if one.size != size:
                yield f"pass {number} has steps of size {one.size!r}, not {size!r}"
            if not one.plain or one.implicit != self.implicit:
                word = "explicit" if self.implicit else "implicit"
                yield f"the local steps of pass {number} are not all of one size, or are {word}"


@dataclass(frozen=True)
class RunClass(ABC):
    """A class of runs."""

    id: ClassVar[str]
    local: StepsOfPasses

    def why_not(self, run: Formal) -> Iterator[str]:
        """Yield what is otherwise than the class says: nothing where a run is in it."""
        yield from run.odd
        yield from self.local.why_not(run.passes)
        if len({one.key for one in run.passes}) < len(run.passes):
            yield "two passes draw one noise"
        if any(not 0 <= one.client < run.clients for one in run.passes):
            yield "a pass is of a client that does not exist"
        yield from self._moves(run)

    def staleness(self, run: Formal) -> Iterator[int]:
        """Yield of each pass that is used how many updates it was late; nothing where that has no meaning."""
        yield from ()

    @abstractmethod
    def _moves(self, run: Formal) -> Iterator[str]:
        """Yield where a model is not made as the class says."""


def version(start: Combination) -> int | None:
    """Return t where a pass begins at x[t]; None where it begins elsewhere."""
    (name, weight), *more = start.items() if start else (((MOVE, 0), _ONE),)
    return name[1] if name[0] == X and weight == 1 and not more else None


@final
@dataclass(frozen=True)
class PassClass(RunClass):
    """x[t+1] = x[t] + Σ_q w(t, q)·(move of pass q), w ≥ 0, each pass from some x[s], s ≤ t, and used once.

    Parameters
    ----------
    count
        How many passes an update has; None: any number, which the schedule decides.
    total
        The sum of its weights; None: any number.
    weight
        Of each pass, where all have that.
    current
        Whether all passes of update t begin at x[t].
    everyone
        Whether they are one of each client.
    """

    id: ClassVar[str] = "passes"
    count: int | None = 1
    total: Fraction | None = None
    weight: Fraction | None = None
    current: bool = False
    everyone: bool = False

    def _moves(self, run: Formal) -> Iterator[str]:
        seen: set[int] = set()
        for t, model in enumerate(run.models):
            uses, who = used(model), f"update {t}: "
            if models(model) != {(X, t): _ONE}:
                yield f"{who}x[{t + 1}] is more than x[{t}] and what passes move"
            yield from (who + one for one in self._weights(uses))
            for number in uses:
                since = version(run.passes[number].start)
                if since is None or (since != t if self.current else since > t):
                    yield f"{who}pass {number} does not begin at x[{t if self.current else 's'}]"
                if number in seen:
                    yield f"{who}pass {number} is used a second time, and its noise with it"
            if self.everyone and sorted(run.passes[number].client for number in uses) != [*range(run.clients)]:
                yield f"{who}its passes are not one of each client"
            seen.update(uses)

    def staleness(self, run: Formal) -> Iterator[int]:
        """Yield t − s of each use."""
        for t, model in enumerate(run.models):
            yield from (t - (version(run.passes[number].start) or 0) for number in used(model))

    def _weights(self, uses: Mapping[int, Fraction]) -> Iterator[str]:
        if self.count is not None and len(uses) != self.count:
            yield f"{len(uses)} passes, not {self.count}"
        if min(uses.values(), default=_ONE) < 0:
            yield f"a weight is {min(uses.values())}"
        if self.weight is not None and any(not near(one, self.weight) for one in uses.values()):
            yield f"weights {', '.join(str(one) for one in uses.values())}, not {self.weight}"
        if self.total is not None and not near(sum(uses.values(), start=Fraction(0)), self.total):
            yield f"the weights have the sum {sum(uses.values())}, not {self.total}"


@final
@dataclass(frozen=True)
class MomentumClass(RunClass):
    """x[t+1] = x[t] + b(t)·(x[t] − x[t−1]) + the mean of one pass of each client, all from x[t] or from that sum.

    Parameters
    ----------
    kept
        b(t), for t ≥ 1.
    ahead
        Whether passes begin at x[t] + b(t)·(x[t] − x[t−1]).
    """

    id: ClassVar[str] = "momentum"
    kept: Callable[[int], Fraction] = lambda _: Fraction(0)
    ahead: bool = False

    def _moves(self, run: Formal) -> Iterator[str]:
        for t, model in enumerate(run.models):
            uses, who, here = used(model), f"update {t}: ", {(X, t): _ONE}
            kept = self.kept(t) if t else Fraction(0)
            further = {(X, t): 1 + kept, (X, t - 1): -kept} if kept else here
            if not _alike(models(model), further):
                yield f"{who}x[{t + 1}] is not made of x[{t}] + {kept}·(x[{t}] − x[{t - 1}]) and what passes move"
            starts = [run.passes[one].start for one in uses]
            if any(not _alike(one, further if self.ahead else here) for one in starts):
                yield f"{who}a pass begins elsewhere"
            if any(not near(one, Fraction(1, run.clients)) for one in uses.values()) or sorted(
                run.passes[one].client for one in uses
            ) != [*range(run.clients)]:
                yield f"{who}its passes are not one of each client, of weight 1/{run.clients}"


@final
@dataclass(frozen=True)
class TurnsClass(RunClass):
    """x[t+1] is the end of a chain of passes, one of each client: the first from x[t], each next from an end."""

    id: ClassVar[str] = "turns"

    def _moves(self, run: Formal) -> Iterator[str]:
        for t, model in enumerate(run.models):
            uses, who, here = used(model), f"update {t}: ", {(X, t): _ONE}
            for number in sorted(uses):
                if run.passes[number].start != here:
                    yield f"{who}pass {number} does not begin where the one before ended"
                here = {**here, (MOVE, number): _ONE}
            if model != here:
                yield f"{who}x[{t + 1}] is not where its passes end"
            if sorted(run.passes[number].client for number in uses) != [*range(run.clients)]:
                yield f"{who}its passes are not one of each client"


@final
@dataclass(frozen=True)
class WindowClass(RunClass):
    """x[t+1] of the passes of the last K arrivals, t among them: x[t] + (rate/K)·Σ moves, or the mean of their ends.

    Pass a begins at some x[s], s ≤ a; the K − 1 that came before update 0 at x[0].

    Parameters
    ----------
    size, rate
        K, and by what the mean of moves is multiplied; None: the mean of the ends is taken.
    """

    id: ClassVar[str] = "window"
    size: int = 1
    rate: Fraction | None = _ONE

    def _moves(self, run: Formal) -> Iterator[str]:
        share = Fraction(1, self.size)
        before, first, entered = set[int](), set[int](), list[int]()
        for t, model in enumerate(run.models):
            uses, who = used(model), f"update {t}: "
            wanted = {(X, t): _ONE} if self.rate is not None else _mean([run.passes[one].start for one in uses])
            if models(model) != wanted:
                yield f"{who}x[{t + 1}] is not made of x[{t}], or of the ends of passes"
            weight = share if self.rate is None else self.rate * share
            if len(uses) != self.size or any(not near(one, weight) for one in uses.values()):
                yield f"{who}its passes are not {self.size} of weight {weight}"
            new, gone = uses.keys() - before, before - uses.keys()
            if not t:
                first = set(new)
            elif len(new) != 1 or not new.isdisjoint({*first, *entered}) or len(gone) != 1:
                yield f"{who}{len(new)} passes enter the window, and {len(gone)} leave it, or one comes back"
            elif not gone <= (first if t <= self.size else {*entered[t - self.size - 1 : t - self.size]}):
                yield f"{who}pass {min(gone)} leaves the window before an older one"
            entered += new if t else ()
            if not all((since := version(run.passes[one].start)) is not None and since <= t for one in new):
                yield f"{who}a pass does not begin at x[s]"
            before = set(uses)


def _mean(starts: list[Combination]) -> Combination:
    found: Combination = {}
    for start in starts:
        for name, weight in start.items():
            found[name] = found.get(name, Fraction(0)) + weight / len(starts)
    return found


@final
@dataclass(frozen=True)
class LatestClass(RunClass):
    """x[t+1] = x[t] + the mean over the clients of the means of the moves that each has sent last, however old.

    A pass is one step. It begins at a server's model but for updates that had not reached the client, and for own moves
    that it had not undone.
    """

    id: ClassVar[str] = "latest"

    def _moves(self, run: Formal) -> Iterator[str]:
        sent: dict[int, set[int]] = {}
        seen: set[int] = set()
        for t, (model, uses) in enumerate(zip(run.models, steps(run), strict=True)):
            who = f"update {t}: "
            if sum(models(model).values()) != 1:
                yield f"{who}x[{t + 1}] is more than x[{t}] and what passes move"
            of: dict[int, set[int]] = {}
            for number in uses:
                of.setdefault(run.passes[number].client, set()).add(number)
            for client, own in of.items():
                if own != sent.get(client) and own & seen:
                    yield f"{who}some of what client {client} has sent is used again, and some is not"
                if any(not near(uses[one], Fraction(1, run.clients * len(own))) for one in own):
                    yield f"{who}the moves of client {client} do not weigh 1/{run.clients * len(own)} each"
            if gone := sent.keys() - of.keys():
                yield f"{who}what client {min(gone)} has sent is not used"
            sent = of
            seen.update(uses)
        for number, one in enumerate(run.passes):
            yield from (f"pass {number}: {why}" for why in _begins_late(one, run))


def _begins_late(one: ClientPass, run: Formal) -> Iterator[str]:
    own = used(one.start)
    if any(weight != 1 or run.passes[number].client != one.client for number, weight in own.items()):
        yield "it begins at what is more than a model and the client's own moves"
    # Σ c_s·x[s] = x[0] + Σ_h (c_{h+1} + c_{h+2} + …)·(x[h+1] − x[h])
    coefficients = {t: weight for (_, t), weight in models(one.start).items()}
    held = Fraction(0)
    for t in sorted(coefficients, reverse=True):
        held += coefficients[t]
        if held not in (0, 1):
            yield "an update has reached it more than once, or in part"
    if held != 1:
        yield "it does not begin at a model"


@final
@dataclass(frozen=True)
class RegisterClass(RunClass):
    """A client that acts sends what its pass made (y ← x) and begins one at x_s; the server takes the mean of the y.

    Parameters
    ----------
    opening
        Whether clients begin a pass before the first event; else x = y = x[0] then.
    late
        Whether the pass of a client whose arrival fills the count begins at the event after it, the server's.
    """

    id: ClassVar[str] = "registers"
    opening: bool = False
    late: bool = False

    def _moves(self, run: Formal) -> Iterator[str]:
        at: dict[tuple[int, int], int] = {}
        for number, one in enumerate(run.passes):
            if at.setdefault((one.event, one.client), number) != number:
                yield f"event {one.event + 1}: client {one.client} begins two passes"
        x = [_end(run, at, -1, i, 0) if self.opening else {(X, 0): _ONE} for i in range(run.clients)]
        y = [{(X, 0): _ONE} for _ in range(run.clients)]
        before, t = _mean(y), 0  # what x[t] is, in other words
        begun = run.clients if self.opening else 0
        for k, actor in enumerate(run.actors):
            waits = actor
            if actor == SERVER:
                now = _mean(y)
                if t == len(run.models) or _without(run.models[t], {(X, t): _ONE}) != _without(now, before):
                    yield f"event {k + 1}: the server's model is not the mean of what clients have sent"
                before, t = now, t + 1
                if not self.late or not k:
                    continue
                waits = run.actors[k - 1]
            else:
                y[actor] = x[actor]
                if self.late and k + 1 < len(run.actors) and run.actors[k + 1] == SERVER:
                    continue
            x[waits] = _end(run, at, k, waits, t)
            begun += 1
            if not x[waits]:
                yield f"event {k + 1}: client {waits} does not begin a pass at x[{t}]"
        if t != len(run.models) or begun != len(run.passes):
            yield f"{len(run.models)} models and {len(run.passes)} passes, not {t} and {begun}"


def _without(one: Combination, other: Combination) -> Combination:
    found = {name: one.get(name, Fraction(0)) - other.get(name, Fraction(0)) for name in {*one, *other}}
    return {name: weight for name, weight in found.items() if weight}


def _end(run: Formal, at: Mapping[tuple[int, int], int], event: int, client: int, t: int) -> Combination:
    """Return where the pass ends that a client begins with an event at x[t]; nothing where it does not."""
    number = at.get((event, client))
    if number is None or run.passes[number].start != {(X, t): _ONE}:
        return {}
    return {(X, t): _ONE, (MOVE, number): _ONE}


# The class that the proofs about each algorithm speak of, with the numbers of a run's options in it.


def _gd(parameters: Any, clients: int) -> RunClass:
    count = clients if parameters.sampling == "all" else 1
    local = StepsOfPasses(1, lambda one: parameters.step.of(version(one.start) or 0))
    return PassClass(local, count=count, weight=Fraction(1, count), current=True, everyone=count > 1)


def _async_sgd(parameters: Any, _: int) -> RunClass:
    return PassClass(StepsOfPasses(1, lambda _: parameters.alpha), weight=Fraction(1))


def _buffer(parameters: Any, _: int) -> RunClass:
    local = StepsOfPasses(parameters.local.steps, lambda _: parameters.local.first)
    return PassClass(local, count=parameters.count, total=as_fraction(parameters.eta_g))


def _fedcompass(parameters: Any, _: int) -> RunClass:
    return PassClass(StepsOfPasses(parameters.Qmax, lambda _: parameters.eta, parameters.Qmin), count=None)


def _fedfa(parameters: Any, _: int) -> RunClass:
    local = StepsOfPasses(parameters.local.steps, lambda _: parameters.local.first)
    rate = as_fraction(parameters.eta_g) if parameters.mode == "delta" else None
    return WindowClass(local, size=parameters.K, rate=rate)


def _afl_dga(parameters: Any, _: int) -> RunClass:
    return LatestClass(StepsOfPasses(1, lambda _: parameters.eta))


def _area(parameters: Any, _: int) -> RunClass:
    def size(one: ClientPass) -> float:
        return float(parameters.step.of(parameters.answers_with(one.event) if one.event >= 0 else 0))

    local = StepsOfPasses(parameters.M, size)
    return RegisterClass(local, opening=parameters.start == "algorithm", late=parameters.reply == "post")


def _proximal_point(parameters: Any, _: int) -> RunClass:
    size = StepsOfPasses(1, lambda one: parameters.step.of(version(one.start) or 0), implicit=True)
    return PassClass(size, weight=Fraction(1), current=True)


def _incremental(parameters: Any, _: int) -> RunClass:
    def size(one: ClientPass) -> float:
        return float(parameters.step.of(max(t for (_, t) in models(one.start))))

    return TurnsClass(StepsOfPasses(1, size))


def _heavy_ball(parameters: Any, _: int) -> RunClass:
    kept = as_fraction(parameters.beta)
    return MomentumClass(StepsOfPasses(1, lambda _: parameters.alpha), kept=lambda _: kept)


def _nesterov(parameters: Any, _: int) -> RunClass:
    def kept(t: int) -> Fraction:
        if parameters.q is not None:
            return Fraction((1 - sqrt(parameters.q)) / (1 + sqrt(parameters.q)))
        before, now = 1.0, (1 + sqrt(5)) / 2
        for _ in range(t - 1):
            before, now = now, (1 + sqrt(1 + 4 * now * now)) / 2
        return Fraction((before - 1) / now)

    return MomentumClass(StepsOfPasses(1, lambda _: parameters.alpha), kept=kept, ahead=True)


CLASSES: Final[Mapping[str, Callable[[Any, int], RunClass]]] = MappingProxyType(
    {
        "gd": _gd,
        "async_sgd": _async_sgd,
        "fedbuff": _buffer,
        "fedstaleweight": _buffer,
        "fedcompass": _fedcompass,
        "fedfa": _fedfa,
        "afl_dga": _afl_dga,
        "area": _area,
        "proximal_point": _proximal_point,
        "incremental": _incremental,
        "heavy_ball": _heavy_ball,
        "nesterov": _nesterov,
    }
)
"""By the algorithm of a theorem: its class, given the options of a run and the number of clients."""


def class_of(algorithm: Algorithm[Any], parameters: Any, clients: int) -> RunClass:
    """Return the class that proofs about an algorithm speak of.

    Of one that has none of its own, it is that of asynchronous SGD: single steps that the server adds as they arrive.
    """
    own = CLASSES.get(algorithm.id)
    if own is not None:
        return own(parameters, clients)
    size = _size(algorithm, parameters)
    return PassClass(StepsOfPasses(1, lambda _: size), weight=Fraction(1))


def _size(algorithm: Algorithm[Any], parameters: Any) -> float:
    """Return the constant size of local steps, by the name of its option or as ``algorithms`` keeps it; else 0."""
    for name in algorithm.step_size_symbols:
        if hasattr(parameters, name):
            return float(getattr(parameters, name))
    if hasattr(parameters, "local"):
        return float(parameters.local.first)
    return float(parameters.step.c) if hasattr(parameters, "step") else 0.0


def known(name: str, parameters: Any) -> bool:
    """Return whether these are options that proofs about the algorithm know."""
    match name:
        case "gd":
            plain = parameters.decay.constant and parameters.sampled is None
            return bool(plain and parameters.M == 1 and parameters.sampling != "mean")
        case "async_sgd":
            return bool(parameters.schedule.constant)
        case "fedbuff":
            return bool(parameters.staleness.kind == "constant")
        case "afl_dga":
            return bool(parameters.server == "plain" and parameters.scaling == "analysis")
    return True


# An algorithm's own runs, which are to be in the class that proofs about it speak of.
#
# A proof begins from what its class says. Here the algorithm is asked whether it does so: its tapes and its program,
# for
# one, two and three clients, with every word of its options that the proofs know.

CLIENTS: Final = (1, 2, 3)
_ITERATIONS: Final = 8
_EVENTS: Final = 24  # of a program
_DELAYS: Final[tuple[tuple[str, dict[str, str]], ...]] = (("exponential", {"spread": "5"}), ("iid", {}))


def outside(
    name: str, fixed: Mapping[str, str | None] = MappingProxyType({}), clients: tuple[int, ...] = CLIENTS
) -> str:
    """Return where an algorithm's own runs are otherwise than its class says; empty where all are in it.

    Parameters
    ----------
    fixed
        Options with the one word that is looked at; None: the default.
    clients
        The numbers of clients that are looked at: those of :data:`CLIENTS` that the theorem is about.
    """
    algorithm = lookup("algorithms", name)
    return _outside(name, tuple(sorted(fixed.items())), clients, algorithm.schedule, algorithm.program)


def described(name: str) -> str:
    """Return the class that proofs about an algorithm speak of, in words."""
    algorithm = lookup("algorithms", name)
    given = settings(name, algorithm, 2, 0)[0]
    own = class_of(algorithm, algorithm.read(Options(name, given)), 2)
    return f"class {own.id}: {type(own).__doc__ or ''}".partition("\n")[0]


@cache
def _outside(
    name: str,
    fixed: tuple[tuple[str, str | None], ...],
    numbers: tuple[int, ...],
    _schedule: Callable[..., Any],
    _program: Callable[..., Any],
) -> str:
    algorithm, looked, kept = lookup("algorithms", name), 0, dict(fixed)
    for clients in numbers:
        for given in settings(name, algorithm, clients, 4):
            chosen = {**given, **kept}
            given = {option: value for option, value in chosen.items() if value is not None}
            if not readable(algorithm, given) or not known(name, parameters := algorithm.read(Options(name, given))):
                continue
            own = class_of(algorithm, parameters, clients)
            for run in own_runs(algorithm, parameters, clients):
                looked += 1
                for why in own.why_not(run):
                    options = ", ".join(f"{option}={value}" for option, value in given.items())
                    return f"with {options} and {clients} clients it leaves the class {own.id}: {why}"
    return "" if looked else "it has no run with options that proofs know"


def own_runs(algorithm: Algorithm[Any], parameters: Any, clients: int) -> Iterator[Formal]:
    """Yield an algorithm's tapes for a few delays, and its program for drawn events, as algebra."""
    parameters = parameters.known()
    for kind, options in _DELAYS:
        try:
            delays = lookup("delays", kind).build(Options(f"delays {kind}", dict(options)), clients)
            policy, streams = algorithm.policy(None, delays), Streams(2)
            many = algorithm.events_for(parameters, clients, _ITERATIONS) + clients
            events = algorithm.sample(parameters, delays, policy, streams, clients, many)
            tape = algorithm.schedule(parameters, events, clients, NOTHING, _ITERATIONS)
        except SpecError:  # such delays do not go with it, or so many events hold no iteration
            continue
        yield of_tape(tape)
    try:
        program = algorithm.program(parameters, clients)
    except SpecError:
        return
    if program is not None:
        share = 1.0 / (clients + 1)
        law = EventLaw(np.full(clients, share), share)
        yield of_program(program, clients, drawn(program, law, _EVENTS, 1))
