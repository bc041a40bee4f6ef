"""A theorem on one case, with both sides exact, enclosed, or at least not sampled."""

from dataclasses import replace

from boundlab.arithmetic import numbers
from boundlab.arithmetic.problem import InexactError, RationalProblem
from boundlab.case import Case, RandomEvents
from boundlab.errors import SpecError, UndecidedError
from boundlab.exact import _numeric
from boundlab.exact._engine import ExactEngine, NoValueError, TooManyError, has_moments, model_of
from boundlab.exact._result import ExactResult
from boundlab.execute.rationals import TooLongError
from boundlab.expectation import engine
from boundlab.instance.from_case import plan_of
from boundlab.instance.membership import of_events
from boundlab.instance.plan import Plan
from boundlab.instance.seconds import events_of
from boundlab.metrics import Quantity, range_of
from boundlab.theorems import Theorem, over


def evaluate(theorem: Theorem, case: Case, *, derive: bool = False) -> ExactResult:
    """Evaluate both sides of a theorem on a case without sampling.

    Parameters
    ----------
    case
        With explicit events where the theorem is about each schedule; with delays where it is about the mean over
        random events.
    derive
        Whether the result has the derivation: floats have none.

    Raises
    ------
    AssumptionError
        If an assumption of the theorem is not met.
    SpecError
        If case and theorem do not fit, or no exact engine applies, saying why.
    """
    numbers.flint()
    if over(theorem).words:
        case = case.over_events()
    if theorem.left.in_seconds and not isinstance(case.events, RandomEvents):
        raise SpecError(
            f'{theorem.id} asks how long updates take, which events do not say: give "delays" in their place'
        )
    plan = plan_of(theorem, case)
    if theorem.left.in_seconds:  # its delays are certain: the run has one list of events
        case = replace(case, events=events_of(plan))
    if isinstance(case.events, RandomEvents) and plan.own_case and not plan.one_schedule:
        sure = "needs the one schedule that these delays make"
        why = sure if over(theorem).words else "is about each schedule by itself"
        raise SpecError(f'{theorem.id} {why}: give "events" in place of "delays"')
    events = None if isinstance(case.events, RandomEvents) else case.events
    return replace(_evaluated(plan, case, derive=derive), proof=of_events(plan, events))


def _evaluated(plan: Plan, case: Case, *, derive: bool) -> ExactResult:
    theorem, model = plan.theorem, model_of(plan, case)
    why = _why_not(plan, model, case)
    if not why and model is not None:
        try:
            written = range_of(plan.metric) is None and not plan.metric.over.summed
            return ExactEngine(plan, case, model).result(derive=derive and written)
        except NoValueError as error:
            return replace(_numeric.result(plan, case, str(error)), violated=False, decided=False)
        except (InexactError, TooLongError, UndecidedError, TooManyError) as error:
            why = str(error)
    found = _numeric.result(plan, case, why)
    if not theorem.growth:
        return found
    from boundlab.exact._growth import growths

    return replace(found, growth=growths(theorem, case))


def _why_not(plan: Plan, model: RationalProblem | None, case: Case) -> str:
    if isinstance(case.events, RandomEvents):
        reason = engine(*plan.random_run)[1]
        if reason:
            return reason
    if model is None:
        return f"problem {plan.problem.id} has no rational form"
    if not plan.theorem.bound.closed:
        return "the bound is a numerical recursion"
    sure = range_of(plan.metric) and plan.problem.noiseless and not isinstance(case.events, RandomEvents)
    if not (sure or plan.metric.from_expectations):
        return f"{plan.metric.id} is not a mean of recorded quantities"
    if plan.theorem.shape:
        return "a printed O(·) is a shape"
    if not plan.problem.noiseless and not has_moments(model) and model.sign_noise() is None:
        return (
            "noise is averaged exactly on quadratics, by moments, and where it is ± a rational vector, by enumeration"
        )
    if plan.metric.quantity is not Quantity.SLOPE and model.minimum() is None:
        return "the minimum is not found in rational numbers"
    return ""
