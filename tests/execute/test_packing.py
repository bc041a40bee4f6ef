"""Tapes side by side mean what each of them means by itself, whatever stands in them."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from instance_makers import BUILT_IN, fitting

from boundlab.compare.trials import trial_tape
from boundlab.errors import TapeError
from boundlab.events import Events
from boundlab.execute import Combine, Update, own_numbers, rows, starts
from boundlab.execute.packing import WIDTH, Program, pack
from boundlab.tape import Affine, Descend, Initial, Op, Record, Tape

ALGORITHMS = {theorem.algorithm: name for name, theorem in BUILT_IN.items()}


def gradient(client: int, x: np.ndarray) -> np.ndarray:
    """Return some map of each client's own."""
    return np.tanh(x * (client + 1) / 3.0) - 0.1 * client


def one_by_one(tape: Tape, x0: np.ndarray) -> tuple[dict[int, np.ndarray], list[np.ndarray]]:
    """Execute a tape row by row; return the registers that were written, and what is shown."""
    registers = {place: one for place, one in enumerate(starts(tape, x0, np.zeros_like(x0))) if one is not None}
    shown = []
    for row in rows(tape, own_numbers(tape)):
        match row:
            case Combine():
                registers[row.dst] = sum((c * registers[s] for c, s in row.terms), np.zeros_like(x0))
            case Update():
                x = registers[row.src]
                for size in row.sizes:
                    x = x - size * gradient(row.client, x)
                registers[row.dst] = x
            case _:
                shown.append(registers[row.src])
    return registers, shown


def side_by_side(program: Program, x0: np.ndarray) -> tuple[np.ndarray, list[dict[int, np.ndarray]]]:
    """Execute a program as its tables read: combinations, records, local steps, round after round."""
    of, down, seen = program.combinations, program.descents, program.shown
    registers = np.zeros((program.places, program.registers + 2, len(x0)))
    registers[:, : program.registers][program.start] = x0
    shown: list[dict[int, np.ndarray]] = [{} for _ in range(program.places)]
    for now in range(program.rounds):
        for j in np.flatnonzero(of.round == now):
            registers[of.tape[j], of.dst[j]] = of.coef[j] @ registers[of.tape[j], of.src[j]]
        for m in np.flatnonzero(seen.round == now):
            shown[seen.tape[m]][int(seen.row[m])] = registers[seen.tape[m], seen.src[m]].copy()
        for place in range(program.places):
            x = registers[place, down.src[now, place]].copy()
            for q in range(down.steps[now, place]):
                local = program.local[q] if len(program.local) else 1.0
                x = x - down.step_size[now, place] * local * gradient(int(down.client[now, place]), x)
            registers[place, down.dst[now, place]] = x
    assert not registers[:, program.zero].any()
    return registers, shown


def assert_the_same(tapes: list[Tape], x0: np.ndarray, size: int = 0) -> None:
    registers, shown = side_by_side(pack(tapes, size), x0)
    for place, tape in enumerate(tapes):
        own, records = one_by_one(tape, x0)
        assert sorted(shown[place]) == list(range(len(records)))
        for row, x in enumerate(records):
            np.testing.assert_allclose(shown[place][row], x, rtol=1e-12, atol=1e-12)
        for register, x in own.items():
            np.testing.assert_allclose(registers[place, register], x, rtol=1e-12, atol=1e-12)


NUMBERS = st.sampled_from([-1.0, -0.5, 0.0, 0.25, 0.5, 1.0])


