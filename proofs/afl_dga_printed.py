"""AFL-DGA, Appendices A and B as printed: every displayed relation, one step each, nothing repaired.

In the paper's numbers an average that is first used in round r has τ = 1 there. Its sums over j from t − τ − τ' stand
for the τ + τ' − 1 rounds before t, as their closed form says; those before the first round are left out. Misprints
without consequence are encoded as they are meant, and noted where they stand.
"""

from typing import Any

from boundlab.proofs._afl_dga_rounds import RoundProof
from boundlab.prove import (
    Expr,
    Fact,
    Lin,
    Proof,
    Script,
    equal,
    expr,
    finite_sum,
    squared,
    telescope,
    total,
    vector_sum,
)

_A, _B = "Appendix A", "Appendix B"


class _Printed(RoundProof):
    """Names of what the appendices speak of."""

    def __init__(self, proof: Proof) -> None:
        super().__init__(proof)
        s, t, i = self.s, self.t, self.i
        self.sigma, self.r_i = s.symbol("sigma"), self.since
        self.g, self.e = s.g(i, self.r_i, self.q), s.e(i, self.r_i, self.q)
        self.spread2 = self.sigma**2 + self.G**2
        self.local = (s.symbol("K_m") + s.symbol("D_m")) ** 2 * self.G**2
        self.count = s.both_ages(t, i)
        self.steps = finite_sum("h", s.before(t, i), t, squared(s.a(self.h) * self.eta))

    def of(self, value: Any) -> Expr:
        """Return (1/N²)·Σ over clients of (1/K)·Σ over local steps."""
        return self.s.used(self.t, value) / self.n  # type: ignore[no-any-return]

    def each(self, fact: Fact) -> Fact:
        """Return the same of a fact."""
        inner = total(self.kernel, fact, "q", 0, self.K, 1 / self.K)
        return total(self.kernel, inner, "i", 0, self.n, 1 / self.n**2)


def _lemma(b: _Printed) -> tuple[Fact, Fact]:
    """Appendix A; return Lemma 1 and the bound in (2) before Assumption 2."""
    s, t, i, eta, proof, kernel = b.s, b.t, b.i, b.eta, b.proof, b.kernel
    far = squared(s.w(t) - s.z(i, b.r_i, b.q))
    proof.remark(
        "the trajectory",
        "that j ≤ K_m + D_m, and which server steps and own steps a point lacks; printed with indices that cannot be "
        "read as sums",
        at=f"{_A}, before (1)",
    )
    first = proof.step(
        "(1)",
        far <= b.steps + eta**2 * b.local,
        [b.kernel.square(s.w(t) - s.z(i, b.r_i, b.q))],
        at=f"{_A}, (1)",
        says="‖w^t − w_ij‖² ≤ Σ ‖η·ḡ^j‖² + η²·(K_m + D_m)²·G²: the square of a sum by the sum of the squares. One "
        "client that steps once, where f' = 1: after three rounds ‖w^3 − w^0‖² = 9η², and the right side is 4η²",
    )
    size = squared(s.a(t) * eta)
    proof.step(
        "(2), line 1",
        equal(size, squared(s.used(t, b.g + b.e)) * eta**2),
        [s.average(t), s.slopes(t), s.noise(t)],
        at=f"{_A}, (2)",
    )
    jensen = proof.step(
        "(2), line 2",
        size <= b.of(squared(b.g + b.e)) * eta**2,
        [s.average(t), s.slopes(t), s.noise(t), b.each(kernel.square(b.g + b.e))],
        at=f"{_A}, (2)",
        says="Jensen, with 1/N² in place of 1/N. Two clients with f' = 1: ‖ḡ‖² = 1, and the right side is 1/2",
    )
    proof.step("(2), line 3", equal(b.of(squared(b.g + b.e)), b.of(squared((b.g + b.e - b.g) + b.g))), at=f"{_A}, (2)")
    none = s.unbiased(b.e, b.g)
    apart = proof.step(
        "(2), line 4", b.of(squared(b.g + b.e)) <= b.of(squared(b.e) + squared(b.g)), [b.each(none)], at=f"{_A}, (2)"
    )
    variance = proof.step(
        "(2), line 5",
        b.of(squared(b.e) + squared(b.g)) <= b.of(squared(b.g)) + b.sigma**2 / b.n,
        [b.each(s.variance(b.e))],
        at=f"{_A}, (2)",
    )
    slope = proof.step(
        "Assumption 3", squared(b.g) <= expr(b.G**2), [s.moment(b.t, i, b.q), none], squares=[b.e], at=f"{_A}, (2)"
    )
    both, wide = b.of(squared(b.g)) + b.sigma**2 / b.n, expr(b.spread2 / b.n)
    proof.printed("(2), line 6", equal(both, wide), [b.each(slope)], at=f"{_A}, (2)")
    proof.step("(2), line 6", both <= wide, [b.each(slope)], at=f"{_A}, (2)")
    noisy = proof.step(
        "(2)",
        squared(s.a(t)) <= b.of(squared(b.g)) + b.sigma**2 / b.n,
        multipliers=[(1 / eta**2, jensen), (1, apart), (1, variance)],
        at=f"{_A}, (2)",
    )
    one = proof.step("(2), the whole", size <= expr(eta**2 * b.spread2 / b.n), [noisy, b.each(slope)], at=f"{_A}, (2)")
    lo = s.before(t, i)
    steps = total(kernel, kernel.at(one, {"t": b.h}), "h", lo, t)
    rounds = finite_sum("h", lo, t, expr(eta**2 * b.spread2 / b.n))
    each = proof.step("the steps between", b.steps <= rounds, [steps], at=f"{_A}, after (2)")
    each_one = expr(eta**2 * b.spread2 / b.n)
    # From t − τ − τ' to t − 1 there are τ + τ' rounds, one more than is printed.
    longer = finite_sum("h", t - b.count - 1, t, each_one)
    proof.printed("how many these are", equal(longer, each_one * b.count), [], at=f"{_A}, after (2)")
    many = proof.step(
        "how many these are",
        rounds <= expr(b.count * eta**2 * b.spread2 / b.n),
        multipliers=[(eta**2 * b.spread2 / b.n, s.lasting(t, i))],
        at=f"{_A}, after (2)",
        says="Σ of η²/N·(σ² + G²) ≤ η²/N·(τ + τ' − 1)·(σ² + G²), over the rounds that there are",
    )
    proof.step("Lemma 1", far <= b.steps + eta**2 * b.local, [first], at=f"{_A}, end")
    lemma = proof.step(
        "Lemma 1 with (2)",
        far <= expr(b.count * eta**2 * b.spread2 / b.n + eta**2 * b.local),
        [first, each, many],
        at=f"{_B}, before (6)",
    )
    return lemma, noisy


