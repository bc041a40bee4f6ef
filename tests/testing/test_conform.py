"""Everything that is registered keeps what its interface promises, and the suite kills what does not."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from own_problem import FAMILY, MIXED, Bowls, build
from problem_makers import make

from boundlab.algorithms import Algorithm, Averages, Staleness
from boundlab.algorithms.area import Area
from boundlab.algorithms.fedasync import FedAsync
from boundlab.algorithms.fedbuff import FedBuff
from boundlab.algorithms.gd import Gd
from boundlab.algorithms.sfedavg import SFedAvg
from boundlab.case.build import build_delays
from boundlab.delays import DELAYS, DelayLaw, DelayModel, DelayType, IndependentEvents, Renewal
from boundlab.errors import SpecError
from boundlab.events import Events
from boundlab.metrics import LAST, METRICS, Over
from boundlab.objective import Constant, FullGradients, Optimum, Problem
from boundlab.options import Options
from boundlab.registry import lookup, registered
from boundlab.tape import RecordAt, Tape, Uses
from boundlab.testing import conform
from boundlab.theorems import Theorem, load_theorem

KINDS = ("algorithms", "problems", "delays", "theorems", "metrics")
EVERYTHING = [check for kind in KINDS for one in registered(kind).values() for check in conform.checks(one)]
EXAMPLE = Path(__file__).parents[1] / "plugin_example"
TYPES = {one.id: one for one in DELAYS}
RENEWAL = [name for name in TYPES if name not in ("iid", "trace")]


@pytest.mark.parametrize("check", EVERYTHING)
def test_everything_registered_conforms(check: conform.Check) -> None:
    check()


@pytest.mark.nightly
@pytest.mark.parametrize("name", registered("algorithms"))
def test_every_algorithm_conforms_in_many_combinations_of_its_options(name: str) -> None:
    conform.algorithm(lookup("algorithms", name), drawn=60)


@pytest.mark.nightly
@pytest.mark.parametrize("name", RENEWAL)
@pytest.mark.parametrize("rates", [[100.0], [0.01, 30.0], [1.0, 1.0, 1.0, 1.0, 1.0]], ids=str)
def test_every_law_conforms_at_other_rates(name: str, rates: list[float]) -> None:
    conform.delays(build_delays(name, {"rates": rates}, len(rates)))


def test_a_trace_conforms(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    times, who = np.cumsum(rng.exponential(size=3000)), rng.choice(3, size=3000, p=[0.5, 0.3, 0.2])
    file = tmp_path / "trace.csv"
    file.write_text("".join(f"{time!r},{client}\n" for time, client in zip(times.tolist(), who.tolist(), strict=True)))
    conform.delays(build_delays("trace", {"file": str(file)}, 3))


def test_checks_have_names_of_their_own_which_pytest_shows() -> None:
    names = [check.name for check in EVERYTHING]
    assert len(set(names)) == len(names)
    assert all(check.__name__ == check.name for check in EVERYTHING)  # type: ignore[attr-defined]
    with pytest.raises(SpecError, match=r"an algorithm, a problem, a delay model, a theorem or a metric.*, not int"):
        conform.checks(3)


def test_settings_and_surroundings_may_be_given() -> None:
    model = build_delays("weibull", {}, 2)
    found = conform.checks(lookup("algorithms", "area"), options={"alpha": 0.1, "M": 3}, clients=2, delays=[model])
    assert not any("option has an effect" in check.name for check in found)
    for check in found:
        check()


def test_an_example_that_is_refused_is_named() -> None:
    wrong = "the example {'rates': [1.0]} is refused: delays gamma: 1 rates for 3 clients; give one a client; declare"
    with pytest.raises(AssertionError, match=re.escape(f"delays gamma with rates=[1.0]: {wrong}")):
        conform.delays(replace(TYPES["gamma"], examples=({"rates": [1.0]},)))
    wrong = "problem bowls, example 1: the example {} is refused: problem bowls needs the option A; declare"
    with pytest.raises(AssertionError, match=re.escape(wrong)):
        conform.problem(replace(FAMILY, examples=({},)))


def test_an_example_package_passes_from_its_own_pytest(tmp_path: Path) -> None:
    package = shutil.copytree(EXAMPLE, tmp_path / "package")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--color=no"]
    command += ["-c", os.devnull, "--rootdir", str(tmp_path), "-rA", str(package / "conformance.py")]
    places = {"BOUNDLAB_PLUGINS": str(package / "example.py"), "PYTHONPATH": str(package)}
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **places}, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "test_it_conforms[algorithm myrennala: every arrival is used, kept or dropped explicitly]" in done.stdout
    assert "test_it_conforms[theorem example.best: both sides have the same units]" in done.stdout


# ---- problems ---------------------------------------------------------------------------------------------------


def rebuilt(good: Any, **changes: Any) -> Any:
    """Return a problem some of whose methods are others."""
    kind = type("Broken", (type(good),), changes)
    return kind(**{field.name: getattr(good, field.name) for field in fields(good)})


def bowls(**options: Any) -> Bowls:
    return build(Options("problem bowls", {**MIXED, **options}))


def constants(name: str, factor: float) -> Callable[[Any], Mapping[str, Constant]]:
    def changed(self: Problem) -> Mapping[str, Constant]:
        known = type(self).__mro__[1].constants(self)  # type: ignore[attr-defined]
        new = {name: replace(known[name], value=factor * known[name].value)}
        return {**known, **new, **({"L_sq": Constant(new["L"].value ** 2, "upper", "")} if name == "L" else {})}

    return changed


SMOOTH = [name for name, one in registered("problems").items() if name not in ("hinge", "lad", "lad-regression")]


@pytest.mark.parametrize("name", [name for name in SMOOTH if name != "max-affine"])
def test_a_smoothness_constant_that_is_100_times_too_small_is_killed(name: str) -> None:
    for example in registered("problems")[name].examples:
        good = make(name, **example)
        with pytest.raises(AssertionError, match=rf"problem {name}: .*L"):
            conform.problem(rebuilt(good, constants=constants("L", 0.01)))


def newton(self: Problem) -> Optimum:
    """Return an undamped Newton step from x0 on √(1 + x²) − 1: x − x(1 + x²) = −x³."""
    x = -(np.asarray(self.x0) ** 3)
    return Optimum(x, self.value(x), 1e-9, 1e-9, "Newton")


def test_an_undamped_minimiser_with_gap_20_is_killed() -> None:
    good = make("pseudo-huber", c=[0.0], delta=1.0, x0=22.0 ** (1 / 3))
    bad = rebuilt(good, optimum=newton)
    assert bad.optimum().value - good.optimum().value == pytest.approx(20.0, abs=1.1)
    with pytest.raises(AssertionError, match=r"f\* − gap ≤ f\(x\) fails: 21\.\d+ is above"):
        conform.problem(bad)


def test_a_gap_that_is_too_small_for_the_slope_is_killed() -> None:
    # ½(x − 1)² at 1.1: the gap is 0.005, and the slope 0.1 says that it is at least that.
    good = make("quadratic", A=[[[1.0]]], b=[[1.0]], x0=2.0)

    def near(self: Problem, gap: float) -> Optimum:
        x = np.array([1.1])
        return Optimum(x, self.value(x), gap, 0.1 + 1e-12, "guess")

    def start(self: Problem) -> Mapping[str, Constant]:
        return {**type(good).constants(self), "zeta": Constant(0.2, "upper", "by hand")}

    conform.problem(rebuilt(good, optimum=lambda self: near(self, 0.005 + 1e-12), constants=start, rational=no_twin))
    with pytest.raises(AssertionError, match=r"‖∇f\(x̂\)‖ ≤ √\(2·L·gap\) of optimum\(\) fails: 0.1 is above 0.09"):
        conform.problem(rebuilt(good, optimum=lambda self: near(self, 0.0045), constants=start, rational=no_twin))


def no_twin(*_: object) -> None:
    """Return no problem in rational numbers."""


WRONG_PROBLEMS: dict[str, tuple[dict[str, Any], str]] = {
    "mu": ({"constants": constants("mu", 1.05)}, "mu"),
    "local step": (
        {"descend": lambda self, client, x, size: x.__isub__(1.01 * size * self.gradient(client, x))},
        r"descend\(0, x, 0.25\) and x − 0.25·gradient\(0, x\) differ",
    ),
    "scaled": (
        {"scaled": lambda self, factors: replace(bowls(), A=self.A * float(factors[0]))},
        r"gradient\(1, x\) of scaled\(\) and 1 times the problem's differ",
    ),
    "distance": (
        {"optimum": lambda self: replace(Bowls.optimum(self), x=Bowls.optimum(self).x + 1e-3,
                                         value=self.value(Bowls.optimum(self).x + 1e-3), gap=1e-3)},
        r"‖∇f\(x̂\)‖ ≤ L·distance of optimum\(\) fails|‖∇f_i\(x\*\)‖ ≤ L·zeta",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG_PROBLEMS)
def test_what_is_wrong_with_a_problem_is_named(name: str) -> None:
    changes, sentence = WRONG_PROBLEMS[name]
    with pytest.raises(AssertionError, match=sentence):
        conform.problem(rebuilt(bowls(), **changes), FAMILY)


@dataclass
class Shifted(FullGradients):
    """Noise that is not of mean 0, or larger than is said."""

    by: float = 0.0
    spread: float = 0.0

    def draws(self, clients: Any, updates: Any, steps: int) -> Any:
        signs = np.random.default_rng([*clients, *updates]).choice([-1.0, 1.0], size=(len(clients), steps))
        return [tuple(row) for row in signs]

    def step(self, x: Any, client: int, draw: Any, step_size: float) -> None:
        x -= step_size * (self.problem.gradient(client, x) + self.by + self.spread * draw)


@pytest.mark.parametrize(
    ("by", "spread", "sentence"),
    [
        (0.0, 0.4, r"E‖g_0 − ∇f_0‖² ≤ sigma² fails: the mean of 1500 draws is 0.32, above 0.25"),
        (0.3, 0.1, r"the mean of 1500 stochastic gradients of client 0 is 0.42\d* off its gradient; with sigma = 0.5"),
    ],
)
def test_a_bias_and_too_much_noise_are_killed(by: float, spread: float, sentence: str) -> None:
    def oracle(self: Problem, streams: Any) -> Shifted:
        found = Shifted(self, by, spread)
        found.draws = lambda clients, updates, steps: [  # type: ignore[method-assign]
            tuple(np.random.default_rng([c, u, streams.seed]).choice([-1.0, 1.0], size=steps))
            for c, u in zip(clients, updates, strict=True)
        ]
        return found

    with pytest.raises(AssertionError, match=sentence):
        conform.problem(rebuilt(bowls(), oracle=oracle, noiseless=False), FAMILY)


# ---- algorithms -------------------------------------------------------------------------------------------------


def broken(kind: type[Algorithm[Any]], **changes: Any) -> Any:
    return type("Broken", (kind,), changes)()


def forgetting(keep: Callable[[Tape], Any]) -> Callable[..., Tape]:
    """Return FedBuff's compiler with some uses forgotten."""

    def schedule(self: FedBuff, *arguments: Any) -> Tape:
        tape = FedBuff.schedule(self, *arguments)
        kept, uses = keep(tape), tape.uses
        return replace(tape, uses=Uses(uses.update[kept], uses.version[kept], uses.weight[kept]))

    return schedule


