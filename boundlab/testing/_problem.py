"""Checks of one problem: what it can do beyond values and gradients, its noise, its constants, its minimum."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from boundlab.assumptions import ASSUMPTIONS, RUN_ASSUMPTIONS, choices
from boundlab.compare.judge import lower_limits
from boundlab.errors import AssumptionError, SpecError
from boundlab.objective import Optimum, Oracle, Problem, ProblemType
from boundlab.randomness import Floats, Streams
from boundlab.registry import lookup
from boundlab.testing._check import (
    ROUNDING,
    Check,
    at_each,
    at_most,
    equal,
    expect,
    named,
    of_examples,
    rebuilt,
)

# Random points of a problem, with what it says there.

ULP = 1e-13  # rounding of a value, of the largest in sight
STEP = 1e-4  # of the distance between x0 and x*: between neighbours
_DISTANCES = (1e-3, 1.0, 10.0, 1e-3, 0.3, 0.3, 1.0)  # distances in units of R: the first three to x0, the others to x*
_OF_START = 3


@final
@dataclass(frozen=True)
class SamplePoints:
    """A problem at a few points around its start and its minimiser, near and far.

    Parameters
    ----------
    problem
        Which one.
    scale
        How far the points lie, in units of their usual distances.
    name
        How messages call the problem.
    chosen
        Other points, shape (S, d), in place of those.
    """

    problem: Problem
    scale: float
    name: str
    chosen: Floats | None = None

    @property
    def who(self) -> str:
        """How messages begin."""
        return self.name + ("" if self.scale == 1.0 else f" at points {self.scale:g} times as far")

    @cached_property
    def known(self) -> dict[str, float]:
        """The values of the constants."""
        return {name: constant.value for name, constant in self.problem.constants().items()}

    @cached_property
    def centres(self) -> Floats:
        """The start and, where there is one, the minimiser, shape (1 or 2, d)."""
        known = (self.problem.x0, *([] if self.optimum is None else [self.optimum.x]))
        return np.array(known, dtype=np.float64)

    @cached_property
    def points(self) -> Floats:
        """The points, shape (S, d)."""
        if self.chosen is not None:
            return self.chosen
        around = np.where(np.arange(len(_DISTANCES)) < _OF_START, 0, len(self.centres) - 1)
        normal = np.random.Generator(np.random.Philox(11)).normal(size=(len(_DISTANCES), self.problem.d))
        far = self.scale * self.reach * np.array(_DISTANCES)[:, None]
        return np.asarray(self.centres[around] + far * normal / np.sqrt(self.problem.d))

    @cached_property
    def reach(self) -> float:
        """The distance of x0 and x*, or a little where that is 0 or unknown; unit (0, 1)."""
        return max(self.known.get("R", 0.0), 1e-3 * (1.0 + float(norms(self.problem.x0))))

    @cached_property
    def size(self) -> float:
        """The largest norm of a point: the scale of rounding in points."""
        return float(norms(self.points).max())

    @cached_property
    def gradients(self) -> Floats:
        """The gradients ∇f_i at each point, one by one, shape (n, S, d)."""
        p = self.problem
        return np.array([[p.gradient(i, x) for x in self.points] for i in range(p.n)], dtype=np.float64)

    @cached_property
    def client_values(self) -> Floats | None:
        """The values f_i(x) at each point, shape (n, S), or None where the problem does not give them."""
        p = self.problem
        try:
            return np.array([[p.client_value(i, x) for x in self.points] for i in range(p.n)], dtype=np.float64)
        except AssumptionError:
            return None

    @cached_property
    def values(self) -> Floats:
        """The values f(x) at each point, one by one, shape (S,)."""
        return np.array([self.problem.value(x) for x in self.points], dtype=np.float64)

    @cached_property
    def optimum(self) -> Optimum | None:
        """The certified optimum, or None where the problem says why there is none."""
        return None if self.problem.assumptions().get("minimiser", "unsaid") else self.problem.optimum()

    @cached_property
    def steepest(self) -> float:
        """The largest ‖∇f_i‖ of the sample: the scale of rounding in gradients."""
        return float(norms(self.gradients).max())

    @cached_property
    def largest(self) -> float:
        """The scale of rounding in values."""
        each = self.values if self.client_values is None else self.client_values
        return float(np.abs(each).max())


def norms(vectors: ArrayLike) -> Any:
    """Return the norms along the last axis: of one vector a number, else an array."""
    return np.linalg.norm(vectors, axis=-1)


# Views of its functions: all are the gradients and values of single points.

_SIZE = 0.25  # of steps


def batches(at: SamplePoints) -> None:
    """Check that many points at once, and local steps in place, are the gradients and values of single points."""
    p = at.problem
    equal("values(X) and value(x) row by row", p.values(at.points), at.values, scale=at.largest)
    for client, slopes in enumerate(at.gradients):
        what = f"gradients({client}, X) and gradient({client}, x) row by row"
        equal(what, p.gradients(client, at.points), slopes, scale=at.steepest)
        ends = np.array(at.points)
        for x in ends:
            p.descend(client, x, _SIZE)
        what = f"descend({client}, x, {_SIZE}) and x − {_SIZE}·gradient({client}, x)"
        equal(what, ends, at.points - _SIZE * slopes, scale=at.steepest + at.size)


def proximal_steps(at: SamplePoints) -> None:
    """Check that no point of the sample is better than the proximal point, where there is one."""
    p, size, values = at.problem, 0.7, at.client_values
    if values is None:
        return
    for client, place in np.ndindex(values.shape):
        x = at.points[place]
        with suppress(AssumptionError):
            z = p.prox(client, x, size)
            found = p.client_value(client, z) + float(((z - x) ** 2).sum()) / (2.0 * size)
            others = values[client] + ((at.points - x) ** 2).sum(axis=1) / (2.0 * size)
            what = f"the objective at prox({client}, x, {size}) of point {place} ≤ that at the points"
            at_most(what, found, others, scale=at.largest)


def scaled(at: SamplePoints) -> None:
    """Check that the problem with factor_i·f_i has these values and gradients."""
    factors = [Fraction(1 + client, 2) for client in range(at.problem.n)]
    other = at.problem.scaled(factors)
    if other is not None:
        same(at, other, "scaled()", factors)


def same(at: SamplePoints, other: Problem, what: str, factors: Sequence[Fraction], rounding: float = ROUNDING) -> None:
    """Check that another problem has the problem's start, and multiples of its functions."""
    p, twin = at.problem, SamplePoints(other, at.scale, at.name, at.points)
    expect((other.n, other.d) == (p.n, p.d), f"{what} rebuilds n, d = {other.n}, {other.d}, not {p.n}, {p.d}")
    expect(np.array_equal(other.x0, p.x0), f"{what} rebuilds another x0")
    for name, found, known, scale in (
        ("gradient", twin.gradients, at.gradients, at.steepest),
        ("client_value", twin.client_values, at.client_values, at.largest),
    ):
        if found is None or known is None:
            continue
        for client, factor in enumerate(factors):
            words, by = f"{name}({client}, x) of {what} and {factor} times the problem's", float(factor)
            equal(words, found[client], by * known[client], scale=by * scale, rounding=rounding)


