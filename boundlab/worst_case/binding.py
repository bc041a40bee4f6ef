"""Certificates held to the question that they name: the program is made anew from the theorem, and compared.

The checker (:mod:`boundlab.recheck`) knows nothing of theorems and of algorithms: it shows that the value
follows from what the file says. Here the program, its basis, samples, objective and given rows are made from the
theorem, the horizon and the constants, and what the file says has to be them.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from boundlab.errors import BoundlabError
from boundlab.recheck import Finding
from boundlab.registry import registered
from boundlab.theorems import Theorem, core
from boundlab.worst_case import analysis
from boundlab.worst_case.analysis import UNIT, about, in_units_of_the_step, part_of, program_of
from boundlab.worst_case.model import LARGEST, FunctionClass, ProgramModel
from boundlab.worst_case.specification import Question, ask

_ASKED = {
    "theorem": str,
    "core": str,
    "iterations": int,
    "settings": dict,
    "average": bool,
    "delays": str,
    "events": list,
}
_MAY_BE_NULL = ("average", "delays", "events")
_MOST_ITERATIONS = 1_000  # of a file: no program of LARGEST points has as many


def bound(raw: Mapping[str, Any], found: Finding) -> Finding:
    """Return a finding about a certificate with what its question answers for.

    Parameters
    ----------
    raw
        The file, of which ``found`` says that no line is wrong.
    """
    if not found.right:
        return found
    try:
        theorem, wrong = _compared(raw)
    except BoundlabError as error:
        theorem, wrong = None, f"it is bound to no theorem: {error}"
    if theorem is not None:
        found = replace(found, reason=f"{theorem.id}: {found.reason}")
    return replace(found, setting=(wrong,) if wrong else ())


def _compared(raw: Mapping[str, Any]) -> tuple[Theorem | None, str]:
    """Return the theorem that a file names, and what of it is another's, or ''."""
    question = raw.get("question")
    if question is None:
        return None, "it is bound to no theorem: the file names no question"
    if odd := _malformed(question):
        return None, f"it is bound to no theorem: {odd}"
    theorem: Theorem | None = registered("theorems").get(question["theorem"])
    if theorem is None:
        return None, f"it is bound to no theorem: none is registered as {question['theorem'][:80]}"
    if core(theorem).sha256 != question["core"]:
        return theorem, f"{theorem.id} is stated otherwise: its core has another hash"
    more = {name: question[name] for name in ("average", "delays", "events")}
    plan = ask(theorem, question["iterations"], question["settings"], **more)
    if plan.clients != len(raw["functions"]):
        return theorem, f"{theorem.id}, as the file asks: {plan.clients} functions, and not {len(raw['functions'])}"
    first: list[str] = []
    for model, kind, unit in _programs(theorem, plan, str(raw["kind"])):
        other = list(_others(raw, plan, model, kind, unit))
        if not other:
            return theorem, ""
        first = first or other
    return theorem, f"{theorem.id}, as the file asks, has another {' and another '.join(first or ['program'])}"


def _malformed(question: Any) -> str:
    """Return what is no question, in words, or ''."""
    if not isinstance(question, dict) or question.keys() != _ASKED.keys():
        return f"a question has {', '.join(_ASKED)}"
    for name, kind in _ASKED.items():
        given = question[name]
        fits = isinstance(given, kind) and not (kind is int and isinstance(given, bool))
        if not fits and not (given is None and name in _MAY_BE_NULL):
            return f"{name} of its question is no {kind.__name__}"
    if odd := [name for name, one in question["settings"].items() if not _plain(one)]:
        return f"{odd[0][:40]} is no number, text or list of them"
    if not 1 <= question["iterations"] <= _MOST_ITERATIONS:
        return f"iterations must be from 1 to {_MOST_ITERATIONS}"
    clients = question["settings"].get("n", 1)
    try:
        few = 1 <= float(clients) <= LARGEST
    except (TypeError, ValueError):
        few = False
    return "" if few else f"n must be a number from 1 to {LARGEST}"


def _plain(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and all(_plain(one) and not isinstance(one, (list, str)) for one in value)
    return isinstance(value, (bool, int, float, str))


def _programs(theorem: Theorem, plan: Question, side: str) -> Iterator[tuple[ProgramModel, FunctionClass, str]]:
    """Yield the programs whose values say something of the question, each with its class and its unit.

    A value from above is that of the class, or of more functions; one from below is reached by a function where the
    program is no larger than the class, or than a part of it.
    """
    kind, constants, step, model = program_of(theorem, plan)
    if side == "upper":
        yield model, kind, ""
        unit = in_units_of_the_step(plan, kind, constants)
        if unit is not None:
            yield unit[0], unit[1], UNIT
    elif not kind.relaxed:
        yield model, kind, ""
    else:
        part = part_of(plan, kind, constants, step)
        if part is not None:
            yield part[1], part[0], ""


def _others(
    raw: Mapping[str, Any], plan: Question, model: ProgramModel, kind: FunctionClass, unit: str
) -> Iterator[str]:
    """Yield what a file says otherwise than the program."""
    own = json.loads(json.dumps(analysis.head(model, kind, raw["kind"], about(plan, unit))))
    yield from (name for name in own if own[name] != raw.get(name))
    rows = [{**one, "multiplier": None} for one in analysis.given(model, kind)]
    named = [{**one, "multiplier": None} for one in raw["rows"] if one["kind"] == "given"]
    if any(one not in rows for one in named) or (raw["kind"] == "lower" and any(one not in named for one in rows)):
        yield "set of given rows"
