"""Problems in rational numbers: gradients, values, minimisers and constants without rounding."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Any, final

import numpy as np
import sympy
from numpy.typing import NDArray

from boundlab.arithmetic import numbers
from boundlab.arithmetic.numbers import InexactError as InexactError, Scalar
from boundlab.arithmetic.writing import Reason, Sentence, difference, length, reason
from boundlab.errors import SpecError
from boundlab.randomness import Array

_FACTORED = 1000  # bits of a number that has a float

Vector = NDArray[Any]  # exact numbers as objects, shape (d,)
Rows = list[list[Fraction]]
Constants = dict[str, sympy.Expr]


@final
@dataclass(frozen=True, slots=True)
class Minimum:
    """The minimiser that is nearest to x0, and f*."""

    x: list[Fraction]
    value: Fraction


@final
@dataclass(frozen=True, slots=True)
class RationalQuadraticForm:
    """As :class:`boundlab.objective.QuadraticForm`, in rational numbers."""

    A: list[Rows]
    b: Rows
    sigma: Fraction
    direction: list[Fraction] | None = None

    def mean(self) -> Rows:
        """Return the Hessian of f, d rows of d entries."""
        n, d = len(self.b), len(self.b[0])
        return [[sum((one[j][k] for one in self.A), Fraction(0)) / n for k in range(d)] for j in range(d)]

    def covariance(self) -> Rows:
        """Return the covariance of the noise, d rows of d entries: rational even where the noise itself is not."""
        d, square = len(self.b[0]), self.sigma**2
        if self.direction is None:
            return [[square / d if j == k else Fraction(0) for k in range(d)] for j in range(d)]
        share = square / norm_square(self.direction)
        return [[share * a * b for b in self.direction] for a in self.direction]


@final
@dataclass(frozen=True, slots=True)
class RationalLeastSquaresForm:
    """As :class:`boundlab.objective.LeastSquaresForm`, in rational numbers."""

    rows: list[Rows]
    targets: Rows
    weights: list[Fraction]
    nu: Fraction
    batch: int
    replacement: bool


@final
@dataclass(frozen=True, slots=True)
class Core:
    """Restriction of a problem to a box on which every f_i is a quadratic up to a constant.

    Parameters
    ----------
    form
        The quadratics, with the noise of the problem.
    low, high
        The corners of the box, d entries each.
    """

    form: RationalQuadraticForm
    low: list[Fraction]
    high: list[Fraction]


class Functions(ABC):
    """The functions of a problem's clients, in the numbers of the points: rational ones, or balls alone."""

    n: int
    x0: list[Fraction]

    @property
    def d(self) -> int:
        """Return the dimension."""
        return len(self.x0)

    @abstractmethod
    def gradient(self, client: int, x: Vector) -> Vector:
        """Return the (sub)gradient of f_client, the same one that the problem itself chooses."""

    @abstractmethod
    def value(self, x: Vector) -> Scalar:
        """Return f(x)."""

    @property
    def products(self) -> float:
        """Return about how many products a gradient of one client takes."""
        return float(self.d**2)

    def quadratic(self) -> RationalQuadraticForm | None:
        """Return the matrices of a quadratic whose noise is additive, or None for any other problem."""
        return None

    def descend(self, client: int, x: Vector, size: Scalar) -> Vector:
        """Return x − size·∇f_client(x).

        Families override it where the point enters only once: a ball then shrinks as the points themselves do.
        """
        return np.asarray(x - size * np.asarray(self.gradient(client, x), dtype=object))

    def descend_each(self, client: int, X: Vector, size: Scalar) -> Iterable[Vector]:
        """Return what :meth:`descend` makes of each row."""
        return [self.descend(client, x, size) for x in X]

    def proximal(self, x: Vector, size: Scalar) -> Vector:
        """Return the proximal point of size·h at x, which ends each gradient step on F = f + h; without h it is x."""
        return x

    def prox(self, client: int, x: Vector, size: Scalar) -> Vector:
        """Return the proximal point of size·f_client at x.

        Raises
        ------
        SpecError
            If it is not computed in exact numbers.
        """
        raise InexactError("proximal steps of this problem are not computed in exact numbers")

    def full_gradient(self, x: Vector) -> Vector:
        """Return ∇f(x)."""
        each = [np.asarray(self.gradient(client, x), dtype=object) for client in range(self.n)]
        return np.asarray(sum(each) / self.n)


