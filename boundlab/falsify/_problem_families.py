"""Structured problems: the functions and starts on which bounds fail, for each kind of theorem."""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np

from boundlab.assumptions import BOUNDED_DOMAIN, COMPOSITE, RELATIVE
from boundlab.falsify._edges import edges
from boundlab.theorems import Theorem

Shape = tuple[str, dict[str, Any]]
# λ/L of the coordinate that a run moves in, where another one has the curvature L and rests.
_LOW = (0.5, 0.1, 0.01)
_UPHILL = (3.3, 1.2)  # starts beyond and before the flat step
# Radii of balls around 0, in units of the smallest that holds x0 and the centres or x0 alone.
_RADII = (1.0, 2.0)


def kind_of(theorem: Theorem) -> str:
    """Return which functions the theorem is about: quadratics where f must be strongly convex."""
    if "strongly-convex" in theorem.core.assumed:
        return "quadratic"
    return "huber" if "smooth" in theorem.core.assumed else "lad"


def kinds_of(theorem: Theorem) -> tuple[str, ...]:
    """Return all such functions: what holds at every x may hold of quadratics alone, or of others alone."""
    first = kind_of(theorem)
    return ("quadratic", first) if theorem.assume and first != "quadratic" and not bounded(theorem) else (first,)


def bounded(theorem: Theorem) -> bool:
    """Return whether the theorem asks for bounded (sub)gradients, which quadratics do not have."""
    return bool({"lipschitz", "bounded-gradients", "bounded-second-moment"} & theorem.core.assumed)


def errors(theorem: Theorem) -> Iterator[dict[str, Any]]:
    """Yield errors of gradients that the theorem allows, as options of a problem; none first."""
    yield {}
    if len(theorem.core.errors) == 1:  # no problem with errors is of both kinds
        for size in (0.1, -0.1, 0.5, -0.5):
            yield {"error": f"relative:{size}" if RELATIVE in theorem.core.errors else size}


def noise_allowed(theorem: Theorem) -> bool:
    """Return whether the theorem is about noisy gradients, too."""
    return not theorem.core.noiseless


def on_data(theorem: Theorem) -> bool:
    """Return whether the theorem is about functions that are drawn, such as the losses of rows of data."""
    return "sampled-functions" in theorem.core.assumed


def on_balls(shapes: Iterator[Shape]) -> Iterator[Shape]:
    """Yield problems on balls around 0 that hold their starts, small ones first: constants grow with the ball.

    Where start and centres are 0 the ball has the radius 1.
    """
    for words, shape in shapes:
        size = float(np.linalg.norm(np.atleast_1d(shape["x0"])))
        far = float(np.linalg.norm(np.array(shape["c"], dtype=np.float64).reshape(len(shape["c"]), -1), axis=1).max())
        for radius in dict.fromkeys(
            float(f"{times * one * (1.0 + 1e-3 * (np.size(shape['x0']) > 1)):.4g}")
            for one in (size or far or 1.0, max(size, far) or 1.0)
            for times in _RADII
        ):
            yield f"{words}, in a ball", {**shape, "ball": radius}


def quiet(theorem: Theorem, clients: int, lasts: Sequence[int]) -> Iterator[Shape]:
    """Yield problems without noise, on balls where the theorem is about a bounded set; see :func:`_everywhere`.

    None where functions are drawn: data of one row have no noise, and are among :func:`noisy`.
    """
    if on_data(theorem):
        return
    if BOUNDED_DOMAIN not in theorem.core.assumed:
        for kind in kinds_of(theorem):
            yield from _everywhere(theorem, kind, clients, lasts)
        return
    # On a ball quadratics have bounded gradients.
    strong = "strongly-convex" in theorem.core.assumed
    for kind in ("quadratic",) if strong else ("huber", "quadratic"):
        yield from on_balls(_everywhere(theorem, kind, clients, lasts))


