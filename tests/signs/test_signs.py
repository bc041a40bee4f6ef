"""Signs: what is shown is true, and no more work is done than was predicted."""

import itertools
from dataclasses import replace
from fractions import Fraction

import pytest
import sympy
from hypothesis import given, settings, strategies as st
from sympy.polys.rings import PolyElement, ring

from boundlab.errors import UndecidedError
from boundlab.formulas.symbols import DOMAINS, SYMBOLS, symbol
from boundlab.formulas.written import expand, predicted, substitute
from boundlab.signs import Cut, Prover, _below_means, covers, find_cover, polynomial_sign, vanishes

a, b, c = (symbol(name) for name in ("sigma", "zeta", "R"))
R, x, y, z = ring("x, y, z", sympy.QQ)
# Nonnegative where all variables are; the second and third are no sums of squares in variables that may be negative.
NONNEGATIVE = {
    "a square": (x - y) ** 2,
    "Motzkin": x**4 * y**2 + x**2 * y**4 + z**6 - 3 * x**2 * y**2 * z**2,
    "Schur": x * (x - y) * (x - z) + y * (y - x) * (y - z) + z * (z - x) * (z - y),
    "a zero at 2 : 1": (x - 2 * y) ** 2,
    "a zero at 5 : 3": (3 * x - 5 * y) ** 2,
    "not homogeneous": (x - 1) ** 2 + (y - 1) ** 2 * x,
    "means": x**3 + y**3 + z**3 - 3 * x * y * z,
    "a discriminant": x**2 - x * y + y**2,
}
BY_SQUARES = (a - 7 * c) ** 2 * (3 * a - 5 * b) ** 2


# ---------------------------------------------------------------------------------------------- certificates


@pytest.mark.parametrize("name", NONNEGATIVE)
def test_a_cover_shows_what_coefficients_do_not(name: str) -> None:
    polynomial = NONNEGATIVE[name]
    assert min(polynomial.values()) < 0
    cut = find_cover(polynomial)
    assert cut is not None
    assert covers(polynomial, cut)


@pytest.mark.parametrize("name", sorted(set(NONNEGATIVE) - {"a discriminant"}))
def test_no_certificate_survives_a_smaller_polynomial(name: str) -> None:
    # Each is 0 at some point inside the orthant: a little less is negative there.
    polynomial = NONNEGATIVE[name]
    cut = find_cover(polynomial)
    assert cut is not None
    for powers in polynomial:
        smaller = polynomial - R.from_dict({powers: sympy.QQ(1, 10**6)})
        assert not covers(smaller, cut)
        assert find_cover(smaller) is None


def cuts(depth: int) -> st.SearchStrategy[Cut | None]:
    if depth == 0:
        return st.none()
    pairs = st.sampled_from(list(itertools.permutations(range(4), 2)))
    return st.none() | st.builds(lambda pair, one, two: Cut(*pair, one, two), pairs, cuts(depth - 1), cuts(depth - 1))


polynomials = st.dictionaries(
    st.tuples(*(st.integers(0, 3) for _ in range(3))), st.integers(-4, 4).filter(bool), min_size=1, max_size=5
)
POINTS = [Fraction(number, 4) for number in (0, 1, 3, 4, 5, 8, 20)]


def value(polynomial: PolyElement, point: tuple[Fraction, ...]) -> Fraction:
    return sum(
        Fraction(int(coefficient.numerator), int(coefficient.denominator))
        * point[0] ** powers[0]
        * point[1] ** powers[1]
        * point[2] ** powers[2]
        for powers, coefficient in polynomial.items()
    )


@given(polynomials, cuts(3))
@settings(max_examples=80, deadline=None)
def test_any_cuts_that_pass_the_second_check_are_a_proof(terms: dict[tuple[int, ...], int], cut: Cut | None) -> None:
    polynomial = R.from_dict({powers: sympy.QQ(coefficient) for powers, coefficient in terms.items()})
    if cut is not None and covers(polynomial, cut):
        assert all(value(polynomial, point) >= 0 for point in itertools.product(POINTS, repeat=3))


