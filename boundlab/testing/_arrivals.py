"""Checks of what becomes of updates: the use table, what is dropped, and what server models are averages of."""

import numpy as np
from numpy.typing import NDArray

from boundlab.case.build import build_delays
from boundlab.randomness import Streams
from boundlab.tape import Tape
from boundlab.testing._agree import at_most, equal, expect
from boundlab.testing._linear import NEGLIGIBLE, reading
from boundlab.testing._schedule import CompiledRun


def uses(at: CompiledRun) -> None:
    """Check the use table against the weights with which the program itself lets updates move the server's model."""
    tape, found = at.long, at.linear.entering
    if not len(tape.uses.update):
        return
    said = np.zeros_like(found)
    np.add.at(said, (tape.uses.version, tape.uses.update), tape.uses.weight)
    off = np.abs(said - found)
    version, update = np.unravel_index(int(np.argmax(off)), off.shape)
    expect(
        bool(off[version, update] <= 1e-9 * max(1.0, float(np.abs(found).max()))),
        f"{at.who}: server update {version} moves by {found[version, update]:.10g}·(end − start) of update {update}, "
        f"of client {tape.descend.client[update]}; the use table says {said[version, update]:.10g}",
    )


def plain(at: CompiledRun) -> bool | None:
    """Return whether an empty use table could be filled; None where this run does not tell.

    An empty table is for algorithms whose messages are not the moves of updates. Where updates come late and each moves
    one server model, with a weight above 0, they are.
    """
    tape, found = at.long, at.linear.entering
    late = (tape.version[tape.descend.arrival] > tape.descend.version) & (tape.descend.arrival >= 0)
    enters = np.abs(found) > NEGLIGIBLE
    if len(tape.uses.update) or not enters[:, late].any():
        return None
    return bool((found > -NEGLIGIBLE).all() and (enters.sum(axis=0) <= 1).all())


def arrivals(at: CompiledRun) -> None:
    """Check that every update that arrives is used, read or kept by the server, or dropped with a note that says so."""
    tape = at.long
    dropped = _dropped(at, tape)
    used = np.zeros(len(tape.descend.dst), dtype=np.bool_)
    used[tape.uses.update] = True
    for row in np.flatnonzero(dropped & used).tolist():
        expect(False, f"{at.who}: update {row} is noted as dropped, and stands in the use table")
    arrived = tape.descend.arrival >= 0
    for row in np.flatnonzero(arrived & ~(dropped | used | at.linear.read | at.linear.held)).tolist():
        expect(
            False,
            f"{at.who}: update {row}, of client {tape.descend.client[row]}, arrives with event "
            f"{tape.descend.arrival[row]}, and nothing reads it; where it is to be dropped, say "
            f'writer.note("dropped", {row})',
        )


def _dropped(at: CompiledRun, tape: Tape) -> NDArray[np.bool_]:
    """Return which updates are noted as dropped, shape (updates,)."""
    rows = np.asarray(tape.notes.get("dropped", ()), dtype=np.int64)
    out = np.zeros(len(tape.descend.dst), dtype=np.bool_)
    for row in rows.tolist():
        expect(0 <= row < len(out), f"{at.who}: update {row} is noted as dropped, and there is none")
        expect(int(tape.descend.arrival[row]) >= 0, f"{at.who}: update {row} is noted as dropped, and has not arrived")
        out[row] = True
    return out


