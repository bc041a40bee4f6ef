"""The table of a run in fractions, how a row follows from those before, and both sides from their formulas."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, final

import numpy as np

from boundlab.arithmetic import numbers
from boundlab.arithmetic.numbers import Scalar, rational, sign
from boundlab.arithmetic.rational import ENGINE, rational as simple_fraction
from boundlab.arithmetic.writing import (
    Relation,
    Sentence,
    Written,
    about,
    between,
    cell,
    decimal,
    equals,
    is_,
    linear,
    math,
    say,
    sides,
    steps,
    tex,
    vector,
    words,
    written,
)
from boundlab.exact._rows import (
    MOST,
    STANDS_ON,
    Account,
    Chain,
    Derivation,
    DerivationSection,
    ExactSetting,
    ExactTrace,
    Item,
    Models,
    MomentsOf,
    Outcomes,
    Point,
    Table,
    added,
    equalities,
    formula,
    instance,
    measure,
    metric_at,
    model_letter,
    model_name,
    of_outcomes,
    share,
    shortened,
    shown_name,
)
from boundlab.formulas.known_numbers import scalar
from boundlab.formulas.symbols import names_of
from boundlab.metrics import Quantity
from boundlab.tape import Tape
from boundlab.theorems import Theorem

# Sequences that obey y ← q·y + c, with as many rules as the schedule has turns: found, and checked at every term.

_TURNS: Final = 6
_LATEST: Final = 8  # before which a rule must begin
_TERMS: Final = 4  # fewer would obey any rule
_JOINT: Final = 6  # the same of a rule with three coefficients


@final
@dataclass(frozen=True, slots=True)
class Rule:
    """y_{k+turns} = q·y_k + c for k = first, first + turns, …, as far as the sequence goes."""

    first: int
    turns: int
    q: Scalar
    c: Scalar


def rules(sequence: Sequence[Scalar]) -> list[Rule]:
    """Return the rules of a sequence, one a turn, the fewest that there are; none where there are no such rules.

    Balls obey none: whether two of them are equal is not known.
    """
    if any(sides(one) is None for one in sequence):
        return []
    for turns in range(1, _TURNS + 1):
        for first in range(_LATEST + 1):
            found = [_found_rule(sequence, place, turns) for place in range(first, first + turns)]
            if all(rule is not None for rule in found):
                return [rule for rule in found if rule is not None]
    return []


def _found_rule(sequence: Sequence[Scalar], first: int, turns: int) -> Rule | None:
    terms = sequence[first::turns]
    if len(terms) < _TERMS:
        return None
    zero: Any = terms[0] - terms[0]
    q, c = zero, terms[1]
    if sign(terms[1] - terms[0]) != 0:
        q = (terms[2] - terms[1]) / (terms[1] - terms[0])
        c = terms[1] - q * terms[0]
    elif sign(terms[2] - terms[1]) == 0:  # nothing moves
        q, c = zero + rational(1), zero
    for now, then in itertools.pairwise(terms):
        if sign(q * now + c - then) != 0:
            return None
    return Rule(first, turns, q, c)


def joint(v: Sequence[Scalar], m: Sequence[Scalar]) -> tuple[Scalar, Scalar, Scalar] | None:
    """Return a, b, c with v_{k+1} = a·v_k + b·m_k + c for all k; None: there are none, or too few terms to tell."""
    if min(len(v), len(m)) < _JOINT or any(sides(one) is None for one in (*v, *m)):
        return None
    # Differences of neighbours leave a and b; Cramer's rule gives them from two.
    dv, dm = ([then - now for now, then in itertools.pairwise(one)] for one in (v, m))
    determinant = dv[0] * dm[1] - dv[1] * dm[0]
    if sign(determinant) == 0:
        return None
    a = (dv[1] * dm[1] - dv[2] * dm[0]) / determinant
    b = (dv[0] * dv[2] - dv[1] * dv[1]) / determinant
    c = v[1] - a * v[0] - b * m[0]
    for now, mean, then in zip(v, m, v[1:], strict=False):
        if sign(a * now + b * mean + c - then) != 0:
            return None
    return a, b, c


# Rows of a schedule that repeat those before: from where on a reader has to look at no more of them.


@final
@dataclass(frozen=True, slots=True)
class Entering:
    """Run that enters a server update.

    Parameters
    ----------
    version
        The server model where its local steps begin; None: they begin at a point of the client's own.
    start
        Where they begin.
    """

    client: int
    weight: Fraction
    steps: int
    version: int | None
    start: Scalar


@final
@dataclass(frozen=True, slots=True)
class RepeatingRows:
    """Rows that repeat those one turn before.

    Parameters
    ----------
    rows
        How many rows there are until one turn has been seen: those that have to be looked at one by one.
    said
        It in words.
    """

    rows: int
    said: Sentence


def goes_on(
    at: ExactSetting, each: Sequence[Sequence[Entering]], obeyed: Sequence[Rule], most: int
) -> RepeatingRows | None:
    """Return from where on what enters a row is what entered one turn before, so that the rules of the models go on.

    The same clients, with the same weights and after as many steps: from the models one turn later, which obey the
    rules, or from points of the clients' own that obey one rule.

    Parameters
    ----------
    each
        What enters rows 1, 2, ….
    obeyed
        The rules of the models.
    most
        Rows that may have to be looked at one by one.

    Returns
    -------
    None where there is no such row.
    """
    turns, since = obeyed[0].turns, min(rule.first for rule in obeyed)
    seen = max(rule.first for rule in obeyed) + 1
    rows = [sorted(entering, key=lambda one: (one.client, one.version is None, one.version)) for entering in each]
    for first in range(1, min(most, len(each)) - turns):
        found = _shifts(rows[first - 1 :], turns, since)
        if found is not None:
            letter, later = model_letter(at), f"k+{turns}"
            k, then = model_name(at, "k"), math(f"{letter}_{{{later}}}", f"{letter}_{{{later}}}")
            said = say(f"from row {first} on, row t + {turns} has what row t has, with {{}} in place of {{}}", then, k)
            for own in found:
                start = math("y_0", "y_0")
                after = linear([(own.q, start)], own.c)
                said = say("{}, and {} in place of a {} that is no such model", said, after, start)
            return RepeatingRows(max(first + turns, seen), said)
    return None


def _shifts(rows: Sequence[Sequence[Entering]], turns: int, since: int) -> list[Rule] | None:
    """Return the one rule of the points of clients' own, if there are such points; None: rows do not repeat."""
    own: dict[tuple[int, int], list[Scalar]] = {}
    for place, entering in enumerate(rows):
        for number, one in enumerate(entering):
            if one.version is None:
                own.setdefault((place % turns, number), []).append(one.start)
    for now, then in zip(rows, rows[turns:], strict=False):
        if len(now) != len(then) or not all(_follows(*pair, turns, since) for pair in zip(now, then, strict=True)):
            return None
    found = [rules(points) for points in own.values()]
    if any(len(some) != 1 or some[0].first for some in found):
        return None
    kept = [some[0] for some in found]
    if any(numbers.sign(one.q - kept[0].q) or numbers.sign(one.c - kept[0].c) for one in kept):
        return None
    return kept[:1]


