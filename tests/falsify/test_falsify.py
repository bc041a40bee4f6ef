"""The falsifier: what it must find, what must survive it, how it reports; commands that repeat; failures of engines."""

import json
import shlex
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from own_theorem import own_theorem
from sympy import Integer

from boundlab import errors
from boundlab.case import load_case
from boundlab.cli import invoke
from boundlab.exact import evaluate
from boundlab.falsify import Candidate, _judge, _result, _shared_runs, falsify
from boundlab.falsify._judge import Judge
from boundlab.falsify._result import trials_that_tell
from boundlab.falsify._search import answer, worst_cases
from boundlab.falsify._shrink import near_one, sequences, shrink, smaller, smallest
from boundlab.formulas.symbols import symbol
from boundlab.metrics import Enclosure
from boundlab.pages.results import BOTH_SIDES, OR, REPEAT
from boundlab.registry import registered
from boundlab.simulate import Ahead, in_order
from boundlab.theorems import Condition, FormulaBound, Theorem, load_theorem
from boundlab.verdict import ExitCode, Verdict


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
    """How a search reports what it finds; what it finds is in ``test_counterexamples.py``."""

    @pytest.mark.nightly
    def test_the_clearest_beside_the_smallest(self, tmp_path: Path) -> None:
        theorem = load_theorem("area.theorem8")
        found = falsify(theorem, limit=120)
        assert found.verdict.exit_code == 1
        assert found.best is not None
        assert found.clearest is not None
        assert 1.0 < found.ratio == found.best.ratio < 1.15 <= found.clearest.ratio
        assert found.best.iterations < found.clearest.iterations
        # The case file says the same again.
        path = tmp_path / "case.json"
        path.write_text(json.dumps(found.case), encoding="utf-8")
        again = evaluate(theorem, load_case(path))
        assert again.violated
        assert again.ratio == pytest.approx(found.ratio, rel=1e-12)


class TestSurvives:
    """What is true."""

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


class TestShrinking:
    """What smallest means."""

    def test_no_single_move_is_left(self) -> None:
        scorer = judge("area.theorem8")
        start = scorer.score(lad(50, 8))
        assert start is not None
        one = shrink(start, scorer, lambda: False).candidate
        M, p = int(one.settings["M"]), float(one.delays[7:-1])
        for other in (*(lad(M, fewer, p) for fewer in range(1, one.iterations)), lad(M - 1, one.iterations, p)):
            found = scorer.score(other)
            assert found is None or not found.violates

    @pytest.mark.nightly
    def test_integers_and_numbers_are_exchanged_for_iterations(self) -> None:
        # From six iterations single moves end at four; with thirty-four local steps and p_s near √2 − 1 three will do,
        # and with thirty-three they will not: (M + 1)/M·(1/p_s + 2/p) ≥ 34/33·(3 + 2√2) > 6 = 2K.
        scorer = judge("area.theorem8")
        start = scorer.score(lad(12, 6))
        assert start is not None
        found = smallest([start], scorer, lambda: False, np.random.default_rng(0))
        assert (found.candidate.iterations, found.candidate.settings["M"]) == (3, "34")
        assert 34 / 33 * (3 + 2 * 2**0.5) > 6 > 35 / 34 * (3 + 2 * 2**0.5)
        assert found.left == pytest.approx(1.0)

    def test_the_order(self) -> None:
        theorem = load_theorem("area.theorem8")
        # Fewer iterations before smaller integers; fewer sequences that matter before both, at one horizon.
        assert smaller(theorem, lad(100, 3), lad(2, 4))
        assert smaller(theorem, lad(4, 4), lad(5, 4))
        assert sequences(theorem, lad(2, 3)) == 1
        assert sequences(theorem, lad(2, 4)) == 2
        assert smaller(theorem, lad(4, 4, 0.5), lad(4, 4, 0.5001))
        normal = lad(4, 4).with_problem(type="huber", delta=1.0, sigma=1.0)
        assert smaller(theorem, normal.with_problem(noise="sign"), normal)

    def test_what_must_stay_stays(self) -> None:
        scorer = judge("area.theorem8")
        start = scorer.score(lad(12, 6))
        assert start is not None
        small = shrink(start, scorer, lambda: False, keep=lambda one: one.settings["M"] == "12")
        assert small.candidate.settings["M"] == "12"

    def test_units_change_nothing_but_the_numbers(self) -> None:
        scorer = judge("fedfa.theorem1")
        start = scorer.score(
            camps("deterministic:rates=[2,1]", {"Q": "1", "K": "1", "mode": "delta"}, {"eta_l": 1e-5}, 90)
        )
        assert start is not None
        assert start.left < 1e-6
        near = near_one(start, scorer)
        assert 0.1 <= near.left < 100.0
        assert near.ratio == pytest.approx(start.ratio, rel=1e-4)


