"""What several proofs share: their forms along the run, and lemmas about windows of runs and about buffers."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from boundlab.prove import (
    Fact,
    Kernel,
    Proof,
    Script,
    VectorFact,
    combine_vectors,
    equal,
    expr,
    finite_sum,
    scalar,
    squared,
    sums,
    telescope,
    total,
    variable,
    vector_sum,
)
from boundlab.theorems import ALONG_RUN


def with_forms(*scripts: Script) -> tuple[Script, ...]:
    """Return proofs, and those of their theorems' forms along the run."""
    forms = (
        replace(
            one,
            id=f"{one.id}{ALONG_RUN}",
            summary=f"{one.summary}, along the run",
            proves=f"{one.proves}{ALONG_RUN}",
        )
        for one in scripts
    )
    return (*scripts, *forms)


def square_of_sum(
    kernel: Kernel,
    fact: Fact,
    names: tuple[str, str],
    ends: tuple[Any, Any],
    of: Callable[[Any], Any],
    size: Callable[[Any], Any],
    weight: Callable[[Any], Any] = lambda _: 1,
) -> Fact:
    """Return Σ_i Σ_j w_i·w_j·E⟨v_i, v_j⟩ ≤ Σ_i Σ_j w_i·w_j·e_i·e_j from E‖v_i‖² ≤ e_i²: so ‖Σ w_i·v_i‖² ≤ (Σ w_i·e_i)².

    Parameters
    ----------
    names
        i, which the fact is about, and j.
    of, size, weight
        v, e and w by their index.
    """
    i, j = map(variable, names)
    both = kernel.norms(fact, kernel.at(fact, {names[0]: j}), of(i), of(j), size(i), size(j))
    return sums(kernel, both, (names[1], *ends, weight(j)), (names[0], *ends, weight(i)))


@dataclass
class Lemmas:
    """A proof, with the facts that its steps share.

    Parameters
    ----------
    proof
        What is written.
    facts
        By a short name.
    """

    proof: Proof
    facts: dict[str, Any] = field(init=False, default_factory=dict)

    def __getitem__(self, name: str) -> Any:
        return self.facts[name]

    def step(self, key: str, name: str, *args: Any, **more: Any) -> Fact:
        """Show a step and keep it."""
        fact = self.facts[key] = self.proof.step(name, *args, **more)
        return fact

    def inserted(self, fact: Fact, definition: VectorFact, other: Any) -> Fact:
        """Return E⟨u, v⟩ = 0 for a defined vector u from the same for what it is."""
        kernel, s = self.proof.kernel, self.proof.setting()
        claim = equal(s.dot(definition.left, other), 0)
        return kernel.combine(claim, [(1, fact), (1, kernel.against(definition, other))])

    def uneven_sum(
        self,
        name: str,
        fact: Fact,
        names: tuple[str, str],
        ends: tuple[Any, Any],
        of: Callable[[Any], Any],
        size: Any,
        uneven: tuple[Callable[[Any], Any], Callable[[Any], Any]],
        parts: Fact,
        most: Any,
    ) -> Fact:
        """Show E‖Σ v_i·(over_i − under_i)‖² ≤ (most·size)², where Σ over_i + under_i ≤ most.

        Parameters
        ----------
        fact
            That E‖v_i‖² ≤ size².
        names
            i, which the facts are about, and j.
        of, uneven
            v, over and under by their index.
        parts
            That Σ over_i + under_i ≤ most.
        """
        kernel, (over, under) = self.proof.kernel, uneven
        i, j = map(variable, names)
        there = kernel.at(fact, {names[0]: j})
        alike, opposite = (kernel.norms(fact, there, of(i), of(j), size, size, sign) for sign in (1, -1))
        pairs = (
            (alike, over(i) * over(j) + under(i) * under(j)),
            (opposite, over(i) * under(j) + under(i) * over(j)),
        )
        twice = total(kernel, parts, names[1], *ends, over(j) + under(j))
        return self.proof.step(
            name,
            squared(vector_sum(names[0], *ends, of(i) * (over(i) - under(i)))) <= expr((most * size) ** 2),
            multipliers=[
                *((1, sums(kernel, both, (names[1], *ends, weight), (names[0], *ends))) for both, weight in pairs),
                (size**2, twice),
                (size**2 * most, parts),
            ],
        )

    def unequal_shares(self, gap: Callable[[Any], Any], apart: Fact, bias: Fact, most: Any) -> Fact:
        """(W9), first part: E‖Σ gap(i)·(over_i − under_i)‖² ≤ (most·σ_g)² for shares that are uneven by at most that.

        Parameters
        ----------
        gap
            How far the gradient of a client is from that of f.
        apart
            That E‖gap(i)‖² ≤ σ_g².
        bias
            That Σ over_i + under_i ≤ most.
        """
        s, sigma_g = self.proof.setting(), self.proof.setting().symbol("sigma_g")
        s.index("i_0", 0, s.n - 1)
        near = self.proof.step("heterogeneity", squared(gap(s.i)) <= expr(sigma_g**2), [apart])
        uneven = (lambda place: s.over(place, s.k)), (lambda place: s.under(place, s.k))
        return self.uneven_sum("unequal shares", near, ("i", "i_0"), (0, s.n), gap, sigma_g, uneven, bias, most)


