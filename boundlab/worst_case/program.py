"""The semidefinite program behind a worst case, with exact coefficients, and Clarabel on its floats.

    maximise  c·F + ⟨C, G⟩ + c₀   subject to   a_k·F + ⟨A_k, G⟩ + b_k ≤ 0 for every k,   G ⪰ 0,

F are function values, G is the Gram matrix of the leaf points.
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any, TypeAlias, final

import numpy as np

from boundlab.errors import CertificateError, MissingExtraError
from boundlab.randomness import Floats
from boundlab.recheck import Form


def solver() -> Any:
    """Return the module CVXPY, which hands programs to Clarabel.

    Raises
    ------
    MissingExtraError
        If one of the two is not installed.
    """
    try:
        import clarabel  # noqa: F401
        import cvxpy
    except ImportError:
        raise MissingExtraError('worst cases need CVXPY and Clarabel: pip install "boundlab[worst-case]"') from None
    return cvxpy


Row: TypeAlias = Form  # in the function values F and the Gram matrix G of the leaf points
# Tried in turn: small programs are solved to more digits, which certificates of tight bounds need.
_SMALL_PROGRAMS, _LARGE_PROGRAMS, _ROUGH = (1e-9, 1e-7, 1e-6), (1e-8, 1e-6), (1e-6,)
_LARGE = 15  # points
# Supernodal elimination is six times as fast at 60 points as Clarabel's default; on one thread its digits are the same
# on every machine of a kind.
_METHOD: dict[str, object] = {"direct_solve_method": "faer", "max_threads": 1}


@final
@dataclass(frozen=True, slots=True)
class SemidefiniteProgram:
    """The program.

    Parameters
    ----------
    points, values
        Rows of G, and entries of F.
    objective
        What is maximised.
    rows
        Each is ≤ 0.
    scale
        Shape (points,): the typical length of each leaf point, for the solver's sake.
    level
        The typical function value.
    """

    points: int
    values: int
    objective: Row
    rows: tuple[Row, ...]
    scale: Floats
    level: float


@final
@dataclass(frozen=True, slots=True)
class Solution:
    """Solution reported by Clarabel.

    Parameters
    ----------
    status
        ``optimal``, or CVXPY's word for anything else; only ``optimal`` is a success.
    primal, dual
        The two objectives, numeric.
    gram, values
        Shapes (points, points) and (values,): the primal point.
    multipliers
        Shape (rows,), ≥ 0.
    """

    status: str
    primal: float
    dual: float
    gram: Floats
    values: Floats
    multipliers: Floats


@final
class Compiled:
    """A program as a CVXPY problem in scaled variables; compiled once, solved for several objectives."""

    def __init__(self, program: SemidefiniteProgram) -> None:
        cp = solver()
        self.program, self._cp = program, cp
        n, m = program.points, program.values
        self._gram = cp.Variable((n, n), symmetric=True)
        self._values = cp.Variable(max(m, 1))
        linear, quadratic, constant = _matrices(program.rows, program)
        self._length = np.maximum(
            np.maximum(abs(linear).max(axis=1).toarray().ravel(), abs(quadratic).max(axis=1).toarray().ravel()),
            abs(constant),
        )
        shrink = 1.0 / self._length
        self._form = (
            linear.multiply(shrink[:, None]).tocsr() @ self._values
            + quadratic.multiply(shrink[:, None]).tocsr() @ cp.vec(self._gram, order="F")
            + constant * shrink
        )
        self._rows = self._form <= 0
        first, second, self._offset = _matrices((program.objective,), program)
        self._objective = first @ self._values + second @ cp.vec(self._gram, order="F")

    def solve(self, trace: float = 0.0) -> Solution:
        """Maximise objective + trace·level·Σ G_ii/scale_i².

        With a trace the optimum is a place to move towards, of which few digits are wanted.

        Raises
        ------
        CertificateError
            If the program has no optimum.
        """
        cp = self._cp
        size = float(self.program.level)
        problem = cp.Problem(
            cp.Maximize(cp.sum(self._objective) / size + trace * cp.trace(self._gram)), [self._rows, self._gram >> 0]
        )
        status = _solve(cp, problem, self.program.points, rough=trace > 0.0)
        if self._gram.value is None:
            raise CertificateError(f"Clarabel ended with status {status}: the worst case is not finite or not found")
        multipliers = np.maximum(self._rows.dual_value, 0.0) * size / self._length
        constants = np.array([float(one.constant) for one in self.program.rows])
        dual = float(self.program.objective.constant) - float(multipliers @ constants)
        primal = float(cp.sum(self._objective).value + self._offset[0])
        return Solution(status, primal, dual, *self._point(), multipliers)

    def interior(self) -> tuple[Floats, Floats] | None:
        """Return a primal point with room in all rows and in G ⪰ 0, or None where the solver finds none."""
        cp = self._cp
        room = cp.Variable()
        eye = np.eye(self.program.points)
        rows = [self._form + room <= 0, self._gram - room * eye >> 0, room <= 1.0]
        status = _solve(cp, cp.Problem(cp.Maximize(room), rows), self.program.points)
        if self._gram.value is None or not status.startswith("optimal") or not float(room.value) > 0.0:
            return None
        return self._point()

    def flatten(self, weight: Floats, least: float) -> tuple[Floats, Floats] | None:
        """Return a primal point of small ⟨weight, scaled G⟩ whose objective is at least ``least``, or None."""
        cp = self._cp
        enough = cp.sum(self._objective) / self.program.level >= (least - self._offset[0]) / self.program.level
        goal = cp.Minimize(cp.sum(cp.multiply(self._gram, weight)))
        status = _solve(cp, cp.Problem(goal, [self._rows, self._gram >> 0, enough]), self.program.points)
        return None if self._gram.value is None or not status.startswith("optimal") else self._point()

    def _point(self) -> tuple[Floats, Floats]:
        scale = self.program.scale
        gram = np.asarray(self._gram.value) * np.outer(scale, scale)
        return gram, np.asarray(self._values.value)[: self.program.values] * self.program.level


def _matrices(rows: tuple[Row, ...], program: SemidefiniteProgram) -> tuple[Any, Any, Floats]:
    """Return the rows in scaled variables: (rows, values), (rows, points²) sparse, (rows,)."""
    from scipy.sparse import csr_array

    n, scale = program.points, program.scale
    linear: list[tuple[float, int, int]] = []
    quadratic: list[tuple[float, int, int]] = []
    for place, one in enumerate(rows):
        linear += [(float(weight) * program.level, place, i) for i, weight in one.values.items()]
        # The lower triangle stands for both halves.
        quadratic += [(float(weight) * scale[i] * scale[j], place, i * n + j) for (i, j), weight in one.gram.items()]
    sparse = []
    for entries, width in ((linear, max(program.values, 1)), (quadratic, n * n)):
        weights, at, columns = np.array(entries).reshape(-1, 3).T
        sparse.append(csr_array((weights, (at.astype(int), columns.astype(int))), shape=(len(rows), width)))
    return sparse[0], sparse[1], np.array([float(one.constant) for one in rows])


def _solve(cp: Any, problem: Any, points: int, *, rough: bool = False) -> str:
    status = "failed"
    for tolerance in _ROUGH if rough else _SMALL_PROGRAMS if points <= _LARGE else _LARGE_PROGRAMS:
        accuracy = {f"tol_{one}": tolerance for one in ("gap_abs", "gap_rel", "feas")}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the status, which is returned, says what the warnings say
            try:
                problem.solve(solver=cp.CLARABEL, **accuracy, **_METHOD)
            except cp.error.SolverError:
                continue
        status = str(problem.status)
        if status == "optimal":
            break
    return status


# Check certificates of worst cases in rational arithmetic: what is printed as certified has passed here.
#
# Nothing here is shared with the searches that propose certificates. A value from above comes from multipliers: for
# λ ≥ 0 with Σ λ_k·a_k = c and S = Σ λ_k·A_k − C ⪰ 0, every point of the program has
# c·F + ⟨C, G⟩ ≤ Σ λ_k·(a_k·F + ⟨A_k, G⟩) ≤ −Σ λ_k·b_k. A value from below comes from a point of the program.

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
