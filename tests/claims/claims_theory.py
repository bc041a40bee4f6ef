"""AREA and AFL-DGA on their pages: case files, the registered bounds, and short runs."""

import json
import math
import re
from fractions import Fraction
from functools import cache
from typing import Any

import sympy
from page_makers import texts
from page_numbers import ROOT, claim

import boundlab as bl
from boundlab.theorems import load_theorem

AREA, AFL_DGA, AREA_PROOFS = (f"docs/theory/{name}.md" for name in ("area", "afl_dga", "area-proofs"))


@cache
def case(name: str) -> Any:
    """Return a file of proofs/counterexamples."""
    return json.loads((ROOT / "proofs" / "counterexamples" / f"{name}.json").read_text(encoding="utf-8"))


def sides(name: str) -> tuple[float, float]:
    """Return left side and bound of a counterexample."""
    return case(name)["claim"]["left"], case(name)["claim"]["bound"]


def setting(name: str) -> tuple[str, str, str]:
    """Return M, p and K of a counterexample of AREA."""
    p = case(name)["delays"].partition("p=[")[2].rstrip("]")
    return str(case(name)["parameters"]["M"]), p, str(case(name)["iterations"])


# ---------------------------------------------------------------------- AREA


@claim(AREA, r"$M=#$, $p=#$, $K=#$: $\alpha=#\sqrt{#}/#=#$ is just above $\frac13$")
def printed_start() -> list[str]:
    M, p, K = (Fraction(one) for one in setting("area.theorem8.printed-start"))
    square = (1 / (1 - p) + 2 / p) / (M * K * (M + 1) / 2)  # of the step, for B = R = 1 and no noise
    return [*setting("area.theorem8.printed-start"), *root(square), f"{math.sqrt(square):.4f}"]


def root(square: Fraction) -> list[str]:
    """Return a, b and c of a·√b/c, the root of a rational number."""
    shown = str(sympy.sqrt(sympy.Rational(*square.as_integer_ratio())))
    return re.findall(r"\d+", shown)


@claim(AREA, r"after which $|x_s|$ stays at $1-2\alpha=#$.")
def printed_start_stays() -> list[str]:
    alpha = float(re.findall(r"alpha = ([\d.]+)", case("area.theorem8.printed-start")["note"])[0])
    return [f"{1 - 2 * alpha:.3f}"]


@claim(AREA, r"$\mathbb E f(\bar x_{#})=#$ is above the bound $#\sqrt{#}/#=#$.")
def printed_start_sides() -> list[str]:
    left, right = sides("area.theorem8.printed-start")
    exact = root(Fraction(right**2).limit_denominator(10**6))
    return [setting("area.theorem8.printed-start")[2], f"{left:.4f}", *exact, f"{right:.4f}"]


@claim(AREA, r"$M=#$, $\alpha=#$, $p=#$, $K=#$: a pass from 1 leads to $-#$ and back to 1.")
def printed_start_any_step() -> list[str]:
    name = "area.theorem8.printed-start.fixed-step"
    (M, p, K), alpha = setting(name), case(name)["parameters"]["alpha"]
    return [M, f"{alpha:g}", p, K, f"{alpha - 1:.2g}"]


@claim(AREA, r"and the bound is $\frac{35/6}{4\alpha K}+\frac34\alpha=#$.")
def printed_start_any_step_bound() -> list[str]:
    name = "area.theorem8.printed-start.fixed-step"
    alpha, K = case(name)["parameters"]["alpha"], case(name)["iterations"]
    right = 35 / 6 / (4 * alpha * K) + 0.75 * alpha
    assert math.isclose(right, sides(name)[1])
    return [f"{right:.4f}"]


@claim(AREA, r"$M=#$, $p=#$: a client's pass reaches $x_s$ after its next arrival and an aggregation")
def three_iterations() -> list[str]:
    return [*setting("area.theorem8")[:2]]


@claim(AREA, r"The bound is the root of $\frac{#}{#}\big(\frac1{p_s}+\frac2p\big)=#<1$.")
def three_iterations_bound() -> list[str]:
    M, p, K = (Fraction(one) for one in setting("area.theorem8"))
    factor = (M + 1) / 2 / (M * K)
    square = float(factor * (1 / (1 - p) + 2 / p))
    assert math.isclose(square, sides("area.theorem8")[1] ** 2)
    return [str(factor.numerator), str(factor.denominator), f"{square:.5f}"]


@claim(AREA, r"$M=#$, $p=p_s=\frac12$, $K=#$: $\alpha=\sqrt{15}/10$")
def one_path() -> list[str]:
    M, p, K = setting("area.theorem8.one-path")
    assert p == "0.5"
    return [M, K]


