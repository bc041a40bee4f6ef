# %% [markdown]
# # Anatomy of a refutation
#
# AREA's Theorem 8 bounds the expected error of the ergodic average on convex Lipschitz functions: after K events, with M local steps at each client,
#
# $$\mathbb E f(\bar x_K)-f^\star\le\sqrt{\frac{A\left(\sigma^2+\frac{(M+1)B^2}{2}\right)}{MK}},\qquad A=\Big(\frac1{p_s}+2\bar q\Big)R^2 .$$
#
# It is false. We go from a first suspicion to an instance that is checked with pencil and paper, from there to the line of the proof that goes wrong, and end with the theorem that is true. The process is that of the paper's Appendix A, whose first messages are 0 (`start=analysis`); Algorithm 2 as printed starts otherwise, and the theorem fails for it as well (`area.theorem8.printed-start`).

# %%
import boundlab as bl

printed, repaired = bl.theorem("area.theorem8"), bl.theorem("area.theorem8.repaired")
printed

# %% [markdown]
# ## 1. Suspicion
#
# The formula alone gives nothing away. Units, limits, symmetries, monotonicity: no check fails, since a wrong constant changes none of them.

# %%
checks = bl.check(printed)
assert checks.failed == ()
checks

# %% [markdown]
# So we look at a run. One client, the absolute value from x₀ = 3, and each event the client's or the server's with probability ½. Six events have 64 sequences, and the expectation over them is computed, not sampled. The bound falls with M; does the error?

# %%
look = {M: bl.compare(printed, "lad:x0=3", "iid:p_s=0.5", iterations=6, M=M) for M in (1, 2, 10, 50)}
for M, one in look.items():
    print(f"M = {M:2}:  E f = {one.band.mean[-1]:.4f}   bound = {one.bound[-1]:.4f}   {one.verdict}")
assert [one.verdict for one in look.values()] == ["holds", "holds", "violated", "violated"]

# %% [markdown]
# It does not. At M = 50 it is 2.527 where the bound says 2.142: that is a refutation already, and it is by far not an edge case.

# %%
assert (round(float(look[50].band.mean[-1]), 3), round(float(look[50].bound[-1]), 3)) == (2.527, 2.142)
look[50]

# %% [markdown]
# ## 2. A witness for a reader
#
# An instance that convinces a reader is small, and a hand can check it. `bl.falsify` searches, confirms in exact numbers, and then makes what it found smaller: fewer clients, an earlier horizon, fewer sequences of events that matter, simpler numbers. It leads with an instance that a hand can check and that is above the bound by a twentieth or more; the smallest one stands beside it. With `candidates=` the clock has no say, so that the same call gives the same answer.

# %%
search = bl.falsify(printed, candidates=40)
assert search.violated
assert search.best.by_hand
search

# %% [markdown]
# The instance is a file, a *case*, that anybody can replay. It says what ran, and what is claimed of it.

# %%
{key: search.case[key] for key in ("theorem", "problem", "x0", "parameters", "delays", "iterations", "claim")}

# %% [markdown]
# Floats are not evidence. `bl.exact` computes both of them in rational arithmetic with one square root beside it, and writes down the way there.

# %%
exact = bl.exact(printed, search.case)
assert (exact.verdict, exact.kind, exact.derivation.by_hand) == ("violated", "exact", True)
exact

# %% [markdown]
# **By hand.** A client's pass reaches the server's model after the client has arrived twice (its first message is 0) and the server has aggregated: three events, and x̄₄ is the mean of the models *before* the four. So only client, client, server moves anything, and that once.
#
# **The smallest.** With three events, nothing can have moved: the left side is f(x₀) = 1, whatever the events. So the theorem claims that its bound is at least 1, for every M and p. Squared, with B = R = 1, σ = 0 and K = 3, that is

# %%
from fractions import Fraction

M, K, p = 34, 3, Fraction(293, 500)
squared = (1 / (1 - p) + 2 / p) * Fraction(M + 1, 2) / (M * K)
print(squared, "=", float(squared))
assert squared < 1
assert float(squared) ** 0.5 == search.smallest.right
assert (search.smallest.left, search.smallest.iterations) == (1.0, K)

