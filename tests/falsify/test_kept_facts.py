"""What a search keeps of a statement, and of runs, changes no number: each is what a fresh statement and run give."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
import pytest

from boundlab.errors import BoundlabError
from boundlab.falsify import Candidate, _families, _search, _shared_runs
from boundlab.falsify._families import noise_allowed, settings
from boundlab.falsify._judge import Judge, plan_of
from boundlab.falsify._shared_runs import constants_of, make_shared_run, step_size, tapes
from boundlab.instance.schedules import Schedules, _read, parameters
from boundlab.registry import registered
from boundlab.theorems import Theorem, load_theorem

EVERY = sorted(registered("theorems"))
_SOME = 6


def some(theorem: Theorem) -> list[Candidate]:
    """Return different problems on different schedules."""
    return list(islice(_search._bases(Judge(theorem, float("inf"))), _SOME))


def said(make: Any, *given: Any) -> Any:
    """Return what is made, or what is said against it."""
    try:
        return make(*given)
    except BoundlabError as error:
        return type(error), str(error)


def same(one: Any, other: Any) -> bool:
    """Return whether two values are the same, field by field and entry by entry; what is kept for later counts not."""
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other, equal_nan=one.dtype.kind == "f") and one.dtype == other.dtype
    if isinstance(one, Mapping):
        return list(one) == list(other) and all(same(one[name], other[name]) for name in one)
    if isinstance(one, (tuple, list)):
        return len(one) == len(other) and all(map(same, one, other))
    if is_dataclass(one) and type(one) is type(other):
        return all(same(getattr(one, field.name), getattr(other, field.name)) for field in fields(one) if field.compare)
    return bool(one == other)


@pytest.mark.sweep(80)
@pytest.mark.parametrize("name", EVERY)
def test_a_plan_is_the_one_of_a_copy_of_the_statement_of_which_nothing_is_known_yet(name: str) -> None:
    theorem = load_theorem(name)
    tried = some(theorem)
    kept = [said(plan_of, theorem, one) for one in (*tried, *tried)]
    for one, first, again in zip(tried, kept, kept[len(tried) :], strict=False):
        assert same(first, said(plan_of, replace(theorem), one)), one.key()
        assert same(first, again), one.key()


@pytest.mark.sweep(8)
@pytest.mark.parametrize("name", EVERY)
def test_parameters_are_those_that_are_read_anew(name: str) -> None:
    theorem = load_theorem(name)
    algorithm = registered("algorithms")[theorem.algorithm]
    for given in islice((one for n in (1, 2) for one in settings(theorem, algorithm, n)), 12):
        whole = {word: int(value) if value.isdigit() else value for word, value in given.items()}
        for options in ({**theorem.core.fixed, **given}, {**theorem.core.fixed, **whole}):
            fresh = said(_read, theorem, algorithm, options)
            assert said(parameters, theorem, algorithm, options) == fresh
            assert said(parameters, theorem, algorithm, dict(options)) == fresh


def test_a_candidate_is_known_by_all_its_numbers() -> None:
    [base, *_] = some(load_theorem("classics.gd.convex"))
    assert replace(base) == base
    assert hash(replace(base)) == hash(base)
    others = [base.with_problem(x0=0.25), replace(base, iterations=7), replace(base, step={"alpha": 0.3})]
    assert len({base, *others}) == 4


@pytest.mark.sweep(72)
@pytest.mark.parametrize("name", EVERY)
def test_delays_that_change_nothing_of_a_run_are_told_from_others(name: str) -> None:
    # The fingerprint is that of the runs themselves, whichever delays were looked at before.
    scorer = Judge(load_theorem(name), float("inf"))
    if scorer.expectation:
        return
    for schedule in islice(_families.schedules(scorer.theorem, scorer.algorithm), 30):
        for one in _families.problems(scorer.theorem, schedule, 6, 0)[:1]:
            runs = said(scorer.shared, one)
            own = runs if isinstance(runs, tuple) else runs.fingerprint
            assert said(scorer.fingerprint, one) == own, one.key()


def test_fewer_runs_are_made_than_schedules_where_nobody_waits_for_arrivals() -> None:
    scorer = Judge(load_theorem("classics.gd.convex"), float("inf"))
    for delays in ("deterministic", "deterministic:rates=[2,1]", "exponential:rates=[3,1]"):
        problem = {"type": "huber", "sigma": 0.0, "delta": 1.0, "w": [1.0, 1.0], "c": [0.0, 0.0], "x0": 1.0}
        scorer.fingerprint(Candidate("own", problem, delays, {"M": "1"}, {}, 5))
    assert len(scorer.shared_runs) == len(scorer.fingerprints) == 1


@pytest.mark.sweep(72)
@pytest.mark.parametrize("name", EVERY)
def test_the_runs_of_a_candidate_are_those_that_its_options_and_records_make(name: str) -> None:
    theorem = load_theorem(name)
    for one in some(theorem):
        shared = said(make_shared_run, theorem, one)
        fresh = said(make_shared_run, replace(theorem), one)
        assert same(shared, fresh), one.key()
        plan = said(plan_of, theorem, one)
        if isinstance(shared, tuple) or isinstance(plan, tuple):
            continue
        options = {**plan.parameter_values, **shared.server, shared.rate: 1}
        if "d" in options:
            continue  # α_k = c/(k + d): the tape is one of unit steps
        where = (plan.algorithm, plan.problem.n, plan.delays, plan.policy, plan.iterations, 0, options)
        again = tuple(tapes(Schedules(plan.theorem, *where), shared.left.records(shared.ks)))
        assert same([weight for _, weight in shared.tapes], [weight for _, weight in again])
        for (tape, _), (other, _) in zip(shared.tapes, again, strict=True):
            assert same(tape.affine, other.affine)
            assert same(tape.record, other.record)
            assert same((tape.op, tape.row, tape.descend), (other.op, other.row, other.descend))


@pytest.mark.sweep(4)
@pytest.mark.parametrize(
    "name", ["fedbuff.rf1", "classics.sgd.convex", "afl_dga.r1", "area.theorem8.repaired.fixed-step"]
)
def test_how_far_noise_spreads_does_not_depend_on_what_else_is_looked_at(name: str) -> None:
    theorem = load_theorem(name)
    assert noise_allowed(theorem)
    scorer = Judge(theorem, float("inf"))
    if scorer.expectation:
        batches = list(islice((one for one in _families.on_random_events(theorem) if one[0].tailed), 10))
    else:
        schedules = islice(_families.schedules(theorem, scorer.algorithm), 6)
        batches = [_families.problems(theorem, schedule, 8, 0, noise=True) for schedule in schedules]
    looked = 0
    for batch in batches:
        tailed = [one for one in batch if one.tailed and not isinstance(said(scorer.shared, one), tuple)]
        sized = [(one, step_size(scorer.shared(one), one, constants_of(theorem, one))) for one in tailed]
        usable = [(one, size) for one, size in sized if np.isfinite(size)]
        if not usable:
            continue
        shared = scorer.shared(usable[0][0])
        together = _shared_runs.widest(shared, [one for one, _ in usable], np.array([size for _, size in usable]))
        alone = [_shared_runs.widest(shared, [one], np.array([size]))[0] for one, size in usable]
        np.testing.assert_allclose(together, alone, rtol=1e-13)
        looked += len(usable)
    assert looked > 5
