"""What is sent to another process arrives there as what it was: by its id, by the words it was built from, or whole."""

import copy
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_examples import TRACE
from own_theorem import of_gradient_descent

import boundlab as bl
from boundlab.case import build_delays, build_problem, own_case
from boundlab.errors import DataError, SpecError
from boundlab.objective import Problem
from boundlab.registry import registered

PLUGIN = Path(__file__).parents[1] / "plugin_example" / "example.py"
PROBLEMS = [
    (name, dict(one))
    for name, family in registered("problems").items()
    for one in family.examples
    if not {"x0", "box"} <= {*one}
]
DELAYS = [(name, dict(one)) for name, kind in registered("delays").items() for one in kind.examples]


def sent(one: Any) -> Any:
    return pickle.loads(pickle.dumps(one))


def told(problem: Problem) -> Any:
    """Return all that a problem says of itself, and fill what it keeps."""
    constants = {name: one.as_dict() for name, one in problem.constants().items()}
    after = []
    for client in range(min(problem.n, 3)):
        x = problem.x0.copy()
        problem.descend(client, x, 0.125)
        after.append(x.tolist())
    return problem.spec(), constants, dict(problem.assumptions()), problem.value(problem.x0), after


@pytest.mark.parametrize("kind", ["theorems", "algorithms"])
def test_what_is_registered_arrives_as_itself(kind: Any) -> None:
    for one in registered(kind).values():
        assert sent(one) is one
        assert copy.deepcopy(one) is one


@pytest.mark.sweep(15)
@pytest.mark.parametrize(("name", "options"), PROBLEMS, ids=str)
def test_a_problem_arrives_by_its_words_and_a_copy_of_its_fields_whole(name: str, options: Any) -> None:
    problem = build_problem(name, options)
    before = told(problem)
    assert len(pickle.dumps(problem)) < 1000 + len(repr(options))
    assert told(sent(problem)) == before
    assert sent(problem) == problem == build_problem(name, options) != build_problem("lad", {"x0": 7})
    assert len(repr(problem)) < 100
    whole = replace(problem)  # type: ignore[type-var]
    assert problem != whole
    assert len(repr(whole)) < 100
    assert told(whole) == before
    assert told(sent(whole)) == before


def test_a_composite_objective_arrives_with_its_simple_part() -> None:
    problem = bl.problem("quadratic:clients=2,dimension=2,box=[-1,2]")
    assert told(sent(problem)) == told(problem)
    assert sent(problem).simple.words == problem.simple.words  # type: ignore[union-attr]


@pytest.mark.sweep(2)
@pytest.mark.parametrize(("name", "options"), DELAYS, ids=str)
def test_a_delay_model_arrives_by_its_words(name: str, options: Any) -> None:
    model = build_delays(name, options, 3)
    assert sent(model) == model == build_delays(name, options, 3) != build_delays("exponential", {"rate": 7}, 3)
    assert copy.copy(model) in [None, copy.copy(model), model]
    assert len(repr(model)) < 100
    assert np.array_equal(sent(model).rates(), model.rates())
    assert np.array_equal(copy.copy(model).rates(), model.rates())


def test_data_arrive_by_their_path_and_must_be_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "some.csv"
    file.write_text("a,b,label\n" + "".join(f"{k},{k * k % 7},{k % 2}\n" for k in range(40)))
    monkeypatch.chdir(tmp_path)
    letter = pickle.dumps(bl.problem("logistic:data=csv:some.csv,target=label,clients=2"))
    monkeypatch.chdir("/")
    assert pickle.loads(letter).n == 2
    file.write_text(file.read_text().replace("1,1,1", "1,2,1"))
    with pytest.raises(DataError, match=r"some\.csv holds other data here"):
        pickle.loads(letter)


def test_the_package_and_its_questions_arrive() -> None:
    assert sent(bl) is bl
    assert sent(bl.compare) is bl.compare
    assert sent(bl.theorem("area.theorem8").symbols) == bl.theorem("area.theorem8").symbols


def test_a_theorem_of_ones_own_arrives_whole() -> None:
    mine = replace(bl.theorem("area.theorem8"), id="mine")
    assert sent(mine).core.sha256 == mine.core.sha256
    assert (
        sent(mine).evaluate(B=1, sigma=0, R=3, M=5, K=10, n=2, p_s=0.5, qbar=4).total
        == mine.evaluate(B=1, sigma=0, R=3, M=5, K=10, n=2, p_s=0.5, qbar=4).total
    )


def test_a_comparison_along_a_run_arrives() -> None:
    one = bl.compare("fedbuff.rf1", "quadratic:clients=2", "deterministic", iterations=3, trials=2, jobs=1)
    assert one.plan.theorem.id == "fedbuff.rf1.along-run"
    assert sent(one).as_dict() == one.as_dict()


# Two results are equal if they say the same, and two objects behind them if they are one; no comparison is an error.

