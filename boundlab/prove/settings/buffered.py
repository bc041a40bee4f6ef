"""Exact models of full buffers: the algorithms' own tapes, replayed in fractions, and what is read off them."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from math import prod
from typing import Any, TypeAlias, final

from boundlab.prove._functions import Point, inner, mean_slope, plus, root_above, spread, square_root, steepest, summed
from boundlab.prove._instance import (
    MAX_OUTCOMES,
    Column,
    Instance,
    Members,
    Name,
    Runs,
    UnfitError,
    Used,
    compiled,
    exact_weight,
    exactly,
    halves,
    parameters_of,
    replay_tape,
    run_once,
    used_runs,
)
from boundlab.prove._scalars import ProofError
from boundlab.prove.setting import Setting
from boundlab.registry import lookup
from boundlab.tape import usage

# Exact models of algorithms whose server adds up finished runs of local steps: FedBuff, FedCompass, FedFa.


class RunsSetting(Setting):
    """Models w[t], gradients d[i, t] at them, and runs with points z[t, j, q], gradients g[t, j, q], noise e[t, j, q].

    Update t = 0, 1, … makes the model w[t + 1] out of w[t] and the runs j = 0, 1, … that enter it.
    """

    noise_size = "sigma_l"
    # Assumptions on schedules that each algorithm decides for its own instances.
    of_schedules: frozenset[str] = frozenset()
    # Vectors of exact models: gradients of local steps, with their points; where gradients of clients are compared.
    steps_taken, compared = ("g", "z"), "w"
    # Symbols of theorems for which a smaller number is the weaker one.
    at_least: frozenset[str] = frozenset()

    def granted(self, instance: Instance) -> frozenset[str]:
        """Return the assumptions that an instance meets for a reason of its algorithm's."""
        return self.of_schedules

    def why_not(self, instance: Instance) -> str:
        """Return which assumption an instance does not meet; its arrivals are a schedule that is fixed."""
        of_runs = {"bounded-run", "fixed-schedule", *self.granted(instance)}
        others = self.assumed - {"bounded-gradients", "bounded-heterogeneity", *of_runs}
        if why := instance.why_not(others, self.noisy):
            return why
        if self.theorem.points:
            return ""  # bounds along the run there are
        if "bounded-gradients" in self.assumed and "B" not in instance.least():
            return "a gradient is not bounded"
        if "bounded-heterogeneity" in self.assumed and spread(instance.functions, self.shares(instance)) is None:
            return "gradients are not at bounded distances of their mean"
        return ""

    def shares(self, instance: Instance) -> tuple[Fraction, ...]:
        """Return the weights of the clients' functions in f."""
        return tuple(Fraction(1, instance.n) for _ in instance.functions)

    def read_off(self, instance: Instance) -> dict[str, Fraction]:
        """Return the numbers of symbols that are read off a run."""
        raise NotImplementedError

    def constants(self, instance: Instance) -> dict[str, Fraction]:
        """Return the numbers of symbols; an instance may say weaker ones than its run has."""
        read = self.read_off(instance)
        own = {name: value for name, value in instance.bounds if name in read}
        rest = tuple((name, value) for name, value in instance.bounds if name not in own)
        found = self._of_functions(replace(instance, bounds=rest)) | read
        for name, value in own.items():
            if value > found[name] if name in self.at_least else value < found[name]:
                raise UnfitError(f"{name} = {value} is not true of the run: {found[name]}")
            found[name] = value
        return found

    def _of_functions(self, instance: Instance) -> dict[str, Fraction]:
        """Return the numbers of symbols that are read off no schedule."""
        found = instance.constants()
        found |= {str(self.step): instance.alpha, "sigma_l": found["sigma"], "Q": found["M"]}
        found.pop("tau_max", None)
        if "B" in found:
            found["G_sq"] = found["B"] ** 2
        if (gaps := spread(instance.functions, self.shares(instance))) is not None:
            found |= {"sigma_g": root_above(gaps[0]), "sigma_g_mean": root_above(gaps[1])}
        return found | (self._at_points(instance) if self.theorem.points else {})

    def _slope_of_mean(self, instance: Instance, at: Point) -> Point:
        """Return ∇f there."""
        pairs = zip(instance.functions, self.shares(instance), strict=True)
        return summed(len(at), ((share, function.slope(at)) for function, share in pairs))

    def sizes(self, instance: Instance, many: int) -> dict[str, Members]:
        """Return √E‖∇f‖² at so many models, and the means of those before each; nothing where one is not rational."""
        runs, sizes = self.runs(instance), list[Fraction]()
        for t in range(many):
            slopes = [self._slope_of_mean(instance, at) for at in runs.at((self.compared, (t,)))]
            pairs = zip(runs.chances, slopes, strict=True)
            size = square_root(sum((chance * inner(one, one) for chance, one in pairs), Fraction()))
            if size is None:
                return {}
            sizes.append(size)
        means: Members = {(t,): sum(sizes[:t], Fraction()) / t for t in range(1, many + 1)}
        return {"size": {(t,): one for t, one in enumerate(sizes)}, "size_mean": means}

    def ways(self, instance: Instance) -> list[Name]:
        """Return the points on the ways to which, from w[0], gradients are bounded."""
        return []

    def _at_points(self, instance: Instance) -> dict[str, Fraction]:
        """Return the bounds on gradients at the points of the theorem, whatever happens in a run."""
        runs = self.runs(instance)
        gradient, point = self.steps_taken
        # A run goes on from each point at which it takes a gradient.
        taken = [
            at
            for (name, (*run, q)), column in runs.columns.items()
            if name == gradient and (point, (*run, q + 1)) in runs.columns
            for at in column.values
        ]
        ends = [runs.at(name) for name in self.ways(instance)]
        starts = runs.at(("w", (0,)))
        ways = [pair for one in ends for pair in zip(starts, one, strict=True)]
        long = [steepest(function, one[0], two[0]) for function in instance.functions for one, two in ways]
        gaps = []
        for t in range(instance.horizon):
            for model in runs.at((self.compared, (t,))):
                mean = self._slope_of_mean(instance, model)
                own = [plus(function.slope(model), mean, Fraction(-1)) for function in instance.functions]
                gaps.append([inner(gap, gap) for gap in own])
        found = {
            "G_sq": max([*(inner(at, at) for at in taken), *long]),
            "sigma_g": root_above(max(map(max, gaps))),
            "sigma_g_mean": root_above(max(sum(own, Fraction()) for own in gaps) / instance.n),
        }
        return {name: value for name, value in found.items() if name in self.theorem.points}


