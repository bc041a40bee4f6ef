"""The sections of the page, in the order in which a referee asks; every medium shows these."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from boundlab.audit._blocks import (
    Block,
    Commands,
    Fold,
    FormulaBlock,
    Line,
    Points,
    Rows,
    Section,
    Way,
    Words,
    line,
    seen,
)
from boundlab.audit._changes import side_by_side
from boundlab.audit._commands import commands, how_to_have, origins, statement_hash
from boundlab.audit._comparison import comparison, largest
from boundlab.audit._first_false_step import slip
from boundlab.audit._ruling import apart, rule
from boundlab.checks import CONSEQUENCES
from boundlab.exact import STANDS_ON
from boundlab.references import reference
from boundlab.report.theorem_page import theorem_page
from boundlab.verdict import Verdict

if TYPE_CHECKING:
    from boundlab.api import Evaluated
    from boundlab.audit._evidence import Evidence, Repair
    from boundlab.theorems import Theorem

TONES = {"false": "bad", "proved": "good", "not refuted": "open"}


def sections(audit: "Evidence") -> tuple[Section, ...]:
    """Return the page."""
    false = tone(audit) == "bad"
    parts = (
        ("statement", "Statement", _statement(audit)),
        ("verdict", "Verdict", _verdict(audit)),
        ("checks", "Checks of the formula", _checks(audit)),
        ("counterexample", "Counterexample" if false else "The instance looked at", _case(audit)),
        ("slip", "Where the proof goes wrong" if false else "Its proof", slip(audit)),
        ("repair", "Printed and repaired", side_by_side(audit)),
        ("support", "What supports the repair", _support(audit)),
        ("comparison", "Bound against error", comparison(audit)),
        ("open", "Not decided", _open(audit)),
        ("commands", "Repeat it", _commands(audit)),
    )
    return tuple(Section(name, title, blocks) for name, title, found in parts if (blocks := tuple(map(seen, found))))


def tone(audit: "Evidence") -> str:
    """Return how the verdict is coloured; its word says the same."""
    found = rule(audit)
    return "bad" if found.by_formula else TONES.get(found.word, "open")


def _statement(audit: "Evidence") -> Iterator[Block]:
    theorem = audit.theorem
    yield Words(line((theorem.title, "strong")))
    source = ", ".join(one for one in (theorem.paper, theorem.place, reference(theorem.paper).words()) if one)
    yield Words(line(f"{source} ({theorem.status}); here ", (theorem.id, "code")))
    letters = theorem.spelling()
    from boundlab.formulas.written import letter_of_latex, written

    right = " + ".join(written(one, theorem.symbols, letters) for one in theorem.terms.values())
    right = right or theorem.bound.as_dict()["recursion"]
    bound = f"O({right})" if theorem.shape else right
    rules = [
        f"{letters.get(name, name)} = {written(rule, theorem.symbols, letters)}"
        for name, rule in theorem.rules().items()
    ]
    conditions = [one.statement for one in theorem.conditions]
    # A file's own letters are text of a stranger: LaTeX would run them.
    latex = "" if theorem.source else theorem.latex()
    relation = "=" if theorem.shape else "≤"
    yield FormulaBlock((f"{theorem.left.expectation} {relation} {bound}", *rules, *conditions), latex)
    if theorem.letters:
        own = [f"{letter_of_latex(letter)} for {letters.get(name, name)}" for name, letter in theorem.letters.items()]
        yield Words(line(f"The paper writes {', '.join(own)}."))
    yield Fold("Assumptions, symbols and options in full", tuple(_in_full(theorem)))


def _in_full(theorem: "Theorem") -> Iterator[Block]:
    """Yield what ``boundlab show`` prints below title and source, its parts as lists."""
    rows: list[Line] = []
    for text in theorem_page(theorem)[2:]:
        plain = text.plain.strip()
        item = text.plain.startswith("  ")
        if rows and not item:
            yield Points(tuple(rows))
            rows = []
        if item:
            rows.append(line(plain))
        elif plain:
            yield Words(line((plain, "strong" if str(text.style) == "bold" else "")))
    if rows:
        yield Points(tuple(rows))


def _verdict(audit: "Evidence") -> Iterator[Block]:
    from boundlab.audit._blocks import Tone

    colour: dict[str, Tone] = {"bad": "bad", "good": "good", "open": "open"}
    ruling = rule(audit)
    yield Words(line((ruling.word, colour[tone(audit)]), f": {'; '.join(ruling.reasons)}" if ruling.reasons else ""))


def _checks(audit: "Evidence") -> Iterator[Block]:
    order = ("failed", "suspicious")
    every = audit.checks.checks
    for word in order:
        for one in (check for check in every if check.verdict == word):
            yield Words(
                line(
                    (one.verdict, "bad" if word == "failed" else "open"), f": {one.statement} (", (one.id, "code"), ")"
                )
            )
            yield Points(tuple(line(text) for text in (one.witness, CONSEQUENCES.get(one.consequence, "")) if text))
    counts = {word: sum(one.verdict == word for one in every) for word in dict.fromkeys(one.verdict for one in every)}
    yield Words(line("; ".join(f"{count} {word}" for word, count in counts.items()) + "."))
    rows = tuple((line((one.id, "code")), line(one.verdict), line(one.statement), line(one.witness)) for one in every)
    yield Fold("All checks", (Rows("All checks", ("check", "verdict", "asked", "found"), rows),))


def _case(audit: "Evidence") -> Iterator[Block]:
    exact, search = audit.exact, audit.search
    if search is not None and exact is None and search.found.best is not None:
        one = search.found.best
        left, right = apart(one.left, one.right)
        yield Words(line(f"{one.words()}: left {left}, right {right} ({one.kind}: {one.method})."))
    if exact is None:
        return
    left, right = apart(exact.left, exact.right)
    violated = exact.verdict is Verdict.VIOLATED
    sign = ">" if exact.left > exact.right else "≤"
    yield Words(line(f"{audit.case_text}."))
    yield Words(
        line(
            f"At {audit.theorem.counter} = {exact.k}: left side ", (left, "strong"), f" {sign} ", (right, "strong"),
            f" bound; left/right = {apart(exact.ratio, 1.0)[0]} ({exact.kind}: {exact.method}). ",
            (exact.reason[:1].upper() + exact.reason[1:], "bad" if violated else ""), ".",
        )
    )  # fmt: skip
    way = exact.derivation
    if way is not None:
        yield Way(replace(way, sections=way.sections[:1]))
        last = tuple(one for one in way.sections[1:] if one.title == STANDS_ON)
        between = tuple(one for one in way.sections[1:] if one.title != STANDS_ON)
        yield Fold("Derivation, to be checked by hand", (Way(replace(way, sections=between)),))
        if last:
            yield Way(replace(way, sections=last))
    rows = tuple(
        (line((name, "code")), line(str(one["value"])), line(str(one["side"])), line(str(one["how"])))
        for name, one in exact.constants.items()
    )
    if rows:
        yield Fold(
            "Constants of the instance",
            (Rows("Constants of the instance", ("constant", "value", "side", "how"), rows),),
        )


def _support(audit: "Evidence") -> Iterator[Block]:
    for one in audit.repairs:
        yield Words(line((one.theorem.id, "code"), f": {one.theorem.title}"))
        yield Points(tuple(_supports(one, audit.exact)))


def _supports(one: "Repair", exact: "Evaluated | None") -> Iterator[Line]:
    if one.contradicted:
        yield line(("refuted, too: what follows contradicts it", "bad"))
    for proof in one.proofs:
        steps, outcome = len(proof.outcome.steps), proof.outcome
        said = "proved" if proof.settles else outcome.verdict
        yield line(f"proof {outcome.script.id}, {steps} steps: ", (said, "good" if proof.settles else "open"))
    if not one.proofs:
        where = f"; the argument stands in {one.theorem.proof}" if one.theorem.proof else ""
        yield line(f"no proof of it was decided here{where}")
    if one.on_case is not None:
        left, right = apart(one.on_case.left, one.on_case.right)
        own = "" if exact is not None and exact.left == one.on_case.left else ", with its own step"
        yield line(
            f"on the counterexample{own}: {one.on_case.verdict}, left {left}, right {right} ({one.on_case.kind})"
        )
    if one.panel is not None:
        yield line(f"in the comparison below: {one.panel.result.verdict}, left/bound {largest(one.panel):.4g} at most")
    if one.worst is not None:
        worst = one.worst.found
        yield line(
            f"worst case, {one.theorem.counter} = {worst.plan.horizon}, constants 1 unless its command sets them: "
            f"{worst.words}: {worst.reason}"
        )
    if one.search is not None:
        found = one.search.found
        count = sum(found.tried.values())
        result = (
            "a violation was found" if found.violated
            else f"no violation, left/right at most {apart(found.ratio, 1.0)[0]}"
        )  # fmt: skip
        yield line(f"search: {count} candidates, seed {found.seed}: {result}; a search proves nothing")


def _open(audit: "Evidence") -> Iterator[Block]:
    if not audit.gaps:
        yield Words(line("Every question that was asked has an answer."))
        return
    # Repairs that have no answer for the same reason share a line.
    grouped: dict[tuple[str, str], list[str]] = {}
    for gap in audit.gaps:
        grouped.setdefault((gap.what, gap.why), []).extend([gap.of] if gap.of else [])
    yield Points(
        tuple(
            line((f"{what} of {', '.join(names)}" if names else what, "strong"), f": {why}")
            for (what, why), names in grouped.items()
        )
    )


def _commands(audit: "Evidence") -> Iterator[Block]:
    yield Commands(tuple(commands(audit)))
    yield Words(line("Core statement: SHA-256 ", (statement_hash(audit.theorem), "code"), "."))
    found = origins(audit.theorem)
    if found:
        yield Words(line("What they need beside boundlab:"))
        yield Points(tuple(line((what, "strong"), f": {how_to_have(origin)}") for what, origin in found.items()))
    versions = ", ".join(f"{name} {number}" for name, number in audit.provenance["versions"].items())
    yield Words(
        line(
            (
                f"boundlab {audit.provenance['boundlab']}, seed {audit.seed}, {audit.seconds:.0f} s of a budget of "
                f"{audit.budget:g} s; {versions}.", "dim",
            )
        )
    )  # fmt: skip
