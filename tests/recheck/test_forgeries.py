"""Forged proof files: none is accepted, by the checker with the setting of the theorem that the file names."""

import copy
import json
import random
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from pathlib import Path as File
from typing import Any

import pytest
from proof_files import Path, changed, edited, file_of, outcome, refused, registered

from boundlab.cli import invoke
from boundlab.prove.trace import registered_theorem, with_setting
from boundlab.recheck import Finding, digest, recheck_loaded
from boundlab.theorems import core, load_theorem

FINISHED = [one.id for one in registered().values() if not one.printed]
CONVEX, AREA, DELAYED = "classics.gd.convex", "area.theorem8.repaired", "classics.delayed-sgd"
SUBGRADIENT = "classics.subgradient.fixed-step"


def judged(raw: dict[str, Any]) -> Finding:
    """Return what the command says of a file."""
    found = recheck_loaded(raw)
    theorem = registered_theorem(raw) if found.right and raw["statement"] else None
    return found if theorem is None else with_setting(raw, found, theorem)


def file(name: str) -> dict[str, Any]:
    return copy.deepcopy(file_of(name))


def number(value: int) -> dict[str, Any]:
    return {"top": [[str(value), []]] if value else []}


def constant(value: int) -> list[Any]:
    return [[number(value), ["one"]]] if value else []


def line_of(raw: Any, rule: str, schema: str = "") -> tuple[int, Any]:
    return next(
        (place, line)
        for place, line in enumerate(raw["facts"])
        if line["rule"] == rule and (not schema or line["data"].get("schema") == schema)
    )


def renamed(raw: dict[str, Any], theorem: str) -> dict[str, Any]:
    """Return a file that states another registered theorem, with the right hash."""
    stated = json.loads(core(load_theorem(theorem)).json)
    return {**raw, "theorem": theorem, "statement": stated, "sha256": digest(stated)}


