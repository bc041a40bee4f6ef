"""Options of algorithms, each declared once: where its field stands, with its line of help and its limits.

    @dataclass(frozen=True, slots=True)
    class MyParameters(Parameters):
        alpha: float = option.number("step size", above=0.0)
        M: int = option.integer("local steps (default 1)", 1, minimum=1)

An option without a default is required. :func:`read` reads them in the order of the fields, :func:`says` gives the
help. Options that make one value together have one field: :func:`custom` or :func:`part`.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass, replace
from fractions import Fraction
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final, Self, TypeVar, final

import numpy as np
import sympy
from numpy.typing import NDArray

from boundlab.arithmetic.rational import Recipe, stands_for
from boundlab.errors import FormulaError, SpecError, UndecidedError
from boundlab.formulas.enclose import RATIONALS, walk
from boundlab.formulas.parse import parse
from boundlab.options import Options, nearest, parse_spec
from boundlab.randomness import Ints

_KEY = "option"
_Read = Callable[[Options, str], Any]
_SMALL = 20.0  # examples of numbers are no larger: searches begin with short runs
Examples = Callable[[int], Sequence[str]] | Sequence[str]
"""Some values of an option as they are typed, the simplest first, '' for none: a list, or one for n clients."""


class Parameters:
    """Values of an algorithm's options; subclasses are frozen dataclasses."""

    __slots__ = ()

    @property
    def exact(self) -> bool:
        """True if their numbers know what they stand for."""
        return _exact(self)

    def known(self, of: Callable[[float], Fraction] = stands_for) -> Self:
        """Return them with numbers that know what they stand for; programs and tapes have such numbers then, too.

        Parameters
        ----------
        of
            What a float stands for that does not know it yet.
        """
        found: Self = _known(self, of)
        return found

    def check(self, owner: str) -> None:
        """Refuse options that do not go together.

        Parameters
        ----------
        owner
            Whose options they are, for messages.

        Raises
        ------
        SpecError
            Which begins with the owner.
        """


@final
@dataclass(frozen=True, slots=True)
class _Option:
    """The options behind a field: option → one line on what it is ('' for the field's own name), and the reader.

    ``examples`` has values to try, for the options that say some.
    """

    says: Mapping[str, str]
    read: _Read
    required: bool
    examples: Callable[[int], Mapping[str, Sequence[str]]]


def custom(
    says: str | Mapping[str, str], read: _Read, default: Any = MISSING, examples: Mapping[str, Examples] | None = None
) -> Any:
    """Declare a field with a reader of its own, read(options, name of the field).

    Parameters
    ----------
    says
        The help of the option with the field's name, or of all options that the reader reads.
    default
        The field's value where nothing is read; the reader decides what happens where an option is missing.
    examples
        Option ('' for the field's own name) → values that differ in what they do, for searches.
    """
    some = examples or {}
    option = _Option(
        {"": says} if isinstance(says, str) else says,
        read,
        False,
        lambda clients: {name: one(clients) if callable(one) else one for name, one in some.items()},
    )
    return field(default=default, metadata={_KEY: option})


def positive(values: Sequence[float], what: str) -> tuple[float, ...]:
    """Return numbers that are > 0.

    Raises
    ------
    SpecError
        If one is not; the message begins with ``what`` they are.
    """
    if any(one <= 0.0 for one in values):
        raise SpecError(f"{what} must be > 0, got {min(values):g}")
    return tuple(values)


def positive_if_given(options: Options, name: str) -> tuple[float, ...] | None:
    """Read an option of numbers that are > 0; None where it is not set."""
    return positive(options.numbers(name), f"{options.owner}: {name}") if options.has(name) else None


def part(kind: type[Parameters]) -> Any:
    """Declare a field whose value is made of options of its own; all of them have defaults."""
    option = _Option(
        says(kind), lambda options, _: _fill(kind, options), False, lambda clients: examples(kind, clients)
    )
    return field(default_factory=kind, metadata={_KEY: option})


def number(says: str, default: Any = MISSING, **limits: float) -> Any:
    """Declare a number; limits as in :meth:`Options.number`. The default None stands for an absent option."""
    some = _within([1.0, 0.5, 2.0, 0.1, 10.0], default, limits)
    return _simple(says, default, lambda options, name: options.number(name, _or(default, 1.0), **limits), some)


