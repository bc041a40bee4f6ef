"""One row a server update: of a schedule without noise its models, of quadratics with noise their moments."""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import final

import numpy as np

from boundlab.arithmetic import numbers
from boundlab.arithmetic.numbers import Scalar
from boundlab.arithmetic.rational import ENGINE, rational
from boundlab.arithmetic.writing import Sentence, Written, about, cell, equals, is_, linear, math, say, vector, written
from boundlab.exact._derivation import MOST, Item, Table
from boundlab.exact._instance import ExactSetting
from boundlab.exact._linear import Rule, joint, power, rules, total
from boundlab.exact._rows import (
    Account,
    added,
    measure,
    metric_at,
    model_letter,
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
    table, left_out = _cut(columns, len(points), row)
    items: list[Item] = [*_local_steps(at, trace.tape), entering.rule(), table, *left_out]
    if closing is not None:
        items.append(closing)
    items += _closed(at, points, [] if over.one_record else values)
    short = shortened(table.rows)
    return Account((*items, *short), found, addends, entering.adds and not left_out and not short)


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
        items += _closed_moments([one.mean[0] for one in each], mean, "m", summed=False)
    follows: list[Item] = []
    if not one_row:
        square = math(f"E {away.text}", rf"\mathbb{{E}}\,{away.latex}")
        follows += _closed_moments([one.square for one in each], square, "v", summed=not over.one_record)
    if not follows and at.model.d == 1:
        follows += _joint_rule([one.square for one in each], [one.mean[0] for one in each])
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


def _cut(columns: Sequence[Sentence], n: int, row: Callable[[int], list[Sentence]]) -> tuple[Table, list[Item]]:
    """Return the table of n rows; of more than a hand can check the first and the last, and what is to be said then."""
    if n <= MOST:
        return Table(tuple(columns), tuple(tuple(row(place)) for place in range(n))), []
    first, last = (tuple(tuple(row(place)) for place in part) for part in (range(_FIRST), range(n - _LAST, n)))
    gap = tuple(say("…") for _ in columns)
    said = say(
        f"{n} rows: the first {_FIRST} and the last {_LAST} are shown, and all of them are added up. So this sum "
        "cannot be checked by hand row by row."
    )
    return Table(tuple(columns), (*first, gap, *last)), [said]


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


def _closed(at: ExactSetting, points: Sequence[Point], values: Sequence[Scalar]) -> Iterator[Item]:
    """Yield the linear recursion of the models, where there is one, and what it makes of the sum."""
    if at.model.d > 1:
        return
    sequence = [point[0] for point in points]
    for rule in rules(sequence):
        yield _rule(rule, sequence[rule.first], model_letter(at))
        if values:
            yield from _closed_sum(at, rule, sequence[rule.first :: rule.turns], values[rule.first :: rule.turns])


def _closed_sum(at: ExactSetting, rule: Rule, models: Sequence[Scalar], values: Sequence[Scalar]) -> Iterator[Item]:
    """Yield the sum of the metric over the models of one rule, where it is a multiple of (x − x*)²."""
    one = numbers.rational(1)
    if at.best is None or numbers.sign(rule.q * rule.q - one) == 0 or numbers.sign(rule.q) == 0:
        return
    star = numbers.rational(at.best.x[0])
    squares = [(model - star) * (model - star) for model in models]
    factor = next((value / square for value, square in zip(values, squares, strict=True) if numbers.sign(square)), None)
    if factor is None or any(
        numbers.sign(value - factor * square) for value, square in zip(values, squares, strict=True)
    ):
        return
    rest, n = rule.c / (one - rule.q) - star, len(models)
    away = models[0] - star - rest
    whole = factor * (
        n * rest * rest + 2 * rest * away * _series(rule.q, n) + away * away * _series(rule.q * rule.q, n)
    )
    if numbers.sign(whole - added(values)) != 0:
        raise ArithmeticError("the closed form of a recursion does not give the sum of its rows")
    pieces = [(2 * factor * rest * away, _geometric(rule.q, n)), (factor * away * away, _geometric(rule.q * rule.q, n))]
    what = measure(at, model_name(at, "k"))
    closed = linear(pieces, factor * n * rest * rest)
    if not closed.near:
        yield say(f"the {n} values of {{}} there add up to {{}} {{}}", what, closed, equals(whole))


def _closed_moments(sequence: Sequence[Scalar], what: Written, letter: str, *, summed: bool) -> Iterator[Item]:
    """Yield the recursion of a sequence, its closed form and its sum; nothing where it is constant, or has none."""
    found, one = rules(sequence), numbers.rational(1)
    if len(found) != 1 or found[0].first or numbers.sign(found[0].q - one) == 0 or numbers.sign(found[0].q) == 0:
        return
    rule, head, n = found[0], math(f"{letter}_k", f"{letter}_k"), len(sequence)
    rest = rule.c / (one - rule.q)
    first = math(f"{letter}_0", f"{letter}_0")
    yield say("{} = {} obeys {} from {} {}", head, what, _next(rule, letter), first, is_(written(sequence[0])))
    yield say("so {} {}", head, is_(linear([(sequence[0] - rest, _power(rule.q, "k"))], rest)))
    if not summed:
        return
    whole = total(rule, sequence[0], n)
    if numbers.sign(whole - added(sequence)) != 0:
        raise ArithmeticError("the closed form of a recursion does not give the sum of its rows")
    sum_ = math(f"{letter}_0 + … + {letter}_{n - 1}", rf"{letter}_0 + \dots + {letter}_{{{n - 1}}}")
    closed = linear([(sequence[0] - rest, _geometric(rule.q, n))], n * rest)
    yield say("and {} {} {}", sum_, is_(closed), equals(whole))


def _joint_rule(squares: Sequence[Scalar], means: Sequence[Scalar]) -> Iterator[Item]:
    """Yield how the next E (x − x*)² follows from this one and from E x, where it does."""
    found = joint(squares, means)
    if found is not None:
        square, mean, constant = found
        now = [(square, math("v_k", "v_k")), (mean, math("m_k", "m_k"))]
        names = math("m_k", "m_k"), math("v_k", "v_k")
        after = is_(linear(now, constant))
        yield say("with {} and {} for the two columns, {} {}", *names, math("v_{k+1}", "v_{k+1}"), after)


def _series(q: Scalar, n: int) -> Scalar:
    one = numbers.rational(1)
    return (one - power(q, n)) / (one - q)


def _geometric(q: Scalar, n: int) -> Written:
    """Return (1 − qⁿ)/(1 − q)."""
    ratio, rest = _power(q, str(n)), written(numbers.rational(1) - q)
    return Written(
        f"(1 − {ratio.text})/({rest.text})",
        rf"\frac{{1 - {ratio.latex}}}{{{rest.latex}}}",
        f"(1 − {ratio.exact})/({rest.exact})",
        ratio.near or rest.near,
    )


def _power(q: Scalar, exponent: str) -> Written:
    base = written(q)
    text, exact = (f"({one})^{exponent}" for one in (base.text, base.exact))
    return Written(text, rf"\left({base.latex}\right)^{{{exponent}}}", exact, base.near)


def _next(rule: Rule, letter: str) -> Written:
    now, then = math(f"{letter}_k", f"{letter}_k"), f"{letter}_{{k+{rule.turns}}}"
    after = is_(linear([(rule.q, now)], rule.c))
    return Written(f"{then} {after.text}", f"{then} {after.latex}", f"{then} {after.exact}")


def _rule(rule: Rule, start: Scalar, letter: str) -> Sentence:
    when = ", ".join(str(rule.first + turn * rule.turns) for turn in range(3))
    said = say(f"{{}} for k = {when}, …", _next(rule, letter))
    one = numbers.rational(1)
    if numbers.sign(rule.q - one) == 0 or numbers.sign(rule.q) == 0:
        return said
    rest = rule.c / (one - rule.q)
    index = f"{rule.first}+{rule.turns if rule.turns > 1 else ''}j".removeprefix("0+")
    name = math(f"{letter}_{index}" if index == "j" else f"{letter}_{{{index}}}", f"{letter}_{{{index}}}")
    return say("{}, so {} {}", said, name, is_(linear([(start - rest, _power(rule.q, "j"))], rest)))


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
        version, start = int(self._trace.tape.descend.version[run]), self._trace.moves[run][0]
        if version < len(self._trace.each) and _same(self._trace.each[version], start):
            return model_name(self._at, str(version))
        return about(vector(start))

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
