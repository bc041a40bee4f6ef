"""What benchmarks run on: data of a fixed shape, and tapes that record nothing but their end."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from boundlab.case import build_delays, build_problem
from boundlab.objective import Problem
from boundlab.options import Options
from boundlab.randomness import Streams
from boundlab.registry import lookup
from boundlab.simulate.work import compile_trial
from boundlab.tape import RecordAt, Tape

STEP = 0.01  # of the local steps, also of those by hand


def tapes_of(algorithm: str, settings: dict[str, Any], clients: int, iterations: int, count: int) -> list[Tape]:
    """Compile different runs, which record nothing but their end."""
    who, delays = lookup("algorithms", algorithm), build_delays("exponential", {"spread": 4}, clients)
    policy, parameters = who.policy(None, delays), who.read(Options(who.id, settings))
    records = RecordAt(np.array([iterations]))
    return [
        compile_trial(who, parameters, clients, delays, policy, iterations, records, Streams(0, trial))
        for trial in range(count)
    ]


def where_from() -> str:
    """Return whose digits :func:`digits` takes."""
    return "MNIST" if _mnist() else "random numbers of MNIST's shape"


def _mnist() -> bool:
    where = os.environ.get("BOUNDLAB_DATA", "")
    return bool(where) and (Path(where) / "mnist").exists()


def digits(clients: int = 128, batch: int = 32) -> Problem:
    """Return softmax regression on MNIST where BOUNDLAB_DATA has it, else on numbers of its shape, in float32."""
    options = {"clients": clients, "batch": batch, "nu": 1e-3, "dtype": "float32"}
    if _mnist():
        return build_problem("softmax", {**options, "data": "mnist"})
    random = np.random.Generator(np.random.Philox(2))
    features, targets = random.random((100 * clients, 784)), random.integers(0, 10, size=100 * clients)
    small: Any = build_problem("softmax", {**options, "data": "digits", "clients": 2})
    sizes, x0 = np.full(clients, 100), np.zeros(7840, dtype=np.float32)
    problem: Problem = replace(small, X=features.astype(np.float32), y=targets, sizes=sizes, x0=x0, source={})
    return problem


def regression(clients: int = 40, rows: int = 1000, features: int = 400, batch: int = 256) -> Problem:
    """Return least squares on random numbers, float64."""
    random = np.random.Generator(np.random.Philox(3))
    small: Any = build_problem("least-squares", {"data": "diabetes", "clients": 2, "batch": batch})
    data, targets = random.normal(size=(clients * rows, features)), random.normal(size=clients * rows)
    problem: Problem = replace(small, X=data, y=targets, sizes=np.full(clients, rows), x0=np.zeros(features), source={})
    return problem


def logistic(clients: int = 100, rows: int = 100, features: int = 1000, batch: int = 32) -> Problem:
    """Return logistic regression on random numbers, float32."""
    random = np.random.Generator(np.random.Philox(4))
    options = {"data": "breast_cancer", "clients": 2, "batch": batch, "nu": 1e-3, "dtype": "float32"}
    small: Any = build_problem("logistic", options)
    data = random.normal(size=(clients * rows, features)).astype(np.float32)
    targets, sizes = random.choice([-1.0, 1.0], size=clients * rows).astype(small.y.dtype), np.full(clients, rows)
    x0 = np.zeros(features, dtype=np.float32)
    problem: Problem = replace(small, X=data, y=targets, sizes=sizes, x0=x0, source={})
    return problem


def quadratics(clients: int = 10_000, dimension: int = 10) -> Problem:
    """Return quadratics without noise."""
    return build_problem("quadratic", {"clients": clients, "dimension": dimension, "sigma": 0.0})
