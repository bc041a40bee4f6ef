"""FedCompass, Appendix C as printed: every displayed relation, one step each, nothing repaired.

Lemma 1 to (12) are in another module. In (14) the sum over ρ is taken up to t − 1, as it must be; printed is t.
"""

from typing import Any

from boundlab.proofs._fedcompass_appendix import Printed, first_part, jensen, lemma_1, lemma_2, probabilities
from boundlab.prove import (
    Proof,
    Script,
    combine_vectors,
    equal,
    expr,
    finite_sum,
    split_sum,
    squared,
    telescope,
    telescope_vector,
    total,
    vector_sum,
)


def theorem1(proof: Proof) -> None:
    """From Lemma 1 to (22)."""
    b = Printed(proof)
    _theorem(b)
    proof.conclude(b.last)


def corollary(proof: Proof) -> None:
    """Theorem 1 once more, and (23) to (25)."""
    b = Printed(proof)
    _theorem(b)
    n, s, eta = b.n, b.s, b.eta
    one = proof.step(
        "(23)",
        equal(expr(b.mu), 1),
        [],
        at="(23), μ' = Q^⌊log_Q μ⌋ = Q⁰ = 1 for Qmin ≤ Qmax/μ (false where Qmin = Qmax/μ < Qmax: then it is Q)",
    )
    proof.step("γ₁ = m", equal(expr(b.g1), n), multipliers=[(-(n - 1) / b.mu, one)], at="after (23)")
    proof.step("γ₂ = m", equal(expr(b.g2), n), multipliers=[(n - 1, one)], at="after (23)")
    noise = 2 * eta * n * b.sigma**2 * b.L * b.Qmax**2 / b.Qmin
    late = 6 * n * eta**2 * b.sigma2 * b.L**2 * b.Qmax**3 / b.Qmin * (b.tau**2 + 1)
    bound = 2 * n * s.symbol("F0") / (eta * b.Qmin * b.T) + noise + late
    last = proof.step(
        "(24)",
        s.metric() <= expr(bound),
        multipliers=[(1, b.last), (-(b.last.claim.right.number - bound) / (b.mu - 1), one)],
        at="(24)",
    )
    proof.remark("(25)", "O(·) for η = O(1/(Qmax·√T)): no constants; (24) is the explicit form", "(25)")
    proof.conclude(last)


def _theorem(b: Printed) -> None:
    lemma_1(b)
    lemma_2(b)
    first_part(b)
    probabilities(b)
    _third_part(b)
    _second_part(b)


def _third_part(b: Printed) -> None:
    """(13) to (17): how far gradients at old models are from ∇F(w[k])."""
    proof, s, kernel, k, i, q, n, eta, L = b.proof, b.s, b.kernel, b.k, b.i, b.q, b.n, b.eta, b.L
    old = s.o(k, i)
    here, there, way, local = s.d(i, k), s.d(i, old), s.w(k) - s.w(old), s.w(old) - b.y
    proof.step(
        "(13), =", equal(b.third, b.every(squared(b.df - b.g)) * (eta / (2 * b.g1))), [], at="(13), first relation"
    )
    apart = b.every(squared(here - there) + squared(there - b.g)) * (eta / b.g1)
    first = proof.step(
        "(13), first ≤",
        b.third <= apart,
        [],
        at="(13), first ≤: ∇F(w) has become ∇F_i(w) (false for two clients with ∇F_0 ≠ ∇F_1, at t = 0 and q = 0)",
    )
    smooth = [
        total(kernel, total(kernel, fact, "q", 0, b.Qmax), "i", 0, n)
        for fact in (s.smooth(here, there), s.smooth(there, b.g))
    ]
    far = b.every(squared(way) + squared(local)) * (eta * L**2 / b.g1)
    second = proof.step(
        "(13), second ≤", apart <= far, multipliers=[(eta / b.g1, one) for one in smooth], at="(13), second ≤"
    )
    models = _fourteen(b, way)
    # (15)
    x, p = s.index("x", 0, b.Qmax - 1), b.p
    steps = vector_sum("q", 0, x, b.g + b.e)
    walk = [
        total(kernel, s.steps_on(k, i, q), "q", 0, x),
        telescope_vector(kernel, "q", 0, x, s.y(k, i, q)),
    ]
    from_start = s.y(k, i, 0) - s.y(k, i, x)
    moved = combine_vectors(kernel, from_start, steps * eta, [(1, walk[1]), (-1, walk[0])])
    began = combine_vectors(kernel, s.w(old) - s.y(k, i, x), steps * eta, [(1, moved), (-1, s.begins_at(k, i))])
    equal15 = proof.step(
        "(15), =",
        equal(squared(s.w(old) - s.y(k, i, x)), squared(steps) * eta**2),
        [kernel.against(began, v) for v in (s.w(old) - s.y(k, i, x), steps)],
        at="(15), =",
    )
    pairs = kernel.square(b.g + b.e - s.stochastic(k, i, p))
    pairs = total(kernel, total(kernel, pairs, "p_1", 0, x), "q", 0, x)
    sizes = total(kernel, b.lemma, "q", 0, x)
    bound = 3 * eta**2 * b.Qmax**2 * b.sigma2
    less15 = proof.step(
        "(15), ≤",
        squared(steps) * eta**2 <= expr(bound),
        multipliers=[(eta**2 / 2, pairs), (eta**2 * x, sizes)],
        at="(15), ≤",
    )
    near = kernel.combine(squared(s.w(old) - s.y(k, i, x)) <= expr(bound), [(-1, equal15), (1, less15)])
    near = total(kernel, total(kernel, near, "x", 0, b.Qmax), "i", 0, n)
    old_models = total(kernel, total(kernel, models, "q", 0, b.Qmax), "i", 0, n)
    size = 3 * n * L**2 * eta**3 * b.Qmax**3 / b.g1 * (b.tau**2 + 1) * b.sigma2
    b.size = size
    sixteen = proof.step(
        "(16)",
        b.third <= expr(size),
        multipliers=[(1, first), (1, second), (eta * L**2 / b.g1, near), (eta * L**2 / b.g1, old_models)],
        at="(16)",
    )
    b.seventeen = proof.step("(17)", b.first <= b.start12 + size, multipliers=[(1, b.twelve), (1, sixteen)], at="(17)")


