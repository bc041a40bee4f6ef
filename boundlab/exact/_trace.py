"""Details that an exact engine gives beside the left side: the numbers that it was made of."""

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias, final

from boundlab.arithmetic.numbers import Scalar
from boundlab.expectation import Moments, RecordedOutcome, Steps
from boundlab.tape import Tape

Point: TypeAlias = tuple[Scalar, ...]


@final
@dataclass(frozen=True, slots=True)
class Outcomes:
    """All that can happen, by what the metric sees.

    Parameters
    ----------
    each
        None where there are too many states to keep what led to them. Where the metric looks at the average of the
        models before the last one, their points are these models.
    steps
        The local steps of all runs, where there is no noise.
    records
        For each record its points with their probabilities, averages among them; for where ``each`` has too many rows.
    """

    each: list[RecordedOutcome] | None
    steps: list[Steps]
    records: list[list[tuple[Point, Fraction]]]


@final
@dataclass(frozen=True, slots=True)
class Models:
    """One schedule without noise: the server models 0, 1, …, and the tape that made them.

    Parameters
    ----------
    moves
        From where to where the local steps of each run lead, in the order of the runs.
    """

    each: list[Point]
    tape: Tape
    moves: list[tuple[Point, Point]]


@final
@dataclass(frozen=True, slots=True)
class MomentsOf:
    """Moments of the server models 0, 1, …; or of what the records show.

    Parameters
    ----------
    summed
        Whether those of the sums of the models before are among them, for a metric of their average.
    """

    each: list[Moments]
    summed: bool


ExactTrace: TypeAlias = Outcomes | Models | MomentsOf
