"""Trials that fit into the memory: in as few registers as they need, and as many at a time as there is room for."""

from collections.abc import Callable

from boundlab.errors import SpecError
from boundlab.files import SHARE, bytes_text, free_bytes
from boundlab.objective import Problem
from boundlab.tape import Tape, recycle

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
