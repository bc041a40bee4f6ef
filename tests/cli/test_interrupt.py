"""An interrupt at any moment, while modules are being imported too, is one line and 130."""

import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from command_examples import RUN

from boundlab.cli import invoke
from boundlab.cli.terminal import interrupts
from boundlab.sweep.drive import Progress
from boundlab.verdict import ExitCode

# The process interrupts itself when the given module is being imported, or a function of it is entered.
AT_IMPORT = """
import signal, sys

def hook(event, arguments):
    if event == "import" and arguments[0] == {module!r} and not done:
        done.append(1)
        signal.raise_signal(signal.SIGINT)

done = []
sys.addaudithook(hook)
sys.argv = ["boundlab", *{arguments!r}]
from boundlab.__main__ import main
main()
"""
COMPARE = ("compare", "area.theorem8.repaired", *RUN, "--trials=20")
MODULES = (
    "boundlab.cli",
    "boundlab.errors",
    "boundlab.cli._app",
    "typer",
    "click",
    "boundlab.options",
    "numpy",
    "numpy._core.multiarray",
    "numpy.random",
    "boundlab.case",
    "boundlab.compare",
    "sympy",
    "mpmath",
    "rich.console",
)


@pytest.fixture(autouse=True)
def heard() -> Iterator[None]:
    """Hear interrupts, and let subprocesses hear them, even where a shell runs the suite in its background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def ended(arguments: list[str]) -> tuple[int, str, str]:
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False, timeout=120)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.sweep(15)
@pytest.mark.parametrize("module", MODULES)
def test_an_interrupt_while_a_module_is_imported_is_one_line(module: str) -> None:
    code, out, err = ended(["-c", AT_IMPORT.format(module=module, arguments=COMPARE)])
    assert (code, out, err) == (ExitCode.INTERRUPTED, "", "boundlab: interrupted\n")


@pytest.mark.nightly
@pytest.mark.parametrize("step", range(0, 3000, 40))
def test_an_interrupt_at_any_of_thousands_of_moments_is_one_line(step: int) -> None:
    script = AT_IMPORT.replace('event == "import" and arguments[0] == {module!r} and not done', "counted({step})")
    counted = "events = []\n\ndef counted(step):\n    events.append(1)\n    return len(events) == step + 400\n"
    code, out, err = ended(["-c", counted + script.format(step=step, arguments=COMPARE)])
    assert code == ExitCode.INTERRUPTED or "holds" in out or "consistent" in out or "inconclusive" in out
    assert err in ("", "boundlab: interrupted\n")


@pytest.mark.parametrize("turned", [False, True])
def test_an_interrupt_that_a_library_swallows_still_ends_the_command(
    turned: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def swallow(*_args: object, **_options: object) -> str:
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        if turned:
            raise ImportError("a part of a package is missing")
        return "as if nothing had happened"

    monkeypatch.setattr("boundlab.theorems.Theorem.latex", swallow)
    assert invoke(["show", "area.theorem8", "--latex"]) == ExitCode.INTERRUPTED
    assert capsys.readouterr().err == "boundlab: interrupted\n"


def test_the_handlers_of_a_program_that_uses_boundlab_are_put_back() -> None:
    handler, hook = signal.getsignal(signal.SIGINT), sys.unraisablehook
    with interrupts() as user:
        assert user.watched
        assert signal.getsignal(signal.SIGINT) is not handler
    assert signal.getsignal(signal.SIGINT) is handler
    assert sys.unraisablehook is hook


def test_a_job_in_the_background_stays_deaf_to_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with interrupts() as user:
        signal.raise_signal(signal.SIGINT)
    assert user.watched
    assert not user.asked


@pytest.mark.parametrize("deaf", [False, True])
def test_what_a_plugin_raises_is_no_interrupt_of_the_user_in_the_background_either(tmp_path: Path, deaf: bool) -> None:
    (tmp_path / "plug.py").write_text(
        "from boundlab.delays import DelayType\n"
        "def build(options, n):\n"
        "    raise KeyboardInterrupt\n"
        'BOUNDLAB = {"delays": DelayType("mine", "mine", build, {})}\n',
        encoding="utf-8",
    )
    if deaf:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    plugin = str(tmp_path / "plug.py")
    assert invoke(["--plugin", plugin, "run", "area", "-d", "mine", "-k", "3"]) == ExitCode.UNFORESEEN


def test_an_interrupted_sweep_says_how_far_it_came(
    monkeypatch: pytest.MonkeyPatch, capsys: Any, tmp_path: Path
) -> None:
    def stopped(*_: object, tell: Callable[[Progress, object], None], **_more: object) -> None:
        tell(Progress(asked=40, cached=7, done=12, verdicts=Counter(), started=0.0), None)
        raise KeyboardInterrupt

    monkeypatch.setattr("boundlab.sweep.results.sweep", stopped)
    (tmp_path / "plan.toml").write_text('theorems = ["area.theorem8"]\nproblems = ["lad"]\n')
    assert invoke(["sweep", str(tmp_path / "plan.toml"), f"--out={tmp_path}"]) == ExitCode.INTERRUPTED
    expected = "boundlab: interrupted: 19 of 40 cells are answered; the same command continues\n"
    assert capsys.readouterr().err == expected


@pytest.mark.nightly
def test_a_second_interrupt_ends_the_process_at_once(tmp_path: Path) -> None:
    (tmp_path / "stuck.py").write_text(
        "import signal\n"
        "from boundlab.registry import lookup\n"
        "def build(_options):\n"
        "    for _ in range(2):\n"
        "        try:\n"
        "            signal.raise_signal(signal.SIGINT)\n"
        "        except KeyboardInterrupt:\n"
        "            pass\n"
        "import dataclasses\n"
        'BOUNDLAB = {"problems": dataclasses.replace(lookup("problems", "lad"), id="stuck", build=build)}\n'
    )
    arguments = ["--plugin", str(tmp_path / "stuck.py"), "run", "area", "--set=alpha=1", "--problem=stuck"]
    assert ended(["-m", "boundlab", *arguments]) == (ExitCode.INTERRUPTED, "", "boundlab: interrupted\n")
