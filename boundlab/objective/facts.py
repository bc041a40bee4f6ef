"""Inequalities between quantities of a point that hold at every x, as far as the certified constants of a problem say.

The quantities are gap f(x) − f*, slope ‖∇f(x)‖², distance ‖x − x*‖², inner ⟨∇f(x), x − x*⟩, mean_i(slope_i)
(1/n)Σ‖∇f_i(x)‖², and, for g(x) the stochastic gradient of a client that is drawn uniformly, second_moment E‖g(x)‖² and
variance E‖g(x) − ∇f(x)‖². At kinks gradients are the subgradients that the problem gives. Each fact is a sum ≥ 0 of
numbers times quantities, with the name '' for 1.

With m the strong convexity of f, M its smoothness, L that of all f_i, and x* a minimiser, where ∇f(x*) = 0:

- f(x*) ≥ f(x) − inner + (m/2)·distance, by convexity at x; f(x) ≥ f(x*) + (m/2)·distance, by convexity at x*;
- f* ≥ min_y f(x) + ⟨∇f(x), y − x⟩ + (m/2)‖y − x‖² = f(x) − slope/(2m);
- f* ≤ f(x − ∇f(x)/M) ≤ f(x) − slope/(2M); f(x) ≤ f* + (M/2)·distance; f* ≤ f(x) − inner + (M/2)·distance;
- Taylor, Hendrickx and Glineur 2017, Theorem 4, for x and x*: with S = slope/(2M) + mM/(2(M − m))·‖x − x* − ∇f(x)/M‖²,
  gap ≥ S and inner ≥ gap + S;
- ‖t(x − x*) − ∇f(x)‖² ≥ 0 for t = m and t = M;
- a function h that is drawn, convex and L-smooth, has ‖∇h(x) − ∇h(x*)‖² ≤ 2L·(h(x) − h(x*) − ⟨∇h(x*), x − x*⟩)
  (Nesterov, Introductory Lectures, Theorem 2.1.5); the mean of the right sides is 2L·gap, and
  ‖∇h(x)‖² ≤ 2‖∇h(x) − ∇h(x*)‖² + 2‖∇h(x*)‖²;
- ‖∇f_i(x)‖² ≤ 2L·(f_i(x) − inf f_i), whose mean is at most 2L·gap + 2L·(1/n)Σ(f_i(x*) − inf f_i);
- E‖g‖² = ‖∇f‖² + E‖g − ∇f‖² ≥ mean_i(slope_i) ≥ slope, as gradients are unbiased, by Jensen's inequality;
- of rows C with CCᵀ ≥ p·I, f(x) = ½‖Cx − y‖² has ‖Cᵀ(Cx − y)‖² ≥ p·‖Cx − y‖² = 2p·f(x) and f* = 0.

On a bounded set, whose indicator stands beside f, only those hold at its points that do not read ∇f(x*).
"""

import math
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Final, final

import numpy as np

from boundlab.arithmetic.near import NEAR, Near, curvatures, distance, eigenvalues
from boundlab.errors import BoundlabError, CertificateError, SpecError
from boundlab.objective._constants import Constant, LeastSquaresForm, Optimum
from boundlab.objective._problem import Problem
from boundlab.objective._wrapped import Wrapped
from boundlab.randomness import Array, Floats

# Certified constants of each client: at worst, what is known of all of them.


def by_client(problem: "Problem", names: Collection[str]) -> dict[str, Floats]:
    """Return the vectors among some names that the problem can certify, each of shape (n,).

    Parameters
    ----------
    names
        Of ``L_i``, ``mu_i``, ``sigma_i``, ``G_star`` and ``gap_i``; others are passed over.
    """
    constants = problem.constants()
    found = {name: rule(problem, constants) for name, rule in _RULES.items() if name in names}
    return {name: value for name, value in found.items() if value is not None}


def alike(problem: "Problem") -> bool:
    """Return whether all clients surely have the same function."""
    n = problem.n
    keys = {problem.client_key(client) for client in range(n)} if n > 1 else set()
    return n == 1 or (len(keys) == 1 and None not in keys)


