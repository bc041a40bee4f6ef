"""What the modules about AREA's Appendix B share: its symbols, and the vectors whose norms it takes."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from boundlab.prove import (
    Claim,
    Expr,
    Fact,
    Lin,
    Proof,
    Scalar,
    VectorFact,
    combine_vectors,
    expr,
    finite_sum,
    no_norm_is_negative,
    norm,
    squared,
    total,
    total_vector,
    variable,
)


class AppendixB:
    """The appendix while it is written: symbols, and facts that later sections cite.

    Parameters
    ----------
    proof
        Of a theorem with AREA's steps c/(k + d).
    """

    def __init__(self, proof: Proof) -> None:
        self.proof, self.s, self.kernel = proof, proof.setting(), proof.kernel
        s = self.s
        self.errors = s.errors()
        self.i, self.j, self.k, self.m, self.M, self.n = s.i, self.errors.j, s.k, s.m, s.M, s.n
        self.L, self.mu, self.sigma, self.zeta = (s.symbol(name) for name in ("L", "mu", "sigma", "zeta"))
        self.p, self.p_s, self.p_min, self.qbar = s.p(s.i), s.p_s, s.symbol("p_min"), s.symbol("qbar")
        self.D, self.d = s.symbol("D"), s.offset
        self.gamma = 2 * self.mu * self.L / (self.mu + self.L)
        self.c = self.D * self.d
        self.a = s.step
        self.known: dict[str, Fact] = {}
        self.fall = self.a(self.k) - self.a(self.k + 1)
        self.moved: dict[str, VectorFact] = {}

    if TYPE_CHECKING:  # sections leave there what later ones cite

        def __getattr__(self, name: str) -> Any: ...
        def __setattr__(self, name: str, value: Any) -> None: ...

    def vec(self, name: str, *at: Any) -> Lin:
        """Return a vector of the setting."""
        vector: Lin = self.s.vec(name, *at)
        return vector

    def norm(self, name: str, *at: Any) -> Expr:
        """Return E‖v‖."""
        return norm(self.s.vec(name, *at))

    def square(self, name: str, *at: Any) -> Expr:
        """Return E‖v‖²."""
        return squared(self.s.vec(name, *at))

    def define(self, name: str, *at: Any) -> VectorFact:
        """Return what a vector is made of."""
        fact: VectorFact = self.errors.definition(name, *at)
        return fact

    def vectors(self, left: Lin, right: Lin, *parts: tuple[Any, VectorFact], zeros: Any = ()) -> VectorFact:
        """Return left = right as a combination of equations of vectors."""
        return combine_vectors(self.kernel, left, right, parts, zeros)

    def mean_of(self, fact: VectorFact) -> VectorFact:
        """Return the mean over the clients of an equation of vectors."""
        return total_vector(self.kernel, fact, "i", 0, self.n, 1 / self.n)

    # ------------------------------------------------------------------ weights

    def root(self, k: Any) -> Scalar:
        """Return β_k^(1/3)."""
        return 1 / variable("v", k)

    def weights(self, k: Any) -> tuple[Scalar, Scalar, Scalar]:
        """Return what (12) gives to x_i, y_i and x_s."""
        root = self.root(k)
        return 1 / (self.n * self.p * root**2), 1 / (self.n * self.p * root), 1 / self.p_s

    def weighted(self, at: Any, k: Any, parts: Sequence[Callable[[Any], Expr]]) -> Expr:
        """Return w_at'v_k, for the errors of x_i, y_i and x_s."""
        x, y, server = self.weights(at)
        return finite_sum("i", 0, self.n, parts[0](k) * x + parts[1](k) * y) + parts[2](k) * server

    def weigh(
        self,
        name: str,
        claim: Claim,
        rows: Sequence[Fact],
        parts: Sequence[Callable[[Any], Expr]],
        drift: tuple[Fact, Any],
        rest: Any,
        at: str,
        beside: tuple[Fact, Sequence[Callable[[Any], Expr]]] | None = None,
    ) -> Fact:
        """Show what w_k' times the system, given by its rows, amounts to.

        Parameters
        ----------
        drift
            What meets all weights of clients: a number that a fact shows not to be negative, and a factor.
        rest
            What meets those of the x_i, times p_i.
        beside
            A factor ≥ 0, and other errors that A_k is applied to, times this factor.
        """
        kernel, k, n, root, one = self.kernel, self.k, self.n, self.root(self.k), self.positive
        weights = self.weights(k)
        each = 1 / root**2 + 1 / root
        found: list[tuple[Any, Fact]] = [
            (1, total(kernel, rows[0], "i", 0, n, weights[0])),
            (1, total(kernel, rows[1], "i", 0, n, weights[1])),
            (weights[2], rows[2]),
        ]
        for factor, errors in ((None, parts), *(() if beside is None else (beside,))):
            for part, weight, p in zip(errors, weights, (self.p, self.p, self.p_s), strict=True):
                gap = kernel.scale(one((p - self.p_min) * (1 - root)), self.not_negative(part(k)))
                gap = gap if factor is None else kernel.scale(factor, gap)
                found.append((weight, gap) if part is errors[2] else (1, total(kernel, gap, "i", 0, n, weight)))
            # β_k is the cube of its root.
            size: Any = 1 if factor is None else factor.claim.body.number
            found.append((size / root**2, kernel.times(self.known["root"], errors[2](k))))
        fact, by = drift
        found.append((1, kernel.scale(fact, one(self.qbar * (2 / root**3 - each) * by))))
        found.append((fact.claim.body.number * by * each, self.s.qbar()))
        found.append((1, one(rest * (1 / root**3 - 1 / root**2))))
        return self.proof.step(name, claim, multipliers=found, at=at)

    def positive(self, value: Any) -> Fact:
        """Return that a number is not negative."""
        return self.kernel.combine(expr(value) >= 0, [])

    def growing(self) -> Fact:
        """Return that the cube root of β_k does not decrease."""
        kernel, k = self.kernel, self.k
        now, later, root = self.root(k), self.root(k + 1), self.known["root"]
        gap = kernel.combine(
            expr(later**3) >= now**3,
            [(-1, root), (1, kernel.at(root, {"k": k + 1})), (self.M * self.gamma / 4, self.known["fall"])],
        )
        return kernel.combine(expr(later) >= now, [(1 / (later**2 + later * now + now**2), gap)])

    def smaller_weights(self, grow: Fact, parts: Sequence[Callable[[Any], Expr]]) -> list[Fact]:
        """Return (w_k − w_{k+1})·error ≥ 0 for x_i and y_i."""
        kernel, k, found = self.kernel, self.k, []
        now, later = self.root(k), self.root(k + 1)
        for power, part in ((2, parts[0]), (1, parts[1])):
            factor = (later + now) / (now**2 * later**2) if power == 2 else 1 / (now * later)
            less = kernel.combine(expr(1 / now**power - 1 / later**power) >= 0, [(factor, grow)])
            gap = kernel.scale(less, self.not_negative(part(k + 1)))
            found.append(total(kernel, gap, "i", 0, self.n, 1 / (self.n * self.p)))
        return found

    def not_negative(self, part: Expr) -> Fact:
        """Return E‖v‖ ≥ 0 or E‖v‖² ≥ 0."""
        ((atom, _),) = part.terms.items()
        vector = atom.at if hasattr(atom, "at") else atom.first  # type: ignore[union-attr]
        own = self.vec(vector.name, *(Scalar(one) for one in vector.indices))
        return no_norm_is_negative(self.kernel, own) if hasattr(atom, "at") else self.kernel.square(own)

    def scaled(self, fact: Fact, k: Any, _: Any, parts: Sequence[Callable[[Any], Expr]]) -> list[Fact]:
        """Return a fact about numbers times w_k'v_k ≥ 0, part by part."""
        kernel, weights = self.kernel, self.weights(k)
        found = [
            total(kernel, kernel.scale(fact, self.not_negative(part(k))), "i", 0, self.n, weight)
            for part, weight in zip(parts[:2], weights[:2], strict=True)
        ]
        last = kernel.scale(fact, self.not_negative(parts[2](k)))
        return [*found, kernel.scale(self.positive(weights[2]), last)]
