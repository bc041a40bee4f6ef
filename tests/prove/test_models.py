"""Proved steps and axioms, evaluated in exact models: rational numbers, all events and signs enumerated."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import pytest
from proof_files import PAPERS
from proof_scripts import marked, models, outcome, proved, quick

from boundlab.prove import Claim, Fact, ProofError, Script, VectorFact, dot, equal, expr, finite_sum, squared
from boundlab.prove._functions import MaxAffine, Quadratic
from boundlab.prove._instance import Instance, Noise
from boundlab.prove._scalars import Scalar
from boundlab.prove._witness import refute
from boundlab.prove.models import Model, UnfitError, evaluate, holds, models_of
from boundlab.prove.setting import Setting
from boundlab.prove.settings import setting_of
from boundlab.theorems import load_theorem

F = Fraction
ENOUGH = 5
SCRIPTS = marked()
THEOREMS = (
    "area.theorem8.repaired", "area.theorem8.repaired.fixed-step", "area.theorem8.algorithm-start",
    "classics.gd.convex", "classics.gd.strongly-convex", "classics.subgradient.fixed-step", "classics.sgd.convex",
    "classics.sgd.distance", "classics.delayed-sgd",
    pytest.param("area.theorem7.explicit", marks=pytest.mark.nightly),
)  # fmt: skip
ABS = MaxAffine((((F(1),), F(0)), ((F(-1),), F(0))))


def setting(theorem: str) -> Setting:
    return setting_of(load_theorem(theorem))


# ---------------------------------------------------------------------- proved steps


@pytest.mark.parametrize("script", SCRIPTS)
def test_every_proved_step_holds_in_five_exact_models_of_its_setting(script: Script) -> None:
    if not models(script):
        pytest.skip("no exact models of this algorithm")
    kernel = outcome(script).kernel
    for step in proved(script):
        assert step.fact is not None
        rows = [evaluate(model, step.fact.claim, kernel, step.fact.context) for model in models(script)]
        assert all(row.holds for model in rows for row in model), f"{step.name} is false in a model"
        assert sum(1 for model in rows if model) >= ENOUGH, f"{step.name} is evaluated in too few models"


def test_most_proved_steps_are_tight_in_a_model() -> None:
    slacks = []
    for script in (one for one in quick() if not one.id.startswith(PAPERS)):
        for fact in (step.fact for step in proved(script) if models(script) and step.fact is not None):
            rows = [evaluate(model, fact.claim, outcome(script).kernel, fact.context) for model in models(script)]
            slacks.append(min(row.slack for model in rows for row in model))
    assert slacks.count(F(0)) >= 0.8 * len(slacks)


# ---------------------------------------------------------------------- axioms


def _axioms(s: Setting) -> Iterator[Fact | VectorFact]:
    """Yield every axiom and every rule about chance that a theorem's assumptions allow, at symbolic places."""
    if s.theorem.algorithm == "async_sgd":
        yield from _of_delays(s)
        return
    i, k, star = s.i, s.k, s.star
    if s.theorem.algorithm == "area":
        slopes = [(s.g(i, s.r, s.m), s.z(i, s.r, s.m)), (s.d(i, k), s.xs(k))]
        noise, points = s.e(i, s.r, s.m), (s.xs(k), s.x(i, k), s.y(i, k), star)
        known = (s.z(i, s.r, s.m), s.g(i, s.r, s.m), star, s.vec("h", i))
    else:
        slopes, noise, points = [(s.g(i, k), s.x(k))], s.vec("e", i, k), (s.x(k + 1), star)
        known = (s.x(k), s.g(i, k), star, s.gradient(k))
    slopes += [(s.vec("h", i), star), (s.vec("gbar", i), s.average())]
    if s.theorem.algorithm == "area" and s.diminishing:
        slopes += [(s.gh(i, s.r, s.m), s.zh(i, s.r, s.m)), (s.vec("hu", i), s.vec("ustar", i))]
    for slope, _ in slopes:
        yield from _of_slope(s, slope, (*points, *(at for _, at in slopes)), [other for other, _ in slopes])
    yield from _of_chance(s, noise, known)
    yield s.optimality()
    yield from _allowed(s.averaging)
    yield s.start()
    yield from (s.minimal(at) for at in (*points, s.average()))
    yield from _moves(s)


