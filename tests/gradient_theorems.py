"""The theorems about (1/T) Σ E‖∇f(w^t)‖², and values at which all of them can be evaluated."""

from typing import Any

from paper_theorems import of_papers

from boundlab.theorems import Theorem

BY_ID = of_papers("fedcompass", "afl_dga", "fedfa", "fedstaleweight", "fedbuff")
GRADIENT_THEOREMS = (*BY_ID.values(),)

FIRST: dict[str, Any] = {
    "L": 2.0,
    "F0": 3.0,
    "sigma_l": 0.5,
    "sigma_g": 0.75,
    "sigma_g_mean": 0.6,
    "G_sq": 4.0,
    "G": 2.5,
    "sigma": 0.5,
    "T": 400,
    "n": 5,
    "Q": 4,
    "tau_max": 3,
    "N": 2,
    "share_bias": 0.1,
    "Qmin": 4,
    "Qmax": 16,
    "speed_ratio": 20.0,
    "A_max": 9.0,
    "W_min": 12.0,
    "W_max": 15.0,
    "V_max": 7.0,
    "Q_mean": 9.0,
    "Q_bias": 0.2,
    "window": 3,
    "tau_a": 2,
    "lag": 2,
    "C_lag": 0.7,
    "K_m": 3,
    "D_m": 2,
    "t_d": 4,
    "tau_sum": 30.0,
    "S": 2,
    "M_own": 3,
    "Q_age": 3,
    "SM2": 11.0,
    "reuse": 0.8,
    "reuse_n": 0.5,
    "b": 3,
    "chi2": 0.2,
    "chi2_path": 1.5,
    "alpha2": 0.4,
    "pi_max": 0.3,
}
SECOND: dict[str, Any] = {
    "L": 0.25,
    "F0": 1.0,
    "sigma_l": 2.0,
    "sigma_g": 0.1,
    "sigma_g_mean": 0.05,
    "G_sq": 1.0,
    "G": 3.0,
    "sigma": 2.0,
    "T": 77,
    "n": 12,
    "Q": 2,
    "tau_max": 1,
    "N": 7,
    "share_bias": 1.5,
    "Qmin": 2,
    "Qmax": 6,
    "speed_ratio": 2.5,
    "A_max": 1.25,
    "W_min": 0.5,
    "W_max": 8.0,
    "V_max": 1.5,
    "Q_mean": 1.25,
    "Q_bias": 0.9,
    "window": 6,
    "tau_a": 9,
    "lag": 1,
    "C_lag": 0.6,
    "K_m": 1,
    "D_m": 0,
    "t_d": 2,
    "tau_sum": 12.0,
    "S": 7,
    "M_own": 0,
    "Q_age": 1,
    "SM2": 4.0,
    "reuse": 0.1,
    "reuse_n": 0.3,
    "b": 2,
    "chi2": 1.2,
    "chi2_path": 5.5,
    "alpha2": 0.5,
    "pi_max": 0.6,
}
_NOISELESS = {"sigma": 0.0, "sigma_l": 0.0}
# What single theorems ask for beyond that: full gradients, one group, no delay.
SPECIAL: dict[str, dict[str, Any]] = {
    **{name: _NOISELESS for name in BY_ID if name.endswith(".noiseless")},
    "afl_dga.r1": _NOISELESS,
    "afl_dga.r2n": _NOISELESS,
    "afl_dga.r0": {"Q_age": 0, "K_m": 1, "S": 0, "M_own": 0},
    "fedcompass.corollary1": {"speed_ratio": 1.5},
    "fedcompass.corollary1.explicit": {"speed_ratio": 1.5},
    "fedcompass.group": {"tau_max": 0},
}


def at(theorem: Theorem, point: dict[str, Any]) -> dict[str, Any]:
    """Return the values of a point that a theorem accepts, its step left to its default."""
    name = theorem.id.removesuffix(".along-run")
    values = {**point, **SPECIAL.get(name, {})}
    if name == "fedcompass.group":
        values["A_max"] = values["Q_mean"]
    return {name: values[name] for name in theorem.inputs()} | ({"N": values["N"]} if "N" in theorem.settable else {})


def with_server_step(theorem: Theorem, point: dict[str, Any], size: float) -> dict[str, Any]:
    """Return the values of a point, with this server step where the theorem leaves it open and it is not 1."""
    opened = size != 1.0 and "eta_g" in theorem.settable and theorem.id != "fedfa.corollary"
    return at(theorem, point) | ({"eta_g": size} if opened else {})


def bound_at(theorem: Theorem, values: dict[str, Any]) -> float:
    """Return the registered bound at those of the values that the theorem reads or that may be set."""
    wanted = {*theorem.inputs(), *theorem.settable}
    return float(theorem.evaluate({name: value for name, value in values.items() if name in wanted}).total)
