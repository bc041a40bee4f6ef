# %% [markdown]
# # FedStaleWeight as a mechanism
#
# FedStaleWeight gives rare updates more weight, so that slow clients are heard, and claims that nobody gains by pretending to be slow. We follow its argument: staleness, weights, long-run shares, utility; and look at where it holds. The proofs are in `docs/theory/fedstaleweight.md`.

# %% [markdown]
# ## 1. Staleness tells how fast a client is
#
# Client i sends a fraction p_i = r_i/Σr_j of the updates, and the server aggregates every b of them. The paper's (6) says E[τ_i] = (1/p_i − 1)/b. In the long run, whatever the delays, E[τ_i] = 1/(b·p_i) − P(its own update completes the buffer); for i.i.d. arrivals that probability is 1/b, and both agree.

# %%
import sympy

from boundlab.mechanism import (
    arrival_pattern,
    expected_staleness,
    long_run_shares,
    periodic,
    share_slope,
    simulate_mechanism,
    staleness_formula,
    truthful_limit,
    utility,
    utility_derivative,
)
from boundlab.mechanism.plots import draw_shares, draw_utility

b = 4
rates = [8, 6, 4, 3, 2, 1.5, 1, 0.5]
runs = {w: simulate_mechanism(rates, b, w, aggregations=600, seed=1) for w in ("equal", "E+1", "bE+1")}
for kind in ("paper", "post", "pre", "wait"):
    print(f"{kind:6}", staleness_formula(kind))
for formula, mean, error in zip(
    expected_staleness(rates, b), runs["bE+1"].staleness, runs["bE+1"].staleness_se, strict=True
):
    print(f"E[τ] = {formula:.3f}   simulated {mean:.3f} ± {error:.3f}")

# %% [markdown]
# With other delays the probability is not 1/b. Two equally fast clients that take turns, b = 2: the second one completes every buffer, reads the new model at once and is never stale. The algorithm takes it for the faster one and gives it a quarter.

# %%
turns = periodic([0, 1], b=2)
print("staleness", *turns.staleness, "  completes", *turns.completes)
print("shares under b·E[τ]+1:", *turns.staleness_shares(2), "  under equal weights:", *turns.staleness_shares(0))

# %% [markdown]
# ## 2. Weights and shares
#
# Weights 1/(n·p_i) = (b·E[τ_i] + 1)/n make p_i·w_i equal. Algorithm 1 prints E[τ_i] + 1 instead. Normalised over each buffer, even the fair weights do not give 1/n: to first order π_i − 1/n = (q̄ − 1/p_i)/(b·n²), with q̄ the mean of 1/p_j. Fast clients stay ahead.

# %%
fastest_and_slowest = [0, -1]
for w in ("equal", "E+1", "bE+1"):
    exact = long_run_shares(rates, b, w, "quadrature")
    print(
        f"{w:6} mean field {long_run_shares(rates, b, w)[fastest_and_slowest].round(4)}"
        f"   exact for i.i.d. {exact[fastest_and_slowest].round(4)}"
        f"   simulated {runs[w].shares[fastest_and_slowest].round(4)}"
        f"   chi² = {len(rates) * ((exact - 1 / len(rates)) ** 2).sum():.3f}"
    )

# %%
shares = draw_shares(rates, b, runs)

# %% [markdown]
# *Figure: long-run shares of the eight clients, fastest first. Under equal weights the share is proportional to the rate, 0.31 to 0.02. The weights E[τ] + 1 of Algorithm 1 are fairer, and b·E[τ] + 1 fairer still, 0.18 to 0.05; none reaches 1/n for every client. The simulated shares lie near the exact ones.*

# %% [markdown]
# ## 3. Is it best to be as fast as one can?
#
# Equation (9): with C = Σ 1/r_j over the other updates in the buffer and D = Σ r_j over the other clients,

# %%
print("u_i  =", utility("printed"))
print("u_i' =", utility_derivative("printed"))

# %% [markdown]
# The sign is that of D − C·r_i². The paper makes it positive by rescaling all rates, but it is homogeneous: r → c·r multiplies it by c. And if the other b − 1 updates are typical ones of the other clients, C = (b−1)(n−1)/D, so that (9) grows only up to r_i = D/√((b−1)(n−1)). For b fixed that allows everything as n grows; for b = n it is the others' mean rate, for every n.

# %%
for n in (10, 100, 1000):
    limits = [truthful_limit([1.0] * (n - 1), size) for size in (2, 5, n)]
    print(
        f"n = {n:4}: others at rate 1, (9) grows up to r_i =",
        *(f"{x:.3g} (b = {s})" for x, s in zip(limits, (2, 5, n), strict=True)),
    )

# %% [markdown]
# But (9) forgets that a fast client has several updates in a buffer. The exact share under i.i.d. arrivals does count them, and for weights 1 + scale·E[τ] with any scale ≤ b it **always** grows with r_i: the conclusion is true, for every n and b, though not by the printed argument. For b = 2 and two clients it can be read off:

# %%
x = sympy.Symbol("x", positive=True)  # r_1/r_2
share = sympy.factor(long_run_shares([x, sympy.Integer(1)], 2, "bE+1", "enumeration")[0])
print("π_1  =", share)
print("π_1' =", sympy.factor(sympy.diff(share, x)))
gain = draw_utility([1.0] * 9, 5)

# %% [markdown]
# *Figure: the share of one client among ten over the rate that it reports. Equation (9) turns down after its limit; the exact share grows throughout.*

# %% [markdown]
# Above b the weights correct too much, and throttling pays. And the theorem needs i.i.d. arrivals: with fixed times there are resonances.

# %%
for scale in (1, 10, 20):
    print(f"n = 4, b = 10, r = (2,1,1,1), scale {scale:2}: ∂π_1/∂log r_1 = {share_slope([2, 1, 1, 1], 10, scale):+.4f}")
for speed in (6, 7):
    run = periodic(arrival_pattern([speed, 1, 1]), 2)
    print(
        f"fixed times, rates ({speed}, 1, 1), b = 2, weights 1/r: π_1 =",
        run.shares([1 / sympy.Integer(speed), 1, 1])[0],
    )
