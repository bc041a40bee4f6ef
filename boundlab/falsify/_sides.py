"""Both sides of a bound for many candidates that share their runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from boundlab.errors import AssumptionError, BoundlabError, SpecError, SymbolError
from boundlab.falsify import _noise
from boundlab.falsify._candidate import Candidate, Columns, Layout, chosen, rounding, run_columns
from boundlab.falsify._edges import sides
from boundlab.falsify._shared_runs import SharedRun, constants
from boundlab.objective import Optimum
from boundlab.theorems import Theorem

Floats = NDArray[np.float64]
# Ratios that are looked at closely: floats that are equal but for their last digits are not.
PROMISING = 1.0 + 1e-9
_LARGEST = 1e60  # of a left side: what a diverging run shows beyond is no number to compare with


@final
@dataclass(frozen=True, slots=True)
class CandidateSides:
    """Both sides of a bound for B candidates.

    Parameters
    ----------
    ks
        Shape (points,).
    left, right
        Shape (points, B); the right side is inf where the theorem claims nothing.
    last
        Where each run ended, one array a candidate; empty where there is no one run.
    lost
        Shape (B,): √(3P) where the left side is a lower limit, see :mod:`boundlab.falsify._noise`; else 0.
    """

    ks: NDArray[np.int64]
    left: Floats
    right: Floats
    last: Sequence[Floats]
    lost: Floats

    def best(self) -> tuple[Floats, NDArray[np.int64]]:
        """Return the largest left/right of each candidate and the place of its horizon, shape (B,) each.

        The ratio is −1 where the theorem claims nothing at any horizon, inf where it claims something below 0. At K = 0
        no run is looked at, and many a bound is attained: beside other horizons it counts where the bound is exceeded.
        """
        told = np.isfinite(self.right) & (np.abs(self.left) < _LARGEST)
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            ratio = np.maximum(self.left / self.right, 0.0)
        ratio = np.where(np.isnan(ratio), 0.0, ratio)
        # No left side is below 0.
        ratio = np.where(self.right < 0.0, np.inf, ratio)
        aside = (self.ks == 0)[:, None] & (len(self.ks) > 1) & (ratio <= PROMISING)
        ratio = np.where(told & ~aside, ratio, -1.0)
        place = ratio.argmax(axis=0)
        return ratio[place, np.arange(ratio.shape[1])], place


def evaluate(shared: SharedRun, candidates: Sequence[Candidate]) -> CandidateSides:
    """Return both sides for candidates that share their runs; all with noise, or all without.

    Raises
    ------
    BoundlabError
        If a left side is not known.
    """
    theorem = shared.theorem
    both = constants(theorem, candidates)
    known = [own for own, _ in both]
    if len({frozenset(own) for own in known}) > 1:
        raise SpecError("problems that have different constants are looked at one by one")
    sizes = np.array([step_size(shared, one, own) for one, own in zip(candidates, known, strict=True)])
    right = right_sides(shared, candidates, known, sizes)
    if theorem.read_by(theorem.step) & set(shared.seen[-1]):
        # The theorem's own step for the whole schedule is not the one for a part of it.
        right[:-1, [shared.rate not in one.step for one in candidates]] = np.inf
    left, lost = np.zeros_like(right), np.zeros(len(candidates))
    last = [np.empty(0)] * len(candidates)
    places = np.flatnonzero(np.isfinite(right).any(axis=0)).tolist()
    if places:  # only these are worth a run
        some = [candidates[place] for place in places]
        found = _left_sides(shared, some, sizes[places], [both[place][1] for place in places])
        left[:, places], lost[places], ends = found
        for place, end in zip(places, ends, strict=True):
            last[place] = end
    return CandidateSides(shared.ks, left, right, last, lost)


def _left_sides(
    shared: SharedRun, candidates: Sequence[Candidate], sizes: Floats, optima: Sequence[Optimum]
) -> tuple[Floats, Floats, Sequence[Floats]]:
    """Return left sides, shape (points, B), √(3P), shape (B,), and where each run ended."""
    metric, layout = shared.left, Layout.of(candidates)
    steps = sizes[layout.owner]
    ends = [np.empty(0)] * len(candidates)
    if candidates[0].noisy:
        return *_noise.left_side(shared, candidates, layout, steps), ends
    left = np.zeros((len(shared.ks), len(candidates)))
    for tape, weight in shared.tapes:
        each, end = run_columns(tape, Columns(layout, steps), metric, shared.ks, optima)
        left += weight * each
        ends = np.split(end, layout.first[1:]) if len(shared.tapes) == 1 else ends
    left -= np.array([rounding(metric, one, int(shared.ks[-1])) for one in candidates])
    return left, np.zeros(len(candidates)), ends


def right_sides(
    shared: SharedRun, candidates: Sequence[Candidate], known: Sequence[Mapping[str, Any]], sizes: Floats
) -> Floats:
    """Return the bound for problems with these constants and step sizes, shape (points, B); inf where there is none."""
    theorem = shared.theorem
    vectors = {name: value for name, value in known[0].items() if np.ndim(value)}
    if vectors and len(known) > 1:  # one number per client is no number per candidate
        columns = zip(candidates, known, sizes.reshape(-1, 1), strict=True)
        return np.hstack([right_sides(shared, [one], [own], size) for one, own, size in columns])
    arrays: dict[str, Any] = {name: np.array([own[name] for own in known]) for name in known[0].keys() - vectors}
    free = [chosen(theorem, one.step) for one in candidates]
    arrays |= {name: np.array([own[name] for own in free]) for name in free[0]}
    if shared.rate in theorem.settable or shared.rate in theorem.inputs():
        arrays[shared.rate] = sizes
    right = np.full((len(shared.ks), len(sizes)), np.inf)
    usable = np.flatnonzero(np.isfinite(sizes))
    order = usable[np.argsort(sizes[usable], kind="stable")]
    for row, k in enumerate(shared.ks.tolist()):
        base = {**shared.seen[row], **shared.values, **vectors, theorem.horizon_symbol: k}
        base = {name: value for name, value in base.items() if name not in arrays}
        base |= {name: value for name, value in shared.server.items() if name in theorem.free() and name not in arrays}
        _bounds(theorem, base, arrays, order[_admissible(theorem, base, arrays, order)], right[row])
    return right


def _admissible(
    theorem: Theorem, base: Mapping[str, Any], arrays: Mapping[str, Any], order: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Return which columns meet the conditions, as far as these have a value."""
    met = np.ones(len(order), dtype=np.bool_)
    known = {**base, **{name: value[order] for name, value in arrays.items()}}
    try:
        for one, (quantity, limit) in zip(theorem.conditions, sides(theorem, theorem.conditions, known), strict=True):
            met &= one.meets(quantity, limit)
    except BoundlabError:
        return met  # the bound itself will say what is wrong
    return met


