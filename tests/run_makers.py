"""A plan, a tape and one trial from words: where tests of runs begin."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from boundlab.case import delays_from, problem_from
from boundlab.compare.trials import trial_tape
from boundlab.delays import DelayModel
from boundlab.instance import Plan, make_plan
from boundlab.metrics import Watch
from boundlab.objective import Oracle, Problem
from boundlab.options import Options
from boundlab.randomness import Streams
from boundlab.registry import lookup
from boundlab.simulate.work import compile_trial, run_once
from boundlab.tape import RecordAt, Tape
from boundlab.theorems import Theorem, load_theorem


class Watched(Oracle):
    """Local steps, each of which notes whose it is and where it begins."""

    def __init__(self, problem: Problem) -> None:
        self.inner, self.begun = problem.oracle(Streams(1)), list[tuple[int, np.ndarray]]()

    def draws(self, clients: np.ndarray, updates: np.ndarray, steps: int) -> Any:
        return self.inner.draws(clients, updates, steps)

    def draw_size(self, steps: int) -> int:
        return self.inner.draw_size(steps)

    def implicit_step(self, x: np.ndarray, client: int, draw: Any, step_size: float) -> None:
        raise AssertionError

    def step(self, x: np.ndarray, client: int, draw: Any, step_size: float) -> None:
        self.begun.append((client, x.copy()))
        self.inner.step(x, client, draw, step_size)

    def far(self, centre: Any) -> float:
        """Return the largest distance of a point from a centre."""
        return max(float(np.linalg.norm(x - centre)) for _, x in self.begun)


def plan_of(
    theorem: Theorem | str,
    problem: Problem | str,
    delays: str = "deterministic",
    iterations: int = 20,
    *,
    server: str | None = None,
    beyond: Sequence[str] = (),
    trials: int = 1,
    **settings: Any,
) -> Plan:
    """Return the plan of a theorem on a problem and delays, with symbols and options as ``--set`` takes them."""
    statement = load_theorem(theorem) if isinstance(theorem, str) else theorem
    built = problem_from(problem) if isinstance(problem, str) else problem
    model = delays_from(delays, built.n)
    policy = lookup("algorithms", statement.algorithm).policy(server, model)
    chosen = {name: str(value) for name, value in settings.items()}
    return make_plan(statement, built, model, policy, iterations, chosen, beyond, trials=trials)


def tape_of(
    name: str,
    options: dict[str, Any],
    clients: int,
    iterations: int,
    delays: DelayModel | str = "exponential",
    *,
    server: str | None = None,
    records: RecordAt | None = None,
    seed: int = 0,
    trial: int = 0,
    exact: bool = False,
) -> Tape:
    """Return one run of an algorithm; unless told otherwise it shows its end.

    Parameters
    ----------
    exact
        Whether its numbers know what they stand for.
    """
    algorithm = lookup("algorithms", name)
    model = delays_from(delays, clients) if isinstance(delays, str) else delays
    parameters, policy = algorithm.read(Options(name, options)), algorithm.policy(server, model)
    shown = RecordAt(np.array([iterations])) if records is None else records
    parameters = parameters.known() if exact else parameters
    return compile_trial(algorithm, parameters, clients, model, policy, iterations, shown, Streams(seed, trial))


def run_trial(plan: Plan, seed: int, trial: int) -> tuple[Any, Any, Tape]:
    """Return both ends of the left sides of one trial of a plan, shape (points,) each, and its tape."""
    watch = Watch(plan.metric, plan.problem, plan.ks)
    tape = trial_tape(plan, seed, trial)
    run_once(tape, plan.problem, Streams(seed, trial), watch)
    return watch.low, watch.high, tape