class OfClients(Functions):
    """Functions that are written for all arithmetics."""

    clients: Any  # :class:`boundlab.problems.clients.ClientFunctions`

    @property
    def n(self) -> int:  # type: ignore[override]
        """Return the number of clients."""
        return int(self.clients.n)

    def gradient(self, client: int, x: Vector) -> Vector:
        """Return the (sub)gradient of f_client."""
        return np.asarray(self.clients.gradient(client, x))

    def value(self, x: Vector) -> Scalar:
        """Return f(x)."""
        return self.clients.value(x)

    def full_gradient(self, x: Vector) -> Vector:
        """Return ∇f(x)."""
        return np.asarray(self.clients.full_gradient(x))

    def descend(self, client: int, x: Vector, size: Scalar) -> Vector:
        """Return x − size·∇f_client(x)."""
        return np.asarray(self.clients.descend(client, x, size))

    def descend_each(self, client: int, X: Vector, size: Scalar) -> Iterable[Vector]:
        """Return what :meth:`descend` makes of each row."""
        one_by_one = self.clients.by.ball(size)
        return (
            super().descend_each(client, X, size) if one_by_one else np.asarray(self.clients.descend(client, X, size))
        )

    def prox(self, client: int, x: Vector, size: Scalar) -> Vector:
        """Return the proximal point of size·f_client at x."""
        return np.asarray(self.clients.prox(client, x, size))


@final
@dataclass(frozen=True)
class InBalls(OfClients):
    """Functions whose values are balls, whatever x is."""

    clients: Any  # :class:`boundlab.problems.clients.ClientFunctions`
    x0: list[Fraction]
    each: float

    @property
    def products(self) -> float:
        """Return about how many products a gradient of one client takes."""
        return self.each


class RationalProblem(Functions):
    """A problem whose numbers are rational."""

    @property
    def gradient_part(self) -> "RationalProblem":
        """Return what takes the gradients of F = f + h, without the proximal map behind; without h the problem."""
        return self

    @abstractmethod
    def minimum(self) -> Minimum | None:
        """Return the minimum, or None where it is not found in rational numbers."""

    @abstractmethod
    def constants(self) -> Constants:
        """Return the constants that are known exactly, by symbol."""

    def reasons(self) -> dict[str, Reason]:
        """Return how constants follow, by symbol; those of R and F0, where the family says nothing of its own."""
        best = self.minimum()
        if best is None:
            return {}
        gap = difference(self.at(self.x0).value, best.value)
        distance = length([*zip(self.x0, best.x, strict=True)])
        return {
            "R": reason("‖x_0 − x*‖", r"\|x_0 - x^\star\|", distance),
            "F0": reason("f(x_0) − f*", r"f(x_0) - f^\star", gap),
        }

    def described(self) -> list[Sentence]:
        """Return the functions of the clients as formulas in x; nothing where the family has not been told how."""
        return []

    def bends(self) -> list[tuple[Fraction, Fraction, Fraction | None]] | None:
        """Return weight, centre and width of each f_i = w·h(x − c) on a line, for Huber's h, or |·| without a width.

        None: the functions are others.
        """
        return None

    def core(self) -> Core | None:
        """Return a box on which all f_i are quadratics, and these, or None: there is none, or nobody has looked."""
        return None

    def least_squares(self) -> RationalLeastSquaresForm | None:
        """Return the rows and targets of least squares, and how mini-batches are drawn; None for any other problem."""
        return None

    def sign_noise(self) -> list[Fraction] | None:
        """Return what the oracle adds to each gradient with either sign, each with probability ½.

        None: there is no noise, or of another kind, or this vector is not rational.
        """
        return None

    def scaled(self, factors: Sequence[Fraction]) -> "RationalProblem | None":
        """Return the problem with factor_i·f_i in place of f_i, or None if the family has no such problem."""
        return None

    def at(self, x: list[Fraction]) -> Minimum:
        """Return a point with its value, as the minimum if it is one."""
        from boundlab.arithmetic.numbers import exact_array

        return Minimum(x, numbers.fraction(self.value(exact_array(x))))

    def start_constants(self) -> Constants:
        """Return R and F0."""
        best = self.minimum()
        if best is None:
            return {}
        squares = sum(((a - b) ** 2 for a, b in zip(self.x0, best.x, strict=True)), Fraction(0))
        return {"R": root(squares), "F0": number(self.at(self.x0).value - best.value)}


