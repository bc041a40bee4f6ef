"""A command that is killed takes its workers with it; one that is interrupted keeps the trials that are finished."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from boundlab.cli import invoke
from boundlab.simulate.work import collect, stoppable
from boundlab.verdict import ExitCode

# Workers are alive when the first trial is done; without prctl the end of a pipe tells them of their parent's end.
COMMAND = """
import os, signal, sys
from boundlab.cli import invoke
from boundlab import simulate as parallel

signal.signal(signal.SIGHUP, signal.SIG_DFL)  # whoever runs the tests may have it ignored, as nohup does
if sys.argv[1] == "watched":
    parallel.killed_with_parent = lambda: False
follow, call = parallel._follow, parallel._call
def told(*arguments):
    follow(*arguments)
    open(f"worker.{os.getpid()}", "w").close()
parallel._follow = told
sys.exit(invoke(sys.argv[2:]))
"""
RUN = ("run", "fedbuff", "--problem=quadratic:sigma=1", "--set=eta_l=0.001", "--iterations=2000", "--trials=1000")
COMPARE = (
    "compare",
    "classics.sgd.gap",
    "--problem=quadratic:sigma=1,clients=1",
    "--set=alpha=0.001",
    "--sampled",
    "-k20",
    "--trials=1000",
    "--json",
)


def alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{process}/stat")  # a zombie is dead, and is waited for by whoever has inherited it
    return not state.exists() or state.read_text().rpartition(")")[2].split()[0] != "Z"


@pytest.mark.sweep(6)
@pytest.mark.skipif(not hasattr(os, "fork"), reason="without fork there are no workers")
@pytest.mark.parametrize("_turn", [0, *(pytest.param(turn, marks=pytest.mark.nightly) for turn in range(1, 34))])
@pytest.mark.parametrize("how", ["killed", "watched"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_a_killed_command_leaves_no_worker_behind(tmp_path: Path, number: signal.Signals, how: str, _turn: int) -> None:
    done = subprocess.Popen(
        [sys.executable, "-c", COMMAND, how, *RUN, "--jobs=2"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    limit = time.monotonic() + 60.0
    while len(workers := [int(one.suffix[1:]) for one in tmp_path.glob("worker.*")]) < 2:
        assert done.poll() is None
        assert time.monotonic() < limit
        time.sleep(0.01)
    done.send_signal(number)
    done.communicate(timeout=5)  # the end of its output comes
    assert done.returncode == -number
    limit = time.monotonic() + 5.0
    while any(map(alive, workers)):
        assert time.monotonic() < limit
        time.sleep(0.01)


@pytest.mark.sweep(3)
@pytest.mark.parametrize("command", [COMPARE, (*RUN, "--json")], ids=["compare", "run"])
@pytest.mark.parametrize("jobs", [1, 2])
def test_finished_trials_survive_an_interrupt(
    command: tuple[str, ...], jobs: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    @contextmanager
    def interrupting(*_arguments: object) -> Iterator[Callable[[int], None]]:
        yield lambda done: signal.raise_signal(signal.SIGINT) if done == 7 else None

    for name in ("judges", "system"):
        monkeypatch.setattr(f"boundlab.cli.{name}.progress", interrupting)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # even where a shell runs this in its background
    try:
        assert invoke([*command, f"--jobs={jobs}"]) == ExitCode.INTERRUPTED
    finally:
        signal.signal(signal.SIGINT, before)
    said = capsys.readouterr()
    assert said.err == "boundlab: interrupted\n"
    assert json.loads(said.out)["trials"] == 7


def test_an_interrupt_keeps_what_is_finished_once_and_only_where_that_is_wanted() -> None:
    def trials(count: int) -> "list[int]":
        def each():  # type: ignore[no-untyped-def]
            yield from range(count)
            raise KeyboardInterrupt

        return collect(each(), None)

    with pytest.raises(KeyboardInterrupt):
        trials(5)
    with stoppable() as stopped:
        with pytest.raises(KeyboardInterrupt):
            trials(1)
        assert (trials(5), stopped.after) == ([0, 1, 2, 3, 4], 5)
        with pytest.raises(KeyboardInterrupt):
            trials(5)
    with pytest.raises(KeyboardInterrupt):
        trials(5)
