"""Theorems and conditions written down a second time in plain floating point: numbers, limits, steps.

The second transcription was made from the papers and from the derivations, not from the registered expressions. That
of the terms of the other theorems stands in theorem_points.py.
"""

import math
from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from gradient_theorems import BY_ID, FIRST, GRADIENT_THEOREMS, SECOND, at, with_server_step
from paper_theorems import AREA
from theorem_points import BY_HAND, TEXTBOOK as CLASSICS, needed

from boundlab.errors import AssumptionError
from boundlab.theorems import ALONG_RUN, Theorem
from boundlab.theorems.recursions import recursion

PLAIN = {name.removesuffix(ALONG_RUN) for name in AREA}
Terms = dict[str, float]
Sides = tuple[tuple[float, float], ...]

# --------------------------------------------------------------------------------------------- AREA: the points

THREE = {
    "p": np.array([0.1, 0.25, 0.35]),
    "M": 4,
    "K": 90,
    "R": 2.0,
    "B": 1.5,
    "sigma": 0.75,
    "mu": 0.3,
    "L": 1.25,
    "zeta": 0.6,
    "alpha": 0.05,
}
# p_s is the smallest probability, and one local step takes the drift and three parts of D away.
ONE = {
    "p": np.array([0.5, 0.4]),
    "M": 1,
    "K": 1,
    "R": 0.25,
    "B": 4.0,
    "sigma": 3.0,
    "mu": 2.0,
    "L": 3.0,
    "zeta": 1.5,
    "alpha": 1.25,
}
MANY = {
    "p": np.array([0.05, 0.05, 0.1, 0.1]),
    "M": 20,
    "K": 7,
    "R": 5.0,
    "B": 0.1,
    "sigma": 0.01,
    "mu": 0.9,
    "L": 1.0,
    "zeta": 4.0,
    "alpha": 0.4,
}
# kappa close to 1: the least of D's parts is a root.
ROUND = {**THREE, "mu": 1.2, "M": 3, "K": 1000}
POINTS = {"three": THREE, "one": ONE, "many": MANY, "round": ROUND}


def seen(point: dict[str, Any]) -> SimpleNamespace:
    """Return the values with what follows from p and from mu, L, M."""
    v = SimpleNamespace(**point)
    v.n, v.p_s = len(v.p), 1 - float(sum(v.p))
    v.p_min = min(*v.p, v.p_s)
    v.qbar = sum(1 / one for one in v.p) / v.n
    v.gamma = 2 * v.mu * v.L / (v.mu + v.L)
    cube = v.L**4 * (v.M - 1) ** 3
    parts = [2 / v.M / (v.mu + v.L)]
    if v.M > 1:
        parts += [v.gamma / v.L**2 / (v.M - 1), v.gamma / 8 * math.sqrt(v.M / cube), math.cbrt(v.gamma / 32 / cube)]
    v.D, v.parts = min(parts), parts
    # α_k = 1/(p_min·M·γ·k/48 + 1/D) = c/(k + d)
    slope = v.p_min * v.M * v.gamma / 48
    v.c, v.d = 1 / slope, 1 / slope / v.D
    return v


# ----------------------------------------------------------------------------------------------- AREA: the terms


def _horizon(v: SimpleNamespace, local: float) -> tuple[Terms, float]:
    """The step for K and the bound that it gives, from the weight 1/p_s + 2q̄ and noise σ² + ``local``."""
    weight, noise = (1 / v.p_s + 2 * v.qbar) * v.R * v.R, v.sigma**2 + local
    return {"bound": math.sqrt(weight * noise / (v.M * v.K))}, math.sqrt(weight / (noise * v.M * v.K))


def _fixed(v: SimpleNamespace, local: float) -> tuple[Terms, float]:
    weight = (1 / v.p_s + 2 * v.qbar) * v.R * v.R
    terms = {"initial": weight / (2 * v.alpha * v.M * v.K), "noise": v.alpha / 2 * v.sigma**2}
    return {**terms, "subgradient": v.alpha / 2 * local}, v.alpha


def _first_pass(v: SimpleNamespace) -> tuple[Terms, float]:
    terms, alpha = _fixed(v, v.M * v.B**2)
    # A grows by q̄·(2αMBR + α²M(σ² + M·B²)): how far one pass from x_s,0 moves, and where to.
    more = v.qbar * (2 * alpha * v.M * v.B * v.R + alpha**2 * v.M * (v.sigma**2 + v.M * v.B**2))
    return {**terms, "first pass": more / (2 * alpha * v.M * v.K)}, alpha


def _order(v: SimpleNamespace) -> Terms:
    r, delta, kappa = v.p_s / v.p_min, 1 - 1 / v.M, v.L / v.mu
    spread = 1 + delta * kappa
    return {
        "noise": r * spread * v.sigma**2 / v.p_min / v.M / v.K,
        "synchronization": r * v.qbar**0.5 * v.L * spread**0.5 * v.sigma * v.zeta / v.p_min / v.M**0.5 / v.K**1.5,
        "mixed": r * v.qbar**0.5 * v.L**1.5 * (v.sigma * v.zeta**3) ** 0.5 / v.p_min**0.5 / v.K**1.5,
        "heterogeneity": r * (delta + v.p_min**0.5 * v.qbar) * v.L**4 * v.zeta**2 / v.p_min**2 / v.K**2,
    }


