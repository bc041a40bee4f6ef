"""Worst cases by semidefinite programs: known values, certificates, functions that make them, refusals; the parts."""

import itertools
import json
import re
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sympy import Integer, sqrt

from boundlab.arithmetic.numbers import flint, rational
from boundlab.assumptions import COMPOSITE, with_implied
from boundlab.case import load_case, replay
from boundlab.cli import invoke
from boundlab.errors import AssumptionError, BoundlabError, CertificateError, SpecError, SymbolError
from boundlab.formulas.symbols import SYMBOLS, symbol
from boundlab.problems.solvers import maximise
from boundlab.recheck import Form, Sample
from boundlab.registry import lookup, registered
from boundlab.theorems import Condition, FormulaBound, Theorem, load_theorem
from boundlab.worst_case import WorstCaseOutcome, program, worst_case
from boundlab.worst_case.certificate import _linearised
from boundlab.worst_case.model import FunctionClass, class_rows, function_class, require_class
from boundlab.worst_case.program import Compiled, Row, SemidefiniteProgram
from boundlab.worst_case.result import downwards, upwards
from boundlab.worst_case.specification import ask

B, K, L, R, alpha, mu = (symbol(name) for name in ("B", "K", "L", "R", "alpha", "mu"))
ONE = Integer(1)
with_function = partial(worst_case, find_function=True)
BELOW = (WorstCaseOutcome.HOLDS, WorstCaseOutcome.CONDITIONAL)  # the latter of theorems about noise


def claim(metric: str, assumptions: tuple[str, ...], step: Any, bound: Any, **fields: Any) -> Theorem:
    """Return a claim about synchronous gradient descent: one local step of all clients a round."""
    return Theorem(
        id="test.claim",
        title="",
        paper="",
        place="",
        status="user",
        assumptions=assumptions,
        algorithm="sfedavg",
        options={},
        metric=metric,
        horizon="fixed",
        step={"alpha": step},
        bound=FormulaBound({"bound": bound}),
        **fields,
    )


GD = claim("gap", ("convex", "smooth", "minimiser"), ONE / L, L * R**2 / (4 * K + 2))
SUBGRADIENT = claim("ergodic-gap", ("lipschitz", "minimiser"), R / (B * sqrt(K)), B * R / sqrt(K))


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    ("theorem", "M", "iterations", "value", "bound"),
    [
        # Each with the step of its own theorem: α = √(6/(2·15)) for the first.
        ("area.theorem8", 3, 5, 0.9291, 0.8944),
        ("area.theorem8.repaired", 3, 5, 0.9093, 1.0954),
        # After three events the average holds x_0 often enough that |x| from far away loses R·B = 1.
        ("area.theorem8", 2, 3, 1.0000, 1.2247),
        ("area.theorem8.repaired", 2, 3, 1.0000, 1.4142),
    ],
)
def test_the_mean_of_area_over_all_event_sequences_has_the_known_worst_case(
    theorem: str, M: int, iterations: int, value: float, bound: float
) -> None:
    found = with_function(load_theorem(theorem), iterations, {"p": [0.5], "M": M, "R": 1, "B": 1})
    assert found.status == "optimal"
    assert found.primal == pytest.approx(value, abs=1e-4)
    assert found.bound == pytest.approx(bound, abs=1e-4)
    assert abs(found.gap) < 1e-6
    assert found.certified_upper is not None
    assert 0 <= found.certified_upper - Fraction(found.primal) < Fraction(1, 10**6)
    assert found.replayed == pytest.approx(found.primal, abs=1e-4)
    assert found.in_class
    assert found.outcome is (WorstCaseOutcome.EXCEEDS if value > bound else WorstCaseOutcome.CONDITIONAL)


def test_the_printed_theorem_8_is_refuted_by_a_function_whose_constants_are_exact() -> None:
    found = with_function(load_theorem("area.theorem8"), 5, {"p": [0.5], "M": 3})
    case = found.case
    assert case is not None
    slopes, offsets = np.array(case["problem"]["a"]), np.array(case["problem"]["b"])
    for row in slopes[0]:
        assert sum(Fraction(entry) ** 2 for entry in row.tolist()) <= 1  # B = 1
    # 0 is a minimiser with f = 0: a flat piece at 0, and no piece above 0 there.
    assert offsets.max() == 0.0
    assert (slopes[0, 0] == 0.0).all()
    assert offsets[0, 0] == 0.0
    assert sum(Fraction(entry) ** 2 for entry in case["problem"]["x0"]) <= 1  # R = 1
    # The case gives the left side again from the file alone, by enumeration over the 2⁵ sequences.
    problem = lookup("problems", "max-affine")
    assert found.replayed is not None
    assert found.replayed > found.bound + 0.03
    assert case["delays"] == {"type": "iid", "p": [0.5], "p_s": 0.5}
    assert problem.id == case["problem"]["type"]


