"""FedFa's Theorem 1, its appendix as printed: every displayed relation, one step each, nothing repaired.

The proof begins with the average of models (mode param), where η_g is 1; η_ℓ is constant. w^(t−τ_k) is the model that
a run of the window began at, w^(t') the earliest of them. y_k for a client k = 1 … m, whether it is in the window or
not, is the run of client k that arrives next, so that its noise is drawn after all that is known at update t. What is
said of a client in the window as of one that is drawn is asked for K = 1 alone, where it cannot be in there twice.

By hand, with f = x²/2 for |x| ≤ 1 and slope ±1 outside, and η_ℓ = 1 unless said:
(12): one client, K = 2, start after_full, w⁰ = 1. The window fills with models 0, so w¹ = 0; then it holds runs that
began at 1 and at 0, whose mean is ½, where w^t' is 1.
(18): one client, K = 3, f' = x on [0, 1], 0 left and 1 right of it, w⁰ = 1: w¹ = w² = 0, but the changes of the window
of t = 1 are −1, −1 and 0, and add up to −⅔.
(15), (26) first line: the paper's mean is over a client that is uniform in [m], which the theorem does not assume, so
that they are not decided. Of one schedule they are false: f_0 = f, f_1(x) = f(x − 1), η_ℓ = ⅛, K = 1, w⁰ = 0, client 0
arrives: nothing moves and ⟨∇f, ∇F_0⟩ = 0, but ‖∇f‖² = ¼.
(24), A: one client, K = 2, w⁰ = 0, noise ±1: w¹ is moved by −e/2 by a noise e, so that the next run has E⟨e, ∇F⟩ = −½.
It fails only where a client stands in the window twice, as the queue of Algorithm 1 allows.
After (24): two clients, one of them with slope 0 and one with slope 1, L = 1: T_5 = ¼, T_4 = ⅛.
(26) second line: one client, K = 2: w^(t') is older than w^t, and the sum does not telescope.
In mode delta w^(t') is w^t, so that (12) and (18) hold; what is wrong with (15) and (24) is wrong there, too.
"""

from boundlab.proofs._fedfa_appendix import UNIFORM, Appendix, first, first_again, model, third
from boundlab.proofs._fedfa_runs import window_noise
from boundlab.prove import Proof, Script, equal, expr, finite_sum, squared, total, vector_sum


def appendix(proof: Proof) -> None:
    """From (11) to the end."""
    b = Appendix(proof)
    model(b)
    first(b)
    third(b)
    first_again(b)
    _second(b)
    _end(b)


