"""(Stochastic) gradient descent, the subgradient method, synchronous mini-batches and local SGD: x ← x − α_k·g."""

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal, final

import numpy as np
import sympy

from boundlab.algorithms import _option as option
from boundlab.algorithms._algorithm import (
    Rounds,
    drawn_subset,
    drawn_with,
    subset_size,
    uniform_subset,
    uniform_subsets,
)
from boundlab.algorithms._option import Parameters, StepFactor, StepSize, step_factor, step_size
from boundlab.algorithms._program import (
    X_S,
    AffineRow,
    Averages,
    Control,
    DescendRow,
    Event,
    EventLaw,
    EventProgram,
    Row,
    Share,
    Step,
)
from boundlab.arithmetic.rational import column
from boundlab.delays import DelayModel
from boundlab.errors import SpecError
from boundlab.events import SERVER, Events, read_client, read_each
from boundlab.randomness import Floats, Ints, Stream, Streams
from boundlab.tape import Initial, Tape

_VARIABLES: Final = ("k", "K")


@final
@dataclass(frozen=True, slots=True)
class GdParameters(Parameters):
    """The parameters of gradient descent: M local steps of size α_k, unit (−1, 2), an iteration.

    With ``iteration=step`` an iteration is one local step: before every M of them the models are averaged, and x_s is
    the mean of the clients' models at any time. With ``sampled`` all continue from the mean of so many of them (FedAvg
    with partial participation). ``all`` takes the mean of the clients' local results, ``cyclic`` and
    ``uniform`` that of one, in turns or drawn, and ``mean`` the step along the mean of all gradients: on f + h the
    proximal step of the mean. What ``decay`` says multiplies α; with ``linear`` α_k is 0 from K on.
    """

    step: StepSize = step_size("constant step size, or the α of decay")
    M: int = option.integer("local steps (default 1)", 1, minimum=1, maximum=10**6)
    sampling: Literal["all", "cyclic", "uniform", "mean"] = option.choice(
        "all (default), cyclic or uniform: whose gradient an iteration takes; mean: one step along the mean of all "
        "gradients, on f + h the proximal step of the mean",
        ("all", "cyclic", "uniform", "mean"),
    )
    iteration: Literal["pass", "step"] = option.choice(
        "pass (default): M local steps and their mean, or step: one local step, x_s the mean of the clients' models",
        ("pass", "step"),
    )
    decay: StepFactor = step_factor(  # noqa: RUF009  (a field)
        "decay",
        "none (default), sqrt: alpha/√(k+1), linear: alpha·(K−k)/(K+1), or any formula of k and K times alpha",
        {"none": "1", "sqrt": "1/sqrt(k + 1)", "linear": "(K - k)/(K + 1)"},
        _VARIABLES,
        "1/(k + 2)",
    )
    sampled: int | None = option.integer(
        "clients whose models are averaged, drawn uniformly without replacement (default all)", None, minimum=1
    )
    K: int | None = option.integer("horizon that decay reads, as linear does", None, minimum=1)

    def check(self, owner: str) -> None:
        """Refuse a decay without its α or its horizon, and to count the steps of one client alone."""
        if self.iteration == "step" and self.sampling != "all":
            raise SpecError(f"{owner}: iteration=step counts local steps of all clients, and sampling={self.sampling}")
        if self.sampled is not None and self.sampling != "all":
            raise SpecError(
                f"{owner}: sampled={self.sampled} is of rounds of all clients, and sampling={self.sampling}"
            )
        if self.sampling == "mean" and self.M > 1:
            raise SpecError(f"{owner}: sampling=mean is one step along the mean of all gradients, and M={self.M}")
        if not self.decay.constant and self.step.d is not None:
            raise SpecError(f"{owner}: decay={self.decay} goes with alpha, not with c and d")
        if self.decay.reads("K") != (self.K is not None):
            raise SpecError(f"{owner}: a decay that reads K, such as linear, and its horizon K go together")

    def at(self, k: int) -> float:
        """Return α_k."""
        size = self.step.of(k)
        if self.decay.constant:
            return size
        # No run that was told its horizon takes a step from there on.
        return 0.0 if self.K is not None and k >= self.K else self.decay.times(size, k=k, K=self.K)

    def sizes(self, k: Ints) -> Floats:
        """Return α_k for an array of iterations."""
        return self.step.at(k) if self.decay.constant else column([self.at(one) for one in k.tolist()])

    @property
    def of_all(self) -> bool:
        """True if every iteration is one of all clients."""
        return self.sampling in ("all", "mean")

    @property
    def steps(self) -> int:
        """Local steps of a client in an iteration."""
        return 1 if self.iteration == "step" else self.M

    def averaged(self, k: int) -> bool:
        """Return whether all clients begin iteration k with the server's model."""
        return self.iteration == "pass" or k % self.M == 0

    def size(self, k: int, clients: int) -> int | None:
        """Return how many clients are drawn for the model that iteration k leaves; None: it is of all of them.

        Raises
        ------
        SpecError
            If there are not as many.
        """
        size = subset_size("gd", self.sampled, clients)
        return None if size == clients or not self.averaged(k + 1) else size


