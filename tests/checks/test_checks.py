"""Checks by the formula alone: which theorems fail which, no false alarms, no planted hole unseen; user theorems."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sympy
from own_theorems import own_theorem
from run_makers import tape_of

from boundlab.assumptions import BUILT_IN, assumption, definers, with_implied
from boundlab.checks import Check, CheckGroup, behaviour, check, exit_code, groups, read_groups
from boundlab.checks.truths import ALONE
from boundlab.errors import SpecError
from boundlab.formulas.symbols import SYMBOLS
from boundlab.metrics import Quantity
from boundlab.options import Options
from boundlab.registry import registered
from boundlab.theorems import OTHERS, Condition, FormulaBound, Theorem

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


def test_only_what_is_decided_makes_the_exit_code() -> None:
    assert exit_code((Check("a", "", "unknown"),)) == 3
    assert exit_code((Check("a", "", "unknown"), Check("b", "", "passed"))) == 0
    assert exit_code(()) == exit_code((Check("a", "", "not applicable"),)) == 3


def test_groups_are_read_in_their_order() -> None:
    assert read_groups("truths, units") == ("units", "truths")
    assert read_groups(None) == tuple(groups())
    with pytest.raises(SpecError, match="no such group of checks"):
        check(THEOREMS["area.theorem8"], ["unity"])


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


# A theorem of each algorithm: those of a paper read alike.
SEEDED = sorted({theorem.algorithm: name for name, theorem in THEOREMS.items()}.values())


def scope(theorem: Theorem) -> dict[str, Check]:
    return {one.id.removeprefix("scope."): one for one in check(theorem, ["scope"])}


def failures(theorem: Theorem) -> dict[str, str]:
    found = scope(theorem)
    assert all(one.consequence == "not defined" for one in found.values() if one.verdict == "failed")
    return {name: one.witness for name, one in found.items() if one.verdict == "failed"}


# ---------------------------------------------------------------------------------------------- planted holes


def without_assumption(theorem: Theorem) -> Iterator[tuple[Theorem, str]]:
    """Leave out each assumption without which a symbol that is read stands for nothing."""
    left = () if theorem.left.quantity is Quantity.SLOPE else ("minimiser",)
    fixed = {one.quantity.name for one in theorem.conditions if one.quantity.is_Symbol and one.limit == 0}
    measured = {"chi2", "pi_max", "lag", "C_lag", "F0"}  # a run has them, too; F0 may be ∞
    for name in theorem.assumptions:
        rest = tuple(other for other in theorem.assumptions if other != name)
        kept = {symbol for other in with_implied((*rest, *left)) for symbol in assumption(other).defines}
        gone = {symbol for other in with_implied([name]) for symbol in assumption(other).defines} - kept - measured
        for symbol in sorted(gone & set(theorem.inputs()) - fixed):
            yield replace(theorem, assumptions=rest), symbol


def renamed(table: Any, name: str) -> dict[str, Any]:
    return {("kappa" if key == name else key): value for key, value in table.items()}


@pytest.mark.sweep(16)
@pytest.mark.parametrize("name", sorted(THEOREMS))
def test_a_symbol_without_its_assumption_is_named(name: str) -> None:
    for theorem, symbol in without_assumption(THEOREMS[name]):
        found = failures(theorem)
        place = "symbols" if "symbols" in found else "conditions"
        assert f"{symbol} (" in found[place]
        assert all(one in found[place] for one in definers(symbol))


def test_the_holes_are_of_every_kind() -> None:
    planted = {symbol for theorem in THEOREMS.values() for _, symbol in without_assumption(theorem)}
    assert planted >= {"L", "mu", "B", "G", "G_sq", "sigma", "sigma_l", "sigma_g", "sigma_g_mean", "R", "p_s"}


@pytest.mark.sweep(2)
@pytest.mark.parametrize("name", SEEDED)
def test_a_step_or_an_option_of_another_algorithm_is_named(name: str) -> None:
    theorem = THEOREMS[name]
    for table in ("options", "parameters"):
        for key in getattr(theorem, table).keys() - {OTHERS}:
            assert (
                f"{table.removesuffix('s')} kappa is no parameter of {theorem.algorithm}"
                in (failures(replace(theorem, **{table: renamed(getattr(theorem, table), key)}))["options"])
            )
    for key in set(theorem.step) - {"c", "d"}:
        broken = replace(theorem, step=renamed(theorem.step, key), settable=())
        assert f"step kappa is no parameter of {theorem.algorithm}" in failures(broken)["options"]
    for key in theorem.core.fixed:
        broken = replace(theorem, options={**theorem.options, key: "nonsense"})
        assert "nonsense" in failures(broken)["options"]


@pytest.mark.sweep(2)
@pytest.mark.parametrize("name", SEEDED)
def test_the_other_counter_is_named(name: str) -> None:
    theorem = THEOREMS[name]
    other = "T" if theorem.horizon_symbol == "K" else "K"
    if not theorem.bound.closed or theorem.horizon_symbol not in theorem.inputs() or other in theorem.step:
        return
    swap = {SYMBOLS[theorem.horizon_symbol].symbol: SYMBOLS[other].symbol}
    terms = {term: formula.xreplace(swap) for term, formula in theorem.bound.terms.items()}
    step = {key: formula.xreplace(swap) for key, formula in theorem.step.items()}
    definitions = {key: formula.xreplace(swap) for key, formula in theorem.definitions.items()}
    broken = replace(theorem, bound=FormulaBound(terms), step=step, definitions=definitions)
    assert f"{other} is read, but {theorem.metric} counts {theorem.horizon_symbol}" in str(failures(broken))


@pytest.mark.sweep(2)
@pytest.mark.parametrize("name", SEEDED)
def test_a_condition_about_what_is_not_there_is_named(name: str) -> None:
    theorem = THEOREMS[name]
    condition = Condition(SYMBOLS["kappa"].symbol, SYMBOLS["b"].symbol, "kappa ≤ b")
    if {"kappa", "b"} & {*theorem.defining(), *theorem.parameters.values(), *theorem.inputs()}:
        return
    found = failures(replace(theorem, conditions=(*theorem.conditions, condition)))
    assert "kappa (condition number L/mu) is read, but nothing defines it" in found["conditions"]


@pytest.mark.sweep(2)
@pytest.mark.parametrize("name", SEEDED)
def test_an_algorithm_that_does_not_exist_is_bad_input(name: str) -> None:
    theorem = THEOREMS[name]
    with pytest.raises(SpecError, match=f"unknown algorithm '{theorem.algorithm}s'; did you mean"):
        scope(replace(theorem, algorithm=f"{theorem.algorithm}s"))


# ------------------------------------------------------------------------------------------------ from a file

SHARP = {
    "metric": "ergodic-gap",
    "assumptions": '"lipschitz", "bounded-variance"',
    "conditions": "",
    "term": "R**2/(2*alpha*K) + alpha*(B**2 + sigma**2)/2",
}


def sharp(tmp_path: Path, **changes: str) -> Theorem:
    return own_theorem(tmp_path, **{**SHARP, **changes})


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    ("changes", "place", "words"),
    [
        ({"term": "R**2/(2*alpha*T)"}, "symbols", "T is read, but ergodic-gap counts K"),
        ({"assumptions": '"convex"', "term": "alpha*B**2"}, "symbols", "assume lipschitz"),
        ({"term": "L*R**2/K"}, "symbols", "assume smooth"),
        ({"term": "mu*R**2/K"}, "symbols", "assume strongly-convex"),
        ({"assumptions": '"lipschitz"'}, "symbols", "assume bounded-variance"),
        ({"term": "alpha*sigma_g**2"}, "symbols", "assume bounded-heterogeneity"),
        ({"term": "alpha*G**2"}, "symbols", "assume bounded-gradients or bounded-second-moment"),
        ({"metric": "gradient-norm", "term": "R/(alpha*T)"}, "symbols", "assume minimiser"),
        ({"term": "R**2*p_s/(alpha*K)"}, "symbols", "assume iid-events"),
        ({"term": "R**2*M/(alpha*K)"}, "symbols", 'under [parameters] write M = "M"'),
        ({"conditions": '"alpha <= 1/L"'}, "conditions", "assume smooth"),
        ({"term": "R**2*kappa/(alpha*K)"}, "symbols", "neither an assumption"),
        ({"more": '[options]\ndecay = "cubic"'}, "options", "cubic"),
    ],
)
def test_a_hole_in_a_file_is_named(tmp_path: Path, changes: dict[str, str], place: str, words: str) -> None:
    assert words in failures(sharp(tmp_path, **changes))[place]


def test_a_file_about_the_step_of_another_algorithm_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="step alpha is no parameter of fedbuff; known: M, count"):
        sharp(tmp_path, algorithm="fedbuff")


@pytest.mark.parametrize(
    "changes",
    [
        {},
        # A left side with x* in it is about functions that have one; a strongly convex one has.
        {"assumptions": '"smooth"', "term": "L*R**2/K"},
        {"assumptions": '"strongly-convex"', "metric": "gradient-norm", "term": "R**2*mu**2"},
        # Without noise: the condition says so.
        {"assumptions": '"lipschitz"', "conditions": '"sigma <= 0"', "term": "R*B + sigma*R"},
        {"more": '[parameters]\nM = "M"', "term": "R**2/(alpha*K*M)"},
        # What the run has, and what the author declares.
        {"term": "alpha*B**2*(1 + tau_max) + n*B*R", "algorithm": "async_sgd"},
        {"more": '[symbols.V]\nmeaning = "level"\nunits = [1, 0]', "term": "V"},
        {"more": '[definitions]\nkappa = "1 + alpha*B/R"', "term": "kappa*B*R"},
    ],
)
def test_what_hangs_together_passes(tmp_path: Path, changes: dict[str, str]) -> None:
    assert failures(sharp(tmp_path, **changes)) == {}


def test_an_infinite_gap_is_a_note(tmp_path: Path) -> None:
    theorem = sharp(tmp_path, metric="gradient-norm", assumptions='"smooth"', term="F0/(alpha*T)")
    assert scope(theorem)["symbols"].witness == "F0 may be ∞: nothing says bounded-below"


def test_what_nobody_uses_is_a_note(tmp_path: Path) -> None:
    theorem = sharp(tmp_path, assumptions='"lipschitz", "smooth"', term="B*R", more='[definitions]\nkappa = "B/B"')
    found = scope(theorem)["unused"]
    assert found.verdict == "passed"
    assert found.witness == "unused: assumption smooth (L, L_sq, L_i are not read); definition kappa"


# --------------------------------------------------------------------------------------- the data behind it


def test_assumptions_define_symbols_of_the_table_and_imply_assumptions() -> None:
    for one in BUILT_IN:
        assert set(one.defines) <= set(SYMBOLS)
        assert set(one.implies) <= {other.id for other in BUILT_IN}
    assert with_implied(["strongly-convex"]) == {"strongly-convex", "convex", "minimiser", "bounded-below"}


ALGORITHMS = {name: one for name, one in registered("algorithms").items() if one.single_client_values is not None}
# One local step, one update a buffer or window.
SMALLEST = {
    "fedcompass": {"Qmin": 1, "Qmax": 1},
    "fedfa": {"K": 1},
    "lsvrg": {"p_c": 1},
    "ringmaster": {"threshold": 1},
    "scaffnew": {"p_c": 1},
}


@pytest.mark.parametrize("name", ALGORITHMS)
def test_one_client_without_delay_has_the_symbols_of_gradient_descent(name: str) -> None:
    algorithm = ALGORITHMS[name]
    options = {**dict.fromkeys(algorithm.step_size_symbols[:1], 0.1), **SMALLEST.get(name, {})}
    parameters, tape = algorithm.read(Options(name, options)), tape_of(name, options, 1, 8, "deterministic")
    found = algorithm.quantities(parameters, tape, 6, {"n": 1, "N": 1})
    stated = {**ALONE, **algorithm.single_client_values}
    shared = {one for one in stated if one in found}
    assert {one: found[one] for one in shared} == pytest.approx({one: stated[one] for one in shared}, abs=1e-12)
    assert shared or name in ("gd", "lsvrg", "scaffnew")  # whose theorems read nothing of that kind
    for one in stated:
        if getattr(parameters, one, None) is not None:  # a window of FedStaleWeight's weights may be all that was
            assert getattr(parameters, one) == stated[one], one
