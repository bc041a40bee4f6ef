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
class Witness:
    """An instance for a reader: its derivation can be followed by hand.

    Parameters
    ----------
    shows
        For the table.
    events
        What becomes of the events that its delays make: others, by which the same happens.
    """

    shows: str
    instance: Candidate
    events: Callable[[list[Any]], list[Any]] = list


def _instance(
    problem: Mapping[str, Any], delays: str, iterations: int, steps: Mapping[str, float], **settings: str
) -> Candidate:
    return Candidate("given", {**problem, "sigma": problem.get("sigma", 0.0)}, delays, settings, steps, iterations)


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
# Three clients pull down from 1 with slope 8, by gradients that get old, and one up.
_OLD = {"type": "huber", "c": [100.0, 0.0, 0.0, 0.0], "w": [8.0, 8.0, 8.0, 8.0], "delta": 1.0, "x0": 1.0}
# Where models stay the slopes are −1 and 2: f' = 1/2, for clients of whom the first does twice as much.
_TUG = {"type": "huber", "c": [100.0, 0.0], "w": [0.5, 1.0], "delta": 2.0}
_TWICE, _ALL = "deterministic:rates=[2,1]", "deterministic"
_SLOWLY = _instance({**_TUG, "x0": 2.01}, _TWICE, 2000, {"eta": 0.005}, Qmin="1", Qmax="2")
_BALANCED = "the client that does more steps holds the other in balance, where f still slopes"
_NOISE = {"type": "huber", "c": [0.0], "w": [1.0], "delta": 1.0, "sigma": 1.0, "noise": "sign", "x0": 0.0}
_RATES = "the client that arrives more often takes the server back and forth, where f slopes"
_QUEUE = {"Q": "1", "mode": "delta"}
WITNESSES = {
    "afl_dga.theorem1": Witness(
        "the client takes two steps where the server takes their mean, and creeps to where the slope ends",
        _instance({"type": "huber", "c": [0.0], "w": [6.0], "delta": 1.0, "x0": 2.0}, _ALL, 36, {}, local_steps="2"),
    ),
    "afl_dga.theorem1.reused-gradients": Witness(
        "one local step a round, where all readings agree: gradients that are used again thirty times overshoot",
        _instance(_OLD, _ALL, 32, {}, periods="[1,31,31,31]"),
        _late,
    ),
    "area.theorem8": Witness(
        "one sequence of events, of probability 1/8, moves the server, and to too little avail",
        _instance(_KINK, "iid:p=[0.5]", 4, {}, M="48"),
    ),
    "area.theorem8.fixed-step": Witness("the same", _instance(_KINK, "iid:p=[0.5]", 4, {"alpha": 0.125}, M="12")),
    "area.theorem8.printed-start.fixed-step": Witness(
        "a step longer than the way, and back: nothing ever moves",
        _instance(_KINK, "iid:p=[0.5]", 25, {"alpha": 1.2}, M="2"),
    ),
    "fedcompass.theorem1": Witness(_BALANCED, _SLOWLY),
    "fedcompass.corollary1.explicit": Witness("the same", _SLOWLY),
    "fedfa.theorem1": Witness(
        _RATES, _instance({**_TUG, "x0": 2.02}, _TWICE, 200, {"eta_l": 0.02, "eta_g": 1.0}, K="1", **_QUEUE)
    ),
    "fedfa.theorem1.window": Witness(
        "the same in a window of two",
        _instance({**_TUG, "x0": 2.02}, _TWICE, 400, {"eta_l": 0.02, "eta_g": 1.0}, K="2", **_QUEUE),
    ),
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
    "fedfa.theorem1.squared-smoothness": "the units of L: one step of 2/L, which is allowed where L² is taken for L",
    "fedstaleweight.theorem1": "no term for noise that adds up from update to update",
}


def searches(only: str) -> Iterator[tuple[str, str, Callable[[], Falsification]]]:
    """Yield the name of each file, what it shows, and the search behind it."""
    for name, theorem in registered("theorems").items():
        if theorem.status != "as printed" or theorem.shape or not name.startswith(only):
            continue
        found = partial(falsify, theorem, 1e9, limit=CANDIDATES)
        beside = (file for file in WITNESSES if file not in registered("theorems") and file.startswith(f"{name}."))
        for file in (*([name] if name in WITNESSES else ()), *beside):
            yield file, WITNESSES[file].shows, partial(_given, theorem, WITNESSES[file])
        yield name + ".smallest" * (name in WITNESSES), SHOWN[name], found


def _given(theorem: Theorem, one: Witness) -> Falsification:
    found = minimise(theorem, one.instance, lambda _: False)  # it stays as it is
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
