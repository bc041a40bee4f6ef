"""Proved steps, evaluated in exact models, where all events and signs are enumerated; and what a model is."""

from dataclasses import replace
from fractions import Fraction

import pytest
from proof_files import PAPERS
from proof_scripts import in_settings, marked, models, outcome, proved, quick
from setting_facts import models as models_of, setting

from boundlab.prove import Context, Kernel, ProofError, Script, equal, expr, finite_sum, scalar, squared
from boundlab.prove._functions import Huber, MaxAffine, Quadratic
from boundlab.prove._instance import Instance, Noise
from boundlab.prove._witness import refute
from boundlab.prove.models import Model, SymbolNumbers, UnfitError, evaluate, holds, settled
from boundlab.prove.settings import setting_of
from boundlab.prove.settings._instances import AFL_DGA
from boundlab.prove.settings.tapes import events_of, work_of
from boundlab.registry import lookup

F = Fraction
ENOUGH = 5
SCRIPTS = marked()
ABS = MaxAffine((((F(1),), F(0)), ((F(-1),), F(0))))


@pytest.mark.sweep(39, also=("fedcompass.group",))
@pytest.mark.parametrize("script", SCRIPTS)
def test_every_proved_step_holds_in_five_exact_models_of_its_setting(script: Script) -> None:
    kernel = outcome(script).kernel
    for step in proved(script):
        assert step.fact is not None
        rows = [evaluate(model, step.fact.claim, kernel, step.fact.context) for model in models(script)]
        assert all(row.holds for model in rows for row in model), f"{step.name} is false in a model"
        # In r0 no point holds an own gradient o: what is said of these says nothing.
        enough = 0 if script.id.startswith("afl_dga.r0") and "o[" in str(step.fact.claim) else ENOUGH
        assert sum(1 for model in rows if model) >= enough, f"{step.name} is evaluated in too few models"


@pytest.mark.nightly
def test_most_proved_steps_are_tight_in_a_model() -> None:
    slacks = []
    for script in (one for one in quick() if not one.id.startswith(PAPERS)):
        for fact in (step.fact for step in proved(script) if models(script) and step.fact is not None):
            rows = [evaluate(model, fact.claim, outcome(script).kernel, fact.context) for model in models(script)]
            slacks.append(min(row.slack for model in rows for row in model))
    assert slacks.count(F(0)) >= 0.8 * len(slacks)


@pytest.mark.nightly
@pytest.mark.parametrize("script", SCRIPTS)
def test_no_proved_step_is_false_in_a_random_instance(script: Script) -> None:
    own = outcome(script).setting
    assert own is not None
    for step in proved(script):
        assert step.fact is not None
        assert refute(own, step.fact.claim, step.fact.context, tries=10, seed=1) is None, step.name


def test_two_steps_of_a_subgradient_method_across_a_kink() -> None:
    s = setting("classics.subgradient.fixed-step")
    one = Model(s, Instance((ABS,), (F(1, 2),), F(1), horizon=2))
    k = s.k
    rows = evaluate(one, equal(squared(s.x(k)), F(1, 4)), s.kernel)
    assert [(row.indices, row.left) for row in rows] == [((("k", j),), F(1, 4)) for j in (0, 1, 2)]
    assert holds(one, squared(s.x(k + 1) - s.x(k)) <= expr(1), s.kernel)
    assert not holds(one, squared(s.x(k + 1) - s.x(k)) <= expr(F(1, 2)), s.kernel)


def test_the_model_of_an_aggregation_is_the_mean_over_who_acts() -> None:
    s = setting("area.theorem8.repaired.fixed-step")
    one = Model(s, Instance((ABS,), (F(4),), F(1), 2, 3, p=(F(1, 2),), p_s=F(1, 2)))
    # x_1 reaches the server after an arrival, another arrival and an aggregation: with probability 1/8.
    (row,) = evaluate(one, equal(squared(s.xs(3)), F(4**2 * 7 + 2**2, 8)), s.kernel)
    assert row.holds


def test_the_mean_of_all_functions_at_a_point_of_one_client_is_taken_at_that_point() -> None:
    s = setting("area.theorem8.repaired.fixed-step")
    left, right = (MaxAffine((((F(1),), F(-c)), ((F(-1),), F(c)))) for c in (3, -3))
    one = Model(s, Instance((left, right), (F(0),), F(1), 2, 2, p=(F(2, 5), F(2, 5)), p_s=F(1, 5)))
    assert holds(one, s.minimal(s.x(s.i, s.k)), s.kernel)
    # At its own point each function is smaller than f is anywhere.
    own = s.mean(lambda i: s.part(i, s.x(i, s.k)))
    assert holds(one, s.objective(s.star) <= own, s.kernel) is False


