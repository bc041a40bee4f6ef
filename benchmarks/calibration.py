"""How often verdicts on samples are wrong, and how often they find out: the table of docs/verdicts.md.

python benchmarks/calibration.py                    # writes calibration.json here, and the table into docs/verdicts.md
python benchmarks/calibration.py --experiments 100  # a quick look, printed only

Each experiment draws trials from a law of mean 1 and judges them as `boundlab compare` does. A bound 5 % too low is
false; a bound of 1 is true. Laws with a largest value are judged with it, the others have no range.
"""

import argparse
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from scipy.special import betaincinv, ndtri

from boundlab.compare import band
from boundlab.compare.judge import guarantee, side
from boundlab.files import replacing, write_json
from boundlab.instance.applicability import MetricEnclosure
from boundlab.metrics import Enclosure
from boundlab.randomness import Floats, Stream, Streams
from boundlab.verdict import Verdict

LEVEL = 0.95
PROMISED = (1.0 - LEVEL) / 2.0  # on each side
TRIALS = (2, 5, 10, 40, 100, 400)
TRUE, LOW, LOWER, LOWEST = 1.0, 0.95, 0.8, 0.5
EXPERIMENTS = 200
_POINTS = 20
_COUNTS = Path(__file__).parent / "calibration.json"
_PAGE = Path(__file__).parents[1] / "docs" / "verdicts.md"
_BEGIN, _END = "<!-- by benchmarks/calibration.py -->", "<!-- end -->"


@dataclass(frozen=True, slots=True)
class Law:
    """A law of mean 1: its quantile function, and its largest value."""

    words: str
    quantile: Callable[[Floats], Floats]
    largest: float = np.inf


LAWS: Mapping[str, Law] = {
    "exponential": Law("exponential", lambda u: -np.log1p(-u)),
    "lognormal1": Law("lognormal, log sd 1", lambda u: np.exp(ndtri(u) - 0.5)),
    "lognormal2": Law("lognormal, log sd 2", lambda u: np.exp(2.0 * ndtri(u) - 2.0)),
    "pareto": Law("Pareto, tail 2.5", lambda u: 0.6 * (1.0 - u) ** -0.4),
    "rare": Law("100 with probability 1 %, else 0", lambda u: 100.0 * (u < 0.01), 100.0),
    "skewed": Law("10·u⁹", lambda u: 10.0 * u**9, 10.0),
    "two": Law("0 or 2", lambda u: 2.0 * (u < 0.5), 2.0),
    "uniform": Law("uniform up to 2", lambda u: 2.0 * u, 2.0),
}


@dataclass(frozen=True, slots=True)
class Cell:
    """How many of the experiments ended how, for one law and number of trials.

    Parameters
    ----------
    holds, consistent
        With a bound 5 % too low: both are wrong.
    violated
        With the true bound: wrong.
    refuted
        ``violated`` with bounds 5, 20 and 50 % too low: right.
    joint
        ``violated`` with the true bound at 20 independent points: wrong.
    """

    law: str
    trials: int
    experiments: int
    holds: int
    consistent: int
    violated: int
    refuted: tuple[int, int, int]
    joint: int


def verdict(values: Floats, bound: float, largest: float, seed: int) -> Verdict:
    """Judge a sample, shape (trials, points), as a comparison does."""
    top = np.full(values.shape[1], bound)
    right = Enclosure(top, top, top)
    left = band(values, values, LEVEL, "bootstrap", seed)
    if np.isfinite(largest):
        known = MetricEnclosure(np.zeros(len(top)), np.full(len(top), largest), "")
        sure = side(guarantee(left, values, known, top), right)
        if sure is not Verdict.INCONCLUSIVE:
            return sure
    return side(left, right)


