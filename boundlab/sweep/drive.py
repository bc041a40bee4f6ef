"""Runs a sweep: cells go to an executor one by one, and rows come back to the one process that writes them.

A cell is answered by :func:`boundlab.sweep.worker.answer_apart` wherever the executor runs it: a thread here, or a
worker of a cluster. Each drives a process apart, since a limit ends the process and must not end the worker.
"""

import os
import secrets
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any, Protocol, final

from boundlab.errors import ExecutorError, MissingExtraError, SpecError, shortened
from boundlab.files import check_readable
from boundlab.options import nearest
from boundlab.registry import VARIABLE
from boundlab.sweep.cell import UNANSWERED, Row
from boundlab.sweep.folder import Folder, Lines
from boundlab.sweep.plan import SweepPlan
from boundlab.sweep.question import key
from boundlab.sweep.worker import answer_apart, stop
from boundlab.verdict import ExitCode

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
            word = row["verdict"] or row["status"]
            progress.done += 1
            progress.verdicts[word] += 1
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
            for future in sorted(done, key=_is_lost):  # what is finished is kept
                yield future.result()
    except Exception as error:  # of whatever carries the cells: a lost scheduler, a worker without boundlab
        cause = shortened(" ".join(f"{type(error).__name__}: {error}".split()), 300)
        raise ExecutorError(
            f"the executor failed ({cause}); what is finished is kept, ask again for the rest"
        ) from None
    finally:
        for future in begun:
            future.cancel()


def _is_lost(future: "Future[Row]") -> bool:
    return future.cancelled() or future.exception() is not None


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
    codes = {70 if status == "crashed" else 3 if status in UNANSWERED else code for status, code in endings}
    worst = (ExitCode.UNFORESEEN, ExitCode.REFUTED, ExitCode.UNDECIDED)
    return next((one for one in worst if one in codes), ExitCode.STANDS)


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
