"""Sequences that obey a linear recursion with constant coefficients: found from first terms, and how they grow."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Final, final

from boundlab.arithmetic.numbers import Scalar, flint, fraction, rational
from boundlab.errors import SpecError


@final
@dataclass(frozen=True, slots=True)
class Recurrence:
    """A sequence u_0, u_1, … with Σ u_k z^k = numerator/denominator.

    Parameters
    ----------
    numerator, denominator
        Polynomials over Q without a common factor; the denominator is 1 at 0.
    """

    numerator: Any
    denominator: Any

    @classmethod
    def of(cls, terms: Sequence[Scalar]) -> "Recurrence":
        """Return the shortest recursion of a sequence that obeys one whose order is at most half of the terms given.

        It is unique then: Σ u_k z^k is a quotient of polynomials of degrees < order and ≤ order, of which twice as
        many terms determine one (Padé), found by Euclid's algorithm.
        """
        poly, zero = flint().fmpq_poly, rational(0)
        before, rest = poly([zero] * len(terms) + [1]), poly(list(terms))
        last, factor = poly([0]), poly([1])
        while 2 * (rest.degree() + 1) > len(terms):
            quotient = before // rest
            before, rest = rest, before - quotient * rest
            last, factor = factor, last - quotient * factor
        if factor[0] == 0:
            raise ArithmeticError("a sequence obeys no recursion of the order that it should have")
        return cls(rest / factor[0], factor / factor[0])

    @property
    def rates(self) -> list[tuple[Any, int]]:
        """The irreducible integer polynomials whose roots are the λ of u_k = Σ p_λ(k)·λ^k, each with deg p_λ + 1."""
        characteristic = flint().fmpq_poly(list(self.denominator)[::-1])
        found: list[tuple[Any, int]] = characteristic.numer().factor()[1]
        return found

    def exceeds(self, rate: Fraction, power: Any) -> bool:
        """Return whether |u_k|/(rate^k·k^power) is proved to be unbounded.

        Terms of the largest |λ| and, among these, of the largest power of k do not cancel in the long run: one λ that
        is large enough will do, whatever the others are.

        Parameters
        ----------
        power
            A real number of SymPy, −∞ included.
        """
        for factor, times in self.rates:
            if any(size > rational(rate) for size in _sizes(factor)):
                return True
            if _meets_circle(factor, rational(rate)) and bool(times - 1 > power):
                return True
        return False

    def largest(self) -> tuple[float, int]:
        """Return about the largest |λ|, and the largest power of k beside it; (0, 0) where all is 0 in the end."""
        sizes = [(float(size), times - 1) for factor, times in self.rates for size in _sizes(factor)]
        top = max((size for size, _ in sizes), default=0.0)
        return top, max((power for size, power in sizes if size > top * (1.0 - 1e-12)), default=0)

    def closed(self) -> tuple[int, dict[Fraction, list[Fraction]]] | None:
        """Return k_0, and λ → coefficients of p_λ, with u_k = Σ p_λ(k)·λ^k from k_0 on; None: some λ is no fraction."""
        if any(factor.degree() > 1 for factor, _ in self.rates):
            return None
        parts = [(-rational(1) * factor[0] / factor[1], times) for factor, times in self.rates]
        first, order = max(self.numerator.degree() - self.denominator.degree() + 1, 0), self.denominator.degree()
        ks = range(first, first + order)
        powers = [rational(k) ** i * rate**k for k in ks for rate, times in parts for i in range(times)]
        matrix, terms = flint().fmpq_mat, self.terms(first + order)[first:]
        solved = matrix(order, order, powers).solve(matrix(order, 1, terms)) if order else matrix(0, 1)
        each = iter([fraction(solved[place, 0]) for place in range(order)])
        return first, {fraction(rate): [next(each) for _ in range(times)] for rate, times in parts}

    def terms(self, count: int) -> list[Scalar]:
        """Return u_0, …, u_{count − 1}."""
        found: list[Scalar] = []
        for k in range(count):
            past = zip(list(self.denominator)[1:], reversed(found), strict=False)
            found.append(self.numerator[k] - sum((q * u for q, u in past), start=rational(0)))
        return found


def _sizes(factor: Any) -> Iterator[Any]:
    """Yield balls that hold the absolute values of the roots of an integer polynomial."""
    return (abs(root) for root, _ in factor.complex_roots())


def _meets_circle(factor: Any, radius: Any) -> bool:
    """Return whether an irreducible polynomial has a root of exactly this absolute value; of degrees above 2 no."""
    if factor.degree() == 1:
        return bool(abs(rational(1) * factor[0] / factor[1]) == radius)
    pair = factor.degree() == 2 and factor[1] ** 2 < 4 * factor[0] * factor[2]
    return bool(pair and rational(1) * factor[0] / factor[2] == radius**2)


# Weights of the models of a run in a left side, as fractions.

_ROOM: Final = 900  # bits from the smallest weight to the sum of all


@final
@dataclass(frozen=True)
class Weights:
    """Weights w_0, w_1, … of the models that a left side at K is about: those before K, or those up to K.

    Parameters
    ----------
    values
        w_0, w_1, …, of both kinds of which there are as many as models; None: all are 1.
    closed
        Whether the model at K itself counts.
    """

    values: tuple[Fraction, ...] | None = None
    closed: bool = False

    @classmethod
    def of(cls, values: Sequence[Fraction], *, closed: bool, what: str) -> "Weights":
        """Return weights that are none of them negative and not all 0; scaled where their sums would leave floats.

        Raises
        ------
        SpecError
            If they are not, or differ by more than floats hold.
        """
        low = next((place for place, one in enumerate(values) if one < 0), None)
        if low is not None:
            raise SpecError(
                f"{what}: the weight of the model at {low} is {float(values[low]):.4g}, and none is negative"
            )
        total = sum(values, start=Fraction(0))
        if not total:
            raise SpecError(f"{what}: all weights are 0, and then there is no average")
        span = total / min(one for one in values if one)
        if _bits(span) > _ROOM:
            raise SpecError(f"{what}: the weights span {_bits(span)} binary digits, and floats hold at most {_ROOM}")
        if abs(_bits(total)) <= _ROOM // 2:
            return cls(tuple(values), closed)
        scale = Fraction(2) ** (_ROOM // 2 - _bits(total))  # so that all of them, and their sums, are floats
        return cls(tuple(one * scale for one in values), closed)

    def at(self, j: int) -> Fraction:
        """Return w_j."""
        if self.values is None:
            return Fraction(1)
        return self.values[j] if j < len(self.values) else Fraction(0)

    def total(self, k: int) -> Fraction:
        """Return the sum of the weights in the left side at ``k``."""
        return self.before(k + self.closed)

    def before(self, j: int) -> Fraction:
        """Return w_0 + … + w_{j−1}."""
        return Fraction(j) if self.values is None else self._sums[min(j, len(self.values))]

    @cached_property
    def _sums(self) -> tuple[Fraction, ...]:
        sums = [Fraction(0)]
        for one in self.values or ():
            sums.append(sums[-1] + one)
        return tuple(sums)


def _bits(value: Fraction) -> int:
    return value.numerator.bit_length() - value.denominator.bit_length()


EQUAL: Final = Weights()
"""The plain average of the models before K."""
