"""Plots. Colours are from Okabe and Ito's colour-blind-safe set; lines also differ in style."""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from boundlab.compare import Comparison, Horizons
from boundlab.compare.trials import mean_times
from boundlab.errors import MissingExtraError, OutputError, SpecError
from boundlab.files import replacing
from boundlab.options import Axis, Default
from boundlab.randomness import Floats

if TYPE_CHECKING:
    from boundlab.instance.plan import Plan
    from boundlab.server_rate import OptimalRate
    from boundlab.simulate import Simulation


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


def save_plot(
    draw: Callable[[Any], object], path: Path, width: float = 7.0, height: float = 4.6, *, panel: bool = False
) -> None:
    """Draw on the axes of a new figure, and write it.

    Parameters
    ----------
    draw
        Told the axes; with ``panel`` two.

    Raises
    ------
    SpecError
        If the file's ending is not one that can be drawn.
    MissingExtraError
        If matplotlib is not installed.
    OutputError
        If the file cannot be written.
    """
    check_format(path)
    figure, axes = new_figure(width, height, panel=panel)
    draw(axes)
    save_figure(figure, path)


def svg(draw: Callable[[Any], object], width: float, height: float) -> str:
    """Return as SVG what is drawn on the two axes of a new figure; the same drawing is the same text.

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed.
    """
    figure, axes = new_figure(width, height, panel=True)
    from matplotlib import rc_context

    draw(axes)
    text = StringIO()
    with rc_context({"svg.hashsalt": "boundlab"}):
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None})
    return text.getvalue()


def _shown_figure(width: float, height: float) -> Any:
    """Return a new figure of pyplot."""
    _require_matplotlib()
    from matplotlib import pyplot

    return pyplot.figure(figsize=(width, height), dpi=_DPI, layout="constrained")


def axes_for(ax: Any, width: float = 7.0, height: float = 4.6) -> Any:
    """Return the axes to draw on: those given, or those of a new figure of pyplot, which a notebook shows.

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed.
    """
    return _shown_figure(width, height).add_subplot() if ax is None else ax


def pair_for(ax: Any, width: float = 9.6, height: float = 6.4) -> tuple[Any, Any]:
    """Return main and lower axes to draw on: those given, None for a lower one that is not, or new ones.

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed.
    """
    given = _pair(_shown_figure(width, height)) if ax is None else ax
    return tuple(given) if np.ndim(given) else (given, None)


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
    title = f"{result.algorithm.id} on {result.problem.id}, {_clients(result)}, {result.delays.id} delays"
    return _logarithmic(axes, "iteration k", METRICS[name].point, title)


def _clients(one: "Simulation | Plan") -> str:
    return f"{one.problem.n} client" + ("s" if one.problem.n > 1 else "")


def _logarithmic(axes: Any, across: str, up: str, title: str) -> Any:
    """Make both axes logarithmic, and write what they and the lines are."""
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel(across)
    axes.set_ylabel(up)
    axes.set_title(title, fontsize=10)
    axes.grid(visible=True, which="major", alpha=0.3)
    axes.legend(fontsize=8, handlelength=3.5)
    return axes


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
    across, up = "server rate $\\lambda_s$   [aggregations per unit of time]", "Theorem 8 bound relative to its infimum"
    _logarithmic(axes, across, up, f"AREA, Theorem 8: the bound against the server rate, {len(rates)} clients")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter("{x:g}")
    return axes


# Plots of a bound beside what really happens: curves with their band above, and mean/bound below.
#
# The bound is a broad line below all others, so that what coincides with it stays visible; lines also differ in dashes
# and marks, so that they can be told apart in grey.

_TERM_STYLES = (
    (0, (1, 1)),
    (0, (5, 1, 1, 1)),
    (0, (3, 2)),
    (0, (7, 2, 1, 2, 1, 2)),
    (0, (1, 3)),
    (0, (9, 2)),
)
_OTHER_STYLES = ((GREEN, "-.", "^"), (BLACK, (0, (8, 2, 2, 2)), "D"))
_FEW = 12  # points that each get a mark, and horizons that each get a tick
_LEAST_SHOWN = 1e-9  # an error below this share of the bound is 0 but for rounding, and would squash all else
_LEAST_TERM = 1e-2  # terms below this share of all that else is drawn are cut off
_TIMES = "mean time of the iterations [unit of time of the delays]"


