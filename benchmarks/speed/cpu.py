"""Benchmarks: our time over the time of a bare loop that does only the unavoidable work, in one run."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from functools import partial
from pathlib import Path
from platform import processor, python_version
from typing import Any, NamedTuple, final

import numpy as np

from boundlab.algorithms import EventLaw, StepSize
from boundlab.algorithms.area import AREA, AreaParameters
from boundlab.case import build_delays, build_problem
from boundlab.delays import read_policy, sample_events
from boundlab.files import write_json, write_text
from boundlab.metrics import METRICS
from boundlab.options import Options
from boundlab.randomness import Streams
from boundlab.registry import lookup
from boundlab.simulate import cores, pick, simulate
from boundlab.simulate.work import compile_trial
from boundlab.tape import RecordAt

_EVENTS = 10**6
_ITERATIONS = 1000  # of the moments
_UPDATES = 10_000  # of the server, where tapes are written


class Times(NamedTuple):
    """Seconds a unit of work, one each repeat: by the clock on the wall, and of the processor."""

    wall: list[float]
    cpu: list[float]


@final
@dataclass(frozen=True, slots=True)
class Row:
    """One measurement.

    Parameters
    ----------
    what, floor
        What is measured, and what the floor does.
    ours, bare
        Measured in turns.
    """

    what: str
    floor: str
    ours: Times
    bare: Times

    @property
    def ratios(self) -> list[float]:
        """Our time over the floor's by the clock, sorted."""
        return _over(self.ours.wall, self.bare.wall)

    @property
    def cpu_ratio(self) -> float:
        """The median of our processor time over the floor's, which neighbours on a busy machine disturb less."""
        return float(np.median(_over(self.ours.cpu, self.bare.cpu)))

    @property
    def ratio(self) -> float:
        """The median of the ratios."""
        return float(np.median(self.ratios))

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready fields."""
        return {
            "what": self.what,
            "floor": self.floor,
            "rate": 1.0 / float(np.median(self.ours.wall)),
            "floor_rate": 1.0 / float(np.median(self.bare.wall)),
            "ratio": self.ratio,
            "cpu_ratio": self.cpu_ratio,
            "spread": [self.ratios[0], self.ratios[-1]],
            "ours": self.ours._asdict(),
            "bare": self.bare._asdict(),
        }


def _over(ours: Sequence[float], bare: Sequence[float]) -> list[float]:
    return sorted(one / other for one, other in zip(ours, bare, strict=True))


def measure_sampling(repeats: int) -> list[Row]:
    """Measure how fast a million events are drawn."""
    delays = build_delays("exponential", {}, 10)
    policy = read_policy("poisson:rate=1", delays)
    arrivals = np.random.Generator(np.random.Philox(0)).random(_EVENTS)
    ours, bare = paired(
        repeats,
        (lambda: sample_events(delays, policy, Streams(0), _EVENTS), _EVENTS),
        (lambda: np.argsort(arrivals, kind="stable"), _EVENTS),
    )
    rows = [Row(f"sampled events ({_EVENTS})", "one stable argsort", ours, bare)]
    many, some = build_delays("exponential", {"spread": 4}, 10_000), arrivals[:10_000]
    ours, bare = paired(
        repeats,
        (lambda: many.sample(Streams(0), len(some), 0.0), len(some)),
        (lambda: np.argsort(some, kind="stable"), len(some)),
    )
    return [*rows, Row("sampled events (10,000 of as many clients)", "one stable argsort", ours, bare)]


# How tapes are written: one loop, or sums over all events at a time.
TAPES = {
    "fedbuff": {"eta_l": 0.01},
    "fedstaleweight": {"eta_l": 0.01, "count": 5},
    "fedfa": {"eta_l": 0.01, "K": 5},
    "async_sgd": {"alpha": 0.01},
    "area": {"alpha": 0.01},
    "fedcompass": {"eta": 0.01, "Qmin": 2, "Qmax": 8},
}


def measure_tapes(repeats: int) -> list[Row]:
    """Measure how fast 10,000 server updates of 100 clients become a tape, sampling included: a client update."""
    records, rows = RecordAt(np.array([_UPDATES])), []
    delays = build_delays("exponential", {"spread": 4}, 100)
    for name, settings in TAPES.items():
        who = lookup("algorithms", name)
        words = who, who.read(Options(name, settings)), 100, delays, who.policy(None, delays), _UPDATES, records
        count = len(compile_trial(*words, Streams(0)).descend.client)
        numbers = np.random.Generator(np.random.Philox(0)).random(count)
        ours, bare = paired(
            repeats,
            (lambda words=words: compile_trial(*words, Streams(0)), count),
            (lambda numbers=numbers: np.argsort(numbers, kind="stable"), count),
        )
        rows.append(Row(f"{name}: events and tape (n = 100, {_UPDATES} updates)", "one stable argsort", ours, bare))
    return rows


def growth(repeats: int) -> dict[str, float]:
    """Return the exponents with which a run's processor time grows: in K, n, d and R, each over a factor of 16."""
    base = {"K": 20_000, "n": 100, "d": 100, "R": 8}

    def seconds(axis: str, factor: int) -> float:
        size = {**base, axis: base[axis] * factor}
        problem = build_problem("huber", {"clients": size["n"], "dimension": size["d"], "x0": 1.0})
        delays, where = (
            build_delays("exponential", {}, size["n"]),
            pick("auto", "cpu", 1, problem, size["R"], size["K"]),
        )
        _ = problem.optimum()
        words = "fedbuff", problem, delays, None, {"eta_l": 0.01}, size["K"], size["R"], 0
        [took] = paired(repeats, (partial(simulate, *words, backend=where), 1))
        return min(took.cpu)

    return {axis: math.log(seconds(axis, 16) / seconds(axis, 1)) / math.log(16.0) for axis in base}


