"""Ranges of errors: no event sequence, no mini-batch and no run leaves them; models as averages of local results."""

from dataclasses import dataclass
from itertools import permutations, product

import numpy as np
import pytest
from problem_makers import LOSSES, generated, make, tiny
from sympy import S

from boundlab.case import build_problem
from boundlab.errors import BoundlabError, SpecError
from boundlab.events import SERVER, Events, events_of
from boundlab.execute import Combine, Update, own_numbers, rows
from boundlab.execute.floats import run
from boundlab.instance.applicability import certain_range
from boundlab.metrics import MODEL, Quantity, Term, Watch, compose_sum, metric
from boundlab.objective import Oracle
from boundlab.options import Options
from boundlab.randomness import Streams
from boundlab.registry import lookup
from boundlab.simulate.work import compile_trial, run_once
from boundlab.tape import Initial, RecordAt

METRICS = ("squared-distance", "ergodic-gap", "gap", "gradient-norm-last")
ROUNDING = 1.0 + 1e-9


def algorithm_with(name, **options):
    algorithm = lookup("algorithms", name)
    return algorithm, algorithm.read(Options(name, options))


def ranges_of(problem, algorithm, parameters, ks):
    """Give the metrics for which a range is known, with it."""
    for name in METRICS:
        left = metric(name)
        points = ks[ks >= left.first]
        try:
            found = certain_range(left, problem, algorithm, parameters, points)
        except BoundlabError:
            continue  # no certified optimum
        if found is not None:
            yield left, points, found


@dataclass
class Chosen(Oracle):
    """Mini-batches that are named beforehand, one row of data a step."""

    problem: object
    rows: tuple

    def __post_init__(self):
        self.base, self.taken = self.problem.oracle(Streams(0)), 0

    def draws(self, clients, updates, steps):
        out = []
        for client in clients:
            first, size = int(self.problem.offsets[client]), int(self.problem.sizes[client])
            own = [self.rows[(self.taken + step) % len(self.rows)] % size + first for step in range(steps)]
            self.taken += steps
            out.append(np.array(own)[:, None])
        return out

    def draw_size(self, steps):
        return steps

    def step(self, x, client, draw, step_size):
        self.base.step(x, client, draw, step_size)


@pytest.mark.sweep(10)
@pytest.mark.parametrize("alpha", [0.5, 3.0])
@pytest.mark.parametrize(
    ("kind", "nu"), [("logistic", 0.2), ("softmax", 0.2), ("hinge", 0.2), ("logistic", 0.0), ("hinge", 0.0)]
)
def test_no_event_sequence_and_no_choice_of_samples_leaves_the_range(kind, nu, alpha):
    """Every event sequence of 5 iterations, two clients and their server, and every choice of two samples a step."""
    data = {"features": [[1.0, 0.5], [-2.0, 1.0], [0.3, -1.0], [1.5, 2.0]], "targets": [0, 1, 1, 0]}
    problem = make(kind, owners=[0, 0, 1, 1], nu=nu, batch=1, x0=1, **data)
    algorithm, parameters = algorithm_with("area", alpha=alpha, M=2, start="algorithm")
    ks, iterations = np.array([1, 3, 5]), 5
    known = list(ranges_of(problem, algorithm, parameters, ks))
    assert known
    for actors in product([0, 1, SERVER], repeat=iterations):
        if actors[-1] != SERVER or actors.count(SERVER) > 2:
            continue  # the model does not change after the last aggregation, nor by two in a row
        events = Events(np.arange(1.0, iterations + 1.0), np.array(actors, dtype=np.int32))
        for listed in product([0, 1], repeat=2):
            for left, points, found in known:
                watch = Watch(left, problem, points)
                tape = algorithm.schedule(parameters, events, 2, watch.records, iterations)
                run(tape, problem.x0, Chosen(problem, listed), watch)
                assert (watch.low <= found.high * ROUNDING).all()


