"""The run of a plan with its numbers as they stand: options at their word, steps by the theorem's formulas."""

from fractions import Fraction

from boundlab.arithmetic import numbers
from boundlab.arithmetic.numbers import Scalar
from boundlab.arithmetic.rational import TooLongError
from boundlab.expectation import exact_parameters
from boundlab.formulas.known_numbers import Formulas, scalar
from boundlab.instance.plan import Plan
from boundlab.randomness import Streams
from boundlab.simulate.work import compile_trial
from boundlab.tape import RecordAt, Tape


def exact_rate(plan: Plan, formulas: Formulas, name: str, *, balls: bool) -> Scalar:
    """Return what the theorem sets, or the option that stands in the run.

    Parameters
    ----------
    formulas
        What the theorem's symbols are, its step size among them.
    balls
        Whether it may be a ball of the present precision.

    Raises
    ------
    TooLongError
        If it may not, and is no rational number.
    """
    values, theorem = plan.parameter_values, plan.theorem
    if name not in theorem.step:
        return numbers.rational(Fraction(values[name]))
    symbol = theorem.symbols[name].symbol
    if balls:
        return formulas.ball(symbol)
    exact = scalar(formulas.exact(symbol))
    if exact is None or isinstance(exact, numbers.Surd):
        raise TooLongError(f"{name} is no rational number")
    return exact


def exact_rates(plan: Plan, formulas: Formulas, *, balls: bool) -> list[Scalar]:
    """Return all rates in the order in which :func:`exact_tape` takes them."""
    return [exact_rate(plan, formulas, name, balls=balls) for name in plan.rates]


def exact_tape(plan: Plan, streams: Streams, records: RecordAt | None = None) -> Tape:
    """Return the tape of one trial with numbers that know what they stand for.

    Parameters
    ----------
    streams
        Those of the trial.
    records
        What it shows; None: what the metric needs at plan.ks.
    """
    shown = plan.metric.records(plan.ks) if records is None else records
    parameters = exact_parameters(plan.algorithm, plan.parameter_values, plan.rates)
    return compile_trial(
        plan.algorithm, parameters, plan.problem.n, plan.delays, plan.policy, plan.iterations, shown, streams
    )
