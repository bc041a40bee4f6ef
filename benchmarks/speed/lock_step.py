"""The part of the benchmarks of trials that needs torch."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from benchmarks.speed.cpu import Row, paired
from benchmarks.speed.problems import STEP
from boundlab.execute import lockstep
from boundlab.execute.packing import pack
from boundlab.objective import Problem
from boundlab.simulate.tensors import tensors_of
from boundlab.tape import Tape

_CPU = torch.device("cpu")


def in_lock_step(what: str, problem: Problem, tapes: Sequence[Tape], own: Row, repeats: int) -> list[Row]:
    """Measure many trials at once: against batched products alone, and against the executor in NumPy."""
    dtype = torch.float32 if problem.x0.dtype == np.float32 else torch.float64
    batched = tensors_of(problem, _CPU, dtype)
    updates = sum(len(tape.descend.client) for tape in tapes)

    def ours() -> None:
        trials = range(len(tapes))
        lockstep.run(pack(tapes), problem.x0, batched, 0, trials, lambda *_: None, _CPU, dtype)

    step = _quadratic_steps(batched) if problem.id == "quadratic" else _batch_steps(batched, tapes, problem)
    mine, floor = paired(repeats, (ours, updates), (_by_hand(problem, tapes, dtype, step), updates))
    return [Row(what, "FedBuff by hand in torch", mine, floor), Row(what, "the executor in NumPy", mine, own.ours)]


Step = Callable[[torch.Tensor, torch.Tensor, int], None]


def _columns(tapes: Sequence[Tape], name: str) -> torch.Tensor:
    """Return a column of the updates of all tapes, shape (T, R), as far as the shortest goes."""
    T = min(len(tape.descend.client) for tape in tapes)
    return torch.as_tensor(np.stack([getattr(tape.descend, name)[:T] for tape in tapes], axis=1))


def _by_hand(problem: Problem, tapes: Sequence[Tape], dtype: torch.dtype, step: Step) -> Callable[[], torch.Tensor]:
    """Return FedBuff of R models side by side, as one would write it down."""
    clients, R = _columns(tapes, "client"), len(tapes)
    rounds = round(sum(len(tape.descend.client) for tape in tapes) / R)
    start, first = torch.as_tensor(problem.x0).to(dtype), torch.arange(R) * problem.n

    def bare() -> torch.Tensor:
        changes, x = torch.zeros((R * problem.n, problem.d), dtype=dtype), start.expand(R, -1).clone()
        for turn in range(rounds):
            who = clients[turn % len(clients)]
            place = first + who
            if turn >= problem.n:  # before that all begin at x0
                x += changes.index_select(0, place)
            y = x.clone()
            step(y, who, turn % len(clients))
            changes.index_copy_(0, place, y.sub_(x))
        return x

    return bare


def _batch_steps(batched: Any, tapes: Sequence[Tape], problem: Any) -> Step:
    """Return local steps on mini-batches: gather, batched product, slope, batched product, step."""
    clients, R, steps = _columns(tapes, "client"), len(tapes), int(tapes[0].descend.steps[0])
    counts = np.full(clients.shape, steps)
    drawn = batched.draws(0, torch.arange(R), clients, _columns(tapes, "update"), counts)
    X, y, p, b = batched.X, batched.targets, batched.X.shape[1], drawn.shape[-1]
    softmax, nu = batched.loss.id == "softmax", problem.nu

    def work(local: torch.Tensor, _clients: torch.Tensor, turn: int) -> None:
        x = local.view(R, p, -1)
        for step in range(steps):
            rows = drawn[turn, :, step].reshape(-1)
            features, target = X.index_select(0, rows).view(R, b, p), y.index_select(0, rows).view(R, b, -1)
            z = torch.bmm(features, x)
            z = (torch.softmax(z, dim=-1) if softmax else z).sub_(target)
            if nu:
                local.mul_(1.0 - STEP * nu)
            x.baddbmm_(features.transpose(1, 2), z, alpha=-STEP / b)

    return work


def _quadratic_steps(batched: Any) -> Step:
    """Return one gradient step of each model."""
    A, b = batched.clients.A, batched.clients.b

    def work(x: torch.Tensor, who: torch.Tensor, _turn: int) -> None:
        away = x - b.index_select(0, who)
        x.unsqueeze(2).baddbmm_(A.index_select(0, who), away.unsqueeze(2), alpha=-STEP)

    return work
