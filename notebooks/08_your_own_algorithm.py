# %% [markdown]
# # Your own algorithm
#
# A plug-in in one page. The example is Rennala SGD (Tyurin and Richtárik, *Optimal time complexities of parallel stochastic optimization methods under a fixed computation model*, 2023), for clients with one common function, stated as we implement it (boundlab has it, too, as `rennala`; here it is a file of ours):
#
# - every client computes one stochastic gradient after the other, each at the model that the server has when the client begins;
# - the server keeps a gradient if it was computed at the *present* model, and discards it otherwise;
# - when it has b of them, it makes one step with their mean, x ← x − α·(1/b)·Σ g, and starts to collect anew. Clients that are at work are not interrupted: what they send next is stale.
#
# So the server's iterates are those of mini-batch SGD with batches of b, whoever is slow. Only the waiting depends on the delays.

# %%
import os
import tempfile
from pathlib import Path

import boundlab as bl

os.chdir(tempfile.mkdtemp())  # files of this notebook stay in a folder of their own

# %% [markdown]
# ## 1. One file
#
# `boundlab new algorithm my_rennala` writes such a file, of asynchronous SGD; what is Rennala's is the version with which each gradient was begun, the sum, and the note about what is discarded. `schedule` runs no gradient: it turns the events of a run (who arrives, in which order) into a tape, and everything else reads the tape.

# %%
PLUGIN = '''\
"""Rennala SGD: every b gradients of the present model make a step; stale ones are discarded."""

from dataclasses import dataclass

from boundlab.algorithms import Algorithm, Parameters, option
from boundlab.tape import SERVER_MODEL, Initial, Writer


@dataclass(frozen=True, slots=True)
class RennalaParameters(Parameters):
    alpha: float = option.number("step size", above=0.0)
    b: int = option.integer("gradients of the present model that make a step (default 1)", 1, minimum=1)


class Rennala(Algorithm[RennalaParameters]):
    id = "my_rennala"
    summary = "stale gradients are discarded; every b gradients of the present model make a step"
    parameter_type = RennalaParameters

    def schedule(self, parameters, events, clients, records, iterations):
        writer = Writer(events, clients, records, iterations)
        mine, total, batch = writer.register(count=clients), writer.register(Initial.ZERO), []

        def begin(client):  # one step from the present model; what is kept is the move, -alpha*gradient
            row = writer.descend(mine + client, SERVER_MODEL, client, 1, parameters.alpha)
            writer.affine(mine + client, (1.0, mine + client), (-1.0, SERVER_MODEL))
            return row, writer.version

        work = [begin(client) for client in range(clients)]
        for event, client in enumerate(events.actor.tolist()):
            if writer.done:
                break
            writer.begin(event)
            row, version = work[client]
            writer.arrive(row)
            if version == writer.version:
                batch.append(row)
                writer.affine(total, (1.0, total), (1.0, mine + client))
            else:
                writer.note("dropped", row)
            if len(batch) == parameters.b:
                for one in batch:
                    writer.use(one, 1.0 / parameters.b)
                writer.server_update((1.0 / parameters.b, total))
                writer.affine(total)
                batch = []
            work[client] = begin(client)
            writer.end()
        return writer.tape()


BOUNDLAB = {"algorithms": Rennala()}
'''
assert len(PLUGIN.splitlines()) < 60
Path("my_rennala.py").write_text(PLUGIN, encoding="utf-8")
os.environ["BOUNDLAB_PLUGINS"] = "my_rennala.py"  # what --plugin does on the command line
rennala = bl.lookup("algorithms", "my_rennala")
print(rennala.id, "-", rennala.summary)

# %% [markdown]
# ## 2. Does it keep what boundlab relies on?
#
# The suite of conformance verifies the tape, holds the table of uses to what really moves the server, asks that options are read as they are declared, and more. On the command line that is `boundlab doctor my_rennala.py`.

# %%
from boundlab.testing import conform

checks = conform.checks(rennala)
for check in checks:
    check()
print(f"{len(checks)} checks pass")

# %% [markdown]
# ## 3. Run it
#
# Eight clients, the slowest a hundred times slower than the fastest, one common function, noise. Asynchronous SGD is there for comparison, with the same step and the same number of *server updates*. In these terms Rennala with b = 1 does better, since it avoids stale gradients, and b = 16 better still, since it averages the noise; that it has to wait for its gradients does not show on this axis.

# %%
problem, delays = "huber:c=[0,0,0,0,0,0,0,0],x0=3,sigma=1", "exponential:spread=100"
runs = {
    "rennala, b = 1": bl.run("my_rennala", problem, delays, iterations=400, trials=20, alpha=0.2, b=1),
    "rennala, b = 16": bl.run("my_rennala", problem, delays, iterations=400, trials=20, alpha=0.2, b=16),
    "async_sgd": bl.run("async_sgd", problem, delays, iterations=400, trials=20, alpha=0.2),
}
for name, run in runs.items():
    print(name, run, sep="\n  ")
gaps = [float(run.metrics["gap"][:, -1].mean()) for run in runs.values()]
assert gaps[1] < gaps[0] < gaps[2]

