"""What a sample may say: consistent, unless a range decides; and when a bound is vacuous."""

from dataclasses import replace

import numpy as np
import pytest
from page_makers import texts
from run_makers import plan_of
from statements import statement
from test_compare import verdict_of

import boundlab as bl
from boundlab.case import read_case
from boundlab.compare import compare, run
from boundlab.compare.judge import side, trivial_bound
from boundlab.compare.trials import given_schedule_operations, run_trials, trial_tape
from boundlab.expectation import AFFORDABLE, moments, operations
from boundlab.metrics import Enclosure
from boundlab.options import number, parse_spec
from boundlab.verdict import Verdict

FALSE = "area.theorem8", "lad:x0=3", "iid:p_s=0.5", 6
LOGISTIC = "logistic:features=[[1,0.5],[-2,1],[0.3,-1],[1.5,2]],targets=[0,1,1,0],owners=[0,0,1,1],nu=0.2,batch=1,x0=1"


@pytest.mark.sweep(3)
@pytest.mark.parametrize("trials", [2, 3, 5, 10])
def test_a_false_theorem_never_holds_however_few_the_trials(trials):
    """The printed bound is 2.142 and the error 2.527: samples of equal values are no proof that it is small."""
    computed = verdict_of(*FALSE, M=50, trials=trials, seed=5)
    assert computed.verdict is Verdict.VIOLATED
    assert computed.exact == "expectation"
    for seed in range(5, 15):
        assert verdict_of(*FALSE, M=50, trials=trials, seed=seed, exact=False).verdict is not Verdict.HOLDS


def test_what_is_computed_unasked_depends_on_sizes_alone_and_is_said():
    plan = plan_of(*FALSE, M=50)
    arguments = plan.theorem, plan.algorithm, plan.problem, plan.parameters, plan.delays, plan.policy
    assert operations(*arguments, iterations=6) < AFFORDABLE < operations(*arguments, iterations=60)
    assert "operations predicted" in compare(plan, 2, 0).band.method
    sampled = compare(plan_of("area.theorem8", "lad:x0=3", "iid:p_s=0.5", 60, M=50), 3, 0)
    assert sampled.exact == ""


def test_a_noisy_quadratic_is_a_number_for_each_schedule_where_that_is_cheap():
    problem = "quadratic:A=[[[1]],[[1]]],b=[[1],[1]],x0=3,sigma=0.5"
    result = compare(plan_of("classics.delayed-sgd", problem, "exponential", 5, trials=2), 2, 0)
    assert result.verdict is Verdict.HOLDS
    assert "schedules drawn" in result.reason


def test_gaussian_noise_has_no_range_and_a_sample_of_it_never_holds():
    result = verdict_of("area.theorem8.repaired", "lad:x0=3,sigma=0.5", "iid:p_s=0.5", 6, M=5, trials=40)
    assert result.verdict is Verdict.CONSISTENT
    assert "no range of this error is known" in result.reason
    assert result.range_ is None
    assert not result.as_dict()["upper_guaranteed"]


def test_a_range_lets_a_theorem_about_mini_batches_hold():
    """Every x_s stays in the ball of the regulariser; the bound lies above or not far below its square."""
    result = verdict_of("area.theorem7.explicit", LOGISTIC, "exponential", 60, trials=20)
    assert result.verdict is Verdict.HOLDS, result.reason
    assert result.band.guaranteed
    assert result.as_dict()["range"]["high"] == result.range_.high.tolist()


def test_where_trials_are_too_few_the_answer_says_how_many_would_do():
    result = verdict_of("area.theorem7.explicit", LOGISTIC, "exponential", 800, trials=4)
    assert result.verdict is Verdict.CONSISTENT
    assert "such trials would decide" in result.reason


def test_limits_and_bounds_make_verdicts():
    band = verdict_of("area.theorem8.repaired", "lad:x0=3,sigma=0.5", "iid:p_s=0.5", 6, M=5, trials=10).band
    top = Enclosure(band.upper, band.upper, band.upper)
    below = Enclosure(0.99 * band.upper, 0.99 * band.upper, 0.99 * band.upper)
    assert side(band, top) is Verdict.CONSISTENT
    assert side(replace(band, guaranteed=True), top) is Verdict.HOLDS
    assert side(band, below) is Verdict.INCONCLUSIVE
    assert side(band, Enclosure(*(3 * [band.lower * 0.99]))) is Verdict.VIOLATED


