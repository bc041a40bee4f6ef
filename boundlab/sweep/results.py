"""Results of a sweep, to look at: how many of each verdict, rows that are asked for, frames and CSV."""

import json
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from boundlab.api import Shown
from boundlab.api import frame as make_frame
from boundlab.arguments import checked
from boundlab.errors import MissingExtraError
from boundlab.files import replacing, schema, write_csv
from boundlab.pages.blocks import Block, figures, line, table, tone_of, words
from boundlab.pages.results import figure
from boundlab.sweep.cell import Row
from boundlab.sweep.drive import Executor, Progress, exit_code, in_shard, run
from boundlab.sweep.plan import SweepPlan
from boundlab.sweep.question import NO_CASE
from boundlab.sweep.store import Index, Store, column
from boundlab.verdict import ExitCode, Verdict

if TYPE_CHECKING:
    import pandas

MOST_ROWS = 50  # that a page lists
_HIDDEN = ("row", "common", "code")
_INSIDE = ("points", "settings")  # of a row, no columns of a table
_SAMPLED = "compare"


@final
@dataclass(frozen=True, slots=True, repr=False)
class Swept(Shown):
    """The folder of a sweep, with all rows that are there now.

    Parameters
    ----------
    where
        Which rows are meant, an SQL expression of the columns; empty: all.
    shard
        (i, n): the cells of which an answer is due are those of the i-th of n parts.
    """

    store: Store
    plan: SweepPlan
    index: Index
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
        for row in self.index.select(self.where):
            whole = json.loads(row.pop("row"))
            more = {name: whole[name] for name in _INSIDE if name in whole}
            case = self.store.case(row["key"])
            yield {
                **{name: one for name, one in row.items() if name not in _HIDDEN},
                "case": str(case) if case.is_file() else None,
                "command": _repeats(whole.get("command"), case),
                **json.loads(row["common"]),
                **more,
            }

    @property
    def exit_code(self) -> ExitCode:
        """How the command ends: 70 if a cell crashed, else 1 if one is refuted, 3 if one is open or not answered."""
        return self.ending()

    @property
    def missing(self) -> int:
        """How many cells of the plan have no row: not asked yet, or lost with their lines."""
        due = self.index.unanswered()
        lost = self.plan.total() - self.index.noted if self.shard == (1, 1) else 0
        return max(lost, 0) + sum(in_shard(one, *self.shard) for one in due)

    def ending(self, require: str | None = None) -> ExitCode:
        """Return how the command ends where ``holds`` is required: 3 if a cell is consistent, too."""
        left_open = self.index.counts("verdict") if require == "holds" else []
        open_too = [("done", ExitCode.UNDECIDED, count) for word, count in left_open if word == Verdict.CONSISTENT]
        without = [("not asked", ExitCode.UNDECIDED, self.missing)] if self.missing else []
        return exit_code([*self.index.counts("status", "code"), *open_too, *without])

    @property
    def verdict(self) -> str:
        """The counts of all verdicts, and of what failed."""
        found = [
            *self.index.counts("verdict", "status"),
            *([("", "without an answer", self.missing)] * bool(self.missing)),
        ]
        return ", ".join(f"{number} {verdict or status}" for verdict, status, number in found) or "nothing yet"

    def line(self) -> str:
        """Return how many cells ended in which way."""
        return f"{self.store.folder}: {self.verdict}"

    def page(self, verbose: bool = False) -> list[Block]:
        """Return the last table of a sweep; where rows are asked for, these; ``verbose``: both."""
        summary = [] if self.where and not verbose else [*self._summary()]
        return [*summary, *(self._listed() if self.where or verbose else ())]

    def _summary(self) -> Iterator[Block]:
        counts = self.index.counts("theorem", "verdict", "status")
        rows = [(theorem, line((word, tone_of(word))), str(number)) for theorem, word, number in _words(counts)]
        yield table("", ("theorem", "ends in", "cells"), rows, numbers=(2,), whole=(0,))
        failed = self.index.counts("status", "reason", where="status <> 'done'")
        if self.missing:
            failed.append(("without an answer", "no line of it is here; the same sweep asks", self.missing))
        if failed:
            reasons = [(status, why, str(number)) for status, why, number in failed[:MOST_ROWS]]
            yield table("not answered", ("status", "why", "cells"), reasons, numbers=(2,))
        if self.plan.run.ask == _SAMPLED:
            total = self.plan.total()
            rate = self.plan.run.rate
            yield words(
                f"false alarms of the whole sweep: at most {rate:.3g}; each of {total} cells is judged at "
                f"level {1.0 - rate / max(total, 1):.9g}"
            )
        for key, first, second in self.index.disagreements():
            both = f"{first['verdict']} and {second['verdict']}"
            yield words(("two answers to one cell differ: ", "bad"), f"{key}: {both}; this is a defect of boundlab")

    def _listed(self) -> Iterator[Block]:
        names = ["theorem", "problem", "delays", *self.plan.names(), "verdict", "ratio"]
        found = list(islice(self.index.select(self.where), MOST_ROWS + 1))
        shown = [[_cell(row, name) for name in names] for row in found[:MOST_ROWS]]
        yield figures(tuple(names), [tuple(row) for row in shown], words=range(len(names) - 1))
        if len(found) > MOST_ROWS:
            yield words(f"the first {MOST_ROWS}; --csv FILE writes all")
        commands = [one["command"] for one in islice(self.rows(), 1)]
        for command in filter(None, commands):
            yield words("repeat the first: ", (command, "command"))

    def changes(self, old: "Swept") -> Iterator[Block]:
        """Yield how the answers of an older sweep differ, cell by cell: those that both have, by their coordinates."""
        before = {_place(row): row for row in old.index.select(self.where)}
        rows = []
        gone = set(before)
        new = 0
        for row in self.index.select(self.where):
            place = _place(row)
            gone.discard(place)
            other = before.get(place)
            if other is None:
                new += 1
            elif (other["verdict"], other["status"]) != (row["verdict"], row["status"]):
                ends = [one["verdict"] or one["status"] for one in (other, row)]
                rows.append(
                    (*place[1:4], json.dumps(dict(place[6]))[1:-1], *(line((end, tone_of(end))) for end in ends))
                )
        if rows:
            yield table("", ("theorem", "problem", "delays", "settings", "before", "now"), rows[:MOST_ROWS], whole=(0,))
        yield words(f"{len(rows)} cells end in another way, {new} are new, {len(gone)} are gone")

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
            *(column(name) for name in self.plan.names()),
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
        from boundlab.sweep.plots import draw_map

        x, y = (column(name) if name in self.plan.names() else name for name in (x, y))
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
        from boundlab.sweep.plots import draw_curves

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
        return {
            "schema": schema("sweep"),
            "folder": str(self.store.folder),
            "asked": self.plan.total(),
            "rate": self.plan.run.rate,
            "missing": self.missing,
            "ends": [
                {"theorem": theorem, "status": status, "verdict": verdict, "cells": number}
                for theorem, status, verdict, number in self.index.counts("theorem", "status", "verdict")
            ],
            "disagreements": [key for key, _, _ in self.index.disagreements()],
        }


