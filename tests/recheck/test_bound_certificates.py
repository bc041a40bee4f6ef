"""Certificates of worst cases and their checker: it accepts what is right, and no forgery of it.

They are bound to their question: what a theorem does not say is accepted of none.
"""

import copy
import json
import random
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given as drawn, strategies as st

from boundlab.cli import invoke
from boundlab.recheck import SCHEMA, Finding, Form, Sample, gradient_bound, interpolation, recheck_loaded, text_of
from boundlab.recheck._forms import number_of
from boundlab.theorems import load_theorem
from boundlab.worst_case import analysis
from boundlab.worst_case.analysis import bound

pytest.importorskip("cvxpy")

Json = dict[str, Any]
STEEP = "0x" + "f" * 400_000


# By name: a theorem, so many iterations, what is asked beside them, and which side.
ASKED: dict[str, tuple[str, int, Json, str]] = {
    "smooth, attained": ("classics.gd.convex", 2, {}, "upper"),
    "strongly convex": ("classics.gd.strongly-convex", 2, {"settings": {"mu": "1/10"}}, "upper"),
    "Lipschitz": ("classics.subgradient.fixed-step", 2, {"settings": {"alpha": "1/2"}}, "upper"),
    "in units of the step": ("classics.sgd.convex", 2, {"settings": {"n": 2}}, "upper"),
    "not convex": ("classics.gd.gradient", 2, {}, "upper"),
    "random events, a function": ("area.theorem8", 5, {"settings": {"p": [0.5], "M": 3}}, "lower"),
}
GIVEN_EVENTS = "area.theorem8", 2, {"settings": {"p": [0.5]}, "events": [[1, 0], [2, "s"]]}, "upper"
UNREAD = ("words", "claim", "class", "schema", "kind", "basis", "question")


def asked(theorem: str, iterations: int, more: Json, side: str) -> tuple[Json, Any]:
    """Return a certificate as a file has it, and the result that it is of."""
    from boundlab.worst_case import worst_case

    result = worst_case(load_theorem(theorem), iterations, **more)
    return dict(json.loads(json.dumps(result.certificates[side]))), result


@pytest.fixture(scope="module")
def kept() -> dict[str, tuple[Json, Any]]:
    return {name: asked(*question) for name, question in ASKED.items()}


@pytest.fixture(scope="module")
def control() -> Json:
    return asked("classics.gd.convex", 2, {"settings": {"alpha": "1", "L": "1", "R": "1"}}, "upper")[0]


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


def test_certificates_of_given_events_and_of_a_start_are_bound_to_their_question(kept: dict[str, Any]) -> None:
    assert judged(asked(*GIVEN_EVENTS)[0]).accepted
    raw, _ = kept["random events, a function"]
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
    control: Json, kept: dict[str, Any], monkeypatch: pytest.MonkeyPatch
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
        raw = control if many < 440 else kept["random events, a function"][0]
        words, own = changed(raw, rng)
        many += own != raw
        if judged(own).accepted and says(own) != says(raw):
            wrong.append(words)
    assert wrong == []


# ---------------------------------------------------------------------- lines and their numbers


