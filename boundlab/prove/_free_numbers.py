"""Numbers for atoms that meet linear conditions and miss one: proposed by a solver, checked in fractions."""

import itertools
import warnings
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

_FEW = 24
_ROOM, _ROUND = 1e-4, (1, 2, 4, 8, 64, 4096, 1 << 20)
_LARGE, _THRIFT = 100.0, 1e-3
_ZERO = Fraction(0)
# The name of a vector with its indices; ("1",), ("inner", u, v) or ("value", f, i, u).
Name: TypeAlias = tuple[str, tuple[int, ...]]
Ground: TypeAlias = tuple[Any, ...]
Row: TypeAlias = dict[Ground, Fraction]


def solution(goal: Row, equality: bool, rows: Sequence[tuple[Row, bool]]) -> Row | None:
    """Return numbers for atoms with which all rows hold and the goal does not, checked in fractions."""
    if equality:
        return solution(goal, False, rows) or solution({key: -one for key, one in goal.items()}, False, rows)
    keys = sorted({key for row in (goal, *(row for row, _ in rows)) for key in row if key != ("1",)}, key=str)
    vectors = sorted({name for key in keys if key[0] == "inner" for name in key[1:]})
    values = [key for key in keys if key[0] == "value"]
    if not keys:  # numbers alone
        return {("1",): Fraction(1)} if goal.get(("1",), _ZERO) < 0 else None
    if len(vectors) > _FEW:
        return None
    atoms = [("inner", u, v) for u, v in itertools.combinations_with_replacement(vectors, 2)] + values
    for room in (0.0, _ROOM):
        numbers = _proposed(goal, rows, atoms, vectors, room)
        if numbers is None:
            return None
        for below in _ROUND:
            near = [Fraction(round(one * below), below) for one in numbers]
            found = _on_equations(near, rows, atoms)
            if found is not None and _checked(found, goal, rows, vectors):
                return found
    return None


def _proposed(
    goal: Row, rows: Sequence[tuple[Row, bool]], atoms: Sequence[Ground], vectors: Sequence[Name], room: float
) -> list[float] | None:
    try:
        import cvxpy
    except ImportError:
        return None
    cp: Any = cvxpy
    place = {name: number for number, name in enumerate(vectors)}
    count = len(vectors)
    first = count * (count + 1) // 2
    gram: Any = cp.Variable((count, count), PSD=True) if count else None
    free: Any = cp.Variable(len(atoms) - first) if len(atoms) > first else None

    def of(row: Row) -> Any:
        total: Any = float(row.get(("1",), _ZERO))
        for number, key in enumerate(atoms):
            if key in row:
                total = total + float(row[key]) * (
                    gram[place[key[1]], place[key[2]]] if number < first else free[number - first]
                )
        return total

    gap = cp.Variable()
    limits = [of(goal) <= -gap, gap <= 1]
    limits += [of(row) == 0 if equation else of(row) >= room for row, equation in rows]
    size: Any = 0.0
    if gram is not None:
        limits += [cp.trace(gram) <= _LARGE, gram >> room * np.eye(count)]
        size = size + cp.trace(gram)
    if free is not None:
        limits += [cp.abs(free) <= _LARGE]
        size = size + cp.norm1(free)
    program = cp.Problem(cp.Maximize(gap - _THRIFT * size), limits)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that a solution is inaccurate: it is a proposal
            program.solve(solver=cp.CLARABEL)
    except cp.SolverError:
        return None
    if program.status not in ("optimal", "optimal_inaccurate") or gap.value is None or gap.value < 10 * _ROOM:
        return None
    numbers = [] if gram is None else [gram.value[place[key[1]], place[key[2]]] for key in atoms[:first]]
    return [float(one) for one in [*numbers, *([] if free is None else free.value)]]


def _on_equations(numbers: Sequence[Fraction], rows: Sequence[tuple[Row, bool]], atoms: Sequence[Ground]) -> Row | None:
    """Return numbers near these that meet all equations exactly: each solved for one atom after the other."""
    found = dict(zip(atoms, numbers, strict=True))
    left = [dict(row) for row, equation in rows if equation]
    solved: list[tuple[Ground, Row]] = []
    while left:
        row = {key: one for key, one in left.pop().items() if one}
        free = [key for key in row if key != ("1",)]
        if not free:
            if row:
                return None
            continue
        pivot = max(free, key=lambda key: (key[0] == "value", abs(row[key]), str(key)))
        own = {key: -one / row[pivot] for key, one in row.items() if key != pivot}
        left = [_with(one, pivot, own) for one in left]
        solved = [(key, _with(one, pivot, own)) for key, one in solved]
        solved.append((pivot, own))
    for pivot, own in solved:
        found[pivot] = sum((one * (Fraction(1) if key == ("1",) else found[key]) for key, one in own.items()), _ZERO)
    return {**found, ("1",): Fraction(1)}


def _with(row: Row, pivot: Ground, own: Row) -> Row:
    weight = row.get(pivot, _ZERO)
    if not weight:
        return row
    found = {key: one for key, one in row.items() if key != pivot}
    for key, one in own.items():
        found[key] = found.get(key, _ZERO) + weight * one
    return found


def _checked(found: Row, goal: Row, rows: Sequence[tuple[Row, bool]], vectors: Sequence[Name]) -> bool:
    """Return whether the goal is < 0, all rows hold, and the Gram matrix is positive semidefinite: in fractions."""

    def at(row: Row) -> Fraction:
        return sum((one * found[key] for key, one in row.items()), _ZERO)

    if at(goal) >= 0 or any(at(row) < 0 or (equation and at(row)) for row, equation in rows):
        return False
    matrix = [[found["inner", *sorted((u, v))] for v in vectors] for u in vectors]
    return _positive_semidefinite(matrix)


def _positive_semidefinite(matrix: list[list[Fraction]]) -> bool:
    size = len(matrix)
    for pivot in range(size):
        weight = matrix[pivot][pivot]
        if weight < 0 or (not weight and any(matrix[pivot][pivot:])):
            return False
        for a in range(pivot + 1, size):
            share = matrix[a][pivot] / weight if weight else _ZERO
            for b in range(pivot + 1, size):
                matrix[a][b] -= share * matrix[pivot][b]
    return True
