"""Where trials run: in NumPy, on several cores, or many in lock step on tensors."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from boundlab.arithmetic.compiled import installed
from boundlab.errors import MissingExtraError, SpecError
from boundlab.metrics import Certified
from boundlab.objective import Array, Problem
from boundlab.options import BACKENDS as BACKENDS
from boundlab.options import nearest
from boundlab.randomness import Streams
from boundlab.simulate.fit import fitting, room
from boundlab.simulate.parallel import in_order, processes
from boundlab.simulate.trial import run_once
from boundlab.simulate.work import Result, Work, collect

_TRIALS = 32  # from here on many trials at once are worth the padding of a tile
_MANY = 1000  # dimensions from which a GPU is worth its transfers for many trials
_LARGE = 100_000  # and even for few of them
_UPDATES = 50_000  # iterations from which on Numba is worth its import


@final
@dataclass(frozen=True, slots=True)
class Backend:
    """Where trials run.

    Parameters
    ----------
    id
        ``numpy``, ``compiled`` or ``torch``.
    device
        ``cpu``, ``cuda`` or ``cuda:1``; of torch alone another one than ``cpu``.
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
        """Text after the seed: nothing for the reference executor."""
        picked = f"; {self.id} on {self.device}"
        return "" if self.id == "numpy" else f"{picked}: {self.why}" if self.why else picked

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready fields; how many processes there are changes nothing, and does not stand there."""
        return {"id": self.id, "device": self.device} | ({"why": self.why} if self.why else {})


NUMPY = Backend()


def pick(
    backend: str, device: str | None, jobs: int | None, problem: Problem, trials: int, iterations: int = 0
) -> Backend:
    """Return the backend that was asked for; ``auto`` goes by what there is to do, and by what there is to do it.

    Parameters
    ----------
    backend
        One of :data:`BACKENDS`.
    device
        ``cpu``, ``cuda`` or ``cuda:1``; None: the GPU for torch where there is one.
    jobs
        Processes on a CPU; None: one a core.
    iterations
        Of each trial.

    Raises
    ------
    SpecError
        If there is no such backend or device.
    MissingExtraError
        If torch or Numba is asked for and not installed.
    """
    if backend not in BACKENDS:
        raise SpecError(f"unknown backend {backend!r}; {nearest(backend, BACKENDS)}")
    count = max(1, min(processes(jobs), trials))
    if backend in ("numpy", "compiled") and device not in (None, "cpu"):
        raise SpecError(f"--device {device} needs --backend torch; {backend} runs on the CPU")
    if backend == "numpy":
        return Backend("numpy", "cpu", count)
    if backend == "compiled":
        if not installed():
            raise MissingExtraError("the compiled backend needs Numba: pip install 'boundlab[fast]', or leave it out")
        reason = "" if problem.compiled() is not None else f"{problem.id} has no steps to compile"
        return Backend("numpy" if reason else "compiled", "cpu", count, reason)
    if backend == "torch" or device not in (None, "cpu") or (device is None and _for_a_gpu(problem, trials)):
        from boundlab.arithmetic.tensors import find_device, load_torch

        torch = load_torch()
        place = device or ("cuda" if torch.cuda.is_available() else "cpu")
        find_device(place)
        if backend == "torch" or place != "cpu":
            reason = "" if backend == "torch" else f"{trials} trials in {problem.d} dimensions"
            return Backend("torch", place, 1, reason)
    if trials * iterations < _UPDATES:
        return Backend("numpy", "cpu", count, f"fewer than {_UPDATES} iterations in all")
    if not installed():
        return Backend("numpy", "cpu", count, "Numba is not installed")
    from boundlab.execute.compiled import affordable

    if not affordable(problem):
        return Backend("numpy", "cpu", count, f"the steps of {problem.id} are long, or nobody compiles them")
    return Backend("compiled", "cpu", count, f"{trials * iterations} iterations of short steps")


def _for_a_gpu(problem: Problem, trials: int) -> bool:
    """Return whether there is a GPU that trials gain by; nothing is loaded to see that there is none."""
    large = problem.d >= (_MANY if trials >= _TRIALS else _LARGE)
    return large and Path("/dev/nvidiactl").exists() and find_spec("torch") is not None


def run_work(
    backend: Backend,
    work: Work[Result],
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
        fast = backend.id == "compiled"
        shown: dict[bytes, NDArray[np.float64]] = {}
        found = in_order(lambda trial: _one(work, problem, seed, trial, shown, compiled=fast), trials, jobs)
    return collect(found, progress)


def _one(
    work: Work[Result],
    problem: Problem,
    seed: int,
    trial: int,
    shown: dict[bytes, NDArray[np.float64]],
    *,
    compiled: bool,
) -> Result:
    """Run one trial in NumPy, or compiled; without noise not a tape again whose records are ``shown`` already."""
    function, tape = Certified(problem), fitting(work.tape(trial), problem)
    key = tape.digest() if problem.noiseless else b""
    if key in shown:
        return work.end(tape, shown[key])
    shows = np.empty((len(work.metrics), len(tape.record.src), 2))

    def observe(rows: Any, x: Array, _: Any = None) -> None:
        for place, metric in enumerate(work.metrics):
            shows[place, rows] = np.array(metric.at(function, x)).T

    run_once(tape, problem, Streams(seed, trial), observe, compiled=compiled)
    if problem.noiseless and not shown:  # one is enough: where two trials are alike, mostly all are
        shown[key] = shows
    return work.end(tape, shows)
