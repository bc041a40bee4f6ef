"""A theorem on one case, with both sides exact, enclosed, or at least not sampled."""

import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final, cast, final

import numpy as np
import sympy

from boundlab.algorithms import Control, Event, EventLaw, EventProgram, Step
from boundlab.arithmetic import numbers
from boundlab.arithmetic.numbers import InexactError, Scalar, read_number
from boundlab.arithmetic.problem import RationalProblem
from boundlab.arithmetic.rational import TooLongError
from boundlab.arithmetic.recurrence import Recurrence
from boundlab.assumptions import BOUNDED_RUN
from boundlab.case import Case, RandomEvents, read_case
from boundlab.errors import BoundlabError, SpecError, UndecidedError
from boundlab.events import Events
from boundlab.exact._engine import ExactEngine, NoValueError, TooManyError, has_moments, model_of
from boundlab.exact._result import ExactResult, Growth
from boundlab.expectation import Arithmetic, engine, left_side
from boundlab.formulas.enclose import enclose
from boundlab.formulas.symbols import apart, names_of
from boundlab.formulas.written import expand, leading, substitute
from boundlab.instance.from_case import given, never_moving, of_events, own_rates, plan_of, uncertified
from boundlab.instance.plan import Plan, events_of
from boundlab.metrics import AVERAGE_ITERATE, LAST, MEAN, Enclosure, Quantity, range_of, terms_of
from boundlab.theorems import Theorem, core, over

# A case in floating point, without sampling: where exact numbers do not reach.


def result(plan: Plan, case: Case, why: str) -> ExactResult:
    """Return both sides as floats.

    Parameters
    ----------
    why
        Why there are no exact numbers.

    Raises
    ------
    SpecError
        If the expectation can only be sampled, saying why.
    """
    known = [plan.known(_seen(plan))]
    right = plan.right_sides(known)
    if isinstance(case.events, RandomEvents):
        left, method = _random(plan)
    else:
        left, method = _fixed(plan, case)
    low, high = float(left.lower[-1]), float(left.upper[-1])
    violated, note = low > float(right.upper[-1]), f"floating point: {why}"
    decided = violated or high <= float(right.lower[-1])
    if not decided and not plan.theorem.shape:
        note = f"{note}; rounding leaves the left side between {low:.10g} and {high:.10g}"
    if violated and plan.near_minimiser:
        violated, decided, note = False, False, f"{note}; above the bound, but R is the distance to a near-minimiser"
    if violated and plan.lifted(low / max(float(right.value[-1]), 1e-300), known):
        only = "of R and F0 limits from above are known, and where these are smaller the bound may be as large"
        violated, decided, note = False, False, f"{note}; above the bound, but {only}"
    if plan.theorem.shape:
        violated, note = False, "the printed O(·) has unknown constants, so nothing can refute or confirm it"
        note = note if not plan.theorem.growth else "the printed O(·) has unknown constants, so no one case refutes it"
    value, bound = float(left.value[-1]), float(right.value[-1])
    return ExactResult(
        plan.theorem.id,
        value,
        bound,
        f"{value:.10g}",
        f"{bound:.10g}",
        "numeric",
        violated,
        method,
        int(plan.ks[-1]),
        {name: np.asarray(value).tolist() for name, value in plan.values.items()},
        {name: constant.as_dict() for name, constant in plan.constants.items()},
        note,
        plan.symbols,
        decided=decided and not plan.theorem.shape,
        still=never_moving(plan, bound)[1] if decided and not violated else "",
        objective=plan.objective,
        core=core(plan.theorem).sha256,
    )


def _seen(plan: Plan) -> list[dict[str, float]] | None:
    """Return what the bound reads off the schedule of a case, or off that of random events, which then is one."""
    schedules = plan.schedules
    return None if schedules is None else schedules.read_at(schedules.tape(0), plan.ks, plan.fixed)


def _random(plan: Plan) -> tuple[Enclosure, str]:
    method, reason = engine(*plan.random_run)
    if reason:
        raise SpecError(f"no exact engine applies: {reason}")
    return left_side(*plan.random_run, iterations=plan.iterations, ks=plan.ks[-1:]), f"{method}, in floating point"


