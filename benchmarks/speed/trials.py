"""Benchmarks of trials: the executors in NumPy and torch against bare loops with the same mini-batches.

T1: softmax regression of MNIST's shape, 128 clients, batches of 32, one local step; T2: fifty; T3: least squares,
10,000 × 400, 40 clients, batches of 256; T4: quadratics, d = 10, 10,000 clients. All under FedBuff, each arrival an
update of the server.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from benchmarks.speed.cpu import Row, Times, paired
from benchmarks.speed.problems import STEP, digits, quadratics, regression, tapes_of
from boundlab.arithmetic.compiled import installed, worth
from boundlab.arithmetic.tensors import load_torch
from boundlab.errors import MissingExtraError
from boundlab.execute import floats
from boundlab.objective import Problem
from boundlab.randomness import Streams
from boundlab.simulate import cores, in_order
from boundlab.tape import Tape

_TRIALS = 64  # in lock step


@final
@dataclass(frozen=True, slots=True)
class Setting:
    """What is run.

    Parameters
    ----------
    clients, updates
        Of a run, of which the user may ask for a share: clients, and client updates after their first ones.
    steps
        Local steps of each.
    """

    id: str
    words: str
    problem: Callable[[int], Problem]
    clients: int
    updates: int
    steps: int = 1

    def make(self, share: float) -> tuple[Problem, str]:
        """Return the problem with a share of the clients, all at most, and what it is in words."""
        problem = self.problem(max(2, round(min(1.0, share) * self.clients)))
        return problem, self.words.replace("{n}", f"n = {problem.n:,}")


SETTINGS = (
    Setting("T1", "softmax 784×10, {n}, b = 32, M = 1, float32", digits, 128, 1000),
    Setting("T2", "softmax 784×10, {n}, b = 32, M = 50, float32", digits, 128, 30, 50),
    Setting("T3", "least squares in 400 numbers, 1000 rows a client, {n}, b = 256, float64", regression, 40, 1000),
    Setting("T4", "quadratics, {n}, d = 10, float64", quadratics, 10_000, 10_000),
)


def measure_trials(share: float, repeats: int, say: Callable[[str], None]) -> list[Row]:
    """Measure both executors on all settings; without torch NumPy's alone."""
    rows = []
    for setting in SETTINGS:
        (problem, told), updates = setting.make(share), max(2, round(share * setting.updates))
        tapes = tapes_of("fedbuff", {"eta_l": STEP, "count": 1, "M": setting.steps}, problem.n, updates, 1)
        own = _in_numpy(f"{setting.id} NumPy: {told}", problem, tapes[0], repeats)
        rows.append(own)
        say(words(own))
        if setting.id == "T4" and installed():
            for row in _compiled(problem, updates, repeats):
                rows.append(row)
                say(words(row))
        try:
            load_torch()
        except MissingExtraError as missing:
            say(f"{setting.id} on torch is left out: {missing}")
            continue
        from benchmarks.speed.lock_step import in_lock_step

        many = max(2, round(share * setting.updates / (2 if setting.steps == 1 else 20)))
        tapes = tapes_of("fedbuff", {"eta_l": STEP, "count": 1, "M": setting.steps}, problem.n, many, _TRIALS)
        for row in in_lock_step(f"{setting.id} torch, R = {_TRIALS}", problem, tapes, own, repeats):
            rows.append(row)
            say(words(row))
    return rows


def measure_jobs(share: float, repeats: int) -> list[Row]:
    """Measure trials in as many processes as there are cores: the floor is a share of the time of a single one."""
    count, setting = cores(), next(one for one in SETTINGS if one.id == "T2")
    if count < 2:
        return []
    (problem, _), updates, trials = setting.make(share), max(2, round(share * setting.updates)), 4 * count
    tapes = tapes_of("fedbuff", {"eta_l": STEP, "count": 1, "M": setting.steps}, problem.n, updates, trials)

    def trial(number: int) -> None:
        floats.run(tapes[number], problem.x0, problem.oracle(Streams(0, number)), lambda *_: None)

    def run(jobs: int) -> Callable[[], object]:
        return lambda: list(in_order(trial, trials, jobs))

    own, alone = paired(repeats, (run(count), trials), (run(1), trials))
    return [
        Row(
            f"{setting.id}, {trials} trials in {count} processes",
            f"1/{count} of one's time",
            own,
            Times(*([one / count for one in column] for column in alone)),
        )
    ]


