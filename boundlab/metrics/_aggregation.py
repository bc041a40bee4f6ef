"""Left sides that a theorem puts together: sums of quantities, and models with weights; with their words."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, final

import numpy as np
import sympy

from boundlab.arithmetic.recurrence import EQUAL, Weights
from boundlab.errors import AssumptionError, SpecError, UndecidedError
from boundlab.formulas.enclose import RATIONALS, walk
from boundlab.formulas.symbols import SymbolInfo, make_symbol, symbol
from boundlab.metrics._metric import AVERAGE_ITERATE, BUILT_IN, LAST, MEAN, Metric, OneRecord, Over, Quantity
from boundlab.randomness import Ints

if TYPE_CHECKING:  # whoever evaluates a formula needs no tape and no problem
    from boundlab.tape import RecordAt


MODEL: Final = "model"
"""The point that every algorithm has: the server's model."""


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
@dataclass(frozen=True)
class SumOver(OneRecord):
    """How records enter a sum: they do not; each of its terms has a run of its own, by the linearity of the mean.

    What runs show of whom nobody asks the left side are the models at the horizons.
    """

    terms: tuple[Term, ...]
    id, linear, summed = "last", True, True

    def share(self, k: int) -> None:
        """Return None."""
        return


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
        if not one.quantity.of_model and one.point == MODEL:
            raise SpecError(
                f"{one.quantity.name.lower()} is measured at points of the clients, such as controls, not at the model"
            )
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
    client = ("x_i,K", "x_{i,K}") if one.quantity.of_model else ("h_i,K", "h_{i,K}")
    at = one.quantity.at(*(("x_s,K", "x_{s,K}") if one.point == MODEL else client))[tex]
    if one.point != MODEL:
        at = rf"\frac1n\sum_i {at}" if tex else f"(1/n)·Σ_i {at}"
    if one.times == 1:
        return at
    return rf"{sympy.latex(one.times)}\,{at}" if tex else f"({one.times})·{at}"


def terms_of(metric: Metric) -> tuple[Term, ...]:
    """Return the terms of a sum; nothing where the left side is one quantity."""
    return metric.over.terms if isinstance(metric.over, SumOver) else ()


def of_models(metric: Metric) -> bool:
    """Return whether a left side has quantities of models alone in it."""
    return metric.quantity.of_model and all(one.quantity.of_model for one in terms_of(metric))


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


# How the iterates enter a left side that a theorem puts together: which of them, and with which weights.


Counter = Literal["K", "T"]
Kind = Literal["last", "average", "mean", "best", "best-expected", "best-mean"]
KINDS: Final[tuple[Kind, ...]] = ("last", "average", "mean", "best", "best-expected", "best-mean")
BEST_MEAN: Final = "best-mean"
SMALLEST: Final = ("best", "best-expected", BEST_MEAN)
QUANTITIES: Final[Mapping[str, Quantity]] = MappingProxyType(
    {one.name.lower(): one for one in Quantity if one.of_model}
)
INDEX: Final[Mapping[str, sympy.Symbol]] = MappingProxyType(
    {counter: sympy.Symbol(name, integer=True, nonnegative=True) for counter, name in (("K", "k"), ("T", "t"))}
)
"""The index of a weight by the horizon's symbol: which of the models it is that of."""
INDICES: Final[Mapping[Counter, str]] = MappingProxyType({"K": "iteration", "T": "update"})
"""The words of a file for what the horizon counts."""
_MOST: Final = 200_000  # models in one left side: each weight is a fraction
_BITS: Final = 1 << 26  # of all of them


def index_symbol(name: str) -> SymbolInfo:
    """Return the index as a symbol of formulas: a number without units."""
    return make_symbol(name, "the index of a model", "natural", (0, 0))


