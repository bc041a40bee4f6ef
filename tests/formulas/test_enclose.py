"""One walk over a formula in every arithmetic: cases, sums, comparisons, and what nobody can compute with."""

import math
import random
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import given, strategies as st

from boundlab.arithmetic import numbers
from boundlab.cli import invoke
from boundlab.errors import FormulaError, SymbolError, UndecidedError
from boundlab.formulas.defined import Demand, broken, demands
from boundlab.formulas.enclose import (
    BALLS,
    CERTAIN,
    RATIONALS,
    Formulas,
    KnownNumber,
    at_most,
    enclose,
    known_value,
    walk,
)
from boundlab.formulas.floats import evaluate
from boundlab.formulas.folds import EntryOf, FoldIndex, IndexFold, SumFold
from boundlab.formulas.parse import parse
from boundlab.formulas.symbols import SYMBOLS, symbol
from boundlab.formulas.units import degrees
from boundlab.formulas.written import written

pytest.importorskip("flint")


def test_each_number_system_has_its_own_floor_and_power() -> None:
    digits = sympy.floor(sympy.log(1000) / sympy.log(10), evaluate=False)
    with numbers.digits(128):
        assert walk(digits, BALLS, {}.__getitem__) == 3  # an integer up to rounding
        assert walk(digits, CERTAIN, {}.__getitem__).contains(2)  # what is certain of it
        assert walk(sympy.Pow(0, -1, evaluate=False), BALLS, {}.__getitem__) == numbers.flint().arb("+inf")
    assert enclose(sympy.floor(sympy.Rational(7, 2), evaluate=False)) == (3, 3)
    for nothing in (sympy.sqrt(-2, evaluate=False), sympy.Pow(0, -1, evaluate=False)):
        with pytest.raises(UndecidedError, match="is no number of which 136 bits are known"):
            enclose(nothing)


def test_of_an_entry_of_many_numbers_only_that_one_is_asked() -> None:
    asked: list[str] = []
    entry = EntryOf(sympy.Tuple(*(symbol(name) for name in ("L", "mu", "B"))), FoldIndex.named("k") - 1)
    found = walk(entry, BALLS, lambda name: asked.append(name) or numbers.rational(2))
    assert (found, asked) == (2, [FoldIndex.named("k").name, "mu"])


def test_what_has_no_rule_is_refused_in_the_words_of_its_number_system() -> None:
    for expression, words in ((sympy.sin(2), "no enclosure for sin"), (symbol("L") + 1, "L, which has no value")):
        with pytest.raises(UndecidedError, match=words):
            enclose(expression)
    with pytest.raises(SymbolError, match="sin has no interval evaluation"):
        walk(sympy.sin(2), BALLS, {}.__getitem__)
    with pytest.raises(SymbolError, match="mu, which has no value, has no interval evaluation"):
        Formulas({"L": KnownNumber.of(2)}, {}).ball(symbol("mu") / symbol("L"))


@pytest.mark.sweep(2)
@pytest.mark.parametrize("number", [sympy.E, sympy.pi, sympy.Float("0.1"), sympy.Float(2) ** -70])
@pytest.mark.parametrize("bits", [64, 512, 4096])
def test_a_ball_holds_its_constant_at_any_precision(number: sympy.Expr, bits: int) -> None:
    # e and π were balls of 60 decimals without their rounding: from 200 bits on they did not hold the number.
    with numbers.digits(4 * bits):
        finer = numbers.flint().arb.pi() if number == sympy.pi else numbers.flint().arb.const_e()
        if number.is_Float:
            exact = sympy.Rational(number)
            finer = numbers.ball(numbers.flint().fmpq(int(exact.p), int(exact.q)))
    with numbers.digits(bits):
        assert BALLS.constant(number).contains(finer)


a, b, c = sympy.symbols("a b c", positive=True)
FLOATS = st.floats(1e-3, 1e3)
TREES = st.recursive(
    st.sampled_from([a, b, c, sympy.Integer(2), sympy.Rational(1, 3)]),
    lambda part: st.one_of(
        st.tuples(part, part).map(lambda two: two[0] + two[1]),
        st.tuples(part, part).map(lambda two: two[0] * two[1]),
        st.tuples(part, part).map(lambda two: two[0] / two[1]),
        st.tuples(part, part).map(lambda two: sympy.Min(*two, evaluate=False)),
        st.tuples(part, part).map(lambda two: sympy.Max(*two, evaluate=False)),
        part.map(sympy.sqrt),
        part.map(lambda one: one ** sympy.Rational(1, 3)),
    ),
    max_leaves=6,
)


