"""Gradient descent, the subgradient method and SGD with a constant step: one local step of all clients, or of one."""

from dataclasses import replace
from typing import Any

from boundlab.prove._chance import mixture, orthogonal, uncorrelated
from boundlab.prove._errors import ProofError
from boundlab.prove._facts import Fact, VectorFact
from boundlab.prove._instance import Instance
from boundlab.prove._options import NUMBERS, uncovered
from boundlab.prove._replay import Runs
from boundlab.prove._replay import replay as all_runs
from boundlab.prove._scalars import Number, Scalar, scalar
from boundlab.prove._terms import Expr, Lin, Vec, vector_sum
from boundlab.prove._vectors import Known, Law, Register, Slope
from boundlab.prove.setting import Setting
from boundlab.prove.settings import _letters
from boundlab.prove.settings._instances import LIPSCHITZ, SMOOTH
from boundlab.prove.settings._step import declare_step, parameters_of, single
from boundlab.registry import lookup
from boundlab.theorems import Theorem

_ZERO = scalar(0)


class GdSetting(Setting):
    """x[k], the (sub)gradients g[i, k] of f_i at x[k], and noise e[i, k] where there is any."""

    letters = _letters.GD

    def __init__(self, theorem: Theorem) -> None:
        self.restrictions = uncovered(
            theorem,
            {"M": ("1",), "decay": ("none",), "sampling": ("all", "uniform")},
            {"c": NUMBERS, "d": NUMBERS, "K": NUMBERS},  # no steps c/(k + d) beside alpha; K belongs to another decay
        )
        super().__init__(theorem)
        self.sampling = theorem.core.value("sampling")
        self.alpha = self.step_size()
        self.k, self.j = self.index("k"), self.index("j")
        vectors = self.kernel.vectors
        vectors.declare("x", Known(1, clock=lambda k: (k,)))
        vectors.declare("g", Known(2, clock=lambda _, k: (k,)))
        vectors.declare_slope("g", Slope(("i", "k"), "f", (self.i,), Vec("x", (self.k,))))
        if self.noisy:
            vectors.declare("e", Known(2, clock=lambda _, k: (k, scalar(1)), drawn=lambda _, k: (k,)))
        self._average()
        one = scalar(1)
        self.law = Law(
            p=lambda _: one / self.n,
            p_s=_ZERO,
            clients=self.n,
            index="i",
            registers={"x": Register("any", self._step)},
            axioms=frozenset({"uniform-sampling"}),
        )

    def _average(self) -> None:
        vectors = self.kernel.vectors
        vectors.declare("xbar", Known(0, clock=lambda: (self.symbol(self.theorem.horizon_symbol),)))
        vectors.declare("gbar", Known(1, clock=lambda _: (self.symbol(self.theorem.horizon_symbol),)))
        vectors.declare_slope("gbar", Slope(("i",), "f", (self.i,), Vec("xbar")))

    # ------------------------------------------------------------------ vectors

    def x(self, k: Number) -> Lin:
        """Return the model after k iterations."""
        return self.vec("x", k)

    def g(self, i: Number, k: Number) -> Lin:
        """Return a (sub)gradient of f_i there."""
        return self.vec("g", i, k)

    def e(self, i: Number, k: Number) -> Lin:
        """Return the noise of client i's gradient in iteration k."""
        return self.vec("e", i, k)

    def model(self, k: Number) -> Lin:
        """Return x[k]."""
        return self.x(k)

    def gradient(self, k: Number) -> Lin:
        """Return the mean of the clients' gradients at x[k]."""
        return self.mean_vector(lambda i: self.g(i, k))

    def average(self) -> Lin:
        """Return the average of the iterates before the horizon."""
        return self.vec("xbar")

    def averaging(self) -> VectorFact:
        """Return x̄ = (1/K)·Σ x[k]."""
        horizon = self.symbol(self.theorem.horizon_symbol)
        mean = vector_sum("k", 0, horizon, self.x(self.k) / horizon)
        return self.kernel.make_vector(self.average(), mean, self.context, "axiom", axioms=["algorithm"])

    # ------------------------------------------------------------------ how a run moves

    def _step(self, i: Scalar, k: Scalar) -> Lin:
        slope = self.g(i, k) + self.e(i, k) if self.noisy else self.g(i, k)
        return self.x(k) - slope * self.alpha

    def move(self, k: Number) -> VectorFact:
        """Return x[k + 1] = x[k] − α·(mean of the clients' gradients), for sampling=all."""
        if self.sampling != "all":
            raise ProofError("where one client is drawn an iteration is a random one: see mixture")
        here, now = self.context, scalar(k)
        self.kernel.need(now, here, "an iteration has a number ≥ 0")
        step = self.mean_vector(lambda i: self._step(i, now))
        return self.kernel.make_vector(self.x(now + 1), step, here, "axiom", axioms=["algorithm"])

    def drawn(self, value: Expr, k: Number) -> Fact:
        """Return the mean of q(x[k + 1]) over who is drawn, for sampling=uniform."""
        if self.sampling != "uniform":
            raise ProofError("all clients take part in every iteration: see move")
        return mixture(self.kernel, self.law, value, k)

    def unbiased(self, noise: Lin, other: Lin) -> Fact:
        """Return E⟨ξ, v⟩ = 0 for a vector v that is known when ξ is drawn."""
        return orthogonal(self.kernel, single(noise), single(other))

    def independent(self, k: Number) -> Fact:
        """Return E‖(1/n)·Σ e[i, k]‖² = (1/n²)·Σ E‖e[i, k]‖²."""
        return uncorrelated(self.kernel, self.e(self.i, k), "i", 0, self.n, 1 / self.n)

    def step_size(self) -> Scalar:
        """Declare α: free below the theorem's conditions."""
        return declare_step(self, "alpha")

    # ------------------------------------------------------------------ exact models

    def instances(self) -> tuple[Instance, ...]:
        """Return exact instances: with kinks, or smooth ones."""
        return SMOOTH if "smooth" in self.assumed else LIPSCHITZ

    def runs(self, instance: Instance) -> Runs:
        """Replay the program."""
        gd = lookup("algorithms", "gd")
        options: dict[str, Any] = {"alpha": float(instance.alpha), "sampling": self.sampling}
        one = replace(instance, steps=1)
        runs = all_runs(gd.program(parameters_of(gd, options), one.n), one, first=0)
        for k in range(one.horizon + 1):
            model = runs.columns["register", (0, k)]
            runs.columns["x", (k,)] = model
            for i, function in enumerate(one.functions):
                runs.add(("g", (i, k)), lambda at, of=function, on=model: of.slope(on.values[at]))  # type: ignore[misc]
                if self.noisy and k < one.horizon:
                    runs.columns["e", (i, k)] = runs.columns["e", (i, k, 0)]
        return self._with_points(runs, one)