@final
@dataclass(frozen=True, slots=True)
class Range:
    """Models over which a left side goes, and their weights, as formulas.

    Parameters
    ----------
    kind
        ``average``: the quantity at the weighted average of the models; ``mean``: the weighted average of the
        quantities; ``best``: the smallest of them, within the expectation; ``best-expected``: the smallest expectation;
        ``best-mean``: the smallest of the expected means up to each horizon.
    begin, end
        The first model and the last one, formulas of the horizon; k counts from 0.
    weights
        A formula of k, the horizon and symbols; None: all models count alike.
    counter
        The horizon's symbol.
    """

    kind: Kind
    begin: sympy.Expr
    end: sympy.Expr
    weights: sympy.Expr | None
    counter: Counter

    @property
    def horizon(self) -> sympy.Symbol:
        """The horizon as a SymPy symbol."""
        return symbol(self.counter)

    @property
    def closed(self) -> bool:
        """True if the model at the horizon itself counts."""
        return bool(self.end == self.horizon)

    @property
    def running(self) -> bool:
        """True if longer horizons add models and change no weight: then one run shows the left sides at many."""
        fixed = self.horizon not in self.begin.free_symbols | (self.weights or sympy.S.One).free_symbols
        return fixed and (self.closed or self.end == self.horizon - 1)

    @property
    def formulas(self) -> tuple[sympy.Expr, ...]:
        """All formulas, the index apart."""
        return self.begin, self.end, *(() if self.weights is None else (self.weights,))

    def words(self) -> str:
        """Return which models count, and how much, where it is not all of them alike."""
        said = "" if self.weights is None else f", weights {self.weights}"
        usual = self.begin == 0 and self.end == self.horizon - 1
        return said if usual else f"{said}, {INDEX[self.counter]} = {self.begin} … {self.end}"


class Aggregate(Over):
    """How the iterates enter a left side that a theorem puts together, before its formulas have values.

    Nobody can ask then which models count: its :meth:`records` and the like are those of :class:`_Weighted`.
    """

    def __init__(self, over: Range) -> None:
        self.range = over
        self.id = over.kind
        self.averages_iterates = self.one_record = over.kind == "average"
        self.first = (int(over.begin) if over.begin.is_Integer else 0) + (not over.closed) if over.running else 0
        self.linear = over.kind not in SMALLEST
        self.of_expectations = over.kind in ("best-expected", BEST_MEAN)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Aggregate) and type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), self.range))

    def _too_early(self, *_args: Any, **_more: Any) -> Any:
        """Refuse."""
        raise RuntimeError(f"the left side over {self.range.kind} is asked before its formulas have values")

    records = complete = fold = _too_early


