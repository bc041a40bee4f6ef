"""What sweeps cost, and how often they are wrong: python -m benchmarks.sweeps mean|compare|rows|data.

``mean``: cells whose bound is the exact mean, each with a seed of its own: how many are called violated, and what a
cell costs over its question. ``compare``: cells of `compare area.theorem8 --problem huber:x0=3 -k 10,100 -r 40`.
``rows``: so many recorded rows are read, asked and listed. ``data``: hinge loss on 3 data sets × 4 M × 5 p_s × 3
degrees of heterogeneity, with its pictures; BOUNDLAB_DATA names the folder of a9a and MNIST.
"""

import argparse
import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from boundlab.pages.plots import save_figure
from boundlab.sweep.drive import Folder
from boundlab.sweep.plan import SweepPlan
from boundlab.sweep.results import Swept, results, sweep

MEAN = """
id = "mean"
title = "The exact mean of one step inside the linear part of a Huber function"
status = "user"
algorithm = "gd"
metric = "gap"
assumptions = ["convex", "lipschitz", "bounded-variance"]
about = "the mean"
[step]
alpha = "alpha"
[terms]
mean = "F0 - alpha*K*B**2 + 0*sigma"
"""
_RESULTS = Path(__file__).parent / "results"


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _spent(who: int) -> float:
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def _memory(who: int) -> float:
    return resource.getrusage(who).ru_maxrss / 1024.0


def _timed(plan: Mapping[str, Any], folder: Path, jobs: int) -> Swept:
    """Run a sweep and print what it took."""
    before = _spent(resource.RUSAGE_SELF) + _spent(resource.RUSAGE_CHILDREN), time.perf_counter()
    found = sweep(plan, folder, jobs=jobs)
    wall = time.perf_counter() - before[1]
    parent = _spent(resource.RUSAGE_SELF)
    cpu = parent + _spent(resource.RUSAGE_CHILDREN) - before[0]
    asked = sum(row["cpu"] for row in found.rows())
    cells = found.plan.total()
    _say(found.line())
    _say(
        f"{cells} cells, {jobs} processes: {wall:.0f} s wall, {cpu:.0f} s CPU, {3600 * cells / wall:.0f} cells an hour"
    )
    over = (cpu - asked) / cells
    _say(f"a cell: {cpu / cells:.4f} s CPU, of which {asked / cells:.4f} s the question: {over:.4f} s over it")
    _say(f"memory: parent {_memory(resource.RUSAGE_SELF):.0f} MB, a worker {_memory(resource.RUSAGE_CHILDREN):.0f} MB")
    return found


def _mean(folder: Path, cells: int, jobs: int) -> None:
    file = folder / "mean.toml"
    file.write_text(MEAN, encoding="utf-8")
    plan = {
        "theorems": [str(file)],
        "problems": ["huber:c=[0],w=[1],x0=3,sigma={sigma}"],
        "set": {"alpha": [0.05, 0.1], "sigma": [0.5, 1]},
        "run": {"iterations": 1, "trials": 20, "seeds": list(range(cells // 4)), "rate": 0.5},
    }
    found = _timed(plan, folder / "mean", jobs)
    wrong, above = (_count(found, where) for where in ("verdict = 'violated'", "left > bound"))
    _say(f"{wrong} false alarms where at most 0.5 is the chance of any; {above} sample means are above the bound")


def _compare(folder: Path, cells: int, jobs: int) -> None:
    plan = {
        "theorems": ["area.theorem8"],
        "problems": ["huber:x0=3"],
        "delays": ["exponential"],
        "run": {"iterations": [10, 100], "trials": 40, "seeds": list(range(cells))},
    }
    _timed(plan, folder / "compare", jobs)


def _rows(folder: Path, cells: int, _jobs: int) -> None:
    side = round(cells**0.5)
    plan = {
        "theorems": ["area.theorem8"],
        "problems": ["huber:x0=3"],
        "set": {"M": f"1:{side}:lin:{side}", "B": f"1:{side}:lin:{side}"},
    }
    store = Folder.make(folder / "rows", plan)
    (cell,) = SweepPlan.of({**plan, "set": {"M": [1]}}).cells()
    from boundlab.sweep.plan import answer

    one = answer(cell)
    one.pop("case", None)
    with store.writing("1-of-1") as append:
        append(one | {"common": {}})
    store.note_cells(bytes.fromhex(one["key"]) + b"".join(place.to_bytes(32) for place in range(1, cells)))
    path = store.path / "lines" / "1-of-1.jsonl"
    with path.open("a", encoding="utf-8") as file:
        for place in range(1, cells):
            verdict = "violated" if place % 1000 == 0 else "consistent"
            row = {
                **one,
                "key": f"{place:064x}",
                "verdict": verdict,
                "settings": {"M": place % side + 1, "B": place // side + 1},
            }
            file.write(json.dumps(row) + "\n")
    start = time.perf_counter()
    found = results(store.path)
    _say(f"{cells} rows of {len(json.dumps(one))} bytes are read in {time.perf_counter() - start:.1f} s")
    for what, ask in _QUERIES.items():
        start = time.perf_counter()
        number = ask(found)
        _say(f"{what}: {number} in {time.perf_counter() - start:.2f} s")
    before = _memory(resource.RUSAGE_SELF)
    found.save_csv(folder / "rows.csv")
    _say(f"memory: {before:.0f} MB, and {_memory(resource.RUSAGE_SELF):.0f} MB when all are listed")


def _count(found: Swept, where: str) -> int:
    return sum(1 for _ in replace(found, where=where).rows())


_QUERIES: Mapping[str, Callable[[Swept], int]] = {
    "verdict = 'violated' AND M > 500": lambda found: _count(found, "verdict = 'violated' AND M > 500"),
    "ratio > 2": lambda found: _count(found, "ratio > 2"),
    "counts of the last table": lambda found: len(found.page()),
}


def _data(folder: Path, _cells: int, jobs: int) -> None:
    samples = "clients=8,samples=400,partition=dirichlet,a={a},batch=32"
    plan = {
        "theorems": ["area.theorem8.repaired"],
        "problems": [f"hinge:data={name},{samples}" for name in ("digits", "mnist", "a9a")],
        "delays": ["iid:p_s={p_s}"],
        "set": {"M": [1, 2, 5, 10], "p_s": [0.02, 0.05, 0.1, 0.2, 0.5], "a": [0.1, 1, 10]},
        "run": {"iterations": [20, 50, 100, 200], "trials": 20},
    }
    found = _timed(plan, folder / "data", jobs)
    save_figure(found.heat("M", "p_s"), _RESULTS / "sweep-data-heat.png")
    some = results(folder / "data", "M = 5 AND p_s = 0.1")
    save_figure(some.curves(), _RESULTS / "sweep-data-curves.png")


_KINDS: Mapping[str, tuple[Callable[[Path, int, int], None], int]] = {
    "mean": (_mean, 10_000),
    "compare": (_compare, 1_000),
    "rows": (_rows, 200_000),
    "data": (_data, 0),
}


def main() -> None:
    """Read the command line."""
    read = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    read.add_argument("kind", choices=_KINDS)
    read.add_argument("--cells", type=int, help="how many cells or rows")
    read.add_argument("--jobs", type=int, default=2)
    read.add_argument("--out", type=Path, help="where the folder of the sweep stays; default: it is deleted")
    given = read.parse_args()
    run, cells = _KINDS[given.kind]
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.out or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        run(folder, given.cells or cells, given.jobs)


if __name__ == "__main__":
    main()
