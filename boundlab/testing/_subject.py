"""Algorithms with the settings and the delays under which they are looked at, and their runs there."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, final

from boundlab.algorithms import Algorithm, example_options
from boundlab.case.build import build_problem, delays_from
from boundlab.delays import DelayModel
from boundlab.errors import BoundlabError, CaseError, SpecError
from boundlab.events import Events
from boundlab.execute.floats import run
from boundlab.objective import Problem
from boundlab.options import Options
from boundlab.randomness import Streams
from boundlab.tape import NOTHING, RecordAt, Tape, verify, verify_identities
from boundlab.testing._check import about, expect
from boundlab.testing._interpret import Reading, Run, Vectors, interpret, reading

ITERATIONS = 8
REFUSED = (SpecError, CaseError)  # of what does not go together
_DELAYS = ("exponential:spread=5", "deterministic", "pareto:spread=3", "iid")
_LONGEST = 64  # times as many events as the algorithm thinks that the iterations take


@final
@dataclass(frozen=True)
class CompiledRun:
    """An algorithm, its parameters, and events on a small problem.

    Parameters
    ----------
    who
        How messages begin.
    most
        Iterations of the long tape, or more than the events hold.
    delays
        What the events are drawn from, where they are.
    """

    who: str
    algorithm: Algorithm[Any]
    parameters: Any
    events: Events
    problem: Problem
    most: int
    delays: DelayModel | None = None

    @cached_property
    def long(self) -> Tape:
        """The long tape with all records."""
        return self.tape()

    @cached_property
    def executed(self) -> Run:
        """Run of the long tape by the second interpreter."""
        return interpret(self.long, self.problem)

    @cached_property
    def linear(self) -> Reading:
        """Its models as combinations of the moves of updates."""
        return reading(self.long)

    def tape(self, iterations: int | None = None, records: RecordAt | None = None) -> Tape:
        """Compile, by default to the long tape with all records, and let :func:`boundlab.tape.verify` look at it."""
        most = self.most if iterations is None else iterations
        shown = RecordAt() if records is None else records
        with about(f"{self.who}: {most} iterations do not compile"):
            tape = self.algorithm.schedule(self.parameters, self.events, self.problem.n, shown, most)
            verify(tape)
            verify_identities(tape)
        return tape

    def shown(self, records: RecordAt | None = None) -> tuple[Tape, Vectors]:
        """Return the tape and what it shows with full gradients in floats."""
        tape, seen = self.tape(records=records), []
        run(tape, self.problem.x0, self.problem.full_gradients(), lambda _row, x: seen.append(x.copy()))
        return tape, seen

    def quantities(self, until: int) -> dict[str, float]:
        """Return what theorems read off the long tape over its first server updates."""
        return self.algorithm.quantities(self.parameters, self.long, until, {})


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
    _made: dict[tuple[str, str, int, int], CompiledRun] = field(default_factory=dict)

    @property
    def who(self) -> str:
        """How messages begin."""
        return f"algorithm {getattr(self.algorithm, 'id', type(self.algorithm).__name__)}"

    @cached_property
    def n(self) -> int:
        """The number of clients."""
        if self.clients is not None:
            return self.clients
        refused: list[BoundlabError] = []
        for clients in (3, 1):
            try:
                self.schedule(self.options_for(clients)[0], self._models(clients)[0])
            except REFUSED as error:
                refused.append(error)
            else:
                return clients
        raise AssertionError(f"{self.who}: {refused[0]}")

    @cached_property
    def models(self) -> Sequence[DelayModel]:
        """The delay models."""
        return self._models(self.n)

    @cached_property
    def settings(self) -> Sequence[Mapping[str, Any]]:
        """The simplest setting first."""
        return self.options_for()

    @cached_property
    def schedules(self) -> list[CompiledRun]:
        """The first setting under every delay model, each other one under one of them, by turns."""
        simple, *others = self.settings
        turned = [(setting, self.models[number % len(self.models)]) for number, setting in enumerate(others)]
        return [*(self.schedule(simple, model) for model in self.models), *self.runs(turned)]

    def options_for(self, clients: int | None = None) -> Sequence[Mapping[str, Any]]:
        """Return the settings for so many clients, by default n, the simplest first."""
        if self.options is not None:
            return [self.options]
        return example_options.settings(self.who, self.algorithm, clients or self.n, self.drawn)

    def schedule(
        self, setting: Mapping[str, Any], model: DelayModel, iterations: int = ITERATIONS, trial: int = 0
    ) -> CompiledRun:
        """Return a setting under a delay model.

        Raises
        ------
        SpecError
            If the options do not go together, or not with so many clients.
        """
        key = example_options.words(setting), f"{model.n} {model.spec()}", iterations, trial
        if key not in self._made:
            self._made[key] = self._compile(setting, model, iterations, trial)
        return self._made[key]

    def runs(
        self, places: Iterable[tuple[Mapping[str, Any], DelayModel]], iterations: int = ITERATIONS
    ) -> Iterator[CompiledRun]:
        """Yield settings under delay models that they go with: not a buffer that so few clients never fill."""
        for setting, model in places:
            try:
                yield self.schedule(setting, model, iterations)
            except REFUSED:
                continue

    def _models(self, n: int) -> Sequence[DelayModel]:
        return self.delays or [delays_from(spec, n) for spec in _DELAYS]

    def _compile(self, setting: Mapping[str, Any], model: DelayModel, iterations: int, trial: int) -> CompiledRun:
        """Sample enough events for all iterations."""
        a, n, who = self.algorithm, model.n, self.words(setting, model)
        parameters = a.read(Options(a.id, setting))
        count = first = max(a.events_for(parameters, n, iterations), 1)
        while True:
            events = self.sample(setting, model, count, trial)
            try:
                made = a.schedule(parameters, events, n, NOTHING, iterations).iterations
            except REFUSED:
                raise
            except BoundlabError as error:
                raise AssertionError(f"{who}: {iterations} iterations do not compile: {error}") from error
            if made >= iterations:
                return CompiledRun(who, a, parameters, events, _small(n), iterations, model)
            expect(count < _LONGEST * first, f"{who}: {count} events make {made} of {iterations} iterations")
            count *= 2

    def words(self, setting: Mapping[str, Any], model: DelayModel | None = None) -> str:
        """Return how messages about a setting begin, perhaps under a delay model."""
        under = "" if model is None else f" under {model.id} delays"
        return f"{self.who} with {example_options.words(setting)}{under}"

    def sample(self, setting: Mapping[str, Any], model: DelayModel, count: int, trial: int = 0) -> Events:
        """Return the first events of a trial; a count that the server's policy may set is set by it."""
        a, server = self.algorithm, self.server
        if server is None and a.server == "any" and "count" in setting:
            server = f"count:every={setting['count']}"
        policy = a.policy(server, model)
        return a.sample(a.read(Options(a.id, setting)), model, policy, Streams(7, trial), model.n, count)


@cache
def _small(n: int) -> Problem:
    """Return the problem on which schedules of so many clients are executed."""
    return build_problem("quadratic", {"clients": n, "dimension": 2, "mu": 0.25, "L": 1})
