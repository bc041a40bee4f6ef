"""Algorithms whose server adds differences that clients make: how much of them is on its way at any time."""

from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True, slots=True)
class InFlight:
    """Every server update is x_s ← x_s + Σ weight·(y − x), y what local steps make of an earlier server model x.

    Weights are ≥ 0. Whatever the events are, these limits hold; none depends on how stale an update is.

    Parameters
    ----------
    steps, step_size
        Of an update: how many local steps, and the largest size that any of them has, unit (−1, 2).
    pending
        The largest total weight of updates that began with earlier versions, when a version begins.
    begun
        The largest total weight of updates that begin with one version.
    used
        The largest total weight in one server update.
    """

    steps: int
    step_size: float
    pending: float
    begun: float
    used: float
