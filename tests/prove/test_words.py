"""Claims are shown as they were written, and what is shown says the same as what is proved."""

import random
import re
from fractions import Fraction

import pytest
from hypothesis import given, settings, strategies as st

from boundlab.prove import Expr, Kernel, Scalar, dot, equal, expr, finite_sum, scalar, squared, variable, vector_sum
from boundlab.prove._scalars import ProofError, said
from boundlab.prove._terms import Context, Lin, lin, value_at
from boundlab.prove.settings import setting_of
from boundlab.recheck._terms import Range, Vec
from boundlab.theorems import load_theorem

a, b, k, i, n, K = (variable(name) for name in ("a", "b", "k", "i", "n", "K"))
p = variable("p", i)
star = lin(Vec("star"))


def x(*indices: object) -> Lin:
    return lin(Vec("x", tuple(scalar(one) for one in indices)))  # type: ignore[arg-type]


f = value_at("f", [i], x(k))


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (squared(x(k) - star), "E‖x[k] − x*‖²"),
        (dot(x(k + 1), star - x(2 * k)), "E⟨x[k + 1], x* − x[2·k]⟩"),
        (f, "E f_i(x[k])"),
        (value_at("f", [i + 1], x(k)), "E f[i + 1](x[k])"),
        (value_at("f", [], x(k)), "E f(x[k])"),
        (finite_sum("k", 0, K, f + 1), "Σ_{0 ≤ k < K} (E f_i(x[k]) + 1)"),
        (finite_sum("k", 1, K + 1, -f), "−Σ_{1 ≤ k < K + 1} E f_i(x[k])"),
        (squared(vector_sum("k", 0, K, x(k)) / K - star), "E‖1/K·Σ_{0 ≤ k < K} x[k] − x*‖²"),
    ],
)
def test_products_values_and_sums(value: Expr, words: str) -> None:
    assert str(value) == words


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (f - (f - 1), "E f_i(x[k]) − (E f_i(x[k]) − 1)"),
        ((f - 1) * a, "a·(E f_i(x[k]) − 1)"),
        (f * a * b, "b·a·E f_i(x[k])"),
        (f * (1 - a), "(−a + 1)·E f_i(x[k])"),
        (f / (n * p), "E f_i(x[k])/(n·p[i])"),
        (f / (1 - a), "−1/(a − 1)·E f_i(x[k])"),
        (f * (a / 2) - f * (-a), "a/2·E f_i(x[k]) + a·E f_i(x[k])"),
        (finite_sum("k", 0, K, f) / k, "1/k·Σ_{0 ≤ k < K} E f_i(x[k])"),
        (-(f + f), "−(E f_i(x[k]) + E f_i(x[k]))"),
        (f * 0, "0"),
        (f - f, "E f_i(x[k]) − E f_i(x[k])"),
    ],
)
def test_multiples_and_brackets(value: Expr, words: str) -> None:
    assert str(value) == words


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (a**2 / 2 - b * a, "a²/2 − a·b"),
        (3 / (a * b), "3/(a·b)"),
        (a / 4 / (K * a + 1), "a/(4·(K·a + 1))"),
        ((a + 1) / (K * a + 1), "(a + 1)/(K·a + 1)"),
        (a ** (2 * k) / p**k, "a^(2·k)/p[i]^k"),
        (a**12, "a¹²"),
    ],
)
def test_numbers(value: Scalar, words: str) -> None:
    assert str(expr(value)) == words


POINT = {"a": Fraction(3, 2), "b": Fraction(-2, 5), "n": Fraction(7)}


def _in_python(words: str) -> str:
    text = words.translate(str.maketrans("·−", "*-"))
    for digit, power in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹"):
        text = text.replace(power, f"**{digit}")
    return text


