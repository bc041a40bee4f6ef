"""The semidefinite program behind a worst case, with exact coefficients, and Clarabel on its floats.

    maximise  c·F + ⟨C, G⟩ + c₀   subject to   a_k·F + ⟨A_k, G⟩ + b_k ≤ 0 for every k,   G ⪰ 0,

F are function values, G is the Gram matrix of the leaf points.
"""

import warnings
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from boundlab.arithmetic.rational import fraction
from boundlab.errors import CertificateError
from boundlab.recheck import Form
from boundlab.worst_case.pepit_isolation import pepit

Floats = NDArray[np.float64]
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


def row(expression: Any, expressions: type) -> Row:
    """Read a PEPit expression (after ``expression ≤ 0``) as a row."""
    values: dict[int, Fraction] = {}
    gram: dict[tuple[int, int], Fraction] = {}
    constant = Fraction(0)
    for term, weight in expression.decomposition_dict.items():
        exactly = fraction(weight)
        if isinstance(term, tuple):
            place = (min(term[0].counter, term[1].counter), max(term[0].counter, term[1].counter))
            gram[place] = gram.get(place, Fraction(0)) + exactly
        elif isinstance(term, expressions):
            values[term.counter] = values.get(term.counter, Fraction(0)) + exactly  # type: ignore[attr-defined]
        else:
            constant += exactly
    nonzero = {place: weight for place, weight in gram.items() if weight}
    return Row({place: weight for place, weight in values.items() if weight}, nonzero, constant)


@final
class Compiled:
    """A program as a CVXPY problem in scaled variables; compiled once, solved for several objectives."""

    def __init__(self, program: SemidefiniteProgram) -> None:
        pepit()
        import cvxpy

        cp: Any = cvxpy
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
    linear: tuple[list[float], list[int], list[int]] = ([], [], [])
    quadratic: tuple[list[float], list[int], list[int]] = ([], [], [])
    for place, one in enumerate(rows):
        for i, weight in one.values.items():
            _append(linear, float(weight) * program.level, place, i)
        for (i, j), weight in one.gram.items():
            # The lower triangle stands for both halves.
            _append(quadratic, float(weight) * scale[i] * scale[j], place, i * n + j)
    shapes = ((len(rows), max(program.values, 1)), (len(rows), n * n))
    sparse = [
        csr_array((data, (at, column)), shape=shape)
        for (data, at, column), shape in zip((linear, quadratic), shapes, strict=True)
    ]
    return sparse[0], sparse[1], np.array([float(one.constant) for one in rows])


def _append(target: tuple[list[float], list[int], list[int]], weight: float, at: int, column: int) -> None:
    target[0].append(weight)
    target[1].append(at)
    target[2].append(column)


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
