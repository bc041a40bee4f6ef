"""Runs the tests against one planted error after the other, each in a process of its own, in a copy of the tree."""

import importlib
import math
import os
import resource
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, final

from benchmarks.mutation.edits import Mutant

Outcome = Literal["killed", "timed out", "survived", "no test"]
# What tests import and no error is planted in: loaded once, inherited by every process.
_HEAVY = (
    "pytest",
    "numpy",
    "scipy.stats",
    "scipy.optimize",
    "sympy",
    "typer",
    "rich.table",
    "flint",
)
_NO_TESTS = 5
_ASLEEP = 50.0
_FIRST = 25  # most errors are noticed by few tests; the others are collected only where these pass


@final
@dataclass(frozen=True, slots=True)
class Result:
    """What became of a planted error, by how many tests, and in how many seconds."""

    mutant: str
    outcome: Outcome
    tests: int
    seconds: float
    first: str = ""


def copy_tree(root: Path, to: Path) -> None:
    """Copy the repository and lay boundlab out as it is installed."""
    ignore = shutil.ignore_patterns(".*", "__pycache__", "build", "*.egg-info", "demo")
    shutil.copytree(root, to, ignore=ignore, symlinks=True)
    for name in ("problems", "proofs"):
        if (to / name).exists():
            (to / "boundlab" / name).symlink_to(Path("..") / name)


def preload() -> None:
    """Import what all tests need, and nothing of boundlab."""
    for name in _HEAVY:
        importlib.import_module(name)


def judge(tree: Path, mutant: Mutant, tests: Sequence[str], limit: float) -> Result:
    """Plant an error in a copy of the tree, run tests until one fails, and take the error out again.

    Parameters
    ----------
    limit
        Processor seconds after which they are ended: an endless loop is noticed, however busy the machine is.
    """
    if not tests:
        return Result(mutant.id, "no test", 0, 0.0)
    path = tree / mutant.file
    good, status = path.read_bytes(), path.stat()
    start = time.perf_counter()
    log = tree / "mutation.log"
    try:
        path.write_bytes(mutant.applied(good))
        _forget(path)
        code = _in_a_child(tree, tests[:_FIRST], limit, log)
        if code == 0 and tests[_FIRST:]:
            code = _in_a_child(tree, tests[_FIRST:], limit, log)
    finally:
        path.write_bytes(good)
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        _forget(path)
    taken = round(time.perf_counter() - start, 2)
    if code is None:
        return Result(mutant.id, "timed out", len(tests), taken)
    outcome: Outcome = "survived" if code == 0 else "no test" if code == _NO_TESTS else "killed"
    return Result(mutant.id, outcome, len(tests), taken, _failed(log) if outcome == "killed" else "")


def _forget(path: Path) -> None:
    """Remove the compiled form: two edits within one second have the same time stamp, and often the same size."""
    for compiled in path.parent.glob(f"__pycache__/{path.stem}.*.pyc"):
        compiled.unlink(missing_ok=True)


def _in_a_child(tree: Path, tests: Sequence[str], limit: float, log: Path) -> int | None:
    """Return the exit code of pytest, or None if it was killed."""
    child = os.fork()
    if child == 0:
        code = 3
        try:
            os.setsid()
            resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(limit), math.ceil(limit) + 5))
            code = _pytest(tree, tests, log)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    asleep = time.monotonic() + _ASLEEP * limit  # what waits for ever takes no processor time
    while time.monotonic() < asleep:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
            return None if code < 0 else code
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def _pytest(tree: Path, tests: Sequence[str], log: Path) -> int:
    import pytest

    class InOrder:
        """The quick tests first, whatever file they are in."""

        def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
            place = {test: number for number, test in enumerate(tests)}
            items.sort(key=lambda item: place.get(item.nodeid, len(place)))

    out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream in (1, 2):
        os.dup2(out, stream)
    os.chdir(tree)
    os.environ |= {"PYTHONPATH": str(tree), "HYPOTHESIS_STORAGE_DIRECTORY": str(tree / ".hypothesis")}
    sys.path[:] = [str(tree), *(one for one in sys.path if one not in ("", str(Path(__file__).parents[2])))]
    for name in [name for name in sys.modules if name.split(".")[0] in ("benchmarks", "boundlab")]:
        del sys.modules[name]
    return int(
        pytest.main(["-x", "-q", "--no-header", "-p", "no:xdist", "-p", "no:cacheprovider", *tests], [InOrder()])
    )


def _failed(log: Path) -> str:
    """Return the first test that failed, or what else ended the run."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return next(
        (line[:300] for line in lines if line.startswith(("FAILED", "ERROR"))), lines[-1][:300] if lines else ""
    )