@given(polynomials)
@settings(max_examples=80, deadline=None)
def test_what_is_found_is_true(terms: dict[tuple[int, ...], int]) -> None:
    polynomial = R.from_dict({powers: sympy.QQ(coefficient) for powers, coefficient in terms.items()})
    negative = any(value(polynomial, point) < 0 for point in itertools.product(POINTS, repeat=3))
    if min(polynomial.values()) < 0 and find_cover(polynomial) is not None:
        assert not negative


# ------------------------------------------------------------------------------------------ means and squares


def test_a_negative_term_lies_below_the_mean_of_two_positive_ones() -> None:
    for name in ("a square", "a zero at 2 : 1", "a discriminant"):
        assert _below_means(NONNEGATIVE[name])
    assert _below_means(1 - 2 * x * y + x**2 * y**2 + z)  # 0 on a curve: no cones with straight sides cover that
    assert not _below_means(1 - 3 * x * y + x**2 * y**2 + z)


def test_no_part_of_a_positive_term_is_used_twice() -> None:
    both = x**2 - 2 * x * y + y**2 + (y**2 - 2 * y * z + z**2)
    assert _below_means(both)
    assert not _below_means(both - y**2 / 10**6)


def test_what_has_an_even_power_has_no_sign() -> None:
    assert polynomial_sign((x - 7 * y) ** 2 * (3 * x - 5 * z) ** 2)
    assert polynomial_sign((x - 7 * y) ** 2 * (3 * x - 5 * z) ** 2 * (x**2 - x * y + y**2))
    assert not polynomial_sign((x - 7 * y) ** 2 * (3 * x - 5 * z))


@given(polynomials)
@settings(max_examples=80, deadline=None)
def test_what_is_shown_is_true(terms: dict[tuple[int, ...], int]) -> None:
    polynomial = R.from_dict({powers: sympy.QQ(coefficient) for powers, coefficient in terms.items()})
    if _below_means(polynomial) or polynomial_sign(polynomial):
        assert all(value(polynomial, point) >= 0 for point in itertools.product(POINTS, repeat=3))


def test_a_conclusion_needs_all_its_parts() -> None:
    prover = Prover(SYMBOLS)
    known, unknown = sympy.expand(BY_SQUARES), a**2 - 3 * a * b + b**2
    assert prover.nonnegative(a + b)
    assert prover.nonnegative(sympy.expand((a - b) ** 2))
    assert prover.nonnegative(known)
    assert not prover.nonnegative(unknown)
    assert prover.certain(sympy.Min(a, known, evaluate=False))
    assert not prover.certain(sympy.Min(a, unknown, evaluate=False))
    assert prover.certain(sympy.Max(a, unknown, evaluate=False))
    L = symbol("L")
    assert [prover.direction(one, L) for one in (L * known, -L * (a + b), L * unknown, a)] == [1, -1, None, 0]


def most(*parts: sympy.Expr) -> sympy.Expr:
    return sympy.Max(*parts, evaluate=False)


def least(*parts: sympy.Expr) -> sympy.Expr:
    return sympy.Min(*parts, evaluate=False)


EXTREMA = {
    most(a, b) - a: True,
    most(a, b) - b: True,
    a - most(a, b): False,
    b - most(a, b): False,
    1 + a - most(a, 1): True,
    1 + a - most(a, 2): False,
    a - least(a, b): True,
    b - least(a, b): True,
    least(a, b) - a: False,
    least(a, b) - b: False,
    least(a + 1, b + 2) - 1: True,
    least(a + 1, b) - 1: False,
    1 / (1 + least(a, b)) - 1 / (1 + a): True,
    1 / (1 + a) - 1 / (1 + least(a, b)): False,
    most(a, b) - least(a, b): True,
    least(a, b) - most(a, b): False,
}


@pytest.mark.parametrize("expression", EXTREMA, ids=str)
def test_with_a_max_one_argument_is_enough_only_where_the_rest_grows_with_it(expression: sympy.Expr) -> None:
    assert Prover(SYMBOLS).certain(expression) == EXTREMA[expression]


