# %% [markdown]
# # Gradient descent, proved in ten steps
#
# For convex L-smooth functions and a constant step α ≤ 1/L, the average of the iterates satisfies f(x̄) − f* ≤ R²/(2αK). We prove it for the mean of any number n of functions, for every K, every α and every such function, and let the kernel of boundlab decide each step. docs/prove.md has all of its rules.

# %%
from boundlab import load_theorem
from boundlab.prove import Proof, dot, expr, finite_sum, squared, telescope, total
from boundlab.prove.settings import setting_of

theorem = load_theorem("classics.gd.ergodic")
s = setting_of(theorem)
proof = Proof(theorem, s, s.kernel)
kernel = s.kernel


def last():
    step = proof.steps[-1]
    return f"{step.status.value}: {step.claim}"


theorem.title, sorted(s.assumed)

# %% [markdown]
# What the proof may use comes from the theorem: its symbols with their ranges, the iterates x[k], the gradients g[i, k] of f_i at x[k], a minimiser, and gradients h[i] there. G is the gradient of f = (1/n)·Σ f_i.

# %%
i, k, K, alpha, L, R, star = s.i, s.k, s.symbol("K"), s.alpha, s.symbol("L"), s.symbol("R"), s.star
x, G = s.x, s.gradient(k)
H = s.mean_vector(lambda j: s.vec("h", j))


def distance(j):
    return squared(x(j) - star)


def gap(u):
    return s.objective(u) - s.objective(star)


# %% [markdown]
# ## The function
#
# **1.** Each f_i is convex and smooth, so it lies above its tangent by ‖g − h‖²/(2L). The mean over i, the square of a mean (Jensen) and ∇f(x*) = 0 give the same for f. We name the facts; which multiple of each is needed is found by a search and checked by the kernel.

# %%
still = [kernel.against(s.optimality(), v) for v in (x(k) - star, G, H)]
jensen = s.over_clients(kernel.square((s.g(i, k) - s.vec("h", i)) - (G - H)))
tangent = proof.step(
    "f lies above its tangent",
    s.objective(star) >= s.objective(x(k)) + dot(G, star - x(k)) + squared(G) / (2 * L),
    [s.over_clients(s.cocoercive(s.g(i, k), s.vec("h", i))), jensen, *still],
)
last()

# %% [markdown]
# ## One step
#
# **2.** The distance to x* after a step, multiplied out. `s.move(k)` says what a step is.

# %%
expanded = proof.step(
    "the square is multiplied out",
    distance(k + 1) <= distance(k) - dot(G, x(k) - star) * (2 * alpha) + squared(G) * alpha**2,
    [s.move(k)],
)
last()

# %% [markdown]
# **3.** Insert the first into the second.

# %%
one = proof.step(
    "the tangent is inserted",
    distance(k + 1) <= distance(k) - gap(x(k)) * (2 * alpha) - squared(G) * (alpha * (1 / L - alpha)),
    [expanded, tangent],
)
last()

# %% [markdown]
# **4.** α ≤ 1/L: the last term may be dropped. The kernel knows the range of α and shows the sign of 1/L − α; `squares` allows ‖G‖² ≥ 0.

# %%
shorter = proof.step("one step", distance(k + 1) <= distance(k) - gap(x(k)) * (2 * alpha), [one], squares=[G])
last()

# %% [markdown]
# **5.** So no step leads away from x*, since no value is below f(x*).

# %%
nearer = proof.step("no step leads away", distance(k + 1) <= distance(k), [shorter, s.minimal(x(k))])
last()

# %% [markdown]
# ## All steps
#
# **6.** Sum over 0 ≤ k < K. K is a symbol; nothing is written out.

# %%
summed = proof.step(
    "all steps",
    finite_sum("k", 0, K, gap(x(k))) * (2 * alpha) <= distance(0) - distance(K),
    [total(kernel, shorter, "k", 0, K), telescope(kernel, "k", 0, K, distance(k))],
)
last()

# %% [markdown]
# **7.** The last distance is not negative, and the first is R.

# %%
bounded = proof.step(
    "the last distance is dropped",
    finite_sum("k", 0, K, gap(x(k))) * (2 * alpha) <= expr(R**2),
    [summed, s.start()],
    squares=[x(K) - star],
)
last()

# %% [markdown]
# ## The average
#
# **8.** f is convex at x̄, whose gradients are gbar[i].

# %%
slope = s.mean_vector(lambda j: s.vec("gbar", j))
above = proof.step(
    "f lies above its tangent at the average",
    s.objective(x(k)) >= s.objective(s.average()) + dot(slope, x(k) - s.average()),
    [s.over_clients(s.convex(s.vec("gbar", i), x(k)))],
)
last()

# %% [markdown]
# **9.** In the mean over k the slope falls out: x̄ is the mean of the x[k].

# %%
mean = proof.step(
    "the average is not worse",
    gap(s.average()) <= finite_sum("k", 0, K, gap(x(k))) / K,
    [total(kernel, above, "k", 0, K, 1 / K), kernel.against(s.averaging(), slope)],
)
last()

# %% [markdown]
# **10.** Together; and `conclude` compares it with the registered theorem, term by term.

# %%
together = proof.step("together", gap(s.average()) <= expr(R**2 / (2 * alpha * K)), [bounded, mean])
proof.conclude(together)
assert [step.status.value for step in proof.steps] == ["proved"] * 11
last(), sorted(proof.conclusion.fact.axioms)

# %% [markdown]
# ## What does not go through
#
# A constant that is too good: no combination of the same facts gives it, at no point of the ranges. The kernel does not say that the claim is false; it says that this does not show it.

# %%
proof.step("too good", gap(s.average()) <= expr(R**2 / (4 * alpha * K)), [bounded, mean])
assert proof.steps[-1].status.value == "unproved"
proof.steps[-1].how

# %% [markdown]
# Whatever is derived from a step that is not proved carries its name.

# %%
proof.step("on sand", gap(s.average()) <= expr(R**2 / (3 * alpha * K)), [proof.steps[-1].fact])
assert proof.steps[-1].status.value == "follows"
proof.steps[-1].rests_on
