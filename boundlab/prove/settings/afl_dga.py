"""AFL-DGA: the server averages the latest gradients of all clients, however old they are.

Round t = 0, 1, … makes w[t + 1] = w[t] − η·a[t], where a[t] = v[t] + m[t] is the mean over the clients of their stored
averages: gradients v, and noise m. The average of client i that round t uses was first used in round r[t, i] ≤ t; its
K[i, r] gradients g[i, r, q] were taken at points z[i, r, q] with noise e[i, r, q]. Such a point is the server's model
but for server steps that had not reached the client, which are among those of rounds lo[t], …, t − 1, and for own
stochastic gradients o[i, r, q, p] that it had not undone.

A noise is drawn where its gradient is *first* used, at (r, i, q): no model before round r + 1 is made of it, whenever
the client took it. It does not come anew in the later rounds that use it. What has no meaning in a run (other rounds
r, local steps from K on, rounds from T on, more own gradients) is taken as if all clients then took fresh gradients at
the server's model: what is said of it is true of those.
"""

import sympy

from boundlab.formulas.symbols import symbol
from boundlab.prove._chance import orthogonal
from boundlab.prove._context import FIRST, Context, Range
from boundlab.prove._errors import ProofError, only_for_rules
from boundlab.prove._facts import Fact, VectorFact
from boundlab.prove._options import NUMBERS, uncovered
from boundlab.prove._scalars import ONE, ZERO, Number, Scalar, scalar, variable
from boundlab.prove._terms import Expr, Lin, Vec, equal, expr, finite_sum, squared, vector_mean, vector_sum
from boundlab.prove._vectors import Known, Slope
from boundlab.prove.settings._afl_dga_models import AflDgaModels
from boundlab.prove.settings._step import declare_step, single
from boundlab.theorems import Theorem

_TAG = "algorithm"
_M_OWN = symbol("M_own")
# Symbols that are read off a run, and G; ends of ranges name those before.
_CONSTANTS = ("G", "S", "M_own", "Q_age", "K_m", "D_m", "tau_sum", "SM2", "reuse", "reuse_n")


