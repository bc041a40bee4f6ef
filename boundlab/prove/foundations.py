"""All that a proof rests on: what its class of runs says, the assumptions that it uses, and the rules."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import final

from boundlab.classes.own import described
from boundlab.prove._facts import Shared
from boundlab.prove._meanings import letters_in, meanings
from boundlab.prove.outcome import Outcome

# Facts that say what a vector does, or what holds by assumption; all others follow by their rule.
_GIVEN = frozenset({"axiom", "orthogonal", "uncorrelated", "mixture", "against"})


@final
@dataclass(frozen=True, slots=True)
class Foundations:
    """What must be believed.

    Parameters
    ----------
    runs
        The class of runs that the proof speaks of; empty where it is about numbers alone.
    axioms
        Each with the assumptions that it states.
    rules
        How often each is used.
    letters
        What the letters in the axioms stand for.
    symbols
        All of them that the conclusion depends on.
    """

    runs: str
    axioms: tuple[tuple[str, str], ...]
    rules: Mapping[str, int]
    letters: Mapping[str, str]
    symbols: tuple[str, ...]


def foundations(outcome: Outcome) -> Foundations:
    """Return what a proof rests on: its conclusion, or all its steps where it has none."""
    steps = outcome.steps if outcome.conclusion is None else (outcome.conclusion,)
    ends = [step.fact for step in steps if step.fact is not None]
    behind = _behind(ends)
    given = {(", ".join(sorted(one.axioms)), str(one)) for one in behind if one.rule in _GIVEN and not one.premises}
    setting = outcome.setting
    return Foundations(
        "" if setting is None else described(setting.theorem.algorithm),
        tuple(sorted(given)),
        dict(Counter(one.rule for one in behind if one.rule != "axiom").most_common()),
        letters_in((claim for _, claim in sorted(given)), meanings(outcome.kernel, setting)),
        tuple(dict.fromkeys(name for one in ends for name in one.context.order() if name in one.names)),
    )


def _behind(ends: Iterable[Shared]) -> list[Shared]:
    """Return facts, with those from which they follow."""
    found: dict[int, Shared] = {}
    waiting: list[Shared] = list(ends)
    while waiting:
        fact = waiting.pop()
        if fact.number not in found:
            found[fact.number] = fact
            parts = (one for value in fact.data.values() for one in (value if isinstance(value, tuple) else (value,)))
            waiting += [*fact.premises, *(one for one in parts if isinstance(one, Shared))]
    return list(found.values())
