"""No false bound is ever said to hold, no true one to be exceeded; and what is corrupted proves nothing."""

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import given, settings, strategies as st
from theorem_points import TIGHT

from boundlab.assumptions import BOUNDED_RUN, COMPOSITE, with_implied
from boundlab.cli import invoke
from boundlab.errors import AssumptionError, BoundlabError
from boundlab.registry import registered
from boundlab.theorems import FormulaBound, RecursionBound, Theorem, load_theorem
from boundlab.worst_case import WorstCase, WorstCaseOutcome, certificate, worst_case
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

SHARES = tuple(Fraction(1, 10**power) for power in range(4, 10))
# Those on F = f + h are refused (see tests/objective/), those about functions that are drawn, and those along a run.
ALL = sorted(
    name
    for name, one in registered("theorems").items()
    if not {COMPOSITE, "sampled-functions", BOUNDED_RUN} & with_implied(one.assumptions)
)
ATTAINED = TIGHT & set(ALL)
SOME = sorted(ATTAINED | set(ALL[::4]))
# There is no worst case without a bound on the start.
REFUSED = ("area.theorem7",)
NESTED = ("classics.ogm",)


def stays_below(found: WorstCase) -> bool:
    """Whether the bound is certified: of a theorem about noise, that it holds without it."""
    return found.outcome is (WorstCaseOutcome.CONDITIONAL if found.plan.noise else WorstCaseOutcome.HOLDS)


def values_of(theorem: Theorem, **more: float) -> dict[str, Any]:
    """Return a value for what the theorem reads and worst-case does not choose."""
    known = {"mu": 0.1, "alpha": 0.5, "beta": 0.3, "zeta": 0.5, "sigma_g": 0.5, "G_sq": 1.0, "G": 1.0, **more}
    wanted = {*theorem.inputs(), *(("G",) if "bounded-second-moment" in theorem.assumptions else ())}
    values: dict[str, Any] = {name: value for name, value in known.items() if name in wanted}
    if "iid-events" in theorem.assumptions:
        values["p"] = [0.5]
    if theorem.algorithm == "fedcompass":
        values |= {"Qmin": 1, "Qmax": 1}
    return values


def scaled(theorem: Theorem, factor: Fraction) -> Theorem:
    """Return the theorem with its bound multiplied."""
    bound = theorem.bound
    if isinstance(bound, FormulaBound):
        exactly = sympy.Rational(factor.numerator, factor.denominator)
        return replace(theorem, bound=FormulaBound({name: exactly * term for name, term in bound.terms.items()}))
    assert isinstance(bound, RecursionBound)
    return replace(
        theorem, bound=replace(bound, function=times(bound.function, factor), between=times(bound.between, factor))
    )


def times(function: Callable[..., Any], factor: Fraction) -> Callable[..., Any]:
    """Return a multiple of what a function of values and iterations gives."""
    return lambda values, ks: float(factor) * np.asarray(function(values, ks))


def asked(theorem: Theorem, iterations: int, **more: float) -> WorstCase:
    return worst_case(theorem, iterations, values_of(theorem, **more))


def never_wrong(name: str, iterations: int, shares: tuple[Fraction, ...]) -> None:
    """Hold a theorem to its worst case, certified from both sides: a little below it is false, a little above true."""
    theorem = load_theorem(name)
    if name in REFUSED:
        with pytest.raises(BoundlabError, match="no worst case"):
            asked(theorem, iterations)
        return
    first = asked(theorem, iterations)
    if first.outcome is WorstCaseOutcome.BESIDE:
        return
    known = first.plan.exactly.right
    ratio = Fraction(first.primal / first.bound).limit_denominator(10**12)
    low = asked(scaled(theorem, ratio * Fraction(999, 1000)), iterations)
    assert not stays_below(low)
    upper = first.certified_upper
    assert upper is not None
    assert first.kind.relaxed or low.outcome is WorstCaseOutcome.EXCEEDS
    lower = low.certified_lower
    assert lower is None or lower <= upper
    # Bounds of a textbook are their worst case, exactly: a float below them is below it.
    below = Fraction(1) if first.attained else (lower or Fraction(first.primal)) / known.high
    for share in shares:
        false = asked(scaled(theorem, below * (1 - share)), iterations)
        assert not stays_below(false), (share, false.reason)
        true = asked(scaled(theorem, upper / known.low * (1 + share)), iterations)
        assert true.outcome is not WorstCaseOutcome.EXCEEDS, (share, true.reason)
        assert not true.words.startswith("exceeds")
    # With room for what the solver leaves open, both are decided.
    assert stays_below(asked(scaled(theorem, upper / known.low * Fraction(1001, 1000)), iterations))


