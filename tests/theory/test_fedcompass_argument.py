"""The displays of FedCompass's proofs, and that the last of them are what is registered."""

from typing import Any

import numpy as np
import pytest
from every_noise import all_draws, at_most, norm2
from gradient_theorems import BY_ID, FIRST, SECOND, at, bound_at
from theory_pages import shows
from window_makers import COMPASS, VERSIONS, Moving, compass, compass_moving

from boundlab.algorithms.fedcompass import FEDCOMPASS

SIZES = pytest.mark.parametrize("N", [1, 2, 3])
EVERY = pytest.mark.parametrize("name", COMPASS)


class Page:
    """The quantities of the page, read off the use table of an example's tape once more."""

    def __init__(self, name: str, N: int, scale: float = 1.0) -> None:
        self.parameters, self.tape, self.clients = compass(name, scale)
        self.moving: Moving = compass_moving(name, N, scale)
        self.N, self.T, self.eta = N, VERSIONS - N + 1, float(self.parameters.eta)
        uses, d = self.tape.uses, self.tape.descend
        # One row a run: version, start version, client, weight, steps.
        self.runs = [
            (int(t), int(d.version[x]), int(d.client[x]), float(a), int(d.steps[x]))
            for x, t, a in zip(uses.update, uses.version, uses.weight, strict=True)
        ]
        self.A = [sum(a * Q for at_, _, _, a, Q in self.runs if at_ == t) for t in range(VERSIONS)]
        self.W = [sum(self.A[t : t + N]) for t in range(self.T)]
        self.V = [sum(a**2 * Q for at_, _, _, a, Q in self.runs if t <= at_ < t + N) for t in range(self.T)]
        self.tau = max(at_ - start for at_, start, _, _, _ in self.runs)
        self.Q_max = int(self.parameters.Qmax)
        self.c = self.clients.s2**0.5

    def shares(self, t: int) -> np.ndarray:
        each = np.zeros(self.clients.n)
        for at_, _, client, a, Q in self.runs:
            each[client] += a * Q * (t <= at_ < t + self.N)
        return each / self.W[t]

    @property
    def bias(self) -> float:
        return max(float(np.abs(self.shares(t) - self.moving.p).sum()) for t in range(self.T))

    @property
    def e(self) -> float:
        """(C5)."""
        old = max(self.A) * max(self.tau, self.N - 1)
        return self.clients.L * self.eta * self.c * (old + (self.Q_max - 1) / 2)

    @property
    def start(self) -> float:
        """(C6), with the lower bound 0 of F."""
        rise = self.eta * self.clients.G_sq**0.5 * self.c * max(self.A) * self.N * (self.N - 1) / 2
        return (self.N * self.moving.F(0) + rise) / (self.eta * min(self.W) * self.T)

    def values(self) -> dict[str, Any]:
        """Return everything that the registered theorems read, what the tape says from the algorithm itself."""
        read = FEDCOMPASS.quantities(self.parameters, self.tape, VERSIONS, {"N": self.N})
        spread = float(self.clients.spreads(self.moving.p).max())
        known = {
            "L": self.clients.L,
            "G_sq": self.clients.G_sq,
            "sigma_l": self.clients.noise,
            "sigma_g": spread,
            "F0": self.moving.F(0),
            "T": self.T,
            "N": self.N,
            "eta": self.eta,
        }
        return {**read, **known}


# ---------------------------------------------------------------------------------------------- how models move


@EVERY
@shows("fedcompass", "C1")
def test_an_update_takes_off_the_weighted_differences(name: str) -> None:
    one = compass_moving(name, 1)
    tape, played = one.played.tape, one.played
    assert len(set(tape.uses.update.tolist())) == len(tape.uses.update)
    for t in range(VERSIONS):
        held = played.entries(t)
        changes = sum((a * (played.points[x][0] - played.ends[x]) for x, a in held), np.zeros_like(one.v[t]))
        assert np.allclose(one.v[t + 1], one.v[t] - changes, rtol=0, atol=1e-12)
        steps = sum((g.b * (g.slope + g.noise) for g in one.steps[t]), np.zeros_like(one.v[t]))
        assert np.allclose(changes, steps, rtol=0, atol=1e-12)