def constants_of(theorem: Theorem, candidate: Candidate) -> dict[str, Any]:
    """Return the certified constants of one candidate that the theorem reads."""
    return constants(theorem, [candidate])[0][0]


def step_size(shared: SharedRun, candidate: Candidate, own: Mapping[str, Any]) -> float:
    """Return the local step size: chosen, or the theorem's own for the longest horizon; nan where there is none."""
    theorem = shared.theorem
    known = {**shared.seen[-1], **shared.values, **own, theorem.horizon_symbol: int(shared.ks[-1])}
    known = {name: value for name, value in known.items() if name not in theorem.step or name == theorem.horizon_symbol}
    try:
        step = theorem.step_options({**known, **candidate.step})
    except BoundlabError:
        return float("nan")
    # Another problem may make other rates of the server, for which these tapes are not the ones.
    return step[shared.rate] if all(step[name] == value for name, value in shared.server.items()) else float("nan")


def _bounds(
    theorem: Theorem, base: Mapping[str, Any], arrays: Mapping[str, Any], order: NDArray[np.int64], out: Floats
) -> None:
    """Fill in the right side, halving the columns until those that break a condition stand alone."""
    if not len(order):
        return
    try:
        columns = {name: value[order] for name, value in arrays.items()}
        found = theorem.evaluate({**base, **columns}, exactly=True)
    except (AssumptionError, SymbolError):
        if len(order) > 1:
            half = len(order) // 2
            _bounds(theorem, base, arrays, order[:half], out)
            _bounds(theorem, base, arrays, order[half:], out)
        return
    out[order] = np.broadcast_to(found.total, order.shape)
