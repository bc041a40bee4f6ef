"""Search for counterexamples to every theorem as printed, and write the case files and the README of this folder.

python benchmarks/counterexamples.py                    # all theorems, some minutes
python benchmarks/counterexamples.py --only fedfa       # those whose id begins so; the README is then left alone
python benchmarks/counterexamples.py --check            # write nothing; exit 1 where a file would change
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from boundlab.case import load_case
from boundlab.exact import evaluate
from boundlab.falsify import Candidate, Falsification, falsify, minimise
from boundlab.files import Document, replacing, write_json
from boundlab.registry import registered
from boundlab.theorems import Theorem

HERE = Path(__file__).parents[1] / "proofs" / "counterexamples"
CANDIDATES = 300
INTRODUCTION = """# Counterexamples

Each file is a case on which a theorem, as printed, fails, in exact numbers or in intervals that certainly hold them.
`boundlab exact THEOREM FILE` replays it, `--derivation` adds the way there, to be followed with pencil and paper.
Constants are certified, all assumptions are met, and the step size is one that the theorem allows.

The file named after a theorem alone is for a reader: where one is known, its derivation can be followed by hand to the
end (`by_hand` of `boundlab exact --json`), and left/right is at least 1.05. Then `.smallest` is what
`boundlab falsify THEOREM --candidates 300` finds and calls smallest: fewer clients come first, then an earlier horizon,
fewer sequences of events that matter, smaller integers, simpler numbers. No smaller one is known; that there is none is
not claimed. The others show one more reason why the theorem fails. This page is written by
`benchmarks/counterexamples.py`.

| file | what it shows | instance | left | right | ratio | kind | by hand |
|---|---|---|---|---|---|---|---|
"""


@dataclass(frozen=True)
class Mechanism:
    """A reason why a theorem fails beside that of its smallest instance.

    Parameters
    ----------
    name
        Stands between the theorem's id and .json.
    shows
        For the table.
    seed
        An instance to begin with.
    keep
        What makes it an instance of this reason.
    events
        What becomes of the events that were found: others, by which the same happens.
    """

    theorem: str
    name: str
    shows: str
    seed: Candidate
    keep: Callable[[Candidate], bool]
    events: Callable[[list[Any]], list[Any]] = list


@dataclass(frozen=True)
class Witness:
    """An instance for a reader: its derivation can be followed by hand.

    Parameters
    ----------
    shows
        For the table.
    """

    shows: str
    instance: Candidate


def _instance(
    problem: Mapping[str, Any], delays: str, iterations: int, steps: Mapping[str, float], **settings: str
) -> Candidate:
    return Candidate("given", {"sigma": 0.0, **problem}, delays, settings, steps, iterations)


def _late(events: list[Any]) -> list[Any]:
    """Return AFL-DGA's events with each local step directly before its round is sent: none is done while waiting."""
    steps = [one for one in events if one[2] == "step"]
    out: list[Any] = []
    for one in events:
        if one[2] == "send":
            out += [[one[0], *step[1:]] for step in steps if (step[1], step[3]) == (one[1], one[3])]
        out += [] if one[2] == "step" else [one]
    return out


_KINK = {"type": "lad", "c": [0.0], "w": [1.0], "x0": 1.0}
_EQUAL = {"type": "huber", "c": [0.0, 0.0], "w": [6.1, 6.1], "delta": 1.0, "x0": 0.9}
# Where models stay the slopes are −1 and 2: f' = 1/2, for clients of whom the first does twice as much.
_APART = {"type": "huber", "c": [0.0, 1.0], "w": [1.0, 1.0], "delta": 0.5, "x0": 0.5}
_TUG = {"type": "huber", "c": [100.0, 0.0], "w": [0.5, 1.0], "delta": 2.0}
_WIDE = {"type": "huber", "c": [2000.0, 0.0], "w": [0.005, 0.01], "delta": 200.0, "x0": 300.0}
_TWICE = "deterministic:rates=[2,1]"
_SLOWLY = _instance({**_TUG, "x0": 2.01}, _TWICE, 2000, {"eta": 0.005}, Qmin="1", Qmax="2")
_BALANCED = "the client that does more steps holds the other in balance, where f still slopes"
_NOISE = {"type": "huber", "c": [0.0], "w": [1.0], "delta": 1.0, "sigma": 1.0, "noise": "sign", "x0": 0.0}
_RATES = "the client that arrives more often takes the server back and forth, where f slopes"
WITNESSES = {
    "fedstaleweight.theorem1": Witness(
        "a server rate of 10: noise moves the server ten times as far as the client",
        _instance(_NOISE, "exponential", 2, {"eta_l": 0.01, "eta_g": 10.0}, scale="1"),
    ),
}
SHOWN = {
    "afl_dga.theorem1": "clients and server take different steps when a round has two local ones",
    "area.theorem8": "a factor 2 is missing: the bound falls below the start before anything can move",
    "area.theorem8.fixed-step": "the same, for a step of any size",
    "area.theorem8.printed-start": "two local steps lead to and fro across the kink, and the server stays where it is",
    "area.theorem8.printed-start.fixed-step": "the same with a step longer than the way: nothing ever moves",
    "fedcompass.theorem1": "no term for the bias of clients that do more steps",
    "fedcompass.corollary1.explicit": "the same",
    "fedfa.theorem1": "no term for the bias of clients that arrive more often",
    "fedfa.theorem1.squared-smoothness": "the same, and the units of L",
    "fedstaleweight.theorem1": "no term for noise that adds up from update to update",
}
MECHANISMS = (
    Mechanism(
        "area.theorem8",
        "one-path",
        "one sequence of events, of probability 1/8, moves the server, and to too little avail",
        _instance(_KINK, "iid:p=[0.5]", 6, {}, M="12"),
        lambda one: one.iterations >= 4,
    ),
    Mechanism(
        "afl_dga.theorem1",
        "reused-gradients",
        "one local step a round, where all readings agree: a gradient that is used thirty times overshoots",
        _instance(_EQUAL, "deterministic", 61, {}, periods="[1,30]"),
        lambda one: not {"local_steps", "correction_delay"} & set(one.settings),
        _late,
    ),
    Mechanism(
        "fedfa.theorem1",
        "window",
        "the bias of unequal rates stays in a window of two",
        _instance(_APART, _TWICE, 110, {"eta_l": 1e-5}, K="2", Q="1", mode="delta"),
        lambda one: one.settings.get("K") not in ("0", "1") and "rates" in one.delays,
    ),
)


