"""Exact models of algorithms whose program says what an event does: all events, passes and noise."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

from boundlab.prove._functions import inner, plus, root_above
from boundlab.prove._instance import (
    Instance,
    Runs,
    UnfitError,
    compiled,
    parameters_of,
    replay,
    replay_tape,
    used_runs,
)
from boundlab.prove._scalars import ProofError, same, scalar, variable
from boundlab.prove._terms import Fact, expr, finite_sum
from boundlab.prove.models import SymbolNumbers, lower
from boundlab.prove.setting import Setting
from boundlab.recheck.kernel import Range
from boundlab.registry import lookup

# Exact models of gradient descent, the subgradient method and SGD: all outcomes of the program itself.


class Proximal(Setting):
    """Gradients of f, and steps that know what is beside it."""

    @property
    def sampling(self) -> str | None:
        """Whether all clients step, or one that is drawn."""
        return self.theorem.core.value("sampling")


class GdSetting(Proximal):
    """x[k], the (sub)gradients g[i, k] of f_i at x[k], and noise e[i, k] where there is any."""

    def _at(self, numbers: SymbolNumbers, name: str) -> Fraction:
        """Return the c, or the d, of steps c/(k + d)."""
        return Fraction(lower(numbers.number(self.reader.known[name], {})))

    def runs(self, instance: Instance) -> Runs:
        """Replay the program."""
        gd = lookup("algorithms", "gd")
        own = SymbolNumbers(self.constants(instance), {})
        c, d = (self._at(own, name) for name in "cd") if "c" in self.theorem.step else (None, Fraction(0))
        rates = {"alpha": float(instance.alpha)} if c is None else {"c": float(c), "d": float(d)}
        one = replace(instance, steps=1)
        program = gd.program(parameters_of(gd, {**rates, "sampling": self.sampling}), one.n)
        runs = replay(program, one, 0, None if c is None else lambda k: c / (k + d))
        for k in range(one.horizon + 1):
            runs.columns["x", (k,)] = runs.columns["register", (0, k)]
            for i in range(one.n if self.noisy and k < one.horizon else 0):
                runs.columns["e", (i, k)] = runs.columns["e", (i, k, 0)]
        return self._with_points(runs, one)


# AREA's numbers that are to be shown to lie where they do, and its passes.

_ONE = scalar(1)


class AreaSetting(Setting):
    """AREA's registers, passes and events."""

    @property
    def diminishing(self) -> bool:
        """Whether the step is c/(k + d)."""
        return "alpha" not in self.theorem.step

    @property
    def start_option(self) -> str | None:
        """With which passes a run begins."""
        return self.theorem.core.value("start")

    def _named(self) -> None:
        self.own_symbols.add("qbar")
        self._qbar = self._define_qbar()
        if self.diminishing:
            self._first_step()
            self._name_steps()
            self.step = self.reader.give("step", partial(variable, "step"))

    def _first_step(self) -> None:
        """Declare D: any first step below the theorem's condition on it."""
        own, limits = variable("D"), self.theorem.conditions
        high = self.formula(limits[0].limit) if len(limits) == 1 else None
        self.own_symbol("D", Range(low=scalar(0), high=high, above=True))
        if high is None or not same(self.formula(limits[0].quantity), own):
            raise ProofError(f"{self.theorem.id} is to have one condition, on its first step c/d")

    def _name_steps(self) -> None:
        """Name q0 = D·M·γ, the offset d and the steps c/(k + d); D is a number such that D·M·(μ + L) ≤ 2."""
        kernel, zero = self.kernel, scalar(0)
        D, M, mu, L, p = (variable(name) for name in ("D", "M", "mu", "L", "p_min"))
        c, d = (self.formula(self.theorem.step[name]) for name in ("c", "d"))
        q0 = D * M * (2 * mu * L / (mu + L))
        self.named_q0 = kernel.name("q0", q0, Range(low=zero, high=_ONE, above=True))
        # d = 48/(p·q0) by the theorem's own formulas.
        if not same(d.put({}), 48 / (p * q0)) or not same(c, D * d):
            raise ProofError(f"{self.theorem.id} has other steps than those of this setting")
        self.offset = variable("offset")
        self.named_offset = kernel.name("offset", 48 / (p * variable("q0")), Range(low=48 / p))
        self.short_names = {"d": self.offset, "c": D * self.offset}
        limit = 2 / (M * (mu + L))
        self.named_step = kernel.name_family(
            "step", "k", D * self.offset / (variable("k") + self.offset), Range(low=zero, high=limit, above=True)
        )

    def _define_qbar(self) -> Fact:
        """Declare q̄ = (1/n)·Σ 1/p_i, and show that it is at least 1."""
        kernel, value = self.kernel, finite_sum("i", 0, self.n, 1 / (self.n * variable("p", self.i)))
        least = kernel.combine(expr(1 / variable("p", self.i)) >= 1, [])
        return kernel.define("qbar", value, _ONE, self.over_clients(least))

    def qbar(self) -> Fact:
        """Return q̄ = (1/n)·Σ 1/p_i."""
        return self._qbar

    def why_not(self, instance: Instance) -> str:
        """Return which assumption an instance does not meet; along a run gradients are bounded."""
        of_run = {"bounded-run": "convex", "lipschitz": "convex"} if self.theorem.points else {}
        return instance.why_not({of_run.get(one, one) for one in self.assumed}, self.noisy)

    def constants(self, instance: Instance) -> dict[str, Fraction]:
        """Return the numbers of symbols; of a theorem along the run, with B as all its passes have it."""
        found = super().constants(instance)
        if self.theorem.points:
            iterations, steps = (
                range(-1 if self.start_option == "algorithm" else 0, instance.horizon),
                range(instance.steps),
            )
            taken = [
                inner(at, at)
                for (name, place), column in self.runs(instance).columns.items()
                if name == "g" and place[1] in iterations and place[2] in steps
                for at in column.values
            ]
            found["B"] = root_above(max(taken))
        return found

    def runs(self, instance: Instance) -> Runs:
        """Replay the program; with start=analysis no pass is number −1."""
        area, own = lookup("algorithms", "area"), instance.constants()
        offset = _offset(own) if self.diminishing else Fraction(0)
        rates: dict[str, Any] = {"alpha": float(instance.alpha)}
        if self.diminishing:
            rates = {"c": float(instance.alpha * offset), "d": float(offset), "clock": "analysis"}
        options = {**rates, "M": instance.steps, "start": self.start_option}
        program = area.program(parameters_of(area, options), instance.n)

        def size(r: int) -> Fraction:
            return instance.alpha * offset / (r + offset) if self.diminishing else instance.alpha

        runs = replay(program, instance, first=-1, size=size)
        if self.diminishing:
            self._quiet_runs(runs, instance, size)
        for k in range(instance.horizon + 1):
            runs.columns["xs", (k,)] = runs.columns["register", (0, k)]
            for i in range(instance.n):
                for name, slot in zip(("x", "y"), program.slots[i], strict=True):
                    runs.columns[name, (i, k)] = runs.columns["register", (slot, k)]
        return self._with_points(runs, instance)

    def _quiet_runs(self, runs: Runs, instance: Instance, size: Callable[[int], Fraction]) -> None:
        """Add the passes from x* without noise, and the clients' own minimisers."""
        best, own = instance.minimum(), instance.own_minimisers()
        if best is None or own is None:
            raise UnfitError("no minimiser is known")
        for i, (function, least) in enumerate(zip(instance.functions, own, strict=True)):
            runs.constant(("ustar", (i,)), least)
            for r in range(instance.horizon + 2):
                point = best[0]
                for m in range(instance.steps + 1):
                    runs.constant(("zh", (i, r, m)), point)
                    point = plus(point, function.slope(point), -size(r))


def _offset(own: Mapping[str, Fraction]) -> Fraction:
    """Return d = 48/(p·q0), where q0 = D·M·γ."""
    gamma = 2 * own["mu"] * own["L"] / (own["mu"] + own["L"])
    return 48 / (own["p_min"] * own["D"] * own["M"] * gamma)


# Exact models of asynchronous SGD whose clients have one function, with the schedule of the instance.


class DelayedSetting(Setting):
    """Models x[k], gradients g[k] at them, noise e[k] of the gradient that is applied in iteration k."""

    def runs(self, instance: Instance) -> Runs:
        """Replay the tape."""
        options = (("alpha", float(instance.alpha)),)
        tape = compiled("async_sgd", options, instance.events, instance.n, instance.horizon)
        found = replay_tape(tape, instance, {(k,): row for (k, _), row in used_runs(tape).items()})
        for k in range(instance.horizon + 1):
            found.columns["x", (k,)] = found.columns["w", (k,)]
        for k in range(instance.horizon):
            found.columns["e", (k,)] = found.columns["e", (k, 0)]
        return found
