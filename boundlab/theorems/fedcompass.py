"""The theorems about FedCompass (Li et al.), as printed and as repaired."""

from collections.abc import Mapping
from typing import Any

from sympy import Expr, floor, log, sqrt

from boundlab.formulas.symbols import symbol
from boundlab.theorems._bound import Condition, FormulaBound
from boundlab.theorems._forms import (
    NONCONVEX,
    ONE,
    OPEN,
    SECOND_MOMENT,
    SHARES,
    ZERO,
    largest,
    proof_of,
    quadratic_root,
)
from boundlab.theorems._theorem import Theorem

_PAPER = "Li et al., FedCompass"
_PAGE = "docs/theory/fedcompass.md"
_CASES = "proofs/counterexamples"
_LETTERS = {"eta": r"\eta_\ell", "F0": "F^*", "G_sq": "M"}
_PRINTED_LETTERS = {**_LETTERS, "n": "m", "speed_ratio": r"\mu"}
_WINDOWS = ("fedcompass.window.a", "fedcompass.window.b", "fedcompass.window.b.noiseless")
_PROOF = {**OPEN, "st": "constant"}
_REPAIRED = (*NONCONVEX, "fixed-schedule")

L, F0, T, eta, n, N = (symbol(name) for name in ("L", "F0", "T", "eta", "n", "N"))
sigma_l, sigma_g, G_sq, s2, sigma2 = (symbol(name) for name in ("sigma_l", "sigma_g", "G_sq", "s2", "sigma2"))
Qmin, Qmax, speed_ratio, mu_step = (symbol(name) for name in ("Qmin", "Qmax", "speed_ratio", "mu_step"))
g1, g2, tau_max, Q_mean, Q_bias = (symbol(name) for name in ("g1", "g2", "tau_max", "Q_mean", "Q_bias"))
A_max, W_min, W_max, V_max = (symbol(name) for name in ("A_max", "W_min", "W_max", "V_max"))
bias, stale, E_init = (symbol(name) for name in ("bias", "stale", "E_init"))

# --------------------------------------------------------------------------------------------- as printed

_SIGMA2 = {"sigma2": sigma_l**2 + sigma_g**2 + G_sq}
_RANGE = Condition(Qmin, Qmax, "Qmin ≤ Qmax")
_PRINTED_STEP = Condition(eta, 1 / (2 * L * Qmax), "η ≤ 1/(2·L·Qmax)")
_ONE_GROUP = Condition(Qmin, Qmax / speed_ratio, "Qmin ≤ Qmax/speed_ratio")
_NO_BIAS = (
    "No term for clients that weigh differently in the updates than in f survives η → 0 with η·T → ∞, although "
    "unequal local steps or arrivals move the limit of the run."
)


def _printed(first: Expr, second: Expr) -> FormulaBound:
    """Return the three terms of (1) with γ₁ = ``first`` and γ₂ = ``second``."""
    return FormulaBound(
        {
            "initial": 2 * second * F0 / (eta * Qmin * T),
            "noise": 2 * second * eta * n**2 * sigma_l**2 * L * Qmax**2 / (first**2 * Qmin),
            "staleness": 6 * second * n * eta**2 * sigma2 * L**2 * Qmax**3 / (first * Qmin) * (tau_max**2 + 1),
        }
    )


