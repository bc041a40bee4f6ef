"""Instances and examples on the pages of docs/theory: from the case files, the registered bounds, and short runs."""

import math
import re
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from page_numbers import ROOT, claim
from window_makers import responses

import boundlab as bl
from boundlab.algorithms.fedcompass import Compass, CompassRules, closed_loop, follow
from boundlab.arithmetic.rational import shortest_decimal
from boundlab.mechanism import arrival_pattern, long_run_shares, periodic, share_slope, truthful_limit
from boundlab.theorems import load_theorem

AREA, AFL_DGA, FEDCOMPASS = (f"docs/theory/{name}.md" for name in ("area", "afl_dga", "fedcompass"))
FEDFA, FEDSTALEWEIGHT = (f"docs/theory/{name}.md" for name in ("fedfa", "fedstaleweight"))


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


@claim(AREA, "On Algorithm 2's own start this one instance holds, at # of the bound.")
def not_at_the_edge_own_start() -> list[str]:
    return [f"{far_from_the_edge('area.theorem8.printed-start')['ratio']:.3f}"]


@claim(AREA, r"For rates 10, 10, 2.5: $\lambda_s^\star=#$, $F=#$.")
def best_server_rate() -> list[str]:
    found = bl.optimal_rate([10, 10, 2.5])
    return [f"{found.lambda_s:g}", f"{found.value:g}"]


# ---------------------------------------------------------------------- AFL-DGA


# ---------------------------------------------------------------------- FedCompass and FedFa


WARM_UP = [(2, 0), (4, 1), (5, 2), (8, 3), (10, 4)]


def figure(*arrivals: tuple[float, int]) -> list[dict[int, int]]:
    """Return client → steps at each moment of the paper's setting, whose clients send after a warm-up as given."""
    compass = Compass(CompassRules(20, 100, shortest_decimal(1.2)), 5)
    moments = follow(compass, [*WARM_UP, *arrivals])
    return [{one.client: one.steps for one in moment.answer.assigned} for moment in moments]


@claim(
    FEDCOMPASS,
    "as described: #, #, # steps until 12:00, a new group with # steps until 22:00 for client 4, # for client 5; at"
    " 12:00 clients 1–3 join it with #, #, #. From 22:00 on one group: #, #, #, #, # |",
)
def figure_1() -> list[str]:
    at_twelve = [(12, 0), (12, 1), (12, 2)]
    moments = figure(*at_twelve, *((22, client) for client in range(5)))
    warm = [moments[place][place] for place in range(5)]
    return [str(steps) for steps in (*warm, *(moments[7][i] for i in range(3)), *(moments[-1][i] for i in range(5)))]


@claim(FEDCOMPASS, "| Figure 20, client 3 speeds up | as described; # steps at 12:00 |")
def figure_20() -> list[str]:
    return [str(figure((10.6, 2), (12, 0), (12, 1))[-1][2])]


@claim(FEDCOMPASS, "| at 13:24 clients 1–3 get #, # and # steps")
def figure_21() -> list[str]:
    last = figure((12, 0), (12, 1), (13.4, 2))[-1]
    return [str(last[client]) for client in range(3)]


@claim(FEDCOMPASS, "and client 3 gets group 3, with # (or #) steps until")
def figure_22() -> list[str]:
    return [str(figure((12, 0), (12, 1), (late, 2))[-1][2]) for late in (15.2, 16.2)]


@claim(FEDCOMPASS, r"so that $\lfloor(12-0.9)/0.1\rfloor=#$ (floats give #).")
def time_is_exact() -> list[str]:
    exact = (shortest_decimal(12.0) - shortest_decimal(0.9)) // shortest_decimal(0.1)
    return [str(exact), f"{(12 - 0.9) // 0.1:g}"]


@claim(FEDFA, "answers `violated`, without noise or sampling; # times the bound.", nightly=True)
def unequal_rates_for_long() -> list[str]:
    rates = "deterministic:rates=[1,0.2]"
    problem = "huber:c=[0,1],x0=0.16667"
    found = bl.compare("fedfa.theorem1", problem, rates, iterations=10000, trials=2, K=2, eta_l=0.002)
    return [f"{found.to_frame()['ratio'].max():.0f}"]


# ---------------------------------------------------------------------- FedStaleWeight


