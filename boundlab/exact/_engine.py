"""The exact engine on one case: both sides in rational numbers, or in balls of any precision."""

import contextlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np
import sympy

from boundlab.algorithms import EventLaw
from boundlab.arithmetic import numbers
from boundlab.arithmetic.numbers import (
    LARGEST_BITS,
    START_BITS,
    InexactError,
    Scalar,
    ball,
    decided,
    digits,
    exact_array,
    rational,
)
from boundlab.arithmetic.problem import AtMinimum, RationalProblem, root
from boundlab.arithmetic.rational import TooLongError
from boundlab.arithmetic.writing import words
from boundlab.assumptions import FIXED_TIMES, definers
from boundlab.case import Case, RandomEvents, plain
from boundlab.delays import IndependentEvents
from boundlab.errors import AssumptionError, FormulaError, SpecError, UndecidedError
from boundlab.exact._derive import derive as derivation_of
from boundlab.exact._result import ExactResult
from boundlab.exact._rows import (
    MOST,
    Derivation,
    ExactSetting,
    ExactTrace,
    Models,
    MomentsOf,
    Outcomes,
    Point,
    sentence,
)
from boundlab.execute.rationals import exactly, run
from boundlab.expectation import (
    Arithmetic,
    Lowering,
    RecordedOutcome,
    Schedule,
    Steps,
    core_of as core_of_runs,
    engine,
    enumerated,
    exact_event_law,
    exact_parameters,
    exact_program,
    folded,
    looked_at,
    outcomes,
    pruned,
    told,
    twins,
)
from boundlab.formulas.assignments import of_arrivals
from boundlab.formulas.defined import broken
from boundlab.formulas.enclose import Formulas, KnownNumber, KnownVector, known_value, same, scalar
from boundlab.formulas.parse import parse
from boundlab.formulas.symbols import SYMBOLS
from boundlab.instance.from_case import given, never_moving, own_rates, plan_of
from boundlab.instance.plan import Plan, require_last
from boundlab.instance.readings import known_number, left_side
from boundlab.objective import StepBounds
from boundlab.options import parse_spec
from boundlab.tape import RecordAt, Tape
from boundlab.theorems import Condition, Theorem, core as core_of

if TYPE_CHECKING:
    from boundlab.expectation.moments import Moments

# A side of an inequality: exact, or as balls of any precision.


@final
@dataclass(frozen=True, slots=True)
class Side:
    """A number that can be had as a ball of any precision, and exactly where ``exact`` is not None."""

    exact: Scalar | None
    at: Callable[[], Any]

    @property
    def fraction(self) -> Fraction | None:
        """The number where it is rational."""
        return numbers.fraction(self.exact) if isinstance(self.exact, numbers.flint().fmpq) else None


def weighted(parts: Sequence[tuple[Scalar, Side]]) -> Side:
    """Return Σ share·side of rational shares."""

    def at() -> Any:
        return sum((ball(share) * side.at() for share, side in parts), start=ball(rational(0)))

    known = [share * side.exact for share, side in parts if side.exact is not None]
    return Side(sum(known[1:], start=known[0]) if len(known) == len(parts) else None, at)


# The values of a theorem's symbols for a case, exactly where they are known so.

_LAST_BIT = float(np.finfo(np.float64).eps) / 2


def exact_law(case: Case, plan: Plan) -> EventLaw[Fraction] | None:
    """Return the probabilities of random events as rational numbers, or None where they have none."""
    if not isinstance(case.events, RandomEvents):
        return None
    delays, policy = case.events.delays, case.events.policy
    n = case.problem.n
    if isinstance(delays, IndependentEvents):
        said = case.raw.get("delays")
        raw = said if isinstance(said, dict) else parse_spec(str(said), "delays")[1]
        if "p" in raw:
            entries = (
                raw["p"] if isinstance(raw["p"], list) else str(raw["p"]).strip().strip("[]").replace(",", " ").split()
            )
            p = tuple(numbers.read_number(entry, "p") for entry in entries)
            p_s = numbers.read_number(raw["p_s"], "p_s") if "p_s" in raw else 1 - sum(p, Fraction(0))
        else:
            p_s = numbers.read_number(raw["p_s"], "p_s") if "p_s" in raw else Fraction(1, n + 1)
            p = ((1 - p_s) / n,) * n
        if sum(p, p_s) == 1:
            return EventLaw(np.array(p, dtype=object), p_s)
    return exact_event_law(delays, policy, counted=getattr(plan.parameters, "count", None) is not None)


