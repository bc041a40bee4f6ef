"""Updates that a log has recorded, and their normal form: a CSV file with one update a row."""

import csv
import gzip
import re
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from boundlab.errors import SpecError
from boundlab.files import LARGEST, check_readable, write_csv
from boundlab.options import device_order, nearest, typed
from boundlab.randomness import Floats, Ints

COLUMNS: Final[Mapping[str, str]] = {
    "time": "when the update arrived: numbers, or ISO 8601",
    "client": "the name of the device",
    "dispatch": "when the device was handed the model",
    "version": "the server's version of that model",
    "steps": "local steps of the update",
    "status": "arrived or lost",
    "staleness": "server versions made between dispatch and arrival",
}
_LEAST: Final = {"version": 0, "steps": 1, "staleness": 0}  # that says something
_ARRIVED: Final = ("", "arrived", "done", "ok", "success")
_LOST: Final = ("lost", "dropped", "failed", "timeout")
MOST_UPDATES = 10**6
LARGEST_BUFFER = 64  # updates a version, in a record of versions
_CLOCK = 1e8  # a number from here on is a time stamp of a clock (Unix seconds since 1973), and not a duration
LONGEST_NAME = 100  # letters
_WHOLE = re.compile(r"[0-9]{1,15}")
_MAGIC = b"\x1f\x8b"  # of gzip


@final
@dataclass(frozen=True, slots=True)
class Recorded:
    """Updates in the order in which they arrived, N of them.

    Parameters
    ----------
    source
        The file.
    names
        The devices; the i-th is client i.
    client
        Shape (N,): whose update it is.
    time
        Shape (N,), unit of time: when it arrived; of a lost one when that was noticed, NaN where nobody says.
    dispatch
        Shape (N,), unit of time: when the device was handed the model, NaN where it is unknown.
    version
        Shape (N,): the server's version of that model, −1 where it is unknown.
    steps
        Shape (N,): its local steps, 0 where they are unknown.
    staleness
        Shape (N,): server versions between that model and the one that the update met, −1 where they are unknown.
    lost
        Shape (N,): whether it was dispatched and never arrived.
    line
        Shape (N,): where it stands in the file, counted from 1.
    notes
        What was done to the log, in words.
    """

    source: str
    names: tuple[str, ...]
    client: NDArray[np.int32]
    time: Floats
    dispatch: Floats
    version: Ints
    steps: Ints
    staleness: Ints
    lost: NDArray[np.bool_]
    line: Ints
    notes: tuple[str, ...] = ()

    def take(self, rows: Any) -> "Recorded":
        """Return some of the updates."""
        kept = {one.name: getattr(self, one.name) for one in fields(self)}
        return replace(self, **{name: one[rows] for name, one in kept.items() if isinstance(one, np.ndarray)})

    @property
    def arrived(self) -> "Recorded":
        """The updates that were not lost."""
        return self.take(~self.lost)

    def in_order(self, *, clock: bool) -> "Recorded":
        """Return the updates sorted by time, equal times in the order of the file.

        Parameters
        ----------
        clock
            Whether times are those of a clock: the origin is then the first of all.
        """
        key = np.where(np.isnan(self.time), self.dispatch, self.time)
        found = self.take(np.argsort(key, kind="stable"))
        notes = list(self.notes)
        if (np.diff(key) < 0.0).any():
            notes.append("rows were not in the order of time: they are sorted, equal times in the order of the file")
        origin = float(np.nanmin([self.time, self.dispatch])) if clock and len(key) else 0.0
        if origin:
            notes.append("times are those of a clock: 0 is the first event")
        return replace(found, time=found.time - origin, dispatch=found.dispatch - origin, notes=tuple(notes))

    def save(self, path: Path) -> None:
        """Write the normal form: time and client, and those of the other columns that are known of some update.

        Raises
        ------
        OutputError
            If the file cannot be written.
        """
        columns = {
            "time": [typed(one) if one == one else "" for one in self.time.tolist()],
            "client": [self.names[one] for one in self.client.tolist()],
            "dispatch": [typed(one) if one == one else "" for one in self.dispatch.tolist()],
            **{key: [str(one) if one >= _LEAST[key] else "" for one in getattr(self, key).tolist()] for key in _LEAST},
            "status": ["lost" if one else "" for one in self.lost.tolist()],
        }
        columns = {key: columns[key] for key in COLUMNS if key in ("time", "client") or any(columns[key])}
        write_csv(path, list(columns), zip(*columns.values(), strict=True))


