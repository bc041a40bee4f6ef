"""The options of problems on data: from words to rows sorted by client."""

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any, Literal, cast

import numpy as np

from boundlab.errors import SpecError
from boundlab.objective import Array, Floats, ProblemType
from boundlab.options import Options
from boundlab.problems import data as datasets
from boundlab.problems.clients import LOSSES, WIDTHS, LossId, Targets
from boundlab.problems.common import read_array, read_start
from boundlab.problems.data import SCALES, Dataset, Scale, Wanted, files_of_options
from boundlab.problems.erm import SOLVERS, EmpiricalRisk, PoissonRegression, on_set, pairs
from boundlab.problems.least_squares import LeastSquares
from boundlab.problems.linear_model import LinearModel
from boundlab.randomness import Ints, Stream, Streams

# How samples are split over clients; every client gets at least one.

Partition = Literal["iid", "dirichlet", "class", "dual-dirichlet", "column"]
PARTITIONS: tuple[Partition, ...] = ("iid", "dirichlet", "class", "dual-dirichlet")  # all that are drawn
_TRIALS = 1000
Owners = Ints
Labels = Ints

# Keys of the counter-based streams: one place each, so that no two uses share their numbers.
_SHUFFLE, _SIZES, _MIX, _SUBSAMPLE = 0, 1, 2, 3


def permutation(streams: Streams, key: int, count: int) -> Ints:
    """Return a random permutation of 0…count−1."""
    return np.argsort(streams.uniforms(Stream.PARTITION, key, 0, count)[0], kind="stable")


def subsample(seed: int, count: int, keep: int) -> Ints:
    """Return the first ``keep`` of ``count`` samples after a seeded shuffle, in shuffled order."""
    return permutation(Streams(seed), _SUBSAMPLE, count)[:keep]


def dirichlet(a: Floats, streams: Streams, key: int) -> Floats:
    """Return Dirichlet-distributed rows.

    A Gamma(a) variable is Gamma(a + 1)·U^(1/a); in logarithms nothing underflows, even for a = 0.01.

    Parameters
    ----------
    a
        Shape (rows, k), positive.
    key
        Row r reads the streams of client ``key`` and update r.

    Returns
    -------
    ndarray, shape (rows, k)
        Nonnegative, each row sums to 1.
    """
    from scipy.special import gammaincinv

    rows, k = a.shape
    uniform = streams.uniforms(Stream.PARTITION, key, np.arange(rows), 2 * k)
    logs = np.log(gammaincinv(a + 1.0, uniform[:, :k])) + np.log(uniform[:, k:]) / a
    parts = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(parts / parts.sum(axis=1, keepdims=True))


def split(
    how: Partition,
    labels: Labels,
    n: int,
    seed: int,
    *,
    a: float = 0.1,
    a1: float | None = None,
    a2: float = 0.5,
    shards: int = 2,
) -> Owners:
    """Assign samples to clients.

    Parameters
    ----------
    how
        ``iid``: a shuffled even split. ``dirichlet``: each class is split by proportions ~ Dirichlet(a·1_n).
        ``class``: samples sorted by label are cut into n·shards pieces and dealt. ``dual-dirichlet``: client
        sizes ~ Dirichlet(a1·1/n), each client's class mix ~ Dirichlet(a2·class shares).
    labels
        Shape (S,), integers from 0.
    n
        Number of clients.
    seed
        Of the PARTITION streams; trials 0, 1, … until every client has a sample.
    a1
        Default n.

    Returns
    -------
    ndarray, shape (S,)
        The client of each sample.

    Raises
    ------
    SpecError
        If there are fewer samples than clients, or no trial in 1000 gives every client a sample.

    Notes
    -----
    Source: FedCompass, Appendix D.1.2, Algorithm 5 (dual Dirichlet); Hsu et al. 2019 (Dirichlet).
    """
    S = len(labels)
    if n > S:
        raise SpecError(f"{n} clients need at least {n} samples, the data has {S}")
    if how == "class" and n * shards > S:
        raise SpecError(f"{n} clients with {shards} shards each need at least {n * shards} samples, the data has {S}")
    deal: dict[str, Callable[[Streams], Owners]] = {
        "iid": lambda streams: _iid(S, n, streams),
        "class": lambda streams: _by_class(labels, n, shards, streams),
        "dirichlet": lambda streams: _shares(
            labels, dirichlet(np.full((int(labels.max()) + 1, n), a), streams, _MIX), streams
        ),
        "dual-dirichlet": lambda streams: _shares(
            labels, _dual_shares(labels, n, float(n) if a1 is None else a1, a2, streams), streams
        ),
    }
    for trial in range(_TRIALS):
        owners = deal[how](Streams(seed, trial))
        if len(np.unique(owners)) == n:
            return owners
    raise SpecError(
        f"partition {how} left a client without samples in {_TRIALS} trials ({S} samples, {n} clients); "
        "take a larger a, fewer clients or more samples"
    )