@dataclass(frozen=True, slots=True)
class _Sides:
    """A left side with its limits, and its bound, over ``across``; ``run``: what decides the trials."""

    name: str
    across: Floats
    mean: Floats
    lower: Floats
    upper: Floats
    bound: Floats
    run: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class _Picture:
    """Both sides, how they are called, the terms of the bound, and the sides of other theorems."""

    own: _Sides
    middle: str
    band: str
    terms: Mapping[str, Floats]
    others: Sequence[_Sides]
    still: float
    counter: str

    def lines(self) -> Iterator[tuple[str, Floats, Floats, dict[str, Any]]]:
        """Yield label, points, values and style of what the left side is held against, the broadest first."""
        yield (
            "bound",
            self.own.across,
            self.own.bound,
            {"color": ORANGE, "linewidth": 4.5, "alpha": 0.85, "solid_capstyle": "butt"},
        )
        for other, (colour, dashes, _) in zip(self.others, _OTHER_STYLES, strict=False):
            style = {"color": colour, "linestyle": dashes, "linewidth": 2.2}
            yield f"bound of\n{other.name}", other.across, other.bound, style
        for place, (name, values) in enumerate(self.terms.items()):
            if (values > 0.0).any():  # a term that vanishes has no place on a logarithmic axis
                grey = str(0.12 + 0.13 * (place % 4))
                style = {"color": grey, "linestyle": _TERM_STYLES[place % len(_TERM_STYLES)], "linewidth": 1.6}
                yield f"term: {plain(name)}", self.own.across, values, style
        if np.isfinite(self.still) and self.still > 0.0:
            level = np.full(len(self.own.across), self.still)
            yield f"never moving: {self.still:.3g}", self.own.across, level, {"color": BLACK, "linewidth": 0.8}

    def limits(self) -> tuple[float, float]:
        """Return what is to be seen of a logarithmic axis: the lower side of a band may reach down to 0."""
        told = [self.own.mean, self.own.bound, self.own.upper if self.band else self.own.mean, np.array([self.still])]
        told += [one.bound for one in self.others] + [one.mean for one in self.others if one.run != self.own.run]
        positive = self.own.bound[np.isfinite(self.own.bound) & (self.own.bound > 0.0)]
        least = _LEAST_SHOWN * float(positive.min()) if len(positive) else 0.0
        found = np.concatenate([one[np.isfinite(one) & (one > least)] for one in told])
        extra = np.concatenate([*self.terms.values(), found])
        extra = extra[extra >= _LEAST_TERM * found.min()]
        return float(extra.min()) / 1.5, float(extra.max()) * 1.5


def plain(text: str) -> str:
    """Return a text of which matplotlib reads no character as mathematics."""
    return text.replace("$", r"\$")


def draw_comparison(
    found: Comparison | Horizons,
    ax: Any = None,
    terms: bool = False,
    others: Sequence[Comparison | Horizons] = (),
    axis: Axis = "iterations",
) -> Any:
    """Draw the band of the left side and the bound over the iterations, and mean/bound below; return the upper axes.

    Parameters
    ----------
    found
        A comparison along a run, or at several horizons, each the end of a run of its own.
    ax
        Axes, or two of them: the second shows mean/bound. By default both are made.
    terms
        Also draw the named terms of the bound.
    others
        Comparisons of other theorems: their bounds, and their left sides where their runs differ.
    axis
        ``time``: each iteration stands where it ends in the mean over the trials, in the delays' unit of time.

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed.
    """
    results = _results(found)
    first, several, timed = results[0], found is not results[0], axis == "time"
    middle, band = max(map(_labels, results), key=lambda one: len(one[1]))
    computed = sum(one.exact == "expectation" for one in results)
    if band and computed:
        middle = f"{middle},\nat {computed} horizon{'s' * (computed > 1)} computed"
    counter = first.plan.theorem.horizon_symbol

    def term(name: str) -> Floats:
        return _drawn(found, lambda one: one.terms[name])

    named = {name: term(name) for name in first.terms if terms}
    picture = _Picture(
        _sides(found, axis),
        middle,
        band,
        named if len(named) > 1 else {},
        [_sides(one, axis) for one in others],
        first.trivial_bound.level,
        r"\mathrm{time}" if timed and not several else counter,
    )
    axes, below = pair_for(ax)
    one = not several and len(picture.own.across) == 1
    (_draw_point if one else _draw_curves)(axes, below, picture)
    if several and len(results) <= _FEW and not timed:
        for each in (axes, below) if below is not None else (axes,):
            each.set_xticks(picture.own.across, [f"{k:g}" for k in picture.own.across], minor=False)
            each.set_xticks([], minor=True)
    horizons = f"horizon ${counter}$, a separate run for each"
    events = horizons if several else _counted(first, "iterations" if one else "iteration $k$")
    _name(axes, below, first, found.headline, _TIMES if timed else events)
    return axes


