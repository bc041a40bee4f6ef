"""FedCompass, Appendix C as printed, from Lemma 1 to (12).

S_t is who arrives at update t. Every client i has a run at every t, of which the paper speaks in (9) to (16) whether
it arrives or not; π_i is the probability that client i arrives at t, which is 0 or 1 for a schedule that does not
depend on the noise.
"""

from typing import Any

from boundlab.prove import (
    Proof,
    combine_vectors,
    equal,
    expr,
    finite_sum,
    split_sum,
    squared,
    telescope_vector,
    total,
    variable,
    vector_sum,
)


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
        return total(self.kernel, total(self.kernel, fact, "q", 0, self.Q), "i", 0, self.n, weight)


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
    pairs = total(kernel, total(kernel, pairs, "p_1", 0, s.Q(t, h), weight(h)), "q", 0, s.Q(t, i), weight(i))
    pairs = total(kernel, total(kernel, pairs, "i_0", 0, n), "i", 0, n)
    each = kernel.square(of(t, i, q))
    each = total(kernel, total(kernel, each, "q", 0, s.Q(t, i), weight(i)), "i", 0, n)
    few = kernel.combine(expr(b.Qmax - weight(h) * s.Q(t, h)) >= 0, [])
    return [pairs, total(kernel, kernel.scale(few, each), "i_0", 0, n)]