def kinks(at: SamplePoints) -> None:
    """Check that gradients are continuous where near_kink() says that they do not jump."""
    p, room = at.problem, 1e-9 * at.reach
    here = replace(at, chosen=np.concatenate((at.points, at.centres)))  # random points are at no kink
    there = replace(at, chosen=here.points + aside(here.points, room, 31))
    jumps = norms(there.gradients - here.gradients)
    for client in range(p.n):
        quiet = ~p.near_kink(client, here.points, room)
        far = float(jumps[client, quiet].max(initial=0.0))
        words = f"the gradient of client {client} jumps by {far:.4g} within {room:.4g} of a point"
        expect(far <= 1e-3 * at.steepest, f"{words}, and near_kink() sees none")


def aside(points: Floats, length: float, seed: int) -> Floats:
    """Return a vector of this length for each point, in a random direction; shape (S, d)."""
    normal = np.random.Generator(np.random.Philox(seed)).normal(size=points.shape)
    return np.asarray(length / norms(normal)[:, None] * normal)


def quadratic(at: SamplePoints) -> None:
    """Check that the matrices give the problem's gradients and values."""
    p, form = at.problem, at.problem.quadratic()
    if form is None:
        return
    shapes = form.A.shape, form.b.shape
    expect(shapes == ((p.n, p.d, p.d), (p.n, p.d)), f"A, b of quadratic() have shapes {shapes}, not (n, d, d), (n, d)")
    equal("A of quadratic() and its transpose", form.A, form.A.transpose(0, 2, 1))
    silent = p.noiseless and form.sigma > 0.0
    expect(not silent, f"sigma of quadratic() is {form.sigma:g}, but the oracle gives full gradients")
    if p.sign_noise is not None:
        noise = np.outer(p.sign_noise, p.sign_noise)
        equal("covariance() of quadratic() and that of ±sign_noise", form.covariance(), noise)
    away = at.points - form.b[:, None]  # (n, S, d)
    slopes = away @ form.A.transpose(0, 2, 1)
    equal("A_i(x − b_i) of quadratic() and gradient(i, x)", slopes, at.gradients, scale=at.steepest)
    values = (slopes * away).sum(axis=2).mean(axis=0) / 2.0
    what = "½(x − b_i)ᵀA_i(x − b_i) of quadratic() and value(x), up to a constant"
    equal(what, values - values[0], at.values - at.values[0], scale=at.largest)


