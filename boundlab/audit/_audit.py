"""Asks every question about a theorem, in the order in which answers help, within a budget of seconds."""

import itertools
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from pathlib import Path
from typing import Annotated, Any, TypeVar, final

import numpy as np

from boundlab import api
from boundlab.arguments import checked
from boundlab.arithmetic.rational import ENGINE, rational
from boundlab.assumptions import RELATIVE
from boundlab.audit._page import brief, fields, sections
from boundlab.audit._ruling import Asked, Evidence, OnCase, Panel, ProofEvidence, Repair, Ruling, Undecided, rule
from boundlab.case import Case, RandomEvents, load_case, other_cases, own_case, plain, provenance, read_case
from boundlab.errors import (
    AssumptionError,
    BoundlabError,
    MissingExtraError,
    SpecError,
    SymbolError,
    UndecidedError,
    visible,
)
from boundlab.events import Events
from boundlab.exact import ExactResult
from boundlab.falsify import Falsification
from boundlab.instance.fitting import CompareOptions
from boundlab.options import Declared, Default, Keyword, count, integer, number, spec_of, time_limit, typed
from boundlab.pages.blocks import Block, Line, line
from boundlab.prove import Outcome, Script
from boundlab.prove.on_instance import Instance, broken, instance_of
from boundlab.prove.run import the_script
from boundlab.registry import command_line, lookup
from boundlab.result import Result, reported
from boundlab.theorems import Theorem
from boundlab.verdict import ExitCode
from boundlab.worst_case import WorstCase


@final
@dataclass(frozen=True, repr=False, eq=False)
class Audit(Evidence, Result):
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

        return document(self._title(), f"Audit of {self.theorem.id}: {self.verdict}", sections(self, drawn=True))

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
        return fields(self)


Found = TypeVar("Found")
_SEARCH = 0.4  # of the budget, for a theorem that names no counterexample
_LONGEST_SEARCH = 10.0  # seconds for each repair
_SHORTEST_SEARCH = 1.0
_PANEL_TRIALS = 40
_STRETCH = 4  # of the horizon of a counterexample, for a curve that goes on
_WORST_HORIZON = 2
_SHORT = 200  # iterations of a counterexample on which the steps of a proof are looked at in brief
_GRADIENTS = ("G", "G_sq")  # bounds of gradients, which a worst case is asked for
_BUDGETS = (1.0, 3600.0)
_MOST_CANDIDATES = 10**6
_LONGER = "a larger budget"
_BY_HAND = "no option: an argument by hand, or a file of the theorem with conditions that settle it"
_WAYS: tuple[tuple[type[BoundlabError], str], ...] = (
    (MissingExtraError, "the extra that is named there, installed"),
    (AssumptionError, "no budget; a file of the theorem in which that is otherwise"),
    (UndecidedError, "no budget; an argument by hand, or a simpler instance"),
)


