"""AREA's Table 3 on MNIST: the paper's numbers beside ours.

n = 128 clients, Dirichlet 0.1, mini-batches of 32, nu = 1e-3, one local step, the server updates after every
4 arrivals, horizon 15; rates 10 for everybody, or |N(10, 5)|. What the paper leaves open is chosen here, named
in README.md, and where two readings are possible (the weights of the f_i) both are run.

    BOUNDLAB_DATA=/path/to/data python benchmarks/area_table3.py --trials 10 --out results.json --plot results.png

Source: Iakovidou and Kim, AREA, Section 5, Table 3.
"""

import argparse
import os
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from area_table3_paper import NAMES, PAPER, RATES, Cell
from area_table3_report import plot, table
from numpy.typing import NDArray

from boundlab.__about__ import __version__
from boundlab.algorithms import Algorithm
from boundlab.case import build_delays, build_problem
from boundlab.delays import DelayModel
from boundlab.errors import BoundlabError, DataError, SpecError
from boundlab.events import Events
from boundlab.files import read_json, write_json
from boundlab.objective import Array
from boundlab.options import Options
from boundlab.problems.clients import values
from boundlab.problems.common import calm
from boundlab.problems.data import opened
from boundlab.problems.erm import EmpiricalRisk
from boundlab.randomness import Floats, Streams
from boundlab.registry import lookup
from boundlab.simulate.work import run_once
from boundlab.tape import RecordAt

Weights = Literal["paper", "size"]

CLIENTS, BATCH, NU, DELTA, RATE, SD = 128, 32, 1e-3, 4, 10.0, 5.0
DIRICHLET, TARGET, POINTS = 0.1, 0.8, 150
HORIZON = 15.0


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table to be.

    Parameters
    ----------
    group
        ``table``: a line of Table 3; ``fair``: not in the paper, server step untied; ``selection``: the next
        step size of the paper's grid, which its rule must have refused; ``reading``: a line of Table 3 with
        another reading of what the paper leaves open.
    method
        Id of the algorithm.
    alpha
        The (local) step size, unit (−1, 2).
    weights
        ``paper``: f_i = (s_i/S)·f̂_i; ``size``: n·(s_i/S)·f̂_i.
    rates
        ``uniform``; ``non-uniform``: |N(10, 5)|; ``redrawn``: N(10, 5), drawn again while not positive.
    settings
        Parameters that differ from :func:`parameters`.
    """

    group: Literal["table", "fair", "selection", "reading"]
    method: str
    alpha: float
    weights: Weights
    rates: str
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What a reader sees."""
        extra = "".join(f", {key}={value:g}" for key, value in self.settings.items() if not isinstance(value, str))
        extra += "".join(f", {key}={value}" for key, value in self.settings.items() if isinstance(value, str))
        return f"{NAMES[self.method]} {self.alpha:g}{extra}"

    def paper(self) -> Cell | None:
        """Return the paper's numbers, None where it has none."""
        cells = PAPER.get((self.method, self.alpha)) if self.group in ("table", "reading") else None
        return cells[0 if self.rates == "uniform" else 1] if cells else None


def rows() -> list[Row]:
    """Return all lines, those of Table 3 first."""
    out = [
        Row("table", method, alpha, weights, rates)
        for weights in ("paper", "size")
        for rates in RATES
        for method, alpha in PAPER
    ]
    for rates in RATES:
        out.append(Row("fair", "fedbuff", 10.0, "paper", rates, {"eta_g": 1.0}))
        # As far for the same gradients (README.md): 4800·10/128 = 15·10/2·5 = 375; and half as far.
        out += [Row("fair", "area", alpha, "size", rates) for alpha in (5.0, 2.5)]
    out += [
        Row("selection", method, alpha, "paper", "uniform")
        for method, alpha in (("sfedavg", 1e3), ("asfedavg", 1e4), ("fedbuff", 1e2), ("area", 1e4))
    ]
    out += [
        Row("reading", "fedbuff", 1.0, "paper", "uniform", {"reply": "post"}),
        Row("reading", "area", 1e2, "paper", "uniform", {"reply": "post"}),
        Row("reading", "asfedavg", 1e2, "paper", "uniform", {"reply": "post"}),
    ]
    out += [
        Row("reading", method, alpha, "paper", "redrawn")
        for method, alpha in (("sfedavg", 1e1), ("sfedavg", 1e2), ("fedbuff", 1.0), ("area", 1e2), ("area", 1e3))
    ]
    return out


