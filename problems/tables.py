"""Files, compressed or not, and the tables in them: CSV, arrays of NumPy, Parquet.

Nothing in them is evaluated, and no pickle is read.
"""

import csv
import gzip
import warnings
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
from numpy.typing import NDArray

from boundlab.errors import BoundlabError, DataError, MissingExtraError, SpecError
from boundlab.files import check_readable
from boundlab.objective import Floats
from boundlab.problems.columns import (
    LARGEST,
    Chosen,
    Dataset,
    Wanted,
    check_columns,
    choose,
    feature,
    matrix,
    parsed,
    samples,
    words,
)

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
