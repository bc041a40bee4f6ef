"""A bound is asserted: computed, sampled by design, searched; a true theorem never fails, a false one leaves a case."""

import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from boundlab.case import load_case
from boundlab.cli import invoke
from boundlab.compare.judge import trials_to_refute
from boundlab.compare.trials import run_trials
from boundlab.errors import AssumptionError, BoundlabError, SpecError
from boundlab.testing import BoundFinding, BoundViolation, CompareOptions, assert_bound_holds
from boundlab.testing._bound import Require, judged
from boundlab.theorems import load_theorem
from boundlab.verdict import Verdict

LAD: dict[str, Any] = {"problem": "lad:x0=3", "delays": "iid:p_s=0.5", "iterations": 6, "M": 50}
NOISY: dict[str, Any] = {
    "problem": "lad:x0=1,sigma=0.5",
    "delays": "iid:p_s=0.5",
    "iterations": 30,
    "M": 2,
    "candidates": 0,
}


def violated(*arguments: Any, **options: Any) -> BoundViolation:
    with pytest.raises(BoundViolation) as found:
        assert_bound_holds(*arguments, **options)
    return found.value


def test_a_computed_violation_has_its_instance_its_case_and_a_command_that_repeats_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    error = violated("area.theorem8", **LAD)
    assert isinstance(error, AssertionError)
    (finding,) = error.findings
    assert (finding.part, finding.verdict, finding.trials, finding.false_alarm) == ("comparison", "violated", 0, 0.0)
    text = str(error)
    assert "at K = 6 the value 2.527 is above the bound 2.142 (computed, not sampled)" in text
    assert "instance: lad:x0=3 under iid:p_s=0.5, K = 6, M = 50" in text
    assert f"case: {finding.case}\nreproduce: boundlab compare area.theorem8 --problem lad:x0=3" in text
    assert load_case(tmp_path / finding.case).algorithm.id == "area"
    assert invoke(shlex.split(finding.reproduce)[1:]) == 1


@pytest.mark.nightly
def test_a_search_finds_what_no_setting_shows(tmp_path: Path) -> None:
    error = violated("area.theorem8", "lad:x0=3", "iid:p_s=0.5", iterations=60, M=2, candidates=200, folder=tmp_path)
    assert [one.part for one in error.findings] == ["comparison", "search"]
    comparison, search = error.findings
    assert comparison.verdict == "holds"
    assert (search.verdict, search.false_alarm) == ("violated", 0.0)
    assert (tmp_path / "area.theorem8.counterexample.json").is_file()
    assert invoke(shlex.split(search.reproduce)[1:]) == 1


@pytest.mark.nightly
def test_a_sample_is_as_large_as_its_gap_asks_and_says_so() -> None:
    sizes = []
    for gap in (0.5, 0.2, 0.1):
        (one,) = assert_bound_holds("area.theorem8.repaired", **NOISY, gap=gap, most_trials=3000).findings
        assert one.false_alarm == 1e-6
        assert one.gap is not None
        assert 0.9 * gap < one.gap <= gap
        assert f"{one.trials} trials, false alarms at most 1e-06" in one.line()
        sizes.append(one.trials)
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[-1]


def test_what_fewer_trials_see_is_said() -> None:
    (few,) = assert_bound_holds("area.theorem8.repaired", **NOISY, trials=40).findings
    (limited,) = assert_bound_holds("area.theorem8.repaired", **NOISY, most_trials=60).findings
    (too_few,) = assert_bound_holds("area.theorem8.repaired", **NOISY, trials=2).findings
    assert (few.trials, limited.trials, too_few.trials) == (40, 60, 2)
    assert few.gap is not None
    assert limited.gap is not None
    assert few.gap > limited.gap > 0.1
    assert too_few.gap is None
    assert "they see no excess" in too_few.line()


@pytest.mark.nightly
def test_the_sample_that_decides_is_not_the_one_that_it_is_designed_by() -> None:
    setting = CompareOptions(
        load_theorem("area.theorem8.repaired"), NOISY["problem"], NOISY["delays"], None, 30, {"M": "2"}
    )
    (one,) = assert_bound_holds(setting, candidates=0).findings
    drawn = [run_trials(setting.plan(), 32, seed) for seed in (0, 0x5EED)]
    sizes = [trials_to_refute(one.left.lower / one.right.value, 0.1, 1e-6) for one in drawn]
    assert sizes[0] != sizes[1] == one.trials


@pytest.mark.nightly
def test_a_sampled_violation_is_at_the_level_of_its_false_alarms_and_is_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # How often lower limits at a level err is in tests/compare/test_confidence.py; half of 1 − level is their error.
    monkeypatch.chdir(tmp_path)
    (one,) = violated("area.theorem8", **{**LAD, "problem": "lad:x0=3,sigma=0.01"}, false_alarm=1e-4).findings
    assert one.trials >= 32
    command = shlex.split(one.reproduce)
    level = float(command[command.index("--level") + 1])
    assert (1.0 - level) / 2.0 == pytest.approx(one.false_alarm) == pytest.approx(1e-4)
    assert command[command.index("--trials") + 1] == str(one.trials)
    assert invoke(command[1:]) == 1


