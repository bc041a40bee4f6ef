"""Sizes of steps: that of iteration k, and those of the local steps of one update."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final, final

import numpy as np
import sympy
from numpy.typing import NDArray

from boundlab.algorithms import _option as option
from boundlab.errors import FormulaError, SpecError, UndecidedError
from boundlab.formulas.enclose import walk
from boundlab.formulas.parse import parse
from boundlab.formulas.rationals import RATIONALS
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


_K, _HORIZON = sympy.Symbol("k", integer=True, nonnegative=True), sympy.Symbol("K", integer=True, positive=True)
_NAMED: Final[Mapping[str, str]] = MappingProxyType(
    {"none": "1", "sqrt": "1/sqrt(k + 1)", "linear": "Max(K - k, 0)/(K + 1)"}
)
DECAYS: Final = "none (default), sqrt: alpha/√(k+1), linear: alpha·(K−k)/(K+1), or any formula of k and K times alpha"
DECAY_EXAMPLES: Final = ("none", "sqrt", "linear", "1/(k + 2)")


@final
@dataclass(frozen=True, slots=True)
class Decay:
    """Factor of the step size at iteration k: a formula of k, and of the horizon K.

    At every k it is a fraction or the root of one, so that a step is rounded once.

    Parameters
    ----------
    text
        ``none``, ``sqrt``, ``linear``, or the formula.
    """

    text: str = "none"

    def __str__(self) -> str:
        """Return it as it is typed."""
        return self.text

    @property
    def constant(self) -> bool:
        """True if nothing multiplies the step size."""
        return self.text == "none"

    @property
    def reads_horizon(self) -> bool:
        """True if the horizon K must be known."""
        return _HORIZON in self.formula.free_symbols

    @property
    def falls(self) -> bool:
        """True if no step is larger than the first, as far as that is known."""
        return self.text in _NAMED or bool(sympy.diff(self.formula, _K).is_nonpositive)

    @property
    def formula(self) -> sympy.Expr:
        """The factor, of k and K."""
        return _formula(_NAMED.get(self.text, self.text))

    def at(self, k: int, horizon: int | None) -> float:
        """Return the factor; no run that was told its horizon takes a step from there on.

        Raises
        ------
        SpecError
            If it is negative, infinite, or neither a fraction nor a root of one.
        """
        if horizon is not None and k >= horizon:
            return 0.0
        return _factor(self, k, horizon)

    @classmethod
    def read(cls, options: Options, name: str) -> "Decay":
        """Read a word or a formula.

        Raises
        ------
        SpecError
            If it is neither.
        """
        text = str(options.raw(name, "none")).strip()
        if text in _NAMED:
            return cls(text)
        try:
            found = _formula(text)
        except FormulaError as error:
            said = f"{', '.join(_NAMED)}, or a formula of k and K such as 1/(k + 2)"
            raise SpecError(f"{options.owner}: {name} must be {said}; {error}") from None
        if not found.free_symbols:
            raise SpecError(f"{options.owner}: {name} = {text} does not depend on k; put the number into alpha")
        return cls(str(found))


@lru_cache(maxsize=256)
def _formula(text: str) -> sympy.Expr:
    return parse(text, {"k": _K, "K": _HORIZON}, "decay")


@lru_cache(maxsize=1 << 17)
def _factor(decay: Decay, k: int, horizon: int | None) -> float:
    known = {"k": Fraction(k), **({} if horizon is None else {"K": Fraction(horizon)})}
    try:
        found = walk(decay.formula, RATIONALS, known.__getitem__)
        value = float(found)
    except (UndecidedError, TypeError, OverflowError) as error:
        raise SpecError(f"decay={decay} at k = {k} is neither a fraction nor the root of one: {error}") from None
    if not 0.0 <= value < math.inf:
        raise SpecError(f"decay={decay} is {value:g} at k = {k}; no step is negative or infinite")
    return value


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


def one_step(rate: str) -> Any:
    """Declare a single local step, from the option ``rate``."""

    def read(options: Options, _: str) -> LocalSteps:
        options.require(rate)
        return LocalSteps((options.number(rate, 0.0, above=0.0),))

    return option.custom({rate: "step size"}, read)
