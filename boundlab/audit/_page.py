"""The pages of an audit: its sections, in the order in which a referee asks, ten lines for a review, and JSON."""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import sympy

from boundlab.__about__ import __version__
from boundlab.arithmetic.writing import Sentence
from boundlab.audit._ruling import Evidence, Panel, ProofEvidence, Repair, apart, rule, sides
from boundlab.checks import CONSEQUENCES
from boundlab.compare import Comparison, Horizons
from boundlab.documentation import pointers
from boundlab.errors import MissingExtraError
from boundlab.exact import STANDS_ON, ExactResult
from boundlab.files import Document, schema
from boundlab.formulas.symbols import SYMBOLS
from boundlab.formulas.written import letter_of_latex, letters_of, written
from boundlab.pages import plots
from boundlab.pages.blocks import (
    Block,
    Chart,
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
from boundlab.pages.theorem import Wording, source_of, theorem_page
from boundlab.prove import Status, Step, letters as meant_by
from boundlab.registry import BUILT_IN, Kind, catalogue, command_line
from boundlab.theorems import Theorem, core
from boundlab.verdict import Verdict


def sections(audit: Evidence, *, drawn: bool = False) -> list[Section]:
    """Return the page; ``drawn``: with its chart, where matplotlib is installed."""
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
        ("comparison", "Bound against error", comparison(audit, drawn=drawn)),
        ("open", "Not decided", _open(audit)),
        ("commands", "Repeat it", _commands(audit)),
    )
    found = (Section(name, title, tuple(blocks), tones.get(name, "")) for name, title, blocks in parts)
    return [one for one in found if one.blocks]


def tone(audit: Evidence) -> Tone:
    """Return how the verdict is coloured; its word says the same."""
    found = rule(audit)
    return "bad" if found.by_formula else tone_of(found.word)


def _statement(audit: Evidence) -> Iterator[Block]:
    theorem = audit.theorem
    yield words((theorem.title, "strong"))
    yield words(f"{source_of(theorem)}; here ", (theorem.id, "code"))
    # A file's own letters are text of a stranger: LaTeX would run them.
    latex = "" if theorem.source else theorem.latex()
    yield FormulaBlock(tuple((one,) for one in Wording(theorem).claim()), latex)
    if theorem.letters:
        letters = theorem.spelling()
        own = [f"{letter_of_latex(letter)} for {letters.get(name, name)}" for name, letter in theorem.letters.items()]
        yield words(f"The paper writes {', '.join(own)}.")
    # Title and source stand above already.
    yield Fold("Assumptions, symbols and options in full", tuple(theorem_page(theorem)[2:]))


def _verdict(audit: Evidence) -> Iterator[Block]:
    ruling = rule(audit)
    yield words((ruling.lead, tone(audit)), f": {'; '.join(ruling.reasons)}" if ruling.reasons else "")


def _checks(audit: Evidence) -> Iterator[Block]:
    every = audit.checks.checks
    for word in ("failed", "suspicious"):
        for one in (check for check in every if check.verdict == word):
            yield words((word, tone_of(word)), f": {one.statement} (", (one.id, "code"), ")")
            yield points(text for text in (one.witness, CONSEQUENCES.get(one.consequence, "")) if text)
    counts = {word: sum(one.verdict == word for one in every) for word in dict.fromkeys(one.verdict for one in every)}
    yield words("; ".join(f"{count} {word}" for word, count in counts.items()) + ".")
    rows = [(line((one.id, "code")), one.verdict, one.statement, one.witness) for one in every]
    yield Fold("All checks", (table("All checks", ("check", "verdict", "asked", "found"), rows),))


def _case(audit: Evidence) -> Iterator[Block]:
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


def _support(audit: Evidence) -> Iterator[Block]:
    for one in audit.repairs:
        yield words((one.theorem.id, "code"), f": {one.theorem.title}")
        yield points(_supports(one, audit.exact))


