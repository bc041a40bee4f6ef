"""Twins of problems, in rational numbers (:meth:`boundlab.objective.Problem.rational`) or in balls alone."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any, final

import numpy as np
import sympy
from numpy.typing import NDArray

from boundlab.arithmetic import numbers
from boundlab.arithmetic.numbers import EXACT, BallSteps, Numbers, Operations, Scalar, exact_array, flint, fractions
from boundlab.arithmetic.problem import (
    Constants,
    Core,
    Minimum,
    OfClients,
    RationalLeastSquaresForm,
    RationalProblem,
    RationalQuadraticForm,
    Rows,
    Vector,
    along,
    batch_share,
    dot,
    gradients,
    noise,
    norm_square,
    number,
    root,
)
from boundlab.arithmetic.writing import (
    Reason,
    Sentence,
    Written,
    about,
    away,
    coordinate,
    difference,
    entry,
    extreme,
    functions,
    joined,
    length,
    linear,
    math,
    norm,
    reason,
    root_mean_square,
    say,
    square,
    times,
    vector,
    with_noise,
    written,
)
from boundlab.problems.clients import (
    ClientFunctions,
    Coordinates,
    Loss,
    Matrices,
    Pieces,
    ScalarLoss,
    Which,
    inner,
    loss,
    loss_of,
    scalar_slopes,
    scalar_values,
)
from boundlab.problems.solvers import nearest_zero

# Problems given by rational arrays: what they share, quadratics, and maxima of affine functions.


class RationalArrays(OfClients, RationalProblem):
    """A problem given by arrays, with additive noise; a final class has these fields.

    Parameters
    ----------
    sigma
        E‖noise‖² = sigma².
    direction
        That of noise with two signs, of any length; None: the noise is Gaussian.
    """

    sigma: Fraction
    direction: list[Fraction] | None

    def reasons(self) -> dict[str, Reason]:
        """Return those of the start and of the noise."""
        size = reason("√(E‖noise‖²)", r"\sqrt{E\|\text{noise}\|^2}")
        return {**super().reasons(), "sigma": size, "sigma_l": size}

    def sign_noise(self) -> list[Fraction] | None:
        """Return sigma·direction/‖direction‖ where it is rational."""
        return along(self.direction, self.sigma)


def smoothness(L: Fraction) -> Constants:
    """Return L and L_sq = L²."""
    return {"L": number(L), "L_sq": number(L**2)}


def farthest(x: Sequence[Fraction], rows: Sequence[Sequence[Fraction]]) -> sympy.Expr:
    """Return the largest distance of a row from x."""
    return root(max(norm_square([a - b for a, b in zip(x, row, strict=True)]) for row in rows))


def curvature(entries: Iterable[Fraction], text: str, latex: str) -> dict[str, Reason]:
    """Return how L and L_sq follow from the largest of some numbers."""
    largest = extreme(map(entry, entries))
    return {"L": reason(text, latex, largest), "L_sq": reason("L²", "L^2", square(largest))}


def of_slopes(largest: Written | None, text: str, latex: str, sigma: Fraction) -> dict[str, Reason]:
    """Return how B, G_sq and G follow from the largest length of a (sub)gradient."""
    squared = square(largest)
    return {
        "B": reason(text, latex, largest),
        "G_sq": reason("sup_x max_i ‖∇f_i(x)‖²", r"\sup_x \max_i \|\nabla f_i(x)\|^2", squared),
        "G": reason(
            "√(sup_x max_i ‖∇f_i(x)‖² + σ²)",
            r"\sqrt{\sup_x \max_i \|\nabla f_i(x)\|^2 + \sigma^2}",
            with_noise(squared, sigma),
        ),
    }


def distance_to_farthest(x: Sequence[Fraction], rows: Sequence[Sequence[Fraction]], name: str) -> Reason:
    """Return how the largest distance of a row from x follows; ``name`` is that of the rows."""
    ways = extreme(length([*zip(x, row, strict=True)]) for row in rows)
    return reason(f"max_i ‖x* − {name}_i‖", rf"\max_i \|x^\star - {name}_i\|", ways)


@final
@dataclass(frozen=True)
class RationalQuadratic(RationalArrays):
    """f_i(x) = ½(x − b_i)ᵀA_i(x − b_i)."""

    A: list[Rows]
    b: Rows
    x0: list[Fraction]
    sigma: Fraction
    direction: list[Fraction] | None = None

    @cached_property
    def clients(self) -> Matrices:
        """Return the functions."""
        return Matrices(self.A, self.b, EXACT)

    def described(self) -> list[Sentence]:
        """Return ½a(x − b)² on a line, else ½(x − b_i)ᵀA_i(x − b_i) with the matrices row by row."""
        if self.d == 1:
            return functions([self._parabola(A[0][0], b[0]) for A, b in zip(self.A, self.b, strict=True)])
        formula = math("½·(x − b_i)ᵀ A_i (x − b_i)", r"\tfrac12 (x - b_i)^{\top} A_i (x - b_i)")
        found = [say("{} = {} with", math("f_i(x)", "f_i(x)"), formula)]
        for client, (A, b) in enumerate(zip(self.A, self.b, strict=True)):
            names = math(f"A_{client}", f"A_{{{client}}}"), math(f"b_{client}", f"b_{{{client}}}")
            rows = [vector(numbers.rationals(row)) for row in A]
            words = ", ".join(["{}"] * len(rows))
            centre = vector(numbers.rationals(b))
            found.append(say(f"{{}} with the rows {words}, {{}} = {{}}", names[0], *rows, names[1], centre))
        return found

    def _parabola(self, a: Fraction, b: Fraction) -> Written:
        inner = linear([(Fraction(1), coordinate(0, 1))], -b)
        close = ("", "") if b == 0 else ("(", ")")
        text, latex, exact = (f"{close[0]}{one}{close[1]}" for one in (inner.text, inner.latex, inner.exact))
        return linear([(a / 2, Written(f"{text}²", f"{latex}^2", f"{exact}²"))])

    def scaled(self, factors: Sequence[Fraction]) -> "RationalQuadratic":
        """Return the problem with matrices factor_i·A_i."""
        A = [[[by * entry for entry in row] for row in one] for by, one in zip(factors, self.A, strict=True)]
        return replace(self, A=A)

    def quadratic(self) -> RationalQuadraticForm:
        """Return A, b and the noise."""
        return RationalQuadraticForm(self.A, self.b, self.sigma, self.direction)

    def minimum(self) -> Minimum:
        """Solve mean(A)·x = mean(A·b)."""
        mean, zero = exact_array(self.quadratic().mean()), exact_array([0] * self.d)
        return self.at(fractions(EXACT.solve(mean, -self.full_gradient(zero))))

    def reasons(self) -> dict[str, Reason]:
        """Return those of the curvatures of diagonal matrices too."""
        index, latex = ("i", "i") if self.d == 1 else ("i,jj", "{i,jj}")
        diagonal = [one[j][j] for one in self.A for j in range(self.d)]
        name, least = rf"\min_i A_{latex}", extreme(map(entry, diagonal), "min")
        return {
            **super().reasons(),
            **curvature(diagonal, f"max A_{index}", rf"\max A_{latex}"),
            "mu": reason(f"min A_{index}", name, least),
            "zeta": distance_to_farthest(self.minimum().x, self.b, "b"),
        }

    def constants(self) -> Constants:
        """Return sigma, R, F0, zeta; L and mu of diagonal matrices; sigma_g where all A_i are equal."""
        best = self.minimum().x
        found = {**noise(self.sigma), **self.start_constants()}
        found["zeta"] = farthest(best, self.b)
        if not any(one[j][k] for one in self.A for j in range(self.d) for k in range(self.d) if j != k):
            diagonal = [one[j][j] for one in self.A for j in range(self.d)]
            found |= {**smoothness(max(diagonal)), "mu": number(min(diagonal))}
        if all(one == self.A[0] for one in self.A):
            middle = [sum((row[j] for row in self.b), Fraction(0)) / self.n for j in range(self.d)]
            away = [[a - b for a, b in zip(middle, row, strict=True)] for row in self.b]
            squares = [norm_square([dot(line, one) for line in self.A[0]]) for one in away]
            found |= {"sigma_g": root(max(squares)), "sigma_g_mean": root(sum(squares, Fraction(0)) / self.n)}
        return found


@final
@dataclass(frozen=True)
class RationalMaxAffine(RationalArrays):
    """f_i(x) = max_j (a_ij·x + b_ij); the first piece that attains the maximum gives the subgradient."""

    a: list[Rows]
    b: Rows
    x0: list[Fraction]
    sigma: Fraction
    minimiser: list[Fraction] | None = None
    direction: list[Fraction] | None = None

    @cached_property
    def clients(self) -> Pieces:
        """Return the functions."""
        return Pieces(self.a, self.b, EXACT)

    def described(self) -> list[Sentence]:
        """Return max(x + 1, −x) and the like."""
        found = []
        for pieces, offsets in zip(self.a, self.b, strict=True):
            each = [
                linear([(one, coordinate(j, self.d)) for j, one in enumerate(row)], offset)
                for row, offset in zip(pieces, offsets, strict=True)
            ]
            text, latex, exact = (", ".join(getattr(one, of) for one in each) for of in ("text", "latex", "exact"))
            found.append(Written(f"max({text})", rf"\max({latex})", f"max({exact})"))
        return functions(found)

    def scaled(self, factors: Sequence[Fraction]) -> "RationalMaxAffine":
        """Return the problem with slopes factor_i·a_i and offsets factor_i·b_i."""
        a = [[[by * entry for entry in row] for row in one] for by, one in zip(factors, self.a, strict=True)]
        return replace(self, a=a, b=[[by * entry for entry in row] for by, row in zip(factors, self.b, strict=True)])

    def minimum(self) -> Minimum | None:
        """Return the minimum: the point given, if it is one, or in one dimension where two pieces of a client cross."""
        if self.minimiser is not None and self._stationary(self.minimiser):
            return self.at(self.minimiser)
        if self.d > 1:
            return None
        points = {self.x0[0]}
        for rows, offsets in zip(self.a, self.b, strict=True):
            for j, (row, offset) in enumerate(zip(rows, offsets, strict=True)):
                for other, height in zip(rows[:j], offsets[:j], strict=True):
                    if row[0] != other[0]:
                        points.add((height - offset) / (row[0] - other[0]))
        values = {point: self.at([point]).value for point in points}
        least = min(values.values())
        # The slopes beyond all crossings must not lead down.
        for edge, step in ((min(points), -1), (max(points), 1)):
            if self.at([edge + step]).value < least:
                return None
        best = [point for point, value in values.items() if value == least]
        return Minimum([min(max(self.x0[0], min(best)), max(best))], least)

    def _stationary(self, x: list[Fraction]) -> bool:
        """Return whether the slopes that the clients choose at x sum to 0, which makes it a minimiser."""
        return not self.full_gradient(exact_array(x)).any()

    def reasons(self) -> dict[str, Reason]:
        """Return those of slopes too."""
        steepest = extreme(norm(row) for rows in self.a for row in rows)
        return {**super().reasons(), **of_slopes(steepest, "max_ij ‖a_ij‖", r"\max_{ij} \|a_{ij}\|", self.sigma)}

    def constants(self) -> Constants:
        """Return B, G, sigma and, in one dimension, R and F0."""
        steepest = max(norm_square(row) for rows in self.a for row in rows)
        return {
            **noise(self.sigma),
            **gradients(steepest, self.sigma),
            "B": root(steepest),
            **self.start_constants(),
        }


# Linear models in exact numbers: their losses, and least squares as a problem.


@final
class Samples(ClientFunctions):
    """f_i(x) = w_i·((1/s_i)·Σ_j v_j·loss(⟨a_j, x⟩, y_j) + ν/2·‖x‖²) over client i's rows; clients one at a time."""

    def __init__(
        self,
        loss: Loss,
        rows: Sequence[Any],
        targets: Sequence[Any],
        hefts: Sequence[Any] | None,
        weights: Any,
        nu: Any,
        by: Operations,
    ) -> None:
        self.loss, self.by, self.n, self._rows = loss, by, len(rows), rows
        self.targets, self.weights, [self.nu] = [by.array(one) for one in targets], by.array(weights), by.array([nu])
        self._hefts = [1] * self.n if hefts is None else [by.array(one) for one in hefts]
        self.held = max(map(len, rows)) * len(rows[0][0])

    @cached_property
    def rows(self) -> list[Numbers]:
        """Return the rows of each client, an array each."""
        return [self.by.array(one) for one in self._rows]

    @cached_property
    def _margins(self) -> list[Any]:
        return [self.by.linear(one) for one in self.rows]

    @cached_property
    def _back(self) -> list[Any]:
        return [self.by.linear(one.T) for one in self.rows]

    def gradient(self, which: Which, x: Numbers) -> Numbers:
        """Return w_i·((1/s_i)·Σ_j a_j·loss' + ν·x)."""
        slopes = scalar_slopes(self.loss, self._margins[which](x), self.targets[which], self.by)
        total = self._back[which](self._hefts[which] * slopes)
        return self.weights[which] * (total / len(self.targets[which]) + self.nu * x)

    def client_value(self, which: Which, x: Numbers) -> Numbers:
        """Return the mean loss, and the regulariser."""
        each = self._hefts[which] * scalar_values(self.loss, self._margins[which](x), self.targets[which], self.by)
        return self.weights[which] * (each.sum(-1) / len(self.targets[which]) + inner(self.nu * x, x) / 2)

    def _mean(self, of: Any, x: Numbers, axis: int) -> Numbers:
        return sum(of(client, x) for client in range(self.n)) / self.n