def follow(problem, algorithm, parameters, iterations, seed):
    """Run once, and compare with all ranges at all iterations."""
    model = lookup("delays", "exponential").build(Options("delays", {"spread": "3"}), problem.n)
    ks = np.arange(iterations + 1)
    streams = Streams(seed)
    compared = 0
    for left, points, found in ranges_of(problem, algorithm, parameters, ks):
        watch = Watch(left, problem, points)
        policy = algorithm.policy(None, model)
        tape = compile_trial(algorithm, parameters, problem.n, model, policy, iterations, watch.records, streams)
        run_once(tape, problem, streams, watch)
        room = 1e-9 * max(1.0, float(np.linalg.norm(problem.x0)) ** 2)
        assert (watch.low <= found.high * ROUNDING + room).all(), (left.id, found.how)
        assert (watch.high >= found.low - room).all()
        compared += 1
    return compared


SETTINGS = [(1, 0.05), (2, 2.5), (3, 0.6), (4, 0.3)]
ALGORITHMS = {
    "area": {"start": "algorithm", "M": 3},
    "gd": {"sampling": "uniform", "M": 2},
    "incremental": {"order": "shuffled"},
}


@pytest.mark.sweep(12)
@pytest.mark.parametrize("name", ALGORITHMS)
@pytest.mark.parametrize("kind", ["huber", "pseudo-huber", "lad", "max-affine", "smoothed-max-affine", "quadratic"])
@pytest.mark.parametrize(("seed", "alpha"), SETTINGS)
def test_runs_with_full_gradients_stay_in_their_range(kind, name, seed, alpha):
    algorithm, parameters = algorithm_with(name, alpha=alpha, **ALGORITHMS[name])
    follow(generated(kind, seed, sigma=0), algorithm, parameters, 40, seed)


def area_range(problem, ks, name="squared-distance", **options):
    algorithm, parameters = algorithm_with("area", **{"alpha": 0.1, **options})
    return certain_range(metric(name), problem, algorithm, parameters, np.asarray(ks))


def test_until_a_pass_can_arrive_the_left_side_is_a_number():
    problem = generated("huber", 1, sigma=0, x0=3)
    found = area_range(problem, [0, 1, 2, 3], start="analysis")
    square = float(((problem.x0 - problem.optimum().x) ** 2).sum())
    assert np.allclose(found.high[:3], square)
    assert np.allclose(found.low[:3], square)
    assert found.high[3] > square
    assert found.low[3] == 0.0


def test_gaussian_noise_leaves_every_range():
    assert area_range(generated("huber", 1, sigma=0.5), [3, 30]) is None
    assert area_range(generated("quadratic", 1, sigma=0.5), [3, 30]) is None


def test_the_regulariser_keeps_softmax_in_a_ball_as_long_as_it_pulls_no_further_than_its_centre():
    """‖x‖ ≤ √2·max‖a‖/ν where αν ≤ 1, for ever; beyond that nothing is known."""
    problem = tiny("softmax", 3, nu=0.1, batch=1, weights="equal")
    largest = float(np.linalg.norm(problem.X, axis=1).max())
    best = float(np.linalg.norm(problem.optimum().x))
    found = area_range(problem, [10, 10**6], alpha=9.9)
    assert found.high[0] == found.high[1] == pytest.approx((np.sqrt(2) * largest / 0.1 + best) ** 2, rel=1e-6)
    assert area_range(problem, [10, 10**6], alpha=10.1) is None
    # Where every batch step contracts, the ball is around x*, and smaller.
    small = area_range(problem, [10, 10**6], alpha=0.001)
    assert small.high[0] < found.high[0]
    assert small.how == "every step contracts"


def test_a_hinge_run_without_regulariser_can_go_far_but_not_faster_than_its_steps():
    problem = tiny("hinge", 4, nu=0, batch=1)
    found = area_range(problem, [3, 300, 30_000], "ergodic-gap", alpha=0.01)
    assert np.isfinite(found.high).all()
    assert (np.diff(found.high) > 0.0).all()


def test_metrics_and_algorithms_without_a_rule_have_no_range():
    problem = generated("huber", 1, sigma=0)
    algorithm, parameters = algorithm_with("fedbuff", eta_l=0.1, eta_g=1, count=2)
    assert certain_range(metric("gradient-norm"), problem, algorithm, parameters, np.array([3])) is None