# %% [markdown]
# **One of your own.** One could object that an average over three models which cannot move is a technicality. And a case may as well be written by hand: M = 4, p = p_s = ½, K = 4. Only the sequence client, client, server, of probability ⅛, moves anything, and too little.

# %%
case = {
    "theorem": "area.theorem8",
    "algorithm": "area",
    "problem": {"type": "lad", "c": [0], "w": [1], "sigma": 0},
    "x0": [1],
    "parameters": {"start": "analysis", "M": 4},
    "delays": "iid:p=[0.5]",
    "iterations": 4,
}
moves = bl.exact(printed, case)
assert (moves.verdict, moves.kind, round(moves.left, 6), round(moves.right, 6)) == (
    "violated",
    "exact",
    0.975794,
    0.968246,
)
moves

# %% [markdown]
# The same expectation without boundlab, by equations (5) to (7) of the paper's appendix, over all 16 sequences:

# %%
from itertools import product

import sympy

alpha = sympy.sqrt(15) / 10
expected = sympy.Integer(0)
for events in product(("client", "server"), repeat=4):
    x = y = s = sympy.Integer(1)
    gathered = sympy.Integer(0)
    for event in events:
        gathered += s
        if event == "server":
            s = y
        else:
            new = s
            for _ in range(4):
                new -= alpha * sympy.sign(new)
            x, y = new, x
    expected += abs(gathered / 4) / 16

expected = sympy.simplify(expected)
print("E f =", expected, ">", sympy.sqrt(15) / 4)
assert expected == 1 - sympy.sqrt(15) / 160
assert 160**2 > 41**2 * 15  # 1 − √15/160 > √15/4, times 160, squared: 25600 > 25215

# %% [markdown]
# ## 3. The step of the proof
#
# A refuted theorem has a false step. The printed proof is registered step by step, each display as it stands in the paper, and a small kernel decides each: proved from what stands before it, refuted by a point, or following from a step that is not proved.

# %%
proof = bl.prove("area.theorem8")
misprints = [step for step in proof.steps if step.means]  # what is meant stands beside them
refuted = [step for step in proof.steps if step.status.value == "refuted" and not step.means]
follows = [step for step in proof.steps if step.status.value == "follows"]
assert [step.name for step in refuted] == ["Lemma 21 is applied"]
assert proof.steps.index(refuted[0]) < min(proof.steps.index(step) for step in follows)
print(proof)
print(
    f"{sum(step.status.value == 'proved' for step in proof.steps)} proved, 1 refuted, {len(follows)} follow from it, "
    f"{len(misprints)} misprints\n"
)
print(f"{refuted[0].at}:\n{refuted[0].claim}\n\nfails for")
print(refuted[0].witness)

# %% [markdown]
# Lemma 21 bounds −Σ_m E f_i(z_m) by −M·f_i(z_0) + αM(M−1)B²/2. It is applied to 2α times that sum, which gives α²M(M−1)B². The paper has half of it. Together with the α²M·B² of the squares of the steps the true term is α²M²B²; the printed one is α²M(M+1)B²/2. The two agree at M = 1: for one local step the theorem is true.

# %%
steps, length, B = sympy.symbols("M alpha B", positive=True)
of_the_squares, twice_the_lemma = length**2 * steps * B**2, 2 * length * (length * steps * (steps - 1) * B**2 / 2)
assert sympy.expand(of_the_squares + twice_the_lemma - length**2 * steps**2 * B**2) == 0
assert sympy.expand(of_the_squares + twice_the_lemma / 2 - length**2 * steps * (steps + 1) * B**2 / 2) == 0

# %% [markdown]
# ## 4. The repaired theorem
#
# With MB² in place of (M + 1)B²/2, in the bound and in the step, every step of the proof goes through, up to the registered theorem.

# %%
mended = bl.prove("area.theorem8.repaired")
assert mended.verdict == "proved"
print(mended)
repaired

# %% [markdown]
# On the instances of sections 1 and 2 both theorems, each with its own step size:

# %%
import pandas

