"""One trial: sample events, compile, execute."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundlab.algorithms import Algorithm
from boundlab.delays import DelayModel, ServerPolicy
from boundlab.errors import SpecError
from boundlab.execute.floats import run
from boundlab.objective import Problem
from boundlab.randomness import Streams
from boundlab.tape import RecordAt, Tape

_POINTS = 12


def compile_trial(
    algorithm: Algorithm[Any],
    parameters: Any,
    clients: int,
    delays: DelayModel,
    policy: ServerPolicy,
    iterations: int,
    records: RecordAt,
    streams: Streams,
) -> Tape:
    """Sample as many events as ``iterations`` take, and compile them.

    Raises
    ------
    SpecError
        If the delays or the parameters cannot make so many iterations.
    """
    if not delays.says_arrivals and algorithm.arrivals and algorithm.updates_a_version(parameters) is None:
        raise SpecError(
            f"delays {delays.id} say how old models are, and {algorithm.id} goes by who arrives when; async_sgd, "
            "fedasync, fedbuff or fedstaleweight would fit"
        )
    if delays.rounds is not None and not algorithm.takes_rounds:
        raise SpecError(f"delays {delays.id} say who is in each round: sfedavg takes that, {algorithm.id} does not")
    made = algorithm.in_one_pass(parameters, clients, delays, iterations, records, streams)
    if made is not None:
        return made
    count = max(algorithm.events_for(parameters, clients, iterations), 1)
    while True:
        events = algorithm.sample(parameters, delays, policy, streams, clients, count)
        tape = algorithm.schedule(parameters, events, clients, records, iterations)
        if tape.iterations >= iterations:
            return tape
        # Versions that are not made at a fixed number of events: ask for as many more as are missing, and some.
        count = max(count + 8, min(16 * count, int(1.1 * count * iterations / max(tape.iterations, 1))))


def run_once(tape: Tape, problem: Problem, streams: Streams, observe: Any, *, compiled: bool = False) -> None:
    """Execute a tape with the problem's stochastic gradients.

    Parameters
    ----------
    observe
        Called as observe(row, x) with the records as they come, or as observe(rows, X, off) with many of them.
    compiled
        Whether machine code runs it, where the problem has steps to compile.
    """
    clients, oracle = None, problem.oracle(streams)
    if compiled:
        from boundlab.execute import compiled as machine

        clients = machine.clients_of(problem, tape)
    # Metrics of a run that overflows are infinite; that is a result.
    with np.errstate(over="ignore", invalid="ignore"):
        if clients is None:
            run(tape, problem.x0, oracle, observe)
        else:
            machine.run(tape, problem.x0, clients, oracle, observe)


def spaced_iterations(total: int, first: int) -> NDArray[np.int64]:
    """Return about a dozen iterations from ``first`` to ``total``, evenly spaced in their logarithm."""
    spaced = np.rint(np.geomspace(1, total, _POINTS)).astype(np.int64)
    return np.unique(np.concatenate([[first], spaced[spaced >= first]]))
