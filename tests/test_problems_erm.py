"""Empirical risks on data split over clients: constants, certificates, oracles, partitions."""

import json
import sys
from itertools import product
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boundlab.errors import AssumptionError, CertificateError, DataError, MissingExtraError, SpecError
from boundlab.problems import PROBLEMS
from boundlab.problems.erm import EmpiricalRisk
from boundlab.problems.minibatch import MiniBatch
from boundlab.problems.partitions import PARTITIONS, Partition, dirichlet, split
from boundlab.randomness import Streams
from boundlab.specs import Options, parse_spec

TYPES = {problem.id: problem for problem in PROBLEMS}
LOSSES = ("hinge", "lad-regression", "logistic", "softmax")
SEEDS = st.integers(0, 10_000)
KINDS = st.sampled_from(LOSSES)


def make(kind: str, **options: Any) -> EmpiricalRisk:
    built: EmpiricalRisk = TYPES[kind].build(Options(f"problem {kind}", options))
    return built


def from_text(text: str) -> EmpiricalRisk:
    kind, options = parse_spec(text, "problem")
    return make(kind, **options)


def tiny(kind: str, seed: int, **more: Any) -> EmpiricalRisk:
    """Give a random problem with 2–4 clients of 1–6 samples in 2 features."""
    rng = np.random.default_rng(seed)
    n, scale = int(rng.integers(2, 5)), float(rng.choice([0.3, 1.0, 3.0]))
    owners = np.concatenate([np.arange(n), rng.integers(0, n, size=2 * n + 4)])
    features = scale * rng.normal(size=(len(owners), 2))
    if kind == "lad-regression":
        targets = rng.normal(size=len(owners))
    else:
        labels = 3 if kind == "softmax" else 2
        targets = np.concatenate([np.arange(labels), rng.integers(0, labels, size=len(owners) - labels)])
    options = {"nu": float(rng.choice([0.02, 0.3])), "weights": str(rng.choice(["equal", "size", "paper"]))}
    return make(
        kind,
        features=features.tolist(),
        targets=targets.tolist(),
        owners=owners.tolist(),
        **(options | more),
    )