Array = NDArray[Any]


@final
@dataclass(frozen=True)
class RationalLeastSquares(OfClients, RationalProblem):
    """f_i(x) = w_i·((1/m_i)·Σ_j ½(a_jᵀx − y_j)² + ½ν‖x‖²), j over client i's rows; see the form for its parts."""

    form: RationalLeastSquaresForm
    x0: list[Fraction]

    @cached_property
    def clients(self) -> Samples:
        """Return the functions."""
        form = self.form
        return Samples(loss("least-squares"), form.rows, form.targets, None, form.weights, form.nu, EXACT)

    def least_squares(self) -> RationalLeastSquaresForm:
        """Return the rows, the targets, and how mini-batches are drawn."""
        return self.form

    def scaled(self, factors: Sequence[Fraction]) -> "RationalLeastSquares":
        """Return the problem with weights factor_i·w_i."""
        weights = [by * own for by, own in zip(factors, self.form.weights, strict=True)]
        return replace(self, form=replace(self.form, weights=weights))

    def descend(self, client: int, x: Vector, size: Scalar) -> Vector:
        """Return x − size·∇f_client(x), where balls enter only once."""
        return self._balls.step(client, x, size) if EXACT.ball(size) else super().descend(client, x, size)

    def prox(self, client: int, x: Vector, size: Scalar) -> Vector:
        """Return the proximal point, by the normal equations."""
        A, right = self._normal
        return np.asarray(EXACT.solve(exact_array(np.eye(self.d)) + size * A[client], x + size * right[client]))

    @cached_property
    def _balls(self) -> BallSteps:
        return BallSteps(*self._normal)

    @cached_property
    def _normal(self) -> tuple[Array, Array]:
        """The Hessians H_i, and (w_i/m_i)·A_iᵀy_i: gradients are H_i x minus that."""
        A, right, of = [], [], self.clients
        for rows, targets, weight in zip(of.rows, of.targets, of.weights, strict=True):
            share = weight / len(rows)
            A.append(share * (rows.T @ rows) + weight * of.nu * exact_array(np.eye(self.d)))
            right.append(share * (rows.T @ targets))
        return np.array(A), np.array(right)

    def quadratic(self) -> RationalQuadraticForm | None:
        """Return the Hessians and the minimisers next to 0; None with mini-batches."""
        if self.form.batch:
            return None
        A, right = self._normal
        origin = exact_array([0] * self.d)
        b = [_nearest(*one, origin) for one in zip(A, right, strict=True)]
        return RationalQuadraticForm(fractions(A), b, Fraction(0))

    @cached_property
    def _best(self) -> list[Fraction]:
        A, right = self._normal
        return _nearest(A.sum(0) / self.n, right.sum(0) / self.n, exact_array(self.x0))

    @cached_property
    def own_minimisers(self) -> list[list[Fraction]] | None:
        """The minimisers of the f_i; None where one of them has many."""
        try:
            return [fractions(EXACT.solve(A, right)) for A, right in zip(*self._normal, strict=True)]
        except ZeroDivisionError:  # a singular Hessian
            return None

    def minimum(self) -> Minimum:
        """Solve the normal equations; of many solutions that next to x0."""
        return self.at(self._best)

    def constants(self) -> Constants:
        """Return R, F0, L_max, sigma_star; sigma with full gradients; zeta where every client has one minimiser.

        L and mu where all Hessians are diagonal.
        """
        found = self.start_constants() | self._of_rows()
        if self.form.batch == 0:
            found |= noise(Fraction(0))
        own = self.own_minimisers
        if own is not None:
            found["zeta"] = farthest(self._best, own)
        hessians, _ = self._normal
        diagonal = fractions(np.einsum("ijj->ij", hessians).ravel())
        if (hessians != 0).sum() > sum(entry != 0 for entry in diagonal):
            return found
        found |= smoothness(max(diagonal))
        if min(diagonal) > 0:
            found["mu"] = number(min(diagonal))
        return found

    def _of_rows(self) -> Constants:
        """Return L_max, and sigma_star at x*."""
        of, best, steepest, total = self.clients, exact_array(self._best), list[Fraction](), Fraction(0)
        for rows, targets, weight in zip(of.rows, of.targets, of.weights, strict=True):
            m, norms, errors = len(rows), (rows * rows).sum(1), rows @ best - targets
            steepest += fractions(weight * (norms + of.nu))
            mean = errors @ rows / m
            spread = weight * weight * ((errors * errors * norms).sum() / m - mean @ mean)
            total += batch_share(self.form, m) * numbers.fraction(spread)
        return {"L_max": number(max(steepest)), "sigma_star": root(total / self.n)}


