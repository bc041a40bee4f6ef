"""No check fails for a true theorem; each fails where an error is planted; whatever a file states, a table comes."""

from pathlib import Path

import pytest
from own_theorems import own_theorem

from boundlab.checks import check, groups
from boundlab.formulas.symbols import SYMBOLS
from boundlab.theorems import Theorem, load_theorem

NOISY = '"smooth", "bounded-below", "bounded-variance"'
# True theorems in the corners in which a check may go wrong, each with its reason.
TRUE: dict[str, dict[str, str]] = {
    # Nesterov (2018), Theorem 2.1.15: falls as L grows.
    "a book's, which falls with L": {
        "term": "R**2*(1 - 2*alpha*mu*L/(mu + L))**K",
        "conditions": '"alpha <= 2/(mu + L)"',
    },
    # Steps up to 2/L never lead away.
    "vacuous": {"term": "R**2"},
    "zero where mu = L": {
        "term": "R**2*((L - mu)/(L + mu))**(2*K)",
        "step": 'alpha = "2/(mu + L)"',
        "conditions": "",
    },
    # Infinite at K = 0, and below the start there: K counts from 1 on.
    "infinite at K = 0": {"metric": "gap", "assumptions": '"smooth", "convex"', "term": "R**2/(2*alpha*K)"},
    # Kim and Fessler (2016): at K = 0 it is less than L·R²/2.
    "low at K = 0": {
        "algorithm": "ogm",
        "metric": "gap",
        "top": 'horizon = "fixed"',
        "assumptions": '"smooth", "convex"',
        "conditions": "",
        "step": 'alpha = "1/L"\nK = "K"',
        "term": "L*R**2/((K + 1)*(K + 1 + sqrt(2)))",
    },
    "burn-in": {
        "metric": "gap",
        "assumptions": '"smooth", "convex"',
        "conditions": '"alpha <= 1/L", "10 <= K"',
        "term": "R**2/(2*alpha*K)",
    },
    # Σ‖∇f‖² ≤ 2L·F0 and F0 ≤ LR²/2: a start far away has a large R, too.
    "slopes by the distance": {
        "metric": "gradient-norm",
        "assumptions": '"smooth", "convex", "minimiser"',
        "step": 'alpha = "1/L"',
        "conditions": "",
        "term": "L**2*R**2/T",
    },
    # Ghadimi and Lan (2013), Corollary 2.2: the step reads the start.
    "a step by the start": {
        "metric": "gradient-norm",
        "assumptions": NOISY,
        "top": 'horizon = "fixed"',
        "conditions": "",
        "step": 'alpha = "1/(L + sigma*sqrt(L*T/(2*F0*n)))"',
        "term": "2*L*F0/T + 2*sigma*sqrt(2*L*F0/(n*T))",
    },
    # ‖∇f‖² ≤ 2L(f − inf f), and f grows by α²Lσ²/2 a step at most: steps too short for a noise floor.
    "a short run": {
        "metric": "gradient-norm",
        "assumptions": NOISY,
        "top": 'horizon = "fixed"',
        "conditions": "",
        "step": 'alpha = "1/(4*L*T)"',
        "term": "2*L*F0 + sigma**2/(32*T)",
    },
    # n ≤ 4, and so 4/n ≥ 1: copies of the clients leave the condition.
    "few clients": {
        "metric": "ergodic-gap",
        "assumptions": '"smooth", "convex"',
        "conditions": '"alpha <= 1/L", "n <= 4"',
        "term": "2*R**2/(alpha*K*n)",
    },
    # One client: an iteration is three steps, not one.
    "three local steps": {
        "conditions": '"alpha <= 1/L", "n <= 1"',
        "more": '[options]\nM = "3"',
        "term": "R**2*(1 - alpha*mu)**(6*K)",
    },
    # ‖x − x*‖² grows by α²σ² a step at most, and from the minimum nothing moves without noise.
    "from the minimum": {
        "assumptions": '"smooth", "convex", "bounded-variance"',
        "conditions": '"alpha <= 2/L", "R <= 0"',
        "term": "alpha**2*sigma**2*K",
    },
    "from near the minimum": {
        "assumptions": '"smooth", "convex", "bounded-variance"',
        "conditions": '"alpha <= 2/L", "R <= alpha*sigma"',
        "term": "alpha**2*sigma**2*(K + 1)",
    },
    # Where the step is longer than its condition allows, nothing is claimed.
    "a step that is not always allowed": {
        "metric": "ergodic-gap",
        "top": 'horizon = "fixed"',
        "assumptions": '"smooth", "lipschitz"',
        "step": 'alpha = "R/(B*sqrt(K))"',
        "term": "B*R/sqrt(K)",
    },
    # d' ≤ d − 2α(1 − αL)·gap; a step of 1/10 is small, and none of the allowed ones where L is 10.
    "negative beyond its condition": {
        "metric": "ergodic-gap",
        "assumptions": '"smooth", "convex"',
        "conditions": '"2*alpha*L <= 99/100"',
        "term": "R**2/(2*alpha*(1 - 2*alpha*L)*K)",
    },
    # A server that moves by a tenth of what is in its buffer has a tenth of the noise.
    "a slow server": {
        "algorithm": "fedbuff",
        "metric": "gradient-norm",
        "assumptions": NOISY,
        "conditions": '"eta_l <= 10/L", "tau_max <= 0", "n <= 1"',
        "step": 'eta_l = "eta_l"\neta_g = "1/10"',
        "term": "20*F0/(eta_l*T) + eta_l*L*sigma_l**2/10",
    },
    "a fast server": {
        "algorithm": "fedbuff",
        "conditions": '"eta_l <= 1/(2*L)", "tau_max <= 0", "n <= 1"',
        "step": 'eta_l = "eta_l"\neta_g = "2"',
        "term": "R**2*(1 - 2*eta_l*mu)**(2*K)",
    },
    # x_{k+1} = x_k − a·x_{k−1} falls faster than 1 − a: its roots are (1 ± √(1 − 4a))/2.
    "one step behind": {
        "algorithm": "fedbuff",
        "conditions": '"8*eta_l*L <= 1", "L <= mu", "n <= 1"',
        "step": 'eta_l = "eta_l"\neta_g = "1"',
        "more": '[options]\nreply = "pre"\n[definitions]\nq = "sqrt(1 - 4*eta_l*mu)"',
        "term": "R**2*((1 + q - 2*eta_l*mu)/(2*q))**2*((1 + q)/2)**(2*K)",
    },
}
# One client, no delay, one local step: gradient descent, whatever the name of its step is.
DESCENTS = {
    "gd": ("alpha", ""),
    "afl_dga": ("eta", ""),
    "fedbuff": ("eta_l", 'eta_g = "1"'),
    "fedstaleweight": ("eta_l", 'eta_g = "1"'),
    "fedfa": ("eta_l", ""),
    "fedcompass": ("eta", ""),
}