def precisely(expression, values):
    """Return the value to 60 digits, by another library."""
    with mpmath.workdps(60):
        names = {
            symbol: mpmath.mpf(values[symbol.name].numerator) / values[symbol.name].denominator for symbol in (a, b, c)
        }
        return sympy.lambdify((a, b, c), expression, modules=["mpmath", {"Min": min, "Max": max}])(*names.values())


@given(TREES, TREES, FLOATS, FLOATS, FLOATS)
def test_an_answer_is_the_truth(left, right, x, y, z):
    values = {"a": Fraction(x), "b": Fraction(y), "c": Fraction(z)}
    found = at_most(left, right, {}, values)
    with mpmath.workdps(60):
        gap = precisely(right, values) - precisely(left, values)
        if abs(gap) > mpmath.mpf(10) ** -40:
            assert found is (gap > 0)
        else:
            assert found is not False


@given(TREES, FLOATS, FLOATS, FLOATS)
def test_both_sides_of_one_formula_are_equal_and_a_part_more_is_more(tree, x, y, z):
    values = {"a": Fraction(x), "b": Fraction(y), "c": Fraction(z)}
    assert at_most(tree, tree, {}, values) is True
    assert at_most(tree * (1 + sympy.Rational(1, 10**25)), tree, {}, values) is False
    assert at_most(tree, tree * (1 + sympy.Rational(1, 10**25)), {}, values) is True


@given(FLOATS, FLOATS, FLOATS)
def test_fractions_are_what_the_floats_are(x, y, z):
    values = {"a": Fraction(x), "b": Fraction(y), "c": Fraction(z)}
    found = walk((a + b) * c / a - b**3, RATIONALS, values.__getitem__)
    assert found == (values["a"] + values["b"]) * values["c"] / values["a"] - values["b"] ** 3


def test_definitions_are_put_in_and_an_infinite_limit_is_no_limit():
    alpha, D = sympy.symbols("alpha D", positive=True)
    rules = {"alpha": sympy.Min(1 / a, sympy.sqrt(b / (c - 1) ** 3), evaluate=False), "D": alpha * a}
    one = {"a": Fraction(3), "b": Fraction(2), "c": Fraction(1)}  # c − 1 = 0: the root is no limit
    assert at_most(alpha, 1 / a, rules, one) is True
    assert at_most(D, sympy.Integer(1), rules, one) is True
    assert at_most(D, sympy.Integer(1), rules, {**one, "alpha": Fraction(1, 3) + Fraction(1, 10**30)}) is False


def test_what_has_no_value_is_not_decided():
    assert at_most(a, b, {}, {"a": Fraction(1)}) is None
    assert at_most(sympy.log(a), b, {}, {"a": Fraction(0), "b": Fraction(1)}) in (None, True)


@pytest.mark.parametrize("part", [sympy.exp(a) * b, sympy.log(a + 1) + b, sympy.pi * a])
def test_what_no_fraction_has_is_decided_by_intervals(part):
    values = {"a": Fraction(1, 3), "b": Fraction(2), "c": Fraction(1)}
    tiny = sympy.Rational(1, 10**20)
    assert at_most(part, part * (1 + tiny), {}, values) is True
    assert at_most(part * (1 + tiny), part, {}, values) is False


NAMES = {name: info.symbol for name, info in SYMBOLS.items()}
ORDERS = {"<=": lambda a, b: a <= b, "<": lambda a, b: a < b, ">=": lambda a, b: a >= b, ">": lambda a, b: a > b}


def read(text: str) -> Any:
    return parse(text, NAMES)


def fraction(formula: sympy.Expr, at: Mapping[str, Fraction]) -> Fraction:
    found = walk(formula, RATIONALS, at.__getitem__)
    assert isinstance(found, Fraction)
    return found


