"""Every symbol of every theorem, once: its meaning, its domain and its units (rows: _table).

Units are degrees (a, b): the symbol's behaviour under f → c·f (degree a) and x → s·x (degree b); or (a, b, c) with
seconds to the power c.
L and mu are (1, −2), B, G and sigma (1, −1), zeta and R (0, 1), function values (1, 0), step sizes
(−1, 2), probabilities and counts (0, 0). Rates of arrival are (0, 0): time is neither f nor x.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final, Literal, final

import numpy as np
import sympy
from numpy.typing import ArrayLike, NDArray

from boundlab.errors import SymbolError
from boundlab.formulas.folds import ClientVector
from boundlab.options import nearest
from boundlab.randomness import Floats

# The rows of :data:`boundlab.formulas.symbols.SYMBOLS`: name, meaning, domain, units, LaTeX, Unicode, vector or not.
#
# A symbol that several papers use under different letters stands here once; theorems say what their paper calls it
# (``letters``).

Degrees = tuple[int, int] | tuple[int, int, int]
Row = (
    tuple[str, str, str, Degrees]
    | tuple[str, str, str, Degrees, str]
    | tuple[str, str, str, Degrees, str, str]
    | tuple[str, str, str, Degrees, str, str, bool]
)
_STEP, _TIME = (-1, 2), (0, 0, 1)

AREA_ROWS: tuple[Row, ...] = (
    # The functions.
    ("mu", "strong convexity: every f_i is mu-strongly convex", "positive", (1, -2), r"\mu", "μ"),
    ("L", "smoothness: every gradient of f_i is L-Lipschitz", "positive", (1, -2)),
    ("B", "Lipschitz constant of every f_i: bounds its subgradients", "nonnegative", (1, -1)),
    ("G", "bound on stochastic gradients: E‖g‖² is at most G²", "nonnegative", (1, -1)),
    (
        "sigma",
        "noise level: the variance of a stochastic (sub)gradient is at most sigma²",
        "nonnegative",
        (1, -1),
        r"\sigma",
        "σ",
    ),
    ("zeta", "heterogeneity: largest distance from x* to a minimiser of an f_i", "nonnegative", (0, 1), r"\zeta", "ζ"),
    ("R", "initial distance ‖x_s,0 − x*‖", "nonnegative", (0, 1)),
    (
        "G_star",
        "norms ‖∇f_i(x*)‖ of the client gradients at the optimum",
        "nonnegative",
        (1, -1),
        r"G^\star",
        "G*",
        True,
    ),
    # The run.
    ("n", "number of clients", "count", (0, 0)),
    ("M", "local steps of an update", "count", (0, 0)),
    ("K", "number of iterations (events of AREA, server updates of others)", "count", (0, 0)),
    ("p", "probabilities p_i that an iteration is an arrival of client i", "probability", (0, 0), "p", "p", True),
    ("p_s", "probability that an iteration is an aggregation", "probability", (0, 0), "p_s", "pₛ"),
    ("p_min", "smallest of p_s and all p_i", "probability", (0, 0), r"p_{\min}", "p_min"),
    ("qbar", "average of 1/p_i over the clients", "above-one", (0, 0), r"\bar q", "q̄"),
    ("rates", "arrival rates λ_i of the clients, per unit of time", "positive", (0, 0), r"\lambda_i", "λ_i", True),
    ("lambda_s", "rate of aggregations, per unit of time", "positive", (0, 0), r"\lambda_s", "λₛ"),
    # Step sizes.
    ("alpha", "constant step size", "positive", _STEP, r"\alpha", "α"),
    ("c", "numerator of the step size alpha_k = c/(k+d)", "positive", _STEP),
    ("d", "offset of the step size alpha_k = c/(k+d)", "positive", (0, 0)),
    ("D", "first step size α_0 of AREA's Theorem 7", "positive", _STEP, r"\mathcal{D}", "D"),
    ("a0", "step size with which the first iteration answers", "positive", _STEP, "a_0", "a₀"),
    ("a_init", "step size of the initial broadcast", "positive", _STEP, r"a_{\mathrm{init}}", "a_init"),
    # Short forms of the proofs.
    ("A", "weighted squared initial distance (1/p_s + 2·qbar)·R²", "nonnegative", (0, 2)),
    ("gamma", "contraction 2·mu·L/(mu+L)", "positive", (1, -2), r"\gamma", "γ"),
    ("kappa", "condition number L/mu", "positive", (0, 0), r"\kappa", "κ"),
    ("delta", "share of local steps after the first, 1 − 1/M", "fraction", (0, 0), r"\delta", "δ"),
    ("r_p", "ratio p_s/p_min", "above-one", (0, 0), "r_p", "r_p"),
    (
        "d_eff",
        "offset of the steps that iterations answer with: d, or d+1 with clock=algorithm",
        "positive",
        (0, 0),
        "d'",
        "d′",
    ),
    ("Ktilde", "shifted iteration count K + d − 1", "positive", (0, 0), r"\tilde K", "K̃"),
    ("kg", "L/gamma", "positive", (0, 0), r"\kappa_\gamma", "κ_γ"),
    ("q0", "first contraction exponent a0·M·gamma", "positive", (0, 0), "q_0", "q₀"),
    ("W1", "weight exp(q0/3)", "positive", (0, 0), "W_1", "W₁"),
    ("W2", "weight exp(q0/6)", "positive", (0, 0), "W_2", "W₂"),
    ("d_ratio", "ratio d/(d−1)", "positive", (0, 0), r"\varphi", "φ"),
    ("X0", "initial squared distances of the x_i to their targets", "nonnegative", (0, 2), "X_0", "X₀"),
    ("Y0", "initial squared distances of the y_i to their targets", "nonnegative", (0, 2), "Y_0", "Y₀"),
    ("Lam0", "initial value of the weighted Lyapunov function", "nonnegative", (0, 2), r"\Lambda_0", "Λ₀"),
    ("Ns", "coefficient of sigma² in one iteration", "nonnegative", (-2, 4), r"N_\sigma", "N_σ"),
    ("Nz", "coefficient of zeta² in one iteration", "nonnegative", (0, 0), r"N_\zeta", "N_ζ"),
)

GRADIENT_ROWS: tuple[Row, ...] = (
    # The functions.
    ("L_sq", "squared smoothness: ‖∇f_i(w) − ∇f_i(w')‖² is at most L_sq·‖w − w'‖²", "positive", (2, -4), r"L_{(2)}"),
    ("F0", "initial gap f(w_0) − inf f", "nonnegative", (1, 0), "F_0", "F₀"),
    (
        "sigma_l",
        "local noise: the variance of a stochastic gradient is at most sigma_l²",
        "nonnegative",
        (1, -1),
        r"\sigma_\ell",
        "σ_ℓ",
    ),
    (
        "sigma_g",
        "heterogeneity: sup over w of the largest ‖∇f_i(w) − ∇f(w)‖",
        "nonnegative",
        (1, -1),
        r"\sigma_g",
        "σ_g",
    ),
    (
        "sigma_g_mean",
        "mean heterogeneity: sup over w of √((1/n) Σ ‖∇f_i(w) − ∇f(w)‖²)",
        "nonnegative",
        (1, -1),
        r"\bar\sigma_g",
        "σ̄_g",
    ),
    ("G_sq", "bound on every ‖∇f_i‖²", "nonnegative", (2, -2), r"G_{(2)}"),
    # The run.
    ("T", "number of server updates", "count", (0, 0)),
    ("Q", "local steps of an update", "count", (0, 0)),
    (
        "tau_max",
        "largest staleness: server updates between start and use of a local run",
        "natural",
        (0, 0),
        r"\tau_{\max}",
        "τ_max",
    ),
    (
        "tau_mean",
        "mean staleness of the client updates that server updates use",
        "nonnegative",
        (0, 0),
        r"\bar\tau",
        "τ̄",
    ),
    ("concurrency", "most client updates in work at the same time", "natural", (0, 0), r"\tau_C", "τ_C"),
    (
        "concurrency_mean",
        "mean number of client updates in work at the same time",
        "nonnegative",
        (0, 0),
        r"\bar\tau_C",
        "τ̄_C",
    ),
    ("seconds", "seconds within which the update looked at is the last one", "nonnegative", _TIME, "H", "H"),
    ("compute", "most seconds of an update of client i", "positive", _TIME, r"\tau", "τ", True),
    ("compute_sorted", "most seconds of the i-th fastest client", "positive", _TIME, r"\tau_s", "τ_s", True),
    ("N", "length of a window, in server updates", "count", (0, 0)),
    (
        "share_bias",
        "largest Σ|omega_i − p_i| of the clients' shares omega_i in a window",
        "nonnegative",
        (0, 0),
        r"\beta_\omega",
        "β_ω",
    ),
    # Step sizes.
    ("eta", "step size", "positive", _STEP, r"\eta", "η"),
    ("eta_l", "local step size", "positive", _STEP, r"\eta_\ell", "η_ℓ"),
    ("eta_g", "server rate", "positive", (0, 0), r"\eta_g", "η_g"),
    ("eta_sum", "sum of the local step sizes of an update", "positive", _STEP, r"A", "A"),
    ("eta_sq", "sum of the squared local step sizes of an update", "positive", (-2, 4), r"\beta", "β"),
    (
        "eta_head",
        "sum of the local step sizes of an update, the last left out",
        "nonnegative",
        _STEP,
        r"A_{Q-1}",
        "A_{Q−1}",
    ),
    # FedCompass.
    ("Qmin", "fewest local steps that the scheduler may give", "count", (0, 0), r"Q_{\min}", "Q_min"),
    ("Qmax", "most local steps that the scheduler may give", "count", (0, 0), r"Q_{\max}", "Q_max"),
    ("speed_ratio", "time per local step, slowest to fastest client", "above-one", (0, 0), r"\rho", "ρ"),
    ("mu_step", "largest power of Qmax/Qmin that is at most speed_ratio", "above-one", (0, 0), r"\mu'", "μ′"),
    ("g1", "1 + (n−1)/mu_step", "above-one", (0, 0), r"\gamma_1", "γ₁"),
    ("g2", "1 + mu_step·(n−1)", "above-one", (0, 0), r"\gamma_2", "γ₂"),
    ("A_max", "largest weighted number of local steps in a server update", "positive", (0, 0), r"\bar A", "Ā"),
    ("W_min", "smallest weighted number of local steps in a window of N updates", "positive", (0, 0), "W_-", "W₋"),
    ("W_max", "largest weighted number of local steps in a window of N updates", "positive", (0, 0), "W_+", "W₊"),
    ("V_max", "largest Σ (weight²·local steps) in a window of N updates", "nonnegative", (0, 0), "V_+", "V₊"),
    ("Q_mean", "mean local steps of the clients of the one group", "positive", (0, 0), r"\bar Q", "Q̄"),
    ("Q_bias", "Σ|Q_i/(n·Q_mean) − 1/n| of the one group", "nonnegative", (0, 0), r"\beta_Q", "β_Q"),
    # FedFa.
    ("window", "arrivals in the sliding window", "count", (0, 0), r"K_w", "K_w"),
    ("tau_a", "most server updates between a client's start and its arrival", "natural", (0, 0), r"\tau_a", "τ_a"),
    ("lag", "server updates between a client's start and its arrival, the same for all", "natural", (0, 0), r"\ell"),
    (
        "kappa_lag",
        "share of an update that stays in the model, 1/(1 + lag + (window−1)/2)",
        "fraction",
        (0, 0),
        r"\kappa_\ell",
        "κ_ℓ",
    ),
    (
        "C_lag",
        "Σ of how far the shares of all updates in the model are from their limits, largest over t",
        "nonnegative",
        (0, 0),
        r"C_\ell",
        "C_ℓ",
    ),
    # AFL-DGA.
    ("K_m", "most local steps of a round", "count", (0, 0)),
    ("D_m", "most local steps between sending a round's gradient and receiving its average", "natural", (0, 0)),
    ("t_d", "longest time between two communications of a client, in rounds", "count", (0, 0)),
    (
        "tau_sum",
        "(1/T)·Σ over rounds t and clients i of tau[i,t] + tau[i,t−tau[i,t]] − 1",
        "nonnegative",
        (0, 0),
        r"\Sigma_\tau",
        "Σ_τ",
    ),
    (
        "S",
        "most server steps missing in a point at which a gradient is taken, or the age of the oldest one if more",
        "natural",
        (0, 0),
    ),
    ("M_own", "most own local steps not yet undone in a point at which a gradient is taken", "natural", (0, 0), "M_o"),
    ("Q_age", "largest age of a stored gradient, max tau − 1", "natural", (0, 0), "Q_a"),
    (
        "SM2",
        "mean over rounds, clients and local steps of (missing server steps + own steps)²",
        "nonnegative",
        (0, 0),
        r"\overline{(S+M)^2}",
        "mean((S+M)²)",
    ),
    ("reuse", "mean age of the stored gradients, tau − 1", "nonnegative", (0, 0), r"\bar a", "ā"),
    (
        "reuse_n",
        "mean over rounds of Σ_a a·√(clients whose gradient has age a)/n",
        "nonnegative",
        (0, 0),
        r"\bar a_n",
        "ā_n",
    ),
    # FedBuff and FedStaleWeight.
    ("b", "updates in a full buffer", "count", (0, 0)),
    ("scale", "weights in a buffer are proportional to 1 + scale·(average staleness)", "nonnegative", (0, 0)),
    ("a_max", "largest weight of an update in a buffer", "fraction", (0, 0), r"a_{\max}", "a_max"),
    ("a_min", "smallest weight of an update in a buffer", "fraction", (0, 0), r"a_{\min}", "a_min"),
    ("U", "largest squared distance of a weight from 1/b", "nonnegative", (0, 0)),
    (
        "drift",
        "mean squared length that local models move away from the server model, by gradient length",
        "nonnegative",
        (-2, 4),
        r"\Delta_\eta",
        "Δ_η",
    ),
    ("chi2", "n·Σ(pi_i − 1/n)² of the long-run shares pi_i", "nonnegative", (0, 0), r"\chi^2", "χ²"),
    (
        "chi2_path",
        "mean over updates of n·Σ(a_i − 1/n)² of the clients' weights a_i",
        "nonnegative",
        (0, 0),
        r"\chi^2_{\mathrm{path}}",
        "χ²_path",
    ),
    (
        "alpha2",
        "mean over updates of the sum of squared weights in a buffer",
        "positive",
        (0, 0),
        r"\overline{\alpha^2}",
        "mean(α²)",
    ),
    ("pi_max", "largest long-run share of a client", "positive", (0, 0), r"\pi_{\max}", "π_max"),
    ("V_s", "variance of the aggregated gradient that comes from who is in the buffer", "nonnegative", (2, -2)),
    # Short forms of the proofs.
    ("sigma2", "sigma_l² + sigma_g² + G_sq", "nonnegative", (2, -2), r"\sigma^2", "σ²"),
    ("s2", "second moment of a stochastic gradient, G_sq + sigma_l²", "nonnegative", (2, -2), "s^2", "s²"),
    ("bias", "bias of unequal shares, sigma_g·share_bias", "nonnegative", (1, -1), r"B_\omega", "B_ω"),
    ("stale", "how far the gradients used are from those at the server model", "nonnegative", (1, -1), "e"),
    (
        "err2",
        "mean squared distance of the weighted client gradients from ∇f",
        "nonnegative",
        (2, -2),
        r"\varepsilon^2",
        "ε²",
    ),
    ("F_v", "initial gap of the virtual iterate", "nonnegative", (1, 0), "F_v", "F_v"),
    ("shift", "how far the gradients at the server model and at the virtual iterate differ", "nonnegative", (1, -1)),
    ("X_v", "root of the bound at the virtual iterate", "nonnegative", (1, -1), "X_v", "X_v"),
    ("E_init", "what the start adds to the bound", "nonnegative", (2, -2), r"E_0", "E₀"),
)

CLASSIC_ROWS: tuple[Row, ...] = (
    ("beta", "momentum of the heavy ball", "fraction", (0, 0), r"\beta_m", "β"),
    ("q", "inverse condition number mu/L", "probability", (0, 0)),
    (
        "p_c",
        "probability with which an iteration renews the reference point, or clients communicate",
        "probability",
        (0, 0),
    ),
    (
        "L_max",
        "largest smoothness of a function that is drawn, such as the loss of one row",
        "positive",
        (1, -2),
        r"L_{\max}",
        "L_max",
    ),
    ("L_i", "smoothness of f_i: its gradients are L_i-Lipschitz", "positive", (1, -2), "L", "L", True),
    ("mu_i", "strong convexity of f_i", "nonnegative", (1, -2), r"\mu", "μ", True),
    (
        "sigma_i",
        "noise level of client i, whose variance is at most sigma_i²",
        "nonnegative",
        (1, -1),
        r"\sigma",
        "σ",
        True,
    ),
    ("gap_i", "gaps f_i(x*) − inf f_i of the clients at the optimum", "nonnegative", (1, 0), r"\Gamma", "Γ", True),
    ("delta_g", "longest mean error of a (sub)gradient of f_i", "nonnegative", (1, -1), r"\delta_g", "δ_g"),
    (
        "eps_g",
        "longest mean error of a (sub)gradient of f_i, as a multiple of its length",
        "nonnegative",
        (0, 0),
        r"\varepsilon_g",
        "ε_g",
    ),
    ("diameter", "diameter of the set that the objective is constrained to", "positive", (0, 1), "D_X", "D_X"),
    (
        "sigma_star",
        "noise at the minimiser: mean over clients of the variance of g_i(x*) is at most sigma_star²",
        "nonnegative",
        (1, -1),
        r"\sigma_\star",
        "σ_star",
    ),
)
ROWS = AREA_ROWS + GRADIENT_ROWS + CLASSIC_ROWS

# What may stand in place of the true value: a limit of it from above, or from below. All other symbols name the run
# itself (who, how many, which step size), and only the value itself will do.
UPPER = frozenset(
    (
        "L", "B", "G", "sigma", "zeta", "R", "G_star", "kappa", "A", "X0", "Y0", "Lam0", "Ns", "Nz", "L_sq",
        "F0", "sigma_l", "sigma_g", "sigma_g_mean", "G_sq", "tau_max", "tau_mean", "concurrency",
        "concurrency_mean", "share_bias", "speed_ratio", "A_max", "W_max", "V_max", "Q_bias", "tau_a", "C_lag",
        "K_m", "D_m", "t_d", "tau_sum", "S", "M_own", "Q_age", "SM2", "reuse", "reuse_n", "a_max", "U", "drift",
        "chi2", "chi2_path", "alpha2", "pi_max", "V_s", "sigma2", "s2", "bias", "stale", "err2", "F_v", "shift",
        "X_v", "E_init", "L_max", "sigma_star", "diameter", "L_i", "sigma_i", "gap_i", "compute", "compute_sorted",
        "delta_g", "eps_g",
    )
)  # fmt: skip
LOWER = frozenset(("mu", "mu_i", "gamma", "q", "W_min", "a_min"))
ANY = frozenset(("N", "D", "seconds"))  # chosen for the bound, which holds with every value that its conditions allow

# What each symbol is at most, by definition.
AT_MOST = {"mu": ("L", "L_max"), "Qmin": ("Qmax",), "W_min": ("W_max",), "p_min": ("p_s",)}

# What each symbol is, once: everything that asks "is this noise?" asks here. `short` names what theorems put together
# from others; `user` what is chosen for a bound.
ROLES = {
    "function": ("mu", "L", "B", "L_sq", "L_max", "G_sq", "diameter", "L_i", "mu_i", "delta_g", "eps_g"),
    "noise": ("G", "sigma", "sigma_l", "sigma_star", "sigma_i"),
    "heterogeneity": ("zeta", "G_star", "sigma_g", "sigma_g_mean", "gap_i"),
    "start": ("R", "F0"),
    "schedule": (
        "p", "p_s", "p_min", "qbar", "rates", "lambda_s", "tau_max", "tau_mean", "concurrency", "concurrency_mean",
        "share_bias", "speed_ratio", "A_max", "W_min", "W_max", "V_max", "Q_mean", "Q_bias", "tau_a", "lag",
        "kappa_lag", "C_lag", "K_m", "D_m", "t_d", "tau_sum", "S", "M_own", "Q_age", "SM2", "reuse", "reuse_n",
        "chi2", "chi2_path", "alpha2", "pi_max", "compute", "compute_sorted",
    ),
    "option": ("M", "Q", "Qmin", "Qmax", "window", "b", "p_c"),
    "step": ("alpha", "c", "d", "D", "a0", "a_init", "eta", "eta_l", "eta_g", "beta", "q", "scale"),
    "horizon": ("K", "T"),
    "clients": ("n",),
    "user": ("N", "seconds"),
    "short": (
        "A", "gamma", "kappa", "delta", "r_p", "d_eff", "Ktilde", "kg", "q0", "W1", "W2", "d_ratio", "X0", "Y0", "Lam0",
        "Ns", "Nz", "eta_sum", "eta_sq", "eta_head", "mu_step", "g1", "g2", "a_max", "a_min", "U", "drift", "V_s",
        "sigma2", "s2", "bias", "stale", "err2", "F_v", "shift", "X_v", "E_init",
    ),
}  # fmt: skip

# What each symbol is in the simplest run: one client, one local step, no delay, server rates of 1. What is chosen, as
# noise, horizon and step size are, has no such value.
ALONE = {
    0: (
        "zeta", "G_star", "gap_i", "sigma_g", "sigma_g_mean", "tau_max", "tau_mean", "tau_a", "lag", "share_bias",
        "chi2", "chi2_path", "S", "M_own", "D_m", "Q_age", "SM2", "reuse", "reuse_n", "C_lag", "Q_bias",
    ),
    1: (
        "n", "M", "Q", "N", "b", "window", "scale", "eta_g", "Qmin", "Qmax", "speed_ratio", "mu_step", "A_max",
        "W_min", "W_max", "V_max", "Q_mean", "K_m", "t_d", "tau_sum", "alpha2", "pi_max", "kappa_lag", "p_c",
    ),
}  # fmt: skip
# Powers of m where each client is there m times and all copies arrive together, doubled so that they are integers.
COPIES = {
    2: ("n", "b", "tau_sum", "concurrency", "concurrency_mean"),
    -1: ("reuse_n",),
    -2: ("alpha2", "pi_max", "V_max"),
}
# Powers of R where all delays between clients and server are R times as long, and the step is divided by R.
DELAYED = {
    1: (
        "tau_max", "tau_mean", "tau_a", "lag", "t_d", "S", "Q_age", "reuse", "reuse_n", "tau_sum", "concurrency",
        "concurrency_mean", "seconds", "compute", "compute_sorted",
    ),
    2: ("SM2",),
}  # fmt: skip


_LARGEST: Final = 2**53  # integers up to there are floats
Side = Literal["exact", "upper", "lower", "any"]
SIDES: tuple[Side, ...] = ("exact", "upper", "lower", "any")
Role = Literal[
    "function", "noise", "heterogeneity", "start", "schedule", "option", "step", "horizon", "clients", "user", "short"
]


@final
@dataclass(frozen=True, slots=True)
class Domain:
    """The values that a symbol may take: an interval of the reals or of the integers.

    Parameters
    ----------
    id
        Its name in TOML files: ``positive``, ``nonnegative``, ``real``, ``probability``, ``fraction``,
        ``count``, ``natural`` or ``above-one``.
    rule
        What a message says after "must be".
    low, high
        Ends of the interval; ``open_low`` excludes the lower one.
    integer
        Whether only integers belong to it.
    """

    id: str
    rule: str
    low: float = -math.inf
    high: float = math.inf
    open_low: bool = False
    integer: bool = False

    def contains(self, value: Floats) -> NDArray[np.bool_]:
        """Return, entry by entry, whether the value is finite and inside; same shape."""
        inside = np.isfinite(value) & (value <= self.high)
        inside &= value > self.low if self.open_low else value >= self.low
        if self.integer:
            inside &= value == np.floor(value)
        return np.asarray(inside)

    def holds(self, value: object) -> bool:
        """Return whether a value is a plain number inside, without the arrays of :meth:`contains`: False if unsure."""
        if type(value) is not float and not (type(value) is int and abs(value) <= _LARGEST):
            return False
        above = value > self.low if self.open_low else value >= self.low
        return above and value <= self.high and math.isfinite(value) and not (self.integer and value % 1)

    def symbol(self, name: str, kind: type[sympy.Symbol] = sympy.Symbol) -> sympy.Symbol:
        """Return a SymPy symbol with the assumptions of this domain."""
        assumptions: dict[str, bool] = {"real": True, "finite": True}
        if self.low > 0 or (self.low == 0 and self.open_low):
            assumptions["positive"] = True
        elif self.low == 0:
            assumptions["nonnegative"] = True
        if self.integer:
            assumptions["integer"] = True
        return kind(name, **assumptions)


DOMAINS: Mapping[str, Domain] = MappingProxyType(
    {
        domain.id: domain
        for domain in (
            Domain("positive", "> 0", low=0.0, open_low=True),
            Domain("nonnegative", "≥ 0", low=0.0),
            Domain("real", "a finite number"),
            Domain("probability", "in (0, 1]", low=0.0, high=1.0, open_low=True),
            Domain("fraction", "in [0, 1]", low=0.0, high=1.0),
            Domain("count", "an integer ≥ 1", low=1.0, integer=True),
            Domain("natural", "an integer ≥ 0", low=0.0, integer=True),
            Domain("above-one", "≥ 1", low=1.0),
        )
    }
)


@final
@dataclass(frozen=True, slots=True)
class SymbolInfo:
    """One symbol.

    Parameters
    ----------
    name
        How code, the command line and files spell it.
    symbol
        The SymPy symbol, with the assumptions of the domain.
    meaning
        What it is, in words that a message can quote.
    domain
        Its values.
    units
        Degrees (a, b) under f → c·f and x → s·x; or (a, b, c), in which seconds have the degree c.
    latex, unicode
        How it is printed for people.
    vector
        Whether it stands for one number per client, shape (n,).
    side
        What may stand in place of the true value: an ``upper`` or a ``lower`` limit of it, only the value itself
        (``exact``), or ``any`` number, where the theorem holds for each.
    role
        What it says something of: the functions f_i (``function``), the ``noise`` of their gradients, their
        ``heterogeneity``, the ``start``, the ``schedule`` (who acts when, read off delays or run), an ``option`` of the
        algorithm, a ``step``, the ``horizon``, the number of ``clients``. Else it is a ``short`` form of others, or the
        ``user``'s.
    alone
        Its value with one client, one local step at a time and no delay; None where it is chosen, or nobody knows.
    copies
        Twice the power of m that it is multiplied with where each client is there m times; None where nobody knows.
    delay
        The power of R that it is multiplied with where delays are R times as long; None where nobody knows.
    at_most
        The symbols that are never smaller, whatever the run.
    """

    name: str
    symbol: sympy.Symbol
    meaning: str
    domain: Domain
    units: Degrees
    latex: str
    unicode: str
    vector: bool = False
    side: Side = "exact"
    role: Role = "user"
    alone: int | None = None
    copies: int | None = None
    delay: int | None = None
    at_most: tuple[str, ...] = ()

    @property
    def is_step_size(self) -> bool:
        """True if it is counted in 1/L, as step sizes are."""
        return self.units == (-1, 2)

    def describe(self) -> str:
        """Return meaning, domain and units in one line.

        Examples
        --------
        >>> lookup("sigma").describe()
        'noise level: the variance of a stochastic (sub)gradient is at most sigma²; ≥ 0; units (1, −1)'
        """
        units = ", ".join(map(str, self.units)).replace("-", "−")
        each = "one number per client, " if self.vector else ""
        return f"{self.meaning}; {each}{self.domain.rule}; units ({units})"

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready fields."""
        return {
            "name": self.name,
            "meaning": self.meaning,
            "domain": self.domain.id,
            "units": list(self.units),
            "latex": self.latex,
            "unicode": self.unicode,
            "vector": self.vector,
        }


