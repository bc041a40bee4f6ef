"""Why one number is larger than another, in steps that are checked by hand.

For numbers a + b√r over one root r: bring the root to one side, clear denominators, square. Each step is equivalent to
the one before it. Other numbers, and steps of too many letters, are compared as decimals that lie between them.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import floor, gcd, lcm
from typing import Any, Literal, final

from boundlab.arithmetic import numbers
from boundlab.arithmetic.numbers import Scalar
from boundlab.arithmetic.writing import LONGEST, RAISED, Written, math, sides, written

Relation = Literal[">", "≤"]
_TEX = {">": ">", "≤": r"\le"}
_MOST = 60  # digits of a decimal


@final
@dataclass(frozen=True, slots=True)
class InequalityStep:
    """One inequality.

    Parameters
    ----------
    left, right
        Exact numbers.
    """

    left: Scalar
    right: Scalar
    relation: Relation

    @property
    def true(self) -> bool:
        """True if the inequality holds, decided without rounding."""
        order = numbers.sign(self.left - self.right)
        return order > 0 if self.relation == ">" else order <= 0

    def written(self) -> Written:
        """Return both sides with the sign between them."""
        left, right = written(self.left), written(self.right)
        return Written(
            f"{left.text} {self.relation} {right.text}",
            f"{left.latex} {_TEX[self.relation]} {right.latex}",
            f"{left.exact} {self.relation} {right.exact}",
        )


@final
@dataclass(frozen=True, slots=True)
class Between:
    """Two decimals with left ≥ ``low`` > ``high`` ≥ right; or with ≤ throughout, left ≤ ``low`` ≤ ``high`` ≤ right."""

    low: Fraction
    high: Fraction
    relation: Relation

    def written(self) -> Written:
        """Return the chain."""
        outer, command = ("≥", r"\ge") if self.relation == ">" else ("≤", r"\le")
        size = max(abs(self.low), abs(self.high))
        power = _magnitude(size) if size else 0
        power = 0 if -4 < power < 6 else power
        low, high = (_plain(one / Fraction(10) ** power, power) for one in (self.low, self.high))
        return math(
            f"left {outer} {low.text} {self.relation} {high.text} {outer} right",
            rf"\text{{left}} {command} {low.latex} {_TEX[self.relation]} {high.latex} {command} \text{{right}}",
        )


def steps(left: Scalar, right: Scalar, relation: Relation) -> list[InequalityStep]:
    """Return equivalent inequalities, from ``left relation right`` to one between integers.

    Returns
    -------
    None of them where the numbers are not over one root, or where one would take too many letters.
    """
    a, b = sides(left), sides(right)
    if a is None or b is None:
        return []
    roots = {part[2] for part in (a, b) if part[1]}
    if len(roots) > 1:
        return []
    root = roots.pop() if roots else Fraction(0)
    whole, part = a[0] - b[0], b[1] - a[1]  # left relation right ⟺ whole relation part·√root
    out = [InequalityStep(left, right, relation)]
    if not part:
        bottom = lcm(a[0].denominator, b[0].denominator)
        pair = (a[0] * bottom, b[0] * bottom) if not a[1] else (whole * bottom, Fraction(0))
        share = gcd(int(pair[0]), int(pair[1])) or 1
        if pair != (a[0], b[0]) or a[1]:
            out.append(InequalityStep(_number(pair[0] / share), _number(pair[1] / share), relation))
        return out if _short(out) else []
    bottom = lcm(whole.denominator, part.denominator)
    whole, part = whole * bottom, part * bottom
    share = gcd(int(whole), int(part))
    whole, part = whole / share, part / share
    if whole >= 0 and part > 0:
        out.append(InequalityStep(_number(whole), _surd(part, root), relation))
        out.append(InequalityStep(_number(whole**2), _number(part**2 * root), relation))
    elif whole <= 0 and part < 0:  # both sides change their signs, so that the larger one is to the right
        out.append(InequalityStep(_surd(-part, root), _number(-whole), relation))
        out.append(InequalityStep(_number(part**2 * root), _number(whole**2), relation))
    else:
        out.append(InequalityStep(_number(whole), _surd(part, root), relation))  # signs tell
    if root.denominator != 1 and len(out) == 3:
        last = out.pop()
        out.append(InequalityStep(last.left * root.denominator, last.right * root.denominator, relation))
    return out if _short(out) else []


def between(left: Any, right: Any, relation: Relation) -> Between | None:
    """Return decimals that separate two balls, or None: they are not apart.

    Parameters
    ----------
    left, right
        Balls that contain the numbers.
    """
    upper, lower = (left, right) if relation == ">" else (right, left)
    bottom, top = (_fraction(upper.lower()), _fraction(lower.upper()))
    if bottom < top or (bottom == top and relation == ">"):
        return None
    size = max(abs(bottom), abs(top))
    first = 6 - (_magnitude(size) if size else 0) - 1
    for digits in range(first, first + _MOST):
        unit = Fraction(10) ** -digits
        down, up = floor(bottom / unit) * unit, -floor(-top / unit) * unit
        if down > up or (down == up and relation == "≤"):
            return Between(down, up, relation) if relation == ">" else Between(up, down, relation)
    return None


def _magnitude(size: Fraction) -> int:
    """Return the power of ten of the first digit, however long the number is."""
    power = (size.numerator.bit_length() - size.denominator.bit_length()) * 30103 // 100000
    while size >= Fraction(10) ** (power + 1):
        power += 1
    while size < Fraction(10) ** power:
        power -= 1
    return power


def _short(found: list[InequalityStep]) -> bool:
    return not any(written(side).near or len(written(side).text) > LONGEST for s in found for side in (s.left, s.right))


def _number(value: Fraction) -> Scalar:
    return numbers.rational(value)


def _surd(part: Fraction, root: Fraction) -> Scalar:
    zero = numbers.rational(0)
    return numbers.Surd(zero, numbers.rational(part), numbers.rational(root))


def _fraction(x: Any) -> Fraction:
    return numbers.fraction(x.fmpq())


def _plain(value: Fraction, power: int) -> Written:
    """Return a decimal with a finite number of digits, times 10^power."""
    digits = 0
    while (value * 10**digits).denominator != 1:
        digits += 1
    body = str(abs(int(value * 10**digits))).rjust(digits + 1, "0")
    body = f"{body[:-digits]}.{body[-digits:]}" if digits else body
    raised = f"·10{str(power).translate(RAISED)}" if power else ""
    minus = value < 0
    return math(f"{'−' * minus}{body}{raised}", f"{'-' * minus}{body}" + (rf"\cdot 10^{{{power}}}" if power else ""))
