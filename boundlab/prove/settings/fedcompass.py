"""FedCompass: the server adds up finished runs of its clients, each with a weight and local steps of its own.

Update t adds a[t, j]·(model that run j ended at − model that it began at) for j = 0 … many[t] − 1; run j has
steps[t, j] local steps. The objective is Σ p_i·f_i with the weights p of the algorithm. Whatever the scheduler does,
these are numbers that do not depend on the noise; what a theorem reads off them is said here as axioms, over windows of
N updates that begin at k = 0 … T − 1. Only the updates 0 … T + N − 2 are looked at.
"""

from boundlab.prove._context import Range
from boundlab.prove._errors import ProofError
from boundlab.prove._facts import Fact, VectorFact
from boundlab.prove._options import NUMBERS, uncovered
from boundlab.prove._scalars import Number, Scalar, scalar, variable
from boundlab.prove._terms import Expr, Lin, equal, expr, finite_sum, squared, vector_sum
from boundlab.prove._vectors import Known
from boundlab.prove.settings import _letters
from boundlab.prove.settings._fedcompass_models import FedCompassModels
from boundlab.prove.settings._step import chosen
from boundlab.theorems import Theorem

_ZERO, _ONE = scalar(0), scalar(1)
# Symbols of the scheduler, and symbols that are read off a run; ends of ranges of others may name them.
_SCHEDULER = ("N", "Qmin", "Qmax", "speed_ratio", "mu_step")
_OF_WINDOWS = ("W_min", "W_max")
_READ_OFF = ("Q_mean", "A_max", "W_min", "W_max", "V_max", "share_bias", "Q_bias")


