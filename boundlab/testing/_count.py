"""Statistics of the use table, counted in loops over instructions, events and uses."""

from boundlab.tape import Op, Tape


def counted(tape: Tape, until: int, rate: float | None) -> dict[str, float]:
    """Return the symbols of :class:`boundlab.tape.Usage` over the first ``until`` server updates.

    Parameters
    ----------
    rate
        What all weights are divided by; None: the mean over server updates of their sum.
    """
    descend, uses, n = tape.descend, tape.uses, tape.clients
    began = [event for op, event in zip(tape.op.tolist(), tape.event.tolist(), strict=True) if op == Op.DESCEND]
    taus: list[int] = []
    weights, squares = [[0.0] * n for _ in range(until)], 0.0
    for update, version, weight in zip(uses.update.tolist(), uses.version.tolist(), uses.weight.tolist(), strict=True):
        if version < until:
            taus.append(version - int(descend.version[update]))
            weights[version][int(descend.client[update])] += weight
            squares += weight**2
    scale = sum(map(sum, weights)) / until if rate is None else rate
    shares = [sum(row[i] for row in weights) / scale / until for i in range(n)]
    working: list[int] = []
    event = 0
    while tape.version[event] < until:
        busy = 0
        for start, arrival in zip(began, descend.arrival.tolist(), strict=True):
            busy += start < event and (arrival == -1 or arrival >= event)
        working.append(busy)
        event += 1
    return {
        "n": n,
        "tau_max": max(taus),
        "tau_mean": sum(taus) / len(taus),
        "concurrency": max(working),
        "concurrency_mean": sum(working) / len(working),
        "chi2": n * sum((share - 1 / n) ** 2 for share in shares),
        "chi2_path": n * sum((a / scale - 1 / n) ** 2 for row in weights for a in row) / until,
        "alpha2": squares / scale**2 / until,
        "pi_max": max(shares),
    }
