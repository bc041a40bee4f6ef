"""FedBuff and FedStaleWeight: axioms of their settings in exact models, and what a wrong one looks like."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import pytest

from boundlab.prove import Claim, Fact, VectorFact, dot, equal, expr, finite_sum, squared
from boundlab.prove._functions import Huber
from boundlab.prove._instance import Instance, UnfitError
from boundlab.prove.models import Model, evaluate, holds, models_of
from boundlab.prove.setting import Setting
from boundlab.prove.settings import setting_of
from boundlab.theorems import load_theorem

F = Fraction
ENOUGH = 5
GIVEN, RANDOM = ("fedbuff.rf1", "fedstaleweight.rf1"), ("fedbuff.rf3", "fedstaleweight.rf3")


def setting(theorem: str) -> Setting:
    return setting_of(load_theorem(theorem))


def _of_given_schedules(s) -> Iterator[Fact | VectorFact]:  # type: ignore[no-untyped-def]
    k, j, q, i = s.k, s.j, s.q, s.i
    g, e = s.g(k, j, q), s.e(k, j, q)
    yield from (s.begin(k, j), s.move(k, j, q), s.delay(k, j), s.update(k), s.whole_gradient(k), s.there(k))
    yield from (s.regrouped(k), s.added("hb", k, q), s.added("xb", k, q), s.weights(k, expr(1)))
    yield from (s.weights(k, squared(s.w(k))), s.whole_share(k, s.df(k)), s.one_sided(i, k), s.spread_of(k), s.path())
    yield from (s.bounded_gradient(g), s.variance(e), s.mean_heterogeneity(k), s.start_gap(s.w(s.T)))
    yield from (s.smooth(s.d(s.c(k, j), k), g), s.descent(s.d(i, k), s.w(k + 1)))
    yield from (s.unbiased(e, v) for v in (g, s.z(k, j, q), s.df(k), s.w(k), s.d(i, k), s.w(s.s(k, j))))


def _at(s, name: str):  # type: ignore[no-untyped-def]
    return s.vec(name, s.k, s.q)


def _of_random_schedules(s) -> Iterator[Fact | VectorFact]:  # type: ignore[no-untyped-def]
    k, q, m, i = s.k, s.q, s.m, s.i
    past = (s.w(k), s.d(i, k), s.df(k), s.vec("db", k), _at(s, "mb"))
    yield from (s.update(k), s.entry_move(k, q), s.way_begin(k), s.way_end(k), s.way_move(k, m), s.whole_gradient(k))
    yield from (s.expected(k), s.whole_share(s.df(k)), s.one_sided(i), s.largest(i), s.shares_apart())
    yield from (s.drawn_client(k, v) for v in past)
    yield from (s.given_past(k, q, v) for v in past)
    yield s.drawn_distance(k)
    free = (*past, s.w(k + 1), _at(s, "hb"), _at(s, "xb"), s.vec("mb", k, 0))
    yield from (s.entry_of(name, k, q, v) for name in ("hb", "xb") for v in free)
    yield from (s.met_entry_of(k, m, q, s.vec("pk", k, place)) for place in (m, m + 1, 0))
    yield from (s.entry_gradient(k, q), s.met_gradient(k, m, q), s.entry_smooth(k, q), s.entry_variance(k, q))
    yield from s.met_noise(k, m, q)
    yield from (s.buffer_noise(k, q), s.squared_weights(), s.mean_heterogeneity(k), s.start_gap(s.w(s.T)))
    known = (
        *past[:4],
        _at(s, "gk"),
        _at(s, "zk"),
        _at(s, "hb"),
        s.vec("dk", k),
        s.vec("pk", k, m),
        s.vec("gu", k, m, q),
    )
    yield from (s.unbiased(_at(s, noise), v) for noise in ("ek", "xb") for v in known)
    yield from (s.independent(_at(s, noise), "q", 0, s.Q) for noise in ("ek", "xb"))
    yield s.descent(s.d(i, k), s.w(k + 1))


def _claims(s: Setting, fact: Fact | VectorFact) -> list[Claim]:
    if isinstance(fact, Fact):
        return [fact.claim]
    tests = (s.model(0), s.model(s.k))
    return [equal(squared(fact.left - fact.right), 0), *(equal(dot(fact.left, v), dot(fact.right, v)) for v in tests)]


@pytest.mark.parametrize("theorem", [*GIVEN, *RANDOM])
def test_every_axiom_about_buffers_holds_in_exact_models(theorem: str) -> None:
    s = setting(theorem)
    found, kernel = models_of(s), s.kernel
    for fact in _of_given_schedules(s) if theorem in GIVEN else _of_random_schedules(s):
        for claim in _claims(s, fact):
            known = [holds(model, claim, kernel, fact.context) for model in found]
            assert False not in known, f"{claim} is false in a model"
            assert known.count(True) >= ENOUGH, f"{claim} is evaluated in too few models"


def _wrong_about_given_schedules() -> Iterator[tuple[Setting, Claim]]:
    s = setting("fedstaleweight.rf1")
    k, j, q, i, n, many = s.k, s.j, s.q, s.i, s.n, s.many
    g, e, size = s.g(k, j, q), s.e(k, j, q), s.rate * s.step
    yield s, expr(k - s.s(k, j)) <= expr(s.symbol("tau_max") - 1)
    yield s, equal(squared(s.z(k, j, 0) - s.w(k)), 0)  # as if nothing were late
    yield s, equal(squared(s.w(k + 1) - s.w(k) + s.hb(k, 0) * size), 0)  # without the noise
    yield s, equal(dot(e, s.z(k, j, q + 1)), 0)
    yield s, equal(squared(s.du(k) - s.df(k)), 0)  # as if each buffer were fair
    yield s, equal(expr(s.alpha(k, j)), 1 / many)  # as FedBuff has it
    yield s, finite_sum("r", 0, s.T, expr(s.spread(s.r))) <= expr(s.T * s.symbol("chi2_path") * F(9, 10))
    yield s, squared(g) <= expr(s.symbol("G_sq") * F(9, 10))
    yield s, squared(s.d(i, k) - s.df(k)) <= expr(s.symbol("sigma_g_mean") ** 2 * F(9, 10))
    yield s, equal(expr(s.share(i, k)), 1 / n)


def _wrong_about_random_schedules() -> Iterator[tuple[Setting, Claim]]:
    s = setting("fedbuff.rf3")
    k, m = s.k, s.m
    dk, db, w = s.vec("dk", k), s.vec("db", k), s.w
    yield s, equal(dot(dk, w(k + 1)), dot(db, w(k + 1)))  # w[k + 1] depends on who is in the buffer
    yield s, equal(dot(dk, dk), dot(db, dk))
    yield s, equal(dot(_at(s, "mb"), _at(s, "hb")), dot(_at(s, "gk"), _at(s, "hb")))
    yield s, equal(dot(_at(s, "hb"), _at(s, "gk")), dot(_at(s, "gk"), _at(s, "gk")))  # the entry itself
    # Noise of a run that has begun is in the mean already, and in those of the buffers that it did not enter.
    yield s, equal(dot(s.vec("xb", k, 0), s.vec("mb", k, 1)), 0)
    yield s, equal(dot(s.vec("xb", 1, 0), s.vec("mb", 0, 1)), 0)
    yield s, equal(dot(s.vec("xb", k, 0), s.vec("gk", k, 1)), 0)
    yield s, equal(dot(_at(s, "ek"), w(k + 1)), 0)
    yield s, equal(squared(s.vec("zk", k, 0) - w(k)), 0)
    yield s, squared(_at(s, "xb")) <= expr(s.symbol("sigma_l") ** 2 * s.al2(k) * F(9, 10))
    yield s, equal(squared(s.vec("pk", k, m + 1) - s.vec("pk", k, m)), 0)
    yield s, equal(squared(db - s.df(k)), 0)
    yield s, expr(s.symbol("pi_max")) <= 1 / s.n


@pytest.mark.parametrize(("s", "claim"), [*_wrong_about_given_schedules(), *_wrong_about_random_schedules()])
def test_a_wrong_axiom_about_buffers_is_false_in_a_model(s: Setting, claim: Claim) -> None:
    assert False in [holds(model, claim, s.kernel) for model in models_of(s)]


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
        ({"p": (F(1, 2), F(1, 4))}, "law"), ({"options": (("reply", "wait"),)}, "waits"),
        ({"options": (("count", 2), ("scale", 1.0))}, "depend on what came before"), ({"alpha": F(4)}, "condition"),
    ],
)  # fmt: skip
def test_what_is_not_stationary_or_too_fast_is_no_model(more, why) -> None:  # type: ignore[no-untyped-def]
    plain = Instance((_bowl(1), _bowl(2)), (F(1),), F(1, 8), horizon=2, p=(F(3, 4), F(1, 4)))
    Model(setting("fedstaleweight.rf3"), plain)
    with pytest.raises(UnfitError, match=why):
        Model(setting("fedstaleweight.rf3"), replace(plain, **more))
