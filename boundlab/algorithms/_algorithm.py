"""Interface of every algorithm: its parameters, and what one event does."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from math import comb
from types import MappingProxyType
from typing import Any, Final, Generic, Literal, TypeVar, final

import numpy as np
from numpy.typing import ArrayLike

from boundlab.algorithms import _option as option
from boundlab.algorithms._fold import Course, Weigh, drive, fold
from boundlab.algorithms._option import Parameters
from boundlab.algorithms._program import Averages, Event, EventProgram, InFlight
from boundlab.delays import OLDEST, Clock, DelayModel, Deterministic, Renewal, ServerPolicy, read_policy, sample_events
from boundlab.errors import BoundlabError, CaseError, SpecError
from boundlab.events import SERVER, Events, events_as_json, events_of, read_client, read_each, read_events
from boundlab.options import Options
from boundlab.randomness import Floats, Ints, Stream, Streams
from boundlab.registry import by_id
from boundlab.tape import RecordAt, Tape, usage

P = TypeVar("P", bound=option.Parameters)


@final
@dataclass(frozen=True, slots=True)
class Draw:
    """A source of randomness of an algorithm's own, beside who arrives when and the noise of gradients.

    Parameters
    ----------
    id
        How statements list it: ``order``.
    words
        What is drawn.
    options
        The options that decide whether it is drawn.
    when
        when(parameters, clients) returns whether runs with these parameters draw it; clients is None where their
        number is not known: then whether some number of them makes it drawn.
    """

    id: str
    words: str
    options: tuple[str, ...]
    when: Callable[[Any, int | None], bool]


@final
@dataclass(frozen=True, slots=True)
class VirtualIterate:
    """A sequence v[0], v[1], … that differs from the server models, and moves by one run at a time.

    Parameters
    ----------
    runs, weights
        Rows of :class:`boundlab.tape.Descend`, in the order in which v moves by their results, each times its weight.
    before
        How many of them, the first ones, lead from w[0] to v[0].
    """

    runs: Ints
    weights: Floats
    before: int


def drawn_with(name: str, words: str, option: str, value: str) -> Draw:
    """Return what is drawn with ``option=value``, where there may be more than one client to choose from."""

    def when(parameters: Any, clients: int | None) -> bool:
        return getattr(parameters, option) == value and (clients is None or clients > 1)

    return Draw(name, words, (option,), when)


class Algorithm(ABC, Generic[P]):
    """An algorithm is its parameters, a frozen value of its own type, and what one event does.

    Parameters
    ----------
    parameter_type
        P, whose fields declare the options; see :mod:`boundlab.algorithms._option`.
    server
        Who decides on aggregations: ``any`` (a server policy), ``count`` (the parameter ``count``, which a
        policy may set), ``none`` (the algorithm itself: no policy applies).
    step_size_symbols
        Options that are the size of a local step, the constant one first; other rates are part of the tape.
    single_client_values
        Which symbols this algorithm counts in another way than the table of symbols says, for one client that takes one
        step at a time without delay: the server's model then does gradient descent with the first of
        ``step_size_symbols``. None: it is not known whether it does.
    arrivals
        Whether who arrives when decides what a run does; else delays only say how long it takes.
    draws
        What runs draw by themselves. An algorithm whose :meth:`sample` draws must say so here: a statement is about
        the mean over it, or about each outcome.
    weighs
        The option with the clients' weights p, where :meth:`objective_weights` reads one.
    rule
        The option that is a factor of the step, a formula of what an iteration knows; see :meth:`step_factor`.
    rule_variables
        Of :data:`boundlab.algorithms.VARIABLES`, that of each iteration first: what that formula may read.
    points
        What else than the server's model a left side may look at, in words: vectors of which each client has one.
    takes_rounds
        Whether a delay model may say who is in each round (:attr:`boundlab.delays.DelayModel.rounds`).
    rate
        The option that multiplies the weights of all updates; '' where none does.
    redefines
        Symbols of :class:`boundlab.tape.Usage` that :meth:`quantities` counts in the way of the algorithm's paper.
    """

    id: str
    summary: str
    parameter_type: type[P]
    server: Literal["any", "count", "none"] = "none"
    step_size_symbols: tuple[str, ...] = ("alpha",)
    single_client_values: Mapping[str, int] | None = None
    arrivals: bool = True
    draws: tuple[Draw, ...] = ()
    weighs: str = ""
    rule: str = ""
    rule_variables: tuple[str, ...] = ()
    points: Mapping[str, str] = MappingProxyType({})
    takes_rounds: bool = False
    rate: str = ""
    redefines: frozenset[str] = frozenset()

    @property
    def parameters(self) -> Mapping[str, str]:
        """Option → one line on what it is."""
        return option.says(self.parameter_type)

    @property
    def defaults(self) -> Mapping[str, str]:
        """Option → its default as it is typed, where it has one of its own."""
        return option.defaults(self.parameter_type)

    def examples(self, clients: int) -> Mapping[str, Sequence[str]]:
        """Return option → some of its values as they are typed, the simplest first, '' for none; see :mod:`_option`."""
        return option.examples(self.parameter_type, clients)

    def read(self, options: Options) -> P:
        """Return the parameters.

        A number that is a :class:`boundlab.arithmetic.rational.Recipe` stays one.

        Raises
        ------
        SpecError
            If one is missing, unknown or outside its range, or some do not go together.
        """
        return option.read(self.parameter_type, options)

    def schedule(self, parameters: P, events: Events, clients: int, records: RecordAt, iterations: int) -> Tape:
        """Compile the first ``iterations`` iterations, or as many as the events hold.

        By default what :meth:`one_event` says of one event after the other.

        Parameters
        ----------
        events
            As :meth:`sample` or :meth:`read_events` give them.
        clients
            n.

        Raises
        ------
        SpecError, CaseError
            If the events or parameters do not fit each other or the number of clients.
        """
        weigh = self.weights(parameters, clients)
        if events.detail and self.updates_a_version(parameters) is not None:
            program = self.one_event(parameters, clients).compiled().aged(oldest(events)).showing(records.point)
            aged = Course(self.id, program, clients, exact=parameters.exact)
            return fold(aged, weigh, events, self.as_drawn(events), records, iterations)
        events = self.completed(parameters, events)
        with Course.of(self.id, (self.one_event, self.program), parameters, clients, records.point) as course:
            return fold(course, weigh, events, self.as_drawn(events), records, iterations)

    def one_event(self, parameters: P, clients: int) -> EventProgram:
        """Return what one event does, to be compiled; by default :meth:`program`.

        Raises
        ------
        SpecError
            If the parameters do not go with so many clients.
        """
        found = self.program(parameters, clients)
        if found is None:
            raise SpecError(f"{self.id} does not say what an event does; write its `program`, or its `schedule`")
        return found

    def weights(self, parameters: P, clients: int) -> Weigh | None:
        """Return what results weigh by clients and staleness; None: what :meth:`one_event` says, whatever these."""
        return None

    def completed(self, parameters: P, events: Events) -> Events:
        """Return the events with those that follow from them."""
        return events

    def as_drawn(self, events: Events) -> Any:
        """Return events as their program has them, (actor, details …), or an array of actors where there is no more."""
        if not events.detail:
            return events.actor
        return [(one, *more) for one, more in zip(events.actor.tolist(), events.detail, strict=True)]

    def events_for(self, parameters: P, clients: int, iterations: int) -> int:
        """Return a first guess of how many events hold so many iterations."""
        return iterations

    def sample(
        self, parameters: P, delays: DelayModel, policy: ServerPolicy, streams: Streams, clients: int, count: int
    ) -> Events:
        """Return the first ``count`` events of a trial; by default arrivals.

        More events of the same trial begin with the same ones.
        """
        per = self.updates_a_version(parameters)
        if per is not None and (followed := delays.followed(streams, count, per)) is not None:
            return followed
        if self.server == "any":
            return sample_events(delays, policy, streams, count)
        if not self.reacts(parameters):
            return arrivals(delays, streams, count)
        details = self.details(parameters, streams, clients, count)
        with Course.of(self.id, (self.one_event, self.program), parameters, clients) as course:
            return drive(course, delays.clock(streams), details, count)

    def updates_a_version(self, parameters: P) -> int | None:
        """Return how many updates make a version; None: their staleness is no input, it follows from who works when."""
        return None

    def follows(self, parameters: P, delays: DelayModel) -> bool:
        """Return whether runs take the staleness of updates from the delay model, which bounds no work on its way."""
        return delays.says_staleness and self.updates_a_version(parameters) is not None

    def reacts(self, parameters: P) -> bool:
        """Return whether what the server answers decides who arrives next; else nothing influences arrivals."""
        return False

    def details(self, parameters: P, streams: Streams, clients: int, count: int) -> Sequence[tuple[int, ...]]:
        """Return what each event of a trial says beside who arrives; nothing by default."""
        return ()

    def in_one_pass(
        self, parameters: P, clients: int, delays: DelayModel, iterations: int, records: RecordAt, streams: Streams
    ) -> Tape | None:
        """Return the tape of a trial where drawing events schedules them; None: they are drawn, then scheduled."""
        return None

    def drawn_events(self, parameters: P, drawn: Sequence[Event]) -> Events:
        """Return the events of a run whose program chose these, one a unit of time."""
        return events_of(np.arange(1.0, len(drawn) + 1.0), drawn)

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Return the id of a registered algorithm, and all that another one holds."""
        return by_id("algorithms", self, protocol)

    def policy(self, text: str | None, delays: DelayModel) -> ServerPolicy:
        """Read the server policy that goes with this algorithm; see :func:`boundlab.delays.read_policy`."""
        return read_policy(text, delays, self.server, self.id)

    def read_events(self, raw: object, clients: int, where: str) -> Events:
        """Read the events of a case file; by default [time, actor].

        Raises
        ------
        CaseError
            Naming the event by its place, counted from 1.
        """
        events = read_events(raw, clients, where)
        if self.server != "any" and (events.actor == SERVER).any():
            place = int(np.argmax(events.actor == SERVER)) + 1
            raise CaseError(f'{where}: event {place}: {self.id} aggregates by itself; leave the "s" events out')
        return events

    def events_as_json(self, events: Events) -> list[list[Any]]:
        """Return events as :meth:`read_events` reads them."""
        return events_as_json(events)

    def why_not(self, assumption: str, parameters: P, delays: DelayModel) -> str:
        """Return '' if runs meet an assumption on who arrives when, else the reason why they do not.

        Parameters
        ----------
        assumption
            One of :data:`boundlab.assumptions.RUN_ASSUMPTIONS`, such as ``stationary-participation``.
        """
        return f"nothing is known of {self.id} that makes its runs meet {assumption}"

    def quantities(self, parameters: P, tape: Tape, until: int, settings: Mapping[str, float]) -> dict[str, float]:
        """Return what theorems read off a tape, by symbol, over its first ``until`` server updates.

        By default what the use table says, see :class:`boundlab.tape.Usage`; algorithms add what is theirs.

        Parameters
        ----------
        settings
            Symbols that the user chose and that say how to look, such as the window N.
        """
        found = usage(tape, until, self.server_rate(parameters))
        return {} if found is None else found.symbols()

    def virtual_iterate(self, parameters: P, tape: Tape) -> VirtualIterate | None:
        """Return the iterate of which its theorems speak where it is not the server model; None: it is that."""
        return None

    def step_factor(self, parameters: P, tape: Callable[[], Tape]) -> Any:
        """Return α_k/α as a formula of one symbol, the iteration k; None: its steps are no such formula.

        Parameters
        ----------
        tape
            Gives that of the run, where its rows are what steps depend on: then they are known for its iterations.

        Raises
        ------
        SpecError
            If they are another one for each horizon.
        """
        return None

    def averages(self, parameters: P, clients: int) -> Averages | None:
        """Return how the server models are averages of local passes, whatever the events are; None: they are not."""
        return None

    def in_flight(self, parameters: P, clients: int) -> InFlight | None:
        """Return how much is on its way where the server adds differences, whatever the events are; None: it does not.

        A set that no schedule leaves follows (:mod:`boundlab.instance.applicability`).
        """
        return None

    def under(self, parameters: P, clients: int, delays: DelayModel) -> EventProgram | None:
        """Return what one event does where delays may say how stale each update is; None: nobody wrote it."""
        program, ages = self.program(parameters, clients), delays.ages if self.follows(parameters, delays) else ()
        return program if program is None or not ages else program.aged(len(ages) - 1)

    def program(self, parameters: P, clients: int) -> EventProgram | None:
        """Return what one event does, where events are independent given a small control state; None: nobody wrote it.

        The engines that average over random events exactly need it; see :mod:`boundlab.algorithms._program`.
        """
        return None

    def stays_feasible(self, parameters: P, clients: int) -> bool:
        """Return whether every server model is a convex combination of x0 and of results of local passes.

        Wherever these begin, a convex set with x0 and with all results of local steps then holds all models.
        """
        return self.averages(parameters, clients) is not None

    def stays_on_set(self, parameters: P, clients: int) -> bool:
        """Return whether a convex set with x0 and all results of local steps holds every point of a gradient, too.

        Server models that are averages are not enough: passes must begin at such models, and nowhere else.
        """
        return self.averages(parameters, clients) is not None

    def largest_step(self, parameters: P, clients: int) -> float | None:
        """Return what no local step of a run exceeds, unit (−1, 2); None: nobody knows."""
        found = self.averages(parameters, clients) or self.in_flight(parameters, clients)
        return None if found is None else found.step_size

    def on_composite(self, parameters: P, clients: int) -> str:
        """Return '' if a run on f + h is the method that books call so, else what it is in its place."""
        return ""

    def along_mean(self, parameters: P) -> bool:
        """Return whether each local step is one along the mean of all clients' gradients, as a server would take it.

        On f alone that is the mean of the clients' steps, as the tape has it. On f + h it is the proximal step of the
        mean, and no mean of proximal steps: who runs the tape makes it so.
        """
        return False

    def server_rate(self, parameters: P) -> float | None:
        """Return what multiplies the weights of all updates; None where it is no parameter."""
        return getattr(parameters, self.rate) if self.rate else None

    def objective_weights(self, parameters: P, clients: int) -> tuple[Fraction, ...] | None:
        """Return p where the algorithm minimises Σ p_i f_i with weights of its own, of sum 1; None: the plain mean.

        Raises
        ------
        SpecError
            If there is not one weight a client.
        """
        return None

    def figures(self, parameters: P, tape: Tape) -> dict[str, Any]:
        """Return statistics of the algorithm's own, JSON-ready, for people."""
        return {}


