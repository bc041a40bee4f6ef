"""What the checks rest on: leading terms, certificates of signs, known truths; edges and trends taken by hand."""

import contextlib
import signal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import given, settings, strategies as st
from own_theorems import own_theorem

from boundlab.checks import behaviour, check
from boundlab.checks._check import View, time_limit
from boundlab.checks.truths import SMALL, UNEQUAL, UNEQUAL_SQUARED_GRADIENT, reused, reused_squared_gradient
from boundlab.checks.units import implied_claim
from boundlab.errors import UndecidedError
from boundlab.formulas.enclose import enclose
from boundlab.formulas.symbols import SYMBOLS, symbol
from boundlab.formulas.written import leading, substitute
from boundlab.registry import registered, using
from boundlab.signs import Prover
from boundlab.theorems import Theorem, load_theorem

DOCS = Path(__file__).parents[2] / "docs"
e = SMALL
X, Y = symbol("F0"), symbol("L")

# ------------------------------------------------------------------------------------------ leading terms


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    ("expression", "lead"),
    [
        (3 * e**2 + e**3, (3, 2)),
        ((1 / e + 5) ** 2, (1, -2)),
        (sympy.sqrt(4 * e + e**2), (2, sympy.S.Half)),
        (sympy.Max(e, 2 * e**2, evaluate=False), (1, 1)),
        (sympy.Min(e, 2 * e**2, evaluate=False), (2, 2)),
        (sympy.Max(1 - e, e - 1, evaluate=False), (1, 0)),
        ((1 - 2 * e) ** (3 / e), (sympy.exp(-6), 0)),
        ((1 - e) ** (e**-3), (0, sympy.oo)),
        (sympy.Rational(1, 2) ** (1 / e), (0, sympy.oo)),
        (sympy.Max(-1, 1 - 2 * e, evaluate=False) ** (3 / e), (sympy.exp(-6), 0)),
        ((e - e**2) ** 2 / (1 - 3 * e) ** 3, (1, 2)),
        ((-2 + e) ** 3, (-8, 0)),
        (sympy.exp(-e), (1, 0)),
        (sympy.S.Zero, (0, sympy.oo)),
    ],
)
def test_leading_terms_by_hand(expression: sympy.Expr, lead: tuple[Any, Any]) -> None:
    assert leading(expression, e) == lead


def test_cancelling_terms_are_not_guessed() -> None:
    for expression in (sympy.sqrt(1 + e) - 1, sympy.log(e), (1 + X - Y) + e):
        with pytest.raises(UndecidedError):
            leading(sympy.sympify(expression), e)


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(-3, 3)), min_size=1, max_size=4))
@settings(max_examples=30, deadline=None)
def test_leading_terms_of_sums_agree_with_sympy(parts: list[tuple[int, int]]) -> None:
    total = sympy.Add(*(coefficient * e**power for coefficient, power in parts))
    coefficient, power = leading(total, e)
    limit = sympy.S.Zero if power > 0 else coefficient if power == 0 else sympy.oo
    assert limit == sympy.limit(total, e, 0, "+")


# -------------------------------------------------------------------------------------------- enclosures


def test_a_symbol_has_no_enclosure_and_a_minimum_drops_what_is_infinite() -> None:
    with pytest.raises(UndecidedError):
        enclose(X + 1)
    M = symbol("M")
    inside = sympy.Min(3, Y / (M - 1), evaluate=False)
    assert substitute(inside, {M: sympy.S.One}) == 3
    with pytest.raises(UndecidedError, match="infinite"):
        substitute(Y / (M - 1), {M: sympy.S.One})


# ------------------------------------------------------------------------------------------ certificates

