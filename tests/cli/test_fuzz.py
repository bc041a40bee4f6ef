"""Random command lines, sensible and mangled, end as the table of exit codes says: never with a crash."""

import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from command_fuzz import COMMANDS, RAISED, SHARES, Fuzz

from boundlab.cli import FORMER, invoke
from boundlab.verdict import ExitCode

REFUTING = ("compare", "exact", "check", "falsify", "worst-case", "prove", "recheck", "audit", "doctor")
REFUTED = ("violated", "failed", "exceeds", "false", "refuted", "rejected")
EXPECTED = {code for code in ExitCode if code not in (ExitCode.UNFORESEEN, ExitCode.INTERRUPTED)}
ANSWERS = {ExitCode.STANDS, ExitCode.REFUTED, ExitCode.UNDECIDED, ExitCode.NOT_APPLICABLE}
INVOCATIONS = int(os.environ.get("BOUNDLAB_FUZZ", "10000"))
ENCODINGS = ("utf-8", "ascii", "latin-1", "cp437", "utf-16", "ascii:strict", "cp037")
OUTPUTS = ("", "", ">&-", ">/dev/full", "| true", ">out.txt")
ERRORS = ("", "", "2>&-", "2>/dev/full")


def check(arguments: list[str], code: int, out: str, err: str) -> None:
    foreign = code == ExitCode.UNFORESEEN and "in the plug-in plugin" in err  # whose build raises, which doctor calls
    assert code in EXPECTED or foreign, (arguments, code, err)
    assert "Traceback" not in out + err, (arguments, err)
    assert err.count("\n") == 1 if code == ExitCode.USAGE else err.count("\n") <= 1, (arguments, err)
    if code == ExitCode.REFUTED:
        assert any(word in REFUTING for word in arguments), arguments
        assert any(word in out for word in REFUTED), (arguments, out)


def run(seed: int, count: int, place: Path, capsys: Any, monkeypatch: Any) -> None:
    """Run lines, of which at least half must have an answer: what is refused at once says little."""
    monkeypatch.chdir(place)
    fuzz, codes = Fuzz(random.Random(seed), place), Counter[int]()  # noqa: S311
    for _ in range(count):
        arguments = fuzz.line()
        code = invoke(arguments)
        codes[code] += 1
        check(arguments, code, *capsys.readouterr())
    assert 2 * sum(codes[code] for code in ANSWERS) >= count, codes


def test_every_command_is_drawn() -> None:
    assert sorted(SHARES) == sorted({*COMMANDS, *FORMER} - {"mcp"})  # which reads no line, but a protocol


@pytest.mark.slow  # 20 commands
@pytest.mark.sweep(3)
@pytest.mark.parametrize("seed", range(3))
def test_random_command_lines_end_as_the_table_says(seed: int, tmp_path: Path, capsys: Any, monkeypatch: Any) -> None:
    run(seed, 20, tmp_path, capsys, monkeypatch)


@pytest.mark.nightly
def test_ten_thousand_in_one_process(tmp_path: Path, capsys: Any, monkeypatch: Any) -> None:
    run(1000, INVOCATIONS, tmp_path, capsys, monkeypatch)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(2))
def test_whatever_a_plugin_raises_refutes_nothing(seed: int, tmp_path: Path, capsys: Any, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    for place, statement in enumerate(RAISED):
        fuzz = Fuzz(random.Random(100 * seed + place), tmp_path, statement)  # noqa: S311
        arguments = fuzz.line()
        code = invoke(arguments)
        out, err = capsys.readouterr()
        assert code in {*EXPECTED, ExitCode.UNFORESEEN}, (arguments, code)
        assert "Traceback" not in err
        assert code != ExitCode.REFUTED or any(word in out for word in REFUTED), arguments


def shell(seed: int, place: Path) -> None:
    """Run one command line in a process of its own, with hostile streams, and some with a plug-in that raises."""
    rng = random.Random(seed)  # noqa: S311
    fuzz = Fuzz(rng, place, rng.choice((*RAISED, *[""] * len(RAISED))))
    arguments = [word for word in fuzz.line() if "\0" not in word]
    outward, error = rng.choice(OUTPUTS), rng.choice(ERRORS)
    words = " ".join(_quoted(word) for word in arguments)
    script = f"set -o pipefail; $B {words} {error} {outward}"
    environment = {**os.environ, "B": f"{sys.executable} -m boundlab", "PYTHONIOENCODING": rng.choice(ENCODINGS)}
    done = subprocess.run(
        ["bash", "-c", script], env=environment, cwd=place, capture_output=True, check=False, timeout=600
    )
    told = done.stderr.replace(b"\0", b"")
    assert done.returncode in {*EXPECTED, ExitCode.UNFORESEEN}, (script, done)
    assert b"Traceback" not in told, (script, done)
    assert done.returncode != ExitCode.UNFORESEEN or fuzz.statement or "plugin" in script, (script, done)
    if done.returncode == ExitCode.REFUTED and outward != "| true":
        seen = done.stdout if outward == "" else (place / "out.txt").read_bytes()
        shown = seen.decode(environment["PYTHONIOENCODING"].split(":")[0])
        assert any(word in shown for word in REFUTED), (script, done)
    if outward in (">&-", ">/dev/full"):
        assert done.returncode not in (ExitCode.STANDS, ExitCode.REFUTED), (script, done)


def _quoted(word: str) -> str:
    escaped = word.replace("'", "'\\''")
    return f"'{escaped}'"


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(1000, 1500))
def test_five_hundred_with_hostile_streams(seed: int, tmp_path: Path) -> None:
    shell(seed, tmp_path)
