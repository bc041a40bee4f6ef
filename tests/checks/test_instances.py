"""The instances on which checks state known truths are runs that there are."""

import pytest
from run_makers import tape_of

from boundlab.checks.truths import ALONE
from boundlab.options import Options
from boundlab.registry import registered

ALGORITHMS = {name: one for name, one in registered("algorithms").items() if one.single_client_values is not None}
# One local step, one update a buffer or window.
SMALLEST = {
    "fedcompass": {"Qmin": 1, "Qmax": 1},
    "fedfa": {"K": 1},
    "lsvrg": {"p_c": 1},
    "ringmaster": {"threshold": 1},
    "scaffnew": {"p_c": 1},
}


@pytest.mark.parametrize("name", ALGORITHMS)
def test_one_client_without_delay_has_the_symbols_of_gradient_descent(name: str) -> None:
    algorithm = ALGORITHMS[name]
    options = {**dict.fromkeys(algorithm.step_size_symbols[:1], 0.1), **SMALLEST.get(name, {})}
    parameters, tape = algorithm.read(Options(name, options)), tape_of(name, options, 1, 8, "deterministic")
    found = algorithm.quantities(parameters, tape, 6, {"n": 1, "N": 1})
    stated = {**ALONE, **algorithm.single_client_values}
    shared = {one for one in stated if one in found}
    assert {one: found[one] for one in shared} == pytest.approx({one: stated[one] for one in shared}, abs=1e-12)
    assert shared or name in ("gd", "lsvrg", "scaffnew")  # whose theorems read nothing of that kind
    for one in stated:
        if getattr(parameters, one, None) is not None:  # a window of FedStaleWeight's weights may be all that was
            assert getattr(parameters, one) == stated[one], one
