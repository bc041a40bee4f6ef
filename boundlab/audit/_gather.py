"""Asks every question about a theorem, in the order in which answers help, within a budget of seconds."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import final

from boundlab import api
from boundlab.arguments import checked
from boundlab.audit._audit import Audit
from boundlab.audit._evidence import Evidence, Panel, ProofEvidence, Repair, Search, Undecided, WorstCaseEvidence
from boundlab.audit._on_a_case import OnCase, on_case
from boundlab.audit._settings import around, case_words, defaults
from boundlab.case import Case, load_case, other_cases, own_case, provenance, read_case
from boundlab.errors import AssumptionError, BoundlabError, MissingExtraError, SpecError, UndecidedError
from boundlab.instance.fitting import CompareOptions
from boundlab.options import count, number
from boundlab.registry import command_line, lookup
from boundlab.theorems import Theorem
from boundlab.verdict import ExitCode

_SEARCH = 0.4  # of the budget, for a theorem that names no counterexample
_LONGEST_SEARCH = 10.0  # seconds for each repair
_SHORTEST_SEARCH = 1.0
_PANEL_TRIALS = 40
_STRETCH = 4  # of the horizon of a counterexample, for a curve that goes on
_WORST_HORIZON = 2
_GRADIENTS = ("G", "G_sq")  # bounds of gradients, which a worst case is asked for
_BUDGETS = (1.0, 3600.0)
_MOST_CANDIDATES = 10**6
_LONGER = "a larger --budget"
_BY_HAND = "no option: an argument by hand, or a file of the theorem with conditions that settle it"
_WAYS: tuple[tuple[type[BoundlabError], str], ...] = (
    (MissingExtraError, "the extra that is named there, installed"),
    (AssumptionError, "no budget; a file of the theorem in which that is otherwise"),
    (UndecidedError, "no budget; an argument by hand, or a simpler instance"),
)


@checked
def audit(
    theorem: str | Path | Theorem,
    budget: float = 60.0,
    *,
    candidates: int | None = None,
    seed: int = 0,
    jobs: int | None = None,
    progress: Callable[[str], None] | None = None,
) -> Audit:
    """Ask everything about a theorem, and return its report card.

    Parameters
    ----------
    budget
        About how many seconds; what was not asked when they are spent is listed as not decided.
    candidates
        About how many instances each search tries; then the clock has no say in what they find.
    seed
        Of searches and samples.
    jobs
        Processes of the searches.
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
    asker = _Questions(statement, typed, seconds, limit, count(seed, "seed", 0), jobs, progress or (lambda _: None))
    return Audit.of(asker.ask())


