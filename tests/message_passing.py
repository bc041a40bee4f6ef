"""Each algorithm once more, as messages between a server and clients: no tape, and no line shared with its compiler."""

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from algorithm_makers import Scenario, damping, descend, rates_of

Arrived = tuple[int, int, np.ndarray, np.ndarray]
Mix = Callable[[np.ndarray, list[Arrived]], np.ndarray]
Run = tuple[list[int], np.ndarray]  # after each event the server version, and the model, shape (K, d)


def buffered(scenario: Scenario, problem: Any, rate: str, mixed: Mix) -> Run:
    """The server keeps what arrives until it has enough: from whom, how stale, the model that was read, and its end."""
    options = scenario.options
    rates, count, reply = rates_of(options, rate, "M"), options["count"], options["reply"]
    x, version, seen = problem.x0, 0, []
    hand = dict.fromkeys(range(problem.n), (x, 0))
    buffer: list[Arrived] = []
    for _, client in scenario.events:
        start, since = hand.pop(client)
        buffer.append((client, version - since, start, descend(problem, client, start, rates)))
        full = len(buffer) == count
        if reply == "pre" or (reply == "post" and not full):
            hand[client] = (x, version)
        if full:
            x, version = mixed(x, buffer), version + 1
            if reply != "pre":
                hand |= dict.fromkeys([who for who, *_ in buffer] if reply == "wait" else [client], (x, version))
            buffer = []
        seen.append((version, x))
    return [v for v, _ in seen], np.array([model for _, model in seen])


def asfedavg(scenario: Scenario, problem: Any) -> Run:
    """The server forgets its own model."""
    return buffered(scenario, problem, "alpha", lambda _, buffer: sum(end for *_, end in buffer) / len(buffer))


def fedbuff(scenario: Scenario, problem: Any) -> Run:
    """FedBuff as its paper tells it: each difference is damped by its staleness."""
    words, size = scenario.options["staleness"], scenario.options["eta_g"]

    def mixed(x: np.ndarray, buffer: list[Arrived]) -> np.ndarray:
        return x - size * sum(damping(words, tau) * (start - end) for _, tau, start, end in buffer) / len(buffer)

    return buffered(scenario, problem, "eta_l", mixed)


def fedstaleweight(scenario: Scenario, problem: Any) -> Run:
    """Algorithm 1: keep each client's staleness, and weight by its moving average."""
    options = scenario.options
    window, scale = options.get("window"), options["scale"]
    taus: dict[int, list[int]] = {client: [] for client in range(problem.n)}

    def mixed(x: np.ndarray, buffer: list[Arrived]) -> np.ndarray:
        before = {who: list(all_) for who, all_ in taus.items()}
        for who, tau, *_ in buffer:
            taus[who].append(tau)
        table = taus if options["include"] == "current" else before
        last = {who: (all_[-window:] if window else all_) for who, all_ in table.items()}
        w = np.array([1 + scale * (np.mean(last[who]) if last[who] else 0.0) for who, *_ in buffer])
        return x + options["eta_g"] * (w / w.sum()) @ np.array([end - start for *_, start, end in buffer])

    return buffered(scenario, problem, "eta_l", mixed)


def async_sgd(scenario: Scenario, problem: Any) -> Run:
    """The server steps along whatever arrives, and gives the new model to the client that is named."""
    alpha, adaptive = scenario.options["alpha"], scenario.options["schedule"] == "delay_adaptive"
    x, k, seen = problem.x0, 0, []
    inbox = {client: deque([(x, 0)]) for client in range(problem.n)}
    for _, client, *target in scenario.events:
        at, since = inbox[client].popleft()
        tau = k - since
        size = alpha * min(1.0, problem.n / tau) if adaptive and tau else alpha
        x, k = x - size * problem.gradient(client, at), k + 1
        inbox[target[0] if target else client].append((x, k))
        seen.append(x)
    return list(range(1, len(seen) + 1)), np.array(seen)


def fedasync(scenario: Scenario, problem: Any) -> Run:
    """Algorithm 1 of Xie et al. with one answer an arrival."""
    options = scenario.options
    rates = rates_of(options, "eta_l", "Q")
    x, seen = problem.x0, []
    hand = dict.fromkeys(range(problem.n), (x, 0))
    for version, (_, client) in enumerate(scenario.events):
        start, since = hand[client]
        end = descend(problem, client, start, rates)
        beta = options["beta"] * damping(options["s"], version - since + options["offset"])
        x = (1 - beta) * x + beta * end if options["mode"] == "model" else x + beta * (end - start)
        hand[client] = (x, version + 1)
        seen.append(x)
    return list(range(1, len(seen) + 1)), np.array(seen)


