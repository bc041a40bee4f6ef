"""A proof as a file, for ``prove FILE --recheck``: every fact that a step rests on, and how it was made."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from boundlab.prove import _lines as lines
from boundlab.prove._context import Context
from boundlab.prove._facts import Shared
from boundlab.prove._kernel import Kernel, further
from boundlab.prove._vectors import Law
from boundlab.prove.outcome import Outcome
from boundlab.prove.setting import Setting
from boundlab.theorems import core

SCHEMA = "boundlab proof 2"
DECLARING = ("name", "root", "define", "name family")


def write_trace(outcome: Outcome) -> str:
    """Return a proof as JSON text: the same text for the same proof.

    Parameters
    ----------
    outcome
        What came of it; steps that are not proved stand there as claimed.
    """
    return json.dumps(trace(outcome), ensure_ascii=False, indent=None, separators=(",", ":"), sort_keys=True) + "\n"


def trace(outcome: Outcome) -> dict[str, Any]:
    """Return what :func:`write_trace` writes."""
    kernel = outcome.kernel
    theorem = None if outcome.setting is None else outcome.setting.theorem
    stated = None if theorem is None else core(theorem)
    facts = reachable(outcome)
    contexts = _contexts(kernel, facts)
    numbers = {context: number for number, context in enumerate(contexts)}
    place = {fact.number: number for number, fact in enumerate(facts)}
    laws = list(dict.fromkeys(one for fact in facts for one in fact.data.values() if isinstance(one, Law)))
    at = lines.Places(place.__getitem__, numbers.__getitem__, laws.index)
    defining = {fact.data["name"]: place[fact.number] for fact in facts if fact.rule in DECLARING}
    return {
        "schema": SCHEMA,
        "proof": outcome.script.id,
        "theorem": "" if theorem is None else theorem.id,
        "statement": None if stated is None else stated.fields,
        "sha256": None if stated is None else stated.sha256,
        **declared(kernel, outcome.setting),
        "symbols": [symbol(kernel, kernel.context, name, defining) for name in kernel.context.order()],
        "laws": [lines.law_dict(one, kernel.vectors.known) for one in laws],
        "contexts": [_origin(kernel, one, numbers, place, defining) for one in contexts],
        "facts": [
            lines.line_of(fact.rule, fact.context, fact.premises, fact.data, lines.said(fact), at) for fact in facts
        ],
        "steps": [
            {"name": one.name, "status": one.status.value, "fact": None if one.fact is None else place[one.fact.number]}
            for one in outcome.steps
        ],
        "conclusions": [place[one.number] for one in kernel.concluded],
    }


def declared(kernel: Kernel, setting: Setting | None) -> dict[str, Any]:
    """Return what a setting declares beside symbols: vectors, what they are gradients of, and the problem.

    Indices of vectors are @0, @1 and so on; @i is the client of whose function the weight is.
    """
    return {
        "problem": None if setting is None else setting.problem(),
        "parameters": sorted(kernel.parameters),
        "vectors": dict(sorted(kernel.replay.vectors.items())),
        "functions": dict(sorted(kernel.replay.functions.items())),
        "slopes": dict(sorted(kernel.replay.raw["slopes"].items())),
    }


def reachable(outcome: Outcome) -> list[Shared]:
    """Return the facts that steps rest on, and those that say what named numbers are, in the order they were made."""
    kernel = outcome.kernel
    ends: list[Shared] = [one.fact for one in outcome.steps if one.fact is not None]
    return behind([*ends, *kernel.concluded, *(fact for fact in kernel.facts if fact.rule in DECLARING)])


def behind(ends: Iterable[Shared]) -> list[Shared]:
    """Return facts with all that they follow from, hypotheses among them, in the order they were made."""
    found: dict[int, Shared] = {}
    stack = [*ends]
    while stack:
        fact = stack.pop()
        if fact.number in found:
            continue
        found[fact.number] = fact
        stack += [*fact.premises, *further(fact.data)]
        for context in fact.context.chain():
            if context.supposed is not None:
                stack.append(context.supposed)
    return [found[number] for number in sorted(found)]


def _contexts(kernel: Kernel, facts: Iterable[Shared]) -> list[Context]:
    found = [kernel.context]
    for fact in facts:
        found += [one for one in reversed(fact.context.chain()) if one not in found]
    return found


def _origin(
    kernel: Kernel,
    context: Context,
    numbers: Mapping[Context, int],
    place: Mapping[int, int],
    defining: Mapping[str, int],
) -> dict[str, Any]:
    if context.parent is None:
        return {"kind": "root"}
    found: dict[str, Any] = kernel.replay.raw["contexts"][context.number] | {"parent": numbers[context.parent]}
    above = set(context.parent.order())
    if own := [symbol(kernel, context, one, defining) for one in context.order() if one not in above]:
        found["symbols"] = own
    return found if context.supposed is None else found | {"fact": place[context.supposed.number]}


def symbol(kernel: Kernel, context: Context, name: str, defining: Mapping[str, int]) -> dict[str, Any]:
    """Return the declaration of a symbol in a case."""
    own = context.find(name)
    assert own is not None  # noqa: S101  (it stands in the context's order)
    return lines.symbol_dict(name, own, defining.get(name), kernel.exponents.get(name))
