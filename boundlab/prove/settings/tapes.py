"""Exact models of AFL-DGA, FedCompass and FedFa: their tapes, replayed in fractions, and what is read off them."""

import itertools
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cache, cached_property
from typing import Any

import numpy as np
import sympy

from boundlab.classes import Combination, models, of_tape, steps, used
from boundlab.errors import AssumptionError, BoundlabError, CaseError
from boundlab.events import SERVER, Events
from boundlab.formulas.symbols import symbol
from boundlab.prove._functions import infimum, plus, root_above, square_root, weighted_value
from boundlab.prove._instance import (
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
    used_runs,
    whole,
)
from boundlab.prove._scalars import ProofError
from boundlab.prove._terms import Context, Fact, expr
from boundlab.prove.setting import Setting
from boundlab.prove.settings.buffered import RunsSetting, with_mean_slopes
from boundlab.prove.sheets import cited
from boundlab.registry import lookup
from boundlab.tape import RecordAt, Tape, arrived
from boundlab.theorems import Condition

_ZERO, _ONE = Fraction(0), Fraction(1)

# AFL-DGA: averages of local gradients that a round uses, and the rows of a tape that they are made of.

_WORDS = {"+": "step", "!": "send", "<": "recv", "=": "aggregate"}
# What boundlab reads off the tape; roots and means are floats there.
_OF_ROUNDS = ("S", "M_own", "Q_age", "K_m", "D_m", "tau_sum", "SM2", "reuse", "reuse_n")


def events_of(text: str) -> Events:
    """Return events from text: +i/r a local step, !i/r sent, =r aggregated, <i/r received."""
    actors, details = [], []
    for one in text.split():
        who, _, number = one[1:].rpartition("/")
        actors.append(int(who) if who else SERVER)
        details.append((_WORDS[one[0]], int(number)))
    return Events(np.arange(1.0, len(actors) + 1.0), np.array(actors, dtype=np.int32), tuple(details))


def text_of(events: Events) -> str:
    """Return the text of events; :func:`events_of` reads it."""
    signs = {word: sign for sign, word in _WORDS.items()}
    pairs = zip(events.actor.tolist(), events.detail, strict=True)
    return " ".join(f"{signs[word]}{'' if who == SERVER else f'{who}/'}{number}" for who, (word, number) in pairs)


# η·L, and how large it may be in r1: 1/(1 + √2·S), or 1/(1 + S) where M_o = 0.
STEP = symbol("eta") * symbol("L")
SMALL_ENOUGH = 1 / (1 + sympy.sqrt(1 + sympy.Min(1, symbol("M_own"), evaluate=False)) * symbol("S"))


