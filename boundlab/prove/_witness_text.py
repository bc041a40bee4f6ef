"""An instance in which a claim is false, in words: for a reader with pencil and paper."""

import itertools
from collections.abc import Mapping
from fractions import Fraction
from typing import TypeAlias

from boundlab.prove._balls import Ball, Real
from boundlab.prove._functions import Point
from boundlab.prove._instance import written
from boundlab.prove._replay import Name
from boundlab.prove._terms import Claim, Expr
from boundlab.prove.models import Ground, Model, Row

_SHOWN_VALUES = 6
_LONGEST = 24  # letters of a number
_Terms: TypeAlias = dict[Ground, Real]


def told(model: Model, claim: Claim, row: Row) -> tuple[str, ...]:
    """Return functions and numbers, the vectors of a claim, each of its terms with a value, and both sides."""
    met = {name for term in _terms_at(model, claim, row) for name in term[1:] if isinstance(name, tuple)}
    # How a pass gets there.
    between = {("z", (i, r, m)) for word, at in met if word == "z" for i, r, last in [at] for m in range(last)}
    names = sorted(met | between)
    return (
        *model.instance.lines(model.setting.own_symbols, model.setting.constants(model.instance)),
        *(f"{_named(one)}{_law(model, one)}" for one in names if one[0] != "star"),
        *sides_told(model, claim, row),
    )


def sides_told(model: Model, claim: Claim, row: Row) -> tuple[str, ...]:
    """Return each term of a claim with its value, and both sides."""
    where = ", ".join(f"{name} = {value}" for name, value in row.indices)
    return (
        *(f"{_term(model, one)} = {_value(model, one)}" for one in _terms_at(model, claim, row) if one[0] != "1"),
        *(f"{name} = {_side(model, side)}" for name, side in _sides_at(model, claim, row)),
        f"{f'at {where}: ' if where else ''}left {_is(row.left)}, right {_is(row.right)}: "
        f"left {row.relation} right is false",
    )


def _sides_at(model: Model, claim: Claim, row: Row) -> list[tuple[str, list[tuple[Ground, Real]]]]:
    place = {name: Fraction(value) for name, value in row.indices}
    return [
        (name, _grouped(_ground(model, side, place))) for name, side in (("left", claim.left), ("right", claim.right))
    ]


def _terms_at(model: Model, claim: Claim, row: Row) -> dict[Ground, None]:
    return {term: None for _, side in _sides_at(model, claim, row) for term, _ in side}


def _ground(model: Model, side: Expr, at: Mapping[str, Fraction]) -> _Terms:
    found: _Terms = {}
    for weight, atom, where in model.parts(side, at):
        key = model.ground(atom, where)
        found[key] = found.get(key, Fraction(0)) + weight
    return found


def _grouped(terms: _Terms) -> list[tuple[Ground, Real]]:
    """Return terms with a·‖u‖² − 2a·⟨u, v⟩ + a·‖v‖² written as a·‖u − v‖²."""
    left, squares = dict(terms), []
    for key in sorted(key for key in terms if key[0] == "inner" and key[1] != key[2]):
        _, u, v = key
        ends = [("inner", one, one) for one in (u, v)]
        times = terms[key] * Fraction(-1, 2)
        known = [left.get(end, Fraction(0)) for end in ends]
        if not all(isinstance(one, Fraction) for one in (times, *known)):
            continue
        if times and all(one / times >= 1 for one in known):  # type: ignore[operator]
            del left[key]
            squares.append((("square", u, v), times))
            for end in ends:
                left[end] = left[end] - times
    kept = [(key, left[key]) for key in sorted(left, key=str) if isinstance(left[key], Fraction) is False or left[key]]
    return [*squares, *(one for one in kept if one[0][0] != "1"), *(one for one in kept if one[0][0] == "1")]


def _side(model: Model, terms: list[tuple[Ground, Real]]) -> str:
    if not terms:
        return "0"
    words = _added([(weight, "" if key[0] == "1" else _term(model, key)) for key, weight in terms])
    if all(key[0] == "1" for key, _ in terms):
        return words
    numbers = _added([(weight, "" if key[0] == "1" else _bracketed(_value(model, key))) for key, weight in terms])
    return words if words == numbers else f"{words} = {numbers}"


def _is(value: Real) -> str:
    """Return a number behind =, or its first digits behind ≈ where it is long."""
    return f"= {value}" if len(str(value)) <= _LONGEST or isinstance(value, Ball) else f"≈ {float(value):.10g}"


def _bracketed(value: Fraction) -> str:
    return f"({value})" if value < 0 or value.denominator > 1 else str(value)


def _added(parts: list[tuple[Real, str]]) -> str:
    found = ""
    for weight, text in parts:
        minus = isinstance(weight, Fraction) and weight < 0
        size = -weight if minus else weight
        one = isinstance(size, Fraction) and size == 1
        own = text if one and text else f"{size}·{text}" if text else str(size)
        found += (" - " if found else "-") + own if minus else (" + " if found else "") + own
    return found


def _named(name: Name) -> str:
    word, indices = name
    if word == "star":
        return "x*"
    return f"{word}[{', '.join(map(str, indices))}]" if indices else word


def _term(model: Model, key: Ground) -> str:
    vectors = [one for one in key[1:] if isinstance(one, tuple)]
    mean = "E " if any(len(set(model.runs.at(model.there(one)))) > 1 for one in vectors) else ""
    match key:
        case ("value", int(client), at):
            return f"{mean}f_{client}({_named(at)})"
        case ("square", u, v):
            # x* is best read last.
            first, second = (v, u) if u[0] == "star" else (u, v)
            return f"{mean}‖{_named(first)} - {_named(second)}‖²"
        case ("inner", u, v):
            return f"{mean}‖{_named(u)}‖²" if u == v else f"{mean}⟨{_named(u)}, {_named(v)}⟩"
    return "1"


def _value(model: Model, key: Ground) -> Fraction:
    runs = model.runs
    match key:
        case ("value", int(client), at):
            return runs.value(client, at)
        case ("square", u, v):
            return runs.inner(u, u) - 2 * runs.inner(u, v) + runs.inner(v, v)
        case ("inner", u, v):
            return runs.inner(u, v)
    return Fraction(1)


def _law(model: Model, name: Name) -> str:
    """Return the values of a random vector with their probabilities."""
    chances: dict[Point, Fraction] = {}
    for chance, point in zip(model.runs.chances, model.runs.at(model.there(name)), strict=True):
        chances[point] = chances.get(point, Fraction(0)) + chance
    shown = [(written(one), chance) for one, chance in chances.items()]
    if len(shown) == 1:
        slope = model.runs.columns.get(("g", name[1])) if name[0] == "z" else None
        return f" = {shown[0][0]}" + (f", where the slope is {written(slope.values[0])}" if slope else "")
    text = ", ".join(f"{value} with probability {chance}" for value, chance in itertools.islice(shown, _SHOWN_VALUES))
    return f" = {text}{', …' if len(shown) > _SHOWN_VALUES else ''}"