@checked
def audit(
    theorem: Annotated[str | Path | Theorem, Keyword.THEOREM],
    budget: Annotated[float, time_limit("Approximate limit, processor time: 90, 90s, 1.5m.")] = Default.BUDGET,
    *,
    candidates: Annotated[
        int | None,
        integer("--candidates", "About how many instances each search tries. Replaces the time limit."),
    ] = None,
    seed: Annotated[int, Keyword.SEED] = Default.SEED,
    jobs: Annotated[int | None, Keyword.JOBS] = None,
    proof: Annotated[str | Script | None, Keyword.SCRIPT] = None,
    brief: Annotated[bool, Declared("--brief", "Print ten lines for a review.")] = False,
    progress: Callable[[str], None] | None = None,
) -> Audit:
    """Ask everything about a theorem, and return its report card.

    Parameters
    ----------
    budget
        About how many processor seconds, so that the answer does not depend on how busy the machine is; searches
        count by the clock. What was not asked when they are spent is listed as not decided.
    candidates
        About how many instances each search tries; then the clock has no say in what they find.
    seed
        Of searches and samples.
    jobs
        Processes of the searches.
    proof
        A registered proof, a Python file with one (the file is run), or a script, whose steps are to prove the theorem.
    brief
        Ask only what :meth:`Audit.brief` shows: no comparison of what an instance refutes; of repairs their proofs and
        their two sides on the counterexample; of a long counterexample its first 200 iterations for the proof's steps.
    progress
        Told what is asked.

    Raises
    ------
    BoundlabError
        If there is no such theorem, or an option is wrong.
    """
    statement = api.theorem(theorem)
    seconds = number(budget, "budget")
    if not _BUDGETS[0] <= seconds <= _BUDGETS[1]:
        raise SpecError(f"budget must be between {_BUDGETS[0]:g} and {_BUDGETS[1]:g} seconds, got {budget}")
    limit = None if candidates is None else count(candidates, "candidates", 1, _MOST_CANDIDATES)
    typed = statement.id if isinstance(theorem, Theorem) else str(theorem)
    # A file is run once, and one that is not there is refused before anything is asked.
    given = (proof, the_script(proof)) if isinstance(proof, str) else None if proof is None else (proof.id, proof)
    say = progress or (lambda _: None)
    asker = _Questions(statement, typed, seconds, limit, count(seed, "seed", 0), jobs, given, say, brief=brief)
    return asker.ask()