class AflDgaSetting(Setting):
    """Models w[t], points z[i, r, q], gradients g there, noise e, and the averages that the server uses."""

    def decides(self, condition: Condition) -> bool:
        """Return whether it is that of r1, which holds a root."""
        return bool(condition.quantity == STEP and condition.limit == SMALL_ENOUGH)

    def decided(self) -> Condition:
        """Return the condition of r1, which holds a root."""
        found = [one for one in self.theorem.conditions if self.decides(one)]
        if not found:
            raise ProofError(f"{self.theorem.id} has no condition {STEP} ≤ {SMALL_ENOUGH}")
        return found[0]

    @cited
    def small_step(self) -> Fact:
        """Return the theorem's condition on η·L."""
        (one,) = (one for one in self.theorem.conditions if "eta" in {s.name for s in one.quantity.free_symbols})
        return self.condition(expr(self.formula(one.quantity)) <= expr(self.formula(one.limit)), one.statement)

    @cited
    def small_step_in(self, case: Context) -> Fact:
        """Return c·S²·x² ≤ (1 − x)² for c = 1 + min(1, M_own), as it is in a case.

        With x ≤ 1, that is x ≤ 1/(1 + √c·S).
        """
        one = self.decided()
        self.meets(one.statement)
        x, c = self.eta * self.symbol("L"), 1 + self.formula(sympy.Min(1, symbol("M_own"), evaluate=False), case)
        claim = expr(c * self.symbol("S") ** 2 * x**2) <= expr((1 - x) ** 2)
        return self.kernel.make(claim, case, "axiom", axioms=[one.statement])

    @cited
    def step_below_one(self) -> Fact:
        """Return x ≤ 1, which is weaker."""
        return self.condition(expr(self.eta * self.symbol("L")) <= 1, self.decided().statement)

    def given_by(self, events: Events) -> dict[str, Any]:
        """Return how an instance says these events: as text."""
        return {"options": (("rounds", text_of(events)),)}

    def why_not(self, instance: Instance) -> str:
        """Return which assumption an instance does not meet."""
        others = self.assumed - {"fixed-schedule", "bounded-second-moment", "bounded-run"}
        if why := instance.why_not(others, self.noisy):
            return why
        if not self.theorem.points and "B" not in instance.least():
            return "a gradient is not bounded"
        if any(self.decides(one) for one in self.theorem.conditions):
            # With a root of 2, that is.
            own = self.constants(instance)
            x, S, twice = own["eta"] * own["L"], own["S"], 1 + min(_ONE, own["M_own"])
            if x > 1 or twice * S**2 * x**2 > (1 - x) ** 2:
                return "the step is too large"
        return ""

    def constants(self, instance: Instance) -> dict[str, Fraction]:
        """Return the numbers of symbols, those that boundlab reads off the tape among them."""
        given = dict(instance.bounds)
        inner = tuple((name, value) for name, value in instance.bounds if name != "G")
        found = replace(instance, bounds=inner).constants()
        sizes = self._at_points(instance) if self.theorem.points else _sizes(instance)
        found["G"] = max(root_above(max(sizes)), given.get("G", _ZERO))
        return found | {"eta": instance.alpha} | dict(work_of(instance).read)

    def _at_points(self, instance: Instance) -> list[Fraction]:
        """Return E‖g‖² of the stochastic gradients that rounds use, and of those that their points still hold."""
        runs, work = self.runs(instance), work_of(instance)
        laws = [one.variance() for one in instance.noise] or [_ZERO] * instance.n
        places = {(i, work.first[t, i], q): len(work.kept[row]) for t, i, q, row in work.uses()}
        used = [runs.inner(("g", at), ("g", at)) + laws[at[0]] for at in places]
        held = [("o", (*at, p)) for at, many in places.items() for p in range(many)]
        return [*used, *(runs.inner(one, one) for one in held)]

    def families(self, instance: Instance) -> dict[str, Members]:
        """Return the members of families."""
        return work_of(instance).families()

    def runs(self, instance: Instance) -> Runs:
        """Replay the tape."""
        return _dga_replayed(replace(instance, bounds=()))


def _sizes(instance: Instance) -> list[Fraction]:
    """Return the largest E‖g‖² of each client's stochastic gradients."""
    laws = [one.variance() for one in instance.noise] or [_ZERO] * instance.n
    slopes = [one.lipschitz() or _ZERO for one in instance.functions]  # squared
    return [slope + law for slope, law in zip(slopes, laws, strict=True)]


def work_of(instance: Instance) -> "DgaRows":
    """Return what a run of an instance is made of, whatever its functions and noise are."""
    options = dict(instance.options)
    if "rounds" not in options:
        raise UnfitError("the events of the rounds are not given")
    return _dga_rows(str(options["rounds"]), instance.n, instance.horizon, instance.alpha)


