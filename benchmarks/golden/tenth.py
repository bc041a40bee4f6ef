"""The tenth of the questions that ``make test`` asks: cheap ones in which everything occurs three times at least."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from benchmarks.golden.lines import Line

SECONDS = 31.0  # of a processor, all together, as recorded: by themselves, in a process that begins anew, twice that
TIMES = 3  # that each judge, engine, algorithm and family is there, and each line of code is run, where it is at all
SHARP = 6  # that a line is run which computes: one answer sees half of the numbers that are wrong
LONGEST = 2.0  # seconds of one question that is not needed for that
START = 0.02  # seconds that a question costs at least


def with_tenth(lines: Sequence[Line], run: Mapping[str, Sequence[int]], sharp: Sequence[int]) -> list[Line]:
    """Mark a tenth: what makes everything occur, cheapest first; each theorem; then what runs most that was run least.

    Parameters
    ----------
    run
        The lines of code that each question runs, by their numbers: see :meth:`benchmarks.golden.reach.Reach.lines`.
    sharp
        The lines that compute.
    """
    seen: Counter[str] = Counter()
    chosen: set[str] = set()
    for line in sorted(lines, key=lambda one: (one.seconds, one.id)):
        if line.kind != "notebook" and any(seen[tag] < TIMES for tag in line.tags):
            chosen.add(line.id)
            seen.update(line.tags)
    chosen |= {line.id for line in _statements(lines)}
    spent = sum(line.seconds for line in lines if line.id in chosen)
    cheap = [line for line in lines if line.kind != "notebook" and line.seconds <= LONGEST and line.id in run]
    table = np.zeros((len(cheap), 1 + max((max(own, default=0) for own in run.values()), default=0)), dtype=np.float32)
    for row, line in enumerate(cheap):
        table[row, run[line.id]] = 1.0
    need = np.full(table.shape[1], float(TIMES), dtype=np.float32)
    need[[number for number in sharp if number < len(need)]] = SHARP
    for row, line in enumerate(cheap):
        if line.id in chosen:
            need = np.maximum(need - table[row], 0.0)
    cost = np.array([line.seconds + START for line in cheap])
    while 10 * (len(chosen) + 1) <= len(lines) and spent < SECONDS:
        gain = (table @ need) / cost
        gain[[row for row, line in enumerate(cheap) if line.id in chosen or spent + line.seconds > SECONDS]] = -1.0
        best = int(np.argmax(gain))
        if gain[best] < 0.0:
            break
        chosen.add(cheap[best].id)
        spent += cheap[best].seconds
        need = np.maximum(need - table[best], 0.0)
    return [replace(line, tenth=line.id in chosen) for line in lines]


def _statements(lines: Sequence[Line]) -> list[Line]:
    """Return one evaluation of each theorem, at values that no instance gives where there is one, the cheapest.

    Which formula is read no line of code tells.
    """
    found: dict[str, Line] = {}
    for line in sorted(lines, key=lambda one: (one.kind == "eval", one.seconds, one.id)):
        if line.kind in ("eval", "elsewhere") and line.answer.get("answer") is not None:
            found.setdefault(line.words[1], line)
    return list(found.values())
