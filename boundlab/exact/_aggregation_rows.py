"""One row a server update: of a schedule without noise its models, of quadratics with noise their moments."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import final

import numpy as np

from boundlab.arithmetic import numbers
from boundlab.arithmetic.numbers import Scalar
from boundlab.arithmetic.rational import ENGINE, rational
from boundlab.arithmetic.writing import Sentence, Written, about, cell, is_, linear, math, say, vector, written
from boundlab.exact._derivation import MOST, Item, Table
from boundlab.exact._instance import ExactSetting
from boundlab.exact._recursions import closed_moments, joint_rule, recursion
from boundlab.exact._repeats import Entering, goes_on
from boundlab.exact._rows import (
    Account,
    added,
    measure,
    metric_at,
    model_name,
    share,
    shortened,
    shown_name,
)
from boundlab.exact._trace import Models, MomentsOf, Point
from boundlab.metrics import Quantity
from boundlab.tape import Tape

_FIRST, _LAST = 12, 2  # rows of a summary
_CLIENTS = 4  # whose local steps are written one by one
_ROUNDING = 1e-12  # of the floats of a tape

_Entry = tuple[int, Fraction]


def of_models(at: ExactSetting, trace: Models) -> Account:
    """Return the models after each update, what enters them, and the metric where it looks."""
    value, k = metric_at(at), int(at.plan.ks[-1])
    over = at.plan.metric.over
    last = k if over.one_record and not over.averages_iterates else k - 1
    points = trace.each[: last + 1]
    entering = _Contributions(at, trace)
    columns = [say("{}", math("t", "t")), say(entering.title), say("{}", model_name(at, "t"))]
    values: list[Scalar] = []
    if not over.averages_iterates:
        columns.append(say("{}", measure(at, model_name(at, "t"))))
        values = [value(point) for point in points]

    def row(t: int) -> list[Sentence]:
        measured = [cell(written(values[t]))] if values else []
        return [say(str(t)), entering.words(t), cell(vector(points[t])), *measured]

    if over.averages_iterates:
        average = tuple(added([point[j] for point in points]) / numbers.rational(k) for j in range(at.model.d))
        found = value(average)
        closing = say("{} {} is the mean of these", shown_name(at), is_(vector(average)))
        addends = measure(at, shown_name(at))
    elif over.one_record:
        found, closing, addends = values[-1], None, measure(at, model_name(at, str(k)))
    else:
        found, closing, addends = share(at) * added(values), None, _mean_of_rows(k)
    closed = recursion(at, points, [] if over.one_record else values)
    again = goes_on(at, entering.each()[:last], closed.rules, _FIRST) if closed.summed else None
    enough = 0 if again is None or shortened([row(t) for t in range(again.rows)]) else again.rows
    table, left_out = _cut(columns, len(points), row, enough)
    items: list[Item] = [*_local_steps(at, trace.tape), *entering.equal_steps(last), entering.rule(), table, *left_out]
    if closing is not None:
        items.append(closing)
    if again is not None:
        items.append(again.said)
    items += closed.items
    short = shortened(table.rows)
    return Account((*items, *short), found, addends, enough > 0 or (entering.adds and not left_out and not short))


def of_moments(at: ExactSetting, trace: MomentsOf) -> Account:
    """Return first and second moments of the models."""
    k, over, each = int(at.plan.ks[-1]), at.plan.metric.over, trace.each
    one_row = over.averages_iterates and not trace.summed
    last = k if over.one_record and not over.averages_iterates else k - 1
    model = shown_name(at) if one_row else model_name(at, "k")
    end = each[-1]
    each = each if one_row else each[: last + 1]
    away = _away(at, model)
    columns = [say("k"), say("E {}", model), say("E {}", away)]
    values = [one.metric for one in each]
    measured = not trace.summed and at.plan.metric.quantity is not Quantity.DISTANCE  # that is a column already
    items: list[Item] = []
    if trace.summed:
        letter = model.text[0]
        sum_ = math(f"S_k = Σ_{{j<k}} ({letter}_j − x*)", rf"S_k = \sum_{{j<k}} ({letter}_j - x^\star)")
        cross, square = math(f"({model.text} − x*)·S_k", rf"({model.latex} - x^\star)^{{\top}} S_k"), _norm("S_k")
        columns += [say("E {}", cross), say("E {}", square)]
        items.append(say("with {}: E {} = E {} + 2·E {} + E {}", sum_, _norm("S_{k+1}"), square, cross, away))
    if measured:
        columns.append(say("E {}", measure(at, model)))

    def row(place: int) -> list[Sentence]:
        one = each[place]
        more = one.sums if trace.summed and one.sums is not None else (one.metric,) * measured
        when = k if one_row else one.k
        return [say(str(when)), cell(vector(one.mean)), *(cell(written(entry)) for entry in (one.square, *more))]

    if over.one_record:
        found = values[-1] if end.average is None else end.average
        seen = measure(at, shown_name(at))
        addends = math(f"E {seen.text}", rf"\mathbb{{E}}\,{seen.latex}")
    else:
        found, addends = share(at) * added(values), _mean_of_rows(k)
    table, left_out = _cut(columns, len(each), row)
    items += [table, *left_out]
    if at.model.d == 1 and not one_row:
        mean = math(f"E {model.text}", rf"\mathbb{{E}}\,{model.latex}")
        items += closed_moments([one.mean[0] for one in each], mean, "m", summed=False)
    follows: list[Item] = []
    if not one_row:
        square = math(f"E {away.text}", rf"\mathbb{{E}}\,{away.latex}")
        follows += closed_moments([one.square for one in each], square, "v", summed=not over.one_record)
    if not follows and at.model.d == 1:
        follows += joint_rule([one.square for one in each], [one.mean[0] for one in each])
    by_hand = len(follows) > 0 and not trace.summed
    if not by_hand:
        follows.append(say("how a row follows from the one before is not written out here"))
    short = shortened(table.rows)
    return Account((*items, *follows, *short), found, addends, by_hand and not left_out and not short)


def _norm(name: str) -> Written:
    return math(f"‖{name}‖²", rf"\|{name}\|^2")


def _away(at: ExactSetting, model: Written) -> Written:
    if at.best is not None and not any(at.best.x) and at.model.d == 1:
        return math(f"{model.text}²", f"{model.latex}^2")
    return math(f"‖{model.text} − x*‖²", rf"\|{model.latex} - x^\star\|^2")


def _mean_of_rows(k: int) -> Written:
    return math(f"(1/{k}) Σ of the last column", rf"\tfrac{{1}}{{{k}}} \textstyle\sum \text{{of the last column}}")


def _cut(
    columns: Sequence[Sentence], n: int, row: Callable[[int], list[Sentence]], enough: int = 0
) -> tuple[Table, list[Item]]:
    """Return the table of n rows; of more than a hand can check the first and the last, and what is to be said then.

    Parameters
    ----------
    enough
        Rows from which the others follow, by what is said below: those with shortened numbers are then left out.
        0: they do not follow.
    """
    head = [row(place) for place in range(min(n, MOST))]
    if n <= MOST and not (enough and shortened(head)):
        return Table(tuple(columns), tuple(map(tuple, head))), []
    first = next((place for place in range(enough, _FIRST) if enough and shortened([head[place]])), _FIRST)
    end = [row(place) for place in range(n - _LAST, n)]
    end = [] if enough and shortened(end) else end
    gap = tuple(say("…") for _ in columns)
    cut = f"{n} rows: the first {first}{f' and the last {_LAST}' if end else ''} are shown"
    rest = "; the others follow from these" if enough else ", and all of them are added up. So this sum cannot be "
    said = say(f"{cut}{rest}" + ("" if enough else "checked by hand row by row."))
    return Table(tuple(columns), (*map(tuple, head[:first]), gap, *map(tuple, end))), [said]


def _local_steps(at: ExactSetting, tape: Tape) -> Iterator[Sentence]:
    """Yield what a local step does on the line, if all steps have one size."""
    sizes = set(tape.descend.step_size.tolist())
    plain = at.model.d == 1 and at.plan.problem.simple is None and not tape.implicit.any()
    if not plain or len(sizes) != 1 or len(tape.local) or not at.plan.theorem.step:
        return
    size, near = at.value(next(iter(at.plan.theorem.step))), sizes.pop()
    if abs(float(numbers.ball(size)) - near) > _ROUNDING * near:
        return
    y = math("y", "y")
    slope = math("f_i'(y)", "f_i'(y)")
    yield say("a local step of client i takes {} to {}", y, about(linear([(1, y), (-size, slope)])))
    quadratic, core = at.model.quadratic(), at.model.core()
    form = quadratic if quadratic is not None else None if core is None else core.form
    if form is None or not isinstance(size, numbers.flint().fmpq):
        return
    where = ""
    edges: list[Written] = []
    if core is not None and quadratic is None:
        where, edges = " for {} ≤ {} ≤ {}", [written(core.low[0]), y, written(core.high[0])]
    for client, (A, b) in enumerate(zip(form.A[:_CLIENTS], form.b, strict=False)):
        part = numbers.fraction(size) * A[0][0]
        yield say(f"so of client {client} to {{}}{where}", about(linear([(1 - part, y)], part * b[0])), *edges)


@final
class _Contributions:
    """Contributions to each server model: the runs behind it, with their weights.

    Where w_t = w_{t−1} + Σ weight·(y − y_0) for all t, or w_t = Σ weight·y, checked in the numbers of the run, with y_0
    and y where the local steps of a run begin and end, the rows say so. Otherwise they say who arrives, and no more.
    """

    def __init__(self, at: ExactSetting, trace: Models) -> None:
        self._at, self._trace = at, trace
        each = [self._entries(t) for t in range(1, len(trace.each))]
        equal = [[(run, Fraction(1, len(some))) for run, _ in some] for some in each]
        choices = [(one, moves) for moves in (True, False) for one in (each, equal)]
        fit = (choice for choice in choices if self._made_of(choice[0], moves=choice[1]))
        chosen = next(fit, None)
        self._entering: Sequence[Sequence[_Entry]] | None = None if chosen is None else chosen[0]
        self._moves = chosen is not None and chosen[1]
        self._arriving = each

    @property
    def adds(self) -> bool:
        """True if each model follows from the one before and from what the rows say."""
        return self._entering is not None

    @property
    def title(self) -> str:
        """Title of the column: what it shows."""
        return "what enters" if self.adds else "who arrives"

    def rule(self) -> Sentence:
        """Return how a row follows from the one before."""
        now, y, start = model_name(self._at, "t"), math("y", "y"), math("y_0", "y_0")
        if not self.adds:
            return say("how {} follows from what arrives is the algorithm's, and not written out here", now)
        weighted = r"\textstyle\sum \text{weight} \cdot"
        total = math("Σ weight·y", rf"{weighted} y")
        if self._moves:
            then = f"{now.text[0]}_{{t"
            total = math(f"{then}−1}} + Σ weight·(y − y_0)", rf"{then}-1}} + {weighted} (y - y_0)")
        return say("{} = {}, where the local steps of a run lead from {} to {}", now, total, start, y)

    def equal_steps(self, last: int) -> Iterator[Sentence]:
        """Yield how far all steps of a client up to a row lead on the line, where that is the same: a slope stays."""
        descend, moves = self._trace.tape.descend, dict[int, list[Scalar]]()
        for run, _ in itertools.chain.from_iterable((self._entering or ())[:last]):
            start, end = self._trace.moves[run]
            moves.setdefault(int(descend.client[run]), []).append((end[0] - start[0]) / int(descend.steps[run]))
        for client, each in sorted(moves.items())[: _CLIENTS * (self._at.model.d == 1)]:
            if len(each) > 1 and not _zero(each[0]) and all(_zero(one - each[0]) for one in each):
                y = math("y", "y")
                yield say(f"all local steps of client {client} lead from {{}} to {{}}", y, linear([(1, y)], each[0]))

    def each(self) -> list[list[Entering]]:
        """Return what enters each row after the start; nothing where the models do not follow from it."""
        return [[self._entry(run, weight) for run, weight in some] for some in self._entering or ()]

    def _entry(self, run: int, weight: Fraction) -> Entering:
        descend, start = self._trace.tape.descend, self._trace.moves[run][0]
        return Entering(int(descend.client[run]), weight, int(descend.steps[run]), self._version(run), start[0])

    def words(self, t: int) -> Sentence:
        """Return the cell of a row."""
        if t == 0:
            return say("the start")
        descend = self._trace.tape.descend
        if self._entering is None:
            clients = sorted({int(descend.client[run]) for run, _ in self._arriving[t - 1]})
            return say(_clients(clients) if clients else "–")
        together: dict[tuple[str, Fraction, int], tuple[Written, list[int]]] = {}
        for run, weight in self._entering[t - 1]:
            start = self._start(run)
            key = start.exact, weight, int(descend.steps[run])
            together.setdefault(key, (start, []))[1].append(int(descend.client[run]))
        parts = []
        for (_, weight, steps), (start, clients) in together.items():
            share = "" if weight == 1 else f"{weight} of "
            many = f" ({steps} steps)" if steps > 1 else ""
            parts.append(say(f"{share}{_clients(sorted(clients))} from {{}}{many}", start))
        return say("; ".join(["{}"] * len(parts)) or "–", *parts)

    def _start(self, run: int) -> Written:
        """Return where the local steps of a run begin: at a server model, or at a point of the client's own."""
        version = self._version(run)
        return about(vector(self._trace.moves[run][0])) if version is None else model_name(self._at, str(version))

    def _version(self, run: int) -> int | None:
        """Return the server model where the local steps of a run begin; None: it is a point of the client's own."""
        version = int(self._trace.tape.descend.version[run])
        seen = self._trace.each[version : version + 1]
        return version if seen and _same(seen[0], self._trace.moves[run][0]) else None

    def _entries(self, t: int) -> list[_Entry]:
        """Return the runs of update t − 1 → t, with the weights that the tape gives them."""
        tape = self._trace.tape
        uses = tape.uses
        mine = np.flatnonzero(uses.version == t - 1)
        if len(mine):
            weights = [rational(float(uses.weight[j]), ENGINE) for j in mine.tolist()]
            return [
                (int(uses.update[j]), weight or Fraction(0)) for j, weight in zip(mine.tolist(), weights, strict=True)
            ]
        events = np.flatnonzero(np.diff(tape.version) > 0)
        arrived = np.flatnonzero(np.isin(tape.descend.arrival, events[t - 1 : t]))
        return [(int(run), Fraction(1)) for run in arrived.tolist()]

    def _made_of(self, each: Sequence[Sequence[_Entry]], *, moves: bool) -> bool:
        points, zero = self._trace.each, numbers.rational(0)
        for t, entries in enumerate(each, 1):
            expected = list(points[t - 1]) if moves else [zero] * len(points[t - 1])
            for run, weight in entries:
                start, end = self._trace.moves[run]
                share = numbers.rational(weight)
                expected = [x + share * y for x, y in zip(expected, end, strict=True)]
                if moves:
                    expected = [x - share * y for x, y in zip(expected, start, strict=True)]
            if not _same(tuple(expected), points[t]):
                return False
        return True


def _same(one: Point, other: Point) -> bool:
    """Return whether two points are equal, or are balls that nothing tells apart."""
    return all(_zero(a - b) for a, b in zip(one, other, strict=True))


def _zero(x: Scalar) -> bool:
    return bool(x.contains(0)) if isinstance(x, numbers.flint().arb) else numbers.sign(x) == 0


def _clients(clients: Sequence[int]) -> str:
    return f"client{'s' * (len(clients) > 1)} {', '.join(map(str, clients))}"
