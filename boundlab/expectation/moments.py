"""The expectation of a left side over random events and noise by second moments, on quadratics and least squares."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, TypeAlias, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from boundlab.algorithms import X_S, EventLaw
from boundlab.arithmetic import numbers
from boundlab.arithmetic.numbers import InexactError, Scalar, exact_array
from boundlab.arithmetic.problem import Core, RationalProblem, batch_share
from boundlab.arithmetic.rational import Recipe
from boundlab.errors import SpecError, UndecidedError
from boundlab.execute import Numbers, iterates, own_numbers
from boundlab.expectation._enumeration import Schedule, folded
from boundlab.expectation._graph import LARGEST_MOMENTS, WIDEST, Arithmetic, Lowering, by_batches
from boundlab.expectation._recursion import EPS, BlockQuadratic, MinibatchNoise, Off, Passes, Recursion, norm
from boundlab.metrics import Enclosure, Metric, of_models, squares
from boundlab.objective import Problem
from boundlab.randomness import Floats, Ints
from boundlab.tape import Tape

# A problem as a quadratic about its minimum, with additive noise or that of mini-batches, for second moments.
#
# In floats it comes with what these are off.

Array = NDArray[Any]
_SMALL: Final = 1e-60


def quadratic_in_floats(problem: Problem) -> tuple[BlockQuadratic, Array, float]:
    """Return the quadratic, its Hessian, and how far that is off beside the mean's own rounding.

    Raises
    ------
    SpecError
        If the coordinates that mini-batches mix are too many.
    UndecidedError
        If the data are so small, or so large, that products of four of them leave floats.
    """
    return _mini_batches(problem) if by_batches(problem) else _additive(problem)


def _additive(problem: Problem) -> tuple[BlockQuadratic, Array, float]:
    form = problem.require_quadratic("the moments")
    star, x0 = (np.asarray(one, dtype=np.float64) for one in (problem.optimum().x, problem.x0))
    A, b, away, covariance = form.A[None], (form.b - star)[None], (x0 - star)[None], form.covariance()[None]
    if blocks_of(problem) > 1:
        A = np.diagonal(form.A, axis1=1, axis2=2).T[:, :, None, None]
        b, away, covariance = b[0].T[:, :, None], away.T, np.diagonal(covariance[0])[:, None, None]
    g = -(A @ b[..., None])[..., 0]
    off = [
        Off(c=(problem.d + 4) * EPS * norm(A[:, i]) * norm(b[:, i]), covariance=8.0 * EPS * norm(covariance))
        for i in range(problem.n)
    ]
    passes = Passes(A, g, covariance, (), 1.0, off)
    return BlockQuadratic(passes, away, np.zeros_like(away), 1.0), A.mean(axis=1), 0.0


def blocks_of(problem: Problem) -> int:
    """Return into how many blocks of coordinates, which do not mix, a quadratic falls: all of them, or one.

    No other basis is looked for: turning to one would round.
    """
    mixes = (problem.require_quadratic("the moments").A * (1.0 - np.eye(problem.d))).any()
    return 1 if mixes else problem.d


def _mini_batches(problem: Problem) -> tuple[BlockQuadratic, Array, float]:
    form = problem.least_squares()
    assert form is not None  # noqa: S101  (asked before)
    size = max(float(np.abs(part).max(initial=0.0)) for part in (*form.rows, *form.targets))
    if size and not _SMALL < size < 1.0 / _SMALL:
        raise UndecidedError(f"data of size {size:.3g} leave floats when squared twice; rescale them")
    if problem.d > WIDEST:
        raise SpecError(f"moments under mini-batches take at most {WIDEST} coordinates, got {problem.d}")
    star = np.asarray(problem.optimum().x, dtype=np.float64)
    each, off, d = [], [], problem.d
    for rows, targets, weight in zip(form.rows, form.targets, form.weights.tolist(), strict=True):
        m, residuals = len(rows), rows @ star - targets
        share = weight**2 * batch_share(form, m)
        each.append(_client(rows, residuals, weight, share, form.nu, star))
        size, at = norm(rows[None]), norm(star[None])
        lost = (d + 3) * EPS * (size * at + norm(targets[None]))  # of the residuals
        both = size + norm(residuals[None])
        fourth = (size * both) ** 2 / m
        off.append(
            Off(
                weight * (m + 6) * EPS * (size * size / m + form.nu * np.sqrt(d)),
                weight * (size * (lost + (m + 6) * EPS * both) / m + 4.0 * EPS * form.nu * at),
                0.0,
                share * ((8 * m + 80) * EPS * fourth + 4.0 * size * size * both * lost / m),
            )
        )
    A, g, batches = zip(*each, strict=True)
    hessians = np.array(A)[None]
    passes = Passes(hessians, np.array(g)[None], np.zeros((1, d, d)), batches, 1.0, off)
    away = np.asarray(problem.x0, dtype=np.float64) - star
    return BlockQuadratic(passes, away[None], 0.0 * star[None], 1.0), hessians.mean(axis=1), max(one.H for one in off)


def _client(
    rows: Array, residuals: Array, weight: Any, share: Any, nu: Any, star: Array
) -> tuple[Array, Array, MinibatchNoise]:
    """Return the Hessian of a client's least squares, its gradient at x*, and the noise of its mini-batches."""
    m, regular = len(rows), nu + 0 * star
    A, g = weight * (rows.T @ rows / m + np.diag(regular)), weight * (rows.T @ residuals / m + regular * star)
    return A, g, MinibatchNoise(rows, residuals, share)


