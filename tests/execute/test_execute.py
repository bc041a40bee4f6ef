"""One tape, five arithmetics: whoever reads a tape runs the same program, and refuses the same steps."""

import contextlib
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import symbolic
import sympy
from run_makers import tape_of
from tape_makers import interpret

from boundlab.arithmetic import numbers
from boundlab.case import build_problem
from boundlab.errors import AssumptionError
from boundlab.execute import (
    Numbers,
    Update,
    enclosed,
    floats,
    iterates,
    own_numbers,
    rationals,
    rows,
)
from boundlab.expectation import moments, points
from boundlab.expectation._enumeration import Schedule
from boundlab.metrics import metric
from boundlab.objective import Problem
from boundlab.randomness import Streams
from boundlab.registry import registered
from boundlab.tape import RecordAt, Tape

OPTIONS = {"A": [[[2]], [[1]], [[3]]], "b": [[0], [1], [4]], "x0": [2]}

# Every algorithm at least once; where rows differ in kind (unequal local steps, implicit steps, averages), each kind.
SETTINGS: list[tuple[str, dict[str, Any]]] = [
    ("afl_dga", {"eta": 0.02}),
    ("area", {"alpha": 0.0625, "M": 2}),
    ("area", {"c": 1, "d": 5, "reply": "post", "count": 2, "start": "analysis", "clock": "analysis"}),
    ("asfedavg", {"alpha": 0.02, "count": 2}),
    ("async_sgd", {"alpha": 0.02, "schedule": "delay_adaptive"}),
    ("fedasync", {"beta": 0.5, "eta_l": 0.02}),
    ("fedbuff", {"eta_l": [0.02, 0.01], "count": 2}),
    ("fedcompass", {"eta": 0.02, "Qmin": 1, "Qmax": 4}),
    ("fedfa", {"eta_l": 0.02, "K": 2}),
    ("fedstaleweight", {"eta_l": 0.02, "count": 2}),
    ("gd", {"alpha": 0.125, "M": 2}),
    ("gd", {"alpha": 0.125, "decay": "linear", "K": 4}),
    ("heavy_ball", {"alpha": 0.125, "beta": 0.25}),
    ("incremental", {"alpha": 0.02}),
    ("lsvrg", {"alpha": 0.02, "p_c": 0.5}),
    ("nesterov", {"alpha": 0.125}),
    ("ogm", {"alpha": 0.125, "K": 4}),
    ("proximal_point", {"alpha": 0.5}),
    ("rennala", {"alpha": 0.02, "count": 2}),
    ("ringmaster", {"alpha": 0.02, "threshold": 2}),
    ("ringmaster", {"alpha": 0.02, "threshold": 2, "stops": "yes"}),
    ("scaffnew", {"alpha": 0.02, "p_c": 0.5}),
    ("sfedavg", {"alpha": 0.02, "M": 2}),
]
LISTED = {name for name, _ in SETTINGS}
SETTINGS += [
    (name, {one.step_size_symbols[0]: 0.02}) for name, one in registered("algorithms").items() if name not in LISTED
]
NAMES = [f"{name} {' '.join(f'{key}={value}' for key, value in options.items())}" for name, options in SETTINGS]


def run_of(name: str, options: dict[str, Any], records: RecordAt | None = None) -> Tape:
    clients = 1 if name in ("heavy_ball", "nesterov", "ogm", "proximal_point") else 3
    delays = f"deterministic:rates={[3, 2, 1][:clients]}".replace(" ", "")
    server = "count:every=2" if "count" in options and name == "area" else None
    return tape_of(
        name, options, clients, 4, delays, server=server, records=records or RecordAt(np.arange(1, 5)), seed=3
    )


def problem_of(tape: Tape, sigma: float = 0.0) -> Problem:
    options = {key: value[: tape.clients] if key != "x0" else value for key, value in OPTIONS.items()}
    return build_problem("quadratic", {**options, "sigma": sigma})


def by_floats(tape: Tape, problem: Problem) -> list[float]:
    seen: list[float] = []
    floats.run(tape, problem.x0, problem.full_gradients(), lambda _row, x: seen.append(float(x[0])))
    return seen


