"""The parts of worst cases: exact numbers, the executor on points, rational certificates."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from problem_makers import make

from boundlab.arithmetic.numbers import flint, rational
from boundlab.errors import CertificateError
from boundlab.events import Events
from boundlab.execute.floats import run as run_numpy
from boundlab.execute.points import Point, run
from boundlab.options import Options
from boundlab.problems.solvers import maximise
from boundlab.recheck import Form, Sample
from boundlab.registry import lookup
from boundlab.tape import RecordAt, Tape
from boundlab.theorems import load_theorem
from boundlab.worst_case.certificate import _linearised, certify
from boundlab.worst_case.model import FunctionClass, class_rows, function_class
from boundlab.worst_case.program import Compiled, Row, SemidefiniteProgram, upper_value
from boundlab.worst_case.specification import ask

FRACTIONS = st.fractions(min_value=-100, max_value=100, max_denominator=50)


def area_tape(actors: tuple[int, ...], clients: int) -> Tape:
    area = lookup("algorithms", "area")
    parameters = area.read(Options("area", {"alpha": 0.3, "M": 2, "start": "analysis"}))
    events = Events(np.arange(1.0, len(actors) + 1.0), np.array(actors, dtype=np.int32))
    tape: Tape = area.schedule(parameters, events, clients, RecordAt(np.array([len(actors)]), True), len(actors))
    return tape


class Linear:
    """The gradients of a linear f_i: the same name everywhere."""

    def gradient(self, client: int, point: Point) -> Point:
        return {1 + client: Fraction(1)}

    def proximal(self, client: int, point: Point, step_size: Fraction) -> Point:
        raise NotImplementedError


@given(st.lists(st.integers(-1, 1), min_size=1, max_size=8))
@settings(max_examples=40)
def test_points_go_where_vectors_go(actors: list[int]) -> None:
    # On linear functions every iterate is x_0 less a combination of two constant gradients.
    tape = area_tape(tuple(actors), 2)
    seen: list[Point] = []
    run(tape, {0: Fraction(1)}, Linear(), lambda _, shown: seen.append(shown))
    shown = [float(seen[-1].get(name, 0)) for name in range(3)]
    slopes = np.array([[[0.0, 1.0, 0.0]], [[0.0, 0.0, 1.0]]])
    problem = make("max-affine", a=slopes.tolist(), b=[[0.0], [0.0]], x0=[1.0, 0.0, 0.0])
    vectors: list[Any] = []
    run_numpy(tape, problem.x0, problem.full_gradients(), lambda _, x: vectors.append(np.array(x)))
    assert shown == pytest.approx(vectors[-1].tolist(), abs=1e-12)


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


def test_a_rational_dual_point_is_checked_exactly() -> None:
    # λ = (1, 1, 1/2): S = [[1/2, −1/2], [−1/2, 1/2]] is singular, so a little is added: (1, 1 + e, 1/2 + e).
    e = Fraction(1, 10**6)
    half = Fraction(1, 2)
    assert upper_value(tiny(), [Fraction(1), 1 + e, half + e]) == Fraction(3, 2) + 2 * e
    assert upper_value(tiny(), [Fraction(1), 1 - e, half + e]) is None  # S is not positive semidefinite
    assert upper_value(tiny(), [1 + e, 1 + e, half + e]) is None  # the values do not cancel
    assert upper_value(tiny(), [Fraction(1), 1 + e, -half]) is None
    compiled = Compiled(tiny())
    solution = compiled.solve()
    assert solution.status == "optimal"
    assert solution.primal == pytest.approx(1.5, abs=1e-7)
    found = certify(compiled, solution)
    assert found is not None
    upper, _ = found
    assert Fraction(3, 2) < upper < Fraction(3, 2) + e


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