@pytest.mark.sweep(23)
@pytest.mark.parametrize("name", SOME)
def test_a_bound_a_little_below_the_worst_case_never_holds_and_one_above_is_never_exceeded(name: str) -> None:
    never_wrong(name, 2, (SHARES[SOME.index(name) % len(SHARES)],))


@pytest.mark.nightly
@pytest.mark.parametrize("iterations", [1, 2, 3, 4])
@pytest.mark.parametrize("name", ALL)
def test_all_shares_of_all_theorems(name: str, iterations: int) -> None:
    never_wrong(name, iterations, SHARES)


@pytest.mark.sweep(3)
@pytest.mark.parametrize("name", sorted(ATTAINED))
def test_textbook_bounds_that_are_attained_are_certified_exactly(name: str) -> None:
    # Irrational steps and bounds among them: 2 is no square, and R/√2 no rational number.
    found = asked(load_theorem(name), 2, alpha=0.25, mu=0.3)
    if name in NESTED:
        assert found.words.startswith("tight to ")
        assert found.outcome.verdict.exit_code == 3
    else:
        assert found.attained, found.reason
        assert stays_below(found)
        assert "the bound itself" in found.reason


@pytest.mark.sweep(3)
@pytest.mark.parametrize("name", sorted(ATTAINED - set(NESTED)))
def test_an_attained_bound_with_one_iteration_more_in_its_formula_never_holds(name: str) -> None:
    theorem = load_theorem(name)
    assert isinstance(theorem.bound, FormulaBound)
    counter = theorem.symbols[theorem.horizon_symbol].symbol
    terms = {key: term.subs(counter, counter + sympy.Rational(1, 10**6)) for key, term in theorem.bound.terms.items()}
    found = asked(replace(theorem, bound=FormulaBound(terms)), 3)
    # The step is that for K still. Where bound and step depend on K, the bound of another K is only smaller.
    assert not stays_below(found)
    assert found.words.startswith(("tight to", "exceeds"))


OWN = """
id = "own.gd"
title = "gradient descent"
algorithm = "gd"
metric = "gap"
assumptions = ["convex", "smooth", "minimiser"{more}]
options = {{ sampling = "all", M = "1", decay = "none" }}

[step]
alpha = "{step}"

[terms]
bound = "{bound}"
"""


def own(tmp_path: Path, bound: str, more: str = "", step: str = "1/L") -> str:
    file = tmp_path / "own.toml"
    file.write_text(OWN.format(bound=bound, more=more, step=step))
    return str(file)


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    ("bound", "code", "words"),
    [
        ("L*R**2/(4*K+2)", 0, "holds: certified for full gradients: at most the bound itself"),
        ("L*R**2/(4*K+2)*0.99999995", 3, "tight to "),
        ("L*R**2/(4*K+2)*0.999999999999", 3, "tight to "),
        ("L*R**2/(4*K+2)*0.9999", 1, "exceeds the bound: certified"),
        ("L*R**2/(4*K+2)*1.00001", 0, "holds: certified"),
    ],
)
def test_the_command_never_calls_a_false_bound_tight(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], bound: str, code: int, words: str
) -> None:
    assert invoke(["worst-case", own(tmp_path, bound), "--iterations", "3"]) == code
    assert words in capsys.readouterr().out.replace("\n", " ")


