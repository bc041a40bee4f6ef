"""Mutation: claims of proved steps, changed in one place. What is false in an exact model is not proved."""

from collections.abc import Iterator
from itertools import islice

import pytest
from claim_mutants import Attempt, attempts, mutants
from proof_files import PAPERS
from proof_scripts import marked, models, quick

from boundlab.prove import Claim, Kernel, ProofError, Script
from boundlab.prove._terms import Context
from boundlab.prove.models import Model, evaluate

SCRIPTS = marked()


def false_in(models: tuple[Model, ...], claim: Claim, kernel: Kernel, context: Context) -> bool:
    return any(not row.holds for model in models for row in evaluate(model, claim, kernel, context))


def drawn(script: Script, every: int) -> Iterator[tuple[Attempt, str, Claim, bool]]:
    """Yield mutants in turn, and whether each is false in a model."""
    outcome, found = attempts(script)
    every_one = (
        (attempt, what, claim) for attempt in found for what, claim in mutants(attempt.fact.claim, attempt.fact.context)
    )
    for attempt, what, claim in islice(every_one, 0, None, every):
        try:
            wrong = false_in(models(script), claim, outcome.kernel, attempt.fact.context)
        except ProofError:
            continue  # a mutant that names what does not exist
        yield attempt, what, claim, wrong


def refused(script: Script, every: int) -> tuple[int, int, int]:
    """Return how many mutants there were, how many were false, and how many are proved; none may be both."""
    many, wrong, proved = 0, 0, 0
    for attempt, what, claim, is_false in drawn(script, every):
        many, wrong = many + 1, wrong + is_false
        fact = attempt.again(claim)
        proved += fact is not None
        assert fact is None or not is_false, f"{attempt.name}, {what}: {claim} is false in a model, and proved"
    return many, wrong, proved


@pytest.mark.slow  # proofs are run before they are changed
@pytest.mark.parametrize(
    ("apart", "every", "least"), [(8, 97, 15), pytest.param(1, 16, 300, marks=pytest.mark.nightly)]
)
def test_hundreds_of_mutants_and_no_false_one_is_proved(apart: int, every: int, least: int) -> None:
    """Of one proof in so many, one mutant in so many."""
    own = [script for script in quick() if not script.id.startswith(PAPERS)]
    counts = [refused(script, every) for script in own[::apart]]
    many, wrong, proved = map(sum, zip(*counts, strict=True))
    assert many >= least
    assert wrong >= least // 3
    # Some are true: a larger constant on the larger side.
    assert proved > 0


@pytest.mark.nightly
@pytest.mark.parametrize("script", SCRIPTS)
def test_no_mutant_that_is_false_in_a_model_is_proved(script: Script) -> None:
    many, wrong, _ = refused(script, 1)
    assert many > wrong > 0