def _fixed(plan: Plan, case: Case) -> tuple[Enclosure, str]:
    ks = plan.ks[-1:]
    assert not isinstance(case.events, RandomEvents)  # noqa: S101  (for the type checker)
    if terms_of(plan.metric):
        parts = [(share, _fixed(own, case)) for share, own in plan.summands]
        return Enclosure.weighted([(share, found) for share, (found, _) in parts]), parts[0][1][1]
    from boundlab.expectation import moments

    tape = plan.algorithm.schedule(plan.parameters, case.events, plan.problem.n, plan.metric.records(ks), int(ks[-1]))
    if reason := moments.why_not(plan.metric, plan.problem, tape):
        raise SpecError(f"no exact engine applies: {reason}")
    try:
        found = moments.left_side(plan.metric, plan.problem, tape, ks)
    except UndecidedError as error:
        raise SpecError(f"no exact engine applies: {error}") from None
    if plan.problem.noiseless:
        return found, "the schedule in floating point"
    return found, "means and the coefficients of all noise along the schedule, in floating point"


# The left side on one case as a closed form in the horizon: a sequence that obeys a linear recursion over Q.
#
# Moments of quadratics at one iteration follow linearly from those at the one before, by a map that is the same for all
# iterations; so twice as many exact values as there are moments determine the sequence at all horizons.

_CONTROLS: Final = 50
_ORDER: Final = 36
# Powers of the horizon with which left sides obey recursions: averages are sums divided by K, whose squares count.
_POWERS: Final = ((LAST, 0), (MEAN, 1), (AVERAGE_ITERATE, 2))


@final
@dataclass(frozen=True, slots=True)
class ClosedLeft:
    """The left side at each horizon K from ``first`` on, as the sequence K^power·left(K)."""

    sequence: Recurrence
    first: int
    power: int


@final
class InTurns(EventProgram):
    """A program whose clients arrive in a sequence that repeats; control knows the place in it."""

    draws = True
    interchangeable = False

    def __init__(self, program: EventProgram, actors: list[int]) -> None:
        self._program, self._actors = program, actors
        self.initial, self.local, self.slots = program.initial, program.local, program.slots
        self.alike, self.identity, self.points = program.alike, program.identity, program.points

    def opening(self) -> tuple[tuple[Any, ...], Control]:
        """Return that of the program, at the first place."""
        rows, control = self._program.opening()
        return rows, Control(control.slots, (0, control.shared))

    def _at(self, control: Control) -> tuple[int, Control]:
        place, shared = cast("tuple[int, Hashable]", control.shared)
        return place, Control(control.slots, shared)

    def choices(self, control: Control, law: EventLaw[Any]) -> list[tuple[Event, Any]]:
        """Return the arrival whose turn it is.

        Raises
        ------
        SpecError
            If the program draws something besides, or the client has nothing to arrive with.
        """
        place, own = self._at(control)
        found = [event for event, _ in self._program.choices(own, law) if event[0] == self._actors[place]]
        if len(found) != 1:
            raise SpecError("who arrives does not say what happens")
        return law.equally(found)

    def event(self, control: Control, event: Event, number: int) -> Step:
        """Do what the program does, and go on to the next place."""
        place, own = self._at(control)
        step = self._program.event(own, event, number)
        after = Control(step.control.slots, ((place + 1) % len(self._actors), step.control.shared))
        return Step(step.rows, after, step.iteration)

    def clock(self, number: int) -> Any:
        """Return that of the program."""
        return self._program.clock(number)


