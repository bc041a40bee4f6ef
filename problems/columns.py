"""Columns of a table: which one is the target, which are features, and which names the client of each sample."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundlab.errors import DataError, SpecError
from boundlab.objective import Floats
from boundlab.options import device_order, nearest, typed

LARGEST = 150_000_000  # entries of a dense feature matrix: 1.2 GB in float64
_MOST = 1_000_000  # columns
_SHOWN = 60  # characters of a wrong entry in its message
_LISTED = 12  # columns in a message


@dataclass(frozen=True, slots=True)
class Dataset:
    """Samples.

    Parameters
    ----------
    name
        As the user gave it.
    features
        Shape (S, p), finite.
    targets
        Shape (S,), finite numbers: class labels or values.
    unit
        What ``scale=auto`` divides the features by; None: it maps each feature to [0, 1]; 1: nothing.
    chosen
        The options ``target``, ``columns``, ``by`` and ``sample_weight`` that give these columns of a table again.
    weights
        Shape (S,), of the samples; None: they have none.
    owners
        Shape (S,), the place in ``devices`` of each sample's; None where no column names it.
    devices
        The different values of the column ``by``, in the order of :func:`boundlab.options.device_order`.
    """

    name: str
    features: Floats
    targets: Floats
    unit: float | None
    chosen: Mapping[str, Any] = field(default_factory=dict)
    weights: Floats | None = None
    owners: NDArray[np.int64] | None = None
    devices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Wanted:
    """Columns that the options ask for, each by its name or its number from 1; empty where an option is left out."""

    target: str = ""
    columns: tuple[str, ...] = ()
    by: str = ""
    sample_weight: str = ""


@dataclass(frozen=True, slots=True)
class Chosen:
    """Columns of a table that are read.

    Parameters
    ----------
    target, columns, by, weight
        Their places, from 0; ``by`` and ``weight`` are None where none is asked for.
    labels
        Of all columns of the table, the name, or the number from 1 of one that has no name.
    """

    target: int
    columns: tuple[int, ...]
    by: int | None
    weight: int | None
    labels: tuple[str | int, ...]

    @property
    def numbers(self) -> tuple[int, ...]:
        """Return the columns that hold numbers: the features, and behind them the weights."""
        return self.columns if self.weight is None else (*self.columns, self.weight)

    def options(self) -> dict[str, Any]:
        """Return the options that choose the same columns."""
        more = {"by": self.by, "sample_weight": self.weight}
        named = {key: self.labels[place] for key, place in more.items() if place is not None}
        return {"target": self.labels[self.target], "columns": [self.labels[one] for one in self.columns], **named}


def choose(
    where: str,
    names: Sequence[str],
    wanted: Wanted,
    target: int | None = None,
    arrays: Mapping[str, Sequence[int]] | None = None,
    columns: Sequence[int] | None = None,
) -> Chosen:
    """Return which columns of a table are read.

    Parameters
    ----------
    where
        The table, for messages.
    names
        Of all columns; empty for those without.
    target, columns
        The places of the target and of the features if the options do not name them; None: the target must be named,
        and features are all columns but it, ``by`` and the weights.
    arrays
        Names that stand for several columns, with their places.

    Raises
    ------
    SpecError
        If a column is not there, is asked for twice, or the target must be named.
    DataError
        If two columns have one name, or none is left for the features.
    """
    check_columns(where, len(names))
    labels = tuple(name or place for place, name in enumerate(names, 1))
    known = {str(label): place for place, label in enumerate(labels)}
    if len(known) < len(labels):
        twice = next(label for label, often in Counter(map(str, labels)).items() if often > 1)
        raise DataError(f"{where} has two columns called {twice!r}; each needs a name of its own")

    def places(key: str, word: str) -> Sequence[int]:
        if word in known:
            return [known[word]]
        if arrays and word in arrays:
            return arrays[word]
        if word.isdecimal() and len(word) < 10 and 1 <= int(word) <= len(names):
            return [int(word) - 1]
        named = [name for name in (*names, *(arrays or ())) if name]
        hint = nearest(word, named) if named else f"they are numbered from 1 to {len(names)}"
        raise SpecError(f"{where} has no column {word!r} for {key}; {hint}")

    def place(key: str, word: str) -> int:
        found = places(key, word)
        if len(found) != 1:
            raise SpecError(f"{where}: {key}={word} has {len(found)} columns; name one column")
        return found[0]

    by = place("by", wanted.by) if wanted.by else None
    weight = place("sample_weight", wanted.sample_weight) if wanted.sample_weight else None
    if wanted.target:
        target = place("target", wanted.target)
    if target is None:
        shown = ", ".join(str(label) for label in labels[:_LISTED]) + (", …" if len(labels) > _LISTED else "")
        raise SpecError(f"{where} has the columns {shown}; say which one is the target: target=NAME")
    if wanted.columns:
        features = [one for word in wanted.columns for one in places("columns", word)]
        used = [*features, target] if weight is None else [*features, target, weight]
        more = [labels[one] for one, often in Counter(used).items() if often > 1]
        if more:
            raise SpecError(f"{where}: columns names {more[0]!r} twice, or as a feature and the target; name it once")
    else:
        every = range(len(names)) if columns is None else columns
        features = [one for one in every if one not in (target, by, weight)]
    if not features:
        raise DataError(f"{where} has no column left for the features; a sample needs a feature and a target")
    return Chosen(target, tuple(features), by, weight, labels)


def samples(
    where: str,
    chosen: Chosen,
    features: Floats,
    targets: NDArray[Any] | Sequence[str],
    names: Sequence[str] = (),
    unit: float | None = None,
) -> Dataset:
    """Return the samples of a table.

    Parameters
    ----------
    features
        Shape (S, p), with a column more where weights are chosen.
    targets
        Shape (S,), numbers or words.
    names
        Shape (S,), the column ``by``, where one is chosen.

    Raises
    ------
    DataError
        If a sample has no target, or no value of the column ``by``.
    """
    owners, devices = None, list[str]()
    if chosen.by is not None:
        if "" in names:
            row = names.index("") + 1
            raise DataError(f"{where}: row {row} has no value of {chosen.labels[chosen.by]!r}, which names its client")
        devices = device_order(names)
        rank = {name: place for place, name in enumerate(devices)}
        owners = np.array([rank[name] for name in names], dtype=np.int64)
    found, weights = values(where, targets), None
    if chosen.weight is not None:
        features, weights = features[:, :-1], features[:, -1]
    return Dataset(where, features, found, unit, chosen.options(), weights, owners, tuple(devices))


def values(where: str, targets: NDArray[Any] | Sequence[str]) -> Floats:
    """Return targets as numbers; words that are not all numbers are numbered in the order of the alphabet.

    Raises
    ------
    DataError
        If one is missing, or they are neither numbers nor words.
    """
    if isinstance(targets, np.ndarray):
        if targets.dtype.kind in "biuf":
            return targets.astype(np.float64)
        targets = words(where, targets)
    found = [parsed(word) for word in targets]
    if None in found:
        if "" in targets:
            raise DataError(f"{where}: row {targets.index('') + 1} has no target")
        rank = {word: float(place) for place, word in enumerate(sorted(set(targets)))}
        found = [rank[word] for word in targets]
    return np.asarray(found, np.float64)


def words(where: str, column: NDArray[Any]) -> list[str]:
    """Return the entries of an array as text: whole numbers as such; what is missing or not finite is empty.

    Raises
    ------
    DataError
        If an entry is neither a number nor a word.
    """
    if column.dtype.kind not in "biufUSO":
        raise DataError(f"{where} holds a column of {column.dtype}; a column has numbers or text")
    entries = (np.char.decode(column, "utf-8", "replace") if column.dtype.kind == "S" else column).tolist()
    found = []
    for row, one in enumerate(entries, 1):
        if not isinstance(one, (bool, int, float, str, type(None))):
            raise DataError(f"{where}: row {row} holds a {type(one).__name__}; a column has numbers or text")
        missing = one is None or (isinstance(one, float) and not math.isfinite(one))
        found.append("" if missing else typed(one).strip())
    return found


def matrix(where: str, chosen: Chosen, columns: Iterable[NDArray[Any]], rows: int) -> Floats:
    """Return the columns of the features side by side, shape (rows, p).

    Raises
    ------
    DataError
        If one is no column of numbers, or there would be too many entries.
    """
    if rows * len(chosen.columns) > LARGEST:
        raise DataError(f"{where} holds {rows}×{len(chosen.columns)} features; at most {LARGEST} are taken")
    out = np.empty((rows, len(chosen.numbers)))
    for place, column in enumerate(columns):
        if column.dtype.kind in "biuf":
            with np.errstate(over="ignore"):  # what is wider than a float
                out[:, place] = column
            continue
        for row, word in enumerate(words(where, column)):
            out[row, place] = feature(f"{where}, row {row + 1}", chosen, chosen.numbers[place], word)
    return out


def feature(where: str, chosen: Chosen, place: int, word: str) -> float:
    """Return the number that a word of a feature's column is.

    Raises
    ------
    DataError
        If it is none.
    """
    number = parsed(word)
    if number is None:
        label = chosen.labels[place]
        name = f" ({label})" if isinstance(label, str) else ""
        raise DataError(
            f"{where}, column {place + 1}{name}: {word[:_SHOWN]!r} is not a number; "
            "columns=[…] names the columns that are features"
        )
    return number


def parsed(word: str) -> float | None:
    """Return a word as a number; None if it is none."""
    try:
        return float(word)
    except ValueError:
        return None


def check_columns(where: str, count: int) -> None:
    """Refuse a table of more than a million columns.

    Raises
    ------
    DataError
        If there are more.
    """
    if count > _MOST:
        raise DataError(f"{where} has {count} columns; at most {_MOST} are taken")
