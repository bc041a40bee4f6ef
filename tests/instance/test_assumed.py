"""Inequalities at every x, for a problem and numbers: certified, refuted by a point, or somebody's word."""

from fractions import Fraction

import numpy as np
import pytest
from statements import statement

from boundlab.case import problem_from
from boundlab.errors import AssumptionError, SpecError, SymbolError
from boundlab.instance.assumed import certificate, quantities
from boundlab.instance.fitting import CompareOptions
from boundlab.objective.facts import facts

OWN = {"domain": "nonnegative", "units": [0, 0], "side": "upper"}
LOW = {"domain": "positive", "units": [1, -2], "side": "lower"}


def theorem(folder, assume, **symbols):
    """Return a statement whose bound is large, with an inequality and symbols of its own."""
    own = {name: {"meaning": f"the constant {name}", **info} for name, info in symbols.items()}
    parts = "".join(f" + {name}" for name in own)
    bound = {"initial": f"F0*(1 + K)*(2{parts})"}
    return statement(
        folder, assumptions="smooth bounded-below", assume=assume, symbols=own, step={"alpha": "1/L"}, terms=bound
    )


def plan(one, problem, beyond=(), **settings):
    return CompareOptions(one, problem, settings=settings, iterations=3).plan(beyond=beyond)


def reading(found, name):
    return next(one for one in found.symbols if one.name == name)


@pytest.mark.parametrize(
    ("text", "problem", "value"),
    [
        ("slope >= 2*own*gap", "quadratic:A=[[[3,0],[0,20]]],b=[[1,2]],x0=3", 3),
        ("gap >= own*distance", "quadratic:A=[[[3,0],[0,20]]],b=[[1,2]],x0=3", 1.5),
        ("inner >= own*distance", "quadratic:A=[[[3,0],[0,20]]],b=[[1,2]],x0=3", 3),
        ("slope >= own*distance", "quadratic:A=[[[3,0],[0,20]]],b=[[1,2]],x0=3", 9),
        ("own*inner >= slope", "quadratic:A=[[[3,0],[0,20]]],b=[[1,2]],x0=3", None),
    ],
)
def test_the_largest_lower_limit_is_found(tmp_path, text, problem, value):
    one = theorem(tmp_path, {"bound": text}, own=LOW)
    if value is None:  # any from 20 on would do: there is no largest
        with pytest.raises(
            AssumptionError, match=r"no own .* is known with which problem quadratic certainly meets it"
        ):
            plan(one, problem)
        assert reading(plan(one, problem, own="20"), "bound").certified
        return
    found = plan(one, problem)
    assert found.values["own"] == pytest.approx(value, rel=1e-12)
    assert found.values["own"] <= value
    assert reading(found, "own").certified
    assert reading(found, "bound").how.startswith("certified: ")


@pytest.mark.parametrize(
    ("text", "problem", "value"),
    [
        ("slope <= 2*own*gap", "huber:clients=1,x0=2", 1),
        ("variance <= own", "quadratic:A=[[[1,0],[0,2]]],b=[[0,0]],sigma=0.5,x0=3", 0.25),
        ("second_moment <= slope + own", "quadratic:A=[[[1,0],[0,2]]],b=[[0,0]],sigma=0.5,x0=3", 0.25),
        # ∇f_i − ∇f = ±1/2.
        ("mean_i(slope_i) <= slope + own", "quadratic:A=[[[1]],[[1]]],b=[[0],[1]],x0=3", 0.25),
        # One row of (1, 2): L_max = 4, and 4·L_max·gap + 2·sigma_star², of which rounding makes no 0.
        (
            "second_moment <= 2*own*gap + 1",
            "least-squares:features=[[1],[2]],targets=[0,0],clients=1,batch=1,bias=no,scale=none,x0=1",
            8,
        ),
    ],
)
def test_the_smallest_upper_limit_is_found(tmp_path, text, problem, value):
    one = theorem(tmp_path, {"bound": text}, own=OWN)
    found = plan(one, problem)
    assert found.values["own"] == pytest.approx(value, rel=1e-9)
    assert found.values["own"] >= value


def test_several_numbers_are_found_one_after_the_other_and_certified_together(tmp_path):
    """x²/2 with noise of variance 4: A = 0 goes with B = 1 and C = 4, and with A = 1 set with B = 0 and C = 4."""
    one = theorem(tmp_path, {"abc": "second_moment <= 2*A_es*gap + B_es*slope + C_es"}, A_es=OWN, B_es=OWN, C_es=OWN)
    problem = "quadratic:A=[[[1]]],b=[[0]],sigma=2,x0=3"
    found = plan(one, problem).values
    assert (found["A_es"], found["B_es"], found["C_es"]) == (0, 1, 4)
    found = plan(one, problem, A_es="1").values
    assert (found["A_es"], found["B_es"], found["C_es"]) == (1, 0, 4)
    with pytest.raises(AssumptionError, match="assumes abc"):
        plan(one, problem, A_es="0.5", B_es="0.4", C_es="4")


