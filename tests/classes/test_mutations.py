"""An algorithm that is changed leaves the class that its proofs are about: one change at a time, tapes and programs."""

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from boundlab.algorithms import AffineRow, DescendRow, EventLaw
from boundlab.case import delays_from
from boundlab.classes import CLASSES, MOVE, Formal, of_program, of_tape
from boundlab.options import Options
from boundlab.randomness import Streams
from boundlab.registry import lookup
from boundlab.tape import RecordAt, Tape

N, ITERATIONS = 4, 16
SETTINGS: dict[str, dict[str, Any]] = {
    "gd": {"alpha": 0.25},
    "async_sgd": {"alpha": 0.25},
    "fedbuff": {"eta_l": 0.25, "M": 2, "count": 3, "eta_g": 0.5},
    "fedstaleweight": {"eta_l": 0.25, "M": 2, "count": 3},
    "fedcompass": {"eta": 0.25, "Qmin": 1, "Qmax": 4},
    "fedfa": {"eta_l": 0.25, "Q": 2, "K": 3, "mode": "delta"},
    "afl_dga": {"eta": 0.25, "scaling": "analysis", "local_steps": 2, "participation": 0.8},
    "area": {"alpha": 0.25, "M": 2, "start": "analysis"},
}
WITH_PROGRAMS = sorted(SETTINGS.keys() - {"fedcompass", "afl_dga"})


@cache
def made(name: str) -> tuple[Any, Tape]:
    """Return the parameters and a run of an algorithm."""
    algorithm = lookup("algorithms", name)
    parameters = algorithm.read(Options(name, SETTINGS[name])).known()
    delays = delays_from("iid:p_s=0.4" if name == "area" else "exponential:spread=3", N)
    policy, streams = algorithm.policy(None, delays), Streams(5)
    many = algorithm.events_for(parameters, N, ITERATIONS) + 40
    events = algorithm.sample(parameters, delays, policy, streams, N, many)
    return parameters, algorithm.schedule(parameters, events, N, RecordAt(), ITERATIONS)


def outside(name: str, run: Formal) -> list[str]:
    """Return where a run is not as its class says."""
    return list(CLASSES[name](made(name)[0], N).why_not(run))


def _affine(tape: Tape, place: int) -> Tape:
    coef = tape.affine.coef.copy()
    coef[place] *= 1.01
    return replace(tape, affine=replace(tape.affine, coef=coef))


def _column(name: str, change: Callable[[Any], Any], at: int | None = None) -> Callable[[Tape], Tape]:
    def changed(tape: Tape) -> Tape:
        column = getattr(tape.descend, name).copy()
        at_ = slice(None) if at is None else at % len(column)
        column[at_] = change(column[at_])
        return replace(tape, descend=replace(tape.descend, **{name: column}))

    return changed


def _one_noise(tape: Tape) -> Tape:
    """Let the last pass of a client draw what its first one draws."""
    client = tape.descend.client
    last = next(row for row in range(len(client) - 1, 0, -1) if client[row] in client[:row])
    update = tape.descend.update.copy()
    update[last] = update[np.flatnonzero(client == client[last])[0]]
    return replace(tape, descend=replace(tape.descend, update=update))


def _uses(tape: Tape) -> Tape:
    return replace(tape, uses=replace(tape.uses, weight=tape.uses.weight * 1.01))


def _swapped(tape: Tape) -> Tape:
    """Let the server's second model come out of what was its third, as its versions count them."""
    version = tape.version.copy()
    version[np.flatnonzero(np.diff(version))[1] + 1] += 1
    return replace(tape, version=version)