def _repeats(command: str | None, case: Path) -> str | None:
    """Return the command of a row; that of an exact value reads the row's case."""
    return command and command.replace(NO_CASE, shlex.quote(str(case)))


def _words(counts: list[tuple[Any, ...]]) -> Iterator[tuple[str, str, int]]:
    for theorem, verdict, status, number in counts:
        yield theorem, verdict or status, number


def _place(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the coordinates of a row."""
    whole = json.loads(row["row"])
    names = ("ask", "theorem", "problem", "delays", "server", "seed")
    return (*(whole.get(name) for name in names), tuple(sorted(whole.get("settings", {}).items())))


def _cell(row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    return "" if value is None else figure(value) if isinstance(value, float) else str(value)


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
    store = Store(Path(folder))
    return Swept(store, SweepPlan.of(store.plan, str(store.folder)), store.index(), where)


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
    from boundlab.simulate.parallel import processes

    if isinstance(plan, SweepPlan):
        read = plan
    else:
        read = SweepPlan.of(plan) if isinstance(plan, Mapping) else SweepPlan.read(Path(plan))
    store = Store.make(Path(out), read.raw)
    run(read, store, executor, jobs=processes(jobs), shard=shard, again=again, tell=tell)
    return Swept(store, read, store.index(), shard=shard)
