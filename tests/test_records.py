"""Files as typed records: what is wrong is said in one sentence, innermost first, and schemas say the same."""

from typing import Any

import jsonschema
import msgspec
import pytest

from boundlab.case import CaseFile
from boundlab.errors import CaseError, SpecError
from boundlab.records import published, record
from boundlab.sweep.plan import CellQuestion, PlanFile
from boundlab.theorems.record import TheoremFile

GOOD: dict[str, Any] = {"id": "mine", "metric": "last-gap", "terms": {"b": "R"}, "step": {"alpha": "1/L"}}
WRONG: list[tuple[Any, dict[str, Any], str]] = [
    (TheoremFile, {"step": {"alpha": "1"}}, "f: id is missing: its name"),
    (TheoremFile, GOOD | {"first": 3}, "f: first must be one of 0, 1, got 3"),
    (TheoremFile, GOOD | {"step": {}}, "f: step must be a table with a rate, got {}"),
    (TheoremFile, GOOD | {"step": {"alpha": True}}, "f: step.alpha must be a formula, text such as"),
    (TheoremFile, GOOD | {"left": {"quantity": "gap", "over": "lats"}}, "f, left: over must be one of last, average"),
    (
        TheoremFile,
        GOOD | {"left": {"quantity": "gap", "ovr": "last"}},
        "f, left: unknown key 'ovr'; did you mean over?",
    ),
    (TheoremFile, GOOD | {"left": [{"quantity": "gap"}, {"point": "y"}]}, "f, left 2: quantity is missing"),
    (TheoremFile, GOOD | {"left": [1]}, "f: left must be a table [left], or several [[left]], got [1]"),
    (TheoremFile, GOOD | {"assumptions": ["a", 1]}, "f: assumptions must be a list of texts, got ['a', 1]"),
    (TheoremFile, GOOD | {"conditions": [{"holds": 1}]}, "f, conditions 1: holds must be text, got 1"),
    (TheoremFile, GOOD | {"generous": {"K": 0}}, "f: generous.K must be a whole number of at least 1, got 0"),
    (
        TheoremFile,
        GOOD | {"symbols": {"w": {"meaning": "w", "units": [1]}}},
        "f, symbols.w: units must be two integers",
    ),
    (TheoremFile, GOOD | {"note": "x" * 99 + "\n", "page": ["y" * 99]}, "f: page must be text, got ['yyyyyyyyy"),
    (CaseFile, {"algorithm": "gd", "problem": {"type": "lad"}, "delays": {"p": 1}}, "f, delays: type is missing"),
    (CaseFile, {"algorithm": "gd", "problem": {"type": "lad"}, "law": {}}, "f, law: delays is missing"),
    (CaseFile, {"algorithm": "gd", "problem": {"type": "lad"}, "server": 3}, 'f: server must be text, e.g. "poisson'),
    (CellQuestion, {"rate": 1}, "f: rate must be the share of false alarms of the whole sweep, in [1e-06, 1), got 1"),
    (CellQuestion, {"seeds": [-1]}, "f: seeds must be a whole number of at least 0"),
    (PlanFile, {"zip": {"M": [1]}}, "f: zip must be a list of tables, [[zip]], got"),
]


@pytest.mark.parametrize(("kind", "said", "words"), WRONG, ids=lambda one: str(one)[:40])
def test_the_innermost_value_that_is_wrong_is_named_with_what_would_be_right(
    kind: Any, said: dict[str, Any], words: str
) -> None:
    with pytest.raises(SpecError) as told:
        record(kind, said, "f")
    assert str(told.value).startswith(words)
    assert len(str(told.value)) < 300
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("kind", [TheoremFile, CaseFile, PlanFile])
@pytest.mark.parametrize("raw", [[1], "text", 3, None, True])
def test_what_is_no_table_is_refused(kind: Any, raw: Any) -> None:
    with pytest.raises(CaseError, match="f must hold a table, got"):
        record(kind, raw, "f", CaseError)


def refusal(kind: Any, said: dict[str, Any]) -> str:
    """Return how a record refuses what a file says; empty where it reads it."""
    try:
        record(kind, said, "f")
    except SpecError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("kind", [TheoremFile, CaseFile, CellQuestion])
def test_every_field_refuses_what_is_none_of_its_values_in_one_line(kind: Any) -> None:
    """Each field of each record is given values of all types: it is read, or refused by its name."""
    strange = ("\0", -1, 1e300, True, [], [[1]], {}, {"a": {"b": [None]}}, None)
    needed = {TheoremFile: GOOD, CaseFile: {"algorithm": "gd", "problem": {"type": "lad"}}, CellQuestion: {}}[kind]
    for field in msgspec.structs.fields(kind):
        name = field.encode_name
        told = [refusal(kind, needed | {name: value}) for value in strange]
        assert [one for one in told if one and (name not in one[: len(name) + 4] or "\n" in one)] == []


@pytest.mark.parametrize(("name", "kind"), [("theorem", TheoremFile), ("case", CaseFile)])
def test_the_published_schema_refuses_what_the_record_refuses(name: str, kind: Any) -> None:
    schema = jsonschema.Draft202012Validator(published(name))
    told = [said for of, said, _ in WRONG if of is kind]
    assert [said for said in told if schema.is_valid(said)] == []