def least_squares(at: SamplePoints) -> None:
    """Check that the rows and targets give the problem's gradients and values."""
    p, form = at.problem, at.problem.least_squares()
    if form is None:
        return
    expect(len(form.rows) == len(form.targets) == p.n, f"least_squares() must give rows of n = {p.n} clients")
    expect(form.weights.shape == (p.n,), f"weights of least_squares() have shape {form.weights.shape}, not (n,)")
    slopes, values = np.zeros((p.n, *at.points.shape)), np.zeros(len(at.points))
    for client, (rows, targets) in enumerate(zip(form.rows, form.targets, strict=True)):
        errors, weight = at.points @ rows.T - targets, float(form.weights[client])
        slopes[client] = weight * (errors @ rows / len(rows) + form.nu * at.points)
        each = (errors**2).mean(axis=1) + form.nu * (at.points**2).sum(axis=1)
        values += weight * each / (2.0 * p.n)
    equal("the gradients of least_squares() and gradient(i, x)", slopes, at.gradients, scale=at.steepest)
    equal("the values of least_squares() and value(x)", values, at.values, scale=at.largest)


# Checks of stochastic gradients: whose they are, their mean, and how large they are.
#
# Means of what is never negative are held against their claimed upper limit by betting, whatever the law is; the mean
# of the noise itself against its variance by Chebyshev's inequality.

_DRAWS = 1500
_FALSE_ALARM = 1e-6  # of each bet
_CHEBYSHEV = 200.0  # one over the rate of false alarms, for each client


def repeats(at: SamplePoints) -> None:
    """Check that an oracle repeats itself for one seed, however it is asked; and that one without noise has none."""
    p, x = at.problem, at.points[-1]
    for client in range(p.n):
        end, known = _drawn(at, client, range(p.n)), x - at.gradients[client, -1]
        equal(f"two steps of client {client} from one point with one seed", end, _drawn(at, client, range(p.n)))
        alone = _drawn(at, client, range(client, client + 1))
        equal(f"the step of an update of client {client}, drawn among others and alone", end, alone)
        half = _drawn(at, client, range(p.n), 0.5) - x
        what = f"half a step of client {client} and the half of a step"
        equal(what, half, 0.5 * (end - x), scale=at.steepest + at.size)
        if p.sign_noise is not None:
            noise = p.sign_noise if (known - end) @ p.sign_noise > 0.0 else -p.sign_noise
            what = f"a step of the oracle and x − gradient({client}, x) ± sign_noise"
            equal(what, end, known - noise, scale=at.steepest)
        if p.noiseless:
            equal(f"a step of the oracle without noise and x − gradient({client}, x)", end, known, scale=at.steepest)


