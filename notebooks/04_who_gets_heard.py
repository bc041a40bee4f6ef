# %% [markdown]
# # Who gets heard?
#
# Eight clients, four of them five times as fast as the others. The fast ones want x = 0, the slow ones x = 1: f_i(x) = ½x² or ½(1 − x)², without noise. The minimiser of the mean is x* = ½. Where an asynchronous method ends up tells who it has listened to: its distance to x* is
#
# - 0, if all clients are heard alike,
# - ⅓, if each is heard as often as it sends (the slow group then has 4·1 of 24 parts, x = ⅙),
# - ½, if the slow are not heard at all.
#
# We ask this of asynchronous SGD, FedBuff, FedStaleWeight (as printed, and with the weights that its derivation gives), FedCompass (as printed, and normalised) and AREA, with small steps, under two kinds of delay.

# %%
import numpy as np
from matplotlib import pyplot as plt

import boundlab as bl

problem = "huber:c=[[0],[0],[0],[0],[1],[1],[1],[1]],delta=10"  # quadratic wherever the iterates go
speeds = "rates=[5,5,5,5,1,1,1,1]"
delays = {"two-speed": f"two-speed:{speeds}", "heavy-tailed": f"pareto:{speeds},tail=1.5"}
methods = {
    "asynchronous SGD": ("async_sgd", 3000, {"alpha": 0.02}),
    "FedBuff": ("fedbuff", 1000, {"eta_l": 0.04, "count": 4}),
    "FedStaleWeight, as printed": ("fedstaleweight", 1000, {"eta_l": 0.04, "count": 4}),
    "FedStaleWeight, b·E[τ] + 1": ("fedstaleweight", 1000, {"eta_l": 0.04, "count": 4, "scale": 4}),
    "FedCompass, as printed": ("fedcompass", 300, {"eta": 0.01, "Qmin": 2, "Qmax": 10}),
    "FedCompass, normalised": ("fedcompass", 300, {"eta": 0.01, "Qmin": 2, "Qmax": 10, "normalise": "yes"}),
    "AREA": ("area", 6000, {"alpha": 0.04}),
}

# %% [markdown]
# "two-speed" makes each update ten times slower with probability 0.1; "heavy-tailed" draws Pareto times with an infinite variance. Both keep the clients' mean rates at 5 and 1.

# %%
runs = {
    (kind, name): bl.run(algorithm, problem, law, iterations=iterations, trials=12, **options)
    for kind, law in delays.items()
    for name, (algorithm, iterations, options) in methods.items()
}


def distance(kind, name):
    """|x − x*| at the end, of each trial."""
    return np.sqrt(runs[kind, name].metrics["squared-distance"][:, -1])


# %%
figure, panels = plt.subplots(1, 2, figsize=(11, 4.6), dpi=110, layout="constrained", sharey=True)
rows = np.arange(len(methods))[::-1]
for axes, kind in zip(panels, delays, strict=True):
    for row, name in zip(rows, methods, strict=True):
        found = distance(kind, name)
        axes.plot(found, np.full(len(found), row), "o", color="#56B4E9", markersize=5, alpha=0.7)
        axes.plot(found.mean(), row, "D", color="#0072B2", markersize=9)
    axes.axvline(1 / 3, color="#D55E00", linewidth=2, linestyle="--")
    axes.axvline(0, color="black", linewidth=1)
    axes.set(xlim=(-0.02, 0.52), xlabel=r"distance to the minimiser $|x-x^\star|$", title=f"{kind} delays")
    axes.set_xticks([0, 1 / 6, 1 / 3, 1 / 2], ["0\nall alike", "1/6", "1/3\nas they send", "1/2\nthe fast only"])
    axes.grid(visible=True, axis="y", alpha=0.3)
panels[0].set_yticks(rows, methods)
title = figure.suptitle("Where small steps lead: eight clients, four of them five times as fast", fontsize=12)

# %% [markdown]
# *Figure: for each of seven methods, the distance to the minimiser at the end of twelve trials (dots) and their mean (diamonds), under two-speed delays (left) and heavy-tailed ones (right). Asynchronous SGD, FedBuff and FedCompass as printed lie around 1/3; FedStaleWeight and normalised FedCompass lie between; AREA is nearest to 0 in both panels.*

# %%
mean = {(kind, name): float(distance(kind, name).mean()) for kind in delays for name in methods}
for name in methods:
    print(f"{name:28}" + "".join(f"{kind}: {mean[kind, name]:.3f}   " for kind in delays))
for kind in delays:
    for naive in ("asynchronous SGD", "FedBuff", "FedCompass, as printed"):
        assert abs(mean[kind, naive] - 1 / 3) < 0.06
    assert mean[kind, "FedStaleWeight, b·E[τ] + 1"] < mean[kind, "FedStaleWeight, as printed"] < mean[kind, "FedBuff"]
    assert mean[kind, "FedCompass, normalised"] < mean[kind, "FedCompass, as printed"]
    assert mean[kind, "AREA"] == min(mean[kind, name] for name in methods)

# %% [markdown]
# ## The weights that each client gets
#
# For the methods that add weighted updates, the tape of a run says which part of all aggregated weight came from whom. FedBuff gives the slow group about the sixth that it sends. FedStaleWeight gives it more, not half of it: weights that are normalised within each buffer do not make up for whole buffers without a slow client.
#
# FedCompass is instructive. The slow group has 0.28 to 0.32 of the weight, and yet the limit is where it is for FedBuff: a fast client sends less often, but with up to ten local steps in each update. Weight is not influence; weight times local steps is. Normalised, updates of few steps get more weight, and the limit moves towards the minimiser, though not onto it: now every update counts alike, and the fast still send more of them.

