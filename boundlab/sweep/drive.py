"""Runs a sweep: cells go to an executor one by one, and rows come back to the one process that writes them.

A cell is answered by :func:`boundlab.sweep.worker.answer_apart` wherever the executor runs it: a thread here, or a
worker of a cluster. Each drives a process apart, since a limit ends the process and must not end the worker.
"""

import fcntl
import json
import os
import re
import secrets
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from itertools import islice
from math import isfinite
from pathlib import Path
from typing import Any, Protocol, Self, final

import numpy as np

from boundlab.errors import BoundlabError, ExecutorError, MissingExtraError, OutputError, SpecError, shortened
from boundlab.files import check_readable, is_file, is_folder, read_json, replacing, schema, write_json
from boundlab.options import nearest
from boundlab.pages.blocks import Block, table, words
from boundlab.registry import VARIABLE
from boundlab.simulate import processes
from boundlab.sweep.plan import UNANSWERED, Cell, Row, SweepPlan, key, machine, problem_of, theorem_of
from boundlab.sweep.worker import Warm, answer_apart, stop
from boundlab.verdict import ExitCode

# The folder of a sweep: lines that one process a shard appends to one file, and what they say together.
#
# ``sweep.json`` holds the plan, ``cells.bin`` the keys of its cells, ``lines/i-of-n.jsonl`` the rows of a shard, with
# lines before them of what they have in common, and ``cases/KEY.json`` their cases. Lines are appended and synced one
# by
# one, so that whoever is killed loses the cells in flight and no more; they are read anew by whoever asks.

_TEXTS = ("ask", "theorem", "problem", "delays", "server", "status", "verdict")
NUMBERS = ("seed", "left", "bound", "ratio", "log_slack", "cpu", "seconds")
COLUMNS = ("key", *_TEXTS, "vacuous", *NUMBERS, "reason")  # of a row, beside one for each setting
_OTHERS = ("row", "common", "case", "command", "points", "settings", "code")
_KEY = 32  # bytes
_LARGEST = 2**63  # of a whole number in SQLite
_POINT = 5  # numbers of a point
_VERSIONS = ("boundlab", "python", "numpy")
Append = Callable[[Row], None]


@final
class Folder:
    """A folder of results.

    Raises
    ------
    OutputError
        If it is not the folder of a sweep.
    """

    def __init__(self, path: Path) -> None:
        self.path, about = path, path / "sweep.json"
        found = read_json(about, OutputError) if is_file(about) else {}
        plan = found.get("plan") if isinstance(found, dict) and found.get("schema") == schema("sweep") else None
        if not isinstance(plan, dict):
            raise OutputError(f"{path} is not the folder of a sweep: it has no sweep.json; boundlab sweep makes one")
        self.plan: Mapping[str, Any] = plan

    @classmethod
    def make(cls, path: Path, plan: Mapping[str, Any]) -> Self:
        """Make the folder of a sweep, or open it where it is, and note the plan.

        Raises
        ------
        OutputError
            If it cannot be written, or holds files of somebody else.
        """
        about = path / "sweep.json"
        if is_file(about):
            cls(path)
        elif is_file(path) or (is_folder(path) and any(path.iterdir())):
            raise OutputError(f"{path} is not empty, and not the folder of a sweep; name a new one")
        try:
            for name in ("lines", "cases"):
                (path / name).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _unwritten(path, error) from None
        write_json(about, {"schema": schema("sweep"), "plan": dict(plan)})
        return cls(path)

    def note_cells(self, keys: bytes) -> None:
        """Note which cells the plan has now, 32 bytes each: rows of other ones are kept, and not counted.

        Raises
        ------
        OutputError
            If the folder cannot be written.
        """
        with replacing(self.path / "cells.bin") as temporary:
            temporary.write_bytes(keys)

    def case(self, key: str) -> Path:
        """Return where the case of a row stands, where it has one."""
        return self.path / "cases" / f"{key}.json"

    @contextmanager
    def writing(self, shard: str) -> Iterator[Append]:
        """Hold the file of a shard, and yield what appends a row to it: a killed process loses none and holds nothing.

        The row's ``case`` is written beside it, and ``common``, what it shares with others, before it where that has
        changed.

        Raises
        ------
        OutputError
            If another process works on this shard, or the folder cannot be written.
        """
        before: list[Any] = []

        def append(row: Row) -> None:
            own = dict(row)
            case, common = own.pop("case", None), own.pop("common")
            try:
                if case:
                    write_json(self.case(own["key"]), case)
                if before != [common]:
                    _write(file, {"common": common})
                    before[:] = [common]
                _write(file, own)
            except OSError as error:
                raise _unwritten(self.path, error) from None

        try:
            file = (self.path / "lines" / f"{shard}.jsonl").open("a+b", buffering=0)
        except OSError as error:
            raise _unwritten(self.path, error) from None
        with file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise OutputError(
                    f"{self.path}: shard {shard} is being worked on by another process; wait, or take others"
                ) from None
            yield append


