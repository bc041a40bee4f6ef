"""Linear forms in function values and in the Gram matrix of a basis, with fractions as coefficients."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import final

Vector = Mapping[int, Fraction]
_DIGITS = 4000  # of an integer in decimal; Python refuses to read much more, and longer ones are hexadecimal
_WHOLE = rf"[0-9]{{1,{_DIGITS}}}|0x[0-9a-f]+"
_TEXT = re.compile(rf"(-?)({_WHOLE})(?:/({_WHOLE}))?")


def text_of(number: Fraction) -> str:
    """Return a fraction as text of any length: decimal, or hexadecimal where it is long.

    Examples
    --------
    >>> text_of(Fraction(-2, 3))
    '-2/3'
    """

    def whole(part: int) -> str:
        return str(part) if part.bit_length() < 3 * _DIGITS else hex(part)

    top = f"{'-' * (number < 0)}{whole(abs(number.numerator))}"
    return top if number.denominator == 1 else f"{top}/{whole(number.denominator)}"


def number_of(text: str) -> Fraction:
    """Return the fraction that :func:`text_of` writes.

    Raises
    ------
    ValueError
        If it is none.
    """
    found = _TEXT.fullmatch(text)
    if found is None:
        raise ValueError("no fraction")
    sign, top, bottom = found.groups()
    below = 1 if bottom is None else int(bottom, 0 if bottom.startswith("0x") else 10)
    if below == 0:
        raise ValueError("a fraction over 0")
    return (-1 if sign else 1) * Fraction(int(top, 0 if top.startswith("0x") else 10), below)


@final
@dataclass(frozen=True, slots=True)
class Form:
    """Σ values[i]·F_i + Σ_{i≤j} gram[i, j]·⟨u_i, u_j⟩ + constant, without coefficients 0.

    Examples
    --------
    >>> one = Fraction(1)
    >>> Form({0: one}, {(0, 0): one}).plus(Form({0: one}), Fraction(-1))
    Form(values={}, gram={(0, 0): Fraction(1, 1)}, constant=Fraction(0, 1))
    """

    values: Mapping[int, Fraction] = field(default_factory=dict)
    gram: Mapping[tuple[int, int], Fraction] = field(default_factory=dict)
    constant: Fraction = Fraction(0)

    def plus(self, other: "Form", weight: Fraction = Fraction(1)) -> "Form":
        """Return the form and so many times another one."""
        values, gram = dict(self.values), dict(self.gram)
        for place, entry in other.values.items():
            values[place] = values.get(place, Fraction(0)) + weight * entry
        for pair, entry in other.gram.items():
            gram[pair] = gram.get(pair, Fraction(0)) + weight * entry
        return Form(
            {place: entry for place, entry in values.items() if entry},
            {pair: entry for pair, entry in gram.items() if entry},
            self.constant + weight * other.constant,
        )


def inner(one: Vector, other: Vector, weight: Fraction = Fraction(1)) -> Form:
    """Return weight·⟨u, v⟩ for combinations u and v of the basis."""
    gram: dict[tuple[int, int], Fraction] = {}
    for i, left in one.items() if weight else ():
        for j, right in other.items():
            pair = (min(i, j), max(i, j))
            gram[pair] = gram.get(pair, Fraction(0)) + weight * left * right
    return Form({}, {pair: entry for pair, entry in gram.items() if entry})


def minus(one: Vector, other: Vector) -> Vector:
    """Return u − v."""
    out = dict(one)
    for place, entry in other.items():
        out[place] = out.get(place, Fraction(0)) - entry
    return {place: entry for place, entry in out.items() if entry}
