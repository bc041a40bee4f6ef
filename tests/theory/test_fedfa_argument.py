"""The displays of FedFa's proofs, and that the last of them are what is registered."""

from typing import Any

import numpy as np
import pytest
from every_noise import Clients, Floats, at_most, norm2, play, second
from gradient_theorems import BY_ID, bound_at
from theory_pages import shows
from window_makers import FA, FEDFA, VERSIONS, Fa, fa, responses

from boundlab.events import Events
from boundlab.options import Options
from boundlab.tape import RecordAt

SIZES = pytest.mark.parametrize("N", [1, 2, 4])
EVERY = pytest.mark.parametrize("name", FA)
DELTA = pytest.mark.parametrize("name", [name for name in FA if FA[name][0]["mode"] == "delta"])
PARAM = pytest.mark.parametrize("name", [name for name in FA if FA[name][0]["mode"] == "param"])


def zero(one: Fa) -> Floats:
    return np.zeros_like(one.played.models[0])


class Page:
    """The quantities of the page for an example."""

    def __init__(self, name: str, N: int, scale: float = 1.0) -> None:
        self.run = one = fa(name, N, scale)
        self.clients: Clients = one.played.clients
        self.mode, self.N, self.T = str(one.parameters.mode), N, VERSIONS - N + 1
        self.L, self.root_g = self.clients.L, self.clients.G_sq**0.5
        self.spread = float(self.clients.spreads(self.clients.equal).max())
        actors = [int(one.played.tape.descend.client[one.rows[t]]) for t in range(VERSIONS)]
        counts = [np.bincount(actors[t : t + N], minlength=self.clients.n) for t in range(self.T)]
        self.B = self.spread * max(float(np.abs(count / N - 1 / self.clients.n).sum()) for count in counts)
        self.F0 = float(self.clients.mean_value(self.clients.equal, one.played.models[0]).mean())
        self.F_v = self.F0 + self.root_g * one.c * one.rate * one.A * (one.K - 1) / 2
        self.start = self.F_v / (one.rate * one.A * self.T) + self.root_g * one.c * (N - 1) / (2 * self.T)
        local = (one.A**2 - one.beta) / (2 * one.A)
        self.e = self.L * one.c * (one.A * (one.rate * max(one.age, N - 1) + one.far) + local)
        self.shift = self.L * one.far * one.A * one.c
        self.weight = one.rate * one.A * N

    def form_a(self) -> float:
        """(V5), squared."""
        linear, second_order = self.B + self.e, 2 * self.L * self.weight * self.run.c**2
        return ((linear + (linear**2 + 4 * self.start + second_order) ** 0.5) / 2) ** 2

    def form_b(self) -> float:
        """(V6)."""
        noise = 2 * self.L * self.run.rate * self.run.beta / self.run.A * self.clients.noise**2
        return 2 * self.start + (self.B + self.e) ** 2 + noise

    def left(self) -> float:
        """The mean over t < T of E‖∇f(w^t)‖²."""
        slopes = (self.clients.mean_gradient(self.clients.equal, self.run.played.models[t]) for t in range(self.T))
        return float(np.mean([second(slope) for slope in slopes]))

    def registered(self, kind: str) -> float:
        """Return the bound of a registered theorem, with what the algorithm reads off the tape."""
        one = self.run
        read = FEDFA.quantities(one.parameters, one.played.tape, VERSIONS, {"N": self.N})
        known = {
            "L": self.L,
            "G_sq": self.clients.G_sq,
            "sigma_l": self.clients.noise,
            "sigma_g": self.spread,
            "F0": self.F0,
            "T": self.T,
            "N": self.N,
            "eta_sum": one.A,
            "eta_sq": one.beta,
            "eta_l": one.A / len(one.eta),
        }
        values: dict[str, Any] = {**read, **known}
        if self.mode == "delta":
            values["eta_g"] = one.parameters.eta_g
        return bound_at(BY_ID[f"fedfa.{self.mode}.{kind}"], values)


def edge(name: str, N: int, limit: float) -> Page:
    """Return an example whose step makes L·r·A·N the limit, but for a hair that rounding would cross."""
    own = Page(name, N)
    return Page(name, N, limit / (own.L * own.weight) * (1 - 1e-12))


# ------------------------------------------------------------------------------------- what the modes share


