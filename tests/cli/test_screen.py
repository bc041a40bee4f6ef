"""What is printed reaches every terminal, and what does not reach it is never taken for an answer."""

import io
import json
import sys
import tempfile
from pathlib import Path

import pytest
from command_examples import QUICK, SLOW, quick

from boundlab.cli import invoke
from boundlab.cli.terminal import ENDINGS, Screen, spelled
from boundlab.verdict import ExitCode

ROOT = Path(__file__).parents[2]
LONG = ("compare", "falsify", "worst-case", "audit", "demo")
ENCODINGS = ("ascii", "latin-1", "cp437", "cp037", "shift_jis", "utf-16", "utf-7")


def line(command: str) -> list[str]:
    fresh = tempfile.mkdtemp(dir=Path()) if command == "new" else ""
    return [word.format(folder="plots", fresh=fresh) for word in quick(command)]


def shown(arguments: list[str], encoding: str, monkeypatch: pytest.MonkeyPatch) -> tuple[int, str, str]:
    """Run a command line on a terminal with a strict encoding, and return its code and what the terminal shows."""
    raw = io.BytesIO(), io.BytesIO()
    streams = [io.TextIOWrapper(one, encoding=encoding, errors="strict") for one in raw]
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", streams[0])
        patch.setattr(sys, "stderr", streams[1])
        code = invoke(arguments)
    for stream in streams:
        stream.flush()
    return code, *(one.getvalue().decode(encoding) for one in raw)  # type: ignore[return-value]


def test_every_command_has_an_example() -> None:
    serving = {"mcp"}  # ends when the assistant leaves
    assert {words[0] for words in {**QUICK, **SLOW}.values()} == {*ENDINGS} - serving


@pytest.mark.sweep(20)
@pytest.mark.parametrize(
    "command",
    [pytest.param(one, marks=[pytest.mark.nightly] if one in LONG else []) for one in (*QUICK, *SLOW)],
)
def test_every_command_ends_alike_under_every_encoding(
    command: str, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected, _, _ = shown(line(command), "utf-8", monkeypatch)
    assert expected in (ExitCode.STANDS, ExitCode.REFUTED, ExitCode.UNDECIDED)
    for encoding in ENCODINGS if command not in LONG else ("ascii",):
        code, out, err = shown(line(command), encoding, monkeypatch)
        assert (code, err) == (expected, ""), encoding
        assert out
        assert "\\u" not in out
        assert "?" not in out


@pytest.mark.sweep(2)
@pytest.mark.parametrize("command", sorted(ENDINGS))
def test_the_help_of_every_command_can_be_shown_everywhere(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for encoding in ENCODINGS:
        code, out, err = shown([command, "--help"], encoding, monkeypatch)
        assert (code, err) == (ExitCode.STANDS, "")
        assert "\\u" not in out
        assert "Exit codes" in out


@pytest.mark.sweep(7)
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_json_is_the_same_under_every_encoding(encoding: str, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for command in ("list", "show", "run CASE", "run"):
        _, expected, _ = shown([*line(command), "--json"], "utf-8", monkeypatch)
        _, out, _ = shown([*line(command), "--json"], encoding, monkeypatch)
        assert json.loads(out) == json.loads(expected)


def test_complaints_can_be_shown_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    for encoding in ENCODINGS:
        code, out, err = shown(["show", "λ‖\udcff"], encoding, monkeypatch)
        assert (code, out) == (ExitCode.USAGE, "")
        assert err.startswith("boundlab: unknown theorem")
        assert err.count("\n") == 1


def test_every_character_of_the_code_has_a_spelling() -> None:
    letters = set()
    for folder in ("boundlab", "problems", "proofs"):
        for path in (ROOT / folder).rglob("*.py"):
            letters |= set(path.read_text(encoding="utf-8"))
    lost = {letter: spelled(letter) for letter in letters if "\\" in spelled(letter) and letter != "\\"}
    assert lost == {}
    assert all(spelled(letter).isascii() for letter in letters)
    assert len([letter for letter in letters if not letter.isascii()]) > 60


def test_spellings_are_those_of_the_field() -> None:
    text = "‖x̄ − x*‖² ≤ λ_s·√½, Σ_i p_i = 1 ∀ i ∈ ℕ, μ ≥ 10⁻³, aᵀb₂"
    expected = "||xbar - x*||^2 <= lambda_s*sqrt 1/2, sum _i p_i = 1 for all  i  in  N, mu >= 10^-^3, a^Tb_2"
    assert "".join(map(spelled, text)) == expected


class Broken(io.StringIO):
    """An output whose reader has left, or whose disk is full, after some text."""

    def __init__(self, room: int, error: Exception) -> None:
        super().__init__()
        self.room, self.error = room, error

    def write(self, text: str) -> int:
        self.room -= len(text)
        if self.room < 0:
            raise self.error
        return super().write(text)


LOSSES = (BrokenPipeError(32, "Broken pipe"), OSError(28, "No space left"), ValueError("closed"))


@pytest.mark.sweep(18)
@pytest.mark.parametrize("command", [command for command in QUICK if command not in ("falsify", "worst-case")])
def test_a_lost_answer_is_no_answer(
    command: str, place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for room, error in [(40, error) for error in LOSSES] if command != "compare" else [(0, LOSSES[0])]:
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", Broken(room, error))
            code = invoke(line(command))
        err = capsys.readouterr().err
        if isinstance(error, BrokenPipeError):  # head and its like have read what they wanted
            assert code != ExitCode.USAGE
            assert err == ""
            continue
        assert code == ExitCode.USAGE
        assert err.startswith("boundlab: cannot write the output: ")
        assert err.count("\n") == 1


def test_files_are_written_even_if_nobody_sees_the_verdict(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", Broken(0, OSError(28, "No space left")))
    assert invoke([*line("compare"), "--out=out"]) == ExitCode.USAGE
    assert json.loads((place / "out" / "result.json").read_text())["verdict"] == "violated"


def test_a_screen_that_was_closed_from_the_start_loses_what_is_written() -> None:
    screen = Screen(None)
    assert not screen.isatty()
    screen.flush()
    assert screen.lost is None
    screen.write("x")
    assert isinstance(screen.lost, OSError)
