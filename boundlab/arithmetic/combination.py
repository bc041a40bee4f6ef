"""Linear programs in fractions: inequalities as sums of others, with multipliers that anyone can check.

What is found is exact, and so is :func:`proves`, which needs nothing of how it was found (Farkas' lemma).
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Final

Linear = Mapping[str, Fraction]
"""A sum of quantities by name, each times a number: as an inequality, it is ≥ 0."""

_ZERO: Final = Fraction(0)


def combination(
    goal: Linear, facts: Sequence[Linear], unknown: Sequence[Linear] = (), cost: Sequence[int] = ()
) -> tuple[list[Fraction], list[Fraction]] | None:
    """Return numbers ≥ 0 with goal + Σ numbers·unknown = Σ multipliers·facts, or None where there are none.

    Parameters
    ----------
    goal
        What shall be ≥ 0.
    facts
        What is ≥ 0.
    unknown
        What the goal has of each number that is looked for.
    cost
        What is made smallest: the sum of these numbers, each times its cost. None is returned where there is no end.

    Returns
    -------
    tuple
        The multipliers of the facts, and the numbers.

    Examples
    --------
    >>> combination({"a": Fraction(3)}, [{"a": Fraction(2), "b": Fraction(1)}, {"b": Fraction(-1)}])
    ([Fraction(3, 2), Fraction(3, 2)], [])
    """
    names = sorted({name for one in (goal, *facts, *unknown) for name in one})
    rows = [[*(one.get(name, _ZERO) for one in facts), *(-one.get(name, _ZERO) for one in unknown)] for name in names]
    found = _least(rows, [goal.get(name, _ZERO) for name in names], [*[0] * len(facts), *cost])
    return None if found is None else (found[: len(facts)], found[len(facts) :])


def proves(goal: Linear, facts: Sequence[Linear], multipliers: Sequence[Fraction]) -> bool:
    """Return whether multipliers show that the goal is ≥ 0 where all facts are: they are ≥ 0, and the sum is the goal.

    Examples
    --------
    >>> proves({"a": Fraction(3)}, [{"a": Fraction(2)}], [Fraction(1)])
    False
    """
    total = dict(goal)
    for fact, times in zip(facts, multipliers, strict=True):
        for name, value in fact.items():
            total[name] = total.get(name, _ZERO) - times * value
    return all(times >= 0 for times in multipliers) and not any(total.values())


def _least(rows: list[list[Fraction]], right: list[Fraction], cost: list[int]) -> list[Fraction] | None:
    """Return x ≥ 0 with rows·x = right and the smallest cost·x, by the simplex method with Bland's rule, or None."""
    many, columns = len(rows), len(cost)
    table = []
    for place, (row, goal) in enumerate(zip(rows, right, strict=True)):
        sign = -1 if goal < 0 else 1
        own = [Fraction(place == other) for other in range(many)]
        table.append([*(sign * value for value in row), *own, sign * goal])
    basis = [columns + place for place in range(many)]
    _improve(table, basis, [0] * columns + [1] * many, columns + many)
    for place, row in enumerate(table):
        if basis[place] < columns:
            continue
        if row[-1]:
            return None
        enter = next((column for column in range(columns) if row[column]), None)
        if enter is not None:
            _pivot(table, basis, place, enter)
    if not _improve(table, basis, [*cost, *[0] * many], columns):
        return None
    found = [_ZERO] * columns
    for place, column in enumerate(basis):
        if column < columns:
            found[column] = table[place][-1]
    return found


def _improve(table: list[list[Fraction]], basis: list[int], cost: list[int], columns: int) -> bool:
    """Pivot until no column makes the cost smaller; False where it falls without end."""
    saved = [Fraction(one) for one in (*cost, 0)]
    for at, row in zip(basis, table, strict=True):
        if cost[at]:
            saved = [one - cost[at] * value for one, value in zip(saved, row, strict=True)]
    table.append(saved)  # by how much the cost grows with each column
    while True:
        enter = next((column for column in range(columns) if table[-1][column] < 0), None)
        ratios = [
            (row[-1] / row[enter], basis[place], place)
            for place, row in enumerate(table[:-1])
            if enter is not None and row[enter] > 0
        ]
        if enter is None or not ratios:
            table.pop()
            return enter is None
        _pivot(table, basis, min(ratios)[2], enter)


def _pivot(table: list[list[Fraction]], basis: list[int], leave: int, enter: int) -> None:
    pivot = table[leave][enter]
    table[leave] = [value / pivot if value else value for value in table[leave]]
    for place, row in enumerate(table):
        if place != leave and row[enter]:
            times = row[enter]
            table[place] = [
                value - times * other if other else value for value, other in zip(row, table[leave], strict=True)
            ]
    basis[leave] = enter
