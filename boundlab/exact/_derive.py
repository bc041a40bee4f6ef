"""The table of a run in fractions, how a row follows from those before, and both sides from their formulas."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, final

import numpy as np

from boundlab.arithmetic import numbers
from boundlab.arithmetic.numbers import Scalar
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
    model_name,
    of_outcomes,
    share,
    shortened,
    shown_name,
)
from boundlab.formulas.symbols import names_of
from boundlab.metrics import Quantity
from boundlab.tape import Tape
from boundlab.theorems import Theorem

# One row a server update: of a schedule without noise its models, of quadratics with noise their moments.

_FIRST, _LAST = 12, 2  # rows of a summary
_TURNS: Final = 6  # rows after which others may repeat
_CLIENTS = 4  # whose local steps are written one by one
_ROUNDING = 1e-12  # of the floats of a tape

_Entry = tuple[int, Fraction]


def of_models(at: ExactSetting, trace: Models) -> Account:
    """Return the models after each update, what enters them, and the metric where it looks."""
    value, k, over = metric_at(at), int(at.plan.ks[-1]), at.plan.metric.over
    last = k if over.one_record and not over.averages_iterates else k - 1
    points = trace.each[: last + 1]
    entering = _entering(at, trace)
    columns = [say("{}", math("t", "t")), say(entering.title), say("{}", model_name(at, "t"))]
    values: list[Scalar] = []
    if not over.averages_iterates:
        columns.append(say("{}", measure(at, model_name(at, "t"))))
        values = [value(point) for point in points]

    def row(t: int) -> list[Sentence]:
        measured = [cell(written(values[t]))] if values else []
        return [say(str(t)), entering.cells[t], cell(vector(points[t])), *measured]

    closing: list[Item] = []
    if over.averages_iterates:
        average = tuple(added([point[j] for point in points]) / numbers.rational(k) for j in range(at.model.d))
        found = value(average)
        closing.append(say("{} {} is the mean of these", shown_name(at), is_(vector(average))))
        addends = measure(at, shown_name(at))
    elif over.one_record:
        found, addends = values[-1], measure(at, model_name(at, str(k)))
    else:
        found, addends = share(at) * added(values), _mean_of_rows(k)
    again = _repeats([(entering.cells[t].exact, *point) for t, point in enumerate(points)]) if entering.adds else None
    table, whole = _cut(columns, len(points), row, again)
    items = [*_local_steps(at, trace.tape), entering.rule, *table, *closing]
    return Account((*items, *shortened(table[0].rows)), found, addends, whole and entering.adds)


def _repeats(rows: Sequence[Any]) -> tuple[int, int] | None:
    """Return from which row on rows repeat, and how many come before they do; None where a table needs more rows."""
    for turns in range(1, _TURNS + 1):
        first = len(rows) - turns
        while first > 0 and rows[first - 1] == rows[first - 1 + turns]:
            first -= 1
        if first + turns <= _FIRST:
            return first, turns
    return None


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
    table, _ = _cut(columns, len(each), row)
    untold = say("how a row follows from the one before is not written out here")
    return Account((*items, *table, untold, *shortened(table[0].rows)), found, addends, by_hand=False)


def _norm(name: str) -> Written:
    return math(f"‖{name}‖²", rf"\|{name}\|^2")


def _away(at: ExactSetting, model: Written) -> Written:
    if at.best is not None and not any(at.best.x) and at.model.d == 1:
        return math(f"{model.text}²", f"{model.latex}^2")
    return math(f"‖{model.text} − x*‖²", rf"\|{model.latex} - x^\star\|^2")


def _mean_of_rows(k: int) -> Written:
    return math(f"(1/{k}) Σ of the last column", rf"\tfrac{{1}}{{{k}}} \textstyle\sum \text{{of the last column}}")


def _cut(
    columns: Sequence[Sentence], n: int, row: Callable[[int], list[Sentence]], again: tuple[int, int] | None = None
) -> tuple[tuple[Table, *tuple[Item, ...]], bool]:
    """Return the table of n rows, what is to be said of those left out, and whether a hand can add up the last column.

    Parameters
    ----------
    again
        From which row on rows repeat, and how many come before they do: the others are then left out.
    """
    if n <= MOST:
        rows, said = [row(place) for place in range(n)], list[Item]()
    else:
        first = sum(again) if again else _FIRST
        head, end = ([row(place) for place in some] for some in (range(first), range(n - _LAST, n)))
        rows, shown = [*head, [say("…") for _ in columns], *end], f"the first {first} and the last {_LAST} are shown"
        if again:
            said = [say(f"{n} rows: {shown}"), say(f"from row {again[0]} on, row t + {again[1]} equals row t")]
        else:
            said = [say(f"{n} rows: {shown}, and all of them are added up. So this sum cannot be checked by hand.")]
    whole = (n <= MOST or again is not None) and not shortened([one[-1:] for one in rows])
    return (Table(tuple(columns), tuple(map(tuple, rows))), *said), whole


def _step_size(at: ExactSetting, tape: Tape) -> Scalar | None:
    """Return the theorem's step where all local steps are gradient steps of this one size."""
    sizes = set(tape.descend.step_size.tolist())
    plain = at.plan.problem.simple is None and not tape.implicit.any()
    if not plain or len(sizes) != 1 or len(tape.local) or not at.plan.theorem.step:
        return None
    size, near = at.value(next(iter(at.plan.theorem.step))), sizes.pop()
    return None if abs(float(numbers.ball(size)) - near) > _ROUNDING * near else size


