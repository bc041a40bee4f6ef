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

from typing import Any

from boundlab.proofs._along import square_of_sum
from boundlab.proofs.fedfa import Lemma, gradients, walked, window_noise
from boundlab.prove import (
    Fact,
    Proof,
    Script,
    VectorFact,
    equal,
    expr,
    finite_sum,
    scalar,
    squared,
    sums,
    telescope_vector,
    total,
    variable,
    vector_sum,
)

# FedFa's appendix as printed, first part: its quantities, and (11) to (23).


class Appendix:
    """The quantities of the appendix, at update t.

    Parameters
    ----------
    proof
        What is written.
    """

    # What is shown on the way, and the paper's T_2 … T_5.
    rest: Any
    bound3: Any
    noise1: Any
    e1: Any
    t2: Any
    t3: Any
    t4: Any
    t5: Any

    def __init__(self, proof: Proof) -> None:
        self.w = Lemma(proof)
        s = self.s = self.w.s
        self.proof, self.kernel, self.t, self.q, self.i, self.j = proof, s.kernel, s.t, s.q, s.i, s.index("j_0", 1)
        self.eta, self.K, self.Q, self.n, self.L, self.rate = s.step, s.K, s.Q, s.n, s.symbol("L"), scalar(1)
        self.old = s.earliest(self.t)
        self.sum3 = s.symbol("sigma_l") ** 2 + s.symbol("sigma_g") ** 2 + s.symbol("G_sq")
        self.tau, self.alpha, self.beta = s.symbol("tau_max"), self.Q * self.eta, self.Q * self.eta**2
        self.slope = s.gradient(self.old)
        # One run in the window: the run that arrives is nobody's but its client's.
        self.one, _ = s.kernel.split("window", 1)
        self.sigma, self.known = s.symbol("sigma_l"), dict[str, Fact]()

    def arrival(self, j: Any) -> Any:
        """Return the arrival at place j of the window, 1 ≤ j ≤ K."""
        return self.t - self.K + j

    def over_window(self, of: Any) -> Any:
        """Return the sum of a vector over the window."""
        return vector_sum("j_0", 1, self.K + 1, of(self.arrival(self.j)))

    def sum_window(self, of: Any) -> Any:
        """Return the sum of an expression over the window."""
        return finite_sum("j_0", 1, self.K + 1, of(self.arrival(self.j)))

    def steps(self, of: Any) -> Any:
        """Return η·Σ over local steps of a vector."""
        return vector_sum("q", 0, self.Q, of(self.q) * self.eta)

    def sum_steps(self, of: Any) -> Any:
        """Return η·Σ over local steps of an expression."""
        return finite_sum("q", 0, self.Q, of(self.q) * self.eta)

    def mean(self, q: Any) -> Any:
        """Return (1/m)·Σ_k ∇F_k(y_k,q)."""
        return self.s.mean_vector(lambda i: self.s.g(self.s.coming(self.t, i), 0, q))

    def third(self, q: Any) -> Any:
        """Return T_3 = E‖∇f(w^t') − (1/m)·Σ_k ∇F_k(y_k,q)‖²."""
        return squared(self.slope - self.mean(q))

    def change(self, a: Any) -> Any:
        """Return Δ of arrival a, with the sign of (14): η·Σ g."""
        return self.steps(lambda q: self.s.sampled(a, 0, q))

    def step(self, name: str, at: str, claim: Any, uses: Any = (), **more: Any) -> Fact:
        """Write down a display."""
        fact = self.known[name] = self.proof.step(name, claim, uses, at=f"appendix, {at}", **more)
        return fact

    def printed(self, name: str, at: str, claim: Any, uses: Any = ()) -> None:
        """Decide a display as it is printed, where the next step says what is meant."""
        self.proof.printed(name, claim, uses, at=f"appendix, {at}")

    def undecided(self, name: str, at: str, claim: Any, why: str) -> Fact:
        """Write down a display that the setting has no words for, for K = 1."""
        fact = self.known[name] = self.proof.undecided(name, claim, why, at=f"appendix, {at}", context=self.one)
        return fact


