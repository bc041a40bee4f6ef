"""Turn Clarabel's multipliers into rational ones that prove an upper value.

Multipliers from a solver meet Σ λ_k·a_k = c and S ⪰ 0 up to rounding. Here they are moved a little into the interior,
and the equations are solved in fractions; :mod:`boundlab.worst_case.program` then says what they prove.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundlab.arithmetic.numbers import digits, flint, fraction, rational
from boundlab.arithmetic.rational import meant
from boundlab.errors import CertificateError
from boundlab.worst_case.program import Compiled, Row, SemidefiniteProgram, Solution, upper_value

# Guess the range of the Gram matrix G at an optimum, as rational vectors.

Floats = NDArray[np.float64]
Vector = list[Fraction]
# Newton's method: bits, steps, what is added to singular equations, how near its result is, and how long a fraction of
# that many digits may be to be meant.
_BITS, _STEPS, _DAMPING, _POLISHED, _LONGEST = 320, 7, 1e-40, 1e-30, 10**30


def kernels(
    program: SemidefiniteProgram,
    solution: Solution,
    order: Sequence[int],
    thin: float,
    error: float,
    known: Sequence[list[Vector]],
) -> Iterator[list[Vector]]:
    """Guess rational vectors that span the range of G, the quickest guess first.

    Parameters
    ----------
    order
        The rows that are attained.
    thin
        Eigenvalues of G below this share of the largest are taken for 0.
    error
        How far an entry may be from the solver's.
    known
        Guesses from elsewhere.
    """
    scale = program.scale
    size, vectors = np.linalg.eigh(solution.gram / np.outer(scale, scale))
    keep = size > thin * max(float(size[-1]), 0.0)
    near = (vectors[:, keep] * np.sqrt(size[keep])).T * scale
    rough = [[Fraction(entry) for entry in row] for row in near.tolist()]
    for units in (False, True):
        yield _reduced(rough, scale, error, units=units)
    yield from known
    polished = _polished(program, near, solution.values, order)
    for units in (False, True):
        kernel = _reduced(polished, scale, _POLISHED, units=units)
        if kernel and all(max(abs(one.numerator), one.denominator) < _LONGEST for row in kernel for one in row):
            yield kernel


def _reduced(rows: list[Vector], scale: Floats, error: float, *, units: bool) -> list[Vector]:
    """Eliminate, so that each row has a 1 where the others have 0, and round what is left.

    Parameters
    ----------
    units
        Whether to round in units of the program, in which a constant of many digits is 1.
    """
    left = [list(row) for row in rows]
    out = []
    pivots = []
    for row in range(len(left)):
        # The largest entry of all that are left becomes 1, and the only one of its column.
        _, place, pivot = max(
            (abs(float(left[other][i])) / scale[i], other, i)
            for other in range(row, len(left))
            for i in range(len(scale))
        )
        if not left[place][pivot]:
            return []
        left[row], left[place] = left[place], left[row]
        pivots.append(pivot)
        top = left[row][pivot]
        left[row] = [entry / top for entry in left[row]]
        for other in range(len(left)):
            factor = left[other][pivot]
            if other != row and factor:
                left[other] = [a - factor * b for a, b in zip(left[other], left[row], strict=True)]
    for line, pivot in zip(left, pivots, strict=True):
        ratios = [meant(float(one / scale[pivot])) for one in scale]
        rounded = (
            ratio * _simple(entry / ratio, error) if units else _simple(entry, error * float(ratio))
            for entry, ratio in zip(line, ratios, strict=True)
        )
        out.append(list(rounded))
    return out


def _simple(value: Fraction, error: float) -> Fraction:
    """Return the first convergent of a continued fraction that is as near as that."""
    rest, (a, b), (c, d) = value, (0, 1), (1, 0)
    while True:
        whole = rest.numerator // rest.denominator
        (a, b), (c, d) = (c, d), (whole * c + a, whole * d + b)
        found = Fraction(c, d)
        if rest == whole or abs(found - value) <= error:
            return found
        rest = 1 / (rest - whole)


def _polished(program: SemidefiniteProgram, rows: Floats, values: Floats, order: Sequence[int]) -> list[Vector]:
    """Return the vectors after Newton's method on the rows that are attained: with many digits, where it converges."""
    with digits(_BITS):
        arb, matrix = flint().arb, flint().arb_mat
        r, n, m = len(rows), program.points, program.values
        lengths = [*program.scale.tolist() * r, *[program.level] * m]
        start = [*rows.reshape(-1).tolist(), *values.tolist()]
        unit = [arb(one) for one in lengths]
        z = [arb(value / one) for value, one in zip(start, lengths, strict=True)]
        damping = matrix([[arb(_DAMPING if i == j else 0) for j in range(len(z))] for i in range(len(z))])
        for _ in range(_STEPS):
            table, rest = [], []
            for k in order:
                line, value = _linearised(program.rows[k], [a * b for a, b in zip(z, unit, strict=True)], r, n)
                line = [a * b for a, b in zip(line, unit, strict=True)]
                size = sum((entry * entry for entry in line), start=arb(0)).sqrt()
                if size > 0:
                    table.append([(entry / size).mid() for entry in line])
                    rest.append([(value / size).mid()])
            if not table:
                return []
            jacobian = matrix(table)
            normal = (jacobian.transpose() * jacobian + damping).mid()
            try:
                step = normal.solve((jacobian.transpose() * matrix(rest)).mid())
            except ZeroDivisionError:
                return []
            z = [(a - step[i, 0]).mid() for i, a in enumerate(z)]
        if not all(abs(entry) < 1e3 for entry in z):
            return []
        exactly = [fraction((a * b).mid().fmpq()) for a, b in zip(z, unit, strict=True)]
    return [exactly[row * n : (row + 1) * n] for row in range(r)]


def _linearised(one: Row, z: list[Any], r: int, n: int) -> tuple[list[Any], Any]:
    """Return the gradient and the value of a row at G = Σ v·vᵀ over the r vectors in z, and the values after them."""
    arb = flint().arb
    line, value = [arb(0)] * len(z), arb(rational(one.constant))
    for i, entry in one.values.items():
        weight = arb(rational(entry))
        line[r * n + i] = weight
        value += weight * z[r * n + i]
    for (i, j), entry in one.gram.items():
        weight = arb(rational(entry))
        for start in range(0, r * n, n):
            line[start + i] += weight * z[start + j]
            line[start + j] += weight * z[start + i]
            value += weight * z[start + i] * z[start + j]
    return line, value


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
