"""Whose is a setting, and an option left out; and which events and steps the runs of a theorem have."""

import json
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from problem_makers import from_text

import boundlab as bl
from boundlab.algorithms import Algorithm
from boundlab.case import build_delays, delays_from, problem_from
from boundlab.compare import compare
from boundlab.delays import ServerPolicy
from boundlab.errors import AssumptionError, SpecError
from boundlab.events import Events
from boundlab.formulas.symbols import SYMBOLS, symbol
from boundlab.instance import make_plan
from boundlab.instance.fitting import fitting
from boundlab.instance.from_case import FixedEvents
from boundlab.instance.schedules import differences, options_of, own_parameters, rates, split
from boundlab.options import Options
from boundlab.registry import lookup, registered
from boundlab.theorems import ALONG_RUN, Theorem, at_lowest, load_theorem, over
from boundlab.verdict import Verdict

THEOREMS = registered("theorems")


@pytest.mark.sweep(10)
@pytest.mark.parametrize("name", sorted(THEOREMS))
def test_a_name_is_an_option_or_a_symbol_and_never_both(name):
    theorem = THEOREMS[name]
    algorithm = lookup("algorithms", theorem.algorithm)
    given = {**dict.fromkeys(algorithm.parameters, "1"), **dict.fromkeys(theorem.inputs(), "1"), "nonsense": "1"}
    options, symbols = split(theorem, algorithm, given)
    assert set(options) | set(symbols) == set(given) | set(theorem.core.fixed)
    assert not set(symbols) & options_of(theorem, algorithm)
    assert set(theorem.step) <= set(symbols) | (set(theorem.step) - set(given))
    assert "nonsense" in symbols  # whoever reads the symbols says that it is unknown


@pytest.mark.sweep(10)
@pytest.mark.parametrize("name", sorted(THEOREMS))
def test_the_options_of_the_proof_stand_unless_they_may_be_overridden(name):
    theorem = THEOREMS[name]
    algorithm = lookup("algorithms", theorem.algorithm)
    assert split(theorem, algorithm, {})[0] == dict(theorem.core.fixed)
    for option, value in theorem.core.fixed.items():
        if option in options_of(theorem, algorithm):
            assert split(theorem, algorithm, {option: value}, override=False)[0] == dict(theorem.core.fixed)
            assert split(theorem, algorithm, {option: "other"})[0][option] == "other"
            with pytest.raises(AssumptionError, match=f"the proof takes {option}={value}, not {option}=other"):
                split(theorem, algorithm, {option: "other"}, override=False)


@pytest.mark.sweep(10)
@pytest.mark.parametrize("name", sorted(THEOREMS))
def test_what_a_formula_reads_of_the_parameters_is_1_unless_it_is_set_or_measured(name):
    theorem = THEOREMS[name]
    algorithm = lookup("algorithms", theorem.algorithm)
    found = own_parameters(theorem, algorithm, {}, {})
    assert {parameter: symbol for parameter, (symbol, _) in found.items()} == {
        parameter: symbol for parameter, symbol in theorem.parameters.items() if parameter in algorithm.parameters
    }
    assert {value for _, value in found.values()} <= {1}
    assert not own_parameters(theorem, algorithm, {}, dict.fromkeys(theorem.parameters.values(), 3))
    for parameter in found:
        assert own_parameters(theorem, algorithm, {parameter: "3"}, {})[parameter][1] == 3
        with pytest.raises(SpecError, match=f"{parameter} must be ≥ 1"):
            own_parameters(theorem, algorithm, {parameter: "0"}, {})


@pytest.mark.parametrize(
    ("theorem", "names"),
    [
        ("area.theorem8", {"alpha", "c", "d"}),
        ("fedbuff.rf1", {"eta_l", "eta_g"}),
        ("fedcompass.window.a", {"eta"}),  # alpha is a factor of its weights
    ],
)
def test_rates_are_the_algorithms_step_sizes_and_what_the_theorem_sets(theorem: str, names: set[str]):
    statement = load_theorem(theorem)
    assert rates(statement, lookup("algorithms", statement.algorithm)) == names