def against_mean(sizes: Floats) -> Floats:
    """Return (1 − 1/n)·s_i + (1/n)Σ_{k≠i} s_k for sizes s ≥ 0, shape (n, …), rounded up; 0 for one client."""
    n = len(sizes)
    return np.zeros_like(sizes) if n == 1 else np.asarray((Near(n - 2) / n * sizes + Near(sizes).mean(0)).upper)


def _of_all(problem: "Problem", constants: Mapping[str, Constant], name: str) -> Floats | None:
    return np.full(problem.n, constants[name].value) if name in constants else None


def _curvatures(problem: "Problem", side: str) -> Floats | None:
    while isinstance(problem, Wrapped):  # steps of one around another may be other steps, of the same f_i
        problem = problem.inner
    found = [problem.step_bounds(client) for client in range(problem.n)]
    if any(one is None or one.kinks for one in found):
        return None
    return np.array([getattr(one, side) for one in found])


def _smoothness(problem: "Problem", constants: Mapping[str, Constant]) -> Floats | None:
    most, own = _of_all(problem, constants, "L"), _curvatures(problem, "L")
    return most if most is None or own is None else np.where(own > 0, np.minimum(most, own), most)


def _strong_convexity(problem: "Problem", constants: Mapping[str, Constant]) -> Floats | None:
    least, own = _of_all(problem, constants, "mu"), _curvatures(problem, "mu")
    return least if least is None or own is None else np.maximum(least, own)


def _gaps(problem: "Problem", constants: Mapping[str, Constant]) -> Floats | None:
    """Return f_i(x*) − inf f_i from above, by ‖∇f_i(x*)‖²/(2μ_i) and L_i·zeta²/2."""
    norms, mu, L = (
        problem.gradient_norms_at_optimum(),
        *(one(problem, constants) for one in (_strong_convexity, _smoothness)),
    )
    found = []
    if norms is not None and mu is not None and (mu > 0).all():
        found.append(Near(norms) ** 2 / (2.0 * mu))
    if L is not None and "zeta" in constants:
        found.append(L * Near(constants["zeta"].value) ** 2 / 2.0)
    return np.min([one.upper for one in found], axis=0) if found else None


_RULES: Mapping[str, Callable[["Problem", Mapping[str, Constant]], Floats | None]] = {
    "L_i": _smoothness,
    "mu_i": _strong_convexity,
    "sigma_i": lambda problem, constants: _of_all(problem, constants, "sigma"),
    # 0, and no rounding above it, where zeta says that x* minimises every f_i.
    "G_star": lambda problem, constants: (
        norms
        if (norms := problem.gradient_norms_at_optimum()) is None or "zeta" not in constants
        else norms * (constants["zeta"].value > 0.0)
    ),
    "gap_i": _gaps,
}


# Constants from numbers that carry their error, and those of the start.

_COMPARISON = "distance to the solver's point; its gap widens the comparison"  # as R, where x* is not certified
_NONNEGATIVE = "f(x0) − inf f ≤ f(x0), as the loss ≥ 0"


def above(found: Any, how: str) -> Constant:
    """Return the largest of some numbers, each with its error or as it is, from above."""
    return Constant(float(np.max(found.upper if isinstance(found, Near) else found)), "upper", how)


