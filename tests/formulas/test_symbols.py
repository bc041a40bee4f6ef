"""Symbols: meanings, domains, units; and formulas for people: what they look like, and that they are the formulas."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, get_args

import numpy as np
import pytest
import sympy
from hypothesis import given, strategies as st

from boundlab.errors import SymbolError
from boundlab.formulas.parse import parse
from boundlab.formulas.symbols import (
    DOMAINS,
    NOISE,
    QUIET,
    ROLES,
    SYMBOLS,
    Role,
    SymbolInfo,
    check,
    having,
    make_symbol,
    symbol,
)
from boundlab.formulas.written import letter_of_latex, letters_of, written
from boundlab.registry import registered
from boundlab.theorems import FormulaBound, Theorem, load_theorem


def test_every_symbol_says_what_it_is_and_prints_in_latex_and_unicode() -> None:
    for name, info in SYMBOLS.items():
        assert info.name == name == info.symbol.name
        assert info.meaning
        assert info.latex
        assert info.unicode
        assert info.domain.id in DOMAINS
        assert info.as_dict()["units"] == list(info.units)


def test_every_symbol_has_one_role() -> None:
    listed = [name for names in ROLES.values() for name in names]
    assert sorted(listed) == sorted(SYMBOLS)
    assert set(ROLES) == set(get_args(Role))


@pytest.mark.parametrize("name", sorted(NOISE))
def test_a_theorem_that_reads_a_symbol_of_noise_is_about_noise(name: str) -> None:
    """Without a word about noise a theorem is about full gradients; sigma_star, too, is a word about it."""
    quiet = replace(load_theorem("classics.gd.convex"), conditions=())
    silent = tuple(one for one in quiet.assumptions if one != "deterministic")
    bound = FormulaBound({**quiet.terms, "noise": symbol("alpha") * symbol(name) ** 2})
    assert "deterministic" not in replace(quiet, assumptions=silent, bound=bound).assumptions
    assert "deterministic" in replace(quiet, assumptions=silent).assumptions
    own = make_symbol("spread", "how noisy", "nonnegative", (1, -1), role="noise")
    bound = FormulaBound({**quiet.terms, "noise": symbol("alpha") * own.symbol**2})
    theirs = replace(quiet, assumptions=silent, bound=bound, symbols={**SYMBOLS, "spread": own})
    assert "deterministic" not in theirs.assumptions


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("sigma", -1, "sigma must be ≥ 0, got -1 (noise level"),
        ("mu", 0, "mu must be > 0, got 0 (strong convexity"),
        ("L", np.nan, "L must be > 0, got nan"),
        ("L", np.inf, "L must be > 0, got inf"),
        ("K", 2.5, "K must be an integer ≥ 1, got 2.5"),
        ("M", 0, "M must be an integer ≥ 1, got 0"),
        ("p_s", 0, "p_s must be in (0, 1], got 0"),
        ("p_s", 1.5, "p_s must be in (0, 1], got 1.5"),
        ("qbar", 0.5, "qbar must be ≥ 1, got 0.5"),
        ("p", [0.5, -0.1], "p must be in (0, 1], got -0.1"),
        ("p", 0.5, "p must be a list of numbers, one per client"),
        ("R", [], "R is empty"),
        ("R", "three", "R must be ≥ 0, got 'three'"),
        ("R", 1j, "R must be ≥ 0, got 1j"),
        ("R", True, "R must be ≥ 0, got True"),
        ("zetta", 1, "unknown symbol 'zetta'; did you mean zeta?"),
    ],
)
def test_a_value_outside_its_domain_is_answered_with_the_symbols_meaning(
    name: str, value: object, message: str
) -> None:
    with pytest.raises(SymbolError) as error:
        check(name, value)  # type: ignore[arg-type]
    assert str(error.value).startswith(message)


def test_a_symbol_of_an_unknown_domain_is_refused() -> None:
    with pytest.raises(SymbolError, match="unknown domain 'positiv'; did you mean positive"):
        make_symbol("q", "a thing", "positiv", (0, 0))


def test_what_can_be_zero_holds_all_noise_delay_and_difference_of_clients() -> None:
    """G bounds gradients with their noise; other constants of noise and of differences can be 0."""
    assert {"sigma", "sigma_l", "sigma_star", "sigma_g", "sigma_g_mean", "zeta", "tau_max", "share_bias"} <= QUIET
    assert having("heterogeneity") <= QUIET
    assert not QUIET & (having("function", "start", "step", "horizon", "option") | {"G"})


@given(
    st.sampled_from(sorted(DOMAINS)),
    st.floats() | st.integers() | st.sampled_from([0.0, -0.0, 1.0, 1, 0, 2**53, 0.5]),
)
def test_one_number_and_an_array_of_it_are_in_the_same_domains(domain: str, value: float) -> None:
    known = DOMAINS[domain]
    large = isinstance(value, int) and abs(value) > 2**53  # no float: asked of an array alone
    try:
        inside = bool(known.contains(np.array(value, dtype=np.float64)))
    except OverflowError:
        inside = False
    assert known.holds(value) == (inside and not large)
    assert not known.holds(True)
    assert not known.holds(np.array(1.0))


NAMES = {name: info.symbol for name, info in SYMBOLS.items() if not info.vector}
SIGNS = {"·": "*", "−": "-", "√": "sqrt", "^": "**", "⌊": "floor(", "⌋": ")", "⌈": "ceil(", "⌉": ")"}
DIGITS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
WORDS = ("max", "min", "exp", "log", "abs")


def tokens(text: str, letters: Mapping[str, str]) -> Iterator[str]:
    """Yield the parts of a printed formula, letters as names, as the parser wants them."""
    names = {letter: name for name, letter in letters.items()}
    longest = sorted((*names, *WORDS), key=len, reverse=True)
    pattern = re.compile(rf"({'|'.join(map(re.escape, longest))})|([⁰¹²³⁴⁵⁶⁷⁸⁹]+)|(\d+)|(.)")
    bars = 0
    for letter, raised, digits, sign in pattern.findall(text):
        if letter:
            yield names.get(letter, letter)
        elif raised:
            yield f"**{raised.translate(DIGITS)}"
        elif sign == "|":
            bars += 1
            yield "abs(" if bars % 2 else ")"
        else:
            yield digits or SIGNS.get(sign, sign)


def read_back(text: str, letters: Mapping[str, str], names: Mapping[str, Any] = NAMES) -> sympy.Expr:
    """Translate a printed formula sign by sign, and parse it; √ takes the one part behind it."""
    parts = list(tokens(text, letters))
    for place, part in enumerate(parts):
        if part == "sqrt" and parts[place + 1] != "(":
            parts[place + 1] = f"({parts[place + 1]})"
    return parse("".join(parts), names)


def same(one: sympy.Expr, other: sympy.Expr) -> bool:
    """Return whether two formulas are equal: as they stand, or at three points with 30 digits."""
    if one == other:
        return True
    symbols = sorted(one.free_symbols | other.free_symbols, key=str)
    for seed in (2, 3, 5):
        point = {
            s: sympy.Rational(seed * place + 3, 2 if s.is_integer is None else 1) for place, s in enumerate(symbols)
        }
        a, b = (sympy.N(side.subs(point), 30) for side in (one, other))
        if abs(a - b) > 1e-20 * max(abs(a), abs(b), 1):
            return False
    return True


def formulas(theorem: Theorem) -> list[sympy.Expr]:
    return [*theorem.expressions(), *theorem.defining().values()]


@pytest.mark.sweep(10)
@pytest.mark.parametrize("name", sorted(registered("theorems")))
def test_what_a_theorem_shows_is_what_it_says(name: str) -> None:
    theorem = registered("theorems")[name]
    letters = letters_of(sorted({s.name for one in formulas(theorem) for s in one.free_symbols}), theorem.symbols)
    assert len(set(letters.values())) == len(letters)
    for formula in formulas(theorem):
        shown = written(formula, theorem.symbols, letters)
        assert same(read_back(shown, letters), formula), shown


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("sqrt(A*(sigma**2 + (M + 1)*B**2/2)/(M*K))", "√(A·(σ² + (M + 1)·B²/2)/(M·K))"),
        ("(1/p_s + 2*qbar)*R**2", "(1/pₛ + 2·q̄)·R²"),
        ("L*R**2/(4*K*L*alpha + 2)", "L·R²/(4·α·L·K + 2)"),
        ("max(1 - alpha*mu, alpha*L - 1)**(2*K)*R**2", "R²·max(1 − α·μ, α·L − 1)^(2·K)"),
        ("R**2/(1 + alpha*mu)**(2*K)", "R²/(α·μ + 1)^(2·K)"),
        ("F0/sqrt(n*T)", "F₀/√(n·T)"),
        ("sqrt(s2)*sigma2**2", "(σ²)²·√(s²)"),
        ("sigma**3 - sigma", "σ³ − σ"),
        ("-alpha", "−α"),
        ("-(K + 1)*L/3", "L·(−K − 1)/3"),
        ("2**(-K)", "1/2^K"),
        ("(1/3)**K", "1/3^K"),
        ("floor(log(kappa)/log(2))", "⌊log(κ)/log(2)⌋"),
        ("abs(alpha - eta)*exp(-alpha*mu)", "|α − η|·exp(−α·μ)"),
        ("tau_max**2 + 1", "τ_max² + 1"),
        ("1 + 1/d", "1 + 1/d"),
        ("K + d - 1", "K + d − 1"),
        ("Q_age**(3/2)", "Q_age^(3/2)"),
        ("(L/mu)**(1/3)", "(L/μ)^(1/3)"),
        ("1 + sqrt(2)", "1 + √2"),
        ("0.1*L", "L/10"),
    ],
)
def test_formulas_as_people_write_them(text: str, shown: str) -> None:
    assert written(parse(text, NAMES)) == shown


def test_a_letter_that_two_could_have_is_nobodys() -> None:
    assert written(symbol("sigma") + symbol("sigma2")) == "sigma + sigma2"
    assert written(symbol("A")) == written(symbol("eta_sum")) == "A"
    assert letters_of(["A", "eta_sum"]) == {"A": "A", "eta_sum": "eta_sum"}
    assert letters_of(["beta", "eta_sq", "mu"]) == {"beta": "beta", "eta_sq": "eta_sq", "mu": "μ"}


def test_roots_of_what_may_be_negative_stay_apart() -> None:
    own: dict[str, SymbolInfo] = {name: make_symbol(name, "any number", "real", (0, 0)) for name in ("u", "v")}
    u, v = (own[name].symbol for name in ("u", "v"))
    assert written(sympy.sqrt(u) * sympy.sqrt(v), own) == "√u·√v"


@pytest.mark.parametrize(
    ("latex", "letter"),
    [
        (r"\mu", "μ"),
        ("M", "M"),
        ("F^*", "F*"),
        (r"\eta_\ell", "η_ℓ"),
        (r"\tau_{\max}", "τ_max"),
        (r"\sigma^2", "σ²"),
        (r"\Delta", "Δ"),
        (r"\lambda_s", "λ_s"),
        (r"\mu'", "μ′"),
        (r"x^\star", "x*"),
    ],
)
def test_letters_of_papers_are_shown_without_latex(latex: str, letter: str) -> None:
    assert letter_of_latex(latex) == letter


LETTERS = ("mu", "L", "sigma", "K", "M", "alpha", "p_s", "qbar", "s2", "Ktilde", "F_v", "chi2_path", "alpha2")
leaves = st.sampled_from(LETTERS).map(symbol) | st.integers(1, 12).map(sympy.Integer)
leaves |= st.fractions(min_value="1/9", max_value=9, max_denominator=9).map(lambda one: sympy.Rational(str(one)))


def grown(parts: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    pairs = st.tuples(parts, parts)
    return st.one_of(
        pairs.map(lambda two: two[0] + two[1]),
        pairs.map(lambda two: two[0] - two[1]),
        pairs.map(lambda two: two[0] * two[1]),
        pairs.filter(lambda two: two[1] != 0).map(lambda two: two[0] / two[1]),
        st.tuples(parts, st.integers(2, 4)).map(lambda two: two[0] ** two[1]),
        st.tuples(parts, st.sampled_from(["K", "M"])).map(lambda two: sympy.exp(-two[0]) ** symbol(two[1])),
        parts.map(lambda one: sympy.sqrt(one**2 + 1)),
        parts.map(lambda one: (one**2 + 2) ** sympy.Rational(2, 3)),
        parts.map(sympy.Abs),
        parts.map(sympy.floor),
        pairs.map(lambda two: sympy.Max(*two, evaluate=False) if two[0] != two[1] else two[0]),
    )


@given(st.recursive(leaves, grown, max_leaves=7))
def test_random_formulas_are_read_as_they_were(formula: sympy.Expr) -> None:
    if formula.has(sympy.zoo, sympy.nan, sympy.I):
        return
    letters = letters_of(sorted(s.name for s in formula.free_symbols))
    assert same(read_back(written(formula), letters), formula)
