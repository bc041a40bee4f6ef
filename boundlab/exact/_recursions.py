"""Recursions y ← q·y + c of models and of moments in words, their closed forms, and the sums that these give."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import final

from boundlab.arithmetic import numbers
from boundlab.arithmetic.numbers import Scalar
from boundlab.arithmetic.writing import Sentence, Written, equals, is_, linear, math, say, written
from boundlab.exact._derivation import Item
from boundlab.exact._instance import ExactSetting
from boundlab.exact._linear import Rule, joint, power, rules, total
from boundlab.exact._rows import added, measure, model_letter, model_name
from boundlab.exact._trace import Point


@final
@dataclass(frozen=True, slots=True)
class ModelRecursion:
    """Linear recursion of the models, and what it makes of the sum.

    Parameters
    ----------
    rules
        One a turn; none where there are none.
    summed
        Whether the metric of all models that obey them is added up there, in numbers that are not shortened.
    """

    items: tuple[Item, ...] = ()
    rules: tuple[Rule, ...] = ()
    summed: bool = False


def recursion(at: ExactSetting, points: Sequence[Point], values: Sequence[Scalar]) -> ModelRecursion:
    """Return how the models of a line go on; without values nothing is added up."""
    if at.model.d > 1:
        return ModelRecursion()
    sequence = [point[0] for point in points]
    found = rules(sequence)
    items: list[Item] = []
    summed, first = bool(found and values), min((rule.first for rule in found), default=0)
    alike = summed and _equal(values[first:])
    for rule in found:
        said, turn = _rule(rule, sequence[rule.first], model_letter(at)), slice(rule.first, None, rule.turns)
        items.append(said)
        summed &= "≈" not in said.text
        if values and not alike:
            added_up = list(_closed_sum(at, rule, sequence[turn], values[turn]))
            items += added_up
            summed &= bool(added_up)
    if alike:
        what, value = measure(at, model_name(at, "k")), written(values[first])
        items.append(say(f"{{}} {{}} for all k from {first} on, {len(values) - first} times", what, is_(value)))
        summed &= not value.near
    return ModelRecursion(tuple(items), tuple(found), summed)


def _equal(values: Sequence[Scalar]) -> bool:
    return all(numbers.sign(value - values[0]) == 0 for value in values)


def _closed_sum(at: ExactSetting, rule: Rule, models: Sequence[Scalar], values: Sequence[Scalar]) -> Iterator[Item]:
    """Yield the sum of the metric over the models of one rule: where it is the same, or a multiple of (x − x*)²."""
    one, name = numbers.rational(1), measure(at, model_name(at, "k"))
    if _equal(values):
        value = written(values[0])
        if not value.near:
            yield say(f"the {len(values)} values of {{}} there are {{}} each", name, value)
        return
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
    closed = linear(pieces, factor * n * rest * rest)
    if not closed.near:
        yield say(f"the {n} values of {{}} there add up to {{}} {{}}", name, closed, equals(whole))


def closed_moments(sequence: Sequence[Scalar], what: Written, letter: str, *, summed: bool) -> Iterator[Item]:
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


def joint_rule(squares: Sequence[Scalar], means: Sequence[Scalar]) -> Iterator[Item]:
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
