"""A step is called false on a counterexample where its two sides are computed there, and on no other run."""

from dataclasses import replace
from fractions import Fraction
from functools import cache
from types import SimpleNamespace
from typing import Any

import pytest

import boundlab as bl
from boundlab.audit import ProofEvidence
from boundlab.audit._audit import instance_on, on_case
from boundlab.audit._page import proofs_of_theorem
from boundlab.audit._ruling import OnCase
from boundlab.case import load_case, other_cases, own_case
from boundlab.pages.blocks import Points, line, plain
from boundlab.pages.markdown import markdown
from boundlab.prove import Outcome, Status
from boundlab.prove.models import Model, evaluate
from boundlab.prove.on_instance import broken
from boundlab.registry import lookup, registered

PRINTED = [
    name
    for name in registered("theorems")
    if bl.theorem(name).refuted_by and any(lookup("proofs", one).printed for one in bl.theorem(name).proofs)
]
# By theorem: the first counterexample on which a step is false, the step, and both sides there.
FIRST = {
    "area.theorem8": ("area.theorem8.json", "Lemma 21 is applied", "0", "-13/14"),
    "afl_dga.theorem1": ("afl_dga.theorem1.reused-gradients.json", "(1)", "9/64", "7/64"),
    "fedcompass.theorem1": ("fedcompass.theorem1.json", "(13), first ≤", "3/400", "0"),
    "fedcompass.corollary1.explicit": ("fedcompass.corollary1.explicit.json", "(13), first ≤", "3/400", "0"),
    "fedfa.theorem1": ("fedfa.theorem1.smallest.json", "T_4 and T_5", "9/200", "0"),
    "fedstaleweight.theorem1": ("fedstaleweight.theorem1.json", "Theorem 2", "1/200", "3/1250"),
}
QUICK = [name for name in FIRST if not name.startswith("fedcompass")]  # of fewer updates than 2000


@cache
def proof_of(name: str) -> Outcome:
    return bl.prove(bl.theorem(name).proofs[0])


@cache
def seen(name: str, file: str) -> OnCase:
    theorem = bl.theorem(name)
    path = own_case(theorem).parent / file
    case = load_case(path, has_theorem=True)
    return on_case(proof_of(name), case, bl.exact(theorem, case), path)


def test_every_printed_proof_of_a_refuted_theorem_is_listed_here() -> None:
    # Theorem 8 is printed for one start and proved for another: no step is decided on the runs of the first.
    assert sorted(PRINTED) == sorted([*FIRST, "area.theorem8.printed-start"])


@pytest.mark.nightly
@pytest.mark.parametrize("name", FIRST)
def test_of_each_printed_proof_a_step_is_false_on_a_counterexample_of_its_theorem(name: str) -> None:
    file, step, left, right = FIRST[name]
    found = seen(name, file)
    assert not found.why
    assert found.first is not None
    assert found.first.decided
    assert (found.first.step.name, str(found.first.row.left), str(found.first.row.right)) == (step, left, right)
    assert not found.first.row.holds
    assert found.exact.verdict == "violated"


@pytest.mark.nightly
@pytest.mark.parametrize("name", QUICK)
def test_what_is_proved_of_all_runs_holds_on_the_counterexample(name: str) -> None:
    file = FIRST[name][0]
    case = load_case(own_case(bl.theorem(name)).parent / file, has_theorem=True)
    proof = proof_of(name)
    assert proof.setting is not None
    model = Model(proof.setting, instance_on(proof, case, seen(name, file).exact))
    proved = [one for one in proof.steps if one.status is Status.PROVED and one.claim is not None]
    for step in proved:
        assert step.claim is not None
        assert step.fact is not None
        assert all(row.holds for row in evaluate(model, step.claim, proof.kernel, step.fact.context)), step.name


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("name", "file", "why"),
    [
        ("fedfa.theorem1", "fedfa.theorem1.json", "the proof takes mode=param"),
        ("area.theorem8.printed-start", "area.theorem8.printed-start.json", "its step is no rational number"),
        ("afl_dga.theorem1", "afl_dga.theorem1.json", "the proof takes scaling=analysis"),
    ],
)
def test_a_counterexample_that_the_proof_is_not_about_is_left_out_with_the_reason(
    name: str, file: str, why: str
) -> None:
    found = seen(name, file)
    assert why in found.why
    assert found.false == ()


@pytest.mark.nightly
def test_a_run_with_other_sides_than_the_theorems_is_no_run_of_the_proof() -> None:
    name = "area.theorem8"
    case = load_case(own_case(bl.theorem(name)), has_theorem=True)
    exact = bl.exact(name, case)
    instance = instance_on(proof_of(name), case, exact)
    for sides in ((exact.left * (1 + 1e-9), exact.right), (exact.left, exact.right + 1e-9)):
        with pytest.raises(bl.BoundlabError, match="other sides"):
            broken(proof_of(name), instance, sides)
    with pytest.raises(bl.BoundlabError, match="step of"):
        broken(proof_of(name), replace(instance, alpha=Fraction(1, 29)), (exact.left, exact.right))


def test_the_cases_beside_a_counterexample_are_those_of_its_theorem() -> None:
    names = [one.name for one in other_cases(bl.theorem("fedfa.theorem1"))]
    assert names == ["fedfa.theorem1.smallest.json", "fedfa.theorem1.window.json"]


@pytest.mark.nightly
@pytest.mark.parametrize("name", QUICK)
def test_the_page_leads_with_the_step_that_fails_there_and_says_what_is_false_in_general(name: str) -> None:
    file, step, left, right = FIRST[name]
    proof = proof_of(name)
    others = () if file == own_case(bl.theorem(name)).name else (seen(name, own_case(bl.theorem(name)).name),)
    audit: Any = SimpleNamespace(
        theorem=bl.theorem(name), proofs=(ProofEvidence(proof, (), False, (*others, seen(name, file))),)
    )
    blocks = [*proofs_of_theorem(audit)]
    text = markdown(line(""), blocks).replace("\\", "")
    assert f"First slip: **{step}**" in text
    assert ("False in general first" in text) == (name == "fedfa.theorem1")
    assert ("Another counterexample of the theorem" in text) == bool(others)
    listed = [plain(item) for block in blocks if isinstance(block, Points) for item in block.points]
    assert any(f"left = {left}, right = {right}" in one for one in listed)