def oldest(events: Events) -> int:
    """Return the largest staleness that events say.

    Raises
    ------
    SpecError
        If it is more versions than are kept.
    """
    found = max(int(one[0]) for one in events.detail)
    if found > OLDEST:
        raise SpecError(f"a model {found} versions old is asked for; at most {OLDEST} are kept")
    return found


def arrivals(delays: DelayModel, streams: Streams, count: int) -> Events:
    """Return the first ``count`` arrivals of clients; a server that the delay model brings is left out."""
    size = count
    while True:
        time, actor = delays.arrivals_of(streams, size)
        keep = np.flatnonzero(actor >= 0)[:count]
        if len(keep) == count:
            return Events(time[keep], actor[keep])
        size *= 2


def own_rates(algorithm: Algorithm[Any]) -> frozenset[str]:
    """Return the options that say how long local steps are."""
    own = frozenset(algorithm.step_size_symbols)
    return own | {"d"} if "c" in own else own  # alpha_k = c/(k + d)


# Draws that an algorithm does not declare: observed on runs, and never taken on trust.

_EVENTS: Final = 64  # that each of two runs has


@final
@dataclass(frozen=True, slots=True)
class _Watched(Streams):
    """Streams that note how many numbers are asked for, durations apart."""

    drawn: list[int] = field(default_factory=list)

    def uniforms(self, stream: Stream, client: ArrayLike, update: ArrayLike, count: int) -> Floats:
        found = Streams.uniforms(self, stream, client, update, count)
        if stream != Stream.DELAY:
            self.drawn.append(found.size)
        return found


