"""Inequalities that a theorem assumes at every x: certified by facts of the problem, refuted by a point, or neither.

A certificate writes the inequality as a sum of facts, with multipliers ≥ 0 in fractions. Where there is none and no
point refutes it, it is the user's word, and verdicts lean on that.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

import numpy as np
import sympy

from boundlab.arithmetic.combination import combination, proves
from boundlab.arithmetic.numbers import START_BITS, digits, float_ends
from boundlab.errors import AssumptionError, CertificateError, SpecError, SymbolError
from boundlab.formulas.enclose import Formulas, fraction_of
from boundlab.formulas.symbols import SymbolInfo
from boundlab.instance.readings import AtEveryX, SymbolValue, formulas_at
from boundlab.metrics import Proved
from boundlab.objective import Problem
from boundlab.objective.facts import MEAN_SLOPE, Fact, facts
from boundlab.objective.weighted import Weighted
from boundlab.randomness import Floats
from boundlab.theorems import Inequality, Theorem, of_quantities

Ends = tuple[float, float]
_ANYTHING: Final[Ends] = (-math.inf, math.inf)
_EPS = float(np.finfo(np.float64).eps)
_UP: Final = 1.0 + 32.0 * _EPS
_ALONG: Final = (0.5, -1.0, 2.0, 0.01, -10.0, 1000.0)  # from x* towards x0
_AROUND: Final = (1.0, -100.0, 0.01)  # times the distance of x0
_MOST: Final = 8  # coordinates, and directions of no name


def decided(
    theorem: Theorem, problem: Problem, values: Mapping[str, Any], measured: frozenset[str], beyond: Sequence[str]
) -> AtEveryX:
    """Decide what a theorem assumes at every x, for a problem and numbers.

    Parameters
    ----------
    problem
        As :func:`boundlab.instance.applicability.looked_at` returns it.
    values
        What problem, run and user say of the symbols.
    measured
        The symbols whose floats may be rounded.

    Raises
    ------
    AssumptionError
        If a point refutes an inequality that is not in ``beyond``; if a symbol is not set, and no value is certified.
    SymbolError
        If a symbol has no value, and is none of which the best one can be found.
    """
    _require_plain(theorem, problem)
    known, found = facts(problem), dict[str, float]()
    for name, one in theorem.assume.items():
        found |= _best(theorem, name, one, known, formulas_at(theorem, values, measured), problem.id)
    formulas = formulas_at(theorem, {**values, **found}, measured)
    for each in sorted(theorem.read_by(theorem.assume_reads) - formulas.values.keys() - formulas.rules.keys()):
        raise SymbolError(f"{theorem.id} needs {each}: {theorem.symbols[each].describe()}; set {each}=…")
    readings, outside, shown = [], {}, set()
    for name, one in theorem.assume.items():
        why = certificate(_coefficients(one.coefficients, formulas, theorem, name), known)
        if why is None and (reason := _refuted(theorem, name, one, problem, formulas)):
            if name not in beyond:
                raise AssumptionError(reason)
            outside[name] = reason
        how = "a point refutes it" if name in outside else "nobody has shown that it holds everywhere: on your word"
        how = how if why is None else f"certified: {why}"
        readings.append(SymbolValue(name, one.statement, "any", "theorem", how, certified=why is not None))
        shown |= set() if why is None else {name}
    certified = {name: f"certified: {own} holds at every x" for name, own in theorem.bounded_by.items() if own in shown}
    return AtEveryX(found, tuple(readings), certified, outside)


def _require_plain(theorem: Theorem, problem: Problem) -> None:
    names = ", ".join(theorem.assume)
    if isinstance(problem, Weighted):
        raise AssumptionError(f"{theorem.id} assumes {names} of the plain mean of all f_i; equal weights would fit")
    if problem.simple is not None and not problem.simple.bounded:
        raise AssumptionError(
            f"{theorem.id} assumes {names} of f, on R^d or on a set; the objective of {problem.id} has "
            f"{problem.simple.words}; box or ball in its place would fit"
        )


def certificate(coefficients: Mapping[str, Ends], known: Sequence[Fact]) -> str | None:
    """Return why Σ coefficients·quantities ≥ 0 at every x, or None where the facts do not show it.

    Parameters
    ----------
    coefficients
        Between which numbers each lies; of quantities that are never negative, the smaller one counts.
    """
    low, high = coefficients.get("inner", (0.0, 0.0))
    if low != high or not all(math.isfinite(end) for end, _ in coefficients.values()):
        return None
    goal = {name: Fraction(end) for name, (end, _) in coefficients.items()}
    says = [fact.says for fact in known]
    found = combination(goal, says)
    if found is None or not proves(goal, says, found[0]):
        return None
    used = [fact.why for fact, times in zip(known, found[0], strict=True) if times and len(fact.says) > 1]
    return "; ".join(dict.fromkeys(used)) or "no quantity is negative"


def _coefficients(rules: Mapping[str, sympy.Expr], formulas: Formulas, theorem: Theorem, name: str) -> dict[str, Ends]:
    """Return between which floats coefficients lie.

    Raises
    ------
    AssumptionError
        If one has no value.
    """
    found = {}
    for quantity, rule in rules.items():
        with digits(START_BITS):
            _, low, high = float_ends(formulas.ball(rule))
        if not math.isfinite(low) or not math.isfinite(high):
            raise AssumptionError(f"{theorem.id}: {name} has no finite coefficient {rule} of {quantity or '1'}")
        found[quantity] = (low, high)
    return found


def _best(
    theorem: Theorem,
    name: str,
    one: Inequality,
    known: Sequence[Fact],
    formulas: Formulas,
    problem: str,
) -> dict[str, float]:
    """Return certified values of the symbols that an inequality bounds and nobody has set.

    They are found one after the other, in the order of the table: each the smallest, or of a lower limit the largest,
    that some values of the next ones go with.

    Raises
    ------
    AssumptionError
        If there are none.
    """
    bounded_by = theorem.bounded_by
    own = [each for each in bounded_by if bounded_by[each] == name and each not in formulas.values]
    if not own:
        return {}
    open_ = {theorem.symbols[each].symbol: sympy.S.Zero for each in own}
    goal = _fractions({quantity: rule.xreplace(open_) for quantity, rule in one.coefficients.items()}, formulas)
    rates = {each: _fractions(one.rate(theorem.symbols[each].symbol) or {}, formulas) for each in own}
    found, says = dict[str, float](), [fact.says for fact in known]
    for place, each in enumerate(own):
        value, info = None, theorem.symbols[each]
        later = [rates[other] for other in own[place:]]
        if goal is not None and None not in later:
            cost = [-1 if info.side == "lower" else 1, *[0] * (len(later) - 1)]
            least = combination(goal, says, [rate for rate in later if rate is not None], cost)
            value = None if least is None else _inside(least[1][0], info)
        if value is None or goal is None:
            raise AssumptionError(
                f"{theorem.id} assumes {name} ({one.statement}), and no {each} ({info.meaning}) is known with which "
                f"problem {problem} certainly meets it; set {' and '.join(own)} to compare on your word"
            )
        found[each] = value
        for quantity, times in (rates[each] or {}).items():
            goal[quantity] = goal.get(quantity, Fraction(0)) + times * Fraction(value)
    return found


def _fractions(rules: Mapping[str, sympy.Expr], formulas: Formulas) -> dict[str, Fraction] | None:
    """Return coefficients as fractions, or None where one is not known so."""
    known = {name: found for name, rule in rules.items() if (found := fraction_of(formulas.exact(rule))) is not None}
    return known if len(known) == len(rules) else None


def _inside(value: Fraction, info: SymbolInfo) -> float | None:
    """Return a float of the domain on the safe side of a limit, as its digits are, too, or None where there is none."""
    lower = info.side == "lower"
    found, away = float(value), -math.inf if lower else math.inf
    while any((one > value) if lower else (one < value) for one in (Fraction(found), Fraction(repr(found)))):
        found = math.nextafter(found, away)
    if not lower:
        found = max(found, info.domain.low)
    return found if info.domain.contains(np.asarray(found)) else None


def _refuted(theorem: Theorem, name: str, one: Inequality, problem: Problem, formulas: Formulas) -> str:
    """Return at which point an inequality fails, and both sides there; empty where none is found."""
    whole = _coefficients(one.coefficients, formulas, theorem, name)
    for x in _points(problem):
        there = quantities(problem, x)
        if _total(whole, there)[1] < 0.0:
            smaller, larger = (
                _total(_coefficients(of_quantities(side, name), formulas, theorem, name), there)
                for side in (one.smaller, one.larger)
            )
            where = np.array2string(x, precision=6, threshold=6, separator=", ")
            return (
                f"{theorem.id} assumes {name} ({one.statement}) at every x, and at x = {where} of problem {problem.id} "
                f"the smaller side is {sum(smaller) / 2:.6g} and the larger one {sum(larger) / 2:.6g}"
            )
    return ""


def _total(coefficients: Mapping[str, Ends], there: Mapping[str, Ends]) -> Ends:
    """Return between which floats a sum of products lies."""
    ends = [0.0, 0.0]
    for name, of in coefficients.items():
        products = [a * b if a and b else 0.0 for a in of for b in there[name]]
        ends[0] += min(products)
        ends[1] += max(products)
    size = sum(max(map(abs, of)) * max(map(abs, there[name])) for name, of in coefficients.items() if any(of))
    return ends[0] - 32.0 * _EPS * size, ends[1] + 32.0 * _EPS * size


def _points(problem: Problem) -> Iterator[Floats]:
    """Yield points at which a problem is looked at: x0, and where the whole space is meant those around x*, too."""
    x0 = np.asarray(problem.x0, dtype=np.float64)
    yield x0
    if problem.simple is not None or problem.run_limit is not None:
        return
    try:
        best = np.asarray(problem.optimum().x, dtype=np.float64)
    except CertificateError:
        return
    yield from (best + share * (x0 - best) for share in _ALONG)
    size = float(np.linalg.norm(x0 - best)) or 1.0
    drawn = np.random.default_rng(0).normal(size=(_MOST, problem.d))
    for direction in (*np.eye(min(problem.d, _MOST), problem.d), *drawn / np.linalg.norm(drawn, axis=1, keepdims=True)):
        yield from (best + share * size * direction for share in _AROUND)


def quantities(problem: Problem, x: Floats) -> dict[str, Ends]:
    """Return between which numbers the quantities lie at a point; what nobody knows is any number."""
    proved, found = (
        Proved(problem),
        dict.fromkeys(("slope", "inner", MEAN_SLOPE, "second_moment", "variance"), _ANYTHING),
    )
    found |= {"": (1.0, 1.0), "gap": _ends(proved.gap, x), "distance": _ends(proved.squared_distance, x)}
    error = problem.rounding(x)
    if problem.simple is not None or error is None or problem.why_not("smooth"):
        return found
    gradient = problem.full_gradient(x)
    size = float(np.linalg.norm(gradient)) * _UP
    found["slope"] = low, high = _ends(proved.squared_slope, x)
    if math.isfinite(found["distance"][1]):
        best = problem.optimum()
        away = x - best.x
        reach = float(np.linalg.norm(away)) * _UP + float(np.abs(away).max()) * problem.d * _EPS
        unsure = float(best.distance or 0.0) * (size + error[1]) + error[1] * reach
        unsure += (
            (problem.d + 8.0)
            * _EPS
            * (size + error[1])
            * (reach + float(np.linalg.norm(x)) + float(np.linalg.norm(best.x)))
        )
        inner = float(gradient @ away)
        found["inner"] = inner - 2.0 * unsure, inner + 2.0 * unsure
    found[MEAN_SLOPE] = mean = _mean_slope(problem, x, low)
    noise = _noise(problem)
    found["second_moment"] = (mean[0] + noise[0]) / _UP, (mean[1] + noise[1]) * _UP
    found["variance"] = max(0.0, found["second_moment"][0] / _UP - high * _UP), found["second_moment"][1] - low / _UP
    return found


def _ends(of: Any, x: Floats) -> Ends:
    try:
        _, low, high = of((x, 0.0))
    except (CertificateError, SpecError):
        return 0.0, math.inf
    return float(low), float(high)


def _mean_slope(problem: Problem, x: Floats, least: float) -> Ends:
    """Return the mean of all ‖∇f_i(x)‖²; it is no less than ‖∇f(x)‖²."""
    low = high = 0.0
    size = float(np.linalg.norm(x)) * _UP
    for client in range(problem.n):
        bounds = problem.step_bounds(client)
        if bounds is None or bounds.kinks or bounds.proximal:
            return least, math.inf
        norm, off = float(np.linalg.norm(problem.gradient(client, x))), bounds.error(x, size)
        off += (problem.d + 8.0) * _EPS * norm
        low += max(0.0, norm - off) ** 2
        high += (norm + off) ** 2
    many = 1.0 + (problem.n + 32.0) * _EPS
    return max(least, low / problem.n / many), high / problem.n * many


def _noise(problem: Problem) -> Ends:
    """Return between which numbers the mean variance of the clients' stochastic gradients lies, anywhere."""
    form, known = problem.quadratic(), problem.constants()
    if problem.noiseless:
        return 0.0, 0.0
    if form is not None:
        return form.sigma**2 / _UP, form.sigma**2 * _UP
    return 0.0, known["sigma"].value ** 2 * _UP if "sigma" in known and not problem.why_not(
        "bounded-variance"
    ) else math.inf
