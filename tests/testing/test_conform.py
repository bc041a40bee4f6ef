"""Everything that is registered keeps what its interface promises, and the suite kills what does not."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from own_problem import FAMILY

from boundlab.case import build_delays
from boundlab.delays import DELAYS, DelayLaw, DelayModel, DelayType, IndependentEvents, Renewal
from boundlab.errors import SpecError
from boundlab.events import Events
from boundlab.metrics import LAST, METRICS, Over
from boundlab.registry import lookup, registered
from boundlab.tape import RecordAt
from boundlab.testing import conform
from boundlab.theorems import Theorem, load_theorem

KINDS = ("algorithms", "problems", "delays", "theorems", "metrics")
EVERYTHING = [check for kind in KINDS for one in registered(kind).values() for check in conform.checks(one)]
EXAMPLE = Path(__file__).parents[1] / "plugin_example"
TYPES = {one.id: one for one in DELAYS}
RENEWAL = [name for name in TYPES if name not in ("iid", "trace", "staleness")]


@pytest.mark.sweep(336)
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
    for check in found:
        check()


def test_an_example_that_is_refused_is_named() -> None:
    wrong = "{'rates': [1.0]} is refused: delays gamma: 1 rates for 3 clients; give one a client; declare"
    with pytest.raises(AssertionError, match=re.escape(f"delays gamma, example 1: {wrong}")):
        conform.delays(replace(TYPES["gamma"], examples=({"rates": [1.0]},)))
    wrong = "problem bowls, example 1: {} is refused: problem bowls needs the option A; declare"
    with pytest.raises(AssertionError, match=re.escape(wrong)):
        conform.problem(replace(FAMILY, examples=({},)))


@pytest.mark.nightly
def test_an_example_package_passes_from_its_own_pytest(tmp_path: Path) -> None:
    package = shutil.copytree(EXAMPLE, tmp_path / "package")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--color=no"]
    command += ["-c", os.devnull, "--rootdir", str(tmp_path), "-rA", str(package / "conformance.py")]
    places = {"BOUNDLAB_PLUGINS": str(package / "example.py"), "PYTHONPATH": str(package)}
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **places}, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "test_it_conforms[algorithm myrennala: the use table is what moves the server's model]" in done.stdout
    assert "test_it_conforms[theorem example.best: both sides have the same units]" in done.stdout


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


@pytest.mark.sweep(6)
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


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    ("law", "said", "sentence"),
    [
        ("gamma", {"factor": 1.1}, r"rates\(\) says 1.1 updates of client 0 per unit of time; \d+ of them come at 1.0"),
        ("markov", {"factor": 0.9}, r"rates\(\) says 0.45 updates of client 0"),
        ("gamma", {"memoryless": ""}, "it is called memoryless, but the events of a trial are not i.i.d.: a bet on"),
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
    "no such algorithm": ((('"gd"', '"dg"'),), "unknown algorithm 'dg'; known: "),
    "no such option": ((("sampling", "sampler"),), "option sampler is no parameter of gd; did you mean sampled"),
    "no such word": ((('"all"', '"al"'),), "gd does not take its options {'sampling': 'al'}: .* must be one of"),
    "steps of another algorithm": (
        (('"gd"', '"fedbuff"'), ('sampling = "all"', "")),
        "step alpha is no parameter of fedbuff; known: M, count",
    ),
    "units": ((("R**2", "R**3"),), "not so: every term has the degrees of the left side"),
    "a quantity that nobody gives": (
        (("R**2/", "(1 + tau_a)*R**2/"),),
        "it reads tau_a, which neither problems, delays and options give nor the quantities of gd: alpha2, chi2",
    ),
}


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
    "records": ({"records": lambda _ks: RecordAt()}, "the left sides at some horizons and those of runs of their own"),
    "averages": ({"averages_iterates": True, "records": RecordAt}, "averages_iterates is not what its records ask for"),
    "memory": (
        {"fold": lambda total, value: value if total is None else total + value},
        "the left sides at some horizons and those of runs of their own differ: 9.19.* and 0.079.*, at place 3",
    ),
}


@pytest.mark.parametrize("name", WRONG_METRICS)
def test_what_is_wrong_with_a_metric_is_named(name: str) -> None:
    changes, sentence = WRONG_METRICS[name]
    over: Over = Rules(**changes)
    with pytest.raises(AssertionError, match=sentence):
        conform.metric(replace(METRICS["gap"], over=over))
