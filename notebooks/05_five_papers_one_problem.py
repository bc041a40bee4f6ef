# %% [markdown]
# # Five papers, one problem
#
# AREA, FedCompass, AFL-DGA, FedFa, FedStaleWeight: the main theorem of each is false, as printed or as recovered (notebook 6), and of each there is a form that is proved. What does that form say about a problem that people solve? Regularised logistic regression on one data set, four clients, the fastest four times as fast as the slowest: for each method the error, its bound, and the level of a server that never moves.
#
# The gradient of a regulariser is bounded nowhere. The theorems along the run ask for bounds only at the points that their proofs read, and `compare` reads these bounds off each run, or off a set that no run leaves.

# %%
import matplotlib.pyplot as plt

import boundlab as bl

# %%
asked = {
    "AREA": ("area.theorem8.repaired", "exponential", [1_000, 3_000, 10_000, 30_000, 100_000], 8, {}),
    "FedCompass": ("fedcompass.window.b.noiseless", "deterministic", 10_000, 2, {"Qmin": 1, "Qmax": 4, "eta": 0.003}),
    "AFL-DGA": ("afl_dga.r2n", "deterministic", 10_000, 2, {"participation": 0.9, "local_steps": 2, "eta": 0.05}),
    "FedFa": ("fedfa.delta.b.noiseless", "deterministic", 10_000, 2, {"K": 4, "eta_l": 0.01}),
    "FedStaleWeight": ("fedstaleweight.rf1", "deterministic", 10_000, 2, {"count": 8, "eta_l": 0.03}),
}


def compared(paper, partition, at=None):
    theorem, law, horizon, trials, steps = asked[paper]
    problem = f"logistic:data=breast_cancer,clients=4,partition={partition},nu=0.1"
    return bl.compare(theorem, problem, f"{law}:rates=[4,2,1,1]", iterations=at or horizon, trials=trials, **steps)


even = {paper: compared(paper, "iid") for paper in asked}

# %% [markdown]
# The samples are dealt out evenly here. At the last horizon, in a line each:


# %%
def last(result):
    return result.comparisons[-1] if hasattr(result, "comparisons") else result


def told(results):
    for paper, result in results.items():
        one = last(result)
        error, bound, still = (f"{float(x):.2g}" for x in (one.band.mean[-1], one.bound[-1], one.trivial_bound.level))
        print(f"{paper}: {result.verdict}; error {error}, bound {bound}, never moving {still}")
        assert result.verdict in ("holds", "consistent")


told(even)
assert all(last(one).bound[-1] < last(one).trivial_bound.level for one in even.values())


# %%
def draw(results, rows=2, size=(12, 8), floor=None):
    figure, panels = plt.subplots(rows, 3, figsize=size, dpi=100, layout="constrained")
    named = {}
    for ax, (paper, result) in zip(panels.flat, results.items(), strict=False):
        result.plot(ax=ax)
        one, across = last(result), ax.get_lines()[0].get_xdata()
        if floor:
            ax.axhline(floor(one), color="black", linestyle=":", label="the term that keeps the bound up")
        named |= {label.partition(":")[0]: line for line, label in zip(*ax.get_legend_handles_labels(), strict=True)}
        ax.get_legend().remove()
        ax.set_title(f"{paper}: {result.verdict}\n{one.plan.theorem.id}", fontsize=10, x=0.5, ha="center")
        still = one.trivial_bound.level
        below = paper == "AREA" or one.band.mean[-1] > still
        place = (0, -12 if below else 3)
        ax.annotate(f"never moving: {still:.2g}", (across[0], still), place, textcoords="offset points")
    for ax in panels.flat[len(results) :]:
        ax.axis("off")
    figure.legend(named.values(), named.keys(), loc="outside lower center", ncols=3, handlelength=3.6)


draw(even)

# %% [markdown]
# *Figure: a panel for each paper, its left side and its bound over the horizon on logarithmic axes; the title names the theorem and the verdict. The broad line is the bound, the thin level the error of a server that never moves. In each panel the bound begins above that level and falls below it; the error lies below the bound everywhere.*

# %% [markdown]
# ## Clients that differ
#
# Now the labels are dealt out by a Dirichlet law. Three of the methods hear fast clients more often than slow ones, or fill a buffer unevenly, and end up at a point that is no minimiser of the mean. Their bounds have a term for it that does not fall with T: (share_bias·sigma_g)² for FedCompass and FedFa, 2·chi2_path·sigma_g_mean² for FedStaleWeight.

# %%
uneven = {paper: compared(paper, "dirichlet", 2_000) for paper in ("FedCompass", "FedFa", "FedStaleWeight")}


def kept_up(one):
    found = {symbol.name: symbol.value for symbol in one.plan.symbols}
    if "chi2_path" in found:
        return 2 * found["chi2_path"] * found["sigma_g_mean"] ** 2
    return (found["share_bias"] * found["sigma_g"]) ** 2


told(uneven)
assert all(one.bound[-1] > kept_up(one) > one.trivial_bound.level for one in uneven.values())

# %%
draw(uneven, 1, (12, 4.6), kept_up)

# %% [markdown]
# *Figure: the three under a Dirichlet split. The bound levels off above the error of never moving. The dotted line is the term that keeps it up: (share_bias·sigma_g)² for FedCompass and FedFa, 2·chi2_path·sigma_g_mean² for FedStaleWeight.*

# %% [markdown]
# A bound that stays up is no defect of the theorem where the error stays up, too: there doing nothing would have been better, and the bound says which term to mend. Steps chosen for the horizon are the other half: all bounds here have a term that grows with the step, and one that falls with it.
