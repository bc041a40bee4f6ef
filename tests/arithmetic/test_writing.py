"""Numbers and inequalities as people write them."""

from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from boundlab.arithmetic import numbers
from boundlab.arithmetic.numbers import Surd, ball, digits, rational
from boundlab.arithmetic.writing import (
    LONGEST,
    Between,
    between,
    coordinate,
    decimal,
    equals,
    functions,
    linear,
    math,
    say,
    steps,
    tex,
    vector,
    words,
    written,
)

pytest.importorskip("flint")

fractions = st.fractions(min_value=-50, max_value=50, max_denominator=60)
roots = st.sampled_from([2, 3, 5, 15, 51, Fraction(3, 2)])


def surd(a, b, r):
    return Surd(rational(Fraction(a)), rational(Fraction(b)), rational(Fraction(r)))


@pytest.mark.parametrize(
    ("number", "text", "latex"),
    [
        (Fraction(3, 8), "3/8", r"\frac{3}{8}"),
        (Fraction(-7), "−7", "-7"),
        (surd(1, Fraction(-1, 160), 15), "1 − √15/160", r"1 - \frac{\sqrt{15}}{160}"),
        (surd(0, Fraction(9, 136), 51), "9√51/136", r"\frac{9\sqrt{51}}{136}"),
        (surd(Fraction(1, 2), 3, 2), "1/2 + 3√2", r"\frac{1}{2} + 3\sqrt{2}"),
        (surd(0, -1, 2), "−√2", r"-\sqrt{2}"),
        (surd(2, 0, 5), "2", "2"),
        (surd(0, 1, Fraction(3, 2)), "√(3/2)", r"\sqrt{\frac{3}{2}}"),
    ],
)
def test_fractions_and_roots_are_written_as_on_paper(number, text, latex):
    assert (written(number).text, written(number).latex, written(number).near) == (text, latex, False)


def test_what_takes_too_many_letters_becomes_a_decimal_that_says_so_and_keeps_its_digits():
    long = Fraction(10**40 + 1, 3 * 10**48)
    assert written(long).text == "3.33333·10⁻⁹"
    assert written(long).near
    assert written(long).exact == f"{long.numerator}/{long.denominator}"
    assert say("left = {}", written(long)).exact == f"left = {long}"


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (Fraction(3, 8), "= 3/8 = 0.375"),
        (Fraction(1, 3), "= 1/3 ≈ 0.333333"),
        (Fraction(5), "= 5"),
        (Fraction(1, 10**5), "= 1/100000 = 10⁻⁵"),
        (surd(1, Fraction(-1, 160), 15), "= 1 − √15/160 ≈ 0.975794"),
        (Fraction(10**40 + 1, 3 * 10**48), "≈ 3.33333·10⁻⁹"),
    ],
)
def test_a_decimal_behind_a_number_is_equal_or_only_near(number, text):
    assert equals(number).text == text


def test_balls_are_decimals():
    with digits(128):
        third = ball(rational(Fraction(1, 3)))
        assert (written(third).text, written(third).near) == ("0.333333", True)
        assert decimal(third * 0 + 10**9).text == "10⁹"


@given(fractions, fractions, roots)
def test_what_is_written_is_read_back_by_hand(a, b, r):
    # "−3/4 + 7√15/2": every part is a sign, a numerator, perhaps a root, perhaps a denominator.
    number = surd(a, b, r)
    root = f"√{r}" if Fraction(r).denominator == 1 else f"√({r})"
    found = [Fraction(0), Fraction(0)]
    text = written(number).exact.replace("− ", "−").replace("+ ", "")
    for part in text.split(" "):
        sign, body = (-1, part[1:]) if part.startswith("−") else (1, part)
        place = int(root in body)
        top, _, bottom = body.replace(root, "").partition("/")
        found[place] += sign * Fraction(int(top or 1), int(bottom or 1))
    assert found == [a, b]


def test_sentences_keep_words_and_mathematics_apart():
    said = say("start {} = {} of a_b & c", math("x₀", "x_0"), written(Fraction(1, 2)))
    assert said.text == "start x₀ = 1/2 of a_b & c"
    assert said.latex == r"start $x_0$ = $\frac{1}{2}$ of a\_b \& c"
    assert words("100 % {} of ₿").latex == r"100 \% \{\} of \texttt{U+20BF}"
    assert tex("x ≤ 1") == r"x $\le$ 1"