@given(
    st.sampled_from(sorted(ORDERS)),
    st.fractions(-4, 4, max_denominator=4),
    st.fractions(-4, 4, max_denominator=4),
    st.fractions(1, 4, max_denominator=8),
)
def test_every_arithmetic_takes_the_branch_that_the_order_of_the_sides_says(
    sign: str, a: Fraction, b: Fraction, scale: Fraction
) -> None:
    formula = read(f"If(L*({a}) {sign} L*({b}), mu/2, 3*mu)")
    at = {"L": scale, "mu": Fraction(2)}
    want = Fraction(1) if ORDERS[sign](a, b) else Fraction(6)
    assert fraction(formula, at) == want
    assert evaluate(formula, {name: np.array(float(value)) for name, value in at.items()}, "it") == want
    for balls in (BALLS, CERTAIN):
        assert walk(formula, balls, lambda name: KnownNumber.of(at[name]).ball()).contains(float(want))
    numbers = {SYMBOLS[name].symbol: sympy.Rational(value.numerator, value.denominator) for name, value in at.items()}
    assert formula.subs(numbers).doit() == want
    assert at_most(formula, sympy.Rational(want.numerator, want.denominator), {}, at) is True


def test_only_the_branch_that_is_taken_must_be_defined() -> None:
    """1/sigma has no value at sigma = 0, and If(sigma > 0, 1/sigma, 1) is 1 there."""
    formula = read("If(sigma > 0, 1/sigma, 1)")
    assert fraction(formula, {"sigma": Fraction(0)}) == 1
    for sigma in (0.0, 2.0):
        assert broken(demands(formula), lambda of, s=sigma: float(of.subs(NAMES["sigma"], s))) is None
    other = demands(read("If(sigma > 1, 1, 1/sigma)"))
    assert broken(other, lambda of: float(of.subs(NAMES["sigma"], 0))) is not None


def test_a_sum_by_cases_is_defined_where_each_of_its_branches_is() -> None:
    """Σ_{k=0}^{3} of 1 at k = 0 and 1/k after it is 1 + 1 + 1/2 + 1/3."""
    formula = read("Sum(If(k <= 0, 1, 1/k), k, 0, K)")
    assert fraction(formula, {"K": Fraction(3)}) == Fraction(17, 6)
    assert broken(demands(formula), lambda of: float(of.subs(NAMES["K"], 3).doit())) is None


def test_a_side_that_divides_by_zero_has_no_order() -> None:
    with pytest.raises(UndecidedError):
        fraction(read("If(1/sigma <= 2, 1, 2)"), {"sigma": Fraction(0)})


def test_an_undecided_order_encloses_both_branches() -> None:
    """A third, rounded to a ball, is not known to be at most 1/3."""
    formula = read("If(3*alpha <= 1, 5, 7)")
    found = walk(formula, BALLS, lambda _: KnownNumber(None, 1 / 3, 1e-15).ball())
    assert found.contains(5)
    assert found.contains(7)


def test_it_is_printed_so_that_it_is_read_back() -> None:
    formula = read("If(K < 10, 1/L, 2/(mu*(K + 1)))")
    assert read(str(formula)) == formula
    assert written(formula) == "(2/(μ·(K + 1)) if 10 ≤ K, else 1/L)"
    assert r"\mathrm{if}" in sympy.latex(formula)


def test_both_sides_of_the_order_and_both_branches_have_the_same_units() -> None:
    assert degrees(read("If(alpha*L <= 1, R, 2*R)")) == (0, 1, 0)
    with pytest.raises(FormulaError, match="units"):
        degrees(read("If(L <= 1, R, 2*R)"))
    with pytest.raises(FormulaError, match="units"):
        degrees(read("If(alpha*L <= 1, R, L)"))


@pytest.mark.parametrize(
    "text",
    ["If(K, 1, 2)", "If(K < 3 < 4, 1, 2)", "If(K == 3, 1, 2)", "If(K < 3, 1)", "If(K < 3, 1, 2, 3)", "If", "1 < 2"],
)
def test_what_is_no_choice_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(FormulaError) as error:
        read(text)
    assert "\n" not in str(error.value)


AT: Mapping[str, Any] = {
    "n": Fraction(3),
    "K": Fraction(4),
    "T": Fraction(2),
    "alpha": Fraction(1, 2),
    "mu": Fraction(1, 4),
    "L": Fraction(2),
    "R": Fraction(3),
    "G_star": (Fraction(1), Fraction(2), Fraction(1, 2)),
    "L_i": (Fraction(2), Fraction(1), Fraction(1, 2)),
}


