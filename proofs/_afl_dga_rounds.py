"""What all proofs about AFL-DGA use: sizes, noise, one round; docs/theory/afl_dga.md, (AD4) to (AD9)."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from boundlab.prove import (
    Expr,
    Fact,
    Proof,
    expr,
    finite_sum,
    scalar,
    squared,
    telescope,
    telescope_vector,
    total,
    vector_sum,
)


class RoundProof:
    """A proof about AFL-DGA, with its setting and the facts that were shown so far."""

    def __init__(self, proof: Proof) -> None:
        self.proof, self.s, self.kernel = proof, proof.setting(), proof.kernel
        s = self.s
        self.i, self.t, self.q, self.p, self.h, self.l, self.r = s.i, s.t, s.q, s.p, s.h, s.l, s.r
        self.T, self.n, self.eta, self.L = s.symbol("T"), s.n, s.eta, s.symbol("L")
        self.x = self.eta * self.L
        self.G = s.symbol("G")
        self.u = s.index("u", 0, self.t)  # a round up to t
        self.o = s.index("p_1", 0, s.kept(self.t, self.i, self.q) - 1)
        self.any = s.index("q_0")  # a local step of any average
        self.since = s.first(self.t, self.i)
        self.K = s.steps(self.i, self.since)

    # ------------------------------------------------------------------ sums

    def over_used(self, fact: Fact) -> Fact:
        """Return the mean of a fact about client i and its point q over what round t uses."""
        inner = total(self.kernel, fact, "q", 0, self.K, 1 / self.K)
        return self.s.over_clients(inner)  # type: ignore[no-any-return]

    def sums(self, fact: Fact, *indices: tuple[str, Any, Any, Any]) -> Fact:
        """Return weighted sums of a fact, the innermost first: (name, from, to, weight)."""
        for name, lo, hi, weight in indices:
            fact = total(self.kernel, fact, name, lo, hi, weight)
        return fact

    # ------------------------------------------------------------------ sizes

    def size(self) -> Fact:
        """(AD4): E‖a[t]‖² ≤ G²."""
        s, a = self.s, self.s.a(self.t)
        each = s.sampled(self.i, self.since, self.q)
        mean = [s.average(self.t), s.slopes(self.t)] + ([s.noise(self.t)] if s.noisy else [])
        tested = [self.kernel.against(one, a) for one in mean]
        return self.proof.step(
            "(AD4), a step of the server",
            squared(a) <= expr(self.G**2),
            [
                *tested,
                self.over_used(s.moment(self.t, self.i, self.q)),
                self.over_used(self.kernel.square(each - a)),
            ],
        )

    def pair(self, size: Fact) -> Fact:
        """Two steps of the server: E⟨a[h], a[l]⟩ ≤ G²."""
        s, h, other = self.s, self.h, self.l
        return self.proof.step(
            "two steps of the server",
            s.dot(s.a(h), s.a(other)) <= expr(self.G**2),
            [self.kernel.at(size, {"t": h}), self.kernel.at(size, {"t": other})],
            squares=[s.a(h) - s.a(other)],
        )

    def moved(self, begin: Any) -> list[Fact]:
        """Return w[t] − w[begin] as the sum of the steps between, against itself and against that sum."""
        s, kernel, t, h = self.s, self.kernel, self.t, self.h
        moves = total(kernel, s.move(h), "h", begin, t)
        path = telescope_vector(kernel, "h", begin, t, s.w(h))
        steps = vector_sum("h", begin, t, s.a(h))
        return [kernel.against(fact, test) for fact in (moves, path) for test in (s.w(t) - s.w(begin), steps)]

    def path(self, begin: Any) -> Any:
        """Return the sum of the server's steps from a round on, up to round t."""
        return vector_sum("h", begin, self.t, self.s.a(self.h))

    def averages(self, begin: Any) -> Any:
        """Return that sum, by gradients and noise."""
        return total(self.kernel, self.s.average(self.h), "h", begin, self.t)

    def drift(self, pair: Fact) -> Fact:
        """(AD4): E‖w[t] − w[u]‖² ≤ (t − u)²·η²·G²."""
        s, t = self.s, self.t
        u = self.u
        return self.proof.step(
            "(AD4), models of two rounds",
            squared(s.w(t) - s.w(u)) <= expr((t - u) ** 2 * self.eta**2 * self.G**2),
            [*self.moved(u), self.sums(pair, ("l", u, t, 1), ("h", u, t, 1))],
        )

    @cached_property
    def lipschitz(self) -> Fact:
        """∇f is L-Lipschitz, at the models of rounds t and u."""
        s, t, u = self.s, self.t, self.u
        gap = s.df(t) - s.df(u)
        mine = s.d(self.i, t) - s.d(self.i, u)
        return self.proof.step(
            "the gradient is Lipschitz",
            squared(gap) <= squared(s.w(t) - s.w(u)) * self.L**2,
            [
                self.kernel.against(s.whole(t), gap),
                self.kernel.against(s.whole(u), gap),
                s.over_clients(s.smooth(s.d(self.i, t), s.d(self.i, u))),
                s.over_clients(self.kernel.square(mine - gap)),
            ],
        )

    def noise(self) -> Fact:
        """(AD5): E‖m[t]‖² ≤ σ²/n."""
        s, n, sigma = self.s, self.n, self.s.symbol("sigma")
        variance = s.variance(s.e(self.i, self.since, self.q))
        few = self.kernel.combine(expr(1 / self.K) <= 1, [])
        return self.proof.step(
            "(AD5)",
            squared(s.m(self.t)) <= expr(sigma**2 / n),
            [
                s.noise(self.t),
                s.uncorrelated(self.t),
                self.sums(variance, ("q", 0, self.K, 1 / self.K**2), ("i", 0, n, 1 / n**2)),
                total(self.kernel, few, "i", 0, n, sigma**2 / n**2),
            ],
        )

    def many_steps(self, begin: Any, of: Any) -> Fact:
        """Return ‖Σ v[h]‖² ≤ (t − begin)·Σ ‖v[h]‖², over begin ≤ h < t, by squares of all differences."""
        pairs = self.kernel.square(of(self.h) - of(self.l))
        return self.sums(pairs, ("l", begin, self.t, 1), ("h", begin, self.t, 1))

    # ------------------------------------------------------------------ one round

    def round(self) -> Fact:
        """(AD8), with ‖a‖² as it is."""
        s, t, eta = self.s, self.t, self.eta
        f = s.objective
        down = s.over_clients(s.descent(s.d(self.i, t), s.w(t + 1)))
        lost = s.dot(s.df(t), s.m(t)) * 2 if s.noisy else expr(0)
        step = s.w(t + 1) - s.w(t)
        along = [self.kernel.against(s.average(t), s.df(t)), self.kernel.against(s.whole(t), s.a(t))]
        first = self.proof.step(
            "descent",
            f(s.w(t + 1)) <= f(s.w(t)) - s.dot(s.df(t), s.a(t)) * eta + squared(s.a(t)) * (eta * self.x / 2),
            [down, self.kernel.against(s.whole(t), step), s.move(t)],
        )
        return self.proof.step(
            "(AD8)",
            squared(s.df(t)) + squared(s.v(t))
            <= (f(s.w(t)) - f(s.w(t + 1))) * (2 / eta) + squared(s.df(t) - s.v(t)) - lost + squared(s.a(t)) * self.x,
            [first, *along],
        )

    def fall(self) -> Expr:
        """Return 2/η·(f(w[t]) − f(w[t + 1]))."""
        s = self.s
        return (s.objective(s.w(self.t)) - s.objective(s.w(self.t + 1))) * (2 / self.eta)  # type: ignore[no-any-return]

    def spread(self) -> Fact:
        """(AD9): how far v[t] is from ∇f(w[t])."""
        s, t, i = self.s, self.t, self.i
        r, gap = self.since, s.df(t) - s.v(t)
        mine = s.d(i, t) - s.g(i, r, self.q)
        return self.proof.step(
            "(AD9)",
            squared(gap) <= s.used(t, squared(s.w(t) - s.z(i, r, self.q))) * self.L**2,
            [
                self.kernel.against(s.whole(t), gap),
                self.kernel.against(s.slopes(t), gap),
                self.over_used(s.smooth(s.d(i, t), s.g(i, r, self.q))),
                self.over_used(self.kernel.square(mine - gap)),
            ],
        )

    # ------------------------------------------------------------------ all rounds

    def per_round(self, of: Any) -> Any:
        """Return the sum over all rounds."""
        return finite_sum("t", 0, self.T, of)

    def together(self, one: Fact, more: Sequence[Fact] = (), **how: Any) -> list[Fact]:
        """Return what the sum over all rounds needs: the rounds, the values, the start."""
        s = self.s
        return [
            total(self.kernel, one, "t", 0, self.T, 1 / self.T, **how),
            telescope(self.kernel, "t", 0, self.T, s.objective(s.w(self.t)) * scalar(1)),
            s.start_gap(s.w(self.T)),
            *more,
        ]