def test_an_algorithm_with_the_events_of_a_case_answers_as_the_algorithm_itself():
    inner = lookup("algorithms", "fedcompass")
    fixed = FixedEvents(inner, Events(np.empty(0), np.empty(0, dtype=np.int32)))
    assert (fixed.arrivals, fixed.draws) == (False, ())  # nothing is left to chance
    assert fixed.program(fixed.read(Options("fedcompass", {"eta": 1})), 2) is None
    public = {name for name in (*vars(Algorithm), *Algorithm.__annotations__) if not name.startswith("_")}
    for name in public - FixedEvents.OWN:
        assert getattr(fixed, name) == getattr(inner, name)


def test_an_instance_that_fits_has_delays_that_were_asked_for() -> None:
    (found,) = fitting(load_theorem("classics.gd.convex"), delays=("exponential:spread=2",))
    assert found.delays == "exponential:spread=2"


@pytest.mark.parametrize(
    ("name", "fixed"), [("afl_dga.r1", {"sigma"}), ("fedcompass.group", {"tau_max"}), ("afl_dga.r2", set())]
)
def test_conditions_hold_symbols_at_the_lower_end_of_their_domain(name: str, fixed: set[str]) -> None:
    theorem = load_theorem(name)
    assert at_lowest(theorem.conditions, theorem.symbols) == fixed


ALGORITHMS = registered("algorithms")
# What must be said before anything can run.
NEEDED = {
    **{name: {one.step_size_symbols[0]: 0.1} for name, one in ALGORITHMS.items()},
    "fedasync": {"eta_l": 0.1, "beta": 0.5},
    "heavy_ball": {"alpha": 0.1, "beta": 0.5},
    "lsvrg": {"alpha": 0.1, "p_c": 0.5},
    "ogm": {"alpha": 0.1, "K": 3},
    "ringmaster": {"alpha": 0.1, "threshold": 2},
    "scaffnew": {"alpha": 0.1, "p_c": 0.5},
}
RATES = {"alpha", "c", "d", "eta", "eta_l", "beta", "p_c"}
VALUES = (
    "2",
    "3",
    "0.5",
    "yes",
    "post",
    "pre",
    "wait",
    "analysis",
    "algorithm",
    "all",
    "uniform",
    "cyclic",
    "shuffled",
    "sqrt",
    "sum",
    "average",
    "k-scaled",
    "drawn",
    "delay_adaptive",
    "inverse",
    "model",
    "delta",
    "param",
    "when_full",
    "previous",
    "speeds",
    "[0.25,0.75]",
    "[1,2]",
    "1..3",
    "polynomial:a=0.7",
    "150",
)


def other_values(algorithm, name):
    """Return words of an option that make other parameters than its default does."""
    needed = NEEDED[algorithm.id]
    usual = algorithm.read(Options(algorithm.id, needed))
    found = []
    for value in VALUES:
        try:
            if algorithm.read(Options(algorithm.id, {**needed, name: value})) != usual:
                found.append(value)
        except SpecError:
            continue
    return found


OPTIONS = [
    (name, option)
    for name, algorithm in sorted(ALGORITHMS.items())
    for option in algorithm.parameters
    if option not in RATES | set(NEEDED[name]) and other_values(algorithm, option)
]


def about(algorithm, **options):
    """Return a theorem that says something of an algorithm and nothing of its options but these."""
    theorem = replace(
        load_theorem("classics.gd.convex"), id="bare", algorithm=algorithm.id, options=options, conditions=()
    )
    steps = {name: theorem.symbols[name].symbol for name in NEEDED[algorithm.id] if name in theorem.symbols}
    return replace(theorem, step=steps, settable=(), definitions={}, parameters={})


def test_nearly_every_option_of_every_algorithm_is_looked_at():
    known = {(name, option) for name in NEEDED for option in ALGORITHMS[name].parameters if option not in RATES}
    # These make sense only together with another one.
    together = {("area", "reply"), ("fedcompass", "a"), ("fedcompass", "b"), ("fedcompass", "warmup"), ("gd", "K")}
    together |= {("gd", "iteration")}  # of all clients
    assert known - set(OPTIONS) <= together | {("fedfa", "eta_g"), ("ogm", "K"), ("ringmaster", "threshold")}