class FedCompassSetting(FedCompassModels):
    """Beside models, gradients and runs: what an update and a window are made of."""

    letters = _letters.FEDCOMPASS
    objective_name = "F"
    of_schedules = frozenset({"equal-weights"})

    def __init__(self, theorem: Theorem) -> None:
        # As the paper's proof has it, too: every run weighs 1/n.
        assumed = "equal-weights" in theorem.core.assumed
        self.equal = assumed or theorem.of_paper
        # Weights are read off the run, or all 1/n by an assumption; the scheduler's numbers make the schedule.
        numbers = ("latest_time_factor", "a", "b", "speeds", "Qmin", "Qmax")
        words = {"prose_max": ("no", "yes"), "warmup": ("qmin", "speeds")}
        weights = {
            "st": ("constant", "inverse", "polynomial", "hinge"),
            "normalise": ("no", "yes"),
            "p": NUMBERS,
            "alpha": NUMBERS,
        }
        known = {"st": ("constant",), "normalise": ("no",), "alpha": ("1",)}
        of_run = weights if assumed or not self.equal else {}
        self.restrictions = uncovered(
            theorem, known, {**dict.fromkeys(numbers, NUMBERS), **words, **of_run}, {"Qmin": "Qmin", "Qmax": "Qmax"}
        )
        super().__init__(theorem, "eta")
        for name in _READ_OFF:
            if name in theorem.read | {str(one.quantity) for one in theorem.conditions}:
                own = self._below_its_limit(name)
                above_least = name == "W_max" and "W_min" in self.own_symbols
                low = variable("W_min") if above_least else own.low
                self.own_symbol(name, Range(low, own.high, own.above and not above_least))
        self.T = self.symbol("T")
        self.N = variable("N") if "N" in self.own_symbols else _ONE
        self.Qmax = self.symbol("Qmax")
        self._indices()
        self._families()
        self._sums()

    def _symbols(self) -> None:
        super()._symbols()
        used = self.theorem.read
        for name in _SCHEDULER:
            if name in used:
                low = variable("Qmin") if name == "Qmax" and "Qmin" in used else self._range(name).low
                self.context.declare(name, Range(low, integer=name in ("N", "Qmin", "Qmax")))

    def _indices(self) -> None:
        """Declare k, where a window begins; u and v, places in it; r and l, updates; m, a count."""
        last = self.T + self.N - 2
        self.k = self.index("k", 0, self.T - 1)
        self.u, self.v = self.index("u", 0, self.N - 1), self.index("v", 0, self.N - 1)
        self.r = self.index("r", 0, last)

    def _families(self) -> None:
        whole_families = (
            ("many", Range(low=_ZERO, integer=True, arity=1)),
            ("steps", Range(low=_ONE, high=self.Qmax, integer=True, arity=2)),
        )
        numbers = ["over", "under"] + ([] if self.equal else ["a"])
        families = [*whole_families, *((name, Range(low=_ZERO, arity=2)) for name in numbers)]
        if "A_max" in self.own_symbols:
            families.append(("A", Range(low=_ZERO, high=self.symbol("A_max"), arity=1)))
        if {"N", *_OF_WINDOWS} & self.own_symbols:
            low, high = (variable(name) if name in self.own_symbols else None for name in _OF_WINDOWS)
            families.append(("W", Range(low=_ZERO if low is None else low, high=high, arity=1)))
        if not self.equal:
            families.append(("p", Range(low=_ZERO, arity=1)))
        families += [(name, Range(low=_ZERO, arity=1)) for name in ("size", "size_mean")]
        for name, own in families:
            self.context.declare(name, own)
            self.own_symbols.add(name)

    def _sums(self) -> None:
        vectors = self.kernel.vectors
        vectors.declare("df", Known(1, clock=lambda t: (t,)))
        vectors.declare("gr", Known(1, clock=lambda t: (t + 1,)))
        if self.noisy:
            vectors.declare("er", Known(1, clock=lambda t: (t + 1,)))
        vectors.declare("du", Known(2, clock=lambda t, _: (t,)))
        vectors.declare("mv", Known(2, clock=lambda _, t: (t,)))

    # ------------------------------------------------------------------ numbers of the schedule

    def p(self, i: Number) -> Scalar:
        """Return the weight of f_i in the objective."""
        return 1 / self.n if self.equal else variable("p", i)

    def a(self, t: Number, j: Number) -> Scalar:
        """Return the weight of run j of update t."""
        return 1 / self.n if self.equal else variable("a", t, j)

    def steps(self, t: Number, j: Number) -> Scalar:
        """Return how many local steps it has."""
        return variable("steps", t, j)

    def many(self, t: Number) -> Scalar:
        """Return how many runs update t adds up."""
        return variable("many", t)

    def A(self, t: Number) -> Scalar:  # noqa: N802  (as in the theorems)
        """Return the weighted number of local steps in update t."""
        return variable("A", t)

    def W(self, k: Number) -> Scalar:  # noqa: N802
        """Return the weighted number of local steps in the window that begins at update k."""
        # Where no symbol is about windows, each of them is one update.
        return variable("W", k) if {"N", *_OF_WINDOWS} & self.own_symbols else self.A(k)

    def over(self, i: Number, k: Number) -> Scalar:
        """Return how much more of the window's work client i has than p_i of it."""
        return variable("over", i, k)

    def under(self, i: Number, k: Number) -> Scalar:
        """Return how much less of it."""
        return variable("under", i, k)

    def size(self, k: Number) -> Scalar:
        """Return √E‖∇F(w[k])‖²."""
        return variable("size", k)

    def runs_of(self, t: Number, of: Expr) -> Expr:
        """Return Σ over the runs j of update t."""
        return finite_sum("j", 0, self.many(t), of)

    # ------------------------------------------------------------------ vectors

    def df(self, t: Number) -> Lin:
        """Return ∇F(w[t])."""
        return self.vec("df", t)

    def gr(self, t: Number) -> Lin:
        """Return the weighted gradients of update t, added up."""
        return self.vec("gr", t)

    def er(self, t: Number) -> Lin:
        """Return their noise."""
        return self.vec("er", t)

    def du(self, t: Number, u: Number) -> Lin:
        """Return what gr[t + u] would be with all gradients at w[t]."""
        return self.vec("du", t, u)

    def mv(self, i: Number, t: Number) -> Lin:
        """Return the mean of ∇f_i on the way from w[0] to w[t]."""
        return self.vec("mv", i, t)

    def gradient(self, k: Number) -> Lin:
        """Return ∇F(w[k])."""
        return self.df(k)

    def weight(self, i: Number) -> Scalar:
        """Return p_i."""
        return self.p(i)

    # ------------------------------------------------------------------ definitions

    def _defined(self, left: Lin, right: Lin) -> VectorFact:
        return self.kernel.make_vector(left, right, self.context, "axiom", axioms=["algorithm"])

    def whole_gradient(self, t: Number) -> VectorFact:
        """Return ∇F(w[t]) = Σ p_i·∇f_i(w[t])."""
        self._places(t)
        return self._defined(self.df(t), vector_sum("i", 0, self.n, self.d(self.i, t) * self.p(self.i)))

    def added(self, name: str, t: Number) -> VectorFact:
        """Return gr[t] = Σ a·g over the runs of update t and their local steps; er[t] with e."""
        self._places(t)
        of = chosen({"gr": self.g, "er": self.e}, name)
        return self._defined(self.vec(name, t), self._all_steps(t, of(t, self.j, self.q)))

    def moved(self, t: Number, u: Number) -> VectorFact:
        """Return du[t, u] = Σ a·steps·∇f_c(w[t]) over the runs of update t + u, of clients c."""
        self._places(t, u)
        now, j = scalar(t) + u, self.j
        each = self.d(self.c(now, j), t) * (self.a(now, j) * self.steps(now, j))
        return self._defined(self.du(t, u), vector_sum("j", 0, self.many(now), each))

    def _all_steps(self, t: Number, each: Lin) -> Lin:
        inner = vector_sum("q", 0, self.steps(t, self.j), each * self.a(t, self.j))
        return vector_sum("j", 0, self.many(t), inner)

    def update(self, t: Number) -> VectorFact:
        """Return w[t + 1] = w[t] − η·Σ a·(g + e) over the runs of update t and their local steps."""
        self._seen(t)
        now = scalar(t)
        all_steps = self._all_steps(now, self.sampled(now, self.j, self.q))
        return self._defined(self.w(now + 1), self.w(now) - all_steps * self.step)

    def weights(self, value: Expr) -> Fact:
        """Return Σ p_i·X = X: the weights of the clients have the sum 1."""
        if "i" in value.names():
            raise ProofError(f"{value} is not the same for all clients")
        return self.axiom(equal(finite_sum("i", 0, self.n, value * self.p(self.i)), value), "algorithm")

    # ------------------------------------------------------------------ what is read off a run

    def _seen(self, t: Number) -> None:
        """Make sure that t is one of the updates that the theorem looks at."""
        self._places(t)
        self.kernel.need(self.T + self.N - 2 - scalar(t), self.context, "updates up to T + N − 2 are looked at")

    def _local(self, *places: Number) -> None:
        t, j, q = places
        self._seen(t)
        self._places(j, q)
        self.kernel.need(self.many(t) - 1 - scalar(j), self.context, "an update adds up so many runs")
        self.kernel.need(self.steps(t, j) - 1 - scalar(q), self.context, "a run has so many local steps")

    def _begins(self, k: Number) -> None:
        self._places(k)
        self.kernel.need(self.T - 1 - scalar(k), self.context, "windows begin at the updates 0 … T − 1")

    def delay(self, t: Number, j: Number) -> Fact:
        """Return t − s[t, j] ≤ tau_max."""
        self._seen(t)
        return super().delay(t, j)

    def work(self, t: Number) -> Fact:
        """Return Σ a·steps = A[t] over the runs of update t."""
        self._seen(t)
        each = expr(self.a(t, self.j) * self.steps(t, self.j))
        return self.axiom(equal(self.runs_of(t, each), self.A(t)), "algorithm")

    def window_work(self, k: Number) -> Fact:
        """Return Σ A[k + u] = W[k] over a window."""
        self._begins(k)
        return self.axiom(equal(finite_sum("u", 0, self.N, self.A(scalar(k) + self.u)), self.W(k)), "algorithm")

    def window_squares(self, k: Number) -> Fact:
        """Return Σ a²·steps ≤ V_max over the runs of a window."""
        self._begins(k)
        return self.axiom(self.squares_of(k) <= expr(self.symbol("V_max")), "algorithm")

    def squares_of(self, k: Number) -> Expr:
        """Return Σ a²·steps over the runs of a window."""
        t = scalar(k) + self.u
        each = expr(self.a(t, self.j) ** 2 * self.steps(t, self.j))
        return finite_sum("u", 0, self.N, self.runs_of(t, each))

    def regrouped(self, k: Number) -> VectorFact:
        """Return Σ du[k, u] over a window = W·∇F(w[k]) + Σ (over − under)·∇f_i(w[k]): by clients, not by runs."""
        self._begins(k)
        extra = vector_sum("i", 0, self.n, self.d(self.i, k) * (self.over(self.i, k) - self.under(self.i, k)))
        return self._defined(vector_sum("u", 0, self.N, self.du(k, self.u)), self.df(k) * self.W(k) + extra)

    def balance(self, k: Number, of: Lin) -> VectorFact:
        """Return Σ (over − under)·v = 0: the clients' shares of a window's work have the sum of the p_i."""
        self._begins(k)
        if "i" in of.names():
            raise ProofError(f"{of} is not the same for all clients")
        shares = vector_sum("i", 0, self.n, of * (self.over(self.i, k) - self.under(self.i, k)))
        return self._defined(shares, Lin({}))

    def bias(self, k: Number) -> Fact:
        """Return Σ (over + under) ≤ W[k]·(largest Σ|omega_i − p_i|): share_bias, or Q_bias of one group."""
        self._begins(k)
        if "share_bias" not in self.own_symbols and (not self.equal or "N" in self.own_symbols):
            raise ProofError("Q_bias is about the clients of one update where all weights are 1/n")
        size = self.symbol("share_bias" if "share_bias" in self.own_symbols else "Q_bias")
        parts = finite_sum("i", 0, self.n, expr(self.over(self.i, k) + self.under(self.i, k)))
        return self.axiom(parts <= expr(self.W(k) * size), "algorithm")

    def mean_work(self) -> Fact:
        """Return Σ A[k] = T·Q_mean over the updates before T, for weights 1/n."""
        if not self.equal:
            raise ProofError("Q_mean is the mean of the A[t] where all weights are 1/n")
        every = finite_sum("k", 0, self.T, expr(self.A(self.k)))
        return self.axiom(equal(every, self.T * self.symbol("Q_mean")), "algorithm")

    # ------------------------------------------------------------------ functions, chance, lengths

    def mean_slope(self, i: Number, t: Number) -> Fact:
        """Return f_i(w[t]) − f_i(w[0]) = ⟨mv[i, t], w[t] − w[0]⟩ (the mean value theorem)."""
        self._places(t)
        way = self.w(t) - self.w(0)
        claim = equal(self.part(i, self.w(t)) - self.part(i, self.w(0)), self.dot(self.mv(i, t), way))
        return self.axiom(claim, "smooth")

    def bounded_mean(self, i: Number, t: Number) -> Fact:
        """Return ‖mv[i, t]‖² ≤ G: a mean of gradients; mv[i, 0], of a way without length, is 0."""
        self._places(t)
        if self.bounds_at("G_sq", "segments"):
            self.kernel.need(self.N - 1 - scalar(t), self.context, "ways are looked at to w[1] … w[N − 1]")
        return self.axiom(squared(self.mv(i, t)) <= expr(self.symbol("G_sq")), "bounded-gradients")

    def length(self, k: Number) -> Fact:
        """Return E‖∇F(w[k])‖² = size[k]², which defines size[k] ≥ 0."""
        self._places(k)
        return self.axiom(equal(squared(self.df(k)), self.size(k) ** 2), "algorithm")

    def mean_size(self, t: Number) -> Scalar:
        """Return the mean of size[k] over the updates before t."""
        return variable("size_mean", t)

    def lengths(self) -> Fact:
        """Return T·size_mean[T] = Σ size[k] over the updates before T, which defines size_mean[T]."""
        every = finite_sum("k", 0, self.T, expr(self.size(self.k)))
        return self.axiom(equal(every, self.T * self.mean_size(self.T)), "algorithm")
