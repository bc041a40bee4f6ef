"""The options of problems on data: from words to rows sorted by client."""

from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from boundlab.errors import SpecError
from boundlab.objective import Array, Floats
from boundlab.options import Options
from boundlab.problems import data as datasets
from boundlab.problems.columns import Dataset, Wanted
from boundlab.problems.common import read_array, read_start
from boundlab.problems.data import SCALES, Scale
from boundlab.problems.erm import EmpiricalRisk
from boundlab.problems.least_squares import LeastSquares
from boundlab.problems.linear_model import LinearModel, Weights
from boundlab.problems.losses import LossId, Targets
from boundlab.problems.partitions import PARTITIONS, Owners, Partition, split, subsample
from boundlab.problems.poisson import PoissonRegression, on_set, pairs
from boundlab.problems.smooth import SOLVERS, Solver
from boundlab.randomness import Stream, Streams

VALUES = ("lad-regression", "least-squares", "poisson")  # targets are numbers; those of classes are their labels
_UNSOLVED = ("least-squares", "poisson")  # without the option solver
_CLASSES, _SMOOTH = ("logistic", "softmax", "hinge"), ("logistic", "softmax")
_DATA = {"softmax": "digits", "logistic": "breast_cancer", "hinge": "digits", **dict.fromkeys(VALUES, "diabetes")}
_NU = {"softmax": 0.01, "logistic": 0.01, "hinge": 0.0, **dict.fromkeys(VALUES, 0.0)}


def describe(kind: str) -> dict[str, str]:
    """Return the options of a problem on data, one line each."""
    out = {
        "data": f"{', '.join(datasets.BUNDLED + datasets.READERS)}; {' or '.join(datasets.NAMED)} in the folder "
        f"BOUNDLAB_DATA (default {_DATA[kind]})",
        "target": "column of the target in csv, npz, npy, parquet or sklearn data, by name or number from 1 "
        "(default last if columns have no names, y or targets in npz; with names it must be said)",
        "columns": "columns of the features, [a,b] or [1,3] (default all but target and by; X or features in npz)",
        "by": "column that names the client of each sample, with partition=column",
        "features": "S×p features (JSON), instead of data",
        "targets": "S targets (JSON), with features",
        "owners": "the client of each sample (JSON), instead of a partition",
        "clients": "number of clients n (default 10)",
        "partition": "iid, dirichlet, class, dual-dirichlet, or column: a client for each value of by (default iid)",
        "a": "Dirichlet parameter of partition=dirichlet (default 0.1)",
        "a1": "client sizes ~ Dirichlet(a1/n) in partition=dual-dirichlet (default n)",
        "a2": "class mix ~ Dirichlet(a2·shares) in partition=dual-dirichlet (default 0.5)",
        "shards": "pieces a client in partition=class (default 2)",
        "batch": "mini-batch size, or full (default full)",
        "replacement": "yes or no: may a mini-batch hold a sample twice (default yes)",
        "nu": f"ℓ2 regulariser: ½·nu·‖x‖² (default {_NU[kind]:g})",
        "weights": "equal: f_i = f̂_i; size: n·(s_i/S)·f̂_i; paper: (s_i/S)·f̂_i (default equal)",
        "seed": "seed of the partition, the subsample and the uniform start (default 0)",
        "samples": "keep this many samples after a seeded shuffle (default all)",
        "scale": "auto, none or range, features to [0, 1] (auto: pixels/255, digits/16, libsvm as is)",
        "normalise": "yes or no: divide each row by its norm (default no)",
        "bias": "yes or no: append the feature 1 (default yes)",
        "dtype": "float64 or float32 (default float64)",
        "x0": "start point: a number, a list, or uniform on (−1/2, 1/2) (default 0)",
    }
    if kind not in _UNSOLVED:
        out["solver"] = "auto, clarabel or newton: how x* is found (default auto)"
    if kind in _CLASSES:
        out["C"] = "scikit-learn's: nu = 1/(C·samples), in place of nu"
    if kind in _SMOOTH:
        out["intercept"] = "regularised or free: the feature 1 of bias=yes without a regulariser (default regularised)"
    if kind in ("logistic", "hinge"):
        out["positive"] = "labels counted as +1: [0,1,2], even, odd or auto, the upper half (default auto)"
    return out


