"""An interrupt ends every command in the same way, whatever is being done at that moment."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any, final

from boundlab.verdict import ExitCode

WORDS = "interrupted"


@final
@dataclass(slots=True)
class Interrupts:
    """Interrupt requested by the user, if any.

    Parameters
    ----------
    watched
        Whether it is known here if there was one: a thread of somebody else's program cannot note signals. A job in the
        background of a shell ignores them, and so there is none.
    asked
        Whether there was one. Libraries turn KeyboardInterrupt into other exceptions, or swallow it.
    """

    watched: bool = False
    asked: bool = False


@contextmanager
def interrupts() -> Iterator[Interrupts]:
    """Note interrupts for a while: the first raises KeyboardInterrupt, the second ends the process at once.

    So does one in a callback, out of which no exception can come.
    """
    found = Interrupts()
    # A shell lets the jobs in its background ignore interrupts, and so do we.
    found.watched = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    if found.watched or threading.current_thread() is not threading.main_thread():
        yield found
        return

    def note(_number: int, _frame: FrameType | None) -> None:
        if found.asked:
            _leave()
        found.asked = True
        raise KeyboardInterrupt

    def unraisable(what: Any) -> None:
        if found.asked and isinstance(what.exc_value, KeyboardInterrupt):
            _leave()
        hook(what)

    handler, hook = signal.signal(signal.SIGINT, note), sys.unraisablehook
    found.watched, sys.unraisablehook = True, unraisable
    try:
        yield found
    finally:
        sys.unraisablehook = hook
        signal.signal(signal.SIGINT, handler if handler is not None else signal.SIG_DFL)


def _leave() -> None:
    try:
        os.write(2, f"boundlab: {WORDS}\n".encode())
    finally:
        os._exit(ExitCode.INTERRUPTED)
