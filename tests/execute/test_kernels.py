"""The kernel that moves registers, in Triton's interpreter: what it leaves is what the executor without it leaves."""

import os
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from instance_makers import BUILT_IN, fitting
from run_makers import tape_of

from boundlab.case.build import problem_from
from boundlab.compare.trials import trial_tape
from boundlab.execute.packing import pack
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


def run(tapes: list[Tape], spec: str, *, fused: bool, dtype: Any = torch.float64) -> tuple[Any, dict[Any, Any]]:
    problem = problem_from(spec.replace("clients=3", f"clients={tapes[0].clients}"))
    shown: dict[tuple[int, int], np.ndarray] = {}

    def observe(owners: np.ndarray, rows: np.ndarray, X: Any) -> None:
        for owner, row, x in zip(owners.tolist(), rows.tolist(), X.numpy(), strict=True):
            shown[owner, row] = x.copy()

    batched = tensors_of(problem, CPU, dtype)
    trials = range(len(tapes))
    final = lockstep.run(pack(tapes, 3), problem.x0, batched, 7, trials, observe, CPU, dtype, fused=fused)
    return final.numpy()[:, :-1], shown  # but for the register that is never read


@pytest.mark.sweep(3)
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
    tapes = tapes_of(algorithm, 2, iterations)
    one, shown = run(tapes, spec, fused=True)
    other, expected = run(tapes, spec, fused=False)
    np.testing.assert_allclose(one, other, rtol=1e-13, atol=1e-13)
    assert set(shown) == set(expected)
    for key, x in expected.items():
        np.testing.assert_allclose(shown[key], x, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("sigma", [0, 1])
def test_rows_that_are_made_longer_hold_the_same_numbers(sigma: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "BLOCK", 64)
    tapes, spec = tapes_of("fedbuff", 2, 3), f"huber:clients=3,dimension=131,x0=2,sigma={sigma}"
    assert kernels.row_length(131) == 144
    one, shown = run(tapes, spec, fused=True)
    other, expected = run(tapes, spec, fused=False)
    np.testing.assert_allclose(one, other, rtol=1e-13, atol=1e-13)
    assert set(shown) == set(expected)
    for key, x in expected.items():
        np.testing.assert_allclose(shown[key], x, rtol=1e-13, atol=1e-13)


def test_local_steps_that_the_kernel_cannot_do_are_done_beside_it() -> None:
    tapes = [tape_of("gd", {"alpha": 0.25}, 2, 1, "deterministic")]
    one, _ = run(tapes, "quadratic:clients=3,dimension=2", fused=True)
    other, _ = run(tapes, "quadratic:clients=3,dimension=2", fused=False)
    np.testing.assert_allclose(one, other, rtol=1e-13, atol=1e-13)


def test_single_precision() -> None:
    tapes = tapes_of("fedbuff", 2, 4)
    one, _ = run(tapes, "huber:clients=3,dimension=6,x0=2", fused=True, dtype=torch.float32)
    other, _ = run(tapes, "huber:clients=3,dimension=6,x0=2", fused=False, dtype=torch.float32)
    assert one.dtype == np.float32
    np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)


def test_blocks_of_rounds_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    from boundlab.execute import fused

    tapes = tapes_of("area", 2, 8)
    whole, shown = run(tapes, "huber:clients=3,x0=2", fused=True)
    monkeypatch.setattr(fused, "_ROUNDS", 3)
    parts, again = run(tapes, "huber:clients=3,x0=2", fused=True)
    assert np.array_equal(whole, parts)
    assert {key: x.tolist() for key, x in shown.items()} == {key: x.tolist() for key, x in again.items()}
