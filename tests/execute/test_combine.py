"""Registers combined many at a time or one by one are what the rows of a tape say, whatever stands in them."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from tape_makers import Some, one_by_one, programs

from boundlab.execute.packing import pack
from boundlab.tape import Op, Tape

torch = pytest.importorskip("torch", reason="torch is not installed: pip install boundlab[torch]")

from boundlab.case import problem_from  # noqa: E402
from boundlab.execute import floats, lockstep  # noqa: E402
from boundlab.randomness import Streams  # noqa: E402
from boundlab.simulate.tensors import tensors_of  # noqa: E402

CPU, X0 = torch.device("cpu"), np.array([0.7, -1.3])
PROBLEM = problem_from("huber:clients=3,dimension=2")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(programs(4), min_size=1, max_size=3), st.sampled_from([1, 10**9]))
def test_any_programs(monkeypatch: pytest.MonkeyPatch, tapes: list[Tape], wide: int) -> None:
    monkeypatch.setattr(lockstep, "_WIDE", wide)
    batched = tensors_of(PROBLEM, CPU, torch.float64)
    trials = range(len(tapes))
    found = lockstep.run(pack(tapes), X0, batched, 0, trials, lambda *_: None, CPU, torch.float64).numpy()
    for place, tape in enumerate(tapes):
        own = floats.run(tape, X0, PROBLEM.oracle(Streams(0, place)), lambda *_: None)
        np.testing.assert_allclose(
            found[place, : tape.registers], own, rtol=1e-12, atol=1e-12 * max(1, np.abs(own).max())
        )
        if not (tape.op == Op.DESCEND).any():
            for register, x in one_by_one(tape, X0)[0].items():
                np.testing.assert_allclose(
                    floats.run(tape, X0, Some(), lambda *_: None)[register], x, rtol=1e-12, atol=1e-12
                )
