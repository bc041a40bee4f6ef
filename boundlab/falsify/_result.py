"""Result of a search: the instance, confirmed from scratch, with everything that is needed to repeat it."""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, TypeAlias, final

import numpy as np

from boundlab.__about__ import __version__
from boundlab.algorithms import StepRule
from boundlab.assumptions import contradiction
from boundlab.case import provenance, read_case
from boundlab.compare import compare
from boundlab.compare.trials import trial_events
from boundlab.errors import AssumptionError, SpecError, UndecidedError
from boundlab.expectation import applicable
from boundlab.falsify import _candidate as catalog
from boundlab.falsify._candidate import Candidate, local_rate, simply, unknown
from boundlab.falsify._families import noise_allowed, on_composite, on_random_events, problems, schedules, unvaried
from boundlab.falsify._judge import FAILURES, Judge, Score, left_of, plan_of, run_by_run
from boundlab.falsify._search import search
from boundlab.falsify._shared_runs import several
from boundlab.falsify._shrink import Keep, smallest
from boundlab.files import Document, json_text, json_value, schema
from boundlab.instance import Plan
from boundlab.instance.from_case import uncertified
from boundlab.objective import Constant
from boundlab.objective.simple import OPTIONS
from boundlab.options import typed
from boundlab.result import Result
from boundlab.theorems import FormulaBound, Theorem, core
from boundlab.verdict import Verdict

if TYPE_CHECKING:
    from boundlab.exact import Growth


# The comparison that repeats what a search found; it is tried before anybody is told of it.

# Two where it computes; a sample grows only so far, since a search must not wait minutes for its own last line.
_TRIALS = (2, 100, 1000)


def trials_that_tell(theorem: Theorem, candidate: Candidate, *, violated: bool) -> int | None:
    """Return the number of trials with which ``boundlab compare`` says of a candidate what the search says.

    Parameters
    ----------
    violated
        Whether it is to say ``violated``, or anything else: about an instance that breaks nothing a sample is
        undecided, or a computation sure.

    Returns
    -------
    int or None
        None where no number that was tried does: samples of that size do not tell a ratio near 1.
    """
    tried = _TRIALS if violated else _TRIALS[:2]
    for trials in tried:
        try:
            computed, verdict = _said(theorem, candidate, trials)
        except FAILURES:
            return None
        agrees = (verdict is Verdict.VIOLATED) is violated
        if agrees and (violated or computed or trials == tried[-1]):
            return trials
        if computed:
            return None
    return None


def _said(theorem: Theorem, candidate: Candidate, trials: int) -> tuple[bool, Verdict]:
    """Return whether the comparison computes, and its verdict; everything is read from the words of the command."""
    found = compare(candidate.compared(theorem).plan(trials=trials, seed=0), trials, 0)
    return found.band.level == 1.0, found.verdict


