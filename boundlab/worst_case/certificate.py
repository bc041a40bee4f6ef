"""Turn Clarabel's multipliers into rational ones that prove an upper value.

Multipliers from a solver meet Σ λ_k·a_k = c and S ⪰ 0 up to rounding. Here they are moved a little into the interior,
and the equations are solved in fractions; :mod:`boundlab.worst_case.verify` then says what they prove.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import numpy as np
from numpy.typing import NDArray

from boundlab.errors import CertificateError
from boundlab.worst_case.program import Compiled, SemidefiniteProgram, Solution
from boundlab.worst_case.verify import upper_value

Floats = NDArray[np.float64]
Sparse = dict[int, Fraction]
_INTERIOR = 0.3
_SHARES = tuple(10.0 ** (-8.0 + step / 3.0) for step in range(25))
# Below this share of the largest, a multiplier may be noise: rows that nothing needs are left out.
_SMALL = (0.0, 1e-6)


def certify(compiled: Compiled, solution: Solution) -> tuple[Fraction, list[Fraction]] | None:
    """Return a rational upper value of the program that was checked exactly, and its multipliers, or None.

    The multipliers are moved a little towards those of the program with a larger objective, whose S has room.
    """
    program = compiled.program
    try:
        inner = compiled.solve(trace=_INTERIOR)
    except CertificateError:
        return None
    if inner.status != "optimal":
        return None
    basis = _basis(program, solution.multipliers + 1e-3 * inner.multipliers)
    if basis is None:
        return None
    for share, small in product(_SHARES, _SMALL):
        mixed = (1.0 - share) * solution.multipliers + share * inner.multipliers
        mixed[mixed < small * mixed.max()] = 0.0
        proposed = _rational(program, mixed, basis)
        if proposed is not None and _room(program, proposed):
            value = upper_value(program, proposed)
            if value is not None:
                return value, proposed
    return None


def _basis(program: SemidefiniteProgram, weights: Floats) -> list[int] | None:
    """Return rows whose value parts are a basis, those with large multipliers first."""
    from scipy.linalg import qr

    if not program.values:
        return []
    columns = np.zeros((program.values, len(program.rows)))
    for place, one in enumerate(program.rows):
        for i, weight in one.values.items():
            columns[i, place] = float(weight)
    _, upper, order = qr(columns * np.maximum(weights, 1e-12), mode="economic", pivoting=True)
    diagonal = np.abs(np.diag(upper))
    if len(diagonal) < program.values or diagonal[-1] == 0.0:
        return None
    return [int(place) for place in order[: program.values]]


def _rational(program: SemidefiniteProgram, multipliers: Floats, basis: list[int]) -> list[Fraction] | None:
    """Take the multipliers as they are but those of the basis, which solve Σ λ_k·a_k = c; None if one is < 0."""
    exactly = [Fraction(float(weight)) for weight in multipliers]
    inside = set(basis)
    right = [program.objective.values.get(i, Fraction(0)) for i in range(program.values)]
    for place, one in enumerate(program.rows):
        if place not in inside and exactly[place]:
            for i, weight in one.values.items():
                right[i] -= exactly[place] * weight
    equations: list[Sparse] = [{} for _ in range(program.values)]
    for column, place in enumerate(basis):
        for i, weight in program.rows[place].values.items():
            equations[i][column] = weight
    solved = _solve(equations, right)
    if solved is None or any(value < 0 for value in solved):
        return None
    for place, value in zip(basis, solved, strict=True):
        exactly[place] = value
    return exactly


def _solve(equations: list[Sparse], right: list[Fraction]) -> list[Fraction] | None:
    """Solve a square sparse system by elimination, the shortest row first."""
    left = [(dict(row), value) for row, value in zip(equations, right, strict=True)]
    done: list[tuple[int, Sparse, Fraction]] = []
    while left:
        place = min(range(len(left)), key=lambda i: len(left[i][0]))
        row, value = left.pop(place)
        if not row:
            return None
        pivot = next(iter(row))
        for i, (other, constant) in enumerate(left):
            if pivot in other:
                ratio = other[pivot] / row[pivot]
                for column, weight in row.items():
                    changed = other.get(column, Fraction(0)) - ratio * weight
                    if changed:
                        other[column] = changed
                    else:
                        other.pop(column, None)
                left[i] = (other, constant - ratio * value)
        done.append((pivot, row, value))
    found = [Fraction(0)] * len(equations)
    for pivot, row, value in reversed(done):
        rest = sum((weight * found[column] for column, weight in row.items() if column != pivot), start=Fraction(0))
        found[pivot] = (value - rest) / row[pivot]
    return found


def _room(program: SemidefiniteProgram, multipliers: Sequence[Fraction]) -> bool:
    """Return whether S = Σ λ_k·A_k − C looks positive definite in floats: then the exact check is worth its time."""
    n = program.points
    slack = np.zeros((n, n))
    parts = [(float(weight), one) for weight, one in zip(multipliers, program.rows, strict=True) if weight]
    for weight, one in [*parts, (-1.0, program.objective)]:
        for (i, j), entry in one.gram.items():
            slack[i, j] += weight * float(entry) / 2.0
            slack[j, i] += weight * float(entry) / 2.0
    return not n or bool(np.linalg.eigvalsh(slack * np.outer(program.scale, program.scale))[0] > 0.0)