@claim(FEDSTALEWEIGHT, r"\frac{1-(1-\eta)^{2t}}{1-(1-\eta)^2}=#\cdot10^{-5} \quad>\quad12\,\eta^2\cdot#=#\cdot10^{-5}.")
def noise_of_first_order_sides() -> list[str]:
    eta, horizon = 1e-3, 40
    left = np.mean([eta**2 * (1 - (1 - eta) ** (2 * t)) / (1 - (1 - eta) ** 2) for t in range(horizon)])
    zero = dict.fromkeys(("F0", "sigma_g_mean", "tau_max"), 0)
    one = dict.fromkeys(("L", "n", "Q", "b", "sigma_l", "eta_g", "scale"), 1)
    bound = load_theorem("fedstaleweight.theorem1")
    right = bound.evaluate({**zero, **one, "T": horizon, "G_sq": 0.01, "eta_l": eta}).total
    return [f"{left * 1e5:.2f}", f"{float(right) / (12 * eta**2):.2f}", f"{float(right) * 1e5:.2f}"]


@claim(
    FEDSTALEWEIGHT,
    r"$\pi_1=\frac49+\frac49\cdot\frac13=\frac{#}{#}$, not $\frac12$; Algorithm 1's: $\frac8{#}$.",
)
def shares_by_hand() -> list[str]:
    rates = [Fraction(2), Fraction(1)]
    fair, printed = (long_run_shares(rates, 2, weights, "enumeration")[0] for weights in ("bE+1", "E+1"))
    assert printed.numerator == 8
    return [str(fair.numerator), str(fair.denominator), str(printed.denominator)]


@claim(FEDSTALEWEIGHT, r"$b=5$: $\chi^2=#$ (equal), $#$ ($\mathbb E\tau+1$), $#$ ($b\,\mathbb E\tau+1$).")
def distance_from_equal_shares() -> list[str]:
    rates = [5.0] * 10 + [1.0] * 5
    shares = [long_run_shares(rates, 5, weights, "quadrature") for weights in ("equal", "E+1", "bE+1")]
    return [f"{len(rates) * np.sum((one - 1 / len(rates)) ** 2):.3f}" for one in shares]


@claim(FEDSTALEWEIGHT, r"and with $n=#$, others at rate 1, $\varepsilon=10^{-4}$, $b=2$ the limit is $r_i=#$.")
def one_slow_client() -> list[str]:
    count = 1000
    found = truthful_limit([1.0] * (count - 2) + [1e-4], 2, model="printed", buffer=[1e-4])
    return [str(count), f"{found:.3f}"]


@claim(
    FEDSTALEWEIGHT, r"rates 2, 1, 1, 1, $c=20$: $\partial\pi_1/\partial\log r_1=-#$ (exact), against $+#$ for $c=b$."
)
def throttling_pays() -> list[str]:
    slopes = [share_slope([2, 1, 1, 1], 10, scale) for scale in (20, 10)]
    assert slopes[0] < 0 < slopes[1]
    return [f"{abs(one):.3f}" for one in slopes]


# ---------------------------------------------------------------------- constants of proofs


AREA_PROOFS = "docs/theory/area-proofs.md"


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


@claim(FEDCOMPASS, "finds it too, warm-up included: # against #.", nightly=True)
def unequal_steps_for_long() -> list[str]:
    found = bl.compare(
        "fedcompass.theorem1",
        "huber:c=[[0],[1]],w=1,delta=1,x0=0.1667",
        "deterministic:rates=[1,0.2]",
        iterations=40000,
        trials=2,
        Qmin=1,
        Qmax=5,
        eta=0.0005,
    )
    last = found.to_frame().iloc[-1]
    return [f"{last['mean']:.3f}", f"{last['bound']:.3f}"]