@final
class _Weighted(Aggregate):
    """The same with numbers.

    Parameters
    ----------
    weights
        Of the models 0, 1, …, 0 outside of the range.
    begin, last
        The first model, and the last one at the horizon that the numbers are for.
    """

    def __init__(self, over: Range, weights: Weights, begin: int, last: int) -> None:
        super().__init__(over)
        self.weights, self._begin, self._last = weights, begin, last
        self._ends_at_horizon = over.running
        # Before the first model that weighs something there is no left side.
        weighs = next((j for j in range(begin, last + 1) if weights.at(j)), begin)
        self.first = weighs + (not over.closed) if over.running else 0

    def records(self, ks: Ints) -> "RecordAt":
        """Return the horizons of an average; else all models that count."""
        from boundlab.tape import RecordAt

        if self.averages_iterates:
            return RecordAt(ks, average=True, weights=self.weights)
        return RecordAt(np.arange(self._begin, self._end(int(ks[-1])) + 1))

    def _end(self, k: int) -> int:
        """Return the last model that counts."""
        return k - (not self.range.closed) if self._ends_at_horizon else self._last

    def complete(self, ks: Ints) -> Ints:
        """Return how many models count."""
        if self.averages_iterates:
            return np.arange(1, len(ks) + 1)
        return np.array([self._end(k) - self._begin + 1 for k in ks.tolist()])

    def fold(self, total: Any, value: Any) -> Any:
        """Add with the weight, or keep the smallest."""
        if self.averages_iterates:
            return value
        if self.range.kind in ("best", "best-expected"):
            return value if total is None else _smaller(total, value)
        count, added, least = (0, None, None) if total is None else total
        part = _times(self.weights.at(self._begin + count), value)
        count, added = count + 1, part if added is None else added + part
        if self.range.kind == BEST_MEAN and self.weights.before(self._begin + count):
            mean = self._mean(added, count)
            least = mean if least is None else _smaller(least, mean)
        return count, added, least

    def read(self, total: Any, count: int) -> Any:
        """Divide by the sum of the weights."""
        if self.averages_iterates or self.range.kind in ("best", "best-expected"):
            return total
        return total[2] if self.range.kind == BEST_MEAN else self._mean(total[1], count)

    def _mean(self, added: Any, count: int) -> Any:
        return _times(1 / self.weights.before(self._begin + count), added)

    def each(self, k: int) -> tuple[Over, Ints] | None:
        """Return the last iterate, or the mean, and the horizons at which the smallest is taken."""
        if not self.of_expectations:
            return None
        if self.range.kind != BEST_MEAN:
            return LAST, np.arange(self._begin, self._end(k) + 1)
        mean = _Weighted(replace(self.range, kind="mean"), self.weights, self._begin, self._last)
        return mean, np.arange(self.first, k + 1)

    def shares(self, count: int) -> tuple[Fraction, ...] | None:
        """Return the weight of each of ``count`` records."""
        if self.range.kind in SMALLEST:
            return None
        if self.averages_iterates:
            return (Fraction(1),)
        weights, end = self.weights, self._begin + count
        return tuple(weights.at(j) / weights.before(end) for j in range(self._begin, end))


def _floats(value: Any) -> bool:
    return isinstance(value, float | np.ndarray | np.floating)


def _smaller(one: Any, other: Any) -> Any:
    """Return the smaller number; of balls that overlap one that holds it."""
    if _floats(other):
        return np.minimum(one, other)
    return one.min(other) if hasattr(one, "min") else min(one, other)


def _times(weight: Fraction, value: Any) -> Any:
    """Return weight·value in the arithmetic of the value."""
    if _floats(value):
        return float(weight) * value
    from boundlab.arithmetic.numbers import rational

    return rational(weight) * value


def range_of(metric: Metric) -> Range | None:
    """Return the range and weights of a left side that a theorem puts together; None: it has none of its own."""
    return metric.over.range if isinstance(metric.over, Aggregate) else None


