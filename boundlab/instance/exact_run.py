"""The run of a plan with its numbers as they stand: options at their word, steps by the theorem's formulas."""

from collections.abc import Mapping
from fractions import Fraction
from functools import partial

from boundlab.arithmetic import numbers
from boundlab.arithmetic.numbers import Scalar, ball
from boundlab.execute.rationals import ExactTape, TooLongError, understand
from boundlab.formulas.known_numbers import Formulas, scalar
from boundlab.instance.plan import Plan
from boundlab.options import Options
from boundlab.randomness import Streams
from boundlab.simulate.trial import compile_trial
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


def exact_tape(plan: Plan, formulas: Formulas, streams: Streams, records: RecordAt | None = None) -> ExactTape:
    """Return the tape of one trial with its numbers as rates make them.

    Parameters
    ----------
    streams
        Those of the trial.
    records
        What it shows; None: what the metric needs at plan.ks.
    """
    shown = plan.metric.records(plan.ks) if records is None else records

    def compiled(values: Mapping[str, float]) -> Tape:
        options = Options(plan.algorithm.id, {**plan.parameter_values, **values})
        parameters = plan.algorithm.read(options)
        return compile_trial(
            plan.algorithm, parameters, plan.problem.n, plan.delays, plan.policy, plan.iterations, shown, streams
        )

    def exact(name: str) -> Scalar:
        return ball(exact_rate(plan, formulas, name, balls=True))

    rates = {name: float(plan.parameter_values[name]) for name in plan.rates}
    irrational = partial(plan.algorithm.irrational, plan.parameters, exact, plan.iterations)
    return understand(compiled, rates, irrational, partial(plan.algorithm.fractions, plan.parameters))
