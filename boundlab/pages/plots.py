"""Plots. Colours are from Okabe and Ito's colour-blind-safe set; lines also differ in style."""

import os
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from boundlab.errors import MissingExtraError, OutputError, SpecError
from boundlab.files import replacing

if TYPE_CHECKING:
    from boundlab.server_rate import OptimalRate
    from boundlab.simulate.simulation import Simulation

BLUE, ORANGE, GREEN, PURPLE, SKY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9"
BLACK = "#000000"
_FORMATS = ("png", "svg", "pdf")
_DPI = 110  # of figures in a notebook
_UNDER = 36.0  # points from the lowest axes to the legend: numbers and the name of the axis stand between


def check_format(path: Path) -> None:
    """Say before the work, not after it, what would keep a plot from being drawn.

    Raises
    ------
    SpecError
        If the file's ending is not one that can be drawn.
    MissingExtraError
        If matplotlib is not installed.
    """
    _require_matplotlib()
    if path.suffix.lstrip(".").lower() not in _FORMATS:
        raise SpecError(f"cannot draw {path.name}: the file must end in .{', .'.join(_FORMATS)}")


def _require_matplotlib() -> None:
    if find_spec("matplotlib") is None:
        raise MissingExtraError('plots need matplotlib: pip install "boundlab[plot]"')
    try:
        import matplotlib  # noqa: F401  (it reads its settings: what is wrong with them is said before the work)
    except ValueError as error:
        where = f"MPLBACKEND={os.environ.get('MPLBACKEND', '')}"
        raise SpecError(f"matplotlib refuses its settings ({where}): {error}") from None


def blank_figure(width: float, height: float) -> Any:
    """Return a figure of this size in inches, without axes.

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed.
    """
    _require_matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), dpi=140, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def new_figure(width: float = 7.0, height: float = 4.6, *, panel: bool = False) -> tuple[Any, Any]:
    """Return a figure of this size in inches, and its axes; ``panel``: two, a lower one below the main one."""
    figure = blank_figure(width, height)
    return figure, _pair(figure) if panel else figure.add_subplot()


def _pair(figure: Any) -> Any:
    return figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))


def save_figure(figure: Any, path: Path) -> None:
    """Write a figure in the format that the file's ending names.

    Raises
    ------
    OutputError
        If the file cannot be written.
    """
    with replacing(path) as temporary:
        try:
            figure.savefig(temporary, format=path.suffix.lstrip(".").lower())
        except OSError as error:
            raise OutputError(f"cannot write {path}: {error.strerror}") from None


def axes_for(ax: Any, width: float = 7.0, height: float = 4.6) -> Any:
    """Return the axes to draw on: those given, or those of a new figure of pyplot, which a notebook shows.

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed.
    """
    if ax is not None:
        return ax
    _require_matplotlib()
    from matplotlib import pyplot

    return pyplot.subplots(figsize=(width, height), dpi=_DPI, layout="constrained")[1]


def pair_for(ax: Any, width: float = 9.6, height: float = 6.4) -> tuple[Any, Any]:
    """Return main and lower axes to draw on: those given, None for a lower one that is not, or new ones.

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed.
    """
    if ax is None:
        _require_matplotlib()
        from matplotlib import pyplot

        main, below = _pair(pyplot.figure(figsize=(width, height), dpi=_DPI, layout="constrained"))
        return main, below
    return tuple(ax) if np.ndim(ax) else (ax, None)


def legend_below(axes: Any, lowest: Any) -> None:
    """Say in columns under all axes what is drawn, so that data have the whole width."""
    from matplotlib.transforms import offset_copy

    under = offset_copy(lowest.transAxes, lowest.figure, y=-_UNDER, units="points")
    place = {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0), "bbox_transform": under, "borderaxespad": 0.0}
    shown = {"fontsize": 9, "handlelength": 3.6, "labelspacing": 0.8, "frameon": False, "ncols": 3}
    lowest.legend(*axes.get_legend_handles_labels(), **place, **shown)


