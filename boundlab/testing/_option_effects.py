"""Checks that options do what they say: that each has an effect, and that staleness functions damp by the staleness."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from itertools import product
from typing import Any

import numpy as np

from boundlab.algorithms import Staleness
from boundlab.delays import DelayModel
from boundlab.instance.example_options import Setting, surroundings
from boundlab.options import Options
from boundlab.testing._agree import expect
from boundlab.testing._linear import NEGLIGIBLE
from boundlab.testing._schedule import CompiledRun
from boundlab.testing._subject import ITERATIONS, REFUSED, Subject

_CLOSE = 1e-9
_TRIALS = (1, 2, 3)
_COMBINATIONS = 24


def effects(subject: Subject) -> None:
    """Check that some values of every option make different runs."""
    a = subject.algorithm
    for name, some in a.examples(subject.n).items():
        if name not in a.local_rates and len(some) > 1:
            shown = ", ".join(value or "none" for value in some)
            words = f"option {name} has no effect: {shown} make the same runs"
            expect(_differ(subject, name, some), f"{subject.who}: {words}")


def _differ(subject: Subject, name: str, some: Sequence[str]) -> bool:
    """Return whether some values differ in some surroundings, or hardly any can be run."""
    most = 0
    for setting, model, iterations, trial in _places(subject):
        runs: list[bytes] = []
        for value in some:
            given = {key: word for key, word in {**setting, name: value}.items() if word}
            try:
                runs.append(_fingerprint(subject.schedule(given, model, iterations, trial)))
            except REFUSED:
                continue
        most = max(most, len(runs))
        if len(set(runs)) > 1:
            return True
    return most < 2


def _places(subject: Subject) -> Iterator[tuple[Setting, DelayModel, int, int]]:
    """Yield where values may differ: in which setting, under which delays, in how many iterations, in which trial.

    Horizons are short, too, for methods that are told one; there are several trials, since two draws may happen to be
    equal; and in the end there are many combinations of options, since one may need two others.
    """
    first, *others = subject.models
    runs = [(first, ITERATIONS, 0), (first, 2, 0), *((first, ITERATIONS, trial) for trial in _TRIALS)]
    runs += [(model, ITERATIONS, 0) for model in others]
    for run in runs:
        for setting in surroundings(subject.who, subject.algorithm, subject.n, subject.drawn):
            yield setting, *run
    for setting in surroundings(subject.who, subject.algorithm, subject.n, _COMBINATIONS):
        yield setting, first, ITERATIONS, 0


def _fingerprint(at: CompiledRun) -> bytes:
    """Return what only equal runs share: the events, and the program."""
    tape = at.long
    parts = [
        tape.events.time, tape.events.actor, tape.op, tape.row, tape.affine.dst, tape.affine.start, tape.affine.src,
        tape.affine.coef, tape.local, tape.implicit, tape.record.iteration, tape.uses.weight, tape.uses.version,
        *(getattr(tape.descend, one.name) for one in fields(tape.descend)),
    ]  # fmt: skip
    return repr(tape.events.detail).encode() + b"".join(part.tobytes() for part in parts)


def damping(subject: Subject) -> None:
    """Check every option that is a staleness function in every setting, against the constant one."""
    a, model = subject.algorithm, subject.models[0]
    for name in _staleness_options(a.read(Options(a.id, subject.settings[0]))):
        for typed in a.examples(subject.n).get(name, ()):
            shown: list[bool] = []
            for setting in subject.settings:
                try:
                    plain = subject.schedule({**setting, name: "constant"}, model)
                    at = subject.schedule({**setting, name: typed}, model)
                except REFUSED:
                    continue
                shown += _damps(at, plain, name, typed)
            words = "it damps no update that arrives late"
            expect(not shown or any(shown), f"{subject.who}: option {name}={typed} is ignored: {words}")


def _staleness_options(parameters: Any) -> dict[str, Staleness]:
    """Return the fields of parameters that are staleness functions."""
    found = {one.name: getattr(parameters, one.name) for one in fields(parameters)}
    return {name: value for name, value in found.items() if isinstance(value, Staleness)}


def _damps(at: CompiledRun, plain: CompiledRun, name: str, typed: str) -> Iterator[bool]:
    """Check that a staleness function multiplies the weights with which stale updates enter the server's model.

    The staleness may be counted at the arrival or at the use, from 0, from 1 on as some papers do, or from what another
    option says; where weights are normalised, they are multiplied up to a factor of each server update.

    Parameters
    ----------
    at, plain
        The same events with the function and with a constant one.
    name, typed
        The option, and its value in words.

    Yields
    ------
    bool
        For a run with updates so stale that the function damps them, whether they are damped; where weights of single
        updates are normalised they are not, whatever the function is.
    """
    s = _staleness_options(at.parameters)[name]
    found, constant = _entering(at), _entering(plain)
    late = [row for row in found if row in constant and max(found[row][1:]) > 0]
    if s.kind == "constant" or not late:
        return
    ratio = {row: found[row][0] / constant[row][0] for row in late}
    numbers = (getattr(at.parameters, one.name) for one in fields(at.parameters))
    offsets = {0, 1, *(one for one in numbers if isinstance(one, int))}
    for at_use, offset in product((False, True), sorted(offsets)):
        expected = {row: s((found[row][2] if at_use else found[row][1]) + offset) for row in late}
        told = _proportional(at, ratio, expected)
        if told or all(abs(ratio[row] - expected[row]) <= _CLOSE for row in late):
            if any(abs(one - 1.0) > _CLOSE for one in expected.values()):
                yield True
            return
    if told is None and all(abs(one - 1.0) <= _CLOSE for one in ratio.values()):
        yield False
        return
    row = max(late, key=lambda one: abs(ratio[one] - s(found[one][1])))
    tau = found[row][1]
    expect(
        False,
        f"{at.who}: option {name}={typed} is not the function of staleness that it says: update {row} arrives {tau} "
        f"versions late and enters with {ratio[row]:.10g} times its constant weight, where s({tau}) = {s(tau):.10g}",
    )


def _entering(at: CompiledRun) -> dict[int, tuple[float, int, int]]:
    """Return update → its weight when it enters the server's model, its staleness at its arrival and at its use."""
    tape, entering = at.long, at.linear.entering
    out = {}
    for row in np.flatnonzero(tape.descend.arrival >= 0).tolist():
        versions = np.flatnonzero(np.abs(entering[:, row]) > NEGLIGIBLE)
        if len(versions):
            start, version = int(tape.descend.version[row]), int(versions[0])
            at_arrival = int(tape.version[tape.descend.arrival[row]]) - start
            out[row] = float(entering[version, row]), at_arrival, version - start
    return out


def _proportional(at: CompiledRun, ratio: Mapping[int, float], expected: Mapping[int, float]) -> bool | None:
    """Return whether ratios are what is expected up to a factor of each server update; None: that says nothing."""
    entering = at.linear.entering
    by_version: dict[int, list[int]] = {}
    for row in ratio:
        by_version.setdefault(int(np.flatnonzero(np.abs(entering[:, row]) > NEGLIGIBLE)[0]), []).append(row)
    if all(len({expected[row] for row in rows}) == 1 for rows in by_version.values()):
        return None
    factors = ([ratio[row] / expected[row] for row in rows] for rows in by_version.values())
    return all(max(one) - min(one) <= _CLOSE * max(one) for one in factors)
