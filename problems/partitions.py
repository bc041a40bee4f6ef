"""How samples are split over clients; every client gets at least one."""

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from boundlab.errors import SpecError
from boundlab.objective import Floats
from boundlab.randomness import Stream, Streams

Partition = Literal["iid", "dirichlet", "class", "dual-dirichlet", "column"]
PARTITIONS: tuple[Partition, ...] = ("iid", "dirichlet", "class", "dual-dirichlet")  # all that are drawn
_TRIALS = 1000
Owners = NDArray[np.int64]
Labels = NDArray[np.int64]

# Keys of the counter-based streams: one place each, so that no two uses share their numbers.
_SHUFFLE, _SIZES, _MIX, _SUBSAMPLE = 0, 1, 2, 3


def permutation(streams: Streams, key: int, count: int) -> NDArray[np.int64]:
    """Return a random permutation of 0…count−1."""
    return np.argsort(streams.uniforms(Stream.PARTITION, key, 0, count)[0], kind="stable")


def subsample(seed: int, count: int, keep: int) -> NDArray[np.int64]:
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
