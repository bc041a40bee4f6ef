"""The formula behind a constant, read by nothing of ours, gives the constant."""

import math
import re
from fractions import Fraction
from typing import Any

import pytest
import sympy
from hypothesis import given, strategies as st

import boundlab as bl
from boundlab.arithmetic.problem import RationalProblem
from boundlab.arithmetic.writing import Reason
from boundlab.case import problem_from
from boundlab.objective.weighted import Weighted
from boundlab.registry import registered

numbers = st.fractions(min_value=-3, max_value=3, max_denominator=4)
positive = st.fractions(min_value=Fraction(1, 4), max_value=3, max_denominator=4)
sizes = st.sampled_from(["0", "1", "1/2", "2/3"])


def value_of(text: str) -> sympy.Expr:
    """Return what a formula in numbers is, as Python reads it."""
    for sign, python in (("−", "-"), ("·", "*"), ("²", "**2"), ("√", "sqrt")):
        text = text.replace(sign, python)
    text = re.sub(r"\|([^|]*)\|", r"Abs(\1)", text)
    text = re.sub(r"\d+", r"Integer(\g<0>)", text).replace("**Integer(2)", "**2")
    names = {"Integer": sympy.Integer, "Abs": sympy.Abs, "sqrt": sympy.sqrt, "max": sympy.Max, "min": sympy.Min}
    return eval(text, {"__builtins__": {}}, names)  # noqa: S307  (the text is ours)


def listed(values: list[Any]) -> str:
    return "[" + ",".join(str(one) for one in values) + "]"


def check(model: RationalProblem, names: set[str]) -> None:
    """Compare every formula with its constant, and see that those are there which are asked for."""
    constants, reasons = model.constants(), model.reasons()
    assert names <= constants.keys() & reasons.keys()
    for name in constants.keys() & reasons.keys():
        why: Reason = reasons[name]
        assert why.formula.text
        assert why.formula.text.count("(") == why.formula.text.count(")")
        if why.numbers is not None:
            assert sympy.simplify(value_of(why.numbers.exact) - constants[name]) == 0, (name, why.numbers.text)


def model_of(kind: str, **options: str) -> RationalProblem:
    problem = problem_from({"type": kind, **options})
    found = problem.rational(options)
    assert found is not None
    return found


@given(st.lists(st.tuples(numbers, positive), min_size=1, max_size=3), positive, numbers, sizes, st.booleans())
def test_formulas_of_huber_losses_and_of_absolute_values_give_their_constants(
    pairs: list[tuple[Fraction, Fraction]], delta: Fraction, start: Fraction, sigma: str, kinks: bool
) -> None:
    given = {"c": listed([c for c, _ in pairs]), "w": listed([w for _, w in pairs]), "x0": f"[{start}]", "sigma": sigma}
    names = {"B", "G_sq", "G", "sigma", "sigma_l", "R", "F0", "sigma_g", "sigma_g_mean"}
    if kinks:
        check(model_of("lad", **given), names)
    else:
        check(model_of("huber", delta=str(delta), **given), names | {"L", "L_sq", "zeta"})


@given(st.lists(st.tuples(st.integers(1, 12), st.integers(-9, 9)), min_size=1, max_size=3), numbers, sizes)
def test_formulas_of_parabolas_give_their_constants(pairs: list[tuple[int, int]], start: Fraction, sigma: str) -> None:
    model = model_of(
        "quadratic",
        A=listed([[[a / 4]] for a, _ in pairs]),
        b=listed([[b / 4] for _, b in pairs]),
        x0=f"[{start}]",
        sigma=sigma,
    )
    check(model, {"L", "L_sq", "mu", "zeta", "R", "F0", "sigma"})


def test_formulas_in_a_plane_give_their_constants() -> None:
    options = {"c": "[[0,1],[1,2]]", "w": "[[0.4,1.5],[1,0]]", "delta": "3/4", "x0": "[1,1]", "sigma": "2/3"}
    check(model_of("huber", **options), {"B", "G_sq", "G", "L", "L_sq", "R", "F0"})
    slopes = {"a": "[[[0.4,-1.5],[0,-1]]]", "b": "[[0,1]]", "x0": "[0,0]", "sigma": "3/2"}
    check(model_of("max-affine", **slopes), {"B", "G_sq", "G"})


@pytest.mark.parametrize("more", [{"l1": "1/3"}, {"box": "[-1,2]"}, {"ball": "3"}])
def test_formulas_of_what_is_minimised_beside_a_simple_function_give_its_constants(more: dict[str, str]) -> None:
    options = {"c": "[0,1]", "w": "[1,1/2]", "delta": "2", "x0": "[2]", "sigma": "0"}
    check(model_of("huber", **options, **more), {"L"})


def test_formulas_of_a_weighted_objective_give_its_constants() -> None:
    problem = bl.problem("huber:c=[0,1,3],w=[1,2,0.5],delta=2,x0=2,sigma=0")
    shares = (Fraction(1, 5), Fraction(1, 2), Fraction(3, 10))
    scaled = problem.scaled([problem.n * one for one in shares])
    assert scaled is not None
    model = Weighted(problem, scaled, shares).rational({})
    assert model is not None
    check(model, {"L", "R", "F0"})


@pytest.mark.parametrize("name", registered("problems"))
def test_formulas_of_every_problem_that_has_a_rational_form_give_its_constants(name: str) -> None:
    try:
        problem = bl.problem(name)
        model = problem.rational({})
    except bl.BoundlabError:
        pytest.skip("it needs options, or data")
    if model is None:
        pytest.skip("it has no rational form")
    check(model, set())


def test_a_number_that_is_no_short_fraction_is_not_written_out_as_if_it_were() -> None:
    model = model_of("huber", c="[0]", w=f"[{math.pi!r}{'1' * 30}]", x0="[1]", sigma="0", delta="1")
    assert model.reasons()["L"].numbers is None


def test_a_formula_names_no_point_that_is_shortened_and_no_number() -> None:
    model = model_of("huber", c=f"[0,0.{'3' * 30}]", w="[1,1]", x0="[0]", sigma="0", delta="0.7")
    assert model.constants().keys() > {"sigma_g", "sigma_g_mean", "zeta", "R", "F0"}
    for name, why in model.reasons().items():
        assert not any(one.near for one in why.parts), name
