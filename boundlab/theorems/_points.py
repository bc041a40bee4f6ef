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
    of
        The constants that may be about it: those that are read there.
    on_tape
        Whether one run shows all of its points; else a set is asked for that no event sequence leaves.
    """

    id: str
    words: str
    of: tuple[str, ...]
    on_tape: bool = True


_SLOPES: Final = ("B", "G", "G_sq")
_SPREADS: Final = ("sigma_g", "sigma_g_mean")
_BUILT_IN = (
    PointSet("local-steps", "at the local steps of all updates that enter server updates 1 … T + N − 1", _SLOPES),
    PointSet(
        "rounds",
        "at each client's local steps up to the last of a round that the server reads in rounds 1 … T",
        _SLOPES,
    ),
    PointSet("segments", "on the segments from w[0] to w[y], y < N, of all f_i, where N > 1", _SLOPES),
    PointSet("virtual-segments", "on the segments from w[0] to v[t], t < N, of all f_i, with v virtual", _SLOPES),
    PointSet("server", "at w[t], t < T, of all f_i", _SPREADS),
    PointSet("virtual", "at v[t], t < T, of all f_i, with v virtual", _SPREADS),
    PointSet(
        "passes",
        "at the points of all passes that a client could begin at any server model",
        (*_SLOPES, "sigma", "sigma_l"),
        False,
    ),
    PointSet("models", "at all server models that there could be, of all f_i", _SPREADS, False),
)
POINT_SETS: Final[Mapping[str, PointSet]] = MappingProxyType({one.id: one for one in _BUILT_IN})


def places(words: Iterable[str]) -> str:
    """Return what a constant is about, in words."""
    return ", and ".join(POINT_SETS[word].words for word in words)


def check_points(owner: str, points: Mapping[str, tuple[str, ...]], assumptions: Iterable[str]) -> None:
    """Make sure that sets of points are known and fit what is read there, and that the theorem is about runs.

    Raises
    ------
    SpecError
        If not.
    """
    for name, words in points.items():
        for word in words:
            if word not in POINT_SETS:
                raise SpecError(f"{owner}: points.{name} names no set of points: {word!r}; {nearest(word, POINT_SETS)}")
            if name not in POINT_SETS[word].of:
                read = ", ".join(POINT_SETS[word].of)
                raise SpecError(f"{owner}: points.{name}: {word} is where {read} are read, and {name} is none of them")
    if points and BOUNDED_RUN not in assumptions:
        raise SpecError(f"{owner}: points are those of a run: assume {BOUNDED_RUN}, too")
