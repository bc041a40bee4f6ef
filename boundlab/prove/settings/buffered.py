"""Exact models of full buffers: the algorithms' own tapes, replayed in fractions, and what is read off them."""

from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

from boundlab.options import Options
from boundlab.prove._instance import Instance, UnfitError
from boundlab.prove._modelled import Members
from boundlab.prove._replay import Runs, exact_weight
from boundlab.prove._tapes import Used, agreed, compiled, halves, replay_tape, used_runs
from boundlab.prove.settings._buffered_instances import BUFFERED
from boundlab.prove.settings._runs import RunsSetting
from boundlab.registry import lookup
from boundlab.tape import usage

_ZERO, _ONE = Fraction(0), Fraction(1)


class BufferSetting(RunsSetting):
    """Beside models, gradients and runs: what a buffer is made of."""

    def instances(self) -> tuple[Instance, ...]:
        """Return exact instances: buffers of several sizes, late updates, clients that stand in a buffer twice."""
        return tuple(one for one in BUFFERED if _fits(self.theorem.algorithm, one))

    def _read_of(self, instance: Instance) -> "Buffers":
        return buffers(self.theorem.algorithm, replace(instance, bounds=(), noise=()))

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


def _fits(algorithm: str, instance: Instance) -> bool:
    return not {"scale", "window", "include"} & dict(instance.options).keys() or algorithm == "fedstaleweight"


def options_of(instance: Instance) -> dict[str, Any]:
    """Return the algorithm's options on an instance."""
    return {**dict(instance.options), "M": instance.steps, "eta_l": float(instance.alpha)}


@cache
def buffers(algorithm: str, instance: Instance) -> "Buffers":
    """Return the buffers of an instance without bounds and noise."""
    return Buffers(algorithm, instance)


class Buffers(Used):
    """The buffers of the first T updates of a tape: whose entries they hold, from when, and with which weights."""

    def __init__(self, algorithm: str, instance: Instance) -> None:
        own, options = lookup("algorithms", algorithm), options_of(instance)
        self.n, self.T = instance.n, instance.horizon
        self.parameters = own.read(Options(algorithm, options))
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
        found = {
            "tau_max": Fraction(max(t - start for (t, _), start in self.s.items())),
            "chi2_path": sum((self.spread(t) for t in range(self.T)), _ZERO) / self.T,
            "alpha2": sum((one**2 for one in self.alpha.values()), _ZERO) / self.T,
        }
        read = usage(self.tape, self.T, float(self.rate))
        if read is None:
            raise UnfitError("nothing is used")
        agreed(found, read.symbols(), found)
        return {**found, "eta_g": self.rate, "many": Fraction(self.many), "b": Fraction(self.many)}

    def families(self) -> dict[str, Members]:
        """Return the numbers of entries by their indices."""
        spread: Members = {(t,): self.spread(t) for t in range(self.T)}
        return {"alpha": self.alpha, **parts(self.n, self.share), "spread": spread, **super().families()}


def parts(n: int, shares: Members) -> dict[str, Members]:
    """Return how much more, and less, than 1/n shares are."""
    return halves("over", "under", {at: one - Fraction(1, n) for at, one in shares.items()})
