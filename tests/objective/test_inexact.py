"""Gradients with an error: a run with errors e_i is one on f_i + ⟨e_i, x⟩, and what is measured is f.

A run with errors r_i·∇f_i is one on (1 + r_i)·f_i.

No theorem is asked about such a run unless it says how large errors may be.
"""

import json
from fractions import Fraction
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from tape_makers import programs

import boundlab as bl
from boundlab.arithmetic import numbers
from boundlab.arithmetic.numbers import exact_array
from boundlab.assumptions import ASSUMPTIONS, INEXACT, RELATIVE, UNBIASED
from boundlab.case import problem_from
from boundlab.cli import invoke
from boundlab.errors import AssumptionError, BoundlabError, SpecError
from boundlab.events import Events
from boundlab.execute import enclosed, floats, rationals
from boundlab.execute._rows import own_numbers
from boundlab.execute.iterates import Iterates
from boundlab.instance.applicability import along_run, check, of_constants
from boundlab.instance.fitting import applies, largest_steps
from boundlab.metrics import Certified, Proved
from boundlab.objective import Problem, ProblemType, by_client
from boundlab.objective.inexact import Inexact
from boundlab.objective.simple import OPTIONS
from boundlab.objective.weighted import Weighted
from boundlab.options import Options
from boundlab.randomness import Streams
from boundlab.registry import lookup, registered
from boundlab.tape import RecordAt, Tape
from boundlab.theorems import Theorem
from boundlab.verdict import Verdict

THEOREMS: dict[str, Theorem] = registered("theorems")
PROBLEMS: dict[str, ProblemType] = registered("problems")
X0 = "x0=[0.5,-0.75]"
ERRORS = "error=[[1.5,0],[0.5,1.5],[1,-0.25]]"
MATRICES = "A=[[[2,1],[1,2]],[[1,0],[0,3]],[[2,0],[0,1]]]"
# f_i + ⟨e_i, x⟩ has its minimiser at b_i − A_i⁻¹e_i, in dyadic fractions; a piece of a maximum, the slope a_ij + e_i.
QUADRATIC = f"quadratic:{MATRICES},b=[[0,3],[2,0],[-1,-2]],{X0}"
PIECES = f"max-affine:a=[[[1,0],[0,2]],[[1,1],[-1,0]],[[0,-1],[2,0]]],b=[[0,1],[1,0],[0,0.5]],{X0}"
TILTED = {
    f"{QUADRATIC},{ERRORS}": (f"quadratic:{MATRICES},b=[[-1,3.5],[1.5,-0.5],[-1.5,-1.75]],{X0}"),
    f"{PIECES},{ERRORS}": (
        f"max-affine:a=[[[2.5,0],[1.5,2]],[[1.5,2.5],[-0.5,1.5]],[[1,-1.25],[3,-0.25]]],b=[[0,1],[1,0],[0,0.5]],{X0}"
    ),
}
# (I + E_i)A_i is symmetric here: steps are those of other quadratics. (1 + r_i)·f_i is a maximum of longer pieces.
TURNED = {
    f"{QUADRATIC},error=relative:[[[0.5,0.25],[0.25,0.5]],[[-0.5,0],[0,0.25]],[[0,0],[0,-0.75]]]": (
        f"quadratic:A=[[[3.25,2],[2,3.25]],[[0.5,0],[0,3.75]],[[2,0],[0,0.25]]],b=[[0,3],[2,0],[-1,-2]],{X0}"
    ),
    f"{PIECES},error=relative:[0.5,-0.5,1]": (
        f"max-affine:a=[[[1.5,0],[0,3]],[[0.5,0.5],[-0.5,0]],[[0,-2],[4,0]]],b=[[0,1.5],[0.5,0],[0,1]],{X0}"
    ),
}
PAIRS = [*TILTED.items(), *TURNED.items()]
SMOOTH = [pair for pair in PAIRS if pair[0].startswith("quadratic")]  # at kinks floats may take either side
NOISE = ("", ",sigma=0.5", ",sigma=0.5,noise=sign,direction=[0.6,0.8]")


def by_floats(tape: Tape, problem: Problem) -> np.ndarray:
    shown = [problem.x0]
    floats.run(tape, problem.x0, problem.oracle(Streams(0)), lambda _, x: shown.append(x.copy()))
    return np.array(shown[1:]).reshape(-1, problem.d)