def undeclared_draws(algorithm: Algorithm[Any], parameters: Any, clients: int) -> str:
    """Return '' if runs draw nothing but what ``draws`` says, else what they do, in words.

    Arrivals are certain here. Two seeds are compared: what differs depends on the streams. An algorithm that declares
    no draw at all may ask for no number either: a rare coin shows the same side in both.
    """
    if algorithm.server == "any" or any(one.when(parameters, clients) for one in algorithm.draws):
        return ""
    try:
        hash(parameters)
    except TypeError:  # those of a plug-in need not have one
        return _undeclared(algorithm, parameters, clients)
    return _known_undeclared(algorithm, parameters, clients)


def _undeclared(algorithm: Algorithm[Any], parameters: Any, clients: int) -> str:
    (first, numbers), (second, _) = (_run(algorithm, parameters, clients, seed) for seed in (0, 1))
    if first == second and (algorithm.draws or not numbers):
        return ""
    many = f"{numbers} numbers in {_EVENTS} events" if numbers else "at random"
    if numbers and numbers % _EVENTS == 0:
        each = numbers // _EVENTS
        try:
            more = _run(algorithm, parameters, clients + 1, 0)[1] // _EVENTS - each
        except BoundlabError:  # parameters of so many clients
            more = 0
        own, of_clients = each - more * clients, "n" if more == 1 else f"{more}·n"
        many = " + ".join([str(own)] * (own > 0 or not more) + [of_clients] * (more > 0))
        many += " numbers an event" if more or each > 1 else " number an event"
    return f"{algorithm.id} draws {many} and does not say so; its `draws` would have to declare what it draws"


