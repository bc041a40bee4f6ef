"""Effect of each noise of a run on a record, from the record backwards: on quadratics, in balls of any precision."""

from collections.abc import Sequence
from typing import Any

from boundlab.arithmetic import numbers
from boundlab.arithmetic.numbers import Scalar
from boundlab.arithmetic.problem import RationalQuadraticForm
from boundlab.errors import SpecError
from boundlab.execute._rows import Combine, Row, Show, Update, rows
from boundlab.execute.rationals import exactly
from boundlab.metrics import Metric
from boundlab.tape import Tape


def noise(
    tape: Tape, form: RationalQuadraticForm, rates: Sequence[Scalar], metric: Metric, records: Sequence[int]
) -> list[Scalar]:
    """Return what noise adds to E of the quantity at some records, given the schedule: balls of the present precision.

    A record is a sum of coefficient matrices times independent noise; the quantity is quadratic, so that each adds the
    trace of its own.

    Parameters
    ----------
    rates
        In the order of their recipes, as balls.
    records
        Rows of the tape's records.

    Raises
    ------
    SpecError
        If a step is implicit.
    """
    A, covariance, eye = [_of(one) for one in form.A], _of(form.covariance()), _eye(len(form.b[0]))
    weight = metric.of_matrix(eye, _of(form.mean()))
    program = list(rows(tape, exactly(tape, rates, balls=True)))
    places = {row.row: place for place, row in enumerate(program) if isinstance(row, Show)}
    known: dict[tuple[int, Any], Any] = {}

    def factor(client: int, size: Scalar) -> Any:
        key = client, numbers.hashable(size)
        if key not in known:
            known[key] = eye - size * A[client]
        return known[key]

    def one(record: int) -> Scalar:
        shown = program[places[record]]
        assert isinstance(shown, Show)  # noqa: S101  (so they were found)
        at: dict[int, Any] = {shown.src: eye}
        total = numbers.ball(numbers.rational(0))
        for row in reversed(program[: places[record]]):
            total = total + _before(row, at, factor, weight, covariance)
        return total

    return [one(record) for record in records]


def _before(row: Row[Scalar], at: dict[int, Any], factor: Any, weight: Any, covariance: Any) -> Scalar:
    """Go back over a row: from coefficients of the registers after it to those before; return what its noise adds."""
    zero = numbers.ball(numbers.rational(0))
    if isinstance(row, Show) or row.dst not in at:
        return zero
    held = at.pop(row.dst)
    if isinstance(row, Combine):
        for share, source in row.terms:
            at[source] = at[source] + share * held if source in at else share * held
        return zero
    assert isinstance(row, Update)  # noqa: S101  (the third kind)
    if row.implicit:
        raise SpecError("a step with noise is not implicit")
    total = zero
    for size in reversed(row.sizes):
        total = total + size * size * (weight * held * covariance * held.transpose()).trace()
        held = held * factor(row.client, size)
    at[row.src] = at[row.src] + held if row.src in at else held
    return total


def _of(entries: Sequence[Sequence[Any]]) -> Any:
    return numbers.flint().arb_mat([[numbers.ball(numbers.rational(entry)) for entry in row] for row in entries])


def _eye(d: int) -> Any:
    return numbers.flint().arb_mat([[int(j == k) for k in range(d)] for j in range(d)])