def exactly(tape: Tape, problem: Problem, options: dict[str, Any], *, balls: bool) -> np.ndarray:
    shown: list[list[Any]] = []
    model = problem.rational(options)
    assert model is not None
    with numbers.digits(256):
        rationals.run(tape, model, [], lambda _, x: shown.append([*x]), balls=balls)
    return np.array(shown, dtype=object).reshape(-1, problem.d)


def near(found: np.ndarray, expected: np.ndarray) -> bool:
    return np.allclose(found, expected, rtol=1e-9, atol=1e-9 * max(1.0, float(np.abs(expected).max(initial=0.0))))


# ------------------------------------------------------------------------- a run is one on the tilted functions


@pytest.mark.sweep(3)
@pytest.mark.parametrize("noise", NOISE)
@pytest.mark.parametrize(("plain", "tilted"), SMOOTH)
@settings(max_examples=20)
@given(tape=programs(4))
def test_any_program_runs_as_on_the_tilted_functions(plain: str, tilted: str, noise: str, tape: Tape) -> None:
    problem, other = problem_from(f"{plain}{noise}"), problem_from(f"{tilted}{noise}")
    assert isinstance(problem, Inexact)
    assert near(by_floats(tape, problem), by_floats(tape, other))


@pytest.mark.sweep(2)
@pytest.mark.parametrize(("plain", "tilted"), PAIRS)
@settings(max_examples=15)
@given(tape=programs(4))
def test_fractions_and_balls_do_the_same(plain: str, tilted: str, tape: Tape) -> None:
    problem, other = problem_from(plain), problem_from(tilted)
    assert (exactly(tape, problem, {}, balls=False) == exactly(tape, other, {}, balls=False)).all()
    in_balls = exactly(tape, problem, {}, balls=True)
    assert near(in_balls.astype(float), exactly(tape, other, {}, balls=True).astype(float))


@pytest.mark.nightly
@pytest.mark.parametrize(
    "spec",
    [
        f"{PIECES},error=[[0.1,-0.7],[1e8,0.3],[0,1e-9]]",
        f"{PIECES},error=relative:[[0.1,-0.7],[1e3,0.3]]",
        f"{QUADRATIC},error=relative:[[0.1,-0.7],[3,0.3]]",
    ],
)
@settings(max_examples=25)
@given(tape=programs(4))
def test_what_floats_prove_of_a_run_holds_without_rounding(spec: str, tape: Tape) -> None:
    problem = problem_from(spec)
    points: list[Any] = []
    vectors = Iterates(tape, problem, problem.full_gradients())
    enclosed.run(tape, own_numbers(tape), vectors, lambda _, point: points.append(point))
    for point, exact in zip(points, exactly(tape, problem, {}, balls=False), strict=True):
        away = exact - exact_array([Fraction(entry) for entry in point.value.tolist()])
        assert float((away * away).sum()) <= float(point.error) ** 2 * (1 + 1e-9)