def _follows(now: Entering, then: Entering, turns: int, since: int) -> bool:
    same = (now.client, now.weight, now.steps) == (then.client, then.weight, then.steps)
    if now.version is None or then.version is None:
        return same and now.version is then.version
    return same and now.version >= since and then.version == now.version + turns


def recursion(at: ExactSetting, points: Sequence[Point]) -> tuple[list[Rule], list[Sentence]]:
    """Return how the models of a line go on: the rules, and these in words."""
    sequence = [point[0] for point in points]
    found, letter = rules(sequence) if at.model.d == 1 else [], model_letter(at)
    times = [", ".join(str(rule.first + turn * rule.turns) for turn in range(3)) for rule in found]
    return found, [say(f"{{}} for k = {when}, …", _next(rule, letter)) for rule, when in zip(found, times, strict=True)]


def constant(at: ExactSetting, values: Sequence[Scalar], first: int) -> list[Sentence]:
    """Return what the metric is at all models from one on, where it is the same; else nothing."""
    if any(numbers.sign(value - values[first]) != 0 for value in values[first:]):
        return []
    what, value = measure(at, model_name(at, "k")), written(values[first])
    return [say(f"{{}} {{}} for all k from {first} on, {len(values) - first} times", what, is_(value))]


def row_rules(squares: Sequence[Scalar], means: Sequence[Scalar], square: Written, mean: Written) -> Iterator[Sentence]:
    """Yield how the next E x and the next E (x − x*)² follow from this row; where nothing says the latter, nothing."""
    said = list(_obeyed(squares, square, "v"))
    if not said and (found := joint(squares, means)) is not None:
        now = [(found[0], math("v_k", "v_k")), (found[1], math("m_k", "m_k"))]
        names = math("m_k", "m_k"), math("v_k", "v_k")
        after = is_(linear(now, found[2]))
        said = [say("with {} and {} for the two columns, {} {}", *names, math("v_{k+1}", "v_{k+1}"), after)]
    if said:
        yield from _obeyed(means, mean, "m")
    yield from said