def _supports(one: Repair, exact: ExactResult | None) -> Iterator[str | Line]:
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
        yield f"in the comparison below: {one.panel.found.verdict}, left/bound {largest(one.panel):.4g} at most"
    if one.worst is not None:
        worst = one.worst.found
        yield (
            f"worst case, {one.theorem.horizon_symbol} = {worst.plan.horizon}, constants 1 unless its command sets "
            f"them: {worst.words}: {worst.reason}"
        )
    if one.search is not None:
        found = one.search.found
        result = (
            "a violation was found"
            if found.violated
            else f"no violation, left/right at most {apart(found.ratio, 1.0)[0]}"
        )
        yield f"search: {found.looked_at}, seed {found.seed}: {result}; a search proves nothing"


def _open(audit: Evidence) -> Iterator[Block]:
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


def _commands(audit: Evidence) -> Iterator[Block]:
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


# The proof of the theorem: its first step that is refuted or does not follow, and the steps that depend on it.

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


def proofs_of_theorem(audit: Evidence) -> Iterator[Block]:
    """Yield what each registered proof of the theorem amounts to."""
    for one in audit.proofs:
        yield from _of_proof(one, audit.theorem)


def first_false_step(one: ProofEvidence) -> Step | None:
    """Return the first step that is refuted, or does not follow from what it cites; misprints apart."""
    return next((step for step in one.outcome.meant if step.status in _FALSE), None)


def _of_proof(one: ProofEvidence, theorem: Theorem) -> Iterator[Block]:
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
        yield words(f"It rests on: {', '.join(outcome.assumptions) or 'no assumption'}.")
    rows = [
        (line((step.name, "strong")), step.at, line((step.status.value, tone_of(step.status.value))))
        for step in outcome.steps
    ]
    listed = table(f"Steps of {script.id}", ("step", "place", "verdict"), rows)
    meant = "; ".join(f"{status.value}: {_MEANT[status]}" for status, count in counts.items() if count)
    yield Fold(f"All {len(outcome.steps)} steps", (words((f"{meant}.", "dim")), listed))


