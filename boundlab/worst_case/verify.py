"""Check certificates of worst cases in rational arithmetic: what is printed as certified has passed here.

Nothing here is shared with the searches that propose certificates. A value from above comes from multipliers: for
λ ≥ 0 with Σ λ_k·a_k = c and S = Σ λ_k·A_k − C ⪰ 0, every point of the program has
c·F + ⟨C, G⟩ ≤ Σ λ_k·(a_k·F + ⟨A_k, G⟩) ≤ −Σ λ_k·b_k. A value from below comes from a point of the program.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import lcm

from boundlab.worst_case.program import Row, SemidefiniteProgram

Matrix = list[list[Fraction]]
_ZERO = Fraction(0)


def upper_value(program: SemidefiniteProgram, multipliers: Sequence[Fraction]) -> Fraction | None:
    """Return the upper value that multipliers prove, or None if they prove nothing.

    Parameters
    ----------
    multipliers
        One λ a row of the program.
    """
    if len(multipliers) != len(program.rows) or any(weight < 0 for weight in multipliers):
        return None
    active = [(Fraction(weight), one) for weight, one in zip(multipliers, program.rows, strict=True) if weight]
    total: dict[int, Fraction] = {i: -weight for i, weight in program.objective.values.items()}
    for weight, one in active:
        for i, entry in one.values.items():
            total[i] = total.get(i, _ZERO) + weight * entry
    if any(total.values()) or not positive_semidefinite(slack_matrix(program, multipliers)):
        return None
    return program.objective.constant - sum((weight * one.constant for weight, one in active), _ZERO)


def slack_matrix(program: SemidefiniteProgram, multipliers: Sequence[Fraction]) -> Matrix:
    """Return S = Σ λ_k·A_k − C, shape (points, points)."""
    slack = [[_ZERO] * program.points for _ in range(program.points)]
    for weight, one in [*zip(multipliers, program.rows, strict=True), (Fraction(-1), program.objective)]:
        if weight:
            _add(slack, weight, one.gram)
    return slack


def lower_value(program: SemidefiniteProgram, gram: Matrix, values: Sequence[Fraction]) -> Fraction | None:
    """Return the objective at a point of the program, or None if the point is outside.

    Parameters
    ----------
    gram
        Shape (points, points): G, which must be symmetric and positive semidefinite.
    values
        Shape (values,): F.
    """
    n = program.points
    if len(gram) != n or any(len(line) != n for line in gram) or len(values) != program.values:
        return None
    if any(gram[i][j] != gram[j][i] for i in range(n) for j in range(i)):
        return None
    if any(_at(one, gram, values) > 0 for one in program.rows) or not positive_semidefinite(gram):
        return None
    return _at(program.objective, gram, values)


def positive_semidefinite(matrix: Matrix) -> bool:
    """Return whether a symmetric matrix of fractions is positive semidefinite, by symmetric elimination in integers.

    A pivot 0 must have a row of zeros; divisions by the pivot before the last one leave no rest (Bareiss).
    """
    common = lcm(*(entry.denominator for line in matrix for entry in line)) if matrix else 1
    left = [[int(entry * common) for entry in line] for line in matrix]
    before = 1
    while left:
        # The smallest pivot that is not 0 keeps the numbers short.
        diagonal = [line[place] for place, line in enumerate(left)]
        if min(diagonal) < 0:
            return False
        chosen = min((i for i, entry in enumerate(diagonal) if entry), key=diagonal.__getitem__, default=None)
        if chosen is None:
            return not any(entry for line in left for entry in line)
        pivot, row = diagonal[chosen], left[chosen]
        keep = [i for i in range(len(left)) if i != chosen]
        left = [[(pivot * left[i][j] - row[i] * row[j]) // before for j in keep] for i in keep]
        before = pivot
    return True


def _add(matrix: Matrix, weight: Fraction, gram: Mapping[tuple[int, int], Fraction]) -> None:
    """Add weight·A, where the form Σ_{i≤j} gram[i, j]·G_ij is ⟨A, G⟩."""
    for (i, j), entry in gram.items():
        if i == j:
            matrix[i][i] += weight * entry
        else:
            matrix[i][j] += weight * entry / 2
            matrix[j][i] += weight * entry / 2


def _at(form: Row, gram: Matrix, values: Sequence[Fraction]) -> Fraction:
    """Return a linear form at a point."""
    linear = sum((weight * values[i] for i, weight in form.values.items()), form.constant)
    return sum((weight * gram[i][j] for (i, j), weight in form.gram.items()), linear)
