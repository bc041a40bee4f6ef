"""Gaussian noise on a tape, exactly: each register is a mean and the coefficients of all noise that entered it.

On the quadratic part of a Huber function a run is linear in its noise. A run that leaves this part with a probability
of at most P has E q(x) of at least (1 − √(3P)) times what the linear run has, where q is a square or a sum of squares
of linear functions: a Gaussian y has E y⁴ ≤ 3(E y²)², so that E y²·1{left} ≤ √(3P)·E y² (Cauchy and Schwarz), and what
the run does after it has left only adds. Noise of two signs has the same second moments, and P is 0 or not known.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from boundlab.errors import SpecError
from boundlab.execute.floats import run
from boundlab.falsify._candidate import Candidate, Layout
from boundlab.falsify._shared_runs import SharedRun
from boundlab.metrics import Quantity, Series
from boundlab.objective import Array, Oracle
from boundlab.tape import Tape

Floats = NDArray[np.float64]
LARGEST = 400_000_000  # coefficients that all steps of a run change
_ENTRIES = 40_000_000  # the same of a run for many candidates


@final
@dataclass(slots=True)
class LinearRun(Oracle):
    """Gradients w_i·(x − c_i) + noise on C columns, each a mean and the coefficients of N noises of unit variance.

    Parameters
    ----------
    step_sizes, deviations
        Shape (C,): the step size, and the standard deviation of the noise in this coordinate.
    watch
        Is told each point at which a gradient is taken, with the centres of its client, shape (1, C); None: nobody
        asks.
    """

    layout: Layout
    step_sizes: Floats
    deviations: Floats
    watch: Callable[[Array, Floats], object] | None
    taken: int = 0

    def draws(self, clients: NDArray[np.int64], updates: NDArray[np.int64], steps: int) -> Any:
        """Return the number of each noise."""
        first = self.taken + 1
        self.taken += len(clients) * steps
        return np.arange(first, self.taken + 1).reshape(-1, steps)

    def draw_size(self, steps: int) -> int:
        """Return one number a step."""
        return steps

    def step(self, x: Array, client: int, draw: Any, step_size: float) -> None:
        """Do one step, and remember how far from the centre its gradient was taken."""
        at = self.layout
        each = x.reshape(len(at.x0), -1)
        if self.watch is not None:
            self.watch(each, at.c[client : client + 1])
        a = step_size * self.step_sizes
        each *= (1.0 - a * at.w[client])[:, None]
        each[:, 0] += a * at.w[client] * at.c[client]
        each[:, int(draw)] -= a * self.deviations


def apart(each: Array, centres: Floats, *, signs: bool) -> list[Floats]:
    """Return |mean of x − centre| for some centres, each with the standard deviation of x, shape (3, C).

    Parameters
    ----------
    signs
        Whether the third row is what all noise of one sign adds; else nobody asks, and it is 0.
    """
    spread = deviation(each)
    most = np.abs(each[:, 1:]).sum(axis=1) if signs else np.zeros_like(spread)
    return [np.array([np.abs(each[:, 0] - centre), spread, most]) for centre in centres]


def deviation(each: Array) -> Floats:
    """Return the standard deviation of x, shape (C,)."""
    return np.asarray(np.sqrt((each[:, 1:] ** 2).sum(axis=1)))


def left_side(
    shared: SharedRun, candidates: Sequence[Candidate], layout: Layout, steps: Floats
) -> tuple[Floats, Floats]:
    """Return the left sides, from below, shape (points, B), and √(3P), shape (B,).

    Raises
    ------
    SpecError
        If a run is too long, or its left side is no mean of what the run shows.
    """
    metric, ks = shared.left, shared.ks
    if not metric.from_expectations:
        raise SpecError(
            f"{shared.theorem.metric} is not a mean of recorded quantities: moments do not determine its expectation"
        )
    if any(one.problem["type"] == "lad" for one in candidates) or any(len(tape.implicit) for tape, _ in shared.tapes):
        raise SpecError("noise is carried along on quadratic parts only")
    slope = layout.w.mean(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        centre = np.where(slope > 0.0, (layout.w * layout.c).sum(axis=0) / layout.w.sum(axis=0), 0.0)
    square = {Quantity.DISTANCE: np.ones_like(slope), Quantity.GAP: slope / 2.0, Quantity.SLOPE: slope**2}
    weight = square[metric.quantity]
    signs = np.array([one.problem.get("noise") == "sign" for one in candidates])
    if any(one.dimension > 1 for one, sign in zip(candidates, signs, strict=True) if sign):
        raise SpecError("noise of two signs is carried along in one dimension only")
    total = np.zeros((len(ks), len(candidates)))
    most = np.zeros(len(candidates))
    watched = any(one.problem["type"] == "huber" for one in candidates)
    for tape, share in shared.tapes:
        series = Series(metric, ks, layout.first.shape)
        # The quadratic part must hold its own minimiser, too.
        still = np.zeros_like(centre)
        away = [np.array([np.abs(centre - one), still, still]) for one in layout.c]

        def watch(each: Array, centres: Floats, away: list[Floats] = away) -> None:
            away.extend(apart(each, centres, signs=bool(signs.any())))

        def observe(_row: int, x: Array, series: Series = series, watch=watch) -> None:  # type: ignore[no-untyped-def]
            each = x.reshape(len(layout.x0), -1)
            if watched:
                watch(each, layout.c)
            second = (each[:, 0] - centre) ** 2 + (each[:, 1:] ** 2).sum(axis=1)
            series.add(layout.each(weight * second))

        run(tape, _start(layout, tape), _linear(tape, candidates, layout, steps, watch if watched else None), observe)
        lost = _lost(np.array(away), layout, signs) if watched else np.zeros(len(candidates))
        total += share * series.values * np.maximum(0.0, 1.0 - lost)
        most = np.maximum(most, lost)
    return total, most


def widest(shared: SharedRun, candidates: Sequence[Candidate], sizes: Floats) -> Floats:
    """Return the largest standard deviation of a point at which a gradient is taken or a model shown, shape (B,).

    Raises
    ------
    SpecError
        If a run is too long for one of them.
    """
    layout = Layout.of(candidates)
    columns, found = len(layout.x0), np.zeros(len(candidates))
    for tape, _ in shared.tapes:
        spread = np.zeros(columns)

        def watch(each: Array, _: object, spread: Floats = spread) -> None:
            np.maximum(spread, deviation(each), out=spread)

        linear = _linear(tape, candidates, layout, sizes[layout.owner], watch)
        run(tape, _start(layout, tape), linear, lambda row, x, watch=watch: watch(x.reshape(columns, -1), row))  # type: ignore[misc]
        found = np.fmax(found, np.maximum.reduceat(spread, layout.first))
    return found


def at_once(shared: SharedRun) -> int:
    """Return with how many columns runs take little more time than with one."""
    return max(1, _ENTRIES // max(int(tape.descend.steps.sum()) ** 2 for tape, _ in shared.tapes))


def _linear(
    tape: Tape,
    candidates: Sequence[Candidate],
    layout: Layout,
    steps: Floats,
    watch: Callable[[Array, Floats], object] | None,
) -> LinearRun:
    noises = int(tape.descend.steps.sum())
    if noises**2 * len(layout.x0) > LARGEST:
        raise SpecError(f"{noises} noises are too many to keep apart")
    sizes = np.bincount(layout.owner)
    sigma = np.array([float(one.problem["sigma"]) for one in candidates])
    return LinearRun(layout, steps, (sigma / np.sqrt(sizes))[layout.owner], watch)


def _start(layout: Layout, tape: Tape) -> Floats:
    x0 = np.zeros((len(layout.x0), int(tape.descend.steps.sum()) + 1))
    x0[:, 0] = layout.x0
    return x0.reshape(-1)


def _lost(away: Floats, layout: Layout, signs: NDArray[np.bool_]) -> Floats:
    """Return √(3P), where P bounds the probability that a problem's run leaves its quadratic part.

    Parameters
    ----------
    signs
        Shape (B,): whether the noise has two signs, which a run may meet in any order; else it is normal.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        room = (layout.delta - away[:, 0]) / away[:, 1]
    # Without spread a point is within or it is not.
    room = np.where(np.isnan(room), -np.inf, room)
    tail = layout.each(np.asarray((2.0 * ndtr(-room)).sum(axis=0)))
    beyond = layout.each(np.asarray((away[:, 0] + away[:, 2] > layout.delta).any(axis=0), dtype=np.float64))
    return np.asarray(np.sqrt(3.0 * np.minimum(1.0, np.where(signs, beyond, tail))))
