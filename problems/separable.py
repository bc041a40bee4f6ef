"""Huber, pseudo-Huber and least absolute deviations: f_i(x) = Σ_j w_ij·φ(x_j − c_ij)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from boundlab.arithmetic.compiled import SEPARABLE, Clients
from boundlab.arithmetic.near import NEAR, Near, distance, norm, norm_up, norms_up, sqrt
from boundlab.arithmetic.numbers import FLOATS, Operations
from boundlab.errors import SpecError
from boundlab.objective import EPS, Array, Constant, Floats, Optimum, ProblemType, Sought, StepBounds, against_mean
from boundlab.objective.confinement import InvariantBall, InvariantBox, InvariantSet, InvariantSets, Pull, plain
from boundlab.objective.facts import alike, of_start, radius
from boundlab.options import Options
from boundlab.problems import clients, common
from boundlab.problems.clients import Coordinates, Kind, ScalarLoss, loss_of
from boundlab.problems.common import (
    check_shape,
    check_size,
    key_of,
    read_array,
    read_drawn,
)
from boundlab.problems.noise import NOISE_OPTIONS, InEveryArithmetic, head_spec, read_head
from boundlab.problems.solvers import bisect, nearest_zero
from boundlab.randomness import Stream, Streams

if TYPE_CHECKING:
    from boundlab.arithmetic.problem import Functions
    from boundlab.objective.confinement import InvariantSets
    from boundlab.problems.rational import RationalSeparable


_COLUMNS = {"huber": 20_000, "lad": 20_000, "pseudo-huber": 1000}  # d: seconds where there are few clients
_LARGEST = 200_000_000  # entries of w and of c: 1.6 GB each
_STEEP = "closed form max‖w_i‖·|slope|"
_AT_THE_END = 1e-9  # how far beyond 2/(ν + L) a step may be
_PART = 32_768  # coordinates whose temporary arrays stay in a processor's second cache
_PAIRS = {"huber": 100_000_000, "lad": 100_000_000, "pseudo-huber": 10_000_000}  # n²·d: seconds


@final
@dataclass(frozen=True, eq=False)
class Separable(InEveryArithmetic):
    """n sums of one-dimensional losses φ around the centres c_i.

    φ(r) is ``huber``: r²/2 for |r| ≤ delta, delta(|r| − delta/2) beyond; ``pseudo-huber``:
    delta²(√(1 + (r/delta)²) − 1); ``lad``: |r| (delta is not read; the subgradient at 0 is 0).

    Parameters
    ----------
    id
        Which φ.
    c
        Shape (n, d), unit (0, 1).
    w
        Shape (n, d), not negative, unit (1, −2), for lad (1, −1).
    delta
        Positive, unit (0, 1).
    x0
        Shape (d,), unit (0, 1).
    """

    id: Kind
    c: Floats
    w: Floats
    delta: float
    x0: Floats

    @property
    def _rows(self) -> Floats:
        return self.c

    @cached_property
    def loss(self) -> ScalarLoss:
        """Return φ."""
        return loss_of(self.id, self.delta)

    @property
    def smooth(self) -> bool:
        """Return whether φ has a Lipschitz derivative."""
        return self.loss.curvature is not None

    def functions(self, by: Operations) -> Coordinates:
        """Return the functions in an arithmetic."""
        return Coordinates(loss_of(self.id, by.array([self.delta])[0]), self.w, self.c, by)

    def descend(self, client: int, x: Array, step_size: float) -> None:
        """Do x ← x − step_size·∇f_client(x) in place, so many coordinates at a time as a cache holds."""
        if len(x) <= _PART:
            super().descend(client, x, step_size)
            return
        for low in range(0, len(x), _PART):
            part = slice(low, low + _PART)
            x[part] -= step_size * (self.w[client, part] * self.loss.slope(x[part] - self.c[client, part], FLOATS))

    def near_kink(self, client: int, X: Array, room: float) -> NDArray[np.bool_]:
        """Return where a coordinate is this near to its centre, shape (S,): |x| alone has a kink."""
        near = self.loss.from_kink(X - self.c[client]) <= room
        return np.asarray((near & (self.w[client] > 0.0)).any(axis=1))

    def scaled(self, factors: Sequence[Fraction]) -> "Separable":
        """Return the problem with weights factor_i·w_i."""
        return replace(self, w=self.w * np.array([[float(factor)] for factor in factors]), source={})

    def client_key(self, client: int) -> bytes:
        """Return c_i and w_i."""
        return key_of(self.c[client], self.w[client])

    def rational(self, options: Mapping[str, Any]) -> "RationalSeparable | None":
        """Return the same problem in rational numbers; None for pseudo-huber, whose roots have none."""
        from boundlab.arithmetic.problem import Reader
        from boundlab.problems.rational import RationalSeparable

        if self.id == "pseudo-huber":
            return None
        read = Reader(options)
        width = None if self.id == "lad" else read.one("delta", self.delta)
        c, w, x0 = read.rows("c", self.c), read.weights("w", self.w), read.vector("x0", self.x0)
        return RationalSeparable(c, w, width, x0, read.one("sigma", self.sigma), read.direction(self.direction))

    def in_balls(self) -> "Functions | None":
        """Return the rational twin, or pseudo-huber's roots in balls."""
        from boundlab.arithmetic.numbers import EXACT, exact_array, fractions
        from boundlab.arithmetic.problem import InBalls

        if self.id != "pseudo-huber":
            return self.rational({})
        return InBalls(self.functions(EXACT), fractions(exact_array(self.x0)), float(self.d**2))

    def confinement(self) -> "InvariantSets | None":
        """Return the box that full (sub)gradient steps do not leave; noise may leave every set."""
        if self.sigma > 0.0:
            return None
        return OfSeparable(self.c, self.w, self.x0, self.loss.width, self._constants["B"].value)

    def compiled(self) -> Clients:
        """Return weights and centres."""
        return self._drawing(Clients(SEPARABLE, self.loss.number, float(self.loss.width or 0.0), self.w, self.c))

    def step_bounds(self, client: int) -> StepBounds:
        """Return the curvature, and what the rounding of x − c_ij and of its slope does; none moves a sign."""
        w, c = self.w[client], self.c[client]
        if not self.smooth:
            return StepBounds(0.0, 0.0, 4.0 * EPS * float(np.linalg.norm(w)), 0.0, kinks=True)
        heaviest = float(w.max())
        return StepBounds(0.0, heaviest, 16.0 * EPS * float(np.linalg.norm(w * c)), 16.0 * EPS * heaviest)

    def _solve(self) -> Optimum:
        """Find the minimiser: weighted median, piecewise-linear root or bracket."""
        bracketed = self.id == "pseudo-huber"
        x, away = self._brackets() if bracketed else self._exactly()
        # Convexity: f(x) − f* ≤ ⟨g, x − x*⟩ for a subgradient g at x; then the rounding of f(x) itself.
        below = NEAR.absolute(self.near.full_gradient(Near(x))) @ away if away.any() else Near(0.0)
        gap = below + self.value_rounding(x)
        how = "bisection bracket" if bracketed else "exact arithmetic, the minimiser closest to x0"
        return Optimum(x, self.value(x), float(gap.upper), float(norm(away).upper), how)

    def _exactly(self) -> tuple[Floats, Floats]:
        columns = zip(self.c.T.tolist(), self.w.T.tolist(), self.x0.tolist(), strict=True)
        best = [nearest_zero(c, w, self.loss.width, start) for c, w, start in columns]
        x = [float(one) for one in best]
        return np.array(x), np.array([norm_up([near - one]) for near, one in zip(map(Fraction, x), best, strict=True)])

    def _brackets(self) -> tuple[Floats, Floats]:
        x, away = self.x0.astype(np.float64), np.zeros(self.d)  # where no client has a weight, all points are best
        used = (self.w > 0.0).any(axis=0)
        x[used], away[used] = bisect(self.c[:, used], self.w[:, used], lambda r: self.loss.slope(r, NEAR))
        return x, away

    def gradient_norms_at_optimum(self) -> Floats | None:
        """Return ‖∇f_i(x*)‖ from above, shape (n,), unit (1, −1); None for lad."""
        if not self.smooth:
            return None
        best = self.optimum()
        there = norm(self.near.gradient(slice(None), Near(best.x)))
        return np.asarray((there + self.w.max(axis=1) * Near(best.distance)).upper)

    def _find_constants(self) -> Sought:
        """Return all constants but mu: L for the smooth losses, zeta where their minimisers are unique."""
        steep = float(self.w.max()) if self.smooth else None
        return Sought(
            {
                ("B",): lambda: {"B": Constant(float(self._norms.max()), "upper", _STEEP)},
                ("R",): lambda: {"R": radius(self.x0, self.optimum())},
                ("sigma", "sigma_l"): lambda: common.noise(self._noise),
                ("G_sq", "G"): lambda: common.additive(self._norms, self.sigma, _STEEP),
                ("sigma_g", "sigma_g_mean"): self._heterogeneity,
                ("F0",): lambda: of_start(self.x0, self.near.value(Near(self.x0)), self.optimum(), 0.0, L=steep),
                ("L", "L_sq"): self._smoothness,
                ("zeta",): self._zeta,
            }
        )

    @cached_property
    def _norms(self) -> Floats:
        """How steep each f_i is at most, shape (n,)."""
        return norms_up(self.w, self.loss.steepest)

    def _smoothness(self) -> dict[str, Constant]:
        top = Constant(float(self.w.max()), "exact", "closed form max w_ij")
        return common.smoothness(top) if self.smooth else {}

    def _zeta(self) -> dict[str, Constant]:
        if not self.smooth or not (self.w > 0.0).all():
            return {}
        best = self.optimum()
        away = norm(Near(best.x) - self.c).max()
        return common.of_alike(self, {"zeta": common.zeta(away, best.distance, "closed form max‖x* − c_i‖")})

    def _heterogeneity(self) -> dict[str, Constant]:
        """Return sigma_g and sigma_g_mean: coordinates are independent, so their suprema add up."""
        if alike(self):
            return dict.fromkeys(("sigma_g", "sigma_g_mean"), common.SAME)
        from boundlab.problems.risk import piecewise_columns, smooth_columns

        if self.n**2 * self.d > _PAIRS[self.id] or self.d > _COLUMNS[self.id]:
            away = against_mean(self.w * self.loss.steepest)
            squares, how = (away**2).mean(axis=0), "slopes between ±w_ij·|slope|; the problem is large"
        elif self.id == "pseudo-huber":
            away, squares = smooth_columns(self.c, self.w, self.delta)
            how = "branch and bound, coordinate by coordinate"
        else:
            away, squares = piecewise_columns(self.c, self.w, self.loss.width)
            how = "closed form: suprema at the break points"
        return common.heterogeneity(norm(away), sqrt(Near(squares).sum()), how)

    def assumptions(self) -> Mapping[str, str]:
        """Return which assumptions are met."""
        flat = f"{self.id} grows linearly, it has no mu; try quadratic, or logistic with nu"
        kink = "" if self.smooth else "|x| has a kink; try huber or pseudo-huber"
        return common.met(strongly_convex=flat, smooth=kink)

    def _arrays(self) -> dict[str, Any]:
        width = {} if self.id == "lad" else {"delta": self.delta}
        return {"c": self.c.tolist(), "w": self.w.tolist(), **width}


