"""Plots. Colours are from Okabe and Ito's colour-blind-safe set; lines also differ in style."""

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from boundlab.errors import MissingExtraError, OutputError, SpecError
from boundlab.files import replacing

if TYPE_CHECKING:
    from boundlab.compare.plan import Plan
    from boundlab.compare.verdict import Comparison
    from boundlab.tuning import OptimalRate

_BLUE, _ORANGE, _GREEN, _PURPLE, _SKY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9"
_TERM_STYLES = ((0, (1, 1)), (0, (5, 1, 1, 1)), (0, (3, 2)), (0, (7, 2, 1, 2, 1, 2)))
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
    if find_spec("matplotlib") is None:
        raise MissingExtraError('plots need matplotlib: pip install "boundlab[plot]"')
    if path.suffix.lstrip(".").lower() not in _FORMATS:
        raise SpecError(f"cannot draw {path.name}: the file must end in .{', .'.join(_FORMATS)}")


def _figure(width: float = 7.0, height: float = 4.6) -> tuple[Any, Any]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), dpi=140, layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.add_subplot()


def _save(figure: Any, path: Path) -> None:
    with replacing(path) as temporary:
        try:
            figure.savefig(temporary, format=path.suffix.lstrip(".").lower())
        except OSError as error:
            raise OutputError(f"cannot write {path}: {error.strerror}") from None


def _unit(metric: str) -> str:
    return "length²" if metric == "squared-distance" else "function value"


def plot_comparison(result: "Comparison", path: Path, terms: bool = False, others: tuple["Plan", ...] = ()) -> None:
    """Draw the band of the left side and the bound over the iterations.

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
    OutputError
        If the file cannot be written.
    """
    check_format(path)
    figure, axes = _figure()
    plan, left = result.plan, result.band
    keep = plan.ks > 0
    ks = plan.ks[keep]
    single = len(ks) == 1
    mean, lower, upper = left.mean[keep], left.lower[keep], left.upper[keep]
    label = f"{left.level:.0%} joint band of E[{plan.metric.symbol}], {left.trials} trials"
    if single:
        axes.errorbar(ks, mean, yerr=[mean - lower, upper - mean], fmt="o", color=_BLUE, capsize=5, label=label)
    else:
        axes.fill_between(ks, np.maximum(lower, upper * 1e-6), upper, color=_SKY, alpha=0.45, linewidth=0, label=label)
        axes.plot(ks, mean, "-", color=_BLUE, linewidth=2, label=f"mean of {left.trials} trials")
    drawn = ((plan, _ORANGE, "--", "s"), *((other, _GREEN, "-.", "^") for other in others))
    for one, colour, style, marker in drawn:
        values = one.bound[keep]
        name = f"{one.theorem.id} ({one.theorem.status})"
        axes.plot(ks, values, marker if single else style, color=colour, linewidth=2, markersize=8, label=name)
    if terms:
        for place, (name, values) in enumerate(plan.terms.items()):
            if not (values[keep] > 0.0).any():
                continue  # a term that vanishes has no place on a logarithmic axis
            shown = np.where(values[keep] > 0.0, values[keep], np.nan)
            dashes = _TERM_STYLES[place % len(_TERM_STYLES)]
            grey = str(0.25 + 0.12 * (place % 4))
            axes.plot(ks, shown, linestyle=dashes, marker="x" if single else None, color=grey, label=f"term: {name}")
    axes.set_xscale("log")
    axes.set_yscale("log")
    if single:
        axes.set_xticks([int(ks[0])], [str(int(ks[0]))])
        axes.minorticks_off()
    axes.set_xlabel("iteration k (client updates and aggregations)")
    axes.set_ylabel(f"E[{plan.metric.symbol}]   [{_unit(plan.metric.id)}]")
    axes.set_title(
        f"{plan.algorithm.id} on {plan.problem.id}, {plan.problem.n} clients, {plan.delays.id} delays",
        fontsize=10,
    )
    axes.grid(visible=True, which="major", alpha=0.3)
    axes.legend(fontsize=8, handlelength=3.5)
    _save(figure, path)


def plot_rates(result: "OptimalRate", path: Path) -> None:
    """Draw both objectives over the server rate: the bound at each λ_s relative to its least value or limit.

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed.
    OutputError
        If the file cannot be written.
    """
    from boundlab.tuning import closed_form, curve

    check_format(path)
    figure, axes = _figure()
    rates, cost = result.rates, result.server_cost
    centre = closed_form(rates)
    servers = centre * np.logspace(-2.0, 2.0, 401)
    limit = float(2.0 * np.mean(1.0 / rates))
    fixed = curve(rates, servers, "per-iteration") / curve(rates, [centre], "per-iteration")
    axes.plot(servers, np.sqrt(fixed), "-", color=_BLUE, linewidth=2, label="fixed number of iterations K")
    axes.plot([centre], [1.0], "o", color=_BLUE, markersize=8, label=f"λ_s* = {centre:.4g}")
    free = curve(rates, servers, "per-time") / limit
    axes.plot(servers, np.sqrt(free), "--", color=_ORANGE, linewidth=2, label="fixed wall-clock time: no minimum")
    if result.lambda_epsilon is not None:
        label = f"within {result.epsilon:.3g} of the limit from λ_s = {result.lambda_epsilon:.4g}"
        axes.plot(
            [result.lambda_epsilon],
            [1.0 + float(result.epsilon or 0.0)],
            "s",
            color=_ORANGE,
            markersize=7,
            label=label,
        )
    if cost and result.lambda_s is not None:
        priced = curve(rates, servers, "per-time", cost) / result.value
        axes.plot(
            servers,
            np.sqrt(priced),
            "-.",
            color=_PURPLE,
            linewidth=2,
            label=f"fixed time, {cost:.3g} per aggregation",
        )
        axes.plot([result.lambda_s], [1.0], "^", color=_PURPLE, markersize=8, label=f"λ_s* = {result.lambda_s:.4g}")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter("{x:g}")
    axes.set_xlabel("server rate λ_s   [aggregations per unit of time]")
    axes.set_ylabel("Theorem 8 bound relative to its infimum")
    axes.set_title(f"AREA, Theorem 8: the bound against the server rate, {len(rates)} clients", fontsize=10)
    axes.grid(visible=True, which="both", alpha=0.25)
    axes.legend(fontsize=8, handlelength=3.5)
    _save(figure, path)
