"""Certificates of worst cases are bound to their question: what a theorem does not say is accepted of none."""

import copy
import json
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from boundlab.cli import invoke
from boundlab.recheck import SCHEMA, Finding, recheck_loaded
from boundlab.theorems import load_theorem
from boundlab.worst_case import analysis
from boundlab.worst_case.analysis import bound

pytest.importorskip("cvxpy")

Json = dict[str, Any]
STEEP = "0x" + "f" * 400_000


@pytest.fixture(scope="module")
def control() -> Json:
    from boundlab.worst_case import worst_case

    theorem = load_theorem("classics.gd.convex")
    found = worst_case(theorem, 2, {"alpha": "1", "L": "1", "R": "1"}).certificates["upper"]
    return dict(json.loads(json.dumps(found)))


@pytest.fixture(scope="module")
def others() -> dict[str, Json]:
    """Of other questions: random events from below, in units of the step, two clients, events that are given."""
    from boundlab.worst_case import worst_case

    asked: dict[str, tuple[str, int, Json, str]] = {
        "area.theorem8": ("area.theorem8", 5, {"settings": {"p": [0.5], "M": 3}}, "lower"),
        "in units of the step": ("classics.sgd.convex", 2, {"settings": {"n": 2}}, "upper"),
        "given events": ("area.theorem8", 2, {"settings": {"p": [0.5]}, "events": [[1, 0], [2, "s"]]}, "upper"),
    }
    found = {}
    for name, (theorem, iterations, more, side) in asked.items():
        made = worst_case(load_theorem(theorem), iterations, **more).certificates.get(side)
        if made is not None:
            found[name] = json.loads(json.dumps(made))
    return found


def judged(raw: Json) -> Finding:
    """Return what the command says of a file that it reads."""
    if raw.get("schema") != SCHEMA:
        return Finding(False, "no certificate at all")
    return bound(raw, recheck_loaded(raw))


def given(constant: str, words: str) -> Json:
    form = {"values": {}, "gram": [], "constant": constant}
    return {"kind": "given", "words": words, "form": form, "multiplier": "1/10"}


def alone(side: str, value: str, **more: Any) -> Json:
    """Return a file whose objective is one function value, and nothing else."""
    objective = {"values": {"0": "1"}, "gram": [], "constant": "0"}
    own = {"schema": "boundlab worst-case certificate 1", "kind": side, "claim": "classics.gd.convex: f − f* ≤ 0"}
    return {**own, "basis": ["x"], "values": ["f"], "functions": [], "objective": objective, "value": value, **more}


def long_rows(own: Json) -> None:
    rng = random.Random(4)  # noqa: S311  (forgeries, no secret)
    number = lambda: hex(rng.getrandbits(4000) | 1)  # noqa: E731
    for _ in range(20):
        row = given("0", "w")
        row["form"]["values"] = {"0": f"{number()}/{number()}"}
        own["rows"].append(row)


def standing(own: Json) -> Json:
    own["functions"][0]["samples"][2]["x"] = own["functions"][0]["samples"][1]["x"]
    return own


FORGERIES: dict[str, Any] = {
    "the name of another theorem": lambda o: o.update(claim="area.theorem8, K = 1000: the value is 0"),
    "the second step is of size 0": standing,
    "a given row says 1 ≤ 0": lambda o: (o["rows"].append(given("1", "start")), o.update(value="0")),
    "a given row says what is claimed": lambda o: (
        o.clear(),
        o.update(
            alone("upper", "0", remainder=[], rows=[{**given("0", ""), "form": {"values": {"0": "1"}, "gram": []}}])
        ),
        o["rows"][0].update(multiplier="1"),
    ),
    "nothing is given, and a function is large": lambda o: (
        o.clear(),
        o.update(alone("lower", "1000000000", rows=[], gram=[], point=["1000000000"])),
    ),
    "a key that nobody knows": lambda o: o.update(note="x"),
    "half of the value": lambda o: o.update(value="1/20"),
    "a negative multiplier": lambda o: o["rows"][0].update(multiplier="-1"),
    "a class without curvature from below": lambda o: o["functions"][0].update({"mu": "-1", "1/L": "0"}),
    "a smaller class": lambda o: o["functions"][0].update({"1/L": "10"}),
    "words that steer a terminal": lambda o: [
        one.update(words="\x1b[2J" + "x" * 1000) for one in o["rows"] if one["kind"] == "given"
    ],
    "a fraction of 400,000 digits": lambda o: o["rows"][0].update(multiplier=f"{STEEP}/{STEEP[:-1]}e"),
    "many rows of long fractions": long_rows,
}


def told(raw: Json | str, tmp_path: Path) -> int:
    file = tmp_path / "certificate.json"
    file.write_text(raw if isinstance(raw, str) else json.dumps(raw), encoding="utf-8")
    return int(invoke(["recheck", str(file), "-q"]))


def test_the_control_is_accepted(control: Json, tmp_path: Path) -> None:
    assert told(control, tmp_path) == 0
    assert judged(control).claim == control["claim"]


@pytest.mark.parametrize("name", FORGERIES)
def test_no_forgery_is_accepted(name: str, control: Json, tmp_path: Path) -> None:
    forged = copy.deepcopy(control)
    FORGERIES[name](forged)
    assert told(forged, tmp_path) in (1, 3)


