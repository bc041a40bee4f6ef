"""A process apart that answers cells, and that a limit may end: ``python -m boundlab.sweep.worker``.

Whoever runs :func:`answer_apart`, a thread here or a worker of a cluster, drives one. It is begun by ``subprocess``:
workers of Dask are daemons, of which ``multiprocessing`` takes no children, and a script that asks for a sweep without
``if __name__ == "__main__"`` would run again in each.
"""

import os
import resource
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Mapping
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any, final

from boundlab.errors import shortened
from boundlab.simulate import killed_with_parent
from boundlab.sweep.plan import Cell, Row, answer, machine
from boundlab.verdict import ExitCode

_OTHER = "the files that it names are not those that were there when it was asked"
_DYING = 5.0  # seconds that a process that is dying has to say why
_IDLE = 60.0  # seconds after which a process that is asked nothing ends: whoever drives it may never come back
_ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
_BEGUN: "set[Warm]" = set()
_HERE = threading.local()


def answer_apart(cell: Cell, key: str, sweep: str, seconds: float, memory: int | None, variables: Any) -> Row:
    """Answer a cell in the process that this thread drives for a sweep.

    Parameters
    ----------
    key
        Under which it was asked: where it has another one here, files that it names differ, and it is refused.
    seconds, memory
        Limits of the cell.
    variables
        Of the environment: plug-ins.
    """
    warm = getattr(_HERE, "warm", None)
    if warm is None or warm.sweep != sweep:
        if warm is not None:
            warm.stop()
        warm = _HERE.warm = Warm(sweep, memory, variables)
    return warm.ask(cell, key, seconds) | {"common": machine()}


def stop(sweep: str) -> None:
    """End the processes that threads here drive for a sweep: who waits for a row of theirs gets none."""
    for one in [one for one in _BEGUN if one.sweep == sweep]:
        one.stop()


@final
class Warm:
    """A process that answers cells, begun when it is first asked.

    Parameters
    ----------
    sweep
        Whose cells: a mark of it.
    memory
        Bytes that it may take, None: no limit of its own.
    variables
        Of its environment, beside those of this one.
    """

    def __init__(self, sweep: str = "", memory: int | None = None, variables: Mapping[str, str] | None = None) -> None:
        self.sweep, self._memory, self._variables = sweep, memory, variables or {}
        self._stopped = False
        self._child: subprocess.Popen[bytes] | None = None
        _BEGUN.add(self)

    def ask(self, cell: Cell, key: str, seconds: float) -> Row:
        """Return the row of a cell; where its process ends, another one is asked once, and then that is the row.

        ``status`` is then ``over time``, ``over memory``, ``killed`` or ``crashed``.
        """
        found = self._asked(cell, key, seconds)
        if isinstance(found, int) and not self._stopped:
            found = self._asked(cell, key, seconds)
        if isinstance(found, dict):
            return found
        if found == -signal.SIGKILL:  # of a user, or of a system without memory
            return _failed(cell, key, "killed", "the process was killed")
        cause = f"by {signal.Signals(-found).name}" if found < 0 else f"with {found}"
        return _failed(cell, key, "crashed", f"the process ended {cause}")

    def stop(self) -> None:
        """End the process, from another thread too."""
        self._stopped, child = True, self._child
        _BEGUN.discard(self)
        if child is not None:
            child.kill()
            child.wait()

    def _asked(self, cell: Cell, key: str, seconds: float) -> Row | int:
        """Return the row of a cell, or the exit code of a process that ended without one."""
        if self._child is None:
            self._begin()
        try:
            self._pipe.send((cell, key))
            if self._pipe.poll(seconds):
                row: Row = self._pipe.recv()
                return row
            self._end(0.0)
            return _failed(cell, key, "over time", f"more than {seconds:g} s")
        except (EOFError, OSError):
            return self._end(_DYING)

    def _begin(self) -> None:
        self._pipe, other = Pipe()
        with other:
            # -P: a numpy.py in the folder is none
            words = [sys.executable, "-P", "-m", __name__, str(other.fileno()), str(self._memory or "")]
            self._child = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[other.fileno()],
                env={**os.environ, **self._variables, **_ONE_THREAD},
                start_new_session=True,
            )
        if self._stopped:
            self._child.kill()

    def _end(self, patience: float) -> int:
        """End the process, unless it ends by itself, and return its exit code."""
        child, self._child = self._child, None
        assert child is not None  # noqa: S101  (it was asked)
        with suppress(subprocess.TimeoutExpired):
            child.wait(patience)
        child.kill()
        self._pipe.close()
        return child.wait()


def _failed(cell: Cell, key: str, status: str, cause: str) -> Row:
    code = {"crashed": ExitCode.UNFORESEEN, "refused": ExitCode.USAGE}.get(status, ExitCode.UNDECIDED)
    return {"key": key, **cell.where(), "status": status, "verdict": "", "code": code, "reason": cause}


def _row(cell: Cell, key: str) -> Row:
    try:
        row = answer(cell)
        return row if row["key"] == key else _failed(cell, key, "refused", _OTHER)
    except MemoryError:
        return _failed(cell, key, "over memory", "more memory than a cell may take")
    except BaseException as error:  # SystemExit, too: what a plug-in raises ends no worker
        where = traceback.extract_tb(error.__traceback__)[-1]
        cause = f"{type(error).__name__}: {error} ({where.filename}:{where.lineno})"
        return _failed(cell, key, "crashed", shortened(" ".join(cause.split()), 500))


def main(handle: int, memory: int | None) -> None:
    """Answer cells until nobody asks any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    killed_with_parent()
    if memory is not None:
        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    with Connection(handle) as asked, suppress(EOFError):
        while asked.poll(_IDLE):
            asked.send(_row(*asked.recv()))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]) if sys.argv[2] else None)