@claim(AREA, r"$\mathbb E f(\bar x_4)=1-\sqrt{15}/160>\sqrt{15}/4$, which is $#>#$.")
def one_path_sides() -> list[str]:
    left, right = sides("area.theorem8.one-path")
    assert math.isclose(1 - math.sqrt(15) / 160, left)
    assert math.isclose(math.sqrt(15) / 4, right)
    return [str(160**2), str(15 * 41**2)]


@cache
def far_from_the_edge(theorem: str) -> Any:
    """Return the comparison of the instance that is not at the edge."""
    return bl.compare(theorem, "lad:x0=3", "iid:p_s=0.5", iterations=6, M=50).to_frame().iloc[-1]


@claim(
    AREA,
    r"the bound is $\sqrt{#}=#$, and $2^6$ event sequences give $\mathbb E f(\bar x_6)=#$. The repaired bound is #,",
)
def not_at_the_edge() -> list[str]:
    found, repaired = far_from_the_edge("area.theorem8"), far_from_the_edge("area.theorem8.repaired")
    return [f"{found['bound'] ** 2:.3g}", f"{found['bound']:.3f}", f"{found['mean']:.3f}", f"{repaired['bound']:.4g}"]


@claim(AREA, "On Algorithm 2's own start this one instance holds, at # of the bound.")
def not_at_the_edge_own_start() -> list[str]:
    return [f"{far_from_the_edge('area.theorem8.printed-start')['ratio']:.3f}"]


@claim(AREA, r"For rates 10, 10, 2.5: $\lambda_s^\star=#$, $F=#$.")
def best_server_rate() -> list[str]:
    found = bl.optimal_rate([10, 10, 2.5])
    return [f"{found.lambda_s:g}", f"{found.value:g}"]


# ---------------------------------------------------------------------- AFL-DGA


@claim(AFL_DGA, r"$f=#\cdot$huber, $x_0=#$, $\eta=1/T$, $T=#$: the server takes half")
def two_local_steps() -> list[str]:
    problem = case("afl_dga.theorem1")["problem"]
    (weight,), (x0,) = problem["w"], case("afl_dga.theorem1")["x0"]
    return [f"{weight:g}", f"{x0:g}", str(case("afl_dga.theorem1")["claim"]["k"])]


@claim(AFL_DGA, r"The left side is # and the bound $\frac{#}{#}=#$; $#>#$.")
def two_local_steps_sides() -> list[str]:
    left, right = sides("afl_dga.theorem1")
    exact = Fraction(right).limit_denominator(1000)
    assert math.isclose(float(exact), right, rel_tol=1e-12)
    ratio = Fraction(round(left)) / exact
    return [f"{left:g}", *map(str, exact.as_integer_ratio()), f"{right:.2f}", *map(str, ratio.as_integer_ratio())]


@claim(AFL_DGA, "left side #, bound # after # rounds (`proofs/counterexamples/afl_dga.theorem1.reused-gradients.json`)")
def reused_gradients() -> list[str]:
    left, right = sides("afl_dga.theorem1.reused-gradients")
    return [f"{left:.2f}", f"{right:.2f}", str(case("afl_dga.theorem1.reused-gradients")["claim"]["k"])]


@claim(AFL_DGA, "of slope at most #; client 0 takes part in every round")
def reused_gradients_slope() -> list[str]:
    problem = case("afl_dga.theorem1.reused-gradients")["problem"]
    return [f"{max(problem['w']) * problem['delta']:g}"]


# ---------------------------------------------------------------------- constants of proofs


def rounded_constants(d: int) -> list[float]:
    """Return what the constants of the explicit bound are rounded up from, where d is at least that."""
    longer, later = d / (d - 1), (d + 1) / d
    spread = math.exp(1 / 3) + math.exp(1 / 6)
    drift = math.exp(1 / 3) / (1 - math.exp(-1 / 2))
    noise = 460.8 * math.exp(5 / 6) * later * longer**5
    return [noise, 576 * spread * longer**4, 6912 * drift * later * longer**4]


def cut(number: float, decimals: int) -> str:
    """Return the first digits of a number, not rounded."""
    return f"{math.floor(number * 10**decimals) / 10**decimals:.{decimals}f}"


@claim(AREA_PROOFS, r"and $48(1-e^{-1/6})=#\ldots\ge7$")
def steps_of_a_sixth() -> list[str]:
    return [cut(48 * (1 - math.exp(-1 / 6)), 3)]


@claim(AREA_PROOFS, r"and $2(W_1+W_2)\le2(e^{1/3}+e^{1/6})=#\ldots$:")
def weights_of_the_start() -> list[str]:
    return [cut(2 * (math.exp(1 / 3) + math.exp(1 / 6)), 3)]


