"""An instance that a search looks at: problem, delays, settings and horizon, all in a user's own words."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from boundlab.falsify import _catalog as catalog
from boundlab.objective import Problem
from boundlab.options import spec_of, typed
from boundlab.registry import command_line

Floats = NDArray[np.float64]
PER_CLIENT = ("c", "A", "a", "w", "b")  # arrays with one entry a client


@final
@dataclass(frozen=True, slots=True)
class Candidate:
    """One point of the search space.

    Parameters
    ----------
    family
        Which structured family it comes from, in words.
    problem
        ``type`` and options. Where coordinates do not mix (huber, lad, and quadratics without A): centres c and
        weights w with one entry a client, each a number or a list of one number a coordinate, x0, sigma and, for
        huber, delta. Else the options as case files have them.
    delays
        Spec of the delay model.
    settings
        Parameters of the algorithm and symbols that the theorem leaves to the user (N), by name.
    step
        Step sizes where the theorem lets one choose; absent ones are the theorem's own.
    iterations
        K or T.
    """

    family: str
    problem: Mapping[str, Any]
    delays: str
    settings: Mapping[str, str]
    step: Mapping[str, float]
    iterations: int

    @property
    def clients(self) -> int:
        """The number of clients."""
        return len(next(self.problem[name] for name in PER_CLIENT if name in self.problem))

    @property
    def dimension(self) -> int:
        """The number of coordinates of x0."""
        return int(np.size(self.problem["x0"]))

    @property
    def separable(self) -> bool:
        """True if coordinates do not mix."""
        return "w" in self.problem

    @property
    def noisy(self) -> bool:
        """True if gradients have noise."""
        return bool(self.problem.get("sigma", 0.0))

    def rows(self, name: str) -> Floats:
        """Return centres or weights of a problem whose coordinates do not mix, shape (n, d)."""
        return np.array(self.problem[name], dtype=np.float64).reshape(self.clients, -1)

    def start(self) -> Floats:
        """Return x0 of a problem whose coordinates do not mix, shape (d,)."""
        return np.array(self.problem["x0"], dtype=np.float64).reshape(-1)

    def options(self) -> dict[str, Any]:
        """Return the problem's options as case files have them, without its type."""
        own = {name: value for name, value in self.problem.items() if name != "type"}
        if self.problem["type"] != "quadratic" or not self.separable:
            return own
        rows, c, _ = self.rows("w"), own.pop("c"), own.pop("w")
        centres = [one if isinstance(one, (list, tuple)) else [one] for one in c]
        return {"A": [np.diag(row).tolist() for row in rows], "b": [list(one) for one in centres], **own}

    def build(self) -> Problem:
        """Return the problem."""
        return catalog.problem(str(self.problem["type"]), self.options())

    def all_settings(self) -> dict[str, str]:
        """Return parameters, symbols and step sizes as ``--set`` takes them."""
        return {**self.settings, **{name: typed(value) for name, value in self.step.items()}}

    def problem_spec(self) -> str:
        """Return the problem as ``--problem`` takes it."""
        return spec_of(str(self.problem["type"]), self.options())

    def command(self, typed: str, trials: int) -> str:
        """Return the comparison that repeats the instance by itself; ``typed``: the theorem, an id or a file."""
        words = ["compare", typed, "--problem", self.problem_spec(), "--delays", self.delays]
        words += ["--iterations", str(self.iterations), "--trials", str(trials)]
        words += [word for name, value in self.all_settings().items() for word in ("--set", f"{name}={value}")]
        return command_line(*words)

    def key(self) -> tuple[Any, ...]:
        """Return what tells candidates apart."""
        return (self.problem_spec(), self.delays, tuple(sorted(self.all_settings().items())), self.iterations)

    def quadratic(self) -> "Candidate":
        """Return the candidate with the quadratics that its functions are near their centres."""
        own = {name: value for name, value in self.problem.items() if name != "delta"}
        return replace(self, problem={**own, "type": "quadratic"})

    def with_problem(self, **changes: Any) -> "Candidate":
        """Return the candidate with other problem numbers."""
        return replace(self, problem={**self.problem, **changes})
