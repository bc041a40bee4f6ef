"""Limits: what remains of the right side at the edges of the constants."""

from collections.abc import Iterator
from functools import partial

import sympy

from boundlab.checks._check import Check, Decision, View, asked, group
from boundlab.checks.truths import FUNCTIONS, SMALL
from boundlab.errors import shortened
from boundlab.formulas.symbols import QUIET
from boundlab.formulas.written import expand, leading, size, substitute

_SHORT = 200
# How the edges that are shown read.
_EDGES = {
    "no noise": ("sigma", "sigma_l"),
    "no noise at x*": ("sigma_star",),
    "equal minimisers": ("zeta",),
    "equal clients": ("sigma_g", "sigma_g_mean"),
    "no delay": ("tau_max",),
    "equal shares": ("share_bias",),
    "one local step": ("M", "Q"),
    "one client": ("n",),
}


@group("limits", "what remains at the edges of the constants")
def checks(view: View) -> Iterator[Check]:
    """Take every limit that the theorem has, and ask that data without noise still leave something."""
    if not view.formula:
        yield Check("limits", "what remains at the edges", "not applicable", "the bound is iterated, not a formula")
        return
    counter = view.theorem.horizon_symbol
    yield asked(
        f"limits.{counter}",
        f"{counter} → ∞ with the theorem's own step: what remains",
        lambda: _remains(view, _own_steps(view, counter), counter),
    )
    if view.free_steps and view.theorem.horizon == "every":
        yield _small_steps(view, counter)
    fixed = view.at_lowest
    for words, names in _EDGES.items():
        for name in names:
            value = view.symbols[name].alone or 0  # noise is chosen, and has none
            if name in view.inputs and (value == 1 or name not in fixed):
                statement = f"{name} = {value} ({words}): which terms remain"
                yield asked(f"limits.{name}={value}", statement, partial(_edge, view, name, value))
    for name, value, words in (("n", 1 / SMALL, "∞"), *((rare, SMALL, "0") for rare in ("p_min", "p_s"))):
        if name in view.inputs:
            remains = partial(_remains, view, {view.symbol(name): value}, name)
            yield asked(f"limits.{name}→{words}", f"{name} → {words}: what remains", remains)
    statement = "without noise, delay and differences between clients the right side stays above 0"
    yield asked("limits.gradient-descent", statement, lambda: _nothing_left(view))


def _remains(view: View, values: dict[sympy.Symbol, sympy.Expr], name: str) -> Decision:
    total = substitute(sympy.Add(*(view.expand(term) for term in view.terms.values())), values)
    total, back = view.generic(total)
    coefficient, power = leading(total, SMALL)
    coefficient = substitute(coefficient, back)
    if coefficient.is_Add and size(coefficient) < _SHORT:
        coefficient = expand(coefficient)
    large = name in view.symbols and values.get(view.symbol(name)) == 1 / SMALL
    exponent = -power if large else power
    if power == 0:
        text = f"the right side tends to {_short(coefficient, view)}"
    elif power > 0:
        text = (
            f"the right side tends to 0 like {name}^({exponent})" if power != sympy.oo else "the right side tends to 0"
        )
    else:
        text = f"the right side tends to ∞ like {name}^({exponent})"
    latex = sympy.latex(coefficient) if power == 0 and size(coefficient) < _SHORT else ""
    return Decision("passed", text, "", latex)


def _own_steps(view: View, counter: str) -> dict[sympy.Symbol, sympy.Expr]:
    """Return a long horizon, and the free steps that the theorem names for it."""
    long = {view.symbol(counter): 1 / SMALL}
    own = {view.symbol(name): view.expand(view.symbol(name), frozenset()) for name in view.free_steps}
    return long | {step: substitute(rule, long) for step, rule in own.items() if rule != step}


def _small_steps(view: View, counter: str) -> Check:
    local = [name for name in view.free_steps if view.symbols[name].is_step_size]
    values = {view.symbol(counter): SMALL**-2} | {view.symbol(name): SMALL for name in local[:1]}
    words = f"{', '.join(local[:1])} → 0, {', '.join(local[:1])}·{counter} → ∞"
    return asked("limits.small-steps", f"{words}: what remains", lambda: _remains(view, values, "step"))


def _edge(view: View, name: str, value: int) -> Decision:
    at = {view.symbol(name): sympy.Integer(value)}
    gone = [part for part, term in view.terms.items() if substitute(view.expand(term), at) == 0]
    stay = [part for part in view.terms if part not in gone]
    return Decision("passed", f"{', '.join(stay) or 'nothing'} remain" + (f"; gone: {', '.join(gone)}" if gone else ""))


def _nothing_left(view: View) -> Decision:
    """Without noise, delay and differences between clients, gradient descent remains; its error is not 0."""
    if not FUNCTIONS & view.theorem.core.assumed:
        return Decision("not applicable", "the theorem names no class of functions")
    zeros = {view.symbol(name): sympy.S.Zero for name in view.inputs if name in QUIET}
    total = sympy.Add(*(substitute(view.expand(term), zeros) for term in view.terms.values()))
    if total != 0:
        return Decision("passed", f"{_short(total, view)} remains")
    names = ", ".join(sorted(str(symbol) for symbol in zeros))
    if not view.allows(symbol.name for symbol in zeros):
        return Decision("unknown", f"no point with {names} = 0 was found that meets all conditions")
    text = (
        f"at {names} = 0 the right side is 0 for every {view.theorem.horizon_symbol}, but gradient descent on x²/2 is "
        "never at its minimum"
    )
    if view.theorem.shape:
        text += "; the O(·) needs a term for the start"
    return Decision("failed", text, "claim false")


def _short(expression: sympy.Expr, view: View) -> str:
    return shortened(view.text(expression), 160)
