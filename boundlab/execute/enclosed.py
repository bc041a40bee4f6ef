"""A run with proved errors: how far each computed register is at most from the one without rounding.

A register is a linear combination of *points*: the start, results of local steps, and combinations that were worked
out. One number bounds the error of a point. What makes that enough: local steps on convex functions bring points no
further apart, and the difference of a result and of the point where its steps began is the sum of these steps, whose
error is that of the gradients. Such differences are written as that sum, so that registers that hold them do not make
errors grow.

Where a model takes steps that began at an older one, their error is not added to its own. With K between 0 and L times
the step, so that I − K brings no points apart, the steps from x are off by −K(x̃ − x), and w with these steps by
(I − K)(w̃ − w) + K((w̃ − w) − (x̃ − x)). What the errors of two models differ by is what the updates between them add:
smaller than the errors by another factor L times the step.
"""

import math
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Container, Mapping
from typing import Any, Final, Generic, NamedTuple, TypeVar, final

import numpy as np

from boundlab.errors import UndecidedError
from boundlab.execute._rows import Combine, Numbers, Update, rows
from boundlab.objective import Array
from boundlab.tape import Initial, Tape

Value = TypeVar("Value")
Summed = TypeVar("Summed", bound=Array)
UNKNOWN: Final = float("inf")
EPS: Final = float(np.finfo(np.float64).eps)
TINY: Final = 1e-290  # more than what underflow adds to a norm in a step
_ROWS: Final = 64  # of steps that one client takes in turn
UP: Final = 1.0 + 1e-14  # sums and products of a few norms and errors, rounded up


class Point(Generic[Value]):
    """A vector that was worked out.

    Parameters
    ----------
    value
        As it was computed.
    size
        No less than its norm, and that of the vector without rounding.
    error
        How far it is at most from the vector without rounding.
    motion
        Of a result of local steps, or of their sum.

    Attributes
    ----------
    line
        The line of models that it belongs to, each of which adds to the one before.
    """

    __slots__ = ("error", "line", "motion", "size", "value")

    def __init__(self, value: Value, norm: Any, error: Any, motion: "Motion | None" = None) -> None:
        self.value, self.size, self.error, self.motion = value, norm + error, error, motion
        self.line = Line([0], 0, 0.0)


class Line(NamedTuple):
    """A place on a line of models.

    Parameters
    ----------
    last
        The last place on that line, in a list that all its models share.
    place, path
        This place, and how much the errors of all models up to it differ, each from the one before, in sum.
    """

    last: list[int]
    place: int
    path: Any


class Motion(NamedTuple):
    """Effect of local steps from x on errors: their sum is off by −K(x̃ − x) and rounding.

    Parameters
    ----------
    growth, moved
        No less than the norms of I − K and of K.
    rounding
        No less than what rounding adds.
    start
        x, of a sum of steps.
    """

    growth: float
    moved: float
    rounding: Any
    start: Any = None

    @classmethod
    def still(cls) -> "Motion":
        """Return the motion without steps."""
        return cls(1.0, 0.0, 0.0)

    def then(self, growth: float, moved: float, rounding: Any) -> "Motion":
        """Return the motion with one more step, that has these bounds."""
        # Steps longer than 2/L bring points apart, and with them what rounding has added.
        return Motion(
            growth * self.growth * UP, (self.moved + moved * self.growth) * UP, (growth * self.rounding + rounding) * UP
        )


class _Form(Generic[Value]):
    """A register: coefficients of points, and what rounding does to the coefficients.

    Parameters
    ----------
    point
        The register itself, once it is worked out.
    began, off
        Of a result of local steps: the register where they began, and how far their sum is at most from that without
        rounding.
    whole
        Of a sum and difference of others: which, each with a whole number.
    """

    __slots__ = ("began", "off", "point", "slack", "terms", "whole")

    def __init__(self, terms: dict[Point[Value], Any], slack: Any, point: Point[Value] | None = None) -> None:
        self.terms, self.slack, self.point = terms, slack, point
        self.began: _Form[Value] | None = None
        self.off: Any = None
        self.whole: dict[_Form[Value], int] = {}


