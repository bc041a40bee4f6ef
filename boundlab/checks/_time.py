"""The clock as the last resort: what is asked is bounded by counts, and SymPy may still have a corner that is not.

On a slow machine the environment variable BOUNDLAB_PATIENCE multiplies the limit.
"""

import gc
import math
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from boundlab.errors import SpecError, UndecidedError

# Seconds of processor time for a group of checks; the slowest built-in theorem takes two.
LAST_RESORT = 20.0
_AGAIN = 0.5


class _OutOfTimeError(BaseException):
    """Passes through every ``except Exception`` on its way out."""


def patience() -> float:
    """Return what all limits are multiplied with: BOUNDLAB_PATIENCE, 1 where it is not set.

    Raises
    ------
    SpecError
        If it is no positive number.
    """
    written = os.environ.get("BOUNDLAB_PATIENCE") or "1"
    try:
        value = float(written)
    except ValueError:
        value = math.nan
    if not 0.0 < value < math.inf:
        raise SpecError(f"BOUNDLAB_PATIENCE must be a positive number, such as 5, got {written!r}")
    return value


def limited() -> bool:
    """Return whether time can be limited here: in the main thread, where the system has interval timers."""
    return threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer")


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Stop what is done inside after some seconds of processor time, where that can be limited; do not nest.

    Processor time, so that a busy machine decides what an idle one does.

    Raises
    ------
    UndecidedError
        If the time is over.
    """
    if not limited():
        yield
        return
    if seconds <= 0:
        raise UndecidedError("no time is left")

    def stop(*_: Any) -> None:
        # Again after a while, should some code swallow it after all.
        signal.setitimer(signal.ITIMER_PROF, _AGAIN)
        raise _OutOfTimeError

    before = signal.signal(signal.SIGPROF, stop)
    # What is raised inside a collection of garbage goes nowhere: there is none meanwhile.
    collecting = gc.isenabled()
    gc.disable()
    signal.setitimer(signal.ITIMER_PROF, seconds * patience())
    try:
        try:
            yield
        finally:
            _disarm(before)
            if collecting:
                gc.enable()
    except _OutOfTimeError:
        raise UndecidedError(f"not decided in {seconds:.2g} s") from None


def _disarm(before: Any) -> None:
    """Stop the timer whatever happens: one that goes on would end the program later."""
    while True:
        try:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, before)
        except _OutOfTimeError:
            continue
        return