RESULTS: dict[str, Callable[[], Any]] = {
    "Applicable": lambda: bl.applicable("lad", theorems=["area.theorem8"]),
    "OptimalRate": lambda: bl.optimal_rate([1, 2]),
    "CertifiedConstants": lambda: bl.constants("lad:x0=3"),
    "Checks": lambda: bl.check("area.theorem8", "units"),
    "Comparison": lambda: ask(6),
    "Outcome": lambda: bl.prove("classics.gd.convex"),
    "ExactResult": lambda: bl.exact("area.theorem8"),
    "DelayFit": lambda: bl.fit("trace.csv"),
    "Horizons": lambda: bl.compare("area.theorem8", "lad:x0=3", "iid:p_s=0.5", iterations=[3, 6], M=50),
    "Simulation": lambda: bl.run("gd", "lad:x0=3", "deterministic", iterations=3, alpha=0.1, trials=2),
    "Falsification": lambda: bl.falsify("mine.toml", candidates=5, jobs=1),
    "TraceSummary": lambda: bl.trace("trace.csv"),
    "WorstCase": lambda: bl.worst_case("classics.gd.convex", 1),
}


@pytest.mark.parametrize("name", sorted(RESULTS))
def test_a_result_is_equal_to_its_repeat_and_to_what_arrives(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("trace.csv").write_text(TRACE)
    Path("mine.toml").write_text(of_gradient_descent("8*K"), encoding="utf-8")
    one, again = RESULTS[name](), RESULTS[name]()
    assert type(one).__name__ == name
    # A judge's record is the result: api has no second class of its fields.
    assert (type(one).__module__.split(".")[1] == "api") == (name in ("Applicable", "CertifiedConstants"))
    assert (one == again) == (one.as_dict() == again.as_dict())  # a search says how long it took
    assert sent(one) == one
    assert hash(sent(one)) == hash(one)
    assert one != sent(RESULTS["OptimalRate" if name == "Checks" else "Checks"]())
    assert one not in [None, 1, bl.theorem("area.theorem8")]


def test_objects_behind_a_result_are_equal_to_themselves_only() -> None:
    one, ran = ask(6), RESULTS["Simulation"]()
    theorem = one.plan.theorem
    values = theorem.evaluate(K=10, p=[0.5], M=2, R=3, B=1, sigma=0)
    case = bl.load_case(own_case(theorem))
    for behind in (one.plan, one.band, values, one.plan.problem.optimum(), ran.tape(0), case, ran.tape(0).events):
        assert behind == behind
        assert behind != sent(behind)
        assert {behind: 1}[behind] == 1
    assert theorem == replace(theorem)
    assert hash(theorem) == hash(replace(theorem))


def ask(horizon: int) -> Any:
    """Answer one question of many, as a user writes it."""
    return bl.compare("area.theorem8", "lad:x0=3", "iid:p_s=0.5", K=horizon, M=50)


@pytest.mark.nightly
def test_processes_that_share_nothing_answer_alike() -> None:
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        assert [one.as_dict() for one in pool.map(ask, (6, 7))] == [ask(6).as_dict(), ask(7).as_dict()]


def test_a_lambda_is_left_to_cloudpickle() -> None:
    cloudpickle = pytest.importorskip("cloudpickle")
    one = lambda x: bl.problem("lad:x0=3").value(x)  # noqa: E731 -- this is what is sent
    assert pickle.loads(cloudpickle.dumps(one))(np.array([2.0])) == 2.0
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(one)


READ = "import sys, pickle, boundlab.registry; print(pickle.load(open(sys.argv[1], 'rb')))"


def reading(letter: Path, **variables: str) -> "subprocess.CompletedProcess[str]":
    known = {name: value for name, value in os.environ.items() if name != "BOUNDLAB_PLUGINS"}
    return subprocess.run(
        [sys.executable, "-c", READ, str(letter)], env=known | variables, capture_output=True, text=True, check=False
    )


@pytest.mark.nightly
def test_objects_of_a_plugin_arrive_where_it_is_loaded_and_else_its_file_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BOUNDLAB_PLUGINS", "")
    bl.load_plugin(PLUGIN)
    bl.load_plugin(PLUGIN)
    assert os.environ["BOUNDLAB_PLUGINS"] == str(PLUGIN)
    mine = next(one for one in registered("algorithms").values() if one.__module__.startswith("boundlab_plugin_"))
    letter = tmp_path / "letter"
    letter.write_bytes(pickle.dumps([mine, type(mine)]))
    found = reading(letter, BOUNDLAB_PLUGINS=str(PLUGIN))
    assert found.returncode == 0, found.stderr
    alone = tmp_path / "alone"
    alone.write_bytes(pickle.dumps(type(mine)))
    assert (
        reading(alone)
        .stderr.splitlines()[-1]
        .endswith("the plug-in example.py is not loaded here, or lies elsewhere: load_plugin(PATH)")
    )
    assert "unknown algorithm" in reading(letter).stderr.splitlines()[-1]


def test_a_plugin_that_cannot_be_loaded_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BOUNDLAB_PLUGINS", raising=False)
    with pytest.raises(SpecError, match="cannot be loaded"):
        bl.load_plugin(tmp_path / "none.py")
    assert "BOUNDLAB_PLUGINS" not in os.environ
