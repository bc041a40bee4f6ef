"""Data sets by name: bundled with scikit-learn, in the folder BOUNDLAB_DATA, LIBSVM, MNIST-style IDX, CSV, OpenML."""

import csv
import math
import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from boundlab.errors import DataError, MissingExtraError, SpecError
from boundlab.options import nearest
from boundlab.problems.idx import check_text, files_of_folder, opened, read_folder

Scale = Literal["auto", "none", "range"]
SCALES: tuple[Scale, ...] = ("auto", "none", "range")
BUNDLED = ("breast_cancer", "diabetes", "digits")
# Short for what lies in the folder BOUNDLAB_DATA; of files the first one that is there.
NAMED: dict[str, tuple[str, ...]] = {
    "a9a": ("libsvm:libsvm/a9a", "libsvm:libsvm/a9a.gz", "libsvm:libsvm/a9a.t", "libsvm:libsvm/a9a.t.gz"),
    "mnist": ("idx:mnist",),
}
READERS = ("csv:PATH", "idx:FOLDER", "libsvm:PATH", "mnist:FOLDER", "openml:NAME")
_LARGEST = 150_000_000  # entries of a dense feature matrix: 1.2 GB in float64
_HUGE = 1e50  # squares of squares of a feature must not overflow


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
    """

    name: str
    features: NDArray[np.float64]
    targets: NDArray[np.float64]
    unit: float | None


def load(name: str) -> Dataset:
    """Read a data set.

    Parameters
    ----------
    name
        ``digits``, ``breast_cancer``, ``diabetes``, ``libsvm:PATH``, ``idx:FOLDER``, ``mnist:FOLDER``,
        ``csv:PATH`` (last column is the target), ``openml:NAME``, or of the folder that the environment variable
        BOUNDLAB_DATA names ``mnist``, its folder, and ``a9a``, of its folder libsvm (``a9a``, else ``a9a.t``, each with
        or without ``.gz``).

    Raises
    ------
    SpecError
        If the name is not one of these.
    DataError
        If the data cannot be read or holds NaN or infinities.
    MissingExtraError
        If scikit-learn is needed and not installed.
    """
    kind, colon, place = _resolved(name).partition(":")
    readers: dict[str, Callable[[str], Dataset]] = {
        "libsvm": _libsvm,
        "idx": _idx,
        "mnist": _idx,
        "csv": _csv,
        "openml": _openml,
    }
    if not colon and kind in BUNDLED:
        return checked(_bundled(kind))
    if kind in readers:
        if not place:
            raise SpecError(f"data={name} names no place; write {kind}:PATH")
        return checked(replace(readers[kind](place), name=name))
    raise SpecError(f"unknown data {name!r}; {nearest(name, BUNDLED + READERS + tuple(NAMED))}")


def _resolved(name: str) -> str:
    """Return the reader and the path that a short name stands for; other names as they are."""
    if name not in NAMED:
        return name
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
    if kind in ("csv", "libsvm"):
        return (_path(place),)
    return files_of_folder(_path(place)) if kind in ("idx", "mnist") else ()


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
        If it is empty, or a value is not finite or so large that its powers overflow.
    """
    if len(data.targets) == 0 or data.features.shape[1] == 0:
        raise DataError(f"{data.name} holds no samples")
    for values, what in ((data.features, "column {1}"), (data.targets[:, None], "the target")):
        bad = np.argwhere(~(np.abs(values) <= _HUGE))
        if len(bad):
            row, column = (int(index) + 1 for index in bad[0])
            word = values[row - 1, column - 1]
            raise DataError(
                f"{data.name}: row {row}, {what.format(row, column)} is {word}; "
                f"every value must be finite and at most {_HUGE:g} in size"
            )
    return data


def _bundled(name: str) -> Dataset:
    bunch = getattr(sklearn_datasets(), f"load_{name}")()
    unit = 16.0 if name == "digits" else None
    return Dataset(name, np.asarray(bunch.data, np.float64), np.asarray(bunch.target, np.float64), unit)


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
    if entries > _LARGEST:
        raise DataError(
            f"{path} would be dense with {sparse.shape[0]}×{sparse.shape[1]} = {entries} entries; "
            f"at most {_LARGEST} are taken"
        )
    return Dataset(place, np.asarray(sparse.toarray(), np.float64), np.asarray(targets, np.float64), 1.0)


def _idx(place: str) -> Dataset:
    pixels, labels = read_folder(_path(place))
    return Dataset(place, pixels.astype(np.float64), labels.astype(np.float64), 255.0)


def _csv(place: str) -> Dataset:
    path = _path(place)
    check_text(path)
    rows: list[NDArray[np.float64]] = []
    words: dict[str, int] = {}  # a target column of words is numbered in the order of the alphabet
    targets: list[str] = []
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            for line, fields in enumerate(csv.reader(stream), 1):
                if not any(field.strip() for field in fields):
                    continue
                if len(fields) < 2:
                    raise DataError(f"{path}, line {line}: a row needs a feature and a target, got {len(fields)} field")
                width = len(rows[0]) + 1 if rows else len(fields)
                if len(fields) != width:
                    raise DataError(f"{path}, line {line} has {len(fields)} fields; the first row has {width}")
                numbers = [_float(field) for field in fields[:-1]]
                if None in numbers:
                    if not rows and not targets and all(number is None for number in numbers):
                        continue  # the header
                    column = numbers.index(None)
                    raise DataError(f"{path}, line {line}, column {column + 1}: {fields[column]!r} is not a number")
                rows.append(np.array(numbers, dtype=np.float64))
                targets.append(fields[-1].strip())
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not a CSV text"
        raise DataError(f"cannot read {path}: {reason}") from None
    if not rows:
        raise DataError(f"{path} holds no samples")
    values = [_float(word) for word in targets]
    if None in values:
        if "" in targets:
            raise DataError(f"{path}: row {targets.index('') + 1} has no target")
        words = {word: place for place, word in enumerate(sorted(set(targets)))}
        values = [float(words[word]) for word in targets]
    return Dataset(place, np.asarray(rows, np.float64), np.asarray(values, np.float64), None)


def _float(word: str) -> float | None:
    try:
        return float(word)
    except ValueError:
        return None


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
        values = np.asarray(targets, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.unique(np.asarray(targets, dtype=str), return_inverse=True)[1].astype(np.float64)
    try:
        return Dataset(place, np.asarray(features, np.float64), values, None)
    except (TypeError, ValueError):
        raise DataError(f"openml:{place} has features that are not numbers") from None


def _path(place: str) -> Path:
    """Return the path; a ``~`` that is nobody's home stays."""
    try:
        return Path(place).expanduser()
    except RuntimeError:
        return Path(place)


def prepare(data: Dataset, scale: Scale, *, normalise: bool, bias: bool) -> NDArray[np.float64]:
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


def classes(data: Dataset) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
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


def binary(data: Dataset, positive: str) -> NDArray[np.float64]:
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
        wanted = [_float(word) for word in positive.split("/")]
        for word, label in zip(positive.split("/"), wanted, strict=True):
            if label is None or not math.isfinite(label) or label not in values:
                shown = ", ".join(f"{value:g}" for value in values[:12])
                raise SpecError(f"positive={positive}: {word!r} is not a class of {data.name}; its classes are {shown}")
        chosen = np.isin(values, [label for label in wanted if label is not None])
    signs = np.where(chosen[places], 1.0, -1.0)
    if len(np.unique(signs)) == 1:
        raise DataError(f"{data.name} with positive={positive} has a single class; name fewer or other labels")
    return signs