class EnclosedVectors(ABC, Generic[Value]):
    """An arithmetic of vectors that says how far it rounds.

    Parameters
    ----------
    unit
        1, as the coefficient of a point.
    ulp
        How far a coefficient of the tape, or a product of two, may be off, relatively.
    """

    unit: Any
    ulp: Any

    @abstractmethod
    def origin(self, initial: Initial) -> Point[Value]:
        """Return x0 or 0, without error."""

    @abstractmethod
    def combined(self, terms: Mapping[Point[Value], Any]) -> tuple[Value, Any, Any]:
        """Return Σ coefficient·point, its norm from above, and how far rounding put it off."""

    @abstractmethod
    def descend(self, start: Point[Value], row: Update[Any]) -> tuple[Point[Value], Any]:
        """Return the result of local steps, and how far their sum is at most from that without rounding."""


def run(
    tape: Tape, numbers: Numbers[Any], vectors: EnclosedVectors[Value], observe: Callable[[int, Point[Value]], None]
) -> None:
    """Execute a tape.

    Parameters
    ----------
    numbers
        Those of the tape, in the arithmetic of ``vectors``.
    observe
        Called as observe(m, point) for record m.

    Raises
    ------
    UndecidedError
        If errors leave it open on which side of a kink a local step is taken.
    """
    registers = _origins(tape, vectors)
    longest, kept = 4 * tape.clients + 16, 4 * tape.registers + 16
    results: deque[_Form[Value]] = deque()
    sums = _KnownSums[Value](2 * kept)
    done = 0
    try:
        for done, row in enumerate(rows(tape, numbers)):  # noqa: B007
            match row:
                case Combine(dst, terms):
                    parts = [(weight, registers[source]) for weight, source in terms]
                    whole = sums.whole(parts)
                    form = sums.known(whole) or _combined(vectors, _moved(whole) or parts)
                    if len(form.terms) > longest:
                        form = _alone(vectors, _point(vectors, form))
                    sums.add(whole, form)
                    registers[dst] = form
                case Update():
                    end, off = vectors.descend(_point(vectors, registers[row.src]), row)
                    form = _alone(vectors, end)
                    form.began, form.off = registers[row.src], off
                    results.append(form)
                    if len(results) > kept:  # or every register would hold all before it
                        results.popleft().began = None
                    registers[row.dst] = form
                case _:
                    observe(row.row, _point(vectors, registers[row.src]))
    except UndecidedError as error:
        raise UndecidedError(str(error), done / len(tape)) from None


@final
class _KnownSums(Generic[Value]):
    """Registers that are sums and differences of others: what is the same sum again is the same register.

    A client takes its own steps back and the server's in: with that it is where the server is, which floats do not see.
    """

    def __init__(self, most: int) -> None:
        self._known = dict[frozenset[tuple[_Form[Value], int]], _Form[Value]]()
        self._most, self._kept = most, deque[tuple[frozenset[tuple[_Form[Value], int]], _Form[Value]]]()

    def whole(self, parts: list[tuple[Any, _Form[Value]]]) -> dict[_Form[Value], int]:
        """Return a combination as a sum and difference of what is worked out or known; empty where it is none."""
        found: dict[_Form[Value], int] = {}
        for weight, form in parts:
            if weight not in (1, -1):
                return {}
            sign = 1 if weight == 1 else -1
            if form.whole and form.point is None:
                for one, times in form.whole.items():
                    _count(found, one, sign * times)
            else:
                _count(found, form, sign)
        if len(parts) > 2:
            for one in [one for one in found if one.whole]:
                times = found.get(one, 0)
                if any(times * own * found.get(part, 0) < 0 for part, own in one.whole.items()):  # they cancel
                    for part, own in (*one.whole.items(), (one, -1)):
                        _count(found, part, own * times)
            items = found.items()
            for key, form in self._known.items():  # the oldest first: what was added to it stands behind it
                if key <= items:
                    for one, times in (*key, (form, -1)):
                        _count(found, one, -times)
        return found

    def known(self, whole: dict[_Form[Value], int]) -> _Form[Value] | None:
        """Return the register that a sum is, if one is known."""
        if len(whole) == 1:
            return next((one for one, times in whole.items() if times == 1), None)
        return self._known.get(frozenset(whole.items())) if whole else None

    def add(self, whole: dict[_Form[Value], int], form: _Form[Value]) -> None:
        """Remember that a register is a sum, for some time."""
        if not whole or form in whole or form.whole == whole:
            return
        form.whole, key = whole, frozenset(whole.items())
        if min(whole.values()) > 0:
            self._known.setdefault(key, form)
        self._kept.append((key, form))
        if len(self._kept) > self._most:  # or every register would hold all before it
            key, form = self._kept.popleft()
            form.whole = {}
            if self._known.get(key) is form:
                del self._known[key]