@pytest.mark.parametrize("noise", [False, True])
@pytest.mark.parametrize(
    ("error", "curvatures", "centres"),
    [("[[0.5],[-1]]", [1.0, 2.0], [-0.5, 1.5]), ("relative:[0.5,-0.25]", [1.5, 1.5], [0.0, 1.0])],
)
def test_means_over_all_events_and_signs_are_those_of_all_runs(
    error: str, curvatures: list[float], centres: list[float], noise: bool, tmp_path: Path
) -> None:
    assumed, size = (RELATIVE, "eps_g*R") if error.startswith("relative") else (INEXACT, "delta_g/mu")
    path = tmp_path / "mine.toml"
    path.write_text(
        'id = "mine.mean"\nmetric = "squared-distance"\nalgorithm = "async_sgd"\n'
        f'assumptions = ["strongly-convex", "smooth", "bounded-variance", "iid-events", "{assumed}"]\n'
        f'[step]\nalpha = "1/(4*L)"\n[terms]\nwhole = "(R + {size} + zeta + sigma/mu)**2"\n'
    )
    matrices, more = "quadratic:A=[[[1]],[[2]]],x0=2", ",sigma=0.5,noise=sign" if noise else ""
    plain = f"{matrices},b=[[0],[1]],error={error}{more}"
    found = bl.compare(path, plain, "exponential", iterations=2, trials=2)
    assert found.exact == "expectation"
    tilted = problem_from({"type": "quadratic", "A": [[[a]] for a in curvatures], "b": [[b] for b in centres], "x0": 2})
    algorithm, left = lookup("algorithms", "async_sgd"), 0.0
    parameters = algorithm.read(Options("async_sgd", {"alpha": 0.125}))
    for who in product(range(2), repeat=2):
        tape = algorithm.schedule(parameters, Events(np.array([1.0, 2.0]), np.array(who)), 2, RecordAt(), 2)
        x = by_floats(tape, tilted)[-1, 0]
        left += (x - 2 / 3) ** 2 / 4  # x* = (0 + 2·1)/(1 + 2)
        # The gradient of the second update is taken at x_1 by whoever made the first, else at x0.
        stays = (1 - 0.125 * curvatures[who[1]]) if who[0] == who[1] else 1.0
        left += (0.125 * 0.5) ** 2 * (stays**2 + 1) / 4 if noise else 0.0
    assert found.band.mean[-1] == pytest.approx(left, rel=1e-12)


def test_proximal_steps_are_those_of_the_tilted_functions() -> None:
    ((plain, tilted), _), x = TILTED.items(), np.array([1.25, -3.0])
    problem, other = problem_from(plain), problem_from(tilted)
    exact, of_other = problem.rational({}), other.rational({})
    assert exact is not None
    assert of_other is not None
    for client in range(3):
        assert near(problem.prox(client, x, 0.5), other.prox(client, x, 0.5))
        point, half = (
            exact_array([Fraction(5, 4), Fraction(-3)]),
            numbers.rational(Fraction(1, 2)),
        )
        assert (exact.prox(client, point, half) == of_other.prox(client, point, half)).all()


EVERY = [
    (kind, place)
    for kind, one in sorted(PROBLEMS.items())
    for place, options in enumerate(one.examples)
    if OPTIONS.keys().isdisjoint(options)
]


@pytest.mark.sweep(9)
@pytest.mark.parametrize("relative", [False, True])
@pytest.mark.parametrize(("kind", "place"), EVERY)
def test_every_problem_takes_an_error_and_keeps_its_objective(kind: str, place: int, relative: bool) -> None:
    options = {**PROBLEMS[kind].examples[place]}
    plain = problem_from({"type": kind, **options})
    drawn, x = np.random.default_rng(place), np.array(plain.x0) + 0.3
    if relative:
        factors = drawn.normal(size=(plain.n, plain.d, plain.d))
        raw: Any = f"relative:{json.dumps(factors.tolist())}"
        e = np.array([factors[client] @ plain.gradient(client, x) for client in range(plain.n)])
    else:
        e = drawn.normal(size=(plain.n, plain.d))
        raw = e.tolist()
    problem = problem_from({"type": kind, **options, "error": raw})
    assert problem.value(x) == plain.value(x)
    assert (problem.full_gradient(x) == plain.full_gradient(x)).all()
    assert problem.noiseless == plain.noiseless
    one, other = problem.oracle(Streams(3)), plain.oracle(Streams(3))
    for client in range(plain.n):
        assert near(problem.gradient(client, x) - plain.gradient(client, x), e[client])
        assert near(problem.gradients(client, x[None])[0], problem.gradient(client, x))
        numbers_of = [each.draws(np.array([client]), np.array([2]), 1)[0][0] for each in (one, other)]
        there, here = x.copy(), x.copy()
        one.step(there, client, numbers_of[0], 0.25)
        other.step(here, client, numbers_of[1], 0.25)
        assert near(there, here - 0.25 * e[client])
    again = problem_from(json.loads(json.dumps(problem.spec())))
    assert (again.gradient(0, x) == problem.gradient(0, x)).all()


# ------------------------------------------------------------------------------------------ what is known of it


