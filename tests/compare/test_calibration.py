"""Verdicts on samples are wrong no more often than promised: the table of docs/verdicts.md, smaller or again."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from benchmark_scripts import load

ROOT = Path(__file__).parents[2]


calibration = load("calibration")


@pytest.mark.parametrize("law", calibration.LAWS)
def test_every_law_has_mean_one_and_the_largest_value_that_is_said(law):
    u = (np.arange(200_000) + 0.5) / 200_000
    values = calibration.LAWS[law].quantile(u)
    assert values.mean() == pytest.approx(1.0, abs=0.03)
    assert values.min() >= 0.0
    assert values.max() <= calibration.LAWS[law].largest


@pytest.mark.sweep(6)
@pytest.mark.parametrize("trials", [2, 40])
@pytest.mark.parametrize("law", ["exponential", "rare", "uniform"])
def test_false_verdicts_are_no_more_frequent_than_promised(law, trials):
    # 40 experiments a cell; a promise that is kept fails with probability 0.001 for each of three kinds of error.
    assert calibration.broken(calibration.cell(law, trials, 40)) == []


@pytest.mark.nightly
@pytest.mark.parametrize("trials", calibration.TRIALS)
@pytest.mark.parametrize("law", calibration.LAWS)
def test_false_verdicts_of_all_laws_are_no_more_frequent_than_promised(law, trials):
    assert calibration.broken(calibration.cell(law, trials, int(os.environ.get("BOUNDLAB_EXAMPLES", "200")))) == []


def test_a_law_without_a_largest_value_never_holds():
    cell = calibration.cell("lognormal1", 10, 10)
    assert cell.holds == 0
    assert cell.consistent > 0


def test_a_broken_promise_is_found():
    wrong = calibration.Cell("rare", 2, 400, holds=40, consistent=0, violated=0, refuted=(0, 0, 0), joint=0)
    assert "false holds 40/400" in calibration.broken(wrong)[0]


def test_intervals_are_those_of_clopper_and_pearson():
    assert calibration.interval(0, 100) == pytest.approx((0.0, 1 - 0.025**0.01))
    assert calibration.interval(100, 100) == pytest.approx((0.025**0.01, 1.0))
    assert calibration.interval(5, 50) == pytest.approx((0.0333, 0.2181), abs=1e-4)


def test_no_promise_is_broken_in_what_was_measured():
    found = json.loads((ROOT / "benchmarks" / "calibration.json").read_text(encoding="utf-8"))
    cells = [calibration.Cell(**{**one, "refuted": tuple(one["refuted"])}) for one in found["cells"]]
    assert {(one.law, one.trials) for one in cells} == {
        (law, trials) for law in calibration.LAWS for trials in calibration.TRIALS
    }
    assert [words for one in cells for words in calibration.broken(one)] == []
