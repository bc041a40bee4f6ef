"""Identities between algorithms, and what must not change a trajectory."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from algorithm_makers import (
    ALGORITHMS,
    Scenario,
    assert_close,
    in_order,
    local_steps,
    make_case,
    problems,
    rates_of,
    read,
    scenarios,
    trajectory_of,
)
from hypothesis import given, settings, strategies as st

from boundlab.arithmetic.recurrence import Weights
from boundlab.case import build_delays, build_problem
from boundlab.delays import DELAYS, DelayModel, ServerPolicy
from boundlab.errors import SpecError
from boundlab.execute.floats import run
from boundlab.randomness import Streams
from boundlab.registry import lookup
from boundlab.simulate import simulate
from boundlab.simulate.work import compile_trial
from boundlab.tape import RecordAt
from boundlab.testing.strategies import arrivals

FEW = settings(max_examples=15)
OWN = ServerPolicy("own", 0.0)


@st.composite
def runs(draw: Any, wait: bool = False) -> tuple[dict[str, Any], dict[str, Any], list[int]]:
    """Draw a problem, local steps as FedBuff names them, and who arrives."""
    clients = draw(st.integers(1, 4))
    return draw(problems(clients)), draw(local_steps("eta_l", "M")), draw(arrivals(clients, clients if wait else 0))


def same(problem: dict[str, Any], actors: list[int], one: tuple[str, Any], other: tuple[str, Any]) -> None:
    """Compare the models after each event."""
    first, second = (
        trajectory_of(make_case(name, problem, options, in_order(actors))) for name, options in (one, other)
    )
    assert first[0] == second[0]
    assert_close(first[1], second[1])


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


# ---- what changes nothing ---------------------------------------------------------------------------------------


@pytest.mark.sweep(4)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@given(data=st.data())
@FEW
def test_the_names_of_clients_mean_nothing(algorithm: str, data: Any) -> None:
    scenario: Scenario = data.draw(scenarios(algorithm))
    to = data.draw(st.permutations(range(scenario.clients)))
    ks, models = trajectory_of(scenario.case())
    other_ks, other = trajectory_of(scenario.permuted(list(to)).case())
    assert ks == other_ks
    assert_close(models, other)


@pytest.mark.sweep(5)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@given(data=st.data())
@FEW
def test_a_coordinate_in_which_nobody_moves_means_nothing(algorithm: str, data: Any) -> None:
    scenario: Scenario = data.draw(scenarios(algorithm))
    models, wide = trajectory_of(scenario.case())[1], trajectory_of(scenario.padded().case())[1]
    assert_close(models, wide[:, :-1])
    assert not wide[:, -1].any()


@pytest.mark.sweep(5)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@given(data=st.data(), c=st.sampled_from([0.01, 0.3, 8.0, 1000.0]))
@FEW
def test_the_unit_of_f_means_nothing(algorithm: str, data: Any, c: float) -> None:
    scenario: Scenario = data.draw(scenarios(algorithm))
    other = scenario.rescaled(c)
    rate = "alpha" if "alpha" in scenario.options else "eta_l"
    if algorithm in ("async_sgd", "rennala", "ringmaster"):  # one number, not a list
        other.options[rate] = other.options[rate][0]
    elif not isinstance(scenario.options[rate], list):
        other.options[rate] *= len(rates_of(scenario.options, rate, "Q" if algorithm in ("fedasync", "fedfa") else "M"))
    assert_close(trajectory_of(scenario.case())[1], trajectory_of(other.case())[1])


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


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, DelayModel]:
    """Every registered delay model, for three clients of unequal speeds."""
    trace: Path = tmp_path_factory.mktemp("trace") / "trace.csv"
    rng = np.random.default_rng(1)
    times, who = np.cumsum(rng.exponential(size=600)), rng.choice(3, size=600, p=[0.5, 0.3, 0.2])
    trace.write_text(
        "time,client\n"
        + "".join(f"{time!r},{client}\n" for time, client in zip(times.tolist(), who.tolist(), strict=True))
    )
    own = {"trace": {"file": str(trace)}, "iid": {"p": [0.5, 0.2, 0.1]}, "staleness": {"uniform": "0..3"}}
    return {model.id: build_delays(model.id, own.get(model.id, {"spread": 5}), 3) for model in DELAYS}


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
