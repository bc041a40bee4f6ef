"""Registered objects by name, looked up once: a search asks for the same few thousands of times."""

import json
from functools import cache, lru_cache
from typing import Any

from boundlab.algorithms import Algorithm
from boundlab.case import build_problem, delays_from
from boundlab.delays import DelayModel, ServerPolicy
from boundlab.objective import Problem
from boundlab.registry import lookup


@cache
def algorithm(name: str) -> Algorithm[Any]:
    """Return a registered algorithm."""
    found: Algorithm[Any] = lookup("algorithms", name)
    return found


def problem(kind: str, options: dict[str, Any]) -> Problem:
    """Return a problem; equal options give the same object, whose constants are computed once."""
    return _problem(kind, json.dumps(options))


def delays(spec: str, clients: int, who: Algorithm[Any]) -> tuple[DelayModel, ServerPolicy]:
    """Return a delay model and the policy that goes with it by default; files are read each time."""
    model = _delays(spec, clients)
    model = delays_from(spec, clients) if model.files() else model
    return model, who.policy(None, model)


@lru_cache(maxsize=4096)
def _delays(spec: str, clients: int) -> DelayModel:
    return delays_from(spec, clients)


@lru_cache(maxsize=4096)
def _problem(kind: str, options: str) -> Problem:
    return build_problem(kind, json.loads(options))