def recorded(source: str, rows: Sequence[Mapping[str, Any]], notes: Iterable[str] = ()) -> Recorded:
    """Return a record of updates in the order given.

    Parameters
    ----------
    rows
        One an update: ``client``, a name, ``line``, and of the others what is known.
    """
    names = tuple(device_order(row["client"] for row in rows))
    place = {name: number for number, name in enumerate(names)}

    def column(name: str, unknown: float) -> Any:
        return np.array([row.get(name, unknown) for row in rows], dtype=type(unknown))

    return Recorded(
        source,
        names,
        np.array([place[row["client"]] for row in rows], dtype=np.int32),
        column("time", np.nan),
        column("dispatch", np.nan),
        column("version", -1),
        column("steps", 0),
        column("staleness", -1),
        column("lost", False),
        column("line", 0),
        tuple(notes),
    )


def text_of(path: Path) -> str:
    """Return the text of a log, compressed with gzip or not, of at most 64 MiB.

    Raises
    ------
    SpecError
        If it cannot be read.
    """
    check_readable(path, SpecError, what="the trace")
    try:
        with path.open("rb") as plain:
            packed = plain.read(2) == _MAGIC
            plain.seek(0)
            raw = gzip.GzipFile(fileobj=plain).read(LARGEST + 1) if packed else plain.read(LARGEST + 1)
        text = raw.decode("utf-8-sig")
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise SpecError(f"cannot read the trace {path}: its compression is broken") from None
    except OSError as error:
        raise SpecError(f"cannot read the trace {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise SpecError(f"cannot read the trace {path}: it is not text") from None
    if len(raw) > LARGEST:
        raise SpecError(f"the trace {path} is larger than {LARGEST >> 20} MiB, uncompressed")
    return text


def read_csv(path: Path, columns: Mapping[str, str] | None = None, *, log: bool = False) -> tuple[Recorded, bool]:
    """Read a CSV file of updates.

    The first row names the columns. If it has numbers instead, there are two: time, and the number of a client.

    Parameters
    ----------
    columns
        Key of :data:`COLUMNS` → what the file calls it, where that is another name.
    log
        Whether it is the log of some system: rows may then stand in any order, and numbers from 10^8 on are time
        stamps. Else it is a trace, whose times are as they stand and do not decrease. Times in ISO 8601 count from
        the first event in both.

    Returns
    -------
    Recorded
        The updates.
    bool
        Whether clients are numbers, and not names.

    Raises
    ------
    SpecError
        Naming the file and the line.
    """
    reader = csv.reader(text_of(path).splitlines(), strict=True)  # a quote that is not closed would swallow rows
    lines = ((reader.line_num, row) for row in reader if row)
    read: list[dict[str, Any]] = []
    try:
        first = next(lines, None)
        if first is None:
            raise SpecError(f"the trace {path} holds no arrivals")
        numbered = not columns and _stamp(first[1][0]) is not None
        place = {"time": 0, "client": 1} if numbered else _header(path, first[1], columns or {})
        rows = _Rows(path, place, 2 if numbered else len(first[1]), numbered)
        for line, row in chain([first] if numbered else [], lines):
            if len(read) == MOST_UPDATES:
                raise SpecError(f"the trace {path} has more than {MOST_UPDATES} updates; cut it")
            read.append(rows.read(line, row))
    except csv.Error as error:
        raise SpecError(f"trace {path}, line {reader.line_num}: {error}") from None
    found = recorded(str(path), read)
    clock = bool(rows.iso) or (log and float(np.nanmax(found.time, initial=0.0)) >= _CLOCK)
    if not log and (wrong := np.flatnonzero(np.diff(found.time[~found.lost]) < 0.0)).size:
        where = found.line[~found.lost][wrong[0] + 1]
        raise SpecError(f"trace {path}, line {where}: times must be finite, ≥ 0 and must not decrease")
    return found.in_order(clock=clock), numbered


def _header(path: Path, row: Sequence[str], columns: Mapping[str, str]) -> dict[str, int]:
    """Return where the columns stand."""
    names = [word.strip() for word in row]
    if unknown := [key for key in columns if key not in COLUMNS]:
        raise SpecError(f"columns name {unknown[0]}: a trace has no such column; {nearest(unknown[0], COLUMNS)}")
    if twice := [name for place, name in enumerate(names) if name in names[:place]]:
        raise SpecError(f"trace {path}, line 1: two columns are called {twice[0]!r}")
    called = {key: columns.get(key, key) for key in COLUMNS}
    if missing := [one for key, one in called.items() if (key in ("time", "client", *columns)) and one not in names]:
        more = "" if columns else f"; boundlab trace --map {missing[0]}=NAME reads another name"
        if len(names) == 1 and (other := re.search(r"[;|\t]", row[0])):
            more = f": columns are separated by commas, not by {other[0]!r}"
        elif "duration" in names:
            more = "; boundlab docs data#durations-alone fits durations without arrivals"
        elif numbers := [name for name in names if _stamp(name) is not None]:
            raise SpecError(
                f"trace {path}, line 1: {numbers[0]} is no name of a column: the first row names the columns"
            )
        raise SpecError(f"trace {path}, line 1: there is no column {missing[0]!r}; {nearest(missing[0], names)}{more}")
    return {key: names.index(one) for key, one in called.items() if one in names}


def _stamp(text: str) -> tuple[float, bool] | None:
    """Return seconds, or the number that was written, and whether it is a date of ISO 8601; None: neither."""
    try:
        return float(text), False
    except ValueError:
        pass
    try:
        date = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp(), True


@final
class _Rows:
    """Reader of one row after the other: all time stamps of a file are of one kind."""

    def __init__(self, path: Path, place: Mapping[str, int], width: int, numbered: bool) -> None:
        self._path, self._place, self._width, self._numbered = path, place, width, numbered
        self.iso: bool | None = None

    def read(self, line: int, row: Sequence[str]) -> dict[str, Any]:
        """Return what a row says.

        Raises
        ------
        SpecError
            If it says something else than an update.
        """
        where = f"trace {self._path}, line {line}"
        named = ",".join(sorted(self._place, key=self._place.__getitem__))
        if len(row) != self._width:
            more = "; a list of staleness is no trace, but the delays staleness:file=PATH" if len(row) == 1 else ""
            raise SpecError(f"{where}: expected {named} in {self._width} columns, got {','.join(row)[:60]!r}{more}")
        word = {key: row[place].strip() for key, place in self._place.items()}
        status = word.get("status", "").lower()
        if status not in (*_ARRIVED, *_LOST):
            raise SpecError(f"{where}: status must be one of {', '.join((*_ARRIVED[1:], *_LOST))}, got {status[:60]!r}")
        found: dict[str, Any] = {"line": line, "lost": status in _LOST, "client": word["client"]}
        for key in ("time", "dispatch"):
            if text := word.get(key, ""):
                found[key] = self._time(key, text, where)
        who = word["client"]
        if not 0 < len(who) <= LONGEST_NAME or (self._numbered and not _WHOLE.fullmatch(who.removeprefix("-"))):
            raise SpecError(f"{where}: expected {named}, got {','.join(row)[:60]!r}")
        if "time" not in found and not (found["lost"] and "dispatch" in found):
            raise SpecError(f"{where}: an update needs the time of its arrival, and a lost one that of its dispatch")
        if found.get("dispatch", -np.inf) > found.get("time", np.inf):
            raise SpecError(f"{where}: dispatch {word['dispatch']} is after arrival {word['time']}")
        for key in _LEAST:
            if text := word.get(key, ""):
                if not _WHOLE.fullmatch(text.removesuffix(".0")):
                    raise SpecError(f"{where}: {key} must be a whole number ≥ 0, got {text[:60]!r}")
                found[key] = int(text.removesuffix(".0"))
        return found

    def _time(self, key: str, text: str, where: str) -> float:
        found = _stamp(text)
        if found is None:
            raise SpecError(f"{where}: {key} must be a number or a date of ISO 8601, got {text[:60]!r}")
        value, iso = found
        if not np.isfinite(value) or (value < 0.0 and not iso):
            raise SpecError(f"{where}: times must be finite, ≥ 0 and must not decrease, got {text[:60]}")
        if self.iso not in (None, iso):
            raise SpecError(f"{where}: either all times are numbers or all are dates of ISO 8601, got {text[:60]!r}")
        self.iso = iso
        return value


# When an update arrives that a scheduler hands out: the closed loop of delays and algorithm.

_BLOCK = 64


class Clock(ABC):
    """Arrival times of one trial; each call is the client's next update."""

    @abstractmethod
    def arrival(self, client: int, start: float, steps: int = 1) -> float:
        """Return when the client's next update arrives.

        Parameters
        ----------
        start
            When the client begins it.
        steps
            Units of work, each of which takes the time that the delay model draws for this update.
        """

    def ends(self, waits: Iterable[Iterable[int]]) -> list[float]:
        """Return when each of some rounds ends, in the order of the rounds: the first begins at 0.

        Parameters
        ----------
        waits
            The clients of each round, which begin as the round before ends: it lasts as long as its slowest one.
        """
        found, now = list[float](), 0.0
        for clients in waits:
            now = max(self.arrival(client, now) for client in clients)
            found.append(now)
        return found


@final
@dataclass(slots=True)
class Durations(Clock):
    """Update number u of client i takes steps · duration(i, u).

    Parameters
    ----------
    draw
        draw(client, first update, count) returns that many durations.
    """

    draw: Callable[[int, int, int], Floats]
    _held: dict[int, Floats] = field(default_factory=dict)
    _count: dict[int, int] = field(default_factory=dict)

    def arrival(self, client: int, start: float, steps: int = 1) -> float:
        """Return start + steps · duration of the client's next update."""
        update = self._count.get(client, 0)
        self._count[client] = update + 1
        if update % _BLOCK == 0:
            self._held[client] = self.draw(client, update, _BLOCK)
        return start + steps * float(self._held[client][update % _BLOCK])


@final
@dataclass(slots=True)
class Ticks(Clock):
    """A client's updates can arrive at its own events only, which are given beforehand.

    Parameters
    ----------
    sample
        sample(count) returns times and actors of the first ``count`` events of all clients, or all there are.
    source
        Where they stand, for messages.
    """

    sample: Callable[[int], tuple[Floats, NDArray[np.int32]]]
    source: str = "the delay model"
    _time: Floats = field(default_factory=lambda: np.empty(0))
    _actor: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))
    _own: dict[int, Floats] = field(default_factory=dict)

    def arrival(self, client: int, start: float, steps: int = 1) -> float:
        """Return the first event of the client after ``start``.

        Raises
        ------
        SpecError
            If the events end before.
        """
        while True:
            if client not in self._own:
                self._own[client] = self._time[self._actor == client]
            own = self._own[client]
            place = int(np.searchsorted(own, start, side="right"))
            if place < len(own):
                return float(own[place])
            known = len(self._time)
            self._time, self._actor = self.sample(max(256, 2 * known))
            self._own.clear()
            if len(self._time) == known:
                raise SpecError(
                    f"{self.source} has no event of client {client} after time {start:g}, and the run waits for one: "
                    "fewer iterations would fit, or a longer record"
                )
