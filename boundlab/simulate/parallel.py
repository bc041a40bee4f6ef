"""Several processes that share what they only read."""

import multiprocessing
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, TypeVar

Result = TypeVar("Result")
_work: Callable[[int], Any] | None = None  # what the processes inherit


def cores() -> int:
    """Return how many cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not everywhere
        return os.cpu_count() or 1


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
    global _work
    with one_thread():
        if jobs <= 1 or count <= 1 or "fork" not in multiprocessing.get_all_start_methods():
            yield from map(work, range(count))
            return
        _work = work
        try:
            with multiprocessing.get_context("fork").Pool(min(jobs, count), _quiet) as pool:
                yield from pool.imap(_call, range(count), chunksize=max(1, min(8, count // (4 * jobs))))
        finally:
            _work = None


def _quiet() -> None:
    """Leave interrupts to the parent."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _call(item: int) -> Any:
    assert _work is not None  # noqa: S101  (set before the fork)
    return _work(item)


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep BLAS to one thread: other numbers of threads round otherwise."""
    with ExitStack() as stack:
        try:
            from threadpoolctl import threadpool_limits  # type: ignore[import-untyped, unused-ignore]
        except ImportError:
            pass
        else:
            stack.enter_context(threadpool_limits(limits=1, user_api="blas"))
        yield
