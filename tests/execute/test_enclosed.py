"""Runs with proved errors: the interval holds what exact arithmetic gives, and is narrow; with more digits, always."""

import os
import random
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from exact_smoothed import PAIRS, Smoothed
from hypothesis import given, settings, strategies as st
from run_makers import tape_of

from boundlab.algorithms import Algorithm
from boundlab.algorithms.example_options import surroundings
from boundlab.arithmetic.numbers import ball, digits, flint, rational as rational_number
from boundlab.arithmetic.problem import AtMinimum
from boundlab.arithmetic.rational import Recipe
from boundlab.case import build_problem, problem_from
from boundlab.errors import BoundlabError, SpecError, UndecidedError
from boundlab.execute import iterates, rationals
from boundlab.expectation import folded
from boundlab.metrics import METRICS, Enclosure, Metric, Quantity, Series
from boundlab.objective import Problem
from boundlab.options import Options
from boundlab.problems.max_affine import SmoothedMaxAffine
from boundlab.registry import lookup, registered
from boundlab.tape import Tape

EXAMPLES = int(os.environ.get("BOUNDLAB_EXAMPLES", "25"))
PROBLEMS = (
    "quadratic:dimension={d},clients={n},seed={s}",
    "quadratic:dimension={d},clients={n},seed={s},x0=1e6",
    "quadratic:dimension={d},clients={n},mu=1e-12,L=1e-11,seed={s}",
    "huber:clients={n},dimension={d},seed={s},x0=3",
    "lad:clients={n},dimension={d},seed={s},x0=3",
    "quadratic:dimension={d},clients={n},l1=0.1,seed={s}",
    "huber:clients={n},dimension={d},seed={s},x0=1,box=[-1,2]",
    "max-affine:clients={n},dimension={d},seed={s}",
    "least-squares:features=[[1,0],[1,1],[0,2],[1,-1]],targets=[1,3,-1,0],owners=[0,0,1,1],nu=1",
)
# Where steps are short beside what a proximal map does with them.
CONSTRAINED = (
    "quadratic:A=[[[1]],[[1]],[[1]]],b=[[-1000000],[-1000000],[-1000000]],x0=0.1250001,box=[0.125,0.5]",
    "quadratic:clients={n},dimension={d},seed={s},x0=0.2,box=[0.1,0.3]",
    "quadratic:clients={n},dimension={d},seed={s},x0=3,l1=1000",
    "huber:clients={n},seed={s},x0=0.3,ball=0.3",
)
SMOOTHED = ("smoothed-max-affine:clients={n},dimension={d},seed={s},x0=3,mu=0.2", PAIRS, PAIRS + ",mu=0.125")
STEPS = (1e-6, 0.05, 0.5, 1.0, 1.9)  # times 1/L


