"""Registers that are sums of others: errors that are put in by hand are never larger than an enclosed run says."""

import random
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from run_makers import plan_of
from tape_makers import interpreted, tape_of

from boundlab.case import problem_from
from boundlab.compare.trials import trial_tape
from boundlab.execute import Update, enclosed, iterates, own_numbers
from boundlab.execute.enclosed import Motion, Point
from boundlab.tape import Initial, Op, Tape

PUT_IN = 1e-6
SLOPES, CENTRES, WIDTH = (1.0, 0.5, 0.25), (0.0, 1.0, -2.0), 1.5
PROBLEM = problem_from("huber:c=[0,1,-2],w=[1,0.5,0.25],delta=1.5,x0=2")


class Disturbed(iterates.Iterates):
    """Floats, to each of which something is added that it owns to."""

    def __init__(self, tape: Tape, rng: random.Random) -> None:
        super().__init__(tape, PROBLEM, PROBLEM.full_gradients())
        self._rng = rng

    def combined(self, terms: Mapping[Point[Any], float]) -> tuple[Any, float, float]:
        value, size, rounding = super().combined(terms)
        return value + self._put_in(), size + PUT_IN, rounding + PUT_IN

    def descend(self, start: Point[Any], row: Update[float]) -> tuple[Point[Any], float]:
        end, off = super().descend(start, row)
        motion = end.motion and end.motion._replace(rounding=end.motion.rounding + PUT_IN)
        size, error = end.size - end.error, end.error + PUT_IN
        return Point(end.value + self._put_in(), size + PUT_IN, error, motion), off + PUT_IN

    def _put_in(self) -> float:
        return 0.999 * PUT_IN * self._rng.choice([-1.0, 1.0, 1.0, 0.3])


def anarchic(rng: random.Random) -> Tape:
    """Draw rounds of a server and two clients, which take their steps back when they hear of the server, or do not."""
    server, shared, x, own, y = 0, 1, (2, 3), (4, 5), (6, 7)
    ops, moved = [], [False, False]
    for _ in range(rng.randrange(4, 12)):
        for i in (0, 1):
            for _ in range(rng.choice([0, 1, 1, 2])):
                ops.append((Op.DESCEND, y[i], x[i], i, 1, rng.choice([0.1, 0.5, 1.0, 1.5])))
                before = [(1.0, own[i])] if moved[i] else []
                ops.append((Op.AFFINE, own[i], [*before, (1.0, y[i]), (-1.0, x[i])]))
                ops.append((Op.AFFINE, x[i], [(1.0, y[i])]))
                moved[i] = True
        if rng.random() < 0.8:
            ops.append((Op.AFFINE, shared, [(rng.choice([0.5, 0.25]), one) for one in own]))
            ops.append((Op.AFFINE, server, [(1.0, server), (1.0, shared)]))
            ops.append((Op.RECORD, server))
            for i in (0, 1):
                back, kind = [(-1.0, own[i])] if moved[i] else [], rng.random()
                if kind < 0.9:
                    ops.append((Op.AFFINE, x[i], [(1.0, x[i]), (1.0, shared), *(back if kind < 0.6 else [])]))
                    moved[i] = moved[i] and kind >= 0.6
            ops.append((Op.RECORD, x[rng.randrange(2)]))
    begins = [Initial.START, Initial.ZERO, Initial.START, Initial.START, *[Initial.ZERO] * 4]
    return tape_of(8, begins, ops)


def any_sums(rng: random.Random) -> Tape:
    """Draw steps and combinations, most of them sums and differences, in any order."""
    count, ops = rng.choice([4, 6]), list[tuple[Any, ...]]()
    for _ in range(rng.randrange(6, 30)):
        kind, to = rng.random(), rng.randrange(count)
        if kind < 0.35:
            begin = rng.randrange(count)
            size = rng.choice([0.1, 0.5, 1.0, 1.7])
            ops.append((Op.DESCEND, rng.choice([begin, to]), begin, rng.randrange(3), rng.randrange(1, 3), size))
        elif kind < 0.8:
            among, whole = rng.sample(range(count), rng.choice([2, 2, 3, 3, 4])), rng.random() < 0.7
            weights = [1.0, 1.0, -1.0] if whole else [0.25, 0.5, -0.5, 1.0, 0.125]
            ops.append((Op.AFFINE, rng.choice([among[0], to]), [(rng.choice(weights), one) for one in among]))
        else:
            ops.append((Op.RECORD, to))
    ops += [(Op.RECORD, one) for one in range(count)]
    return tape_of(count, [rng.choice([Initial.START, Initial.ZERO]) for _ in range(count)], ops)


def exactly(tape: Tape) -> list[Fraction]:
    """Return what a tape shows, in fractions."""

    def step(row: Update[float], x: Any, size: Fraction) -> Any:
        slope, centre, width = map(Fraction, (SLOPES[row.client], CENTRES[row.client], WIDTH))
        return x - size * slope * np.clip(x - centre, -width, width)

    return [x[0] for x in interpreted(tape, np.array([Fraction(2)]), step, Fraction).shown]


def too_small(draw: Any, seeds: range) -> int:
    """Return how many of the errors that are said are too small."""
    count = 0
    for seed in seeds:
        rng, found = random.Random(seed), list[Point[Any]]()  # noqa: S311
        tape = draw(rng)
        enclosed.run(tape, own_numbers(tape), Disturbed(tape, rng), lambda _, point: found.append(point))  # noqa: B023
        for point, true in zip(found, exactly(tape), strict=True):
            count += not abs(Fraction(float(point.value[0])) - true) <= Fraction(point.error)
    return count


@pytest.mark.nightly
@pytest.mark.parametrize("draw", [anarchic, any_sums])
def test_no_register_is_further_off_than_is_said(draw: Any) -> None:
    assert too_small(draw, range(150)) == 0


@pytest.mark.nightly
@pytest.mark.parametrize("draw", [anarchic, any_sums])
def test_no_register_of_many_tapes_is_further_off_than_is_said(draw: Any) -> None:
    assert too_small(draw, range(150, 10_000)) == 0


@pytest.mark.nightly
@pytest.mark.parametrize("term", ["what earlier rows have rounded", "steps that are taken back"])
def test_what_is_forgotten_is_noticed(term: str, monkeypatch: pytest.MonkeyPatch) -> None:
    then, whole = Motion.then, enclosed._KnownSums.whole
    if term == "steps that are taken back":
        forgetful = lambda sums, parts: whole(sums, [one for one in parts if one[0] != -1])  # noqa: E731
        monkeypatch.setattr(enclosed._KnownSums, "whole", forgetful)
    else:
        monkeypatch.setattr(Motion, "then", lambda one, *more: then(one._replace(rounding=0.0), *more))
    assert too_small(anarchic, range(150)) > 0


def test_errors_of_clients_that_take_their_steps_back_do_not_grow() -> None:
    """Each update adds about a rounding; without knowing that sums are the same it would add a tenth of all errors."""
    plan = plan_of(
        "afl_dga.r2n", "huber:clients=4,dimension=2,x0=1", "deterministic:rates=[4,2,1,1]", 400, participation="0.9",
        local_steps="2", eta="0.05",
    )  # fmt: skip
    tape = trial_tape(plan, 0, 0)
    errors: list[float] = []
    vectors = iterates.Iterates(tape, plan.problem, plan.problem.full_gradients())
    enclosed.run(tape, own_numbers(tape), vectors, lambda _, point: errors.append(point.error))
    assert max(errors) < 400 * 1e-13
    assert np.isfinite(errors).all()
