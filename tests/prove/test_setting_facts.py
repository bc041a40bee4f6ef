"""Axioms in exact models: those that proofs use hold in the models of their settings, a wrong one is false in one."""

import pytest
from proof_scripts import marked, models, outcome
from setting_facts import models as models_of, setting
from wrong_claims import WRONG

from boundlab.prove import Fact, Script, equal, squared
from boundlab.prove.models import holds

ENOUGH = 5
# The rules that take the word of a setting: its axioms, and what its laws of chance allow.
TAKEN = ("axiom", "orthogonal", "uncorrelated", "mixture")
# No model has the vectors of these: own gradients where nothing is late, and the minimisers of single clients.
UNSEEN = {"afl_dga.r0": ("o[",), "classics.sgd.heterogeneous": ("ustar[", "hu[")}
# Nesterov's numbers are no fractions: models have them to 80 digits.
ROUNDED = "t[k + 1]² − t[k + 1] = t[k]²"
BY_DAY = ("fedfa.param.b.noiseless", "fedcompass.group", "fedstaleweight.rf3")


@pytest.mark.sweep(20, also=BY_DAY)
@pytest.mark.parametrize("script", marked(also=BY_DAY))
def test_every_axiom_of_a_proof_holds_in_exact_models_of_its_setting(script: Script) -> None:
    kernel, seen = outcome(script).kernel, set()
    for fact in kernel.facts:
        if fact.rule not in TAKEN:
            continue
        claim = fact.claim if isinstance(fact, Fact) else equal(squared(fact.left - fact.right), 0)
        key = str(claim.body), id(fact.context)
        if key in seen or str(claim) == ROUNDED:
            continue
        seen.add(key)
        known = [holds(model, claim, kernel, fact.context) for model in models(script)]
        assert False not in known, f"{claim} is false in a model"
        unseen = any(name in str(claim) for name in UNSEEN.get(script.id.removesuffix(".along-run"), ()))
        assert unseen or known.count(True) >= ENOUGH, f"{claim} is evaluated in too few models"
    assert seen


def test_the_mean_over_who_acts_is_one_of_function_values_too() -> None:
    """Of this no registered proof makes use."""
    theorem = "area.theorem8.repaired.fixed-step"
    s = setting(theorem)
    for moved in (s.x, s.y):
        fact = s.event(s.part(s.i, moved(s.i, s.k + 1)), s.k)
        known = [holds(model, fact.claim, s.kernel, fact.context) for model in models_of(theorem)]
        assert False not in known
        assert known.count(True) >= ENOUGH


@pytest.mark.sweep(3)
@pytest.mark.parametrize("theorem", WRONG)
def test_every_wrong_axiom_is_false_in_a_model(theorem: str) -> None:
    s = setting(theorem)
    claims = list(WRONG[theorem](s))
    assert [
        str(one) for one in claims if not any(holds(model, one, s.kernel) is False for model in models_of(theorem))
    ] == []
    assert len(claims) >= 3
