"""Identities between algorithms, and what must not change a trajectory."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from algorithm_makers import (
    ALGORITHMS,
    assert_close,
    read,
    scenarios,
)
from hypothesis import given, settings, strategies as st

from boundlab.arithmetic.recurrence import Weights
from boundlab.case import build_delays, build_problem
from boundlab.delays import ServerPolicy
from boundlab.errors import SpecError
from boundlab.execute.floats import run
from boundlab.randomness import Streams
from boundlab.registry import lookup
from boundlab.simulate import simulate
from boundlab.simulate.work import compile_trial
from boundlab.tape import RecordAt

OWN = ServerPolicy("own", 0.0)


# ---- one algorithm is another -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["fedbuff", "asfedavg"])
def test_equal_speeds_make_synchronous_fedavg_noise_included(name: str) -> None:
    # The noise of update u of client i is the same under every algorithm.
    problem = build_problem("quadratic", {"clients": 4, "dimension": 3, "L": 2, "sigma": 0.5, "seed": 6})
    delays = build_delays("deterministic", {}, 4)
    shown: dict[str, list[np.ndarray]] = {}
    rate = "eta_l" if name == "fedbuff" else "alpha"
    for who, options in (("sfedavg", {"alpha": 0.1, "M": 3}), (name, {rate: 0.1, "M": 3, "count": 4, "reply": "wait"})):
        compiler, streams = lookup("algorithms", who), Streams(11)
        tape = compile_trial(compiler, read(who, options), 4, delays, OWN, 25, RecordAt(), streams)
        models = shown.setdefault(who, [])
        run(tape, problem.x0, problem.oracle(streams), lambda _row, x, models=models: models.append(x.copy()))
        assert tape.record.time.tolist() == list(range(26))
    assert_close(np.array(shown["sfedavg"]), np.array(shown[name]))


# ---- what the tape says of itself -------------------------------------------------------------------------------


@pytest.mark.sweep(2)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@given(data=st.data())
@settings(max_examples=3)
def test_iterations_that_events_do_not_reach_take_no_room(algorithm: str, data: Any) -> None:
    case = data.draw(scenarios(algorithm)).case()
    weights = Weights.of([Fraction(1), Fraction(2)], closed=False, what="RecordAt")
    for records in (RecordAt(), RecordAt(average=True), RecordAt(average=True, weights=weights)):
        one, other = (
            case.algorithm.schedule(case.parameters, case.events, case.problem.n, records, most)
            for most in (len(case.events), 10**14)
        )
        assert one.record.iteration.tolist() == other.record.iteration.tolist()
        assert one.affine.coef.tolist() == other.affine.coef.tolist()


# ---- sampled runs -----------------------------------------------------------------------------------------------


def test_a_count_policy_is_the_parameter_count() -> None:
    problem = build_problem("quadratic", {"clients": 3, "dimension": 2, "sigma": 0.1})
    delays = build_delays("exponential", {"spread": 3}, 3)

    def gaps(algorithm: str, server: str | None, chosen: dict[str, Any]) -> list[float]:
        values: list[float] = simulate(algorithm, problem, delays, server, chosen, 20, 1, 3).metrics["gap"][0].tolist()
        return values

    chosen = {"eta_l": 0.05}
    assert gaps("fedbuff", "count:every=3", chosen) == gaps("fedbuff", None, chosen | {"count": 3})
    assert gaps("fedbuff", "count:every=3", chosen) != gaps("fedbuff", None, chosen)
    with pytest.raises(SpecError, match="count = 2 and server count:every=3 contradict each other"):
        gaps("fedbuff", "count:every=3", chosen | {"count": 2})
    with pytest.raises(SpecError, match="fedbuff aggregates after a number of updates"):
        gaps("fedbuff", "poisson:rate=1", chosen)
    with pytest.raises(SpecError, match="fedfa decides by itself when to aggregate"):
        gaps("fedfa", "count:every=3", chosen)
