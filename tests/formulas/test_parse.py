"""The whitelist parser, and values: what is read, what is refused at once, and what follows from it."""

import numpy as np
import pytest
import sympy
from hypothesis import given, strategies as st
from python_calls import calls_counted

from boundlab.errors import BoundlabError, FormulaError, SpecError, SymbolError
from boundlab.formulas.assignments import arrival_statistics, parse_values
from boundlab.formulas.parse import FUNCTIONS, number_value, parse
from boundlab.formulas.symbols import SYMBOLS

NAMES = {name: info.symbol for name, info in SYMBOLS.items()}
L, mu, M, K = (NAMES[name] for name in ("L", "mu", "M", "K"))


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("L/mu", L / mu),
        ("-L + +2", 2 - L),
        ("2**-1", sympy.Rational(1, 2)),
        ("0.1", sympy.Rational(1, 10)),
        ("1.5e-3", sympy.Rational(3, 2000)),
        ("1/3", sympy.Rational(1, 3)),
        ("sqrt(L)*sqrt(L)", L),
        ("exp(0) + log(1)", sympy.Integer(1)),
        ("Abs(-3) + abs(2)", sympy.Integer(5)),
        ("floor(5/2) + ceiling(5/2) + ceil(5/2)", sympy.Integer(8)),
        ("  L *\n mu ", L * mu),
        ("L**(1/3)", sympy.cbrt(L)),
        ("K**(3/2)", K ** sympy.Rational(3, 2)),
    ],
)
def test_a_formula_is_read_exactly(text: str, meaning: sympy.Expr) -> None:
    assert sympy.expand(parse(text, NAMES) - meaning) == 0


def test_min_and_max_take_any_number_of_arguments_in_either_spelling() -> None:
    assert set(parse("Min(L, mu, 3)", NAMES).args) == {L, mu, sympy.Integer(3)}
    assert parse("max(L, mu)", NAMES).func == sympy.Max
    assert parse("Min(L)", NAMES) == L