@EVERY
@shows("fedfa", "V1")
def test_a_difference_is_the_sum_of_its_steps(name: str) -> None:
    one = fa(name, 1)
    played = one.played
    for s, row in one.rows.items():
        start = int(played.tape.descend.version[row])
        assert start <= max(s, 0)
        assert np.array_equal(played.points[row][0], played.models[start])
        steps = [eta * (played.slopes[row][q] + played.noises[row][q]) for q, eta in enumerate(one.eta)]
        assert np.allclose(one.moves[s], -sum(steps, zero(one)), rtol=0, atol=1e-12)


@EVERY
@shows("fedfa", "V2")
def test_how_long_a_difference_is(name: str) -> None:
    one = fa(name, 1)
    heads = np.concatenate([[0.0], np.cumsum(one.eta)[:-1]])
    assert float((one.eta * heads).sum()) == pytest.approx((one.A**2 - one.beta) / 2, abs=1e-15)
    for s, row in one.rows.items():
        assert at_most(norm2(one.moves[s]), one.A * one.c)
        for q, point in enumerate(one.played.points[row]):
            assert at_most(norm2(point - one.played.points[row][0]), float(heads[q]) * one.c)


@EVERY
@shows("fedfa", "V3")
def test_what_is_asked_of_a_virtual_iterate(name: str) -> None:
    one = fa(name, 1)
    v, models = one.moving.v, one.played.models
    for t in range(VERSIONS):
        assert np.allclose(v[t + 1], v[t] + one.rate * one.moves[t], rtol=0, atol=1e-12)
        assert at_most(norm2(models[t] - v[t]), one.far * one.A * one.c)
    assert all(t - start <= one.age for t, start in one.starts())
    assert at_most(norm2(v[0] - models[0]), one.rate * one.A * one.c * (one.K - 1) / 2)


@pytest.mark.sweep(2)
@SIZES
@EVERY
@shows("fedfa", "V4", "V10")
def test_what_the_start_and_old_models_add(name: str, N: int) -> None:
    page, moving = Page(name, N), fa(name, N).moving
    assert at_most(moving.F(0), page.F_v)
    assert np.isclose(moving.B, page.B)
    assert at_most(moving.e, page.e)
    rise = page.root_g * page.run.rate * page.run.A * page.run.c * N * (N - 1) / 2
    assert page.start == pytest.approx((N * page.F_v + rise) / (page.weight * page.T))
    assert at_most(moving.start, page.start)


@pytest.mark.sweep(2)
@SIZES
@EVERY
@shows("fedfa", "V8")
def test_what_the_window_lemma_reads(name: str, N: int) -> None:
    page, moving = Page(name, N), fa(name, N).moving
    one = page.run
    assert moving.weights == pytest.approx([page.weight] * page.T)
    assert moving.noise_weights == pytest.approx([N * one.rate**2 * one.beta] * page.T)
    actors = [int(one.played.tape.descend.client[one.rows[t]]) for t in range(VERSIONS)]
    for t in range(page.T):
        assert moving.shares(t) == pytest.approx([actors[t : t + N].count(i) / N for i in range(page.clients.n)])


@pytest.mark.sweep(2)
@SIZES
@EVERY
@shows("fedfa", "V9")
def test_how_far_the_points_of_a_window_are(name: str, N: int) -> None:
    page = Page(name, N)
    one, v, models = page.run, page.run.moving.v, page.run.played.models
    heads = np.concatenate([[0.0], np.cumsum(one.eta)[:-1]])
    for t in range(page.T):
        for later in range(t, t + N):
            row = one.rows[later]
            s = int(one.played.tape.descend.version[row])
            assert abs(s - t) <= max(one.age, N - 1)
            for q, point in enumerate(one.played.points[row]):
                parts = norm2(point - models[s]) + norm2(models[s] - v[s]) + norm2(v[s] - v[t])
                assert at_most(norm2(point - v[t]), parts)
                known = heads[q] + one.far * one.A + one.rate * one.A * max(one.age, N - 1)
                assert at_most(parts, float(known) * one.c)


@pytest.mark.sweep(2)
@SIZES
@EVERY
@shows("fedfa", "V5")
def test_the_virtual_iterate_with_any_step(name: str, N: int) -> None:
    for scale in (0.1, 1.0, 10.0):
        page = Page(name, N, scale)
        assert at_most(page.run.moving.X_sq, page.form_a())


