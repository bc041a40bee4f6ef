"""The displays of AFL-DGA's repaired theorems: both sides, over every sign of the noise, on random schedules."""

from functools import cache

import afl_dga_makers as afl
import numpy as np
import pytest
from afl_dga_makers import Floats, Run, Waves, inner, size
from paper_theorems import AFL_DGA as BY_ID
from theory_pages import below, shows

from boundlab.algorithms.afl_dga import AFL_DGA
from boundlab.options import Options
from boundlab.tape import RecordAt

SEEDS = range(16)


def read_off(rows: list[afl.Row], clients: int) -> dict[str, float]:
    """Return the statistics of a schedule, by symbol."""
    parameters = AFL_DGA.read(Options("afl_dga", {"eta": 1.0, "scaling": "analysis"}))
    events = AFL_DGA.read_events([[k, *row] for k, row in enumerate(rows, 1)], clients, "case")
    tape = AFL_DGA.schedule(parameters, events, clients, RecordAt(), 10**6)
    return dict(AFL_DGA.quantities(parameters, tape, int(tape.version[-1]), {}))


class Case:
    """A run, what is read off its tape, and G, σ, L, η, x, Δ."""

    def __init__(self, f: Waves, rows: list[afl.Row], x: float) -> None:
        self.f, self.x, self.L, self.eta = f, x, f.smoothness, x / f.smoothness
        self.run: Run = afl.follow(f, rows, self.eta, np.array([1.1, -0.4]))
        self.G = max(size(g) for g in self.run.gradient)
        self.T, self.N, self.sigma = self.run.rounds, f.clients, f.sigma
        self.Delta = float(f.value(self.run.w[0]).mean() - f.value(self.run.w[-1]).mean())
        self.read = read_off(rows, self.N)
        self.M, self.S, self.Q = (int(self.read[name]) for name in ("M_own", "S", "Q_age"))

    @property
    def left(self) -> float:
        """(1/T) Σ_t |∇f(w^t)|²."""
        return float(np.mean([size(self.f.mean_slope(w)) ** 2 for w in self.run.w[:-1]]))

    def registered(self, name: str) -> float:
        values = {"L": self.L, "T": self.T, "eta": self.eta, "n": self.N, "G": self.G, "sigma": self.sigma}
        return float(BY_ID[name].evaluate({**self.read, **values, "F0": max(self.Delta, 0.0)}).total)

    def is_bounded_by(self, name: str, right: float) -> bool:
        """Whether a number is a registered bound, and the left side below it."""
        return below(self.left, right) and self.registered(name) == pytest.approx(right, rel=1e-12)

    def round(self, t: int) -> tuple[float, float]:
        """Return the sides of (AD8)."""
        v = self.run.mean_slope(t)
        left = size(self.f.mean_slope(self.run.w[t])) ** 2 + size(v) ** 2
        right = self.fall(t) + self.apart(t) - 2 * self.correlation(t) + self.x * size(self.run.average[t]) ** 2
        return left, right

    def fall(self, t: int) -> float:
        """(2/η)·(f(w^t) − f(w^{t+1}))."""
        return 2 / self.eta * float(self.f.value(self.run.w[t]).mean() - self.f.value(self.run.w[t + 1]).mean())

    @property
    def initial(self) -> float:
        return 2 * max(self.Delta, 0.0) / (self.eta * self.T)

    def apart(self, t: int) -> float:
        """|∇f(w^t) − v^t|²."""
        return size(self.f.mean_slope(self.run.w[t]) - self.run.mean_slope(t)) ** 2

    def correlation(self, t: int) -> float:
        """E⟨∇f(w^t), n^t⟩."""
        return inner(self.f.mean_slope(self.run.w[t]), self.run.combined(t, self.run.noise))


def rows_of(seed: int) -> tuple[np.random.Generator, list[afl.Row], int]:
    rng = np.random.default_rng(seed)
    clients = 1 + seed % 3
    return rng, afl.random_rows(rng, clients, rounds=4, steps=9), clients


@cache
def case(seed: int, x: float, noisy: bool = True) -> Case:
    rng, rows, clients = rows_of(seed)
    return Case(afl.waves(rng, clients, sigma=0.8 if noisy else 0.0), rows, x)