def _drawn(at: SamplePoints, client: int, among: range, size: float = 1.0) -> Floats:
    """Return the end of a client's step in a new oracle that is asked for the updates of some clients."""
    oracle, clients = at.problem.oracle(Streams(3)), np.array(among)
    return _step(oracle, at, client, oracle.draws(clients, clients + 2, 2)[among.index(client)][0], size)


def moments(at: SamplePoints) -> None:
    """Check that stochastic gradients are unbiased, their variance is at most sigma², and their square at most G²."""
    p, known = at.problem, at.known
    if p.noiseless or "sigma" not in known:
        return
    sigma = known["sigma"]
    expect(sigma > 0.0, "sigma is 0, and its oracle is not that of full gradients")
    oracle = p.oracle(Streams(29))
    for client in range(p.n):
        draws = oracle.draws(np.full(_DRAWS, client), np.arange(_DRAWS), 1)
        steps = np.array([at.points[-1] - _step(oracle, at, client, draws[j][0], 1.0) for j in range(_DRAWS)])
        noise = steps - at.gradients[client, -1]
        off, room = norms(noise.mean(axis=0)), sigma * np.sqrt(_CHEBYSHEV / _DRAWS)
        words = f"the mean of {_DRAWS} stochastic gradients of client {client} is {off:.4g} off its gradient"
        expect(off <= room, f"{words}; with sigma = {sigma:.4g} it should be less than {room:.4g}")
        squares = np.stack(((noise**2).sum(axis=1), (steps**2).sum(axis=1)), axis=1)
        least = lower_limits(squares, _FALSE_ALARM)
        at_most(f"E‖g_{client} − ∇f_{client}‖², from below by {_DRAWS} draws, ≤ sigma²", least[0], sigma**2)
        if "G" in known:
            at_most(f"E‖g_{client}‖², from below by {_DRAWS} draws, ≤ G²", least[1], known["G"] ** 2)


def _step(oracle: Oracle, at: SamplePoints, client: int, draw: Any, size: float) -> Floats:
    """Return where a step from the last point of the sample ends."""
    x = np.array(at.points[-1], dtype=np.float64)
    oracle.step(x, client, draw, size)
    return x


# Checks that constants and the minimum are on the side on which they say that they are.

# What an assumption that is met lets theorems read.
_GIVES = {
    "smooth": ("L", "L_sq"),
    "strongly-convex": ("mu",),
    "lipschitz": ("B",),
    "bounded-variance": ("sigma", "sigma_l"),
    "bounded-gradients": ("G_sq",),
    "bounded-second-moment": ("G",),
    "bounded-heterogeneity": ("sigma_g", "sigma_g_mean"),
    "bounded-below": ("F0",),
    "minimiser": ("R",),
}
_ROUNDS = 12  # of power iteration
_DESCENTS = 80  # iterations of a quasi-Newton method
_DIRECTIONS = 20


def assumptions(at: SamplePoints) -> None:
    """Check that every assumption is answered, and that a constant exists if and only if its assumption is met."""
    reasons = at.problem.assumptions()
    # What an assumption checks by itself, and those of plug-ins, a problem may answer for or not.
    expected = {name for name, one in ASSUMPTIONS.items() if one.check is None} - RUN_ASSUMPTIONS
    more = {name for name in reasons if name in choices(name) and choices(name)[name].of == "functions"}
    expect(
        set(reasons) - (more - expected) == expected,
        f"assumptions() must answer {', '.join(sorted(expected))}; it answers {', '.join(sorted(reasons))}",
    )
    for assumption, name in ((assumption, name) for assumption, names in _GIVES.items() for name in names):
        reason, there = reasons[assumption], name in at.known
        verb, why = "exists" if there else "is missing", f"not met: {reason}" if reason else "met"
        expect(there != bool(reason), f"constant {name} {verb} though {assumption} is {why}")


