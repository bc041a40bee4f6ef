"""Rational multipliers that prove an upper value, and points that reach a lower one, from what Clarabel finds."""

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from boundlab.arithmetic.numbers import digits, flint, fraction, rational
from boundlab.arithmetic.rational import meant
from boundlab.errors import CertificateError
from boundlab.randomness import Floats
from boundlab.worst_case.program import Compiled, Matrix, Row, SemidefiniteProgram, Solution, lower_value, upper_value

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
    entries = [program.rows[place].values.get(i, Fraction(0)) for i in range(program.values) for place in basis]
    matrix, size = flint().fmpq_mat, len(basis)
    try:
        found = matrix(size, size, list(map(rational, entries))).solve(matrix(size, 1, list(map(rational, right))))
    except ZeroDivisionError:
        return None
    solved = [fraction(one) for one in found.entries()]
    if any(value < 0 for value in solved):
        return None
    for place, value in zip(basis, solved, strict=True):
        exactly[place] = value
    return exactly


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


# Round multipliers to a certificate of a given value: of a bound that is attained, and has no room above it.
#
# At an optimum S·G = 0, so that S ⪰ 0 has no interior to move into. The range of G, whose vectors a worst function of
# few dimensions makes, is read as a rational subspace V; then Σ λ_k·a_k = c, −Σ λ_k·b_k = value and S·V = 0 are linear
# equations for those λ_k that are not 0, and are solved in fractions near the solver's multipliers.


# Multipliers below the first share of the largest, and eigenvalues of G below the second, are taken for 0; the third is
# how far an entry of V may be from the solver's. Where G and S both have small eigenvalues, the solver is that far off.
_TRIES = (
    (1e-5, 1e-5, 1e-5),
    (1e-4, 1e-5, 1e-5),
    (1e-3, 1e-4, 1e-4),
    (1e-6, 1e-7, 1e-6),
    (1e-2, 1e-3, 1e-2),
    (1e-3, 1e-2, 1e-3),
)
_STEP = 2**24
# Elimination over the fractions takes seconds beyond.
_LARGEST = 20
# Numerators and denominators of V up to here are meant, and not a rounding error that was read as a fraction.
_PLAIN = 1000
# So many multipliers are tried to be left out, one after the other.
_MANY = 60


def attained(
    compiled: Compiled, solution: Solution, value: Fraction, known: Sequence[list[Vector]] = ()
) -> Iterator[tuple[list[Fraction], list[Vector]]]:
    """Propose multipliers that prove the value, and V; :mod:`boundlab.worst_case.program` says which do.

    Parameters
    ----------
    value
        What is to be proved, near the optimum.
    known
        Guesses of V, which are tried beside those that the solver's G suggests.
    """
    program = compiled.program
    if program.points > _LARGEST:
        return
    weight = solution.multipliers * _sizes(program)
    done: list[tuple[list[int], list[Vector]]] = []
    for small, thin, error in _TRIES:
        order = [int(k) for k in np.argsort(-weight) if weight[k] > small * weight.max()]
        for kernel in kernels(program, solution, order, thin, error, known):
            if (order, kernel) not in done:
                done.append((order, kernel))
                found = _solve(program, order, kernel, value, solution.multipliers)
                if found is not None:
                    yield found, kernel


def plainest(
    proposed: Iterable[tuple[list[Fraction], list[Vector]]],
) -> tuple[list[Fraction], list[Vector]] | None:
    """Return the first proposal whose V has small numerators and denominators, or the one whose V has the smallest.

    A V that is off by a rounding error may prove the value, too, by other multipliers than those of other horizons.
    """
    best, least = None, float("inf")
    for multipliers, kernel in proposed:
        largest = max((max(abs(x.numerator), x.denominator) for vector in kernel for x in vector), default=1)
        if largest < least:
            best, least = (multipliers, kernel), largest
        if least <= _PLAIN:
            break
    return best


def fewer(
    program: SemidefiniteProgram,
    multipliers: Sequence[Fraction],
    kernel: Sequence[Vector],
    value: Fraction,
    far: Sequence[int],
) -> list[Fraction]:
    """Return multipliers that prove the value, too, of which none can be left out.

    Few of them are mostly the only ones, with small numerators and denominators.

    Parameters
    ----------
    multipliers, kernel
        What :func:`attained` proposed and the first checker has accepted.
    far
        How early each row is tried to be left out: the largest first, so that several horizons keep the same kinds.
    """
    near = np.array([float(one) for one in multipliers])
    found = _vertex(program, kernel, value, near, far) or list(multipliers)
    if sum(1 for one in found if one) > _MANY:
        return found
    for k in sorted(range(len(found)), key=lambda k: (-far[k], found[k])):
        if not found[k]:
            continue
        left = [place for place, one in enumerate(found) if one and place != k]
        less = _solve(program, left, kernel, value, np.array([float(one) for one in found]))
        if less is not None and upper_value(program, less) == value:
            found = less
    return found