# The paper's mean is E_H·E_(i ~ [m])·E_(g_i | i, H), by the line before (15).
UNIFORM = (
    "the mean is taken over i uniform in [m], which no schedule of clients with speeds of their own is; the theorem "
    "does not assume it"
)


def model(b: Appendix) -> None:
    """(11), (12) and Lemma 1."""
    s, kernel, t, K = b.s, b.kernel, b.t, b.K
    ends, begins = b.over_window(lambda a: s.z(a, 0, b.Q)), b.over_window(lambda a: s.z(a, 0, 0))
    changes = b.over_window(b.change)
    b.step("(11), first =", "(11)", equal(squared(s.w(t + 1) - ends / K), 0), [s.update(t)])
    walk = kernel.at(walked(b.w, b.Q), {"a": b.arrival(b.j)})
    runs = total(kernel, walk, "j_0", 1, K + 1)
    b.step(
        "(11), second =",
        "(11), with η_g = 1",
        equal(squared(ends / K - begins / K + changes * (b.rate / K)), 0),
        [kernel.against(runs, v) for v in (ends, begins, changes)],
    )
    gradients(b.w)
    one = b.step(
        "(12)",
        "(12), second =: all models of the window are w^t'",
        equal(squared(begins / K - s.w(b.old)), 0),
        [s.update(t)],
    )
    b.step("Lemma 1", "Lemma 1", squared(s.sampled(s.a, 0, b.q)) <= expr(3 * b.sum3), [b.w["second"]])
    # What (12) says, as (13) uses it.
    rest = s.w(t + 1) - s.w(b.old) + changes / K
    b.rest = b.kernel.combine(
        squared(rest) <= expr(scalar(0)),
        [
            (-1, one),
            *((1, fact) for fact in _moved(b, rest, begins / K - s.w(b.old), runs)),
        ],
    )


def _moved(b: Appendix, rest: Any, gap: Any, runs: VectorFact) -> list[Fact]:
    """(11), twice: ‖rest‖² = ‖gap‖², for w^(t+1) = (1/K)·Σ of the models − (1/K)·Σ Δ."""
    test = rest + gap
    return [
        b.kernel.combine(
            equal(squared(gap) - squared(rest), 0),
            [(-1, b.kernel.against(b.s.update(b.t), test)), (-1 / b.K, b.kernel.against(runs, test))],
        )
    ]


