"""FedFa: each arrival moves the server model to the average of the last K arrivals.

Arrival t = 0, 1, … is the one of server update t; it has one run, place 0. Arrivals −K + 1 … −1 filled the window
before: their runs began at w[0], and are numbered with negative t. Since the noise of a run is drawn at its arrival,
theirs is drawn before time 0. Windows of N arrivals begin at k = 0 … T − 1; only arrivals up to T + N − 2 are looked
at.
"""

from dataclasses import replace

from boundlab.prove._context import FIRST, Range
from boundlab.prove._errors import ProofError
from boundlab.prove._facts import Fact, VectorFact
from boundlab.prove._options import NUMBERS, uncovered
from boundlab.prove._scalars import Number, Scalar, scalar, variable, whole
from boundlab.prove._terms import Expr, Lin, Vec, equal, expr, finite_sum, squared, vector_sum
from boundlab.prove._vectors import Known, Slope
from boundlab.prove.settings import _letters
from boundlab.prove.settings._fedfa_models import FedFaModels
from boundlab.prove.settings._step import chosen, declare_step
from boundlab.theorems import Theorem

_ZERO, _ONE = scalar(0), scalar(1)
_READ_OFF = ("tau_a", "share_bias", "lag", "C_lag")


class FedFaSetting(FedFaModels):
    """Beside models, gradients and runs: the virtual iterate that plain steps move, and what a window is made of."""

    letters = _letters.FEDFA

    def __init__(self, theorem: Theorem) -> None:
        # The printed proof begins with the average of models, (11), where there is no server rate.
        self.printed = theorem.of_paper
        self.delta = theorem.core.value("mode") == "delta"
        covered: dict[str, tuple[str, ...]] = {"start": ("after_full", "when_full")}
        covered |= {} if self.delta else {"eta_g": NUMBERS}  # it belongs to mode=delta
        covered |= {"K": NUMBERS} if self.printed else {}
        self.restrictions = uncovered(
            theorem,
            {"mode": ("param",) if self.printed else ("delta", "param"), "K": ("1",)},
            covered,
            {"Q": "Q", "K": "window"},
        )
        super().__init__(theorem, "eta_l")
        read = theorem.read
        for name in _READ_OFF:
            if name in read:
                self.own_symbol(name, self._range(name))
        self.T, self.Q = self.symbol("T"), self.symbol("Q")
        self.N = variable("N") if "N" in self.own_symbols else _ONE
        self.K = variable("window") if "window" in self.own_symbols else _ONE
        if self.printed:
            self.K = self.own_symbol("window", self._range("window"))
            self.rate, self.age = self.own_symbol("eta_g", Range(low=_ONE, high=_ONE)), ""
        elif self.delta:
            self.rate = declare_step(self, "eta_g")
            self.age = "tau_a"
        else:
            # Its value is nowhere used: what C_lag bounds is what belongs to this number.
            self.rate = self.own_symbol("kappa_lag", Range(low=_ZERO, high=_ONE, above=True))
            self.age = "lag"
        self._places_of_arrivals()
        self._virtual()

    def _symbols(self) -> None:
        super()._symbols()
        read = self.theorem.read
        for name in ("N", "window"):
            if name in read:
                self.context.declare(name, self._range(name))

    def _below_its_limit(self, name: str) -> Range:
        own = super()._below_its_limit(name)
        least = [one for one in self.theorem.conditions if str(one.limit) == name and one.quantity == 1]
        return replace(own, low=_ONE) if least else own

    def _places_of_arrivals(self) -> None:
        """Declare a, an arrival, those that filled the window included; k, where a window begins; u, a place in it."""
        last = self.T + self.N - 2
        self.a = self.context.declare("a", Range(low=1 - self.K, high=None if self.printed else last, integer=True))
        self.k = self.index("k", 0, self.T - 1)
        self.u, self.r = self.index("u", 0, self.N - 1), self.index("r", 0, last)
        families = [(name, Range(low=_ZERO, arity=2)) for name in ("over", "under")]
        if self.printed:
            families += [("nx", Range(low=FIRST, integer=True, arity=2))]
            families += [("tp", Range(low=_ZERO, high=FIRST, integer=True, arity=1))]
        elif not self.delta:
            families += [(name, Range(low=_ZERO, arity=2)) for name in ("more", "less")]
        families += [(name, Range(low=_ZERO, arity=1)) for name in ("size", "size_mean")]
        for name, own in families:
            self.context.declare(name, own)
            self.own_symbols.add(name)

    def _virtual(self) -> None:
        vectors, at = self.kernel.vectors, whole(self.t)
        for name in ("v", "fv"):
            vectors.declare(name, Known(1, clock=lambda t: (t,)))
        for name in ("dv", "mv"):
            vectors.declare(name, Known(2, clock=lambda _, t: (t,)))
        vectors.declare_slope("dv", Slope(("i", "t"), "f", self.client_index, Vec("v", (at,))))
        for name in ("gr", "er") if self.noisy else ("gr",):
            vectors.declare(name, Known(1, clock=lambda t: (t + 1,)))

    # ------------------------------------------------------------------ vectors and numbers

    def v(self, t: Number) -> Lin:
        """Return the virtual iterate after t updates."""
        return self.vec("v", t)

    def dv(self, i: Number, t: Number) -> Lin:
        """Return ∇f_i there."""
        return self.vec("dv", i, t)

    def fv(self, t: Number) -> Lin:
        """Return ∇f there."""
        return self.vec("fv", t)

    def gr(self, t: Number) -> Lin:
        """Return the gradients of the local steps of arrival t, added up."""
        return self.vec("gr", t)

    def er(self, t: Number) -> Lin:
        """Return their noise, added up."""
        return self.vec("er", t)

    def mv(self, i: Number, t: Number) -> Lin:
        """Return the mean of ∇f_i on the way from w[0] to v[t]."""
        return self.vec("mv", i, t)

    def change(self, t: Number) -> Lin:
        """Return Δ^(t), by how much the run of arrival t moved its model."""
        return self.z(t, 0, self.Q) - self.z(t, 0, 0)

    def over(self, i: Number, k: Number) -> Scalar:
        """Return how much more than 1/n of the arrivals of the window at k are of client i."""
        return variable("over", i, k)

    def under(self, i: Number, k: Number) -> Scalar:
        """Return how much less."""
        return variable("under", i, k)

    def size(self, t: Number) -> Scalar:
        """Return √E‖∇f(v[t])‖²."""
        return variable("size", t)

    def mean_size(self, t: Number) -> Scalar:
        """Return the mean of size over the updates before t."""
        return variable("size_mean", t)

    # ------------------------------------------------------------------ where arrivals are

    def _places(self, *numbers: Number) -> None:
        """Make sure that there are such arrivals, from −K + 1 on, places and local steps."""
        first, *others = map(scalar, numbers)
        self.kernel.need(first + self.K - 1, self.context, "arrivals are counted from 1 − K")
        for one in others:
            self.kernel.need(one, self.context, "runs and local steps are counted from 0")

    def _updates(self, t: Number) -> None:
        self.kernel.need(scalar(t), self.context, "server updates are counted from 0")

    def _seen(self, t: Number) -> None:
        """Make sure that t is one of the updates that the theorem looks at."""
        self._updates(t)
        self.kernel.need(self.T + self.N - 2 - scalar(t), self.context, "updates up to T + N − 2 are looked at")

    def _local(self, *places: Number) -> None:
        self._places(*places)
        t, j, q = map(scalar, places)
        self.kernel.need(self.T + self.N - 2 - t, self.context, "arrivals up to T + N − 2 are looked at")
        self.kernel.need(-j, self.context, "an arrival has one run")
        self.kernel.need(self.Q - 1 - q, self.context, "a run has Q local steps")

    def _begins(self, k: Number) -> None:
        self._updates(k)
        self.kernel.need(self.T - 1 - scalar(k), self.context, "windows begin at the updates 0 … T − 1")

    # ------------------------------------------------------------------ how the server and the virtual iterate move

    def _defined(self, left: Lin, right: Lin) -> VectorFact:
        return self.kernel.make_vector(left, right, self.context, "axiom", axioms=["algorithm"])

    def begin(self, t: Number, j: Number) -> VectorFact:
        """Return z[t, 0, 0] = w[s[t, 0]], for the arrivals of server updates."""
        self._updates(t)
        return super().begin(t, j)

    def update(self, t: Number) -> VectorFact:
        """Return how update t moves the server: by the mean change of the window, or to the mean of its models."""
        self._updates(t)
        now = scalar(t)
        arrival = now - self.K + self.j  # the window holds t − K + 1 … t
        if self.delta:
            window = vector_sum("j", 1, self.K + 1, self.change(arrival))
            return self._defined(self.w(now + 1), self.w(now) + window * (self.rate / self.K))
        window = vector_sum("j", 1, self.K + 1, self.z(arrival, 0, self.Q))
        return self._defined(self.w(now + 1), window / self.K)

    def held_back(self, t: Number) -> Lin:
        """Return what the window still holds back of the changes before t: (rate/K)·Σ j·Δ^(t − K + j), 0 < j < K."""
        parts = vector_sum("j", 1, self.K, self.change(scalar(t) - self.K + self.j) * self.j)
        return parts * (self.rate / self.K)

    def ahead(self, t: Number) -> VectorFact:
        """Return v[t] = w[t] + what the window holds back of the changes before t; in mode param for t = 0 alone."""
        self._updates(t)
        if not self.delta:
            self.kernel.need(-scalar(t), self.context, "in mode param the virtual iterate is not ahead by the window")
        return self._defined(self.v(t), self.w(t) + self.held_back(t))

    def virtual_move(self, t: Number) -> VectorFact:
        """Return v[t + 1] = v[t] + kappa_lag·Δ^(t), which defines it in mode param."""
        self._updates(t)
        if self.delta:
            self._assume("constant-lag")
        return self._defined(self.v(scalar(t) + 1), self.v(t) + self.change(t) * self.rate)

    def response(self, t: Number) -> VectorFact:
        """Return w[t] = v[t] + Σ (more − less)·Δ^(a), a < t: with which shares changes stand in the model."""
        self._seen(t)
        self._assume("constant-lag")
        a = self.a
        extra = variable("more", t, a) - variable("less", t, a)
        return self._defined(self.w(t), self.v(t) + vector_sum("a", 1 - self.K, t, self.change(a) * extra))

    def response_error(self, t: Number) -> Fact:
        """Return Σ (more + less) ≤ C_lag over the arrivals before t."""
        self._seen(t)
        self._assume("constant-lag")
        parts = finite_sum("a", 1 - self.K, t, expr(variable("more", t, self.a) + variable("less", t, self.a)))
        return self.axiom(parts <= expr(self.symbol("C_lag")), "algorithm")

    def delay(self, t: Number, j: Number) -> Fact:
        """Return t − s[t, 0] ≤ tau_a, or lag."""
        self._seen(t)
        return self.axiom(expr(scalar(t) - self.s(t, j)) <= expr(self.symbol(self.age)), "algorithm")

    # ------------------------------------------------------------------ what the printed proof speaks of

    def earliest(self, t: Number) -> Scalar:
        """Return t', at which model the earliest of the runs in the window of update t began."""
        return variable("tp", t)

    def coming(self, t: Number, i: Number) -> Scalar:
        """Return the first arrival of client i from update t on."""
        return variable("nx", t, i)

    def its_own(self, t: Number, i: Number, k: Number) -> VectorFact:
        """Return that the coming run is client i's: ∇f_c(w[k]) = ∇f_i(w[k]) for the client c of that arrival."""
        self._updates(t)
        self._updates(k)
        return self._defined(self.d(self.c(self.coming(t, i), 0), k), self.d(i, k))

    # ------------------------------------------------------------------ sums and means

    def whole_gradient(self, t: Number) -> VectorFact:
        """Return ∇f(v[t]) = (1/n)·Σ ∇f_i(v[t])."""
        self._updates(t)
        return self._defined(self.fv(t), self.mean_vector(lambda i: self.dv(i, t)))

    def added(self, name: str, t: Number) -> VectorFact:
        """Return gr[t] = Σ g over the local steps of arrival t; er[t] with e."""
        self._places(t)
        of = chosen({"gr": self.g, "er": self.e}, name)
        return self._defined(self.vec(name, t), vector_sum("q", 0, self.Q, of(t, 0, self.q)))

    def regrouped(self, k: Number) -> VectorFact:
        """Return Σ ∇f_c(v[k]) over the clients c of a window = N·(∇f(v[k]) + Σ (over − under)·∇f_i(v[k]))."""
        self._begins(k)
        left = vector_sum("u", 0, self.N, self.dv(self.c(scalar(k) + self.u, 0), k))
        return self._defined(left, (self.fv(k) + self.uneven(k)) * self.N)

    def uneven(self, k: Number) -> Lin:
        """Return Σ (over − under)·∇f_i(v[k])."""
        i = self.i
        return vector_sum("i", 0, self.n, self.dv(i, k) * (self.over(i, k) - self.under(i, k)))

    def balance(self, k: Number, value: Expr) -> Fact:
        """Return Σ (over − under)·X = 0: the shares of a window have the sum 1."""
        self._begins(k)
        if "i" in value.names():
            raise ProofError(f"{value} is not the same for all clients")
        shares = finite_sum("i", 0, self.n, value * (self.over(self.i, k) - self.under(self.i, k)))
        return self.axiom(equal(shares, 0), "algorithm")

    def bias(self, k: Number) -> Fact:
        """Return Σ (over + under) ≤ share_bias."""
        self._begins(k)
        parts = finite_sum("i", 0, self.n, expr(self.over(self.i, k) + self.under(self.i, k)))
        return self.axiom(parts <= expr(self.symbol("share_bias")), "algorithm")

    # ------------------------------------------------------------------ functions and lengths

    def spread(self, i: Number, t: Number) -> Fact:
        """Return ‖∇f_i(v[t]) − ∇f(v[t])‖² ≤ σ_g²."""
        self._updates(t)
        if self.bounds_at("sigma_g", "virtual"):
            self._begins(t)
        gap = self.dv(i, t) - self.fv(t)
        return self.axiom(squared(gap) <= expr(self.symbol("sigma_g") ** 2), "bounded-heterogeneity")

    def mean_slope(self, i: Number, t: Number) -> Fact:
        """Return f_i(v[t]) − f_i(w[0]) = ⟨mv[i, t], v[t] − w[0]⟩ (the mean value theorem)."""
        self._updates(t)
        way = self.v(t) - self.w(0)
        claim = equal(self.part(i, self.v(t)) - self.part(i, self.w(0)), self.dot(self.mv(i, t), way))
        return self.axiom(claim, "smooth")

    def bounded_mean(self, i: Number, t: Number) -> Fact:
        """Return ‖mv[i, t]‖² ≤ G: a mean of gradients, or 0 where the way has no length."""
        self._updates(t)
        if self.bounds_at("G_sq", "virtual-segments"):
            self.kernel.need(self.N - 1 - scalar(t), self.context, "ways are looked at to v[0] … v[N − 1]")
        return self.axiom(squared(self.mv(i, t)) <= expr(self.symbol("G_sq")), "bounded-gradients")

    def length(self, t: Number) -> Fact:
        """Return E‖∇f(v[t])‖² = size[t]², which defines size[t] ≥ 0."""
        self._updates(t)
        return self.axiom(equal(squared(self.fv(t)), self.size(t) ** 2), "algorithm")

    def lengths(self) -> Fact:
        """Return T·size_mean[T] = Σ size[k] over the updates before T, which defines size_mean[T]."""
        every = finite_sum("k", 0, self.T, expr(self.size(self.k)))
        return self.axiom(equal(every, self.T * self.mean_size(self.T)), "algorithm")
