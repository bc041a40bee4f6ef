"""What planted errors in the checker went unseen by: symbols replaced together, hypotheses, cases in words."""

import copy
import json
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from proof_files import file_of

from boundlab.prove import Context, Kernel, Proof, ProofError, Script, expr, finite_sum, run
from boundlab.prove._scalars import scalar, variable
from boundlab.prove._writing import refuted
from boundlab.prove.trace import trace, with_points
from boundlab.recheck import SCHEMA, _numbers, recheck_loaded
from boundlab.recheck._forms import WrongError, as_list
from boundlab.recheck._numbers import _SPENT, ONE, ZERO, Number, Symbol, begin, of, rational
from boundlab.recheck._terms import UNIT, Open, Range, Vec, dot, plus, replaced, times, total, vector
from boundlab.recheck.kernel import recheck_proof

A, B, X, Y = (of(Symbol(name)) for name in "abxy")


def at(number: Number, **values: int) -> Fraction:
    """The value of a number at whole values of its symbols."""
    found = number.put({name: rational(value) for name, value in values.items()}).constant
    assert found is not None
    return Fraction(found)


@pytest.mark.parametrize("quotient", [(A + 1) / (B + 1), 1 / (A + B), (A + 1) / (A * B + 2)])
@pytest.mark.parametrize("plain", [A + 2, A, rational(3), A * B])
@pytest.mark.parametrize("number", [X * Y + Y, X + Y**2, X / Y, (X + Y) / (X * Y + 1)])
def test_a_quotient_and_a_sum_take_the_place_of_two_symbols_at_once(
    number: Number, plain: Number, quotient: Number
) -> None:
    for one, other in ((quotient, plain), (plain, quotient)):
        both = number.put({"x": one, "y": other})
        for a, b in ((1, 2), (3, 1), (2, 5)):
            x, y = at(one, a=a, b=b), at(other, a=a, b=b)
            assert at(both, a=a, b=b) == at(number.put({"x": rational(x), "y": rational(y)}), a=a, b=b)


@pytest.mark.parametrize("high", [None, 9])
def test_a_symbol_stays_whole_where_a_claim_about_it_is_supposed(high: int | None) -> None:
    kernel = Kernel(Context())
    end = None if high is None else scalar(high)
    k = kernel.context.declare("k", Range(low=ZERO, high=end, integer=True))
    supposed = kernel.suppose(expr(k * k) >= 0, "k")
    known = supposed.context.find("k")
    assert known is not None
    assert known.integer
    # The step goes from k to k + 1, and no further than the end.
    assert known.high is None if high is None else known.high == scalar(high) - ONE
    assert supposed.context.checked.integer(variable("k"))


def test_a_conclusion_of_cases_says_which_ones() -> None:
    found = recheck_proof(file_of("classics.gd.strongly-convex"))
    assert "where 0 ≤ q, 0 < alpha ≤ (2)/(L + mu): " in found.reason
    assert "where 0 ≤ r, (2)/(L + mu) ≤ alpha" in found.reason


@pytest.mark.parametrize(("small", "large"), [("a", "b"), ("b", "a")])
def test_a_quotient_of_a_denominator_below_0_shows_no_sign(small: str, large: str) -> None:
    """X ≥ 1/(s − l), where s ≤ 1 and l ≥ 2, may be negative."""
    context = Context()
    below = context.declare(small, Range(low=ZERO, high=ONE))
    above = context.declare(large, Range(low=scalar(2), high=scalar(3)))
    x = context.declare("x", Range(low=1 / (below - above)))
    assert not context.nonnegative(x)


@pytest.mark.parametrize(("outer", "inner"), [("i", "j"), ("j", "i"), ("I", "a"), ("a", "I")])
def test_an_index_that_the_end_of_an_inner_sum_names_is_bound(outer: str, inner: str) -> None:
    """Σ_{i < n} Σ_{j < i} c(i, j)·d(j) has one form, whatever its indices are called."""
    i, j, n = (of(Symbol(name)) for name in (outer, inner, "n"))
    weight = of(Symbol("c", (i, j))) * of(Symbol("d", (j,)))
    ((triangle, factor),) = Open(((outer, ZERO, n), (inner, ZERO, i)), weight, UNIT).closed().items()
    assert factor == ONE
    assert triangle.names() == {"n", "c", "d"}
    assert triangle.opened().closed() == {triangle: ONE}