def test_a_reversed_sum_has_the_opposite_sign() -> None:
    s = setting("classics.subgradient.fixed-step")
    one = Model(s, Instance((ABS,), (F(3),), F(1), horizon=2))
    up, down = (finite_sum("k", a, b, squared(s.x(s.k))) for a, b in ((0, s.symbol("K")), (s.symbol("K"), 0)))
    assert evaluate(one, equal(up, 13), s.kernel)[0].holds
    assert evaluate(one, equal(down, -13), s.kernel)[0].holds


@pytest.mark.parametrize(
    ("instance", "why"),
    [
        (Instance((ABS,), (F(1),), F(-1)), "out of range"),
        (Instance((Quadratic((F(1),), (F(0),)),), (F(1),), F(1)), "not convex and Lipschitz"),
        (Instance((ABS,), (F(1),), F(1), noise=(Noise((F(1),)),)), "noise"),
        (Instance((ABS,), (F(1),), F(1), bounds=(("B", F(1, 2)),)), "B = 1/2"),
        (Instance((MaxAffine((((F(1),), F(0)),)),), (F(1),), F(1)), "no infimum"),
        (Instance((ABS,), (F(1),), F(1), star=(F(1),), leaning=((F(0),),)), "no subgradient"),
        (Instance((ABS,), (F(1),), F(1), bounds=(("sigma", F(1)),)), "condition"),
        (Instance((ABS,), (F(1),), F(1), horizon=0), "K"),
    ],
)
def test_an_instance_outside_of_the_setting_is_no_model(instance: Instance, why: str) -> None:
    with pytest.raises(UnfitError, match=why):
        Model(setting("classics.subgradient.fixed-step"), instance)


@pytest.mark.parametrize("p", [(F(1, 2), F(1, 2)), (F(1),), (F(0),), (F(1, 3),)])
def test_probabilities_that_are_no_law_are_refused(p: tuple[F, ...]) -> None:
    with pytest.raises(UnfitError):
        Model(setting("area.theorem8.repaired.fixed-step"), Instance((ABS,), (F(1),), F(1), p=p, p_s=F(1, 2)))


def test_a_step_that_is_not_the_theorems_is_refused() -> None:
    s = setting("area.theorem8.repaired")
    good = models_of("area.theorem8.repaired")[0].instance
    with pytest.raises(UnfitError, match="not the step"):
        Model(s, replace(good, alpha=good.alpha * 2))


def test_of_which_model_a_gradient_is_follows_from_who_arrives() -> None:
    one = Instance((ABS,) * 3, (F(1),), F(1), horizon=5, events=(0, 1, 0, 2, 1))
    assert one.schedule == (0, 0, 1, 0, 2)
    assert one.constants()["tau_max"] == 3


@pytest.mark.parametrize(("events", "fits"), [((0, 1), True), ((0, 2), False), ((-1, 0), False), ((0,), False)])
def test_a_fixed_schedule_names_a_client_in_each_iteration(events: tuple[int, ...], fits: bool) -> None:
    one = Instance((ABS,) * 2, (F(1),), F(1), horizon=2, events=events)
    assert one.why_not(["fixed-schedule"], noisy=False) == ("" if fits else "who arrives is not fixed")


@pytest.mark.sweep(3)
@pytest.mark.parametrize(
    "theorem",
    [
        "area.theorem7.explicit",
        "area.theorem8.repaired.fixed-step",
        "classics.gd.convex",
        "classics.delayed-sgd",
        "fedbuff.rf1",
        "fedbuff.rf2",
        "fedcompass.window.a",
        "fedfa.theorem1",
        "fedstaleweight.rf1",
        "afl_dga.r2",
    ],
)
def test_the_numbers_that_instances_give_are_true_of_them(theorem: str) -> None:
    s, whys = setting(theorem), []
    for one in s.instances:
        try:
            with_step = settled(s, one)
            Model(s, with_step) if with_step else whys.append("no rational step")
        except UnfitError as error:
            whys.append(str(error))
    assert len(whys) < len(s.instances)
    wrong = (
        "is not true of",
        "have no",
        "make up a law",
        "who arrives",
        "a probability",
        "a noise of its own",
        "several",
    )
    assert not [why for why in whys if any(words in why for words in wrong)]


