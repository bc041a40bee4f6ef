"""The second moment of AREA on noisy quadratics in exact numbers, over independent events and additive noise.

The state z = (1, x_s, x_1 … x_n, y_1 … y_n, Σ x_s,j), relative to x*, moves by a random linear map plus noise, so
that E z zᵀ follows E z zᵀ ← Σ p·T E[z zᵀ] Tᵀ + noise.
"""

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from boundlab.algorithms.area import AreaParameters
from boundlab.arithmetic import numbers
from boundlab.arithmetic.numbers import Scalar
from boundlab.arithmetic.problem import InexactError, RationalProblem, RationalQuadraticForm
from boundlab.events import SERVER
from boundlab.expectation._law import EventLaw
from boundlab.metrics import Metric

Matrix = list[list[Scalar]]
LARGEST = 3 * 10**6  # entries that are computed in all


def expectation(
    model: RationalProblem,
    parameters: AreaParameters,
    law: EventLaw[Fraction],
    step: Callable[[int], Scalar],
    metric: Metric,
    last: int,
) -> Scalar:
    """Return E metric after ``last`` iterations.

    Raises
    ------
    InexactError
        If the problem is no quadratic, or the run is too long for exact numbers.
    """
    form = model.quadratic()
    if form is None:
        raise InexactError("exact moments need `quadratic()`, which this problem does not give")
    moments = _Second(model, form, parameters, law, step)
    if moments.size**2 * last * (model.n + 1) > LARGEST:
        raise InexactError("exact moments of so many clients, coordinates and iterations would take too long")
    for event in range(last):
        moments.add()
        moments.advance(event)
    d, first = model.d, 1
    share = numbers.rational(1)
    if metric.over.averages_iterates:
        first, share = moments.size - d, numbers.rational(Fraction(1, last**2))
    second = [[moments.matrix[first + j][first + k] for k in range(d)] for j in range(d)]
    hessian = [[numbers.rational(entry) for entry in row] for row in form.mean()]
    return share * metric.of_second_moment(np.array([hessian], dtype=object), np.array([second], dtype=object))


class _Second:
    def __init__(
        self,
        model: RationalProblem,
        form: RationalQuadraticForm,
        parameters: AreaParameters,
        law: EventLaw[Fraction],
        step: Callable[[int], Scalar],
    ) -> None:
        self.model, self.form, self.parameters, self.law, self.step = model, form, parameters, law, step
        best = model.minimum()
        if best is None:
            raise InexactError("the minimum is not found in rational numbers")
        self._covariance = form.covariance()
        self.star = [numbers.rational(entry) for entry in best.x]
        n, d = model.n, model.d
        self.size = 1 + (2 * n + 2) * d
        start = [numbers.rational(entry) - star for entry, star in zip(model.x0, self.star, strict=True)]
        zero = numbers.rational(0)
        z = [numbers.rational(1), *start * (2 * n + 1), *[zero] * d]
        self.matrix: Matrix = [[a * b for b in z] for a in z]
        if parameters.start == "algorithm":
            for client in range(n):
                self.matrix = self._answered(self.matrix, client, 0, keep_y=True)

    def _at(self, client: int, kind: int) -> int:
        """Return where x_i (kind 0) or y_i (kind 1) begins."""
        return 1 + self.model.d * (1 + client + kind * self.model.n)

    def add(self) -> None:
        """Add x_s to the sum."""
        d, last = self.model.d, self.size - self.model.d
        self.matrix = _transformed(
            self.matrix, lambda column: {last + j: column[last + j] + column[1 + j] for j in range(d)}
        )

    def _pass(self, client: int, k: int) -> tuple[Matrix, list[Scalar], Matrix]:
        """Return H, c and the covariance of M local steps relative to x*."""
        form, d, size = self.form, self.model.d, self.step(k)
        one, zero = numbers.rational(1), numbers.rational(0)
        A = [[numbers.rational(entry) for entry in row] for row in form.A[client]]
        once = [[(one if j == m else zero) - size * A[j][m] for m in range(d)] for j in range(d)]
        noise = [[numbers.rational(entry) * (size * size) for entry in row] for row in self._covariance]
        H = [[one if j == m else zero for m in range(d)] for j in range(d)]
        V = [[zero] * d for _ in range(d)]
        for _ in range(self.parameters.M):
            H = _product(once, H)
            V = _product(_product(once, V), once)  # once is symmetric
            V = [[a + b for a, b in zip(left, right, strict=True)] for left, right in zip(V, noise, strict=True)]
        b = [numbers.rational(entry) - star for entry, star in zip(form.b[client], self.star, strict=True)]
        c = [b[j] - _dot(H[j], b) for j in range(d)]
        return H, c, V

    def _answered(self, matrix: Matrix, client: int, k: int, *, keep_y: bool = False) -> Matrix:
        """Return E z zᵀ after client i's arrival: y_i ← x_i, x_i ← H x_s + c + noise."""
        H, c, V = self._pass(client, k)
        d, x, y = self.model.d, self._at(client, 0), self._at(client, 1)

        def change(column: list[Scalar]) -> dict[int, Scalar]:
            moved = {} if keep_y else {y + j: column[x + j] for j in range(d)}
            return moved | {x + j: _dot(H[j], column[1 : 1 + d]) + c[j] * column[0] for j in range(d)}

        out = _transformed(matrix, change)
        for j in range(d):
            for m in range(d):
                out[x + j][x + m] = out[x + j][x + m] + V[j][m]
        return out

    def _aggregated(self, matrix: Matrix) -> Matrix:
        share, d, n = numbers.rational(Fraction(1, self.model.n)), self.model.d, self.model.n

        def change(column: list[Scalar]) -> dict[int, Scalar]:
            sums = [[column[self._at(client, 1) + j] for client in range(n)] for j in range(d)]
            return {1 + j: share * sum(part[1:], start=part[0]) for j, part in enumerate(sums)}

        return _transformed(matrix, change)

    def advance(self, event: int) -> None:
        """Do one event."""
        k = self.parameters.answers_with(event)
        total: Matrix | None = None
        for actor, share in self.law.at(event):
            weight = numbers.rational(share)
            after = self._aggregated(self.matrix) if actor == SERVER else self._answered(self.matrix, actor, k)
            scaled = [[weight * entry for entry in row] for row in after]
            total = scaled if total is None else [
                [a + b for a, b in zip(left, right, strict=True)] for left, right in zip(total, scaled, strict=True)
            ]  # fmt: skip
        assert total is not None  # noqa: S101  (somebody always acts)
        self.matrix = total


def _transformed(matrix: Matrix, change: Callable[[list[Scalar]], dict[int, Scalar]]) -> Matrix:
    """Return T M Tᵀ, where ``change`` gives the entries of T·column that differ from the column's."""
    half = []
    for column in matrix:  # M is symmetric: its rows are its columns, and these the rows of (T M)ᵀ
        new = list(column)
        for place, value in change(column).items():
            new[place] = value
        half.append(new)
    flipped = [list(row) for row in zip(*half, strict=True)]
    out = []
    for column in flipped:
        new = list(column)
        for place, value in change(column).items():
            new[place] = value
        out.append(new)
    return out


def _dot(row: list[Scalar], column: list[Scalar]) -> Scalar:
    products = [a * b for a, b in zip(row, column, strict=True)]
    return sum(products[1:], start=products[0])


def _product(a: Matrix, b: Matrix) -> Matrix:
    columns = [list(column) for column in zip(*b, strict=True)]
    return [[_dot(row, column) for column in columns] for row in a]