_known_undeclared = lru_cache(maxsize=1024)(_undeclared)


def _run(algorithm: Algorithm[Any], parameters: Any, clients: int, seed: int) -> tuple[str, int]:
    """Return the events of a run, and how many numbers it drew."""
    delays, streams = (
        Renewal("deterministic", clients, Deterministic(1.0 / np.arange(1.0, clients + 1.0))),
        _Watched(seed),
    )
    run = algorithm.sample(parameters, delays, algorithm.policy(None, delays), streams, clients, _EVENTS)
    return repr((run.time.tolist(), run.actor.tolist(), run.detail)), sum(streams.drawn)


# Methods that draw by themselves whom they ask, as the textbook ones do. Delays only say how long iterations take.

_SUBSETS: Final = 100_000  # of clients, that one event of a program may choose from


def drawn_subset(name: str) -> Draw:
    """Return what is drawn where an option says how many of the clients count."""

    def when(parameters: Any, clients: int | None) -> bool:
        size = getattr(parameters, name)
        return size is not None and (clients is None or size < clients)

    return Draw("members", "which clients each round asks", (name,), when)


def subset_size(owner: str, sampled: int | None, clients: int) -> int:
    """Return how many of the clients count, all where an option says nothing.

    Raises
    ------
    SpecError
        If there are not as many.
    """
    if sampled is not None and sampled > clients:
        raise SpecError(f"{owner}: sampled={sampled}, but there are {clients} clients")
    return clients if sampled is None else sampled


