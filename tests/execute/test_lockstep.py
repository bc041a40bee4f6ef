"""Many tapes in lock step on tensors are the tapes one by one in NumPy: same numbers drawn, same trajectories."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import tape_makers
from hypothesis import HealthCheck, example, given, settings, strategies as st
from instance_makers import BUILT_IN, fitting
from run_makers import tape_of
from tape_makers import programs

from boundlab.case import problem_from
from boundlab.compare.trials import trial_tape
from boundlab.errors import AssumptionError
from boundlab.execute import floats
from boundlab.execute.packing import pack
from boundlab.metrics import METRICS, Certified
from boundlab.objective import Problem
from boundlab.randomness import Stream, Streams
from boundlab.tape import Initial, Op, RecordAt, Tape

torch = pytest.importorskip("torch", reason="torch is not installed: pip install boundlab[torch]")

from boundlab.arithmetic.tensors import Batched, uniforms  # noqa: E402
from boundlab.execute import lockstep  # noqa: E402
from boundlab.execute.device import Loop  # noqa: E402
from boundlab.simulate.tensors import LEAST, CertifiedRows, tensors_of  # noqa: E402

CPU = torch.device("cpu")
SMOOTH = (
    "quadratic:clients=3,dimension=4,x0=1",
    "quadratic:clients=3,dimension=4,sigma=0.3,x0=1",
    "huber:clients=3,dimension=4,sigma=0.1,x0=2",
    "pseudo-huber:clients=3,dimension=4,x0=2",
    "smoothed-max-affine:clients=3,dimension=3,sigma=0.1,x0=1",
    "softmax:data=digits,clients=3,batch=4,nu=0.1",
    "logistic:data=breast_cancer,clients=3,batch=5,nu=0.1,replacement=false",
    "logistic:data=breast_cancer,clients=3,batch=0,nu=0.1,weights=size",
    "least-squares:data=diabetes,clients=3,batch=4,weights=size",
    "squared-hinge:data=breast_cancer,clients=3,batch=5,nu=0.1,replacement=false",
    "modified-huber:data=breast_cancer,clients=3,batch=0,nu=0.1,sample_weight=1",
    "huber-regression:data=diabetes,clients=3,batch=4,delta=0.2",
    "softmax:data=digits,clients=3,batch=4,nu=0.1,sample_weight=pixel_3_3",
    "quadratic:clients=3,dimension=4,sigma=0.3,noise=sign",
)
KINKED = (
    "lad:clients=3,dimension=3,sigma=0.2,x0=2",
    "max-affine:clients=3,dimension=3,sigma=0.1,x0=1",
    "hinge:data=breast_cancer,clients=3,batch=5,nu=0.1",
    "lad-regression:data=diabetes,clients=3,batch=4",
    "quantile-regression:data=diabetes,clients=3,batch=4,quantile=0.3",
)
PROBLEMS = SMOOTH + KINKED
THEOREMS = {theorem.algorithm: name for name, theorem in sorted(BUILT_IN.items())}
OTHERS = {name: {"alpha": "0.01"} for name in ("asfedavg", "async_sgd", "rennala", "sfedavg")} | {
    name: {"alpha": "0.01", "p_c": "0.25"} for name in ("lsvrg", "scaffnew")
}
OTHERS["ringmaster"] = {"alpha": "0.01", "threshold": "2"}
OTHERS["fedasync"] = {"eta_l": "0.01", "beta": "0.5"}
ALGORITHMS = sorted({*THEOREMS, *OTHERS})
# One step on a row is at most this much of the largest number away from what NumPy makes of it.
CLOSE = 1e-10


def double(problem: Problem) -> np.ndarray:
    return np.asarray(problem.x0, dtype=np.float64)


def tapes_of(algorithm: str, clients: int, trials: int, iterations: int = 30) -> list[Tape]:
    """Return runs of an algorithm with three clients, as one of its theorems sets it, or as said above."""
    if algorithm in THEOREMS:
        theorem = BUILT_IN[THEOREMS[algorithm]]
        plan = fitting(theorem).plan()
        assert plan.problem.n <= clients
        return [trial_tape(plan, 7, trial) for trial in range(trials)]
    words, shown = (algorithm, OTHERS[algorithm], clients, iterations), RecordAt(np.arange(0, iterations + 1, 10))
    return [tape_of(*words, "exponential:spread=3", records=shown, seed=7, trial=trial) for trial in range(trials)]


def in_lock_step(
    problem: Problem, tapes: Sequence[Tape], batched: Batched | None = None, size: int = 8, first: int = 0
) -> tuple[dict[tuple[int, int], np.ndarray], np.ndarray]:
    """Return what was shown by (tape, row), and the final registers."""
    shown: dict[tuple[int, int], np.ndarray] = {}

    def observe(owners: np.ndarray, rows: np.ndarray, X: Any) -> None:
        for owner, row, x in zip(owners.tolist(), rows.tolist(), X.numpy(), strict=True):
            shown[owner, row] = x.copy()

    own = tensors_of(problem, CPU, torch.float64) if batched is None else batched
    trials = range(first, first + len(tapes))
    final = lockstep.run(pack(tapes, size), double(problem), own, 7, trials, observe, CPU, torch.float64)
    return shown, final.numpy()


def assert_one_by_one(problem: Problem, tapes: Sequence[Tape], batched: Batched | None = None) -> None:
    shown, final = in_lock_step(problem, tapes, batched)
    for place, tape in enumerate(tapes):
        records: dict[int, np.ndarray] = {}
        keep = lambda row, x, records=records: records.__setitem__(row, x.copy())  # noqa: E731
        registers = floats.run(tape, double(problem), problem.oracle(Streams(7, place)), keep)
        scale = max(1.0, float(np.abs(registers).max()))
        assert {row for owner, row in shown if owner == place} == set(records)
        for row, x in records.items():
            np.testing.assert_allclose(shown[place, row], x, rtol=0.0, atol=CLOSE * scale)
        np.testing.assert_allclose(final[place, : tape.registers], registers, rtol=0.0, atol=CLOSE * scale)


@pytest.mark.sweep(20)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_algorithm_on_every_problem(algorithm: str) -> None:
    clients = 1 if algorithm == "proximal_point" else 3
    tapes = tapes_of(algorithm, clients, 3)
    exact = bool(len(tapes[0].implicit))
    for spec in PROBLEMS:
        problem = problem_from(spec.replace("clients=3", f"clients={tapes[0].clients}"))
        if not exact or (problem.noiseless and problem.id == "quadratic"):
            assert_one_by_one(problem, tapes)


@pytest.mark.nightly
@pytest.mark.parametrize("spec", PROBLEMS)
def test_a_loop_over_the_problems_own_oracles_is_the_same(spec: str) -> None:
    problem = problem_from(spec)
    tapes = [*tapes_of("fedbuff", 3, 2), *tapes_of("fedcompass", 3, 1)]
    assert_one_by_one(problem, tapes, Loop(problem))


@pytest.mark.parametrize("spec", ["huber:c=[0,1,3],delta=0.5,x0=2", "lad:c=[0,1,3],x0=2", "quadratic:clients=3,x0=1"])
def test_proximal_steps(spec: str) -> None:
    problem = problem_from(spec)
    tapes = tapes_of("incremental", 3, 2)
    assert_one_by_one(
        problem, [replace(tape, implicit=np.ones(len(tape.descend.dst), dtype=np.bool_)) for tape in tapes]
    )


@pytest.mark.parametrize(
    "spec", ["pseudo-huber:c=[0,1,3]", "huber:c=[0,1,3],sigma=1", "softmax:data=digits,clients=3,batch=4"]
)
def test_there_are_no_proximal_steps_without_a_closed_form(spec: str) -> None:
    batched = tensors_of(problem_from(spec), CPU, torch.float64)
    X, clients, sizes = torch.ones(2, 1), torch.zeros(2, dtype=torch.int64), torch.ones(2)
    with pytest.raises(AssumptionError, match="proximal step"):
        batched.implicit_step(X, clients, torch.empty(2, 0), sizes)


# ------------------------------------------------------------------------------------------------------ determinism


def test_a_tape_has_the_same_bits_whoever_is_beside_it() -> None:
    problem = problem_from("softmax:data=digits,clients=3,batch=4,nu=0.1")
    tapes = tapes_of("area", 3, 5)
    alone = in_lock_step(problem, tapes[:1], size=LEAST)[1][0]
    together = in_lock_step(problem, tapes, size=LEAST)[1][0]
    again = in_lock_step(problem, tapes, size=LEAST)[1][0]
    assert np.array_equal(together, again)
    assert np.array_equal(alone, together)


# --------------------------------------------------------------------------------------------------- random numbers


@given(
    st.integers(0, 2**64 - 1),
    st.integers(0, 2**32 - 1),
    st.sampled_from(Stream),
    st.integers(0, 2**24 - 1),
    st.integers(0, 2**32 - 1),
    st.integers(1, 9),
)
def test_uniform_numbers_are_the_same_to_the_last_bit(
    seed: int, trial: int, stream: Stream, client: int, update: int, count: int
) -> None:
    here = Streams(seed, trial).uniforms(stream, client, update, count)
    there = uniforms(
        seed, *(torch.tensor([one]) for one in (trial,)), stream, torch.tensor([client]), torch.tensor([update]), count
    )
    assert np.array_equal(there.numpy(), here)


# ---------------------------------------------------------------------------------------------------------- metrics


@pytest.mark.sweep(2)
@pytest.mark.parametrize("spec", PROBLEMS)
def test_values_and_gradients_of_the_whole_function(spec: str) -> None:
    problem = problem_from(spec)
    points = np.random.default_rng(0).normal(size=(5, problem.d))
    batched, own = tensors_of(problem, CPU, torch.float64), Loop(problem)
    X = torch.as_tensor(points)
    np.testing.assert_allclose(batched.values(X), own.values(X), rtol=1e-6 if problem.dtype == np.float32 else 1e-12)
    np.testing.assert_allclose(batched.full_gradients(X), own.full_gradients(X), rtol=1e-9, atol=1e-12)


def test_intervals_are_those_of_single_points() -> None:
    problem = problem_from("quadratic:clients=3,dimension=4,x0=1")
    points = np.random.default_rng(0).normal(size=(5, 4))
    batched = tensors_of(problem, CPU, torch.float64)
    rows = CertifiedRows(problem, batched, CPU)
    for name in ("gap", "squared-distance", "gradient-norm-last"):
        low, high = METRICS[name].at(rows, torch.as_tensor(points))
        each = np.array([METRICS[name].at(Certified(problem), point) for point in points])
        np.testing.assert_allclose(np.stack([low, high], axis=1), each, rtol=1e-12, atol=1e-14)


NO_SUM = tape_makers.tape_of(1, [Initial.START], [(Op.DESCEND, 0, 0, 2, 3, 0.5)])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tapes=st.lists(programs(4), min_size=1, max_size=3), wide=st.sampled_from([1, 10**9]))
@example(tapes=[NO_SUM], wide=10**9)
def test_any_programs_combined_many_at_a_time_or_one_by_one(
    monkeypatch: pytest.MonkeyPatch, tapes: list[Tape], wide: int
) -> None:
    monkeypatch.setattr(lockstep, "_WIDE", wide)
    problem, x0 = problem_from("huber:clients=3,dimension=2"), np.array([0.7, -1.3])
    batched, trials = tensors_of(problem, CPU, torch.float64), range(len(tapes))
    found = lockstep.run(pack(tapes), x0, batched, 0, trials, lambda *_: None, CPU, torch.float64).numpy()
    for place, tape in enumerate(tapes):
        own = floats.run(tape, x0, problem.oracle(Streams(0, place)), lambda *_: None)
        np.testing.assert_allclose(
            found[place, : tape.registers], own, rtol=1e-12, atol=1e-12 * max(1, np.abs(own).max())
        )
