"""A theorem is about f alone unless it says that it covers F = f + h; no way of asking gets around that."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from boundlab.assumptions import BOUNDED_DOMAIN, COMPOSITE, UNCONSTRAINED, with_implied
from boundlab.case import problem_from
from boundlab.cli import invoke
from boundlab.errors import AssumptionError
from boundlab.instance.applicability import certain_range, check
from boundlab.objective.weighted import Weighted, minimised
from boundlab.options import Options
from boundlab.registry import lookup, registered
from boundlab.theorems import Theorem
from boundlab.worst_case import worst_case

THEOREMS: dict[str, Theorem] = registered("theorems")
COVERING = sorted(name for name, one in THEOREMS.items() if COMPOSITE in with_implied(one.assumptions))
OTHERS = sorted(set(THEOREMS) - set(COVERING))
SIMPLE = ("l1=0.1", "box=[-3,3]", "ball=4")


@pytest.mark.sweep(25)
@pytest.mark.parametrize("simple", SIMPLE)
@pytest.mark.parametrize("name", OTHERS)
def test_every_other_theorem_is_not_applicable_because_of_h_whatever_else_it_assumes(name: str, simple: str) -> None:
    problem, theorem = problem_from(f"huber:c=[0,1],x0=2,{simple}"), THEOREMS[name]
    # Nothing but the objective is looked at before.
    nothing = SimpleNamespace()
    with pytest.raises(AssumptionError, match=f"{name} assumes {UNCONSTRAINED}"):
        check(theorem, problem, nothing, nothing, nothing, nothing, ())  # type: ignore[arg-type]


def test_a_simple_part_is_not_lost_behind_weights() -> None:
    problem, algorithm = problem_from("huber:c=[0,1],x0=2,l1=0.1"), lookup("algorithms", "sfedavg")
    parameters = algorithm.read(Options(algorithm.id, {"alpha": 0.1, "weights": [1, 3]}))
    weighted = minimised(problem, algorithm, parameters)
    assert isinstance(weighted, Weighted)
    assert weighted.simple == problem.simple
    assert weighted.why_not(UNCONSTRAINED) == problem.why_not(UNCONSTRAINED) != ""
    x = np.array([2.0])
    weighted.descend(0, x, 0.5)
    assert x[0] == pytest.approx(2.0 - 0.5 * 1.0 - 0.5 * 0.1)
    assert weighted.steepness() >= 0.1
    best = weighted.optimum()
    parts = [weighted.client_value(client, best.x) for client in range(2)]
    assert best.value == pytest.approx(0.25 * parts[0] + 0.75 * parts[1])


OWN = """
id = "mine.own"
metric = "{metric}"
algorithm = "{algorithm}"
assumptions = {assumptions}
{options}
[step]
{step} = "0.1"
[terms]
bound = "1000*K**0"
"""


def own(folder: Path, assumptions: list[str], metric: str = "gap", algorithm: str = "gd", step: str = "alpha") -> str:
    path = folder / "mine.toml"
    words, options = json.dumps(assumptions), '[options]\nsampling = "all"' if algorithm == "gd" else ""
    path.write_text(OWN.format(metric=metric, algorithm=algorithm, step=step, assumptions=words, options=options))
    return str(path)


@pytest.mark.parametrize("simple", SIMPLE)
def test_a_theorem_of_the_user_s_opts_in_or_is_not_applicable(
    simple: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = f"huber:c=[0,1],x0=2,{simple}"
    command = ["--problem", spec, "-k", "3", "-r", "2"]
    for backend in ("numpy", "torch"):
        assert invoke(["compare", own(tmp_path, ["convex"]), *command, "--backend", backend]) == 4
        assert "assumes unconstrained" in capsys.readouterr().err
        assert invoke(["compare", own(tmp_path, ["convex", "composite"]), *command, "--backend", backend]) == 0
    constrained = own(tmp_path, ["convex", "constrained"])
    assert invoke(["compare", constrained, *command]) == (4 if simple.startswith("l1") else 0)
    assert invoke(["compare", own(tmp_path, ["convex"]), *command, "--exact"]) == 4
    key, _, value = simple.partition("=")
    case = {
        "algorithm": "gd",
        "problem": {"type": "huber", "c": [[0], [1]], "x0": 2, key: json.loads(value)},
        "events": [[1, "s"], [2, "s"]],
        "theorem": "mine.own",
        "iterations": 2,
    }
    path = tmp_path / "case.json"
    path.write_text(json.dumps(case))
    assert invoke(["exact", own(tmp_path, ["convex"]), str(path)]) == 4
    assert invoke(["exact", own(tmp_path, ["convex", "composite"]), str(path)]) == 0


def test_gradient_norms_and_gaps_that_may_be_infinite_are_refused_by_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def asked(simple: str, metric: str, algorithm: str, step: str) -> int:
        theorem = own(tmp_path, ["convex", "composite"], metric, algorithm, step)
        return invoke(["compare", theorem, "--problem", f"huber:c=[0,1],x0=2,{simple}", "-k", "3", "-r", "2"])

    for simple in SIMPLE:
        assert asked(simple, "gradient-norm-last", "gd", "alpha") == 4
        assert "no gradient norm" in capsys.readouterr().err
        # FedBuff adds differences: its models may leave a set.
        assert asked(simple, "gap", "fedbuff", "eta_l") == (0 if simple.startswith("l1") else 4)
        if not simple.startswith("l1"):
            assert "infinite gap outside" in capsys.readouterr().err
        for algorithm in ("gd", "nesterov", "asfedavg"):
            assert asked(simple, "gap", algorithm, "alpha") == 0


@pytest.mark.parametrize("name", COVERING)
def test_worst_case_does_not_speak_of_a_class_with_a_simple_part(name: str) -> None:
    theorem = THEOREMS[name]
    assumption = next(one for one in (BOUNDED_DOMAIN, "constrained", COMPOSITE) if one in theorem.assumptions)
    values = {name: value for name, value in (("mu", 0.1), ("G", 1.0), ("diameter", 2.0)) if name in theorem.inputs()}
    with pytest.raises(AssumptionError, match=f"assumes {assumption}.*no interpolation inequalities"):
        worst_case(theorem, 2, values)


def test_no_range_is_known_for_proximal_steps() -> None:
    algorithm = lookup("algorithms", "gd")
    parameters = algorithm.read(Options("gd", {"alpha": 0.1}))
    metric, ks = THEOREMS["classics.gd.convex"].left, np.array([1, 2])
    for simple in SIMPLE:
        problem = problem_from(f"huber:c=[0,1],x0=2,{simple}")
        assert certain_range(metric, problem, algorithm, parameters, ks) is None
    assert certain_range(metric, problem_from("huber:c=[0,1],x0=2"), algorithm, parameters, ks) is not None


def test_a_bound_that_a_constraint_makes_false_is_refuted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    # Huber is linear with slope 1/2 on x ≥ 0, L = 1 and R = 2: two steps lead from 2 to 1, where the gap is 1/2 =
    # LR²/(4K). Without a constraint it is at most LR²/(4K + 2) = 2/5.
    spec, path = "huber:c=[-1],delta=0.5,x0=2,box=[0,10]", tmp_path / "case.json"
    case = {
        "algorithm": "gd",
        "problem": {"type": "huber", "c": [[-1]], "delta": "1/2", "x0": 2, "box": [0, 10]},
        "events": [[1, "s"], [2, "s"]],
        "theorem": "mine.own",
        "iterations": 2,
    }
    path.write_text(json.dumps(case))
    for bound, code in (("L*R**2/(4*K + 2)", 1), ("L*R**2/(4*K)", 0)):
        theorem = tmp_path / "mine.toml"
        words = json.dumps(["convex", "smooth", "minimiser", "composite", "one-function"])
        theorem.write_text(
            f'id = "mine.own"\nmetric = "gap"\nalgorithm = "gd"\nassumptions = {words}\n'
            f'[step]\nalpha = "1/L"\n[terms]\nbound = "{bound}"\n'
        )
        assert invoke(["compare", str(theorem), "--problem", spec, "-k", "2", "-r", "2"]) == code
        capsys.readouterr()
        assert invoke(["exact", str(theorem), str(path), "--json"]) == code
        found = json.loads(capsys.readouterr().out)
        assert (found["left_text"], found["kind"]) == ("1/2 = 0.5", "exact")
