"""Simulation without a theorem: what ``boundlab run`` shows."""

import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, TypeVar, final

import numpy as np

from boundlab.__about__ import __version__
from boundlab.algorithms import Algorithm
from boundlab.arguments import checked
from boundlab.arithmetic.compiled import installed, one_thread
from boundlab.case import provenance
from boundlab.delays import DelayModel, ServerPolicy, frequencies
from boundlab.errors import CertificateError, MissingExtraError, SpecError
from boundlab.execute.floats import affordable
from boundlab.files import json_value, schema
from boundlab.metrics import METRICS, Certified, Metric
from boundlab.objective import Array, Problem
from boundlab.objective.weighted import minimised
from boundlab.options import BACKENDS as BACKENDS, Options, count, nearest
from boundlab.randomness import Floats, Ints, Streams
from boundlab.registry import lookup
from boundlab.result import Tabular, drawn
from boundlab.simulate.work import Result, Work, collect, compile_trial, fitting, room, run_once, spaced_iterations
from boundlab.tape import NOTHING, RecordAt, Statistics, Tape, statistics

# Several processes that share what they only read.

Item = TypeVar("Item")
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
    return cores() if jobs is None else count(jobs, "jobs", 1)


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

    def some(piece: range) -> list[Result]:  # short work travels together
        return list(map(work, piece))

    size = max(1, min(8, count // (4 * jobs))) if jobs > 1 else 1
    with Ahead(some, min(jobs, count)) as workers:
        for found in workers.map(range(first, min(first + size, count)) for first in range(0, count, size)):
            yield from found


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


# Where trials run: in NumPy, on several cores, or many in lock step on tensors.

_TRIALS = 32  # from here on many trials at once are worth the padding of a tile
_MANY = 1000  # dimensions from which a GPU is worth its transfers for many trials
_WIDE_PROBLEM = 100_000  # and even for few of them
_UPDATES = 50_000  # iterations from which on Numba is worth its import
_ALONE = 10_000  # iterations of short steps that one process ends in the second that others need to begin


@final
@dataclass(frozen=True, slots=True)
class Backend:
    """Where trials run.

    Parameters
    ----------
    id
        One of :data:`BACKENDS` but ``auto``.
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
        Processes on a CPU; None: one a core, or one in all for a second of work.
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
    short = jobs is None and 0 < trials * iterations <= _ALONE and affordable(problem)
    count = 1 if short else max(1, min(processes(jobs), trials))
    if backend in ("numpy", "compiled") and device not in (None, "cpu"):
        raise SpecError(f"device {device} needs backend torch; {backend} runs on the CPU")
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
    if not affordable(problem):
        return Backend("numpy", "cpu", count, f"the steps of {problem.id} are long, or nobody compiles them")
    return Backend("compiled", "cpu", count, f"{trials * iterations} iterations of short steps")


def _for_a_gpu(problem: Problem, trials: int) -> bool:
    """Return whether there is a GPU that trials gain by; nothing is loaded to see that there is none."""
    large = problem.d >= (_MANY if trials >= _TRIALS else _WIDE_PROBLEM)
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
        shown: dict[bytes, Floats] = {}
        found = in_order(lambda trial: _one(work, problem, seed, trial, shown, compiled=fast), trials, jobs)
    return collect(found, progress)


def _one(
    work: Work[Result],
    problem: Problem,
    seed: int,
    trial: int,
    shown: dict[bytes, Floats],
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


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Simulation(Tabular):
    """Sampled trajectories of one algorithm.

    Parameters
    ----------
    ks
        Recorded iterations, shape (points,).
    settings, parameters
        What was set, and what the algorithm has read, defaults included.
    metrics
        Metric id → values of all trials, shape (trials, points): midpoints of the certified intervals.
    statistics, figures
        One a trial: what every tape says, and what the algorithm itself makes of it.
    backend
        Where the trials ran.
    """

    algorithm: Algorithm[Any]
    problem: Problem
    delays: DelayModel
    policy: ServerPolicy
    settings: Mapping[str, Any]
    parameters: Any
    iterations: int
    seed: int
    ks: Ints
    metrics: Mapping[str, Floats]
    statistics: list[Statistics]
    figures: list[dict[str, Any]]
    backend: Backend = NUMPY

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready fields."""
        return {
            "schema": schema("run"),
            "boundlab": __version__,
            "kind": "sampled",
            "algorithm": self.algorithm.id,
            "problem": self.problem.spec(),
            "delays": self.delays.id,
            "server": self.policy.describe(),
            "provenance": provenance(None, self.problem, self.delays, self.policy, self.parameters),
            "parameters": dict(self.settings),
            "iterations": self.iterations,
            "trials": len(self.statistics),
            "seed": self.seed,
            "backend": self.backend.as_dict(),
            "k": self.ks.tolist(),
            "metrics": {name: json_value(values) for name, values in self.metrics.items()},
            "expected_frequencies": self._expected(),
            "statistics": [figures.as_dict() for figures in self.statistics],
            "figures": self.figures,
        }

    def tape(self, trial: int) -> Tape:
        """Return the tape of one of the trials, without records."""
        of, clients, streams = self.parameters, self.problem.n, Streams(self.seed, trial)
        return compile_trial(self.algorithm, of, clients, self.delays, self.policy, self.iterations, NOTHING, streams)

    def line(self) -> str:
        """Return what ran, and the last means."""
        last = ", ".join(f"{name} {values[:, -1].mean():.4g}" for name, values in self.metrics.items())
        return f"{self.algorithm.id} on {self.problem.id}, {len(self.statistics)} trials, k = {self.ks[-1]}: {last}"

    def columns(self) -> dict[str, Any]:
        """Return a row for each trial and iteration."""
        trials, points = len(self.statistics), len(self.ks)
        where = {"trial": np.repeat(np.arange(trials), points), "k": np.tile(self.ks, trials)}
        return {**where, **{name: values.reshape(-1) for name, values in self.metrics.items()}}

    def save_trace(self, path: Path) -> None:
        """Write the arrivals of the first trial as a trace, with what was read, and when.

        Raises
        ------
        SpecError
            If no client's update arrives in it.
        OutputError
            If the file cannot be written.
        """
        from boundlab.traces import of_tape

        of_tape(self.tape(0), f"the run of {self.algorithm.id}").save(path)

    def plot(self, ax: Any = None, *, metric: str | None = None) -> Any:
        """Draw one metric, the mean over the trials and their range; return the axes of matplotlib.

        Raises
        ------
        SpecError
            If the run has no such metric.
        """
        chosen = metric or next(iter(self.metrics))
        if chosen not in self.metrics:
            raise SpecError(f"the run has no metric {chosen!r}; {nearest(chosen, self.metrics)}")
        return drawn("draw_run", self, chosen, ax)

    def _expected(self) -> dict[str, Any] | None:
        """Return long-run frequencies where the delay model alone decides who comes when.

        Other algorithms hand work out themselves, and a client that waits for it comes less often.
        """
        if self.algorithm.server != "any":
            return None
        p, p_s = frequencies(self.delays, self.policy)
        return {"p": p.tolist(), "p_s": p_s, "how": self.delays.how_rates}


@checked
def simulate(
    algorithm: str,
    problem: Problem,
    delays: DelayModel,
    server: str | None,
    settings: Mapping[str, Any],
    iterations: int,
    trials: int,
    seed: int,
    progress: Callable[[int], None] | None = None,
    backend: Backend = NUMPY,
) -> Simulation:
    """Run independent trials and evaluate the metrics that the problem has a certificate for.

    Raises
    ------
    BoundlabError
        If the algorithm, a parameter or the server policy is wrong.
    """
    iterations, trials = count(iterations, "iterations", 1), count(trials, "trials", 1)
    seed = count(seed, "seed", 0)
    compiler: Algorithm[Any] = lookup("algorithms", algorithm)
    policy = compiler.policy(server, delays)
    chosen = dict(settings)
    if policy.count is not None:
        if "count" in chosen and str(chosen["count"]) != str(policy.count):
            raise SpecError(f"count = {chosen['count']} and server {policy.describe()} contradict each other")
        chosen["count"] = policy.count
    parameters = compiler.read(Options(compiler.id, chosen))
    problem = minimised(problem, compiler, parameters)
    ks = spaced_iterations(iterations, 0)
    shown = _metrics(problem)

    def tape(trial: int) -> Tape:
        records = RecordAt(ks)
        return compile_trial(compiler, parameters, problem.n, delays, policy, iterations, records, Streams(seed, trial))

    def end(tape: Tape, shows: Floats) -> tuple[Floats, Statistics, dict[str, Any]]:
        return shows.mean(axis=2), statistics(tape), compiler.figures(parameters, tape)

    work = Work(shown, tape, end)
    found = run_work(backend, work, problem, seed, trials, progress)
    values = {metric.id: np.array([kept[place] for kept, _, _ in found]) for place, metric in enumerate(shown)}
    seen, figures = [one for _, one, _ in found], [one for _, _, one in found]
    return Simulation(
        compiler, problem, delays, policy, chosen, parameters, iterations, seed, ks, values, seen, figures, backend
    )


def _metrics(problem: Problem) -> list[Metric]:
    """Return what can be evaluated: the gap where f* is certified, the distance where x* is."""
    try:
        optimum = problem.optimum()
    except CertificateError:
        if problem.simple is not None:
            raise
        return [METRICS["gradient-norm"]]
    smooth = not problem.assumptions().get("smooth") and problem.simple is None
    return [
        METRICS["gap"],
        *([METRICS["squared-distance"]] if optimum.distance is not None else []),
        *([METRICS["gradient-norm"]] if smooth else []),
    ]
