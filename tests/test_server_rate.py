"""The server's rate: closed forms, their minimality, and the numerical check."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from boundlab.cli import invoke
from boundlab.errors import CertificateError, SpecError, SymbolError
from boundlab.server_rate import closed_form, curve, optimal_rate
from boundlab.theorems import load_theorem

RATES = st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=20)


def test_three_clients_with_rates_10_10_and_2_5_want_7_5_aggregations() -> None:
    # Σλ = 22.5 and (2/3)(0.1 + 0.1 + 0.4) = 0.4, so λ* = √56.25 = 7.5 and (1 + √9)² = 16.
    best = optimal_rate([10, 10, 2.5])
    assert best.lambda_s == pytest.approx(7.5, rel=1e-14)
    assert best.value == pytest.approx(16, rel=1e-14)
    assert best.p_s == pytest.approx(0.25)
    assert best.p.sum() + best.p_s == pytest.approx(1)


@given(RATES, st.floats(-3, 3))
def test_no_other_rate_is_better_at_a_fixed_number_of_iterations(rates: list[float], shift: float) -> None:
    best = optimal_rate(rates)
    assert best.lambda_s is not None
    assert curve(rates, [best.lambda_s * np.exp(shift)])[0] >= best.value * (1 - 1e-12)
    assert best.numeric == pytest.approx(best.lambda_s, rel=1e-6)


@given(RATES)
def test_the_curve_is_what_theorem_8_reads(rates: list[float]) -> None:
    servers = np.array([0.1, 1.0, 10.0])
    total = servers + sum(rates)
    qbar = total * np.mean(1 / np.array(rates))
    values = {"p_s": servers / total, "qbar": qbar, "R": 1, "sigma": 1, "B": 0, "M": 1, "K": 100}
    bound = load_theorem("area.theorem8").evaluate(values).total
    assert bound**2 * 100 == pytest.approx(curve(rates, servers))


@given(RATES, st.floats(1e-3, 1.0))
def test_at_fixed_time_the_objective_only_decreases_to_its_limit(rates: list[float], epsilon: float) -> None:
    found = optimal_rate(rates, "per-time", epsilon=epsilon)
    assert found.lambda_s is None
    values = curve(rates, np.geomspace(1e-3, 1e3, 50), "per-time")
    assert (np.diff(values) < 0).all()
    assert (values > found.limit).all()
    assert found.lambda_epsilon is not None
    reached = curve(rates, [found.lambda_epsilon], "per-time")[0]
    assert np.sqrt(reached / found.limit) == pytest.approx(1 + epsilon)


@given(RATES, st.floats(1e-4, 1e2), st.floats(-3, 3))
def test_a_cost_of_aggregation_brings_a_finite_optimum_back(rates: list[float], cost: float, shift: float) -> None:
    best = optimal_rate(rates, "per-time", cost)
    inverse = 2 * np.mean(1 / np.array(rates))
    assert best.lambda_s == pytest.approx(1 / np.sqrt(inverse * cost))
    assert best.value == pytest.approx((np.sqrt(inverse) + np.sqrt(cost)) ** 2)
    other = curve(rates, [best.lambda_s * np.exp(shift)], "per-time", cost)[0]
    assert other >= best.value * (1 - 1e-12)


@given(RATES, st.floats(0.1, 10))
def test_the_unit_of_time_does_not_matter(rates: list[float], unit: float) -> None:
    assert closed_form(np.array(rates) * unit) == pytest.approx(closed_form(rates) * unit)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([],), SymbolError, "rates is empty"),
        (([1, 0],), SymbolError, "rates must be > 0, got 0"),
        (([1, -1],), SymbolError, "rates must be > 0, got -1"),
        (([np.inf],), SymbolError, "rates must be > 0, got inf"),
        (([1], "per-tim"), SpecError, "did you mean per-time"),
        (([1], "per-time", -1.0), SpecError, "server cost must be"),
        (([1], "per-iteration", 1.0), SpecError, "needs objective per-time"),
        (([1], "per-time", 0.0, 0.0), SpecError, "epsilon must be > 0"),
    ],
)
def test_nonsense_is_refused(arguments: tuple[object, ...], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        optimal_rate(*arguments)  # type: ignore[arg-type]


def test_the_rates_may_be_those_of_a_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "log.csv"
    log.write_text("time,client\n1,0\n2,1\n3,0\n4,0\n", encoding="utf-8")
    assert [invoke(["optimal-rate", f"--rates={rates}"]) for rates in (f"trace:{log}", "0.75,0.25")] == [0, 0]
    of_log, of_numbers = capsys.readouterr().out.split("2 clients")[1:]
    assert of_log == of_numbers


def test_the_minimiser_agrees_however_much_the_rates_differ() -> None:
    # In floating point the constant 1 + hΛ of the objective would drown its minimum.
    for rates in ([1e-9, 1.0, 1e9], [1e-40, 1e40], [1.0] * 1000):
        best = optimal_rate(rates)
        assert best.numeric == pytest.approx(best.lambda_s, rel=1e-12)
        priced = optimal_rate(rates, "per-time", 1e-6)
        assert priced.numeric == pytest.approx(priced.lambda_s, rel=1e-12)


def test_the_minimiser_knows_nothing_of_the_closed_form(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("boundlab.server_rate.policy_rate", lambda rates: 1.001 * float(rates.sum()))
    with pytest.raises(CertificateError, match="do not agree"):
        optimal_rate([10, 10, 2.5])
