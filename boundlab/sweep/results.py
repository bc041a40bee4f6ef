"""Results of a sweep, to look at: how many of each verdict, rows that are asked for, frames and CSV."""

import json
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any, final

import numpy as np

from boundlab.arguments import checked
from boundlab.errors import MissingExtraError, SpecError
from boundlab.files import replacing, schema, write_csv
from boundlab.pages.blocks import Block, figures, line, table, tone_of, words
from boundlab.pages.plots import BLACK, BLUE, ORANGE, SKY, blank_figure, plain
from boundlab.result import Result, frame as make_frame
from boundlab.sweep.drive import Executor, Folder, Lines, Progress, ending, exit_code, in_shard, run
from boundlab.sweep.plan import NO_CASE, UNANSWERED, Row, SweepPlan, shown
from boundlab.verdict import ExitCode, Verdict

if TYPE_CHECKING:
    import pandas


MOST_ROWS = 50  # that a page lists
_INSIDE = ("points", "settings")  # of a row, no columns of a table
_SAMPLED = "compare"


@final
@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Swept(Result):
    """The folder of a sweep, with all rows that are there now.

    Parameters
    ----------
    where
        Which rows are meant, an SQL expression of the columns; empty: all.
    shard
        (i, n): the cells of which an answer is due are those of the i-th of n parts.
    """

    folder: Folder
    plan: SweepPlan
    lines: Lines
    where: str = ""
    shard: tuple[int, int] = (1, 1)

    def rows(self) -> Iterator[Row]:
        """Yield the rows, one after the other: columns by name.

        ``points`` are [k, mean, lower, upper, bound], and ``settings`` the values of names as they were given.

        Raises
        ------
        SpecError
            If ``where`` is no expression of the columns.
        """
        for row in self.lines.rows(self.where):
            case = self.folder.case(row["key"])
            more = {"case": str(case) if case.is_file() else None, "command": _repeats(row.get("command"), case)}
            inside = {name: row[name] for name in _INSIDE if name in row}
            yield self.lines.values(row) | more | row["common"] | inside

    @property
    def exit_code(self) -> ExitCode:
        """How the command ends: 70 if a cell crashed, else 1 if one is refuted, 3 if one is open or not answered."""
        return self.ending()

    @property
    def missing(self) -> int:
        """How many cells of the plan have no row: not asked yet, or lost with their lines."""
        if self.shard == (1, 1):
            return max(self.plan.total() - len(self.lines.planned), 0)
        return sum(in_shard(one, *self.shard) for one in self.lines.unanswered)

    def ending(self, require: str | None = None) -> ExitCode:
        """Return how the command ends where ``holds`` is required: 3 if a cell is consistent, too."""
        endings = {(one.status, one.code) for one in self.lines.planned}
        consistent = require == "holds" and any(one.verdict == Verdict.CONSISTENT for one in self.lines.planned)
        return exit_code(endings | {("done", int(ExitCode.UNDECIDED))} if consistent or self.missing else endings)

    @property
    def verdict(self) -> str:
        """The counts of all verdicts, and of what failed."""
        counts = Counter(one.ending for one in self.lines.planned).most_common()
        counts += [("without an answer", self.missing)] * bool(self.missing)
        return ", ".join(f"{number} {word}" for word, number in counts) or "nothing yet"

    def line(self) -> str:
        """Return how many cells ended in which way."""
        return f"{self.folder.path}: {self.verdict}"

    def page(self, verbose: bool = False) -> list[Block]:
        """Return the last table of a sweep; where rows are asked for, these; ``verbose``: both."""
        summary = [] if self.where and not verbose else [*self._summary()]
        return [*summary, *(self._listed() if self.where or verbose else ())]

    def _summary(self) -> Iterator[Block]:
        planned, missing = self.lines.planned, self.missing
        counts = Counter((one.theorem, one.ending) for one in planned).most_common()
        rows = [(theorem, line((word, tone_of(word))), str(number)) for (theorem, word), number in counts]
        yield table("", ("theorem", "ends in", "cells"), rows, numbers=(2,), whole=(0,))
        failed = Counter((one.status, one.reason) for one in planned if one.status in UNANSWERED).most_common()
        failed += [(("without an answer", "no line of it is here; the same sweep asks"), missing)] * bool(missing)
        if failed:
            reasons = [(*why, str(number)) for why, number in failed[:MOST_ROWS]]
            yield table("not answered", ("status", "why", "cells"), reasons, numbers=(2,))
        if self.lines.strange:
            yield words(
                f"{self.lines.strange} lines are no rows of cells and are passed over; a kill tears the last one"
            )
        if self.plan.run.ask == _SAMPLED:
            total, rate = self.plan.total(), self.plan.run.rate
            yield words(
                f"false alarms of the whole sweep: at most {rate:.3g}; each of {total} cells is judged at "
                f"level {1.0 - rate / max(total, 1):.9g}"
            )
        for key, first, second in self.lines.disagreements:
            both = f"{first['verdict']} and {second['verdict']}"
            yield words(("two answers to one cell differ: ", "bad"), f"{key}: {both}; this is a defect of boundlab")

    def _listed(self) -> Iterator[Block]:
        names = ["theorem", "problem", "delays", *self.plan.names(), "verdict", "ratio"]
        found = list(islice(self.rows(), MOST_ROWS + 1))
        rows = [tuple(shown({**row, "verdict": ending(row)}.get(name)) for name in names) for row in found[:MOST_ROWS]]
        yield figures(tuple(names), rows, words=range(len(names) - 1))
        if len(found) > MOST_ROWS:
            yield words(f"the first {MOST_ROWS}; --csv FILE writes all")
        if found and found[0]["command"]:
            yield words("repeat the first: ", (found[0]["command"], "command"))

    def changes(self, old: "Swept") -> Iterator[Block]:
        """Yield how the answers of an older sweep differ, cell by cell: those that both have, by their coordinates."""
        before, now = ({_place(row): ending(row) for row in one.lines.rows(self.where)} for one in (old, self))
        rows = [
            (
                *place[1:4],
                json.dumps(dict(place[6]))[1:-1],
                *(line((end, tone_of(end))) for end in (before[place], end)),
            )
            for place, end in now.items()
            if before.get(place, end) != end
        ]
        if rows:
            yield table("", ("theorem", "problem", "delays", "settings", "before", "now"), rows[:MOST_ROWS], whole=(0,))
        new, gone = len(now.keys() - before.keys()), len(before.keys() - now.keys())
        yield words(f"{len(rows)} cells end in another way, {new} are new, {gone} are gone")

    def to_frame(self) -> "pandas.DataFrame":
        """Return a row for each cell.

        Raises
        ------
        MissingExtraError
            If pandas is not installed.
        """
        rows = [{name: one for name, one in row.items() if name not in _INSIDE} for row in self.rows()]
        names = list(dict.fromkeys(name for row in rows for name in row))
        return make_frame({name: [row.get(name) for row in rows] for name in names})

    def coordinates(self) -> list[str]:
        """Return the columns that say which cell a row is of."""
        return [
            "theorem",
            "problem",
            "delays",
            "server",
            "seed",
            *self.lines.columns.values(),
        ]

    def heat(self, x: str, y: str) -> Any:
        """Draw verdict and log₁₀(bound/left side) over two coordinates; return the figure of matplotlib.

        Raises
        ------
        SpecError
            If one is no coordinate, or the picture has too many panels.
        MissingExtraError
            If matplotlib is not installed.
        """
        x, y = (self.lines.columns.get(name, name) for name in (x, y))
        return draw_map(map(self.plan.templates, self.rows()), self.coordinates(), x, y)

    def curves(self) -> Any:
        """Draw left side, band and bound over the iterations, one panel a cell; return the figure of matplotlib.

        Raises
        ------
        SpecError
            If no cell has points, or these are too many panels.
        MissingExtraError
            If matplotlib is not installed.
        """
        return draw_curves(map(self.plan.templates, self.rows()), self.coordinates())

    def save_parquet(self, path: Path) -> None:
        """Write a row for each cell: the columns of :meth:`to_frame`.

        Raises
        ------
        MissingExtraError
            If pandas or pyarrow is not installed.
        OutputError
            If it cannot be written.
        """
        if find_spec("pyarrow") is None:
            raise MissingExtraError('Parquet needs pyarrow: pip install "boundlab[parquet]"')
        found = self.to_frame()
        for name in found.columns:  # a column of Parquet has one type
            if {*map(type, found[name])} - {type(None), float} and any(isinstance(one, str) for one in found[name]):
                found[name] = [one if one is None else str(one) for one in found[name]]
        with replacing(path) as temporary:
            found.to_parquet(temporary, index=False)

    def save_csv(self, path: Path) -> None:
        """Write a row for each cell, with bounded memory.

        Raises
        ------
        OutputError
            If it cannot be written.
        """
        first = next(self.rows(), {})
        names = [name for name in first if name not in _INSIDE]
        write_csv(path, names, ([row.get(name) for name in names] for row in self.rows()))

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready fields: the counts, and no rows; ``--csv`` has those."""
        ends = Counter((one.theorem, one.status, one.verdict, one.vacuous) for one in self.lines.planned).most_common()
        return {
            "schema": schema("sweep"),
            "folder": str(self.folder.path),
            "asked": self.plan.total(),
            "rate": self.plan.run.rate,
            "missing": self.missing,
            "ends": [
                {"theorem": theorem, "status": status, "verdict": verdict, "vacuous": vacuous, "cells": number}
                for (theorem, status, verdict, vacuous), number in ends
            ],
            "disagreements": [key for key, _, _ in self.lines.disagreements],
        }


def _repeats(command: str | None, case: Path) -> str | None:
    """Return the command of a row; that of an exact value reads the row's case."""
    return command and command.replace(NO_CASE, shlex.quote(str(case)))