def _write(file: Any, row: Row) -> None:
    """Write a line; one that a kill or a full disk has torn ends before it."""
    end = file.seek(0, os.SEEK_END)
    file.seek(max(end - 1, 0))
    torn = b"" if file.read(1) in (b"", b"\n") else b"\n"
    text = memoryview(torn + json.dumps(row, default=str).encode() + b"\n")
    while text:  # a disk that is nearly full takes a part
        text = text[file.write(text) :]
    os.fsync(file.fileno())


def _unwritten(path: Path, error: OSError) -> OutputError:
    return OutputError(f"{path} cannot be written: {error.strerror or error}")


def ending(row: Mapping[str, Any]) -> str:
    """Return how a cell ended, in words: its verdict, and whether the bound is vacuous, or why there is none."""
    return f"{row['verdict']} (vacuous)" if row.get("vacuous") else str(row["verdict"] or row.get("status", ""))


@final
@dataclass(frozen=True, slots=True)
class Kept:
    """Where the row of a cell stands, and how the cell ended."""

    path: Path
    place: int
    common: Mapping[str, Any]
    theorem: str
    status: str
    verdict: str
    code: int
    reason: str
    vacuous: bool
    ending: str

    def row(self) -> Row:
        """Return the row, read again."""
        with self.path.open("rb") as file:
            file.seek(self.place)
            found: Row = json.loads(file.readline())
        return found | {"common": self.common}


@final
class Lines:
    """All rows of a folder, read once: the last line about a cell counts.

    A cell that failed and was done later counts as done, and of two answers the one of other versions that was written
    last. Two of the same versions that differ are ``disagreements``: that is a defect.

    Parameters
    ----------
    names
        The settings of the plan: each is a column.

    Raises
    ------
    OutputError
        If the folder cannot be read.
    """

    def __init__(self, folder: Folder, names: Sequence[str] = ()) -> None:
        self.columns = {name: column(name) for name in names}
        self.strange = 0  # lines that are no rows
        self.disagreements: list[tuple[str, Row, Row]] = []
        self.all: dict[bytes, Kept] = {}
        cells = folder.path / "cells.bin"
        try:
            keys = cells.read_bytes() if is_file(cells) else b""
            # Of two answers the later one is that of the file written last.
            for path in sorted((folder.path / "lines").glob("*.jsonl"), key=lambda one: (one.stat().st_mtime_ns, one)):
                self._read(path)
        except OSError as error:
            raise OutputError(f"{folder.path} cannot be read: {error.strerror or error}") from None
        noted = dict.fromkeys(keys[place : place + _KEY] for place in range(0, len(keys) - _KEY + 1, _KEY))
        self.unanswered = [key for key in noted if key not in self.all]
        self.planned = [self.all[key] for key in noted if key in self.all]

    def _read(self, path: Path) -> None:
        common: Mapping[str, Any] = {}
        place = 0
        with path.open("rb") as file:
            for text in file:
                row = _read_line(text)
                if isinstance(row.get("common"), dict):
                    common = row["common"]
                elif _is_row(row):
                    theorem, status, verdict = (_interned(row[name]) for name in ("theorem", "status", "verdict"))
                    reason = _interned(row.get("reason") or "" if status in UNANSWERED else "")
                    rest = theorem, status, verdict, row["code"], reason, row.get("vacuous") is True
                    self._take(row, Kept(path, place, common, *rest, _interned(ending(row))))
                else:
                    self.strange += 1
                place += len(text)

    def _take(self, row: Row, line: Kept) -> None:
        key = bytes.fromhex(row["key"])
        before = self.all.get(key)
        if before is not None and before.status not in UNANSWERED and _same_versions(before.common, line.common):
            if line.status not in UNANSWERED and answered(before.row()) != answered(row):
                self.disagreements.append((row["key"], before.row(), row))
        else:
            self.all[key] = line

    def known(self, again: str = "") -> set[bytes]:
        """Return the cells that need no answer, their keys as bytes; see :func:`boundlab.sweep.drive.run`."""
        if again == "stale":
            mine = machine()
            return {key for key, line in self.all.items() if _same_versions(line.common, mine)}
        return {key for key, line in self.all.items() if not (again and line.status in UNANSWERED)}

    def rows(self, where: str = "") -> Iterator[Row]:
        """Yield the rows of the plan for which an SQL expression is true, with what they have in ``common``.

        Parameters
        ----------
        where
            Such as ``verdict = 'violated' AND M > 5``: one expression of the columns; nothing can be changed by it.

        Raises
        ------
        SpecError
            If it is none.
        """
        places = self._where(where) if where else None
        for place, line in enumerate(self.planned, 1):
            if places is None or place in places:
                yield line.row()

    def values(self, row: Row) -> Row:
        """Return the columns of a row: what it has in ``settings`` has columns, too."""
        given = row.get("settings", {})
        settings = {own: _value(given.get(name)) for name, own in self.columns.items()}
        found = {name: row.get(name) for name in COLUMNS} | settings
        return {name: _shown(one) if isinstance(one, str) else one for name, one in found.items()}

    def _where(self, where: str) -> set[int]:
        try:
            with closing(sqlite3.connect("")) as base:  # a file without a name, that nobody else can open
                names = {one.lower(): one for one in (*COLUMNS, *self.columns.values())}.values()
                base.execute(f"CREATE TABLE cells ({', '.join(map(_quoted, names))})")
                found = ([one[name] for name in names] for one in map(self.values, self.rows()))
                base.executemany(f"INSERT INTO cells VALUES ({', '.join('?' * len(names))})", found)
                base.set_authorizer(lambda what, *_: sqlite3.SQLITE_OK if what in _READS else sqlite3.SQLITE_DENY)
                return {place for (place,) in base.execute(f"SELECT rowid FROM cells WHERE ({where})")}
        except (sqlite3.Error, UnicodeError) as error:
            wrong = "it is not text in UTF-8" if isinstance(error, UnicodeError) else str(error)
            cause = wrong if where.strip() else "it is empty"
            known = ", ".join(sorted({*COLUMNS, *self.columns.values()}))
            raise SpecError(f"--where {where!r}: {cause}; the columns are {known}") from None