def pairs(at: SamplePoints) -> None:
    """Check gradients against values and each other at pairs of points, neighbours of each point among them.

    Parabolas of curvature mu, or tangents of convex functions, lie below and those of curvature L above; gradients
    differ by as much at least and at most.
    """
    convex = not at.problem.assumptions().get("convex", "unsaid")
    near = aside(at.points, STEP * at.scale * at.reach, 17)
    every = replace(at, chosen=np.concatenate((at.points, at.points + near, at.points - near)))
    away = every.points[None] - every.points[:, None]  # (S, S, d): from row to column
    distance = norms(away)
    squares, scale = distance**2, at.steepest * distance
    L, mu = at.known.get("L"), at.known.get("mu", 0.0 if convex else None)
    below = f"the {'tangent' if not mu else 'parabola of curvature mu'} below"
    for client, slope in enumerate(every.gradients):
        if every.client_values is not None:
            value = every.client_values[client]
            above = value[None] - value[:, None] - np.einsum("sd,std->st", slope, away)
            room = scale + ULP / ROUNDING * every.largest
            if mu is not None:
                at_most(f"{below} f_{client} ≤ f_{client}", mu / 2.0 * squares - above, 0.0, scale=room)
            if L is not None:
                at_most(f"|f_{client} − tangent| ≤ L/2·‖x − y‖²", np.abs(above), L / 2.0 * squares, scale=room)
        turn, between = slope[None] - slope[:, None], f"∇f_{client}(x) − ∇f_{client}(y)"
        if mu is not None:
            inner = (turn * away).sum(axis=2)
            at_most(f"{'mu' if mu else 0}·‖x − y‖² ≤ ⟨{between}, x − y⟩", mu * squares - inner, 0.0, scale=scale)
        if L is not None:
            at_most(f"‖{between}‖ ≤ L·‖x − y‖", norms(turn), L * distance, scale=at.steepest)


def extremes(at: SamplePoints) -> None:
    """Check L and mu along the steepest and the flattest direction that power iteration finds at x0 and at x*."""
    p, h = at.problem, STEP * at.reach
    if "L" not in at.known:
        return
    L, rounding = at.known["L"], ULP * at.steepest / h
    for client, x in ((client, x) for client in range(p.n) for x in at.centres):

        def turn(v: Floats, client: int = client, x: Floats = x) -> Floats:
            return np.asarray((p.gradient(client, x + h * v) - p.gradient(client, x - h * v)) / (2.0 * h))

        v = _iterate(turn, p.d, 0.0)
        what = f"the curvature of f_{client} in the steepest direction ≤ L"
        at_most(what, norms(turn(v)), L + rounding, scale=L)
        if "mu" in at.known:
            v = _iterate(turn, p.d, L)
            what = f"mu ≤ the curvature of f_{client} in the flattest direction"
            at_most(what, at.known["mu"], float(v @ turn(v)) + rounding, scale=L)


def _iterate(turn: Callable[[Floats], Floats], d: int, shift: float) -> Floats:
    """Return a unit vector that the map turns into its largest multiple, or the map minus ``shift`` does."""
    v: Floats = aside(np.zeros((1, d)), 1.0, 19)[0]
    for _ in range(_ROUNDS):
        new = turn(v) - shift * v
        v = new / norms(new) if norms(new) > 0.0 else v
    return v