class DgaRows:
    """The rows of a tape as a setting names them, read off its algebra.

    Parameters
    ----------
    text
        The events; see :func:`events_of`.
    n, horizon, eta
        Clients, rounds and step size.
    """

    def __init__(self, text: str, n: int, horizon: int, eta: Fraction) -> None:
        self.n, self.horizon, self.eta = n, horizon, eta
        self.events = events_of(text)
        if not all(SERVER <= one < n for one in self.events.actor.tolist()):
            raise UnfitError("a client acts that does not exist")
        own = lookup("algorithms", "afl_dga")
        options = {"eta": float(eta), "scaling": "analysis", "server": "plain"}
        self.parameters = parameters_of(own, options)
        try:
            self.tape: Tape = own.schedule(self.parameters, self.events, n, RecordAt(), horizon)
            if self.tape.iterations < horizon:
                raise UnfitError(f"the events hold {self.tape.iterations} rounds, not {horizon}")
            read = own.quantities(self.parameters, self.tape, horizon, {})
        except (AssumptionError, CaseError) as error:
            raise UnfitError(str(error)) from None
        run = of_tape(self.tape)
        # Rows of the tape: which averages and which own rows are in the model that a row was taken at.
        self.received = [_reached(models(one.start)) for one in run.passes]
        self.kept = [tuple(sorted(used(one.start))) for one in run.passes]
        moved = [*map(sorted, steps(run))]
        # By (t, i): the rows that round t uses, and since when.
        self.rows: dict[tuple[int, ...], tuple[int, ...]] = {}
        self.first: dict[tuple[int, ...], int] = {}
        for t, i in itertools.product(range(horizon), range(n)):
            self.rows[t, i] = tuple(row for row in moved[t] if run.passes[row].client == i)
            again = t > 0 and self.rows[t - 1, i] == self.rows[t, i]
            self.first[t, i] = self.first[t - 1, i] if again else t
        self.read = self._numbers(read)

    def _numbers(self, read: Mapping[str, float]) -> dict[str, Fraction]:
        found = {name: Fraction(read[name]).limit_denominator(10_000) for name in _OF_ROUNDS}
        # A root that is not rational is no number of a model.
        if any(t > r and square_root(Fraction(many)) is None for (t, r), many in self.many.items()):
            del found["reuse_n"]
        return found

    @cached_property
    def many(self) -> Counter[tuple[int, int]]:
        """By (t, r), how many clients' averages in round t were first used in round r."""
        return Counter((t, r) for (t, _), r in self.first.items())

    def _before(self, t: int, i: int) -> int:
        """Return in which round the average was first used before the one that round t uses; 0 if there is none."""
        since = self.first[t, i]
        return self.first[since - 1, i] if since else 0

    def uses(self) -> list[tuple[int, int, int, int]]:
        """Return (t, i, q, row) of all points that rounds use."""
        return [(t, i, q, row) for (t, i), rows in self.rows.items() for q, row in enumerate(rows)]

    def families(self) -> dict[str, Members]:
        """Return the members of families."""
        S, Q, rounds, uses = int(self.read["S"]), int(self.read["Q_age"]), range(self.horizon), self.uses()
        begins = {place: since - self._before(*place) if since else 1 for place, since in self.first.items()}
        roots = {(t, r): square_root(Fraction(self.many[t, r])) for t in rounds for r in range(t + 1)}
        return {
            "before": whole({place: self._before(*place) for place in self.first}),
            "ages": whole({(t, i): t - since + begins[t, i] for (t, i), since in self.first.items()}),
            "first": whole(self.first),
            "steps": whole({(i, self.first[t, i]): len(rows) for (t, i), rows in self.rows.items()}),
            "lo": whole({(t,): max(t - S, 0) for t in rounds}),
            "old": whole({(t,): max(t - Q, 0) for t in rounds}),
            "miss": whole(
                {(t, i, q, h): h not in self.received[row] for t, i, q, row in uses for h in range(max(t - S, 0), t)}
            ),
            "gone": whole({(t, i, q): sum(h not in self.received[row] for h in range(t)) for t, i, q, row in uses}),
            "own": whole({(i, self.first[t, i], q): len(self.kept[row]) for t, i, q, row in uses}),
            "one": whole({(t, i, r): r == since for (t, i), since in self.first.items() for r in range(t + 1)}),
            "root": {place: one for place, one in roots.items() if one is not None},
        }


_dga_rows = cache(DgaRows)


def _reached(start: Combination) -> frozenset[int]:
    """Return which updates h are in Σ c_s·x[s] = x[0] + Σ_h (c_{h+1} + c_{h+2} + …)·(x[h+1] − x[h])."""
    last = max((t for _, t in start), default=0)
    return frozenset(h for h in range(last) if sum((c for (_, t), c in start.items() if t > h), _ZERO))


def _dga_replayed(instance: Instance) -> Runs:
    work = work_of(instance)
    raw = replay_tape(work.tape, instance, {(row,): row for row in range(len(work.received))})
    columns = {name: own for name, own in raw.columns.items() if name[0] == "w"}
    runs = Runs(raw.chances, columns, instance.functions)
    for t, i, q, row in work.uses():
        place = (i, work.first[t, i], q)
        for name in ("z", "g", "e"):
            runs.columns[name, place] = raw.columns[name, (row, 0)]
        for p, own in enumerate(work.kept[row]):
            raw.combine(("o", (*place, p)), [(_ONE, (name, (own, 0))) for name in "ge"])
            runs.columns["o", (*place, p)] = raw.columns["o", (*place, p)]
        # The next one has no meaning in the run: it may be any vector of its size, such as this gradient.
        runs.columns["o", (*place, len(work.kept[row]))] = raw.columns["g", (row, 0)]
    return runs


