# %% [markdown]
# # Your own theorem
#
# You have a theorem on paper, and a doubt. Here is the whole way: write it into a file, ask the formula, run it, search, read the report card, repair it, and have its proof decided step by step. The example is the subgradient method with a constant step, with a slip of the kind that survives proof-reading.

# %%
import os
import tempfile
from pathlib import Path

import boundlab as bl

os.chdir(tempfile.mkdtemp())  # files of this notebook stay in a folder of their own

# %% [markdown]
# ## 1. The theorem as a file
#
# Which algorithm, what is bounded (the gap of the average of the iterates), under which assumptions, with which step, by which terms. The words are registered ones (`boundlab list metrics`, `list assumptions`, `list symbols`). Of full subgradients at all clients, `gd` takes the mean.

# %%
DRAFT = """\
id = "mine"
title = "the subgradient method with any constant step"
algorithm = "gd"
metric = "ergodic-gap"
assumptions = ["lipschitz", "minimiser"]
settable = ["alpha"]
[options]
sampling = "all"
[step]
alpha = "R/(B*sqrt(K))"
[terms]
start = "R**2/(2*alpha*K)"
steps = "alpha*B**2/4"
"""
assert len(DRAFT.splitlines()) < 25
Path("mine.toml").write_text(DRAFT, encoding="utf-8")
mine = bl.theorem("mine.toml")
mine

# %% [markdown]
# ## 2. Ask the formula
#
# Units, limits, known truths: a dropped square or a wrong power of K shows here. A wrong constant does not.

# %%
checks = bl.check("mine.toml")
assert checks.failed == ()
checks

# %% [markdown]
# ## 3. Run it
#
# The step depends on K, so each horizon is a run of its own. On f(x) = |x| from x₀ = 3, and between two clients that disagree, all is well. That is worth what it is worth: two problems.

# %%
for problem in ("lad:x0=3", "lad:c=[0,1],x0=3"):
    runs = bl.compare("mine.toml", problem, "deterministic", iterations=[5, 10, 20, 50, 100])
    assert runs.verdict == "holds"
    print(f"{problem}: {runs.verdict}, largest left/bound {max(float(one.ratio[-1]) for one in runs.comparisons):.3f}")

# %% [markdown]
# ## 4. Let it search
#
# The search varies problem, step, horizon and delays, and confirms in exact numbers. It takes a second.

# %%
search = bl.falsify("mine.toml", candidates=60)
assert search.violated
assert search.smallest.kind == "exact"
search

# %% [markdown]
# One step is enough: from x₀ = ½ on the absolute value with K = 1. The average of the iterates x₀ … x_{K−1} is x₀ itself, and the bound is below f(x₀).

# %%
exact = bl.exact("mine.toml", search.case)
assert (exact.left, exact.right) == (0.5, 0.375)
exact

# %% [markdown]
# ## 5. The report card
#
# `bl.audit` asks everything and puts it on one page: checks, counterexample with its derivation, worst cases, comparisons, and what was not decided. Written as HTML it is one file to be sent to a co-author.

# %%
audit = bl.audit("mine.toml", candidates=40)
Path("mine.html").write_text(audit.html(), encoding="utf-8")
assert audit.verdict == "false"
audit

# %% [markdown]
# ## 6. The repair
#
# The square of a step is α²B². Divided by 2α it gives αB²/2; the draft has half of that. We change the term and ask again. A search that finds nothing proves nothing, but its closest instance tells something: left/right 1 says that no smaller bound can be true.

# %%
REPAIRED = DRAFT.replace('"mine"', '"mine.repaired"').replace("B**2/4", "B**2/2")
Path("repaired.toml").write_text(REPAIRED, encoding="utf-8")
again = bl.falsify("repaired.toml", candidates=60)
assert not again.violated
assert again.closest.ratio == 1
again

# %% [markdown]
# A semidefinite program finds the worst of *all* convex B-Lipschitz functions for a given small horizon (B = R = 1), with a certificate that is checked apart from the solver. It speaks of one number of steps at a time, and of every function.

# %%
horizons = [1, 2, 3, 4, 5]
worst = {K: bl.worst_case("repaired.toml", K) for K in horizons}
draft = {K: bl.worst_case("mine.toml", K) for K in horizons}
for K in horizons:
    assert worst[K].verdict == "holds"
    assert draft[K].verdict == "violated"
print(worst[5])
print(draft[5])

# %%
import matplotlib.pyplot as plt

bounds = {
    name: [float(bl.theorem(f"{name}.toml").evaluate(K=K, R=1, B=1).total) for K in horizons]
    for name in ("mine", "repaired")
}
certified = [float(worst[K].certified_upper) for K in horizons]
figure, axes = plt.subplots(figsize=(6.8, 4), layout="constrained")
axes.plot(
    horizons,
    bounds["repaired"],
    "-",
    color="#1f5fa8",
    linewidth=5,
    alpha=0.35,
    label=r"repaired: $R^2/(2\alpha K)+\alpha B^2/2$",
)
axes.plot(horizons, certified, "ko", label="worst case of all functions, certified")
axes.plot(horizons, bounds["mine"], "s--", color="#b3261e", label=r"draft: $R^2/(2\alpha K)+\alpha B^2/4$")
axes.set_xticks(horizons)
axes.set_ylim(0, 1.1)
axes.set_xlabel("iterations $K$")
axes.set_ylabel(r"$f(\bar x_K)-f^\star$,  for $R=B=1$")
axes.set_title(
    "The subgradient method, $\\alpha=R/(B\\sqrt{K})$:\ndraft violated, repaired bound attained", fontsize=11
)
figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=1, frameon=False)
plt.show()