def searches(only: str) -> Iterator[tuple[str, str, Callable[[], Falsification]]]:
    """Yield the name of each file, what it shows, and the search behind it."""
    for name, theorem in registered("theorems").items():
        if theorem.status != "as printed" or theorem.shape or not name.startswith(only):
            continue
        found = partial(falsify, theorem, 1e9, limit=CANDIDATES)
        if name in WITNESSES:
            one = WITNESSES[name]
            yield name, one.shows, partial(minimise, theorem, one.instance, lambda _: False)  # it stays as it is
            yield f"{name}.smallest", SHOWN[name], found
        else:
            yield name, SHOWN[name], found
        for other in MECHANISMS:
            if other.theorem == name:
                yield f"{name}.{other.name}", other.shows, partial(_minimised, theorem, other)


def _minimised(theorem: Theorem, one: Mechanism) -> Falsification:
    found = minimise(theorem, one.seed, one.keep)
    case = Document(found.case or {})
    if "events" in case:
        case["events"] = one.events(case["events"])
    return replace(found, case=case)


def line(file: str, shows: str, found: Falsification) -> str:
    """Return the row of a file."""
    best, counter = found.best, found.theorem.horizon_symbol
    if best is None or not found.violated:
        raise SystemExit(f"{file}: no counterexample found")
    words = f"{best.words()}, {counter} = {best.iterations}".replace("|", chr(92) + "|")
    larger = "" if best.generous is None else f"; {best.generous:.4g} with " + _counts(found.theorem)
    sides = f"{best.left:.7g} | {best.right:.7g} | {best.ratio:.7g}{larger}"
    return f"| `{file}` | {shows} | {words} | {sides} | {best.kind} | {'yes' if by_hand(found) else 'no'} |\n"


def by_hand(found: Falsification) -> bool:
    """Return whether the derivation of what was found can be followed by hand."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "case.json"
        write_json(path, json.loads(json.dumps(found.case)))
        way = evaluate(found.theorem, load_case(path), derive=True).derivation
    return way is not None and way.by_hand


def _counts(theorem: Theorem) -> str:
    return " and ".join(f"{name} + {more}" for name, more in theorem.generous.items())


def instance(case: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a case is about, without what belongs to the machine that found it."""
    keys = ("theorem", "algorithm", "problem", "x0", "parameters", "events", "delays", "iterations", "settings")
    return {key: value for key, value in json.loads(json.dumps(case)).items() if key in keys}


def main() -> None:
    """Run the searches."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="theorems whose id begins so")
    parser.add_argument("--check", action="store_true", help="write nothing, and say which files would change")
    chosen = parser.parse_args()
    rows, commands, changed = [], [], []
    for file, shows, look in searches(chosen.only):
        found = look()
        rows.append(line(file, shows, found))
        sys.stdout.write(rows[-1])
        sys.stdout.flush()
        path = HERE / f"{file}.json"
        if not path.exists() or instance(json.loads(path.read_text(encoding="utf-8"))) != instance(found.case or {}):
            changed.append(path.name)
            if not chosen.check:
                write_json(path, json.loads(json.dumps(found.case)))
        assert found.best is not None  # noqa: S101  (for the type checker)
        command = found.best.command(found.theorem.id)
        commands += [f"    {command}\n"] if command else []
    if chosen.check:
        sys.stdout.write(f"would change: {', '.join(changed)}\n" if changed else "nothing would change\n")
        raise SystemExit(bool(changed))
    if not chosen.only:
        with replacing(HERE / "README.md") as path:
            text = INTRODUCTION + "".join(rows) + "\nAs comparisons:\n\n" + "".join(commands)
            path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