def test_the_options_are_one_vector_or_one_a_client_at_their_word() -> None:
    quadratic = "quadratic:A=[[[1,0],[0,1]],[[1,0],[0,1]]],b=[[0,0],[0,0]],x0=1"
    for text, rows in {
        "0.1": [[0.1, 0.0], [0.1, 0.0]],
        "[0,1/3]": [[0.0, 1 / 3], [0.0, 1 / 3]],
        "[[1,0],[0,-2]]": [[1.0, 0.0], [0.0, -2.0]],
    }.items():
        problem = problem_from(f"{quadratic},error={text}")
        assert problem.gradient(0, np.zeros(2)).tolist() == rows[0]
        assert problem.gradient(1, np.zeros(2)).tolist() == rows[1]
        model = problem.rational({"error": text})
        assert model is not None
        assert str(model.gradient(0, exact_array([Fraction(0)] * 2))[0]) in ("1/10", "0", "1")
    assert not isinstance(problem_from(f"{quadratic},error=0"), Inexact)
    for wrong in (
        "[1,2,3]",
        "[[1,0]]",
        "[[1,0],[0]]",
        "[[1,0],[0,a]]",
        "[[1,0],3]",
        "[[[1,0],[0,1]]]",
        "nan",
        "[[1,{}]]",
    ):
        with pytest.raises(SpecError, match="problem quadratic: error"):
            problem_from(f"{quadratic},error={wrong}")
    for h in ("box=[-3,3]", "ball=4", "l1=0.1"):
        with pytest.raises(SpecError, match="error goes with f alone; leave out"):
            problem_from(f"{quadratic},error=1,{h}")


def test_relative_errors_are_numbers_or_matrices_for_all_clients_or_one_a_client() -> None:
    quadratic = "quadratic:A=[[[1,0],[0,1]],[[1,0],[0,1]],[[1,0],[0,1]]],b=[[0,0],[0,0],[0,0]],x0=1"
    turned = "[[0,-0.25],[0.25,0]]"
    one = exact_array([Fraction(4), Fraction(8)])  # where every ∇f_i is (4, 8)
    for text, found in {
        "1/4": [("5", "10")] * 3,
        "[0.5,-1,1/3]": [("6", "12"), ("0", "0"), ("16/3", "32/3")],
        turned: [("2", "9")] * 3,
        f"[{turned},[[0,0],[0,0]],[[0,1],[0,0]]]": [("2", "9"), ("4", "8"), ("12", "8")],
    }.items():
        problem = problem_from(f"{quadratic},error=relative:{text}")
        model = problem.rational({"error": text})
        assert model is not None
        for client, at_word in enumerate(found):
            assert tuple(map(str, model.gradient(client, one))) == at_word
            assert near(problem.gradient(client, np.array([4.0, 8.0])), np.array([float(Fraction(x)) for x in at_word]))
    assert not isinstance(problem_from(f"{quadratic},error=relative:0"), Inexact)
    for wrong in ("", "[1,2]", "[[1,0]]", "[[1,0],[0]]", "[[1,0],[0,a]]", "[[[1,0],[0,1]]]", "nan", "relative:1"):
        with pytest.raises(SpecError, match="problem quadratic: error"):
            problem_from(f"{quadratic},error=relative:{wrong}")
    with pytest.raises(SpecError, match="error goes with f alone; leave out"):
        problem_from(f"{quadratic},error=relative:1,ball=4")
    for ask in (problem.prox, model.prox):
        with pytest.raises(BoundlabError, match="a relative error has no proximal step"):
            ask(0, one, 1)