class Buffer:
    """Numbers, vectors and lemmas about buffer k and local step q of FedBuff and FedStaleWeight.

    Parameters
    ----------
    proof
        What is written.
    """

    def __init__(self, proof: Proof) -> None:
        s = self.s = proof.setting()
        self.proof, self.kernel, self.k, self.q, self.i = proof, s.kernel, s.k, s.q, s.i
        self.T, self.Q, self.L, self.n, self.tau = s.T, s.Q, s.symbol("L"), s.n, s.symbol("tau_max")
        self.s2 = s.symbol("G_sq") + s.symbol("sigma_l") ** 2
        self.size, self.eta, self.sigma_g, self.df = s.rate * s.step, s.step, s.symbol("sigma_g_mean"), s.df(self.k)
        self.D = self.size * self.Q

    def at(self, name: str, q: Any = None) -> Any:
        """Return a vector of local step q in buffer k."""
        return self.s.vec(name, self.k, self.q if q is None else q)

    def distance(self, q: Any) -> Any:
        """Return (η_g·A·τ + A_q)²."""
        return (self.D * self.tau + self.eta * q) ** 2

    @property
    def drift(self) -> Any:
        """(R15), closed."""
        Q, g, tau = self.Q, self.s.rate, self.tau
        return self.eta**2 * ((g * Q * tau) ** 2 + g * Q * tau * (Q - 1) + (Q - 1) * (2 * Q - 1) / 6)

    def closed(self) -> list[Fact]:
        """Return what Σ q and Σ q² over the local steps are."""
        q = self.q
        return [
            telescope(self.kernel, "q", 0, self.Q, form) for form in (q * (q - 1) / 2, q * (q - 1) * (2 * q - 1) / 6)
        ]

    def descent(self) -> Fact:
        """(R7): the descent lemma over an update."""
        s, kernel, k, F = self.s, self.kernel, self.k, self.s.objective
        way = s.w(k + 1) - s.w(k)
        steps = vector_sum("q", 0, self.Q, self.at("hb") + self.at("xb"))
        down = total(kernel, s.descent(s.d(self.i, k), s.w(k + 1)), "i", 0, self.n, 1 / self.n)
        return self.proof.step(
            "(R7), with the update as it is",
            F(s.w(k + 1)) <= F(s.w(k)) - s.dot(self.df, steps) * self.size + squared(way) * (self.L / 2),
            [down, kernel.against(s.whole_gradient(k), way), kernel.against(s.update(k), self.df)],
        )

    def unequal(
        self, share: Callable[[Any], Any], at: tuple[Any, ...], whole: Any, grouped: Any, size: Any, apart: Any
    ) -> Fact:
        """(R8): weights of the clients in a buffer in place of 1/n, by the Cauchy-Schwarz inequality.

        Parameters
        ----------
        share
            The weight of a client; ``over`` and ``under`` have the indices ``at`` beside the client.
        whole, grouped
            The difference of the two gradients, and the sentence that says what the first is.
        size, apart
            n·Σ (share − 1/n)², or more than that, and the sentence that says so.
        """
        s, kernel, n, i, k = self.s, self.kernel, self.n, self.i, self.k
        other = s.index("i_0", 0, n - 1)
        gap, y = (lambda place: s.d(place, k) - self.df), (lambda place: share(place) - 1 / n)
        bias = vector_sum("i", 0, n, gap(i) * y(i))
        product = kernel.square(gap(i) * y(other) - gap(other) * y(i))
        parts = s.over(other, *at) ** 2 + s.under(other, *at) ** 2
        mixed = kernel.times(s.one_sided(other, *at), squared(gap(i)))
        over_all = lambda fact: total(kernel, total(kernel, fact, "i", 0, n), "i_0", 0, n)
        cauchy = self.proof.step(
            "(R8), Cauchy-Schwarz",
            squared(bias) <= finite_sum("i_0", 0, n, finite_sum("i", 0, n, squared(gap(i)) * parts)),
            multipliers=[(scalar(1) / 2, over_all(product)), (2, over_all(mixed))],
        )
        mean = total(kernel, s.mean_heterogeneity(k), "i_0", 0, n, parts)
        terms = [(1, grouped(k)), (-1, s.whole_gradient(k)), (1, s.whole_share(*at, self.df))]
        same = combine_vectors(kernel, whole, bias, terms)
        return self.proof.step(
            "(R8)",
            squared(whole) <= expr(size * self.sigma_g**2),
            [cauchy, mean, apart(*at), kernel.against(same, whole), kernel.against(same, bias)],
        )
