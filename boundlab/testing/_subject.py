"""An algorithm with the settings and the delays under which it is looked at."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, final

from boundlab.algorithms import Algorithm
from boundlab.case.build import build_delays, build_problem
from boundlab.delays import DelayModel
from boundlab.errors import BoundlabError, CaseError, SpecError
from boundlab.events import Events
from boundlab.instance import example_options
from boundlab.options import Options
from boundlab.randomness import Streams
from boundlab.testing import _schedule
from boundlab.testing._agree import expect
from boundlab.testing._schedule import CompiledRun

_DELAYS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("exponential", {"spread": 5}),
    ("deterministic", {}),
    ("pareto", {"spread": 3}),
    ("iid", {}),
)
ITERATIONS = 8
REFUSED = (SpecError, CaseError)  # of what does not go together
_LONGEST = 64  # times as many events as the algorithm thinks that the iterations take


@final
@dataclass(frozen=True)
class Subject:
    """An algorithm with the settings and delays under which it is looked at.

    Parameters
    ----------
    algorithm
        Which one.
    options
        The one setting to look at; None: those that its examples make.
    clients
        n; None: 3, or 1 where the algorithm is about one client.
    delays
        Models for so many clients; none: exponential, deterministic, Pareto and i.i.d. ones.
    server
        The policy as it is typed; None: what goes with the algorithm and the delays.
    drawn
        How many drawn combinations of options are looked at.
    """

    algorithm: Algorithm[Any]
    options: Mapping[str, Any] | None = None
    clients: int | None = None
    delays: Sequence[DelayModel] = ()
    server: str | None = None
    drawn: int = 4
    _made: dict[tuple[str, int, str, int, int], CompiledRun] = field(default_factory=dict)

    @property
    def who(self) -> str:
        """How messages begin."""
        return f"algorithm {getattr(self.algorithm, 'id', type(self.algorithm).__name__)}"

    @cached_property
    def n(self) -> int:
        """The number of clients."""
        if self.clients is not None:
            return self.clients
        try:
            self._compile(self._simplest(3), self._models(3)[0])
        except REFUSED as error:
            try:
                self._compile(self._simplest(1), self._models(1)[0])
            except REFUSED:
                raise AssertionError(f"{self.who}: {error}") from error
            return 1
        return 3

    @cached_property
    def models(self) -> Sequence[DelayModel]:
        """The delay models."""
        return self._models(self.n)

    @cached_property
    def settings(self) -> list[Mapping[str, Any]]:
        """The simplest setting first."""
        if self.options is not None:
            return [self.options]
        return list(example_options.settings(self.who, self.algorithm, self.n, self.drawn))

    @cached_property
    def schedules(self) -> list[CompiledRun]:
        """The first setting under every delay model, each other one under one of them, by turns."""
        found = [self.schedule(self.settings[0], model) for model in self.models]
        for number, setting in enumerate(self.settings[1:]):
            try:
                found.append(self.schedule(setting, self.models[number % len(self.models)]))
            except REFUSED:
                continue  # such as a buffer that so few clients never fill
        return found

    def schedule(
        self, setting: Mapping[str, Any], model: DelayModel, iterations: int = ITERATIONS, trial: int = 0
    ) -> CompiledRun:
        """Return a setting under a delay model.

        Raises
        ------
        SpecError
            If the options do not go together, or not with so many clients.
        """
        key = example_options.words(setting), model.n, repr(model.spec()), iterations, trial
        if key not in self._made:
            self._made[key] = self._compile(setting, model, iterations, trial)
        return self._made[key]

    def under_all(
        self, setting: Mapping[str, Any], iterations: int = ITERATIONS
    ) -> Iterator[tuple[DelayModel, CompiledRun]]:
        """Yield a setting under every delay model that it goes with."""
        for model in self.models:
            try:
                at = self.schedule(setting, model, iterations)
            except REFUSED:
                continue
            yield model, at

    def _simplest(self, n: int) -> Mapping[str, Any]:
        if self.options is not None:
            return self.options
        return example_options.settings(self.who, self.algorithm, n, 0)[0]

    def _models(self, n: int) -> Sequence[DelayModel]:
        return self.delays or [build_delays(kind, dict(more), n) for kind, more in _DELAYS]

    def _compile(
        self, setting: Mapping[str, Any], model: DelayModel, iterations: int = ITERATIONS, trial: int = 0
    ) -> CompiledRun:
        """Sample enough events for all iterations."""
        a, n = self.algorithm, model.n
        who = f"{self.who} with {example_options.words(setting)} under {model.id} delays"
        parameters = a.read(Options(a.id, setting))
        problem = build_problem("quadratic", {"clients": n, "dimension": 2, "mu": 0.25, "L": 1})
        count = first = max(a.events_for(parameters, n, iterations), 1)
        while True:
            events = self.sample(setting, model, count, trial)
            try:
                made = a.schedule(parameters, events, n, _schedule.NOTHING, iterations).iterations
            except REFUSED:
                raise
            except BoundlabError as error:
                raise AssertionError(f"{who}: {iterations} iterations do not compile: {error}") from error
            if made >= iterations:
                return CompiledRun(who, a, parameters, events, problem, iterations)
            expect(count < _LONGEST * first, f"{who}: {count} events make {made} of {iterations} iterations")
            count *= 2

    def sample(self, setting: Mapping[str, Any], model: DelayModel, count: int, trial: int = 0) -> Events:
        """Return the first events of a trial; a count that the server's policy may set is set by it."""
        a, server = self.algorithm, self.server
        if server is None and a.server == "any" and "count" in setting:
            server = f"count:every={setting['count']}"
        policy = a.policy(server, model)
        return a.sample(a.read(Options(a.id, setting)), model, policy, Streams(7, trial), model.n, count)

    def each(self, check: Callable[[CompiledRun], None]) -> Callable[[], None]:
        """Return what asks every schedule."""

        def ask() -> None:
            for at in self._all():
                check(at)

        return ask

    def _all(self) -> list[CompiledRun]:
        try:
            return self.schedules
        except BoundlabError as error:
            raise AssertionError(f"{self.who}: {error}") from error