def _local_steps(at: ExactSetting, tape: Tape) -> Iterator[Sentence]:
    """Yield what a local step does on the line, if all steps have one size."""
    size = _step_size(at, tape)
    if size is None or at.model.d > 1:
        return
    y, slope = math("y", "y"), math("f_i'(y)", "f_i'(y)")
    yield say("a local step of client i takes {} to {}", y, about(linear([(1, y), (-size, slope)])))
    quadratic, core = at.model.quadratic(), at.model.core()
    form = quadratic if quadratic is not None else None if core is None else core.form
    if form is None or not isinstance(size, numbers.flint().fmpq):
        return
    edges = [] if core is None or quadratic is not None else [written(core.low[0]), y, written(core.high[0])]
    where = " if {} ≤ {} ≤ {}" if edges else ""
    for client, (A, b) in enumerate(zip(form.A[:_CLIENTS], form.b, strict=False)):
        part = numbers.fraction(size) * A[0][0]
        yield say(f"client {client}: {{}} goes to {{}}{where}", y, about(linear([(1 - part, y)], part * b[0])), *edges)


@final
@dataclass(frozen=True, slots=True)
class _Entering:
    """The runs behind each server model, with their weights.

    Where w_t = w_{t−1} + Σ weight·(y − y_0) for all t, or w_t = Σ weight·y, checked in the numbers of the run, with y_0
    and y where the local steps of a run begin and end, the rows say so. Otherwise they say who arrives, and no more.

    Parameters
    ----------
    title, cells
        The column of the table.
    rule
        How a row follows from the one before.
    adds
        Whether it follows from what the rows say.
    """

    title: str
    cells: list[Sentence]
    rule: Sentence
    adds: bool


def _entering(at: ExactSetting, trace: Models) -> _Entering:
    each = [_entries(trace.tape, t) for t in range(1, len(trace.each))]
    equal = [[(run, Fraction(1, len(some))) for run, _ in some] for some in each]
    choices = [(one, moves) for moves in (True, False) for one in (each, equal)]
    chosen = next((choice for choice in choices if _made_of(trace, choice[0], moves=choice[1])), None)
    now, y, start, first = model_name(at, "t"), math("y", "y"), math("y_0", "y_0"), say("the start")
    if chosen is None:
        client = trace.tape.descend.client.tolist()
        cells = [first, *(say(_clients(sorted({client[run] for run, _ in some}))) for some in each)]
        untold = say("how {} follows from what arrives is the algorithm's, and not written out here", now)
        return _Entering("who arrives", cells, untold, adds=False)
    x, weighted = _before(at, 1), r"\textstyle\sum \text{weight} \cdot"
    if chosen[1] and _is_descent(at, trace, chosen[0]):
        step = at.symbol(next(iter(at.plan.theorem.step)))
        slope, latex = ("f'", "f'") if at.model.d == 1 else ("∇f", r"\nabla f")
        moved = math(f"{x.text} − {step.text}·{slope}({x.text})", rf"{x.latex} - {step.latex}\, {latex}({x.latex})")
        rule = say("{} = {}", now, moved)
    else:
        added_to = math(f"{x.text} + Σ weight·(y − y_0)", rf"{x.latex} + {weighted} (y - y_0)")
        total = added_to if chosen[1] else math("Σ weight·y", rf"{weighted} y")
        rule = say("{} = {}, where the local steps of a run lead from {} to {}", now, total, start, y)
    cells = [first, *(_cell_of(at, trace, t, some) for t, some in enumerate(chosen[0], 1))]
    return _Entering("what enters", cells, rule, adds=True)


def _is_descent(at: ExactSetting, trace: Models, each: Sequence[Sequence[_Entry]]) -> bool:
    """Return whether every update is one step of the one client from the model before, of the theorem's size."""
    steps, points = trace.tape.descend.steps, trace.each
    return (at.plan.problem.n == 1 and _step_size(at, trace.tape) is not None) and all(
        len(some) == 1 and weight == 1 and steps[run] == 1 and _same(trace.moves[run][0], points[t])
        for t, some in enumerate(each)
        for run, weight in some[:1]
    )


