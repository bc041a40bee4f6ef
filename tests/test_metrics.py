"""What a theorem bounds: every metric gives one number, whoever evaluates it."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

import boundlab
from boundlab.case import build_problem
from boundlab.errors import SpecError
from boundlab.metrics import METRICS, Enclosure, Quantity, Series, Watch, metric

EVERY = sorted(METRICS)
OPTIONS = {"A": [[[2, 0], [0, 1]], [[1, 0], [0, 3]]], "b": [[0, 1], [3, -1]], "x0": [1, 2], "sigma": 0}
QUADRATIC = build_problem("quadratic", OPTIONS)


@pytest.mark.parametrize("name", EVERY)
def test_a_horizon_that_the_run_has_not_reached_has_no_left_side(name):
    series = Series(METRICS[name], np.array([2, 5]))
    series.add(1.0)
    assert np.isnan(series.values[1])


def test_each_quantity_has_its_own_units_and_unit_in_words():
    assert {one.units: one.unit for one in Quantity} == {
        (0, 2): "length²",
        (1, 0): "function value",
        (2, -2): "function value²/length²",
    }


def test_engines_ask_whether_a_quantity_is_one_of_a_model_and_not_which_is_none():
    """So one that is none, too, is refused where nobody measures it, by engines that do not know it."""
    of_clients = [f"Quantity.{one.name}" for one in Quantity if not one.of_model]
    texts = {path.name: path.read_text(encoding="utf-8") for path in Path(boundlab.__file__).parent.rglob("*.py")}
    assert [name for name, text in texts.items() if any(one in text for one in of_clients)] == ["_metric.py"]


def test_an_unknown_metric_is_refused_with_the_nearest():
    with pytest.raises(SpecError, match="did you mean gradient-norm"):
        metric("gradient-nrom")


def test_a_watch_asks_for_all_versions_of_a_mean_and_for_the_horizons_of_a_last_iterate():
    ks = np.array([2, 5])
    assert Watch(METRICS["gradient-norm"], QUADRATIC, ks).records.at(9).tolist() == [0, 1, 2, 3, 4]
    shown = Watch(METRICS["gap"], QUADRATIC, ks).records
    assert (shown.iterations.tolist(), shown.average, shown.events) == ([2, 5], False, False)


@given(st.floats(), st.floats(0.0))
def test_what_differs_by_at_most_an_error_lies_between_the_ends(value, error):
    if np.nextafter(value + error, np.inf) < 0.0:
        with pytest.raises(RuntimeError, match="none is negative"):
            Enclosure.around([value], [error])
        return
    found = Enclosure.around([value], [error])
    assert (found.lower >= 0.0).all()
    if not np.isfinite(value + error) or not np.isfinite(value - error):
        assert (found.lower, found.upper) == ([0.0], [np.inf])
        return
    assert found.lower <= found.value <= found.upper
    for end in (Fraction(value) - Fraction(error), Fraction(value) + Fraction(error)):
        assert Fraction(float(found.lower[0])) <= max(end, 0) <= Fraction(float(found.upper[0]))
    assert found.upper <= np.nextafter(value + error, np.inf)


SHAPES = [(5,), (3, 5), (2, 5), (40, 5), (5, 2), (1, 7)]  # of points, and of trials × points


@pytest.mark.sweep(2)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("terms", [1, 2, 3])
def test_a_sum_is_one_of_terms_whatever_trials_and_points_there_are(shape, terms):
    rng = np.random.default_rng(46)
    parts = []
    for share in (Fraction(3, 2), Fraction(1000), Fraction(1, 7))[:terms]:
        value = rng.uniform(1.0, 2.0, shape)
        below, above = rng.uniform(0.0, 0.5, shape), rng.uniform(0.0, 9.0, shape)
        parts.append((share, Enclosure(value, value - below, value + above)))
    found = Enclosure.weighted(parts)
    for place in np.ndindex(shape):
        exact = {
            name: sum(share * Fraction(float(getattr(one, name)[place])) for share, one in parts)
            for name in ("value", "lower", "upper")
        }
        assert found.value[place] == pytest.approx(float(exact["value"]), rel=1e-14)
        assert Fraction(float(found.lower[place])) <= exact["lower"]
        assert exact["upper"] <= Fraction(float(found.upper[place]))
    assert found.value.shape == found.lower.shape == found.upper.shape == shape
