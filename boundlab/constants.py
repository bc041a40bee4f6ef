"""One-sided certified constants."""

import math
from dataclasses import dataclass
from typing import Any, Literal

from boundlab.errors import SymbolError

Side = Literal["exact", "upper", "lower"]


@dataclass(frozen=True, slots=True)
class Constant:
    """A number that a theorem needs, with the side on which it may err.

    Parameters
    ----------
    value
        The number, finite.
    side
        ``exact`` (to rounding), ``upper`` (never below the truth) or ``lower`` (never above it).
    how
        Where it comes from, in a few words: closed form, eigenvalue, duality gap, user.

    Raises
    ------
    SymbolError
        If the value is not finite or the side is not one of the three.

    Examples
    --------
    >>> Constant(2.0, "upper", "eigenvalue").as_dict()
    {'value': 2.0, 'side': 'upper', 'how': 'eigenvalue'}
    """

    value: float
    side: Side
    how: str

    def __post_init__(self) -> None:
        if not math.isfinite(self.value):
            raise SymbolError(f"a constant must be finite, got {self.value!r} ({self.how})")
        if self.side not in ("exact", "upper", "lower"):
            raise SymbolError(f"a constant's side is exact, upper or lower, got {self.side!r}")

    def as_dict(self) -> dict[str, Any]:
        """Return the constant as JSON-ready fields."""
        return {"value": self.value, "side": self.side, "how": self.how}