@pytest.mark.nightly
def test_the_closest_instance_is_reported_as_the_theorem_counts(tmp_path: Path) -> None:
    # L·R²/(2K) with a K that the paper may count 3 larger: under that count the bound at K = 1 is a quarter of it.
    theorem = tmp_path / "own.toml"
    theorem.write_text(
        'id = "own"\nalgorithm = "gd"\nmetric = "gap"\nassumptions = ["convex", "smooth", "minimiser"]\n'
        'conditions = ["alpha <= 1/L"]\n[step]\nalpha = "1/L"\n[terms]\nbound = "L*R**2/(2*K)"\n[generous]\nK = 3\n',
        encoding="utf-8",
    )
    found = falsify(load_theorem(str(theorem)), limit=60)
    assert not found.violated
    assert found.best is not None
    constants = {name: one.value for name, one in found.best.constants.items()}
    own = constants["L"] * constants["R"] ** 2 / (2 * found.best.iterations)
    assert found.best.right == pytest.approx(own, rel=1e-9)
    assert found.best.generous == pytest.approx(
        found.ratio * (found.best.iterations + 3) / found.best.iterations, rel=1e-6
    )


def test_worst_cases_are_asked_about_random_events_too() -> None:
    scorer = judge("area.theorem8.repaired")
    for ask, _ in zip(worst_cases(scorer), range(2), strict=False):
        answer(scorer, ask)
    assert scorer.tried.total() == 2
    assert not scorer.refused


SMALL = ("--candidates", "5")


