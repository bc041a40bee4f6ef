"""Asynchronous SGD whose clients have one function: every gradient is applied when it arrives, however old it is.

So it is for every algorithm whose runs are in that class, those of plug-ins among them; some arrivals may do nothing.
The model after k arrivals is x[k]; the gradient that is applied then was taken at x[s[k]], with s[k] ≤ k and
k − s[k] ≤ tau_max. Its sample is one that no earlier model has seen.
"""

from boundlab.prove._arrivals import replay_arrivals
from boundlab.prove._chance import orthogonal, uncorrelated
from boundlab.prove._context import FIRST, Range
from boundlab.prove._errors import ProofError
from boundlab.prove._facts import Fact, VectorFact
from boundlab.prove._instance import Instance
from boundlab.prove._options import refuse_other_steps, uncovered
from boundlab.prove._replay import Runs
from boundlab.prove._scalars import Number, Scalar, scalar, variable
from boundlab.prove._terms import Lin, Vec, expr
from boundlab.prove._vectors import Known, Slope
from boundlab.prove.setting import Setting
from boundlab.prove.settings import _letters
from boundlab.prove.settings._instances import DELAYED
from boundlab.prove.settings._step import declare_step, parameters_of, single
from boundlab.registry import lookup
from boundlab.theorems import Theorem


class DelayedSetting(Setting):
    """Models x[k], gradients g[k] at them, noise e[k] of the gradient that is applied in iteration k."""

    letters = _letters.DELAYED

    def __init__(self, theorem: Theorem) -> None:
        if theorem.algorithm == "async_sgd":
            self.restrictions = uncovered(theorem, {"schedule": ("constant",), "sampling": ("arrival",)}, {})
        else:
            refuse_other_steps(theorem)
        if not {"one-function", "fixed-schedule"} <= theorem.core.assumed:
            raise ProofError(
                f"proofs about {theorem.algorithm} know clients with one function, and schedules fixed beforehand"
            )
        super().__init__(theorem)
        self.tau_max = self.own_symbol("tau_max", self._range("tau_max"))
        self.context.declare("s", Range(low=scalar(0), high=FIRST, integer=True, arity=1))
        self.own_symbols.add("s")
        self.alpha = declare_step(self, "alpha")
        self.k, self.j, self.l = self.index("k"), self.index("j"), self.index("l")
        vectors = self.kernel.vectors
        vectors.declare("x", Known(1, clock=lambda k: (k,)))
        vectors.declare("g", Known(1, clock=lambda k: (k,)))
        vectors.declare_slope("g", Slope(("k",), "f", (), Vec("x", (self.k,))))
        vectors.declare("e", Known(1, clock=lambda k: (k, scalar(1)), drawn=lambda k: (k,)))

    # ------------------------------------------------------------------ vectors

    def x(self, k: Number) -> Lin:
        """Return the model after k arrivals."""
        return self.vec("x", k)

    def g(self, k: Number) -> Lin:
        """Return ∇f there."""
        return self.vec("g", k)

    def e(self, k: Number) -> Lin:
        """Return the noise of the gradient that is applied in iteration k."""
        return self.vec("e", k)

    def s(self, k: Number) -> Scalar:
        """Return of which model that gradient is."""
        return variable("s", k)

    def model(self, k: Number) -> Lin:
        """Return x[k]."""
        return self.x(k)

    def gradient(self, k: Number) -> Lin:
        """Return ∇f at x[k]."""
        return self.g(k)

    # ------------------------------------------------------------------ how a run moves

    def move(self, k: Number) -> VectorFact:
        """Return x[k + 1] = x[k] − α·(g[s[k]] + e[k])."""
        now = scalar(k)
        self.kernel.need(now, self.context, "an iteration has a number ≥ 0")
        right = self.x(now) - (self.g(self.s(now)) + self.e(now)) * self.alpha
        return self.kernel.make_vector(self.x(now + 1), right, self.context, "axiom", axioms=["algorithm"])

    def delay(self, k: Number) -> Fact:
        """Return k − s[k] ≤ tau_max."""
        now = scalar(k)
        self.kernel.need(now, self.context, "an iteration has a number ≥ 0")
        return self.axiom(expr(now - self.s(now)) <= expr(self.tau_max), "algorithm")

    def unbiased(self, noise: Lin, other: Lin) -> Fact:
        """Return E⟨ξ, v⟩ = 0 for a vector v that is known when ξ is drawn."""
        self._assume("fixed-schedule")
        return orthogonal(self.kernel, single(noise), single(other))

    def independent(self, name: str, lo: Number, hi: Number) -> Fact:
        """Return E‖Σ e[name]‖² = Σ E‖e[name]‖²."""
        return uncorrelated(self.kernel, self.e(variable(name)), name, lo, hi)

    # ------------------------------------------------------------------ exact models

    def instances(self) -> tuple[Instance, ...]:
        """Return exact instances: who arrives is fixed, and so is of which model a gradient is."""
        return DELAYED

    def runs(self, instance: Instance) -> Runs:
        """Replay the program."""
        compiler = lookup("algorithms", "async_sgd")
        program = compiler.program(parameters_of(compiler, {"alpha": float(instance.alpha)}), instance.n)
        runs = replay_arrivals(program, instance)
        for k in range(instance.horizon + 1):
            models = runs.at(("x", (k,)))
            runs.add(("g", (k,)), lambda at, on=models: instance.functions[0].slope(on[at]))  # type: ignore[misc]
        return runs
