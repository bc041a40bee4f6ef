"""Every reader of a tape does proximal gradient steps on F = f + h, or refuses by name; none does plain ones."""

import json
from collections.abc import Mapping
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from tape_makers import interpret, programs

from boundlab.arithmetic import numbers
from boundlab.case import build_delays, build_problem, load_case, problem_from
from boundlab.errors import AssumptionError
from boundlab.events import Events
from boundlab.exact import evaluate
from boundlab.execute import floats, rationals
from boundlab.expectation import engine, moments
from boundlab.metrics import METRICS, Certified
from boundlab.objective import Problem, ProblemType, Wrapped
from boundlab.objective.composite import Composite
from boundlab.objective.facts import SoughtMinimiser
from boundlab.objective.simple import BallIndicator
from boundlab.objective.weighted import Weighted
from boundlab.options import Options
from boundlab.randomness import Streams
from boundlab.registry import lookup
from boundlab.simulate.work import compile_trial
from boundlab.tape import RecordAt, Tape
from boundlab.theorems import load_theorem

SIMPLE = ("l1=0.4", "box=[-1,1.5]", "ball=1.25")
CLIENTS = "quadratic:A=[[[2,1],[1,2]],[[1,0],[0,3]],[[2,0],[0,1]]],b=[[0,3],[2,0],[-1,-2]]"


def composite(simple: str) -> Problem:
    return problem_from(f"{CLIENTS},{simple},x0=[0.5,-0.75]")


def by_floats(tape: Tape, problem: Problem, oracle: Any = None) -> np.ndarray:
    shown = [problem.x0]
    floats.run(tape, problem.x0, oracle or problem.oracle(Streams(0)), lambda _, x: shown.append(x.copy()))
    return np.array(shown[1:]).reshape(-1, problem.d)


@pytest.mark.parametrize("simple", SIMPLE)
@settings(max_examples=25)
@given(tape=programs(4))
def test_any_program_runs_as_the_second_interpreter_reads_it(simple: str, tape: Tape) -> None:
    problem = composite(simple)
    expected = np.array(interpret(tape, problem).shown).reshape(-1, 2)
    close = {"rtol": 0.0, "atol": 1e-10 * max(1.0, float(np.abs(expected).max(initial=0.0)))}
    assert np.allclose(by_floats(tape, problem), expected, **close)
    assert np.allclose(by_floats(tape, problem, problem.full_gradients()), expected, **close)
    weighted = Weighted(problem, problem, (problem.n * (1.0,)))  # type: ignore[arg-type]
    assert np.allclose(by_floats(tape, problem, weighted.full_gradients()), expected, **close)


@pytest.mark.parametrize("simple", SIMPLE)
@settings(max_examples=15)
@given(tape=programs(4))
def test_exact_numbers_do_the_same(simple: str, tape: Tape) -> None:
    problem = composite(simple)
    model = problem.rational({**problem.spec(), "l1": "0.4"})
    assert model is not None
    for balls in (False, True):
        if not balls and simple.startswith("ball"):
            continue  # projections onto a sphere take roots
        shown: list[list[float]] = []

        def observe(_: int, x: Any, shown: list[list[float]] = shown) -> None:
            shown.append([float(numbers.ball(entry)) for entry in x])

        with numbers.digits(256):
            rationals.run(tape, model, [], observe, balls=balls)
        expected = by_floats(tape, problem)
        assert np.allclose(
            np.array(shown).reshape(-1, 2), expected, rtol=1e-9, atol=1e-9 * max(1.0, np.abs(expected).max(initial=0.0))
        )


@pytest.mark.parametrize("batch", [0, 3])
def test_mini_batches_draw_the_same_numbers_with_and_without_a_simple_part(batch: int) -> None:
    torch = pytest.importorskip("torch")
    from benchmarks.speed.agreement import agreement

    spec = f"logistic:data=breast_cancer,samples=60,clients=3,batch={batch}"
    algorithm = lookup("algorithms", "fedbuff")
    parameters = algorithm.read(Options("fedbuff", {"eta_l": 0.5, "count": 2, "M": 2}))
    delays = build_delays("exponential", {}, 3)
    tape = compile_trial(algorithm, parameters, 3, delays, algorithm.policy(None, delays), 8, RecordAt(), Streams(0, 0))
    plain = problem_from(spec)
    for simple in ("l1=0.05", "ball=0.4"):
        problem = problem_from(f"{spec},{simple}")
        shown = by_floats(tape, problem)
        assert problem.noiseless == plain.noiseless == (batch == 0)
        assert not np.allclose(shown[-1], by_floats(tape, plain)[-1])
        batched = problem.tensors(torch.device("cpu"), torch.float64)
        assert batched is not None
        (found,) = agreement([tape], problem, batched, 0, torch.device("cpu"))
        assert found.parted is None
        assert found.difference < 1e-10


