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
from typing import Any

from boundlab.falsify import Candidate, Falsification, falsify, known_witnesses, minimise
from boundlab.files import Document, replacing, write_json
from boundlab.registry import registered
from boundlab.theorems import Theorem

HERE = Path(__file__).parents[1] / "proofs" / "counterexamples"
CANDIDATES = 300
INTRODUCTION = """# Counterexamples

Each file is a case on which a theorem, as printed, fails, in exact numbers or in intervals that certainly hold them.
FedStaleWeight's is recovered, not compared with the print; its cases stand for what the recovered formula says.
`boundlab exact THEOREM FILE` replays it, `--derivation` adds the way there, to be followed with pencil and paper.
Constants are certified, all assumptions are met, and the step size is one that the theorem allows.

The file named after a theorem alone is for a reader: left/right is at least 1.05, and its derivation can be followed by
hand to the end (`by_hand` of `boundlab exact --json`); of `area.theorem8.printed-start` two geometric sums, which
`docs/theory/area.md` has, take the place of the derivation's rows. Then `.smallest` is what
`boundlab falsify THEOREM --candidates 300` finds and calls smallest: fewer clients come first, then an earlier horizon,
fewer sequences of events that matter, smaller integers, simpler numbers. No smaller one is known; that there is none is
not claimed. The others show one more reason why the theorem fails; `afl_dga.theorem1.reused-gradients` leads,
since it stands under every reading. `readings` has a statement and a case inside of FedFa's proof: one client at a
time, drawn uniformly. This page is written by `benchmarks/counterexamples.py`.

| file | what it shows | instance | left | right | ratio | kind | by hand |
|---|---|---|---|---|---|---|---|
"""


@dataclass(frozen=True)
class Witness:
    """An instance for a reader, who can follow it by hand.

    Parameters
    ----------
    shows
        The words of the known witness.
    events
        What becomes of the events that its delays make: others, by which the same happens.
    """

    shows: str
    events: Callable[[list[Any]], list[Any]] = list


def _late(events: list[Any]) -> list[Any]:
    """Return AFL-DGA's events with each local step directly before its round is sent: none is done while waiting."""
    steps = [one for one in events if one[2] == "step"]
    out: list[Any] = []
    for one in events:
        if one[2] == "send":
            out += [[one[0], *step[1:]] for step in steps if (step[1], step[3]) == (one[1], one[3])]
        out += [] if one[2] == "step" else [one]
    return out


_BALANCED = "the client that does more steps holds the other in balance, where f still slopes"
WITNESSES = {
    "afl_dga.theorem1": Witness(
        "the client takes two steps where the server takes their mean, and creeps to where the slope ends"
    ),
    "afl_dga.theorem1.reused-gradients": Witness(
        "one local step a round, where all readings agree: gradients that are used again thirty times overshoot", _late
    ),
    "area.theorem8": Witness("one sequence of events, of probability 1/8, moves the server, and to too little avail"),
    "area.theorem8.fixed-step": Witness(
        "one sequence of events, of probability 1/8, moves the server, by steps of any size"
    ),
    "area.theorem8.printed-start": Witness(
        "two local steps lead to and fro across the kink, of an update that the server is late with"
    ),
    "area.theorem8.printed-start.fixed-step": Witness("a step longer than the way, and back: nothing ever moves"),
    "fedcompass.theorem1": Witness(_BALANCED),
    "fedcompass.corollary1.explicit": Witness(_BALANCED),
    "fedfa.theorem1": Witness("the client that arrives more often takes the server back and forth, where f slopes"),
    "fedfa.theorem1.window": Witness("the same in a window of two"),
    "fedstaleweight.theorem1": Witness("a server rate of 10: noise moves the server ten times as far as the client"),
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
        if not theorem.of_paper or theorem.shape or not name.startswith(only):
            continue
        beside = (file for file in WITNESSES if file not in registered("theorems") and file.startswith(f"{name}."))
        for file in (*([name] if name in WITNESSES else ()), *beside):
            yield file, WITNESSES[file].shows, partial(_given, theorem, WITNESSES[file])
        yield name + ".smallest" * (name in WITNESSES), SHOWN[name], partial(_smallest, theorem)


def _smallest(theorem: Theorem) -> Falsification:
    found = falsify(theorem, 1e9, limit=CANDIDATES)
    return found if found.smaller is None else _as_it_is(theorem, found.smaller.candidate)


def _as_it_is(theorem: Theorem, one: Candidate) -> Falsification:
    return minimise(theorem, one, lambda _: False)


def _given(theorem: Theorem, one: Witness) -> Falsification:
    known = (each for each in known_witnesses(theorem) if each.family.endswith(f": {one.shows}"))
    found = _as_it_is(theorem, next(known))
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
    return f"| `{file}` | {shows} | {words} | {sides} | {best.kind} | {'yes' if best.by_hand else 'no'} |\n"


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