@pytest.mark.sweep(4)
@pytest.mark.parametrize("name", TRUE)
def test_nothing_fails_for_a_true_theorem(name: str, tmp_path: Path) -> None:
    failed = [one for one in check(own_theorem(tmp_path, **TRUE[name])) if one.verdict == "failed"]
    assert failed == []


@pytest.mark.sweep(2)
@pytest.mark.parametrize("algorithm", DESCENTS)
@pytest.mark.parametrize(("power", "verdict"), [("2*K", "passed"), ("3*K", "failed")])
def test_every_algorithm_contracts_as_gradient_descent_does(
    algorithm: str, power: str, verdict: str, tmp_path: Path
) -> None:
    step, rate = DESCENTS[algorithm]
    options = {"fedfa": '[options]\nK = "any"', "fedcompass": '[options]\nQmin = "1"\nQmax = "1"'}.get(algorithm, "")
    theorem = own_theorem(
        tmp_path,
        algorithm=algorithm,
        conditions=f'"{step} <= 1/L"',
        step=f'{step} = "{step}"\n{rate}',
        more=options,
        term=f"R**2*(1 - {step}*mu)**({power})",
    )
    found = {one.id: one.verdict for one in check(theorem, ["truths"])}
    assert found["truths.contraction"] == verdict


