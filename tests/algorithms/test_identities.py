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
from tape_makers import interpret

from boundlab.arithmetic.recurrence import Weights
from boundlab.case import Case, build_delays, build_problem
from boundlab.delays import DELAYS, DelayModel, ServerPolicy
from boundlab.errors import SpecError
from boundlab.execute.floats import run
from boundlab.options import Options
from boundlab.randomness import Streams
from boundlab.registry import lookup, registered
from boundlab.simulate import simulate
from boundlab.simulate.work import compile_trial
from boundlab.tape import RecordAt
from boundlab.testing import _algorithm as checks
from boundlab.testing._algorithm import CompiledRun
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


def renamed(local: dict[str, Any], **names: str) -> dict[str, Any]:
    return {names.get(key, key): value for key, value in local.items()}


# ---- one algorithm is another -----------------------------------------------------------------------------------


@given(runs(), st.sampled_from(["constant", "inverse", "polynomial:a=0.7", "hinge:a=2,b=1"]))
@FEW
def test_fedbuff_with_one_update_a_buffer_is_fedasync_of_differences(drawn: Any, s: str) -> None:
    problem, local, actors = drawn
    fedasync = renamed(local, M="Q") | {"beta": 1, "mode": "delta", "s": s}
    same(problem, actors, ("fedbuff", local | {"staleness": s}), ("fedasync", fedasync))


@given(runs(), st.floats(0.1, 1.5))
@FEW
def test_fedbuff_with_one_gradient_a_buffer_is_asynchronous_sgd(drawn: Any, eta_g: float) -> None:
    problem, _, actors = drawn
    fedbuff = {"eta_l": 0.2, "eta_g": eta_g}
    same(problem, actors, ("fedbuff", fedbuff), ("async_sgd", {"alpha": 0.2 * eta_g}))


@given(runs(), st.sampled_from(["no", "yes"]))
@FEW
def test_ringmaster_whose_threshold_nothing_reaches_is_asynchronous_sgd(drawn: Any, stops: str) -> None:
    problem, _, actors = drawn
    ringmaster = {"alpha": 0.2, "threshold": len(actors) + 1, "stops": stops}
    same(problem, actors, ("ringmaster", ringmaster), ("async_sgd", {"alpha": 0.2}))


@given(runs())
@FEW
def test_ringmaster_that_takes_only_fresh_gradients_is_rennala_with_batches_of_one(drawn: Any) -> None:
    problem, _, actors = drawn
    same(problem, actors, ("ringmaster", {"alpha": 0.2, "threshold": 1}), ("rennala", {"alpha": 0.2}))


@given(runs(), st.integers(1, 4), st.sampled_from(["post", "pre"]), st.floats(0.1, 1.5))
@FEW
def test_fedstaleweight_with_scale_0_is_fedbuff(drawn: Any, count: int, reply: str, eta_g: float) -> None:
    problem, local, actors = drawn
    options = local | {"count": count, "reply": reply, "eta_g": eta_g}
    same(problem, actors, ("fedstaleweight", options | {"scale": 0}), ("fedbuff", options))


@given(runs(wait=True), st.sampled_from(["current", "previous"]))
@FEW
def test_fedstaleweight_with_equal_staleness_is_fedbuff(drawn: Any, include: str) -> None:
    # Everybody waits for everybody: nothing is ever stale.
    problem, local, actors = drawn
    options = local | {"count": len(np.atleast_2d(problem.get("b", problem.get("c")))), "reply": "wait"}
    same(problem, actors, ("fedstaleweight", options | {"scale": 3, "include": include}), ("fedbuff", options))


@given(st.integers(1, 4), st.integers(1, 3), st.data())
@FEW
def test_fedstaleweight_is_fedbuff_where_all_are_equally_late(buffers: int, count: int, data: Any) -> None:
    # n = buffers·count clients in turn, reply=wait: after the first round each is buffers − 1 versions late. In the
    # first round lateness grows from buffer to buffer, but is the same within a buffer.
    n = buffers * count
    problem, local = data.draw(problems(n)), data.draw(local_steps("eta_l", "M"))
    options = local | {"count": count, "reply": "wait"}
    actors = [place % n for place in range(3 * n)]
    same(problem, actors, ("fedstaleweight", options | {"scale": 2}), ("fedbuff", options))