def _explicit(v: SimpleNamespace) -> Terms:
    late, steep = v.K + v.d - 1, v.L / v.gamma
    started = 5.2 * v.p_s * v.qbar
    away = v.c / v.d * v.M * v.L * v.zeta
    return {
        "initial": ((v.d - 1) / late) ** 6 * ((1 + started) * v.R**2 + started * away**2),
        "noise": 1130 * v.p_s * v.sigma**2 / (v.p_min**2 * v.M * v.gamma**2 * late),
        "heterogeneity": 1550 * v.p_s * v.qbar * (steep * v.zeta / (v.p_min * late)) ** 2,
        "drift": 26000 * v.p_s * (1 - 1 / v.M) ** 2 * steep**4 * (v.zeta / late) ** 2 / v.p_min**3,
    }


def _onepass(v: SimpleNamespace, own_start: bool) -> Terms:
    d = v.d + 1 if own_start else v.d  # Algorithm 1 answers with the next step size
    first, a = v.c / v.d, v.c / d
    late, f = v.K + d - 1, d / (d - 1)
    q = a * v.M * v.gamma
    Y = (v.R + a * v.M * v.L * v.zeta) ** 2
    X = Y
    if own_start:
        contracted = math.sqrt(math.exp(-first * v.M * v.gamma) * v.R**2 + v.M * (first * v.sigma) ** 2)
        drift = (first * v.L) ** 2 * v.zeta * v.M * (v.M - 1) / 2
        X = (contracted + drift + abs(first - a) * v.M * v.L * v.zeta) ** 2
    W1, W2 = math.exp(q / 3), math.exp(q / 6)
    memory = (W1 + W2) * v.qbar * (v.c * v.M * v.L) ** 2
    drift = (1 + 1 / d) * W1 * v.c**3 * v.L**4 * v.M * (v.M - 1) ** 2 / (4 * (1 - math.exp(-0.5)) * v.gamma)
    noise = (1 + 1 / d) * math.exp(5 / 6 * q) * v.c**2 * v.M
    return {
        "initial": v.p_s * ((d - 1) / late) ** 6 * (v.R**2 / v.p_s + v.qbar * (W1 * X + W2 * Y)),
        "noise": v.p_s * noise * v.sigma**2 * f**5 / (5 * late),
        "heterogeneity": v.p_s * memory * v.zeta**2 * f**4 / (4 * late**2),
        "drift": v.p_s * drift * v.zeta**2 * f**4 / (4 * late**2),
    }


def _recursion(v: SimpleNamespace, own_start: bool) -> Terms:
    """Theorem 7's tight form, one client and one local step at a time."""

    def alpha(k: int) -> float:
        return float(v.c / (k + v.d + own_start))

    def local(a: float) -> tuple[float, float, float]:
        """Contraction, noise and drift of M local steps."""
        r = 1 - a * v.mu
        noise = (a * v.sigma) ** 2 * sum(r ** (2 * j) for j in range(v.M))
        return r**v.M, noise, a**2 * v.L * sum(r**j for m in range(v.M) for j in range(m))

    G, clients = v.L * v.zeta, range(v.n)
    y = [v.R + alpha(0) * v.M * G for _ in clients]
    x = list(y)
    if own_start:
        a = v.c / v.d
        t, noise, drift = local(a)
        x = [math.sqrt((t * v.R) ** 2 + noise) + drift * G + abs(a - alpha(0)) * v.M * G for _ in clients]
    X, Y, S, s = [one**2 for one in x], [one**2 for one in y], v.R**2, v.R
    for k in range(v.K):
        t, noise, drift = local(alpha(k))
        move = (alpha(k) - alpha(k + 1)) * v.M * G
        V = t**2 * S + noise
        e = min(math.sqrt(V), t * s + math.sqrt(noise))
        own = drift * G + move
        was = [X[i] + 2 * move * x[i] for i in clients]
        X_next = [(1 - p) * (was[i] + move**2) + p * (V + 2 * own * e + own**2) for i, p in enumerate(v.p)]
        Y_next = [(1 - p) * (Y[i] + 2 * move * y[i]) + p * was[i] + move**2 for i, p in enumerate(v.p)]
        x_next = [(1 - p) * x[i] + p * (e + drift * G) + move for i, p in enumerate(v.p)]
        y_next = [(1 - p) * y[i] + p * x[i] + move for i, p in enumerate(v.p)]
        S, s = (1 - v.p_s) * S + v.p_s * sum(Y) / v.n, (1 - v.p_s) * s + v.p_s * sum(y) / v.n
        X, Y, s = X_next, Y_next, min(s, math.sqrt(S))
        x = [min(one, math.sqrt(square)) for one, square in zip(x_next, X, strict=True)]
        y = [min(one, math.sqrt(square)) for one, square in zip(y_next, Y, strict=True)]
    return {"recursion": S}