PROVER = Prover(SYMBOLS)
NAMES = ("n", "M", "tau_max", "sigma", "p_s", "delta", "speed_ratio", "mu", "L")
DRAWS = {
    "n": st.integers(1, 9),
    "M": st.integers(1, 9),
    "tau_max": st.integers(0, 9),
    "sigma": st.floats(0, 9),
    "p_s": st.floats(0.01, 1),
    "delta": st.floats(0, 1),
    "speed_ratio": st.floats(1, 9),
    "mu": st.floats(0.01, 1),
    "L": st.floats(1, 9),
}


@st.composite
def expressions(draw: st.DrawFn, depth: int = 3) -> sympy.Expr:
    if depth == 0 or draw(st.booleans()):
        return draw(st.sampled_from([symbol(name) for name in NAMES] + [sympy.Integer(number) for number in (1, 2, 3)]))
    left, right = draw(expressions(depth - 1)), draw(expressions(depth - 1))
    kind = draw(st.sampled_from("+-*mM/"))
    if kind == "/":
        return left / (1 + right**2)
    if kind in "mM":
        return (sympy.Min if kind == "m" else sympy.Max)(left, right, evaluate=False)
    return {"+": left + right, "-": left - right, "*": left * right}[kind]


@pytest.mark.nightly
@given(expressions(), st.fixed_dictionaries(DRAWS), st.sampled_from(("n", "sigma", "tau_max")), st.integers(1, 3))  # type: ignore[arg-type]
@settings(max_examples=150, deadline=None)
def test_what_is_proved_to_grow_grows(expression: sympy.Expr, values: dict[str, float], name: str, more: int) -> None:
    found = PROVER.direction(expression, symbol(name))
    if found is not None:
        before, after = (
            float(expression.subs({symbol(other): value for other, value in point.items()}))
            for point in (values, {**values, name: values[name] + more})
        )
        slack = 1e-9 * (1 + abs(before) + abs(after))
        assert found * (after - before) >= -slack
        assert found != 0 or abs(after - before) <= slack


def test_conditions_help_and_are_needed() -> None:
    theorem = load_theorem("classics.sgd.distance")
    rate = 1 - symbol("alpha") * symbol("mu")
    assert View(theorem).prover().nonnegative(rate)
    assert not PROVER.nonnegative(rate)


def _forever() -> None:
    while True:
        # What SymPy does in places.
        with contextlib.suppress(Exception):
            sum(range(1000))


@pytest.mark.nightly
def test_time_is_limited() -> None:
    with pytest.raises(UndecidedError, match="not decided in"), time_limit(0.05):
        _forever()


@pytest.mark.sweep(2)
@pytest.mark.parametrize("_", range(20))
def test_a_limit_that_has_passed_leaves_no_timer_behind(_: int) -> None:
    before = signal.getsignal(signal.SIGPROF)
    with pytest.raises(UndecidedError, match="not decided in"), time_limit(0.001):
        _forever()
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGPROF) == before


# ---------------------------------------------------------------------------------------- the known truths


def test_the_noise_floor_is_reached() -> None:
    # E x² of x' = (1 − η)x ± η from 0, averaged over η⁻³ steps, is η/(2 − η)·(1 − O(1/(ηT))); and |x| ≤ 1.
    for eta in (0.1, 0.05):
        steps = round(eta**-3)
        second, total, largest = 0.0, 0.0, 0.0
        for _ in range(steps):
            total += second
            second = (1 - eta) ** 2 * second + eta**2
            largest = (1 - eta) * largest + eta
        assert total / steps == pytest.approx(eta / (2 - eta), rel=5 * eta)
        assert largest <= 1


def test_a_slope_keeps_its_gradient() -> None:
    T, eta = 50, Fraction(1, 7)
    x = eta * (T - 1) + 1
    gap = x - Fraction(1, 2)
    assert gap == eta * (T - 1) + Fraction(1, 2)
    for _ in range(T):
        slope = min(max(x, Fraction(-1)), Fraction(1))
        assert slope == 1
        x -= eta * slope