def averages(at: CompiledRun) -> None:
    """Check that server models are averages of local passes, and how many lie behind each, where that is said."""
    tape = at.long
    said = at.algorithm.averages(at.parameters, at.problem.n)
    if not at.algorithm.stays_feasible(at.parameters, at.problem.n):
        return
    found = reading(tape, ends=True)
    what = f"{at.who}: 0 ≤ the weights of passes in a server model, by stays_feasible()"
    at_most(what, -found.models, 0.0, scale=1e-3)
    total = found.models.sum(axis=1)
    equal(f"{at.who}: the sum of the weights of passes in a server model and 1", total, np.ones_like(total))
    if said is None:
        return
    size = float(tape.descend.step_size.max(initial=0.0)) * float(tape.local.max(initial=1.0))
    at_most(f"{at.who}: the largest step ≤ that of averages()", size, said.step_size)
    ks = tape.record.iteration
    steps, most = found.depth[tape.record.version], said.steps * said.depth(ks)
    for k, found_steps, allowed in zip(ks.tolist(), steps.tolist(), most.tolist(), strict=True):
        words = f"averages() says at most {allowed} local steps behind iterate {k}"
        expect(found_steps <= allowed, f"{at.who}: {words}; there are {found_steps}")


def weights(at: CompiledRun) -> None:
    """Check the weights of the objective, exactly; and on rounds of everybody, where they are the clients' shares."""
    n, tape = at.problem.n, at.long
    p = at.algorithm.objective_weights(at.parameters, n)
    if p is not None:
        expect(len(p) == n, f"{at.who}: objective_weights() gives {len(p)} weights for {n} clients")
        expect(sum(p) == 1, f"{at.who}: objective_weights() sum to {sum(p)}, not to 1")
        expect(min(p) > 0, f"{at.who}: objective_weights() hold {min(p)}, and each must be > 0")
    client, version = tape.descend.client[tape.uses.update], tape.uses.version
    fresh = (tape.descend.version[tape.uses.update] == version).all()
    each = np.zeros((int(tape.version[-1]), n))
    count = np.zeros_like(each)
    np.add.at(each, (version, client), tape.uses.weight)
    np.add.at(count, (version, client), 1)
    same = len(set(tape.descend.steps[tape.uses.update].tolist())) == 1
    if not (len(version) and fresh and same and (count == 1).all()):
        return
    shares = each / each.sum(axis=1, keepdims=True)
    if np.ptp(shares, axis=0).max() <= NEGLIGIBLE:  # else they are drawn, and say nothing each
        expected = np.full(n, 1.0 / n) if p is None else np.array([float(one) for one in p])
        what = f"{at.who}: the clients' shares of a server update that nobody misses and objective_weights()"
        equal(what, shares, np.broadcast_to(expected, shares.shape))


def draws(at: CompiledRun) -> None:
    """Check that what trials differ in while arrivals are sure is declared: a statement is about its mean, or not."""
    algorithm, n = at.algorithm, at.problem.n
    if algorithm.server == "any":
        return
    sure = build_delays("deterministic", {}, n)
    policy = algorithm.policy(None, sure)
    found = {
        repr(algorithm.events_as_json(algorithm.sample(at.parameters, sure, policy, Streams(0, trial), n, 20)))
        for trial in range(4)
    }
    said = any(one.when(at.parameters, n) for one in algorithm.draws)
    expect(said or len(found) == 1, f"{at.who}: trials under deterministic delays differ, and draws declares nothing")


def promises(at: CompiledRun, met: dict[str, bool]) -> None:
    """Check what an assumption on runs that is met says of every single run.

    Parameters
    ----------
    met
        Assumption → whether :meth:`boundlab.algorithms.Algorithm.why_not` says '' under these delays.
    """
    tape = at.long
    if not len(tape.uses.update):
        return
    pairs = list(zip(tape.uses.version.tolist(), tape.descend.client[tape.uses.update].tolist(), strict=True))
    if met.get("uniform-buffer"):
        expect(
            len(set(pairs)) == len(pairs), f"{at.who}: uniform-buffer is met, but a client is twice in a server update"
        )
    if met.get("uniform-sampling"):
        one = len({version for version, _ in pairs}) == len(pairs)
        expect(one, f"{at.who}: uniform-sampling is met, but a server update uses several updates")
    if met.get("equal-weights"):
        found = tape.uses.weight
        equal(
            f"{at.who}: equal-weights is met; the weight of an update and 1/n", found, 0.0 * found + 1.0 / at.problem.n
        )