def with_mean_slopes(runs: Runs, point: str, many: int) -> Runs:
    """Add mv[i, t], the mean of f_i' between w[0] and so many points; returns the runs."""
    for t in range(many):
        ways = [(one[0], other[0]) for one, other in zip(runs.at(("w", (0,))), runs.at((point, (t,))), strict=True)]
        for i, function in enumerate(runs.functions):
            runs.columns["mv", (i, t)] = Column([(mean_slope(function, *way),) for way in ways])
    return runs


_ZERO, _ONE = Fraction(0), Fraction(1)


class BufferSetting(RunsSetting):
    """Beside models, gradients and runs: what a buffer is made of."""

    def _read_of(self, instance: Instance) -> "Buffers":
        return _buffers(self.theorem.algorithm, replace(instance, bounds=(), noise=()))

    def runs(self, instance: Instance) -> Runs:
        """Replay the tape."""
        own = self._read_of(instance)
        return replay_tape(own.tape, instance, own.rows)

    def read_off(self, instance: Instance) -> dict[str, Fraction]:
        """Return the numbers of symbols that are read off the tape."""
        return self._read_of(instance).symbols()

    def families(self, instance: Instance) -> dict[str, Members]:
        """Return the members of families: what entries there are, and what they weigh."""
        return self._read_of(instance).families()


def options_of(instance: Instance) -> dict[str, Any]:
    """Return the algorithm's options on an instance."""
    return {**dict(instance.options), "M": instance.steps, "eta_l": float(instance.alpha)}