_OPTIONS = {
    "c": "n×d centres (JSON), or a list with one number a client; default one client at 0",
    "w": "n×d weights (JSON), a list with one number a client, or one number (default 1)",
    "delta": "where the loss turns linear (default 1)",
    "clients": "number of clients n of a generated problem",
    "dimension": "dimension d of a generated problem (default 1)",
    "spread": "standard deviation of the generated centres (default 1)",
    "seed": "seed of the generated centres (default 0)",
    **NOISE_OPTIONS,
    "x0": "start point, a number or a list (default 0, or 1 where every centre is 0)",
}
OPTIONS: dict[str, dict[str, str]] = {
    "huber": _OPTIONS,
    "pseudo-huber": _OPTIONS,
    "lad": {key: text for key, text in _OPTIONS.items() if key != "delta"},
}


def build(kind: Kind, options: Options) -> Separable:
    """Make a separable problem from explicit or generated centres.

    Raises
    ------
    SpecError
        If an option is wrong, the shapes do not fit, or a weight is negative.
    """
    delta = 1.0 if kind == "lad" else options.number("delta", 1.0, above=0.0)
    source: dict[str, Any] = {}
    if options.has("c"):
        c = read_array(options, "c", 2)
    elif any(options.has(key) for key in ("clients", "dimension", "spread", "seed")):
        source = read_drawn(options, 1)
        n, d = source["clients"], source["dimension"]
        check_size(options, n * d, "c", _LARGEST)
        c = source["spread"] * Streams(source["seed"]).normals(Stream.PARTITION, np.arange(n), 2, d)
    else:
        c = np.zeros((1, 1))
    n, d = int(c.shape[0]), int(c.shape[1])
    w = _weights(options, n, d)
    if (w < 0.0).any() or not (w > 0.0).any():
        raise SpecError(f"{options.owner}: the weights w must not be negative, and not all 0; got {w.min():g}")
    head = read_head(options, d, 0.0 if c.any() else 1.0)
    if source:
        source |= head_spec(**head) | {"w": w.tolist()}
        source |= {} if kind == "lad" else {"delta": delta}
    return Separable(kind, c, w, delta, source=source, **head)


