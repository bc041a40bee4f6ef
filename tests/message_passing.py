"""Each algorithm once more, as messages between a server and clients: no tape, and no line shared with its compiler."""

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from algorithm_makers import Scenario, damping, descend, rates_of

Run = tuple[list[int], np.ndarray]  # after each event the server version, and the model, shape (K, d)


def asfedavg(scenario: Scenario, problem: Any) -> Run:
    """The server keeps models until it has enough of them, and then forgets its own."""
    options = scenario.options
    rates, count, reply = rates_of(options, "alpha", "M"), options["count"], options["reply"]
    x, version, seen = problem.x0, 0, []
    hand = dict.fromkeys(range(problem.n), x)
    buffer: list[tuple[int, np.ndarray]] = []
    for _, client in scenario.events:
        buffer.append((client, descend(problem, client, hand.pop(client), rates)))
        if reply == "pre" or (reply == "post" and len(buffer) < count):
            hand[client] = x
        if len(buffer) == count:
            x, version = sum(model for _, model in buffer) / count, version + 1
            if reply == "post":
                hand[client] = x
            if reply == "wait":
                hand |= dict.fromkeys([who for who, _ in buffer], x)
            buffer = []
        seen.append((version, x))
    return [v for v, _ in seen], np.array([model for _, model in seen])


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


def fedbuff(scenario: Scenario, problem: Any) -> Run:
    """FedBuff as its paper tells it: clients hold a model and its version, the server a buffer."""
    options = scenario.options
    rates, count = rates_of(options, "eta_l", "M"), options["count"]
    x0 = problem.x0
    x, version, seen = x0, 0, []
    hand = dict.fromkeys(range(problem.n), (x0, 0))
    buffer, waiting = np.zeros_like(x0), []
    arrived = 0
    for _, client in scenario.events:
        start, since = hand.pop(client)
        s = damping(options["staleness"], version - since)
        buffer = buffer + s * (start - descend(problem, client, start, rates))
        arrived += 1
        waiting.append(client)
        if options["reply"] == "pre" or (options["reply"] == "post" and arrived < count):
            hand[client] = (x, version)
        if arrived == count:
            x, version = x - options["eta_g"] * buffer / count, version + 1
            buffer, arrived = np.zeros_like(x0), 0
            for other in waiting if options["reply"] == "wait" else [client]:
                if options["reply"] != "pre":
                    hand[other] = (x, version)
            waiting = []
        seen.append((version, x))
    return [v for v, _ in seen], np.array([model for _, model in seen])


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


def fedstaleweight(scenario: Scenario, problem: Any) -> Run:
    """Algorithm 1: buffer updates, keep each client's staleness, weight by its moving average."""
    options = scenario.options
    rates, count, reply = rates_of(options, "eta_l", "M"), options["count"], options["reply"]
    window, current = options.get("window"), options["include"] == "current"
    x, version, seen = problem.x0, 0, []
    hand = dict.fromkeys(range(problem.n), (x, 0))
    buffer: list[tuple[int, int, np.ndarray]] = []
    taus: dict[int, list[int]] = {client: [] for client in range(problem.n)}
    for _, client in scenario.events:
        start, since = hand.pop(client)
        buffer.append((client, version - since, descend(problem, client, start, rates) - start))
        full = len(buffer) == count
        if reply == "pre" or (reply == "post" and not full):
            hand[client] = (x, version)
        if full:
            known = {who: list(all_) for who, all_ in taus.items()}
            for who, tau, _ in buffer:
                taus[who].append(tau)
            table = taus if current else known
            last = {who: (all_[-window:] if window else all_) for who, all_ in table.items()}
            w = np.array([1 + options["scale"] * (np.mean(last[who]) if last[who] else 0.0) for who, _, _ in buffer])
            moves = np.array([move for _, _, move in buffer])
            x, version = x + options["eta_g"] * (w / w.sum()) @ moves, version + 1
            if reply != "pre":
                hand |= dict.fromkeys([who for who, _, _ in buffer] if reply == "wait" else [client], (x, version))
            buffer = []
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
