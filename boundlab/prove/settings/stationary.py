"""FedBuff and FedStaleWeight with a random schedule: each client has the same expected weight in every buffer.

All means are over the schedule, which is random, over the noise, and over one thing more, which the algorithm does not
know of: of each buffer t an *entry* is drawn with the buffer's weights, independently of everything else. So an
entry's vectors have means over the buffer as their means: E⟨g of the entry, v⟩ = E⟨Σ_j alpha_j·g_j, v⟩ for every v that
does not depend on which entry was drawn.

What is assumed of the schedule (stationary-participation): given who arrived for the buffers before t, the expected
sum of client i's weights in buffer t is pi[i]. The noise does not depend on the schedule (fixed-schedule,
bounded-variance). Hence, given these arrivals *and all noise*, the entry of buffer t is one of client i with
probability pi[i]; w[t] and all gradients at it are then known, for w[t] is made of earlier buffers. That a client
stands in a buffer twice, with runs that began at two models, changes nothing of this. Only the updates 0 … T − 1 are
looked at.
"""

from boundlab.prove._chance import orthogonal
from boundlab.prove._context import Range
from boundlab.prove._errors import ProofError
from boundlab.prove._facts import Fact, VectorFact
from boundlab.prove._options import uncovered
from boundlab.prove._scalars import Number, Scalar, same, scalar, variable, whole
from boundlab.prove._terms import Lin, Vec, equal, expr, finite_sum, squared, vector_sum
from boundlab.prove._vectors import Known, Slope
from boundlab.prove.settings import _letters
from boundlab.prove.settings._buffered_models import OPTIONS
from boundlab.prove.settings._stationary_models import StationaryModels
from boundlab.prove.settings._step import chosen, declare_step, single
from boundlab.theorems import Theorem

_ZERO = scalar(0)
# What does not depend on which entry is drawn; and, of that, what is known given the arrivals before t and all noise.
_WITHOUT_ENTRY = frozenset({"w", "d", "df", "db", "mb", "hb", "xb"})
_BEFORE = frozenset({"w", "d", "df", "db"})


