"""The plug-in of pytest, as the tests of a paper's repository use it."""

import json
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import pytest
from own_theorem import own_theorem

from boundlab.cli import invoke

ROOT = next(folder for folder in Path(__file__).parents if (folder / "pyproject.toml").exists())
MINE = own_theorem(title="AREA with any constant step")
WRONG = """
id = "descent"
title = "gradient descent on convex functions, with 5 where 2 should be"
algorithm = "gd"
metric = "gap"
assumptions = ["convex", "smooth", "deterministic"]
conditions = ["alpha*L <= 1"]
[step]
alpha = "alpha"
[terms]
all = "R**2/(5*alpha*K)"
"""
# where one of these is set, pytest prints whole messages in its summary and hypothesis takes another profile
SAID_BY_SERVERS = ("CI", "BUILD_NUMBER", "GITHUB_ACTIONS")
HEAVY = ("numpy", "scipy", "sympy", "hypothesis", "boundlab.theorems", "boundlab.api")


@dataclass(frozen=True)
class Ran:
    """A run of pytest in a folder."""

    code: int
    out: str
    folder: Path

    @property
    def json(self) -> dict:
        return json.loads((self.folder / "verdicts.json").read_text(encoding="utf-8"))


def run(folder: Path, *options: str, plugins: tuple[str, ...] = ("-p", "boundlab.testing.plugin")) -> Ran:
    """Run pytest there, without other plug-ins; the entry point of this one need not be installed."""
    dropped = {"BOUNDLAB_PATIENCE", *SAID_BY_SERVERS}
    inherited = {name: value for name, value in os.environ.items() if name not in dropped}
    environment = {**inherited, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "COLUMNS": "200"}
    command = [sys.executable, "-m", "pytest", *plugins, "-p", "no:cacheprovider", "--strict-markers", *options]
    found = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return Ran(found.returncode, found.stdout + found.stderr, folder)


