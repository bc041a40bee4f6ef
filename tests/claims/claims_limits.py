"""Limits, defaults and rates that the pages name: those of the code."""

import inspect
import re
import tempfile
from fractions import Fraction
from functools import partial
from math import log2, log10, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_examples import LAW
from page_numbers import CLAIMS, ROOT, Claim, claim

import boundlab as bl
from boundlab import files, options, signs, traces
from boundlab.arithmetic import recurrence, writing
from boundlab.audit import _audit
from boundlab.checks import _check
from boundlab.cli import invoke
from boundlab.compare import judge, run as compared
from boundlab.compare.sharp import _TOLD
from boundlab.exact import _evaluate, _rows
from boundlab.expectation import AFFORDABLE, _enumeration, _graph, _walk
from boundlab.falsify import _judge
from boundlab.formulas import folds, written
from boundlab.instance import from_case, plan
from boundlab.metrics import _aggregation
from boundlab.problems import data, least_squares
from boundlab.recheck import _numbers
from boundlab.sweep import plan as plans
from boundlab.testing import _bound, _problem
from boundlab.theorems import _evaluate as evaluated, record, recursions
from boundlab.verdict import ExitCode
from boundlab.worst_case import certificate, model, result, specification

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def power(value: float, base: int = 10) -> str:
    """Return a power of 10 or 2 as it is printed."""
    exponent = round(log10(value) if base == 10 else log2(value))
    assert abs(value / base**exponent - 1) < 1e-9
    return (
        f"{base}{exponent}".replace(str(exponent), str(exponent).translate(RAISED))
        if exponent != base
        else f"{base}{str(exponent).translate(RAISED)}"
    )


@claim(
    "docs/audit.md",
    "# terms of a polynomial and # parts of a formula with its definitions put in, both predicted before "
    "anything is multiplied out; #^# bits of a"
    " number; # multiplications for a cover.",
)
def work_of_checks() -> list[str]:
    counts = (written.MAX_TERMS, _check._LARGEST, signs._WORK)
    terms, parts, *others = (f"{count:,}" for count in counts)
    return [terms, parts, "2", f"{log2(written.MAX_BITS):g}", *others]


@claim("docs/audit.md")
def codes_of_check() -> str:
    assert (ExitCode.REFUTED, ExitCode.UNDECIDED, ExitCode.USAGE) == (1, 3, 2)
    return "Exit code 0: no check failed; 1: one failed; 3: nothing could be decided; 2: bad input."


@claim("docs/exact.md", "from x0 = 3 and eight events have # sequences and # merged states in all.")
def merged_states() -> list[str]:
    seen: list[int] = []

    class Counted(_enumeration.Walk):  # type: ignore[misc, type-arg]
        def run(self, *given: Any) -> None:
            super().run(*given)
            seen.append(self.merged)

    law = {"delays": "iid:p_s=0.5", "iterations": 8, "parameters": {"M": 5, "alpha": "1/10", "start": "analysis"}}
    problem = {"type": "lad", "c": [0, 1, 2]}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_enumeration, "Walk", Counted)
        case = {"algorithm": "area", "problem": problem, "x0": [3], **law}
        bl.exact("area.theorem8.repaired.fixed-step", case, derivation=False)
    return [f"{3 + 1}{str(8).translate(RAISED)}", f"{seen[0]:,}"]


@claim("docs/exact.md", "this gives E f(x̄₆) = 3 − 9√51/# = #… against the printed bound 3√51/10 = #….")
def both_sides_by_hand() -> list[str]:
    found = bl.exact("area.theorem8", LAW, derivation=False)
    left, right = float(found.left), float(found.right)
    denominator = round(9 * sqrt(51) / (3 - left))
    assert abs(3 - 9 * sqrt(51) / denominator - left) < 1e-12
    assert abs(3 * sqrt(51) / 10 - right) < 1e-12
    return [str(denominator), *(f"{int(side * 10**4) / 10**4:.4f}" for side in (left, right))]


@claim(
    "docs/json.md",
    "lists (`@FILE`) of at most # MiB and a million numbers, JSON and traces of at most # MiB, theorems of at "
    "most # MiB",
)
def largest_files() -> list[str]:
    assert options._LONGEST == 10**6
    return [str(size >> 20) for size in (options._LARGEST_FILE, files.LARGEST, record._LARGEST)]


