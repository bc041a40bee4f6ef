"""Wrong forms of true theorems, each for one way in which a search can be blind."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sympy import Integer, Rational, sqrt

from boundlab.formulas.symbols import symbol
from boundlab.theorems import Condition, FormulaBound, Theorem, load_theorem

alpha, c, d, F0, K, L, n, R, sigma, T, eta_l = (
    symbol(name) for name in ("alpha", "c", "d", "F0", "K", "L", "n", "R", "sigma", "T", "eta_l")
)


def terms(name: str) -> dict[str, Any]:
    """Return the terms of a theorem's bound."""
    return dict(load_theorem(name).bound.terms)


def changed(name: str, new: Mapping[str, Any], **fields: Any) -> Theorem:
    """Return a theorem with other terms."""
    theorem = load_theorem(name)
    return replace(theorem, id=f"wrong.{name}", status="user", bound=FormulaBound(dict(new)), **fields)


def scaled(name: str, factor: Any) -> Theorem:
    """Return a theorem with a bound that many times as large."""
    return changed(name, {word: factor * term for word, term in terms(name).items()})


def without(name: str, gone: str) -> Theorem:
    """Return a theorem without one of its terms."""
    return changed(name, {word: term for word, term in terms(name).items() if word != gone})


def unconditional(name: str, which: str) -> Theorem:
    """Return a theorem without a condition."""
    theorem = load_theorem(name)
    kept = tuple(one for one in theorem.conditions if which not in one.statement)
    assert len(kept) == len(theorem.conditions) - 1
    return replace(theorem, id=f"wrong.{name}", status="user", conditions=kept)


def for_full_gradients(name: str) -> Theorem:
    """Return a theorem about noise with σ = 0 in its bound, but not in its step."""
    return changed(name, {word: term.subs(sigma, 0) for word, term in terms(name).items()})


WRONG: Mapping[str, Theorem] = {
    "a condition on the step is gone": unconditional("classics.gd.convex", "α"),
    "a condition on the step is gone, and the bound is negative": unconditional("classics.gd.nonconvex", "α"),
    "a condition on the step is gone, with noise": unconditional("classics.sgd.distance", "α"),
    "tight at K = 1 and for no longer run": scaled("classics.gd.convex", Rational(9, 10)),
    "L in place of mu": changed("classics.gd.pl", {"bound": (1 - alpha * L * (2 - alpha * L)) ** K * F0}),
    "too small where L/mu is large": scaled("classics.nesterov.strongly-convex", Rational(1, 2)),
    "heterogeneity is forgotten": without("classics.sgd.heterogeneous", "heterogeneity"),
    "noise of drawn clients is forgotten": without("classics.sgd.heterogeneous", "noise"),
    "noise is averaged over n² clients": changed(
        "classics.sgd.nonconvex", {"initial": 2 * F0 / (alpha * T), "noise": alpha * L * sigma**2 / n**2}
    ),
    "noise that dies with the start": without("classics.sgd.distance", "noise"),
    "the start is forgotten": without("classics.sgd.gap", "initial"),
    "right for K = 1, and wrong for K = 2": changed("classics.proximal-point", {"bound": R**2 / (4 * alpha * K**2)}),
    "a horizon in the step": scaled("classics.subgradient.last-iterate", Rational(9, 10)),
    "a kink in more than one dimension": replace(
        scaled("classics.subgradient", Rational(9, 10)), conditions=(Condition(Integer(2), K, "2 ≤ K"),)
    ),
    "hardly below what is attained": replace(
        scaled("classics.subgradient", Rational(99, 100)), conditions=(Condition(Integer(3), K, "3 ≤ K"),)
    ),
    "noise where gradients are bounded": for_full_gradients("classics.sgd.convex"),
    "noise of AREA where gradients are bounded": for_full_gradients("area.theorem8.repaired.fixed-step"),
    "what M local steps add is that of one": changed(
        "area.theorem8.algorithm-start",
        terms("area.theorem8.algorithm-start") | {"subgradient": alpha * symbol("B") ** 2 / 2},
    ),
    "both numbers of a decreasing step are free": changed(
        "classics.sgd.gap.decreasing", {"bound": d * F0 / (K + d) / 2}, step={"c": c, "d": d}
    ),
    "a free local step beside a server rate of 1": Theorem(
        id="wrong.fedbuff",
        title="FedBuff with equal clients",
        paper="",
        place="",
        status="user",
        assumptions=("smooth", "bounded-below"),
        algorithm="fedbuff",
        options={"count": "1"},
        metric="gradient-norm",
        horizon="every",
        step={"eta_l": eta_l, "eta_g": Integer(1)},
        bound=FormulaBound({"start": F0 / (4 * eta_l * T)}),
        parameters={},
    ),
    "a rate that is too fast": changed(
        "classics.subgradient.fixed-step", {"distance": R**2 / (2 * alpha * sqrt(K**3))}
    ),
}