def _obeyed(sequence: Sequence[Scalar], what: Written, letter: str) -> Iterator[Sentence]:
    found = rules(sequence)
    if len(found) == 1 and not found[0].first:
        head, first = math(f"{letter}_k", f"{letter}_k"), math(f"{letter}_0", f"{letter}_0")
        yield say("{} = {} obeys {} from {} {}", head, what, _next(found[0], letter), first, is_(written(sequence[0])))


def _next(rule: Rule, letter: str) -> Written:
    now, then = math(f"{letter}_k", f"{letter}_k"), f"{letter}_{{k+{rule.turns}}}"
    after = is_(linear([(rule.q, now)], rule.c))
    return Written(f"{then} {after.text}", f"{then} {after.latex}", f"{then} {after.exact}")


# One row a server update: of a schedule without noise its models, of quadratics with noise their moments.

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
    obeyed, follows = recursion(at, points)
    since = min((rule.first for rule in obeyed), default=0)
    same = constant(at, values, since) if obeyed and not over.one_record else []
    exactly = bool(same) and not any("≈" in one.text for one in (*follows, *same))
    again = goes_on(at, entering.each()[:last], obeyed, _FIRST) if exactly else None
    enough = 0 if again is None or shortened([row(t) for t in range(again.rows)]) else again.rows
    table, left_out = _cut(columns, len(points), row, enough)
    items: list[Item] = [*_local_steps(at, trace.tape), *entering.equal_steps(last), entering.rule(), table, *left_out]
    if closing is not None:
        items.append(closing)
    if again is not None:
        items.append(again.said)
    items += [*follows, *same]
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
    follows: list[Item] = []
    if not one_row:
        mean, square = (math(f"E {one.text}", rf"\mathbb{{E}}\,{one.latex}") for one in (model, away))
        means = [one.mean[0] for one in each if at.model.d == 1]
        follows += row_rules([one.square for one in each], means, square, mean)
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
        for (_, weight, many_steps), (start, clients) in together.items():
            share = "" if weight == 1 else f"{weight} of "
            many = f" ({many_steps} steps)" if many_steps > 1 else ""
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
            weights = [simple_fraction(float(uses.weight[j]), ENGINE) for j in mine.tolist()]
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


# Both sides of a theorem on a case, from their formulas to a number, and why one is larger.

LEFT, RIGHT = math("left", r"\text{left}"), math("right", r"\text{right}")


def left_side(theorem: Theorem, account: Account, left: Scalar) -> Iterator[Item]:
    """Yield the sum of the rows, in closed form and as a decimal."""
    name = math(theorem.left.expectation, theorem.left.latex)
    yield equalities(LEFT, name, account.addends, written(left), decimal(left))


def right_side(at: ExactSetting, right: Scalar) -> Iterator[Item]:
    """Yield the theorem's formula, with the numbers put in, in closed form and as a decimal."""
    theorem = at.plan.theorem
    terms = theorem.bound.expressions()
    read = sorted({name for term in terms.values() for name in names_of(term)})
    known = {name: _shown(at.value(name)) for name in _needed(at, read)}
    yield from _values(at, known)
    for name, term in terms.items():
        whole = len(terms) == 1
        head = RIGHT if whole else math(name, rf"\text{{{tex(name)}}}")
        value = right if whole else _value(at, term)
        yield equalities(head, formula(term, theorem), formula(term, theorem, known), written(value), decimal(value))
    if len(terms) > 1:
        heads = math(" + ".join(terms), " + ".join(rf"\text{{{tex(name)}}}" for name in terms))
        yield equalities(RIGHT, heads, written(right), decimal(right))


def stands_on(at: ExactSetting) -> Iterator[Item]:
    """Yield each condition in numbers, what holds at every x, and each number that was read off the run."""
    theorem = at.plan.theorem
    for one in theorem.conditions:
        sides = (one.quantity, one.limit)
        as_is, found = [formula(side, theorem) for side in sides], [written(_value(at, side)) for side in sides]
        known = [side.text for side in found] == [side.text for side in as_is]
        parts = as_is if known else [*as_is, *found]
        claim = f"{{}} {one.sign} {{}}"
        yield say(claim if known else f"{claim}, since {claim}", *parts)
    for reading in at.plan.symbols:
        if reading.name in theorem.assume:
            shown = "certified for the problem" if reading.certified else "your word"
            yield say(f"at every x, {reading.name}: {shown}")
    read = [one.name for one in at.plan.symbols if one.origin == "tape"]
    if read:
        pattern = "read off the run: " + ", ".join("{} {}" for _ in read)
        yield say(pattern, *(part for name in read for part in (at.symbol(name), equals(at.value(name)))))


