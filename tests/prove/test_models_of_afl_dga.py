"""What the exact models of AFL-DGA are."""

from fractions import Fraction

import pytest
from setting_facts import models, setting

from boundlab.prove import equal, squared
from boundlab.prove._instance import Instance, UnfitError
from boundlab.prove.models import Model, evaluate, holds
from boundlab.prove.settings._instances import AFL_DGA
from boundlab.prove.settings.tapes import events_of, work_of

F = Fraction
ENOUGH, SMALL = 5, F(1, 8)


@pytest.mark.nightly
@pytest.mark.parametrize("theorem", ["afl_dga.r2b", "afl_dga.r3"])
def test_noise_by_its_round_of_first_use_is_what_the_program_adds(theorem: str) -> None:
    s = setting(theorem)
    r = s.index("u", 0, s.t)
    part, whole = s.noise_part(s.t, r), s.uncorrelated_part(s.t, r)
    for claim in (equal(squared(part.left - part.right), 0), whole.claim, s.clients_of(s.t, r).claim):
        known = [holds(model, claim, s.kernel) for model in models(theorem)]
        assert False not in known
        assert known.count(True) >= ENOUGH


def _model(theorem: str, rounds: str, horizon: int, eta: Fraction = SMALL) -> Model:
    return Model(
        setting(theorem),
        Instance((AFL_DGA[0].functions[0],), (F(5),), eta, horizon=horizon, options=(("rounds", rounds),)),
    )


def test_a_gradient_that_is_used_three_times_moves_the_server_three_times() -> None:
    s, one = setting("afl_dga.r2n"), _model("afl_dga.r2n", "+0/0 !0/0 =0 =1 =2", 3)
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
