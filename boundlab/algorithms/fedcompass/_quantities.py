"""Quantities that the theorems on FedCompass read off a tape: Σ over windows of server updates.

Theorem ``fedcompass.window``: S_t are the runs x that enter update t, of client i_x, with weight a_x and Q_x
local steps from server version s_x; A_t = Σ a_x·Q_x; over windows of N updates W = Σ A_t, V = Σ a_x²·Q_x, and
the shares are ω_i = (1/W)·Σ a_x·Q_x over the client's own runs.
"""

import numpy as np
from numpy.typing import NDArray

from boundlab.algorithms._windows import window_sums
from boundlab.errors import CaseError
from boundlab.tape import Op, Tape

Floats = NDArray[np.float64]


def read_off(tape: Tape, p: Floats, until: int, window: int) -> dict[str, float]:
    """Return the symbols by name.

    Parameters
    ----------
    p
        Shape (n,): weights of the clients in the objective.
    until
        How many server updates count, from the first on.
    window
        N: windows are N consecutive ones of these updates.

    Raises
    ------
    CaseError
        If there are fewer updates than a window holds.
    """
    if not 1 <= window <= until:
        raise CaseError(f"fedcompass: a window of N = {window} updates needs 1 ≤ N ≤ {until}, the number of updates")
    n, descend = tape.clients, tape.descend
    used = tape.uses.version < until
    run, version, weight = tape.uses.update[used], tape.uses.version[used], tape.uses.weight[used]
    client, steps = descend.client[run], descend.steps[run].astype(np.float64)
    # work[t, i] = Σ a_x·Q_x over client i's runs in update t; the noise of update t adds up like Σ a_x²·Q_x.
    work = np.zeros((until, n))
    np.add.at(work, (version, client), weight * steps)
    noise = np.zeros((until, 1))
    np.add.at(noise, version, (weight**2 * steps)[:, None])
    windows = window_sums(work, window)
    total = windows.sum(axis=1)
    shares = np.divide(windows, total[:, None], out=np.zeros_like(windows), where=total[:, None] > 0.0)
    began = tape.event[tape.op == Op.DESCEND][run]
    start = np.where(began < 0, 0.0, tape.events.time[np.maximum(began, 0)])
    step_time = (tape.events.time[descend.arrival[run]] - start) / steps
    # One group at equilibrium: every update holds one run of every client, with the same Q_i each time.
    plain = np.zeros((until, n))
    np.add.at(plain, (version, client), steps)
    each = plain.sum(axis=1, keepdims=True)
    parts = np.divide(plain, each, out=np.zeros_like(plain), where=each > 0.0)
    a_max, q_mean = float(work.sum(axis=1).max()), float(each.mean() / n)
    if np.isclose(a_max, q_mean, rtol=1e-12, atol=0.0):
        q_mean = a_max  # equal but for rounding: fedcompass.group asks for A_max ≤ Q_mean
    return {
        "n": float(n),
        "tau_max": float((version - descend.version[run]).max(initial=0)),
        "speed_ratio": float(step_time.max() / step_time.min()) if len(run) else 1.0,
        "A_max": a_max,
        "W_min": float(total.min()),
        "W_max": float(total.max()),
        "V_max": float(window_sums(noise, window).max()),
        "share_bias": float(np.abs(shares - p).sum(axis=1).max()),
        "Q_mean": q_mean,
        "Q_bias": float(np.abs(parts - 1.0 / n).sum(axis=1).max()),
    }
