"""Fitted laws: each family is found again from its own samples, and a false one is called false."""

from typing import Any

import numpy as np
import pytest

from boundlab.case import build_delays, delays_from
from boundlab.delays.recorded import Recorded, recorded
from boundlab.errors import SpecError
from boundlab.randomness import Streams
from boundlab.traces import _FAMILIES, fit

RATES = [1.0, 2.5, 6.0]


def sample(law: str, options: dict[str, Any], count: int = 3000, seed: int = 3) -> Recorded:
    events = build_delays(law, {"rates": RATES, **options}, 3).sample(Streams(seed), count, 0.0)
    rows = zip(events.time.tolist(), events.actor.tolist(), strict=True)
    return recorded("a trace", [{"client": str(client), "time": time} for time, client in rows])


@pytest.mark.sweep(4)
@pytest.mark.parametrize(
    ("law", "option", "value", "tolerance"),
    [
        ("exponential", "", None, 0),
        ("uniform", "width", 0.4, 0.01),
        ("gamma", "shape", 2.1, 0.15),
        ("gamma", "shape", 0.5, 0.05),
        ("lognormal", "log_sd", 0.7, 0.03),
        ("weibull", "shape", 0.7, 0.03),
        ("pareto", "tail", 2.5, 0.15),
        ("two-speed", "slow", 0.1, 0.02),
        ("deterministic", "", None, 0),
    ],
)
def test_a_law_is_found_again_from_its_samples(law: str, option: str, value: float, tolerance: float) -> None:
    """The rates within 15 %: the standard deviation of the slowest one's mean is at most 6 % here."""
    found = fit(sample(law, {option: value} if option else {}))
    assert found.best.law == law
    assert found.best.options["rates"] == pytest.approx(RATES, rel=0.15)
    if option:
        assert found.best.options[option] == pytest.approx(value, abs=tolerance)
    assert found.p_value is None or found.p_value > 0.05
    again = delays_from(found.best.spec, 3)
    assert again.spec() == {
        "type": law,
        **{key: pytest.approx(one) for key, one in again.spec().items() if key != "type"},
    }
    assert again.rates() == pytest.approx(found.best.options["rates"], rel=1e-12)


@pytest.mark.parametrize("name", _FAMILIES)
def test_a_density_is_the_slope_of_its_distribution_and_its_mean_is_1(name: str) -> None:
    from scipy.integrate import quad

    family, s = _FAMILIES[name], {"uniform": 0.6, "pareto": 3.0}.get(name, 1.3)
    z = np.array([0.8, 1.0, 1.4])
    slope = (family.distribution(z + 1e-6, s) - family.distribution(z - 1e-6, s)) / 2e-6
    assert np.exp(family.log_density(z, s)) == pytest.approx(slope, rel=1e-5)
    mean = quad(lambda one: 1.0 - float(family.distribution(np.array([max(one, 1e-12)]), s)[0]), 0, np.inf, limit=200)[
        0
    ]
    assert mean == pytest.approx(1.0, rel=1e-4)


def test_a_law_of_another_kind_does_not_fit() -> None:
    """Two clusters: no law of one peak is near them."""
    rng = np.random.default_rng(0)
    taken = np.where(rng.random(600) < 0.5, 1.0, 5.0) * rng.uniform(0.9, 1.1, 600)
    rows = [{"client": "a", "dispatch": 0.0, "time": time} for time in taken.tolist()]
    found = fit(recorded("a trace", rows))
    assert found.p_value is not None
    assert found.p_value < 0.01


@pytest.mark.nightly
def test_true_laws_are_called_wrong_no_more_often_than_p_says() -> None:
    """With 5 clients and 30 durations each; more than 8 of 40 below 0.1 would be chance with probability 1.5 %."""
    rng = np.random.default_rng(1)
    small = 0
    for _ in range(40):
        rows = [
            {"client": str(k % 5), "dispatch": 0.0, "time": time} for k, time in enumerate(rng.exponential(size=150))
        ]
        found = fit(recorded("", rows))
        small += found.p_value is not None and found.p_value < 0.1
    assert small <= 8


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("a", 1.0), ("a", 2.0), ("a", 3.0), ("b", 1.0)], "fewer than two durations of b"),
        ([("a", 1.0), ("a", 2.0), ("a", 2.0)], "line 3: a duration of 0"),
    ],
)
def test_too_few_durations_and_none_at_all_are_refused(rows: list[tuple[str, float]], message: str) -> None:
    record = recorded("t", [{"client": who, "time": time, "line": k} for k, (who, time) in enumerate(rows, 1)])
    with pytest.raises(SpecError, match=message):
        fit(record)