def uniform_subset(streams: Streams, turn: int, clients: int, size: int) -> tuple[int, ...]:
    """Draw clients without replacement: those with the smallest of n uniform numbers."""
    return tuple(sorted(np.argsort(streams.uniforms(Stream.SCHEDULE, 0, turn, clients)[0])[:size].tolist()))


def uniform_subsets(owner: str, clients: int, size: int) -> list[tuple[int, ...]]:
    """Return all subsets of that size.

    Raises
    ------
    SpecError
        If there are too many.
    """
    count = comb(clients, size)
    if count > _SUBSETS:
        raise SpecError(f"{owner}: a round is one of {count} subsets of clients, more than {_SUBSETS}")
    return list(combinations(range(clients), size))


class Rounds(Algorithm[P]):
    """An algorithm that draws whom each iteration asks, by default all clients: its event is the end of one."""

    arrivals = False

    def drawn(self, parameters: P, streams: Streams, clients: int, count: int) -> Sequence[Event]:
        """Return the first ``count`` events of a trial, as the program has them; by default all clients are asked."""
        return [(SERVER,)] * count

    def asked(self, event: Event, place: int, clients: int) -> Sequence[int]:
        """Return the clients for which event ``place``, counted from 0, waits: all, or those that it names."""
        return range(clients) if event[0] == SERVER else event

    def ends(self, drawn: Sequence[Event], clock: Clock, clients: int) -> Iterable[float]:
        """Return when each event ends: each begins as the one before ends, and lasts as long as its slowest client."""
        return clock.ends([self.asked(event, place, clients) for place, event in enumerate(drawn)])

    def sample(
        self, parameters: P, delays: DelayModel, policy: ServerPolicy, streams: Streams, clients: int, count: int
    ) -> Events:
        """Return who is asked in each iteration, and when it ends."""
        drawn = self.drawn(parameters, streams, clients, count)
        return replace(
            self.drawn_events(parameters, drawn), time=np.array([*self.ends(drawn, delays.clock(streams), clients)])
        )

    def read_events(self, raw: object, clients: int, where: str) -> Events:
        """Read [[round end, "s"], …].

        Raises
        ------
        CaseError
            Naming the event by its place, counted from 1.
        """

        def one(row: list[Any], name: str) -> Event:
            if row[0] != "s":
                raise CaseError(f'{name}: {self.id} asks all clients in every round; write "s", not {row[0]!r}')
            return (SERVER,)

        return read_each(raw, where, '[round end, "s"], e.g. [[1, "s"], [2, "s"]]', (2, 2), one)


