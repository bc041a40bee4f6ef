"""Axioms in exact models: each holds in the models of its setting, and a wrong one is false in one."""

import pytest
from setting_facts import axioms, models, setting, vectors
from wrong_claims import WRONG

from boundlab.prove import Fact, dot, equal, squared
from boundlab.prove.models import holds

ENOUGH = 5
THEOREMS = (
    "area.theorem8.repaired",
    "area.theorem8.repaired.fixed-step",
    "area.theorem8.algorithm-start",
    "classics.gd.convex",
    "classics.gd.strongly-convex",
    "classics.subgradient.fixed-step",
    "classics.sgd.convex",
    "classics.sgd.distance",
    "classics.delayed-sgd",
    "afl_dga.r0",
    "afl_dga.r3",
    "afl_dga.theorem1",
    "fedfa.delta.a",
    "fedfa.delta.b.noiseless",
    "fedfa.param.b.noiseless",
    "fedfa.theorem1",
    "fedcompass.window.a",
    "fedcompass.group",
    "fedcompass.theorem1",
    "fedbuff.rf1",
    "fedstaleweight.rf1",
    "fedbuff.rf3",
    "fedstaleweight.rf3",
)
LIKE_ANOTHER = (
    "area.theorem7.explicit",
    "afl_dga.r1",
    "afl_dga.r2",
    "afl_dga.r2b",
    "afl_dga.r2n",
    "fedcompass.window.b",
    "fedcompass.window.b.noiseless",
    "fedcompass.corollary1.explicit",
    "fedfa.delta.b",
    "fedfa.param.a",
    "fedfa.param.b",
)


@pytest.mark.sweep(20, also=("fedfa.param.b.noiseless", "fedstaleweight.rf3"))
@pytest.mark.parametrize(
    "theorem", [*THEOREMS, *(pytest.param(one, marks=pytest.mark.nightly) for one in LIKE_ANOTHER)]
)
def test_every_axiom_of_a_setting_holds_in_its_exact_models(theorem: str) -> None:
    found, kernel, seen = models(theorem), setting(theorem).kernel, 0
    assert len(found) >= ENOUGH
    for fact in axioms(theorem):
        claims = (
            [fact.claim]
            if isinstance(fact, Fact)
            else [
                *(equal(dot(fact.left, v), dot(fact.right, v)) for v in vectors(theorem)),
                equal(squared(fact.left - fact.right), 0),
            ]
        )
        for claim in claims:
            known = [holds(model, claim, kernel, fact.context) for model in found]
            assert False not in known, f"{claim} is false in a model"
            assert known.count(True) >= ENOUGH, f"{claim} is evaluated in too few models"
        seen += 1
    assert seen >= 12


@pytest.mark.sweep(3)
@pytest.mark.parametrize("theorem", WRONG)
def test_every_wrong_axiom_is_false_in_a_model(theorem: str) -> None:
    s = setting(theorem)
    claims = list(WRONG[theorem](s))
    assert [
        str(one) for one in claims if not any(holds(model, one, s.kernel) is False for model in models(theorem))
    ] == []
    assert len(claims) >= 3
