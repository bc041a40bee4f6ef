"""Units: whether both sides behave alike under f → c·f, x → s·x and time → t·time, and what follows if they do not.

All assumptions are closed under both scalings: from (f, step, x0) they make another problem that the claim is
about, whose run is the same one in other units. A part of a bound with other degrees than the left side can therefore
be scaled away; see docs/audit.md#checks-by-the-formula-alone.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import sympy

from boundlab.checks._check import Check, Decision, View, asked, group
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
    """Unit violations of each noun, ``term``, ``step``, ``condition`` or ``definition``, by name.

    Parameters
    ----------
    excess
        Degrees over the left side, or over the other side.
    mixed
        Why a formula has no degrees.
    """

    excess: Mapping[str, dict[str, Units]]
    mixed: Mapping[str, dict[str, str]]

    def said(self, *nouns: str) -> list[str]:
        """Return what has no degrees, and why."""
        return [f"{noun} {name}: {text}" for noun in nouns for name, text in self.mixed[noun].items()]


def find(view: View) -> Violations:
    """Return what has the wrong units."""
    found = Violations(*({noun: {} for noun in ("term", "step", "condition", "definition")} for _ in range(2)))
    for noun, name, formula, other in _compared(view):
        try:
            right = degrees(other, view.symbols) if isinstance(other, sympy.Expr) else other
            own = degrees(formula, view.symbols)
        except FormulaError as error:
            found.mixed[noun][name] = str(error)
            continue
        if None not in (own, right) and own != right:
            a, b, c = (one - two for one, two in zip(own, right, strict=True))  # type: ignore[arg-type]
            found.excess[noun][name] = a, b, c
    return found


def _compared(view: View) -> Iterator[tuple[str, str, sympy.Expr, Units | sympy.Expr]]:
    """Yield noun, name and formula of what must have the units of something else."""
    theorem, used = view.theorem, view.theorem.rules()
    left = exact_units(theorem.left.units)
    yield from (("term", name, term, left) for name, term in view.terms.items())
    yield from (("condition", one.statement, one.quantity, one.limit) for one in theorem.conditions)
    definitions = {name: rule for name, rule in theorem.definitions.items() if name in used}
    for noun, rules in (("step", theorem.step), ("definition", definitions)):
        yield from ((noun, name, rule, exact_units(view.symbols[name].units)) for name, rule in rules.items())


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
    lines = found.said("term", "definition")
    lines += [
        f"{name} is defined by what is {_show(by)} off its units" for name, by in found.excess["definition"].items()
    ]
    if lines:
        return Decision("failed", "; ".join(lines), "implies more")
    if not (terms := found.excess["term"]):
        return Decision("passed")
    implied = implied_claim(view, found)
    own = ", ".join(f"{name} {_show(_times(excess, view.theorem.left.units))}" for name, excess in terms.items())
    if implied is None:
        text = f"{own}. No scaling makes all of them negligible at once; the smallest sum over all scalings bounds too"
        return Decision("failed", text, "implies more")
    return implied[1]._replace(witness=f"{own}. {implied[1].witness}")


def implied_claim(view: View, found: Violations | None = None) -> tuple[View, Decision] | None:
    """Derive what the claim implies by scaling, and say how; None if nothing follows or the units are right."""
    found = find(view) if found is None else found
    off, conditions = found.excess["term"], found.excess["condition"]
    bad_steps = [name for name in found.excess["step"] if name not in view.free_steps]
    if any(found.mixed.values()) or found.excess["definition"] or bad_steps:
        return None
    if not off:
        if not conditions or _direction(conditions, {}) is None:
            return None
        text = f"scaling makes {', '.join(conditions)} true for every step: the claim implies itself without it"
        smaller = replace(view, unconditional=frozenset(conditions), _cache={})
        return smaller, Decision("failed", text, "implies more")
    for zeros in _faces(view):
        if not view.allows(zeros):
            continue
        terms = {name: pair for name, pair in off.items() if not _vanishes(view, view.terms[name], zeros)}
        direction = _direction(terms, conditions)
        if direction is None:
            continue
        keep = [name for name, term in view.terms.items() if name not in off and not _vanishes(view, term, zeros)]
        smaller = replace(view, dropped=frozenset(off), unconditional=frozenset(conditions), _cache={})
        return smaller, _say(view, terms, keep, zeros, direction)
    return None


def _say(
    view: View, terms: dict[str, Units], keep: list[str], zeros: tuple[str, ...], direction: tuple[int, int]
) -> Decision:
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
        return Decision("failed", text, "claim false", latex)
    gone = f"this makes {', '.join(terms)} disappear, so the claim{rate} implies the one with {' + '.join(keep)} alone"
    return Decision("failed", f"{scaling}: {gone}", "implies more", latex)


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


def _steps(view: View, found: Violations) -> Decision:
    lines = found.said("step")
    for name, pair in found.excess["step"].items():
        units = view.symbols[name].units
        own = _show(_times(pair, units))
        letter, rule = view.text(view.symbol(name)), view.text(view.theorem.step[name])
        lines.append(
            f"{letter} = {rule} is {own}, a step is {_show(exact_units(units))}: f → c·f, x → s·x "
            f"multiplies what {letter}·L stands for by {_factor(pair)}, so that the rule prescribes every step size "
            "for the same problem, each in its own units"
        )
    return Decision("failed", "; ".join(lines), "implies more") if lines else Decision("passed")


def _conditions(view: View, found: Violations) -> Decision:
    if not view.theorem.conditions:
        return Decision("not applicable", "there is no condition")
    lines = found.said("condition")
    for text, pair in found.excess["condition"].items():
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
    return Decision("failed", "; ".join(lines), "implies more") if lines else Decision("passed")


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