@claim(
    FEDCOMPASS,
    "28 steps at # a minute from 5:00 end at #:#, not at the printed 15:12. If the update does arrive at 15:12, "
    r"the server measures $#/28$ minutes a step, and $\lfloor6.8\cdot28/10.2\rfloor=#$, not the printed #, which uses "
    "# steps a minute.",
)
def figure_22_by_hand() -> list[str]:
    rate, now = Fraction(5, 2), Fraction(152, 10)
    end = 5 + 28 / rate
    measured = (now - 5) / 28
    left = 22 - now
    assert (float(left), float(measured * 28)) == (6.8, 10.2)
    hour, minute = divmod(round(end * 60), 60)
    numbers = (float(rate), hour, minute, float(measured * 28), left // measured, int(left * rate), float(rate))
    return [f"{one:g}" for one in numbers]


@claim(FEDCOMPASS, "Either way # (or #) is below #")
def figure_22_steps_that_are_left() -> list[str]:
    arrivals = [Fraction(152, 10), Fraction(162, 10)]
    return [*(str((22 - late) // ((late - 5) / 28)) for late in arrivals), "20"]


@claim(FEDCOMPASS, "steps until #:# (or #:#).")
def figure_22_until() -> list[str]:
    ends = []
    for late in (Fraction(152, 10), Fraction(162, 10)):
        speed = (late - 5) / 28
        ends += divmod(round((late + (32 - late) // speed * speed) * 60), 60)
    return [str(one) for one in ends]


@claim(FEDSTALEWEIGHT, r"$b=4$: $\frac78$ for $r=3$, $\frac{#}{#}$ for $r=\frac72$")
def own_averages() -> list[str]:
    slower, faster = (periodic(arrival_pattern([rate, 1]), 4).staleness_shares(4)[0] for rate in (3, Fraction(7, 2)))
    assert slower == Fraction(7, 8)
    return [str(faster.numerator), str(faster.denominator)]


@claim(FEDSTALEWEIGHT, r"$\pi_1=\frac34$ for $r=6$ and $\frac{#}{#}$ for $r=7$, so # should report #.")
def fixed_times() -> list[str]:
    six, seven = (periodic(arrival_pattern([r, 1, 1]), 2).shares([Fraction(1, r), 1, 1])[0] for r in (6, 7))
    assert six == Fraction(3, 4) > seven
    return [str(seven.numerator), str(seven.denominator), "7", "6"]


@claim(FEDCOMPASS, r"is $\frac{#}{#}$ as printed and 0 normalised.")
def share_bias_of_figure_1() -> list[str]:
    steps = [list(figure(*((12, i) for i in range(3)), *((22, i) for i in range(5)))[-1].values())][0]
    total = sum(steps)
    bias = sum(abs(Fraction(one, total) - Fraction(1, len(steps))) for one in steps)
    return [str(bias.numerator * (total // bias.denominator)), str(total)]


@claim(FEDFA, r"for $K=6$, $d=0$ it is #, but $\|w^t-u^t\|$ reaches $#\,Ac$.")
def filling_of_the_window() -> list[str]:
    K, until = 6, 400
    kappa, r = 1 / (1 + (K - 1) / 2), responses(K, 0, until)
    limits = np.array([kappa * min(1.0, (K + s) / K) for s in range(-K + 1, until)])
    each = [np.abs(r[t, : t + K - 1] - limits[: t + K - 1]).sum() for t in range(until)]
    return [f"{np.abs(r[1:, K - 1] - kappa).sum():.3f}", f"{max(each):.3f}"]


@claim(AFL_DGA, "It jumps to and fro: left side above #, bound below #.")
def twenty_uses_of_a_gradient() -> list[str]:
    test = (ROOT / "tests" / "algorithms" / "test_afl_dga.py").read_text(encoding="utf-8")
    body = test.partition("def test_the_printed_theorem_fails_for_one_local_step_and_gradients_used_twenty_times")[2]
    return re.findall(r"assert (?:metric >|bound <) ([\d.]+)", body)[:2]


@claim(FEDCOMPASS, r"the exact state repeats every # time units")
def three_groups() -> list[str]:
    speeds = [shortest_decimal(speed) for speed in (0.25, 0.59, 0.95)]
    compass = Compass(CompassRules(10, 20, shortest_decimal(1.2)), 3)
    run = closed_loop(compass, lambda client, start, steps: float(shortest_decimal(start) + steps * speeds[client]))
    times = [shortest_decimal(next(run).time) for _ in range(60)]
    assert times[59] - times[52] == times[58] - times[51]
    return [str(times[59] - times[52])]


@claim(FEDCOMPASS, r"With $\eta=10^{-3}$, $T=10^6$ the printed bound, $\mu'=5$, is $#$. It is")
def unequal_steps_bound() -> list[str]:
    values = {"L": 1, "n": 2, "F0": 1 / 18, "sigma_l": 0, "sigma_g": 1 / 2, "G_sq": 1, "T": 10**6, "tau_max": 0}
    more = {"Qmin": 1, "Qmax": 5, "speed_ratio": 5, "eta": 1e-3}
    return [f"{float(load_theorem('fedcompass.theorem1').evaluate({**values, **more}).total):.3f}"]


@claim(FEDCOMPASS, "(# steps a minute, at the edge $\\mu=Q_{\\max}/Q_{\\min}$) would have # steps.")
def figure_22_of_the_slowest() -> list[str]:
    late, speed = Fraction(152, 10), (Fraction(152, 10) - 5) / 28
    expected = late + (32 - late) // speed * speed
    return [f"{1 / 0.5:g}", str((expected - 22) // Fraction(1, 2))]


@claim(FEDCOMPASS, "The printed story needs 15:12 *and* # steps a minute: then $T_a$ is #:00 exactly.")
def figure_22_as_told() -> list[str]:
    late, speed = Fraction(152, 10), Fraction(2, 5)
    return ["2.5", str(late + (32 - late) // speed * speed)]
