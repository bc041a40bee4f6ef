"""Nonsense gets one line on stderr, the right exit code, no traceback, and leaves nothing behind."""

import gzip
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import typer.main
from command_examples import CASE, quick

from boundlab.cli import invoke
from boundlab.cli._app import application

COMMANDS = typer.main.get_command(application()).commands  # type: ignore[attr-defined]
SHORT = {
    "AREA": "run area --set=alpha=1",
    "COMPARE": "compare area.theorem8.repaired --problem lad --iterations 5 --trials 2",
    "EVAL": "eval area.theorem8 --set=p=0.5 --set=M=2 --set=B=1 --set=sigma=0 --set=R=1",
}
# Lines that say nonsense, and words of the answer; more of values and formulas in tests/formulas.
NONSENSE = [
    ("frobnicate", "No such command 'frobnicate'; known: audit, check, "),
    ("compar area.theorem8", "did you mean compare?"),
    ("eval", "Missing argument"),
    ("list theorms", "did you mean theorems"),
    ("show area.theorem9", "unknown theorem 'area.theorem9'; did you mean area.theorem"),
    ("show nowhere.toml", "nowhere.toml"),
    ("show area.theorem8 --latex --json", "give --latex or --json, not both"),
    ("{EVAL} --set=K=0", "K"),
    ("{EVAL} --set=K=1.5", "integer"),
    ("{EVAL} --set=K", "NAME=VALUE"),
    ("{EVAL} --set=K=1 --set=K=2", "twice"),
    ("{EVAL} \"--set=K=__import__('os').system('id')\"", "K"),
    ("{EVAL} --set=K=5 --set=sgima=1", "did you mean sigma"),
    ("{EVAL} --set=K=5 --set=zeta=1", "does not depend on zeta"),
    ("{EVAL}", "needs K"),
    ("eval area.theorem8 --set=p=0.5,0.6 --set=K=5", "must be > 0"),
    ("eval area.theorem8 --set=p=0.2,0.3 --set=p_s=0.6 --set=K=5", "must sum to 1"),
    ("eval area.theorem8 --set=p=-0.2,0.3", "p"),
    ("eval area.theorem8 --set=sigma=-1", "sigma must be ≥ 0"),
    ("{EVAL} --set=K=5 --json --csv", "not both"),
    ("optimal-rate --rates 1,-2", "rate"),
    ("optimal-rate --rates ''", "empty list"),
    ("optimal-rate --rates @/nowhere", "cannot read"),
    ("optimal-rate --rates 1,2 --objective per-mile", "did you mean per-time"),
    ("optimal-rate --rates 1,2 --server-cost 1", "per-time"),
    ("optimal-rate --rates 1,2 --plot x.gif", ".png"),
    ("run aera", "unknown algorithm 'aera'; did you mean area"),
    ("run area", "give either alpha, or c and d"),
    ("run area --set=alpha=0", "alpha must be > 0"),
    ("{AREA} --set=alhpa=1", "has no option 'alhpa'; did you mean alpha"),
    ("{AREA} --iterations 0", "iterations must be between"),
    ("{AREA} --trials 0", "trials must be between"),
    ("{AREA} --seed -1", "seed must be"),
    ("{AREA} --backend abacus", "unknown backend"),
    ("{AREA} --problem quadratc", "did you mean quadratic"),
    ("{AREA} --problem quadratic:clients=0", "clients"),
    ("{AREA} --problem quadratic:clients=2,mu=3,L=1", "quadratic"),
    ("{AREA} --problem huber:detla=1", "did you mean delta"),
    ("{AREA} --problem huber:delta", "not key=value"),
    ("{AREA} --problem softmax:data=mars", "mars"),
    ("{AREA} --problem softmax:data=idx:/nowhere", "/nowhere"),
    ("{AREA} --problem softmax:clients=100000", "clients"),
    ("{AREA} --problem softmax:batch=-3", "batch"),
    ("{AREA} --delays exponental", "did you mean exponential"),
    ("{AREA} --problem quadratic:clients=3 --delays exponential:rates=[1,2]", "2 rates for 3 clients"),
    ("{AREA} --delays exponential:rate=-1", "rate must be > 0"),
    ("{AREA} --delays trace:file=/nowhere.csv", "cannot read the trace"),
    ("{AREA} --server whenever", "unknown server policy"),
    ("{COMPARE} --set=alpha=1", "sets its own step size"),
    ("{COMPARE} --set=colour=1", "neither a free symbol"),
    ("{COMPARE} --level 1.5", "level must be between"),
    ("{COMPARE} --band rubber", "student or bootstrap"),
    ("{COMPARE} --beyond smooth", "does not assume 'smooth'"),
    ("run /nowhere/case.json", "cannot read"),
    ("run {case}", "client 7 does not exist; the problem has 5 clients"),
    ("run {broken}", "line 1"),
    ("{AREA} --problem logistic:data=csv:{nan}", "nan"),
    ("{AREA} --problem softmax:data=idx:{truncated}", "train-images-idx3-ubyte.gz"),
    ("{COMPARE} --out {file}", "cannot write into"),
    ("{COMPARE} --plot /nowhere/plot.png", "cannot write"),
    ("{COMPARE} --plot plot.jpeg2000", "must end in"),
    ("run fedbuff", "needs the option eta_l"),
    ("run async_sgd --set eta=1", "needs the option alpha; it got eta"),
    ("run fedbuff --set=eta_l=0.1 --server poisson:rate=2", "--server count:every"),
    ("run fedfa --set=eta_l=0.1 --server count:every=2", "leave the server policy out"),
    ("run fedbuff --set=eta_l=1 --set=count=4 --server count:every=2", "contradict"),
    ("run fedbuff --set=eta_l=[1,2] --set=M=3", "2 entries for 3 local steps"),
    ("run fedcompass --set=eta=1 --set=Qmin=50 --set=Qmax=20", "at least Qmin"),
    ("run afl_dga --set=eta=1 --set=local_steps=3..1", "lo..hi"),
    ("run sfedavg --set=alpha=1 --set=sampled=99", "there are 5 clients"),
    ("run fedstaleweight --set=eta_l=1 --set=reply=wait --set=count=9", "never fills"),
    ("compare area.theorem8.repaired --problem hinge --exact", "too many"),
    ("compare area.theorem8.repaired --axis time", "give --plot FILE, too"),
    ("compare area.theorem8.repaired --axis seconds --plot F.png", "--axis is iterations or time, got 'seconds'"),
    ("exact area.theorem8 /nowhere.json", "nowhere.json"),
    ("exact area.theorem8 {broken}", "expecting property name"),
    ("exact area.theorem8 {case}", "client 7"),
    ("exact area.theorem9 {case}", "unknown theorem"),
    ("show area", "there are area.theorem7, area.theorem7.explicit"),
    ("check {python}", "a Python file is a plug-in"),
    ("run {toml}", "a TOML file holds a theorem"),
    ("show {json}", "a JSON file holds a case"),
    ("falsify area.theorem8 --budget 5 minutes", "unexpected extra argument"),
    ("falsify area.theorem8 --budget 5x", "--budget (90, 90s, 1.5m or 2h) must be a number"),
    ("worst-case area.theorem8", "needs p"),
    ("worst-case area.theorem8 --iterations 0", "iterations"),
    ("worst-case area.theorem8 --iterations 5000", "between 1 and 1000"),
    ("worst-case area.theorem8 --iterations 3 --set=R=-1", "R"),
    ("prove area.theorem9", "unknown proof"),
    ("prove area.theorem8.fixed-step", "area.theorem8.fixed-step is a theorem, not a proof: "),
    ("prove --step together", "about one proof"),
    ("prove area.optimal-rate --step 'globl minimum'", "did you mean global minimum?"),
    ("prove area.optimal-rate --latex --json", "--latex prints a whole proof"),
    ("prove /nowhere.py", "No such file"),
    ("prove mine.toml", "mine.toml is a theorem: boundlab prove mine.toml --search looks for a proof, --with SCRIPT"),
    ("check area.theorem9", "unknown theorem"),
    ("check mine.tml", "there is no file mine.tml; files of theorems end in .toml"),
    ("check area.theorem8 --only colours", "colours"),
    ("falsify area.theorem9", "unknown theorem"),
    ("falsify area.theorem8 --budget -1", "budget"),
    ("run sgd", "did you mean gd? Its noise is the problem's"),
    ("compare area.theorem8 --problem csv:foo.csv", "data are an option of a problem: logistic:data=csv:FILE"),
    ("{toml}", "asks everything about its theorem"),
    ("compare classics.sgd.convex --problem lad:clients=4 -k 10", "got 0.0: R = 0, x0 is a minimiser"),
]
# Lines about what a theorem does not speak of.
NOT_COVERED = [
    ("{COMPARE} --set=start=algorithm", "the proof takes start=analysis"),
    ("{COMPARE} --delays gamma", "assumes iid-events"),
    ("compare area.theorem8 --problem quadratic", "assumes lipschitz"),
    ("compare area.theorem7.explicit --problem huber", "assumes strongly-convex"),
    ("compare area.theorem7.explicit --problem lad", "area.theorem7.explicit assumes"),
    ("compare area.theorem8 --problem hinge:nu=0.1", "assumes lipschitz"),
    ("compare fedbuff.rf1 --problem quadratic:sigma=0.1", "try huber"),
    ("compare fedbuff.rf2 --problem huber:clients=3 --delays lognormal", "stationary-participation"),
    ("compare fedbuff.rf1 --problem huber:c=[0,9] --delays deterministic:rates=[1,0.1] --set=count=1 --set=tau_max=0",
     "tau_max = 0 is set, but the schedule has"),
    ("compare area.theorem8 --problem logistic:nu=0", "minimiser"),
    ("falsify area.theorem7 --budget 5", "unknown constants"),
]  # fmt: skip
LINES = [*((line, words, 2) for line, words in NONSENSE), *((line, words, 4) for line, words in NOT_COVERED)]