def by_floats(formula: sympy.Expr, at: Mapping[str, Any] = AT) -> float:
    arrays = {name: np.array(value, dtype=np.float64) for name, value in at.items()}
    return float(evaluate(formula, arrays, "it"))


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Sum(k, k, 0, K)", 10),
        ("Sum(k, k, 3, 2)", 0),  # nothing is added up
        ("Prod(k, k, 3, 2)", 1),
        ("Sum(1, k, 0, K - 1)", 4),
        ("Prod(k + 1, k, 0, K - 1)", 24),
        ("MaxOver(k*(5 - k), k, 0, K)", 6),
        ("MinOver((k - 2)**2, k, 0, K)", 0),
        ("Sum(Prod(j, j, 1, k), k, 0, K)", 1 + 1 + 2 + 6 + 24),
        ("Sum(k*Sum(k*j, j, 1, 2), k, 1, 2)", 3 * 1 + 6 * 2),
        ("mean_i(G_star[i]**2)", Fraction(21, 12)),
        ("Sum_i(L[i])", Fraction(7, 2)),
        ("max_i(L[i]*G_star[i])", 2),
        ("min_i(L_i[i])", Fraction(1, 2)),
        ("L[2] + G_star[n]", Fraction(3, 2)),
        ("Sum(Sum(1/L[i], i, 1, m), m, 1, n)", Fraction(1, 2) + Fraction(3, 2) + Fraction(7, 2)),
        ("MinOver((R + m)/Sum(1/L[i], i, 1, m), m, 1, n)", Fraction(12, 7)),
        ("Sum((1 - alpha*mu)**(K - 1 - k)*alpha, k, 0, K - 1)", 4 * (1 - Fraction(7, 8) ** 4)),
    ],
)
def test_every_arithmetic_finds_the_number_that_the_hand_finds(text: str, value: Fraction) -> None:
    formula = parse(text, NAMES)
    assert walk(formula, RATIONALS, AT.__getitem__) == value
    assert by_floats(formula) == pytest.approx(float(value), rel=1e-14)
    known = Formulas({name: known_value(one) for name, one in AT.items()}, {})
    assert known.exact(formula) == sympy.Rational(Fraction(value))
    assert known.ball(formula).contains(known.ball(sympy.Rational(Fraction(value))))
    assert at_most(formula, sympy.Rational(Fraction(value)), {}, dict(AT)) is True
    assert at_most(formula, sympy.Rational(Fraction(value)) - sympy.Rational(1, 10**9), {}, dict(AT)) is False
    assert parse(str(formula), NAMES) == formula, "what is printed is read back"
    assert "′" not in f"{formula} {written(formula)} {sympy.latex(formula)}"


@given(
    first=st.integers(0, 5),
    horizons=st.lists(st.integers(1, 9), min_size=1, max_size=6),
    word=st.sampled_from(("Sum", "Prod", "MaxOver", "MinOver")),
    term=st.sampled_from(("k + 1", "K + k", "alpha*k - 2", "Sum(j*K, j, 0, k)", "1/(k + 1)", "3")),
)
def test_a_grid_of_horizons_is_each_of_them(first: int, horizons: list[int], word: str, term: str) -> None:
    formula = parse(f"{word}({term}, k, {first}, K - 1)", NAMES)
    found = evaluate(formula, {"K": np.array(horizons, dtype=float), "alpha": np.array(0.5)}, "it")
    for horizon, value in zip(horizons, np.broadcast_to(found, len(horizons)), strict=True):
        if horizon - 1 < first and word in ("MaxOver", "MinOver"):
            assert math.isinf(value), "no largest and no smallest of nothing"
            continue
        assert value == pytest.approx(float(walk(formula, RATIONALS, {**AT, "K": Fraction(horizon)}.__getitem__)))


def test_a_column_beside_a_row_is_a_table() -> None:
    formula = parse("Sum(alpha*k, k, 0, K - 1)", NAMES)
    values = {"alpha": np.array([[1.0], [2.0]]), "K": np.array([[2.0, 3.0, 4.0]])}
    assert evaluate(formula, values, "it").tolist() == [[1, 3, 6], [2, 6, 12]]


def test_long_sums_are_quick_and_longer_ones_are_refused() -> None:
    formula = parse("Sum(1/(k + 1)**2, k, 0, K - 1)", NAMES)
    assert evaluate(formula, {"K": np.array(10.0**6)}, "it") == pytest.approx(math.pi**2 / 6 - 1e-6, abs=1e-11)
    with pytest.raises(FormulaError, match="more than 1000000 terms"):
        evaluate(formula, {"K": np.array(1e9)}, "it")
    with pytest.raises(UndecidedError):
        walk(formula, RATIONALS, {"K": Fraction(10**9)}.__getitem__)
    nested = parse("Sum(Sum(1, j, 0, K), k, 0, K)", NAMES)
    with pytest.raises(FormulaError, match="more than 1000 terms"):
        evaluate(nested, {"K": np.array(1e5)}, "it")


