"""Sets of points: where a run takes the gradients that a theorem along the run bounds."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, final

from boundlab.assumptions import BOUNDED_RUN
from boundlab.errors import SpecError
from boundlab.options import nearest


@final
@dataclass(frozen=True, slots=True)
class PointSet:
    """A set of points.

    Parameters
    ----------
    id
        How theorems and files name it.
    words
        Where gradients are bounded; T is the horizon, N the window, 1 where there is none.
    on_tape
        Whether one run shows all of its points; else a set is asked for that no event sequence leaves.
    """

    id: str
    words: str
    on_tape: bool = True


_BUILT_IN = (
    PointSet("local-steps", "at the local steps of all updates that enter server updates 1 … T + N − 1"),
    PointSet("rounds", "at each client's local steps up to the last of a round that the server reads in rounds 1 … T"),
    PointSet("segments", "on the segments from w[0] to w[y], y < N, of all f_i, where N > 1"),
    PointSet("virtual-segments", "on the segments from w[0] to v[t], t < N, of all f_i, with v virtual"),
    PointSet("server", "at w[t], t < T, of all f_i"),
    PointSet("virtual", "at v[t], t < T, of all f_i, with v virtual"),
    PointSet("passes", "at the points of all passes that a client could begin at any server model", False),
    PointSet("models", "at all server models that there could be, of all f_i", False),
)
POINT_SETS: Final[Mapping[str, PointSet]] = MappingProxyType({one.id: one for one in _BUILT_IN})


def places(words: Iterable[str]) -> str:
    """Return what a constant is about, in words."""
    return ", and ".join(POINT_SETS[word].words for word in words)


def check_points(owner: str, points: Mapping[str, tuple[str, ...]], assumptions: Iterable[str]) -> None:
    """Make sure that sets of points are known, and that the theorem says that it is about runs.

    Raises
    ------
    SpecError
        If not.
    """
    for name, words in points.items():
        for word in words:
            if word not in POINT_SETS:
                raise SpecError(f"{owner}: points.{name} names no set of points: {word!r}; {nearest(word, POINT_SETS)}")
    if points and BOUNDED_RUN not in assumptions:
        raise SpecError(f"{owner}: points are those of a run: assume {BOUNDED_RUN}, too")