def words(row: Row) -> str:
    """Return a measurement in a line."""
    low, high = row.ratios[0], row.ratios[-1]
    took = 1e6 * float(np.median(row.ours.wall))
    return f"{row.what}: {took:.3g} µs, {row.ratio:.2f} of {row.floor} ({low:.2f}–{high:.2f})"


def _in_numpy(what: str, problem: Problem, tape: Tape, repeats: int) -> Row:
    """Measure the reference executor: microseconds a client update."""
    updates = len(tape.descend.client)

    def ours() -> None:
        floats.run(tape, problem.x0, problem.oracle(Streams(0)), lambda *_: None)

    step = _quadratic_steps(problem) if problem.id == "quadratic" else _batch_steps(problem, tape)
    bare = _by_hand(problem, tape, step)
    own, floor = paired(repeats, (ours, updates), (bare, updates))
    return Row(what, "FedBuff by hand", own, floor)


def _compiled(problem: Problem, updates: int, repeats: int) -> list[Row]:
    """Measure the executor in machine code, and a whole trial from the first event on; microseconds a client update."""
    settings = "fedbuff", {"eta_l": STEP, "count": 1, "M": 1}, problem.n, updates, 1
    [tape], clients = tapes_of(*settings), problem.compiled()
    assert clients is not None  # noqa: S101  (for the type checker)
    count, bare = len(tape.descend.client), _by_hand(problem, tape, _quadratic_steps(problem))
    worth(10**9)  # as after some trials

    def run(one: Tape) -> object:
        return floats.run_compiled(one, problem.x0, clients, problem.oracle(Streams(0)), lambda *_: None)

    alone, whole, floor = paired(
        repeats, (lambda: run(tape), count), (lambda: run(tapes_of(*settings)[0]), count), (bare, count)
    )
    return [
        Row("T4 in machine code", "FedBuff by hand", alone, floor),
        Row("T4 in machine code, events and tape included", "FedBuff by hand, without its events", whole, floor),
    ]


def _by_hand(
    problem: Problem, tape: Tape, step: Callable[[NDArray[Any], int, int], None]
) -> Callable[[], NDArray[Any]]:
    """Return FedBuff as one would write it down: who arrives moves the model, and begins again from it."""
    clients = tape.descend.client.tolist()

    def bare() -> NDArray[Any]:
        x, y = problem.x0.copy(), np.empty_like(problem.x0)
        changes = np.zeros((problem.n, problem.d), dtype=x.dtype)
        for update, client in enumerate(clients):
            if update >= problem.n:  # before that all begin at x0
                x += changes[client]
            np.copyto(y, x)
            step(y, client, update)
            np.subtract(y, x, changes[client])
        return x

    return bare


def _batch_steps(problem: Any, tape: Tape) -> Callable[[NDArray[Any], int, int], None]:
    """Return local steps on mini-batches: gather, product, slope, product, step."""
    X, softmax, nu = problem.X, problem.loss.id == "softmax", problem.nu
    drawn = problem.oracle(Streams(0)).draws(tape.descend.client, tape.descend.update, int(tape.descend.steps[0]))
    drawn = [[np.asarray(rows) for rows in update] for update in drawn]
    wide, b, p = len(problem.x0) // X.shape[1], len(drawn[0][0]), X.shape[1]
    y = np.eye(wide, dtype=X.dtype)[problem.y] if softmax else problem.y.reshape(-1, 1).astype(X.dtype)
    rows, target = np.empty((b, p), X.dtype), np.empty((b, wide), X.dtype)
    z, change = np.empty((b, wide), X.dtype), np.empty((p, wide), X.dtype)

    def steps(local: NDArray[Any], _client: int, update: int) -> None:
        x = local.reshape(p, wide)
        for batch in drawn[update]:
            X.take(batch, 0, rows, "clip")
            y.take(batch, 0, target, "clip")
            np.dot(rows, x, z)
            if softmax:
                np.subtract(z, z.max(axis=1, keepdims=True), z)
                np.exp(z, z)
                np.divide(z, z.sum(axis=1, keepdims=True), z)
            np.subtract(z, target, z)
            np.multiply(z, -STEP / b, z)
            np.dot(rows.T, z, change)
            if nu:
                np.multiply(x, 1.0 - STEP * nu, x)
            np.add(x, change, x)

    return steps


def _quadratic_steps(problem: Any) -> Callable[[NDArray[Any], int, int], None]:
    """Return one gradient step."""
    A, centres = list(problem.A), list(problem.b)

    def steps(x: NDArray[Any], client: int, _update: int) -> None:
        x -= STEP * (A[client] @ (x - centres[client]))

    return steps
