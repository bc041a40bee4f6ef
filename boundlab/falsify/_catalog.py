"""Registered objects by name, looked up once: a search asks for the same few thousands of times."""

import json
from functools import cache, lru_cache
from typing import Any, Literal

from boundlab.algorithms import Algorithm
from boundlab.delays import DelayModel, ServerPolicy
from boundlab.objective import Problem
from boundlab.options import Options, parse_spec
from boundlab.registry import lookup


@cache
def _entry(group: Literal["algorithms", "problems", "delays"], name: str) -> Any:
    return lookup(group, name)


def algorithm(name: str) -> Algorithm[Any]:
    """Return a registered algorithm."""
    found: Algorithm[Any] = _entry("algorithms", name)
    return found


def problem(kind: str, options: dict[str, Any]) -> Problem:
    """Return a problem; equal options give the same object, whose constants are computed once."""
    return _problem(kind, json.dumps(options))


@lru_cache(maxsize=4096)
def _problem(kind: str, options: str) -> Problem:
    found: Problem = _entry("problems", kind).build(Options(f"problem {kind}", json.loads(options)))
    return found


def delays(spec: str, clients: int, who: Algorithm[Any]) -> tuple[DelayModel, ServerPolicy]:
    """Return a delay model and the policy that goes with it by default."""
    kind, options = parse_spec(spec, "delays")
    model: DelayModel = _entry("delays", kind).build(Options(f"delays {kind}", options), clients)
    return model, who.policy(None, model)