def _nearest(A: Array, right: Vector, x: Vector) -> list[Fraction]:
    """Return the solution of A z = right next to x, where A is symmetric and there is one.

    z = x + A u with A² u = right − A x: what is added lies in the range of A, and any such u gives the same.
    """
    d, square, rest = len(x), A @ A, right - A @ x
    reduced, rank = flint().fmpq_mat(np.concatenate([square, rest[:, None]], axis=1).tolist()).rref()
    u = exact_array([0] * d)
    for row in range(rank):
        pivot = next(column for column in range(d) if reduced[row, column] != 0)
        u[pivot] = reduced[row, d]
    return list(fractions(x + A @ u))


# Huber losses and absolute deviations in rational numbers.

ZERO = Fraction(0)
_PAIRS = 4 * 10**5


@final
@dataclass(frozen=True)
class RationalSeparable(RationalArrays):
    """Huber's losses of width ``delta``, or |·| where it is None."""

    c: Rows
    w: Rows
    delta: Fraction | None
    x0: list[Fraction]
    sigma: Fraction
    direction: list[Fraction] | None = None

    @cached_property
    def clients(self) -> Coordinates:
        """Return the functions."""
        loss = loss_of("lad") if self.delta is None else loss_of("huber", numbers.rational(self.delta))
        return Coordinates(loss, self.w, self.c, EXACT)

    @cached_property
    def _in_fractions(self) -> ScalarLoss:
        return loss_of("lad" if self.delta is None else "huber", self.delta)

    def described(self) -> list[Sentence]:
        """Return sums of |x_j − c_ij|, or of h(x_j − c_ij) and what h is."""
        found = functions([self._formula(client) for client in range(self.n)])
        if self.delta is None:
            return found
        inside, slope, rest = (
            linear([(factor, piece)], constant)
            for factor, piece, constant in (
                (Fraction(1, 2), math("u²", "u^2"), ZERO),
                (self.delta, math("|u|", "|u|"), -(self.delta**2) / 2),
                (Fraction(0), math("u", "u"), self.delta),
            )
        )
        return [
            *found,
            say("where h(u) = {} for {} ≤ {}, and {} beyond", inside, math("|u|", "|u|"), rest, about(slope)),
        ]

    def _formula(self, client: int) -> Written:
        terms = []
        for place, (centre, weight) in enumerate(zip(self.c[client], self.w[client], strict=True)):
            inner = linear([(Fraction(1), coordinate(place, self.d))], -centre)
            left, right = ("|", "|") if self.delta is None else ("h(", ")")
            terms.append(
                (
                    weight,
                    Written(f"{left}{inner.text}{right}", f"{left}{inner.latex}{right}", f"{left}{inner.exact}{right}"),
                )
            )
        return linear(terms)

    def bends(self) -> list[tuple[Fraction, Fraction, Fraction | None]] | None:
        """Return w, c and delta of each client."""
        return None if self.d > 1 else [(w[0], c[0], self.delta) for w, c in zip(self.w, self.c, strict=True)]

    def core(self) -> Core | None:
        """Return the box where nobody is further than delta from his centre."""
        if self.delta is None:
            return None
        low = [max(column) - self.delta for column in zip(*self.c, strict=True)]
        high = [min(column) + self.delta for column in zip(*self.c, strict=True)]
        if any(bottom > top for bottom, top in zip(low, high, strict=True)):
            return None
        A = [[[w if j == k else ZERO for k in range(self.d)] for j, w in enumerate(row)] for row in self.w]
        return Core(RationalQuadraticForm(A, self.c, self.sigma, self.direction), low, high)

    def scaled(self, factors: Sequence[Fraction]) -> "RationalSeparable":
        """Return the problem with weights factor_i·w_i."""
        return replace(self, w=[[by * entry for entry in row] for by, row in zip(factors, self.w, strict=True)])

    def minimum(self) -> Minimum:
        """Return the minimiser nearest to x0, coordinate by coordinate."""
        return self._minimum

    @cached_property
    def _minimum(self) -> Minimum:
        columns = zip(zip(*self.c, strict=True), zip(*self.w, strict=True), self.x0, strict=True)
        return self.at([nearest_zero(c, w, self.delta, start) for c, w, start in columns])

    def constants(self) -> Constants:
        """Return all constants but those of large problems."""
        steepest = max(norm_square(row) for row in self.w) * Fraction(self._in_fractions.steepest) ** 2
        found = {**noise(self.sigma), **gradients(steepest, self.sigma), "B": root(steepest), **self.start_constants()}
        if self.delta is not None:
            found |= smoothness(max(max(row) for row in self.w))
            if all(entry > 0 for row in self.w for entry in row):
                found["zeta"] = farthest(self.minimum().x, self.c)
        if self.n**2 * self.d <= _PAIRS:
            found |= self._heterogeneity()
        return found

    def reasons(self) -> dict[str, Reason]:
        """Return those of slopes and curvatures too; of the heterogeneity on a line."""
        width, sigma = self.delta, self.sigma
        line, by, latex_by = self.d == 1, *(("", "") if width is None else ("·δ", r" \delta"))
        weights = [w for row in self.w for w in row]
        index, latex = ("i", "i") if line else ("ij", "{ij}")
        steepest = times(extreme(map(norm, self.w)), Fraction(1) if width is None else width)
        size = ("w_i", "w_i") if line else ("‖w_i‖", r"\|w_i\|")
        found = {
            **super().reasons(),
            **of_slopes(steepest, f"max_i {size[0]}{by}", rf"\max_i {size[1]}{latex_by}", sigma),
        }
        if width is not None:
            found |= curvature(weights, f"max_{index} w_{index}", rf"\max_{latex} w_{latex}")
            found["zeta"] = distance_to_farthest(self.minimum().x, self.c, "c")
        return found | (self._apart() if line and self.n**2 <= _PAIRS else {})

    def _apart(self) -> dict[str, Reason]:
        """Return how sigma_g and sigma_g_mean follow on a line: from the slopes at one point."""
        rows = [(x, own, sum(own, ZERO) / self.n) for x, own in zip(self._points(0), self._slopes(0), strict=True)]
        each = [(x, i, slope, mean) for x, own, mean in rows for i, slope in enumerate(own)]
        x, i, most, middle = max(each, key=lambda one: abs(one[2] - one[3]))
        _, own, mean = max(rows, key=lambda one: sum(((slope - one[2]) ** 2 for slope in one[1]), ZERO))
        text, latex = "sup_x max_i |f_i′(x) − f′(x)|", r"\sup_x \max_i |f_i'(x) - f'(x)|"
        at = written(x)
        there = joined(
            f"{text} = |f_{i}′({{}}) − f′({{}})|",
            rf"{latex} = |f_{{{{{i}}}}}'({{}}) - f'({{}})|",
            at,
            at,
        )
        apart = reason(text, latex, away(most, middle))
        return {
            "sigma_g": apart if at.near else replace(apart, formula=there),
            "sigma_g_mean": reason(
                "sup_x √(Σ_i (f_i′(x) − f′(x))²/n)",
                r"\sup_x \sqrt{\sum_i (f_i'(x) - f'(x))^2/n}",
                root_mean_square([difference(slope, mean) for slope in own]),
            ),
        }

    def _slopes(self, j: int) -> list[list[Fraction]]:
        """Return all clients' slopes at both sides of every break point; between them |D_i| and ΣD_i² are convex."""
        slope = self._in_fractions.slope
        return [[w[j] * slope(x - c[j], EXACT) for c, w in zip(self.c, self.w, strict=True)] for x in self._points(j)]

    def _points(self, j: int) -> list[Fraction]:
        """Return the break points, or for |·|, whose slopes jump there, points on both sides of each."""
        width = self.delta or ZERO
        points = sorted({row[j] + shift for row in self.c for shift in (-width, width)})
        if self.delta is not None:
            return points
        return [points[0] - 1, *((a + b) / 2 for a, b in pairwise(points)), points[-1] + 1]

    def _heterogeneity(self) -> Constants:
        most = [ZERO] * self.n
        mean = ZERO
        for j in range(self.d):
            largest, squares = [ZERO] * self.n, ZERO
            for slopes in self._slopes(j):
                middle = sum(slopes, ZERO) / self.n
                away = [(slope - middle) ** 2 for slope in slopes]
                largest = [max(a, b) for a, b in zip(largest, away, strict=True)]
                squares = max(squares, sum(away, ZERO) / self.n)
            most = [a + b for a, b in zip(most, largest, strict=True)]
            mean += squares
        return {"sigma_g": root(max(most)), "sigma_g_mean": root(min(mean, max(most)))}
