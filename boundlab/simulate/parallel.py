"""Several processes that share what they only read."""

import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from itertools import islice
from types import TracebackType
from typing import Any, Generic, TypeVar, final

from boundlab.arithmetic.threads import one_thread
from boundlab.options import count

Item = TypeVar("Item")
Result = TypeVar("Result")
_work: Callable[[Any], Any] | None = None  # what the processes inherit
_PR_SET_PDEATHSIG = 1  # linux/prctl.h
_AHEAD = 3  # pieces of work for each process that are begun before they are asked for


def cores() -> int:
    """Return how many cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not everywhere
        return os.cpu_count() or 1


def processes(jobs: int | None) -> int:
    """Return how many processes were asked for: one a core where nothing was said.

    Raises
    ------
    SpecError
        If there would be none.
    """
    return cores() if jobs is None else count(jobs, "--jobs", 1)


def in_order(work: Callable[[int], Result], count: int, jobs: int) -> Iterator[Result]:
    """Yield work(0), work(1), …, the same to the last bit however many processes there are.

    Processes are forks: they inherit the data and send back results alone. Where there is no fork, there is one.

    Parameters
    ----------
    work
        A function of its argument alone.
    jobs
        How many processes.
    """
    with one_thread(), _processes(work, min(jobs, count)) as pool:
        if pool is None:
            yield from map(work, range(count))
        else:
            done = 0
            try:
                for result in pool.map(_call, range(count), chunksize=max(1, min(8, count // (4 * jobs)))):
                    done += 1
                    yield result
            except Exception:
                # Here it fails again, where the traceback says in which file.
                yield from map(work, range(done, count))


@final
class Ahead(Generic[Item, Result]):
    """Processes that do work without end, a little of it before it is asked for.

    Use it in a ``with`` statement. Results are the same however many processes there are; what was begun and is not
    asked for is lost.

    Parameters
    ----------
    work
        A function of its argument alone; arguments and results travel between the processes.
    jobs
        How many processes.
    """

    def __init__(self, work: Callable[[Item], Result], jobs: int) -> None:
        self._work, self._jobs = work, jobs
        self._stack = ExitStack()
        self._pool: Any = None

    def __enter__(self) -> "Ahead[Item, Result]":
        self._stack.enter_context(one_thread())
        self._pool = self._stack.enter_context(_processes(self._work, self._jobs))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, trace)  # an interrupt ends the processes, too

    def map(self, items: Iterable[Item]) -> Iterator[Result]:
        """Yield the results in the order of the items."""
        if self._pool is None:
            yield from map(self._work, items)
            return
        source, begun = iter(items), deque[Any]()
        while True:
            more = islice(source, _AHEAD * self._jobs - len(begun))
            begun.extend((item, self._pool.submit(_call, item)) for item in more)
            if not begun:
                return
            item, future = begun.popleft()
            try:
                result = future.result()
            except Exception:
                result = self._work(item)  # here it fails again, where the traceback says in which file
            yield result


@contextmanager
def _processes(work: Callable[[Any], Any], jobs: int) -> Iterator[Any]:
    """Make forks of this process that do some work; None where there is one, or no fork."""
    global _work
    if jobs <= 1 or "fork" not in multiprocessing.get_all_start_methods():
        yield None
        return
    _work = work
    held = os.pipe()
    # Not multiprocessing.Pool: it kills processes that may hold the lock of its queue, and then waits for ever.
    pool = ProcessPoolExecutor(jobs, multiprocessing.get_context("fork"), _follow, (os.getpid(), *held))
    try:
        yield pool
    except KeyboardInterrupt:
        for child in multiprocessing.active_children():
            child.kill()
        raise
    finally:
        pool.shutdown(cancel_futures=True)
        for end in held:
            os.close(end)
        _work = None


def _follow(parent: int, read: int, write: int) -> None:
    """Leave interrupts to the parent, and end with it, however it ends.

    A process that outlives a killed command holds what the command wrote to open: who reads it to its end waits on.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    os.close(write)  # the parent alone holds it: the end of the pipe is the end of the parent
    if not killed_with_parent():
        threading.Thread(target=_watch, args=(read,), daemon=True).start()
    if os.getppid() != parent:  # it has ended before it could be followed
        os._exit(1)


def killed_with_parent() -> bool:
    """Ask Linux to kill this process as soon as its parent has ended, whatever it is doing; return whether it will."""
    if sys.platform != "linux":
        return False
    import ctypes

    try:
        return bool(ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL) == 0)
    except (OSError, AttributeError):
        return False


def _watch(read: int) -> None:
    """Wait for the end of the parent."""
    os.read(read, 1)
    os._exit(1)


def _call(item: Any) -> Any:
    assert _work is not None  # noqa: S101  (set before the fork)
    return _work(item)