def test_what_has_no_whole_ends_or_no_such_entry_has_no_value() -> None:
    assert math.isnan(
        by_floats(parse("Sum(k, k, 0, floor(K/3))", NAMES).subs(sympy.floor(NAMES["K"] / 3), NAMES["L"] / 3))
    )
    entry = parse("L[K]", NAMES)
    assert math.isnan(by_floats(entry))
    with pytest.raises(UndecidedError):
        walk(entry, RATIONALS, AT.__getitem__)


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("Sum(alpha**2, k, 0, K - 1)", (-2, 4)),
        ("mean_i(G_star[i]**2)*alpha", (1, 0)),
        ("max_i(L[i])*R**2", (1, 0)),
        ("Prod(1 - alpha*mu, k, 1, K)*R", (0, 1)),
    ],
)
def test_units_are_those_of_the_terms(text: str, units: tuple[int, int]) -> None:
    assert degrees(parse(text, NAMES)) == (*units, 0)


@pytest.mark.parametrize("text", ["Prod(L, k, 0, K)", "mean_i(L[i] + G_star[i])", "Sum(alpha*k + 1, k, 0, K)"])
def test_mixed_units_are_refused(text: str) -> None:
    with pytest.raises(FormulaError, match="units"):
        degrees(parse(text, NAMES))


def test_a_sum_demands_what_its_terms_demand_at_every_index() -> None:
    formula = parse("Sum(1/(k - 2), k, 0, K - 1)", NAMES)
    (one,) = demands(formula)
    assert isinstance(one, Demand)
    for horizon, met in ((2, True), (3, False), (9, False)):
        value = lambda of, K=horizon: by_floats(of, {"K": Fraction(K)}) if of.free_symbols else float(of)  # noqa: E731
        assert one.met(value) is met


def test_the_inner_index_is_not_the_outer_one() -> None:
    """A definition with a sum over k stands inside of a sum over k: each binds its own."""
    K = NAMES["K"]
    inner = parse("Sum(k, k, 0, K - 1)", NAMES)
    outer = parse("Sum(R*k, k, 1, 2)", NAMES).xreplace({NAMES["R"]: inner})
    assert walk(outer, RATIONALS, {"K": Fraction(4)}.__getitem__) == 6 * (1 + 2)
    assert outer.free_symbols == {K}
    assert outer.subs(K, 4).doit() == 18
    assert by_floats(outer, {"K": Fraction(4)}) == 18


def test_what_is_put_in_keeps_its_meaning() -> None:
    """Sum(k·j, j, 1, k) at k = j is Sum(j·m, m, 1, j): no index is caught by another one of its name."""
    K, free = NAMES["K"], FoldIndex.named("j", sympy.S.Zero)
    inner = parse("Sum(K*j, j, 1, K)", NAMES)
    for put in (inner.xreplace({K: free}), inner.subs(K, free)):
        outer = SumFold(put, free, 0, 3)
        assert walk(outer, RATIONALS, {}.__getitem__) == 1 * 1 + 2 * 3 + 3 * 6
        assert outer.doit() == 25
        assert by_floats(outer, {}) == 25


def test_floats_do_not_count_beyond_their_digits() -> None:
    with pytest.raises(FormulaError, match="beyond 2\\^53"):
        by_floats(parse("Sum(k, k, 10**17, 10**17 + 2)", NAMES))


def test_sympy_neither_sums_nor_counts_backwards() -> None:
    K, k = NAMES["K"], FoldIndex.named("k", sympy.S.Zero)
    total = SumFold(1 / (k + 1), k, 0, K - 1)
    assert isinstance(sympy.simplify(total), IndexFold)
    assert SumFold(k, k, 3, 1).doit() == 0
    with pytest.raises(NotImplementedError):
        sympy.limit(total, K, sympy.oo)
    assert SumFold(NAMES["L"] * k, k, 0, K).diff(NAMES["L"]).subs(K, 3).doit() == 6