@pytest.mark.sweep(8)
@pytest.mark.parametrize(("name", "option"), OPTIONS)
def test_an_option_that_is_not_mentioned_stands_at_its_default(name, option):
    algorithm = ALGORITHMS[name]
    bare, needed = about(algorithm), {key: one for key, one in NEEDED[name].items() if key not in RATES}
    for value in other_values(algorithm, option):
        run = {**needed, option: value}
        assert differences(bare, algorithm, run) == {
            f"{option} at its default": f"it leaves {option} at its default, the run has {option}={value}"
        }
        assert not differences(about(algorithm, **{option: "any"}), algorithm, run)
        assert not differences(about(algorithm, **{"*": "any"}), algorithm, run)
        assert not differences(about(algorithm, **{option: value}), algorithm, run)
    assert not differences(bare, algorithm, needed)


@pytest.mark.parametrize(
    ("name", "run"),
    [
        ("area", {"count": "2", "reply": "post"}),
        ("gd", {"decay": "linear", "K": "5"}),
        ("fedfa", {"mode": "delta", "eta_g": "0.5"}),
        ("fedcompass", {"speeds": "[1,2]", "warmup": "speeds"}),
        ("fedcompass", {"st": "polynomial", "a": "0.7"}),
    ],
)
def test_options_that_go_together_are_not_mentioned_together(name, run):
    algorithm = ALGORITHMS[name]
    assert differences(about(algorithm), algorithm, run)
    assert not differences(about(algorithm, **dict.fromkeys(run, "any")), algorithm, run)


@pytest.mark.sweep(6)
@pytest.mark.parametrize(("name", "option"), OPTIONS)
def test_an_option_that_the_proof_takes_is_that_of_the_run(name, option):
    algorithm = ALGORITHMS[name]
    values, needed = (
        other_values(algorithm, option),
        {key: one for key, one in NEEDED[name].items() if key not in RATES},
    )
    for mine, theirs in product(values[:3], values[:3]):
        found = differences(about(algorithm, **{option: mine}), algorithm, {**needed, option: theirs})
        parameters = [algorithm.read(Options(name, {**NEEDED[name], option: one})) for one in (mine, theirs)]
        assert bool(found) is (parameters[0] != parameters[1])