def test_a_sum_does_not_divide_by_what_its_index_stands_in() -> None:
    kernel = Kernel(Context())
    K, k = (kernel.context.declare(name, Range(low=ONE, integer=True)) for name in ("K", "k"))
    with pytest.raises(ProofError, match="divides by"):
        kernel.combine(finite_sum("j", 0, K, expr(1 / (variable("j") + k))) >= 0, [])


def test_a_symbol_whose_line_does_not_exist_is_no_crash() -> None:
    raw = file_of("classics.gd.strongly-convex")
    first, *others = raw["symbols"]
    for line in (len(raw["facts"]), len(raw["facts"]) + 7):
        found = recheck_proof({**raw, "symbols": [{**first, "by": line}, *others]})
        assert not found.right


QUOTIENTS = (1 / (A + 1), 2 / (A + 1), A / (A + 1), 1 / (B + 1), (A + 1) / (B + 1), 1 / (A + B))


def test_quotients_are_equal_where_their_difference_is_0_alone() -> None:
    assert [(one, other) for one, other in combinations(QUOTIENTS, 2) if one == other] == []
    assert all(one == (one * (X + 1) + A) / (X + 1) - A / (X + 1) for one in QUOTIENTS)


def two_splits(proof: Proof) -> None:
    """(x − 1/(a + 1))·(x − 2/(a + 1)) ≥ 0 where x is at most the one, and where it is at least the other."""
    kernel, context = proof.kernel, proof.kernel.context
    a, x = (context.declare(name, Range(low=ZERO)) for name in "ax")
    ends = [scalar(top) / (a + 1) for top in (1, 2)]
    claim = expr((x - ends[0]) * (x - ends[1])) >= 0
    cases = [kernel.split("x", end)[which] for which, end in enumerate(ends)]
    below, above = (kernel.combine(claim, [], case) for case in cases)
    proof.rule("below", None, lambda: below)
    proof.rule("above", None, lambda: above)
    with pytest.raises(ProofError, match="do not belong to the two cases of one split"):
        kernel.join(below, above)


def test_cases_of_splits_at_two_quotients_are_not_everything() -> None:
    raw = trace(run(Script("two splits", "", "", two_splits)))
    assert [one["status"] for one in raw["steps"]] == ["proved", "proved"]
    found = recheck_proof({**raw, "conclusions": [one["fact"] for one in raw["steps"]]})
    assert found.reason == "a conclusion holds in one case only"


def test_a_chord_between_other_exponents_that_are_quotients_is_refused() -> None:
    """e^(1/(c + 1)) ≤ (1 + e^(1/(c + 2)))/2 is false: the half of 1/(c + 2) is another number."""
    raw = json.loads((Path(__file__).parent / "wrong" / "exp-chord.json").read_text(encoding="utf-8"))["right"]
    for name, more in (("w", "1"), ("d", "2")):
        own = next(one for one in raw["symbols"] if one["name"] == name)
        own["exponent"] = {"top": [["1", []]], "below": [[[["1", [["c", 1]]], [more, []]], 1]]}
    chord = next(line for line in raw["facts"] if line["rule"] == "exp chord")
    found = recheck_proof({**raw, "facts": [chord], "conclusions": [0]})
    assert "the exponent of w is" in found.reason
    assert not found.right