def test_reused_gradients_go_round_for_ever() -> None:
    times, eta, L = 20, Fraction(1, 50), Fraction(10)
    start = times * eta / 2
    x, total = start, Fraction(0)
    for block in range(4):
        gradient = min(max(L * x, Fraction(-1)), Fraction(1))
        assert gradient == (-1) ** block
        for _ in range(times):
            total += min(max(L * x, Fraction(-1)), Fraction(1)) ** 2
            x -= eta * gradient
    assert x == start
    average = reused_squared_gradient(times)
    assert total / (4 * times) == Fraction(int(average.p), int(average.q))
    values = reused(sympy.Rational(1, 50), times, sympy.Integer(40))
    assert values["L"] == 10
    # f(y) − inf f = |y| − 1/(2L).
    assert values["F0"] == sympy.Rational(1, 5) - sympy.Rational(1, 20)


def test_the_bound_of_afl_dga_on_that_orbit_is_far_below() -> None:
    values = reused(sympy.Rational(1, 1000), 20, sympy.Integer(40))
    theorem = load_theorem("afl_dga.theorem1")
    numbers = {name: float(values[name]) for name in theorem.inputs() if name in values} | {"T": 1000}
    assert float(theorem.evaluate(numbers).total) < 0.12 < float(reused_squared_gradient(20))


def test_the_mixture_has_its_bias() -> None:
    # ω = (5/6, 1/6), minimisers 0 and 1: the mixture's is 1/6, where ∇f = 1/6 − 1/2.
    x = 0.9
    for _ in range(20000):
        x -= 1e-3 * (5 / 6 * x + 1 / 6 * (x - 1))
    assert (x - 0.5) ** 2 == pytest.approx(float(UNEQUAL_SQUARED_GRADIENT), rel=1e-6)
    grid = np.linspace(-3, 3, 601)
    first, second = np.clip(grid, -1, 1), np.clip(grid - 1, -1, 1)
    for values in UNEQUAL.values():
        assert np.abs(first - second).max() / 2 == pytest.approx(float(values["sigma_g"]))
    assert UNEQUAL["fedbuff"]["chi2"] == 2 * 2 * (sympy.Rational(5, 6) - sympy.Rational(1, 2)) ** 2


SGD = {
    "assumptions": '"smooth", "convex", "bounded-variance", "uniform-sampling"',
    "metric": "gap",
    "conditions": '"alpha <= 1/(2*L)"',
}
BUFFER = {
    "algorithm": "fedbuff",
    "metric": "gradient-norm",
    "assumptions": '"smooth", "bounded-below", "fixed-schedule"',
    "step": 'eta_l = "eta_l"',
    "conditions": '"eta_l <= 1/L"',
}


def found(theorem: Theorem, identity: str) -> tuple[str, str]:
    """Return the outcome and the words of one check."""
    (one,) = [one for one in check(theorem, [identity.split(".")[0]]) if one.id == identity]
    return one.verdict, one.witness


@pytest.mark.parametrize(
    ("identity", "term", "words"),
    [
        ("limits.K", "R**2/(alpha*K) + alpha*sigma**2/n", "the right side tends to α·σ²/n"),
        ("limits.K", "R**2/(alpha*K**3)", "the right side tends to 0 like K^(-3)"),
        ("limits.K", "R**2*sqrt(K)/alpha", "the right side tends to ∞ like K^(1/2)"),
        ("limits.n→∞", "R**2/(alpha*K) + alpha*sigma**2/n", "the right side tends to R²/(α·K)"),
        ("limits.n→∞", "R**2/(alpha*K*n**2) + alpha*sigma**2/n", "the right side tends to 0 like n^(-1)"),
        ("limits.n→∞", "R**2*n**2/(alpha*K)", "the right side tends to ∞ like n^(2)"),
        ("limits.small-steps", "alpha*sigma**2 + R**2/(alpha*K)", "the right side tends to 0 like step^(1)"),
        ("limits.sigma=0", "alpha*sigma**2", "nothing remain; gone: only"),
        ("limits.sigma=0", "alpha*sigma**2 + R**2/K", "only [R²/K] remain; gone: only [α·σ²]"),
        ("limits.n=1", "R**2*(n - 1)/K", "nothing remain; gone: only"),
    ],
)
def test_what_remains_is_the_limit_by_hand(tmp_path: Path, identity: str, term: str, words: str) -> None:
    assert found(own_theorem(tmp_path, **SGD, term=term), identity) == ("passed", words)


