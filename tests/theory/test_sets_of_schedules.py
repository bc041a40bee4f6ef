"""The displays of the sets that no event sequence leaves: every sequence of some length, the worst slopes, fractions.

A run is linear in the slopes of its losses. So the largest model that any slopes of size S lead to is known exactly:
S times the sum of the sizes of their coefficients. In more dimensions it is no larger.
"""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from theory_pages import below, shows

from boundlab.algorithms import InFlight
from boundlab.errors import SpecError
from boundlab.events import Events
from boundlab.instance.applicability import drifted, reach
from boundlab.objective.confinement import Pull
from boundlab.options import Options
from boundlab.registry import lookup
from boundlab.tape import Initial, Op, RecordAt, Tape

SLOPE = Fraction(1)
# Clients, buffer, reply, local steps, server rate.
CASES = [
    (1, 1, "post", 2, Fraction(2)),
    (1, 2, "pre", 1, Fraction(1)),
    (2, 1, "post", 1, Fraction(1)),
    (2, 1, "pre", 2, Fraction(1)),
    (2, 2, "post", 2, Fraction(2)),
    (2, 2, "wait", 2, Fraction(1)),
    (3, 1, "post", 2, Fraction(1, 2)),
    (3, 2, "pre", 1, Fraction(1)),
    (3, 2, "wait", 2, Fraction(1)),
]
Case = tuple[int, int, str, int, Fraction]
EVERY = pytest.mark.parametrize("case", CASES, ids=str)


def _parameters(case: Case, eta: float) -> Any:
    _, b, reply, Q, eta_g = case
    options = {"eta_l": eta, "M": Q, "eta_g": float(eta_g), "count": b, "reply": reply}
    return lookup("algorithms", "fedbuff").read(Options("fedbuff", options))


def flight_of(case: Case, eta: Fraction) -> InFlight:
    """Return what FedBuff says of updates on their way."""
    found = lookup("algorithms", "fedbuff").in_flight(_parameters(case, float(eta)), case[0])
    assert isinstance(found, InFlight)
    return found


