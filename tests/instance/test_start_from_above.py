"""R and F0 are numbers of the run: a limit of them from above refutes no bound that falls where they grow."""

import pytest
from run_makers import plan_of
from statements import statement

from boundlab.compare import compare
from boundlab.objective.facts import start_from_below
from boundlab.verdict import Verdict

# With μ = L every f is (L/2)‖x − x*‖² + f*, so that F0 = L·R²/2, and K steps of 1/(3L) leave (4/9)^K of it.
FALLING = (
    "(4/9)**K*L**2*R**4/(4*F0)",
    "(4/9)**K*F0*(1 + R - sqrt(2*F0/L))",
    "(4/9)**K*If(F0 <= mu*R**2/2, F0, 0)",
    "(4/9)**K*Min(F0, L**2*R**4/(4*F0))",
    "(4/9)**K*2*F0**2/(L*R**2)",
)
STARTS = (
    "quadratic:A=[[[3]]],b=[[1]],x0=5",
    "quadratic:A=[[[7]]],b=[[0.1]],x0=0.3",
    "quadratic:A=[[[0.1]]],b=[[0.3]],x0=0.7",
    "quadratic:A=[[[7,0],[0,7]]],b=[[0.1,0.7]],x0=[1,3]",
    "quadratic:A=[[[2,0],[0,2]],[[2,0],[0,2]]],b=[[0.1,0.7],[0.4,-1]],x0=[1,3]",
)


def about_parabolas(folder, bound):
    assumed = "strongly-convex smooth minimiser deterministic"
    fixed = {"conditions": ["L <= mu"], "step": {"alpha": "1/(3*L)"}, "terms": {"bound": bound}}
    return statement(folder, metric="gap", assumptions=assumed, **fixed)


@pytest.mark.parametrize("problem", STARTS)
@pytest.mark.parametrize("bound", FALLING)
def test_a_bound_that_is_attained_is_never_violated_however_it_reads_the_start(bound, problem, tmp_path):
    found = compare(plan_of(about_parabolas(tmp_path, bound), problem, iterations=5), 1, 0)
    assert found.verdict is not Verdict.VIOLATED, found.reason


@pytest.mark.parametrize("problem", STARTS)
@pytest.mark.parametrize("bound", [*FALLING, "(4/9)**K*F0", "(4/9)**K*L*R**2/2"])
def test_a_bound_that_is_too_small_by_more_than_rounding_is_violated(bound, problem, tmp_path):
    # A branch that rounding may take is left out: at a limit from above its bound is 0.
    if "If" in bound:
        return
    found = compare(plan_of(about_parabolas(tmp_path, f"(1 - 2**(-30))*{bound}"), problem, iterations=5), 1, 0)
    assert found.verdict is Verdict.VIOLATED, found.reason


def test_a_limit_far_above_the_gap_refutes_no_bound_that_falls_with_it(tmp_path):
    """Of separable data only f ≥ 0 is known: F0 = f(x0) from above. At F0 = 0, which it is, the bound is 1/2."""
    data = "features=[[1],[-1]],targets=[1,0],owners=[0,0],bias=no,scale=none,nu=0,x0=0"
    given = {"step": {"alpha": "1/L"}, "terms": {"bound": "4*L*(0.5 - F0)"}}
    theorem = statement(
        tmp_path,
        metric="gradient-norm",
        assumptions="smooth bounded-below deterministic",
        options={"*": "any"},
        **given,
    )
    found = compare(plan_of(theorem, f"logistic:{data}", iterations=3), 1, 0)
    assert found.verdict is not Verdict.VIOLATED, found.reason


@pytest.mark.parametrize("problem", [*STARTS, "huber:c=[0.3,1],x0=2", "quadratic:clients=2,dimension=2,l1=0.3,x0=1"])
def test_limits_from_below_are_near_those_from_above(problem):
    plan = plan_of(
        "classics.proximal-gradient", problem.replace("clients=2", "clients=1"), iterations=2, beyond=("one-function",)
    )
    known = plan.problem.constants()
    for name, low in start_from_below(plan.problem, known).items():
        assert 0.0 <= low <= known[name].value
        assert low == pytest.approx(known[name].value, rel=1e-6)