def of_start(
    x0: Array, start: Any, best: Optimum | None, floor: float | None, of: str = "f", L: float | None = None
) -> dict[str, Constant]:
    """Return R = ‖x0 − x*‖, where x* is known, and F0 = f(x0) − inf f, where f has a known lower bound.

    Parameters
    ----------
    x0
        Shape (d,).
    start
        f(x0), a number or one with its error.
    best
        The optimum, if it is certified.
    floor
        A number that f is never below, if there is one: 0 for losses.
    of
        The function's name.
    L
        Smoothness of f on all of R^d, which limits F0 by L·R²/2: a start at the minimiser has no gap, and no rounding
        of f(x0) and f* may stand for one.
    """
    if best is None and floor is None:
        return {}
    certified = -math.inf if best is None else float((Near(best.value) - best.gap).lower)
    lower = max(certified, -math.inf if floor is None else floor)
    how = _NONNEGATIVE if best is None or certified < lower else f"{of}(x0) − {of}* with {of}* from below: {best.how}"
    found = {"F0": above(NEAR.positive(start - Near(lower)), how)}
    if best is None:
        return found
    found["R"] = radius(x0, best)
    if L is not None and best.distance is not None:
        near = above(Near(found["R"].value) ** 2 * L / 2.0, f"L·R²/2, {best.how}")
        if near.value < found["F0"].value / 2.0:  # else the difference is the better limit
            found["F0"] = near
    return found


def radius(x0: Array, best: Optimum) -> Constant:
    """Return R = ‖x0 − x*‖."""
    how = _COMPARISON if best.distance is None else best.how
    return Constant(distance(x0, best.x, best.distance), "upper" if best.distance else "exact", how)


_ROUNDED: Final = 2.0**-50  # of R, beside what the certificate of x* leaves open


def start_from_below(problem: Problem, known: Mapping[str, Constant]) -> dict[str, float]:
    """Return numbers that R = ‖x0 − x*‖ and F0 = f(x0) − inf f are certainly not below, where ``known`` has them.

    No value of f is below inf f, and x* is no further from a certified point than its certificate says.
    """
    try:
        best = problem.optimum()
    except BoundlabError:  # there is none, or nobody certifies it
        best = None
    found = dict[str, float]()
    if "R" in known and best is not None and best.distance is not None:
        found["R"] = max(0.0, known["R"].value * (1.0 - _ROUNDED) - 2.0 * best.distance)
    if "F0" in known:
        found["F0"] = 0.0
        if best is not None:
            start, end = _value_near(problem, problem.x0), _value_near(problem, best.x)
            if start is not None and end is not None:
                found["F0"] = float(NEAR.positive(start - end).lower)
    return found


def _value_near(problem: Problem, point: Array) -> Near | None:
    """Return the value at a point with its error; None where no error is known."""
    x = np.asarray(point, dtype=np.float64)
    error = problem.rounding(x)
    return None if error is None else Near(problem.value(x), error[0])


MEAN_SLOPE: Final = "mean_i(slope_i)"
_LARGEST = 500  # matrices whose eigenvalues are looked at
_Said = tuple[Mapping[str, Fraction | int], str]


@final
@dataclass(frozen=True, slots=True)
class Fact:
    """Sum of numbers times quantities that is ≥ 0 at every x, and why."""

    says: Mapping[str, Fraction]
    why: str


def facts(problem: Problem) -> tuple[Fact, ...]:
    """Return what the certified constants of a problem say; of F = f + h with h the indicator of a bounded set, on it.

    The mean of the f_i is the plain one.
    """
    said = [*_of_any(), *_of_noise(problem), *_of_functions(problem)]
    return tuple(
        Fact({name: Fraction(value) for name, value in one.items() if value}, why)
        for one, why in said
        if any(one.values())
    )


def _of_any() -> Iterator[_Said]:
    for name in ("gap", "slope", "distance", "second_moment", "variance", MEAN_SLOPE):
        yield {name: 1}, f"{name} is never negative"
    yield {"": 1}, "1 is not negative"
    for sign in (1, -1):
        yield {"second_moment": sign, "slope": -sign, "variance": -sign}, "E‖g‖² = ‖∇f‖² + E‖g − ∇f‖²"
    yield {MEAN_SLOPE: 1, "slope": -1}, "‖∇f‖² is at most the mean of all ‖∇f_i‖²"
    yield {"second_moment": 1, MEAN_SLOPE: -1}, "‖∇f_i‖² is at most E‖g_i‖²"