def by_rationals(tape: Tape, problem: Problem, *, balls: bool) -> list[float]:
    seen: list[float] = []
    model = problem.rational(problem.spec())
    with numbers.digits(128):
        rationals.run(tape, model, [], lambda _m, x: seen.append(float(numbers.ball(x[0]))), balls=balls)
    return seen


def with_errors(tape: Tape, problem: Problem) -> list[float]:
    seen: list[float] = []
    vectors = iterates.Iterates(tape, problem, problem.full_gradients())
    enclosed.run(tape, own_numbers(tape), vectors, lambda _row, point: seen.append(float(point.value[0])))
    return seen


def by_symbols(tape: Tape, problem: Problem) -> list[float]:
    def gradient(step: symbolic.LocalStep, x: Any) -> Any:
        centre = symbolic.number(float(problem.b[step.client][0]))
        return symbolic.number(float(problem.A[step.client][0, 0])) * (x - centre)

    run = symbolic.run(tape, sympy.Integer(2), gradient)
    return [float(record.x) for record in run.records]


def by_points(tape: Tape, problem: Problem) -> list[float]:
    """Let points hold x and the constant 1 as two names."""
    x, one = {0: Fraction(1)}, {1: Fraction(1)}

    class Gradients:
        def gradient(self, client: int, point: points.Point) -> points.Point:
            A, b = (Fraction(float(part[client].item())) for part in (problem.A, problem.b))
            return points.combine([(A, point), (-A * b, one)])

        def proximal(self, client: int, point: points.Point, size: Fraction) -> points.Point:
            A, b = (Fraction(float(part[client].item())) for part in (problem.A, problem.b))
            share = 1 / (1 + size * A)
            return points.combine([(share, point), (share * size * A * b, one)])

    seen: list[float] = []
    points.run(tape, x, Gradients(), lambda _, point: seen.append(float(2 * point.get(0, 0) + point.get(1, 0))))
    return seen


@pytest.mark.sweep(6)
@pytest.mark.parametrize(("name", "options"), SETTINGS, ids=NAMES)
@pytest.mark.parametrize("average", [False, True])
def test_all_arithmetics_run_the_same_program(name: str, options: dict[str, Any], average: bool) -> None:
    tape = run_of(name, options, RecordAt(np.arange(1, 5), average=average))
    problem = problem_of(tape)
    wanted = by_floats(tape, problem)
    assert len(wanted) >= 4
    others = {
        "rows": [float(x[0]) for x in interpret(tape, problem).shown],
        "balls": by_rationals(tape, problem, balls=True),
        "floats with errors": with_errors(tape, problem),
        "points": by_points(tape, problem),
    }
    with contextlib.suppress(rationals.TooLongError):  # a number that is no rational one
        others["rationals"] = by_rationals(tape, problem, balls=False)
    if not tape.implicit.any():
        others["symbols"] = by_symbols(tape, problem)
    for arithmetic, found in others.items():
        assert found == pytest.approx(wanted, rel=1e-9, abs=1e-12), arithmetic


def test_rows_scale_each_local_step_in_the_arithmetic_of_the_reader() -> None:
    tape = run_of("fedbuff", {"eta_l": [0.5, 0.25], "count": 2})
    half = sympy.Rational(1, 2)
    exact = Numbers([sympy.Rational(weight) for weight in tape.affine.coef], [half] * 99, [sympy.Integer(1), half])
    sizes = {row.sizes for row in rows(tape, exact) if isinstance(row, Update)}
    assert sizes == {(half, half / 2)}


# ------------------------------------------------------------------------------------------- implicit steps and noise


def test_noise_and_implicit_steps_are_refused_by_every_reader_alike() -> None:
    tape = run_of("proximal_point", {"alpha": 0.5})
    problem = problem_of(tape, sigma=1.0)
    with pytest.raises(AssumptionError, match="needs the function itself, not noisy gradients"):
        floats.run(tape, problem.x0, problem.oracle(Streams(0)), lambda _row, _x: None)
    with pytest.raises(AssumptionError, match="needs the function itself, not noisy gradients"):
        moments.left_side(metric("gap"), problem, tape, np.array([1]))
    with pytest.raises(AssumptionError, match="needs the function itself, not noisy gradients"):
        Schedule(tape, Numbers(tape.affine.coef.tolist(), [0.5] * 9, [1.0] * 9), 1.0)