@pytest.mark.sweep(2)
@SIZES
@EVERY
@shows("fedfa", "V6")
def test_the_virtual_iterate_with_small_steps(name: str, N: int) -> None:
    for limit in (0.5, 0.1, *([1.0] if FA[name][2].noise == 0 else [])):
        page = edge(name, N, limit)
        assert at_most(page.run.moving.X_sq, page.form_b())


@pytest.mark.sweep(2)
@SIZES
@EVERY
@shows("fedfa", "V7")
def test_from_the_virtual_iterate_to_the_model(name: str, N: int) -> None:
    page = Page(name, N)
    X = page.run.moving.X_sq**0.5
    assert (X + page.shift) ** 2 == pytest.approx(X**2 + 2 * X * page.shift + page.shift**2)
    assert at_most(page.left(), (X + page.shift) ** 2)


# ------------------------------------------------------------------------------------------------- differences


@DELTA
@shows("fedfa", "V11", "V12")
def test_the_window_only_delays_differences(name: str) -> None:
    one = fa(name, 1)
    eta_g, K, models = float(one.parameters.eta_g), one.K, one.played.models

    def virtual(t: int) -> Floats:
        return models[t] + eta_g / K * sum(((K - j) * one.moves[t - j] for j in range(1, K)), zero(one))

    for t in range(VERSIONS):
        assert np.allclose(virtual(t), one.moving.v[t], rtol=0, atol=1e-12)
        assert np.allclose(virtual(t + 1), virtual(t) + eta_g * one.moves[t], rtol=0, atol=1e-12)
        assert at_most(norm2(models[t] - virtual(t)), eta_g * one.A * one.c * (K - 1) / 2)


def test_equal_differences_are_held_back_as_much_as_the_bound_says() -> None:
    # One client whose slope is always 1: every Δ is −A.
    clients = Clients("huber", np.array([[-50.0]]))
    options = {"mode": "delta", "K": 4, "eta_g": 0.5, "eta_l": [0.1, 0.2]}
    parameters = FEDFA.read(Options("fedfa", options))
    events = Events(np.arange(1.0, 11), np.zeros(10, dtype=np.int32))
    played = play(FEDFA.schedule(parameters, events, 1, RecordAt(), 6), clients, [0.0], [])
    held = sum((4 - j) * played.moves[5 - j] for j in (1, 2, 3)) * 0.5 / 4
    assert norm2(held) == pytest.approx(0.5 * 0.3 * 3 / 2)


@DELTA
@shows("fedfa", "V13")
def test_differences_have_the_rate_and_the_age_of_the_page(name: str) -> None:
    one = fa(name, 1)
    assert (one.rate, one.far) == (one.parameters.eta_g, one.parameters.eta_g * (one.K - 1) / 2)
    assert one.age == FEDFA.quantities(one.parameters, one.played.tape, VERSIONS, {"N": 1})["tau_a"]


# ------------------------------------------------------------------------------------------------------ models


@PARAM
@shows("fedfa", "V14", "V15")
def test_a_model_is_a_sum_of_differences(name: str) -> None:
    one = fa(name, 1)
    r, K = responses(one.K, one.age, VERSIONS), one.K
    for t in range(VERSIONS):
        known = {s: r[t, s + K - 1] for s in range(-K + 1, t)}
        model = one.played.models[0] + sum((share * one.moves[s] for s, share in known.items()), zero(one))
        assert np.allclose(one.played.models[t], model, rtol=0, atol=1e-12)
        for s in range(-K + 1, VERSIONS):
            before = sum(r[t - j - one.age, s + K - 1] for j in range(K) if t - j - one.age >= 0) / K
            assert r[t + 1, s + K - 1] == pytest.approx(before + (t - K + 1 <= s <= t) / K)


