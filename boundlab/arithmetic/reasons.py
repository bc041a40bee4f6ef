"""How constants follow from a problem, each in one short formula that a hand can check."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

from boundlab.arithmetic.numbers import Scalar
from boundlab.arithmetic.writing import Written, math, written

_MOST = 4  # numbers that are written out


@final
@dataclass(frozen=True, slots=True)
class Reason:
    """A constant as a formula, and the same in numbers; None where these are too many, or too long."""

    formula: Written
    numbers: Written | None = None

    @property
    def parts(self) -> tuple[Written, ...]:
        """Formulas that are equal to the constant, one after the other."""
        return (self.formula,) if self.numbers is None else (self.formula, self.numbers)


def reason(text: str, latex: str, numbers: Written | None = None) -> Reason:
    """Return a formula that is written so for people and so in LaTeX, with its numbers unless one is shortened."""
    return Reason(math(text, latex), None if numbers is None or numbers.near else numbers)


def joined(text: str, latex: str, *parts: Written) -> Written:
    """Return a formula in which each ``{}`` is the next of the parts; braces of LaTeX are doubled."""
    return Written(
        text.format(*(one.text for one in parts)),
        latex.format(*(one.latex for one in parts)),
        text.format(*(one.exact for one in parts)),
        any(one.near for one in parts),
    )


def entry(x: Scalar | Fraction | int) -> Written:
    """Return a number that stands behind an operator: a negative one in brackets."""
    found = written(x)
    return joined("({})", "({})", found) if found.text.startswith("−") else found


def difference(a: Any, b: Any) -> Written:
    """Return a − b."""
    return joined("{} − {}", "{} - {}", written(a), entry(b))


def away(a: Any, b: Any) -> Written:
    """Return |a − b|."""
    return joined("|{}|", "|{}|", difference(a, b))


def length(pairs: Sequence[tuple[Any, Any]]) -> Written | None:
    """Return the length of the vector of differences; None where it has many entries."""
    if len(pairs) == 1:
        return away(*pairs[0])
    squares = _added([joined("({})²", "({})^2", difference(a, b)) for a, b in pairs])
    return None if squares is None else joined("√({})", r"\sqrt{{{}}}", squares)


def root_mean_square(parts: Sequence[Written]) -> Written | None:
    """Return the root of the mean of squares of so many parts."""
    squares = _added([joined("({})²", "({})^2", one) for one in parts])
    count = written(len(parts))
    return None if squares is None else joined("√(({})/{})", r"\sqrt{{({})/{}}}", squares, count)


def norm(entries: Sequence[Fraction]) -> Written | None:
    """Return the length of a vector; None where it has many entries."""
    if len(entries) == 1:
        return entry(abs(entries[0]))
    squares = _added([_squared(one) for one in entries])
    return None if squares is None else joined("√({})", r"\sqrt{{{}}}", squares)


def extreme(of: Iterable[Written | None], which: str = "max") -> Written | None:
    """Return the largest, or the least, of several numbers; None where there are many different ones."""
    every = list(of)
    found = list({one.text: one for one in every if one is not None}.values())
    if None in every:
        return None
    if len(found) == 1:
        return found[0]
    inside = _listed(found, ", ")
    return None if inside is None else joined(f"{which}({{}})", rf"\{which}({{}})", inside)


def times(a: Written | None, b: Fraction) -> Written | None:
    """Return a·b; a where b is 1."""
    return a if a is None or b == 1 else joined("{}·{}", r"{} \cdot {}", a, entry(b))


def square(a: Written | None) -> Written | None:
    """Return a²."""
    if a is None:
        return None
    return _of_square(a)


def with_noise(square_of_slope: Written | None, sigma: Fraction) -> Written | None:
    """Return √(s² + σ²)."""
    if square_of_slope is None:
        return None
    return joined("√({} + {})", r"\sqrt{{{} + {}}}", square_of_slope, _squared(sigma))


def _squared(x: Scalar | Fraction | int) -> Written:
    """Return x²; whatever is no digits alone stands in brackets, as 2/3² is 2/9."""
    return _of_square(written(x))


def _of_square(a: Written) -> Written:
    return joined("{}²", "{}^2", a) if a.text.isdigit() else joined("({})²", "({})^2", a)


def _added(parts: Sequence[Written]) -> Written | None:
    return _listed(parts, " + ")


def _listed(parts: Sequence[Written], between: str) -> Written | None:
    if not 0 < len(parts) <= _MOST:
        return None
    pattern = between.join("{}" for _ in parts)
    return joined(pattern, pattern, *parts)
