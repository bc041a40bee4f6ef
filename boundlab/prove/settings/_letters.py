"""What the vectors and numbers of each setting are, in words: for readers of a step who have not read the setting.

A key is the letter with its indices, as claims print it. Gradients of an f_i are not here: the kernel knows what each
is a gradient of. Nothing is decided by these words.
"""

GD = {
    "x[k]": "the model after k iterations",
    "e[i, k]": "the noise of g[i, k]",
    "xbar": "the average of x[0], …, x[K − 1]",
}

DELAYED = {
    "x[k]": "the model after k arrivals",
    "s[k]": "after how many arrivals the model was made at which the k-th gradient was taken",
    "e[k]": "the noise of the gradient that arrives in iteration k",
}

AREA = {
    "xs[k]": "the server's model after k events",
    "x[i, k]": "what client i sends next, after k events",
    "y[i, k]": "what client i has sent last, after k events",
    "z[i, r, m]": "what client i has after m local steps of the pass that it begins at event r",
    "e[i, r, m]": "the noise of g[i, r, m]",
    "p[i]": "the probability that an event is an arrival of client i",
    "xbar": "the average of xs[0], …, xs[K − 1]",
    "zh[i, r, m]": "the point of client i after m steps without noise from x*, with the steps of pass r",
    "ustar[i]": "a minimiser of f_i",
    "offset": "the d of the steps c/(k + d)",
    "step[k]": "c/(k + d)",
    "q0": "D·M·γ, where γ = 2μL/(μ + L)",
}

RUNS = {
    "w[t]": "the server's model after t updates",
    "c[t, j]": "the client of run j of update t",
    "s[t, j]": "after how many updates the model was made from which run j of update t began",
    "z[t, j, q]": "the point of run j of update t after q local steps",
    "e[t, j, q]": "the noise of g[t, j, q]",
}

BUFFERS = {
    "df[t]": "∇f(w[t])",
    "alpha[t, j]": "the weight of entry j in the buffer of update t",
    "many": "how many entries a buffer has",
    "over[i, t]": "how much more than 1/n the weights of client i's entries in the buffer of update t add up to",
    "under[i, t]": "how much less than 1/n the weights of client i's entries in the buffer of update t add up to",
    "spread[t]": "n·Σ_i (over[i, t]² + under[i, t]²)",
    "hb[t, q]": "Σ_j alpha[t, j]·g[t, j, q]",
    "xb[t, q]": "Σ_j alpha[t, j]·e[t, j, q]",
    "du[t]": "Σ_j alpha[t, j]·d[c[t, j], t]",
}

PRINTED_BUFFERS = {"age[t, j]": "the mean staleness of the client of entry j in the buffer of update t"}

STATIONARY = {
    "df[t]": "∇f(w[t])",
    "over[i]": "how much more than 1/n the expected weight of client i in a buffer is",
    "under[i]": "how much less than 1/n the expected weight of client i in a buffer is",
    "al2[t]": "the mean of the sum of squared weights in the buffer of update t",
    "zk[t, q]": "the point after q local steps of an entry of the buffer of update t, drawn with the buffer's weights",
    "gk[t, q]": "the gradient of its client's function at zk[t, q]",
    "ek[t, q]": "the noise of gk[t, q]",
    "dk[t]": "the gradient of that client's function at w[t]",
    "db[t]": "Σ_i (1/n + over[i] − under[i])·d[i, t]",
    "hb[t, q]": "the gradients of the local steps q in the buffer of update t, added up with its weights",
    "xb[t, q]": "their noise, added up with the weights",
    "mb[t, q]": "the mean of gk[t, q] given the arrivals before buffer t and all noise",
    "pk[t, m]": "the model m updates before w[t], or where the drawn entry began if that is later",
    "ub[t, m, q]": "hb + xb of the update from pk[t, m + 1] to pk[t, m]; 0 where these are one model",
    "gu[t, m, q]": "the gradient of a drawn entry of the update from pk[t, m + 1] to pk[t, m]; 0 where there is none",
    "eu[t, m, q]": "the noise of gu[t, m, q]",
}

# Of FedCompass and FedFa, whose updates come in windows.
_WINDOWS = {"gr[t]": "the gradients that update t adds up, with their weights", "er[t]": "the noise of gr[t]"}

