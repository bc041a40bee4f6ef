"""Composite objectives F = f + h: the clients of any problem, and a simple convex h in proximal steps."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np
from numpy.typing import NDArray

from boundlab.arithmetic import numbers
from boundlab.arithmetic.near import NEAR, Near, norm, sqrt, strayed
from boundlab.arithmetic.numbers import EXACT, InexactError, Scalar, exact_array, fractions
from boundlab.arithmetic.problem import Constants, Minimum, RationalProblem, Vector
from boundlab.arithmetic.writing import Sentence, words
from boundlab.errors import CertificateError, SpecError
from boundlab.objective import (
    EPS,
    OF_OBJECTIVE,
    Array,
    Constant,
    Floats,
    FullGradients,
    GradientsOnSet,
    LeastSquaresForm,
    Optimum,
    Oracle,
    Problem,
    SameObjective,
    StepBounds,
    Wrapped,
    WrappedOracle,
    against_mean,
    alike,
)
from boundlab.objective._wrapped import WrappedRational, answered_by
from boundlab.objective.confinement import InvariantSet
from boundlab.objective.facts import SoughtMinimiser, of_start
from boundlab.objective.simple import BallIndicator, BoundedSet, ProxFunction
from boundlab.randomness import Ints, Streams

# Minimise f + h, with a certificate that rounding cannot break.
#
# A subgradient v of F at a point p says F(p) − F* ≤ ‖v‖²/(2μ) and ‖p − x*‖ ≤ ‖v‖/μ where f is μ-strongly convex.
# Without μ, f(y) ≥ f(p) + ⟨∇f(p), y − p⟩ gives F* from below, for all that is left is a maximum over the y where h is
# not too large: Fenchel's dual value (:meth:`boundlab.objective.simple.ProxFunction.duality_gap`). Where line and h
# together grow in all directions at a rate that rounding cannot explain, p is x* itself
# (:meth:`boundlab.objective.simple.ProxFunction.sharpness`).
#
# Least squares have more: their minimiser is found to the last digits (:func:`polished`), and Fenchel's dual is
# evaluated in balls (:func:`interval`).

# Least squares plus h: from a point near the minimiser to the minimiser, as exactly as floats allow.
#
# First-order methods stand still where the data are badly scaled. Here h decides what is left to solve: on a box and
# with ‖x‖₁ one system of equations for the coordinates that may move, whose set is changed one by one until nothing
# pulls (Lee, Battle, Raina and Ng 2006 for ‖x‖₁); on a ball one equation for the multiplier.

_WORK: Final = 2e9  # multiplications of all decompositions
_REFINED = 3
_TURNS: Final = 50  # for each coordinate
_FAR: Final = 1e12
_IN_RANGE: Final = 1e-6  # a slope that is no combination of the singular vectors but for this part of it


def polished(form: LeastSquaresForm, h: ProxFunction, start: Floats) -> Floats:
    """Return a point whose F is no larger but for rounding; at best the minimiser next to it, shape (d,).

    Parameters
    ----------
    start
        A result of h's proximal map, shape (d,).
    """
    n, d = len(form.rows), len(start)
    roots = [np.sqrt(w / (n * len(rows))) for w, rows in zip(form.weights, form.rows, strict=True)]
    ridge = np.sqrt(form.nu * float(form.weights.mean()))
    B = np.vstack([*(root * rows for root, rows in zip(roots, form.rows, strict=True)), ridge * np.eye(d)])
    c = np.concatenate([*(root * one for root, one in zip(roots, form.targets, strict=True)), np.zeros(d)])
    if float(len(B)) * d * d > _WORK or not np.isfinite(B).all():
        return start
    if isinstance(h, BallIndicator):
        return _on_ball(B, c, float(h.radius))
    return start if h.piece(start) is None else _on_pieces(B, c, h, start)


def _on_ball(B: Floats, c: Floats, radius: float) -> Floats:
    """Return argmin ‖Bx − c‖ over ‖x‖ ≤ radius: (BᵀB + λI)x = Bᵀc, with λ from the norm of x."""
    from scipy.optimize import brentq

    U, s, Vt = np.linalg.svd(B, full_matrices=False)
    kept = s > s[0] * max(B.shape) * EPS
    s, along, Vt = s[kept], (U.T @ c)[kept], Vt[kept]

    def at(multiplier: float) -> Floats:
        out: Floats = s * along / (s * s + multiplier)
        return out

    found = at(0.0)
    if float(np.linalg.norm(found)) > radius:
        most = float(np.linalg.norm(s * along)) / radius
        found = at(float(brentq(lambda one: float(np.linalg.norm(at(one))) - radius, 0.0, most, xtol=1e-300)))
    x: Floats = found @ Vt
    norm = float(np.linalg.norm(x))
    return x * (radius / norm * (1.0 - 4.0 * EPS)) if norm > radius else x


def _on_pieces(B: Floats, c: Floats, h: ProxFunction, start: Floats) -> Floats:
    """Return the minimiser of ½‖Bx − c‖² + h, for an h that is linear in each coordinate between some ends."""
    x, sizes = start.copy(), np.abs(B)
    R: Floats = np.asarray(np.linalg.qr(B, mode="r"))
    work, full = 0.0, 0
    for _ in range(100 + _TURNS * len(x)):
        found = h.piece(x)
        assert found is not None  # noqa: S101  (asked before)
        low, high, rate = found
        free, residual = np.flatnonzero(low < high), B @ x - c
        slope: Floats = B.T @ residual
        if len(free) and full < _REFINED:
            work += len(R) * float(len(free)) ** 2
            if work > _WORK:
                break
            move = _newton(R[:, free], slope[free] + rate[free])
            full = full + 1 if _go(x, free, move, low[free], high[free]) else 0
            continue
        # The coordinates that may move stand where they should: is one to be set free?
        full = 0
        pulls = h.shortest(x, slope)[0].value
        pulls[free] = 0.0
        pulls[np.abs(pulls) <= 16.0 * EPS * (sizes.T @ (np.abs(residual) + sizes @ np.abs(x)))] = 0.0
        if not pulls.any():
            break
        most = int(np.abs(pulls).argmax())
        x[most] = np.nextafter(x[most], -np.inf * pulls[most])
    return x


def _newton(R: Floats, slope: Floats) -> Floats:
    """Return the shortest step to where RᵀRx changes by −slope, or −slope itself where that falls without end."""
    _, s, Vt = np.linalg.svd(R, full_matrices=False)
    kept = s > s[0] * max(R.shape) * EPS
    along = Vt[kept] @ slope
    flat = slope - along @ Vt[kept]
    if float(np.linalg.norm(flat)) > _IN_RANGE * float(np.linalg.norm(slope)) and not kept.all():
        far: Floats = -flat * (_FAR / float(np.linalg.norm(flat)))
        return far
    out: Floats = -(along / s[kept] ** 2) @ Vt[kept]
    return out


def _go(x: Floats, free: Ints, move: Floats, low: Floats, high: Floats) -> bool:
    """Move the free coordinates until one meets an end, and say whether none did."""
    here = x[free]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        room = np.where(move > 0.0, (high - here) / move, np.where(move < 0.0, (low - here) / move, np.inf))
    first = int(room.argmin())
    if room[first] >= 1.0:
        x[free] = np.clip(here + move, low, high)
        return True
    x[free] = np.clip(here + max(float(room[first]), 0.0) * move, low, high)
    x[free[first]] = high[first] if move[first] > 0.0 else low[first]
    return False


# Fenchel's dual of least squares plus h, in balls: an interval around F* that no rounding breaks.
#
# ½e² ≥ u·e − ½u² for every number u, so that for weights ω_j, residuals a_jᵀx − y_j and any u
#
#     F(x) ≥ −Σ_j ω_j·(u_j·y_j + ½u_j²) + ⟨Σ_j ω_j·u_j·a_j, x⟩ + ν/2‖x‖² + h(x)
#
# for all x, and the minimum of the right side over x is known: h and its conjugate are simple. At the residuals of x*
# it is F*. Those of a point near it are shrunk to where the conjugate is finite (Fercoq, Gramfort and Salmon 2015).

_LARGEST: Final = 1_000_000  # entries of the features: a second


def interval(form: LeastSquaresForm, h: ProxFunction, x: Floats) -> tuple[float, float] | None:
    """Return floats below and above F*: the dual value at the residuals of x, and F(x); None for much data.

    Parameters
    ----------
    x
        Shape (d,): in the domain of h but for rounding, which is taken off.
    """
    if sum(rows.size for rows in form.rows) > _LARGEST:
        return None
    with numbers.digits(numbers.START_BITS):
        low, high = _interval(form, h, x)
    return numbers.float_ends(low)[1], numbers.float_ends(high)[2]


def _interval(form: LeastSquaresForm, h: ProxFunction, x: Floats) -> tuple[Any, Any]:
    arb, matrix = numbers.flint().arb, numbers.flint().arb_mat
    n, d = len(form.rows), len(x)
    # A weight other than 1 comes from a share of the samples, and is rounded.
    weights = [arb(1) if one == 1.0 else numbers.near(one, 4.0 * EPS) for one in form.weights.tolist()]
    nu = arb(form.nu) * sum(weights, start=arb(0)) / n
    point = h.prox(np.array([arb(entry) for entry in x.tolist()], dtype=object), arb(0), EXACT)
    column = matrix([[entry] for entry in point])
    linear, square, loss, slope = arb(0), arb(0), arb(0), matrix(1, d)
    for weight, rows, targets in zip(weights, form.rows, form.targets, strict=True):
        features, y = matrix(rows.tolist()), [arb(one) for one in targets.tolist()]
        errors = [found - target for found, target in zip((features * column).entries(), y, strict=True)]
        u = [error.mid() for error in errors]
        factor = weight / (n * len(y))
        linear += factor * sum((one * target for one, target in zip(u, y, strict=True)), start=arb(0))
        square += factor * sum((one * one for one in u), start=arb(0))
        loss += factor * sum((error * error for error in errors), start=arb(0)) / 2
        slope += matrix([u]) * features * factor
    high = loss + nu * sum((entry * entry for entry in point), start=arb(0)) / 2 + h.values(point, EXACT)
    pull = np.array(slope.entries(), dtype=object)
    lows = []
    for share in (arb(1), h.shrink(pull)):
        lowest = h.lowest(share * pull, nu)
        lows.append((lowest - share * linear - share * share * square / 2).lower())
    return max((low for low in lows if low.is_finite()), default=arb("-inf")), high


_ROUNDS = 40_000
_LOOK = 10  # rounds between looks at the residual
_PATIENCE = 100  # looks without a smaller residual
_SMALLER = 0.98


@final
@dataclass(frozen=True, slots=True)
class Minimised:
    """A minimiser of f + h, and ‖∇f(x*)‖ from above, unit (1, −1)."""

    optimum: Optimum
    slope: float


def minimise(f: Problem, h: ProxFunction) -> Minimised:
    """Return the minimiser of f + h by accelerated proximal gradients.

    Raises
    ------
    CertificateError
        If f is not smooth, or its family does not say what rounding does to its values and gradients.
    """
    if (own := _own(f, h)) is not None:
        return own
    constants, x = f.constants(), np.asarray(f.x0, dtype=np.float64).copy()
    met = f.assumptions()
    missing = next((why for name in ("smooth", "convex") if (why := met.get(name, f"{name} is not claimed"))), "")
    if missing or "L" not in constants:
        why = missing or "there is no L"
        raise CertificateError(f"problem {f.id}: f + h is minimised for smooth convex f, and here {why}")
    if f.rounding(x) is None:
        raise CertificateError(f"problem {f.id}: {_unknown_rounding(f)}, so that f + h has no certificate")
    L = max(constants["L"].value, float(np.finfo(np.float64).tiny))
    points, form = [_descend(f, h, x, 1.0 / L)], f.least_squares()
    if form is not None:
        points.append(polished(form, h, points[0]))
    return min((_certify(f, h, p, L, form) for p in points), key=lambda found: found.optimum.gap)


def _own(f: Problem, h: ProxFunction) -> Minimised | None:
    """Return the minimiser of f where it surely lies within the set whose indicator h is: there it is that of F, too.

    Its gradient vanishes where f is smooth, and no step of a solver is needed.
    """
    try:
        best = f.optimum() if h.bounded and f.assumptions().get("minimiser", "unsaid") == "" else None
    except CertificateError:
        return None
    if best is None or best.distance is None or f.assumptions().get("smooth", "unsaid"):
        return None
    x = np.asarray(best.x, dtype=np.float64)
    return Minimised(best, 0.0) if h.holds_ball(x, best.distance) else None


def _unknown_rounding(f: Problem) -> str:
    if f.dtype is not np.float64:
        return "dtype=float32 rounds values and gradients by nobody knows how much (set dtype=float64)"
    return "it does not say how far rounding puts its values and gradients off (Problem.rounding)"


def _descend(f: Problem, h: ProxFunction, x: Floats, size: float) -> Floats:
    """Return the result of a proximal map with the smallest residual.

    Source: Beck and Teboulle 2009 (FISTA), restarted where the momentum points up (O'Donoghue and Candès 2015).
    """
    y, t, best, least, waited = x.copy(), 1.0, x, np.inf, 0
    for turn in range(_ROUNDS):
        new = h.prox(y - size * f.full_gradient(y), size)
        if float((y - new) @ (new - x)) > 0.0:
            y, t = new.copy(), 1.0
        else:
            after = (1.0 + np.sqrt(1.0 + 4.0 * t * t)) / 2.0
            y, t = new + (t - 1.0) / after * (new - x), after
        x = new
        if turn % _LOOK:
            continue
        slope = f.full_gradient(x)
        residual = float(np.linalg.norm(h.shortest(x, slope)[0].value))
        waited = 0 if residual < _SMALLER * least else waited + 1
        if residual < least:
            best, least = x, residual
        found = f.rounding(x)
        if waited > _PATIENCE or (found is not None and residual <= found[1]):
            break
    return best


def _certify(f: Problem, h: ProxFunction, p: Floats, L: float, form: LeastSquaresForm | None) -> Minimised:
    """Return the point with the better of the two certificates."""
    found = f.rounding(p)
    assert found is not None  # noqa: S101  (asked before)
    slope, error = f.full_gradient(p), found[1]
    steep, value = norm(slope), f.value(p) + h.value(p)
    off = float(strayed(value, Near(f.value(p), found[0]) + h.near(p)))
    start, bounds = np.asarray(f.x0, dtype=np.float64), f.constants()
    mu = bounds["mu"].value if "mu" in bounds else 0.0
    gap, distance, how = np.inf, None, "accelerated proximal gradient, Fenchel's dual"
    if h.bounded:  # h(y) ≤ 0 wherever it is finite, whether or not f is bounded below
        gap = float((h.duality_gap(p, slope, error, 0.0) + Near(off)).upper)
    elif "F0" in bounds:
        at_start = f.rounding(start)
        assert at_start is not None  # noqa: S101
        lowest = Near(f.value(start), at_start[0]) - bounds["F0"].value
        reach = float(NEAR.positive(value + Near(off) - lowest).upper)
        gap = float((h.duality_gap(p, slope, error, reach) + Near(off)).upper)
    if mu > 0.0:
        v, away = h.shortest(p, slope)
        residual = norm(v) + error + L * Near(away)
        # h allows the point at a distance of ``away``; what f changes by until there is counted.
        strong = float((residual**2 / (2.0 * mu) + (steep + error + L * Near(away)) * away + off).upper)
        distance = float((residual / mu + away).upper)
        if strong <= gap:
            gap, how = strong, "accelerated proximal gradient, ‖∂F‖/mu"
    if form is not None and (ends := interval(form, h, p)) is not None:
        between = float(np.nextafter(max(ends[1], value) - min(ends[0], value), np.inf))
        if between <= gap:
            gap, how = between, "active set, Fenchel's dual in balls"
            if mu > 0.0:  # a smaller distance than the gradient's is kept
                by_gap = float((sqrt(2.0 * Near(gap) / mu) + away).upper)
                distance = by_gap if distance is None else min(distance, by_gap)
    if h.sharpness(p, slope) > error:
        gap, distance, how = off, 0.0, "a corner: F grows at a certified rate"
    if not np.isfinite(gap):
        raise CertificateError(f"problem {f.id}: f has no lower bound, so that nothing certifies a minimum of f + h")
    # ‖∇f(p) − ∇f(x*)‖² ≤ 2L·(F(p) − F*): f is smooth, and x* minimises f + h.
    at_best = steep + error + sqrt(2.0 * L * Near(gap))
    return Minimised(Optimum(p, value, gap, distance, how), float(at_best.upper))


# Any problem with a simple convex h beside its f.


if TYPE_CHECKING:
    import torch

    from boundlab.arithmetic.compiled import Clients
    from boundlab.arithmetic.problem import RationalProblem
    from boundlab.arithmetic.tensors import Batched


@final
@dataclass(frozen=True, eq=False)
class Composite(SoughtMinimiser, Wrapped):
    """F = f + h with f of another problem. A local step of client i is x ← prox_{α·h}(x − α·g_i(x)).

    Whoever makes steps by an oracle, by :meth:`descend`, on tensors or in rational numbers makes them so. F has no
    gradient: who asks for one, to make steps of it or to measure it, is refused.

    Parameters
    ----------
    inner
        Whose f_i they are.
    h
        The simple part.
    on_set
        Whether the constants of the f_i are those on the bounded set whose indicator h is, see :meth:`on_domain`.
    along_mean
        Whether a step of any client is x ← prox_{α·h}(x − α·(1/n) Σ_i ∇f_i(x)), see :attr:`of_mean`.

    Raises
    ------
    SpecError
        If h is infinite at x0, or its numbers are no h any more as floats.
    """

    inner: Problem
    h: ProxFunction
    on_set: bool = False
    along_mean: bool = False

    def __post_init__(self) -> None:
        if not np.isfinite(self._in_floats.value(self.x0)):
            raise SpecError(f"problem {self.id}: x0 lies outside {self.h.words}; choose an x0 inside")

    @property
    def simple(self) -> ProxFunction:
        """Return h."""
        return self.h

    @property
    def gradient_part(self) -> Problem:
        """Return f."""
        return self.inner

    # -------------------------------------------------------------------------------------------- values and steps

    def value(self, x: Array) -> float:
        """Return F(x), unit (1, 0); infinite outside the domain of h."""
        return self.inner.value(x) + self.h.value(x)

    def values(self, X: Array) -> Floats:
        """Return F at each row of X, shape (S,), unit (1, 0)."""
        out: Floats = self.inner.values(X) + self.h.values(X)
        return out

    def client_value(self, client: int, x: Array) -> float:
        """Return f_client(x) + h(x), unit (1, 0)."""
        return self.inner.client_value(client, x) + self.h.value(x)

    def descend(self, client: int, x: Array, step_size: float) -> None:
        """Do x ← prox_{step_size·h}(x − step_size·∇f_client(x)) in place."""
        if self.along_mean:
            x -= step_size * np.mean([self.inner.gradient(i, x) for i in range(self.n)], axis=0)
        else:
            self.inner.descend(client, x, step_size)
        x[:] = self.h.prox(x, step_size)

    def oracle(self, streams: Streams) -> Oracle:
        """Return the clients' oracle with the proximal map of h after each step."""
        inner = self.inner.oracle(streams)
        return FullGradients(self) if isinstance(inner, FullGradients) else _ProximalSteps(inner, self.h, self.id)

    def compiled(self) -> "Clients | None":
        """Return those of the clients' problem, with the proximal map of h."""
        inner = None if self.along_mean else self.inner.compiled()
        return None if inner is None else self._in_floats.compiled(inner)

    def step_bounds(self, client: int) -> StepBounds | None:
        """Return those of f_client, with the proximal map behind."""
        if self.along_mean:
            return self._bounds_of_mean
        found = self.inner.step_bounds(client)
        return None if found is None else replace(found, proximal=True)

    @cached_property
    def _bounds_of_mean(self) -> StepBounds | None:
        """Those of a step along the mean: the worst of all clients', and the n + 1 roundings of a mean."""
        found = [self.inner.step_bounds(client) for client in range(self.n)]
        known = [one for one in found if one is not None and one.doubt is None]
        if len(known) < self.n:
            return None
        mu, L = min(one.mu for one in known), max(one.L for one in known)
        offset, slope = ((self.n + 2) * max(getattr(one, name) for one in known) for name in ("offset", "slope"))
        return StepBounds(mu, L, offset, slope, any(one.kinks for one in known), proximal=True)

    def near_kink(self, client: int, X: Array, room: float) -> NDArray[np.bool_]:
        """Return at which rows of X the gradient of a step may jump within a distance of ``room``, shape (S,)."""
        who = range(self.n) if self.along_mean else [client]
        out: NDArray[np.bool_] = np.any([self.inner.near_kink(one, X, room) for one in who], axis=0)
        return out

    def rounding(self, x: Floats) -> tuple[float, float] | None:
        """Return how far rounding may put F off at x, and the gradient of f."""
        found = self.inner.rounding(x)
        return None if found is None else (float(found[0] + strayed(self.h.value(x), self.h.near(x))), found[1])

    def gradient(self, client: int, x: Array) -> Array:
        """Refuse: F has no gradient.

        Raises
        ------
        AssumptionError
            Always.
        """
        self.h.no_gradient(self.id)

    def gradients(self, client: int, X: Array) -> Array:
        """Refuse, as :meth:`gradient`."""
        self.h.no_gradient(self.id)

    def full_gradient(self, x: Array) -> Floats:
        """Refuse, as :meth:`gradient`."""
        self.h.no_gradient(self.id)

    def prox(self, client: int, x: Array, step_size: float) -> Array:
        """Refuse: the proximal map of f_client + h has no closed form."""
        self.h.no_proximal_step(self.id)

    def tensors(self, device: "torch.device", dtype: "torch.dtype") -> "Batched | None":
        """Return the same on tensors; None where the clients' problem has none."""
        clients = None if self.along_mean else self.inner.tensors(device, dtype)
        if clients is None:
            return None
        from boundlab.objective._tensors import BatchedComposite

        return BatchedComposite(clients, self.h, self.id)

    def rational(self, options: Mapping[str, Any]) -> "RationalProblem | None":
        """Return the same in rational numbers; None where the clients' problem has none."""
        inner = self.inner.rational(options)
        if inner is None:
            return None
        from boundlab.objective.composite import RationalComposite

        h = self.h if options else self._in_floats
        near = None if self._best is None else self._best.x.astype(np.float64)
        return RationalComposite(inner, h, near, frozenset(self._there), self.along_mean)

    def scaled(self, factors: Sequence[Fraction]) -> "Composite | None":
        """Return the problem with factor_i·f_i in place of f_i, and the same h."""
        inner = self.inner.scaled(factors)
        return None if inner is None else replace(self, inner=inner)

    @cached_property
    def of_mean(self) -> "Composite":
        """The same problem, every step of which is the proximal step of the mean: textbooks' proximal gradient step.

        Functions and constants are those of the clients. So each f_i is L-smooth, and so is their mean.
        """
        return replace(self, along_mean=True)

    @cached_property
    def _domain(self) -> "Composite":
        return self if self.on_set else replace(self, on_set=True)

    def on_domain(self) -> "Composite | None":
        """Return the same problem with the constants of the f_i on the set whose indicator h is; None: h is no such."""
        return self._domain if self.h.bounded else None

    @cached_property
    def _there(self) -> Mapping[str, Constant]:
        """The constants that the set gives, where they are asked for."""
        return constants_on_set(self.inner, self.h) if self.on_set else {}

    # -------------------------------------------------------------------------------------- minimiser and constants

    @cached_property
    def _in_floats(self) -> ProxFunction:
        """H with the floats that its numbers are rounded to, as f has them."""
        return self.h.in_floats()

    @cached_property
    def _minimised(self) -> Minimised:
        return minimise(self.inner, self._in_floats)

    def _solve(self) -> Optimum:
        """Return the minimiser of F with its certificate."""
        return self._minimised.optimum

    def steepness(self) -> float:
        """Return ‖∇f(x*)‖ and the rate of h, from above."""
        self.optimum()
        return self._minimised.slope + self.h.rate(self.d)

    def _find_constants(self) -> dict[str, Constant]:
        """Return those of the f_i and their gradients, and R and F0 of F."""
        found = {name: one for name, one in self.inner.constants().items() if name not in OF_OBJECTIVE | {"sigma_star"}}
        found |= self._there
        best = self._best
        if best is None:
            return found
        x0 = np.asarray(self.x0, dtype=np.float64)
        rounding = self.rounding(x0)
        assert rounding is not None  # noqa: S101  (there is a minimiser)
        return found | of_start(x0, Near(self.value(x0), rounding[0]), best, None, "F")

    def assumptions(self) -> Mapping[str, str]:
        """Return which assumptions are met: those about the f_i are theirs, the minimiser is that of F."""
        return {
            **self.inner.assumptions(),
            **(assumptions_within(self.inner, self._there, self.h.words) if self.on_set else {}),
            "minimiser": "" if self._best else str(self._attempt),
            "bounded-below": "",
            "sampled-functions": "sigma_star is not known at the minimiser of F",
        }

    def spec(self) -> dict[str, Any]:
        """Return the options that rebuild this problem."""
        return {**self.inner.spec(), **self.h.options()}


@final
@dataclass(slots=True)
class _ProximalSteps(WrappedOracle):
    """Stochastic gradient steps, each followed by the proximal map of h."""

    h: ProxFunction
    who: str

    def step(self, x: Array, client: int, draw: Any, step_size: float) -> None:
        """Do x ← prox_{step_size·h}(x − step_size·g_client(x)) in place."""
        self.inner.step(x, client, draw, step_size)
        x[:] = self.h.prox(x, step_size)

    def implicit_step(self, x: Array, client: int, draw: Any, step_size: float) -> None:
        """Refuse: the proximal map of f_client + h has no closed form."""
        self.h.no_proximal_step(self.who)


# Constants of the f_i on the bounded set whose indicator h is: what grows without end on R^d has a limit there.
#
# A local step ends with the projection, so that a run whose models are means of such results takes all its gradients on
# the set (:meth:`boundlab.algorithms.Algorithm.stays_on_set`). There
#
# - ‖∇f_i(x)‖ ≤ B for all subgradients, so that each f_i is B-Lipschitz: the set is convex;
# - E‖g_i(x)‖² = ‖∇f_i(x)‖² + E‖g_i(x) − ∇f_i(x)‖² ≤ B² + sigma² = G²;
# - ‖∇f_i − ∇f‖ = ‖(1 − 1/n)∇f_i − (1/n)Σ_{k≠i} ∇f_k‖, which the norms limit, if nothing better is known.
#
# Limits on all of R^d are limits on the set, too: the smaller one counts. x0 is taken into the set, where rounding has
# put it outside.


def constants_on_set(f: Problem, h: ProxFunction) -> dict[str, Constant]:
    """Return the constants that a bounded set gives, by symbol: those that f has on R^d alone are not among them."""
    region = h.bounded_set(f.d)
    return {} if region is None else constants_within(f, region.with_point(f.x0), h.words)


def constants_within(f: Problem, region: BoundedSet, words: str) -> dict[str, Constant]:
    """Return the constants that hold on a bounded set with x0, which ``words`` name, and no better ones on R^d."""
    known = f.constants()
    out = {"diameter": Constant(region.diameter, "upper", f"of {words}")}
    found = f.gradients_on(region) or _by_curvature(f, region)
    if found is None:
        return out
    how = f"{found.how}, on {words}"
    B = float(found.norms.max())
    B = min(B, known["B"].value) if "B" in known else B
    limits = {"B": B, "G_sq": float((Near(B) ** 2).upper)}
    if not alike(f):
        apart = against_mean(found.norms)
        apart = apart if found.apart is None else np.minimum(apart, found.apart)
        mean = float(sqrt((Near(apart) ** 2).mean()).upper)
        limits |= {"sigma_g": float(apart.max()), "sigma_g_mean": min(mean, float(apart.max()))}
    else:
        limits |= {"sigma_g": 0.0, "sigma_g_mean": 0.0}
    sigma = known["sigma"].value if "sigma" in known else found.sigma
    if sigma is not None:
        # Without noise G is B, to the last digit.
        limits |= {"G": float(norm([B, sigma]).upper) if sigma else B}
    if "sigma" not in known and found.sigma is not None:
        limits |= {"sigma": found.sigma, "sigma_l": found.sigma}
    better = {name: value for name, value in limits.items() if name not in known or value < known[name].value}
    return out | {name: Constant(value, "upper", how) for name, value in better.items()}


def assumptions_within(f: Problem, there: Mapping[str, Constant], words: str) -> dict[str, str]:
    """Return what a set changes of the answers that f gives on R^d: where a constant has a limit there, it is met."""
    told, known = f.assumptions(), f.constants().keys() | there.keys()
    needs = {
        "bounded-gradients": ("G_sq",),
        "bounded-second-moment": ("G",),
        "bounded-variance": ("sigma",),
        "bounded-heterogeneity": ("sigma_g", "sigma_g_mean"),
    }
    out = {}
    for name, symbols in needs.items():
        met = not told.get(name, "unsaid") or all(one in known for one in symbols)
        out[name] = "" if met else f"nobody has found a limit of it on {words}"
    convex = told.get("convex", "unsaid")
    out["lipschitz"] = convex or ("" if "B" in known else f"nobody has found B on {words}")
    return out


def _by_curvature(f: Problem, region: BoundedSet) -> GradientsOnSet | None:
    """Return ‖∇f_i(x)‖ ≤ ‖∇f_i(z)‖ + L_i·‖x − z‖ with z the centre; None where its rounding is not known."""
    found = [f.step_bounds(client) for client in range(f.n)]
    bounds = [one for one in found if one is not None and not one.kinks and not one.proximal]
    if f.dtype is not np.float64 or f.assumptions().get("smooth", "unsaid") or len(bounds) < f.n:
        return None
    z, size = region.centre, float(norm(region.centre).upper)
    norms = [
        (norm(f.gradient(i, z)) + one.error(z, size) + one.L * Near(region.radius)).upper
        for i, one in enumerate(bounds)
    ]
    return GradientsOnSet(np.array(norms), "the gradient at its centre, and L times its radius")


# A problem on a set that its runs never leave: what grows without end on R^d has a limit along the run.


@final
@answered_by(
    "inner",
    "quadratic",
    "least_squares",
    "confinement",
    "rational",
    "in_balls",
    "tensors",
)
@dataclass(frozen=True, eq=False)
class AlongRun(SameObjective):
    """The same problem, whose B, G, sigma and sigma_g are those on a set that no local step leaves.

    Parameters
    ----------
    inner
        The problem.
    region
        The set; it holds x0.
    limit
        The largest local step that never leaves it, unit (−1, 2).
    words
        What set it is.
    """

    inner: Problem
    region: InvariantSet
    limit: float
    words: str = "the set that no step leaves"

    @property
    def run_limit(self) -> float | None:
        """The largest local step that keeps a run on the set."""
        return self.limit

    @cached_property
    def _there(self) -> dict[str, Constant]:
        region = BoundedSet(*self.region.around())
        return constants_within(self.inner, region.with_point(self.x0), self.words)

    def constants(self) -> Mapping[str, Constant]:
        """Return those of the problem, and those on the set."""
        return {**self.inner.constants(), **self._there}

    def assumptions(self) -> Mapping[str, str]:
        """Return what is met on the set."""
        met = assumptions_within(self.inner, self._there, self.words)
        return {**self.inner.assumptions(), **met}


# A composite objective in rational numbers.


@final
@dataclass(frozen=True)
class RationalComposite(WrappedRational):
    """F = f + h without rounding.

    Parameters
    ----------
    inner
        f.
    h
        The simple part.
    near
        A point near the minimiser of F, shape (d,): it says on which face of h that lies. None: it is not looked for.
    there
        The constants that the problem has on the set of h: those on all of R^d are other numbers.
    along_mean
        Whether every step is along the mean of all gradients.
    """

    inner: RationalProblem
    h: ProxFunction
    near: Floats | None
    there: frozenset[str] = frozenset()
    along_mean: bool = False

    def described(self) -> list[Sentence]:
        """Return the functions of the clients, and what is added to their mean."""
        found = self.inner.described()
        return [*found, words(f"and F = f + h in place of f, with {self.h.words}")] if found else []

    def gradient(self, client: int, x: Vector) -> Vector:
        """Refuse: F has no gradient.

        Raises
        ------
        InexactError
            Always.
        """
        raise InexactError(f"with {self.h.words} there are no gradients, but proximal gradient steps")

    @property
    def gradient_part(self) -> RationalProblem:
        """Return f."""
        return self.inner

    def proximal(self, x: Vector, size: Scalar) -> Vector:
        """Return prox_{size·h}(x)."""
        return np.asarray(self.h.prox(x, size, EXACT))

    def descend(self, client: int, x: Vector, size: Scalar) -> Vector:
        """Return prox_{size·h}(x − size·∇f_client(x)), or with ∇f in place of ∇f_client."""
        if self.along_mean:
            return self.proximal(x - size * self.inner.full_gradient(x), size)
        return self.proximal(self.inner.descend(client, x, size), size)

    def value(self, x: Vector) -> Scalar:
        """Return F(x)."""
        return self.inner.value(x) + self.h.values(x, EXACT)

    @cached_property
    def _minimum(self) -> Minimum | None:
        """The minimiser on the face that floats show, if it is one: −∇f is a subgradient of h there."""
        own = self.inner.minimum()
        candidates = [] if own is None else [exact_array(own.x)]
        piece = None if self.near is None else self.h.piece(self.near, EXACT)
        if piece is not None and (found := self._on(*piece)) is not None:
            candidates.append(found)
        for x in candidates:
            if self.h.holds_at(x, -self.inner.full_gradient(x)):
                return self.at(fractions(x))
        return None

    def _on(self, low: Vector, high: Vector, rates: Vector) -> Vector | None:
        """Return where f + h is stationary on a face; None where it is no corner, and f no quadratic or flat there."""
        x, free = np.where(low == high, low, 0 * rates), np.flatnonzero(low != high)
        if not len(free):
            return np.asarray(x)
        form = self.inner.quadratic()
        if form is None:
            return None
        mean, pull = exact_array(form.mean()), -self.inner.full_gradient(x) - rates
        try:
            x[free] = EXACT.solve(mean[np.ix_(free, free)], pull[free])
        except ZeroDivisionError:
            return None
        return np.asarray(x)

    def minimum(self) -> Minimum | None:
        """Return the minimum of F, where its face is found and f is a quadratic, or h does not matter."""
        return self._minimum

    def constants(self) -> Constants:
        """Return those of the f_i and their gradients, and R and F0 of F."""
        found = {name: one for name, one in self.inner.constants().items() if name not in OF_OBJECTIVE | self.there}
        return found | self.start_constants()