def make_symbol(
    name: str,
    meaning: str,
    domain: str,
    units: Degrees,
    latex: str = "",
    unicode: str = "",
    vector: bool = False,
    side: Side = "exact",
    role: Role = "user",
) -> SymbolInfo:
    """Make a symbol; ``latex`` and ``unicode`` default to its name.

    Raises
    ------
    SymbolError
        If there is no such domain.
    """
    if domain not in DOMAINS:
        raise SymbolError(f"symbol {name}: unknown domain {domain!r}; {nearest(domain, DOMAINS)}")
    shown = latex or (name if len(name) == 1 else rf"\mathrm{{{name.replace('_', chr(92) + '_')}}}")
    moved = 0 if role in ("option", "step", "horizon") else None  # what is chosen stays, whatever clients and delays do
    return SymbolInfo(
        name,
        DOMAINS[domain].symbol(name, ClientVector if vector else sympy.Symbol),
        meaning,
        DOMAINS[domain],
        units,
        shown,
        unicode or name,
        vector,
        side,
        role,
        copies=moved,
        delay=moved,
    )


def _built_in(row: Row) -> SymbolInfo:
    """Return a symbol of the table: what copies and delays do to it is known, and mostly nothing."""
    name = row[0]
    side: Side = "upper" if name in UPPER else "lower" if name in LOWER else "any" if name in ANY else "exact"
    (role,) = _places(ROLES, name)
    return replace(
        make_symbol(*row, side=side, role=role),  # type: ignore[misc]
        alone=next(_places(ALONE, name), None),
        copies=next(_places(COPIES, name), 0),
        delay=next(_places(DELAYED, name), 0),
        at_most=AT_MOST.get(name, ()),
    )


