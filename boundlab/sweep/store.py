"""The folder of a sweep: lines that processes append to files of their own, and an index made from them.

``sweep.json`` says which sweep it is and holds the plan, ``lines/*.jsonl`` hold the rows, with lines before them
of what they have in common, and ``cases/KEY.json`` their cases. Lines are the truth: they are appended and
synced one by one, so that whoever is killed loses the cell in flight and no more. The index is SQLite in the user's
cache folder, since the folder may be on a network file system, and is made again wherever it is missing.
"""

import fcntl
import json
import os
import platform
import secrets
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, Self, final

from boundlab.errors import OutputError, SpecError
from boundlab.files import read_json, schema, write_json
from boundlab.sweep.plan import Row

UNANSWERED = ("over time", "over memory", "killed", "crashed", "refused")
_TEXTS = ("ask", "theorem", "problem", "delays", "server", "status", "verdict")
_NUMBERS = ("seed", "code", "left", "bound", "ratio", "log_slack", "cpu", "seconds")
_LAYOUT = 2  # of the index: another one is made again
_OWN = ("id", "key", "reason", "common", "row")
_VERSIONS = ("boundlab", "python", "numpy")


@final
class Store:
    """A folder of results.

    Raises
    ------
    OutputError
        If it is not the folder of a sweep, or belongs to another one.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        about = self._about()
        self.id, self.plan = str(about.get("sweep", "")), about.get("plan", {})
        if not self.id:
            raise OutputError(f"{folder} is not the folder of a sweep: it has no sweep.json; boundlab sweep makes one")

    def _about(self) -> Mapping[str, Any]:
        path = self.folder / "sweep.json"
        found = read_json(path, OutputError) if path.is_file() else {}
        return found if isinstance(found, dict) and found.get("schema") == schema("sweep") else {}

    @classmethod
    def make(cls, folder: Path, plan: Mapping[str, Any]) -> Self:
        """Make the folder of a sweep, or open it where it is, and note the plan.

        Raises
        ------
        OutputError
            If it cannot be written, or holds files of somebody else.
        """
        about, identity = folder / "sweep.json", secrets.token_hex(8)
        if about.is_file():
            identity = cls(folder).id
        else:
            if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
                raise OutputError(f"{folder} is not empty, and not the folder of a sweep; name a new one")
            try:
                for name in ("lines", "cases", "locks"):
                    (folder / name).mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise OutputError(f"{folder} cannot be written: {error.strerror or error}") from None
        write_json(about, {"schema": schema("sweep"), "sweep": identity, "plan": dict(plan)})
        return cls(folder)

    @contextmanager
    def held(self, shard: str) -> Iterator[None]:
        """Hold a shard: a second process with the same one is refused; a killed one holds nothing.

        Raises
        ------
        OutputError
            If another process works on this shard.
        """
        path = self.folder / "locks" / f"{shard}.lock"
        with path.open("a+", encoding="utf-8") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                file.seek(0)
                who = file.read().strip() or "another process"
                raise OutputError(
                    f"{self.folder}: shard {shard} is being worked on by {who}; wait, or take others"
                ) from None
            file.truncate(0)
            file.write(f"process {os.getpid()} on {platform.node()}")
            file.flush()
            yield

    def case(self, key: str) -> Path:
        """Return where the case of a row stands, where it has one."""
        return self.folder / "cases" / f"{key}.json"

    def index(self) -> "Index":
        """Return the index, with all lines that are there now."""
        found = Index(self)
        found.update()
        return found


@final
class Appender:
    """A file of lines of one process, begun with its first row."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._common: Mapping[str, Any] | None = None
        self._file: Any = None

    def append(self, row: Mapping[str, Any], common: Mapping[str, Any]) -> None:
        """Write a row, and its case beside it, so that a killed process loses nothing of them.

        Parameters
        ----------
        common
            What it shares with other rows, a line of its own whenever it changes.

        Raises
        ------
        OutputError
            If it cannot be written.
        """
        own = dict(row)
        case = own.pop("case", None)
        try:
            if case:
                write_json(self._folder / "cases" / f"{own['key']}.json", case)
            if self._file is None:
                name = f"{platform.node()}-{os.getpid()}-{secrets.token_hex(4)}.jsonl"
                self._file = (self._folder / "lines" / name).open("xb", buffering=0)
            if common != self._common:
                self._write({"common": dict(common)})
                self._common = dict(common)
            self._write(own)
        except OSError as error:
            self.close()  # a torn line ends its file: no row is to follow it
            raise OutputError(f"{self._folder} cannot be written: {error.strerror or error}") from None

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = self._common = None

    def _write(self, row: Mapping[str, Any]) -> None:
        text = memoryview(json.dumps(row, ensure_ascii=False, default=str).encode() + b"\n")
        while text:  # a disk that is nearly full takes a part
            text = text[self._file.write(text) :]
        os.fsync(self._file.fileno())