def test_the_mean_squared_slope_of_a_lipschitz_function_is_at_most_its_largest():
    problem = generated("huber", 3, sigma=0)
    algorithm, parameters = algorithm_with("gd", alpha=0.1)
    found = certain_range(metric("gradient-norm"), problem, algorithm, parameters, np.array([1, 50]))
    assert found.high[1] <= problem.constants()["B"].value ** 2 * ROUNDING


def test_a_range_can_be_reached():
    """|x| from 3 with steps of 2: the models 3, 1, −1, 1, … and no further than one step beyond 0."""
    problem = make("lad", x0=-1.99)
    found = area_range(problem, [3], "gap", alpha=2, start="analysis")
    assert found.high[0] == pytest.approx(2.0)


@pytest.mark.sweep(4)
@pytest.mark.parametrize("kind", LOSSES)
@pytest.mark.parametrize("seed", range(4))
def test_no_step_on_a_single_sample_leaves_a_region(kind, seed):
    """From points on its sphere and inside, one step on one row of data ends inside again."""
    problem = tiny(kind, seed, nu=0.3, batch=1)
    random, size = np.random.default_rng(seed), 0.02
    for region in problem.confinement().regions(size):
        for share in (1.0, 0.7, 0.0):
            for _ in range(40):
                away = random.normal(size=problem.d)
                x = region.centre + share * region.radius * away / np.linalg.norm(away)
                client = int(random.integers(problem.n))
                row = int(problem.offsets[client] + random.integers(problem.sizes[client]))
                problem.oracle(Streams(0)).step(x, client, np.array([row]), size)
                assert np.linalg.norm(x - region.centre) <= region.radius * ROUNDING
        # The furthest that one sample alone would lead from the centre of the ball, if it were pulled there for ever.
        pulls = [
            np.linalg.norm(_step(problem, region.centre, client, row, size)) / (size * 0.3)
            for client in range(problem.n)
            for row in range(int(problem.offsets[client]), int(problem.offsets[client] + problem.sizes[client]))
        ]
        assert max(pulls) <= region.radius * ROUNDING * float(problem.factors.max())


@pytest.mark.parametrize(("kind", "bend"), [("logistic", 0.25), ("softmax", 0.5), ("hinge", np.inf)])
@pytest.mark.parametrize("norm", [0.5, 2.0])
def test_steps_contract_as_far_as_the_curvature_of_a_sample_allows(kind, bend, norm):
    # A sample's loss bends by ¼‖a‖², or ½‖a‖², at most: steps contract where α·(2ν + that) ≤ 2.
    nu = 0.25
    problem = make(kind, features=[[norm], [norm / 4]], targets=[1, 0], owners=[0, 0], nu=nu, batch=1)
    most = 2.0 / (2.0 * nu + bend * norm**2)
    for size, contracts in ((0.999 * most, most > 0.0), (1.001 * most, False)):
        found = [region.how for region in problem.confinement().regions(size)]
        assert ("every step contracts" in found) is contracts


def _step(problem, x, client, row, size):
    moved = x.copy()
    problem.oracle(Streams(0)).step(moved, client, np.array([row]), size)
    return moved - x


def test_the_range_of_one_quantity_is_none_of_a_sum():
    terms = [Term(S.One, Quantity.DISTANCE, MODEL), Term(S(1000), Quantity.GAP, MODEL)]
    gd = lookup("algorithms", "gd")
    problem = build_problem("logistic", {"clients": 2, "nu": 0.1, "samples": 60})
    parameters = gd.read(Options("gd", {"alpha": 0.1}))
    assert certain_range(metric("squared-distance"), problem, gd, parameters, np.array([1, 2, 3])) is not None
    assert certain_range(compose_sum(terms), problem, gd, parameters, np.array([1, 2, 3])) is None


X0 = -1  # the symbol of the start; row j of Descend is the symbol j


@dataclass(frozen=True)
class Form:
    """Σ coefficient·symbol."""

    parts: dict

    def depth(self, depths):
        return max((depths[symbol] for symbol, coef in self.parts.items() if coef), default=0)


def combine(terms, registers):
    parts = {}
    for coef, register in terms:
        for symbol, own in registers[register].parts.items():
            parts[symbol] = parts.get(symbol, 0.0) + coef * own
    return Form(parts)


