"""FedCompass, FedFa and FedStaleWeight on their pages: case files, the scheduler, shares, and short runs."""

from fractions import Fraction
from typing import Any

import numpy as np
from page_numbers import claim
from run_makers import plan_of

import boundlab as bl
from boundlab.algorithms.fedcompass import Compass, FedCompassParameters, closed_loop, follow
from boundlab.arithmetic.rational import shortest_decimal
from boundlab.execute import iterates
from boundlab.mechanism import arrival_pattern, long_run_shares, periodic, share_slope, truthful_limit
from boundlab.theorems import load_theorem

FEDCOMPASS, FEDFA, FEDSTALEWEIGHT = (f"docs/theory/{name}.md" for name in ("fedcompass", "fedfa", "fedstaleweight"))

WARM_UP = [(2, 0), (4, 1), (5, 2), (8, 3), (10, 4)]


def figure(*arrivals: tuple[float, int]) -> list[dict[int, int]]:
    """Return client → steps at each moment of the paper's setting, whose clients send after a warm-up as given."""
    compass = Compass(FedCompassParameters(1.0, 20, 100, shortest_decimal(1.2)), 5)
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


@claim(FEDCOMPASS, r"so $\lfloor(12-0.9)/0.1\rfloor=#$ (floats give #).")
def time_is_exact() -> list[str]:
    exact = (shortest_decimal(12.0) - shortest_decimal(0.9)) // shortest_decimal(0.1)
    return [str(exact), f"{(12 - 0.9) // 0.1:g}"]


@claim(FEDFA, "answers `violated`, without noise or sampling; # times the bound.", nightly=True)
def unequal_rates_for_long() -> list[str]:
    rates = "deterministic:rates=[1,0.2]"
    problem = "huber:c=[0,1],x0=0.16667"
    found = bl.compare("fedfa.theorem1", problem, rates, iterations=10000, trials=2, K=2, eta_l=0.002)
    return [f"{found.to_frame()['ratio'].max():.0f}"]


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


@claim(FEDCOMPASS, r"`compare` cuts it into # parts and takes that of each.")
def parts_of_a_segment() -> list[str]:
    return [str(iterates._PARTS)]


@claim(
    FEDSTALEWEIGHT,
    r"*Numbers*: # clients, $b=Q=1$, `logistic:data=breast_cancer,clients=4,partition=iid,nu=0.1` and"
    r" $\eta_\ell=10^{-3}$: the ball around $x^\star$ has the radius #, and $G=#$ there.",
)
def set_that_no_schedule_leaves() -> list[str]:
    problem = "logistic:data=breast_cancer,clients=4,partition=iid,nu=0.1"
    found: Any = plan_of("fedstaleweight.rf2.along-run", problem, "exponential", eta_l=1e-3, scale=0).problem
    return [str(found.n), f"{found.region.radius:.4f}", f"{found.constants()['G_sq'].value:.3f}"]


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


def responses(K: int, lag: int, until: int) -> np.ndarray:
    """Return r_{t,s} for 0 ≤ t ≤ until, −K < s < until as row t, column s + K − 1, by the recursion of the models."""
    r = np.zeros((until + 1, until + K - 1))
    for t in range(until):
        for j in range(K):
            if t - j - lag >= 0:
                r[t + 1] += r[t - j - lag] / K
            r[t + 1, t - j + K - 1] += 1 / K
    return r


@claim(FEDFA, r"for $K=6$, $d=0$ it is #, but $\|w^t-u^t\|$ reaches $#\,Ac$.")
def filling_of_the_window() -> list[str]:
    K, until = 6, 400
    kappa, r = 1 / (1 + (K - 1) / 2), responses(K, 0, until)
    limits = np.array([kappa * min(1.0, (K + s) / K) for s in range(-K + 1, until)])
    each = [np.abs(r[t, : t + K - 1] - limits[: t + K - 1]).sum() for t in range(until)]
    return [f"{np.abs(r[1:, K - 1] - kappa).sum():.3f}", f"{max(each):.3f}"]


@claim(FEDCOMPASS, r"the exact state repeats every # time units")
def three_groups() -> list[str]:
    speeds = [shortest_decimal(speed) for speed in (0.25, 0.59, 0.95)]
    compass = Compass(FedCompassParameters(1.0, 10, 20, shortest_decimal(1.2)), 3)
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