def test_no_instance_is_lost_for_its_noise_where_a_theorem_is_about_full_gradients() -> None:
    """A form along the run keeps the noise of its proof: an instance with noise fits it as one without."""
    settings = [setting(one.proves) for one in in_settings()]
    gradients = [
        (s.theorem.id, one.why_not(s.assumed & {"deterministic"}, s.noisy)) for s in settings for one in s.instances
    ]
    assert [name for name, why in gradients if why == "there is noise"] == []
    assert any("deterministic" in s.assumed and s.noisy for s in settings)


def test_an_equation_gives_a_value_to_a_symbol_that_has_none() -> None:
    kernel = Kernel(Context())
    fact = kernel.name("x", 5)
    for known, value in (({}, F(5)), ({"x": F(3)}, F(3)), ({"y": F(3)}, F(5))):
        numbers = SymbolNumbers(known, {})
        numbers.solve(fact)
        assert numbers.values == {**known, "x": value}


def test_a_delayed_gradient_is_that_of_the_old_model() -> None:
    s = setting("classics.delayed-sgd")
    bowl = Quadratic((F(1),), (F(0),))
    one = Model(s, Instance((bowl, bowl), (F(9),), F(1, 3), horizon=3, events=(0, 1, 0)))
    # 9, then 9 − 9/3, then 6 − 9/3, then 3 − 6/3
    for k, value in enumerate((9, 6, 3, 1)):
        assert evaluate(one, equal(squared(s.x(k)), F(value) ** 2), s.kernel)[0].holds


@pytest.mark.parametrize(
    ("theorem", "name", "weaker"),
    [
        ("fedcompass.window.b", "W_min", -1),
        ("fedcompass.window.b", "Q_mean", -1),
        ("fedcompass.window.b", "F0", 1),
        ("fedfa.delta.b", "F0", 1),
        ("fedbuff.rf1", "tau_max", 1),
        ("fedbuff.rf2", "chi2", 1),
    ],
)
def test_an_instance_says_weaker_numbers_than_its_run_has_and_no_stronger_ones(
    theorem: str, name: str, weaker: int
) -> None:
    own = setting_of(lookup("theorems", theorem))
    instance = replace(own.instances[1], bounds=())
    exact, step = own.constants(instance)[name], F(weaker, 7)
    assert own.constants(replace(instance, bounds=((name, exact + step),)))[name] == exact + step
    with pytest.raises(UnfitError, match=f"{name} = .* is not true of the run"):
        own.constants(replace(instance, bounds=((name, exact - step),)))


# ---------------------------------------------------------------------- AFL-DGA

SMALL = F(1, 8)


def _of_rounds(theorem: str, rounds: str, horizon: int, eta: Fraction = SMALL) -> Model:
    return Model(
        setting(theorem),
        Instance((AFL_DGA[0].functions[0],), (F(5),), eta, horizon=horizon, options=(("rounds", rounds),)),
    )


def test_a_gradient_that_is_used_three_times_moves_the_server_three_times() -> None:
    s, one = setting("afl_dga.r2n"), _of_rounds("afl_dga.r2n", "+0/0 !0/0 =0 =1 =2", 3)
    rows = [row for k in range(4) for row in evaluate(one, equal(squared(s.w(k)), 0), s.kernel)]
    assert [row.left for row in rows] == [(F(5) - F(k, 8)) ** 2 for k in range(4)]
    read = work_of(one.instance).read
    assert {name: read[name] for name in ("S", "M_own", "Q_age", "SM2", "reuse", "reuse_n", "tau_sum")} == {
        "S": 2,
        "M_own": 0,
        "Q_age": 2,
        "SM2": F(5, 3),
        "reuse": 1,
        "reuse_n": 1,
        "tau_sum": 2,
    }


@pytest.mark.sweep(4)
@pytest.mark.parametrize("instance", AFL_DGA)
def test_what_boundlab_reads_off_a_tape_is_what_the_families_say(instance: Instance) -> None:
    work = work_of(instance)
    own, rounds = work.families(), range(instance.horizon)
    uses = [(t, i, q, len(work.rows[t, i])) for t, i, q, _ in work.uses()]
    far = [own["gone"][t, i, q] + own["own"][i, work.first[t, i], q] for t, i, q, _ in uses]
    share = [F(1, instance.n * many * instance.horizon) for *_, many in uses]
    ages = [t - since for (t, _), since in work.first.items()]
    assert work.read["SM2"] == sum(one * gap**2 for one, gap in zip(share, far, strict=True))
    assert work.read["reuse"] == F(sum(ages), len(ages))
    assert work.read["Q_age"] == max(ages)
    assert work.read["M_own"] == max(own["own"].values())
    assert work.read["tau_sum"] == sum(own["ages"].values()) / instance.horizon
    if all((t, r) in own["root"] for t in rounds for r in range(t + 1)):
        every = sum((t - r) * own["root"][t, r] for t in rounds for r in range(t + 1))
        assert work.read["reuse_n"] == every / (instance.n * instance.horizon)