def valued(metric: Metric, value: Callable[[str], Fraction | None], horizon: int, what: str) -> Metric:
    """Return a left side whose formulas have values; one without formulas as it is.

    Parameters
    ----------
    value
        The number of a symbol, by name; None where it is no fraction.
    horizon
        The largest K (or T) that is asked for.
    what
        Whose left side it is, for messages.

    Raises
    ------
    SpecError
        If no model counts, a weight is negative or no fraction, all are 0, or there are too many.
    AssumptionError
        If a formula divides by 0.
    """
    found = range_of(metric)
    if isinstance(metric.over, _Weighted) or not (found or terms_of(metric)):
        return metric

    def number(formula: sympy.Expr, name: str, k: int | None = None) -> Fraction:
        def known(symbol: str) -> Fraction:
            if symbol == metric.counter:
                return Fraction(horizon)
            if symbol == INDEX[metric.counter].name and k is not None:
                return Fraction(k)
            own = value(symbol)
            if own is None:
                raise UndecidedError(f"{symbol} is no fraction")
            return own

        place = "" if k is None else f" at k = {k}"
        try:
            got = walk(formula, RATIONALS, known)
        except (UndecidedError, TypeError) as error:
            raise SpecError(
                f"{what}: {name} = {formula}{place} has no value in fractions ({error}); weights and ranges are exact"
            ) from None
        if got == math.inf:
            raise AssumptionError(f"{what}: {name} = {formula}{place} has no value: it divides by 0")
        if not isinstance(got, Fraction):
            raise SpecError(f"{what}: {name} = {formula}{place} is no fraction; weights and ranges are exact")
        return got

    if found is None:
        return with_numbers(metric, number, what)
    ends = [number(found.begin, "from"), number(found.end, "to")]
    for one, name in zip(ends, ("from", "to"), strict=True):
        if one.denominator != 1:
            raise SpecError(f"{what}: {name} must be a whole number, got {one} at {found.counter} = {horizon}")
    begin, last = (int(one) for one in ends)
    if not 0 <= begin <= last <= horizon:
        raise SpecError(
            f"{what}: the left side goes from k = {begin} to {last} at {found.counter} = {horizon}; it needs "
            f"0 ≤ from ≤ to ≤ {found.counter}"
        )
    if last - begin >= _MOST:
        raise SpecError(f"{what}: the left side takes {last - begin + 1} models, and at most {_MOST} are weighed")
    weights = EQUAL
    if found.weights is not None or begin or not found.running:
        each, bits = [Fraction(0)] * begin, 0
        for k in range(begin, last + 1):
            one = Fraction(1) if found.weights is None else number(found.weights, "weights", k)
            bits += one.numerator.bit_length() + one.denominator.bit_length()
            if bits > _BITS:
                raise SpecError(f"{what}: the weights {found.weights} are too long as fractions at k = {k}")
            each.append(one)
        weights = Weights.of(each, closed=found.closed, what=what)
    elif found.closed:
        weights = Weights(None, closed=True)
    return replace(metric, over=_Weighted(found, weights, begin, last))


# Left sides that a theorem puts together, with their words.


def compose(
    quantity: str,
    over: Kind = "last",
    *,
    counter: Counter = "K",
    begin: sympy.Expr | None = None,
    end: sympy.Expr | None = None,
    weights: sympy.Expr | None = None,
    in_seconds: bool = False,
) -> Metric:
    """Return a left side; one that is built in is that.

    Parameters
    ----------
    quantity
        ``distance``, ``gap`` or ``slope``.
    over
        How the iterates enter; ``last`` has no range and no weights.
    counter
        What the index counts: iterations (K) or server updates (T).
    begin, end
        The first model and the last one: 0 and the horizon − 1 by default.
    weights
        Of model k (or t), a symbol of :data:`INDEX`.
    in_seconds
        Whether the horizon T is the last update that ends within the symbol ``seconds``.

    Raises
    ------
    SpecError
        If there is no such quantity or aggregation, or a range is given to what has none.

    Examples
    --------
    >>> compose("gap", "average").id
    'ergodic-gap'
    >>> compose("gap", "average", weights=INDEX["K"] + 1).expectation
    'E f(x̄_K) − f*, x̄_K the average of x_s,k for k = 0 … K - 1, weights k + 1'
    """
    known = f"{', '.join(QUANTITIES)} over {', '.join(KINDS)}"
    same = None if weights is None or weights.free_symbols else weights
    for wrong, right in (
        (
            quantity not in QUANTITIES or over not in KINDS,
            f"a left side is one of {known}; got {quantity!r} over {over!r}",
        ),
        (
            over == "last" and not (begin is end is weights is None),
            "a left side over last is about one iterate: it has no from, to or weights",
        ),
        (
            over in SMALLEST[:2] and weights is not None,
            f"the best iterate has no weights: a left side over {over} has from and to alone",
        ),
        (
            same is not None and not same.is_positive,
            f"all models have the weight {weights}; weights are positive, or left out where all are alike",
        ),
    ):
        if wrong:
            raise SpecError(right)
    kind = QUANTITIES[quantity]
    found = Range(over, sympy.S.Zero, sympy.S.Zero, weights, counter)
    found = replace(
        found,
        begin=sympy.S.Zero if begin is None else sympy.sympify(begin),
        end=found.horizon - 1 if end is None else sympy.sympify(end),
        weights=weights if same is None else None,
    )
    if over == BEST_MEAN and not found.running:
        raise SpecError("the means up to each horizon have one from, the same weights, and to = T or T - 1 (K, K - 1)")
    plain = found.words() == ""
    usual: Over | None = {"last": LAST, "average": AVERAGE_ITERATE, "mean": MEAN}.get(over) if plain else None
    own = usual or Aggregate(found)
    if in_seconds:
        return _in_seconds(_metric(kind, own, found))
    for one in BUILT_IN:
        if usual is one.over and kind is one.quantity and counter == one.counter:
            return one
    return _metric(kind, own, found)