ATTACKS = [
    ("__import__('os').system('id')", "not allowed"),
    ("__import__", "unknown symbol"),
    ("L.real", "an attribute"),
    ("().__class__", "an attribute"),
    ("(1).real", "an attribute"),
    ("[1]", "List is not allowed"),
    ("{1}", "'{' at column 1"),
    ("L[0]", "clients are counted from 1"),
    ("lambda: 1", "':' at column 7"),
    ("L if mu else 1", "if/else"),
    ("L and mu", "and/or"),
    ("not L", "not allowed"),
    ("L == 1", "a comparison"),
    ("L < 1", "a comparison"),
    ("L := 1", "':'"),
    ("L; mu", "';'"),
    ("'a'", '"\'"'),
    ("f'{L}'", '"\'"'),
    ("1j", "not a real number"),
    ("True", "not a real number"),
    ("None", "not a real number"),
    ("L\0", "'\\x00' at column 2"),
    ("μ", "write Greek letters out"),
    ("2^3", "write ** for powers"),
    ("L // 2", "FloorDiv"),
    ("L % 2", "no remainder"),
    ("L mu", "cannot read"),
    ("L(2)", "write * for products"),
    ("foo(2)", "not a known function"),
    ("sqrt", "argument in parentheses"),
    ("sqrt()", "one argument, got 0"),
    ("sqrt(1, 2)", "one argument, got 2"),
    ("sqrt(x=1)", "no named arguments"),
    ("sqrt(*L)", "starred"),
    ("sqrt(**L)", "named arguments"),
    ("await L", "await"),
    ("L, mu", "a list of several values"),
    ("nan", "unknown symbol 'nan'"),
    ("inf", "unknown symbol 'inf'"),
    ("1e999", "too large"),
    ("1e-400", "too small"),
    ("1" * 50, "more than 40 digits"),
    ("9**9**9**9", "exponent"),
    ("L**1000", "exponent 1000 is too large"),
    ("L**(10**30)", "exponent"),
    ("((2**64)**64)**64", "the power is too large"),
    ("exp(exp(exp(100)))", "exp is too large"),
    ("floor(exp(exp(7)))", "exp is too large"),
    ("1/0", "division by zero (column 1"),
    ("L/(2-2)", "division by zero"),
    ("L/(L-L)", "division by zero, whatever the values"),
    ("0**(0-1)", "division by zero"),
    ("(L-L)**(-1)", "division by zero"),
    ("sqrt(-1)", "sqrt of -1"),
    ("log(0)", "log of 0"),
    ("(0-8)**(1/3)", "not real"),
    ("sqrt(L-L-1)", "not real"),
    ("(" * 150 + "1" + ")" * 150, ""),
    ("(" * 300 + "1" + ")" * 300, "nested"),
    ("-" * 1500 + "1", "nested too deeply"),
    ("1+" * 900 + "1", "nested too deeply"),
    ("sqrt(" * 120 + "L" + ")" * 120, "nested too deeply"),
    ("L" * 3000, "3000 characters"),
    ("", "empty"),
    ("   ", "empty"),
    ("*L", "cannot read"),
    ("L +", "cannot read"),
    ("(L", "cannot read"),
    ("L[1/2]", "clients are counted from 1"),
    ("R[1]", "R is not one number per client"),
    ("(L+1)[1]", "only a symbol has entries"),
    ("p", "p is one number per client"),
    ("Sum(k, k, 0)", "Sum takes 4 arguments"),
    ("Sum(k, 1, 0, K)", "the second argument of Sum is its index"),
    ("Sum(K, K, 0, 3)", "the index K of Sum has another meaning here"),
    ("Sum(Sum(k, k, 0, 1), k, 0, K)", "the index k of Sum has another meaning here"),
    ("Sum(k, k, 0, K/2)", "Sum runs between whole numbers"),
    ("Sum(k, k, 0, K) + k", "unknown symbol 'k'"),
    ("mean_i(L[i], L[i])", "mean_i takes 1 argument"),
    ("mean_i(L)*i", "unknown symbol 'i'"),
    ("alpha_at(K - 1 - K)", "a whole one from 0 on"),
    ("alpha_at(K/2)", "a whole one from 0 on"),
    ("alpha_at(L)", "a whole one from 0 on"),
    ("Sum(_k, _k, 0, K)", "begins with a letter"),
    ("Sum(Sum(Sum(Sum(1, u, 0, 1), v, 0, 1), w, 0, 1), x, 0, 1)", "more than 3 of Sum"),
    ("Sum + 1", "function Sum needs its argument in parentheses"),
    ("Sum(1/(k - k), k, 0, K)", "division by zero, whatever the values"),
    ("1if 1", "cannot read"),
]


@pytest.mark.sweep(8)
@pytest.mark.parametrize(("text", "message"), [attack for attack in ATTACKS if attack[1]])
def test_an_attack_is_refused_in_one_line_before_it_costs_anything(text: str, message: str) -> None:
    with pytest.raises(FormulaError) as error, calls_counted() as calls:
        parse(text, NAMES, "my.toml, terms.noise")
    assert len(calls) < 20_000  # hundredths of a second
    assert message in str(error.value)
    assert str(error.value).startswith("my.toml, terms.noise: ")
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 300


def test_a_misspelt_symbol_is_answered_with_the_nearest_one() -> None:
    with pytest.raises(FormulaError, match=r"unknown symbol 'sigm'; did you mean sigma\? \(column 3 of 'L\*sigm'\)"):
        parse("L*sigm", NAMES)


def test_a_list_is_no_formula() -> None:
    with pytest.raises(FormulaError, match="must be text, got list"):
        parse(["L"], NAMES)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["1/3", "sqrt(2)", "2**3", "-1e-3", "Min(3, 2)", "1_000", "exp(2)-1"])
def test_numbers_in_floating_point_agree_with_the_symbolic_reading(text: str) -> None:
    assert number_value(text) == pytest.approx(float(parse(text, {})), rel=1e-15)


@pytest.mark.parametrize("text", ["L", "nan", "inf", "1e999", "2**5000", "1/0", "oo", "zoo"])
def test_a_number_is_finite_and_has_no_names(text: str) -> None:
    with pytest.raises(FormulaError):
        number_value(text, "L")


_PIECES = st.sampled_from([*"0123456789.()+-*/, eE_\n'\"[]{}:;=<>!@#$%^&|~`\\", "**", "L", "mu", "M", *FUNCTIONS])