OWN_STEP: dict[str, Callable[[SimpleNamespace], tuple[Terms, float]]] = {
    "area.theorem8": lambda v: _horizon(v, (v.M + 1) * v.B**2 / 2),
    "area.theorem8.printed-start": lambda v: _horizon(v, (v.M + 1) * v.B**2 / 2),
    "area.theorem8.repaired": lambda v: _horizon(v, v.M * v.B**2),
    "area.theorem8.fixed-step": lambda v: _fixed(v, (v.M + 1) * v.B**2 / 2),
    "area.theorem8.printed-start.fixed-step": lambda v: _fixed(v, (v.M + 1) * v.B**2 / 2),
    "area.theorem8.repaired.fixed-step": lambda v: _fixed(v, v.M * v.B**2),
    "area.theorem8.algorithm-start": _first_pass,
}
PRINTED_STEP: dict[str, Callable[[SimpleNamespace], Terms]] = {
    "area.theorem7": _order,
    "area.theorem7.explicit": _explicit,
    "area.theorem7.onepass": lambda v: _onepass(v, own_start=False),
    "area.theorem7.onepass.algorithm-start": lambda v: _onepass(v, own_start=True),
    "area.theorem7.recursion": lambda v: _recursion(v, own_start=False),
    "area.theorem7.recursion.algorithm-start": lambda v: _recursion(v, own_start=True),
}


def area_values(theorem: Theorem, point: dict[str, Any]) -> dict[str, Any]:
    given = theorem.inputs(frozenset({"p"}))
    return {name: value for name, value in point.items() if name in given or name == "p"}


@pytest.mark.sweep(3)
@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("theorem", AREA.values(), ids=lambda theorem: theorem.id)
def test_areas_terms_and_steps_are_those_of_the_second_transcription(theorem: Theorem, point: str) -> None:
    v, values = seen(POINTS[point]), area_values(theorem, POINTS[point])
    step: dict[str, float] = {}
    name = theorem.id.removesuffix(ALONG_RUN)
    if name in OWN_STEP:
        expected, step["alpha"] = OWN_STEP[name](v)
    else:
        expected, step["c"], step["d"] = PRINTED_STEP[name](v), v.c, v.d
    found = theorem.evaluate(values)
    assert {name: float(term) for name, term in found.terms.items()} == pytest.approx(expected, rel=1e-11)
    assert float(found.total) == pytest.approx(sum(expected.values()), rel=1e-11)
    assert dict(theorem.step_options(values)) == pytest.approx(step, rel=1e-12)


def test_the_four_parts_of_the_printed_first_step_are_those_of_the_paper_though_one_is_never_the_least() -> None:
    for theorem in (AREA[name] for name in PRINTED_STEP):
        for point in (THREE, MANY, ROUND):
            v = seen(point)
            rule = theorem.definitions["D"]
            at_point = {one: getattr(v, one.name) for one in rule.free_symbols}
            assert sorted(float(part.subs(at_point)) for part in rule.args) == pytest.approx(sorted(v.parts), rel=1e-12)


def test_every_theorem_of_area_is_transcribed_and_says_what_its_paper_assumes() -> None:
    assert {*OWN_STEP, *PRINTED_STEP} == PLAIN
    for form, theorem in AREA.items():
        name = form.removesuffix(ALONG_RUN)
        convex = name in OWN_STEP
        functions = {"lipschitz"} if convex else {"strongly-convex", "smooth"}
        assert {*functions, "bounded-variance", "iid-events"} <= set(theorem.assumptions)
        assert theorem.metric == ("ergodic-gap" if convex else "squared-distance")
        assert theorem.shape == (name == "area.theorem7")
        own_step = ("area.theorem8", "area.theorem8.printed-start", "area.theorem8.repaired")
        assert theorem.horizon == ("fixed" if name in own_step else "every")
        # Algorithm 2 begins with a message, and Algorithm 1 answers with the step size of the next iteration.
        as_run = name.endswith("algorithm-start") or "printed-start" in name
        assert theorem.options["start"] == ("algorithm" if as_run else "analysis")
        assert convex or theorem.options["clock"] == ("algorithm" if as_run else "analysis")


def test_unequal_gradients_at_the_solution_enter_client_by_client() -> None:
    # One aggregation is sure, one client is never heard: after one event nothing but S' = mean(Y) has happened.
    G = np.array([2.0, 5.0])
    found = recursion(p=[0.0, 0.0], p_s=1.0, mu=1, L=2, M=3, sigma=0, R=1, G=G, c=0.1, d=None, ks=[0, 1])
    assert found == pytest.approx([1, ((1 + 0.3 * 2) ** 2 + (1 + 0.3 * 5) ** 2) / 2], rel=1e-14)


# --------------------------------------------------------------------------- the conditions of all theorems