@claim(
    "docs/json.md",
    "data sets of at most a million lines and # MiB of text, uncompressed, or # million features in at most a "
    "million columns, each at most # in"
    " size, and tables that unpack to at most # MiB.",
)
def largest_data() -> list[str]:
    assert data._MOST_LINES == 10**6
    return [
        str(data._LARGEST_TEXT >> 20),
        f"{data.LARGEST / 10**6:g}",
        power(data._HUGE),
        str(data._BYTES >> 20),
    ]


@claim("docs/json.md")
def codes_for_every_command() -> str:
    assert (ExitCode.USAGE, ExitCode.UNFORESEEN, ExitCode.INTERRUPTED) == (2, 70, 130)
    return "The codes 2, 70 and 130 mean the same for every command. 1 is reserved for a refutation"


@claim(
    "docs/theorems.md", "end at squared distances #/# and #/#: a bound of 0.42 holds of their mean, #, and not of each."
)
def two_shuffled_passes() -> list[str]:
    def pass_through(*clients: int) -> Fraction:
        x = Fraction(2)
        for client in clients:
            x -= Fraction(1, 10) * (x if client == 0 else 3 * (x - 4))
        return (x - 3) ** 2

    ends = sorted((pass_through(0, 1), pass_through(1, 0)))
    assert sum(ends) / 2 < Fraction(42, 100) < ends[1]
    return [str(part) for end in ends for part in end.as_integer_ratio()] + [f"{float(sum(ends) / 2):.4g}"]


@claim(
    "docs/sweep.md",
    "at a joint level of # % by default, half of the rest on each side: of # true theorems it may call # "
    "violated. A sweep has one rate, # % unless",
)
def levels_of_a_sweep() -> list[str]:
    level = float(inspect.signature(bl.compare).parameters["level"].default)
    return [f"{100 * level:g}", power(10**4), f"{10**4 * (1 - level) / 2:.0f}", f"{100 * plans.DEFAULT_RATE:g}"]


@claim("docs/plugins.md", "a group of checks and a delay law in under # lines")
def lines_of_the_example() -> list[str]:
    test = (ROOT / "tests" / "registry" / "test_plugin_example.py").read_text(encoding="utf-8")
    return re.findall(r"splitlines\(\)\) < (\d+)", test)


@claim(
    "docs/plugins.md",
    "with probability `false_alarm` at most (#), over all samples of the call together. A pilot of # trials chooses "
    "the number of trials: enough to notice a left side that exceeds the bound by `gap` (# %)",
)
def what_a_sample_can_see() -> list[str]:
    gap = inspect.signature(_bound.assert_bound_holds).parameters["gap"].default
    return [power(_bound.FALSE_ALARM), str(_bound._PILOT), f"{100 * gap:g}"]