class AflDgaSetting(AflDgaModels):
    """Models w[t], points z[i, r, q], gradients g there, noise e, and the averages that the server uses."""

    def __init__(self, theorem: Theorem) -> None:
        self.restrictions = uncovered(
            theorem,
            {"server": ("plain",), "scaling": ("analysis",), "first_round": ("all",)},
            dict.fromkeys(("participation", "periods", "local_steps", "correction_delay", "t_d"), NUMBERS),
        )
        super().__init__(theorem)
        if not theorem.of_paper:
            self._assume("fixed-schedule")  # the printed theorem leaves it unsaid, and uses it
        read = {*theorem.read, "G"}
        for name in _CONSTANTS:
            if name in read:
                self.own_symbol(name, self._below_its_limit(name))
        self.eta = declare_step(self, "eta")
        self.t, self.h, self.l = (self.index(name, 0, self.symbol("T") - 1) for name in "thl")
        self.r = self.index("r")
        # Rounds of first use of what round t uses; windows that end before round t.
        for name, arity in (("first", 2), ("lo", 1), ("old", 1), ("before", 2)):
            self._family(name, arity, ZERO, FIRST)
        self._family("steps", 2, ONE, None)
        # Whether a server step is missing, how many are, and how many own gradients are not undone.
        self._family("miss", 4, ZERO, ONE)
        self._family("gone", 3, ZERO, None)
        self._family("own", 3, ZERO, variable("M_own") if "M_own" in read else None)
        # Whether r is the round of first use, and the root of how many clients have that.
        self._family("one", 3, ZERO, ONE)
        self.context.declare("root", Range(low=ZERO, arity=2))
        self.own_symbols.add("root")
        # τ + τ' − 1 of the average that round t uses and the one before, which was first used in round before[t, i].
        self._family("ages", 2, ZERO, None)
        # A local step of what round t uses of client i, and an own gradient that its point still holds.
        self.q = self.index("q", 0, self.steps(self.i, self.first(self.t, self.i)) - 1)
        self.p = self.index("p", 0, self.own(self.t, self.i, self.q) - 1)
        self._vectors()

    def _family(self, name: str, arity: int, low: Scalar, high: Scalar | None) -> None:
        self.context.declare(name, Range(low=low, high=high, integer=True, arity=arity))
        self.own_symbols.add(name)

    def _vectors(self) -> None:
        vectors = self.kernel.vectors
        t, i, r, q = self.t, self.i, self.r, self.q
        vectors.declare("w", Known(1, clock=lambda t: (t,)))
        vectors.declare("df", Known(1, clock=lambda t: (t,)))
        vectors.declare("d", Known(2, clock=lambda _, t: (t,)))
        vectors.declare_slope("d", Slope(("i", "t"), "f", (self.i,), Vec("w", (t,))))
        for name in ("z", "g"):
            vectors.declare(name, Known(3, clock=lambda i, r, q: (r, i, q)))
        vectors.declare_slope("g", Slope(("i", "r", "q"), "f", (self.i,), Vec("z", (i, r, q))))
        vectors.declare("o", Known(4, clock=lambda i, r, q, _: (r, i, q)))
        vectors.declare("a", Known(1, clock=lambda t: (t + 1,)))
        vectors.declare("v", Known(1, clock=lambda t: (t + 1,)))
        if self.noisy:
            vectors.declare("e", Known(3, clock=lambda i, r, q: (r, i, q + 1), drawn=lambda i, r, q: (r, i, q)))
            vectors.declare("m", Known(1, clock=lambda t: (t + 1,)))
            vectors.declare("part", Known(2, clock=lambda _, r: (r + 1,)))

    # ------------------------------------------------------------------ vectors

    def w(self, t: Number) -> Lin:
        """Return the server's model before round t."""
        return self.vec("w", t)

    def d(self, i: Number, t: Number) -> Lin:
        """Return ∇f_i there."""
        return self.vec("d", i, t)

    def df(self, t: Number) -> Lin:
        """Return ∇f there."""
        return self.vec("df", t)

    def a(self, t: Number) -> Lin:
        """Return what the server steps along in round t."""
        return self.vec("a", t)

    def v(self, t: Number) -> Lin:
        """Return the mean of the gradients in it."""
        return self.vec("v", t)

    def m(self, t: Number) -> Lin:
        """Return the noise in it."""
        return self.vec("m", t)

    def z(self, i: Number, r: Number, q: Number) -> Lin:
        """Return the point of local step q of what client i has first used in round r."""
        return self.vec("z", i, r, q)

    def g(self, i: Number, r: Number, q: Number) -> Lin:
        """Return ∇f_i there."""
        return self.vec("g", i, r, q)

    def e(self, i: Number, r: Number, q: Number) -> Lin:
        """Return the noise of that gradient."""
        return self.vec("e", i, r, q)

    def o(self, i: Number, r: Number, q: Number, p: Number) -> Lin:
        """Return the p-th own stochastic gradient that the point z[i, r, q] still holds."""
        return self.vec("o", i, r, q, p)

    def noise_of(self, t: Number, r: Number) -> Lin:
        """Return the part of m[t] from averages first used in round r."""
        return self.vec("part", t, r)

    def sampled(self, i: Number, r: Number, q: Number) -> Lin:
        """Return the stochastic gradient."""
        return self.g(i, r, q) + self.e(i, r, q) if self.noisy else self.g(i, r, q)

    def first(self, t: Number, i: Number) -> Scalar:
        """Return in which round what round t uses of client i was first used."""
        return variable("first", t, i)

    def steps(self, i: Number, r: Number) -> Scalar:
        """Return how many local steps are in what client i has first used in round r."""
        return variable("steps", i, r)

    def lo(self, t: Number) -> Scalar:
        """Return a round from which on server steps may be missing in the points that round t uses."""
        return variable("lo", t)

    def old(self, t: Number) -> Scalar:
        """Return a round from which on averages are that round t uses."""
        return variable("old", t)

    def miss(self, t: Number, i: Number, q: Number, h: Number) -> Scalar:
        """Return 1 if server step h is missing in point q of what round t uses of client i, else 0."""
        return variable("miss", t, i, q, h)

    def gone(self, t: Number, i: Number, q: Number) -> Scalar:
        """Return how many server steps are missing in point q of what round t uses of client i."""
        return variable("gone", t, i, q)

    def own(self, t: Number, i: Number, q: Number) -> Scalar:
        """Return how many own gradients that point still holds."""
        return variable("own", i, self.first(t, i), q)

    def one(self, t: Number, i: Number, r: Number) -> Scalar:
        """Return 1 if what round t uses of client i was first used in round r, else 0."""
        return variable("one", t, i, r)

    def root_of(self, t: Number, r: Number) -> Scalar:
        """Return the root of how many clients these are."""
        return variable("root", t, r)

    def before(self, t: Number, i: Number) -> Scalar:
        """Return in which round the average of client i before that was first used, at least 0."""
        return variable("before", t, i)

    def both_ages(self, t: Number, i: Number) -> Scalar:
        """Return τ + τ' − 1, where τ' is that of the round before this one's first use."""
        return variable("ages", t, i)

    def model(self, k: Number) -> Lin:
        """Return w[k]."""
        return self.w(k)

    def gradient(self, k: Number) -> Lin:
        """Return ∇f at w[k]."""
        return self.df(k)

    def used(self, t: Number, of: Lin) -> Lin:
        """Return the mean over the clients, and over what round t uses of each, of a vector of i and q."""
        self._counted(t, bound="i q")
        K = self.steps(self.i, self.first(t, self.i))
        return self.mean_vector(lambda _: vector_sum("q", 0, K, of / K))

    def over_used(self, t: Number, of: Expr | Number) -> Expr:
        """Return the same mean of an expression."""
        self._counted(t, bound="i q")
        K = self.steps(self.i, self.first(t, self.i))
        return self.mean(lambda _: finite_sum("q", 0, K, expr(of) / K))

    # ------------------------------------------------------------------ how a run moves

    def _fact(self, left: Lin, right: Lin) -> VectorFact:
        only_for_rules("a move")
        return self.kernel.make_vector(left, right, self.context, "axiom", axioms=[_TAG])

    def _counted(self, *numbers: Number, bound: str = "") -> None:
        """Make sure that indices are ≥ 0, and that none of them is one that is summed over here."""
        for one in numbers:
            own = scalar(one)
            self.kernel.need(own, self.context, "rounds and local steps are counted from 0")
            if taken := sorted(own.names() & set(bound.split())):
                raise ProofError(f"{', '.join(taken)} is summed over here, and stands in the index {own}")

    def move(self, t: Number) -> VectorFact:
        """Return w[t + 1] = w[t] − η·a[t]."""
        self._counted(t)
        return self._fact(self.w(scalar(t) + 1), self.w(t) - self.a(t) * self.eta)

    def average(self, t: Number) -> VectorFact:  # type: ignore[override]
        """Return a[t] = v[t] + m[t]; a[t] = v[t] where there is no noise."""
        self._counted(t)
        return self._fact(self.a(t), self.v(t) + self.m(t) if self.noisy else self.v(t))

    def slopes(self, t: Number) -> VectorFact:
        """Return v[t] as the mean of the gradients that round t uses."""
        self._counted(t, bound="i q")
        return self._fact(self.v(t), self.used(t, self.g(self.i, self.first(t, self.i), self.q)))

    def noise(self, t: Number) -> VectorFact:
        """Return m[t] as the mean of their noise."""
        self._counted(t, bound="i q")
        return self._fact(self.m(t), self.used(t, self.e(self.i, self.first(t, self.i), self.q)))

    def whole(self, t: Number) -> VectorFact:
        """Return ∇f(w[t]) as the mean of the ∇f_i(w[t])."""
        j = "j" if "i" in scalar(t).names() else "i"
        self._counted(t, bound="j")
        return self._fact(self.df(t), vector_mean(j, self.n, self.d(variable(j), t)))

    def place(self, t: Number, i: Number, q: Number) -> VectorFact:
        """Return (P): w[t] − z, for point q of what round t uses of client i."""
        self._counted(t, i, q, bound="h p")
        r = self.first(t, i)
        missing = vector_sum("h", self.lo(t), t, self.a(self.h) * self.miss(t, i, q, self.h))
        kept = vector_sum("p", 0, self.own(t, i, q), self.o(i, r, q, self.p))
        right = self.z(i, r, q) - missing * self.eta + kept * self.eta
        # A theorem that leaves open how clients correct their models is about other points, too.
        tags = [_TAG] if "scaling" in self.theorem.core.fixed else [_TAG, "scaling=analysis"]
        return self.kernel.make_vector(self.w(t), right, self.context, "axiom", axioms=tags)

    def split_noise(self, t: Number) -> VectorFact:
        """Return m[t] as the sum of its parts by round of first use."""
        self._counted(t, bound="r")
        return self._fact(self.m(t), vector_sum("r", self.old(t), scalar(t) + 1, self.noise_of(t, self.r)))

    def noise_part(self, t: Number, r: Number) -> VectorFact:
        """Return such a part: the noise of the clients whose average was first used in round r."""
        self._counted(t, r, scalar(t) - scalar(r), bound="i q")
        return self._fact(self.noise_of(t, r), self._part(t, r))

    def _part(self, t: Number, r: Number) -> Lin:
        K = self.steps(self.i, r)
        weight = self.one(t, self.i, r) / K
        return self.mean_vector(lambda i: vector_sum("q", 0, K, self.e(i, r, self.q) * weight))

    # ------------------------------------------------------------------ what is read off a run

    def missing(self, t: Number) -> Fact:
        """Return t − lo[t] ≤ S: what is missing is at most S rounds old."""
        self._counted(t)
        return self.axiom(expr(scalar(t) - self.lo(t)) <= expr(self.symbol("S")), _TAG)

    def age(self, t: Number, i: Number) -> Fact:
        """Return t − r[t, i] ≤ Q_age."""
        self._counted(t, i)
        return self.axiom(expr(scalar(t) - self.first(t, i)) <= expr(self.symbol("Q_age")), _TAG)

    def ages(self, t: Number) -> Fact:
        """Return t − old[t] ≤ Q_age."""
        self._counted(t)
        return self.axiom(expr(scalar(t) - self.old(t)) <= expr(self.symbol("Q_age")), _TAG)

    def each_once(self, t: Number, i: Number) -> Fact:
        """Return that the average of a client has one round of first use, from old[t] to t."""
        self._counted(t, i, bound="r")
        return self.axiom(equal(finite_sum("r", self.old(t), scalar(t) + 1, self.one(t, i, self.r)), 1), _TAG)

    def clients_of(self, t: Number, r: Number) -> Fact:
        """Return root[t, r]² = how many clients' averages in round t were first used in round r."""
        self._counted(t, r, scalar(t) - scalar(r), bound="i")
        many = finite_sum("i", 0, self.n, self.one(t, self.i, r))
        return self.axiom(equal(expr(self.root_of(t, r) ** 2), many), _TAG)

    def missing_steps(self, t: Number, i: Number, q: Number) -> Fact:
        """Return gone[t, i, q] = how many server steps are missing in point q of what round t uses of client i."""
        self._counted(t, i, q, bound="h")
        many = finite_sum("h", self.lo(t), t, self.miss(t, i, q, self.h))
        return self.axiom(equal(many, expr(self.gone(t, i, q))), _TAG)

    def distances(self, t: Number) -> Expr:
        """Return the mean over what round t uses of (missing server steps + own gradients)²."""
        self._counted(t, bound="i q")
        return self.over_used(t, (self.gone(t, self.i, self.q) + self.own(t, self.i, self.q)) ** 2)

    def _mean_of_rounds(self, name: str, of: Expr) -> Fact:
        """Return that a symbol is the mean over all rounds t of an expression."""
        only_for_rules("the meaning of a symbol")
        T = self.symbol("T")
        return self.axiom(equal(expr(self.symbol(name)), finite_sum("t", 0, T, of) / T), _TAG)

    def mean_distance(self) -> Fact:
        """Return SM2 as the mean over all rounds of these distances."""
        return self._mean_of_rounds("SM2", self.distances(self.t))

    def mean_age(self) -> Fact:
        """Return reuse as the mean of t − r[t, i]."""
        return self._mean_of_rounds("reuse", self.mean(lambda i: expr(self.t - self.first(self.t, i))))

    def lasting(self, t: Number, i: Number) -> Fact:
        """Return t − before[t, i] ≤ τ + τ' − 1; where there was no round before, τ' is 1."""
        self._counted(t, i)
        return self.axiom(expr(scalar(t) - self.before(t, i)) <= expr(self.both_ages(t, i)), _TAG)

    def sum_of_ages(self) -> Fact:
        """Return tau_sum as the mean over t of the sum over the clients of these."""
        return self._mean_of_rounds("tau_sum", finite_sum("i", 0, self.n, expr(self.both_ages(self.t, self.i))))

    def mean_root(self) -> Fact:
        """Return reuse_n as the mean over t of (1/n)·Σ over ages of age·root of how many clients have it."""
        t, r = self.t, self.r
        return self._mean_of_rounds(
            "reuse_n", finite_sum("r", self.old(t), t + 1, (t - r) * self.root_of(t, r)) / self.n
        )

    # ------------------------------------------------------------------ chance and sizes

    def unbiased(self, noise: Lin, other: Lin) -> Fact:
        """Return E⟨ξ, v⟩ = 0 for a vector v that is known when ξ is drawn.

        Noise is drawn independently of the events, and these do not depend on it: this holds for each schedule.
        """
        return orthogonal(self.kernel, single(noise), single(other))

    def uncorrelated(self, t: Number) -> Fact:
        """Return E‖m[t]‖² as the sum of the variances: its noises are all of different samples."""
        self._counted(t, bound="i q")
        K, r = self.steps(self.i, self.first(t, self.i)), self.first(t, self.i)
        each = finite_sum("q", 0, K, squared(self.e(self.i, r, self.q)) / K**2)
        total = finite_sum("i", 0, self.n, each / self.n**2)
        return self.axiom(equal(squared(self.used(t, self.e(self.i, r, self.q))), total), "bounded-variance")

    def uncorrelated_part(self, t: Number, r: Number) -> Fact:
        """Return the same of what was first used in round r."""
        self._counted(t, r, bound="i q")
        K = self.steps(self.i, r)
        each = finite_sum("q", 0, K, squared(self.e(self.i, r, self.q)) * (self.one(t, self.i, r) / K) ** 2)
        total = finite_sum("i", 0, self.n, each / self.n**2)
        return self.axiom(equal(squared(self._part(t, r)), total), "bounded-variance")

    def _read(self, t: Number, i: Number, q: Number) -> Scalar:
        """Return since when round t uses what holds local step q of client i."""
        self._counted(t, i, q)
        r, here = self.first(t, i), self.context
        if self.bounds_at("G", "rounds"):
            self.kernel.need(self.symbol("T") - 1 - scalar(t), here, "rounds up to T − 1 are looked at")
            self.kernel.need(self.steps(i, r) - 1 - scalar(q), here, "an average holds so many local steps")
        return r

    def moment(self, t: Number, i: Number, q: Number) -> Fact:
        """Return E‖g + e‖² ≤ G² for local step q of what round t uses of client i."""
        of = self.sampled(i, self._read(t, i, q), q)
        return self.axiom(squared(of) <= expr(self.symbol("G") ** 2), "bounded-second-moment")

    def own_moment(self, t: Number, i: Number, q: Number, p: Number) -> Fact:
        """Return E‖o‖² ≤ G² for the p-th own stochastic gradient that its point still holds."""
        self._counted(p)
        of = self.o(i, self._read(t, i, q), q, p)
        if self.bounds_at("G", "rounds"):
            self.kernel.need(self.own(t, i, q) - 1 - scalar(p), self.context, "a point holds so many own gradients")
        return self.axiom(squared(of) <= expr(self.symbol("G") ** 2), "bounded-second-moment")

    # ------------------------------------------------------------------ conditions

    def small_step(self) -> Fact:
        """Return the theorem's condition on η·L."""
        (one,) = (one for one in self.theorem.conditions if "eta" in {s.name for s in one.quantity.free_symbols})
        return self.condition(expr(self.formula(one.quantity)) <= expr(self.formula(one.limit)), one.statement)

    def small_step_in(self, case: Context) -> Fact:
        """Return c·S²·x² ≤ (1 − x)² for c = 1 + min(1, M_own), as it is in a case.

        With x ≤ 1, that is x ≤ 1/(1 + √c·S).
        """
        one = self.decided()
        self.meets(one.statement)
        x, c = self.eta * self.symbol("L"), 1 + self.formula(sympy.Min(1, _M_OWN, evaluate=False), case)
        claim = expr(c * self.symbol("S") ** 2 * x**2) <= expr((1 - x) ** 2)
        return self.kernel.make(claim, case, "axiom", axioms=[one.statement])

    def step_below_one(self) -> Fact:
        """Return x ≤ 1, which is weaker."""
        one = self.decided()
        return self.condition(expr(self.eta * self.symbol("L")) <= 1, one.statement)