def test_nothing_found_is_never_holds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = invoke(["falsify", "area.theorem8.repaired", *SMALL, "--out", str(tmp_path)])
    out = capsys.readouterr().out
    assert code == 3
    assert "holds" not in out
    assert "closest instance" in out
    assert "inconclusive" in out
    assert "what was tried" in out
    assert [path.name for path in tmp_path.iterdir()] == ["result.json"]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["area.theorem7"], 4, "printed O"),
        (["area.theorem9"], 2, "area.theorem9"),
        (["area.theorem8", "--budget", "0"], 2, "budget must be > 0"),
        (["area.theorem8", "--budget", "nan"], 2, "must be a finite number"),
        (["area.theorem8", "--candidates", "0"], 2, "candidates must be between 1 and"),
    ],
)
def test_wrong_usage_is_one_line(
    arguments: list[str], code: int, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(["falsify", *arguments]) == code
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1


def test_a_bound_of_zero_is_refuted_with_no_finite_ratio(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "zero.toml"
    file.write_text(
        'id = "zero"\nmetric = "gap"\nalgorithm = "gd"\nassumptions = ["convex", "smooth"]\n'
        '[step]\nalpha = "1/L"\n[terms]\nmain = "0*L*R**2/K"\n'
    )
    assert invoke(["falsify", str(file), "--candidates", "3", "--json", "--out", str(tmp_path / "out")]) == 1
    best = json.loads(capsys.readouterr().out)
    case, result = tmp_path / "out" / "zero.counterexample.json", tmp_path / "out" / "result.json"
    assert best["written"] == [str(result), str(case)]
    assert case.exists()
    assert result.exists()
    assert "Infinity" not in json.dumps(best)
    assert None in [part.get("ratio", 0) for part in [best, *best.values()] if isinstance(part, dict)]


REFUTED = sorted(name for name, one in registered("theorems").items() if one.of_paper and not one.shape)
QUICK = ("fedstaleweight.theorem1",)
PLUGIN = "BOUNDLAB = {}"


def printed(arguments: list[str], capsys: Any) -> tuple[int, list[list[str]], list[list[str]]]:
    """Return how a search ends, the commands that repeat its verdict, and those that show both sides."""
    code = invoke(arguments)
    lines = capsys.readouterr().out.splitlines()
    again = [line.removeprefix(REPEAT).removeprefix(OR) for line in lines if line.startswith((REPEAT, OR))]
    shown = [line.removeprefix(BOTH_SIDES) for line in lines if line.startswith(BOTH_SIDES)]
    return code, [shlex.split(line) for line in again], [shlex.split(line) for line in shown]


def repeats(arguments: list[str], capsys: Any) -> None:
    code, again, _ = printed(arguments, capsys)
    assert code == ExitCode.REFUTED
    assert again
    for program, *words in again:
        assert program == "boundlab"
        assert (invoke(words), "violated" in capsys.readouterr().out) == (ExitCode.REFUTED, True), words


@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=[] if one in QUICK else pytest.mark.nightly) for one in REFUTED]
)
def test_each_command_of_a_refutation_refutes(name: str, tmp_path: Path, capsys: Any, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    repeats(["falsify", name, "--candidates", "400"], capsys)


@pytest.mark.nightly
def test_paths_and_plugins_are_named_as_a_shell_needs_them(tmp_path: Path, capsys: Any, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my [own].toml").write_text(own_theorem("20"), encoding="utf-8")
    (tmp_path / "a plug-in.py").write_text(PLUGIN, encoding="utf-8")
    arguments = ["--plugin", "a plug-in.py", "falsify", "my [own].toml", "--candidates", "20", "--out", "the result"]
    code, again, _ = printed(arguments, capsys)
    assert code == ExitCode.REFUTED
    assert all(words[1:3] == ["--plugin", "a plug-in.py"] for words in again)
    for words in again:
        assert invoke(words[1:]) == ExitCode.REFUTED
        capsys.readouterr()


@pytest.mark.parametrize(
    ("violated", "computed", "said", "trials"),
    [
        # What a comparison of 2, of 100 and of 1000 trials says: violated or not.
        (True, True, {2: True}, 2),
        (True, True, {2: False}, None),
        (True, False, {2: False, 100: True}, 100),
        (True, False, {2: False, 100: False, 1000: True}, 1000),
        (True, False, {2: False, 100: False, 1000: False}, None),
        (False, True, {2: False}, 2),
        (False, True, {2: True}, None),
        (False, False, {2: False, 100: False}, 100),
        (False, False, {2: False, 100: True}, None),
    ],
)
def test_the_number_of_trials_is_the_least_that_tells(
    violated: bool, computed: bool, said: dict[int, bool], trials: int | None, monkeypatch: Any
) -> None:
    def answer(_theorem: Any, _candidate: Any, asked: int) -> tuple[bool, Verdict]:
        return computed, Verdict.VIOLATED if said.pop(asked) else Verdict.INCONCLUSIVE

    monkeypatch.setattr(_result, "_said", answer)
    one = Candidate("given", {}, "exponential", {}, {}, 1)
    assert trials_that_tell(load_theorem("classics.gd.convex"), one, violated=violated) == trials
    assert not said


@pytest.mark.nightly
def test_a_comparison_whose_sample_does_not_tell_is_not_named() -> None:
    # Left over right is 1.02, on 100 and on 1000 trials inside the band.
    problem = {"type": "huber", "c": [0.0], "w": [1.0], "delta": 6.0, "x0": 0.0, "sigma": 100.0, "noise": "sign"}
    one = Candidate("given", problem, "exponential", {}, {"eta_l": 0.001}, 26)
    assert trials_that_tell(load_theorem("fedstaleweight.theorem1"), one, violated=True) is None


def test_a_comparison_that_computes_needs_two_trials() -> None:
    problem = {"type": "lad", "c": [0.0], "w": [1.0], "x0": 1.0, "sigma": 0.0}
    one, theorem = Candidate("given", problem, "iid:p=[0.5]", {"M": "4"}, {}, 4), load_theorem("area.theorem8")
    assert trials_that_tell(theorem, one, violated=True) == 2
    assert trials_that_tell(theorem, one, violated=False) is None


def test_a_case_holds_the_symbols_of_a_theorems_own(tmp_path: Path, capsys: Any, monkeypatch: Any) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        'id = "mine"\nalgorithm = "gd"\nmetric = "ergodic-gap"\nassumptions = ["convex", "minimiser"]\n'
        '[symbols.theta]\nmeaning = "a factor of the step"\ndomain = "positive"\nunits = [-1, 2]\nside = "any"\n'
        '[step]\nalpha = "theta/K"\n[terms]\nbound = "R**2/(8*theta)"\n',
        encoding="utf-8",
    )
    monkeypatch.chdir(tmp_path)
    repeats(["falsify", str(path), "--candidates", "60", "--budget", "30"], capsys)


FAILURES = (
    errors.TapeError("two engines differ"),
    errors.SpecError("no engine"),
    errors.CertificateError("no certificate"),
    errors.UndecidedError("too many digits"),
    ZeroDivisionError("0"),
    OverflowError("large"),
    np.linalg.LinAlgError("singular"),
)


def wrong() -> Theorem:
    """Return a theorem that is refuted at once."""
    theorem = load_theorem("classics.gd.ergodic")
    return replace(theorem, id="wrong", status="user", bound=FormulaBound({"nothing": Integer(0)}))


def everywhere() -> Iterator[Any]:
    """Yield each failure at each place: by day the last one, and one of ours where an instance is confirmed."""
    for where in ("confirm", "evaluate", "alone"):
        for failure in FAILURES:
            by_day = failure is FAILURES[-1] or (where == "confirm" and failure is FAILURES[0])
            marks = () if by_day else pytest.mark.nightly
            yield pytest.param(failure, where, marks=marks, id=f"{where}-{type(failure).__name__}")


@pytest.mark.sweep(4)
@pytest.mark.parametrize(("failure", "where"), list(everywhere()))
def test_what_fails_is_counted_and_ends_nothing(
    failure: Exception, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise failure

    room, name = {
        "confirm": (_result, "left_of"),
        "evaluate": (_shared_runs, "run_columns"),
        "alone": (_judge, "plan_of"),
    }[where]
    monkeypatch.setattr(room, name, fails)
    theorem = load_theorem("area.theorem8.repaired") if where == "alone" else wrong()
    found = falsify(theorem, limit=5)
    assert not found.violated
    assert any(str(failure) in reason for reason in found.refused)


def test_engines_that_differ_refute_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_result, "left_of", lambda plan, *_: Enclosure.around(np.full(len(plan.ks), 7.0), 0.0))
    found = falsify(wrong(), limit=5)
    assert not found.violated
    assert any("differ on the left side" in reason for reason in found.refused)


@pytest.mark.nightly
def test_refused_candidates_do_not_count() -> None:
    # Hardly any step meets the condition.
    theorem = load_theorem("classics.gd.convex")
    alpha, L = symbol("alpha"), symbol("L")
    few = replace(theorem, id="few", conditions=(*theorem.conditions, Condition(alpha, 1 / (50 * L), "α ≤ 1/(50L)")))
    found = falsify(few, limit=100)
    assert sum(found.tried.values()) >= 100
    assert sum(found.refused.values()) > 0


@pytest.mark.nightly
def test_a_theorem_that_applies_to_nothing_ends_and_says_why(capsys: pytest.CaptureFixture[str], tmp_path) -> None:
    file = tmp_path / "nothing.toml"
    file.write_text(
        'id = "nothing"\nmetric = "gap"\nalgorithm = "gd"\nassumptions = ["convex", "smooth", "minimiser"]\n'
        'conditions = ["2*n <= n"]\n[step]\nalpha = "1/L"\n[terms]\nmain = "L*R**2/K"\n'
    )
    assert invoke(["falsify", str(file), "--candidates", "2", "--out", str(tmp_path / "out")]) == 3
    shown = capsys.readouterr().out
    assert "candidates were skipped" in shown
    assert "a condition that is not met" in shown


def test_weights_of_zero_are_a_problem_like_any_other() -> None:
    theorem = load_theorem("classics.gd.nonconvex")
    problem = {"type": "huber", "c": [0.0, 1.0], "w": [1.0, 1.0], "delta": 1.0, "x0": 0.5, "sigma": 0.0}
    some = [problem, {**problem, "w": [0.0, 1.0]}, {**problem, "w": [0.0, 0.0]}]
    judge = Judge(theorem, float("inf"))
    found = judge.scores([Candidate("test", one, "deterministic", {}, {}, 5) for one in some])
    assert len(found) == 2
    assert judge.count == 2
    assert sum(judge.refused.values()) == 1


@pytest.mark.sweep(4)
@pytest.mark.parametrize(
    ("step", "algorithm", "metric"),
    [
        ({"eta_l": symbol("eta_l"), "eta_g": Integer(1)}, "fedbuff", "gradient-norm"),
        ({"eta_l": symbol("eta_l"), "eta_g": symbol("eta_g")}, "fedbuff", "gradient-norm"),
        ({"c": symbol("c"), "d": symbol("d")}, "gd", "gradient-norm"),
        ({"alpha": symbol("alpha"), "beta": symbol("beta")}, "heavy_ball", "gradient-norm"),
    ],
)
def test_whatever_rates_are_open_some_candidates_are_looked_at(step, algorithm: str, metric: str) -> None:
    theorem = Theorem(
        id="open",
        title="",
        paper="",
        place="",
        status="user",
        assumptions=("smooth", "bounded-below"),
        algorithm=algorithm,
        options={},
        metric=metric,
        horizon="every",
        step=step,
        parameters={},
        bound=FormulaBound({"huge": 10**9 * (symbol("F0") * symbol("L") + 1)}),  # from a minimiser F0 is 0
    )
    found = falsify(theorem, limit=60)
    assert sum(found.tried.values()) >= 60


def test_a_bound_below_zero_is_refuted() -> None:
    theorem = load_theorem("classics.gd.convex")
    below = replace(theorem, id="below", bound=FormulaBound({"main": -symbol("L") * symbol("R") ** 2}))
    found = falsify(below, limit=30)
    assert found.violated


def test_a_symbol_that_nothing_gives_a_value_ends_the_search_at_once(tmp_path: Path) -> None:
    path = tmp_path / "theorem.toml"
    path.write_text(
        """id = "own"
title = "enough iterations for the accuracy eps"
algorithm = "gd"
metric = "gap"
assumptions = ["convex", "smooth", "minimiser"]
conditions = ["L*R**2 <= 2*K*eps"]
[step]
alpha = "1/L"
[terms]
bound = "eps"
[symbols.eps]
meaning = "accuracy"
units = [1, 0]
""",
        encoding="utf-8",
    )
    with pytest.raises(errors.AssumptionError, match=r"nothing says what eps \(accuracy\) may be.*--set eps="):
        falsify(load_theorem(str(path)))


def told(theorem: str, limit: int, seed: int, jobs: int) -> dict[str, Any]:
    found = falsify(load_theorem(theorem), 1e9, seed, None, limit, jobs).as_dict()
    found.pop("seconds")
    plain: dict[str, Any] = json.loads(json.dumps(found, default=str))
    return plain


@pytest.mark.slow  # searches on one process and on several
@pytest.mark.parametrize(
    ("theorem", "limit"),
    [
        pytest.param("fedbuff.rf1", 300, marks=pytest.mark.nightly),
        pytest.param("fedstaleweight.theorem1", 150, marks=pytest.mark.nightly),
        pytest.param("area.theorem7.explicit", 150, marks=pytest.mark.nightly),
        pytest.param("classics.gd.gradient", 700, marks=pytest.mark.nightly),  # with worst cases
        ("classics.gd.convex", 60),
    ],
)
def test_the_answer_does_not_depend_on_the_processes(theorem: str, limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # The comparison that repeats an instance follows from it, and takes longer than to find it.
    monkeypatch.setattr(_result, "trials_that_tell", lambda *_, **__: None)
    assert told(theorem, limit, 1, 3) == told(theorem, limit, 1, 1)


def test_work_is_done_in_order_and_only_a_little_ahead() -> None:
    def endless() -> Any:
        number = 0
        while True:
            asked.append(number)
            yield number
            number += 1

    for jobs in (1, 3):
        asked: list[int] = []
        with Ahead(abs, jobs) as workers:
            results = workers.map(endless())
            assert [next(results) for _ in range(10)] == list(range(10))
            assert list(workers.map([-3, 2])) == [3, 2]
        assert len(asked) <= 10 + 3 * jobs


@pytest.mark.nightly
def test_processes_end_when_work_fails_or_is_no_longer_asked_for() -> None:
    # Results larger than a pipe: who writes one holds the lock of the queue, and must not be killed with it.
    def work(number: int) -> bytes:
        if number == 3:
            raise ValueError("no")
        return bytes(200_000)

    for _ in range(5):
        with pytest.raises(ValueError, match="no"):
            list(in_order(work, 100, 2))
        with Ahead(work, 2) as workers:
            assert next(workers.map(iter(int, 1))) == bytes(200_000)
