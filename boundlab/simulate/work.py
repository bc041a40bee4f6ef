"""Work done with each trial, wherever it runs."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, final

import numpy as np

from boundlab.algorithms import Algorithm
from boundlab.delays import DelayModel, ServerPolicy
from boundlab.errors import SpecError
from boundlab.execute.floats import clients_of, run, run_compiled
from boundlab.files import SHARE, bytes_text, free_bytes
from boundlab.metrics import Metric
from boundlab.objective import Problem
from boundlab.randomness import Floats, Ints, Streams
from boundlab.tape import RecordAt, Tape, recycle

# Trials that fit into the memory: in as few registers as they need, and as many at a time as there is room for.

_LARGE = 1 << 26  # bytes of a trial's registers from which it is worth finding out which are read again
_WIDE = 1 << 20  # bytes of one register from which trials are counted before they run
_SCRATCH = 4  # vectors that a step needs beside the registers


def fitting(tape: Tape, problem: Problem) -> Tape:
    """Return the tape, with as few registers as possible where they are large; it shows the same to the last bit."""
    return recycle(tape) if tape.registers * problem.x0.nbytes > _LARGE else tape


def bytes_of(tape: Tape, problem: Problem) -> int:
    """Return what a trial takes."""
    return (tape.registers + _SCRATCH) * problem.x0.nbytes


def at_a_time(tape: Tape, problem: Problem, most: int, free: int | None, where: str) -> int:
    """Return how many trials fit at a time, ``most`` at most.

    Parameters
    ----------
    free, where
        Bytes that are free, None where that is not known, and of which device.

    Raises
    ------
    SpecError
        If not one fits.
    """
    each = bytes_of(tape, problem)
    count = most if free is None else min(most, int(SHARE * free) // each)
    if count < 1:
        raise SpecError(
            f"one trial takes {bytes_text(each)} for {tape.registers} registers of dimension {problem.d}, and "
            f"{bytes_text(free or 0)} are free on {where}; take fewer clients or dimensions"
        )
    return count


def room(tape: Callable[[], Tape], problem: Problem, jobs: int) -> int:
    """Return how many of the processes have room for their trials, given what compiles one.

    Raises
    ------
    SpecError
        If a single one has none.
    """
    if problem.x0.nbytes < _WIDE:
        return jobs
    return at_a_time(tape(), problem, jobs, free_bytes(), "this machine")


# One trial: sample events, compile, execute.

_POINTS = 12


def compile_trial(
    algorithm: Algorithm[Any],
    parameters: Any,
    clients: int,
    delays: DelayModel,
    policy: ServerPolicy,
    iterations: int,
    records: RecordAt,
    streams: Streams,
) -> Tape:
    """Sample as many events as ``iterations`` take, and compile them.

    Raises
    ------
    SpecError
        If the delays or the parameters cannot make so many iterations, or the delays are of other clients.
    """
    delays.require(clients)
    if not delays.says_arrivals and algorithm.arrivals and algorithm.updates_a_version(parameters) is None:
        raise SpecError(
            f"delays {delays.id} say how old models are, and {algorithm.id} goes by who arrives when; async_sgd, "
            "fedasync, fedbuff or fedstaleweight would fit"
        )
    if delays.rounds is not None and not algorithm.takes_rounds:
        raise SpecError(f"delays {delays.id} say who is in each round: sfedavg takes that, {algorithm.id} does not")
    made = algorithm.in_one_pass(parameters, clients, delays, iterations, records, streams)
    if made is not None:
        return made
    count = max(algorithm.events_for(parameters, clients, iterations), 1)
    while True:
        events = algorithm.sample(parameters, delays, policy, streams, clients, count)
        tape = algorithm.schedule(parameters, events, clients, records, iterations)
        if tape.iterations >= iterations:
            return tape
        # Versions that are not made at a fixed number of events: ask for as many more as are missing, and some.
        count = max(count + 8, min(16 * count, int(1.1 * count * iterations / max(tape.iterations, 1))))


def run_once(tape: Tape, problem: Problem, streams: Streams, observe: Any, *, compiled: bool = False) -> None:
    """Execute a tape with the problem's stochastic gradients.

    Parameters
    ----------
    observe
        Called as observe(row, x) with the records as they come, or as observe(rows, X, off) with many of them.
    compiled
        Whether machine code runs it, where the problem has steps to compile.
    """
    oracle, clients = problem.oracle(streams), clients_of(problem, tape) if compiled else None
    # Metrics of a run that overflows are infinite; that is a result.
    with np.errstate(over="ignore", invalid="ignore"):
        if clients is None:
            run(tape, problem.x0, oracle, observe)
        else:
            run_compiled(tape, problem.x0, clients, oracle, observe)


def spaced_iterations(total: int, first: int) -> Ints:
    """Return about a dozen iterations from ``first`` to ``total``, evenly spaced in their logarithm."""
    spaced = np.rint(np.geomspace(1, total, _POINTS)).astype(np.int64)
    return np.unique(np.concatenate([[first], spaced[spaced >= first]]))


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
