"""Compiled loops say what the reference says: tapes to the last bit, iterates to 1e-12; errors are large enough."""

from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, strategies as st
from problem_makers import MODELS, generated, point, tiny
from run_makers import plan_of, tape_of
from tape_makers import interpreted, programs

from boundlab.algorithms import Algorithm, _fold
from boundlab.arithmetic import compiled as machine
from boundlab.arithmetic.recurrence import Weights
from boundlab.case import problem_from
from boundlab.compare import compare
from boundlab.compare.trials import trial_tape
from boundlab.errors import BoundlabError
from boundlab.execute import enclosed, floats, iterates
from boundlab.execute._rows import Update, own_numbers
from boundlab.metrics import METRICS, Certified, Proved
from boundlab.objective import Problem
from boundlab.options import Options
from boundlab.randomness import Streams
from boundlab.registry import lookup, registered
from boundlab.simulate import NUMPY, Backend
from boundlab.tape import RecordAt, Tape
from boundlab.testing._algorithm import CompiledRun, Subject

pytest.importorskip("numba", reason="numba is not installed: pip install boundlab[fast]")

WEIGHTS = Weights.of([Fraction(1), Fraction(0), *(Fraction(j, 3) for j in range(1, 40))], closed=True, what="w")
RECORDS = (
    RecordAt(),
    RecordAt(np.array([2, 5])),
    RecordAt(events=True),
    RecordAt(average=True),
    RecordAt(average=True, weights=WEIGHTS),
    RecordAt(average=True, weights=Weights(None, closed=True)),
)
PIECES = ("max-affine", "smoothed-max-affine")  # nobody compiles them
PROBLEMS = (
    "huber:clients=3,dimension=4,x0=1",
    "huber:clients=3,dimension=2,x0=1,sigma=0.5,l1=0.1",
    "pseudo-huber:clients=3,dimension=3,x0=1,box=[-0.25,2]",
    "lad:clients=3,dimension=3,x0=1,sigma=0.5,noise=sign",
    "quadratic:clients=3,dimension=5,x0=0.5,ball=1.5",
    "quadratic:clients=3,dimension=2,sigma=0.5,noise=sign,direction=[1,2]",
    "softmax:data=digits,clients=3,batch=4,nu=0.1",
    "logistic:data=breast_cancer,clients=3,batch=0,nu=0.1",
    "logistic:data=breast_cancer,clients=3,batch=500,replacement=no",
    "hinge:data=breast_cancer,clients=3,batch=5,nu=0.1",
    "least-squares:data=diabetes,clients=3,batch=300",
    "squared-hinge:data=breast_cancer,clients=3,batch=5,sample_weight=1",
    "modified-huber:data=breast_cancer,clients=3,sample_weight=2,weights=size",
    "huber-regression:data=diabetes,clients=3,batch=4,delta=0.2",
    "quantile-regression:data=diabetes,clients=3,batch=4,quantile=0.3",
    "softmax:data=digits,clients=3,batch=4,nu=0.1,sample_weight=pixel_3_3",
)


def columns(tape: Tape) -> list[Any]:
    """Return all that a tape holds."""
    parts = [tape.affine, tape.descend, tape.record, tape.uses, tape]
    return [getattr(part, name) for part in parts for name in part.__dataclass_fields__]