def build(kind: LossId, options: Options) -> LinearModel:
    """Make a problem of a linear model on data.

    Raises
    ------
    SpecError
        If an option is wrong, or there are fewer samples than clients.
    DataError
        If the data cannot be used.
    MissingExtraError
        If scikit-learn is needed and not installed.
    """
    seed = options.integer("seed", 0, maximum=2**64 - 1)
    inline = any(options.has(key) for key in ("features", "targets"))
    source: dict[str, Any] = {}
    if inline:
        for key in ("data", "samples", "target", "columns"):
            if options.has(key):
                raise SpecError(f"{options.owner}: give {key} or features and targets, not both")
        data = _inline(options)
        source |= {"features": data.features.tolist(), "targets": data.targets.tolist()}
    else:
        name = str(options.raw("data", _DATA[kind]))
        # The other options are read before the file, so that a typing mistake is answered at once.
        source["data"] = name
        data = Dataset(name, np.empty((0, 0)), np.empty(0), None)
    wanted = Wanted() if inline else _wanted(options)
    shared = _shared(options, kind, inline)
    h = on_set(options) if kind == "poisson" else None
    C = options.number("C", 1.0, above=0.0) if kind in _CLASSES and options.has("C") else None
    if C is not None and options.has("nu"):
        raise SpecError(f"{options.owner}: give C or nu, not both: nu = 1/(C·samples)")
    free = kind in _SMOOTH and options.choice("intercept", "regularised", ("regularised", "free")) == "free"
    if free and not shared["bias"]:
        raise SpecError(f"{options.owner}: intercept=free goes with bias=yes, the feature 1")
    keep = 0 if inline else options.integer("samples", 0, minimum=0)
    positive = _positive(options) if kind in ("logistic", "hinge") else "auto"
    start = options.raw("x0", 0.0)
    owners = _owners(options, len(data.targets)) if inline else None
    if not inline and options.has("owners"):
        raise SpecError(f"{options.owner}: owners goes with features and targets; for data choose a partition")
    partition, splitting = _partition(options)
    if inline and partition == "column":
        raise SpecError(f"{options.owner}: partition=column goes with data; with features give owners")
    clients = options.integer("clients", 10 if owners is None else int(owners.max()) + 1, minimum=1)
    if owners is not None and clients != int(owners.max()) + 1:
        raise SpecError(f"{options.owner}: clients={clients}, but owners names {int(owners.max()) + 1} clients")
    options.finish()
    if not inline:
        data = datasets.load(source["data"], wanted)
        source |= data.chosen
        if keep > len(data.targets):
            raise SpecError(f"{options.owner}: samples={keep}, but {data.name} has {len(data.targets)}")
        if keep:
            chosen = subsample(seed, len(data.targets), keep)
            kept = None if data.owners is None else data.owners[chosen]
            data = replace(data, features=data.features[chosen], targets=data.targets[chosen], owners=kept)
    if data.owners is not None:
        owners = data.owners
        clients = _check_clients(options, data, owners, keep)
    y, groups = _targets(kind, data, positive, shared["scale"])
    features = datasets.prepare(data, shared["scale"], normalise=shared["normalise"], bias=shared["bias"])
    if owners is None:
        owners = split(partition, groups, clients, seed, **splitting)
    order = np.argsort(owners, kind="stable")
    with np.errstate(over="ignore"):
        X: Array = np.ascontiguousarray(features[order], dtype=shared["dtype"])
    if not np.isfinite(X).all():
        raise SpecError(f"{options.owner}: the features are too large for dtype={shared['dtype']}")
    if C is not None:
        shared["nu"] = 1.0 / (C * len(X))
    d = X.shape[1] * (int(y.max()) + 1 if kind == "softmax" else 1)
    x0 = _start(options, start, d, seed).astype(X.dtype)
    source |= {key: shared[key] for key in shared if key not in ("weights", "dtype")}
    source |= {"weights": shared["weights"], "dtype": shared["dtype"], "seed": seed}
    if inline:
        source["owners"] = owners.tolist()
    else:
        source |= {"clients": clients, "partition": partition, **splitting}
        if keep:
            source["samples"] = keep
    if kind in ("logistic", "hinge"):
        source["positive"] = positive.split("/") if positive not in ("auto", "even", "odd") else positive
    if free:
        source["intercept"] = "free"
    source["x0"] = start if isinstance(start, (int, float, str)) else x0.tolist()
    sizes = np.bincount(owners, minlength=clients).astype(np.int64)
    weights = cast(Weights, shared["weights"])
    y = y[order]
    if h is not None:
        y = pairs(options.owner, X, y, h)
        source |= h.options()
    given = kind, X, y, sizes, shared["nu"], weights, shared["batch"], shared["replacement"], x0, source
    if kind == "poisson":
        return PoissonRegression(*given)
    return (
        LeastSquares(*given)
        if kind == "least-squares"
        else EmpiricalRisk(*given, free=free and shared["nu"] > 0.0, solver=shared["solver"])
    )


def _shared(options: Options, kind: LossId, inline: bool) -> dict[str, Any]:
    raw = options.raw("batch", 0)
    solver = {} if kind in _UNSOLVED else {"solver": cast(Solver, options.choice("solver", "auto", SOLVERS))}
    return {
        "batch": 0 if raw == "full" else options.integer("batch", 0, minimum=0, maximum=1_000_000),
        "replacement": options.flag("replacement", True),
        "nu": options.number("nu", _NU[kind], minimum=0.0),
        "weights": options.choice("weights", "equal", ("equal", "size", "paper")),
        "scale": cast(Scale, options.choice("scale", "none" if inline else "auto", SCALES)),
        "normalise": options.flag("normalise", False),
        "bias": options.flag("bias", not inline),
        "dtype": options.choice("dtype", "float64", ("float64", "float32")),
        **solver,
    }


