"""The expectation of a left side over random events and noise by second moments, on quadratics and least squares."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final, NamedTuple, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from boundlab.algorithms import X_S, EventLaw
from boundlab.algorithms.area import AreaParameters
from boundlab.arithmetic import numbers
from boundlab.arithmetic.numbers import InexactError, Scalar, exact_array
from boundlab.arithmetic.problem import Core, RationalProblem, batch_share
from boundlab.arithmetic.rational import Recipe
from boundlab.errors import SpecError, UndecidedError
from boundlab.execute import Numbers, own_numbers
from boundlab.execute.moments import Frame, frame
from boundlab.expectation._cost import LARGEST_MOMENTS
from boundlab.expectation._enumeration import Schedule, folded, register_of
from boundlab.expectation._graph import Arithmetic, Lowering
from boundlab.expectation._recursion import EPS, BlockQuadratic, MinibatchNoise, Off, Passes, Recursion, norm
from boundlab.metrics import Enclosure, Metric, Quantity, squares
from boundlab.objective import Problem
from boundlab.tape import Initial, Tape

# A problem as a quadratic about its minimum, with additive noise or that of mini-batches, for second moments.
#
# In floats it comes with what these are off.

Array = NDArray[Any]
_SMALL: Final = 1e-60
WIDEST: Final = 40  # coordinates that mini-batches may mix: a tensor has the fourth power of entries


def by_batches(problem: Problem) -> bool:
    """Return whether noise comes from mini-batches of least squares."""
    form = problem.least_squares()
    return form is not None and form.batch > 0


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
    sigma = problem.require_quadratic("the moments").sigma
    where = frame(problem).centred()
    g = -(where.A @ where.b[..., None])[..., 0]
    covariance = sigma**2 * where.noise
    off = [
        Off(
            c=(problem.d + 4) * EPS * norm(where.A[:, i]) * norm(where.b[:, i]), covariance=8.0 * EPS * norm(covariance)
        )
        for i in range(problem.n)
    ]
    return BlockQuadratic(Passes(where.A, g, covariance, (), 1.0, off), where.x0, where.star, 1.0), where.mean, 0.0


def _mini_batches(problem: Problem) -> tuple[BlockQuadratic, Array, float]:
    form = problem.least_squares()
    assert form is not None  # noqa: S101  (asked before)
    size = max(float(np.abs(part).max(initial=0.0)) for part in (*form.rows, *form.targets))
    if size and not _SMALL < size < 1.0 / _SMALL:
        raise UndecidedError(f"data of size {size:.3g} leave floats when squared twice; rescale them")
    if problem.d > WIDEST:
        raise SpecError(f"moments under mini-batches take at most {WIDEST} coordinates, got {problem.d}")
    star = np.asarray(problem.optimum().x, dtype=np.float64)
    A, g, batches, off, d = [], [], [], [], problem.d
    for rows, targets, weight in zip(form.rows, form.targets, form.weights.tolist(), strict=True):
        m, residuals = len(rows), rows @ star - targets
        A.append(weight * (rows.T @ rows / m + form.nu * np.eye(problem.d)))
        g.append(weight * (rows.T @ residuals / m + form.nu * star))
        share = weight**2 * batch_share(form, m)
        batches.append(MinibatchNoise(rows, residuals, share))
        size, at = norm(rows[None]), norm(star[None])
        lost = (d + 3) * EPS * (size * at + norm(targets[None]))  # of the residuals
        both = size + norm(residuals[None])
        each = (size * both) ** 2 / m
        off.append(
            Off(
                weight * (m + 6) * EPS * (size * size / m + form.nu * np.sqrt(d)),
                weight * (size * (lost + (m + 6) * EPS * both) / m + 4.0 * EPS * form.nu * at),
                0.0,
                share * ((8 * m + 80) * EPS * each + 4.0 * size * size * both * lost / m),
            )
        )
    zero = np.zeros((1, problem.d, problem.d))
    hessians = np.array(A)[None]
    passes = Passes(hessians, np.array(g)[None], zero, tuple(batches), 1.0, off)
    away = np.asarray(problem.x0, dtype=np.float64) - star
    return BlockQuadratic(passes, away[None], 0.0 * star[None], 1.0), hessians.mean(axis=1), max(one.H for one in off)


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
    star = exact_array(best.x)
    A, g, covariance, batches = _exact_batches(model, star) or _exact_additive(model, star, core)
    one = numbers.rational(1)
    passes = Passes(A[None], g[None], covariance[None], batches, one)
    away = exact_array(model.x0) - star
    return BlockQuadratic(passes, away[None], (star - star)[None], one), A.sum(axis=0)[None] / model.n


def _exact_additive(
    model: RationalProblem, star: Array, core: Core | None
) -> tuple[Array, Array, Array, tuple[MinibatchNoise, ...]]:
    form = model.quadratic() if core is None else core.form
    if form is None:
        raise InexactError("exact moments need `quadratic()`, which this problem does not give")
    A, b = exact_array(form.A), exact_array(form.b)
    g = (A @ (star - b)[..., None])[..., 0]
    return A, g, exact_array(form.covariance()), ()


def _exact_batches(
    model: RationalProblem, star: Array
) -> tuple[Array, Array, Array, tuple[MinibatchNoise, ...]] | None:
    form = model.least_squares()
    if form is None or not form.batch:
        return None
    nu, zero = numbers.rational(form.nu), numbers.rational(0)
    eye = np.full((model.d, model.d), zero)
    A, g, batches = [], [], []
    for own, goals, share in zip(form.rows, form.targets, form.weights, strict=True):
        rows, targets, weight, m = exact_array(own), exact_array(goals), numbers.rational(share), len(own)
        eye[range(model.d), range(model.d)] = nu
        residuals = rows @ star - targets
        A.append(weight * (rows.T @ rows / m + eye))
        g.append(weight * (rows.T @ residuals / m + nu * star))
        batches.append(MinibatchNoise(rows, residuals, weight * weight * numbers.rational(batch_share(form, m))))
    return np.array(A), np.array(g), np.full((model.d, model.d), zero), tuple(batches)


Number = TypeVar("Number")
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
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
    read = enclosing(problem, metric, hessian, off)

    def look(moments: Recursion[float], scale: float) -> Floats:
        if metric.over.at_mean:
            return read(moments.of_mean(), moments.off_mean())
        return read(moments.second() / scale, moments.second(moments.errors) / scale)

    with np.errstate(over="ignore", invalid="ignore"):
        found = _expectations(arithmetic, law, where, float, metric, ks, math.inf, look)
    return Enclosure.of_means(found, len(metric.records(ks).at(int(ks[-1]))))


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
    weight, wrong, heavy = {
        Quantity.DISTANCE: (1.0, 0.0, 1.0),
        Quantity.GAP: (H / 2.0, off / 2.0, float(np.sqrt((H + off) / 2.0))),
        Quantity.SLOPE: (H * H, 2.0 * H * off + off * off, H + off),
    }[metric.quantity]
    wrong += (4 * problem.d * problem.d + 16) * EPS * weight

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
    add = metric.over.averages_iterates

    def watch(k: int, found: Recursion[Scalar]) -> None:
        if told is not None:
            told(_moments(k, found, X_S, model, hessian, metric, len(arithmetic.program.initial) if add else None))

    def look(found: Recursion[Scalar], scale: Scalar) -> Scalar:
        if metric.over.at_mean:
            return metric.of_second_moment(hessian, found.of_mean())
        return metric.of_second_moment(hessian, found.second() / scale if add else found.second())

    return _expectations(arithmetic, law, where, numbers.rational, metric, ks, LARGEST, look, watch)


def given_schedule(
    model: RationalProblem,
    tape: Tape,
    numbers_of: Numbers[Scalar],
    metric: Metric,
    k: int,
    core: Core | None = None,
    told: Callable[[Moments], object] | None = None,
) -> Scalar:
    """Return E[metric | schedule] at the horizon ``k`` over the noise, where that depends on the schedule alone.

    Parameters
    ----------
    tape
        With the records that the metric asks for at ``k``.
    numbers_of
        Those of the tape without rounding, or as balls.
    core
        As above.
    told
        Is told the moments of every record.

    Raises
    ------
    InexactError
        If the problem is no quadratic, or the run is too long for exact numbers.
    """
    where, hessian = quadratic_in_exact_numbers(model, core)
    schedule = Schedule(tape, numbers_of, where.one)

    def look(place: int, moments: Recursion[Scalar]) -> Scalar:
        if told is not None:
            told(_moments(place, moments, schedule.sum, model, hessian, metric, None))
        return metric.of_second_moment(hessian, moments.second())

    seen = _shown(schedule, where, numbers.rational, look, LARGEST)
    return folded(metric, np.array([k]), seen)[0]


def along(problem: Problem, tape: Tape, metric: Metric, ks: Ints) -> Enclosure:
    """Return E[metric | tape] at the sorted horizons ``ks``, shape (points,), over mini-batches of least squares.

    Parameters
    ----------
    tape
        With the records that the metric asks for at ``ks``.

    Raises
    ------
    SpecError
        If the coordinates that mini-batches mix are too many.
    UndecidedError
        If the data are so small, or so large, that products of four of them leave floats.
    """
    where, hessian, off = quadratic_in_floats(problem)
    read = enclosing(problem, metric, hessian, off)
    schedule = Schedule(tape, own_numbers(tape), where.one)
    with np.errstate(over="ignore", invalid="ignore"):
        seen = _shown(
            schedule, where, float, lambda _, found: read(found.second(), found.second(found.errors)), math.inf
        )
    return Enclosure.of_means(folded(metric, ks, seen), len(seen))


def _shown(
    schedule: Schedule[Any],
    where: BlockQuadratic,
    share: Callable[[Any], Any],
    look: Callable[[int, Recursion[Any]], Any],
    largest: float,
) -> list[Any]:
    """Return what ``look`` makes of the moments at each record, the first of which is number 0."""
    moments = Recursion(schedule, schedule.initial, where, share, shown=schedule.sum)
    seen: list[Any] = []
    for place, shown in enumerate(schedule.shown):
        if place:
            moments.advance()
            _require_room(moments, largest)
        if shown:
            seen.append(look(len(seen), moments))
    return seen


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
    mean = found.mean(register)[0] + exact_array(best.x)
    second = found.cross(register, register)
    sums: tuple[Scalar, Scalar] | None = None
    average = None
    if added is not None:
        square = found.cross(added, added)
        sums = _trace(found.cross(register, added)), _trace(square)
        average = metric.of_second_moment(hessian, square / numbers.rational(k**2)) if k else None
    at_model = metric.of_second_moment(hessian, second)
    return Moments(k, tuple(mean.tolist()), _trace(second), at_model, sums, average)


def _trace(second: Array) -> Scalar:
    return np.einsum("cii->", second)


def _expectations(
    arithmetic: Arithmetic[Number],
    law: EventLaw[Any],
    where: BlockQuadratic,
    share: Callable[[Any], Any],
    metric: Metric,
    ks: Ints,
    largest: float,
    look: Callable[[Recursion[Any], Any], Any],
    watch: Callable[[int, Recursion[Any]], None] = lambda _k, _moments: None,
) -> list[Any]:
    average, weights = metric.over.averages_iterates, metric.over.weights
    _, moments = _recursion(arithmetic, law, where, share, metric)
    wanted, last = set(metric.records(ks).at(int(ks[-1])).tolist()), int(ks[-1])
    seen, k = [], 0

    def show() -> None:
        watch(k, moments)
        if k in wanted:
            square = weights.total(k) ** 2
            seen.append(look(moments, arithmetic.number(Recipe(square, square)) if average else where.one))

    show()
    while k < last:
        if moments.advance():
            k += 1
            show()
        _require_room(moments, largest)
    return folded(metric, ks, seen)


def _recursion(
    arithmetic: Arithmetic[Number],
    law: EventLaw[Any],
    where: BlockQuadratic,
    share: Callable[[Any], Any],
    metric: Metric,
) -> tuple[Lowering[Number], Recursion[Number]]:
    """Return all that can happen at an event, and the moments before the first one."""
    average = metric.over.averages_iterates
    lowering = Lowering(arithmetic, law, (), average=average, weights=metric.over.weights)
    shown = lowering.sum if average else register_of(arithmetic.program, metric)
    initial = (*arithmetic.program.initial, *[Initial.ZERO] * average)
    relative = lowering.sum if average else -1
    return lowering, Recursion(lowering, initial, where, share, shown=shown, relative=relative)


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
    lowering, moments = _recursion(arithmetic, law, where, numbers.rational, metric)
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


# M local steps of every client of AREA on quadratics, and how far floats are off, for its second moments.

UNDERFLOW: Final = 1e-290  # more than an event's products that are 0 in floats add up to


class AreaPass(NamedTuple):
    """M local steps: x ← H x + c + noise of covariance V.

    ``both`` is (H_i | c_i), shape (c, 1, n, e, e + 1), ``matrix`` the same, shape (c, n·e, e + 1), ``noise`` is V,
    shape (c, n, e, e), ``groups`` (Σ H_i | Σ c_i)ᵀ over each group, shape (c, e + 1, G·e). ``rounding`` is 8ρ.
    ``error``, four times shape (c, G), or four numbers where that is one, says what β² is in an answer:
    (error₀·β_s + error₁·β_1)² + error₂·E‖x_s‖² + error₃, as a weighted mean over each group.
    """

    both: Floats
    matrix: Floats
    noise: Floats
    groups: Floats
    rounding: float
    error: Any


class AreaPasses:
    """M local steps of every client for any step sizes, from the eigenvalues of the A_i.

    Parameters
    ----------
    variance
        E‖noise‖².
    p
        Sorted probabilities of the clients: those of one probability are a group.
    largest, constant
        The largest step size, and whether all are. Where passes of this size expand, each client is a group.

    Attributes
    ----------
    first
        The first client of each group.
    weights
        Shape (c, n): 1/ω, what β² of a client is multiplied by in the means over groups.
    """

    def __init__(self, where: Frame, M: int, variance: float, p: Floats, largest: float, *, constant: bool) -> None:
        self.where, self.M = where, M
        self.values, self.basis = np.linalg.eigh(where.A)
        self.noise = variance * self._times(self._times(self.basis.swapaxes(2, 3), where.noise[:, None]), self.basis)
        self._sizes = [_norms(one) for one in (where.A, where.b, variance * where.noise[:, None])]
        left = np.abs(1.0 - largest * self.values).max(axis=2)
        expands = left.max() > 1.0 + 1e-9
        self.first: Ints = np.flatnonzero(np.append(True, np.diff(p) > 0.0) | expands)
        self._clients = np.diff(self.first, append=len(p))
        norm = left**M if constant else np.ones_like(left)
        shape = norm + self._spread(norm) / 3.0 + 1e-12
        self.weights = self._spread(shape) / shape

    def mean(self, of_clients: Floats) -> Floats:
        """Return weighted means over groups, along the last axis."""
        return np.asarray(np.add.reduceat(of_clients * self.weights, self.first, axis=-1) / self._clients)

    def _spread(self, of_clients: Floats) -> Floats:
        """Return for each client the mean over its group."""
        return np.repeat(np.add.reduceat(of_clients, self.first, axis=1) / self._clients, self._clients, axis=1)

    def _times(self, a: Floats, b: Floats) -> Floats:
        """Return the products of blocks, which NumPy multiplies one by one."""
        return a * b if self.values.shape[-1] == 1 else a @ b

    def at(self, sizes: Floats) -> list[AreaPass]:
        """Return what M steps of each of these sizes do."""
        size = sizes[:, None, None, None]
        one = 1.0 - size * self.values
        # Powers and Σ_{l<M} (one_j·one_k)^l by the binary digits of M; for j = k from sums of like signs only.
        power, total = np.ones_like(one), np.zeros((*one.shape, one.shape[-1]))
        for digit in f"{self.M:b}":
            total, power = total + _square(power) * total, power**2
            if digit == "1":
                total, power = total + _square(power), power * one
        turned = self.basis.swapaxes(2, 3)
        H = self._times(self.basis * power[..., None, :], turned)
        c = self.where.b - self._times(H, self.where.b[..., None])[..., 0]
        V = size[..., None] ** 2 * self._times(self._times(self.basis, self.noise * total), turned)
        off = self._off(sizes[:, None])
        norm = np.abs(power).max(axis=3) + off[0][:, None]
        shift = np.sqrt(np.square(c).sum(axis=3)) * (1.0 + 1e-12) + off[1][:, None]
        both = np.concatenate([H, c[..., None]], axis=4)
        m, blocks, n, e, _ = H.shape
        matrix = both.reshape(m, blocks, n * e, e + 1)
        groups = np.add.reduceat(both, self.first, axis=2).transpose(0, 1, 4, 2, 3).reshape(m, blocks, e + 1, -1)
        rounding = (n + 2 * e + 24) * EPS + (off[0][:, None] / np.maximum(norm, 1.0)).max(axis=(1, 2))
        error: Any = self._error(rounding[:, None, None], off[:, :, None], norm, shift)
        error = error.reshape(m, 4).tolist() if blocks * len(self.first) == 1 else error
        parts = both[:, :, None], matrix, V, groups, (8.0 * rounding).tolist(), error
        return [AreaPass(*one) for one in zip(*parts, strict=True)]

    def _off(self, size: Floats) -> Floats:
        """Return how far H, c and V are off for sizes (m, 1), in Frobenius norms of a block, shape (3, m, n)."""
        # An eigensolver finds those of a matrix that is off by about d·EPS of its norm (LAPACK Users' Guide, 4.7), here
        # four times as much; a function of symmetric matrices is as Lipschitz as on the eigenvalues.
        (A, b, N), e, M = self._sizes, self.values.shape[-1], self.M
        growth = np.abs(1.0 - size[..., None, None] * self.values).max(axis=(1, 3))
        power = np.maximum(growth, 1.0) ** M * (1.0 + 1e-9)
        steep = M * EPS * (8.0 * e * abs(size) * A + 4.0 * (1.0 + abs(size) * A))
        H = power * (steep + 16.0 * EPS * e**1.5)
        c = b * (H + (e + 4) * EPS * (1.0 + power * e**0.5))
        V = size**2 * N * M * power**2 * (64.0 * EPS * e**1.5 + 4.0 * steep + 8.0 * M * EPS)
        return np.array([H, c, V])

    def _error(self, rounding: Floats, off: Floats, norm: Floats, shift: Floats) -> Floats:
        """Return ``AreaPass.error``, shape (m, 4, c, parts)."""
        e = self.values.shape[-1]
        of_x = 16.0 * rounding * np.square(e**0.5 * norm + off[0] / rounding)
        of_one = 24.0 * rounding * np.square(shift + off[1] / rounding) + off[2] + UNDERFLOW
        # m² is at most what floats find and (e + 1)β² more.
        each = np.stack([np.square(norm) + (e + 1) * of_x, np.square(shift), of_x, of_one], axis=1)
        mean = self.mean(each)
        mean[:, :2] = np.sqrt(mean[:, :2])
        return np.asarray(mean * (1.0 + 16.0 * rounding[:, None]))


def _norms(blocks: Floats) -> Floats:
    """Return for each client the largest Frobenius norm of a block, from above, shape (n,)."""
    each = np.square(blocks).sum(axis=tuple(range(2, blocks.ndim)))
    return np.asarray(np.sqrt(each).max(axis=0) * (1.0 + 1e-12))


def _square(a: Floats) -> Floats:
    """Return the products of the entries along the last axis, shape (…, e, e)."""
    out: Floats = a[..., :, None] * a[..., None, :]
    return out


# The exact mean and second moment of AREA on quadratics, over independent events and additive noise.
#
# All states are taken relative to x*. Client i's answer is n_i = H_i x_s + c_i + noise with H_i = (I − αA_i)^M and
# c_i = (I − H_i)(b_i − x*); when it arrives, y_i ← x_i ← n_i, and an aggregation is x_s ← mean(y): second moments
# follow
# a linear recursion. Where all A_i commute, coordinates in their common basis do not mix and each has its own.
#
# Second moments of two clients are not followed one by one: clients that arrive equally often form a group, and
# E x_i(Σ x_j)ᵀ over the *other* clients j of a group obeys a recursion as E x_i x_jᵀ does, since p_j is one number
# there.
# Of client i with itself three moments are followed besides. So G groups take about 4nG numbers. All matrices are
# written
# in place, and an event takes few calls, which is what it costs where n is small.
#
# What floats lose
# ----------------
# Let each register a of (1, x_s, x_i, y_i, Σ x_s) have a number β_a so that what floats give for E a bᵀ is off by at
# most β_a·β_b in the Frobenius norm, and for sums over clients by the sum of that. An event keeps this with β'_a² = E
# β²
# of what a becomes: ‖H_i‖β_s + ‖c_i‖β_1 for an answer, the mean for a mean, the sum for a sum. For E a bᵀ becomes the
# mean over what can happen of E (new a)(new b)ᵀ, all of it linear, and E(β_new a·β_new b) ≤ β'_a·β'_b by Cauchy and
# Schwarz.
#
# An event's own rounding is at most ρ times the absolute values of what is added up, if ρ is at least EPS times the
# number of additions. With m_a² ≥ E‖a‖² in the place of β² that is by the same inequality at most η_a·η_b with η_a² =
# 2ρ(m_a² + p·m² of what a may become), and β'_a² grows by η_a². That H_i is off by δ adds δ/ρ to ‖H_i‖ there, and so
# for
# c_i. What client i takes away from a sum with itself in it loses up to 4ρ·p·m_i·m_n however small the others of its
# group are. Then the others stand for it: some constant in all their η² makes the product large enough, and it is at
# most
# a quarter of their mean if 2 becomes 4, since g clients of probability p each have g·p ≤ 1 and the largest of g
# numbers
# is at most g times their mean. So 8ρ(m_a² + …) is enough.
#
# Of β² of a group's x_i and y_i only a weighted mean is followed, with root mean squares of ‖H_i‖ and ‖c_i‖ so
# weighted,
# by Minkowski's inequality: (mean β)² ≤ mean(β²/ω) if mean ω = 1. Where ω_i is about ‖H_i‖, errors shrink as their mean
# does, not as its root mean square. For ω_i in proportion to ‖H_i‖ + mean‖H‖/3, as for constant steps, max ω·mean(1/ω)
# is
# at most 4(g − 1)²: 4 for g = 2, and at most 3g + 1. So what stands for client i is at most all of the mean in place of
# a
# quarter, and 4 becomes 8. For other steps ω is 1. Where a pass expands every client is a group by itself, since the
# growth of one need not be that of all.

_BATCH = 10_000  # entries of passes that are made at a time: they stay in the cache


def expectation(
    problem: Problem,
    parameters: AreaParameters,
    law: EventLaw[float],
    sigma: float,
    metric: Metric,
    ks: NDArray[np.int64],
) -> Enclosure:
    """Return E metric after each of ``ks`` iterations, shape (points,)."""
    where = frame(problem).centred()
    last = int(ks.max())
    moments = _Moments(where, parameters, law, sigma**2, last, average=metric.over.averages_iterates)
    errors = _Errors(moments)
    read = enclosing(problem, metric, where.mean, 0.0)
    found = {} if moments.average else {0: read(moments.ss, errors.second(0))}
    wanted = set(ks.tolist())
    with np.errstate(over="ignore", invalid="ignore"):
        for event in range(last):
            turn, answer = moments.turn(event), moments.pass_at(parameters.answers_with(event))
            errors.advance(turn, answer)
            moments.advance(turn, answer)
            if event + 1 in wanted:
                found[event + 1] = read(moments.second(event + 1), errors.second(event + 1))
    return Enclosure.of_means([found[k] for k in ks.tolist()], 1)


class _Chances(NamedTuple):
    """Probabilities at an event, p of each group and p_s, and what moments are multiplied by.

    ``own`` and ``stay``, shape (n, 1, 1), are p_i and 1 − p_i; ``keep``, ``rows`` and ``columns`` lie over parts of the
    table of :class:`_Moments`.
    """

    p: Floats
    p_s: float
    own: Floats
    stay: Floats
    keep: Floats
    rows: Floats
    columns: Floats


@final
class _OwnMoments:
    """Moments of one client's n, x, y with each other, ``table`` of shape (c, 3, 3, n, e, e); those of n are made anew.

    ``taken``, shape (c, 2, 2, n, e, e): what sums with the client itself in them would add to (x, y) against (X, Y).
    """

    def __init__(self, c: int, n: int, e: int) -> None:
        table = self.table = np.zeros((c, 3, 3, n, e, e))
        self._answers, self._squares, self.to_y = table[:, 0], table[:, 0, 0], table[:, 1:, 2]
        self._forward, self._turned = table[:, 0, 1:], table[:, 0, 1:].swapaxes(3, 4)
        self._back, self._before, self.state = table[:, 1:, 0], table[:, :2, :2], table[:, 1:, 1:]
        taken = self.taken = np.zeros((c, 2, 2, n, e, e))
        self._of_x, self._of_y, self._turned_y = taken[:, 0], taken[:, 1, 0], taken[:, 0, 1].swapaxes(2, 3)
        self._twice, self._turned_x = taken[:, 0, 0], taken[:, 0, 0].swapaxes(2, 3)

    def answer(self, both: Floats, with_server: Floats, noise: Floats) -> None:
        """Set the moments of the answers, from E (s, 1)(n, x, y)ᵀ, shape (c, 3, n, e + 1, e)."""
        np.matmul(both, with_server, out=self._answers)
        self._squares += noise
        self._back[...] = self._turned

    def take(self, p: Floats) -> Floats:
        """Return ``taken`` where clients of probabilities p are among the clients of sums."""
        np.multiply(self._forward, p, out=self._of_x)
        self._of_y[...] = self._turned_y
        self._twice += self._turned_x
        return self.taken

    def advance(self, p: Floats, stay: Floats) -> None:
        """Do y ← x ← n with probability p."""
        np.add(self.state * stay, self._before * p, out=self.state)


@final
class _Moments:
    """First and second moments of s = x_s, of x_i, y_i, and of t = Σ x_s,j.

    ``_table`` has rows n_1 … n_n, x_1 … x_n, y_1 … y_n and, for averages, t, and columns N_1 … N_G, X_1 … X_G,
    Y_1 … Y_G, s, 1: E of their product; capitals are sums over a group's other clients, and over all of it for t. n_i
    is what the answer would be. ``_top`` has rows s, 1 and the columns from X_1 on, over all clients.
    """

    def __init__(
        self, where: Frame, parameters: AreaParameters, law: EventLaw[float], variance: float, last: int, average: bool
    ) -> None:
        self.parameters, self.average, self._last = parameters, average, last
        order = np.argsort(law.p, kind="stable")
        self._p, self._p_s = law.p[order], law.p_s
        where = replace(where, A=where.A[:, order], b=where.b[:, order])
        largest = float(parameters.step.at(np.array(0)))
        self._passes = AreaPasses(where, parameters.M, variance, self._p, largest, constant=parameters.step.d is None)
        self.c, self.n, self.e = c, n, e = where.b.shape
        first = self.first = self._passes.first
        self.sizes, self.weights = np.diff(first, append=n), self._passes.weights
        self.mean_weight = self._passes.mean(np.ones((c, n)))
        tall, wide = self._tall, self._wide = n * e, len(first) * e
        self._group = np.repeat(np.arange(len(first)), self.sizes)
        self._ahead: dict[int, AreaPass] = {}
        self._turns: dict[bool, _Chances] = {}
        table = self._table = np.zeros((c, 3 * tall + e * average, 3 * wide + e + 1))
        self.own = _OwnMoments(c, n, e)
        self._top = np.zeros((c, e + 1, 2 * wide + e + 1))
        self._server = self._top[:, :, 2 * wide :]  # E (s, 1)(s, 1)ᵀ
        self.ss, self.tt = self._server[:, :e, :e], np.zeros((c, e, e))
        # Views, made once, since making one takes as long as a small sum
        self._answers, self._sums = table[:, :tall, wide:], table[:, tall:, :wide]
        self._from_rows, self._from_columns = table[:, : 2 * tall, wide:], table[:, tall:, : 2 * wide]
        self._state, self._to_server = table[:, tall:, wide:], table[:, tall:, 3 * wide :]
        self._of_clients, self._to_sums = self._state[:, : 2 * tall], self._state[:, :, : 2 * wide]
        self._of_total, self._of_s = self._state[:, 2 * tall :], self._top[:, :e]
        self._with_y = table[:, tall:, 2 * wide :]
        with_server = table[:, : 3 * tall, 3 * wide :].reshape(c, 3, n, e, e + 1)
        self._with_server, self._turned = with_server[:, 1:], with_server.swapaxes(3, 4)
        self._top_sums = self._top[:, :, : 2 * wide].reshape(c, e + 1, 2, len(first), e).transpose(0, 2, 3, 4, 1)
        self._flat, self._places, self._mine = table.reshape(-1), self._own_places(), table[:0]
        if len(first) == 1:  # then these are all places of X and Y
            sums = table[:, tall : 3 * tall, wide : 3 * wide].reshape(c, 2, n, e, 2, e)
            self._mine = sums.transpose(0, 1, 4, 2, 3, 5)
        # Sums over no other client
        self._alone = self._places[:, :, :, self.sizes[self._group] == 1].ravel()
        self._to_y = np.zeros((c, 2 * tall + e * average, e + 1))  # E z·(n ȳ, n)ᵀ
        self._own_to_y = self._to_y[:, : 2 * tall].reshape(c, 2, n, e, e + 1)[..., :e]
        self._y_to_y, self._new_s = self._to_y[:, tall : 2 * tall], self._server[:, :e]
        self._in_row, self._in_column = self._server[:, e, :e], self._server[:, :e, e]
        # Of columns Y_1 … Y_G, s, 1: n·ȳ and n; of rows y_1 … y_n: ȳ
        self._all = np.zeros((wide + e + 1, e + 1))
        self._all[:wide, :e], self._all[-1, -1] = np.tile(np.eye(e), (len(first), 1)), n
        self._mean = np.tile(np.eye(e) / n, n)
        self._begin(where.x0)

    def _own_places(self) -> Ints:
        """Return where the table has E x_i X_gᵀ, and so on, of i's own group, shape (c, 2, 2, n, e, e)."""
        c, n, e = self.c, self.n, self.e
        rows = self._tall + np.arange(2 * n * e).reshape(2, 1, n, e, 1)
        columns = self._wide * np.arange(1, 3)[:, None, None, None] + e * self._group[:, None, None] + np.arange(e)
        height, width = self._table.shape[1:]
        return np.asarray(height * width * np.arange(c).reshape(c, 1, 1, 1, 1, 1) + width * rows + columns)

    def _begin(self, start: Floats) -> None:
        """Set all moments before the first event; ``start`` is x_s, shape (c, e)."""
        c, n, e = self.c, self.n, self.e
        models = np.repeat(start[:, None], 2 * n, axis=1).reshape(c, 2, n, e)
        if self.parameters.start == "algorithm":
            first = self.pass_at(0)
            models[:, 0] = (first.both[:, 0, ..., :e] @ start[:, None, :, None])[..., 0] + first.both[:, 0, ..., e]
            self.own.state[:, 0, 0] = first.noise
        server = np.concatenate([start, np.ones((c, 1))], axis=1)
        sums = np.add.reduceat(models, self.first, axis=2).reshape(c, 2 * self._wide)
        seen = np.concatenate([sums, server], axis=1)
        self._of_clients[...] = models.reshape(c, -1, 1) * seen[:, None]
        self._server[...] = server[:, :, None] * server[:, None]
        own = models[:, :, None, :, :, None] * models[:, None, :, :, None]
        self.own.state += own
        self._flat[self._places] -= own

    def pass_at(self, k: int) -> AreaPass:
        """Return the pass with α_k; those of constant steps are one, others are made some at a time."""
        constant = self.parameters.step.d is None
        k = 0 if constant else k
        if k not in self._ahead:
            # No event before the last one takes a later step than that of its own number.
            most = 1 if constant else min(_BATCH // self._passes.noise.size, self._last + 1 - k)
            ks = np.arange(k, k + max(1, most))
            self._ahead = dict(zip(ks.tolist(), self._passes.at(self.parameters.step.at(ks)), strict=True))
        return self._ahead[k]

    def second(self, k: int) -> Floats:
        """Return E (x − x*)(x − x*)ᵀ of what a metric sees at iteration k, shape (c, e, e)."""
        return self.tt / k**2 if self.average else self.ss

    def turn(self, event: int) -> _Chances:
        """Return who may act at an event."""
        count = self.parameters.count
        kind = count is not None and (event + 1) % (count + 1) == 0
        if kind not in self._turns:
            if count is None:
                p, p_s = self._p, self._p_s
            else:
                p, p_s = (np.zeros(self.n), 1.0) if kind else (self._p / self._p.sum(), 0.0)
            self._turns[kind] = self._turn(p, p_s)
        return self._turns[kind]

    def _turn(self, p: Floats, p_s: float) -> _Chances:
        e, wide = self.e, self._wide
        rows = np.zeros((self._state.shape[1], 1))
        rows[: 2 * self._tall, 0] = np.tile(np.repeat(p, e), 2)
        columns = np.full(self._state.shape[2], p_s)
        columns[: 2 * wide] = np.tile(np.repeat(p[self.first], e), 2)
        own = p[:, None, None]
        keep = 1.0 - rows - columns
        return _Chances(p[self.first], p_s, own, 1.0 - own, keep, rows[: 2 * self._tall], columns[: 2 * wide])

    def advance(self, turn: _Chances, answer: AreaPass) -> None:
        """Do one event: E over everybody who may act."""
        own, state, to_y = self.own, self._state, self._to_y
        np.add.reduceat(self._with_server, self.first, axis=2, out=self._top_sums)
        if self.average:
            ts = self._of_total[:, :, -1 - self.e : -1]
            self.tt += ts + ts.swapaxes(1, 2) + self.ss
            self._of_total += self._of_s
        # What the answers would be, and their sums
        np.matmul(answer.matrix, self._top, out=self._answers)
        np.matmul(self._to_server, answer.groups, out=self._sums)
        own.answer(answer.both, self._turned, answer.noise)
        np.matmul(self._with_y, self._all, out=to_y)
        self._own_to_y += own.to_y
        to_y *= turn.p_s / self.n
        rows, columns = self._from_rows * turn.rows, self._from_columns * turn.columns
        state *= turn.keep
        self._of_clients += rows
        self._to_sums += columns
        self._to_server += to_y
        if len(self._mine):
            self._mine -= own.take(turn.own)
        elif len(self.first) < self.n:
            self._flat[self._places] -= own.take(turn.own)
        if len(self._alone):
            self._flat[self._alone] = 0.0
        own.advance(turn.own, turn.stay)
        self._new_s *= 1.0 - turn.p_s
        self._new_s += self._mean @ self._y_to_y
        self._in_row[...] = self._in_column


@final
class _Errors:
    """β² of x_s, of 1 and of t, and its means over groups, of x_i and of y_i.

    Shapes (c, 1) and (c, G); numbers where there is one of each, which Python adds up faster.
    """

    def __init__(self, moments: _Moments) -> None:
        self._of, c, n, e = moments, moments.c, moments.n, moments.e
        groups = len(moments.sizes)
        self._plain, self._shares = c * groups == 1, (moments.sizes / n)[:, None]
        mean = np.repeat(np.diag(1.0 / moments.sizes), moments.sizes, axis=0) * moments.weights[..., None]
        self._over, self._ones = np.repeat(mean, e, axis=1), np.ones(e)
        # Diagonals, as views: of own moments of x_i and y_i, of ss and of tt
        self._own = np.einsum("ckknii->ckni", moments.own.table)[:, 1:]
        self._server, self._total = (np.einsum("cii->ci", one) for one in (moments.ss, moments.tt))
        first = moments.pass_at(0)
        at_start = self._traces(self._server)
        self.one: Any = first.rounding
        self.s, self.t = at_start * first.rounding, 0.0 * at_start
        self.x = self.y = self.s * (moments.mean_weight.item() if self._plain else moments.mean_weight)
        if moments.parameters.start == "algorithm":
            norm, shift, of_x, of_one = first.error
            self.x = _squared(norm * self.s**0.5 + shift * self.one**0.5) + 4.0 * (of_x * at_start + of_one)

    def second(self, k: int) -> Floats:
        """Return what E (x − x*)(x − x*)ᵀ of what a metric sees at iteration k is at most off by, shape (c, e, e)."""
        of = self._of
        bound = np.reshape(self.t / k**2 if of.average else self.s, (of.c, 1, 1))
        return np.asarray(bound * np.eye(of.e))

    def advance(self, turn: _Chances, answer: AreaPass) -> None:
        """Do an event that the moments have yet to do."""
        of, rounding, p_s = self._of, answer.rounding, turn.p_s
        p = turn.p.item() if self._plain else turn.p
        norm, shift, of_x, of_one = answer.error
        more = (of.e + 1) * rounding  # what m² is more than floats find, and what this loses itself
        of_s, (x, y) = self._traces(self._server), self._clients()
        root = self.s**0.5
        if of.average:
            of_t = self._traces(self._total)
            self.t = _squared(self.t**0.5 + root) * (1.0 + 2.0 * more) + 2.0 * rounding * (of_t + of_s)
        answers = _squared(norm * root + shift * self.one**0.5) + of_x * of_s + of_one
        mean, of_mean = _squared(self._mean(self.y**0.5)), self._mean(y)
        self.y = (1.0 - p + more) * self.y + p * (1.0 + more) * self.x + rounding * (y + p * x)
        self.x = (1.0 - p + more) * self.x + p * answers + rounding * x
        self.s = (1.0 - p_s + more) * self.s + p_s * (1.0 + 2.0 * more) * mean + rounding * (of_s + p_s * of_mean)
        self.s += UNDERFLOW
        self.one += 2.0 * rounding

    def _traces(self, diagonals: Floats) -> Any:
        """Return the traces of blocks, from shape (c, e)."""
        traces = diagonals @ self._ones
        return traces.item() if self._plain else traces[:, None]

    def _clients(self) -> Any:
        """Return the means over groups of E‖x_i‖² and E‖y_i‖²."""
        of = self._of
        means = (self._own.reshape(of.c, 2, of.n * of.e) @ self._over).swapaxes(0, 1)
        return means.ravel().tolist() if self._plain else means

    def _mean(self, of_groups: Any) -> Any:
        """Return the mean over clients from the means over groups."""
        return of_groups if self._plain else of_groups @ self._shares


def _squared(number: Any) -> Any:
    """Return the square; powers of Python's floats raise where they leave them."""
    return number * number
