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
from boundlab.expectation import engine, left_side, moments
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


# ---- by hand: f = (x − 3)², α = 1/4, from x = 0: gradient steps go to 3/2 + x/2 ------------------------------------

BY_HAND = {
    # 3/2 − 1/4, 17/8 − 1/4; F = (x − 3)² + |x| is smallest at 5/2, where it is 11/4.
    "l1": (1, [1.25, 1.875], 25 / 16),
    # Both steps end at 1, the minimiser.
    "box": ([-1, 1], [1.0, 1.0], 0.0),
    "ball": (1, [1.0, 1.0], 0.0),
}
THEOREM = """
id = "mine.proximal-gradient"
metric = "gap"
algorithm = "gd"
assumptions = ["convex", "smooth", "minimiser", "composite", "one-function"]
[step]
alpha = "1/(2*L)"
[terms]
bound = "R**2/(2*alpha*K)"
"""


def files(folder: Path, simple: str) -> tuple[Path, Path]:
    case = {
        "algorithm": "gd",
        "problem": {"type": "quadratic", "A": [[[2]]], "b": [[3]], simple: BY_HAND[simple][0]},
        "parameters": {"alpha": 0.25},
        "events": [[1, "s"], [2, "s"]],
    }
    paths = folder / "case.json", folder / "mine.toml"
    paths[0].write_text(json.dumps(case))
    paths[1].write_text(THEOREM)
    return paths


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


WALLS = {"box=[-1,1.5]": (-1, Fraction(3, 2)), "ball=1.25": (-Fraction(5, 4), Fraction(5, 4))}


@pytest.mark.nightly
@pytest.mark.parametrize("simple", WALLS)
@pytest.mark.parametrize(("sampling", "K"), [("all", 3), ("uniform", 4)])
def test_noise_of_two_signs_is_cut_by_the_set_after_it_was_added(
    simple: str, sampling: str, K: int, tmp_path: Path
) -> None:
    # f_0 = x², f_1 = (x − 1)²/2, steps x ← P(x − ½(f_i'(x) ± 2)) from ½, each client's noise its own.
    (low, high), half = WALLS[simple], Fraction(1, 2)
    slopes = (lambda x: 2 * x, lambda x: x - 1)

    def moved(x: Fraction, client: int, sign: int) -> Fraction:
        return min(max(x - half * (slopes[client](x) + 2 * sign), low), high)

    ends = [Fraction(1, 2)]
    for _ in range(K):
        if sampling == "all":
            ends = [(moved(x, 0, s) + moved(x, 1, t)) / 2 for x, s, t in product(ends, (1, -1), (1, -1))]
        else:
            ends = [moved(x, client, s) for x, client, s in product(ends, (0, 1), (1, -1))]
    mean = sum((x - Fraction(1, 3)) ** 2 for x in ends) / len(ends)

    problem = problem_from(f"quadratic:A=[[[2]],[[1]]],b=[[0],[1]],sigma=2,noise=sign,x0=0.5,{simple}")
    gd: Any = lookup("algorithms", "gd")
    parameters = gd.read(Options("gd", {"alpha": 0.5, "sampling": sampling}))
    delays = build_delays("deterministic", {}, 2)
    run = (METRICS["squared-distance"], gd, problem, parameters, delays, gd.policy(None, delays))
    found = left_side(*run, K)
    assert found.lower[0] <= float(mean) * (1 + 1e-15)
    assert found.upper[0] >= float(mean) * (1 - 1e-15)
    assert found.value[0] == pytest.approx(float(mean), rel=1e-13)
    # Exactly, as a case; and scattered, as trials.
    assert exactly(problem, sampling, K, tmp_path) == pytest.approx(float(mean), rel=1e-15)
    squares = []
    for trial in range(1500):
        tape = compile_trial(gd, parameters, 2, delays, run[-1], K, RecordAt(), Streams(7, trial))
        shown = by_floats(tape, problem, problem.oracle(Streams(7, trial)))
        squares.append((float(shown[-1, 0]) - 1 / 3) ** 2)
    assert abs(np.mean(squares) - float(mean)) < 5 * np.std(squares) / np.sqrt(len(squares))


def exactly(problem: Problem, sampling: str, K: int, folder: Path) -> float:
    """Return E‖x_K − x*‖² as `boundlab exact` finds it without rounding, under a theorem that says what that is."""
    theorem = folder / "theorem.toml"
    theorem.write_text(
        f"""id = "mine"
title = "any"
paper = "mine"
algorithm = "gd"
metric = "squared-distance"
assumptions = ["smooth", "minimiser", "composite"{', "uniform-sampling"' if sampling == "uniform" else ""}]
options = {{ M = 1, sampling = "{sampling}", decay = "none" }}
[step]
alpha = "alpha"
[terms]
any = "R**2 + sigma**2 + alpha*sigma**2*K"
"""
    )
    case = {
        "algorithm": "gd", "problem": problem.spec(), "iterations": K, "delays": "deterministic",
        "parameters": {"alpha": "1/2", "sampling": sampling},
    }  # fmt: skip
    file = folder / "case.json"
    file.write_text(json.dumps(case))
    found = evaluate(load_theorem(str(theorem)), load_case(file))
    assert found.kind == "exact"
    return found.left


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
