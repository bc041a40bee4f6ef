"""Runs a proof script."""

from boundlab.prove._context import Context
from boundlab.prove._errors import REFUSED
from boundlab.prove._kernel import Kernel
from boundlab.prove.binding import second_opinion
from boundlab.prove.document import Proof, Script
from boundlab.prove.outcome import Outcome
from boundlab.prove.settings import setting_of
from boundlab.registry import registered
from boundlab.theorems import load_theorem


def run(script: Script, *, witnesses: bool = False) -> Outcome:
    """Write a proof down and return what each step amounts to.

    Parameters
    ----------
    witnesses
        Whether an exact instance of the setting is searched for in which a step that is not shown is false.

    Raises
    ------
    SpecError
        If there is no such theorem, or proofs do not know its algorithm.
    """
    theorem = load_theorem(script.proves) if script.proves else None
    setting = None if theorem is None else setting_of(theorem)
    kernel = Kernel(Context()) if setting is None else setting.kernel
    proof = Proof(theorem, setting, kernel, witnesses=witnesses)
    try:
        script.write(proof)
    except REFUSED as error:
        proof.stop(str(error))
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        if any(script is one for one in registered("proofs").values()):
            raise
        # A script that nobody registers may be written for another algorithm's theorem, whose setting has other parts.
        told = f"{type(error).__name__}: {error}"
        proof.stop(f"the script does not fit {script.proves or 'what it is about'}: {' '.join(told.split())[:200]}")
    return Outcome(script, tuple(proof.steps), proof.conclusion, kernel, setting, second_opinion)
