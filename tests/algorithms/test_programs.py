"""One event as a program: over any events its rows are those of the compiled tape, up to names of registers."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from boundlab.algorithms import X_S, AffineRow, Algorithm, DescendRow, EventLaw, EventProgram, MoveRow
from boundlab.errors import SpecError
from boundlab.options import Options
from boundlab.registry import lookup, registered
from boundlab.tape import Initial, Op, RecordAt, Tape

STEP = {name: one.step_size_symbols[0] for name, one in sorted(registered("algorithms").items())}
WITH_PROGRAM = [name for name in STEP if type(lookup("algorithms", name)).program is not Algorithm.program]
NEEDED: dict[str, dict[str, str]] = {
    "fedasync": {"beta": "0.75"},
    "heavy_ball": {"beta": "0.75"},
    "lsvrg": {"p_c": "0.5"},
    "ringmaster": {"threshold": "2"},
    "scaffnew": {"p_c": "0.5"},
}
Node = int  # a value as the number of the (operation, values) that made it


def read(name: str, options: dict[str, str]) -> Any:
    return lookup("algorithms", name).read(Options(name, options))


class Values:
    """What registers hold: equal numbers are equal expressions. Each client's passes are told apart by their number."""

    def __init__(self, initial: Any, clients: int, known: dict[Any, Node]) -> None:
        self._known = known
        named = {Initial.START: "x0", Initial.ZERO: "0"}
        self.held = [self.number(named[Initial(int(one))]) if one else None for one in initial]
        self.passes = [0] * clients

    def number(self, made: Any) -> Node:
        return self._known.setdefault(made, len(self._known))

    def affine(self, dst: int, terms: Any) -> None:
        parts = [(self.held[src], float(coef)) for coef, src in terms]
        assert all(part is not None for part, _ in parts), "a register is read that nothing wrote"
        self.held[dst] = self.number(("sum", *sorted(parts)))

    def descend(self, dst: int, src: int, client: int, sizes: Any) -> None:
        self.held[dst] = self.number(("pass", client, self.passes[client], tuple(sizes), self.held[src]))
        self.passes[client] += 1


def sizes_of(steps: int, first: float, local: Any) -> list[float]:
    return [first * part for part in local.tolist()] if len(local) else [first] * steps


def run_program(
    program: EventProgram, clients: int, events: list[tuple[int, ...]], last: int, known: dict[Any, Node]
) -> list[Node]:
    """Return the server model after 0 … last iterations."""
    values = Values(program.initial, clients, known)

    def do(rows: Any) -> None:
        for row in rows:
            match row:
                case AffineRow():
                    values.affine(row.dst, row.terms)
                case DescendRow():
                    values.descend(row.dst, row.src, row.client, sizes_of(row.steps, row.step_size, program.local))
                case MoveRow():
                    values.held[row.dst], values.held[row.src] = values.held[row.src], None

    rows, control = program.opening()
    do(rows)
    shown = [values.held[X_S]]
    for number, event in enumerate(events):
        if len(shown) > last:
            break
        step = program.event(control, event, number)
        before = values.held[X_S]
        do(step.rows)
        control = step.control
        if step.iteration:
            shown.append(values.held[X_S])
        else:
            assert values.held[X_S] is before, "the server model moves within an iteration"
    return shown


def run_tape(tape: Tape, known: dict[Any, Node]) -> list[Node]:
    values, shown = Values(tape.initial, tape.clients, known), []
    for op, row in zip(tape.op.tolist(), tape.row.tolist(), strict=True):
        if op == Op.AFFINE:
            terms = range(tape.affine.start[row], tape.affine.start[row + 1])
            values.affine(tape.affine.dst[row], [(tape.affine.coef[t], tape.affine.src[t]) for t in terms])
        elif op == Op.DESCEND:
            one = tape.descend
            sizes = sizes_of(int(one.steps[row]), float(one.step_size[row]), tape.local)
            values.descend(one.dst[row], one.src[row], int(one.client[row]), sizes)
        else:
            shown.append(values.held[tape.record.src[row]])
    return shown


def combinations(name: str, clients: int) -> Any:
    """Draw options together from the values that the algorithm declares."""
    algorithm = lookup("algorithms", name)
    axes = {key: values for key, values in algorithm.examples(clients).items() if key not in ("alpha", "eta_l")}
    return st.fixed_dictionaries({key: st.sampled_from(list(values)) for key, values in axes.items()})


def readable(name: str, options: dict[str, str], clients: int) -> Any:
    rate = {} if name in ("area", "gd", "incremental") and options.get("c") else {STEP[name]: "0.125"}
    given_ = {**NEEDED.get(name, {}), **rate, **{key: value for key, value in options.items() if value}}
    try:
        parameters = read(name, given_)
        return parameters, lookup("algorithms", name).program(parameters, clients)
    except SpecError:
        return None


LAW = EventLaw(np.array([Fraction(1, 4), Fraction(1, 8), Fraction(1, 8)], dtype=object), Fraction(1, 2))


@pytest.mark.sweep(4)
@pytest.mark.parametrize("name", WITH_PROGRAM)
@given(data=st.data())
def test_rows_of_programs_are_those_of_the_tape(name: str, data: Any) -> None:
    clients = 3
    found = readable(name, data.draw(combinations(name, clients)), clients)
    if found is None:
        return  # options that do not go together
    parameters, program = found
    control = program.opening()[1]
    events: list[tuple[int, ...]] = []
    iterations = 0
    for number in range(data.draw(st.integers(0, 14))):
        choices = program.choices(control, LAW)
        assert sum(share for _, share in choices) == 1
        event = data.draw(st.sampled_from([event for event, _ in choices]))
        step = program.event(control, event, number)
        assert step == program.event(control, event, number)
        assert isinstance(hash(step.control), int)
        control, iterations = step.control, iterations + step.iteration
        events.append(event)
    compiler = lookup("algorithms", name)
    raw = compiler.drawn_events(parameters, events)
    if len(raw):
        tape = compiler.schedule(parameters, raw, clients, RecordAt(), iterations)
        assert tape.iterations == iterations
        known: dict[Any, Node] = {}
        assert run_program(program, clients, events, iterations, known) == run_tape(tape, known)


SET = {
    **{name: {step: "0.5"} for name, step in STEP.items()},
    "fedasync": {"eta_l": "0.5", "beta": "0.75"},
    **{name: {"alpha": "0.5", "p_c": "0.5"} for name in ("lsvrg", "scaffnew")},
    "heavy_ball": {"alpha": "0.5", "beta": "0.5"},
    "ogm": {"alpha": "0.5", "K": "40"},
    "ringmaster": {"alpha": "0.5", "threshold": "2"},
    "fedcompass": {"eta": "0.5", "Qmin": "1", "Qmax": "4"},
}