# FedCompass: what an update and a window are made of.

# Of a run; see boundlab.algorithms.fedcompass.
_OF_GROUPS = ("tau_max", "A_max", "W_min", "W_max", "V_max", "share_bias", "Q_mean", "Q_bias")
_NOT_ITS_OWN = ("N", "times")  # options of an instance that are none of the algorithm
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
        return RunWeights(_tape(self._until(instance)), self._window(instance), instance.horizon, self.shares(instance))

    def _read(self, instance: Instance) -> dict[str, Fraction]:
        options, work, window = dict(instance.options), self._work(instance), self._window(instance)
        if min(work.W) <= 0:
            raise UnfitError("a window holds nothing")
        least, most = Fraction(options.get("Qmin", 1)), Fraction(options.get("Qmax", 1))
        own = lookup("algorithms", "fedcompass")
        read = own.quantities(parameters_of(own, _its_own(instance)), work.tape, len(work.A), {"N": window})
        found = {"N": Fraction(window), "Qmin": least, "Qmax": most, **exactly(read, _OF_GROUPS)}
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
        self.A = [self._sum(t) for t in range(updates)]
        self.W = [sum(self.A[k : k + window], _ZERO) for k in range(begins)]

    def _sum(self, t: int, client: int | None = None) -> Fraction:
        own = [at for at in self.of[t] if client in (None, self.c[at])]
        return sum((self.weight[at] * self.steps[at] for at in own), _ZERO)

    def families(self) -> dict[str, Members]:
        """Return the numbers of runs, updates and windows by their indices."""
        extra: Members = {
            (i, k): sum((self._sum(t, i) for t in range(k, k + self.window)), _ZERO) - share * self.W[k]
            for i, share in enumerate(self.shares)
            for k in range(self.begins)
        }
        return {
            **super().families(),
            **halves("over", "under", extra),
            "many": {(t,): Fraction(one) for t, one in enumerate(self.many)},
            "a": self.weight,
            "steps": whole(self.steps),
            "A": {(t,): one for t, one in enumerate(self.A)},
            "W": {(k,): one for k, one in enumerate(self.W)},
        }


def _its_own(instance: Instance) -> dict[str, Any]:
    """Return FedCompass's options on an instance."""
    own = {name: value for name, value in instance.options if name not in _NOT_ITS_OWN}
    shares = {"p": tuple(float(one) for one in instance.p)} if instance.p else {}
    return {"Qmin": 1, "Qmax": 1, **own, **shares, "eta": float(instance.alpha)}


@cache
def _tape(instance: Instance) -> Tape:
    """Return the tape: of clients that arrive one after the other at times 1, 2, …, or by the times of their steps.

    Raises
    ------
    UnfitError
        If there is none.
    """
    own, options = lookup("algorithms", "fedcompass"), _its_own(instance)
    try:
        parameters = parameters_of(own, options)
        if parameters.speeds is None:
            times = dict(instance.options).get("times", ())
            arrivals = instance.events, instance.n, instance.horizon, times
            return compiled("fedcompass", tuple(sorted(options.items())), *arrivals)
        events = own.sample(parameters, None, None, None, instance.n, _ALL)
        tape: Tape = own.schedule(parameters, events, instance.n, RecordAt(), instance.horizon)
    except BoundlabError as error:
        raise UnfitError(str(error)) from error
    return tape


@cache
def _replayed(instance: Instance, window: int, begins: int, shares: tuple[Fraction, ...]) -> Runs:
    """Replay the tape, with the sums of the setting."""
    work = RunWeights(_tape(instance), window, begins, shares)
    runs = replay_tape(work.tape, instance, work.rows)
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


# FedFa: windows of arrivals, and the virtual iterate that plain steps move.

# Of a run; see boundlab.algorithms.fedfa.
_OF_WINDOWS = ("tau_a", "tau_max", "share_bias", "lag", "C_lag", "kappa_lag", "window")