def test_the_expectation_over_random_events_is_that_of_all_proximal_runs(tmp_path: Path) -> None:
    # AREA with two clients, p = 1/4, 1/4 and p_s = 1/2: 81 sequences of four events.
    theorem, path, last = tmp_path / "mine.toml", tmp_path / "case.json", 4
    theorem.write_text(
        'id = "mine.area"\nmetric = "gap"\nassumptions = ["convex", "composite", "iid-events"]\n'
        'algorithm = "area"\n[options]\nM = "2"\n[step]\nalpha = "1/4"\n[terms]\nbound = "100*K**0"\n'
    )
    case = {
        "algorithm": "area",
        "iterations": last,
        "delays": {"type": "iid", "p": ["1/4", "1/4"], "p_s": "1/2"},
        "problem": {"type": "quadratic", "A": [[[2]], [[1]]], "b": [[3], [-1]], "l1": "1/2", "x0": 2},
        "parameters": {"M": 2},
    }
    path.write_text(json.dumps(case))
    found = evaluate(load_theorem(str(theorem)), load_case(path))
    assert "enumeration" in found.method
    problem, area = load_case(path).problem, lookup("algorithms", "area")
    parameters, gap = area.read(Options("area", {"alpha": 0.25, "M": 2})), Certified(problem).gap
    mean = 0.0
    for actors in product((0, 1, -1), repeat=last):
        events = Events(np.arange(1.0, last + 1), np.array(actors, dtype=np.int32))
        tape = area.schedule(parameters, events, 2, RecordAt(np.array([last])), last)
        chance = float(np.prod([0.5 if actor < 0 else 0.25 for actor in actors]))
        mean += chance * gap(by_floats(tape, problem)[-1])[0]
    assert found.left == pytest.approx(mean, rel=1e-12)


# What follows from the others, or is refused, or what F has not: matrices, certain regions, bounds of rounding.
INHERITED = {
    "confinement",
    "full_gradients",
    "full_gradients_at",
    "gradient_norms_at_optimum",
    "gradient_roundings",
    "in_balls",
    "least_squares",
    "noiseless",
    "plot",
    "quadratic",
    "require",
    "require_quadratic",
    "roundings",
    "run_limit",
    "why_not",
}
# What h does not touch.
OF_CLIENTS = {"claims", "client_key", "data_sha256", "dtype", "files", "gradients_on", "sign_noise"}


def test_nothing_that_a_problem_can_do_skips_the_proximal_map() -> None:
    public = {name for name in vars(Problem) if not name.startswith("_")}
    own = {*vars(Composite), *vars(SoughtMinimiser)}
    assert public - own - set(vars(Wrapped)) == INHERITED
    assert public & set(vars(Wrapped)) - own == OF_CLIENTS


# ---- who refuses ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("simple", SIMPLE)
def test_who_needs_gradients_or_matrices_is_refused_by_name(simple: str) -> None:
    problem = composite(simple)
    words = {"l1=0.4": "penalty", "box=[-1,1.5]": "box", "ball=1.25": "ball"}[simple]
    x = np.zeros((1, 2))
    for ask in (
        lambda: problem.gradient(0, x[0]),
        lambda: problem.gradients(0, x),
        lambda: problem.full_gradient(x[0]),
        lambda: problem.prox(0, x[0], 1.0),
        lambda: Certified(problem).squared_slope(x[0]),
    ):
        with pytest.raises(AssumptionError, match=f"{words}.*proximal gradient steps"):
            ask()
    assert problem.quadratic() is None
    area = lookup("algorithms", "area")
    parameters = area.read(Options("area", {"alpha": 0.1}))
    delays = build_delays("exponential", {}, problem.n)
    law = delays, area.policy("poisson", delays)
    assert "moments" not in engine("gap", area, problem, parameters, *law)[0]
    assert words in engine("gradient-norm", area, problem, parameters, *law)[1]
    for noise, how in (("gaussian", ""), ("sign", "enumeration")):  # signs are those of the steps before the map
        noisy = problem_from(f"quadratic:clients={problem.n},dimension=2,{simple},sigma=1,noise={noise}")
        assert engine("gap", area, noisy, parameters, *law)[0].split(" ")[0] == how
    tape = compile_trial(area, parameters, 3, delays, area.policy("poisson", delays), 3, RecordAt(), Streams(0))
    with pytest.raises(AssumptionError, match="quadratic"):
        moments.along(problem, tape, METRICS["gap"], np.array([3]))


@pytest.mark.parametrize("simple", SIMPLE)
@pytest.mark.parametrize("sigma", [0, 1])
def test_implicit_steps_are_refused_whoever_does_them(simple: str, sigma: int) -> None:
    torch = pytest.importorskip("torch")
    from boundlab.execute import lockstep
    from boundlab.execute.device import Loop
    from boundlab.execute.packing import pack

    problem = problem_from(f"quadratic:clients=1,dimension=2,{simple},sigma={sigma}")
    who, delays = lookup("algorithms", "proximal_point"), build_delays("exponential", {}, 1)
    parameters = who.read(Options(who.id, {"alpha": 1}))
    tape = compile_trial(who, parameters, 1, delays, who.policy(None, delays), 2, RecordAt(), Streams(0))
    with pytest.raises(AssumptionError):
        by_floats(tape, problem)
    cpu = torch.device("cpu")
    for own in (problem.tensors(cpu, torch.float64), Loop(problem)):
        assert own is not None
        with pytest.raises(AssumptionError):
            lockstep.run(pack([tape]), problem.x0, own, 0, [0], lambda *_: None, cpu, torch.float64, fused=False)


def test_an_option_that_a_family_has_itself_is_the_family_s(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[Mapping[str, Any]] = []
    problem = problem_from("quadratic:clients=1")

    def build(options: Options) -> Problem:
        given.append(options.values)
        return problem

    family = ProblemType("mine", "a family with a penalty of its own", build, {"l1": "its own"})
    monkeypatch.setattr("boundlab.case.lookup", lambda *_: family)
    assert build_problem("mine", {"l1": "2"}).simple is None
    assert build_problem("mine", {"l1": "2", "ball": "1"}).simple == BallIndicator(Fraction(1))
    assert given == [{"l1": "2"}, {"l1": "2"}]