def first(b: Appendix) -> None:
    """(13) to (16), and what (13) is from (12)."""
    s, kernel, t, K, q = b.s, b.kernel, b.t, b.K, b.q
    changes = b.over_window(b.change)
    f = s.objective
    mean = changes / K
    b.t2 = squared(changes) * (b.L * b.rate**2 / (2 * K**2))
    t1 = b.sum_window(lambda a: s.dot(b.slope, b.change(a))) * (-b.rate / K)
    down = s.over_clients(s.descent(s.d(b.i, b.old), s.w(t + 1)))
    b.step(
        "(13), first ≤",
        "(13), first line",
        f(s.w(t + 1)) <= f(s.w(b.old)) - s.dot(b.slope, mean) * b.rate + squared(mean) * (b.L * b.rate**2 / 2),
        [down, *_small(b, changes)],
    )
    b.step(
        "(13), second ≤",
        "(13), second line",
        equal(-s.dot(b.slope, mean) * b.rate + squared(mean) * (b.L * b.rate**2 / 2), t1 + b.t2),
    )
    inner = b.sum_window(lambda a: b.sum_steps(lambda q: s.dot(b.slope, s.sampled(a, 0, q))))
    b.step("(14)", "(14), second =", equal(t1, inner * (-b.rate / K)))
    y = lambda i, q: s.g(s.coming(t, i), 0, q)
    noisy = lambda i, q: s.sampled(s.coming(t, i), 0, q)
    every = lambda of: finite_sum("i", 0, b.n, b.sum_steps(lambda q: s.dot(b.slope, of(b.i, q)))) * (-b.rate / b.n)
    b.undecided("(15), second =", "(15), second =, for K = 1", equal(inner * (-b.rate / K), every(noisy)), UNIFORM)
    s.index("i_0", 0, b.n - 1)
    still = [s.unbiased(s.e(s.coming(t, b.i), 0, q), v) for v in (s.d(variable("i_0"), b.old),)]
    still = [total(kernel, one, "i_0", 0, b.n, 1 / b.n) for one in still]
    still = [total(kernel, total(kernel, one, "q", 0, b.Q, b.eta), "i", 0, b.n) for one in still]
    b.step("(15), third =", "(15), third =", equal(every(noisy), every(y)), still)
    b.e1 = b.sum_steps(lambda q: s.dot(b.slope, b.mean(q))) * -b.rate
    b.step("(15), fourth =", "(15), fourth =", equal(every(y), b.e1))
    one, two = b.slope, b.mean(q)
    b.step("⟨a, b⟩", "before (16)", equal(s.dot(one, two), (squared(one) + squared(two) - squared(one - two)) / 2))
    b.t4 = b.sum_steps(lambda q: squared(b.mean(q))) * (b.rate / 2)
    b.step(
        "(16)",
        "(16)",
        equal(b.e1, squared(b.slope) * (-b.rate * b.alpha / 2) - b.t4 + b.sum_steps(b.third) * (b.rate / 2)),
    )


def _small(b: Appendix, changes: Any) -> list[Fact]:
    """Return that what (12) says is 0 has product 0 with ∇f(w^t') and with Σ Δ, and that it is 0."""
    s, kernel, w = b.s, b.kernel, b.w
    rest = s.w(b.t + 1) - s.w(b.old) + changes / b.K
    long = s.over_clients(s.bounded_gradient(s.d(b.i, b.old)))
    jensen = s.over_clients(kernel.square(s.d(b.i, b.old) - b.slope))
    slope = kernel.combine(squared(b.slope) <= expr(w.g**2), [(1, long), (1, jensen), (1, w.root_g)])
    s.index("j_2", 1)
    steps = kernel.at(w["steps"], {"a": b.arrival(b.j), "h": b.Q})
    own = lambda j: vector_sum("q", 0, b.Q, s.sampled(b.arrival(j), 0, b.q))
    sizes, weights = (lambda _: w.c * b.Q), (lambda _: b.eta)
    pairs = square_of_sum(kernel, steps, ("j_0", "j_2"), (1, b.K + 1), own, sizes, weights)
    size = b.K * b.Q * b.eta * w.c
    far = kernel.combine(squared(changes) <= expr(size**2), [(1, pairs)])
    zero = scalar(0)
    return [
        b.rest,
        *(kernel.norms(slope, b.rest, b.slope, rest, w.g, zero, sign) for sign in (1, -1)),
        *(kernel.norms(far, b.rest, changes, rest, size, zero, sign) for sign in (1, -1)),
    ]


