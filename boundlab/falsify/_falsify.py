"""The entry: search, confirm, report."""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import numpy as np

from boundlab.assumptions import contradiction
from boundlab.errors import AssumptionError, SpecError, UndecidedError
from boundlab.falsify._candidate import Candidate
from boundlab.falsify._expectation import horizon, plan_of, run_by_run
from boundlab.falsify._growth import unbounded
from boundlab.falsify._judge import FAILURES, Judge, Score
from boundlab.falsify._largest_reading import generously
from boundlab.falsify._rates import local_rate, unknown
from boundlab.falsify._repeat import Telling
from boundlab.falsify._result import Falsification, JudgedInstance, agree, confirm
from boundlab.falsify._search import search
from boundlab.falsify._shrink import Keep
from boundlab.falsify._smallest import smallest
from boundlab.files import Document
from boundlab.theorems import Theorem, read_off_runs


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
        stay the same, or reads a symbol that nothing gives a value; or its constants are those of each run.
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
    if seen := sorted(read_off_runs(theorem)):
        raise AssumptionError(
            f"{theorem.id} reads {' and '.join(seen)} off each run, and a search shares its runs among problems; "
            "compare holds it against one run after the other"
        )
    if any("models" in words for words in theorem.points.values()):
        raise AssumptionError(
            f"{theorem.id} takes its constants on a set of each run's own steps, and a search shares its runs among "
            "problems; compare holds it against one run after the other"
        )
    if theorem.left.over.at_mean:
        raise AssumptionError(
            f"{theorem.id} is about the mean iterate, and a search adds up what single runs show; compare --exact and "
            "exact compute it"
        )
    if theorem.shape and not theorem.growth:
        raise AssumptionError(
            f"{theorem.id} is a printed O(·) with unknown constants: no number can refute it; a table [growth] says "
            "along which symbols they stay the same, and lets a search refute them all"
        )
    local_rate(theorem)  # or say that there is none
    if names := unknown(theorem):
        told = " and ".join(f"{name} ({theorem.symbols[name].meaning})" for name in names)
        raise AssumptionError(
            f"{theorem.id}: nothing says what {told} may be, so that no instance refutes it; write a number or a "
            f"definition into the theorem, or look at values of your own with boundlab compare --set {names[0]}=…"
        )
    begin = time.monotonic()
    # No problem meets assumptions that contradict each other: a few instances say so as well as many.
    judge = Judge(generously(theorem), begin + budget, 1 if contradiction(theorem.core.assumed) else limit)
    if theorem.shape:
        return _by_growth(judge, begin, seed, progress or (lambda _: None))
    instance, case, broken, small, clearest = None, None, False, None, None
    aside: tuple[JudgedInstance, Document] | None = None  # above the bound, and not confirmed

    def by_hand(score: Score) -> bool:
        return _by_hand(theorem, judge, score) is not None

    for found in search(judge, seed, progress or (lambda _: None), by_hand, jobs):
        try:
            instance, case = _confirmed(theorem, judge, found.score)
            if instance.violated:
                _require_runs_agree(theorem, instance)
        except FAILURES as error:
            judge.refuse(error)
            instance, case = None, None
            continue
        broken = found.score.violates and instance.violated
        convincing = found.convincing if broken else None
        if convincing is not None and (larger := _by_hand(theorem, judge, convincing)) is not None:
            small, (instance, case) = instance, larger
        if broken and found.clear is not None:
            clearest = _clearer(theorem, judge, instance, found.clear)
        if broken or not found.score.violates:
            break
        judge.refuse("not above the bound where it is evaluated from scratch")
        aside = aside or ((instance, case) if instance.ratio > 1.0 else None)
        instance, case = None, None
    if not broken and aside is not None:
        instance, case = aside
    return Falsification(
        theorem,
        _repeatable(theorem, instance, broken),
        broken,
        dict(judge.tried),
        dict(judge.refused),
        time.monotonic() - begin,
        seed,
        case,
        _repeatable(theorem, small, broken),
        _repeatable(theorem, clearest, broken),
        judge.unmet if instance is None else "",
    )


def _by_growth(judge: Judge, begin: float, seed: int, progress: Callable[[str], None]) -> Falsification:
    """Search for a family of instances along which left/right is unbounded."""
    found = unbounded(judge, progress)
    instance, case, growth = found or (None, None, None)
    tried, refused, seconds = dict(judge.tried), dict(judge.refused), time.monotonic() - begin
    return Falsification(judge.theorem, instance, found is not None, tried, refused, seconds, seed, case, growth=growth)


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
    begin, judge = time.monotonic(), Judge(generously(theorem), float("inf"))
    score = judge.score(candidate)
    if score is None or not score.violates:
        why = "; ".join(judge.refused) if score is None else f"left/right is {score.ratio:.6g}"
        raise SpecError(f"{theorem.id} is not violated there: {why}")
    small = smallest([score], judge, lambda: False, np.random.default_rng(0), keep)
    instance, case = _confirmed(theorem, judge, small)
    broken = instance.violated
    return Falsification(
        theorem,
        _repeatable(theorem, instance, broken),
        broken,
        dict(judge.tried),
        dict(judge.refused),
        time.monotonic() - begin,
        0,
        case,
    )


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
    plan = plan_of(theorem, one, [horizon(one)])
    if plan.algorithm.server == "any" and plan.metric.is_mean and not one.noisy:
        with suppress(SpecError):
            agree(found.left, float(run_by_run(plan, one).value[-1]), "left", "the mean of its runs")


def _repeatable(theorem: Theorem, found: JudgedInstance | None, broken: bool) -> JudgedInstance | None:
    """Return an instance with the number of trials that tell it."""
    if found is None:
        return None
    return replace(found, telling=Telling(theorem, found.candidate, violated=broken))


def _by_hand(theorem: Theorem, judge: Judge, score: Score) -> tuple[JudgedInstance, Document] | None:
    """Return a violation that is confirmed and that a hand can check, or None."""
    try:
        instance, case = _confirmed(theorem, judge, score)
    except FAILURES:
        return None
    return (instance, case) if instance.violated and instance.by_hand else None


def _clearer(theorem: Theorem, judge: Judge, best: JudgedInstance, score: Score) -> JudgedInstance | None:
    """Return the violation that breaks the bound by more than the best one, if it is confirmed, too."""
    try:
        found, _ = _confirmed(theorem, judge, score)
    except FAILURES:
        return None
    return found if found.violated and found.ratio > best.ratio else None