def _in_seconds(metric: Metric) -> Metric:
    """Return the left side at the last update within ``seconds``."""
    return replace(
        metric,
        id=f"{metric.id}, within seconds",
        expectation=f"{metric.expectation}, {metric.counter} the last update within seconds",
        in_seconds=True,
    )


def _metric(kind: Quantity, over: Over, found: Range) -> Metric:
    """Return the metric with its words."""
    K, words, name = found.counter, found.words(), kind.name.lower()
    (said, tex), k = kind.at("{}", "{}"), str(INDEX[K])
    at, average, single = said.format(f"x_s,{k}"), said.format(f"x̄_{K}"), said.format(f"x̄_{k}")
    span = f"{k} = {found.begin} … {found.end}"
    until = f"{k} = {found.begin} … j" + ("" if found.closed else " - 1")
    span_tex, until_tex = (one.replace("…", r"\dots") for one in (span, until))
    weight = "" if found.weights is None else f", weights {found.weights}"
    share = "" if found.weights is None else rf"\left({sympy.latex(found.weights)}\right)"
    total = rf"\sum_{{{k}={sympy.latex(found.begin)}}}^{{{sympy.latex(found.end)}}}"
    each = tex.format(f"x_{{s,{k}}}")
    sums = rf"{total} {share} x_{{s,{k}}} \,/\, {total} {share or 1}"
    # Label, left side as text, what one run shows, and LaTeX.
    table: dict[Kind, tuple[str, str, str, str]] = {
        "last": (
            f"{name} of the last iterate",
            f"E {said.format(f'x_s,{K}')}",
            at,
            rf"\mathbb{{E}}\,{tex.format(f'x_{{s,{K}}}')}",
        ),
        "average": (
            f"{name} of a weighted average",
            f"E {average}, x̄_{K} the average of x_s,{k} for {span}{weight}",
            single,
            rf"\mathbb{{E}}\,{tex.format(sums)}",
        ),
        "mean": (
            f"weighted mean of the {name}",
            f"mean of E[{at}] for {span}{weight}",
            f"mean of {at}{words}",
            rf"\frac{{{total} {share} \mathbb{{E}}\left[{each}\right]}}{{{total} {share or 1}}}",
        ),
        "best-mean": (
            f"smallest expected mean of the {name}",
            f"min over j ≤ {K} of the mean of E[{at}] for {until}{weight}",
            f"min of the means of {at}{words}",
            rf"\min_{{j\le {K}}} \text{{mean}}_{{{until_tex}}} {share} \mathbb{{E}}\,{each}",
        ),
        "best-expected": (
            f"smallest expected {name}",
            f"min of E[{at}] for {span}",
            f"min E[{at}]",
            rf"\min_{{{span_tex}}} \mathbb{{E}}\,{each}",
        ),
        "best": (
            f"{name} of the best iterate",
            f"E min[{at}] for {span}",
            f"min {at}",
            rf"\mathbb{{E}}\,\min_{{{span_tex}}} {each}",
        ),
    }
    label, text, single, latex = table[found.kind]
    identity = f"{name} over {found.kind}{words}, index {INDICES[K]}"
    return Metric(identity, label, single, text, latex, kind, over, K)