def _of_delays(s: Setting) -> Iterator[Fact | VectorFact]:
    k, j = s.k, s.j
    for old in (k, j, s.s(k)):
        yield s.move(k)
        yield s.delay(k)
        yield s.variance(s.e(k))
        yield s.start_gap(s.x(old))
        yield s.independent("j", s.s(k), k)
        yield s.descent(s.g(old), s.x(k + 1))
        yield s.smooth(s.g(k), s.g(old))
    for known in (s.x(k), s.g(k), s.g(s.s(k)), s.x(s.s(k))):
        yield s.unbiased(s.e(k), known)


def _of_slope(s: Setting, slope, points, others) -> Iterator[Fact]:  # type: ignore[no-untyped-def]
    for to in points:
        for axiom in (s.convex, s.strongly_convex, s.descent):
            yield from _allowed(axiom, slope, to)
    for other in others:
        for axiom in (s.smooth, s.cocoercive, s.interpolation):
            yield from _allowed(axiom, slope, other)
    yield from _allowed(s.lipschitz, slope)


def _of_chance(s: Setting, noise, known) -> Iterator[Fact]:  # type: ignore[no-untyped-def]
    if not s.noisy:
        return
    yield s.variance(noise)
    for vector in known:
        for one in vector.terms:
            if not hasattr(one, "bounds"):
                yield s.unbiased(noise, s.vec(one.name, *map(_number, one.indices)))
    if s.theorem.algorithm == "gd":
        yield s.independent(s.k)


def _number(index):  # type: ignore[no-untyped-def]
    return Scalar(index)


def _moves(s: Setting) -> Iterator[Fact | VectorFact]:
    k, star = s.k, s.star
    if s.theorem.algorithm == "area":
        yield s.begin(s.i, k)
        if s.diminishing:
            yield s.move(s.i, k, s.m)
            yield s.quiet_move(s.i, k, s.m)
            yield s.quiet_begin(s.i, k)
            yield s.heterogeneity(s.i)
            yield s.own_minimiser(s.i)
        else:
            yield s.move(s.i, s.r, s.m)
        yield s.first("x", s.i)
        yield s.first("y", s.i)
        yield s.qbar()
        yield from _allowed(s.broadcast, s.i)
        for one in (s.x(s.i, k + 1), s.y(s.i, k + 1), s.xs(k + 1)):
            yield s.event(squared(one - star), k)
            yield s.event(dot(one, s.xs(k)), k)
        yield s.event(s.part(s.i, s.y(s.i, k + 1)), k)
        yield s.event(s.part(s.i, s.x(s.i, k + 1)), k)
    elif s.sampling == "all":
        yield s.move(k)
    else:
        yield s.drawn(squared(s.x(k + 1) - star), k)


def _allowed(axiom, *args) -> Iterator[Fact]:  # type: ignore[no-untyped-def]
    """Yield an axiom, unless the theorem does not assume it or the two gradients are of two functions."""
    try:
        yield axiom(*args)
    except ProofError:
        return