def cell(name: str, trials: int, experiments: int) -> Cell:
    """Run the experiments of one law and number of trials."""
    law = LAWS[name]
    counts = dict.fromkeys(("holds", "consistent", "violated", "joint"), 0)
    refuted = [0, 0, 0]
    for seed in range(experiments):
        u = Streams(seed).uniforms(Stream.START, sorted(LAWS).index(name), np.arange(trials), _POINTS)
        values = law.quantile(u)
        one = values[:, :1]
        low = verdict(one, LOW, law.largest, seed)
        counts["holds"] += low is Verdict.HOLDS
        counts["consistent"] += low is Verdict.CONSISTENT
        lower = band(one, one, LEVEL, "student", seed).lower[0]
        counts["violated"] += bool(lower > TRUE)
        for place, bound in enumerate((LOW, LOWER, LOWEST)):
            refuted[place] += bool(lower > bound)
        counts["joint"] += bool((band(values, values, LEVEL, "student", seed).lower > TRUE).any())
    return Cell(name, trials, experiments, refuted=(refuted[0], refuted[1], refuted[2]), **counts)


def interval(count: int, total: int, error: float = 0.05) -> tuple[float, float]:
    """Return the exact (Clopper–Pearson) confidence interval of a probability."""
    low = 0.0 if count == 0 else float(betaincinv(count, total - count + 1, error / 2.0))
    high = 1.0 if count == total else float(betaincinv(count + 1, total - count, 1.0 - error / 2.0))
    return low, high


def broken(one: Cell, error: float = 1e-3) -> list[str]:
    """Return the promises that a cell breaks beyond chance."""
    wrong = {"holds": one.holds, "violated": one.violated, "violated at one of 20 points": one.joint}
    return [
        f"{LAWS[one.law].words}, {one.trials} trials: false {what} {count}/{one.experiments}"
        for what, count in wrong.items()
        if interval(count, one.experiments, 2.0 * error)[0] > PROMISED
    ]


def tables(cells: list[Cell]) -> str:
    """Return the tables in Markdown."""
    parts = []
    for title, count in (
        (f"false `holds`, bound 5 % too low (promised: at most {PROMISED:.1%})", lambda one: one.holds),
        (f"false `violated`, bound true (promised: at most {PROMISED:.1%})", lambda one: one.violated),
        (f"false `violated` at one of 20 points (promised: at most {PROMISED:.1%})", lambda one: one.joint),
        ("`consistent` although the bound is 5 % too low (nothing is promised)", lambda one: one.consistent),
    ):
        parts.append(_table(title, cells, lambda one, count=count: _share(count(one), one.experiments)))  # type: ignore[misc]
    power = "refuted: bounds 5, 20, 50 % too low, in %"
    parts.append(_table(power, cells, lambda one: " / ".join(f"{100 * n / one.experiments:.0f}" for n in one.refuted)))
    return "\n".join(parts)


def _table(title: str, cells: list[Cell], show: Callable[[Cell], str]) -> str:
    lines = [f"| {title} | {' | '.join(f'{count} trials' for count in TRIALS)} |", "|---" * (len(TRIALS) + 1) + "|"]
    for name, law in LAWS.items():
        row = [show(one) for count in TRIALS for one in cells if (one.law, one.trials) == (name, count)]
        lines.append(f"| {law.words} | {' | '.join(row)} |")
    return "\n".join(lines) + "\n"


def _share(count: int, total: int) -> str:
    low, high = interval(count, total)
    return f"{100 * count / total:.1f} ({100 * low:.1f}–{100 * high:.1f}) %"


def save(cells: list[Cell]) -> None:
    """Write the counts, and the tables between the two marks of the page on verdicts."""
    write_json(_COUNTS, {"level": LEVEL, "cells": [asdict(one) for one in cells]})
    before, _, rest = _PAGE.read_text(encoding="utf-8").partition(_BEGIN)
    after = rest.partition(_END)[2]
    with replacing(_PAGE) as temporary:
        temporary.write_text(f"{before}{_BEGIN}\n{tables(cells)}{_END}{after}", encoding="utf-8")


def main() -> int:
    """Run all cells."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--experiments", type=int, help=f"for each cell (default {EXPERIMENTS}); nothing is written")
    chosen = parser.parse_args().experiments
    cells = [cell(name, trials, chosen or EXPERIMENTS) for name in LAWS for trials in TRIALS]
    text = tables(cells)
    sys.stdout.write(text)
    if chosen is None:
        save(cells)
    wrong = [words for one in cells for words in broken(one)]
    sys.stderr.write("".join(f"{words}\n" for words in wrong))
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
