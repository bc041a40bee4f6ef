"""Round multipliers to a certificate of a given value: of a bound that is attained, and has no room above it.

At an optimum S·G = 0, so that S ⪰ 0 has no interior to move into. The range of G, whose vectors a worst function of few
dimensions makes, is read as a rational subspace V; then Σ λ_k·a_k = c, −Σ λ_k·b_k = value and S·V = 0 are linear
equations for those λ_k that are not 0, and are solved in fractions near the solver's multipliers.
"""

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from boundlab.arithmetic.numbers import flint, fraction, rational
from boundlab.worst_case.certificate import Vector, kernels
from boundlab.worst_case.program import Compiled, Matrix, Row, SemidefiniteProgram, Solution, lower_value, upper_value

Floats = NDArray[np.float64]
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
# many
# dimensions as G has rank. The solver's point is moved a little towards one with room and rounded;
# :mod:`boundlab.worst_case.program` says whether it is still a point of the program.

_SHARES = tuple(10.0 ** (-7.0 + step) for step in range(6))
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
    for share in _SHARES:
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
