"""What a result holds suffices to repeat it."""

import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from own_theorem import own_theorem

from boundlab.case import as_json, blas, build_delays, delays_from, problem_from, provenance, versions
from boundlab.cli import invoke
from boundlab.delays import DELAYS, read_policy
from boundlab.randomness import Streams
from boundlab.theorems import load_theorem


def test_a_delay_model_is_rebuilt_from_its_spec_without_the_file_that_it_was_read_from(tmp_path: Path) -> None:
    """From options of its own each is: the suite of conformance says so."""
    (tmp_path / "rates.txt").write_text("3\n1.25\n")
    model = build_delays("gamma", {"rates": f"@{tmp_path / 'rates.txt'}"}, 2)
    spec = json.loads(json.dumps(as_json(model.spec())))
    (tmp_path / "rates.txt").unlink()
    again = build_delays(spec.pop("type"), spec, 2)
    assert again.spec() == model.spec()
    assert np.array_equal(again.sample(Streams(1), 50, 0.0).time, model.sample(Streams(1), 50, 0.0).time)


@pytest.mark.parametrize("kind", [one.id for one in DELAYS if one.id not in ("trace", "iid", "staleness")])
def test_the_spec_of_a_delay_model_names_every_option_with_a_default_of_its_own(kind: str) -> None:
    from boundlab.delays import RATE_OPTIONS

    model = build_delays(kind, {}, 3)
    own = {name for one in DELAYS if one.id == kind for name in one.options} - set(RATE_OPTIONS)
    assert own <= set(model.spec())
    drawn = build_delays(kind, {"draw": "normal"}, 3)
    assert {"draw", "sd", "negative", "rate_seed", "rate"} <= set(drawn.spec())


@pytest.mark.parametrize(
    "text", [None, "poisson:rate=optimal", "poisson:rate=0.1", "count:every=3", "periodic:every=0.7"]
)
def test_a_server_policy_is_read_again_from_its_spec(text: str | None) -> None:
    delays = delays_from("exponential:rates=[3,1,0.7]", 3)
    policy = read_policy(text, delays)
    assert read_policy(policy.spec(), delays) == policy


def test_versions_and_linear_algebra_are_named() -> None:
    assert {"python", "machine", "numpy", "scipy", "sympy"} <= set(versions())
    assert all(one.get("version") for one in blas())
    assert blas()


def test_files_are_named_with_their_hash(tmp_path: Path) -> None:
    data, trace = tmp_path / "data.csv", tmp_path / "trace.csv"
    data.write_text("1,0\n2,1\n3,0\n4,1\n")
    trace.write_text("1,0\n2,1\n")
    problem = problem_from(f"logistic:data=csv:{data},clients=2")
    found = provenance(None, problem, build_delays("trace", {"file": str(trace)}, 2))
    assert "data" not in found
    assert found["files"] == {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in (data, trace)}


@pytest.mark.parametrize(
    "one", ["logistic:data=breast_cancer,clients=3", "least-squares:features=[[1],[2]],targets=[0,1],owners=[0,1]"]
)
def test_samples_that_come_from_no_file_are_named_by_their_hash(one: str) -> None:
    problem = problem_from(one)
    assert provenance(None, problem)["data"] == provenance(None, problem_from(one))["data"]
    boxed = problem_from(f"{one},box=[-1,1]")
    assert provenance(None, boxed)["data"] == provenance(None, problem)["data"] == {"sha256": problem.data_sha256()}
    assert problem_from(f"{one},bias=yes,scale=range,normalise=yes").data_sha256() != problem.data_sha256()
    assert "data" not in provenance(None, problem_from("lad"))


