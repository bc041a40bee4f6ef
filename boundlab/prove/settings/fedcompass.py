"""Exact models of FedCompass: its own scheduler, replayed in fractions, and what a theorem reads off the tape."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

from boundlab.errors import BoundlabError
from boundlab.events import Events
from boundlab.options import Options
from boundlab.prove._functions import infimum, plus, weighted_value
from boundlab.prove._instance import (
    Column,
    Instance,
    Members,
    Name,
    Runs,
    UnfitError,
    Used,
    compiled,
    exactly,
    halves,
    replay_tape,
    used_runs,
    whole,
)
from boundlab.prove.settings._arriving import FEDCOMPASS
from boundlab.prove.settings.buffered import RunsSetting, with_mean_slopes
from boundlab.registry import lookup
from boundlab.tape import RecordAt, Tape

_ZERO, _ONE = Fraction(0), Fraction(1)
# Of a run; see boundlab.algorithms.fedcompass.
_READ = ("tau_max", "A_max", "W_min", "W_max", "V_max", "share_bias", "Q_mean", "Q_bias")
_OWN = ("N", "times")  # options of an instance that are none of the algorithm
_ALL = 64  # events of a closed loop, more than the instances need


class FedCompassSetting(RunsSetting):
    """Beside models, gradients and runs: what an update and a window are made of."""

    objective_name = "F"
    of_schedules = frozenset({"equal-weights"})
    at_least = frozenset({"W_min", "Q_mean"})

    @property
    def equal(self) -> bool:
        """Whether every run weighs 1/n, as the paper's proof has it, too."""
        return "equal-weights" in self.assumed or self.theorem.of_paper

    def instances(self) -> tuple[Instance, ...]:
        """Return exact instances: groups of one and of several clients, late updates, windows of several lengths."""
        return FEDCOMPASS

    def shares(self, instance: Instance) -> tuple[Fraction, ...]:
        """Return p, the weights of the clients' functions in F."""
        return instance.p or super().shares(instance)

    def why_not(self, instance: Instance) -> str:
        """Return which assumption an instance does not meet."""
        if self.equal and (instance.p or {"st", "alpha", "normalise"} & dict(instance.options).keys()):
            return "the weights are not 1/n"
        if instance.p and (len(instance.p) != instance.n or sum(instance.p) != 1 or min(instance.p) <= 0):
            return "the weights of the clients are no shares"
        if "st" in self.theorem.core.fixed and "st" in dict(instance.options):
            return "the staleness function is not constant"
        return super().why_not(instance)

    def given_by(self, events: Events) -> dict[str, Any]:
        """Return how an instance says these events: the scheduler looks at the times, too."""
        return {"events": tuple(events.actor.tolist()), "options": (("times", tuple(events.time.tolist())),)}

    # ------------------------------------------------------------------ the tape

    def _tape(self, instance: Instance) -> Tape:
        try:
            return _tape(instance)
        except BoundlabError as error:
            raise UnfitError(str(error)) from error

    def _window(self, instance: Instance) -> int:
        return int(dict(instance.options).get("N", 1)) if "N" in self.own_symbols else 1

    def _until(self, instance: Instance) -> Instance:
        """Return the instance with as many updates as are looked at: T + N − 1."""
        updates = instance.horizon + self._window(instance) - 1
        return replace(instance, horizon=updates, bounds=())

    def ways(self, instance: Instance) -> list[Name]:
        """Return w[1] … w[N − 1]."""
        return [("w", (y,)) for y in range(1, self._window(instance))]

    def runs(self, instance: Instance) -> Runs:
        """Replay the tape."""
        return _replayed(self._until(instance), self._window(instance), instance.horizon, self.shares(instance))

    # ------------------------------------------------------------------ numbers

    def read_off(self, instance: Instance) -> dict[str, Fraction]:
        """Return the numbers of symbols that are read off the tape; and F0, of f with its weights."""
        return self._read(instance) | {"F0": self._gap(instance)}

    def _gap(self, instance: Instance) -> Fraction:
        shares = self.shares(instance)
        lowest = infimum(instance.functions, shares)
        if lowest is None:
            raise UnfitError("no infimum is known")
        return weighted_value(instance.functions, shares, instance.start) - lowest

    def _work(self, instance: Instance) -> "RunWeights":
        return RunWeights(
            self._tape(self._until(instance)), self._window(instance), instance.horizon, self.shares(instance)
        )

    def _read(self, instance: Instance) -> dict[str, Fraction]:
        options, work, window = dict(instance.options), self._work(instance), self._window(instance)
        if min(work.W) <= 0:
            raise UnfitError("a window holds nothing")
        least, most = Fraction(options.get("Qmin", 1)), Fraction(options.get("Qmax", 1))
        own = lookup("algorithms", "fedcompass")
        read = own.quantities(_parameters(instance), work.tape, len(work.A), {"N": window})
        found = {"N": Fraction(window), "Qmin": least, "Qmax": most, **exactly(read, _READ)}
        if "speed_ratio" in read:
            found["speed_ratio"] = Fraction(read["speed_ratio"]).limit_denominator(1000)
        if "mu_step" in self.own_symbols:
            found |= steps_ratio(found)
        return found

    def families(self, instance: Instance) -> dict[str, Members]:
        """Return the members of families: what runs there are, and what they add up to."""
        work = self._work(instance)
        found: dict[str, Members] = {"p": {(i,): one for i, one in enumerate(self.shares(instance))}}
        return found | self.sizes(instance, instance.horizon) | work.families()