def quadratic_in_exact_numbers(model: RationalProblem, core: Core | None) -> tuple[BlockQuadratic, Array]:
    """Return the quadratic and its Hessian.

    Parameters
    ----------
    core
        The quadratic that the problem is wherever a run can come; None: it is one itself.

    Raises
    ------
    InexactError
        If it is none, or its minimum is not found.
    """
    best = model.minimum()
    if best is None:
        raise InexactError("the minimum is not found in rational numbers")
    star, noises = exact_array(best.x), list[MinibatchNoise]()
    sampled, form = model.least_squares(), model.quadratic() if core is None else core.form
    if sampled is not None and sampled.batch:
        each = []
        for own, goals, share in zip(sampled.rows, sampled.targets, sampled.weights, strict=True):
            rows, weight = exact_array(own), numbers.rational(share)
            of_mean = weight * weight * numbers.rational(batch_share(sampled, len(own)))
            residuals = rows @ star - exact_array(goals)
            each.append(_client(rows, residuals, weight, of_mean, numbers.rational(sampled.nu), star))
        A, g = (np.array([one[place] for one in each]) for place in (0, 1))
        noises = [one[2] for one in each]
        covariance = np.full((model.d, model.d), numbers.rational(0))
    elif form is None:
        raise InexactError("exact moments need `quadratic()`, which this problem does not give")
    else:
        A, covariance = exact_array(form.A), exact_array(form.covariance())
        g = (A @ (star - exact_array(form.b))[..., None])[..., 0]
    one = numbers.rational(1)
    passes = Passes(A[None], g[None], covariance[None], noises, one)
    away = exact_array(model.x0) - star
    return BlockQuadratic(passes, away[None], (star - star)[None], one), A.sum(axis=0)[None] / model.n


Number = TypeVar("Number")
LARGEST = 10**7  # entries that are computed in exact numbers


@final
@dataclass(frozen=True, slots=True)
class Moments:
    """Moments of the server model x_k: expectations in exact numbers.

    Parameters
    ----------
    mean
        E x_k, d numbers.
    square, metric
        E ‖x_k − x*‖², and the expectation of what the metric measures, at x_k.
    sums
        Where the metric looks at averages: E (x_k − x*)·S_k and E ‖S_k‖², for S_k = Σ_{j<k} (x_j − x*).
    average
        Then also the expectation of what the metric measures at the average x* + S_k/k; None for k = 0.
    """

    k: int
    mean: tuple[Scalar, ...]
    square: Scalar
    metric: Scalar
    sums: tuple[Scalar, Scalar] | None = None
    average: Scalar | None = None