def _on_cases(one: ProofEvidence, letters: Mapping[str, str]) -> Iterator[Block]:
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
        where = f"on the counterexample {at.case_file}"
        counter = one.outcome.setting.theorem.horizon_symbol if one.outcome.setting is not None else "k"
        yield words(
            "Another counterexample of the theorem, ",
            (at.case_file, "code"),
            f": {at.case_text}; at {counter} = {at.exact.k}: left side {sides(at.exact, '>')} bound ({at.exact.kind}).",
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


def _step(lead: str, one: ProofEvidence, step: Step, letters: Mapping[str, str]) -> Iterator[Block]:
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


def _hanging(one: ProofEvidence, step: Step) -> Iterator[Block]:
    hangs = one.outcome.hanging.get(step.name, [])
    yield words(f"Steps that depend on it: {', '.join(hangs) or 'nothing'}.")
    yield Commands((command_line("prove", *one.asked, "--step", step.name),))


def _counted(status: Status, count: int) -> str:
    """Return a verdict with the number of its steps before it."""
    verbs = {Status.FOLLOWS: "follow", Status.DOES_NOT_FOLLOW: "do not follow", Status.REMARK: "remarks"}
    return verbs.get(status, status.value) if count > 1 else status.value


def _lettered(text: str, letters: Mapping[str, str]) -> str:
    """Return a step in which symbols have the letters of the statement: sigma_g is σ_g."""
    every = {**letters_of(name for name in _NAME.findall(text) if name in SYMBOLS), **letters}
    return _NAME.sub(lambda found: every.get(found[0], found[0]), text)


# Printed and repaired bound side by side, with what has changed marked.

_NOTHING = "–"


def side_by_side(audit: Evidence) -> Iterator[Block]:
    """Yield a table for each repair, all but the first folded."""
    for place, one in enumerate(audit.repairs):
        columns = ("part", audit.theorem.status, one.theorem.status, "changed")
        rows = table(f"{audit.theorem.id} and {one.theorem.id}", columns, _rows(audit.theorem, one.theorem))
        head = words((one.theorem.id, "code"), f": {one.theorem.title}")
        if place:
            yield Fold(f"{one.theorem.id}: {one.theorem.title}", (rows,))
        else:
            yield from (head, rows)


def parts(theorem: Theorem) -> dict[str, str]:
    """Return the parts of a claim, each as it is written: assumptions, conditions, step, terms, definitions."""
    letters = _letters(theorem)

    def text(formula: sympy.Expr) -> str:
        return written(formula, theorem.symbols, letters)

    found = {f"term {name}": text(term) for name, term in theorem.terms.items()}
    if not found:
        found["bound"] = theorem.bound.as_dict()["recursion"]
    found |= {
        f"step {letters.get(name, name)}": "given" if name not in theorem.defining() else text(rule)
        for name, rule in theorem.step.items()
    }
    found |= {
        f"where {letters.get(name, name)} =": text(rule)
        for name, rule in theorem.rules().items()
        if name not in theorem.step
    }
    found |= {f"condition {place + 1}": one.statement for place, one in enumerate(theorem.conditions)}
    found |= {f"at every x, {name}": one.statement for name, one in theorem.assume.items()}
    options = ", ".join(f"{name} = {value}" for name, value in theorem.core.fixed.items())
    return {
        **found,
        "left side": theorem.left.expectation,
        "assumptions": ", ".join(theorem.assumptions),
        "options": options,
    }


def _letters(theorem: Theorem) -> Mapping[str, str]:
    return {**letters_of(sorted(theorem.symbols), theorem.symbols), **theorem.spelling()}


def _rows(old: Theorem, new: Theorem) -> Iterator[tuple[str | Line, ...]]:
    before, after = parts(old), parts(new)
    for name in dict.fromkeys([*before, *after]):
        one, other = before.get(name) or _NOTHING, after.get(name) or _NOTHING
        if one == other == _NOTHING:
            continue
        same = one == other
        marked = line((other, "" if same or other == _NOTHING else "mark"))
        word = "" if same else "added" if one == _NOTHING else "gone" if other == _NOTHING else "changed"
        yield line((name, "strong")), one, marked, word


# The comparison: what was run, a chart, and its numbers.

_Column = tuple[float, ...]
_NAMES = {"mean": "left side", "ratio": "left/bound"}


def comparison(audit: Evidence, *, drawn: bool = False) -> Iterator[Block]:
    """Yield the verdict of the comparison, its chart with the repaired bounds (``drawn``: as SVG), and its numbers."""
    panel = audit.panel
    if panel is None:
        return
    result = panel.found
    verdict = result.verdict.value
    yield words(f"On {panel.chosen}: ", (verdict, tone_of(verdict)), f": {result.reason}.")
    columns, svg = _columns(result), ""
    if drawn:
        others: list[Any] = [one.panel.found for one in audit.repairs if one.panel is not None]
        with suppress(MissingExtraError):
            svg = plots.svg(lambda pair: result.plot(pair, others=others), *_CHART)
    described = _described(audit, columns, result)
    yield Chart(f"{audit.theorem.id}: left side and bound", described, svg)
    names = [name for name in columns if name != "verdict"]
    rows = [[f"{one:.4g}" for one in row] for row in zip(*(columns[name] for name in names), strict=True)]
    numbers = table("The numbers of the chart", names, rows, numbers=range(len(names)))
    yield Fold("The numbers", (numbers, words((f"{_first(result).band.method}.", "dim"))))
    yield Commands((panel.command,))


def largest(panel: Panel) -> float:
    """Return the largest quotient of left side and bound of a comparison."""
    return max(_columns(panel.found)["left/bound"])


_CHART = (7.0, 6.4)  # inches


def _first(result: Comparison | Horizons) -> Comparison:
    return result.comparisons[0] if isinstance(result, Horizons) else result


def _columns(result: Comparison | Horizons) -> dict[str, _Column]:
    """Return the columns by name: of several horizons, the last point of each."""
    one, every = _first(result), result.columns()
    names = (one.plan.theorem.horizon_symbol, "mean", "lower", "upper", "bound", "ratio")
    found = {_NAMES.get(name, name): tuple(map(float, every[name])) for name in names}
    if one.exact == "expectation" or found["lower"] == found["left side"] == found["upper"]:
        del found["lower"], found["upper"]
    return found


def _described(audit: Evidence, columns: dict[str, _Column], result: Comparison | Horizons) -> str:
    counter = audit.theorem.horizon_symbol
    xs, left, bound, ratio = (columns[name] for name in (counter, "left side", "bound", "left/bound"))
    worst = max(range(len(xs)), key=lambda row: ratio[row])
    return (
        f"Left side and bound of {audit.theorem.id} on {_first(result).plan.problem.id} from {counter} = {xs[0]:g} to "
        f"{xs[-1]:g}. At {counter} = {xs[worst]:g} the left side {left[worst]:.4g} is {ratio[worst]:.4g} times the "
        f"bound {bound[worst]:.4g}, the largest ratio."
    )


# The command lines that repeat an audit, and what must be there for them to run.


def commands(audit: Evidence) -> list[str]:
    """Return what repeats each number, each command once."""
    typed = audit.typed
    found = [
        command_line("show", typed),
        command_line("show", typed, "--core"),
        command_line("check", typed, "--all"),
    ]
    if audit.search is not None:
        found.append(audit.search.command)
        if (best := audit.search.found.best) is not None and (command := best.command(typed)):
            found.append(command)
    elif audit.exact is not None:
        found.append(command_line("exact", typed, *(["--derivation"] if audit.exact.derivation is not None else [])))
    found += [one.command for one in audit.proofs]
    found += [] if audit.panel is None else [audit.panel.command]
    for repair in audit.repairs:
        name = repair.theorem.id
        found += [one.command for one in repair.proofs]
        own = audit.theorem.id if audit.case_file.startswith("proofs/") else audit.case_file
        found += [] if repair.on_case is None or not own else [command_line("exact", name, own)]
        found += [one.command for one in (repair.worst, repair.search, repair.panel) if one is not None]
    return list(dict.fromkeys(found))


def statement_hash(theorem: Theorem) -> str:
    """Return the SHA-256 of the core statement: equal hashes say the same."""
    return core(theorem).sha256


def origins(theorem: Theorem) -> dict[str, str]:
    """Return where the theorem, its algorithm, metric and assumptions come from, of those that boundlab has not itself.

    Of an installed package, its name and version; of a file, its path.
    """
    asked: list[tuple[Kind, str]] = [("theorems", theorem.id), ("algorithms", theorem.algorithm)]
    asked += [("metrics", theorem.metric), *(("assumptions", name) for name in theorem.assumptions)]
    found: dict[str, str] = {}
    for kind, name in asked:
        for row in catalogue(kind):
            own = kind != "theorems" or row.item is theorem  # a file of the same id is another theorem
            if row.id == name and row.origin != BUILT_IN and own and not row.reason:
                found[f"{_SINGULAR[kind]} {name}"] = row.origin
    return found


_SINGULAR = {"theorems": "theorem", "algorithms": "algorithm", "metrics": "metric", "assumptions": "assumption"}


def how_to_have(origin: str) -> str:
    """Return in words how something that boundlab has not itself is there: a file is named, a package installed."""
    if Path(origin).is_absolute():
        return f"the plug-in {origin}, named by --plugin or in BOUNDLAB_PLUGINS"
    name, _, version = origin.partition(" ")
    return f"the package {origin}, installed with pip install {name}=={version}"


# Ten lines, to be pasted into a review.

_FEW = 2
_FUNCTIONS = ("f_", "where ", "minimum ")
_SHOWING = ("boundlab show ", "boundlab check ")


def brief(audit: Evidence) -> Iterator[Block]:
    """Yield statement, verdict, instance, both numbers, what is wrong in the proof, what is true, and the commands."""
    theorem, ruling = audit.theorem, rule(audit)
    yield words((theorem.id, "code"), f", {source_of(theorem)}: {'; '.join(Wording(theorem).claim())}")
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
        yield words(f"not decided: {'; '.join([*gaps][:_FEW])}")
    deciding = [one for one in commands(audit) if not one.startswith(_SHOWING)]
    given = [one.asked[1:] for one in audit.proofs if len(one.asked) > 1 and one.asked[-1] not in audit.theorem.proofs]
    yield Commands((*deciding[:_FEW], command_line("audit", audit.typed, *sum(given, ()))))
    version = audit.provenance.get("boundlab", "")
    yield words((f"boundlab {version}, seed {audit.seed}, statement {statement_hash(theorem)[:16]}", "dim"))


def _by(one: ProofEvidence, step: Step) -> str:
    """Return where a step is false; where that is not the counterexample, which step is false there."""
    at = one.broken
    if at is None or at.first is None:
        return "by an instance of its own"
    there = "there" if at is one.seen[0] else f"on the counterexample {at.case_file}"
    if at.first_iterations is not None:
        there += f" within {at.first_iterations} iterations"
    if at.first.step.name == step.name:
        return f"{there} {at.first.where}"
    other = f"{at.first.step.name} ({at.first.step.at})"
    return f"by an instance of its own; {there} it is {other} that fails, {at.first.where}"


def _instance(audit: Evidence) -> Iterator[Block]:
    """Yield the instance that was looked at, and both sides there."""
    if audit.instance is None:
        return
    where, one = audit.instance
    yield words(f"instance: {where}")
    way = None if audit.exact is None else audit.exact.derivation
    if way is not None:  # a reader of the review has no list of problems
        said = [one.text for one in way.sections[0].items if isinstance(one, Sentence)]
        yield words("; ".join(one for one in said if one.startswith(_FUNCTIONS)))
    yield words(f"there left side {sides(one)} bound ({one.kind})")


def _repaired(repair: Repair) -> Iterator[tuple[str, Tone] | str]:
    yield repair.theorem.id, "code"
    yield f", {repair.theorem.title}{' (proved)' if repair.proved else ''}"
    if repair.on_case is not None:
        yield f"; there {sides(repair.on_case)}"


# JSON-ready fields.


def fields(audit: Evidence) -> Document:
    """Return everything that the page says, and what it was made from."""
    ruling = rule(audit)
    return Document(
        schema=schema("audit"),
        boundlab=__version__,
        theorem=audit.theorem.as_dict(),
        verdict=ruling.word,
        reasons=list(ruling.reasons),
        exit_code=int(ruling.code),
        budget=audit.budget,
        seed=audit.seed,
        seconds=round(audit.seconds, 1),
        checks=[one.as_dict() for one in audit.checks.checks],
        case=None if audit.case is None else dict(audit.case),
        case_file=audit.case_file,
        exact=_data(audit.exact),
        search=_data(audit.search),
        proofs=[_proof(one) for one in audit.proofs],
        repairs=[_repair(one) for one in audit.repairs],
        comparison=_data(audit.panel),
        not_decided=[asdict(one) for one in audit.gaps],
        commands=commands(audit),
        core=statement_hash(audit.theorem),
        origins=origins(audit.theorem),
        provenance=dict(audit.provenance),
    )


def _data(one: Any) -> dict[str, Any] | None:
    return None if one is None else one.as_dict()


def _proof(one: ProofEvidence) -> dict[str, Any]:
    false = first_false_step(one)
    return {
        "command": one.command,
        "settles": one.settles,
        "first_slip": None if false is None else false.name,
        "on_cases": [
            {
                "case_file": seen.case_file,
                "why": seen.why,
                "false": [
                    {
                        "step": own.step.name,
                        "decided": own.decided,
                        "at": dict(own.row.indices),
                        "left": str(own.row.left),
                        "right": str(own.row.right),
                    }
                    for own in seen.false
                ],
            }
            for seen in one.seen
        ],
        **one.outcome.as_dict(),
    }


def _repair(one: Repair) -> dict[str, Any]:
    return {
        "id": one.theorem.id,
        "title": one.theorem.title,
        "proved": one.proved,
        "contradicted": one.contradicted,
        "proofs": [_proof(proof) for proof in one.proofs],
        "on_case": _data(one.on_case),
        "search": _data(one.search),
        "worst_case": _data(one.worst),
        "comparison": _data(one.panel),
    }