@final
@dataclass(frozen=True)
class JudgedInstance:
    """One instance with both sides.

    Parameters
    ----------
    left, right
        Both sides at ``iterations`` (K or T).
    kind
        ``exact``, ``enclosure`` or ``numeric``.
    method
        How the left side was computed.
    constants
        The certified constants that the bound reads.
    values
        Everything that the bound was evaluated with, by symbol.
    parameters
        Of the algorithm, as the theorem sets them.
    violated
        Whether the left side is above the right one, for certain.
    objective
        What is minimised and measured, in words.
    by_hand
        Whether a hand can check that it breaks the bound: ``boundlab exact --derivation`` has every row then.
    generous
        left/right where the symbols that the paper may count larger are counted larger; None where there are none.
    """

    theorem: Theorem
    candidate: Candidate
    left: float
    right: float
    kind: str
    method: str
    constants: Mapping[str, Constant]
    values: Mapping[str, Any]
    parameters: Mapping[str, Any]
    violated: bool
    generous: float | None = None
    objective: str = ""
    by_hand: bool = False

    @cached_property
    def trials(self) -> int | None:
        """Number of trials with which a comparison says the same of it; None where no number that was tried does."""
        return None if self.theorem.shape else trials_that_tell(self.theorem, self.candidate, violated=self.violated)

    @property
    def ratio(self) -> float:
        """Left over right."""
        if self.right > 0.0:
            return self.left / self.right
        return float("inf") if self.left > self.right else 0.0

    @property
    def iterations(self) -> int:
        """K or T at which the sides are compared."""
        return self.candidate.horizon

    def words(self) -> str:
        """Return the instance in one sentence."""
        one = self.candidate
        n = one.clients
        kind = str(one.problem["type"])
        if one.separable:
            sum_ = "Σ_j w_ij·" if one.dimension > 1 else "w_i·"
            kind = f"f_i(x) = {sum_}" + {"huber": "huber(x − c_i)", "lad": "|x − c_i|"}.get(kind, "(x − c_i)²/2")
        if one.sampled:
            kind = "f_i(x) = mean over its rows j of (a_ij·x − y_ij)²/2"
        parts = [f"{n} client{'s' * (n > 1)}, {kind}"]
        shown = (
            name
            for name in ("w", "c", "a", "y", "batch", "replacement", "delta", "sigma", "noise", "error", *OPTIONS, "x0")
            if name in one.problem and one.independent
        )
        parts += [f"{name} = {typed(simply(one.problem[name]))}" for name in shown]
        parts += [*([f"f = {self.objective}"] if self.objective.startswith("Σ") else []), f"delays {one.delays}"]
        parts += [f"{name} = {_shown(value)}" for name, value in {**self.parameters, **one.settings}.items()]
        other = "" if OPTIONS.keys().isdisjoint(one.problem) else on_composite(self.theorem, one.settings, n)
        return f"{other and other + '; '}{', '.join(parts)}"

    def command(self, typed: str) -> str | None:
        """Return the comparison that repeats it, None where none does; ``typed``: the theorem, an id or a file."""
        again = self.candidate.compared(self.theorem)
        return None if self.trials is None else again.command(typed, trials=self.trials)

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready fields."""
        one, theorem = self.candidate, self.theorem
        return {
            "family": one.family,
            "words": self.words(),
            "problem": {"type": one.problem["type"], **one.options()},
            "objective": self.objective,
            "delays": one.delays,
            "parameters": {name: _parameter(value) for name, value in self.parameters.items()},
            "settings": dict(one.settings),
            theorem.horizon_symbol: self.iterations,
            "left": json_value(self.left),
            "right": json_value(self.right),
            "ratio": json_value(self.ratio),
            "generous": None if self.generous is None else {"counts": dict(theorem.generous), "ratio": self.generous},
            "kind": self.kind,
            "method": self.method,
            "by_hand": self.by_hand,
            "constants": {name: constant.as_dict() for name, constant in self.constants.items()},
            "values": {name: json_value(value) for name, value in self.values.items()},
            "compare": self.command(theorem.id),
        }


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Falsification(Result):
    """The outcome of a search.

    Parameters
    ----------
    best
        The smallest violation found, or a larger one that convinces, since a hand can check it; without a violation the
        closest instance; None if the theorem applied to nothing that was tried.
    violated
        Whether ``best`` breaks the bound.
    tried
        Family → how many candidates of it were tried.
    refused
        Why candidates were not: the messages, with their number.
    clients
        The most that one of those had that were tried.
    case
        The case file of ``best``.
    smaller
        A smaller violation, the smallest found, where ``best`` convinces more; None without.
    clearest
        A violation that was met on the way and breaks the bound by more than ``best``; None without.
    growth
        Of a shape: a family that begins at ``best``, along which left/right is unbounded; None without.
    unmet
        Where the theorem applied to nothing: the conditions that no instance was found to meet, with both their sides.
    """

    theorem: Theorem
    best: JudgedInstance | None
    violated: bool
    tried: Mapping[str, int]
    refused: Mapping[str, int]
    clients: int
    seconds: float
    seed: int
    case: Document | None
    smaller: JudgedInstance | None = None
    clearest: JudgedInstance | None = None
    unmet: str = ""
    growth: "Growth | None" = None

    @property
    def not_varied(self) -> dict[str, str]:
        """Options of the algorithm that stood at their defaults throughout, with these; '' is an option left out."""
        return unvaried(self.theorem)

    def kept(self) -> str:
        """Return :attr:`not_varied` in one line; empty where every option that the theorem leaves open was varied."""
        found = (f"{name} = {value}" if value else f"{name} left out" for name, value in self.not_varied.items())
        return f"options not varied, at their defaults: {', '.join(found)}" if self.not_varied else ""

    @property
    def looked_at(self) -> str:
        """How many candidates were tried, and of how many clients, in words."""
        return f"{sum(self.tried.values())} candidates of up to {self.clients} client{'s' * (self.clients != 1)}"

    @property
    def ratio(self) -> float:
        """The largest left/right that is left after shrinking; 0 if nothing was found."""
        return self.best.ratio if self.best is not None else 0.0

    @property
    def nothing(self) -> str:
        """That the theorem applied to nothing that was tried, and why; empty where it applied to something."""
        if self.best is not None or self.tried:
            return ""
        contradicts = contradiction(self.theorem.core.assumed)
        alone = "".join(self.refused) if len(self.refused) == 1 else ""
        unmet = f"no instance was found that meets {self.unmet}" if self.unmet else alone
        why = unmet if contradicts is None else contradicts.words
        head = f"applies to no instance that was tried (0 of {sum(self.refused.values())})"
        return f"{head}: {why}" if why else head

    @property
    def called(self) -> str:
        """The words for ``best``."""
        if not self.violated:
            return "closest instance"
        small = "" if self.smaller is not None else "smallest "
        return f"{small}counterexample{', to be checked by hand' if self.best and self.best.by_hand else ''}"

    @property
    def smallest(self) -> JudgedInstance | None:
        """The smallest violation found; None without."""
        return (self.smaller or self.best) if self.violated else None

    @property
    def closest(self) -> JudgedInstance | None:
        """The closest instance where none violates."""
        return None if self.violated else self.best

    @property
    def verdict(self) -> Verdict:
        """``violated`` with a counterexample, ``inconclusive`` without: no search can say that a bound holds.

        ``not applicable`` where the assumptions contradict each other: there is nothing to refute.
        """
        none = Verdict.NOT_APPLICABLE if contradiction(self.theorem.core.assumed) else Verdict.INCONCLUSIVE
        return Verdict.VIOLATED if self.violated else none

    def line(self) -> str:
        """Return the verdict with its instance."""
        if self.nothing:
            return f"{self.theorem.id}: {self.nothing}"
        if self.best is None:
            what = (
                "along no family is left/right proved to be unbounded" if self.theorem.growth else "none is confirmed"
            )
            return f"{self.theorem.id}: inconclusive: {self.looked_at}; {what}"
        if self.growth is not None:
            return f"{self.theorem.id}: {self.verdict}: {self.growth.family}: {self.growth.why}: {self.best.words()}"
        words = f"{self.called}, left/right {self.best.ratio:.4g}: {self.best.words()}"
        return f"{self.theorem.id}: {self.verdict}: {self.looked_at}; {words}"

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready fields."""
        return {
            "schema": schema("search"),
            "boundlab": __version__,
            "provenance": provenance(self.theorem),
            "theorem": self.theorem.id,
            "core": core(self.theorem).sha256,
            "status": self.theorem.status,
            **self.theorem.links(),
            "verdict": self.verdict,
            "candidates": sum(self.tried.values()),
            "tried": dict(self.tried),
            "refused": dict(self.refused),
            "clients": self.clients,
            "not_varied": self.not_varied,
            "unmet": self.unmet,
            "seconds": round(self.seconds, 1),
            "seed": self.seed,
            "instance": None if self.best is None else self.best.as_dict(),
            "smallest": None if self.smaller is None else self.smaller.as_dict(),
            "clearest": None if self.clearest is None else self.clearest.as_dict(),
            **({} if self.growth is None else {"growth": self.growth.as_dict()}),
        }