def in_floats(
    problem: Problem, arithmetic: Arithmetic[float], law: EventLaw[float], metric: Metric, ks: Ints
) -> Enclosure:
    """Return E metric at the sorted horizons ``ks``, shape (points,), over events and noise.

    Raises
    ------
    SpecError
        If there are too many control states, or the coordinates that mini-batches mix are too many.
    UndecidedError
        If the data are so small, or so large, that products of four of them leave floats.
    """
    where, hessian, off = quadratic_in_floats(problem)
    read, scales = enclosing(problem, metric, hessian, off), _scales(arithmetic, metric, ks)

    def look(k: int, found: Recursion[float]) -> Floats | None:
        if k not in scales:
            return None
        if metric.over.at_mean:
            return read(found.of_mean(), found.off_mean())
        return read(found.second() / scales[k], found.second(off=True) / scales[k])

    with np.errstate(over="ignore", invalid="ignore"):
        seen = _followed(_over_events(arithmetic, law, where, float, metric)[1], int(ks[-1]), look, math.inf)
    return Enclosure.of_means(folded(metric, ks, seen), len(seen))


def enclosing(problem: Problem, metric: Metric, hessian: Array, off: float) -> Callable[[Array, Array], Floats]:
    """Return what makes of E (x − x*)(x − x*)ᵀ, and of what it is off by, the left side and its two ends.

    Parameters
    ----------
    off
        How far the Hessian is off, beside the rounding of the mean.
    """
    distance = problem.optimum().distance
    unsure, H = np.inf if distance is None else distance, norm(hessian)
    off += (problem.n + 4) * EPS * H
    weight, most = metric.of_matrix(1.0, H), metric.of_matrix(1.0, H + off)
    heavy = metric.root_of_norm(H + off)
    # The difference is that of rounded numbers.
    wrong = (most - weight if most < math.inf else math.inf) + (4 * problem.d * problem.d + 20) * EPS * most

    def read(second: Array, error: Array) -> Floats:
        value = float(metric.of_second_moment(hessian, second))
        rounding = float(metric.of_second_moment(hessian, error)) + wrong * float(_trace(second + error))
        if not np.isfinite(value):  # a product on the way may have left floats, and the left side not
            return np.array([value, 0.0, np.inf])
        low, _ = squares(float(np.sqrt(max(value - rounding, 0.0))), heavy * unsure)
        _, high = squares(float(np.sqrt(max(value + rounding, 0.0))), heavy * unsure)
        return np.array([value, low, high])

    return read


def in_exact_numbers(
    model: RationalProblem,
    arithmetic: Arithmetic[Scalar],
    law: EventLaw[Fraction],
    metric: Metric,
    ks: Ints,
    core: Core | None = None,
    told: Callable[[Moments], object] | None = None,
) -> list[Scalar]:
    """Return E metric at the sorted horizons ``ks`` in the numbers of ``arithmetic``.

    Parameters
    ----------
    core
        The quadratic that the problem is wherever a run can come; see :mod:`boundlab.expectation._enumeration`.
    told
        Is told the moments of every iteration.

    Raises
    ------
    InexactError
        If the problem is no quadratic, or the run is too long for exact numbers.
    """
    where, hessian = quadratic_in_exact_numbers(model, core)
    add = len(arithmetic.program.initial) if metric.over.averages_iterates else None
    scales = _scales(arithmetic, metric, ks)

    def look(k: int, found: Recursion[Scalar]) -> Scalar | None:
        if told is not None:
            told(_moments(k, found, X_S, model, hessian, metric, add))
        if k not in scales:
            return None
        return metric.of_second_moment(hessian, found.of_mean() if metric.over.at_mean else found.second() / scales[k])

    _, moments = _over_events(arithmetic, law, where, numbers.rational, metric)
    return folded(metric, ks, _followed(moments, int(ks[-1]), look, LARGEST))