def third(b: Appendix) -> None:
    """(17) to (21): T_3."""
    s, kernel, t, q, i, old = b.s, b.kernel, b.t, b.q, b.i, b.old
    run = s.coming(t, i)
    here, began, y = s.d(i, old), s.g(run, 0, 0), s.g(run, 0, q)
    mean = b.slope - b.mean(q)
    jensen = s.over_clients(kernel.square(here - y - mean))
    split = s.mean(lambda _: squared(here - began + began - y))
    b.step("(17), first =", "(17), first line (≤ where = is printed)", b.third(q) <= split, [jensen])
    two = s.mean(lambda _: squared(here - began) + squared(began - y)) * 2
    b.step(
        "(17), second ≤",
        "(17), second line",
        split <= two,
        [s.over_clients(kernel.square(here - began - (began - y)))],
    )
    far = s.mean(lambda _: squared(s.w(old) - s.z(run, 0, 0)) + squared(s.z(run, 0, 0) - s.z(run, 0, q))) * (2 * b.L**2)
    own = s.its_own(t, i, old)
    other = s.d(s.c(run, 0), old)
    late = kernel.combine(
        squared(here - began) <= squared(s.w(old) - s.z(run, 0, 0)) * b.L**2,
        [(1, s.smooth(other, began)), (1, kernel.against(own, other + here - began * 2))],
    )
    drift = s.smooth(began, y)
    b.step("(17), third ≤", "(17), third line", two <= far, [s.over_clients(late), s.over_clients(drift)])
    _staleness(b)
    q_1 = s.index("q_1", 0, b.Q - 1)
    added_up = squared(vector_sum("q", 0, q_1, s.sampled(s.a, 0, q) * b.eta))
    way = kernel.at(walked(b.w, q_1), {})
    lost = squared(s.z(s.a, 0, 0) - s.z(s.a, 0, q_1))
    b.step(
        "(20), second ≤",
        "(20), second line (the first = names the model that the run began at)",
        lost <= added_up,
        [kernel.against(way, v) for v in (way.left, way.right)],
    )
    steps = kernel.at(b.w["steps"], {"h": q_1})
    b.step(
        "(20), third ≤",
        "(20), third line",
        added_up <= expr(3 * q_1 * (q_1 * b.eta**2) * b.sum3),
        multipliers=[(b.eta**2, steps), (-(b.eta**2) * q_1**2, b.w.root_c)],
    )
    size = 6 * b.L**2 * b.sum3
    first = size * b.rate**2 * b.Q * b.tau**2 * b.beta
    parts = first + size * q_1 * (q_1 * b.eta**2)
    b.step("(21), first ≤", "(21), first line", b.third(q_1) <= expr(parts), [])
    more = size * b.beta * (b.rate**2 * b.Q * b.tau**2 + q_1)
    room = kernel.combine(expr(b.Q - q_1) >= 0, [])
    last = size * b.Q * b.beta * (b.rate**2 * b.tau**2 + 1)
    b.step("(21), second ≤", "(21), second line", expr(parts) <= more, multipliers=[(size * b.eta**2 * q_1, room)])
    b.bound3 = last
    b.step("(21), third ≤", "(21), third line", expr(more) <= last, multipliers=[(size * b.beta, room)])
    names = ("(21), first ≤", "(21), second ≤", "(21), third ≤")
    b.t3 = kernel.combine(b.third(q_1) <= expr(last), [(1, b.known[name]) for name in names])