def _iid(S: int, n: int, streams: Streams) -> Owners:
    owners = np.empty(S, dtype=np.int64)
    owners[permutation(streams, _SHUFFLE, S)] = np.arange(S) * n // S
    return owners


def _by_class(labels: Labels, n: int, shards: int, streams: Streams) -> Owners:
    S, pieces = len(labels), n * shards
    order = permutation(streams, _SHUFFLE, S)
    order = order[np.argsort(labels[order], kind="stable")]
    dealt = permutation(streams, _MIX, pieces) // shards
    owners = np.empty(S, dtype=np.int64)
    owners[order] = dealt[np.arange(S) * pieces // S]
    return owners


def _dual_shares(labels: Labels, n: int, a1: float, a2: float, streams: Streams) -> Floats:
    """Share of each class that each client gets, shape (classes, n), columns of Algorithm 5."""
    prior = np.bincount(labels) / len(labels)
    sizes = dirichlet(np.full((1, n), a1 / n), streams, _SIZES)[0]
    # A class without samples has prior 0, which no Dirichlet distribution has; its share is never used.
    mix = dirichlet(np.repeat(a2 * np.maximum(prior, 1e-9)[None, :], n, axis=0), streams, _MIX)
    weight = (sizes[:, None] * mix).T
    total = weight.sum(axis=1, keepdims=True)
    return np.where(total > 0.0, weight / np.where(total > 0.0, total, 1.0), 1.0 / n)


def _shares(labels: Labels, shares: Floats, streams: Streams) -> Owners:
    """Cut every class, shuffled, at the rounded cumulative shares."""
    owners = np.empty(len(labels), dtype=np.int64)
    order = permutation(streams, _SHUFFLE, len(labels))
    grouped = order[np.argsort(labels[order], kind="stable")]
    counts = np.bincount(labels)
    first = 0
    for share, count in zip(shares, counts.tolist(), strict=True):
        cuts = np.rint(np.cumsum(share) * count).astype(np.int64)
        cuts[-1] = count
        owners[grouped[first : first + count]] = np.searchsorted(cuts, np.arange(count), side="right")
        first += count
    return owners


SIGNS = tuple(name for name, loss in LOSSES.items() if loss.signed)  # targets are two classes
VALUES = tuple(name for name in LOSSES if name not in (*SIGNS, "softmax"))  # targets are numbers
_SOLVED = ("logistic", "softmax", "hinge", "lad-regression", "quantile-regression")  # with the option solver
_FREE = ("logistic", "softmax")  # with a certificate for an intercept without regulariser
_BREAST = dict.fromkeys(("logistic", "squared-hinge", "modified-huber"), "breast_cancer")
_DATA = {"softmax": "digits", "hinge": "digits", **_BREAST, **dict.fromkeys(VALUES, "diabetes")}
_NU = {name: 0.0 if name in VALUES or name == "hinge" else 0.01 for name in LOSSES}
_WIDTH = {"huber-regression": ("delta", math.inf), "quantile-regression": ("quantile", 0.999999)}  # at most
_ONLY = {  # options that not all have
    "solver": _SOLVED,
    "C": (*SIGNS, "softmax"),
    "delta": ("huber-regression",),
    "quantile": ("quantile-regression",),
    "intercept": _FREE,
    "positive": SIGNS,
}


def describe(kind: str) -> dict[str, str]:
    """Return the options of a problem on data, one line each."""
    found = {
        "data": f"{', '.join(datasets.BUNDLED + datasets.READERS)}; {' or '.join(datasets.NAMED)} in the folder "
        f"BOUNDLAB_DATA (default {_DATA[kind]})",
        "target": "column of the target in csv, npz, npy, parquet or sklearn data, by name or number from 1 "
        "(default last if columns have no names, y or targets in npz; with names it must be said)",
        "columns": "columns of the features, [a,b] or [1,3] (default all but target and by; X or features in npz)",
        "by": "column that names the client of each sample, with partition=column",
        "sample_weight": "column of the samples' weights, ≥ 0, by which means of losses are weighted; with features a "
        "list of S numbers (default all have the same)",
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
        "solver": "auto, clarabel or newton: how x* is found (default auto)",
        "C": "scikit-learn's: nu = 1/(C·samples), or over the sum of their weights, in place of nu",
        "delta": "error beyond which the loss turns linear (default 1)",
        "quantile": "fraction of the targets that is to lie below the prediction (default 0.5)",
        "intercept": "regularised or free: the feature 1 of bias=yes without a regulariser (default regularised)",
        "positive": "labels counted as +1: [0,1,2], even, odd or auto, the upper half (default auto)",
    }
    return {key: text for key, text in found.items() if kind in _ONLY.get(key, (kind,))}


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
    C = options.number("C", 1.0, above=0.0) if kind in _ONLY["C"] and options.has("C") else None
    if C is not None and options.has("nu"):
        raise SpecError(f"{options.owner}: give C or nu, not both: nu = 1/(C·samples)")
    free = kind in _FREE and options.choice("intercept", "regularised", ("regularised", "free")) == "free"
    if free and not shared["bias"]:
        raise SpecError(f"{options.owner}: intercept=free goes with bias=yes, the feature 1")
    keep = 0 if inline else options.integer("samples", 0, minimum=0)
    positive = _positive(options) if kind in SIGNS else "auto"
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
            every: dict[str, Any] = {name: getattr(data, name) for name in ("features", "targets", "owners", "weights")}
            data = replace(data, **{name: one[chosen] for name, one in every.items() if one is not None})
    if data.owners is not None:
        owners = data.owners
        clients = _check_clients(options, data, owners, keep)
    y, groups = _targets(kind, data, positive, shared["scale"])
    features = datasets.prepare(data, shared["scale"], normalise=shared["normalise"], bias=shared["bias"])
    if owners is None:
        owners = split(partition, groups, clients, seed, **splitting)
    order = np.argsort(owners, kind="stable")
    sizes = np.bincount(owners, minlength=clients).astype(np.int64)
    masses, relative = _weights(options, data.weights, order, sizes)
    features, y = features[order], y[order]
    if relative is not None and kind == "least-squares":  # weights of squares are lengths of rows
        features, y, relative = np.sqrt(relative)[:, None] * features, np.sqrt(relative) * y, None
    with np.errstate(over="ignore"):
        X: Array = np.ascontiguousarray(features, dtype=shared["dtype"])
    if not np.isfinite(X).all():
        raise SpecError(f"{options.owner}: the features are too large for dtype={shared['dtype']}")
    if C is not None:
        shared["nu"] = 1.0 / (C * float(sum(masses) or len(X)))
    d = X.shape[1] * (int(y.max()) + 1 if kind == "softmax" else 1)
    x0 = _start(options, start, d, seed).astype(X.dtype)
    source |= shared | {"seed": seed}
    if inline:
        source["owners"] = owners.tolist()
        source |= {} if data.weights is None else {"sample_weight": data.weights.tolist()}
    else:
        source |= {"clients": clients, "partition": partition, **splitting}
        if keep:
            source["samples"] = keep
    if kind in SIGNS:
        source["positive"] = positive.split("/") if positive not in ("auto", "even", "odd") else positive
    if free:
        source["intercept"] = "free"
    source["x0"] = start if isinstance(start, (int, float, str)) else x0.tolist()
    if h is not None:
        y = pairs(options.owner, X, y, h)
        source |= h.options()
    given = kind, X, y, sizes, shared["nu"], shared["weights"], shared["batch"], shared["replacement"], x0, source
    more: dict[str, Any] = {
        "free": free and shared["nu"] > 0.0,
        "width": shared[_WIDTH[kind][0]] if kind in _WIDTH else None,
        "shares": tuple(one / sum(masses) for one in masses),
        "relative": None if relative is None else relative.astype(X.dtype),
    }
    if kind in ("poisson", "least-squares"):
        return PoissonRegression(*given, **more) if kind == "poisson" else LeastSquares(*given, **more)
    return EmpiricalRisk(*given, **more, solver=shared.get("solver", "auto"))


def _weights(options: Options, given: Floats | None, order: Ints, sizes: Ints) -> tuple[list[Fraction], Floats | None]:
    """Return the sum of each client's weights, and the weights over their mean at the client in the rows' new order.

    Nothing without weights, and None where a client's rows have one weight.

    Raises
    ------
    SpecError
        If a client has no sample of positive weight.
    """
    if given is None:
        return [], None
    parts = np.split(given[order], np.cumsum(sizes)[:-1])
    masses = [sum(map(Fraction, part.tolist()), Fraction(0)) for part in parts]
    if not all(masses):
        raise SpecError(
            f"{options.owner}: client {masses.index(Fraction(0))} has no sample of positive weight; each needs one"
        )
    relative = np.concatenate([part * len(part) / float(mass) for part, mass in zip(parts, masses, strict=True)])
    return masses, None if (relative == 1.0).all() else relative


def _shared(options: Options, kind: LossId, inline: bool) -> dict[str, Any]:
    raw, (word, most) = options.raw("batch", 0), _WIDTH.get(kind, ("", 0.0))
    return {
        "batch": 0 if raw == "full" else options.integer("batch", 0, minimum=0, maximum=1_000_000),
        "replacement": options.flag("replacement", True),
        "nu": options.number("nu", _NU[kind], minimum=0.0),
        "scale": options.choice("scale", "none" if inline else "auto", SCALES),
        "normalise": options.flag("normalise", False),
        "bias": options.flag("bias", not inline),
        **({"solver": options.choice("solver", "auto", SOLVERS)} if kind in _SOLVED else {}),
        **({word: options.number(word, WIDTHS[kind], above=0.0, maximum=most)} if word else {}),
        "weights": options.choice("weights", "equal", ("equal", "size", "paper")),
        "dtype": options.choice("dtype", "float64", ("float64", "float32")),
    }


def _wanted(options: Options) -> Wanted:
    """Read which columns of a table are asked for, each a name or a number."""
    asked = ("target", "by", "sample_weight")
    target, by, weight = (str(options.raw(key)) if options.has(key) else "" for key in asked)
    columns = options.raw("columns", ())
    if not isinstance(columns, (list, tuple)):
        columns = [word.strip() for word in str(columns).strip().removeprefix("[").removesuffix("]").split(",")]
    if options.has("columns") and not any(map(str, columns)):
        raise SpecError(f"{options.owner}: columns names no column; write columns=[a,b] or columns=[1,2]")
    return Wanted(target, tuple(map(str, columns)), by, weight)


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


_OF_PARTITION: dict[str, tuple[str, Callable[[Options], Any] | None]] = {
    "a": ("dirichlet", lambda options: options.number("a", 0.1, minimum=1e-3, maximum=1e6)),
    "shards": ("class", lambda options: options.integer("shards", 2, minimum=1)),
    "a2": ("dual-dirichlet", lambda options: options.number("a2", 0.5, minimum=1e-3, maximum=1e6)),
    "a1": ("dual-dirichlet", lambda options: options.number("a1", 1.0, minimum=1e-3, maximum=1e9)),
    "by": ("column", None),
}


def _partition(options: Options) -> tuple[Partition, dict[str, Any]]:
    """Read the partition and the options that belong to it; those of other partitions are refused."""
    how = cast(Partition, options.choice("partition", "iid", (*PARTITIONS, "column")))
    for key, (owner, _) in _OF_PARTITION.items():
        if key in options.values and owner != how:
            raise SpecError(f"{options.owner}: {key} belongs to another partition than {how}; add partition={owner}")
    if how == "column" and not options.raw("by"):
        raise SpecError(f"{options.owner}: partition=column needs by=NAME, the column that names the client")
    own = {key: read for key, (owner, read) in _OF_PARTITION.items() if owner == how and read is not None}
    return how, {key: read(options) for key, read in own.items() if key != "a1" or options.has(key)}


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
    weights = read_array(options, "sample_weight", 1) if options.has("sample_weight") else None
    if weights is not None and len(weights) != len(targets):
        raise SpecError(f"{options.owner}: {len(weights)} numbers in sample_weight, but {len(targets)} targets")
    return datasets.checked(Dataset("the case's data", features, targets, 1.0, weights=weights))


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


def _targets(kind: LossId, data: Dataset, positive: str, scale: Scale) -> tuple[Targets, Ints]:
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
        return np.asarray(Streams(seed).uniforms(Stream.START, 0, 0, d)[0] - 0.5)
    return read_start(options, d)


# The families, with instances of each that tests look at.

_ROWS = {
    "features": [[1.0, 0.5], [-1.0, 2.0], [0.5, -1.0], [2.0, 1.0], [-1.5, -1.0], [0.25, 1.0]],
    "owners": [0, 0, 1, 1, 2, 2],
}
_LABELS = {**_ROWS, "targets": [0, 1, 0, 1, 1, 0], "nu": 0.25}
_WEIGHTED = {"sample_weight": [1.0, 2.0, 0.5, 0.5, 0.0, 3.0], "batch": 1, "weights": "size"}
_FREE_INTERCEPT = {"bias": "yes", "intercept": "free", "batch": 2}
_THREE = {**_LABELS, "targets": [0, 1, 2, 1, 0, 2]}
_COUNTS = [0, 1, 3, 1, 0, 2]
_REAL = [0.5, -1.0, 2.0, 0.0, 1.5, -0.5]


def _sampled(data: dict[str, Any]) -> tuple[dict[str, Any], ...]:
    """Return full gradients, single samples far from the minimum, and no regulariser."""
    return data, {**data, "batch": 1, "x0": 3.0}, {**data, "nu": 0.0, "weights": "size"}


def _on_data(
    kind: LossId, summary: str, examples: tuple[dict[str, Any], ...], *, constrained: bool = False
) -> ProblemType:
    """Return a family of problems on data."""
    made = partial(build, kind)
    return ProblemType(kind, summary, made, describe(kind), examples, constrained=constrained, files=files_of_options)


FAMILIES: tuple[ProblemType, ...] = (
    _on_data(
        "hinge",
        "hinge loss (support vector machine) on data split over clients",
        _sampled(_LABELS),
    ),
    _on_data(
        "modified-huber",
        "squared hinge loss, linear beyond the margin −1, on data split over clients",
        (*_sampled(_LABELS), {**_LABELS, **_WEIGHTED}),
    ),
    _on_data(
        "squared-hinge",
        "squared hinge loss (support vector machine) on data split over clients",
        (_LABELS, {**_LABELS, **_WEIGHTED}),
    ),
    _on_data(
        "huber-regression",
        "Huber losses of a linear model on data split over clients",
        (*_sampled({**_ROWS, "targets": _REAL, "nu": 0.25, "delta": 0.75}), {**_ROWS, "targets": _REAL, **_WEIGHTED}),
    ),
    _on_data(
        "quantile-regression",
        "quantile regression: asymmetric absolute deviations of a linear model on data split over clients",
        _sampled({**_ROWS, "targets": _REAL, "nu": 0.25, "quantile": 0.75}),
    ),
    _on_data(
        "lad-regression",
        "least absolute deviations of a linear model on data split over clients",
        _sampled({**_ROWS, "targets": _REAL, "nu": 0.25}),
    ),
    _on_data(
        "least-squares",
        "least squares of a linear model on data split over clients, ridge regression with nu > 0",
        _sampled({**_ROWS, "targets": _REAL, "nu": 0.25}),
    ),
    _on_data(
        "logistic",
        "binary logistic regression on data split over clients",
        (*_sampled(_LABELS), {**_LABELS, **_FREE_INTERCEPT}),
    ),
    _on_data(
        "poisson",
        "Poisson regression on data split over clients, on a box or a ball: needs box=[low,high] or ball=r",
        tuple({**one, "box": [-0.5, 0.25]} for one in _sampled({**_ROWS, "targets": _COUNTS, "nu": 0.25})),
        constrained=True,
    ),
    _on_data(
        "softmax",
        "multinomial logistic regression on data split over clients",
        (*_sampled(_THREE), {**_THREE, **_FREE_INTERCEPT}),
    ),
)
