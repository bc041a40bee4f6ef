"""FedCompass, Appendix C as printed: every displayed relation, one step each, nothing repaired.

Lemma 1 to (12) are in another module. In (14) the sum over ρ is taken up to t − 1, as it must be; printed is t.
"""

from typing import Any

from boundlab.prove import (
    Proof,
    Script,
    combine_vectors,
    equal,
    expr,
    finite_sum,
    split_sum,
    squared,
    sums,
    telescope,
    telescope_vector,
    total,
    variable,
    vector_sum,
)

# FedCompass, Appendix C as printed, from Lemma 1 to (12).
#
# S_t is who arrives at update t. Every client i has a run at every t, of which the paper speaks in (9) to (16) whether
# it arrives or not; π_i is the probability that client i arrives at t, which is 0 or 1 for a schedule that does not
# depend on the noise.


class Printed:
    """Names for what the displays are made of, at update t = k."""

    # What is shown on the way.
    lemma: Any
    down: Any
    delta: Any
    moved: Any
    step7: Any
    nine_b: Any
    twelve: Any
    seventeen: Any
    last: Any
    # P1, P2, P3, P4 and the right sides of (12) and (16).
    first: Any
    second: Any
    third: Any
    quiet: Any
    start12: Any
    size: Any

    def __init__(self, proof: Proof) -> None:
        self.proof = proof
        s = self.s = proof.setting()
        self.kernel, self.k, self.i, self.q, self.n = s.kernel, s.k, s.i, s.q, s.n
        self.eta, self.L, self.T, self.tau = s.step, s.symbol("L"), s.T, s.symbol("tau_max")
        self.Qmin, self.Qmax = s.symbol("Qmin"), s.Qmax
        self.sigma, self.mu = s.symbol("sigma_l"), variable("mu_step")
        self.sigma2 = self.sigma**2 + s.symbol("sigma_g") ** 2 + s.symbol("G_sq")
        self.g1, self.g2 = 1 + (self.n - 1) / self.mu, 1 + self.mu * (self.n - 1)
        self.p, self.h = s.index("p_1"), s.index("i_0", 0, self.n - 1)
        k, i, q = self.k, self.i, self.q
        self.y, self.g, self.e, self.f = s.y(k, i, q), s.gy(k, i, q), s.ey(k, i, q), s.fy(k, i, q)
        self.df, self.pi, self.P, self.Q = s.df(k), s.pi(k, i), s.P(k), s.Q(k, i)
        # Σ over who arrives and their local steps, of gradients and of noise.
        self.used, self.noise = s.arrived(k, self.g), s.arrived(k, self.e)

    def over(self, of: Any, weight: Any = 1) -> Any:
        """Return Σ_i weight·Σ_{q < Q_{i,t}}."""
        return self.s.clients(finite_sum("q", 0, self.Q, of) * weight)

    def every(self, of: Any) -> Any:
        """Return Σ_i Σ_{q < Qmax}."""
        return self.s.clients(finite_sum("q", 0, self.Qmax, of))

    def summed(self, fact: Any, weight: Any = 1) -> Any:
        """Return Σ_i weight·Σ_{q < Q_{i,t}} of a fact."""
        return sums(self.kernel, fact, ("q", 0, self.Q), ("i", 0, self.n, weight))


def lemma_1(b: Printed) -> None:
    """Show Lemma 1."""
    proof, s, g, e, f = b.proof, b.s, b.g, b.e, b.f
    apart = squared(e) + squared(g - f) + squared(f)
    proof.step("(4), =", equal(squared(g + e), squared(e + (g - f) + f)), [], at="Lemma 1, (4), first relation")
    second = proof.step(
        "(4), (a)",
        squared(e + (g - f) + f) <= apart * 3,
        squares=[e - (g - f), e - f, g - f - f],
        at="Lemma 1, (4), (a)",
    )
    third = proof.step(
        "(4), (b)",
        apart * 3 <= expr(3 * b.sigma2),
        [s.noise_bound(b.k, b.i, b.q), s.heterogeneity_at(b.k, b.i, b.q), s.bounded_whole(b.k, b.i, b.q)],
        at="Lemma 1, (4), (b)",
    )
    b.lemma = proof.step("Lemma 1", squared(g + e) <= expr(3 * b.sigma2), [second, third], at="Lemma 1")


