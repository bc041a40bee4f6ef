"""Inequalities at every x: each that a problem claims holds at points, by numbers that were found another way."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, strategies as st
from problem_makers import EXPLICIT, MODELS, from_text, generated, make, point, sample_gradients, tiny

from boundlab.case import problem_from
from boundlab.instance.assumed import quantities
from boundlab.objective.facts import MEAN_SLOPE, facts
from boundlab.theorems import POINTWISE

KINDS = (*EXPLICIT, *(one for one in MODELS if one != "poisson"), "rows", "flat")
SETS = (
    "quadratic:A=[[[2,1],[1,3]]],b=[[1,2]],sigma=0.3,x0=0.5,ball=1",
    "quadratic:A=[[[2,0],[0,1]],[[1,0],[0,3]]],b=[[0,3],[1,0]],x0=0.5,box=[-1,1]",
    "huber:c=[[0,1],[2,0]],w=[[1,2],[1,1]],delta=0.7,x0=0.5,box=[-1,1]",
    "pseudo-huber:c=[-2,0,4],w=[1,3,1],x0=0.5,box=[-1,1]",
)


def problem_of(kind, seed):
    """Give a random problem: explicit ones have noise, rows are drawn one by one, flat ones have fewer rows than d."""
    if kind == "flat":
        rng = np.random.default_rng(seed)
        rows, targets = rng.normal(size=(2, 3)).round(2), rng.normal(size=2)
        return make(
            "least-squares", features=rows.tolist(), targets=targets.tolist(), clients=1, bias="no", scale="none"
        )
    if kind == "rows":
        return tiny("least-squares", seed, batch=1)
    return generated(kind, seed) if kind in EXPLICIT else tiny(kind, seed)


def second_moment(problem, x):
    """Return the mean over the clients of E‖g_i‖²: of additive noise, of single rows, of full gradients."""
    each = [problem.gradient_part.gradient(client, x) for client in range(problem.n)]
    if problem.noiseless:
        moments = [one @ one for one in each]
    elif getattr(problem, "batch", 0) == 1:
        moments = [float((sample_gradients(problem, i, x) ** 2).sum(axis=1).mean()) for i in range(problem.n)]
    else:
        moments = [one @ one + problem.constants()["sigma"].value ** 2 for one in each]
    return float(np.mean(moments))


def measured(problem, x):
    """Return the quantities in floating point."""
    best, each = problem.optimum(), [problem.gradient_part.gradient(client, x) for client in range(problem.n)]
    slope = np.mean(each, axis=0)
    moment = second_moment(problem, x)
    return {
        "": 1.0,
        "gap": problem.value(x) - best.value,
        "slope": float(slope @ slope),
        "distance": float((x - best.x) @ (x - best.x)),
        "inner": float(slope @ (x - best.x)),
        MEAN_SLOPE: float(np.mean([one @ one for one in each])),
        "second_moment": moment,
        "variance": moment - float(slope @ slope),
    }


def broken(problem, there):
    """Return the facts that numbers contradict by more than rounding and the certificate of the minimiser."""
    best = problem.optimum()
    off = 1e-9 + 10 * (best.gap + (best.distance or 0.0))
    out = []
    for fact in facts(problem):
        parts = [float(times) * there[name] for name, times in fact.says.items()]
        if sum(parts) < -off * (1.0 + sum(map(abs, parts))):
            out.append((fact, sum(parts)))
    return out


@pytest.mark.sweep(16)
@pytest.mark.parametrize("kind", KINDS)
@given(seed=st.integers(0, 60), scale=st.sampled_from([0.1, 1.0, 3.0, 100.0]))
def test_every_fact_holds_at_every_point(kind, seed, scale):
    problem = problem_of(kind, seed)
    x = point(problem, seed, scale)
    assert not broken(problem, measured(problem, x))


@pytest.mark.sweep(16)
@pytest.mark.parametrize("kind", KINDS)
@given(seed=st.integers(0, 60))
def test_what_encloses_the_quantities_holds_the_numbers(kind, seed):
    problem = problem_of(kind, seed)
    x = point(problem, seed)
    there, ends = measured(problem, x), quantities(problem, x)
    assert there.keys() == ends.keys() == {"", *POINTWISE}
    for name, (low, high) in ends.items():
        room = 1e-9 * (1.0 + abs(there[name]))
        assert low - room <= there[name] <= high + room, name


@pytest.mark.sweep(4)
@pytest.mark.parametrize("text", SETS)
@given(seed=st.integers(0, 60), share=st.floats(0, 1))
def test_on_a_bounded_set_facts_hold_at_its_points(text, seed, share):
    problem = problem_from(text).on_domain()
    x = point(problem, seed)
    x *= share / max(1.0, float(np.linalg.norm(x)))
    assert not broken(problem, measured(problem, x))


def test_on_a_bounded_set_no_fact_reads_the_gradient_at_the_minimiser():
    """(x − 3)²/2 on [−1, 1] from 0: x* = 1 has the slope 4, so that slope ≤ 2L·gap is false there."""
    problem = problem_from("quadratic:A=[[[1]]],b=[[3]],x0=0,box=[-1,1]").on_domain()
    bounded = [fact for fact in facts(problem) if fact.says.keys() == {"gap", "slope"}]
    assert not bounded
    assert [fact.says for fact in facts(problem) if fact.says.keys() == {"", "distance"}] == [
        {"": Fraction(4), "distance": Fraction(-1)}
    ]


def test_few_rows_have_the_pl_constant_of_their_gram_matrix():
    """Rows (1, 0, 1) and (1, 2, 0) of one client: CCᵀ = (2 1; 1 5)/2, whose smaller eigenvalue is (7 − √13)/4."""
    problem = from_text("least-squares:features=[[1,0,1],[1,2,0]],targets=[0,1],clients=1,bias=no,scale=none,x0=1")
    (found,) = (
        -fact.says["gap"] / 2
        for fact in facts(problem)
        if fact.says.keys() == {"slope", "gap"} and fact.says["gap"] < 0
    )
    assert (7 - 13**0.5) / 4 - 1e-12 < found < (7 - 13**0.5) / 4


def test_the_mean_may_be_curved_where_no_client_is():
    """x₁²/2 and x₂²/2: their mean has the curvature 1/2."""
    problem = make("quadratic", A=[[[1, 0], [0, 0]], [[0, 0], [0, 1]]], b=[[0, 0], [0, 0]], x0=1)
    assert problem.why_not("strongly-convex")
    (found,) = (fact.says for fact in facts(problem) if fact.why.startswith("‖∇f‖² ≥"))
    assert 1 - 1e-12 < -found["gap"] < 1


def test_facts_are_about_the_quantities_that_files_know():
    names = {
        name for kind, seed in product(KINDS, (0, 1)) for fact in facts(problem_of(kind, seed)) for name in fact.says
    }
    assert names == {"", *POINTWISE}
