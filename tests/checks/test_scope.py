"""Scope: every built-in theorem hangs together, and no planted hole goes unseen."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from own_theorems import own_theorem

from boundlab.assumptions import BUILT_IN, assumption, definers, with_implied
from boundlab.checks import Check, check
from boundlab.errors import SpecError
from boundlab.formulas.symbols import SYMBOLS
from boundlab.metrics import Quantity
from boundlab.registry import registered
from boundlab.theorems import OTHERS, Condition, FormulaBound, Theorem

THEOREMS: dict[str, Theorem] = registered("theorems")
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
    terms = {term: formula.xreplace(swap) for term, formula in theorem.bound.expressions().items()}
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


def mine(tmp_path: Path, **changes: str) -> Theorem:
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
    assert words in failures(mine(tmp_path, **changes))[place]


def test_a_file_about_the_step_of_another_algorithm_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="step alpha is no parameter of fedbuff; known: M, count"):
        mine(tmp_path, algorithm="fedbuff")


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
    assert failures(mine(tmp_path, **changes)) == {}


def test_an_infinite_gap_is_a_note(tmp_path: Path) -> None:
    theorem = mine(tmp_path, metric="gradient-norm", assumptions='"smooth"', term="F0/(alpha*T)")
    assert scope(theorem)["symbols"].witness == "F0 may be ∞: nothing says bounded-below"


def test_what_nobody_uses_is_a_note(tmp_path: Path) -> None:
    theorem = mine(tmp_path, assumptions='"lipschitz", "smooth"', term="B*R", more='[definitions]\nkappa = "B/B"')
    found = scope(theorem)["unused"]
    assert found.verdict == "passed"
    assert found.witness == "unused: assumption smooth (L, L_sq, L_i are not read); definition kappa"


# --------------------------------------------------------------------------------------- the data behind it


def test_assumptions_define_symbols_of_the_table_and_imply_assumptions() -> None:
    for one in BUILT_IN:
        assert set(one.defines) <= set(SYMBOLS)
        assert set(one.implies) <= {other.id for other in BUILT_IN}
    assert with_implied(["strongly-convex"]) == {"strongly-convex", "convex", "minimiser", "bounded-below"}
