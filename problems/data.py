"""Data sets by name: of scikit-learn, in the folder BOUNDLAB_DATA, tables in files, LIBSVM, MNIST-style IDX, OpenML."""

import csv
import gzip
import math
import os
import warnings
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from inspect import signature
from itertools import chain
from pathlib import Path
from typing import IO, Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from boundlab.errors import BoundlabError, DataError, MissingExtraError, SpecError
from boundlab.files import check_readable, is_file
from boundlab.objective import Floats
from boundlab.options import device_order, nearest, typed

# Columns of a table: which one is the target, which are features, and which names the client of each sample.

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
    else:
        every = range(len(names)) if columns is None else columns
        features = [one for one in every if one not in (target, by, weight)]
    used = [*features, target] if weight is None else [*features, target, weight]
    if more := [labels[one] for one, often in Counter(used).items() if often > 1]:
        raise SpecError(f"{where}: {more[0]!r} is named twice among columns, target and sample_weight; name it once")
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


# Files, compressed or not, and the tables in them: CSV, arrays of NumPy, Parquet.
#
# Nothing in them is evaluated, and no pickle is read.

_LARGEST_FILE = 2**31  # bytes
_LARGEST_TEXT, _MOST_LINES = 256 * 2**20, 1_000_000
_BYTES = 8 * LARGEST  # of all arrays of a file, unpacked
_FEATURES, _TARGETS = ("X", "features"), ("y", "targets")
_INDEX = "__index_level_"  # how pandas names the index of a frame in Parquet files


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """Open a file, compressed with gzip or not, and turn what may go wrong in reading it into one line.

    Raises
    ------
    DataError
        If the file is missing, unreadable, or its compressed stream is truncated or corrupt.
    """
    check_readable(path, DataError, _LARGEST_FILE)
    try:
        with path.open("rb") as plain:
            zipped = plain.read(2) == b"\x1f\x8b"
        with gzip.open(path) if zipped else path.open("rb") as stream:
            yield cast(IO[bytes], stream)
    except EOFError:
        raise DataError(f"{path} is truncated: the compressed stream ends early") from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise DataError(f"{path} is not a sound gz file: {error}") from None
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror or error}") from None


def check_text(path: Path) -> None:
    """Refuse a text, compressed or not, that takes too long to read: more than a million lines, or 256 MiB.

    Raises
    ------
    DataError
        If it is longer than that.
    """
    lines = size = 0
    with opened(path) as stream:
        while block := stream.read(1 << 20):
            lines, size = lines + block.count(b"\n"), size + len(block)
            if lines > _MOST_LINES or size > _LARGEST_TEXT:
                raise DataError(f"{path} holds more than {_MOST_LINES} lines or {_LARGEST_TEXT >> 20} MiB of text")


def read_csv(path: Path, wanted: Wanted) -> Dataset:
    """Read a CSV text: with a header (a first row in which no field is a number) the target must be named.

    Without one the target is the last column by default.

    Raises
    ------
    DataError
        If it cannot be read, rows differ in length, or a feature is not a number.
    SpecError
        If the options ask for what is not there, or do not name the target.
    """
    check_text(path)
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.reader(stream, strict=True)
            return _rows(path, ((reader.line_num, row) for row in reader if any(map(str.strip, row))), wanted)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not a CSV text"
        raise DataError(f"cannot read {path}: {reason}") from None


def _rows(path: Path, rows: Iterator[tuple[int, list[str]]], wanted: Wanted) -> Dataset:
    start, first = next(rows, (0, []))
    if not first:
        raise DataError(f"{path} holds no samples")
    header = all(parsed(word) is None for word in first)
    names = [word.strip() if header else "" for word in first]
    chosen = choose(str(path), names, wanted, None if header else len(first) - 1)
    features: list[Floats] = []
    targets: list[str] = []
    by: list[str] = []
    for line, row in rows if header else chain([(start, first)], rows):
        if len(row) != len(first):
            raise DataError(f"{path}, line {line} has {len(row)} fields; the first row has {len(first)}")
        if len(features) == 1 and not header:
            _check_first(path, first, row)
        numbers = [feature(f"{path}, line {line}", chosen, place, row[place]) for place in chosen.numbers]
        features.append(np.array(numbers))
        targets.append(row[chosen.target].strip())
        by += [] if chosen.by is None else [row[chosen.by].strip()]
    return samples(str(path), chosen, np.asarray(features), targets, by)


