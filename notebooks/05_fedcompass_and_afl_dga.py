# %% [markdown]
# # FedCompass and AFL-DGA: bound against error
#
# Two algorithms, two printed theorems, both false; for each the error over the server updates T, the printed bound, the repaired one and its terms, and the level of doing nothing. Left side throughout: the average of 𝔼‖∇f(w^t)‖² over the first T server models.

# %%
import boundlab as bl

# %% [markdown]
# ## FedCompass, as printed
#
# FedCompass gives fast clients more local steps, so that groups arrive together. Client 0 is five times faster than client 1, so it does five local steps where the other does one, and has five times the weight. Theorem 1 has no term for that. Two Huber functions with minimisers 0 and 1; the minimiser of their mean is ½, and we start near it, at 0.6.

# %%
there = ("huber:c=[[0],[1]],w=1,delta=1,x0=0.6", "deterministic:rates=[1,0.2]")
steps = {"iterations": 1800, "trials": 2, "Qmin": 1, "Qmax": 5, "eta": 0.001}
printed = bl.compare("fedcompass.theorem1", *there, **steps)
repaired = bl.compare("fedcompass.window.b.noiseless", *there, **steps)
assert printed.verdict.value == "violated"
assert repaired.verdict.value == "holds"
printed

# %%
axes = printed.plot(terms=True, others=[repaired])

# %% [markdown]
# *Figure: the average squared gradient norm over the server updates. It dips and then rises, towards the fixed point near 1/6, above the error of never moving, and at last above the printed bound (broad line), which falls to its staleness term. The repaired bound (dash-dotted) levels off above the error. The lower panel has mean/bound: the printed theorem's ratio passes 1.*

# %% [markdown]
# The run begins by approaching the minimiser ½, passes it, and leaves it for the point where five pulls of one client balance one of the other. There ‖∇f‖² is 1/9. The printed bound falls to its staleness term, 0.019, and must be crossed. The repaired theorem has a term "bias and staleness" that does not fall. It is above the error of never moving, and rightly so: here, doing nothing *is* better.

# %%
print(f"error {printed.band.mean[-1]:.3g}, never moving {printed.trivial_bound.level:.3g}")
print(f"printed bound {printed.bound[-1]:.3g}, repaired {repaired.bound[-1]:.3g}")
assert printed.ratio[-1] > 1.2
assert printed.band.mean[-1] > printed.trivial_bound.level
assert repaired.terms["bias and staleness"][-1] > repaired.terms["initial"][-1]

# %% [markdown]
# ## FedCompass, repaired in earnest
#
# The algorithm can be repaired, too: `normalise=yes` divides each update by its number of local steps. The same repaired theorem sees the difference, since it reads shares off the schedule. Now with noise, from far away, where the bound has something to say.

# %%
noisy = ("huber:c=[[0],[1]],w=1,delta=1,x0=3,sigma=0.2", "deterministic:rates=[1,0.2]")
far = {"iterations": 400, "trials": 6, "Qmin": 1, "Qmax": 5, "eta": 0.01}
biased = bl.compare("fedcompass.window.b", *noisy, **far)
fair = bl.compare("fedcompass.window.b", *noisy, **far, normalise="yes")
assert {biased.verdict.value, fair.verdict.value} <= {"consistent", "holds"}
assert fair.bound[-1] < fair.trivial_bound.level
axes = fair.plot(terms=True)

# %% [markdown]
# *Figure: the run with normalised updates. The mean, with its band below it, and the repaired bound fall, in the end well below the error of never moving, the bound four to five times above the mean. Of its terms, "initial" falls with T; "bias and staleness" and "noise" stay.*

# %%
for name, result in (("as printed", biased), ("normalised", fair)):
    rest = result.terms["bias and staleness"][-1]
    print(
        f"{name}: error {result.band.mean[-1]:.3f}, bound {result.bound[-1]:.3f}, of it bias and staleness {rest:.3f}"
    )