THEOREM1 = Theorem(
    id="fedcompass.theorem1",
    proofs=("fedcompass.theorem1",),
    title="nonconvex smooth functions with bounded gradients, FedCompass's scheduler",
    paper=_PAPER,
    place="Theorem 1",
    status="as printed",
    assumptions=NONCONVEX,
    algorithm="fedcompass",
    options=_PROOF,
    metric="gradient-norm",
    step={"eta": 1 / (2 * L * Qmax)},
    bound=_printed(g1, g2),
    definitions={
        **_SIGMA2,
        # The second part is 0 for Qmin < Qmax; for Qmin = Qmax it is the limit of the first as Qmax/Qmin → 1. There the
        # logarithm is one of 2, lest it divide by 0: the first part is 1.
        "mu_step": largest(
            (Qmax / Qmin) ** floor(log(speed_ratio) / log(Qmax / Qmin + floor(Qmin / Qmax))),
            speed_ratio * floor(Qmin / Qmax),
        ),
        "g1": 1 + (n - 1) / mu_step,
        "g2": 1 + mu_step * (n - 1),
    },
    settable=("eta", "mu_step"),
    conditions=(_RANGE, _PRINTED_STEP),
    parameters={"Qmin": "Qmin", "Qmax": "Qmax"},
    note="μ' is printed as Q^⌊log_Q μ⌋ with Q = Qmax/Qmin; for Qmin = Qmax, which the paper leaves open, the limit "
    f"μ is taken. The proof weighs every update by 1/n whatever its staleness. {_NO_BIAS}",
    refuted_by=f"{_CASES}/fedcompass.theorem1.json",
    repaired_by=_WINDOWS,
    page=_PAGE,
    letters=_PRINTED_LETTERS,
)
COROLLARY1 = Theorem(
    id="fedcompass.corollary1",
    title="the rate O(1/√T) for Qmin ≤ Qmax/μ",
    paper=_PAPER,
    place="Corollary 1",
    status="as printed",
    assumptions=NONCONVEX,
    algorithm="fedcompass",
    options=_PROOF,
    metric="gradient-norm",
    step={"eta": 1 / (2 * L * Qmax * sqrt(T))},
    bound=FormulaBound(
        {
            "initial": n * F0 / sqrt(T),
            "noise": n * sigma_l**2 * L / sqrt(T),
            "staleness": n * tau_max**2 * sigma2 * L**2 / T,
        }
    ),
    definitions=_SIGMA2,
    settable=("eta",),
    conditions=(_RANGE, _ONE_GROUP, _PRINTED_STEP),
    parameters={"Qmin": "Qmin", "Qmax": "Qmax"},
    shape=True,
    note="Printed for the smallest E‖∇F(w^t)‖²; its proof bounds the average, as here. The printed step "
    "O(1/(Qmax·√T)) gets the constant 1/(2L), which meets η ≤ 1/(2·L·Qmax). The constants of the O(·) must carry "
    "units: the terms are (1, 0), (3, −4) and (4, −6), not (2, −2).",
    repaired_by=("fedcompass.group", *_WINDOWS),
    page=_PAGE,
    letters=_PRINTED_LETTERS,
)
COROLLARY1_EXPLICIT = Theorem(
    id="fedcompass.corollary1.explicit",
    proofs=("fedcompass.corollary1.explicit",),
    title="Theorem 1 with γ₁ = γ₂ = n, for Qmin ≤ Qmax/μ",
    paper=_PAPER,
    place="Appendix C.2, eq. (24)",
    status="as printed",
    assumptions=NONCONVEX,
    algorithm="fedcompass",
    options=_PROOF,
    metric="gradient-norm",
    step={"eta": 1 / (2 * L * Qmax)},
    bound=_printed(n, n),
    definitions=_SIGMA2,
    settable=("eta",),
    conditions=(_RANGE, _ONE_GROUP, _PRINTED_STEP),
    parameters={"Qmin": "Qmin", "Qmax": "Qmax"},
    note=f"At Qmin = Qmax/μ, which the corollary includes, Theorem 1's μ' is Qmax/Qmin and not 1. {_NO_BIAS}",
    refuted_by=f"{_CASES}/fedcompass.corollary1.explicit.json",
    repaired_by=("fedcompass.group", *_WINDOWS),
    page=_PAGE,
    letters=_PRINTED_LETTERS,
)

# ---------------------------------------------------------------------------------------------- repaired

_WINDOW_DEFINITIONS: Mapping[str, Expr] = {
    **SECOND_MOMENT,
    **SHARES,
    "stale": L * eta * sqrt(s2) * (A_max * largest(tau_max, N - 1) + (Qmax - 1) / 2),
    "E_init": (N * F0 + eta * sqrt(G_sq) * sqrt(s2) * A_max * N * (N - 1) / 2) / (eta * W_min * T),
}
_HALF = Condition(L * eta * W_max, ONE / 2, "L·η·W₊ ≤ 1/2")
_WHOLE = Condition(L * eta * W_max, ONE, "L·η·W₊ ≤ 1")
_NOISELESS = Condition(sigma_l, ZERO, "σ_ℓ = 0 (full gradients)")