@claim(AREA_PROOFS, r"and $460.8\,e^{5/6}\cdot\frac{97}{96}(\frac{96}{95})^5=#\ldots$:")
def noise_of_the_explicit_bound() -> list[str]:
    return [cut(rounded_constants(96)[0], 1)]


@claim(AREA_PROOFS, r"and $576(e^{1/3}+e^{1/6})(\frac{96}{95})^4=#\ldots$;")
def heterogeneity_of_the_explicit_bound() -> list[str]:
    return [cut(rounded_constants(96)[1], 1)]


@claim(AREA_PROOFS, r"$6912\,\frac{e^{1/3}}{1-e^{-1/2}}\cdot\frac{97}{96}(\frac{96}{95})^4=#\ldots$:")
def drift_of_the_explicit_bound() -> list[str]:
    return [cut(rounded_constants(96)[2], 1)]


@claim(AREA_PROOFS, r"with $d\ge#$ alone they would have to be #, # and #.")
def constants_for_any_d() -> list[str]:
    return ["48", *(str(math.ceil(one)) for one in rounded_constants(48))]


def registered_constants() -> list[str]:
    """Return the constants of the registered bound, noise, heterogeneity and drift."""
    terms = load_theorem("area.theorem7.explicit").bound.terms
    return [str(terms[name].as_coeff_Mul()[0]) for name in ("noise", "heterogeneity", "drift")]


@claim(AREA_PROOFS, r"\frac{N_\sigma\varphi^5}5\le\frac{#}{p^2M\gamma^2}")
def noise_as_registered() -> list[str]:
    return registered_constants()[:1]


@claim(
    AREA_PROOFS,
    r"\frac{N_\zeta\varphi^4}4\le\frac{#\,\bar q\,\kappa_\gamma^2}{p^2}+\frac{#\,\delta^2\kappa_\gamma^4}{p^3} .",
)
def heterogeneity_as_registered() -> list[str]:
    return registered_constants()[1:]


@claim(
    AREA_PROOFS,
    r"\Big((1+5.2p_s\bar q)R^2+5.2p_s\bar q(\alpha_0ML\zeta)^2\Big)+\frac{#\,p_s\sigma^2}{p^2M\gamma^2\tilde K}"
    r" +\frac{p_s\zeta^2}{\tilde K^2}"
    r"\Big(\frac{#\,\bar q\,\kappa_\gamma^2}{p^2}+\frac{#\,\delta^2\kappa_\gamma^4}{p^3}\Big) .",
)
def explicit_bound_as_registered() -> list[str]:
    initial = str(load_theorem("area.theorem7.explicit").bound.terms["initial"])
    assert initial.count("26*") == 2  # 5.2 = 26/5
    assert initial.count("/5") == 2
    return registered_constants()


@claim(AFL_DGA, "stops half-way to the minimiser, so the left side is # and the bound below #.")
def half_way() -> list[str]:
    found = bl.compare(
        "afl_dga.theorem1",
        "huber:w=60,x0=1",
        "exponential",
        iterations=1000,
        trials=2,
        local_steps=2,
        scaling="average",
    )
    left, right = (float(found.to_frame().iloc[-1][name]) / 60**2 for name in ("mean", "bound"))
    assert right < 0.1
    return [f"{left:.3f}", "0.1"]


@claim(AFL_DGA, r"$w^{t+1}=\frac{#}{#}w^t+\frac{#}{#}$ from $t=3$ on, where the slope is still #.")
def two_local_steps_recursion() -> list[str]:
    found = bl.exact("afl_dga.theorem1", case("afl_dga.theorem1"))
    (shown,) = (one for one in texts(found.page()) if one.startswith("w_{k+1} = "))
    (weight,) = case("afl_dga.theorem1")["problem"]["w"]
    return [*re.findall(r"\d+", shown.partition(" for ")[0].partition("=")[2]), f"{weight:g}"]


@claim(AFL_DGA, "It jumps to and fro: left side above #, bound below #.")
def twenty_uses_of_a_gradient() -> list[str]:
    test = (ROOT / "tests" / "algorithms" / "test_afl_dga.py").read_text(encoding="utf-8")
    body = test.partition("def test_the_printed_theorem_fails_for_one_local_step_and_gradients_used_twenty_times")[2]
    return re.findall(r"assert (?:metric >|bound <) ([\d.]+)", body)[:2]


@claim(AREA, r"Nothing ever moves, $\mathbb E f(\bar x_6)=#$, and the bound is")
def nothing_moves() -> list[str]:
    return [f"{sides('area.theorem8.printed-start.fixed-step')[0]:g}"]
