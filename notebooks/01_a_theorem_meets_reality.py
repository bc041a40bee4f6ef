# %% [markdown]
# # A theorem meets reality
#
# A convergence theorem promises: after K iterations the error is at most this. We hold such a promise against a run of AREA (asynchronous exact averaging) on real data, and ask three things. How far is the bound from the truth? What does each of its terms cost? And can it be *used*: do the number of local steps and the step size that it recommends do well in reality?
#
# Logistic regression on the handwritten digits that come with scikit-learn (upper half against lower half), split over eight clients with Dirichlet(0.3) labels, mini-batches of 16, ℓ2-regularised so that the objective is strongly convex. The clients differ in speed by a factor of ten.

# %%
import numpy as np
from matplotlib import pyplot as plt

import boundlab as bl

problem = "logistic:data=digits,clients=8,partition=dirichlet,a=0.3,batch=16,nu=0.1,normalise=yes"
delays = "exponential:spread=10"
closed, recursion = "area.theorem7.onepass.algorithm-start", "area.theorem7.recursion.algorithm-start"
bl.theorem(closed)

# %% [markdown]
# ## The bound and the run
#
# Theorem 7 of the paper is printed as an 𝒪(·). Two forms with all constants are derived and proved in `docs/theory/area.md#the-proofs`: a closed form with four named terms, and the recursion from which it is rounded. Both hold for the same steps α_k = c/(k + d), so one run meets both. Every constant (μ, L, σ, ζ, R) comes from the data with a certificate, and from the side on which it may err.

# %%
asked = {"iterations": 2000, "trials": 10, "M": 5}
by_hand = bl.compare(closed, problem, delays, **asked)
by_steps = bl.compare(recursion, problem, delays, **asked)
assert np.array_equal(by_hand.band.mean, by_steps.band.mean)  # the same trials
assert by_hand.verdict.value == by_steps.verdict.value == "consistent"
by_steps

# %%
axes = by_steps.plot(others=[by_hand])

# %% [markdown]
# *Figure: the mean squared distance to the minimiser over 2000 iterations, with its band, below the recursion's bound (broad line), which starts at the initial distance itself, and far below the closed form's (dashed). A thin line marks the distance of x₀. The lower panel has mean/bound for both forms.*

# %% [markdown]
# No violation is seen, and that was to be expected of a proved theorem. The recursion's bound falls as the error does, only later. The figure says something else, too: the closed form, which is the same proof rounded to four terms, stays **above the error of never moving**. It is true, and within 2000 iterations it is vacuous.

# %%
still = by_hand.trivial_bound
print(f"never moving: {still.level:.3g}")
print(f"closed form:    {by_hand.bound[-1]:.3g}, falls below that at K = {still.crosses:.2g}")
print(f"recursion:      {by_steps.bound[-1]:.3g}")
print(f"reality:        {by_hand.band.mean[-1]:.3g}")
assert by_hand.vacuous
assert not by_steps.vacuous
assert by_hand.band.mean[-1] < by_steps.bound[-1] < still.level < by_hand.bound[-1]

# %% [markdown]
# ## What each term costs
#
# A bound is a sum, and its terms fall at different speeds. The formula costs nothing to evaluate, so we follow it to K = 10⁸.

# %%
values = {name: value for name, value in by_hand.plan.values.items() if name != "K"}
K = np.geomspace(1e2, 1e8, 200).round()
at = bl.theorem(closed).evaluate(values, K=K)
shares = {name: term / at.total for name, term in at.terms.items()}
figure, axes = plt.subplots(figsize=(9.6, 4.2), dpi=110, layout="constrained")
greys = ["#f0f0f0", "#c8c8c8", "#909090", "#505050"]
areas = axes.stackplot(K, shares.values(), labels=shares, colors=greys, edgecolor="black", linewidth=0.6)
for area, pattern in zip(areas, ["", "//", "..", "xx"], strict=True):
    area.set_hatch(pattern)
axes.axvline(still.crosses, color="#D55E00", linewidth=2, linestyle="--", label="says something from here on")
axes.set(xscale="log", xlim=(K[0], K[-1]), ylim=(0, 1), xlabel="iterations $K$", ylabel="share of the bound")
axes.set_title("AREA on digits, closed form of Theorem 7: which term is the bound")
figure.legend(loc="outside lower center", ncols=5, frameon=False)
first, last = ({name: float(share[where]) for name, share in shares.items()} for where in (0, -1))
assert max(last, key=last.get) == "noise"
assert last["noise"] > 0.9
assert first["noise"] < 0.5

# %% [markdown]
# *Figure: the shares of the four terms in the closed-form bound over K from 100 to 10⁸, stacked. Early on, the initial distance, noise and drift share it; in the end noise is nearly all. A dashed line marks the horizon from which the bound is below the error of never moving.*

