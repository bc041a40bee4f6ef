"""AREA and AFL-DGA on their pages: case files, the registered bounds, and short runs."""

import math
import re
from functools import cache, partial
from typing import Any

from page_numbers import CLAIMS, ROOT, Claim, claim

import boundlab as bl
from boundlab.theorems import load_theorem

AREA, AFL_DGA = (f"docs/theory/{name}.md" for name in ("area", "afl_dga"))


# ---------------------------------------------------------------------- AREA


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


@claim(AREA, "With Algorithm 2's own start the bound holds on this one instance, at #.")
def not_at_the_edge_own_start() -> list[str]:
    return [f"{far_from_the_edge('area.theorem8.printed-start')['ratio']:.3f}"]


@claim(AREA, r"For rates 10, 10, 2.5: $\lambda_s^\star=#$, $F=#$.")
def best_server_rate() -> list[str]:
    found = bl.optimal_rate([10, 10, 2.5])
    return [f"{found.lambda_s:g}", f"{found.value:g}"]


# ---------------------------------------------------------------------- AFL-DGA


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


def registered_constants() -> list[str]:
    """Return the constants of the registered bound, noise, heterogeneity and drift."""
    terms = load_theorem("area.theorem7.explicit").bound.terms
    return [str(terms[name].as_coeff_Mul()[0]) for name in ("noise", "heterogeneity", "drift")]


@claim(
    AREA,
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
        eta=0.001,
    )
    left, right = (float(found.to_frame().iloc[-1][name]) / 60**2 for name in ("mean", "bound"))
    assert right < 0.1
    return [f"{left:.3f}", "0.1"]


@claim(AFL_DGA, "It jumps to and fro: left side above #, bound below #.")
def twenty_uses_of_a_gradient() -> list[str]:
    test = (ROOT / "tests" / "algorithms" / "test_afl_dga.py").read_text(encoding="utf-8")
    body = test.partition("def test_the_printed_theorem_fails_for_one_local_step_and_gradients_used_twenty_times")[2]
    return re.findall(r"assert (?:metric >|bound <) ([\d.]+)", body)[:2]


for _page, _says, _numbers in (
    (AREA, r"and $48(1-e^{-1/6})=#\ldots\ge7$", [cut(48 * (1 - math.exp(-1 / 6)), 3)]),
    (AREA, r"and $2(W_1+W_2)\le2(e^{1/3}+e^{1/6})=#\ldots$:", [cut(2 * (math.exp(1 / 3) + math.exp(1 / 6)), 3)]),
    (AREA, r"and $460.8\,e^{5/6}\cdot\frac{97}{96}(\frac{96}{95})^5=#\ldots$:", [cut(rounded_constants(96)[0], 1)]),
    (AREA, r"and $576(e^{1/3}+e^{1/6})(\frac{96}{95})^4=#\ldots$;", [cut(rounded_constants(96)[1], 1)]),
    (
        AREA,
        r"$6912\,\frac{e^{1/3}}{1-e^{-1/2}}\cdot\frac{97}{96}(\frac{96}{95})^4=#\ldots$:",
        [cut(rounded_constants(96)[2], 1)],
    ),
    (
        AREA,
        r"with $d\ge#$ alone they would have to be #, # and #.",
        ["48", *(str(math.ceil(one)) for one in rounded_constants(48))],
    ),
    (AREA, r"\frac{N_\sigma\varphi^5}5\le\frac{#}{p^2M\gamma^2}", registered_constants()[:1]),
    (
        AREA,
        r"\frac{N_\zeta\varphi^4}4\le\frac{#\,\bar q\,\kappa_\gamma^2}{p^2}+\frac{#\,\delta^2\kappa_\gamma^4}{p^3} .",
        registered_constants()[1:],
    ),
):
    CLAIMS.append(Claim(_page, _says, partial(list, _numbers)))
