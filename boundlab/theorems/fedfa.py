"""The theorems about FedFa (Xu et al.), as printed and as repaired."""

from typing import Any

from sympy import Expr, sqrt

from boundlab.formulas.symbols import symbol
from boundlab.theorems._along import along_run
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

_PAPER = "Xu et al., FedFa"
_PAGE = "docs/theory/fedfa.md"
_CASES = "proofs/counterexamples"
_LETTERS = {"F0": "F^*", "G_sq": "G"}
_DELTA = tuple(f"fedfa.delta.{form}" for form in ("a", "b", "b.noiseless"))
_PARAM = tuple(f"fedfa.param.{form}" for form in ("a", "b", "b.noiseless"))
_REPAIRED = (*NONCONVEX, "fixed-schedule")
_PARAMETERS = {"Q": "Q", "K": "window"}

L, L_sq, F0, T, N, Q = (symbol(name) for name in ("L", "L_sq", "F0", "T", "N", "Q"))
sigma_l, sigma_g, G_sq, s2, sigma2 = (symbol(name) for name in ("sigma_l", "sigma_g", "G_sq", "s2", "sigma2"))
eta_l, eta_g, eta_sum, eta_sq = (symbol(name) for name in ("eta_l", "eta_g", "eta_sum", "eta_sq"))
tau_max, tau_a, window, lag = (symbol(name) for name in ("tau_max", "tau_a", "window", "lag"))
kappa_lag, C_lag, bias, stale = (symbol(name) for name in ("kappa_lag", "C_lag", "bias", "stale"))
F_v, shift, X_v, E_init = (symbol(name) for name in ("F_v", "shift", "X_v", "E_init"))

_LOCAL = {"eta_sum": Q * eta_l, "eta_sq": Q * eta_l**2}
_LOCAL_SETTABLE = ("eta_l", "eta_g", "eta_sum", "eta_sq")

# --------------------------------------------------------------------------------------------- as printed

_SIGMA2 = {"sigma2": sigma_l**2 + sigma_g**2 + G_sq}
_STALE = Condition(ONE, tau_max, "1 ≤ τ_max")


def _theorem1(smooth: Expr) -> dict[str, Any]:
    """Return what Theorem 1 says when the L of its formula is ``smooth``."""
    return {
        "paper": _PAPER,
        "place": "Theorem 1",
        "status": "as printed",
        "assumptions": NONCONVEX,
        "page": _PAGE,
        "repaired_by": (*_DELTA, *_PARAM),
        "algorithm": "fedfa",
        "options": OPEN,
        "metric": "gradient-norm",
        "step": {"eta_l": 1 / (smooth * Q * eta_g), "eta_g": ONE},
        "generous": {"tau_max": 1},  # it says τ ≥ 1, and not whether an update that is never late has τ = 1 or 2
        "bound": FormulaBound(
            {
                "initial": 2 * F0 / (eta_g * eta_sum * T),
                "staleness and drift": 3 * smooth**2 * Q * eta_sq * (eta_g**2 * tau_max**2 + 1) * sigma2,
                "noise": smooth / 2 * eta_g * eta_sq / eta_sum * sigma_l**2,
            }
        ),
    }


