"""What a formula does at its edges and as its constants grow, against limits and trends taken by hand."""

from pathlib import Path

import pytest
from own_theorems import own_theorem

from boundlab.checks import View, admissible, check
from boundlab.checks.units import implied_claim
from boundlab.registry import registered, using
from boundlab.theorems import Theorem

DOCS = Path(__file__).parents[2] / "docs"
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
    monkeypatch.setattr(admissible, "parent", lambda _: above)
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
    assert implied.text.endswith("true for every step: the claim implies itself without it")
    assert implied_claim(View(own_theorem(tmp_path, **SGD, term="R**2/(alpha*K)"))) is None


def test_only_printed_rates_without_constants_have_a_theorem_above_them() -> None:
    for theorem in registered("theorems").values():
        above = admissible.parent(theorem)
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
