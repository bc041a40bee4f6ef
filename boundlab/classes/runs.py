"""Classes of runs, each said twice: in words, and as what decides whether a run is one of them.

A class says of which earlier models and of which passes each model of the server is made, where those passes begin, and
how many local steps of which size they have. A proof that begins from these sentences speaks of every run that is in
the class, whoever made it. What no run shows (that a schedule does not look at the noise, that events are drawn
independently) stays an assumption of the theorem.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

from boundlab.classes.formal import MOVE, ClientPass, Combination, Formal, X, models, near, used
from boundlab.events import SERVER

_ONE = Fraction(1)


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


def _alike(one: Combination, other: Combination) -> bool:
    return one.keys() == other.keys() and all(near(weight, other[name]) for name, weight in one.items())


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
        for t, model in enumerate(run.models):
            uses, who = used(model), f"update {t}: "
            if models(model) != {(X, t): _ONE}:
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