def _window(name: str, title: str, terms: Mapping[str, Expr], conditions: tuple[Condition, ...] = ()) -> Theorem:
    return Theorem(
        id=f"fedcompass.window.{name}",
        proofs=(f"fedcompass.window.{name}",),
        title=title,
        paper=_PAPER,
        place="Theorem 1, repaired",
        status="repaired",
        assumptions=_REPAIRED,
        algorithm="fedcompass",
        options=OPEN,
        metric="gradient-norm",
        step={"eta": 1 / (2 * L * W_max)},
        bound=FormulaBound(terms),
        definitions=_WINDOW_DEFINITIONS,
        settable=("eta", "N"),
        conditions=conditions,
        parameters={"Qmax": "Qmax"},
        page=_PAGE,
        proof=proof_of(_PAGE, *_WINDOWS),
        letters=_LETTERS,
        note="Any schedule and any weights; A, W, V and the shares are read off the run, over windows of N updates "
        "that begin at t = 0 … T−1. Any N will do: a period of the schedule makes share_bias small.",
    )


def _form_b(initial: Expr, spread: Expr, noise: Expr) -> dict[str, Expr]:
    terms = {"initial": 2 * initial, "bias and staleness": spread * (bias + stale) ** 2}
    return terms if noise == 0 else {**terms, "noise": noise}


WINDOW_A = _window(
    "a",
    "any schedule read off the run, any step size",
    {
        "bound": quadratic_root(W_max / W_min * (bias + stale), E_init + L * eta * W_max**2 * s2 / (2 * W_min)) ** 2,
    },
)
WINDOW_B = _window(
    "b",
    "any schedule read off the run, small steps",
    _form_b(E_init, W_max / W_min, 2 * L * eta * sigma_l**2 * V_max / W_min),
    (_HALF,),
)
WINDOW_B_NOISELESS = _window(
    "b.noiseless",
    "any schedule read off the run, full gradients, steps up to 1/(L·W₊)",
    _form_b(E_init, W_max / W_min, ZERO),
    (_NOISELESS, _WHOLE),
)

_GROUP: Mapping[str, Any] = {
    "paper": _PAPER,
    "place": "Theorem 1, repaired",
    "status": "repaired",
    "assumptions": (*_REPAIRED, "equal-weights"),
    "algorithm": "fedcompass",
    "options": _PROOF,
    "metric": "gradient-norm",
    "step": {"eta": 1 / (2 * L * Q_mean)},
    "settable": ("eta",),
    "parameters": {"Qmax": "Qmax"},
    "page": _PAGE,
    "proof": proof_of(_PAGE, "fedcompass.group"),
    "letters": {**_LETTERS, "n": "m"},
}
GROUP = Theorem(
    id="fedcompass.group",
    proofs=("fedcompass.group",),
    title="one arrival group at equilibrium: every update aggregates every client",
    bound=FormulaBound(
        {
            **_form_b(F0 / (eta * Q_mean * T), ONE, ZERO),
            "noise": 2 * L * eta * sigma_l**2 / n,
        }
    ),
    definitions={
        **SECOND_MOMENT,
        "bias": sigma_g * Q_bias,
        "stale": L * eta * sqrt(s2) * (Qmax - 1) / 2,
    },
    conditions=(
        Condition(tau_max, ZERO, "τ_max = 0"),
        Condition(A_max, Q_mean, "Ā ≤ Q̄ (each client does the same number of local steps every time)"),
        Condition(L * eta * Q_mean, ONE / 2, "L·η·Q̄ ≤ 1/2"),
    ),
    note="fedcompass.window.b with N = 1 and weights 1/n.",
    **_GROUP,
)

THEOREMS = (THEOREM1, COROLLARY1, COROLLARY1_EXPLICIT, WINDOW_A, WINDOW_B, WINDOW_B_NOISELESS, GROUP)
