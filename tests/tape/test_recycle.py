"""A tape in fewer registers shows the same numbers, to the last bit."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from instance_makers import BUILT_IN, fitting
from tape_makers import Some, programs, tape_of

from boundlab.compare.trials import trial_tape
from boundlab.execute import floats
from boundlab.tape import Identity, Initial, Op, Tape, recycle, verify

THEOREMS = {theorem.algorithm: name for name, theorem in sorted(BUILT_IN.items())}


def shown(tape: Tape) -> tuple[list[np.ndarray], np.ndarray]:
    """Return what a tape shows, and its final registers."""
    found: list[np.ndarray] = []
    final = floats.run(tape, np.array([0.7, -1.3]), Some(), lambda _, x: found.append(x.copy()))
    return found, final


def assert_the_same(tape: Tape) -> Tape:
    few = recycle(tape)
    verify(few)
    assert few.registers <= tape.registers + 2
    (before, registers), (after, kept) = shown(tape), shown(few)
    np.testing.assert_array_equal(after, before)
    np.testing.assert_array_equal(kept[few.server], registers[tape.server])
    for one, other in zip(tape.identities, few.identities, strict=True):
        np.testing.assert_array_equal(kept[other.register], registers[one.register])
    return few


@given(programs(4, distinct=True))
def test_whatever_a_program_does(tape: Tape) -> None:
    assert_the_same(tape)


@pytest.mark.parametrize("algorithm", sorted(THEOREMS))
def test_whatever_an_algorithm_does(algorithm: str) -> None:
    theorem = BUILT_IN[THEOREMS[algorithm]]
    plan = fitting(theorem).plan()
    tape = trial_tape(plan, 3, 0)
    few = assert_the_same(tape)
    assert few.registers <= tape.registers
    assert recycle(few).registers == few.registers


def test_by_hand() -> None:
    # r1 and r2 begin as x0 and are read before they are written: one register, that nothing reads afterwards. So the
    # local steps end there, and what is combined of them too; x_s = r0 is kept.
    ops: list[tuple[Any, ...]] = [
        (Op.AFFINE, 0, [(0.5, 1), (0.5, 2)]),
        (Op.DESCEND, 1, 0, 2, 1, 0.25),
        (Op.AFFINE, 3, [(2.0, 1)]),
        (Op.RECORD, 3),
    ]
    few = recycle(tape_of(4, [Initial.START] * 3 + [Initial.UNWRITTEN], ops))
    assert (few.registers, few.server) == (2, 1)
    assert (few.affine.src.tolist(), few.affine.dst.tolist()) == ([0, 0, 0], [1, 0])
    assert (few.descend.src.tolist(), few.descend.dst.tolist(), few.record.src.tolist()) == ([1], [0], [0])


def test_registers_of_an_identity_stay() -> None:
    tape = tape_of(3, [Initial.START, Initial.ZERO, Initial.START], [(Op.AFFINE, 0, [(3.0, 0)])])
    few = recycle(replace(tape, identities=(Identity("0 = 0", np.array([1]), np.array([1.0])),)))
    assert few.registers == 2  # 3·x0 in the place of x0, and 0
