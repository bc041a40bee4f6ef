"""The twins of a problem in fractions and in balls are the problem: values, steps, constants, minimum, rounding."""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from problem_makers import make

from boundlab.arithmetic import numbers
from boundlab.arithmetic.numbers import InexactError, exact_array
from boundlab.errors import AssumptionError
from boundlab.objective import OF_OBJECTIVE, Problem
from boundlab.registry import registered
from boundlab.testing._check import at_most, equal
from boundlab.testing._problem import SamplePoints

pytest.importorskip("flint")

SIZE = Fraction(1, 4)
EXAMPLES = [(name, dict(one)) for name, family in registered("problems").items() for one in family.examples]
PROBLEMS = pytest.mark.parametrize(("name", "options"), EXAMPLES, ids=str)


def sampled(name: str, options: dict[str, Any]) -> tuple[Problem, SamplePoints]:
    problem = make(name, **options)
    return problem, SamplePoints(problem, 1.0, name)


def floats(x: Iterable[Any]) -> list[float]:
    return [float(numbers.fraction(entry)) for entry in x]


@pytest.mark.sweep(5)
@PROBLEMS
def test_fractions_give_the_values_steps_and_forms_of_floats(name: str, options: dict[str, Any]) -> None:
    problem, at = sampled(name, options)
    twin = problem.rational({key: value for key, value in problem.spec().items() if key != "type"})
    if twin is None:
        return
    equal("x0", np.array(twin.x0, dtype=float), problem.x0)
    step = numbers.rational(SIZE)
    for place in (0, 3, 6):
        x, point = at.points[place], exact_array(at.points[place])
        equal("value(x)", floats([twin.value(point)]), at.values[place : place + 1], scale=at.largest)
        for client, slope in enumerate(at.gradients[:, place]):
            reach = float(np.linalg.norm(x)) + at.steepest
            equal("gradient(i, x)", floats(twin.gradient(client, point)), slope, scale=at.steepest)
            equal("descend(i, x)", floats(twin.descend(client, point, step)), x - float(SIZE) * slope, scale=reach)
            try:
                pair = floats(twin.prox(client, point, step)), problem.prox(client, x, float(SIZE))
            except (AssumptionError, InexactError):
                continue
            equal("prox(i, x)", *pair, scale=reach)
    forms = [(one.quadratic(), one.least_squares()) for one in (twin, problem)]
    assert [one is None for one in forms[0]] == [one is None for one in forms[1]]
    if forms[1][0] is not None:
        equal("A", np.array(forms[0][0].A, dtype=float), forms[1][0].A)
        equal("b", np.array(forms[0][0].b, dtype=float), forms[1][0].b)
        equal("covariance", np.array(forms[0][0].covariance(), dtype=float), forms[1][0].covariance())


@pytest.mark.sweep(8)
@PROBLEMS
def test_constants_in_fractions_are_on_the_right_side_of_certified_ones(name: str, options: dict[str, Any]) -> None:
    problem, at = sampled(name, options)
    twin, known, best = problem.rational(problem.spec() | options), problem.constants(), at.optimum
    certain = best is not None and best.distance is not None
    for one, value in {} if twin is None else twin.constants().items():
        if one in known and (certain or one not in OF_OBJECTIVE):  # the twin may have a minimiser of its own
            sign = -1.0 if known[one].side == "lower" else 1.0
            at_most(one, sign * float(value), sign * known[one].value)
            if known[one].side == "exact":
                equal(one, float(value), known[one].value)
    least = None if twin is None else twin.minimum()
    if least is not None and best is not None:
        at_most("f* ≤ the certified one", float(least.value), best.value, scale=at.largest)
        at_most("the certified f* ≤ f* + gap", best.value, float(least.value) + best.gap, scale=at.largest)


@pytest.mark.sweep(22)
@PROBLEMS
@pytest.mark.parametrize("scale", [1.0, 1e-4, 1e4])
def test_values_and_gradients_are_as_near_as_is_said(name: str, options: dict[str, Any], scale: float) -> None:
    problem = make(name, **options)
    twin = problem.in_balls()

    def apart(found: Any, exact: Iterable[Any]) -> float:
        off = [float(abs(numbers.ball(b) - float(a)).upper()) for a, b in zip(found, exact, strict=True)]
        return float(np.linalg.norm(off))

    for x in SamplePoints(problem, scale, name).points[[0, 3, 6]]:
        known = problem.rounding(x)
        if twin is None or known is None:
            return
        with numbers.digits(256):
            point = exact_array(x)
            at_most("value(x)", apart([problem.value(x)], [twin.value(point)]), known[0])
            at_most("∇f(x)", apart(problem.full_gradient(x), twin.full_gradient(point)), known[1])
            for client in range(problem.n):
                bounds = problem.step_bounds(client)
                if bounds is not None and not bounds.kinks:
                    lost = apart(problem.gradient(client, x), twin.gradient(client, point))
                    at_most("gradient(i, x)", lost, bounds.error(x, np.linalg.norm(x)))