def _results(found: Comparison | Horizons) -> Sequence[Comparison]:
    return (found,) if isinstance(found, Comparison) else found.comparisons


def _drawn(found: Comparison | Horizons, read: Callable[[Comparison], Floats]) -> Floats:
    """Return what is read of a comparison at its points after the start, or the last of each of several."""
    if isinstance(found, Comparison):
        return read(found)[found.plan.ks > 0]
    return np.array([float(read(one)[-1]) for one in found.comparisons])


def _sides(found: Comparison | Horizons, axis: Axis) -> _Sides:
    results = _results(found)
    return _Sides(
        plain(results[0].plan.theorem.id),
        _drawn(found, lambda one: _places(one, axis)),
        _drawn(found, lambda one: one.band.mean),
        _drawn(found, lambda one: one.band.lower),
        _drawn(found, lambda one: one.band.upper),
        _drawn(found, lambda one: one.bound),
        tuple(map(_run_of, results)),
    )


def _places(result: Comparison, axis: Axis) -> Floats:
    """Return where the iterations stand, shape (points,)."""
    if axis == "iterations":
        return result.plan.ks.astype(np.float64)
    trials = result.band.trials if result.band.trials > 1 else Default.TRIALS  # times may be drawn where nothing is
    return mean_times(result.plan, result.seed, trials)


def _run_of(result: Comparison) -> tuple[str, ...]:
    """Return what decides the trials."""
    plan = result.plan
    run = plan.algorithm.id, plan.parameters, plan.problem.spec(), plan.delays, plan.policy.describe(), plan.metric.id
    return (*map(repr, run), repr(plan.iterations), repr(result.seed), repr(result.band.trials))


def _name(axes: Any, below: Any, result: Comparison, headline: str, across: str) -> None:
    """Write what is drawn: the left side with its unit, the theorem with its verdict, and who ran on what."""
    plan = result.plan
    left = re.sub(r"\\frac\{1\}\{(\w)\}", r"(1/\1)\,", plan.metric.latex)
    left = left.replace(r"\frac", r"\dfrac")  # the bar of a small fraction touches what stands below it
    axes.set_ylabel(f"${left}$\n[{plan.metric.unit}]")
    what = f"{plan.algorithm.id} on {plan.problem.id}, {_clients(plan)}, {plan.delays.id} delays"
    title = f"{plain(f'{plan.theorem.id} ({plan.theorem.status})')}: {plain(headline)}\n{plain(what)}"
    axes.set_title(title, fontsize=10.5, linespacing=1.4, x=0.0, horizontalalignment="left")  # long ids go to the right
    lowest = axes if below is None else below
    lowest.set_xlabel(across)
    legend_below(axes, lowest)
    if below is not None:
        axes.tick_params(labelbottom=False)
        below.set_ylabel("mean / bound")


def _counted(result: Comparison, events: str) -> str:
    if result.plan.theorem.horizon_symbol == "T":
        return "server updates $T$"
    counted = "client updates and aggregations" if result.plan.algorithm.server == "any" else "server updates"
    return f"{events} ({counted})"


def _labels(result: Comparison) -> tuple[str, str]:
    """Return what the middle of the left side is, and what the band around it is; '' where there is none."""
    left = result.band
    if result.exact == "expectation":
        return "expectation, computed", ""
    if left.level == 1.0:
        what = "expectations" if result.exact else "values"
        if left.trials == 1:  # the schedule is certain
            return f"{what[:-1]} on the one schedule, computed", "how far rounding may lead"
        return f"mean of {left.trials} schedules", f"smallest to largest of the {what}\nof {left.trials} schedules"
    kind = "" if left.guaranteed else ",\nupper side approximate"
    return f"mean of {left.trials} trials", f"{100 * left.level:.4g}% joint band{kind}"