def _count(found: dict[_Form[Value], int], one: _Form[Value], times: int) -> None:
    """Add to a count, and leave what is 0 out."""
    if total := found.pop(one, 0) + times:
        found[one] = total


def _moved(whole: dict[_Form[Value], int]) -> list[tuple[Any, _Form[Value]]]:
    """Return the two parts of a sum that is how far several rows of steps moved; empty where it is another."""
    ends = {times: one for one, times in whole.items()}
    if len(whole) != 2 or ends.keys() != {1, -1} or _since(ends[1], whole)[0] is None:
        return []
    return [(times, one) for one, times in whole.items()]


def _origins(tape: Tape, vectors: EnclosedVectors[Value]) -> dict[int, _Form[Value]]:
    known = {kind: _alone(vectors, vectors.origin(kind)) for kind in (Initial.START, Initial.ZERO)}
    return {place: known[Initial(kind)] for place, kind in enumerate(tape.initial.tolist()) if Initial(kind) in known}


def _alone(vectors: EnclosedVectors[Value], point: Point[Value]) -> _Form[Value]:
    return _Form({point: vectors.unit}, 0.0, point)


def _combined(vectors: EnclosedVectors[Value], parts: list[tuple[Any, _Form[Value]]]) -> _Form[Value]:
    """Return a combination of registers as one of points."""
    if len(parts) == 1 and parts[0][0] == 1:
        return parts[0][1]
    parts = _in_steps(vectors, parts)
    # Where nothing cancels, a register that is worked out stands for itself, and combinations stay short.
    known = any(form.point is not None and form.point not in form.terms for _, form in parts)
    if known and _nothing_cancels(parts):
        parts = [(weight, form if form.point is None else _alone(vectors, form.point)) for weight, form in parts]
    terms: dict[Point[Value], Any] = {}
    slack: Any = 0.0
    for weight, form in parts:
        slack = slack + abs(weight) * form.slack
        exact = weight in (1, -1)
        for point, share in form.terms.items():
            part = weight * share
            if point in terms:
                part = terms[point] + part
            if point in terms or not exact:
                slack = slack + vectors.ulp * abs(part) * point.size
            terms[point] = part
    # A ball that may be 0 is neither equal to 0 nor different from it, and stays.
    return _Form({point: share for point, share in terms.items() if not share == 0}, slack)  # noqa: SIM201


def _nothing_cancels(parts: list[tuple[Any, _Form[Value]]]) -> bool:
    """Return whether no point is in two parts, but for sums of steps that have one sign in both."""
    signs: dict[Point[Value], bool] = {}
    for weight, form in parts:
        for point, share in form.terms.items():
            positive, step = bool(weight * share > 0), point.motion is not None and point.motion.start is not None
            if point in signs and not (step and signs[point] == positive):
                return False
            signs[point] = positive
    return True


def _in_steps(vectors: EnclosedVectors[Value], parts: list[tuple[Any, _Form[Value]]]) -> list[tuple[Any, _Form[Value]]]:
    """Return the parts with a result less the register where its steps began written as the sum of these steps."""
    if all(weight >= 0 for weight, _ in parts):
        return parts
    left = dict[_Form[Value], Any]()
    for weight, form in parts:
        left[form] = left[form] + weight if form in left else weight
    for form in [one for one in left if one.began is not None]:
        began, off, motion = _since(form, left)
        if began is None:
            continue
        own, other = left[form], left[began]
        if (own > 0 and other < 0) or (own < 0 and other > 0):
            # As much of both as the smaller allows: own·y + other·s = (own + other)·(y or s) + share·(y − s).
            share = own if abs(own) <= abs(other) else -other
            end, start = _point(vectors, form), _point(vectors, began)
            value, norm, rounding = vectors.combined({end: vectors.unit, start: -vectors.unit})
            motion = motion and motion._replace(rounding=motion.rounding + rounding, start=start)
            left[_alone(vectors, Point(value, norm, (off + rounding) * UP, motion))] = share
            left[form], left[began] = own - share, other + share
    return [(weight, form) for form, weight in left.items() if not weight == 0]  # noqa: SIM201


