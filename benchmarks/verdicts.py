"""Every theorem on two problems under three delay models: the table of verdicts that the README shows.

python benchmarks/verdicts.py                 # all theorems, writes benchmarks/verdicts.json and verdicts.md
python benchmarks/verdicts.py --only fedfa    # those whose id begins so, printed only
"""

import argparse
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import ndtr

from boundlab.assumptions import DETERMINISTIC
from boundlab.case import build_delays, build_problem
from boundlab.compare import compare
from boundlab.delays import DelayModel, Trace
from boundlab.errors import AssumptionError
from boundlab.events import Events
from boundlab.files import replacing, write_json
from boundlab.formulas.symbols import NOISE
from boundlab.instance.fitting import CompareOptions
from boundlab.objective import Problem
from boundlab.options import parse_spec
from boundlab.randomness import Stream, Streams
from boundlab.registry import registered
from boundlab.theorems import ALONG_RUN, Theorem, at_lowest, load_theorem

_SPLIT = "data=digits,clients=8,partition=dirichlet,a=0.3"
_DIGITS = f"logistic:{_SPLIT}"
PROBLEMS: Mapping[str, Mapping[str, str]] = {
    "bounded gradients": {
        "digits-logistic": f"{_DIGITS},nu=0,batch=16",
        "Huber": "huber:clients=4,dimension=3,sigma=0.1,x0=2",
    },
    "full gradients": {
        "digits-logistic": f"{_DIGITS},nu=0,batch=0",
        "Huber": "huber:clients=4,dimension=3,sigma=0,x0=2",
    },
    # Some pixels of the digits are lit in one class only: without regulariser the logistic loss has no minimiser.
    "a minimiser": {
        "digits-hinge": f"hinge:{_SPLIT},batch=16",
        "Huber": "huber:clients=4,dimension=3,sigma=0.1,x0=2",
    },
    "strongly convex": {"digits-logistic": f"{_DIGITS},nu=0.1,batch=16", "quadratic": "quadratic:sigma=0.1"},
}
DELAYS: Mapping[str, tuple[str, ...]] = {
    "any": ("exponential:spread=10", "lognormal:spread=4", "two-speed"),
    "memoryless": ("exponential:spread=10", "exponential:draw=normal,rate=10,sd=5", "iid:p_s=0.2"),
    "equally fast": ("exponential", "exponential:rate=10", "iid:p_s=0.2"),
    "constant lag": ("deterministic", "round robin, exponential gaps", "round robin, lognormal gaps"),
    "one group": ("deterministic:spread=2", "deterministic:spread=4", "deterministic"),
}

PAPERS = ("area", "fedcompass", "afl_dga", "fedfa", "fedstaleweight", "fedbuff")


def theorems(prefix: str = "") -> list[Theorem]:
    """Return the theorems of the papers whose id begins with ``prefix``.

    Forms along the run have no lines: on these problems the plain theorems have their bounds of gradients everywhere.
    """
    return [
        theorem
        for name, theorem in registered("theorems").items()
        if name.split(".")[0] in PAPERS and name.startswith(prefix) and not name.endswith(ALONG_RUN)
    ]


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the table: a theorem on one problem, which it calls by a label, under one delay model."""

    label: str
    compared: CompareOptions
    trials: int

    @property
    def theorem(self) -> str:
        """The theorem's id."""
        return self.compared.theorem.id