class Buffers(Used):
    """The buffers of the first T updates of a tape: whose entries they hold, from when, and with which weights."""

    def __init__(self, algorithm: str, instance: Instance) -> None:
        own, options = lookup("algorithms", algorithm), options_of(instance)
        self.n, self.T = instance.n, instance.horizon
        self.parameters = parameters_of(own, options)
        tape = compiled(algorithm, tuple(sorted(options.items())), instance.events, instance.n, instance.horizon)
        super().__init__(tape, used_runs(tape))
        self.rate = exact_weight(own.server_rate(self.parameters))
        self.alpha = {at: weight / self.rate for at, weight in self.weight.items()}
        self.many = self.parameters.count
        self.share: dict[tuple[int, ...], Fraction] = {
            (i, t): sum((one for at, one in self.alpha.items() if at[0] == t and self.c[at] == i), _ZERO)
            for i in range(self.n)
            for t in range(self.T)
        }

    def spread(self, t: int) -> Fraction:
        """Return n·Σ (share − 1/n)² of a buffer."""
        return self.n * sum(((self.share[i, t] - Fraction(1, self.n)) ** 2 for i in range(self.n)), _ZERO)

    def symbols(self) -> dict[str, Fraction]:
        """Return what theorems read, exactly."""
        read = usage(self.tape, self.T, float(self.rate))
        if read is None:
            raise UnfitError("nothing is used")
        found = exactly(read.symbols(), ("tau_max", "chi2_path", "alpha2"))
        return {**found, "eta_g": self.rate, "many": Fraction(self.many), "b": Fraction(self.many)}

    def families(self) -> dict[str, Members]:
        """Return the numbers of entries by their indices."""
        spread: Members = {(t,): self.spread(t) for t in range(self.T)}
        return {"alpha": self.alpha, **parts(self.n, self.share), "spread": spread, **super().families()}


_buffers = cache(Buffers)


def parts(n: int, shares: Members) -> dict[str, Members]:
    """Return how much more, and less, than 1/n shares are."""
    return halves("over", "under", {at: one - Fraction(1, n) for at, one in shares.items()})


# FedStaleWeight as the printed proof sees it: weights that follow the mean staleness of an entry's client.
#
# Every buffer is a uniform subset of the clients. What is said here of one schedule is true of each of them; exact
# instances are those in which every buffer holds all clients, so that there is nothing to draw.


class PrintedBuffers(BufferSetting):
    """Beside what is in a buffer: age[t, j], the mean staleness of the client of entry j; b, the size of a buffer."""

    of_schedules = frozenset({"uniform-buffer"})

    def why_not(self, instance: Instance) -> str:
        """Return which assumption an instance does not meet."""
        own = dict(instance.options)
        if own.get("count", 1) != instance.n or (instance.n > 1 and own.get("reply") != "wait"):
            return "not every buffer holds all clients"
        return super().why_not(instance)

    def constants(self, instance: Instance) -> dict[str, Fraction]:
        """Return the numbers of symbols."""
        return super().constants(instance) | {"scale": Fraction(dict(instance.options).get("scale", 1.0))}

    def families(self, instance: Instance) -> dict[str, Members]:
        """Return the members of families; where every buffer holds all clients, nothing is ever late."""
        found = super().families(instance)
        own = self._read_of(replace(instance, bounds=(), noise=()))
        return found | {"age": {at: Fraction(at[0] - start) for at, start in own.s.items()}}


# Exact models of buffers with a random schedule: all arrivals, all noise and all drawn entries are enumerated.
#
# Arrivals are independent, of client i with probability p_i, and the algorithm's own compiler makes a tape of each
# sequence of them. Noise belongs to a client, the number of its run, and the local step: the same in all schedules.

# The noise of each client's run, by (client, number of the run, local step).
_Noise: TypeAlias = tuple[tuple[tuple[int, int, int], Point], ...]


