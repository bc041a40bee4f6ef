"""Proofs by a potential: what falls in every iteration, read off the bound, and its multipliers, looked for.

A bound says by itself what its proof is: with a base V(k) = ‖x_k − x*‖² or f(x_k) that is S = R² or F0 at first,

- ``mean``: a bound S/(c·T) + r of a mean of q asks for V(k+1) + c·q(k) ≤ V(k) + c·r, which is summed;
- ``last``: a bound S/p(T) of q at the last iterate asks for W(k+1) ≤ W(k) with W(k) = V(k) + (p(k) − p(0))·q(k);
- ``two``: the same with W(k) = ‖x_k − x*‖² + a(k)·gap + b(k)·‖∇f(x_k)‖², of which p says what a and b are;
- ``contraction``: a bound S·ρ^T + N·(1 − ρ^T) asks for V(k+1) ≤ ρ·V(k) + (1 − ρ)·N.

What is given are lemmas about x_k, x_{k+1} and x*, of f as it follows from those of the clients' functions. The step is
then a linear inequality between inner products, and its multipliers are those of a linear program.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, final

import sympy

from boundlab.prove._kernel import telescope, total
from boundlab.prove._scalars import ZERO, ProofError, Scalar, scalar, variable
from boundlab.prove._terms import Claim, Context, Expr, Fact, Lin, equal, expr, squared
from boundlab.prove.document import Proof, Status, Uses
from boundlab.theorems import Theorem

KINDS: Final = ("contraction", "mean", "last", "two")
BASES: Final = ("distance", "value")
SIZES: Final = {"distance": "R", "value": "F0"}
MEANS: Final = ("ergodic-gap", "gradient-norm")


@final
@dataclass(frozen=True)
class Iteration:
    """Lemmas about iteration k of gradient descent on f, the mean of the clients' functions; d is x_k − x*.

    Parameters
    ----------
    proof
        In which they are steps.
    """

    proof: Proof
    _known: dict[str, Fact] = field(default_factory=dict)

    @property
    def s(self) -> Any:
        """The setting."""
        return self.proof.setting()

    @property
    def to_star(self) -> bool:
        """Whether there is a minimiser."""
        return "minimiser" in self.s.assumed

    def base(self, name: str, k: Scalar) -> Expr:
        """Return V(k)."""
        s = self.s
        if name == "distance":
            return squared(s.x(k) - s.star)
        return s.objective(s.x(k)) - s.objective(s.star) if self.to_star else s.objective(s.x(k))  # type: ignore[no-any-return]

    def size(self, name: str) -> Scalar:
        """Return S, which V(0) is at most."""
        own: Scalar = self.s.symbol(SIZES[name])
        return own**2 if name == "distance" else own

    def quantity(self, k: Scalar) -> Expr:
        """Return what the theorem bounds, of x_k."""
        match self.s.theorem.metric:
            case "gap" | "ergodic-gap":
                return self.base("value", k)
            case "squared-distance":
                return self.base("distance", k)
            case "gradient-norm" | "gradient-norm-last":
                return squared(self.s.gradient(k))
        raise ProofError(f"no potential is known for {self.s.theorem.metric}")

    def lemma(self, name: str, claim: Claim, facts: Iterable[Uses], *, squares: Iterable[Lin] = ()) -> Fact:
        """Return a lemma, shown once."""
        if name not in self._known:
            self._known[name] = self.proof.step(name, claim, facts, squares=squares)
        return self._known[name]

    # ------------------------------------------------------------------ f at two points

    def _point(self, at: Scalar | None) -> tuple[Lin, Lin, Lin]:
        """Return x_k, its gradient for client i, and for f; None is x*."""
        s = self.s
        if at is None:
            return s.star, s.vec("h", s.i), s.mean_vector(lambda j: s.vec("h", j))
        return s.x(at), s.g(s.i, at), s.gradient(at)

    def still(self, *known: Lin) -> list[Fact]:
        """Return E⟨∇f(x*), v⟩ = 0."""
        if not self.to_star:
            return []
        return [self.proof.kernel.against(self.s.optimality(), v) for v in (*known, self._point(None)[2])]

    def both(self, make: Callable[[Lin, Lin], Fact], one: Scalar | None, other: Scalar | None) -> list[Uses]:
        """Return an inequality of gradients at two points for f: squares of means are at most means of squares."""
        s = self.s
        (x, g, G), (y, h, H) = self._point(one), self._point(other)
        known = (
            [v for at, v in ((one, x - s.star), (one, G), (other, y - s.star), (other, H)) if at is not None]
            if self.to_star
            else []
        )
        jensen = s.over_clients(self.proof.kernel.square(g - h - (G - H)))
        return [s.over_clients(make(g, h)), jensen, *self.still(*known)]

    def convex(self, k: Scalar) -> Fact:
        """f(x_k) − f(x*) ≤ ⟨∇f(x_k), d⟩ − μ/2·‖d‖²."""
        s = self.s
        d = s.x(k) - s.star
        strong = "strongly-convex" in s.assumed
        right = s.dot(s.gradient(k), d) - (squared(d) * (s.symbol("mu") / 2) if strong else squared(d) * 0)
        of_client = (s.strongly_convex if strong else s.convex)(s.g(s.i, k), s.star)
        facts = [s.over_clients(of_client), *self.inside(s.x(k))]
        return self.lemma("the gap is below the slope", self.base("value", k) <= right, facts)

    def inside(self, at: Lin) -> list[Fact]:
        """Return that H is 0 at a point of a run and at x*, where it is 0 on a set."""
        s = self.s
        if "constrained" not in s.assumed:
            return []
        indices = () if at.vec is None else at.vec.indices
        return [s.inside(*indices) if indices else s.inside_average(), s.inside_star()]

    def steep(self, k: Scalar) -> Fact:
        """⟨∇f(x_k), d⟩ ≥ μ·‖d‖²."""
        s = self.s
        d, facts = s.x(k) - s.star, (s.strongly_convex(s.g(s.i, k), s.star), s.strongly_convex(s.vec("h", s.i), s.x(k)))
        claim = s.dot(s.gradient(k), d) >= squared(d) * s.symbol("mu")
        return self.lemma("strong monotonicity", claim, [*map(s.over_clients, facts), *self.still(d)])

    def flat(self, k: Scalar) -> Fact:
        """⟨∇f(x_k), d⟩ ≤ L·‖d‖²."""
        s = self.s
        d, facts = s.x(k) - s.star, (s.descent(s.g(s.i, k), s.star), s.descent(s.vec("h", s.i), s.x(k)))
        claim = s.dot(s.gradient(k), d) <= squared(d) * s.symbol("L")
        return self.lemma("Lipschitz gradients", claim, [*map(s.over_clients, facts), *self.still(d)])

    def coercive(self, k: Scalar) -> Fact:
        """(μ + L)·⟨∇f(x_k), d⟩ ≥ ‖∇f(x_k)‖² + μL·‖d‖²."""
        s = self.s
        d, G, L, mu = s.x(k) - s.star, s.gradient(k), s.symbol("L"), s.symbol("mu")
        facts = [*self.both(s.interpolation, k, None), s.over_clients(s.interpolation(s.vec("h", s.i), s.g(s.i, k)))]
        claim = s.dot(G, d) * (mu + L) >= squared(G) + squared(d) * (mu * L)
        return self.lemma("co-coercivity", claim, facts)

    def minimum(self, k: Scalar) -> Fact:
        """f(x_k) − f(x*) ≤ ⟨∇f(x_k), d⟩ − ‖∇f(x_k)‖²/(2L)."""
        s = self.s
        G = s.gradient(k)
        claim = self.base("value", k) <= s.dot(G, s.x(k) - s.star) - squared(G) / (2 * s.symbol("L"))
        return self.lemma(f"f at x* from x[{k}]", claim, self.both(s.cocoercive, k, None))

    def above(self, k: Scalar) -> Fact:
        """f(x_k) − f(x*) ≥ ‖∇f(x_k)‖²/(2L)."""
        s = self.s
        claim = self.base("value", k) >= squared(s.gradient(k)) / (2 * s.symbol("L"))
        return self.lemma(
            f"the gap is above the gradient at x[{k}]",
            claim,
            [s.over_clients(s.cocoercive(s.vec("h", s.i), s.g(s.i, k))), *self.both(s.cocoercive, k, None)[1:]],
        )

    def dominated(self, k: Scalar) -> Fact:
        """‖∇f(x_k)‖² ≥ 2μ·(f(x_k) − f(x*))."""
        s = self.s
        G, mu = s.gradient(k), s.symbol("mu")
        claim = squared(G) >= self.base("value", k) * (2 * mu)
        return self.lemma("Polyak-Łojasiewicz", claim, [self.convex(k)], squares=[G - (s.x(k) - s.star) * mu])

    def near(self, one: Scalar, other: Scalar) -> Fact:
        """f(y) ≥ f(x) + ⟨∇f(x), y − x⟩ + ‖∇f(x) − ∇f(y)‖²/(2L)."""
        s = self.s
        (x, _, G), (y, _, H) = self._point(one), self._point(other)
        right = s.objective(x) + s.dot(G, y - x) + squared(G - H) / (2 * s.symbol("L"))
        return self.lemma(
            f"f at x[{other}] from x[{one}]", s.objective(y) >= right, self.both(s.cocoercive, one, other)[:2]
        )

    def descent(self, k: Scalar) -> Fact:
        """f(x_{k+1}) ≤ f(x_k) + ⟨∇f(x_k), x_{k+1} − x_k⟩ + L/2·‖x_{k+1} − x_k‖²."""
        s = self.s
        x, y = s.x(k), s.x(k + 1)
        right = s.objective(x) + s.dot(s.gradient(k), y - x) + squared(y - x) * (s.symbol("L") / 2)
        of_client = s.over_clients(s.descent(s.g(s.i, k), y))
        return self.lemma("f at the next point", s.objective(y) <= right, [of_client])

    def bounded(self, k: Scalar) -> Fact:
        """‖∇f(x_k)‖² ≤ B²."""
        s = self.s
        G = s.gradient(k)
        facts = [s.over_clients(s.lipschitz(s.g(s.i, k))), s.over_clients(self.proof.kernel.square(s.g(s.i, k) - G))]
        return self.lemma("the mean subgradient is bounded", squared(G) <= expr(s.symbol("B") ** 2), facts)

    # ------------------------------------------------------------------ the step

    def of_own_minimisers(self, k: Scalar) -> Fact:
        """(1/n)·Σ ‖∇f_i(x_k)‖² ≤ 4L·(f(x_k) − f(x*)) + 2L²ζ²."""
        s = self.s
        g, h, L, zeta = s.g(s.i, k), s.vec("h", s.i), s.symbol("L"), s.symbol("zeta")
        apart = [
            s.smooth(h, s.vec("hu", s.i)),
            s.heterogeneity(s.i),
            self.proof.kernel.against(s.own_minimiser(s.i), h),
        ]
        own = self.proof.kernel.against(s.own_minimiser(s.i), s.vec("hu", s.i))
        slope = self.lemma("‖∇f_i(x*)‖ ≤ Lζ", squared(h) <= expr(L**2 * zeta**2), [*apart, own])
        claim = s.mean(lambda _: squared(g)) <= self.base("value", k) * (4 * L) + 2 * L**2 * zeta**2
        of_clients = [s.cocoercive(h, g), slope, self.proof.kernel.square(g - h * 2)]
        return self.lemma(
            "gradients of clients", claim, [*map(s.over_clients, of_clients), *self.still(s.x(k) - s.star)]
        )

    def moves(self, k: Scalar) -> list[Uses]:
        """Return how x_{k+1} is made, and what is known of the noise in it."""
        s = self.s
        if s.composite and s.sampling == "all":
            beside = [s.simple(k + 1, s.star), self.proof.kernel.square(s.vec("r", k + 1))]
            return [s.move(k), *beside, *self.inside(s.x(k + 1))]
        if s.composite:
            return [s.event(squared(s.x(k + 1) - s.star), k), self._nearer(k), *self._of_clients(k), *self._noise(k)]
        if s.sampling != "all":
            return [s.event(squared(s.x(k + 1) - s.star), k), *self._of_clients(k), *self._noise(k)]
        return [s.move(k), *self._noise(k)]

    def _nearer(self, k: Scalar) -> Fact:
        """E‖u − x*‖² ≤ E‖x_k − α·(g + e) − x*‖², where u is the projection: on average over the clients."""
        s = self.s
        u, own = s.u(s.i, k), s.x(k) - (s.g(s.i, k) + s.e(s.i, k)) * s.alpha
        facts = [s.goes(s.i, k), s.simple(s.i, k, s.star), s.inside_after(s.i, k), s.inside_star()]
        claim = squared(u - s.star) <= squared(own - s.star)
        return s.over_clients(self.lemma("projections", claim, facts, squares=[s.vec("p", s.i, k)]))  # type: ignore[no-any-return]

    def _of_clients(self, k: Scalar) -> Iterator[Fact]:
        """Yield what is known of the function of a client that is drawn."""
        s = self.s
        if "lipschitz" in s.assumed:
            yield s.over_clients(s.lipschitz(s.g(s.i, k)))

    def _noise(self, k: Scalar) -> Iterator[Fact]:
        s = self.s
        if not s.noisy:
            return
        noise = s.e(s.i, k)
        known = [s.x(k), s.g(s.i, k), *([s.star] if self.to_star else [])]
        if s.sampling == "all":
            across = s.unbiased(noise, s.g(s.j, k))
            yield s.over_clients(total(self.proof.kernel, across, "j", 0, s.n, 1 / s.n))
            yield s.independent(s.e(s.i, k), "i", 0, s.n, 1 / s.n)
        yield from (s.over_clients(s.unbiased(noise, one)) for one in known)
        yield s.over_clients(s.variance(noise))

    def start(self, base: str, last: Scalar) -> Fact:
        """Return V(0) ≤ S."""
        s = self.s
        return s.start() if base == "distance" else s.start_gap(s.star if self.to_star else s.x(last))  # type: ignore[no-any-return]

    def summed(self, one: Fact, base: str, potential: Expr) -> list[Uses]:
        """Return what follows for all iterations from what each of them contributes, and V(0) ≤ S."""
        kernel, T = self.proof.kernel, self.s.symbol(self.s.theorem.horizon_symbol)
        return [total(kernel, one, "k", 0, T), telescope(kernel, "k", 0, T, potential), self.start(base, T)]


def by_potential(proof: Proof, kind: str, base: str, given: str) -> None:
    """Write a proof down: the step in which the potential falls, what is made of all steps, the theorem.

    Raises
    ------
    ProofError
        If the bound has another form.
    """
    if SIZES[base] not in proof.setting().theorem.read:
        raise ProofError(f"the bound does not read {SIZES[base]}")
    {"mean": _mean, "last": _last, "two": _last_of_two, "contraction": _contraction}[kind](
        proof, Iteration(proof), base, given
    )


def written_by(*words: str) -> Callable[[Proof], None]:
    """Return what writes a proof down that these words say: kind, base, and lemmas that are given."""
    return lambda proof: by_potential(proof, *words)


def _terms(s: Any) -> list[Scalar]:
    return [s.formula(one) for one in s.theorem.bound.terms.values()]


GIVEN: Final[Mapping[str, Callable[[Iteration, Scalar], list[Fact]]]] = MappingProxyType(
    {
        "convexity": lambda of, k: [of.convex(k)],
        "bounded subgradients": lambda of, k: [of.convex(k), of.bounded(k)],
        "contraction": lambda of, k: [of.coercive(k), of.steep(k), of.flat(k)],
        "descent": lambda of, k: [of.descent(k)],
        "own minimisers": lambda of, k: [of.convex(k), of.of_own_minimisers(k), of.s.minimal(of.s.x(k))],
        "domination": lambda of, k: [of.descent(k), of.dominated(k)],
        "distance and descent": lambda of, k: [of.descent(k), of.minimum(k), of.convex(k)],
        "both ways": lambda of, k: [of.near(k, k + 1), of.near(k + 1, k)],
        "both ways and x*": lambda of, k: [of.near(k, k + 1), of.near(k + 1, k), of.minimum(k), of.above(k)],
        "all of it": lambda of, k: [
            of.near(k, k + 1), of.near(k + 1, k), of.minimum(k), of.minimum(k + 1), of.above(k), of.above(k + 1),
        ],
    }
)  # fmt: skip
"""Lemmas that a step may use: few at a time, for many leave a linear program too much to choose."""


def _falls(
    proof: Proof, of: Iteration, given: str, left: Expr, right: Expr, context: Context | None = None, why: str = ""
) -> Fact:
    s, k = of.s, of.s.k
    facts = [*GIVEN[given](of, k), *of.moves(k)]
    squares = [s.gradient(k)]
    if s.sampling == "all" and "smooth" in s.assumed:
        squares += [s.gradient(k + 1), s.gradient(k) - s.gradient(k + 1)]
    name, kernel = f"the potential falls{why}", proof.kernel
    if "alpha" in kernel.values:  # a step that is a formula: signs are seen where that stands in its place
        facts = [
            kernel.unname(one, "alpha") for one in proof.inserted(left <= right, [*facts, *map(kernel.square, squares)])
        ]
        squares = []
    found = proof.step(name, left <= right, facts, squares=squares, context=context)
    if proof.steps[-1].status is not Status.PROVED:
        raise ProofError("the potential is not shown to fall")
    return found


def _mean(proof: Proof, of: Iteration, base: str, given: str) -> None:
    s, k = of.s, of.s.k
    if s.theorem.metric not in MEANS:
        raise ProofError("averaging does not apply: the left side is no mean")
    if _rooted(s.theorem)[1] != 1:
        _at_the_best_step(proof, of, given)
        return
    name = s.theorem.horizon_symbol
    T, terms, S = s.symbol(name), _terms(s), of.size(base)
    first = next((one for one in terms if {SIZES[base], name} <= one.names()), None)
    if first is None:
        raise ProofError("the bound is no S/(c·T) + r of a mean")
    c = S / (first * T)
    rest = sum((one for one in terms if one is not first), ZERO)
    if name in c.names() | rest.names():
        raise ProofError("the bound is no S/(c·T) + r")
    one = _falls(proof, of, given, of.base(base, k + 1) + of.quantity(k) * c, of.base(base, k) + expr(c * rest))
    proof.conclude(_of_all(proof, of, base, one, terms))


def _at_the_best_step(proof: Proof, of: Iteration, given: str) -> None:
    """Conclude for α = R/√(T·size), where R·√(size/T) is R²/(2αT) + α·size/2 in one number."""
    s, kernel, k, alpha = of.s, proof.kernel, of.s.k, of.s.alpha
    T, R = s.symbol(s.theorem.horizon_symbol), s.symbol("R")
    size: Scalar = sum((s.symbol(one) ** 2 for one in (("B", "sigma") if s.noisy else ("B",))), ZERO)
    bound, roots = _rooted(s.theorem)
    if len(s.step_facts) != 2:
        raise ProofError("the bound is no S/(c·T) + r")
    one = _falls(
        proof, of, given, of.base("distance", k + 1) + of.quantity(k) * (2 * alpha),
        of.base("distance", k) + expr(alpha**2 * size),
    )  # fmt: skip
    fixed = _of_all(proof, of, "distance", one, [R**2 / (2 * alpha * T), alpha * size / 2])
    named, step = s.step_facts  # α_1 = √size or size, and α²·(size of α_1) = R²/T
    own = variable("alpha_1")
    squared_, more = (own**2, own + s.symbol("B")) if not s.noisy else (own, scalar(1))
    root, rate, outside = s.root("rate", s.formula(roots**2)), variable("rate"), s.formula(bound / roots)
    squares = proof.step(
        "both sides squared",
        equal(expr((outside * rate) ** 2), (alpha * squared_) ** 2),
        multipliers=[(outside**2, root), (-squared_, step), (-(R**2) / T * more, named)],
    )
    same = proof.rule("both are one number", None, lambda: kernel.by_squares(squares, outside * rate, alpha * squared_))
    halves = proof.step(
        "the two halves are equal",
        equal(expr(R**2 / (2 * alpha * T)), alpha * squared_ / 2),
        multipliers=[(-1 / (2 * alpha), step)],
    )
    parts = [(1, fixed), (-1, halves), (alpha / 2 * more, named), (1, same)]
    proof.conclude(proof.step("at this step", s.metric() <= expr(outside * rate), multipliers=parts))


def _rooted(theorem: Theorem) -> tuple[sympy.Expr, sympy.Expr]:
    """Return a bound, and the product of the square roots in it."""
    bound = sympy.Add(*theorem.bound.terms.values())
    factors = [one for one in sympy.Mul.make_args(bound) if one.is_Pow and one.exp.is_Rational and one.exp.q == 2]
    return bound, sympy.Mul(*factors)


def _of_all(proof: Proof, of: Iteration, base: str, one: Fact, terms: Sequence[Scalar]) -> Fact:
    """Return a bound of a mean from what each iteration contributes to it."""
    s, kernel, k = of.s, proof.kernel, of.s.k
    T = s.symbol(s.theorem.horizon_symbol)
    ends = of.summed(one, base, of.base(base, k))
    if s.theorem.metric == "ergodic-gap":
        ends.append(total(kernel, s.over_clients(s.convex(s.vec("gbar", s.i), s.x(k))), "k", 0, T, 1 / T))
        ends.append(kernel.against(s.averaging(), s.mean_vector(lambda j: s.vec("gbar", j))))
        ends += [*of.inside(s.average()), *(total(kernel, one, "k", 0, T, 1 / T) for one in of.inside(s.x(k)))]
    squares = [s.x(T) - s.star] if of.to_star else []
    return proof.step("all steps", s.metric() <= expr(sum(terms, ZERO)), ends, squares=squares)


def _last(proof: Proof, of: Iteration, base: str, given: str) -> None:
    s, k = of.s, of.s.k
    name, terms = s.theorem.horizon_symbol, _terms(s)
    if len(terms) != 1 or s.theorem.metric in MEANS:
        raise ProofError("the bound is no S/p(T) of a last iterate")
    T, p = s.symbol(name), of.size(base) / terms[0]

    def potential(at: Scalar) -> Expr:
        found: Expr = of.base(base, at) + of.quantity(at) * (p.put({name: at}) - p.put({name: scalar(0)}))
        return found

    one = _falls(proof, of, given, potential(k + 1), potential(k))
    ends = of.summed(one, base, potential(k))
    ends += [of.above(T)] if of.to_star and "convex" in s.assumed and "smooth" in s.assumed else []
    squares = [s.gradient(T), *([s.x(T) - s.star] if of.to_star else [])]
    proof.conclude(proof.step("all steps", s.metric() <= expr(terms[0]), ends, squares=squares))


def _last_of_two(proof: Proof, of: Iteration, base: str, given: str) -> None:
    """V(k) = ‖d_k‖² + a(k)·gap + b(k)·‖∇f‖²: what a and b are at T follows from ‖d − c·∇f‖² ≥ 0 and the bound."""
    s, k = of.s, of.s.k
    horizon = s.theorem.symbols[s.theorem.horizon_symbol].symbol
    bound = sympy.Add(*s.theorem.bound.terms.values())
    p = sympy.expand(sympy.cancel(s.theorem.symbols["R"].symbol ** 2 / bound))
    if base != "distance" or not p.is_polynomial(horizon):
        raise ProofError("the bound is no R²/p(T)")
    if s.theorem.metric == "gap":
        # (c² − c/L)·‖∇f‖² + ‖d‖² ≥ 2c·gap: half of p from there, half from a
        a, c = (p - p.subs(horizon, 0)) / 2, (p + p.subs(horizon, 0)) / 4
        b = c * (c - 1 / s.theorem.symbols["L"].symbol)
    elif s.theorem.metric == "gradient-norm-last":
        # ‖d‖² ≥ ‖∇f‖²/L², gap ≥ ‖∇f‖²/(2L)
        own = s.theorem.symbols["L"].symbol
        a, c = own * p.coeff(horizon, 1) * horizon, 1 / own
        b = p - 1 / own**2 - a / (2 * own)
    else:
        raise ProofError("the left side is no gap and no gradient of a last iterate")
    T, weights, name = s.symbol(s.theorem.horizon_symbol), [s.formula(one) for one in (a, b)], s.theorem.horizon_symbol
    if any(one.put({name: scalar(0)}) for one in weights):
        raise ProofError("the potential is more than R² at first")

    def potential(at: Scalar) -> Expr:
        first, second = (one.put({name: at}) for one in weights)
        found: Expr = of.base("distance", at) + of.base("value", at) * first + squared(s.gradient(at)) * second
        return found

    one = _falls(proof, of, given, potential(k + 1), potential(k))
    ends = [*of.summed(one, base, potential(k)), of.minimum(T), of.above(T)]
    square = s.x(T) - s.star - s.gradient(T) * s.formula(c).put({name: T})
    proof.conclude(proof.step("all steps", s.metric() <= expr(sum(_terms(s), ZERO)), ends, squares=[square]))


def _powers(theorem: Theorem) -> list[tuple[sympy.Expr, int]]:
    """Return the numbers whose T-th powers stand in a bound, each as base and how often."""
    horizon = theorem.symbols[theorem.horizon_symbol].symbol
    found = {
        (one.base, one.exp / horizon)
        for term in theorem.bound.terms.values()
        for one in term.atoms(sympy.Pow)
        if horizon in one.exp.free_symbols
    }
    return [(base, int(often)) for base, often in found if often.is_Integer]


def _contraction(proof: Proof, of: Iteration, base: str, given: str) -> None:
    s = of.s
    powers = _powers(s.theorem)
    if len(powers) != 1 or s.theorem.metric not in ("gap", "squared-distance"):
        raise ProofError("contraction does not apply: the bound is not geometric, S·ρ^T + N·(1 − ρ^T)")
    (q, often), horizon = powers[0], s.theorem.symbols[s.theorem.horizon_symbol].symbol
    bound = sympy.Add(*s.theorem.bound.terms.values())
    rho = sympy.Dummy("rho")
    in_rho = sympy.expand(bound.subs(q ** (often * horizon), rho))
    if horizon in in_rho.free_symbols or in_rho.coeff(rho, 0).has(rho):
        raise ProofError("contraction does not apply: the bound is not geometric, S·ρ^T + N·(1 − ρ^T)")
    level = in_rho.coeff(rho, 0)
    cases = _cases(proof, q)
    proof.conclude(*(_contracts(proof, of, base, given, one, often, s.formula(level), at) for at, one in cases))


def _cases(proof: Proof, q: sympy.Expr) -> list[tuple[Context | None, sympy.Expr]]:
    """Return the cases in which one of two numbers is the larger one, or q falls, or rises, with the step size."""
    s = proof.setting()
    step = s.theorem.symbols["alpha"].symbol if "alpha" in s.theorem.symbols else sympy.Dummy()
    if isinstance(q, sympy.Max):
        one, other = q.args
        falls, rises = (one, other) if sympy.diff(one, step).could_extract_minus_sign() else (other, one)
        (at,) = sympy.solve(one - other, step)
    elif sympy.diff(q, step, 2) != 0:
        falls = rises = q
        (at,) = sympy.solve(sympy.diff(q, step), step)
    else:
        return [(None, q)]
    return list(zip(proof.kernel.split("alpha", s.formula(at)), (falls, rises), strict=True))


def _contracts(
    proof: Proof,
    of: Iteration,
    base: str,
    given: str,
    of_q: sympy.Expr,
    often: int,
    level: Scalar,
    context: Context | None,
) -> Fact:
    value = of.s.formula(of_q, context)
    why = "" if context is None else f", {context.why}"
    k = of.s.k
    one = _falls(
        proof, of, given, of.base(base, k + 1),
        of.base(base, k) * value**often + expr(level * (1 - value**often)), context, why,
    )  # fmt: skip
    return contracted(proof, of, base, one, value, often, level, context)


def contracted(
    proof: Proof,
    of: Iteration,
    base: str,
    one: Fact,
    value: Scalar,
    often: int,
    level: Scalar,
    context: Context | None,
) -> Fact:
    """Return what V(k+1) ≤ V(k)·q^often + level·(1 − q^often) comes to after all steps, and from the start.

    Parameters
    ----------
    one
        That, with the number for q.
    value
        q, a number ≥ 0.
    context
        The case in which it holds.
    """
    s, kernel, k = of.s, proof.kernel, of.s.k
    T, S = s.symbol(s.theorem.horizon_symbol), of.size(base)
    why = "" if context is None else f", {context.why}"
    name = "q" if context is None or "q" not in kernel.values else "r"
    q, named = variable(name), s.name(name, value, low=0, context=context)
    power = (
        proof.step(f"{name} as a power{why}", equal(expr(q**often), value**often), [named], context=context)
        if often == 1
        else proof.step(f"{name}²{why}", equal(expr(q**2), value**2), multipliers=[(q + value, named)], context=context)
    )
    shrinks = proof.step(
        f"one step{why}",
        of.base(base, k + 1) <= of.base(base, k) * q**often + expr(level * (1 - q**often)),
        multipliers=[(1, one), (1, kernel.times(power, of.base(base, k))), (-level, power)],
        context=context,
    )
    positive = kernel.combine(expr(q**often) >= 0, [], context)
    all_steps = proof.induction(
        f"k steps{why}",
        of.base(base, k) <= of.base(base, scalar(0)) * q ** (often * k) + expr(level * (1 - q ** (often * k))),
        "k",
        [],
        lambda known: [kernel.scale(positive, known), shrinks],
        context=context,
    )
    last = kernel.at(all_steps, {"k": T})
    start = kernel.scale(kernel.combine(expr(q ** (often * T)) >= 0, [], context), of.start(base, T))
    return proof.step(
        f"all steps{why}",
        of.quantity(T) <= expr(S * q ** (often * T) + level * (1 - q ** (often * T))),
        [last, start],
        context=context,
    )