def _check_first(path: Path, first: Sequence[str], second: Sequence[str]) -> None:
    """Refuse a first row that may be a header, though a field of it is a number, or a sample."""
    for place, (above, below) in enumerate(zip(first, second, strict=True), 1):
        if parsed(above) is None and parsed(below) is not None:
            raise DataError(
                f"{path}, line 1, column {place}: {above[:60]!r} stands above the number {below[:60]}, beside numbers; "
                "a header has no numbers, and samples whose columns mix words and numbers need a header above them"
            )


@contextmanager
def _sound(path: Path, kind: str) -> Iterator[None]:
    """Turn whatever a library says of a file that it cannot read into one line."""
    check_readable(path, DataError, _LARGEST_FILE)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except BoundlabError:
        raise
    except Exception:
        raise DataError(f"{path} is no sound {kind} file, or holds objects, which are not read") from None


def read_npz(path: Path, wanted: Wanted) -> Dataset:
    """Read named arrays: features X (or features) of shape (S, p), targets y (or targets) of shape (S,).

    The columns of X have numbers; every array of shape (S,) or (S, 1) is a column with a name.

    Raises
    ------
    DataError
        If it cannot be read, holds objects, or the arrays do not fit to each other.
    SpecError
        If the options ask for what is not there, or must name it.
    """
    with _sound(path, "NPZ"), path.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
        if sum(one.file_size for one in archive.zip.infolist()) > _BYTES:
            raise DataError(f"{path} unpacks to more than {_BYTES >> 20} MiB")
        every = {name: archive[name] for name in archive.files}
    found = {name: one[:, 0] if one.shape[1:] == (1,) else one for name, one in every.items() if one.ndim in (1, 2)}
    target = wanted.target or next((name for name in _TARGETS if name in found), "")
    tables = [name for name, one in found.items() if one.ndim == 2]
    default = next((name for name in _FEATURES if name in found), tables[0] if len(tables) == 1 else "")
    if tables and not default and not wanted.columns:
        raise SpecError(f"{path} has the tables {', '.join(tables)}; say which one has the features: columns=[NAME]")
    names: list[str] = []
    arrays: dict[str, range] = {}
    columns: list[NDArray[Any]] = []
    for name in sorted(found, key=lambda name: (name != default, found[name].ndim == 1)):  # X has the numbers 1, 2, …
        parts = np.atleast_2d(found[name].T)
        check_columns(str(path), len(names) + len(parts))
        arrays[name] = range(len(names), len(names) + len(parts))
        names += [name] if found[name].ndim == 1 else [""] * len(parts)
        columns += list(parts)
    first = arrays[default] if default else None
    chosen = choose(str(path), names, replace(wanted, target=target), None, arrays, first)
    for place in (*chosen.numbers, chosen.target if chosen.by is None else chosen.by):
        if (got := len(columns[place])) != (rows := len(columns[chosen.target])):
            raise DataError(f"{path}: column {chosen.labels[place]} has {got} entries, and the target {rows}")
    return _columns(path, chosen, columns.__getitem__)


def read_npy(path: Path, wanted: Wanted) -> Dataset:
    """Read one array of shape (S, p + 1), whose columns have numbers; the last one is the target by default.

    Raises
    ------
    DataError
        If it cannot be read, holds objects, or has another number of axes.
    SpecError
        If the options ask for what is not there.
    """
    with _sound(path, "NPY"):
        found = np.lib.format.open_memmap(path, mode="r")  # which has no objects
        axes, width = found.ndim, found.shape[-1]
    if axes != 2:
        raise DataError(f"{path} holds an array of {axes} axes; it needs two: samples, and their features and target")
    check_columns(str(path), width)
    chosen = choose(str(path), [""] * width, wanted, width - 1)
    return _columns(path, chosen, lambda place: np.asarray(found[:, place]))


