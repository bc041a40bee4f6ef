"""Tapes side by side mean what each of them means by itself, whatever stands in them."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from tape_makers import gradient, one_by_one, programs, tape_of

from boundlab.errors import TapeError
from boundlab.execute.packing import WIDTH, Program, pack
from boundlab.tape import Initial, Op, Tape


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


@given(st.integers(1, 5).flatmap(lambda count: st.lists(programs(count), min_size=1, max_size=4)), st.integers(0, 6))
def test_packing_never_changes_what_a_program_means(tapes: list[Tape], size: int) -> None:
    assert_the_same(tapes, np.array([0.7, -1.3]), size)


def test_by_hand() -> None:
    # r0 ← ½r0 + r1, then r0 ← r0 − r2: one slot of three terms. r3 ← r0 is another.
    ops: list[tuple[Any, ...]] = [
        (Op.AFFINE, 0, [(0.5, 0), (1.0, 1)]),
        (Op.AFFINE, 0, [(1.0, 0), (-1.0, 2)]),
        (Op.AFFINE, 3, [(1.0, 0)]),
        (Op.RECORD, 3),
        (Op.DESCEND, 1, 3, 2, 1, 0.25),
        (Op.DESCEND, 2, 1, 0, 2, 0.5),
    ]
    program = pack([tape_of(4, [Initial.START] * 4, ops)], 2)
    of = program.combinations
    assert (program.places, program.rounds, program.zero) == (2, 2, 4)
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
        (Op.AFFINE, 0, [(0.5, 0)]),
        (Op.RECORD, 0),
        (Op.AFFINE, 0, [(0.5, 0)]),
        (Op.RECORD, 0),
    ]
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