@pytest.mark.parametrize(("K", "lag"), [(1, 0), (1, 2), (2, 0), (3, 1), (6, 0), (4, 5)])
@shows("fedfa", "V16", "V20")
def test_responses_depend_on_the_age_alone_and_have_one_possible_limit(K: int, lag: int) -> None:
    until = 300
    r = responses(K, lag, until)
    h = r[1:, K - 1]
    padded = np.concatenate([np.zeros(K + lag + 1), h])
    for s in (0, 3, 7):
        assert r[s + 1 :, s + K - 1] == pytest.approx(h[: until - s])
    invariant = []
    for j in range(until):
        own = j + K + lag + 1
        assert h[j] == pytest.approx(sum(padded[own - 1 - i - lag] for i in range(K)) / K + (j < K) / K)
        young = sum(padded[own - age] for age in range(lag + 1))
        invariant.append(young + sum((K - i) * padded[own - lag - i] for i in range(1, K)) / K)
    assert np.diff(invariant, prepend=0) == pytest.approx([(j < K) / K for j in range(until)])
    if K > 1 or lag == 0:
        assert h[-1] == pytest.approx(1 / (1 + lag + (K - 1) / 2), rel=1e-3)


@PARAM
@shows("fedfa", "V17", "V18")
def test_the_virtual_model_moves_by_one_difference_at_a_time(name: str) -> None:
    one = fa(name, 1)
    kappa, K = one.rate, one.K
    limits = {s: kappa * (K + s) / K if s < 0 else kappa for s in one.rows}

    def virtual(t: int) -> Floats:
        return one.played.models[0] + sum((limits[s] * one.moves[s] for s in range(-K + 1, t)), zero(one))

    for t in range(VERSIONS):
        assert np.allclose(virtual(t + 1), virtual(t) + kappa * one.moves[t], rtol=0, atol=1e-12)
        assert at_most(norm2(one.played.models[t] - virtual(t)), one.far * one.A * one.c)
    assert at_most(norm2(virtual(0) - one.played.models[0]), kappa * one.A * one.c * (K - 1) / 2)


@pytest.mark.parametrize(("K", "lag"), [(6, 0), (3, 2), (2, 1)])
def test_no_smaller_constant_of_the_lag_will_do(K: int, lag: int) -> None:
    # Differences of length 1, up or down as the sign of r − κ says: all terms of C add up.
    T, kappa = 9, 1 / (1 + lag + (K - 1) / 2)
    r = responses(K, lag, T)[T]
    limits = np.array([kappa * min(1.0, (K + s) / K) for s in range(-K + 1, T)])
    moves = np.sign(r - limits)
    models = [0.0]
    for t in range(T):
        window = [models[max(t - j - lag, 0)] + moves[t - j + K - 1] for j in range(K)]
        models.append(sum(window) / K)
    assert models[T] - limits @ moves == pytest.approx(np.abs(r - limits).sum())


def test_the_filling_of_the_window_counts() -> None:
    K, T = 6, 400
    kappa, r = 1 / (1 + (K - 1) / 2), responses(K, 0, T)
    limits = np.array([kappa * min(1.0, (K + s) / K) for s in range(-K + 1, T)])
    each = [np.abs(r[t, : t + K - 1] - limits[: t + K - 1]).sum() for t in range(T)]
    later = np.abs(r[1:, K - 1] - kappa).sum()
    assert max(each) == pytest.approx(0.714, abs=5e-4)
    assert later == pytest.approx(0.473, abs=5e-4)


@PARAM
@shows("fedfa", "V19")
def test_models_have_the_rate_the_constant_and_the_lag_of_the_page(name: str) -> None:
    one = fa(name, 1)
    read = FEDFA.quantities(one.parameters, one.played.tape, VERSIONS, {"N": 1})
    assert (one.rate, one.far, one.age) == pytest.approx((read["kappa_lag"], read["C_lag"], read["lag"]))
    assert all(start == max(t - one.age, 0) for t, start in one.starts())


# ---------------------------------------------------------------------------------------------- what is registered


@pytest.mark.sweep(2)
@SIZES
@EVERY
def test_the_last_displays_are_what_is_registered_and_true(name: str, N: int) -> None:
    page = Page(name, N)
    for kind, one, form in (
        ("a", page, page.form_a()),
        ("b", (half := edge(name, N, 0.5)), half.form_b()),
        *([("b.noiseless", (whole := edge(name, N, 1.0)), whole.form_b())] if page.clients.noise == 0 else []),
    ):
        right = (form**0.5 + one.shift) ** 2
        assert one.registered(kind) == pytest.approx(right, rel=1e-10)
        assert at_most(one.left(), right)