def _since(form: _Form[Value], among: Container[_Form[Value]]) -> tuple[_Form[Value] | None, Any, Motion | None]:
    """Return which of some registers steps led from to a result, how far their sum is off, and their motion.

    The register is None where no row of the steps that led there began at one of them.
    """
    off: Any = 0.0
    motion: Motion | None = None
    at = form
    for _ in range(_ROWS):
        began, point = at.began, at.point
        if began is None or point is None:
            break
        off, own = off + at.off, point.motion
        motion = own if at is form else motion and own and own.then(motion.growth, motion.moved, motion.rounding)
        if began in among:
            return began, off if at is form else off * UP, motion
        at = began
    return None, off, None


def _point(vectors: EnclosedVectors[Value], form: _Form[Value]) -> Point[Value]:
    """Return a register as a point."""
    if form.point is None:
        value, norm, rounding = vectors.combined(form.terms)
        more, up = form.slack + rounding, UP + EPS * len(form.terms)
        form.point = Point(value, norm, (_error(form.terms) + more) * up)
        for base, weight in form.terms.items():
            if weight == 1:  # its line goes on, if it is the last there
                rest = sum((abs(other) * point.error for point, other in form.terms.items() if point is not base), more)
                last, place, path = base.line
                if last[0] == place:
                    last[0] = place + 1
                    form.point.line = Line(last, place + 1, (path + rest * up) * UP)
                break
    return form.point


def _error(terms: Mapping[Point[Any], Any]) -> Any:
    """Return how far the errors of points put a combination off."""
    base = next((point for point, weight in terms.items() if weight > 0 and point.motion is None), None)
    total: Any = 0.0
    used: Any = 0.0
    for point, weight in terms.items():
        if point is base:
            continue
        size, motion = abs(weight) * point.error, point.motion
        if base is not None and motion is not None and motion.start is not None:
            apart = _apart(base, motion.start)
            together = motion.growth * base.error + motion.moved * apart + motion.rounding
            fits = weight > 0 and float(used + weight) <= float(terms[base]) * UP
            if fits and together < base.error + point.error:
                used, size = used + weight, weight * together
        total = total + size
    if base is not None:
        # Where weights sum to that of the base up to rounding, what is left has either sign.
        total = total + (abs(terms[base] - used) + (UP - 1.0 + EPS * len(terms)) * used) * base.error
    return total


def _apart(new: Point[Any], old: Point[Any]) -> Any:
    """Return how much the errors of two points differ at most."""
    if new is old:
        return 0.0
    if new.line.last is not old.line.last or new.line.place < old.line.place:
        return UNKNOWN
    return (new.line.path - old.line.path) * UP  # each path was rounded up from the one before


def summed(terms: Mapping[Point[Any], float], out: Summed, ulp: float) -> tuple[Summed, float, float]:
    """Return Σ coefficient·point, its norm, and how far rounding put it off; ``out`` is 0, and is overwritten."""
    size = 0.0
    for point, weight in terms.items():
        value = point.value
        part = out if value.shape == out.shape else out[..., : value.shape[-1]]
        part += value if weight == 1.0 else weight * value
        size += abs(weight) * point.size
    return out, norm(out), (len(terms) + 1) * ulp * size + TINY


def norm(x: Array) -> float:
    """Return the norm from above, of an array that of all its entries."""
    wide = np.asarray(x, dtype=np.float64).ravel()
    found = math.sqrt(float(np.einsum("i,i->", wide, wide)))  # a product of BLAS would wait for its threads
    return found * (1.0 + (len(wide) + 8) * EPS)
