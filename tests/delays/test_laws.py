"""Every law of delays is the law that it is called: SciPy's quantiles and means, for parameters off the default."""

import numpy as np
import pytest
from scipy import special, stats

from boundlab.delays import DELAYS
from boundlab.options import Options

TYPES = {model.id: model for model in DELAYS}
RATES = np.array([0.5, 4.0])
U = np.array([1e-6, 0.01, 0.1, 0.3, 0.5, 0.62, 0.9, 0.999])


def law_of(name, **options):
    return TYPES[name].build(Options(f"delays {name}", {"rates": RATES.tolist(), **options}), 2).law


# name, options, the law of a client whose 1/rate is m, and whether small uniforms are long times.
LAWS = [
    ("exponential", {}, lambda m: stats.expon(scale=m), True),
    ("uniform", {}, lambda m: stats.uniform(0.5 * m, m), False),
    ("uniform", {"width": 0.2}, lambda m: stats.uniform(0.8 * m, 0.4 * m), False),
    ("gamma", {}, lambda m: stats.gamma(2, scale=m / 2), False),
    ("gamma", {"shape": 0.7}, lambda m: stats.gamma(0.7, scale=m / 0.7), False),
    ("lognormal", {}, lambda m: stats.lognorm(1, scale=m * np.exp(-0.5)), False),
    ("lognormal", {"log_sd": 1.7}, lambda m: stats.lognorm(1.7, scale=m * np.exp(-(1.7**2) / 2)), False),
    ("weibull", {"shape": 2}, lambda m: stats.weibull_min(2, scale=2 * m / np.sqrt(np.pi)), True),
    ("weibull", {"shape": 0.5}, lambda m: stats.weibull_min(0.5, scale=m / 2), True),
    ("pareto", {}, lambda m: stats.pareto(1.5, scale=m / 3), True),
    ("pareto", {"tail": 3}, lambda m: stats.pareto(3, scale=2 * m / 3), True),
    ("truncated-normal", {}, lambda m: stats.truncnorm(-1 / 0.3, np.inf, m, 0.3 * m), True),
    ("truncated-normal", {"cv": 2}, lambda m: stats.truncnorm(-0.5, np.inf, m, 2 * m), True),
    ("per-step", {}, lambda m: stats.truncnorm(-20, np.inf, m, 0.05 * m), True),
    ("per-step", {"steps": 3, "jitter": 0.5}, lambda m: stats.truncnorm(-2, np.inf, 3 * m, 1.5 * m), True),
]


@pytest.mark.sweep(2)
@pytest.mark.parametrize(("name", "options", "reference", "survival"), LAWS, ids=[f"{one[0]} {one[1]}" for one in LAWS])
def test_quantiles_and_means_are_those_of_the_law(name, options, reference, survival):
    law = law_of(name, **options)
    assert law.uniforms == 1
    for client, rate in enumerate(RATES):
        known = reference(1 / rate)
        expected = known.isf(U) if survival else known.ppf(U)
        assert law.durations(U[:, None], np.full(len(U), client)) == pytest.approx(expected, rel=1e-9)
        assert law.means()[client] == pytest.approx(known.mean(), rel=1e-9)


def test_deterministic_times_are_one_over_the_rate():
    law = law_of("deterministic")
    assert law.durations(U[:3, None], np.array([0, 1, 0])).tolist() == [2.0, 0.25, 2.0]
    assert law.means().tolist() == [2.0, 0.25]


def test_a_slow_update_takes_ten_times_as_long_and_one_in_ten_is_slow():
    law = law_of("two-speed")
    fast = 2.0 / 1.9  # 0.9·fast + 0.1·10·fast = 2
    assert law.durations(U[:, None], np.zeros(8, int)) == pytest.approx(fast * np.where(U < 0.1, 10, 1), rel=1e-14)
    law = law_of("two-speed", slow=0.4, factor=3)
    assert law.durations(U[:, None], np.ones(8, int)) == pytest.approx(0.25 / 1.8 * np.where(U < 0.4, 3, 1), rel=1e-14)
    assert law.means().tolist() == [2.0, 0.25]


@pytest.mark.parametrize(("options", "on", "off"), [({}, 1.0, 1.0), ({"on": 0.5, "off": 3}, 0.5, 3.0)])
def test_work_rests_for_a_poisson_number_of_exponential_periods(options, on, off):
    law = law_of("markov", **options)
    u = np.array([[a, b, c] for a in (0.02, 0.4, 0.9) for b in (0.05, 0.5, 0.8, 0.99) for c in (0.1, 0.7)])
    for client, rate in enumerate(RATES):
        work = stats.expon(scale=1 / rate).isf(u[:, 0])
        stops = stats.poisson(work / on).ppf(u[:, 1])
        idle = np.where(stops > 0, stats.gamma(np.maximum(stops, 1), scale=off).ppf(u[:, 2]), 0.0)
        assert law.durations(u, np.full(len(u), client)) == pytest.approx(work + idle, rel=1e-9)
        # E(work + idle) = E work + off·E work/on
        assert law.means()[client] == pytest.approx((1 + off / on) / rate, rel=1e-14)


def test_where_the_poisson_law_jumps_the_number_of_rests_is_the_smaller_one():
    law = law_of("markov")
    first, stops = (part.ravel() for part in np.meshgrid(np.linspace(0.02, 0.98, 25), np.arange(7)))
    work = -np.log(first) / RATES[0]
    at_the_jumps = np.stack([first, special.pdtr(stops, work), np.full(len(first), 0.5)], axis=1)
    idle = np.where(stops > 0, stats.gamma(np.maximum(stops, 1)).ppf(0.5), 0.0)
    assert law.durations(at_the_jumps, np.zeros(len(first), int)) == pytest.approx(work + idle, rel=1e-9)