def parameters(row: Row) -> dict[str, Any]:
    """Return the algorithm's options: Δ = 4, the client that completes a buffer answered before the aggregation."""
    buffered = {"count": DELTA, "reply": "pre"}
    own: dict[str, dict[str, Any]] = {
        "sfedavg": {"alpha": row.alpha, "sampled": DELTA},
        "asfedavg": {"alpha": row.alpha, **buffered},
        # One step size in the paper's table: the server's step is the local one.
        "fedbuff": {"eta_l": row.alpha, "eta_g": row.alpha, **buffered},
        "area": {"alpha": row.alpha, **buffered},
    }
    return {**own[row.method], **row.settings}


@dataclass(frozen=True, slots=True)
class Result:
    """One trial of one row.

    Parameters
    ----------
    accuracy
        Test accuracy on the grid of times, shape (points + 1,), from time 0.
    loss, data_loss
        At the horizon, on all training data, with and without the regulariser.
    margin
        The largest difference, over training samples, between the largest logit and the true label's: beyond
        745 a softmax in double precision gives the probability 0, whose logarithm is −∞.
    updates
        Client updates until the horizon.
    """

    accuracy: Floats
    loss: float
    data_loss: float
    margin: float
    updates: int


def read_test(folder: Path) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Return the test images, shape (samples, pixels), and labels.

    Raises
    ------
    DataError
        If a file is missing or is not what its name says.
    """

    def body(stem: str, axes: int) -> NDArray[np.uint8]:
        for name in (stem, f"{stem}.gz"):
            if (folder / name).is_file():
                break
        else:
            raise DataError(f"{folder} has no {stem} or {stem}.gz")
        with opened(folder / name) as stream:
            raw = stream.read()
        if len(raw) < 4 + 4 * axes:
            raise DataError(f"{folder / name} is truncated: {len(raw)} bytes")
        shape = tuple(int(length) for length in np.frombuffer(raw, ">u4", axes, 4))
        if len(raw) != 4 + 4 * axes + int(np.prod(shape)):
            raise DataError(f"{folder / name} holds {len(raw)} bytes; its header says {shape}")
        return np.frombuffer(raw, np.uint8, offset=4 + 4 * axes).reshape(shape)

    images, labels = body("t10k-images-idx3-ubyte", 3), body("t10k-labels-idx1-ubyte", 1)
    return images.reshape(len(images), -1), labels


def arrivals(algorithm: Algorithm, chosen: Any, delays: DelayModel, streams: Streams, horizon: float) -> Events:
    """Return all events until the horizon."""
    server = f"count:every={DELTA}" if algorithm.server != "none" else None
    policy = algorithm.policy(server, delays)
    count = int(1.1 * horizon * delays.rates().sum()) + 100
    if algorithm.server == "none":
        count = int(horizon * RATE) + 100
    while True:
        events = algorithm.sample(chosen, delays, policy, streams, delays.n, count)
        if events.time[-1] > horizon:
            return events.head(int(np.searchsorted(events.time, horizon, side="right")))
        count *= 2


def one(
    row: Row,
    problem: EmpiricalRisk,
    test: tuple[Array, NDArray[np.uint8]],
    delays: DelayModel,
    seed: int,
    horizon: float,
) -> Result:
    """Run one trial of one row; ``problem`` has the row's weights."""
    algorithm: Algorithm = lookup("algorithms", row.method)
    chosen = algorithm.read(Options(algorithm.id, parameters(row)))
    streams = Streams(seed)
    events = arrivals(algorithm, chosen, delays, streams, horizon)
    tape = algorithm.schedule(chosen, events, problem.n, RecordAt(), 2 * len(events))
    grid = np.linspace(0.0, horizon, POINTS + 1)
    # The model at time t is that of the last record until t; which grid points a record serves:
    serves = np.searchsorted(tape.record.time, grid, side="right") - 1
    wanted: dict[int, list[int]] = {}
    for point, record in enumerate(serves.tolist()):
        wanted.setdefault(record, []).append(point)
    accuracy = np.empty(POINTS + 1)
    final: list[Array] = []
    features, labels = test

    def observe(record: int, x: Array) -> None:
        if record in wanted:
            guess = np.argmax(features @ x.reshape(-1, problem.classes), axis=1)
            accuracy[wanted[record]] = np.mean(guess == labels)
            if POINTS in wanted[record]:
                final.append(x.copy())

    run_once(tape, problem, streams, observe)
    return Result(accuracy, *losses_at(problem, final[0]), updates=int(np.count_nonzero(tape.descend.arrival >= 0)))