def test_signs_follow_from_those_of_the_terms() -> None:
    assert parse("Sum(alpha/(k + 1), k, 0, K - 1)", NAMES).is_positive
    assert parse("Sum(alpha*k, k, 0, K - 1)", NAMES).is_nonnegative
    assert parse("Sum(alpha - k, k, 0, K - 1)", NAMES).is_nonnegative is None
    assert parse("max_i(L[i])", NAMES).is_positive
    assert parse("MaxOver(k + 1, k, 0, K - 2)", NAMES).is_positive is None, "there may be nothing"
    assert EntryOf(sympy.Tuple(1, 2), FoldIndex.named("i") - 1).is_positive


def test_balls_need_ends_that_are_whole() -> None:
    from boundlab.errors import SymbolError

    formula = parse("Sum(k, k, 0, K)", NAMES)
    about = Formulas({}, {}).ball(sympy.Rational(1, 3))
    with pytest.raises(SymbolError):
        walk(formula, BALLS, lambda _: about)


HEAD = """id = "any"
algorithm = "gd"
metric = "gap"
assumptions = ["convex", "smooth", "minimiser", "deterministic"]
[step]
alpha = "1/L"
[terms]
bound = "FORMULA"
"""
FOUND = [
    "exp(exp(K))",  # infinite at each K, and reads nothing else
    "Prod(2**k, k, 1, 2000)",
    "L*R**2/Prod(2**k, k, 1, 200)",  # with more digits than Python writes
    "L*R**2*Prod(2**k, k, 1, 400)/K",
    "L*R**2*Sum(i, i, 1, 5000) + L*R**2*Sum(i**2, i, 1, 5000)",
    "L*R**2*Sum(Sum(1/(i + j), j, 1, K), i, 1, K)",
    "L*R**2/Sum(Sum(j, j, 1, i), i, 1, K)",
]


def formula(rng: random.Random, depth: int, names: list[str]) -> str:
    """Draw a formula without units from the grammar: folds in folds, powers, exponentials, and choices."""
    if depth == 0:
        return rng.choice([*names, "K", "1", "2", "3/7", "1/(K + 1)"])
    one, two = (formula(rng, depth - 1, names) for _ in range(2))
    index = f"i{len(names)}"
    inner = formula(rng, depth - 1, [*names, index])
    last = rng.choice(["K", "3", "40", "5000", *names])
    return rng.choice(
        [
            f"({one} + {two})",
            f"({one})*({two})",
            f"({one})/(1 + ({two})**2)",
            f"exp(-({one}))",
            f"exp({one})",
            f"Min({one}, {two})",
            f"If(K <= 3, {one}, {two})",
            f"Sum({inner}, {index}, 1, {last})",
            f"Prod(1 - 1/(2 + ({inner})**2), {index}, 1, {last})",
            f"MaxOver({inner}, {index}, 0, {last})",
        ]
    )


def asked(text: str, folder: Path, capsys: Any, commands: list[list[str]]) -> None:
    path = folder / "any.toml"
    path.write_text(HEAD.replace("FORMULA", text), encoding="utf-8")
    for words in commands:
        code = invoke([words[0], str(path), *words[1:]])
        said = "".join(capsys.readouterr())
        assert code in (0, 1, 2, 3, 4), (text, words, said)
        assert "Traceback" not in said
        assert code != 2 or len(said.strip().splitlines()) == 1, (text, words, said)


SHOW = ["show"]
EVAL = ["eval", "--set", "L=1", "--set", "R=1", "--set", "K=3"]
FALSIFY = ["falsify", "--budget", "0.2", "--jobs", "1"]


@pytest.mark.sweep(7)
@pytest.mark.parametrize("text", FOUND)
def test_each_question_has_an_answer(text: str, tmp_path: Path, capsys: Any, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    asked(text, tmp_path, capsys, [SHOW, EVAL, FALSIFY, ["check", "--only", "units,scope,limits"]])


@pytest.mark.sweep(6)
@pytest.mark.parametrize("seed", range(6))
def test_formulas_at_random_crash_nothing(seed: int, tmp_path: Path, capsys: Any, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    rng = random.Random(seed)  # noqa: S311  (no secret)
    for place in range(4):  # a search takes the longest by far: of one formula
        asked(
            f"L*R**2*({formula(rng, 2, [])})",
            tmp_path,
            capsys,
            [SHOW, EVAL, *([FALSIFY] if place == 0 else []), ["check", "--only", "units,limits"]],
        )