class StationarySetting(RunsSetting):
    """Models, gradients at them, buffers and their drawn entries."""

    of_schedules = frozenset({"stationary-participation"})
    steps_taken = "gk", "zk"

    def why_not(self, instance: Instance) -> str:
        """Return which assumption an instance does not meet."""
        if len(instance.p) != instance.n or sum(instance.p) != 1 or min(instance.p) <= 0:
            return "the probabilities of the arrivals do not make up a law"
        if dict(instance.options).get("reply") == "wait":
            return "a client that waits cannot enter a buffer again"
        return super().why_not(instance)

    def _key(self, instance: Instance) -> Instance:
        own = dict(instance.options)
        if self.theorem.algorithm == "fedstaleweight":
            # Weights that follow the staleness depend on who arrived before.
            own.setdefault("scale", 0.0)
        return replace(instance, bounds=(), options=tuple(sorted(own.items())))

    def runs(self, instance: Instance) -> Runs:
        """Run everything."""
        return _all_runs(self.theorem.algorithm, self._key(instance))

    def read_off(self, instance: Instance) -> dict[str, Fraction]:
        """Return the numbers of symbols that are read off all schedules."""
        every = list(_schedules(self.theorem.algorithm, replace(self._key(instance), noise=())))
        n, p = instance.n, instance.p
        for t, i in itertools.product(range(instance.horizon), range(n)):
            _same_share(every, t, i, p[i])
        return {
            "tau_max": max(one.buffers.symbols()["tau_max"] for one in every),
            "eta_g": every[0].buffers.rate,
            "chi2": n * sum(((one - Fraction(1, n)) ** 2 for one in p), _ZERO),
            "pi_max": max(p),
            "alpha2": sum((one.chance * one.buffers.symbols()["alpha2"] for one in every), _ZERO),
        }

    def families(self, instance: Instance) -> dict[str, Members]:
        """Return the members of families."""
        every = list(_schedules(self.theorem.algorithm, replace(self._key(instance), noise=())))
        squares: Members = {
            (t,): sum((one.chance * one.squares(t) for one in every), _ZERO) for t in range(instance.horizon)
        }
        return {**parts(instance.n, {(i,): one for i, one in enumerate(instance.p)}), "al2": squares}


@final
@dataclass(frozen=True)
class _Schedule:
    """Who arrives, how probable that is, and what the algorithm makes of it."""

    arrivals: tuple[int, ...]
    chance: Fraction
    buffers: Buffers

    def squares(self, t: int) -> Fraction:
        """Return Σ alpha² in buffer t."""
        return sum((one**2 for at, one in self.buffers.alpha.items() if at[0] == t), _ZERO)

    def before(self, t: int) -> tuple[int, ...]:
        """Return the arrivals for the buffers before t."""
        return self.arrivals[: t * self.buffers.many]


def _same_share(every: Sequence[_Schedule], t: int, i: int, p: Fraction) -> None:
    """Make sure that given the arrivals before buffer t the expected weight of client i in it is p."""
    chance: dict[tuple[int, ...], Fraction] = {}
    weight: dict[tuple[int, ...], Fraction] = {}
    for one in every:
        past = one.before(t)
        chance[past] = chance.get(past, _ZERO) + one.chance
        weight[past] = weight.get(past, _ZERO) + one.chance * one.buffers.share[i, t]
    if any(weight[past] != p * own for past, own in chance.items()):
        raise UnfitError("the expected weights of the clients in a buffer depend on what came before")


@cache
def _law(algorithm: str, instance: Instance) -> tuple[_Schedule, ...]:
    count = int(dict(instance.options).get("count", 1))
    found = []
    for arrivals in itertools.product(range(instance.n), repeat=count * instance.horizon):
        chance = prod((instance.p[i] for i in arrivals), start=_ONE)
        found.append(_Schedule(arrivals, chance, _buffers(algorithm, replace(instance, events=arrivals, p=()))))
    return tuple(found)


def _schedules(algorithm: str, instance: Instance) -> tuple[_Schedule, ...]:
    return _law(algorithm, replace(instance, noise=(), bounds=()))


def _noises(instance: Instance, runs: int) -> Iterator[tuple[Fraction, _Noise]]:
    """Yield the noise of the first runs of all clients, with probabilities."""
    places = list(itertools.product(range(instance.n), range(runs), range(instance.steps)))
    laws = [instance.law(i) for i, _, _ in places]
    for drawn in itertools.product(*laws):
        chance = prod((share for share, _ in drawn), start=_ONE)
        yield chance, tuple(zip(places, (value for _, value in drawn), strict=True))