class StationarySetting(StationaryModels):
    """Models, gradients at them, buffers and their drawn entries; one of over[i] and under[i] is 0."""

    letters = _letters.STATIONARY

    def __init__(self, theorem: Theorem) -> None:
        self.restrictions = uncovered(theorem, *OPTIONS)
        super().__init__(theorem, "eta_l")
        self._assume("stationary-participation", "fixed-schedule")
        self.rate = declare_step(self, "eta_g")
        self.T, self.Q = self.symbol("T"), self.symbol("Q")
        read = theorem.read
        for name in ("chi2", "pi_max", "alpha2"):
            if name in read:
                self.own_symbol(name, self._range(name))
        self.k, self.m = self.index("k", 0, self.T - 1), self.index("m")
        for name in ("over", "under", "al2"):
            self.context.declare(name, Range(low=_ZERO, arity=1))
            self.own_symbols.add(name)
        self._means()

    def _schedule(self) -> None:
        """Declare nothing: whose runs these are, and where they began, is random."""

    def _vectors(self) -> None:
        vectors = self.kernel.vectors
        t = whole(variable("t"))
        for name in ("w", "df", "db", "dk"):
            vectors.declare(name, Known(1, clock=lambda t: (t,)))
        vectors.declare("d", Known(2, clock=lambda _, t: (t,)))
        vectors.declare_slope("d", Slope(("i", "t"), "f", self.client_index, Vec("w", (t,))))
        for name in ("zk", "gk", "hb"):
            vectors.declare(name, Known(2, clock=lambda t, q: (t, q)))
        for name in ("ek", "xb"):
            vectors.declare(name, Known(2, clock=lambda t, q: (t, q + 1), drawn=lambda t, q: (t, q)))
        vectors.declare("pk", Known(2, clock=lambda t, _: (t,)))
        for name in ("ub", "gu", "eu"):
            vectors.declare(name, Known(3, clock=lambda t, *_: (t,)))

    def _means(self) -> None:
        # A run that has begun, and that might have entered buffer t, may enter a later one: its noise, which is drawn
        # there, is in mb[t, q] already. So that is known after all updates only.
        end = self.T
        self.kernel.vectors.declare("mb", Known(2, clock=lambda *_: (end,)))

    # ------------------------------------------------------------------ vectors and numbers

    def df(self, t: Number) -> Lin:
        """Return ∇f(w[t])."""
        return self.vec("df", t)

    def gradient(self, k: Number) -> Lin:
        """Return ∇f(w[k])."""
        return self.df(k)

    def pi(self, i: Number) -> Scalar:
        """Return the expected weight of client i in a buffer."""
        return 1 / self.n + self.over(i) - self.under(i)

    def over(self, i: Number) -> Scalar:
        """Return how much more than 1/n that is."""
        return variable("over", i)

    def under(self, i: Number) -> Scalar:
        """Return how much less."""
        return variable("under", i)

    def al2(self, t: Number) -> Scalar:
        """Return the mean of Σ alpha² in buffer t."""
        return variable("al2", t)

    def _seen(self, *places: Number) -> None:
        """Make sure that the first is one of the updates that the theorem looks at."""
        self._places(*places)
        self.kernel.need(self.T - 1 - scalar(places[0]), self.context, "updates up to T − 1 are looked at")

    def _defined(self, left: Lin, right: Lin) -> VectorFact:
        return self.kernel.make_vector(left, right, self.context, "axiom", axioms=["algorithm"])

    # ------------------------------------------------------------------ what an update is

    def whole_gradient(self, t: Number) -> VectorFact:
        """Return ∇f(w[t]) = (1/n)·Σ ∇f_i(w[t])."""
        self._places(t)
        return self._defined(self.df(t), self.mean_vector(lambda i: self.d(i, t)))

    def update(self, t: Number) -> VectorFact:
        """Return w[t + 1] = w[t] − η_g·η_ℓ·Σ_q (hb[t, q] + xb[t, q])."""
        self._seen(t)
        steps = vector_sum("q", 0, self.Q, self.vec("hb", t, self.q) + self.vec("xb", t, self.q))
        return self._defined(self.w(scalar(t) + 1), self.w(t) - steps * (self.rate * self.step))

    def entry_move(self, t: Number, q: Number) -> VectorFact:
        """Return zk[t, q + 1] = zk[t, q] − η_ℓ·(gk[t, q] + ek[t, q])."""
        self._seen(t, q)
        right = self.vec("zk", t, q) - (self.vec("gk", t, q) + self.vec("ek", t, q)) * self.step
        return self._defined(self.vec("zk", t, scalar(q) + 1), right)

    def way_begin(self, t: Number) -> VectorFact:
        """Return pk[t, 0] = w[t]."""
        self._seen(t)
        return self._defined(self.vec("pk", t, 0), self.w(t))

    def way_end(self, t: Number) -> VectorFact:
        """Return pk[t, tau_max] = zk[t, 0]: no entry began more than tau_max updates before."""
        self._seen(t)
        return self._defined(self.vec("pk", t, self.symbol("tau_max")), self.vec("zk", t, 0))

    def way_move(self, t: Number, m: Number) -> VectorFact:
        """Return pk[t, m] = pk[t, m + 1] − η_g·η_ℓ·Σ_q ub[t, m, q]."""
        self._seen(t, m)
        steps = vector_sum("q", 0, self.Q, self.vec("ub", t, m, self.q))
        after = self.vec("pk", t, scalar(m) + 1)
        return self._defined(self.vec("pk", t, m), after - steps * (self.rate * self.step))

    # ------------------------------------------------------------------ drawn entries

    def _one_of(self, other: Lin, names: frozenset[str], why: str) -> Vec:
        vector = single(other)
        if vector.name not in names:
            raise ProofError(f"{other} {why}")
        return vector

    def entry_of(self, name: str, t: Number, q: Number, other: Lin) -> Fact:
        """Return E⟨hb[t, q], v⟩ = E⟨gk[t, q], v⟩ for v that does not depend on the drawn entry; xb with ek."""
        self._seen(t, q)
        self._one_of(other, _WITHOUT_ENTRY, "may depend on which entry is drawn")
        entry = chosen({"hb": "gk", "xb": "ek"}, name)
        claim = equal(self.dot(self.vec(name, t, q), other), self.dot(self.vec(entry, t, q), other))
        return self.axiom(claim, "algorithm")

    def met_entry_of(self, t: Number, m: Number, q: Number, other: Lin) -> Fact:
        """Return E⟨ub[t, m, q], v⟩ = E⟨gu[t, m, q] + eu[t, m, q], v⟩ for v on the way pk[t, ·].

        That way depends on the schedule, the noise, and the entry of t, not on the entry that is drawn of an earlier
        buffer.
        """
        self._seen(t, m, q)
        vector = self._one_of(other, frozenset({"pk"}), "may depend on which entry is drawn")
        if not same(vector.indices[0], t):
            raise ProofError(f"{other} may depend on which entry is drawn of buffer {t} − {m} − 1")
        drawn = self.vec("gu", t, m, q) + self.vec("eu", t, m, q)
        return self.axiom(equal(self.dot(self.vec("ub", t, m, q), other), self.dot(drawn, other)), "algorithm")

    def _before(self, t: Number, other: Lin) -> None:
        """Make sure that a vector is known given the arrivals before buffer t and all noise."""
        vector = single(other)
        if vector.name == "mb" and same(vector.indices[0], t):
            return
        self._one_of(other, _BEFORE, f"may depend on who is in buffer {t}")
        if not self.kernel.known_by(vector, (scalar(t),), self.context):
            raise ProofError(f"{other} may depend on who is in buffer {t}")

    def given_past(self, t: Number, q: Number, other: Lin) -> Fact:
        """Return E⟨mb[t, q], v⟩ = E⟨gk[t, q], v⟩ for v known given the arrivals before buffer t and all noise."""
        self._seen(t, q)
        self._before(t, other)
        claim = equal(self.dot(self.vec("mb", t, q), other), self.dot(self.vec("gk", t, q), other))
        return self.axiom(claim, "algorithm")

    def drawn_client(self, t: Number, other: Lin) -> Fact:
        """Return E⟨dk[t], v⟩ = E⟨db[t], v⟩ for such v: the entry is one of client i with probability pi[i]."""
        self._seen(t)
        self._before(t, other)
        claim = equal(self.dot(self.vec("dk", t), other), self.dot(self.vec("db", t), other))
        return self.axiom(claim, "stationary-participation", "fixed-schedule")

    def drawn_distance(self, t: Number) -> Fact:
        """Return E‖dk[t] − ∇f(w[t])‖² = Σ pi[i]·E‖∇f_i(w[t]) − ∇f(w[t])‖²."""
        self._seen(t)
        each = squared(self.d(self.i, t) - self.df(t)) * self.pi(self.i)
        claim = equal(squared(self.vec("dk", t) - self.df(t)), finite_sum("i", 0, self.n, each))
        return self.axiom(claim, "stationary-participation", "fixed-schedule")

    def expected(self, t: Number) -> VectorFact:
        """Return db[t] = Σ pi[i]·∇f_i(w[t])."""
        self._places(t)
        return self._defined(self.vec("db", t), vector_sum("i", 0, self.n, self.d(self.i, t) * self.pi(self.i)))

    def whole_share(self, of: Lin) -> VectorFact:
        """Return Σ pi[i]·v = v: the weights of a buffer have the sum 1."""
        if "i" in of.names():
            raise ProofError(f"{of} is not the same for all clients")
        return self._defined(vector_sum("i", 0, self.n, of * self.pi(self.i)), of)

    def one_sided(self, i: Number) -> Fact:
        """Return over[i]·under[i] = 0: they are the two parts of one number."""
        return self.axiom(equal(expr(self.over(i) * self.under(i)), 0), "algorithm")

    def largest(self, i: Number) -> Fact:
        """Return pi_max − pi[i] ≥ 0."""
        return self.axiom(expr(self.symbol("pi_max") - self.pi(i)) >= 0, "stationary-participation")

    def shares_apart(self) -> Fact:
        """Return n·Σ (over[i]² + under[i]²) ≤ chi2."""
        each = finite_sum("i", 0, self.n, expr(self.over(self.i) ** 2 + self.under(self.i) ** 2))
        return self.axiom(each * self.n <= expr(self.symbol("chi2")), "stationary-participation")

    # ------------------------------------------------------------------ gradients and noise

    def _taken(self, symbol: str, q: Number) -> None:
        """Make sure that a constant is about local step q of a run, whatever the schedule is."""
        if self.bounds_at(symbol, "passes"):
            self.kernel.need(self.Q - 1 - scalar(q), self.context, "a run has Q local steps")

    def entry_gradient(self, t: Number, q: Number) -> Fact:
        """Return ‖gk[t, q]‖² ≤ G."""
        self._seen(t, q)
        self._taken("G_sq", q)
        return self.axiom(squared(self.vec("gk", t, q)) <= expr(self.symbol("G_sq")), "bounded-gradients")

    def met_gradient(self, t: Number, m: Number, q: Number) -> Fact:
        """Return ‖gu[t, m, q]‖² ≤ G: the gradient of a local step of an entry of buffer t − m − 1, or 0."""
        self._seen(t, m, q)
        self._taken("G_sq", q)
        return self.axiom(squared(self.vec("gu", t, m, q)) <= expr(self.symbol("G_sq")), "bounded-gradients")

    def entry_smooth(self, t: Number, q: Number) -> Fact:
        """Return ‖gk[t, q] − dk[t]‖² ≤ L²·‖zk[t, q] − w[t]‖²: two gradients of the function of the entry's client."""
        self._seen(t, q)
        gap, way = self.vec("gk", t, q) - self.vec("dk", t), self.vec("zk", t, q) - self.w(t)
        return self.axiom(squared(gap) <= squared(way) * self.symbol("L") ** 2, "smooth")

    def entry_variance(self, t: Number, q: Number) -> Fact:
        """Return E‖ek[t, q]‖² ≤ σ_ℓ², whichever entry is drawn."""
        self._seen(t, q)
        self._taken("sigma_l", q)
        return self.axiom(squared(self.vec("ek", t, q)) <= expr(self.symbol("sigma_l") ** 2), "bounded-variance")

    def met_noise(self, t: Number, m: Number, q: Number) -> tuple[Fact, Fact]:
        """Return E‖eu[t, m, q]‖² ≤ σ_ℓ² and E⟨eu[t, m, q], gu[t, m, q]⟩ = 0: noise of the step of that gradient, or 0.

        Whether it is 0 is decided by the schedule and by the entry of t, which do not depend on noise.
        """
        self._seen(t, m, q)
        self._taken("sigma_l", q)
        noise, gradient = self.vec("eu", t, m, q), self.vec("gu", t, m, q)
        size = squared(noise) <= expr(self.symbol("sigma_l") ** 2)
        tags = ("bounded-variance", "fixed-schedule")
        return self.axiom(size, *tags), self.axiom(equal(self.dot(noise, gradient), 0), *tags)

    def unbiased(self, noise: Lin, other: Lin) -> Fact:
        """Return E⟨ξ, v⟩ = 0 for noise of a drawn entry or of a buffer, and v known when that step's noise is drawn."""
        return orthogonal(self.kernel, single(noise), single(other))

    def buffer_noise(self, t: Number, q: Number) -> Fact:
        """Return E‖xb[t, q]‖² ≤ σ_ℓ²·al2[t]: noises of different runs are uncorrelated, whatever the schedule."""
        self._seen(t, q)
        self._taken("sigma_l", q)
        size = self.symbol("sigma_l") ** 2 * self.al2(t)
        return self.axiom(squared(self.vec("xb", t, q)) <= expr(size), "bounded-variance", "fixed-schedule")

    def squared_weights(self) -> Fact:
        """Return Σ al2[t] ≤ T·alpha2 over the updates before T."""
        every = finite_sum("t", 0, self.T, expr(self.al2(self.t)))
        return self.axiom(every <= expr(self.T * self.symbol("alpha2")), "algorithm")