def given_schedule(
    model: RationalProblem,
    tape: Tape,
    numbers_of: Numbers[Scalar],
    metric: Metric,
    ks: Ints,
    core: Core | None = None,
    told: Callable[[Moments], object] | None = None,
    largest: float = LARGEST,
) -> list[Scalar]:
    """Return E[metric | schedule] at the sorted horizons ``ks`` over noise that depends on the schedule alone.

    Parameters
    ----------
    tape
        With the records that the metric asks for at ``ks``.
    numbers_of
        Those of the tape without rounding, or as balls.
    core
        As above.
    told
        Is told the moments of every record.
    largest
        Most entries that are computed.

    Raises
    ------
    InexactError
        If the problem is no quadratic, or the run is too long for exact numbers.
    """
    where, hessian = quadratic_in_exact_numbers(model, core)
    schedule = Schedule(tape, numbers_of, where.one)

    def look(place: int, found: Recursion[Scalar]) -> Scalar:
        if told is not None:
            told(_moments(place, found, schedule.sum, model, hessian, metric, None))
        return metric.of_second_moment(hessian, found.second())

    return folded(metric, ks, _along(schedule, where, numbers.rational, look, largest))


# The left side given a tape, without sampling: of the one run without noise, or its expectation over the noise.

_NO_MODEL: Final = "the mean of {} over noise is not computed: it is no quantity of the server model alone"


