"""The table and the plot of AREA's Table 3, paper beside ours."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from area_table3_paper import PAPER, RATES

_RowOf = Callable[[Mapping[str, Any]], Any]  # makes the row of an entry of the document


def spread(numbers: Sequence[float | None], digits: int = 2) -> str:
    """Return ``mean (lowest – highest)``."""
    known = [value for value in numbers if value is not None]
    if len(known) < len(numbers):
        return "not finite"
    shown = [
        f"{value:.{digits}f}" if abs(value) < 1e4 else f"{value:.1e}"
        for value in (float(np.mean(known)), min(known), max(known))
    ]
    return f"{shown[0]} ({shown[1]} – {shown[2]})"


def rho_text(rhos: Sequence[float | None]) -> str:
    """Return the mean rho of the trials that met the target, and how many did not."""
    met = [rho for rho in rhos if rho is not None]
    if not met:
        return "> 1"
    missed = len(rhos) - len(met)
    return f"{np.mean(met):.2f}" + (f", {missed} of {len(rhos)} > 1" if missed else "")


def table(found: Sequence[Mapping[str, Any]], row_of: _RowOf) -> str:
    """Return the table in Markdown, one section a group, weights and rates."""
    lines: list[str] = []
    last = None
    titles = {
        "table": "Table 3",
        "fair": "Not in the paper",
        "selection": "One step size up",
        "reading": "Another reading",
    }
    for entry in found:
        key = (entry["group"], entry["weights"] if entry["group"] == "table" else "", entry["rates"])
        if key != last:
            weights = f", weights={entry['weights']}" if key[1] else ""
            lines += [
                "",
                f"**{titles[entry['group']]}{weights}, {entry['rates']} rates**",
                "",
                "| method, α | ρ paper | ours: mean; of the mean curve | accuracy % paper | ours | loss paper | ours |",
                "|---|---|---|---|---|---|---|",
            ]
            last = key
        row, paper = row_of(entry), entry["paper"]
        theirs = ["–", "–", "–"]
        if paper:
            theirs = ["> 1" if paper["rho"] is None else f"{paper['rho']:.2f}"]
            theirs += ["{:.2f} ({:.2f} – {:.2f})".format(*paper[key]) for key in ("accuracy", "loss")]
        name = row.name if key[1] else f"{row.name}, weights={row.weights}"
        rho = f"{rho_text(entry['rho'])}; {rho_text([entry['rho_of_mean_curve']])}"
        lines.append(
            f"| {name} | {theirs[0]} | {rho} | {theirs[1]} | {spread(entry['accuracy'])} "
            f"| {theirs[2]} | {spread(entry['loss'])} |"
        )
    return "\n".join(lines).strip() + "\n"


def plot(document: Mapping[str, Any], path: Path, row_of: _RowOf) -> None:
    """Draw mean test accuracy over time, weights=paper: a row of panels for each law of the rates.

    Left the smaller step sizes of the table, in the middle the larger ones, right the rows that the
    paper does not have. A method is a line style, so that the plot reads in grey.
    """
    from boundlab.files import replacing
    from boundlab.pages.plots import check_format

    check_format(path)
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    # Okabe and Ito's colours.
    looks = {
        "sfedavg": ("#009E73", ":"),
        "asfedavg": ("#CC79A7", "-."),
        "fedbuff": ("#D55E00", "--"),
        "area": ("#0072B2", "-"),
    }
    figure = Figure(figsize=(11.0, 6.4), dpi=130, layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(2, 3, sharex=True, sharey=True, squeeze=False)
    times = np.linspace(0.0, document["horizon"], document["grid_points"] + 1)
    for entry in document["rows"]:
        row = row_of(entry)
        if row.group == "table" and row.weights == "paper":
            column = int(row.alpha == max(alpha for method, alpha in PAPER if method == row.method))
        elif row.group == "fair":
            column = 2
        else:
            continue
        colour, style = looks[row.method]
        thin = column == 2 and row.method == "area" and row.alpha != 5.0
        panels[RATES.index(row.rates), column].plot(
            times,
            entry["mean_accuracy_over_time"],
            linestyle=style,
            color="black" if thin else colour,
            linewidth=1.0 if thin else 1.8,
            label=f"{row.name}, weights={row.weights}" if column == 2 else row.name,
        )
    titles = ("Table 3, smaller α", "Table 3, larger α", "not in the paper")
    for place, axes in enumerate(panels.ravel()):
        law = "rates 10" if place < 3 else "rates |N(10, 5)|"
        axes.set_title(f"{titles[place % 3]}; {law}", fontsize=9)
        axes.axhline(100.0 * document.get("target", 0.8), color="0.6", linewidth=0.8)
        axes.set_ylim(0.0, 100.0)
        axes.grid(visible=True, alpha=0.3)
        if place < 3 and axes.lines[1:]:  # the panels below hold the same rows
            axes.legend(fontsize=7.5, handlelength=4.5, loc="lower right", framealpha=0.9)
    for axes in panels[:, 0]:
        axes.set_ylabel(f"test accuracy [%], mean of {document['trials']} trials", fontsize=9)
    for axes in panels[1]:
        axes.set_xlabel("time (one update takes 0.1 at rate 10)", fontsize=9)
    with replacing(path) as temporary:
        figure.savefig(temporary, format=path.suffix.lstrip("."))