@st.composite
def programs(draw: Any, registers: int) -> Tape:
    """Draw any straight-line program: combinations of up to 20 terms, the own register among them or not."""
    register = st.integers(0, registers - 1)
    terms = st.lists(st.tuples(NUMBERS, register), max_size=draw(st.sampled_from([3, 20])))
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
        registers, np.array(initial, dtype=np.int8), np.array(kinds, dtype=np.int8),
        ints(kinds[:j].count(kind) for j, kind in enumerate(kinds)), ints([-1] * len(ops)),
        Affine(
            ints(op[1] for op in affine), ints(np.cumsum([0, *(len(op[2]) for op in affine)])),
            ints(src for _, src in terms), np.array([coef for coef, _ in terms], dtype=np.float64),
        ),
        Descend(
            ints(op[1] for op in down), ints(op[2] for op in down), ints(op[3] for op in down), np.arange(count),
            ints(op[4] for op in down), np.array([op[5] for op in down], dtype=np.float64), zeros, zeros - 1,
        ),
        Record(ints(op[1] for op in shown), np.arange(len(shown)), np.arange(len(shown)), np.arange(len(shown)) * 1.0),
        Events(np.empty(0), np.empty(0, dtype=np.int32)), 3, 0, np.zeros(1, np.int64), 0,
    )  # fmt: skip


@given(st.integers(1, 5).flatmap(lambda count: st.lists(programs(count), min_size=1, max_size=4)), st.integers(0, 6))
def test_packing_never_changes_what_a_program_means(tapes: list[Tape], size: int) -> None:
    assert_the_same(tapes, np.array([0.7, -1.3]), size)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_packing_never_changes_what_an_algorithm_does(algorithm: str) -> None:
    theorem = BUILT_IN[ALGORITHMS[algorithm]]
    plan = fitting(theorem).plan(theorem)
    assert_the_same([trial_tape(plan, 3, trial) for trial in range(3)], np.array([0.7, -1.3]), 4)


def test_by_hand() -> None:
    # r0 ← ½r0 + r1, then r0 ← r0 − r2: one slot of three terms. r3 ← r0 is another.
    ops: list[tuple[Any, ...]] = [
        (Op.AFFINE, 0, [(0.5, 0), (1.0, 1)]), (Op.AFFINE, 0, [(1.0, 0), (-1.0, 2)]), (Op.AFFINE, 3, [(1.0, 0)]),
        (Op.RECORD, 3), (Op.DESCEND, 1, 3, 2, 1, 0.25), (Op.DESCEND, 2, 1, 0, 2, 0.5),
    ]  # fmt: skip
    program = pack([tape_of(4, [Initial.START] * 4, ops)], 2)
    of = program.combinations
    assert (program.places, program.rounds, program.zero, program.sink) == (2, 2, 4, 5)
    assert (of.round.tolist(), of.slot.tolist(), of.dst.tolist()) == ([0, 0], [0, 1], [0, 3])
    assert of.terms.tolist() == [3, 1]
    assert of.src[0, :3].tolist() == [0, 1, 2]
    assert of.coef[0, :3].tolist() == [0.5, 1.0, -1.0]
    assert (of.src[0, 3:] == 4).all()
    assert not of.coef[0, 3:].any()
    assert program.descents.steps.tolist() == [[1, 0], [2, 0]]
    assert program.descents.src.tolist() == [[3, 4], [1, 4]]
    assert program.descents.dst.tolist() == [[1, 5], [2, 5]]
    assert (program.shown.round.tolist(), program.shown.src.tolist()) == ([0], [3])


def test_a_combination_after_a_record_begins_a_round() -> None:
    ops: list[tuple[Any, ...]] = [
        (Op.AFFINE, 0, [(0.5, 0)]), (Op.RECORD, 0), (Op.AFFINE, 0, [(0.5, 0)]), (Op.RECORD, 0)
    ]  # fmt: skip
    program = pack([tape_of(1, [Initial.START], ops)])
    assert program.shown.round.tolist() == [0, 1]
    assert program.combinations.round.tolist() == [0, 1]


def test_long_combinations_take_slots_of_limited_width() -> None:
    count = 3 * WIDTH
    ops: list[tuple[Any, ...]] = [(Op.AFFINE, 0, [(1.0, register) for register in range(count)])]
    program = pack([tape_of(count, [Initial.START] * count, ops)])
    assert program.combinations.slot.tolist() == [0, 1, 2, 3]  # 8 + 7 + 7 + 2 terms
    assert (program.combinations.terms <= WIDTH).all()


def test_what_cannot_run_together_is_refused() -> None:
    with pytest.raises(TapeError, match="no tape"):
        pack([])
