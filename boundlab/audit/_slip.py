"""The proof of the theorem: its first step that is refuted or does not follow, and what hangs on it."""

import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING

from boundlab.audit._blocks import Block, Commands, Fold, Formulas, Points, Rows, Tone, Words, line
from boundlab.prove import Status, Step
from boundlab.report.proofs import assumptions, hanging

if TYPE_CHECKING:
    from boundlab.audit._evidence import Evidence, Proved

_TONES: dict[Status, Tone] = {
    Status.PROVED: "good", Status.REFUTED: "bad", Status.DOES_NOT_FOLLOW: "bad", Status.REMARK: "dim",
}  # fmt: skip
_SLIPS = (Status.REFUTED, Status.DOES_NOT_FOLLOW)


def slip(audit: "Evidence") -> Iterator[Block]:
    """Yield what each registered proof of the theorem amounts to."""
    for one in audit.proofs:
        yield from _proof(one)


def first_slip(one: "Proved") -> Step | None:
    """Return the first step that is refuted, or does not follow from what it cites."""
    return next((step for step in one.outcome.steps if step.status in _SLIPS), None)


def _proof(one: "Proved") -> Iterator[Block]:
    outcome = one.outcome
    script = outcome.script
    kind = "The paper's proof, as printed" if script.printed else "A proof"
    steps = outcome.steps
    counts = {status: sum(step.status is status for step in steps) for status in Status}
    summary = ", ".join(f"{count} {status.value}" for status, count in counts.items() if count)
    verdict: Tone = "good" if outcome.proved else "open"
    yield Words(line(f"{kind} ({script.source}): ", (outcome.verdict, verdict), f"; of {len(steps)} steps {summary}."))
    found = first_slip(one)
    if found is not None:
        place = f" ({found.at})" if found.at and found.at != found.name else ""
        yield Words(line("First slip: ", (found.name, "strong"), f"{place}: ", (found.status.value, "bad")))
        yield Formulas((found.says,))
        yield Words(line(f"It {'is false' if found.witness is not None else 'does not follow'} in this instance:"))
        yield Points(tuple(line(text) for text in found.how.splitlines() if text.strip()))
        hangs = hanging(outcome).get(found.name, [])
        yield Words(line(f"On it hangs: {', '.join(hangs) or 'nothing'}."))
        yield Commands((f"boundlab prove {script.id} --step {shlex.quote(found.name)}",))
    if outcome.proved:
        yield Words(line(f"It rests on: {', '.join(assumptions(outcome)) or 'no assumption'}."))
    rows = tuple(
        (line((step.name, "strong")), line(step.at), line((step.status.value, _TONES.get(step.status, "open"))))
        for step in steps
    )
    yield Fold(f"All {len(steps)} steps", (Rows(f"Steps of {script.id}", ("step", "place", "verdict"), rows),))
