"""Plots. Colours are from Okabe and Ito's colour-blind-safe set; lines also differ in style."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from boundlab.errors import MissingExtraError, OutputError, SpecError
from boundlab.files import replacing

if TYPE_CHECKING:
    from boundlab.compare.comparison import Comparison
    from boundlab.instance.plan import Plan
    from boundlab.server_rate import OptimalRate
    from boundlab.simulate.simulation import Simulation

BLUE, ORANGE, GREEN, PURPLE, SKY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9"
BLACK = "#000000"
_TERM_STYLES = (
    (0, (1, 1)), (0, (5, 1, 1, 1)), (0, (3, 2)), (0, (7, 2, 1, 2, 1, 2)), (0, (1, 3)), (0, (9, 2)),
)  # fmt: skip
_Line = tuple[str, NDArray[np.float64], str, Any, float]  # label, values at plan.ks, colour, line style, width
_FORMATS = ("png", "svg", "pdf")


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


def new_figure(width: float = 7.0, height: float = 4.6) -> tuple[Any, Any]:
    """Return a figure of this size in inches, and its axes."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), dpi=140, layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.add_subplot()


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

    return pyplot.subplots(figsize=(width, height), dpi=120, layout="constrained")[1]


def plot_comparison(result: "Comparison", path: Path, terms: bool = False, others: tuple["Plan", ...] = ()) -> None:
    """Draw a comparison into a file; see :func:`draw_comparison`.

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed.
    OutputError
        If the file cannot be written.
    """
    check_format(path)
    figure, axes = new_figure()
    draw_comparison(result, axes, terms, others)
    save_figure(figure, path)


def draw_comparison(result: "Comparison", ax: Any = None, terms: bool = False, others: tuple["Plan", ...] = ()) -> Any:
    """Draw the band of the left side and the bound over the iterations, and return the axes.

    Parameters
    ----------
    terms
        Also draw the named terms of the bound.
    others
        Plans with the same iterations, whose bounds are drawn too.

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed.
    """
    axes = axes_for(ax)
    plan = result.plan
    lines: list[_Line] = [(f"{plan.theorem.id} ({plan.theorem.status})", result.bound, ORANGE, "--", 2.0)]
    lines += [(f"{other.theorem.id} ({other.theorem.status})", other.bound, GREEN, "-.", 2.0) for other in others]
    if terms and len(result.terms) > 1:
        for place, (name, values) in enumerate(result.terms.items()):
            if (values > 0.0).any():  # a term that vanishes has no place on a logarithmic axis
                grey = str(0.25 + 0.12 * (place % 4))
                lines.append((f"term: {name}", values, grey, _TERM_STYLES[place % len(_TERM_STYLES)], 2.0))
    still = result.standstill.level
    if np.isfinite(still) and still > 0.0:
        lines.append((f"no step at all: {still:.3g}", np.full(len(plan.ks), still), BLACK, "-", 0.8))
    keep = plan.ks > 0
    (_draw_point if np.count_nonzero(keep) == 1 else _draw_curves)(axes, result, keep, lines)
    _name(axes, plan)
    axes.grid(visible=True, which="major", alpha=0.3)
    axes.legend(fontsize=8, handlelength=3.5)
    return axes


def draw_horizons(results: "Sequence[Comparison]", ax: Any = None, terms: bool = False) -> Any:
    """Draw the left sides and the bounds of several horizons as curves, and return the axes.

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed.
    """
    axes, first = axes_for(ax), results[0]
    plan = first.plan
    ks = [int(one.plan.ks[-1]) for one in results]
    middle, band = max(map(_labels, results), key=lambda one: len(one[1]))
    if band:
        upper = np.array([one.band.upper[-1] for one in results])
        lower = np.maximum([one.band.lower[-1] for one in results], upper * 1e-6)
        axes.fill_between(ks, lower, upper, color=SKY, alpha=0.45, linewidth=0, label=band)
    axes.plot(ks, [one.band.mean[-1] for one in results], "o-", color=BLUE, linewidth=2, markersize=4, label=middle)
    label = f"{plan.theorem.id} ({plan.theorem.status})"
    axes.plot(ks, [one.bound[-1] for one in results], "s--", color=ORANGE, linewidth=2, markersize=4, label=label)
    for place, name in enumerate(first.terms if terms and len(first.terms) > 1 else ()):
        values = np.array([one.terms[name][-1] for one in results])
        if (values > 0.0).any():
            style, grey = _TERM_STYLES[place % len(_TERM_STYLES)], str(0.25 + 0.12 * (place % 4))
            axes.plot(ks, values, linestyle=style, color=grey, linewidth=2, label=f"term: {name}")
    still = first.standstill.level
    if np.isfinite(still) and still > 0.0:
        axes.axhline(still, color=BLACK, linewidth=0.8, label=f"no step at all: {still:.3g}")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel(f"horizon {plan.theorem.counter}, each a run of its own")
    _name(axes, plan)
    axes.grid(visible=True, which="major", alpha=0.3)
    axes.legend(fontsize=8, handlelength=3.5)
    return axes


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