def read_parquet(path: Path, wanted: Wanted) -> Dataset:
    """Read columns of a Parquet file; the target must be named.

    Raises
    ------
    DataError
        If it cannot be read, or a column holds neither numbers nor text.
    SpecError
        If the options ask for what is not there, or do not name the target.
    MissingExtraError
        If pyarrow is not installed.
    """
    if find_spec("pyarrow") is None:
        raise MissingExtraError('Parquet needs pyarrow: pip install "boundlab[parquet]"')
    from pyarrow.parquet import ParquetFile

    with _sound(path, "Parquet"), ParquetFile(path) as file:
        if sum(file.metadata.row_group(one).total_byte_size for one in range(file.num_row_groups)) > _BYTES:
            raise DataError(f"{path} unpacks to more than {_BYTES >> 20} MiB")
        names = [name for name in file.schema_arrow.names if not name.startswith(_INDEX)]
        chosen = choose(str(path), names, wanted)
        read = {*chosen.numbers, chosen.target, chosen.target if chosen.by is None else chosen.by}
        table = file.read([names[place] for place in sorted(read)])
    return _columns(path, chosen, lambda place: np.asarray(table.column(names[place]).to_numpy()))


def _columns(path: Path, chosen: Chosen, column: Callable[[int], NDArray[Any]]) -> Dataset:
    """Return the samples of a file whose columns are arrays, given by their places."""
    where = str(path)
    targets = column(chosen.target)
    features = matrix(where, chosen, map(column, chosen.numbers), len(targets))
    names = [] if chosen.by is None else words(where, column(chosen.by))
    return samples(where, chosen, features, targets, names)


Scale = Literal["auto", "none", "range"]
SCALES: tuple[Scale, ...] = ("auto", "none", "range")
BUNDLED = ("breast_cancer", "diabetes", "digits")
# Short for what lies in the folder BOUNDLAB_DATA; of files the first one that is there.
NAMED: dict[str, tuple[str, ...]] = {
    "a9a": ("libsvm:libsvm/a9a", "libsvm:libsvm/a9a.gz", "libsvm:libsvm/a9a.t", "libsvm:libsvm/a9a.t.gz"),
    "mnist": ("idx:mnist",),
}
READERS = (
    "csv:PATH",
    "npz:PATH",
    "npy:PATH",
    "parquet:PATH",
    "sklearn:NAME",
    "idx:FOLDER",
    "libsvm:PATH",
    "mnist:FOLDER",
    "openml:NAME",
)
_TABLES: Mapping[str, Callable[[Path, Wanted], Dataset]] = {
    "csv": read_csv,
    "npz": read_npz,
    "npy": read_npy,
    "parquet": read_parquet,
}
_DEFAULT = Wanted()
_PARTS = {"train-images": 3, "train-labels": 1}  # of a folder with IDX files, and how many axes each array has
_HUGE = 1e50  # squares of squares of a feature must not overflow