def _inner_product(b: _Printed) -> Fact:
    """(4)."""
    s, t, eta, proof, kernel = b.s, b.t, b.eta, b.proof, b.kernel
    at, D, a, v = f"{_B}, (4)", s.df(t), s.a(t), s.used(t, b.g)
    step = s.dot(D, s.w(t + 1) - s.w(t))
    one = proof.step("(4), line 1", equal(step, s.dot(D, a * -eta)), [kernel.against(s.move(t), D)], at=at)
    two = proof.step("(4), line 2", equal(s.dot(D, a * -eta), s.dot(D, a) * -eta), at=at)
    three = proof.step(
        "(4), line 3",
        equal(s.dot(D, a) * -eta, s.dot(D, v) * -eta),
        [kernel.against(s.average(t), D), kernel.against(s.slopes(t), D), kernel.against(s.noise(t), D)],
        at=at,
        says="E⟨∇f(w^t), ḡ^t⟩ = E⟨∇f(w^t), mean of ∇f_i(w_ij)⟩: as if stored noise were drawn anew. One client with "
        "f = x²/2 (then linear) that steps once: E⟨w^1, ξ⟩ = −η·E‖ξ‖² in round 1",
    )
    four = proof.step(
        "(4), line 4", equal(s.dot(D, v) * -eta, (squared(D - v) - squared(D) - squared(v)) * (eta / 2)), at=at
    )
    return proof.step(
        "(4)",
        equal(step, (squared(D - v) - squared(D) - squared(v)) * (eta / 2)),
        multipliers=[(1, one), (1, two), (1, three), (1, four)],
        at=at,
    )


def _over_steps(b: _Printed, of: Lin) -> Lin:
    """Return the mean over the local steps of one client."""
    return vector_sum("q", 0, b.K, of / b.K)


def _difference(b: _Printed) -> Fact:
    """(5)."""
    s, t, i, L, proof, kernel = b.s, b.t, b.i, b.L, b.proof, b.kernel
    at, K, half = f"{_B}, (5)", b.K, b.eta / 2
    from_v = squared(s.df(t) - s.used(t, b.g))
    client = s.d(i, t) - _over_steps(b, b.g)
    one = proof.step(
        "(5), c1",
        from_v * half <= s.mean(lambda _: squared(client)) * half,
        [kernel.against(s.whole(t), v) for v in (s.df(t), s.used(t, b.g))]
        + [s.over_clients(kernel.square(client - s.df(t) + s.used(t, b.g)))],
        at=at,
    )
    inside = squared(_over_steps(b, s.d(i, t) - b.g))
    two = proof.step(
        "(5), line 3", equal(s.mean(lambda _: squared(client)) * half, s.mean(lambda _: inside) * half), at=at
    )
    gap = s.d(i, t) - b.g
    own = total(kernel, kernel.square(gap - _over_steps(b, gap)), "q", 0, K, 1 / K)
    three = proof.step(
        "(5), c2", s.mean(lambda _: inside) * half <= s.used(t, squared(gap)) * half, [s.over_clients(own)], at=at
    )
    far = squared(s.w(t) - s.z(i, b.r_i, b.q))
    four = proof.step(
        "(5), c3",
        s.used(t, squared(gap)) * half <= s.used(t, far * L**2) * half,
        [b.over_used(s.smooth(s.d(i, t), b.g))],
        at=at,
    )
    return proof.step(
        "(5)",
        from_v * half <= s.used(t, far * L**2) * half,
        multipliers=[(1, one), (1, two), (1, three), (1, four)],
        at=f"{_B}, (6)",
    )


