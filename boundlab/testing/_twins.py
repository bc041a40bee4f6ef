"""Checks that what a problem can do beyond values and gradients is what the loops of its base class do."""

import importlib.util
from fractions import Fraction

import numpy as np

from boundlab.errors import AssumptionError
from boundlab.randomness import Streams
from boundlab.testing._agree import at_most, equal, expect
from boundlab.testing._sample import SamplePoints

_SIZE = 0.25


def batches(at: SamplePoints) -> None:
    """Check that many points at once are the same points one by one."""
    p = at.problem
    for client in range(p.n):
        what = f"{at.who}: gradients({client}, X) and gradient({client}, x) row by row"
        equal(what, p.gradients(client, at.points), at.gradients[client], scale=at.steepest)
    equal(f"{at.who}: values(X) and value(x) row by row", p.values(at.points), at.values, scale=at.largest)


def descents(at: SamplePoints) -> None:
    """Check that a local step in place is the gradient step."""
    for client in range(at.problem.n):
        for x, slope in zip(at.points, at.gradients[client], strict=True):
            found = np.array(x)
            at.problem.descend(client, found, _SIZE)
            what = f"{at.who}: descend({client}, x, {_SIZE}) and x − {_SIZE}·gradient({client}, x)"
            equal(what, found, x - _SIZE * slope, scale=at.steepest + at.size)


def scaled(at: SamplePoints) -> None:
    """Check that the problem with factor_i·f_i has these values and gradients."""
    p = at.problem
    factors = [Fraction(1 + client, 2) for client in range(p.n)]
    other = p.scaled(factors)
    if other is None:
        return
    expect((other.n, other.d) == (p.n, p.d), f"{at.who}: scaled() has n, d = {other.n}, {other.d}")
    expect(np.array_equal(other.x0, p.x0), f"{at.who}: scaled() starts elsewhere")
    for client, factor in enumerate(factors):
        what = f"{at.who}: gradient({client}, x) of scaled() and {factor} times the problem's"
        found = [other.gradient(client, x) for x in at.points]
        equal(what, found, float(factor) * at.gradients[client], scale=float(max(factors)) * at.steepest)
        if at.client_values is not None:
            what = f"{at.who}: client_value({client}, x) of scaled() and {factor} times the problem's"
            values = [other.client_value(client, x) for x in at.points]
            equal(what, values, float(factor) * at.client_values[client], scale=float(max(factors)) * at.largest)


def kinks(at: SamplePoints) -> None:
    """Check that gradients are continuous where near_kink() says that they do not jump."""
    p, room = at.problem, 1e-9 * at.reach
    v = np.random.Generator(np.random.Philox(31)).normal(size=(len(at.points), p.d))
    v *= room / np.linalg.norm(v, axis=1, keepdims=True)
    for client in range(p.n):
        quiet = ~p.near_kink(client, at.points, room)
        moved = np.array([p.gradient(client, x) for x in at.points + v])
        jump = np.linalg.norm(moved - at.gradients[client], axis=1)[quiet]
        far = float(jump.max(initial=0.0))
        words = f"the gradient of client {client} jumps by {far:.4g} within {room:.4g} of a point"
        expect(far <= 1e-3 * at.steepest, f"{at.who}: {words}, and near_kink() sees none")


def tensors(at: SamplePoints) -> None:
    """Check the problem on tensors, where torch is installed: values, gradients and stochastic steps."""
    if importlib.util.find_spec("torch") is None:
        return
    import torch

    p = at.problem
    twin = p.tensors(torch.device("cpu"), torch.float64)
    if twin is None:
        return
    who = f"{at.who}, on tensors"
    X = torch.from_numpy(np.ascontiguousarray(at.points))
    equal(f"{who}: values(X)", twin.values(X).numpy(), at.values, scale=at.largest)
    slopes = twin.full_gradients(X).numpy()
    equal(f"{who}: full_gradients(X)", slopes, at.gradients.mean(axis=0), scale=at.steepest)
    clients, one = torch.arange(p.n), np.ones((p.n, 1), dtype=np.int64)
    draws = twin.draws(3, torch.zeros(1, dtype=torch.int64), clients[:, None], torch.full((p.n, 1), 2), one)
    oracle, x = p.oracle(Streams(3)), at.points[-1]
    numbers = oracle.draws(np.arange(p.n), np.full(p.n, 2), 1)
    for client in range(p.n):
        moved = X[-1:].clone()
        twin.step(
            moved, clients[client : client + 1], draws[client][:, 0], torch.full((1,), _SIZE, dtype=torch.float64)
        )
        expected = np.array(x)
        oracle.step(expected, client, numbers[client][0], _SIZE)
        what = f"{who}: a stochastic step of client {client}"
        equal(what, moved.numpy()[0], expected, scale=at.steepest + at.size)


def proximal_steps(at: SamplePoints) -> None:
    """Check that no point of the sample is better than the proximal point, where there is one."""
    p, size = at.problem, 0.7
    if at.client_values is None:
        return
    for client in range(p.n):
        for place, x in enumerate(at.points):
            try:
                z = p.prox(client, x, size)
            except AssumptionError:
                return
            found = p.client_value(client, z) + float(((z - x) ** 2).sum()) / (2.0 * size)
            others = at.client_values[client] + ((at.points - x) ** 2).sum(axis=1) / (2.0 * size)
            what = f"{at.who}: the objective at prox({client}, x, {size}) of point {place} ≤ that at the points"
            at_most(what, found, others, scale=at.largest)
