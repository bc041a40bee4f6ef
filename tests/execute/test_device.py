"""The same numbers on a device as in NumPy, in float64: on a CPU, or with BOUNDLAB_DEVICE=cuda on a GPU."""

import os
from typing import Any

import numpy as np
import pytest

from boundlab.case import delays_from, problem_from
from boundlab.execute import floats
from boundlab.execute.packing import pack
from boundlab.options import Options
from boundlab.randomness import Stream, Streams
from boundlab.registry import lookup
from boundlab.simulate.work import compile_trial
from boundlab.tape import RecordAt, Tape

torch = pytest.importorskip("torch", reason="torch is not installed: pip install boundlab[torch]")

from boundlab.arithmetic.tensors import find_device, uniforms  # noqa: E402
from boundlab.execute import lockstep  # noqa: E402
from boundlab.simulate.tensors import tensors_of  # noqa: E402

DEVICE = find_device(os.environ.get("BOUNDLAB_DEVICE", "cpu"))
ALGORITHMS: dict[str, dict[str, Any]] = {
    "area": {"alpha": 0.05},
    "fedbuff": {"eta_l": 0.05, "M": 3},
    "fedasync": {"eta_l": 0.05, "beta": 0.5},
    "async_sgd": {"alpha": 0.05},
    "fedfa": {"eta_l": 0.05},
    "rennala": {"alpha": 0.05, "count": 3},
    "ringmaster": {"alpha": 0.05, "threshold": 3},
    "sfedavg": {"alpha": 0.05},
    "gd": {"alpha": 0.05},
    "fedcompass": {"eta": 0.01, "Qmin": 2, "Qmax": 6},
}
PROBLEMS = (
    "huber:clients=5,dimension=1500,x0=1",
    "lad:clients=5,dimension=7,x0=1,sigma=0.5",
    "pseudo-huber:clients=5,dimension=9,x0=1",
    "quadratic:clients=5,dimension=20,sigma=0.5,x0=1",
    "max-affine:clients=5,dimension=3,sigma=0.1,x0=1",
    "softmax:data=digits,clients=5,batch=4,nu=0.1",
    "logistic:data=breast_cancer,clients=5,batch=0,nu=0.1",
)


def tapes_of(name: str) -> list[Tape]:
    who, delays = lookup("algorithms", name), delays_from("exponential:spread=3", 5)
    policy, parameters = who.policy(None, delays), who.read(Options(name, ALGORITHMS[name]))
    records = RecordAt(np.arange(0, 31, 10))
    return [compile_trial(who, parameters, 5, delays, policy, 30, records, Streams(7, trial)) for trial in range(3)]


@pytest.mark.sweep(7)
@pytest.mark.parametrize("spec", PROBLEMS)
@pytest.mark.parametrize("name", ALGORITHMS)
def test_a_device_takes_the_same_steps(name: str, spec: str) -> None:
    problem, tapes = problem_from(spec), tapes_of(name)
    batched, x0 = tensors_of(problem, DEVICE.device, torch.float64), np.asarray(problem.x0, dtype=np.float64)
    shown: dict[tuple[int, int], np.ndarray] = {}

    def observe(owners: np.ndarray, rows: np.ndarray, X: Any) -> None:
        for owner, row, x in zip(owners.tolist(), rows.tolist(), X.cpu().numpy(), strict=True):
            shown[owner, row] = x.copy()

    lockstep.run(pack(tapes, 8), x0, batched, 7, [0, 1, 2], observe, DEVICE.device, torch.float64)
    for trial, tape in enumerate(tapes):
        seen: dict[int, np.ndarray] = {}
        floats.run(tape, x0, problem.oracle(Streams(7, trial)), lambda row, x, seen=seen: seen.update({row: x.copy()}))
        for row, x in seen.items():
            np.testing.assert_allclose(shown[trial, row], x, rtol=0.0, atol=1e-10 * max(1.0, np.abs(x).max()))


def test_a_device_draws_the_same_numbers() -> None:
    clients, updates = np.array([[0, 1], [5, 2**24 - 1]]), np.array([[0, 3], [2**32 - 1, 7]])
    put = lambda array: torch.as_tensor(array, device=DEVICE.device)  # noqa: E731
    there = uniforms(2**63 + 5, put(np.array([0, 9])), Stream.BATCH, put(clients), put(updates), 5).cpu().numpy()
    for column, trial in enumerate((0, 9)):
        here = Streams(2**63 + 5, trial).uniforms(Stream.BATCH, clients[:, column], updates[:, column], 5)
        assert np.array_equal(there[:, column], here)
