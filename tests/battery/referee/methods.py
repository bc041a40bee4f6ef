"""The methods, each written from its definition: who computes from which model, and what the server does with it.

A point is an array of shape (d, 1 + N): the value, then the coefficients of N independent noises of variance sigma².
All methods are linear in points and gradients, so that they never look inside. ``descend(client, x, step)`` returns
x − step·(stochastic gradient of the client at x).
"""

import math
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Descend = Callable[[int, Floats, float], Floats]


@final
@dataclass(frozen=True, slots=True)
class Order:
    """What is run: the step sizes, the options, the clients in the order of their arrivals, the iterations.

    ``turns`` holds for gd the client of each iteration (sampling=uniform), for incremental nothing, for the
    asynchronous methods the client of each arrival, and for area −1 for an aggregation.
    """

    clients: int
    steps: Mapping[str, float]
    options: Mapping[str, Any]
    turns: Sequence[int]
    iterations: int


@final
@dataclass(slots=True)
class Seen:
    """What the schedule turned out to be: the largest staleness of an update that was used."""

    tau_max: int = 0


def local(descend: Descend, client: int, x: Floats, steps: int, size: float) -> Floats:
    """Return the model after some local steps."""
    for _ in range(steps):
        x = descend(client, x, size)
    return x


def step_at(order: Order, k: int) -> float:
    """Return α_k."""
    if "c" in order.steps:
        return order.steps["c"] / (k + order.steps["d"])
    alpha = order.steps["alpha"]
    match order.options.get("decay", "none"):
        case "sqrt":
            return alpha / math.sqrt(k + 1)
        case "linear":
            return alpha * max(order.steps["K"] - k, 0) / (order.steps["K"] + 1)
    return alpha


def mean(points: Sequence[Floats]) -> Floats:
    """Return the mean of points."""
    return sum(points[1:], start=points[0]) / len(points)


def gd(order: Order, x: Floats, descend: Descend, seen: Seen) -> Iterator[Floats]:
    """Gradient descent with all clients, one in turn, or the one that is named."""
    sampling = order.options.get("sampling", "all")
    M = int(order.options.get("M", 1))
    for k in range(order.iterations):
        size = step_at(order, k)
        if sampling == "all":
            x = mean([local(descend, i, x, M, size) for i in range(order.clients)])
        else:
            turn = k % order.clients if sampling == "cyclic" else order.turns[k]
            x = local(descend, turn, x, M, size)
        yield x


def sfedavg(order: Order, x: Floats, descend: Descend, seen: Seen) -> Iterator[Floats]:
    """Rounds of all clients."""
    return gd(
        Order(order.clients, order.steps, {**order.options, "sampling": "all"}, (), order.iterations), x, descend, seen
    )


def incremental(order: Order, x: Floats, descend: Descend, seen: Seen) -> Iterator[Floats]:
    """A pass through all clients is one iteration."""
    for k in range(order.iterations):
        for i in range(order.clients):
            x = descend(i, x, step_at(order, k))
        yield x


def heavy_ball(order: Order, x: Floats, descend: Descend, seen: Seen) -> Iterator[Floats]:
    """x_{k+1} = x_k − α∇f(x_k) + β(x_k − x_{k−1})."""
    before = x
    for _ in range(order.iterations):
        moved = mean([descend(i, x, order.steps["alpha"]) for i in range(order.clients)])
        x, before = moved + order.steps["beta"] * (x - before), x
        yield x


def nesterov(order: Order, x: Floats, descend: Descend, seen: Seen) -> Iterator[Floats]:
    """x_{k+1} = y_k − α∇f(y_k); y_{k+1} = x_{k+1} + β_k(x_{k+1} − x_k)."""
    y, t = x, 1.0
    for _ in range(order.iterations):
        new = mean([descend(i, y, order.steps["alpha"]) for i in range(order.clients)])
        if "q" in order.steps:
            root = math.sqrt(order.steps["q"])
            beta = (1 - root) / (1 + root)
        else:
            after = (1 + math.sqrt(1 + 4 * t * t)) / 2
            beta, t = (t - 1) / after, after
        x, y = new, new + beta * (new - x)
        yield x


def ogm(order: Order, x: Floats, descend: Descend, seen: Seen) -> Iterator[Floats]:
    """The optimized gradient method, Kim and Fessler (2016), Algorithm OGM1."""
    y, t, last = x, 1.0, order.iterations
    for k in range(last):
        new = mean([descend(i, x, order.steps["alpha"]) for i in range(order.clients)])
        after = (1 + math.sqrt(1 + (8 if k == last - 1 else 4) * t * t)) / 2
        x, y, t = new + (t - 1) / after * (new - y) + t / after * (new - x), new, after
        yield x