def read_lines(path: Path, start: int) -> Iterator[tuple[int, Row]]:
    """Yield each line of a file from a place on, with the place behind it; a torn line ends the file."""
    with path.open("rb") as file:
        file.seek(start)
        place = start
        for line in file:
            if not line.endswith(b"\n"):
                return
            place += len(line)
            with suppress(ValueError):  # two processes on a file system without locks may tear a line in the middle
                found = json.loads(line)
                if isinstance(found, dict):
                    yield place, found


@final
class Index:
    """All rows of a sweep in SQLite, made from the lines; read-only for whoever asks.

    A cell that failed and was done later counts as done. Two lines about one cell that differ are kept in the table
    ``disagreements``: that is a defect.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self.path = (
            _cache() / f"{store.id}-{sha256(str(store.folder.absolute()).encode()).hexdigest()[:8]}-{_LAYOUT}.sqlite"
        )
        self._base = sqlite3.connect(self.path, timeout=60.0)
        self._base.row_factory = sqlite3.Row
        self._base.execute("PRAGMA journal_mode = WAL")
        self._base.execute("PRAGMA synchronous = OFF")  # it is made again from the lines
        columns = ", ".join([*(f"{name} TEXT" for name in _TEXTS), *(f"{name} REAL" for name in _NUMBERS)])
        self._base.execute(f"CREATE TABLE IF NOT EXISTS facts (key TEXT UNIQUE, id INTEGER PRIMARY KEY, {columns})")
        # What is long stands apart: whoever looks through a million cells reads the facts alone.
        self._base.execute(
            "CREATE TABLE IF NOT EXISTS texts (id INTEGER PRIMARY KEY, reason TEXT, common TEXT, row TEXT)"
        )
        self._base.execute("CREATE VIEW IF NOT EXISTS cells AS SELECT * FROM facts JOIN texts USING (id)")
        self._base.execute("CREATE INDEX IF NOT EXISTS endings ON facts (theorem, verdict, status, code)")
        self._base.execute("CREATE INDEX IF NOT EXISTS unanswered ON facts (status) WHERE status <> 'done'")
        self._base.execute("CREATE TABLE IF NOT EXISTS files (name TEXT PRIMARY KEY, place INTEGER, common TEXT)")
        self._base.execute("CREATE TABLE IF NOT EXISTS disagreements (key TEXT, first TEXT, second TEXT)")

        self._named: set[str] = set()  # settings that have a column

    def update(self) -> None:
        """Read what was appended since."""
        with self._base:
            known = {name: (place, common) for name, place, common in self._base.execute("SELECT * FROM files")}
            for path in sorted((self._store.folder / "lines").glob("*.jsonl")):
                place, common = known.get(path.name, (0, "{}"))
                for end, row in read_lines(path, place):
                    place = end
                    if "common" in row:
                        common = json.dumps(row["common"], sort_keys=True)
                    else:
                        self._insert(row, common)
                self._base.execute("REPLACE INTO files VALUES (?, ?, ?)", (path.name, place, common))

    def _insert(self, row: Row, common: str) -> None:
        before = self._base.execute("SELECT id, status, common, row FROM cells WHERE key = ?", (row["key"],)).fetchone()
        if before is not None and before["status"] not in UNANSWERED and _same_versions(before["common"], common):
            if row["status"] not in UNANSWERED and answered(json.loads(before["row"])) != answered(row):
                self._base.execute(
                    "INSERT INTO disagreements VALUES (?, ?, ?)", (row["key"], before["row"], json.dumps(row))
                )
            return
        given = row.get("settings", {})
        if not given.keys() <= self._named:
            known = self._columns()
            for name in [one for one in map(column, given) if one not in known]:
                self._base.execute(f"ALTER TABLE facts ADD COLUMN {_quoted(name)} NUMERIC")
            self._named |= given.keys()
        names = ["id", "key", *_TEXTS, *_NUMBERS, *map(column, given)]
        values = [row["key"], *(row.get(name) for name in (*_TEXTS, *_NUMBERS)), *given.values()]
        into, places = ", ".join(map(_quoted, names)), ", ".join("?" * len(names))
        place = None if before is None else before["id"]
        place = self._base.execute(f"REPLACE INTO facts ({into}) VALUES ({places})", (place, *values)).lastrowid
        texts = (place, row.get("reason"), common, json.dumps(row, ensure_ascii=False))
        self._base.execute("REPLACE INTO texts VALUES (?, ?, ?, ?)", texts)

    def _columns(self) -> set[str]:
        return {row["name"] for row in self._base.execute("PRAGMA table_info(cells)")}

    def keys(self, again: str = "") -> set[bytes]:
        """Return the cells that need no answer, their keys as bytes; see :func:`boundlab.sweep.drive.run`."""
        if again == "stale":
            from boundlab.sweep.question import machine

            mine = json.dumps(machine())
            found = self._base.execute("SELECT key, common FROM cells")
            return {bytes.fromhex(key) for key, common in found if _same_versions(common, mine)}
        failed = ", ".join(repr(one) for one in UNANSWERED)
        where = f"status NOT IN ({failed})" if again == "failed" else "1"
        return {bytes.fromhex(key) for (key,) in self._base.execute(f"SELECT key FROM facts WHERE {where}")}

    def select(self, where: str = "") -> Iterator[Row]:
        """Yield the rows for which an SQL expression is true, one after the other.

        Parameters
        ----------
        where
            Such as ``verdict = 'violated' AND M > 5``: one expression of the columns; nothing can be changed by it.

        Raises
        ------
        SpecError
            If it is none.
        """
        base = sqlite3.connect(f"{self.path.as_uri()}?mode=ro", uri=True)
        base.row_factory = sqlite3.Row
        base.set_authorizer(_reads_only)
        try:
            for row in base.execute(f"SELECT * FROM cells WHERE ({where or '1'}) ORDER BY id"):
                found = dict(row)
                del found["id"]
                yield found
        except sqlite3.Error as error:
            shown = ", ".join(sorted(self._columns() - {"row", "common", "id"}))
            raise SpecError(f"--where {where!r}: {error}; the columns are {shown}") from None
        finally:
            base.close()

    def counts(self, *names: str, where: str = "1") -> list[tuple[Any, ...]]:
        """Return how many rows there are for each combination of some columns, the most first."""
        some = ", ".join(map(_quoted, names))
        table = "cells" if "reason" in names else "facts"
        words = f"SELECT {some}, COUNT(*) FROM {table} WHERE {where} GROUP BY {some} ORDER BY COUNT(*) DESC"
        return [tuple(row) for row in self._base.execute(words)]

    def disagreements(self) -> list[tuple[str, Row, Row]]:
        """Return the cells of which two lines differ in what they answer."""
        found = self._base.execute("SELECT key, first, second FROM disagreements")
        return [(key, json.loads(first), json.loads(second)) for key, first, second in found]

    def close(self) -> None:
        """Close the file."""
        self._base.close()

    def __del__(self) -> None:
        """Close the file."""
        self._base.close()


def _same_versions(first: str, second: str) -> bool:
    one, two = json.loads(first), json.loads(second)
    return all(one.get(name) == two.get(name) for name in _VERSIONS)


def answered(row: Mapping[str, Any]) -> Row:
    """Return what a row answers, without what it took."""
    return {name: one for name, one in row.items() if name not in ("cpu", "seconds")}


def column(name: str) -> str:
    """Return the column of a setting; SQLite takes m and M for one name, and settings may differ in that alone."""
    taken = name.lower() in (*_OWN, *_TEXTS, *_NUMBERS)
    return f"set_{name}" if taken or (name.islower() and len(name) == 1) else name


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _reads_only(action: int, *_: Any) -> int:
    allowed = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION)
    return sqlite3.SQLITE_OK if action in allowed else sqlite3.SQLITE_DENY


def _cache() -> Path:
    """Return the folder for what can be made again."""
    given = os.environ.get("XDG_CACHE_HOME", "")
    found = (Path(given) if given else Path.home() / ".cache") / "boundlab" / "sweeps"
    try:
        found.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{found} cannot be made ({error.strerror or error}); set XDG_CACHE_HOME") from None
    return found
