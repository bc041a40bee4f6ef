"""Every command that a search prints ends, when it is run, with the verdict beside which it stands."""

import shlex
from pathlib import Path
from typing import Any

import pytest
from own_theorem import own_theorem

from boundlab.cli import invoke
from boundlab.falsify import Candidate, _result
from boundlab.falsify._result import trials_that_tell
from boundlab.pages.results import BOTH_SIDES, OR, REPEAT
from boundlab.registry import registered
from boundlab.theorems import load_theorem
from boundlab.verdict import ExitCode, Verdict

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


@pytest.mark.nightly
def test_of_the_closest_instance_both_sides_are_shown(tmp_path: Path, capsys: Any, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    code, again, shown = printed(["falsify", "classics.gd.convex", "--candidates", "30"], capsys)
    assert (code, again, len(shown)) == (ExitCode.UNDECIDED, [], 1)
    assert invoke(shown[0][1:]) == ExitCode.STANDS


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