def test_constants_beside_a_relative_error_are_those_of_f_and_the_largest_norm() -> None:
    known, own = (
        problem_from(f"huber:c=[0,1],w=2,x0=2,sigma=0.5{e}").constants() for e in ("", ",error=relative:[3,-4]")
    )
    assert {name: one for name, one in own.items() if name not in ("G", "eps_g")} == {
        name: one for name, one in known.items() if name != "G"
    }
    assert (own["eps_g"].value, own["eps_g"].side) == (4.0, "exact")
    # The largest slope is 2: E‖g + e‖² = (2 + 8)² + σ² for the second client.
    assert own["G"].value >= 100.25**0.5
    # Turned by a right angle and 1/4 as long; a shear, whose norm is the golden ratio.
    quadratic = "quadratic:A=[[[1,0],[0,4]]],b=[[0,0]],x0=1"
    for text, norm, at_word in (
        ("[[0,-0.25],[0.25,0]]", 0.25, "1/4"),
        ("[[3,-4],[4,3]]", 5.0, "5"),
        ("[[1,1],[0,1]]", (1 + 5**0.5) / 2, None),
    ):
        problem = problem_from(f"{quadratic},error=relative:{text}")
        found, model = problem.constants()["eps_g"], problem.rational({"error": text})
        assert norm <= found.value * (1 + 1e-15) <= norm * (1 + 1e-13)
        assert model is not None
        assert str(model.constants().get("eps_g")) == str(at_word)
    # L_i and mu_i are of f_i, however long its steps are.
    short = problem_from("quadratic:A=[[[1]],[[2]]],b=[[0],[0]],error=relative:[-0.5,1]")
    curvatures = by_client(short, ("L_i", "mu_i"))
    assert {name: found.tolist() for name, found in curvatures.items()} == {"L_i": [1.0, 2.0], "mu_i": [1.0, 2.0]}


def test_constants_are_those_of_f_and_the_length_of_errors_and_gradients() -> None:
    plain, problem = (problem_from(f"huber:c=[0,1],x0=2,sigma=0.5{more}") for more in ("", ",error=[[3],[-4]]"))
    known, own = plain.constants(), problem.constants()
    assert {name: one for name, one in own.items() if name not in ("G", "delta_g")} == {
        name: one for name, one in known.items() if name != "G"
    }
    assert (own["delta_g"].value, own["delta_g"].side) == (4.0, "exact")
    # The largest slope is 1: E‖g + e‖² = (1 + 4)² + σ² for the second client.
    assert own["G"].value >= 25.25**0.5
    wide = problem_from("huber:c=[[0,0],[0,0]],error=[[3,4],[0,1]]").constants()["delta_g"]
    assert wide.side == "upper"
    assert 5.0 <= wide.value <= 5.0 * (1 + 1e-14)
    keys = [problem_from(f"huber:c=[0,0],error={e}") for e in ("[[1],[1]]", "[[1],[2]]")]
    assert [one.client_key(0) == one.client_key(1) for one in keys] == [True, False]


def test_slopes_of_many_points_are_those_of_the_objective() -> None:
    points = np.array([[2.0], [-1.0]])
    inexact = problem_from("quadratic:A=[[[1]],[[2]]],b=[[0],[0]],error=5")
    assert Certified(inexact).squared_slope(points)[0].tolist() == [9.0, 2.25]  # ∇f(x) = 1.5x
    of_mean = problem_from("quadratic:A=[[[0.5]],[[3]]],b=[[0],[0]]")
    weighted = Weighted(inexact, of_mean, (Fraction(1, 4), Fraction(3, 4)))
    assert Certified(weighted).squared_slope(points)[0].tolist() == [12.25, 3.0625]  # 1.75x


@pytest.mark.parametrize("error", ["10", "relative:10"])
def test_nothing_is_concluded_from_constants_about_where_steps_lead(error: str) -> None:
    # From x* a run goes to −e/μ = −10, beyond any set that full gradients keep to; with steps 11 times as long, to ∞.
    spec = "quadratic:A=[[[1]]],b=[[0]],x0=0"
    assert of_constants(problem_from(spec)) is not None
    problem = problem_from(f"{spec},error={error}")
    assert of_constants(problem) is None
    assert along_run(problem) is problem
    assert problem.confinement() is None
    assert problem.why_not("bounded-run")
    assert largest_steps(problem, THEOREMS.values()) == []
    with pytest.raises(SpecError, match=r"no gradients ∇f_i\(x\*\)"):
        Proved(problem).squared_control((np.zeros(1), 0.0), 0)


# ----------------------------------------------------------------------------------- which theorems are about it


@pytest.mark.sweep(21)
@pytest.mark.parametrize("error", ["0.1", "relative:0.1"])
@pytest.mark.parametrize("name", sorted(THEOREMS))
def test_no_registered_theorem_is_asked_about_a_problem_with_an_error(name: str, error: str) -> None:
    theorem, problem = THEOREMS[name], problem_from(f"huber:c=[0,1],x0=2,error={error}")
    # Nothing but the errors is looked at before.
    nothing = SimpleNamespace()
    with pytest.raises(
        AssumptionError, match=f"{name} assumes {UNBIASED} .*; problem huber: its gradients have an error"
    ):
        check(theorem, problem, nothing, nothing, nothing, nothing, (*ASSUMPTIONS, "options"))  # type: ignore[arg-type]
    found = applies(theorem, problem)
    assert found.options is None
    assert len(found.reason.splitlines()) == 1