# Each as (quantity, limit), in the order of the theorem; "σ = 0" and the like are quantities that are at most 0.
_STEPS: dict[str, Callable[[SimpleNamespace], Sides]] = {
    "area.theorem7.explicit": lambda v: ((v.c / v.d, 2 / (v.M * (v.mu + v.L))),),
    "area.theorem7.onepass": lambda v: ((v.c / v.d, 2 / (v.M * (v.mu + v.L))),),
    "area.theorem7.onepass.algorithm-start": lambda v: ((v.c / v.d, 2 / (v.M * (v.mu + v.L))),),
    "area.theorem7.recursion": lambda v: ((v.c / v.d, 2 / (v.mu + v.L)),),
    "area.theorem7.recursion.algorithm-start": lambda v: ((v.c / v.d, 2 / (v.mu + v.L)),),
    "afl_dga.theorem1": lambda v: ((v.eta, 1 / v.L),),
    "afl_dga.r0": lambda v: ((v.Q_age, 0), (v.K_m, 1), (v.S, 0), (v.M_own, 0), (v.eta * v.L, 1)),
    "afl_dga.r1": lambda v: ((v.sigma, 0), (v.eta * v.L, 1 / (1 + v.S * (2**0.5 if v.M_own else 1)))),
    "afl_dga.r2n": lambda v: ((v.sigma, 0), (v.eta * v.L, 1)),
    "afl_dga.r2b": lambda v: ((v.eta * v.L, 0.5),),
    "afl_dga.r3": lambda v: ((v.eta * v.L, 1 / (4 * (1 + v.S))),),
    "fedcompass.theorem1": lambda v: ((v.Qmin, v.Qmax), (v.eta, 1 / (2 * v.L * v.Qmax))),
    **{
        f"fedcompass.corollary1{form}": lambda v: (
            (v.Qmin, v.Qmax),
            (v.Qmin, v.Qmax / v.speed_ratio),
            (v.eta, 1 / (2 * v.L * v.Qmax)),
        )
        for form in ("", ".explicit")
    },
    "fedcompass.window.b": lambda v: ((v.L * v.eta * v.W_max, 0.5),),
    "fedcompass.window.b.noiseless": lambda v: ((v.sigma_l, 0), (v.L * v.eta * v.W_max, 1)),
    "fedcompass.group": lambda v: ((v.tau_max, 0), (v.A_max, v.Q_mean), (v.L * v.eta * v.Q_mean, 0.5)),
    "fedfa.theorem1": lambda v: ((1, v.tau_max), (v.eta_g * v.eta_l * v.Q, 1 / v.L)),
    "fedfa.theorem1.squared-smoothness": lambda v: ((1, v.tau_max), (v.eta_g * v.eta_l * v.Q, 1 / v.L**2)),
    "fedfa.corollary": lambda v: ((1, v.tau_max), (v.eta_g * v.eta_l * v.Q, 1 / v.L)),
    "fedfa.delta.b": lambda v: ((v.L * v.eta_g * v.Q * v.eta_l * v.N, 0.5),),
    "fedfa.delta.b.noiseless": lambda v: ((v.sigma_l, 0), (v.L * v.eta_g * v.Q * v.eta_l * v.N, 1)),
    "fedfa.param.a": lambda v: ((v.lag, v.lag * (v.window - 1)),),
    "fedfa.param.b": lambda v: ((v.lag, v.lag * (v.window - 1)), (v.L * _kappa(v) * v.Q * v.eta_l * v.N, 0.5)),
    "fedfa.param.b.noiseless": lambda v: (
        (v.lag, v.lag * (v.window - 1)),
        (v.sigma_l, 0),
        (v.L * _kappa(v) * v.Q * v.eta_l * v.N, 1),
    ),
    "fedstaleweight.theorem1": lambda v: ((v.eta_g * v.eta_l * v.Q, 1 / v.L), (v.scale, v.b)),
    "fedstaleweight.rf3": lambda v: ((v.L * v.eta_g * v.Q * v.eta_l, 0.5),),
    "fedbuff.rf3": lambda v: ((v.L * v.eta_g * v.Q * v.eta_l, 0.5),),
}


def _kappa(v: SimpleNamespace) -> float:
    return 1 / (1 + v.lag + (v.window - 1) / 2)


def _up_to(limit: Callable[[SimpleNamespace], float]) -> Callable[[SimpleNamespace], Sides]:
    return lambda v: ((v.alpha, limit(v)),)


# Of the textbook theorems, the conditions on the step; that of full gradients is the same for all.
_TEXTBOOK: dict[str, Callable[[SimpleNamespace], Sides]] = {
    **dict.fromkeys(
        (
            "gd.convex",
            "gd.ergodic",
            "gd.decaying",
            "gd.gradient",
            "gd.gradient-gap",
            "gd.nonconvex",
            "nesterov",
            "sgd.gap",
            "sgd.nonconvex",
            "proximal-gradient",
            "fista",
        ),
        _up_to(lambda v: 1 / v.L),
    ),
    **dict.fromkeys(
        ("gd.strongly-convex", "gd.strongly-convex.gap", "gd.pl", "proximal-gradient.strongly-convex"),
        _up_to(lambda v: 2 / v.L),
    ),
    **dict.fromkeys(("sgd.distance", "local-gd", "proximal-gradient.local"), _up_to(lambda v: 2 / (v.mu + v.L))),
    "sgd.heterogeneous": _up_to(lambda v: 0.5 / v.L),
    "delayed-sgd": _up_to(lambda v: 1 / (v.L + 2 * v.L * v.tau_max)),
    "sgd.sampled": _up_to(lambda v: 0.5 / v.L_max),
    "heavy-ball": _up_to(lambda v: (1 - v.beta) / v.L),
}


def sides(theorem: Theorem, values: dict[str, Any]) -> tuple[Sides, SimpleNamespace]:
    """Return both sides of every condition of a theorem at values, and all that is known there."""
    known = {**values, **theorem.evaluate(values).derived, **theorem.step_options(values)}
    numbers = {name: float(value) for name, value in known.items() if np.ndim(value) == 0}

    def number(expression: Any) -> float:
        return float(expression.subs({one: numbers[one.name] for one in expression.free_symbols}))

    found = tuple((number(one.quantity), number(one.limit)) for one in theorem.conditions)
    return found, SimpleNamespace(**numbers)