@cache
def _all_runs(algorithm: str, instance: Instance) -> Runs:
    every = _schedules(algorithm, instance)
    T, many = instance.horizon, every[0].buffers.many
    noises = list(_noises(instance, T * many))
    if len(every) * len(noises) * many**T > MAX_OUTCOMES:
        raise UnfitError(f"there are more than {MAX_OUTCOMES} outcomes")
    chances: list[Fraction] = []
    rows: list[dict[Name, Point]] = []
    groups: list[tuple[tuple[int, ...], _Noise]] = []
    for schedule, (chance, noise) in itertools.product(every, noises):
        seen = _of_schedule(schedule, instance, dict(noise))
        alpha = schedule.buffers.alpha
        for entries in itertools.product(range(many), repeat=T):
            share = prod((alpha[t, j] for t, j in enumerate(entries)), start=_ONE)
            if share:
                chances.append(schedule.chance * chance * share)
                rows.append(seen | _of_entries(schedule, instance, entries, seen))
                groups.append((schedule.arrivals, noise))
    for t in range(T):
        _given_past(t, t * many, instance, chances, rows, groups)
    names = set.intersection(*(set(row) for row in rows))
    columns = {name: Column([row[name] for row in rows]) for name in names}
    return Runs(chances, columns, instance.functions)


def _of_schedule(
    schedule: _Schedule, instance: Instance, noise: dict[tuple[int, int, int], Point]
) -> dict[Name, Point]:
    """Return what does not depend on drawn entries; and the runs of all entries, as ("z", (t, j, q)) and so on."""
    own = schedule.buffers
    clients = own.tape.descend.client.tolist()
    number = {row: clients[:row].count(client) for row, client in enumerate(clients)}
    by_row = {
        (row, q): noise[client, number[row], q]
        for row, client in enumerate(clients)
        for q in range(instance.steps)
        if (client, number[row], q) in noise
    }
    names: dict[int, list[Any]] = {}
    for place, row in own.rows.items():
        names.setdefault(row, []).append(place)
        if (row, 0) not in by_row:
            raise ProofError("a run that enters a buffer has no noise of its own")
    seen = run_once(own.tape, instance, by_row, names)
    for t in range(own.T + 1):
        model = seen["w", (t,)]
        for i, function in enumerate(instance.functions):
            seen["d", (i, t)] = function.slope(model)
    for t, q in itertools.product(range(own.T), range(instance.steps)):
        entries = [(weight, at) for at, weight in own.alpha.items() if at[0] == t]
        for name, of in (("hb", "g"), ("xb", "e")):
            seen[name, (t, q)] = summed(len(instance.start), [(weight, seen[of, (*at, q)]) for weight, at in entries])
    return seen


def _of_entries(
    schedule: _Schedule, instance: Instance, entries: Sequence[int], seen: dict[Name, Point]
) -> dict[Name, Point]:
    """Return the vectors of the drawn entries, and the ways to where they began."""
    own, zero = schedule.buffers, instance.zero
    found: dict[Name, Point] = {}
    for t, j in enumerate(entries):
        found["dk", (t,)] = seen["d", (own.c[t, j], t)]
        for name, of in (("zk", "z"), ("gk", "g"), ("ek", "e")):
            for q in range(instance.steps + (name == "zk")):
                found[name, (t, q)] = seen[of, (t, j, q)]
    for t, j in enumerate(entries):
        late = t - own.s[t, j]
        for m in range(own.T + 1):
            found["pk", (t, m)] = seen["w", (t - min(m, late),)]
            for q in range(instance.steps):
                old, there = t - m - 1, m < late
                found["ub", (t, m, q)] = plus(seen["hb", (old, q)], seen["xb", (old, q)], _ONE) if there else zero
                found["gu", (t, m, q)] = found["gk", (old, q)] if there else zero
                found["eu", (t, m, q)] = found["ek", (old, q)] if there else zero
    return found


def _given_past(
    t: int,
    known: int,
    instance: Instance,
    chances: Sequence[Fraction],
    rows: Sequence[dict[Name, Point]],
    groups: Sequence[tuple[tuple[int, ...], _Noise]],
) -> None:
    """Add mb[t, q]: the mean of gk[t, q] over all outcomes with the same first arrivals and the same noise."""
    weights: dict[Any, Fraction] = {}
    sums: dict[Any, Point] = {}
    zero = instance.zero
    keys = [(arrivals[:known], noise) for arrivals, noise in groups]
    for q in range(instance.steps):
        weights.clear()
        sums.clear()
        for key, chance, row in zip(keys, chances, rows, strict=True):
            weights[key] = weights.get(key, _ZERO) + chance
            sums[key] = plus(sums.get(key, zero), row["gk", (t, q)], chance)
        for key, row in zip(keys, rows, strict=True):
            row["mb", (t, q)] = tuple(part / weights[key] for part in sums[key])
