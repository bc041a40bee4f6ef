"""Which tests guard a line: those that run it, the room's own first, the quick before the slow."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self, final

from benchmarks.mutation.edits import Mutant
from benchmarks.mutation.rooms import GUARDS, room


@final
@dataclass(frozen=True)
class Records:
    """What :mod:`benchmarks.mutation.recorder` wrote, of several sessions.

    Parameters
    ----------
    seconds
        How long each test takes.
    lines
        Module → line → the tests that run it.
    """

    seconds: dict[str, float]
    lines: dict[str, dict[int, frozenset[str]]]

    @classmethod
    def read(cls, files: Iterable[Path]) -> Self:
        """Read and merge records."""
        seconds: dict[str, float] = {}
        lines: dict[str, dict[int, frozenset[str]]] = {}
        for file in files:
            record: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
            names = list(record["seconds"])
            seconds |= record["seconds"]
            for module, own in record["lines"].items():
                known = lines.setdefault(module, {})
                for line, places in own.items():
                    tests = frozenset(names[place] for place in places)
                    known[int(line)] = known.get(int(line), frozenset()) | tests
        return cls(seconds, lines)

    @cached_property
    def _by_module(self) -> dict[str, frozenset[str]]:
        return {module: frozenset().union(*own.values()) for module, own in self.lines.items()}

    def guards(self, mutant: Mutant, budget: float) -> list[str]:
        """Return the tests to run, in their order; together they took at most ``budget`` seconds.

        What runs when a module is imported belongs to no test: there, all that run any line of the module are asked.
        What tests share, and compute once, is put down to the first that asks for it: the room's other tests come last.
        """
        first, last = mutant.lines
        module = self.lines.get(mutant.file, {})
        found = frozenset().union(*(module.get(line, frozenset()) for line in range(first, last + 1)))
        if mutant.at_import or not found:
            found = self._by_module.get(mutant.file, frozenset())
        home = GUARDS.get(room(mutant.file), ())
        own = {test for test in self.seconds if test.startswith(home)}
        stem = Path(mutant.file).stem.strip("_")

        def rank(test: str) -> tuple[bool, bool, bool, float]:
            named = stem in test.split("::")[0]
            return test not in found, test not in own, not named, self.seconds[test]

        chosen, spent = [], 0.0
        for test in sorted(found | own, key=rank):
            spent += self.seconds[test]
            if spent > budget and chosen:
                break
            chosen.append(test)
        return chosen
