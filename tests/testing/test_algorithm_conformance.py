"""The suite notices an algorithm that does not keep what the interface promises, and says what is wrong."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from boundlab.algorithms import Algorithm, Averages, Parameters, option
from boundlab.algorithms.area import Area
from boundlab.algorithms.fedbuff import FedBuff
from boundlab.algorithms.gd import Gd
from boundlab.algorithms.incremental import Incremental
from boundlab.algorithms.sfedavg import SFedAvg
from boundlab.events import Events
from boundlab.options import Options
from boundlab.randomness import Streams
from boundlab.registry import lookup
from boundlab.tape import SERVER_MODEL, RecordAt, Tape, Uses, Writer
from boundlab.testing import conform

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


def decaying(self: FedBuff, *arguments: Any) -> Tape:
    """Compile to a server model of which a hundredth is lost at each update."""
    tape = FedBuff.schedule(self, *arguments)
    target = np.repeat(tape.affine.dst, np.diff(tape.affine.start))
    kept = np.where((target == SERVER_MODEL) & (tape.affine.src == SERVER_MODEL), 0.99, 1.0)
    return replace(tape, affine=replace(tape.affine, coef=kept * tape.affine.coef))


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


def fickle(self: FedBuff, parameters: Any, delays: Any, policy: Any, _streams: Any, clients: int, count: int) -> Events:
    return FedBuff.sample(self, parameters, delays, policy, Streams(count), clients, count)


def broken(kind: type[Algorithm[Any]], **changes: Any) -> Any:
    return type("Broken", (kind,), changes)()


def forgetting(keep: Callable[[Tape], Any]) -> Callable[..., Tape]:
    """Return FedBuff's compiler with some uses forgotten."""

    def schedule(self: FedBuff, *arguments: Any) -> Tape:
        tape = FedBuff.schedule(self, *arguments)
        kept, uses = keep(tape), tape.uses
        return replace(tape, uses=Uses(uses.update[kept], uses.version[kept], uses.weight[kept]))

    return schedule


WRONG_IN_SOME_SETTING: dict[str, tuple[Any, str]] = {
    "one forgotten use": (
        broken(FedBuff, schedule=forgetting(lambda tape: tape.descend.client[tape.uses.update] != 1)),
        r"moves the server, and those of the use table, differ: 1 and 0, at server update 0, update 1",
    ),
    "averages that are none": (
        broken(Area, averages=lambda *_: Averages(20, 0.03, 9, 0)),
        r"the local steps behind each iterate ≤ those that averages\(\) says fails: 1 is above 0, at iterate \d",
    ),
    "models that are no averages": (
        broken(FedBuff, stays_feasible=lambda *_: True),
        "0 ≤ the weights of passes in a server model, by stays",
    ),
    "weights of another objective": (
        broken(SFedAvg, objective_weights=lambda _self, _parameters, n: (Fraction(1, n),) * n),
        r"the clients' shares of a server update that nobody misses and objective_weights\(\) differ: 0.6 and 0.33",
    ),
    "weights that do not sum to 1": (
        broken(SFedAvg, objective_weights=lambda _self, _parameters, n: (Fraction(1, 2),) * n),
        r"objective_weights\(\) sum to 3/2, not to 1",
    ),
    "an assumption that is not met": (
        broken(FedBuff, why_not=lambda _self, name, *_: "" if name == "uniform-buffer" else "nothing is known of it"),
        "uniform-buffer is met; the updates of a client in a server update ≤ 1 fails: 2 is above 1",
    ),
    "single_client_values": (
        broken(FedBuff, single_client_values={"alpha2": 2}),
        "no setting of one client without delay has single_client_values: .* alpha2 is 1",
    ),
    "no examples": (
        broken(Gd, examples=lambda *_: {}, step_size_symbols=("M",)),
        "the first examples of its options, M=0.02, are refused",
    ),
}