def output(capsys: Any, *arguments: str, code: int = 0) -> dict[str, Any]:
    assert invoke([*arguments, "--json"]) == code
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_a_theorem_from_a_file_stands_in_the_result_with_its_text(tmp_path: Path, capsys: Any) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(own_theorem(title="‖x‖ ≤ 1") + "# ∀ x\n", encoding="utf-8")
    theorem = load_theorem(str(file))
    assert theorem.source == file.read_text(encoding="utf-8")
    found = provenance(theorem)["theorem"]
    assert found["sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
    (tmp_path / "again.toml").write_text(found["text"], encoding="utf-8")
    assert load_theorem(str(tmp_path / "again.toml")).as_dict()["terms"] == theorem.as_dict()["terms"]


def test_a_result_is_repeated_from_what_it_holds(tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "rates.txt").write_text("3\n1\n")
    words = ("compare", "fedbuff.rf1", "--problem=huber:c=[0,1],sigma=0.1", "--set=count=2", "--iterations=20")
    first = output(capsys, *words, f"--delays=lognormal:rates=@{tmp_path / 'rates.txt'}", "--trials=7", "--seed=3")
    known = first["provenance"]
    (tmp_path / "rates.txt").unlink()
    spec = dict(known["delays"])
    kind = spec.pop("type")
    delays = f"{kind}:" + ",".join(f"{name}={value}" for name, value in spec.items())
    again = output(capsys, *words, f"--delays={delays}", f"--trials={first['trials']}", f"--seed={first['seed']}")
    assert again["rows"] == first["rows"]
    assert known["parameters"]["count"] == 2


def test_a_search_keeps_its_limit(tmp_path: Path, capsys: Any, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    found = output(capsys, "falsify", "area.theorem8.repaired", "--candidates=5", code=3)
    assert (found["limit"], found["budget"]) == (5, None)
    assert found["provenance"]["versions"]["numpy"] == np.__version__


def test_a_replay_says_that_it_leaves_the_noise_out(tmp_path: Path, capsys: Any) -> None:
    case = {
        "algorithm": "area",
        "problem": {"type": "lad", "sigma": 1},
        "x0": [3],
        "parameters": {"alpha": 1},
        "events": [[1, 0], [2, "s"]],
    }
    for sigma in (0, 1):
        case["problem"]["sigma"] = sigma  # type: ignore[index]
        (tmp_path / "case.json").write_text(json.dumps(case))
        assert ("note" in output(capsys, "run", str(tmp_path / "case.json"))) == bool(sigma)
        invoke(["run", str(tmp_path / "case.json")])
        assert ("the noise of this problem is left out" in " ".join(capsys.readouterr().out.split())) == bool(sigma)


# Commands over many kinds of settings, in one process.
HASHED = """
import sys
from boundlab.cli import invoke
for words in (
    "compare fedcompass.theorem1 --problem huber:c=[[0],[1]],x0=0.6 --delays deterministic:rates=[1,0.2] --trials 2 "
    "-k 18 --set Qmax=5 --set Qmin=1 --set eta=0.001 --json",
    "compare fedfa.param.b --problem huber:c=[[0],[1]] --delays deterministic --trials 2 -k 9 --set Q=2 --set K=2 "
    "--json",
    "compare area.theorem8 --problem lad:x0=3 --delays iid:p_s=0.5 -k 6 --set M=5 --json",
    "exact fedfa.theorem1 --json", "check fedstaleweight.theorem1 --json", "show afl_dga.theorem1 --core --json",
    "run fedbuff --problem huber --set eta_l=0.1 --set count=2 -k 5 --trials 2 --json",
    "falsify classics.gd.convex --candidates 10 --json", "list theorems --json",
):
    code = invoke(words.split())
    assert code in (0, 1, 3), (words, code)
"""


@pytest.mark.nightly
def test_what_is_printed_does_not_depend_on_how_python_hashes_text(tmp_path: Path) -> None:
    def printed(seed: str) -> str:
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(
            [sys.executable, "-c", HASHED], env=environment, cwd=tmp_path, capture_output=True, text=True, check=True
        )
        return re.sub(r'"seconds": [0-9.e-]+', "", done.stdout)

    assert printed("0") == printed("2")
