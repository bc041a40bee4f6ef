"""FedBuff and FedStaleWeight where the schedule is given: server update t adds up a full buffer.

Update t makes w[t + 1] = w[t] − η_g·η_ℓ·Σ_j alpha[t, j]·Σ_q (g[t, j, q] + e[t, j, q]) out of the entries j = 0 … b − 1
of its buffer. The weights have the sum 1. They, who is in the buffer, and of which models the runs began, are numbers
that do not depend on the noise. Only the updates 0 … T − 1 are looked at.
"""

from boundlab.prove._context import Range
from boundlab.prove._errors import ProofError
from boundlab.prove._facts import Fact, VectorFact
from boundlab.prove._options import uncovered
from boundlab.prove._scalars import Number, Scalar, scalar, variable
from boundlab.prove._terms import Expr, Lin, equal, expr, finite_sum, vector_sum
from boundlab.prove._vectors import Known
from boundlab.prove.settings import _letters
from boundlab.prove.settings._buffered_models import OPTIONS, BufferModels
from boundlab.prove.settings._step import chosen, declare_step
from boundlab.theorems import Theorem

_ZERO, _ONE = scalar(0), scalar(1)


class BufferSetting(BufferModels):
    """Beside models, gradients and runs: what a buffer is made of; one of over[i, t] and under[i, t] is 0."""

    letters = _letters.BUFFERS

    def __init__(self, theorem: Theorem) -> None:
        self.restrictions = uncovered(theorem, *OPTIONS)
        super().__init__(theorem, "eta_l")
        self.rate = declare_step(self, "eta_g")
        read = theorem.read
        for name in ("chi2_path",):
            if name in read:
                self.own_symbol(name, self._range(name))
        self.T, self.Q = self.symbol("T"), self.symbol("Q")
        self.k, self.r = self.index("k", 0, self.T - 1), self.index("r", 0, self.T - 1)
        for name, arity in (("alpha", 2), ("over", 2), ("under", 2), ("spread", 1)):
            self.context.declare(name, Range(low=_ZERO, arity=arity))
            self.own_symbols.add(name)
        self._sums()

    def _last_run(self) -> Scalar:
        self.many = self._size()
        return self.many - 1

    def _size(self) -> Scalar:
        """Declare how many entries a buffer has."""
        return self.own_symbol("many", Range(low=_ONE, integer=True))

    def _sums(self) -> None:
        vectors = self.kernel.vectors
        for name in ("df", "du"):
            vectors.declare(name, Known(1, clock=lambda t: (t,)))
        for name in ("hb", "xb"):
            vectors.declare(name, Known(2, clock=lambda t, _: (t + 1,)))

    # ------------------------------------------------------------------ numbers and vectors

    def alpha(self, t: Number, j: Number) -> Scalar:
        """Return the weight of entry j in the buffer of update t."""
        return variable("alpha", t, j)

    def share(self, i: Number, t: Number) -> Scalar:
        """Return the sum of the weights of client i's entries there."""
        return 1 / self.n + self.over(i, t) - self.under(i, t)

    def over(self, i: Number, t: Number) -> Scalar:
        """Return how much more than 1/n that is."""
        return variable("over", i, t)

    def under(self, i: Number, t: Number) -> Scalar:
        """Return how much less."""
        return variable("under", i, t)

    def entries(self, t: Number, of: Expr) -> Expr:
        """Return Σ alpha[t, j]·X over the entries of a buffer."""
        return finite_sum("j", 0, self.many, of * self.alpha(t, self.j))

    def df(self, t: Number) -> Lin:
        """Return ∇f(w[t])."""
        return self.vec("df", t)

    def du(self, t: Number) -> Lin:
        """Return Σ alpha[t, j]·∇f_c(w[t]) over the entries, of clients c."""
        return self.vec("du", t)

    def hb(self, t: Number, q: Number) -> Lin:
        """Return Σ alpha[t, j]·g[t, j, q]."""
        return self.vec("hb", t, q)

    def xb(self, t: Number, q: Number) -> Lin:
        """Return Σ alpha[t, j]·e[t, j, q]."""
        return self.vec("xb", t, q)

    def gradient(self, k: Number) -> Lin:
        """Return ∇f(w[k])."""
        return self.df(k)

    # ------------------------------------------------------------------ what an update is

    def _seen(self, t: Number) -> None:
        """Make sure that t is one of the updates that the theorem looks at."""
        self._places(t)
        self.kernel.need(self.T - 1 - scalar(t), self.context, "updates up to T − 1 are looked at")

    def _local(self, *places: Number) -> None:
        t, j, q = places
        self._seen(t)
        self._places(j, q)
        self.kernel.need(self.many - 1 - scalar(j), self.context, "a buffer has so many entries")
        self.kernel.need(self.Q - 1 - scalar(q), self.context, "a run has Q local steps")

    def _defined(self, left: Lin, right: Lin) -> VectorFact:
        return self.kernel.make_vector(left, right, self.context, "axiom", axioms=["algorithm"])

    def begin(self, t: Number, j: Number) -> VectorFact:
        """Return z[t, j, 0] = w[s[t, j]]."""
        self._seen(t)
        return super().begin(t, j)

    def move(self, t: Number, j: Number, q: Number) -> VectorFact:
        """Return z[t, j, q + 1] = z[t, j, q] − η_ℓ·(g[t, j, q] + e[t, j, q])."""
        self._seen(t)
        return super().move(t, j, q)

    def whole_gradient(self, t: Number) -> VectorFact:
        """Return ∇f(w[t]) = (1/n)·Σ ∇f_i(w[t])."""
        self._places(t)
        return self._defined(self.df(t), self.mean_vector(lambda i: self.d(i, t)))

    def added(self, name: str, t: Number, q: Number) -> VectorFact:
        """Return hb[t, q] = Σ alpha·g over the entries of a buffer; xb[t, q] with e."""
        self._seen(t)
        self._places(q)
        of = chosen({"hb": self.g, "xb": self.e}, name)
        each = of(t, self.j, q) * self.alpha(t, self.j)
        return self._defined(self.vec(name, t, q), vector_sum("j", 0, self.many, each))

    def there(self, t: Number) -> VectorFact:
        """Return du[t] = Σ alpha·∇f_c(w[t]) over the entries of a buffer, of clients c."""
        self._seen(t)
        each = self.d(self.c(t, self.j), t) * self.alpha(t, self.j)
        return self._defined(self.du(t), vector_sum("j", 0, self.many, each))

    def regrouped(self, t: Number) -> VectorFact:
        """Return du[t] = Σ share[i, t]·∇f_i(w[t]): by clients, not by entries."""
        self._seen(t)
        return self._defined(self.du(t), vector_sum("i", 0, self.n, self.d(self.i, t) * self.share(self.i, t)))

    def update(self, t: Number) -> VectorFact:
        """Return w[t + 1] = w[t] − η_g·η_ℓ·Σ_q (hb[t, q] + xb[t, q])."""
        self._seen(t)
        steps = vector_sum("q", 0, self.Q, self.hb(t, self.q) + self.xb(t, self.q))
        return self._defined(self.w(scalar(t) + 1), self.w(t) - steps * (self.rate * self.step))

    def weights(self, t: Number, value: Expr) -> Fact:
        """Return Σ alpha[t, j]·X = X: the weights of a buffer have the sum 1."""
        self._seen(t)
        if "j" in value.names():
            raise ProofError(f"{value} is not the same for all entries")
        return self.axiom(equal(self.entries(t, value), value), "algorithm")

    def whole_share(self, t: Number, of: Lin) -> VectorFact:
        """Return Σ share[i, t]·v = v: the clients' weights in a buffer have the sum 1."""
        self._seen(t)
        if "i" in of.names():
            raise ProofError(f"{of} is not the same for all clients")
        return self._defined(vector_sum("i", 0, self.n, of * self.share(self.i, t)), of)

    # ------------------------------------------------------------------ what is read off a run

    def delay(self, t: Number, j: Number) -> Fact:
        """Return t − s[t, j] ≤ tau_max."""
        self._seen(t)
        return super().delay(t, j)

    def spread(self, t: Number) -> Scalar:
        """Return n·Σ_i (over[i, t]² + under[i, t]²)."""
        return variable("spread", t)

    def one_sided(self, i: Number, t: Number) -> Fact:
        """Return over[i, t]·under[i, t] = 0: they are the two parts of one number."""
        self._seen(t)
        return self.axiom(equal(expr(self.over(i, t) * self.under(i, t)), 0), "algorithm")

    def spread_of(self, t: Number) -> Fact:
        """Return Σ_i (over[i, t]² + under[i, t]²) = spread[t]/n, which defines spread[t]."""
        self._seen(t)
        each = finite_sum("i", 0, self.n, expr(self.over(self.i, t) ** 2 + self.under(self.i, t) ** 2))
        return self.axiom(equal(each, self.spread(t) / self.n), "algorithm")

    def path(self) -> Fact:
        """Return Σ_t spread[t] ≤ T·chi2_path, over the updates before T."""
        every = finite_sum("t", 0, self.T, expr(self.spread(self.t)))
        return self.axiom(every <= expr(self.T * self.symbol("chi2_path")), "algorithm")