def inequality(left: Scalar, right: Scalar, *, above: bool | None) -> tuple[list[Item], bool]:
    """Return why left > right, or why not, and whether it is integers that are compared at the end."""
    if above is None:
        return [say("no precision tells the two sides apart")], False
    relation: Relation = ">" if above else "≤"
    chain = steps(left, right, relation)
    command = ">" if above else r"\le"
    claim = Written(f"left {relation} right", rf"\text{{left}} {command} \text{{right}}", f"left {relation} right")
    if chain:
        if not all(step.true for step in chain):
            raise ArithmeticError("a step of the inequality is not true")
        return [Chain(claim, tuple(("⟺", r"\iff", step.written()) for step in chain))], True
    bits = numbers.START_BITS
    while bits <= numbers.LARGEST_BITS:
        with numbers.digits(bits):
            found = between(numbers.ball(left), numbers.ball(right), relation)
        if found is not None:
            return [Chain(claim, (("since", r"\quad\text{since}\quad", found.written()),))], False
        bits *= 4
    return [say("the sides are closer to each other than decimals show")], False


def _needed(at: ExactSetting, names: list[str]) -> list[str]:
    """Return the symbols, and those that define them."""
    rules, found = at.formulas.rules, dict.fromkeys(names)
    todo = list(names)
    while todo:
        name = todo.pop()
        if name in rules:
            for other in sorted(names_of(rules[name]) - set(found)):
                found[other] = None
                todo.append(other)
    return list(found)


def _values(at: ExactSetting, known: dict[str, Written]) -> Iterator[Sentence]:
    """Yield what stands in for symbols: given numbers in one line, and then what is defined, from the bottom up."""
    rules = at.formulas.rules
    given = [name for name in known if name not in rules]
    if given:
        yield say(
            ", ".join("{} {}" for _ in given), *(part for name in given for part in (at.symbol(name), is_(known[name])))
        )
    done = set(given)
    waiting = [name for name in known if name in rules]
    while waiting:
        name = next((one for one in waiting if names_of(rules[one]) <= done), waiting[0])
        waiting.remove(name)
        done.add(name)
        theorem, value = at.plan.theorem, equals(at.value(name))
        as_is, put_in = formula(rules[name], theorem), formula(rules[name], theorem, known)
        pieces = [as_is, put_in] if names_of(rules[name]) else []
        if pieces and (f"= {put_in.text}" == value.text or value.text.startswith(f"= {put_in.text} ")):
            pieces.pop()
        yield say("{}" + " {}" * len(pieces) + " {}", at.symbol(name), *map(is_, pieces), value)


def _shown(value: Any) -> Written:
    return vector(value) if isinstance(value, list) else written(value)


def _value(at: ExactSetting, term: Any) -> Scalar:
    exact = scalar(at.formulas.exact(term))
    return at.formulas.ball(term) if exact is None else exact


# Put a derivation together: from what the exact engine tells to what a referee reads.


def derive(
    at: ExactSetting, trace: ExactTrace, left: Scalar, right: Scalar, *, above: bool | None, verdict: Sentence
) -> Derivation:
    """Return the derivation.

    Parameters
    ----------
    left, right
        Both sides as the engine has them: exact numbers, or balls of the present precision.
    above
        Whether left > right; None where no precision tells.

    Raises
    ------
    ArithmeticError
        If the rows do not sum to the engine's left side.
    """
    account = _account(at, trace)
    require_same(account.total, left)
    comparison, whole = inequality(left, right, above=above)
    by_hand = account.by_hand and whole
    sections: tuple[DerivationSection, ...] = (
        DerivationSection("The instance", tuple(instance(at))),
        DerivationSection("What happens", (words(f"found by {at.method}"), *account.items)),
        DerivationSection("The left side", tuple(left_side(at.plan.theorem, account, left))),
        DerivationSection("The right side", tuple(right_side(at, right))),
        DerivationSection("The inequality", (*comparison, verdict)),
    )
    if standing := tuple(stands_on(at)):
        sections += (DerivationSection(STANDS_ON, standing),)
    return Derivation(at.plan.theorem.id, by_hand, sections)


def _account(at: ExactSetting, trace: ExactTrace) -> Account:
    match trace:
        case Outcomes():
            return of_outcomes(at, trace)
        case Models():
            return of_models(at, trace)
        case MomentsOf():
            return of_moments(at, trace)


def require_same(total: Scalar, left: Scalar) -> None:
    """Make sure that the rows sum to the left side.

    Raises
    ------
    ArithmeticError
        If they do not.
    """
    if sides(total) is None or sides(left) is None:
        same = bool(numbers.ball(total).overlaps(numbers.ball(left)))
    else:
        same = numbers.sign(total - left) == 0
    if not same:
        raise ArithmeticError(
            f"the rows of the derivation sum to {numbers.text(total)}, the engine found {numbers.text(left)}"
        )