THEOREM1 = Theorem(
    id="fedfa.theorem1",
    proofs=("fedfa.theorem1",),
    title="nonconvex functions with L-Lipschitz gradients, as the proof uses",
    definitions={**_SIGMA2, **_LOCAL},
    settable=_LOCAL_SETTABLE,
    conditions=(_STALE, Condition(eta_g * eta_l * Q, 1 / L, "η_g·η_ℓ·Q ≤ 1/L")),
    parameters={"Q": "Q"},
    note="Stated for both modes. No term depends on how often each client arrives, and none survives η_ℓ → 0 with "
    "η_ℓ·T → ∞: the claim includes that unequal rates leave no bias. The step condition stands in the proof only.",
    refuted_by=f"{_CASES}/fedfa.theorem1.json",
    letters=_LETTERS,
    **_theorem1(L),
)
THEOREM1_SQUARED = Theorem(
    id="fedfa.theorem1.squared-smoothness",
    title="the same formula with the smoothness that the paper assumes, ‖∇F(w)−∇F(w')‖² ≤ L‖w−w'‖²",
    definitions={**_SIGMA2, **_LOCAL, "L_sq": L**2},
    settable=(*_LOCAL_SETTABLE, "L_sq"),
    conditions=(_STALE, Condition(eta_g * eta_l * Q, 1 / L_sq, "η_g·η_ℓ·Q ≤ 1/L_(2)")),
    parameters={"Q": "Q"},
    note="Equation (7) bounds squared differences of gradients, so that the printed L is the square of a Lipschitz "
    "constant; L_sq = L² where none is given. Two terms and the step condition then have the wrong units, so this "
    "reading cannot be what is meant.",
    refuted_by=f"{_CASES}/fedfa.theorem1.squared-smoothness.json",
    letters={**_LETTERS, "L_sq": "L"},
    **_theorem1(L_sq),
)
COROLLARY = Theorem(
    id="fedfa.corollary",
    title="the rate O(1/√(T·Q))",
    paper=_PAPER,
    place="Corollary",
    status="as printed",
    assumptions=NONCONVEX,
    algorithm="fedfa",
    options={**OPEN, "mode": "delta"},
    metric="gradient-norm",
    step={"eta_l": 1 / (L * window * largest(Q, sqrt(T * Q))), "eta_g": window},
    bound=FormulaBound(
        {
            "initial": F0 / sqrt(T * Q),
            "noise": sigma_l**2 / sqrt(T * Q),
            "drift": Q * sigma2 / (T * window**2),
            "staleness": Q * sigma2 * tau_max**2 / (T * window**2),
        }
    ),
    definitions=_SIGMA2,
    settable=("eta_l", "eta_g"),
    conditions=(_STALE, Condition(eta_g * eta_l * Q, 1 / L, "η_g·η_ℓ·Q ≤ 1/L")),
    parameters=_PARAMETERS,
    shape=True,
    note="The printed rates are η_ℓ = O(1/(K·√(TQ))) and η_g = O(K); here with constants 1/L and 1, and never above "
    "the proof's condition. Only mode delta has a server rate. The first term is (1, 0), not (2, −2): its constant "
    "must carry units.",
    repaired_by=_DELTA,
    page=_PAGE,
    letters={**_LETTERS, "window": "K"},
)

# ---------------------------------------------------------------------------------------------- repaired

# What the window still holds back of the updates before t = 0 is part of v_0.
_PAST = (window - 1) / 2


def _pieces(rate: Expr, age: Expr, away: Expr) -> dict[str, Expr]:
    """Return the definitions for a virtual iterate that moves by ``rate``·Δ at each update.

    ``age`` bounds the server updates between start and arrival, ``away``·eta_sum·√s2 the distance of the server
    model to the virtual iterate.
    """
    local = (eta_sum**2 - eta_sq) / (2 * eta_sum)
    return {
        **SECOND_MOMENT,
        **SHARES,
        **_LOCAL,
        "F_v": F0 + sqrt(G_sq) * sqrt(s2) * rate * eta_sum * _PAST,
        "E_init": F_v / (rate * eta_sum * T) + sqrt(G_sq) * sqrt(s2) * (N - 1) / (2 * T),
        "stale": L * sqrt(s2) * (eta_sum * (rate * largest(age, N - 1) + away) + local),
        "shift": L * sqrt(s2) * eta_sum * away,
    }


def _form_a(rate: Expr) -> dict[str, Any]:
    root = quadratic_root(bias + stale, E_init + L / 2 * rate * eta_sum * N * s2)
    return {
        "bound": FormulaBound({"virtual iterate": X_v**2, "window": 2 * X_v * shift + shift**2}),
        "definitions": {"X_v": root},
    }