def shown_forms(tape):
    """Return the form of every record, and how many passes lie behind each symbol."""
    registers = [Form({X0: 1.0}) if one == Initial.START else Form({}) for one in tape.initial]
    depths, shown = {X0: 0}, []
    for row in rows(tape, own_numbers(tape)):
        if isinstance(row, Combine):
            registers[row.dst] = combine(row.terms, registers)
        elif isinstance(row, Update):
            depths[row.row] = 1 + registers[row.src].depth(depths)
            registers[row.dst] = Form({row.row: 1.0})
        else:
            shown.append(registers[row.src])
    return shown, depths


def parameters_of(name, **options):
    algorithm = lookup("algorithms", name)
    return algorithm, algorithm.read(Options(name, {"alpha": 0.1, **options}))


def event_lists(name, length, clients=2, **options):
    """Give every event list of so many iterations."""
    if name == "incremental":
        for orders in product(permutations(range(clients)), repeat=length):
            yield events_of(np.arange(1.0, len(orders) + 1.0), [(SERVER, *order) for order in orders])
        return
    actors = [*range(clients)]
    if name == "area" and "count" not in options:
        actors.append(SERVER)
    if name == "gd" and options.get("sampling", "all") == "all":
        actors = [SERVER]
    for actor in product(actors, repeat=length):
        yield Events(np.arange(1.0, length + 1.0), np.array(actor, dtype=np.int32))


CASES = [
    ("area", {"start": "analysis"}),
    ("area", {"start": "algorithm"}),
    ("area", {"start": "analysis", "count": 1}),
    ("area", {"start": "analysis", "count": 1, "reply": "post"}),
    ("area", {"start": "algorithm", "count": 1, "reply": "post"}),
    ("area", {"start": "algorithm", "count": 2, "reply": "post"}),
    ("gd", {"sampling": "uniform"}),
    ("gd", {"sampling": "all", "M": 2}),
    ("incremental", {"order": "shuffled"}),
]
LENGTH = 6


@pytest.mark.sweep(11)
@pytest.mark.parametrize("average", [False, True], ids=["iterates", "average iterates"])
@pytest.mark.parametrize(("name", "options"), CASES)
def test_every_model_is_a_convex_combination_of_x0_and_passes_no_deeper_than_said(name, options, average):
    algorithm, parameters = parameters_of(name, **options)
    averages = algorithm.averages(parameters, 2)
    length = 4 if name == "incremental" else LENGTH
    ks = np.arange(int(average), length + 1)
    said = averages.mean_depth(ks) if average else averages.depth(ks)
    per_pass = 2 if name == "incremental" else 1  # there a pass is one row of Descend a client
    deepest = np.zeros(len(ks))
    for events in event_lists(name, length, **options):
        tape = algorithm.schedule(parameters, events, 2, RecordAt(ks, average), length)
        shown, depths = shown_forms(tape)
        assert len(shown) == len(ks)
        for place, form in enumerate(shown):
            coefficients = np.array(list(form.parts.values()))
            assert coefficients.min() >= -1e-15
            assert coefficients.sum() == pytest.approx(1.0, abs=1e-12)
            mean = sum(coef * depths[symbol] for symbol, coef in form.parts.items()) / per_pass
            deep = mean if average else form.depth(depths) / per_pass
            assert deep <= said[place] + 1e-12
            deepest[place] = max(deepest[place], deep)
    if not average and "count" not in options:
        assert (deepest == said).all()  # no smaller number would do


def test_the_step_size_is_the_largest_of_the_run():
    algorithm = lookup("algorithms", "area")
    parameters = algorithm.read(Options("area", {"c": 1, "d": 4}))
    assert algorithm.averages(parameters, 2).step_size == 0.25
    events = Events(np.arange(1.0, 6.0), np.array([0, 1, SERVER, 0, 1], dtype=np.int32))
    tape = algorithm.schedule(parameters, events, 2, RecordAt(np.arange(6)), 5)
    assert tape.descend.step_size.max() <= 0.25


def test_algorithms_that_add_changes_to_the_model_do_not_claim_to_average():
    for name in ("fedbuff", "fedasync", "async_sgd", "rennala", "ringmaster", "heavy-ball"):
        try:
            algorithm = lookup("algorithms", name)
        except SpecError:
            continue
        assert algorithm.averages(None, 2) is None
