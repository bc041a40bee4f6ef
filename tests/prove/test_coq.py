"""Combinations as lemmas for Coq: the text, and what Coq says to it where it is installed."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from proof_files import HEAVY, SMALL, outcome, registered

from boundlab.prove import Fact, scalar
from boundlab.prove._scalars import NUMBER
from boundlab.prove.coq import _HEAD, _Lemma, combinations, coq_source
from boundlab.prove.trace import second_opinion
from boundlab.recheck import _numbers

PROOFS = [one.id for one in registered().values() if not one.printed]
needs_coq = pytest.mark.skipif(shutil.which("coqc") is None, reason="coqc is not installed: no file was compiled")
SHARE = 0.9  # of all lemmas, which Coq must accept


def lemmas(source: str) -> list[str]:
    """Return the lemmas of combinations, each whole."""
    return re.findall(r"^Lemma fact_\d+ :.*?^Qed\.$", source, re.DOTALL | re.MULTILINE)


def compiles(source: str, folder: Path) -> bool:
    (folder / "proof.v").write_text(source, encoding="utf-8")
    command = ["coqc", "proof.v"]
    try:
        return subprocess.run(command, cwd=folder, capture_output=True, check=False, timeout=300).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def test_a_proof_that_has_run_out_of_steps_is_written_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_numbers, "MOST", 300_000)
    found = outcome.__wrapped__("classics.gd.convex")
    assert not found.proved
    assert lemmas(coq_source(found))
    assert second_opinion(found).right
    assert lemmas(coq_source(found))


@pytest.mark.parametrize(
    "name", [*(pytest.param(one, marks=[pytest.mark.nightly] if one in HEAVY else []) for one in PROOFS), *SMALL]
)
class TestText:
    """What stands in a file."""

    @pytest.mark.sweep(42)
    def test_every_combination_is_one_lemma(self, name: str) -> None:
        wanted = [f"fact_{fact.number}" for fact in combinations(outcome(name))]
        assert wanted
        assert re.findall(r"^Lemma (fact_\d+) :$", coq_source(outcome(name)), re.MULTILINE) == wanted

    @pytest.mark.sweep(4)
    def test_every_premise_is_one_hypothesis(self, name: str) -> None:
        for fact, lemma in zip(combinations(outcome(name)), lemmas(coq_source(outcome(name))), strict=True):
            stated = re.findall(r"^  0 (?:=|<=) .* ->$", lemma.split("Proof.")[0], re.MULTILINE)
            assert len(stated) == sum(isinstance(one, Fact) for one in fact.premises)

    @pytest.mark.sweep(15)
    def test_every_name_is_declared_every_parenthesis_closed_and_nothing_admitted(self, name: str) -> None:
        source = coq_source(outcome(name))
        assert not re.search(r"Admitted|admit|Axiom|Parameter|Abort", source)
        for lemma in lemmas(source):
            declared = re.search(r"forall (.*?) : R", lemma)
            names = set(declared.group(1).split()) if declared else set()
            assert set(re.findall(r"\b[as]\d+\b", lemma.split("Proof.")[0])) == names
            assert all(lemma.count(opened) == lemma.count(closed) for opened, closed in ("()", "{}"))

    @pytest.mark.sweep(4)
    def test_every_atom_has_one_name(self, name: str) -> None:
        comments = re.findall(r"\(\* fact_\d+\n(.*?)^\*\)$", coq_source(outcome(name)), re.DOTALL | re.MULTILINE)
        for fact, comment in zip(combinations(outcome(name)), comments, strict=True):
            bodies = [one.claim.body for one in (fact, *fact.premises) if isinstance(one, Fact)]
            atoms = {atom for body in bodies for atom in body.terms} - {NUMBER}
            told = re.findall(r"^   a\d+ is (.*)$", comment, re.MULTILINE)
            assert len(told) == len(set(told)) == len(atoms)
            assert "object at" not in comment


def test_an_atom_that_looks_like_a_comment_ends_none() -> None:
    for name in SMALL:
        comments = re.findall(r"\(\* fact_\d+\n(.*?)^\*\)$", coq_source(outcome(name)), re.DOTALL | re.MULTILINE)
        assert len(comments) == len(combinations(outcome(name)))
        assert not any("*)" in one or "(*" in one for one in comments)


def test_whole_numbers_are_divided_by_nothing() -> None:
    found = "".join(coq_source(outcome(name)) for name in SMALL)
    assert re.search(r"\b2 \* s\d", found)
    assert not re.search(r"/ 1\b", found)


def combination_with_multipliers(name: str) -> list[Fact]:
    return [one for one in combinations(outcome(name)) if one.premises]


@needs_coq
@pytest.mark.slow
class TestCompiled:
    """What Coq accepts."""

    def test_a_whole_proof(self, tmp_path: Path) -> None:
        assert compiles(coq_source(outcome("area.theorem8.repaired")), tmp_path)

    def test_the_small_proofs(self, tmp_path: Path) -> None:
        for name in SMALL:
            assert compiles(coq_source(outcome(name)), tmp_path), name

    def test_no_forged_multiplier(self, tmp_path: Path) -> None:
        for name in ("small.bernoulli", PROOFS[0]):
            fact = combination_with_multipliers(name)[0]
            forged = _Lemma(fact, "forged")
            forged.multipliers = [one + 1 for one in forged.multipliers]
            assert not compiles(f"{_HEAD}\n{forged.text()}", tmp_path)

    def test_no_forged_remainder(self, tmp_path: Path) -> None:
        forged = _Lemma(combination_with_multipliers("small.bernoulli")[0], "forged")
        forged.rest = forged.rest + scalar(1)
        assert not compiles(f"{_HEAD}\n{forged.text()}", tmp_path)


def refused_of(facts: list[Fact], folder: Path) -> list[Fact]:
    """Return the combinations whose lemmas Coq does not accept, by halves: few are refused."""
    lemmas = "\n".join(_Lemma(fact, f"fact_{fact.number}").text() for fact in facts)
    if compiles(f"{_HEAD}\n{lemmas}", folder):
        return []
    half = len(facts) // 2
    return facts if len(facts) == 1 else refused_of(facts[:half], folder) + refused_of(facts[half:], folder)


@needs_coq
@pytest.mark.nightly
def test_coq_accepts_nearly_all_lemmas(tmp_path: Path) -> None:
    refused, every = [], 0
    for name in PROOFS:
        facts = combinations(outcome(name))
        every += len(facts)
        found = refused_of(facts, tmp_path)
        refused += [f"{name}: fact {fact.number}" for fact in found]
    assert len(refused) <= (1 - SHARE) * every, refused
