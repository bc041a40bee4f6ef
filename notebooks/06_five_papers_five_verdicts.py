# %% [markdown]
# # Five papers, five verdicts
#
# AREA, FedCompass, AFL-DGA, FedFa, FedStaleWeight: five asynchronous federated methods, each with a main theorem. Of the first four each is false as printed, each for a reason of its own; FedStaleWeight's is recovered, not compared with the print, and false as recovered. Each has a repaired form. For each we show what it says, an instance on which it fails, in exact numbers, and how far the bound and the truth part on longer runs.
#
# The instances are those that a reader can follow by hand. Smaller ones, with which `bl.falsify` ended, stand beside them in `proofs/counterexamples`.

# %%
import boundlab as bl

PRINTED = ["area.theorem8", "fedcompass.theorem1", "afl_dga.theorem1", "fedfa.theorem1", "fedstaleweight.theorem1"]
theorems = {one: bl.theorem(one) for one in PRINTED}
for theorem in theorems.values():
    assert theorem.refuted_by
    assert theorem.repaired_by
    print(f"{theorem.id}: {theorem.title}")

# %% [markdown]
# ## The verdicts, in exact numbers
#
# `bl.exact` without a case takes the theorem's own counterexample. It does not sample: expectations are enumerated, numbers are rational, with one square root where a step size needs it.

# %%
witness = {one: bl.exact(one) for one in PRINTED}
for one in witness.values():
    assert (one.verdict, one.kind) == ("violated", "exact")
    print(one)

# %% [markdown]
# ## AREA, Theorem 8
#
# Convex Lipschitz functions, an ergodic average. The proof loses a factor 2 where Lemma 21 is applied (notebook 2 has the whole story). One client, four events: only one sequence of them, of probability ⅛, moves the server, so that the error is 31/32, and the bound is 28/32.

# %%
theorems["area.theorem8"]

# %%
witness["area.theorem8"]

# %% [markdown]
# ## FedCompass, Theorem 1
#
# Smooth functions with bounded gradients; clients that are fast do more local steps in a round. Then the server follows a weighted sum of the f_i, and the gradient of the plain mean does not go to zero. The printed bound has no term for that. On the witness one client takes two steps of slope −1 where the other takes one of slope 2: the server stands still, where f slopes by ½.

# %%
theorems["fedcompass.theorem1"]

# %% [markdown]
# The check of the formula sees that without running anything: no term of the bound remains for unequal step counts, while some run keeps away from the minimiser.

# %%
failed = {one.id: one.statement for one in bl.check("fedcompass.theorem1").failed}
assert failed
failed

# %% [markdown]
# ## AFL-DGA, Theorem 1
#
# Stored gradients are used again until newer ones come, and the proof takes them for fresh ones. Four clients, one local step a round: three of them send in the first round and then not for long, and their first gradients drive the server past the minimiser. The mean of the squares is 39.3, and the bound is 23.3.

# %%
theorems["afl_dga.theorem1"]

# %% [markdown]
# ## FedFa, Theorem 1
#
# A queue of the latest updates. Fast clients are heard more often, and there is no term for their bias: two updates of slope −1 against one of slope 2, and the server goes round three points, in all of which f slopes by ½.

# %%
theorems["fedfa.theorem1"]

# %% [markdown]
# ## FedStaleWeight, Theorem 1
#
# Staleness-aware weights make the clients' shares nearly equal. What is registered is recovered, not compared with the print. The first-order term of the noise is missing: one client, a buffer of one, nothing late, no drift. What remains is SGD with noise, started at its minimiser, for which the bound is the drift term alone, here at the edge with a server rate of 1:

# %%
theorems["fedstaleweight.theorem1"]

# %%
edge = bl.compare(
    "fedstaleweight.theorem1",
    "huber:c=[0],w=[1],delta=6,x0=0,sigma=100,noise=sign",
    "exponential",
    iterations=26,
    trials=2,
    eta_l=0.001,
)
terms = {name: float(values[-1]) for name, values in edge.terms.items()}
assert {name for name, value in terms.items() if value > 0} == {"drift"}
terms

# %% [markdown]
# ## From the edge on
#
# There are instances at the very edge, with ratios of 1.00001 to 2. They are no near misses. We take one of each and only let it run longer, for the theorem as printed and for a repaired form (one of those that speak of this run). The expectation is a number in four cases; FedStaleWeight's is a sample of 100 trials.

# %%
huber = "huber:c=[0,{c}],w=[{w},{w}],delta={delta},x0={x0},sigma=0"
settings = {
    "area.theorem8": ("area.theorem8.repaired", "lad", "iid:p=[0.586]", [3, 4, 6, 9], {"M": 34}),
    "fedcompass.theorem1": (
        "fedcompass.window.b",
        huber.format(c=100, w=200, delta=51, x0=50),
        "deterministic:rates=[2,1]",
        [67, 134, 335, 670],
        {"Qmin": 1, "Qmax": 3, "eta": 4e-8},
    ),
    "afl_dga.theorem1": (
        "afl_dga.r2n",
        "huber:c=[0],w=[6],delta=1,x0=2,sigma=0",
        "deterministic",
        [26, 52, 130, 260],
        {"local_steps": 2},
    ),
    "fedfa.theorem1": (
        "fedfa.delta.b",
        huber.format(c=1000, w=10, delta=504, x0=500),
        "deterministic:rates=[2,1]",
        [41, 82, 205, 410],
        {"K": 1, "Q": 1, "mode": "delta", "eta_l": 3e-6},
    ),
    "fedstaleweight.theorem1": (
        "fedstaleweight.rf2",
        "huber:c=[0],w=[1],delta=6,x0=0,sigma=100,noise=sign",
        "exponential",
        [26, 52, 130, 260],
        {"eta_l": 0.001},
    ),
}
curves = {}
for name, (mended, problem, delays, horizons, symbols) in settings.items():
    assert mended in theorems[name].repaired_by
    for theorem in (name, mended):
        trials = 100 if name.startswith("fedstale") else 2
        curves[theorem] = bl.compare(theorem, problem, delays, iterations=horizons, trials=trials, **symbols)
        print(f"{theorem:24} {curves[theorem].headline}")