def formulas(plan: Plan, case: Case, model: RationalProblem, law: EventLaw[Fraction] | None) -> Formulas:
    """Return all symbols with values, and the rules of the others.

    Parameters
    ----------
    model
        The problem, whose constants are known exactly.
    """
    constants = model.constants()
    own, chosen = own_rates(plan.theorem, case), given(case)
    scheduled = set(plan.values) - set(plan.fixed)
    values: dict[str, KnownNumber | KnownVector] = {}
    for name, value in plan.values.items():
        if name in plan.theorem.step and name not in scheduled and (name not in chosen or name in own):
            continue  # follows from its formula
        if np.ndim(value):
            if plan.theorem.symbols[name].role == "schedule" and FIXED_TIMES not in definers(name):
                continue  # what follows from p is known by what p is made of
            best = model.minimum() if name == "G_star" else None
            if best is not None:
                there, zero = AtMinimum.of(model, best), exact_array([0] * model.d)
                squares = (numbers.fraction(there.squared_control(zero, i)) for i in range(model.n))
                values[name] = KnownVector(tuple(KnownNumber(root(one)) for one in squares))
                continue
            values[name] = known_value(value, partial(known_number, rounded=name in scheduled))
            continue
        values[name] = _known_number(name, float(value), plan, constants, scheduled)
    for name, value in chosen.items():
        if name in values and name not in own and (found := read_formula(value)) is not None:
            values[name] = KnownNumber(found)
    counter = plan.theorem.horizon_symbol
    values[counter] = KnownNumber.of(int(plan.ks[-1]))
    if plan.theorem.horizon == "fixed":
        values[counter] = KnownNumber.of(plan.iterations)
    if law is not None:
        values |= _frequencies(law, getattr(plan.parameters, "count", None)) if plan.algorithm.server == "any" else {}
    rules = {name: rule for name, rule in plan.theorem.defining().items() if name not in values}
    return Formulas(values, rules)


def _known_number(
    name: str, value: float, plan: Plan, constants: Mapping[str, sympy.Expr], scheduled: set[str]
) -> KnownNumber:
    if name in plan.theorem.read_off_runs:
        return KnownNumber(None, value, _LAST_BIT)  # an upper limit, and so is a number that is a last bit smaller
    if name in constants:
        return KnownNumber(constants[name])
    if value == 0.0 or (name in SYMBOLS and SYMBOLS[name].domain.integer):
        return KnownNumber.of(Fraction(value))
    if name in plan.constants or name in scheduled:
        return known_number(value, rounded=name in scheduled)
    return KnownNumber.of(Fraction(repr(value)))


def _frequencies(law: EventLaw[Fraction], count: int | None) -> dict[str, KnownNumber]:
    """Return n, p_s, p_min and qbar; where a count aggregates, the long-run fractions."""
    p, p_s = law.p.tolist(), law.p_s
    if count is not None:
        total = sum(p, Fraction(0))
        p_s = Fraction(1, count + 1)
        p = [one / total * (1 - p_s) for one in p]
    return {name: KnownNumber.of(value) for name, value in of_arrivals(p, p_s).items()}


def read_formula(value: Any) -> sympy.Expr | None:
    """Return a parameter as an exact SymPy number, or None if it is a word."""
    if isinstance(value, bool) or not isinstance(plain(value), (int, float)):
        return None
    if isinstance(value, str):
        try:
            found: sympy.Expr = parse(value, {})
        except FormulaError:  # a number of more digits than formulas have
            exact = numbers.read_number(value, "a parameter")
        else:
            return found
    else:
        exact = Fraction(repr(value))
    return sympy.Rational(exact.numerator, exact.denominator)


# The conditions of a theorem at exact numbers: met, broken, or not decided; there is no tolerance.

_BITS = (numbers.START_BITS, 16 * numbers.START_BITS)


def require(theorem: Theorem, formulas: Formulas) -> None:
    """Make sure that the numbers of a comparison meet all conditions.

    Raises
    ------
    AssumptionError
        If they break one, by however little.
    InexactError
        If one is not decided: numbers that are known up to rounding may be on either side of it.
    """
    for what, formula in theorem.formulas():
        if one := broken(theorem.demands(formula), lambda of: _number(of, formulas)):
            raise AssumptionError(f"{theorem.id}: {what} {one.fails}, {one.text}, on this case")
    for condition in theorem.conditions:
        met = _met(condition, formulas)
        if met is None:
            raise InexactError(f"whether {condition.statement} is met is not decided in exact numbers")
        if not met:
            sides = f" {'≥' if condition.strict else '>'} ".join(
                _text(side, formulas) for side in (condition.quantity, condition.limit)
            )
            raise AssumptionError(f"{theorem.id} needs {condition.statement}, got {sides}")