def _draw_curves(axes: Any, below: Any, picture: _Picture) -> None:
    """Draw band, mean and bounds, both axes logarithmic."""
    across, mark = picture.own.across, "o" if len(picture.own.across) <= _FEW else ""
    low, high = picture.limits()
    if picture.band:
        floor = np.maximum(picture.own.lower, low / 10.0)
        axes.fill_between(across, floor, picture.own.upper, color=SKY, alpha=0.45, linewidth=0, label=picture.band)
    for label, points, values, style in picture.lines():
        axes.plot(points, np.where(values > 0.0, values, np.nan), label=label, **style)
    axes.plot(across, picture.own.mean, "-", marker=mark, color=BLUE, linewidth=1.8, markersize=5, label=picture.middle)
    for other, (colour, _, sign) in zip(picture.others, _OTHER_STYLES, strict=False):
        if other.run != picture.own.run:
            label = f"mean under\n{other.name}"
            axes.plot(
                other.across, other.mean, "-", marker=sign, color=colour, linewidth=1.2, markersize=5, label=label
            )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_ylim(low, high)
    short_labels(axes.yaxis, low, high)
    axes.grid(visible=True, which="major", alpha=0.3)
    if below is not None:
        _draw_ratios(below, picture, mark)
        below.set_xscale("log")


def _draw_ratios(below: Any, picture: _Picture, mark: str) -> None:
    """Draw mean/bound, with what lies above 1 shaded: there the bound is exceeded."""
    across = picture.own.across

    def over(values: Floats, bound: Floats) -> Floats:
        found: Floats = np.divide(values, bound, out=np.full(len(bound), np.nan), where=bound > 0.0)
        return found

    ratio = over(picture.own.mean, picture.own.bound)
    tops = [ratio]
    if picture.band:
        upper = over(picture.own.upper, picture.own.bound)
        tops.append(upper)
        below.fill_between(
            across, over(picture.own.lower, picture.own.bound), upper, color=SKY, alpha=0.45, linewidth=0
        )
    for other, (colour, dashes, _) in zip(picture.others, _OTHER_STYLES, strict=False):
        own = over(other.mean, other.bound)
        below.plot(other.across, own, color=colour, linestyle=dashes, linewidth=1.6)
        tops.append(own)
    below.plot(across, ratio, "-", marker=mark, color=BLUE, linewidth=1.8, markersize=5)
    below.axhline(1.0, color=ORANGE, linewidth=2.5, alpha=0.85, zorder=1)
    found = np.concatenate(tops)
    found = found[np.isfinite(found) & (found > _LEAST_SHOWN)]
    lowest, top = float(found.min(initial=1.0)), float(found.max(initial=1.0))
    if lowest < 0.05 or top > 20.0:
        below.set_yscale("log")
        below.set_ylim(lowest / 1.6, top * 1.6)
        short_labels(below.yaxis, *below.get_ylim())
    else:
        below.set_ylim(0.0, 1.15 * top)
    if top > 1.0:
        below.axhspan(1.0, below.get_ylim()[1], color=ORANGE, alpha=0.1, linewidth=0, zorder=0)
    below.grid(visible=True, which="major", alpha=0.3)


def _draw_point(axes: Any, below: Any, picture: _Picture) -> None:
    """Draw what a bound about one K alone says: an error bar, and a level for each line."""
    mean, lower, upper = picture.own.mean, picture.own.lower, picture.own.upper
    for label, _, values, style in picture.lines():
        axes.axhline(float(values[0]), label=label, **style)
    error = [mean - lower, upper - mean] if picture.band else None
    label = picture.band or picture.middle
    axes.errorbar([0.0], mean, yerr=error, fmt="o", color=BLUE, capsize=8, markersize=7, label=label)
    levels = [float(values[0]) for _, _, values, _ in picture.lines()]
    if max(levels) > 30.0 * float(mean[0]):
        axes.set_yscale("log")
    else:
        axes.set_ylim(0.0, 1.15 * max(*levels, float(upper[0])))
    ticks = [f"${picture.counter} = {picture.own.across[0]:g}$"]
    for one in (axes,) if below is None else (axes, below):
        one.set_xlim(-1.0, 1.0)
        one.set_xticks([0.0], ticks)
        one.grid(visible=True, which="major", axis="y", alpha=0.3)
    if below is not None:
        ratio = float(mean[0] / picture.own.bound[0]) if picture.own.bound[0] > 0.0 else np.nan
        below.plot([0.0], [ratio], "o", color=BLUE, markersize=7)
        below.axhline(1.0, color=ORANGE, linewidth=2.5, alpha=0.85, zorder=1)
        below.set_ylim(0.0, 1.25 * max(1.0, ratio if np.isfinite(ratio) else 1.0))
        below.annotate(f"{ratio:.4g}", (0.0, ratio), xytext=(12, 0), textcoords="offset points", va="center")
