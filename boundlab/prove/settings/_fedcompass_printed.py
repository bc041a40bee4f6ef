"""FedCompass as the printed proof sees it: at each update every client has a run, and some of them arrive.

Run (t, i) is the one that client i is at when update t is made: the one that enters it where the client arrives. It
began at w[o[t, i]]; y[t, i, q] is its point after q local steps, up to Qmax of them, whatever the scheduler gave it.
pi[t, i] is the probability that client i arrives at update t: 0 or 1, since the schedule does not depend on the noise.
An update holds a run of at least one client, and no client twice. As the paper reads it, τ_max bounds the staleness of
every client at every update, whether it arrives then or not: (14) and (15) rest on that.
"""

from fractions import Fraction

from boundlab.prove._context import FIRST, Range
from boundlab.prove._errors import ProofError
from boundlab.prove._facts import Fact, VectorFact
from boundlab.prove._functions import plus
from boundlab.prove._instance import Instance, UnfitError
from boundlab.prove._modelled import Members
from boundlab.prove._replay import Column, Runs
from boundlab.prove._scalars import Number, Scalar, scalar, variable, whole
from boundlab.prove._tapes import replay_tape
from boundlab.prove._terms import Expr, Lin, Vec, equal, expr, finite_sum, squared, vector_sum
from boundlab.prove._vectors import Known, Slope
from boundlab.prove.settings import _letters
from boundlab.prove.settings._fedcompass_models import RunWeights, steps_ratio
from boundlab.prove.settings.fedcompass import FedCompassSetting

_ZERO, _ONE = scalar(0), scalar(1)