class RunWeights(Used):
    """What the runs of a tape weigh, in fractions."""

    def __init__(self, tape: Tape, window: int, begins: int, shares: tuple[Fraction, ...]) -> None:
        self.window, self.begins, self.shares = window, begins, shares
        updates = begins + window - 1
        super().__init__(tape, {at: row for at, row in used_runs(tape).items() if at[0] < updates})
        self.of: list[list[tuple[int, ...]]] = [[] for _ in range(updates)]
        for at in self.rows:
            self.of[at[0]].append(at)
        self.many = [len(own) for own in self.of]
        self.A = [self._sum(t, 1) for t in range(updates)]
        self.W = [sum(self.A[k : k + window], _ZERO) for k in range(begins)]

    def _sum(self, t: int, power: int, client: int | None = None) -> Fraction:
        own = [at for at in self.of[t] if client in (None, self.c[at])]
        return sum((self.weight[at] ** power * self.steps[at] for at in own), _ZERO)

    def _extra(self, i: int, k: int) -> Fraction:
        own = sum((self._sum(t, 1, i) for t in range(k, k + self.window)), _ZERO)
        return own - self.shares[i] * self.W[k]

    def families(self) -> dict[str, Members]:
        """Return the numbers of runs, updates and windows by their indices."""
        extra: Members = {(i, k): self._extra(i, k) for i in range(len(self.shares)) for k in range(self.begins)}
        return {
            **super().families(),
            **halves("over", "under", extra),
            "many": {(t,): Fraction(one) for t, one in enumerate(self.many)},
            "a": self.weight,
            "steps": whole(self.steps),
            "A": {(t,): one for t, one in enumerate(self.A)},
            "W": {(k,): one for k, one in enumerate(self.W)},
        }


def _parameters(instance: Instance) -> Any:
    options = {name: value for name, value in instance.options if name not in _OWN}
    if instance.p:
        options["p"] = [float(one) for one in instance.p]
    options.setdefault("Qmin", 1)
    options.setdefault("Qmax", 1)
    return lookup("algorithms", "fedcompass").read(Options("fedcompass", {**options, "eta": float(instance.alpha)}))


@cache
def _tape(instance: Instance) -> Tape:
    """Return the tape: of clients that arrive one after the other at times 1, 2, …, or by the times of their steps."""
    own, parameters = lookup("algorithms", "fedcompass"), _parameters(instance)
    if parameters.speeds is None:
        given = dict(instance.options)
        own_ones = {name: value for name, value in given.items() if name not in _OWN}
        more = {"eta": float(instance.alpha), "Qmin": 1, "Qmax": 1, **own_ones}
        if instance.p:
            more["p"] = tuple(float(one) for one in instance.p)
        arrivals = instance.events, instance.n, instance.horizon, given.get("times", ())
        return compiled("fedcompass", tuple(sorted(more.items())), *arrivals)
    events = own.sample(parameters, None, None, None, instance.n, _ALL)
    tape: Tape = own.schedule(parameters, events, instance.n, RecordAt(), instance.horizon)
    return tape


@cache
def _replayed(instance: Instance, window: int, begins: int, shares: tuple[Fraction, ...]) -> Runs:
    """Replay the tape, with the sums of the setting."""
    try:
        tape = _tape(instance)
    except BoundlabError as error:
        raise UnfitError(str(error)) from error
    work = RunWeights(tape, window, begins, shares)
    runs = replay_tape(tape, instance, work.rows)
    return with_mean_slopes(runs, "w", instance.horizon + 1)


def steps_ratio(found: Mapping[str, Fraction]) -> dict[str, Fraction]:
    """Return the largest power of Qmax/Qmin that is at most speed_ratio."""
    ratio, limit, power = found["Qmax"] / found["Qmin"], found["speed_ratio"], _ONE
    if ratio == 1:
        return {"mu_step": limit}
    while power * ratio <= limit:
        power *= ratio
    return {"mu_step": power}