class TestNamed:
    """Files that were once accepted."""

    @pytest.fixture
    def told(self, tmp_path: File, capsys: pytest.CaptureFixture[str]) -> Any:
        def tell(raw: dict[str, Any], *more: str) -> tuple[int, str]:
            path = tmp_path / "proof.json"
            path.write_text(json.dumps(raw), encoding="utf-8")
            return invoke(["recheck", str(path), *(more or ("-q",))]), capsys.readouterr().out

        return tell

    def test_the_proof_of_a_refuted_theorem(self, told: Any) -> None:
        code, line = told(file("area.theorem8"))
        assert code == 3
        assert line.startswith("not decided: ")
        assert "the step Lemma 21 is applied, which is only claimed" in line
        code, text = told(file("area.theorem8"), "--json")
        assert code == 3
        assert json.loads(text)["verdict"] == "not decided"
        assert any("Lemma 21" in one for one in json.loads(text)["trusted"])

    @pytest.mark.parametrize(
        ("rule", "data"),
        [("at", {"values": {}}), ("total", {"index": "k", "lo": number(0), "hi": number(1), "weight": number(1)})],
    )
    def test_an_equation_of_vectors_of_which_a_claim_about_numbers_is_made(
        self, told: Any, rule: str, data: dict[str, Any]
    ) -> None:
        """0 = 0 between vectors has no claim with two sides; neither has what follows from it."""
        raw = file(SUBGRADIENT)
        place, (first, *_), concluded = len(raw["facts"]), raw["facts"], raw["facts"][raw["conclusions"][0]]
        line = {"context": 0, "axioms": []}
        nothing = {"multipliers": [], "vectors": []}
        raw["facts"] += [
            {**line, "rule": "combine vectors", "premises": [], "data": nothing, "left": [], "right": []},
            {**line, "rule": rule, "premises": [place], "data": data, "claim": concluded["claim"]},
            {**line, "rule": rule, "premises": [0], "axioms": first["axioms"], "data": data, "left": [], "right": []},
        ]
        raw["conclusions"] = [place + 1]
        code, said = told(raw)
        assert code == 1
        assert f"fact {place + 1} ({rule}): its relation is another one" in said
        raw["facts"][place + 1] = raw["facts"].pop()
        assert f"fact {place + 1} ({rule}): its relation is another one" in told(raw)[1]

    def test_a_rule_that_nobody_knows(self, told: Any) -> None:
        raw = file(SUBGRADIENT)
        line_of(raw, "combine")[1]["rule"] = "because"
        for how in ("-q", "-v", "--json"):
            code, said = told(raw, how)
            assert code == 3
            assert "does not replay: because" in said

    @pytest.mark.parametrize("schema", [None, "convex", "GdSetting.convex", "Setting.convex", "setting"])
    def test_an_axiom_called_convex_that_says_1_is_at_most_0(self, schema: str | None, told: Any) -> None:
        raw = file(SUBGRADIENT)
        _, line = line_of(raw, "axiom", "convex")
        line["claim"] = {"left": constant(1), "relation": "<=", "right": []}
        line["data"] = {} if schema is None else {**line["data"], "schema": schema}
        assert told(raw)[0] in (1, 3)

    def test_a_file_of_one_false_axiom(self, told: Any) -> None:
        raw = file(CONVEX)
        line = {
            "rule": "axiom",
            "context": 0,
            "premises": [],
            "axioms": ["convex"],
            "data": {},
            "claim": {"left": constant(1), "relation": "<=", "right": []},
        }
        bare = {"theorem": "", "statement": None, "sha256": None, "problem": None, "vectors": {}, "functions": {}}
        small = {"slopes": {}, "laws": [], "symbols": [], "parameters": [], "contexts": [{"kind": "root"}]}
        code, said = told({**raw, **bare, **small, "facts": [line], "steps": [], "conclusions": [0]})
        assert code == 3
        assert "an axiom called convex" in said

    @pytest.mark.parametrize("empty", [True, False])
    def test_one_true_axiom_at_two_values_of_a_parameter(self, empty: bool, told: Any) -> None:
        # ‖x_0 − x*‖² = R² for R = 1 and for R = 2: 3 ≤ 0.
        raw = file(CONVEX)
        raw["parameters"] = [] if empty else [one for one in raw["parameters"] if one != "R"]
        place, start = line_of(raw, "axiom", "start")
        raw["facts"] = raw["facts"][: place + 1]
        for value in (1, 2):
            claim = {**start["claim"], "right": constant(value**2)}
            raw["facts"].append(
                {**start, "rule": "at", "premises": [place], "claim": claim, "data": {"values": {"R": number(value)}}}
            )
        raw["facts"].append(
            {
                **start,
                "rule": "combine",
                "premises": [place + 1, place + 2],
                "claim": {"left": constant(3), "relation": "=", "right": []},
                "data": {"multipliers": [number(-1), number(1)], "rest": number(0)},
            }
        )
        raw |= {"steps": [], "conclusions": [place + 3]}
        assert told(raw)[0] in (1, 3)

    @pytest.mark.parametrize(
        "other", ["classics.gd.strongly-convex", "classics.subgradient.fixed-step", "area.theorem8"]
    )
    def test_the_proof_of_one_theorem_under_the_name_of_another(self, other: str, told: Any) -> None:
        assert told({**file(CONVEX), "theorem": other})[0] == 3  # its statement is another one
        code, line = told(renamed(file(CONVEX), other))
        assert code in (1, 3)
        assert other in line or code == 1

    def test_the_proof_of_the_repair_under_the_name_of_the_refuted_theorem(self, told: Any) -> None:
        code, line = told(renamed(file(AREA), "area.theorem8"))
        assert code == 3
        assert "taken on trust: the setting of area.theorem8" in line

    def test_a_statement_with_fewer_assumptions(self, told: Any) -> None:
        raw = file(CONVEX)
        raw["statement"]["options"] = [{**one, "how": "open"} for one in raw["statement"]["options"]]
        assert told(raw)[0] == 1  # another hash
        code, line = told({**raw, "sha256": digest(raw["statement"])})
        assert code == 3
        assert "the statement: options of classics.gd.convex" in line

    def test_a_theorem_that_nobody_has_registered_is_printed_and_not_decided(
        self, tmp_path: File, capsys: pytest.CaptureFixture[str]
    ) -> None:
        raw = file(AREA)
        raw["theorem"] = "mine"
        path = tmp_path / "proof.json"
        path.write_text(json.dumps({**raw, "sha256": digest(raw["statement"])}), encoding="utf-8")
        assert invoke(["recheck", str(path)]) == 3
        said = capsys.readouterr().out
        assert "No theorem mine is registered" in said
        assert "metric: ergodic-gap" in said
        assert "e[@0;@1;@2] is drawn at (@1, @2)" in said
        assert "parameters, of which no instances are taken: B, K, M" in said

    @pytest.mark.parametrize("name", [AREA, DELAYED])
    def test_a_noise_that_is_drawn_later_or_known_earlier(self, name: str, told: Any) -> None:
        for which, time in (("clock", number(-9)), ("drawn", number(10**6))):
            raw = file(name)
            raw["vectors"]["e"][which] = [time] * len(raw["vectors"]["e"][which])
            assert told(raw)[0] in (1, 3)

    def test_a_delay_that_is_always_0(self, told: Any) -> None:
        raw = file(DELAYED)
        next(one for one in raw["symbols"] if one["name"] == "tau_max")["high"] = number(0)
        assert told(raw)[0] in (1, 3)

    def test_a_step_that_is_another_number(self, told: Any) -> None:
        raw = file(AREA)
        place, line = line_of(raw, "axiom", "setting")
        line["data"]["args"] = [["whole", 1 - line["data"]["args"][0][1]]]
        code, said = told(raw)
        assert code == 3
        assert f"fact {place}" in said


