"""All that a proof rests on: what its class of runs says, the assumptions that it uses, and the rules."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

from boundlab.classes import described
from boundlab.prove._meanings import letters_in, meanings
from boundlab.prove.outcome import Outcome
from boundlab.prove.trace import behind

# Facts that say what a vector does, or what holds by assumption; all others follow by their rule.
_GIVEN = frozenset({"axiom", "orthogonal", "uncorrelated", "mixture"})


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
    ends = outcome.ends
    used = behind(ends)
    given = {(", ".join(sorted(one.axioms)), str(one)) for one in used if one.rule in _GIVEN and not one.premises}
    setting = outcome.setting
    return Foundations(
        "" if setting is None else described(setting.theorem.algorithm),
        tuple(sorted(given)),
        dict(Counter(one.rule for one in used if one.rule != "axiom").most_common()),
        letters_in((claim for _, claim in sorted(given)), meanings(outcome.kernel, setting)),
        tuple(dict.fromkeys(name for one in ends for name in one.context.order() if name in one.names)),
    )