def appendices(proof: Proof) -> None:
    """Lemma 1 and Theorem 1."""
    b = _Printed(proof)
    s, t, i, eta, n, T, L, sigma, G, kernel = b.s, b.t, b.i, b.eta, b.n, b.T, b.L, b.sigma, b.G, b.kernel
    lemma, noisy = _lemma(b)
    f = lambda k: s.objective(s.w(k))
    mean, v = b.of(squared(b.g)), s.used(t, b.g)
    descent = proof.step(
        "smoothness",
        f(t + 1) <= f(t) + s.dot(s.df(t), s.w(t + 1) - s.w(t)) + squared(s.w(t + 1) - s.w(t)) * (L / 2),
        [s.over_clients(s.descent(s.d(i, t), s.w(t + 1))), kernel.against(s.whole(t), s.w(t + 1) - s.w(t))],
        at=f"{_B}, start",
    )
    second = proof.step(
        "(3)",
        squared(s.w(t + 1) - s.w(t)) * (L / 2) <= (mean + sigma**2 / n) * (eta**2 * L / 2),
        [s.move(t), noisy],
        at=f"{_B}, (3)",
    )
    proof.step(
        "(3), the two parts",
        equal((mean + sigma**2 / n) * (eta**2 * L / 2), mean * (eta**2 * L / 2) + eta**2 * L * sigma**2 / (2 * n)),
        at=f"{_B}, (3)",
    )
    product, five = _inner_product(b), _difference(b)
    ages = finite_sum("i", 0, n, expr(b.count))
    drift = ages * (L**2 * eta**3 * b.spread2 / (2 * n**2)) + L**2 * eta**3 * b.local / 2
    clients = s.used(t, b.count * eta**2 * b.spread2 / n + eta**2 * b.local) * (L**2 * eta / 2)
    from_v = squared(s.df(t) - v)
    six = proof.step("(6)", from_v * (eta / 2) <= clients, [five, b.over_used(lemma)], at=f"{_B}, (6)")
    summed = proof.step("(6), the sum", equal(clients, drift), at=f"{_B}, (6)")
    together = proof.step(
        "(3), (4) and (6)",
        f(t + 1) - f(t)
        <= drift - (squared(s.df(t)) + squared(v)) * (eta / 2) + (mean + sigma**2 / n) * (eta**2 * L / 2),
        [descent, second, product, six, summed],
        at=f"{_B}, after (6)",
        says="the three together; the sum over the clients is missing in print",
    )
    slope = proof.step(
        "the gradients' sizes",
        mean <= expr(G**2 / n),
        [b.each(s.moment(b.t, i, b.q)), b.each(s.unbiased(b.e, b.g)), b.each(kernel.square(b.e))],
        at=f"{_B}, after (6)",
    )
    one = proof.step(
        "one round",
        f(t + 1) - f(t)
        <= drift - squared(s.df(t)) * (eta / 2) + eta**2 * L * sigma**2 / (2 * n) + eta**2 * L * G**2 / (2 * n),
        [together, slope],
        squares=[v],
        at=f"{_B}, after (6)",
    )
    moved = proof.step(
        "divided by η/2",
        squared(s.df(t)) <= (f(t) - f(t + 1)) * (2 / eta) + drift * (2 / eta) + L * eta * (sigma**2 + G**2) / n,
        [one],
        at=f"{_B}, before the end",
        says="printed with η³/2 in place of η² in two terms; the next display has η²",
    )
    last = proof.step(
        "telescoping",
        s.metric()
        <= (f(0) - f(T)) * (2 / (eta * T))
        + eta * L * b.spread2 / n
        + L**2 * eta**2 * b.local
        + L**2 * eta**2 * b.spread2 * s.symbol("tau_sum") / n**2,
        [total(kernel, moved, "t", 0, T, 1 / T), telescope(kernel, "t", 0, T, f(t)), s.sum_of_ages()],
        at=f"{_B}, end",
    )
    bound = s.formula(sum(s.theorem.bound.terms.values()))
    proof.conclude(proof.step("Theorem 1", s.metric() <= expr(bound), [last, s.start_gap(s.w(T))], at="Theorem 1"))


PROOFS = (
    Script(
        "afl_dga.theorem1",
        "Appendices A and B, every display as printed",
        "Li and Gong, Appendices A and B",
        appendices,
        "afl_dga.theorem1",
        printed=True,
    ),
)
