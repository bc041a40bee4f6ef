"""A problem on the bounded set that its runs never leave: what grows without end on R^d has a limit along the run."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import final

from boundlab.objective import Constant, Problem, SameObjective
from boundlab.objective._wrapped import answered_by
from boundlab.objective.composite._on_set import assumptions_within, constants_within
from boundlab.objective.confinement import InvariantSet
from boundlab.objective.simple import BoundedSet


@final
@answered_by(
    "inner",
    "quadratic",
    "least_squares",
    "confinement",
    "rational",
    "in_balls",
    "tensors",
)
@dataclass(frozen=True, eq=False)
class AlongRun(SameObjective):
    """The same problem, whose B, G, sigma and sigma_g are those on a set that no local step leaves.

    Parameters
    ----------
    inner
        The problem.
    region
        The set; it holds x0.
    limit
        The largest local step that never leaves it, unit (−1, 2).
    words
        What set it is.
    """

    inner: Problem
    region: InvariantSet
    limit: float
    words: str = "the set that no step leaves"

    @property
    def run_limit(self) -> float | None:
        """The largest local step that keeps a run on the set."""
        return self.limit

    @cached_property
    def _there(self) -> dict[str, Constant]:
        region = BoundedSet(*self.region.around())
        return constants_within(self.inner, region.with_point(self.x0), self.words)

    def constants(self) -> Mapping[str, Constant]:
        """Return those of the problem, and those on the set."""
        return {**self.inner.constants(), **self._there}

    def assumptions(self) -> Mapping[str, str]:
        """Return what is met on the set."""
        met = assumptions_within(self.inner, self._there, self.words)
        return {**self.inner.assumptions(), **met}
