"""The sections of the page, in the order in which a referee asks; every medium shows these."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from boundlab.audit._changes import side_by_side
from boundlab.audit._commands import commands, how_to_have, origins, statement_hash
from boundlab.audit._comparison import comparison, largest
from boundlab.audit._first_false_step import proofs_of_theorem
from boundlab.audit._ruling import apart, rule
from boundlab.checks import CONSEQUENCES
from boundlab.documentation import pointers
from boundlab.exact import STANDS_ON
from boundlab.formulas.written import letter_of_latex, written
from boundlab.pages.blocks import (
    Block,
    Commands,
    Fold,
    FormulaBlock,
    Line,
    Section,
    Tone,
    line,
    points,
    table,
    tone_of,
    words,
)
from boundlab.pages.exact import derived
from boundlab.pages.theorem import inequalities, source_of, theorem_page
from boundlab.verdict import Verdict

if TYPE_CHECKING:
    from boundlab.api import Evaluated
    from boundlab.audit._evidence import Evidence, Repair
    from boundlab.theorems import Theorem


def sections(audit: "Evidence") -> list[Section]:
    """Return the page."""
    tones = {"verdict": tone(audit)}
    false, recovered = tones["verdict"] == "bad", audit.theorem.status.startswith("recovered")
    parts = (
        ("statement", "Statement", _statement(audit)),
        ("verdict", "Verdict", _verdict(audit)),
        ("checks", "Checks of the formula", _checks(audit)),
        ("counterexample", "Counterexample" if false else "The instance looked at", _case(audit)),
        ("slip", "Where the proof goes wrong" if false else "Its proof", proofs_of_theorem(audit)),
        ("repair", f"{'Recovered' if recovered else 'Printed'} and repaired", side_by_side(audit)),
        ("support", "What supports the repair", _support(audit)),
        ("comparison", "Bound against error", comparison(audit)),
        ("open", "Not decided", _open(audit)),
        ("commands", "Repeat it", _commands(audit)),
    )
    found = (Section(name, title, tuple(blocks), tones.get(name, "")) for name, title, blocks in parts)
    return [one for one in found if one.blocks]


def tone(audit: "Evidence") -> Tone:
    """Return how the verdict is coloured; its word says the same."""
    found = rule(audit)
    return "bad" if found.by_formula else tone_of(found.word)


def _statement(audit: "Evidence") -> Iterator[Block]:
    theorem = audit.theorem
    yield words((theorem.title, "strong"))
    yield words(f"{source_of(theorem)}; here ", (theorem.id, "code"))
    # A file's own letters are text of a stranger: LaTeX would run them.
    latex = "" if theorem.source else theorem.latex()
    yield FormulaBlock(tuple((one,) for one in claim(theorem)), latex)
    if theorem.letters:
        letters = theorem.spelling()
        own = [f"{letter_of_latex(letter)} for {letters.get(name, name)}" for name, letter in theorem.letters.items()]
        yield words(f"The paper writes {', '.join(own)}.")
    # Title and source stand above already.
    yield Fold("Assumptions, symbols and options in full", tuple(theorem_page(theorem)[2:]))


def claim(theorem: "Theorem") -> tuple[str, ...]:
    """Return the inequality, the step size and what else is defined, and the conditions, in letters."""
    letters = theorem.spelling()
    right = " + ".join(written(one, theorem.symbols, letters) for one in theorem.terms.values())
    right = right or theorem.bound.as_dict()["recursion"]
    bound = f"O({right})" if theorem.shape else right

    def text(formula: Any) -> str:
        return written(formula, theorem.symbols, letters)

    chosen = {name: rule for name, rule in theorem.step.items() if rule != theorem.symbols[name].symbol}
    rules = [f"{letters.get(name, name)} = {text(rule)}" for name, rule in {**chosen, **theorem.rules()}.items()]
    each = theorem.step_of_each
    if "c" in theorem.step:
        rules.insert(0, "α_k = c/(k + d)")
    elif each is not None:
        rules.insert(
            0, f"α_k = {letters.get('alpha', 'α')}·({each})" if isinstance(each, str) else f"α_k = {text(each)}"
        )
    # What a file says is a formula; the words of a package may say more than that.
    conditions = [
        f"{text(one.quantity)} {one.sign} {text(one.limit)}" if theorem.source else one.statement
        for one in theorem.conditions
    ]
    relation = "=" if theorem.shape else "≤"
    return (f"{theorem.left.expectation} {relation} {bound}", *rules, *inequalities(theorem, letters), *conditions)


def _verdict(audit: "Evidence") -> Iterator[Block]:
    ruling = rule(audit)
    yield words((ruling.lead, tone(audit)), f": {'; '.join(ruling.reasons)}" if ruling.reasons else "")


def _checks(audit: "Evidence") -> Iterator[Block]:
    every = audit.checks.checks
    for word in ("failed", "suspicious"):
        for one in (check for check in every if check.verdict == word):
            yield words((word, tone_of(word)), f": {one.statement} (", (one.id, "code"), ")")
            yield points(text for text in (one.witness, CONSEQUENCES.get(one.consequence, "")) if text)
    counts = {word: sum(one.verdict == word for one in every) for word in dict.fromkeys(one.verdict for one in every)}
    yield words("; ".join(f"{count} {word}" for word, count in counts.items()) + ".")
    rows = [(line((one.id, "code")), one.verdict, one.statement, one.witness) for one in every]
    yield Fold("All checks", (table("All checks", ("check", "verdict", "asked", "found"), rows),))


def _case(audit: "Evidence") -> Iterator[Block]:
    exact, search = audit.exact, audit.search
    if search is not None and (kept := search.found.kept()):
        yield words(f"The search: {kept}.")
    if search is not None and exact is None and search.found.best is not None:
        one = search.found.best
        left, right = apart(one.left, one.right)
        yield words(f"{one.words()}: left {left}, right {right} ({one.kind}: {one.method}).")
    if exact is None:
        return
    left, right = apart(exact.left, exact.right)
    violated = exact.verdict is Verdict.VIOLATED
    sign = ">" if exact.left > exact.right else "≤"
    yield words((f"{exact.sentence or audit.case_text}.", "strong"))
    yield words(
        f"At {audit.theorem.horizon_symbol} = {exact.k}: left side ",
        (left, "strong"),
        f" {sign} ",
        (right, "strong"),
        f" bound; left/right = {apart(exact.ratio, 1.0)[0]} ({exact.kind}: {exact.method}). ",
        (exact.reason[:1].upper() + exact.reason[1:], "bad" if violated else ""),
        ".",
    )
    way = exact.derivation
    if way is not None:
        yield from derived(replace(way, sections=way.sections[:1]))
        last = tuple(one for one in way.sections[1:] if one.title == STANDS_ON)
        between = tuple(one for one in way.sections[1:] if one.title != STANDS_ON)
        yield Fold("Derivation, to be checked by hand", tuple(derived(replace(way, sections=between))))
        yield from derived(replace(way, sections=last))
    rows = [
        (line((name, "code")), str(one["value"]), str(one["side"]), str(one["how"]))
        for name, one in exact.constants.items()
    ]
    if rows:
        title = "Constants of the instance"
        yield Fold(title, (table(title, ("constant", "value", "side", "how"), rows),))


def _support(audit: "Evidence") -> Iterator[Block]:
    for one in audit.repairs:
        yield words((one.theorem.id, "code"), f": {one.theorem.title}")
        yield points(_supports(one, audit.exact))


def _supports(one: "Repair", exact: "Evaluated | None") -> Iterator[str | Line]:
    if one.contradicted:
        yield line(("refuted, too: what follows contradicts it", "bad"))
    for proof in one.proofs:
        steps, outcome = len(proof.outcome.steps), proof.outcome
        said = "proved" if proof.settles else outcome.verdict
        yield line(f"proof {outcome.script.id}, {steps} steps: ", (said, "good" if proof.settles else "open"))
    if not one.proofs:
        where = f"; the argument stands in {pointers(one.theorem.proof)}" if one.theorem.proof else ""
        yield f"no proof of it was decided here{where}"
    if one.on_case is not None:
        left, right = apart(one.on_case.left, one.on_case.right)
        own = "" if exact is not None and exact.left == one.on_case.left else ", with its own step"
        yield f"on the counterexample{own}: {one.on_case.verdict}, left {left}, right {right} ({one.on_case.kind})"
    if one.panel is not None:
        yield f"in the comparison below: {one.panel.result.verdict}, left/bound {largest(one.panel):.4g} at most"
    if one.worst is not None:
        worst = one.worst.found
        yield (
            f"worst case, {one.theorem.horizon_symbol} = {worst.plan.horizon}, constants 1 unless its command sets "
            f"them: {worst.words}: {worst.reason}"
        )
    if one.search is not None:
        found = one.search.found
        count = sum(found.tried.values())
        result = (
            "a violation was found"
            if found.violated
            else f"no violation, left/right at most {apart(found.ratio, 1.0)[0]}"
        )
        yield f"search: {count} candidates, seed {found.seed}: {result}; a search proves nothing"


def _open(audit: "Evidence") -> Iterator[Block]:
    if not audit.gaps:
        yield words("Every question that was asked has an answer.")
        return
    # Repairs that have no answer for the same reason share a line.
    grouped: dict[tuple[str, str, str], list[str]] = {}
    for gap in audit.gaps:
        grouped.setdefault((gap.what, gap.why, gap.decided_by), []).extend([gap.of] if gap.of else [])
    yield points(
        line((f"{what} of {', '.join(names)}" if names else what, "strong"), f": {why}; would be decided by: {by}")
        for (what, why, by), names in grouped.items()
    )


def _commands(audit: "Evidence") -> Iterator[Block]:
    yield Commands(tuple(commands(audit)))
    yield words("Core statement: SHA-256 ", (statement_hash(audit.theorem), "code"), ".")
    for path, digest in audit.provenance["plugins"].items():
        yield words("Plug-in ", (path, "code"), ": SHA-256 ", (digest, "code"), ".")
    found = origins(audit.theorem)
    if found:
        yield words("What they need beside boundlab:")
        yield points(line((what, "strong"), f": {how_to_have(origin)}") for what, origin in found.items())
    versions = ", ".join(f"{name} {number}" for name, number in audit.provenance["versions"].items())
    spent = f"{audit.seconds:.0f} s of a budget of {audit.budget:g} s"
    yield words((f"boundlab {audit.provenance['boundlab']}, seed {audit.seed}, {spent}; {versions}.", "dim"))
