"""The folder of a sweep: lines that processes append to files of their own, and an index made from them.

``sweep.json`` says which sweep it is and holds the plan, ``cells.bin`` the keys of its cells, ``lines/*.jsonl`` the
rows, with lines before them of what they have in common, and ``cases/KEY.json`` their cases. Lines are the truth: they
are appended and synced one by one, so that whoever is killed loses the cell in flight and no more. The index is SQLite
in a file of the process that asks, made from all lines that are there and gone with it: it says nothing but these.
"""

import fcntl
import json
import os
import platform
import re
import secrets
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, Self, final

from boundlab.errors import OutputError, SpecError
from boundlab.files import read_json, replacing, schema, write_json
from boundlab.sweep.cell import Row
from boundlab.sweep.lines import read_lines
from boundlab.sweep.question import machine

# What is long stands apart: whoever looks through a million cells reads the facts alone. Of the plan are the rows whose
# keys are among those asked for last; a row of an edited theorem or an earlier plan is none.
_TABLES = """
CREATE TABLE facts (key TEXT UNIQUE, id INTEGER PRIMARY KEY, planned INTEGER, {columns});
CREATE TABLE texts (id INTEGER PRIMARY KEY, reason TEXT, common TEXT, row TEXT);
CREATE VIEW cells AS SELECT * FROM facts JOIN texts USING (id) WHERE planned;
CREATE INDEX endings ON facts (planned, theorem, verdict, status, code);
CREATE INDEX unanswered ON facts (status) WHERE status <> 'done';
CREATE TABLE asked (key TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE disagreements (key TEXT, first TEXT, second TEXT);
"""
UNANSWERED = ("over time", "over memory", "killed", "crashed", "refused")
_TEXTS = ("ask", "theorem", "problem", "delays", "server", "status", "verdict")
_NUMBERS = ("seed", "code", "left", "bound", "ratio", "log_slack", "cpu", "seconds")
_LARGEST = 2**63  # of a whole number in the index
_POINT = 5  # numbers of a point
_OWN = ("id", "planned", "key", "reason", "common", "row", "case", "command", "points", "settings")
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
        if not re.fullmatch("[0-9a-f]{16}", self.id) or not isinstance(self.plan, dict):
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
            cls._make_folders(folder)
        write_json(about, {"schema": schema("sweep"), "sweep": identity, "plan": dict(plan)})
        return cls(folder)

    @staticmethod
    def _make_folders(folder: Path) -> None:
        try:
            for name in ("lines", "cases", "locks"):
                (folder / name).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"{folder} cannot be written: {error.strerror or error}") from None

    def note_cells(self, keys: bytes) -> None:
        """Note which cells the plan has now, 32 bytes each: rows of other ones are kept, and not counted.

        Raises
        ------
        OutputError
            If the folder cannot be written.
        """
        with replacing(self.cells) as temporary:
            temporary.write_bytes(keys)

    @property
    def cells(self) -> Path:
        """Where the keys of the plan's cells stand."""
        return self.folder / "cells.bin"

    @contextmanager
    def held(self, shard: str) -> Iterator[None]:
        """Hold a shard: a second process with the same one is refused; a killed one holds nothing.

        Raises
        ------
        OutputError
            If another process works on this shard.
        """
        self._make_folders(self.folder)
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
        """Return the index of all lines that are there now."""
        return Index(self)