@pytest.mark.sweep(5)
@shows("afl_dga", "AD1", "AD2", "AD3")
@pytest.mark.parametrize("seed", SEEDS)
def test_where_gradients_are_taken(seed: int) -> None:
    one = case(seed, 0.5)
    run, eta = one.run, one.eta
    for t, uses in enumerate(run.uses):
        assert sum(use.weight for use in uses) == pytest.approx(1)
        assert run.average[t] == pytest.approx(run.mean_slope(t) + run.combined(t, run.noise), abs=1e-12)
        assert run.w[t + 1] == pytest.approx(run.w[t] - eta * run.average[t], abs=1e-12)
    nothing = np.zeros_like(run.w[0])
    for model, heard, own in run.models:
        sums = sum((run.average[h] for h in heard), nothing) + sum((run.gradient[e] for e in own), nothing)
        assert model == pytest.approx(run.w[0] - eta * sums, abs=1e-12)
    for t, uses in enumerate(run.uses):
        for use in uses:
            missing, own_steps = (run.average[h] for h in use.missing), (run.gradient[e] for e in use.own)
            right = -eta * sum(missing, nothing) + eta * sum(own_steps, nothing)
            assert run.w[t] - run.at[use.step] == pytest.approx(right, abs=1e-12)


@pytest.mark.sweep(2)
@shows("afl_dga", "AD3")
@pytest.mark.parametrize("seed", SEEDS)
def test_the_statistics_are_those_of_the_argument(seed: int) -> None:
    one = case(seed, 0.5)
    every = [(t, use) for t, uses in enumerate(one.run.uses) for use in uses]
    assert max(len(use.own) for _, use in every) == one.M
    assert max((t - min(use.missing) for t, use in every if use.missing), default=0) == one.S
    assert max(use.age for _, use in every) == one.Q
    both = sum(use.weight * (len(use.missing) + len(use.own)) ** 2 for _, use in every) / one.T
    assert one.read["SM2"] == pytest.approx(both)
    assert one.read["reuse"] == pytest.approx(sum(use.weight * use.age for _, use in every) / one.T)
    grouped = 0.0
    for uses in one.run.uses:
        ages = dict.fromkeys((one.run.client[use.step], use.age) for use in uses)
        counts = np.bincount([age for _, age in ages])
        grouped += float((np.arange(len(counts)) * np.sqrt(counts)).sum()) / one.N / one.T
    assert one.read["reuse_n"] == pytest.approx(grouped)


def test_the_schedules_are_demanding() -> None:
    found = [case(seed, 0.5) for seed in SEEDS]
    assert max(one.S for one in found) >= 3
    assert max(one.M for one in found) >= 3
    assert max(one.Q for one in found) >= 2
    assert {one.N for one in found} == {1, 2, 3}


@pytest.mark.sweep(2)
@shows("afl_dga", "AD4")
@pytest.mark.parametrize("seed", SEEDS)
def test_sizes(seed: int) -> None:
    one = case(seed, 0.5)
    run, reach = one.run, one.eta * one.G
    for t, uses in enumerate(run.uses):
        assert below(size(run.average[t]), one.G)
        assert below(size(run.mean_slope(t)), one.G)
        for r in range(t + 1):
            assert below(size(run.w[t] - run.w[r]), (t - r) * reach)
        for use in uses:
            assert below(size(run.w[t] - run.at[use.step]), reach * (len(use.missing) + len(use.own)))


@shows("afl_dga", "AD4", "AD10")
def test_equal_gradients_make_distances_as_large_as_they_can_be() -> None:
    # All but linear: a wave that is 10⁶ times as long as the way.
    each = np.ones((2, 1))
    f = Waves(1e6 * each, np.tile([1e-6, 0.0], (2, 1, 1)), np.pi / 2 * each, 0.0, 0.0)
    rows = afl.in_turns(6)
    run = afl.follow(f, rows, 0.1, np.zeros(2))
    far = [[size(run.w[t] - run.at[use.step]) for use in uses] for t, uses in enumerate(run.uses)]
    missing = [[0.1 * len(use.missing) for use in uses] for uses in run.uses]
    assert np.concatenate(far) == pytest.approx(np.concatenate(missing), abs=1e-6)
    weights = [[use.weight / run.rounds for use in uses] for uses in run.uses]
    mean = np.concatenate(weights) @ np.concatenate(far) ** 2
    assert mean == pytest.approx(0.1**2 * read_off(rows, 2)["SM2"], rel=1e-4)


@pytest.mark.sweep(2)
@shows("afl_dga", "AD5")
@pytest.mark.parametrize("seed", SEEDS)
def test_noises_are_orthogonal(seed: int) -> None:
    one = case(seed, 0.5)
    run = one.run
    for t, uses in enumerate(run.uses):
        for age in (None, *{use.age for use in uses}):
            part = [use for use in uses if age is None or use.age == age]
            noise = size(run.combined(t, run.noise, age)) ** 2
            assert noise == pytest.approx(sum(use.weight**2 * size(run.noise[use.step]) ** 2 for use in part))
            clients = len({run.client[use.step] for use in part})
            assert below(noise, clients * one.sigma**2 / one.N**2)
            if len(part) == clients:  # one local step each
                assert noise == pytest.approx(clients * one.sigma**2 / one.N**2)