@given(runs(), st.sampled_from(["param", "delta"]))
@FEW
def test_fedfa_with_a_window_of_one_applies_each_update_once(drawn: Any, mode: str) -> None:
    problem, local, actors = drawn
    fedfa = renamed(local, M="Q") | {"K": 1, "mode": mode, "start": "when_full"}
    fedasync = renamed(local, M="Q") | {"beta": 1, "mode": "model" if mode == "param" else "delta"}
    same(problem, actors, ("fedfa", fedfa), ("fedasync", fedasync))


@given(runs(), st.integers(1, 4), st.sampled_from(["param", "delta"]))
@FEW
def test_fedfa_after_full_is_fedfa_when_full_without_the_first_arrival(drawn: Any, K: int, mode: str) -> None:
    # Until the window is full everybody is answered with x_0 again; after_full then drops the first arrival unused.
    problem, local, actors = drawn
    options = renamed(local, M="Q") | {"K": K, "mode": mode}
    after = make_case("fedfa", problem, options, in_order([actors[0], *actors]))
    full = make_case("fedfa", problem, options | {"start": "when_full"}, in_order(actors))
    (ks, models), (expected_ks, expected) = trajectory_of(after), trajectory_of(full)
    assert ks[1:] == expected_ks
    assert_close(models[1:], expected)


@given(runs(), st.floats(0.05, 0.4))
@FEW
def test_sfedavg_with_all_clients_and_one_local_step_is_gradient_descent(drawn: Any, alpha: float) -> None:
    problem, _, actors = drawn
    n = len(problem.get("b", problem.get("c")))
    case = make_case("sfedavg", problem, {"alpha": alpha}, [[k, list(range(n))] for k in range(len(actors))])
    x, expected = case.problem.x0, []
    for _ in actors:
        x = x - alpha * case.problem.full_gradient(x)
        expected.append(x)
    assert_close(trajectory_of(case)[1], np.array(expected))