class _Questions:
    """One audit while it is made."""

    def __init__(
        self,
        theorem: Theorem,
        typed: str,
        budget: float,
        candidates: int | None,
        seed: int,
        jobs: int | None,
        proof: tuple[str, Script] | None,
        say: Callable[[str], None],
        *,
        brief: bool,
    ) -> None:
        self.theorem, self.typed, self.budget, self.seed, self.jobs, self.say = (
            theorem,
            typed,
            budget,
            seed,
            jobs,
            say,
        )
        self.candidates, self.proof, self.brief = candidates, proof, brief
        self.started, self.searched = time.process_time(), 0.0
        self.gaps: list[Undecided] = []

    def spent(self) -> float:
        """Return the seconds so far: of the processor, whatever else the machine does; of searches, by the clock."""
        return time.process_time() - self.started + self.searched

    def answer(
        self, what: str, question: Callable[[], Found], theorem: Theorem | None = None, *, must: bool = False
    ) -> Found | None:
        """Ask one question, of a repair where one is given; what has no answer, or is asked no more, is a gap."""
        of = "" if theorem is None or theorem is self.theorem else theorem.id
        if self.spent() > self.budget and not must:
            self.gaps.append(Undecided(what, self.late(), _LONGER, of))
            return None
        self.say(f"{what}: {of}" if of else what)
        try:
            return question()
        except BoundlabError as error:
            if error.exit_code == ExitCode.UNFORESEEN:
                raise
            why = str(error)
            own = next((lead for lead in (f"{of}: ", f"{of} ") if of and why.startswith(lead)), "")
            self.gaps.append(Undecided(what, why.removeprefix(own), _decided_by(error), of))
            return None

    def late(self) -> str:
        """Return why a question was not asked."""
        return f"not asked: the {self.budget:g} s of the budget were spent"

    def ask(self) -> Audit:
        """Ask everything."""
        self.say("checks of the formula")
        checks = api.check(self.theorem)
        unknown = (one for one in checks.checks if one.verdict == "unknown")
        self.gaps += [Undecided(f"check {one.id}", one.witness, _BY_HAND) for one in unknown]
        case, case_file = self._own_case()
        both = partial(api.exact, self.theorem)
        exact = self.answer("both sides on its own counterexample", partial(both, case), must=True) if case else None
        search = None
        if exact is None or exact.verdict != "violated":
            search = self._search(self.theorem, self.typed, self.budget * _SEARCH)
            found = None if search is None else search.found.case
            if search is not None and found is not None:
                case, case_file = read_case(dict(found), has_theorem=True), ""
                what = f"both sides on the instance of the search ({search.command})"
                exact = self.answer(what, partial(both, case), must=True)
        proofs = self._on_counterexamples(self._proofs(self.theorem), case, case_file, exact)
        empty = any(one.id == "scope.nonempty" for one in checks.failed)  # no setting would fit
        refuted = exact is not None and exact.verdict == "violated"
        panel = None if empty or (self.brief and refuted) else self._panel(self.theorem, self.typed, case)
        repairs = self._repairs(case, panel)
        return Audit(
            self.theorem,
            self.typed,
            self.budget,
            self.seed,
            self.spent(),
            checks,
            case.raw if case else None,
            case_words(case) if case else "",
            case_file,
            exact,
            search,
            proofs,
            repairs,
            panel,
            tuple(self.gaps),
            provenance(self.theorem),
        )

    # ------------------------------------------------------------------ the theorem

    def _own_case(self) -> tuple[Case | None, str]:
        """Return the theorem's own counterexample with its file, where it names one."""
        if not (file := self.theorem.refuted_by):
            return None, ""
        found = self.answer(
            "its own counterexample", lambda: load_case(own_case(self.theorem), has_theorem=True), must=True
        )
        return found, "" if found is None else file

    def _search(self, theorem: Theorem, typed: str, seconds: float) -> Asked[Falsification] | None:
        def search() -> Asked[Falsification]:
            left = min(max(seconds, _SHORTEST_SEARCH), max(self.budget - self.spent(), _SHORTEST_SEARCH))
            began = time.monotonic() - time.process_time()
            found = api.falsify(
                theorem, left, candidates=self.candidates, seed=self.seed, jobs=self.jobs, progress=self.say
            )
            self.searched += time.monotonic() - time.process_time() - began
            count = self.candidates or max(sum(found.tried.values()), 1)
            return Asked(found, command_line("falsify", typed, candidates=count, seed=self.seed))

        return self.answer("a search for a counterexample", search, theorem)

    def _proofs(self, theorem: Theorem) -> tuple[ProofEvidence, ...]:
        """Decide the proofs that a theorem names, and the one that was given for the theorem that is audited.

        A proof ends in the registered theorem of its id. Of a theorem from a file it has to be written with its steps.
        """
        own, registered = theorem is self.theorem, _is_registered(theorem)
        scripts: list[tuple[str, str | Script]] = [(one, one) for one in theorem.proofs if registered or own]
        scripts += [self.proof] if own and self.proof is not None else []
        found = []
        for name, script in scripts:
            of = None if registered and isinstance(script, str) else theorem
            one = self.answer(f"the proof {name}", partial(api.prove, script, of), theorem)
            if one is not None:
                words = (name,) if of is None else (self.typed, "--with", name)
                found.append(ProofEvidence(one, words, one.proved and one.script.proves == theorem.id))
        return tuple(found)

    def _on_counterexamples(
        self, proofs: tuple[ProofEvidence, ...], case: Case | None, case_file: str, exact: ExactResult | None
    ) -> tuple[ProofEvidence, ...]:
        """Return the proofs that fail with their steps on the counterexample; on others where none fails there."""
        if case is None or exact is None or exact.verdict != "violated":
            return proofs
        return tuple(
            one if one.outcome.proved else replace(one, seen=tuple(self._seen(one.outcome, case, case_file, exact)))
            for one in proofs
        )

    def _seen(self, proof: Outcome, case: Case, case_file: str, exact: ExactResult) -> list[OnCase]:
        what, path = "the proof's steps on the counterexample", Path(case_file) if case_file else None
        long = self.brief and case.iterations is not None and case.iterations > _SHORT
        look = partial(self._begun, proof, case, path) if long else partial(on_case, proof, case, exact, path)
        leading = self.answer(what, look)
        found = [] if leading is None else [leading]
        if leading is not None and path is not None and not leading.decided:
            self.answer(what, lambda: found.extend(self._others(proof)), must=True)
        return found

    def _begun(self, proof: Outcome, case: Case, path: Path | None) -> OnCase:
        """Compute the open steps of a proof on the beginning of a case's run, which is a run of the theorem, too."""
        raw = {key: value for key, value in case.raw.items() if key != "claim"}
        begun = read_case(raw | {"iterations": _SHORT}, has_theorem=True)
        found = on_case(proof, begun, api.exact(self.theorem, begun, derivation=False), path)
        return replace(found, first_iterations=_SHORT)

    def _others(self, proof: Outcome) -> Iterator[OnCase]:
        """Yield the theorem's other counterexamples on which steps are false, to the first where one is decided."""
        for path in other_cases(self.theorem):
            case = load_case(path, has_theorem=True)
            found = on_case(proof, case, api.exact(self.theorem, case), path)
            if found.false:
                yield found
            if found.decided:
                return

    # ------------------------------------------------------------------ a comparison

    def _panel(self, theorem: Theorem, typed: str, case: Case | None) -> Panel | None:
        """Compare on the problem of the case, or on the first small one that the theorem admits."""
        if theorem.shape:
            why = "a printed O(·) has no constants to compare with"
            self.gaps.append(Undecided("a comparison", why, "a file of the theorem with the constants written out"))
            return None
        tries = [around(theorem, case, stretch) for stretch in (_STRETCH, 1)] if case else []
        own = "the problem and the delays of the counterexample" if theorem.refuted_by else "the instance above"
        small, why, by = "a small problem that the theorem admits", "", ""
        given = [(one, own) for one in tries if one is not None] + [(one, small) for one in defaults(theorem)]
        for setting, chosen in given:
            if self.spent() > self.budget:
                by = _LONGER
                break
            self.say("a comparison")
            try:
                return self._compared(typed, setting, chosen)
            except BoundlabError as error:
                # What has no value at all is missing everywhere; the rest is about one setting.
                why = str(error) if isinstance(error, SymbolError) else why or str(error)
        by = by or f"{command_line('compare', typed)} with a --problem, --delays and --set that meet it"
        tried = f"no setting that was tried fits: {why}"
        self.gaps.append(Undecided("a comparison", tried if why else self.late(), by))
        return None

    def _compared(self, typed: str, setting: CompareOptions, chosen: str) -> Panel:
        result = api.compare(setting.theorem, **setting.asked(), trials=_PANEL_TRIALS, seed=self.seed)
        return Panel(result, setting.command(typed, trials=_PANEL_TRIALS, seed=self.seed), setting, chosen)

    # ------------------------------------------------------------------ what is true in its place

    def _repairs(self, case: Case | None, panel: Panel | None) -> tuple[Repair, ...]:
        names = self.theorem.repaired_by
        known = [self.answer(f"the repair {one}", partial(lookup, "theorems", one), must=True) for one in names]
        repairs = [Repair(one, self._proofs(one)) for one in known if one is not None]
        found = [self._beside(one, case, panel) for one in repairs]
        if self.brief:
            return tuple(found)
        left = max(self.budget - self.spent(), 0.0) / max(len(found), 1)
        return tuple(
            replace(one, search=self._search(one.theorem, one.theorem.id, min(left, _LONGEST_SEARCH))) for one in found
        )

    def _beside(self, one: Repair, case: Case | None, panel: Panel | None) -> Repair:
        """Return a repair with its own sides on the counterexample, in the comparison, and in the worst case."""
        theorem = one.theorem
        if case is not None:
            both = partial(api.exact, theorem, case, derivation=not self.brief)
            one = replace(one, on_case=self.answer("both sides on the counterexample", both, theorem))
        if self.brief:
            return one
        if panel is not None:
            setting = replace(panel.setting, theorem=theorem)
            compare = partial(self._compared, theorem.id, setting, panel.chosen)
            one = replace(one, panel=self.answer("the comparison", compare, theorem))
        what = f"the worst case at {theorem.horizon_symbol} = {_WORST_HORIZON}"
        return replace(one, worst=self.answer(what, partial(_worst, theorem, panel), theorem))


