"""Benchmarks of trials in lock step: bytes that must move over bandwidth, events a second, and the same numbers."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any, final

import numpy as np
import torch

from benchmarks.speed.agreement import agreement
from benchmarks.speed.problems import digits, logistic, tapes_of
from boundlab.arithmetic.tensors import Batched, Device, find_device
from boundlab.case import build_delays, build_problem
from boundlab.execute import floats, lockstep
from boundlab.execute.packing import Program, pack
from boundlab.files import write_json, write_text
from boundlab.objective import Problem
from boundlab.randomness import Streams
from boundlab.simulate import Backend, simulate
from boundlab.simulate.tensors import tensors_of, tile_of
from boundlab.simulate.work import bytes_of
from boundlab.tape import Tape

_CLIENTS = 8
_MANY = 100  # clients, so many that registers stay in no cache
_WIDE = 1e6  # a Huber function that is a quadratic wherever a run comes
_SHARE = 0.8  # of the free memory
_COMPILED = 64  # different tapes; more replicas run the same ones again


@final
@dataclass(frozen=True, slots=True)
class Line:
    """One measurement; events are client updates of all replicas.

    Parameters
    ----------
    what, d, replicas, tile
        The problem and its size, and how many of the replicas run in lock step: as many as for users.
    bytes_an_event
        What must be read and written for one, by shapes alone: registers once each, the client's data once.
    rates
        Events a second, by way: ``fused``, ``eager``, ``numpy``.
    bandwidth
        Bytes a second of the best way, over the measured copy bandwidth.
    difference
        Largest difference from float64 on the CPU, relative to the largest number.
    note
        Why something is missing.
    """

    what: str
    d: int
    replicas: int
    tile: int
    bytes_an_event: float
    rates: dict[str, float]
    bandwidth: float
    difference: float
    note: str = ""


def copy_bandwidth(place: Device, size: int) -> float:
    """Return bytes read and written a second by a copy of so many bytes; the median of seven."""
    source = torch.ones(size // 4, dtype=torch.float32, device=place.device)
    target = torch.empty_like(source)
    each = [2.0 * size / _timed(place, lambda: target.copy_(source)) for _ in range(8)]
    return float(np.median(each[1:]))


def _timed(place: Device, work: Callable[[], Any]) -> float:
    if place.is_cuda:
        torch.cuda.synchronize(place.device)
    begin = time.perf_counter()
    work()
    if place.is_cuda:
        torch.cuda.synchronize(place.device)
    return time.perf_counter() - begin


def moved(program: Program, itemsize: int, d: int, data: int) -> float:
    """Return the bytes that one event must move.

    Parameters
    ----------
    data
        Numbers of the client that a local step reads.
    """
    steps = program.descents.steps
    events = max(1, int((steps > 0).sum()))
    vectors = int(program.combinations.terms.sum()) + len(program.combinations.dst) + 2 * events
    return (vectors * d + int(steps.sum()) * data) / events * itemsize


def measure_line(
    what: str, place: Device, problem: Problem, some: Sequence[Tape], replicas: int, data: int, bandwidth: float
) -> Line:
    """Measure replicas of some tapes, in tiles and in the type that users get; ``data`` as for :func:`moved`."""
    dtype = torch.float32 if problem.x0.dtype == np.float32 else torch.float64
    what = f"{what}, n = {problem.n}, {str(dtype).removeprefix('torch.')}"
    nothing, needed, free = float("nan"), bytes_of(some[0], problem), place.free_bytes()
    batched = tensors_of(problem, place.device, dtype)
    tile = tile_of(some[0], problem, batched, replicas)
    if free is not None and tile * needed > _SHARE * free:
        note = f"needs {tile * needed:.2g} bytes"
        return Line(what, problem.d, replicas, tile, nothing, {}, nothing, nothing, note)
    tapes = [some[one % len(some)] for one in range(replicas)]
    programs = [pack(tapes[first : first + tile], tile) for first in range(0, replicas, tile)]
    each = moved(pack(list(some)), dtype.itemsize, problem.d, data)
    count = sum(int((program.descents.steps > 0).sum()) for program in programs)
    rates = {way: count / _run(programs, problem, batched, place, dtype, fused=way == "fused") for way in ways(place)}
    best = max(rates.values())
    rates["numpy"] = _numpy(problem, some[0], problem.x0.dtype, 3.0)
    off = _difference(place, problem, some[:2])
    return Line(what, problem.d, replicas, tile, each, rates, best * each / bandwidth, off)


def coordinatewise(place: Device, d: int, replicas: int, clients: int, seconds: float, bandwidth: float) -> Line:
    """Measure AREA on diagonal quadratics: d coordinates that no gradient mixes."""
    centres = np.random.Generator(np.random.Philox(0)).normal(size=(clients, d))
    problem = build_wide(centres)
    # About so many seconds at the measured bandwidth.
    events = int(np.clip(seconds * bandwidth / (replicas * 8 * d * 8), 3 * clients, 2000))
    some = tapes_of("area", {"alpha": 0.1}, clients, events, min(replicas, _COMPILED))
    return measure_line("AREA, diagonal quadratics", place, problem, some, replicas, 2 * d, bandwidth)


def fitted(place: Device, replicas: int, problem: Any, iterations: int, bandwidth: float) -> Line:
    """Measure FedBuff on a linear model with mini-batches, with a client for each of n parts of the data."""
    some = tapes_of("fedbuff", {"eta_l": 0.05, "count": 1}, problem.n, iterations, min(replicas, _COMPILED))
    what, data = f"FedBuff, {problem.id}, b = {problem.batch}", problem.batch * (problem.X.shape[1] + 1)
    return measure_line(what, place, problem, some, replicas, data, bandwidth)


def asked(place: Device, d: int) -> str:
    """Return, in words, what ``boundlab run`` of AREA takes on a new problem of dimension d, and its x* alone."""
    problem = build_problem("huber", {"clients": _CLIENTS, "dimension": d, "x0": 2.0})
    taken = _timed(place, problem.optimum)
    torch_ = Backend("torch", str(place.device))
    delays, settings = build_delays("exponential", {}, _CLIENTS), {"alpha": "0.1"}
    whole = _timed(place, lambda: simulate("area", problem, delays, None, settings, 300, 4, 0, None, torch_))
    return f"x* {taken:.2g} s, 300 iterations of 4 trials {whole:.2g} s"


def build_wide(centres: np.ndarray) -> Problem:
    """Return Σ_j w_ij·(x_j − c_ij)²/2 as Huber functions that never turn linear, without working out constants."""
    n, d = centres.shape
    weights = 0.5 + np.random.Generator(np.random.Philox(1)).random((n, d))
    small: Any = build_problem("huber", {"clients": n, "dimension": 1, "delta": _WIDE})
    problem: Problem = replace(small, c=centres, w=weights, x0=np.zeros(d), source={})
    return problem


def ways(place: Device) -> Iterator[str]:
    """Yield the ways that there are on a device."""
    if place.is_cuda and lockstep.has_triton():
        yield "fused"
    yield "eager"


def _run(
    programs: Sequence[Program], problem: Problem, batched: Batched, place: Device, dtype: torch.dtype, *, fused: bool
) -> float:
    """Return the seconds of a run, after one that loads what is compiled."""

    def work() -> None:
        for program in programs:
            trials = list(range(program.places))
            lockstep.run(program, problem.x0, batched, 0, trials, lambda *_: None, place.device, dtype, fused=fused)

    _timed(place, work)
    return min(_timed(place, work) for _ in range(2))


def _numpy(problem: Problem, tape: Tape, dtype: Any, seconds: float) -> float:
    """Return events a second of the executor in NumPy, of as many runs as fit into some seconds."""
    x0, events, taken = problem.x0.astype(dtype), 0, 0.0
    while taken < seconds and events < 10**6:
        begin = time.perf_counter()
        floats.run(tape, x0, problem.oracle(Streams(0)), lambda *_: None)
        taken += time.perf_counter() - begin
        events += len(tape.descend.dst)
    return events / taken


def _difference(place: Device, problem: Problem, tapes: Sequence[Tape]) -> float:
    """Return how far float64 on the device is from float64 in NumPy, relative to the largest number."""
    program = pack(list(tapes))
    if problem.x0.dtype != np.float64:  # data, too, in double precision
        problem = replace(problem, X=problem.X.astype(np.float64), x0=problem.x0.astype(np.float64))  # type: ignore[type-var, attr-defined]
    batched, x0 = tensors_of(problem, place.device, torch.float64), problem.x0.astype(np.float64)
    final_ = (
        lockstep.run(program, x0, batched, 0, list(range(len(tapes))), lambda *_: None, place.device, torch.float64)
        .cpu()
        .numpy()
    )
    worst = 0.0
    for trial, tape in enumerate(tapes):
        own = floats.run(tape, x0, problem.oracle(Streams(0, trial)), lambda *_: None)
        worst = max(worst, float(np.abs(final_[trial, : tape.registers] - own).max() / max(1.0, np.abs(own).max())))
    return worst


def kinked(place: Device, iterations: int) -> str:
    """Return, in words, how long AREA on Σ|x_j − c_ij| takes the same slopes on the device as in NumPy."""
    problem = build_problem("lad", {"clients": _CLIENTS, "dimension": 100, "sigma": 0.1, "x0": 1.0})
    tapes = tapes_of("area", {"alpha": 0.01}, _CLIENTS, iterations, 2)
    batched = tensors_of(problem, place.device, torch.float64)
    return "; ".join(one.words for one in agreement(tapes, problem, batched, 0, place.device))


def measure(
    device: str, dimensions: Sequence[int], replicas: Sequence[int], seconds: float, say: Callable[[str], None]
) -> dict[str, Any]:
    """Measure everything on a device; the lines, the copy bandwidth, and what it was measured on."""
    place = find_device(device)
    bandwidth = copy_bandwidth(place, (1 << 32) if place.is_cuda else (1 << 27))
    say(f"{place.name}: a copy moves {bandwidth / 1e9:.0f} GB/s")
    lines = []

    def keep(line: Line) -> None:
        lines.append(line)
        say(_words(line))

    for d in dimensions:
        for count in replicas:
            keep(coordinatewise(place, d, count, _CLIENTS, seconds, bandwidth))
    for count in replicas:
        keep(coordinatewise(place, dimensions[len(dimensions) // 2], count, _MANY, seconds, bandwidth))
    told = kinked(place, 2000)
    say(f"AREA, Σ|x − c|, d = 100, two trials: {told}")
    for problem in (digits(), logistic()):
        for count in replicas:
            keep(fitted(place, count, problem, 200 if place.is_cuda else 40, bandwidth))
    whole = asked(place, dimensions[len(dimensions) // 2])
    say(f"AREA as boundlab run, d = {dimensions[len(dimensions) // 2]}: {whole}")
    out: dict[str, Any] = _plain(
        {
            "device": place.name,
            "torch": torch.__version__,
            "date": datetime.now(UTC).strftime("%Y-%m-%d"),
            "copy_bandwidth": bandwidth,
            "kinks": told,
            "asked": whole,
            "lines": [asdict(line) for line in lines],
        }
    )
    return out


def _words(line: Line) -> str:
    told = ", ".join(f"{way} {rate:.3g}/s" for way, rate in line.rates.items())
    share = f", {line.bandwidth:.0%} of a copy" if np.isfinite(line.bandwidth) else ""
    return f"{line.what}: d = {line.d}, R = {line.replicas} by {line.tile}: {told or line.note}{share}"


def names(found: dict[str, Any], folder: Path) -> list[Path]:
    """Return the files of a measurement: the same for the same device and day."""
    device = found["device"].split(",")[0].lower()
    name = "".join(one if one.isalnum() else "-" for one in device).strip("-")
    base = f"gpu-{name}-{found['date']}"
    drawn = [".png"] if find_spec("matplotlib") else []
    return [folder / f"{base}{ending}" for ending in (".json", ".md", *drawn)]


def save(found: dict[str, Any], files: Sequence[Path]) -> None:
    """Write JSON, a table and, where matplotlib is there, a figure."""
    for path in files:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".json":
            write_json(path, found)
        elif path.suffix == ".md":
            write_text(path, table(found))
        else:
            from benchmarks.speed.plot import draw

            draw(found, path)


def _plain(value: Any) -> Any:
    """Return a value as JSON has it: null for what is no number."""
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value


def table(found: dict[str, Any]) -> str:
    """Return the lines as a table in Markdown."""
    rows = [
        f"# Trials in lock step on {found['device']}, {found['date']}, torch {found['torch']}",
        "",
        f"A copy moves {found['copy_bandwidth'] / 1e9:.0f} GB/s (read and written). Events are client updates of all R "
        "replicas, which run in tiles as trials of users do; `fused` is a Triton kernel, `eager` torch without it, "
        "`numpy` one replica of the reference executor; bytes: what an event must move, by shapes alone; of a copy: "
        "what the best way moves of them over what a copy moves; off by: float64 from NumPy's, over the largest one. "
        f"Where gradients jump (AREA on Σ|x − c|, d = 100, two trials): {found['kinks']}. "
        f"As `boundlab run`: {found['asked']}.",
        "",
        "| what | d | R | tile | bytes | fused [1/s] | eager [1/s] | NumPy [1/s] | best/NumPy | of a copy | off by |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for line in found["lines"]:
        rates, size = line["rates"], f"| {line['what']} | {line['d']} | {line['replicas']} | {line['tile']} |"
        if not rates:
            rows.append(f"{size} {line['note']} |{' |' * 6}")
            continue
        best = max(rate for way, rate in rates.items() if way != "numpy")
        shown = [f"{rates[way]:.3g}" if way in rates else "–" for way in ("fused", "eager", "numpy")]
        rows.append(
            f"{size} {line['bytes_an_event']:.3g} | {' | '.join(shown)} | {best / rates['numpy']:.3g} "
            f"| {line['bandwidth']:.0%} | {line['difference']:.1e} |"
        )
    return "\n".join(rows) + "\n"
