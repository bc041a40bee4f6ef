"""Nonsense gets one line on stderr, the right exit code, no traceback, and leaves nothing behind."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from boundlab.cli import invoke

EVAL = [
    "eval",
    "area.theorem8",
    "--set",
    "p=0.5",
    "--set",
    "M=2",
    "--set",
    "B=1",
    "--set",
    "sigma=0",
    "--set",
    "R=1",
]
COMPARE = ["compare", "area.theorem8.repaired", "--problem", "lad", "--iterations", "5", "--trials", "2"]

# (arguments, exit code, words of the answer)
NONSENSE = [
    (["frobnicate"], 2, "No such command"),
    (["eval"], 2, "Missing argument"),
    (["list", "theorms"], 2, "did you mean theorems"),
    (["show", "area.theorem9"], 2, "unknown theorem 'area.theorem9'; did you mean area.theorem"),
    (["show", "nowhere.toml"], 2, "nowhere.toml"),
    ([*EVAL, "--set", "K=0"], 2, "K"),
    ([*EVAL, "--set", "K=-3"], 2, "K"),
    ([*EVAL, "--set", "K=1.5"], 2, "integer"),
    ([*EVAL, "--set", "K=nan"], 2, "K"),
    ([*EVAL, "--set", "K=1e400"], 2, "K"),
    ([*EVAL, "--set", "K=1:0:log"], 2, "start below"),
    ([*EVAL, "--set", "K=0:9:log"], 2, "above 0"),
    ([*EVAL, "--set", "K=1:9:cubic"], 2, "not a range"),
    ([*EVAL, "--set", "K"], 2, "NAME=VALUE"),
    ([*EVAL, "--set", "K=1", "--set", "K=2"], 2, "twice"),
    ([*EVAL, "--set", "K=__import__('os').system('id')"], 2, "K"),
    ([*EVAL, "--set", "K=(1).__class__"], 2, "K"),
    ([*EVAL, "--set", "K=9**9**9"], 2, "K"),
    ([*EVAL, "--set", "K=" + "(" * 500 + "1" + ")" * 500], 2, "K"),
    ([*EVAL, "--set", "K=[x for x in (1,)]"], 2, "K"),
    ([*EVAL, "--set", "K=5", "--set", "sgima=1"], 2, "did you mean sigma"),
    ([*EVAL, "--set", "K=5", "--set", "zeta=1"], 2, "does not depend on zeta"),
    (EVAL, 2, "needs K"),
    (["eval", "area.theorem8", "--set", "p=0.5,0.6", "--set", "K=5"], 2, "must be > 0"),
    (["eval", "area.theorem8", "--set", "p=0.2,0.3", "--set", "p_s=0.6", "--set", "K=5"], 2, "must sum to 1"),
    (["eval", "area.theorem8", "--set", "p=-0.2,0.3"], 2, "p"),
    (["eval", "area.theorem8", "--set", "sigma=-1"], 2, "sigma must be ≥ 0"),
    ([*EVAL, "--set", "K=5", "--json", "--csv"], 2, "not both"),
    (["optimal-rate", "--rates", "1,-2"], 2, "rate"),
    (["optimal-rate", "--rates", ""], 2, "empty list"),
    (["optimal-rate", "--rates", "@/nowhere"], 2, "cannot read"),
    (["optimal-rate", "--rates", "1,2", "--objective", "per-mile"], 2, "did you mean per-time"),
    (["optimal-rate", "--rates", "1,2", "--server-cost", "1"], 2, "per-time"),
    (["optimal-rate", "--rates", "1,2", "--plot", "x.gif"], 2, ".png"),
    (["run", "aera"], 2, "unknown algorithm 'aera'; did you mean area"),
    (["run", "area"], 2, "give either alpha, or c and d"),
    (["run", "area", "--set", "alpha=0"], 2, "alpha must be > 0"),
    (["run", "area", "--set", "alpha=1", "--set", "alhpa=1"], 2, "has no option 'alhpa'; did you mean alpha"),
    (["run", "area", "--set", "alpha=1", "--iterations", "0"], 2, "iterations must be between"),
    (["run", "area", "--set", "alpha=1", "--trials", "0"], 2, "trials must be between"),
    (["run", "area", "--set", "alpha=1", "--seed", "-1"], 2, "seed must be"),
    (["run", "area", "--set", "alpha=1", "--backend", "abacus"], 2, "unknown backend"),
    (["run", "area", "--set", "alpha=1", "--problem", "quadratc"], 2, "did you mean quadratic"),
    (["run", "area", "--set", "alpha=1", "--problem", "quadratic:clients=0"], 2, "clients"),
    (["run", "area", "--set", "alpha=1", "--problem", "quadratic:clients=2,mu=3,L=1"], 2, "quadratic"),
    (["run", "area", "--set", "alpha=1", "--problem", "huber:detla=1"], 2, "did you mean delta"),
    (["run", "area", "--set", "alpha=1", "--problem", "huber:delta"], 2, "not key=value"),
    (["run", "area", "--set", "alpha=1", "--problem", "softmax:data=mars"], 2, "mars"),
    (["run", "area", "--set", "alpha=1", "--problem", "softmax:data=idx:/nowhere"], 2, "/nowhere"),
    (["run", "area", "--set", "alpha=1", "--problem", "softmax:clients=100000"], 2, "clients"),
    (["run", "area", "--set", "alpha=1", "--problem", "softmax:batch=-3"], 2, "batch"),
    (["run", "area", "--set", "alpha=1", "--delays", "exponental"], 2, "did you mean exponential"),
    (
        [
            "run",
            "area",
            "--set",
            "alpha=1",
            "--problem",
            "quadratic:clients=3",
            "--delays",
            "exponential:rates=[1,2]",
        ],
        2,
        "2 rates for 3 clients",
    ),
    (["run", "area", "--set", "alpha=1", "--delays", "exponential:rate=-1"], 2, "rate must be > 0"),
    (["run", "area", "--set", "alpha=1", "--delays", "trace:file=/nowhere.csv"], 2, "cannot read the trace"),
    (["run", "area", "--set", "alpha=1", "--server", "whenever"], 2, "unknown server policy"),
    ([*COMPARE, "--set", "alpha=1"], 2, "sets its own step size"),
    ([*COMPARE, "--set", "colour=1"], 2, "neither a free symbol"),
    ([*COMPARE, "--level", "1.5"], 2, "level must be between"),
    ([*COMPARE, "--band", "rubber"], 2, "student or bootstrap"),
    ([*COMPARE, "--beyond", "smooth"], 2, "does not assume 'smooth'"),
    ([*COMPARE, "--set", "start=algorithm"], 4, "the proof takes start=analysis"),
    ([*COMPARE, "--delays", "gamma"], 4, "assumes iid-events"),
    (["compare", "area.theorem8", "--problem", "quadratic"], 4, "assumes lipschitz"),
    (["compare", "area.theorem7.explicit", "--problem", "huber"], 4, "assumes strongly-convex"),
    (["compare", "area.theorem7.explicit", "--problem", "lad"], 4, "area.theorem7.explicit assumes"),
    (["compare", "area.theorem8", "--problem", "hinge:nu=0.1"], 4, "assumes lipschitz"),
    (["replay", "/nowhere/case.json"], 2, "cannot read"),
    (["replay", "{case}"], 2, "client 7 does not exist; the problem has 5 clients"),
    (["replay", "{broken}"], 2, "line 1"),
    (["run", "area", "--set", "alpha=1", "--problem", "logistic:data=csv:{nan}"], 2, "nan"),
    (
        ["run", "area", "--set", "alpha=1", "--problem", "softmax:data=idx:{truncated}"],
        2,
        "train-images-idx3-ubyte.gz",
    ),
    ([*COMPARE, "--out", "{file}"], 2, "cannot write into"),
    ([*COMPARE, "--plot", "/nowhere/plot.png"], 2, "cannot write"),
    ([*COMPARE, "--plot", "plot.jpeg2000"], 2, "must end in"),
    # Server policies and options of the algorithms that count for themselves.
    (["run", "fedbuff"], 2, "needs the option eta_l"),
    (["run", "fedbuff", "--set", "eta_l=0.1", "--server", "poisson:rate=2"], 2, "--server count:every"),
    (["run", "fedfa", "--set", "eta_l=0.1", "--server", "count:every=2"], 2, "leave the server policy out"),
    (["run", "fedbuff", "--set", "eta_l=1", "--set", "count=4", "--server", "count:every=2"], 2, "contradict"),
    (["run", "fedbuff", "--set", "eta_l=[1,2]", "--set", "M=3"], 2, "2 entries for 3 local steps"),
    (["run", "fedcompass", "--set", "eta=1", "--set", "Qmin=50", "--set", "Qmax=20"], 2, "at least Qmin"),
    (["run", "afl_dga", "--set", "eta=1", "--set", "local_steps=3..1"], 2, "lo..hi"),
    (["run", "sfedavg", "--set", "alpha=1", "--set", "sampled=99"], 2, "there are 5 clients"),
    (["run", "fedstaleweight", "--set", "eta_l=1", "--set", "reply=wait", "--set", "count=9"], 2, "never fills"),
    (["compare", "fedbuff.rf1"], 4, "try huber"),
    (
        ["compare", "fedbuff.rf2", "--problem", "huber:clients=3", "--delays", "lognormal"],
        4,
        "stationary-participation",
    ),
    (
        [
            "compare",
            "fedbuff.rf1",
            "--problem",
            "huber:c=[0,9]",
            "--delays",
            "deterministic:rates=[1,0.1]",
            "--set",
            "count=1",
            "--set",
            "tau_max=0",
        ],
        4,
        "tau_max = 0 is set, but the schedule has",
    ),
    (["compare", "area.theorem8", "--problem", "logistic:nu=0"], 4, "minimiser"),
    (["compare", "area.theorem8.repaired", "--problem", "hinge", "--exact"], 2, "too many"),
    # Exact values, worst cases, checks, searches.
    (["exact", "area.theorem8", "/nowhere.json"], 2, "nowhere.json"),
    (["exact", "area.theorem8", "{broken}"], 2, "expecting property name"),
    (["exact", "area.theorem8", "{case}"], 2, "client 7"),
    (["exact", "area.theorem9", "{case}"], 2, "unknown theorem"),
    (["worst-case", "area.theorem8"], 2, "needs p"),
    (["worst-case", "area.theorem8", "--iterations", "0"], 2, "iterations"),
    (["worst-case", "area.theorem8", "--iterations", "5000"], 2, "between 1 and 1000"),
    (["worst-case", "area.theorem8", "--iterations", "3", "--set", "R=-1"], 2, "R"),
    (["prove", "area.theorem9"], 2, "unknown proof"),
    (["prove", "--step", "together"], 2, "about one proof"),
    (["prove", "area.optimal-rate", "--step", "globl minimum"], 2, "did you mean global minimum?"),
    (["prove", "area.optimal-rate", "--latex", "--json"], 2, "--latex prints a whole proof"),
    (["prove", "/nowhere.py"], 2, "No such file"),
    (["check", "area.theorem9"], 2, "unknown theorem"),
    (["check", "area.theorem8", "--only", "colours"], 2, "colours"),
    (["falsify", "area.theorem9"], 2, "unknown theorem"),
    (["falsify", "area.theorem8", "--budget", "-1"], 2, "budget"),
    (["falsify", "area.theorem7", "--budget", "5"], 4, "unknown constants"),
]


@pytest.fixture
def files(tmp_path):
    made = {name: tmp_path / name for name in ("case", "broken", "nan", "truncated", "file")}
    quadratic = {"type": "quadratic", "A": [[[1]]] * 5, "b": [[0]] * 5}
    case = {
        "algorithm": "area",
        "problem": quadratic,
        "x0": [1],
        "parameters": {"alpha": 1},
        "events": [[1, 7]],
    }
    made["case"].write_text(json.dumps(case))
    made["broken"].write_text("{")
    made["nan"].write_text("a,b,y\n1,2,0\n3,nan,1\n5,6,0\n")
    made["truncated"].mkdir()
    for name in ("train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"):
        whole = gzip.compress(bytes(4000), mtime=0)
        (made["truncated"] / name).write_bytes(whole[: len(whole) // 2])
    made["file"].write_text("in the way")
    return made


@pytest.mark.parametrize(("arguments", "code", "words"), NONSENSE, ids=lambda value: str(value)[:60])
def test_nonsense_is_one_line_with_the_right_exit_code(arguments, code, words, files, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    got = invoke([argument.format(**files) if argument[:1] in "{ls" else argument for argument in arguments])
    out, err = capsys.readouterr()
    assert got == code, err
    assert words.lower() in err.lower()
    assert err.startswith("boundlab: ")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    assert out == "" or ("--json" in arguments and json.loads(out)["error"]["exit_code"] == code)
    assert sorted(tmp_path.rglob("*")) == before


def test_there_are_at_least_thirty_kinds_of_nonsense():
    assert len(NONSENSE) >= 30


def test_latex_and_json_are_not_both_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["show", "area.theorem8", "--latex", "--json"]) == 2
    assert "--latex prints LaTeX, and no JSON" in capsys.readouterr().err


def test_a_bad_backend_of_matplotlib_is_said_before_the_work(tmp_path: Path) -> None:
    line = [sys.executable, "-m", "boundlab", "compare", "classics.gd.convex", "-k5", "--plot=x.png"]
    done = subprocess.run(
        line, capture_output=True, text=True, check=False, cwd=tmp_path, env={**os.environ, "MPLBACKEND": "nope"}
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "MPLBACKEND=nope" in done.stderr
    assert not list(tmp_path.iterdir())
