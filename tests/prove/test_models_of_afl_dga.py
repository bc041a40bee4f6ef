"""AFL-DGA's axioms in exact models, and what the models are."""

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

from boundlab.prove import Claim, Fact, VectorFact, dot, equal, expr, squared
from boundlab.prove._instance import Instance, UnfitError
from boundlab.prove.models import Model, evaluate, holds, models_of
from boundlab.prove.settings import setting_of
from boundlab.prove.settings._afl_dga_instances import AFL_DGA
from boundlab.prove.settings._afl_dga_models import events_of, work_of
from boundlab.theorems import load_theorem

F = Fraction
ENOUGH, SMALL = 5, F(1, 8)
THEOREMS = [f"afl_dga.{name}" for name in ("r0", "r1", "r2", "r2n", "r2b", "r3", "theorem1")]


@cache
def _of(theorem: str) -> Any:
    return setting_of(load_theorem(theorem))


@cache
def _models(theorem: str) -> tuple[Model, ...]:
    return tuple(models_of(_of(theorem)))


def _moves(s: Any) -> Iterator[VectorFact]:
    t, i, q = s.t, s.i, s.q
    yield from (s.move(t), s.average(t), s.slopes(t), s.whole(t), s.place(t, i, q))
    if s.noisy:
        yield from (s.noise(t), s.split_noise(t))


def _read_off(s: Any) -> Iterator[Fact]:
    t, i, q = s.t, s.i, s.q
    known = s.own_symbols
    yield from (s.each_once(t, i), s.missing_steps(t, i, q), s.lasting(t, i))
    if "S" in known:
        yield s.missing(t)
    if "Q_age" in known:
        yield from (s.age(t, i), s.ages(t))
    for name, means in (
        ("SM2", s.mean_distance),
        ("reuse", s.mean_age),
        ("reuse_n", s.mean_root),
        ("tau_sum", s.sum_of_ages),
    ):
        if name in known:
            yield means()


def _sizes(s: Any) -> Iterator[Fact]:
    t, i, q, p, r = s.t, s.i, s.q, s.p, s.first(s.t, s.i)
    yield from (s.moment(i, r, q), s.own_moment(i, r, q, p))
    yield from (s.smooth(s.d(i, t), s.g(i, r, q)), s.smooth(s.d(i, t), s.d(i, r)))
    yield from (s.descent(s.d(i, t), s.w(t + 1)), s.start_gap(s.w(t)))
    if s.noisy:
        yield from (s.variance(s.e(i, r, q)), s.uncorrelated(t))
        for known in (s.w(r), s.d(i, r), s.df(r), s.z(i, r, q), s.g(i, r, q), s.o(i, r, q, p)):
            yield s.unbiased(s.e(i, r, q), known)


LIKE_ANOTHER = ("afl_dga.r1", "afl_dga.r2", "afl_dga.r2b", "afl_dga.r2n")


@pytest.mark.parametrize(
    "theorem", [pytest.param(one, marks=[pytest.mark.nightly] if one in LIKE_ANOTHER else []) for one in THEOREMS]
)
def test_every_axiom_about_afl_dga_holds_in_exact_models(theorem: str) -> None:
    s = _of(theorem)
    claims: list[tuple[Claim, Any]] = [(fact.claim, fact.context) for fact in (*_read_off(s), *_sizes(s))]
    for fact in _moves(s):
        tests = (s.w(s.t), s.v(s.t), s.df(0))
        claims += [(equal(dot(fact.left, v), dot(fact.right, v)), fact.context) for v in tests]
        claims.append((equal(squared(fact.left - fact.right), 0), fact.context))
    for claim, context in claims:
        known = [holds(model, claim, s.kernel, context) for model in _models(theorem)]
        assert False not in known, f"{claim} is false in a model"
        assert known.count(True) >= ENOUGH, f"{claim} is evaluated in too few models"


