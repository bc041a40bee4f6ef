"""Evidence gathered by an audit, as a value, and the verdict that follows from it alone.

Nothing else on a page may say that a theorem is false, or proved.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic, Literal, TypeVar, final

from boundlab.checks import Checks
from boundlab.compare import Comparison, Horizons
from boundlab.errors import shortened
from boundlab.exact import ExactResult, apart as apart
from boundlab.falsify import Falsification
from boundlab.instance.fitting import CompareOptions
from boundlab.prove import Outcome
from boundlab.prove.on_instance import Broken
from boundlab.registry import command_line
from boundlab.theorems import Theorem
from boundlab.verdict import ExitCode, Verdict
from boundlab.worst_case import WorstCase

Found = TypeVar("Found", Falsification, WorstCase, Comparison | Horizons)


@final
@dataclass(frozen=True, slots=True)
class Undecided:
    """Undecided question, with the reason.

    Parameters
    ----------
    what, why
        In words.
    decided_by
        What would decide it, in words.
    of
        The repair that was asked about; empty where it is the theorem itself.
    """

    what: str
    why: str
    decided_by: str
    of: str = ""


@dataclass(frozen=True, slots=True)
class Asked(Generic[Found]):
    """Result of one question, with the command that repeats it."""

    found: Found
    command: str

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready fields."""
        return {"command": self.command, **self.found.as_dict()}