@pytest.mark.sweep(2)
@shows("afl_dga", "AD6", "AD7")
@pytest.mark.parametrize("seed", SEEDS)
def test_noise_that_is_used_again(seed: int) -> None:
    one = case(seed, 0.5)
    run, f = one.run, one.f
    slopes = [f.mean_slope(w) for w in run.w]
    for t, uses in enumerate(run.uses):
        for use in uses:
            assert inner(slopes[t - use.age], run.noise[use.step]) == pytest.approx(0, abs=1e-12)
            moved = one.L * size(run.w[t] - run.w[t - use.age])
            assert below(abs(inner(slopes[t], run.noise[use.step])), moved * one.sigma)
        for age in {use.age for use in uses}:
            part = run.combined(t, run.noise, age)
            clients = len({run.client[use.step] for use in uses if use.age == age})
            assert below(abs(inner(slopes[t], part)), one.L * size(run.w[t] - run.w[t - age]) * size(part))
            assert below(size(part), one.sigma * clients**0.5 / one.N)


def test_noise_that_is_used_again_is_correlated_with_the_gradient_of_its_later_rounds() -> None:
    assert max(abs(case(seed, 0.5).correlation(t)) for seed in SEEDS for t in range(4)) > 0.01


@pytest.mark.sweep(3)
@shows("afl_dga", "AD8", "AD9")
@pytest.mark.parametrize("x", [0.2, 1.5])
@pytest.mark.parametrize("seed", SEEDS)
def test_one_round(seed: int, x: float) -> None:
    one = case(seed, x)
    for t, uses in enumerate(one.run.uses):
        assert below(*one.round(t))
        far = sum(use.weight * size(one.run.w[t] - one.run.at[use.step]) ** 2 for use in uses)
        assert below(one.apart(t), one.L**2 * far)


@shows("afl_dga", "AD8", "AD9")
def test_a_parabola_makes_one_round_an_equality() -> None:
    _, rows, clients = rows_of(0)
    assert clients == 1
    one = Case(afl.parabola(1, sigma=0.5), rows, 0.7)
    for t, uses in enumerate(one.run.uses):
        left, right = one.round(t)
        assert left == pytest.approx(right)
        if len(uses) == 1:
            far = size(one.run.w[t] - one.run.at[uses[0].step]) ** 2
            assert one.apart(t) == pytest.approx(one.L**2 * far)


@pytest.mark.sweep(4)
@shows("afl_dga", "AD10", "AD11")
@pytest.mark.parametrize("x", [0.05, 0.5, 3.0])
@pytest.mark.parametrize("seed", SEEDS)
def test_r2(seed: int, x: float) -> None:
    one = case(seed, x)
    stale = x**2 * one.G**2 * one.read["SM2"]
    assert below(np.mean([one.apart(t) for t in range(one.T)]), stale)
    right = one.initial + x * one.G**2 + stale + 2 * x * one.G * one.sigma * one.read["reuse"]
    assert one.is_bounded_by("afl_dga.r2", right)


@pytest.mark.sweep(3)
@shows("afl_dga", "AD12")
@pytest.mark.parametrize("x", [0.3, 1.0])
@pytest.mark.parametrize("seed", SEEDS)
def test_r2n(seed: int, x: float) -> None:
    one = case(seed, x, noisy=False)
    right = one.initial + x**2 * one.G**2 * one.read["SM2"]
    assert one.is_bounded_by("afl_dga.r2n", right)


@pytest.mark.sweep(3)
@shows("afl_dga", "AD13", "AD14")
@pytest.mark.parametrize("x", [0.1, 0.5])
@pytest.mark.parametrize("seed", SEEDS)
def test_r2b(seed: int, x: float) -> None:
    one = case(seed, x)
    for t in range(one.T):
        v = size(one.run.mean_slope(t)) ** 2
        assert below(x * size(one.run.average[t]) ** 2, v + 2 * x * one.sigma**2 / one.N)
    right = one.initial + 2 * x * one.sigma**2 / one.N + x**2 * one.G**2 * one.read["SM2"]
    right += 2 * x * one.G * one.sigma * one.read["reuse_n"]
    assert one.is_bounded_by("afl_dga.r2b", right)


@pytest.mark.sweep(2)
@shows("afl_dga", "AD15", "AD16")
@pytest.mark.parametrize("curved", [False, True])
@pytest.mark.parametrize("x", [0.3, 1.0])
@pytest.mark.parametrize("clients", [1, 2, 3])
def test_r0(clients: int, x: float, curved: bool) -> None:
    f = afl.waves(np.random.default_rng(clients), clients, 0.8) if curved else afl.parabola(clients, 0.8)
    one = Case(f, afl.together(clients, 3), x)
    noise = x * one.sigma**2 / one.N
    for t in range(one.T):
        assert one.apart(t) == pytest.approx(0, abs=1e-20)
        fall = one.fall(t)
        v, n = size(one.run.mean_slope(t)) ** 2, size(one.run.combined(t, one.run.noise)) ** 2
        left = size(f.mean_slope(one.run.w[t])) ** 2
        assert below(left, fall + (x - 1) * v + x * n)
        assert below(fall + (x - 1) * v + x * n, fall + noise)
    right = 2 * one.Delta / (one.eta * one.T) + noise
    assert below(one.left, right)
    if not curved and x == 1.0:  # attained
        assert one.left == pytest.approx(right)
    if one.Delta > 0:
        assert one.registered("afl_dga.r0") == pytest.approx(right, rel=1e-12)