def test_a_key_that_stands_twice_is_refused(control: Json, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert told(json.dumps(control).replace('"value":', '"value": "0", "value":', 1), tmp_path) == 2
    assert "the key 'value' stands twice" in capsys.readouterr().err


def test_without_a_theorem_nothing_is_decided(
    control: Json, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    question = control["question"]
    for odd in (
        None,
        {**question, "theorem": "mine"},
        {**question, "iterations": 10**9},
        {**question, "settings": {"n": 10**9}},
        {**question, "settings": {"L": {"a": 1}}},
        {**question, "events": 7},
        {key: question[key] for key in ("theorem", "iterations")},
        [question],
    ):
        assert told({**control, "question": odd}, tmp_path) == 3
        assert "bound to no theorem" in capsys.readouterr().out
    old = {key: one for key, one in control.items() if key != "question"}
    assert told(old, tmp_path) == 3
    assert told({**control, "question": {**question, "core": "0" * 64}}, tmp_path) == 3
    assert "is stated otherwise" in capsys.readouterr().out


@pytest.mark.parametrize(
    "other",
    [
        {"theorem": "classics.gd.ergodic"},
        {"iterations": 3},
        {"iterations": 1},
        {"settings": {"alpha": "1", "L": "1", "R": "2"}},
        {"settings": {"alpha": "1/2", "L": "1", "R": "1"}},
        {"settings": {"alpha": "1", "L": "2", "R": "1"}},
    ],
)
def test_another_question_has_another_program(other: Json, control: Json) -> None:
    # Whoever renames the claim, too, has a program that is not the question's.
    from boundlab.theorems import core

    question = {**control["question"], **other}
    question["core"] = core(load_theorem(question["theorem"])).sha256
    assert not judged({**control, "question": question}).accepted


def test_certificates_of_all_kinds_are_bound_to_their_question(others: dict[str, Json]) -> None:
    assert {"area.theorem8", "in units of the step"} <= set(others)
    for name, raw in others.items():
        assert judged(raw).accepted, (name, judged(raw).open)
    raw = others["area.theorem8"]
    assert not judged({**raw, "rows": [one for one in raw["rows"] if one["kind"] != "given"]}).accepted


def test_a_point_of_a_program_that_is_larger_than_the_class_shows_no_function() -> None:
    from boundlab.worst_case.analysis import about, program_of
    from boundlab.worst_case.specification import ask

    theorem = load_theorem("classics.gd.nonconvex")
    for clients in (1, 2):
        plan = ask(theorem, 1, {"n": clients})
        kind, _, _, model = program_of(theorem, plan)
        zero = [[Fraction(0)] * model.program.points for _ in range(model.program.points)]
        nowhere = [Fraction(0)] * model.program.values
        raw = analysis.lower_file(model, kind, zero, nowhere, Fraction(0), about(plan))
        found = judged(json.loads(json.dumps(raw)))
        assert found.right
        assert found.accepted is (clients == 1) is not bool(kind.relaxed)


def leaves(raw: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if isinstance(raw, (dict, list)):
        items = raw.items() if isinstance(raw, dict) else enumerate(raw)
        return [one for key, value in items for one in leaves(value, (*path, key))]
    return [path]


def changed(raw: Json, rng: random.Random) -> tuple[str, Json]:
    """Return a certificate in which one thing is another: an entry, one less, one twice, or two exchanged."""
    own = copy.deepcopy(raw)
    path = rng.choice(leaves(own))
    if len(path) > 1 and rng.random() < 0.3:
        path = path[: rng.randrange(1, len(path))]
    above = own
    for key in path[:-1]:
        above = above[key]
    old, last = above[path[-1]], path[-1]
    how = rng.choice(("entry", "entry", "entry", "less", "twice", "exchanged"))
    if how == "entry" or not isinstance(above, (list, dict)):
        texts = ("1/3", "-1", "2", "0", "1/2", "4", "area.theorem8", "classics.gd.ergodic", "R", "", None, [], {}, True)
        above[last] = rng.choice([one for one in texts if one != old])
    elif how == "less":
        del above[last]
    elif isinstance(above, list):
        other = rng.randrange(len(above))
        if how == "twice":
            above.insert(other, copy.deepcopy(old))
        else:
            above[last], above[other] = above[other], old
    else:
        other = rng.choice(list(above))
        above[last] = above[other]
        if how == "exchanged":
            above[other] = old
    return f"{'/'.join(map(str, path))}: {how}", own


SAID = ("schema", "kind", "claim", "question", "class", "value", "basis", "values", "functions", "objective")


def says(raw: Json) -> tuple[Any, ...]:
    """Return what a certificate claims, and of what: all but how it is proved; and what it takes as given."""
    own = sorted(json.dumps(one["form"]) for one in raw["rows"] if isinstance(one, dict) and "form" in one)
    return (*(json.dumps(raw.get(key)) for key in SAID), *own)


def test_of_500_random_changes_none_is_accepted_that_says_something_else(
    control: Json, others: dict[str, Json], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Some seconds: a change that leaves every line right has its question asked anew; programs are made once.
    own_programs, made = analysis._programs, dict[str, Any]()

    def once(theorem: Any, plan: Any, side: str) -> Any:
        key = json.dumps([plan.asked, side])
        if key not in made:
            made[key] = list(own_programs(theorem, plan, side))
        return made[key]

    monkeypatch.setattr(analysis, "_programs", once)
    rng = random.Random(46)  # noqa: S311  (forgeries, no secret)
    wrong, many = [], 0
    while many < 500:
        raw = control if many < 440 else others["area.theorem8"]
        words, own = changed(raw, rng)
        many += own != raw
        if judged(own).accepted and says(own) != says(raw):
            wrong.append(words)
    assert wrong == []