@final
@dataclass(frozen=True, slots=True)
class AtMinimum:
    """The three quantities of :mod:`boundlab.metrics` without rounding, of functions whose minimum is known.

    Parameters
    ----------
    x, value
        The minimiser and f*, or balls around them.
    """

    problem: Functions
    x: Vector
    value: Scalar

    @classmethod
    def of(cls, problem: Functions, best: Minimum | None) -> "AtMinimum":
        """Return them for a rational minimum; without one slopes can be asked for, and nothing else."""
        from boundlab.arithmetic.numbers import exact_array

        if best is None:
            return cls(problem, exact_array([]), numbers.rational(0))
        return cls(problem, exact_array(best.x), numbers.rational(best.value))

    def squared_distance(self, x: Vector) -> Scalar:
        """Return ‖x − x*‖²."""
        return self.squared_norm(x - self.x)

    def squared_norm(self, x: Vector) -> Scalar:
        """Return ‖x‖²."""
        return (x * x).sum(-1)

    def gap(self, x: Vector) -> Scalar:
        """Return f(x) − f*."""
        return self.problem.value(x) - self.value

    def squared_slope(self, x: Vector) -> Scalar:
        """Return ‖∇f(x)‖²."""
        return self.squared_norm(self.problem.full_gradient(x))

    def squared_control(self, x: Vector, client: int) -> Scalar:
        """Return ‖x − ∇f_client(x*)‖²."""
        return self.squared_norm(x - self.problem.gradient(client, self.x))


def number(value: Fraction) -> sympy.Rational:
    """Return a SymPy rational."""
    return sympy.Rational(value.numerator, value.denominator)


def root(square: Fraction) -> sympy.Expr:
    """Return √square; as it stands where SymPy could not factor it, for it asks for the logarithm of such a number."""
    long = max(square.numerator, square.denominator).bit_length() > _FACTORED
    return sympy.Pow(number(square), sympy.S.Half, evaluate=not long)


def norm_square(row: Sequence[Fraction]) -> Fraction:
    """Return ‖row‖²."""
    return sum((entry**2 for entry in row), Fraction(0))


def along(direction: Sequence[Fraction] | None, length: Fraction) -> list[Fraction] | None:
    """Return the vector of this positive length in a direction, or None: it is 0, or not rational, or none is given."""
    if direction is None or length == 0:
        return None
    square = norm_square(direction)
    above, below = isqrt(square.numerator), isqrt(square.denominator)
    if above**2 != square.numerator or below**2 != square.denominator:
        return None
    return [length * entry * below / above for entry in direction]


def batch_share(form: Any, rows: int) -> Fraction:
    """Return the covariance of a mini-batch's mean over that of one row drawn uniformly out of so many.

    Parameters
    ----------
    form
        How batches are drawn: a form of least squares, in floats or in rational numbers.
    """
    if form.batch == 0 or rows == 1:
        return Fraction(0)
    if form.replacement:
        return Fraction(1, form.batch)
    batch = min(form.batch, rows)
    return Fraction(rows - batch, batch * (rows - 1))


def noise(sigma: Fraction) -> Constants:
    """Return sigma under its names."""
    return {"sigma": number(sigma), "sigma_l": number(sigma)}


def gradients(largest: Fraction, sigma: Fraction) -> Constants:
    """Return G_sq and G from the largest ‖∇f_i‖²."""
    return {"G_sq": number(largest), "G": root(largest + sigma**2)}


def dot(a: Sequence[Any], b: Sequence[Any]) -> Any:
    """Return Σ a_j·b_j of at least one term."""
    out = a[0] * b[0]
    for left, right in zip(a[1:], b[1:], strict=True):
        out = out + left * right
    return out


