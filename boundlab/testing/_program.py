"""The check of an algorithm's program of one event against its tape."""

from collections.abc import Iterable

import numpy as np

from boundlab.algorithms import X_S, AffineRow, DescendRow, EventLaw
from boundlab.objective import Array, Problem
from boundlab.tape import Initial
from boundlab.testing._agree import equal, expect
from boundlab.testing._schedule import CompiledRun

_ROUNDING = 1e-10


def program(at: CompiledRun) -> None:
    """Check that the program of one event, over the events of a tape, makes the iterates of the tape."""
    n, tape = at.problem.n, at.long
    said = at.algorithm.program(at.parameters, n)
    if said is None:
        return
    law = EventLaw(np.full(n, 0.5 / n), 0.5)
    first = {Initial.START: at.problem.x0.astype(np.float64), Initial.ZERO: np.zeros(at.problem.d)}
    registers: dict[int, Array] = {
        place: first[Initial(int(kind))] for place, kind in enumerate(said.initial) if kind in first
    }
    rows, control = said.opening()
    _run(rows, registers, at.problem, said.local)
    models = [registers[X_S]]
    details = tape.events.detail or ((),) * len(tape.events)
    for number, (actor, detail) in enumerate(zip(tape.events.actor.tolist(), details, strict=True)):
        # An event is who acts, and whom it concerns; a round is its members.
        choices = [event for event, _ in said.choices(control, law)]
        found = [event for event in ((actor, *detail), tuple(detail)) if event in choices]
        words = f"event {number + 1} of a run, {(actor, *detail)}, is none of the choices of program()"
        expect(bool(found), f"{at.who}: {words}: {', '.join(map(str, choices[:5]))}")
        step = said.event(control, found[0], number)
        _run(step.rows, registers, at.problem, said.local)
        control = step.control
        if step.iteration:
            models.append(registers[X_S])
    shown = at.executed.shown
    expect(
        len(models) == len(shown), f"{at.who}: program() makes {len(models) - 1} iterations, the tape {len(shown) - 1}"
    )
    what = f"{at.who}: the iterates of program() and of the tape"
    equal(what, np.array(models), np.array(shown), scale=1.0, rounding=_ROUNDING)


def _run(rows: Iterable[object], registers: dict[int, Array], problem: Problem, local: Array) -> None:
    """Execute rows in place."""
    for row in rows:
        match row:
            case AffineRow():
                registers[row.dst] = sum((coef * registers[src] for coef, src in row.terms), start=np.zeros(problem.d))
            case DescendRow():
                x = registers[row.src]
                for size in row.step_size * local if len(local) else [row.step_size] * row.steps:
                    x = x - size * problem.gradient(row.client, x)
                registers[row.dst] = x
            case _:
                registers[row.dst] = registers.pop(row.src)  # type: ignore[attr-defined]
