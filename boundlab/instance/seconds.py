"""Until which update a run goes whose theorem says within how many seconds.

Times are floats, and a run in them is one in exact numbers all the same: its updates take what the floats say. So
``compute`` is a little more than the delays say, by more than all that rounding adds to an update, and each time is the
number that it is. Whether an update ends within the seconds of a theorem is then decided without rounding.
"""

from collections.abc import Callable, Collection, Mapping
from fractions import Fraction
from typing import Any, Final, Protocol, TypeVar

import numpy as np
import sympy
from numpy.typing import NDArray

from boundlab.algorithms import Algorithm
from boundlab.arithmetic.numbers import START_BITS, digits
from boundlab.delays import DelayModel, ServerPolicy
from boundlab.errors import AssumptionError, SpecError, UndecidedError
from boundlab.events import Events
from boundlab.formulas.decide import Number, at_most
from boundlab.formulas.known_numbers import Formulas
from boundlab.instance.enclosed import known_number
from boundlab.objective import Problem
from boundlab.randomness import Streams
from boundlab.simulate.work import compile_trial
from boundlab.tape import RecordAt, Tape
from boundlab.theorems import SECONDS, Theorem

MOST_UPDATES: Final = 50_000
_FIRST: Final = 64  # updates that are looked at first
_SHORT: Final = 2.0**20  # durations that are so many parts of a unit, and no longer than that, add up without rounding
_MORE: Final = 2.0**-24  # what is added to others, relatively


class _Planned(Protocol):
    """A plan, as far as it is read here."""

    @property
    def theorem(self) -> Theorem: ...
    @property
    def problem(self) -> Problem: ...
    @property
    def delays(self) -> DelayModel: ...
    @property
    def policy(self) -> ServerPolicy: ...
    @property
    def algorithm(self) -> Algorithm[Any]: ...
    @property
    def parameters(self) -> Any: ...
    @property
    def values(self) -> Mapping[str, Any]: ...
    @property
    def measured(self) -> Collection[str]: ...
    @property
    def ks(self) -> NDArray[np.int64]: ...


Run = TypeVar("Run", bound=_Planned)


def compute_times(delays: DelayModel) -> dict[str, Any]:
    """Return the most seconds that updates take, of each client and from the fastest on; none where times are drawn."""
    times = delays.seconds
    if times is None:
        return {}
    most = times if _short(times) else times * (1.0 + _MORE)
    return {"compute": most, "compute_sorted": np.sort(most)}


def _short(times: NDArray[np.float64]) -> bool:
    return bool((times * _SHORT == np.floor(times * _SHORT)).all() and times.max() <= _SHORT)


def within_seconds(theorem: Theorem, plan: Callable[[int], Run], most: int) -> Run:
    """Return the plan up to the last update within the seconds that the theorem gives the run.

    Parameters
    ----------
    plan
        Makes it for a number of updates.
    most
        Of updates.

    Raises
    ------
    AssumptionError
        If no update ends within the time and the left side begins with one.
    SpecError
        If there are too many, or the time is another one for each horizon.
    UndecidedError
        If nothing decides whether an update ends within the time.
    """
    tried = max(min(_FIRST, most + 1), theorem.left.first)
    while True:
        found = plan(tried)
        times = _times(found, tried)
        if not _ends_within(found, float(times[-1])):
            break
        if tried > most:
            raise SpecError(f"{theorem.id}: within its time there are more than {most} updates; ask for less accuracy")
        tried = min(most + 1, 8 * tried)
    low, high = 0, tried  # the start is there, and update `high` too late
    if not _ends_within(found, 0.0):
        raise AssumptionError(f"{theorem.id}: the seconds that it gives the run are negative")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _ends_within(found, float(times[middle])) else (low, middle)
    if low < theorem.left.first:
        raise AssumptionError(
            f"{theorem.id}: {low} updates end within its time, and the left side begins at "
            f"{theorem.horizon_symbol} = {theorem.left.first}: nothing is claimed"
        )
    last = plan(low)
    if not _ends_within(last, float(times[low])) or _ends_within(last, float(times[low + 1])):
        raise SpecError(
            f"{theorem.id}: its time reads what depends on how far the run goes, and has no one last update"
        )
    return last


def _times(plan: _Planned, updates: int) -> NDArray[np.float64]:
    """Return when the updates 0, …, ``updates`` have ended.

    Raises
    ------
    SpecError
        If rounding could add more to an update than ``compute`` allows for.
    """
    times, each = _tape(plan, np.arange(updates + 1)).record.time, plan.delays.seconds
    assert each is not None  # noqa: S101  (the theorem assumes it)
    limit = 2.0**32 if _short(each) else _MORE * 2.0**51 * float(each.min())
    if times[-1] > limit:
        raise SpecError(
            f"{plan.theorem.id}: update {updates} ends after {times[-1]:.3g} s, which floats round too much"
        )
    return times


def require_last(plan: _Planned, formulas: Formulas) -> None:
    """Make sure that the words of a case, which its floats round, end the run at the same update.

    Raises
    ------
    SpecError
        If they do not, or if nothing decides it.
    """
    last = int(plan.ks[-1])
    times, clock = _times(plan, last + 1), plan.theorem.symbols[SECONDS].symbol
    for update, wanted in ((last, True), (last + 1, False)):
        gap = clock - sympy.Rational(float(times[update]))
        with digits(START_BITS):
            sign = formulas.exact(gap)
            sign = formulas.ball(gap) if sign is None else sign
            if not (sign >= 0 if wanted else sign < 0):
                raise SpecError(
                    f"{plan.theorem.id}: as the case writes numbers down, another update than {last} may be the last "
                    f"within its time; take numbers that floats hold, such as 1/8"
                )


def events_of(plan: _Planned) -> Events:
    """Return the events of the one run up to the horizon of its plan."""
    return _tape(plan, plan.ks).events


def _tape(plan: _Planned, shown: NDArray[np.int64]) -> Tape:
    return compile_trial(
        plan.algorithm, plan.parameters, plan.problem.n, plan.delays, plan.policy, int(shown[-1]), RecordAt(shown),
        Streams(0, 0),
    )  # fmt: skip


def _ends_within(plan: _Planned, time: float) -> bool:
    values = {name: _number(value, name, plan) for name, value in plan.values.items()}
    clock = plan.theorem.symbols[SECONDS].symbol
    found = at_most(sympy.Rational(time), clock, plan.theorem.defining(), values)
    if found is None:
        raise UndecidedError(
            f"{plan.theorem.id}: nothing decides whether {time!r} s are within the time of the theorem"
        )
    return found


def _number(value: Any, name: str, plan: _Planned) -> Number:
    if np.ndim(value):
        return tuple(map(Fraction, np.asarray(value).tolist()))
    exact = known_number(float(value), rounded=name in plan.measured).exact
    return Fraction(int(exact.p), int(exact.q)) if exact is not None else Fraction(float(value))