# FedCompass as the printed proof sees it: at each update every client has a run, and some of them arrive.
#
# Run (t, i) is the one that client i is at when update t is made: the one that enters it where the client arrives. It
# began at w[o[t, i]]; y[t, i, q] is its point after q local steps, up to Qmax of them, whatever the scheduler gave it.
# pi[t, i] is the probability that client i arrives at update t: 0 or 1, since the schedule does not depend on the
# noise.
# An update holds a run of at least one client, and no client twice. As the paper reads it, τ_max bounds the staleness
# of
# every client at every update, whether it arrives then or not: (14) and (15) rest on that.


class PrintedFedCompass(FedCompassSetting):
    """Points y, gradients gy and fy of f_i and of F there, noise ey; su[t], all stochastic gradients of update t."""

    def _rows(self, instance: Instance) -> dict[tuple[int, ...], int]:
        """Return which row of the tape run (t, i) is.

        Raises
        ------
        UnfitError
            If an update holds no run, or two of one client.
        """
        work = self._work(instance)
        used = {(t, work.c[t, j]): row for (t, j), row in work.rows.items()}
        if len(used) < len(work.rows) or {t for t, _ in used} != set(range(instance.horizon)):
            raise UnfitError("an update holds no run, or two of one client")
        table = work.tape.descend
        uses = dict(zip(work.tape.uses.update.tolist(), work.tape.uses.version.tolist(), strict=True))
        found: dict[tuple[int, ...], int] = {}
        for row, (i, begun) in enumerate(zip(table.client.tolist(), table.version.tolist(), strict=True)):
            for t in range(begun, min(uses.get(row, instance.horizon), instance.horizon - 1) + 1):
                found.setdefault((t, i), row)  # the first run that client i is at when update t is made
        if len(found) < instance.horizon * instance.n:
            raise UnfitError("a client has no run")
        return found | used

    def _read(self, instance: Instance) -> dict[str, Fraction]:
        found = super()._read(instance)
        begun = self._work(instance).tape.descend.version
        ages = [Fraction(t - int(begun[row])) for (t, _), row in self._rows(instance).items()]
        return found | {"tau_max": max(*ages, found["tau_max"])} | steps_ratio(found)

    def families(self, instance: Instance) -> dict[str, Members]:
        """Return the members of families: who arrives, and where runs began."""
        work, rows, n = self._work(instance), self._rows(instance), instance.n
        arrived = {(t, work.c[t, j]) for t, j in work.rows}
        table = work.tape.descend
        pi = {at: Fraction(int(at in arrived)) for at in rows}
        by_time = [[pi[t, i] for i in range(n)] for t in range(instance.horizon)]
        return {
            "pi": pi,
            "P": {(t,): sum(row, Fraction(0)) for t, row in enumerate(by_time)},
            "o": {at: Fraction(int(table.version[row])) for at, row in rows.items()},
            "Q": {at: Fraction(int(table.steps[row])) for at, row in rows.items()},
            "big": {(t,): Fraction(row.index(max(row))) for t, row in enumerate(by_time)},
            "small": {(t,): Fraction(row.index(min(row))) for t, row in enumerate(by_time)},
        }

    def runs(self, instance: Instance) -> Runs:
        """Replay the tape, and go on with runs of fewer than Qmax local steps, without noise."""
        rows, work = self._rows(instance), self._work(instance)
        found = replay_tape(work.tape, instance, rows)
        steps = {at: int(work.tape.descend.steps[row]) for at, row in rows.items()}
        longest = int(dict(instance.options).get("Qmax", 1))
        outcomes = len(found.chances)
        columns = found.columns
        for (t, i), many in steps.items():
            function = instance.functions[i]
            for q in range(longest + 1):
                if q > many:
                    before = zip(columns["z", (t, i, q - 1)].values, columns["g", (t, i, q - 1)].values, strict=True)
                    points = [plus(at, slope, -instance.alpha) for at, slope in before]
                    columns["z", (t, i, q)] = Column(points)
                    columns["g", (t, i, q)] = Column([function.slope(at) for at in points])
                points = list(columns["z", (t, i, q)].values)
                columns["y", (t, i, q)], columns["gy", (t, i, q)] = Column(points), columns["g", (t, i, q)]
                columns["ey", (t, i, q)] = columns.get(("e", (t, i, q)), Column([instance.zero] * outcomes))
                columns["fy", (t, i, q)] = Column([self._slope_of_mean(instance, at) for at in points])
        return found
