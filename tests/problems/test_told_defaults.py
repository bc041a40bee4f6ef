"""What the descriptions of options call the default is what is taken where an option is left out."""

import json
import re
from typing import Any

import numpy as np
import pytest

from boundlab.case import build_delays, build_problem
from boundlab.delays import DELAYS
from boundlab.errors import SpecError
from boundlab.problems.samples import SIGNS, VALUES
from boundlab.randomness import Streams
from boundlab.registry import registered

# Options that make a generated problem, or say where data comes from: without one of them other defaults count.
FEW = {"clients": 2, "dimension": 2}
BASE: dict[str, dict[str, Any]] = {
    "huber": FEW,
    "lad": FEW,
    "pseudo-huber": FEW,
    "quadratic": FEW,
    "max-affine": FEW,
    "smoothed-max-affine": {"a": [[[1, 0], [-1, 1], [0, -1]]], "c": [[0, 0, 0]]},
    **{name: {"data": "breast_cancer", "clients": 2, "nu": 0.1} for name in (*SIGNS, "softmax")},
    **{name: {"data": "diabetes", "clients": 2, "nu": 0.1} for name in VALUES},
    "poisson": {"data": "diabetes", "clients": 2, "nu": 0.1, "ball": 1},
}


PARTITIONS = {
    "a": {"partition": "dirichlet"},
    "shards": {"partition": "class"},
    "a1": {"partition": "dual-dirichlet"},
    "a2": {"partition": "dual-dirichlet"},
}


def told(options: dict[str, str]) -> dict[str, str]:
    """Return the defaults that descriptions name as numbers or words."""
    found = {name: re.search(r"\(default:? ([^\s,;)]+)\)?", text) for name, text in options.items()}
    return {name: match.group(1) for name, match in found.items() if match}


WORDS = {("partition", "iid"), ("weights", "equal"), ("solver", "auto"), ("bias", "yes"), ("replacement", "yes")}
CASES = [
    (kind.id, name, value)
    for kind in registered("problems").values()
    for name, value in told(dict(kind.options)).items()
    if re.fullmatch(r"[\d.e-]+", value) or (name, value) in WORDS
]


def test_most_options_name_their_default() -> None:
    assert len(CASES) > 60


@pytest.mark.sweep(20)
@pytest.mark.parametrize(("kind", "name", "value"), CASES)
def test_a_default_of_a_problem_is_the_one_that_is_told(kind: str, name: str, value: str) -> None:
    base = {key: one for key, one in BASE[kind].items() if key != name}
    if name in ("dimension", "clients") and kind in ("huber", "lad", "pseudo-huber"):
        base = {**base, "seed": 0}  # centres that are generated
    if kind == "smoothed-max-affine" and name in ("clients", "pieces", "dimension", "spread", "seed"):
        base = {}
    base |= PARTITIONS.get(name, {})
    left_out, said = build_problem(kind, dict(base)), build_problem(kind, {**base, name: value})
    assert describe(left_out) == describe(said)


def describe(problem: Any) -> str:
    """Return the problem's numbers, of data how they are split and weighed."""
    numbers = {key: getattr(problem, key) for key in ("sizes", "nu", "batch", "factors", "X") if hasattr(problem, key)}
    shown = {key: value.tolist() if hasattr(value, "tolist") else value for key, value in numbers.items()}
    spec = {key: value for key, value in problem.spec().items() if key not in ("x0", "seed")}
    spec = {key: float(value) if re.fullmatch(r"[\d.e-]+", str(value)) else value for key, value in spec.items()}
    return json.dumps([spec, shown, problem.x0.tolist(), str(problem.dtype)], sort_keys=True, default=str)


DELAY_CASES = [
    (kind.id, name, value)
    for kind in DELAYS
    for name, value in told(dict(kind.options)).items()
    if re.fullmatch(r"[\d.e-]+", value)
]


@pytest.mark.sweep(3)
@pytest.mark.parametrize(("kind", "name", "value"), DELAY_CASES)
def test_a_default_of_a_delay_model_is_the_one_that_is_told(kind: str, name: str, value: str) -> None:
    base = {"draw": "normal"} if name == "rate_seed" else {}
    left_out, said = build_delays(kind, dict(base), 3), build_delays(kind, {**base, name: value}, 3)
    one, other = (delays.sample(Streams(5), 40, 0.0) for delays in (left_out, said))
    assert np.array_equal(one.time, other.time)
    assert np.array_equal(one.actor, other.actor)


@pytest.mark.parametrize("name", PARTITIONS)
def test_an_option_of_another_partition_names_its_own(name: str) -> None:
    wanted = f"add partition={PARTITIONS[name]['partition']}$"
    with pytest.raises(SpecError, match=wanted):
        build_problem("logistic", {**BASE["logistic"], name: "2"})