def measure_exact(repeats: int) -> list[Row]:
    """Measure the exact engines: 4^8 event sequences of three clients in rationals, and moments of 50 clients."""
    from boundlab.arithmetic.numbers import rational
    from boundlab.arithmetic.problem import Minimum
    from boundlab.expectation import enumerated, exact_arithmetic, left_side

    quarter = Fraction(1, 4)
    losses = {"c": [[0], [1], [3]], "w": [[1], [2], [1]], "x0": 2}
    model = build_problem("huber", losses).rational(losses)
    assert model is not None  # noqa: S101  (for the type checker)
    program = AREA.program(AreaParameters(StepSize(1.0, 5.0), 3).known(Fraction), 3)
    best = Minimum([Fraction(1)], Fraction(2, 3))
    three = EventLaw(np.array([quarter] * 3), quarter)
    arithmetic = exact_arithmetic(program)
    states: list[int] = []

    def enumerate_all() -> None:
        metric, one = METRICS["ergodic-gap"], rational(1)
        enumerated(model, best, arithmetic, one, three, (), metric, np.array([8]), merged=states.append)

    enumerate_all()
    coordinates = states[0] * len(program.initial)  # of x_s, x_1 … y_3 and the sum, which stands in place of u

    factor = rational(Fraction(5, 7))

    def products() -> None:
        x = factor
        for _ in range(4**8):
            x = factor * factor
        del x

    problem = build_problem("quadratic", {"clients": 50, "dimension": 1, "sigma": 1.0, "x0": 1.0})
    delays = build_delays("iid", {"p_s": 0.5}, 50)
    policy = AREA.policy(None, delays)
    square = np.random.Generator(np.random.Philox(1)).random((50, 50))
    kept, out = 1.0 - square, np.empty((50, 50))

    def moments(step: StepSize) -> Callable[[], object]:
        parameters = AreaParameters(step, 3)
        return lambda: left_side("squared-distance", AREA, problem, parameters, delays, policy, _ITERATIONS)

    def passes() -> None:
        # What cannot be spared: each of three n×n blocks is scaled and gets one product added.
        for _ in range(3 * _ITERATIONS):
            np.multiply(square, kept, out=out)
            np.add(out, square, out=out)

    walks, multiplied, constant, diminishing, passed = paired(
        repeats,
        (enumerate_all, coordinates),
        (products, 4**8),
        (moments(StepSize(0.1)), _ITERATIONS),
        (moments(StepSize(1.0, 5.0)), _ITERATIONS),
        (passes, _ITERATIONS),
    )
    what = f"a coordinate of one of {states[0]} merged states (of 4^8 sequences, n = 3)"
    return [
        Row(what, "one rational product", walks, multiplied),
        Row("exact moments (n = 50), constant steps", "three n×n updates", constant, passed),
        Row("exact moments (n = 50), diminishing steps", "three n×n updates", diminishing, passed),
    ]