def lemma_2(b: Printed) -> None:
    """Show Lemma 2; its proof is remarks."""
    proof, s, k, i = b.proof, b.s, b.k, b.i
    F, w, v = s.objective, s.w(k), s.w(k + 1)
    down = total(b.kernel, s.descent(s.d(i, k), v), "i", 0, b.n, s.p(i))
    b.down = proof.step(
        "(5)",
        F(v) <= F(w) + s.dot(b.df, v - w) + squared(v - w) * (b.L / 2),
        [down, s.weights(squared(v - w)), b.kernel.against(s.whole_gradient(k), v - w)],
        says="F(w') ≤ F(w) + ⟨∇F(w), w' − w⟩ + L/2·‖w' − w‖² for w = w[k], w' = w[k + 1]",
        at="Lemma 2, (5)",
    )
    for number, what in enumerate(
        (
            "an integral of ⟨∇F(w_t), w' − w⟩",
            "with ∇F(w) taken out",
            "(a): the Cauchy-Schwarz inequality inside",
            "(b): smoothness inside",
            "the norm taken out",
            "∫ t dt = 1/2",
        ),
        1,
    ):
        proof.remark(
            f"(6), line {number}",
            f"{what}; integrals are no claims of this kernel, whose axiom is (5)",
            f"Lemma 2, (6), line {number}",
        )


def first_part(b: Printed) -> None:
    """Show (7) to (9)."""
    proof, s, kernel, k, i, q, n, eta, L = b.proof, b.s, b.kernel, b.k, b.i, b.q, b.n, b.eta, b.L
    F, w, v, df = s.objective, s.w(k), s.w(k + 1), b.df
    own = s.y(k, i, 0) - s.y(k, i, b.Q)  # Δ_i
    mean = vector_sum("i", 0, n, own * (b.pi / n))  # the aggregated update
    walk = [total(kernel, s.steps_on(k, i, q), "q", 0, b.Q), telescope_vector(kernel, "q", 0, b.Q, s.y(k, i, q))]
    local = vector_sum("q", 0, b.Q, b.g + b.e)
    one = proof.step(
        "(7), first line", F(v) <= F(w) + s.dot(df, v - w) + squared(v - w) * (L / 2), [b.down], at="(7), first line"
    )
    b.delta = _change(b, own, local * eta, walk)
    b.moved = _aggregate(b, mean)
    second = proof.step(
        "(7), second line",
        s.dot(df, v - w) + squared(v - w) * (L / 2) <= -s.dot(df, mean) + squared(mean) * (L / 2),
        [kernel.against(b.moved, x) for x in (df, v - w, mean)],
        says="F(w) + ⟨∇F(w), w' − w⟩ + L/2·‖w' − w‖² ≤ F(w) − ⟨∇F(w), Δ̄⟩ + L/2·‖Δ̄‖²",
        at="(7), second line",
    )
    P1 = -s.clients(s.dot(df, own) * b.pi) / n
    P2 = squared(vector_sum("i", 0, n, own * b.pi)) * (L / (2 * n**2))
    third = proof.step(
        "(7), third line", equal(-s.dot(df, mean) + squared(mean) * (L / 2), P1 + P2), [], at="(7), third line"
    )
    b.step7 = kernel.combine(F(v) <= F(w) + P1 + P2, [(1, one), (1, second), (-1, third)])
    drawn = -b.over(s.dot(df, b.g + b.e), b.pi) * (eta / n)
    inserted = total(kernel, kernel.against(b.delta, df), "i", 0, n, b.pi)
    eight = proof.step("(8)", equal(P1, drawn), [inserted], at="(8)")
    proof.step("(9), =", equal(P1, drawn), [eight], at="(9), first relation")
    still = b.summed(s.noise_meets(b.k, b.i, b.q, df), b.pi)
    full = -b.over(s.dot(df, b.g), b.pi) * (eta / n)
    nine_a = proof.step("(9), (a)", equal(drawn, full), [still], at="(9), (a)")
    gap, quiet = squared(df) - squared(df - b.g), -b.over(squared(b.g), b.pi) * (eta / (2 * n))
    halves = -b.over(gap, b.pi) * (eta / (2 * n)) + quiet
    nine_b = proof.step("(9), (b)", equal(full, halves), [], at="(9), (b)")
    share = b.pi / b.P
    proof.step(
        "(9), (c)",
        equal(halves, -b.over(gap, b.pi) * (eta / (2 * n)) + quiet),
        [],
        at="(9), (c), with the probabilities π of the arrivals, which are 0 or 1",
    )
    parts = lambda one, two: -b.over(squared(df), share) * one + b.over(squared(df - b.g), share) * two + quiet
    half = eta * b.P / (2 * n)
    proof.step("(9), 𝒫", equal(halves, parts(half, half)), [], at="(9), third =")
    more = total(kernel, total(kernel, kernel.square(df), "q", 0, b.Q), "i", 0, n, share * (b.P - 1))
    less = total(kernel, total(kernel, kernel.square(df - b.g), "q", 0, b.Q), "i", 0, n, share * (1 - b.P / n))
    proof.step(
        "(9), ≤",
        parts(half, half) <= parts(eta / (2 * n), eta / 2),
        multipliers=[(eta / (2 * n), more), (eta / 2, less)],
        at="(9), ≤, with 𝒫 in [1, m]",
    )
    b.nine_b = kernel.combine(equal(P1, halves), [(1, eight), (1, nine_a), (1, nine_b)])
    b.first, b.second, b.quiet = P1, P2, quiet


