"""The constants of a problem as a question: each with its side, and the steps that theorems allow with them."""

import json
from typing import Any

import pytest

import boundlab as bl
from boundlab.cli import invoke

ROWS = [[1.0, 0.0], [2.0, 1.0], [0.0, 3.0], [-1.0, 1.0]]
HINGE = "hinge:data=breast_cancer,samples=40,clients=2,nu=0"


def model(kind: str = "logistic", owners: tuple[int, ...] = (0, 0, 0, 0), **more: Any) -> Any:
    data = {"features": ROWS, "targets": [0, 1, 1, 0], "owners": list(owners), "bias": "no", "nu": 0.1}
    return bl.problem({"type": kind, **data, **more})


def test_single_samples_of_a_logistic_regression_by_hand() -> None:
    """L_max is ¼·‖(0, 3)‖² + ν = 2.35, and SGD may step by half of its inverse."""
    found = bl.constants(model(batch=1))
    assert found.found["L_max"].value == pytest.approx(2.35, rel=1e-12)
    assert found.found["L_max"].side == "upper"
    step = next(one for one in found.steps if "classics.sgd.sampled" in one.theorems)
    assert step.value == pytest.approx(1 / 4.7, rel=1e-9)
    assert step.value <= 1 / 4.7


def test_what_does_not_exist_has_a_reason_and_the_command_says_the_same(capsys: Any) -> None:
    found = bl.constants(HINGE)
    assert found.missing["mu"] == "without regulariser it has no mu; set nu > 0"
    assert "L" in found.missing
    assert "L" not in found.found
    assert invoke(["constants", HINGE, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert {one["name"]: one["value"] for one in printed["constants"]} == {
        name: one.value for name, one in found.found.items()
    }
    assert printed["missing"] == found.missing
    assert found.to_frame()["name"].tolist() == list(found.found)


def test_noise_takes_off_the_steps_of_methods_that_ask_for_full_gradients() -> None:
    silent, noisy = (bl.constants(f"quadratic:A=[[[2]]],b=[[1]],x0=3,sigma={sigma}") for sigma in (0, 1))
    full, all_ = ({name for one in found.steps for name in one.theorems} for found in (silent, noisy))
    assert "classics.gd.convex" in full - all_
    assert "classics.sgd.gap" in full & all_


FAMILIES = ["logistic", "softmax", "squared-hinge", "modified-huber", "least-squares", "huber-regression", "poisson"]
FAMILIES += ["hinge", "lad-regression", "quantile-regression"]


@pytest.mark.parametrize("kind", FAMILIES)
def test_a_constant_function_has_constants_and_no_step_that_a_theorem_allows(kind: str) -> None:
    # Where L = 0, a step of 1/L is no number, and no theorem with L > 0 is compared.
    data = {"features": [[0.0]] * 3, "targets": [0, 1, 1], "owners": [0, 0, 1], "bias": "no", "scale": "none", "nu": 0}
    found = bl.constants({"type": kind, **data, **({"ball": 1} if kind == "poisson" else {})})
    smooth = "L" in found.found
    assert not smooth or found.found["L"].value == 0.0
    assert all("L" not in one.condition for one in found.steps)
