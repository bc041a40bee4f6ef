"""Units: whether both sides behave alike under f → c·f, x → s·x and time → t·time, and what follows if they do not.

All assumptions are closed under both scalings: from (f, step, x0) they make another problem that the claim is
about, whose run is the same one in other units. A part of a bound with other degrees than the left side can therefore
be scaled away; see docs/audit.md#checks-by-the-formula-alone.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import sympy

from boundlab.checks._check import Check, Consequence, Decision, View, asked, group
from boundlab.errors import BoundlabError, FormulaError, UndecidedError
from boundlab.formulas.symbols import QUIET
from boundlab.formulas.units import Units, degrees, exact_units, shown as _show
from boundlab.formulas.written import substitute
from boundlab.metrics import INDEX, index_symbol, range_of, terms_of
from boundlab.theorems import POINTWISE

# f → c^u·f, x → c^v·x with c → 0: pure scalings of f first, then of x, then both.
_DIRECTIONS = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1), (1, 2), (-1, -2), (2, 1), (-2, -1))


@dataclass(frozen=True)
class Violations:
    """Unit violations: excess degrees over the left side, or over the other side."""

    terms: dict[str, Units]
    steps: dict[str, Units]
    conditions: dict[str, Units]
    definitions: dict[str, Units]
    mixed: dict[str, str]


def find(view: View) -> Violations:
    """Return what has the wrong units."""
    theorem = view.theorem
    mixed: dict[str, str] = {}

    def excess(what: str, expression: sympy.Expr, right: Units | None) -> Units | None:
        try:
            own = degrees(expression, theorem.symbols)
        except FormulaError as error:
            mixed[what] = str(error)
            return None
        if own is None or right is None or own == right:
            return None
        a, b, c = (one - other for one, other in zip(own, right, strict=True))
        return a, b, c

    def collect(parts: dict[str, tuple[sympy.Expr, Units | None]], noun: str) -> dict[str, Units]:
        found = ((name, excess(f"{noun} {name}", *part)) for name, part in parts.items())
        return {name: pair for name, pair in found if pair is not None}

    left = exact_units(theorem.left.units)
    used = set(theorem.rules())
    conditions: dict[str, tuple[sympy.Expr, Units | None]] = {}
    for condition in theorem.conditions:
        try:
            conditions[condition.statement] = condition.quantity, degrees(condition.limit, theorem.symbols)
        except FormulaError as error:
            mixed[f"condition {condition.statement}"] = str(error)
    return Violations(
        collect({name: (term, left) for name, term in view.terms.items()}, "term"),
        collect(
            {name: (rule, exact_units(theorem.symbols[name].units)) for name, rule in theorem.step.items()}, "step"
        ),
        collect(conditions, "condition"),
        collect(
            {
                name: (rule, exact_units(theorem.symbols[name].units))
                for name, rule in theorem.definitions.items()
                if name in used
            },
            "definition",
        ),
        mixed,
    )


def _times(one: Units, other: Sequence[int]) -> Units:
    """Return the units of a product."""
    a, b, c = (left + right for left, right in zip(one, exact_units(other), strict=True))
    return a, b, c


@group("units", "both sides behave alike under f → c·f and x → s·x")
def checks(view: View) -> Iterator[Check]:
    """Check terms, step sizes and conditions."""
    left = _show(exact_units(view.theorem.left.units))
    if not view.formula:
        statement = "the recursion has the degrees of the left side (scaled numerically by powers of 4)"
        yield asked("units.terms", statement, lambda: _numerically(view))
        return
    found = find(view)
    yield asked("units.terms", f"every term has the degrees of the left side, {left}", lambda: _terms(view, found))
    statement = "the step rule has the units of a step: the same run in other units takes the same step"
    yield asked("units.step", statement, lambda: _steps(view, found))
    statement = "both sides of every condition have the same units"
    yield asked("units.conditions", statement, lambda: _conditions(view, found))
    if view.theorem.left_reads:
        statement = "the left side has one unit, and units move no weight and no end of it"
        yield asked("units.left", statement, lambda: _left(view))
    if view.theorem.assume:
        statement = "both sides of what holds at every x have the same units"
        yield asked("units.assume", statement, lambda: _assume(view))


def _left(view: View) -> Decision:
    """Check that units change neither which models count nor how much each of them does beside the others."""
    over = range_of(view.theorem.left)
    if over is None:
        return _summed(view)
    index = INDEX[over.counter].name
    known = {**view.theorem.symbols, index: index_symbol(index)}
    for what, formula in (("from", over.begin), ("to", over.end), ("weights", over.weights)):
        try:
            found = None if formula is None else degrees(formula, known)
        except FormulaError as error:
            return Decision("failed", f"{what}: {error}", "implies more")
        if what != "weights" and found not in (None, exact_units((0, 0))):
            return Decision("failed", f"{what} has units {_show(found)}", "implies more")
    return Decision("passed")


def _assume(view: View) -> Decision:
    """Check that what holds at every x compares quantities of one unit."""
    known = {**view.theorem.symbols, **POINTWISE}
    for name, one in view.theorem.assume.items():
        try:
            degrees(sympy.Add(one.larger, one.smaller, evaluate=False), known)
        except FormulaError as error:
            return Decision("failed", f"{name}: {error}", "implies more")
    return Decision("passed")


def _summed(view: View) -> Decision:
    """Check that the terms of the left side have one unit."""
    left = exact_units(view.theorem.left.units)
    for one in terms_of(view.theorem.left):
        own = _times(degrees(one.times, view.theorem.symbols) or exact_units((0, 0)), one.quantity.units)
        if own != left:
            words = f"({one.times})·{one.quantity.name.lower()} has units {_show(own)}, not {_show(left)}"
            return Decision("failed", words, "implies more")
    return Decision("passed")


def _terms(view: View, found: Violations) -> Decision:
    mixed = {what: text for what, text in found.mixed.items() if what.startswith(("term", "definition"))}
    if mixed or found.definitions:
        lines = [f"{what}: {text}" for what, text in mixed.items()]
        lines += [
            f"{name} is defined by what is {_show(pair)} off its units" for name, pair in found.definitions.items()
        ]
        return Decision("failed", "; ".join(lines), "implies more")
    if not found.terms:
        return Decision("passed")
    implied = implied_claim(view, found)
    own = ", ".join(f"{name} {_show(_times(excess, view.theorem.left.units))}" for name, excess in found.terms.items())
    if implied is None:
        text = f"{own}. No scaling makes all of them negligible at once; the smallest sum over all scalings bounds too"
        return Decision("failed", text, "implies more")
    text = f"{own}. {implied.text}"
    return Decision("failed", text, implied.consequence, implied.latex)


@dataclass(frozen=True)
class Implied:
    """Consequence of a claim with wrong units."""

    view: View
    text: str
    consequence: Consequence
    latex: str


def implied_claim(view: View, found: Violations | None = None) -> Implied | None:
    """Derive what the claim implies by scaling; None if nothing follows or the units are right."""
    found = find(view) if found is None else found
    if found.mixed or found.definitions:
        return None
    bad_steps = [name for name in found.steps if name not in view.free_steps]
    if not found.terms:
        if not found.conditions or bad_steps:
            return None
        free = _removable(found)
        if not free:
            return None
        text = f"scaling makes {', '.join(free)} true for every step: the claim implies itself without it"
        return Implied(replace(view, unconditional=frozenset(free), _cache={}), text, "implies more", "")
    if bad_steps:
        return None
    for zeros in _faces(view):
        if not view.allows(zeros):
            continue
        terms = {name: pair for name, pair in found.terms.items() if not _vanishes(view, view.terms[name], zeros)}
        direction = _direction(terms, found.conditions)
        if direction is None:
            continue
        keep = [
            name for name, term in view.terms.items() if name not in found.terms and not _vanishes(view, term, zeros)
        ]
        conditions = frozenset(found.conditions)
        smaller = replace(view, dropped=frozenset(found.terms), unconditional=conditions, _cache={})
        return _say(view, smaller, terms, keep, zeros, direction)
    return None


def _say(
    view: View,
    smaller: View,
    terms: dict[str, Units],
    keep: list[str],
    zeros: tuple[str, ...],
    direction: tuple[int, int],
) -> Implied:
    u, v = direction
    step = 2 * v - u
    degree = view.theorem.left.units[0] * u + view.theorem.left.units[1] * v
    side = "stays" if degree == 0 else f"is multiplied by c{_power(degree)}"
    factors = ", ".join(f"{name} by c{_power(pair[0] * u + pair[1] * v + degree)}" for name, pair in terms.items())
    where = f"at {' = '.join((*zeros, '0'))}, " if zeros else ""
    rate = " with universal constants" if view.theorem.shape else ""
    kept = f"the scaling {_changes(direction)} with c → 0 keeps the run"
    scaling = f"{where}{kept}, the left side {side}, and multiplies {factors}"
    latex = r"f\to c^{%d} f,\; x\to c^{%d} x,\; \alpha\to c^{%d}\alpha,\quad c\to 0" % (u, v, step)  # noqa: UP031
    if not keep:
        text = (
            f"{scaling}: after division by the left side's factor the right side tends to 0, so that the claim{rate} "
            "says that the left side is 0, and is false"
        )
        return Implied(smaller, text, "claim false", latex)
    gone = f"this makes {', '.join(terms)} disappear, so the claim{rate} implies the one with {' + '.join(keep)} alone"
    return Implied(smaller, f"{scaling}: {gone}", "implies more", latex)


def _faces(view: View) -> Iterator[tuple[str, ...]]:
    """Yield sets of symbols to set to 0: none, then single ones, then pairs."""
    names = [name for name in view.inputs if name in QUIET]
    for size in range(3):
        yield from itertools.combinations(names, size)


def _vanishes(view: View, term: sympy.Expr, zeros: Sequence[str]) -> bool:
    if not zeros:
        return False
    try:
        return bool(substitute(view.expand(term), {view.symbol(name): sympy.S.Zero for name in zeros}) == 0)
    except UndecidedError:
        return False


def _direction(terms: dict[str, Units], conditions: dict[str, Units]) -> tuple[int, int] | None:
    """Return powers (u, v) of c → 0 with which all terms decay faster than the left side and conditions relax."""
    for u, v in _DIRECTIONS:
        if all(a * u + b * v > 0 for a, b, _ in terms.values()) and all(
            a * u + b * v >= 0 for a, b, _ in conditions.values()
        ):
            return u, v
    return None


def _removable(found: Violations) -> list[str]:
    """Return the conditions that one scaling removes together."""
    direction = _direction(found.conditions, {})
    return list(found.conditions) if direction is not None else []


def _steps(view: View, found: Violations) -> Decision:
    mixed = {what: text for what, text in found.mixed.items() if what.startswith("step")}
    if not found.steps and not mixed:
        return Decision("passed")
    lines = [f"{what}: {text}" for what, text in mixed.items()]
    for name, pair in found.steps.items():
        units = view.symbols[name].units
        own = _show(_times(pair, units))
        letter, rule = view.text(view.symbol(name)), view.text(view.theorem.step[name])
        lines.append(
            f"{letter} = {rule} is {own}, a step is {_show(exact_units(units))}: f → c·f, x → s·x "
            f"multiplies what {letter}·L stands for by {_factor(pair)}, so that the rule prescribes every step size "
            "for the same problem, each in its own units"
        )
    return Decision("failed", "; ".join(lines), "implies more")


def _conditions(view: View, found: Violations) -> Decision:
    if not view.theorem.conditions:
        return Decision("not applicable", "there is no condition")
    mixed = {what: text for what, text in found.mixed.items() if what.startswith("condition")}
    if not found.conditions and not mixed:
        return Decision("passed")
    lines = [f"{what}: {text}" for what, text in mixed.items()]
    for text, pair in found.conditions.items():
        direction = _direction({text: pair}, {})
        lines.append(
            f"{text}: left over right is multiplied by {_factor(pair)}"
            + (
                ""
                if direction is None
                else f"; {_changes(direction)} with c → 0 makes it true whatever the step, so that "
                "the condition excludes no run"
            )
        )
    return Decision("failed", "; ".join(lines), "implies more")


def _numerically(view: View) -> Decision:
    """Scale by powers of 4, with which floating point is exact, at points of the domain."""
    theorem = view.theorem
    a, b = theorem.left.units
    points = view.points[:4]
    if not points:
        return Decision("unknown", "no point was found at which all conditions hold")
    for point, (c, s) in itertools.product(points, ((4.0, 1.0), (1.0, 4.0))):
        scaled = {
            name: np.asarray(value) * c ** theorem.symbols[name].units[0] * s ** theorem.symbols[name].units[1]
            for name, value in point.items()
        }
        try:
            ratio = float(theorem.evaluate(scaled).total / theorem.evaluate(point).total)
        except BoundlabError as error:
            return Decision("unknown", str(error))
        if abs(ratio / (c**a * s**b) - 1) > 1e-9:
            shown = ", ".join(f"{name} = {value}" for name, value in point.items())
            text = f"f → {c:g}·f, x → {s:g}·x multiplies the bound by {ratio:.6g}, not {c**a * s**b:g}, at {shown}"
            return Decision("failed", text, "implies more")
    return Decision("passed", f"at {len(points)} points, up to rounding")


def _changes(direction: tuple[int, int]) -> str:
    u, v = direction
    parts = ((u, "f → c{}·f"), (v, "x → c{}·x"), (2 * v - u, "every step → c{}·step"))
    return ", ".join(text.format(_power(power)) for power, text in parts if power)


def _factor(pair: Units) -> str:
    parts = [f"{name}{_power(degree)}" for name, degree in zip("cst", pair, strict=True) if degree != 0]
    return "·".join(parts)


def _power(exponent: object) -> str:
    if exponent == 1:
        return ""
    digits = str(exponent).translate(str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻"))
    return digits if "/" not in str(exponent) else f"^({exponent})"
