"""Every symbol of every theorem, once: its meaning, its domain and its units (rows: _table).

Units are degrees (a, b): the symbol's behaviour under f → c·f (degree a) and x → s·x (degree b); or (a, b, c) with
seconds to the power c.
L and mu are (1, −2), B, G and sigma (1, −1), zeta and R (0, 1), function values (1, 0), step sizes
(−1, 2), probabilities and counts (0, 0). Rates of arrival are (0, 0): time is neither f nor x.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final, Literal, final

import numpy as np
import sympy
from numpy.typing import ArrayLike, NDArray

from boundlab.errors import SymbolError
from boundlab.formulas._table import ALONE, ANY, AT_MOST, COPIES, DELAYED, LOWER, ROLES, ROWS, UPPER, Degrees, Row
from boundlab.formulas.folds import ClientVector
from boundlab.options import nearest

_LARGEST: Final = 2**53  # integers up to there are floats
Side = Literal["exact", "upper", "lower", "any"]
SIDES: tuple[Side, ...] = ("exact", "upper", "lower", "any")
Role = Literal[
    "function", "noise", "heterogeneity", "start", "schedule", "option", "step", "horizon", "clients", "user", "short"
]


@final
@dataclass(frozen=True, slots=True)
class Domain:
    """The values that a symbol may take: an interval of the reals or of the integers.

    Parameters
    ----------
    id
        Its name in TOML files: ``positive``, ``nonnegative``, ``real``, ``probability``, ``fraction``,
        ``count``, ``natural`` or ``above-one``.
    rule
        What a message says after "must be".
    low, high
        Ends of the interval; ``open_low`` excludes the lower one.
    integer
        Whether only integers belong to it.
    """

    id: str
    rule: str
    low: float = -math.inf
    high: float = math.inf
    open_low: bool = False
    integer: bool = False

    def contains(self, value: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return, entry by entry, whether the value is finite and inside; same shape."""
        inside = np.isfinite(value) & (value <= self.high)
        inside &= value > self.low if self.open_low else value >= self.low
        if self.integer:
            inside &= value == np.floor(value)
        return np.asarray(inside)

    def holds(self, value: object) -> bool:
        """Return whether a value is a plain number inside, without the arrays of :meth:`contains`: False if unsure."""
        if type(value) is not float and not (type(value) is int and abs(value) <= _LARGEST):
            return False
        above = value > self.low if self.open_low else value >= self.low
        return above and value <= self.high and math.isfinite(value) and not (self.integer and value % 1)

    def symbol(self, name: str, kind: type[sympy.Symbol] = sympy.Symbol) -> sympy.Symbol:
        """Return a SymPy symbol with the assumptions of this domain."""
        assumptions: dict[str, bool] = {"real": True, "finite": True}
        if self.low > 0 or (self.low == 0 and self.open_low):
            assumptions["positive"] = True
        elif self.low == 0:
            assumptions["nonnegative"] = True
        if self.integer:
            assumptions["integer"] = True
        return kind(name, **assumptions)


DOMAINS: Mapping[str, Domain] = MappingProxyType(
    {
        domain.id: domain
        for domain in (
            Domain("positive", "> 0", low=0.0, open_low=True),
            Domain("nonnegative", "≥ 0", low=0.0),
            Domain("real", "a finite number"),
            Domain("probability", "in (0, 1]", low=0.0, high=1.0, open_low=True),
            Domain("fraction", "in [0, 1]", low=0.0, high=1.0),
            Domain("count", "an integer ≥ 1", low=1.0, integer=True),
            Domain("natural", "an integer ≥ 0", low=0.0, integer=True),
            Domain("above-one", "≥ 1", low=1.0),
        )
    }
)


