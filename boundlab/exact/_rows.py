"""The tables of a derivation: what the engine has added up, row by row, and its sum."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from math import lcm
from typing import TYPE_CHECKING, Any, Final, TypeAlias, final

import numpy as np
import sympy

from boundlab.algorithms import EventLaw
from boundlab.arithmetic import numbers
from boundlab.arithmetic.numbers import Scalar
from boundlab.arithmetic.problem import AtMinimum, Minimum, RationalProblem
from boundlab.arithmetic.writing import (
    Reason,
    Sentence,
    Written,
    cell,
    equals,
    is_,
    linear,
    math,
    say,
    tex,
    vector,
    words,
    written,
)
from boundlab.assumptions import INEXACT, UNBIASED
from boundlab.case import Case, RandomEvents
from boundlab.errors import UndecidedError
from boundlab.expectation import LISTED, RecordedOutcome, Steps
from boundlab.formulas.enclose import Formulas, KnownVector, scalar
from boundlab.formulas.written import written as formula_written
from boundlab.instance.plan import Plan
from boundlab.metrics import Quantity
from boundlab.tape import Tape
from boundlab.theorems import Theorem

if TYPE_CHECKING:
    from boundlab.expectation.moments import Moments

# Derivation for a referee: the instance, what happens on it, both sides, and why one is larger, as a value.

MOST: Final = 64  # rows of a table


@final
@dataclass(frozen=True, slots=True)
class Table:
    """Rows that are read off the exact engine.

    Parameters
    ----------
    columns
        Their heads.
    rows
        One entry a column.
    """

    columns: tuple[Sentence, ...]
    rows: tuple[tuple[Sentence, ...], ...]


@final
@dataclass(frozen=True, slots=True)
class Chain:
    """``left = 1/8·(1 − √15/20) + 7/8 = 1 − √15/160``, or a chain of equivalent inequalities.

    Parameters
    ----------
    first
        What stands before the first sign.
    links
        Signs, as they are written and in LaTeX, with what follows them.
    """

    first: Written
    links: tuple[tuple[str, str, Written], ...]


Item: TypeAlias = Sentence | Table | Chain


STANDS_ON: Final = "What it stands on"
"""The title of the last section: conditions, and what was read off the run, in numbers."""


@final
@dataclass(frozen=True, slots=True)
class DerivationSection:
    """A part of a derivation."""

    title: str
    items: tuple[Item, ...]


@final
@dataclass(frozen=True, slots=True)
class Derivation:
    """The way to both sides of a theorem on one case, from the exact engine's own numbers.

    Parameters
    ----------
    theorem
        Its id.
    by_hand
        Whether all that is added up is there: no row left out, no number shortened to a decimal.
    sections
        The instance; what happens; the two sides; the inequality.
    """

    theorem: str
    by_hand: bool
    sections: tuple[DerivationSection, ...]

    def tables(self) -> Iterator[Table]:
        """Yield the tables."""
        for section in self.sections:
            yield from (item for item in section.items if isinstance(item, Table))

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready fields, with all digits."""
        return {
            "by_hand": self.by_hand,
            "sections": [
                {"title": section.title, "items": [_as_dict(item) for item in section.items]}
                for section in self.sections
            ],
        }


def _as_dict(item: Item) -> Any:
    match item:
        case Sentence():
            return item.exact
        case Table(columns, rows):
            return {
                "columns": [column.text for column in columns],
                "rows": [[entry.exact for entry in row] for row in rows],
            }
        case Chain(first, links):
            return {"chain": [first.exact, *(f"{sign} {piece.exact}" for sign, _, piece in links)]}


def equalities(first: Written, *pieces: Written) -> Chain:
    """Return ``first = … = … ≈ …``; pieces that say the same as the one before are left out."""
    links: list[tuple[str, str, Written]] = []
    before = first.text
    for piece in pieces:
        if piece.text != before:
            links.append(("≈", r"\approx", piece) if piece.near else ("=", "=", piece))
            before = piece.text
    return Chain(first, tuple(links))


# Details that an exact engine gives beside the left side: the numbers that it was made of.

Point: TypeAlias = tuple[Scalar, ...]


@final
@dataclass(frozen=True, slots=True)
class Outcomes:
    """All that can happen, by what the metric sees.

    Parameters
    ----------
    each
        Where the metric looks at the average of the models before the last one, their points are these models.
    steps
        The local steps of all runs, where there is no noise.
    """

    each: list[RecordedOutcome]
    steps: list[Steps]