def _worst(theorem: Theorem, panel: Panel | None) -> Asked[WorstCase]:
    """Return the worst case at a small horizon, with the settings of a comparison.

    Raises
    ------
    AssumptionError
        If there is none.
    """
    given = for_a_class(theorem, panel.setting.settings if panel is not None else {})
    iid = panel.setting.delays if panel is not None and "iid-events" in theorem.core.assumed else None
    asked: dict[str, Any] = {"iterations": _WORST_HORIZON, "delays": iid, "settings": given}
    found = api.worst_case(theorem, **asked)
    if found.verdict == "not applicable":
        raise AssumptionError(found.reason)
    return Asked(found, command_line("worst-case", theorem.id, **asked))


def for_a_class(theorem: Theorem, settings: Mapping[str, str]) -> dict[str, str]:
    """Return settings for a whole class: gradients up to 1, and the theorem's own step where it has one."""
    own = {name for name in theorem.step if name in theorem.defining()}
    kept = {name: value for name, value in settings.items() if name not in own}
    return {name: "1" for name in _GRADIENTS if name in theorem.inputs(kept)} | kept


def _decided_by(error: BoundlabError) -> str:
    """Return what would give a question an answer that ended in this error."""
    found = (words for kind, words in _WAYS if isinstance(error, kind))
    return next(found, "what the reason asks for, given to the command of that question")