@pytest.mark.parametrize("integer", [True, False])
@pytest.mark.parametrize("end", ["low", "high"])
@pytest.mark.parametrize(("above", "below"), [(False, False), (True, False), (False, True)])
@pytest.mark.parametrize("turned", [False, True])
def test_where_a_range_is_empty_nothing_is_false(
    turned: bool, above: bool, below: bool, end: str, integer: bool
) -> None:
    """Between n and 5 there is no k for n = 6, between 5 and n none for n = 4: no point refutes what is not shown."""
    context = Context()
    n = context.declare("n", Range(low=ZERO, above=True, integer=True))
    low, high = (scalar(5), n) if turned else (n, scalar(5))
    k = context.declare("k", Range(low=low, high=high, above=above, below=below, integer=integer))
    unshown = (1 + (k - 1) ** 2) * (1 + (k - 6) ** 2)  # positive, which no coefficients say
    inside, strict = (k - low, above) if end == "low" else (high - k, below)
    context.checked.need(inside * unshown, "what is true", strict=strict)
    (sign,) = context.checked.left.values()
    assert refuted(sign) == ""


def forged(value: Any) -> dict[str, Any]:
    """Return a small proof that names another number."""
    raw = copy.deepcopy(file_of("small.bernoulli"))
    raw["facts"][0]["data"]["value"] = value
    return raw


def nested(depth: int) -> dict[str, Any]:
    one: Any = "k"
    for _ in range(depth):
        one = ["u", [[["1", [[one, 1]]]]], None]
    return {"top": [["1", [[one, 1]]]]}


MUCH = {"top": [["1", []]], "below": [[[["1", [["a", 1], ["k", place]]] for place in range(400)], 900]]}


@pytest.mark.parametrize(
    ("value", "verdict", "reason"),
    [
        ({"top": []}, "rejected", "b = 0 may lie outside its range"),
        (nested(400), "rejected", "nested too deeply"),
        (MUCH, "not decided", "it is not checked to its end"),
    ],
)
def test_whatever_comes_of_a_proof_it_is_one_of_a_proof_and_no_line_is_counted_that_was_not_checked(
    value: Any, verdict: str, reason: str
) -> None:
    found = with_points(forged(value), recheck_proof(forged(value)))
    assert (found.verdict, found.proof, found.checked) == (verdict, True, 0)
    assert reason in found.reason


def test_of_a_wrong_certificate_no_line_is_counted() -> None:
    found = recheck_loaded({"schema": SCHEMA, "kind": "upper"})
    assert (found.verdict, found.proof, found.checked) == ("rejected", False, 0)


# ---------------------------------------------------------------------- work

MANY = 50
SUM, OTHER = (sum((X.power(place) for place in range(MANY)), start=rational(more)) for more in (0, 1))
LONG = rational(3**8000)
SQUARE, PRODUCT, FLAT = SUM * SUM, SUM * OTHER, (X**9 - 1) / (X - 1) * (Y**9 - 1) / (Y - 1)


def spent() -> int:
    """Return how many steps were taken since work is counted."""
    (steps,) = _SPENT.get() or ()
    return steps


@pytest.mark.parametrize(
    ("what", "products"),
    [
        (lambda: SUM * OTHER, MANY**2),
        (lambda: (1 / SUM) * (1 / OTHER), MANY**2),
        (lambda: SUM / (1 / OTHER), MANY**2),
        (lambda: (1 / SUM) / OTHER, MANY**2),
        (lambda: 1 / SUM - 1 / OTHER, MANY**2),
        (lambda: SQUARE / PRODUCT, len(list(SQUARE.terms())) ** 2),
        (lambda: FLAT.factors(), len(list(FLAT.terms())) ** 2),
    ],
    ids=["u·v", "(1/u)·(1/v)", "u/(1/v)", "(1/u)/v", "1/u − 1/v", "u²/(u·v)", "factors"],
)
def test_a_step_is_counted_for_each_product_of_two_terms(what: Callable[[], Any], products: int) -> None:
    """However few terms are left of them."""
    begin()
    what()
    assert spent() >= products


