"""One event as a program: over any events its rows are those of the compiled tape, up to names of registers."""

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from boundlab.algorithms import X_S, AffineRow, Algorithm, DescendRow, EventLaw, EventProgram, MoveRow
from boundlab.case import build_delays
from boundlab.errors import SpecError
from boundlab.events import SERVER
from boundlab.options import Options
from boundlab.randomness import Streams
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


@pytest.mark.parametrize("reply", ["pre", "post"])
def test_the_identity_of_area_holds_after_every_event(reply: str) -> None:
    program = read_program("area", {"alpha": "0.5", "count": "2", "reply": reply}, 2)
    assert program.identity is not None
    affine = dict(zip(program.identity.register.tolist(), program.identity.coef.tolist(), strict=True))
    for sequence in itertools.product((0, 1), repeat=4):
        registers = {0: 1.0, 1: 0.0, **dict.fromkeys(range(2, 6), 1.0)}
        rows, control = program.opening()
        number, arrivals = 0, list(sequence)
        while arrivals:
            for row in rows:
                match row:
                    case AffineRow():
                        registers[row.dst] = sum(coef * registers[src] for coef, src in row.terms)
                    case DescendRow():
                        registers[row.dst] = registers[row.src] - (row.client + 1.0) * 0.25
                    case MoveRow():
                        registers[row.dst] = registers[row.src]
            assert sum(coef * registers[src] for src, coef in affine.items()) == pytest.approx(0.0, abs=1e-15)
            event = program.choices(control, LAW)[0][0]
            event = event if event[0] == SERVER else (arrivals.pop(),)
            rows, control, *_ = program.event(control, event, number)
            number += 1


def read_program(name: str, options: dict[str, str], clients: int) -> EventProgram:
    program = lookup("algorithms", name).program(read(name, options), clients)
    assert isinstance(program, EventProgram)
    return program


SET = {
    **{name: {step: "0.5"} for name, step in STEP.items()},
    "fedasync": {"eta_l": "0.5", "beta": "0.75"},
    **{name: {"alpha": "0.5", "p_c": "0.5"} for name in ("lsvrg", "scaffnew")},
    "heavy_ball": {"alpha": "0.5", "beta": "0.5"},
    "ogm": {"alpha": "0.5", "K": "40"},
    "ringmaster": {"alpha": "0.5", "threshold": "2"},
    "fedcompass": {"eta": "0.5", "Qmin": "1", "Qmax": "4"},
}


@pytest.mark.sweep(6)
@pytest.mark.parametrize("name", sorted(registered("algorithms")))
def test_what_trials_differ_in_where_arrivals_are_sure_is_declared_as_drawn(name: str) -> None:
    # A draw that nobody declares would be judged outcome by outcome where a statement is about its mean.
    algorithm, clients = lookup("algorithms", name), 3
    delays = build_delays("deterministic", {"rates": [3.0, 2.0, 1.0]}, clients)
    policy = algorithm.policy("poisson" if algorithm.server == "any" else None, delays)
    tried, spoken = 0, {option for one in algorithm.draws for option in one.options}
    for option, values in {"": ("",), **algorithm.examples(clients)}.items():
        for value in values:
            given_ = {**SET[name], **({option: value} if value else {})}
            try:
                parameters = read(name, given_)
                runs = [algorithm.sample(parameters, delays, policy, Streams(0, t), clients, 40) for t in range(8)]
            except SpecError:
                continue  # options that do not go together
            drawn = [one for one in algorithm.draws if one.when(parameters, clients)]
            tried += 1
            differ = len({repr(algorithm.events_as_json(run)) for run in runs}) > 1
            assert differ == bool(drawn) or algorithm.server == "any", (option, value)
            assert {one for draw in drawn for one in draw.options} <= spoken
            assert not any(one.when(parameters, 1) and not one.when(parameters, None) for one in algorithm.draws)
    assert tried
