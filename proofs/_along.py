"""What several proofs share: their forms along the run, and lemmas about windows of runs."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from boundlab.prove import Fact, Proof, Script, VectorFact, equal, expr, squared, total, vector_sum
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

    def unequal_shares(self, gap: Callable[[Any], Any], apart: Fact, bias: Callable[[], Fact], most: Any) -> Fact:
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
        s, kernel = self.proof.setting(), self.proof.kernel
        k, i, n, sigma_g, o = s.k, s.i, s.n, s.symbol("sigma_g"), s.index("i_0", 0, s.n - 1)
        near = self.proof.step("heterogeneity", squared(gap(i)) <= expr(sigma_g**2), [apart])
        there = kernel.at(near, {"i": o})
        alike, opposite = (kernel.norms(near, there, gap(i), gap(o), sigma_g, sigma_g, sign) for sign in (1, -1))
        over, under = (lambda place: s.over(place, k)), (lambda place: s.under(place, k))
        signs = (
            (alike, over(i) * over(o) + under(i) * under(o)),
            (opposite, over(i) * under(o) + under(i) * over(o)),
        )
        pairs = [total(kernel, total(kernel, fact, "i_0", 0, n, weight), "i", 0, n) for fact, weight in signs]
        parts = bias()
        twice = total(kernel, parts, "i_0", 0, n, over(o) + under(o))
        return self.proof.step(
            "unequal shares",
            squared(vector_sum("i", 0, n, gap(i) * (over(i) - under(i)))) <= expr((most * sigma_g) ** 2),
            multipliers=[*((1, one) for one in pairs), (sigma_g**2, twice), (sigma_g**2 * most, parts)],
        )