def entries(tape: Tape, problem: Problem) -> int:
    """Return of how many numbers the moments of a tape on a quadratic consist."""
    blocks = blocks_of(problem)
    return blocks * (tape.registers * problem.d // blocks) ** 2


def why_not(metric: Metric, problem: Problem, tape: Tape) -> str:
    """Return '' if :func:`left_side` can be computed, on a quadratic where there is noise, else why not."""
    if problem.noiseless:
        return ""
    if not of_models(metric):
        return _NO_MODEL.format(metric.id)
    if not metric.from_expectations:
        return f"{metric.id} is not a mean of recorded quantities"
    if problem.quadratic() is None:
        return f"problem {problem.id} with noise: the expectation given a schedule needs a quadratic"
    if entries(tape, problem) > LARGEST_MOMENTS:
        return f"the noise in {tape.registers} registers and {problem.d} dimensions has too many coefficients"
    return ""


def left_side(metric: Metric, problem: Problem, tape: Tape, ks: Ints, *, compiled: bool = False) -> Enclosure:
    """Return the left side at the sorted horizons ``ks``, shape (points,), and between which ends it is proved to lie.

    Parameters
    ----------
    tape
        With the records that the metric asks for at ``ks``.
    compiled
        Whether machine code is to run it.

    Raises
    ------
    UndecidedError
        If rounding could decide at a kink, or products of four of the data leave floats: they are too small, or large.
    SpecError
        If the noise is neither on quadratics nor of mini-batches, the coordinates that these mix are too many, or the
        metric is not a mean of recorded quantities: then moments of the records do not tell its expectation.
    AssumptionError
        If a step is implicit and the gradients are noisy.
    """
    if problem.noiseless:
        return iterates.along(metric, problem, tape, problem.full_gradients(), ks, compiled=compiled)
    if not of_models(metric):
        raise SpecError(_NO_MODEL.format(metric.id))
    if not metric.from_expectations:
        raise SpecError(f"moments need a left side that is a mean of recorded quantities, which {metric.id} is not")
    return along(problem, tape, metric, ks)


def along(problem: Problem, tape: Tape, metric: Metric, ks: Ints) -> Enclosure:
    """Return E[metric | tape] at the sorted horizons ``ks``, shape (points,), over additive noise or mini-batches.

    Raises as :func:`left_side`.
    """
    where, hessian, off = quadratic_in_floats(problem)
    read = enclosing(problem, metric, hessian, off)
    schedule = Schedule(tape, own_numbers(tape), where.one)
    with np.errstate(over="ignore", invalid="ignore"):
        seen = _along(schedule, where, float, lambda _, one: read(one.second(), one.second(off=True)), math.inf)
    return Enclosure.of_means(folded(metric, ks, seen), len(seen))


Look: TypeAlias = Callable[[int, Recursion[Any]], Any]


def _along(
    schedule: Schedule[Any], where: BlockQuadratic, share: Callable[[Any], Any], look: Look, largest: float
) -> list[Any]:
    moments = Recursion(schedule, schedule.initial, where, share, shown=schedule.sum)
    return _followed(moments, sum(schedule.shown) - 1, look, largest, begins=schedule.shown[0])


def _followed(moments: Recursion[Any], last: int, look: Look, largest: float, *, begins: bool = True) -> list[Any]:
    """Return what ``look`` makes of the moments after 0, 1, … iterations, as far as that is not None.

    Parameters
    ----------
    begins
        Whether number 0 is there before the first event; else the first iteration that ends is it.
    """
    seen, k, ends = [], -1, begins
    while True:
        k += ends
        if ends and (found := look(k, moments)) is not None:
            seen.append(found)
        if k >= last:
            return seen
        ends = moments.advance()
        _require_room(moments, largest)


def _moments(
    k: int,
    found: Recursion[Scalar],
    register: int,
    model: RationalProblem,
    hessian: Array,
    metric: Metric,
    added: int | None,
) -> Moments:
    best = model.minimum()
    assert best is not None  # noqa: S101  (asked before)
    both = found.of([register] if added is None else [register, added])
    x, rest = slice(1, 1 + found.e), slice(1 + found.e, None)
    mean, second, square = both[0, 0, x] + exact_array(best.x), both[:, x, x], both[:, rest, rest]
    sums, average = None, None
    if added is not None:
        sums = _trace(both[:, x, rest]), _trace(square)
        average = metric.of_second_moment(hessian, square / numbers.rational(k**2)) if k else None
    at_model = metric.of_second_moment(hessian, second)
    return Moments(k, tuple(mean.tolist()), _trace(second), at_model, sums, average)


def _trace(second: Array) -> Scalar:
    return np.einsum("cii->", second)


def _scales(arithmetic: Arithmetic[Number], metric: Metric, ks: Ints) -> dict[int, Number]:
    """Return the iterations that a metric looks at, and by what it divides second moments there."""
    weights, add = metric.over.weights, metric.over.averages_iterates
    squares_of = {k: weights.total(k) ** 2 if add else Fraction(1) for k in metric.records(ks).at(int(ks[-1])).tolist()}
    return {k: arithmetic.number(Recipe(square, square)) for k, square in squares_of.items()}


def _over_events(
    arithmetic: Arithmetic[Number],
    law: EventLaw[Any],
    where: BlockQuadratic,
    share: Callable[[Any], Any],
    metric: Metric,
) -> tuple[Lowering[Number], Recursion[Number]]:
    """Return all that can happen at an event, and the moments before the first one."""
    average = metric.over.averages_iterates
    lowering = Lowering(arithmetic, law, (), average=average, weights=metric.over.weights, point=metric.shows)
    relative = lowering.sum if average else -1
    return lowering, Recursion(lowering, lowering.initial, where, share, shown=lowering.shown, relative=relative)


def state_space(
    model: RationalProblem, arithmetic: Arithmetic[Scalar], law: EventLaw[Any], metric: Metric, most: int
) -> tuple[int, int]:
    """Return how many control states there are over all time, and of how many numbers the moments consist.

    What an iteration makes of these numbers is one linear map: by Cayley and Hamilton all that is linear in them obeys
    a recursion of that order.

    Raises
    ------
    SpecError
        If an iteration depends on how many came before, or there are more than ``most`` control states.
    """
    where, _ = quadratic_in_exact_numbers(model, None)
    lowering, moments = _over_events(arithmetic, law, where, numbers.rational, metric)
    controls = lowering.controls(most)
    return controls, controls * len(where.x0) * moments.size * (moments.size + 1) // 2


def _require_room(moments: Recursion[Any], largest: float) -> None:
    if moments.entries > largest:
        raise InexactError("exact moments of so many clients, coordinates and iterations would take too long")
    if len(moments.states) * moments.size**2 > LARGEST_MOMENTS:
        raise SpecError(
            f"moments of {len(moments.states)} control states with {moments.size - 1} coordinates of registers each "
            "are too many; take fewer clients"
        )