# ------------------------------------------------------------------------------ a theorem that says how large
#
# gd with step 1/L and ‖e_k‖ ≤ δ on an L-smooth μ-strongly convex f: x ↦ x − ∇f(x)/L brings points nearer to x* by
# q = 1 − μ/L, so that r_{k+1} ≤ q·r_k + δ/L, and r_K ≤ q^K·R + (δ/L)/(1 − q) = q^K·R + δ/μ.

OWN = """
id = "mine.inexact"
metric = "squared-distance"
algorithm = "gd"
assumptions = {assumptions}
[step]
alpha = "1/L"
[terms]
whole = "((1 - mu/L)**K*R + {floor})**2"
"""
STATED = ["strongly-convex", "smooth", INEXACT]


def own(folder: Path, floor: str = "delta_g/mu", assumptions: list[str] = STATED) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / "mine.toml"
    path.write_text(OWN.format(floor=floor, assumptions=json.dumps(assumptions)))
    return path


SQUARE = "quadratic:A=[[[1,0],[0,4]]],b=[[0,0]],x0=[{x0}]"


def test_a_problem_without_an_error_meets_it_with_zero_and_a_larger_one_may_be_set(tmp_path: Path) -> None:
    plain = bl.compare(own(tmp_path), SQUARE.format(x0="2,1"), "deterministic", iterations=5)
    assert plain.verdict is Verdict.HOLDS
    assert plain.bound[-1] == pytest.approx((0.75**5) ** 2 * 5)
    with_error = SQUARE.format(x0="2,1") + ",error=[0.1,0]"
    wide = bl.compare(own(tmp_path), with_error, "deterministic", iterations=5, settings={"delta_g": "0.2"})
    assert wide.bound[-1] == pytest.approx((0.75**5 * 5**0.5 + 0.2) ** 2)
    with pytest.raises(BoundlabError, match=r"at least 0\.1"):
        bl.compare(own(tmp_path), with_error, "deterministic", iterations=5, settings={"delta_g": "0.05"})


# gd with ‖e_k‖ ≤ ε‖∇f(x_k)‖: x_{k+1} is at most ‖z − α∇f‖ + αε‖∇f‖ from x*, z = x_k − x*. With c = (L + μ)/2 and
# r = (L − μ)/2, ∇f lies in the ball around cz of radius r‖z‖, and the convex sum is largest on its boundary: at
# ∇f = cz + r‖z‖u with |u| = 1. It is concave in cos ∠(u, z), and falls from −1 on as long as α ≤ (μ − εc)/((1 − ε)μc).
# Then it is at most (1 − αμ(1 − ε))‖z‖, as on μx²/2 with the error −ε∇f.

SHRINKING = """
id = "mine.relative"
metric = "squared-distance"
algorithm = "gd"
assumptions = {assumptions}
conditions = ["alpha <= (2*mu - eps_g*(L + mu))/((1 - eps_g)*mu*(L + mu))"]
settable = ["alpha"]
[step]
alpha = "(2*mu - eps_g*(L + mu))/((1 - eps_g)*mu*(L + mu))"
[terms]
whole = "((1 - alpha*mu*{shrunk})**K*R)**2"
"""
RELATIVELY = ["strongly-convex", "smooth", RELATIVE]


def shrinking(folder: Path, shrunk: str = "(1 - eps_g)", assumptions: list[str] = RELATIVELY) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / f"relative{len(assumptions)}.toml"
    path.write_text(SHRINKING.format(shrunk=shrunk, assumptions=json.dumps(assumptions)))
    return path


