"""The kernel that moves registers, in Triton's interpreter: what it leaves is what the executor without it leaves."""

import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from instance_makers import BUILT_IN, fitting
from run_makers import tape_of

from boundlab.case import build_problem, problem_from
from boundlab.compare.trials import trial_tape
from boundlab.execute.packing import pack
from boundlab.objective import Problem
from boundlab.problems.clients import Kind, loss_of
from boundlab.registry import registered
from boundlab.tape import Tape

torch = pytest.importorskip("torch", reason="torch is not installed: pip install boundlab[torch]")
os.environ["TRITON_INTERPRET"] = "1"  # before kernels are compiled
triton = pytest.importorskip("triton", reason="triton is not installed; it is there for Linux only")

import triton.language as tl  # noqa: E402
from triton.runtime import interpreter  # noqa: E402

from boundlab.execute import kernels, lockstep  # noqa: E402
from boundlab.simulate.tensors import tensors_of  # noqa: E402

CPU = torch.device("cpu")
THEOREMS = {theorem.algorithm: name for name, theorem in sorted(BUILT_IN.items())}


@pytest.fixture(autouse=True)
def scalars_as_a_device_gets_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pass Python's floats as float32, as every launch on a device does: the interpreter would keep all digits."""
    kept = interpreter._implicit_cvt

    def passed(value: Any) -> Any:
        if not isinstance(value, float):
            return kept(value)
        return tl.tensor(interpreter.TensorHandle(np.array([value], np.float32), tl.float32), tl.float32)

    monkeypatch.setattr(interpreter, "_implicit_cvt", passed)


@triton.jit
def _multiply(x, by):  # type: ignore[no-untyped-def]
    tl.store(x, tl.load(x) * by)


def test_a_number_of_pythons_loses_half_of_its_digits_on_the_way_to_a_kernel() -> None:
    x = torch.ones(1, dtype=torch.float64)
    _multiply[(1,)](x, 0.3)
    assert x.item() == float(np.float32(0.3)) != 0.3


def tapes_of(algorithm: str, trials: int, iterations: int) -> list[Tape]:
    theorem = BUILT_IN[THEOREMS[algorithm]]
    plan = replace(fitting(theorem), iterations=iterations).plan()
    return [trial_tape(plan, 7, trial) for trial in range(trials)]


def run(
    tapes: list[Tape], spec: str | Problem, *, fused: bool, dtype: Any = torch.float64
) -> tuple[Any, dict[Any, Any]]:
    if isinstance(spec, str):
        spec = problem_from(spec.replace("clients=3", f"clients={tapes[0].clients}"))
    shown: dict[tuple[int, int], np.ndarray] = {}

    def observe(owners: np.ndarray, rows: np.ndarray, X: Any) -> None:
        for owner, row, x in zip(owners.tolist(), rows.tolist(), X.numpy(), strict=True):
            shown[owner, row] = x.copy()

    batched = tensors_of(spec, CPU, dtype)
    trials = range(len(tapes))
    final = lockstep.run(pack(tapes, 3), spec.x0, batched, 7, trials, observe, CPU, dtype, fused=fused)
    return final.numpy()[:, :-1], shown  # but for the register that is never read


def small(spec: str) -> Problem:
    """Return a linear model on 15 features of 7, 6, 5, … samples of the clients: the interpreter is slow."""
    problem: Any = problem_from(spec)
    sizes = 7 - np.arange(problem.n)
    rows = np.concatenate([first + np.arange(size) for first, size in zip(problem.offsets, sizes, strict=True)])
    X, y = np.ascontiguousarray(problem.X[rows, -15:]), problem.y[rows]
    out: Problem = replace(problem, X=X, y=y, sizes=sizes, x0=np.zeros(X.shape[1] * problem.classes, dtype=X.dtype))
    return out


def assert_the_same(tapes: list[Tape], spec: str | Problem, dtype: Any = torch.float64) -> None:
    """Hold the kernels to the executor without them."""
    assert_equal(run(tapes, spec, fused=True, dtype=dtype), run(tapes, spec, fused=False, dtype=dtype), dtype)


def assert_equal(found: tuple[Any, dict[Any, Any]], known: tuple[Any, dict[Any, Any]], dtype: Any) -> None:
    """Hold registers and records to one another, up to rounding."""
    close = 1e-13 if dtype == torch.float64 else 1e-6
    (one, shown), (other, expected) = found, known
    assert one.dtype == other.dtype
    np.testing.assert_allclose(one, other, rtol=close, atol=close)
    assert set(shown) == set(expected)
    for key, x in expected.items():
        np.testing.assert_allclose(shown[key], x, rtol=close, atol=close)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("algorithm", "iterations", "spec"),
    [
        ("fedbuff", 6, "huber:clients=3,dimension=6,x0=2,delta=0.3"),
        ("fedbuff", 6, "lad:clients=3,dimension=5,x0=2"),
        ("fedbuff", 6, "pseudo-huber:clients=3,dimension=9,x0=2,delta=0.3"),
        ("fedbuff", 4, "huber:clients=3,dimension=6,x0=2,sigma=1"),
        ("area", 8, "huber:clients=3,dimension=6,x0=2"),
        ("area", 8, "quadratic:clients=3,dimension=3,sigma=1"),
        ("fedcompass", 2, "huber:clients=3,x0=2"),
        ("fedcompass", 2, "quadratic:clients=3,dimension=2"),
        ("gd", 3, "huber:clients=3,dimension=3,x0=2"),
        ("afl_dga", 2, "huber:clients=3,dimension=3,x0=2"),
        ("proximal_point", 3, "quadratic:clients=1,dimension=2"),
        ("nesterov", 3, "huber:clients=3,x0=2"),
        ("fedbuff", 6, "huber:clients=3,dimension=6,x0=2,l1=0.1"),
    ],
)
def test_the_kernel_leaves_what_is_left_without_it(
    algorithm: str, iterations: int, spec: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernels, "BLOCK", 4)  # several programs a tape, the last one not full
    assert_the_same(tapes_of(algorithm, 2, iterations), spec)