@pytest.mark.parametrize("theorem", THEOREMS)
def test_every_axiom_of_a_setting_holds_in_its_exact_models(theorem: str) -> None:
    s = setting(theorem)
    found = models_of(s)
    assert len(found) >= ENOUGH
    kernel, seen = s.kernel, 0
    tests = (s.star, s.model(0), s.vec("h", s.i)) if "minimiser" in s.assumed else (s.model(0), s.model(s.k))
    for fact in _axioms(s):
        claims = [fact.claim] if isinstance(fact, Fact) else [
            equal(dot(fact.left, v), dot(fact.right, v)) for v in tests
        ] + [equal(squared(fact.left - fact.right), 0)]  # fmt: skip
        for claim in claims:
            known = [holds(model, claim, kernel, fact.context) for model in found]
            assert False not in known, f"{claim} is false in a model"
            assert known.count(True) >= ENOUGH, f"{claim} is evaluated in too few models"
        seen += 1
    assert seen >= 12


def _wrong_about_area() -> Iterator[tuple[Setting, Claim]]:
    s = setting("area.theorem8.repaired.fixed-step")
    i, k, r, m, M, star, B = s.i, s.k, s.r, s.m, s.M, s.star, s.symbol("B")
    z, e, g, x, xs = s.z, s.e, s.g, s.x, s.xs
    yield s, equal(dot(e(i, r, m), z(i, r, m + 1)), 0)  # noise that the point depends on
    yield s, equal(dot(e(i, r, m), g(i, r, m + 1)), 0)
    yield s, squared(g(i, r, m)) <= expr(B**2 * F(9, 10))
    yield s, squared(e(i, r, m)) <= expr(s.symbol("sigma") ** 2 * F(9, 10))
    yield s, squared(g(i, r, m) + e(i, r, m)) <= expr(B**2)
    yield s, equal(squared(x(i, k + 1) - z(i, k, M)), 0)  # whoever acts
    yield s, equal(squared(s.y(i, k + 1) - x(i, k)), 0)
    after, before, branch = (squared(v - star) for v in (x(i, k + 1), x(i, k), z(i, k, M)))
    yield s, equal(after, before * s.p(i) + branch * (1 - s.p(i)))  # the other way round
    yield s, equal(squared(xs(k + 1) - star), squared(s.mean_vector(lambda j: s.y(j, k)) - star))
    yield s, equal(squared(s.vec("h", i)), 0)
    yield s, s.part(i, star) <= s.part(i, xs(k))  # minimal for the mean, not for each
    yield s, s.part(i, xs(k)) <= s.part(i, star) + dot(s.vec("h", i), xs(k) - star)
    yield s, equal(squared(s.average() - xs(0)), 0)


def _wrong_about_gd() -> Iterator[tuple[Setting, Claim]]:
    s = setting("classics.sgd.distance")
    i, k, star, L, mu, n = s.i, s.k, s.star, s.symbol("L"), s.symbol("mu"), s.n
    x, g, e, h = s.x, s.g, s.e, s.vec("h", s.i)
    yield s, squared(g(i, k) - h) <= squared(x(k) - star) * L**2 * F(9, 10)
    yield s, s.part(i, star) >= s.part(i, x(k)) + dot(g(i, k), star - x(k)) + squared(g(i, k) - h) / L
    yield s, s.part(i, star) >= s.part(i, x(k)) + dot(g(i, k), star - x(k)) + squared(x(k) - star) * mu
    yield s, s.part(i, star) <= s.part(i, x(k)) + dot(g(i, k), star - x(k)) + squared(x(k) - star) * (L / 4)
    yield s, equal(squared(s.mean_vector(lambda j: e(j, k))), finite_sum("i", 0, n, squared(e(i, k))) / n)
    yield s, equal(dot(e(i, k), x(k + 1)), 0)
    yield s, equal(squared(x(k + 1) - x(k) + s.gradient(k) * s.alpha), 0)  # without the noise
    yield s, equal(squared(x(0) - star), s.symbol("R"))
    yield s, squared(g(i, k)) <= squared(x(k) - star) * L**2  # the clients' own minimisers differ


@pytest.mark.parametrize(("s", "claim"), [*_wrong_about_area(), *_wrong_about_gd()])
def test_a_wrong_axiom_is_false_in_a_model(s: Setting, claim: Claim) -> None:
    assert False in [holds(model, claim, s.kernel) for model in models_of(s)]


