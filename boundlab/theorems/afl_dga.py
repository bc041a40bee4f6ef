"""The theorems about AFL-DGA, anarchic federated learning with delayed gradient averaging."""

from collections.abc import Mapping
from typing import Any

from sympy import Expr, Min, Rational, sqrt

from boundlab.formulas.symbols import symbol
from boundlab.references import PAPERS
from boundlab.theorems._along import along_run
from boundlab.theorems._bound import Condition, FormulaBound
from boundlab.theorems._forms import ONE, OPEN, ZERO, proof_of
from boundlab.theorems._statement import EACH
from boundlab.theorems._theorem import Theorem

_PAPER = PAPERS["afl_dga"]
_PAGE = "docs/theory/afl_dga.md"
_TRUE = tuple(f"afl_dga.{name}" for name in ("r0", "r1", "r2", "r2n", "r2b", "r3"))
_LETTERS = {"n": "N", "F0": r"\Delta"}
_PRINTED = ("smooth", "bounded-variance", "bounded-second-moment", "bounded-below")
_REPAIRED = (*_PRINTED, "fixed-schedule")

L, F0, T, eta, n, G, sigma = (symbol(name) for name in ("L", "F0", "T", "eta", "n", "G", "sigma"))
K_m, D_m, t_d, tau_sum, S, M_own = (symbol(name) for name in ("K_m", "D_m", "t_d", "tau_sum", "S", "M_own"))
Q_age, SM2, reuse, reuse_n = (symbol(name) for name in ("Q_age", "SM2", "reuse", "reuse_n"))
x = eta * L

_INITIAL = {"initial": 2 * F0 / (eta * T)}

# --------------------------------------------------------------------------------------------- as printed

THEOREM1 = Theorem(
    id="afl_dga.theorem1",
    proofs=("afl_dga.theorem1",),
    title="nonconvex smooth functions, gradients with bounded second moment, stored gradients re-used",
    paper=_PAPER,
    place="Theorem 1",
    status="as printed",
    assumptions=_PRINTED,
    algorithm="afl_dga",
    options={**OPEN, "server": "plain"},
    metric="gradient-norm",
    about=EACH,
    # The corollary's for one client, which meets the condition at every T.
    step={"eta": 1 / (L * sqrt(T))},
    bound=FormulaBound(
        {
            **_INITIAL,
            "noise": x / n * (sigma**2 + G**2),
            "local steps": x**2 * (K_m + D_m) ** 2 * G**2,
            "delays": x**2 / n**2 * (sigma**2 + G**2) * tau_sum,
        }
    ),
    settable=("eta",),
    conditions=(Condition(eta, 1 / L, "η ≤ 1/L"),),
    parameters={},
    note="The text at hand reads η ≤ 1/T, in all likelihood 1/L misread: so it is registered. The proof uses neither. "
    "Its left side is about w̄^t, by Lemma 1 the average parameter across all clients; here it is the server's w^t, "
    "which differs from it only where a round has several local steps. Step (2) of the proof bounds the square of a "
    "mean of n gradients by 1/n² of the sum of their squares, which holds for independent noise but not for the "
    "gradients themselves. The paper corrects clients in two ways (scaling=sum and average). Its Δ is "
    "E f(w^0) − E f(w^T), at most F0.",
    refuted_by="proofs/counterexamples/afl_dga.theorem1.reused-gradients.json",
    repaired_by=_TRUE,
    page=_PAGE,
    letters=_LETTERS,
)
COROLLARY1 = Theorem(
    id="afl_dga.corollary1",
    title="the rate O(1/√(n·T))",
    paper=_PAPER,
    place="Corollary 1",
    status="as printed",
    assumptions=_PRINTED,
    algorithm="afl_dga",
    options={**OPEN, "server": "plain"},
    metric="gradient-norm",
    about=EACH,
    step={"eta": sqrt(n) / (L * sqrt(T))},
    bound=FormulaBound(
        {
            "initial": L * F0 / sqrt(n * T),
            "noise": (sigma**2 + G**2) / sqrt(n * T),
            "local steps": n / T * (K_m + D_m) ** 2 * G**2,
            "delays": n / T * (2 * t_d - 1) * (sigma**2 + G**2),
        }
    ),
    settable=("eta",),
    parameters={},
    shape=True,
    note="Its step √n/(L·√T) meets Theorem 1's η ≤ 1/L where n ≤ T.",
    repaired_by=_TRUE,
    page=_PAGE,
    letters=_LETTERS,
)