class FedFaSetting(RunsSetting):
    """Beside models, gradients and runs: the virtual iterate that plain steps move, and what a window is made of."""

    of_schedules = frozenset({"constant-lag"})
    compared = "v"

    @property
    def printed(self) -> bool:
        """Whether the proof is the paper's."""
        return self.theorem.of_paper

    @property
    def delta(self) -> bool:
        """Whether the server adds changes; else it takes the mean of models."""
        return self.theorem.core.value("mode") == "delta"

    def granted(self, instance: Instance) -> frozenset[str]:
        """Return the assumptions that an instance meets: constants have L-Lipschitz gradients with every L > 0."""
        constant = "L" in dict(instance.bounds) and all(one.smoothness() == 0 for one in instance.functions)
        return self.of_schedules | ({"smooth"} if constant else set())

    def why_not(self, instance: Instance) -> str:
        """Return which assumption an instance does not meet."""
        if _mode(instance) != ("delta" if self.delta else "param"):
            return "the server averages something else"
        if "N" in dict(instance.options) and "N" not in self.own_symbols:
            return "the theorem has no windows"
        if not self.delta and not self.printed and self._work(instance).lag is None:
            return "the lag is not constant"
        return super().why_not(instance)

    def _work(self, instance: Instance) -> "FedFaWork":
        return _fedfa_work(replace(instance, bounds=(), noise=()))

    def ways(self, instance: Instance) -> list[Name]:
        """Return v[0] … v[N − 1]."""
        return [("v", (t,)) for t in range(self._work(instance).window)]

    def runs(self, instance: Instance) -> Runs:
        """Replay the tape."""
        return _fedfa_replayed(replace(instance, bounds=()))

    def constants(self, instance: Instance) -> dict[str, Fraction]:
        """Return the numbers of symbols."""
        found = super().constants(instance)
        if "F0" not in dict(instance.bounds):
            found["F0"] = self._rounded_gap(found)
        return found

    def read_off(self, instance: Instance) -> dict[str, Fraction]:
        """Return the numbers of symbols that are read off the tape; and F0, which an instance may say."""
        gap = replace(instance, bounds=()).constants().get("F0")
        return self._work(instance).symbols() | ({} if gap is None else {"F0": gap})

    def _rounded_gap(self, found: dict[str, Fraction]) -> Fraction:
        """Return a number above f(w_0) − inf f, and not far above, with which the root in the bound is rational."""
        own = self.theorem.defining()
        if "X_v" not in own or "F0" not in found:
            return found["F0"]
        root = max(own["X_v"].atoms(sympy.Pow), key=lambda one: len(str(one)))
        inside = _put(root.base, own, {name: value for name, value in found.items() if name != "F0"})
        gap = next((one for one in inside.free_symbols if one.name == "F0"), None)
        polynomial = None if gap is None else sympy.Poly(inside, gap)
        if polynomial is None or not all(one.is_Rational for one in polynomial.all_coeffs()):
            return found["F0"]
        slope, level = (Fraction(int(one.p), int(one.q)) for one in polynomial.all_coeffs())
        above = root_above(slope * found["F0"] + level)
        return (above * above - level) / slope

    def families(self, instance: Instance) -> dict[str, Members]:
        """Return the members of families: what runs there are, and how windows and models are made up of them."""
        work = self._work(instance)
        return work.families() | self.sizes(instance, work.updates + 1)


def _put(formula: sympy.Expr, defined: Mapping[str, sympy.Expr], values: Mapping[str, Fraction]) -> sympy.Expr:
    """Return a formula with numbers for its symbols."""
    numbers = {name: sympy.Rational(one.numerator, one.denominator) for name, one in values.items()}
    while more := {one for one in formula.free_symbols if one.name in numbers or one.name in defined}:
        formula = formula.subs({one: numbers.get(one.name, defined.get(one.name)) for one in more}).doit()
    return sympy.expand(formula)


def _mode(instance: Instance) -> str:
    return str(dict(instance.options).get("mode", "param"))


def _options(instance: Instance) -> dict[str, Any]:
    own = {name: value for name, value in instance.options if name != "N"}
    own = {name: float(value) if isinstance(value, Fraction) else value for name, value in own.items()}
    return {**own, "Q": instance.steps, "eta_l": float(instance.alpha)}


