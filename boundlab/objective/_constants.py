"""Components of a problem: constants with the side on which they may err, minimisers, quadratics, least squares."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from types import MappingProxyType
from typing import Any, Final, Literal, final

import numpy as np

from boundlab.arithmetic.near import Near, eigenvalues, norm
from boundlab.errors import AssumptionError, MissingExtraError, SymbolError
from boundlab.formulas.symbols import having
from boundlab.randomness import Array, Floats, Ints

Side = Literal["exact", "upper", "lower"]
EPS: Final = float(np.finfo(np.float64).eps)
# The constants that are about minimisers of the objective, and not about the f_i and their gradients.
OF_OBJECTIVE: Final = having("start") | {"zeta"}


@dataclass(frozen=True, slots=True)
class Constant:
    """A number that a theorem needs, with the side on which it may err.

    Parameters
    ----------
    value
        The number, finite.
    side
        ``exact`` (to rounding), ``upper`` (never below the truth) or ``lower`` (never above it).
    how
        Where it comes from, in a few words: closed form, eigenvalue, duality gap, user.

    Raises
    ------
    SymbolError
        If the value is not finite or the side is not one of the three.

    Examples
    --------
    >>> Constant(2.0, "upper", "eigenvalue").as_dict()
    {'value': 2.0, 'side': 'upper', 'how': 'eigenvalue'}
    """

    value: float
    side: Side
    how: str

    def __post_init__(self) -> None:
        if not math.isfinite(self.value):
            raise SymbolError(f"a constant must be finite, got {self.value!r} ({self.how})")
        if self.side not in ("exact", "upper", "lower"):
            raise SymbolError(f"a constant's side is exact, upper or lower, got {self.side!r}")

    def as_dict(self) -> dict[str, Any]:
        """Return the constant as JSON-ready fields."""
        return {"value": self.value, "side": self.side, "how": self.how}


@final
class Sought(Mapping[str, Constant]):
    """Constants by symbol name, each worked out when it is first asked for: a search asks for few of many problems.

    Parameters
    ----------
    groups
        By the names that may be among them: what works some constants out, those that exist.
    """

    def __init__(self, groups: Mapping[tuple[str, ...], Callable[[], Mapping[str, Constant]]]) -> None:
        self._groups = {name: find for names, find in groups.items() for name in names}
        self._found: dict[str, Constant] = {}

    def __getitem__(self, name: str) -> Constant:
        find = self._groups.get(name)
        if find is not None and name not in self._found:
            self._found |= find()
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return (name for name in self._groups if name in self)

    def __len__(self) -> int:
        return len(list(iter(self)))


@dataclass(frozen=True, slots=True, eq=False)
class Optimum:
    """A minimiser with its certificate.

    Parameters
    ----------
    x
        Shape (d,): the point.
    value
        f(x), unit (1, 0).
    gap
        f(x) − f* ≤ gap, unit (1, 0).
    distance
        ‖x − x*‖ ≤ distance for a minimiser x*, unit (0, 1); None where no such bound is known.
    how
        Where the certificate comes from.
    """

    x: Array
    value: float
    gap: float
    distance: float | None
    how: str


@final
@dataclass(frozen=True, slots=True)
class StepBounds:
    """Propagation of an error of x through one local step x ← x − size·g(x) of a client, as floats compute it.

    Parameters
    ----------
    mu, L
        The curvature of each function whose gradient may be drawn, from below and from above, unit (1, −2); of a
        function with kinks that of its pieces: away from kinks its steps are those of one piece.
    offset, slope
        The computed g is off by at most offset + slope·‖x‖, which is no less than ‖g‖ times the machine's precision;
        units (1, −1) and (1, −2).
    kinks
        Whether gradients jump.
    proximal
        Whether the step goes on with a proximal map, which brings no points apart.
    doubt
        How much more the g that is computed at a given x, shape (d,), may be off, unit (1, −1): of gradients that an
        algorithm looks for, which says afterwards only how near it came. None: nowhere more.
    """

    mu: float
    L: float
    offset: float
    slope: float
    kinks: bool = False
    proximal: bool = False
    doubt: Callable[[Array], float] | None = None

    def error(self, x: Array, size: float) -> float:
        """Return how far g is off at x, whose norm is at most ``size``; unit (1, −1)."""
        return self.offset + self.slope * size + (0.0 if self.doubt is None else self.doubt(x))

    def growth(self, size: float) -> float:
        """Return a Lipschitz constant of the step: max(1 − size·mu, size·L − 1) for convex functions."""
        return step_growth(size, self.mu, self.L)

    def moved(self, size: float, growth: float) -> float:
        """Return a Lipschitz constant of what the step adds to x: size·L, or with a proximal map that of both points.

        Parameters
        ----------
        growth
            A Lipschitz constant of the step.
        """
        return step_moved(size, self.L, growth, self.proximal)


# Loops in machine code follow errors by these, too.
def step_growth(size: float, mu: float, L: float) -> float:
    """Return what :meth:`StepBounds.growth` says."""
    return max(1.0 - size * mu, size * L - 1.0) * (1.0 + 1e-15)


def step_moved(size: float, L: float, growth: float, proximal: bool) -> float:
    """Return what :meth:`StepBounds.moved` says."""
    return 1.0 + growth if proximal else size * L


def step_rounding(before: float, after: float, lost: float, d: int, ulp: float, proximal: bool) -> float:
    """Return how far rounding puts the result of one local step off.

    Parameters
    ----------
    before, after
        The norms of x.
    lost
        How far size·g is off.
    """
    rounding = 8.0 * ulp * (before + after) + lost
    if proximal:  # the norm that a projection divides by is a sum of d squares
        rounding += (d + 8) * ulp * after
    return rounding


@final
@dataclass(frozen=True, slots=True)
class GradientsOnSet:
    """Bounds of the gradients of the f_i that hold at every point of a bounded set.

    Parameters
    ----------
    norms
        Shape (n,): ‖∇f_i(x)‖ is at most this, from above, unit (1, −1); every subgradient where there are several.
    how
        Where they come from.
    apart
        Shape (n,): ‖∇f_i(x) − ∇f(x)‖ is at most this, from above; None: nothing beyond what the norms say.
    sigma
        The variance of a stochastic gradient is at most sigma² on the set, from above; None: nothing beyond what the
        constants on all of R^d say.
    """

    norms: Floats
    how: str
    apart: Floats | None = None
    sigma: float | None = None


@final
@dataclass(frozen=True, slots=True)
class QuadraticForm:
    """Data of a quadratic problem: f_i(x) = ½(x − b_i)ᵀA_i(x − b_i) + constant, and the noise of its gradients.

    Parameters
    ----------
    A
        Shape (n, d, d), symmetric, unit (1, −2).
    b
        Shape (n, d), unit (0, 1).
    sigma
        Stochastic gradients are ∇f_i plus noise that depends on nothing else, of mean 0 and with
        E‖noise‖² = sigma²; unit (1, −1).
    direction
        Shape (d,), not 0: the noise is along this line; None: its covariance is sigma²/d·I.
    """

    A: Floats
    b: Floats
    sigma: float
    direction: Floats | None = None

    def covariance(self) -> Floats:
        """Return the covariance of the noise, shape (d, d), unit (2, −2); its trace is sigma²."""
        d = self.b.shape[1]
        if self.direction is None:
            return np.diag(np.full(d, self.sigma**2 / d))
        noise = along(self.direction, self.sigma)
        return noise[:, None] * noise

    def step_bounds(self, client: int) -> StepBounds:
        """Return the eigenvalues of A_i, and what d + 2 roundings of A_i(x − b_i) do."""
        A, d = self.A[client], self.b.shape[1]
        values, uneven = eigenvalues(Near(A, np.abs(A - A.T))), norm(A - A.T, (0, 1))
        size = float(((d + 4.0) * EPS * norm(A, (0, 1)) + uneven).upper)
        offset = float((size * norm(self.b[client])).upper)
        return StepBounds(max(float(values.lower.min()), 0.0), float(values.upper.max()), offset, size)


def along(direction: Floats, length: float) -> Floats:
    """Return the vector of this length in a direction.

    Parameters
    ----------
    direction
        Shape (d,), not 0, of any size.
    """
    near = np.ldexp(direction, -int(np.frexp(np.abs(direction).max())[1]))  # neither overflows when squared, nor is 0
    return length * near / np.linalg.norm(near)


@final
@dataclass(frozen=True, slots=True)
class LeastSquaresForm:
    """Data of a least-squares problem: f_i(x) = w_i·((1/m_i)·Σ_j ½(a_jᵀx − y_j)² + ½ν‖x‖²), j over client i's rows.

    A stochastic gradient of f_i is w_i·((1/b)·Σ_{j∈B} a_j(a_jᵀx − y_j) + νx) with b rows B drawn anew in each step:
    independent ones, each uniform, with replacement; else a uniform set of min(b, m_i) rows, whose number then
    divides the sum in place of b.

    Parameters
    ----------
    rows
        For each client the a_j, shape (m_i, d).
    targets
        For each client the y_j, shape (m_i,).
    weights
        Shape (n,): w_i > 0. Apart from the rows, since their square roots are not rational.
    nu
        ν ≥ 0; unit (1, −2) where the weights are plain numbers.
    batch
        b; 0 for full gradients.
    replacement
        Whether B may hold a row twice.
    """

    rows: tuple[Floats, ...]
    targets: tuple[Floats, ...]
    weights: Floats
    nu: float
    batch: int
    replacement: bool


# A function of many variables, drawn along one line.


def draw(problem: Any, ax: Any = None) -> Any:
    """Draw f along the line from x0 through x*; see :meth:`boundlab.Problem.plot`."""
    if find_spec("matplotlib") is None:
        raise MissingExtraError('plots need matplotlib: pip install "boundlab[plot]"')
    best = problem.optimum()
    if ax is None:
        from matplotlib import pyplot

        ax = pyplot.subplots(layout="constrained")[1]
    x0, star = np.asarray(problem.x0, dtype=np.float64), np.asarray(best.x, dtype=np.float64)
    distance = float(np.linalg.norm(x0 - star))
    towards = (x0 - star) / distance if distance > 0.0 else np.eye(problem.d)[0]
    far = distance or 1.0
    places = np.linspace(-far, 1.15 * far, 401)
    gaps = [problem.value(star + place * towards) - best.value for place in places]
    ax.plot(places, gaps, "-", color="#0072B2", linewidth=2, label="f(x) − f*")
    ax.plot(
        [distance],
        [problem.value(x0) - best.value],
        "o",
        color="#D55E00",
        label=f"x₀: f(x₀) − f* = {problem.value(x0) - best.value:.4g}",
    )
    ax.axvline(0.0, color="0.6", linewidth=0.8)
    ax.set_xlabel("distance from x* on the line to x₀")
    ax.set_ylabel("f(x) − f*")
    ax.set_title(f"{problem.id}: n = {problem.n}, d = {problem.d}", fontsize=10)
    ax.legend(fontsize=8)
    return ax


# Stochastic (sub)gradients of one trial.

NO_INEXACT_PROX = "a relative error has no proximal step; error=[…], which is added, has one"
NO_NOISY_PROX = "a proximal step needs the function itself, not noisy gradients; set sigma=0, or batch=0"
# Of every problem, beside its own: see boundlab.objective.inexact.
ERROR_OPTION: Final[Mapping[str, str]] = MappingProxyType(
    {
        "error": "e added to each gradient: d numbers, one list of them a client, or one number for the first "
        "coordinate; relative:E adds E times the gradient, E a number or d rows of d numbers, or one a client"
    }
)


def error_at(gradient: Any, error: Any) -> Any:
    """Return what an error adds to gradients, in any arithmetic.

    Parameters
    ----------
    gradient
        Shape (d,) or (S, d).
    error
        Shape (d,): a vector that is added, whatever the gradient is. Shape (d, d): what multiplies it.
    """
    return gradient @ error.T if error.ndim == 2 else error


class Oracle(ABC):
    """Stochastic (sub)gradients of one trial. One instance belongs to one run."""

    @abstractmethod
    def draws(self, clients: Ints, updates: Ints, steps: int) -> Any:
        """Return the random numbers of B updates, indexable as ``draws[j][step]``.

        Parameters
        ----------
        clients, updates
            Shape (B,): which client, and which of its updates (counted from 0), each of so many local ``steps``.
        """

    @abstractmethod
    def draw_size(self, steps: int) -> int:
        """Return how many numbers one update takes, so that callers can bound memory."""

    @abstractmethod
    def step(self, x: Array, client: int, draw: Any, step_size: float) -> None:
        """Do x ← x − step_size·g_client(x) in place, with the randomness of one local step."""

    def implicit_step(self, x: Array, client: int, draw: Any, step_size: float) -> None:
        """Do x ← prox_{step_size·f_client}(x) in place; a noisy oracle has no such step.

        Raises
        ------
        AssumptionError
            If the oracle is noisy, or the problem has no closed form.
        """
        raise AssumptionError(NO_NOISY_PROX)
