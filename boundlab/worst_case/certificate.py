"""Turn Clarabel's multipliers into a rational dual point, and check it exactly.

For λ ≥ 0 with Σ λ_k·a_k = c and S = Σ λ_k·A_k − C ⪰ 0, every point of the program has
c·F + ⟨C, G⟩ ≤ Σ λ_k·(a_k·F + ⟨A_k, G⟩) ≤ −Σ λ_k·b_k. Multipliers from a solver meet this up to rounding; here the
equations are solved in fractions, and S ⪰ 0 is shown by S = Q·Qᵀ + E with a diagonally dominant E.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from boundlab.errors import CertificateError
from boundlab.worst_case.program import Compiled, Program, Solution

Floats = NDArray[np.float64]
Sparse = dict[int, Fraction]
_INTERIOR = 0.3
_SHARES = tuple(10.0 ** (-8.0 + step / 3.0) for step in range(19))
_BITS = 70


def certify(compiled: Compiled, solution: Solution) -> Fraction | None:
    """Return a rational upper value of the program that was checked exactly, or None.

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
    for share in _SHARES:
        mixed = (1.0 - share) * solution.multipliers + share * inner.multipliers
        exactly = _rational(program, mixed, basis)
        if exactly is not None and _semidefinite(program, exactly):
            constants = [one.constant for one in program.rows]
            lost = sum((weight * b for weight, b in zip(exactly, constants, strict=True)), start=Fraction(0))
            return program.objective.constant - lost
    return None


def _basis(program: Program, weights: Floats) -> list[int] | None:
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


def _rational(program: Program, multipliers: Floats, basis: list[int]) -> list[Fraction] | None:
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


def _semidefinite(program: Program, multipliers: Sequence[Fraction]) -> bool:
    """Show S = Σ λ_k·A_k − C ⪰ 0 exactly: S = Q·Qᵀ + E, E diagonally dominant."""
    n = program.points
    slack = [[Fraction(0)] * n for _ in range(n)]
    parts = [(weight, one) for weight, one in zip(multipliers, program.rows, strict=True) if weight]
    for weight, one in [*parts, (Fraction(-1), program.objective)]:
        for (i, j), entry in one.gram.items():
            slack[i][j] += weight * entry if i == j else weight * entry / 2
    # In the solver's units, rounded to powers of 2, all entries are of one size; a congruence keeps S ⪰ 0.
    scale = [Fraction(2) ** round(np.log2(length)) for length in program.scale.tolist()]
    for i in range(n):
        for j in range(i, n):
            slack[j][i] = slack[i][j] = slack[i][j] * scale[i] * scale[j]
    numeric = np.array([[float(entry) for entry in line] for line in slack])
    least = float(np.linalg.eigvalsh(numeric)[0]) if n else 1.0
    if least <= 0.0:
        return False
    try:
        root: Floats = np.linalg.cholesky(numeric - 0.5 * least * np.eye(n)).astype(np.float64)
    except np.linalg.LinAlgError:
        return False
    return _dominant(slack, root)


def _dominant(slack: list[list[Fraction]], root: Floats) -> bool:
    """Whether E = slack − root·rootᵀ, computed exactly, is diagonally dominant: then slack ⪰ 0."""
    n = len(slack)
    if not n:
        return True
    integer = np.array([[int(Fraction(float(x)) * 2**_BITS) for x in line] for line in root], dtype=object)
    product = integer @ integer.T
    denominator = 2 ** (2 * _BITS)
    for i in range(n):
        room = slack[i][i] - Fraction(int(product[i, i]), denominator)
        away = sum(
            (abs(slack[i][j] - Fraction(int(product[i, j]), denominator)) for j in range(n) if j != i),
            start=Fraction(0),
        )
        if room < away:
            return False
    return True


def check(program: Program, multipliers: Sequence[Fraction]) -> Fraction | None:
    """Return the upper value that rational multipliers prove, or None if they prove nothing."""
    if any(weight < 0 for weight in multipliers):
        return None
    total: Sparse = {}
    for weight, one in zip(multipliers, program.rows, strict=True):
        for i, entry in one.values.items():
            total[i] = total.get(i, Fraction(0)) + weight * entry
    wanted = program.objective.values
    if any(total.get(i, Fraction(0)) != wanted.get(i, Fraction(0)) for i in range(program.values)):
        return None
    if not _semidefinite(program, multipliers):
        return None
    lost = sum((weight * one.constant for weight, one in zip(multipliers, program.rows, strict=True)), Fraction(0))
    return program.objective.constant - lost