def _name(axes: Any, plan: "Plan") -> None:
    """Write what is drawn: the left side with its unit, and who ran on what."""
    axes.set_ylabel(f"E[{plan.metric.symbol}]   [{plan.metric.unit}]")
    clients = f"{plan.problem.n} client" + ("s" if plan.problem.n > 1 else "")
    axes.set_title(f"{plan.algorithm.id} on {plan.problem.id}, {clients}, {plan.delays.id} delays", fontsize=10)


def _counted(result: "Comparison", events: str) -> str:
    if result.plan.theorem.counter == "T":
        return "server updates T"
    return f"{events} (client updates and aggregations)"


def _labels(result: "Comparison") -> tuple[str, str]:
    """Return what the middle of the left side is, and what the band around it is; '' where there is none."""
    left, symbol = result.band, f"E[{result.plan.metric.symbol}]"
    if result.exact == "expectation":
        return f"{symbol}, computed", ""
    if left.level == 1.0:
        what = "expectations" if result.exact else "values"
        return f"mean of {left.trials} schedules", f"smallest to largest of the {what} of {left.trials} schedules"
    kind = "" if left.guaranteed else ", upper side approximate"
    return f"mean of {left.trials} trials", f"{100 * left.level:.4g}% joint band of {symbol}{kind}"


def _draw_curves(axes: Any, result: "Comparison", keep: NDArray[np.bool_], lines: list[_Line]) -> None:
    """Draw band, mean and bounds over the iterations, both axes logarithmic."""
    ks, left = result.plan.ks[keep], result.band
    middle, band = _labels(result)
    if band:
        lower, upper = left.lower[keep], left.upper[keep]
        floor = np.maximum(lower, upper * 1e-6)
        axes.fill_between(ks, floor, upper, color=SKY, alpha=0.45, linewidth=0, label=band)
    axes.plot(ks, left.mean[keep], "-", color=BLUE, linewidth=2, label=middle)
    for label, values, colour, style, width in lines:
        shown = np.where(values[keep] > 0.0, values[keep], np.nan)
        axes.plot(ks, shown, linestyle=style, color=colour, linewidth=width, label=label)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel(_counted(result, "iteration k"))


def _draw_point(axes: Any, result: "Comparison", keep: NDArray[np.bool_], lines: list[_Line]) -> None:
    """Draw what a bound about one K alone says: an error bar, and a level for each line."""
    left, k = result.band, int(result.plan.ks[keep][0])
    mean, lower, upper = left.mean[keep], left.lower[keep], left.upper[keep]
    middle, band = _labels(result)
    error = [mean - lower, upper - mean] if band else None
    axes.errorbar([0.0], mean, yerr=error, fmt="o", color=BLUE, capsize=8, label=band or middle)
    levels = [float(values[keep][0]) for _, values, *_ in lines]
    for level, (label, _, colour, style, width) in zip(levels, lines, strict=True):
        axes.axhline(level, linestyle=style, color=colour, linewidth=width, label=label)
    if max(levels) > 30.0 * float(mean[0]):
        axes.set_yscale("log")
    else:
        axes.set_ylim(0.0, 1.15 * max(*levels, float(upper[0])))
    axes.set_xlim(-1.0, 1.0)
    axes.set_xticks([0.0], [f"{result.plan.theorem.counter} = {k}"])
    axes.set_xlabel(_counted(result, "iterations"))


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
    axes.plot(servers, np.sqrt(fixed), "-", color=BLUE, linewidth=2, label="fixed number of iterations K")
    axes.plot([centre], [1.0], "o", color=BLUE, markersize=8, label=f"λ_s* = {centre:.4g}")
    free = curve(rates, servers, "per-time") / limit
    axes.plot(servers, np.sqrt(free), "--", color=ORANGE, linewidth=2, label="fixed wall-clock time: no minimum")
    if result.lambda_epsilon is not None:
        label = f"within {result.epsilon:.3g} of the limit from λ_s = {result.lambda_epsilon:.4g}"
        axes.plot(
            [result.lambda_epsilon],
            [1.0 + float(result.epsilon or 0.0)],
            "s",
            color=ORANGE,
            markersize=7,
            label=label,
        )
    if cost and result.lambda_s is not None:
        priced = curve(rates, servers, "per-time", cost) / result.value
        axes.plot(
            servers,
            np.sqrt(priced),
            "-.",
            color=PURPLE,
            linewidth=2,
            label=f"fixed time, {cost:.3g} per aggregation",
        )
        axes.plot([result.lambda_s], [1.0], "^", color=PURPLE, markersize=8, label=f"λ_s* = {result.lambda_s:.4g}")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter("{x:g}")
    axes.set_xlabel("server rate λ_s   [aggregations per unit of time]")
    axes.set_ylabel("Theorem 8 bound relative to its infimum")
    axes.set_title(f"AREA, Theorem 8: the bound against the server rate, {len(rates)} clients", fontsize=10)
    axes.grid(visible=True, which="both", alpha=0.25)
    axes.legend(fontsize=8, handlelength=3.5)
    return axes
