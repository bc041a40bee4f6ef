"""Constants of theorems along the run: how large gradients are where one run takes them, horizon by horizon."""

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np
from numpy.typing import NDArray

from boundlab.algorithms import Algorithm, VirtualIterate
from boundlab.objective import Problem
from boundlab.objective.weighted import Weighted
from boundlab.tape import Tape
from boundlab.theorems import Theorem, read_off_runs

if TYPE_CHECKING:
    from boundlab.execute.iterates import Gradients

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_UP: Final = 1.0 + 4.0 * float(np.finfo(np.float64).eps)
_MOST: Final = 64  # runs that are remembered
_PATHS: Final = {"server": "w[t]", "virtual": "v[t]"}
_ENDS: Final = {"segments": "w", "virtual-segments": "v"}
_SQUARED: Final = frozenset({"G_sq"})
_WHAT: Final = {"G_sq": "‖∇f_i‖²", "sigma_g": "‖∇f_i − ∇f‖", "sigma_g_mean": "root of the mean ‖∇f_i − ∇f‖²"}


@final
@dataclass(frozen=True, slots=True)
class PointReading:
    """A constant as one run up to one horizon has it.

    Parameters
    ----------
    value
        No less than the true one where ``enclosed``, else what floats say.
    how
        Where it was read, in words.
    """

    value: float
    enclosed: bool
    how: str


@final
@dataclass(frozen=True)
class RunPoints:
    """Readers of runs for one theorem.

    Parameters
    ----------
    problem
        With the objective that is minimised.
    parameters
        The run's own, its step size among them.
    """

    theorem: Theorem
    problem: Problem
    algorithm: Algorithm[Any]
    parameters: Any
    _known: dict[tuple[bytes, int], "_SeenRun"] = field(default_factory=dict, repr=False, compare=False)

    def read(self, tape: Tape, until: int, window: int) -> dict[str, PointReading]:
        """Return the constants of a run up to the horizon ``until``, by symbol.

        Parameters
        ----------
        window
            N.
        """
        key = tape.digest(), window
        if key not in self._known:
            if len(self._known) >= _MOST:
                self._known.clear()
            self._known[key] = self._run(tape, window)
        run = self._known[key]
        return {name: run.reading(name, self.theorem.points[name], until) for name in self.wanted}

    @cached_property
    def wanted(self) -> tuple[str, ...]:
        """The constants that the bound reads, and those that may be set."""
        read = {*self.theorem.inputs(), *self.theorem.settable}
        return tuple(sorted(read_off_runs(self.theorem) & read))

    def _run(self, tape: Tape, window: int) -> "_SeenRun":
        from boundlab.execute.iterates import visit

        words = {word for name in self.wanted for word in self.theorem.points[name]}
        virtual = self.algorithm.virtual_iterate(self.parameters, tape)
        segments = window if "virtual-segments" in words or ("segments" in words and window > 1) else 0
        n = self.problem.n
        weights = self.problem.weights if isinstance(self.problem, Weighted) else (Fraction(1, n),) * n
        return _SeenRun(tape, visit(self.problem, tape, weights, virtual, segments), virtual, window)


@final
class _SeenRun:
    """Gradients along one run, for all horizons."""

    def __init__(self, tape: Tape, gradients: "Gradients", virtual: VirtualIterate | None, window: int) -> None:
        self._tape, self._virtual, self._window = tape, virtual, window
        self._gradients = gradients
        self._steps: dict[str, tuple[Floats, Ints]] = {}
        self._apart, self._spread = (np.maximum.accumulate(one, axis=1) for one in (gradients.apart, gradients.spread))

    def reading(self, name: str, words: tuple[str, ...], until: int) -> PointReading:
        """Return one constant."""
        top, said, last = np.zeros(2), [], until + self._window - 1
        for word in words:
            if word in _PATHS:
                found = (self._spread if name == "sigma_g_mean" else self._apart)[:, until - 1]
                said.append(f"{_PATHS[word]}, t < {until}, of all f_i")
            elif word in _ENDS:
                found = self._gradients.segments
                if self._window > 1 or word != "segments":
                    said.append(f"the segments w[0]–{_ENDS[word]}[t], t < {self._window}, of all f_i")
            else:
                if word not in self._steps:
                    self._steps[word] = self._of_steps(word)
                largest, steps = self._steps[word]
                found = largest[:, last - 1]
                said.append(f"the {steps[last - 1]} local steps of updates 1…{last}")
            top = np.maximum(top, found)
        # A number that rounding leaves open says nothing: then that of floats is taken, and no verdict rests on it.
        enclosed = self._gradients.encloses(top)
        value = float(top[int(enclosed)])
        how = f"largest {_WHAT.get(name, '‖∇f_i‖')} at {' and '.join(said)}; each trial its own"
        return PointReading(value**2 * _UP if name in _SQUARED else value, enclosed, how)

    def _of_steps(self, word: str) -> tuple[Floats, Ints]:
        """Return the largest ‖∇f_i‖ at the local steps that count up to each server update, and how many these are."""
        tape = self._tape
        first = np.full(len(tape.descend.dst), tape.iterations)
        if self._virtual is not None:
            entered = np.maximum(np.arange(len(self._virtual.runs)) - self._virtual.before, 0)
            np.minimum.at(first, self._virtual.runs, entered)
        else:
            np.minimum.at(first, tape.uses.update, tape.uses.version)
        if word == "rounds":  # what a client does before a step that counts, counts with it
            for client in range(tape.clients):
                own = np.flatnonzero(tape.descend.client == client)
                first[own] = np.minimum.accumulate(first[own][::-1])[::-1]
        largest, count = np.zeros((2, tape.iterations + 1)), np.zeros(tape.iterations + 1, dtype=np.int64)
        for place in (0, 1):
            np.maximum.at(largest[place], first, self._gradients.steps[place])
        np.add.at(count, first, tape.descend.steps)
        return np.maximum.accumulate(largest[:, :-1], axis=1), np.cumsum(count[:-1])


def at_start(theorem: Theorem, problem: Problem) -> dict[str, float]:
    """Return the constants as they are at x0, where the choice of a window asks for some numbers."""
    each = np.array([problem.gradient(client, problem.x0) for client in range(problem.n)], dtype=np.float64)
    away = np.linalg.norm(each - problem.full_gradient(problem.x0), axis=1)
    top = float(np.linalg.norm(each, axis=1).max())
    known = {"G": top, "G_sq": top**2, "sigma_g": float(away.max()), "sigma_g_mean": float(np.sqrt((away**2).mean()))}
    return {name: value for name, value in known.items() if name in theorem.points}
