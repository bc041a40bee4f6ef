"""Plant errors and say which ones the suite notices.

.venv/bin/python -m benchmarks.mutation                   # record, plant 300, show the score; 1 if it is below 95 %
.venv/bin/python -m benchmarks.mutation --mutants 30 --only boundlab/checks
"""

import argparse
import json
import multiprocessing
import os
import queue
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from benchmarks.mutation import report
from benchmarks.mutation.edits import Mutant, mutants, sample
from benchmarks.mutation.rooms import GUARDED, GUARDS, modules, room
from benchmarks.mutation.run import Result, copy_tree, judge, preload
from benchmarks.mutation.tests_of import Records

ROOT = Path(__file__).parents[2]


def arguments(words: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutation", description=__doc__)
    parser.add_argument("--mutants", type=int, default=300, help="how many errors are planted (default 300)")
    parser.add_argument("--seed", type=int, default=0, help="which ones (default 0)")
    parser.add_argument("--only", action="append", help="a folder or module instead of all guarded ones; repeatable")
    parser.add_argument("--records", type=Path, help="folder of the record, written where there is none yet")
    parser.add_argument("--results", type=Path, help="JSON lines, one an error; what is in it is not repeated")
    parser.add_argument("--budget", type=float, default=60.0, help="processor seconds of tests an error (default 60)")
    parser.add_argument("--jobs", type=int, default=2, help="how many at a time (default 2)")
    parser.add_argument("--out", type=Path, help="file of the table (default: shown only)")
    return parser.parse_args(words)


def planted(only: Sequence[str] | None, wanted: int, seed: int) -> list[Mutant]:
    """Return the sample of all errors that can be planted in the guarded modules."""
    everything = [one for name in modules(ROOT, only or GUARDED) for one in mutants(ROOT, name)]
    return sample(everything, wanted, seed)


def recorded(only: Sequence[str] | None) -> list[list[str]]:
    """Return the tests that are run together to record them: one folder at a time, and what lies beside the folders.

    Where some rooms are asked for only, these are the tests that guard them.
    """
    if only:
        return [[test] for test in sorted({test for place in only for test in GUARDS.get(room(place), ())})]
    tests = ROOT / "tests"
    folders = sorted(path for path in tests.iterdir() if path.is_dir() and any(path.glob("test_*.py")))
    parts = [*([path] for path in folders), sorted(tests.glob("test_*.py"))]
    return [[str(path.relative_to(ROOT)) for path in part] for part in parts]


def record(trees: Sequence[Path], folder: Path, only: Sequence[str] | None) -> None:
    """Run the suite once, a part in each tree at a time, and write which tests run which lines."""
    folder.mkdir(parents=True, exist_ok=True)
    free: queue.SimpleQueue[Path] = queue.SimpleQueue()
    for tree in trees:
        free.put(tree)

    def one(name: str, paths: Sequence[str]) -> None:
        tree = free.get()
        env = {**os.environ, "PYTHONPATH": str(tree), "MUTATION_RECORD": str(folder / f"{name}.json")}
        command = [sys.executable, "-m", "pytest", "-q", "-p", "benchmarks.mutation.recorder", "-p", "no:xdist"]
        subprocess.run([*command, *paths], cwd=tree, env=env, check=False, stdout=sys.stderr)
        free.put(tree)

    with ThreadPoolExecutor(len(trees)) as pool:
        list(pool.map(one, *zip(*((str(number), paths) for number, paths in enumerate(recorded(only))), strict=True)))


def main(words: Sequence[str] | None = None) -> int:
    """Plant errors; 0 if enough of them are noticed, else 1."""
    asked = arguments(words)
    os.environ |= dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    with tempfile.TemporaryDirectory(prefix="mutation-") as scratch:
        trees = [Path(scratch).resolve() / f"tree{number}" for number in range(asked.jobs)]
        for tree in trees:
            copy_tree(ROOT, tree)
        folder = asked.records or Path(scratch) / "records"
        if not any(folder.glob("*.json")):
            record(trees, folder, asked.only)
        records = Records.read(sorted(folder.glob("*.json")))
        chosen = planted(asked.only, asked.mutants, asked.seed)
        done = report.read(asked.results)
        left = [mutant for mutant in chosen if mutant.id not in done]
        preload()
        _control(trees[0], left, records, asked.budget)
        for number, found in enumerate(_judged(trees, left, records, asked.budget)):
            done[found.mutant] = found
            sys.stderr.write(f"{number + 1}/{len(left)} {found.outcome} {found.mutant}\n")
            if asked.results is not None:
                with asked.results.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(asdict(found), ensure_ascii=False) + "\n")
    table = report.table([done[mutant.id] for mutant in chosen], asked.seed)
    if asked.out:
        asked.out.write_text(table.text, encoding="utf-8")
    sys.stdout.write(table.text)
    return 0 if table.enough else 1


def _control(tree: Path, chosen: Sequence[Mutant], records: Records, budget: float) -> None:
    """Refuse to score by tests that fail although nothing was planted."""
    for mutant in chosen[:1]:
        source = (tree / mutant.file).read_bytes()
        nothing = replace(mutant, after=source[mutant.start : mutant.end].decode())
        found = judge(tree, nothing, records.guards(mutant, budget), _limit(budget))
        if found.outcome != "survived":
            raise SystemExit(f"with no error planted the suite gives: {found.outcome}, {found.first}")


def _limit(seconds: float) -> float:
    return 3.0 * seconds + 30.0


_mine: list[Path] = []  # the tree of this worker process


def _judged(trees: Sequence[Path], chosen: Sequence[Mutant], records: Records, budget: float) -> Any:
    """Give results in the order in which they come, one worker process a tree."""
    fork = multiprocessing.get_context("fork")  # the workers inherit what is loaded
    free = fork.Queue()
    for tree in trees:
        free.put(tree)
    tasks = []
    for mutant in chosen:
        tests = records.guards(mutant, budget)
        tasks.append((mutant, tests, _limit(sum(records.seconds[test] for test in tests))))
    with fork.Pool(len(trees), initializer=lambda: _mine.append(free.get())) as pool:
        yield from pool.imap_unordered(_one, tasks)


def _one(task: tuple[Mutant, list[str], float]) -> Result:
    mutant, tests, limit = task
    return judge(_mine[0], mutant, tests, limit)


if __name__ == "__main__":
    sys.exit(main())