@final
@dataclass(frozen=True, slots=True)
class Models:
    """One schedule without noise: the server models 0, 1, …, and the tape that made them.

    Parameters
    ----------
    moves
        From where to where the local steps of each run lead, in the order of the runs.
    """

    each: list[Point]
    tape: Tape
    moves: list[tuple[Point, Point]]


@final
@dataclass(frozen=True, slots=True)
class MomentsOf:
    """Moments of the server models 0, 1, …; or of what the records show.

    Parameters
    ----------
    summed
        Whether those of the sums of the models before are among them, for a metric of their average.
    """

    each: "list[Moments]"
    summed: bool


ExactTrace: TypeAlias = Outcomes | Models | MomentsOf | None
"""None: more happens than a table has rows."""


# Explicit events of a case in words.

_LISTED = 12  # events that are listed


def schedule(events: Sequence[Sequence[Any]]) -> str:
    """Return the events of a case file in words, the first ones of many.

    Examples
    --------
    >>> schedule([[0.5, 0], [1.0, 0], [1.0, "s"], [1.5, 1, "step", 2]])
    'at 0.5 client 0; at 1 client 0, the server; at 1.5 client 1 step 2'
    """
    parts = [
        f"at {time:.6g} {', '.join(map(_said, own))}"
        for time, own in groupby(events[:_LISTED], key=lambda one: float(one[0]))
    ]
    more = [f"… {len(events)} events in all, as the case file has them"] if len(events) > _LISTED else []
    return "; ".join([*parts, *more])


def _said(event: Sequence[Any]) -> str:
    return " ".join(["the server" if event[1] == "s" else f"client {event[1]}", *map(str, event[2:])])


# Formulas of a theorem, as they stand and with numbers in place of symbols.


def formula(expression: sympy.Expr, theorem: Theorem, put_in: Mapping[str, Written] | None = None) -> Written:
    """Return a formula as ``boundlab show`` prints it.

    Parameters
    ----------
    put_in
        Numbers that stand in place of symbols; nothing is simplified.
    """
    near = False
    text = theorem.spelling()
    exact = dict(text)
    latex = {one: theorem.symbols[one.name].latex for one in expression.free_symbols if one.name in theorem.symbols}
    for symbol in expression.free_symbols:
        number = (put_in or {}).get(symbol.name)
        if number is not None:
            near = near or number.near
            text[symbol.name], exact[symbol.name] = _closed(number.text), _closed(number.exact)
            latex[symbol] = number.latex if number.text.isdecimal() else rf"\left({number.latex}\right)"
    return Written(
        formula_written(expression, theorem.symbols, text),
        sympy.latex(expression, symbol_names=latex),
        formula_written(expression, theorem.symbols, exact),
        near,
    )


def _closed(number: str) -> str:
    return number if number.isdecimal() else f"({number})"


# A case in one sentence, as a referee would say it: functions, clients, steps, start, who acts when, both sides.

_LOCAL = ("M", "Q", "local_steps")
_SAID = {Quantity.GAP: "the error", Quantity.SLOPE: "the mean of ‖∇f‖²", Quantity.DISTANCE: "the mean of ‖x − x*‖²"}
_COMMON = 100  # the largest denominator that two fractions are given in common
_LONGEST = 12  # letters of a fraction
_DIGITS = 15  # significant digits that a float has


def apart(left: float, right: float) -> tuple[str, str]:
    """Return two numbers with as many digits as tell them apart, four at least and where nothing does.

    Examples
    --------
    >>> apart(1.0, 0.999987714916225)
    ('1', '0.99999')
    """
    for digits in range(4, _DIGITS + 1):
        one, other = f"{left:.{digits}g}", f"{right:.{digits}g}"
        if float(one) != float(other):
            return one, other
    return f"{left:.4g}", f"{right:.4g}"


def counted(plan: Plan) -> str:
    """Return the horizon with what is counted."""
    k = int(plan.ks[-1])
    return f"{k} {'event' if plan.algorithm.server == 'any' else 'server update'}{'s' * (k != 1)}"


def sentence(
    plan: Plan, case: Case, model: RationalProblem, law: EventLaw[Fraction] | None, left: Scalar, right: Scalar
) -> str:
    """Return the case in words: f(x) = |x|, one client, …: after 4 events the error is 31/32, the bound 28/32."""
    functions = ", ".join(one.text for one in model.described()) or f"problem {plan.problem.id}"
    if model.n == 1:
        functions = functions.replace("f_0", "f")
    start = vector([numbers.rational(entry) for entry in model.x0]).text
    parts = [functions, "one client" if model.n == 1 else f"{model.n} clients"]
    if (noise := model.sign_noise()) is not None:
        parts.append(f"noise ±{vector([numbers.rational(entry) for entry in noise]).text}")
    parts += [*_settings(plan, case), f"x0 = {start}", *_who(plan, case, law)]
    what = _SAID.get(plan.metric.quantity, plan.theorem.left.expectation)
    here, bound = _sides(left, right)
    return f"{', '.join(parts)}: after {counted(plan)} {what} is {here}, the bound {bound}"