def measure_compared(repeats: int) -> list[Row]:
    """Measure a comparison whose left side is enclosed: a noisy quadratic of 20 clients, one theorem of each engine."""
    from boundlab.compare import compare
    from boundlab.instance import make_plan
    from boundlab.theorems import load_theorem

    problem = build_problem("quadratic", {"clients": 20, "sigma": 1.0})
    delays = build_delays("exponential", {}, 20)
    wide = problem.n * problem.d
    square = np.random.Generator(np.random.Philox(1)).random((wide, wide))
    kept, out = 1.0 - square, np.empty((wide, wide))

    def passes() -> None:
        for _ in range(_ITERATIONS):
            np.multiply(square, kept, out=out)
            np.add(out, square, out=out)

    found = []
    for name in ("area.theorem7.explicit", "classics.sgd.heterogeneous"):
        theorem = load_theorem(name)
        policy = lookup("algorithms", theorem.algorithm).policy(None, delays)
        plan = make_plan(theorem, problem, delays, policy, _ITERATIONS, {})
        ours, bare = paired(repeats, (partial(compare, plan, 10, 0), _ITERATIONS), (passes, _ITERATIONS))
        found.append(Row(f"{name} compared, noise (n = 20, d = {problem.d})", "one nd×nd update", ours, bare))
    return found


def paired(repeats: int, *works: tuple[Callable[[], object], int]) -> list[Times]:
    """Return the times of each (work, units), measured in turns so that a busy machine slows all of them alike.

    What is loaded or compiled at first is done before.
    """
    found = [Times([], []) for _ in works]
    for turn in range(repeats + 1):
        for place, (work, units) in enumerate(works):
            begin = time.perf_counter(), time.process_time()
            work()
            if turn:
                found[place].wall.append((time.perf_counter() - begin[0]) / units)
                found[place].cpu.append((time.process_time() - begin[1]) / units)
    return found


def worse(rows: Sequence[Row], recorded: dict[str, Any]) -> list[str]:
    """Return a line for each row whose processor time over the floor's is beyond what was recorded of it.

    By a quarter more than the largest ratio of that day: machines differ from day to day, too.
    """
    known = {row["what"]: max(row["spread"][1], row.get("cpu_ratio", 0.0)) for row in recorded["rows"]}
    return [
        f"{row.what}: {row.cpu_ratio:.2f} of {row.floor}, at most {known[row.what]:.2f} on {recorded['date']}"
        for row in rows
        if row.what in known and row.cpu_ratio > 1.25 * known[row.what]
    ]


def report(rows: Sequence[Row], data: str, exponents: dict[str, float] | None = None) -> dict[str, Any]:
    """Return all measurements and what they were made on, JSON-ready."""
    return {
        "processor": f"{_processor()}, {cores()} cores",
        "python": python_version(),
        "numpy": np.__version__,
        "data": data,
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "rows": [row.as_dict() for row in rows],
        "growth": exponents or {},
    }


def _processor() -> str:
    """Return what this machine calls its processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return processor() or "unknown processor"


def names(found: dict[str, Any], folder: Path) -> list[Path]:
    """Return the files of a measurement: the same for the same day."""
    return [folder / f"cpu-{found['date']}{ending}" for ending in (".json", ".md")]


def save(found: dict[str, Any], files: Sequence[Path]) -> None:
    """Write JSON and a table."""
    for path in files:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".json":
            write_json(path, found)
        else:
            write_text(path, table(found))


def table(found: dict[str, Any]) -> str:
    """Return the measurements as a table in Markdown."""
    rows = [
        f"# Our time over the time of bare loops, {found['date']}",
        "",
        f"{found['processor']}, Python {found['python']}, NumPy {found['numpy']}, {found['data']}. Medians of "
        f"{len(found['rows'][0]['ours']['wall'])} repeats, measured in turns; the spread is the least and the largest "
        "ratio by the clock.",
        "",
        "| what | floor | ours [µs] | floor [µs] | time over floor | spread | processor time over floor |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in found["rows"]:
        low, high = row["spread"]
        rows.append(
            f"| {row['what']} | {row['floor']} | {1e6 / row['rate']:.3g} | {1e6 / row['floor_rate']:.3g} "
            f"| {row['ratio']:.2f} | {low:.2f}–{high:.2f} | {row['cpu_ratio']:.2f} |"
        )
    if found["growth"]:
        each = ", ".join(f"{axis}: {power:.2f}" for axis, power in found["growth"].items())
        rows += ["", f"Exponents of growth of a run of FedBuff on Huber functions, over a factor of 16: {each}."]
    return "\n".join(rows) + "\n"