@pytest.mark.sweep(2)
@SIZES
@EVERY
@shows("fedcompass", "C2")
def test_the_lemma_reads_the_quantities_of_the_page(name: str, N: int) -> None:
    page = Page(name, N)
    if min(page.W) == 0:
        return
    one = page.moving
    assert one.weights == pytest.approx([page.eta * W for W in page.W])
    assert one.noise_weights == pytest.approx([page.eta**2 * V for V in page.V])
    for t in range(page.T):
        assert one.shares(t) == pytest.approx(page.shares(t))


@EVERY
@shows("fedcompass", "C3")
def test_how_far_models_move(name: str) -> None:
    page = Page(name, 1)
    one, played = page.moving, page.moving.played
    step = page.eta * page.c
    for t in range(VERSIONS + 1):
        for s in range(t):
            assert at_most(norm2(one.v[s] - one.v[t]), step * max(page.A) * (t - s))
    for x in played.tape.uses.update.tolist():
        for q, point in enumerate(played.points[x]):
            assert at_most(norm2(point - played.points[x][0]), step * q)


def test_a_model_that_runs_downhill_moves_as_far_as_it_can() -> None:
    page = Page("downhill", 1)
    one, played = page.moving, page.moving.played
    assert norm2(one.v[5] - one.v[0]) == pytest.approx(page.eta * page.c * max(page.A) * 5)
    assert norm2(played.points[0][1] - played.points[0][0]) == pytest.approx(page.eta * page.c)


@pytest.mark.sweep(2)
@SIZES
@EVERY
@shows("fedcompass", "C4")
def test_how_old_the_models_of_a_window_are(name: str, N: int) -> None:
    page = Page(name, N)
    for t in range(page.T):
        for at_, start, _, _, _ in page.runs:
            if t <= at_ < t + N:
                assert abs(start - t) <= max(page.tau, N - 1)


@pytest.mark.sweep(2)
@SIZES
@EVERY
@shows("fedcompass", "C5")
def test_how_far_the_gradients_of_a_window_are_from_those_at_its_model(name: str, N: int) -> None:
    page = Page(name, N)
    if min(page.W) > 0:
        assert at_most(page.moving.e, page.e)


@pytest.mark.sweep(2)
@SIZES
@EVERY
@shows("fedcompass", "C6")
def test_what_the_start_adds(name: str, N: int) -> None:
    page = Page(name, N)
    if min(page.W) == 0:
        return
    one = page.moving
    assert at_most(one.D, page.eta * page.c * max(page.A))
    rise = page.clients.G_sq**0.5 * page.eta * page.c * max(page.A) * N * (N - 1) / 2
    assert page.start == pytest.approx((N * one.F(0) + rise) / (one.weights.min() * one.T))
    assert at_most(one.start, page.start)


# -------------------------------------------------------------------------------------------- what is registered


@pytest.mark.sweep(2)
@SIZES
@EVERY
@shows("fedcompass", "C7")
def test_any_step_is_what_is_registered_and_true(name: str, N: int) -> None:
    for scale in (1.0, 8.0):
        page = Page(name, N, scale)
        if min(page.W) == 0:
            continue
        values, low, high = page.values(), min(page.W), max(page.W)
        assert values["share_bias"] == pytest.approx(page.bias)
        slope = high / low * (values["sigma_g"] * page.bias + page.e)
        constant = page.start + page.clients.L * page.eta / 2 * high**2 / low * page.c**2
        right = ((slope + (slope**2 + 4 * constant) ** 0.5) / 2) ** 2
        assert bound_at(BY_ID["fedcompass.window.a"], values) == pytest.approx(right, rel=1e-10)
        assert at_most(page.moving.X_sq, right)