@given(st.lists(_PIECES, max_size=40).map("".join))
def test_any_text_gives_a_real_finite_formula_or_one_line(text: str) -> None:
    try:
        result = parse(text, NAMES)
    except FormulaError as error:
        message = str(error)
    else:
        message = ""
        assert result.free_symbols <= set(NAMES.values())
        assert not result.has(sympy.zoo, sympy.nan, sympy.oo, sympy.I)
    assert "\n" not in message


def _formulas() -> st.SearchStrategy[str]:
    leaves = st.one_of(st.integers(0, 99).map(str), st.sampled_from(["L", "mu", "M", "0.5"]))
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.tuples(inner, st.sampled_from("+-*/"), inner).map(lambda t: f"({t[0]}{t[1]}{t[2]})"),
            st.tuples(st.sampled_from(["sqrt", "exp", "Abs"]), inner).map(lambda t: f"{t[0]}({t[1]})"),
            st.tuples(inner, st.sampled_from(["2", "(1/2)", "3"])).map(lambda t: f"({t[0]})**{t[1]}"),
        ),
        max_leaves=8,
    )


@given(_formulas())
def test_the_parser_agrees_with_python_where_both_give_a_number(text: str) -> None:
    import math

    point = {"L": 2.0, "mu": 0.5, "M": 3.0}
    try:
        direct = eval(text, {"__builtins__": {}, "sqrt": math.sqrt, "exp": math.exp, "Abs": abs}, dict(point))  # noqa: S307
        symbolic = parse(text, NAMES)
    except (FormulaError, ValueError, OverflowError, ZeroDivisionError):
        return
    if isinstance(direct, complex) or abs(direct) > 1e100 or 0 < abs(direct) < 1e-8:
        return
    value = complex(symbolic.subs({NAMES[name]: number for name, number in point.items()}).evalf(30))
    assert value.real == pytest.approx(direct, rel=1e-6, abs=1e-6)


def test_a_number_may_be_a_formula_of_numbers() -> None:
    values = parse_values(["L=1/4", "mu=2**-3", "zeta=sqrt(4)", "sigma=Min(1, 2)"])
    assert values.scalars == {"L": 0.25, "mu": 0.125, "zeta": 2.0, "sigma": 1.0}
    assert values.shape == ()


def test_a_logarithmic_grid_of_integers_is_rounded_and_without_repeats() -> None:
    axis = parse_values(["K=1:1e6:log"]).axes["K"]
    assert (axis[0], axis[-1]) == (1, 10**6)
    assert (axis == np.rint(axis)).all()
    assert (np.diff(axis) > 0).all()
    assert len(axis) <= 61


def test_a_grid_has_the_points_that_were_asked_for() -> None:
    assert parse_values(["L=1:100:log:3"]).axes["L"] == pytest.approx([1, 10, 100])
    assert parse_values(["sigma=0:1:lin:5"]).axes["sigma"] == pytest.approx([0, 0.25, 0.5, 0.75, 1])
    assert len(parse_values(["sigma=0:1:lin"]).axes["sigma"]) == 61


def test_grids_span_a_product_in_the_order_given() -> None:
    values = parse_values(["sigma=0,1", "L=3", "K=1,10,100"])
    assert values.shape == (2, 3)
    grid = values.grid()
    assert np.shape(grid["sigma"]) == (2, 1)
    assert np.shape(grid["K"]) == (1, 3)
    assert values.flat()["sigma"].tolist() == [0, 0, 0, 1, 1, 1]
    assert values.flat()["K"].tolist() == [1, 10, 100, 1, 10, 100]
    assert values.given == ("sigma", "L", "K")


def test_a_grid_of_lambda_s_moves_the_probabilities_along_with_it() -> None:
    values = parse_values(["K=10,20", "rates=10,10,2.5", "lambda_s=7.5,22.5"])
    grid = values.grid()
    assert np.shape(grid["p_s"]) == (1, 2)
    assert np.ravel(grid["p_s"]) == pytest.approx([0.25, 0.5])
    assert np.ravel(grid["p_min"]) == pytest.approx([2.5 / 30, 2.5 / 45])
    single = parse_values(["rates=10,10,2.5", "lambda_s=22.5"]).scalars
    assert np.ravel(grid["qbar"])[1] == pytest.approx(single["qbar"])


