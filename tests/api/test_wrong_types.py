"""Whatever a function of the public API is given, it answers, or says in one line of its own what is wrong."""

import inspect
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_examples import CASE, PLAN, TRACE

import boundlab as bl
from boundlab.audit import _audit
from boundlab.errors import BoundlabError, SpecError

VALUES: dict[str, Any] = {
    "None": None,
    "empty dict": {},
    "dict": {"a": 1},
    "dict by numbers": {1: 2},
    "dict of nonsense": {"type": []},
    "empty list": [],
    "list of None": [None],
    "list of words": ["a"],
    "list of numbers": [1, 2],
    "-1": -1,
    "2.5": 2.5,
    "nan": float("nan"),
    "empty text": "",
    "text": "zzz",
    "bytes": b"x",
    "object": object(),
    "a type": int,
    "array": np.zeros((2, 2)),
    "path": Path("zzz"),
}
THEOREM = {"theorem": "classics.gd.convex"}
RUN = {"problem": "huber", "delays": "deterministic", "iterations": 2, "trials": 2}
SMALL: dict[str, Callable[[], dict[str, Any]]] = {
    "applicable": lambda: {"problem": "lad", "delays": "deterministic", "theorems": ["classics.gd.convex"]},
    "audit": lambda: THEOREM,
    "build_problem": lambda: {"kind": "lad", "options": {}},
    "check": lambda: {**THEOREM, "only": "units"},
    "compare": lambda: {**THEOREM, **RUN, "exact": False, "jobs": 1},
    "delays": lambda: {"spec": "exponential", "clients": 2},
    "exact": lambda: {"theorem": "area.theorem8"},
    "falsify": lambda: {**THEOREM, "budget": 0.1, "candidates": 1, "jobs": 1},
    "fit": lambda: {"log": "trace.csv"},
    "load_case": lambda: {"path": "case.json"},
    "load_plugin": lambda: {"path": "zzz.py"},
    "load_theorem": lambda: {"name_or_path": "classics.gd.convex"},
    "lookup": lambda: {"kind": "problems", "name": "lad"},
    "make_plan": lambda: {
        "theorem": bl.theorem("classics.gd.convex"),
        "problem": bl.problem("huber"),
        "delays": bl.delays("deterministic", 5),
        "policy": bl.lookup("algorithms", "gd").policy(None, bl.delays("deterministic", 5)),
        "iterations": 2,
        "settings": {},
    },
    "constants": lambda: {"problem": "lad"},
    "optimal_rate": lambda: {"rates": [1, 2]},
    "problem": lambda: {"spec": "lad"},
    "problem_from_head": lambda: {"module": None, "X": [[1.0]], "y": [0]},
    "prove": lambda: {"given": "zzz"},
    "registered": lambda: {"kind": "problems"},
    "replay": lambda: {"case": CASE},
    "results": lambda: {"folder": "zzz"},
    "run": lambda: {"algorithm": "gd", **RUN, "alpha": 0.1, "jobs": 1},
    "simulate": lambda: {
        "algorithm": "gd",
        "problem": bl.problem("huber"),
        "delays": bl.delays("deterministic", 5),
        "server": None,
        "settings": {"alpha": "0.1"},
        "iterations": 2,
        "trials": 2,
        "seed": 0,
    },
    "sweep": lambda: {"plan": "plan.toml", "out": "swept", "jobs": 1},
    "theorem": lambda: {"given": "classics.gd.convex"},
    "trace": lambda: {"log": "trace.csv"},
    "worst_case": lambda: {**THEOREM, "iterations": 1},
}
FUNCTIONS = [name for name in bl.__all__ if callable(one := getattr(bl, name)) and not isinstance(one, type)]


def names(function: Any) -> Iterator[str]:
    for one in inspect.signature(function).parameters.values():
        if one.kind is not one.VAR_KEYWORD:
            yield one.name


def complaint(name: str, arguments: dict[str, Any]) -> str:
    """Return the line that a call ends with; empty where it has an answer."""
    try:
        getattr(bl, name)(**arguments)
    except BoundlabError as error:
        return str(error)
    return ""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a folder with the files of SMALL, where what takes seconds is not asked."""

    def asked(*_arguments: Any, **_options: Any) -> Any:
        raise SpecError("asked")

    monkeypatch.chdir(tmp_path)
    for file, text in (("case.json", json.dumps(CASE)), ("plan.toml", PLAN), ("trace.csv", TRACE)):
        Path(file).write_text(text)
    monkeypatch.setattr(_audit._Questions, "ask", asked)
    monkeypatch.setattr("boundlab.sweep.results.run", asked)


def test_every_function_is_asked() -> None:
    assert sorted(SMALL) == FUNCTIONS


@pytest.mark.sweep(15)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_value_is_answered_by_an_error_from_within(name: str, place: None) -> None:
    for parameter in names(getattr(bl, name)):
        for words, value in VALUES.items():
            if parameter in ("progress", "tell") and words == "a type":
                continue  # it can be called, and what it says of our words is its own
            try:
                said = complaint(name, {**SMALL[name](), parameter: value})
            except Exception as error:
                pytest.fail(f"{name}({parameter}={words}): {type(error).__name__}: {error}")
            assert "\n" not in said, (parameter, words)


@pytest.mark.parametrize("value", [None, ["lad"], 3, b"lad", object()])
def test_the_line_says_which_argument_and_what_it_may_be(value: Any) -> None:
    assert complaint("compare", {**THEOREM, **RUN, "problem": value}).startswith(
        "compare: problem must be text or a mapping by names or a Problem; got a value of type"
    )


def test_a_problem_and_delays_may_be_what_a_case_file_says() -> None:
    problem, delays = {"type": "lad", "x0": [3]}, {"type": "iid", "p_s": 0.5}
    assert bl.problem(problem).spec() == bl.problem("lad:x0=3").spec()
    assert bl.delays(delays, 3).rates().tolist() == bl.delays("iid:p_s=0.5", 3).rates().tolist()
    asked = bl.compare("area.theorem8", problem, delays, iterations=6, M=50)
    assert asked.line() == bl.compare("area.theorem8", "lad:x0=3", "iid:p_s=0.5", iterations=6, M=50).line()
    assert "must be" in complaint("problem", {"spec": {**problem, "x0": object()}})
    again = bl.problem(bl.problem("huber:c=[0,1],x0=2").spec())
    assert again.spec() == bl.problem("huber:c=[0,1],x0=2").spec()
    assert 'problem must be a spec, or an object with a "type"' in complaint("problem", {"spec": {"c": [1]}})