@pytest.mark.parametrize(
    ("rounds", "horizon", "why"),
    [
        ("+0/0 !0/0 =0", 2, "hold 1 rounds"),
        ("=0 +0/0 !0/0 =1", 2, "has not sent one"),
        ("+0/0 =0 !0/0 =1", 2, "has not sent one"),
        ("+1/0 !1/0 =0", 1, "does not exist"),
        ("+0/0 !0/0 =0 <0/0 <0/0 =1", 2, "twice"),
    ],
)
def test_rounds_that_are_no_run_make_no_of_rounds(rounds: str, horizon: int, why: str) -> None:
    with pytest.raises(UnfitError, match=why):
        _of_rounds("afl_dga.r2n", rounds, horizon)


def test_a_step_that_is_too_large_for_the_root_of_two_makes_no_of_rounds() -> None:
    """S = M = 1 and L = 1: η is at most 1/(1 + √2) = 0.4142."""
    late = "+0/0 !0/0 +0/1 =0 !0/1 =1"
    assert _of_rounds("afl_dga.r1", late, 2, F(2, 5)).instance
    with pytest.raises(UnfitError, match="too large"):
        _of_rounds("afl_dga.r1", late, 2, F(3, 7))


def test_text_says_who_does_what_in_which_round() -> None:
    events = events_of("+1/0 !1/0 =0 <1/0")
    assert events.actor.tolist() == [1, 1, -1, 1]
    assert events.detail == (("step", 0), ("send", 0), ("aggregate", 0), ("recv", 0))


# ---------------------------------------------------------------------- FedBuff and FedStaleWeight


def _bowl(width: int) -> Huber:
    return Huber(F(1), F(0), F(width))


def test_two_entries_of_one_client_begin_at_two_models() -> None:
    s = setting("fedbuff.rf1")
    one = Instance((_bowl(9), _bowl(9)), (F(8),), F(1, 2), horizon=2, events=(0, 0, 1, 1), options=(("count", 2),))
    model = Model(s, one)
    # 8 − (8 + 8)/2·½ = 4; then client 1, first from 8 and then from 4: 4 − (8 + 4)/2·½.
    for t, value in enumerate((8, 4, 1)):
        assert [row.left for row in evaluate(model, equal(squared(s.w(t)), value**2), s.kernel)] == [F(value) ** 2]


def test_the_entry_of_a_buffer_is_a_clients_with_its_probability() -> None:
    s = setting("fedbuff.rf3")
    one = Instance((_bowl(4), _bowl(8)), (F(6),), F(1, 16), horizon=1, p=(F(3, 4), F(1, 4)), options=(("count", 2),))
    (row,) = evaluate(Model(s, one), equal(squared(s.vec("dk", 0)), F(3, 4) * 16 + F(1, 4) * 36), s.kernel)
    assert row.holds


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"p": (F(1, 2), F(1, 4))}, "law"),
        ({"options": (("reply", "wait"),)}, "waits"),
        ({"options": (("count", 2), ("scale", 1.0))}, "depend on what came before"),
        ({"alpha": F(4)}, "condition"),
    ],
)
def test_what_is_not_stationary_or_too_fast_is_no_model(more, why) -> None:  # type: ignore[no-untyped-def]
    plain = Instance((_bowl(1), _bowl(2)), (F(1),), F(1, 8), horizon=2, p=(F(3, 4), F(1, 4)))
    Model(setting("fedstaleweight.rf3"), plain)
    with pytest.raises(UnfitError, match=why):
        Model(setting("fedstaleweight.rf3"), replace(plain, **more))


# ---------------------------------------------------------------------- FedFa


@pytest.mark.nightly
def test_what_is_read_off_a_run_of_fedfa_is_what_it_is_by_hand() -> None:
    """Models take the numbers that the algorithm reads; here they are worked out by hand."""
    found = models_of("fedfa.param.a")
    one = next(model for model in found if model.values["window"] == 2 and model.values["lag"] == 0)
    assert one.values["kappa_lag"] == F(2, 3)
    # After 0, 1, 2, … updates Δ stands in the model with 1/2 (half), 3/4, 5/8, …
    assert one.values["C_lag"] >= F(1, 6)


def test_a_lag_that_is_not_constant_makes_no_model_of_mode_param() -> None:
    assert all("lag" in model.values for model in models_of("fedfa.param.a"))
    with pytest.raises(ProofError):
        setting("fedfa.delta.a").response(scalar(0))