@pytest.mark.sweep(2)
@SIZES
@EVERY
@shows("fedcompass", "C8")
def test_small_steps_are_what_is_registered_and_true(name: str, N: int) -> None:
    own = Page(name, N)
    if min(own.W) == 0:
        return
    kinds = [("fedcompass.window.b", 0.5)]
    if own.clients.noise == 0:
        kinds.append(("fedcompass.window.b.noiseless", 1.0))
    for kind, limit in kinds:
        # A hair below the edge, which rounding would cross.
        page = Page(name, N, limit / (own.clients.L * own.eta * max(own.W)) * (1 - 1e-12))
        values, low, high = page.values(), min(page.W), max(page.W)
        right = 2 * page.start + high / low * (values["sigma_g"] * page.bias + page.e) ** 2
        right += 2 * page.clients.L * page.eta * page.clients.noise**2 * max(page.V) / low
        assert bound_at(BY_ID[kind], values) == pytest.approx(right, rel=1e-10)
        assert at_most(page.moving.X_sq, right)


ONE_GROUP = pytest.mark.parametrize("name", ["one group", "one group without noise", "downhill", "one client"])


@ONE_GROUP
@shows("fedcompass", "C9")
def test_what_one_group_has(name: str) -> None:
    page = Page(name, 1)
    n = page.clients.n
    each = [{client: Q for at_, _, client, _, Q in page.runs if at_ == t} for t in range(VERSIONS)]
    mean = np.mean([sum(held.values()) / n for held in each])
    assert page.tau == 0
    for t in range(page.T):
        assert (page.W[t], page.V[t]) == pytest.approx((mean, mean / n))
        assert page.shares(t) == pytest.approx([each[t][i] / (n * mean) for i in range(n)])


@ONE_GROUP
@shows("fedcompass", "C10")
def test_one_group_is_what_is_registered_and_true(name: str) -> None:
    own = Page(name, 1)
    page = Page(name, 1, 0.5 / (own.clients.L * own.eta * max(own.W)) * (1 - 1e-12))
    n, values = page.clients.n, page.values()
    steps = {client: Q for _, _, client, _, Q in page.runs}
    mean = sum(steps.values()) / n
    bias = sum(abs(steps[i] / (n * mean) - 1 / n) for i in range(n))
    right = 2 * page.moving.F(0) / (page.eta * mean * page.T)
    right += 2 * page.clients.L * page.eta * page.clients.noise**2 / n
    drift = page.clients.L * page.eta * page.c * (page.Q_max - 1) / 2
    right += (values["sigma_g"] * bias + drift) ** 2
    assert bound_at(BY_ID["fedcompass.group"], values) == pytest.approx(right, rel=1e-10)
    assert at_most(page.moving.X_sq, right)
    assert bound_at(BY_ID["fedcompass.window.b"], values) == pytest.approx(right, rel=1e-10)


def test_examples_cover_what_the_scheduler_can_do() -> None:
    late, timers = (
        FEDCOMPASS.figures(*compass("late arrivals and timers")[:2])[key]
        for key in ("late_arrivals", "aggregations_by_timer")
    )
    assert late > 0
    assert timers > 0
    assert Page("groups", 1).tau > 0
    assert len(all_draws(compass("groups")[1], range(8))) > 8


@pytest.mark.parametrize("point", [FIRST, SECOND], ids=["first", "second"])
def test_form_b_without_noise_is_form_b_where_the_noise_is_none(point: dict[str, Any]) -> None:
    quiet, loud = BY_ID["fedcompass.window.b.noiseless"], BY_ID["fedcompass.window.b"]
    values = {**at(quiet, point), "eta": 0.4 / (point["L"] * point["W_max"])}
    assert bound_at(quiet, values) == pytest.approx(bound_at(loud, {**values, "V_max": point["V_max"]}))
