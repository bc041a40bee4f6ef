"""A proof about a schedule needs a schedule that does not depend on the noise, and says so."""

from dataclasses import replace

import pytest
from proof_scripts import quick

from boundlab.errors import BoundlabError
from boundlab.prove import Script
from boundlab.prove.document import Proof
from boundlab.prove.settings import setting_of
from boundlab.theorems import load_theorem


def proved_without(script: Script, assumption: str) -> bool:
    """Return whether a proof ends in its theorem where that does not make an assumption."""
    theorem = load_theorem(script.proves)
    less = replace(theorem, assumptions=tuple(one for one in theorem.assumptions if one != assumption))
    try:
        setting = setting_of(less)
        proof = Proof(less, setting, setting.kernel)
        script.write(proof)
    except (BoundlabError, AttributeError):  # the setting is another one, which has not the words of the proof
        return False
    return proof.conclusion is not None and proof.conclusion.fact is not None


@pytest.mark.sweep(16)
@pytest.mark.parametrize("script", [pytest.param(one, id=one.id) for one in quick() if not one.printed])
@pytest.mark.parametrize("assumption", ["fixed-schedule", "smooth", "stationary-participation", "constant-lag"])
def test_no_proof_does_without_an_assumption_on_its_runs(script: Script, assumption: str) -> None:
    theorem = load_theorem(script.proves)
    if assumption not in theorem.assumptions:
        pytest.skip("the theorem does not make it")
    if assumption == "fixed-schedule" and not setting_of(theorem).noisy:
        pytest.skip("no schedule depends on noise where there is none")
    assert not proved_without(script, assumption)