assert fair.band.mean[-1] < biased.band.mean[-1] / 2
assert fair.terms["bias and staleness"][-1] < biased.terms["bias and staleness"][-1] / 2

# %% [markdown]
# ## AFL-DGA, as printed
#
# In AFL-DGA clients replace their own steps by the delayed average of all gradients. As printed, the server moves by one average gradient a round, and the clients by as many as they took local steps: with more than one they follow different trajectories. The step 1/(L·√T) depends on the horizon, so each horizon is a run of its own. One client, two local steps, no delay, f = 60·huber.

# %%
alone = ("huber:w=60,x0=1", "exponential")
horizons = [10, 20, 50, 100, 200, 500, 1000]
curve = bl.compare("afl_dga.theorem1", *alone, iterations=horizons, trials=2, local_steps=2, scaling="average")
assert curve.verdict.value == "violated"
curve

# %%
axes = curve.plot(terms=True)

# %% [markdown]
# *Figure: the error and the printed bound over seven horizons from 10 to 1000. The bound falls, and so do its terms but the initial one; the error falls once, to about a quarter, and then stays: the server stops half-way to the minimiser. Near T = 500 the bound crosses it, and mean/bound ends at 2.7.*

# %%
last = curve.comparisons[-1]
print(f"T = 1000: error {last.band.mean[-1]:.4g}, bound {last.bound[-1]:.4g}, ratio {last.ratio[-1]:.3g}")
errors = [float(one.band.mean[-1]) for one in curve.comparisons]
assert last.ratio[-1] > 2
assert max(errors[3:]) < 1.1 * min(errors[3:])  # it stays
assert errors[0] > 1.4 * errors[-1]

# %% [markdown]
# ## AFL-DGA, repaired
#
# The reading that the paper's proof uses (`scaling=analysis`) lets clients and server follow one trajectory, and the bound of r1 holds for it, every T of one run.

# %%
together = bl.compare("afl_dga.r1", *alone, iterations=1000, trials=2, local_steps=2, scaling="analysis", eta=0.001)
assert together.verdict.value == "holds"
assert not together.vacuous
axes = together.plot(terms=True)

# %% [markdown]
# *Figure: the same problem under the repaired algorithm. Error and bound fall together over T = 1 to 1000, in the end far below the error of never moving; from T = 20 on the bound is two to three times the error. Its term for local steps stays where it is.*

# %% [markdown]
# And on data, with noise: logistic regression on the digits, eight clients with unequal labels, heavy-tailed times, mini-batches of 16. The theorem is r2b.

# %%
data = ("logistic:data=digits,clients=8,partition=dirichlet,a=0.3,batch=16,nu=0", "lognormal:spread=4")
real = bl.compare("afl_dga.r2b", *data, iterations=200, trials=5, local_steps=2, scaling="analysis", eta=0.02)
assert real.verdict.value == "consistent"
assert real.vacuous
axes = real.plot(terms=True)

# %% [markdown]
# *Figure: AFL-DGA on digits. The mean falls slowly within its band; the repaired bound falls like 1/T from far above and stays above the error of never moving within 200 updates. The term "initial" is nearly the whole bound; noise and staleness lie an order of magnitude below it.*

# %%
share = real.terms["initial"][-1] / real.bound[-1]
print(f"error {real.band.mean[-1]:.3g}, bound {real.bound[-1]:.3g}, of it initial {share:.0%}")
print(f"the bound says something from about T = {real.trivial_bound.crosses} on")
assert share > 0.8
assert real.trivial_bound.crosses > 1000

# %% [markdown]
# What one should take away from these five figures. A false theorem shows as a curve that crosses, not as a single bad point. A repaired one may still be useless where the algorithm itself is biased; there it says so, by a term that stays. And a true bound on data can be right about what matters asymptotically and yet be silent for the first thousand updates.
