"""The instance of a derivation in words and formulas: functions, start, algorithm, events, constants."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import numpy as np

from boundlab.algorithms import EventLaw
from boundlab.arithmetic import numbers
from boundlab.arithmetic.problem import Minimum, RationalProblem
from boundlab.arithmetic.reasons import Reason
from boundlab.arithmetic.writing import Sentence, Written, equals, is_, math, say, vector, words, written
from boundlab.assumptions import UNBIASED
from boundlab.case import Case, RandomEvents
from boundlab.exact._formula import formula
from boundlab.exact._schedule import schedule
from boundlab.exact._sentence import counted
from boundlab.formulas.known_numbers import Formulas, KnownVector, scalar
from boundlab.instance.plan import Plan

_NAMED = 8  # clients whose probabilities are written one by one


@final
@dataclass(frozen=True, slots=True)
class ExactSetting:
    """A case as the exact engine has it.

    Parameters
    ----------
    best
        The minimum, or None where nobody asks for it.
    law
        That of random events.
    constants, method
        As :class:`boundlab.exact.ExactResult` has them.
    """

    plan: Plan
    case: Case
    model: RationalProblem
    best: Minimum | None
    formulas: Formulas
    law: EventLaw[Fraction] | None
    constants: Mapping[str, Any]
    method: str

    def symbol(self, name: str) -> Written:
        """Return how a symbol of the theorem is written."""
        theorem = self.plan.theorem
        info = theorem.symbols.get(name)
        return math(theorem.spelling().get(name, name), name if info is None else info.latex)

    def value(self, name: str) -> Any:
        """Return the value of a symbol: an exact number, or a ball of the present precision; of a vector, a list."""
        import sympy

        known = self.formulas.values.get(name)
        if isinstance(known, KnownVector):
            return [one.ball() if one.exact is None else scalar(one.exact) for one in known.entries]
        symbol = self.plan.theorem.symbols[name].symbol if name in self.plan.theorem.symbols else sympy.Symbol(name)
        exact = scalar(self.formulas.exact(symbol))
        return self.formulas.ball(symbol) if exact is None else exact


def instance(at: ExactSetting) -> Iterator[Sentence]:
    """Yield what a referee has to write down first."""
    yield from _functions(at)
    yield from _noise(at)
    start = vector([numbers.rational(entry) for entry in at.model.x0])
    yield say("start {} = {}", math("x_0", "x_0"), start)
    if at.best is not None:
        star = vector([numbers.rational(entry) for entry in at.best.x])
        least = written(at.best.value)
        yield say("minimum {} = {} at {} = {}", math("f*", r"f^\star"), least, math("x*", r"x^\star"), star)
    yield from _algorithm(at)
    yield from _events(at)
    own, reasons = at.model.constants(), at.model.reasons()
    for name, constant in at.constants.items():
        if name in at.formulas.rules or name not in at.formulas.values:
            continue  # behind a constant that the formulas read in its place
        known = written(at.value(name))
        if name in reasons and constant["value"] == str(own.get(name)):
            yield _follows(at.symbol(name), reasons[name], at.value(name), known)
            continue
        side = "" if constant["side"] == "exact" else f", {constant['side']} value"
        yield say("{} {} ({})", at.symbol(name), is_(known), words(f"{constant['how']}{side}"))


def _follows(symbol: Written, why: Reason, value: Any, known: Written) -> Sentence:
    """Return a constant with the formula that it comes from: L = max_i w_i = max(1/2, 1) = 1."""
    parts = [one for one in why.parts if one.text != known.text]
    return say("{}" + " = {}" * len(parts) + " {}", symbol, *parts, equals(value))


def _functions(at: ExactSetting) -> Iterator[Sentence]:
    found = at.model.described()
    yield from found
    if not found:
        given = {key: value for key, value in at.case.raw.get("problem", {}).items() if key != "type"}
        options = "".join(f", {key} = {value}" for key, value in given.items())
        yield words(f"problem {at.plan.problem.id}{options}")
    weights = at.plan.algorithm.objective_weights(at.plan.parameters, at.model.n)
    if weights is not None and len(set(np.asarray(weights).tolist())) > 1:
        yield say("clients are numbered from 0 as in case files")
    elif at.model.n > 1:
        mean = math("(1/n) Σ_i f_i", r"\tfrac1n \sum_i f_i")
        yield say("f = {} over n = {} clients, numbered from 0 as in case files", mean, written(at.model.n))
    else:
        yield say("one client, numbered 0 as in case files, so that {}", math("f = f_0", "f = f_0"))
    if at.plan.problem.simple is not None:
        yield say(
            "what is minimised, and measured, is {} in the place of {}", math("F = f + h", "F = f + h"), math("f", "f")
        )


def _noise(at: ExactSetting) -> Iterator[Sentence]:
    signs, form = at.model.sign_noise(), at.model.least_squares()
    if at.plan.problem.noiseless:
        mean = at.plan.algorithm.along_mean(at.plan.parameters)
        whose = "the mean of all clients' full (sub)gradients" if mean else "the full (sub)gradient of its client"
        yield words(f"no noise: every local step takes {whose}")
    elif signs is not None:
        size = vector([numbers.rational(entry) for entry in signs])
        yield say(
            "noise: every gradient that is taken has {} added or subtracted, each with probability {}",
            size,
            written(Fraction(1, 2)),
        )
    elif form is not None and form.batch:
        drawn = "with" if form.replacement else "without"
        rows_ = "row" if form.batch == 1 else "rows"
        yield say(f"noise: every gradient is that of {{}} {rows_}, drawn {drawn} replacement", written(form.batch))
    elif (quadratic := at.model.quadratic()) is not None:
        rows = [vector([numbers.rational(entry) for entry in row]) for row in quadratic.covariance()]
        yield say(f"noise: every gradient has independent noise of covariance {', '.join(['{}'] * len(rows))}", *rows)
    if at.plan.problem.why_not(UNBIASED):
        yield words("every gradient that is taken has the error of its client added: f_i' stands for f_i' + e_i")
    if at.plan.problem.simple is not None:
        yield say("every local step is followed by the proximal map of h")


def _algorithm(at: ExactSetting) -> Iterator[Sentence]:
    theorem, plan = at.plan.theorem, at.plan
    given = {name: value for name, value in plan.parameter_values.items() if name not in theorem.step}
    names = sorted(given, key=list(plan.algorithm.parameters).index)
    options = ", ".join(f"{name} = {_option(given[name])}" for name in names)
    yield words(f"algorithm {plan.algorithm.id}{' with ' if options else ''}{options}")
    for name, rule in theorem.step.items():
        if name == theorem.horizon_symbol:
            continue
        known = name in at.formulas.values or rule == theorem.symbols[name].symbol or not rule.free_symbols
        follows = [] if known else [formula(rule, theorem)]
        yield say("{}" + " = {}" * len(follows) + " {}", at.symbol(name), *follows, equals(at.value(name)))


def _option(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_option, value))}]"
    return format(value, ".6g") if isinstance(value, (int, float)) and not isinstance(value, bool) else str(value)


def _events(at: ExactSetting) -> Iterator[Sentence]:
    plan = at.plan
    counter = at.symbol(plan.theorem.horizon_symbol)
    program = plan.algorithm.program(plan.parameters, plan.problem.n)
    if not isinstance(at.case.events, RandomEvents):
        yield words(f"who acts when: {schedule(plan.algorithm.events_as_json(at.case.events))}")
    elif plan.one_schedule:
        yield say("every run has the same schedule")
    elif at.law is None or (program is not None and program.draws):
        yield say("the algorithm itself draws its clients, uniformly")
    else:
        yield _law(at, at.law)
    yield say("{} = {}", counter, words(counted(plan)))


def _law(at: ExactSetting, law: EventLaw[Fraction]) -> Sentence:
    """Return who comes next with which probability."""
    p, counted = law.p.tolist(), getattr(at.plan.parameters, "count", None) is not None
    parts: list[Written] = []
    if at.plan.algorithm.server == "any" and not counted:
        first = "every event is, whatever came before, an aggregation S with probability {} or the arrival of "
        parts = [written(law.p_s)]
    elif len(p) == 1:
        return say("every arrival is that of client 0")
    else:
        p = [one / sum(p) for one in p]
        first = "of the clients at work one arrives next, with probabilities in the ratio of these: "
    if len(p) > 2 and len(set(p)) == 1:
        return say(f"{first}client i with {{}}, for i = 0, …, {len(p) - 1}", *parts, written(p[0]))
    each = ", ".join(f"client {i} with {{}}" for i in range(min(len(p), _NAMED))) + ", …" * (len(p) > _NAMED)
    return say(f"{first}{each}", *parts, *(written(one) for one in p[:_NAMED]))