def load(name: str, wanted: Wanted = _DEFAULT) -> Dataset:
    """Read a data set.

    Parameters
    ----------
    name
        ``digits``, ``breast_cancer``, ``diabetes``, ``sklearn:NAME`` (any that scikit-learn brings along),
        ``csv:PATH``, ``npz:PATH``, ``npy:PATH``, ``parquet:PATH``, ``libsvm:PATH``, ``idx:FOLDER``, ``mnist:FOLDER``,
        ``openml:NAME``, or of the folder that the environment variable BOUNDLAB_DATA names ``mnist``, its folder, and
        ``a9a``, of its folder libsvm (``a9a``, else ``a9a.t``, each with or without ``.gz``).
    wanted
        Which columns are read, of tables and of what scikit-learn brings along.

    Raises
    ------
    SpecError
        If the name is not one of these, columns are asked for that are not there, or of data that have none.
    DataError
        If the data cannot be read or holds NaN or infinities.
    MissingExtraError
        If scikit-learn or pyarrow is needed and not installed.
    """
    kind, _, place = _resolved(name).partition(":")
    plain: dict[str, Callable[[str], Dataset]] = {"libsvm": _libsvm, "idx": _idx, "mnist": _idx, "openml": _openml}
    if kind not in (*_TABLES, *plain, "sklearn"):
        raise SpecError(f"unknown data {name!r}; {nearest(name, BUNDLED + READERS + tuple(NAMED))}")
    if not place:
        raise SpecError(f"data={name} names no place; write {kind}:{'NAME' if kind == 'sklearn' else 'PATH'}")
    if wanted != _DEFAULT and kind in plain:
        raise SpecError(
            f"data={name} has no columns to choose; target, columns, by and sample_weight go with "
            f"{', '.join(_TABLES)} and sklearn"
        )
    if kind == "sklearn":
        found = _sklearn(place, wanted)
    else:
        found = _TABLES[kind](_path(place), wanted) if kind in _TABLES else plain[kind](place)
    return checked(replace(found, name=name))


def _resolved(name: str) -> str:
    """Return the reader and the path that a short name stands for; other names as they are."""
    if name not in NAMED:
        return f"sklearn:{name}" if name in BUNDLED else name
    root = os.environ.get("BOUNDLAB_DATA")
    first = NAMED[name][0].replace(":", ":PATH/")
    if not root:
        raise DataError(
            f"data={name} is read from the folder in the environment variable BOUNDLAB_DATA, which is not set; "
            f"set it, or write data={first}"
        )
    for entry in NAMED[name]:
        kind, _, place = entry.partition(":")
        path = _path(root) / place
        if path.exists():
            return f"{kind}:{path}"
    raise DataError(f"data={name}: BOUNDLAB_DATA={root} holds no {first.partition('/')[2]}")


def files_of(name: str) -> tuple[Path, ...]:
    """Return the files that :func:`load` reads under this name; none for what comes with scikit-learn or by OpenML."""
    kind, _, place = _resolved(name).partition(":")
    if kind in (*_TABLES, "libsvm"):
        return (_path(place),)
    return tuple(_part(_path(place), stem) for stem in _PARTS) if kind in ("idx", "mnist") else ()


def files_of_options(options: Mapping[str, Any]) -> tuple[Path, ...]:
    """Return the files that a problem with these options reads; see :func:`files_of`."""
    return files_of(str(options.get("data", "")))


def sklearn_datasets() -> Any:
    """Return the module sklearn.datasets.

    Raises
    ------
    MissingExtraError
        If scikit-learn is not installed.
    """
    try:
        from sklearn import datasets
    except ImportError:
        raise MissingExtraError('this data set needs scikit-learn: pip install "boundlab[data]"') from None
    return datasets


def checked(data: Dataset) -> Dataset:
    """Return a data set that problems can use.

    Raises
    ------
    DataError
        If it is empty, a value is not finite or so large that its powers overflow, or a weight is negative.
    """
    if len(data.targets) == 0 or data.features.shape[1] == 0:
        raise DataError(f"{data.name} holds no samples")
    labels = data.chosen.get("columns", range(1, data.features.shape[1] + 1))
    for entries, what in ((data.features, labels), (data.targets[:, None], ())):
        bad = np.argwhere(~(np.abs(entries) <= _HUGE))
        if len(bad):
            row, column = bad[0].tolist()
            raise DataError(
                f"{data.name}: row {row + 1}, {f'column {what[column]}' if what else 'the target'} is "
                f"{entries[row, column]}; "
                f"every value must be finite and at most {_HUGE:g} in size"
            )
    weights = np.zeros(0) if data.weights is None else data.weights
    wrong = np.flatnonzero(~((weights >= 0.0) & (weights <= _HUGE))).tolist()
    if wrong:
        raise DataError(
            f"{data.name}: row {wrong[0] + 1} has the weight {weights[wrong[0]]:g}; a weight is finite, and at least 0"
        )
    return data


