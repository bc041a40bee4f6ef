"""Problems of somebody's own Python functions: what is said of L and mu is checked at points, and x* follows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from boundlab.arithmetic.near import Near, norm
from boundlab.errors import CertificateError, SpecError
from boundlab.objective import Array, Constant, Floats, Optimum, Oracle
from boundlab.objective.facts import SoughtMinimiser, above, of_start
from boundlab.problems import common
from boundlab.problems.noise import additive_noise
from boundlab.randomness import Stream, Streams

Value = Callable[[int, Floats], float]
Gradient = Callable[[int, Floats], ArrayLike]
_SIZES = (1e-5, 1.0, 1e2)  # of the moves between points at which claims are checked, over 1 + ‖x0‖
_PAIRS = 4  # of points a client and size
_DIGITS = 1e-11  # what a user's function may be wrong by, relative to its size
_WRONG = 64.0 * float(np.finfo(np.float64).eps)  # what its gradients are allowed to round, and values eight times
_SAID = "your word"
_UNSAID = "L and mu bound no gradients; a problem that boundlab knows has such bounds, e.g. huber or logistic"


def smooth_problem(
    *,
    value: Value | Sequence[Callable[[Floats], float]],
    gradient: Gradient | Sequence[Callable[[Floats], ArrayLike]],
    x0: ArrayLike,
    L: float,
    mu: float = 0.0,
    n: int | None = None,
    sigma: float = 0.0,
    lower: float | None = None,
    spec: Mapping[str, Any] | None = None,
) -> "SmoothProblem":
    """Return the problem of minimising the mean of n functions of your own.

    Each is convex, or strongly convex with ``mu``, and its gradient has the Lipschitz constant ``L``: that is your
    word. It is checked at random points, where it may be refuted but not proved; verdicts that lean on it say so.

    Parameters
    ----------
    value, gradient
        value(i, x), a number, and gradient(i, x), shape (d,), of client i at x, shape (d,), which they must not change;
        or one function of x for each client.
    x0
        Shape (d,), unit (0, 1): the start.
    L, mu
        L > 0 and 0 ≤ mu ≤ L, unit (1, −2).
    n
        The number of clients, where ``value`` is a single function.
    sigma
        √E‖noise‖² of Gaussian noise that is added to gradients, unit (1, −1).
    lower
        A number that f is never below, unit (1, 0), if you know one: your word, too.
    spec
        ``{"type": the id of a family of yours, …its options}``, from which case files rebuild the problem.

    Raises
    ------
    SpecError
        If the parts do not fit, or a point refutes what is said of them: it is named.

    Examples
    --------
    >>> import numpy as np
    >>> centres = np.array([[0.0], [2.0]])
    >>> problem = smooth_problem(
    ...     value=lambda i, x: float((x - centres[i]) @ (x - centres[i])) / 2,
    ...     gradient=lambda i, x: x - centres[i], x0=[3.0], L=1.0, mu=1.0, n=2,
    ... )
    >>> problem.optimum().x.round(9).tolist()
    [1.0]
    """
    start = np.atleast_1d(np.asarray(x0, dtype=np.float64))
    if start.ndim != 1 or not len(start) or not np.isfinite(start).all():
        raise SpecError("smooth_problem: x0 must be a list of d finite numbers")
    if not (0.0 < L < np.inf and 0.0 <= mu <= L):
        raise SpecError(f"smooth_problem: L must be positive and mu between 0 and L, got L={L:g}, mu={mu:g}")
    if not 0.0 <= sigma < np.inf:
        raise SpecError(f"smooth_problem: sigma must be finite and not negative, got {sigma:g}")
    clients = len(value) if isinstance(value, Sequence) else n
    if isinstance(gradient, Sequence) and len(gradient) != clients:
        raise SpecError(f"smooth_problem: {len(gradient)} gradients, but {clients} clients")
    if clients is None or clients < 1 or (n is not None and n != clients):
        raise SpecError(f"smooth_problem: n must be the number of clients, got {n}")
    problem = SmoothProblem(
        _by_client(value), _by_client(gradient), start, float(L), float(mu), clients, sigma, lower, spec
    )
    with np.errstate(over="ignore", invalid="ignore"):  # far away; what is not finite then is refused
        for client in range(clients):
            _check(problem, client)
    return problem


def _by_client(given: Any) -> Any:
    if not isinstance(given, Sequence):
        return given
    each = tuple(given)
    return lambda client, x: each[client](x)


@final
@dataclass(frozen=True, eq=False)
class SmoothProblem(SoughtMinimiser):
    """The mean of somebody's functions; see :func:`smooth_problem`, which checks what is said of them."""

    function: Value
    slope: Gradient
    x0: Floats
    L: float
    mu: float
    n: int
    sigma: float = 0.0
    lower: float | None = None
    rebuilt: Mapping[str, Any] | None = None

    @property
    def id(self) -> str:  # type: ignore[override]
        """Return the id of the family that rebuilds it, or of functions that nothing rebuilds."""
        return "smooth-functions" if self.rebuilt is None else str(self.rebuilt["type"])

    @property
    def d(self) -> int:  # type: ignore[override]
        """Return the dimension."""
        return len(self.x0)

    def client_value(self, client: int, x: Array) -> float:
        """Return f_client(x), unit (1, 0)."""
        return float(self.function(client, np.asarray(x, dtype=np.float64)))

    def value(self, x: Array) -> float:
        """Return f(x), unit (1, 0)."""
        return float(np.mean([self.client_value(client, x) for client in range(self.n)]))

    def gradient(self, client: int, x: Array) -> Array:
        """Return ∇f_client(x), shape (d,), unit (1, −1)."""
        return np.asarray(self.slope(client, np.asarray(x, dtype=np.float64)), dtype=np.float64)

    def oracle(self, streams: Streams) -> Oracle:
        """Return the oracle with Gaussian noise."""
        return additive_noise(self, self.sigma, streams)

    def claims(self) -> Mapping[str, Constant]:
        """Return L and mu, and where a number is given below which f never is, F0."""
        found = {"L": Constant(self.L, "upper", _SAID), "mu": Constant(self.mu, "lower", _SAID)}
        return found | ({} if self.lower is None else {"F0": self.constants()["F0"]})

    def _solve(self) -> Optimum:
        """Find a point x with ‖x − x*‖ ≤ ‖∇f(x)‖/mu and f(x) − f* ≤ ‖∇f(x)‖²/(2mu)."""
        if self.mu == 0.0:
            raise CertificateError(
                f"problem {self.id}: with mu = 0 a small gradient does not bound the distance to x*; give mu > 0"
            )
        from scipy.optimize import minimize

        def both(x: Floats) -> tuple[float, Floats]:
            return self.value(x), self.full_gradient(x)

        options = {"maxiter": 10_000, "maxfun": 20_000, "gtol": 0.0, "ftol": 0.0}
        x = np.asarray(minimize(both, self.x0, jac=True, method="L-BFGS-B", options=options).x, dtype=np.float64)
        # Gradient steps contract by 1 − mu/L; they take off what a line search cannot see in values.
        best, least = x, np.inf
        for _ in range(1000):
            slope = self.full_gradient(x)
            steep = float(np.linalg.norm(slope))
            if not steep < least:
                break
            best, least = x, steep
            x = x - slope / self.L
        slopes, wrong = self._slopes(best)
        length = norm(slopes.mean(0)) + wrong.mean()
        gap, away = length**2 / (2.0 * self.mu) + self._value(best).off, length / self.mu
        return Optimum(best, self.value(best), float(gap.upper), float(away.upper), "L-BFGS, ‖∇f‖/mu with your mu")

    def _slopes(self, x: Array) -> tuple[Near, Near]:
        """Return the ∇f_i(x), shape (n, d), and what a user's gradients may be wrong by, of their sizes and of L‖x‖."""
        rows = Near([self.gradient(client, x) for client in range(self.n)])
        return rows, _WRONG * (norm(rows) + self.L * norm(x))

    def _value(self, x: Array) -> Near:
        """Return f(x) with what a user's values may be wrong by."""
        each = np.array([self.client_value(client, x) for client in range(self.n)])
        return Near(each, 8.0 * _WRONG * np.abs(each)).mean()

    def gradient_norms_at_optimum(self) -> Floats | None:
        """Return ‖∇f_i(x*)‖ from above, shape (n,), unit (1, −1), by L and mu; None where mu is 0."""
        best = self._best
        if best is None or best.distance is None:
            return None
        slopes, wrong = self._slopes(best.x)
        return np.asarray((norm(slopes) + wrong + self.L * Near(best.distance)).upper)

    def _find_constants(self) -> dict[str, Constant]:
        """Return L and sigma; with mu > 0 mu, R, F0 and zeta, which rest on L and mu."""
        out = common.smoothness(Constant(self.L, "upper", _SAID))
        out |= common.noise(Constant(self.sigma, "exact", "additive Gaussian noise"))
        best = self._best
        out |= of_start(self.x0, self._value(self.x0), best, self.lower, L=self.L)
        if best is not None:
            norms = self.gradient_norms_at_optimum()
            assert best.distance is not None and norms is not None  # noqa: PT018, S101  (for the type checker)
            out["mu"] = Constant(self.mu, "lower", _SAID)
            zeta = Near(0.0) if self.n == 1 else Near(norms) / self.mu
            out["zeta"] = above(zeta, "‖∇f_i(x*)‖/mu with your mu")
        return out

    def assumptions(self) -> Mapping[str, str]:
        """Return which assumptions are met, if L and mu are what they are said to be."""
        unknown = "mu is 0; give mu > 0" if self._best is None else ""
        return common.met(
            strongly_convex="" if self.mu > 0.0 else "mu is 0; give mu > 0",
            steep=_UNSAID,
            spread="" if self.n == 1 else _UNSAID,
            minimiser=unknown,
            below="" if not unknown or self.lower is not None else f"{unknown}, or lower",
        )

    def spec(self) -> dict[str, Any]:
        """Return what rebuilds the problem; without a family, what is said of its functions, which are no JSON."""
        if self.rebuilt is not None:
            return dict(self.rebuilt)
        given = {} if self.lower is None else {"lower": self.lower}
        said = {"clients": self.n, "L": self.L, "mu": self.mu, "sigma": self.sigma, "x0": self.x0.tolist()}
        return {"type": self.id, **said, **given}