def confirm(judge: Judge, score: Score) -> tuple[JudgedInstance, Document]:
    """Evaluate a candidate again, by the ways of ``compare`` and ``exact``, and write its case file.

    Raises
    ------
    BoundlabError
        If the candidate does not fit the theorem where it is looked at closely.
    UndecidedError
        If the fast evaluation and the slow one differ: then nothing is known of it.
    """
    one, theorem = score.candidate, judge.theorem
    plan = plan_of(theorem, one)
    mean = plan.schedules is None or several(plan.schedules)
    method = "all event sequences, in floating point" if mean else "one run, in floating point"
    if one.carried and (score.lost or not judge.expectation):
        method = f"Gaussian noise carried along the run; from below, by a factor 1 − {score.lost:.1g}"
    ends, right = left_of(plan, one, score.lost), float(plan.bound[-1])
    left = float(ends.value[-1])
    if conditional_on := uncertified(plan.symbols):
        raise AssumptionError(f"nothing certifies {' and '.join(conditional_on)}")
    agree(score.left, left, "left", "a comparison")
    agree(score.right, right, "right", "a comparison")
    known = _known(plan)
    violated = bool(ends.lower[-1] > plan.right_sides(known).upper[-1]) and not plan.near_minimiser
    violated = violated and not plan.lifted(float(ends.lower[-1]) / max(right, 1e-300), known)
    found = instance_of(plan, one, left, right, method, violated=violated)
    case = case_of(plan, found)
    exact = _exactly(plan, found, case)
    case["claim"] |= {"left": exact.left, "bound": exact.right}  # all else is the same, and takes a while to write
    return exact, case