def last_line_of_the_workflow() -> list[str]:
    """Return the command of the five-line file that tests the theorem."""
    text = (ROOT / "docs" / "theorem.yml").read_text(encoding="utf-8")
    assert len(text.splitlines()) == 5
    assert text in (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")
    (command,) = re.findall(r"run: 'pytest (.*)'", text)
    return shlex.split(command)


@pytest.mark.slow  # pytest in a process of its own
def test_the_five_lines_catch_a_wrong_constant_and_what_is_printed_repeats_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.toml").write_text(WRONG)
    ran = run(tmp_path, *last_line_of_the_workflow(), "--junitxml", "junit.xml")
    assert ran.code == pytest.ExitCode.TESTS_FAILED
    assert "collected 3 items" in ran.out
    assert ran.json["verdicts"]["violated"] >= 1
    refuted = [one for one in ran.json["findings"] if one["verdict"] == "violated"]
    monkeypatch.chdir(tmp_path)
    for one in refuted:
        assert (tmp_path / one["case"]).is_file()
        assert f"reproduce: {one['reproduce']}" in ran.out
        assert invoke(shlex.split(one["reproduce"])[1:]) == 1
    written = ElementTree.parse(tmp_path / "junit.xml")  # noqa: S314  (pytest wrote it just now)
    tests = {one.get("name"): one for one in written.iter("testcase")}
    assert set(tests) == {"checks", "comparison", "search"}
    properties = [(one.get("name"), one.get("value")) for one in tests["search"].iter("property")]
    assert ("boundlab.search", "mine.toml: violated") in properties
    assert "Traceback" not in ran.out


@pytest.mark.nightly
def test_a_true_theorem_passes_and_the_summary_says_what_was_seen(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(MINE)
    ran = run(tmp_path, "--boundlab-theorem=mine.toml", "--boundlab-candidates=5", "--boundlab-json=verdicts.json")
    assert ran.code == pytest.ExitCode.OK, ran.out
    assert ran.json["schema"] == "boundlab/theorem-tests/1"
    assert sum(ran.json["verdicts"].values()) == len(ran.json["findings"]) >= 4
    assert not {"violated", "failed"} & set(ran.json["verdicts"])
    sampled = [one for one in ran.json["findings"] if one["trials"]]
    assert sampled
    assert all(0.0 < one["false_alarm"] <= 1e-6 and 0.0 < one["gap"] <= 0.11 for one in sampled)
    assert sum(one["false_alarm"] for one in sampled) <= 1e-6
    assert "a true theorem fails by chance with probability" in ran.out
    assert not list(tmp_path.glob("*.case.json"))


def test_it_is_light_and_silent_where_nothing_is_asked_of_it(tmp_path: Path) -> None:
    (tmp_path / "test_light.py").write_text(
        "import sys, pytest\n\n@pytest.mark.boundlab\ndef test_light():\n"
        f"    assert not [name for name in {HEAVY} if name in sys.modules]\n"
    )
    ran = run(tmp_path, "-W", "error")
    assert ran.code == pytest.ExitCode.OK, ran.out
    assert "1 passed" in ran.out
    assert "boundlab" not in ran.out.replace(str(tmp_path), "")


@pytest.mark.slow
def test_a_violation_that_a_test_expects_is_counted_as_one(tmp_path: Path) -> None:
    (tmp_path / "wrong.toml").write_text(WRONG, encoding="utf-8")
    (tmp_path / "test_wrong.py").write_text(
        "import pytest\nfrom boundlab.testing import assert_bound_holds\n\n"
        "asks = lambda: assert_bound_holds('wrong.toml', 'huber:w=[1],c=[0],x0=1,delta=0.14', 'deterministic', "
        "iterations=3, alpha=1, candidates=0)\n\n"
        "def test_expected():\n    with pytest.raises(AssertionError):\n        asks()\n\n"
        "def test_failed():\n    asks()\n"
    )
    ran = run(tmp_path)
    assert "1 violated, 1 violated as a test expects" in ran.out
    assert ran.out.count("reproduce: ") == 2  # in the failure, and in the summary


@pytest.mark.nightly
def test_processes_bring_what_they_found_to_one_summary(tmp_path: Path) -> None:
    ran = run(
        tmp_path,
        "-n",
        "2",
        "--boundlab-theorem=classics.subgradient",
        "--boundlab-theorem=classics.subgradient",
        "--boundlab-candidates=5",
        "--boundlab-json=verdicts.json",
        "-k",
        "checks or search",
        plugins=("-p", "xdist", "-p", "boundlab.testing.plugin"),
    )
    assert ran.code == pytest.ExitCode.OK, ran.out
    assert ran.json["verdicts"] == {"inconclusive": 1, "passed": 1}
    assert "1 inconclusive, 1 passed" in ran.out


@pytest.mark.nightly
def test_files_that_are_no_theorems_fail_with_a_line_each(tmp_path: Path) -> None:
    files = {"open": MINE.replace("A/(2", "open('x')/(2"), "aera": MINE.replace('"area"', '"aera"'), "half": "id = "}
    for name, text in files.items():
        (tmp_path / f"{name}.toml").write_text(text)
    named = [f"--boundlab-theorem={name}.toml" for name in (*files, "absent")]
    ran = run(tmp_path, *named, "-k", "checks")
    assert ran.code == pytest.ExitCode.TESTS_FAILED
    assert "4 failed" in ran.out
    for words in ("open", "did you mean area?", "half.toml", "there is no such file"):
        assert words in ran.out
    assert "Traceback" not in ran.out


@pytest.mark.nightly
def test_what_a_theorem_is_not_about_is_skipped_counted_and_less_than_holds(tmp_path: Path) -> None:
    nowhere = WRONG.replace('"deterministic"]', '"deterministic", "uniform-sampling"]')
    (tmp_path / "mine.toml").write_text(nowhere)
    options = ["--boundlab-theorem=mine.toml", "--boundlab-candidates=0", "-k", "comparison or search"]
    ran = run(tmp_path, *options, "-rs")
    assert ran.code == pytest.ExitCode.OK, ran.out
    assert "2 skipped" in ran.out
    assert "no built-in setting is one that it is about" in ran.out
    assert "1 not applicable" in ran.out
    assert run(tmp_path, *options, "--boundlab-require=holds").code == pytest.ExitCode.TESTS_FAILED
    assert "candidates must be between 0" in run(tmp_path, *options[:1], "--boundlab-candidates=-3").out


def test_a_file_that_cannot_be_written_is_bad_usage_before_the_work(tmp_path: Path) -> None:
    ran = run(tmp_path, "--boundlab-theorem=classics.gd.convex", "--boundlab-json=nowhere/found.json")
    assert ran.code == pytest.ExitCode.USAGE_ERROR
    assert "cannot write nowhere/found.json" in ran.out
    assert "passed" not in ran.out