_ABSOLUTE = ("the absolute value, one client", "lad:x0=3")
_SLOWER = ("Huber at 0 and 1, client 2 five times slower", "huber:c=[0,1],x0=0.16667")
_FIVE = "deterministic:rates=[1,0.2]"
# As-printed theorems where they fail: each is one `boundlab compare` away.
REFUTATIONS: tuple[Line, ...] = tuple(
    Line(label, CompareOptions(load_theorem(name), problem, delays, None, iterations, settings), trials)
    for name, (label, problem), delays, iterations, trials, settings in (
        ("area.theorem8.printed-start", _ABSOLUTE, "iid:p_s=0.38", 48, 400, {"M": "2"}),
        ("area.theorem8", _ABSOLUTE, "iid:p_s=0.5", 6, 400, {"M": "50"}),
        ("fedcompass.theorem1", _SLOWER, _FIVE, 40_000, 2, {"Qmin": "1", "Qmax": "5", "eta": "0.0005"}),
        (
            "afl_dga.theorem1",
            ("one client, two local steps, L = 60", "huber:w=60,x0=1"),
            "exponential",
            1000,
            2,
            {"local_steps": "2", "scaling": "average", "eta": "0.001"},
        ),
        ("fedfa.theorem1", _SLOWER, _FIVE, 10_000, 2, {"K": "2", "eta_l": "0.002"}),
        ("fedfa.theorem1.squared-smoothness", _SLOWER, _FIVE, 10_000, 2, {"K": "2", "eta_l": "0.002"}),
        (
            "fedstaleweight.theorem1",
            ("one client, a buffer of one, noise", "huber:sigma=1,delta=0.1,x0=0"),
            "exponential",
            200,
            100,
            {"eta_l": "0.001"},
        ),
    )
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came out: the verdict, the largest mean/bound, the reason, and whether the bound says anything here."""

    line: Line
    verdict: str
    ratio: float | None
    reason: str
    says_nothing: bool = False

    @property
    def words(self) -> str:
        """The verdict, as the table shows it."""
        return f"{self.verdict} (vacuous)" if self.says_nothing else self.verdict


_BUFFER = {"count": "3", "M": "3"}
_OPTIONS: Mapping[str, Mapping[str, str]] = {
    "area": {"M": "5"},
    "afl_dga": {"local_steps": "1..3", "participation": "0.7", "correction_delay": "0..2"},
    "fedcompass": {"Qmin": "2", "Qmax": "10"},
    "fedfa": {"Q": "3", "K": "3"},
    "fedbuff": _BUFFER,
    "fedstaleweight": _BUFFER,
}
# What a theorem must have beside these.
_OWN: Mapping[str, Mapping[str, str]] = {
    "fedcompass.group": {"Qmin": "2", "Qmax": "20", "warmup": "speeds"},
    "fedcompass.corollary1": {"Qmin": "2", "Qmax": "40"},
    "fedcompass.corollary1.explicit": {"Qmin": "2", "Qmax": "40"},
    "fedstaleweight.theorem1": {"reply": "wait"},
    "fedstaleweight.rf2": {"scale": "0"},
    "fedstaleweight.rf3": {"scale": "0"},
}
_DELAYS_OF = {
    "iid-events": "memoryless",
    "stationary-participation": "memoryless",
    "uniform-buffer": "equally fast",
    "constant-lag": "constant lag",
}


def _problems(theorem: Theorem) -> str:
    """Return the kind of problem that a theorem is about."""
    if "minimiser" in theorem.core.assumed:
        return "strongly convex" if "strongly-convex" in theorem.core.assumed else "a minimiser"
    if DETERMINISTIC in theorem.assumptions:
        return "full gradients"
    return "full gradients" if at_lowest(theorem.conditions, theorem.symbols) & NOISE else "bounded gradients"


def settings_of(theorem: Theorem) -> Iterator[Line]:
    """Return the settings on which a theorem is compared: two problems, three delay models each."""
    name = theorem.id.removesuffix(ALONG_RUN)
    own = {**_OPTIONS[theorem.algorithm], **_OWN.get(name, {})} if name != "afl_dga.r0" else {}
    if "alpha" in theorem.inputs():
        own["alpha"] = "0.01"
    one_group = "one group" if own.get("Qmax") in ("20", "40") else "any"
    kind = next((_DELAYS_OF[name] for name in theorem.assumptions if name in _DELAYS_OF), one_group)
    for label, problem in PROBLEMS[_problems(theorem)].items():
        for model in DELAYS[kind]:
            chosen = own | ({"speeds": _speeds(model, label)} if "warmup" in own else {})
            yield Line(label, CompareOptions(theorem, problem, model, None, 300, chosen), _trials(theorem))


def noiseless(line: Line) -> bool:
    """Return whether the gradients of a line are full ones."""
    return any(one in line.compared.problem for one in ("sigma=0,", "batch=0"))


def _delays(spec: str, clients: int, arrivals: int) -> DelayModel:
    """Build a delay model; a round robin is a trace in which clients arrive in turns, at irregular times."""
    if not spec.startswith("round robin"):
        return build_delays(*parse_spec(spec, "delays"), clients)
    gaps = Streams(1).normals(Stream.DELAY, 0, 0, arrivals)[0]
    time_ = np.cumsum(np.exp(gaps) if "lognormal" in spec else -np.log(ndtr(gaps)))
    return Trace(Events(time_, (np.arange(arrivals) % clients).astype(np.int32)), clients, spec)


def _speeds(model: str, label: str) -> str:
    """Return the times of a local step under deterministic delays, for a server that knows them beforehand."""
    n, spread = (4 if label == "Huber" else 8), float(model.partition("=")[2] or 1)
    return str([round(spread ** (i / (n - 1)), 6) for i in range(n)])


def _trials(theorem: Theorem) -> int:
    """Return how many trials: fewer where rounds have many local steps or events."""
    return 12 if theorem.algorithm in ("fedcompass", "afl_dga") else 30


@cache
def _problem(spec: str) -> Problem:
    return build_problem(*parse_spec(spec, "problem"))


def judge(line: Line, seed: int = 0) -> Outcome:
    """Compare one theorem on one setting."""
    one, problem = line.compared, _problem(line.compared.problem)
    delays = _delays(one.delays, problem.n, 2 * max(one.horizons))
    try:
        result = compare(one.plan(problem=problem, delays=delays, trials=line.trials, seed=seed), line.trials, seed)
    except AssumptionError as error:
        return Outcome(line, "not applicable", None, str(error))
    says_nothing = bool(result.vacuous)
    return Outcome(line, result.verdict.value, float(result.ratio.max()), result.reason, says_nothing)


def table(outcomes: list[Outcome]) -> str:
    """Return the table in Markdown: theorem × problem, the verdicts and largest ratios under the delay models."""
    lines = ["| theorem | status | problem | verdict | largest mean/bound |", "|---|---|---|---|---|"]
    groups: dict[tuple[str, str], list[Outcome]] = {}
    for outcome in outcomes:
        groups.setdefault((outcome.line.theorem, outcome.line.label), []).append(outcome)
    for (name, label), group in groups.items():
        theorem = load_theorem(name)
        words = [outcome.words for outcome in group]
        same = len(set(words)) == 1
        verdict = f"{words[0]} (3 of 3)" if same and len(words) == 3 else ", ".join(words)
        if theorem.shape:
            verdict = "a shape: no verdict"
        ratios = [outcome.ratio for outcome in group if outcome.ratio is not None]
        shown = f"{max(ratios):.2g}" if ratios and not theorem.shape else "–"
        lines.append(f"| `{name}` | {theorem.status} | {label} | {verdict} | {shown} |")
    return "\n".join(lines) + "\n"


def refutations_table(outcomes: list[Outcome]) -> str:
    """Return the table of refutations in Markdown."""
    lines = ["| as printed | where it fails | delays | horizon | verdict | mean/bound |", "|---|---|---|---|---|---|"]
    for outcome in outcomes:
        one = outcome.line.compared
        if one.theorem.status != "as printed":  # recovered: it stands below the table, with the reason
            continue
        lines.append(
            f"| `{one.theorem.id}` | {outcome.line.label} | `{one.delays}` | {one.iterations} | "
            f"**{outcome.verdict}** | {outcome.ratio:.3g} |"
        )
    return "\n".join(lines) + "\n"


def page(outcomes: list[Outcome], refuted: list[Outcome]) -> str:
    """Return both tables, as verdicts.md has them."""
    return f"# Verdicts\n\n{table(outcomes)}\n## Where printed theorems fail\n\n{refutations_table(refuted)}"


def as_dict(outcome: Outcome) -> dict[str, Any]:
    """Return a line for the JSON file."""
    one = outcome.line.compared
    return {
        "theorem": one.theorem.id,
        "problem": one.problem,
        "delays": one.delays,
        "iterations": one.iterations,
        "trials": outcome.line.trials,
        "settings": dict(one.settings),
        "verdict": outcome.verdict,
        "ratio": outcome.ratio,
        "reason": outcome.reason,
        "says_nothing": outcome.says_nothing,
    }


def main() -> None:
    """Run the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="theorems whose id begins so; nothing is written")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent, help="folder of verdicts.json, verdicts.md")
    chosen = parser.parse_args()
    outcomes = [_shown(line) for theorem in theorems(chosen.only) for line in settings_of(theorem)]
    refuted = [_shown(line) for line in REFUTATIONS if line.theorem.startswith(chosen.only)]
    text = page(outcomes, refuted)
    sys.stdout.write(text)
    if not chosen.only:
        lines = {"settings": outcomes, "refutations": refuted}
        write_json(chosen.out / "verdicts.json", {key: [as_dict(one) for one in some] for key, some in lines.items()})
        with replacing(chosen.out / "verdicts.md") as temporary:
            temporary.write_text(text, encoding="utf-8")


def _shown(line: Line) -> Outcome:
    """Judge a line and say on standard error what came out."""
    begin = time.perf_counter()
    found = judge(line)
    ratio = "" if found.ratio is None else f"{found.ratio:.3g}"
    sys.stderr.write(
        f"{line.theorem:38} {line.label[:18]:18} {line.compared.delays:38} {found.verdict:15} {ratio:>9} "
        f"{time.perf_counter() - begin:6.1f} s {found.reason if found.verdict != 'holds' else ''}\n"
    )
    return found


if __name__ == "__main__":
    main()