def closed_left(case: Case, exact: ExactEngine) -> ClosedLeft:
    """Return the left side at all horizons.

    Parameters
    ----------
    case
        Its events are one round of a sequence that repeats, or their law.

    Raises
    ------
    SpecError
        If the left side, the problem or the run has no such closed form here, saying why.
    """
    from boundlab.expectation.moments import in_exact_numbers, state_space

    metric, model = exact.plan.metric, exact.model
    power = next((power for over, power in _POWERS if over is metric.over), None)
    if power is None or not metric.quantity.of_moments:
        raise SpecError(f"{metric.id} has no closed form in the horizon")
    if not has_moments(model):
        raise SpecError("closed forms in the horizon need a quadratic whose minimiser is rational")
    arithmetic, law = _program(case, exact)
    controls, moments = state_space(model, arithmetic, law, metric, _CONTROLS)
    order = moments + power % 2  # a mean over k needs the sum of all before
    if order > _ORDER:
        raise SpecError(f"a run of {order} moments is too large for a closed form; {_ORDER} are the most")
    _require_settled(case, exact, controls)
    first = metric.over.first
    ks = np.arange(first, first + 2 * order)
    found = in_exact_numbers(model, arithmetic, law, metric, ks)
    if any(not isinstance(value, numbers.flint().fmpq) for value in found):
        raise SpecError("a step is no fraction")
    terms = [value * numbers.rational(k) ** power for k, value in zip(ks.tolist(), found, strict=True)]
    return ClosedLeft(Recurrence.of(terms), first, power)


def _program(case: Case, exact: ExactEngine) -> tuple[Arithmetic[Scalar], EventLaw[Fraction]]:
    """Return what one event does, and the law of events."""
    n = exact.plan.problem.n
    if isinstance(case.events, RandomEvents):
        if reason := engine(*exact.plan.random_run)[1]:
            raise SpecError(reason)
        return exact.arithmetic()[0], exact.event_law()
    if case.algorithm.program(exact.plan.parameters, n) is None:
        raise SpecError(f"{case.algorithm.id} has no one-event program")
    if case.events.detail:
        raise SpecError("events that say more than who arrives have no closed form")
    arithmetic, actors = exact.arithmetic()[0], _round(case.events)
    law = EventLaw(np.array([Fraction(1, n)] * n, dtype=object), Fraction(0))
    return replace(arithmetic, program=InTurns(arithmetic.program, actors)), law


def _round(events: Events) -> list[int]:
    """Return the shortest sequence of arrivals that repeats."""
    actors: list[int] = events.actor.tolist()
    return next(actors[:turns] for turns in range(1, len(actors) + 1) if actors[turns:] == actors[:-turns])


def _require_settled(case: Case, exact: ExactEngine, controls: int) -> None:
    """Make sure that what the theorem reads off the schedule is the same at all later horizons.

    After at most so many events as there are control states the run repeats itself, after as many again staleness and
    weights do. Largest values, means and windows that are the same at all horizons of one round later stay so.

    Raises
    ------
    SpecError
        If something is not.
    """
    plan = exact.plan
    read = sorted((plan.values.keys() - plan.fixed.keys()) & plan.theorem.read)
    if not read:
        return
    if isinstance(case.events, RandomEvents):
        raise SpecError(f"{', '.join(read)}: read off random events, not known at all horizons")
    actors, last = _round(case.events), 4 * controls
    count = case.algorithm.events_for(plan.parameters, plan.problem.n, last)
    events = Events(np.arange(1.0, count + 1.0), np.resize(case.events.actor[: len(actors)], count))
    for k in range(3 * controls, last + 1):
        longer = replace(case, events=events, iterations=k, raw={**case.raw, "claim": {"k": k}})
        later = plan_of(plan.theorem, longer).values
        for name in read:
            if later[name] != plan.values[name]:
                at = f"{plan.values[name]:.6g} up to the horizon of the case, {later[name]:.6g} up to {k}"
                raise SpecError(f"{name} is {at}: it moves along the run")


# Growth of both sides along a family of cases: what refutes a printed O(·) whatever its constants are.
#
# A family begins at one case and moves symbols along which the unknown constants stay the same, and nothing else: the
# horizon, the noise, or the distance of the start; or the horizon, and at each another function, flatter than the one
# before. The left side is then a closed form, a sequence that obeys a linear recursion over Q or a polynomial, or
# bounded
# from below; the right side is bounded from above by its leading term.