def test_a_vector_comes_from_a_file(tmp_path: pytest.TempPathFactory) -> None:
    path = tmp_path / "p.txt"  # type: ignore[operator]
    path.write_text("0.25 # the first\n0.25\n")
    assert parse_values([f"p=@{path}"]).scalars["p_s"] == 0.5


@pytest.mark.sweep(3)
@pytest.mark.parametrize(
    ("assignments", "message"),
    [
        (["L"], "'L' is not NAME=VALUE"),
        (["=3"], "'=3' is not NAME=VALUE"),
        (["L="], "'L=' is not NAME=VALUE"),
        (["L=1", "L=2"], "L is set twice"),
        (["sigm=1"], "unknown symbol 'sigm'; did you mean sigma?"),
        (["L=nan"], "L: 'nan' is a name where a number is expected"),
        (["L=__import__('os').system('id')"], 'L: "\'" at column 12 is not allowed'),
        (["L=1e999"], "L: the number is too large"),
        (["L=-1"], "L must be > 0, got -1"),
        (["K=2.5"], "K must be an integer ≥ 1, got 2.5"),
        (["K=1,,3"], "K: the formula is empty"),
        (["K=1:10"], "K: '1:10' is not a range; write start:stop:log"),
        (["K=1:10:cubic"], "is not a range"),
        (["K=1:10:log:1"], "K: a range has an integer number of points between 2"),
        (["K=1:10:log:2.5"], "K: a range has an integer number of points between 2"),
        (["K=1:10:log:1e12"], "K: a range has an integer number of points between 2"),
        (["K=10:1:log"], "must start below its end"),
        (["sigma=0:1:log"], "a logarithmic range starts above 0, got 0"),
        (["K=0.5:9:lin"], "K must be an integer ≥ 1, got 0.5"),
        (["sigma=0:1:lin:10000", "L=1:2:lin:10000"], "the grid has 100000000 points"),
        (["p=0.5,0.6"], "p sums to 1.1, which leaves nothing for the server"),
        (["p=0.5,0.5"], "p sums to 1, which leaves nothing for the server"),
        (["p=0.5,0.25", "p_s=0.3"], "probabilities sum to 1.05, must sum to 1"),
        (["p=0.5,0.25", "p_s=0.1,0.25"], "p_s has several values"),
        (["p=0.5,0"], "p must be in (0, 1], got 0"),
        (["p=0.5", "qbar=2"], "qbar follows from p"),
        (["p=0.5", "n=1"], "n follows from p"),
        (["p=0.25,0.25", "G_star=1"], "G_star has 1 entries, p has 2"),
        (["rates=1,2"], "rates need lambda_s"),
        (["rates=1,2", "lambda_s=1", "p_s=0.1"], "p_s follows from rates"),
        (["rates=1,2", "p=0.1,0.2", "lambda_s=1"], "rates and p both give"),
        (["rates=1,-2", "lambda_s=1"], "rates must be > 0, got -2"),
        (["p=@/no/such/file"], "p: cannot read /no/such/file"),
    ],
)
def test_nonsense_is_answered_in_one_line(assignments: list[str], message: str) -> None:
    with pytest.raises((SymbolError, FormulaError, SpecError)) as error:
        parse_values(assignments)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@given(st.lists(st.floats(0.01, 3.0), min_size=1, max_size=30))
def test_arrival_statistics_are_those_of_their_definitions(weights: list[float]) -> None:
    p = np.array(weights) / (sum(weights) + 1.0)
    found = arrival_statistics(p)
    assert found["p_s"] == pytest.approx(1 - p.sum())
    assert found["p_min"] == pytest.approx(min(p.min(), 1 - p.sum()))
    assert found["qbar"] == pytest.approx((1 / p).mean())


@given(st.text(max_size=30))
def test_any_text_gives_values_or_one_line(text: str) -> None:
    message = ""
    try:
        parse_values([text])
    except BoundlabError as error:
        message = str(error)
    assert "\n" not in message