def _sklearn(place: str, wanted: Wanted) -> Dataset:
    """Read what comes with scikit-learn: a table of features, and the column target or several of other names."""
    found = sklearn_datasets()
    loaders = {name.removeprefix("load_"): getattr(found, name) for name in dir(found) if name.startswith("load_")}
    known = {name: one for name, one in loaders.items() if "return_X_y" in signature(one).parameters}
    if place not in known:
        raise SpecError(f"scikit-learn brings no data set {place!r} along; {nearest(place, known)}")
    bunch = known[place]()
    features, targets = np.asarray(bunch.data, np.float64), np.asarray(bunch.target, np.float64)
    unit = 16.0 if place == "digits" else None
    if wanted == _DEFAULT and targets.ndim == 1:
        return Dataset(place, features, targets, unit)
    last = ["target"] if targets.ndim == 1 else list(bunch.target_names)
    table = np.column_stack([features, targets])
    names = [*map(str, bunch.feature_names), *last]
    chosen = choose(f"sklearn:{place}", names, wanted, len(names) - 1 if len(last) == 1 else None)
    by = [] if chosen.by is None else words(place, table[:, chosen.by])
    return samples(place, chosen, table[:, chosen.numbers], table[:, chosen.target], by, unit)


def _libsvm(place: str) -> Dataset:
    path = _path(place)
    check_text(path)
    try:
        with opened(path) as stream, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sparse, targets = sklearn_datasets().load_svmlight_file(stream)
    except (ValueError, UnicodeDecodeError, OverflowError, IndexError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError(f"{path} is not in LIBSVM format: {reason}") from None
    entries = sparse.shape[0] * sparse.shape[1]
    if entries > LARGEST:
        raise DataError(
            f"{path} would be dense with {sparse.shape[0]}×{sparse.shape[1]} = {entries} entries; "
            f"at most {LARGEST} are taken"
        )
    return Dataset(place, np.asarray(sparse.toarray(), np.float64), np.asarray(targets, np.float64), 1.0)


def _idx(place: str) -> Dataset:
    """Read the training images and labels of a folder, each file with or without ``.gz``."""
    folder = _path(place)
    if not os.path.isdir(folder):  # noqa: PTH112  (Path.is_dir raises where a name is too long)
        raise DataError(f"{folder} is not a folder with IDX files")
    images, labels = (_unpacked(_part(folder, stem), axes) for stem, axes in _PARTS.items())
    if len(images) != len(labels):
        raise DataError(f"{folder} holds {len(images)} images but {len(labels)} labels")
    if len(images) == 0:
        raise DataError(f"{folder} holds no images")
    return Dataset(place, images.reshape(len(images), -1).astype(np.float64), labels.astype(np.float64), 255.0)


def _part(folder: Path, stem: str) -> Path:
    names = [f"{stem}{mark}idx{_PARTS[stem]}-ubyte{end}" for mark in "-." for end in ("", ".gz")]
    found = [folder / name for name in names if is_file(folder / name)]
    if not found:
        raise DataError(f"{folder} has no {names[0]} or {names[1]}")
    return found[0]


def _unpacked(path: Path, axes: int) -> NDArray[np.uint8]:
    """Return the array of bytes that an IDX file holds."""
    with opened(path) as stream:
        header, wanted = stream.read(4 + 4 * axes), 0x0800 + axes
        if len(header) < 4 + 4 * axes:
            raise DataError(f"{path} is truncated: its header has {len(header)} bytes, not {4 + 4 * axes}")
        magic, *shape = np.frombuffer(header, dtype=">u4").tolist()
        if magic != wanted:
            raise DataError(f"{path}: the magic number is {magic:#010x}, not {wanted:#010x}; is it an IDX file?")
        size = math.prod(shape)
        if size > LARGEST:
            raise DataError(f"{path} says that it holds {size} bytes; at most {LARGEST} are read")
        raw = stream.read(size + 1)
    if len(raw) != size:
        word = "truncated" if len(raw) < size else "longer than its header says"
        raise DataError(f"{path} is {word}: {'×'.join(map(str, shape))} values need {size} bytes, got {len(raw)}")
    return np.frombuffer(raw, dtype=np.uint8).reshape(shape)


def _openml(place: str) -> Dataset:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            features, targets = sklearn_datasets().fetch_openml(
                place, as_frame=False, return_X_y=True, parser="liac-arff", n_retries=1, delay=0.1
            )
    except MissingExtraError:
        raise
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        reason = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        raise DataError(
            f"cannot get {place!r} from OpenML ({reason}); it needs the network once, then its cache; "
            "digits and breast_cancer need neither"
        ) from None
    if hasattr(features, "toarray"):
        features = features.toarray()
    try:
        return Dataset(place, np.asarray(features, np.float64), values(f"openml:{place}", np.asarray(targets)), None)
    except (TypeError, ValueError):
        raise DataError(f"openml:{place} has features that are not numbers") from None


def _path(place: str) -> Path:
    """Return the path; a ``~`` that is nobody's home stays."""
    return Path(os.path.expanduser(place))  # noqa: PTH111  (Path.expanduser raises there)


def prepare(data: Dataset, scale: Scale, *, normalise: bool, bias: bool) -> Floats:
    """Return the features as the problem uses them.

    Parameters
    ----------
    scale
        ``auto``: pixels/255, digits/16, LIBSVM files as they are, others as ``range``; ``range``: each
        feature mapped to [0, 1]; ``none``.
    normalise
        Divide each row by its norm (rows of zeros stay).
    bias
        Append the feature 1.

    Returns
    -------
    ndarray, shape (S, p) or (S, p + 1)
    """
    features = data.features
    if scale == "auto" and data.unit is not None:
        features = features / data.unit if data.unit != 1.0 else features
    elif scale != "none":
        low, high = features.min(axis=0), features.max(axis=0)
        features = (features - low) / np.where(high > low, high - low, 1.0)
    if normalise:
        norms = np.linalg.norm(features, axis=1, keepdims=True)
        features = features / np.where(norms > 0.0, norms, 1.0)
    if bias:
        features = np.hstack([features, np.ones((len(features), 1))])
    return features


def classes(data: Dataset) -> tuple[Floats, NDArray[np.int64]]:
    """Return the distinct labels, and each sample's place among them.

    Raises
    ------
    DataError
        If there is a single class, or the targets look like values rather than classes.
    """
    values, places = np.unique(data.targets, return_inverse=True)
    if len(values) == 1:
        raise DataError(f"{data.name} has the single class {values[0]:g}; a classifier needs two")
    if len(values) > 1000 or (len(values) > 20 and 4 * len(values) > len(data.targets)):
        raise DataError(
            f"{data.name} has {len(values)} distinct targets for {len(data.targets)} samples; "
            "they are values, not classes: use lad-regression or least-squares"
        )
    return values, places.astype(np.int64)


def binary(data: Dataset, positive: str) -> Floats:
    """Return ±1 targets.

    Parameters
    ----------
    positive
        ``auto`` (the upper half of the classes), ``even``, ``odd``, or class labels joined by ``/``.

    Raises
    ------
    SpecError
        If ``positive`` names a label that does not occur.
    DataError
        If one sign has no samples.
    """
    values, places = classes(data)
    if positive == "auto":
        chosen = np.arange(len(values)) >= len(values) // 2
    elif positive in ("even", "odd"):
        chosen = np.fmod(np.abs(values), 2.0) == (0.0 if positive == "even" else 1.0)
    else:
        wanted = [parsed(word) for word in positive.split("/")]
        for word, label in zip(positive.split("/"), wanted, strict=True):
            if label is None or not math.isfinite(label) or label not in values:
                shown = ", ".join(f"{value:g}" for value in values[:12])
                raise SpecError(f"positive={positive}: {word!r} is not a class of {data.name}; its classes are {shown}")
        chosen = np.isin(values, [label for label in wanted if label is not None])
    signs = np.where(chosen[places], 1.0, -1.0)
    if len(np.unique(signs)) == 1:
        raise DataError(f"{data.name} with positive={positive} has a single class; name fewer or other labels")
    return signs
