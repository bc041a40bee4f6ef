"""Which recorded questions run which line: ``python -m benchmarks.golden check --reach``, then ``Reach.read()``.

Coverage.py's dynamic contexts are the questions' own ids, as they are the tests' in ``benchmarks.mutation``. What is
imported is imported first: otherwise it would be put down to the first question that needs it.
"""

import importlib
import os
import shutil
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from pkgutil import walk_packages

import coverage

from benchmarks.golden.ask import ask
from benchmarks.golden.lines import FOLDER, Line
from benchmarks.mutation.edits import Mutant
from benchmarks.mutation.rooms import room

ROOT = FOLDER.parents[1]
KEPT = ROOT / "build" / "golden-reach"
ROOMS = ("boundlab", "problems", "proofs")
COMPUTE = frozenset(
    (
        "algorithms",
        "arithmetic",
        "compare",
        "delays",
        "exact",
        "execute",
        "expectation",
        "formulas",
        "instance",
        "metrics",
        "objective",
        "problems",
        "server_rate",
        "simulate",
        "tape",
        "theorems",
        "traces",
        "worst_case",
    )
)  # fmt: skip  (the rooms whose numbers are answers)
LONGEST = 10.0  # seconds: what takes longer is asked of a planted error in vain too often


@dataclass(frozen=True)
class Reach:
    """The records of all parts."""

    parts: tuple[coverage.CoverageData, ...]
    _read: dict[str, dict[int, set[str]]] = field(default_factory=dict)

    @classmethod
    def read(cls) -> "Reach":
        """Return what was recorded."""
        found = []
        for file in sorted(KEPT.glob("part-*")):
            found.append(coverage.CoverageData(str(file)))
            found[-1].read()
        if not found:
            raise SystemExit("no record of what the questions run: python -m benchmarks.golden check --reach")
        return cls(tuple(found))

    @cached_property
    def _files(self) -> dict[str, list[tuple[coverage.CoverageData, str]]]:
        found: dict[str, list[tuple[coverage.CoverageData, str]]] = {}
        for data in self.parts:
            for file in data.measured_files():
                found.setdefault(str(Path(file).resolve().relative_to(ROOT)), []).append((data, file))
        return found

    def questions(self, mutant: Mutant) -> set[str] | None:
        """Return the questions that run the statement.

        Where it runs at import, those that run any of its module; None where that is data alone: any may need it.
        """
        first, last = mutant.lines
        found: set[str] = set()
        for line, names in self._of(mutant.file).items():
            if mutant.at_import or first <= line <= last:
                found.update(names)
        return None if mutant.at_import and not found - {""} else found - {""}

    def _of(self, name: str) -> dict[int, set[str]]:
        """Return the questions of each line of a module; of one at a time, for there are many."""
        if name not in self._read:
            self._read.clear()
            found = self._read.setdefault(name, {})
            for data, file in self._files.get(name, ()):
                for line, names in data.contexts_by_lineno(file).items():
                    found.setdefault(line, set()).update(names)
        return self._read[name]

    def lines(self, rooms: Collection[str]) -> tuple[dict[str, list[int]], list[int]]:
        """Return which lines each question runs, by numbers of their own, and the numbers of those in some rooms."""
        found: dict[str, list[int]] = {}
        inside, number = list[int](), 0
        for file in self._files:
            for names in self._of(file).values():
                for name in names - {""}:
                    found.setdefault(name, []).append(number)
                if room(file) in rooms:
                    inside.append(number)
                number += 1
        return found, inside


def forget() -> None:
    """Take away what was recorded before."""
    shutil.rmtree(KEPT, ignore_errors=True)


def asked(line: Line) -> Line:
    """Answer a question and, where it takes a short time, keep which lines it runs."""
    if line.seconds > LONGEST or line.kind == "notebook":
        return ask(line)
    measured = _measured()
    measured.start()
    measured.switch_context(line.id)
    try:
        return ask(line)
    finally:
        measured.switch_context("")
        measured.stop()


@cache
def _measured() -> coverage.Coverage:
    KEPT.mkdir(parents=True, exist_ok=True)
    if hasattr(os, "sched_setaffinity"):  # on one core nothing is handed to other processes, which nobody measures
        own = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {own[os.getpid() % len(own)]})
    file = KEPT / f"part-{os.getpid()}"
    found = coverage.Coverage(data_file=str(file), source=[str(ROOT / one) for one in ROOMS], config_file=False)
    found.start()
    for module in walk_packages(importlib.import_module("boundlab").__path__, "boundlab."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    found.stop()
    return found