def _everywhere(theorem: Theorem, kind: str, clients: int, lasts: Sequence[int]) -> Iterator[Shape]:
    """Yield (what it is, problem) without noise, from the minimiser if the centres differ, else from one unit away.

    Parameters
    ----------
    lasts
        Horizons for which the worst threshold of a Huber function is known: 1/(2K+1) for gradient descent.
    """
    base = _base(kind, clients)
    yield "equal functions", {**base, "c": [0.0] * clients, "x0": 1.0}
    if kind == "lad":
        yield "equal functions", {**base, "type": "huber", "delta": 0.1, "c": [0.0] * clients, "x0": 1.0}
    if kind == "huber" and clients == 1:
        for last in lasts:
            for delta in dict.fromkeys((1.0 / (2 * last + 1), 1.0 / (last + 1))):
                yield "equal functions, linear far out", {**base, "delta": delta, "c": [0.0] * clients, "x0": 1.0}
    if COMPOSITE in theorem.core.assumed and "constrained" not in theorem.core.assumed and kind != "lad":
        yield from _penalised(theorem, kind, base, clients, lasts)
    if clients > 1:
        yield from _apart(theorem, kind, base, clients)
    if clients == 1 or (clients == 2 and kind == "quadratic"):
        yield from _directions(theorem, kind, clients)


def _penalised(
    theorem: Theorem, kind: str, base: dict[str, Any], clients: int, lasts: Sequence[int]
) -> Iterator[Shape]:
    """Yield functions with a penalty: flat ones, of which only the penalty moves a run, and clients apart.

    K steps of 1/L along |x| times LR/(2K) end half way, at a gap of LR²/(4K): h = 0 leaves LR²/(4K + 2) at most.
    """
    for last in lasts if clients == 1 else ():
        whole = 1.0 / (2 * last)  # the slope of f and h together
        if kind == "huber":
            delta = 1e-3 * whole
            flat = {**base, "delta": delta, "l1": whole - delta, "c": [0.0], "x0": 1.0}
            yield "a penalty, nearly flat functions", flat
        for low in _LOW[1:] if kind == "quadratic" else (0.0,):
            flat = {**base, "w": [[low, 1.0]], "l1": whole, "c": [[0.0, 0.0]], "x0": [1.0, 0.0]}
            yield "a penalty, functions that are flat in one direction", flat
    if clients > 1 and "one-function" not in theorem.core.assumed:
        for weight in (0.1, 0.5):
            yield "two centres and a penalty", {**base, "c": [0.0] * (clients - 1) + [1.0], "l1": weight, "x0": 1.0}


def _base(kind: str, clients: int) -> dict[str, Any]:
    return {"type": kind, "sigma": 0.0, "w": [1.0] * clients} | _width(kind, 1.0)


def _width(kind: str, delta: float) -> dict[str, float]:
    return {"delta": delta} if kind == "huber" else {}


def _directions(theorem: Theorem, kind: str, clients: int) -> Iterator[Shape]:
    """Yield functions of several coordinates: one gives L, one mu, and a run moves in one of them or between."""
    flat = "quadratic" if kind == "huber" and not bounded(theorem) else kind
    base = {"type": flat, "sigma": 0.0, **_width(flat, 1.0)}
    for low in _LOW if kind == "quadratic" else _LOW[:2]:
        for start in ([1.0, 0.0], [0.0, 1.0], [1.0, 1.0]) if kind == "quadratic" else ([1.0, 0.0], [1.0, 1.0]):
            problem = {**base, "w": [[low, 1.0]] * clients, "c": [[0.0, 0.0]] * clients, "x0": start}
            yield f"two curvatures in two directions, ratio {1.0 / low:g}", problem
    for low, between in ((0.1, 0.75), (0.1, 0.5), (0.1, 0.25), (1e-4, 1e-2)) if kind == "quadratic" else ():
        problem = {**base, "c": [[0.0] * 3] * clients, "x0": [0.0, 1.0, 0.0]}
        yield "three curvatures", {**problem, "w": [[low, between, 1.0]] * clients}


