"""Left sides that are sums: several quantities, each at points of the algorithm, with coefficients."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np
import sympy
from numpy.typing import NDArray

from boundlab.errors import SpecError
from boundlab.metrics._metric import Metric, Quantity
from boundlab.metrics._over import LAST, Over

if TYPE_CHECKING:
    from boundlab.tape import RecordAt

Ints = NDArray[np.int64]
MODEL: Final = "model"
"""The point that every algorithm has: the server's model."""
_AT: Final[Mapping[Quantity, tuple[str, str]]] = {
    Quantity.DISTANCE: ("‖{} − x*‖²", r"\|{}-x^\star\|^2"),
    Quantity.GAP: ("f({}) − f*", r"f({})-f^\star"),
    Quantity.SLOPE: ("‖∇f({})‖²", r"\|\nabla f({})\|^2"),
    Quantity.CONTROL: ("‖{} − ∇f_i(x*)‖²", r"\|{}-\nabla f_i(x^\star)\|^2"),
}


@final
@dataclass(frozen=True, slots=True)
class Term:
    """A summand of a left side: times · quantity at a point.

    Parameters
    ----------
    times
        The coefficient: a formula, or the fraction that it is.
    quantity
        What is measured; at a point that is one vector for each client, its mean over the clients.
    point
        ``model``, or a key of :attr:`boundlab.algorithms.Algorithm.points`.
    """

    times: sympy.Expr
    quantity: Quantity
    point: str


@final
class SumOver(Over):
    """How records enter a sum: they do not; each of its terms has a run of its own, by the linearity of the mean."""

    id, one_record, linear, summed = "last", True, True, True

    def __init__(self, terms: tuple[Term, ...]) -> None:
        self.terms = terms

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SumOver) and self.terms == other.terms

    def __hash__(self) -> int:
        return hash(self.terms)

    def records(self, ks: Ints) -> "RecordAt":
        """Return the models at the horizons: what runs show of whom nobody asks the left side."""
        return LAST.records(ks)

    def complete(self, ks: Ints) -> Ints:
        """Return 1, 2, …, one left side a horizon."""
        return LAST.complete(ks)

    def fold(self, total: Any, value: Any) -> Any:
        """Keep the newest."""
        return value


def compose_sum(terms: Iterable[Term]) -> Metric:
    """Return the sum of terms as a left side, at the last iteration.

    Raises
    ------
    SpecError
        If there is no term, or control variates are not measured at clients' points.
    """
    found = tuple(terms)
    if not found:
        raise SpecError("a sum on the left side has at least one term")
    for one in found:
        if one.quantity is Quantity.CONTROL and one.point == MODEL:
            raise SpecError("control is measured at points of the clients, such as controls, and not at the model")
    text = " + ".join(_text(one, 0) for one in found)
    latex = " + ".join(_text(one, 1) for one in found)
    return Metric(
        " + ".join(map(_words, found)),
        "Lyapunov function of the last iterate",
        text.replace("_K", "_k"),
        f"E[{text}]",
        rf"\mathbb{{E}}\left[{latex}\right]",
        found[0].quantity,
        SumOver(found),
        "K",
    )


def _words(one: Term) -> str:
    times = "" if one.times == 1 else f"({one.times})*"
    return f"{times}{one.quantity.name.lower()}{'' if one.point == MODEL else f' at {one.point}'}"


def _text(one: Term, tex: int) -> str:
    """Return a term as text or as LaTeX."""
    letter = "h" if one.quantity is Quantity.CONTROL else "x"
    at = _AT[one.quantity][tex].format(f"{letter}_{{i,K}}" if tex else f"{letter}_i,K")
    if one.point == MODEL:
        at = _AT[one.quantity][tex].format("x_{s,K}" if tex else "x_s,K")
    else:
        at = rf"\frac1n\sum_i {at}" if tex else f"(1/n)·Σ_i {at}"
    if one.times == 1:
        return at
    return rf"{sympy.latex(one.times)}\,{at}" if tex else f"({one.times})·{at}"


def terms_of(metric: Metric) -> tuple[Term, ...]:
    """Return the terms of a sum; nothing where the left side is one quantity."""
    return metric.over.terms if isinstance(metric.over, SumOver) else ()


def measures(metric: Metric, quantity: Quantity) -> bool:
    """Return whether a left side has a quantity in it."""
    return quantity in {metric.quantity, *(one.quantity for one in terms_of(metric))}


def summands(metric: Metric, clients: int) -> list[tuple[Fraction, Metric]]:
    """Return the left side as Σ share·(one quantity of one vector), shares ≥ 0; one that is no sum as it is.

    By the linearity of expectations each engine that computes one can compute the sum.

    Parameters
    ----------
    metric
        With the numbers of its coefficients: see :func:`boundlab.metrics.valued`.
    """
    if not terms_of(metric):
        return [(Fraction(1), metric)]
    found: list[tuple[Fraction, Metric]] = []
    for one in terms_of(metric):
        share = Fraction(int(one.times.p), int(one.times.q))
        simple = replace(metric, id=f"{one.quantity.name.lower()} at {one.point}", quantity=one.quantity, over=LAST)
        if one.point == MODEL:
            found.append((share, simple))
        else:
            found += [(share / clients, replace(simple, shows=(one.point, i))) for i in range(clients)]
    return found


def with_numbers(metric: Metric, number: Callable[[sympy.Expr, str], Fraction], what: str) -> Metric:
    """Return a sum whose coefficients are fractions.

    Raises
    ------
    SpecError
        If one is negative.
    """
    terms = []
    for one in terms_of(metric):
        value = number(one.times, "times")
        if value < 0:
            raise SpecError(f"{what}: times = {one.times} is {value} here; the terms of a left side are not negative")
        terms.append(replace(one, times=sympy.Rational(value.numerator, value.denominator)))
    return replace(metric, over=SumOver(tuple(terms)))
