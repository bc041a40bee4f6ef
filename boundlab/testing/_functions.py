"""Checks that values, gradients and keys belong to the same functions."""

import numpy as np

from boundlab.testing._agree import at_most, equal, expect
from boundlab.testing._sample import SamplePoints


def shapes(at: SamplePoints) -> None:
    """Check n, d, x0 and the shapes of what the methods return."""
    p = at.problem
    expect(p.n >= 1 and p.d >= 1, f"{at.who}: n = {p.n} and d = {p.d} must be at least 1")
    expect(np.shape(p.x0) == (p.d,), f"{at.who}: x0 has shape {np.shape(p.x0)}, not (d,) = ({p.d},)")
    found = np.shape(p.gradient(0, at.points[0]))
    expect(found == (p.d,), f"{at.who}: gradient(0, x) has shape {found}, not (d,) = ({p.d},)")
    expect(bool(np.isfinite(at.gradients).all()), f"{at.who}: a gradient is not finite")
    expect(bool(np.isfinite(at.values).all()), f"{at.who}: a value is not finite")


def means(at: SamplePoints) -> None:
    """Check that f is the mean of the f_i."""
    p = at.problem
    found = [p.full_gradient(x) for x in at.points]
    what = f"{at.who}: full_gradient(x) and the mean of gradient(i, x)"
    equal(what, found, at.gradients.mean(axis=0), scale=at.steepest)
    if at.client_values is not None:
        what = f"{at.who}: value(x) and the mean of client_value(i, x)"
        equal(what, at.values, at.client_values.mean(axis=0), scale=at.largest)


def keys(at: SamplePoints) -> None:
    """Check that clients with equal keys have equal functions."""
    first: dict[bytes, int] = {}
    for client in range(at.problem.n):
        key = at.problem.client_key(client)
        if key is None:
            continue
        other = first.setdefault(key, client)
        what = f"{at.who}: clients {other} and {client} have one client_key; their"
        equal(f"{what} gradients", at.gradients[other], at.gradients[client])
        if at.client_values is not None:
            equal(f"{what} values", at.client_values[other], at.client_values[client])


def slopes(at: SamplePoints) -> None:
    """Check gradients against values: tangents of convex functions lie below, those of smooth ones are close."""
    p, reasons, known = at.problem, at.problem.assumptions(), at.problem.constants()
    if at.client_values is None:
        return
    away = at.points[None] - at.points[:, None]  # (S, S, d): from row to column
    squares = (away**2).sum(axis=2)
    scale = at.largest + at.steepest * float(np.sqrt(squares.max()))
    for client in range(p.n):
        value = at.client_values[client]
        above = value[None] - value[:, None] - np.einsum("sd,std->st", at.gradients[client], away)
        if not reasons.get("convex", "unsaid"):
            at_most(f"{at.who}: a tangent of convex f_{client} ≤ f_{client}", -above, 0.0, scale=scale)
        if "mu" in known:
            what = f"{at.who}: the parabola of curvature mu below f_{client} ≤ f_{client}"
            at_most(what, known["mu"].value / 2.0 * squares - above, 0.0, scale=scale)
        if "L" in known:
            what = f"{at.who}: |f_{client} − tangent| ≤ L/2·‖x − y‖²"
            at_most(what, np.abs(above), known["L"].value / 2.0 * squares, scale=scale)