@pytest.mark.parametrize(
    ("rules", "term", "verdict"),
    [
        # L²·1/L rises, L·1/L² falls, L·1/L stays, whatever one part does by itself.
        ('up = "L**2"\ndown = "1/L"', "R**2*up*down/K", "passed"),
        ('up = "L"\ndown = "1/L**2"', "R**2*up*down/K", "suspicious"),
        ('up = "L"\ndown = "1/L"', "R**2*up*down/K", "passed"),
        ('up = "L"\nagain = "up**2 + up"', "R**2*again/K", "passed"),
        ('down = "1/L"\nagain = "1/down"', "R**2*again/K", "passed"),
        ('down = "1/L"\nagain = "down**2 + down"', "R**2*again/K", "suspicious"),
    ],
)
def test_a_trend_through_definitions_is_that_of_the_whole(tmp_path: Path, rules: str, term: str, verdict: str) -> None:
    names = [line.split(" = ")[0] for line in rules.splitlines()]
    declared = "".join(f'[symbols.{name}]\nmeaning = "a constant"\nunits = [0, 0]\n' for name in names)
    theorem = own_theorem(tmp_path, **SGD, term=term, more=f"[definitions]\n{rules}\n{declared}")
    assert found(theorem, "monotone.L")[0] == verdict


# Each of n clients m times: what is counted grows with m, what is shared out falls.
@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    "invariant", ["b/n", "tau_sum/n", "n*alpha2", "n*pi_max", "n*V_max", "b*alpha2", "n*reuse_n**2", "tau_sum*pi_max"]
)
def test_copies_of_all_clients_change_no_share(tmp_path: Path, invariant: str) -> None:
    start = "F0/(eta_l*T) + "
    one = found(own_theorem(tmp_path, **BUFFER, term=f"{start}{invariant}*L*sigma_g**2"), "replication")
    assert one == ("passed", "it does not change")
    falls = found(own_theorem(tmp_path, **BUFFER, term=f"{start}{invariant}*L*sigma_g**2/n"), "replication")
    assert falls[0] != "passed"
    grows = found(own_theorem(tmp_path, **BUFFER, term=f"{start}{invariant}*L*sigma_g**2*n"), "replication")
    assert grows[0] == "passed"
    assert grows[1].endswith("grow: loose, not wrong")


def test_what_copies_and_delays_do_to_a_symbol_of_ones_own_is_not_guessed(tmp_path: Path) -> None:
    own = '[symbols.spread]\nmeaning = "a constant"\nunits = [0, 0]\n'
    term = "F0/(eta_l*T) + eta_l**2*L**2*G_sq*tau_max*spread"
    theorem = own_theorem(tmp_path, **BUFFER, term=term, more=own)
    assert found(theorem, "replication") == ("not applicable", "what copies of clients do to spread is not known")
    assert found(theorem, "refinement") == ("not applicable", "what longer delays do to spread is not known")