def _of_noise(problem: Problem) -> Iterator[_Said]:
    """Yield how large gradients, what they differ by, and their noise are at most."""
    known = {name: Fraction(one.value) for name, one in problem.constants().items()}
    if problem.noiseless:
        yield {MEAN_SLOPE: 1, "second_moment": -1}, "gradients have no noise"
    if not problem.why_not("one-function"):
        yield {"slope": 1, MEAN_SLOPE: -1}, "all clients have the same function"
    for assumed, name, quantity, beside in (
        ("bounded-variance", "sigma", "second_moment", MEAN_SLOPE),
        ("bounded-second-moment", "G", "second_moment", ""),
        ("lipschitz", "B", MEAN_SLOPE, ""),
        ("bounded-heterogeneity", "sigma_g_mean", MEAN_SLOPE, "slope"),
    ):
        if name in known and not problem.why_not(assumed):
            more = {beside: 1} if beside else {}
            yield {quantity: -1, "": known[name] ** 2, **more}, f"{assumed}: {name} = {float(known[name]):.6g}"
    if "G_sq" in known and not problem.why_not("bounded-gradients"):
        yield {MEAN_SLOPE: -1, "": known["G_sq"]}, f"bounded-gradients: G_sq = {float(known['G_sq']):.6g}"


def _of_functions(problem: Problem) -> Iterator[_Said]:
    known, free = problem.constants(), problem.simple is None
    convex, attained = not problem.why_not("convex"), not problem.why_not("minimiser")
    m, steep = _curvature(problem, free)
    vectors = {
        name: [Fraction(one) for one in row.tolist()]
        for name, row in (by_client(problem, ("L_i",)) | by_client(problem, ("G_star", "gap_i"))).items()
    }
    M = None if problem.why_not("smooth") or "L_i" not in vectors else sum(vectors["L_i"], Fraction(0)) / problem.n
    if attained and convex:
        yield {"inner": 1, "gap": -1, "distance": -m / 2}, f"f is {float(m):.6g}-strongly convex"
        yield {"gap": 1, "distance": -m / 2}, f"f is {float(m):.6g}-strongly convex and least at x*"
    if attained and M is not None:
        yield {"gap": 1, "inner": -1, "distance": M / 2}, f"f is {float(M):.6g}-smooth"
    if not free:
        if "diameter" in known and attained:
            yield {"": Fraction(known["diameter"].value) ** 2, "distance": -1}, "the diameter of the set"
        return
    yield {"slope": 1, "gap": -2 * steep}, f"‖∇f‖² ≥ 2·{float(steep):.6g}·(f − f*)"
    if M is None:
        return
    yield {"gap": 2 * M, "slope": -1}, f"f is {float(M):.6g}-smooth"
    if attained:
        yield {"distance": M / 2, "gap": -1}, f"f is {float(M):.6g}-smooth, and ∇f(x*) = 0"
        for t in {m, M}:
            yield {"distance": t * t, "inner": -2 * t, "slope": 1}, "a square"
    if attained and convex:
        h = m * M / (2 * (M - m)) if m < M else Fraction(0)
        square = {"distance": -h, "inner": 2 * h / M, "slope": -h / M**2 - 1 / (2 * M)} if M else {}
        why = f"f is {float(m):.6g}-strongly convex and {float(M):.6g}-smooth"
        yield {**square, "gap": 1}, why
        yield {**square, "inner": square.get("inner", Fraction(0)) + 1, "gap": -1}, why
    L, n = max(vectors["L_i"]), problem.n
    if "gap_i" in vectors:
        beside = 2 * L * sum(vectors["gap_i"], Fraction(0)) / n
        yield {"gap": 2 * L, "": beside, MEAN_SLOPE: -1}, "every f_i is L-smooth and bounded below"
    shared = "zeta" in known and known["zeta"].value == 0.0
    if not (attained and convex and (shared or "G_star" in vectors)):
        return
    away = Fraction(0) if shared else sum((one**2 for one in vectors["G_star"]), Fraction(0)) / n
    yield _around(MEAN_SLOPE, L, away), "every f_i is convex and L-smooth"
    if {"L_max", "sigma_star"} <= known.keys() and not problem.why_not("sampled-functions"):
        most, noise = (Fraction(known[name].value) for name in ("L_max", "sigma_star"))
        yield _around("second_moment", most, away + noise**2), "each function drawn is convex and L_max-smooth"