@final
@dataclass(frozen=True, slots=True)
class Panel(Asked[Comparison | Horizons]):
    """One comparison with simulated or computed errors, at several horizons where the step is chosen for the horizon.

    Parameters
    ----------
    setting, chosen
        At which problem, delays and settings; and why at these, in words that follow "on".
    """

    setting: CompareOptions
    chosen: str

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready fields."""
        return {"command": self.command, "chosen": self.chosen, **self.found.as_dict()}


@final
@dataclass(frozen=True, slots=True)
class OnCase:
    """Steps of a proof on a counterexample.

    Parameters
    ----------
    case_file, case_text
        The counterexample; the file is empty where it was found in this audit.
    exact
        Both sides of the theorem there.
    false
        The steps that are false there; see :func:`boundlab.prove.on_instance.broken`.
    why
        Why none was computed; empty where they were.
    first_iterations
        How much of the counterexample's run was looked at; None: all of it.
    """

    case_file: str
    case_text: str
    exact: ExactResult
    false: tuple[Broken, ...] = ()
    why: str = ""
    first_iterations: int | None = None

    @property
    def first(self) -> Broken | None:
        """The first step that is false there and decided, or the first at all."""
        return next((one for one in self.false if one.decided), self.false[0] if self.false else None)

    @property
    def decided(self) -> bool:
        """True if the first step is false for certain."""
        return self.first is not None and self.first.decided


@final
@dataclass(frozen=True, slots=True)
class ProofEvidence:
    """A proof whose steps were decided.

    Parameters
    ----------
    outcome
        Its steps.
    asked
        Words after ``boundlab prove`` that repeat it.
    settles
        Whether its last step is the very theorem that is asked about, and every step is proved.
    seen
        Of a false theorem: its steps on the counterexample, and on others of the theorem as long as none of them fails.
    """

    outcome: Outcome
    asked: tuple[str, ...]
    settles: bool
    seen: tuple[OnCase, ...] = ()

    @property
    def broken(self) -> OnCase | None:
        """The first counterexample on which a step is false; one that is decided goes first."""
        every = [one for one in self.seen if one.false]
        return next((one for one in every if one.decided), every[0] if every else None)

    @property
    def command(self) -> str:
        """Command that repeats the proof."""
        return command_line("prove", *self.asked)


@final
@dataclass(frozen=True, slots=True)
class Repair:
    """A theorem that is registered as true in place of a false one, with what supports it.

    Parameters
    ----------
    on_case
        Both sides on the counterexample of the false one.
    """

    theorem: Theorem
    proofs: tuple[ProofEvidence, ...] = ()
    on_case: ExactResult | None = None
    search: Asked[Falsification] | None = None
    worst: Asked[WorstCase] | None = None
    panel: Panel | None = None

    @property
    def proved(self) -> bool:
        """True if some proof ends in this theorem, with every step proved."""
        return any(one.settles for one in self.proofs)

    @property
    def contradicted(self) -> bool:
        """True if any of the questions asked finds this theorem false, too."""
        said = [one.found for one in (self.search, self.panel, self.worst) if one is not None]
        return any(one is not None and one.verdict == "violated" for one in (self.on_case, *said))


@dataclass(frozen=True, repr=False)
class Evidence:
    """All that was asked about one theorem.

    Parameters
    ----------
    typed
        The theorem as a command takes it: an id, or a file.
    budget, seed, seconds
        Seconds that were to be spent, the seed of all searches and samples, and seconds that were spent.
    checks
        By the formula alone.
    case, case_text
        The instance that both sides are computed on, as case files have it, and in words; None where there is none.
    case_file
        Its file; empty where it was found here.
    exact
        Both sides on that instance.
    search
        Where the theorem names no counterexample: what a search has found.
    proofs
        Those registered for the theorem: its own, or, of one as printed, the paper's.
    repairs
        What is registered as true in its place.
    panel
        A comparison; None where no setting fits.
    gaps
        What was not decided.
    provenance
        Versions, and the text of the theorem where it came from a file.
    """

    theorem: Theorem
    typed: str
    budget: float
    seed: int
    seconds: float
    checks: Checks
    case: Mapping[str, Any] | None
    case_text: str
    case_file: str
    exact: ExactResult | None
    search: Asked[Falsification] | None
    proofs: tuple[ProofEvidence, ...]
    repairs: tuple[Repair, ...]
    panel: Panel | None
    gaps: tuple[Undecided, ...]
    provenance: Mapping[str, Any]

    @property
    def instance(self) -> tuple[str, Any] | None:
        """The instance that was looked at, in words, and its two sides: the case, else the closest of the search."""
        counter, exact, search = self.theorem.horizon_symbol, self.exact, self.search
        if exact is not None:
            return exact.sentence or f"{self.case_text}, {counter} = {exact.k}", exact
        best = None if search is None else search.found.best
        return None if best is None else (f"{best.words()}, {counter} = {best.iterations}", best)


# From evidence to the verdict.

_NOTHING: Final = "applies to no instance that was tried"
Word = Literal[
    "false",
    "proved",
    "not refuted",
    "says nothing that a number could refute",
    "applies to no instance that was tried",
    "not decided",
    "contradictory",
]
_CODES: dict[str, ExitCode] = {
    "false": ExitCode.REFUTED,
    "proved": ExitCode.STANDS,
    "not refuted": ExitCode.STANDS,
    "says nothing that a number could refute": ExitCode.NOT_APPLICABLE,
    _NOTHING: ExitCode.NOT_APPLICABLE,
    "not decided": ExitCode.UNDECIDED,
    "contradictory": ExitCode.UNDECIDED,
}


@final
@dataclass(frozen=True, slots=True)
class Ruling:
    """A verdict in one line.

    Parameters
    ----------
    word
        What it amounts to.
    reasons
        What it rests on, and what leads on, in this order.
    by_formula
        Whether a printed O(·), which no number refutes, is false with universal constants.
    tried
        Of a theorem that applies to none of them, how many instances were tried; else None.
    """

    word: Word
    reasons: tuple[str, ...]
    by_formula: bool = False
    tried: int | None = None

    @property
    def lead(self) -> str:
        """Beginning of the line."""
        return self.word if self.tried is None else f"{self.word} (0 of {self.tried})"

    @property
    def sentence(self) -> str:
        """The whole line."""
        return f"{self.lead}: {'; '.join(self.reasons)}" if self.reasons else self.lead

    def within(self, letters: int, head: str) -> str:
        """Return the head, and of the line as many reasons as there is room for.

        The first is cut where its instance is described, before the numbers; others are left out as a whole.
        """
        text = f"{head}{self.sentence}"
        if len(text) <= letters or not self.reasons:
            return text
        first, *others = self.reasons
        start, room = f"{head}{self.lead}: ", letters - len(head) - len(self.lead) - 2
        room -= sum(len(one) + 2 for one in others if one.startswith("repaired") and 3 * len(one) < letters)
        if len(first) > room:
            numbers = first.rpartition(": ")[2]
            kept, _, cut = first[: max(0, room - len(numbers) - 3)].rpartition(", ")  # no setting is halved
            first = f"{kept or cut}…: {numbers}"
        text = start + first
        for one in others:
            text = f"{text}; {one}" if len(text) + len(one) + 2 <= letters else text
        return shortened(text, letters)

    @property
    def code(self) -> ExitCode:
        """How the command ends."""
        return ExitCode.REFUTED if self.by_formula else _CODES[self.word]


def rule(audit: Evidence) -> Ruling:
    """Return the verdict that the evidence allows, and no stronger one."""
    if audit.theorem.shape:
        return _of_shape(audit)
    numbers, proved, search = [*_refutations(audit)], list(_proofs(audit)), audit.search
    empty = [one.witness for one in audit.checks.failed if one.id == "scope.nonempty"]
    count = 0 if search is None else sum(search.found.refused.values())
    if empty and not numbers:  # then every claim is true, whatever else is said of it
        return Ruling(_NOTHING, (*empty, *(f"proved {one}" for one in proved), *_repaired(audit)), tried=count)
    refuted = [*numbers, *_arguments(audit)]
    vacuous = [f"vacuous {region}" for region in vacuities(audit)]
    if refuted and proved:
        why = "a proof and a refutation of it both pass, which is a defect of boundlab or of a plug-in; believe neither"
        return Ruling("contradictory", (why, *proved, *refuted))
    if refuted:
        return Ruling("false", (*refuted, *vacuous, *_repaired(audit)))
    if proved:
        return Ruling("proved", (*proved, *vacuous))
    failed = [(one, one.consequence) for one in audit.checks.failed if one.consequence]
    said = [one.witness if word == "not defined" else f"a check fails: {one.id} ({word})" for one, word in failed]
    suspects = [f"but {one}" for one in said]
    if search is not None and search.found.nothing and audit.exact is None and audit.panel is None:
        refused = search.found.refused  # how many instances were not tried, by the reason
        unmet = f"no instance was found that meets {search.found.unmet}" if search.found.unmet else ""
        why = unmet or max(refused, key=refused.__getitem__, default="")
        reasons = (*filter(None, [why]), *suspects, *vacuous, *_repaired(audit))
        return Ruling(_NOTHING, reasons, tried=count)
    tried = list(_tried(audit))
    doubts = suspects if tried else said
    return Ruling("not refuted" if tried else "not decided", (*tried, *doubts, *vacuous, *_repaired(audit)))


def _of_shape(audit: Evidence) -> Ruling:
    """Return what is said of a printed O(·): an argument alone speaks against its constants, or a family of cases."""
    against = [f"with universal constants false {one}" for one in _arguments(audit)]
    growth = None if audit.search is None else audit.search.found.growth
    if growth is not None:
        family = f"whatever its constants are, {growth.family}: {growth.why}"
        return Ruling("false", (family, *against, *_repaired(audit)))
    reasons = ("a printed O(·), its constants are unknown", *against, *_repaired(audit))
    return Ruling("says nothing that a number could refute", reasons, bool(against))


def _arguments(audit: Evidence) -> Iterator[str]:
    found = [one.id for one in audit.checks.failed if one.consequence == "claim false"]
    if found:
        yield f"by the formula alone ({', '.join(found)})"


def _refutations(audit: Evidence) -> Iterator[str]:
    """Yield what refutes the theorem: numbers that are computed, or a sample at its level."""
    exact, search, panel = audit.exact, audit.search, audit.panel
    counter = audit.theorem.horizon_symbol
    if exact is not None and exact.verdict is Verdict.VIOLATED:
        what = "counterexample" if audit.theorem.refuted_by or search is None else search.found.called
        said = exact.sentence or f"{audit.case_text}, {counter} = {exact.k}: {sides(exact, '>')}"
        yield f"{what}: {said} ({_how(exact.kind)})"
    elif (
        search is not None
        and (one := search.found.best) is not None
        and search.found.violated
        and (exact is None or exact.verdict is not Verdict.HOLDS)  # exact numbers on its case take a violation back
    ):
        where = f"{one.words()}, {counter} = {one.iterations}"
        yield f"{search.found.called}: {where}: {sides(one, '>')} ({_how(one.kind)})"
    elif panel is not None and panel.found.verdict is Verdict.VIOLATED:
        yield panel.found.reason


def sides(one: Any, sign: str = "") -> str:
    """Return both sides with as many digits as tell them apart, and a sign between them: by default how they stand."""
    left, right = apart(one.left, one.right)
    return f"{left} {sign or ('>' if one.left > one.right else '≤')} {right}"


def _how(kind: str) -> str:
    return "in floating point" if kind == "numeric" else kind


def _proofs(audit: Evidence) -> Iterator[str]:
    for one in audit.proofs:
        if one.settles:
            yield f"by {one.outcome.script.id}, all {len(one.outcome.steps)} steps down to the theorem"


def vacuities(audit: Evidence) -> Iterator[str]:
    """Yield where the claim is true for trivial reasons."""
    for one in audit.checks.checks:
        if one.consequence == "claim vacuous":
            region = re.search(r", (for .+?), whatever", one.witness)
            yield region[1] if region else f"as {one.id} says"


def _repaired(audit: Evidence) -> Iterator[str]:
    """Yield which repairs are proved here, and which are registered only."""
    good = [one.theorem.id for one in audit.repairs if one.proved and not one.contradicted]
    other = [one.theorem.id for one in audit.repairs if not one.proved and not one.contradicted]
    if good:
        yield f"repaired: {', '.join(good)} (proved)"
    if other:
        yield f"repaired{' also' if good else ''}, as registered, with no proof decided here: {', '.join(other)}"


def _tried(audit: Evidence) -> Iterator[str]:
    """Yield what was tried without refuting the theorem; nothing where nothing was decided."""
    exact, search, panel = audit.exact, audit.search, audit.panel
    decided = [one for one in audit.checks.checks if one.verdict not in ("unknown", "not applicable", "failed")]
    if search is not None and search.found.best is not None:
        found = search.found
        yield (f"{found.looked_at} in a search (seed {found.seed}), left/right at most {apart(found.ratio, 1.0)[0]}")
    if exact is not None and exact.verdict is Verdict.HOLDS:
        yield f"left/right {apart(exact.ratio, 1.0)[0]} on the instance below ({exact.kind})"
    if panel is not None and panel.found.verdict in (Verdict.HOLDS, Verdict.CONSISTENT):
        yield f"{panel.found.verdict} on the comparison below"
    if decided and not audit.checks.failed:
        suspicious = sum(one.verdict == "suspicious" for one in audit.checks.checks)
        yield f"{len(decided)} checks, none failed{f', {suspicious} suspicious' * bool(suspicious)}"