def test_a_theorem_about_one_kind_of_error_is_not_about_the_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = SQUARE.format(x0="2,1")
    both = shrinking(tmp_path, assumptions=[*RELATIVELY, INEXACT])
    for path, assumed, error in (
        (own(tmp_path), INEXACT, "relative:0.1"),
        (shrinking(tmp_path), RELATIVE, "0.1"),
        (both, INEXACT, "relative:0.1"),
        (both, RELATIVE, "0.1"),
    ):
        for more in ([], ["--beyond", assumed]):
            assert invoke(["compare", str(path), "-p", f"{spec},error={error}", "-k", "3", *more]) == 4
            assert f"assumes {assumed} " in capsys.readouterr().err
    for path in (own(tmp_path), both):
        assert bl.compare(path, spec, "deterministic", iterations=5).verdict is Verdict.HOLDS


@pytest.mark.nightly
def test_a_search_draws_problems_with_errors(tmp_path: Path) -> None:
    for true, false in (
        (own(tmp_path), own(tmp_path / "false", "delta_g/(2*mu)")),
        (shrinking(tmp_path), shrinking(tmp_path / "false", "1")),
    ):
        assert bl.falsify(true, candidates=60, jobs=1).verdict is Verdict.INCONCLUSIVE
        found = bl.falsify(false, candidates=60, jobs=1)
        assert found.verdict is Verdict.VIOLATED
        assert "error = " in str(found)
        assert bl.exact(false, dict(found.case)).verdict is Verdict.VIOLATED


def test_proofs_refuse_it_in_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for path in (own(tmp_path, "0*mu"), shrinking(tmp_path, "1")):  # true without errors, and would be proved
        assert invoke(["prove", str(path), "--search"]) in (2, 4)
        said = capsys.readouterr().err.strip().splitlines()
        assert len(said) == 1
        assert "gradients with" in said[0]


@pytest.mark.nightly
def test_a_proof_about_gradients_without_errors_is_none_of_a_theorem_with_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (
        'id = "mine.gap"\nmetric = "gradient-norm-last"\nalgorithm = "gd"\nsettable = ["alpha"]\n'
        'conditions = ["alpha <= 1/L"]\nassumptions = ["convex", "smooth", "minimiser", "deterministic"{more}]\n'
        '[step]\nalpha = "1/L"\n[terms]\nwhole = "2*F0*L/(2*K*L*alpha + 1)"\n'
    )
    path, trace = tmp_path / "gap.toml", str(tmp_path / "trace.json")
    path.write_text(text.replace("{more}", ""))
    assert invoke(["prove", str(path), "--with", "classics.gd.gradient-gap", "--trace", trace, "-q"]) == 0
    assert invoke(["recheck", trace, "--theorem", str(path)]) == 0
    for assumed in (INEXACT, RELATIVE):
        path.write_text(text.replace("{more}", f', "{assumed}"'))
        capsys.readouterr()
        assert invoke(["recheck", trace, "--theorem", str(path)]) == 3
        assert "is about gradients with errors" in capsys.readouterr().out


@pytest.mark.parametrize("backend", ["numpy", "torch"])
def test_no_way_of_asking_gets_around_the_error(
    backend: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain, spec = own(tmp_path, "0*mu", STATED[:2]), SQUARE.format(x0="2,1") + ",error=[0.1,0]"
    for more in ([], ["--exact"], ["--beyond", "options"]):
        assert invoke(["compare", str(plain), "-p", spec, "-k", "3", "-r", "2", "--backend", backend, *more]) == 4
        assert f"assumes {UNBIASED}" in capsys.readouterr().err
    assert invoke(["compare", str(own(tmp_path)), "-p", spec, "-k", "3", "-r", "2", "--backend", backend]) == 0


def test_a_theorem_that_reads_gradients_at_points_is_not_about_it(tmp_path: Path) -> None:
    path = tmp_path / "pl.toml"
    path.write_text(
        'id = "mine.pl"\nmetric = "gap"\nalgorithm = "gd"\n'
        f'assumptions = ["smooth", "bounded-below", "{INEXACT}"]\n[symbols.m]\nmeaning = "PL"\ndomain = "positive"\n'
        'units = [1, -2]\n[assume]\npl = "2*m*gap <= slope"\n'
        '[step]\nalpha = "1/L"\n[terms]\nwhole = "F0 + delta_g**2/L"\n'
    )
    with pytest.raises(AssumptionError, match="reads gradients at points"):
        bl.compare(path, SQUARE.format(x0="2,1") + ",error=1", "deterministic", iterations=2, settings={"m": "1"})
