"""The published schemas hold of everything that is written, and of every file that is shipped."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from command_examples import QUICK, RUN

from benchmarks.json_keys import PAGE, described, page
from boundlab.cli import invoke
from boundlab.records import published, schema_names

ROOT = Path(__file__).parents[2]
FILES = {
    "case": [*ROOT.glob("proofs/counterexamples/*.json")],
    "counterexample": [*ROOT.glob("proofs/counterexamples/*.json")],
    "theorem": [
        *ROOT.glob("boundlab/theorems/**/*.toml"),
        *(one for one in ROOT.glob("tests/**/*.toml") if "[terms]" in one.read_text(encoding="utf-8")),
    ],
}


def validator(name: str) -> Any:
    return jsonschema.Draft202012Validator(published(name))


@pytest.mark.parametrize("name", schema_names())
def test_each_is_a_schema_and_can_be_printed(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["docs", name, "--schema"]) == 0
    printed = json.loads(capsys.readouterr().out)
    jsonschema.Draft202012Validator.check_schema(printed)
    assert printed["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert printed["description"]


def test_all_are_listed_and_another_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["docs", "--schema"]) == 0
    out = capsys.readouterr().out
    assert [name for name in schema_names() if name not in out] == []
    assert schema_names() == ["case", "certificate", "counterexample", "proof", "result", "theorem"]
    assert invoke(["docs", "cases", "--schema"]) == 2
    assert invoke(["docs", "../../pyproject", "--schema"]) == 2


@pytest.mark.parametrize("kind", FILES)
def test_every_shipped_file_keeps_its_schema(kind: str) -> None:
    assert len(FILES[kind]) > 9
    for path in FILES[kind]:
        text = path.read_text(encoding="utf-8")
        validator(kind).validate(tomllib.loads(text) if path.suffix == ".toml" else json.loads(text))


def test_every_key_is_described_and_stands_on_the_page() -> None:
    documents = [published(name)["properties"] for name in schema_names() if name != "theorem"]
    documents += described(published("result")).values()
    for properties in documents:
        assert [key for key, one in properties.items() if not one.get("description")] == []
    text = PAGE.read_text(encoding="utf-8")
    assert text == page(text), "python -m benchmarks.json_keys --write"
    theorems = (ROOT / "docs" / "theorems.md").read_text(encoding="utf-8")
    assert [key for key in published("theorem")["properties"] if not re.search(rf"`[\[ ]*{key}\b", theorems)] == []


def test_every_file_that_is_left_keeps_its_schema(place: Path) -> None:
    assert invoke([*QUICK["worst-case"], "--out=function.json", "--certificate=upper.json"]) == 0
    assert invoke(["prove", "area.optimal-rate", "--trace=trace.json"]) == 0
    assert invoke(["compare", "area.theorem8", *RUN, "--trials=200", "--out=out"]) == 1
    for kind, file in (
        ("case", "function.json"),
        ("certificate", "upper.json"),
        ("proof", "trace.json"),
        ("result", "out/result.json"),
        ("counterexample", "out/area.theorem8.case.json"),
    ):
        validator(kind).validate(json.loads((place / file).read_text(encoding="utf-8")))


@pytest.mark.nightly
def test_the_audit_keeps_the_schema_of_results(place: Path) -> None:
    assert invoke([*QUICK["audit"], "--json=audit.json"]) == 0
    found = json.loads((place / "audit.json").read_text(encoding="utf-8"))
    validator("result").validate(found)
    known = described(published("result"))
    assert set(found) - set(known[""]) == set(known[found["schema"]])