def drawn(seed: int, longest: int, problems: Sequence[str] = PROBLEMS) -> tuple[Problem, Metric, Tape, Any] | None:
    """Return a random run: any algorithm with random options, a problem, delays, a metric and its horizons."""
    rng = random.Random(seed)  # noqa: S311  (no cryptography)
    name = rng.choice(sorted(registered("algorithms")))
    a: Algorithm[Any] = lookup("algorithms", name)
    spec = rng.choice(problems).format(n=rng.randint(1, 4), d=rng.randint(1, 3), s=rng.randint(0, 5))
    problem, metric = problem_from(spec), METRICS[rng.choice(sorted(METRICS))]
    if problem.simple is not None and metric.quantity is Quantity.SLOPE:
        return None
    bounds = problem.step_bounds(0)
    assert bounds is not None
    chosen = dict(surroundings(name, a, problem.n, 0)[0])
    for option, words in sorted(a.examples(problem.n).items()):
        if words and option not in a.step_size_symbols and rng.random() < 0.4:
            more = {**chosen, option: rng.choice(list(words))}
            chosen = {key: value for key, value in more.items() if value} if reads(a, more) else chosen
    iterations = min(longest, rng.choice((3, 10, 40, 100, 1000)))
    chosen |= {rate: repr(rng.choice(STEPS) / (bounds.L or 1.0)) for rate in a.step_size_symbols[:1]}
    chosen |= {"K": str(iterations)} if "K" in chosen else {}
    delays = rng.choice(("exponential", "deterministic:spread=3", "uniform", "markov"))
    ks = np.array(sorted({max(metric.first, 1), max(iterations // 2, 1), iterations}))
    try:
        tape = tape_of(name, chosen, problem.n, iterations, delays, records=metric.records(ks), seed=seed, exact=True)
    except BoundlabError:
        return None
    return problem, metric, with_steps_as_they_are(tape), ks


def with_steps_as_they_are(tape: Tape) -> Tape:
    """Return a tape whose steps are the fractions that their floats are."""
    assert tape.exact is not None
    sizes = [Recipe(one, Fraction(one)) for one in tape.descend.step_size.tolist()]
    return replace(tape, exact=(tape.exact[0], sizes, tape.exact[2]))


def reads(a: Algorithm[Any], options: dict[str, str]) -> bool:
    try:
        a.read(Options(a.id, {key: value for key, value in options.items() if value}))
    except BoundlabError:
        return False
    return True


def exactly(problem: Problem, metric: Metric, tape: Tape, ks: Any, bits: int, *, proved: bool) -> list[Any] | None:
    """Return the left sides as balls: a number that is a simple fraction is that fraction, a momentum itself."""
    model = Smoothed(problem) if isinstance(problem, SmoothedMaxAffine) else problem.rational({})
    assert model is not None
    best = model.minimum()
    if best is None and metric.quantity is not Quantity.SLOPE:
        return None
    function, shown = AtMinimum.of(model, best), []
    bounds = [problem.step_bounds(client) for client in range(problem.n)] if proved else ()
    try:
        with digits(bits):
            rationals.run(
                tape,
                model,
                [],
                lambda _m, x: shown.append(metric.at(function, x)),
                balls=True,
                bounds=bounds,
            )
            return [ball(value) for value in folded(metric, ks, shown)]
    except (UndecidedError, SpecError):  # a kink is met, or a root; other tests have these
        return None


def holds(found: Enclosure, exact: list[Any]) -> bool:
    """Return whether no ball lies outside the ends."""
    arb = flint().arb
    pairs = zip(found.lower.tolist(), found.upper.tolist(), exact, strict=True)
    return not any(
        value < arb(low) or (np.isfinite(high) and value > arb(high)) for low, high, value in pairs if value.is_finite()
    )


@pytest.mark.nightly
@settings(max_examples=EXAMPLES)
@given(seed=st.integers(0, 2**32))
def test_the_interval_of_floats_holds_the_value_without_rounding(seed: int) -> None:
    encloses(drawn(seed, 40))


@settings(max_examples=EXAMPLES)
@given(seed=st.integers(0, 2**32))
def test_the_interval_holds_it_where_a_proximal_map_follows_each_step(seed: int) -> None:
    encloses(drawn(seed, 40, CONSTRAINED))


@settings(max_examples=EXAMPLES)
@given(st.lists(st.floats(0.0, 1e6), min_size=1, max_size=400), st.integers(1, 20))
def test_a_mean_of_records_is_enclosed_by_its_ends(shown: list[float], times: int) -> None:
    """Sums of floats drift; 10,000 summands that are nearly equal put the last four digits off."""
    values = shown * times
    series = Series(METRICS["gradient-norm"], np.array([len(values)]), (3,))
    for one in values:
        series.add(np.array([one, one, one]))
    found, exact = series.enclosure(), sum(map(Fraction, values), Fraction(0)) / len(values)
    assert Fraction(float(found.lower[0])) <= exact <= Fraction(float(found.upper[0]))


@settings(max_examples=max(5, EXAMPLES // 5))
@given(seed=st.integers(0, 2**32))
def test_the_interval_holds_it_where_gradients_are_looked_for(seed: int) -> None:
    encloses(drawn(seed, 20, SMOOTHED))


@pytest.mark.nightly
@pytest.mark.parametrize("spec", [CONSTRAINED[0], "quadratic:A=[[[1]],[[1]],[[1]]],b=[[3],[2],[3]],x0=1,l1=1048576"])
@pytest.mark.parametrize("name", sorted(registered("algorithms")))
def test_what_an_algorithm_adds_up_is_enclosed_where_a_proximal_map_follows_short_steps(name: str, spec: str) -> None:
    """The difference of a result and its start is no longer the sum of short steps, whose errors are small."""
    a: Algorithm[Any] = lookup("algorithms", name)
    problem, metric, ks = problem_from(spec), METRICS["squared-distance"], np.array([15])
    for setting in surroundings(name, a, problem.n, 1):
        own = dict.fromkeys(a.step_size_symbols[:1], "1e-6") | ({"eta_g": "1.5"} if "eta_g" in a.parameters else {})
        own |= {"K": "15"} if "K" in setting else {}
        for law in ("deterministic", "exponential"):
            try:
                tape = tape_of(name, {**setting, **own}, problem.n, 15, law, records=metric.records(ks), exact=True)
            except BoundlabError:  # options that do not go together, or with three clients
                continue
            encloses((problem, metric, with_steps_as_they_are(tape), ks))


def encloses(run: tuple[Problem, Metric, Tape, Any] | None) -> None:
    if run is None:
        return
    problem, metric, tape, ks = run
    try:
        found = iterates.along(metric, problem, tape, problem.full_gradients(), ks)
    except BoundlabError:  # a kink, or no implicit step
        return
    exact = exactly(problem, metric, tape, ks, 64 + 8 * int(ks[-1]), proved=False)
    assert exact is None or holds(found, exact)
    known = np.isfinite(found.value)
    assert (found.lower <= found.value)[known].all()
    assert (found.value <= found.upper)[known].all()


def summed(tape: Tape, weights: list[Any]) -> list[Any]:
    """Return the sum of the weights of each combination."""
    ends = tape.affine.start.tolist()
    return [sum(weights[begin:end], start=weights[begin]) for begin, end in pairwise(ends) if begin < end]


@pytest.mark.sweep(3)
@pytest.mark.parametrize("name", sorted(registered("algorithms")))
def test_weights_that_sum_to_a_whole_number_do_so_in_balls(name: str) -> None:
    # 1 + β and −β, rounded one by one, do not: a run of such a tape settles beside x*.
    a: Algorithm[Any] = lookup("algorithms", name)
    n = 1 if name == "proximal_point" else 3
    seen = 0
    for chosen in surroundings(name, a, n, 0):
        rates = {rate: float(chosen[rate]) for rate in a.step_size_symbols if rate in chosen}
        recipes = {rate: Recipe(value, ("rate", place)) for place, (rate, value) in enumerate(rates.items())}
        try:
            tape = tape_of(name, {**chosen, **recipes}, n, 9, seed=1, exact=True)
        except BoundlabError:  # options of another number of clients
            continue
        with digits(400):
            numbers = rationals.exactly(tape, [rational_number(Fraction(rate)) for rate in rates.values()], balls=True)
            pairs = zip(summed(tape, numbers.coefficients), summed(tape, tape.affine.coef.tolist()), strict=True)
            for total, about in pairs:
                seen += abs(about - round(about)) < 1e-12
                assert abs(about - round(about)) >= 1e-12 or ball(total).contains(round(about)), (name, chosen)
    assert seen > 5


def test_a_momentum_is_known_to_every_digit() -> None:
    tape = tape_of("nesterov", {"alpha": "1", "q": "0.1"}, 1, 1, exact=True)
    with digits(300):
        tenth = ball(rational_number(Fraction(1, 10)))
        more, less = rationals.exactly(tape, [], balls=True).coefficients[2:4]
        assert more.overlaps(2 / (1 + tenth.sqrt()))
        assert (more + less).contains(1)
        assert min(more.rel_accuracy_bits(), less.rel_accuracy_bits()) > 280


@settings(max_examples=max(5, EXAMPLES // 5))
@given(seed=st.integers(0, 2**32))
def test_balls_that_use_what_steps_do_to_errors_meet_those_that_do_not(seed: int) -> None:
    if (run := drawn(seed, 100)) is None:
        return
    known, plain = (exactly(*run, 200 + 8 * int(run[-1][-1]), proved=proved) for proved in (True, False))
    for one, other in zip(known or (), plain or (), strict=False):
        assert one.overlaps(other)


@pytest.mark.nightly
def test_intervals_of_long_runs_are_narrow() -> None:
    """Floats where they do, else 4096 bits: at least 90 % have a relative width below 1e-6, up to K = 1000."""
    narrow = []
    for seed in range(400):
        if (run := drawn(seed, 1000)) is None:
            continue
        problem, metric, tape, ks = run
        try:
            found = iterates.along(metric, problem, tape, problem.full_gradients(), ks)
        except BoundlabError:
            continue
        if not np.isfinite(found.value[-1]):
            continue
        wide = found.upper[-1] - found.lower[-1] > 1e-6 * found.value[-1]
        if wide and (exact := exactly(*run, 4096, proved=True)) is not None:
            assert holds(found, exact)
            wide = bool(exact[-1].rel_accuracy_bits() < 20 and not exact[-1] == 0)  # noqa: SIM201
        narrow.append(not wide)
    assert len(narrow) > 200
    assert np.mean(narrow) > 0.9


@pytest.mark.parametrize("name", ["fedbuff", "async_sgd", "afl_dga", "fedstaleweight"])
def test_registers_that_hold_differences_do_not_make_errors_grow(name: str) -> None:
    """A bound on each register by itself grows by a factor of about 3 an update: 10^80 in 200 of them."""
    a = lookup("algorithms", name)
    problem = build_problem("quadratic", {"clients": 4, "dimension": 3})
    rate = a.step_size_symbols[0]
    chosen = {**surroundings(name, a, 4, 0)[0], rate: "0.005"}
    metric, ks = METRICS["squared-distance"], np.array([200])
    tape = tape_of(name, chosen, 4, 200, seed=1)
    found = iterates.along(metric, problem, tape, problem.full_gradients(), ks)
    assert found.upper[0] - found.lower[0] < 1e-6 * found.value[0]


def test_a_run_that_leaves_floats_proves_nothing() -> None:
    problem = build_problem("quadratic", {"A": [[[1.0]]], "b": [[0.0]], "x0": 1})
    metric, ks = METRICS["gap"], np.array([2000])
    tape = tape_of("gd", {"alpha": 9}, 1, 2000, "deterministic")
    found = iterates.along(metric, problem, tape, problem.full_gradients(), ks)
    assert not np.isfinite(found.upper[0])
