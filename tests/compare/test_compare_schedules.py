"""Bounds that are read off each trial's schedule."""

import numpy as np
import pytest
import run_makers
from run_makers import run_trial

from boundlab.compare import compare
from boundlab.errors import AssumptionError, SpecError
from boundlab.execute.floats import run
from boundlab.pages import page
from boundlab.randomness import Streams
from boundlab.tape import constant_lag
from boundlab.verdict import Verdict

NOISY = "huber:clients=4,dimension=2,sigma=0.3,x0=2"
QUIET = "huber:clients=4,dimension=2,sigma=0,x0=2"


def plan_of(theorem, problem, delays, iterations=60, **options):
    return run_makers.plan_of(theorem, problem, delays, iterations, **{"trials": 6, **options})


def verdict_of(*arguments, trials=6, **options):
    return compare(plan_of(*arguments, trials=trials, **options), trials, 0)


def test_the_page_says_which_symbols_are_those_of_the_run_up_to_each_horizon(tmp_path):
    said = "the bound at each T has tau_max of the run up to it"
    for step, shown in (("1/(2*L)", True), ("1/(L*(1 + 2*tau_max))", False)):
        file = tmp_path / "mine.toml"
        file.write_text(
            'id = "mine"\nalgorithm = "async_sgd"\nmetric = "gradient-norm"\n'
            'assumptions = ["convex", "smooth", "bounded-below", "fixed-schedule", "deterministic"]\n'
            f'[step]\nalpha = "{step}"\n[terms]\nbound = "9*(1 + tau_max)*F0/(alpha*T)"\n'
        )
        found = compare(plan_of(str(file), QUIET, "exponential", iterations=9), 6, 0)
        assert (said in " ".join(str(page(found)).split())) is shown
        bounds = found.bound * np.array(found.plan.ks)
        assert np.allclose(bounds, bounds[-1]) is not shown


def test_the_left_side_is_the_mean_over_every_server_model_the_initial_one_included():
    plan = plan_of("fedbuff.rf1", QUIET, "exponential", count=2, M=2)
    low, high, tape = run_trial(plan, 0, 0)
    squares = []

    def see(_row, x):
        gradient = plan.problem.full_gradient(x)
        squares.append(float(gradient @ gradient))

    run(tape, plan.problem.x0, plan.problem.oracle(Streams(0, 0)), see)
    assert squares[0] == pytest.approx(float(np.sum(plan.problem.full_gradient(plan.problem.x0) ** 2)))
    expected = [np.mean(squares[:k]) for k in plan.ks]
    assert low == pytest.approx(expected)
    assert high == pytest.approx(expected)


def test_each_trial_counts_relative_to_the_bound_of_its_own_schedule():
    result = verdict_of("fedbuff.rf1", NOISY, "exponential:spread=10", count=2)
    plan, ratios, bounds = result.plan, [], []
    for trial in range(6):
        low, high, tape = run_trial(plan, 0, trial)
        seen = plan.schedules.read_at(tape, plan.ks, plan.fixed)
        right = plan.schedules.evaluate(seen, plan.ks, plan.fixed).total
        ratios.append((low + high) / 2 / right)
        bounds.append(right)
    assert np.ptp(bounds, axis=0).max() > 0
    assert result.ratio == pytest.approx(np.mean(ratios, axis=0))
    assert result.bound == pytest.approx(1.0 / np.mean(1.0 / np.array(bounds), axis=0))
    assert sum(result.terms.values()) == pytest.approx(result.bound)


@pytest.mark.nightly
def test_without_noise_one_schedule_above_its_bound_refutes():
    # The server settles where 5/6·∇F₁ + 1/6·∇F₂ = 0, at x = 1/6, and ‖∇f‖² = 1/9 there, whatever the step size.
    result = verdict_of(
        "fedfa.theorem1", "huber:c=[0,1],x0=0.16667", "deterministic:rates=[1,0.2]", 5000, trials=2, K=2, eta_l=0.002
    )
    assert result.verdict is Verdict.VIOLATED
    assert result.as_dict()["kind"] == "numeric"
    assert result.band.mean[-1] == pytest.approx(1 / 9, rel=0.02)
    assert result.ratio[-1] > 5


def test_without_noise_the_verdict_holds_for_each_schedule_and_has_no_level():
    result = verdict_of("fedbuff.rf1", QUIET, "exponential:spread=10", count=2)
    assert result.verdict is Verdict.HOLDS
    assert "each of the 6 schedules drawn" in result.reason
    assert result.band.level == 1.0


def test_a_theorem_about_the_mean_over_schedules_takes_limits_that_all_trials_keep():
    plan = plan_of("fedbuff.rf2", QUIET, "exponential:spread=10", count=2)
    result = compare(plan, 6, 0)
    assert result.as_dict()["kind"] == "sampled"  # a single schedule says nothing about the mean
    taus = [plan.schedules.read(run_trial(plan, 0, trial)[2], 60, plan.fixed)["tau_max"] for trial in range(6)]
    assert len(set(taus)) > 1
    known = {**plan.schedules.read(run_trial(plan, 0, 0)[2], 60, plan.fixed), **plan.fixed, "tau_max": max(taus)}
    assert result.bound[-1] == pytest.approx(plan.theorem.evaluate({**known, "T": 60}).total)


def test_the_shares_of_a_theorem_about_the_mean_are_those_of_the_delay_model():
    plan = plan_of("fedbuff.rf2", NOISY, "exponential:rates=[1,2,3,4]", count=2)
    share = np.array([1, 2, 3, 4]) / 10
    assert plan.fixed["chi2"] == pytest.approx(4 * ((share - 0.25) ** 2).sum())