# What no interpolation inequalities are known of, and worst-case refuses.
OUTSIDE = {COMPOSITE, "sampled-functions", "one-function"}
# Its coefficients are roots of roots: neither they nor the bound are rational in any unit.
NESTED = ("classics.ogm",)
CLASSICS = sorted(
    name
    for name, theorem in registered("theorems").items()
    if name.startswith("classics.") and not OUTSIDE & with_implied(theorem.assumptions)
)


@pytest.mark.sweep(12)
@pytest.mark.parametrize("name", CLASSICS)
def test_no_textbook_theorem_is_exceeded(name: str) -> None:
    theorem = load_theorem(name)
    read = theorem.inputs()
    values = {key: value for key, value in {"mu": 0.1, "alpha": 0.8, "beta": 0.3}.items() if key in read}
    found = with_function(theorem, 3, values)
    assert found.status == "optimal"
    if name in NESTED:
        assert found.outcome is WorstCaseOutcome.UNDECIDED
        assert found.words.startswith("tight to ")
    else:
        assert found.outcome in BELOW
        assert found.attained or found.primal < 0.99 * found.bound
    assert found.primal <= found.bound * (1 + 1e-6)
    # For each there is a function that makes what the solver says.
    assert found.replayed == pytest.approx(found.primal, rel=5e-4)
    assert found.in_class
    case = found.case
    assert case is not None
    assert case["theorem"] == name


def test_the_case_of_a_single_run_replays_to_the_same_end(tmp_path: Path) -> None:
    found = with_function(load_theorem("classics.gd.convex"), 4, {"L": 2})
    file = tmp_path / "case.json"
    file.write_text(json.dumps(found.case))
    case = load_case(file)
    end = np.array(replay(case)[-1]["x"])
    assert case.problem.value(end) == pytest.approx(found.replayed, rel=1e-12)
    known = case.problem.constants()
    assert known["L"].value == 2.0
    assert known["R"].value == pytest.approx(1.0, rel=1e-12)


def test_a_verdict_takes_the_program_and_its_certificate(monkeypatch: pytest.MonkeyPatch) -> None:
    # The program itself, and one to move its multipliers towards; where the bound is exceeded one for a point inside.
    solved, solve = [], program._solve
    monkeypatch.setattr(program, "_solve", lambda *given, **how: solved.append(given) or solve(*given, **how))
    for name, iterations, chosen, programs in (
        ("classics.gd.strongly-convex", 3, {"mu": 0.1, "alpha": 1.5}, 2),
        ("area.theorem8", 5, {"p": [0.5], "M": 3}, 3),
    ):
        solved.clear()
        found = worst_case(load_theorem(name), iterations, chosen)
        assert found.outcome in (*BELOW, WorstCaseOutcome.EXCEEDS)
        assert len(solved) == programs
        assert found.function is None
        assert found.missing == "no function was asked for"


def test_many_equal_clients_do_no_worse_than_one() -> None:
    # f is smooth and convex whoever holds its parts, and gradient descent sees f only.
    one, two = (with_function(GD, 2, {"n": n}) for n in (1, 2))
    assert two.primal == pytest.approx(one.primal, rel=1e-5)
    assert two.replayed == pytest.approx(one.primal, rel=1e-4)
    # Nothing bounds how far the two differ, so that the optima have no interior: only the bound itself is certified.
    assert two.attained
    assert two.certified_upper == Fraction(1, 10)


def test_units_change_the_worst_case_as_they_change_the_bound() -> None:
    small, large = (worst_case(SUBGRADIENT, 3, {"B": b, "R": r}) for b, r in ((1.0, 1.0), (1e4, 1e-2)))
    assert large.primal == pytest.approx(100.0 * small.primal, rel=1e-5)
    assert large.outcome in BELOW


def met(condition: Condition, number: float) -> bool:
    """Return whether a number L meets a condition, for the question."""
    try:
        theorem = claim("gap", ("convex", "smooth"), ONE / L, L * symbol("R") ** 2, conditions=(condition,))
        ask(theorem, 2, {"L": number, "R": 1})
    except AssumptionError:
        return False
    return True


@pytest.mark.parametrize("strict", [False, True])
def test_equality_meets_a_condition_unless_it_is_strict(strict: bool) -> None:
    for tenths, root in itertools.product(range(1, 10), (ONE, sqrt(3))):
        for sides in itertools.permutations((root * L, root * tenths / 10)):
            assert met(Condition(*sides, f"{sides}", strict), tenths / 10) is not strict, sides


