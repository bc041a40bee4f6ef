"""A function of many variables, drawn along one line."""

from importlib.util import find_spec
from typing import Any

import numpy as np

from boundlab.errors import MissingExtraError


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
