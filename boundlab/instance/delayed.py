"""Sets that no schedule leaves, however late updates are: for a server that adds differences which clients make.

Let v be the server's model with all updates in it that have begun, whenever they enter. It differs from the server's
model x by the updates on their way, whose total weight has a limit (:class:`boundlab.algorithms.InFlight`), and it
moves by updates that begin at x. So staleness needs no limit: docs/theory/fedstaleweight.md has the proof.
"""

import math

import numpy as np

from boundlab.algorithms import InFlight
from boundlab.instance.ranges import of_constants
from boundlab.objective import Problem, Wrapped
from boundlab.objective.composite import AlongRun
from boundlab.objective.confinement import InvariantBall, Pull

_UP = 1.0 + 1e-12
_LOAD = 0.9  # of steps before anybody knows how long they are: at 1 there is no ball


def reach(pull: Pull, flight: InFlight, size: float) -> float | None:
    """Return the radius around the centre that no schedule leaves with local steps of at most a size; None: no ball."""
    total = flight.steps * size
    if max(size, flight.begun * total) * _UP > pull.longest:
        return None
    ahead = flight.pending * total
    away = ahead + (ahead + (flight.steps - 1) * size) * (pull.L / pull.mu)
    load = pull.L * away * _UP
    if load >= 1.0:
        return None
    settled = (pull.slope / pull.mu + away * pull.slope) / (1.0 - load)
    return max(settled, (pull.start + ahead * pull.slope) / (1.0 - pull.L * ahead * _UP)) * _UP


def drifted(pull: Pull, flight: InFlight, size: float, last: int) -> float | None:
    """Return a radius that no schedule leaves within ``last`` server updates: it grows with every one."""
    if size * _UP > pull.longest:
        return None
    shift, rate = pull.slope / pull.L, pull.L * flight.used * flight.steps * size * _UP
    with np.errstate(over="ignore"):
        grown = float(np.exp(last * np.log1p(rate))) * (max(pull.start, pull.slope / pull.mu) + shift) - shift
    return grown * _UP if math.isfinite(grown) else None


def on_its_set(problem: Problem, flight: InFlight, last: int, size: float | None) -> Problem:
    """Return a problem with the constants on a set that no schedule leaves, or itself where nobody knows such a set.

    Parameters
    ----------
    last
        How many server updates the run has.
    size
        The largest local step; None: nobody knows it yet, and the constants are those of any steps with a set.
    """
    known = [found for found in (problem.confinement(), of_constants(problem)) if found is not None]
    pulls = [] if isinstance(problem, Wrapped) else [pull for one in known for pull in one.pulls()]
    if not pulls:
        return problem
    tried = max(_shortest(pull, flight) for pull in pulls) if size is None else size
    within = [(reach(pull, flight, tried), pull) for pull in pulls]
    words = "the set that no schedule leaves"
    if all(radius is None for radius, _ in within):
        within = [(drifted(pull, flight, tried, last), pull) for pull in pulls]
        words = f"the set that no schedule leaves within {last} updates"
    balls = [
        InvariantBall(pull.centre, radius + pull.off, "late updates are pulled back")
        for radius, pull in within
        if radius is not None
    ]
    if not balls:
        return problem
    limit = math.inf if size is None else size
    return AlongRun(problem, min(balls, key=lambda one: one.radius), limit, words)


def _shortest(pull: Pull, flight: InFlight) -> float:
    """Return a local step with which there is a ball around the centre."""
    ahead = flight.pending * flight.steps
    load = pull.L * (ahead + (ahead + flight.steps - 1) * (pull.L / pull.mu))
    most = max(1.0, flight.begun * flight.steps) * _UP / pull.longest
    return 1.0 / max(load / _LOAD, most * _UP)
