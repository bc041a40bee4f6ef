"""What algorithms share whose server adds up finished runs of local steps: FedBuff, FedCompass, FedFa and their kin.

Server update t = 0, 1, … makes the model w[t + 1] out of w[t] and the runs j = 0, 1, … that enter it: those of clients
c[t, j], which began at the models w[s[t, j]]. The point of such a run after q local steps is z[t, j, q]. A run counts
where it arrives, also in time: the noise of its local step q is drawn at (t, j, q), although that was computed earlier.
This is sound for a schedule which does not depend on the noise: w[s] is made of runs that arrived before update s, and
no draw is used twice.
"""

from fractions import Fraction

from boundlab.prove._chance import orthogonal, uncorrelated
from boundlab.prove._context import FIRST, Range
from boundlab.prove._errors import ProofError
from boundlab.prove._facts import Fact, VectorFact
from boundlab.prove._functions import inner, plus, root_above
from boundlab.prove._instance import Instance
from boundlab.prove._replay import Name
from boundlab.prove._scalars import Number, Scalar, scalar, variable, whole
from boundlab.prove._spread import spread, steepest
from boundlab.prove._terms import Expr, Lin, Vec, expr, squared
from boundlab.prove._vectors import Known, Slope
from boundlab.prove.setting import Setting
from boundlab.prove.settings import _letters
from boundlab.prove.settings._step import declare_step, single
from boundlab.theorems import Theorem

_ZERO = scalar(0)
# Symbols of the functions, of the noise and of the schedule; ends of ranges of others may name them.
_CONSTANTS = ("sigma_l", "sigma_g", "sigma_g_mean", "G_sq", "Q", "tau_max")