def _settings(plan: Plan, case: Case) -> Iterator[str]:
    letters, fixed = plan.theorem.spelling(), plan.theorem.core.fixed
    for name, value in {**case.raw.get("parameters", {}), **case.raw.get("settings", {})}.items():
        if name in fixed:
            continue
        text = _number(value)
        yield f"{text} local step{'s' * (text != '1')}" if name in _LOCAL else f"{letters.get(name, name)} = {text}"


def _number(value: Any) -> str:
    try:
        return str(Fraction(str(value)))
    except ValueError:
        return str(value)


def _who(plan: Plan, case: Case, law: EventLaw[Fraction] | None) -> Iterator[str]:
    """Yield who acts when, where that is not plain."""
    program, given = plan.algorithm.program(plan.parameters, plan.problem.n), str(case.raw.get("delays", ""))
    if law is not None and plan.algorithm.server == "any":
        p = ", ".join(map(str, law.p.tolist()))
        one = len(law.p) == 1
        same = one and law.p[0] == law.p_s
        yield f"p = p_s = {p}" if same else f"p = {p if one else f'({p})'}, p_s = {law.p_s}"
    elif program is not None and program.draws:
        drawn = (one for one in plan.algorithm.draws if one.when(plan.parameters, plan.problem.n))
        yield from (f"the algorithm draws {one.words}" for one in drawn)
    elif plan.problem.n > 1 and (rates := re.fullmatch(r"deterministic:rates=\[(.*)\]", given)) is not None:
        yield f"arrivals at rates {rates[1].replace(' ', '').replace(',', ' : ')}"
    elif plan.problem.n > 1:
        yield "clients equally fast" if given == "deterministic" else f"delays {given}" if given else "its own events"


def _sides(left: Scalar, right: Scalar) -> tuple[str, str]:
    rational = numbers.flint().fmpq
    if isinstance(left, rational) and isinstance(right, rational):
        both = numbers.fraction(left), numbers.fraction(right)
        common = lcm(*(one.denominator for one in both))
        if min(one.denominator for one in both) > 1 and common == max(one.denominator for one in both) <= _COMMON:
            one, other = (f"{one.numerator * (common // one.denominator)}/{common}" for one in both)
            return one, other
        if max(len(str(one)) for one in (left, right)) <= _LONGEST:  # a fraction of Python's has no text of any length
            return str(left), str(right)
    return apart(*(float(numbers.ball(one)) for one in (left, right)))


# The instance of a derivation in words and formulas: functions, start, algorithm, events, constants.

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
        return self.number(symbol)

    def number(self, term: Any) -> Scalar:
        """Return the value of a formula: an exact number, or a ball of the present precision."""
        exact = scalar(self.formulas.exact(term))
        return self.formulas.ball(term) if exact is None else exact


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
        error = "E_i f_i'" if at.plan.problem.why_not(INEXACT) else "e_i"
        yield words(f"every gradient that is taken has the error of its client added: f_i' stands for f_i' + {error}")
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
    program = plan.algorithm.program(plan.parameters, plan.problem.n)
    if not isinstance(at.case.events, RandomEvents):
        listed = plan.algorithm.events_as_json(at.case.events)
        # Where the server alone acts, as where everybody takes part in every step, there is nothing to tell.
        if any(one[1] != "s" for one in listed):
            yield words(f"who acts when: {schedule(listed)}")
    elif plan.one_schedule:
        yield say("every run has the same schedule")
    elif at.law is None or (program is not None and program.draws):
        yield say("the algorithm itself draws its clients, uniformly")
    else:
        yield _law(at, at.law)
    yield say("{} = {}", at.symbol(plan.theorem.horizon_symbol), words(counted(plan)))


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


_PATTERNS = 12  # of a row
_ADDENDS = 6  # of a sum that is written out
_LONG = 10  # points of a row of local steps


@final
@dataclass(frozen=True, slots=True)
class Account:
    """Account of what happens, and its total.

    Parameters
    ----------
    total
        The left side that the rows give.
    addends
        The sum written out, where it has few terms.
    by_hand
        Whether every row is there, with all its digits.
    """

    items: tuple[Item, ...]
    total: Scalar
    addends: Written
    by_hand: bool


