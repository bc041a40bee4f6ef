"""The exact engine on one case: both sides in rational numbers, or in balls of any precision."""

import contextlib
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any, final

import numpy as np
import sympy

from boundlab.algorithms import EventLaw
from boundlab.arithmetic import numbers
from boundlab.arithmetic.numbers import LARGEST_BITS, START_BITS, Scalar, ball, digits, rational
from boundlab.arithmetic.precision import decided
from boundlab.arithmetic.problem import AtMinimum, Core, InexactError, RationalProblem
from boundlab.arithmetic.writing import words
from boundlab.case import Case, RandomEvents
from boundlab.errors import SpecError, UndecidedError
from boundlab.exact import _record_trace as record
from boundlab.exact._conditions import require
from boundlab.exact._derivation import Derivation
from boundlab.exact._derive import derive as derivation_of
from boundlab.exact._instance import ExactSetting
from boundlab.exact._result import ExactResult
from boundlab.exact._sentence import sentence
from boundlab.exact._side import Side, weighted
from boundlab.exact._symbols import exact_law, formulas
from boundlab.exact._trace import ExactTrace, Outcomes
from boundlab.execute.rationals import TooLongError, exactly, run
from boundlab.expectation import (
    Arithmetic,
    core_of_schedule,
    core_over_events,
    engine,
    enumerated,
    enumerated_schedule,
    exact_parameters,
    exact_program,
    folded,
    moments_of_schedule,
    second_moments,
    twins,
)
from boundlab.formulas.known_numbers import Formulas, scalar
from boundlab.instance.enclosed import left_side
from boundlab.instance.from_case import plan_of
from boundlab.instance.plan import Plan
from boundlab.instance.seconds import require_last
from boundlab.metrics import Quantity
from boundlab.tape import RecordAt, Tape
from boundlab.theorems import Theorem
from boundlab.theorems import core as core_of

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
        found = None if reason else self._left().exact
        if not isinstance(found, numbers.flint().fmpq):
            raise SpecError(reason or "the left side is no fraction")
        return numbers.fraction(found)

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
                core=core_of(self.plan.theorem).sha256,
                sentence=sentence(
                    self.plan, self.case, self.model, self.law,
                    *(ball if side.exact is None else side.exact for side, ball in ((left, l_ball), (right, r_ball))),
                ),
            )  # fmt: skip
        return replace(found, derivation=self._derivation(found, left, right, above)) if derive else found

    def _derivation(self, found: ExactResult, left: Side, right: Side, above: bool | None) -> Derivation:
        best = self.model.minimum()
        verdict = words(f"{found.verdict}: {found.reason}")
        with digits(self._bits):
            trace = self._trace()
            method = _EVENTS if isinstance(trace, Outcomes) and self.method.startswith(_MOMENTS) else self.method
            at = ExactSetting(self.plan, self.case, self.model, best, self.formulas, self.law, found.constants, method)
            l_side, r_side = (side.at() if side.exact is None else side.exact for side in (left, right))
            return derivation_of(at, trace, l_side, r_side, above=above, verdict=verdict)

    # --------------------------------------------------------------------------------------------- the right side

    def _right(self) -> Side:
        total = sympy.Add(*self.plan.theorem.bound.expressions().values())
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
            parts.append((rational(share), self._of_one()))
        self.plan = whole
        return parts[0][1] if len(parts) == 1 and whole.summands[0][0] == 1 else weighted(parts)

    def _of_one(self) -> Side:
        return self._over_events() if isinstance(self.case.events, RandomEvents) else self._on_tape()

    def _over_events(self) -> Side:
        plan = self.plan
        law = self.event_law()
        ks, k = plan.ks[-1:], int(plan.ks[-1])
        if has_moments(self.model) and plan.metric.quantity is not Quantity.CONTROL:
            self.method = _MOMENTS
            self._trace = lambda: record.of_moments(self.model, self.arithmetic()[0], law, plan.metric, k, None)
            return self._with_precision(
                lambda: second_moments(self.model, self.arithmetic()[0], law, plan.metric, ks)[0]
            )

        core = core_over_events(self.model, self.arithmetic()[0], law, k)
        if core is not None:
            self.method = f"{_MOMENTS}: no run leaves the box where the functions are quadratics"
            self._trace = lambda: record.of_core(self.model, self.best, *self.arithmetic(), law, plan.metric, k, core)
            return self._with_precision(
                lambda: second_moments(self.model, self.arithmetic()[0], law, plan.metric, ks, core)[0]
            )

        alike = twins(plan.problem, law.p.astype(np.float64))

        def once() -> Scalar:
            return enumerated(self.model, self.best, *self.arithmetic(), law, alike, plan.metric, ks)[0]

        def trace() -> ExactTrace:
            return record.of_events(self.model, self.best, *self.arithmetic(), law, alike, plan.metric, k)

        try:
            found = self._with_precision(once)
        except SpecError as error:
            raise TooManyError(str(error)) from None
        self._trace = trace
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
                return self._over_noise(tape, in_full, values, k, balls=balls)
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
            return record.of_models(models, self.model, exact, about, bounds, exact=known)

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

    def _over_noise(
        self, tape: Tape, in_full: Callable[[], Tape], rates: list[Scalar], k: int, *, balls: bool
    ) -> Scalar:
        """Return the expectation over the noise, given the schedule; ``in_full`` gives its tape with all records."""
        each, metric = exactly(tape, rates, balls=balls), self.plan.metric

        def by_moments(core: Core | None) -> Scalar:
            def trace() -> ExactTrace:
                full = in_full()
                return record.of_moments_along(self.model, full, exactly(full, rates, balls=balls), metric, k, core)

            self._trace = trace
            return moments_of_schedule(self.model, tape, each, metric, k, core)

        if has_moments(self.model):
            return by_moments(None)
        unit = numbers.ball(numbers.rational(1)) if balls else numbers.one_like(*rates)
        core = core_of_schedule(self.model, tape, each, unit)
        if core is not None:
            return by_moments(core)
        self._trace = lambda: record.of_signs(self.model, self.best, tape, each, unit)
        return enumerated_schedule(self.model, self.best, tape, each, unit, metric, k)

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
