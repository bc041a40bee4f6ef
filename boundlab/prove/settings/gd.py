"""Exact models of gradient descent, the subgradient method and SGD: all outcomes of the program itself."""

from dataclasses import replace
from fractions import Fraction

from boundlab.prove._balls import lower
from boundlab.prove._instance import Instance, Runs, replay as all_runs
from boundlab.prove._numbers import SymbolNumbers
from boundlab.prove.setting import Setting
from boundlab.prove.settings._instances import LIPSCHITZ, SMOOTH
from boundlab.prove.settings._parameters import parameters_of
from boundlab.registry import lookup


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

    def instances(self) -> tuple[Instance, ...]:
        """Return exact instances: with kinks, or smooth ones."""
        return SMOOTH if "smooth" in self.assumed else LIPSCHITZ

    def runs(self, instance: Instance) -> Runs:
        """Replay the program."""
        gd = lookup("algorithms", "gd")
        own = SymbolNumbers(self.constants(instance), {})
        c, d = (self._at(own, name) for name in "cd") if "c" in self.theorem.step else (None, Fraction(0))
        rates = {"alpha": float(instance.alpha)} if c is None else {"c": float(c), "d": float(d)}
        one = replace(instance, steps=1)
        program = gd.program(parameters_of(gd, {**rates, "sampling": self.sampling}), one.n)
        runs = all_runs(program, one, 0, None if c is None else lambda k: c / (k + d))
        for k in range(one.horizon + 1):
            runs.columns["x", (k,)] = runs.columns["register", (0, k)]
            for i in range(one.n if self.noisy and k < one.horizon else 0):
                runs.columns["e", (i, k)] = runs.columns["e", (i, k, 0)]
        return self._with_points(runs, one)