@given(runs(wait=True))
@FEW
def test_buffers_of_everybody_who_waits_are_rounds(drawn: Any) -> None:
    problem, local, actors = drawn
    n = len(problem.get("b", problem.get("c")))
    rounds = [[k, actors[k * n : (k + 1) * n]] for k in range(len(actors) // n)]
    if not rounds:
        return
    named = renamed(local, eta_l="alpha")
    expected = trajectory_of(make_case("sfedavg", problem, named, rounds))[1]
    for name, options in (("fedbuff", local), ("asfedavg", named)):
        case = make_case(name, problem, options | {"count": n, "reply": "wait"}, in_order(actors))
        assert_close(trajectory_of(case)[1][n - 1 :: n], expected)


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


def schedule_of(case: Case) -> CompiledRun:
    """Return a case as the conformance suite looks at it."""
    who = f"algorithm {case.algorithm.id}"
    return CompiledRun(who, case.algorithm, case.parameters, case.events, case.problem, 10**6)


# ---- what the tape says of itself -------------------------------------------------------------------------------


@pytest.mark.sweep(5)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@given(data=st.data())
@FEW
def test_the_table_of_uses_is_what_moves_the_server_model(algorithm: str, data: Any) -> None:
    # x_s^{t+1} − x_s^t = Σ weight·(end − start) over the rows of version t.
    scenario: Scenario = data.draw(scenarios(algorithm))
    case = scenario.case()
    tape = case.algorithm.schedule(case.parameters, case.events, case.problem.n, RecordAt(), 10**6)
    executed = interpret(tape, case.problem)
    starts, models = executed.starts, executed.shown
    assert len(models) == tape.iterations + 1
    for run_, version in enumerate(tape.descend.version.tolist()):
        assert_close(starts[run_], models[version])
    of_models = algorithm == "asfedavg" or scenario.options.get("mode") in ("model", "param")
    if of_models:
        assert len(tape.uses.update) == 0
        return
    checks.uses(schedule_of(case))


@pytest.mark.sweep(7)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@given(data=st.data())
@FEW
def test_averages_and_chosen_records_show_the_same_run(algorithm: str, data: Any) -> None:
    scenario: Scenario = data.draw(scenarios(algorithm))
    chosen = np.unique(data.draw(st.lists(st.integers(0, 30), min_size=1)))
    checks.records(schedule_of(scenario.case()), chosen)


@pytest.mark.sweep(5)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@given(data=st.data(), asked=st.integers(0, 12))
@FEW
def test_a_shorter_tape_is_the_beginning_of_the_longer(algorithm: str, data: Any, asked: int) -> None:
    scenario: Scenario = data.draw(scenarios(algorithm))
    checks.beginnings(schedule_of(scenario.case()), [asked])


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

# What each algorithm needs, and other ways to sample its events.
SETTINGS: dict[str, list[dict[str, Any]]] = {
    "area": [{"alpha": 0.02}],
    "async_sgd": [{"alpha": 0.02, "schedule": "delay_adaptive"}, {"alpha": 0.02, "sampling": "uniform"}],
    "asfedavg": [{"alpha": 0.02, "count": 2}, {"alpha": 0.02, "count": 2, "reply": "wait"}],
    "fedasync": [{"beta": 0.5, "eta_l": 0.02, "s": "hinge:a=1,b=2"}],
    "fedbuff": [{"eta_l": [0.02, 0.01], "count": 2}, {"eta_l": 0.02, "count": 2, "reply": "wait"}],
    "fedfa": [{"eta_l": 0.02, "K": 3}, {"eta_l": 0.02, "K": 3, "mode": "delta", "start": "when_full"}],
    "fedstaleweight": [{"eta_l": 0.02, "count": 3, "window": 5}, {"eta_l": 0.02, "count": 3, "reply": "wait"}],
    "rennala": [{"alpha": 0.02, "count": 2}, {"alpha": 0.02, "count": 4, "reply": "pre"}],
    "ringmaster": [{"alpha": 0.02, "threshold": 2}, {"alpha": 0.02, "threshold": 2, "stops": "yes"}],
    "sfedavg": [{"alpha": 0.02}, {"alpha": 0.02, "sampled": 2}],
    "afl_dga": [{"eta": 0.02}],
    "fedcompass": [{"eta": 0.02, "Qmin": 1, "Qmax": 4}],
}
PRESENT = [name for name in SETTINGS if name in registered("algorithms")]


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


@pytest.mark.sweep(26)
@pytest.mark.parametrize("algorithm", PRESENT)
@pytest.mark.parametrize("kind", [model.id for model in DELAYS])
def test_every_algorithm_runs_under_every_delay_model(algorithm: str, kind: str, models: dict[str, DelayModel]) -> None:
    problem = build_problem("quadratic", {"clients": 3, "dimension": 2, "L": 3, "sigma": 0.1})
    for chosen in SETTINGS[algorithm]:
        of = lookup("algorithms", algorithm)
        if kind == "staleness" and of.arrivals and of.updates_a_version(of.read(Options(algorithm, chosen))) is None:
            with pytest.raises(SpecError, match=f"{algorithm} goes by who arrives when"):
                simulate(algorithm, problem, models[kind], None, chosen, 24, 1, seed=2)
            continue
        found = simulate(algorithm, problem, models[kind], None, chosen, 24, 1, seed=2)
        (figures,) = found.statistics
        assert (figures.staleness >= 0).all()
        assert all(np.isfinite(values).all() for values in found.metrics.values())
        assert figures.shares is None or figures.shares.sum() == pytest.approx(1.0, rel=1e-12)
        if algorithm != "area":
            assert figures.versions == 24
        if algorithm not in ("sfedavg", "afl_dga", "fedcompass"):  # whose events are more or less than an arrival
            assert figures.p.sum() + figures.p_s == pytest.approx(1.0, rel=1e-12)
            assert figures.updates.sum() == len(figures.staleness)
        assert found.as_dict()["statistics"][0]["tau_max"] == figures.tau_max


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