@pytest.mark.parametrize(
    ("condition", "term", "verdict", "words"),
    [
        # η²τ → 0 as the step is halved and the delay doubled, η²τ² stays.
        ("eta_l <= 1/L", "F0/(eta_l*T) + eta_l**2*L**2*G_sq*tau_max", "suspicious", "without tau_max"),
        ("eta_l <= 1/L", "F0/(eta_l*T) + eta_l**2*L**2*G_sq*tau_max**2", "passed", "a term with tau_max remains"),
        ("tau_max <= 9", "F0/(eta_l*T) + eta_l**2*L**2*G_sq*tau_max", "suspicious", "without tau_max"),
        ("eta_l*L*tau_max <= 1", "F0/(eta_l*T) + eta_l**2*L**2*G_sq*tau_max", "passed", "keeps step·delay small"),
    ],
)
def test_delay_matters_however_finely_time_is_cut(
    tmp_path: Path, condition: str, term: str, verdict: str, words: str
) -> None:
    theorem = own_theorem(tmp_path, **{**BUFFER, "conditions": f'"{condition}"'}, term=term)
    said, why = found(theorem, "refinement")
    assert said == verdict
    assert words in why


_FREE, _TERM = 'eta_l = "eta_l"', "4*F0*(1 + tau_max)/(eta_l*T)"
_OWN = '\neta_g = "1/(1 + tau_max)"'


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        # η_ℓ η_g = 1/(2L(1 + τ)) at most, by the theorem's own server rate, or by what the other rate may be.
        ({"step": _FREE + _OWN}, "the theorem's own eta_g falls as the delay grows"),
        ({"step": f'{_FREE}\neta_g = "1/L"'}, ""),
        # It reads the delay, and falls no more than 1 does; or it grows.
        ({"step": f'{_FREE}\neta_g = "tau_max/(1 + tau_max)"'}, ""),
        ({"step": f'{_FREE}\neta_g = "1 + tau_max"'}, ""),
        ({"conditions": '"eta_l <= tau_max/(1 + tau_max)"'}, ""),
        # (η/R)·(τR) stays, and η/R ≤ 1/√(τR) is true in the end.
        ({"conditions": '"eta_l <= 1/sqrt(1 + tau_max)"'}, ""),
        ({"conditions": '"eta_l <= 1/(1 + tau_max)"'}, "keeps step·delay small"),
        ({"step": f'{_FREE}\neta_g = "eta_g"', "conditions": '"eta_g <= 1 + tau_max"'}, ""),
        ({"step": f'{_FREE}\neta_g = "eta_g"', "conditions": '"eta_g <= 1/(1 + tau_max)"'}, "keeps step·delay small"),
        ({"step": f'{_FREE}\neta_g = "eta_g"', "conditions": '"eta_g <= 1"'}, ""),
        ({"more": '[options]\nstaleness = "inverse"'}, "staleness = inverse damps what is late"),
        ({"more": '[options]\nstaleness = "polynomial:a=0.1"'}, "staleness = polynomial:a=0.1 damps what is late"),
        ({"more": '[options]\nstaleness = "polynomial:a=0"'}, ""),
        ({"more": '[options]\nstaleness = "constant"'}, ""),
        ({"more": '[options]\nstaleness = "any"'}, ""),
    ],
)
def test_where_steps_fall_as_delays_grow_no_delay_need_remain(
    tmp_path: Path, changes: dict[str, str], words: str
) -> None:
    said, why = found(own_theorem(tmp_path, **{**BUFFER, "term": _TERM, **changes}), "refinement")
    assert said == ("suspicious" if not words else "passed" if words.startswith("keeps") else "not applicable")
    assert (words or "without tau_max") in why


@pytest.mark.parametrize(
    ("schedule", "damps"),
    [("delay_adaptive", True), ("1/(1 + tau)", True), ("Min(1, n/tau)", True), ("1 + 1/(1 + tau)", False)],
)
def test_a_step_that_reads_the_staleness_damps_where_it_tends_to_0(tmp_path: Path, schedule: str, damps: bool) -> None:
    more = f'[options]\nschedule = "{schedule}"'
    one = {**BUFFER, "algorithm": "async_sgd", "step": 'alpha = "alpha"', "conditions": '"alpha <= 1/(2*L)"'}
    said, why = found(own_theorem(tmp_path, **one, term="4*F0*(1 + tau_max)/(alpha*T)", more=more), "refinement")
    assert (said, "damps what is late" in why) == ("not applicable" if damps else "suspicious", damps)


