"""Rows of a schedule that repeat those before: from where on a reader has to look at no more of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from boundlab.arithmetic import numbers
from boundlab.arithmetic.numbers import Scalar
from boundlab.arithmetic.writing import Sentence, linear, math, say
from boundlab.exact._instance import ExactSetting
from boundlab.exact._linear import Rule, rules
from boundlab.exact._rows import model_letter, model_name


@final
@dataclass(frozen=True, slots=True)
class Entering:
    """Run that enters a server update.

    Parameters
    ----------
    version
        The server model where its local steps begin; None: they begin at a point of the client's own.
    start
        Where they begin.
    """

    client: int
    weight: Fraction
    steps: int
    version: int | None
    start: Scalar


@final
@dataclass(frozen=True, slots=True)
class RepeatingRows:
    """Rows that repeat those one turn before.

    Parameters
    ----------
    rows
        How many rows there are until one turn has been seen: those that have to be looked at one by one.
    said
        It in words.
    """

    rows: int
    said: Sentence


def goes_on(
    at: ExactSetting, each: Sequence[Sequence[Entering]], obeyed: Sequence[Rule], most: int
) -> RepeatingRows | None:
    """Return from where on what enters a row is what entered one turn before, so that the rules of the models go on.

    The same clients, with the same weights and after as many steps: from the models one turn later, which obey the
    rules, or from points of the clients' own that obey one rule.

    Parameters
    ----------
    each
        What enters rows 1, 2, ….
    obeyed
        The rules of the models.
    most
        Rows that may have to be looked at one by one.

    Returns
    -------
    None where there is no such row.
    """
    turns, since = obeyed[0].turns, min(rule.first for rule in obeyed)
    seen = max(rule.first for rule in obeyed) + 1
    rows = [sorted(entering, key=lambda one: (one.client, one.version is None, one.version)) for entering in each]
    for first in range(1, min(most, len(each)) - turns):
        found = _shifts(rows[first - 1 :], turns, since)
        if found is not None:
            letter, later = model_letter(at), f"k+{turns}"
            k, then = model_name(at, "k"), math(f"{letter}_{{{later}}}", f"{letter}_{{{later}}}")
            said = say(f"from row {first} on, row t + {turns} has what row t has, with {{}} in place of {{}}", then, k)
            for own in found:
                start = math("y_0", "y_0")
                after = linear([(own.q, start)], own.c)
                said = say("{}, and {} in place of a {} that is no such model", said, after, start)
            return RepeatingRows(max(first + turns, seen), said)
    return None


def _shifts(rows: Sequence[Sequence[Entering]], turns: int, since: int) -> list[Rule] | None:
    """Return the one rule of the points of clients' own, if there are such points; None: rows do not repeat."""
    own: dict[tuple[int, int], list[Scalar]] = {}
    for place, entering in enumerate(rows):
        for number, one in enumerate(entering):
            if one.version is None:
                own.setdefault((place % turns, number), []).append(one.start)
    for now, then in zip(rows, rows[turns:], strict=False):
        if len(now) != len(then) or not all(_follows(*pair, turns, since) for pair in zip(now, then, strict=True)):
            return None
    found = [rules(points) for points in own.values()]
    if any(len(some) != 1 or some[0].first for some in found):
        return None
    kept = [some[0] for some in found]
    if any(numbers.sign(one.q - kept[0].q) or numbers.sign(one.c - kept[0].c) for one in kept):
        return None
    return kept[:1]


def _follows(now: Entering, then: Entering, turns: int, since: int) -> bool:
    same = (now.client, now.weight, now.steps) == (then.client, then.weight, then.steps)
    if now.version is None or then.version is None:
        return same and now.version is then.version
    return same and now.version >= since and then.version == now.version + turns