@final
class Gd(Rounds[GdParameters]):
    """Gradient descent; each event is one iteration, of all clients ("s") or of the one that it names."""

    id = "gd"
    summary = "(stochastic) gradient or subgradient descent on f, with the gradients of all clients or of one"
    parameter_type = GdParameters
    step_size_symbols = ("alpha", "c")
    single_client_values = MappingProxyType({})
    rule, rule_variables = "decay", _VARIABLES
    draws = (drawn_with("asked", "which client each iteration asks", "sampling", "uniform"), drawn_subset("sampled"))

    def step_factor(self, parameters: GdParameters, tape: Callable[[], Tape]) -> sympy.Expr:
        """Return what decay says."""
        if parameters.decay.reads("K"):
            raise SpecError(
                "gd: a decay that reads K is another one for each horizon; alpha_at(k) takes one of k alone"
            )
        return parameters.decay.formula

    def averages(self, parameters: GdParameters, clients: int) -> Averages | None:
        """Each iteration is the mean of passes of all clients, or the pass of one; of single steps not all are."""
        if parameters.steps != parameters.M:
            return None
        largest = self.largest_step(parameters, clients)
        return Averages(parameters.M, np.inf if largest is None else largest, every=1, ahead=0)

    def on_composite(self, parameters: GdParameters, clients: int) -> str:
        """Say so of several clients: the mean of their proximal steps is not the proximal step of the mean."""
        if clients == 1 or parameters.sampling != "all":
            return ""
        takes = "the mean of the clients' proximal steps, not the proximal step of the mean"
        return f"gd takes {takes} (sampling=mean does)"

    def along_mean(self, parameters: GdParameters) -> bool:
        """Return what sampling says."""
        return parameters.sampling == "mean"

    def stays_feasible(self, parameters: GdParameters, clients: int) -> bool:
        """Models are means of results of local steps, however these are counted."""
        return True

    def stays_on_set(self, parameters: GdParameters, clients: int) -> bool:
        """Gradients are taken at such means, and at results of local steps."""
        return True

    def largest_step(self, parameters: GdParameters, clients: int) -> float | None:
        """Return the first one, where they fall."""
        return parameters.at(0) if parameters.decay.falls("k") else None

    def program(self, parameters: GdParameters, clients: int) -> "GdProgram":
        """Return one iteration."""
        return GdProgram(parameters, clients)

    def drawn(self, parameters: GdParameters, streams: Streams, clients: int, count: int) -> list[Event]:
        """Return rounds, with those that are drawn for them, or who is asked one after the other."""
        if parameters.of_all:
            sizes = [parameters.size(k, clients) for k in range(count)]
            return [(SERVER, *(uniform_subset(streams, k, clients, one) if one else ())) for k, one in enumerate(sizes)]
        if parameters.sampling == "cyclic":
            return [(k % clients,) for k in range(count)]
        asked = np.floor(streams.uniforms(Stream.SCHEDULE, 0, 0, count)[0] * clients).astype(np.int64)
        return [(one,) for one in asked.tolist()]

    def why_not(self, assumption: str, parameters: GdParameters, delays: DelayModel) -> str:
        """Say whether each iteration asks one client, drawn uniformly: an option says who is asked, no delay does."""
        if assumption != "uniform-sampling":
            return super().why_not(assumption, parameters, delays)
        who = parameters.sampling
        return "" if who == "uniform" else f"sampling={who} does not draw one client at a time"

    def read_events(self, raw: object, clients: int, where: str) -> Events:
        """Read [[time, "s"], …] for sampling=all and mean, [[time, "s", client, client, …], …] where clients are drawn.

        For other values of sampling [[time, client], …].
        """
        form = '[time, "s"], with the clients behind it where some are drawn, or [time, client]'

        def one(row: list[Any], name: str) -> Event:
            return read_client(row[0], clients, name, server=True), *(read_client(i, clients, name) for i in row[1:])

        return read_each(raw, where, form, (2, 2 + clients), one)


