"""Wrong proofs about AFL-DGA: the kernel or the setting refuses each, and says why."""

from dataclasses import replace
from typing import Any

import pytest
from kernel_values import refused

from boundlab.errors import SpecError
from boundlab.prove import expr, total, variable, windows
from boundlab.prove.settings import setting_of
from boundlab.theorems import load_theorem


@pytest.fixture
def s() -> Any:
    return setting_of(load_theorem("afl_dga.r3"))


def test_stored_noise_meets_the_model_of_a_later_round(s: Any) -> None:
    """E⟨ξ, ∇f(w)⟩ = 0 where ξ is first used, and not where it is used again."""
    e = s.e(s.i, s.first(s.t, s.i), s.q)
    assert s.unbiased(e, s.df(s.first(s.t, s.i)))
    for later in (s.df(s.t), s.w(s.t), s.d(s.i, s.t)):
        with refused("may depend on"):
            s.unbiased(e, later)


def test_noise_meets_what_it_has_led_to(s: Any) -> None:
    i, r, q = s.i, s.r, s.q
    e = s.e(i, r, q)
    for after in (s.w(r + 1), s.a(r), s.v(r), s.m(r), s.z(i, r, q + 1), s.g(i, r, q + 1), s.o(i, r, q + 1, 0), e):
        with refused("may depend on"):
            s.unbiased(e, after)


def test_noise_meets_the_stored_gradient_of_another_client(s: Any) -> None:
    j = s.index("j", 0, s.n - 1)
    e = s.e(s.i, s.first(s.t, s.i), s.q)
    with refused("may depend on"):
        s.unbiased(e, s.g(j, s.first(s.t, j), s.q))


def test_a_mean_of_noises_is_taken_for_noise(s: Any) -> None:
    with refused("no noise"):
        s.unbiased(s.m(s.t), s.w(s.t))
    with refused("no noise"):
        s.variance(s.m(s.t))


def test_a_window_of_server_steps_begins_below_0(s: Any) -> None:
    S, squares = s.symbol("S"), s.kernel.square(s.v(s.h))
    with refused("begin below 0"):
        windows(s.kernel, squares, "h", "t", s.t - S, S, s.symbol("T"))


def test_a_window_of_server_steps_is_too_long(s: Any) -> None:
    S, T, squares = s.symbol("S"), s.symbol("T"), s.kernel.square(s.v(s.h))
    assert windows(s.kernel, squares, "h", "t", s.lo(s.t), S, T, (s.missing(s.t),))
    for longest, because in ((S, ()), (S, (s.ages(s.t),)), (S - 1, (s.missing(s.t),))):
        with refused("may be longer"):
            windows(s.kernel, squares, "h", "t", s.lo(s.t), longest, T, because)


def test_what_is_missing_in_one_round_is_summed_over_all(s: Any) -> None:
    """The steps that a point lacks are those before its own round t: the sum over h cannot run on to T."""
    fewer = s.kernel.combine(expr(s.miss(s.t, s.i, s.q, s.h)) <= 1, [])
    assert total(s.kernel, fewer, "h", s.lo(s.t), s.t)
    with refused("may be reversed"):
        total(s.kernel, fewer, "h", s.t, s.lo(s.t))


def test_a_weight_of_the_missing_steps_may_be_negative(s: Any) -> None:
    miss = s.miss(s.t, s.i, s.q, s.h)
    with refused("may be negative"):
        total(s.kernel, s.kernel.square(s.a(s.h)), "h", s.lo(s.t), s.t, miss - 1)


def test_a_local_step_is_divided_by_a_number_that_may_be_0(s: Any) -> None:
    own = s.kept(s.t, s.i, s.q)
    with refused("differ from 0"):
        total(s.kernel, s.own_moment(s.t, s.i, s.q, s.p), "p", 0, own, 1 / own)


def test_an_index_is_captured_by_the_sum_of_an_axiom(s: Any) -> None:
    r = s.first(s.t, s.i)
    for axiom in (s.slopes, s.noise, s.uncorrelated, s.distances, s.whole):
        with refused("a sum here runs over"):
            axiom(r)
    for axiom in (lambda: s.split_noise(s.r), lambda: s.place(s.h, s.i, s.q), lambda: s.missing_steps(s.h, s.i, s.q)):
        with refused("a sum here runs over"):
            axiom()


def test_noise_is_split_by_rounds_that_are_still_to_come(s: Any) -> None:
    with refused("said for 0 <= "):
        s.noise_part(s.t, s.r)
    with refused("said for 0 <= "):
        s.noise_part(s.t, s.t + 1)


def test_a_round_before_the_first_is_used(s: Any) -> None:
    for axiom in (s.move, s.slopes, s.missing):
        with refused("said for 0 <= "):
            axiom(s.t - 1)


def test_the_larger_step_is_taken_where_own_steps_are_held() -> None:
    """η·L ≤ 1/(1 + S) is the condition of r1 for M_o = 0 only: before a split it is not known which one holds."""
    own = setting_of(load_theorem("afl_dga.r1"))
    with refused("split the cases"):
        own.small_step_in(own.context)
    _, some = own.kernel.split("M_own", 0)
    one = own.small_step_in(some)
    S, x = own.symbol("S"), own.eta * own.symbol("L")
    assert not (one.claim.left - expr(2 * S**2 * x**2)).terms


def test_r1_has_no_noise_and_r2_no_limit_of_missing_steps() -> None:
    r1, r2 = (setting_of(load_theorem(name)) for name in ("afl_dga.r1", "afl_dga.r2"))
    assert r1.e(r1.i, r1.r, r1.q).zero
    with refused("has no noise"):
        r1.noise(r1.t)
    with refused("no symbol"):
        r2.missing(r2.t)


@pytest.mark.parametrize(
    "options", [{"scaling": "sum"}, {"scaling": "average"}, {"server": "k-scaled"}, {"first_round": "drawn"}]
)
def test_another_option_than_the_theorems_is_refused(options: dict[str, str]) -> None:
    theorem = load_theorem("afl_dga.r2")
    with pytest.raises(SpecError):
        setting_of(replace(theorem, options={**theorem.options, **options}))


def test_the_root_of_one_case_is_used_in_the_other(s: Any) -> None:
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
