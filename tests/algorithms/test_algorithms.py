"""What all algorithms share: their options, and which assumptions on runs they answer for."""

from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import pytest

from boundlab.algorithms import Algorithm, Parameters, _option as option
from boundlab.assumptions import RUN_ASSUMPTIONS
from boundlab.case import build_delays, build_problem
from boundlab.delays import why_not_iid
from boundlab.errors import AssumptionError, SpecError
from boundlab.instance.applicability import check
from boundlab.options import Options, parse_spec
from boundlab.registry import registered
from boundlab.theorems import load_theorem

ALGORITHMS: dict[str, Algorithm[Any]] = registered("algorithms")
# Enough to read the options of any algorithm.
REQUIRED = {"alpha": 0.5, "eta": 0.5, "eta_l": 0.5, "beta": 0.5, "K": 9, "threshold": 2, "p_c": 0.5}


def smallest(algorithm: Algorithm[Any]) -> Options:
    """Return the required options."""
    given = {name: value for name, value in REQUIRED.items() if name in algorithm.parameters}
    if algorithm.id in ("gd", "fedcompass"):
        given = {name: value for name, value in given.items() if name in ("alpha", "eta")}
    return Options(algorithm.id, given)


@dataclass(frozen=True, slots=True)
class Inner(Parameters):
    """A part."""

    b: int = option.integer("inner number", 2, maximum=3)


@dataclass(frozen=True, slots=True)
class Outer(Parameters):
    """One option of each sort."""

    a: float = option.number("needed", above=0.0)
    word: str = option.choice("some word", ("one", "two"), "two")
    inner: Inner = option.part(Inner)
    late: int | None = option.integer("may be absent", None, minimum=5)
    sure: bool = option.flag("yes or no")
    pair: tuple[int, int] = option.custom(
        {"left": "first", "right": "second"},
        lambda options, _: (options.integer("left", 0), options.integer("right", 1)),
        (0, 1),
    )

    def check(self, owner: str) -> None:
        """Refuse sure without late."""
        if self.sure and self.late is None:
            raise SpecError(f"{owner}: sure needs late")


def test_options_are_declared_where_their_fields_stand() -> None:
    assert list(option.says(Outer).items()) == [
        ("a", "needed"),
        ("word", "some word"),
        ("b", "inner number"),
        ("late", "may be absent"),
        ("sure", "yes or no"),
        ("left", "first"),
        ("right", "second"),
    ]
    read = option.read(Outer, Options("it", {"a": "1/2", "b": 3, "right": 7}))
    assert read == Outer(0.5, "two", Inner(3), None, False, (0, 7))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"b": 9}, "it needs the option a"),  # before anything else is read
        ({"a": 0}, "it: a must be > 0, got 0"),
        ({"a": 1, "b": 9}, "it: b must be between 0 and 3, got 9"),
        ({"a": 1, "late": 4}, "it: late must be ≥ 5, got 4"),
        ({"a": 1, "word": "three"}, "it: word must be one of one, two, got 'three'"),
        ({"a": 1, "sure": "yes", "c": 1}, "it: sure needs late"),
        ({"a": 1, "inner": 1}, "it has no option 'inner'"),
    ],
)
def test_refused_options(given: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError, match=f"^{message}"):
        option.read(Outer, Options("it", given))


ASKED = {
    "stationary-participation",
    "uniform-buffer",
    "equal-weights",
    "uniform-sampling",
}  # the others hold by construction, or by the delays alone


@pytest.mark.sweep(15)
@pytest.mark.parametrize("assumption", sorted(RUN_ASSUMPTIONS))
@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_algorithm_answers_for_every_assumption_on_runs(name: str, assumption: str) -> None:
    algorithm = ALGORITHMS[name]
    parameters = algorithm.read(smallest(algorithm))
    about = load_theorem("classics.gd.gradient")
    step = {algorithm.step_size_symbols[0]: about.step["alpha"]}
    theorem = replace(
        about, algorithm=name, assumptions=(assumption,), options={}, step=step, conditions=(), settable=()
    )
    if any(one.when(parameters, None) for one in algorithm.draws):  # a lag of which outcome?
        theorem = replace(theorem, about="the mean")
    for clients in (1, 3):
        problem = build_problem("huber", {"clients": clients, "dimension": 1})
        for spec in ("exponential", "exponential:spread=5", "deterministic", "iid"):
            delays = build_delays(*parse_spec(spec, "delays"), clients)
            reason = algorithm.why_not(assumption, parameters, delays)
            assert reason == "" or len(reason.split()) > 3
            policy = algorithm.policy(None, delays)
            how = nullcontext()
            drawn = any(one.when(parameters, clients) for one in algorithm.draws)
            untimed = algorithm.server == "any" or drawn or delays.seconds is None
            other = {"iid-events": bool(why_not_iid(delays, policy)), "fixed-compute-times": untimed}
            if (assumption in ASKED and reason) or other.get(assumption):
                how = pytest.raises(AssumptionError, match=f"assumes {assumption} .* does not meet: ")
            with how:
                assert check(theorem, problem, algorithm, parameters, delays, policy, ()) == {}


# What is independent of the past: updates that enter one by one, and buffers without memory.
STATIONARY = {"asfedavg", "async_sgd", "fedasync", "fedbuff"}


@pytest.mark.sweep(2)
@pytest.mark.parametrize("name", ALGORITHMS)
def test_who_knows_stationary_participation_and_uniform_buffers(name: str) -> None:
    algorithm = ALGORITHMS[name]
    parameters, delays = algorithm.read(smallest(algorithm)), build_delays("exponential", {}, 3)
    stationary = algorithm.why_not("stationary-participation", parameters, delays)
    uniform = algorithm.why_not("uniform-buffer", parameters, delays)
    assert (stationary == "") == (name in STATIONARY)
    assert (uniform == "") == (name in STATIONARY | {"fedstaleweight"})
    if name == "fedstaleweight":
        assert "scale=0 would fit" in stationary
    elif name in ("rennala", "ringmaster"):
        assert uniform == stationary == "whose update is ignored depends on what came before; stops=yes would fit"
        stops = algorithm.read(Options(name, {**smallest(algorithm).values, "stops": "yes"}))
        assert {algorithm.why_not(one, stops, delays) for one in ("stationary-participation", "uniform-buffer")} == {""}
    elif uniform:
        assert uniform == f"nothing is known of {name} that makes its runs meet uniform-buffer"


@pytest.mark.parametrize(
    ("name", "options", "reason"),
    [
        ("fedbuff", {"staleness": "inverse"}, "staleness=constant would fit"),
        ("fedbuff", {"reply": "wait", "count": 2}, "cannot enter it again"),
        ("fedasync", {"s": "inverse"}, "s=constant would fit"),
        ("async_sgd", {"schedule": "delay_adaptive"}, "schedule=constant would fit"),
        ("async_sgd", {"sampling": "uniform"}, "only after it was drawn"),
    ],
)
def test_why_participation_is_not_stationary(name: str, options: dict[str, Any], reason: str) -> None:
    algorithm, delays = ALGORITHMS[name], build_delays("exponential", {}, 3)
    parameters = algorithm.read(Options(name, {**smallest(algorithm).values, **options}))
    assert reason in algorithm.why_not("stationary-participation", parameters, delays)