Order = tuple[Fraction, Any]  # (q, a) of q^x·x^a
_SMALL: Final = apart("small", positive=True)
_SCALE: Final = sympy.Symbol("s", positive=True)
_SCALED: Final = {"noise": "the noise is s times that of the case", "start": "x0 is s times as far from x*"}
_LONG: Final = 160
# Where x_1 ≥ 1/2 and f = λ·x_1²/2: the left side is at least so much times λ to this power.
_FLAT: Final = {
    Quantity.DISTANCE: (0, sympy.Rational(1, 4)),
    Quantity.GAP: (1, sympy.Rational(1, 8)),
    Quantity.SLOPE: (2, sympy.Rational(1, 4)),
}
_OF_PROBLEMS: Final = ("function", "noise", "heterogeneity", "start", "schedule")
_KNOWN: Final = ("L", "R", "sigma", "F0", "mu")  # of these parabolas
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
    moved = {counter, "F0", *({"mu"} if "strongly-convex" in theorem.core.assumed else ())}
    if moved <= {*theorem.growth}:
        family = Growth(tuple(sorted(moved)), f"{counter} → ∞, f flatter and flatter")
        found.append(_asked(family, lambda: _over_curvature(case, engine, family)))
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


def _over_curvature(case: Case, engine: ExactEngine, family: Growth) -> Growth:
    """Follow f(x) = (λ·x_1² + x_2²)/2 from (1, 0) with λ = 1/(c·K): at each horizon another function.

    All models before the horizon are convex combinations of what at most M·K steps of at most a, one after the other,
    make of x_1 = 1. With c ≥ 2·a·M these leave (1 − a·λ)^(M·K) ≥ 1 − a·λ·M·K ≥ 1/2. Here L = R = 1, mu = λ, F0 = λ/2.
    """
    theorem, plan, form = engine.plan.theorem, engine.plan, engine.model.quadratic()
    counter = theorem.symbols[theorem.horizon_symbol].symbol
    _require_still(theorem, case, (counter.name, "F0", "mu"))
    strange = sorted({one for one in theorem.read if theorem.symbols[one].role in _OF_PROBLEMS} - {*_KNOWN})
    if strange or theorem.assume or theorem.points or BOUNDED_RUN in theorem.core.assumed:
        raise SpecError(f"{' and '.join(strange) or 'what is assumed beside'} is not known of flatter functions")
    passes, power = case.algorithm.averages(plan.parameters, plan.problem.n), _FLAT.get(plan.metric.quantity)
    if passes is None or (passes.every, passes.ahead) != (1, 0) or not 0.0 < passes.step_size < math.inf:
        raise SpecError(f"how far {case.algorithm.id} goes at most is not known")
    one = form is not None and not form.sigma and [*form.b, engine.model.x0] == [[Fraction(0)] * 2, [Fraction(1), 0]]
    if form is None or not one or form.A[0] != [[form.A[0][0][0], 0], [0, 1]]:
        raise SpecError("it is no parabola of two curvatures, from (1, 0)")
    if power is None or plan.metric.over.summed or plan.metric.shows is not None:
        raise SpecError(f"{plan.metric.id} is not about the server's models alone")
    c = sympy.Integer(2) ** (1 + math.ceil(math.log2(passes.step_size * passes.steps)))
    flat = 1 / (c * counter)
    left, right = power[1] * flat ** power[0], _right(engine, {counter.name: counter, "mu": flat, "F0": flat / 2})
    above = _at_most(right, counter)
    _require_at_least(case, engine, flat, left)
    refutes = above[0] < 1 or (above[0] == 1 and bool(-power[0] > above[1]))
    words = f"f(x) = (x_1²/({c}·{counter}) + x_2²)/2 from (1, 0), at each {counter} its own"
    how = f"at least {_order_words((1, -power[0]), counter.name)}"
    return _compared(replace(family, family=words), f"at least {left}", str(right), how, (above, counter.name), refutes)


