"""Sizes of steps: that of iteration k, and those of the local steps of one update."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from boundlab.algorithms import _option as option
from boundlab.errors import SpecError
from boundlab.options import Options


@final
@dataclass(frozen=True, slots=True)
class StepSize:
    """α_k = c/(k + d), or the constant α when ``d`` is None; unit (−1, 2)."""

    c: float
    d: float | None = None

    def at(self, k: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return α_k for an array of iterations."""
        if self.d is None:
            return np.full(np.shape(k), self.c)
        return np.asarray(self.c / (k + self.d), dtype=np.float64)

    @classmethod
    def read(cls, options: Options) -> "StepSize":
        """Read ``alpha``, or ``c`` and ``d``.

        Raises
        ------
        SpecError
            If neither or both are given, or a number is not positive.
        """
        constant, schedule = options.has("alpha"), options.has("c") or options.has("d")
        if constant == schedule:
            raise SpecError(f"{options.owner}: give either alpha, or c and d (alpha_k = c/(k+d))")
        if constant:
            return cls(options.number("alpha", 0.0, above=0.0))
        options.require("c"), options.require("d")
        return cls(options.number("c", 0.0, above=0.0), options.number("d", 0.0, above=0.0))


def step_size(alpha: str = "constant step size", k: str = "") -> Any:
    """Declare α_k, from the options alpha, or c and d.

    Parameters
    ----------
    alpha
        The help of alpha.
    k
        What follows alpha_k in the help of c and d.
    """
    says = {"alpha": alpha, "c": f"with d: alpha_k = c/(k+d){k}", "d": f"with c: alpha_k = c/(k+d){k}"}
    return option.custom(says, lambda options, _: StepSize.read(options))


@final
@dataclass(frozen=True, slots=True)
class LocalSteps:
    """Q local steps of sizes eta[0], …, eta[Q−1], unit (−1, 2)."""

    eta: tuple[float, ...]

    @property
    def steps(self) -> int:
        """Q."""
        return len(self.eta)

    @property
    def first(self) -> float:
        """The size of the first step, in which the others are counted."""
        return self.eta[0]

    @property
    def relative(self) -> NDArray[np.float64]:
        """Shape (Q,), or (0,) where all steps are equal."""
        if len(set(self.eta)) == 1:
            return np.empty(0)
        return np.array(self.eta) / self.eta[0]

    @classmethod
    def read(cls, options: Options, rate: str, steps: str) -> "LocalSteps":
        """Read a rate, or a list of one rate a local step, and the number of steps.

        Raises
        ------
        SpecError
            If a rate is not positive, or there are not as many as local steps.
        """
        options.require(rate)
        rates = options.numbers(rate)
        if min(rates) <= 0.0:
            raise SpecError(f"{options.owner}: {rate} must be > 0, got {min(rates):g}")
        count = options.integer(steps, len(rates), minimum=1, maximum=10**6)
        if len(rates) not in (1, count):
            raise SpecError(
                f"{options.owner}: {rate} has {len(rates)} entries for {count} local steps; give one, or one a step"
            )
        return cls(tuple(rates) if len(rates) == count else (rates[0],) * count)


def local_steps(rate: str, steps: str) -> Any:
    """Declare local steps, from the options ``rate`` and ``steps``."""
    says = {
        rate: "local step size, or a list of one a local step",
        steps: f"local steps (default 1, or as many as {rate} has entries)",
    }
    return option.custom(
        says, lambda options, _: LocalSteps.read(options, rate, steps), examples={steps: ("1", "2", "5")}
    )