def same(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(np.array_equal(one[key], other[key]) for key in one)
    return hasattr(one, "__dataclass_fields__") or isinstance(one, tuple) or bool(one == other)


def algorithms() -> list[Algorithm[Any]]:
    return list(registered("algorithms").values())


@cache
def runs(name: str) -> list[CompiledRun]:
    """Return settings of an algorithm that differ in kind, each with events."""
    return Subject(lookup("algorithms", name)).schedules


# --------------------------------------------------------------------------------------------------- from arrivals


@pytest.mark.sweep(14)
@pytest.mark.parametrize("algorithm", algorithms(), ids=lambda one: one.id)
def test_python_and_machine_code_write_one_tape(algorithm: Algorithm[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    for run in runs(algorithm.id):
        for records in RECORDS:
            written = []
            for worth in (False, True):
                for module in (_fold, _fold):
                    monkeypatch.setattr(module, "worth", lambda _, worth=worth: worth)
                written.append(columns(run.tape(12, records)))
            assert all(map(same, *written)), (run.parameters, records)


def test_loops_are_compiled_once_there_is_enough_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "_passed", 0)
    assert not machine.worth(100_000)
    assert machine.worth(100_000)  # and from now on
    assert machine.worth(1)


# -------------------------------------------------------------------------------------------------------- iterates


def both(problem: Problem, tape: Tape) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return registers and records of the reference, and those of the compiled loop."""
    clients, shown = floats.clients_of(problem, tape), [[], []]
    assert clients is not None
    with np.errstate(all="ignore"):
        first = floats.run(tape, problem.x0, problem.oracle(Streams(7)), lambda _, x: shown[0].append(x.copy()))
        second = floats.run_compiled(
            tape, problem.x0, clients, problem.oracle(Streams(7)), lambda _, X, __: shown[1].extend(X.copy())
        )
    return [first, *shown[0]], [second, *shown[1]]


@pytest.mark.sweep(56)
@pytest.mark.parametrize("spec", PROBLEMS)
@pytest.mark.parametrize("algorithm", algorithms(), ids=lambda one: one.id)
def test_every_algorithm_takes_the_same_steps_on_every_problem(algorithm: Algorithm[Any], spec: str) -> None:
    problem = problem_from(spec)
    for run in runs(algorithm.id)[:1]:
        if run.problem.n != 3:
            continue
        tape = run.tape(12, RECORDS[4])
        if tape.implicit.any():
            assert floats.clients_of(problem, tape) is None
            continue
        for one, other in zip(*both(problem, tape), strict=True):
            np.testing.assert_allclose(other, one, rtol=1e-12, atol=1e-12 * float(np.abs(one).max(initial=1.0)))


@given(programs(4))
def test_any_tape_gives_the_same_registers_and_records(tape: Tape) -> None:
    problem = problem_from("pseudo-huber:c=[[1,0],[2,-1],[0,3]],x0=1")
    for one, other in zip(*both(problem, tape), strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-12, atol=1e-12)


@pytest.mark.nightly
@pytest.mark.parametrize("kind", ["logistic", "softmax"])
def test_float32_stays_float32(kind: str) -> None:
    problem = problem_from(f"{kind}:data=digits,clients=3,batch=4,nu=0.1,dtype=float32")
    tape = tape_of("fedbuff", {"eta_l": "0.05", "M": "2"}, 3, 40, records=RecordAt())
    for one, other in zip(*both(problem, tape), strict=True):
        assert other.dtype == np.float32
        np.testing.assert_allclose(other, one, rtol=1e-4, atol=1e-4)


def test_what_leaves_floats_leaves_them_in_both() -> None:
    problem = problem_from("quadratic:clients=3,dimension=2,x0=1")
    tape = tape_of("fedbuff", {"eta_l": "1e90"}, 3, 30, records=RecordAt())
    for one, other in zip(*both(problem, tape), strict=True):
        assert np.array_equal(np.isfinite(one), np.isfinite(other))


def test_few_records_and_few_random_numbers_at_a_time_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = problem_from("huber:clients=3,dimension=2,x0=1,sigma=0.5")
    tape = tape_of("fedbuff", {"eta_l": "0.05", "M": "3"}, 3, 40, records=RecordAt())
    whole = both(problem, tape)[1]
    monkeypatch.setattr(floats, "_SHOWN", 6)
    monkeypatch.setattr(floats, "_DRAWS", 12)
    assert all(map(np.array_equal, whole, both(problem, tape)[1]))


# ---------------------------------------------------------------------------------------------------------- errors


def exactly(tape: Tape, problem: Problem) -> list[Any]:
    """Return what a tape shows of quadratics or Huber functions, in fractions."""
    exact = np.vectorize(lambda one: Fraction(float(one)), otypes=[object])
    clients, d = problem.compiled(), problem.d
    assert clients is not None

    def step(row: Update[float], x: Any, size: Fraction) -> Any:
        away = x - exact(clients.b[row.client])
        if clients.kind == machine.QUADRATIC:
            return x - size * (exact(clients.a[row.client * d : (row.client + 1) * d]) @ away)
        width = Fraction(clients.width)
        return x - size * exact(clients.a[row.client]) * np.clip(away, -width, width)

    return interpreted(tape, exact(problem.x0), step, Fraction).shown


@pytest.mark.sweep(8)
@pytest.mark.parametrize("spec", ["huber:clients=3,dimension=2,x0=1", "quadratic:clients=3,dimension=2,x0=3"])
@pytest.mark.parametrize("algorithm", algorithms(), ids=lambda one: one.id)
def test_no_iterate_is_further_off_than_is_said(algorithm: Algorithm[Any], spec: str) -> None:
    problem = problem_from(spec)
    for run in runs(algorithm.id):
        tape, found = run.tape(8), []
        clients = floats.clients_of(problem, tape) if run.problem.n == problem.n else None
        if clients is None or tape.descend.steps.sum() > 60:  # whose fractions have thousands of digits
            continue
        oracle = problem.full_gradients()
        floats.run_proved(tape, problem, clients, oracle, lambda _, X, off: found.extend(zip(X.copy(), off.copy())))  # noqa: B023, B905
        for (x, off), true in zip(found, exactly(tape, problem), strict=False):
            square = sum((Fraction(float(one)) - other) ** 2 for one, other in zip(x, true, strict=True))
            assert square <= Fraction(off) ** 2


@pytest.mark.parametrize("fast", [False, True])
def test_a_projection_in_many_dimensions_is_as_far_off_as_is_said(fast: bool) -> None:
    # After 1 each further square is less than half a unit in the last place of the sum, and is lost.
    d, small = 3000, 2.0 * float(np.sqrt(0.9 * 1.1e-16))
    problem = problem_from(f"huber:c=[[2{f',{small!r}' * (d - 1)}]],delta=10,ball=0.5,x0=0")
    tape, found, oracle = tape_of("fedbuff", {"eta_l": "0.5"}, 1, 3, records=RecordAt()), [], problem.full_gradients()
    if fast:
        clients = floats.clients_of(problem, tape)
        floats.run_proved(tape, problem, clients, oracle, lambda _, X, off: found.extend(zip(X.copy(), off.copy())))  # noqa: B905
    else:
        vectors = iterates.Iterates(tape, problem, oracle)
        enclosed.run(tape, own_numbers(tape), vectors, lambda _, at: found.append((at.value.copy(), at.error)))
    with mpmath.workdps(40):
        x, centre = [mpmath.mpf(0)] * d, [mpmath.mpf(2), *[mpmath.mpf(small)] * (d - 1)]
        for value, off in found:
            away = mpmath.sqrt(sum((one - mpmath.mpf(float(other))) ** 2 for one, other in zip(x, value, strict=True)))
            assert away <= off
            x = [one - (one - other) / 2 for one, other in zip(x, centre, strict=True)]
            size = mpmath.sqrt(sum(one * one for one in x))
            x = [one / (2 * size) for one in x] if 2 * size > 1 else x


@given(programs(4, distinct=True), st.sampled_from(["huber", "quadratic"]))
def test_no_register_of_any_tape_is_further_off_than_is_said(tape: Tape, kind: str) -> None:
    problem, found = problem_from(f"{kind}:clients=3,dimension=2,x0=1"), []
    clients = floats.clients_of(problem, tape)
    oracle = problem.full_gradients()
    floats.run_proved(tape, problem, clients, oracle, lambda _, X, off: found.extend(zip(X.copy(), off.copy())))  # noqa: B905
    for (x, off), true in zip(found, exactly(tape, problem), strict=False):
        assert (
            sum((Fraction(float(one)) - other) ** 2 for one, other in zip(x, true, strict=True)) <= Fraction(off) ** 2
        )


@pytest.mark.parametrize("name", ["fedbuff", "asfedavg", "fedasync", "async_sgd", "fedfa"])
def test_errors_are_about_those_of_the_reference(name: str) -> None:
    problem = problem_from("huber:clients=5,dimension=3,x0=1")
    size = {"asfedavg": "alpha", "async_sgd": "alpha"}.get(name, "eta_l")
    tape = tape_of(name, {size: "0.05", **({"beta": "0.5"} if name == "fedasync" else {})}, 5, 300)
    clients, oracle, last, known = floats.clients_of(problem, tape), problem.full_gradients(), [], []
    assert floats.run_proved(tape, problem, clients, oracle, lambda _, __, off: last.append(off[-1]))
    vectors = iterates.Iterates(tape, problem, oracle)
    enclosed.run(tape, own_numbers(tape), vectors, lambda _, at: known.append(at.error))
    # The reference follows how errors of two models differ, which makes those of differences that come late small.
    late = name in ("fedbuff", "async_sgd")
    assert last[-1] / (np.inf if late else 3.0) < known[-1] < 3.0 * last[-1]


@pytest.mark.parametrize(
    ("theorem", "problem", "settings"),
    [
        ("fedbuff.rf1", "huber:clients=3,dimension=2,x0=1", {}),
        ("fedbuff.rf2", "huber:clients=3,dimension=2,x0=1", {}),
        ("classics.gd.convex", "pseudo-huber:clients=3,dimension=2,x0=1", {}),
        ("area.theorem8", "lad:clients=3,dimension=2,x0=1", {}),
        ("area.theorem8", "huber:clients=3,dimension=2,x0=1", {}),
    ],
)
def test_both_ways_enclose_one_left_side(theorem: str, problem: str, settings: dict[str, Any]) -> None:
    plan = plan_of(theorem, problem, "exponential:spread=3", 30, **settings)
    tape, one = trial_tape(plan, 0, 0), plan.problem
    ends = [
        iterates.along(plan.metric, one, tape, one.full_gradients(), plan.ks, compiled=fast) for fast in (False, True)
    ]
    np.testing.assert_allclose(ends[1].value, ends[0].value, rtol=1e-12, atol=1e-14)
    assert (ends[0].lower <= ends[1].upper).all()
    assert (ends[1].lower <= ends[0].upper).all()
    assert (ends[1].upper <= ends[1].value * (1 + 1e-9) + 1e-12).all()


# ------------------------------------------------------------------------------------------------------ many points


@pytest.mark.sweep(4)
@pytest.mark.parametrize("kind", ["huber", "lad", "pseudo-huber", "quadratic", "max-affine", *MODELS])
@pytest.mark.parametrize("seed", range(3))
def test_many_points_are_measured_as_one_is(kind: str, seed: int) -> None:
    problem = tiny(kind, seed) if kind in MODELS else generated(kind, seed)
    X = np.stack([point(problem, seed + place) for place in range(5)])
    off = np.array([0.0, 1e-9, 1e-3, 1.0, np.inf])
    for name in ("gap", "squared-distance", "gradient-norm"):
        metric = replace(METRICS[name])
        for function, rows_of in ((Certified(problem), X), (Proved(problem), (X, off))):
            try:
                many = np.array(metric.at(function, rows_of))
            except BoundlabError:
                continue
            single = list(X) if rows_of is X else list(zip(X, off, strict=True))
            each = np.array([metric.at(function, one) for one in single]).T
            np.testing.assert_allclose(many, each, rtol=1e-9, atol=1e-12)


@pytest.mark.sweep(2)
@pytest.mark.parametrize("noise", ["", ",sigma=0.5"])
@pytest.mark.parametrize("theorem", ["fedbuff.rf1", "area.theorem8.repaired", "classics.gd.convex"])
def test_a_comparison_is_the_same_on_every_backend(theorem: str, noise: str) -> None:
    try:
        plan = plan_of(theorem, f"huber:clients=3,dimension=2,x0=1{noise}", "exponential:spread=3", 40)
    except BoundlabError:  # a theorem without noise
        return
    found = [compare(plan, 8, 0, exact=False, backend=backend) for backend in (NUMPY, Backend("compiled"))]
    assert found[0].verdict is found[1].verdict
    np.testing.assert_allclose(found[1].band.mean, found[0].band.mean, rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(found[1].bound, found[0].bound, rtol=1e-12)


@pytest.mark.sweep(2)
@pytest.mark.parametrize("kind", ["huber", "lad", "pseudo-huber", "quadratic", *MODELS])
def test_gradients_and_roundings_of_many_points_are_those_of_each(kind: str) -> None:
    problem = tiny(kind, 1) if kind in MODELS else generated(kind, 1)
    X = np.stack([point(problem, place) for place in range(4)])
    np.testing.assert_allclose(problem.full_gradients_at(X), [problem.full_gradient(x) for x in X], rtol=1e-12)
    found = problem.roundings(X)
    assert found is not None
    # Sums run in another order, and what is said of them holds for either.
    np.testing.assert_allclose(np.stack(found, axis=1), [problem.rounding(x) for x in X], rtol=0.5)
    np.testing.assert_allclose(problem.gradient_roundings(X), found[1], rtol=1e-15)


@pytest.mark.parametrize("family", registered("problems"))
def test_the_steps_of_every_family_are_those_of_the_reference(family: str) -> None:
    for example in registered("problems")[family].examples:
        problem = registered("problems")[family].build(Options(family, example))
        tape = Subject(lookup("algorithms", "incremental"), clients=problem.n).schedules[0].tape(12)
        assert (floats.clients_of(problem, tape) is None) == (family in PIECES)
        if family not in PIECES:
            for one, other in zip(*both(problem, tape), strict=True):
                np.testing.assert_allclose(other, one, rtol=1e-12, atol=1e-12 * float(np.abs(one).max(initial=1.0)))
