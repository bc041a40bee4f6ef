"""Exact models of AFL-DGA: its compiler's tape, replayed in fractions, and what a theorem reads off it."""

import itertools
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cache, cached_property
from typing import Any

import numpy as np
import sympy

from boundlab.algorithms.afl_dga import AflDgaParameters
from boundlab.classes import Combination, models, of_tape, steps, used
from boundlab.errors import AssumptionError, CaseError
from boundlab.events import SERVER, Events
from boundlab.formulas.symbols import symbol
from boundlab.options import Options
from boundlab.prove._context import Context, Fact
from boundlab.prove._functions import root_above, square_root
from boundlab.prove._instance import Instance, Members, Runs, UnfitError, replay_tape, whole
from boundlab.prove._scalars import ProofError
from boundlab.prove._terms import expr
from boundlab.prove.setting import Setting
from boundlab.prove.settings._arriving import AFL_DGA
from boundlab.registry import lookup
from boundlab.tape import RecordAt, Tape
from boundlab.theorems import Condition

_ZERO, _ONE = Fraction(0), Fraction(1)
_WORDS = {"+": "step", "!": "send", "<": "recv", "=": "aggregate"}
# What boundlab reads off the tape; roots and means are floats there.
_READ = ("S", "M_own", "Q_age", "K_m", "D_m", "tau_sum", "SM2", "reuse", "reuse_n")


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

    def small_step(self) -> Fact:
        """Return the theorem's condition on η·L."""
        (one,) = (one for one in self.theorem.conditions if "eta" in {s.name for s in one.quantity.free_symbols})
        return self.condition(expr(self.formula(one.quantity)) <= expr(self.formula(one.limit)), one.statement)

    def small_step_in(self, case: Context) -> Fact:
        """Return c·S²·x² ≤ (1 − x)² for c = 1 + min(1, M_own), as it is in a case.

        With x ≤ 1, that is x ≤ 1/(1 + √c·S).
        """
        one = self.decided()
        self.meets(one.statement)
        x, c = self.eta * self.symbol("L"), 1 + self.formula(sympy.Min(1, symbol("M_own"), evaluate=False), case)
        claim = expr(c * self.symbol("S") ** 2 * x**2) <= expr((1 - x) ** 2)
        return self.kernel.make(claim, case, "axiom", axioms=[one.statement])

    def step_below_one(self) -> Fact:
        """Return x ≤ 1, which is weaker."""
        one = self.decided()
        return self.condition(expr(self.eta * self.symbol("L")) <= 1, one.statement)

    def instances(self) -> tuple[Instance, ...]:
        """Return exact instances: averages used again, late, out of order, or never received."""
        return AFL_DGA

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
        return _replayed(replace(instance, bounds=()))


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
    return _work(str(options["rounds"]), instance.n, instance.horizon, instance.alpha)


@cache
def _work(text: str, n: int, horizon: int, eta: Fraction) -> "DgaRows":
    return DgaRows(text, n, horizon, eta)


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
        self.parameters: AflDgaParameters = own.read(
            Options("afl_dga", {"eta": float(eta), "scaling": "analysis", "server": "plain"})
        )
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
        found = {name: Fraction(read[name]).limit_denominator(10_000) for name in _READ}
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


def _reached(start: Combination) -> frozenset[int]:
    """Return which updates h are in Σ c_s·x[s] = x[0] + Σ_h (c_{h+1} + c_{h+2} + …)·(x[h+1] − x[h])."""
    last = max((t for _, t in start), default=0)
    return frozenset(h for h in range(last) if sum((c for (_, t), c in start.items() if t > h), _ZERO))


def _replayed(instance: Instance) -> Runs:
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