def test_every_number_of_the_json_says_what_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for bound, kind in (("L*R**2/(2*K)", "exact"), ("L*R**2/sqrt(2*K)", "certified")):
        assert invoke(["worst-case", own(tmp_path, bound), "--iterations", "3", "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["kinds"]["bound"] == kind
        assert set(found["kinds"].values()) <= {"exact", "certified", "numeric"}
        low, high = map(Fraction, found["bound_between"])
        assert low <= Fraction(found["bound"]) <= high or high - low < Fraction(1, 10**15)
        assert (found["bound_exact"] is not None) == (kind == "exact")
        numbers = {key for key, value in found.items() if isinstance(value, float)}
        assert numbers <= set(found["kinds"])


def test_without_certificates_nothing_is_decided() -> None:
    for factor in (Fraction(1, 2), Fraction(1), Fraction(2)):
        theorem = scaled(load_theorem("classics.gd.convex"), factor)
        found = worst_case(theorem, 2, certificates=False)
        assert found.primal == pytest.approx(0.1, rel=1e-6)
        assert found.certified_upper is None
        assert found.certified_lower is None
        assert found.outcome is WorstCaseOutcome.UNDECIDED


def test_a_theorem_with_noise_is_answered_without_it() -> None:
    noisy, quiet = (asked(load_theorem(f"classics.{name}"), 2) for name in ("sgd.gap", "gd.pl"))
    assert noisy.words == "holds without noise"
    assert "bounded-variance" in noisy.reason
    assert noisy.as_dict()["words"] == "holds without noise"
    assert (noisy.outcome.verdict, noisy.outcome.verdict.exit_code) == ("inconclusive", 3)
    assert noisy.as_dict()["without_noise"] == ["bounded-variance"]
    # Its condition is σ = 0: it is about full gradients.
    assert quiet.words == "holds"
    assert quiet.as_dict()["without_noise"] == []
    # Below the bound nothing is shown of noise; above it, the noiseless members of the class refute.
    assert replace(quiet, plan=replace(quiet.plan, noise=("bounded-variance",))).outcome is WorstCaseOutcome.CONDITIONAL
    low = asked(scaled(load_theorem("classics.sgd.gap"), Fraction(1, 10**4)), 2)
    assert low.outcome is WorstCaseOutcome.EXCEEDS


def test_a_step_beyond_its_condition_is_beside_the_theorem_by_however_little() -> None:
    theorem = load_theorem("classics.gd.ergodic")
    assert stays_below(worst_case(theorem, 2, {"alpha": 1.0}))
    for step in (1.0000000000009, 1.00000000000001):
        with pytest.raises(AssumptionError, match="α ≤ 1/L"):
            worst_case(theorem, 2, {"alpha": step})
    # 1/L is rounded to a float, and is 1/L all the same.
    for smooth in (3.0, 0.7, 0.123456789, 49.0):
        assert stays_below(worst_case(theorem, 2, {"L": smooth}))


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    ("factor", "code"), [("0.9999", 1), ("0.9999999999", 3), ("1", 3), ("1.0000000001", 3), ("1.00001", 0)]
)
def test_a_step_with_a_root_is_decided_with_room_for_its_rounding(tmp_path: Path, factor: str, code: int) -> None:
    # Attained, by Huber's function; but √2 is no number of the program.
    bound = f"L*R**2/(4*K/sqrt(2) + 2)*{factor}"
    assert invoke(["worst-case", own(tmp_path, bound, step="1/(L*sqrt(2))"), "--iterations", "2"]) == code


def test_a_symbol_without_its_assumption_decides_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for bound in ("B*R/10**6", "B*R*10**6"):
        assert invoke(["worst-case", own(tmp_path, bound), "--iterations", "2"]) == 3
        assert "not decided: the bound depends on B (no assumption" in capsys.readouterr().out.replace("\n", " ")


@pytest.mark.parametrize(
    ("settings", "outcome"),
    [
        ({}, WorstCaseOutcome.CONDITIONAL),
        ({"tau_max": 9}, WorstCaseOutcome.CONDITIONAL),  # larger than the schedule's: the bound only grows
        ({"err2": 0, "drift": 0}, WorstCaseOutcome.UNDECIDED),  # in place of what follows from the schedule
    ],
)
def test_values_of_the_user_are_held_against_the_run(settings: dict[str, float], outcome: WorstCaseOutcome) -> None:
    theorem = load_theorem("fedbuff.rf1")
    known = {"n": 2, "sigma_g_mean": 0.5, "G_sq": 1.0, "count": 1, **settings}
    found = worst_case(theorem, 3, known)
    assert found.outcome is outcome
    assert ("your word" in found.reason) == (outcome is WorstCaseOutcome.UNDECIDED)
    with pytest.raises(AssumptionError, match=r"tau_max = 0 is set, but the schedule has"):
        worst_case(theorem, 3, known | {"tau_max": 0})


Certificate = tuple[SemidefiniteProgram, tuple[Fraction, ...], Fraction]
EXAMPLES = {
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
    plan = ask(theorem, 4, EXAMPLES[name])
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


@pytest.mark.parametrize("name", EXAMPLES)
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


@pytest.mark.parametrize("name", EXAMPLES)
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


@pytest.mark.parametrize("name", EXAMPLES)
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
