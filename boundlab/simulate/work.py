"""What is done with each trial, wherever it runs."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar, final

from boundlab.metrics import Metric
from boundlab.tape import Tape

Seen = TypeVar("Seen")
Result = TypeVar("Result")
Values = Sequence[tuple[float, float]]


@final
@dataclass(frozen=True, slots=True)
class Work(Generic[Seen, Result]):
    """What is done with each trial.

    Parameters
    ----------
    metrics
        Evaluated at each record.
    tape
        Compiles a trial.
    begin, see, end
        What is kept of a trial: made anew, shown (kept, row, one interval a metric), and turned into its result.
    """

    metrics: Sequence[Metric]
    tape: Callable[[int], Tape]
    begin: Callable[[], Seen]
    see: Callable[[Seen, int, Values], None]
    end: Callable[[Tape, Seen], Result]


def collect(found: Iterable[Result], progress: Callable[[int], None] | None) -> list[Result]:
    """Return all results, telling after each how many there are."""
    out = []
    for result in found:
        out.append(result)
        if progress is not None:
            progress(len(out))
    return out
