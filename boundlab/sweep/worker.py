"""A warm process that answers cells one after the other: ``python -m boundlab.sweep.worker``.

It reads a cell a line on standard input and writes its row on standard output, both JSON. Whoever drives it holds it to
its limits: :class:`Warm` ends a process that takes too long, and begins another one.
"""

import json
import os
import resource
import select
import signal
import subprocess
import sys
import traceback
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import Any, cast, final

from boundlab.errors import shortened
from boundlab.simulate.parallel import killed_with_parent
from boundlab.sweep.cell import Cell, Row
from boundlab.verdict import ExitCode

_GRACE = 0.2
_CHANGED = "a file that it names was changed while it was answered"
_DYING = 5.0
_IDLE = 60.0  # seconds after which a process that is asked nothing ends: whoever drives it may never come back


def as_json(cell: Cell) -> Row:
    """Return a cell as JSON has it."""
    return asdict(cell)


def as_cell(fields: Mapping[str, Any]) -> Cell:
    """Return the cell that :func:`as_json` wrote."""
    pairs = {name: tuple(map(tuple, fields[name])) for name in ("settings", "filled")}
    return Cell(**{**fields, **pairs, "iterations": tuple(fields["iterations"])})


class EndedError(Exception):
    """The sweep was ended while a cell was in flight: it has no row."""


@final
class Warm:
    """A process that answers cells, begun when it is first asked.

    Parameters
    ----------
    memory
        Bytes that it may take, None: no limit of its own.
    """

    def __init__(self, memory: int | None = None) -> None:
        self.memory = memory
        self._ended = False
        self._child: subprocess.Popen[str] | None = None

    def ask(self, cell: Cell, seconds: float) -> Row:
        """Return the row of a cell; a process that fails is a row, too, with the cause.

        ``status`` is then ``over time``, ``over memory``, ``killed`` or ``crashed``.
        """
        row = self._asked(cell, seconds)
        return row or self._asked(cell, seconds) or _crashed(cell, "the process ended without an answer")

    def _asked(self, cell: Cell, seconds: float) -> Row | None:
        """Return the row of a cell; None where the process ended by itself, as it does when it is idle."""
        if self._ended:
            raise EndedError
        child = self._begun()
        assert child.stdin is not None  # noqa: S101  (pipes were asked for)
        assert child.stdout is not None  # noqa: S101
        try:
            child.stdin.write(json.dumps(as_json(cell)) + "\n")
            child.stdin.flush()
            ready, _, _ = select.select([child.stdout], [], [], seconds)
            if not ready:
                self.end()
                return _failed(cell, "over time", f"more than {seconds:g} s")
            line = child.stdout.readline()
        except BrokenPipeError:
            line = ""
        if line.endswith("\n"):
            return cast(Row, json.loads(line))
        with suppress(subprocess.TimeoutExpired):  # a process that dies by itself says why
            child.wait(_DYING)
        code = self.end()
        if self._ended:
            raise EndedError
        if code == -signal.SIGKILL:  # of a user, or of a system without memory
            return _failed(cell, "killed", "the process was killed")
        if code == 0:
            return None
        cause = f"the process ended by {signal.Signals(-code).name}" if code < 0 else f"the process ended with {code}"
        return _crashed(cell, cause)

    def _begun(self) -> "subprocess.Popen[str]":
        if self._child is not None and self._child.poll() is not None:
            self.end()
        if self._child is None:
            one = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
            env = {**os.environ, **one}
            words = [
                sys.executable,
                "-P",  # a numpy.py in the folder is none
                "-m",
                "boundlab.sweep.worker",
                *([] if self.memory is None else [str(self.memory)]),
            ]
            self._child = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                encoding="utf-8",
                env=env,
                start_new_session=True,
            )
        return self._child

    def kill(self) -> None:
        """End the process at once, from another thread too; whoever waits for its row gets none."""
        self._ended, child = True, self._child
        if child is not None:
            child.kill()

    def end(self) -> int:
        """End the process and return its exit code."""
        child, self._child = self._child, None
        if child is None:
            return 0
        try:
            code = child.wait(_GRACE)
        except subprocess.TimeoutExpired:
            child.kill()
            code = child.wait()
        for pipe in filter(None, (child.stdin, child.stdout)):
            with suppress(BrokenPipeError):
                pipe.close()
        return code


def _failed(cell: Cell, status: str, cause: str) -> Row:
    from boundlab.sweep.question import key

    return {"key": key(cell), **cell.where(), "status": status, "verdict": "", "code": 3, "reason": cause}


def _crashed(cell: Cell, cause: str) -> Row:
    return _failed(cell, "crashed", cause) | {"code": int(ExitCode.UNFORESEEN)}


def refused(cell: Cell, cause: str) -> Row:
    """Return the row of a cell that was not answered for what it names."""
    return _failed(cell, "refused", cause) | {"code": int(ExitCode.USAGE)}


def main(memory: int | None = None) -> None:
    """Answer cells until standard input ends, or nothing is asked for a while."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    killed_with_parent()
    if memory is not None:
        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a plug-in prints is no row
    while select.select([sys.stdin], [], [], _IDLE)[0] and (line := sys.stdin.readline()):
        cell = as_cell(json.loads(line))
        out.write(json.dumps(_row(cell), default=str) + "\n")
        out.flush()


def _row(cell: Cell) -> Row:
    from boundlab.sweep.question import answer, key

    try:
        before = key(cell)
        row = answer(cell)
        return row if row["key"] == before else refused(cell, _CHANGED)
    except MemoryError:
        return _failed(cell, "over memory", "more memory than a cell may take")
    except BaseException as error:  # SystemExit, too: what a plug-in raises ends no worker
        where = traceback.extract_tb(error.__traceback__)[-1]
        cause = f"{type(error).__name__}: {error} ({where.filename}:{where.lineno})"
        return _crashed(cell, shortened(" ".join(cause.split()), 500))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else None)