def _read_line(text: bytes) -> Row:
    # Two processes on a file system without locks may tear a line in the middle; others may nest without end.
    with suppress(ValueError, RecursionError):
        found = json.loads(text)
        if isinstance(found, dict):
            return found
    return {}


def _is_row(row: Row) -> bool:
    """Return whether it is the row of a cell: lines may be torn, or of somebody else."""
    key, given, points = row.get("key"), row.get("settings", {}), row.get("points", [])
    texts = [row.get(name) for name in _TEXTS if name != "server"]
    texts += [row.get(name) or "" for name in ("server", "reason", "command")]
    numbers = [row[name] for name in NUMBERS if row.get(name) is not None]
    return (
        isinstance(key, str)
        and bool(re.fullmatch("[0-9a-f]{64}", key))
        and isinstance(row.get("code"), int)
        and all(isinstance(one, str) for one in texts)
        and all(map(_is_number, numbers))
        and isinstance(given, dict)
        and all(name.isprintable() and (isinstance(one, str) or _is_number(one)) for name, one in given.items())
        and isinstance(points, list)
        and all(isinstance(one, list) and len(one) == _POINT and {*map(type, one)} <= {int, float} for one in points)
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, float) or (isinstance(value, int) and abs(value) < _LARGEST)


def _value(given: Any) -> Any:
    """Return the number that a setting is; what is none, such as a formula, as it is."""
    try:
        found = float(given)
    except (TypeError, ValueError):
        return given
    return given if not isfinite(found) else int(found) if found.is_integer() and abs(found) < _LARGEST else found


def _shown(text: str) -> str:
    """Return a text with bytes that are no letters, such as those in the name of a file, written as numbers."""
    return text.encode(errors="backslashreplace").decode()


_interned = lru_cache(maxsize=4096)(_shown)  # the same words in many lines are one text


def _same_versions(one: Mapping[str, Any], two: Mapping[str, Any]) -> bool:
    return all(one.get(name) == two.get(name) for name in _VERSIONS)


def answered(row: Mapping[str, Any]) -> Row:
    """Return what a row answers, without what it took and where."""
    return {name: one for name, one in row.items() if name not in ("cpu", "seconds", "common")}


@lru_cache(maxsize=1024)
def column(name: str) -> str:
    """Return the column of a setting; SQLite takes m and M for one name, and settings may differ in that alone."""
    taken = {one.lower() for one in (*COLUMNS, *_OTHERS, *machine())}
    plain = (
        name.lower() not in taken and not name.lower().startswith("set_") and not (name.islower() and len(name) == 1)
    )
    return name if plain else f"set_{name}"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


_READS = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION)