@pytest.mark.nightly
@pytest.mark.parametrize("script", SCRIPTS)
def test_no_proved_step_is_false_in_a_random_instance(script: Script) -> None:
    own = outcome(script).setting
    assert own is not None
    for step in proved(script):
        assert step.fact is not None
        assert refute(own, step.fact.claim, step.fact.context, tries=10, seed=1) is None, step.name


# ---------------------------------------------------------------------- the models themselves


def _wrong_about_delays() -> Iterator[tuple[Setting, Claim]]:
    s = setting("classics.delayed-sgd")
    k, L, x, g, e, f = s.k, s.symbol("L"), s.x, s.g, s.e, s.objective
    old = s.s(k)
    yield s, equal(squared(x(k + 1) - x(k) + (g(k) + e(k)) * s.alpha), 0)  # as if nothing were late
    yield s, expr(k - old) <= expr(s.tau_max - 1)
    yield s, equal(dot(e(k), x(k + 1)), 0)
    yield s, squared(g(k) - g(old)) <= squared(x(k) - x(old)) * L**2 * F(9, 10)
    yield s, f(x(old)) >= f(x(k)) + dot(g(k), x(old) - x(k))  # not convex
    yield s, f(x(0)) - f(x(k)) <= expr(s.symbol("F0") * F(9, 10))


def _wrong_about_diminishing_steps() -> Iterator[tuple[Setting, Claim]]:
    s = setting("area.theorem7.explicit")
    i, k, m, star, L, zeta = s.i, s.k, s.m, s.star, s.symbol("L"), s.symbol("zeta")
    z, g, e = s.z, s.g, s.e
    yield s, equal(squared(z(i, k, m + 1) - z(i, k, m) + (g(i, k, m) + e(i, k, m)) * s.step(k + 1)), 0)
    yield s, equal(squared(z(i, k, m + 1) - z(i, k, m) + (g(i, k, m) + e(i, k, m)) * s.step(0)), 0)
    yield s, squared(star - s.vec("ustar", i)) <= expr(zeta**2 * F(9, 10))
    yield s, squared(s.vec("h", i)) <= expr((L * zeta) ** 2 * F(1, 20))
    yield s, equal(squared(s.zh(i, k, m + 1) - s.zh(i, k, m)), 0)


@pytest.mark.parametrize(("s", "claim"), [*_wrong_about_delays(), *_wrong_about_diminishing_steps()])
def test_what_is_wrong_about_delays_and_steps_is_false_in_a_model(s: Setting, claim: Claim) -> None:
    assert False in [holds(model, claim, s.kernel) for model in models_of(s)]


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
    one = Model(s, Instance((left, right), (F(0),), F(1), 2, 1, p=(F(2, 5), F(2, 5)), p_s=F(1, 5)))
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
    good = models_of(s)[0].instance
    with pytest.raises(UnfitError, match="not the step"):
        Model(s, replace(good, alpha=good.alpha * 2))


def test_of_which_model_a_gradient_is_follows_from_who_arrives() -> None:
    one = Instance((ABS,) * 3, (F(1),), F(1), horizon=5, events=(0, 1, 0, 2, 1))
    assert one.schedule == (0, 0, 1, 0, 2)
    assert one.constants()["tau_max"] == 3


def test_a_delayed_gradient_is_that_of_the_old_model() -> None:
    s = setting("classics.delayed-sgd")
    bowl = Quadratic((F(1),), (F(0),))
    one = Model(s, Instance((bowl, bowl), (F(9),), F(1, 3), horizon=3, events=(0, 1, 0)))
    # 9, then 9 − 9/3, then 6 − 9/3, then 3 − 6/3
    for k, value in enumerate((9, 6, 3, 1)):
        assert evaluate(one, equal(squared(s.x(k)), F(value) ** 2), s.kernel)[0].holds
