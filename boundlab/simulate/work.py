"""Work done with each trial, wherever it runs."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Generic, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from boundlab.metrics import Metric
from boundlab.tape import Tape

Floats = NDArray[np.float64]
Result = TypeVar("Result")


@final
@dataclass(frozen=True, slots=True)
class Work(Generic[Result]):
    """Work done with each trial.

    Parameters
    ----------
    metrics
        Evaluated at each record.
    tape
        Compiles a trial.
    end
        Makes a result of a tape and of what its records showed: intervals, shape (metrics, records, 2).
    """

    metrics: Sequence[Metric]
    tape: Callable[[int], Tape]
    end: Callable[[Tape, Floats], Result]


_LEAST = 2  # trials that say anything of a mean


@final
@dataclass(slots=True)
class Stopped:
    """Where an interrupt has stopped the trials.

    Parameters
    ----------
    after
        How many were finished; None where there was no interrupt.
    """

    after: int | None = None


_stopping: ContextVar[Stopped | None] = ContextVar("stopping", default=None)


@contextmanager
def stoppable() -> Iterator[Stopped]:
    """Let an interrupt end the trials and not the question: those that are finished, 0 to N − 1, are its sample.

    When the user interrupts depends on no value that a trial gave, so that they are a sample like any other. Only the
    first interrupt does that, and only once there are two trials.
    """
    found = Stopped()
    token = _stopping.set(found)
    try:
        yield found
    finally:
        _stopping.reset(token)


def collect(found: Iterable[Result], progress: Callable[[int], None] | None) -> list[Result]:
    """Return all results, telling after each how many there are; those before an interrupt within :func:`stoppable`."""
    out: list[Result] = []
    try:
        for result in found:
            out.append(result)
            if progress is not None:
                progress(len(out))
    except KeyboardInterrupt:
        stopped = _stopping.get()
        if stopped is None or stopped.after is not None or len(out) < _LEAST:
            raise
        stopped.after = len(out)
    return out