@final
@dataclass(frozen=True, slots=True)
class _Asked:
    """One question: entering says whether there is time for it, and an error of ours is why it has no answer."""

    asker: "_Questions"
    what: str
    of: str
    must: bool

    def __enter__(self) -> bool:
        asker = self.asker
        if asker.spent() > asker.budget and not self.must:
            asker.gaps.append(Undecided(self.what, asker.late(), _LONGER, self.of))
            return False
        asker.say(f"{self.what}: {self.of}" if self.of else self.what)
        return True

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> bool:
        if not isinstance(error, BoundlabError) or error.exit_code == ExitCode.UNFORESEEN:
            return False
        why = str(error)
        own = next((lead for lead in (f"{self.of}: ", f"{self.of} ") if self.of and why.startswith(lead)), "")
        self.asker.gaps.append(Undecided(self.what, why.removeprefix(own), _decided_by(error), self.of))
        return True


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
        say: Callable[[str], None],
    ) -> None:
        self.theorem, self.typed, self.budget, self.seed, self.jobs, self.say = (
            theorem,
            typed,
            budget,
            seed,
            jobs,
            say,
        )
        self.candidates = candidates
        self.started = time.monotonic()
        self.gaps: list[Undecided] = []

    def spent(self) -> float:
        """Return the seconds that have gone by."""
        return time.monotonic() - self.started

    def asking(self, what: str, theorem: Theorem | None = None, *, must: bool = False) -> "_Asked":
        """Ask one question, of a repair where one is given; what cannot be answered, or asked any more, is a gap."""
        of = "" if theorem is None or theorem is self.theorem else theorem.id
        return _Asked(self, what, of, must)

    def late(self) -> str:
        """Return why a question was not asked."""
        return f"not asked: the {self.budget:g} s of the budget were spent"

    def ask(self) -> Evidence:
        """Ask everything."""
        self.say("checks of the formula")
        checks = api.check(self.theorem)
        self._undecided_checks(checks)
        case, case_file = self._own_case()
        exact = self._exact(self.theorem, case, "both sides on its own counterexample") if case else None
        search = None
        if exact is None or exact.verdict != "violated":
            search = self._search(self.theorem, self.typed, self.budget * _SEARCH)
            found = None if search is None else search.found.case
            if search is not None and found is not None:
                case, case_file = read_case(dict(found), has_theorem=True), ""
                exact = self._exact(self.theorem, case, f"both sides on the instance of the search ({search.command})")
        proofs = self._on_counterexamples(self._proofs(self.theorem), case, case_file, exact)
        empty = any(one.id == "scope.nonempty" for one in checks.failed)  # no setting would fit
        panel = None if empty else self._panel(self.theorem, self.typed, case)
        repairs = self._repairs(case, panel)
        return Evidence(
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

    def _undecided_checks(self, checks: api.Checks) -> None:
        unknown = (one for one in checks.checks if one.verdict == "unknown")
        self.gaps += [Undecided(f"check {one.id}", one.witness, _BY_HAND) for one in unknown]

    def _own_case(self) -> tuple[Case | None, str]:
        """Return the theorem's own counterexample with its file, where it names one."""
        found = None
        if self.theorem.refuted_by:
            with self.asking("its own counterexample", must=True):
                found = load_case(own_case(self.theorem), has_theorem=True)
        return found, "" if found is None else self.theorem.refuted_by

    def _exact(self, theorem: Theorem, case: Case, what: str) -> api.Evaluated | None:
        with self.asking(what, must=True):
            return api.exact(theorem, case)
        return None

    def _search(self, theorem: Theorem, typed: str, seconds: float) -> Search | None:
        with self.asking("a search for a counterexample", theorem) as asked:
            if asked:
                left = min(max(seconds, _SHORTEST_SEARCH), max(self.budget - self.spent(), _SHORTEST_SEARCH))
                found = api.falsify(
                    theorem, left, candidates=self.candidates, seed=self.seed, jobs=self.jobs, progress=self.say
                )
                count = self.candidates or max(sum(found.tried.values()), 1)
                command = command_line("falsify", typed, "--candidates", str(count), "--seed", str(self.seed))
                return Search(found, command)
        return None

    def _proofs(self, theorem: Theorem) -> tuple[ProofEvidence, ...]:
        """Decide the registered proofs, of a theorem that is the registered one of its id and no namesake."""
        found: list[ProofEvidence] = []
        if not _is_registered(theorem):
            return ()
        for proof in theorem.proofs:
            with self.asking(f"the proof {proof}", theorem) as asked:
                if asked:
                    outcome = api.prove(proof)
                    found.append(ProofEvidence(outcome, outcome.proved and outcome.script.proves == theorem.id))
        return tuple(found)

    def _on_counterexamples(
        self, proofs: tuple[ProofEvidence, ...], case: Case | None, case_file: str, exact: api.Evaluated | None
    ) -> tuple[ProofEvidence, ...]:
        """Return the proofs that fail with their steps on the counterexample; on others where none fails there."""
        if case is None or exact is None or exact.verdict != "violated":
            return proofs
        return tuple(
            one if one.outcome.proved else replace(one, seen=tuple(self._seen(one.outcome, case, case_file, exact)))
            for one in proofs
        )

    def _seen(self, proof: api.Decided, case: Case, case_file: str, exact: api.Evaluated) -> Iterator[OnCase]:
        with self.asking("the proof's steps on the counterexample") as asked:
            if asked:
                leading = on_case(proof, case, exact, Path(case_file) if case_file else None)
                yield leading
                if (leading.first is not None and leading.first.decided) or not case_file:
                    return
                for path in other_cases(self.theorem):
                    other = load_case(path, has_theorem=True)
                    found = on_case(proof, other, api.exact(self.theorem, other), path)
                    if found.first is not None:
                        yield found
                    if found.first is not None and found.first.decided:
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
                why, by = why or self.late(), _LONGER
                break
            self.say("a comparison")
            try:
                return self._compared(typed, setting, chosen)
            except BoundlabError as error:
                why = why or str(error)
        by = by or f"{command_line('compare', typed)} with a --problem, --delays and --set that meet it"
        self.gaps.append(Undecided("a comparison", f"no setting that was tried fits: {why}", by))
        return None

    def _compared(self, typed: str, setting: CompareOptions, chosen: str) -> Panel:
        result = api.compare(setting.theorem, **setting.asked(), trials=_PANEL_TRIALS, seed=self.seed)
        sample = "--trials", str(_PANEL_TRIALS), "--seed", str(self.seed)
        return Panel(result, setting.command(typed, *sample), setting, chosen)

    # ------------------------------------------------------------------ what is true in its place

    def _repairs(self, case: Case | None, panel: Panel | None) -> tuple[Repair, ...]:
        found = []
        for name in self.theorem.repaired_by:
            with self.asking(f"the repair {name}", must=True):
                found.append(Repair(lookup("theorems", name)))
        found = [replace(one, proofs=self._proofs(one.theorem)) for one in found]
        found = [self._beside(one, case, panel) for one in found]
        left = max(self.budget - self.spent(), 0.0) / max(len(found), 1)
        return tuple(
            replace(one, search=self._search(one.theorem, one.theorem.id, min(left, _LONGEST_SEARCH))) for one in found
        )

    def _beside(self, one: Repair, case: Case | None, panel: Panel | None) -> Repair:
        """Return a repair with its own sides on the counterexample, in the comparison, and in the worst case."""
        theorem = one.theorem
        if case is not None:
            with self.asking("both sides on the counterexample", theorem) as asked:
                if asked:
                    one = replace(one, on_case=api.exact(theorem, case))
        if panel is not None:
            with self.asking("the comparison", theorem) as asked:
                if asked:
                    setting = replace(panel.setting, theorem=theorem)
                    one = replace(one, panel=self._compared(theorem.id, setting, panel.chosen))
        with self.asking(f"the worst case at {theorem.horizon_symbol} = {_WORST_HORIZON}", theorem) as asked:
            if asked:
                given = for_a_class(theorem, panel.setting.settings if panel is not None else {})
                iid = panel.setting.delays if panel is not None and "iid-events" in theorem.core.assumed else None
                found = api.worst_case(theorem, _WORST_HORIZON, delays=iid, settings=given)
                if found.verdict == "not applicable":
                    raise AssumptionError(found.reason)
                words = ["worst-case", theorem.id, "--iterations", str(_WORST_HORIZON)]
                words += [] if iid is None else ["--delays", iid]
                words += [word for name, value in given.items() for word in ("--set", f"{name}={value}")]
                one = replace(one, worst=WorstCaseEvidence(found, command_line(*words)))
        return one


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
