"""Data sets by name: of scikit-learn, in the folder BOUNDLAB_DATA, tables in files, LIBSVM, MNIST-style IDX, OpenML."""

import math
import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from inspect import signature
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from boundlab.errors import DataError, MissingExtraError, SpecError
from boundlab.files import is_file
from boundlab.objective import Floats
from boundlab.options import nearest
from boundlab.problems.columns import LARGEST, Dataset, Wanted, choose, parsed, samples, values, words
from boundlab.problems.tables import check_text, opened, read_csv, read_npy, read_npz, read_parquet

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