def point(problem: EmpiricalRisk, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(scale=2.0, size=problem.d)


def sample_gradients(problem: EmpiricalRisk, client: int, x: np.ndarray) -> np.ndarray:
    """Return the stochastic gradient for each single row of a client, read off the oracle's own steps."""
    oracle = problem.oracle(Streams(0))
    rows = []
    for row in range(int(problem.sizes[client])):
        y = x.copy()
        oracle.step(y, client, np.array([problem.offsets[client] + row]), 1.0)
        rows.append(x - y)
    return np.asarray(rows)


@given(KINDS, SEEDS)
def test_f_is_the_mean_of_the_clients(kind: str, seed: int) -> None:
    problem = tiny(kind, seed)
    x = point(problem, seed)
    mean = np.mean([problem.client_value(i, x) for i in range(problem.n)])
    assert problem.value(x) == pytest.approx(mean, rel=1e-12)
    total = sum(problem.gradient(i, x) for i in range(problem.n)) / problem.n
    np.testing.assert_allclose(problem.total.value_and_gradient(x)[1], total, rtol=1e-9, atol=1e-12)


@given(KINDS, SEEDS)
def test_every_gradient_is_a_subgradient(kind: str, seed: int) -> None:
    problem = tiny(kind, seed)
    x, y = point(problem, seed), point(problem, seed + 1)
    for i in range(problem.n):
        below = problem.client_value(i, x) + problem.gradient(i, x) @ (y - x)
        assert problem.client_value(i, y) >= below - 1e-10 * (1 + abs(below))


@given(st.sampled_from(("logistic", "softmax")), SEEDS)
def test_gradients_and_curvature_equal_central_differences(kind: str, seed: int) -> None:
    problem = tiny(kind, seed)
    x, h = point(problem, seed), 1e-5
    part = problem.part(0)
    steps = h * np.eye(problem.d)
    slope = [(part.value(x + e) - part.value(x - e)) / (2 * h) for e in steps]
    np.testing.assert_allclose(problem.gradient(0, x), slope, rtol=1e-6, atol=1e-8)
    bend = [(problem.gradient(0, x + e) - problem.gradient(0, x - e)) / (2 * h) for e in steps]
    np.testing.assert_allclose(part.hessian(x), bend, rtol=1e-5, atol=1e-7)
    v = point(problem, seed + 1)
    np.testing.assert_allclose(part.hessian_product(part.weights(x), v), part.hessian(x) @ v, atol=1e-10)


@given(KINDS, SEEDS, st.booleans())
def test_no_point_finds_a_constant_on_the_wrong_side(kind: str, seed: int, regularised: bool) -> None:
    # For smooth losses nu > 0: without it the minimum of separable data does not exist.
    nu = {"nu": 0.05 if regularised or kind in ("logistic", "softmax") else 0.0}
    problem = tiny(kind, seed, **nu)
    constants = {name: constant.value for name, constant in problem.constants().items()}
    assert ("mu" in constants) == (problem.assumptions()["strongly-convex"] == "")
    assert ("L" in constants) == (problem.assumptions()["smooth"] == "")
    assert ("B" in constants) == (problem.assumptions()["lipschitz"] == "")
    x, y = point(problem, seed), point(problem, seed + 1)
    for i in range(problem.n):
        move, turn = y - x, problem.gradient(i, y) - problem.gradient(i, x)
        rounding = 1e-12 * (1 + np.linalg.norm(problem.gradient(i, x)))
        if "L" in constants:
            assert np.linalg.norm(turn) <= constants["L"] * np.linalg.norm(move) + rounding
            top = np.linalg.eigvalsh(problem.part(i).hessian(x))[-1]
            assert top <= constants["L"] + rounding
        if "mu" in constants:
            assert turn @ move >= constants["mu"] * move @ move - rounding * np.linalg.norm(move)
        if "B" in constants:
            assert np.linalg.norm(problem.gradient(i, x)) <= constants["B"]


@given(KINDS, SEEDS, st.integers(1, 4), st.booleans())
def test_the_exact_variance_of_a_mini_batch_is_at_most_sigma(
    kind: str, seed: int, batch: int, replacement: bool
) -> None:
    problem = tiny(kind, seed, nu=0.1, batch=batch, replacement=replacement)
    sigma = problem.constants()["sigma"].value
    for scale in (0.0, 1.0, 50.0):
        x = scale * point(problem, seed)
        for i in range(problem.n):
            single = sample_gradients(problem, i, x)
            np.testing.assert_allclose(single.mean(axis=0), problem.gradient(i, x), rtol=1e-9, atol=1e-10)
            population = float(((single - single.mean(axis=0)) ** 2).sum(axis=1).mean())
            s = int(problem.sizes[i])
            b = batch if replacement else min(batch, s)
            factor = 1 / b if replacement else (s - b) / (b * max(s - 1, 1))
            assert np.sqrt(population * factor) <= sigma * (1 + 1e-12) + 1e-12


def test_the_variance_formula_without_replacement_is_that_of_all_subsets() -> None:
    problem = tiny("logistic", 1, batch=2, replacement=False)
    i = int(np.argmax(problem.sizes))
    single = sample_gradients(problem, i, point(problem, 3))
    s = len(single)
    pairs = [(single[j] + single[k]) / 2 for j in range(s) for k in range(j)]
    exact = ((np.asarray(pairs) - single.mean(axis=0)) ** 2).sum(axis=1).mean()
    population = ((single - single.mean(axis=0)) ** 2).sum(axis=1).mean()
    assert exact == pytest.approx(population / 2 * (s - 2) / (s - 1), rel=1e-10)


@given(KINDS, SEEDS, st.sampled_from(["float32", "float64"]))
def test_a_mini_batch_step_is_the_mean_of_its_rows(kind: str, seed: int, dtype: str) -> None:
    problem = tiny(kind, seed, batch=3, dtype=dtype)
    x = point(problem, seed).astype(problem.dtype)
    rows = problem.oracle(Streams(seed)).draws(np.array([1]), np.array([4]), 1)[0][0]
    assert (problem.offsets[1] <= rows).all()
    assert (rows < problem.offsets[1] + problem.sizes[1]).all()
    mean = sample_gradients(problem, 1, x)[rows - problem.offsets[1]].mean(axis=0)
    y = x.copy()
    problem.oracle(Streams(seed)).step(y, 1, rows, 0.01)
    tolerance = 1e-12 if dtype == "float64" else 2e-5
    np.testing.assert_allclose(y, x - 0.01 * mean, rtol=tolerance, atol=tolerance)
    assert y.dtype == problem.dtype


def test_full_batches_have_no_variance() -> None:
    problem = make("logistic", batch="full")
    assert problem.constants()["sigma"].as_dict() == {"value": 0.0, "side": "exact", "how": "full gradients"}
    x = np.zeros(problem.d)
    problem.oracle(Streams(0)).step(x, 2, None, 0.5)
    np.testing.assert_allclose(x, -0.5 * problem.gradient(2, np.zeros(problem.d)), rtol=1e-14)


@pytest.mark.parametrize("replacement", [True, False])
def test_batches_depend_on_their_key_alone(replacement: bool) -> None:
    problem = make("logistic", batch=7, replacement=replacement, clients=5)
    clients, updates = np.arange(60) % 5, np.arange(60) // 5
    whole = problem.oracle(Streams(3, 1)).draws(clients, updates, 4)
    for j in (0, 13, 59):
        alone = problem.oracle(Streams(3, 1)).draws(clients[j : j + 1], updates[j : j + 1], 4)[0]
        assert np.array_equal(alone, whole[j])
    assert not np.array_equal(whole[0], problem.oracle(Streams(3, 2)).draws(clients[:1], updates[:1], 4)[0])
    if not replacement:
        assert all(len(set(rows.tolist())) == 7 for update in whole for rows in update)


def test_without_replacement_every_subset_is_equally_likely() -> None:
    # Floyd's algorithm picks from 3, then from 4: the 12 cells of that lattice give each pair of 4 rows twice.
    oracle = MiniBatch(
        "hinge", np.zeros((4, 1)), np.ones(4), np.array([0]), np.array([4]), np.ones(1), 0.0, 1, 2, False, Streams(0)
    )  # fmt: skip
    cells = np.array([[(j + 0.5) / 3, (k + 0.5) / 4] for j, k in product(range(3), range(4))])[:, None, :]
    drawn = oracle._distinct(cells, np.full(12, 4), np.zeros(12, dtype=np.int64))
    counts: dict[tuple[int, ...], int] = {}
    for rows in drawn:
        key = tuple(sorted(rows[0].tolist()))
        counts[key] = counts.get(key, 0) + 1
    assert counts == {(j, k): 2 for k in range(4) for j in range(k)}


def test_a_batch_larger_than_a_client_takes_all_its_rows_once() -> None:
    problem = tiny("logistic", 5, batch=50, replacement=False)
    for i in range(problem.n):
        rows = problem.oracle(Streams(0)).draws(np.array([i]), np.array([0]), 2)[0]
        assert rows.shape == (2, problem.sizes[i])
        x = point(problem, 1)
        y = x.copy()
        problem.oracle(Streams(0)).step(y, i, rows[0], 1.0)
        np.testing.assert_allclose(x - y, problem.gradient(i, x), rtol=1e-9, atol=1e-11)
    assert problem.constants()["sigma"].value == 0.0


@given(SEEDS)
@settings(max_examples=10)
def test_the_certificates_of_logistic_regression_bracket_forty_digits(seed: int) -> None:
    problem = tiny("logistic", seed)
    best, constants = problem.optimum(), problem.constants()

    def exact(risk: Any) -> Any:
        def slope(*x: Any) -> list[Any]:
            out = [mpmath.mpf(risk.nu) * component for component in x]
            for a, y, weight in zip(risk.X.tolist(), risk.y.tolist(), risk.omega.tolist(), strict=True):
                margin = y * sum(mpmath.mpf(c) * component for c, component in zip(a, x, strict=True))
                pull = -mpmath.mpf(weight) * y / (1 + mpmath.exp(margin))
                out = [total + pull * mpmath.mpf(c) for total, c in zip(out, a, strict=True)]
            return out

        start = best.x.tolist() if risk is problem.total else risk_start(risk)
        return mpmath.matrix(mpmath.findroot(slope, start))

    def risk_start(risk: Any) -> list[float]:
        from boundlab.problems.smooth import minimise

        start: list[float] = minimise(risk, np.zeros(risk.d), lambda _, norm: norm < 1e-12)[0].tolist()
        return start

    with mpmath.workdps(40):
        x = exact(problem.total)
        assert mpmath.norm(mpmath.matrix(best.x.tolist()) - x) <= best.distance
        assert mpmath.norm(mpmath.matrix(problem.x0.tolist()) - x) <= constants["R"].value
        away = max(mpmath.norm(x - exact(problem.part(i))) for i in range(problem.n))
        assert away <= constants["zeta"].value
        assert constants["zeta"].value <= away * (1 + mpmath.mpf("0.003")) + 1e-6
        total = problem.total
        value = mpmath.mpf(total.nu) / 2 * mpmath.norm(x) ** 2
        for a, y, weight in zip(total.X.tolist(), total.y.tolist(), total.omega.tolist(), strict=True):
            margin = y * sum(mpmath.mpf(c) * x[k] for k, c in enumerate(a))
            value += mpmath.mpf(weight) * mpmath.log(1 + mpmath.exp(-margin))
        assert abs(best.value - value) <= best.gap + 1e-15


@given(SEEDS)
@settings(max_examples=10)
def test_the_certificate_of_softmax_holds_in_extended_precision(seed: int) -> None:
    problem = tiny("softmax", seed)
    best, total = problem.optimum(), problem.total
    X, omega = total.X.astype(np.longdouble), total.omega.astype(np.longdouble)
    x = best.x.astype(np.longdouble)
    inverse = np.linalg.inv(total.hessian(best.x))
    for _ in range(8):  # a fixed float64 inverse, gradients in 64-bit mantissas: converges past float64
        z = X @ x.reshape(2, -1)
        p = np.exp(z - z.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        p[np.arange(len(p)), total.y] -= 1
        x = x - inverse @ ((X.T @ (p * omega[:, None])).ravel() + np.longdouble(total.nu) * x)
    assert best.distance is not None
    assert np.linalg.norm((best.x - x).astype(float)) <= best.distance
    norms = problem.gradient_norms_at_optimum()
    assert norms is not None
    for i in range(problem.n):
        assert np.linalg.norm(problem.gradient(i, x.astype(float))) <= norms[i]
        assert problem.minimisers[1][i] >= 0


@given(st.sampled_from(("hinge", "lad-regression")), SEEDS, st.booleans())
@settings(max_examples=25)
def test_the_dual_bound_brackets_an_independent_solver(kind: str, seed: int, regularised: bool) -> None:
    problem = tiny(kind, seed, nu=0.1 if regularised else 0.0)
    best = problem.optimum()
    assert 0 <= best.gap <= 1e-4 * max(1.0, best.value)
    rng = np.random.default_rng(seed)
    if regularised:
        assert best.distance == pytest.approx(np.sqrt(2 * best.gap / problem.total.nu))
        for scale in (1e-4, 1e-2, 1.0):
            for _ in range(20):
                x = best.x + scale * rng.normal(size=problem.d)
                assert problem.value(x) >= best.value - best.gap
        return
    from scipy.optimize import linprog

    S, p = problem.X.shape
    rows, offset = (problem.X, -problem.y) if kind == "lad-regression" else (-problem.y[:, None] * problem.X, 1.0)
    sides = (1.0, -1.0) if kind == "lad-regression" else (1.0,)
    matrix = np.vstack([np.hstack([side * rows, -np.eye(S)]) for side in sides])
    right = np.concatenate([np.broadcast_to(-side * offset, S) for side in sides])
    cost = np.concatenate([np.zeros(p), problem.total.omega])
    limits = [(None, None)] * p + [(0, None)] * S
    found = linprog(cost, A_ub=matrix, b_ub=right, bounds=limits, method="highs")
    assert best.value - best.gap - 1e-9 <= found.fun <= best.value + 1e-9


def test_without_regulariser_a_certificate_exists_only_where_classes_overlap() -> None:
    overlap = {"features": [[1.0], [2.0], [-1.0], [1.5]], "targets": [1.0, 0.0, 0.0, 1.0], "owners": [0, 0, 1, 1]}
    problem = make("logistic", nu=0, bias="yes", **overlap)
    best = problem.optimum()
    assert best.gap < 1e-12
    assert best.distance is not None
    assert best.distance < 1e-9
    assert "self-concordance" in best.how
    assert problem.constants()["B"].value > 0
    with pytest.raises(CertificateError, match="set nu > 0"):
        make("logistic", nu=0, solver="newton", **(overlap | {"targets": [1.0, 1.0, 0.0, 1.0]})).optimum()


@given(st.sampled_from(("logistic", "softmax")), SEEDS)
@settings(max_examples=10)
def test_weights_scale_what_they_should(kind: str, seed: int) -> None:
    equal, size, paper = (tiny(kind, seed, weights=word, batch=2) for word in ("equal", "size", "paper"))
    x = point(equal, seed)
    shares = equal.sizes / equal.sizes.sum()
    for i in range(equal.n):
        plain = equal.client_value(i, x)
        assert size.client_value(i, x) == pytest.approx(equal.n * shares[i] * plain, rel=1e-12)
        assert paper.client_value(i, x) == pytest.approx(shares[i] * plain, rel=1e-12)
    assert paper.value(x) == pytest.approx(size.value(x) / equal.n, rel=1e-12)
    for name in ("L", "mu", "sigma"):
        ratio = size.constants()[name].value / paper.constants()[name].value
        assert ratio == pytest.approx(equal.n, rel=1e-12)
    assert size.constants()["R"].value == pytest.approx(paper.constants()["R"].value, rel=1e-5, abs=1e-5)
    assert size.constants()["zeta"].value == pytest.approx(paper.constants()["zeta"].value, rel=5e-3, abs=1e-5)


@pytest.mark.parametrize("kind", ["logistic", "softmax"])
def test_clarabel_and_newton_find_the_same_point(kind: str) -> None:
    first, second = (make(kind, data="digits", samples=60, solver=word) for word in ("clarabel", "newton"))
    one, two = first.optimum(), second.optimum()
    assert one.how.startswith("Clarabel, Newton")
    assert two.how.startswith("Newton")
    assert one.distance is not None
    assert two.distance is not None
    assert np.linalg.norm(one.x - two.x) <= one.distance + two.distance
    assert one.gap < 1e-11


def test_the_default_problems_solve_with_narrow_certificates() -> None:
    for kind in LOSSES:
        problem = make(kind)
        best = problem.optimum()
        assert best.gap <= 1e-4
        assert problem.n == 10
        assert set(problem.constants()) >= {"sigma", "R"}
    softmax = make("softmax", partition="dirichlet", a=0.1, batch=32)
    best = softmax.optimum()
    assert (softmax.n, softmax.d) == (10, 650)
    assert best.gap < 1e-10
    assert best.distance is not None
    assert best.distance < 1e-6


def test_large_dimensions_take_lbfgs_to_the_same_certificate() -> None:
    problem = make("softmax", data="digits", samples=120, nu=0.1)
    from boundlab.problems import smooth

    before = problem.optimum().x
    x, norm = smooth._lbfgs(problem.total, np.zeros(problem.d), lambda _, norm: norm < 1e-6), 0.0
    assert np.linalg.norm(x - before) <= 2e-5
    gradient = problem.total.value_and_gradient(x)[1]
    norm = float(np.linalg.norm(gradient))
    step = smooth._conjugate_gradients(problem.total, x, gradient, norm)
    assert np.linalg.norm(problem.total.value_and_gradient(x + step)[1]) < 0.1 * norm


def test_smoothed_lbfgs_reaches_the_same_value_as_the_program() -> None:
    one, two = (make("hinge", nu=0.1, samples=200, solver=word) for word in ("clarabel", "newton"))
    assert two.optimum().how.startswith("L-BFGS")
    assert abs(one.optimum().value - two.optimum().value) <= one.optimum().gap + two.optimum().gap
    assert two.optimum().gap < 1e-4


def test_data_too_large_for_a_linear_program_are_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from boundlab.problems import piecewise

    monkeypatch.setattr(piecewise, "CLARABEL_LIMIT", 6500)
    with pytest.raises(CertificateError, match="set nu > 0 or samples=100"):
        make("hinge").optimum()


def test_assumptions_name_what_would_fit() -> None:
    with pytest.raises(AssumptionError, match=r"lipschitz .* regulariser's gradient is unbounded; set nu=0"):
        make("logistic").require("lipschitz", "area.theorem8")
    with pytest.raises(AssumptionError, match=r"smooth .* hinge has a kink; try logistic"):
        make("hinge").require("smooth", "area.theorem7.explicit")
    with pytest.raises(AssumptionError, match=r"strongly-convex .* set nu > 0"):
        make("lad-regression").require("strongly-convex", "area.theorem7.explicit")


@pytest.mark.parametrize(
    "text",
    [
        "softmax:samples=200,clients=4,partition=dirichlet,a=0.5,batch=8,dtype=float32,x0=uniform",
        "logistic:clients=3,partition=class,shards=1,weights=paper,replacement=no,batch=5,normalise=yes",
        "hinge:positive=[0,1,2],partition=dual-dirichlet,a1=20,samples=300,seed=4,bias=no",
        "hinge:positive=even,samples=300,nu=0.1,scale=none,solver=newton,batch=full",
        "lad-regression:x0=0.5,partition=dirichlet",
    ],
)
def test_a_problem_rebuilt_from_its_json_is_the_same(text: str) -> None:
    problem = from_text(text)
    spec = json.loads(json.dumps(problem.spec()))
    again = make(spec.pop("type"), **spec)
    for name in ("X", "y", "sizes", "x0"):
        assert np.array_equal(getattr(again, name), getattr(problem, name))
    assert again.spec() == problem.spec()
    for name in ("nu", "weights", "batch", "replacement", "solver"):
        assert getattr(again, name) == getattr(problem, name)


def test_inline_data_are_rebuilt_too() -> None:
    problem = tiny("softmax", 3)
    spec = json.loads(json.dumps(problem.spec()))
    again = make(spec.pop("type"), **spec)
    x = point(problem, 0)
    assert [again.client_value(i, x) for i in range(again.n)] == [problem.client_value(i, x) for i in range(again.n)]


def test_a_uniform_start_lies_in_the_half_cube() -> None:
    x0 = make("softmax", x0="uniform", samples=100, clients=2).x0
    assert np.abs(x0).max() < 0.5
    assert abs(float(x0.mean())) < 6 * np.sqrt(1 / 12 / len(x0))


@given(st.sampled_from(PARTITIONS), st.integers(1, 12), st.integers(0, 500))
def test_every_partition_gives_every_client_a_sample(how: Partition, n: int, seed: int) -> None:
    labels = np.random.default_rng(seed).integers(0, 4, size=200)
    owners = split(how, labels, n, seed, a=0.2)
    assert sorted(set(owners.tolist())) == list(range(n))
    assert np.array_equal(owners, split(how, labels, n, seed, a=0.2))


def test_iid_clients_have_equal_sizes_and_class_clients_few_labels() -> None:
    labels = np.repeat(np.arange(10), 20)
    assert np.bincount(split("iid", labels, 10, 0)).tolist() == [20] * 10
    owners = split("class", labels, 10, 0, shards=2)
    assert np.bincount(owners).tolist() == [20] * 10
    assert max(len(set(labels[owners == i].tolist())) for i in range(10)) <= 2
    assert min(len(set(labels[split("iid", labels, 10, 0) == i].tolist())) for i in range(10)) > 2


def test_a_large_dirichlet_parameter_is_even_and_a_small_one_is_not() -> None:
    labels = np.repeat(np.arange(10), 100)

    def spread(a: float) -> float:
        owners = split("dirichlet", labels, 10, 0, a=a)
        table = np.zeros((10, 10))
        np.add.at(table, (labels, owners), 1.0)
        return float((table / 100).max(axis=1).mean())

    assert spread(1e5) < 0.12
    assert spread(0.1) > 0.5


@given(st.floats(0.01, 20), SEEDS)
@settings(max_examples=20)
def test_dirichlet_rows_have_the_right_mean_and_never_underflow(a: float, seed: int) -> None:
    rows = dirichlet(np.full((600, 4), a), Streams(seed), 5)
    assert np.isfinite(rows).all()
    np.testing.assert_allclose(rows.sum(axis=1), 1.0, rtol=1e-12)
    # Variance of a component: (1/4)(3/4)/(4a + 1); six standard deviations of the mean of 600.
    limit = 6 * np.sqrt(3 / 16 / (4 * a + 1) / 600)
    assert np.abs(rows.mean(axis=0) - 0.25).max() < limit
    spread = 3 / 16 / (4 * a + 1)
    assert rows.var(axis=0).mean() == pytest.approx(spread, rel=0.35)


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("logistic:clients=0", SpecError, "clients must be ≥ 1, got 0"),
        ("logistic:clients=1000", SpecError, "1000 clients need at least 1000 samples, the data has 569"),
        ("softmax:samples=12,clients=10,partition=class", SpecError, "at least 20 samples"),
        ("softmax:samples=100,clients=95,partition=dirichlet,a=0.01", SpecError, "take a larger a"),
        ("softmax:samples=99999", SpecError, "samples=99999, but digits has 1797"),
        ("softmax:partition=random", SpecError, "partition must be one of"),
        ("softmax:a=0.5", SpecError, "add partition=dirichlet"),
        ("softmax:partition=dirichlet,a=0", SpecError, "a must be ≥ 0.001"),
        ("softmax:batch=-1", SpecError, "batch must be between 0 and 1000000, got -1"),
        ("softmax:batch=1.5", SpecError, "batch must be an integer"),
        ("softmax:nu=-1", SpecError, "nu must be ≥ 0"),
        ("softmax:weights=none", SpecError, "weights must be one of equal, size, paper"),
        ("softmax:data=digit", SpecError, "did you mean digits?"),
        ("softmax:data=diabetes", DataError, "they are values, not classes"),
        ("softmax:positive=3", SpecError, "has no option 'positive'"),
        ("hinge:positive=77", SpecError, "'77' is not a class of digits"),
        ("hinge:positive=[0,1,2,3,4,5,6,7,8,9]", DataError, "has a single class"),
        ("hinge:owners=[0,1]", SpecError, "owners goes with features"),
        ("hinge:x0=[1,2]", SpecError, "x0 has 2 entries, the problem has dimension 65"),
        ("logistic:bach=3", SpecError, "did you mean batch?"),
    ],
)
def test_bad_options_are_answered_in_one_line(text: str, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind) as caught:
        from_text(text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"targets": [1.0]}, "3 rows of features, but 1 targets"),
        ({"owners": [0, 0, 2]}, "client 1 owns no sample"),
        ({"owners": [0, 1]}, "for each of 3 samples"),
        ({"owners": [0, 0.5, 1]}, "one client number"),
        ({"partition": "iid"}, "owners or a partition, not both"),
        ({"data": "digits"}, "give data or features and targets, not both"),
        ({"clients": 3}, "clients=3, but owners names 2 clients"),
        ({"features": [[1.0], [2.0], ["x"]]}, "must be a number, got 'x'"),
    ],
)
def test_bad_inline_data_are_refused(changes: dict[str, Any], message: str) -> None:
    inline = {"features": [[1.0], [2.0], [3.0]], "targets": [0.0, 1.0, 0.0], "owners": [0, 0, 1]}
    with pytest.raises(SpecError) as caught:
        make("logistic", **(inline | changes))
    assert message in str(caught.value)


def test_a_missing_solver_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cvxpy", None)
    with pytest.raises(MissingExtraError, match=r'pip install "boundlab\[solve\]"'):
        make("hinge", samples=50, clients=2).optimum()


def test_mnist_has_the_dimension_of_the_paper(data_folder: Path) -> None:
    folder = f"idx:{data_folder / 'mnist'}"
    problem = make(
        "softmax", data=folder, samples=600, clients=5, partition="dirichlet", batch=32, nu=0.1, dtype="float32"
    )
    assert problem.d == 7850
    assert problem.x0.dtype == np.float32
    best = problem.optimum()
    assert best.how.startswith("L-BFGS")
    assert best.gap < 1e-8
    constants = problem.constants()
    assert constants["zeta"].value > 0
    assert constants["L"].value > constants["mu"].value