def agree(found: Iterable[tuple[float, float]], expected: Sides) -> None:
    assert [pytest.approx(one, rel=1e-12) for one in expected] == list(found)


@pytest.mark.sweep(18)
@pytest.mark.parametrize("point", [FIRST, SECOND], ids=["first", "second"])
@pytest.mark.parametrize("server", [1.0, 1.5])
@pytest.mark.parametrize("theorem", BY_ID.values(), ids=lambda theorem: theorem.id)
def test_the_conditions_of_gradient_theorems_are_those_of_the_second_transcription(
    theorem: Theorem, server: float, point: dict[str, Any]
) -> None:
    values = with_server_step(theorem, point, server)
    if theorem.id == "fedfa.corollary" and server != 1.0:
        values |= {"eta_g": 2.5, "eta_l": 0.01}
    found, v = sides(theorem, values)
    name = theorem.id.removesuffix(ALONG_RUN)
    agree(found, _STEPS[name](v) if name in _STEPS else ())


@pytest.mark.sweep(6)
@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("theorem", AREA.values(), ids=lambda theorem: theorem.id)
def test_the_conditions_of_areas_theorems_are_those_of_the_second_transcription(theorem: Theorem, point: str) -> None:
    found, _ = sides(theorem, area_values(theorem, POINTS[point]))
    name = theorem.id.removesuffix(ALONG_RUN)
    expected = _STEPS[name](seen(POINTS[point])) if name in _STEPS else ()
    agree(found, expected)


@pytest.mark.sweep(4)
@pytest.mark.parametrize("name", sorted(CLASSICS))
def test_the_step_conditions_of_textbook_theorems_are_those_of_the_second_transcription(name: str) -> None:
    theorem, values = CLASSICS[name], BY_HAND[name][0]
    found, v = sides(theorem, needed(theorem, values))
    expected = _TEXTBOOK[name](v) if name in _TEXTBOOK else ()
    on_steps = [one for one, it in zip(found, theorem.conditions, strict=True) if str(it.quantity) != "sigma"]
    agree(on_steps, expected)
    assert all(one == (0, 0) for one in found if one not in on_steps)


EVERY = pytest.mark.parametrize("theorem", GRADIENT_THEOREMS, ids=lambda theorem: theorem.id)

# ------------------------------------------------------------- the formulas once more, in plain floating point

# Steps are those of the theorem where none is set: OWN_STEPS, below.


def _positive_root(b: float, c: float) -> float:
    """Return the X > 0 with X² − bX = c."""
    return b / 2 + math.sqrt(b * b / 4 + c)


def _compass(v: SimpleNamespace, g1: float, g2: float) -> Terms:
    sigma2 = v.sigma_l**2 + v.sigma_g**2 + v.G_sq
    return {
        "initial": 2 * g2 * v.F0 / (v.eta * v.Qmin * v.T),
        "noise": 2 * g2 * v.eta * v.n**2 * v.sigma_l**2 * v.L * v.Qmax**2 / (g1**2 * v.Qmin),
        "staleness": 6 * g2 * v.n * v.eta**2 * sigma2 * v.L**2 * v.Qmax**3 / (g1 * v.Qmin) * (v.tau_max**2 + 1),
    }


def _compass1(v: SimpleNamespace) -> Terms:
    ratio = v.Qmax / v.Qmin
    power = 1.0
    while power * ratio <= v.speed_ratio:
        power *= ratio
    return _compass(v, 1 + (v.n - 1) / power, 1 + power * (v.n - 1))


def _compass_corollary(v: SimpleNamespace) -> Terms:
    sigma2 = v.sigma_l**2 + v.sigma_g**2 + v.G_sq
    return {
        "initial": v.n * v.F0 / v.T**0.5,
        "noise": v.n * v.sigma_l**2 * v.L / v.T**0.5,
        "staleness": v.n * v.tau_max**2 * sigma2 * v.L**2 / v.T,
    }


def _window(v: SimpleNamespace, noise: bool, form: str) -> Terms:
    eta, c = v.eta, math.sqrt(v.G_sq + v.sigma_l**2)
    B = v.sigma_g * v.share_bias
    e = v.L * eta * c * (v.A_max * max(v.tau_max, v.N - 1) + (v.Qmax - 1) / 2)
    start = (v.N * v.F0 + eta * math.sqrt(v.G_sq) * c * v.A_max * v.N * (v.N - 1) / 2) / (eta * v.W_min * v.T)
    if form == "a":
        root = _positive_root(v.W_max / v.W_min * (B + e), start + v.L * eta / 2 * v.W_max**2 / v.W_min * c**2)
        return {"bound": root**2}
    terms = {"initial": 2 * start, "bias and staleness": v.W_max / v.W_min * (B + e) ** 2}
    return terms | ({"noise": 2 * v.L * eta * v.sigma_l**2 * v.V_max / v.W_min} if noise else {})


def _group(v: SimpleNamespace) -> Terms:
    eta, c = v.eta, math.sqrt(v.G_sq + v.sigma_l**2)
    return {
        "initial": 2 * v.F0 / (eta * v.Q_mean * v.T),
        "noise": 2 * v.L * eta * v.sigma_l**2 / v.n,
        "bias and staleness": (v.sigma_g * v.Q_bias + v.L * eta * c * (v.Qmax - 1) / 2) ** 2,
    }


