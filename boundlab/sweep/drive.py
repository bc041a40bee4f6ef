"""Runs a sweep: chunks of cells go to an executor, and rows come back as they are found.

A chunk is answered by :func:`answer_chunk` wherever the executor runs it: a thread here, a process, a worker of a
cluster. Each drives a warm process of its own, since a limit ends the process and must not end the worker, and appends
rows to a file of its own where the folder of the sweep is there; elsewhere they come back with the chunk.
"""

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib import import_module
from itertools import groupby, islice
from pathlib import Path
from typing import Any, Protocol, final

from boundlab.errors import BoundlabError, ExecutorError, MissingExtraError, SpecError, shortened
from boundlab.files import check_readable
from boundlab.options import nearest
from boundlab.registry import VARIABLE
from boundlab.sweep.cell import Cell, Row
from boundlab.sweep.lines import Appender
from boundlab.sweep.plan import SweepPlan
from boundlab.sweep.question import key, machine, theorem_of
from boundlab.sweep.store import UNANSWERED, Store
from boundlab.sweep.worker import EndedError, Warm, as_cell, as_json, refused
from boundlab.verdict import ExitCode

AGAIN = ("", "failed", "stale")
_CHUNK = 8
_CONNECT = 10  # seconds
_OTHER = "the files that it names are not those that were there when it was asked"
_Keyed = tuple[Cell, bytes]
_AHEAD = 2  # chunks that are handed out, for each one that is worked on


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
    verdicts: dict[str, int]
    started: float

    def left(self) -> float:
        """Return about how many seconds it will take yet; infinity where nothing is known."""
        waiting = self.asked - self.cached - self.done
        spent = time.monotonic() - self.started
        return 0.0 if not waiting else spent / self.done * waiting if self.done else float("inf")


def answer_chunk(
    cells: Sequence[Row], seconds: float, memory: int | None, folder: str, sweep: str, variables: dict[str, str]
) -> list[Row]:
    """Answer some cells; rows that could not be appended to the folder have ``unwritten`` set, to what they share.

    Parameters
    ----------
    cells
        As :func:`boundlab.sweep.worker.as_json` writes them, each with the ``key`` that it was asked under.
    seconds, memory
        Limits of each cell.
    folder, sweep
        Where lines are written, if it is the folder of that sweep.
    variables
        Of the environment: plug-ins.
    """
    os.environ.update(variables)
    hand = _hand(memory, folder, sweep)
    found = []
    for one in cells:
        expected = one.pop("key")
        row = hand.warm.ask(as_cell(one), seconds)
        if row["key"] != expected:  # the files here are not those of the machine that asks, or no longer
            row = refused(as_cell(one), _OTHER) | {"key": expected}
        if hand.lines is None:
            found.append(row | {"unwritten": machine()})
        else:
            hand.lines.append(row, machine())
            found.append({name: row.get(name) for name in ("key", "status", "verdict")} | {"unwritten": None})
    return found


@final
@dataclass(slots=True)
class _Hand:
    """The warm process of a thread and its file of lines, where the folder of the sweep is there."""

    sweep: str
    warm: Warm
    lines: Appender | None

    def close(self) -> None:
        self.warm.end()
        if self.lines is not None:
            self.lines.close()


_HANDS: dict[int, _Hand] = {}  # by thread


def _hand(memory: int | None, folder: str, sweep: str) -> _Hand:
    thread = threading.get_ident()
    found = _HANDS.get(thread)
    if found is None or found.sweep != sweep:
        if found is not None:
            found.close()
        try:
            here = Store(Path(folder)).id == sweep
        except BoundlabError:
            here = False
        found = _Hand(sweep, Warm(memory), Appender(Path(folder)) if here else None)
        _HANDS[thread] = found
    return found


def _end(sweep: str) -> None:
    """End the warm processes of a sweep at once: who waits for a row of theirs gets none."""
    for hand in [one for one in _HANDS.values() if one.sweep == sweep]:
        hand.warm.kill()


def _close(sweep: str) -> None:
    """Give back what the threads of a sweep held."""
    for thread in [one for one, hand in _HANDS.items() if hand.sweep == sweep]:
        _HANDS.pop(thread).close()


