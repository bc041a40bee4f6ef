"""How many of 50 planted errors would the recorded answers notice? ``python -m benchmarks.golden.planted``.

One error at a time, as ``benchmarks.mutation`` plants them, in a copy of the tree, drawn with a seed: the wrong
numbers (another operator or sign, a term or factor left out, a constant that is larger, the other of two ends) in
statements of the rooms that compute, where some recorded question runs them (``python -m benchmarks.golden check
--reach`` keeps which). How floats round is left out (answers to nine digits do not show it), and so are limits and what
harmless.toml names: where a survivor was looked at and changes no answer. Asked are the questions
that run the statement, those of the tenth first, until an answer differs, and of the others no more than 90 seconds of
a processor, each kind for about the same time: what all would notice is at least what is said here. Where a statement
runs at import, those about a theorem that its module names come first.
"""

import argparse
import ast
import random
import re
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue

from benchmarks.golden.lines import Line, read, shuffled
from benchmarks.golden.reach import COMPUTE, LONGEST, Reach
from benchmarks.golden.tenth import START
from benchmarks.mutation.edits import Mutant, mutants
from benchmarks.mutation.report import judged
from benchmarks.mutation.rooms import modules, room
from benchmarks.mutation.run import copy_tree

ROOT = Path(__file__).parents[2]
_ROUNDING = re.compile(r"EPS|_ULP|nextafter|round|clip_up|_UP\b|\bUP\b|1e-1\d|np\.inf")
_LIMITS = re.compile(r"_MOST\b|_LONGEST\b|_LARGEST\b|_BITS\b|^\s*raise\b")  # when to refuse, and with which words
HARMLESS = Path(__file__).with_name("harmless.toml")
SECONDS = 90.0  # of questions that are asked of an error
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


def _few(lines: Sequence[Line], seconds: float, module: str = "") -> list[Line]:
    """Return questions that take no longer than a limit: first about what a module names, each kind in turn."""
    kinds: dict[tuple[bool, str], list[Line]] = {}
    for line in shuffled(lines):
        kinds.setdefault((not any(f'"{word}"' in module for word in line.words[1:2]), line.kind), []).append(line)
    found, spent, of = list[Line](), 0.0, dict.fromkeys(kinds, 0.0)
    while kinds:
        kind = min(kinds, key=lambda one: (one[0], of[one]))
        line = kinds[kind].pop()
        of[kind] += line.seconds + START
        if spent + line.seconds <= seconds:
            spent += line.seconds
            found.append(line)
        if not kinds[kind]:
            del kinds[kind]
    return found


def plant(tree: Path, one: Mutant, reaching: Sequence[Line], seconds: float) -> tuple[str, str]:
    """Return who notices an error (``the tenth``, ``all``, ``none``), and by which question."""
    path = tree / one.file
    good = path.read_bytes()
    path.write_bytes(one.applied(good))
    try:
        for who in ("the tenth", "all"):
            asked = [line for line in reaching if line.tenth is (who == "the tenth")]
            if first := noticed(tree, _few(asked, seconds, good.decode() if one.at_import else "")):
                return who, first
        return "none", f"{len(reaching)} questions run it" if reaching else "no question runs it"
    finally:
        path.write_bytes(good)


def results(chosen: list[Mutant], reach: Reach, jobs: int, seconds: float) -> Iterator[tuple[Mutant, str, str, float]]:
    """Plant errors one by one in each of several copies of the tree."""
    lines = [line for line in read() if line.seconds <= LONGEST and line.kind != "notebook"]
    found = [reach.questions(one) for one in chosen]
    # What is read at import, such as the formulas of theorems, no line of code tells.
    data = {line.id for line in lines if line.tenth or line.kind in ("eval", "elsewhere")}
    wanted = [ids and (ids | data if one.at_import else ids) for one, ids in zip(chosen, found, strict=True)]
    reaching = [[line for line in lines if ids is None or line.id in ids] for ids in wanted]
    with tempfile.TemporaryDirectory(prefix="planted") as folder, ThreadPoolExecutor(jobs) as pool:
        free: Queue[Path] = Queue()
        for number in range(jobs):
            copy_tree(ROOT, Path(folder) / str(number))
            free.put(Path(folder) / str(number))
        if first := noticed(Path(folder) / "0", [line for line in lines if line.tenth]):
            raise SystemExit(f"without any error an answer differs: {first}")

        def one_of(error: Mutant, asked: Sequence[Line]) -> tuple[Mutant, str, str, float]:
            start, tree = time.perf_counter(), free.get()
            try:
                return error, *plant(tree, error, asked, seconds), time.perf_counter() - start
            finally:
                free.put(tree)

        yield from pool.map(one_of, chosen, reaching)


def _wrong_number(one: Mutant) -> bool:
    """Return whether another number is computed, and not only its last digits."""
    if one.after == "pass":  # a statement that is left out
        return False
    first, last = one.lines
    statement = "\n".join((ROOT / one.file).read_text(encoding="utf-8").splitlines()[first - 1 : last])
    try:
        node = ast.parse(one.before, mode="eval").body
    except SyntaxError:
        return False
    number = isinstance(node, ast.Constant) and type(node.value) in (int, float)
    sign = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
    if _ROUNDING.search(statement) or _LIMITS.search(statement) or one.before.startswith(("any(", "all(")):
        return False
    return number or sign or isinstance(node, (ast.BinOp, ast.Call))


def main() -> None:
    """Plant errors, and print a line each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of questions that are asked of an error")
    parser.add_argument("--only", type=Path, help="a file with the errors to plant, one a line, as they are printed")
    given = parser.parse_args()
    harmless = [one["where"] for one in tomllib.loads(HARMLESS.read_text(encoding="utf-8"))["harmless"]]
    harmless += [name for name, (kind, _) in judged().items() if kind == "equivalent"]
    files = [file for file in modules(ROOT) if room(file) in COMPUTE]
    reach, found = Reach.read(), []
    every = [one for file in files for one in mutants(ROOT, file) if _wrong_number(one)]
    run = [one for one in every if reach.questions(one) != set()]  # those found harmless leave the draw later
    sys.stdout.write(f"{len(every)} wrong numbers, {len(run)} of them in what questions run\n")
    chosen = random.Random(given.seed).sample(run, len(run))  # noqa: S311  (no secret)
    chosen = [one for one in chosen if not one.id.startswith(tuple(harmless))][: given.count]
    if given.only is not None:
        names = given.only.read_text(encoding="utf-8").splitlines()
        chosen = [one for one in run if one.id in names]
    for error, who, first, seconds in results(chosen, reach, given.jobs, given.seconds):
        found.append(who)
        sys.stdout.write(f"{error.id}\n    noticed by {who}: {first} ({seconds:.0f} s)\n")
        sys.stdout.flush()
    by_tenth = found.count("the tenth")
    sys.stdout.write(
        f"{len(found)} planted errors: the tenth notices {by_tenth}, all {len(found) - found.count('none')}\n"
    )


if __name__ == "__main__":
    main()