# %% [markdown]
# No printed form survives, and no repaired form is refuted on it.

# %%
for name, (mended, *_) in settings.items():
    assert curves[name].verdict == "violated"
    assert curves[mended].verdict in {"holds", "consistent"}

# %%
import matplotlib.pyplot as plt

PAPERS = [
    "AREA\nTheorem 8",
    "FedCompass\nTheorem 1",
    "AFL-DGA\nTheorem 1",
    "FedFa\nTheorem 1",
    "FedStaleWeight\nTheorem 1",
]
figure, panels = plt.subplots(1, 5, figsize=(11, 3.9), sharey=True, layout="constrained")
for axes, paper, (name, (mended, _, _, horizons, _)) in zip(panels, PAPERS, settings.items(), strict=True):
    for theorem, style, color, words in ((name, "s--", "#b3261e", "as printed"), (mended, "o-", "#1f5fa8", "repaired")):
        ratios = [float(one.ratio[-1]) for one in curves[theorem].comparisons]
        axes.plot(horizons, ratios, style, color=color, label=words, markersize=5)
    axes.axhline(1, color="black", linewidth=1)
    axes.axhspan(1, 1e4, color="0.92", zorder=0)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_ylim(1e-8, 1e4)
    axes.minorticks_off()
    axes.set_xticks(horizons, [str(one) for one in horizons], fontsize=8)
    axes.set_title(f"{paper}: violated", fontsize=10)
    axes.text(0.97, 0.03, mended, transform=axes.transAxes, ha="right", fontsize=8, color="#1f5fa8")
    axes.set_xlabel("events $K$" if name.startswith("area") else "server updates $T$")
panels[0].set_ylabel("left side / bound")
panels[0].text(3, 3e3, "above the bound", fontsize=8, color="0.35", va="center")
figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
plt.show()

# %% [markdown]
# *Figure: left side over bound against the horizon, on logarithmic axes, in five panels, one for each paper; each curve begins at the edge. Printed forms (squares, dashed) begin at 1 or little above. The largest ratio is 1.18 for AREA, at K = 6; the other four rise throughout: to 110 for FedCompass, 3.7 for AFL-DGA, 200 for FedFa and 12 for FedStaleWeight. Repaired forms (dots) stay below 1: those of AREA and AFL-DGA above 0.3, that of FedStaleWeight between 0.01 and 0.2, those of FedCompass and FedFa below 0.0001.*

# %%
largest = {name: max(float(one.ratio[-1]) for one in curve.comparisons) for name, curve in curves.items()}
least = {name: min(float(one.ratio[-1]) for one in curve.comparisons) for name, curve in curves.items()}
assert [float(f"{largest[name]:.2g}") for name in PRINTED[1:]] == [110, 3.7, 200, 12]
assert round(largest["area.theorem8"], 2) == 1.18
assert min(least["area.theorem8.repaired"], least["afl_dga.r2n"]) > 0.3
assert 0.01 < least["fedstaleweight.rf2"] < largest["fedstaleweight.rf2"] < 0.2
assert max(largest["fedcompass.window.b"], largest["fedfa.delta.b"]) < 1e-4
assert max(largest[mended] for mended, *_ in settings.values()) < 1

# %% [markdown]
# The last of these is worth a word. The repaired bounds of FedCompass and FedFa allow for the bias of any schedule between clients whose slopes differ as much as these, by thousands; on these runs, which are short and have tiny steps, they are safe and very loose.

# %% [markdown]
# ## At a glance

# %%
import pandas

WHY = {
    "area.theorem8": "a factor 2 is lost where Lemma 21 is applied",
    "fedcompass.theorem1": "no term for the bias of unequal numbers of steps",
    "afl_dga.theorem1": "gradients that are used again are taken for fresh ones",
    "fedfa.theorem1": "no term for the bias of unequal rates",
    "fedstaleweight.theorem1": "no first-order term for the noise",
}
rows = []
for name, (mended, *_) in settings.items():
    one, far = witness[name], curves[name].deciding
    rows.append(
        {
            "theorem": name,
            "why": WHY[name],
            "witness at": one.k,
            "left": one.left,
            "bound": one.right,
            "left/bound": one.left / one.right,
            "largest left/bound": f"{float(far.ratio[-1]):.3g} at {far.plan.iterations}",
            "repaired": mended,
            "its verdict there": curves[mended].headline,
        }
    )
summary = pandas.DataFrame(rows).set_index("theorem")
assert (summary["left/bound"] > 1).all()
summary.round(6)

# %% [markdown]
# Each line is one command away: `boundlab exact THEOREM --derivation` prints a counterexample and the way to both sides, `boundlab audit THEOREM` a report card, and the pages in `docs/theory/` have the proofs of the repaired forms. `fedfa.theorem1` is violated under both readings of how late an update is that is not late.
