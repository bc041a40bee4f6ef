"""Pictures of a sweep: a map of verdicts and slack over two settings, and bounds with their bands, one panel a cell."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from textwrap import wrap
from typing import Any

import numpy as np

from boundlab.errors import SpecError
from boundlab.pages.comparison_plots import plain
from boundlab.pages.plots import BLACK, BLUE, ORANGE, SKY, blank_figure
from boundlab.sweep.cell import Row, shown

_MOST_PANELS = 24
_COLUMNS = 4  # panels side by side
_LETTERS = 40  # in a line of a title
_MOST_TICKS = 60  # values of an axis of the map
# What stands in a square: told apart in grey, too. What is open or failed shares a mark, and the rows say why; what is
# proved, holds or passes has none.
_MARKS = {"violated": "×", "refuted": "×", "failed": "×", "not applicable": "–", "consistent": "~"}
_OPEN = ("inconclusive", "not proved", "unknown", "")


def draw_map(rows: Iterator[Row], names: Sequence[str], x: str, y: str) -> Any:
    """Draw verdict and log₁₀(bound/left side) over two columns; return the figure of matplotlib.

    Parameters
    ----------
    rows
        Of a sweep.
    names
        Their coordinates: each combination of those that are neither ``x`` nor ``y`` is a panel.

    Raises
    ------
    SpecError
        If a column is none, or these are too many panels or squares.
    """
    for name in (x, y):
        if name not in names:
            raise SpecError(f"--heat: {name} is not a coordinate of this sweep; these are {', '.join(names)}")
    panels = _panels(rows, [name for name in names if name not in (x, y)])
    found = [row for _, some in panels for row in some]
    across, up = (_values(found, name) for name in (x, y))
    height = 1.2 + max(1.6, 0.32 * len(up))
    figure, axes = _grid(len(panels), 1.6 + max(2.0, 0.45 * len(across)), height)
    slack = [row["log_slack"] for row in found if row["log_slack"] is not None]
    low, high = (min(slack), max(slack)) if slack else (0.0, 1.0)
    for axis, (title, some) in zip(axes, panels, strict=True):
        image = _draw_squares(axis, some, (x, across), (y, up), (low, max(high, low + 1e-9)))
        axis.set_title(title, fontsize=8)
        axis.set_xlabel(_setting(x))
        axis.set_ylabel(_setting(y))
    figure.colorbar(image, ax=axes, label="log₁₀(bound / left side)")
    marks = {*map(_mark, found)}
    words = {
        "×": "× violated",
        "–": "– not applicable",
        "?": "? open, or no answer",
        "~": "~ consistent: nothing guaranteed",
    }
    figure.supxlabel("   ".join(text for mark, text in words.items() if mark in marks), fontsize=9)
    return figure


def _draw_squares(
    axis: Any, rows: Sequence[Row], x: tuple[str, list[Any]], y: tuple[str, list[Any]], limits: tuple[float, float]
) -> Any:
    """Draw one panel; where several rows are of one square, the least slack counts, and the gravest mark."""
    values = np.full((len(y[1]), len(x[1])), np.nan)
    marks: dict[tuple[int, int], str] = {}
    for row in rows:
        place = y[1].index(row.get(y[0])), x[1].index(row.get(x[0]))
        if row["log_slack"] is not None:
            values[place] = np.fmin(values[place], row["log_slack"])
        marks[place] = max(marks.get(place, ""), _mark(row), key=["", "~", "–", "?", "×"].index)
    image = axis.imshow(
        values, origin="lower", aspect="auto", cmap="cividis", vmin=limits[0], vmax=limits[1], interpolation="none"
    )
    axis.set_facecolor("0.85")
    for (row_place, column), mark in marks.items():
        dark = np.isfinite(values[row_place, column]) and values[row_place, column] < sum(limits) / 2.0
        axis.text(column, row_place, mark, ha="center", va="center", color="white" if dark else BLACK, weight="bold")
    axis.set_xticks(range(len(x[1])), [shown(one) for one in x[1]], rotation=45 if len(x[1]) > 4 else 0, fontsize=8)
    axis.set_yticks(range(len(y[1])), [shown(one) for one in y[1]], fontsize=8)
    return image


def _mark(row: Mapping[str, Any]) -> str:
    return _MARKS.get(row["verdict"], "?" if row["verdict"] in _OPEN else "")


def draw_curves(rows: Iterator[Row], names: Sequence[str]) -> Any:
    """Draw the left side with its band, and the bound, over the iterations: one panel a cell; return the figure.

    Parameters
    ----------
    rows
        Of a sweep of comparisons, with their points.
    names
        Their coordinates; a panel's title says those in which the cells differ.

    Raises
    ------
    SpecError
        If no row has points, or there are too many.
    """
    panels = _panels((row for row in rows if row.get("points")), names)
    figure, axes = _grid(len(panels), 3.0, 2.4)
    for axis, (title, (row, *_)) in zip(axes, panels, strict=True):
        ks, mean, lower, upper, bound = np.array(sorted(row["points"])).T
        axis.plot(ks, bound, color=ORANGE, linewidth=3.5, alpha=0.85, label="bound")
        axis.fill_between(ks, np.maximum(lower, 1e-3 * upper), upper, color=SKY, alpha=0.5, label="band")
        axis.plot(ks, mean, "--o", color=BLUE, markersize=3, label="left side")
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.set_title(f"{title}\n{row['verdict']}".lstrip("\n"), fontsize=8)
        axis.tick_params(labelsize=7)
        axis.set_xticks(*_ticks(ks))
        axis.set_yticks(*_ticks(np.concatenate([mean, bound])))
        axis.minorticks_off()
        axis.grid(visible=True, which="major", alpha=0.3)
    figure.supxlabel("iteration k", fontsize=9)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper right", ncols=3, fontsize=8)
    return figure


def _grid(count: int, width: float, height: float) -> tuple[Any, list[Any]]:
    """Return a figure, and so many axes of this size in inches each."""
    whole = [columns for columns in range(_COLUMNS, 1, -1) if count % columns == 0]
    columns = min(count, (whole or [_COLUMNS])[0])
    lines = -(-count // columns)
    figure = blank_figure(width * columns, height * lines + 0.5)
    axes = list(figure.subplots(lines, columns, squeeze=False).flat)
    for spare in axes[count:]:
        spare.remove()
    return figure, axes[:count]


def _ticks(values: Any) -> tuple[list[float], list[str]]:
    """Return the ends of a logarithmic axis and what is half-way, with their words."""
    some = values[np.isfinite(values) & (values > 0.0)]
    if not some.size:
        return [], []
    places = sorted({float(f"{one:.2g}") for one in np.geomspace(some.min(), some.max(), 3)})
    return places, [f"{one:g}" for one in places]


def _panels(rows: Iterable[Row], names: Sequence[str]) -> list[tuple[str, list[Row]]]:
    """Return the rows of each combination of some coordinates, with what tells it from the others."""
    found: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        found.setdefault(tuple(row.get(name) for name in names), []).append(row)
        if len(found) > _MOST_PANELS:
            raise SpecError(f"more than {_MOST_PANELS} panels are no picture; --where takes some of the cells")
    if not found:
        raise SpecError(
            "there are no cells to draw: --where takes none, none is answered, or none is a comparison that applies"
        )
    places = sorted(found, key=lambda place: [_order(one) for one in place])
    return list(zip(_titles(places, names), [found[place] for place in places], strict=True))


def _values(rows: Iterable[Row], name: str) -> list[Any]:
    """Return the values of a column, numbers by size and then words."""
    found = {row.get(name) for row in rows}
    if len(found) > _MOST_TICKS:
        raise SpecError(f"--heat: {name} has {len(found)} values, at most {_MOST_TICKS} are a picture")
    return sorted(found, key=_order)


def _order(value: Any) -> tuple[bool, bool, Any]:
    """Return a key that sorts numbers by size, then words, then what is not there."""
    return value is None, isinstance(value, str), 0 if value is None else value


def _titles(places: Sequence[tuple[Any, ...]], names: Sequence[str]) -> list[str]:
    """Return what tells panels apart: those coordinates in which they differ."""
    columns = zip(names, zip(*places, strict=True), strict=True)
    differ = [_short(name, values) for name, values in columns if len({*values}) > 1]
    return [plain("\n".join(words)) for words in zip(*differ, strict=True)] or [""] * len(places)


def _short(name: str, values: Sequence[Any]) -> list[str]:
    """Return the values of a coordinate in words; of specs, their names and the options in which they differ."""
    if name not in ("theorem", "problem", "delays", "server"):
        return [f"{_setting(name)} = {shown(value)}" for value in values]
    parts = [str(value).split(",") for value in values]
    shared = set.intersection(*map(set, parts))
    found = (",".join(part for place, part in enumerate(one) if not place or part not in shared) for one in parts)
    return ["\n".join(wrap(one, _LETTERS)) for one in found]


def _setting(name: str) -> str:
    """Return a setting as the plan calls it; see :func:`boundlab.sweep.folder.column`."""
    return name.removeprefix("set_")