def test_nonconvex_functions_have_the_worst_case_of_the_descent_lemma() -> None:
    F0, T = symbol("F0"), symbol("T")
    # α = 1/L, T = 1: ‖∇f(x_0)‖² ≤ 2·L·F0, attained by a quadratic.
    lemma = claim("gradient-norm", ("smooth", "bounded-below"), ONE / L, 2 * L * F0 / T)
    found = with_function(lemma, 1, {"L": 3, "F0": 2})
    assert found.primal == pytest.approx(12.0, rel=1e-6)
    assert found.outcome in BELOW
    assert found.replayed == pytest.approx(12.0, rel=1e-4)


def test_heterogeneous_clients_stay_within_zeta() -> None:
    found = with_function(
        load_theorem("area.theorem7.recursion"),
        3,
        {"p": [0.25, 0.25], "M": 2, "mu": 0.1, "L": 1, "zeta": 0.5, "alpha": 0.3},
    )
    assert found.outcome in BELOW
    assert found.in_class
    assert found.function is not None
    assert found.function.constants()["R"].value <= 1.0 + 1e-9
    assert found.replayed == pytest.approx(found.primal, abs=1e-4)


def test_bounded_gradients_at_visited_points_make_an_upper_value() -> None:
    found = with_function(load_theorem("afl_dga.r1"), 3, {"n": 1, "G": 1})
    assert "visited points only" in found.kind.relaxed
    assert found.outcome in BELOW
    assert found.replayed is not None
    assert found.replayed <= found.primal + 1e-6


def test_the_step_of_a_single_run_comes_from_its_own_events() -> None:
    events = [[1, 0], [2, "s"], [3, 0], [4, "s"]]
    found = with_function(load_theorem("area.theorem8.repaired"), 4, {"p": [0.5], "M": 2}, events=events)
    assert found.outcome is WorstCaseOutcome.BESIDE
    assert "one run" in found.reason
    case = found.case
    assert case is not None
    assert [list(event) for event in case["events"]] == events


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    ("theorem", "iterations", "settings", "more", "error", "words"),
    [
        ("area.theorem8", 3, {"M": 3}, {}, SymbolError, "needs p"),
        ("area.theorem8", 3, {"p": [0.5], "sigma": 1}, {}, SpecError, "full gradients"),
        ("area.theorem8", 12, {"p": [0.25, 0.25]}, {}, SpecError, "take fewer iterations"),
        ("area.theorem8", 0, {"p": [0.5]}, {}, SpecError, "≥ 1"),
        ("area.theorem8.fixed-step", 3, {"p": [0.5], "alpha": 1, "B": 0}, {}, SymbolError, "B > 0"),
        ("area.theorem8", 3, {"p": [0.5], "start": "algorithm"}, {}, AssumptionError, "the proof takes"),
        ("area.theorem8", 3, {"p": [0.5], "Mm": 1}, {}, SpecError, "neither a symbol nor a parameter"),
        ("area.theorem8", 3, {"p": [0.5]}, {"delays": "iid:p_s=0.5"}, SpecError, "not both"),
        ("area.theorem8", 3, {}, {"delays": "exponential"}, SpecError, "iid"),
        ("area.theorem8", 3, {"p": [0.5]}, {"average": False}, SpecError, "needs its events"),
        ("area.theorem7.recursion", 3, {"p": [0.5], "mu": 1, "L": 1, "alpha": 0.1}, {}, SpecError, "mu < L"),
        ("area.theorem7", 3, {}, {}, AssumptionError, "neither R nor F0"),
        ("afl_dga.r1", 3, {"n": 1}, {}, SymbolError, "needs G"),
        ("afl_dga.r1", 70, {"n": 1, "G": 1}, {}, SpecError, "more than 60 points"),
    ],
)
def test_what_does_not_fit_is_refused_in_words(
    theorem: str,
    iterations: int,
    settings: dict[str, Any],
    more: dict[str, Any],
    error: type[BoundlabError],
    words: str,
) -> None:
    with pytest.raises(error, match=words):
        worst_case(load_theorem(theorem), iterations, settings, **more)


@pytest.mark.parametrize("name", sorted(registered("theorems")))
def test_what_no_number_changes_is_refused_before_a_number_is_asked_for(name: str) -> None:
    """The exit code of a refusal does not depend on how many numbers were given."""
    theorem = load_theorem(name)
    try:
        require_class(theorem)
    except BoundlabError as error:
        with pytest.raises(type(error), match=re.escape(str(error))):
            ask(theorem, 3, {})
        return
    # What else the class may refuse is a number, or that several clients have one function.
    function_class(theorem, {name: 0.5 if name == "mu" else 1.0 for name in SYMBOLS}, 1)


