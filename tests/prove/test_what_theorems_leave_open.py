"""A theorem speaks of all runs that its options admit, of its problem's constants, under what its formulas say."""

from dataclasses import replace
from typing import Any

import pytest
import sympy

from boundlab.errors import SpecError
from boundlab.formulas.symbols import SYMBOLS, symbol
from boundlab.prove import Proof, Status
from boundlab.prove._scalars import REFUSED, ProofError
from boundlab.prove.settings import setting_of
from boundlab.registry import lookup, registered
from boundlab.theorems import Condition, FormulaBound, Theorem, load_theorem

FINISHED = sorted(
    one.proves for one in registered("proofs").values() if one.proves and not load_theorem(one.proves).of_paper
)


def _concluded(theorem: Theorem, proof: str) -> Any:
    """Return what a registered proof comes to for a theorem."""
    setting = setting_of(theorem)
    own = Proof(theorem, setting, setting.kernel)
    try:
        registered("proofs")[proof].write(own)
    except REFUSED as error:
        own.stop(str(error))
    return own.conclusion


@pytest.mark.sweep(8)
@pytest.mark.parametrize("name", FINISHED)
def test_a_theorem_without_fixed_options_is_about_all_of_them(name: str) -> None:
    """Each option that the registered theorem fixes is one with which the proof's runs are other ones."""
    theorem = load_theorem(name)
    for option in theorem.core.fixed:
        others = {key: word for key, word in theorem.options.items() if key != option}
        for opened in ({**others, option: "any"}, {**others, "*": "any"}):
            if theorem.algorithm == "fedcompass":
                assert setting_of(replace(theorem, options=opened))  # weights 1/n are an assumption of its own
                continue
            with pytest.raises(SpecError, match=r"leaves open|write about"):
                setting_of(replace(theorem, options=opened))


def test_a_number_that_a_theorem_fixes_is_that_number_and_no_other_of_its_range() -> None:
    """At β = 1 the bound of the heavy ball has no value: a theorem about β = 1/2 alone does not speak of it."""
    theorem = load_theorem("classics.heavy-ball")
    names = [name for name in setting_of(theorem).sheet["symbols"] if name in theorem.step]
    assert names == ["beta"]
    alpha, beta, half = theorem.symbols["alpha"].symbol, theorem.symbols["beta"].symbol, sympy.Rational(1, 2)
    for value, proved in ((half, True), (half / 2, True), (3 * half, False), (sympy.Integer(1), False)):
        limits = [
            replace(one, limit=one.limit.subs(beta, value)) if one.quantity == alpha else one
            for one in theorem.conditions
        ]
        steps = {**theorem.step, "beta": value}
        fixed = replace(theorem, settable=("alpha",), step=steps, conditions=tuple(limits))
        assert "beta" not in setting_of(fixed).own_symbols
        found = _concluded(fixed, "classics.heavy-ball")
        assert (found is not None and found.status is Status.PROVED) is proved


@pytest.mark.sweep(7)
@pytest.mark.parametrize("name", FINISHED)
def test_no_word_of_an_open_option_is_one_that_the_setting_has_not_heard_of(name: str, monkeypatch: Any) -> None:
    """An option that learns another word tomorrow is open to that word, too: the setting covers words one by one."""
    theorem = load_theorem(name)
    algorithm = lookup("algorithms", theorem.algorithm)
    learned = [
        option
        for option, some in algorithm.examples(2).items()
        if any(one[:1].isalpha() for one in some) and theorem.core.varies(option) and option not in theorem.step
    ]
    for option in learned:
        more = {**algorithm.examples(2), option: (*algorithm.examples(2)[option], "otherwise")}
        with monkeypatch.context() as patched:
            patched.setattr(type(algorithm), "examples", lambda *_, some=more: some)
            with pytest.raises(SpecError, match="leaves open"):
                setting_of(theorem)


def test_gradient_descent_with_any_options_is_no_theorem_about_one_local_step_of_all_clients() -> None:
    theorem = load_theorem("classics.gd.convex")
    with pytest.raises(
        SpecError, match=r"leaves open .* M=1; sampling=all, uniform; no iteration but the default; decay=none"
    ):
        setting_of(replace(theorem, options={"*": "any"}))


@pytest.mark.parametrize("start", ["any", "drawn"])
def test_a_client_that_has_sent_nothing_counts_in_no_theorem_about_stored_gradients(start: str) -> None:
    for name in ("r0", "r1", "r2", "r2n", "r2b", "r3"):
        theorem = load_theorem(f"afl_dga.{name}")
        assert theorem.options["first_round"] == "all"
        with pytest.raises(SpecError, match="first_round"):
            setting_of(replace(theorem, options={**theorem.options, "first_round": start}))


def test_an_option_at_a_default_that_the_setting_does_not_know_is_refused() -> None:
    """Theorem 7's steps are read by the analysis' clock; without a word about it the clock is the algorithm's."""
    theorem = load_theorem("area.theorem7.explicit")
    with pytest.raises(SpecError, match="clock=analysis, not the default"):
        setting_of(replace(theorem, options={"start": "analysis"}))


