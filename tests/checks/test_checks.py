"""Checks by the formula alone: which theorems fail which, no false alarms, and user theorems."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy
from own_theorems import own_theorem

from boundlab.checks import Check, CheckGroup, behaviour, check, exit_code, groups, read_groups
from boundlab.cli import invoke
from boundlab.errors import SpecError
from boundlab.formulas.symbols import SYMBOLS
from boundlab.registry import registered
from boundlab.theorems import Condition, Theorem

THEOREMS: dict[str, Theorem] = registered("theorems")
PRINTED = sorted(name for name, theorem in THEOREMS.items() if theorem.of_paper)

# Every printed theorem of the five papers: what fails, and what follows. Nothing fails for Theorem 8 of AREA, which
# is false: no relation that the formula alone can break tells (M+1)·B²/2 from M·B². What only implies more, or says
# nothing somewhere, is suspicious: a true theorem can do so, too. Wrong units are no statement at all, and fail.
FAILED: dict[str, dict[str, str]] = {
    "area.theorem7": {"units.terms": "claim false", "limits.gradient-descent": "claim false"},
    "area.theorem8": {},
    "area.theorem8.fixed-step": {},
    "area.theorem8.printed-start": {},
    "area.theorem8.printed-start.fixed-step": {},
    "fedcompass.theorem1": {"truths.participation-bias": "claim false"},
    "fedcompass.corollary1": {"units.terms": "claim false", "truths.participation-bias": "claim false"},
    "fedcompass.corollary1.explicit": {"truths.participation-bias": "claim false"},
    "fedfa.theorem1": {"truths.participation-bias": "claim false", "gauge": "implies more"},
    "fedfa.theorem1.squared-smoothness": {
        "units.terms": "implies more",
        "units.step": "implies more",
        "units.conditions": "implies more",
        "truths.noise-floor": "claim false",
        "truths.participation-bias": "claim false",
        "gauge": "implies more",
    },
    "fedfa.corollary": {
        "units.terms": "implies more",
        "truths.slope": "claim false",
        "truths.participation-bias": "claim false",
    },
    "afl_dga.theorem1": {
        "truths.reused-gradients": "claim false",
        "replication": "implies more",
        "refinement": "implies more",
    },
    "afl_dga.corollary1": {},
    "fedstaleweight.theorem1": {
        "truths.noise-floor": "claim false",
        "gauge": "implies more",
        "vacuity.range": "claim vacuous",
    },
}


def raised(found: tuple[Check, ...]) -> dict[str, str]:
    return {one.id: one.consequence for one in found if one.verdict in ("failed", "suspicious")}


def failed(found: tuple[Check, ...]) -> dict[str, str]:
    return {one.id: one.consequence for one in found if one.verdict == "failed"}


def one(found: tuple[Check, ...], identity: str) -> Check:
    return next(each for each in found if each.id == identity)


@pytest.mark.sweep(10)
@pytest.mark.parametrize("name", PRINTED)
def test_what_fails_for_each_printed_theorem(name: str) -> None:
    found = check(THEOREMS[name])
    assert raised(found) == FAILED[name]
    assert all(each.witness and each.consequence for each in found if each.id in FAILED[name])
    for each in found:
        if each.id in FAILED[name]:
            mild = each.consequence in ("implies more", "claim vacuous") and each.group != "units"
            assert each.verdict == ("suspicious" if mild else "failed")
    assert exit_code(found) == (1 if FAILED[name] else 0)


@pytest.mark.sweep(57)
@pytest.mark.parametrize("name", sorted(set(THEOREMS) - set(PRINTED)))
def test_no_false_alarm_for_a_true_theorem(name: str) -> None:
    found = check(THEOREMS[name])
    assert raised(found) == {}
    assert any(each.verdict == "passed" for each in found)
    assert not any(each.consequence for each in found)
    assert len({each.id for each in found}) == len(found)
    json.dumps([each.as_dict() for each in found])


# ---------------------------------------------------------------------------------- what the witnesses say


def test_the_scaling_that_refutes_area_theorem_7_does_what_it_says() -> None:
    witness = one(check(THEOREMS["area.theorem7"], ["units"]), "units.terms").witness
    assert "f → c·f, every step → c⁻¹·step with c → 0 keeps the run, the left side stays" in witness
    assert "heterogeneity by c⁴" in witness
    theorem = THEOREMS["area.theorem7"]
    values: dict[str, Any] = {
        "mu": 1,
        "L": 4,
        "sigma": 1,
        "zeta": 2,
        "M": 3,
        "K": 100,
        "p_s": 0.5,
        "p_min": 0.25,
        "qbar": 3,
    }
    c = 2.0**-10
    scaled = {name: value * c ** SYMBOLS[name].units[0] for name, value in values.items()}
    before, after = theorem.evaluate(values), theorem.evaluate(scaled)
    assert {name: float(after.terms[name] / before.terms[name]) for name in before.terms} == pytest.approx(
        {"noise": c**2, "synchronization": c**2, "mixed": c**2, "heterogeneity": c**4}
    )
    steps = theorem.step_sizes(scaled, 5) / theorem.step_sizes(values, 5)
    assert steps == pytest.approx(1 / c)


def test_vacuity_names_the_range_and_it_is_right() -> None:
    witness = one(check(THEOREMS["fedstaleweight.theorem1"], ["vacuity"]), "vacuity.range").witness
    assert "b ≥ 2, tau_max ≥ 1" in witness
    for b in (2, 3, 17):
        for tau in (1, 2, 40):
            found = THEOREMS["fedstaleweight.theorem1"].evaluate(
                {
                    "L": 1,
                    "F0": 0,
                    "sigma_l": 0,
                    "sigma_g_mean": 0,
                    "G_sq": 1,
                    "T": 10**9,
                    "Q": 1,
                    "b": b,
                    "tau_max": tau,
                    "eta_l": 1e-9,
                    "eta_g": 1,
                    "scale": 1,
                }
            )
            assert found.total >= 1 - 1e-9


def test_what_a_rate_is_a_corollary_of_is_found_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """No theorem of another entry point is of the same paper, algorithm and left side as a printed rate."""
    found = {name: behaviour.parent(theorem) for name, theorem in THEOREMS.items()}
    monkeypatch.setattr("boundlab.registry.beside", lambda kind, _: registered(kind))
    assert {name: behaviour.parent(theorem) for name, theorem in THEOREMS.items()} == found
    assert any(one is not None for one in found.values())


def test_a_corollary_whose_step_leaves_its_theorem_for_long_horizons_does_not_follow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The theorem with the condition η ≤ 1/T, as the text of AFL-DGA reads; with η ≤ 1/L the corollary follows.
    theorem = THEOREMS["afl_dga.theorem1"]
    T, eta = (SYMBOLS[name].symbol for name in ("T", "eta"))
    read = replace(theorem, conditions=(Condition(eta, 1 / T, "η ≤ 1/T"),))
    passes = one(check(THEOREMS["afl_dga.corollary1"], ["admissible"]), "admissible.corollary")
    assert passes.verdict == "passed"
    monkeypatch.setattr(behaviour, "parent", lambda _: read)
    found = one(check(THEOREMS["afl_dga.corollary1"], ["admissible"]), "admissible.corollary")
    assert found.consequence == "does not follow"
    assert "√(n·T)/L, above 1 from some T on" in found.witness
    # η·T = √n·√T/L > 1 for n·T > L².
    step = THEOREMS["afl_dga.corollary1"].step_options({"n": 4, "L": 2, "T": 100})["eta"]
    assert step > 1 / 100


def test_repaired_bias_terms_are_exactly_as_large_as_the_truth() -> None:
    for name in ("fedcompass.window.b", "fedfa.delta.b"):
        found = one(check(THEOREMS[name], ["truths"]), "truths.participation-bias")
        assert (found.verdict, found.witness) == ("passed", "right side ~ 1/9, left side ≥ ~ 1/9 as ε → 0")


# ------------------------------------------------------------------------------------------- own theorems

NONCONVEX = {"metric": "gradient-norm", "assumptions": '"smooth", "bounded-below", "bounded-variance"'}


def mine(tmp_path: Path, terms: str, **changes: str) -> Theorem:
    return own_theorem(tmp_path, terms=terms, **{**NONCONVEX, **changes})


def test_a_true_theorem_from_a_file_passes(tmp_path: Path) -> None:
    theorem = mine(tmp_path, 'initial = "2*F0/(alpha*T)"\nnoise = "alpha*L*sigma**2"')
    found = check(theorem)
    assert failed(found) == {}
    assert one(found, "truths.noise-floor").verdict == one(found, "truths.slope").verdict == "passed"


@pytest.mark.sweep(3)
@pytest.mark.parametrize(
    ("terms", "identity", "consequence"),
    [
        # A constant step has a noise floor of first order.
        ('initial = "2*F0/(alpha*T)"\nnoise = "(alpha*L*sigma)**2"', "truths.noise-floor", "claim false"),
        # Half of it is too little: the floor is α·L·σ²/(2 − α·L).
        ('initial = "2*F0/(alpha*T)"\nnoise = "0.49*alpha*L*sigma**2"', "truths.noise-floor", "claim false"),
        # Less than what gradient descent on a slope needs.
        ('initial = "0.9*F0/(alpha*T)"\nnoise = "alpha*L*sigma**2"', "truths.slope", "claim false"),
        # T² instead of T.
        ('initial = "2*F0/(alpha*T**2)"\nnoise = "alpha*L*sigma**2"', "truths.slope", "claim false"),
        ('noise = "alpha*L*sigma**2"', "limits.gradient-descent", "claim false"),
        ('initial = "2*F0/(alpha*T)"\nnoise = "alpha*sigma**2"', "units.terms", "implies more"),
        (
            'initial = "2*F0/(alpha*T)"\nnoise = "alpha*L*sigma**2*Max(0, 1 - sigma**2/(L*F0))"',
            "monotone.sigma",
            "implies more",
        ),
        ('initial = "2*F0/(alpha*T) + alpha*sigma**2*L**2"\nnoise = "alpha*L*sigma**2"', "units.terms", "implies more"),
    ],
)
def test_a_broken_theorem_from_a_file_is_told(tmp_path: Path, terms: str, identity: str, consequence: str) -> None:
    found = one(check(mine(tmp_path, terms)), identity)
    verdict = "suspicious" if found.group == "monotone" else "failed"
    assert (found.verdict, found.consequence) == (verdict, consequence), found.witness


def test_one_half_of_the_noise_floor_is_still_enough(tmp_path: Path) -> None:
    # α·L·σ²/(2 − α·L) is above α·L·σ²/2, but only the leading term is compared: no verdict of failure.
    theorem = mine(tmp_path, 'initial = "2*F0/(alpha*T)"\nnoise = "0.5*alpha*L*sigma**2"')
    assert one(check(theorem), "truths.noise-floor").verdict == "passed"


def test_truths_keep_silent_where_the_instance_is_not_of_the_class(tmp_path: Path) -> None:
    text = 'noise = "alpha*L*sigma**2"'
    for assumptions in ("", '"smooth", "strongly-convex", "bounded-variance"'):
        theorem = mine(tmp_path, text, assumptions=assumptions)
        assert one(check(theorem, ["truths"]), "truths.slope").verdict == "not applicable"
    other = mine(tmp_path, text, algorithm="area", metric="gap")
    assert one(check(other, ["truths"]), "truths.noise-floor").verdict == "not applicable"


def test_a_step_of_its_own_that_breaks_the_condition(tmp_path: Path) -> None:
    theorem = mine(tmp_path, 'initial = "F0/(alpha*T)"\nnoise = "alpha*L*sigma**2"', step='alpha = "2/L"')
    found = one(check(theorem, ["admissible"]), "admissible.step")
    assert (found.verdict, found.consequence) == ("failed", "does not follow")
    good = mine(tmp_path, 'initial = "F0/(alpha*T)"\nnoise = "alpha*L*sigma**2"', step='alpha = "1/(L*sqrt(T))"')
    assert one(check(good, ["admissible"]), "admissible.step").verdict == "passed"


def test_conditions_that_nothing_meets(tmp_path: Path) -> None:
    theorem = mine(tmp_path, 'initial = "2*F0/(alpha*T)"', conditions='"1 + alpha*L <= 0"')
    found = one(check(theorem, ["admissible"]), "admissible.set")
    assert (found.verdict, found.consequence) == ("failed", "claim vacuous")


def test_a_bound_that_says_nothing(tmp_path: Path) -> None:
    theorem = mine(
        tmp_path, 'initial = "2*F0/(alpha*T)"\nsecond = "2*G_sq"', assumptions='"smooth", "bounded-gradients"'
    )
    found = one(check(theorem, ["vacuity"]), "vacuity")
    assert (found.verdict, found.consequence) == ("suspicious", "claim vacuous")


@pytest.mark.parametrize(
    ("terms", "verdict"),
    [("R**2", "suspicious"), ("2*R**2", "suspicious"), ("R**2/2", "passed"), ("R**2 + sigma**2", "suspicious")],
)
def test_a_constant_bound_is_held_against_the_trivial_one(tmp_path: Path, terms: str, verdict: str) -> None:
    theorem = mine(tmp_path, f'only = "{terms}"', metric="squared-distance", conditions="")
    assert one(check(theorem, ["vacuity"]), "vacuity").verdict == verdict


# ------------------------------------------------------------------------------------------- command line


def test_the_command_line_prints_the_scaling_and_exits_with_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["check", "area.theorem7", "--only", "units"]) == 1
    shown = " ".join(capsys.readouterr().out.split())
    assert "f → c·f, every step → c⁻¹·step with c → 0" in shown
    assert "the claim, for all problems that it names, is false" in shown


def test_json_and_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["check", "area.theorem8.repaired", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["theorem"] == "area.theorem8.repaired"
    assert {each["verdict"] for each in found["checks"]} <= {"passed", "not applicable", "unknown"}
    assert set(found["checks"][0]) == {"id", "statement", "verdict", "witness", "consequence", "latex"}
    assert invoke(["check", "area.theorem8", "--only", "unit"]) == 2
    assert "did you mean units" in capsys.readouterr().err
    assert exit_code((Check("a", "", "unknown"),)) == 3
    assert exit_code((Check("a", "", "unknown"), Check("b", "", "passed"))) == 0
    assert exit_code(()) == exit_code((Check("a", "", "not applicable"),)) == 3


def test_groups_are_read_in_their_order() -> None:
    assert read_groups("truths, units") == ("units", "truths")
    assert read_groups(None) == tuple(groups())
    with pytest.raises(SpecError, match="no such group of checks"):
        check(THEOREMS["area.theorem8"], ["unity"])


@pytest.mark.nightly
def test_checks_do_not_load_the_heavy_packages() -> None:
    code = (
        "import sys; from boundlab.checks import check; from boundlab.theorems import load_theorem; "
        "check(load_theorem('area.theorem8'), ['units', 'limits']); "
        "print([m for m in ('torch', 'cvxpy', 'matplotlib', 'PEPit', 'scipy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_in_another_thread_nothing_is_called_failed_that_is_not() -> None:
    import threading

    found: list[tuple[Check, ...]] = []
    thread = threading.Thread(target=lambda: found.append(check(THEOREMS["area.theorem8"])))
    thread.start()
    thread.join()
    assert failed(found[0]) == {}
    assert np.all([each.verdict != "failed" for each in found[0]])


def asked_in(monkeypatch: pytest.MonkeyPatch, run: Any) -> Check:
    """Return what a group of checks comes to that does this."""
    monkeypatch.setattr("boundlab.checks.groups", lambda: {"own": CheckGroup("own", "some group", run)})
    (found,) = check(THEOREMS["classics.gd.convex"])
    return found


class CalledBack(sympy.Function):  # type: ignore[misc]
    """A function whose own code is wrong."""

    @classmethod
    def eval(cls, x: Any) -> Any:
        return x + len(None)  # type: ignore[arg-type]


def test_what_sympy_cannot_do_is_unknown_with_what_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    x = sympy.Symbol("x")
    for gives_up, says in (
        (lambda _: bool(x < 1), "TypeError (cannot determine truth value of Relational"),
        (lambda _: sympy.Integer(x), "TypeError (Argument of Integer should be of numeric type, got x.)"),
    ):
        try:
            gives_up(None)
        except (ArithmeticError, TypeError):
            found = asked_in(monkeypatch, gives_up)
            assert (found.verdict, found.id) == ("unknown", "own")
            assert says in found.witness


@pytest.mark.parametrize(
    "wrong",
    [lambda _: int("x"), lambda _: len(None), lambda _: CalledBack(sympy.Symbol("x"))],
    ids=["a value", "a type", "called back by SymPy"],
)
def test_an_error_of_a_group_itself_is_no_unknown(monkeypatch: pytest.MonkeyPatch, wrong: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        asked_in(monkeypatch, wrong)