def test_sums_and_equal_functions():
    x = coordinate(0, 1)
    assert linear([(Fraction(1), x)], Fraction(-3)).text == "x − 3"
    assert linear([(Fraction(-1, 2), x), (Fraction(0), x)], 0).text == "−1/2·x"
    assert linear([], 0).text == "0"
    assert linear([(surd(1, 1, 2), x)]).text == "(1 + √2)·x"
    assert linear([(Fraction(2), math("1", "1"))]).latex == r"2 \cdot 1"
    assert vector([rational(1), rational(2)]).text == "(1, 2)"
    both = functions([math("|x|", "|x|"), math("x²", "x^2"), math("|x|", "|x|")])
    assert [one.text for one in both] == ["f_0(x) = f_2(x) = |x|", "f_1(x) = x²"]


def text_of(left, right, relation):
    return [step.written().text for step in steps(left, right, relation)]


def test_a_root_is_isolated_and_squared():
    left, right = surd(1, Fraction(-1, 160), 15), surd(0, Fraction(1, 4), 15)
    assert text_of(left, right, ">") == ["1 − √15/160 > √15/4", "160 > 41√15", "25600 > 25215"]
    assert text_of(rational(1), surd(0, Fraction(1, 60), 3570), ">") == ["1 > √3570/60", "60 > √3570", "3600 > 3570"]
    # Where both sides are negative, the larger one is that of the smaller square.
    assert text_of(surd(-1, 1, 2), rational(0), ">") == ["−1 + √2 > 0", "√2 > 1", "2 > 1"]
    assert text_of(surd(-3, 1, 2), rational(-1), "≤") == ["−3 + √2 ≤ −1", "√2 ≤ 2", "2 ≤ 4"]
    # Where signs tell there is nothing to square.
    assert text_of(surd(1, 1, 2), rational(0), ">") == ["1 + √2 > 0", "1 > −√2"]


def test_fractions_are_multiplied_by_their_denominators():
    assert text_of(rational(36), rational(Fraction(5202, 169)), ">") == ["36 > 5202/169", "338 > 289"]
    assert text_of(rational(1), rational(2), "≤") == ["1 ≤ 2"]
    assert text_of(surd(2, 1, 2), surd(1, 1, 2), ">") == ["2 + √2 > 1 + √2", "1 > 0"]


def test_two_roots_and_long_numbers_have_no_steps():
    assert steps(surd(0, 1, 2), surd(0, 1, 3), "≤") == []
    assert steps(rational(Fraction(10**30, 10**30 - 1)), rational(1), ">") == []


@given(fractions, fractions, fractions, fractions, roots)
def test_every_step_of_every_chain_is_true_in_balls(a, b, c, d, r):
    left, right = surd(a, b, r), surd(c, d, r)
    above = numbers.sign(left - right) > 0
    chain = steps(left, right, ">" if above else "≤")
    assert chain[:1] == [] or numbers.sign(chain[0].left - left) == 0
    with digits(300):
        for step in chain:
            assert step.true
            gap = ball(step.left) - ball(step.right)
            assert not (gap < 0 if above else gap > 0)
            assert max(len(written(side).text) for side in (step.left, step.right)) <= LONGEST


@given(st.floats(0.01, 1e3))
def test_a_number_of_a_case_is_written_with_all_its_digits(value):
    number = Fraction(repr(value))
    found = written(number)
    assert not found.near
    assert Fraction(found.text) == number


@given(fractions, fractions)
def test_decimals_lie_between_both_sides(a, b):
    above = a > b
    with digits(128):
        found = between(ball(rational(a)), ball(rational(b)), ">" if above else "≤")
        if a == b:
            return
        assert isinstance(found, Between)
        if above:
            assert a >= found.low > found.high >= b
        else:
            assert a <= found.low <= found.high <= b


def test_decimals_of_small_numbers_share_a_power_of_ten():
    with digits(128):
        left, right = (ball(rational(Fraction(1, n * 10**9))) for n in (3, 4))
        found = between(left, right, ">")
        assert found.written().text == "left ≥ 3.33333·10⁻¹⁰ > 2.50001·10⁻¹⁰ ≥ right"
        assert between(left, left, ">") is None