@cache
def tapes(case: Case, eta: Fraction, length: int = 5) -> tuple[Tape, ...]:
    """Compile every event sequence of a length that the protocol allows; of three clients they are shorter."""
    n, b, *_ = case
    events, made = min(length, 7 - n), []
    for actors in product(range(n), repeat=events):
        arrivals = Events(np.arange(1.0, events + 1.0), np.array(actors, dtype=np.int32))
        wanted = RecordAt(np.arange(events // b + 1))
        try:
            made.append(
                lookup("algorithms", "fedbuff").schedule(
                    _parameters(case, float(eta)), arrivals, n, wanted, events // b
                )
            )
        except SpecError:  # with reply=wait a client waits
            continue
    assert made
    return tuple(made)


def farthest(tape: Tape, eta: Fraction, nu: Fraction, start: Fraction) -> Fraction:
    """Return the largest |y| of all local steps and server models, for the worst slopes and x0."""
    registers: dict[int, dict[int, Fraction]] = {
        place: {0: Fraction(1)} if how == Initial.START else {} for place, how in enumerate(tape.initial.tolist())
    }
    slopes, largest = 0, Fraction(0)

    def size(of: dict[int, Fraction]) -> Fraction:
        return sum((abs(times) * (SLOPE if name else start) for name, times in of.items()), Fraction(0))

    for op, row in zip(tape.op.tolist(), tape.row.tolist(), strict=True):
        if op == Op.AFFINE:
            found: dict[int, Fraction] = {}
            terms = slice(int(tape.affine.start[row]), int(tape.affine.start[row + 1]))
            for source, times in zip(tape.affine.src[terms].tolist(), tape.affine.coef[terms].tolist(), strict=True):
                for name, own in registers[source].items():
                    found[name] = found.get(name, Fraction(0)) + Fraction(times) * own
            registers[int(tape.affine.dst[row])] = found
        elif op == Op.DESCEND:
            point = registers[int(tape.descend.src[row])]
            for _ in range(int(tape.descend.steps[row])):
                largest = max(largest, size(point))
                slopes += 1
                point = {**{name: (1 - nu * eta) * own for name, own in point.items()}, slopes: -eta}
            registers[int(tape.descend.dst[row])] = point
        else:
            largest = max(largest, size(registers[int(tape.record.src[row])]))
    return largest


def pull_of(nu: Fraction, start: Fraction) -> Pull:
    """Return the pull of ν/2·x² beside losses of slope 1."""
    return Pull(np.zeros(1), float(start), float(SLOPE), float(nu), float(nu), float(1 / nu))


def rates() -> Iterator[tuple[Fraction, Fraction]]:
    """Yield nu and eta."""
    yield from ((Fraction(1, 2), Fraction(1, 8)), (Fraction(1, 4), Fraction(1, 2)))


# --------------------------------------------------------------------------------------------------- what pulls


@shows("fedstaleweight", "R26", "R27")
def test_a_regulariser_pulls_also_where_gradients_are_late():
    rng = np.random.default_rng(0)
    for _ in range(200):
        nu, S, d = float(rng.uniform(0.1, 3.0)), float(rng.uniform(0.0, 2.0)), int(rng.integers(1, 4))
        x, away = rng.normal(size=d), float(rng.uniform(0.0, 2.0))
        sizes = rng.uniform(0.0, 1.0, size=3)
        sizes *= rng.uniform(0.0, 1.0) / (nu * sizes.sum())
        drawn = rng.normal(size=(2, 3, d))
        slopes, steps = (one / np.linalg.norm(one, axis=1, keepdims=True) for one in drawn)
        points = x + away * steps
        gradients = S * slopes + nu * points
        moved, s = np.linalg.norm(x - sizes @ gradients), sizes.sum()
        assert below(moved, (1.0 - nu * s) * np.linalg.norm(x) + s * (S + nu * away))
        assert below(moved, max(np.linalg.norm(x), (S + nu * away) / nu))
        assert below(np.linalg.norm(gradients, axis=1), S + nu * np.linalg.norm(points, axis=1))


@shows("fedstaleweight", "R26", "R28")
def test_strongly_convex_functions_pull_also_where_gradients_are_late():
    rng = np.random.default_rng(1)
    for _ in range(200):
        d = int(rng.integers(1, 4))
        eigen = rng.uniform(0.5, 3.0, size=(3, d))
        turns = [np.linalg.qr(rng.normal(size=(d, d)))[0] for _ in eigen]
        hessians = np.array([turn @ np.diag(own) @ turn.T for turn, own in zip(turns, eigen, strict=True)])
        mu, L, at_best = float(eigen.min()), float(eigen.max()), rng.normal(size=(3, d))
        S, away = float(np.linalg.norm(at_best, axis=1).max()), float(rng.uniform(0.0, 2.0))
        x, steps = rng.normal(size=d), rng.normal(size=(3, d))
        points = x + away * steps / np.linalg.norm(steps, axis=1, keepdims=True)
        sizes = rng.uniform(0.0, 1.0, size=3)
        sizes *= rng.uniform(0.0, 1.0) * 2.0 / ((mu + L) * sizes.sum())
        gradients = at_best + np.einsum("kij,kj->ki", hessians, points)
        moved, s = np.linalg.norm(x - sizes @ gradients), sizes.sum()
        assert below(moved, (1.0 - mu * s) * np.linalg.norm(x) + s * (S + L * away))
        assert below(moved, max(np.linalg.norm(x), (S + L * away) / mu))
        assert below(np.linalg.norm(gradients, axis=1), S + L * np.linalg.norm(points, axis=1))


# ------------------------------------------------------------------------------------------- what is on its way


@EVERY
@shows("fedstaleweight", "R29", "R30")
def test_no_more_is_on_its_way_than_is_said(case: Case):
    flight, most = flight_of(case, Fraction(1, 8)), np.zeros(2)
    for tape in tapes(case, Fraction(1, 8)):
        begun, enters, weight = tape.descend.version[tape.uses.update], tape.uses.version, tape.uses.weight
        results = np.random.default_rng(0).normal(size=len(weight)) * weight
        for version in range(int(tape.version[-1])):
            late = (begun < version) & (enters >= version)
            most = np.maximum(most, [weight[late].sum(), weight[begun == version].sum()])
            server, virtual = results[enters < version].sum(), results[begun < version].sum()
            assert virtual - server == pytest.approx(results[late].sum(), abs=1e-12)
    assert below(most, [flight.pending, flight.begun])
    assert most[1] == pytest.approx(flight.begun) or case[0] > 2  # five events do not show all of three clients


# ------------------------------------------------------------------------------------------------- what nobody leaves


@pytest.mark.sweep(4)
@EVERY
@shows("fedstaleweight", "R30", "R31")
def test_no_event_sequence_and_no_slopes_leave_the_ball(case: Case):
    found = 0
    for (nu, eta), start in product(rates(), (Fraction(0), Fraction(16))):
        radius = reach(pull_of(nu, start), flight_of(case, eta), float(eta))
        if radius is None:
            continue
        found += 1
        assert max(farthest(tape, eta, nu, start) for tape in tapes(case, eta)) <= Fraction(radius)
    assert found


@shows("fedstaleweight", "R31")
def test_what_is_on_its_way_cannot_be_left_out_of_the_radius():
    """Two clients from S/ν: no run without delay leaves that ball, slopes lead beyond it, and (R31) allows for that."""
    case, nu, eta = (2, 1, "post", 1, Fraction(1)), Fraction(1, 2), Fraction(3, 4)
    start = SLOPE / nu
    worst = max(farthest(tape, eta, nu, start) for tape in tapes(case, eta))
    flight = flight_of(case, eta)
    fresh = reach(pull_of(nu, start), replace(flight, pending=0.0), float(eta))
    assert fresh == pytest.approx(float(start))
    assert worst > start * Fraction(101, 100)
    radius = reach(pull_of(nu, start), flight, float(eta))
    assert radius == pytest.approx(float(start * (1 + 2 * nu * eta) / (1 - 2 * nu * eta)))
    assert worst <= Fraction(radius)


@pytest.mark.sweep(4)
@EVERY
@shows("fedstaleweight", "R32")
def test_a_limit_of_staleness_gives_a_ball_too(case: Case):
    *_, Q, eta_g = case
    for (nu, eta), start in product(rates(), (Fraction(0), Fraction(3))):
        step = eta_g * Q * eta
        for tape in tapes(case, eta):
            taus = tape.uses.version - tape.descend.version[tape.uses.update]
            # Results that nobody uses within the sequence began from models that the ball holds all the same.
            load = nu * step * int(taus.max(initial=0))
            if load < 1 and nu * step <= 1:
                assert farthest(tape, eta, nu, start) <= max(start, SLOPE / nu * (1 + load) / (1 - load))


@EVERY
@shows("fedstaleweight", "R33")
def test_long_steps_leave_a_set_that_grows(case: Case):
    nu, eta = Fraction(1), Fraction(1)
    for tape in tapes(case, eta):
        radius = drifted(pull_of(nu, Fraction(1)), flight_of(case, eta), 1.0, int(tape.version[-1]))
        assert radius is None or farthest(tape, eta, nu, Fraction(1)) <= Fraction(radius)
