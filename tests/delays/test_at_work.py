"""So many clients at work at a time: an event queue of its own, the shares of time of all sets, and what is refused."""

from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest
import sympy

import boundlab as bl
from boundlab.case import build_delays
from boundlab.cli import invoke
from boundlab.errors import SpecError
from boundlab.randomness import Stream, Streams

RATES = [4.0, 2.0, 1.0, 0.5]


def queue(kind: str, active: int, streams: Streams, count: int, per: int) -> list[tuple[float, int, int]]:
    """Return when updates arrive, whose they are and how old: told once more, with lists of who works and who rests."""
    law = build_delays(kind, {"rates": RATES}, len(RATES)).clock(streams)
    drawn = streams.uniforms(Stream.EVENT, 0, 0, count)[0].tolist()
    first = streams.uniforms(Stream.EVENT, 1, 0, len(RATES))[0].tolist()
    order = sorted(range(len(RATES)), key=lambda i: first[i])
    ends = {i: (law.arrival(i, 0.0), 0) for i in order[:active]}
    rest, found = order[active:], list[tuple[float, int, int]]()
    for k, u in enumerate(drawn):
        now, client = min((end, i) for i, (end, _) in ends.items())
        found.append((now, client, k // per - ends.pop(client)[1]))
        rest.append(client)
        following = rest.pop(int(u * len(rest)))
        ends[following] = law.arrival(following, now), (k + 1) // per
    return found


@pytest.mark.sweep(2)
@pytest.mark.parametrize("kind", ["exponential", "gamma", "deterministic"])
@pytest.mark.parametrize("active", [1, 2, 3])
@pytest.mark.parametrize("per", [1, 3])
def test_updates_are_those_of_a_queue(kind: str, active: int, per: int) -> None:
    model, streams = build_delays(kind, {"rates": RATES, "active": active}, 4), Streams(5, 2)
    found = model.followed(streams, 200, per)
    assert found is not None
    expected = queue(kind, active, Streams(5, 2), 200, per)
    assert [(t, i, tau) for t, i, (tau,) in zip(found.time, found.actor, found.detail, strict=True)] == expected
    shorter = model.followed(Streams(5, 2), 50, per)
    assert shorter is not None
    assert shorter.detail == found.detail[:50]


@pytest.mark.parametrize("active", [1, 2, 3])
def test_rates_are_those_of_the_chain_of_sets(active: int) -> None:
    """Exponential times: the stationary law of the set at work, from its balance in fractions."""
    rates = [Fraction(one) for one in RATES]
    sets = list(combinations(range(4), active))
    flow = sympy.zeros(len(sets), len(sets))
    for a, here in enumerate(sets):
        for i in here:
            for j in {*range(4)} - {*here} | {i}:
                there = tuple(sorted({*here} - {i} | {j}))
                share = sympy.Rational(rates[i]) / (4 - active + 1)
                flow[sets.index(there), a] += share
                flow[a, a] -= share
    (shares,) = flow.nullspace()
    shares /= sum(shares)
    expected = [sum(shares[a] * sympy.Rational(rates[i]) for a, one in enumerate(sets) if i in one) for i in range(4)]
    found = build_delays("exponential", {"rates": RATES, "active": active}, 4).rates()
    assert found.tolist() == pytest.approx([float(one) for one in expected], rel=1e-13)


@pytest.mark.sweep(3)
@pytest.mark.parametrize("law", ["exponential", "uniform", "lognormal", "two-speed"])
def test_the_law_of_the_times_changes_no_rate(law: str) -> None:
    model = build_delays(law, {"rates": [4.0123, 1.9321, 1.0377, 0.51713], "active": 3}, 4)
    events = model.sample(Streams(8, 0), 60_000, 0.0)
    seen = np.bincount(events.actor, minlength=4) / events.time[-1]
    assert seen == pytest.approx(model.rates(), rel=0.05)


def test_of_many_clients_the_rates_neither_leave_floats_nor_their_sum() -> None:
    model = build_delays("exponential", {"spread": 1e6, "active": 150}, 300)
    rates, means = model.rates(), 1.0 / build_delays("exponential", {"spread": 1e6}, 300).rates()
    assert np.isfinite(rates).all()
    assert (rates * means <= 1.0 + 1e-12).all()  # the share of time at work
    assert (rates * means).sum() == pytest.approx(150.0, rel=1e-9)


@pytest.mark.parametrize("active", [1, 2, 4])
def test_an_update_is_as_stale_in_the_mean_as_others_are_at_work(active: int) -> None:
    run = bl.run(
        "async_sgd", "quadratic:clients=6,dimension=1", f"exponential:spread=9,active={active}",
        iterations=6000, trials=1, settings={"alpha": "0.01"},
    )  # fmt: skip
    assert run.statistics[0].staleness.mean() == pytest.approx(active - 1, abs=0.02)


def test_rounds_last_as_long_as_their_slowest_client_does() -> None:
    plain, few = (
        bl.run(
            "sfedavg",
            "huber:clients=3,x0=2",
            f"exponential:spread=3{more}",
            iterations=9,
            trials=1,
            settings={"alpha": 0.1},
        )
        for more in ("", ",active=2")
    )
    assert few.statistics[0].time == plain.statistics[0].time


def test_all_at_work_is_the_model_itself() -> None:
    plain, all_of_them = (build_delays("exponential", {"rates": RATES, **more}, 4) for more in ({}, {"active": 4}))
    one, other = (model.sample(Streams(1, 0), 100, 0.5) for model in (plain, all_of_them))
    assert one.time.tolist() == other.time.tolist()
    assert not all_of_them.says_staleness


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"active": 0}, "active must be"),
        ({"active": 5}, "active must be"),
        ({"active": "few"}, "active must be"),
    ],
)
def test_bad_numbers_get_one_line(words: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        build_delays("exponential", {"rates": RATES, **words}, 4)


def test_who_goes_by_arrivals_says_what_would_fit(capsys: Any) -> None:
    words = ["-p", "huber:clients=3,x0=2", "-d", "exponential:active=2", "-k", "5", "-r", "2"]
    assert invoke(["run", "area", "--set", "alpha=0.1", "--server", "poisson:rate=1", *words]) == 2
    assert "goes by who arrives when" in capsys.readouterr().err
    assert invoke(["run", "fedbuff", "--set", "eta_l=0.1", "--set", "count=2", *words]) == 0
    assert "sets at work" in " ".join(capsys.readouterr().out.split())