def _number(of: sympy.Expr, formulas: Formulas) -> float:
    """Return a number with the sign of a formula, ∞ where it divides by 0."""
    found = _sign(of, formulas, strict=True)
    if found is None:
        raise InexactError(f"whether {of} is 0 is not decided in exact numbers")
    return found


def _sign(of: sympy.Expr, formulas: Formulas, *, strict: bool) -> float | None:
    """Return the sign of a formula, ∞ where it divides by 0; of one that is ≥ 0, 0 may do; None: it is not decided."""
    exact = scalar(formulas.exact(of))
    if exact is not None:
        return float(numbers.sign(exact))
    for bits in _BITS:
        with numbers.digits(bits):
            found = formulas.ball(of)
            if found > 0 and not found.is_finite():
                return math.inf
            if found > 0 or found < 0:
                return 1.0 if found > 0 else -1.0
            if found >= 0 and not strict:
                return 0.0
    return None


def _met(condition: Condition, formulas: Formulas) -> bool | None:
    if same(condition.quantity, condition.limit, tuple(sorted(formulas.rules.items()))):
        return not condition.strict
    room = _sign(condition.limit - condition.quantity, formulas, strict=condition.strict)
    return None if room is None else bool(condition.meets(0, room))


def _text(side: Any, formulas: Formulas) -> str:
    exact = scalar(formulas.exact(side))
    with numbers.digits(numbers.START_BITS):
        return numbers.text(formulas.ball(side) if exact is None else exact)


# Ask an exact engine once more for what its left side was made of.

_LONGEST: Final = 10**5  # bits of a number of a table


def listed(ask: Callable[[], tuple[list[RecordedOutcome], list[Steps]]]) -> Outcomes | None:
    """Return all that can happen; None where it is more than a table has rows."""
    with contextlib.suppress(SpecError, UndecidedError):
        each, steps = ask()
        if len(each) <= MOST:
            return Outcomes(each, steps)
    return None


def of_moments(ask: "Callable[[Callable[[Moments], None]], Any]", *, summed: bool) -> MomentsOf:
    """Return the moments that a recursion tells on its way."""
    each: list[Moments] = []
    ask(each.append)
    return MomentsOf(each, summed)


def of_models(
    tape: Tape,
    model: RationalProblem,
    rates: Sequence[Scalar],
    balls: Sequence[Scalar],
    bounds: Sequence[StepBounds | None],
    *,
    exact: bool,
) -> Models:
    """Return the models of a schedule.

    Parameters
    ----------
    rates, balls
        The rates without rounding, and as balls of the present precision.
    bounds
        What local steps of each client do to errors.
    exact
        Whether the former are known.
    """
    shown: list[Point] = []
    moves: list[tuple[Point, Point]] = []

    def follow(values: Sequence[Scalar], *, as_balls: bool) -> Models:
        run(
            tape,
            model,
            values,
            lambda _m, x: shown.append(tuple(x)),
            balls=as_balls,
            longest=_LONGEST,
            moved=lambda x, y: moves.append((tuple(x), tuple(y))),
            bounds=bounds,
        )
        return Models(shown, tape, moves)

    if exact:
        try:
            return follow(rates, as_balls=False)
        except TooLongError:
            shown.clear()
            moves.clear()
    return follow(balls, as_balls=True)


_MOMENTS = "first and second moments by linear recursion"
_EVENTS = "enumeration of all event sequences, equal states merged"


class NoValueError(SpecError):
    """No precision gives the bound a value: what floats make of it decides nothing."""


class TooManyError(SpecError):
    """Enumeration meets too many states."""


def model_of(plan: Plan, case: Case) -> RationalProblem | None:
    """Return the problem in the rational numbers of the case; None where it has no such form."""
    options = {**case.raw.get("problem", {}), **({"x0": case.raw["x0"]} if "x0" in case.raw else {})}
    return plan.problem.rational(options)


def has_moments(model: RationalProblem) -> bool:
    """Return whether noise is averaged by second moments."""
    form = model.least_squares()
    return model.minimum() is not None and (model.quadratic() is not None or (form is not None and form.batch > 0))


