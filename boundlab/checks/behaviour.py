"""Behaviour of the right side: at its edges, with worse constants, beside what is trivial, under its conditions."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import sympy

from boundlab.checks._check import Check, Decision, View, asked, group
from boundlab.checks.truths import FUNCTIONS, SMALL
from boundlab.errors import BoundlabError, UndecidedError, shortened
from boundlab.formulas.defined import Demand
from boundlab.formulas.enclose import enclose
from boundlab.formulas.symbols import QUIET, names_of
from boundlab.formulas.written import expand, leading, size, substitute
from boundlab.metrics import Quantity, terms_of
from boundlab.signs import Direction, Prover, common, turned
from boundlab.theorems import Condition, Theorem

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
def limits(view: View) -> Iterator[Check]:
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


_FACTORS = (sympy.Rational(11, 10), sympy.Integer(2), sympy.Integer(10))


@group("monotone", "worse constants do not lower the bound")
def monotone(view: View) -> Iterator[Check]:
    """Check every one-sided constant, with the step held fixed."""
    zero = view.at_lowest
    found = False
    for name in view.inputs:
        info = view.symbols[name]
        given = info.role not in ("step", "short")  # what is chosen, or follows from others, has no worse side
        if given and info.side in ("upper", "lower") and not info.vector and name not in zero:
            found = True
            sign: Direction = 1 if info.side == "upper" else -1
            word = "larger" if sign == 1 else "smaller"
            statement = f"a {word} {name} does not lower the right side, the step held fixed where it is free"
            yield asked(f"monotone.{name}", statement, partial(_check, view, name, sign))
    if not found:
        yield Check("monotone", "worse constants do not lower the bound", "not applicable", "it has no such constant")


def _check(view: View, name: str, sign: Direction) -> Decision:
    if not view.formula:
        return _recursion(view, name, sign)
    symbol = view.symbol(name)
    trends = {part: _through(view, term, symbol) for part, term in view.terms.items()}
    open_terms = [part for part, trend in trends.items() if trend not in (0, sign)]
    if not open_terms:
        return Decision("passed", "" if any(trends.values()) else "it does not depend on it")
    chosen = [step for step in view.theorem.step if step not in view.free_steps]
    moved = [step for step in chosen if symbol in view.expand(view.symbol(step)).free_symbols]
    if moved:
        reason = f"the theorem's {', '.join(moved)} depends on {name}, so that the runs differ"
        return Decision("not applicable", reason)
    witness = _counterexample(view, name, sign)
    if witness:
        return Decision("suspicious", witness, "implies more")
    return Decision("unknown", f"no counterexample and no certificate for {', '.join(open_terms)}")


def _through(view: View, term: sympy.Expr, symbol: sympy.Symbol) -> Direction | None:
    """Return the trend of a term, through the definitions it uses; the whole is expanded if that fails."""
    rules = view.rules(frozenset(view.free_steps))
    memo: dict[str, Direction | None] = {}
    prover = view.prover()

    def of(name: str) -> Direction | None:
        if name == symbol.name:
            return 1
        if name not in rules:
            return 0
        if name not in memo:
            memo[name] = chain(rules[name])
        return memo[name]

    def chain(expression: sympy.Expr) -> Direction | None:
        return common(of_part(expression, name) for name in sorted(names_of(expression)))

    def of_part(expression: sympy.Expr, name: str) -> Direction | None:
        inner = of(name)
        outer = prover.direction(expression, view.symbol(name)) if inner else 0
        return None if inner is None or outer is None else turned(inner, outer) if outer else 0

    found = chain(term)
    return found if found is not None else prover.direction(view.expand(term), symbol)


def _counterexample(view: View, name: str, sign: Direction) -> str:
    """Return a point at which a worse constant has a smaller right side, by enclosures; '' if none is found."""
    integer = view.symbols[name].domain.integer
    for point in view.points:
        exact = {other: _near(float(value)) for other, value in point.items() if not view.symbols[other].vector}
        try:
            exact |= {step: view.at(view.symbol(step), exact) for step in view.free_steps}
        except UndecidedError:
            continue
        for factor in _FACTORS:
            worse = exact[name] + sympy.ceiling(factor) - 1 if integer else exact[name] * factor**sign
            try:
                witness = _lower(view, name, exact, worse)
            except UndecidedError:
                continue
            if witness:
                return witness
    return ""


def _lower(view: View, name: str, values: dict[str, sympy.Expr], worse: sympy.Expr) -> str:
    """Return in words that the worse constant has a smaller right side; '' if it has not, or conditions exclude it."""
    moved = {**values, name: worse}
    inside = view.symbols[name].domain.contains(np.asarray(float(worse)))
    if not inside or not (view.holds(values) and view.holds(moved)):
        return ""
    before, after = view.total(values), view.total(moved)
    if not enclose(after - before)[1] < 0:
        return ""
    shown = ", ".join(f"{other} = {value}" for other, value in values.items() if other != name)
    return (
        f"{name} = {values[name]} gives {sympy.N(before, 6)}, {name} = {worse} gives {sympy.N(after, 6)} at {shown}; "
        "what holds for the wider class holds for the narrower: the claim implies the smaller value for both"
    )


def _near(number: float) -> sympy.Rational:
    """Return a short rational near a float."""
    near = Fraction(number).limit_denominator(1000)
    return sympy.Rational(near.numerator, near.denominator)


def _recursion(view: View, name: str, sign: Direction) -> Decision:
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
            return Decision("suspicious", witness, "implies more")
    return Decision("unknown", f"iterated numerically: no counterexample at {tried} points")


@group("vacuity", "the bound is below what is trivially true")
def vacuity(view: View) -> Iterator[Check]:
    """Compare with the trivial bound, and look for a range of the integers on which a single term exceeds it."""
    statement = "somewhere the right side is below the trivial bound"
    if view.theorem.shape:
        yield Check("vacuity", statement, "not applicable", "constants are unknown")
        return
    found = trivial(view)
    if found is None:
        yield Check("vacuity", statement, "not applicable", "no trivial bound of the left side is known")
        return
    bound, words = found
    yield asked("vacuity", f"somewhere the right side is below {words}", lambda: _somewhere(view, bound))
    if view.formula:
        statement = "no single term is above the trivial bound on a range of the integers"
        yield asked("vacuity.range", statement, lambda: _regions(view, bound, words))


def trivial(view: View) -> tuple[sympy.Expr, str] | None:
    """Return what is true anyway, or without any step."""
    if terms_of(view.theorem.left):
        return None
    G_sq, G, R, B, F0, L = map(view.symbol, ("G_sq", "G", "R", "B", "F0", "L"))
    moving = "the error of never moving"
    for quantity, assumed, bound, words in (
        (Quantity.SLOPE, {"bounded-gradients"}, G_sq, "G_sq ≥ ‖∇f‖², which is true anyway"),
        (Quantity.SLOPE, {"bounded-second-moment"}, G**2, "G² ≥ ‖∇f‖², which is true anyway"),
        (Quantity.DISTANCE, set[str](), R**2, f"R², {moving}"),
        (Quantity.GAP, {"lipschitz"}, B * R, f"B·R, {moving}"),
        (Quantity.GAP, set[str](), F0, f"F0, {moving}"),
        (Quantity.GAP, {"smooth"}, L * R**2 / 2, f"L·R²/2, {moving}"),
    ):
        known = names_of(bound) <= {*view.inputs} and assumed <= view.theorem.core.assumed
        if known and view.theorem.left.quantity is quantity:
            return bound, words
    return None


def _somewhere(view: View, bound: sympy.Expr) -> Decision:
    counter = view.theorem.horizon_symbol
    for point in view.points:
        # A bound that does not read the counter is the same at every horizon.
        horizons = (point[counter], 1e4, 1e8) if counter in point else (None,)
        for horizon in horizons:
            values = dict(point) if horizon is None else {**point, counter: horizon}
            small = {name: 0.0 for name in view.inputs if name in QUIET and not view.symbols[name].vector}
            for options in ({}, small):
                try:
                    right = float(view.theorem.evaluate({**values, **options}).total)
                except BoundlabError:  # a point at which the theorem does not speak
                    continue
                level = view.number(bound, {**values, **options})
                if right < level * (1 - 1e-9):
                    shown = ", ".join(
                        f"{name} = {value:.4g}"
                        for name, value in {**values, **options}.items()
                        if isinstance(value, float)
                    )
                    return Decision("passed", f"{right:.4g} < {level:.4g} at {shown}")
    if view.formula and any(_above(view, term, bound, {}) for term in view.terms.values()):
        # Such a claim is true: it fails nobody, and helps nobody.
        return Decision("suspicious", "a single term is above it everywhere", "claim vacuous")
    return Decision("unknown", f"not at any of {len(view.points)} points, but there is no certificate")


def _above(view: View, term: sympy.Expr, bound: sympy.Expr, at_least: dict[str, int]) -> bool:
    try:
        return view.prover(at_least).certain(view.expand(term) / bound - 1)
    except UndecidedError:
        return False


def _regions(view: View, bound: sympy.Expr, words: str) -> Decision:
    """Look for integers from which on a single term is above the trivial bound."""
    for name, term in view.terms.items():
        try:
            whole = view.expand(term)
        except UndecidedError:
            continue
        if whole.free_symbols & {view.symbol(step) for step in (*view.free_steps, view.theorem.horizon_symbol)}:
            continue
        integers = sorted(symbol.name for symbol in whole.free_symbols if view.symbols[symbol.name].domain.integer)
        if not integers:
            continue
        region = {one: int(view.symbols[one].domain.low) + 1 for one in integers}
        if _above(view, term, bound, region):
            for one in integers:
                wider = {other: low for other, low in region.items() if other != one}
                region = wider if _above(view, term, bound, wider) else region
            shown = ", ".join(f"{one} ≥ {low}" for one, low in region.items())
            text = f"{name} alone is above {words}, for {shown or 'all values'}, whatever horizon, step and noise"
            return Decision("suspicious", text, "claim vacuous", sympy.latex(term))
    return Decision("passed")


_SHORTER = 100
_NOTHING = 1e-12


@group("admissible", "the conditions can be met, and the theorem's own step meets them")
def admissible(view: View) -> Iterator[Check]:
    """Check that the theorem speaks about something, and its own step among it."""
    yield asked("admissible.set", "all conditions can be met at once, with a positive step", lambda: _met(view))
    yield asked("admissible.defined", "every formula has a value, whatever the counts", lambda: _defined(view))
    yield asked(
        "admissible.step",
        "the theorem's own step meets its conditions, whatever the constants",
        lambda: _own_step(view),
    )
    yield asked(
        "admissible.corollary",
        "for a long horizon the corollary's step meets the conditions of the theorem it comes from",
        lambda: _corollary(view),
    )


def _met(view: View) -> Decision:
    if not view.theorem.conditions:
        return Decision("passed", "there is no condition")
    if view.points:
        numbers = ((name, value) for name, value in view.points[0].items() if isinstance(value, (int, float)))
        return Decision("passed", f"for example {', '.join(f'{name} = {value:.4g}' for name, value in numbers)}")
    for condition in view.conditions:
        with suppress(UndecidedError):
            gap = view.expand(condition.quantity) - view.expand(condition.limit)
            if gap.is_nonnegative if condition.strict else gap.is_positive:
                return Decision("failed", f"{condition.statement} is never met", "claim vacuous")
    return Decision("unknown", "no point was found at which all conditions hold")


def _defined(view: View) -> Decision:
    """Look for a count at the lower end of its range at which a formula, as it is written, divides by 0."""
    theorem = view.theorem
    for what, formula in theorem.formulas():
        for one in theorem.demands(formula):
            if not isinstance(one, Demand) or one.kind != "power":
                continue  # inside of a Min there is another part
            read = theorem.read_by(names_of(one.of)) & {*theorem.inputs()} - {theorem.horizon_symbol}
            counts = {name: view.symbols[name].domain.low for name in sorted(read) if view.symbols[name].domain.integer}
            if found := {name: low for name, low in counts.items() if _vanishes(view, one, name, low)}:
                where = " or ".join(f"{name} = {low:g}" for name, low in found.items())
                more = ", ".join(f"{low + 1:g} <= {name}" for name, low in found.items())
                text = f"{what} {one.fails} at {where}: say {more}, or multiply it out"
                return Decision("suspicious", text, "claim vacuous")
    return Decision("passed")


def _vanishes(view: View, one: Demand, name: str, low: float) -> bool:
    """Return whether a denominator is 0 wherever a symbol has a value that the conditions on it alone admit."""
    for condition in view.theorem.conditions:
        sides = (condition.quantity, condition.limit)
        if names_of(sides[0]) | names_of(sides[1]) == {name}:
            left, right = (view.number(side, {name: low}) for side in sides)
            if left > right:
                return False
    try:
        of = view.expand(one.of, frozenset())
        return bool(view.draws) and all(
            abs(view.number(of, {**point, name: low})) <= _NOTHING and view.number(one.exponent, point) < 0
            for point in view.draws[:4]
        )
    except (BoundlabError, KeyError):
        return False


def _own_step(view: View) -> Decision:
    steps = {name for name in view.theorem.step if name in view.theorem.defining()}
    about = [one for one in view.theorem.conditions if _names(view.theorem, one) & steps]
    if not about:
        return Decision("not applicable", "no condition is about a step that the theorem chooses")
    open_ones = []
    for condition in about:
        gap = view.expand(condition.limit, frozenset()) - view.expand(condition.quantity, frozenset())
        # The condition itself must not help.
        prover = Prover(view.symbols)
        if gap == 0 and condition.strict:
            return Decision("failed", f"{condition.statement}: both are equal", "does not follow")
        if gap.is_positive if condition.strict else gap == 0 or prover.certain(gap):
            continue
        witness = _breaks(view, condition)
        if witness and prover.certain(-gap):
            return Decision("failed", witness, "does not follow")
        if witness and view.theorem.assume:
            return Decision("unknown", f"{witness}, where what it assumes at every x may be impossible")
        if witness:
            # The theorem then says nothing there, and may be true where it does.
            return Decision("suspicious", f"not everywhere: {witness}", "does not follow")
        open_ones.append(condition.statement)
    if open_ones:
        return Decision("unknown", f"met at all points tried, without certificate: {'; '.join(open_ones)}")
    return Decision("passed")


def _names(theorem: Theorem, condition: Condition) -> frozenset[str]:
    return theorem.read_by(names_of(condition.quantity) | names_of(condition.limit), theorem.step)


def _breaks(view: View, condition: Condition) -> str:
    """Return a point of the other conditions at which the own step breaks this one."""
    others = [one for one in view.theorem.conditions if not _names(view.theorem, one) & set(view.theorem.step)]
    for point in view.draws:
        values = {name: value for name, value in point.items() if name not in view.theorem.defining()}
        try:
            values |= view.theorem.step_options(values)
            left, right = _sides(view, condition, values)
            if any(low > high * (1 + 1e-9) for low, high in (_sides(view, one, values) for one in others)):
                continue
        except (BoundlabError, KeyError):
            continue
        if left > right * (1 + 1e-9):
            shown = ", ".join(f"{name} = {value:.4g}" for name, value in values.items() if isinstance(value, float))
            return f"{condition.statement} is {left:.4g} > {right:.4g} at {shown}"
    return ""


def _sides(view: View, condition: Condition, values: dict[str, Any]) -> tuple[float, float]:
    left, right = (view.expand(side, frozenset()) for side in (condition.quantity, condition.limit))
    return view.number(left, values), view.number(right, values)


def parent(theorem: Theorem) -> Theorem | None:
    """Return the theorem that a printed rate is a corollary of: the same paper, algorithm and left side."""
    if not theorem.shape or not theorem.of_paper:
        return None
    from boundlab.registry import beside

    def kind(one: Theorem) -> tuple[Any, ...]:
        return one.paper, one.algorithm, one.metric, one.status

    others: Iterable[Theorem] = beside("theorems", theorem).values()
    same = (one for one in others if kind(one) == kind(theorem) and not one.shape and one.id != theorem.id)
    return next(same, None)


def _corollary(view: View) -> Decision:
    above = parent(view.theorem)
    if above is None:
        return Decision("not applicable", "it is no corollary of a registered theorem")
    counter = view.symbol(view.theorem.horizon_symbol)
    open_ones = []
    for condition in above.conditions:
        if not _names(above, condition) & set(above.step):
            continue
        try:
            upper = View(above)
            own = {view.symbol(name): view.expand(rule, frozenset()) for name, rule in view.theorem.step.items()}
            ratio = substitute(upper.expand(condition.quantity), own) / substitute(upper.expand(condition.limit), own)
            coefficient, power = leading(substitute(ratio, {counter: 1 / SMALL}), SMALL)
        except UndecidedError:
            open_ones.append(condition.statement)
            continue
        if power < 0:
            shown = sympy.simplify(ratio) if size(ratio) <= _SHORTER else ratio
            text = (
                f"{condition.statement} of {above.id}: with {_rules(view)} its left side over its right is "
                f"{view.text(shown)}, above 1 from some {counter} on"
            )
            return Decision("failed", text, "does not follow", sympy.latex(shown))
        if power == 0 and not view.prover().nonnegative(1 - coefficient):
            open_ones.append(condition.statement)
    if open_ones:
        return Decision("unknown", f"not decided: {'; '.join(open_ones)}")
    return Decision("passed", f"conditions of {above.id}")


def _rules(view: View) -> str:
    return ", ".join(f"{view.text(view.symbol(name))} = {view.text(rule)}" for name, rule in view.theorem.step.items())