# A look at a sweep before it runs: how many cells, which do not apply, about how long.

_LOOKED_AT, _TIMED = 1000, 10


def preview(plan: SweepPlan, jobs: int | None) -> Iterator[Block]:
    """Yield what a sweep would do, as blocks."""
    number = plan.total()
    yield words(f"{number} cells of {plan.run.ask}, of {plan.size()} in the whole grid")
    looked = _spread(plan.cells(), number, _LOOKED_AT)
    reasons = Counter(filter(None, map(why_not, looked)))
    if reasons:
        share = "" if len(looked) == number else f" (of {len(looked)} that were looked at)"
        rows = [(why, str(number)) for why, number in reasons.most_common()]
        yield table(f"cells that do not apply{share}", ("why", "cells"), rows, numbers=(1,))
    warm, most = Warm(memory=plan.run.memory), plan.run.seconds
    try:
        warm.ask(looked[0], key(looked[0]), most)  # begins the process
        timed = _spread(iter(looked), len(looked), _TIMED)
        spent = [float(warm.ask(cell, key(cell), most).get("seconds", most)) for cell in timed]
    finally:
        warm.stop()
    mean, many = float(np.mean(spent)), processes(jobs)
    yield words(
        f"about {_time(mean * number / many)} with {many} processes: {mean:.2g} s a cell, the mean of {len(spent)}"
    )


def why_not(cell: Cell) -> str:
    """Return why a cell does not apply; empty where it does, or where only the answer says."""
    try:
        theorem = theorem_of(cell.theorem)
        if cell.run.ask == "compare":
            from boundlab.instance.fitting import CompareOptions

            asked = cell.problem, cell.delays, cell.server or None, cell.run.iterations[0], dict(cell.settings)
            setting = CompareOptions(theorem, *asked)
            setting.plan(problem=problem_of(cell.problem), trials=cell.run.trials, seed=cell.seed, forms=True)
    except BoundlabError as error:
        return str(error)
    return ""


def _spread(cells: Iterator[Cell], number: int, few: int) -> list[Cell]:
    """Return a few of so many cells, evenly over them."""
    places = set(np.linspace(0, number - 1, min(few, number)).astype(int).tolist())
    return [cell for place, cell in enumerate(cells) if place in places]


