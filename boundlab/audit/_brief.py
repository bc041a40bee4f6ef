"""An audit in ten lines, to be pasted into a review."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from boundlab.arithmetic.writing import Sentence
from boundlab.audit._commands import commands, statement_hash
from boundlab.audit._first_false_step import first_false_step
from boundlab.audit._ruling import apart, rule
from boundlab.audit._sections import claim, tone
from boundlab.pages.blocks import Block, Commands, Tone, words
from boundlab.pages.theorem import source_of
from boundlab.registry import command_line

if TYPE_CHECKING:
    from boundlab.audit._evidence import Evidence, ProofEvidence, Repair
    from boundlab.prove import Step

_MOST = 2
_FUNCTIONS = ("f_", "where ", "minimum ")
_SHOWING = ("boundlab show ", "boundlab check ")


def brief(audit: "Evidence") -> Iterator[Block]:
    """Yield statement, verdict, instance, both numbers, what is wrong in the proof, what is true, and the commands."""
    theorem, ruling = audit.theorem, rule(audit)
    yield words((theorem.id, "code"), f", {source_of(theorem)}: {'; '.join(claim(theorem))}")
    # The instance, its numbers and the repairs have lines of their own.
    own = ("counterexample", "smallest counterexample", "repaired")
    said = "; ".join(one for one in ruling.reasons if not one.startswith(own))
    yield words((ruling.lead, tone(audit)), f": {said}" if said else "")
    yield from _instance(audit)
    for one in audit.proofs:
        step, steps = first_false_step(one), len(one.outcome.meant)
        whose = "the paper's proof" if one.outcome.script.printed else f"proof {one.outcome.script.id}"
        if step is not None:
            where = f"{whose} ({steps} steps) goes wrong first where {step.name} ("
            yield words(where, step.at, f"): {step.status.value}, {_by(one, step)}")
        elif not one.settles:
            yield words(f"{whose} ({steps} steps): {one.outcome.verdict}")
    for repair in audit.repairs:
        yield words("true instead: " if repair.proved else "registered instead: ", *_repaired(repair))
    if audit.gaps:
        gaps = dict.fromkeys(f"{gap.what} ({gap.why})" for gap in audit.gaps)
        yield words(f"not decided: {'; '.join([*gaps][:_MOST])}")
    deciding = [one for one in commands(audit) if not one.startswith(_SHOWING)]
    yield Commands((*deciding[:_MOST], command_line("audit", audit.typed)))
    version = audit.provenance.get("boundlab", "")
    yield words((f"boundlab {version}, seed {audit.seed}, statement {statement_hash(theorem)[:16]}", "dim"))


def _by(one: "ProofEvidence", step: "Step") -> str:
    """Return where a step is false; where that is not the counterexample, which step is false there."""
    at = one.broken
    if at is None or at.first is None:
        return "by an instance of its own"
    there = "there" if at is one.seen[0] else f"on the counterexample {at.case_file}"
    if at.first.step.name == step.name:
        return f"{there} {at.first.where}"
    other = f"{at.first.step.name} ({at.first.step.at})"
    return f"by an instance of its own; {there} it is {other} that fails, {at.first.where}"


def _instance(audit: "Evidence") -> Iterator[Block]:
    """Yield the instance that was looked at, and both sides there."""
    counter, exact, search = audit.theorem.horizon_symbol, audit.exact, audit.search
    if exact is not None:
        left, right = apart(exact.left, exact.right)
        yield words(f"instance: {exact.sentence or f'{audit.case_text}, {counter} = {exact.k}'}")
        if exact.derivation is not None:  # a reader of the review has no list of problems
            said = [one.text for one in exact.derivation.sections[0].items if isinstance(one, Sentence)]
            yield words("; ".join(one for one in said if one.startswith(_FUNCTIONS)))
        yield words(_sides(left, right, exact.left > exact.right, exact.kind))
    elif search is not None and search.found.best is not None:
        one = search.found.best
        left, right = apart(one.left, one.right)
        yield words(f"instance: {one.words()}, {counter} = {one.iterations}")
        yield words(_sides(left, right, one.left > one.right, one.kind))


def _sides(left: str, right: str, above: bool, kind: str) -> str:
    return f"there left side {left} {'>' if above else '≤'} {right} bound ({kind})"


def _repaired(repair: "Repair") -> Iterator[tuple[str, Tone] | str]:
    yield repair.theorem.id, "code"
    yield f", {repair.theorem.title}{' (proved)' if repair.proved else ''}"
    if repair.on_case is not None:
        left, right = apart(repair.on_case.left, repair.on_case.right)
        yield (
            f"; there {left} ≤ {right}" if repair.on_case.left <= repair.on_case.right else f"; there {left} > {right}"
        )