def area(order: Order, x: Floats, descend: Descend, seen: Seen) -> Iterator[Floats]:
    """AREA: the server adds what clients' models changed by, so that it holds the mean of the y_i."""
    n, M, alpha = order.clients, int(order.options.get("M", 1)), order.steps["alpha"]
    y = [x] * n
    own = [local(descend, i, x, M, alpha) for i in range(n)] if order.options.get("start") != "analysis" else [x] * n
    u = 0 * x
    for turn in order.turns[: order.iterations]:
        if turn < 0:
            x, u = x + u, 0 * x
        else:
            u = u + (own[turn] - y[turn]) / n
            y[turn] = own[turn]
            own[turn] = local(descend, turn, x, M, alpha)
        yield x


class _Work:
    """What every client works on: its local model after its steps, and the server version and model it began with."""

    def __init__(self, order: Order, x: Floats, descend: Descend, steps: int, size: float) -> None:
        self._ask = lambda client, model: local(descend, client, model, steps, size)
        self._now = {i: (self._ask(i, x), x, 0) for i in range(order.clients)}

    def take(self, client: int) -> tuple[Floats, Floats, int]:
        """Return the result, the model and the version that it began with."""
        return self._now[client]

    def give(self, client: int, x: Floats, version: int) -> None:
        """Let a client begin."""
        self._now[client] = (self._ask(client, x), x, version)


def async_sgd(order: Order, x: Floats, descend: Descend, seen: Seen) -> Iterator[Floats]:
    """Every arriving gradient moves the server, and its client gets the new model."""
    work = _Work(order, x, descend, 1, order.steps["alpha"])
    for version, client in enumerate(order.turns[: order.iterations]):
        result, start, began = work.take(client)
        seen.tau_max = max(seen.tau_max, version - began)
        x = x + (result - start)
        work.give(client, x, version + 1)
        yield x


def fedbuff(order: Order, x: Floats, descend: Descend, seen: Seen) -> Iterator[Floats]:
    """The mean of every ``count`` differences moves the server; who completes the buffer gets the new model."""
    count, M = int(order.options.get("count", 1)), int(order.options.get("M", 1))
    work = _Work(order, x, descend, M, order.steps["eta_l"])
    version, buffer = 0, []
    for client in order.turns:
        result, start, began = work.take(client)
        seen.tau_max = max(seen.tau_max, version - began)
        buffer.append(result - start)
        if len(buffer) == count:
            x, version, buffer = x + order.steps.get("eta_g", 1.0) * mean(buffer), version + 1, []
        work.give(client, x, version)
        if not buffer:
            yield x
        if version == order.iterations:
            return


def asfedavg(order: Order, x: Floats, descend: Descend, seen: Seen) -> Iterator[Floats]:
    """An arriving local model replaces that of the server; with reply=pre its client gets the one before."""
    work = _Work(order, x, descend, int(order.options.get("M", 1)), order.steps["alpha"])
    for version, client in enumerate(order.turns[: order.iterations]):
        before, x = x, work.take(client)[0]
        work.give(client, before if order.options.get("reply", "pre") == "pre" else x, version + 1)
        yield x


def fedasync(order: Order, x: Floats, descend: Descend, seen: Seen) -> Iterator[Floats]:
    """An arriving local model is mixed in."""
    work = _Work(order, x, descend, int(order.options.get("Q", 1)), order.steps["eta_l"])
    beta = float(order.options["beta"])
    for version, client in enumerate(order.turns[: order.iterations]):
        x = (1 - beta) * x + beta * work.take(client)[0]
        work.give(client, x, version + 1)
        yield x


def fedfa(order: Order, x: Floats, descend: Descend, seen: Seen) -> Iterator[Floats]:
    """The server has the mean of the last ``K`` arrived models, from arrival K + 1 on."""
    size = int(order.options.get("K", 2))
    work = _Work(order, x, descend, int(order.options.get("Q", 1)), order.steps["eta_l"])
    window: deque[Floats] = deque(maxlen=size)
    version = 0
    for arrival, client in enumerate(order.turns, 1):
        window.append(work.take(client)[0])
        if arrival > size:
            x, version = mean(list(window)), version + 1
        work.give(client, x, version)
        if arrival > size:
            yield x
        if version == order.iterations:
            return


METHODS: Mapping[str, Callable[[Order, Floats, Descend, Seen], Iterator[Floats]]] = {
    "gd": gd,
    "sfedavg": sfedavg,
    "incremental": incremental,
    "heavy_ball": heavy_ball,
    "nesterov": nesterov,
    "ogm": ogm,
    "area": area,
    "async_sgd": async_sgd,
    "fedbuff": fedbuff,
    "asfedavg": asfedavg,
    "fedasync": fedasync,
    "fedfa": fedfa,
}
