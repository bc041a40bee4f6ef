"""How many of 50 planted errors would the recorded answers notice? ``python -m benchmarks.golden.planted``.

One error at a time, as ``benchmarks.mutation`` plants them, in a copy of the tree: first the tenth is asked, until an
answer differs; where none does, all are.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.mutation.edits import mutants, sample
from benchmarks.mutation.report import judged
from benchmarks.mutation.rooms import modules
from benchmarks.mutation.run import copy_tree

ROOT = Path(__file__).parents[2]
LIMIT = 3600.0  # seconds: an endless loop is noticed


def noticed(tree: Path, *more: str) -> str:
    """Return the first question whose answer differs in a tree, '' if none does."""
    command = [sys.executable, "-m", "benchmarks.golden", "check", "--first", "--jobs", "1", *more]
    try:
        done = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return "no end"
    if done.returncode == 0:
        return ""
    return (done.stdout.splitlines() or done.stderr.splitlines()[-1:] or ["it does not start"])[0]


def main() -> None:
    """Plant errors one by one, and print a line each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tenth", action="store_true", help="ask the tenth alone")
    given = parser.parse_args()
    equivalent = {name for name, (kind, _) in judged().items() if kind == "equivalent"}
    everything = [one for file in modules(ROOT) for one in mutants(ROOT, file) if one.id not in equivalent]
    by_tenth = by_all = 0
    with tempfile.TemporaryDirectory(prefix="planted") as folder:
        tree = Path(folder) / "tree"
        copy_tree(ROOT, tree)
        for one in sample(everything, given.count, given.seed):
            path, start = tree / one.file, time.perf_counter()
            good = path.read_bytes()
            path.write_bytes(one.applied(good))
            first = noticed(tree, "--tenth")
            by_tenth += bool(first)
            if not first and not given.tenth:
                first = noticed(tree)
            by_all += bool(first)
            path.write_bytes(good)
            sys.stdout.write(f"{one.id}: {first or 'not noticed'} ({time.perf_counter() - start:.0f} s)\n")
            sys.stdout.flush()
    sys.stdout.write(f"{given.count} planted errors: the tenth notices {by_tenth}, all notice {by_all}\n")


if __name__ == "__main__":
    main()
