"""Left sides that a theorem puts together, with their words."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

import sympy

from boundlab.errors import SpecError
from boundlab.metrics._aggregation import (
    BEST_MEAN,
    INDEX,
    INDICES,
    KINDS,
    QUANTITIES,
    SMALLEST,
    Aggregate,
    Counter,
    Kind,
    Range,
)
from boundlab.metrics._metric import BUILT_IN, Metric, Quantity
from boundlab.metrics._over import AVERAGE_ITERATE, LAST, MEAN, Over

_AT: Final[Mapping[Quantity, tuple[str, str]]] = MappingProxyType(
    {
        Quantity.DISTANCE: ("‖{} − x*‖²", r"\|{}-x^\star\|^2"),
        Quantity.GAP: ("f({}) − f*", r"f({})-f^\star"),
        Quantity.SLOPE: ("‖∇f({})‖²", r"\|\nabla f({})\|^2"),
    }
)


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
    if quantity not in QUANTITIES or over not in KINDS:
        known = f"{', '.join(QUANTITIES)} over {', '.join(KINDS)}"
        raise SpecError(f"a left side is one of {known}; got {quantity!r} over {over!r}")
    if over == "last" and not (begin is end is weights is None):
        raise SpecError("a left side over last is about one iterate: it has no from, to or weights")
    if over in SMALLEST[:2] and weights is not None:
        raise SpecError(f"the best iterate has no weights: a left side over {over} has from and to alone")
    if weights is not None and not weights.free_symbols and not weights.is_positive:
        raise SpecError(f"all models have the weight {weights}; weights are positive, or left out where all are alike")
    kind = QUANTITIES[quantity]
    found = Range(over, sympy.S.Zero, sympy.S.Zero, weights, counter)
    found = replace(
        found,
        begin=sympy.S.Zero if begin is None else sympy.sympify(begin),
        end=found.horizon - 1 if end is None else sympy.sympify(end),
        weights=None if weights is None or not weights.free_symbols else weights,
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
    said, tex = _AT[kind]
    at, average, single = said.format("x_s,k"), said.format(f"x̄_{K}"), said.format("x̄_k")
    span = f"{INDEX[K]} = {found.begin} … {found.end}"
    weight = "" if found.weights is None else f", weights {found.weights}"
    share = "" if found.weights is None else rf"\left({sympy.latex(found.weights)}\right)"
    total = rf"\sum_{{{INDEX[K]}={sympy.latex(found.begin)}}}^{{{sympy.latex(found.end)}}}"
    each = tex.format("x_{s,k}")
    match found.kind:
        case "last":
            label, text, single = f"{name} of the last iterate", f"E {said.format(f'x_s,{K}')}", at
            latex = rf"\mathbb{{E}}\,{tex.format(f'x_{{s,{K}}}')}"
        case "average":
            label = f"{name} of a weighted average"
            text = f"E {average}, x̄_{K} the average of x_s,k for {span}{weight}"
            sums = rf"{total} {share} x_{{s,k}} \,/\, {total} {share or 1}"
            latex = rf"\mathbb{{E}}\,{tex.format(sums)}"
        case "mean":
            label, single = f"weighted mean of the {name}", f"mean of {at}{words}"
            text = f"mean of E[{at}] for {span}{weight}"
            latex = rf"\frac{{{total} {share} \mathbb{{E}}\left[{each}\right]}}{{{total} {share or 1}}}"
        case "best-mean":
            label, single = f"smallest expected mean of the {name}", f"min of the means of {at}{words}"
            each_span = f"{INDEX[K]} = {found.begin} … j" + ("" if found.closed else " - 1")
            text = f"min over j ≤ {K} of the mean of E[{at}] for {each_span}{weight}"
            latex = rf"\min_{{j\le {K}}} \text{{mean}}_{{{each_span.replace('…', chr(92) + 'dots')}}} {share} "
            latex += rf"\mathbb{{E}}\,{each}"
        case "best-expected":
            label, single = f"smallest expected {name}", f"min E[{at}]"
            text = f"min of E[{at}] for {span}"
            latex = rf"\min_{{{span.replace('…', chr(92) + 'dots')}}} \mathbb{{E}}\,{each}"
        case _:
            label, single = f"{name} of the best iterate", f"min {at}"
            text = f"E min[{at}] for {span}"
            latex = rf"\mathbb{{E}}\,\min_{{{span.replace('…', chr(92) + 'dots')}}} {each}"
    identity = f"{name} over {found.kind}{words}, index {INDICES[K]}"
    return Metric(identity, label, single, text, latex, kind, over, K)
