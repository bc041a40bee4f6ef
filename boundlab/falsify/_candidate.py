"""An instance that a search looks at: problem, delays, settings and horizon, all in a user's own words."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from boundlab.falsify import _catalog as catalog
from boundlab.instance.fitting import CompareOptions
from boundlab.objective import Problem
from boundlab.objective.simple import OPTIONS
from boundlab.options import numbers, parse_spec, spec_of, typed
from boundlab.theorems import Theorem

Floats = NDArray[np.float64]
_OF_ALL = ("x0", "minimiser", "direction", "box")  # arrays of a problem that have no entry for each client


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
        huber, delta. For least squares with mini-batches the rows a and their targets y, a list of each client, a row
        as a centre; batch and x0. Else the options as case files have them.
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

    def __hash__(self) -> int:
        return hash((self.delays, self.iterations, *self.settings.items(), *self.step.items()))

    @property
    def clients(self) -> int:
        """The number of clients."""
        return len(next(iter(self.per_client().values())))

    @property
    def dimension(self) -> int:
        """The number of coordinates of x0."""
        return int(np.size(self.problem["x0"]))

    @property
    def separable(self) -> bool:
        """True if coordinates do not mix."""
        return "w" in self.problem

    @property
    def sampled(self) -> bool:
        """True if the functions are rows of data."""
        return "y" in self.problem

    @property
    def independent(self) -> bool:
        """True if each number of the problem may be another one, whatever the others are."""
        return self.separable or self.sampled

    @property
    def constrained(self) -> bool:
        """True if the objective is F = f + h, on a box or a ball or with a penalty: proximal maps follow steps."""
        return not OPTIONS.keys().isdisjoint(self.problem)

    @property
    def noisy(self) -> bool:
        """True if gradients have noise."""
        return bool(self.problem.get("sigma", 0.0)) or self.sampled

    @property
    def tailed(self) -> bool:
        """True if the noise is normal and functions are not quadratic everywhere: no exact numbers average that out."""
        return self.noisy and self.problem["type"] in ("huber", "lad") and self.problem.get("noise") != "sign"

    @property
    def carried(self) -> bool:
        """True if the noise is carried along a run as coefficients: nothing but gradient steps on quadratic parts."""
        return self.noisy and self.separable and not self.constrained

    def per_client(self) -> dict[str, Sequence[Any]]:
        """Return the problem's arrays with one entry a client, by option."""
        listed = {name: value for name, value in self.problem.items() if isinstance(value, (list, tuple))}
        return {name: value for name, value in listed.items() if name not in _OF_ALL}

    def rows(self, name: str) -> Floats:
        """Return centres or weights of a problem whose coordinates do not mix, shape (n, d)."""
        return np.array(self.problem[name], dtype=np.float64).reshape(self.clients, -1)

    def start(self) -> Floats:
        """Return x0 of a problem whose coordinates do not mix, shape (d,)."""
        return np.array(self.problem["x0"], dtype=np.float64).reshape(-1)

    def shares(self) -> list[float]:
        """Return the clients' probabilities in i.i.d. events; nothing where the delays give none."""
        name, options = parse_spec(self.delays, "delays")
        return numbers(options["p"], "p") if name == "iid" and "p" in options else []

    def options(self) -> dict[str, Any]:
        """Return the problem's options as case files have them, without its type."""
        own = {name: value for name, value in self.problem.items() if name != "type"}
        if self.sampled:
            rows, targets = own.pop("a"), own.pop("y")
            features = [one if isinstance(one, (list, tuple)) else [one] for of_client in rows for one in of_client]
            owners = [client for client, of_client in enumerate(targets) for _ in of_client]
            return {"features": features, "targets": [one for some in targets for one in some], "owners": owners, **own}
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

    def compared(self, theorem: Theorem) -> CompareOptions:
        """Return the comparison that repeats the instance by itself."""
        return CompareOptions(
            theorem, self.problem_spec(), self.delays, iterations=self.iterations, settings=self.all_settings()
        )

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

    def in_units(self, value: float, length: float, digits: int = 12) -> "Candidate":
        """Return the candidate with function values and lengths multiplied, written with so many digits."""
        gradient, curvature = value / length, value / length**2
        scales = dict.fromkeys(("c", "x0", "delta", "ball", "box"), length)
        scales |= dict.fromkeys(("sigma", "l1", "error"), gradient)
        scales["w"] = gradient if self.problem["type"] == "lad" else curvature
        scales |= {"a": curvature**0.5, "y": value**0.5}
        problem = {
            name: _times(entry, scales[name], digits) if name in scales and not isinstance(entry, str) else entry
            for name, entry in self.problem.items()
        }
        step = {name: _times(rate, 1.0 / curvature, digits) for name, rate in self.step.items()}
        return replace(self, problem=problem, step=step)

    def with_arrays(self, w: Floats | None = None, c: Floats | None = None, x0: Floats | None = None) -> "Candidate":
        """Return the candidate with other weights or centres, shape (n, d), or start, shape (d,), as it writes them."""
        changes: dict[str, Any] = {}
        for name, rows in {"w": w, "c": c}.items():
            if rows is not None:
                changes[name] = (rows if isinstance(self.problem[name][0], list) else rows[:, 0]).tolist()
        if x0 is not None:
            changes["x0"] = x0.tolist() if isinstance(self.problem["x0"], list) else float(x0[0])
        return self.with_problem(**changes)


def _times(value: Any, factor: float, digits: int) -> Any:
    """Return a number or nested lists of numbers times a factor."""
    return shaped(value, [float(f"{entry * factor:.{digits}g}") for entry in flat(value)])


def flat(value: Any) -> list[float]:
    """Return the numbers of nested lists, in their order."""
    return [entry for one in value for entry in flat(one)] if isinstance(value, (list, tuple)) else [value]


def shaped(value: Any, entries: Iterable[float]) -> Any:
    """Return nested lists like these with other numbers, which are taken from the iterable one by one."""
    rest = iter(entries)
    return [shaped(one, rest) for one in value] if isinstance(value, (list, tuple)) else next(rest)