@pytest.mark.parametrize(
    ("weight", "damps"), [("1.0 / (1 + {})", True), ("max(0.5, 1.0 / (1 + {}))", False), ("0.9", False)]
)
def test_an_algorithm_that_damps_in_its_event_is_asked_for_its_weights(
    tmp_path: Path, weight: str, damps: bool
) -> None:
    page = (DOCS / "plugins.md").read_text(encoding="utf-8")
    code = page.partition("```python file=damped.py\n")[2].partition("```")[0]
    (tmp_path / "damped.py").write_text(
        code.replace("1.0 / (1 + {})".format("control.slots[client]"), weight.format("control.slots[client]"))
    )
    one = {
        **BUFFER,
        "algorithm": "damped",
        "step": 'eta = "eta"',
        "conditions": '"eta <= 1/(2*L)"',
        "more": 'settable = ["eta"]',
    }
    with using([tmp_path / "damped.py"]):
        said, why = found(own_theorem(tmp_path, **one, term="4*F0*(1 + tau_max)/(eta*T)"), "refinement")
    assert (said, "what is late weighs less" in why) == ("not applicable" if damps else "suspicious", damps)


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    ("step", "verdict"),
    [
        ("1/(L*sqrt(K))", "passed"),
        ("1/L", "passed"),
        ("1/L + 1/(L*K)", "passed"),
        ("3/(2*L)", "unknown"),
        ("101/(100*L)", "unknown"),
        ("sqrt(K)/L", "failed"),
        ("K**(1/8)/L", "failed"),
    ],
)
def test_the_step_of_a_corollary_meets_the_conditions_for_long_horizons(
    step: str, verdict: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    above = own_theorem(tmp_path, **{**SGD, "conditions": '"alpha <= 1/L"'}, term="R**2/(alpha*K)")
    monkeypatch.setattr(behaviour, "parent", lambda _: above)
    theorem = own_theorem(tmp_path, **SGD, step=f'alpha = "{step}"', term="R**2*L/sqrt(K)")
    assert found(theorem, "admissible.corollary")[0] == verdict


@pytest.mark.parametrize(
    ("term", "verdict"),
    [
        # After K steps of size α the noise floor is α/4 at least, however the start is forgotten.
        ("alpha*sigma**2/100 + sigma**2/(alpha*K)", "failed"),
        ("alpha*sigma**2/100 + sigma**2/(L**2*alpha*K**2)", "failed"),
        ("alpha*sigma**2 + sigma**2/(alpha*K)", "passed"),
    ],
)
def test_the_noise_floor_is_seen_behind_what_vanishes(tmp_path: Path, term: str, verdict: str) -> None:
    assert found(own_theorem(tmp_path, **SGD, term=term), "truths.noise-floor")[0] == verdict


@pytest.mark.parametrize(
    ("name", "term", "verdict"),
    [
        # A class with longer delays, or more local steps, has the shorter ones in it.
        ("tau_max", "F0/(eta_l*T) + L*eta_l*G_sq/(1 + tau_max)", "suspicious"),
        ("tau_max", "F0/(eta_l*T) + L*eta_l*G_sq*(1 + tau_max)", "passed"),
        ("sigma_l", "F0/(eta_l*T) + L*eta_l*G_sq - L*eta_l*sigma_l**2/8", "suspicious"),
    ],
)
def test_worse_constants_of_the_run_do_not_lower_a_bound(tmp_path: Path, name: str, term: str, verdict: str) -> None:
    assert found(own_theorem(tmp_path, **BUFFER, term=term), f"monotone.{name}")[0] == verdict


@pytest.mark.parametrize(
    ("term", "verdict"),
    [
        # Shares 5/6 and 1/6 lead to a point with ‖∇f‖² = 1/9, with no noise at all.
        ("F0/(eta_l*T) + 4*sigma_l**2 + L*eta_l*(G_sq + sigma_l**2)*(1 + tau_max)**2", "failed"),
        ("F0/(eta_l*T) + sigma_g**2 + L*eta_l*(G_sq + sigma_l**2)*(1 + tau_max)**2", "passed"),
    ],
)
def test_noise_does_not_pay_for_clients_that_come_seldom(tmp_path: Path, term: str, verdict: str) -> None:
    own = {
        **BUFFER,
        "assumptions": '"smooth", "bounded-gradients", "bounded-variance", "bounded-heterogeneity", "fixed-schedule"',
    }
    assert found(own_theorem(tmp_path, **own, term=term), "truths.participation-bias")[0] == verdict


def test_a_condition_that_a_scaling_removes_is_no_condition(tmp_path: Path) -> None:
    # f → c·f leaves α·L and multiplies α/L by c⁻²: every step is allowed in some units.
    theorem = own_theorem(
        tmp_path, **{**SGD, "conditions": '"alpha*L <= 1", "L <= 1/sqrt(alpha)"'}, term="R**2/(alpha*K)"
    )
    assert "makes it true whatever the step" in found(theorem, "units.conditions")[1]
    implied = implied_claim(View(theorem))
    assert implied is not None
    assert implied[1].witness.endswith("true for every step: the claim implies itself without it")
    assert implied_claim(View(own_theorem(tmp_path, **SGD, term="R**2/(alpha*K)"))) is None


def test_only_printed_rates_without_constants_have_a_theorem_above_them() -> None:
    for theorem in registered("theorems").values():
        above = behaviour.parent(theorem)
        assert above is None or (theorem.shape and theorem.of_paper and not above.shape)


@pytest.mark.parametrize(
    ("term", "latex"),
    [("R**2/(alpha*K) + alpha*sigma**2/n", r"\frac{\alpha \sigma^{2}}{n}"), ("R**2/(alpha*K)", "")],
)
def test_a_finite_limit_is_written_in_tex_too(tmp_path: Path, term: str, latex: str) -> None:
    (one,) = [one for one in check(own_theorem(tmp_path, **SGD, term=term), ["limits"]) if one.id == "limits.K"]
    assert one.latex == latex


@pytest.mark.parametrize(
    ("changes", "identity"),
    [
        ({"term": "R**2/(alpha*K) + R**2*sqrt(1 + L)"}, "units.terms"),
        ({"term": "R**2*L/K", "step": 'alpha = "1/(1 + L)"'}, "units.step"),
        ({"term": "R**2/(alpha*K)", "conditions": '"alpha <= 1/(1 + L)"'}, "units.conditions"),
        ({"term": "R**2/(alpha*K)", "conditions": '"alpha*(1 + L) <= 1"'}, "units.conditions"),
    ],
)
def test_one_plus_a_smoothness_constant_is_no_sum(tmp_path: Path, changes: dict[str, str], identity: str) -> None:
    verdict, words = found(own_theorem(tmp_path, **{**SGD, **changes}), identity)
    assert verdict == "failed"
    assert "1 has units (0, 0), but L has (1, −2)" in words
    others = {
        one.verdict for one in check(own_theorem(tmp_path, **{**SGD, **changes}), ["units"]) if one.id != identity
    }
    assert others <= {"passed", "not applicable"}


def test_a_real_number_of_ones_own_is_tried_below_zero_too(tmp_path: Path) -> None:
    own = '[symbols.lean]\nmeaning = "a constant"\nunits = [0, 0]\ndomain = "real"\n'
    view = View(own_theorem(tmp_path, **SGD, term="R**2*(2 + lean)**2/(alpha*K)", more=own))
    assert {point["lean"] > 0 for point in view.draws} == {True, False}
    assert all(point["R"] >= 0 for point in view.draws)
