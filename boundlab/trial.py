"""One trial: sample events, compile, execute, read the statistics off the tape."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundlab.algorithms import Algorithm, Records
from boundlab.delays import DelayModel, ServerPolicy, sample_events
from boundlab.execute.numpy_executor import Observe, run
from boundlab.objective import Problem
from boundlab.randomness import Streams
from boundlab.statistics import Statistics, statistics

_POINTS = 12


def run_once(
    algorithm: Algorithm,
    parameters: Any,
    problem: Problem,
    delays: DelayModel,
    policy: ServerPolicy,
    iterations: int,
    records: Records,
    streams: Streams,
    observe: Observe,
) -> Statistics:
    """Run one trial and return what its tape says; ``observe`` sees the records as they come."""
    events = sample_events(delays, policy, streams, iterations)
    tape = algorithm.schedule(parameters, events, problem.n, records, iterations)
    # Metrics of a run that overflows are infinite; that is a result.
    with np.errstate(over="ignore", invalid="ignore"):
        run(tape, problem.x0, problem.oracle(streams), observe)
    return statistics(tape)


def spaced_iterations(total: int, first: int) -> NDArray[np.int64]:
    """Return about a dozen iterations from ``first`` (0 or 1) to ``total``, evenly spaced in their logarithm."""
    spaced = np.rint(np.geomspace(1, total, _POINTS)).astype(np.int64)
    return np.unique(np.concatenate([[first], spaced]))