def _require_at_least(case: Case, engine: ExactEngine, flat: sympy.Expr, left: sympy.Expr) -> None:
    """Look at one case of the family: its left side is not below the formula.

    Raises
    ------
    ArithmeticError
        If it is.
    """
    theorem, k = engine.plan.theorem, int(engine.plan.ks[-1])
    curvature, least = (one.subs(theorem.symbols[theorem.horizon_symbol].symbol, k) for one in (flat, left))
    problem = {**case.raw["problem"], "A": [[[str(curvature), 0], [0, 1]]]}
    found = ExactEngine.of(theorem, read_case({**case.raw, "problem": problem}, has_theorem=True)).fractional_left()
    if curvature <= 1 and found < Fraction(int(least.p), int(least.q)):
        raise ArithmeticError(f"a left side is {found}, and its formula says at least {least}")


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
    found = sympy.Add(*theorem.bound.terms.values())
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


def evaluate(theorem: Theorem, case: Case, *, derive: bool = False) -> ExactResult:
    """Evaluate both sides of a theorem on a case without sampling.

    Parameters
    ----------
    case
        With explicit events where the theorem is about each schedule; with delays where it is about the mean over
        random events.
    derive
        Whether the result has the derivation: floats have none.

    Raises
    ------
    AssumptionError
        If an assumption of the theorem is not met.
    SpecError
        If case and theorem do not fit, or no exact engine applies, saying why.
    """
    numbers.flint()
    if over(theorem).words:
        case = case.over_events()
    if theorem.left.in_seconds and not isinstance(case.events, RandomEvents):
        raise SpecError(
            f'{theorem.id} asks how long updates take, which events do not say: give "delays" in their place'
        )
    plan = plan_of(theorem, case)
    if theorem.left.in_seconds:  # its delays are certain: the run has one list of events
        case = replace(case, events=events_of(plan))
    if isinstance(case.events, RandomEvents) and plan.own_case and not plan.one_schedule:
        sure = "needs the one schedule that these delays make"
        why = sure if over(theorem).words else "is about each schedule by itself"
        raise SpecError(f'{theorem.id} {why}: give "events" in place of "delays"')
    found = _evaluated(plan, case, derive=derive)
    return replace(found, proof=of_events(plan, None if isinstance(case.events, RandomEvents) else case.events))


def _evaluated(plan: Plan, case: Case, *, derive: bool) -> ExactResult:
    theorem, model = plan.theorem, model_of(plan, case)
    why = _why_not(plan, model, case)
    if not why and model is not None:
        try:
            written = range_of(plan.metric) is None and not (plan.metric.over.summed or plan.metric.over.at_mean)
            return ExactEngine(plan, case, model).result(derive=derive and written and plan.metric.shows is None)
        except NoValueError as error:
            return replace(result(plan, case, str(error)), violated=False, decided=False, still="")
        except (InexactError, TooLongError, UndecidedError, TooManyError) as error:
            why = str(error)
    found = result(plan, case, why)
    if not theorem.growth:
        return found

    return replace(found, growth=growths(theorem, case))


def _why_not(plan: Plan, model: RationalProblem | None, case: Case) -> str:
    if isinstance(case.events, RandomEvents):
        reason = engine(*plan.random_run)[1]
        if reason:
            return reason
    if model is None:
        return f"problem {plan.problem.id} has no rational form"
    if not plan.theorem.bound.closed:
        return "the bound is a numerical recursion"
    random, at_mean = isinstance(case.events, RandomEvents), plan.metric.over.at_mean
    sure = at_mean if random else plan.problem.noiseless and (at_mean or range_of(plan.metric) is not None)
    if not (sure or plan.metric.from_expectations):
        return f"{plan.metric.id} is not a mean of recorded quantities"
    if plan.theorem.shape:
        return "a printed O(·) is a shape"
    if not plan.problem.noiseless and not has_moments(model) and model.sign_noise() is None:
        return (
            "noise is averaged exactly on quadratics, by moments, and where it is ± a rational vector, by enumeration"
        )
    if plan.metric.quantity is not Quantity.SLOPE and model.minimum() is None:
        return "the minimum is not found in rational numbers"
    return ""