def _is_registered(theorem: Theorem) -> bool:
    """Return whether a theorem is the registered one of its id: a namesake has no share in its proofs."""
    try:
        found = lookup("theorems", theorem.id)
    except BoundlabError:
        return False
    return bool(found is theorem or found == theorem)


# At which problem, delays and settings a theorem is compared, in the words of the command line.

_PROBLEMS = ("lad:x0=3", "huber:c=[0,1],x0=2", "quadratic:clients=2,dimension=2")
_DELAYS = ("iid:p_s=0.5", "exponential", "deterministic:rates=[2,1]")
_HORIZON = 50
_STEPS = 0.05
_CURVE = (1, 2, 4, 8)
_LONGEST = 400  # the horizon of a curve: each of its points is a run of its own


def spec(given: Mapping[str, Any]) -> str:
    """Return ``NAME:key=value,…`` of an object with a type."""
    return spec_of(str(given["type"]), {key: value for key, value in given.items() if key != "type"})


def _delays(case: Case) -> str | None:
    given = case.raw.get("delays", case.raw.get("law", {}).get("delays"))
    return spec(given) if isinstance(given, dict) else given


def _problem(case: Case) -> str:
    x0 = {"x0": case.raw["x0"]} if "x0" in case.raw else {}
    return spec({**case.raw["problem"], **x0})


def case_words(case: Case) -> str:
    """Return a case in a few words, from what it says and not from its note; dots stand for digits left out."""
    n = case.problem.n
    parts = [f"{n} client{'s' * (n > 1)}", _problem(case)]
    delays = _delays(case)
    parts += [f"delays {delays}"] if delays else []
    given = {**case.raw.get("parameters", {}), **case.raw.get("settings", {})}
    words = ", ".join([*parts, *(f"{name} = {typed(value)}" for name, value in given.items())])
    return re.sub(r"(\d\.\d{6})\d+", r"\1…", words)


