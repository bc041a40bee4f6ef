"""A case with events that its algorithm never draws is no instance of a theorem about that algorithm."""

import json
from pathlib import Path
from typing import Any

import pytest

import boundlab as bl
from boundlab.errors import AssumptionError

PAIR = {"type": "quadratic", "A": [[[1]], [[1]]], "b": [[0], [10]]}
# algorithm → its options, events that it draws, and some that it does not: x leaves for a client's own minimiser there.
EVENTS: dict[str, tuple[dict[str, Any], list[Any], list[Any]]] = {
    "sfedavg": ({}, [[1, [1, 0]], [2, [0, 1]]], [[1, [0, 1]], [2, [1]]]),
    "sfedavg sampled": ({"sampled": 1}, [[1, [1]], [2, [0]]], [[1, [0, 1]], [2, [1]]]),
    "gd cyclic": ({"sampling": "cyclic"}, [[1, 0], [2, 1]], [[1, 1], [2, 1]]),
    "incremental": ({}, [[1, [0, 1]], [2, [0, 1]]], [[1, [0, 1]], [2, [1, 0]]]),
    "lsvrg": ({"p_c": 1}, [[1, 0, 1], [2, 1, 1]], [[1, 0, 1], [2, 1, 0]]),
    "scaffnew": ({"p_c": 1}, [[1, "s", 1], [2, "s", 1]], [[1, "s", 1], [2, "s", 0]]),
}


@pytest.mark.parametrize("which", EVENTS)
def test_events_that_are_never_drawn_are_no_instance(which: str, tmp_path: Path) -> None:
    name, (options, drawn, never) = which.split()[0], EVENTS[which]
    theorem = tmp_path / "own.toml"
    said = "".join(f"{option} = {json.dumps(str(value))}\n" for option, value in options.items())
    theorem.write_text(
        f'id = "own"\nalgorithm = "{name}"\nmetric = "squared-distance"\nabout = "each schedule"\n'
        f'assumptions = ["strongly-convex", "smooth", "minimiser"]\n[options]\n{said}[step]\nalpha = "1/(2*L)"\n'
        '[terms]\nbound = "400*R**2"\n',
        encoding="utf-8",
    )

    def judged(events: list[Any]) -> Any:
        case = {"algorithm": name, "iterations": 2, "x0": 6, "parameters": options, "problem": PAIR, "events": events}
        (tmp_path / "case.json").write_text(json.dumps(case), encoding="utf-8")
        return bl.exact(theorem, tmp_path / "case.json")

    assert not judged(drawn).violated
    with pytest.raises(AssumptionError, match=f"own is about what {name} draws: event . of this case is none with"):
        judged(never)