@pytest.fixture
def files(tmp_path):
    return bad_files(tmp_path)


def bad_files(place):
    """Make the files that lines name, and return them by the names in braces."""
    made = {name: place / name for name in ("case", "broken", "nan", "truncated", "file")}
    quadratic = {"type": "quadratic", "A": [[[1]]] * 5, "b": [[0]] * 5}
    made["case"].write_text(json.dumps({**CASE, "problem": quadratic, "events": [[1, 7]]}))
    made["broken"].write_text("{")
    made["nan"].write_text("a,b,y\n1,2,0\n3,nan,1\n5,6,0\n")
    made["truncated"].mkdir()
    for name in ("train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"):
        whole = gzip.compress(bytes(4000), mtime=0)
        (made["truncated"] / name).write_bytes(whole[: len(whole) // 2])
    made["file"].write_text("in the way")
    for kind, text in (("toml", 'id = "own"'), ("json", "{}"), ("python", "import math")):
        made[kind] = place / f"own.{'py' if kind == 'python' else kind}"
        made[kind].write_text(text)
    return made


@pytest.mark.sweep(21)
@pytest.mark.parametrize(("line", "words", "code"), LINES, ids=lambda value: str(value)[:60])
def test_nonsense_is_one_line_with_the_right_exit_code(line, words, code, files, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    got = invoke(shlex.split(line.format(**SHORT, **files)))
    out, err = capsys.readouterr()
    assert got == code, err
    assert words.lower() in err.lower()
    assert err.startswith("boundlab: ")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    assert out == "" or ("--json" in line and json.loads(out)["error"]["exit_code"] == code)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    "command", [name for name, one in COMMANDS.items() if any(p.name == "seed" for p in one.params)]
)
def test_a_seed_below_0_is_refused_by_every_command(
    command: str, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke([*(word.format(folder=place / "new") for word in quick(command)), "--seed=-1"]) == 2
    assert capsys.readouterr().err.startswith("boundlab: seed must be")


@pytest.mark.nightly
def test_a_bad_backend_of_matplotlib_is_said_before_the_work(tmp_path: Path) -> None:
    line = [sys.executable, "-m", "boundlab", "compare", "classics.gd.convex", "-k5", "--plot=x.png"]
    done = subprocess.run(
        line, capture_output=True, text=True, check=False, cwd=tmp_path, env={**os.environ, "MPLBACKEND": "nope"}
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "MPLBACKEND=nope" in done.stderr
    assert not list(tmp_path.iterdir())


# A name that no file can have, wherever a command takes one.
NAMELESS = [
    "new theorem mine --out {long}",
    "new theorem {long}",
    "new theorem mine --latex {long}.tex",
    "sweep plan.toml --out {long}",
    "sweep {long}",
    "sweep . --csv {long}",
    "audit classics.gd.convex --brief --html {long}.html",
    "prove {long}.toml",
    "prove {long}.toml --search",
    "prove --recheck {long}.json",
    "worst-case --recheck {long}.json",
    "run {long}.json",
    "exact area.theorem8 {long}.json",
    "compare area.theorem8 -p huber -k 5 --plot {long}.svg",
    "compare {long}.toml -p huber",
    "compare area.theorem8 -p huber -d trace:file={long}",
    "compare area.theorem8 -p logistic:data={long}",
    "trace {long}",
    "--plugin {long}.py list",
    "docs {long}",
    "falsify area.theorem8 --candidates 5 --out {long}",
    "optimal-rate --rates trace:{long}",
]


@pytest.mark.parametrize("line", NAMELESS)
def test_a_name_that_no_file_can_have_is_one_line(
    line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    plan = 'theorems = ["area.theorem8"]\nproblems = ["huber"]\ndelays = ["iid:p_s=0.5"]\n[run]\niterations = 5\n'
    (tmp_path / "plan.toml").write_text(plan, encoding="utf-8")
    assert invoke(shlex.split(line.format(long="x" * 300))) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_doctor_says_that_a_folder_of_data_with_such_a_name_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOUNDLAB_DATA", "x" * 300)
    assert invoke(["doctor"]) != 70