FEDCOMPASS = {
    **_WINDOWS,
    "df[t]": "∇f(w[t])",
    "many[t]": "how many runs update t adds up",
    "a[t, j]": "the weight of run j of update t",
    "steps[t, j]": "how many local steps run j of update t has",
    "p[i]": "the weight of f_i in the objective f",
    "A[t]": "the weighted number of local steps in update t",
    "W[k]": "the weighted number of local steps in the window of N updates that begins at update k",
    "over[i, k]": "how much more of the work of the window at update k is client i's than p_i of it",
    "under[i, k]": "how much less of the work of the window at update k is client i's than p_i of it",
    "size[k]": "√E‖∇f(w[k])‖²",
    "size_mean[t]": "the mean of size over the updates before t",
    "du[t, u]": "what gr[t + u] would be with all gradients at w[t]",
    "mv[i, t]": "the mean of ∇f_i on the way from w[0] to w[t]; mv[i, 0] = 0",
}

PRINTED_FEDCOMPASS = {
    "pi[t, i]": "1 if client i arrives at update t, else 0",
    "P[t]": "how many clients arrive at update t",
    "o[t, i]": "after how many updates the model was made from which client i's run at update t began",
    "Q[t, i]": "how many local steps client i's run at update t has",
    "big[t]": "a client i with the largest pi[t, i]",
    "small[t]": "a client i with the smallest pi[t, i]",
    "y[t, i, q]": "the point of client i's run at update t after q local steps",
    "ey[t, i, q]": "the noise of gy[t, i, q]",
    "fy[t, i, q]": "∇f(y[t, i, q])",
    "su[t]": "the stochastic gradients of update t, added up",
}

FEDFA = {
    **_WINDOWS,
    "v[t]": "the virtual iterate, which each arrival moves by its own change alone",
    "fv[t]": "∇f(v[t])",
    "mv[i, t]": "the mean of ∇f_i on the way from w[0] to v[t], 0 where that has no length",
    "over[i, k]": "how much more than 1/n of the arrivals of the window at update k are of client i",
    "under[i, k]": "how much less than 1/n of the arrivals of the window at update k are of client i",
    "more[t, a]": "how much more of the change of arrival a is in w[t] than in v[t]",
    "less[t, a]": "how much less of the change of arrival a is in w[t] than in v[t]",
    "size[t]": "√E‖∇f(v[t])‖²",
    "size_mean[t]": "the mean of size over the updates before t",
    "tp[t]": "after how many updates the model was made from which the earliest run in the window of update t began",
    "nx[t, i]": "the first arrival of client i from t on",
}

AFL_DGA = {
    "w[t]": "the server's model before round t",
    "df[t]": "∇f(w[t])",
    "a[t]": "what the server steps along in round t: v[t] + m[t]",
    "v[t]": "the mean over the clients of the averages of gradients that the server has in round t",
    "m[t]": "the noise in a[t]",
    "part[t, r]": "the noise in a[t] of the averages that were first used in round r",
    "first[t, i]": "in which round the average of client i that round t uses was first used",
    "before[t, i]": "in which round the average of client i before that one was first used",
    "steps[i, r]": "how many local steps are in the average of client i that was first used in round r",
    "z[i, r, q]": "the point of local step q of the average of client i that was first used in round r",
    "e[i, r, q]": "the noise of g[i, r, q]",
    "o[i, r, q, p]": "the p-th own stochastic gradient that z[i, r, q] still holds",
    "own[i, r, q]": "how many own stochastic gradients z[i, r, q] still holds",
    "lo[t]": "a round from which on server steps may be missing in the points that round t uses",
    "old[t]": "a round from which on the averages are that round t uses",
    "miss[t, i, q, h]": "1 if server step h is missing in point q of what round t uses of client i, else 0",
    "gone[t, i, q]": "how many server steps are missing in point q of what round t uses of client i",
    "one[t, i, r]": "1 if what round t uses of client i was first used in round r, else 0",
    "root[t, r]": "√(how many clients' averages round t uses that were first used in round r)",
    "ages[t, i]": "the ages of the average that round t uses of client i and of the one before, together, less 1",
}