@pytest.mark.parametrize("name", sorted(registered("metrics")))
def test_a_left_side_is_refused_whether_or_not_the_probabilities_are_there(name: str) -> None:
    theorem = replace(load_theorem("area.theorem8"), metric=name)
    found = [_refused(theorem, settings) for settings in ({}, {"p": [0.5], "M": 2})]
    if theorem.left.is_mean:
        assert found[0] is SymbolError
    else:
        assert found == [SpecError, SpecError]


def _refused(theorem: Theorem, settings: dict[str, Any]) -> type[BoundlabError] | None:
    try:
        ask(theorem, 3, settings)
    except BoundlabError as error:
        return type(error)
    return None


def test_the_command_prints_both_sides_and_writes_the_function(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "case.json"
    arguments = ["worst-case", "area.theorem8", "--iterations", "5", "--p", "0.5", "--set", "M=3"]
    assert invoke([*arguments, "--out", str(out)]) == 1
    text = capsys.readouterr().out
    for words in ("exceeds the bound", "0.9290", "0.894427", "1.0954", "certified", "convex and 1-Lipschitz"):
        assert words in text
    case = json.loads(out.read_text())
    assert case["theorem"] == "area.theorem8"
    assert case["iterations"] == 5
    assert invoke([*arguments, "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["replayed"] is None
    assert invoke([*arguments, "--json", "--function"]) == 1
    result = json.loads(capsys.readouterr().out)
    assert result["words"] == "exceeds the bound"
    assert result["replayed"] > result["bound"]
    assert Fraction(result["certified_upper_exact"]) <= Fraction(result["certified_upper"])
    assert invoke(["worst-case", "area.theorem8", "--iterations", "5"]) == 2


def test_decimals_of_certified_values_are_rounded_to_the_safe_side() -> None:
    assert upwards(Fraction(1, 3), 3) == "0.334"
    assert upwards(Fraction(2), 3) == "2.000"
    assert upwards(Fraction(-1, 3), 2) == "-0.33"
    assert downwards(Fraction(1, 3), 3) == "0.333"
    assert downwards(Fraction(-1, 3), 2) == "-0.34"
    assert downwards(Fraction(1, 10**15), 3) == "0.000"
    # Small numbers keep their digits.
    assert upwards(Fraction(1, 3 * 10**12)) == "0.00000000000033333334"


def test_clients_that_differ_more_have_a_larger_worst_case() -> None:
    theorem = load_theorem("classics.sgd.heterogeneous")
    known = {"n": "2", "mu": "0.5"}
    none, little, more, most = (
        worst_case(theorem, 2, {**known, "zeta": zeta}).primal for zeta in ("0", "0.5", "1", "2")
    )
    assert none + 1e-3 < little
    assert little + 1e-3 < more
    assert more + 1e-3 < most


FRACTIONS = st.fractions(min_value=-100, max_value=100, max_denominator=50)


CLASSES: dict[str, dict[str, Fraction]] = {  # by PEPit's names, with its constants
    "ConvexFunction": {},
    "ConvexLipschitzFunction": {"M": Fraction(3, 2)},
    "StronglyConvexFunction": {"mu": Fraction(1, 2)},
    "SmoothConvexFunction": {"L": Fraction(2)},
    "SmoothStronglyConvexFunction": {"mu": Fraction(1, 2), "L": Fraction(2)},
    "SmoothConvexLipschitzFunction": {"L": Fraction(2), "M": Fraction(3, 2)},
    "SmoothFunction": {"L": Fraction(2)},
}


@pytest.mark.parametrize("name", CLASSES)
def test_the_rows_of_a_class_are_those_of_pepit(name: str) -> None:
    # Both at three points with gradients and values of their own: as forms in floats.
    import PEPit
    from PEPit import functions

    constants = dict(CLASSES[name])
    problem = PEPit.PEP()
    f = problem.declare_function(getattr(functions, name), **{key: float(one) for key, one in constants.items()})
    for _ in range(3):
        f.add_point((PEPit.Point(), PEPit.Point(), PEPit.Expression()))
    f.set_class_constraints()
    theirs = []
    for constraint in f.list_of_class_constraints:
        found: dict[Any, float] = {}
        for term, weight in constraint.expression.decomposition_dict.items():
            at = (
                tuple(sorted(one.counter for one in term)) if isinstance(term, tuple) else getattr(term, "counter", "1")
            )
            found[at] = found.get(at, 0.0) + float(weight)
        theirs.append({at: pytest.approx(weight) for at, weight in found.items() if abs(weight) > 1e-12})
    steepest = constants.pop("M") ** 2 if "M" in constants else None
    kind = FunctionClass(name, constants, "", None, None, True, "", steepest=steepest)
    one = Fraction(1)
    samples = [Sample({2 * i: one}, {2 * i + 1: one}, Form({i: one})) for i in range(3)]
    own = [form for form, _ in class_rows(kind, [samples])]
    ours = []
    for form in own:
        every = {**form.values, **form.gram, "1": form.constant}
        ours.append({at: float(weight) for at, weight in every.items() if weight})
    assert len(ours) == len(theirs)
    assert all(any(one == other for other in theirs) for one in ours)


def tiny() -> SemidefiniteProgram:
    """Maximise F_0 under F_0 ≤ G_00/2 + G_01, G_00 ≤ 1, G_11 ≤ 1: 3/2 at equal unit vectors."""
    half, one = Fraction(1, 2), Fraction(1)
    rows = (
        Row({0: one}, {(0, 0): -half, (0, 1): -one}, Fraction(0)),
        Row({}, {(0, 0): one}, -one),
        Row({}, {(1, 1): one}, -one),
    )
    return SemidefiniteProgram(2, 1, Row({0: one}, {}, Fraction(0)), rows, np.ones(2), 1.0)


def test_a_program_without_an_optimum_is_refused() -> None:
    program = tiny()
    loose = SemidefiniteProgram(2, 1, program.objective, program.rows[:1], np.ones(2), 1.0)
    with pytest.raises(CertificateError, match="unbounded"):
        Compiled(loose).solve()


@given(st.integers(0, 10_000))
@settings(max_examples=60)
def test_the_weights_of_a_rounded_maximum_are_optimal(seed: int) -> None:
    rng = np.random.default_rng(seed)
    m, d = int(rng.integers(1, 8)), int(rng.integers(1, 4))
    height, slopes, width = rng.normal(size=m), rng.normal(size=(m, d)), float(rng.choice([0.1, 1.0, 10.0]))
    if seed % 3 == 0:
        slopes[-1] = slopes[0]
    weights = maximise(height, slopes, width)
    assert weights.min() >= 0.0
    assert weights.sum() == pytest.approx(1.0, abs=1e-12)
    gain = height - slopes @ (weights @ slopes) / width
    assert gain.max() - weights @ gain <= 1e-9 * (1.0 + np.abs(height).max() + (slopes**2).sum() / width)


@pytest.mark.parametrize(
    ("name", "iterations", "settings"),
    [
        ("area.theorem8", 4, {"p": "0.5", "M": "2"}),
        ("area.theorem8", 3, {"p": "0.25,0.125", "M": "1"}),
        ("classics.sgd.convex", 3, {"n": "2"}),
        ("classics.sgd.heterogeneous", 2, {"n": "2", "mu": "0.5", "zeta": "0.5"}),
    ],
)
def test_all_event_sequences_at_once_show_what_they_show_one_by_one(
    name: str, iterations: int, settings: dict[str, str]
) -> None:
    from boundlab.worst_case import model

    plan = ask(load_theorem(name), iterations, settings)
    kind = function_class(plan.theorem, plan.values, plan.clients)
    weights = []
    for runs in (plan.tapes(), plan.runs()):
        oracle, total = model._Clients(kind, plan.clients), dict[Any, Any]()
        # Gradients are the functions' own at equal points, so that equal runs show equal combinations of them.
        for shown, share in model._shown(runs, plan.metric, oracle.vector(), oracle):
            at = tuple(sorted(shown.values()))
            total[at] = total.get(at, 0) + share
        weights.append(total)
    assert weights[0] == weights[1]
    assert sum(weights[1].values()) == 1


@given(st.lists(FRACTIONS, min_size=6, max_size=6), FRACTIONS, FRACTIONS, FRACTIONS)
def test_the_gradient_of_a_row_is_that_of_its_value(
    z: list[Fraction], square: Fraction, product: Fraction, linear: Fraction
) -> None:
    # A quadratic function is differentiated exactly by central differences, whatever their width.
    one = Row(gram={(0, 0): square, (0, 1): product}, values={1: linear}, constant=Fraction(1))

    def at(point: list[Fraction]) -> Any:
        return _linearised(one, [flint().arb(rational(entry)) for entry in point], 2, 2)

    line, _ = at(z)
    for place in range(len(z)):
        up, down = (at([entry + sign * (k == place) for k, entry in enumerate(z)])[1] for sign in (1, -1))
        assert (up - down).overlaps(2 * line[place])
