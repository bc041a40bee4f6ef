"""A side of an inequality: exact, or as balls of any precision."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

from boundlab.arithmetic.numbers import Scalar, ball, rational


@final
@dataclass(frozen=True, slots=True)
class Side:
    """A number that can be had as a ball of any precision, and exactly where ``exact`` is not None."""

    exact: Scalar | None
    at: Callable[[], Any]


def weighted(parts: Sequence[tuple[Scalar, Side]]) -> Side:
    """Return Σ share·side of rational shares."""

    def at() -> Any:
        return sum((ball(share) * side.at() for share, side in parts), start=ball(rational(0)))

    known = [share * side.exact for share, side in parts if side.exact is not None]
    return Side(sum(known[1:], start=known[0]) if len(known) == len(parts) else None, at)