def with_staleness(kind: type[Algorithm[Any]], field: str, s: Callable[[Any], Any]) -> Callable[..., Tape]:
    """Return a compiler that takes another staleness function than it is told."""

    def schedule(self: Any, parameters: Any, *rest: Any) -> Tape:
        return kind.schedule(self, replace(parameters, **{field: s(getattr(parameters, field))}), *rest)

    return schedule


def steeper(s: Staleness) -> Staleness:
    return replace(s, kind="polynomial", a=2.0) if s.kind == "inverse" else s


def silent(self: Any, *arguments: Any) -> Tape:
    tape = type(self).__mro__[1].schedule(self, *arguments)  # type: ignore[attr-defined]
    return replace(tape, notes={key: value for key, value in tape.notes.items() if key != "dropped"})


def few(*_: object) -> dict[str, tuple[str, ...]]:
    """Return fewer examples than FedBuff has, so that a search among them ends sooner."""
    return {"count": ("1", "2"), "reply": ("post", "pre", "wait"), "staleness": ("constant", "inverse", "polynomial")}


def deaf(self: Any, options: Options) -> Any:
    return replace(FedBuff.read(self, options), reply="post")


WRONG_ALGORITHMS: dict[str, tuple[Any, str]] = {
    "one forgotten use": (
        broken(FedBuff, schedule=forgetting(lambda tape: tape.descend.client[tape.uses.update] != 1)),
        r"the sum of weight·\(end − start\) over the use table and x_s − x_0 differ",
    ),
    "no use at all": (
        broken(FedBuff, schedule=forgetting(lambda tape: tape.uses.version < 0)),
        r"algorithm fedbuff with eta_l=0.02: every server update is a sum of .* and the use table is empty: call "
        "writer.use for each",
    ),
    "a step that ignores the staleness option": (
        broken(FedBuff, examples=few, schedule=with_staleness(FedBuff, "staleness", lambda _: Staleness())),
        "option staleness has no effect: constant, inverse, polynomial make the same runs",
    ),
    "a step that ignores one staleness function": (
        broken(FedBuff, schedule=with_staleness(
            FedBuff, "staleness", lambda s: Staleness() if s.kind == "inverse" else s)),
        "option staleness=inverse is (ignored|not the function)",
    ),
    "another staleness function": (
        broken(FedAsync, schedule=with_staleness(FedAsync, "s", steeper)),
        r"option s=inverse is not the function of staleness that it says: update \d+ arrives \d+ versions late and "
        r"enters with 0\.\d+ times its constant weight, where s\(\d+\) = 0\.\d+",
    ),
    "an arrival that is dropped silently": (
        broken(type(lookup("algorithms", "fedfa")), schedule=silent),
        r'update \d+, of client \d, arrives with event \d+, and nothing reads it; .* writer.note\("dropped", \d+\)',
    ),
    "an option without effect": (
        broken(FedBuff, examples=few, read=deaf), "option reply has no effect: post, pre, wait make the same runs"
    ),
    "averages that are none": (
        broken(Area, averages=lambda *_: Averages(20, 0.03, 9, 0)), r"averages\(\) says at most 0 local steps behind"
    ),
    "a program of another algorithm": (
        broken(FedAsync, program=lambda self, parameters, n: FedAsync.program(self, replace(parameters, beta=0.3), n)),
        "the iterates of program\\(\\) and of the tape differ",
    ),
    "models that are no averages": (
        broken(FedBuff, stays_feasible=lambda *_: True), "0 ≤ the weights of passes in a server model, by stays"
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
        "uniform-buffer is met, but a client is twice in a server update",
    ),
    "alone": (
        broken(FedBuff, alone={"alpha2": 2}), "no setting of one client without delay is as alone says: .* alpha2 is 1"
    ),
    "no examples": (
        broken(Gd, examples=lambda *_: {}, local_rates=("M",)), "the first examples of its options, M=0.02, are refused"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG_ALGORITHMS)
def test_what_is_wrong_with_an_algorithm_is_named(name: str) -> None:
    algorithm, sentence = WRONG_ALGORITHMS[name]
    with pytest.raises(AssertionError, match=sentence):
        conform.algorithm(algorithm)


# ---- delays -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Slower(DelayLaw):
    """Times that are longer than their law says."""

    law: DelayLaw
    factor: float

    @property
    def uniforms(self) -> int:  # type: ignore[override]
        return self.law.uniforms

    def durations(self, u: Any, client: Any) -> Any:
        return self.factor * self.law.durations(u, client)

    def means(self) -> Any:
        return self.law.means()


@pytest.mark.parametrize("name", RENEWAL)
@pytest.mark.parametrize("factor", [0.9, 1.1])
def test_a_law_whose_rates_are_off_by_10_percent_is_killed(name: str, factor: float) -> None:
    good: Any = build_delays(name, {"rates": [1.0, 2.5]}, 2)
    kind = replace(TYPES[name], build=lambda options, n: replace(TYPES[name].build(options, n), law=slower))
    slower = Slower(good.law, factor)
    with pytest.raises(AssertionError, match=rf"delays {name}: rates\(\) says [\d.]+ updates of client \d"):
        conform.delays(replace(good, law=slower), kind)


class Watched(DelayModel):
    """A model of somebody else's class: what a renewal model samples, and other words."""

    def __init__(self, model: Renewal, **said: Any) -> None:
        self.model, self.id, self.n, self.said = model, "watched", model.n, said

    def sample(self, streams: Any, count: int, server_rate: float) -> Events:
        events = self.model.sample(streams, self.said.get("least", 0) + count, server_rate).head(count)
        return Events(events.time + self.said.get("shift", 0.0) * count, events.actor)

    def rates(self) -> Any:
        return self.said.get("factor", 1.0) * self.model.rates()

    @property
    def how_rates(self) -> str:
        return "measured"

    @property
    def memoryless(self) -> str:
        return str(self.said.get("memoryless", self.model.memoryless))


@pytest.mark.parametrize(
    ("law", "said", "sentence"),
    [
        ("gamma", {"factor": 1.1}, r"rates\(\) says 1.1 updates of client 0 per unit of time; \d+ of them come at 1.0"),
        ("markov", {"factor": 0.9}, r"rates\(\) says 0.45 updates of client 0"),
        ("gamma", {"memoryless": ""}, "it is called memoryless, but client 0 follows client 0 in a share of 0"),
        ("exponential", {"shift": 1e-9}, "a longer trial gives other events: their time differs"),
        ("exponential", {"shift": -1.0}, "times must be finite and ≥ 0"),
        ("exponential", {"memoryless": "no"}, "memoryless must be '' or a sentence"),
    ],
)
def test_what_is_wrong_with_a_delay_model_is_named(law: str, said: dict[str, Any], sentence: str) -> None:
    model = Watched(build_delays(law, {}, 2), **said)  # type: ignore[arg-type]
    family = DelayType("watched", "somebody else's", lambda _options, _n: model, {})
    with pytest.raises(AssertionError, match=sentence):
        conform.delays(model, family)


def test_one_client_of_exponential_times_among_others_is_not_memoryless() -> None:
    events = IndependentEvents(np.array([0.5, 0.25]), 0.25)
    conform.delays(events)
    lopsided = replace(events, p=np.array([0.25, 0.5]))
    family = DelayType("iid", "lopsided", lambda _options, _n: lopsided, {})
    conform.delays(lopsided, family)


# ---- theorems ---------------------------------------------------------------------------------------------------

GOOD = """
id = "mine.gap"
metric = "gap"
algorithm = "gd"
assumptions = ["convex", "smooth", "minimiser"]
conditions = ["alpha*L <= 1"]
[options]
sampling = "all"
[step]
alpha = "alpha"
[terms]
start = "R**2/(2*alpha*K)"
"""
WRONG_THEOREMS: dict[str, tuple[tuple[tuple[str, str], ...], str]] = {
    "T on a metric that counts K": (
        (("*K)", "*T)"),),
        r"theorem mine.gap: it reads T \(server updates\), and its metric gap counts K \(iterations\)",
    ),
    "K on a metric that counts T": (
        (('"gap"', '"gradient-norm"'),),
        r"it reads K \(iterations\), and its metric gradient-norm counts T \(server updates\)",
    ),
    "server updates of AREA": (
        (('"gap"', '"gradient-norm"'), ("*K)", "*T)"), ('"gd"', '"area"'), ('sampling = "all"', "")),
        "the iterations of area are no server updates",
    ),
    "no such algorithm": ((('"gd"', '"dg"'),), "algorithm dg is not registered"),
    "no such option": ((("sampling", "sampler"),), "option sampler is no parameter of gd; did you mean sampling"),
    "no such word": ((('"all"', '"al"'),), "gd does not take its options {'sampling': 'al'}: .* must be one of"),
    "steps of another algorithm": (
        (('"gd"', '"fedbuff"'), ('sampling = "all"', "")), "step alpha is no parameter of fedbuff; known: M, count"
    ),
    "units": ((("R**2", "R**3"),), "not so: every term has the degrees of the left side"),
    "a quantity that nobody gives": (
        (("R**2/", "(1 + tau_a)*R**2/"),),
        "it reads tau_a, which neither problems, delays and options give nor the quantities of gd: alpha2, chi2",
    ),
}  # fmt: skip


def theorem(tmp_path: Path, *changes: tuple[str, str]) -> Theorem:
    text = GOOD
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    file = tmp_path / "mine.toml"
    file.write_text(text)
    return load_theorem(str(file))


def test_a_theorem_from_a_file_conforms(tmp_path: Path) -> None:
    conform.theorem(theorem(tmp_path))


@pytest.mark.parametrize("name", WRONG_THEOREMS)
def test_what_is_wrong_with_a_theorem_is_named(name: str, tmp_path: Path) -> None:
    changes, sentence = WRONG_THEOREMS[name]
    with pytest.raises((AssertionError, SpecError), match=sentence):  # SpecError: files without a core are refused
        conform.theorem(theorem(tmp_path, *changes))


# ---- metrics ----------------------------------------------------------------------------------------------------


class Rules(type(LAST)):  # type: ignore[misc]
    """The last iterate, with some rules changed."""

    def __init__(self, **changed: Any) -> None:
        super().__init__(averages_iterates=False)
        for name, value in changed.items():
            setattr(self, name, value)


WRONG_METRICS: dict[str, tuple[dict[str, Any], str]] = {
    "share": (
        {"share": lambda _k: Fraction(1, 2)},
        r"the left side at 0 and share\(0\) = 1/2 times the sum of its 1 rec",
    ),
    "squares": ({"fold": lambda _total, value: value**2}, "the left side at 0 of doubled records and twice that"),
    "records": ({"records": lambda _ks: RecordAt()}, "the left side at 1 among others and in a run of its own"),
    "averages": ({"averages_iterates": True, "records": RecordAt}, "averages_iterates is not what its records ask for"),
    "memory": (
        {"fold": lambda total, value: value if total is None else total + value},
        "the left side at 1 among others and in a run of its own differ",
    ),
}


@pytest.mark.parametrize("name", WRONG_METRICS)
def test_what_is_wrong_with_a_metric_is_named(name: str) -> None:
    changes, sentence = WRONG_METRICS[name]
    over: Over = Rules(**changes)
    with pytest.raises(AssertionError, match=sentence):
        conform.metric(replace(METRICS["gap"], over=over))
