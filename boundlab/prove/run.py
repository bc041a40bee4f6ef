"""Runs a proof script."""

import json
import time
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import final

from boundlab.errors import SpecError
from boundlab.prove._kernel import Kernel
from boundlab.prove._scalars import REFUSED
from boundlab.prove._terms import Context
from boundlab.prove.document import Outcome, Proof, Script, Status
from boundlab.prove.potentials import BASES, GIVEN, KINDS, SIZES, written_by
from boundlab.prove.settings import setting_of
from boundlab.prove.trace import second_opinion
from boundlab.registry import find, lookup, registered, value_of
from boundlab.theorems import Theorem, load_theorem


def run(script: Script, theorem: Theorem | None = None, *, witnesses: bool = False) -> Outcome:
    """Write a proof down and return what each step amounts to.

    Parameters
    ----------
    theorem
        What it is to end in, with the steps of this script; None: the theorem that the script names.
    witnesses
        Whether an exact instance of the setting is searched for in which a step that is not shown is false.

    Raises
    ------
    SpecError
        If there is no such theorem, or proofs do not know its algorithm.
    """
    unlike: tuple[str, ...] = ()
    if theorem is not None:
        unlike = _unlike(script, theorem)
        title, source = theorem.title or script.summary, f"the steps of {script.id} ({script.source})"
        script = replace(script, id=theorem.id, summary=title, source=source, proves=theorem.id, printed=False)
    elif script.proves:
        theorem = load_theorem(script.proves)
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
    return Outcome(script, tuple(proof.steps), proof.conclusion, kernel, setting, second_opinion, unlike)


def _unlike(script: Script, theorem: Theorem) -> tuple[str, ...]:
    """Return what the theorem of a registered proof states, and another one that takes its steps does not."""
    if not script.proves or find("theorems", script.proves) is None:
        return ()
    model = load_theorem(script.proves)
    stated = {(one.quantity, one.limit) for one in theorem.conditions}
    return (
        *(f"assumptions: {name}" for name in sorted(model.core.assumed - theorem.core.assumed)),
        *(f"settable: {name}" for name in model.settable if name not in theorem.settable),
        *(f"conditions: {one.statement}" for one in model.conditions if (one.quantity, one.limit) not in stated),
        *(f"the bound reads {name}" for name in sorted(model.read - theorem.read)),
    )


def scripts(what: str) -> list[Script]:
    """Return the registered proof of an id, or those of a file: it is run, and sets PROOFS, or BOUNDLAB.

    Raises
    ------
    SpecError
        If there is no such proof, or the file holds something else.
    """
    if what.endswith(".toml"):
        raise SpecError(
            f"{what} is a theorem: boundlab prove {what} --search looks for a proof, --with SCRIPT takes the steps of "
            "another"
        )
    if not what.endswith(".py"):
        return [registered_proof(what)]
    found = value_of(Path(what), "PROOFS", "proofs")
    listed = list(found) if isinstance(found, (tuple, list)) else [found]
    if not listed or not all(isinstance(script, Script) for script in listed):
        raise SpecError(f"{what}: PROOFS must hold scripts: PROOFS = (Script(…),)")
    return listed


def the_script(what: str) -> Script:
    """Return the one proof of an id or of a file.

    Raises
    ------
    SpecError
        If there is none, or the file holds several.
    """
    found = scripts(what)
    if len(found) > 1:
        raise SpecError(f"the steps of one proof are taken, and {what} has {len(found)}")
    return found[0]


# Proofs that are looked for: every potential that a bound suggests, with few lemmas first.

SECONDS = 60.0  # of a processor


@final
@dataclass(frozen=True, slots=True)
class LookedFor:
    """What a search has found.

    Parameters
    ----------
    outcome
        Of the proof; None where none was found.
    words
        Of :func:`boundlab.prove.potentials.by_potential`, that write the proof.
    tried
        What else was tried, and why it is no proof.
    """

    outcome: Outcome | None
    words: tuple[str, ...]
    tried: tuple[tuple[str, str], ...]

    @property
    def script(self) -> str:
        """The proof as a Python file."""
        if self.outcome is None:
            raise SpecError("no proof was found that could be written")
        own, arguments = self.outcome.script, ", ".join(f'"{one}"' for one in self.words)
        rows = ",\n".join(f"        {json.dumps(one, ensure_ascii=False)}" for one in (own.id, own.summary, own.source))
        return (
            f'"""{own.summary}: {own.source}."""\n\n'
            "from boundlab.prove import Proof, Script\n"
            "from boundlab.prove.potentials import by_potential\n\n\n"
            "def write(proof: Proof) -> None:\n"
            '    """Write the steps down."""\n'
            f"    by_potential(proof, {arguments})\n\n\n"
            f"PROOFS = (\n    Script(\n{rows},\n        write,\n        {json.dumps(own.proves)},\n    ),\n)\n"
        )


def registered_proof(name: str) -> Script:
    """Return the registered proof of that id.

    Raises
    ------
    SpecError
        If there is none; of a theorem that is proved under another id, or has no proof, the message says so.
    """
    theorem = None if find("proofs", name) else find("theorems", name)
    if theorem is not None:
        ways = f"boundlab prove {name} --search looks for one, --with SCRIPT takes the steps of another"
        known = " and ".join(f"boundlab prove {one}" for one in theorem.proofs)
        raise SpecError(f"{name} is a theorem, not a proof: {known or ways}")
    found: Script = lookup("proofs", name)
    return found


def look(what: str, seconds: float = SECONDS) -> LookedFor:
    """Look for a proof of a theorem.

    Parameters
    ----------
    what
        Its id, or its file.
    seconds
        Processor seconds after which no other potential is tried.

    Raises
    ------
    SpecError
        If there is no such theorem, or it is not about gradient descent.
    """
    theorem, begin = load_theorem(what), time.process_time()
    if theorem.algorithm != "gd":
        raise SpecError(
            f"{theorem.id} is about {theorem.algorithm}, and the search knows gradient descent (gd) only: take the "
            "steps of a registered proof, or write them (docs/prove.md)"
        )
    tried: list[tuple[str, str]] = []
    for words in (one for one in product(KINDS, BASES, GIVEN) if SIZES[one[1]] in theorem.read):
        if time.process_time() - begin > seconds:
            break
        write = written_by(*words)
        script = Script(theorem.id, theorem.title or theorem.id, "found by boundlab prove --search", write, what)
        outcome = run(script)
        if outcome.proved:
            return LookedFor(outcome, words, tuple(tried))
        tried.append((", ".join(words), _why(outcome)))
    return LookedFor(None, (), tuple(tried))


def _why(outcome: Outcome) -> str:
    """Return what is in the way of a proof: the last step that is not shown, or a sign that no certificate shows."""
    missing = [step for step in outcome.steps if step.status is not Status.PROVED]
    return f"{missing[-1].name}: {missing[-1].how}" if missing else outcome.verdict