def _fedfa1(v: SimpleNamespace, smooth: float) -> Terms:
    server, alpha, beta = v.eta_g, v.Q * v.eta_l, v.Q * v.eta_l**2  # Σ η and Σ η² of Q equal steps
    return {
        "initial": 2 * v.F0 / (server * alpha * v.T),
        "staleness and drift": 3
        * smooth**2
        * v.Q
        * beta
        * (server**2 * v.tau_max**2 + 1)
        * (v.sigma_l**2 + v.sigma_g**2 + v.G_sq),
        "noise": smooth / 2 * server * (beta / alpha) * v.sigma_l**2,
    }


def _fedfa_corollary(v: SimpleNamespace) -> Terms:
    sigma2 = v.sigma_l**2 + v.sigma_g**2 + v.G_sq
    return {
        "initial": v.F0 / math.sqrt(v.T * v.Q),
        "noise": v.sigma_l**2 / math.sqrt(v.T * v.Q),
        "drift": v.Q * sigma2 / (v.T * v.window**2),
        "staleness": v.Q * sigma2 * v.tau_max**2 / (v.T * v.window**2),
    }


def _fedfa(v: SimpleNamespace, mode: str, form: str) -> Terms:
    late = (v.window - 1) / 2
    rate, age = (v.eta_g, v.tau_a) if mode == "delta" else (1 / (1 + v.lag + late), v.lag)
    away = v.eta_g * late if mode == "delta" else v.C_lag
    alpha, beta = v.Q * v.eta_l, v.Q * v.eta_l**2
    c, root_g = math.sqrt(v.G_sq + v.sigma_l**2), math.sqrt(v.G_sq)
    B = v.sigma_g * v.share_bias
    e = v.L * c * (rate * alpha * max(age, v.N - 1) + away * alpha + (alpha**2 - beta) / (2 * alpha))
    gap = v.F0 + root_g * c * rate * alpha * late  # f(v_0) − inf f: the window's filling has moved v_0 away from w_0
    start = gap / (rate * alpha * v.T) + root_g * c * (v.N - 1) / (2 * v.T)
    shift = v.L * alpha * c * away
    if form == "a":
        X = _positive_root(B + e, start + v.L / 2 * rate * alpha * v.N * c**2)
        return {"virtual iterate": X**2, "window": (X + shift) ** 2 - X**2}
    terms = {"initial": 2 * start, "bias and staleness": (B + e) ** 2}
    terms |= {"noise": 2 * v.L * rate * (beta / alpha) * v.sigma_l**2} if form == "b" else {}
    X = math.sqrt(sum(terms.values()))
    return {**terms, "window": (X + shift) ** 2 - X**2}


def _afl1(v: SimpleNamespace) -> Terms:
    x, power = v.L * v.eta, v.sigma**2 + v.G**2
    return {
        "initial": 2 * v.F0 / (v.eta * v.T),
        "noise": x / v.n * power,
        "local steps": x**2 * (v.K_m + v.D_m) ** 2 * v.G**2,
        "delays": x**2 / v.n**2 * power * v.tau_sum,
    }


def _afl_corollary(v: SimpleNamespace) -> Terms:
    power = v.sigma**2 + v.G**2
    return {
        "initial": v.L * v.F0 / math.sqrt(v.n * v.T),
        "noise": power / math.sqrt(v.n * v.T),
        "local steps": v.n / v.T * (v.K_m + v.D_m) ** 2 * v.G**2,
        "delays": v.n / v.T * (2 * v.t_d - 1) * power,
    }


def _afl(v: SimpleNamespace, **terms: float) -> Terms:
    return {"initial": 2 * v.F0 / (v.eta * v.T), **{name.replace("_", " "): term for name, term in terms.items()}}


def _afl_r1(v: SimpleNamespace) -> Terms:
    x = v.L * v.eta
    return _afl(v, local_steps=2 * x**2 * v.M_own**2 * v.G**2)


def _afl_r2(v: SimpleNamespace) -> Terms:
    x = v.L * v.eta
    found = _afl(v, second_order=x * v.G**2, staleness=x**2 * v.G**2 * v.SM2)
    return {**found, "re-use": 2 * x * v.G * v.sigma * v.reuse}


def _afl_r2b(v: SimpleNamespace) -> Terms:
    x = v.L * v.eta
    found = _afl(v, noise=2 * x * v.sigma**2 / v.n, staleness=x**2 * v.G**2 * v.SM2)
    return {**found, "re-use": 2 * x * v.G * v.sigma * v.reuse_n}


def _afl_r3(v: SimpleNamespace) -> Terms:
    x, noise = v.L * v.eta, v.sigma**2 / v.n
    found = _afl(v, local_steps=2 * x**2 * v.M_own**2 * v.G**2, noise=noise * (2 * x + 4 * x**2 * v.S**2))
    return {**found, "re-use": noise * (2 * x * v.Q_age**1.5 + 4 * x**2 * v.Q_age**3)}