def instance_of(
    plan: Plan, one: Candidate, left: float, right: float, method: str, *, violated: bool
) -> JudgedInstance:
    """Return a candidate with both sides in floating point, and with all numbers that its plan has."""
    values = {name: plan.values[name] for name in sorted(plan.values) if np.ndim(plan.values[name]) == 0}
    parameters = {name: value for name, value in plan.parameter_values.items() if name not in one.settings}
    constants = {name: one_ for name, one_ in plan.constants.items() if name in plan.theorem.inputs()}
    return JudgedInstance(
        plan.theorem, one, left, right, "numeric", method, constants, values, parameters, violated,
        objective=plan.objective,
    )  # fmt: skip


def _known(plan: Plan) -> list[list[dict[str, Any]]]:
    """Return what the right side is evaluated with, on the schedule that all runs have where it reads one."""
    schedules = plan.schedules
    seen = None if schedules is None else schedules.read_at(schedules.tape(0), plan.ks, plan.fixed)
    return [plan.known(seen)]


def agree(search: float, slow: float, side: str, who: str, digits: float = 1e-6) -> None:
    """Refuse a candidate on which the search and a slower way differ.

    Raises
    ------
    UndecidedError
        With both numbers.
    """
    if not np.isclose(search, slow, rtol=digits):
        raise UndecidedError(f"the search and {who} differ on the {side} side: {search:.10g} and {slow:.10g}")


def case_of(plan: Plan, found: JudgedInstance) -> Document:
    """Return the case file: the events of the schedule, or the law of random ones."""
    one, theorem = found.candidate, plan.theorem
    options = one.options()
    start = options.pop("x0")
    own = {
        *(name for name in theorem.step if name not in one.step),
        *(name for name, value in plan.parameter_values.items() if isinstance(value, StepRule)),
    }
    parameters = {name: _parameter(value) for name, value in plan.parameter_values.items() if name not in own}
    settings = {
        **{name: _parameter(value) for name, value in one.settings.items() if name not in parameters},
        **{name: _parameter(value) for name, value in one.step.items() if name not in plan.parameter_values},
    }
    case: dict[str, Any] = {
        "theorem": theorem.id,
        "algorithm": plan.algorithm.id,
        "problem": {"type": one.problem["type"], **options},
        "x0": start if isinstance(start, list) else [start],
        "parameters": parameters,
    }
    if plan.schedules is None or plan.schedules.averaged or plan.metric.in_seconds:
        case |= {"delays": one.delays}
    else:
        case |= {"events": plan.algorithm.events_as_json(trial_events(plan, 0, 0)), "delays": one.delays, "seed": 0}
    return Document(
        {
            "schema": schema("case"),
            **case,
            "iterations": one.iterations,
            "settings": settings,
            "constants": {name: constant.as_dict() for name, constant in found.constants.items()},
            "claim": {"k": found.iterations, "left": found.left, "bound": found.right},
            "note": found.words(),
            "provenance": provenance(theorem, plan.problem, plan.delays, plan.policy, plan.parameters),
        }
    )


