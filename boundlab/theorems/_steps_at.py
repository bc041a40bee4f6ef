"""Theorems about any step sizes: what a formula says of the step α_k of iteration k, once a run says what it is."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

import sympy

from boundlab.formulas.defined import Demand, Demands, Least, demands
from boundlab.formulas.folds import IndexFold, StepAt
from boundlab.metrics import INDEX, QUANTITIES, Metric, compose, range_of
from boundlab.registry import find
from boundlab.theorems._bound import FormulaBound
from boundlab.theorems._theorem import Theorem, demanded

_K = INDEX["K"]


def put_in(formula: sympy.Expr, step: sympy.Expr) -> sympy.Expr:
    """Return a formula with the steps that a formula of k gives; sums of equal terms are products then."""
    if not formula.has(StepAt):
        return formula
    found = formula.replace(StepAt, lambda _, k: step.xreplace({_K: k}))
    return found.replace(lambda one: isinstance(one, IndexFold), lambda one: one.of_equal_terms())


def put_into(needed: Demands, step: sympy.Expr) -> Demands:
    """Return what a formula demands, with the steps put into that."""

    def put(one: Demand | Least) -> Demand | Least:
        if isinstance(one, Least):
            return Least(tuple((put_in(part, step), put_into(own, step)) for part, own in one.parts))
        return replace(one, of=put_in(one.of, step), exponent=put_in(one.exponent, step))

    return tuple(map(put, needed))


def at_steps(theorem: Theorem, step: sympy.Expr) -> Theorem:
    """Return what a theorem says of runs with certain steps.

    Parameters
    ----------
    step
        α_k as a formula of ``INDEX["K"]``, the index of iterations, and of symbols.
    """

    def change(formula: sympy.Expr) -> sympy.Expr:
        return put_in(formula, step)

    bound, left, over = theorem.bound, theorem.left_side, range_of(theorem.left)
    changed: dict[str, Any] = {}
    if isinstance(bound, FormulaBound):
        changed["bound"] = FormulaBound(_each(bound.terms, change))
    if left is not None and over is not None and over.weights is not None:
        factor, weights = change(over.weights).as_independent(INDEX[over.counter], as_Add=False)
        # Weights count by their ratios, so that the number α is none of the numbers that they need.
        changed["left_side"] = _weighing(left, weights if factor.is_positive else factor * weights)
    return replace(
        theorem,
        definitions=_each(theorem.definitions, change),
        conditions=tuple(
            replace(one, quantity=change(one.quantity), limit=change(one.limit)) for one in theorem.conditions
        ),
        written=dict(_written(theorem, step)),
        **changed,
    )


def _written(theorem: Theorem, step: sympy.Expr) -> Iterator[tuple[sympy.Expr, Demands]]:
    """Yield what formulas demand with the steps put in, as they are written: nothing more where nothing cancels."""
    for formula, needed in theorem.written.items():
        found = put_in(formula, step)
        if found == formula:
            yield formula, needed
        else:
            said = set(demanded(demands(formula)))
            gone = tuple(one for one in needed if not set(demanded((one,))) <= said)
            if gone:
                yield found, (*demands(found), *put_into(gone, step))


def _each(formulas: Mapping[str, sympy.Expr], change: Callable[[sympy.Expr], sympy.Expr]) -> dict[str, sympy.Expr]:
    return {name: change(formula) for name, formula in formulas.items()}


def _weighing(metric: Metric, weights: sympy.Expr) -> Metric:
    """Return a left side of :func:`compose` with other weights."""
    over = range_of(metric)
    assert over is not None  # noqa: S101  (it has weights)
    (quantity,) = (name for name, kind in QUANTITIES.items() if kind is metric.quantity)
    return compose(quantity, over.kind, counter=over.counter, begin=over.begin, end=over.end, weights=weights)


# Theorems along the run: the same claims, whose constants bound gradients at certain points of the run alone.

ALONG_RUN: Final = ".along-run"


def form_along_run(theorem: Theorem) -> Theorem | None:
    """Return the registered form of a theorem along the run, or None if there is none."""
    found = find("theorems", f"{theorem.id}{ALONG_RUN}")
    return found if isinstance(found, Theorem) else None
