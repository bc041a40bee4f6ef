"""All runs of a compiled schedule on an exact instance: the tape is fixed, only the noise is random."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from math import prod
from typing import Any

import numpy as np

from boundlab.events import Events
from boundlab.options import Options
from boundlab.prove._errors import ProofError
from boundlab.prove._functions import Point, plus
from boundlab.prove._instance import Instance, UnfitError
from boundlab.prove._modelled import Members
from boundlab.prove._replay import MAX_OUTCOMES, Column, Name, Runs, exact_weight
from boundlab.registry import lookup
from boundlab.tape import Initial, Op, RecordAt, Tape

_ZERO = Fraction(0)
_SERVER_MODEL = 0
# Which row of the tape's local runs has which indices in a setting.
Places = Mapping[tuple[int, ...], int]


@cache
def compiled(
    algorithm: str,
    options: tuple[tuple[str, Any], ...],
    arrivals: tuple[int, ...],
    clients: int,
    iterations: int,
    times: tuple[float, ...] = (),
) -> Tape:
    """Return the tape of an algorithm for clients that arrive one after the other; times are 1, 2, … if left out.

    Raises
    ------
    UnfitError
        If the arrivals do not hold so many server updates.
    """
    own = lookup("algorithms", algorithm)
    parameters = own.read(Options(algorithm, dict(options)))
    at = np.array(times) if times else np.arange(1.0, len(arrivals) + 1.0)
    events = Events(at, np.array(arrivals, dtype=np.int32))
    tape: Tape = own.schedule(parameters, events, clients, RecordAt(), iterations)
    if tape.iterations < iterations:
        raise UnfitError(f"{len(arrivals)} arrivals hold {tape.iterations} server updates, not {iterations}")
    return tape


def used_runs(tape: Tape) -> dict[tuple[int, ...], int]:
    """Return the rows of the local runs that enter server update t, by (t, place among them)."""
    found: dict[tuple[int, ...], int] = {}
    count: dict[int, int] = {}
    for row, t in zip(tape.uses.update.tolist(), tape.uses.version.tolist(), strict=True):
        found[t, count.setdefault(t, 0)] = row
        count[t] += 1
    return found


class Used:
    """Runs that server updates use, by their indices: whose, from which model, how many steps, and what they weigh.

    Parameters
    ----------
    tape
        What they stand in.
    rows
        Which row of its local runs each is.
    """

    def __init__(self, tape: Tape, rows: Places) -> None:
        table, uses = tape.descend, tape.uses
        weights = dict(zip(uses.update.tolist(), map(exact_weight, uses.weight.tolist()), strict=True))
        self.tape, self.rows = tape, dict(rows)
        self.weight = {at: weights[row] for at, row in rows.items() if row in weights}
        self.c, self.s, self.steps = (
            {at: int(column[row]) for at, row in rows.items()} for column in (table.client, table.version, table.steps)
        )

    def families(self) -> dict[str, Members]:
        """Return the members of families: clients, and models that runs began at."""
        return {"c": whole(self.c), "s": whole(self.s)}


def whole(numbers: Mapping[tuple[int, ...], int]) -> Members:
    """Return whole numbers as members of a family."""
    return {at: Fraction(one) for at, one in numbers.items()}


def halves(up: str, down: str, values: Members) -> dict[str, Members]:
    """Return how much numbers are above 0, and below, as two families."""
    return {
        up: {at: max(one, _ZERO) for at, one in values.items()},
        down: {at: max(-one, _ZERO) for at, one in values.items()},
    }


def agreed(found: Mapping[str, Fraction], read: Mapping[str, float], names: Iterable[str]) -> None:
    """Make sure that exact numbers are those that the algorithm reads off the tape, rounded.

    Raises
    ------
    ProofError
        If one is another.
    """
    for name in names:
        if name in read and abs(float(found[name]) - read[name]) > 1e-9 * max(1.0, abs(read[name])):
            raise ProofError(f"{name} is {read[name]} as it is read off the tape, and {found[name]} here")


def replay_tape(tape: Tape, instance: Instance, places: Places) -> Runs:
    """Run all values of the noise through a tape.

    The server's model after t updates is ``w[t]``; the points, slopes and noise of the local run with the indices
    ``place`` are ``z[*place, q]``, ``g`` and ``e``.

    Parameters
    ----------
    places
        The runs that have names. All others run too, with noise of their own where they arrive.

    Raises
    ------
    UnfitError
        If there are too many outcomes.
    """
    draws = [
        (row, q)
        for row, (steps, arrival) in enumerate(
            zip(tape.descend.steps.tolist(), tape.descend.arrival.tolist(), strict=True)
        )
        if arrival >= 0
        for q in range(steps)
    ]
    quiet = ((Fraction(1), tuple(_ZERO for _ in instance.start)),)
    clients = tape.descend.client.tolist()
    laws = [instance.noise[clients[row]].points() if instance.noise else quiet for row, _ in draws]
    if prod(len(law) for law in laws) > MAX_OUTCOMES:
        raise UnfitError(f"there are more than {MAX_OUTCOMES} outcomes")
    names: dict[int, list[tuple[int, ...]]] = {}
    for place, row in places.items():
        names.setdefault(row, []).append(place)
    chances: list[Fraction] = []
    found: dict[Name, list[Point]] = {}
    for drawn in itertools.product(*laws):
        chances.append(prod((chance for chance, _ in drawn), start=Fraction(1)))
        noise = {at: value for at, (_, value) in zip(draws, drawn, strict=True)}
        for name, value in run_once(tape, instance, noise, names).items():
            found.setdefault(name, []).append(value)
    return Runs(chances, {name: Column(values) for name, values in found.items()}, instance.functions)


def run_once(
    tape: Tape, instance: Instance, noise: Mapping[tuple[int, int], Point], names: Mapping[int, Sequence[Any]]
) -> dict[Name, Point]:
    """Return every named vector in one outcome."""
    zero: Point = tuple(_ZERO for _ in instance.start)
    held = {Initial.START: instance.start, Initial.ZERO: zero}
    now = {place: held[Initial(one)] for place, one in enumerate(tape.initial.tolist()) if Initial(one) in held}
    seen: dict[Name, Point] = {("w", (0,)): now[_SERVER_MODEL]}
    versions = tape.version.tolist()
    for op, row, event in zip(tape.op.tolist(), tape.row.tolist(), tape.event.tolist(), strict=True):
        if op == Op.AFFINE:
            first, last = tape.affine.start[row : row + 2].tolist()
            value = zero
            for source, weight in zip(
                tape.affine.src[first:last].tolist(), tape.affine.coef[first:last].tolist(), strict=True
            ):
                value = plus(value, now[source], exact_weight(weight))
            now[int(tape.affine.dst[row])] = value
        elif op == Op.DESCEND:
            now[int(tape.descend.dst[row])] = _descend(tape, instance, row, now, noise, names.get(row, ()), seen)
        seen["w", (versions[event + 1],)] = now[_SERVER_MODEL]
    return seen


def _descend(
    tape: Tape,
    instance: Instance,
    row: int,
    now: Mapping[int, Point],
    noise: Mapping[tuple[int, int], Point],
    places: Sequence[tuple[int, ...]],
    seen: dict[Name, Point],
) -> Point:
    table, alpha, zero = tape.descend, instance.alpha, tuple(_ZERO for _ in instance.start)
    if tape.local.size or (tape.implicit.size and tape.implicit[row]):
        raise ProofError("local steps of several sizes, or implicit ones, are not known to exact models")
    if abs(float(table.step_size[row]) - float(alpha)) > 1e-9 * float(alpha):
        raise ProofError("a run with another step size than the instance's is not known to exact models")
    function, z = instance.functions[int(table.client[row])], now[int(table.src[row])]
    steps = int(table.steps[row])
    for q in range(steps):
        slope, drawn = function.slope(z), noise.get((row, q), zero)
        for place in places:
            for name, value in (("z", z), ("g", slope), ("e", drawn)):
                seen[name, (*place, q)] = value
        z = plus(z, plus(slope, drawn), -alpha)
    for place in places:
        seen["z", (*place, steps)] = z
        seen["g", (*place, steps)] = function.slope(z)
    return z
