"""Known witnesses: small instances that refuted a theorem or a wrong form of one, tried before anything else."""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from typing import Any

from boundlab.assumptions import assumption
from boundlab.falsify import _candidate as catalog
from boundlab.falsify._candidate import Candidate
from boundlab.falsify._families import noise_allowed
from boundlab.instance.applicability import looked_at
from boundlab.instance.settings import open_rates
from boundlab.theorems import Theorem

_FILE = "witnesses.json"


@cache
def known() -> tuple[Mapping[str, Any], ...]:
    """Return the witnesses of the data file.

    Each has ``words`` (what it shows), ``algorithm`` (an id, or * for any), ``problem``, ``delays``, ``settings``,
    ``iterations``, and ``rates``: values for the rates that a theorem leaves open, in 1/L where they are step sizes,
    under ``length`` for step sizes of any name; empty where the theorem's own are taken.
    """
    text = resources.files("boundlab.falsify").joinpath(_FILE).read_text(encoding="utf-8")
    return tuple(json.loads(text))


def known_witnesses(theorem: Theorem) -> list[Candidate]:
    """Return the witnesses that can be looked at for a theorem, in the order of the file."""
    return [candidate for one in known() for candidate in _candidates(theorem, one)]


def _candidates(theorem: Theorem, witness: Mapping[str, Any]) -> Iterator[Candidate]:
    algorithm = catalog.algorithm(theorem.algorithm)
    if witness["algorithm"] not in ("*", theorem.algorithm):
        return
    settings = witness["settings"]
    if not all(name == "N" or theorem.core.varies(name) for name in settings):
        return
    free = {*theorem.inputs(), *theorem.settable}
    if "N" in free:
        settings = {"N": "1", **settings}
    elif "N" in settings:
        return
    if (algorithm.server == "any") != witness["delays"].startswith("iid"):
        return
    step = _step(theorem, witness["rates"])
    if step is None or (witness["problem"]["sigma"] and not noise_allowed(theorem)):
        return
    family = f"known witness: {witness['words']}"
    found = Candidate(family, witness["problem"], witness["delays"], settings, step, witness["iterations"])
    about = [name for name in theorem.core.asked if assumption(name).of == "functions"]
    problem = looked_at(theorem, found.build())
    if not any(problem.why_not(name) for name in about):
        yield found


def _step(theorem: Theorem, rates: Mapping[str, float]) -> dict[str, float] | None:
    """Return values of the open rates, None where the witness says none that the theorem needs."""
    found = {}
    for name in open_rates(theorem):
        key = name if name in rates else "length" if theorem.symbols[name].is_step_size else name
        if key in rates:
            found[name] = float(rates[key])
        elif name not in theorem.settable:
            return None
    return found