def _form_b(rate: Expr, noise: bool) -> dict[str, Any]:
    terms = {"initial": 2 * E_init, "bias and staleness": (bias + stale) ** 2}
    if noise:
        terms["noise"] = 2 * L * rate * eta_sq / eta_sum * sigma_l**2
    return {
        "bound": FormulaBound({**terms, "window": 2 * X_v * shift + shift**2}),
        "definitions": {"X_v": sqrt(sum(terms.values(), ZERO))},
    }


def _family(mode: str, rate: Expr, shown: str, conditions: tuple[Condition, ...], **fields: Any) -> tuple[Theorem, ...]:
    """Return forms A, B and B without noise."""
    half = Condition(L * rate * eta_sum * N, ONE / 2, f"L·{shown}·A·N ≤ 1/2")
    whole = Condition(L * rate * eta_sum * N, ONE, f"L·{shown}·A·N ≤ 1")
    noiseless = Condition(sigma_l, ZERO, "σ_ℓ = 0 (full gradients)")
    found = []
    for name, title, form, own in (
        ("a", "any step size", _form_a(rate), ()),
        ("b", "small steps", _form_b(rate, noise=True), (half,)),
        ("b.noiseless", "full gradients", _form_b(rate, noise=False), (noiseless, whole)),
    ):
        definitions = {**fields["pieces"], **form["definitions"]}
        found.append(
            Theorem(
                id=f"fedfa.{mode}.{name}",
                proofs=(f"fedfa.{mode}.{name}",),
                title=f"mode {mode}, through a virtual iterate, {title}",
                paper=_PAPER,
                place="Theorem 1, repaired",
                status="repaired",
                assumptions=fields["assumptions"],
                algorithm="fedfa",
                options={**OPEN, "mode": mode},
                metric="gradient-norm",
                step=fields["step"],
                bound=form["bound"],
                definitions=definitions,
                settable=fields["settable"],
                conditions=(*conditions, *own),
                parameters=_PARAMETERS,
                note=fields["note"],
                page=_PAGE,
                proof=proof_of(_PAGE, *(_DELTA if mode == "delta" else _PARAM)),
                letters={**_LETTERS, "window": "K"},
            )
        )
    return tuple(found)


_N_NOTE = "The shares of the clients are read over windows of N arrivals, the first at t = 0 … T−1; any N will do."
DELTA = _family(
    "delta",
    eta_g,
    "η_g",
    (),
    pieces=_pieces(eta_g, tau_a, eta_g * _PAST),
    assumptions=_REPAIRED,
    step={"eta_l": 1 / (2 * L * eta_g * Q * N), "eta_g": ONE},
    settable=(*_LOCAL_SETTABLE, "N", "F_v"),
    note="v^t = w^t + (η_g/K)·Σ_{j=1}^{K−1} (K−j)·Δ^(t−j) moves by η_g·Δ^(t): the window only delays updates. Those "
    f"of the first K−1 arrivals count from the start, hence F_v. {_N_NOTE}",
)
PARAM = _family(
    "param",
    kappa_lag,
    "κ_ℓ",
    (Condition(lag, lag * (window - 1), "K ≥ 2 or lag = 0 (else the model never settles)"),),
    pieces={**_pieces(kappa_lag, lag, C_lag), "kappa_lag": 1 / (1 + lag + _PAST)},
    assumptions=(*_REPAIRED, "constant-lag"),
    step={"eta_l": 1 / (2 * L * kappa_lag * Q * N)},
    settable=("eta_l", "eta_sum", "eta_sq", "N", "F_v", "kappa_lag"),
    note="u^t adds kappa_lag·Δ to w^0 for every update; C_lag, largest over t, counts the updates that filled the "
    f"window too, whose shares are smaller. {_N_NOTE}",
)

# Of the mean over a window at v[0] the proof needs how steep f is between w[0], where F0 is taken, and v[j], j < N.
_POINTS = {"G_sq": ("local-steps", "virtual-segments"), "sigma_g": ("virtual",)}
_ALONG = tuple(along_run(one, _POINTS) for one in (*DELTA, *PARAM))

THEOREMS = (THEOREM1, THEOREM1_SQUARED, COROLLARY, *DELTA, *PARAM, *_ALONG)