@final
class ExactEngine:
    """The exact engine on one case."""

    def __init__(self, plan: Plan, case: Case, model: RationalProblem) -> None:
        self.plan, self.case, self.model = plan, case, model
        self.law = exact_law(case, plan)
        self.known = model.constants()
        self.formulas: Formulas = formulas(plan, case, model, self.law)
        if plan.metric.in_seconds:
            require_last(plan, self.formulas)
        self.plan = replace(plan, metric=left_side(plan.theorem, lambda: self.formulas, int(plan.ks[-1])))
        self.best = model.minimum()
        self.method = ""
        self._trace: Callable[[], ExactTrace]
        self._bits = START_BITS

    @classmethod
    def of(cls, theorem: Theorem, case: Case) -> "ExactEngine":
        """Return the engine on a case, whose numbers are exact and meet all conditions.

        Raises
        ------
        BoundlabError
            If there are no such numbers, or they do not.
        """
        plan = plan_of(theorem, case)
        model = model_of(plan, case)
        if model is None:
            raise InexactError(f"problem {plan.problem.id} has no rational form")
        found = cls(plan, case, model)
        require(theorem, found.formulas)
        return found

    def fractional_left(self) -> Fraction:
        """Return the left side where it is a fraction.

        Raises
        ------
        SpecError
            If it is none, or no exact engine applies.
        """
        reason = engine(*self.plan.random_run)[1] if isinstance(self.case.events, RandomEvents) else ""
        found = None if reason else self._left().fraction
        if found is None:
            raise SpecError(reason or "the left side is no fraction")
        return found

    def result(self, *, derive: bool) -> ExactResult:
        """Return both sides and what follows; ``derive``: and the derivation."""
        require(self.plan.theorem, self.formulas)
        right = self._right()
        left = self._left()
        above, exact = self._compare(left, right)
        with digits(START_BITS):
            l_ball, r_ball = left.at(), right.at()
            if not r_ball.is_finite():
                raise NoValueError("the bound has no finite enclosure here: it jumps, or divides 0 by 0")
            found = ExactResult(
                self.plan.theorem.id, float(l_ball), float(r_ball),
                numbers.text(l_ball if left.exact is None else left.exact), self._right_text(right, r_ball),
                "exact" if exact else "enclosure", above is True, self.method,
                int(self.plan.ks[-1]), self._values(), self._constants(),
                symbols=self.plan.symbols, decided=above is not None, objective=self.plan.objective,
                core=core_of(self.plan.theorem).sha256, left_exact=left.fraction, right_exact=right.fraction,
                still="" if above is not False else never_moving(self.plan, float(r_ball))[1],
                sentence=sentence(
                    self.plan, self.case, self.model, self.law,
                    *(ball if side.exact is None else side.exact for side, ball in ((left, l_ball), (right, r_ball))),
                ),
            )  # fmt: skip
        return replace(found, derivation=self._derivation(found, left, right, above)) if derive else found

    def _derivation(self, found: ExactResult, left: Side, right: Side, above: bool | None) -> Derivation:
        best = self.model.minimum()
        verdict = words(f"{found.headline}: {found.reason}")
        with digits(self._bits):
            trace = self._trace()
            method = _EVENTS if isinstance(trace, Outcomes) and self.method.startswith(_MOMENTS) else self.method
            at = ExactSetting(self.plan, self.case, self.model, best, self.formulas, self.law, found.constants, method)
            l_side, r_side = (side.at() if side.exact is None else side.exact for side in (left, right))
            return derivation_of(at, trace, l_side, r_side, above=above, verdict=verdict)

    # --------------------------------------------------------------------------------------------- the right side

    def _right(self) -> Side:
        total = sympy.Add(*self.plan.theorem.bound.terms.values())
        self.right_formula = self.formulas.exact(total)
        return Side(scalar(self.right_formula), lambda: self.formulas.ball(total))

    def _right_text(self, right: Side, about: Any) -> str:
        if right.exact is not None and self.right_formula is not None and self.right_formula.is_Rational:
            return numbers.text(right.exact)
        if self.right_formula is not None:
            return f"{self.right_formula} in {numbers.text(about)}"
        return numbers.text(about)

    # ---------------------------------------------------------------------------------------------- the left side

    def _left(self) -> Side:
        whole, parts = self.plan, list[tuple[Scalar, Side]]()
        for share, self.plan in whole.summands:
            random = isinstance(self.case.events, RandomEvents)
            parts.append((rational(share), self._over_events() if random else self._on_tape()))
        self.plan = whole
        return parts[0][1] if len(parts) == 1 and whole.summands[0][0] == 1 else weighted(parts)

    def _over_events(self) -> Side:
        plan = self.plan
        law = self.event_law()
        ks, k = plan.ks[-1:], int(plan.ks[-1])

        def all_events() -> tuple[list[RecordedOutcome], list[Steps]]:
            arithmetic, unit = self.arithmetic()
            return outcomes(self.model, self.best, unit, told(arithmetic, law, plan.metric, k))

        everywhere = has_moments(self.model) and plan.metric.quantity.of_moments
        core = (
            None
            if everywhere
            else core_of_runs(self.model, lambda: Lowering(self.arithmetic()[0], law, (), average=False).graph(k))
        )
        if everywhere or core is not None:
            from boundlab.expectation.moments import in_exact_numbers

            def moments(tell: "Callable[[Moments], None] | None" = None) -> Scalar:
                return in_exact_numbers(self.model, self.arithmetic()[0], law, plan.metric, ks, core, tell)[0]

            self.method = _MOMENTS + ": no run leaves the box where the functions are quadratics" * (not everywhere)
            # Two outcomes an event are few rows, which a hand follows more easily than moments.
            self._trace = lambda: (
                (None if everywhere or 2**k > MOST else listed(all_events))
                or of_moments(moments, summed=plan.metric.over.averages_iterates)
            )
            return self._with_precision(moments)

        alike = twins(plan.problem, law.p.astype(np.float64))

        def once() -> Scalar:
            arithmetic, unit = self.arithmetic()
            graph = looked_at(arithmetic, law, alike, plan.metric, ks)
            return enumerated(self.model, self.best, unit, graph, plan.metric, ks)[0]

        try:
            found = self._with_precision(once)
        except SpecError as error:
            raise TooManyError(str(error)) from None
        self._trace = lambda: listed(all_events)
        self.method = _EVENTS
        return found

    def event_law(self) -> EventLaw[Fraction]:
        if self.law is not None:
            return self.law
        program = self.case.algorithm.program(self.plan.parameters, self.plan.problem.n)
        if program is not None and program.draws:  # whoever arrives: nobody asks
            return EventLaw(np.array([Fraction(1, self.plan.problem.n)] * self.plan.problem.n), Fraction(0))
        raise TooLongError("the probabilities of the events are not rational numbers")

    def arithmetic(self) -> tuple[Arithmetic[Scalar], Scalar]:
        """Return how numbers of the program follow from rates, and 1 in the kind of numbers that they are."""
        plan = self.plan
        values, clients = plan.parameter_values, plan.problem.n
        of = self.case.algorithm, values, clients, plan.delays
        return exact_program(*of, plan.rates, lambda name: self._rate(name)())

    def _rate(self, name: str) -> Callable[[], Scalar]:
        """Return a rate of the algorithm: the theorem's own, or the case's."""
        symbol = sympy.Symbol(name, positive=True)
        found = self.plan.theorem.symbols[name].symbol if name in self.plan.theorem.symbols else symbol
        exact = scalar(self.formulas.exact(found))
        if exact is not None:
            return lambda: exact
        return lambda: self.formulas.ball(found)

    def _on_tape(self) -> Side:
        plan, rates = self.plan, self.plan.rates
        parameters = exact_parameters(plan.algorithm, plan.parameter_values, rates)
        k, events = int(plan.ks[-1]), self.case.events
        records, function = plan.metric.records([k]), AtMinimum.of(self.model, self.best)
        assert not isinstance(events, RandomEvents)  # noqa: S101  (for the type checker)

        def compiled(shown: RecordAt) -> Tape:
            return plan.algorithm.schedule(parameters, events, plan.problem.n, shown, k)

        tape = compiled(records)

        def in_full() -> Tape:
            return tape if records.average else compiled(RecordAt(np.arange(k + 1)))

        exact = [scalar(self.formulas.exact(plan.theorem.symbols[name].symbol)) for name in rates]
        bounds = [plan.problem.step_bounds(client) for client in range(plan.problem.n)]
        along = f"the schedule's {k} server updates in"

        def once(values: list[Scalar], *, balls: bool) -> Scalar:
            if not plan.problem.noiseless:
                return self._over_noise(tape, in_full, values, balls=balls)
            shown: list[Scalar] = []
            run(
                tape, self.model, values, lambda _m, x: shown.append(plan.metric.at(function, x)), balls=balls,
                bounds=bounds,
            )  # fmt: skip
            return folded(plan.metric, plan.ks[-1:], shown)[0]

        rate_balls = [self._rate(name) for name in rates]
        # Roots grow longer than balls; but at a kink to which signs lead back only equal numbers tell the side.
        kinks = any(one is None or one.kinks for one in bounds) and not plan.problem.noiseless
        roots = any(isinstance(rate, numbers.Surd) for rate in exact)
        known = all(rate is not None for rate in exact) and (kinks or not roots)

        def trace() -> ExactTrace:
            models = compiled(RecordAt(np.arange(k + 1)))
            about = [ball(rate()) for rate in rate_balls]
            return of_models(models, self.model, exact, about, bounds, exact=known)

        self._trace = trace  # where there is noise, those who average over it know better
        if known:
            try:
                value = once(exact, balls=False)
            except TooLongError:
                pass
            else:
                self.method = f"{along} rational numbers{' with a root' * roots}"
                return Side(value, lambda: ball(value))
        self.method = f"{along} balls"
        return self._with_precision(lambda: once([ball(rate()) for rate in rate_balls], balls=True))

    def _over_noise(self, tape: Tape, in_full: Callable[[], Tape], rates: list[Scalar], *, balls: bool) -> Scalar:
        """Return the expectation over the noise, given the schedule; ``in_full`` gives its tape with all records."""
        each, metric, everywhere = exactly(tape, rates, balls=balls), self.plan.metric, has_moments(self.model)
        ks = self.plan.ks[-1:]
        unit = numbers.ball(numbers.rational(1)) if balls else numbers.one_like(*rates)
        schedule = Schedule(tape, each, unit)
        core = None if everywhere else core_of_runs(self.model, schedule.graph)
        if everywhere or core is not None:
            from boundlab.expectation.moments import given_schedule

            def moments(tell: "Callable[[Moments], None]") -> Scalar:
                full = in_full()
                return given_schedule(self.model, full, exactly(full, rates, balls=balls), metric, ks, core, tell)[0]

            self._trace = lambda: of_moments(moments, summed=False)
            return given_schedule(self.model, tape, each, metric, ks, core)[0]
        graph = pruned(schedule.graph())
        self._trace = lambda: listed(lambda: outcomes(self.model, self.best, unit, graph))
        return enumerated(self.model, self.best, unit, graph, metric, ks)[0]

    def _with_precision(self, once: Callable[[], Scalar]) -> Side:
        """Run with more and more digits until every comparison is decided."""
        value, self._bits = decided(once)
        if not isinstance(value, numbers.flint().arb):
            return Side(value, lambda: ball(value))
        known = {self._bits: value}

        def at() -> Scalar:
            """Return it with so many digits as are asked for now, or as it was found with."""
            bits = max(numbers.flint().ctx.prec, self._bits)
            if bits not in known:
                known[bits] = once()
            return known[bits]

        return Side(None, at)

    def _compare(self, left: Side, right: Side) -> tuple[bool | None, bool]:
        """Return whether left > right, None where no precision tells, and whether both are exact."""
        a, b = left.exact, right.exact
        if a is not None and b is not None:
            roots = {numbers.fraction(side.r) for side in (a, b) if isinstance(side, numbers.Surd)}
            if len(roots) <= 1:
                return numbers.sign(a - b) > 0, True
        bits = START_BITS
        while bits <= LARGEST_BITS:
            with digits(bits), contextlib.suppress(UndecidedError):
                one, other = left.at(), right.at()
                if one > other or one <= other:
                    return bool(one > other), False
                if min(one.rel_accuracy_bits(), other.rel_accuracy_bits()) > 8 * START_BITS:
                    break  # a tie, for all that digits tell
            bits *= 4
        return None, False

    def _values(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, quantity in self.formulas.values.items():
            found[name] = str(quantity.exact) if quantity.exact is not None else quantity.about
        for name in self.plan.theorem.step:
            exact = self.formulas.exact(self.plan.theorem.symbols[name].symbol)
            if exact is not None:
                found[name] = str(exact)
        return found

    def _constants(self) -> dict[str, Any]:
        return {
            name: {"value": str(self.known[name]), "side": "exact", "how": "rational arithmetic"}
            if name in self.known
            else constant.as_dict()
            for name, constant in self.plan.constants.items()
            if name in self.plan.theorem.inputs()
        }