class PrintedFedCompass(FedCompassSetting):
    """Points y, gradients gy and fy of f_i and of F there, noise ey; su[t], all stochastic gradients of update t."""

    letters = _letters.PRINTED_FEDCOMPASS

    def _symbols(self) -> None:
        super()._symbols()
        if self.context.find("mu_step") is None:
            # The corollary is about what it is.
            self.context.declare("mu_step", Range(low=_ONE))

    def _vectors(self) -> None:
        vectors, run = self.kernel.vectors, ("t", "i", "q")
        at = tuple(whole(variable(name)) for name in run)
        vectors.declare("w", Known(1, clock=lambda t: (t,)))
        vectors.declare("d", Known(2, clock=lambda _, t: (t,)))
        vectors.declare_slope("d", Slope(("i", "t"), "f", (self.i,), Vec("w", at[:1])))
        # Nothing here is drawn by clocks: one run may be that of several updates.
        for name in ("y", "gy", "ey", "fy"):
            vectors.declare(name, Known(3, clock=lambda t, *_: (t + 1,)))
        vectors.declare_slope("gy", Slope(run, "f", (self.i,), Vec("y", at)))
        vectors.declare("df", Known(1, clock=lambda t: (t,)))
        vectors.declare("su", Known(1, clock=lambda t: (t + 1,)))

    def _sums(self) -> None:
        """Declare nothing more."""

    def _families(self) -> None:
        clients = Range(low=_ZERO, high=self.n - 1, integer=True, arity=1)
        families = {
            "pi": Range(low=_ZERO, high=_ONE, arity=2),
            "P": Range(low=_ONE, high=self.n, arity=1),
            "o": Range(low=_ZERO, high=FIRST, integer=True, arity=2),
            "Q": Range(low=self.symbol("Qmin"), high=self.Qmax, integer=True, arity=2),
            "big": clients,
            "small": clients,
        }
        for name, own in families.items():
            self.context.declare(name, own)
            self.own_symbols.add(name)

    # ------------------------------------------------------------------ numbers and vectors

    def pi(self, t: Number, i: Number) -> Scalar:
        """Return the probability that client i arrives at update t."""
        return variable("pi", t, i)

    def P(self, t: Number) -> Scalar:  # noqa: N802  (as in the paper)
        """Return Σ pi[t, i]."""
        return variable("P", t)

    def o(self, t: Number, i: Number) -> Scalar:
        """Return after how many updates the model was made that run (t, i) began at."""
        return variable("o", t, i)

    def Q(self, t: Number, i: Number) -> Scalar:  # noqa: N802
        """Return how many local steps run (t, i) has."""
        return variable("Q", t, i)

    def y(self, t: Number, i: Number, q: Number) -> Lin:
        """Return its point after q local steps."""
        return self.vec("y", t, i, q)

    def gy(self, t: Number, i: Number, q: Number) -> Lin:
        """Return ∇f_i there."""
        return self.vec("gy", t, i, q)

    def ey(self, t: Number, i: Number, q: Number) -> Lin:
        """Return the noise of that gradient."""
        return self.vec("ey", t, i, q)

    def fy(self, t: Number, i: Number, q: Number) -> Lin:
        """Return ∇F there."""
        return self.vec("fy", t, i, q)

    def su(self, t: Number) -> Lin:
        """Return the stochastic gradients of update t, added up."""
        return self.vec("su", t)

    def stochastic(self, t: Number, i: Number, q: Number) -> Lin:
        """Return gy + ey."""
        return self.gy(t, i, q) + self.ey(t, i, q)

    def clients(self, of: Expr) -> Expr:
        """Return Σ over all clients i."""
        return finite_sum("i", 0, self.n, of)

    def arrived(self, t: Number, of: Lin) -> Lin:
        """Return Σ over who arrives at update t, and their local steps q."""
        return vector_sum("i", 0, self.n, vector_sum("q", 0, self.Q(t, self.i), of * self.pi(t, self.i)))

    # ------------------------------------------------------------------ how a run moves

    def begins_at(self, t: Number, i: Number) -> VectorFact:
        """Return y[t, i, 0] = w[o[t, i]]."""
        self._begins(t)
        return self._defined(self.y(t, i, 0), self.w(self.o(t, i)))

    def steps_on(self, t: Number, i: Number, q: Number) -> VectorFact:
        """Return y[t, i, q + 1] = y[t, i, q] − η·(gy + ey)."""
        self._begins(t)
        self._places(i, q)
        return self._defined(self.y(t, i, scalar(q) + 1), self.y(t, i, q) - self.stochastic(t, i, q) * self.step)

    def update(self, t: Number) -> VectorFact:
        """Return w[t + 1] = w[t] − (η/n)·su[t]."""
        self._begins(t)
        return self._defined(self.w(scalar(t) + 1), self.w(t) - self.su(t) * (self.step / self.n))

    def added(self, name: str, t: Number) -> VectorFact:
        """Return su[t] = Σ over who arrives, Σ over q < Q[t, i], of gy + ey."""
        self._begins(t)
        if name != "su":
            raise ProofError(f"{name} is not what an update adds up")
        return self._defined(self.su(t), self.arrived(t, self.stochastic(t, self.i, self.q)))

    def late(self, t: Number, i: Number) -> Fact:
        """Return t − o[t, i] ≤ tau_max."""
        self._begins(t)
        return self.axiom(expr(scalar(t) - self.o(t, i)) <= expr(self.symbol("tau_max")), "algorithm")

    # ------------------------------------------------------------------ who arrives

    def indicator(self, t: Number, i: Number) -> Fact:
        """Return pi² = pi: a probability that is 0 or 1."""
        self._begins(t)
        return self.axiom(equal(expr(self.pi(t, i) ** 2), self.pi(t, i)), "algorithm")

    def arrivals(self, t: Number, value: Expr) -> Fact:
        """Return Σ pi[t, i]·X = P[t]·X."""
        self._begins(t)
        if "i" in value.names():
            raise ProofError(f"{value} is not the same for all clients")
        return self.axiom(equal(self.clients(value * self.pi(t, self.i)), value * self.P(t)), "algorithm")

    def largest(self, t: Number, i: Number) -> Fact:
        """Return pi[t, i] ≤ pi[t, big[t]]: who arrives with the largest probability."""
        self._begins(t)
        return self.axiom(expr(self.pi(t, i)) <= expr(self.pi(t, variable("big", t))), "algorithm")

    def smallest(self, t: Number, i: Number) -> Fact:
        """Return pi[t, i] ≥ pi[t, small[t]]."""
        self._begins(t)
        return self.axiom(expr(self.pi(t, i)) >= expr(self.pi(t, variable("small", t))), "algorithm")

    # ------------------------------------------------------------------ gradients and noise

    def variance(self, noise: Lin) -> Fact:
        """Return E‖ey‖² ≤ σ_ℓ²."""
        if noise.vec is None or noise.vec.name != "ey":
            raise ProofError(f"{noise} is no noise")
        return self.axiom(squared(noise) <= expr(self.symbol("sigma_l") ** 2), "bounded-variance")

    def unbiased(self, noise: Lin, other: Lin) -> Fact:
        """Return E⟨ey[t, i, q], v⟩ = 0 for v = gy[t, i, q], fy[t, i, q], ∇F(w[t])."""
        one, two = noise.vec, other.vec
        if one is None or two is None or one.name != "ey":
            raise ProofError(f"{noise} is no noise")
        same_point = two.name in ("gy", "fy") and two.indices == one.indices
        if not same_point and not (two.name == "df" and two.indices == one.indices[:1]):
            raise ProofError(f"{other} may depend on {noise}")
        return self.axiom(equal(self.dot(noise, other), 0), "bounded-variance")

    def uncorrelated(self, t: Number, arriving: bool) -> Fact:
        """Return E‖Σ ey‖² = Σ E‖ey‖², over the local steps of who arrives at update t, or of all clients."""
        self._begins(t)
        i, q = self.i, self.q
        weight = self.pi(t, i) if arriving else _ONE
        sums = vector_sum("i", 0, self.n, vector_sum("q", 0, self.Q(t, i), self.ey(t, i, q) * weight))
        each = finite_sum("q", 0, self.Q(t, i), squared(self.ey(t, i, q)) * weight**2)
        return self.axiom(equal(squared(sums), self.clients(each)), "bounded-variance")

    def heterogeneity_at(self, t: Number, i: Number, q: Number) -> Fact:
        """Return ‖∇f_i − ∇F‖² ≤ σ_g² at y[t, i, q]."""
        gap = self.gy(t, i, q) - self.fy(t, i, q)
        return self.axiom(squared(gap) <= expr(self.symbol("sigma_g") ** 2), "bounded-heterogeneity")

    def bounded_whole(self, t: Number, i: Number, q: Number) -> Fact:
        """Return ‖∇F‖² ≤ G at y[t, i, q]: a mean of gradients."""
        return self.axiom(squared(self.fy(t, i, q)) <= expr(self.symbol("G_sq")), "bounded-gradients")

    # ------------------------------------------------------------------ exact models

    def _rows(self, instance: Instance) -> dict[tuple[int, ...], int]:
        """Return which row of the tape run (t, i) is.

        Raises
        ------
        UnfitError
            If an update holds no run, or two of one client.
        """
        work = self._work(instance)
        used = {(t, work.c[t, j]): row for (t, j), row in work.rows.items()}
        if len(used) < len(work.rows) or {t for t, _ in used} != set(range(instance.horizon)):
            raise UnfitError("an update holds no run, or two of one client")
        table = work.tape.descend
        uses = dict(zip(work.tape.uses.update.tolist(), work.tape.uses.version.tolist(), strict=True))
        found: dict[tuple[int, ...], int] = {}
        for row, (i, begun) in enumerate(zip(table.client.tolist(), table.version.tolist(), strict=True)):
            for t in range(begun, min(uses.get(row, instance.horizon), instance.horizon - 1) + 1):
                found.setdefault((t, i), row)  # the first run that client i is at when update t is made
        if len(found) < instance.horizon * instance.n:
            raise UnfitError("a client has no run")
        return found | used

    def _read(self, instance: Instance) -> dict[str, Fraction]:
        found = super()._read(instance)
        begun = self._work(instance).tape.descend.version
        ages = [Fraction(t - int(begun[row])) for (t, _), row in self._rows(instance).items()]
        return found | {"tau_max": max(*ages, found["tau_max"])} | steps_ratio(found)

    def families(self, instance: Instance) -> dict[str, Members]:
        """Return the members of families: who arrives, and where runs began."""
        work, rows, n = self._work(instance), self._rows(instance), instance.n
        arrived = {(t, work.c[t, j]) for t, j in work.rows}
        table = work.tape.descend
        pi = {at: Fraction(int(at in arrived)) for at in rows}
        by_time = [[pi[t, i] for i in range(n)] for t in range(instance.horizon)]
        return {
            "pi": pi,
            "P": {(t,): sum(row, Fraction(0)) for t, row in enumerate(by_time)},
            "o": {at: Fraction(int(table.version[row])) for at, row in rows.items()},
            "Q": {at: Fraction(int(table.steps[row])) for at, row in rows.items()},
            "big": {(t,): Fraction(row.index(max(row))) for t, row in enumerate(by_time)},
            "small": {(t,): Fraction(row.index(min(row))) for t, row in enumerate(by_time)},
        }

    def runs(self, instance: Instance) -> Runs:
        """Replay the tape, and go on with runs of fewer than Qmax local steps, without noise."""
        rows, work = self._rows(instance), self._work(instance)
        found = replay_tape(work.tape, instance, rows)
        steps = {at: int(work.tape.descend.steps[row]) for at, row in rows.items()}
        longest = int(dict(instance.options).get("Qmax", 1))
        zero = tuple(Fraction(0) for _ in instance.start)
        outcomes = len(found.chances)
        columns = found.columns
        for (t, i), many in steps.items():
            function = instance.functions[i]
            for q in range(longest + 1):
                if q > many:
                    before = zip(columns["z", (t, i, q - 1)].values, columns["g", (t, i, q - 1)].values, strict=True)
                    points = [plus(at, slope, -instance.alpha) for at, slope in before]
                    columns["z", (t, i, q)] = Column(points)
                    columns["g", (t, i, q)] = Column([function.slope(at) for at in points])
                points = list(columns["z", (t, i, q)].values)
                columns["y", (t, i, q)], columns["gy", (t, i, q)] = Column(points), columns["g", (t, i, q)]
                columns["ey", (t, i, q)] = columns.get(("e", (t, i, q)), Column([zero] * outcomes))
                columns["fy", (t, i, q)] = Column([self._slope_of_mean(instance, at) for at in points])
        for t in range(instance.horizon + 1):
            models = columns["w", (t,)].values
            columns["df", (t,)] = Column([self._slope_of_mean(instance, at) for at in models])
            for i, function in enumerate(instance.functions):
                columns["d", (i, t)] = Column([function.slope(at) for at in models])
        arrive = work_clients(work)
        for t in range(instance.horizon):
            own = [(t, i, q) for i in range(instance.n) if (t, i) in arrive for q in range(steps[t, i])]
            values = []
            for place in range(outcomes):
                value = zero
                for at in own:
                    value = plus(plus(value, columns["gy", at].values[place]), columns["ey", at].values[place])
                values.append(value)
            columns["su", (t,)] = Column(values)
        return found

    @staticmethod
    def _slope_of_mean(instance: Instance, at: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
        value = tuple(Fraction(0) for _ in at)
        for function in instance.functions:
            value = plus(value, function.slope(at), Fraction(1, instance.n))
        return value


def work_clients(work: RunWeights) -> set[tuple[int, int]]:
    """Return who arrives at which update."""
    return {(at[0], work.c[at]) for at in work.rows}