def _places(table: Mapping[Any, tuple[str, ...]], name: str) -> Iterator[Any]:
    return (place for place, names in table.items() if name in names)


SYMBOLS: Mapping[str, SymbolInfo] = MappingProxyType({row[0]: _built_in(row) for row in ROWS})


def lookup(name: str, symbols: Mapping[str, SymbolInfo] = SYMBOLS) -> SymbolInfo:
    """Return the symbol of that name.

    Raises
    ------
    SymbolError
        If there is none; the message names the nearest one.
    """
    if name not in symbols:
        raise SymbolError(f"unknown symbol {name!r}; {nearest(name, symbols)}")
    return symbols[name]


def having(*roles: Role, symbols: Mapping[str, SymbolInfo] = SYMBOLS) -> frozenset[str]:
    """Return the names of all symbols with one of these roles.

    Examples
    --------
    >>> sorted(having("noise"))
    ['G', 'sigma', 'sigma_i', 'sigma_l', 'sigma_star']
    """
    return frozenset(name for name, info in symbols.items() if info.role in roles)


def ordered(symbols: Mapping[str, SymbolInfo] = SYMBOLS) -> tuple[tuple[str, str], ...]:
    """Return the pairs (smaller, larger) of symbols that no run has the other way round.

    Examples
    --------
    >>> ordered()[0]
    ('mu', 'L')
    """
    return tuple((name, large) for name, info in symbols.items() for large in info.at_most)