def fedfa(scenario: Scenario, problem: Any) -> Run:
    """Algorithms 1 and 2 with a queue that holds K entries when it is averaged."""
    options = scenario.options
    rates, K = rates_of(options, "eta_l", "Q"), options["K"]
    x, version, seen = problem.x0, 0, []
    hand = dict.fromkeys(range(problem.n), x)
    queue: list[np.ndarray] = []
    for place, (_, client) in enumerate(scenario.events, 1):
        start = hand[client]
        end = descend(problem, client, start, rates)
        queue = [*queue, end if options["mode"] == "param" else end - start][-K:]
        if place > K or (place == K and options["start"] == "when_full"):
            mean = sum(queue) / K
            x, version = mean if options["mode"] == "param" else x + options["eta_g"] * mean, version + 1
        hand[client] = x
        seen.append((version, x))
    return [v for v, _ in seen], np.array([model for _, model in seen])


def rennala(scenario: Scenario, problem: Any) -> Run:
    """The server adds up gradients at its model; whoever sends one at an older model has worked for nothing."""
    alpha, count, reply, stops = (scenario.options[name] for name in ("alpha", "count", "reply", "stops"))
    x, version, seen, batch = problem.x0, 0, [], []
    hand = dict.fromkeys(range(problem.n), (x, 0))
    for _, client in scenario.events:
        at, since = hand[client]
        hand[client] = (x, version)
        if since == version:
            batch.append(problem.gradient(client, at))
        if len(batch) == count:
            x, version, batch = x - alpha * np.mean(batch, axis=0), version + 1, []
            if reply == "post":
                hand[client] = (x, version)
            if stops == "yes":
                hand = dict.fromkeys(hand, (x, version))
        seen.append((version, x))
    return [v for v, _ in seen], np.array([model for _, model in seen])


def ringmaster(scenario: Scenario, problem: Any) -> Run:
    """The server steps along gradients that are less than ``threshold`` steps old, and hands its newest model out."""
    alpha, threshold, stops = (scenario.options[name] for name in ("alpha", "threshold", "stops"))
    x, k, seen = problem.x0, 0, []
    hand = dict.fromkeys(range(problem.n), (x, 0))
    for _, client in scenario.events:
        at, since = hand[client]
        if k - since < threshold:
            x, k = x - alpha * problem.gradient(client, at), k + 1
        hand[client] = (x, k)
        if stops == "yes":
            hand |= {other: (x, k) for other, (_, since) in hand.items() if k - since >= threshold}
        seen.append((k, x))
    return [v for v, _ in seen], np.array([model for _, model in seen])


def lsvrg(scenario: Scenario, problem: Any) -> Run:
    """Algorithm 1 of Kovalev et al., with gradients as it prints them."""
    alpha = scenario.options["alpha"]
    x = w = problem.x0
    seen = []
    for _, i, coin in scenario.events:
        g = problem.gradient(i, x) - problem.gradient(i, w) + problem.full_gradient(w)
        x, w = x - alpha * g, x if coin else w
        seen.append(x)
    return list(range(1, len(seen) + 1)), np.array(seen)


def scaffnew(scenario: Scenario, problem: Any) -> Run:
    """Algorithm 2 of Mishchenko et al.: each client has a model and a control variate."""
    gamma, p = scenario.options["alpha"], scenario.options["p_c"]
    clients = range(problem.n)
    x, h = [problem.x0 for _ in clients], [np.zeros_like(problem.x0) for _ in clients]
    seen = []
    for _, _, coin in scenario.events:
        hat = [x[i] - gamma * (problem.gradient(i, x[i]) - h[i]) for i in clients]
        x = [sum(hat[j] - gamma / p * h[j] for j in clients) / problem.n for _ in clients] if coin else hat
        h = [h[i] + p / gamma * (x[i] - hat[i]) for i in clients]
        seen.append(sum(x) / problem.n)
    return list(range(1, len(seen) + 1)), np.array(seen)


def sfedavg(scenario: Scenario, problem: Any) -> Run:
    """Rounds of McMahan et al.'s Algorithm 1."""
    rates, weights = rates_of(scenario.options, "alpha", "M"), scenario.options.get("weights", [1.0] * problem.n)
    x, seen = problem.x0, []
    for _, members in scenario.events:
        total = sum(weights[i] for i in members)
        x = sum(weights[i] / total * descend(problem, i, x, rates) for i in members)
        seen.append(x)
    return list(range(1, len(seen) + 1)), np.array(seen)


TWINS: Mapping[str, Callable[[Scenario, Any], Run]] = {
    "asfedavg": asfedavg,
    "async_sgd": async_sgd,
    "fedasync": fedasync,
    "fedbuff": fedbuff,
    "fedfa": fedfa,
    "fedstaleweight": fedstaleweight,
    "rennala": rennala,
    "ringmaster": ringmaster,
    "lsvrg": lsvrg,
    "scaffnew": scaffnew,
    "sfedavg": sfedavg,
}
