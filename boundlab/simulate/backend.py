"""Where trials run: in NumPy, on several cores, or many in lock step on tensors."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, final

from boundlab.errors import MissingExtraError, SpecError
from boundlab.metrics import Certified
from boundlab.objective import Array, Problem
from boundlab.options import BACKENDS as BACKENDS
from boundlab.options import nearest
from boundlab.randomness import Streams
from boundlab.simulate.fit import fitting, room
from boundlab.simulate.parallel import in_order, processes
from boundlab.simulate.trial import run_once
from boundlab.simulate.work import Result, Seen, Work, collect

_TRIALS = 32  # from here on many trials at once are worth the padding of a tile
_SMALL = 200  # dimensions up to which a CPU gains by many trials at once; beyond them it moves memory, as NumPy does
_LARGE = 100_000  # dimensions from which a GPU is worth its transfers even for few trials


@final
@dataclass(frozen=True, slots=True)
class Backend:
    """Where trials run.

    Parameters
    ----------
    id
        ``numpy`` or ``torch``.
    device
        ``cpu``, ``cuda`` or ``cuda:1``; of NumPy always ``cpu``.
    jobs
        Processes; torch has one, with threads of its own.
    why
        Why it was picked, or empty where the user said so.
    """

    id: str = "numpy"
    device: str = "cpu"
    jobs: int = 1
    why: str = ""

    @property
    def words(self) -> str:
        """Text after the seed: nothing for the reference executor, unless it was picked."""
        picked = f"{self.id} on {self.device}"
        return f"; {picked}: {self.why}" if self.why else "" if self.id == "numpy" else f"; {picked}"

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready fields; how many processes there are changes nothing, and does not stand there."""
        return {"id": self.id, "device": self.device} | ({"why": self.why} if self.why else {})


NUMPY = Backend()


def pick(backend: str, device: str | None, jobs: int | None, problem: Problem, trials: int) -> Backend:
    """Return the backend that was asked for; ``auto`` goes by the dimension, the trials, and what there is.

    Parameters
    ----------
    backend
        One of :data:`BACKENDS`.
    device
        ``cpu``, ``cuda`` or ``cuda:1``; None: the GPU for torch where there is one.
    jobs
        Processes for NumPy; None: one a core.

    Raises
    ------
    SpecError
        If there is no such backend or device.
    MissingExtraError
        If torch is asked for and not installed.
    """
    if backend not in BACKENDS:
        raise SpecError(f"unknown backend {backend!r}; {nearest(backend, BACKENDS)}")
    count = max(1, min(processes(jobs), trials))
    if backend == "numpy":
        if device not in (None, "cpu"):
            raise SpecError(f"--device {device} needs --backend torch; NumPy runs on the CPU")
        return Backend("numpy", "cpu", count)
    from boundlab.arithmetic.tensors import find_device, load_torch

    try:
        torch = load_torch()
    except MissingExtraError:
        if backend == "torch":
            raise
        return Backend("numpy", "cpu", count, "torch is not installed")
    if backend == "torch":
        place = device or ("cuda" if torch.cuda.is_available() else "cpu")
        find_device(place)
        return Backend("torch", place)
    if device is not None and device != "cpu":
        find_device(device)
        return Backend("torch", device, 1, f"--device {device} is a GPU")
    many = trials >= _TRIALS
    if device is None and torch.cuda.is_available() and (many or problem.d >= _LARGE):
        return Backend("torch", "cuda", 1, f"there is a GPU, and {trials} trials in {problem.d} dimensions")
    if not many:
        why = f"{trials} trials are fewer than {_TRIALS}"
    elif problem.d > _SMALL:
        why = f"a CPU gains nothing by many trials at once in more than {_SMALL} dimensions, here {problem.d}"
    elif problem.tensors(torch.device("cpu"), torch.float64) is None:
        why = f"{problem.id} has no batched gradients"
    else:
        return Backend("torch", "cpu", 1, f"{trials} trials at once in {problem.d} dimensions")
    return Backend("numpy", "cpu", count, why)


def run_work(
    backend: Backend,
    work: Work[Seen, Result],
    problem: Problem,
    seed: int,
    trials: int,
    progress: Callable[[int], None] | None = None,
) -> list[Result]:
    """Run trials 0, 1, … and return their results in this order.

    Parameters
    ----------
    progress
        Called after each trial with the number done; torch finishes many at a time.

    Raises
    ------
    SpecError
        If the registers of a single trial do not fit into the memory.
    """
    if backend.id == "torch":
        from boundlab.simulate.tensors import results

        found: Iterator[Result] = results(work, problem, seed, range(trials), backend.device)
    else:
        jobs = room(lambda: fitting(work.tape(0), problem), problem, backend.jobs)
        found = in_order(lambda trial: _one(work, problem, seed, trial), trials, jobs)
    return collect(found, progress)


def _one(work: Work[Seen, Result], problem: Problem, seed: int, trial: int) -> Result:
    """Run one trial in NumPy."""
    kept, function = work.begin(), Certified(problem)

    def observe(row: int, x: Array) -> None:
        work.see(kept, row, [metric.at(function, x) for metric in work.metrics])

    tape = fitting(work.tape(trial), problem)
    run_once(tape, problem, Streams(seed, trial), observe)
    return work.end(tape, kept)