def sizes(at: SamplePoints) -> None:
    """Check what bounds gradients: B, G_sq, G, sigma_g, sigma_g_mean; and the constants that name one number."""
    known, form = at.known, at.problem.quadratic()
    each = norms(at.gradients)
    apart = norms(at.gradients - at.gradients.mean(axis=0))
    for what, name, found in (
        ("‖∇f_i(x)‖ ≤ B", "B", each),
        ("‖∇f_i(x)‖ ≤ √G_sq", "G_sq", each),
        ("‖∇f_i(x)‖ ≤ G", "G", each),
        ("‖∇f_i(x) − ∇f(x)‖ ≤ sigma_g", "sigma_g", apart),
        ("√mean_i ‖∇f_i(x) − ∇f(x)‖² ≤ sigma_g_mean", "sigma_g_mean", np.sqrt((apart**2).mean(axis=0))),
    ):
        if name in known:
            limit = np.sqrt(known[name]) if name == "G_sq" else known[name]
            at_most(what, found, limit, scale=at.steepest)
    if "L_sq" in known:
        equal("L_sq and L²", known["L_sq"], known["L"] ** 2)
    if "sigma_l" in known:
        equal("sigma_l and sigma", known["sigma_l"], known["sigma"])
    if form is not None:
        at_most("sigma of quadratic() ≤ sigma of constants()", form.sigma, known["sigma"])


def minimum(at: SamplePoints) -> None:
    """Check the optimum: value, gap and distance, R, F0 and zeta by it, and that no descent finds less.

    Gap and distance by the slope at x̂, where L says how far a point with such a slope is from the minimum at least.
    """
    p, best, known = at.problem, at.optimum, at.known
    if best is None:
        return
    value, x0 = p.value(best.x), np.asarray(p.x0, dtype=np.float64)
    scale, lower = max(at.largest, abs(value)), best.value - best.gap
    equal("value(x*) and the value of optimum()", value, best.value, scale=scale)
    at_most("f* − gap ≤ f(x)", lower, at.values, scale=scale)
    at_most("f(x0) − f* ≤ F0", p.value(x0) - best.value, known["F0"], scale=scale)
    error, size = best.distance or 0.0, norms(x0) + norms(best.x)
    at_most("‖x0 − x*‖ ≤ R", norms(x0 - best.x) - error, known["R"], scale=size)
    slopes = norms(np.array([p.gradient(i, best.x) for i in range(p.n)]))
    most = p.gradient_norms_at_optimum()
    if most is not None:
        what = "‖∇f_i(x*)‖ ≤ gradient_norms_at_optimum()"
        at_most(what, slopes, most + known["L"] * error, scale=at.steepest)
    if "L" in known:
        L, slope = known["L"], norms(p.full_gradient(best.x))
        if "zeta" in known:
            at_most("‖∇f_i(x*)‖ ≤ L·zeta", slopes, L * (known["zeta"] + error), scale=at.steepest)
        at_most("‖∇f(x̂)‖ ≤ √(2·L·gap) of optimum()", slope, np.sqrt(2.0 * L * best.gap), scale=at.steepest)
        if best.distance is not None:
            at_most("‖∇f(x̂)‖ ≤ L·distance of optimum()", slope, L * best.distance, scale=at.steepest)
    for name, start in (("x̂", best.x), ("x0", x0)):
        found = _lowest(at, np.asarray(start, dtype=np.float64))
        at_most(f"f* − gap of optimum() ≤ f at what a descent from {name} finds", lower, found, scale=scale)


def _lowest(at: SamplePoints, x: Floats) -> float:
    """Return the smallest value of f that is found: by a quasi-Newton method, then by random steps."""
    from scipy.optimize import minimize

    p, generator = at.problem, np.random.Generator(np.random.Philox(13))
    x = minimize(p.value, x, jac=p.full_gradient, method="L-BFGS-B", options={"maxiter": _DESCENTS}).x
    for size in np.repeat(at.reach * np.logspace(0, -7, 22), 4):
        steps = size / np.sqrt(p.d) * generator.normal(size=(_DIRECTIONS, p.d))
        around = np.concatenate((x[None], x + steps))
        x = around[np.argmin(p.values(around))]
    return p.value(x)


# All checks of one problem.

_SCALES = (1.0, 1e-4, 1e4)  # the usual points, very near and very far ones