# %% [markdown]
# Heterogeneity, which papers speak of most, is the smallest term of all here. What costs is *drift* (the local steps of a pass, M − 1 of them) and, in the end, *noise*: more rounds help against the first two, only a smaller step or a larger batch against the third.

# %%
assert max(shares["heterogeneity"]) < 0.05
print({name: f"{share:.3f}" for name, share in first.items()}, "at K = 100")
print({name: f"{share:.3f}" for name, share in last.items()}, "at K = 1e8")

# %% [markdown]
# ## Choosing M and the step from the bound
#
# The recursion holds for any nonincreasing steps, so it can be asked which are best for our K. With M local steps of size α a client moves by about Mα. We take constant steps (d so large that c/(k + d) does not move), over a grid of Mα, for five values of M.

# %%
theorem, horizon, d = bl.theorem(recursion), 2000, 1e7
known = {name: value for name, value in by_steps.plan.values.items() if name not in ("K", "M", "c", "d")}


def bound(M, alpha):
    return float(theorem.evaluate(known, K=[horizon], M=M, c=alpha * d, d=d).total[0])


many, passes = [1, 2, 4, 8, 16], 0.02 * 2.0 ** np.arange(8)
bounds = {M: np.array([bound(M, length / M) for length in passes]) for M in many}
best = {M: float(passes[np.argmin(row)]) for M, row in bounds.items()}
assert all(passes[0] < where < passes[-1] for where in best.values())  # each curve has its minimum inside
assert np.all(np.diff([row.min() for row in bounds.values()]) < 0)  # more local steps, smaller bound
for M in many:
    print(f"M = {M:2}: smallest bound {bounds[M].min():.3g}, at Mα = {best[M]:.2g}")

# %% [markdown]
# The bound recommends a pass of a certain length, cut into as many small steps as one can afford: they average the noise out, with ever smaller gains. Does reality agree? We run M = 4 for five of these lengths.

# %%
lengths = [*passes[1:8:2].tolist(), 5.12]
runs = [bl.run("area", problem, delays, iterations=horizon, trials=4, M=4, alpha=length / 4) for length in lengths]
measured = np.array([run.metrics["squared-distance"][:, -1].mean() for run in runs])

figure, axes = plt.subplots(figsize=(9.6, 4.6), dpi=110, layout="constrained")
styles = ["-", "--", "-.", ":", (0, (7, 2))]
for M, style, mark, shade in zip(many, styles, "osPvD", np.linspace(0.65, 0.0, 5), strict=True):
    axes.plot(passes, bounds[M], linestyle=style, marker=mark, color=str(shade), label=f"bound, $M = {M}$")
axes.plot(lengths, measured, "-", marker="*", markersize=11, color="#0072B2", linewidth=2, label="measured, $M = 4$")
axes.axhline(still.level, color="#D55E00", linewidth=1.5, label="never moving")
axes.set(xscale="log", yscale="log", xlabel=r"length of a pass, $M\alpha$")
axes.set_ylabel(r"$\mathbb{E}\|x_{s,K}-x^\star\|^2$  [length²]")
axes.set_title(f"{recursion} (derived here) at K = {horizon}: which step does it recommend?", fontsize=10.5)
figure.legend(loc="outside lower center", ncols=4, frameon=False)
axes.grid(visible=True, alpha=0.3)

# %% [markdown]
# *Figure: the bound at K = 2000 over the length Mα of a pass, a grey curve for each M from 1 to 16, and what is measured for M = 4 (blue stars). The bounds fall, have their minimum near 0.16, and rise steeply above the error of never moving. The measured error lies below all of them and goes on falling to 0.64.*

# %%
recommended = float(measured[int(np.argmin(abs(np.log(lengths) - np.log(best[4]))))])
print(
    f"the bound's advice for M = 4: Mα = {best[4]:.2g}, promised {bounds[4].min():.2g}, measured about {recommended:.2g}"
)
print(f"best measured: Mα = {lengths[int(measured.argmin())]:.2g}, {measured.min():.2g}")
assert recommended < bounds[4].min() < still.level  # the advice keeps its promise,
assert measured.min() < recommended / 10  # and a longer pass would have done far better
assert lengths[int(measured.argmin())] > 2 * best[4]

# %% [markdown]
# The advice keeps its promise, and it is too cautious: it must hold for every function with these constants, with noise as large as σ everywhere, and the digits are kinder. In reality a longer pass is far better, and nothing in the theorem allows one to say so beforehand. A bound is a poor prediction and a careful adviser; `boundlab worst-case` asks whether some function needs that care.