# Averages of gradient descent where L = mu, which is at x* after a step of 1/L: what is left is the share of the start.
AVERAGES = {
    "all before K": ("", "L*R**2/(2*K**2)", "1 <= K", 1),
    "all up to K": ('to = "K"', "L*R**2/(2*(K + 1)**2)", "0 <= K", 0),
    "without the start": ('from = "1"\nto = "K"', "0*L*R**2", "1 <= K", 1),
    "the second half": ('from = "ceil(K/2)"\nto = "K"', "0*L*R**2", "1 <= K", 1),
    "the start alone": ('to = "0"', "L*R**2/2", "0 <= K", 0),
    "weights of which the first is 0": ('weights = "k"', "0*L*R**2", "2 <= K", 1),
}


def average_at_the_minimiser(folder: Path, over: str, term: str, condition: str, first: int) -> Theorem:
    path = folder / "average.toml"
    path.write_text(
        f"""
id = "average"
algorithm = "gd"
first = {first}
assumptions = ["smooth", "strongly-convex", "minimiser", "deterministic"]
conditions = ["L <= mu", "{condition}"]
[left]
quantity = "gap"
over = "average"
{over}
[step]
alpha = "1/L"
[terms]
only = "{term}"
"""
    )
    return load_theorem(str(path))


@pytest.mark.parametrize("name", AVERAGES)
def test_an_average_is_held_against_the_start_where_it_is_the_start(name: str, tmp_path: Path) -> None:
    over, term, condition, first = AVERAGES[name]
    true = check(average_at_the_minimiser(tmp_path, over, term, condition, first))
    assert [one.id for one in true if one.verdict == "failed"] == []
    if name == "all before K":
        half = check(average_at_the_minimiser(tmp_path, over, f"{term}/2", condition, first))
        assert [one.id for one in half if one.verdict == "failed"] == ["truths.start"]


@pytest.mark.parametrize("fold", ["mean_i", "max_i", "min_i", "Sum_i"])
@pytest.mark.parametrize("symbol", sorted(name for name, info in SYMBOLS.items() if info.vector))
def test_constants_of_each_client_are_those_of_all_where_there_is_one(symbol: str, fold: str, tmp_path: Path) -> None:
    entry = f"{symbol.removesuffix('_i')}[i]"
    units = SYMBOLS[symbol].units
    theorem = own_theorem(
        tmp_path,
        assumptions='"smooth", "strongly-convex", "minimiser", "bounded-variance", "iid-events"',
        term=f"R**2*(1 - alpha*mu)**K + R**2*{fold}({entry})/{fold}({entry}) + alpha*{fold}(sigma[i]**2)/mu",
    )
    assert len(units) >= 2
    assert [one for one in check(theorem) if one.verdict == "failed" and one.id.startswith("truths")] == []


@pytest.mark.parametrize("noise", ["sigma**2", "sigma_l**2", "mean_i(sigma[i]**2)", "mean_i(sigma[i])**2"])
def test_whatever_names_the_noise_the_floor_is_one_of_noise(noise: str, tmp_path: Path) -> None:
    def said(factor: str) -> str:
        theorem = own_theorem(
            tmp_path,
            assumptions='"smooth", "strongly-convex", "minimiser", "bounded-variance"',
            term=f"R**2*(1 - alpha*mu)**K + {factor}*alpha*{noise}/mu",
        )
        return {one.id: one.verdict for one in check(theorem, ["truths"])}["truths.noise-floor"]

    assert said("1") == "passed"
    assert said("1/4") == "failed"


