"""How many of 50 planted errors would the recorded answers notice? ``python -m benchmarks.golden.planted``.

One error at a time, as ``benchmarks.mutation`` plants them, in a copy of the tree. Asked are the questions that run
the changed line, those of the tenth first, until an answer differs: ``python -m benchmarks.golden check --reach``
records which run it. Questions of more than ten seconds are left out: what all would notice is at least what is said
here.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue

from benchmarks.golden.lines import Line, read
from benchmarks.golden.reach import Reach
from benchmarks.mutation.edits import Mutant, mutants, sample
from benchmarks.mutation.report import judged
from benchmarks.mutation.rooms import modules
from benchmarks.mutation.run import copy_tree

ROOT = Path(__file__).parents[2]
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


def results(chosen: list[Mutant], jobs: int) -> Iterator[tuple[Mutant, str, str, float]]:
    """Plant errors one by one in each of several copies of the tree."""
    lines, reach = read(), Reach.read()
    reaching = [[line for line in lines if line.id in ids] for ids in map(reach.questions, chosen)]
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


def main() -> None:
    """Plant errors, and print a line each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    equivalent = {name for name, (kind, _) in judged().items() if kind == "equivalent"}
    everything = [one for file in modules(ROOT) for one in mutants(ROOT, file) if one.id not in equivalent]
    found = []
    for error, who, first, seconds in results(sample(everything, given.count, given.seed), given.jobs):
        found.append(who)
        sys.stdout.write(f"{error.id}\n    noticed by {who}: {first} ({seconds:.0f} s)\n")
        sys.stdout.flush()
    by_tenth = found.count("the tenth")
    sys.stdout.write(
        f"{len(found)} planted errors: the tenth notices {by_tenth}, all {len(found) - found.count('none')}\n"
    )


if __name__ == "__main__":
    main()