def losses_at(problem: EmpiricalRisk, x: Array) -> tuple[float, float, float]:
    """Return Σ(s_i/S)·f̂_i(x), the same without regulariser, and the largest margin of a mistake.

    Whatever the weights of the f_i are, the paper reports the loss over all training data.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        logits = problem.X @ x.reshape(-1, problem.classes)
        data = float(values(problem.loss, logits, problem.y).mean(dtype=np.float64))
        wide = np.asarray(x, dtype=np.float64)
        margin = float((logits.max(axis=1) - logits[np.arange(len(logits)), problem.y]).max())
        return data + 0.5 * problem.nu * float(wide @ wide), data, margin


def reaches(accuracy: Floats) -> float | None:
    """Return rho = t80/horizon on the grid, None if 80 % is not met."""
    met = np.flatnonzero(accuracy >= TARGET)
    return float(met[0]) / (len(accuracy) - 1) if len(met) else None


def trial_problem(folder: Path, seed: int, samples: int, dtype: str, *, bias: bool) -> EmpiricalRisk:
    """Build the softmax problem of a trial: its own partition and start point."""
    options: dict[str, Any] = {
        "data": f"idx:{folder}",
        "clients": CLIENTS,
        "partition": "dirichlet",
        "a": DIRICHLET,
        "batch": BATCH,
        "nu": NU,
        "weights": "paper",
        "x0": "uniform",
        "bias": bias,
        "dtype": dtype,
        "seed": seed,
    }
    if samples:
        options["samples"] = samples
    problem = build_problem("softmax", options)
    if not isinstance(problem, EmpiricalRisk):
        raise SpecError("another package has replaced the problem type softmax")
    return problem


def trial_delays(rates: str, seed: int) -> DelayModel:
    """Build the exponential delays of a trial: rates 10, or N(10, 5) drawn for this trial."""
    options: dict[str, Any] = {"rate": RATE}
    if rates != "uniform":
        negative = "redraw" if rates == "redrawn" else "abs"
        options |= {"draw": "normal", "sd": SD, "negative": negative, "rate_seed": seed}
    return build_delays("exponential", options, CLIENTS)


def summary(row: Row, results: Sequence[Result]) -> dict[str, Any]:
    """Return what JSON keeps of a row; numbers that overflow are null."""
    curves = np.array([result.accuracy for result in results])
    mean_curve = curves.mean(axis=0)
    paper = row.paper()
    last = curves[:, -(POINTS // 5) :]
    return {
        "group": row.group,
        "method": row.method,
        "alpha": row.alpha,
        "weights": row.weights,
        "rates": row.rates,
        "settings": dict(row.settings),
        "paper": None
        if paper is None
        else {
            "rho": paper[0],
            "accuracy": list(paper[1:4]),
            "loss": list(paper[4:7]),
        },
        "rho": [reaches(curve) for curve in curves],
        "rho_of_mean_curve": reaches(mean_curve),
        "accuracy": [float(100.0 * value) for value in curves[:, -1]],
        "accuracy_median_last_fifth": [float(100.0 * value) for value in np.median(last, axis=1)],
        "loss": [_finite(result.loss) for result in results],
        "data_loss": [_finite(result.data_loss) for result in results],
        "margin": [_finite(result.margin) for result in results],
        "updates": [result.updates for result in results],
        "mean_accuracy_over_time": [round(float(100.0 * value), 3) for value in mean_curve],
    }


def _row_of(entry: Mapping[str, Any]) -> Row:
    return Row(entry["group"], entry["method"], entry["alpha"], entry["weights"], entry["rates"], entry["settings"])


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None


def measure(
    folder: Path,
    trials: int,
    horizon: float,
    samples: int,
    dtype: str,
    chosen: Sequence[Row],
    *,
    bias: bool,
    say: Any = lambda _line: None,
) -> dict[str, Any]:
    """Run all rows and return the JSON document.

    Raises
    ------
    BoundlabError
        If the data cannot be read.
    """
    images, labels = read_test(folder)
    results: dict[int, list[Result]] = {place: [] for place in range(len(chosen))}
    sizes: list[list[int]] = []
    for seed in range(trials):
        paper = trial_problem(folder, seed, samples, dtype, bias=bias)
        problems = {"paper": paper, "size": replace(paper, weights="size")}
        sizes.append([int(paper.sizes.min()), int(np.median(paper.sizes)), int(paper.sizes.max())])
        pixels = np.asarray(images, dtype=paper.dtype) / paper.dtype(255)
        if bias:
            pixels = np.hstack([pixels, np.ones((len(pixels), 1), dtype=paper.dtype)])
        delays = {rates: trial_delays(rates, seed) for rates in {row.rates for row in chosen}}
        for place, row in enumerate(chosen):
            begin = time.perf_counter()
            found = one(row, problems[row.weights], (pixels, labels), delays[row.rates], seed, horizon)
            results[place].append(found)
            say(
                f"trial {seed} {row.group} {row.name} weights={row.weights} {row.rates}: accuracy "
                f"{100.0 * found.accuracy[-1]:.2f} loss {found.loss:.3f} ({found.data_loss:.3f} without regulariser) "
                f"{time.perf_counter() - begin:.1f} s"
            )
    return {
        "boundlab": __version__,
        "kind": "benchmark",
        "source": "AREA, Table 3",
        "trials": trials,
        "horizon": horizon,
        "samples": samples or None,
        "clients": CLIENTS,
        "batch": BATCH,
        "nu": NU,
        "count": DELTA,
        "dirichlet": DIRICHLET,
        "dtype": dtype,
        "bias": bias,
        "grid_points": POINTS,
        "client_sizes_min_median_max": sizes,
        "rows": [summary(row, results[place]) for place, row in enumerate(chosen)],
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; return 0, or 2 with one line on standard error."""
    parser = argparse.ArgumentParser(description="AREA's Table 3 on MNIST, the paper's numbers beside ours.")
    parser.add_argument("--trials", type=int, default=3, help="independent trials, seeds 0, 1, … (default 3)")
    parser.add_argument("--horizon", type=float, default=HORIZON, help="time units (default 15)")
    parser.add_argument("--samples", type=int, default=0, help="training samples (default all)")
    parser.add_argument("--data", type=Path, help="folder of MNIST's idx files (default $BOUNDLAB_DATA/mnist)")
    parser.add_argument("--dtype", choices=("float32", "float64"), default="float32")
    parser.add_argument("--bias", action="store_true", help="append the feature 1; eq. (4) has none")
    parser.add_argument("--group", action="append", choices=("table", "fair", "selection", "reading"))
    parser.add_argument("--weights", choices=("paper", "size"), help="only rows with these weights")
    parser.add_argument("--method", choices=tuple(NAMES), help="only rows of this method")
    parser.add_argument("--out", type=Path, help="JSON file for the results")
    parser.add_argument("--plot", type=Path, help="draw accuracy over time into this file")
    parser.add_argument("--read", type=Path, help="show and draw the results of an earlier --out; run nothing")
    chosen = parser.parse_args(arguments)
    try:
        if chosen.read:
            document = read_json(chosen.read)
        else:
            if chosen.trials < 1 or not 0.0 < chosen.horizon <= 1e4 or chosen.samples < 0:
                raise SpecError("--trials must be ≥ 1, --horizon in (0, 10000], --samples ≥ 0")
            root = os.environ.get("BOUNDLAB_DATA")
            if chosen.data is None and not root:
                raise DataError("set BOUNDLAB_DATA to the folder that holds mnist/, or give --data")
            some = [
                row
                for row in rows()
                if (not chosen.group or row.group in chosen.group)
                and chosen.weights in (None, row.weights)
                and chosen.method in (None, row.method)
            ]
            with calm(1):  # matrices are small: one BLAS thread is the fastest
                document = measure(
                    chosen.data or Path(root or "") / "mnist",
                    chosen.trials,
                    chosen.horizon,
                    chosen.samples,
                    chosen.dtype,
                    some,
                    bias=chosen.bias,
                    say=lambda line: sys.stderr.write(line + "\n"),
                )
            if chosen.out:
                write_json(chosen.out, document)
        sys.stdout.write(table(document["rows"], _row_of))
        if chosen.plot:
            plot(document, chosen.plot, _row_of)
    except BoundlabError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
