"""Wrong proofs about FedBuff and FedStaleWeight, which the kernel and the settings refuse."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from boundlab.errors import SpecError
from boundlab.prove import ProofError, expr, squared, telescope_vector, total
from boundlab.prove.settings import setting_of
from boundlab.theorems import load_theorem


def _given() -> Any:
    return setting_of(load_theorem("fedstaleweight.rf1"))


def _random() -> Any:
    return setting_of(load_theorem("fedbuff.rf3"))


GIVEN: dict[str, tuple[Callable[[Any], Any], str]] = {
    "a noise that is met again": (lambda s: s.unbiased(s.e(s.k, s.j, s.q), s.g(s.k, s.j, s.q + 1)), "may depend"),
    "a model that depends on it": (lambda s: s.unbiased(s.e(s.k, s.j, s.q), s.w(s.k + 1)), "may depend"),
    "noise of a buffer that is not ordered": (lambda s: s.unbiased(s.xb(s.k, s.q), s.df(s.k)), "no noise"),
    "the gradients of the whole buffer": (lambda s: s.unbiased(s.e(s.k, s.j, s.q), s.hb(s.k, s.q)), "may depend"),
    "an update after T": (lambda s: s.update(s.T), "said for 0 <= t <= T - 1"),
    "a delay after T": (lambda s: s.delay(s.t, s.j), "said for 0 <= t <= T - 1"),
    "weights of entries that differ": (lambda s: s.weights(s.k, squared(s.g(s.k, s.j, 0))), "a sum here runs over"),
    "shares of clients that differ": (lambda s: s.whole_share(s.k, s.d(s.i, s.k)), "a sum here runs over"),
    "a weight that may be negative": (
        lambda s: total(s.kernel, s.mean_heterogeneity(s.k), "i", 0, s.n, s.share(s.i, s.k) - 1 / s.n),
        "negative",
    ),
    "a start after the arrival": (
        lambda s: s.kernel.combine(expr(s.s(s.k, s.j) - s.k - 1) >= 0, []),
        "may be negative",
    ),
    "a way from the older model that is none": (
        lambda s: telescope_vector(s.kernel, "r", s.k, s.s(s.k, s.j), s.w(s.r)),
        "reversed",
    ),
    "updates before the first one": (
        lambda s: total(s.kernel, s.update(s.r), "r", s.k - s.symbol("tau_max"), s.k),
        "fewer r",
    ),
    "two functions of two clients": (lambda s: s.smooth(s.d(s.i, s.k), s.g(s.k, s.j, 0)), "two functions"),
    "each client's heterogeneity": (lambda s: s.heterogeneity(s.i, s.k), "no symbol"),
    "no spread at all": (lambda s: s.kernel.combine(expr(s.spread(s.k)) <= 0, []), "may be negative"),
}
RANDOM: dict[str, tuple[Callable[[Any], Any], str]] = {
    "who is in the buffer is in the next model": (
        lambda s: s.drawn_client(s.k, s.w(s.k + 1)),
        "known given the arrivals|given that, the entry",
    ),
    "the drawn client itself": (
        lambda s: s.drawn_client(s.k, s.vec("dk", s.k)),
        "known given the arrivals|given that, the entry",
    ),
    "the buffer's gradient is not known before": (
        lambda s: s.given_past(s.k, s.q, s.vec("hb", s.k, s.q)),
        "known given the arrivals|given that, the entry",
    ),
    "the mean of another buffer": (
        lambda s: s.given_past(s.k, s.q, s.vec("mb", s.k + 1, 0)),
        "known given the arrivals|given that, the entry",
    ),
    "the entry itself": (lambda s: s.entry_of("hb", s.k, s.q, s.vec("gk", s.k, s.q)), "which entry is drawn"),
    "the entry's client": (lambda s: s.entry_of("hb", s.k, s.q, s.vec("dk", s.k)), "which entry is drawn"),
    "the way from the entry": (lambda s: s.entry_of("xb", s.k, s.q, s.vec("pk", s.k, 1)), "which entry is drawn"),
    "an entry before, met again": (
        lambda s: s.met_entry_of(s.k, s.m, s.q, s.vec("gu", s.k, s.m, s.q)),
        "which entry is drawn",
    ),
    "another way": (lambda s: s.met_entry_of(s.k, s.m, s.q, s.vec("pk", s.k + 1, 0)), "which entry is drawn"),
    "noise of a run that has begun is in the mean": (
        lambda s: s.unbiased(s.vec("xb", s.k, s.q), s.vec("mb", s.k, s.q)),
        "may depend",
    ),
    "and in the mean of an earlier buffer": (
        lambda s: s.unbiased(s.vec("ek", s.k, s.q), s.vec("mb", 0, s.q)),
        "may depend",
    ),
    "a noise that is met again": (
        lambda s: s.unbiased(s.vec("xb", s.k, s.q), s.vec("hb", s.k, s.q + 1)),
        "may depend",
    ),
    "noise of the entry and of the buffer": (
        lambda s: s.unbiased(s.vec("ek", s.k, s.q), s.vec("xb", s.k, s.q)),
        "may depend",
    ),
    "a run of a given schedule": (lambda s: s.begin(s.k, s.j), "."),
    "a delay of a given schedule": (lambda s: s.delay(s.k, s.j), "."),
    "an update after T": (lambda s: s.drawn_distance(s.T), "said for 0 <= t <= T - 1"),
    "a share that may be negative": (
        lambda s: total(s.kernel, s.mean_heterogeneity(s.k), "i", 0, s.n, s.pi(s.i)),
        "negative",
    ),
    "a step that is too large": (
        lambda s: s.kernel.combine(expr(1 - 3 * s.symbol("L") * s.rate * s.step * s.Q) >= 0, [(2, s.limit(0))]),
        "negative|left over",
    ),
}


AXIOMS: dict[str, Callable[[Any, Any], Any]] = {
    "update": lambda s, t: s.update(t),
    "entry_move": lambda s, t: s.entry_move(t, s.q),
    "way_begin": lambda s, t: s.way_begin(t),
    "way_end": lambda s, t: s.way_end(t),
    "way_move": lambda s, t: s.way_move(t, s.m),
    "entry_of": lambda s, t: s.entry_of("hb", t, s.q, s.w(0)),
    "met_entry_of": lambda s, t: s.met_entry_of(t, s.m, s.q, s.vec("pk", t, 0)),
    "given_past": lambda s, t: s.given_past(t, s.q, s.w(0)),
    "drawn_client": lambda s, t: s.drawn_client(t, s.w(0)),
    "drawn_distance": lambda s, t: s.drawn_distance(t),
}


@pytest.mark.parametrize("name", AXIOMS)
def test_every_axiom_about_random_buffers_is_about_the_first_t_updates(name: str) -> None:
    axiom, s = AXIOMS[name], _random()
    assert axiom(s, 0)
    assert axiom(s, s.T - 1)
    for outside in (s.T, s.T + s.k, s.k - 1):
        with pytest.raises(ProofError):
            axiom(s, outside)


@pytest.mark.sweep(2)
@pytest.mark.parametrize("what", GIVEN)
def test_a_wrong_step_about_a_given_schedule_is_refused(what: str) -> None:
    attack, why = GIVEN[what]
    with pytest.raises(ProofError, match=why):
        attack(_given())


@pytest.mark.sweep(2)
@pytest.mark.parametrize("what", RANDOM)
def test_a_wrong_step_about_a_random_schedule_is_refused(what: str) -> None:
    attack, why = RANDOM[what]
    with pytest.raises(ProofError, match=why):
        attack(_random())


@pytest.mark.parametrize("theorem", ["fedbuff.rf1", "fedbuff.rf2"])
def test_weights_that_fall_with_the_staleness_have_no_setting(theorem: str) -> None:
    one = load_theorem(theorem)
    for options in ({"*": "any"}, {"*": "any", "staleness": "polynomial"}):
        with pytest.raises((ProofError, SpecError)):
            setting_of(replace(one, options=options))


def test_which_of_two_numbers_is_smaller_is_not_said_by_the_name_of_another_difference() -> None:
    s = _random()
    s.name("gap", s.symbol("G_sq") - s.symbol("sigma_l") ** 2)
    less, _ = s.kernel.split("gap", 0)
    formula = next(iter(one for name, one in s.theorem.definitions.items() if name == "V_s"))
    with pytest.raises(ProofError, match="smallest is not shown"):
        s.formula(formula, less)


def test_the_name_of_a_difference_says_which_number_is_smaller_in_each_case_only() -> None:
    s = _random()
    formula = s.theorem.definitions["V_s"]
    first, second = (s.formula(one) for one in formula.args)
    s.name("gap", first - second)
    less, more = s.kernel.split("gap", 0)
    with pytest.raises(ProofError, match="smallest is not shown"):
        s.formula(formula)
    assert (s.formula(formula, less) - first).constant == 0
    assert (s.formula(formula, more) - second).constant == 0