def _exactly(plan: Plan, found: JudgedInstance, case: Mapping[str, Any]) -> JudgedInstance:
    """Return the instance as the exact engines see it, or as it is where none applies."""
    from boundlab.exact import evaluate

    theorem = plan.theorem
    if "events" not in case and not theorem.left.in_seconds:
        reason = applicable(*plan.random_run)
        if reason:
            return replace(found, method=f"{found.method} (boundlab exact does not apply: {reason})")
    try:
        written = read_case(json.loads(json_text(case)), "its case file")
        result = evaluate(theorem, written, derive=found.left > found.right)
    except FAILURES as error:
        said = f"boundlab exact cannot repeat it: {error}"
        return replace(found, method=f"{found.method}; {said}", violated=False)
    if found.violated:
        agree(found.left, result.left, "left", "the exact engine", 1e-4)
    elif not np.isclose(result.left, found.left, rtol=1e-4):
        return found
    way = result.derivation if result.violated else None
    return replace(
        found,
        left=result.left,
        right=result.right,
        kind=result.kind,
        method=result.method,
        violated=result.violated,
        by_hand=way is not None and way.by_hand,
    )


def _parameter(value: Any) -> Any:
    """Return a parameter as JSON has it, a word that is an integer as one."""
    try:
        return int(value) if isinstance(value, str) else json_value(value)
    except ValueError:
        return value


