"""Read what people set: ``L=10``, ``K=1:1e6:log``, ``sigma=0,1,2``, ``p=0.2,0.3,0.35``.

A number stands for itself; several numbers for a scalar symbol, or a range, span an axis, and all axes
together a grid in the order in which they were given. A vector symbol takes one number per client, and what
follows from it (n, p_s, p_min, qbar) is filled in.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from boundlab.errors import FormulaError, SymbolError
from boundlab.formulas.parse import number_value
from boundlab.formulas.symbols import SYMBOLS, SymbolInfo, check, lookup, make_symbol
from boundlab.options import numbers, split_setting, typed
from boundlab.randomness import Floats

DEFAULT_POINTS = 61
MAX_POINTS = 5 * 10**7
_TOLERANCE = 1e-9


@final
@dataclass(frozen=True, slots=True)
class Values:
    """Values of symbols over a grid.

    Parameters
    ----------
    scalars
        One number each.
    axes
        The grids, in the order given; the j-th one spans dimension j.
    vectors
        One number per client each, shape (n,).
    along
        Symbols that vary with an axis because they follow from it: shape of the grid, or broadcastable to it.
    given
        The names that were typed, in order.
    """

    scalars: Mapping[str, float]
    axes: Mapping[str, Floats]
    vectors: Mapping[str, Floats]
    along: Mapping[str, Floats]
    given: tuple[str, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the grid: () where every symbol has one value."""
        return tuple(len(axis) for axis in self.axes.values())

    def grid(self) -> dict[str, float | Floats]:
        """Return all values by name, scalars and arrays that broadcast to ``shape``, vectors as (n,)."""
        found: dict[str, float | Floats] = {**self.scalars, **self.along, **self.vectors}
        for place, (name, axis) in enumerate(self.axes.items()):
            found[name] = _spread(axis, place, len(self.axes))
        return found

    def flat(self) -> dict[str, Floats]:
        """Return the axes as columns, shape (points,), in the order in which a table lists the grid."""
        full = {name: _spread(axis, place, len(self.axes)) for place, (name, axis) in enumerate(self.axes.items())}
        return {name: np.broadcast_to(value, self.shape).ravel() for name, value in full.items()}


def _spread(axis: Floats, place: int, dimensions: int) -> Floats:
    return axis.reshape(tuple(-1 if j == place else 1 for j in range(dimensions)))


def parse_values(assignments: Sequence[str], symbols: Mapping[str, SymbolInfo] = SYMBOLS) -> Values:
    """Read assignments ``NAME=VALUE``.

    Parameters
    ----------
    assignments
        Each ``NAME=`` followed by a number or a formula of numbers; a list ``1,10,100`` or ``[1,10]``; a range
        ``start:stop:log`` or ``start:stop:lin`` with ``:points`` after it if not 61 (integer symbols are
        rounded, and equal points dropped); ``@file`` with one number a line for vectors.

    Raises
    ------
    SymbolError
        If a symbol is unknown, stands twice, is outside its domain, or contradicts another one.
    FormulaError
        If a value cannot be read.

    Examples
    --------
    >>> values = parse_values(["L=10", "p=0.2,0.3", "K=1:100:log:3"])
    >>> values.scalars["p_s"], values.axes["K"].tolist()
    (0.5, [1.0, 10.0, 100.0])
    """
    scalars: dict[str, float] = {}
    axes: dict[str, Floats] = {}
    vectors: dict[str, Floats] = {}
    given: list[str] = []
    for assignment in assignments:
        setting = split_setting(assignment)
        if setting is None:
            raise SymbolError(f"{assignment!r} is not NAME=VALUE; write for example L=10 or K=1:1e6:log")
        name, text = setting
        info = lookup(name, symbols)
        if name in given:
            raise SymbolError(f"{name} is set twice")
        text = text[1:-1] if text.startswith("[") and text.endswith("]") else text
        given.append(name)
        if info.vector:
            raw = numbers(text, name) if text.startswith("@") else [number_value(word, name) for word in _split(text)]
            vectors[name] = check(name, raw, symbols)
        elif ":" in text:
            axes[name] = check(name, _range(info, text), symbols)
        else:
            entries = check(name, [number_value(word, name) for word in _split(text)], symbols)
            if len(entries) == 1:
                scalars[name] = float(entries[0])
            else:
                axes[name] = entries
    points = int(np.prod([len(axis) for axis in axes.values()], dtype=np.float64))
    if points > MAX_POINTS:
        raise SymbolError(f"the grid has {points} points, at most {MAX_POINTS} are evaluated at once")
    along = _arrivals(scalars, axes, vectors)
    frozen = (
        MappingProxyType(scalars),
        MappingProxyType(axes),
        MappingProxyType(vectors),
        MappingProxyType(along),
    )
    return Values(*frozen, given=tuple(given))


def _split(text: str) -> list[str]:
    """Split at commas outside parentheses."""
    parts, depth, start = [], 0, 0
    for place, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            parts.append(text[start:place])
            start = place + 1
    return [*parts, text[start:]]


