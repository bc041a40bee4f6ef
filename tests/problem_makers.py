"""Problems for tests: from options, from text, and small random ones."""

from typing import Any

import numpy as np

from boundlab.objective import Problem
from boundlab.options import Options, parse_spec
from boundlab.problems.linear_model import LinearModel
from boundlab.randomness import Streams
from boundlab.registry import registered

TYPES = registered("problems")
EXPLICIT = ("huber", "lad", "max-affine", "pseudo-huber", "quadratic")
LOSSES = (  # with slopes that have a bound
    "hinge",
    "huber-regression",
    "lad-regression",
    "logistic",
    "modified-huber",
    "quantile-regression",
    "softmax",
)
MODELS = (*LOSSES, "least-squares", "poisson", "squared-hinge")
OF_VALUES = ("huber-regression", "lad-regression", "least-squares", "quantile-regression")


def make(kind: str, **options: Any) -> Any:
    return TYPES[kind].build(Options(f"problem {kind}", options))


def from_text(text: str) -> Any:
    kind, options = parse_spec(text, "problem")
    return make(kind, **options)


def generated(kind: str, seed: int, **more: Any) -> Any:
    """Give a random explicit problem with 2–5 clients in 1–3 dimensions."""
    n, d = 2 + seed % 4, 1 + seed % 3
    return make(kind, **({"clients": n, "dimension": d, "seed": seed, "spread": 0.5 + seed % 5, "sigma": 0.3} | more))


def tiny(kind: str, seed: int, **more: Any) -> Any:
    """Give a random problem with 2–4 clients of 1–6 samples in 2 features, every third with weights of samples."""
    rng = np.random.default_rng(seed)
    n, scale = int(rng.integers(2, 5)), float(rng.choice([0.3, 1.0, 3.0]))
    owners = np.concatenate([np.arange(n), rng.integers(0, n, size=2 * n + 4)])
    features = scale * rng.normal(size=(len(owners), 2))
    if kind in OF_VALUES:
        targets = rng.normal(size=len(owners))
    elif kind == "poisson":
        targets = rng.poisson(2.0, size=len(owners))
    else:
        labels = 3 if kind == "softmax" else 2
        targets = np.concatenate([np.arange(labels), rng.integers(0, labels, size=len(owners) - labels)])
    options: dict[str, Any] = {
        "nu": float(rng.choice([0.02, 0.3])),
        "weights": str(rng.choice(["equal", "size", "paper"])),
    }
    if kind == "poisson":
        options["box"] = [-0.5, 0.25]
    if seed % 3 == 2:  # each client has a sample of weight 1, and others may have none
        options["sample_weight"] = [*([1.0] * n), *rng.choice([0.0, 0.3, 2.5], size=len(owners) - n).tolist()]
    return make(
        kind,
        features=features.tolist(),
        targets=targets.tolist(),
        owners=owners.tolist(),
        **(options | more),
    )


def point(problem: Problem, seed: int, scale: float = 2.0) -> np.ndarray:
    return np.random.default_rng(seed).normal(scale=scale, size=problem.d)


def sample_gradients(problem: LinearModel, client: int, x: np.ndarray) -> np.ndarray:
    """Return the stochastic gradient for each single row of a client, read off the oracle's own steps."""
    oracle = problem.oracle(Streams(0))
    rows = []
    for row in range(int(problem.sizes[client])):
        y = x.copy()
        oracle.step(y, client, np.array([problem.offsets[client] + row]), 1.0)
        rows.append(x - y)
    return np.asarray(rows)
