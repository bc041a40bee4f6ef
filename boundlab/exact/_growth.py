"""Growth of both sides along a family of cases: what refutes a printed O(·) whatever its constants are.

A family begins at one case and moves symbols along which the unknown constants stay the same, and nothing else: the
horizon, the noise, or the distance of the start. The left side is then a closed form, a sequence that obeys a
linear recursion over Q or a polynomial, and the right side is bounded from above by its leading term.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

import sympy

from boundlab.arithmetic.numbers import read_number
from boundlab.assumptions import BOUNDED_RUN
from boundlab.case import Case, read_case
from boundlab.errors import BoundlabError, SpecError, UndecidedError
from boundlab.exact._closed_left import ClosedLeft, closed_left
from boundlab.exact._engine import ExactEngine, has_moments
from boundlab.exact._result import Growth
from boundlab.formulas.enclose import enclose
from boundlab.formulas.expansion import expand
from boundlab.formulas.leading import leading
from boundlab.formulas.substitution import substitute
from boundlab.formulas.symbols import apart, names_of
from boundlab.instance.conditional import uncertified
from boundlab.instance.from_case import given, own_rates
from boundlab.theorems import Theorem

Order = tuple[Fraction, Any]  # (q, a) of q^x·x^a
_SMALL: Final = apart("small", positive=True)
_SCALE: Final = sympy.Symbol("s", positive=True)
_SCALED: Final = {"noise": "the noise is s times that of the case", "start": "x0 is s times as far from x*"}
_LONG: Final = 160
_LOGARITHM: Final = sympy.Rational(1, 1000)  # log x = O(x^ε) for any ε


def growths(theorem: Theorem, case: Case) -> tuple[Growth, ...]:
    """Return the families that begin at a case and move symbols of the theorem's ``growth`` alone."""
    counter, found = theorem.horizon_symbol, list[Growth]()
    try:
        engine = ExactEngine.of(theorem, case)
        if names := uncertified(engine.plan.symbols):
            raise SpecError(f"nothing certifies {' and '.join(names)}")
    except BoundlabError as error:
        return (Growth(theorem.growth, "the case", why=str(error)),)
    if counter in theorem.growth:
        family = Growth((counter,), f"{counter} → ∞")
        found.append(_asked(family, lambda: _over_horizon(case, engine, family)))
    for role, words in _SCALED.items():
        along = tuple(sorted(name for name in theorem.read if theorem.symbols[name].role == role))
        if along and {*along} <= {*theorem.growth}:
            family = Growth(along, f"{words}, {counter} = {engine.plan.ks[-1]}")
            found.append(_asked(family, lambda: _over_scale(case, engine, role, family)))  # noqa: B023
    return tuple(found)


def _asked(family: Growth, ask: Callable[[], Growth]) -> Growth:
    try:
        return ask()
    except BoundlabError as error:
        return replace(family, why=str(error))


def _over_horizon(case: Case, engine: ExactEngine, family: Growth) -> Growth:
    theorem = engine.plan.theorem
    counter = theorem.symbols[theorem.horizon_symbol].symbol
    _require_still(theorem, case, family.along)
    right = _right(engine, {theorem.horizon_symbol: counter})
    above = _at_most(right, counter)
    left = closed_left(case, engine)
    rate, power = left.sequence.largest()
    words = _order_words((rate, power - left.power), counter.name) if rate else "is 0 in the end"
    refutes = left.sequence.exceeds(above[0], above[1] + left.power)
    return _compared(family, _closed_words(left, counter.name), str(right), words, (above, counter.name), refutes)