def numbers_of(raw: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the places of all fractions."""
    if isinstance(raw, dict):
        for key, one in raw.items():
            if key not in (*UNREAD, "values" if path == () else ""):
                yield from numbers_of(one, (*path, key))
    elif isinstance(raw, list):
        for place, one in enumerate(raw):
            yield from numbers_of(one, (*path, place))
    elif isinstance(raw, str):
        yield path


@pytest.mark.parametrize("name", ASKED)
def test_what_the_first_checker_has_accepted_is_accepted(name: str, kept: dict[str, Any]) -> None:
    certificate, result = kept[name]
    found = judged(certificate)
    assert found.accepted, found.reason
    value = Fraction(certificate["value"])
    if ASKED[name][3] == "lower":
        assert value == result.certified_lower
    elif name != "in units of the step":
        assert value == result.certified_upper
    # What is given is the start alone: all other rows are inequalities of the class, made anew from the samples.
    assert found.given == ("‖x_0 − x*‖² ≤ 1",) or name == "not convex"


@pytest.mark.parametrize("name", ASKED)
def test_no_number_can_be_forged(name: str, kept: dict[str, Any]) -> None:
    certificate, _ = kept[name]
    for place in numbers_of(certificate):
        if certificate["kind"] == "lower" and place[0] not in ("value", "objective"):  # a point may have room to move
            continue
        for change in (Fraction(1, 7), Fraction(-1, 10**9)):
            forged = copy.deepcopy(certificate)
            target = forged
            for key in place[:-1]:
                target = target[key]
            target[place[-1]] = text_of(number_of(target[place[-1]]) + change)
            assert not judged(forged).accepted, place


@drawn(
    st.fractions(Fraction(1, 4), 4),
    st.fractions(-3, 3),
    st.fractions(-3, 3),
    st.fractions(0, 4),
    st.fractions(-2, 2),
)
def test_the_inequalities_hold_for_functions_of_the_class(
    L: Fraction, x: Fraction, y: Fraction, mu: Fraction, c: Fraction
) -> None:
    # In one dimension, with the basis vector 1: Huber's function of curvature L, and a·u²/2 for mu ≤ a ≤ L.
    def huber(u: Fraction) -> Sample:
        inside = abs(u) <= 1
        value = L * u * u / 2 if inside else L * (abs(u) - Fraction(1, 2))
        return Sample({0: u}, {0: L * (u if inside else Fraction(1 if u > 0 else -1))}, Form(constant=value))

    def parabola(a: Fraction, u: Fraction) -> Sample:
        return Sample({0: u}, {0: a * (u - c)}, Form(constant=a * (u - c) ** 2 / 2))

    def at(form: Form) -> Fraction:
        return form.constant + form.gram.get((0, 0), Fraction(0))

    assert at(interpolation(huber(x), huber(y), Fraction(0), 1 / L)) <= 0
    assert at(gradient_bound(huber(x), L * L)) <= 0
    low = min(mu, L / 2)
    for curvature in (low, (low + L) / 2, L):
        assert at(interpolation(parabola(curvature, x), parabola(curvature, y), low, 1 / L)) <= 0
    assert at(interpolation(parabola(-L, x), parabola(-L, y), -L, 1 / L)) == 0
    # Not idle: a steeper parabola breaks it.
    if x != y:
        assert at(interpolation(parabola(2 * L, x), parabola(2 * L, y), Fraction(0), 1 / L)) > 0


@drawn(st.fractions())
def test_fractions_are_read_as_they_are_written(number: Fraction) -> None:
    assert number_of(text_of(number)) == number


def test_long_fractions_are_written_too() -> None:
    long = Fraction(3**20_000, 7**20_000)
    assert number_of(text_of(-long)) == -long


def test_the_checker_shares_nothing_with_the_search() -> None:
    code = (
        "import sys, boundlab.recheck; "
        "heavy = ('sympy', 'numpy', 'scipy', 'cvxpy', 'PEPit', 'flint'); "
        "own = ('boundlab.recheck', 'boundlab.__about__'); "
        "print(sorted(one for one in sys.modules if one.split('.')[0] in heavy "
        "or one.startswith('boundlab.') and not one.startswith(own)))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


class TestCommand:
    """``boundlab worst-case --certificate`` and ``boundlab recheck``."""

    def test_what_one_writes_the_other_accepts(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        file = tmp_path / "certificate.json"
        assert invoke(["worst-case", "classics.gd.convex", "--iterations", "1", "--certificate", str(file)]) == 0
        assert f"written: {file}" in capsys.readouterr().out
        assert invoke(["recheck", str(file)]) == 0
        shown = capsys.readouterr().out
        assert "accepted: classics.gd.convex: the objective is at most 1/6" in shown
        assert "‖x_0 − x*‖² ≤ 1" in shown
        raw = json.loads(file.read_text(encoding="utf-8"))
        file.write_text(json.dumps({**raw, "value": "1/7"}), encoding="utf-8")
        assert invoke(["recheck", str(file), "--json"]) == 1
        assert json.loads(capsys.readouterr().out)["verdict"] == "rejected"

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("{}", "is no certificate"),
            ("[", "is no JSON file"),
            ("\udcff", "is no JSON file"),
            ("[" * 100_000, "no JSON file"),
            ("[" + 5000 * "7" + "]", "too many digits"),
        ],
    )
    def test_what_is_none_is_one_line(
        self, text: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        file = tmp_path / "x.json"
        file.write_text(text, encoding="utf-8", errors="surrogateescape")
        assert invoke(["recheck", str(file)]) == 2
        assert words in capsys.readouterr().err
        assert invoke(["recheck", str(tmp_path)]) == 2
        assert invoke(["recheck", str(tmp_path / "nothing")]) == 2
