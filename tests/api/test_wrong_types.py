"""Whatever a function of the public API is given, it answers, or says in one line of its own what is wrong."""

import inspect
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_examples import CASE, PLAN, TRACE

import boundlab as bl
from boundlab.audit import _audit
from boundlab.case import RandomEvents, read_case
from boundlab.errors import BoundlabError, SpecError
from boundlab.testing import conform, fitting

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


# What has other clients than the problem is refused wherever the two meet: a bound for n clients says nothing of runs
# of others, and seems violated by them.

TWO = bl.problem("huber:c=[0,1],x0=3")
ASYNC = bl.lookup("algorithms", "async_sgd")
MEET: dict[str, Callable[[Any], Any]] = {
    **{
        name: lambda delays, name=name: getattr(bl, name)(**{**SMALL[name](), "problem": TWO, "delays": delays})
        for name in FUNCTIONS
        if {"problem", "delays"} <= {*names(getattr(bl, name))} and name != "applicable"  # that takes specs alone
    },
    "AREA": lambda delays: bl.compare("area.theorem8.repaired", TWO, delays, K=1000, M=2),
    "a case of random events": lambda delays: bl.exact(
        "classics.delayed-sgd", bl.Case(ASYNC, TWO, None, RandomEvents(delays, ASYNC.policy(None, delays)), 3)
    ),
    "a setting of tests": lambda delays: fitting(bl.theorem("classics.gd.convex"))[0].plan(problem=TWO, delays=delays),
    "conformance": lambda delays: conform.algorithm(ASYNC, clients=2, delays=[delays]),
}


@pytest.mark.parametrize("clients", [1, 3])
@pytest.mark.parametrize("name", MEET)
def test_delays_of_other_clients_are_refused(name: str, clients: int) -> None:
    for law in ("iid:p_s=0.5", "exponential", "deterministic", "staleness:constant=1"):
        with pytest.raises(
            (SpecError, AssertionError),
            match=re.escape(f"were built for n = {clients} and the problem has n = 2; build"),
        ):
            MEET[name](bl.delays(law, clients))


def test_events_of_other_clients_are_refused() -> None:
    for algorithm, events in {
        "async_sgd": [[1, 0], [2, 1]],
        "sfedavg": [[1, [0, 1]]],
        "area": [[1, 1], [2, "s"]],
    }.items():
        case = read_case(
            {
                "algorithm": algorithm,
                "problem": {"type": "lad", "c": [0, 1]},
                "parameters": {"alpha": 0.1},
                "events": events,
            }
        )
        with pytest.raises(BoundlabError, match="client 1 does not exist; the problem has 1 client, from 0 on"):
            replace(case, problem=bl.problem("lad"))


@pytest.mark.parametrize("value", [None, ["lad"], 3, b"lad", object()])
def test_the_line_says_which_argument_and_what_it_may_be(value: Any) -> None:
    assert complaint("compare", {**THEOREM, **RUN, "problem": value}).startswith(
        "compare: problem must be text or a mapping by names or a Problem; got a value of type"
    )


AREA = {"theorem": "area.theorem8", "problem": "lad:x0=3", "delays": "iid:p_s=0.5", "iterations": 6, "M": 50}
REPLAYED = {"algorithm": "async_sgd", "problem": {"type": "lad"}, "x0": [3], "events": [[1, 0]]}


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("compare", {**AREA, "iterations": 0}, "iterations must be between 1 and 100000000, got 0"),
        ("compare", {**AREA, "iterations": -5}, "iterations must be between 1 and 100000000, got -5"),
        ("compare", {**AREA, "settings": {"M": 50}}, "M is given twice: in a mapping, and as a keyword"),
        ("compare", {**AREA, "beyond": "iid"}, "area.theorem8 does not assume 'iid'"),
        ("compare", {**AREA, "jobs": 0}, "jobs must be ≥ 1, got 0"),
        ("delays", {"spec": "iid:p=[1/3,2/3]", "clients": 2}, "without a server, exponential:rates=[1/3,2/3] fits"),
        ("optimal_rate", {"rates": [1, 2], "objective": "x"}, "must be one of per-iteration, per-time, got 'x'"),
        *(
            ("replay", {"case": {**REPLAYED, "parameters": parameters, **more}}, message)
            for more in ({}, {"theorem": "classics.delayed-sgd"})
            for parameters, message in (
                ({}, "async_sgd needs the option alpha"),
                ({"alpha": -1}, "async_sgd: alpha must be > 0, got -1"),
                ({"alpha": "nan"}, "async_sgd: alpha must be a finite number, got 'nan'"),
                ({"alpha": 0.1, "foo": 1}, "async_sgd has no option 'foo'; known: alpha, sampling, schedule"),
            )
        ),
    ],
)
def test_one_line_says_what_is_wrong(name: str, arguments: dict[str, Any], message: str) -> None:
    assert complaint(name, arguments).endswith(message) or complaint(name, arguments).startswith(message)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (([1, 2],), "names and values must be a mapping; got a value of type list"),
        (
            ({"K": [1, 2, 3], "M": [2, 3], "B": 1, "R": 3, "sigma": 0, "p": [0.5]},),
            "equally many numbers of each of K, M",
        ),
    ],
)
def test_a_bound_says_what_it_cannot_be_evaluated_with(values: Any, message: str) -> None:
    with pytest.raises(BoundlabError, match=re.escape(message)):
        bl.theorem("area.theorem8").evaluate(*values)


def test_a_word_is_a_list_of_one() -> None:
    assert bl.compare(**AREA, beyond="iid-events").plan.theorem.id == "area.theorem8"
    assert [one.theorem.id for one in bl.applicable("lad", theorems="area.theorem8").found] == ["area.theorem8"]


def test_problems_delays_and_cases_may_be_mappings_of_lists_arrays_tuples_and_fractions() -> None:
    words = {"type": "quadratic", "A": [[[2]], [[1]]], "b": [["1/3"], [1]], "x0": [3]}
    arrays = {"type": "quadratic", "A": np.array([[[2]], [[1]]]), "b": ((Fraction(1, 3),), (1,)), "x0": np.array([3])}
    assert bl.problem(arrays) == bl.problem(words)
    assert bl.problem(bl.problem(words).spec()).spec() == bl.problem(words).spec()
    rates = {"type": "exponential", "rates": [1, 2]}
    assert bl.delays({**rates, "rates": np.array([1, 2])}, 2) == bl.delays(rates, 2)
    asked = {**AREA, "problem": {"type": "lad", "x0": np.array([3])}, "delays": {"type": "iid", "p_s": 0.5}}
    assert bl.compare(**asked).line() == bl.compare(**AREA).line()
    case = {**REPLAYED, "x0": np.array([3.0]), "parameters": {"alpha": Fraction(1, 3)}, "events": ((1, np.int64(0)),)}
    assert bl.replay(case) == bl.replay({**REPLAYED, "parameters": {"alpha": "1/3"}})
    random = {"delays": {"type": "iid", "p_s": Fraction(1, 2)}, "iterations": np.int64(4), "parameters": {"M": 48}}
    found = bl.exact("area.theorem8", {"algorithm": "area", "problem": {"type": "lad"}, "x0": (1,), **random})
    assert (found.left_exact, found.right_exact) == (Fraction(31, 32), Fraction(7, 8))
    assert "must be" in complaint("problem", {"spec": {**words, "x0": object()}})
    assert 'problem must be a spec, or an object with a "type"' in complaint("problem", {"spec": {"c": [1]}})