def squares_of_means(one: Case) -> Floats:
    """|v^h|² of all rounds."""
    return np.array([size(one.run.mean_slope(t)) ** 2 for t in range(one.T)])


@pytest.mark.sweep(3)
@shows("afl_dga", "AD17", "AD18", "AD20")
@pytest.mark.parametrize("share", [0.4, 1.0])
@pytest.mark.parametrize("seed", [*SEEDS, -1])
def test_r1(seed: int, share: float) -> None:
    # −1: two clients that take turns, M = 0 and S = 2.
    rng, rows, clients = rows_of(seed) if seed >= 0 else (np.random.default_rng(9), afl.in_turns(6), 2)
    f = afl.waves(rng, clients, sigma=0.0)
    read = read_off(rows, clients)
    twice = 2.0 if read["M_own"] else 1.0
    x = share / (1 + twice**0.5 * read["S"])
    one = Case(f, rows, x)
    assert seed >= 0 or (one.M, one.S) == (0, 2)
    v, local = squares_of_means(one), 2 * one.M**2 * one.G**2
    for t, uses in enumerate(one.run.uses):
        for use in uses:
            missing = sum(v[h] for h in use.missing)
            far = size(one.run.w[t] - one.run.at[use.step]) ** 2
            assert below(far, one.eta**2 * (twice * one.S * missing + local))
    apart = sum(one.apart(t) for t in range(one.T))
    assert below(apart, twice * x**2 * one.S**2 * v.sum() + x**2 * local * one.T)
    right = one.initial + x**2 * local
    assert one.is_bounded_by("afl_dga.r1", right)


@shows("afl_dga", "AD19", "AD24")
def test_the_steps_are_small_enough_for_the_coefficients() -> None:
    S = np.arange(0, 200.0)
    for u in (S, np.sqrt(2) * S):
        assert below(1 / (1 + u) + (u / (1 + u)) ** 2, (1 + u + u**2) / (1 + u) ** 2)
        assert below((1 + u + u**2) / (1 + u) ** 2, 1.0)
    x = 1 / (4 * (1 + S))
    left = -1 + 2 * x + 4 * x**2 * S**2 + 1 / 4
    assert left == pytest.approx(-(2 * S**2 + 4 * S + 1) / (4 * (1 + S) ** 2), rel=1e-12)
    assert (left < 0).all()


@pytest.mark.sweep(4)
@shows("afl_dga", "AD21", "AD22", "AD23", "AD25")
@pytest.mark.parametrize("share", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("seed", [*SEEDS, -1])
def test_r3(seed: int, share: float) -> None:
    rng, rows, clients = rows_of(seed) if seed >= 0 else (np.random.default_rng(9), afl.in_turns(6), 2)
    f = afl.waves(rng, clients, sigma=0.8)
    x = share / (4 * (1 + read_off(rows, clients)["S"]))
    one = Case(f, rows, x)
    S, M, Q, G, s_N = one.S, one.M, one.Q, one.G, one.sigma / one.N**0.5
    v = squares_of_means(one)
    for t, uses in enumerate(one.run.uses):
        for use in uses:
            missing = sum(v[h] for h in use.missing)
            far = size(one.run.w[t] - one.run.at[use.step]) ** 2
            assert below(far, one.eta**2 * (4 * S * missing + 4 * S**2 * s_N**2 + 2 * M**2 * G**2))
        recent = v[max(t - Q, 0) : t]
        middle = 2 * x * (np.sqrt(recent).sum() + Q * s_N) * Q**0.5 * s_N
        assert below(2 * abs(one.correlation(t)), middle)
        wide = recent.sum() / (4 * max(Q, 1)) + 4 * x**2 * Q**3 * s_N**2 + 2 * x * Q**1.5 * s_N**2
        assert below(middle, wide)
    apart = sum(one.apart(t) for t in range(one.T))
    fixed = 4 * x**2 * S**2 * s_N**2 + 2 * x**2 * M**2 * G**2
    assert below(apart, 4 * x**2 * S**2 * v.sum() + fixed * one.T)
    if share <= 1:
        right = one.initial + fixed + s_N**2 * (2 * x + 2 * x * Q**1.5 + 4 * x**2 * Q**3)
        assert one.is_bounded_by("afl_dga.r3", right)
