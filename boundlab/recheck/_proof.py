"""Checks a proof file, and says what it takes for granted."""

from collections.abc import Iterable, Mapping
from typing import Any

from boundlab.recheck import _structure as read
from boundlab.recheck._chance_rules import CHANCE, law_of
from boundlab.recheck._errors import WrongError
from boundlab.recheck._finding import Finding
from boundlab.recheck._name_rules import NAMES
from boundlab.recheck._norm_rules import NORMS
from boundlab.recheck._numbers import NumberError
from boundlab.recheck._ranges import Context
from boundlab.recheck._replay import Fact, Replay
from boundlab.recheck._rules import ALGEBRA
from boundlab.recheck._sum_rules import SUMS

_RULES = {**ALGEBRA, **NAMES, **NORMS, **SUMS, **CHANCE}
_TRUSTED = ("axiom", "claimed", "mixture", "orthogonal", "uncorrelated")


def recheck_proof(raw: Mapping[str, Any]) -> Finding:
    """Check every fact of a proof file.

    Parameters
    ----------
    raw
        What stands in it.
    """
    try:
        replay = Replay(raw, _RULES)
        facts = list(replay.run())
        conclusions, what = _conclusions(replay, raw)
    except (WrongError, NumberError) as error:
        return Finding(False, str(error), proof=True)
    given = tuple(dict.fromkeys(one.replace(" + -", " - ") for one in _given(replay, facts, conclusions)))
    proof, theorem = (str(raw.get(key, ""))[:200] for key in ("proof", "theorem"))
    claim = f"{theorem}, by the proof {proof}" if theorem else f"the proof {proof}"
    trusted = tuple(
        f"taken on trust: a rule that this checker does not replay: {rule}, {count} times"
        for rule, count in sorted(replay.trusted.items())
    )
    what, left, checked = what.replace(" + -", " - "), tuple(replay.root.left), len(facts) - replay.trusted.total()
    return Finding(True, what, given, checked, claim, left, proof=True, trusted=trusted)


def _conclusions(replay: Replay, raw: Mapping[str, Any]) -> tuple[list[Fact], str]:
    """Return the facts that make up the theorem, and what they say; raises if a case is missing."""
    for one in read.as_list(raw.get("steps"), "steps"):
        step = read.as_dict(one, "a step")
        fact = None if step.get("fact") is None else replay.fact(step["fact"], "a step")
        open_ones = [] if fact is None else [axiom for axiom in fact.axioms if axiom.startswith("step ")]
        if step.get("status") == "proved" and (fact is None or open_ones):
            raise WrongError(f"the step {str(step.get('name'))[:80]!r} is called proved, and rests on what is not")
    found = [replay.fact(one, "a conclusion") for one in read.as_list(raw.get("conclusions"), "conclusions")]
    if not found:
        return [], f"{len(replay.facts)} facts follow from what is given"
    _cover(replay, found)
    return found, "; ".join(f"{_case(one)}{one.text()}" for one in found)


def _cover(replay: Replay, facts: Iterable[Fact]) -> None:
    """Make sure that the cases are everything: the whole, or both parts of a split, each of them covered."""
    left = list(dict.fromkeys(fact.context for fact in facts))
    while left != [replay.root]:
        deepest = max(left, key=_depth)
        kind, *made = deepest.origin or ("",)
        other = next((one for one in left if _siblings(one, deepest)), None)
        if kind != "split" or other is None:
            raise WrongError("a conclusion holds in one case only")
        left = [one for one in left if one not in (deepest, other)]
        if made[0] not in left:
            left.append(made[0])


def _depth(context: Context) -> int:
    return 0 if context.parent is None else 1 + _depth(context.parent)


def _siblings(one: Context, other: Context) -> bool:
    same = one.origin[:1] == ("split",) and one.origin[:4] == other.origin[:4]
    return same and {one.origin[4], other.origin[4]} == {0, 1}


def _case(fact: Fact) -> str:
    words = []
    here: Context | None = fact.context
    while here is not None and here.parent is not None:
        words += [own.text(name) for name, own in here.own.items()]
        here = here.parent
    return f"where {', '.join(reversed(words))}: " if words else ""


def _given(replay: Replay, facts: Iterable[Fact], conclusions: Iterable[Fact]) -> Iterable[str]:
    for name in replay.root.order:
        if name not in replay.defined:
            yield f"range: {replay.root.find(name).text(name)}"
    for fact in facts:
        if fact.rule == "mixture":
            yield law_of(replay, fact).words()
        if fact.rule in _TRUSTED:
            yield f"{', '.join(sorted(fact.axioms))}: {fact.text()}"
    for fact in conclusions:
        yield f"the conclusion rests on {', '.join(sorted(fact.axioms)) or 'nothing else'}"