def test_a_window_is_chosen_by_the_bound_and_may_be_set():
    chosen = plan_of("fedcompass.window.a", QUIET, "deterministic:spread=4", 120, Qmin=2, Qmax=8)
    bounds = {}
    for N in (1, 2, 4, 8):
        try:
            plan = plan_of("fedcompass.window.a", QUIET, "deterministic:spread=4", 120, Qmin=2, Qmax=8, N=N)
        except (SpecError, AssumptionError):
            continue
        assert plan.ks[-1] + N - 1 <= 120  # windows begin at 0 … T−1 and lie within the run
        bounds[N] = plan.bound[-1]
    assert chosen.bound[-1] <= min(bounds.values()) * (1 + 1e-9)


def test_a_default_step_suits_the_schedules_of_all_trials():
    plan = plan_of(
        "afl_dga.r3",
        NOISY,
        "exponential:spread=10",
        local_steps="1..3",
        participation=0.6,
        correction_delay="0..4",
    )
    seen = [plan.schedules.read(plan.schedules.tape(trial), 60, plan.fixed)["S"] for trial in range(6)]
    smoothness = plan.constants["L"].value
    assert plan.parameter_values["eta"] == pytest.approx(1 / (4 * smoothness * (1 + max(seen))))
    assert compare(plan, 6, 0).verdict is Verdict.CONSISTENT


def test_a_step_that_breaks_the_condition_on_a_schedule_is_refused_with_the_condition():
    with pytest.raises(AssumptionError, match=r"η·L ≤ 1/\(4\(1\+S\)\)"):
        plan_of("afl_dga.r3", NOISY, "exponential", eta=10)


@pytest.mark.parametrize(
    ("theorem", "delays", "settings", "message"),
    [
        ("fedbuff.rf2", "lognormal", {}, "assumes stationary-participation"),
        ("fedbuff.rf2", "exponential", {"reply": "wait"}, "cannot enter it again"),
        ("fedstaleweight.rf2", "exponential", {}, "scale=0 would fit"),
        ("fedstaleweight.theorem1", "exponential:spread=2", {}, "not equally fast"),
        ("fedstaleweight.theorem1", "exponential", {"count": 2}, "stand in a buffer twice"),
        ("fedfa.param.a", "exponential", {}, "assumes constant-lag"),
        ("fedcompass.group", "deterministic:spread=4", {}, "fedcompass.group needs"),
    ],
)
def test_what_a_schedule_does_not_meet_is_said_by_name(theorem, delays, settings, message):
    with pytest.raises(AssumptionError, match=message):
        plan_of(theorem, NOISY, delays, **settings)


def test_one_client_has_all_the_weight_of_every_buffer_whatever_the_delays():
    result = verdict_of("fedstaleweight.rf3", "huber:sigma=0.3,x0=2", "lognormal", count=2, trials=12)
    assert result.verdict is Verdict.CONSISTENT
    assert result.plan.values["chi2"] == 0
    assert result.plan.values["pi_max"] == 1


def test_theorems_about_bounded_gradients_refuse_quadratics_and_say_what_fits():
    with pytest.raises(AssumptionError, match="try huber"):
        plan_of("fedbuff.rf1", "quadratic", "exponential")


def test_symbols_that_the_schedule_decides_may_be_set_on_the_safe_side_only():
    with pytest.raises(AssumptionError, match="tau_max = 3 is set, but the schedule has tau_max = 19"):
        plan_of("fedbuff.rf1", NOISY, "exponential", tau_max=3)
    assert plan_of("fedbuff.rf1", NOISY, "exponential", tau_max=100).values["tau_max"] == 100


@pytest.mark.slow  # hundreds of updates on both sides of the limit
@pytest.mark.parametrize(
    ("delays", "n"),
    [("staleness:constant=3", 1), pytest.param("deterministic:rates=[1,1,1,1]", 4, marks=pytest.mark.nightly)],
)
def test_a_constant_delay_diverges_above_the_step_that_a_hand_computes(delays: str, n: int, tmp_path) -> None:
    """x_(k+1) = x_k − αx_(k−3), x_(−j) = x_0: z⁴ = z³ − α leaves the unit circle at α = 2·sin(π/14) = 0.445."""
    file = tmp_path / "delay.toml"
    file.write_text(
        'id = "delay"\nalgorithm = "async_sgd"\nmetric = "squared-distance"\nsettable = ["alpha"]\n'
        'assumptions = ["strongly-convex", "smooth", "minimiser", "deterministic", "one-function", "constant-lag"]\n'
        'conditions = ["alpha*L <= 1"]\n[step]\nalpha = "1/(2*L)"\n[terms]\nbound = "R**2"\n'
    )
    problem = f"quadratic:A={[[[1]]] * n},b={[[0]] * n},x0=1".replace(" ", "")
    ends = {
        step: verdict_of(str(file), problem, delays, iterations=4000, alpha=step).ratio[-1] for step in (0.44, 0.45)
    }
    assert ends[0.44] < 1e-6
    assert ends[0.45] > 1e6


def test_a_lag_that_changes_is_not_constant() -> None:
    drawn = plan_of("classics.delayed-sgd", "quadratic:A=[[[1]],[[1]]],b=[[0],[0]],x0=1,sigma=0", "exponential")
    tape = run_trial(drawn, 0, 0)[2]
    assert constant_lag(tape, tape.iterations) is None