def model_name(at: ExactSetting, when: str) -> Written:
    """Return the name of the server model after so many iterations: w where server updates are counted, else x."""
    letter = "w" if at.plan.theorem.horizon_symbol == "T" else "x"
    return math(f"{letter}_{when}", f"{letter}_{{{when}}}")


def shown_name(at: ExactSetting) -> Written:
    """Return the name of what one record shows at the end."""
    k = str(int(at.plan.ks[-1]))
    if at.plan.metric.over.averages_iterates:
        return math(f"x̄_{k}", rf"\bar x_{{{k}}}")
    return model_name(at, k)


def measure(at: ExactSetting, name: Written) -> Written:
    """Return what the metric measures at a point."""
    return math(*at.plan.metric.quantity.at(name.text, name.latex))


def metric_at(at: ExactSetting) -> Callable[[Sequence[Scalar]], Scalar]:
    """Return the metric of one record as a function of a point."""
    assert at.best is not None or at.plan.metric.quantity is Quantity.SLOPE  # noqa: S101  (the engine has asked)
    function = AtMinimum.of(at.model, at.best)
    return lambda point: at.plan.metric.at(function, np.array(point, dtype=object))


def share(at: ExactSetting) -> Scalar:
    """Return the weight of each record in the left side."""
    return numbers.rational(at.plan.metric.over.share(int(at.plan.ks[-1])) or 0)


def of_outcomes(at: ExactSetting, trace: Outcomes) -> Account:
    """Return one row for all sequences with the same records."""
    each = trace.each
    value, averaged = metric_at(at), at.plan.metric.over.averages_iterates and isinstance(at.case.events, RandomEvents)
    ends = [[_mean(one.points)] if averaged else one.points for one in each]
    values = [share(at) * added([value(point) for point in points]) for points in ends]
    common = max(range(len(each)), key=lambda place: each[place].sequences)
    every_model = averaged or not at.plan.metric.over.one_record  # else models may have moved and come back
    by_hand, rows = True, []
    for place, (one, points, found) in enumerate(zip(each, ends, values, strict=True)):
        if place == common and all(_same(point, at.model.x0) for point in one.points):
            ways = say(("all others" if len(each) > 1 else "all") + ": nothing moves" * every_model)
        elif at.plan.one_schedule and not at.model.sign_noise():
            ways = say("the only one")
        else:
            ways, listed = _sequences(one)
            by_hand &= listed
        shown = [_points(one.points), _points(points)] if averaged else [_points(points)]
        cells = [cell(written(one.p)), *shown, cell(written(found))]
        rows.append((ways, *cells))
    models = [say("{}", models_name(at))] if averaged else []
    columns = (say(_heading(each)), say("probability"), *models, say("{}", _seen(at)), say("{}", _measured(at)))
    pairs = [(one.p, found) for one, found in zip(each, values, strict=True)]
    total = added([numbers.rational(p) * found for p, found in pairs])
    said: list[Item] = [_key(each)] if len(each) > 1 else []
    if averaged:
        said.append(_average_of(at))
    said += _passes(trace.steps)
    unlisted = (
        [] if by_hand else [say("where not all sequences are listed, the JSON has up to {} of them", written(LISTED))]
    )
    short = shortened(rows)
    items = (*said, Table(columns, tuple(rows)), *unlisted, *short)
    return Account(items, total, _addends(pairs), by_hand and not short)


def shortened(rows: Sequence[Sequence[Sentence]]) -> list[Item]:
    """Return what is to be said where numbers are too long to be written."""
    any_short = any("≈" in entry.text for row in rows for entry in row)
    return [say("what stands behind ≈ is shortened; the JSON has all digits")] if any_short else []


def _average_of(at: ExactSetting) -> Sentence:
    k = int(at.plan.ks[-1])
    if k == 1:
        return say("{} = {}", shown_name(at), model_name(at, "0"))
    first, last = model_name(at, "0"), model_name(at, str(k - 1))
    mean = math(f"({first.text} + … + {last.text})/{k}", rf"({first.latex} + \dots + {last.latex})/{k}")
    return say(f"{{}} = {{}}, which event {k} does not move", shown_name(at), mean)


def _passes(steps: list[Steps]) -> list[Item]:
    """Return the local steps that are taken anywhere, in a row; nothing where these are too many to read."""
    if sum(min(len(one.points), _LONG) for one in steps) > MOST:
        return []
    found: list[Item] = []
    for one in steps:
        points = [cell(vector(point)) for point in one.points]
        arrows = " → ".join(["{}"] * len(points))
        if len(points) > _LONG:
            arrows = f"{{}} → {{}} → {{}} → … ({len(points) - 1} steps) … → {{}} → {{}}"
            points = [*points[:3], *points[-2:]]
        found.append(say(f"local steps of client {one.client}: {arrows}", *points))
    return found