def run(
    plan: SweepPlan,
    store: Store,
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
        Takes the chunks; None: as many threads as ``jobs``, each with a process. ``jobs`` says how many chunks it
        works on at a time.
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
    for name in plan.theorems:
        theorem_of(name)
    part, parts = shard
    with ExitStack() as stack:
        stack.enter_context(store.held(f"{part}-of-{parts}"))
        index = store.index()
        stack.callback(index.close)
        known = index.keys(again)
        keys = [found for _, found in _keyed(plan)]
        store.note_cells(b"".join(keys))
        answered = [found in known for found in keys if in_shard(found, part, parts)]
        waiting = (one for one in _keyed(plan) if in_shard(one[1], part, parts) and one[1] not in known)
        progress = Progress(len(answered), sum(answered), 0, {}, time.monotonic())
        tell(progress, None)
        own = Appender(store.folder)
        stack.callback(own.close)
        stack.callback(_close, store.id)
        if executor is None:
            pool = ThreadPoolExecutor(jobs)
            executor = pool
            stack.callback(pool.shutdown, cancel_futures=True)
        stack.callback(_end, store.id)
        chunks = _chunks(waiting, progress.asked - progress.cached, jobs)
        for row in _rows(plan, store, executor, chunks, jobs):
            common = row.pop("unwritten")
            if common is not None:
                own.append(row, common)
            word = row["verdict"] or row["status"]
            progress.done += 1
            progress.verdicts[word] = progress.verdicts.get(word, 0) + 1
            tell(progress, row)
    return progress


def _keyed(plan: SweepPlan) -> Iterator[_Keyed]:
    """Yield the cells with their keys: made twice, since a million of them take a gigabyte."""
    for cell in plan.cells():
        yield cell, bytes.fromhex(key(cell))


def in_shard(found: bytes, part: int, parts: int) -> bool:
    """Return whether a key is of the part-th of so many parts."""
    return int.from_bytes(found[:6]) % parts == part - 1


def _rows(
    plan: SweepPlan, store: Store, executor: Executor, chunks: Iterator[Sequence[_Keyed]], jobs: int
) -> Iterator[Row]:
    variables = {name: os.environ[name] for name in (VARIABLE, "BOUNDLAB_DATA") if name in os.environ}
    rest = (plan.run.seconds, plan.run.memory, str(store.folder.absolute()), store.id, variables)
    futures: set[Future[list[Row]]] = set()
    try:
        while True:
            for chunk in islice(chunks, _AHEAD * max(jobs, 1) - len(futures)):
                asked = [{**as_json(cell), "key": name.hex()} for cell, name in chunk]
                futures.add(executor.submit(answer_chunk, asked, *rest))
            if not futures:
                return
            done, futures = wait(futures, return_when=FIRST_COMPLETED)
            for future in done:
                yield from _result(future)
    finally:
        for future in futures:
            future.cancel()


def _result(future: "Future[list[Row]]") -> list[Row]:
    try:
        return future.result()
    except (BoundlabError, EndedError):
        raise
    except Exception as error:  # of whatever carries the chunks: a lost scheduler, a pool whose process was killed
        cause = shortened(" ".join(f"{type(error).__name__}: {error}".split()), 300)
        raise ExecutorError(
            f"the executor failed ({cause}); what is finished is kept, ask again for the rest"
        ) from None


def _chunks(cells: Iterator[_Keyed], number: int, jobs: int) -> Iterator[Sequence[_Keyed]]:
    """Yield parts of so many cells, of one problem each, so small that no worker ends long after the others."""
    size = max(1, min(_CHUNK, number // (4 * max(jobs, 1))))
    for _, some in groupby(cells, lambda one: one[0].problem):
        while chunk := list(islice(some, size)):
            yield chunk


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


def exit_code(rows: Sequence[tuple[Any, ...]]) -> ExitCode:
    """Return how a sweep ends: 70 if a cell crashed, else 1 if one is refuted, 3 if one is open, else 0.

    Parameters
    ----------
    rows
        (status, code, how many).
    """
    codes = {70 if status == "crashed" else 3 if status in UNANSWERED else int(code) for status, code, _ in rows}
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