@pytest.mark.parametrize(
    "number",
    [LONG, 1 / LONG, LONG * X, LONG * X + LONG * Y, X + LONG * Y, LONG * X + Y],
    ids=["n", "1/n", "nx", "nx+ny", "x+ny", "nx+y"],
)
@pytest.mark.parametrize("count", [30, -30])
@pytest.mark.parametrize("power", [Number.power, lambda base, count: (A**count).put({"a": base})], ids=["^", "put"])
def test_a_step_is_counted_for_each_word_of_a_power(
    power: Callable[[Number, int], Number], count: int, number: Number
) -> None:
    begin()
    found = power(number, count)
    terms = [value for part in (found.upper, found.bottom) for _, value in part.terms()]
    words = sum((value.numerator.bit_length() + value.denominator.bit_length()) // 64 for value in terms)
    assert spent() >= words >= 30 * 198


@pytest.mark.parametrize("symbols", [[], [["a", 1]], [["a", 1], ["k", 2]]])
def test_a_file_that_asks_for_millions_of_digits_is_not_checked_to_its_end(
    symbols: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It holds 4,000 of them; without a limit, a file of 9 MB fills 4 GB."""
    monkeypatch.setattr(_numbers, "MOST", 100_000)
    found = recheck_proof(forged({"top": [["1", []]], "below": [[[["7" * 4000, symbols]], 1000]]}))
    assert found.verdict == "not decided"
    assert "steps of work" in found.reason


@pytest.mark.parametrize(
    "names", [[], ["\x1b[2J"], ["convex", "\x1b[2J"], ["\x1b[2J", "convex"], ["con\nvex", "smooth"]]
)
def test_every_assumption_of_an_axiom_has_a_name_that_can_be_shown(names: list[str]) -> None:
    raw = copy.deepcopy(file_of("classics.gd.convex"))
    line = next(one for one in raw["facts"] if one["rule"] == "axiom" and one["axioms"])
    line["axioms"] = names
    found = recheck_proof(raw)
    assert (found.verdict, "an assumption has a name" in found.reason) == ("rejected", True)


def test_a_sum_has_one_form_wherever_its_outer_index_is_named() -> None:
    """Σ_{0≤a<n} Σ_{0≤b<a} a·b² is one sum, with its ranges in either order."""
    n, a, b = (of(Symbol(name)) for name in "nab")
    ranges = (("a", ZERO, n), ("b", ZERO, a))
    assert Open(ranges, a * b**2, UNIT).closed() == Open(ranges[::-1], a * b**2, UNIT).closed()


def test_a_list_is_no_longer_than_is_allowed() -> None:
    assert as_list([0] * 3, "it", most=3) == [0] * 3
    for raw, size in (([0] * 4, None), ([0] * 3, 2), ((0,), None)):
        with pytest.raises(WrongError, match="it must be a list"):
            as_list(raw, "it", size, most=3)


def test_a_vector_is_replaced_under_the_weight_of_its_sum() -> None:
    """Σ (i + 1)·⟨v, u_i⟩ with a·w + z for v is Σ (i + 1)·(a·⟨w, u_i⟩ + ⟨z, u_i⟩)."""
    i, v, w, z = of(Symbol("i")), Vec("v", ()), vector(Vec("w", ())), vector(Vec("z", ()))
    new = plus(times(w, A), z)
    given, wanted = (
        total(times(dot(one, vector(Vec("u", (i,)))), i + 1), "i", ZERO, of(Symbol("n"))) for one in (vector(v), new)
    )
    assert replaced(given, v, new) == wanted


def test_what_may_be_0_is_not_shown_to_be_divided_by() -> None:
    context = Context()
    context.declare("a", Range(low=ZERO))
    context.declare("b", Range(low=ZERO, above=True))
    signs = {name: context.checked.shown(1 / of(Symbol(name)), strict=False) for name in "ab"}
    assert signs == {"a": False, "b": True}


def test_powers_below_are_parted_and_replaced_as_those_above() -> None:
    inside = (1 / (X * (A + 1))).parted(lambda symbol: symbol.name == "x")
    assert list(inside) == [(1 / X, 1 / (A + 1))]
    assert (1 / (X * Y)).put({"x": A + 1, "y": rational(2)}) * (2 * A + 2) == ONE