# What fails (f) or is suspicious (s) beside the scope, for right ones and for errors of both signs.
PLANTED: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "right": ({}, {}),
    "rises with mu": (
        {"term": "R**2*(1 - alpha*(L - mu))**(2*K)"},
        {"truths.contraction": "f", "monotone.mu": "s", "monotone.L": "s"},
    ),
    "rises with mu to the right value": (
        {"term": "R**2*(1 - alpha*mu)**(2*K)*(mu/L)**K"},
        {"truths.contraction": "f", "monotone.mu": "s", "monotone.L": "s"},
    ),
    "falls with L": ({"term": "R**2*(1 - alpha*L)**(2*K)"}, {"truths.contraction": "f", "monotone.L": "s"}),
    "falls with sigma": (
        {
            "metric": "gradient-norm",
            "assumptions": NOISY,
            "term": "2*F0/(alpha*T) + alpha*L*sigma**2*Max(0, 1 - alpha**2*sigma**2*T*L/(F0 + alpha**2*L*sigma**2))",
        },
        {"truths.noise-floor": "f", "monotone.L": "s", "monotone.sigma": "s"},
    ),
    "right with B": (
        {
            "metric": "ergodic-gap",
            "assumptions": '"lipschitz"',
            "conditions": "",
            "term": "R**2/(2*alpha*K) + alpha*B**2/2",
        },
        {},
    ),
    "falls with B and R": (
        {
            "metric": "ergodic-gap",
            "assumptions": '"lipschitz"',
            "conditions": "",
            "term": "R**2/(2*alpha*K) + alpha*B**2/2 - B*R/K",
        },
        {"truths.start": "f", "monotone.R": "s"},
    ),
    "falls with n": (
        {"metric": "gradient-norm", "assumptions": '"smooth", "bounded-below"', "term": "2*F0/(alpha*T*n)"},
        {"replication": "f"},
    ),
    "the step is admitted": ({"step": 'alpha = "1/L"'}, {}),
    "the step is admitted in part": (
        TRUE["a step that is not always allowed"],
        {"admissible.step": "s"},
    ),
    "the step is not admitted": ({"step": 'alpha = "2/L"'}, {"admissible.set": "f", "admissible.step": "f"}),
    "nothing is admitted": ({"conditions": '"1 + alpha*L <= 0"'}, {"admissible.set": "f"}),
}


@pytest.mark.sweep(4)
@pytest.mark.parametrize("name", PLANTED)
def test_what_is_planted_is_found_and_nothing_else(name: str, tmp_path: Path) -> None:
    changes, expected = PLANTED[name]
    found = {one.id: one.verdict[0] for one in check(own_theorem(tmp_path, **changes))}
    assert {identity: letter for identity, letter in found.items() if letter in "fs"} == expected


def test_a_factor_that_is_0_on_a_curve_has_a_certificate(tmp_path: Path) -> None:
    # 1 − 2αμ + α²L² ≥ (1 − αμ)², which is 0 where α = 1/μ.
    found = check(own_theorem(tmp_path, conditions="", term="R**2*(1 - 2*alpha*mu + alpha**2*L**2)**K"), ["monotone"])
    assert {one.verdict for one in found if one.id in ("monotone.mu", "monotone.L", "monotone.R")} == {"passed"}


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    "term",
    [
        "(K+L+M+R+B+sigma+mu+alpha)**64",
        "1/(K+L+M+R+B+sigma+mu+alpha)**64",
        "R*((K+L+M+R+B)**32 - (sigma+mu+alpha)**32)",
        "K**K**K",
        "exp(exp(exp(exp(K))))",
        "R**2*(1-alpha*mu)**(K**K)",
    ],
)
def test_a_formula_that_explodes_is_not_multiplied_out(tmp_path: Path, term: str) -> None:
    found = check(own_theorem(tmp_path, term=term))
    assert {one.group for one in found} == set(groups())
    # Nothing came to the last resort: all work is bounded by predicted counts.
    assert not any("not decided in" in one.witness for one in found)


# Bounds that read no counter, of right and of wrong units and of none; and bounds that are 0 where mu = L.
CORNERS = {
    "squared-distance": (
        "R**2",
        "sigma**2",
        "n",
        "R**2*((L-mu)/(L+mu))**(2*K)",
        "R**2*(L-mu)/L",
        "R**2*(1-mu/L)**K",
        "R**2*log(L/mu)",
    ),
    "ergodic-gap": ("L*R**2", "B*R", "alpha*B**2"),
    "gap": ("F0", "mu*R**2", "0"),
    "gradient-norm": ("2*L*F0", "G_sq", "alpha"),
    "gradient-norm-last": ("G_sq", "3"),
}


@pytest.mark.sweep(5)
@pytest.mark.parametrize(("metric", "term"), [(metric, term) for metric, terms in CORNERS.items() for term in terms])
def test_a_bound_without_its_counter_or_zero_where_mu_is_l_gets_its_table(
    tmp_path: Path, metric: str, term: str
) -> None:
    for step in ('alpha = "alpha"', 'alpha = "1/L"', 'alpha = "2/(mu + L)"'):
        found = check(own_theorem(tmp_path, metric=metric, term=term, step=step, conditions=""))
        assert {one.group for one in found} == set(groups())
        assert len({one.id for one in found}) == len(found)