# %%
weighted = [name for name in methods if runs["two-speed", name].statistics[0].shares is not None]
shares = {
    (kind, name): np.mean([one.shares for one in runs[kind, name].statistics], axis=0)
    for kind in delays
    for name in weighted
}
slow = {where: float(share[4:].sum()) for where, share in shares.items()}
figure, axes = plt.subplots(figsize=(9.6, 4.8), dpi=110, layout="constrained")
line = np.array([0, 0.5])
axes.plot(
    line,
    0.5 - line,
    color="#D55E00",
    linewidth=4,
    alpha=0.85,
    label="weight is influence:\n$|x-x^\\star| = 1/2$ − weight",
)
for name, mark in zip(weighted, "os^vPX", strict=True):
    for kind, colour in zip(delays, ["#0072B2", "white"], strict=True):
        label = name if kind == "two-speed" else None
        axes.plot(
            slow[kind, name],
            mean[kind, name],
            mark,
            color=colour,
            markeredgecolor="#0072B2",
            markersize=10,
            label=label,
        )
axes.set(
    xlim=(0, 0.6),
    ylim=(0, 0.5),
    xlabel="weight of the slow group's updates",
    ylabel=r"distance to the minimiser $|x-x^\star|$",
)
axes.set_title("Filled: two-speed delays. Open: heavy-tailed ones.", fontsize=11)
axes.grid(visible=True, alpha=0.3)
legend = figure.legend(loc="outside lower center", ncols=3, frameon=False)

# %% [markdown]
# *Figure: the distance to the minimiser over the share of weight of the slow group. Asynchronous SGD, FedBuff and FedStaleWeight lie near the line on which weight is influence. FedCompass lies above it: as printed it ends as far away as FedBuff although the slow group has far more weight, and normalised it ends at 0.22 although the slow group has about half.*

# %%
for name in weighted:
    print(f"{name:28}" + "".join(f"{kind}: {slow[kind, name]:.3f}   " for kind in delays))
for kind in delays:
    assert abs(slow[kind, "FedBuff"] - 1 / 6) < 0.03
    assert (
        slow[kind, "FedBuff"]
        < slow[kind, "FedStaleWeight, as printed"]
        < slow[kind, "FedStaleWeight, b·E[τ] + 1"]
        < 0.45
    )
    assert slow[kind, "FedCompass, as printed"] > 1.4 * slow[kind, "FedBuff"]
    assert 0.27 < slow[kind, "FedCompass, as printed"] < 0.33
    assert 0.35 < slow[kind, "FedCompass, normalised"] < 0.6
    assert mean[kind, "FedCompass, as printed"] + slow[kind, "FedCompass, as printed"] - 0.5 > 0.05

# %% [markdown]
# ## Does more time help?
#
# AREA's server keeps the last message of every client and adds only what has changed: however rarely a client comes, what the server holds of it stays. Its fixed point is the minimiser, for any rates. So we give AREA four times as many iterations, and FedBuff four times as many with a quarter of the step.

# %%
longer = {
    (kind, name): bl.run(algorithm, problem, law, iterations=iterations, trials=12, **options)
    for kind, law in delays.items()
    for name, algorithm, iterations, options in [
        ("AREA", "area", 24000, {"alpha": 0.04}),
        ("FedBuff", "fedbuff", 4000, {"eta_l": 0.01, "count": 4}),
    ]
}
figure, panels = plt.subplots(1, 2, figsize=(11, 4.2), dpi=110, layout="constrained", sharey=True)
for axes, kind in zip(panels, delays, strict=True):
    for name, colour, style in (("FedBuff", "#D55E00", "--"), ("AREA", "#0072B2", "-")):
        run = longer[kind, name]
        far = np.sqrt(run.metrics["squared-distance"]).mean(axis=0)
        axes.plot(run.ks[1:] / run.ks[-1], far[1:], style, marker="o", color=colour, label=name)
    axes.axhline(1 / 3, color="black", linewidth=0.8, label="as they send: 1/3")
    axes.set(xscale="log", yscale="log", xlabel="part of the run", title=f"{kind} delays")
    axes.grid(visible=True, alpha=0.3)
panels[0].set_ylabel(r"mean distance $|x-x^\star|$")
legend = figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)

# %% [markdown]
# *Figure: the mean distance to the minimiser over the run, for both delay laws, on logarithmic axes. FedBuff comes to 1/3 and stays. AREA falls below it and goes on falling, steeply towards the end, to below 10⁻⁸ under two-speed delays and below 10⁻³ under heavy-tailed ones.*

# %%
ends = {where: float(np.sqrt(run.metrics["squared-distance"][:, -1]).mean()) for where, run in longer.items()}
for (kind, name), end in ends.items():
    print(f"{name:8} {kind:13} {end:.2g}")
assert ends["two-speed", "AREA"] < 1e-8
assert ends["heavy-tailed", "AREA"] < 1e-3
assert all(abs(ends[kind, "FedBuff"] - 1 / 3) < 0.005 for kind in delays)

# %% [markdown]
# More time and smaller steps bring FedBuff nearer to its bias, and AREA nearer to the minimiser. AREA pays elsewhere: under heavy-tailed delays a client may be away for a large part of the run, and until it is back its old message holds the model where it is.
#
# There are theorems on this: the repaired bounds of FedBuff and FedCompass have a term for unequal shares (`docs/theory/fedstaleweight.md#fedbuff-and-the-other-baselines`, `docs/theory/fedcompass.md`), FedStaleWeight's shares have closed forms (the notebook on its mechanism), and AREA's bounds have no such term, and need none.
