"""The core statement: nothing implicit, one hash, and a file that says it again."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from core_files import as_toml
from hypothesis import HealthCheck, assume, given, settings, strategies as st
from statements import statement

import boundlab as bl
from boundlab.cli import invoke
from boundlab.errors import BoundlabError, SpecError
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


@pytest.mark.sweep(4)
@pytest.mark.parametrize(
    ("name", "delays"),
    [
        ("classics.gd.convex", "deterministic"),
        ("classics.delayed-sgd", "exponential"),
        ("classics.sgd.heterogeneous", "exponential"),
        ("fedbuff.rf2", "exponential"),
        ("classics.incremental", "deterministic"),
        ("area.theorem8.repaired", "iid:p_s=0.5"),
    ],
)
def test_two_files_with_the_same_core_get_the_same_answer(name: str, delays: str, tmp_path: Path) -> None:
    theorem = load_theorem(name)
    problem = "lad:clients=2,dimension=1,x0=3" if "lipschitz" in theorem.assumptions else "quadratic:clients=2,sigma=0"
    problem = "huber:clients=2,dimension=1,x0=3" if name == "fedbuff.rf2" else problem
    problem = problem.replace("clients=2", "clients=1") if "one-function" in theorem.assumptions else problem
    found = [bl.compare(one, problem, delays, iterations=12, trials=8) for one in (theorem, again(tmp_path, theorem))]
    one, other = (result.as_dict() for result in found)
    assert one["core"] == other["core"] == core(theorem).sha256
    assert [one[key] for key in ("rows", "verdict", "values")] == [other[key] for key in ("rows", "verdict", "values")]


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


OWN = ("g", "kappa_1", "Lambda")
BOUNDS = ("L*R**2/K", "R**2*tau_max/(tau_max - 1)", "g*R**2/(1 - g)", "R**2*log(kappa_1)", "sqrt(R**2 + zeta**2)*L")
CONDITIONS = ("alpha <= 1/L", "1/(K - 1) <= 1", "g <= 1/2", "alpha*L <= 1/(1 + tau_max)")


@st.composite
def statements(draw: st.DrawFn) -> str:
    """Draw a file: any algorithm, left side, options left open or not, assumptions, conditions with denominators."""
    name = draw(st.sampled_from(sorted(registered("algorithms"))))
    algorithm = lookup("algorithms", name)
    rate = algorithm.step_size_symbols[0]
    options = {}
    for option, values in algorithm.examples(3).items():
        if option != rate and draw(st.integers(0, 2)) == 0:
            options[option] = draw(st.sampled_from(["any", *(one for one in values if one)]))
    if draw(st.booleans()):
        options["*"] = "any"
    about = draw(st.sampled_from(["", 'about = "each schedule"', 'about = "the mean"']))
    some = st.lists(st.sampled_from(["smooth", "convex", "minimiser", "bounded-variance", "composite"]), unique=True)
    limits = draw(st.lists(st.sampled_from(CONDITIONS), unique=True, max_size=2))
    lines = [
        'id = "drawn"',
        f'algorithm = "{name}"',
        f'metric = "{draw(st.sampled_from(sorted(registered("metrics"))))}"',
        f"first = {draw(st.integers(0, 1))}",
        about,
        f"assumptions = {json.dumps(draw(some))}",
        f"conditions = {json.dumps([one.replace('alpha', rate) for one in limits])}",
        "[options]",
        *(f"{json.dumps(key)} = {json.dumps(value)}" for key, value in options.items()),
        "[parameters]",
        "[step]",
        f'{rate} = "{draw(st.sampled_from(["1/L", "g/L", f"{rate}", "1/(L*(1 + n))"]))}"',
        "[terms]",
        *(
            f'{json.dumps(f"part {place}")} = "{term}"'
            for place, term in enumerate(draw(st.lists(st.sampled_from(BOUNDS), min_size=1, max_size=3, unique=True)))
        ),
        *(
            line
            for own in OWN
            for line in (f"[symbols.{own}]", f'meaning = "{own}"', 'domain = "positive"', "units = [0, 0]")
        ),
    ]
    return "\n".join(lines)


@pytest.mark.nightly
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(text=statements())
def test_elaborating_what_a_drawn_statement_prints_is_the_identity(text: str, tmp_path: Path) -> None:
    path = tmp_path / "drawn.toml"
    path.write_text(text, encoding="utf-8")
    try:
        theorem = load_theorem(str(path))
    except BoundlabError:
        assume(False)
    found = core(theorem)
    assert core(again(tmp_path, theorem)).fields == found.fields
    assert [one.id for one in found.options] == list(lookup("algorithms", theorem.algorithm).parameters)


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
