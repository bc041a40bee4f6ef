"""Both sides of a theorem on a case, from their formulas to a number, and why one is larger."""

from collections.abc import Iterator
from typing import Any

from boundlab.arithmetic import numbers
from boundlab.arithmetic.inequality import Relation, between, steps
from boundlab.arithmetic.numbers import Scalar
from boundlab.arithmetic.writing import Sentence, Written, decimal, equals, is_, math, say, tex, vector, written
from boundlab.exact._derivation import Chain, Item, equalities
from boundlab.exact._formula import formula
from boundlab.exact._instance import ExactSetting
from boundlab.exact._rows import Account
from boundlab.formulas.known_numbers import scalar
from boundlab.formulas.symbols import names_of
from boundlab.theorems import Theorem

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
        yield say("{} ≤ {}" if known else "{} ≤ {}, since {} ≤ {}", *parts)
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