def around(theorem: Theorem, case: Case, stretch: int) -> CompareOptions | None:
    """Return the setting of a case, at longer horizons; None where the case has no law of delays.

    Parameters
    ----------
    stretch
        How many times as long; where the step is chosen for its horizon, several horizons up to that, and on to twice.
    """
    delays = _delays(case)
    if delays is None or case.iterations is None:
        return None
    server = case.raw.get("server", case.raw.get("law", {}).get("server"))
    given = {**case.raw.get("parameters", {}), **case.raw.get("settings", {})}
    longest = case.iterations * (2 * stretch if stretch > 1 else 1)
    ks: int | list[int] = case.iterations * stretch
    if theorem.horizon == "fixed":
        several = [case.iterations * one for one in _CURVE if case.iterations * one <= min(longest, _LONGEST)]
        ks = several if len(several) > 1 else case.iterations
    settings = {name: typed(value) for name, value in given.items()}
    return CompareOptions(theorem, _problem(case), delays, server if isinstance(server, str) else None, ks, settings)


def defaults(theorem: Theorem) -> Iterator[CompareOptions]:
    """Yield small settings, with a small step where the theorem leaves it open."""
    steps = {name: typed(_STEPS) for name in theorem.step if name not in theorem.defining()}
    relative = "relative:" * (RELATIVE in theorem.core.errors)
    error = f",error={relative}0.1" if len(theorem.core.errors) == 1 else ""  # no problem with errors is of both kinds
    for problem, delays in itertools.product(_PROBLEMS, _DELAYS):
        yield CompareOptions(theorem, f"{problem}{error}", delays, None, _HORIZON, steps)


# A printed proof on a counterexample of its theorem: the first of its steps that is false there.


def on_case(proof: Outcome, case: Case, exact: ExactResult, path: Path | None) -> OnCase:
    """Compute the open steps of a proof on a case, where the case is one of the runs that the proof is about."""
    name, text = "" if path is None else path.name, case_words(case)
    try:
        return OnCase(name, text, exact, broken(proof, instance_on(proof, case, exact), (exact.left, exact.right)))
    except BoundlabError as error:
        taken = () if proof.setting is None else proof.setting.restrictions
        why = f"the proof takes {', '.join(taken)}, and this is no such run ({error})" if taken else str(error)
        return OnCase(name, text, exact, why=why)


def instance_on(proof: Outcome, case: Case, exact: ExactResult) -> Instance:
    """Return a case as an instance of a proof's setting.

    Raises
    ------
    SpecError
        If it has no such form.
    """
    raw = case.raw
    start = {"x0": raw["x0"]} if "x0" in raw else {}
    model = case.problem.rational({**raw["problem"], **start})
    bends = None if model is None else model.bends()
    if model is None or bends is None or exact.kind != "exact":
        raise SpecError("they are computed for Huber losses and absolute values on a line, where both sides are exact")
    signs = model.sign_noise()
    if signs is None and not case.problem.noiseless:
        raise SpecError("its noise has more than two values")
    given = {**raw.get("parameters", {}), **raw.get("settings", {})}
    options = {name: plain(value) for name, value in given.items()}
    noise = Fraction(0) if signs is None else signs[0]
    step = _step(exact, case.algorithm.step_size_symbols)
    return instance_of(proof, bends, model.x0, step, exact.k, _events(case, exact.k), options, noise)


def _step(exact: ExactResult, names: Iterable[str]) -> Fraction:
    try:
        return next(Fraction(str(exact.values[name])) for name in names if name in exact.values)
    except (StopIteration, ValueError):
        raise SpecError("its step is no rational number") from None


def _events(case: Case, horizon: int) -> Events | tuple[Fraction, ...]:
    """Return who acts when, or with which probabilities clients arrive."""
    if not isinstance(case.events, RandomEvents):
        return case.events
    p = [rational(float(one), ENGINE) for one in getattr(case.events.delays, "p", ())]
    if p and None not in p:
        return tuple(one for one in p if one is not None)
    if case.problem.n > 1:
        raise SpecError("the law of its events is none of independent events")
    return Events(np.arange(1.0, horizon + 1), np.zeros(horizon, dtype=np.int32))  # the one client arrives