witnesses = {
    "x₀ = 3, p = ½, M = 50, K = 6": ("lad:x0=3", "iid:p_s=0.5", 6, 50),
    "x₀ = 1, p = 0.586, M = 34, K = 3": ("lad", "iid:p=[0.586]", 3, 34),
    "x₀ = 1, p = ½, M = 4, K = 4": ("lad", "iid:p=[0.5]", 4, 4),
}
rows = []
for name, (problem, delays, horizon, local) in witnesses.items():
    for theorem in (printed, repaired):
        one = bl.compare(theorem, problem, delays, iterations=horizon, M=local)
        said = {"E f": float(one.band.mean[-1]), "bound": float(one.bound[-1])}
        rows.append(
            {"witness": name, "theorem": theorem.id, **said, "E f / bound": float(one.ratio[-1]), "": one.verdict}
        )
table = pandas.DataFrame(rows)
assert (table[table.theorem == printed.id][""] == "violated").all()
assert (table[table.theorem == repaired.id][""] == "holds").all()
table.round(6)

# %% [markdown]
# And over the number of local steps, on the first of them:

# %%
import matplotlib.pyplot as plt

locals_ = [1, 2, 3, 5, 10, 20, 50, 100]
ratio = {
    theorem.id: [
        float(bl.compare(theorem, "lad:x0=3", "iid:p_s=0.5", iterations=6, M=local).ratio[-1]) for local in locals_
    ]
    for theorem in (printed, repaired)
}
figure, axes = plt.subplots(figsize=(6.8, 4), layout="constrained")
axes.axhspan(1, 1.3, color="0.92")
axes.axhline(1, color="black", linewidth=1)
axes.plot(locals_, ratio[printed.id], "s--", color="#b3261e", label="as printed: $(M+1)B^2/2$")
axes.plot(locals_, ratio[repaired.id], "o-", color="#1f5fa8", label="repaired: $MB^2$")
axes.text(1.05, 1.22, "above the bound", color="0.35")
axes.set_xscale("log")
axes.set_xticks(locals_, [str(local) for local in locals_])
axes.set_ylim(0.6, 1.3)
axes.set_xlabel("local steps $M$")
axes.set_ylabel(r"$(\mathbb{E}\,f(\bar x_K)-f^\star)\,/\,$bound")
axes.set_title(
    "AREA, Theorem 8: violated as printed, holds as repaired\n$f=|x|$, one client, $x_0=3$, $p=1/2$, $K=6$", fontsize=11
)
figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
plt.show()

# %% [markdown]
# *Figure: expected error over bound against the number of local steps M, from 1 to 100, on the absolute value. Both forms start at the same value at M = 1. The printed form (squares, dashed) crosses 1 between M = 3 and M = 5 and ends at about 1.18; the repaired form (dots) stays where it was, at 0.84.*

# %%
assert abs(ratio[printed.id][0] - ratio[repaired.id][0]) < 1e-12
assert ratio[printed.id][locals_.index(3)] < 1 < ratio[printed.id][locals_.index(5)]
assert round(ratio[printed.id][-1], 2) == 1.18
assert all(round(one, 2) == 0.84 for one in ratio[repaired.id])

# %% [markdown]
# ## 5. Not these functions only
#
# Might the repair be luck on the absolute value? The proof says no. Independently of it, a semidefinite program looks at *all* convex 1-Lipschitz functions at once, for K = 5, M = 3, p = p_s = ½: with full gradients the worst of them is certainly above the printed bound, and certainly below the repaired one. Of noisy gradients, which the theorem allows, the program says nothing, and so its verdict on the repaired theorem is *inconclusive*.

# %%
worst = {theorem.id: bl.worst_case(theorem, 5, M=3, p=0.5) for theorem in (printed, repaired)}
for one in worst.values():
    print(one)
assert worst[printed.id].verdict == "violated"
assert worst[repaired.id].verdict == "inconclusive"
assert worst[repaired.id].certified_upper < worst[repaired.id].bound

# %% [markdown]
# What stands: Theorem 8 is false as printed, already for three local steps; the slip is a factor 2 where Lemma 21 is applied; and with MB² the theorem is proved. `boundlab audit area.theorem8` has all of this on one page, and `docs/theory/area.md` the argument in full.