def _vertex(
    program: SemidefiniteProgram, kernel: Sequence[Vector], value: Fraction, near: Floats, far: Sequence[int]
) -> list[Fraction] | None:
    """Return multipliers at a vertex of those that meet the equations, where S ⪰ 0 there, too."""
    from scipy.optimize import linprog

    every = range(len(program.rows))
    lines, columns, entries = _equations(program, every, kernel, value)
    table = np.array([float(fraction(one)) for one in entries]).reshape(lines, columns)
    for power in (3, 1):
        cost = (1.0 + np.array(far)) ** power
        vertex = linprog(cost, A_eq=table[:, :-1], b_eq=table[:, -1], bounds=(0, None), method="highs-ds")
        if not vertex.success:
            return None
        support = [k for k in every if vertex.x[k] > 1e-7 * max(vertex.x.max(), 1e-12)]
        found = _solve(program, support, kernel, value, near)
        if found is not None and upper_value(program, found) == value:
            return found
    return None


def _sizes(program: SemidefiniteProgram) -> Floats:
    """Return how large each row is in the solver's units."""
    out = np.zeros(len(program.rows))
    for place, one in enumerate(program.rows):
        linear = [abs(float(entry)) * program.level for entry in one.values.values()]
        square = [abs(float(entry)) * program.scale[i] * program.scale[j] for (i, j), entry in one.gram.items()]
        out[place] = max([*linear, *square, abs(float(one.constant))])
    return out


def _solve(
    program: SemidefiniteProgram, order: Sequence[int], kernel: Sequence[Vector], value: Fraction, near: Floats
) -> list[Fraction] | None:
    """Solve the equations for the multipliers of ``order``, the first ones by the others; None if they contradict."""
    reduced, rank = flint().fmpq_mat(*_equations(program, order, kernel, value)).rref()
    width = len(order)
    pivots = [next(column for column in range(width + 1) if reduced[row, column] != 0) for row in range(int(rank))]
    if width in pivots:
        return None
    found = {column: Fraction(round(float(near[k]) * _STEP), _STEP) for column, k in enumerate(order)}
    free = [column for column in range(width) if column not in set(pivots)]
    for row, pivot in enumerate(pivots):
        others = (fraction(reduced[row, column]) * found[column] for column in free)
        found[pivot] = fraction(reduced[row, width]) - sum(others, Fraction(0))
    out = [Fraction(0)] * len(program.rows)
    for column, k in enumerate(order):
        out[k] = found[column]
    return out if min(out) >= 0 else None


def _equations(
    program: SemidefiniteProgram, order: Sequence[int], kernel: Sequence[Vector], value: Fraction
) -> tuple[int, int, list[object]]:
    """Return the number of equations, that of columns with the right sides, and the entries row by row."""
    columns, objective, zero = [program.rows[k] for k in order], program.objective, Fraction(0)
    lines = [
        [*(one.values.get(i, zero) for one in columns), objective.values.get(i, zero)] for i in range(program.values)
    ]
    lines.append([*(-one.constant for one in columns), value - objective.constant])
    for vector in kernel:
        images = [_image(one, vector) for one in (*columns, objective)]
        lines += [[image[i] for image in images] for i in range(program.points)]
    lines = [line for line in lines if any(line)]
    return len(lines), len(order) + 1, [rational(entry) for line in lines for entry in line]


def _image(form: Row, vector: Vector) -> Vector:
    """Return A·v for the matrix A of a form."""
    out = [Fraction(0)] * len(vector)
    for (i, j), entry in form.gram.items():
        if i == j:
            out[i] += entry * vector[i]
        else:
            out[i] += entry * vector[j] / 2
            out[j] += entry * vector[i] / 2
    return out


# A rational point of the program whose objective is above a bound: the bound is then exceeded, for certain.
#
# Where the class has sufficient interpolation inequalities, a point of the program is a function of the class, in as
# many dimensions as G has rank. The solver's point is moved a little towards one with room and rounded;
# :mod:`boundlab.worst_case.program` says whether it is still a point of the program.

_TOWARDS = tuple(10.0 ** (-7.0 + step) for step in range(6))
_FINEST = 2**50


def certified_lower(
    compiled: Compiled, solution: Solution, above: Fraction
) -> tuple[Fraction, Matrix, list[Fraction]] | None:
    """Return the objective at a rational point of the program, checked exactly, and the point: G and F; or None.

    Parameters
    ----------
    above
        Only points whose objective is larger are looked for.
    """
    inner = compiled.interior()
    if inner is None:
        return None
    program = compiled.program
    for share in _TOWARDS:
        gram = (1.0 - share) * solution.gram + share * inner[0]
        values = (1.0 - share) * solution.values + share * inner[1]
        point = _rounded(program, gram), _fractions(values, program.level)
        value = lower_value(program, *point)
        if value is not None and value > above:
            return value, *point
    return None


def _rounded(program: SemidefiniteProgram, gram: Floats) -> Matrix:
    """Round the entries, each in its own unit, to a symmetric matrix."""
    out: Matrix = []
    for i, line in enumerate(gram.tolist()):
        out.append([])
        for j, entry in enumerate(line):
            unit = float(program.scale[i] * program.scale[j])
            out[i].append(out[j][i] if j < i else _fractions(np.array([entry]), unit)[0])
    return out


def _fractions(values: Floats, unit: float) -> list[Fraction]:
    """Round to few binary digits below the unit."""
    power = Fraction(2) ** round(np.log2(unit))
    return [power * Fraction(round(value / float(power) * _FINEST), _FINEST) for value in values.tolist()]
