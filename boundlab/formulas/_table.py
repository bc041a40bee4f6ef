"""The rows of :data:`boundlab.formulas.symbols.SYMBOLS`: name, meaning, domain, units, LaTeX, Unicode, vector or not.

A symbol that several papers use under different letters stands here once; theorems say what their paper calls it
(``letters``).
"""

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
    ("K", "number of iterations (arrivals and aggregations alike)", "count", (0, 0)),
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
