"""Exact models of FedFa: its own compiler's tape, replayed in fractions, and what a theorem reads off it."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import sympy

from boundlab.options import Options
from boundlab.prove._functions import root_above
from boundlab.prove._instance import (
    Instance,
    Members,
    Name,
    Runs,
    Used,
    compiled,
    exact_weight,
    exactly,
    halves,
    replay_tape,
    whole,
)
from boundlab.prove.settings._arriving import FEDFA
from boundlab.prove.settings.buffered import RunsSetting, with_mean_slopes
from boundlab.registry import lookup
from boundlab.tape import arrived

_ZERO, _ONE = Fraction(0), Fraction(1)
_OWN = ("N",)
# Of a run; see boundlab.algorithms.fedfa.
_READ = ("tau_a", "tau_max", "share_bias", "lag", "C_lag", "kappa_lag", "window")


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

    def instances(self) -> tuple[Instance, ...]:
        """Return exact instances: windows of several lengths, both starts, late clients and constant lags."""
        return FEDFA

    def why_not(self, instance: Instance) -> str:
        """Return which assumption an instance does not meet."""
        if _mode(instance) != ("delta" if self.delta else "param"):
            return "the server averages something else"
        if "N" in dict(instance.options) and "N" not in self.own_symbols:
            return "the theorem has no windows"
        if not self.delta and not self.printed and self._work(instance).lag is None:
            return "the lag is not constant"
        if "L" in dict(instance.bounds) and all(one.smoothness() == 0 for one in instance.functions):
            # Constants have L-Lipschitz gradients with every L > 0.
            return self._of_constants(instance)
        return super().why_not(instance)

    def _of_constants(self, instance: Instance) -> str:
        found = self.assumed
        self.assumed = found - {"smooth"}
        try:
            return super().why_not(instance)
        finally:
            self.assumed = found

    def _work(self, instance: Instance) -> "_Work":
        return _work(replace(instance, bounds=(), noise=()))

    def ways(self, instance: Instance) -> list[Name]:
        """Return v[0] … v[N − 1]."""
        return [("v", (t,)) for t in range(self._work(instance).window)]

    def runs(self, instance: Instance) -> Runs:
        """Replay the tape."""
        return _replayed(replace(instance, bounds=()))

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
    own = {name: value for name, value in instance.options if name not in _OWN}
    own = {name: float(value) if isinstance(value, Fraction) else value for name, value in own.items()}
    return {**own, "Q": instance.steps, "eta_l": float(instance.alpha)}


@cache
def _work(instance: Instance) -> "_Work":
    return _Work(instance)


class _Work(Used):
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
        self.parameters = own.read(Options("fedfa", _options(instance)))
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
        return {"N": Fraction(self.window), "eta_g": self.rate, **exactly(read, _READ)}

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


@cache
def _replayed(instance: Instance) -> Runs:
    """Replay the tape, with the sums and the virtual iterate of the setting."""
    work = _work(replace(instance, noise=()))
    runs = replay_tape(work.tape, instance, work.rows)
    for t, coefficients in enumerate(work.in_virtual):
        changes = [
            (own * sign, ("z", (a, 0, end)))
            for a, own in coefficients.items()
            for end, sign in ((instance.steps, 1), (0, -1))
        ]
        runs.combine(("v", (t,)), [(_ONE, ("w", (0,))), *changes])
    return with_mean_slopes(runs, "v", work.updates + 1)