def _stale1(v: SimpleNamespace) -> Terms:
    server, A, beta = v.eta_g, v.Q * v.eta_l, v.Q * v.eta_l**2
    sigma2 = v.sigma_l**2 + v.sigma_g_mean**2 + v.G_sq
    a_max = (v.b * v.tau_max + 1) / (v.b * (v.tau_max + 1))
    a_min = 1 / ((v.b - 1) * (v.b * v.tau_max + 1) + 1)
    U = max((1 / v.b - a_max) ** 2, (1 / v.b - a_min) ** 2)
    factor = ((v.b * v.tau_max + 1) / (v.tau_max + 1)) ** 2
    return {
        "initial": 2 * v.F0 / (server * A * v.T),
        "staleness": 12 * server**2 * v.tau_max**2 * beta * v.Q * v.L**2 * factor * sigma2,
        "drift": 12 * beta * v.Q * v.L**2 * sigma2,
        "weights": 4 * v.b**2 * U * v.G_sq,
    }


def _buffer(v: SimpleNamespace, which: int) -> Terms:
    server, etas = v.eta_g, [v.eta_l] * v.Q
    A, beta, s2 = sum(etas), sum(eta**2 for eta in etas), v.sigma_l**2 + v.G_sq
    drift = sum(eta * (server * A * v.tau_max + sum(etas[:q])) ** 2 for q, eta in enumerate(etas)) / A
    terms = {"initial": 2 * v.F0 / (server * A * v.T), "staleness and drift": 2 * v.L**2 * s2 * drift}
    if which == 1:
        return terms | {"unequal weights": 2 * v.chi2_path * v.sigma_g_mean**2, "second order": v.L * server * A * s2}
    terms["unequal shares"] = 2 * v.chi2 * v.sigma_g_mean**2
    if which == 2:
        return terms | {"second order": v.L * server * A * s2}
    away = server * A * v.tau_max + sum(etas[:-1])
    V_s = min(v.G_sq, 2 * v.n * v.pi_max * v.sigma_g_mean**2 + 2 * v.L**2 * s2 * away**2)
    noise = 2 * v.L * server * (beta / A) * v.alpha2 * v.sigma_l**2
    return terms | {"noise": noise, "sampling": 2 * v.L * server * A * V_s}


ONCE_MORE: dict[str, Callable[[SimpleNamespace], Terms]] = {
    "fedcompass.theorem1": _compass1,
    "fedcompass.corollary1": _compass_corollary,
    "fedcompass.corollary1.explicit": lambda v: _compass(v, v.n, v.n),
    "fedcompass.window.a": lambda v: _window(v, True, "a"),
    "fedcompass.window.b": lambda v: _window(v, True, "b"),
    "fedcompass.window.b.noiseless": lambda v: _window(v, False, "b"),
    "fedcompass.group": _group,
    "afl_dga.theorem1": _afl1,
    "afl_dga.corollary1": _afl_corollary,
    "afl_dga.r0": lambda v: _afl(v, noise=v.L * v.eta * v.sigma**2 / v.n),
    "afl_dga.r1": _afl_r1,
    "afl_dga.r2": _afl_r2,
    "afl_dga.r2n": lambda v: _afl(v, staleness=(v.L * v.eta * v.G) ** 2 * v.SM2),
    "afl_dga.r2b": _afl_r2b,
    "afl_dga.r3": _afl_r3,
    "fedfa.theorem1": lambda v: _fedfa1(v, v.L),
    "fedfa.theorem1.squared-smoothness": lambda v: _fedfa1(v, v.L**2),
    "fedfa.corollary": _fedfa_corollary,
    **{
        f"fedfa.{mode}.{form}": lambda v, mode=mode, form=form: _fedfa(v, mode, form)  # type: ignore[misc]
        for mode in ("delta", "param")
        for form in ("a", "b", "b.noiseless")
    },
    "fedstaleweight.theorem1": _stale1,
    **{
        f"{name}.rf{which}": lambda v, which=which: _buffer(v, which)  # type: ignore[misc]
        for name in ("fedbuff", "fedstaleweight")
        for which in (1, 2, 3)
    },
}


