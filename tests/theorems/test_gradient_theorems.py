"""Theorems about the average squared gradient norm: their numbers, limits and steps, written down a second time."""

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from gradient_theorems import BY_ID, FIRST, GRADIENT_THEOREMS, SECOND, at, with_server_step

from boundlab.errors import AssumptionError, SpecError
from boundlab.formulas.symbols import SYMBOLS
from boundlab.metrics import MEAN, METRICS
from boundlab.theorems import ALONG_RUN, Theorem

Terms = dict[str, float]
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


def test_one_term_of_the_printed_theorem_by_hand() -> None:
    # Q = 16/4 = 4, μ = 20: μ' = 4² = 16; γ₁ = 1 + 4/16 = 5/4, γ₂ = 1 + 16·4 = 65; η = 1/(2·2·16) = 1/64;
    # 2·65·3/((1/64)·4·400) = 390·64/1600 = 15.6.
    theorem = BY_ID["fedcompass.theorem1"]
    assert theorem.evaluate(at(theorem, FIRST)).terms["initial"] == pytest.approx(15.6)


# ------------------------------------------------------------------------------------- monotone, and limits

GROWS = (
    "F0",
    "sigma_l",
    "sigma_g",
    "sigma_g_mean",
    "G_sq",
    "G",
    "sigma",
    "share_bias",
    "tau_max",
    "tau_a",
    "A_max",
    "W_max",
    "V_max",
    "Q_bias",
    "C_lag",
    "K_m",
    "D_m",
    "t_d",
    "tau_sum",
    "S",
    "M_own",
    "Q_age",
    "SM2",
    "reuse",
    "reuse_n",
    "chi2",
    "chi2_path",
    "alpha2",
    "pi_max",
    "L",
)


@pytest.mark.sweep(5)
@EVERY
def test_the_bound_grows_with_every_constant_and_shrinks_with_the_horizon(theorem: Theorem) -> None:
    values = at(theorem, FIRST)
    values |= {name: size / 3 for name, size in theorem.step_options(values).items() if name in ("eta", "eta_l")}
    base = float(theorem.evaluate(values).total)
    excluded = {"fedcompass.group": {"tau_max", "A_max"}, "afl_dga.r0": {"K_m", "S", "M_own", "Q_age"}}
    noiseless = {"sigma", "sigma_l"} if "σ" in str([c.statement for c in theorem.conditions]) else set()
    for name in (
        set(GROWS) & set(theorem.inputs()) - excluded.get(theorem.id.removesuffix(ALONG_RUN), set()) - noiseless
    ):
        more = values[name] + 1 if SYMBOLS[name].domain.integer else values[name] * 1.01 + 1e-6
        assert float(theorem.evaluate({**values, name: more}).total) >= base * (1 - 1e-12), name
    assert float(theorem.evaluate({**values, "T": 2 * values["T"]}).total) < base


def test_corollary_1_is_theorem_1_where_mu_prime_is_1() -> None:
    explicit, theorem = BY_ID["fedcompass.corollary1.explicit"], BY_ID["fedcompass.theorem1"]
    values = at(explicit, FIRST)
    assert explicit.evaluate(values).total == pytest.approx(theorem.evaluate(values).total, rel=1e-14)
    # The corollary includes Qmin = Qmax/μ, where ⌊log_Q μ⌋ is 1 and μ' = Q.
    edge = {**values, "speed_ratio": 4.0}
    assert explicit.evaluate(edge).total < theorem.evaluate(edge).total


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


def test_the_equilibrium_of_one_group_is_a_window_of_one_update() -> None:
    group = at(BY_ID["fedcompass.group"], FIRST)
    window = {
        **group,
        "N": 1,
        "W_min": group["Q_mean"],
        "W_max": group["Q_mean"],
        "V_max": group["Q_mean"] / group["n"],
        "share_bias": group["Q_bias"],
    }
    assert BY_ID["fedcompass.window.b"].evaluate(window).total == pytest.approx(
        BY_ID["fedcompass.group"].evaluate(group).total, rel=1e-13
    )


def test_fedfa_with_a_window_of_one_arrival_is_asynchronous_sgd() -> None:
    # One run of one step with weight η_g in every update: A = η_g, W = N·η_g, V = N·η_g².
    delta = {**at(BY_ID["fedfa.delta.b"], FIRST), "window": 1, "Q": 1, "eta_g": 0.5, "eta_l": 0.01}
    window = {
        **delta,
        "eta": 0.01,
        "Qmax": 1,
        "tau_max": delta["tau_a"],
        "A_max": 0.5,
        "W_min": 1.0,
        "W_max": 1.0,
        "V_max": 0.5,
    }
    assert delta["N"] == 2
    for form in ("a", "b"):
        assert BY_ID[f"fedfa.delta.{form}"].evaluate(delta).total == pytest.approx(
            BY_ID[f"fedcompass.window.{form}"].evaluate(window).total, rel=1e-13
        )