def _mean(points: Sequence[Point]) -> Point:
    part = numbers.rational(1) / len(points)
    return tuple(part * added(column) for column in zip(*points, strict=True))


def _sequences(one: RecordedOutcome) -> tuple[Sentence, bool]:
    """Return the sequences of a row, and whether all of them are there."""
    if one.patterns is None:
        return words(f"{one.sequences} sequences"), False
    if len(one.patterns) > _PATTERNS:
        shown = _monospaced(one.patterns[:_PATTERNS])
        whole = _monospaced(one.patterns)
        more = say(f", … ({one.sequences} sequences in all)")
        return Sentence(shown.text + more.text, shown.latex + more.latex, whole.exact), False
    return _monospaced(one.patterns), True


def _monospaced(patterns: Sequence[str]) -> Sentence:
    text = ", ".join(patterns)
    return Sentence(text, ", ".join(rf"\texttt{{{tex(pattern)}}}" for pattern in patterns), text)


def _heading(each: list[RecordedOutcome]) -> str:
    letters = "".join(pattern for one in each for pattern in one.patterns or ())
    signs, events = any(sign in letters for sign in "+−±"), any(letter.isalnum() or letter == "*" for letter in letters)
    return "events and signs" if signs and events else "signs of the noise" if signs else "events"


def _key(each: list[RecordedOutcome]) -> Sentence:
    letters = "".join(pattern for one in each for pattern in one.patterns or ())
    said = []
    if any(letter.isdigit() for letter in letters):
        said.append("a number is an arrival of that client")
    if "S" in letters:
        said.append("S an aggregation")
    if "*" in letters:
        said.append("* whatever comes")
    if "{" in letters:
        said.append("{…} one of these")
    if "(" in letters:
        said.append("(…) who acts, with what else the event names")
    if any(sign in letters for sign in "+−±"):
        said.append("signs are those of noise on which something shown depends, step by step, ± either of them")
    return say(f"in the order of time: {', '.join(said)}")


def _points(points: Sequence[Point]) -> Sentence:
    """Return all records of a row; equal ones that follow each other once, with their number."""
    runs: list[list[Any]] = []
    for point in points:
        if runs and _same(runs[-1][0], point):
            runs[-1][1] += 1
        else:
            runs.append([point, 1])
    entries = [
        cell(vector(point)) if times == 1 else say(f"{{}} (×{times})", cell(vector(point))) for point, times in runs
    ]
    return say(", ".join(["{}"] * len(entries)), *entries)


def _same(a: Sequence[Any], b: Sequence[Any]) -> bool:
    def number(x: Any) -> Scalar:
        return numbers.rational(x) if isinstance(x, Fraction) else x

    try:
        return all(numbers.sign(number(one) - number(other)) == 0 for one, other in zip(a, b, strict=True))
    except UndecidedError:
        return False


def _seen(at: ExactSetting) -> Written:
    return shown_name(at) if at.plan.metric.over.one_record else models_name(at)


def models_name(at: ExactSetting) -> Written:
    """Return the names of all models before the last one."""
    last = int(at.plan.ks[-1]) - 1
    if last == 0:
        return model_name(at, "0")
    first, end = model_name(at, "0"), model_name(at, str(last))
    return math(f"{first.text}, …, {end.text}", rf"{first.latex}, \dots, {end.latex}")


def _measured(at: ExactSetting) -> Written:
    if at.plan.metric.over.one_record:
        return measure(at, shown_name(at))
    one = measure(at, model_name(at, "k"))
    return math(f"mean of {one.text}", rf"\text{{mean of }} {one.latex}")


def added(values: Sequence[Scalar]) -> Scalar:
    """Return the sum of at least one number."""
    return sum(values[1:], start=values[0])


def _addends(pairs: Sequence[tuple[Fraction, Scalar]]) -> Written:
    """Return 7/8·1 + 1/8·(1 − √15/20), or a sum over the rows."""
    if len(pairs) > _ADDENDS:
        return _sigma()
    terms = []
    for p, value in pairs:
        one = written(value)
        if " " in one.text:
            one = Written(f"({one.text})", rf"\left({one.latex}\right)", f"({one.exact})", one.near)
        terms.append((p, one))
    return linear(terms)


def _sigma() -> Written:
    return math(
        "Σ probability · value over the rows", r"\textstyle\sum \text{probability}\cdot\text{value over the rows}"
    )
