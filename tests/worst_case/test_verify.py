"""The check of certificates: what is corrupted proves nothing, or nothing that is false."""

from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from boundlab.theorems import load_theorem
from boundlab.worst_case import certificate
from boundlab.worst_case.certificate import attained, certified_lower, certify
from boundlab.worst_case.model import build, function_class
from boundlab.worst_case.program import (
    Compiled,
    Row,
    SemidefiniteProgram,
    Solution,
    lower_value,
    positive_semidefinite,
    upper_value,
)
from boundlab.worst_case.specification import ask

Certificate = tuple[SemidefiniteProgram, tuple[Fraction, ...], Fraction]
ATTAINED = {
    "classics.gd.convex": {"L": 2, "R": 3},
    "classics.gd.gradient-gap": {"F0": 2},
    "classics.gd.strongly-convex": {"mu": 0.25},
    "classics.subgradient": {"B": 2},
    "classics.proximal-point": {"alpha": 0.5},
}
NUDGES = tuple(Fraction(sign, 10**power) for power in (0, 12) for sign in (-1, 1))


@cache
def solved(name: str) -> tuple[Compiled, Solution, Fraction]:
    theorem = load_theorem(name)
    plan = ask(theorem, 4, ATTAINED[name])
    constants = {key: plan.values[key] for key in ("R", "F0") if key in theorem.inputs()}
    if name == "classics.proximal-point":
        constants["step"] = 0.5
    kind = function_class(theorem, plan.values, 1)
    program = build(kind, plan.metric, plan.tapes(), 1, constants).program
    bound = plan.exactly.right.exact
    assert bound is not None
    compiled = Compiled(program)
    return compiled, compiled.solve(), bound


@cache
def exact_certificate(name: str) -> Certificate:
    """Return a program with multipliers that prove its value: the bound, which no others can undercut."""
    compiled, solution, bound = solved(name)
    proposed = (one for one, _ in attained(compiled, solution, bound))
    found = next(one for one in proposed if upper_value(compiled.program, one) == bound)
    return compiled.program, tuple(found), bound


def proves_nothing_false(program: SemidefiniteProgram, multipliers: list[Fraction], bound: Fraction) -> bool:
    value = upper_value(program, multipliers)
    return value is None or value >= bound


@pytest.mark.parametrize("name", ATTAINED)
def test_one_changed_multiplier_proves_nothing_false(name: str) -> None:
    program, multipliers, bound = exact_certificate(name)
    rejected = 0
    for place in range(len(multipliers)):
        for nudge in NUDGES:
            wrong = [*multipliers]
            wrong[place] += nudge
            assert proves_nothing_false(program, wrong, bound)
            rejected += upper_value(program, wrong) is None
            if wrong[place] < 0:
                assert upper_value(program, wrong) is None
    assert rejected >= len(multipliers) * len(NUDGES) // 2


@pytest.mark.parametrize("name", ATTAINED)
def test_every_kind_of_corruption_is_rejected(name: str) -> None:
    program, multipliers, bound = exact_certificate(name)
    good = list(multipliers)
    largest = max(range(len(good)), key=good.__getitem__)
    assert upper_value(program, good) == bound
    assert upper_value(program, [-one for one in good]) is None  # the sign of all
    assert upper_value(program, [*good[:largest], -good[largest], *good[largest + 1 :]]) is None  # and of one
    assert upper_value(program, good[:-1]) is None  # one is missing
    assert upper_value(program, [*good, Fraction(1)]) is None  # one is too many
    assert upper_value(program, [Fraction(0)] * len(good)) is None
    assert proves_nothing_false(program, [one * Fraction(999, 1000) for one in good], bound)
    # The values do not cancel; the objective is another; a matrix of a row is another.
    objective = program.objective
    steeper = Row({**objective.values, 0: objective.values.get(0, Fraction(0)) + 1}, objective.gram, Fraction(0))
    assert upper_value(replace(program, objective=steeper), good) is None
    more = objective.gram.get((0, 0), Fraction(0)) + Fraction(1, 10**20)
    bigger = Row(objective.values, {**objective.gram, (0, 0): more}, Fraction(0))
    assert upper_value(replace(program, objective=bigger), good) is None
    for place, one in enumerate(program.rows):
        if good[place] and one.gram:
            entry = next(iter(one.gram))
            for nudge in (Fraction(-1, 10**9), Fraction(-1)):
                moved = replace(one, gram={**one.gram, entry: one.gram[entry] + nudge})
                rows = (*program.rows[:place], moved, *program.rows[place + 1 :])
                if entry[0] == entry[1]:
                    # S is singular with x_0 and all gradients in its kernel: less of a square leaves it indefinite.
                    assert upper_value(replace(program, rows=rows), good) is None


def test_the_search_cannot_pass_a_negative_multiplier_outside_its_basis(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled, solution, bound = solved("classics.gd.convex")
    honest = certify(compiled, solution)
    assert honest is not None
    value, multipliers = honest
    assert upper_value(compiled.program, multipliers) == value >= bound
    own = certificate._rational

    def corrupted(program: SemidefiniteProgram, multipliers: Any, basis: list[int]) -> list[Fraction] | None:
        found = own(program, multipliers, basis)
        if found is None:
            return None
        outside = next(k for k in range(len(found)) if k not in basis and not program.rows[k].values)
        found[outside] -= 2 * found[outside] + 1
        return found

    monkeypatch.setattr(certificate, "_rational", corrupted)
    assert certify(compiled, solution) is None


@pytest.mark.parametrize("name", ATTAINED)
def test_a_point_from_below_is_within_the_program_or_rejected(name: str) -> None:
    compiled, solution, bound = solved(name)
    program = compiled.program
    found = certified_lower(compiled, solution, bound * Fraction(999_999, 1_000_000))
    assert found is not None
    value, gram, values = found
    assert lower_value(program, gram, values) == value <= bound
    # Nothing is above the bound, and a certificate of that is not to be had.
    assert certified_lower(compiled, solution, bound) is None
    n = program.points
    zero = [[Fraction(0)] * n for _ in range(n)]
    assert lower_value(program, zero, [Fraction(0)] * program.values) == 0
    assert lower_value(program, zero[:-1], [Fraction(0)] * program.values) is None
    assert lower_value(program, zero, [Fraction(-1)] * program.values) is None
    for i, j in ((0, 0), (0, n - 1)):
        wrong = [list(line) for line in zero]
        wrong[i][j] = Fraction(-1, 10**30) if i == j else Fraction(1, 10**30)
        assert lower_value(program, wrong, [Fraction(0)] * program.values) is None  # indefinite, or not symmetric
        wrong[j][i] = wrong[i][j]
        assert lower_value(program, wrong, [Fraction(0)] * program.values) is None


@given(st.integers(0, 10**6), st.integers(1, 6))
@settings(max_examples=100)
def test_semidefiniteness_is_decided_exactly(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    root = rng.integers(-4, 5, (n, int(rng.integers(0, n + 1))))
    square = [[Fraction(int(entry), 7) for entry in line] for line in root @ root.T]
    assert positive_semidefinite(square)
    # Less by however little in a direction of the kernel, or of an eigenvector, it is not.
    size, vectors = np.linalg.eigh((root @ root.T).astype(float))
    if size[0] < 1e-9:
        place = int(np.argmax(np.abs(vectors[:, 0])))
        square[place][place] -= Fraction(1, 10**40)
        assert not positive_semidefinite(square)
    if n > 1:
        odd = [[Fraction(0)] * n for _ in range(n)]
        odd[0][1] = odd[1][0] = Fraction(1, 10**40)
        assert not positive_semidefinite(odd)