def _check(problem: SmoothProblem, client: int) -> None:
    """Refuse functions that are not what is said of them at some pair of points.

    Raises
    ------
    SpecError
        Naming the client, the points, and what they show.
    """
    scale = 1.0 + float(np.linalg.norm(problem.x0))
    normal = Streams(0).normals(Stream.START, client, np.arange(len(_SIZES) * _PAIRS), 2 * problem.d)
    for size, moves in zip(np.repeat(_SIZES, _PAIRS), normal.reshape(-1, 2, problem.d), strict=True):
        x, y = problem.x0 + (size * scale / np.sqrt(problem.d)) * moves
        _check_pair(problem, client, x, y)


def _check_pair(problem: SmoothProblem, client: int, x: Floats, y: Floats) -> None:
    who = f"smooth_problem: client {client}"
    slopes, values = (
        [_slope(problem, client, at, who) for at in (x, y)],
        [problem.client_value(client, at) for at in (x, y)],
    )
    if not np.isfinite(values).all():
        raise SpecError(f"{who}: value(x) is {values[0]:g} at x = {_shown(x)} and {values[1]:g} at {_shown(y)}")
    if problem.lower is not None and problem.n == 1 and min(values) < problem.lower - _DIGITS * abs(problem.lower):
        raise SpecError(f"{who}: lower = {problem.lower:g}, but f is {min(values):.9g} at {_shown(x)} or {_shown(y)}")
    move, turn = y - x, slopes[1] - slopes[0]
    length = float(np.linalg.norm(move))
    steep = max(float(np.linalg.norm(slope)) for slope in slopes)
    noise = _DIGITS * (steep + problem.L * (float(np.linalg.norm(x)) + length))
    between = f"between x = {_shown(x)} and y = {_shown(y)}"
    if float(np.linalg.norm(turn)) > problem.L * length + noise:
        found = float(np.linalg.norm(turn)) / length
        raise SpecError(f"{who}: L = {problem.L:g}, but the gradient changes by {found:.9g}·‖x − y‖ {between}")
    bend = float(turn @ move) / length**2
    if bend < problem.mu - noise / length:
        raise SpecError(f"{who}: mu = {problem.mu:g}, but ⟨∇f(x) − ∇f(y), x − y⟩ is {bend:.9g}·‖x − y‖² {between}")
    # An L-smooth convex function lies between its tangent and the parabola of curvature L on it.
    above = values[1] - values[0] - float(slopes[0] @ move)
    room = _DIGITS * (abs(values[0]) + abs(values[1]) + steep * length)
    if not problem.mu * length**2 / 2.0 - room <= above <= problem.L * length**2 / 2.0 + room:
        raise SpecError(
            f"{who}: gradient, L and mu do not fit the values: f(y) − f(x) − ⟨∇f(x), y − x⟩ is {above:.9g}, and must "
            f"lie between mu/2 and L/2 times ‖x − y‖² = {length**2:.9g}, {between}"
        )


def _slope(problem: SmoothProblem, client: int, x: Floats, who: str) -> Floats:
    before = x.copy()
    slope: Floats = np.asarray(problem.gradient(client, x), dtype=np.float64)
    if slope.shape != (problem.d,):
        raise SpecError(f"{who}: gradient(x) has shape {slope.shape}, not (d,) = ({problem.d},)")
    if not np.isfinite(slope).all():
        raise SpecError(f"{who}: gradient(x) is not finite at x = {_shown(x)}")
    if not np.array_equal(x, before):
        raise SpecError(f"{who}: gradient(x) changes x; it must return a new array")
    return slope


def _shown(x: Floats) -> str:
    return np.array2string(x, precision=9, threshold=6, edgeitems=2, separator=", ", max_line_width=1000)