# The numbers of a problem at their word, where its options give them.


@final
@dataclass(frozen=True, slots=True)
class Reader:
    """Takes numbers at their word from the options where they are given, else from a problem's arrays.

    Parameters
    ----------
    raw
        The options as they were given: 0.1 is 1/10, "1/3" is 1/3.

    Raises
    ------
    SpecError
        If an option cannot be read exactly.
    """

    raw: Mapping[str, Any]

    def one(self, key: str, value: float) -> Fraction:
        """Return a number."""
        return numbers.read_number(self.raw[key], key) if key in self.raw else Fraction(value)

    def vector(self, key: str, values: Array) -> list[Fraction]:
        """Return the entries of an array of shape (d,); one number stands for all of them."""
        listed = [Fraction(value) for value in values.tolist()]
        if key not in self.raw:
            return listed
        entries = exact_numbers(self.raw[key], key)
        flat = entries if isinstance(entries, list) else [entries]
        return self._checked(flat * (len(listed) if len(flat) == 1 else 1), listed, key)

    def direction(self, values: Array | None) -> list[Fraction] | None:
        """Return the direction of noise of either sign, or None: the noise is of another kind."""
        return None if values is None else self.vector("direction", values)

    def rows(self, key: str, values: Array) -> Rows:
        """Return the rows of an array of shape (n, d); a list of numbers is a column."""
        listed = [[Fraction(entry) for entry in row] for row in values.tolist()]
        if key not in self.raw:
            return listed
        entries = exact_numbers(self.raw[key], key)
        if not isinstance(entries, list):
            entries = [entries]
        rows = [row if isinstance(row, list) else [row] for row in entries]
        return [self._checked(row, value, key) for row, value in zip(rows, listed, strict=True)]

    def weights(self, key: str, values: Array) -> Rows:
        """Return the rows of an array of shape (n, d); one number stands for its row, or for all rows."""
        listed = [[Fraction(entry) for entry in row] for row in values.tolist()]
        if key not in self.raw:
            return listed
        entries = exact_numbers(self.raw[key], key)
        if not isinstance(entries, list):
            return [[entries] * len(row) for row in listed]
        rows = [row if isinstance(row, list) else [row] for row in entries]
        wide = [row * len(value) if len(row) == 1 else row for row, value in zip(rows, listed, strict=True)]
        return [self._checked(row, value, key) for row, value in zip(wide, listed, strict=True)]

    def cube(self, key: str, values: Array) -> list[Rows]:
        """Return the entries of an array of shape (n, m, d)."""
        listed = values.tolist()
        if key not in self.raw:
            return [[[Fraction(entry) for entry in row] for row in matrix] for matrix in listed]
        found = exact_numbers(self.raw[key], key)
        for matrix, floats in zip(found, listed, strict=True):
            for row, given in zip(matrix, floats, strict=True):
                self._checked(row, [Fraction(entry) for entry in given], key)
        out: list[Rows] = found
        return out

    def _checked(self, found: list[Fraction], floats: list[Fraction], key: str) -> list[Fraction]:
        """Refuse a reading that is not the problem's own up to rounding."""
        if len(found) != len(floats) or any(
            abs(a - b) > Fraction(1, 10**12) * max(abs(b), Fraction(1, 10**12))
            for a, b in zip(found, floats, strict=True)
        ):
            raise SpecError(f'{key} cannot be read exactly; write numbers, or text such as "1/3"')
        return found


def exact_numbers(raw: Any, key: str) -> Any:
    """Read a number at its word, or nested lists of numbers; on the command line ``[1,1/3]``."""
    if isinstance(raw, (list, tuple)):
        return [exact_numbers(entry, key) for entry in raw]
    if isinstance(raw, str) and (raw.strip().startswith("[") or "," in raw):
        body = raw.strip()
        if body.startswith("[["):
            import json

            return exact_numbers(json.loads(body, parse_float=str, parse_int=str), key)
        return [numbers.read_number(word, key) for word in body.strip("[]").replace(",", " ").split()]
    return numbers.read_number(raw, key)