def _over_scale(case: Case, engine: ExactEngine, role: str, family: Growth) -> Growth:
    theorem = engine.plan.theorem
    _require_still(theorem, case, family.along)
    if not has_moments(engine.model) or BOUNDED_RUN in theorem.core.assumed:
        raise SpecError("left sides follow the scale of the data on all of R^d, by moments of quadratics")
    degrees = {name: 2 * info.units[0] + info.units[1] for name, info in theorem.symbols.items() if info.role == role}
    known = engine.formulas.values
    moved = {name: _times(known[name].exact, _SCALE ** degrees[name]) for name in family.along if name in known}
    right, lefts = _right(engine, moved), list[Fraction]()
    for times in (1, 2, 3, 4):
        other = ExactEngine.of(theorem, _scaled(case, engine, role, times))
        for name, value in other.formulas.values.items():
            if value.exact != _times(known[name].exact, sympy.Integer(times) ** degrees.get(name, 0)):
                raise SpecError(f"{name} does not follow as it should where {family.family}")
        lefts.append(other.fractional_left())
    # Moments of degree 2 in the data: three values say which polynomial, and a fourth agrees.
    c = (lefts[2] - 2 * lefts[1] + lefts[0]) / 2
    b = lefts[1] - lefts[0] - 3 * c
    terms = [lefts[0] - b - c, b, c]
    if sum(term * 4**i for i, term in enumerate(terms)) != lefts[3]:
        raise ArithmeticError("a left side is no polynomial of degree 2 in the data")
    powers, found = [i for i, term in enumerate(terms) if term], family
    words = " + ".join(f"{terms[i]}*s**{i}" for i in powers) or "0"
    for end, sense, to in ((max(powers, default=0), 1, "∞"), (min(powers, default=0), -1, "0")):
        above = _at_most(substitute(right, {_SCALE: _SCALE**sense}), _SCALE)
        refutes = bool(powers) and above[0] <= 1 and (above[0] < 1 or bool(end * sense > above[1]))
        own = replace(family, family=f"{family.family}; s → {to}")
        upper = above if sense > 0 else (above[0], -above[1])
        found = _compared(own, words, str(right), f"like s^{end}", (upper, "s"), refutes)
        if refutes:
            break
    return found


def _times(value: Any, factor: sympy.Expr) -> Any:
    """Return a number, or one number per client, times a factor."""
    if value is None:
        raise UndecidedError("a constant of the problem is not known exactly")
    return sympy.Tuple(*(factor * one for one in value)) if isinstance(value, sympy.Tuple) else factor * value


def _compared(family: Growth, left: str, right: str, how: str, above: tuple[Order, str], refutes: bool) -> Growth:
    order = "is 0" if above[0][0] == 0 else f"at most {_order_words(*above)}"
    end = "their quotient is unbounded, whatever the constants are" if refutes else "no constant is excluded"
    short = right if len(right) <= _LONG else f"{right[:_LONG]}…"
    return replace(family, left=left, right=short, refutes=refutes, why=f"left {how}, right {order}: {end}")


def _require_still(theorem: Theorem, case: Case, moved: tuple[str, ...]) -> None:
    """Make sure that the family is one run, to which the theorem applies whatever the moved symbols are.

    Raises
    ------
    SpecError
        If the step or a condition follows from them.
    """
    chosen = given(case).keys() - own_rates(theorem, case).keys()
    for what, names in (
        *((f"the step {name}", {name}) for name in theorem.step if name not in chosen),
        ("the step of each iteration", theorem.rule_reads),
        *(
            (f"the condition {one.statement}", names_of(one.quantity) | names_of(one.limit))
            for one in theorem.conditions
        ),
    ):
        if read := theorem.read_by(names, chosen) & {*moved}:
            raise SpecError(f"{what} reads {', '.join(sorted(read))}: the family has no one run")


def _right(engine: ExactEngine, moved: Mapping[str, sympy.Expr]) -> sympy.Expr:
    """Return the right side where the moved symbols are left over.

    Raises
    ------
    UndecidedError
        If a symbol is not known exactly.
    SpecError
        If it is no formula.
    """
    theorem, formulas = engine.plan.theorem, engine.formulas
    if not theorem.bound.closed:
        raise SpecError("the bound is a numerical recursion")
    found = sympy.Add(*theorem.bound.expressions().values())
    rules = {theorem.symbols[name].symbol: rule for name, rule in formulas.rules.items() if name not in moved}
    while found.free_symbols & rules.keys():
        found = substitute(found, rules)
    values = {}
    for name in names_of(found) - moved.keys():
        values[theorem.symbols[name].symbol] = value = formulas.values[name].exact
        if value is None:
            raise UndecidedError(f"{name} is not known exactly")
    return substitute(found, {**values, **{theorem.symbols[name].symbol: own for name, own in moved.items()}}).doit()


