"""The theorems about AREA (Iakovidou and Kim), as printed and as repaired.

docs/theory/area.md says which reading of the algorithm each is about, and what supports or refutes it.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

from sympy import Abs, Expr, Min, Rational, exp, sqrt

from boundlab.formulas.symbols import symbol
from boundlab.references import PAPERS
from boundlab.theorems._along import along_run
from boundlab.theorems._bound import Condition, FormulaBound, RecursionBound
from boundlab.theorems._forms import OPEN, proof_of
from boundlab.theorems._theorem import Theorem
from boundlab.theorems.area_recursion import between, from_values

_PAPER = PAPERS["area"]
_PAGE = "docs/theory/area.md"
_PROOFS = "docs/theory/area-proofs.md"
_PROOF8 = proof_of(
    _PROOFS, "area.theorem8.repaired.fixed-step", "area.theorem8.repaired", "area.theorem8.algorithm-start"
)
_BY_RECURSION, _BY_ONEPASS = (
    proof_of(_PROOFS, f"area.theorem7.{form}", f"area.theorem7.{form}.algorithm-start")
    for form in ("recursion", "onepass")
)
_CASES = "proofs/counterexamples"
_ANALYSIS = {**OPEN, "start": "analysis"}
_OWN = {**OPEN, "start": "algorithm"}
_PROOF = {**OPEN, "start": "analysis", "clock": "analysis"}
_PRINTED = {**OPEN, "start": "algorithm", "clock": "algorithm"}
_LIPSCHITZ = ("lipschitz", "minimiser", "bounded-variance", "iid-events")
_SMOOTH = ("strongly-convex", "smooth", "bounded-variance", "iid-events")

mu, L, B, sigma, zeta, R = (symbol(name) for name in ("mu", "L", "B", "sigma", "zeta", "R"))
M, K, p_s, p_min, qbar = (symbol(name) for name in ("M", "K", "p_s", "p_min", "qbar"))
alpha, c, d, D, a0, a_init = (symbol(name) for name in ("alpha", "c", "d", "D", "a0", "a_init"))
A, gamma, kappa, delta, r_p = (symbol(name) for name in ("A", "gamma", "kappa", "delta", "r_p"))
d_eff, Ktilde, kg, q0, W1, W2 = (symbol(name) for name in ("d_eff", "Ktilde", "kg", "q0", "W1", "W2"))
d_ratio, X0, Y0, Lam0, Ns, Nz = (symbol(name) for name in ("d_ratio", "X0", "Y0", "Lam0", "Ns", "Nz"))

# ----------------------------------------------------------------------------- Theorem 8: convex, Lipschitz

_WEIGHTED = {"A": (1 / p_s + 2 * qbar) * R**2}
_LOCAL_PRINTED = (M + 1) * B**2 / 2
_LOCAL_REPAIRED = M * B**2


def _own_step(local: Expr) -> dict[str, Any]:
    """Return step and bound when alpha is chosen for the horizon K."""
    return {
        "step": {"alpha": sqrt(A / ((sigma**2 + local) * M * K))},
        "bound": FormulaBound({"bound": sqrt(A * (sigma**2 + local) / (M * K))}),
        "definitions": _WEIGHTED,
    }


def _any_step(local: Expr, first_pass: Mapping[str, Expr] | None = None) -> dict[str, Any]:
    """Return step and bound for a given constant alpha, at every K."""
    terms = {"initial": A / (2 * alpha * M * K), **(first_pass or {})}
    terms |= {"noise": alpha * sigma**2 / 2, "subgradient": alpha * local / 2}
    return {
        "step": {"alpha": alpha},
        "bound": FormulaBound(terms),
        "definitions": _WEIGHTED,
    }


_REFUTED = (
    "False as printed for M > 1: the proof drops a factor 2 when it inserts Lemma 21. f(x) = |x|, one client, 48 local "
    "steps, x0 = 1, p = p_s = 1/2: after 4 events the error is 31/32, the bound 28/32."
)

THEOREM8 = Theorem(
    id="area.theorem8",
    proofs=("area.theorem8",),
    title="convex Lipschitz functions, ergodic average, step size chosen for the horizon",
    paper=_PAPER,
    place="Theorem 8",
    status="as printed",
    assumptions=_LIPSCHITZ,
    algorithm="area",
    options=_ANALYSIS,
    metric="ergodic-gap",
    note=_REFUTED,
    refuted_by=f"{_CASES}/area.theorem8.json",
    repaired_by=("area.theorem8.repaired",),
    page=_PAGE,
    **_own_step(_LOCAL_PRINTED),
)
THEOREM8_FIXED = Theorem(
    id="area.theorem8.fixed-step",
    title="convex Lipschitz functions, ergodic average, any constant step size",
    paper=_PAPER,
    place="Appendix C, the line before the step size is chosen",
    status="as printed",
    assumptions=_LIPSCHITZ,
    algorithm="area",
    options=_ANALYSIS,
    metric="ergodic-gap",
    note=_REFUTED,
    refuted_by=f"{_CASES}/area.theorem8.fixed-step.json",
    repaired_by=("area.theorem8.repaired.fixed-step",),
    page=_PAGE,
    **_any_step(_LOCAL_PRINTED),
)
_PRINTED_START = (
    "Theorem 8 speaks of Algorithms 1 and 2, whose first message is a pass from x_s,0; its proof is about the start "
    "x_i,0 = y_i,0 = x_s,0 (area.theorem8). False here too: f = |x|, one client, p = 0.72, M = 2, K = 19."
)
THEOREM8_PRINTED = Theorem(
    id="area.theorem8.printed-start",
    title="Theorem 8 for the start that Algorithm 2 prints, step size chosen for the horizon",
    paper=_PAPER,
    place="Theorem 8",
    status="as printed",
    assumptions=_LIPSCHITZ,
    algorithm="area",
    options=_OWN,
    metric="ergodic-gap",
    note=_PRINTED_START,
    refuted_by=f"{_CASES}/area.theorem8.printed-start.json",
    repaired_by=("area.theorem8.algorithm-start",),
    page=_PAGE,
    **_own_step(_LOCAL_PRINTED),
)
THEOREM8_PRINTED_FIXED = Theorem(
    id="area.theorem8.printed-start.fixed-step",
    title="Theorem 8 for the start that Algorithm 2 prints, any constant step size",
    paper=_PAPER,
    place="Appendix C, the line before the step size is chosen",
    status="as printed",
    assumptions=_LIPSCHITZ,
    algorithm="area",
    options=_OWN,
    metric="ergodic-gap",
    note=_PRINTED_START,
    refuted_by=f"{_CASES}/area.theorem8.printed-start.fixed-step.json",
    repaired_by=("area.theorem8.algorithm-start",),
    page=_PAGE,
    **_any_step(_LOCAL_PRINTED),
)
THEOREM8_REPAIRED = Theorem(
    id="area.theorem8.repaired",
    proofs=("area.theorem8.repaired",),
    title="Theorem 8 with M·B² in place of (M+1)·B²/2",
    paper=_PAPER,
    place="Theorem 8, repaired",
    status="repaired",
    assumptions=_LIPSCHITZ,
    algorithm="area",
    options=_ANALYSIS,
    metric="ergodic-gap",
    note="Lemma 21 enters the proof with its factor 2·alpha.",
    page=_PAGE,
    proof=_PROOF8,
    **_own_step(_LOCAL_REPAIRED),
)
THEOREM8_REPAIRED_FIXED = Theorem(
    id="area.theorem8.repaired.fixed-step",
    proofs=("area.theorem8.repaired.fixed-step",),
    title="the repaired Theorem 8 for any constant step size",
    paper=_PAPER,
    place="Appendix C, repaired",
    status="repaired",
    assumptions=_LIPSCHITZ,
    algorithm="area",
    options=_ANALYSIS,
    metric="ergodic-gap",
    page=_PAGE,
    proof=_PROOF8,
    **_any_step(_LOCAL_REPAIRED),
)
THEOREM8_ALGORITHM = Theorem(
    id="area.theorem8.algorithm-start",
    proofs=("area.theorem8.algorithm-start",),
    title="the repaired Theorem 8 for the start of Algorithm 2, any constant step size",
    paper=_PAPER,
    place="Appendix C, repaired",
    status="repaired",
    assumptions=_LIPSCHITZ,
    algorithm="area",
    options=_OWN,
    metric="ergodic-gap",
    page=_PAGE,
    proof=_PROOF8,
    note="The first message is a pass from x_s,0: one more client event at k = 0.",
    **_any_step(
        _LOCAL_REPAIRED,
        {"first pass": qbar * (2 * alpha * M * B * R + alpha**2 * M * (sigma**2 + M * B**2)) / (2 * alpha * M * K)},
    ),
)

# ------------------------------------------------- Theorem 7: strongly convex, smooth, diminishing step

_GAMMA = {"gamma": 2 * mu * L / (mu + L)}
_STEP = {"c": 48 / (p_min * M * gamma), "d": 48 / (p_min * M * gamma * D)}
_D = {
    "D": Min(
        2 / (M * (mu + L)),
        gamma / (L**2 * (M - 1)),
        sqrt(M * gamma**2 / (64 * L**4 * (M - 1) ** 3)),
        (gamma / (32 * L**4 * (M - 1) ** 3)) ** Rational(1, 3),
        evaluate=False,
    )
}
_SMALL = Condition(a0, 2 / (M * (mu + L)), "c/d ≤ 2/(M(μ+L))")

THEOREM7 = Theorem(
    id="area.theorem7",
    title="strongly convex smooth functions, last iterate, diminishing step size",
    paper=_PAPER, place="Theorem 7", status="as printed", assumptions=_SMOOTH,
    algorithm="area", options=_PROOF, metric="squared-distance",
    step=_STEP,
    bound=FormulaBound(
        {
            "noise": r_p * (1 + delta * kappa) * sigma**2 / (p_min * M * K),
            "synchronization": r_p * sqrt(qbar) * L * sqrt(1 + delta * kappa) * sigma * zeta
            / (p_min * sqrt(M) * K ** Rational(3, 2)),
            "mixed": r_p * sqrt(qbar) * L ** Rational(3, 2) * sqrt(sigma * zeta**3)
            / (sqrt(p_min) * K ** Rational(3, 2)),
            "heterogeneity": r_p * (delta + sqrt(p_min) * qbar) * L**4 * zeta**2 / (p_min**2 * K**2),
        }
    ),
    definitions={**_GAMMA, **_D, "kappa": L / mu, "delta": 1 - 1 / M, "r_p": p_s / p_min},
    shape=True, repaired_by=tuple(f"area.theorem7.{form}" for form in ("explicit", "onepass", "recursion")), page=_PAGE,
    note="A printed O(·): its constants are unknown and must carry units, since the terms are (2, −2) and "
    "(4, −6), not (0, 2). Evaluated as a shape.",
)  # fmt: skip


def _shifted(last_offset: Expr, extra: Mapping[str, Expr]) -> dict[str, Expr]:
    """Return the definitions that explicit and onepass share; ``last_offset`` is d, or d + 1."""
    return {
        **_GAMMA,
        **_D,
        **extra,
        "d_eff": last_offset,
        "a0": c / d_eff,
        "Ktilde": K + d_eff - 1,
    }


THEOREM7_EXPLICIT = Theorem(
    id="area.theorem7.explicit", proofs=("area.theorem7.explicit",),
    title="Theorem 7 with constants, and without its K^(−3/2) terms",
    paper=_PAPER, place="derived for boundlab from the setting of Theorem 7", status="derived here",
    assumptions=_SMOOTH, algorithm="area", options=_PROOF, metric="squared-distance", first=0, page=_PAGE,
    proof=proof_of(_PROOFS, "area.theorem7.explicit"),
    step=_STEP,
    bound=FormulaBound(
        {
            "initial": ((d - 1) / Ktilde) ** 6
            * (
                (1 + Rational(26, 5) * p_s * qbar) * R**2
                + Rational(26, 5) * p_s * qbar * (a0 * M * L * zeta) ** 2
            ),
            "noise": 1130 * p_s * sigma**2 / (p_min**2 * M * gamma**2 * Ktilde),
            "heterogeneity": p_s * zeta**2 / Ktilde**2 * 1550 * qbar * kg**2 / p_min**2,
            "drift": p_s * zeta**2 / Ktilde**2 * 26000 * delta**2 * kg**4 / p_min**3,
        }
    ),
    definitions={
        **_GAMMA, **_D, "a0": c / d, "Ktilde": K + d - 1, "kg": L / gamma, "delta": 1 - 1 / M,
    },
    settable=("D",), conditions=(_SMALL,),
    note="Any D ≤ 2/(M(μ+L)) will do; the printed D is taken where none is given.",
)  # fmt: skip

_SAME_START = {"X0": (R + a0 * M * L * zeta) ** 2}
_OWN_START = {
    "a_init": c / d,
    "X0": (
        sqrt(exp(-a_init * M * gamma) * R**2 + a_init**2 * M * sigma**2)
        + a_init**2 * L**2 * zeta * M * (M - 1) / 2
        + Abs(a_init - a0) * M * L * zeta
    )
    ** 2,
}


def _onepass(offset: Expr, start: Mapping[str, Expr]) -> dict[str, Any]:
    damped = (d_eff - 1) / Ktilde
    memory = (W1 + W2) * qbar * c**2 * M**2 * L**2
    drift = (1 + 1 / d_eff) * exp(q0 / 3) * c**3 * L**4 * M * (M - 1) ** 2 / (4 * (1 - exp(Rational(-1, 2))) * gamma)
    scale = p_s * zeta**2 * d_ratio**4 / (4 * Ktilde**2)
    return {
        "bound": FormulaBound(
            {
                "initial": p_s * damped**6 * Lam0,
                "noise": p_s * Ns * sigma**2 * d_ratio**5 / (5 * Ktilde),
                "heterogeneity": scale * memory,
                "drift": scale * drift,
            }
        ),
        "definitions": {
            **_shifted(offset, start),
            "q0": a0 * M * gamma,
            "W1": exp(q0 / 3),
            "W2": exp(q0 / 6),
            "d_ratio": d_eff / (d_eff - 1),
            "Y0": (R + a0 * M * L * zeta) ** 2,
            "Lam0": R**2 / p_s + qbar * (W1 * X0 + W2 * Y0),
            "Ns": (1 + 1 / d_eff) * exp(5 * q0 / 6) * c**2 * M,
        },
        "settable": ("D",),
        "conditions": (Condition(c / d, 2 / (M * (mu + L)), "c/d ≤ 2/(M(μ+L))"),),
    }


THEOREM7_ONEPASS = Theorem(
    id="area.theorem7.onepass", proofs=("area.theorem7.onepass",),
    title="the explicit form before its constants are rounded",
    paper=_PAPER, place="derived for boundlab from the setting of Theorem 7", status="derived here",
    assumptions=_SMOOTH, algorithm="area", options=_PROOF, metric="squared-distance", first=0, page=_PAGE,
    proof=_BY_ONEPASS,
    step=_STEP,
    **_onepass(d, _SAME_START),
)  # fmt: skip
THEOREM7_ONEPASS_ALGORITHM = Theorem(
    id="area.theorem7.onepass.algorithm-start",
    title="the one-pass form for Algorithms 1 and 2 as they are run",
    paper=_PAPER, place="derived for boundlab from the setting of Theorem 7", status="derived here",
    assumptions=_SMOOTH, algorithm="area", options=_PRINTED, metric="squared-distance", first=0, page=_PAGE,
    proof=_BY_ONEPASS,
    step=_STEP,
    note="Algorithm 1 answers with the next step size, so d' = d + 1; the broadcast carries α_0 = c/d.",
    **_onepass(d + 1, _OWN_START),
)  # fmt: skip

_RECURSION_LATEX = (
    r"X_i' = (1-p_i)(X_i + 2\Delta_i x_i + \Delta_i^2) + p_i(V + 2 v_i e + v_i^2),\quad "
    r"Y_i' = (1-p_i)(Y_i + 2\Delta_i y_i) + p_i(X_i + 2\Delta_i x_i) + \Delta_i^2,\quad "
    r"S' = (1-p_s)S + \frac{p_s}{n}\sum_i Y_i"
)


def _recursion(start: str, clock: str) -> dict[str, Any]:
    return {
        "bound": RecursionBound(
            function=partial(from_values, start=start, clock=clock),  # type: ignore[arg-type]
            between=partial(between, start=start, clock=clock),  # type: ignore[arg-type]
            inputs=("mu", "L", "M", "sigma", "zeta", "R", "p", "p_s", "c", "d"),
            description="bounds on mean squares and mean norms of all x_i, y_i and x_s, iterated K times",
            latex=_RECURSION_LATEX,
            replaces={"alpha": ("c", "d"), "G_star": ("zeta",)},
        ),
        "definitions": {**_GAMMA, **_D},
        "settable": ("D", "c", "d"),
        "conditions": (Condition(c / d, 2 / (mu + L), "c/d ≤ 2/(μ+L)"),),
        "options": {**OPEN, "start": start, "clock": clock},
    }


THEOREM7_RECURSION = Theorem(
    id="area.theorem7.recursion",
    title="the tight bound: K iterations of a recursion over 2n+1 bounds",
    paper=_PAPER, place="derived for boundlab from the setting of Theorem 7", status="derived here",
    assumptions=_SMOOTH, algorithm="area", metric="squared-distance", first=0, page=_PAGE,
    proof=_BY_RECURSION,
    step=_STEP,
    note="Any α_k ≤ 2/(μ+L): give alpha, or c and d, or take the printed step. G_star may replace zeta.",
    **_recursion("analysis", "analysis"),
)  # fmt: skip
THEOREM7_RECURSION_ALGORITHM = Theorem(
    id="area.theorem7.recursion.algorithm-start",
    title="the recursion for Algorithms 1 and 2 as they are run",
    paper=_PAPER, place="derived for boundlab from the setting of Theorem 7", status="derived here",
    assumptions=_SMOOTH, algorithm="area", metric="squared-distance", first=0, page=_PAGE,
    proof=_BY_RECURSION,
    step=_STEP,
    note="The first message is a pass with α_0, and iteration k answers with α_k.",
    **_recursion("algorithm", "algorithm"),
)  # fmt: skip

# Where the proof of Theorem 8 takes subgradients.
_EVERY = {"B": ("passes",), "sigma": ("passes",)}
THEOREMS = (
    THEOREM7,
    THEOREM7_EXPLICIT,
    THEOREM7_ONEPASS,
    THEOREM7_ONEPASS_ALGORITHM,
    THEOREM7_RECURSION,
    THEOREM7_RECURSION_ALGORITHM,
    THEOREM8,
    THEOREM8_FIXED,
    THEOREM8_PRINTED,
    THEOREM8_PRINTED_FIXED,
    THEOREM8_REPAIRED,
    THEOREM8_REPAIRED_FIXED,
    THEOREM8_ALGORITHM,
    *(along_run(one, _EVERY) for one in (THEOREM8_REPAIRED, THEOREM8_REPAIRED_FIXED, THEOREM8_ALGORITHM)),
)