@pytest.mark.nightly
def test_of_several_horizons_all_must_be_vacuous():
    few, crossing = (
        bl.compare("area.theorem7.explicit", LOGISTIC, "exponential", iterations=horizons, trials=5)
        for horizons in ([20, 40], [20, 20_000])
    )
    assert [bool(one.vacuous) for one in (*few.comparisons, *crossing.comparisons)] == [True, True, True, False]
    assert "but vacuous here" in few.headline
    assert crossing.headline == crossing.verdict
    assert "vacuous at 1 of 2 horizons" in crossing.reason
    # Where the horizon that decides is vacuous and another is not, the page says what the result says.
    near, far = crossing.comparisons
    deciding = replace(crossing, comparisons=(near, replace(far, verdict=near.verdict, bound=1e6 * far.bound)))
    assert deciding.deciding.vacuous
    assert deciding.headline == deciding.verdict
    assert "but vacuous here" not in "".join(texts(deciding.page()[-1:]))


def test_a_bound_above_the_error_of_never_moving_is_vacuous_and_until_when():
    plan = plan_of("area.theorem7.explicit", LOGISTIC, "exponential", 60)
    result = compare(plan, 20, 0)
    level = float(((plan.problem.x0 - plan.problem.optimum().x) ** 2).sum())
    still = result.trivial_bound
    assert still.level == pytest.approx(level)
    assert still.vacuous
    assert result.headline == "holds, but vacuous here"
    words = f"the bound is not below {level:.3g}, the error of never moving; it falls below that at about K = "
    assert result.explanation.startswith(words)
    # It says something from there on, and nothing shortly before.
    at = plan.theorem.at_iterations(plan.values, np.array([still.crosses * 9 // 10, still.crosses])).total
    assert at[1] < level < at[0]
    fields = result.as_dict()
    assert fields["verdict"] == "holds"
    assert fields["no_step"] == {
        "level": still.level,
        "says_nothing": True,
        "crosses_at": still.crosses,
        "searched_to": 10**12,
    }


@pytest.mark.parametrize("iterations", [1, 9, 10, 60])
def test_where_an_iterated_bound_crosses_does_not_depend_on_how_it_is_looked_for(iterations):
    plan = plan_of("area.theorem7.recursion", "quadratic:sigma=0.1", "exponential:spread=3", iterations, M=5)
    found = trivial_bound(plan, plan.bound)
    assert found.vacuous
    every = plan.theorem.at_iterations(plan.values, np.arange(found.crosses + 1)).total
    first = int(np.flatnonzero(every < found.level)[0])
    assert found.crosses >= first > 0.99 * found.crosses - 2
    assert found.searched == 10**5


@pytest.mark.parametrize("first", [1, 2, 7, 41, 64, 500])
def test_where_a_bound_crosses_is_said_exactly_near_by(tmp_path, first):
    fields = {"metric": "squared-distance", "assumptions": ["minimiser"], "first": 0}
    theorem = statement(tmp_path, **fields, step={"alpha": "0.1/L"}, terms={"all": f"R**2*{first}/(K + 1/2)"})
    plan = plan_of(theorem, "quadratic", "deterministic", 0)
    words = f"it is below that at K = {first}" if first <= 64 else "it falls below that at about K = 500"
    assert trivial_bound(plan, plan.bound).words("K").endswith(words)


def test_a_bound_that_grows_with_the_horizon_never_crosses():
    flat = plan_of("area.theorem8.repaired.fixed-step", "lad:x0=3", "iid:p_s=0.5", 60, alpha=9, M=5)
    found = trivial_bound(flat, flat.bound)
    assert found.vacuous
    assert found.crosses is None
    assert found.words("K").endswith("at any K up to 1e12")


def test_a_start_at_the_minimiser_is_not_what_no_step_gives():
    plan = plan_of("area.theorem8.repaired.fixed-step", "lad:x0=0", "iid:p_s=0.5", 60, alpha=0.1, M=5)
    assert not trivial_bound(plan, plan.bound).vacuous


def test_an_informative_bound_has_no_such_words():
    result = verdict_of("area.theorem8.repaired", "lad:x0=3", "iid:p_s=0.3", 12, M=2)
    assert result.verdict is Verdict.HOLDS
    assert result.headline == ("holds, but vacuous here" if result.trivial_bound.vacuous else "holds")


def test_without_noise_a_band_is_the_smallest_and_the_largest_of_the_schedules():
    plan = plan_of("fedbuff.rf1", "huber:c=[0,1,3],delta=3,x0=2,sigma=0", "exponential", 12, eta_l="0.05", eta_g="1")
    result = compare(plan, 6, 2)
    found = run_trials(plan, 6, 2)
    scale = np.where(found.right.value == result.bound, 1.0, result.bound / found.right.value)
    assert result.band.level == 1.0
    assert (found.left.lower.max(axis=0) > found.left.lower.min(axis=0)).any()  # the schedules differ
    np.testing.assert_allclose(result.band.lower, (found.left.lower * scale).min(axis=0), rtol=1e-12)
    np.testing.assert_allclose(result.band.upper, (found.left.upper * scale).max(axis=0), rtol=1e-12)
    np.testing.assert_allclose(result.band.mean, (found.left.lower * scale).mean(axis=0), rtol=1e-9)


def test_what_no_covariance_has_room_for_is_not_offered(monkeypatch):
    plan = plan_of("area.theorem7.recursion", "quadratic:clients=3,dimension=2,sigma=1", "exponential", 9, alpha="0.01")
    tape = trial_tape(plan, 0, 0)
    monkeypatch.setattr(moments, "LARGEST_MOMENTS", 10)
    assert given_schedule_operations(plan, tape) == np.inf


def test_the_constant_that_a_printed_order_would_need_is_a_number_or_none_is_seen():
    from boundlab.compare.judge import _shape

    assert _shape(np.array([1.0, 6.0]), np.array([2.0, 3.0]), grows=False)[1].endswith("here a constant of 2 would do")
    assert _shape(np.array([0.0, 6.0]), np.array([0.0, 3.0]), grows=False)[1].endswith("here a constant of 2 would do")
    for left in (np.inf, np.nan, 1.0):
        assert _shape(np.array([left]), np.array([0.0]), grows=False)[1].endswith("no finite constant is seen to do")


def test_an_end_that_rounding_has_blown_up_is_told_apart_from_the_largest_value(monkeypatch):
    def method() -> str:
        return (
            bl.compare("classics.gd.convex", "huber:clients=1,x0=2", iterations=[20], trials=3)
            .comparisons[0]
            .band.method
        )

    def loose(*given):
        sides = run.sides_as_they_are(*given)
        sides.left.upper[:] = 1e200
        return sides

    assert "--enclose" not in method()
    monkeypatch.setattr(run, "sides_as_they_are", run.Sides, raising=False)
    monkeypatch.setattr(run, "Sides", loose)
    assert method().endswith("the one schedule that all trials have; run with up to 256 bits, as floats lose it")
    monkeypatch.setattr(run, "UNASKED", 1.0)
    assert "at 1 of 1 points the largest is how far rounding may lead (the option enclose)" in method()


@pytest.mark.parametrize(
    ("theorem", "problem", "delays", "horizon", "settings", "vacuous"),
    [
        ("area.theorem8.repaired", "lad:x0=1", "iid:p_s=0.5", 4, {"M": 48, "start": "analysis"}, True),
        ("area.theorem8.repaired", "lad:x0=3", "iid:p_s=0.3", 12, {"M": 2, "start": "analysis"}, False),
        ("classics.gd.convex", "huber:c=0,w=1,delta=0.25,x0=1.25", "deterministic", 2, {"alpha": 1}, False),
    ],
)
def test_both_judges_of_a_number_say_where_it_is_vacuous_and_that_equal_is_enough(
    theorem, problem, delays, horizon, settings, vacuous
):
    kind, options = parse_spec(problem, "problem")
    fields = {"type": kind, **{name: number(text, name) for name, text in options.items()}}
    case = {"algorithm": bl.theorem(theorem).algorithm, "problem": fields, "delays": delays, "iterations": horizon}
    exact = bl.exact(theorem, read_case({**case, "parameters": settings}, has_theorem=True))
    compared = verdict_of(theorem, problem, delays, horizon, **settings)
    assert exact.headline == compared.headline == ("holds, but vacuous here" if vacuous else "holds")
    assert exact.still == (compared.trivial_bound.vacuous if vacuous else "")
    assert "the value is at most the bound" in compared.reason
    assert "the left side is not above the bound" in exact.reason