def _fourteen(b: Printed, way: Any) -> Any:
    """(14), printed with ρ ≤ t and meant with ρ < t: up to w^t there are τ moves."""
    proof, s, kernel, k, i, n, eta, r = b.proof, b.s, b.kernel, b.k, b.i, b.n, b.eta, b.s.r
    old, h = s.o(k, i), b.h
    moves = vector_sum("r", old, k, s.w(r + 1) - s.w(r))
    path = telescope_vector(kernel, "r", old, k, s.w(r))
    longer = vector_sum("r", old, k + 1, s.w(r + 1) - s.w(r))
    past = telescope_vector(kernel, "r", old, k + 1, s.w(r))
    uses = [kernel.against(past, v) for v in (way, longer)]
    proof.printed("(14), first =", equal(squared(way), squared(longer)), uses, at="(14), first =")
    first = proof.step(
        "(14), first =",
        equal(squared(way), squared(moves)),
        [kernel.against(path, v) for v in (way, moves)],
        at="(14), first =",
    )
    runs = vector_sum("i", 0, n, (s.y(r, i, 0) - s.y(r, i, s.Q(r, i))) * (s.pi(r, i) / n))
    every = total(kernel, kernel.at(b.moved, {"k": r}), "r", old, k)
    added, more = vector_sum("r", old, k, runs), vector_sum("r", old, k + 1, runs)
    all_of = total(kernel, kernel.at(b.moved, {"k": r}), "r", old, k + 1)
    uses = [kernel.against(all_of, v) for v in (longer, more)]
    proof.printed("(14), second =", equal(squared(longer), squared(more)), uses, at="(14), second =")
    second = proof.step(
        "(14), second =",
        equal(squared(moves), squared(added)),
        [kernel.against(every, v) for v in (moves, added)],
        at="(14), second =",
    )
    update = combine_vectors(kernel, runs, s.su(r) * (eta / n), [(1, kernel.at(b.moved, {"k": r})), (-1, s.update(r))])
    all_of = total(kernel, update, "r", old, k + 1)
    update = total(kernel, update, "r", old, k)
    sums, many = vector_sum("r", old, k, s.su(r)), vector_sum("r", old, k + 1, s.su(r))
    uses, claim = [kernel.against(all_of, v) for v in (more, many)], squared(many) * (eta**2 / n**2)
    proof.printed("(14), third =", equal(squared(more), claim), uses, at="(14), third =")
    third = proof.step(
        "(14), third =",
        equal(squared(added), squared(sums) * (eta**2 / n**2)),
        [kernel.against(update, v) for v in (added, sums)],
        at="(14), third =, with su[ρ] for Σ_k Σ_q ∇f_k",
    )
    # (a): over updates, and over who arrives and its local steps
    other = s.index("r_0", 0, b.T - 1)
    pairs = total(kernel, total(kernel, kernel.square(s.su(r) - s.su(other)), "r_0", old, k), "r", old, k)
    squares = total(kernel, kernel.square(s.su(r)), "r", old, k)
    later = kernel.scale(s.late(k, i), squares)
    steps = lambda t: finite_sum(
        "i", 0, n, finite_sum("q", 0, s.Q(t, i), squared(s.stochastic(t, i, b.q)) * s.pi(t, i))
    )
    inside = proof.step(
        "(14), (a), one update",
        squared(s.su(r)) <= steps(r) * (n * b.Qmax),
        [s.added("su", r), *jensen(b, r, lambda t, j, q: s.stochastic(t, j, q), arriving=True)],
        at="(14), (a), the Cauchy-Schwarz inequality inside",
    )
    inside = total(kernel, inside, "r", old, k)
    all_steps = finite_sum("r", old, k, steps(r))
    printed = finite_sum("r", old, k + 1, steps(r)) * (eta**2 * b.tau * b.Qmax / n)
    proof.printed("(14), (a)", claim <= printed, [pairs, later, inside], at="(14), (a)")
    fourth = proof.step(
        "(14), (a)",
        squared(sums) * (eta**2 / n**2) <= all_steps * (eta**2 * b.tau * b.Qmax / n),
        multipliers=[
            (eta**2 / n**2 / 2, pairs),
            (eta**2 / n**2, later),
            (eta**2 / n**2 * b.tau, inside),
        ],
        at="(14), (a)",
    )
    each = kernel.at(b.lemma, {"k": r})
    each = total(kernel, total(kernel, each, "q", 0, s.Q(r, i), s.pi(r, i)), "i", 0, n)
    few = kernel.combine(expr(3 * b.sigma2 * (b.Qmax - s.pi(r, h) * s.Q(r, h))) >= 0, [])
    few = total(kernel, few, "i_0", 0, n)
    one = kernel.combine(steps(r) <= expr(3 * b.sigma2 * n * b.Qmax), [(1, each), (1, few)])
    one = total(kernel, one, "r", old, k)
    bound = 3 * eta**2 * b.tau**2 * b.Qmax**2 * b.sigma2
    scale = eta**2 * b.tau * b.Qmax / n
    fifth = proof.step(
        "(14), (b)",
        all_steps * scale <= expr(bound),
        multipliers=[(scale, one), (scale * 3 * b.sigma2 * n * b.Qmax, s.late(k, i))],
        at="(14), (b)",
    )
    return kernel.combine(
        squared(way) <= expr(bound), [(-1, first), (-1, second), (-1, third), (1, fourth), (1, fifth)]
    )