def _weights(options: Options, n: int, d: int) -> Floats:
    raw = options.raw("w", 1.0)
    if isinstance(raw, (int, float)) or (isinstance(raw, str) and not raw.startswith(("[", "@"))):
        return np.full((n, d), options.number("w", 1.0, above=0.0))
    w = read_array(options, "w", 2)
    if w.shape != (n, 1):
        check_shape(options, "w", w, (n, d), "n×d", "c")
    return np.repeat(w, d, axis=1) if w.shape[1] < d else w


# Sets that the local steps of the problem families never leave, whatever is drawn; each rule with its proof.


@final
@dataclass(frozen=True, slots=True)
class OfSeparable(InvariantSets):
    """Full (sub)gradient steps on Σ_j w_ij·φ(x_j − c_ij).

    Every coordinate moves by itself, towards c_ij, and passes it by at most o_j: for lad αw_ij; for huber and
    pseudo-huber delta·(αw_ij − 1) if that is positive, because |φ'(r)| ≤ min(|r|, delta) and so
    αw|φ'(r)| − |r| ≤ max over |r| ≤ delta of (αw − 1)|r|, while beyond delta it falls. So the interval from
    min(x0_j, min_i c_ij − o_j) to max(x0_j, max_i c_ij + o_j) keeps its points: a step from x_j ≥ c_ij ends below
    x_j and above c_ij − o_j, and the mirror image. A client of weight 0 does not move.

    Parameters
    ----------
    c, w, x0
        Shapes (n, d), (n, d), (d,).
    delta
        Of huber and pseudo-huber; None for lad.
    slope
        ‖g‖ is at most this.
    """

    c: Floats
    w: Floats
    x0: Floats
    delta: float | None
    slope: float

    def regions(self, step_size: float) -> Sequence[InvariantSet]:
        """Return the box."""
        steep = step_size * Near(self.w.max(axis=0))
        past = steep if self.delta is None else self.delta * NEAR.positive(steep - 1.0)
        used = np.where(self.w > 0.0, self.c, self.x0)
        low = np.minimum(self.x0, (used.min(axis=0) - past).lower)
        high = np.maximum(self.x0, (used.max(axis=0) + past).upper)
        how = "each coordinate moves towards a centre, and passes it by one step at most"
        return [InvariantBox(low, high, how)]

    def steepest(self) -> float | None:
        """Return the largest slope."""
        return self.slope


