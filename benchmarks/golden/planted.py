"""How many of 50 planted errors would the recorded answers notice? ``python -m benchmarks.golden.planted``.

One error at a time, as ``benchmarks.mutation`` plants them, in a copy of the tree: a systematic sample of all those in
statements that some recorded question runs (``python -m benchmarks.golden check --reach`` keeps which), without those
about how floats round, which answers to nine digits do not show. Asked are the questions that run the statement, those
of the tenth first, until an answer differs. Questions of more than ten seconds are left out: what all would notice is
at least what is said here.
"""

import argparse
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue

from benchmarks.golden.lines import Line, read
from benchmarks.golden.reach import LONGEST, Reach
from benchmarks.mutation.edits import Mutant, mutants, sample
from benchmarks.mutation.report import judged
from benchmarks.mutation.rooms import modules
from benchmarks.mutation.run import copy_tree

ROOT = Path(__file__).parents[2]
_ROUNDING = re.compile(r"EPS|_ULP|nextafter|round|_UP\b|\bUP\b|1e-1\d|np\.inf")
SLOWER = 5.0  # than recorded: an endless loop is noticed


def noticed(tree: Path, lines: Sequence[Line]) -> str:
    """Return the first of some questions whose answer differs in a tree, '' if none does."""
    if not lines:
        return ""
    asked = tree / "asked.txt"
    asked.write_text("\n".join(one.id for one in lines), encoding="utf-8")
    limit = 120.0 + SLOWER * sum(one.seconds for one in lines)
    command = [sys.executable, "-m", "benchmarks.golden", "check", "--first", "--jobs", "1", "--ids", str(asked)]
    try:
        done = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False, timeout=limit)
    except subprocess.TimeoutExpired:
        return "no end"
    if done.returncode == 0:
        return ""
    return (done.stdout.splitlines() or done.stderr.splitlines()[-1:] or ["it does not start"])[0]


def plant(tree: Path, one: Mutant, reaching: Sequence[Line]) -> tuple[str, str]:
    """Return who notices an error (``the tenth``, ``all``, ``none``), and by which question."""
    path = tree / one.file
    good = path.read_bytes()
    path.write_bytes(one.applied(good))
    try:
        for who in ("the tenth", "all"):
            if first := noticed(tree, [line for line in reaching if line.tenth is (who == "the tenth")]):
                return who, first
        return "none", f"{len(reaching)} questions run it" if reaching else "no question runs it"
    finally:
        path.write_bytes(good)


def results(chosen: list[Mutant], reach: Reach, jobs: int) -> Iterator[tuple[Mutant, str, str, float]]:
    """Plant errors one by one in each of several copies of the tree."""
    lines = [line for line in read() if line.seconds <= LONGEST and line.kind != "notebook"]
    found = [reach.questions(one) for one in chosen]
    reaching = [[line for line in lines if ids is None or line.id in ids] for ids in found]
    with tempfile.TemporaryDirectory(prefix="planted") as folder, ThreadPoolExecutor(jobs) as pool:
        free: Queue[Path] = Queue()
        for number in range(jobs):
            copy_tree(ROOT, Path(folder) / str(number))
            free.put(Path(folder) / str(number))

        def one_of(error: Mutant, asked: Sequence[Line]) -> tuple[Mutant, str, str, float]:
            start, tree = time.perf_counter(), free.get()
            try:
                return error, *plant(tree, error, asked), time.perf_counter() - start
            finally:
                free.put(tree)

        yield from pool.map(one_of, chosen, reaching)


def _of_rounding(one: Mutant) -> bool:
    first, last = one.lines
    statement = (ROOT / one.file).read_text(encoding="utf-8").splitlines()[first - 1 : last]
    return _ROUNDING.search("\n".join(statement)) is not None


def main() -> None:
    """Plant errors, and print a line each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    equivalent = {name for name, (kind, _) in judged().items() if kind == "equivalent"}
    every = [one for file in modules(ROOT) for one in mutants(ROOT, file) if one.id not in equivalent]
    reach, found = Reach.read(), []
    run = [one for one in every if reach.questions(one) != set() and not _of_rounding(one)]
    sys.stdout.write(f"{len(every)} errors, {len(run)} of them in what questions run\n")
    for error, who, first, seconds in results(sample(run, given.count, given.seed), reach, given.jobs):
        found.append(who)
        sys.stdout.write(f"{error.id}\n    noticed by {who}: {first} ({seconds:.0f} s)\n")
        sys.stdout.flush()
    by_tenth = found.count("the tenth")
    sys.stdout.write(
        f"{len(found)} planted errors: the tenth notices {by_tenth}, all {len(found) - found.count('none')}\n"
    )


if __name__ == "__main__":
    main()