def _change(b: Printed, left: Any, right: Any, walk: Any) -> Any:
    """Return Δ_i = η·Σ (g + e)."""
    return combine_vectors(b.kernel, left, right, [(1, walk[1]), (-1, walk[0])])


def _aggregate(b: Printed, mean: Any) -> Any:
    """Return w[k + 1] − w[k] = −Δ̄."""
    s, kernel, n = b.s, b.kernel, b.n
    all_runs = total(kernel, b.delta, "i", 0, n, b.pi / n)
    return combine_vectors(
        kernel,
        s.w(b.k + 1) - s.w(b.k),
        -mean,
        [(1, s.update(b.k)), (-b.eta / n, s.added("su", b.k)), (1, all_runs)],
    )


def probabilities(b: Printed) -> None:
    """Show (10) to (12)."""
    proof, s, kernel, k, i, n, mu = b.proof, b.s, b.kernel, b.k, b.i, b.n, b.mu
    big, small = variable("big", k), variable("small", k)
    most, least = s.pi(k, big) / b.P, s.pi(k, small) / b.P
    ratio = proof.undecided(
        "π'_max/π'_min ≤ μ'",
        expr(most) <= expr(mu * least),
        "what π is a probability of is not said. Of a fixed schedule it is 0 or 1, and a client that does not arrive "
        "at t has π' = 0; in the long run it needs Appendix B, which is false for the speeds 0.25, 0.59 and 0.95",
        at="before (10), from Appendix B",
    )
    every = s.arrivals(k, expr(1))

    def parts(at: Any) -> list[Any]:
        return [split_sum(kernel, "i", 0, at, n, b.pi), split_sum(kernel, "i", at, at + 1, n, b.pi)]

    def rest(of: Any, at: Any) -> list[Any]:
        return [total(kernel, of(k, i), "i", 0, at), total(kernel, of(k, i), "i", at + 1, n)]

    both = [(1 / b.P, one) for one in rest(s.smallest, big)]
    ten = proof.step(
        "(10), first ≥",
        expr(1) >= most + (n - 1) * least,
        multipliers=[*both, (-1 / b.P, every), *((1 / b.P, one) for one in parts(big))],
        at="(10), first ≥",
    )
    ten_b = proof.step(
        "(10), second ≥",
        expr(most + (n - 1) * least) >= most + (n - 1) / mu * most,
        multipliers=[((n - 1) / mu, ratio)],
        at="(10), second ≥",
    )
    top = proof.step(
        "(10)", expr(most) <= 1 / b.g1, multipliers=[(1 / b.g1, ten), (1 / b.g1, ten_b)], at="(10), second line"
    )
    both = [(1 / b.P, one) for one in rest(s.largest, small)]
    eleven = proof.step(
        "(11), first ≤",
        expr(1) <= least + (n - 1) * most,
        multipliers=[*both, (1 / b.P, every), *((-1 / b.P, one) for one in parts(small))],
        at="(11), first ≤",
    )
    eleven_b = proof.step(
        "(11), second ≤",
        expr(least + (n - 1) * most) <= least + mu * (n - 1) * least,
        multipliers=[(n - 1, ratio)],
        at="(11), second ≤",
    )
    bottom = proof.step(
        "(11)",
        expr(least) >= 1 / b.g2,
        multipliers=[(1 / b.g2, eleven), (1 / b.g2, eleven_b)],
        at="(11), second line",
    )
    share = b.pi / b.P
    proof.step(
        "π' ≤ 1/γ₁", expr(share) <= 1 / b.g1, multipliers=[(1, top), (1 / b.P, s.largest(k, i))], at="before (12)"
    )
    proof.step(
        "π' ≥ 1/γ₂", expr(share) >= 1 / b.g2, multipliers=[(1, bottom), (1 / b.P, s.smallest(k, i))], at="before (12)"
    )
    # (12) does not need them: where nobody is missing π is 1, and terms of who is missing are not negative.
    df, apart = b.df, kernel.square(b.df - b.g)
    work = total(
        kernel, kernel.scale(kernel.combine(expr(b.pi * (b.Q - b.Qmin)) >= 0, []), kernel.square(df)), "i", 0, n
    )
    some = s.arrivals(k, squared(df))
    near = total(kernel, total(kernel, apart, "q", 0, b.Q), "i", 0, n, 1 / b.g1 - b.pi / n)
    after = total(kernel, total(kernel, apart, "q", b.Q, b.Qmax), "i", 0, n)
    whole = total(kernel, split_sum(kernel, "q", 0, b.Q, b.Qmax, squared(df - b.g)), "i", 0, n)
    b.third = b.every(squared(df - b.g)) * (b.eta / (2 * b.g1))
    b.start12 = -squared(df) * (b.eta * b.Qmin / (2 * b.g2)) + b.quiet
    half = b.eta / (2 * n)
    b.twelve = proof.step(
        "(12)",
        b.first <= b.start12 + b.third,
        multipliers=[
            (-1, b.nine_b),
            (half, work),
            (half * b.Qmin, some),
            (b.eta / 2, near),
            (b.eta / (2 * b.g1), after),
            (b.eta / (2 * b.g1), whole),
            (half * b.Qmin * (b.P - 1) + b.eta * b.Qmin / 2 * (1 / n - 1 / b.g2), kernel.square(df)),
        ],
        at="(12)",
    )


