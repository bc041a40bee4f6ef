"""The falsifier: what it must find by itself, what must survive it, and how it reports."""

import json
from pathlib import Path

import numpy as np
import pytest

from boundlab.case import load_case
from boundlab.errors import AssumptionError, SpecError
from boundlab.exact import evaluate
from boundlab.falsify import Candidate, falsify
from boundlab.falsify._judge import Judge
from boundlab.falsify._shrink import CLEAR, shrink, threshold
from boundlab.theorems import load_theorem

CASES = Path(__file__).parents[2] / "proofs" / "counterexamples"


def judge(name: str) -> Judge:
    return Judge(load_theorem(name), float("inf"))


def lad(local: int, horizon: int, p: float = 0.5) -> Candidate:
    """Return |x| on one client, started at 1: the ratio of the sides does not depend on where."""
    problem = {"type": "lad", "c": [0.0], "w": [1.0], "x0": 1.0, "sigma": 0.0}
    return Candidate("test", problem, f"iid:p=[{p}]", {"M": str(local)}, {}, horizon)


def camps(delays: str, settings: dict[str, str], step: dict[str, float], horizon: int) -> Candidate:
    """Two clients that pull to 0 and to 1, started at the minimiser 1/2."""
    problem = {"type": "huber", "c": [0.0, 1.0], "w": [1.0, 1.0], "delta": 1.0, "x0": 0.5, "sigma": 0.0}
    return Candidate("test", problem, delays, settings, step, horizon)


class TestFinds:
    """What is refuted without a hint."""

    def test_theorem8_by_an_exact_number(self, tmp_path: Path) -> None:
        theorem = load_theorem("area.theorem8")
        found = falsify(theorem, limit=200)
        assert found.violated
        assert found.verdict.exit_code == 1
        assert found.ratio >= 1.15
        assert found.best is not None
        assert found.best.kind == "exact"
        assert found.best.candidate.clients == 1
        # The case file says the same again.
        path = tmp_path / "case.json"
        path.write_text(json.dumps(found.case), encoding="utf-8")
        again = evaluate(theorem, load_case(path))
        assert again.violated
        assert again.ratio == pytest.approx(found.ratio, rel=1e-12)

    def test_theorem1_of_fedfa_as_a_bias_of_unequal_rates(self) -> None:
        found = falsify(load_theorem("fedfa.theorem1"), limit=1200)
        assert found.violated
        assert found.best is not None
        assert found.best.kind == "exact"
        assert found.best.candidate.clients <= 2
        assert found.best.iterations <= 40

    def test_noise_that_fedstaleweight_forgets(self) -> None:
        found = falsify(load_theorem("fedstaleweight.theorem1"), limit=400)
        assert found.violated
        assert found.best is not None
        assert found.best.candidate.problem["sigma"] > 0.0
        assert found.best.candidate.clients == 1

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("name", "limit"),
        [
            ("fedcompass.theorem1", 9000),
            ("fedfa.theorem1.squared-smoothness", 2000),
            ("afl_dga.theorem1", 40_000),
            ("area.theorem8.fixed-step", 800),
        ],
    )
    def test_the_others_as_printed(self, name: str, limit: int) -> None:
        found = falsify(load_theorem(name), limit=limit)
        assert found.violated
        assert found.best is not None
        assert found.best.kind in ("exact", "enclosure")

    def test_the_same_for_the_same_limit(self) -> None:
        first, second = (falsify(load_theorem("area.theorem8.repaired"), limit=25, seed=3) for _ in range(2))
        assert first.best is not None
        assert second.best is not None
        assert first.best.as_dict(first.theorem) == second.best.as_dict(second.theorem)
        assert first.tried == second.tried


class TestSurvives:
    """What is true."""

    @pytest.mark.parametrize(
        ("name", "limit"), [("area.theorem8.repaired", 60), ("fedfa.param.b", 200), ("afl_dga.r1", 300)]
    )
    def test_repaired_theorems(self, name: str, limit: int) -> None:
        found = falsify(load_theorem(name), limit=limit)
        assert not found.violated
        assert found.verdict.exit_code == 3
        assert found.closest is found.best is not None
        assert 0.0 < found.ratio <= 1.0 + 1e-9
        assert sum(found.tried.values()) >= limit

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "name",
        [
            "fedcompass.window.a",
            "fedcompass.group",
            "fedfa.delta.a",
            "fedbuff.rf1",
            "fedstaleweight.rf3",
            "afl_dga.r2n",
        ],
    )
    def test_more_repaired_theorems(self, name: str) -> None:
        assert not falsify(load_theorem(name), limit=600).violated

    def test_the_instances_that_refute_the_printed_form(self) -> None:
        # The repaired Theorem 8 has M·B² in place of (M+1)·B²/2: for M = 12 almost twice as much under the root.
        printed, repaired = (judge(name).score(lad(12, 6)) for name in ("area.theorem8", "area.theorem8.repaired"))
        assert printed is not None
        assert repaired is not None
        assert printed.violates
        assert not repaired.violates