def _cell_of(at: ExactSetting, trace: Models, t: int, entries: Sequence[_Entry]) -> Sentence:
    """Return what enters a row: at which model, or at which point of the client's own, the local steps begin."""
    descend, together = trace.tape.descend, dict[tuple[str, Fraction, int], tuple[Written, list[int]]]()
    for run, weight in entries:
        version, start = int(descend.version[run]), trace.moves[run][0]
        known = version < t and _same(trace.each[version], start)
        here = _before(at, t - version) if known else about(vector(start))
        key = here.exact, weight, int(descend.steps[run])
        together.setdefault(key, (here, []))[1].append(int(descend.client[run]))
    parts = []
    for (_, weight, steps_), (here, clients) in together.items():
        share = "" if weight == 1 else f"{weight} of "
        many = f" ({steps_} steps)" if steps_ > 1 else ""
        parts.append(say(f"{share}{_clients(sorted(clients))} from {{}}{many}", here))
    return say("; ".join(["{}"] * len(parts)) or "–", *parts)


def _entries(tape: Tape, t: int) -> list[_Entry]:
    """Return the runs of update t − 1 → t, with the weights that the tape gives them."""
    uses = tape.uses
    mine = np.flatnonzero(uses.version == t - 1)
    if len(mine):
        weights = [simple_fraction(float(uses.weight[j]), ENGINE) for j in mine.tolist()]
        return [(int(uses.update[j]), weight or Fraction(0)) for j, weight in zip(mine.tolist(), weights, strict=True)]
    events = np.flatnonzero(np.diff(tape.version) > 0)
    arrived = np.flatnonzero(np.isin(tape.descend.arrival, events[t - 1 : t]))
    return [(int(run), Fraction(1)) for run in arrived.tolist()]


def _made_of(trace: Models, each: Sequence[Sequence[_Entry]], *, moves: bool) -> bool:
    points, zero = trace.each, numbers.rational(0)
    for t, entries in enumerate(each, 1):
        expected = list(points[t - 1]) if moves else [zero] * len(points[t - 1])
        for run, weight in entries:
            start, end = trace.moves[run]
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


def _before(at: ExactSetting, lag: int) -> Written:
    """Return the name of the model so many rows before row t."""
    letter = model_name(at, "t").text[0]
    return math(f"{letter}_{{t−{lag}}}", f"{letter}_{{t-{lag}}}")


def _clients(clients: Sequence[int]) -> str:
    return f"client{'s' * (len(clients) > 1)} {', '.join(map(str, clients))}" if clients else "–"


# Both sides of a theorem on a case, from their formulas to a number, and why one is larger.

LEFT, RIGHT = math("left", r"\text{left}"), math("right", r"\text{right}")


def left_side(theorem: Theorem, account: Account, left: Scalar) -> Iterator[Item]:
    """Yield the sum of the rows, in closed form and as a decimal."""
    name = math(theorem.left.expectation, theorem.left.latex)
    yield equalities(LEFT, name, account.addends, written(left), decimal(left))


def right_side(at: ExactSetting, right: Scalar) -> Iterator[Item]:
    """Yield the theorem's formula, with the numbers put in, in closed form and as a decimal."""
    theorem = at.plan.theorem
    terms = theorem.bound.terms
    read = sorted({name for term in terms.values() for name in names_of(term)})
    known = {name: _shown(at.value(name)) for name in _needed(at, read)}
    yield from _values(at, known)
    for name, term in terms.items():
        whole = len(terms) == 1
        head = RIGHT if whole else math(name, rf"\text{{{tex(name)}}}")
        value = right if whole else at.number(term)
        yield equalities(head, formula(term, theorem), formula(term, theorem, known), written(value), decimal(value))
    if len(terms) > 1:
        heads = math(" + ".join(terms), " + ".join(rf"\text{{{tex(name)}}}" for name in terms))
        yield equalities(RIGHT, heads, written(right), decimal(right))


def stands_on(at: ExactSetting) -> Iterator[Item]:
    """Yield each condition in numbers, what holds at every x, and each number that was read off the run."""
    theorem = at.plan.theorem
    for one in theorem.conditions:
        sides = (one.quantity, one.limit)
        as_is, found = [formula(side, theorem) for side in sides], [written(at.number(side)) for side in sides]
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
    account = _account(at, trace, left)
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


def _account(at: ExactSetting, trace: ExactTrace, left: Scalar) -> Account:
    match trace:
        case Outcomes():
            return of_outcomes(at, trace)
        case Models():
            return of_models(at, trace)
        case MomentsOf():
            return of_moments(at, trace)
        case None:
            many = say(f"more than {MOST} outcomes: they are added up state by state, which cannot be checked by hand")
            return Account((many,), left, math(at.plan.theorem.left.expectation, at.plan.theorem.left.latex), False)


def require_same(total: Scalar, left: Scalar) -> None:
    """Make sure that the rows sum to the left side.

    Raises
    ------
    ArithmeticError
        If they do not.
    """
    near = sides(total) is None or sides(left) is None
    if not (numbers.ball(total).overlaps(numbers.ball(left)) if near else numbers.sign(total - left) == 0):
        raise ArithmeticError(
            f"the rows of the derivation sum to {numbers.text(total)}, the engine found {numbers.text(left)}"
        )
