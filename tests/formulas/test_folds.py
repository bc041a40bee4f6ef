"""Sums, products and extrema over an index, and entries of vectors: one number, whichever arithmetic finds it."""

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import given, strategies as st

from boundlab.errors import FormulaError, UndecidedError
from boundlab.formulas.defined import Demand, demands
from boundlab.formulas.enclose import BALLS, RATIONALS, Formulas, at_most, known_value, walk
from boundlab.formulas.floats import evaluate
from boundlab.formulas.folds import EntryOf, FoldIndex, IndexFold, SumFold
from boundlab.formulas.parse import parse
from boundlab.formulas.symbols import SYMBOLS
from boundlab.formulas.units import degrees
from boundlab.formulas.written import written

NAMES = {name: info.symbol for name, info in SYMBOLS.items()}
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