class MemberRounds(Rounds[P]):
    """An algorithm whose events are the clients that iterations ask, in their order.

    Parameters
    ----------
    form, example
        An event in words, and events as JSON.
    """

    form: str
    example: str

    @abstractmethod
    def wrong(self, members: Sequence[int], clients: int) -> str:
        """Return '' if these clients can be an event, else what follows its name in the message."""

    def drawn_events(self, parameters: P, drawn: Sequence[Event]) -> Events:
        """Return the iterations with the clients that they ask."""
        return super().drawn_events(parameters, [(SERVER, *who) for who in drawn])

    def as_drawn(self, events: Events) -> Sequence[Event]:
        """Return the clients of each iteration."""
        return events.detail

    def events_as_json(self, events: Events) -> list[list[Any]]:
        """Return [end, [clients]] for each iteration."""
        return [[time, list(members)] for time, members in zip(events.time.tolist(), events.detail, strict=True)]

    def read_events(self, raw: object, clients: int, where: str) -> Events:
        """Read [[end, [clients]], …].

        Raises
        ------
        CaseError
            Naming the event by its place, counted from 1.
        """

        def one(row: list[Any], name: str) -> Event:
            if not isinstance(row[0], list):
                raise CaseError(f"{name} must be {self.form}, got the clients {row[0]!r}")
            members = [read_client(i, clients, name) for i in row[0]]
            if why := self.wrong(members, clients):
                raise CaseError(name + why)
            return SERVER, *members

        return read_each(raw, where, f"{self.form}, e.g. {self.example}", (2, 2), one)


# Methods that throw a coin in each iteration, and on heads bring clients and server together.

HEADS: Final = 1


@final
@dataclass(frozen=True, slots=True)
class CoinParameters(Parameters):
    """α, unit (−1, 2), and the probability p of heads."""

    alpha: float = option.number("step size", above=0.0)
    p_c: float = option.number("probability that an iteration's coin shows heads, in (0, 1]", above=0.0, maximum=1.0)


class CoinAlgorithm(Rounds[CoinParameters]):
    """An algorithm whose event is the end of an iteration: who acts, and 1 for heads or 0 for tails.

    Parameters
    ----------
    names_client
        Whether each event names the client that its iteration asks; else all are asked ("s").
    """

    parameter_type = CoinParameters
    names_client: bool

    def read_events(self, raw: object, clients: int, where: str) -> Events:
        """Read [[time, actor, coin], …].

        Raises
        ------
        CaseError
            Naming the event by its place, counted from 1.
        """
        who = "client" if self.names_client else '"s"'
        form = f"[time, {who}, 1 for heads or 0], e.g. [[1, {'0' if self.names_client else who}, 1]]"

        def one(row: list[Any], name: str) -> Event:
            actor, coin = row
            if not self.names_client and actor != "s":
                raise CaseError(f'{name}: {self.id} asks all clients in every iteration; write "s", not {actor!r}')
            who = read_client(actor, clients, name) if self.names_client else SERVER
            if isinstance(coin, bool) or coin not in (0, HEADS):
                raise CaseError(f"{name}: the coin must be 1 (heads) or 0 (tails), got {coin!r}")
            return who, int(coin)

        return read_each(raw, where, form, (3, 3), one)


def coin_drawn(words: str) -> Draw:
    """Return the draw of the coins, where both sides can show."""
    return Draw("coins", words, ("p_c",), lambda parameters, _: parameters.p_c < 1.0)


# Sums over windows of consecutive server updates.


def window_sums(rows: Floats, window: int) -> Floats:
    """Return the sums over ``window`` consecutive rows, shape (rows − window + 1, columns).

    By blocks whose lengths are powers of two, so that the work grows like log(window), and without differences of
    running sums: a window of zeros sums to exactly 0.
    """
    count = len(rows) - window + 1
    total = np.zeros((count, rows.shape[1]))
    block, size, begin = np.asarray(rows, dtype=np.float64), 1, 0  # block[t]: sum of rows t … t + size − 1
    while size <= window:
        if window & size:
            total += block[begin : begin + count]
            begin += size
        if 2 * size <= window:
            block = block[:-size] + block[size:]
        size *= 2
    return total
