"""The core statement: nothing implicit, one hash, and a file that says it again."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from core_files import as_toml
from statements import statement

import boundlab as bl
from boundlab.cli import invoke
from boundlab.errors import SpecError
from boundlab.registry import lookup, registered
from boundlab.theorems import core, load_theorem, over, words_of_core

THEOREMS = sorted(registered("theorems"))
ITERATED = {name for name in THEOREMS if not registered("theorems")[name].bound.closed}


def again(folder: Path, theorem: Any) -> Any:
    path = folder / "again.toml"
    path.write_text(as_toml(core(theorem), "again"), encoding="utf-8")
    return load_theorem(str(path))


@pytest.mark.sweep(16)
@pytest.mark.parametrize("name", THEOREMS)
def test_elaborating_what_a_core_prints_is_the_identity(name: str, tmp_path: Path) -> None:
    theorem = load_theorem(name)
    if name in ITERATED:
        with pytest.raises(SpecError, match="iterated numerically is no formula"):
            as_toml(core(theorem))
        return
    other = again(tmp_path, theorem)
    assert core(other).fields == core(theorem).fields
    assert core(other).sha256 == core(theorem).sha256


@pytest.mark.sweep(10)
@pytest.mark.parametrize("name", THEOREMS)
def test_every_option_and_every_source_of_randomness_is_listed(name: str) -> None:
    theorem = load_theorem(name)
    algorithm, found = lookup("algorithms", theorem.algorithm), core(theorem)
    assert [one.id for one in found.options] == list(algorithm.parameters)
    for one in found.options:
        assert (one.how == "step") == (one.id in theorem.step)
        assert (one.how == "fixed") == (theorem.options.get(one.id, "any") != "any")
        assert one.varies >= (theorem.options.get(one.id) == "any")
    sources = over(theorem)
    assert [one.id for one in found.over] == [one.id for one in sources.sources]
    assert [one.id for one in found.over] == ["events", "noise", "batches", *(one.id for one in algorithm.draws)]
    assert (sources["events"] == "absent") == (not algorithm.arrivals)
    # What is registered means what it has always meant: draws are averaged where an assumption says their law.
    assert all(one.how in ("absent", "averaged" if sources.lawful else "given") for one in sources.draws)
    assert found.symbols.keys() >= set(theorem.inputs())


def changed(value: Any) -> Iterator[Any]:
    """Yield values that differ from a value in one place each."""
    match value:
        case bool():
            yield not value
        case int():
            yield value + 1
        case str():
            yield f"{value}?"
        case list():
            for place, one in enumerate(value):
                yield from ([*value[:place], other, *value[place + 1 :]] for other in changed(one))
                yield [*value[:place], *value[place + 1 :]]
            yield [*value, "more"]
        case dict():
            for name, one in value.items():
                yield from ({**value, name: other} for other in changed(one))


@pytest.mark.parametrize("name", ["area.theorem8", "afl_dga.r1", "classics.local-gd", "fedcompass.window.a"])
def test_changing_any_one_field_changes_the_hash(name: str) -> None:
    found = core(load_theorem(name))
    others = []
    for one in changed(found.fields):
        other = core(replace(found.theorem))  # a copy, of which nothing is known yet
        other.__dict__["fields"] = one
        others.append(other.sha256)
    assert len(others) > 100
    assert len({found.sha256, *others}) == 1 + len(set(others))
    assert found.sha256 not in others


def test_what_only_people_read_is_no_part_of_it(tmp_path: Path) -> None:
    theorem = load_theorem("classics.gd.convex")
    other = replace(theorem, id="mine", title="mine", paper="", note="mine", page="", proof="", letters={})
    assert core(other).fields == core(theorem).fields
    assert core(replace(theorem, first=1)).fields != core(theorem).fields


def test_what_cancels_in_a_formula_is_demanded_still(tmp_path: Path) -> None:
    terms = {"bound": "R**2*tau_max/tau_max"}
    mine = statement(tmp_path, algorithm="async_sgd", assumptions="convex smooth", step={"alpha": "1/L"}, terms=terms)
    found = core(mine)
    assert found.fields["right"][0][1]["where"] == ["tau_max != 0"]
    assert core(again(tmp_path, mine)).fields == found.fields


# Who checks or shows the words of the file itself.
OF_THE_FILE = {
    "checks/scope.py",
    "pages/theorem.py",
    "audit/_page.py",
    "testing/conform.py",
}
RAW = re.compile(r"\b(?:theorem|statement|t)\.(?:options|parameters|assumptions|about)\b")


def test_no_engine_reads_the_words_of_a_file_again() -> None:
    package = Path(bl.__file__).parent
    readers = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if path.parent.name != "theorems" and RAW.search(path.read_text(encoding="utf-8"))
    }
    assert readers <= OF_THE_FILE


def test_the_hash_is_of_no_words_of_help() -> None:
    theorem = load_theorem("classics.gd.convex")
    help_ = lookup("algorithms", "gd").parameters.values()
    assert not any(words in core(theorem).json for words in help_)
    assert "boundlab." not in core(theorem).json


@pytest.mark.sweep(10)
@pytest.mark.parametrize("name", THEOREMS)
def test_a_core_is_shown_in_words_and_as_json(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = core(load_theorem(name))
    text = "\n".join(words_of_core(found))
    for word in (
        found.fields["algorithm"],
        found.sha256,
        *(one.id for one in found.options),
        *(one.words for one in found.over),
    ):
        assert word in text
    right, iterated = found.fields["right"], found.fields["recursion"]
    assert all(term["text"] in text for _, term in right)
    assert right or (iterated and iterated in text)
    if name == "classics.gd.convex":
        assert invoke(["show", name, "--core"]) == 0
        assert capsys.readouterr().out == text + "\n"
        assert invoke(["show", name, "--core", "--json"]) == 0
        shown = json.loads(capsys.readouterr().out)
        assert shown == found.as_dict()
        assert {"schema", "sha256"} == set(shown) - set(found.fields)