def _range(info: SymbolInfo, text: str) -> Floats:
    parts = [part.strip() for part in text.split(":")]
    if len(parts) not in (3, 4) or parts[2] not in ("log", "lin"):
        raise FormulaError(
            f"{info.name}: {text!r} is not a range; write start:stop:log or start:stop:lin, then :points"
        )
    low, high = (number_value(part, info.name) for part in parts[:2])
    count = number_value(parts[3], f"{info.name}, points") if len(parts) == 4 else float(DEFAULT_POINTS)
    log = parts[2] == "log"
    for wrong, right in (
        (
            not 2 <= count <= MAX_POINTS or count != int(count),
            f"a range has an integer number of points between 2 and {MAX_POINTS}",
        ),
        (not low < high, f"the range {text!r} must start below its end"),
        (log and low <= 0, f"a logarithmic range starts above 0, got {low:g}"),
    ):
        if wrong:
            raise FormulaError(f"{info.name}: {right}")
    grid = np.geomspace(low, high, int(count)) if log else np.linspace(low, high, int(count))
    if info.domain.integer:
        check(info.name, [low, high], {info.name: info})
        grid = np.unique(np.rint(grid))
    return grid


def axis_texts(name: str, text: str) -> list[str]:
    """Return the values of a list or a range, ``1,10,sqrt(2)`` or ``1:1e6:log:7``, each as text that is read alone.

    Raises
    ------
    FormulaError
        If it cannot be read.

    Examples
    --------
    >>> axis_texts("M", "1:100:log:3"), axis_texts("reply", "pre,post")
    (['1', '10', '100'], ['pre', 'post'])
    """
    if text.count(":") not in (2, 3):
        return [part.strip() for part in _split(text)]
    info = SYMBOLS.get(name) or make_symbol(name, name, "real", (0, 0))
    return [typed(value) for value in _range(info, text).tolist()]


def of_arrivals(p: Sequence[Any], p_s: Any) -> dict[str, Any]:
    """Return what follows from the probabilities of clients and server, in the numbers in which these are given.

    :func:`arrival_statistics` checks them first, and gives floats.
    """
    return {"n": len(p), "p_s": p_s, "p_min": min(*p, p_s), "qbar": np.array([1 / one for one in p]).sum() / len(p)}


def arrival_statistics(p: ArrayLike, p_s: float | None = None) -> dict[str, float]:
    """Return n, p_s, p_min and qbar of the arrival probabilities.

    Parameters
    ----------
    p
        Shape (n,): p_i in (0, 1].
    p_s
        Probability of an aggregation; 1 − Σ p_i where None.

    Raises
    ------
    SymbolError
        If an entry is no probability, nothing is left for the server, or the sum is not 1.

    Examples
    --------
    >>> arrival_statistics([0.25, 0.25])
    {'n': 2.0, 'p_s': 0.5, 'p_min': 0.25, 'qbar': 4.0}
    """
    each = check("p", p)
    total = float(each.sum())
    if p_s is None:
        p_s = 1.0 - total
        if p_s <= _TOLERANCE:
            raise SymbolError(f"p sums to {total:.12g}, which leaves nothing for the server: p_s = 1 − Σp must be > 0")
    elif abs(total + p_s - 1.0) > _TOLERANCE:
        raise SymbolError(
            f"probabilities sum to {total + p_s:.12g}, must sum to 1: Σp = {total:.12g}, p_s = {p_s:.12g}"
        )
    check("p_s", p_s)
    return {name: float(value) for name, value in of_arrivals(each.tolist(), p_s).items()}


def _arrivals(scalars: dict[str, float], axes: Mapping[str, Floats], vectors: dict[str, Floats]) -> dict[str, Floats]:
    """Fill in what p, or rates and lambda_s, decide; return what varies along lambda_s."""
    named = set(scalars) | set(axes)
    source = "rates" if "rates" in vectors else "p"
    if "rates" in vectors and "p" in vectors:
        raise SymbolError("rates and p both give the arrival probabilities; set one of them")
    for name, vector in vectors.items():
        if source in vectors and len(vector) != len(vectors[source]):
            raise SymbolError(f"{name} has {len(vector)} entries, {source} has {len(vectors[source])}")
    if source not in vectors:
        return {}
    for name in of_arrivals([1], 1):
        if name in named and (name != "p_s" or source == "rates"):
            raise SymbolError(f"{name} follows from {source}; set one of them")
    if source == "p":
        if "p_s" in axes:
            raise SymbolError("p_s has several values, but together with p it must sum to 1; set one value, or none")
        scalars.update(arrival_statistics(vectors["p"], scalars.get("p_s")))
        return {}
    rates = vectors["rates"]
    if "lambda_s" in scalars:
        total = scalars["lambda_s"] + float(rates.sum())
        vectors["p"] = rates / total
        scalars.update(arrival_statistics(vectors["p"], scalars["lambda_s"] / total))
        return {}
    if "lambda_s" not in axes:
        raise SymbolError(
            f"rates need lambda_s ({SYMBOLS['lambda_s'].meaning}) to give the probabilities; set lambda_s="
        )
    scalars["n"] = float(len(rates))
    servers = _spread(axes["lambda_s"], list(axes).index("lambda_s"), len(axes))
    every = servers + rates.sum()
    return {
        "p_s": servers / every,
        "p_min": np.minimum(servers, rates.min()) / every,
        "qbar": every * float(np.mean(1.0 / rates)),
    }