@pytest.mark.parametrize("theorem", ["afl_dga.r2b", "afl_dga.r3"])
def test_noise_by_its_round_of_first_use_is_what_the_program_adds(theorem: str) -> None:
    s = _of(theorem)
    r = s.index("u", 0, s.t)
    part, whole = s.noise_part(s.t, r), s.uncorrelated_part(s.t, r)
    for claim in (equal(squared(part.left - part.right), 0), whole.claim, s.clients_of(s.t, r).claim):
        known = [holds(model, claim, s.kernel) for model in _models(theorem)]
        assert False not in known
        assert known.count(True) >= ENOUGH


def _wrong(s: Any) -> Iterator[Claim]:
    t, i, q, r, n = s.t, s.i, s.q, s.first(s.t, s.i), s.n
    S, Q, M, G, L = (s.symbol(name) for name in ("S", "Q_age", "M_own", "G", "L"))
    yield equal(dot(s.e(i, r, q), s.w(t)), 0)  # as if stored noise were drawn anew
    yield equal(dot(s.m(t), s.df(t)), 0)
    yield equal(squared(s.w(t) - s.z(i, r, q)), 0)
    yield squared(s.a(t)) <= expr(G**2 / n)
    yield squared(s.g(i, r, q)) <= expr(G**2 - s.symbol("sigma") ** 2 - F(1, 10))
    yield squared(s.m(t)) <= expr(s.symbol("sigma") ** 2 / n**2)
    yield expr(t - r) <= expr(Q - 1)
    yield expr(t - s.lo(t)) <= expr(S - 1)
    yield expr(s.own(t, i, q)) <= expr(M - 1)
    yield equal(squared(s.w(t + 1) - s.w(t) + s.v(t) * s.eta), 0)  # without the noise
    yield squared(s.df(t) - s.df(0)) <= squared(s.w(t) - s.w(0)) * (L**2 * F(9, 10))
    yield equal(expr(s.one(t, i, t)), 1)


def test_a_wrong_axiom_about_afl_dga_is_false_in_a_model() -> None:
    s = _of("afl_dga.r3")
    for claim in _wrong(s):
        assert False in [holds(model, claim, s.kernel) for model in _models("afl_dga.r3")], str(claim)


def _model(theorem: str, rounds: str, horizon: int, eta: Fraction = SMALL) -> Model:
    return Model(
        _of(theorem),
        Instance((AFL_DGA[0].functions[0],), (F(5),), eta, horizon=horizon, options=(("rounds", rounds),)),
    )


def test_a_gradient_that_is_used_three_times_moves_the_server_three_times() -> None:
    s, one = _of("afl_dga.r2n"), _model("afl_dga.r2n", "+0/0 !0/0 =0 =1 =2", 3)
    rows = evaluate(one, equal(squared(s.w(s.t)), 0), s.kernel)
    assert [row.left for row in rows] == [(F(5) - F(k, 8)) ** 2 for k in range(4)]
    read = work_of(one.instance).read
    assert {name: read[name] for name in ("S", "M_own", "Q_age", "SM2", "reuse", "reuse_n", "tau_sum")} == {
        "S": 2, "M_own": 0, "Q_age": 2, "SM2": F(5, 3), "reuse": 1, "reuse_n": 1, "tau_sum": 2,
    }  # fmt: skip


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
        total = sum((t - r) * own["root"][t, r] for t in rounds for r in range(t + 1))
        assert work.read["reuse_n"] == total / (instance.n * instance.horizon)


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
def test_rounds_that_are_no_run_make_no_model(rounds: str, horizon: int, why: str) -> None:
    with pytest.raises(UnfitError, match=why):
        _model("afl_dga.r2n", rounds, horizon)


def test_a_step_that_is_too_large_for_the_root_of_two_makes_no_model() -> None:
    """S = M = 1 and L = 1: η is at most 1/(1 + √2) = 0.4142."""
    late = "+0/0 !0/0 +0/1 =0 !0/1 =1"
    assert _model("afl_dga.r1", late, 2, F(2, 5)).instance
    with pytest.raises(UnfitError, match="too large"):
        _model("afl_dga.r1", late, 2, F(3, 7))


def test_text_says_who_does_what_in_which_round() -> None:
    events = events_of("+1/0 !1/0 =0 <1/0")
    assert events.actor.tolist() == [1, 1, -1, 1]
    assert events.detail == (("step", 0), ("send", 0), ("aggregate", 0), ("recv", 0))
