"""Kernels as they are compiled for a GPU: nothing spills, memory is moved 16 bytes at a time, and few are compiled."""

from importlib.util import find_spec
from typing import Any

import pytest
from kernel_compiler import compiled

# Not imported here, where another test may want its interpreter.
pytestmark = pytest.mark.skipif(
    not (find_spec("torch") and find_spec("triton")), reason="torch or triton is not installed"
)

# Rows of 7850 numbers do not begin at multiples of 16 bytes by themselves.
KINDS = {kind: f"{kind}:clients=3,dimension=7850,x0=2" for kind in ("huber", "lad", "pseudo-huber")}
KINDS["no steps"] = f"{KINDS['huber']},sigma=1"
KINDS |= {loss: f"{loss}:data=breast_cancer,clients=3,batch=5,nu=0.1" for loss in ("logistic", "least-squares")}
KINDS["softmax"] = "softmax:data=digits,clients=3,batch=5,nu=0.1"
AREA: dict[str, Any] = {"algorithm": "area", "options": {"alpha": 0.1}, "iterations": 8, "trials": 2}


@pytest.fixture(scope="module", params=["float32", pytest.param("float64", marks=pytest.mark.nightly)])
def kernels(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, list[dict[str, Any]]]:
    """Return kind → its kernels, on AREA."""
    runs = [AREA | {"problem": problem, "dtype": request.param} for problem in KINDS.values()]
    return dict(zip(KINDS, compiled(runs, tmp_path_factory.mktemp("triton")), strict=True))


@pytest.mark.nightly
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_spills_and_rows_of_any_length_are_read_16_bytes_at_a_time(
    kind: str, kernels: dict[str, list[dict[str, Any]]]
) -> None:
    for kernel in kernels[kind]:
        assert kernel["spilled"] == 0
        assert kernel["wide loads"] > 0
        assert kernel["wide stores"] > 0


@pytest.mark.nightly
@pytest.mark.parametrize(
    "problem",
    [
        "huber:dimension=160,x0=2",
        "huber:dimension=160,x0=2,sigma=1",
        "softmax:data=digits,batch=3",
    ],
)
def test_one_kernel_does_all_numbers_of_steps_rounds_tapes_and_clients(problem: str, tmp_path: Any) -> None:
    runs = [
        {
            "problem": f"{problem},clients={clients}",
            "dtype": "float64",
            "algorithm": "fedbuff",
            "options": {"eta_l": 0.1, "M": steps},
            "iterations": iterations,
            "trials": trials,
        }
        for clients, steps, iterations, trials in ((2, 1, 1, 1), (2, 2, 1, 16), (3, 5, 6, 2), (7, 16, 16, 3))
    ]
    assert len({kernel["id"] for run in compiled(runs, tmp_path) for kernel in run}) == 1
