"""Monotonicity: a class of problems that grows with a constant cannot have a smaller worst case."""

from collections.abc import Iterator
from typing import Any

import sympy

from boundlab.checks._check import Check, group
from boundlab.checks._sign import rational
from boundlab.checks._time import Budget, time_limit
from boundlab.checks._view import View
from boundlab.errors import BoundlabError, UndecidedError
from boundlab.formulas.enclose import enclose
from boundlab.formulas.symbols import names_of

# Constants that bound something from above, so that larger values admit more; mu bounds from below.
GROWING = (
    "L", "L_sq", "B", "G", "G_sq", "sigma", "sigma_l", "sigma_g", "sigma_g_mean", "zeta", "R", "F0", "speed_ratio",
    "tau_max", "tau_a", "t_d", "K_m", "D_m", "tau_sum", "S", "M_own", "Q_age", "SM2", "reuse", "reuse_n", "share_bias",
    "chi2", "chi2_path", "alpha2", "pi_max", "C_lag", "A_max", "V_max", "Q_bias",
)  # fmt: skip
FALLING = ("mu",)
_SECONDS = 1.5


@group("monotone", "worse constants do not lower the bound")
def checks(view: View) -> Iterator[Check]:
    """Check every one-sided constant, with the step held fixed."""
    from boundlab.checks.limits import fixed_zero

    zero = fixed_zero(view)
    budget = Budget(_SECONDS)
    found = False
    for name in view.inputs:
        if name in (*GROWING, *FALLING) and name not in zero:
            found = True
            sign = 1 if name in GROWING else -1
            try:
                with time_limit(budget.share(0.2 if _moves(view, name) else 0.4)):
                    one = _check(view, name, sign)
            except UndecidedError as error:
                one = Check(f"monotone.{name}", _statement(name, sign), "unknown", str(error))
                if _moves(view, name):
                    one = _other_run(view, name, sign)
            yield one
    if not found:
        yield Check("monotone", "worse constants do not lower the bound", "not applicable", "it has no such constant")


def _statement(name: str, sign: int) -> str:
    word = "larger" if sign == 1 else "smaller"
    return f"a {word} {name} does not lower the right side, the step held fixed where it is free"


def _check(view: View, name: str, sign: int) -> Check:
    identity = f"monotone.{name}"
    statement = _statement(name, sign)
    if not view.formula:
        return _recursion(view, name, sign, Check(identity, statement, "unknown"))
    symbol = view.symbol(name)
    try:
        signs = {part: _through(view, term, symbol) for part, term in view.terms.items()}
    except UndecidedError as error:
        return Check(identity, statement, "unknown", str(error))
    if all(one in (0, sign) for one in signs.values()):
        return Check(identity, statement, "passed", "" if any(signs.values()) else "it does not depend on it")
    if _moves(view, name):
        return _other_run(view, name, sign)
    witness = _counterexample(view, name, sign)
    if witness:
        return Check(identity, statement, "failed", witness, "implies more")
    open_terms = ", ".join(part for part, one in signs.items() if one not in (0, sign))
    return Check(identity, statement, "unknown", f"no counterexample and no certificate for {open_terms}")


def _moves(view: View, name: str) -> list[str]:
    """Return the steps that the theorem chooses by this constant."""
    chosen = [step for step in view.theorem.step if step not in view.free_steps]
    return [step for step in chosen if view.symbol(name) in view.expand(view.symbol(step)).free_symbols]


def _other_run(view: View, name: str, sign: int) -> Check:
    reason = f"the theorem's {', '.join(_moves(view, name))} depends on {name}, so that the runs differ"
    return Check(f"monotone.{name}", _statement(name, sign), "not applicable", reason)


def _through(view: View, term: sympy.Expr, symbol: sympy.Symbol) -> int | None:
    """Return the direction of a term, through the definitions it uses; the whole is expanded if that fails."""
    rules = view.rules(frozenset(view.free_steps))
    memo: dict[str, int | None] = {}
    prover = view.prover()

    def of(name: str) -> int | None:
        if name == symbol.name:
            return 1
        if name not in rules:
            return 0
        if name not in memo:
            memo[name] = chain(rules[name])
        return memo[name]

    def chain(expression: sympy.Expr) -> int | None:
        total: set[int] = set()
        for other in names_of(expression):
            inner = of(other)
            if inner == 0:
                continue
            outer = prover.direction(expression, view.symbol(other))
            if inner is None or outer is None:
                return None
            total.add(inner * outer)
        total.discard(0)
        if len(total) > 1:
            return None
        return total.pop() if total else 0

    found = chain(term)
    return found if found is not None else prover.direction(view.expand(term), symbol)


def _counterexample(view: View, name: str, sign: int) -> str:
    """Return a point at which a worse constant has a smaller right side, by enclosures; '' if none is found."""
    info = view.symbols[name]
    for point in view.points:
        exact = {other: rational(float(value)) for other, value in point.items() if not view.symbols[other].vector}
        steps = {step: view.symbol(step) for step in view.free_steps}
        try:
            exact |= {step: view.at(rule, exact) for step, rule in steps.items()}
        except UndecidedError:
            continue
        more = exact[name] + 1 if info.domain.integer else exact[name] * (2 if sign == 1 else sympy.S.Half)
        try:
            if not info.domain.contains(_array(more)) or not (view.holds(exact) and view.holds({**exact, name: more})):
                continue
            before, after = view.total(exact), view.total({**exact, name: more})
            if enclose(after - before)[1] < 0:
                shown = ", ".join(f"{other} = {value}" for other, value in exact.items() if other != name)
                return (
                    f"{name} = {exact[name]} gives {sympy.N(before, 6)}, {name} = {more} gives {sympy.N(after, 6)} "
                    f"at {shown}; what holds for the wider class holds for the narrower: the claim implies the smaller "
                    "value for both"
                )
        except UndecidedError:
            continue
    return ""


def _array(value: Any) -> Any:
    import numpy as np

    return np.asarray(float(value))


def _recursion(view: View, name: str, sign: int, blank: Check) -> Check:
    """Look for a counterexample among numbers; there is no proof."""
    tried = 0
    for point in view.points[:6]:
        try:
            fixed = {**point, **view.theorem.step_options(point)}
            fixed = {
                key: value
                for key, value in fixed.items()
                if key not in view.theorem.defining() or key in view.theorem.settable
            }
            value = fixed[name]
            worse = value + 1 if view.symbols[name].domain.integer else value * (1.1 if sign == 1 else 0.9)
            before, after = (float(view.theorem.evaluate({**fixed, name: one}).total) for one in (value, worse))
        except BoundlabError:
            continue
        tried += 1
        if after < before * (1 - 1e-9):
            shown = ", ".join(f"{key} = {number}" for key, number in fixed.items())
            witness = f"{name} = {worse:.6g} gives {after:.9g} < {before:.9g} at {shown} (numeric)"
            return Check(blank.id, blank.statement, "failed", witness, "implies more")
    return Check(blank.id, blank.statement, "unknown", f"iterated numerically: no counterexample at {tried} points")