def test_without_lag_and_window_averaging_models_is_averaging_moves() -> None:
    still = {"window": 1, "lag": 0, "C_lag": 0.0, "tau_a": 0, "eta_l": 0.01}
    for form in ("a", "b"):
        param, delta = (BY_ID[f"fedfa.{mode}.{form}"] for mode in ("param", "delta"))
        assert param.evaluate({**FIRST, **still, "F_v": 3.0, "kappa_lag": 1.0}).total == pytest.approx(
            delta.evaluate({**FIRST, **still, "F_v": 3.0, "eta_g": 1.0}).total, rel=1e-14
        )


def test_a_model_that_never_settles_is_refused() -> None:
    theorem = BY_ID["fedfa.param.b"]
    with pytest.raises(AssumptionError, match=r"K ≥ 2 or lag = 0"):
        theorem.evaluate({**at(theorem, FIRST), "window": 1})
    assert float(theorem.evaluate({**at(theorem, FIRST), "window": 1, "lag": 0}).total) > 0


def test_equal_weights_and_no_staleness_leave_no_weight_term() -> None:
    theorem = BY_ID["fedstaleweight.theorem1"]
    found = theorem.evaluate({**at(theorem, FIRST), "tau_max": 0})
    assert float(found.terms["weights"]) == float(found.terms["staleness"]) == 0
    with pytest.raises(AssumptionError, match="scale ≤ b"):
        theorem.evaluate({**at(theorem, FIRST), "scale": 4})
    assert theorem.evaluate({**at(theorem, FIRST), "scale": 1}).total == theorem.evaluate(at(theorem, FIRST)).total


# ------------------------------------------------------------------------------------ counters, steps, fields


def test_all_rates_that_a_theorem_sets_are_options_of_the_algorithm() -> None:
    buffer = BY_ID["fedstaleweight.theorem1"]
    assert buffer.step_options(at(buffer, FIRST)) == {"eta_l": 1 / 8, "eta_g": 1, "scale": 3}
    assert buffer.step_options({**at(buffer, FIRST), "eta_g": 2})["eta_l"] == 1 / 16
    assert buffer.parameters == {"M": "Q", "count": "b"}
    assert BY_ID["fedfa.delta.b"].parameters == {"Q": "Q", "K": "window"}
    assert set(BY_ID["fedfa.param.b"].step_options(at(BY_ID["fedfa.param.b"], FIRST))) == {"eta_l"}
    with pytest.raises(SpecError, match=r"sets eta_l, eta_g, scale; take step_options"):
        buffer.step_sizes(at(buffer, FIRST), 3)
    assert BY_ID["afl_dga.r3"].step_sizes(at(BY_ID["afl_dga.r3"], FIRST), 2).tolist() == [1 / 24] * 3


@pytest.mark.parametrize("algorithm", ["fedbuff", "fedstaleweight"])
def test_buffered_theorems_are_about_their_own_algorithm(algorithm: str) -> None:
    own = [theorem for theorem in GRADIENT_THEOREMS if theorem.id.startswith(f"{algorithm}.rf")]
    assert [theorem.id for theorem in own] == [
        f"{algorithm}.rf{which}{form}" for form in ("", ALONG_RUN) for which in (1, 2, 3)
    ]
    assert {theorem.algorithm for theorem in own} == {algorithm}


def test_local_steps_of_different_sizes_may_be_given_by_their_sums() -> None:
    # η = (0.02, 0.01), η_g = 1, τ = 3: A = 0.03, drift = (0.02·0.09² + 0.01·0.11²)/0.03.
    theorem = BY_ID["fedbuff.rf1"]
    values = {**at(theorem, FIRST), "Q": 2, "eta_sum": 0.03, "eta_sq": 5e-4}
    drift = (0.02 * 0.09**2 + 0.01 * 0.11**2) / 0.03
    found = theorem.evaluate({**values, "drift": drift})
    assert float(found.terms["staleness and drift"]) == pytest.approx(2 * 4 * 4.25 * drift)
    assert float(found.terms["initial"]) == pytest.approx(2 * 3 / (0.03 * 400))


def test_left_sides_say_what_they_count() -> None:
    assert {side.id: (side.counter, side.first, side.units) for side in METRICS.values()} == {
        "squared-distance": ("K", 0, (0, 2)),
        "mean-distance": ("K", 0, (0, 2)),
        "ergodic-gap": ("K", 1, (1, 0)),
        "gap": ("K", 0, (1, 0)),
        "gradient-norm": ("T", 1, (2, -2)),
        "gradient-norm-last": ("K", 0, (2, -2)),
    }
    assert METRICS["gradient-norm"].over is MEAN
    assert not METRICS["gradient-norm"].over.averages_iterates