# %% [markdown]
# *Figure: bounds and worst case against the number of iterations K from 1 to 5. The certified worst case of all functions (dots) falls from 1 to 0.45 and lies on the repaired bound (broad line) at each K; the draft's bound (squares, dashed) lies a quarter below.*

# %%
assert all(abs(one - bound) < 1e-6 for one, bound in zip(certified, bounds["repaired"], strict=True))
assert all(abs(low / high - 0.75) < 1e-12 for low, high in zip(bounds["mine"], bounds["repaired"], strict=True))
assert round(certified[-1], 2) == 0.45

# %% [markdown]
# ## 7. The proof, in ten steps
#
# For every K, every number of clients, every dimension and every such function. The setting of the theorem provides what a proof may use: the iterates x[k], subgradients g[i, k] of f_i, their bound, a minimiser. Each `step` is a claim and the facts from which it is to follow; a small kernel decides whether it does. `docs/prove.md` has all of its rules.

# %%
from boundlab.prove import Proof, dot, expr, finite_sum, squared, telescope, total
from boundlab.prove.settings import setting_of

theorem = bl.theorem("repaired.toml")
s = setting_of(theorem)
proof = Proof(theorem, s, s.kernel)
kernel = s.kernel
i, k, K, alpha, B, R, star = s.i, s.k, s.symbol("K"), s.alpha, s.symbol("B"), s.symbol("R"), s.star
x, G = s.x, s.gradient(k)


def distance(j):
    return squared(x(j) - star)


def gap(u):
    return s.objective(u) - s.objective(star)


def last():
    step = proof.steps[-1]
    return f"{step.status.value}: {step.claim}"


# %% [markdown]
# **1.** The mean G of the clients' subgradients is no longer than B: the square of a mean is at most the mean of the squares.

# %%
bounded = proof.step(
    "the mean subgradient is bounded",
    squared(G) <= expr(B**2),
    [s.over_clients(s.lipschitz(s.g(i, k))), s.over_clients(kernel.square(s.g(i, k) - G))],
)
last()

# %% [markdown]
# **2.** The distance to x* after a step, multiplied out. `s.move(k)` says what a step is.

# %%
expanded = proof.step(
    "the square is multiplied out",
    distance(k + 1) <= distance(k) - dot(G, x(k) - star) * (2 * alpha) + squared(G) * alpha**2,
    [s.move(k)],
)
last()

# %% [markdown]
# **3.** Convexity of each f_i between x[k] and x*.

# %%
tangent = proof.step(
    "f lies above its tangent",
    gap(x(k)) <= dot(G, x(k) - star),
    [s.over_clients(s.convex(s.g(i, k), star))],
)
last()

# %% [markdown]
# **4.** The third into the second, and **5.** the first into that.

# %%
inserted = proof.step(
    "the tangent is inserted",
    distance(k + 1) <= distance(k) - gap(x(k)) * (2 * alpha) + squared(G) * alpha**2,
    [expanded, tangent],
)
one = proof.step(
    "one step",
    distance(k + 1) <= distance(k) - gap(x(k)) * (2 * alpha) + alpha**2 * B**2,
    [inserted, bounded],
)
last()

# %% [markdown]
# **6.** Sum over 0 ≤ k < K; K stays a symbol. **7.** The last distance is not negative, and the first is R.

# %%
gaps = finite_sum("k", 0, K, gap(x(k)))
summed = proof.step(
    "all steps",
    gaps * (2 * alpha) <= distance(0) - distance(K) + K * alpha**2 * B**2,
    [total(kernel, one, "k", 0, K), telescope(kernel, "k", 0, K, distance(k))],
)
dropped = proof.step(
    "the last distance is dropped",
    gaps * (2 * alpha) <= expr(R**2) + K * alpha**2 * B**2,
    [summed, s.start()],
    squares=[x(K) - star],
)
last()

# %% [markdown]
# **8.** f is convex at the average, and **9.** in the mean over k the slope there falls out.

# %%
slope = s.mean_vector(lambda j: s.vec("gbar", j))
above = proof.step(
    "f lies above its tangent at the average",
    s.objective(x(k)) >= s.objective(s.average()) + dot(slope, x(k) - s.average()),
    [s.over_clients(s.convex(s.vec("gbar", i), x(k)))],
)
mean = proof.step(
    "the average is not worse",
    gap(s.average()) <= gaps / K,
    [total(kernel, above, "k", 0, K, 1 / K), kernel.against(s.averaging(), slope)],
)
last()

# %% [markdown]
# **10.** Together; and `conclude` compares it with the theorem of the file, term by term.

# %%
together = proof.step("together", gap(s.average()) <= expr(R**2 / (2 * alpha * K) + alpha * B**2 / 2), [dropped, mean])
proof.conclude(together)
assert [step.status.value for step in proof.steps] == ["proved"] * 11
last()

# %% [markdown]
# The draft does not follow from the same facts, and the kernel does not pretend that it does:

# %%
proof.step("the draft", gap(s.average()) <= expr(R**2 / (2 * alpha * K) + alpha * B**2 / 4), [dropped, mean])
assert proof.steps[-1].status.value == "unproved"
proof.steps[-1].how

# %% [markdown]
# From here: `boundlab new theorem NAME` begins a file of your own with a test, `boundlab new proof NAME` a proof, and `pytest --boundlab-theorem mine.toml` keeps it under test (`docs/tutorial.md`, `docs/plugins.md#tests-for-authors`).
