"""Logs of other systems as traces: tables, and APPFL's simulator of virtual time in its two layouts.

The page is docs/data.md#traces-the-delays-of-your-system.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NoReturn, final

import numpy as np

from boundlab.delays.recorded import LONGEST_NAME, Recorded, read_csv, recorded, text_of
from boundlab.errors import SpecError
from boundlab.options import LOG_FORMS, nearest
from boundlab.tape import Op, Tape, arrived, staleness

_COLOUR: Final = re.compile(r"\x1b\[[0-9;]*m")
# Before the columns: a clock and a level in files, the logger's name on a console.
_HEAD: Final = re.compile(r"^(?:appfl: .*?)?\[\d\d:\d\d:\d\d vsim\](?: +[A-Z]+ |: )")
_OLD: Final = re.compile(r"\[vt= *(\S+)\] +(START|DONE) +(\S+) +(.*)")
_PAIR: Final = re.compile(r"(epoch|staleness)= *(\S+)")


@final
class _VirtualTimeLog:
    """Updates between their start and their end."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows: list[dict[str, Any]] = []
        self.open: dict[str, dict[str, Any]] = {}
        self.version: int | None = None

    def start(self, line: int, time: str, client: str) -> None:
        """Hand the model to a client; what it was working on is lost."""
        row = {"line": line, "client": client, "dispatch": self._number(line, time)}
        if client in self.open:
            self.rows.append({**self.open[client], "lost": True, "time": row["dispatch"]})
        self.open[client] = row

    def done(self, line: int, time: str, client: str, epoch: str, staleness: str) -> None:
        """Take the client's update: it met the version before ``epoch``, or the same where that update made none."""
        if not (epoch.isdecimal() and staleness.isdecimal() and max(len(epoch), len(staleness)) < 16):
            self.refuse(line, f"epoch and staleness must be whole numbers, got {epoch[:30]!r} and {staleness[:30]!r}")
        after, stale = int(epoch), int(staleness)
        before = 0 if self.version is None else self.version
        if after < before or stale > after:
            what = f"epoch {after} after {before}" if after < before else f"staleness {stale} of {after} versions"
            self.refuse(line, f"versions of the server count up from 0, got {what}")
        # Versions that no line shows, as where a log begins in the middle, leave open which one the update met.
        met = before if stale <= before and after <= before + 1 else None
        self.version = after
        row = self.open.pop(client, {"client": client})
        found = {**row, "line": line, "time": self._number(line, time), "staleness": stale}
        if found["time"] < row.get("dispatch", 0.0):
            self.refuse(line, f"client {client[:30]} is done at {time[:30]}, before its start at {row['dispatch']:g}")
        self.rows.append(found if met is None else {**found, "version": met - stale})

    def _number(self, line: int, text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = -1.0
        if not 0.0 <= value < float("inf"):
            self.refuse(line, f"the virtual time must be a number ≥ 0, got {text[:30]!r}")
        return value

    def refuse(self, line: int, why: str) -> NoReturn:
        """Raise the error of a line."""
        raise SpecError(f"trace {self.path}, line {line}: {why}")


def read_appfl(path: Path) -> Recorded:
    """Read a log: START is a dispatch, DONE an arrival, and all other lines are passed over.

    Raises
    ------
    SpecError
        Naming the file and the line; or if no update is done in it.
    """
    work = _VirtualTimeLog(path)
    for number, line in enumerate(text_of(path).splitlines(), 1):
        for kind, *words in _events(_COLOUR.sub("", line)):
            if len(words[1]) > LONGEST_NAME:
                work.refuse(number, f"a client has a name of {len(words[1])} letters; at most {LONGEST_NAME} are taken")
            if kind == "START":
                work.start(number, *words[:2])
            elif len(words) < 4:
                work.refuse(number, "DONE needs a time, a client, an epoch and a staleness")
            else:
                work.done(number, *words[:4])
    if not any("time" in row and not row.get("lost") for row in work.rows):
        raise SpecError(f"the trace {path} has no line of the simulator of APPFL with DONE; a table is read as csv")
    left = len(work.open)
    notes = [f"{left} updates were in work at the end and are left out"] if left else []
    return recorded(str(path), work.rows, notes).in_order(clock=False)


def _events(line: str) -> Iterator[list[str]]:
    """Yield START or DONE, time, client, and of DONE also epoch and staleness; nothing for another line."""
    if old := _OLD.search(line):
        time, kind, client, rest = old.groups()
        yield [kind, time, client, *(dict(_PAIR.findall(rest)).get(key, "") for key in ("epoch", "staleness"))]
    elif head := _HEAD.match(line):
        words = line[head.end() :].split()
        if len(words) >= 3 and words[1] in ("START", "DONE"):
            yield [words[1], words[0], *words[2:]]


def read_log(path: Path, form: str = "csv", columns: Mapping[str, str] | None = None) -> Recorded:
    """Read the log of some system.

    Parameters
    ----------
    form
        ``csv``, or ``appfl``: the simulator of virtual time of APPFL.
    columns
        Of ``csv``: key of :data:`boundlab.delays.recorded.COLUMNS` → what the file calls it.

    Raises
    ------
    SpecError
        Naming the file and the line.
    """
    if form not in LOG_FORMS:
        raise SpecError(f"a log is read as one of {', '.join(LOG_FORMS)}, got {form!r}; {nearest(form, LOG_FORMS)}")
    if form == "appfl":
        if columns:
            raise SpecError("names of columns are those of a table, which is read as csv")
        return read_appfl(path)
    return read_csv(path, columns, log=True)[0]


# A run as a trace: what its tape says of arrivals, and of what they had read.


def of_tape(tape: Tape, source: str) -> Recorded:
    """Return the updates that arrive in a run, with what the tape knows of each.

    Raises
    ------
    SpecError
        If nothing arrives: ``source`` then says which run it is.
    """
    descend, rows = tape.descend, arrived(tape)
    if not rows.size:
        raise SpecError(f"{source} has no arrivals of clients that a trace could record")
    begun = np.empty(len(descend.arrival), dtype=np.int64)
    steps = tape.op == Op.DESCEND.value
    begun[tape.row[steps]] = tape.event[steps]
    time = np.append(tape.events.time, 0.0)  # what is begun before all events has the event −1
    columns = {
        "client": [str(one) for one in descend.client[rows].tolist()],
        "time": time[descend.arrival[rows]].tolist(),
        "dispatch": time[begun[rows]].tolist(),
        "version": descend.version[rows].tolist(),
        "steps": descend.steps[rows].tolist(),
        "staleness": staleness(tape).tolist(),
    }
    return recorded(source, [dict(zip(columns, one, strict=True)) for one in zip(*columns.values(), strict=True)])
