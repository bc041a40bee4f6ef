"""What is not installed is missed in words: every command and each backend, without torch and with the wheel alone."""

import json
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path

import pytest
from command_examples import QUICK, RUN, SLOW, quick

from boundlab.verdict import ExitCode

ROOT = Path(__file__).parents[2]
BACKENDS = ("numpy", "auto", "torch")
# Each command that takes a backend, small and with as many trials as auto would give to torch.
SAMPLED = {
    "compare": ("compare", "area.theorem8", *RUN, "--trials=40"),
    "run": ("run", "fedbuff", "--problem=huber", "--set=eta_l=0.1", "--iterations=5", "--trials=40"),
}
ANSWERS = (ExitCode.STANDS, ExitCode.REFUTED, ExitCode.UNDECIDED)  # doctor: what is installed cannot be loaded
NEEDS_TORCH = "the torch backend needs torch: pip install 'boundlab[torch]', or leave backend out"
# One process for all lines: what has no torch must not come to have one.
BLOCKED = """
import contextlib, io, json, sys

class Nothing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("torch", "triton"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Nothing())
import boundlab
from boundlab.cli import invoke

found = []
for line in json.load(sys.stdin):
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        code = int(invoke(line))
    found.append([code, out.getvalue(), err.getvalue()])
asked = boundlab.compare("area.theorem8", "lad:x0=3", "iid:p_s=0.5", iterations=6, M=50, trials=40, backend="auto")
print(json.dumps([found, asked.verdict]))
"""


def without_torch(lines: Sequence[Sequence[str]], place: Path) -> list[tuple[int, str, str]]:
    """Return code, stdout and stderr of each command line where torch cannot be imported."""
    done = subprocess.run(
        [sys.executable, "-c", BLOCKED], input=json.dumps(lines), capture_output=True, text=True, check=True, cwd=place
    )
    found, verdict = json.loads(done.stdout)
    assert verdict == "violated"
    return [(code, out, err) for code, out, err in found]


@pytest.mark.nightly
def test_without_torch_numpy_and_auto_answer_alike_and_torch_names_its_extra(place: Path) -> None:
    lines = [[*words, f"--backend={backend}"] for words in SAMPLED.values() for backend in BACKENDS]
    found = without_torch(lines, place)
    for numpy, auto, torch in (found[:3], found[3:6]):
        assert auto[0] == numpy[0] in (ExitCode.STANDS, ExitCode.REFUTED)
        assert auto[1].replace("replaced: ", "written: ") == numpy[1]  # the case file of the first
        assert (torch[0], torch[1], torch[2]) == (ExitCode.USAGE, "", f"boundlab: {NEEDS_TORCH}\n")


@pytest.mark.nightly
@pytest.mark.parametrize("extras", ["", "[all]"])
def test_every_command_ends_in_words_where_extras_are_not_installed(place: Path, extras: str) -> None:
    def run(*command: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd=place)

    assert run(sys.executable, "-m", "build", "--wheel", "--outdir", str(place), str(ROOT)).returncode == 0
    (place / "fresh").mkdir()
    (wheel,) = place.glob("*.whl")
    venv.create(place / "fresh-python", with_pip=True)
    python, tool = (str(place / "fresh-python" / "bin" / name) for name in ("python", "boundlab"))
    install = ("-m", "pip", "install", "--quiet", "-c", str(ROOT / "constraints.txt"), f"{wheel}{extras}")
    assert run(python, *install).returncode == 0
    lines = [[word.format(fresh="fresh", folder="plots") for word in quick(command)] for command in {**QUICK, **SLOW}]
    lines += [[*words, f"--backend={backend}"] for words in SAMPLED.values() for backend in BACKENDS]
    for line in lines:
        done = run(tool, *line)
        missing = done.returncode == ExitCode.USAGE and "pip install" in done.stderr
        assert missing or done.returncode in ANSWERS, (line, done.stderr[-500:])
        assert not missing or not extras or "torch" in done.stderr, line
    light = "import boundlab.arithmetic.tensors, sys; sys.exit('torch' in sys.modules)"
    assert run(python, "-c", light).returncode == 0