NOISE: Final = having("noise")
"""The symbols that say how large the noise of gradients is: a theorem that reads one is about stochastic gradients."""
ZERO_WITHOUT_NOISE: Final = NOISE - {"G"}
"""Those that are 0 for full gradients; G bounds a gradient together with its noise."""
QUIET: Final = ZERO_WITHOUT_NOISE | {name for name, info in SYMBOLS.items() if info.alone == 0}
"""What can be 0 while gradient descent goes on: noise, delay, and differences between clients."""


def symbol(name: str) -> sympy.Symbol:
    """Return the SymPy symbol of a built-in name."""
    return lookup(name).symbol


def apart(name: str, **assumptions: bool) -> sympy.Symbol:
    """Return a symbol that no theorem can name: one of a proof about its formulas, not of the formulas themselves."""
    return sympy.Symbol(f"{name}′" if name.isascii() else name, **assumptions)


def check(name: str, value: ArrayLike, symbols: Mapping[str, SymbolInfo] = SYMBOLS) -> Floats:
    """Return the value as float64, after making sure that every entry is finite and in the domain.

    Parameters
    ----------
    name
        A symbol of the table.
    value
        A number or an array of any shape; shape (n,) for a vector symbol.

    Raises
    ------
    SymbolError
        If the symbol is unknown, the value is not numeric or empty, or an entry is outside the domain.

    Examples
    --------
    >>> check("sigma", -1)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    boundlab.errors.SymbolError: sigma must be ≥ 0, got -1 (noise level: ...)
    """
    info = lookup(name, symbols)
    if not info.vector and info.domain.holds(value):
        return np.asarray(value, dtype=np.float64)
    try:
        if isinstance(value, (str, bytes, bool)) or np.iscomplexobj(value):
            raise TypeError
        numbers = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise SymbolError(f"{name} must be {info.domain.rule}, got {value!r} ({info.meaning})") from None
    if info.vector and numbers.ndim != 1:
        raise SymbolError(f"{name} must be a list of numbers, one per client ({info.meaning})")
    if numbers.size == 0:
        raise SymbolError(f"{name} is empty; give at least one number ({info.meaning})")
    outside = ~info.domain.contains(numbers)
    if outside.any():
        first = numbers[outside].flat[0]
        raise SymbolError(f"{name} must be {info.domain.rule}, got {first:.12g} ({info.meaning})")
    return numbers


@lru_cache(maxsize=4096)
def names_of(expression: sympy.Expr) -> frozenset[str]:
    """Return the names of the symbols in an expression."""
    return frozenset(symbol.name for symbol in expression.free_symbols)


def followed(names: Iterable[str], read: Callable[[str], Iterable[str]]) -> frozenset[str]:
    """Return names, what each of them reads, what that reads, and so on."""
    found: set[str] = set()
    stack = list(names)
    while stack:
        name = stack.pop()
        if name not in found:
            found.add(name)
            stack += read(name)
    return frozenset(found)