@final
@dataclass(frozen=True, slots=True)
class OfRisk(InvariantSets):
    """Mini-batch steps, or full ones, on w_i·((1/b)Σ_j loss(a_j; x) + ν/2‖x‖²).

    Write g = w_i(G + νx) with ‖G‖ ≤ s, the largest slope of the loss times the largest ‖a_j‖.

    - If α·w_i·ν ≤ 1, then ‖x − αg‖ ≤ (1 − αw_iν)‖x‖ + αw_i·s ≤ max(‖x‖, s/ν): balls around 0 with a radius of s/ν or
      more keep their points.
    - For a smooth loss the drawn function is w_iν-strongly convex and w_i(ν + ℓ)-smooth, ℓ = curvature·max‖a_j‖². A
      step brings any two points nearer by the factor max(1 − αw_iν, αw_i(ν + ℓ) − 1), the first one where
      α·w_i·(2ν + ℓ) ≤ 2 (Nesterov, Introductory Lectures, Theorem 2.1.12). There
      ‖x − αg(x) − z‖ ≤ (1 − αw_iν)‖x − z‖ + α‖g(z)‖: balls around z with a radius of
      max ‖g(z)‖/(w_iν) or more keep their points. The maximum over mini-batches is at most that over single samples,
      since ‖·‖ is convex. z is the solver's point.
    - Late gradients pull, too: for g_k = w_k(G_k + νy_k) with ‖y_k − x‖ ≤ D and t = Σ s_kw_k with t·ν ≤ 1,
      x − Σ s_kg_k = (1 − tν)x − Σ s_kw_k(G_k + ν(y_k − x)), whose norm is at most (1 − tν)‖x‖ + t(s + νD).
    - A drawn loss is not negative, so that h(z) − inf h ≤ h(z) ≤ the largest over single samples.

    With weights v_j of samples, s is the largest slope times max v_j‖a_j‖, and ℓ = curvature·max v_j‖a_j‖².

    Parameters
    ----------
    of
        The :class:`boundlab.problems.linear_model.LinearModel`.
    """

    of: Any

    def regions(self, step_size: float) -> Sequence[InvariantSet]:
        """Return balls around 0 and around the solver's point, where the step size allows them."""
        if self.of.nu == 0.0:
            return []
        most = float((step_size * self._factor).upper)
        found: list[InvariantSet] = []
        origin = np.zeros(len(self.of.x0))
        if most * self.of.nu <= 1.0:
            radius = max(distance(self.of.x0, origin), float((self._slope / self.of.nu).upper))
            found.append(InvariantBall(origin, radius, "the regulariser pulls back as much as the loss can push"))
        # How much nearer a step brings two points, of αw_iν: 1 up to 2/(ν + L), at which end rounding does not decide,
        # and (2 − αw_iL)/(αw_iν) beyond.
        nearer = min(1.0, float(((2.0 - most * Near(self.of.nu + self._curvature)) / (most * Near(self.of.nu))).lower))
        if self.of.loss.smooth and nearer >= 1.0 - _AT_THE_END:
            best = plain(self.of.optimum().x)
            pushed = self._largest_gradient(best) / (self.of.nu * Near(nearer))
            radius = max(distance(self.of.x0, best), float(pushed.upper))
            found.append(InvariantBall(best, radius, "every step contracts"))
        return found

    def pulls(self) -> Sequence[Pull]:
        """Return the pull of the regulariser towards 0."""
        if self.of.nu == 0.0:
            return ()
        mu, slope = self._factor * self.of.nu, float((self._factor * self._slope).upper)
        origin, bend = np.zeros(len(self.of.x0)), float(mu.value)
        return (Pull(origin, distance(self.of.x0, origin), slope, bend, bend, float((1.0 / mu).lower)),)

    def steepest(self) -> float | None:
        """Return max w_i·s without regulariser."""
        return None if self.of.nu > 0.0 else float((self._factor * self._slope).upper)

    def excess(self, z: Floats) -> float | None:
        """Return the largest w_i·(loss + ν/2‖z‖²) of a single sample at z."""
        margins = Near(self.of.X) @ self.of.total.matrix(z)
        each = self.of.hefts * clients.values(self.of.loss, margins, self.of.y, NEAR)
        return float((self._factor * (each.max() + 0.5 * self.of.nu * (Near(z) @ z))).upper)

    @property
    def _factor(self) -> Near:
        found: Near = self.of.w.max()
        return found

    @property
    def _slope(self) -> Near:
        return Near(self.of.pushes.max()) * float(self.of.loss.slope)

    @property
    def _curvature(self) -> float:
        return float((self.of.loss.curvature or 0.0) * self.of.bends.max())

    def _largest_gradient(self, z: Floats) -> Near:
        """Return max_j ‖∇loss_j(z) + νz‖ over all samples, from above."""
        X = Near(self.of.X)
        slopes = clients.slopes(self.of.loss, X @ self.of.total.matrix(z), self.of.y, NEAR).reshape(len(X.value), -1)
        slopes = slopes * self.of.hefts[:, None]
        # ‖a⊗p + νz‖² = ‖a‖²‖p‖² + 2ν·aᵀZp + ν²‖z‖²
        Z = self.of.nu * Near(z).reshape(X.shape[1], -1)
        squares = norm(X) ** 2 * norm(slopes) ** 2 + 2.0 * ((X @ Z) * slopes).sum(1) + (Z * Z).sum()
        return sqrt(squares).max()


# The families, with instances of each that tests look at.

FAMILIES: tuple[ProblemType, ...] = (
    ProblemType(
        "huber",
        "weighted Huber losses around centres, linear beyond delta",
        partial(build, "huber"),
        OPTIONS["huber"],
        common.DRAWN,
    ),
    ProblemType(
        "lad",
        "least absolute deviations; by default f = |x|",
        partial(build, "lad"),
        OPTIONS["lad"],
        common.DRAWN,
    ),
    ProblemType(
        "pseudo-huber",
        "weighted pseudo-Huber losses around centres",
        partial(build, "pseudo-huber"),
        OPTIONS["pseudo-huber"],
        common.DRAWN,
    ),
)