class RunsSetting(Setting):
    """Models w[t], gradients d[i, t] at them, and runs with points z[t, j, q], gradients g[t, j, q], noise e[t, j, q].

    Parameters
    ----------
    step
        The name of the local step size in the theorem.
    """

    letters = _letters.RUNS
    noise_size = "sigma_l"
    # Assumptions on schedules that each algorithm decides for its own instances.
    of_schedules: frozenset[str] = frozenset()
    # Vectors of exact models: gradients of local steps, with their points; gradients that are compared, and their mean.
    steps_taken, compared = ("g", "z"), ("d", "df")

    def __init__(self, theorem: Theorem, step: str) -> None:
        super().__init__(theorem)
        if not theorem.of_paper:
            # Printed theorems leave it unsaid, and use it: their samples are drawn without regard to the events.
            self._assume("fixed-schedule")
        read = theorem.read
        for name in _CONSTANTS:
            if name in read:
                self.own_symbol(name, self._below_its_limit(name))
        self.step = declare_step(self, step)
        self.t, self.j = self.index("t"), self.index("j", 0, self._last_run())
        self.q = self.index("q", 0, variable("Q") - 1 if "Q" in self.own_symbols else None)
        self._schedule()
        self._vectors()

    def _last_run(self) -> Scalar | None:
        """Return the number of the last run of an update, where all have as many."""
        return None

    def _schedule(self) -> None:
        """Declare whose run j of update t is, and of which model it began."""
        for name, high in (("c", self.n - 1), ("s", FIRST)):
            self.context.declare(name, Range(low=_ZERO, high=high, integer=True, arity=2))
            self.own_symbols.add(name)

    def _vectors(self) -> None:
        vectors, run = self.kernel.vectors, ("t", "j", "q")
        at = tuple(whole(variable(name)) for name in run)
        vectors.declare("w", Known(1, clock=lambda t: (t,)))
        vectors.declare("d", Known(2, clock=lambda _, t: (t,)))
        vectors.declare_slope("d", Slope(("i", "t"), "f", self.client_index, Vec("w", at[:1])))
        for name in ("z", "g"):
            vectors.declare(name, Known(3, clock=lambda t, j, q: (t, j, q)))
        which = () if self.one_function else (variable("c", self.t, self.j),)
        vectors.declare_slope("g", Slope(run, "f", which, Vec("z", at)))
        if self.noisy:
            drawn = Known(3, clock=lambda t, j, q: (t, j, q + 1), drawn=lambda t, j, q: (t, j, q))
            vectors.declare("e", drawn)

    # ------------------------------------------------------------------ vectors

    def w(self, t: Number) -> Lin:
        """Return the server's model after t updates."""
        return self.vec("w", t)

    def d(self, i: Number, t: Number) -> Lin:
        """Return ∇f_i at that model."""
        return self.vec("d", i, t)

    def z(self, t: Number, j: Number, q: Number) -> Lin:
        """Return the point of run j of update t after q local steps."""
        return self.vec("z", t, j, q)

    def g(self, t: Number, j: Number, q: Number) -> Lin:
        """Return the gradient of its client's function there."""
        return self.vec("g", t, j, q)

    def e(self, t: Number, j: Number, q: Number) -> Lin:
        """Return the noise of that gradient."""
        return self.vec("e", t, j, q)

    def sampled(self, t: Number, j: Number, q: Number) -> Lin:
        """Return the stochastic gradient g[t, j, q] + e[t, j, q]; g where there is no noise."""
        return self.g(t, j, q) + self.e(t, j, q) if self.noisy else self.g(t, j, q)

    def c(self, t: Number, j: Number) -> Scalar:
        """Return whose run j of update t is."""
        return variable("c", t, j)

    def s(self, t: Number, j: Number) -> Scalar:
        """Return after how many updates the model was made that it began at."""
        return variable("s", t, j)

    def model(self, k: Number) -> Lin:
        """Return w[k]."""
        return self.w(k)

    def gradient(self, k: Number) -> Lin:
        """Return ∇f at w[k]: the mean of the clients' gradients."""
        return self.mean_vector(lambda i: self.d(i, k))

    # ------------------------------------------------------------------ how a run moves

    def begin(self, t: Number, j: Number) -> VectorFact:
        """Return z[t, j, 0] = w[s[t, j]]."""
        self._places(t, j)
        right = self.w(self.s(t, j))
        return self.kernel.make_vector(self.z(t, j, 0), right, self.context, "axiom", axioms=["algorithm"])

    def move(self, t: Number, j: Number, q: Number) -> VectorFact:
        """Return z[t, j, q + 1] = z[t, j, q] − η·(g[t, j, q] + e[t, j, q])."""
        self._places(t, j, q)
        right = self.z(t, j, q) - self.sampled(t, j, q) * self.step
        left = self.z(t, j, scalar(q) + 1)
        return self.kernel.make_vector(left, right, self.context, "axiom", axioms=["algorithm"])

    def delay(self, t: Number, j: Number) -> Fact:
        """Return t − s[t, j] ≤ tau_max."""
        self._places(t, j)
        return self.axiom(expr(scalar(t) - self.s(t, j)) <= expr(self.symbol("tau_max")), "algorithm")

    def limit(self, number: int) -> Fact:
        """Return a condition of the theorem, by its place among them, about a quantity of several symbols."""
        if not 0 <= number < len(self.theorem.conditions):
            raise ProofError(f"{self.theorem.id} has {len(self.theorem.conditions)} conditions, counted from 0")
        one = self.theorem.conditions[number]
        return self.condition(expr(self.formula(one.quantity)) <= expr(self.formula(one.limit)), one.statement)

    def _places(self, *numbers: Number) -> None:
        for one in numbers:
            self.kernel.need(scalar(one), self.context, "updates, runs and local steps are counted from 0")

    # ------------------------------------------------------------------ chance

    def unbiased(self, noise: Lin, other: Lin) -> Fact:
        """Return E⟨ξ, v⟩ = 0 for a vector v that is known when ξ is drawn.

        Noise is drawn independently of the events, and these do not depend on it: this holds for each schedule.
        """
        return orthogonal(self.kernel, single(noise), single(other))

    def independent(self, noise: Lin, name: str, lo: Number, hi: Number, weight: Number = 1) -> Fact:
        """Return E‖Σ weight·ξ‖² = Σ weight²·E‖ξ‖², for noises that differ in their index ``name``."""
        return uncorrelated(self.kernel, noise, name, lo, hi, weight)

    # ------------------------------------------------------------------ exact models

    def why_not(self, instance: Instance) -> str:
        """Return which assumption an instance does not meet; its arrivals are a schedule that is fixed."""
        of_runs = {"bounded-run", "fixed-schedule", *self.of_schedules}
        others = self.assumed - {"bounded-gradients", "bounded-heterogeneity", *of_runs}
        if why := instance.why_not(others, self.noisy):
            return why
        if self.theorem.points:
            return ""  # bounds along the run there are
        if "bounded-gradients" in self.assumed and "B" not in instance.least():
            return "a gradient is not bounded"
        if "bounded-heterogeneity" in self.assumed and spread(instance.functions, self.shares(instance)) is None:
            return "gradients are not at bounded distances of their mean"
        return ""

    def shares(self, instance: Instance) -> tuple[Fraction, ...]:
        """Return the weights of the clients' functions in f."""
        return tuple(Fraction(1, instance.n) for _ in instance.functions)

    def constants(self, instance: Instance) -> dict[str, Fraction]:
        """Return the numbers of symbols; those that are read off a run are added by each algorithm."""
        found = instance.constants()
        found |= {str(self.step): instance.alpha, "sigma_l": found["sigma"], "Q": found["M"]}
        found.pop("tau_max", None)
        if "B" in found:
            found["G_sq"] = found["B"] ** 2
        if (gaps := spread(instance.functions, self.shares(instance))) is not None:
            found |= {"sigma_g": root_above(gaps[0]), "sigma_g_mean": root_above(gaps[1])}
        return found | (self._at_points(instance) if self.theorem.points else {})

    def ways(self, instance: Instance) -> list[Name]:
        """Return the points on the ways to which, from w[0], gradients are bounded."""
        return []

    def _at_points(self, instance: Instance) -> dict[str, Fraction]:
        """Return the bounds on gradients at the points of the theorem, whatever happens in a run."""
        runs, clients = self.runs(instance), range(instance.n)
        gradient, point = self.steps_taken
        # A run goes on from each point at which it takes a gradient.
        taken = [
            at
            for (name, (*run, q)), column in runs.columns.items()
            if name == gradient and (point, (*run, q + 1)) in runs.columns
            for at in column.values
        ]
        ends = [runs.at(name) for name in self.ways(instance)]
        starts = runs.at(("w", (0,)))
        ways = [pair for one in ends for pair in zip(starts, one, strict=True)]
        long = [steepest(function, one[0], two[0]) for function in instance.functions for one, two in ways]
        slopes, mean = self.compared
        gaps = [
            [inner(gap, gap) for i in clients for gap in [plus(runs.at((slopes, (i, t)))[place], whole, Fraction(-1))]]
            for t in range(instance.horizon)
            for place, whole in enumerate(runs.at((mean, (t,))))
        ]
        found = {
            "G_sq": max([*(inner(at, at) for at in taken), *long]),
            "sigma_g": root_above(max(map(max, gaps))),
            "sigma_g_mean": root_above(max(sum(own, Fraction()) for own in gaps) / instance.n),
        }
        return {name: value for name, value in found.items() if name in self.theorem.points}

    # ------------------------------------------------------------------ axioms

    def _local(self, *places: Number) -> None:
        """Make sure that a local step t, j, q is one of those that the theorem looks at."""
        raise NotImplementedError

    def _compared(self, symbol: str, t: Number) -> None:
        """Make sure that a constant bounds the gradients at w[t] from each other."""
        if self.bounds_at(symbol, "server", "models"):
            self._places(t)
            self.kernel.need(self.symbol("T") - 1 - scalar(t), self.context, "models are looked at before update T")

    def bounded_gradient(self, gradient: Lin) -> Fact:
        """Return ‖g‖² ≤ G for a gradient of an f_i; G_sq is the symbol of G."""
        vector, _, _ = self._slope(gradient)
        if self.bounds_at("G_sq", "local-steps"):
            if vector.name != "g":
                raise ProofError(f"{gradient} is no gradient of a local step")
            self._local(*vector.indices)
        return self.axiom(squared(gradient) <= expr(self.symbol("G_sq")), "bounded-gradients")

    def heterogeneity(self, i: Number, t: Number) -> Fact:
        """Return ‖∇f_i(w[t]) − ∇f(w[t])‖² ≤ σ_g²."""
        self._compared("sigma_g", t)
        gap = self.d(i, t) - self.gradient(t)
        return self.axiom(squared(gap) <= expr(self.symbol("sigma_g") ** 2), "bounded-heterogeneity")

    def mean_heterogeneity(self, t: Number) -> Fact:
        """Return (1/n)·Σ ‖∇f_i(w[t]) − ∇f(w[t])‖² ≤ σ_g², the mean heterogeneity."""
        self._compared("sigma_g_mean", t)
        left: Expr = self.mean(lambda i: squared(self.d(i, t) - self.gradient(t)))
        return self.axiom(left <= expr(self.symbol("sigma_g_mean") ** 2), "bounded-heterogeneity")
