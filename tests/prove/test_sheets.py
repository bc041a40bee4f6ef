"""What stands in the sheets: every formula is read, no index is caught by a sum, and nothing else is run."""

import ast
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from boundlab.assumptions import assumption
from boundlab.formulas.symbols import SYMBOLS
from boundlab.prove import ProofError, expr
from boundlab.prove._scalars import variable
from boundlab.prove._terms import OWN_AXIOMS, Claim
from boundlab.prove.settings import setting_of
from boundlab.prove.sheets import Axiom, Shorthand, parameters, parsed
from boundlab.theorems import load_theorem

# One theorem for each sheet, and for each way in which a sheet is read.
THEOREMS = (
    "classics.gd.convex", "classics.sgd.convex", "classics.subgradient", "classics.delayed-sgd", "fedbuff.rf1",
    "fedbuff.rf3", "fedstaleweight.theorem1", "fedcompass.window.a", "fedcompass.window.b", "fedcompass.group",
    "fedcompass.theorem1", "fedfa.delta.a", "fedfa.delta.b.noiseless", "fedfa.param.b", "fedfa.theorem1", "afl_dga.r0",
    "afl_dga.r1", "afl_dga.r2n", "afl_dga.theorem1", "area.theorem7.explicit", "area.theorem8.algorithm-start",
)  # fmt: skip


@cache
def setting(theorem: str) -> Any:
    return setting_of(load_theorem(theorem))


def texts(own: Axiom) -> list[str]:
    return [own.says] if isinstance(own.says, str) else own.says


def given(s: Any, own: Axiom) -> dict[str, Any]:
    """Symbolic arguments: indices that nobody else has, the first model, a number that nobody else has."""
    kinds = {
        "number": lambda name: variable(f"{name}_9"),
        "expression": lambda name: expr(variable(f"{name}_9")),
        "vector": lambda _: s.model(0),
        "gradient": lambda _: s.vec(*gradient(s)),
    }
    return {name: kinds[kind](name) for name, kind in parameters(own.of)}


def gradient(s: Any) -> tuple[Any, ...]:
    """A gradient of the setting, at index 0 throughout."""
    name = min(s.kernel.vectors.slopes)
    return name, *(0 for _ in range(s.kernel.vectors.known[name]["arity"]))


def sentences(s: Any) -> Iterator[Axiom]:
    for name, own in s.sentences.said.items():
        # Of a problem is said only what the theorem assumes of it; where a run starts is said of a minimiser.
        needed = {*tags(own), *(["minimiser"] if name == "start" else [])} - OWN_AXIOMS
        if not own.checked or needed <= s.assumed:
            yield own


def tags(own: Axiom) -> list[str]:
    return [own.by] if isinstance(own.by, str) else own.by


def sides(said: Any, **values: Any) -> tuple[Any, ...]:
    """What is claimed, with other values of arguments."""
    return tuple(one.put(values) for one in ((said.body,) if isinstance(said, Claim) else said))


def names(text: str) -> list[str]:
    return [one.id for one in ast.walk(parsed(text)) if isinstance(one, ast.Name)]


def bound_in(node: ast.expr, shorthands: dict[str, Any]) -> set[str]:
    """The names that sums of a formula bind, those of its shorthands among them."""
    found = set()
    for one in ast.walk(node):
        if isinstance(one, ast.Call) and isinstance(one.func, ast.Name) and one.func.id in ("sum", "mean"):
            assert isinstance(one.args[0], ast.Name)
            found.add(one.args[0].id)
        if isinstance(one, ast.Name) and one.id in shorthands:
            text = shorthands[one.id]
            found |= bound_in(parsed(text), {key: own for key, own in shorthands.items() if key != one.id})
    return found


def caught(s: Any, text: str, names: dict[str, Any]) -> tuple[Any, ...] | None:
    """What a formula says of these arguments; None where it refuses the name of an index in them."""
    try:
        return sides(s.reader.claim(text, names))
    except ProofError as error:
        return None if "runs over" in str(error) else (str(error),)


@pytest.mark.sweep(6)
@pytest.mark.parametrize("theorem", THEOREMS)
def test_a_sentence_is_read_and_catches_no_index_of_its_arguments(theorem: str) -> None:
    s = setting(theorem)
    inside = {key: one.text for key, one in s.reader.known.items() if isinstance(one, Shorthand)}
    for own, text in ((one, text) for one in sentences(s) for text in texts(one)):
        plain = given(s, own)
        if absent := [one for one in names(text) if one in SYMBOLS and not s.reader.has(one)]:
            with pytest.raises(ProofError, match=f"{absent[0]} is no symbol"):
                s.reader.claim(text, plain)
            continue
        said = s.reader.claim(text, plain)
        for index in bound_in(parsed(text), inside):
            for one in (key for key, kind in parameters(own.of) if kind not in ("vector", "gradient")):
                new = {f"{one}_9": variable(index)}
                found = caught(s, text, {**plain, one: plain[one].put(new)})
                # What is not refused says of this index what it says of any.
                pairs = () if found is None else zip(found, sides(said, **new), strict=True)
                assert all(not (mine - its).terms for mine, its in pairs), (text, one, index)


@pytest.mark.sweep(6)
@pytest.mark.parametrize("theorem", THEOREMS)
def test_every_sentence_rests_on_assumptions_that_there_are(theorem: str) -> None:
    for own in setting(theorem).sentences.said.values():
        for tag in {*tags(own)} - OWN_AXIOMS - {"scaling=analysis"}:
            assumption(tag)  # raises where there is none


@pytest.mark.sweep(6)
@pytest.mark.parametrize("theorem", THEOREMS)
def test_no_word_of_a_sheet_hides_what_a_setting_is_made_of(theorem: str) -> None:
    s = setting(theorem)
    plain = {"average", "weight", "limit"}  # what algorithms have in ways of their own
    for table in ("axioms", "shorthands", "numbers", "vectors", "indices", "steps"):
        for name in {one.partition(" ")[0] for one in s.sheet.get(table, {})} - plain:
            owned = getattr(type(s), name, None)
            assert owned is None or table in ("numbers", "vectors"), f"{table}: {name}"


@pytest.mark.parametrize(
    "text",
    ["__import__('os')", "w[0].terms", "x if n else x", "[w[0]]", "'w'", "1.5", "lambda: 0", "n and 1", "w[0] < w[1]"],
)
def test_what_is_no_formula_is_refused_and_never_run(text: str) -> None:
    s = setting("fedbuff.rf1")
    with pytest.raises(ProofError):
        s.reader.value(parsed(text), {})
    with pytest.raises(ProofError):
        s.reader.claim(text, {})
    with pytest.raises(ProofError):
        s.reader.require(parsed(text), {})
    with pytest.raises(ProofError):
        s.reader.holds(text)


def test_an_expression_that_a_sentence_is_given_is_not_bound_by_its_shorthands() -> None:
    """Σ alpha·X = X is said of X that is the same for all entries."""
    s = setting("fedbuff.rf1")
    assert "j" not in s.entries(s.k, expr(variable("s", s.k, s.j))).names()
    with pytest.raises(ProofError, match="j is what a sum here runs over"):
        s.weights(s.k, expr(variable("s", s.k, s.j)))
