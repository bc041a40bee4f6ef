"""Wrong steps about the runs of each algorithm: the kernel or the setting refuses them, and says why."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from kernel_values import refused

from boundlab.errors import SpecError
from boundlab.prove import ProofError, Range, equal, expr, scalar, squared, telescope_vector, total, variable, windows
from boundlab.prove.settings import setting_of
from boundlab.theorems import load_theorem

Attacks = dict[str, tuple[Callable[[Any], Any], str]]


def _of(theorem: str) -> Any:
    return setting_of(load_theorem(theorem))


def _first_noise(s: Any) -> Any:
    """Return the noise of a gradient, in the round that first uses it."""
    return s.e(s.i, s.first(s.t, s.i), s.q)


def _window(s: Any, longest: Any, *because: Any) -> Any:
    """Return what a window of server steps of that length says."""
    return windows(s.kernel, s.kernel.square(s.v(s.h)), "h", "t", s.lo(s.t), longest, s.symbol("T"), because)


def _fewer(s: Any) -> Any:
    return s.kernel.combine(expr(s.miss(s.t, s.i, s.q, s.h)) <= 1, [])


def _gradient(s: Any) -> Any:
    """Return a bound of the gradients of arrivals from 1 − K on."""
    g = s.g(s.a, 0, s.q)
    return s.kernel.combine(squared(g) <= expr(s.symbol("G_sq")), [(1, s.bounded_gradient(g))])


# Stored noise has mean 0 beside what was there when it was first used, and not where it is used again.
ROUNDS: Attacks = {
    **{
        f"stored noise meets {what} of a later round": (
            lambda s, of=of: s.unbiased(_first_noise(s), of(s)),
            "may depend on",
        )
        for what, of in {
            "the gradient": lambda s: s.df(s.t),
            "the model": lambda s: s.w(s.t),
            "a client's gradient": lambda s: s.d(s.i, s.t),
        }.items()
    },
    **{
        f"noise meets {what}": (lambda s, of=of: s.unbiased(s.e(s.i, s.r, s.q), of(s)), "may depend on")
        for what, of in {
            "the next model": lambda s: s.w(s.r + 1),
            "the mean of its round": lambda s: s.a(s.r),
            "the step of its round": lambda s: s.v(s.r),
            "the noise of its round": lambda s: s.m(s.r),
            "the next point": lambda s: s.z(s.i, s.r, s.q + 1),
            "the gradient there": lambda s: s.g(s.i, s.r, s.q + 1),
            "a gradient that is held then": lambda s: s.o(s.i, s.r, s.q + 1, 0),
            "itself": lambda s: s.e(s.i, s.r, s.q),
        }.items()
    },
    "noise meets the stored gradient of another client": (
        lambda s: s.unbiased(_first_noise(s), s.g(s.index("j", 0, s.n - 1), s.first(s.t, variable("j")), s.q)),
        "may depend on",
    ),
    "a mean of noises is taken for noise": (lambda s: s.unbiased(s.m(s.t), s.w(s.t)), "no noise"),
    "a mean of noises has the size of noise": (lambda s: s.variance(s.m(s.t)), "no noise"),
    "a window of server steps begins below 0": (
        lambda s: windows(
            s.kernel, s.kernel.square(s.v(s.h)), "h", "t", s.t - s.symbol("S"), s.symbol("S"), s.symbol("T")
        ),
        "begin below 0",
    ),
    "a window whose length nothing bounds": (lambda s: _window(s, s.symbol("S")), "may be longer"),
    "a window whose length ages bound": (lambda s: _window(s, s.symbol("S"), s.ages(s.t)), "may be longer"),
    "a window that is too long": (lambda s: _window(s, s.symbol("S") - 1, s.missing(s.t)), "may be longer"),
    # The steps that a point lacks are those before its own round t: the sum over h cannot run on to T.
    "what is missing in one round is summed over all": (
        lambda s: total(s.kernel, _fewer(s), "h", s.t, s.lo(s.t)),
        "may be reversed",
    ),
    "a weight of the missing steps may be negative": (
        lambda s: total(s.kernel, s.kernel.square(s.a(s.h)), "h", s.lo(s.t), s.t, s.miss(s.t, s.i, s.q, s.h) - 1),
        "may be negative",
    ),
    "a local step is divided by a number that may be 0": (
        lambda s: total(
            s.kernel, s.own_moment(s.t, s.i, s.q, s.p), "p", 0, s.kept(s.t, s.i, s.q), 1 / s.kept(s.t, s.i, s.q)
        ),
        "differ from 0",
    ),
    **{
        f"an index is captured by the sum of {name}": (
            lambda s, name=name: getattr(s, name)(s.first(s.t, s.i)),
            "a sum here runs over",
        )
        for name in ("slopes", "noise", "uncorrelated", "distances", "whole")
    },
    "an index is captured by that of the split noise": (lambda s: s.split_noise(s.r), "a sum here runs over"),
    "an index is captured by that of a place": (lambda s: s.place(s.h, s.i, s.q), "a sum here runs over"),
    "an index is captured by that of the missing steps": (
        lambda s: s.missing_steps(s.h, s.i, s.q),
        "a sum here runs over",
    ),
    "noise is split by any round": (lambda s: s.noise_part(s.t, s.r), "said for 0 <= "),
    "noise is split by a round that is still to come": (lambda s: s.noise_part(s.t, s.t + 1), "said for 0 <= "),
    **{
        f"a round before the first is used for {name}": (
            lambda s, name=name: getattr(s, name)(s.t - 1),
            "said for 0 <= ",
        )
        for name in ("move", "slopes", "missing")
    },
}
WINDOWS: Attacks = {
    **{
        f"noise of an arrival meets {what}": (lambda s, of=of: s.unbiased(s.e(s.t, 0, s.q), of(s)), "may depend on")
        for what, of in {
            "the model that it moved": lambda s: s.w(s.t + 1),
            "the virtual iterate that it moved": lambda s: s.v(s.t + 1),
            "the next point": lambda s: s.z(s.t, 0, s.q + 1),
            "the gradients of its run": lambda s: s.gr(s.t),
            "the noise of its run": lambda s: s.er(s.t),
        }.items()
    },
    # v[0] holds what the K − 1 arrivals before it brought.
    "noise that filled the window meets the first virtual iterate": (
        lambda s: s.unbiased(s.e(scalar(-1), 0, s.q), s.v(0)),
        "may depend on",
    ),
    "a run begins at a model that is made later": (
        lambda s: s.unbiased(s.e(s.t, 0, 0), s.w(s.t + 1)),
        "may depend on",
    ),
    "a move before the window was empty": (lambda s: s.move(s.a - 1, 0, s.q), "said for"),
    "gradients before the window was empty": (lambda s: s.added("gr", scalar(0) - s.K), "said for"),
    "a begin before the window was empty": (lambda s: s.begin(s.a, 0), "said for"),
    "a bias past the last arrival": (lambda s: s.bias(s.T), "said for 0 <= k <= T - 1"),
    "shares past the last arrival": (lambda s: s.regrouped(s.k + 1), "said for 0 <= k <= T - 1"),
    "a balance past the last arrival": (lambda s: s.balance(s.t, expr(1)), "said for 0 <= k <= T - 1"),
    "a delay past the last arrival": (lambda s: s.delay(s.T + s.N - 1, 0), r"said for 0 <= t <= T \+ N - 2"),
    "a delay of any arrival": (lambda s: s.delay(s.t, 0), r"said for 0 <= t <= T \+ N - 2"),
    "a share that may be negative is a weight": (
        lambda s: total(s.kernel, s.kernel.square(s.dv(s.i, s.k)), "i", 0, s.n, s.over(s.i, s.k) - s.under(s.i, s.k)),
        "weight of i may be negative",
    ),
    # Σ (over − under)·‖∇f_i‖² is not 0.
    "shares are balanced against what differs by client": (
        lambda s: s.balance(s.k, squared(s.dv(s.i, s.k))),
        "a sum here runs over",
    ),
    "the mean of all lengths is generalised": (lambda s: s.kernel.at(s.lengths(), {"T": 1}), "fixed|given|declared"),
    "the age of a schedule is generalised": (lambda s: s.kernel.at(s.delay(s.r, 0), {"tau_a": 0}), "is fixed here"),
    **{
        f"{name} takes another value": (lambda s, name=name: s.kernel.at(s.ahead(s.t), {name: 1}), "is fixed here")
        for name in ("eta_g", "eta_l", "N", "window", "Q")
    },
    **{
        f"mode delta has no {name}": (lambda s, name=name: getattr(s, name)(0), "has no")
        for name in ("response", "response_error", "virtual_move")
    },
    # The fact about arrivals from 1 − K on says nothing about earlier ones.
    "a window has no arrival of negative place": (
        lambda s: s.kernel.at(_gradient(s), {"a": s.t - s.K}),
        "outside its range",
    ),
    "a proof declares a second virtual iterate": (lambda s: s.kernel.vectors.declare("v", 1), "declared twice"),
    "a proof declares a second family of shares": (
        lambda s: s.context.declare("over", Range(low=scalar(0), arity=2)),
        "declared twice",
    ),
    "a claim about the first model alone is made of the later ones": (
        lambda s: s.kernel.combine(
            equal(squared(s.v(s.t) - s.w(s.t) - s.held_back(s.t)), 0), [(1, s.kernel.against(s.ahead(0), s.v(0)))]
        ),
        "no symbol|differ|left over",
    ),
}
OTHERS: dict[str, Attacks] = {
    "classics.subgradient.fixed-step": {
        # ‖x_0 − x*‖² = R² says nothing about other R: with R = 1 and R = 2 it would say 1 = 4.
        **{
            f"{name} takes another value": (
                lambda s, name=name, value=value: s.kernel.at(s.start(), {name: value}),
                "is fixed here",
            )
            for name, value in (("R", 1), ("K", 1), ("alpha", 1), ("n", 2))
        },
        "the horizon of an average takes another value": (
            lambda s: s.kernel.at(s.averaging(), {"K": 1}),
            "is fixed here",
        ),
        "an average is summed over its horizons": (
            lambda s: total(s.kernel, s.minimal(s.average()), "K", 1, 5),
            "is fixed here",
        ),
    },
    "area.theorem8.repaired.fixed-step": {
        "the start of the algorithm is used for that of the analysis": (lambda s: s.broadcast(s.i), "no broadcast"),
        "a step that a pass does not have": (lambda s: s.move(s.i, 0, s.M), "said for 0 <= m <= M - 1"),
        "a pass before the first": (lambda s: s.begin(s.i, -1), "said for 0 <= k"),
    },
    "classics.gd.nonconvex": {
        "it does not assume that functions are convex": (lambda s: s.convex(s.g(s.i, 0), s.x(1)), "does not assume"),
        "nor that they are cocoercive": (lambda s: s.cocoercive(s.g(s.i, 0), s.g(s.i, 0)), "does not assume"),
        "nor that there is a minimiser": (lambda s: s.star, "does not assume"),
    },
    "classics.gd.convex": {
        "gradients of two functions are those of one": (lambda s: s.smooth(s.g(s.i, 0), s.g(0, 1)), "two functions"),
    },
    "fedfa.param.a": {
        "mode param has no window that is ahead": (lambda s: s.ahead(s.t), "said for 0 <= t <= 0"),
        "a response of models that are not looked at": (
            lambda s: s.response(s.T + s.N - 1),
            r"said for 0 <= t <= T \+ N - 2",
        ),
        "its error": (lambda s: s.response_error(s.T + s.N - 1), r"said for 0 <= t <= T \+ N - 2"),
    },
    "fedfa.delta.b.noiseless": {
        "full gradients have no noise": (lambda s: s.variance(s.e(s.a, 0, s.q)), "no vector|is no noise|e "),
    },
    "afl_dga.r1": {"r1 has no noise": (lambda s: s.noise(s.t), "has no noise")},
    "afl_dga.r2": {"r2 has no limit of missing steps": (lambda s: s.missing(s.t), "no symbol")},
}
GIVEN: Attacks = {
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
RANDOM: Attacks = {
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
ATTACKS: dict[str, Attacks] = {
    "afl_dga.r3": ROUNDS,
    "fedfa.delta.a": WINDOWS,
    "fedstaleweight.rf1": GIVEN,
    "fedbuff.rf3": RANDOM,
    **OTHERS,
}


@pytest.mark.sweep(3)
@pytest.mark.parametrize(("theorem", "what"), [(theorem, what) for theorem, own in ATTACKS.items() for what in own])
def test_a_wrong_step_is_refused(theorem: str, what: str) -> None:
    attack, why = ATTACKS[theorem][what]
    s = _of(theorem)
    with refused(why):
        attack(s)


def test_what_is_right_beside_a_wrong_step_is_not_refused() -> None:
    s, first = _of("afl_dga.r3"), _of("fedfa.delta.a")
    assert s.unbiased(_first_noise(s), s.df(s.first(s.t, s.i)))
    assert _window(s, s.symbol("S"), s.missing(s.t))
    assert total(s.kernel, _fewer(s), "h", s.lo(s.t), s.t)
    assert first.begin(first.t, 0).right.vec is not None
    assert _of("afl_dga.r1").e(0, 0, 0).zero


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
    axiom, s = AXIOMS[name], _of("fedbuff.rf3")
    assert axiom(s, 0)
    assert axiom(s, s.T - 1)
    for outside in (s.T, s.T + s.k, s.k - 1):
        with pytest.raises(ProofError):
            axiom(s, outside)


@pytest.mark.parametrize("theorem", ["fedbuff.rf1", "fedbuff.rf2"])
def test_weights_that_fall_with_the_staleness_have_no_setting(theorem: str) -> None:
    one = load_theorem(theorem)
    for options in ({"*": "any"}, {"*": "any", "staleness": "polynomial"}):
        with pytest.raises((ProofError, SpecError)):
            setting_of(replace(one, options=options))


def test_which_of_two_numbers_is_smaller_is_not_said_by_the_name_of_another_difference() -> None:
    s = _of("fedbuff.rf3")
    s.name("gap", s.symbol("G_sq") - s.symbol("sigma_l") ** 2)
    less, _ = s.kernel.split("gap", 0)
    formula = next(iter(one for name, one in s.theorem.definitions.items() if name == "V_s"))
    with pytest.raises(ProofError, match="smallest is not shown"):
        s.formula(formula, less)


def test_the_name_of_a_difference_says_which_number_is_smaller_in_each_case_only() -> None:
    s = _of("fedbuff.rf3")
    formula = s.theorem.definitions["V_s"]
    first, second = (s.formula(one) for one in formula.args)
    s.name("gap", first - second)
    less, more = s.kernel.split("gap", 0)
    with pytest.raises(ProofError, match="smallest is not shown"):
        s.formula(formula)
    assert (s.formula(formula, less) - first).constant == 0
    assert (s.formula(formula, more) - second).constant == 0


@pytest.mark.parametrize(
    "options", [{"scaling": "sum"}, {"scaling": "average"}, {"server": "k-scaled"}, {"first_round": "drawn"}]
)
def test_another_option_than_the_theorems_is_refused(options: dict[str, str]) -> None:
    theorem = load_theorem("afl_dga.r2")
    with pytest.raises(SpecError):
        setting_of(replace(theorem, options={**theorem.options, **options}))


def test_the_larger_step_is_taken_where_own_steps_are_held() -> None:
    """η·L ≤ 1/(1 + S) is the condition of r1 for M_o = 0 only: before a split it is not known which one holds."""
    own = _of("afl_dga.r1")
    with refused("split the cases"):
        own.small_step_in(own.context)
    _, some = own.kernel.split("M_own", 0)
    one = own.small_step_in(some)
    S, x = own.symbol("S"), own.eta * own.symbol("L")
    assert not (one.claim.left - expr(2 * S**2 * x**2)).terms


def test_the_root_of_one_case_is_used_in_the_other() -> None:
    s = _of("afl_dga.r3")
    Q = s.symbol("Q_age")
    none, some = s.kernel.split("Q_age", 0)
    s.kernel.root("y", Q, some)
    assert s.kernel.combine(expr(1 / variable("y")) >= 0, [], some)
    for case in (none, None):
        with refused("not declared"):
            s.kernel.combine(expr(variable("y")) >= 0, [], case)
    with refused("declared twice"):
        s.kernel.root("y", Q, none)


def test_a_schedule_that_depends_on_the_noise_is_refused() -> None:
    theorem = load_theorem("afl_dga.r2")
    with refused("fixed-schedule"):
        setting_of(replace(theorem, assumptions=tuple(one for one in theorem.assumptions if one != "fixed-schedule")))


# Each would say of a mean at one time what holds of clients at times of their own, and so make unequal things equal.
CAUGHT: tuple[tuple[str, Callable[[Any], Any]], ...] = (
    ("classics.gd.convex", lambda s: s.move(s.i)),
    ("fedcompass.window.b", lambda s: s.whole_gradient(s.i)),
    ("fedfa.delta.b", lambda s: s.whole_gradient(s.i)),
    ("fedfa.delta.b", lambda s: s.update(s.j)),
    ("fedfa.delta.b", lambda s: s.added("gr", s.q)),
    ("fedfa.delta.b", lambda s: s.heterogeneity(s.i, s.i)),
    ("fedbuff.rf1", lambda s: s.whole_gradient(s.i)),
    ("fedbuff.rf1", lambda s: s.mean_heterogeneity(s.i)),
    ("fedbuff.rf3", lambda s: s.whole_gradient(s.i)),
    ("fedbuff.rf3", lambda s: s.expected(s.i)),
)


@pytest.mark.parametrize(("theorem", "attempt"), CAUGHT)
def test_an_index_that_a_sum_runs_over_is_refused(theorem: str, attempt: Callable[[Any], Any]) -> None:
    s = _of(theorem)
    many, known = len(s.kernel.facts), s.context.order()
    with pytest.raises(ProofError):
        attempt(s)
    # Nothing of the attempt is left.
    assert len(s.kernel.facts) == many
    assert s.context.order() == known


def test_another_index_is_as_good_as_any() -> None:
    s = _of("fedfa.delta.b")
    assert str(s.heterogeneity(s.i, s.t)).startswith("E‖d[i, t]")
    assert s.update(s.t).left.names() == {"t"}


def test_no_proof_tries_what_it_then_forgets() -> None:
    with pytest.raises(ProofError, match="a proof cannot use it"):
        _of("fedbuff.rf1").kernel.trial()