def _place(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the coordinates of a row."""
    names = ("ask", "theorem", "problem", "delays", "server", "seed")
    return (*(row.get(name) for name in names), tuple(sorted(row.get("settings", {}).items())))


@checked
def results(folder: str | Path, where: str = "") -> Swept:
    """Return what the folder of a sweep holds.

    Parameters
    ----------
    where
        Which rows are meant: an SQL expression of the columns, such as ``verdict = 'violated' AND M > 5``.

    Raises
    ------
    OutputError
        If it is not the folder of a sweep.
    """
    opened = Folder(Path(folder))
    plan = SweepPlan.of(opened.plan, str(opened.path))
    return Swept(opened, plan, Lines(opened, plan.names()), where)


@checked
def sweep(
    plan: str | Path | Mapping[str, Any] | SweepPlan,
    out: str | Path,
    executor: Executor | None = None,
    *,
    jobs: int | None = None,
    shard: tuple[int, int] = (1, 1),
    again: str = "",
    tell: Callable[[Progress, Row | None], None] = lambda *_: None,
) -> Swept:
    """Ask all questions of a plan that have no answer yet, and return the results.

    Parameters
    ----------
    plan
        The path of a TOML file, or what such a file says.
    out
        The folder of results; what is there is not asked again.
    executor
        Anything with ``submit`` that returns futures; None: processes of this machine, as many as ``jobs``.
    shard, again, tell
        See :func:`boundlab.sweep.drive.run`.

    Raises
    ------
    BoundlabError
        If the plan is wrong, or the folder cannot be written.
    """
    from boundlab.simulate import processes

    if not isinstance(plan, SweepPlan):
        plan = SweepPlan.of(plan) if isinstance(plan, Mapping) else SweepPlan.read(Path(plan))
    folder = Folder.make(Path(out), plan.raw)
    run(plan, folder, executor, jobs=processes(jobs), shard=shard, again=again, tell=tell)
    return Swept(folder, plan, Lines(folder, plan.names()), shard=shard)


# Pictures of a sweep: a map of verdicts and slack over two settings, and bounds with their bands, one panel a cell.

_MOST_PANELS = 24
_COLUMNS = 4  # panels side by side
_LETTERS = 40  # in a line of a title
_MOST_TICKS = 60  # values of an axis of the map
# What stands in a square: told apart in grey, too. What is open or failed shares a mark, and the rows say why; what is
# proved, holds or passes has none.
_MARKS = {"violated": "×", "refuted": "×", "failed": "×", "not applicable": "–", "consistent": "~"}
_VACUOUS = "∅"
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
    figure, axes = _grid(len(panels), 1.6 + max(2.0, 0.45 * len(across)), 1.2 + max(1.6, 0.32 * len(up)))
    slack = [row["log_slack"] for row in found if row["log_slack"] is not None]
    low, high = (min(slack), max(slack)) if slack else (0.0, 1.0)
    for axis, (title, some) in zip(axes, panels, strict=True):
        image = _draw_squares(axis, some, (x, across), (y, up), (low, max(high, low + 1e-9)))
        axis.set_title(title, fontsize=8)
        axis.set_xlabel(_setting(x))
        axis.set_ylabel(_setting(y))
    shared = ({row.get(name) or "" for row in found} for name in ("theorem", "problem", "delays"))
    said = [text for values in shared if len(values) == 1 for text in wrap(values.pop(), _LETTERS)]
    figure.suptitle(plain("\n".join(said)), fontsize=8)
    figure.colorbar(image, ax=axes, label="log₁₀(bound / left side)")
    marks = {*map(_mark, found)}
    words = {
        "×": "× violated",
        "–": "– not applicable",
        "?": "? open, or no answer",
        "~": "~ consistent: nothing guaranteed",
        _VACUOUS: f"{_VACUOUS} vacuous: the bound is not below the error of never moving",
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
        marks[place] = max(marks.get(place, ""), _mark(row), key=["", "~", _VACUOUS, "–", "?", "×"].index)
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
    return _VACUOUS if row.get("vacuous") else _MARKS.get(row["verdict"], "?" if row["verdict"] in _OPEN else "")


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
        axis.set_title(f"{title}\n{ending(row)}".lstrip("\n"), fontsize=8)
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
    """Return a setting as the plan calls it; see :func:`boundlab.sweep.drive.column`."""
    return name.removeprefix("set_")