def _staleness(b: Appendix) -> None:
    """(18) and (19): two models, w^t' and w^(t−τ_k) with t' ≤ t − τ_k."""
    s, kernel, K = b.s, b.kernel, b.K
    # τ_k, and t − τ_k − t'
    early, age = s.index("o"), s.index("o_1", 1, b.tau)
    apart = s.index("o_2", 0, b.tau - age)
    late = early + apart
    t = b.t
    move = lambda t: s.w(t + 1) - s.w(t)
    gap = squared(s.w(early) - s.w(late))
    path = telescope_vector(kernel, "t", early, late, s.w(t))
    added_up = vector_sum("t", early, late, move(t))
    longer, past = vector_sum("t", early, late + 1, move(t)), telescope_vector(kernel, "t", early, late + 1, s.w(t))
    uses = [kernel.against(past, v) for v in (longer, s.w(late) - s.w(early))]
    b.printed("(18), first =", "(18), first line, with a sum to t − τ_k", equal(gap, squared(longer)), uses)
    b.step(
        "(18), first =",
        "(18), first line, with a sum that ends before t − τ_k",
        equal(gap, squared(added_up)),
        [kernel.against(path, v) for v in (added_up, s.w(late) - s.w(early))],
    )
    whole = lambda a: (s.gr(a) + s.er(a)) * b.eta
    changes = vector_sum("t", early, late, b.over_window(whole)) * (b.rate / K)
    b.step("(18), second =", "(18), second line", equal(squared(added_up), squared(changes)), [])
    b.step(
        "(18), third =",
        "(18), third line, for one Δ: the sums are the same",
        equal(squared(whole(s.a) - b.change(s.a)), 0),
        [s.added(name, s.a) for name in ("gr", "er")],
    )
    size = 3 * b.rate**2 * b.Q * b.beta * b.sum3
    whole_run = kernel.at(b.w["steps"], {"h": b.Q})
    summed = kernel.combine(
        squared(s.gr(s.a) + s.er(s.a)) <= expr((b.w.c * b.Q) ** 2),
        [
            (1, whole_run),
            *(
                (-1, kernel.against(s.added(name, s.a), test))
                for name in ("gr", "er")
                for test in (s.gr(s.a) + s.er(s.a) + vector_sum("q", 0, b.Q, s.sampled(s.a, 0, b.q)),)
            ),
        ],
    )
    other, place = s.index("t_1"), s.index("j_5", 1)
    there = lambda k, j: kernel.at(summed, {"a": k - K + j})
    sums_of = lambda k, j: s.gr(k - K + j) + s.er(k - K + j)
    size_of = b.w.c * b.Q
    pairs = kernel.norms(there(t, b.j), there(other, place), sums_of(t, b.j), sums_of(other, place), size_of, size_of)
    ranges = ("j_5", 1, K + 1), ("j_0", 1, K + 1), ("t_1", early, late), ("t", early, late)
    pairs = sums(kernel, pairs, *ranges)
    b.step(
        "(19), first ≤",
        "(19), first line",
        gap <= expr(size * apart**2),
        multipliers=[
            (-1, b.known["(18), first ="]),
            (-1, b.known["(18), second ="]),
            ((b.rate * b.eta / K) ** 2, pairs),
            (-((b.Q * b.eta * apart) ** 2), b.w.root_c),
        ],
    )
    room = kernel.combine(expr(b.tau - age - apart) >= 0, [])
    both = kernel.combine(expr(b.tau - age + apart) >= 0, [])
    squares = kernel.scale(room, both)
    b.step(
        "(19), second ≤",
        "(19), second line",
        expr(size * apart**2) <= size * (b.tau - age) ** 2,
        multipliers=[(size, squares)],
    )
    b.step(
        "(19), third ≤",
        "(19), third line",
        expr(size * (b.tau - age) ** 2) <= size * b.tau**2,
        multipliers=[(size * age, kernel.combine(expr(2 * b.tau - age) >= 0, []))],
    )


def first_again(b: Appendix) -> None:
    """(22) and (23)."""
    kernel = b.kernel
    mean = squared(b.slope) * (-b.rate * b.alpha / 2)
    b.step("(22)", "(22)", b.e1 <= mean + b.sum_steps(b.third) * (b.rate / 2) - b.t4)
    size = 3 * b.rate * b.L**2 * b.Q * b.alpha * b.beta * (b.rate**2 * b.tau**2 + 1) * b.sum3
    every = total(kernel, b.t3, "q_1", 0, b.Q, b.rate * b.eta / 2)
    b.noise1 = size
    b.step("(23)", "(23)", b.e1 <= mean + size - b.t4, [every])
    b.proof.remark("T_2", "our method does not affect T_2", "after (23)")


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
    pairs = sums(kernel, apart, ("q_3", 0, Q), ("j_3", 1, K + 1), ("q", 0, Q), ("j_0", 1, K + 1))
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
    bound = sum((s.formula(one) for one in s.theorem.bound.terms.values()), start=0 * b.L)
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