@final
@dataclass(frozen=True, slots=True)
class SymbolInfo:
    """One symbol.

    Parameters
    ----------
    name
        How code, the command line and files spell it.
    symbol
        The SymPy symbol, with the assumptions of the domain.
    meaning
        What it is, in words that a message can quote.
    domain
        Its values.
    units
        Degrees (a, b) under f → c·f and x → s·x; or (a, b, c), in which seconds have the degree c.
    latex, unicode
        How it is printed for people.
    vector
        Whether it stands for one number per client, shape (n,).
    side
        What may stand in place of the true value: an ``upper`` or a ``lower`` limit of it, only the value itself
        (``exact``), or ``any`` number, where the theorem holds for each.
    role
        What it says something of: the functions f_i (``function``), the ``noise`` of their gradients, their
        ``heterogeneity``, the ``start``, the ``schedule`` (who acts when, read off delays or run), an ``option`` of the
        algorithm, a ``step``, the ``horizon``, the number of ``clients``. Else it is a ``short`` form of others, or the
        ``user``'s.
    alone
        Its value with one client, one local step at a time and no delay; None where it is chosen, or nobody knows.
    copies
        Twice the power of m that it is multiplied with where each client is there m times; None where nobody knows.
    delay
        The power of R that it is multiplied with where delays are R times as long; None where nobody knows.
    at_most
        The symbols that are never smaller, whatever the run.
    """

    name: str
    symbol: sympy.Symbol
    meaning: str
    domain: Domain
    units: Degrees
    latex: str
    unicode: str
    vector: bool = False
    side: Side = "exact"
    role: Role = "user"
    alone: int | None = None
    copies: int | None = None
    delay: int | None = None
    at_most: tuple[str, ...] = ()

    @property
    def is_step_size(self) -> bool:
        """True if it is counted in 1/L, as step sizes are."""
        return self.units == (-1, 2)

    def describe(self) -> str:
        """Return meaning, domain and units in one line.

        Examples
        --------
        >>> lookup("sigma").describe()
        'noise level: the variance of a stochastic (sub)gradient is at most sigma²; ≥ 0; units (1, −1)'
        """
        units = ", ".join(map(str, self.units)).replace("-", "−")
        each = "one number per client, " if self.vector else ""
        return f"{self.meaning}; {each}{self.domain.rule}; units ({units})"

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready fields."""
        return {
            "name": self.name,
            "meaning": self.meaning,
            "domain": self.domain.id,
            "units": list(self.units),
            "latex": self.latex,
            "unicode": self.unicode,
            "vector": self.vector,
        }


def make_symbol(
    name: str,
    meaning: str,
    domain: str,
    units: Degrees,
    latex: str = "",
    unicode: str = "",
    vector: bool = False,
    side: Side = "exact",
    role: Role = "user",
) -> SymbolInfo:
    """Make a symbol; ``latex`` and ``unicode`` default to its name.

    Raises
    ------
    SymbolError
        If there is no such domain.
    """
    if domain not in DOMAINS:
        raise SymbolError(f"symbol {name}: unknown domain {domain!r}; {nearest(domain, DOMAINS)}")
    shown = latex or (name if len(name) == 1 else rf"\mathrm{{{name.replace('_', chr(92) + '_')}}}")
    moved = 0 if role in ("option", "step", "horizon") else None  # what is chosen stays, whatever clients and delays do
    return SymbolInfo(
        name,
        DOMAINS[domain].symbol(name, ClientVector if vector else sympy.Symbol),
        meaning,
        DOMAINS[domain],
        units,
        shown,
        unicode or name,
        vector,
        side,
        role,
        copies=moved,
        delay=moved,
    )


def _built_in(row: Row) -> SymbolInfo:
    """Return a symbol of the table: what copies and delays do to it is known, and mostly nothing."""
    name = row[0]
    side: Side = "upper" if name in UPPER else "lower" if name in LOWER else "any" if name in ANY else "exact"
    (role,) = _places(ROLES, name)
    return replace(
        make_symbol(*row, side=side, role=role),  # type: ignore[misc]
        alone=next(_places(ALONE, name), None),
        copies=next(_places(COPIES, name), 0),
        delay=next(_places(DELAYED, name), 0),
        at_most=AT_MOST.get(name, ()),
    )


def _places(table: Mapping[Any, tuple[str, ...]], name: str) -> Iterator[Any]:
    return (place for place, names in table.items() if name in names)


SYMBOLS: Mapping[str, SymbolInfo] = MappingProxyType({row[0]: _built_in(row) for row in ROWS})


def lookup(name: str, symbols: Mapping[str, SymbolInfo] = SYMBOLS) -> SymbolInfo:
    """Return the symbol of that name.

    Raises
    ------
    SymbolError
        If there is none; the message names the nearest one.
    """
    if name not in symbols:
        raise SymbolError(f"unknown symbol {name!r}; {nearest(name, symbols)}")
    return symbols[name]


def having(*roles: Role, symbols: Mapping[str, SymbolInfo] = SYMBOLS) -> frozenset[str]:
    """Return the names of all symbols with one of these roles.

    Examples
    --------
    >>> sorted(having("noise"))
    ['G', 'sigma', 'sigma_i', 'sigma_l', 'sigma_star']
    """
    return frozenset(name for name, info in symbols.items() if info.role in roles)


def ordered(symbols: Mapping[str, SymbolInfo] = SYMBOLS) -> tuple[tuple[str, str], ...]:
    """Return the pairs (smaller, larger) of symbols that no run has the other way round.

    Examples
    --------
    >>> ordered()[0]
    ('mu', 'L')
    """
    return tuple((name, large) for name, info in symbols.items() for large in info.at_most)


NOISE: Final = having("noise")
"""The symbols that say how large the noise of gradients is: a theorem that reads one is about stochastic gradients."""
ZERO_WITHOUT_NOISE: Final = NOISE - {"G"}
"""Those that are 0 for full gradients; G bounds a gradient together with its noise."""
QUIET: Final = ZERO_WITHOUT_NOISE | {name for name, info in SYMBOLS.items() if info.alone == 0}
"""What can be 0 while gradient descent goes on: noise, delay, and differences between clients."""


def symbol(name: str) -> sympy.Symbol:
    """Return the SymPy symbol of a built-in name."""
    return lookup(name).symbol


def apart(name: str, **assumptions: bool) -> sympy.Symbol:
    """Return a symbol that no theorem can name: one of a proof about its formulas, not of the formulas themselves."""
    return sympy.Symbol(f"{name}′" if name.isascii() else name, **assumptions)


def check(name: str, value: ArrayLike, symbols: Mapping[str, SymbolInfo] = SYMBOLS) -> NDArray[np.float64]:
    """Return the value as float64, after making sure that every entry is finite and in the domain.

    Parameters
    ----------
    name
        A symbol of the table.
    value
        A number or an array of any shape; shape (n,) for a vector symbol.

    Raises
    ------
    SymbolError
        If the symbol is unknown, the value is not numeric or empty, or an entry is outside the domain.

    Examples
    --------
    >>> check("sigma", -1)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    boundlab.errors.SymbolError: sigma must be ≥ 0, got -1 (noise level: ...)
    """
    info = lookup(name, symbols)
    if not info.vector and info.domain.holds(value):
        return np.asarray(value, dtype=np.float64)
    try:
        if isinstance(value, (str, bytes, bool)) or np.iscomplexobj(value):
            raise TypeError
        numbers = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise SymbolError(f"{name} must be {info.domain.rule}, got {value!r} ({info.meaning})") from None
    if info.vector and numbers.ndim != 1:
        raise SymbolError(f"{name} must be a list of numbers, one per client ({info.meaning})")
    if numbers.size == 0:
        raise SymbolError(f"{name} is empty; give at least one number ({info.meaning})")
    outside = ~info.domain.contains(numbers)
    if outside.any():
        first = numbers[outside].flat[0]
        raise SymbolError(f"{name} must be {info.domain.rule}, got {first:.12g} ({info.meaning})")
    return numbers


@lru_cache(maxsize=4096)
def names_of(expression: sympy.Expr) -> frozenset[str]:
    """Return the names of the symbols in an expression."""
    return frozenset(symbol.name for symbol in expression.free_symbols)


def followed(names: Iterable[str], read: Callable[[str], Iterable[str]]) -> frozenset[str]:
    """Return names, what each of them reads, what that reads, and so on."""
    found: set[str] = set()
    stack = list(names)
    while stack:
        name = stack.pop()
        if name not in found:
            found.add(name)
            stack += read(name)
    return frozenset(found)
