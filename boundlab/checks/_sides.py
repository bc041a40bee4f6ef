"""On which side a constant is worse: the class of problems, or of runs, that it describes is wider there."""

# Constants that bound something from above, so that larger values admit more; mu bounds from below.
GROWING = (
    "L", "L_sq", "B", "G", "G_sq", "sigma", "sigma_l", "sigma_g", "sigma_g_mean", "zeta", "R", "F0", "speed_ratio",
    "tau_max", "tau_a", "t_d", "K_m", "D_m", "tau_sum", "S", "M_own", "Q_age", "SM2", "reuse", "reuse_n", "share_bias",
    "chi2", "chi2_path", "alpha2", "pi_max", "C_lag", "A_max", "V_max", "Q_bias", "L_max", "sigma_star",
)  # fmt: skip
FALLING = ("mu",)
# Those of them that an assumption on the functions or on their noise names, "at most" or "at least": a problem meets it
# with every worse constant, too. R, F0 and what is read off a schedule are what they are.
WIDENED = (
    "L", "L_sq", "B", "G", "G_sq", "sigma", "sigma_l", "sigma_g", "sigma_g_mean", "mu", "L_max", "sigma_star",
)  # fmt: skip