def test_holds_may_be_required() -> None:
    assert assert_bound_holds("area.theorem8.repaired", **LAD, require="holds", candidates=0).verdict is Verdict.HOLDS
    error = violated("area.theorem8.repaired", **NOISY, require="holds", trials=40)
    assert error.findings[0].verdict in ("consistent", "inconclusive")
    assert str(error).endswith("holds was required")


def test_several_horizons_are_a_run_each_and_share_the_false_alarms(tmp_path: Path) -> None:
    found = assert_bound_holds("area.theorem8.repaired", **{**NOISY, "iterations": [10, 20]}, trials=20).findings
    assert [one.false_alarm for one in found] == [5e-7, 5e-7]
    assert ["K = 10" in one.instance for one in found] == [True, False]
    horizons = np.array([3, 6])
    assert len(violated("area.theorem8", **{**LAD, "iterations": horizons}, folder=tmp_path).findings) == 2


def test_without_a_problem_the_theorem_is_looked_at_where_it_applies() -> None:
    found = assert_bound_holds("classics.subgradient", candidates=0).findings
    assert len(found) == 3
    assert len({one.instance for one in found}) == 3


def test_a_printed_order_of_magnitude_is_neither_refuted_nor_confirmed() -> None:
    found = assert_bound_holds("area.theorem7", candidates=10)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert found.findings[-1].verdict == "not applicable"
    with pytest.raises(BoundViolation, match="holds was required"):
        assert_bound_holds("area.theorem7", candidates=10, require="holds")


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"gap": 0}, SpecError, "gap must be between"),
        ({"false_alarm": 0.5}, SpecError, "false_alarm must be between"),
        ({"false_alarm": "nan"}, SpecError, "false_alarm must be a finite number"),
        ({"candidates": -1}, SpecError, "candidates must be between 0"),
        ({"trials": 1}, SpecError, "trials must be between 2"),
        ({"seed": -1}, SpecError, "seed must be between 0"),
        ({"require": "proved"}, SpecError, "require must be not-violated or holds"),
        ({"iterations": [], "require": "holds", "candidates": 0}, SpecError, "iterations is an empty list"),
        ({"iterations": np.array([])}, SpecError, "iterations is an empty list"),
        ({"problem": None, "iterations": ()}, SpecError, "iterations is an empty list"),
        ({"problem": None, "delays": "iid"}, SpecError, "delays and server go with a problem"),
        ({"problem": object()}, SpecError, "problem and delays must be specs"),
        ({"iterations": 2.5}, SpecError, "iterations must be an integer"),
        ({"delays": "deterministic"}, AssumptionError, "iid-events"),
        ({"problem": "quadratic"}, AssumptionError, "lipschitz"),
    ],
)
def test_bad_input_is_no_violation(options: dict[str, Any], error: type[BoundlabError], words: str) -> None:
    with pytest.raises(error, match=words):
        assert_bound_holds("area.theorem8", **{**LAD, **options})


@pytest.mark.parametrize("require", ["not-violated", "holds"])
def test_nothing_looked_at_is_no_pass(require: Require) -> None:
    with pytest.raises(AssumptionError, match="nothing was looked at"):
        judged((), require)


def test_a_setting_is_not_overwritten() -> None:
    setting = CompareOptions(load_theorem("area.theorem8"), "lad:x0=3", "iid:p_s=0.5", None, 6, {"M": "50"})
    with pytest.raises(SpecError, match="a setting has its own problem"):
        assert_bound_holds(setting, iterations=7)


def test_what_is_found_is_plain_data() -> None:
    from boundlab.testing._finding import listening

    heard: list[BoundFinding] = []
    with listening(heard.append):
        found = assert_bound_holds("area.theorem8.repaired", **LAD, candidates=0)
    assert tuple(heard) == found.findings
    assert assert_bound_holds("area.theorem8.repaired", **LAD, candidates=0).findings == found.findings
    assert len(heard) == 1
    assert set(heard[0].as_dict()) == {
        "theorem",
        "part",
        "verdict",
        "words",
        "instance",
        "trials",
        "false_alarm",
        "gap",
        "case",
        "reproduce",
    }


TRUE = """
id = "descent"
title = "gradient descent on convex functions"
algorithm = "gd"
metric = "gap"
assumptions = ["convex", "smooth", "deterministic"]
conditions = ["alpha*L <= 1"]
[step]
alpha = "alpha"
[terms]
all = "R**2/(2*alpha*K)"
"""


def test_a_file_with_a_true_theorem_passes(tmp_path: Path) -> None:
    (tmp_path / "descent.toml").write_text(TRUE)
    found = assert_bound_holds(tmp_path / "descent.toml", candidates=60, folder=tmp_path)
    assert found.verdict in (Verdict.HOLDS, Verdict.CONSISTENT)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["descent.toml"]