def _time(seconds: float) -> str:
    for unit, size in (("days", 86400.0), ("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 2.0 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.1f} s"


AGAIN = ("", "failed", "stale")
_CONNECT = 10  # seconds
_AHEAD = 2  # cells that are handed out, for each one that is worked on


class Executor(Protocol):
    """Anything that answers to ``submit`` with futures: concurrent.futures, or ``client.get_executor()`` of Dask."""

    def submit(self, call: Callable[..., Any], /, *arguments: Any) -> Any:
        """Return a future of call(*arguments)."""


@final
@dataclass(slots=True)
class Progress:
    """How far a sweep is.

    Parameters
    ----------
    asked, cached
        Cells of the plan (of this shard), and those that were answered before.
    done
        Answered now.
    verdicts
        How often each verdict, or each way to fail, was found now.
    """

    asked: int
    cached: int
    done: int
    verdicts: Counter[str]
    started: float

    def left(self) -> float:
        """Return about how many seconds it will take yet; infinity where nothing is known."""
        waiting = self.asked - self.cached - self.done
        spent = time.monotonic() - self.started
        return 0.0 if not waiting else spent / self.done * waiting if self.done else float("inf")


def run(
    plan: SweepPlan,
    folder: Folder,
    executor: Executor | None = None,
    *,
    jobs: int = 1,
    shard: tuple[int, int] = (1, 1),
    again: str = "",
    tell: Callable[[Progress, Row | None], None] = lambda *_: None,
) -> Progress:
    """Answer the cells of a plan that have no answer yet.

    Parameters
    ----------
    executor
        Takes the cells; None: as many threads as ``jobs``, each with a process. ``jobs`` says how many cells it works
        on at a time.
    shard
        (i, n): only the cells whose key says that they are of the i-th of n parts.
    again
        ``failed``: cells without an answer are asked once more; ``stale``: those that other versions answered.
    tell
        Told of each row, and once before the first.

    Raises
    ------
    OutputError
        If the folder cannot be written, or another process works on this shard.
    ExecutorError
        If the executor fails: what is finished is kept.
    BoundlabError
        If ``again`` is none of these, or a theorem is none; a problem that is none refuses its cells alone.
    """
    if again not in AGAIN:
        raise SpecError(f"again={again!r}: {nearest(again, AGAIN[1:])}")
    with ExitStack() as stack:
        append = stack.enter_context(folder.writing("{}-of-{}".format(*shard)))
        known = Lines(folder).known(again)
        keys = [bytes.fromhex(key(cell)) for cell in plan.cells()]
        folder.note_cells(b"".join(keys))
        cached = [found in known for found in keys if in_shard(found, *shard)]
        progress = Progress(len(cached), sum(cached), 0, Counter(), time.monotonic())
        tell(progress, None)
        if executor is None:
            executor = stack.enter_context(ThreadPoolExecutor(jobs))
        mark = secrets.token_hex(8)
        stack.callback(stop, mark)
        variables = {name: os.environ[name] for name in (VARIABLE, "BOUNDLAB_DATA") if name in os.environ}
        rest = (mark, plan.run.seconds, plan.run.memory, variables)
        futures = (
            executor.submit(answer_apart, cell, found.hex(), *rest)
            for cell, found in zip(plan.cells(), keys, strict=True)  # made anew: a million cells take a gigabyte
            if in_shard(found, *shard) and found not in known
        )
        for row in stack.enter_context(closing(_finished(futures, _AHEAD * jobs))):
            append(row)
            progress.done += 1
            progress.verdicts[ending(row)] += 1
            tell(progress, row)
    return progress


def in_shard(found: bytes, part: int, parts: int) -> bool:
    """Return whether a key is of the part-th of so many parts."""
    return int.from_bytes(found[:6]) % parts == part - 1


def _finished(futures: Iterator["Future[Row]"], ahead: int) -> Generator[Row, None, None]:
    """Yield the results of futures, as they are finished; so many of them are begun before they are waited for.

    Raises
    ------
    ExecutorError
        If one has none, or cannot be begun.
    """
    begun: set[Future[Row]] = set()
    try:
        while begun := begun | {*islice(futures, ahead - len(begun))}:
            done, begun = wait(begun, return_when=FIRST_COMPLETED)
            # What is finished is kept: those that are lost come last.
            for future in sorted(done, key=lambda one: one.cancelled() or one.exception() is not None):
                yield future.result()
    except Exception as error:  # of whatever carries the cells: a lost scheduler, a worker without boundlab
        cause = shortened(" ".join(f"{type(error).__name__}: {error}".split()), 300)
        raise ExecutorError(
            f"the executor failed ({cause}); what is finished is kept, ask again for the rest"
        ) from None
    finally:
        for future in begun:
            future.cancel()


@contextmanager
def cluster(address: str) -> Iterator[tuple[Executor, int]]:
    """Connect to a cluster of Dask, and yield an executor and how many threads its workers have.

    Parameters
    ----------
    address
        Of the scheduler, such as ``tcp://host:8786``, or the path of its scheduler file, which ends in ``.json``.

    Raises
    ------
    MissingExtraError
        If Dask is not installed.
    SpecError
        If no scheduler answers, or it has no workers.
    """
    try:
        distributed: Any = import_module("distributed")
    except ImportError:
        raise MissingExtraError('--dask needs Dask: pip install "boundlab[dask]"') from None
    where = {"address": address}
    if address.endswith(".json"):  # Dask would wait for a file that is not there
        check_readable(Path(address), SpecError, what="the scheduler file")
        where = {"scheduler_file": address}
    try:
        client = distributed.Client(**where, timeout=_CONNECT, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        cause = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise SpecError(
            f"--dask {address}: no scheduler answers there ({shortened(cause, 200)}); dask scheduler starts one"
        ) from None
    with client:
        try:
            client.wait_for_workers(1, timeout=_CONNECT)
        except TimeoutError:
            raise SpecError(
                f"--dask {address}: the scheduler has no workers; dask worker {address} starts one"
            ) from None
        threads = sum(client.ncores().values())
        yield client.get_executor(), threads


def exit_code(endings: Iterable[tuple[str, int]]) -> ExitCode:
    """Return how a sweep ends: 70 if a cell crashed, else 1 if one is refuted, 3 if one is open, else 0.

    Parameters
    ----------
    endings
        Status and code of each cell.
    """
    return ExitCode.worst(
        70 if status == "crashed" else 3 if status in UNANSWERED else code for status, code in endings
    )


def read_shard(text: str) -> tuple[int, int]:
    """Read ``i/n``.

    Raises
    ------
    SpecError
        If it is none.
    """
    first, slash, last = text.partition("/")
    if not (slash and text.isascii() and first.isdigit() and last.isdigit() and 1 <= int(first) <= int(last)):
        raise SpecError(f"--shard {text!r}: write i/n with 1 ≤ i ≤ n, such as 2/8")
    return int(first), int(last)