def _shown(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


# A search through families of instances along which both sides grow: what a printed O(·) can be refuted by.

_HORIZON: Final = 20  # of the instance at which a family begins: few clients have been as late as they get
_MOST: Final = 400  # instances of a search without a limit
_REFUSED: Final = 3  # instances for each that the theorem applies to, after which it ends

Witness: TypeAlias = "tuple[JudgedInstance, Document, Growth]"


def unbounded(judge: Judge, progress: Callable[[str], None]) -> "Witness | None":
    """Return an instance at which a family begins along which left/right is unbounded; None: none was found."""
    most, seen = judge.limit or _MOST, set[object]()
    for one in _instances(judge.theorem):
        if judge.count >= most or len(seen) >= _REFUSED * most or judge.late:
            break
        if one.key in seen:
            continue
        seen.add(one.key)
        progress(f"families that begin at {one.family}")
        try:
            instance, case, found = _growths(judge.theorem, one)
        except FAILURES as error:
            judge.refuse(error)
            continue
        judge.count_in(one.family, one.clients)
        for growth in found:
            if growth.refutes:
                return instance, case, growth
            if not growth.left:
                judge.refuse(f"{growth.family}: {growth.why}")
    return None


def _instances(theorem: Theorem) -> Iterator[Candidate]:
    """Yield quadratics, on which alone left sides are closed forms."""
    algorithm = catalog.algorithm(theorem.algorithm)
    if algorithm.server == "any":
        found = chain.from_iterable(on_random_events(theorem))
    else:
        noise = (False, True) if noise_allowed(theorem) else (False,)
        asked = ((one, more) for one in schedules(theorem, algorithm) for more in noise)
        found = chain.from_iterable(problems(theorem, one, _HORIZON, 0, more) for one, more in asked)
    for one in found:
        if one.separable and one.problem["type"] in ("huber", "quadratic") and not one.constrained:
            yield replace(one, iterations=max(one.iterations, _HORIZON)).quadratic()


def _growths(theorem: Theorem, one: Candidate) -> "tuple[JudgedInstance, Document, tuple[Growth, ...]]":
    from boundlab.exact import evaluate

    plan = plan_of(theorem, one)
    left = float(left_of(plan, one).value[-1])
    found = instance_of(plan, one, left, float(plan.bound[-1]), "in floating point", violated=False)
    case = case_of(plan, found)
    result = evaluate(theorem, read_case(dict(case), has_theorem=True))
    return found, case, result.growth


# A theorem under the larger counts that its paper leaves open: what refutes it there refutes it under both.


def generously(theorem: Theorem) -> Theorem:
    """Return the theorem with each symbol that its paper may count larger so much larger in the bound."""
    if not theorem.generous or not isinstance(theorem.bound, FormulaBound):
        return theorem
    info = theorem.symbols
    larger = {info[name].symbol: info[name].symbol + more for name, more in theorem.generous.items()}
    terms = {name: term.subs(larger, simultaneous=True) for name, term in theorem.bound.terms.items()}
    return replace(theorem, bound=FormulaBound(terms), generous={})


# The entry: search, confirm, report.


def falsify(
    theorem: Theorem,
    budget: float = 60.0,
    seed: int = 0,
    progress: Callable[[str], None] | None = None,
    limit: int | None = None,
    jobs: int = 1,
) -> Falsification:
    """Search for an instance on which the left side of a theorem exceeds its right side.

    Constants are certified and all assumptions are checked, so that what is found refutes the theorem. Candidates
    come in an order that the theorem and the seed determine; a violation is shrunk and then confirmed from scratch. One
    that is not confirmed, or on which two engines differ, is counted among the refused, and the search goes on.

    Parameters
    ----------
    budget
        Seconds for the search; shrinking may take a quarter more.
    seed
        Of the restarts of the local optimisation.
    progress
        Told now and then what is going on.
    limit
        About how many candidates to try, in place of the clock: the same limit gives the same answer.
    jobs
        Processes that look at candidates: they change nothing but the time.

    Raises
    ------
    AssumptionError
        If there is nothing to refute: the bound is a printed O(·) that does not say along which symbols its constants
        stay the same, or reads a symbol that nothing gives a value; or its constants are those of each run. If
        nothing computes the expectation of its left side.
    SpecError
        If the budget or the limit is not positive, or the theorem sets no local step size.

    Examples
    --------
    >>> from boundlab.theorems import load_theorem
    >>> falsify(load_theorem("area.theorem8.repaired"), limit=5).violated
    False
    """
    if not budget > 0.0:
        raise SpecError(f"the budget must be > 0 seconds, got {budget:g}")
    if limit is not None and limit < 1:
        raise SpecError(f"the number of candidates must be ≥ 1, got {limit}")
    seen = sorted(theorem.read_off_runs)
    for refused, words in (
        (
            seen,
            f"reads {' and '.join(seen)} off each run, but a search shares runs between problems; boundlab compare "
            "reads each run",
        ),
        (
            any("models" in words for words in theorem.points.values()),
            "takes its constants on a set of each run's own steps, but a search shares runs between problems; boundlab "
            "compare reads each run",
        ),
        (
            theorem.left.over.at_mean,
            "is about the mean iterate, but a search adds up single runs; boundlab exact computes it",
        ),
        (
            catalog.algorithm(theorem.algorithm).server == "any" and not theorem.left.from_expectations,
            f"is about {theorem.left.id}, and a search has no expectation of it over random events: it is not a mean "
            "of recorded quantities; boundlab compare samples it",
        ),
        (
            theorem.shape and not theorem.growth,
            "is a printed O(·) with unknown constants: no number can refute it; a table [growth] says along which "
            "symbols they stay the same, and lets a search refute them all",
        ),
    ):
        if refused:
            raise AssumptionError(f"{theorem.id} {words}")
    local_rate(theorem)  # or say that there is none
    if names := unknown(theorem):
        told = " and ".join(f"{name} ({theorem.symbols[name].meaning})" for name in names)
        raise AssumptionError(
            f"{theorem.id}: nothing says what {told} may be, so no instance refutes it; write a number or a "
            f"definition into the theorem, or try values with boundlab compare --set {names[0]}=…"
        )
    # No problem meets assumptions that contradict each other: a few instances say so as well as many.
    judge = Judge(generously(theorem), time.monotonic() + budget, 1 if contradiction(theorem.core.assumed) else limit)
    if theorem.shape:
        grown = unbounded(judge, progress or (lambda _: None))
        instance, case, growth = grown or (None, None, None)
        return _found(judge.theorem, judge, instance, grown is not None, seed, case, growth=growth)
    instance, case, broken, small, clearest = None, None, False, None, None
    aside: tuple[JudgedInstance, Document] | None = None  # above the bound, and not confirmed
    known: dict[object, tuple[JudgedInstance, Document]] = {}  # what was confirmed need not be once more

    def confirmed(score: Score) -> tuple[JudgedInstance, Document]:
        key = score.candidate.family, score.candidate.key
        if key not in known:
            known[key] = _confirmed(theorem, judge, score)
        return known[key]

    def if_confirmed(score: Score) -> tuple[JudgedInstance, Document] | None:
        """Return a violation that is confirmed, or None."""
        try:
            found, its_case = confirmed(score)
        except FAILURES:
            return None
        return (found, its_case) if found.violated else None

    def by_hand(score: Score) -> bool:
        found = if_confirmed(score)
        return found is not None and found[0].by_hand

    for found in search(judge, seed, progress or (lambda _: None), by_hand, jobs):
        try:
            instance, case = confirmed(found.score)
            if instance.violated:
                _require_runs_agree(theorem, instance)
        except FAILURES as error:
            judge.refuse(error)
            instance, case = None, None
            continue
        broken = found.score.violates and instance.violated
        convincing = found.convincing if broken else None
        larger = None if convincing is None else if_confirmed(convincing)
        if larger is not None and larger[0].by_hand:
            small, (instance, case) = instance, larger
        clear = if_confirmed(found.clear) if broken and found.clear is not None else None
        if clear is not None and clear[0].ratio > instance.ratio:
            clearest = clear[0]
        if broken or not found.score.violates:
            break
        judge.refuse("not above the bound where it is evaluated from scratch")
        aside = aside or ((instance, case) if instance.ratio > 1.0 else None)
        instance, case = None, None
    if not broken and aside is not None:
        instance, case = aside
    more = {"smaller": small, "clearest": clearest, "unmet": judge.unmet if instance is None else ""}
    return _found(theorem, judge, instance, broken, seed, case, **more)


def _found(
    theorem: Theorem,
    judge: Judge,
    instance: JudgedInstance | None,
    violated: bool,
    seed: int,
    case: Document | None,
    **more: Any,
) -> Falsification:
    """Return what a search found, with what its judge has counted and how long it took."""
    counts = dict(judge.tried), dict(judge.refused), judge.clients, time.monotonic() - judge.begin
    return Falsification(theorem, instance, violated, *counts, seed, case, **more)


def minimise(theorem: Theorem, candidate: Candidate, keep: Keep = lambda _: True) -> Falsification:
    """Make a violation as small as can be, and confirm it.

    Parameters
    ----------
    candidate
        An instance that violates the theorem.
    keep
        What a smaller instance must still be.

    Raises
    ------
    SpecError
        If it does not violate the theorem, also where its paper may count larger, saying why.
    BoundlabError
        If nothing confirms it.

    Examples
    --------
    >>> from boundlab.theorems import load_theorem
    >>> problem = {"type": "lad", "c": [0.0], "w": [1.0], "x0": 1.0, "sigma": 0.0}
    >>> start = Candidate("mine", problem, "iid:p=[0.5]", {"M": "12"}, {}, 6)
    >>> minimise(load_theorem("area.theorem8"), start, lambda one: one.settings["M"] == "12").best.iterations
    4
    """
    judge = Judge(generously(theorem), float("inf"))
    score = judge.score(candidate)
    if score is None or not score.violates:
        why = "; ".join(judge.refused) if score is None else f"left/right is {score.ratio:.6g}"
        raise SpecError(f"{theorem.id} is not violated there: {why}")
    small = smallest([score], judge, lambda: False, np.random.default_rng(0), keep)
    instance, case = _confirmed(theorem, judge, small)
    return _found(theorem, judge, instance, instance.violated, 0, case)


def _confirmed(theorem: Theorem, judge: Judge, score: Score) -> tuple[JudgedInstance, Document]:
    """Return an instance as it stands to the theorem itself, with its ratio under larger counts where there are any."""
    found, case = confirm(judge, score)
    if judge.theorem is theorem:
        return found, case
    if score.violates and not found.violated:
        raise UndecidedError("not above the bound under larger counts where it is evaluated from scratch")
    plain = Judge(theorem, float("inf"))
    own = plain.score(score.candidate)
    if own is None:
        raise UndecidedError("; ".join(plain.refused))
    instance, case = confirm(plain, own)
    return replace(instance, generous=found.ratio), case


def _require_runs_agree(theorem: Theorem, found: JudgedInstance) -> None:
    """Refuse a mean over events that its runs, one after the other, do not have: they meet no enumeration of states.

    Raises
    ------
    UndecidedError
        With both numbers; where the runs are too many nothing is said.
    """
    one = found.candidate
    plan = plan_of(theorem, one)
    if plan.algorithm.server == "any" and plan.metric.is_mean and not one.noisy:
        with suppress(SpecError):
            agree(found.left, float(run_by_run(plan, one).value[-1]), "left", "the mean of its runs")
