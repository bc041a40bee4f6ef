"""The proof of the theorem: its first step that is refuted or does not follow, and the steps that depend on it."""

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from boundlab.audit._ruling import apart
from boundlab.documentation import pointers
from boundlab.formulas.symbols import SYMBOLS
from boundlab.formulas.written import letters_of
from boundlab.pages.blocks import Block, Commands, Fold, FormulaBlock, Tone, line, points, table, tone_of, words
from boundlab.pages.proofs import assumptions, hanging
from boundlab.prove import Status, Step, letters as meant_by
from boundlab.registry import command_line

if TYPE_CHECKING:
    from boundlab.audit._evidence import Evidence, ProofEvidence
    from boundlab.theorems import Theorem

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
        yield from _proof(one, audit.theorem)


def first_false_step(one: "ProofEvidence") -> Step | None:
    """Return the first step that is refuted, or does not follow from what it cites; misprints apart."""
    return next((step for step in one.outcome.meant if step.status in _FALSE), None)


def _proof(one: "ProofEvidence", theorem: "Theorem") -> Iterator[Block]:
    outcome, letters = one.outcome, theorem.spelling()
    script = outcome.script
    whose = theorem.status if theorem.of_paper else "as printed"
    kind = f"The paper's proof, {whose}" if script.printed else "A proof"
    steps = outcome.meant
    misprints = len(outcome.steps) - len(steps)
    counts = {status: sum(step.status is status for step in steps) for status in Status}
    summary = ", ".join(f"{count} {_counted(status, count)}" for status, count in counts.items() if count)
    verdict: Tone = "good" if outcome.proved else "open"
    yield words(
        f"{kind} ({pointers(script.source)}): ", (outcome.verdict, verdict), f"; of {len(steps)} steps {summary}."
    )
    if misprints:
        yield words(f"Where another display is meant than is printed, both are decided: {misprints} misprints.")
    found, at = first_false_step(one), one.broken
    yield from _on_cases(one, letters)
    if found is not None and (at is None or at.first is None or at.first.step.name != found.name):
        yield from _step("False in general first: " if at is not None else "First slip: ", one, found, letters)
        yield words(f"It {'is false' if found.witness is not None else 'does not follow'} in this instance:")
        yield points(_lettered(text, letters) for text in _own_instance(found))
        yield from _hanging(one, found)
    elif found is not None:
        own = points(_lettered(text, letters) for text in _own_instance(found))
        yield Fold("A small instance of its own in which it is false", (own,))
        yield from _hanging(one, found)
    if outcome.proved:
        yield words(f"It rests on: {', '.join(assumptions(outcome)) or 'no assumption'}.")
    rows = [
        (line((step.name, "strong")), step.at, line((step.status.value, tone_of(step.status.value))))
        for step in outcome.steps
    ]
    listed = table(f"Steps of {script.id}", ("step", "place", "verdict"), rows)
    meant = "; ".join(f"{status.value}: {_MEANT[status]}" for status, count in counts.items() if count)
    yield Fold(f"All {len(outcome.steps)} steps", (words((f"{meant}.", "dim")), listed))


def _on_cases(one: "ProofEvidence", letters: Mapping[str, str]) -> Iterator[Block]:
    """Yield the first step that is false on the counterexample, or why none was computed there."""
    if not one.seen:
        return
    leading, at = one.seen[0], one.broken
    if leading.why:
        yield words(f"On the counterexample above its steps are not computed: {leading.why}.")
    elif leading.first is None:
        yield words("None of its open steps is found to be false on the counterexample above.")
    if at is None or at.first is None:
        return
    if at is leading:
        where = "on the counterexample above"
    else:
        left, right = apart(at.exact.left, at.exact.right)
        where = f"on the counterexample {at.case_file}"
        counter = one.outcome.setting.theorem.horizon_symbol if one.outcome.setting is not None else "k"
        yield words(
            "Another counterexample of the theorem, ",
            (at.case_file, "code"),
            f": {at.case_text}; at {counter} = {at.exact.k}: left side {left} > {right} bound ({at.exact.kind}).",
        )
    first = at.first
    if first.decided:
        yield from _step("First slip: ", one, first.step, letters)
    else:
        yield from _step("What does not hold there: ", one, first.step, letters)
        yield words(f"In general it is {first.step.how}.")
    yield words(f"It is false {where}:")
    yield points(_lettered(text, letters) for text in first.lines)
    for other in at.false if first.decided else ():
        if other is not first:
            why = other.step.how.partition(": left over")[0]
            says = f"Before it, {other.step.name} ({other.step.at}) is left open: {why}."
            yield words(_lettered(f"{says} Read for this run, {other.where}.", letters))


def _step(lead: str, one: "ProofEvidence", step: Step, letters: Mapping[str, str]) -> Iterator[Block]:
    """Yield a step with its place, what it says, and what its letters are."""
    own = step.at.removeprefix(step.name)
    # A place that begins with the name of the step goes on from it.
    place = f" ({own})" if own == step.at and own else own
    yield words(lead, (step.name, "strong"), f"{place}: ", (step.status.value, "bad"))
    yield FormulaBlock(((_lettered(step.says, letters),),))
    if where := meant_by(one.outcome, step):
        yield words("Its letters:")
        yield points(_lettered(f"{letter}: {meaning}", letters) for letter, meaning in where.items())


def _own_instance(step: Step) -> list[str]:
    return [text for text in step.how.splitlines() if text.strip()]


def _hanging(one: "ProofEvidence", step: Step) -> Iterator[Block]:
    hangs = hanging(one.outcome).get(step.name, [])
    yield words(f"Steps that depend on it: {', '.join(hangs) or 'nothing'}.")
    yield Commands((command_line("prove", one.outcome.script.id, "--step", step.name),))


def _counted(status: Status, count: int) -> str:
    """Return a verdict with the number of its steps before it."""
    verbs = {Status.FOLLOWS: "follow", Status.DOES_NOT_FOLLOW: "do not follow", Status.REMARK: "remarks"}
    return verbs.get(status, status.value) if count > 1 else status.value


def _lettered(text: str, letters: Mapping[str, str]) -> str:
    """Return a step in which symbols have the letters of the statement: sigma_g is σ_g."""
    every = {**letters_of(name for name in _NAME.findall(text) if name in SYMBOLS), **letters}
    return _NAME.sub(lambda found: every.get(found[0], found[0]), text)
