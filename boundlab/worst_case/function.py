"""From a solution of the program to a function: few dimensions, and constants that hold exactly."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from boundlab.arithmetic.rational import exact
from boundlab.case import build_problem
from boundlab.objective import Problem
from boundlab.worst_case.classes import FunctionClass
from boundlab.worst_case.model import ProgramModel
from boundlab.worst_case.program import Compiled, Solution

Floats = NDArray[np.float64]
# How much of the worst case is given up: for a start inside of the class, and for few dimensions; and, tried in turn,
# for kinks without ties.
_INSIDE = 1e-7
SHARES = (2e-5, 2e-4, 2e-3)
_LOSS = 3e-6
_RANK = 1e-7
_GRID = 2.0**-44


@final
@dataclass(frozen=True, slots=True)
class Extracted:
    """A function near the worst one.

    Parameters
    ----------
    problem
        n functions; x* = 0 with f(x*) = 0.
    rank
        The dimension in which it lives.
    certified
        Whether its constants were seen to be within those of the theorem.
    """

    problem: Problem
    rank: int
    certified: bool


def stand_in(kind: FunctionClass, radius: float, step: float, share: float) -> FunctionClass | None:
    """Return the class from which a function is taken: a part of ``kind`` whose members can be written down.

    Parameters
    ----------
    radius, step
        ‖x_0 − x*‖ and the largest step size: what kinks are small against.
    share
        How small.
    """
    if kind.kind == "ConvexLipschitzFunction":
        return kind.slightly_smooth(share, radius)
    if kind.kind in ("ConvexFunction", "StronglyConvexFunction"):
        steep = {} if kind.gradient_square is None else {"M": exact(float(kind.gradient_square) ** 0.5 * (1 - 1e-12))}
        if steep and kind.kind == "ConvexFunction":
            return replace(kind, constants=steep, gradient_square=None).slightly_smooth(share, radius)
        constants = {**kind.constants, "L": exact(1.0 / (share * step))}
        name = "SmoothConvexFunction" if kind.kind == "ConvexFunction" else "SmoothStronglyConvexFunction"
        return replace(kind, kind=name, constants=constants)
    if kind.kind in ("SmoothConvexFunction", "SmoothStronglyConvexFunction", "SmoothConvexLipschitzFunction"):
        return replace(kind, minimiser=True)
    if kind.kind == "SmoothFunction":
        # Convex functions are a part of all smooth ones; where gradients are bounded, Lipschitz ones.
        if kind.gradient_square is None:
            return replace(kind, kind="SmoothConvexFunction", minimiser=True, relaxed="")
        steepest = exact(float(np.sqrt(float(kind.gradient_square))) * (1.0 - 1e-12))
        constants = {**kind.constants, "M": steepest}
        lipschitz = replace(kind, kind="SmoothConvexLipschitzFunction", constants=constants, gradient_square=None)
        return replace(lipschitz, minimiser=True, relaxed="")
    return None


def inside(constants: Mapping[str, Any]) -> dict[str, Any]:
    """Return the constants a hair smaller, so that rounding cannot put a function outside of them."""
    return {name: np.asarray(value, dtype=np.float64) * (1.0 - _INSIDE) for name, value in constants.items()}


def flat(compiled: Compiled, solution: Solution, level: float) -> tuple[Floats, Floats]:
    """Return a primal point of low rank that loses little: minimal trace, then log det."""
    n = compiled.program.points
    least = solution.primal - _LOSS * level
    best = (solution.gram, solution.values)
    weight: Floats = np.eye(n)
    for _ in range(3):
        found = compiled.flatten(weight, least)
        if found is None:
            break
        best = found
        scaled = best[0] / np.outer(compiled.program.scale, compiled.program.scale)
        weight = np.asarray(
            np.linalg.inv(scaled + 1e-4 * max(float(np.trace(scaled)) / n, 1e-12) * np.eye(n)), dtype=np.float64
        )
        weight /= np.abs(weight).max()
    return best


def extract(
    kind: FunctionClass, model: ProgramModel, gram: Floats, values: Floats, constants: Mapping[str, Any]
) -> Extracted | None:
    """Write down a function that interpolates the primal point.

    Parameters
    ----------
    kind
        Of the stand-in.
    gram, values
        The primal point.
    constants
        Those of the theorem, which the function must meet.

    Returns
    -------
    Extracted or None
        None where the Gram matrix is 0.
    """
    scale = model.program.scale
    size, vectors = np.linalg.eigh(gram / np.outer(scale, scale))
    keep = size > _RANK * float(size[-1])
    if not keep.any():
        return None
    vectors = (vectors[:, keep] * np.sqrt(size[keep])).T * scale  # columns are the leaf points
    start = _dense([model.start], len(scale))[0] @ vectors.T
    rotate = _towards(start)
    vectors = rotate @ vectors
    rank = len(vectors)
    x0 = np.zeros(rank)
    x0[0] = float(np.linalg.norm(start))
    if "R" in constants and abs(x0[0] - float(constants["R"])) <= 1e-5 * float(constants["R"]):
        x0[0] = float(constants["R"])  # the theorem's step size may depend on it
    strong = float(kind.constants.get("mu", 0.0))
    smooth = float(kind.constants["L"])
    steep = float(kind.constants["M"]) if "M" in kind.constants else None
    slopes, heights = [], []
    for samples in model.samples:
        x, g = (_dense([getattr(one, name) for one in samples], len(scale)) @ vectors.T for name in ("x", "g"))
        f = _dense([one.f.values for one in samples], len(values)) @ values
        slope = g - strong * x
        height = f - 0.5 * strong * (x * x).sum(1) - (slope * x).sum(1)
        slopes.append(slope)
        heights.append(height if kind.rounded else height + (slope * slope).sum(1) / (2.0 * (smooth - strong)))
    width = None if kind.rounded else smooth - strong
    a, b = _pieces(slopes, heights, steep, width)
    spec: dict[str, Any] = {"a": a.tolist(), "x0": x0.tolist()}
    spec["minimiser"] = [0.0] * rank
    if kind.rounded:
        problem = build_problem("max-affine", {**spec, "b": b.tolist()})
    else:
        spec |= {"c": b.tolist(), "L": smooth, "mu": strong}
        problem = build_problem("smoothed-max-affine", spec)
    return Extracted(problem, rank, _within(problem, kind, x0, constants))


def _dense(rows: Sequence[Mapping[int, Fraction]], width: int) -> Floats:
    """Return combinations as rows of floats."""
    return np.array([[float(row.get(place, 0)) for place in range(width)] for row in rows])


def _towards(start: Floats) -> Floats:
    """Return an orthogonal matrix that turns ``start`` into the first direction."""
    d, length = len(start), float(np.linalg.norm(start))
    if length == 0.0:
        return np.eye(d)
    basis = np.column_stack([start / length, np.eye(d)])
    q, _ = np.linalg.qr(basis)
    q[:, 0] = start / length
    return np.asarray(q.T)


def _pieces(
    slopes: list[Floats], heights: list[Floats], steep: float | None, width: float | None
) -> tuple[Floats, Floats]:
    """Return pieces, shapes (n, m, d) and (n, m), with which 0 is exactly a minimiser of f and f(0) = 0.

    The first piece of every client is the one of x*: slopes that sum to 0 exactly, as multiples of one number, and
    no other piece above it where it counts.
    """
    clients, most = len(slopes), max(map(len, slopes))
    a = np.zeros((clients, most, slopes[0].shape[1]))
    b = np.zeros((clients, most))
    unit = _GRID * 2.0 ** np.ceil(np.log2(max(float(np.abs(one).max()) for one in slopes) or 1.0))
    for client, (slope, height) in enumerate(zip(slopes, heights, strict=True)):
        own = np.round(slope / unit) * unit
        if steep is not None:
            # Slopes that are as steep as allowed up to the solver's digits are made so, and none is steeper.
            norms = np.linalg.norm(own, axis=1)
            full = norms > steep * (1.0 - 1e-5)
            scale = np.where(full, steep * (1.0 - 1e-11) / np.maximum(norms, 1e-300), 1.0)
            own = np.trunc(own * scale[:, None] / unit) * unit
        a[client] = own[0]
        a[client, : len(own)] = own
        b[client, : len(height)] = height
    # Σ_i a_i0 = 0: the last client takes what rounding left over.
    a[-1, 0] -= a[:, 0].sum(axis=0)
    for client, slope in enumerate(slopes):
        first = a[client, 0]
        a[client, len(slope) :] = first
        if width is None:
            b[client, 0] = 0.0
            limit = np.zeros(most)
        else:
            b[client, 0] = float(first @ first) / (2.0 * width)
            # At y = −a_0/width, from which x* = 0 is reached, the first piece must be on top.
            limit = b[client, 0] - (first - a[client]) @ first / width
        b[client, len(slope) :] = b[client, 0]
        b[client] = np.minimum(b[client], limit)
    return a, b


def _within(problem: Problem, kind: FunctionClass, x0: Floats, constants: Mapping[str, Any]) -> bool:
    """Return whether the function's constants are within those of the theorem; x* = 0 by construction."""
    origin = np.zeros(len(x0))
    if "R" in constants and not float(np.linalg.norm(x0)) <= float(constants["R"]):
        return False
    if "F0" in constants and not problem.value(x0) <= float(constants["F0"]):
        return False
    if problem.n > 1:
        if kind.deviation is not None:
            found = problem.constants().get("sigma_g")
            if found is None or not found.value <= float(kind.deviation):
                return False
        away = np.array([float(np.linalg.norm(problem.gradient(client, origin))) for client in range(problem.n)])
        if "G_star" in constants and not (away <= np.asarray(constants["G_star"])).all():
            return False
        if "zeta" in constants and float(kind.constants.get("mu", 0.0)) <= 0.0:
            return False
        if "zeta" in constants:
            return _minimisers_near(problem, float(np.asarray(constants["zeta"]).reshape(-1)[0]))
    return kind.gradient_square is None


def _minimisers_near(problem: Problem, zeta: float) -> bool:
    """Return whether every f_i has its minimiser within zeta of 0: gradient descent to a point of small gradient."""
    spec = problem.spec()
    mu, L = float(spec["mu"]), float(spec["L"])
    for client in range(problem.n):
        x = np.zeros(problem.d)
        for _ in range(2000):
            gradient = problem.gradient(client, x)
            if float(np.linalg.norm(gradient)) <= 1e-10 * mu * max(zeta, 1e-300):
                break
            x = x - gradient / L
        if float(np.linalg.norm(x)) + float(np.linalg.norm(problem.gradient(client, x))) / mu > zeta:
            return False
    return True
