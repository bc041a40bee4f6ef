"""Random command lines, sensible and mangled, end as the table of exit codes says: never with a crash."""

import random
from typing import Any

import pytest

from boundlab.cli import invoke
from boundlab.registry import registered
from boundlab.verdict import ExitCode

PROBLEMS = (
    "huber:c=[0,1],w=[1,1],delta=1,sigma=0,x0=2", "huber:c=[0],w=[1],delta=0.5,x0=1", "lad:x0=3", "quadratic",
    "quadratic:clients=2,dimension=2,sigma=1", "pseudo-huber:c=[0,2],w=[1,1],x0=1",
    "max-affine:a=[[[1],[-1]]],b=[[0,0]],x0=[1]",
)  # fmt: skip
DELAYS = (
    "deterministic", "deterministic:rates=[2,1]", "iid:p_s=0.5", "exponential", "exponential:rates=[3,1]", "lognormal",
    "gamma:shape=2", "uniform", "two-speed",
)  # fmt: skip
SETTINGS = (
    "alpha=0.1", "eta_l=0.05", "eta=0.01", "eta_g=1", "M=2", "M=1", "K=2", "Q=2", "count=2", "reply=wait", "N=2",
    "p=0.5", "p_s=0.5", "L=1", "mu=0.1", "B=1", "R=1", "sigma=0", "sigma=1", "F0=1", "tau_max=0", "n=2",
    "start=algorithm",
)  # fmt: skip
NOISE = (
    "", "=", "nan", "1e400", "-1", "0", "∞", "[[", "]", "@", "../..", "0x10", "K=K", "x" * 300, "alpha=", "%s", "\0",
)  # fmt: skip
REFUTING = ("compare", "exact", "check", "falsify", "worst-case")


def line(rng: random.Random) -> list[str]:
    """Return a command line; most are meant seriously, and then a word of some is replaced."""
    theorem = rng.choice(sorted(registered("theorems")))
    algorithm = rng.choice(sorted(registered("algorithms")))
    settings = [word for name in rng.sample(SETTINGS, rng.randrange(4)) for word in ("--set", name)]
    horizon = ["-k", str(rng.choice((1, 2, 3, 5)))]
    run = ["--problem", rng.choice(PROBLEMS), "--delays", rng.choice(DELAYS)]
    trials = ["-r", "2", "-s", str(rng.randrange(5))]
    words = {
        "list": ["list", *rng.choice(([], ["theorems"], ["delays"], ["metrics"], ["checks"]))],
        "show": ["show", theorem, *rng.choice(([], ["--latex"], ["--json"]))],
        "eval": ["eval", theorem, *settings, "--set", "K=3", *rng.choice(([], ["--terms"], ["--csv"], ["--json"]))],
        "optimal-rate": ["optimal-rate", "--rates", rng.choice(("1,2", "10,10,2.5", "1", "0,1"))],
        "run": ["run", algorithm, *run, *horizon, *trials, *settings, *rng.choice(([], ["--json"]))],
        "compare": ["compare", theorem, *run, *horizon, *trials, *settings, *rng.choice(([], ["--json"], ["--exact"]))],
        "exact": ["exact", theorem, "proofs/counterexamples/area.theorem8.json"],
        "replay": ["replay", "proofs/counterexamples/area.theorem8.json"],
        "doctor": ["--version"],
    }
    found = list(words[rng.choice(sorted(words))])
    for _ in range(rng.choice((0, 0, 0, 1, 2))):
        found[rng.randrange(len(found))] = rng.choice(NOISE)
    return found


def check(arguments: list[str], capsys: Any) -> None:
    code = invoke(arguments)
    out, err = capsys.readouterr()
    assert code in set(ExitCode) - {ExitCode.UNFORESEEN, ExitCode.INTERRUPTED}, (arguments, err)
    assert "Traceback" not in out + err, arguments
    assert err.count("\n") == 1 if code == ExitCode.USAGE else err.count("\n") <= 1, (arguments, err)
    if code == ExitCode.REFUTED:
        assert arguments[0] in REFUTING, arguments
        assert any(word in out for word in ("violated", "failed", "exceeds")), arguments


@pytest.mark.parametrize("seed", range(4))
def test_twenty_random_command_lines_end_as_the_table_says(seed: int, capsys: Any) -> None:
    rng = random.Random(seed)  # noqa: S311
    for _ in range(20):
        check(line(rng), capsys)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(100, 200))
def test_many_random_command_lines_end_as_the_table_says(seed: int, capsys: Any) -> None:
    rng = random.Random(seed)  # noqa: S311
    for _ in range(40):
        check(line(rng), capsys)
