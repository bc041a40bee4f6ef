"""Tapes of any kind, for tests of what reads them."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

from boundlab.events import Events
from boundlab.execute import Combine, Update, own_numbers, rows, starts
from boundlab.objective import Oracle, Problem
from boundlab.tape import Affine, Descend, Initial, Op, Record, Tape

NUMBERS = st.sampled_from([-1.0, -0.5, 0.0, 0.25, 0.5, 1.0])


@st.composite
def programs(draw: Any, registers: int, *, distinct: bool = False) -> Tape:
    """Draw any straight-line program: combinations of up to 20 terms, the own register among them or not.

    A register stands several times in a combination, unless its sources are to be distinct.
    """
    register = st.integers(0, registers - 1)
    unique = (lambda term: term[1]) if distinct else None
    terms = st.lists(st.tuples(NUMBERS, register), max_size=draw(st.sampled_from([3, 20])), unique_by=unique)
    combine = st.tuples(st.just(Op.AFFINE), register, terms)
    descend = st.tuples(
        st.just(Op.DESCEND), register, register, st.integers(0, 2), st.integers(1, 3), st.sampled_from([0.1, 0.5])
    )
    record = st.tuples(st.just(Op.RECORD), register)
    ops = draw(st.lists(st.one_of(combine, combine, descend, record), max_size=25))
    initial = draw(st.lists(st.sampled_from([Initial.START, Initial.ZERO]), min_size=registers, max_size=registers))
    return tape_of(registers, initial, ops)


def tape_of(registers: int, initial: list[Initial], ops: list[tuple[Any, ...]]) -> Tape:
    """Write the arrays of a tape."""
    affine = [op for op in ops if op[0] == Op.AFFINE]
    down = [op for op in ops if op[0] == Op.DESCEND]
    shown = [op for op in ops if op[0] == Op.RECORD]
    ints = lambda column: np.array(list(column), dtype=np.int64)  # noqa: E731
    terms = [term for op in affine for term in op[2]]
    count, zeros = len(down), np.zeros(len(down), np.int64)
    kinds = [op[0] for op in ops]
    return Tape(
        registers,
        np.array(initial, dtype=np.int8),
        np.array(kinds, dtype=np.int8),
        ints(kinds[:j].count(kind) for j, kind in enumerate(kinds)),
        ints([-1] * len(ops)),
        Affine(
            ints(op[1] for op in affine),
            ints(np.cumsum([0, *(len(op[2]) for op in affine)])),
            ints(src for _, src in terms),
            np.array([coef for coef, _ in terms], dtype=np.float64),
        ),
        Descend(
            ints(op[1] for op in down),
            ints(op[2] for op in down),
            ints(op[3] for op in down),
            np.arange(count),
            ints(op[4] for op in down),
            np.array([op[5] for op in down], dtype=np.float64),
            zeros,
            zeros - 1,
        ),
        Record(ints(op[1] for op in shown), np.arange(len(shown)), np.arange(len(shown)), np.arange(len(shown)) * 1.0),
        Events(np.empty(0), np.empty(0, dtype=np.int32)),
        3,
        0,
        np.zeros(1, np.int64),
        0,
    )


def gradient(client: int, x: np.ndarray) -> np.ndarray:
    """Return some map of each client's own."""
    return np.tanh(x * (client + 1) / 3.0) - 0.1 * client


class Run(NamedTuple):
    """What a tape does: its registers, its records, and the models before and after each row of local steps."""

    registers: dict[int, np.ndarray]
    shown: list[np.ndarray]
    starts: list[np.ndarray]
    ends: list[np.ndarray]

    def models(self, tape: Tape) -> list[np.ndarray]:
        """Return the server's model of each version, from a tape that records all iterations."""
        versions = tape.record.version.tolist()
        return [self.shown[versions.index(version)] for version in range(int(tape.version[-1]) + 1)]


def interpreted(
    tape: Tape, x0: np.ndarray, step: Callable[[Update[float], np.ndarray, Any], np.ndarray], number: Any = float
) -> Run:
    """Execute a tape row by row, in the plainest way, with a function that takes one local step.

    With ``number=Fraction`` and an array of fractions nothing is rounded.
    """
    registers = {place: one for place, one in enumerate(starts(tape, x0, np.zeros_like(x0))) if one is not None}
    run = Run(registers, [], [], [])
    for row in rows(tape, own_numbers(tape)):
        match row:
            case Combine():
                registers[row.dst] = sum((number(c) * registers[s] for c, s in row.terms), np.zeros_like(x0))
            case Update():
                x = registers[row.src]
                run.starts.append(x)
                for size in row.sizes:
                    x = step(row, x, number(size))
                run.ends.append(x)
                registers[row.dst] = x
            case _:
                run.shown.append(registers[row.src])
    return run


def one_by_one(tape: Tape, x0: np.ndarray) -> tuple[dict[int, np.ndarray], list[np.ndarray]]:
    """Execute a tape with steps along :func:`gradient`; return the registers that were written, and what is shown."""
    return interpreted(tape, x0, lambda row, x, size: x - size * gradient(row.client, x))[:2]


def interpret(tape: Tape, problem: Problem) -> Run:
    """Execute a tape with the full gradients of a problem, its proximal map behind each, or with proximal steps."""
    f, h = problem.gradient_part, problem.simple

    def step(row: Update[float], x: np.ndarray, size: float) -> np.ndarray:
        x = problem.prox(row.client, x, size) if row.implicit else x - size * f.gradient(row.client, x)
        return x if h is None or row.implicit else h.prox(x, size)

    return interpreted(tape, problem.x0.astype(np.float64), step)


class Some(Oracle):
    """Steps along :func:`gradient`."""

    def draws(self, clients: Any, updates: Any, steps: int) -> Any:
        return [[None] * steps] * len(clients)

    def draw_size(self, steps: int) -> int:
        return 0

    def step(self, x: np.ndarray, client: int, draw: Any, step_size: float) -> None:
        x -= step_size * gradient(client, x)

    implicit_step = step
