"""Theorems along the run: the same claims, whose constants bound gradients at certain points of the run alone."""

from typing import Final

from boundlab.registry import find
from boundlab.theorems._points import POINT_SETS
from boundlab.theorems._theorem import Theorem

ALONG_RUN: Final = ".along-run"


def form_along_run(theorem: Theorem) -> Theorem | None:
    """Return the registered form of a theorem along the run, or None if there is none."""
    found = find("theorems", f"{theorem.id}{ALONG_RUN}")
    return found if isinstance(found, Theorem) else None


def read_off_runs(theorem: Theorem) -> frozenset[str]:
    """Return the constants that are read off each run."""
    return frozenset(name for name, words in theorem.points.items() if all(POINT_SETS[word].on_tape for word in words))