@final
class GdProgram(EventProgram):
    """One iteration; control: whose turn it is where clients are asked in turns, or which local step comes next."""

    draws = True

    def __init__(self, parameters: GdParameters, clients: int) -> None:
        self._parameters, self._clients = parameters, clients
        self._named = parameters.step.d is not None  # whether rows name the k of their step
        self.initial = (Initial.START, *[Initial.UNWRITTEN] * clients)

    def compiled(self) -> "GdProgram":
        """Return the program whose rows name the k of every step that is not constant."""
        found = copy(self)
        if self.clock(0) is not None:
            found._named, found.sizes = True, self._parameters.sizes
        return found

    def opening(self) -> tuple[tuple[Row, ...], Control]:
        """Return nothing: an iteration begins with the model that the one before left."""
        return (), Control(shared=0)

    def choices(self, control: Control, law: EventLaw[Share]) -> list[tuple[Event, Share]]:
        """Return all clients together, the next one, or anybody."""
        match self._parameters.sampling:
            case "all" | "mean":
                return law.equally(self._rounds(control))
            case "cyclic":
                return law.equally([(control.shared,)])
        return law.equally([(client,) for client in range(self._clients)])

    def possible(self, control: Control, event: Event, clients: int) -> bool:
        """Return whether it can be drawn; who is drawn together stands in no order."""
        return super().possible(control, (event[0], *sorted(event[1:])), clients)

    def _size(self, control: Control) -> int | None:
        return self._parameters.size(control.shared if self._parameters.iteration == "step" else 0, self._clients)

    def _rounds(self, control: Control) -> list[Event]:
        """Return the one event of all clients, or those of all that may be drawn."""
        size = self._size(control)
        if size is None:
            return [(SERVER,)]
        return [(SERVER, *drawn) for drawn in uniform_subsets("gd", self._clients, size)]

    def clock(self, number: int) -> int | None:
        """Return k where α_k diminishes."""
        constant = self._parameters.step.d is None and self._parameters.decay.constant
        return None if constant else number

    def event(self, control: Control, event: Event, number: int) -> Step:
        """Take the mean of passes of all clients, or the pass of one.

        Raises
        ------
        SpecError
            If the event is not one that ``sampling`` or ``sampled`` says.
        """
        parameters, drawn = self._parameters, event[1:]
        if (event[0] == SERVER) != parameters.of_all:
            asks = 'all clients ("s")' if parameters.of_all else "one client"
            raise SpecError(f"sampling={parameters.sampling} asks {asks}, got {_named(event[0])}")
        size = (self._size(control) if parameters.of_all else None) or 0
        if len(drawn) != size or len({*drawn}) != size:
            raise SpecError(f"{size} are drawn for it, and it names the clients {list(drawn)}")
        who = range(self._clients) if event[0] == SERVER else event
        own, k = control.shared != 0 and event[0] == SERVER, number if self._named else None
        alpha, members = parameters.at(number), drawn or who
        passes = [DescendRow(1 + i, 1 + i if own else X_S, i, parameters.steps, alpha, k) for i in who]
        uses = tuple((1 + i, 1.0 / len(members)) for i in members)
        mean = AffineRow(X_S, tuple((weight, register) for register, weight in uses))
        turn = (event[0] + 1) % self._clients if parameters.sampling == "cyclic" else 0
        if parameters.iteration == "step":
            turn = (control.shared + 1) % parameters.M
        dropped = tuple(1 + i for i in who if i not in members)
        return Step((*passes, mean), Control(shared=turn), True, uses, dropped)


def _named(actor: int) -> str:
    return '"s"' if actor == SERVER else f"client {actor}"


GD = Gd()