# Edits of the file of one proof, each with words of what is said of it then.
OF_ONE = json.loads((File(__file__).parent / "forged" / f"{SUBGRADIENT}.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", OF_ONE)
def test_an_edited_file_of_one_proof_is_not_accepted(name: str) -> None:
    words, edits = OF_ONE[name]
    found = judged(edited(file_of(SUBGRADIENT), edits))
    assert not found.accepted
    assert words in "; ".join((found.reason, *found.open))


# ---------------------------------------------------------------------- random changes


def places(raw: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield all that stands in a file: numbers, names, and lists and objects, each with its place."""
    yield path, raw
    if isinstance(raw, dict | list):
        for key in raw if isinstance(raw, dict) else range(len(raw)):
            yield from places(raw[key], (*path, key))


@cache
def kinds(name: str) -> dict[str, list[tuple[Path, Any]]]:
    """Return what may be changed in a file, by what it is: a relation, a premise, a rule, its data, a range, a step.

    What a proof is called is nothing that is checked.
    """
    found: dict[str, list[tuple[Path, Any]]] = {}
    for path, value in places(file_of(name)):
        if path and path[0] not in ("proof", "schema"):
            kind = path[2] if path[0] == "facts" and len(path) > 2 else path[0]
            found.setdefault(path[-1] if path[-1] in ("relation", "fact", "by") else kind, []).append((path, value))
    return found


def another(value: Any, like: list[Any], rng: random.Random) -> Any:
    """Return something else of the same sort: another number, or what stands elsewhere in a place of this kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + rng.choice((-2, -1, 1, 2))
    if isinstance(value, str) and value.lstrip("-").replace("/", "").isdecimal():
        return str(rng.choice((-1, 1, 2)) * Fraction(value) + rng.choice((-1, 1, Fraction(1, 2))))
    if isinstance(value, list) and value and rng.random() < 0.5:
        gone = rng.randrange(len(value))
        return value[:gone] + value[gone + 1 :]
    others = [one for one in like if type(one) is type(value) and one != value]
    return rng.choice(others or [one for one in (None, 0, "x", number(1)) if one != value])


def a_change(name: str, rng: random.Random) -> tuple[Path, Any]:
    """Return a place in a file and what stands there in place of the right thing."""
    chosen = kinds(name)[rng.choice(sorted(kinds(name)))]
    path, value = rng.choice(chosen)
    return path, another(value, [one for _, one in chosen], rng)


@cache
def unchanged(name: str) -> Finding:
    return judged(file_of(name))


def claimed(found: Finding) -> tuple[Any, ...]:
    """Return what is claimed, of which theorem, on which assumptions.

    Ranges of the theorem's symbols are the setting's to compare; a proof may run its own indices through others.
    """
    given = sorted(one for one in found.given if not one.startswith("range: "))
    return found.reason, found.claim, given, sorted(found.declared)


def changes(names: list[str], many: int, seed: str) -> Iterator[tuple[str, str]]:
    """Yield what comes of changes: refused, or accepted with the same claim, or with another; and what was changed."""
    rng = random.Random(seed)  # noqa: S311  (forgeries, no secret)
    for _ in range(many):
        name = rng.choice(names)
        path, new = a_change(name, rng)
        raw = changed(file_of(name), path, new)
        right = path[0] != "facts" or len(path) < 3 or not refused(name, raw, path[1])
        found = judged(raw) if right else None
        if found is None or not found.accepted:
            yield "refused", ""
            continue
        same = claimed(found) == claimed(unchanged(name)) and raw["statement"] == file_of(name)["statement"]
        yield "the same" if same else "another", f"{name}: {path} = {new}"


def no_other_claim(names: list[str], many: int, seed: str) -> None:
    found = list(changes(names, many, seed))
    assert [words for come, words in found if come == "another"] == []
    assert sum(come == "refused" for come, _ in found) >= many // 2


def test_no_random_change_is_accepted_that_claims_something_else() -> None:
    no_other_claim([CONVEX, AREA, DELAYED], 40, "by day")


@pytest.mark.nightly
@pytest.mark.parametrize("name", FINISHED)
def test_none_of_1000_random_changes_is_accepted_that_claims_something_else(name: str) -> None:
    no_other_claim([name], 1000 // len(FINISHED) + 1, f"nightly {name}")


def test_the_command_accepts_what_is_proved() -> None:
    assert outcome(DELAYED).proved
    assert judged(file_of(DELAYED)).accepted


@pytest.mark.parametrize("odd", ["k", True, {}, [[]], [["x"]], [{"top": "k"}], [{"top": [["1", [["zz", 1]]]]}], 7])
@pytest.mark.parametrize("which", ["clock", "drawn"])
def test_a_malformed_clock_is_refused_in_a_line(which: str, odd: Any) -> None:
    raw = file(CONVEX)
    for own in raw["vectors"].values():
        own[which] = odd
    found = judged(raw)
    assert not found.accepted
    assert "\n" not in found.reason