def _apart(theorem: Theorem, kind: str, base: dict[str, Any], clients: int) -> Iterator[Shape]:
    """Yield clients that pull to different places."""
    last = [0.0] * (clients - 1) + [1.0]
    for delta in (1.0, 0.5, 0.25, 2.0) if kind == "huber" else (1.0,):
        yield "two centres", {**base, "c": last, **_width(kind, delta), "x0": 1.0 / clients}
    yield "two centres", {**base, "c": [0.0] + [1.0] * (clients - 1), "x0": 1.0 - 1.0 / clients}
    uneven = [1.0] * (clients - 1) + [0.25]
    yield "two curvatures", {**base, "c": last, "w": uneven, "x0": 0.25 / sum(uneven)}
    if clients == 2 and kind == "quadratic":
        # A client that is flat where the other is steep.
        yield (
            "crossed curvatures",
            {**base, "w": [[1.0, 0.1], [0.1, 1.0]], "c": [[0.0, 1.0], [1.0, 0.0]], "x0": [1.0 / 11.0, 1.0 / 11.0]},
        )
        if "strongly-convex" not in theorem.core.assumed:
            flat = {**base, "w": [[1.0, 0.0], [0.5, 1.0]], "c": [[0.0, 0.0], [1.0, 1.0]], "x0": [1.0, 1.0]}
            yield "one client is flat where the other one is not", flat


def staircases(theorem: Theorem) -> Iterator[Shape]:
    """Yield f of one coordinate with f' = x up to 1, the slope mu up to 2, and the slope 1 again: momentum may cycle.

    They are maxima of affine functions with rounded kinks, plus mu/2·x².
    """
    if kind_of(theorem) != "quadratic" or BOUNDED_DOMAIN in theorem.core.assumed or on_data(theorem):
        return
    for mu, x0 in product((*edges(theorem, "mu", {"L": 1.0}), *_LOW[1:]), _UPHILL):
        if mu < 1.0:
            rise = round(1.0 - mu, 12)
            steps = {"a": [[[-4.0 * rise], [rise], [5.0 * rise]]], "c": [[0.0, 0.0, -4.0 * rise]]}
            yield (
                "a flat step between steep ones",
                {"type": "smoothed-max-affine", **steps, "L": 1.0, "mu": mu, "x0": x0},
            )


def starts(shape: dict[str, Any]) -> tuple[Any, ...]:
    """Return start points besides the one that the shape has: kinks, a centre, and points further away."""
    if "ball" in shape and not isinstance(shape["x0"], list):
        return tuple(float(f"{part * shape['ball']:.4g}") for part in (-1.0, 0.0, 0.5, 1.0))
    if isinstance(shape["x0"], list) or shape.get("delta", 1.0) not in (1.0, 0.1):
        return ()
    if not any(shape["c"]):
        return 0.5, 2.0, 5.0
    return 0.0, 1.0, 1.0 / 3.0


def noisy(theorem: Theorem, clients: int) -> Iterator[Shape]:
    """Yield problems with noise, from the minimiser and from one unit away.

    Runs with noise are followed on quadratic parts; where gradients must be bounded, the quadratic part of a Huber
    function is made as wide as the run needs. On balls noise has two signs, of which all sequences are looked at, and
    where functions are drawn the noise is that of mini-batches.
    """
    if on_data(theorem):
        yield from _rows(clients)
        return
    if BOUNDED_DOMAIN in theorem.core.assumed:
        yield from on_balls(_signs(theorem, clients))
        return
    for kind in ("quadratic",) * (not bounded(theorem)) + ("huber",) * bool(bounded(theorem) or theorem.assume):
        yield from _with_noise(kind, clients)


