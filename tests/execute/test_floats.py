"""The executor of floats reads arrays a block at a time: it does what a tape says row by row, however blocks fall."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from tape_makers import Some, one_by_one, programs

from boundlab.execute import floats
from boundlab.tape import Tape

X0 = np.array([0.7, -1.3])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(programs(4), st.sampled_from([1, 2, 3, 1000]), st.sampled_from([1, 4, 1000]))
def test_any_program(monkeypatch: pytest.MonkeyPatch, tape: Tape, instructions: int, draws: int) -> None:
    monkeypatch.setattr(floats, "_INSTRUCTIONS", instructions)
    monkeypatch.setattr(floats, "_DRAWS", draws)
    shown: list[np.ndarray] = []
    final = floats.run(tape, X0, Some(), lambda row, x: shown.append(x.copy()) if row == len(shown) else None)
    own, records = one_by_one(tape, X0)
    assert len(shown) == len(records)
    for one, other in zip(shown, records, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)
    for register, x in own.items():
        np.testing.assert_allclose(final[register], x, rtol=1e-12, atol=1e-12)