def _second_part(b: Printed) -> None:
    """(18) to (22)."""
    proof, s, kernel, k, i, n, eta, L = b.proof, b.s, b.kernel, b.k, b.i, b.n, b.eta, b.L
    scale = eta**2 * L / (2 * n**2)
    both = s.arrived(k, b.g + b.e)
    runs = vector_sum("i", 0, n, (s.y(k, i, 0) - s.y(k, i, b.Q)) * b.pi)
    all_runs = total(kernel, b.delta, "i", 0, n, b.pi)
    proof.step("(18), first =", equal(b.second, squared(runs) * (L / (2 * n**2))), [], at="(18), first =")
    second = proof.step(
        "(18), second =",
        equal(b.second, squared(both) * scale),
        [kernel.against(all_runs, v) for v in (runs, both)],
        at="(18), second =",
    )
    third = proof.step(
        "(18), third =", equal(squared(both) * scale, squared(b.noise + b.used) * scale), [], at="(18), third ="
    )
    P5 = squared(b.used) * (2 * scale)
    fourth = proof.step(
        "(18), (a)",
        squared(b.noise + b.used) * scale <= squared(b.noise) * (2 * scale) + P5,
        squares=[b.noise - b.used],
        at="(18), (a)",
    )
    shares = vector_sum("i", 0, n, vector_sum("q", 0, b.Q, b.e * (b.pi / b.P)))
    fifth = proof.step(
        "(18), 𝒫",
        equal(squared(b.noise) * (2 * scale), squared(shares) * (2 * scale * b.P**2)),
        [],
        at="(18), fourth =",
    )
    everyone = vector_sum("i", 0, n, vector_sum("q", 0, b.Q, b.e))
    own, all_of = s.uncorrelated_arriving(k), s.uncorrelated_all(k)
    less = total(kernel, total(kernel, kernel.square(b.e), "q", 0, b.Q), "i", 0, n, 1 / b.g1**2 - b.pi**2 / n**2)
    sixth = proof.step(
        "(18), γ₁",
        squared(shares) * (2 * scale * b.P**2) <= squared(everyone) * (eta**2 * L / b.g1**2),
        multipliers=[(-(eta**2) * L / n**2, own), (eta**2 * L / b.g1**2, all_of), (eta**2 * L, less)],
        at="(18), the ≤ without a letter",
    )
    steps = b.every(squared(b.e)) * (n * eta**2 * L * b.Qmax / b.g1**2)
    after = total(kernel, total(kernel, kernel.square(b.e), "q", b.Q, b.Qmax), "i", 0, n)
    parts = total(kernel, split_sum(kernel, "q", 0, b.Q, b.Qmax, squared(b.e)), "i", 0, n)
    seventh = proof.step(
        "(18), (b)",
        squared(everyone) * (eta**2 * L / b.g1**2) <= steps,
        [*jensen(b, k, s.ey, arriving=False), after, parts],
        at="(18), (b)",
    )
    variance = total(kernel, total(kernel, s.noise_bound(b.k, b.i, b.q), "q", 0, b.Qmax), "i", 0, n)
    noise = n**2 * eta**2 * b.sigma**2 * L * b.Qmax**2 / b.g1**2
    eighth = proof.step("(18), (c)", steps <= expr(noise), [variance], at="(18), (c)")
    eighteen = kernel.combine(
        b.second <= P5 + noise,
        [(-1, second), (-1, third), (1, fourth), (-1, fifth), (1, sixth), (1, seventh), (1, eighth)],
    )
    gradients = b.over(squared(b.g), b.pi)
    proof.step("(19), =", equal(b.quiet + P5, -gradients * (eta / (2 * n)) + P5), [], at="(19), first =")
    many = proof.step(
        "(19), (a)",
        b.quiet + P5 <= -gradients * (eta / (2 * n)) + gradients * (eta**2 * L * b.Qmax / n),
        [*jensen(b, k, s.gy, arriving=True)],
        at="(19), (a)",
    )
    limit = eta**2 * L * b.Qmax / n - eta / (2 * n)
    proof.step(
        "(19), second =",
        equal(-gradients * (eta / (2 * n)) + gradients * (eta**2 * L * b.Qmax / n), gradients * limit),
        [],
        at="(19), second =",
    )
    positive = total(kernel, total(kernel, kernel.square(b.g), "q", 0, b.Q, b.pi), "i", 0, n)
    gone = proof.step("(19), ≤ 0", gradients * limit <= 0, multipliers=[(-limit, positive)], at="(19), ≤ 0")
    F = s.objective
    lost = eta * b.Qmin / (2 * b.g2)
    twenty = proof.step(
        "(20)",
        F(s.w(k + 1)) <= F(s.w(k)) - squared(b.df) * lost + noise + b.size,
        multipliers=[(1, b.step7), (1, b.seventeen), (1, eighteen), (1, many), (1, gone)],
        at="(20)",
    )
    T = b.T
    sizes = finite_sum("k", 0, T, squared(b.df)) * lost
    decrease = finite_sum("k", 0, T, F(s.w(k)) - F(s.w(k + 1)))
    summed = proof.step(
        "(21), first ≤",
        sizes <= decrease + T * noise + T * b.size,
        [total(kernel, twenty, "k", 0, T)],
        at="(21), first ≤",
    )
    gap = s.symbol("F0")
    ends = proof.step(
        "(21), second ≤",
        decrease + T * noise + T * b.size <= expr(gap + T * noise + T * b.size),
        [telescope(kernel, "k", 0, T, F(s.w(k))), s.start_gap(s.w(T))],
        at="(21), second ≤",
    )
    b.last = proof.step(
        "(22)",
        s.metric() <= expr((gap / T + noise + b.size) / lost),
        multipliers=[(1 / (T * lost), summed), (1 / (T * lost), ends)],
        at="(22), Theorem 1",
    )


PROOFS = (
    Script(
        "fedcompass.theorem1",
        "Appendix C, every display as printed",
        "Li et al., FedCompass, Appendix C",
        theorem1,
        "fedcompass.theorem1",
        printed=True,
    ),
    Script(
        "fedcompass.corollary1.explicit",
        "Appendix C, with Corollary 1",
        "Li et al., FedCompass, Appendix C",
        corollary,
        "fedcompass.corollary1.explicit",
        printed=True,
    ),
)