@final
class Index:
    """All rows of a sweep in SQLite, made from the lines; read-only for whoever asks.

    A cell that failed and was done later counts as done. Two lines about one cell that differ are kept in the table
    ``disagreements``: that is a defect.

    Raises
    ------
    OutputError
        If the folder cannot be read, or the index not be written.
    """

    def __init__(self, store: Store) -> None:
        self._named: set[str] = set()  # settings that have a column
        self.noted = 0  # cells of the plan
        self._base = sqlite3.connect("")  # a file without a name, that nobody else can open
        self._base.row_factory = sqlite3.Row
        columns = ", ".join([*(f"{name} TEXT" for name in _TEXTS), *(f"{name} REAL" for name in _NUMBERS)])
        self._base.executescript(_TABLES.format(columns=columns))
        try:
            with self._base:
                self._read(store)
        except (OSError, sqlite3.Error) as error:
            raise OutputError(f"{store.folder} cannot be read: {getattr(error, 'strerror', None) or error}") from None

    def _read(self, store: Store) -> None:
        keys = store.cells.read_bytes() if store.cells.is_file() else b""
        self.noted = len(keys) // 32
        rows = ((keys[place : place + 32].hex(),) for place in range(0, 32 * self.noted, 32))
        self._base.executemany("INSERT OR IGNORE INTO asked VALUES (?)", rows)
        files = (store.folder / "lines").glob("*.jsonl")
        # The names are random: of two answers the later one is that of the file written last.
        for path in sorted(files, key=lambda one: (one.stat().st_mtime_ns, one.name)):
            common = "{}"
            for _, row in read_lines(path, 0):
                if isinstance(row.get("common"), dict):
                    common = json.dumps(row["common"], sort_keys=True)
                elif _is_row(row):
                    self._insert(row, common)

    def unanswered(self) -> list[bytes]:
        """Return the keys of the plan's cells of which there is no row."""
        found = self._base.execute("SELECT key FROM asked WHERE key NOT IN (SELECT key FROM facts)")
        return [bytes.fromhex(key) for (key,) in found]

    def _insert(self, row: Row, common: str) -> None:
        before = self._base.execute(
            "SELECT id, status, common, row FROM facts JOIN texts USING (id) WHERE key = ?", (row["key"],)
        ).fetchone()
        if before is not None and before["status"] not in UNANSWERED and _same_versions(before["common"], common):
            if row["status"] not in UNANSWERED and answered(json.loads(before["row"])) != answered(row):
                self._base.execute(
                    "INSERT INTO disagreements VALUES (?, ?, ?)", (row["key"], before["row"], json.dumps(row))
                )
            return
        given = row.get("settings", {})
        if not given.keys() <= self._named:
            known = {one.lower() for one in self._columns()}  # SQLite takes ab and AB for one column
            for name in {one.lower(): one for one in map(column, given) if one.lower() not in known}.values():
                self._base.execute(f"ALTER TABLE facts ADD COLUMN {_quoted(name)} NUMERIC")
            self._named |= given.keys()
        planned = self._base.execute("SELECT 1 FROM asked WHERE key = ?", (row["key"],)).fetchone() is not None
        names = ["id", "planned", "key", *_TEXTS, *_NUMBERS, *map(column, given)]
        values = [row["key"], *(row.get(name) for name in (*_TEXTS, *_NUMBERS)), *given.values()]
        values = [_shown(one) if isinstance(one, str) else one for one in values]
        into, places = ", ".join(map(_quoted, names)), ", ".join("?" * len(names))
        place = None if before is None else before["id"]
        place = self._base.execute(
            f"REPLACE INTO facts ({into}) VALUES ({places})", (place, planned, *values)
        ).lastrowid
        texts = (place, _shown(row.get("reason") or ""), common, json.dumps(row))
        self._base.execute("REPLACE INTO texts VALUES (?, ?, ?, ?)", texts)

    def _columns(self) -> set[str]:
        return {row["name"] for row in self._base.execute("PRAGMA table_info(cells)")}

    def keys(self, again: str = "") -> set[bytes]:
        """Return the cells that need no answer, their keys as bytes; see :func:`boundlab.sweep.drive.run`."""
        if again == "stale":
            mine = json.dumps(machine())
            found = self._base.execute("SELECT key, common FROM facts JOIN texts USING (id)")
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
        if where and not where.strip():
            raise SpecError(f"--where {where!r}: it is empty; {self._known()}")
        try:
            self._base.set_authorizer(_reads_only)
            try:
                rows = self._base.execute(f"SELECT * FROM cells WHERE ({where or '1'}) ORDER BY id")
            finally:
                self._base.set_authorizer(None)
            for row in rows:
                found = dict(row)
                del found["id"], found["planned"]
                yield found
        except UnicodeError:
            raise SpecError(f"--where {where!r}: it is not text in UTF-8; {self._known()}") from None
        except sqlite3.Error as error:
            raise SpecError(f"--where {where!r}: {error}; {self._known()}") from None

    def _known(self) -> str:
        return f"the columns are {', '.join(sorted(self._columns() - {'row', 'common', 'id', 'planned'}))}"

    def counts(self, *names: str, where: str = "1") -> list[tuple[Any, ...]]:
        """Return how many rows there are for each combination of some columns, the most first."""
        some = ", ".join(map(_quoted, names))
        table = "cells" if "reason" in names else "facts"
        words = (
            f"SELECT {some}, COUNT(*) FROM {table} WHERE planned AND ({where}) GROUP BY {some} ORDER BY COUNT(*) DESC"
        )
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
        with suppress(AttributeError):
            self._base.close()


def _shown(text: str) -> str:
    """Return a text with bytes that are no letters, such as those in the name of a file, written as numbers."""
    return text.encode(errors="backslashreplace").decode()


def _is_row(row: Row) -> bool:
    """Return whether it is the row of a cell: lines may be torn, or of somebody else."""
    key, given, points = row.get("key"), row.get("settings", {}), row.get("points", [])
    texts = [row.get(name) for name in _TEXTS if name != "server"]
    texts += [row.get(name) or "" for name in ("server", "reason", "command")]
    numbers = [row[name] for name in _NUMBERS if row.get(name) is not None]
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


def _same_versions(first: str, second: str) -> bool:
    one, two = json.loads(first), json.loads(second)
    return all(one.get(name) == two.get(name) for name in _VERSIONS)


def answered(row: Mapping[str, Any]) -> Row:
    """Return what a row answers, without what it took."""
    return {name: one for name, one in row.items() if name not in ("cpu", "seconds")}


@lru_cache(maxsize=1024)
def column(name: str) -> str:
    """Return the column of a setting; SQLite takes m and M for one name, and settings may differ in that alone."""
    taken = {one.lower() for one in (*_OWN, *_TEXTS, *_NUMBERS, *machine())}
    plain = (
        name.lower() not in taken and not name.lower().startswith("set_") and not (name.islower() and len(name) == 1)
    )
    return name if plain else f"set_{name}"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _reads_only(action: int, *_: Any) -> int:
    allowed = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION)
    return sqlite3.SQLITE_OK if action in allowed else sqlite3.SQLITE_DENY