def integer(says: str, default: Any = MISSING, **limits: int) -> Any:
    """Declare an integer; limits as in :meth:`Options.integer`. The default None stands for an absent option."""
    some = _within([1, 2, 5, 20], default, limits)
    return _simple(says, default, lambda options, name: options.integer(name, _or(default, 1), **limits), some)


def choice(says: str, words: Sequence[str], default: str | None = None) -> Any:
    """Declare one of several words, the first by default."""
    usual = words[0] if default is None else default
    order = dict.fromkeys((usual, *words))
    return _simple(says, usual, lambda options, name: options.choice(name, usual, words), tuple(order))


def flag(says: str) -> Any:
    """Declare a yes/no option, no by default."""
    return _simple(says, False, lambda options, name: options.flag(name), ("no", "yes"))


def _exact(value: Any) -> bool:
    parts = [getattr(value, one.name) for one in fields(value)] if is_dataclass(value) else value
    return any(map(_exact, parts)) if isinstance(parts, (list, tuple)) else isinstance(value, Recipe)


def _known(value: Any, of: Callable[[float], Fraction]) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{one.name: _known(getattr(value, one.name), of) for one in fields(value) if one.init})
    if isinstance(value, tuple):
        return tuple(_known(one, of) for one in value)
    return Recipe(value, of(value)) if isinstance(value, float) and not isinstance(value, Recipe) else value


def _within(values: Sequence[float], default: Any, limits: Mapping[str, float]) -> tuple[str, ...]:
    """Return numbers within the limits as they are typed, a default up to 2 first; '' is no value."""
    low, above, high = limits.get("minimum", -np.inf), limits.get("above", -np.inf), limits.get("maximum", np.inf)
    usual = [] if default is MISSING or default is None or default > 2 else [default]
    inside = [one for one in (*usual, low, *values, high) if low <= one <= high and above < one and abs(one) <= _SMALL]
    return (*([""] if default is None else []), *(f"{one:g}" for one in dict.fromkeys(inside)))


def _simple(says: str, default: Any, read: _Read, some: Sequence[str]) -> Any:
    def read_if_given(options: Options, name: str) -> Any:
        return read(options, name) if options.has(name) else None

    option = _Option({"": says}, read_if_given if default is None else read, default is MISSING, lambda _: {"": some})
    return field(default=default, metadata={_KEY: option})


def _or(default: Any, other: Any) -> Any:
    """Return the default; where there is none it is never used."""
    return other if default is MISSING or default is None else default


def says(kind: type[Parameters]) -> Mapping[str, str]:
    """Return option → one line on what it is, in the order of the fields."""
    return MappingProxyType({key or name: line for name, option in _options(kind) for key, line in option.says.items()})


def defaults(kind: type[Parameters]) -> Mapping[str, str]:
    """Return option → its default as it is typed, where its field says one; "none" where it is left out."""
    found: dict[str, str] = {}
    for one in fields(kind):  # type: ignore[arg-type]
        made: Any = one.default_factory
        if isinstance(made, type) and issubclass(made, Parameters):
            found |= defaults(made)
        elif _KEY in one.metadata and "" in one.metadata[_KEY].says and one.default is not MISSING:
            found[one.name] = "none" if one.default in (None, ()) else str(one.default)
    return MappingProxyType(found)


def examples(kind: type[Parameters], clients: int) -> Mapping[str, Sequence[str]]:
    """Return option → some of its values as they are typed, the simplest first, '' for none, where an option says some.

    Parameters
    ----------
    clients
        n, for options with one entry a client.
    """
    return MappingProxyType(
        {key or name: tuple(some) for name, option in _options(kind) for key, some in option.examples(clients).items()}
    )


P = TypeVar("P", bound=Parameters)


def read(kind: type[P], options: Options) -> P:
    """Read all options.

    Raises
    ------
    SpecError
        If one is missing, unknown or outside its range, or some do not go together.
    """
    found = _fill(kind, options)
    found.check(options.owner)
    options.finish()
    return found


def _fill(kind: type[P], options: Options) -> P:
    declared = _options(kind)
    for name, option in declared:
        if option.required:
            options.require(name)
    return kind(**{name: option.read(options, name) for name, option in declared})


def _options(kind: type[Parameters]) -> list[tuple[str, _Option]]:
    return [(one.name, one.metadata[_KEY]) for one in fields(kind) if _KEY in one.metadata]  # type: ignore[arg-type]


