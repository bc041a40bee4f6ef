"""What theorems assume: said once, and everything that follows from it."""

from dataclasses import replace
from inspect import signature

import pytest
from run_makers import plan_of, run_trial, tape_of
from statements import statement

from boundlab.assumptions import ASSUMPTIONS, RUN_ASSUMPTIONS, about_the_mean, assumption
from boundlab.case import build_delays
from boundlab.errors import AssumptionError, SpecError
from boundlab.options import Options
from boundlab.registry import registered
from boundlab.tape import constant_lag
from boundlab.theorems import load_theorem


def test_assumptions_about_a_mean_are_about_the_run():
    assert {name for name, one in ASSUMPTIONS.items() if one.mean} <= RUN_ASSUMPTIONS
    assert {name for name, one in ASSUMPTIONS.items() if one.independent} == {"iid-events", "uniform-sampling"}
    assert all(one.mean for one in ASSUMPTIONS.values() if one.independent)


def test_a_run_that_may_fail_an_assumption_is_told_what_would_fit():
    checked = [one for one in ASSUMPTIONS.values() if one.of == "run" and not one.by_construction]
    assert {one.id for one in checked} == {
        "iid-events",
        "stationary-participation",
        "uniform-buffer",
        "uniform-sampling",
        "equal-weights",
        "fixed-compute-times",
    }
    assert all(one.fits.endswith("would fit") for one in checked)


@pytest.mark.parametrize("name", ["iid-events", "stationary-participation", "uniform-buffer", "uniform-sampling"])
def test_a_theorem_about_random_events_bounds_a_mean_and_no_single_schedule(name):
    # A schedule without noise must not refute what is said of the mean over schedules, whatever the algorithm.
    assert about_the_mean(["smooth", name])


def test_a_theorem_without_random_events_is_about_each_schedule():
    assert not about_the_mean(["smooth", "fixed-schedule", "constant-lag", "bounded-variance"])
    assert not any(assumption(name).independent for name in ("stationary-participation", "uniform-buffer"))


def test_an_unknown_assumption_is_refused_with_the_nearest():
    with pytest.raises(SpecError, match="did you mean smooth"):
        assumption("smoth")


BARE = {"fedasync": {"beta": 0.5}, "ogm": {"K": 3}, "heavy_ball": {"beta": 0.5}, "ringmaster": {"threshold": 2}}
BARE |= {name: {"p_c": 0.5} for name in ("lsvrg", "scaffnew")}


@pytest.mark.sweep(2)
@pytest.mark.parametrize("name", sorted(registered("algorithms")))
def test_only_runs_that_draw_one_client_uniformly_are_said_to(name):
    # What holds by construction must hold for every word of every option; who is asked is one of these words.
    algorithm = registered("algorithms")[name]
    delays = build_delays("exponential", {}, 3)
    rates = {rate: 0.1 for rate in (*algorithm.step_size_symbols[:1], "eta_l") if rate in algorithm.parameters}
    for sampling in ("uniform", "cyclic", "all", "arrival", None):
        options = {**rates, **BARE.get(name, {}), **({} if sampling is None else {"sampling": sampling})}
        try:
            parameters = algorithm.read(Options(name, options))
        except SpecError:
            continue
        assert (algorithm.why_not("uniform-sampling", parameters, delays) == "") is (
            name == "gd" and sampling == "uniform"
        )


def test_what_holds_by_construction_is_what_no_option_can_change():
    by_construction = {one.id for one in ASSUMPTIONS.values() if one.by_construction}
    assert by_construction == {"fixed-schedule", "constant-lag"}
    for algorithm in registered("algorithms").values():
        # A compiler is given no problem, so that no gradient can have a say in its schedule.
        assert "problem" not in signature(type(algorithm).schedule).parameters


@pytest.mark.sweep(5)
@pytest.mark.parametrize("delays", ["deterministic", "deterministic:rates=[3,1]", "exponential"])
@pytest.mark.parametrize("name", sorted(registered("algorithms")))
def test_a_constant_lag_is_a_fact_about_the_tape(name, delays):
    # One that is not constant is refused when the schedule is read, whatever the algorithm and its options.
    algorithm = registered("algorithms")[name]
    clients = 1 if name == "proximal_point" else 2
    rates = {rate: 0.1 for rate in (*algorithm.step_size_symbols[:1], "eta_l") if rate in algorithm.parameters}
    options, server = {**rates, **BARE.get(name, {})}, "poisson:rate=1" if algorithm.server == "any" else None
    times = delays if clients == 2 else "deterministic"
    tape = tape_of(name, options, clients, 3 if name == "ogm" else 12, times, server=server)
    found = algorithm.quantities(algorithm.read(Options(name, options)), tape, tape.iterations, {})
    # Only clients of equal speed take turns, and only FedFa has theorems about it.
    assert ("lag" in found) is (name == "fedfa" and delays == "deterministic")


@pytest.mark.sweep(5)
@pytest.mark.parametrize("delays", ["exponential", "exponential:rates=[1,3]", "staleness:uniform=0..3"])
@pytest.mark.parametrize("name", sorted({*registered("algorithms")} - {"proximal_point"}))
def test_a_mean_over_schedules_is_one_over_schedules_of_one_lag_where_the_theorem_assumes_it(name, delays, tmp_path):
    # Of a mean no bound reads the lag, so that nobody looked: AREA, and FedBuff in the mean, were refuted so.
    algorithm = registered("algorithms")[name]
    rates = [rate for rate in (*algorithm.step_size_symbols[:1], "eta_l") if rate in algorithm.parameters]
    given = {"options": {"*": "any"}, "step": dict.fromkeys(rates, "1/(8*L)"), "terms": {"bound": "0*L*R**2"}}
    assumed = "convex smooth minimiser constant-lag"
    theorem = statement(tmp_path, algorithm=name, metric="gap", assumptions=assumed, about="the mean", **given)
    same = "quadratic:A=[[[1]],[[1]]],b=[[0],[0]],x0=3"
    try:
        plan = plan_of(theorem, same, delays, 3 if name == "ogm" else 12, trials=2, **BARE.get(name, {}))
    except (AssumptionError, SpecError):
        return
    lags = {constant_lag(run_trial(plan, seed, trial)[2], plan.iterations) for seed in (5, 6) for trial in range(20)}
    assert None not in lags


@pytest.mark.parametrize("sampling", ["cyclic", "all"])
def test_a_theorem_about_uniform_draws_says_nothing_of_other_orders(sampling):
    theorem = replace(load_theorem("classics.sgd.heterogeneous"), options={"*": "any"})
    problem = "quadratic:clients=2,dimension=1,sigma=0.1"
    plan_of(theorem, problem, sampling="uniform")
    with pytest.raises(AssumptionError, match=f"sampling={sampling} does not draw one client at a time"):
        plan_of(theorem, problem, sampling=sampling)


def test_a_theorem_that_says_nothing_of_noise_is_about_full_gradients():
    for theorem in registered("theorems").values():
        reads = theorem.read_by({*theorem.inputs(), *theorem.step})
        silent = not {"sigma", "sigma_l", "G"} & reads and not any(
            assumption(name).noise for name in theorem.assumptions
        )
        # No run shows how large noise may be.
        assert ("deterministic" in theorem.assumptions) is (silent or bool(theorem.read_off_runs)), theorem.id
    quiet = replace(load_theorem("classics.gd.convex"), conditions=())
    assert "deterministic" in quiet.assumptions
    assert "full" in assumption("deterministic").words
    noisy = replace(quiet, assumptions=("convex", "smooth", "minimiser", "bounded-variance"))
    assert "deterministic" not in noisy.assumptions