def short_labels(axis: Any, low: float, high: float) -> None:
    """Write the numbers at a logarithmic axis of few decades without powers."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    decades = np.log10(high / low)
    if decades > 3.0 or low < 1e-4 or high > 1e5:
        return
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if decades <= 2.2 else (1.0,), numticks=20))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def draw_run(result: "Simulation", name: str, ax: Any = None) -> Any:
    """Draw one metric of a simulation: the mean over the trials, and their range; return the axes.

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed.
    """
    from boundlab.metrics import METRICS

    axes, values, keep = axes_for(ax), result.metrics[name], result.ks > 0
    ks, trials = result.ks[keep], len(values)
    low, high = values.min(axis=0)[keep], values.max(axis=0)[keep]
    label = f"smallest to largest of {trials} trials"
    axes.fill_between(ks, np.maximum(low, high * 1e-6), high, color=SKY, alpha=0.45, linewidth=0, label=label)
    axes.plot(ks, values.mean(axis=0)[keep], "-", color=BLUE, linewidth=2, label=f"mean of {trials} trials")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("iteration k")
    axes.set_ylabel(METRICS[name].point)
    clients = f"{result.problem.n} client" + ("s" if result.problem.n > 1 else "")
    axes.set_title(f"{result.algorithm.id} on {result.problem.id}, {clients}, {result.delays.id} delays", fontsize=10)
    axes.grid(visible=True, which="major", alpha=0.3)
    axes.legend(fontsize=8, handlelength=3.5)
    return axes


def plot_rates(result: "OptimalRate", path: Path) -> None:
    """Draw both objectives into a file; see :func:`draw_rates`.

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed.
    OutputError
        If the file cannot be written.
    """
    check_format(path)
    figure, axes = new_figure()
    draw_rates(result, axes)
    save_figure(figure, path)


def draw_rates(result: "OptimalRate", ax: Any = None) -> Any:
    """Draw both objectives over the server rate: the bound at each λ_s relative to its least value or limit.

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed.
    """
    from boundlab.server_rate import closed_form, curve

    axes = axes_for(ax)
    rates, cost = result.rates, result.server_cost
    centre = closed_form(rates)
    servers = centre * np.logspace(-2.0, 2.0, 401)
    limit = float(2.0 * np.mean(1.0 / rates))
    fixed = curve(rates, servers, "per-iteration") / curve(rates, [centre], "per-iteration")
    axes.plot(servers, np.sqrt(fixed), "-", color=BLUE, linewidth=2, label="fixed number of iterations $K$")
    axes.plot([centre], [1.0], "o", color=BLUE, markersize=8, label=f"$\\lambda_s^\\star$ = {centre:.4g}")
    free = curve(rates, servers, "per-time") / limit
    axes.plot(servers, np.sqrt(free), "--", color=ORANGE, linewidth=2, label="fixed wall-clock time: no minimum")
    if result.lambda_epsilon is not None:
        label = f"within {result.epsilon:.3g} of the limit from $\\lambda_s$ = {result.lambda_epsilon:.4g}"
        axes.plot(
            [result.lambda_epsilon], [1.0 + float(result.epsilon or 0.0)], "s", color=ORANGE, markersize=7, label=label
        )
    if cost and result.lambda_s is not None:
        priced = curve(rates, servers, "per-time", cost) / result.value
        axes.plot(
            servers, np.sqrt(priced), "-.", color=PURPLE, linewidth=2, label=f"fixed time, {cost:.3g} per aggregation"
        )
        axes.plot(
            [result.lambda_s],
            [1.0],
            "^",
            color=PURPLE,
            markersize=8,
            label=f"$\\lambda_s^\\star$ = {result.lambda_s:.4g}",
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter("{x:g}")
    axes.set_xlabel("server rate $\\lambda_s$   [aggregations per unit of time]")
    axes.set_ylabel("Theorem 8 bound relative to its infimum")
    axes.set_title(f"AREA, Theorem 8: the bound against the server rate, {len(rates)} clients", fontsize=10)
    axes.grid(visible=True, which="both", alpha=0.25)
    axes.legend(fontsize=8, handlelength=3.5)
    return axes