OWN_STEPS: dict[str, Callable[[SimpleNamespace], dict[str, float]]] = {
    "fedcompass.theorem1": lambda v: {"eta": 1 / (2 * v.L * v.Qmax)},
    "fedcompass.corollary1": lambda v: {"eta": 1 / (2 * v.L * v.Qmax * math.sqrt(v.T))},
    "fedcompass.corollary1.explicit": lambda v: {"eta": 1 / (2 * v.L * v.Qmax)},
    **dict.fromkeys(
        ("fedcompass.window.a", "fedcompass.window.b", "fedcompass.window.b.noiseless"),
        lambda v: {"eta": 1 / (2 * v.L * v.W_max)},
    ),
    "fedcompass.group": lambda v: {"eta": 1 / (2 * v.L * v.Q_mean)},
    "afl_dga.theorem1": lambda v: {"eta": 1 / (v.L * math.sqrt(v.T))},
    "afl_dga.corollary1": lambda v: {"eta": math.sqrt(v.n / v.T) / v.L},
    "afl_dga.r0": lambda v: {"eta": 1 / v.L},
    "afl_dga.r1": lambda v: {"eta": 1 / v.L / (1 + v.S * (math.sqrt(2) if v.M_own else 1))},
    **dict.fromkeys(("afl_dga.r2", "afl_dga.r2n", "afl_dga.r2b"), lambda v: {"eta": 1 / (4 * v.L)}),
    "afl_dga.r3": lambda v: {"eta": 1 / (4 * v.L * (1 + v.S))},
    "fedfa.theorem1": lambda v: {"eta_g": v.eta_g, "eta_l": 1 / (v.L * v.Q * v.eta_g)},
    "fedfa.theorem1.squared-smoothness": lambda v: {"eta_g": v.eta_g, "eta_l": 1 / (v.L**2 * v.Q * v.eta_g)},
    "fedfa.corollary": lambda v: {
        "eta_g": v.window,
        "eta_l": 1 / (v.L * v.window * max(v.Q, math.sqrt(v.T * v.Q))),
    },
    **dict.fromkeys(
        ("fedfa.delta.a", "fedfa.delta.b", "fedfa.delta.b.noiseless"),
        lambda v: {"eta_g": v.eta_g, "eta_l": 1 / (2 * v.L * v.N * v.Q * v.eta_g)},
    ),
    **dict.fromkeys(
        ("fedfa.param.a", "fedfa.param.b", "fedfa.param.b.noiseless"),
        lambda v: {"eta_l": (1 + v.lag + (v.window - 1) / 2) / (2 * v.L * v.N * v.Q)},
    ),
    "fedstaleweight.theorem1": lambda v: {"scale": v.b, "eta_g": v.eta_g, "eta_l": 1 / (v.L * v.Q * v.eta_g)},
    **dict.fromkeys(
        (f"{name}.rf{form}" for name in ("fedbuff", "fedstaleweight") for form in (1, 2, 3)),
        lambda v: {"eta_g": v.eta_g, "eta_l": 1 / (2 * v.L * v.Q * v.eta_g * (1 + v.tau_max))},
    ),
}


@pytest.mark.sweep(18)
@pytest.mark.parametrize("point", [FIRST, SECOND], ids=["first", "second"])
@pytest.mark.parametrize("server", [1.0, 1.5])
@EVERY
def test_terms_and_steps_are_those_of_the_second_transcription(
    theorem: Theorem, server: float, point: dict[str, Any]
) -> None:
    """At the theorem's own local step, and at 2/5 and 9/10 of it; shapes have no step in their terms."""
    values = with_server_step(theorem, point, server)
    v = SimpleNamespace(**{"eta_g": server, **point, **values})
    own = OWN_STEPS[theorem.id.removesuffix(ALONG_RUN)](v)
    assert dict(theorem.step_options(values)) == pytest.approx(own, rel=1e-12)
    local = next(name for name in own if name in ("eta", "eta_l"))
    for share in (1.0,) if theorem.shape else (1.0, 0.4, 0.9):
        step = {} if share == 1.0 else {local: share * own[local]}
        expected = ONCE_MORE[theorem.id.removesuffix(ALONG_RUN)](SimpleNamespace(**{**vars(v), **own, **step}))
        found = theorem.evaluate({**values, **step})
        assert {name: float(term) for name, term in found.terms.items()} == pytest.approx(expected, rel=1e-12)
        assert float(found.total) == pytest.approx(sum(expected.values()), rel=1e-12)


# ------------------------------------------------------------------------------------- monotone, and limits


@pytest.mark.parametrize(
    ("low", "high", "speed_ratio", "expected"),
    [
        (4, 16, 3.9, 1),
        (4, 16, 4, 4),
        (4, 16, 63, 16),
        (1, 10, 1000, 1000),
        (1, 5, 125, 125),
        (7, 7, 3, 3),
        (7, 7, 1, 1),
    ],
)
def test_mu_prime_is_the_largest_power_of_the_ratio_and_its_limit_for_ratio_1(
    low: int, high: int, speed_ratio: float, expected: float
) -> None:
    values = {**at(BY_ID["fedcompass.theorem1"], FIRST), "Qmin": low, "Qmax": high, "speed_ratio": speed_ratio}
    found = BY_ID["fedcompass.theorem1"].evaluate(values).derived
    assert float(found["mu_step"]) == pytest.approx(expected, rel=1e-12)


def test_a_model_that_never_settles_is_refused() -> None:
    theorem = BY_ID["fedfa.param.b"]
    with pytest.raises(AssumptionError, match=r"K ≥ 2 or lag = 0"):
        theorem.evaluate({**at(theorem, FIRST), "window": 1})
    assert float(theorem.evaluate({**at(theorem, FIRST), "window": 1, "lag": 0}).total) > 0


# ------------------------------------------------------------------------------------ counters, steps, fields


def test_local_steps_of_different_sizes_may_be_given_by_their_sums() -> None:
    # η = (0.02, 0.01), η_g = 1, τ = 3: A = 0.03, drift = (0.02·0.09² + 0.01·0.11²)/0.03.
    theorem = BY_ID["fedbuff.rf1"]
    values = {**at(theorem, FIRST), "Q": 2, "eta_sum": 0.03, "eta_sq": 5e-4}
    drift = (0.02 * 0.09**2 + 0.01 * 0.11**2) / 0.03
    found = theorem.evaluate({**values, "drift": drift})
    assert float(found.terms["staleness and drift"]) == pytest.approx(2 * 4 * 4.25 * drift)
    assert float(found.terms["initial"]) == pytest.approx(2 * 3 / (0.03 * 400))
