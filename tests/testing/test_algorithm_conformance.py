"""The suite notices an algorithm that does not keep what the interface promises, and says what is wrong."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from boundlab.algorithms import Algorithm, Parameters, option
from boundlab.algorithms.fedbuff import FedBuff
from boundlab.algorithms.gd import Gd
from boundlab.algorithms.incremental import Incremental
from boundlab.case.build import build_delays
from boundlab.events import Events
from boundlab.options import Options
from boundlab.randomness import Streams
from boundlab.registry import lookup
from boundlab.tape import SERVER_MODEL, RecordAt, Tape, Writer
from boundlab.testing import conform


def test_delay_models_and_a_server_policy_may_be_given() -> None:
    delays = [build_delays(kind, {}, 2) for kind in ("weibull", "two-speed")]
    options = {"alpha": 0.1, "count": 2, "reply": "post"}
    conform.algorithm(lookup("algorithms", "area"), options, clients=2, delays=delays, server="count:every=2")


# ---- what is wrong is named -------------------------------------------------------------------------------------


def schedule(change: Callable[..., dict[str, Any]]) -> Callable[..., Tape]:
    """Return FedBuff's compiler with some arguments changed."""

    def broken(
        self: FedBuff, parameters: Any, events: Events, clients: int, records: RecordAt, iterations: int
    ) -> Tape:
        given = {"events": events, "records": records, "iterations": iterations}
        new = given | change(**given)
        return FedBuff.schedule(self, parameters, new["events"], clients, new["records"], new["iterations"])

    return broken


def heavier(self: FedBuff, *arguments: Any) -> Tape:
    """Compile with weights in the use table that are not those of the tape."""
    tape = FedBuff.schedule(self, *arguments)
    return replace(tape, uses=replace(tape.uses, weight=2.0 * tape.uses.weight))


def early(self: FedBuff, parameters: Any, events: Events, clients: int, records: RecordAt, iterations: int) -> Tape:
    """Use an update that nobody has received."""
    writer = Writer(events, clients, records, iterations)
    for event in range(min(iterations, len(events))):
        writer.begin(event)
        to = writer.register()
        writer.use(writer.descend(to, SERVER_MODEL, 0, 1, 0.1), 1.0)
        writer.replace_model((1.0, to))
        writer.end()
    return writer.tape()


def forgetful(self: FedBuff, *arguments: Any) -> Tape:
    """Compile to steps that get smaller from call to call."""
    calls[0] += 1
    parameters, *rest = arguments
    return FedBuff.schedule(self, replace(parameters, eta_g=1.0 / calls[0]), *rest)


calls = [0]


@dataclass(frozen=True, slots=True)
class Ghost(Parameters):
    """An option that its reader never reads."""

    alpha: float = option.number("step size", above=0.0)
    ghost: int = option.custom("says boo", lambda *_: 1, 1)


@dataclass(frozen=True, slots=True)
class Misprint(Parameters):
    """Help that says another default."""

    alpha: float = option.number("step size", above=0.0)
    mode: str = option.choice("fast or slow (default)", ("fast", "slow"))


@dataclass(frozen=True, slots=True)
class Shifted(Parameters):
    """A reader that does not give the field's default."""

    alpha: float = option.number("step size", above=0.0)
    size: int = option.custom("buffer", lambda options, name: options.integer(name, 2), 1)


def curious(self: Algorithm[Any], options: Options) -> Any:
    options.has("secret")
    return type(self).__mro__[1].read(self, options)  # type: ignore[attr-defined]


def tolerant(self: Algorithm[Any], options: Options) -> Any:
    known = {key: value for key, value in options.values.items() if key in self.parameters}
    found = Options(options.owner, known)
    read = type(self).__mro__[1].read(self, found)  # type: ignore[attr-defined]
    options.seen |= found.seen
    return read


def worse(key: str, change: Callable[[float], float]) -> Callable[..., dict[str, float]]:
    def quantities(self: FedBuff, *arguments: Any) -> dict[str, float]:
        found = FedBuff.quantities(self, *arguments)
        return {**found, key: change(found.get(key, 0.0))}

    return quantities


def shorter(self: FedBuff, events: Events) -> list[list[Any]]:
    return FedBuff.events_as_json(self, events)[1:]


def rounded(self: FedBuff, events: Events) -> list[list[Any]]:
    return [[round(time, 1), *who] for time, *who in FedBuff.events_as_json(self, events)]


def fickle(self: FedBuff, parameters: Any, delays: Any, policy: Any, _streams: Any, clients: int, count: int) -> Events:
    return FedBuff.sample(self, parameters, delays, policy, Streams(count), clients, count)