def test_local_steps_are_those_of_the_run() -> None:
    """Without [parameters] the run has one local step, whatever Q a bound reads."""
    theorem = load_theorem("fedbuff.rf1")
    for parameters in ({}, {"count": "Q"}):
        with pytest.raises(SpecError, match="as the symbol Q"):
            setting_of(replace(theorem, parameters=parameters))


@pytest.mark.sweep(12)
@pytest.mark.parametrize("name", sorted(SYMBOLS))
def test_no_theorem_defines_what_problem_and_run_say(name: str) -> None:
    """With R = 1/1000 a bound would hold of every start: the axioms say ‖x_0 − x*‖ = R."""
    own = {"step", "user", "short"}
    theorem = load_theorem("classics.gd.convex")
    with_it = {**theorem.terms, "more": symbol(name) * 0 + symbol("R") ** 2}
    rule = sympy.Rational(1, 1000)
    if SYMBOLS[name].role in own:
        return
    for more in (
        {"definitions": {name: rule}},
        {"step": {**theorem.step, name: rule}},
        {"definitions": {name: rule}, "settable": (name,)},
    ):
        with pytest.raises(SpecError, match=f"cannot define {name}|{name} can be defined as"):
            replace(theorem, bound=FormulaBound(with_it), **more)


def test_no_theorem_brings_a_symbol_of_its_own_with_the_name_of_a_built_in_one() -> None:
    theorem = load_theorem("classics.gd.convex")
    own = replace(SYMBOLS["R"], meaning="anything", role="user")
    with pytest.raises(SpecError, match="R is built in"):
        replace(theorem, symbols={**SYMBOLS, "R": own})


@pytest.mark.nightly
def test_a_condition_says_what_its_formulas_say_and_not_its_sentence() -> None:
    """r1 with η·L ≤ 100 under the printed words η·L ≤ 1/(1+√2·S)."""
    theorem = load_theorem("afl_dga.r1")
    limited = [one for one in theorem.conditions if "eta" in str(one.quantity)]
    for limit in (sympy.Integer(100), 2 / (1 + symbol("S"))):
        false = tuple(replace(one, limit=limit) if one in limited else one for one in theorem.conditions)
        found = _concluded(replace(theorem, conditions=false), "afl_dga.r1")
        assert found is None or found.status is not Status.PROVED
    other_words = tuple(replace(one, statement="as in the paper") for one in theorem.conditions)
    assert _concluded(replace(theorem, conditions=other_words), "afl_dga.r1").status is Status.PROVED


def test_a_limit_of_a_number_that_is_not_whole_is_not_rounded() -> None:
    theorem = load_theorem("afl_dga.r3")
    limited = Condition(symbol("Q_age"), sympy.Rational(3, 2), "…")
    high = setting_of(replace(theorem, conditions=(*theorem.conditions, limited))).context.find("Q_age").high
    assert str(high) == "3/2"


def test_the_words_of_a_condition_are_those_of_no_assumption() -> None:
    """The steps of r2b are limited; that its clients draw uniformly is assumed nowhere."""
    theorem = load_theorem("afl_dga.r2b")
    for words in ("convex", "algorithm"):
        called = tuple(replace(one, statement=words) for one in theorem.conditions)
        with pytest.raises(ProofError, match="which is an assumption"):
            setting_of(replace(theorem, conditions=called)).small_step()


def test_a_window_of_several_updates_holds_the_work_of_all_of_them() -> None:
    """N and Ā are read, W₋ is not: Σ A[k + u] over a window of N updates is no A[k]."""
    theorem = load_theorem("fedcompass.window.b")
    N, A_max = symbol("N"), symbol("A_max")
    without = replace(
        theorem,
        definitions={"N": sympy.Integer(2)},
        settable=("N",),
        conditions=(),
        step={"eta": symbol("eta")},
        letters={},
        bound=FormulaBound({"all": symbol("F0") * N * A_max + symbol("T") + symbol("Qmax") + symbol("L")}),
    )
    setting = setting_of(without)
    assert "W[k]" in str(setting.window_work(setting.k).claim)
    with pytest.raises(ProofError, match="has no bias"):
        setting.bias(setting.k)


def test_a_symbol_of_the_theorems_own_is_no_name_of_the_settings() -> None:
    """FedBuff's proofs call the entries of a buffer ``many``; a theorem's own ``many`` is any number."""
    theorem = load_theorem("fedbuff.rf1")
    own = replace(SYMBOLS["b"], name="many", symbol=sympy.Symbol("many", positive=True, integer=True), role="user")
    setting = setting_of(replace(theorem, symbols={**SYMBOLS, "many": own}))
    with pytest.raises(ProofError, match="rename the symbol"):
        setting.formula(own.symbol)
