"""The theorems about FedStaleWeight (Ma et al.), as recovered and as repaired; the repaired hold for FedBuff too."""

from collections.abc import Mapping
from typing import Any

from sympy import Expr, Min

from boundlab.formulas.symbols import symbol
from boundlab.theorems._along import along_run
from boundlab.theorems._bound import Condition, FormulaBound
from boundlab.theorems._forms import NONCONVEX, ONE, OPEN, SECOND_MOMENT, largest, proof_of
from boundlab.theorems._theorem import Theorem

_PAPER = "Ma et al., FedStaleWeight"
_LETTERS = {"sigma_g_mean": r"\sigma_g", "G_sq": "G"}
_PARAMETERS = {"M": "Q", "count": "b"}

L, F0, T, n, Q, b = (symbol(name) for name in ("L", "F0", "T", "n", "Q", "b"))
sigma_l, sigma_g_mean, G_sq, s2 = (symbol(name) for name in ("sigma_l", "sigma_g_mean", "G_sq", "s2"))
eta_l, eta_g, eta_sum, eta_sq = (symbol(name) for name in ("eta_l", "eta_g", "eta_sum", "eta_sq"))
eta_head, tau_max, drift, scale = (symbol(name) for name in ("eta_head", "tau_max", "drift", "scale"))
a_max, a_min, U, sigma2 = (symbol(name) for name in ("a_max", "a_min", "U", "sigma2"))
chi2, chi2_path, alpha2, pi_max = (symbol(name) for name in ("chi2", "chi2_path", "alpha2", "pi_max"))
err2, V_s = symbol("err2"), symbol("V_s")

_LOCAL = {"eta_sum": Q * eta_l, "eta_sq": Q * eta_l**2}
_INITIAL = {"initial": 2 * F0 / (eta_g * eta_sum * T)}

THEOREM1 = Theorem(
    id="fedstaleweight.theorem1",
    proofs=("fedstaleweight.theorem1",),
    title="nonconvex smooth functions with bounded gradients, uniform buffers, staleness weights",
    paper=_PAPER,
    place="Section 5 and Appendix A, Theorem 2",
    status="recovered, not compared with the print",
    assumptions=(*NONCONVEX, "uniform-buffer"),
    algorithm="fedstaleweight",
    options=OPEN,
    metric="gradient-norm",
    step={"eta_l": 1 / (L * Q * eta_g), "eta_g": ONE, "scale": b},
    bound=FormulaBound(
        {
            **_INITIAL,
            "staleness": 12
            * eta_g**2
            * tau_max**2
            * eta_sq
            * Q
            * L**2
            * ((b * tau_max + 1) / (tau_max + 1)) ** 2
            * sigma2,
            "drift": 12 * eta_sq * Q * L**2 * sigma2,
            "weights": 4 * b**2 * U * G_sq,
        }
    ),
    definitions={
        **_LOCAL,
        "sigma2": sigma_l**2 + sigma_g_mean**2 + G_sq,
        "a_max": (b * tau_max + 1) / (b * (tau_max + 1)),
        "a_min": 1 / ((b - 1) * (b * tau_max + 1) + 1),
        "U": largest((1 / b - a_max) ** 2, (1 / b - a_min) ** 2),
    },
    settable=("eta_l", "eta_g", "scale", "eta_sum", "eta_sq"),
    conditions=(
        Condition(eta_g * eta_l * Q, 1 / L, "η_g·η_ℓ·Q ≤ 1/L"),
        Condition(scale, b, "scale ≤ b"),
    ),
    parameters=_PARAMETERS,
    note="a_max and a_min are those of weights proportional to 1 + b·staleness, hence scale = b; Algorithm 1 of the "
    "paper prints scale = 1, whose weights lie between the same limits. The text at hand has lost the formulas of "
    "Theorems 1 and 2; this is what the lines around them leave. That it is false rests on one thing: it has no term "
    "for the noise of an update, as FedBuff's (L/2)·η_g·(β/A)·σ_ℓ².",
    refuted_by="proofs/counterexamples/fedstaleweight.theorem1.json",
    repaired_by=("fedstaleweight.rf1", "fedstaleweight.rf2", "fedstaleweight.rf3"),
    page="docs/theory/fedstaleweight.md",
    letters=_LETTERS,
)

# ---------------------------------------------------------------------------------------------- repaired