def _wanted(options: Options) -> Wanted:
    """Read which columns of a table are asked for, each a name or a number."""
    target, by = (str(options.raw(key)) if options.has(key) else "" for key in ("target", "by"))
    columns = options.raw("columns", ())
    if not isinstance(columns, (list, tuple)):
        columns = [word.strip() for word in str(columns).strip().removeprefix("[").removesuffix("]").split(",")]
    if options.has("columns") and not any(map(str, columns)):
        raise SpecError(f"{options.owner}: columns names no column; write columns=[a,b] or columns=[1,2]")
    return Wanted(target, tuple(map(str, columns)), by)


def _check_clients(options: Options, data: Dataset, owners: Owners, keep: int) -> int:
    """Return how many clients a column names; each needs a sample among those that are kept."""
    n, by = len(data.devices), data.chosen["by"]
    if options.has("clients") and (given := options.integer("clients", n)) != n:
        raise SpecError(f"{options.owner}: clients={given}, but the column {by} of {data.name} names {n} clients")
    missing = np.setdiff1d(np.arange(n), owners)
    if len(missing):
        raise SpecError(
            f"{options.owner}: samples={keep} leaves no sample of {by} {data.devices[missing[0]]}; keep more"
        )
    return n


_OF_PARTITION = {"a": "dirichlet", "a1": "dual-dirichlet", "a2": "dual-dirichlet", "shards": "class", "by": "column"}


def _partition(options: Options) -> tuple[Partition, dict[str, Any]]:
    """Read the partition and the options that belong to it; those of other partitions are refused."""
    how = cast(Partition, options.choice("partition", "iid", (*PARTITIONS, "column")))
    for key, owner in _OF_PARTITION.items():
        if key in options.values and owner != how:
            raise SpecError(f"{options.owner}: {key} belongs to another partition than {how}; add partition={owner}")
    if how == "dirichlet":
        return how, {"a": options.number("a", 0.1, minimum=1e-3, maximum=1e6)}
    if how == "class":
        return how, {"shards": options.integer("shards", 2, minimum=1)}
    if how == "dual-dirichlet":
        out = {"a2": options.number("a2", 0.5, minimum=1e-3, maximum=1e6)}
        if options.has("a1"):
            out["a1"] = options.number("a1", 1.0, minimum=1e-3, maximum=1e9)
        return how, out
    if how == "column" and not options.raw("by"):
        raise SpecError(f"{options.owner}: partition=column needs by=NAME, the column that names the client")
    return how, {}


def _positive(options: Options) -> str:
    raw = options.raw("positive", "auto")
    if isinstance(raw, (list, tuple)):
        return "/".join(str(word) for word in raw)
    word = str(raw).strip()
    return "/".join(word.strip("[]").replace(",", " ").split()) if word.startswith("[") else word


def _inline(options: Options) -> Dataset:
    features = read_array(options, "features", 2)
    targets = read_array(options, "targets", 1)
    if len(features) != len(targets):
        raise SpecError(f"{options.owner}: {len(features)} rows of features, but {len(targets)} targets")
    return datasets.checked(Dataset("the case's data", features, targets, 1.0))


def _owners(options: Options, samples: int) -> Owners | None:
    if not options.has("owners"):
        return None
    if options.has("partition"):
        raise SpecError(f"{options.owner}: give owners or a partition, not both")
    raw = read_array(options, "owners", 1)
    if len(raw) != samples or (raw != np.floor(raw)).any() or (raw < 0).any() or (raw >= samples).any():
        raise SpecError(
            f"{options.owner}: owners must give one client number 0, 1, … for each of {samples} samples; "
            f"every client needs a sample, so that numbers are below {samples}"
        )
    owners = raw.astype(np.int64)
    missing = np.setdiff1d(np.arange(int(owners.max()) + 1), owners)
    if len(missing):
        raise SpecError(f"{options.owner}: client {missing[0]} owns no sample; every client needs one")
    return owners


def _targets(kind: LossId, data: Dataset, positive: str, scale: Scale) -> tuple[Targets, NDArray[np.int64]]:
    """Return the targets of the loss, and the groups by which partitions tell samples apart."""
    if kind in VALUES:
        # Values have no classes: ten groups of equal size by rank stand in for them.
        rank = np.argsort(np.argsort(data.targets, kind="stable"), kind="stable")
        values = data.targets
        if scale == "range" or (scale == "auto" and data.unit is None):
            low, high = float(values.min()), float(values.max())
            values = (values - low) / (high - low if high > low else 1.0)
        return values, (rank * 10 // len(rank)).astype(np.int64)
    _, places = datasets.classes(data)
    if kind == "softmax":
        return places.astype(np.intp), places
    return datasets.binary(data, positive), places


def _start(options: Options, start: Any, d: int, seed: int) -> Floats:
    if start == "uniform":
        out: Floats = Streams(seed).uniforms(Stream.START, 0, 0, d)[0] - 0.5
        return out
    return read_start(options, d)
