"""The proof of the theorem: its first step that is refuted or does not follow, and the steps that depend on it."""

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from boundlab.documentation import pointers
from boundlab.formulas.symbols import SYMBOLS
from boundlab.formulas.written import letters_of
from boundlab.pages.blocks import Block, Commands, Fold, FormulaBlock, Tone, line, points, table, tone_of, words
from boundlab.pages.proofs import assumptions, hanging
from boundlab.prove import Status, Step
from boundlab.prove import letters as meant_by
from boundlab.registry import command_line

if TYPE_CHECKING:
    from boundlab.audit._evidence import Evidence, ProofEvidence

_MEANT: dict[Status, str] = {
    Status.PROVED: "decided from the assumptions",
    Status.REFUTED: "false in an instance that is shown",
    Status.FOLLOWS: "decided from other steps, not all of which are proved",
    Status.DOES_NOT_FOLLOW: "what it cites does not give it",
    Status.UNPROVED: "stated, and not decided",
    Status.REMARK: "words, and no claim",
}
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]+")  # one letter is its own
_FALSE = (Status.REFUTED, Status.DOES_NOT_FOLLOW)


def proofs_of_theorem(audit: "Evidence") -> Iterator[Block]:
    """Yield what each registered proof of the theorem amounts to."""
    for one in audit.proofs:
        yield from _proof(one, audit.theorem.spelling())


def first_false_step(one: "ProofEvidence") -> Step | None:
    """Return the first step that is refuted, or does not follow from what it cites."""
    return next((step for step in one.outcome.steps if step.status in _FALSE), None)


def _proof(one: "ProofEvidence", letters: Mapping[str, str]) -> Iterator[Block]:
    outcome = one.outcome
    script = outcome.script
    kind = "The paper's proof, as printed" if script.printed else "A proof"
    steps = outcome.steps
    counts = {status: sum(step.status is status for step in steps) for status in Status}
    summary = ", ".join(f"{count} {_counted(status, count)}" for status, count in counts.items() if count)
    verdict: Tone = "good" if outcome.proved else "open"
    yield words(
        f"{kind} ({pointers(script.source)}): ", (outcome.verdict, verdict), f"; of {len(steps)} steps {summary}."
    )
    found = first_false_step(one)
    if found is not None:
        own = found.at.removeprefix(found.name)
        # A place that begins with the name of the step goes on from it.
        place = f" ({own})" if own == found.at and own else own
        yield words("First slip: ", (found.name, "strong"), f"{place}: ", (found.status.value, "bad"))
        yield FormulaBlock(((_lettered(found.says, letters),),))
        if where := meant_by(outcome, found):
            yield words("Its letters:")
            yield points(_lettered(f"{one}: {meaning}", letters) for one, meaning in where.items())
        yield words(f"It {'is false' if found.witness is not None else 'does not follow'} in this instance:")
        yield points(_lettered(text, letters) for text in found.how.splitlines() if text.strip())
        hangs = hanging(outcome).get(found.name, [])
        yield words(f"Steps that depend on it: {', '.join(hangs) or 'nothing'}.")
        yield Commands((command_line("prove", script.id, "--step", found.name),))
    if outcome.proved:
        yield words(f"It rests on: {', '.join(assumptions(outcome)) or 'no assumption'}.")
    rows = [
        (line((step.name, "strong")), step.at, line((step.status.value, tone_of(step.status.value)))) for step in steps
    ]
    listed = table(f"Steps of {script.id}", ("step", "place", "verdict"), rows)
    meant = "; ".join(f"{status.value}: {_MEANT[status]}" for status, count in counts.items() if count)
    yield Fold(f"All {len(steps)} steps", (words((f"{meant}.", "dim")), listed))


def _counted(status: Status, count: int) -> str:
    """Return a verdict with the number of its steps before it."""
    verbs = {Status.FOLLOWS: "follow", Status.DOES_NOT_FOLLOW: "do not follow", Status.REMARK: "remarks"}
    return verbs.get(status, status.value) if count > 1 else status.value


def _lettered(text: str, letters: Mapping[str, str]) -> str:
    """Return a step in which symbols have the letters of the statement: sigma_g is σ_g."""
    every = {**letters_of(name for name in _NAME.findall(text) if name in SYMBOLS), **letters}
    return _NAME.sub(lambda found: every.get(found[0], found[0]), text)