@pytest.mark.nightly
@pytest.mark.parametrize("sigma", [0, 1])
def test_rows_that_are_made_longer_hold_the_same_numbers(sigma: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "BLOCK", 64)
    tapes, spec = tapes_of("fedbuff", 2, 3), f"huber:clients=3,dimension=131,x0=2,sigma={sigma}"
    assert kernels.row_length(131) == 144
    assert_the_same(tapes, spec)


def test_local_steps_that_the_kernel_cannot_do_are_done_beside_it() -> None:
    assert_the_same([tape_of("gd", {"alpha": 0.25}, 2, 1, "deterministic")], "quadratic:clients=3,dimension=2")


def test_single_precision() -> None:
    assert_the_same(tapes_of("fedbuff", 2, 4), "huber:clients=3,dimension=6,x0=2", torch.float32)


LINEAR = {
    "logistic": "logistic:data=breast_cancer,clients=3,weights=size",
    "least-squares": "least-squares:data=breast_cancer,clients=3",
    "softmax": "softmax:data=digits,clients=3,weights=size",
}
# Less than a tile, more than one, more than a client has, and all that it has.
BATCHES = ("batch=3", "batch=6,nu=0.1", "batch=5,replacement=false,nu=0.1", "batch=8,replacement=false", "batch=0")


@pytest.fixture
def ragged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make tiles so small that samples, features and coordinates are none of their multiples."""
    monkeypatch.setattr(kernels, "_SAMPLES", 4)
    monkeypatch.setattr(kernels, "_FEATURES", 8)
    monkeypatch.setattr(kernels, "BLOCK", 64)


def steps_of(*sizes: float) -> list[Tape]:
    """Return two runs with local steps of these relative sizes."""
    options = {"eta_l": 0.02, "M": len(sizes), "count": 2}
    tapes = [tape_of("fedbuff", options, 3, 2, trial=trial) for trial in range(2)]
    return [tape if len(set(sizes)) == 1 else replace(tape, local=np.array(sizes)) for tape in tapes]


@pytest.mark.nightly
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("sizes", [(1.0, 1.0), (1.0, 0.3, 0.7)])
@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("loss", LINEAR)
def test_a_linear_model_is_fitted_inside_the_kernel(
    loss: str, batch: str, sizes: tuple[float, ...], dtype: Any, ragged: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = small(f"{LINEAR[loss]},{batch}")
    expected = run(steps_of(*sizes), problem, fused=False, dtype=dtype)
    monkeypatch.delattr(kernels, "local_steps")  # no step is done beside the kernel
    found = run(steps_of(*sizes), problem, fused=True, dtype=dtype)
    assert_equal(found, expected, dtype)


@pytest.mark.nightly  # by day a linear model with steps of several sizes
def test_several_numbers_of_local_steps_at_a_time(ragged: None) -> None:
    tapes = tapes_of("fedcompass", 2, 1)
    assert len({int(count) for tape in tapes for count in tape.descend.steps}) > 1
    assert_the_same(tapes, small(f"logistic:data=breast_cancer,clients={tapes[0].clients},batch=3"))


def test_a_model_that_is_too_large_for_one_program_is_fitted_beside_the_kernel(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(kernels, "_LONGEST", 5)
    monkeypatch.delattr(kernels, "launch_linear")
    assert_the_same(steps_of(1.0), "logistic:data=breast_cancer,clients=3,batch=3")


@pytest.mark.sweep(48)
@pytest.mark.parametrize(
    ("name", "example"),
    [
        (name, dict(one))
        for name, kind in sorted(registered("problems").items())
        for one in kind.examples
        if not kind.constrained
    ],
)
def test_every_registered_problem_has_the_same_steps_with_a_kernel(name: str, example: dict[str, Any]) -> None:
    problem = build_problem(name, example)
    options = {"eta_l": 0.05, "M": 2, "count": 2}
    assert_the_same([tape_of("fedbuff", options, problem.n, 2, trial=trial) for trial in range(2)], problem)


@pytest.mark.nightly
def test_blocks_of_rounds_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    tapes = tapes_of("area", 2, 8)
    whole, shown = run(tapes, "huber:clients=3,x0=2", fused=True)
    for what in ("_ROUNDS", "_SHOWN", "_TABLE"):
        monkeypatch.setattr(kernels, what, 3)
        parts, again = run(tapes, "huber:clients=3,x0=2", fused=True)
        assert np.array_equal(whole, parts)
        assert {key: x.tolist() for key, x in shown.items()} == {key: x.tolist() for key, x in again.items()}


@pytest.mark.parametrize(("version", "enough"), [("3.5.1", False), ("3.6.0+cu130", True), ("4.0.0", True)])
def test_a_triton_that_tests_have_not_compiled_with_is_none(
    version: str, enough: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(triton, "__version__", version)
    assert lockstep.has_triton() is enough


def test_the_documentation_says_what_kernels_and_tiles_cover() -> None:
    text = (Path(__file__).parents[2] / "docs" / "sweep.md").read_text(encoding="utf-8")
    inside = re.findall(r"^\| (`.+?) \| inside", text, flags=re.MULTILINE)
    known = [set(re.findall(r"`([a-z-]+)`", row)) for row in inside]
    numbers = {loss_of(kind, 1.0).number: kind for kind in get_args(Kind)}
    assert known == [{numbers[one] for one in kernels._KINDS}, set(kernels._LOSSES)]