BUFFER: dict[str, Any] = {"eta_l": 0.1, "count": 2}
SETTINGS: dict[Any, dict[str, Any]] = {FedBuff: BUFFER, Incremental: {"alpha": 0.1, "order": "shuffled"}}
WRONG: dict[str, tuple[type[Any], dict[str, Any], str]] = {
    "option that is not read": (Gd, {"parameter_type": Ghost}, "option ghost is declared, but never read"),
    "draw that is not declared": (
        Incremental,
        {"draws": ()},
        "incremental draws n numbers an event and does not say so",
    ),
    "option that is not declared": (FedBuff, {"read": curious}, "option secret is read, but not declared"),
    "default of the field": (
        Gd,
        {"parameter_type": Shifted, "step_size_symbols": ("alpha",)},
        "without the option size it is 2; its default is 1",
    ),
    "unknown options": (FedBuff, {"read": tolerant}, "an unknown option is not refused"),
    "local rate": (FedBuff, {"step_size_symbols": ("alpha",)}, "step_size_symbols names alpha, which is not an option"),
    "count": (Gd, {"server": "count"}, "server is 'count', but there is no option count"),
    "id": (FedBuff, {"id": " "}, "it has no id"),
    "answer": (
        FedBuff,
        {"why_not": lambda *_: "no"},
        "under exponential delays: why_not\\(iid-events\\) must be '' or a sentence, got 'no'",
    ),
    "more events": (
        FedBuff,
        {"sample": fickle},
        "sample\\(80\\) gives other events: their time differs",
    ),
    "fewer events": (
        FedBuff,
        {"events_as_json": lambda self, events: FedBuff.events_as_json(self, events)[1:]},
        r"events_as_json gives \d+ of \d+ events",
    ),
    "times": (
        FedBuff,
        {
            "events_as_json": lambda self, events: [
                [round(time, 1), *who] for time, *who in FedBuff.events_as_json(self, events)
            ]
        },
        "read_events of events_as_json gives other events: their time differs",
    ),
    "no progress": (
        FedBuff,
        {"schedule": schedule(lambda **_: {"iterations": 0})},
        r"\d+ events make 0 of 8 iterations",
    ),
    "no end": (
        FedBuff,
        {"schedule": schedule(lambda **_: {"iterations": 10**6})},
        r"of \d+ iterations 0 were asked for, \d+ were compiled",
    ),
    "tape": (FedBuff, {"schedule": early}, "do not compile: a server update uses an update that has not arrived"),
    "memory": (FedBuff, {"schedule": forgetful}, "the same events are compiled twice, and make two programs"),
    "records": (
        FedBuff,
        {"schedule": schedule(lambda **_: {"records": RecordAt()})},
        r"RecordAt\(\[0, 2, 3, 8\]\) shows, and those that it asks for, differ in shape: \(9,\) and \(4,\)",
    ),
    "averages": (
        FedBuff,
        {"schedule": schedule(lambda records, **_: {"records": replace(records, average=False)})},
        r"RecordAt\(average=True\) shows, and those that it asks for, differ in shape: \(9,\) and \(8,\)",
    ),
    "uses": (
        FedBuff,
        {"schedule": heavier},
        r"and those of the use table, differ: 0.5 and 1, at server update 0, update 1",
    ),
    "a model that decays": (
        FedBuff,
        {"schedule": decaying},
        r"the weight of x0 in the server's model and 1 differ: 0\.9\d+ and 1, at version \d",
    ),
    "not a number": (FedBuff, {"quantities": worse("lag", lambda _: float("nan"))}, "quantity lag is nan"),
    "staleness": (
        FedBuff,
        {"quantities": worse("tau_max", lambda tau: tau + 1)},
        "quantity tau_max and a count in the use table differ",
    ),
}


@pytest.mark.sweep(3)
@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_named(name: str) -> None:
    kind, changes, sentence = WRONG[name]
    calls[0] = 0
    with pytest.raises(AssertionError, match=sentence):
        conform.algorithm(broken(kind, **changes), SETTINGS.get(kind, {"alpha": 0.1}))


@pytest.mark.sweep(14)
@pytest.mark.parametrize("name", WRONG_IN_SOME_SETTING)
def test_what_is_wrong_in_some_setting_is_named(name: str) -> None:
    algorithm, sentence = WRONG_IN_SOME_SETTING[name]
    with pytest.raises(AssertionError, match=sentence):
        conform.algorithm(algorithm)


def test_options_that_do_not_fit_are_named() -> None:
    with pytest.raises(AssertionError, match=r"algorithm fedbuff: the options \{\} are refused: .*eta_l"):
        conform.algorithm(lookup("algorithms", "fedbuff"), {})
    with pytest.raises(AssertionError, match="one of 9 iterates is not finite; take smaller steps"):
        conform.algorithm(lookup("algorithms", "gd"), {"alpha": 1e100})


def test_symbols_may_be_counted_in_another_way_only_where_that_is_said() -> None:
    changes = {"quantities": worse("tau_max", lambda tau: tau + 1), "redefines": frozenset({"tau_max"})}
    conform.algorithm(broken(FedBuff, **changes), BUFFER)
