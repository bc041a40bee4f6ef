"""The report card: the evidence with its verdict, to look at in every medium."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

from boundlab.api import Shown, reported
from boundlab.arithmetic.writing import Sentence
from boundlab.audit._commands import commands, statement_hash
from boundlab.audit._evidence import Evidence
from boundlab.audit._first_false_step import first_false_step
from boundlab.audit._ruling import Ruling, apart, rule
from boundlab.audit._sections import claim, sections, tone
from boundlab.errors import visible
from boundlab.pages.blocks import Block, Commands, Line, Tone, line, words
from boundlab.pages.theorem import source_of
from boundlab.registry import command_line
from boundlab.verdict import ExitCode

if TYPE_CHECKING:
    from boundlab.audit._evidence import Evidence, ProofEvidence, Repair
    from boundlab.prove import Step


# An audit in ten lines, to be pasted into a review.

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


@final
@dataclass(frozen=True, repr=False)
class Audit(Evidence, Shown):
    """The report card of one theorem; its fields are those of the evidence."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what is shown: its proofs stay where they were derived."""
        return reported(self)

    @cached_property
    def ruling(self) -> Ruling:
        """Ruling on the theorem that follows from the whole audit."""
        return rule(self)

    @property
    def verdict(self) -> str:
        """``false``, ``proved``, ``not refuted``, …: the first words of :attr:`ruling`."""
        return self.ruling.word

    @property
    def exit_code(self) -> ExitCode:
        """How the command ends."""
        return self.ruling.code

    @property
    def only_tried(self) -> bool:
        """True if nothing refutes the theorem, and nothing proves it either."""
        return self.ruling.word == "not refuted"

    def line(self) -> str:
        """Return the verdict in one line of at most 200 letters."""
        return visible(self.ruling.within(200, f"{self.theorem.id}: "))

    def brief(self) -> list[Block]:
        """Return about ten lines, to be pasted into a review."""
        return [*brief(self)]

    def page(self) -> list[Block]:
        """Return the sections of the page, in the order in which a referee asks."""
        return [*sections(self)]

    def html(self) -> str:
        """Return one self-contained page of HTML."""
        from boundlab.pages.html import document

        return document(self._title(), f"Audit of {self.theorem.id}: {self.verdict}", sections(self))

    def markdown(self) -> str:
        """Return the page as Markdown."""
        from boundlab.pages.markdown import markdown

        return markdown(self._title(), self.page())

    def latex(self) -> str:
        """Return the page as LaTeX, to be read into a document that loads amsmath, amssymb, graphicx and longtable."""
        from boundlab.pages.latex import latex

        return latex(self._title(), self.page())

    def _title(self) -> Line:
        return line("Audit of ", (self.theorem.id, "code"))

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready fields."""
        from boundlab.audit.fields import fields

        return fields(self)
