"""Forged proof files: none is accepted, by the checker with the setting of the theorem that the file names."""

import copy
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from proof_files import HEAVY, answered, changed, checked, coefficients, file_of, outcome, refused, registered, replayed

from boundlab.cli import invoke
from boundlab.prove.binding import registered_theorem, with_setting
from boundlab.recheck import Finding, digest, recheck_loaded
from boundlab.theorems import core, load_theorem

FINISHED = [one.id for one in registered().values() if not one.printed]
BY_DAY = [name for name in FINISHED if name not in HEAVY and name != "fedcompass.group"]
CONVEX, AREA, DELAYED = "classics.gd.convex", "area.theorem8.repaired", "classics.delayed-sgd"


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
    def told(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Any:
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

    def test_a_rule_that_nobody_knows(self, told: Any) -> None:
        raw = file("classics.subgradient.fixed-step")
        line_of(raw, "combine")[1]["rule"] = "because"
        for how in ("-q", "-v", "--json"):
            code, said = told(raw, how)
            assert code == 3
            assert "does not replay: because" in said

    @pytest.mark.parametrize("schema", [None, "convex", "GdSetting.convex", "Setting.convex", "setting"])
    def test_an_axiom_called_convex_that_says_1_is_at_most_0(self, schema: str | None, told: Any) -> None:
        raw = file("classics.subgradient.fixed-step")
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
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
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

    @pytest.mark.parametrize("place", ["", "facts", "symbols", "steps", "data", "claim", "problem", "vectors"])
    def test_a_key_that_nobody_knows(self, place: str, told: Any) -> None:
        raw = file(AREA)
        there = {
            "": raw,
            "problem": raw["problem"],
            "vectors": raw["vectors"]["e"],
            "data": line_of(raw, "combine")[1]["data"],
            "claim": line_of(raw, "combine")[1]["claim"],
        }.get(place)
        (raw[place][0] if there is None else there)["comment"] = "trust me"
        code, line = told(raw)
        assert code == 1
        assert "is no key that is known here" in line


class TestWork:
    """Work is counted, not timed: a small file that asks for much of it is not checked to its end."""

    @pytest.fixture
    def small(self) -> dict[str, Any]:
        return file("small.bernoulli")

    def test_a_power_of_many_terms(self, small: dict[str, Any]) -> None:
        terms = [["1", [["a", 1], ["k", place]]] for place in range(400)]
        small["facts"][0]["data"]["value"] = {"top": [["1", []]], "below": [[terms, 900]]}
        found = judged(small)
        assert found.verdict == "not decided"
        assert "steps of work" in found.reason

    def test_nested_indices(self, small: dict[str, Any]) -> None:
        one: Any = "k"
        for _ in range(400):
            one = ["u", [[["1", [[one, 1]]]]], None]
        small["facts"][0]["data"]["value"] = {"top": [["1", [[one, 1]]]]}
        assert judged(small).verdict == "rejected"


# ---------------------------------------------------------------------- random forgeries


def said(raw: dict[str, Any], place: int) -> tuple[Any, ...]:
    return tuple(raw["facts"][place].get(key) for key in ("axioms", "claim", "left", "right"))


def forged(name: str, rng: random.Random) -> tuple[str, int | None, dict[str, Any]]:
    """Return a file in which one thing is changed, in words, and the line it stands in, if in one.

    What says the same as before is no forgery: another premise with the same claim, 0 ≥ 0 for 0 ≤ 0, and the square of
    −v for that of v.
    """
    raw = file_of(name)
    kind = rng.choice(("claim", "number", "premise", "rule", "clock", "parameter"))
    numbers = range(len(raw["facts"]))
    match kind:
        case "claim" | "number":
            place = rng.choice(numbers)
            line = raw["facts"][place]
            keys = ("claim", "left", "right") if kind == "claim" else ("data",)
            found = [one for key in keys if key in line for one in coefficients(line[key], (key,))]
            if kind == "claim" and "claim" in line and replayed(name).facts[place].says.body and rng.random() < 0.2:
                other = rng.choice([one for one in ("<=", ">=", "=") if one != line["claim"]["relation"]])
                found = [(("claim", "relation"), other)]
            if line["rule"] == "square":
                found = [one for one in found if one[0] != ("data", "vector", 0, 0, "top", 0, 0)]
            if found:
                path, new = rng.choice(found)
                return f"fact {place}, {path} = {new}", place, changed(raw, ("facts", place, *path), new)
        case "premise":
            place = rng.choice([one for one in numbers if raw["facts"][one]["premises"]])
            which, new = rng.randrange(len(raw["facts"][place]["premises"])), rng.randrange(place)
            if said(raw, new) != said(raw, raw["facts"][place]["premises"][which]):
                path = ("facts", place, "premises", which)
                return f"fact {place}, premise {which} = {new}", place, changed(raw, path, new)
        case "rule":
            place = rng.choice(numbers)
            rules = sorted({line["rule"] for line in raw["facts"]} - {raw["facts"][place]["rule"]})
            new = rng.choice([*rules, "axiom", "claimed", "because"])
            if new != raw["facts"][place]["rule"]:
                return f"fact {place} by {new}", place, changed(raw, ("facts", place, "rule"), new)
        case "clock":
            vector = rng.choice(sorted(raw["vectors"]) or [""])
            found = [
                (("vectors", vector, which, *path), new)
                for which in ("clock", "drawn")
                if vector and raw["vectors"][vector][which]
                for path, new in coefficients(raw["vectors"][vector][which])
            ]
            if found:
                path, new = rng.choice(found)
                return f"{path} = {new}", None, changed(raw, path, new)
        case "parameter":
            if raw["parameters"]:
                which = rng.randrange(len(raw["parameters"]))
                kept = [one for place, one in enumerate(raw["parameters"]) if place != which]
                return f"no parameter {raw['parameters'][which]}", None, {**raw, "parameters": kept}
    return forged(name, rng)


def ends_with_0(name: str, place: int | None, raw: dict[str, Any]) -> bool:
    """Return whether a forged file is accepted; what stands before the line that was changed is not checked again."""
    if place is None:
        return answered(name, raw, checked(name)).accepted and judged(raw).accepted
    if raw["facts"][place]["rule"] in ("claimed", "because") or refused(name, raw, place):
        return False
    return judged(raw).accepted


def accepted_forgeries(names: list[str], many: int, seed: str) -> Iterator[str]:
    rng = random.Random(seed)  # noqa: S311  (forgeries, no secret)
    for _ in range(many):
        name = rng.choice(names)
        words, place, raw = forged(name, rng)
        if ends_with_0(name, place, raw):
            yield f"{name}: {words}"


def test_no_random_forgery_is_accepted() -> None:
    assert list(accepted_forgeries(BY_DAY, 60, "by day")) == []


@pytest.mark.nightly
@pytest.mark.parametrize("name", FINISHED)
def test_none_of_2000_random_forgeries_is_accepted(name: str) -> None:
    assert list(accepted_forgeries([name], 2000 // len(FINISHED) + 1, f"nightly {name}")) == []


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