TAPES: dict[str, Callable[[Tape], Tape]] = {
    "a coefficient in the middle × 1.01": lambda tape: _affine(tape, len(tape.affine.coef) // 2),
    "the last coefficient of the server's last model × 1.01": lambda tape: _affine(
        tape, tape.affine.start[np.flatnonzero(tape.affine.dst == tape.server)[-1] + 1] - 1
    ),
    "the step size × 1.01": _column("step_size", lambda one: one * 1.01),
    "the step size of one pass × 1.0001": _column("step_size", lambda one: one * 1.0001, 4),
    "one local step more": _column("steps", lambda one: one + 4, 3),
    "a pass is of another version": _column("version", lambda one: one + 1, 3),
    "a pass begins elsewhere": _column("src", lambda one: one + 2, 6),
    "a pass is of a client that does not exist": _column("client", lambda one: one + N, 5),
    "two passes draw one noise": _one_noise,
    "weights of uses × 1.01": _uses,
    "versions are counted otherwise": _swapped,
}


@pytest.mark.parametrize("what", TAPES)
@pytest.mark.parametrize("name", SETTINGS)
def test_a_changed_tape_is_outside(name: str, what: str) -> None:
    tape = made(name)[1]
    run, changed = of_tape(tape), _tape_of(TAPES[what], tape)
    assert outside(name, run) == []
    # Nothing is changed where what is multiplied is 0, or where a tape says no weights.
    assert changed is None or changed == run or outside(name, changed) != []


def _tape_of(change: Callable[[Tape], Tape], tape: Tape) -> Formal | None:
    """Return the changed run; None: it reads what nobody has written."""
    try:
        return of_tape(change(tape))
    except KeyError:
        return None


def test_a_pass_that_has_left_the_window_does_not_come_back() -> None:
    run = of_tape(made("fedfa")[1])
    # Update 7 with the pass that left at update 5 in place of the oldest that is there.
    uses = [{number for kind, number in model if kind == MOVE} for model in run.models]
    (gone,), oldest = uses[4] - uses[5], min(uses[7])
    run.models[7] = {(kind, gone if (kind, number) == (MOVE, oldest) else number): weight
                     for (kind, number), weight in run.models[7].items()}  # fmt: skip
    assert any("window" in why for why in outside("fedfa", run))


class Changed:
    """A program with other rows."""

    def __init__(self, program: Any, change: Callable[[Any], Any], since: int = 0) -> None:
        self.program, self.change, self.since = program, change, since
        self.initial, self.local = program.initial, program.local

    def opening(self) -> Any:
        """Return the opening as it is."""
        return self.program.opening()

    def event(self, control: Any, event: Any, number: int) -> Any:
        """Return an event with changed rows."""
        step = self.program.event(control, event, number)
        return step._replace(rows=tuple(map(self.change, step.rows))) if number >= self.since else step


def _coefficient(row: Any) -> Any:
    if not isinstance(row, AffineRow) or not row.terms:
        return row
    (weight, register), *more = row.terms
    return row._replace(terms=((weight * 1.01, register), *more))


def _of_pass(**changes: Callable[[DescendRow], Any]) -> Callable[[Any], Any]:
    def change(row: Any) -> Any:
        if not isinstance(row, DescendRow):
            return row
        return row._replace(**{name: make(row) for name, make in changes.items()})

    return change


PROGRAMS: dict[str, tuple[Callable[[Any], Any], int]] = {
    "coefficients × 1.01": (_coefficient, 0),
    "coefficients × 1.01 from event 7 on": (_coefficient, 7),
    "the step size × 1.01": (_of_pass(step_size=lambda row: row.step_size * 1.01), 0),
    "one local step more": (_of_pass(steps=lambda row: row.steps + 1), 0),
    "passes begin at their own register from event 7 on": (_of_pass(src=lambda row: row.dst), 7),
}


def _events(program: Any) -> Iterator[tuple[int, ...]]:
    draw = random.Random(3)  # noqa: S311  (no secret)
    law, control = EventLaw(np.full(N, 0.7 / N), 0.3), program.opening()[1]
    for number in range(40):
        event = draw.choice(program.choices(control, law))[0]
        control = program.event(control, event, number).control
        yield event


@pytest.mark.parametrize("what", PROGRAMS)
@pytest.mark.parametrize("name", WITH_PROGRAMS)
def test_a_changed_program_is_outside(name: str, what: str) -> None:
    program = lookup("algorithms", name).program(made(name)[0], N)
    events = list(_events(program))
    assert outside(name, of_program(program, N, events)) == []
    assert outside(name, of_program(Changed(program, *PROGRAMS[what]), N, events)) != []
