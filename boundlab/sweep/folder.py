"""The folder of a sweep: lines that one process a shard appends to one file, and what they say together.

``sweep.json`` holds the plan, ``cells.bin`` the keys of its cells, ``lines/i-of-n.jsonl`` the rows of a shard, with
lines before them of what they have in common, and ``cases/KEY.json`` their cases. Lines are appended and synced one by
one, so that whoever is killed loses the cells in flight and no more; they are read anew by whoever asks.
"""

import fcntl
import json
import os
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from math import isfinite
from pathlib import Path
from typing import Any, Self, final

from boundlab.errors import OutputError, SpecError
from boundlab.files import read_json, replacing, schema, write_json
from boundlab.sweep.cell import UNANSWERED, Row
from boundlab.sweep.question import machine

_TEXTS = ("ask", "theorem", "problem", "delays", "server", "status", "verdict")
NUMBERS = ("seed", "left", "bound", "ratio", "log_slack", "cpu", "seconds")
COLUMNS = ("key", *_TEXTS, *NUMBERS, "reason")  # of a row, beside one for each setting
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
        found = read_json(about, OutputError) if about.is_file() else {}
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
        if about.is_file():
            cls(path)
        elif path.exists() and (not path.is_dir() or any(path.iterdir())):
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
            keys = cells.read_bytes() if cells.is_file() else b""
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
                    self._take(row, Kept(path, place, common, theorem, status, verdict, row["code"], reason))
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
                base.set_authorizer(_reads_only)
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


def _reads_only(action: int, *_: Any) -> int:
    allowed = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION)
    return sqlite3.SQLITE_OK if action in allowed else sqlite3.SQLITE_DENY
