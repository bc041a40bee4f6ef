"""The tables of a derivation: what the engine has added up, row by row, and its sum."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import numpy as np

from boundlab.arithmetic import numbers
from boundlab.arithmetic.numbers import Scalar
from boundlab.arithmetic.problem import AtMinimum
from boundlab.arithmetic.writing import Sentence, Written, cell, linear, math, say, tex, vector, words, written
from boundlab.case import RandomEvents
from boundlab.errors import UndecidedError
from boundlab.exact._derivation import MOST, Item, Table
from boundlab.exact._instance import ExactSetting
from boundlab.exact._trace import Outcomes, Point
from boundlab.expectation import LISTED, RecordedOutcome, Steps
from boundlab.metrics import Quantity

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


def model_letter(at: ExactSetting) -> str:
    """Return the letter of the server model: w where server updates are counted, else x."""
    return "w" if at.plan.theorem.horizon_symbol == "T" else "x"


def model_name(at: ExactSetting, when: str) -> Written:
    """Return the name of the server model after so many iterations."""
    letter = model_letter(at)
    return math(f"{letter}_{when}", f"{letter}_{{{when}}}")


def shown_name(at: ExactSetting) -> Written:
    """Return the name of what one record shows at the end."""
    k = str(int(at.plan.ks[-1]))
    if at.plan.metric.over.averages_iterates:
        return math(f"x̄_{k}", rf"\bar x_{{{k}}}")
    return model_name(at, k)


def measure(at: ExactSetting, name: Written) -> Written:
    """Return what the metric measures at a point."""
    match at.plan.metric.quantity:
        case Quantity.DISTANCE:
            return math(f"‖{name.text} − x*‖²", rf"\|{name.latex} - x^\star\|^2")
        case Quantity.GAP:
            return math(f"f({name.text}) − f*", rf"f({name.latex}) - f^\star")
        case Quantity.CONTROL:
            return math(f"‖{name.text} − ∇f_i(x*)‖²", rf"\|{name.latex} - \nabla f_i(x^\star)\|^2")
        case Quantity.SLOPE:
            return math(f"‖∇f({name.text})‖²", rf"\|\nabla f({name.latex})\|^2")


def metric_at(at: ExactSetting) -> Callable[[Sequence[Scalar]], Scalar]:
    """Return the metric of one record as a function of a point."""
    assert at.best is not None or at.plan.metric.quantity is Quantity.SLOPE  # noqa: S101  (the engine has asked)
    function = AtMinimum.of(at.model, at.best)
    return lambda point: at.plan.metric.at(function, np.array(point, dtype=object))


def share(at: ExactSetting) -> Scalar:
    """Return the weight of each record in the left side."""
    return numbers.rational(at.plan.metric.over.share(int(at.plan.ks[-1])) or 0)


def of_outcomes(at: ExactSetting, trace: Outcomes) -> Account:
    """Return one row for all sequences with the same records; where there are too many, the law of each record."""
    if trace.each is None:
        return _record_rows(at, trace.records)
    return _outcome_rows(at, trace.each, trace.steps)


def _outcome_rows(at: ExactSetting, each: list[RecordedOutcome], steps: list[Steps]) -> Account:
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
    said += _passes(steps)
    unlisted = (
        [] if by_hand else [say("where not all sequences are listed, --json has up to {} of them", written(LISTED))]
    )
    short = shortened(rows)
    items = (*said, Table(columns, tuple(rows)), *unlisted, *short)
    return Account(items, total, _addends(pairs), by_hand and not short)


def shortened(rows: Sequence[Sequence[Sentence]]) -> list[Item]:
    """Return what is to be said where numbers are too long to be written."""
    any_short = any("≈" in entry.text for row in rows for entry in row)
    return [say("what stands behind ≈ is shortened; --json has all digits")] if any_short else []


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


def _record_rows(at: ExactSetting, records: list[list[tuple[Point, Fraction]]]) -> Account:
    """Return rows (record, point, probability, metric); beyond the limit the largest, and the sum of the others."""
    value, part = metric_at(at), share(at)
    several = len(records) > 1
    flat = [(place, point, p, value(point)) for place, record in enumerate(records) for point, p in record if p]
    total = part * added([numbers.rational(p) * found for _, _, p, found in flat])
    shown, rest = flat, []
    if len(flat) > MOST:
        ranked = sorted(range(len(flat)), key=lambda j: -float(numbers.ball(numbers.rational(flat[j][2]) * flat[j][3])))
        kept = set(ranked[: MOST - 1])
        shown, rest = [flat[j] for j in sorted(kept)], [flat[j] for j in ranked[MOST - 1 :]]
    name = model_name(at, "k") if several else _seen(at)
    columns = [say("probability"), say("{}", name), say("{}", measure(at, name) if several else _measured(at))]
    rows = [[cell(written(p)), cell(vector(point)), cell(written(found))] for _, point, p, found in shown]
    if several:
        columns = [say("k"), *columns]
        rows = [[say(str(place)), *row] for (place, *_), row in zip(shown, rows, strict=True)]
    items: list[Item] = [say("event sequences are added up by final state here, and not listed")]
    if rest:
        p = sum((one[2] for one in rest), Fraction(0))
        sum_ = added([numbers.rational(one[2]) * one[3] for one in rest])
        mean = sum_ / numbers.rational(p)
        others = [cell(written(p)), say(f"{len(rest)} others"), cell(written(mean))]
        rows.append([say(""), *others] if several else others)
        items.append(
            say(
                f"{len(flat)} states: the {len(shown)} that weigh most are shown, and of the {len(rest)} others the "
                "probability and the mean. So this sum cannot be checked by hand."
            )
        )
    table = Table(tuple(columns), tuple(tuple(row) for row in rows))
    return Account((*items, table, *shortened(rows)), total, _sigma(), False)


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