_DEFINITIONS: Mapping[str, Expr] = {
    **SECOND_MOMENT,
    **_LOCAL,
    # (1/A)·Σ_q η_q (η_g·A·τ + A_q)² with A_q = q·η_ℓ.
    "drift": eta_l**2 * ((eta_g * Q * tau_max) ** 2 + eta_g * Q * tau_max * (Q - 1) + (Q - 1) * (2 * Q - 1) / 6),
}
_COMMON = {**_INITIAL, "staleness and drift": 2 * L**2 * s2 * drift}
_SECOND_ORDER = {"second order": L * eta_g * eta_sum * s2}


def _family(algorithm: str, options: Mapping[str, str]) -> tuple[Theorem, ...]:
    """Return rf1–rf3 for an algorithm that aggregates full buffers with weights that sum to 1."""
    shared: dict[str, Any] = {
        "paper": _PAPER,
        "place": "Appendix A, Theorem 2, repaired",
        "status": "repaired",
        "algorithm": algorithm,
        "options": options,
        "metric": "gradient-norm",
        "step": {"eta_l": 1 / (2 * L * Q * eta_g * (1 + tau_max)), "eta_g": ONE},
        "page": f"docs/theory/{algorithm}.md",
        "letters": _LETTERS,
    }
    local = ("eta_l", "eta_g", "eta_sum", "eta_sq", "drift")
    stationary = (*NONCONVEX, "fixed-schedule", "stationary-participation")
    arguments = {
        form: proof_of("docs/theory/fedstaleweight.md", f"fedstaleweight.{form}", f"fedbuff.{form}")
        for form in ("rf1", "rf2", "rf3")
    }
    shares = {"unequal shares": 2 * chi2 * sigma_g_mean**2}
    return (
        Theorem(
            id=f"{algorithm}.rf1",
            title="any participation, any step size",
            assumptions=(*NONCONVEX, "fixed-schedule"),
            bound=FormulaBound({**_COMMON, "unequal weights": 2 * err2, **_SECOND_ORDER}),
            definitions={**_DEFINITIONS, "err2": chi2_path * sigma_g_mean**2},
            settable=(*local, "err2"),
            parameters={"M": "Q"},
            note="Weights within one buffer count, not only long-run shares: with b < n chi2_path is at least "
            "(n−b)/b, however fair the schedule.",
            proof=arguments["rf1"],
            proofs=(f"{algorithm}.rf1",),
            **shared,
        ),
        Theorem(
            id=f"{algorithm}.rf2",
            title="participation with fixed expected weights, any step size",
            assumptions=stationary,
            bound=FormulaBound({**_COMMON, **shares, **_SECOND_ORDER}),
            definitions=_DEFINITIONS,
            settable=local,
            parameters={"M": "Q"},
            proof=arguments["rf2"],
            proofs=(f"{algorithm}.rf2",),
            **shared,
        ),
        Theorem(
            id=f"{algorithm}.rf3",
            title="participation with fixed expected weights, small steps",
            assumptions=stationary,
            bound=FormulaBound(
                {
                    **_COMMON,
                    **shares,
                    "noise": 2 * L * eta_g * eta_sq / eta_sum * alpha2 * sigma_l**2,
                    "sampling": 2 * L * eta_g * eta_sum * V_s,
                }
            ),
            definitions={
                **_DEFINITIONS,
                "eta_head": (Q - 1) * eta_l,
                "V_s": Min(
                    G_sq,
                    2 * n * pi_max * sigma_g_mean**2 + 2 * L**2 * s2 * (eta_g * eta_sum * tau_max + eta_head) ** 2,
                    evaluate=False,
                ),
            },
            settable=(*local, "eta_head", "V_s"),
            conditions=(Condition(L * eta_g * eta_sum, ONE / 2, "L·η_g·A ≤ 1/2"),),
            parameters={"M": "Q"},
            proof=arguments["rf3"],
            proofs=(f"{algorithm}.rf3",),
            **shared,
        ),
    )


def _with_forms(family: tuple[Theorem, ...]) -> tuple[Theorem, ...]:
    """Return theorems and their forms along the run: the first is about each schedule, the others about the mean."""
    every = {"G_sq": ("passes",), "sigma_l": ("passes",), "sigma_g_mean": ("models",)}
    return (
        *family,
        along_run(family[0], {"G_sq": ("local-steps",), "sigma_g_mean": ("server",)}),
        *(along_run(one, every) for one in family[1:]),
    )


THEOREMS = (THEOREM1, *_with_forms(_family("fedstaleweight", OPEN)))
FEDBUFF_THEOREMS = _with_forms(_family("fedbuff", {**OPEN, "staleness": "constant"}))