def problem_checks(p: Problem | ProblemType, family: ProblemType | None = None) -> Iterator[Check]:
    """Return the checks of a problem, or those of all examples of a family.

    Parameters
    ----------
    family
        What builds the problem from options; None: what is registered under its id.
    """
    who = f"problem {p.id}"
    if isinstance(p, ProblemType):
        return of_examples(who, p, _of_problem)
    if p.simple is not None:
        raise SpecError(f"problem {p.id} has a part h that is no mean of clients' functions; check its f alone")
    return _of_problem(who, p, lookup("problems", p.id) if family is None else family)


def _of_problem(who: str, p: Problem, family: ProblemType) -> Iterator[Check]:
    return named(who, _CHECKS, [SamplePoints(p, scale, who) for scale in _SCALES], family)


def _shapes(at: SamplePoints) -> None:
    """Check n, d, x0 and the shapes of what the methods return."""
    p = at.problem
    expect(p.n >= 1 and p.d >= 1, f"n = {p.n} and d = {p.d} must be at least 1")
    expect(np.shape(p.x0) == (p.d,), f"x0 has shape {np.shape(p.x0)}, not (d,) = ({p.d},)")
    found = np.shape(p.gradient(0, at.points[0]))
    expect(found == (p.d,), f"gradient(0, x) has shape {found}, not (d,) = ({p.d},)")
    expect(np.isfinite(at.gradients).all(), "a gradient is not finite")
    expect(np.isfinite(at.values).all(), "a value is not finite")


def _means(at: SamplePoints) -> None:
    """Check that f is the mean of the f_i."""
    found, mean = [at.problem.full_gradient(x) for x in at.points], at.gradients.mean(axis=0)
    equal("full_gradient(x) and the mean of gradient(i, x)", found, mean, scale=at.steepest)
    if at.client_values is not None:
        mean = at.client_values.mean(axis=0)
        equal("value(x) and the mean of client_value(i, x)", at.values, mean, scale=at.largest)


def _keys(at: SamplePoints) -> None:
    """Check that clients with equal keys have equal functions."""
    first: dict[bytes, int] = {}
    for client, key in enumerate(map(at.problem.client_key, range(at.problem.n))):
        other = client if key is None else first.setdefault(key, client)
        what = f"clients {other} and {client} have one client_key; their"
        equal(f"{what} gradients", at.gradients[other], at.gradients[client])
        if at.client_values is not None:
            equal(f"{what} values", at.client_values[other], at.client_values[client])


def _rebuilt(samples: Sequence[SamplePoints], family: ProblemType) -> None:
    """Check that spec() is JSON and rebuilds the same problem."""
    at, p = samples[0], samples[0].problem
    again = rebuilt(at.who, p, family.build)
    found, expected = ((one.dtype, one.noiseless, one.value(at.points[-1])) for one in (again, p))
    expect(found == expected, f"spec() rebuilds dtype, noiseless, value(x) = {found} in place of {expected}")
    same(at, again, "spec()", [Fraction(1)] * p.n, rounding=0.0)


_at = partial(at_each, lambda samples: samples[:1])
_everywhere = partial(at_each, iter)
_CHECKS: Mapping[str, Callable[..., None]] = {
    "shapes are what they should be": _at(_shapes),
    "assumptions are answered, and constants exist where they are met": _at(assumptions),
    "many points at once, and local steps, are those of single points": _everywhere(batches),
    "f is the mean of the f_i": _everywhere(_means),
    "equal keys mean equal functions": _everywhere(_keys),
    "a step of the oracle repeats itself": _at(repeats),
    "gradients are those of the values, and differ by at most L and at least mu": _everywhere(pairs),
    "proximal steps are the closed forms": _everywhere(proximal_steps),
    "L and mu hold in the steepest and the flattest direction": _at(extremes),
    "gradients are as small as is said": _everywhere(sizes),
    "the minimum is certified": _at(minimum),
    "stochastic gradients are unbiased, and their noise as small as is said": _at(moments),
    "gradients jump only at kinks": _at(kinks),
    "its matrices, or rows and targets, are the problem": _everywhere(quadratic, least_squares),
    "the scaled problem is the problem": _at(scaled),
    "its spec rebuilds it": _rebuilt,
}