def _with_noise(kind: str, clients: int) -> Iterator[Shape]:
    base: dict[str, Any] = {"type": kind, "c": [0.0] * clients, "w": [1.0] * clients, **_width(kind, 1.0)}
    yield "noise at the minimiser", {**base, "x0": 0.0, "sigma": 1.0}
    for sigma in (1.0, 0.1, 10.0, 100.0):
        yield "noise on the way", {**base, "x0": 1.0, "sigma": sigma}
    if kind == "quadratic":
        for low, start in product((0.5, 0.1), ([0.0, 0.0], [1.0, 0.0], [1.0, 1.0])):
            yield (
                "noise in two directions",
                {
                    **base,
                    "w": [[low, 1.0]] * clients,
                    "c": [[0.0, 0.0]] * clients,
                    "x0": start,
                    "sigma": 1.0,
                },
            )
    if clients > 1:
        apart = {**base, "c": [0.0] * (clients - 1) + [1.0]}
        yield "noise and two centres", {**apart, "x0": 1.0 / clients, "sigma": 0.5}
        yield "noise and two centres", {**apart, "x0": 0.0, "sigma": 0.1}


def _signs(theorem: Theorem, clients: int) -> Iterator[Shape]:
    """Yield problems with noise of two signs, which a projection cuts where it is large."""
    for kind in ("quadratic",) if "strongly-convex" in theorem.core.assumed else ("quadratic", "huber"):
        base = {**_base(kind, clients), "c": [0.0] * clients, "noise": "sign", "x0": 1.0}
        yield "noise at the minimiser", {**base, "x0": 0.0, "sigma": 1.0}
        for sigma in (1.0, 0.1, 2.0):
            yield "noise on the way", {**base, "sigma": sigma}
        if clients > 1:
            yield "noise and two centres", {**base, "c": [-1.0] * (clients - 1) + [1.0], "sigma": 1.0}


def _rows(clients: int) -> Iterator[Shape]:
    """Yield least squares on few rows, of which the steepest has the curvature 1, with mini-batches of one row or two.

    All clients have the same rows, of which gradients at the minimiser 0 differ; or others have other targets.
    """
    flat, tilted = [[1.0, 0.0], [0.0, 0.5]], [[1.0, 0.0], [0.6, 0.8]]
    alike: tuple[tuple[str, list[Any], list[float], tuple[Any, ...]], ...] = (
        ("one row", [1.0], [0.0], (1.0,)),
        ("rows of one curvature", [1.0, 1.0], [-1.0, 1.0], (0.0, 1.0)),
        ("rows of two curvatures", [1.0, 0.5], [-1.0, 2.0], (0.1, 1.0, -0.1)),
        ("rows of two curvatures", [1.0, 0.1], [-1.0, 10.0], (0.1, 1.0, -0.1)),
        ("three rows", [1.0, 1.0, 0.5], [-1.0, 0.0, 2.0], (0.1,)),
        ("a steep row of four", [1.0, 0.1, 0.1, 0.1], [-3.0, 10.0, 10.0, 10.0], (3.0,)),
        ("rows of two directions", tilted, [0.0, 0.0], ([-0.4, 0.8],)),
        ("rows of two directions", flat, [0.0, 0.0], ([1.0, 1.0],)),
        ("rows of two directions, noise in one", [flat[0], *flat], [-1.0, 1.0, 0.0], ([0.1, 0.0],)),
    )
    for words, rows, targets, of_start in alike:
        base: dict[str, Any] = {"type": "least-squares", "a": [rows] * clients, "y": [targets] * clients}
        for x0, batch in product(of_start, (1, 2) if len(rows) > 2 else (1,)):
            yield words, {**base, "batch": batch, "x0": x0}
    for shift in (1.0, 10.0) if clients > 1 else ():
        apart = [[target + shift * (client == clients - 1) for target in (-1.0, 1.0)] for client in range(clients)]
        base = {"type": "least-squares", "a": [[1.0, 1.0]] * clients, "y": apart, "batch": 1}
        for x0 in (shift / clients, 0.0):
            yield "clients with different rows", {**base, "x0": x0}
