"""Theorems along the run: the same claims, whose constants bound gradients at certain points of the run alone."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from boundlab.assumptions import BOUNDED_RUN, DETERMINISTIC
from boundlab.registry import find
from boundlab.theorems._points import POINT_SETS
from boundlab.theorems._theorem import Theorem

ALONG_RUN: Final = ".along-run"


def along_run(theorem: Theorem, points: Mapping[str, tuple[str, ...]]) -> Theorem:
    """Return the form of a theorem along the run; its proofs are those of the theorem with this form's ending.

    Where one run shows all points, the theorem is about full gradients: of noise no run shows how large it may be.

    Parameters
    ----------
    points
        Every constant of this kind, each with the sets of points at which the proof uses it.
    """
    shown = all(POINT_SETS[word].on_tape for words in points.values() for word in words if word in POINT_SETS)
    more = (BOUNDED_RUN, DETERMINISTIC) if shown else (BOUNDED_RUN,)
    return replace(
        theorem,
        id=f"{theorem.id}{ALONG_RUN}",
        title=f"{theorem.title}, constants along the run",
        assumptions=(*theorem.assumptions, *(one for one in more if one not in theorem.assumptions)),
        points=dict(points),
        proofs=tuple(f"{one}{ALONG_RUN}" for one in theorem.proofs),
    )


def form_along_run(theorem: Theorem) -> Theorem | None:
    """Return the registered form of a theorem along the run, or None if there is none."""
    found = find("theorems", f"{theorem.id}{ALONG_RUN}")
    return found if isinstance(found, Theorem) else None


def read_off_runs(theorem: Theorem) -> frozenset[str]:
    """Return the constants that are read off each run."""
    return frozenset(name for name, words in theorem.points.items() if all(POINT_SETS[word].on_tape for word in words))