# Staleness functions s(τ) that damp late updates (Xie, Koyejo, Gupta, "Asynchronous federated optimization").

FORMS = (
    "constant (1), inverse (1/(tau+1)), polynomial:a=0.5 ((tau+1)^-a) or hinge:a=10,b=4 (1 up to b, then "
    "1/(a(tau-b)+1))"
)

EXAMPLES = ("constant", "inverse", "polynomial", "hinge:a=10,b=1")


@final
@dataclass(frozen=True, slots=True)
class Staleness:
    """s(τ) in (0, 1], with s(0) = 1.

    Parameters
    ----------
    kind
        ``constant``, ``inverse``, ``polynomial`` or ``hinge``.
    a, b
        Exponent of ``polynomial``; slope and knee of ``hinge``.
    """

    kind: str = "constant"
    a: float = 1.0
    b: float = 0.0

    def __call__(self, tau: int) -> float:
        """Return s(τ) for a staleness τ ≥ 0."""
        if self.kind == "constant":
            return 1.0
        if self.kind == "hinge":
            return 1.0 if tau <= self.b else 1.0 / (self.a * (tau - self.b) + 1.0)
        weight: float = (tau + 1.0) ** -self.a
        return weight


def staleness_function(says: str = f"staleness function: {FORMS}; default constant") -> Any:
    """Declare a staleness function."""
    return custom(says, read_staleness, Staleness(), {"": EXAMPLES})


def read_staleness(options: Options, key: str) -> Staleness:
    """Read ``constant``, ``inverse``, ``polynomial:a=…`` or ``hinge:a=…,b=…``.

    Raises
    ------
    SpecError
        If the function is unknown or a number is out of range.
    """
    name, raw = parse_spec(str(options.raw(key, "constant")), f"{options.owner}: {key}")
    own = Options(f"{options.owner}: {key} {name}", raw)
    if name in ("constant", "inverse"):
        found = Staleness(name)
    elif name == "polynomial":
        found = Staleness(name, own.number("a", 0.5, minimum=0.0, maximum=100.0))
    elif name == "hinge":
        found = Staleness(name, own.number("a", 10.0, minimum=0.0), own.number("b", 4.0, minimum=0.0))
    else:
        known = ("constant", "inverse", "polynomial", "hinge")
        raise SpecError(f"{options.owner}: {key} must be {FORMS}; got {name!r}; {nearest(name, known)}")
    own.finish()
    return found


# Sizes of steps: that of iteration k, and those of the local steps of one update.


@final
@dataclass(frozen=True, slots=True)
class StepSize:
    """α_k = c/(k + d), or the constant α when ``d`` is None; unit (−1, 2)."""

    c: float
    d: float | None = None

    def of(self, k: int) -> float:
        """Return α_k."""
        return self.c if self.d is None else self.c / (k + self.d)

    def at(self, k: Ints) -> NDArray[Any]:
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
            raise SpecError(
                f"{options.owner}: give either alpha, or c and d (alpha_k = c/(k+d))"
                f"{'' if constant else options.unread}"
            )
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
    return custom(says, lambda options, _: StepSize.read(options))


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

    return custom(says, read, StepFactor(name, usual), {"": (*words, example)})


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
        rates = positive(options.numbers(rate), f"{options.owner}: {rate}")
        count = options.integer(steps, len(rates), minimum=1, maximum=10**6)
        if len(rates) not in (1, count):
            raise SpecError(
                f"{options.owner}: {rate} has {len(rates)} entries for {count} local steps; give one, or one a step"
            )
        return cls(rates if len(rates) == count else rates * count)


def local_steps(rate: str, steps: str) -> Any:
    """Declare local steps, from the options ``rate`` and ``steps``."""
    says = {
        rate: "local step size, or a list of one a local step",
        steps: f"local steps (default 1, or as many as {rate} has entries)",
    }
    return custom(says, lambda options, _: LocalSteps.read(options, rate, steps), examples={steps: ("1", "2", "5")})


def one_step(rate: str) -> Any:
    """Declare a single local step, from the option ``rate``."""

    def read(options: Options, _: str) -> LocalSteps:
        options.require(rate)
        return LocalSteps((options.number(rate, 0.0, above=0.0),))

    return custom({rate: "step size"}, read)