@pytest.mark.nightly
@settings(max_examples=300, deadline=None)
@given(st.integers(0, 10**6))
def test_what_is_shown_has_the_value_of_what_was_written(seed: int) -> None:
    source = random.Random(seed)  # noqa: S311  (a test, no secret)

    def number(depth: int) -> tuple[object, Fraction]:
        kind = source.randint(0, 5) if depth else source.randint(4, 5)
        if kind > 4:
            own = Fraction(source.randint(-4, 4) or 1, source.randint(1, 3))
            return scalar(own), own
        if kind == 4:
            name = source.choice("abn")
            return variable(name), POINT[name]
        (one, u), (two, v) = number(depth - 1), number(depth - 1)
        if kind == 3:
            return (one, u) if not v or not two else (one / two, u / v)  # type: ignore[operator,attr-defined]
        both = ((one + two, u + v), (one - two, u - v), (one * two, u * v))  # type: ignore[operator]
        return both[kind]

    def built(depth: int) -> tuple[Expr, Fraction]:
        if not depth:
            own, size = number(2)
            return expr(own), size  # type: ignore[arg-type]
        one, u = built(depth - 1)
        if source.random() < 0.4:
            own, size = number(1)
            return one * own, u * size  # type: ignore[operator]
        two, v = built(depth - 1)
        return (one + two, u + v) if source.random() < 0.5 else (one - two, u - v)

    made, value = built(3)
    whole = re.sub(r"(?<!\d)(?<!\*\*)\d+", r"Fraction(\g<0>)", _in_python(str(made)))  # but for exponents
    assert eval(whole, {"Fraction": Fraction, **POINT}) == value  # noqa: S307  (text that was just made)


# ---------------------------------------------------------------------- settings, and what was transformed


def test_the_objective_and_means_over_clients() -> None:
    s = setting_of(load_theorem("classics.gd.convex"))
    gap = s.objective(s.x(s.k)) - s.objective(s.star)
    mean = s.mean_vector(lambda j: s.g(j, s.k))
    assert str(gap * (2 * s.alpha)) == "2·alpha·(E f(x[k]) − E f(x*))"
    assert str(dot(mean, s.star)) == "E⟨1/n·Σ_{0 ≤ i < n} g[i, k], x*⟩"
    assert str(s.mean(lambda j: s.part(j, s.star))) == "1/n·Σ_{0 ≤ i < n} E f_i(x*)"


def test_the_form_that_is_decided_upon_stays_at_hand() -> None:
    claim = squared(x(k) - star) <= expr(a)
    assert str(claim) == "E‖x[k] − x*‖² ≤ a"
    assert repr(claim) == "E‖star‖² - 2·E⟨star, x[k]⟩ + E‖x[k]‖² ≤ a"
    assert str(claim.body) == "a - E‖star‖² + 2·E⟨star, x[k]⟩ - E‖x[k]‖²"
    # An instance is a new statement, which nobody has written.
    assert str(claim.put({"k": scalar(0)})) == "E‖star‖² - 2·E⟨star, x[0]⟩ + E‖x[0]‖² ≤ a"
    # Where one side was written, the other is shown in the same letters.
    assert str(equal(squared(x(k) - star).put({"k": scalar(0)}), expr(a * b))) == (
        "E‖x*‖² − 2·E⟨x*, x[0]⟩ + E‖x[0]‖² = a·b"
    )


def test_what_a_loop_adds_up_does_not_grow_without_end() -> None:
    many = expr(0)
    for number in range(1000):
        many = many + f * number
    assert str(many).startswith("474825·E f_i(x[k]) + 975·E f_i(x[k])")
    assert repr(many) == "499500·E f[i](x[k])"


def test_words_decide_nothing() -> None:
    kernel = Kernel(Context())
    own = kernel.context.declare("a", Range(low=scalar(0)))
    written, plain = expr(own) + own, expr(2 * own)
    assert str(written) == "a + a"
    assert kernel.combine(equal(written, plain), []).claim.body.terms == {}


def test_a_proof_has_no_say_in_what_its_claims_look_like() -> None:
    with pytest.raises(ProofError, match="for the rules of the kernel"):
        Expr({}, said("number", scalar(1)))
    with pytest.raises(ProofError, match="for the rules of the kernel"):
        Lin({}, said("vector", Vec("x")))
    with pytest.raises(AttributeError, match="cannot be changed"):
        f.said = None
