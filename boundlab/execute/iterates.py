"""Left sides of a run without noise, or of one run with it, as floats give them and as far as they are proved."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final, final

import numpy as np

from boundlab.algorithms import VirtualIterate
from boundlab.arithmetic.compiled import worth
from boundlab.errors import UndecidedError
from boundlab.execute import enclosed, floats
from boundlab.execute._rows import Update, own_numbers
from boundlab.execute.enclosed import EPS, TINY, UNKNOWN, UP, EnclosedVectors, Motion, Point, norm, summed
from boundlab.execute.floats import draws
from boundlab.metrics import Enclosure, Metric, Proved, Series
from boundlab.objective import Array, Oracle, Problem, step_rounding
from boundlab.randomness import Floats, Ints
from boundlab.tape import Affine, Initial, Op, Record, Tape

FEW = 200_000  # instructions that run a second time in seconds
_WIDE = 1e-3
CLOSE = "an iterate meets a kink too closely for floating point to tell its side"


def along(
    metric: Metric,
    problem: Problem,
    tape: Tape,
    oracle: Oracle,
    ks: Ints,
    *,
    compiled: bool = False,
    proved: Proved | None = None,
) -> Enclosure:
    """Return the left sides of a run at ``ks``.

    Parameters
    ----------
    tape
        With the records that :class:`boundlab.metrics.Watch` asks for at ``ks``.
    oracle
        Its (sub)gradients.
    compiled
        Whether machine code is to run it, where that proves anything.
    proved
        Quantities of the problem, which know after one run what rounding does at its optimum.

    Raises
    ------
    UndecidedError
        If rounding could decide on which side of a kink a local step is taken.
    """
    proved = proved or Proved(problem)
    if compiled and metric.quantity.of_model:
        found = _compiled(metric, proved, tape, oracle, Series(metric, ks, (3,)))
        # What is wide is looked at once more by what knows how errors of models differ, where that takes seconds.
        few = len(tape) <= FEW and found is not None and (found.upper - found.lower > _WIDE * found.upper).any()
        if found is not None and np.isfinite(found.upper).all() and not few:
            return found
    series, shown = Series(metric, ks, (3,)), list[Point[Array]]()

    def measure() -> None:
        off = np.array([point.error for point in shown])
        series.extend(proved.at(metric, np.stack([point.value for point in shown]), off))
        shown.clear()

    def observe(_row: int, point: Point[Array]) -> None:
        shown.append(point)
        if len(shown) * len(point.value) >= _BLOCK:
            measure()

    with np.errstate(over="ignore", invalid="ignore"):  # a run may leave floats: nothing is proved then
        enclosed.run(tape, own_numbers(tape), Iterates(tape, problem, oracle), observe)
        if shown:
            measure()
    return series.enclosure()


def _compiled(metric: Metric, proved: Proved, tape: Tape, oracle: Oracle, series: Series) -> Enclosure | None:
    """Return the left sides as the compiled loop proves them, or None where it does not."""
    clients = floats.clients_of(proved.problem, tape)

    def observe(_: Ints, X: Array, off: Floats) -> None:
        series.extend(proved.at(metric, X, off))

    with np.errstate(over="ignore", invalid="ignore"):
        known = clients is not None and floats.run_proved(tape, proved.problem, clients, oracle, observe)
    return series.enclosure() if known else None


@final
class Iterates(EnclosedVectors[Array]):
    """Vectors of floats, and the local steps of an oracle.

    Parameters
    ----------
    tape
        What is run: the random numbers of its updates are drawn in its order.
    steep
        Shape (2, rows of local steps), zeros, for the largest ‖g‖ of each as floats give it, and a number that is no
        less than the one without rounding; None: nobody asks.
    """

    unit = 1.0

    def __init__(self, tape: Tape, problem: Problem, oracle: Oracle, steep: Floats | None = None) -> None:
        self.problem, self._oracle, self._draws, self._steep = problem, oracle, draws(tape, oracle), steep
        self.ulp = float(np.finfo(problem.dtype).eps)
        self._bounds = [problem.step_bounds(client) for client in range(problem.n)]

    def origin(self, initial: Initial) -> Point[Array]:
        """Return x0 or 0."""
        value = self.problem.x0 if initial is Initial.START else np.zeros_like(self.problem.x0)
        return Point(value, norm(value), 0.0)

    def combined(self, terms: Mapping[Point[Array], float]) -> tuple[Array, float, float]:
        """Return Σ coefficient·point."""
        return summed(terms, np.zeros_like(self.problem.x0), self.ulp)

    def descend(self, start: Point[Array], row: Update[float]) -> tuple[Point[Array], float]:
        """Do the steps, and follow the error from one to the next.

        Raises
        ------
        UndecidedError
            If x lies at a kink, or so near to it that its error decides.
        """
        x, error, moved, client = start.value.copy(), start.error, 0.0, row.client
        motion: Motion | None = Motion.still()
        bounds, before = self._bounds[client], norm(start.value)
        step = self._oracle.implicit_step if row.implicit else self._oracle.step
        for size, draw in zip(row.sizes, next(self._draws), strict=True):
            if bounds is not None and bounds.kinks and not row.implicit:
                self._require_apart(client, x, error + (len(x) + 8) * self.ulp * before)
            old = x.copy()
            step(x, client, draw, size)
            after = norm(x)
            slope = norm(x - old) / size if self._steep is not None and size else 0.0
            if bounds is None or (bounds.kinks and row.implicit):
                error = moved = steep = UNKNOWN
                motion = None
            else:
                lost = size * bounds.error(x if row.implicit else old, before + after)
                rounding = step_rounding(before, after, lost, len(x), self.ulp, bounds.proximal)
                if row.implicit:
                    # z + size·∇f(z) is strongly monotone: its distance from x is no less than the error of z.
                    rounding += norm(x + size * self.problem.gradient(client, x) - old)
                rounding += TINY
                # The step is −size·g up to rounding, and g grows by no more than L times how far x is off.
                hidden = bounds.proximal or not size
                steep = UNKNOWN if hidden else (slope + rounding / size + bounds.L * error) * UP
                growth = 1.0 if row.implicit else bounds.growth(size)
                lipschitz = 1.0 if row.implicit else bounds.moved(size, growth)
                moved += lipschitz * error + rounding
                unknown = row.implicit or bounds.kinks or bounds.proximal
                motion = None if motion is None or unknown else motion.then(growth, lipschitz, rounding)
                error = (growth * error + rounding) * UP
            if self._steep is not None:
                self._steep[:, row.row] = np.maximum(self._steep[:, row.row], (slope, steep))
            before = after
        return Point(x, before, error, motion), moved * (UP + 1e-15 * len(row.sizes))

    def _require_apart(self, client: int, x: Array, room: float) -> None:
        if not room < UNKNOWN or self.problem.near_kink(client, x[None], room).any():
            raise UndecidedError(CLOSE)


# Gradients where a run takes them: along local steps, at server models, on segments; as floats and from above.

_BLOCK: Final = 1 << 18  # numbers of points whose gradients are taken together
_PARTS: Final = 16  # of a segment
_OPEN: Final = 1e-6  # of the largest gradient: what is further from what floats say says nothing


@final
@dataclass(frozen=True, slots=True)
class Gradients:
    """Norms of gradients along a run: of each what floats give, and a number that is no less than without rounding.

    Parameters
    ----------
    steps
        Shape (2, runs): the largest ‖∇f_i‖ at the local steps of each row of :class:`boundlab.tape.Descend`.
    apart, spread
        Shape (2, points): the largest ‖∇f_i − ∇F‖, and the root of the mean of their squares, at each point of the
        path: w[0], w[1], …, or those of the virtual iterate.
    segments
        Shape (2,): no less than ‖∇f_i‖, for every i, on the segments from w[0] to the first points of the path.
    """

    steps: Floats
    apart: Floats
    spread: Floats
    segments: Floats

    def encloses(self, largest: Floats) -> bool:
        """Return whether rounding leaves little open of a norm: what floats say of it, and a number from above."""
        size = max(largest[0], self.apart[0, 0], float(self.steps[0].max(initial=0.0)))
        return bool(largest[1] <= largest[0] + _OPEN * size)

    @property
    def enclosed(self) -> bool:
        """True if rounding leaves little open of every norm."""
        tops = (one.max(axis=1, initial=0.0) for one in (self.steps, self.apart, self.spread))
        return all(map(self.encloses, (*tops, self.segments)))


def visit(
    problem: Problem, tape: Tape, weights: Sequence[Fraction], virtual: VirtualIterate | None, window: int
) -> Gradients:
    """Run a tape with full gradients, and look at the gradients that a theorem along the run bounds.

    Parameters
    ----------
    weights
        p of the objective F = Σ p_i f_i.
    virtual
        The path in place of the server models; None: these.
    window
        How many points of the path, from the first on, segments lead to.
    """
    tape = at_versions(tape) if virtual is None else with_virtual(tape, virtual)
    oracle, clients = problem.full_gradients(), floats.clients_of(problem, tape)

    def path() -> _GradientPath:
        return _GradientPath(problem, np.array([float(one) for one in weights]), window, virtual is not None)

    with np.errstate(over="ignore", invalid="ignore"):  # a run may leave floats: nothing is known then
        if clients is not None and floats.affordable(problem) and worth(int(tape.descend.steps.sum())):
            steps, found = np.zeros((2, len(tape.descend.dst))), path()
            if floats.run_proved(tape, problem, clients, oracle, lambda _, X, off: found.add(X, off), steps):
                fast = found.gradients(steps)
                # What knows how errors of models differ leaves less open: it decides, with machine code or without.
                if fast.enclosed or len(tape) > FEW:
                    return fast
        steps, found = np.zeros((2, len(tape.descend.dst))), path()

        def observe(_: int, point: Point[Array]) -> None:
            found.add(point.value[None], np.array([point.error]))

        enclosed.run(tape, own_numbers(tape), Iterates(tape, problem, oracle, steps), observe)
        return found.gradients(steps)


def at_versions(tape: Tape) -> Tape:
    """Return the tape with a record of each server model, in their order, and no others."""
    versions = np.arange(tape.iterations + 1)
    last = np.searchsorted(tape.version, versions) - 1  # the event that makes each version; −1 makes the first
    tape = _without_records(tape)
    places = np.searchsorted(tape.event, last, side="right")
    places[0] = 0
    return _with_records(tape, places, np.full(len(versions), tape.server))


def with_virtual(tape: Tape, virtual: VirtualIterate) -> Tape:
    """Return the tape with a register for the virtual iterate, and records of w[0] and of v[0], v[1], … alone.

    Each run leaves how far it moved its start model, which the virtual iterate takes when it arrives.
    """
    tape = _without_records(tape)
    descend, v = tape.descend, tape.registers
    runs, arrival = virtual.runs, tape.descend.arrival[virtual.runs]
    left = np.flatnonzero(tape.op == Op.DESCEND)[runs] + 1  # where a run leaves its move
    taken = np.searchsorted(tape.event, arrival)
    moves = v + 1 + descend.client[runs]
    places, order = np.concatenate([left, taken]), np.argsort(np.concatenate([left, taken]), kind="stable")
    dst = np.concatenate([moves, np.full(len(runs), v)])
    src = np.concatenate(
        [np.stack([descend.dst[runs], descend.src[runs]], 1), np.stack([np.full(len(runs), v), moves], 1)]
    )
    coef = np.concatenate([np.tile([1.0, -1.0], (len(runs), 1)), np.stack([np.ones(len(runs)), virtual.weights], 1)])
    initial = np.full(v + 1 + tape.clients, Initial.UNWRITTEN, dtype=np.int8)
    initial[:v], initial[v] = tape.initial, Initial.START
    tape = replace(tape, registers=len(initial), initial=initial)
    tape = _with_combinations(tape, places[order], dst[order], src[order], coef[order])
    moved = np.flatnonzero((tape.op == Op.AFFINE) & (np.append(tape.affine.dst, -1)[_rows_of(tape)] == v)) + 1
    shown = np.concatenate([[0], moved[virtual.before - 1 :] if virtual.before else np.append(0, moved)])
    return _with_records(tape, shown, np.full(len(shown), v))


def _rows_of(tape: Tape) -> Ints:
    """Return the row of each instruction in the table of combinations, −1 for others."""
    return np.where(tape.op == Op.AFFINE, tape.row, -1)


def _without_records(tape: Tape) -> Tape:
    kept = tape.op != Op.RECORD
    return replace(tape, op=tape.op[kept], row=tape.row[kept], event=tape.event[kept])


def _with_records(tape: Tape, places: Ints, registers: Ints) -> Tape:
    """Return a tape without records with some, each before the instruction that stands at its place."""
    numbers = np.arange(len(places))
    events = np.append(tape.event, -1)[places]
    return replace(
        tape,
        op=np.insert(tape.op, places, Op.RECORD),
        row=np.insert(tape.row, places, numbers),
        event=np.insert(tape.event, places, events),
        record=Record(registers, numbers, numbers, np.zeros(len(places))),
    )


def _with_combinations(tape: Tape, places: Ints, dst: Ints, src: Ints, coef: Floats) -> Tape:
    """Return a tape with combinations of two terms each, at places in their order."""
    before = np.cumsum(np.insert(tape.op == Op.AFFINE, 0, False))[places]  # rows of the table in front of each
    affine, width = tape.affine, np.insert(np.diff(tape.affine.start), before, 2)
    terms = np.repeat(affine.start[before], 2)
    op = np.insert(tape.op, places, Op.AFFINE)
    row = np.insert(tape.row, places, 0)
    row[op == Op.AFFINE] = np.arange(len(width))
    return replace(
        tape,
        op=op,
        row=row,
        event=np.insert(tape.event, places, np.append(tape.event, -1)[places]),
        affine=Affine(
            np.insert(affine.dst, before, dst),
            np.concatenate([[0], np.cumsum(width)]),
            np.insert(affine.src, terms, src.ravel()),
            np.insert(affine.coef, terms, coef.ravel()),
        ),
    )


@final
class _GradientPath:
    """Points, one after the other, and the gradients of all clients there.

    Parameters
    ----------
    led
        Whether the first point is the one that segments begin at, and none of the path.
    """

    def __init__(self, problem: Problem, weights: Floats, window: int, led: bool) -> None:
        self._problem, self._weights, self._window, self._led = problem, weights, window, led
        self._bounds = [problem.step_bounds(client) for client in range(problem.n)]
        self._up = 1.0 + (problem.d + 16.0) * EPS  # rounds the norm of d numbers, and a few sums, up
        self._points: list[tuple[Array, Floats]] = []
        self._held = self._seen = 0
        self._found: list[tuple[Floats, Floats]] = []
        self._segments, self._origin = np.zeros(2), np.zeros(0)

    def add(self, X: Array, off: Floats) -> None:
        """Add points, shape (points, d), and how far each is at most from the one without rounding."""
        X = np.array(X, dtype=np.float64)
        if not len(self._origin):
            self._origin = X[0]
            X, off = X[self._led :], off[self._led :]
        for x, error in zip(X[: max(self._window - self._seen, 0)], off, strict=False):
            self._lead_to(x, float(error))
        self._seen += len(X)
        self._points.append((X, np.array(off)))
        self._held += X.size
        if self._held >= _BLOCK:
            self._flush()

    def gradients(self, steps: Floats) -> Gradients:
        """Return what was found."""
        self._flush()
        apart, spread = (np.concatenate([one[place] for one in self._found], axis=1) for place in (0, 1))
        return Gradients(steps, apart, spread, self._segments)

    def _flush(self) -> None:
        if not self._points:  # the last block was full
            return
        X, errors = (np.concatenate([one[place] for one in self._points]) for place in (0, 1))
        self._points, self._held = [], 0
        each, off = self._at(X, errors)
        more = off + np.einsum("i,in->n", self._weights, off)
        more += (self._problem.n + 8.0) * EPS * np.linalg.norm(each, axis=2).max(axis=0)
        away = np.linalg.norm(each - np.einsum("i,ind->nd", self._weights, each), axis=2)
        both = np.stack([away, (away + more) * self._up])
        self._found.append((both.max(axis=1), np.sqrt((both**2).mean(axis=1)) * self._up))

    def _at(self, X: Array, errors: Floats) -> tuple[Floats, Floats]:
        """Return the gradients at some points, shape (clients, points, d), and how far each is off at most."""
        each, off = [], []
        sizes = np.linalg.norm(X, axis=1) * self._up
        for client, bounds in enumerate(self._bounds):
            found = self._problem.gradients(client, X.astype(self._problem.dtype))
            each.append(np.asarray(found, dtype=np.float64))
            if bounds is None or bounds.kinks or bounds.doubt is not None:
                off.append(np.full(len(X), UNKNOWN))
            else:
                off.append(bounds.offset + bounds.slope * sizes + bounds.L * errors)
        return np.array(each), np.array(off) * self._up

    def _lead_to(self, end: Array, error: float) -> None:
        """Look at the segment from the origin to a point: on a part of length l all are below (a + b + L·l)/2."""
        shares = np.linspace(0.0, 1.0, _PARTS + 1)[:, None]
        X = (1.0 - shares) * self._origin + shares * end
        # What lies between is off by no more than the end, and by a few roundings, one to the problem's own floats.
        ulp = float(np.finfo(self._problem.dtype).eps)
        errors = np.full(len(X), error + 4.0 * ulp * (norm(self._origin) + norm(end)))
        each, off = self._at(X, errors)
        norms, part = np.linalg.norm(each, axis=2), (norm(end - self._origin) + errors[0]) / _PARTS
        slopes = np.array([0.0 if one is None else one.L for one in self._bounds])[:, None]
        for place, known in enumerate((norms, norms + off)):
            top = float(((known[:, :-1] + known[:, 1:] + slopes * part) / 2.0).max()) * self._up
            self._segments[place] = np.maximum(self._segments[place], top)  # what is no number stays so