def _second(b: Appendix) -> None:
    """(24): T_2."""
    s, kernel, K, Q, n, t = b.s, b.kernel, b.K, b.Q, b.n, b.t
    weight = b.L * b.rate**2 / 2
    noise, pull = b.over_window(lambda a: s.er(a) * b.eta), b.over_window(lambda a: s.gr(a) * b.eta)
    added = {}
    for name in ("gr", "er"):
        added[name] = total(kernel, s.added(name, b.arrival(b.j)), "j_0", 1, K + 1, b.eta)
    changes = b.over_window(b.change)
    facts = [kernel.against(one, v) for one in added.values() for v in (changes, noise, pull)]
    b.step("(24), second =", "(24), second line", equal(b.t2, squared(noise + pull) * (weight / K**2)), facts)
    b.step(
        "(24), A",
        "(24), A",
        equal(squared(noise + pull) * (weight / K**2), (squared(noise) + squared(pull)) * (weight / K**2)),
    )
    _, apart = window_noise(b.w, t - K, 1)
    each = total(kernel, s.independent(s.e(b.arrival(b.j), 0, b.q), "q", 0, Q), "j_0", 1, K + 1)
    inserted = [
        total(kernel, kernel.against(s.added("er", b.arrival(b.j)), v), "j_0", 1, K + 1)
        for v in (s.er(b.arrival(b.j)), vector_sum("q", 0, Q, s.e(b.arrival(b.j), 0, b.q)))
    ]
    variances = b.sum_window(lambda a: finite_sum("q", 0, Q, squared(s.e(a, 0, b.q)) * b.eta**2))
    left, right = (squared(noise) + squared(pull)) * (weight / K**2), (variances + squared(pull)) * weight
    uses = [kernel.at(apart, {"h_1": K}), each, *inserted]
    b.printed("(24), B", "(24), B, without 1/K²", equal(left, right), uses)
    b.step("(24), B", "(24), B, with 1/K²", equal(left, right / K**2), uses)
    one = total(kernel, total(kernel, s.variance(s.e(b.arrival(b.j), 0, b.q)), "q", 0, Q), "j_0", 1, K + 1)
    gradient = lambda a, q: s.g(a, 0, q)
    squares = b.sum_window(lambda a: finite_sum("q", 0, Q, squared(gradient(a, b.q)) * b.eta**2))
    bound = weight * b.beta * b.sigma**2
    j_3, q_3 = s.index("j_3", 1), s.index("q_3")
    apart = kernel.square(gradient(b.arrival(b.j), b.q) - gradient(b.arrival(j_3), q_3))
    pairs = total(kernel, total(kernel, apart, "q_3", 0, Q), "j_3", 1, K + 1)
    pairs = total(kernel, total(kernel, pairs, "q", 0, Q), "j_0", 1, K + 1)
    spare = kernel.combine(expr(bound * (1 - 1 / K)) >= 0, [])
    uses = [one, pairs, spare, *(kernel.against(added["gr"], v) for v in (pull, added["gr"].right))]
    larger = squares * (weight * Q / K) + bound
    b.printed("(24), ≤", "(24), ≤, without 1/K²", right <= larger, uses)
    b.step("(24), ≤", "(24), ≤, with 1/K²", right / K**2 <= larger, uses)
    y = lambda i, q: s.g(s.coming(t, i), 0, q)
    five = finite_sum("i", 0, n, finite_sum("q", 0, Q, squared(y(b.i, b.q)) * b.eta**2))
    b.t5 = five * (weight * Q / n)
    b.undecided(
        "(24), the mean over the clients",
        "(24), the next =, for K = 1",
        equal(squares * (weight * Q / K), b.t5),
        UNIFORM,
    )
    b.step(
        "(24), last =",
        "(24), last line: the sum over the window has K equal terms",
        equal(finite_sum("j_0", 1, K + 1, five * (weight * Q / (n * K))), b.t5),
    )
    # In (23) the minus stands in front of T_4, which is a square.
    b.printed("T_4 and T_5", "after (24)", b.t4 + b.t5 <= 0, [])
    b.step("T_4 and T_5", "after (24), with the minus of (23)", b.t5 <= b.t4, [])


def _end(b: Appendix) -> None:
    """(25), (26) and Theorem 1."""
    s, t, T = b.s, b.t, b.s.T
    f = s.objective
    drop = lambda k: f(s.w(s.earliest(k))) - f(s.w(k + 1))
    weight = b.rate * b.alpha
    noise = b.L / 2 * b.rate**2 * b.beta * b.sigma**2
    k = s.k
    slope = lambda at: squared(s.gradient(at))
    b.step(
        "(25)",
        "(25), for K = 1",
        f(s.w(t + 1)) <= f(s.w(b.old)) - squared(b.slope) * (weight / 2) + b.noise1 + noise,
        [
            b.known[name]
            for name in (
                "(13), first ≤",
                "(13), second ≤",
                "(14)",
                "(15), second =",
                "(15), third =",
                "(15), fourth =",
                "(23)",
                "(24), second =",
                "(24), A",
                "(24), B",
                "(24), ≤",
                "(24), the mean over the clients",
                "T_4 and T_5",
            )
        ],
        context=b.one,
    )
    left = finite_sum("k", 0, T, slope(k)) * weight
    rest = finite_sum("k", 0, T, drop(k)) * 2 + T * (b.noise1 + noise)
    b.undecided("(26), first ≤", "(26), first line, for K = 1 (the noise inside of the sum)", left <= rest, UNIFORM)
    size = 3 * b.rate * b.L**2 * b.alpha * b.beta * b.sum3
    last = expr(2 * s.symbol("F0") + T * (size * (b.rate**2 * b.tau**2 + b.Q) + noise))
    b.step("(26), second ≤", "(26), second line", rest <= last, [])
    b.proof.remark("τ_max ≪ T", "0 ≤ t − τ_max ≤ t' ≤ t ≤ T", "after (26)")
    bound = sum((s.formula(one) for one in s.theorem.bound.expressions().values()), start=0 * b.L)
    b.step("Theorem 1", "Theorem 1", s.metric() <= expr(bound), [])


PROOFS = (
    Script(
        "fedfa.theorem1",
        "the appendix, every display as printed",
        "FedFa, appendix",
        appendix,
        "fedfa.theorem1",
        printed=True,
    ),
)