@claim("docs/tutorial.md", "The file is asynchronous SGD in under # lines")
def lines_of_a_new_algorithm() -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        assert invoke(["new", "algorithm", "mysgd", f"--out={folder}"]) == ExitCode.STANDS
        lines = len((Path(folder) / "mysgd.py").read_text(encoding="utf-8").splitlines())
    return [str(10 * (lines // 10 + 1))]


@claim("docs/verdicts.md", "(errors at # equidistant places from 0 to 2: # instead of #)")
def limits_of_uniform_errors() -> list[str]:
    count, error = 400, (1 - options.Default.LEVEL) / 2
    errors = (np.arange(count) + 0.5) * 2 / count
    found = float(judge.upper_limits(errors[:, None], np.array([2.0]), error)[0])
    alone = 2 - float(np.exp(np.log(error) / count + np.log(2 - errors).mean()))
    return [str(count), f"{found:.2f}", f"{alone:.2f}"]


@claim(
    "docs/verdicts.md",
    "least squares of up to # numbers S·d² are solved in rational numbers where rounding would add more than # to R",
)
def exact_normal_equations() -> list[str]:
    raised = {6: "10⁶", -6: "10⁻⁶"}
    return [raised[round(log10(one))] for one in (least_squares._PROVED, least_squares._LOOSE)]


# What the code says by itself: page, sentence, and the numbers in it.
for _page, _says, _found in (
    (
        "docs/audit.md",
        "after # seconds of processor time for a group of checks (BOUNDLAB_PATIENCE=# makes it #)",
        [f"{_check.LAST_RESORT:g}", "10", f"{10 * _check.LAST_RESORT:g}"],
    ),
    (
        "docs/exact.md",
        "More than # states of one event (# in exact numbers), or # control states, are refused",
        [power(_walk.LARGEST), power(_walk.SLOW), f"{_graph.LARGEST:,}"],
    ),
    ("docs/exact.md", "A table has at most # rows.", [str(_rows.MOST)]),
    (
        "docs/exact.md",
        "where a number that is added up takes more than # letters and is shortened",
        [str(writing.LONGEST)],
    ),
    (
        "docs/audit.md",
        "`-q` prints one line of at most # letters",
        re.findall(r"ruling\.within\((\d+),", inspect.getsource(_audit)),
    ),
    (
        "docs/theorems.md",
        "ranges without a model, more than # weighed models, and weights that differ by more than # binary digits",
        [f"{_aggregation._MOST:,}", str(recurrence._ROOM)],
    ),
    ("docs/theorems.md", "all of them (# at most) are sampled at one horizon", [f"{compared._MOST_SAMPLED:,}"]),
    (
        "docs/theorems.md",
        "# terms at most, # each where one sum stands in another",
        [power(folds.MOST_TERMS), f"{round(folds.MOST_TERMS**0.5)}"],
    ),
    (
        "docs/theorems.md",
        "A logarithm counts as a power #/#.",
        [str(_evaluate._LOGARITHM.p), str(_evaluate._LOGARITHM.q)],
    ),
    (
        "docs/theorems.md",
        "rounded up, by # of itself where durations are no short binary numbers",
        [power(plan._MORE, 2)],
    ),
    (
        "docs/theorems.md",
        "A run has # updates at most (# in searches).",
        [f"{plan.MOST_UPDATES:,}", str(_judge._UPDATES)],
    ),
    ("docs/theorems.md", "and lets conditions pass up to #.", [power(evaluated.ROUNDED)]),
    (
        "docs/data.md",
        "boundlab takes α = #.",
        [f"{1 - inspect.signature(traces.departure).parameters['level'].default:g}"],
    ),
    ("docs/data.md", "parametric bootstrap: # samples of the fitted law", [str(traces._DRAWS)]),
    ("docs/data.md", "Of more than # durations, # drawn from them are tested.", 2 * [f"{traces._SAMPLE:,}"]),
    ("docs/prove.md", "the first # iterations together are looked at", [f"{from_case.LOOKED:,}"]),
    ("docs/prove.md", "of a file that asks for more than # million steps of work", [f"{_numbers.MOST / 10**6:g}"]),
    ("docs/plugins.md", "and once in # a client for its mean, by Chebyshev's inequality", [f"{_problem._CHEBYSHEV:g}"]),
    (
        "docs/plugins.md",
        "`--boundlab-candidates N` | about how many instances the search looks at (#)",
        [str(_bound.CANDIDATES)],
    ),
    ("docs/verdicts.md", "side and bound agree in all of # bits", [str(_TOLD)]),
    (
        "docs/verdicts.md",
        "at growing K, up to # (# where the bound is iterated)",
        [power(judge.FARTHEST), power(judge._ITERATED)],
    ),
    ("docs/verdicts.md", "Bonferroni's correction, or # resamples", [str(judge._RESAMPLES)]),
    (
        "docs/verdicts.md",
        "#·# (`boundlab.expectation.AFFORDABLE`, some seconds)",
        [str(AFFORDABLE)[0], power(AFFORDABLE / int(str(AFFORDABLE)[0]))],
    ),
    (
        "docs/exact.md",
        "or between two that are # apart",
        [re.findall(r"by more than (2⁻[⁰-⁹¹²³]+)", inspect.getsource(specification))[0]],
    ),
    ("docs/exact.md", "by that share, at most # | # |", [power(result.TIGHT), str(int(ExitCode.UNDECIDED))]),
    ("docs/exact.md", "**Size.** At most # points", [str(model.LARGEST)]),
    ("docs/exact.md", "certificates of attained bounds are sought up to #. If the optima", [str(certificate._LARGEST)]),
    # Its points are x_0, a gradient at each iterate, and x* = 0 is none.
    (
        "docs/exact.md",
        "At most # points (K = # of gradient descent), seconds for each",
        [str(model.LARGEST), str(model.LARGEST - 2)],
    ),
    (
        "docs/theory/area.md",
        r"It costs some microseconds an iteration, so $K\le10^#$.",
        [f"{log10(recursions.MAX_ITERATIONS):g}"],
    ),
):
    CLAIMS.append(Claim(_page, _says, partial(list, _found)))