# ---------------------------------------------------------------------------------------------- repaired

_NOISELESS = Condition(sigma, ZERO, "σ = 0 (full gradients)")


# The proofs need the client's model to be the server's, but for server steps it has not got and own steps it has
# not undone.
_OPTIONS: Mapping[str, str] = {**OPEN, "server": "plain", "scaling": "analysis", "first_round": "all"}
_SENT = "Every client has sent an update before the first aggregation: a stored 0 is nobody's gradient."


def _repaired(
    name: str, title: str, step: Expr, terms: Mapping[str, Expr], conditions: tuple[Condition, ...] = ()
) -> Theorem:
    fields: dict[str, Any] = {
        "paper": _PAPER,
        "place": "Theorem 1, repaired",
        "status": "repaired",
        "assumptions": _REPAIRED,
        "algorithm": "afl_dga",
        "options": _OPTIONS,
        "metric": "gradient-norm",
        "about": EACH,
        "page": _PAGE,
        "proof": proof_of(_PAGE, *(f"afl_dga.{one}" for one in (("r2", "r2n") if name in ("r2", "r2n") else (name,)))),
    }
    bound = FormulaBound({**_INITIAL, **terms})
    shared = any(n in term.free_symbols for term in terms.values())
    return Theorem(
        id=f"afl_dga.{name}",
        proofs=(f"afl_dga.{name}",),
        title=title,
        step={"eta": step},
        bound=bound,
        settable=("eta",),
        conditions=conditions,
        parameters={},
        note=_SENT,
        letters=_LETTERS if shared else {"F0": _LETTERS["F0"]},
        **fields,
    )


# √2·S where a point also has own steps, S where it has none.
_BOTH = sqrt(1 + Min(ONE, M_own, evaluate=False)) * S

R0 = _repaired(
    "r0",
    "every client in every round, one local step, no delay",
    1 / L,
    {"noise": x * sigma**2 / n},
    (
        Condition(Q_age, ZERO, "τ ≡ 1 (no gradient is re-used)"),
        Condition(K_m, ONE, "K_m = 1"),
        Condition(S, ZERO, "S = 0"),
        Condition(M_own, ZERO, "M_o = 0"),
        Condition(x, ONE, "η·L ≤ 1"),
    ),
)
R1 = _repaired(
    "r1",
    "full gradients: stale server steps only limit the step size",
    1 / (L * (1 + _BOTH)),
    {"local steps": 2 * x**2 * M_own**2 * G**2},
    (_NOISELESS, Condition(x, 1 / (1 + _BOTH), "η·L ≤ 1/(1+√2·S), or ≤ 1/(1+S) if M_o = 0")),
)
R2 = _repaired(
    "r2",
    "any step size",
    1 / (4 * L),
    {
        "second order": x * G**2,
        "staleness": x**2 * G**2 * SM2,
        "re-use": 2 * x * G * sigma * reuse,
    },
)
R2N = _repaired(
    "r2n",
    "full gradients, steps up to 1/L",
    1 / (4 * L),
    {"staleness": x**2 * G**2 * SM2},
    (_NOISELESS, Condition(x, ONE, "η·L ≤ 1")),
)
R2B = _repaired(
    "r2b",
    "noise averaged over the clients, steps up to 1/(2L)",
    1 / (4 * L),
    {
        "noise": 2 * x * sigma**2 / n,
        "staleness": x**2 * G**2 * SM2,
        "re-use": 2 * x * G * sigma * reuse_n,
    },
    (Condition(x, ONE / 2, "η·L ≤ 1/2"),),
)
R3 = _repaired(
    "r3",
    "noise averaged over the clients, steps up to 1/(4L(1+S))",
    1 / (4 * L * (1 + S)),
    {
        "local steps": 2 * x**2 * M_own**2 * G**2,
        "noise": sigma**2 / n * (2 * x + 4 * x**2 * S**2),
        "re-use": sigma**2 / n * (2 * x * Q_age ** Rational(3, 2) + 4 * x**2 * Q_age**3),
    },
    (Condition(x, 1 / (4 * (1 + S)), "η·L ≤ 1/(4(1+S))"),),
)

_REPAIRS = (R0, R1, R2, R2N, R2B, R3)
_ALONG = tuple(along_run(one, {"G": ("rounds",)}) for one in _REPAIRS)

THEOREMS = (THEOREM1, COROLLARY1, *_REPAIRS, *_ALONG)
