"""A search on F = f + h with a penalty: flat functions, which a penalty alone moves, refute what h = 0 obeys."""

from dataclasses import replace

import numpy as np
import pytest
from sympy import Rational

from boundlab.errors import BoundlabError, SpecError
from boundlab.falsify import Candidate, falsify
from boundlab.falsify._candidate import Columns, Layout
from boundlab.falsify._families import on_composite, quiet
from boundlab.falsify._judge import Judge, from_vector, to_vector
from boundlab.formulas.symbols import symbol
from boundlab.registry import lookup, registered
from boundlab.theorems import FormulaBound, Theorem, load_theorem

ISTA = "classics.proximal-gradient"
R, K, alpha = (symbol(name) for name in ("R", "K", "alpha"))
EVERY = sorted(registered("theorems"))
COMPOSITE = [name for name in EVERY if {"composite"} == {"composite", "constrained"} & load_theorem(name).core.assumed]


def ista(**terms: object) -> Theorem:
    return replace(load_theorem(ISTA), bound=FormulaBound(terms))  # type: ignore[arg-type]


def penalised(theorem: Theorem, clients: int) -> list[dict[str, object]]:
    return [one for _, one in quiet(theorem, clients, [1, 3]) if "l1" in one]


def test_the_constant_without_a_penalty_is_refuted_exactly() -> None:
    # Steps of λ/L along λ|x| from 1 leave λ(1 − λK/L) at K: L/(4K) for λ = L/(2K), and h = 0 leaves L/(4K + 2) at most.
    found = falsify(ista(bound=R**2 / (4 * alpha * K + 2 * alpha)), limit=60)
    assert found.violated
    assert found.best is not None
    assert found.best.kind == "exact"
    assert found.best.candidate.problem["l1"] > 0.0
    assert 1.0 < found.ratio <= 1.5


@pytest.mark.nightly
def test_the_true_constant_is_attained_and_not_refuted() -> None:
    found = falsify(ista(bound=R**2 / (4 * alpha * K)), limit=150)
    assert not found.violated
    assert 0.999 < found.ratio <= 1.0 + 1e-9
    less = falsify(ista(bound=Rational(99, 100) * R**2 / (4 * alpha * K)), limit=60)
    assert less.violated
    assert less.best is not None
    assert less.best.kind == "exact"


@pytest.mark.parametrize("last", [1, 2, 7, 100])
def test_the_worst_penalty_of_each_horizon_is_among_them(last: int) -> None:
    theorem = load_theorem(ISTA)
    shapes = [one for _, one in quiet(theorem, 1, [last]) if "l1" in one]
    some = [Candidate("own", shape, "deterministic", {"M": "1"}, {}, last) for shape in shapes]
    lefts = [score.left for one in some for score in Judge(theorem, float("inf")).scores([one], [last])]
    assert len(lefts) == len(shapes) > 1
    assert max(lefts) == pytest.approx(1 / (4 * last), rel=1e-9)
    assert min(lefts) == pytest.approx(1 / (4 * last), rel=1e-5)


@pytest.mark.sweep(10)
@pytest.mark.parametrize("name", EVERY)
def test_only_theorems_about_a_penalty_meet_one(name: str) -> None:
    theorem = load_theorem(name)
    found = [one for n in (1, 2) for one in penalised(theorem, n)]
    assert bool(found) == (name in COMPOSITE)
    for shape in found:
        one = Candidate("own", shape, "deterministic", {}, {}, 1)
        problem = one.build()
        assert problem.simple is not None
        assert not problem.why_not("minimiser")
        assert not any(problem.why_not(each) for each in theorem.core.asked if each in ("convex", "one-function"))


@pytest.mark.nightly
@pytest.mark.parametrize("name", COMPOSITE)
def test_no_true_theorem_is_refuted(name: str) -> None:
    found = falsify(load_theorem(name), limit=100)
    assert not found.violated
    assert any("penalty" in family for family in found.tried)


@pytest.mark.sweep(2)
@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("kind", ["huber", "quadratic"])
def test_many_candidates_on_one_tape_step_as_each_does_alone(kind: str, n: int) -> None:
    random = np.random.default_rng(n)
    theorem = load_theorem("classics.proximal-gradient.local" if kind == "quadratic" else ISTA)
    settings = {"M": "3"} if kind == "quadratic" else {}
    judge, some = Judge(theorem, float("inf")), []
    for _ in range(6):
        w, c, x0 = random.uniform(0.1, 1.0, 2), random.standard_normal(2), random.standard_normal(2) * 3.0
        problem = {"type": kind, "sigma": 0.0, "w": [w.tolist()] * n, "c": [c.tolist()] * n, "x0": x0.tolist()}
        problem |= {"l1": float(random.uniform(0.01, 1.0))} | ({"delta": 0.5} if kind == "huber" else {})
        some.append(Candidate("own", problem, "deterministic", settings, {"alpha": 0.7}, 5))
    plain = [one.with_problem(x0=2.0, w=[1.0] * n, c=[0.0] * n) for one in some[:1]]
    together = judge._group([*some, *plain], [2, 5])
    assert len(together) == 7
    for score in together:
        own = replace(score.candidate, iterations=5)
        [alone] = judge._one(own, [score.candidate.iterations])
        assert score.left == pytest.approx(alone.left, rel=1e-9)
        assert score.right == pytest.approx(alone.right, rel=1e-12)


def test_units_and_numbers_of_a_penalty() -> None:
    theorem = load_theorem(ISTA)
    shape = next(shape for shape in penalised(theorem, 1) if shape["type"] == "huber")
    one = Candidate("own", shape, "deterministic", {"M": "1"}, {"alpha": 0.5}, 3)
    judge = Judge(theorem, float("inf"))
    plain, scaled = judge.score(one), judge.score(one.in_units(100.0, 0.1))
    assert plain is not None
    assert scaled is not None
    assert scaled.ratio == pytest.approx(plain.ratio, rel=1e-8)
    again = from_vector(one, to_vector(one))
    assert again.problem["l1"] == pytest.approx(one.problem["l1"], rel=1e-14)
    moved = from_vector(one, to_vector(one) + 1.0)
    assert moved.problem["l1"] == pytest.approx(np.e * one.problem["l1"], rel=1e-12)


def test_there_is_no_proximal_step_of_f_and_a_penalty() -> None:
    one = Candidate("own", penalised(load_theorem(ISTA), 1)[0], "deterministic", {}, {}, 1)
    columns = Columns(Layout.of([one]), np.ones(1))
    with pytest.raises(SpecError, match="no proximal step"):
        columns.implicit_step(np.ones(1), 0, None, 1.0)
    with pytest.raises(BoundlabError):
        one.build().prox(0, np.ones(1), 1.0)


MEAN = "gd takes the mean of the clients' proximal steps, not the proximal step of the mean (sampling=mean does)"
ASKED = [(1, "all", ""), (2, "all", MEAN), (5, "all", MEAN), (2, "uniform", ""), (2, "mean", "")]


@pytest.mark.parametrize(("clients", "sampling", "words"), ASKED)
def test_the_mean_of_proximal_steps_is_told_apart_from_the_proximal_step_of_the_mean(
    clients: int, sampling: str, words: str
) -> None:
    theorem = load_theorem("classics.proximal-gradient")
    assert on_composite(theorem, {"sampling": sampling}, clients) == words


def test_other_algorithms_are_what_books_call_so() -> None:
    area = lookup("algorithms", "area")
    assert area.on_composite(None, 3) == ""