def _at_most(expression: sympy.Expr, x: sympy.Symbol) -> Order:
    """Return (q, a) with |expression| = O(q^x·x^a) for x → ∞, of −∞ for all a; (0, −∞) where it is 0.

    Raises
    ------
    UndecidedError
        If the rules of dominated terms do not say it of each summand.
    """
    most: Order = Fraction(0), -sympy.oo
    for part in sympy.Add.make_args(expand(expression)):
        rate, rest = sympy.S.One, list[sympy.Expr]()
        logarithms = sympy.S.Zero
        for factor in sympy.Mul.make_args(part):
            base, exponent = factor.as_base_exp()
            slope = sympy.expand(exponent).coeff(x)
            offset = sympy.expand(exponent - slope * x)
            if (
                isinstance(base, sympy.log)
                and exponent.is_number
                and leading(_at_infinity(base.args[0], x), _SMALL)[1] not in (0, sympy.oo)
            ):
                logarithms += max(exponent, 0) * _LOGARITHM  # 1/log tends to 0
            elif x in base.free_symbols or not slope.is_number or slope == 0 or x in offset.free_symbols:
                rest.append(factor)
            elif base == 0 and slope.is_positive:
                rate = sympy.S.Zero
            else:
                rate, rest = rate * abs(base) ** slope, [*rest, abs(base) ** offset]
        others = sympy.Mul(*rest)
        # What falls below every power, as Min(1/x, 2^-x) and (1 − 1/√x)^x do, may be above every q^x with q < 1.
        power = logarithms - leading(_at_infinity(others, x), _SMALL)[1]
        if rate != 0 and others != 0:
            most = max(most, (_fraction_above(rate), power))
    return most


def _at_infinity(expression: sympy.Expr, x: sympy.Symbol) -> sympy.Expr:
    return substitute(expression, {x: 1 / _SMALL})


def _fraction_above(rate: sympy.Expr) -> Fraction:
    """Return a rate that is a fraction, or a fraction just above it."""
    return Fraction(int(rate.p), int(rate.q)) if rate.is_Rational else Fraction(enclose(rate)[1])


def _scaled(case: Case, engine: ExactEngine, role: str, times: int) -> Case:
    """Return the case with noise or start scaled."""
    raw, best = dict(case.raw), engine.best
    problem = dict(raw["problem"])
    if role == "noise":
        problem["sigma"] = str(times * read_number(problem.get("sigma", 0), "sigma"))
    else:
        assert best is not None  # noqa: S101  (the engine has moments)
        start = engine.model.x0
        where = raw if "x0" in raw else problem
        where["x0"] = [str(b + times * (a - b)) for a, b in zip(start, best.x, strict=True)]
    return read_case({**raw, "problem": problem}, has_theorem=True)


def _order_words(order: tuple[Any, Any], x: str) -> str:
    """Return q^x·x^a."""
    rate, power = order
    if power == -sympy.oo:
        return f"like {float(rate):.6g}^{x} times less than any power of {x}"
    exponent = f"({power})" if power < 0 else str(power)
    parts = [f"{float(rate):.6g}^{x}"] * (rate != 1) + [f"{x}^{exponent}"] * (power != 0)
    return f"like {'·'.join(parts) or 'a constant'}"


def _closed_words(left: ClosedLeft, counter: str) -> str:
    """Return the left side as a formula of the horizon, or what is known of it where its rates are no fractions."""
    closed = left.sequence.closed()
    if closed is None:
        order, (rate, power) = left.sequence.denominator.degree(), left.sequence.largest()
        return f"a linear recursion of order {order}, largest rate {rate:.6g}, power {power}"
    k = sympy.Symbol(counter, positive=True, integer=True)
    later, terms = k - left.first, list[sympy.Expr]()
    for base, own in closed[1].items():
        power = sympy.Rational(*base.as_integer_ratio()) ** later
        terms += [sympy.Rational(*one.as_integer_ratio()) * later**i * power for i, one in enumerate(own)]
    return str(sympy.Add(*terms) / k**left.power)
