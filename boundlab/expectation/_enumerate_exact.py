"""The expectation over all event sequences of AREA in exact numbers; states as in the float twin, ``_enumerate``."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

from boundlab.algorithms.area import AreaParameters
from boundlab.arithmetic import numbers
from boundlab.arithmetic.numbers import Scalar, hashable
from boundlab.arithmetic.problem import AtMinimum, Minimum, RationalProblem
from boundlab.errors import SpecError
from boundlab.events import SERVER
from boundlab.expectation._law import EventLaw
from boundlab.metrics import Metric

Point = tuple[Scalar, ...]
LARGEST = 300_000


@final
@dataclass(frozen=True, slots=True)
class State:
    """x_s, all x_i and y_i (None: never read again), Σ x_s,j where it is wanted, and who waits for an answer."""

    x_s: Point
    x: tuple[Point | None, ...]
    y: tuple[Point | None, ...]
    total: Point | None = None
    waiting: int = -1

    def key(self) -> Any:
        """Return what equal states share."""
        parts = (self.x_s, *self.x, *self.y, self.total)
        return tuple(None if part is None else tuple(map(hashable, part)) for part in parts), self.waiting


@final
class Walk:
    """All event sequences of one case.

    Parameters
    ----------
    step
        step(k) is α_k as a number.
    largest
        Most states of one event.
    """

    def __init__(
        self,
        model: RationalProblem,
        parameters: AreaParameters,
        law: EventLaw[Fraction],
        step: Callable[[int], Scalar],
        twins: list[list[int]],
        largest: int = LARGEST,
    ) -> None:
        self.model, self.parameters, self.law, self.step, self.twins = model, parameters, law, step, twins
        self.largest = largest
        self._answers: dict[Any, Point] = {}

    def expectation(self, metric: Metric, best: Minimum, last: int) -> Scalar:
        """Return E metric after ``last`` iterations.

        Raises
        ------
        SpecError
            If there are too many states.
        UndecidedError
            If balls cannot tell on which side of a kink an iterate lies.
        """
        average = metric.over.averages_iterates
        x0 = tuple(numbers.rational(entry) for entry in self.model.x0)
        one = step_like = self.step(0)
        x0 = tuple(entry + (one - step_like) for entry in x0)  # of the type of the step sizes
        n = self.model.n
        x: tuple[Point | None, ...] = (x0,) * n
        if self.parameters.start == "algorithm":
            x = tuple(self._answer(client, 0, x0) for client in range(n))
        states = {None: (State(x0, x, (x0,) * n, tuple(e - e for e in x0) if average else None), numbers.rational(1))}
        for event in range(last):
            ahead = last - event - average
            if average:
                states = self._gather([(self._added(state), weight) for state, weight in states.values()])
            if ahead > 0:
                states = self._advance(states, event, ahead)
        share = numbers.rational(Fraction(1, last)) if average else numbers.rational(1)
        function = AtMinimum(self.model, best)
        out: Any = numbers.rational(0)
        for state, weight in states.values():
            point = state.total if average else state.x_s
            assert point is not None  # noqa: S101  (for the type checker)
            out = out + weight * metric.at(function, [share * entry for entry in point])
        return out

    @staticmethod
    def _added(state: State) -> State:
        assert state.total is not None  # noqa: S101
        total = tuple(a + b for a, b in zip(state.total, state.x_s, strict=True))
        return State(state.x_s, state.x, state.y, total, state.waiting)

    def _answer(self, client: int, k: int, x_s: Point) -> Point:
        key = (client, k if self.parameters.step.d is not None else 0, tuple(map(hashable, x_s)))
        if key not in self._answers:
            size, x = self.step(k), list(x_s)
            for _ in range(self.parameters.M):
                x = self.model.descend(client, x, size)
            self._answers[key] = tuple(x)
        return self._answers[key]

    def _advance(self, states: dict[Any, tuple[State, Any]], event: int, ahead: int) -> dict[Any, tuple[State, Any]]:
        choices = [(actor, numbers.rational(share)) for actor, share in self.law.at(event)]
        if len(states) * len(choices) > self.largest:
            raise SpecError(
                f"enumeration in exact numbers reaches {len(states) * len(choices)} states at k = {event + 1}, "
                "which is too many; take fewer iterations or clients"
            )
        k = self.parameters.answers_with(event)
        held = self.parameters.reply == "post" and self.law.completes(event)
        found = []
        for state, weight in states.values():
            for actor, share in choices:
                after = self._aggregate(state, k) if actor == SERVER else self._arrive(state, actor, k, held, ahead)
                found.append((self._forget(after, ahead - 1), weight * share))
        return self._gather(found)

    def _gather(self, found: list[tuple[State, Any]]) -> dict[Any, tuple[State, Any]]:
        out: dict[Any, tuple[State, Any]] = {}
        for state, weight in found:
            key = state.key()
            out[key] = (state, weight + out[key][1]) if key in out else (state, weight)
        return out

    def _aggregate(self, state: State, k: int) -> State:
        share = numbers.rational(Fraction(1, self.model.n))
        columns = zip(*(y for y in state.y if y is not None), strict=True)
        x_s = tuple(share * sum(column[1:], start=column[0]) for column in columns)
        x = state.x
        if state.waiting >= 0:
            answer = self._answer(state.waiting, k, x_s)
            x = (*x[: state.waiting], answer, *x[state.waiting + 1 :])
        return State(x_s, x, state.y, state.total)

    def _arrive(self, state: State, client: int, k: int, held: bool, ahead: int) -> State:
        y = (*state.y[:client], state.x[client], *state.y[client + 1 :])
        if held:
            return State(state.x_s, state.x, y, state.total, client)
        answer = self._answer(client, k, state.x_s) if ahead > 2 else None
        x = (*state.x[:client], answer, *state.x[client + 1 :])
        return State(state.x_s, x, y, state.total, state.waiting)

    def _forget(self, state: State, ahead: int) -> State:
        """Drop what no later event reads, and bring twins into one order."""
        n = self.model.n
        if self.parameters.reply == "pre" and ahead <= 1:
            state = State(state.x_s, (None,) * n, state.y, state.total)
        if ahead == 0:
            return State(state.x_s, (None,) * n, (None,) * n, state.total)
        if state.waiting >= 0 or not self.twins:
            return state
        x, y = list(state.x), list(state.y)
        for group in self.twins:
            pairs = sorted(((x[i], y[i]) for i in group), key=lambda pair: hash(_key(pair)))
            for client, (left, right) in zip(group, pairs, strict=True):
                x[client], y[client] = left, right
        return State(state.x_s, tuple(x), tuple(y), state.total)


def _key(pair: tuple[Point | None, Point | None]) -> Any:
    return tuple(None if part is None else tuple(map(hashable, part)) for part in pair)