class TestBias:
    """Why a start at the minimiser refutes theorems that forget unequal rates."""

    def test_the_start_at_the_minimiser_leaves_the_second_order_term_alone(self) -> None:
        # f(x0) = inf f: the right side is 3·η²·(τ²+1)·σ² = 3·η²·2·(1 + 1/4). Client 1 arrives at 1, 2, 3, …, client 2
        # at 2, 4, …; each arrival moves x by η/2 towards its centre, so that x drifts by −η/2 every two arrivals of
        # three, and f' = x − 1/2 after T arrivals is about −η·T/6: the left side is about η²·T²/108.
        found = judge("fedfa.theorem1").score(
            camps("deterministic:rates=[2,1]", {"Q": "1", "K": "1", "mode": "delta"}, {"eta_l": 1e-4}, 300)
        )
        assert found is not None
        assert found.left == pytest.approx(1e-8 * 300**2 / 108, rel=0.05)
        assert found.violates

    def test_no_ratio_is_too_large(self) -> None:
        # The left side grows like T², the right one not at all.
        settings, step = {"Q": "1", "K": "1", "mode": "delta"}, {"eta_l": 1e-4}
        ratios = []
        for horizon in (50, 200):
            found = judge("fedfa.theorem1").score(camps("deterministic:rates=[2,1]", settings, step, horizon))
            assert found is not None
            ratios.append(found.ratio)
        # T² but for the initial term, which is not 0 but the rounding of f(x0) − inf f.
        assert ratios[1] == pytest.approx(16 * ratios[0], rel=0.15)


class TestShrinking:
    """What smallest means."""

    def test_no_single_move_is_left(self) -> None:
        scorer = judge("area.theorem8")
        start = scorer.score(lad(50, 8))
        assert start is not None
        small = shrink(start, scorer, lambda: False)
        assert small.ratio >= threshold(start.ratio)
        one = small.candidate
        assert one.iterations <= 8
        for fewer in range(1, one.iterations):
            other = scorer.score(lad(int(one.settings["M"]), fewer, float(one.delays[7:-1])))
            assert other is None or other.ratio < threshold(start.ratio)
        less = scorer.score(lad(int(one.settings["M"]) - 1, one.iterations, float(one.delays[7:-1])))
        assert less is None or less.ratio < threshold(start.ratio)

    def test_a_clear_violation_stays_clear(self) -> None:
        assert threshold(3.0) == CLEAR
        assert threshold(1.1) == pytest.approx(1.05)


class TestRefuses:
    """What is not searched."""

    def test_a_shape(self) -> None:
        with pytest.raises(AssumptionError, match="printed O"):
            falsify(load_theorem("area.theorem7"))

    @pytest.mark.parametrize("budget", [0.0, -1.0, float("nan")])
    def test_a_budget_that_is_not_positive(self, budget: float) -> None:
        with pytest.raises(SpecError, match="budget"):
            falsify(load_theorem("area.theorem8"), budget)

    def test_a_limit_of_zero(self) -> None:
        with pytest.raises(SpecError, match="candidates"):
            falsify(load_theorem("area.theorem8"), limit=0)


def case_files() -> list[Path]:
    return sorted(CASES.glob("*.json"))


def test_every_refuted_theorem_has_a_case_file() -> None:
    assert {path.stem for path in case_files()} >= {
        "afl_dga.theorem1", "area.theorem8", "area.theorem8.fixed-step", "fedcompass.corollary1.explicit",
        "fedcompass.theorem1", "fedfa.theorem1", "fedfa.theorem1.squared-smoothness", "fedstaleweight.theorem1",
    }  # fmt: skip


@pytest.mark.parametrize(
    "path", [path for path in case_files() if path.stem != "fedstaleweight.theorem1"], ids=lambda path: path.stem
)
def test_case_files_replay(path: Path) -> None:
    raw = json.loads(path.read_text(encoding="utf-8"))
    found = evaluate(load_theorem(raw["theorem"]), load_case(path))
    assert found.violated
    assert found.kind in ("exact", "enclosure")
    assert found.left == pytest.approx(raw["claim"]["left"], rel=1e-6)


def test_the_case_with_noise_replays() -> None:
    # No exact engine takes noise on a Huber function. The mean over the noise comes from the linear run, which stays
    # within the quadratic part: that is ten deviations wide.
    raw = json.loads((CASES / "fedstaleweight.theorem1.json").read_text(encoding="utf-8"))
    own = raw["problem"]
    weights = [float(one) for one in np.ravel(own["w"])]
    problem = {**own, "c": [float(one) for one in np.ravel(own["c"])], "w": weights, "x0": raw["x0"][0]}
    rates = load_theorem("fedstaleweight.theorem1").step
    settings = {name: str(value) for name, value in raw["parameters"].items() if name not in rates}
    step = {"eta_l": raw["parameters"]["eta_l"]}
    again = Candidate("file", problem, raw["delays"], settings, step, raw["iterations"])
    found = judge("fedstaleweight.theorem1").score(again)
    assert found is not None
    assert found.violates
    assert found.lost < 1e-6
    assert found.left == pytest.approx(raw["claim"]["left"], rel=1e-6)
