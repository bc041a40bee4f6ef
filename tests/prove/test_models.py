"""Proved steps, evaluated in exact models, where all events and signs are enumerated; and what a model is."""

from dataclasses import replace
from fractions import Fraction

import pytest
from proof_files import PAPERS
from proof_scripts import marked, models, outcome, proved, quick
from setting_facts import models as models_of, setting

from boundlab.prove import Context, Kernel, Script, equal, expr, finite_sum, squared
from boundlab.prove._functions import MaxAffine, Quadratic
from boundlab.prove._instance import Instance, Noise
from boundlab.prove._witness import refute
from boundlab.prove.models import Model, SymbolNumbers, UnfitError, evaluate, holds, settled
from boundlab.prove.settings import setting_of
from boundlab.registry import lookup

F = Fraction
ENOUGH = 5
SCRIPTS = marked()
ABS = MaxAffine((((F(1),), F(0)), ((F(-1),), F(0))))


@pytest.mark.sweep(39)
@pytest.mark.parametrize("script", SCRIPTS)
def test_every_proved_step_holds_in_five_exact_models_of_its_setting(script: Script) -> None:
    if not models(script):
        pytest.skip("no exact models of this algorithm")
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
            Model(s, settled(s, one if s.noisy else replace(one, noise=())))
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
