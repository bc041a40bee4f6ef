"""Sizes of steps: that of iteration k, and those of the local steps of one update."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final, final

import numpy as np
import sympy
from numpy.typing import NDArray

from boundlab.algorithms import _option as option
from boundlab.arithmetic.rational import Recipe
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

    def of(self, k: int) -> float:
        """Return α_k."""
        return self.c if self.d is None else self.c / (k + self.d)

    def at(self, k: NDArray[np.int64]) -> NDArray[Any]:
        """Return α_k for an array of iterations; an array of objects where numbers know what they stand for."""
        if isinstance(self.c, Recipe):
            return np.array([self.of(one) for one in k.ravel().tolist()], dtype=object).reshape(k.shape)
        return np.full(np.shape(k), self.c) if self.d is None else np.asarray(self.c / (k + self.d))

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


VARIABLES: Final[Mapping[str, sympy.Symbol]] = MappingProxyType(
    {
        **{name: sympy.Symbol(name, integer=True, nonnegative=True) for name in ("k", "tau")},
        **{name: sympy.Symbol(name, integer=True, positive=True) for name in ("K", "n")},
    }
)
"""Variables of steps: the iteration, the staleness of the update in hand, the horizon, and the number of clients."""


@final
class StepRule(str):
    """A step's formula that no text need hold: with symbols of a theorem, or with their numbers in their place."""

    __slots__ = ("formula",)

    formula: sympy.Expr

    def __new__(cls, formula: sympy.Expr) -> "StepRule":
        """Return the formula, which reads as its text."""
        found = super().__new__(cls, formula)
        found.formula = formula
        return found

    @property
    def open(self) -> bool:
        """True while symbols stand in it."""
        return bool(self.formula.free_symbols - {*VARIABLES.values()})


def without_open(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options without a rule into which nobody has put the numbers yet, and without the horizon that it reads.

    No schedule depends on them.
    """
    rules = {name: value for name, value in options.items() if isinstance(value, StepRule) and value.open}
    read = {one.name for rule in rules.values() for one in rule.formula.free_symbols} & VARIABLES.keys()
    return {name: value for name, value in options.items() if name not in rules and name not in read}


@final
@dataclass(frozen=True, slots=True)
class StepFactor:
    """Factor of the step size, as a formula of what an iteration knows.

    Wherever it is taken it is a fraction or the root of one, so that a step is rounded once.

    Parameters
    ----------
    option
        The option that says it.
    text
        As it is typed: a word, or the formula.
    formula
        Of some of :data:`VARIABLES`; of other symbols, too, while nobody has put their numbers in.
    """

    option: str
    text: str
    formula: sympy.Expr = sympy.S.One

    def __str__(self) -> str:
        """Return it as it is typed."""
        return self.text

    @property
    def constant(self) -> bool:
        """True if nothing multiplies the step size."""
        return self.formula is sympy.S.One

    def reads(self, variable: str) -> bool:
        """Return whether one of :data:`VARIABLES` must be known."""
        return VARIABLES[variable] in self.formula.free_symbols

    def falls(self, variable: str) -> bool:
        """Return whether no step is larger than the first, as far as that is known."""
        return bool(sympy.factor(sympy.diff(self.formula, VARIABLES[variable])).is_nonpositive)

    def times(self, size: float, **known: int | None) -> float:
        """Return the factor, rounded once, times a size.

        Raises
        ------
        SpecError
            If it is negative, infinite, or neither a fraction nor a root of one.
        """
        exact, value = _factor(self, tuple(known.items()))
        if not isinstance(size, Recipe):
            return size * value
        root = not isinstance(exact, Fraction)
        return size * Recipe(value, ("pow", exact.base, Fraction(1, exact.degree)) if root else exact)

    def exactly(self, **known: int | None) -> Fraction:
        """Return the factor as a fraction.

        Raises
        ------
        SpecError
            If it is none.
        """
        found = _factor(self, tuple(known.items()))[0]
        if not isinstance(found, Fraction):
            raise SpecError(f"{self.option}={self} is no fraction at {_told(known)}")
        return found


def step_factor(name: str, says: str, words: Mapping[str, str], variables: Sequence[str], example: str) -> Any:
    """Declare a factor of the step size: a word, or a formula of variables.

    Parameters
    ----------
    name
        Of the option.
    words
        Word → formula; the first one is the default, and is 1.
    variables
        Of :data:`VARIABLES`, that of each iteration first.
    example
        A formula.
    """
    names = {name: VARIABLES[name] for name in variables}
    usual = next(iter(words))
    formulas = {word: parse(text, names, word) for word, text in words.items()}

    def read(options: Options, _: str) -> StepFactor:
        raw = options.raw(name, usual)
        if isinstance(raw, StepRule):
            return StepFactor(name, str(raw), raw.formula)
        text = str(raw).strip()
        if text in formulas:
            return StepFactor(name, text, formulas[text])
        try:
            found = parse(text, names, name)
        except FormulaError as error:
            said = f"{', '.join(words)}, or a formula of {' and '.join(variables)} such as {example}"
            raise SpecError(f"{options.owner}: {name} must be {said}; {error}") from None
        if not found.free_symbols:
            what = variables[0]
            raise SpecError(f"{options.owner}: {name} = {text} does not depend on {what}; put the number into alpha")
        return StepFactor(name, str(found), found)

    return option.custom(says, read, StepFactor(name, usual), {"": (*words, example)})


@lru_cache(maxsize=1 << 17)
def _factor(factor: StepFactor, known: tuple[tuple[str, int | None], ...]) -> tuple[Any, float]:
    values = {name: Fraction(value) for name, value in known if value is not None}
    where = f"{factor.option}={factor} at {_told(dict(known))}"
    if open_ := sorted(one.name for one in factor.formula.free_symbols if one.name not in values):
        raise SpecError(f"{where} reads {', '.join(open_)}, of which this run has no number")
    try:
        found = walk(factor.formula, RATIONALS, values.__getitem__)
        value = float(found)
    except (UndecidedError, TypeError, OverflowError) as error:
        raise SpecError(f"{where} is neither a fraction nor the root of one: {error}") from None
    if not 0.0 <= value < math.inf:
        raise SpecError(f"{where} is {value:g}; no step is negative or infinite")
    return found, value


def _told(known: Mapping[str, int | None]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in known.items() if value is not None)


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
    def relative(self) -> tuple[float, ...]:
        """Q numbers, or none where all steps are equal."""
        return () if len(set(self.eta)) == 1 else tuple(one / self.eta[0] for one in self.eta)

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