def _around(name: str, L: Fraction, away: Fraction) -> Mapping[str, Fraction | int]:
    """Return how large squared gradients of drawn functions are, whose mean at x* is ``away`` at most."""
    return {"gap": (4 if away else 2) * L, "": 2 * away, name: -1}


def _curvature(problem: Problem, free: bool) -> tuple[Fraction, Fraction]:
    """Return m, from below, and p ≥ m with ‖∇f‖² ≥ 2p·(f − f*)."""
    each = {} if problem.why_not("strongly-convex") else by_client(problem, ("mu_i",))
    own = sum(map(Fraction, each["mu_i"].tolist()), Fraction(0)) / problem.n if each else Fraction(0)
    rows, form = problem.least_squares(), problem.quadratic()
    whole, flat = 0.0, 0.0
    if rows is not None:
        whole, flat = _of_rows(rows, problem.d)
    elif form is not None and problem.d <= _LARGEST:
        mean = Near(form.A).mean(0)
        whole = float(eigenvalues(Near(mean.value, mean.off + np.abs(mean.value - mean.value.T))).lower[0])
    m = max(own, Fraction(whole), Fraction(0))
    return m, max(m, Fraction(flat)) if free else m


def _of_rows(form: LeastSquaresForm, d: int) -> tuple[float, float]:
    """Return m and p of least squares: the smallest eigenvalue of CᵀC, or, of fewer rows than columns, of CCᵀ."""
    n, count = len(form.rows), sum(map(len, form.rows))
    if min(count, d) > _LARGEST or form.rows[0].dtype != np.float64:
        return 0.0, 0.0
    each = Near(form.weights) / (n * np.array([len(rows) for rows in form.rows]))
    owner = np.repeat(np.arange(n), [len(rows) for rows in form.rows])
    low = max(0.0, float(curvatures(np.vstack(form.rows), each[owner]).lower[0]))
    if count >= d:
        return low, low
    return 0.0, low if form.nu == 0.0 else 0.0


# Problems whose minimiser and constants are sought once, when they are first asked for.


class SoughtMinimiser(Problem):
    """A problem that solves for its minimiser once, and remembers what it found, or why there is no certificate.

    It works its constants out once, too.
    """

    @abstractmethod
    def _find_constants(self) -> Mapping[str, Constant]:
        """Return the constants that exist, by symbol name."""

    @cached_property
    def _constants(self) -> Mapping[str, Constant]:
        return self._find_constants()

    def constants(self) -> Mapping[str, Constant]:
        """Return the constants that exist, by symbol name."""
        return self._constants

    @property
    def _surely_attained(self) -> bool:
        """True where there is a minimiser: a missing certificate is then an error like any other."""
        return False

    @abstractmethod
    def _solve(self) -> Optimum:
        """Return the minimiser with its certificate.

        Raises
        ------
        CertificateError, SpecError
            If there is none.
        """

    @cached_property
    def _attempt(self) -> Optimum | CertificateError | SpecError:
        try:
            return self._solve()
        except (CertificateError, SpecError) as error:
            if self._surely_attained:
                raise
            return error.with_traceback(None)

    def optimum(self) -> Optimum:
        """Return x* and f* with their certificate.

        Raises
        ------
        CertificateError, SpecError
            If there is none.
        """
        if isinstance(self._attempt, Optimum):
            return self._attempt
        raise type(self._attempt)(str(self._attempt))

    @property
    def _best(self) -> Optimum | None:
        return self._attempt if isinstance(self._attempt, Optimum) else None

    @property
    def _no_minimiser(self) -> str:
        """Reason why none is certified; nothing where one is."""
        return "" if self._best else str(self._attempt).removeprefix(f"problem {self.id}: ")