def test_textbook_gradient_descent_is_about_one_local_step_with_all_clients(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(
        'id = "mine"\nalgorithm = "gd"\nmetric = "gap"\nassumptions = ["convex", "smooth", "minimiser"]\n'
        '[step]\nalpha = "1/L"\n[terms]\nbound = "L*R**2/(4*K + 2)"\n',
        encoding="utf-8",
    )
    theorem, problem = load_theorem(str(path)), from_text("huber:c=[0,1],x0=3")
    delays = build_delays("deterministic", {}, 2)
    policy = lookup("algorithms", "gd").policy(None, delays)
    make_plan(theorem, problem, delays, policy, 10, {"M": "1", "sampling": "all"})
    for option, value in (("M", "2"), ("sampling", "uniform"), ("decay", "sqrt")):
        with pytest.raises(AssumptionError, match=f"leaves {option} at its default, the run has {option}={value}"):
            make_plan(theorem, problem, delays, policy, 10, {option: value})
        plan = make_plan(theorem, problem, delays, policy, 10, {option: value}, beyond=("options",))
        assert plan.outside


def test_a_parameter_that_a_formula_reads_is_open():
    theorem = load_theorem("classics.local-gd")
    assert theorem.core.varies("M")
    assert not theorem.core.varies("sampling")
    assert not load_theorem("classics.gd.convex").core.varies("M")
    assert load_theorem("fedbuff.rf1").core.varies("reply")
    assert not load_theorem("fedbuff.rf1").core.varies("staleness")


def test_nothing_but_any_can_be_said_of_all_other_options():
    with pytest.raises(SpecError, match=r"the option \* must be one of any, got 'pre'"):
        about(ALGORITHMS["area"], **{"*": "pre"})


DELAYS = ("exponential:spread=4", "two-speed")
EQUAL = "huber:c=[0,0,0],w=[1,1,1],x0=2"
LONG = 24  # updates until which eight trials differ in their largest staleness
SCHEDULED = {"tau_max", "S", "M_own", "W_max", "Q_mean", "Qmax", "lag", "kappa_lag"}


def with_a_scheduled_step() -> list[Theorem]:
    """Return the true theorems whose step reads a schedule."""
    return [
        theorem
        for theorem in registered("theorems").values()
        if theorem.read_by(theorem.step) & SCHEDULED
        and not theorem.of_paper
        and lookup("algorithms", theorem.algorithm).server != "any"
    ]


def setting_its_step(theorem: Theorem) -> Theorem:
    """Return the theorem in words that do not take the step as a number."""
    return replace(theorem, settable=tuple(name for name in theorem.settable if name not in theorem.step))


def verdict_of(theorem: Theorem, delays: str, iterations: int = 40):
    problem = problem_from(EQUAL)
    model = delays_from(delays, problem.n)
    policy = lookup("algorithms", theorem.algorithm).policy(None, model)
    return compare(make_plan(theorem, problem, model, policy, iterations, {}, trials=8), 8, 0)


def test_there_are_such_theorems() -> None:
    assert len(with_a_scheduled_step()) > 15


@pytest.mark.sweep(62)
@pytest.mark.parametrize("delays", DELAYS)
@pytest.mark.parametrize("theorem", with_a_scheduled_step(), ids=lambda one: one.id)
def test_a_true_theorem_is_not_violated_by_the_step_of_another_trial(theorem: Theorem, delays: str) -> None:
    try:
        found = verdict_of(setting_its_step(theorem), delays)
    except AssumptionError:
        return  # what a schedule does not fit, or a step that no single run has
    assert found.verdict in (Verdict.HOLDS, Verdict.CONSISTENT), found.reason
    # Not below the bound of the very same runs by the theorem that takes the step as a number.
    assert (found.bound >= verdict_of(theorem, delays).bound * (1 - 1e-12)).all()


def test_the_bound_is_that_of_the_largest_staleness_of_all_trials() -> None:
    theorem = setting_its_step(load_theorem("classics.delayed-sgd"))
    found = verdict_of(theorem, DELAYS[0])
    plan = found.plan
    largest = (1.0 / plan.parameter_values["alpha"] / plan.values["L"] - 1.0) / 2.0
    assert largest == pytest.approx(round(largest), rel=1e-12)
    expected = 2 * plan.values["F0"] * plan.values["L"] * (1 + 2 * largest) / plan.ks
    assert np.allclose(found.bound, expected, rtol=1e-12)


def about_a_mean() -> list[Theorem]:
    """Return the true theorems about the mean over schedules that read something off these."""
    return [
        theorem
        for theorem in registered("theorems").values()
        if {*theorem.inputs(), *theorem.settable} & SCHEDULED
        and not theorem.of_paper
        and (over(theorem).lawful or over(theorem)["events"] == "averaged")
        and lookup("algorithms", theorem.algorithm).server != "any"
    ]


def test_theorems_about_a_mean_read_schedules() -> None:
    assert len(about_a_mean()) >= 8


@pytest.mark.parametrize(("exact", "iterations"), [(False, LONG), (True, 4)])
@pytest.mark.parametrize("theorem", about_a_mean(), ids=lambda one: one.id)
def test_what_is_shown_of_several_schedules_gives_bound_and_step(
    theorem: Theorem, exact: bool, iterations: int
) -> None:
    problem = problem_from("logistic:clients=3" if theorem.id.endswith(ALONG_RUN) else EQUAL)
    model = delays_from("exponential", problem.n)
    given = {"scale": "0"} if theorem.algorithm == "fedstaleweight" else {}
    plan = make_plan(theorem, problem, model, ServerPolicy("own", 0.0), iterations, given, trials=8)
    found = compare(plan, 8, 0, exact=exact)
    shown = {one["name"]: one["value"] for one in found.as_dict()["symbols"]}
    assert theorem.at_iterations(shown, found.plan.ks[-1:]).total == pytest.approx(found.bound[-1:], rel=1e-12)
    assert theorem.step_options(shown).items() <= found.plan.parameter_values.items()
    assert found.plan.schedules is not None
    first = found.plan.schedules.read(found.plan.schedules.tape(0), iterations, plan.fixed)
    if iterations == LONG:
        assert shown["tau_max"] > first["tau_max"]
    assert f"tau_max = {shown['tau_max']}" in found.reason
    assert found.as_dict()["values"]["tau_max"] == shown["tau_max"]


def test_a_staleness_of_ones_own_is_held_against_that_of_all_schedules() -> None:
    problem = problem_from(EQUAL)
    model, theorem = delays_from("exponential", problem.n), load_theorem("fedbuff.rf3")
    plan = make_plan(theorem, problem, model, ServerPolicy("own", 0.0), LONG, {"tau_max": "40"}, trials=8)
    how = next(one.how for one in plan.symbols if one.name == "tau_max")
    most = max(plan.schedules.read(plan.schedules.tape(trial), LONG, {})["tau_max"] for trial in range(8))
    assert f"sampled schedules have {most:g};" in how


def test_a_step_by_a_mean_is_no_step_of_two_schedules(monkeypatch: pytest.MonkeyPatch) -> None:
    delayed = load_theorem("classics.delayed-sgd")
    exact = {"tau_mean": replace(delayed.symbols["tau_mean"], side="exact")}
    monkeypatch.setattr("boundlab.theorems._statement.SYMBOLS", {**SYMBOLS, **exact})
    step = {"alpha": delayed.step["alpha"].subs(symbol("tau_max"), symbol("tau_mean"))}
    theorem = replace(delayed, settable=(), conditions=(), step=step, symbols={**delayed.symbols, **exact})
    with pytest.raises(AssumptionError, match=r"the step size of classics\.delayed-sgd depends on"):
        verdict_of(theorem, DELAYS[0])


PAIR = {"type": "quadratic", "A": [[[1]], [[1]]], "b": [[0], [10]]}
# algorithm → its options, events that it draws, and some that it does not: x leaves for a client's own minimiser there.
EVENTS: dict[str, tuple[dict[str, Any], list[Any], list[Any]]] = {
    "sfedavg": ({}, [[1, [1, 0]], [2, [0, 1]]], [[1, [0, 1]], [2, [1]]]),
    "sfedavg sampled": ({"sampled": 1}, [[1, [1]], [2, [0]]], [[1, [0, 1]], [2, [1]]]),
    "gd cyclic": ({"sampling": "cyclic"}, [[1, 0], [2, 1]], [[1, 1], [2, 1]]),
    "incremental": ({}, [[1, [0, 1]], [2, [0, 1]]], [[1, [0, 1]], [2, [1, 0]]]),
    "lsvrg": ({"p_c": 1}, [[1, 0, 1], [2, 1, 1]], [[1, 0, 1], [2, 1, 0]]),
    "scaffnew": ({"p_c": 1}, [[1, "s", 1], [2, "s", 1]], [[1, "s", 1], [2, "s", 0]]),
}


@pytest.mark.parametrize("which", EVENTS)
def test_events_that_are_never_drawn_are_no_instance(which: str, tmp_path: Path) -> None:
    name, (options, drawn, never) = which.split()[0], EVENTS[which]
    theorem = tmp_path / "own.toml"
    said = "".join(f"{option} = {json.dumps(str(value))}\n" for option, value in options.items())
    theorem.write_text(
        f'id = "own"\nalgorithm = "{name}"\nmetric = "squared-distance"\nabout = "each schedule"\n'
        f'assumptions = ["strongly-convex", "smooth", "minimiser"]\n[options]\n{said}[step]\nalpha = "1/(2*L)"\n'
        '[terms]\nbound = "400*R**2"\n',
        encoding="utf-8",
    )

    def judged(events: list[Any]) -> Any:
        case = {"algorithm": name, "iterations": 2, "x0": 6, "parameters": options, "problem": PAIR, "events": events}
        (tmp_path / "case.json").write_text(json.dumps(case), encoding="utf-8")
        return bl.exact(theorem, tmp_path / "case.json")

    assert not judged(drawn).violated
    with pytest.raises(AssumptionError, match=f"own is about what {name} draws: event . of this case is none with"):
        judged(never)