class FedFaWork(Used):
    """The arrivals of a tape: whose they are, at which models their runs began, and how the models are made of them.

    Parameters
    ----------
    instance
        T = horizon windows of N arrivals are looked at.
    """

    def __init__(self, instance: Instance) -> None:
        options = dict(instance.options)
        self.n, self.begins, self.window = instance.n, instance.horizon, int(options.get("N", 1))
        self.updates = self.begins + self.window - 1
        own = lookup("algorithms", "fedfa")
        self.parameters = parameters_of(own, _options(instance))
        self.K, self.first = self.parameters.K, self.parameters.first
        self.delta = self.parameters.mode == "delta"
        tape = compiled("fedfa", tuple(sorted(_options(instance).items())), instance.events, self.n, self.updates)
        rows = arrived(tape).tolist()
        super().__init__(tape, {(t, 0): int(rows[t + self.first - 1]) for t in range(1 - self.K, self.updates)})
        self.tau_a = max(t - self.s[t, 0] for t in range(self.updates))
        constant = all(self.s[t, 0] == max(t - self.tau_a, 0) for t in range(self.updates))
        self.lag = self.tau_a if constant and not self.delta else None
        self.rate = exact_weight(self.parameters.eta_g)
        self.kappa = _ONE / (1 + self.tau_a + Fraction(self.K - 1, 2))

    def share(self, i: int, k: int) -> Fraction:
        """Return by how much client i's share of the window at k differs from 1/n."""
        own = sum(1 for t in range(k, k + self.window) if self.c[t, 0] == i)
        return Fraction(own, self.window) - Fraction(1, self.n)

    @property
    def in_model(self) -> list[dict[int, Fraction]]:
        """With which coefficients the changes of arrivals stand in w[t] − w[0], by t."""
        found: list[dict[int, Fraction]] = [{}]
        for t in range(self.updates):
            value: dict[int, Fraction] = {} if not self.delta else dict(found[t])
            weight = self.rate / self.K if self.delta else Fraction(1, self.K)
            for a in range(t - self.K + 1, t + 1):
                value[a] = value.get(a, _ZERO) + weight
                if not self.delta:
                    for other, own in found[self.s[a, 0]].items():
                        value[other] = value.get(other, _ZERO) + weight * own
            found.append(value)
        return found

    @property
    def in_virtual(self) -> list[dict[int, Fraction]]:
        """With which coefficients they stand in v[t] − w[0]."""
        rate = self.rate if self.delta else self.kappa
        early = {a: rate * Fraction(self.K + a, self.K) for a in range(1 - self.K, 0)}
        return [early | dict.fromkeys(range(t), rate) for t in range(self.updates + 1)]

    def extra(self) -> Members:
        """Return how much more of each change is in w[t] than in v[t]."""
        pairs = enumerate(zip(self.in_model, self.in_virtual, strict=True))
        return {(t, a): one.get(a, _ZERO) - two[a] for t, (one, two) in pairs for a in two}

    def symbols(self) -> dict[str, Fraction]:
        """Return what theorems read, exactly."""
        read = lookup("algorithms", "fedfa").quantities(self.parameters, self.tape, self.updates, {"N": self.window})
        return {"N": Fraction(self.window), "eta_g": self.rate, **exactly(read, _OF_WINDOWS)}

    def families(self) -> dict[str, Members]:
        """Return the numbers of arrivals and of windows by their indices."""
        shares: Members = {(i, k): self.share(i, k) for i in range(self.n) for k in range(self.begins)}
        found: dict[str, Members] = {
            "c": whole(self.c),
            "s": whole({at: one for at, one in self.s.items() if at[0] >= 0}),
            **halves("over", "under", shares),
            "tp": {
                (t,): Fraction(min(self.s[a, 0] for a in range(t - self.K + 1, t + 1))) for t in range(self.updates)
            },
            "nx": {
                (t, i): Fraction(min(coming))
                for t in range(self.updates)
                for i in range(self.n)
                if (coming := [a for a in range(t, self.updates) if self.c[a, 0] == i])
            },
        }
        return found if self.lag is None else {**found, **halves("more", "less", self.extra())}


_fedfa_work = cache(FedFaWork)


@cache
def _fedfa_replayed(instance: Instance) -> Runs:
    """Replay the tape, with the sums and the virtual iterate of the setting."""
    work = _fedfa_work(replace(instance, noise=()))
    runs = replay_tape(work.tape, instance, work.rows)
    for t, coefficients in enumerate(work.in_virtual):
        changes = [
            (own * sign, ("z", (a, 0, end)))
            for a, own in coefficients.items()
            for end, sign in ((instance.steps, 1), (0, -1))
        ]
        runs.combine(("v", (t,)), [(_ONE, ("w", (0,))), *changes])
    return with_mean_slopes(runs, "v", work.updates + 1)