def test_a_point_refutes(tmp_path):
    """|x| − 1/2 beyond 1: at x0 = 2 the gap is 3/2 and the slope 1, so that 2·(1/2)·gap = 3/2 > 1."""
    one = theorem(tmp_path, {"pl": "slope >= 2*own*gap"}, own=LOW)
    with pytest.raises(AssumptionError) as error:
        plan(one, "huber:c=[[0]],w=[[1]],delta=1,x0=2", own="0.5")
    said = "assumes pl (slope >= 2*own*gap) at every x, and at x = [2.] of problem huber the smaller side is 1.5 and"
    assert said in str(error.value)
    assert "the larger one 1" in str(error.value)
    found = plan(one, "huber:c=[[0]],w=[[1]],delta=1,x0=2", own="0.5", beyond=("pl",))
    assert list(found.outside) == ["pl"]
    assert reading(found, "pl").how == "a point refutes it"
    with pytest.raises(SpecError, match="does not assume 'plo'"):
        plan(one, "huber:c=[[0]],w=[[1]],delta=1,x0=2", own="0.5", beyond=("plo",))


def test_points_far_from_the_start_refute_too(tmp_path):
    one = theorem(tmp_path, {"pl": "slope >= 2*own*gap"}, own=LOW)
    with pytest.raises(AssumptionError, match="at every x, and at x = "):
        plan(one, "huber:c=[[0]],w=[[1]],delta=1,x0=0.5", own="0.01")


def test_what_is_neither_shown_nor_refuted_is_a_word(tmp_path):
    one = theorem(tmp_path, {"pl": "slope >= 2*own*gap"}, own=LOW)
    flat = "least-squares:features=[[1,0],[2,0]],targets=[1,2],clients=1,bias=no,scale=none,x0=[3,1]"
    found = plan(one, flat, own="2.4")
    assert not reading(found, "pl").certified
    assert not reading(found, "own").certified
    with pytest.raises(AssumptionError, match="at every x, and at x = "):
        plan(one, flat, own="2.6")


def test_values_that_nothing_bounds_must_be_set(tmp_path):
    one = theorem(tmp_path, {"steep": "inner >= slope/own"}, own={**OWN, "domain": "positive"})
    with pytest.raises(SymbolError, match="needs own: the constant own"):
        plan(one, "huber:clients=1,x0=2")
    assert reading(plan(one, "huber:clients=1,x0=2", own="1"), "steep").certified
    one = theorem(tmp_path, {"one": "slope >= 2*own*gap", "two": "gap >= own*distance"}, own=LOW)
    assert not one.bounded_by
    assert reading(plan(one, "quadratic:A=[[[3]]],b=[[0]],x0=1", own="1.5"), "own").certified is False


def test_on_a_set_it_is_meant_on_the_set(tmp_path):
    """(x − 3)²/2 on [−1, 1]: there slopes are at most 16, and on all of R they have no limit."""
    one = statement(
        tmp_path,
        assumptions="lipschitz minimiser bounded-domain deterministic one-function",
        assume={"steep": "slope <= own"},
        symbols={"own": {"meaning": "limit", **OWN, "units": [2, -2]}},
        terms={"bound": "R**2*L + own*alpha*K"},
        step={"alpha": "alpha"},
    )
    found = plan(one, "quadratic:A=[[[1]]],b=[[3]],x0=0,box=[-1,1]", alpha="0.1")
    assert found.values["own"] == pytest.approx(16)


def test_penalties_and_weights_are_refused(tmp_path):
    one = statement(
        tmp_path,
        assumptions="smooth minimiser composite one-function",
        assume={"growth": "gap >= own*distance"},
        symbols={"own": {"meaning": "growth", **LOW}},
        terms={"bound": "R**2*L*(1 + own/L)"},
        step={"alpha": "1/L"},
    )
    with pytest.raises(
        AssumptionError, match="assumes growth of f, on R\\^d or on a set; the objective of quadratic has"
    ):
        plan(one, "quadratic:A=[[[1]]],b=[[3]],x0=0,l1=0.5")


def test_a_certificate_needs_all_facts():
    known = facts(problem_from("quadratic:A=[[[1,0],[0,4]]],b=[[0,0]],x0=1"))
    goal = {"slope": (1.0, 1.0), "gap": (-2.0, -2.0)}
    assert certificate(goal, known) is not None
    assert certificate({**goal, "gap": (-2.0000001, -2.0)}, known) is None, "the smaller end counts"
    assert certificate({**goal, "inner": (0.0, 1e-9)}, known) is None, "inner may have either sign"
    assert certificate(goal, [one for one in known if one.says.get("gap") != Fraction(-2)][:7]) is None


def test_points_are_enclosed():
    """x₁²/2 + 2x₂² at (1, 1) with noise of variance 1: gap 5/2, slope 17, distance 2, inner 5."""
    problem = problem_from("quadratic:A=[[[1,0],[0,4]]],b=[[0,0]],sigma=1,x0=1")
    found = quantities(problem, np.ones(2))
    for name, value in (
        ("gap", 2.5),
        ("slope", 17),
        ("distance", 2),
        ("inner", 5),
        ("second_moment", 18),
        ("variance", 1),
    ):
        low, high = found[name]
        assert low <= value <= high
        assert high - low < 1e-10