def trees(depth: int) -> st.SearchStrategy[sympy.Expr]:
    leaves = st.sampled_from([a, b, sympy.Integer(1), sympy.Integer(2)])
    if depth == 0:
        return leaves
    pairs = st.tuples(trees(depth - 1), trees(depth - 1))
    return leaves | st.one_of(
        pairs.map(lambda two: two[0] + two[1]),
        pairs.map(lambda two: two[0] - two[1]),
        pairs.map(lambda two: two[0] * two[1]),
        pairs.map(lambda two: most(*two)),
        pairs.map(lambda two: least(*two)),
    )


@given(trees(3))
@settings(max_examples=60, deadline=None)
def test_what_is_certain_of_extrema_is_true_at_every_point(expression: sympy.Expr) -> None:
    if Prover(SYMBOLS).certain(expression):
        for one, other in itertools.product((0, sympy.Rational(1, 3), 1, sympy.Rational(3, 2), 4), repeat=2):
            assert expression.subs({a: one, b: other}) >= 0


def test_roots_and_quotients() -> None:
    prover = Prover(SYMBOLS)
    assert prover.nonnegative(a + b - 2 * sympy.sqrt(a) * sympy.sqrt(b))
    assert prover.nonnegative(1 / (1 + a) - 1 / (2 + a))
    assert not prover.nonnegative(1 / (2 + a) - 1 / (1 + a))
    assert prover.nonnegative(sympy.sqrt(2) * a - sympy.Rational(7, 5) * a)
    assert not prover.nonnegative(a / (1 - a))
    assert not prover.nonnegative(-a / (1 - 2 * a + a**2))
    assert prover.nonnegative(a / (1 - 2 * a + a**2))
    assert vanishes((a + b) ** 2 - a**2 - 2 * a * b - b**2)
    assert not vanishes((a + b) ** 2 - a**2 - b**2)


# ------------------------------------------------------------------------------------------------ bounded work


@st.composite
def formulas(draw: st.DrawFn, depth: int = 4) -> sympy.Expr:
    if depth == 0 or draw(st.booleans()):
        return draw(st.sampled_from([a, b, c, sympy.Integer(2), sympy.Rational(1, 3)]))
    left, right = draw(formulas(depth - 1)), draw(formulas(depth - 1))
    match draw(st.sampled_from("+*^-/")):
        case "+":
            return left + right
        case "*":
            return left * right
        case "^":
            return left ** draw(st.sampled_from([2, 3, -2, sympy.Rational(3, 2), sympy.Rational(-5, 2)]))
        case "-":
            return left - right
        case _:
            return left / (1 + right)


@given(formulas())
@settings(max_examples=80, deadline=None)
def test_no_more_terms_than_predicted(formula: sympy.Expr) -> None:
    count = predicted(formula)
    if count <= 300:
        found = sympy.expand(formula)
        assert len(sympy.Add.make_args(found)) <= count
        assert expand(formula) == found
    else:
        with pytest.raises(UndecidedError, match="multiplied out it has more than 300 terms"):
            expand(formula, 300)


@pytest.mark.parametrize(("domain", "known"), [("nonnegative", True), ("positive", True), ("real", False)])
def test_of_a_symbol_that_may_be_negative_no_sign_is_shown(domain: str, known: bool) -> None:
    own = sympy.Symbol("lean", real=True) if domain == "real" else sympy.Symbol("lean", **{domain: True})
    info = replace(SYMBOLS["R"], name="lean", symbol=own, domain=DOMAINS[domain])
    for formula in (own, own + a, 2 * own + own * a**2, own**3, a + own**3, a + own**5 + own):
        found = Prover({**SYMBOLS, "lean": info}).nonnegative(formula)
        assert found is known


def test_what_would_be_too_long_is_refused_before_it_is_made() -> None:
    power = (a + b + c + symbol("L") + symbol("mu")) ** 64
    with pytest.raises(UndecidedError, match="more than 2000 terms"):
        expand(power)
    assert not Prover(SYMBOLS).nonnegative(power - a**64 / 2)
    K = symbol("K")
    with pytest.raises(UndecidedError, match="bits"):
        substitute(K**K**K, {K: sympy.Integer(400)})