BUFFER: dict[str, Any] = {"eta_l": 0.1, "count": 2}
SETTINGS: dict[Any, dict[str, Any]] = {FedBuff: BUFFER, Incremental: {"alpha": 0.1, "order": "shuffled"}}
WRONG: dict[str, tuple[type[Any], dict[str, Any], str]] = {
    "option that is not read": (Gd, {"parameter_type": Ghost}, "option ghost is declared, but never read"),
    "draw that is not declared": (
        Incremental, {"draws": ()}, "trials under deterministic delays differ, and draws declares nothing",
    ),
    "option that is not declared": (FedBuff, {"read": curious}, "option secret is read, but not declared"),
    "default in the help": (
        Gd, {"parameter_type": Misprint, "local_rates": ("alpha",)},
        "the help of mode says that slow is the default, but mode=slow differs",
    ),
    "default of the field": (
        Gd, {"parameter_type": Shifted, "local_rates": ("alpha",)}, "without the option size it is 2; its default is 1"
    ),
    "unknown options": (FedBuff, {"read": tolerant}, "an unknown option is not refused"),
    "local rate": (FedBuff, {"local_rates": ("alpha",)}, "local_rates names alpha, which is no option"),
    "count": (Gd, {"server": "count"}, "server is 'count', but there is no option count"),
    "id": (FedBuff, {"id": " "}, "it has no id"),
    "answer": (
        FedBuff, {"why_not": lambda *_: "no"},
        "under exponential delays: why_not\\(iid-events\\) must be '' or a sentence, got 'no'",
    ),
    "more events": (FedBuff, {"sample": fickle}, "sample\\(80\\) gives other events: their time differs"),
    "fewer events": (
        FedBuff, {"events_as_json": shorter}, r"events_as_json gives \d+ of \d+ events"
    ),
    "times": (
        FedBuff, {"events_as_json": rounded}, "read_events of events_as_json gives other events: their time differs"
    ),
    "no progress": (
        FedBuff, {"schedule": schedule(lambda **_: {"iterations": 0})}, r"\d+ events make 0 of 8 iterations"
    ),
    "no end": (
        FedBuff, {"schedule": schedule(lambda **_: {"iterations": 10**6})},
        r"of \d+ iterations 0 were asked for, \d+ were compiled",
    ),
    "tape": (FedBuff, {"schedule": early}, "do not compile: a server update uses an update that has not arrived"),
    "memory": (FedBuff, {"schedule": forgetful}, "the same events are compiled twice, and make two programs"),
    "records": (
        FedBuff, {"schedule": schedule(lambda **_: {"records": RecordAt()})},
        r"RecordAt\(\[0, 2, 3, 8\]\) shows the iterations \[0, 1, 2, 3, 4, 5, 6, 7, 8\], not \[0, 2, 3, 8\]",
    ),
    "averages": (
        FedBuff,
        {"schedule": schedule(lambda records, **_: {"records": replace(records, average=False)})},
        r"RecordAt\(average=True\) shows the iterations \[0, .*\], not \[1, ",
    ),
    "uses": (
        FedBuff, {"schedule": heavier}, r"the sum of weight·\(end − start\) over the use table and x_s − x_0 differ"
    ),
    "not a number": (FedBuff, {"quantities": worse("lag", lambda _: float("nan"))}, "quantity lag is nan"),
    "staleness": (
        FedBuff, {"quantities": worse("tau_max", lambda tau: tau + 1)},
        "quantity tau_max and a count in the use table differ",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_named(name: str) -> None:
    kind, changes, sentence = WRONG[name]
    calls[0] = 0
    broken = type("Broken", (kind,), changes)()
    with pytest.raises(AssertionError, match=sentence):
        conform.algorithm(broken, SETTINGS.get(kind, {"alpha": 0.1}))


def test_options_that_do_not_fit_are_named() -> None:
    with pytest.raises(AssertionError, match=r"algorithm fedbuff: the options \{\} are refused: .*eta_l"):
        conform.algorithm(lookup("algorithms", "fedbuff"), {})
    with pytest.raises(AssertionError, match="one of 9 iterates is not finite; take smaller steps"):
        conform.algorithm(lookup("algorithms", "gd"), {"alpha": 1e100})


def test_symbols_may_be_counted_in_another_way_only_where_that_is_said() -> None:
    changes = {"quantities": worse("tau_max", lambda tau: tau + 1), "recounts": frozenset({"tau_max"})}
    conform.algorithm(type("Other", (FedBuff,), changes)(), BUFFER)