# %% [markdown]
# ## 4. A theorem that covers it
#
# **Theorem.** Let all clients have one function f, L-smooth and bounded below, with unbiased stochastic gradients of variance at most σ², drawn independently of each other and of the delays. For α ≤ 1/L, whatever the delays,
#
# $$\frac1T\sum_{t<T}\mathbb E\|\nabla f(x_t)\|^2\;\le\;\frac{2F_0}{\alpha T}+\frac{\alpha L\sigma^2}{b},\qquad F_0=f(x_0)-\inf f .$$
#
# *Proof.* The b gradients of a batch are taken at x_t, and which ones they are does not depend on their noise; so their mean ḡ has E ḡ = ∇f(x_t) and E‖ḡ‖² ≤ ‖∇f(x_t)‖² + σ²/b. By smoothness E f(x_{t+1}) ≤ E f(x_t) − α(1 − αL/2)·E‖∇f(x_t)‖² + α²Lσ²/(2b), and 1 − αL/2 ≥ ½. Sum over t < T, and divide by αT/2. ∎
#
# That is the rate of mini-batch SGD. (The paper's theorems are about the *time* that this takes; here we bound the error by the number of server updates.) The proof above is ours and is not decided by the kernel, which does not know the new algorithm. What boundlab can do is try to refute it.

# %%
TOML = """\
id = "my_rennala.nonconvex"
title = "Rennala SGD for one function, any delays"
algorithm = "my_rennala"
metric = "gradient-norm"
assumptions = ["smooth", "bounded-below", "bounded-variance", "one-function"]
conditions = ["alpha <= 1/L"]
settable = ["alpha"]
[parameters]
b = "b"
[step]
alpha = "1/L"
[terms]
start = "2*F0/(alpha*T)"
noise = "alpha*L*sigma**2/b"
"""
Path("my_rennala.toml").write_text(TOML, encoding="utf-8")
assert bl.check("my_rennala.toml").failed == ()
bl.theorem("my_rennala.toml")

# %%
compared = {
    b: bl.compare("my_rennala.toml", problem, delays, iterations=400, trials=40, alpha=0.2, b=b) for b in (1, 4, 16)
}
for b, one in compared.items():
    assert one.verdict in {"holds", "consistent"}
    print(f"b = {b:2}: {one.headline}; mean/bound at T = {one.plan.ks[-1]}: {float(one.ratio[-1]):.3f}")

# %%
import matplotlib.pyplot as plt

figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
for (b, one), color, marker in zip(compared.items(), ("#b3261e", "#7a7a00", "#1f5fa8"), "os^", strict=True):
    axes.plot(
        one.plan.ks, one.bound, "--", color=color, marker=marker, markerfacecolor="white", label=f"bound, $b={b}$"
    )
    axes.plot(one.plan.ks, one.band.mean, "-", color=color, marker=marker, label=f"mean of 40 trials, $b={b}$")
    axes.fill_between(one.plan.ks, one.band.lower, one.band.upper, color=color, alpha=0.15, linewidth=0)
axes.set_xscale("log")
axes.set_yscale("log")
axes.set_xlabel("server updates $T$")
axes.set_ylabel(r"mean over $t<T$ of $\mathbb{E}\,\|\nabla f(x_t)\|^2$")
axes.set_title(
    "Rennala SGD, my_rennala.nonconvex: consistent\nHuber's function, 8 clients, rates 100 : 1, $\\alpha=0.2$, $\\sigma=1$",
    fontsize=11,
)
figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
plt.show()

# %% [markdown]
# *Figure: averaged squared gradient and its bound against the number of server updates, on logarithmic axes, for batches of 1, 4 and 16, with shaded bands: certain limits from below, approximate ones from above. All bands lie below their bounds. At first the three curves agree. Then they part: the smaller the batch, the earlier mean and bound begin to level off, and the higher they end.*

# %%
ends = {b: (float(one.band.mean[-1]), float(one.bound[-1])) for b, one in compared.items()}
assert all((one.band.upper < one.bound).all() for one in compared.values())
assert ends[1][0] > ends[4][0] > ends[16][0]
assert ends[1][1] > ends[4][1] > ends[16][1]

# %% [markdown]
# ## 5. Try to refute it
#
# `consistent` means that no violation was seen in these samples. The search tries about a hundred small instances; what it calls a violation is confirmed by an exact engine.

# %%
search = bl.falsify("my_rennala.toml", candidates=60)
assert not search.violated
assert search.closest.ratio <= 1
search

# %% [markdown]
# Nothing is found, and the closest instance attains the bound. Would the search see a mistake? Take the noise term that a hurried calculation gives, half of the right one:

# %%
HALF = TOML.replace("sigma**2/b", "sigma**2/(2*b)").replace("my_rennala.nonconvex", "my_rennala.half")
Path("half.toml").write_text(HALF, encoding="utf-8")
wrong = bl.falsify("half.toml", candidates=60)
assert wrong.violated
assert wrong.smallest.kind == "exact"
wrong

# %% [markdown]
# ## 6. The counterexample, exactly
#
# The plug-in says nothing about expectations, and yet there are no samples here: the noise is carried through the tape as moments. The file of the counterexample is decided anew for the wrong theorem, and for the right one.

# %%
refuted = bl.exact("half.toml", wrong.case)
assert (refuted.verdict, refuted.kind) == ("violated", "exact")
refuted

# %%
case = {**wrong.case, "theorem": "my_rennala.nonconvex"}
right = bl.exact("my_rennala.toml", case)
assert right.verdict == "holds"
print(right)

# %% [markdown]
# ## 7. Where it stands now
#
# The algorithm conforms; the theorem is stated, argued on paper, consistent with the runs and not refuted by the search, which does refute its neighbour. It is not machine-proved. `docs/plugins.md` has the rest of what a plug-in may bring: metrics, assumptions, delay laws, checks; and an entry point in place of the file.
