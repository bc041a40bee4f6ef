"""AREA (Iakovidou and Kim, Algorithms 1 and 2) under i.i.d. events, with a constant step or one that is c/(k + d).

Registers x[i, k], y[i, k] and xs[k]; z[i, r, m] is what client i has after m steps of the pass that it begins in
iteration r, whether the event of that iteration is its own or not: its noise is drawn without regard to the events. The
broadcast that starts Algorithm 2 is pass r = −1.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from boundlab.prove._chance import mixture, orthogonal
from boundlab.prove._context import Range
from boundlab.prove._errors import ProofError
from boundlab.prove._facts import Fact, VectorFact
from boundlab.prove._functions import plus
from boundlab.prove._instance import Instance, UnfitError
from boundlab.prove._options import NUMBERS, uncovered
from boundlab.prove._replay import Runs, replay
from boundlab.prove._scalars import Number, Scalar, same, scalar, variable, whole
from boundlab.prove._terms import Expr, Lin, Vec, expr, finite_sum, squared, vector_sum
from boundlab.prove._vectors import Known, Law, Register, Slope
from boundlab.prove.settings import _letters
from boundlab.prove.settings._area_points import AreaPoints
from boundlab.prove.settings._instances import DIMINISHING, LIPSCHITZ
from boundlab.prove.settings._step import declare_step, parameters_of, single
from boundlab.registry import lookup
from boundlab.theorems import Theorem

_ONE = scalar(1)
# Of which points the subgradients are that theorems along the run bound.


class AreaSetting(AreaPoints):
    """AREA's registers, passes and events."""

    letters = _letters.AREA

    def __init__(self, theorem: Theorem) -> None:
        self.diminishing = "alpha" not in theorem.step
        # A constant step is the same by either clock. How often the server aggregates is random (iid-events).
        either = ("analysis", "algorithm")
        fixed = {"start": ("analysis",), "clock": ("analysis",)} if self.diminishing else {"start": either}
        steps = ("alpha",) if self.diminishing else ("c", "d")
        covered = {"reply": ("pre", "post"), "count": NUMBERS, **dict.fromkeys(steps, NUMBERS)}
        covered |= {} if self.diminishing else {"clock": either}
        self.restrictions = uncovered(theorem, fixed, covered, {"M": "M"})
        super().__init__(theorem)
        self.start_option = theorem.core.value("start")
        self.M = self.symbol("M")
        self._probabilities()
        self._qbar = self._define_qbar()
        # Passes, and what they begin at, up to the last iteration that is looked at; Theorem 7 is about any.
        last = None if self.diminishing else self.symbol("K") - 1
        self.opening = -1 if self.start_option == "algorithm" else 0  # the number of the first pass
        self.k, self.r = self.index("k", 0, last), self.index("r", -1 if self.diminishing else self.opening, last)
        self.m = self.index("m", 0, self.M - 1)
        self.alpha = None if self.diminishing else declare_step(self, "alpha")
        if self.diminishing:
            self._name_steps()
        self._vectors()
        self.law = Law(
            p=self.p,
            p_s=self.p_s,
            clients=self.n,
            index="i",
            registers={
                "x": Register("client", lambda i, k: self.z(i, k, self.M)),
                "y": Register("client", lambda i, k: self.x(i, k)),
                "xs": Register("server", lambda k: self.mean_vector(lambda i: self.y(i, k))),
            },
            axioms=frozenset({"iid-events", "algorithm"}),
        )

    def _probabilities(self) -> None:
        """Declare p_s and the p_i; p_min, where it is named, is the smallest of these n + 1 numbers of sum 1."""
        low, above = scalar(0), True
        if "p_min" in self.theorem.read:
            low, above = self.own_symbol("p_min", Range(low=low, high=1 / (self.n + 1), above=True)), False
        self.p_s = self.own_symbol("p_s", Range(low=low, high=_ONE, above=above))
        self.own_symbol("p", Range(low=low, high=_ONE, above=above, arity=1))
        self.own_symbols.add("qbar")
        if self.diminishing:
            # Any first step below the theorem's condition on it.
            own, limits = variable("D"), self.theorem.conditions
            high = self.formula(limits[0].limit) if len(limits) == 1 else None
            self.own_symbol("D", Range(low=scalar(0), high=high, above=True))
            if high is None or not same(self.formula(limits[0].quantity), own):
                raise ProofError(f"{self.theorem.id} is to have one condition, on its first step c/d")

    def _name_steps(self) -> None:
        """Name q0 = D·M·γ, the offset d and the steps c/(k + d); D is a number such that D·M·(μ + L) ≤ 2."""
        kernel, zero = self.kernel, scalar(0)
        D, M, mu, L, p = (variable(name) for name in ("D", "M", "mu", "L", "p_min"))
        c, d = (self.formula(self.theorem.step[name]) for name in ("c", "d"))
        q0 = D * M * (2 * mu * L / (mu + L))
        self.named_q0 = kernel.name("q0", q0, Range(low=zero, high=_ONE, above=True))
        # d = 48/(p·q0) by the theorem's own formulas.
        if not same(d.put({}), 48 / (p * q0)) or not same(c, D * d):
            raise ProofError(f"{self.theorem.id} has other steps than those of this setting")
        self.offset = variable("offset")
        self.named_offset = kernel.name("offset", 48 / (p * variable("q0")), Range(low=48 / p))
        self.short_names = {"d": self.offset, "c": D * self.offset}
        limit = 2 / (M * (mu + L))
        self.named_step = kernel.name_family(
            "step", "k", D * self.offset / (self.k + self.offset), Range(low=zero, high=limit, above=True)
        )

    def p(self, i: Number) -> Scalar:
        """Return the probability p_i of an arrival of client i."""
        return variable("p", i)

    def _define_qbar(self) -> Fact:
        """Declare q̄ = (1/n)·Σ 1/p_i, and show that it is at least 1."""
        kernel, value = self.kernel, finite_sum("i", 0, self.n, 1 / (self.n * self.p(self.i)))
        least = kernel.combine(expr(1 / self.p(self.i)) >= 1, [])
        return kernel.define("qbar", value, _ONE, self.over_clients(least))

    def qbar(self) -> Fact:
        """Return q̄ = (1/n)·Σ 1/p_i."""
        return self._qbar

    def _vectors(self) -> None:
        vectors, horizon = self.kernel.vectors, self.symbol("K")
        vectors.declare("xs", Known(1, clock=lambda k: (k,)))
        for name in ("x", "y"):
            vectors.declare(name, Known(2, clock=lambda _, k: (k,)))
        for name in ("z", "g"):
            vectors.declare(name, Known(3, clock=lambda _, r, m: (r, m)))
        vectors.declare_slope("g", Slope(("i", "r", "m"), "f", (self.i,), self._z_vec()))
        vectors.declare("e", Known(3, clock=lambda _, r, m: (r, m + 1), drawn=lambda _, r, m: (r, m)))
        # A subgradient of f_i at the server's model.
        vectors.declare("d", Known(2, clock=lambda _, k: (k,)))
        vectors.declare_slope("d", Slope(("i", "k"), "f", (self.i,), Vec("xs", (self.k,))))
        if self.diminishing:
            self.point("zh", 3)
            self.point("gh", 3)
            vectors.declare_slope("gh", Slope(("i", "r", "m"), "f", (self.i,), Vec("zh", self._z_vec().indices)))
            self.point("ustar", 1)
            self.point("hu", 1)
            vectors.declare_slope("hu", Slope(("i",), "f", (self.i,), Vec("ustar", (whole(self.i),))))
        vectors.declare("xbar", Known(0, clock=lambda: (horizon,)))
        vectors.declare("gbar", Known(1, clock=lambda _: (horizon,)))
        vectors.declare_slope("gbar", Slope(("i",), "f", (self.i,), Vec("xbar")))

    def _z_vec(self) -> Vec:
        return Vec("z", (whole(self.i), whole(self.r), whole(self.m)))

    # ------------------------------------------------------------------ vectors

    def xs(self, k: Number) -> Lin:
        """Return the server's model after k iterations."""
        return self.vec("xs", k)

    def x(self, i: Number, k: Number) -> Lin:
        """Return what client i sends next."""
        return self.vec("x", i, k)

    def y(self, i: Number, k: Number) -> Lin:
        """Return what client i has sent last."""
        return self.vec("y", i, k)

    def z(self, i: Number, r: Number, m: Number) -> Lin:
        """Return what client i has after m steps of the pass begun in iteration r."""
        return self.vec("z", i, r, m)

    def g(self, i: Number, r: Number, m: Number) -> Lin:
        """Return the (sub)gradient of f_i at z[i, r, m]."""
        return self.vec("g", i, r, m)

    def e(self, i: Number, r: Number, m: Number) -> Lin:
        """Return the noise of that gradient."""
        return self.vec("e", i, r, m)

    def d(self, i: Number, k: Number) -> Lin:
        """Return a (sub)gradient of f_i at xs[k]."""
        return self.vec("d", i, k)

    def model(self, k: Number) -> Lin:
        """Return xs[k]."""
        return self.xs(k)

    def gradient(self, k: Number) -> Lin:
        """Return the mean of the clients' (sub)gradients at xs[k]."""
        return self.mean_vector(lambda i: self.d(i, k))

    def average(self) -> Lin:
        """Return the average of xs[0] … xs[K − 1]."""
        return self.vec("xbar")

    def averaging(self) -> VectorFact:
        """Return x̄ = (1/K)·Σ xs[k]."""
        horizon = self.symbol("K")
        mean = vector_sum("k", 0, horizon, self.xs(self.k) / horizon)
        return self.kernel.make_vector(self.average(), mean, self.context, "axiom", axioms=["algorithm"])

    # ------------------------------------------------------------------ how a run moves

    def step(self, r: Number) -> Scalar:
        """Return the step size of pass r: a constant, or c/(r + d)."""
        return variable("step", r) if self.alpha is None else self.alpha

    def move(self, i: Number, r: Number, m: Number) -> VectorFact:
        """Return z[i, r, m + 1] = z[i, r, m] − α·(g + e)[i, r, m] for 0 ≤ m < M."""
        here, step, of = self.context, scalar(m), scalar(r)
        for value, what in (
            (step, "a local step has a number ≥ 0"),
            (self.M - 1 - step, "a pass has M steps"),
            (of if self.diminishing else of + 1, "there is no such pass"),
        ):
            self.kernel.need(value, here, what)
        right = self.z(i, of, step) - (self.g(i, of, step) + self.e(i, of, step)) * self.step(of)
        return self.kernel.make_vector(self.z(i, of, step + 1), right, here, "axiom", axioms=["algorithm"])

    def quiet_move(self, i: Number, r: Number, m: Number) -> VectorFact:
        """Return zh[i, r, m + 1] = zh[i, r, m] − α·gh[i, r, m]: the pass from x* without noise, a definition."""
        step = scalar(m)
        self.kernel.need(step, self.context, "a local step has a number ≥ 0")
        right = self.zh(i, r, step) - self.gh(i, r, step) * self.step(r)
        return self.kernel.make_vector(self.zh(i, r, step + 1), right, self.context, "axiom", axioms=["algorithm"])

    def quiet_begin(self, i: Number, r: Number) -> VectorFact:
        """Return zh[i, r, 0] = x*."""
        return self.kernel.make_vector(self.zh(i, r, 0), self.star, self.context, "axiom", axioms=["algorithm"])

    def zh(self, i: Number, r: Number, m: Number) -> Lin:
        """Return the point after m steps without noise from x*, with the steps of pass r."""
        return self.vec("zh", i, r, m)

    def gh(self, i: Number, r: Number, m: Number) -> Lin:
        """Return the gradient of f_i there."""
        return self.vec("gh", i, r, m)

    def heterogeneity(self, i: Number) -> Fact:
        """Return ‖x* − u_i‖² ≤ ζ² for a minimiser u_i of f_i."""
        ustar = self.vec("ustar", i)
        return self.axiom(squared(self.star - ustar) <= expr(self.symbol("zeta") ** 2), "minimiser")

    def own_minimiser(self, i: Number) -> VectorFact:
        """Return that the gradient hu[i] of f_i at u_i is 0."""
        self._assume("minimiser")
        return self.kernel.make_vector(self.vec("hu", i), Lin({}), self.context, "axiom", axioms=["minimiser"])

    def begin(self, i: Number, k: Number) -> VectorFact:
        """Return z[i, k, 0] = xs[k]."""
        now = scalar(k)
        self.kernel.need(now, self.context, "an iteration has a number ≥ 0")
        return self.kernel.make_vector(self.z(i, now, 0), self.xs(now), self.context, "axiom", axioms=["algorithm"])

    def broadcast(self, i: Number) -> VectorFact:
        """Return z[i, −1, 0] = xs[0]: the pass that comes before the first event."""
        if self.start_option != "algorithm":
            raise ProofError("with start=analysis no pass comes before the first event")
        return self.kernel.make_vector(self.z(i, -1, 0), self.xs(0), self.context, "axiom", axioms=["algorithm"])

    def first(self, name: str, i: Number) -> VectorFact:
        """Return x[i, 0] or y[i, 0]: xs[0], but x[i, 0] = z[i, −1, M] with start=algorithm."""
        if name not in ("x", "y"):
            raise ProofError(f"{name} is no register of a client")
        own = name == "x" and self.start_option == "algorithm"
        value = self.z(i, -1, self.M) if own else self.xs(0)
        return self.kernel.make_vector(self.vec(name, i, 0), value, self.context, "axiom", axioms=["algorithm"])

    def event(self, value: Expr, k: Number) -> Fact:
        """Return the mean of q(registers after event k) over who acts."""
        return mixture(self.kernel, self.law, value, k)

    def unbiased(self, noise: Lin, other: Lin) -> Fact:
        """Return E⟨ξ, v⟩ = 0 for a vector v that is known when ξ is drawn."""
        return orthogonal(self.kernel, single(noise), single(other))

    # ------------------------------------------------------------------ exact models

    def instances(self) -> tuple[Instance, ...]:
        """Return exact instances of AREA."""
        return DIMINISHING if self.diminishing else LIPSCHITZ

    def runs(self, instance: Instance) -> Runs:
        """Replay the program; with start=analysis no pass is number −1."""
        area, own = lookup("algorithms", "area"), instance.constants()
        offset = _offset(own) if self.diminishing else Fraction(0)
        rates: dict[str, Any] = {"alpha": float(instance.alpha)}
        if self.diminishing:
            rates = {"c": float(instance.alpha * offset), "d": float(offset), "clock": "analysis"}
        options = {**rates, "M": instance.steps, "start": self.start_option}
        program = area.program(parameters_of(area, options), instance.n)

        def size(r: int) -> Fraction:
            return instance.alpha * offset / (r + offset) if self.diminishing else instance.alpha

        runs = replay(program, instance, first=-1, size=size)
        if self.diminishing:
            self._quiet_runs(runs, instance, size)
        for k in range(instance.horizon + 1):
            server = runs.columns["register", (0, k)]
            runs.columns["xs", (k,)] = server
            for i, function in enumerate(instance.functions):
                for name, slot in zip(("x", "y"), program.slots[i], strict=True):
                    runs.columns[name, (i, k)] = runs.columns["register", (slot, k)]
                runs.add(("d", (i, k)), lambda at, of=function, on=server: of.slope(on.values[at]))  # type: ignore[misc]
        return self._with_points(runs, instance)

    def _quiet_runs(self, runs: Runs, instance: Instance, size: Callable[[int], Fraction]) -> None:
        """Add the passes from x* without noise, and the clients' own minimisers."""
        best, own = instance.minimum(), instance.own_minimisers()
        if best is None or own is None:
            raise UnfitError("no minimiser is known")
        for i, (function, least) in enumerate(zip(instance.functions, own, strict=True)):
            runs.constant(("ustar", (i,)), least)
            runs.constant(("hu", (i,)), function.slope(least))
            for r in range(instance.horizon + 2):
                point = best[0]
                for m in range(instance.steps + 1):
                    slope = function.slope(point)
                    runs.constant(("zh", (i, r, m)), point)
                    runs.constant(("gh", (i, r, m)), slope)
                    point = plus(point, slope, -size(r))


def _offset(own: Mapping[str, Fraction]) -> Fraction:
    """Return d = 48/(p·q0), where q0 = D·M·γ."""
    gamma = 2 * own["mu"] * own["L"] / (own["mu"] + own["L"])
    return 48 / (own["p_min"] * own["D"] * own["M"] * gamma)
