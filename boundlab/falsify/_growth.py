"""A search through families of instances along which both sides grow: what a printed O(·) can be refuted by."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Final, TypeAlias

from boundlab.falsify import _catalog as catalog, _random_events
from boundlab.falsify._candidate import Candidate
from boundlab.falsify._expectation import horizon, left_of, plan_of
from boundlab.falsify._families import problems, schedules
from boundlab.falsify._judge import FAILURES, Judge
from boundlab.falsify._problem_families import noise_allowed
from boundlab.falsify._result import JudgedInstance, case_of, instance_of
from boundlab.files import Document
from boundlab.theorems import Theorem

if TYPE_CHECKING:
    from boundlab.exact import Growth

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
        if one.key() in seen:
            continue
        seen.add(one.key())
        progress(f"families that begin at {one.family}")
        try:
            instance, case, found = _growths(judge.theorem, one)
        except FAILURES as error:
            judge.refuse(error)
            continue
        judge.tried[one.family] += 1
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
        found = chain.from_iterable(_random_events.candidates(theorem))
    else:
        noise = (False, True) if noise_allowed(theorem) else (False,)
        asked = ((one, more) for one in schedules(theorem, algorithm) for more in noise)
        found = chain.from_iterable(problems(theorem, one, _HORIZON, 0, more) for one, more in asked)
    for one in found:
        if one.separable and one.problem["type"] in ("huber", "quadratic") and not one.constrained:
            yield replace(one, iterations=max(one.iterations, _HORIZON)).quadratic()


def _growths(theorem: Theorem, one: Candidate) -> "tuple[JudgedInstance, Document, tuple[Growth, ...]]":
    from boundlab.case import read_case
    from boundlab.exact import evaluate

    plan = plan_of(theorem, one, [horizon(one)])
    left = float(left_of(plan, one).value[-1])
    found = instance_of(plan, one, left, float(plan.bound[-1]), "in floating point", violated=False)
    case = case_of(plan, found)
    result = evaluate(theorem, read_case(dict(case), has_theorem=True))
    return found, case, result.growth