def jensen(b: Printed, t: Any, of: Any, *, arriving: bool) -> list[Any]:
    """Return what ‖Σ_i Σ_q v‖² ≤ m·Qmax·Σ_i Σ_q ‖v‖² follows from, over who arrives at update t or all clients."""
    s, kernel, i, q, n, h, p = b.s, b.kernel, b.i, b.q, b.n, b.h, b.p
    weight = (lambda j: s.pi(t, j)) if arriving else (lambda _: 1)
    pairs = kernel.square(of(t, i, q) - of(t, h, p))
    steps, others = ("q", 0, s.Q(t, i), weight(i)), ("p_1", 0, s.Q(t, h), weight(h))
    pairs = sums(kernel, pairs, others, steps, ("i_0", 0, n), ("i", 0, n))
    each = sums(kernel, kernel.square(of(t, i, q)), steps, ("i", 0, n))
    few = kernel.combine(expr(b.Qmax - weight(h) * s.Q(t, h)) >= 0, [])
    return [pairs, total(kernel, kernel.scale(few, each), "i_0", 0, n)]


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
    pairs = sums(kernel, kernel.square(b.g + b.e - s.stochastic(k, i, p)), ("p_1", 0, x), ("q", 0, x))
    sizes = total(kernel, b.lemma, "q", 0, x)
    bound = 3 * eta**2 * b.Qmax**2 * b.sigma2
    less15 = proof.step(
        "(15), ≤",
        squared(steps) * eta**2 <= expr(bound),
        multipliers=[(eta**2 / 2, pairs), (eta**2 * x, sizes)],
        at="(15), ≤",
    )
    near = kernel.combine(squared(s.w(old) - s.y(k, i, x)) <= expr(bound), [(-1, equal15), (1, less15)])
    near = sums(kernel, near, ("x", 0, b.Qmax), ("i", 0, n))
    old_models = sums(kernel, models, ("q", 0, b.Qmax), ("i", 0, n))
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
    added_up, many = vector_sum("r", old, k, s.su(r)), vector_sum("r", old, k + 1, s.su(r))
    uses, claim = [kernel.against(all_of, v) for v in (more, many)], squared(many) * (eta**2 / n**2)
    proof.printed("(14), third =", equal(squared(more), claim), uses, at="(14), third =")
    third = proof.step(
        "(14), third =",
        equal(squared(added), squared(added_up) * (eta**2 / n**2)),
        [kernel.against(update, v) for v in (added, added_up)],
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
        squared(added_up) * (eta**2 / n**2) <= all_steps * (eta**2 * b.tau * b.Qmax / n),
        multipliers=[
            (eta**2 / n**2 / 2, pairs),
            (eta**2 / n**2, later),
            (eta**2 / n**2 * b.tau, inside),
        ],
        at="(14), (a)",
    )
    each = sums(kernel, kernel.at(b.lemma, {"k": r}), ("q", 0, s.Q(r, i), s.pi(r, i)), ("i", 0, n))
    few = kernel.combine(expr(3 * b.sigma2 * (b.Qmax - s.pi(r, h) * s.Q(r, h))) >= 0, [])
    of_update = [(1, each), (1, total(kernel, few, "i_0", 0, n))]
    one = total(kernel, kernel.combine(steps(r) <= expr(3 * b.sigma2 * n * b.Qmax), of_update), "r", old, k)
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
