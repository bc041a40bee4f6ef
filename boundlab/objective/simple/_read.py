"""The options that make an objective composite."""

from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Final

from boundlab.arithmetic.numbers import read_number
from boundlab.errors import SpecError
from boundlab.objective.simple._l1 import L1
from boundlab.objective.simple._sets import BallIndicator, BoxIndicator
from boundlab.objective.simple._simple import ProxFunction
from boundlab.options import Options

OPTIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "l1": "weight w: minimise f(x) + w·‖x‖₁ by proximal steps",
        "box": "[low,high]: minimise f over low ≤ x_j ≤ high by projected steps",
        "ball": "radius r: minimise f over ‖x‖ ≤ r by projected steps",
    }
)


def read_simple(options: Options) -> ProxFunction | None:
    """Return the h of the options l1, box and ball, whose numbers are taken at their word; None without any.

    Raises
    ------
    SpecError
        If there are two, or a number is wrong.
    """
    given = [key for key in OPTIONS if options.has(key)]
    if not given:
        return None
    if len(given) > 1:
        raise SpecError(f"{options.owner}: {' and '.join(given)} do not go together; keep one of them")
    key = given[0]
    what = f"{options.owner}: {key}"
    try:
        match key:
            case "l1":
                return L1(read_number(options.raw(key), what))
            case "ball":
                return BallIndicator(read_number(options.raw(key), what))
            case _:
                return BoxIndicator(*_ends(options.raw(key), what))
    except SpecError as error:
        raise SpecError(str(error) if str(error).startswith(what) else f"{options.owner}: {error}") from None


def _ends(raw: object, what: str) -> tuple[Fraction, Fraction]:
    listed = raw if isinstance(raw, (list, tuple)) else str(raw).strip("[] ").replace(",", " ").split()
    if len(listed) != 2:
        raise SpecError(f"{what} must be [low,high], e.g. [-1,1], got {raw!r}")
    return read_number(listed[0], what), read_number(listed[1], what)
