"""Textbook theorems, proved step by step."""

from collections.abc import Callable
from typing import Any

from boundlab.prove import (
    Fact,
    Proof,
    Scalar,
    Script,
    VectorFact,
    equal,
    expr,
    finite_sum,
    squared,
    telescope,
    total,
    variable,
)
from boundlab.prove.potentials import Iteration, written_by


def _gap(s, u):  # type: ignore[no-untyped-def]
    return s.objective(u) - s.objective(s.star)


# ---------------------------------------------------------------------- subgradients


def subgradient_fixed_step(proof: Proof) -> None:
    """Expand the square, insert convexity, sum, average."""
    s = proof.setting()
    i, k, star, alpha, B = s.i, s.k, s.star, s.alpha, s.symbol("B")
    bounded = Iteration(proof).bounded(k)
    convex = s.over_clients(s.convex(s.g(i, k), star))
    one = proof.step(
        "one step",
        squared(s.x(k + 1) - star) <= squared(s.x(k) - star) - _gap(s, s.x(k)) * (2 * alpha) + alpha**2 * B**2,
        [s.move(k), convex, bounded],
    )
    proof.conclude(_averaged(proof, one, B**2))


def _averaged(proof: Proof, one: Fact, size) -> Fact:  # type: ignore[no-untyped-def]
    """Sum d(k + 1) ≤ d(k) − 2·alpha·gap(k) + alpha²·size over all iterations, and go over to the average."""
    s, kernel = proof.setting(), proof.kernel
    k, K, alpha, R, star = s.k, s.symbol("K"), s.alpha, s.symbol("R"), s.star
    gaps = finite_sum("k", 0, K, _gap(s, s.x(k)))
    summed = proof.step(
        "all steps",
        gaps * (2 * alpha) <= expr(R**2) + K * alpha**2 * size,
        [total(kernel, one, "k", 0, K), telescope(kernel, "k", 0, K, squared(s.x(k) - star)), s.start()],
        squares=[s.x(K) - star],
    )
    mean = at_average(proof, gaps)
    return proof.step(
        "together", _gap(s, s.average()) <= expr(R**2 / (2 * alpha * K) + alpha * size / 2), [summed, mean]
    )


def at_average(proof: Proof, gaps: Any) -> Fact:
    """Return that the gap at the average of all iterates is at most the average of their gaps, ``gaps``/K."""
    s, kernel = proof.setting(), proof.kernel
    k, K = s.k, s.symbol("K")
    convex = s.over_clients(s.convex(s.vec("gbar", s.i), s.x(k)))
    slopes = s.mean_vector(lambda j: s.vec("gbar", j))
    return proof.step(
        "the average is not worse",
        _gap(s, s.average()) <= gaps / K,
        [total(kernel, convex, "k", 0, K, 1 / K), kernel.against(s.averaging(), slopes)],
    )


def sgd_convex(proof: Proof) -> None:
    """Argue in the mean over who is drawn and over the noise; then insert the step for the horizon."""
    s, kernel = proof.setting(), proof.kernel
    i, k, star, alpha, B, sigma = s.i, s.k, s.star, s.alpha, s.symbol("B"), s.symbol("sigma")
    K, R, noise = s.symbol("K"), s.symbol("R"), s.e(i, k)
    drawn = [s.unbiased(noise, v) for v in (s.x(k), s.g(i, k), star)]
    of_client = [s.convex(s.g(i, k), star), s.lipschitz(s.g(i, k)), s.variance(noise), *drawn]
    one = proof.step(
        "one step",
        squared(s.x(k + 1) - star)
        <= squared(s.x(k) - star) - _gap(s, s.x(k)) * (2 * alpha) + alpha**2 * (B**2 + sigma**2),
        [s.event(squared(s.x(k + 1) - star), k), *(s.over_clients(fact) for fact in of_client)],
    )
    fixed = _averaged(proof, one, B**2 + sigma**2)
    size, step = s.step_facts  # size = B² + sigma², alpha²·size = R²/K
    S = variable("alpha_1")
    root = s.root("rate", (B**2 + sigma**2) / K)
    rate = variable("rate")
    squares = proof.step(
        "both sides squared",
        equal(expr((R * rate) ** 2), (alpha * S) ** 2),
        multipliers=[(R**2, root), (-S, step), (-(R**2) / K, size)],
    )
    same = proof.rule("the bound is alpha·(B² + sigma²)", None, lambda: kernel.by_squares(squares, R * rate, alpha * S))
    halves = proof.step(
        "the two halves are equal",
        equal(expr(R**2 / (2 * alpha * K)), alpha * S / 2),
        multipliers=[(-1 / (2 * alpha), step)],
    )
    last = proof.step(
        "at this step",
        _gap(s, s.average()) <= expr(R * rate),
        multipliers=[(1, fixed), (-1, halves), (alpha / 2, size), (1, same)],
    )
    proof.conclude(last)


# ---------------------------------------------------------------------- gradients


def gd_strongly_convex(proof: Proof) -> None:
    """Contraction: x ↦ x − α∇f(x) brings points nearer by max(1 − αμ, αL − 1); one case for each."""
    s, known = proof.setting(), Iteration(proof)
    contraction(proof, [s.move(s.k), known.coercive(s.k)], known.steep(s.k), known.flat(s.k))


def contraction(proof: Proof, given: list[Fact | VectorFact], steep: Fact, flat: Fact) -> None:
    """Conclude from what is known of a step, one case for each of two factors."""
    s, kernel = proof.setting(), proof.kernel
    k, star, alpha, mu, L, R = s.k, s.star, s.alpha, s.symbol("mu"), s.symbol("L"), s.symbol("R")
    D = lambda j: squared(s.x(j) - star)

    def following(q: Scalar, shrinks: Fact) -> Callable[[Fact], list[Fact]]:
        return lambda known: [kernel.scale(kernel.combine(expr(q**2) >= 0, [], known.context), known), shrinks]

    last = []
    small, large = kernel.split("alpha", 2 / (mu + L))
    for case, name, value, use in ((small, "q", 1 - alpha * mu, steep), (large, "r", alpha * L - 1, flat)):
        s.name(name, value, low=0, context=case)
        q, named = variable(name), s.kernel.facts[-1]
        contracts = proof.step(
            f"one step contracts, {case.why}", D(k + 1) <= D(k) * value**2, [*given, use], context=case
        )
        squares = proof.step(
            f"{name}², {case.why}", equal(expr(q**2), value**2), multipliers=[(q + value, named)], context=case
        )
        shrinks = proof.step(
            f"one step, {case.why}",
            D(k + 1) <= D(k) * q**2,
            multipliers=[(1, contracts), (1, kernel.times(squares, D(k)))],
            context=case,
        )
        power = proof.induction(
            f"k steps, {case.why}",
            D(k) <= D(0) * q ** (2 * k),
            "k",
            [],
            following(q, shrinks),
            context=case,
        )
        at_end = kernel.at(power, {"k": s.symbol("K")})
        last.append(
            proof.step(
                f"K steps, {case.why}",
                D(s.symbol("K")) <= expr(q ** (2 * s.symbol("K")) * R**2),
                [at_end, s.start()],
                context=case,
            )
        )
    proof.conclude(*last)


def gd_convex(proof: Proof) -> None:
    """Teboulle and Vaisbourd 2023: gaps and gradients do not grow; sum; one square at the end."""
    s, kernel = proof.setting(), proof.kernel
    i, k, star, alpha, L, R, K = s.i, s.k, s.star, s.alpha, s.symbol("L"), s.symbol("R"), s.symbol("K")
    x, G = s.x, s.gradient
    H = s.mean_vector(lambda j: s.vec("h", j))
    jensen = lambda one, other, mean: s.over_clients(kernel.square(one - other - mean))
    down = proof.step(
        "f at the next point",
        s.objective(x(k))
        >= s.objective(x(k + 1)) + s.dot(G(k + 1), x(k) - x(k + 1)) + squared(G(k + 1) - G(k)) / (2 * L),
        [s.over_clients(s.cocoercive(s.g(i, k + 1), s.g(i, k))), jensen(s.g(i, k + 1), s.g(i, k), G(k + 1) - G(k))],
    )
    up = proof.step(
        "and back",
        s.objective(x(k + 1)) >= s.objective(x(k)) + s.dot(G(k), x(k + 1) - x(k)) + squared(G(k + 1) - G(k)) / (2 * L),
        [s.over_clients(s.cocoercive(s.g(i, k), s.g(i, k + 1))), jensen(s.g(i, k + 1), s.g(i, k), G(k + 1) - G(k))],
    )
    still = [kernel.against(s.optimality(), v) for v in (x(k) - star, G(k), H)]
    to_star = proof.step(
        "f at x*",
        s.objective(star) >= s.objective(x(k)) + s.dot(G(k), star - x(k)) + squared(G(k)) / (2 * L),
        [s.over_clients(s.cocoercive(s.g(i, k), s.vec("h", i))), jensen(s.g(i, k), s.vec("h", i), G(k) - H), *still],
    )
    move = [s.move(k)]
    falls = proof.step(
        "(a) the gap falls",
        s.objective(x(k)) - s.objective(x(k + 1)) >= (squared(G(k)) + squared(G(k + 1))) * (alpha / 2),
        [*move, down],
        squares=[G(k) - G(k + 1)],
    )
    shorter = proof.step(
        "gradients do not grow", squared(G(k + 1)) <= squared(G(k)), [*move, down, up], squares=[G(k) - G(k + 1)]
    )
    gap = lambda j: _gap(s, x(j))
    following = s.last_term("j", 0, k, gap(variable("j")))
    gaps = proof.induction(
        "the sum of the gaps",
        finite_sum("j", 0, k, gap(variable("j"))) >= gap(k) * k + squared(G(k)) * (alpha * k * (k + 1) / 2),
        "k",
        [],
        lambda known: [known, following, falls, shorter],
    )
    following = s.last_term("j", 0, k, squared(G(variable("j"))))
    slopes = proof.induction(
        "the sum of the squared gradients",
        finite_sum("j", 0, k, squared(G(variable("j")))) >= squared(G(k)) * k,
        "k",
        [],
        lambda known: [known, following, shorter],
    )
    D = lambda j: squared(x(j) - star)
    nearer = proof.step(
        "(b) one step",
        D(k + 1) <= D(k) - gap(k) * (2 * alpha) - squared(G(k)) * (alpha * (1 / L - alpha)),
        [*move, to_star],
    )
    all_steps = proof.step(
        "(b) all steps",
        D(K) + gap(K) * (2 * alpha * K) + squared(G(K)) * (K**2 * alpha**2 + K * alpha / L) <= expr(R**2),
        [
            total(kernel, nearer, "k", 0, K),
            telescope(kernel, "k", 0, K, D(k)),
            s.start(),
            kernel.at(gaps, {"k": K}),
            kernel.at(slopes, {"k": K}),
        ],
    )
    last = proof.step(
        "one square",
        gap(K) <= expr(L * R**2 / (4 * K * L * alpha + 2)),
        [all_steps, kernel.at(to_star, {"k": K})],
        squares=[x(K) - star - G(K) * (K * alpha + 1 / L)],
    )
    proof.conclude(last)


# What `boundlab prove ID --search` has found, by the potential that falls.
_POTENTIALS = {
    "classics.gd.convex.book": ("two", "distance", "both ways and x*"),
    "classics.gd.ergodic": ("mean", "distance", "distance and descent"),
    "classics.gd.gradient": ("two", "distance", "both ways and x*"),
    "classics.gd.gradient-gap": ("last", "value", "both ways"),
    "classics.gd.nonconvex": ("mean", "value", "descent"),
    "classics.gd.pl": ("contraction", "value", "domination"),
    "classics.sgd.distance": ("contraction", "distance", "contraction"),
    "classics.sgd.gap": ("contraction", "value", "domination"),
    "classics.sgd.heterogeneous": ("contraction", "distance", "own minimisers"),
    "classics.sgd.nonconvex": ("mean", "value", "descent"),
    "classics.sgd.projected": ("mean", "distance", "bounded subgradients"),
    "classics.subgradient.projected": ("mean", "distance", "bounded subgradients"),
    "classics.subgradient": ("mean", "distance", "bounded subgradients"),
}


def _by_potential(name: str, words: tuple[str, str, str]) -> Script:
    summary = f"by a potential: {words[0]}, {words[1]}"
    return Script(name, summary, "found by boundlab prove --search", written_by(*words), name)


PROOFS = (
    *(_by_potential(name, words) for name, words in _POTENTIALS.items()),
    Script(
        "classics.subgradient.fixed-step",
        "the subgradient method with any constant step",
        "Nesterov 2018, Theorem 3.2.2",
        subgradient_fixed_step,
        "classics.subgradient.fixed-step",
    ),
    Script(
        "classics.sgd.convex",
        "stochastic subgradients of clients drawn uniformly",
        "Nemirovski, Juditsky, Lan and Shapiro 2009, (2.20) and (2.21)",
        sgd_convex,
        "classics.sgd.convex",
    ),
    Script(
        "classics.gd.strongly-convex",
        "gradient descent on smooth strongly convex functions",
        "Nesterov 2018, Theorem 2.1.15",
        gd_strongly_convex,
        "classics.gd.strongly-convex",
    ),
    Script(
        "classics.gd.convex",
        "gradient descent on smooth convex functions, the tight bound",
        "Teboulle and Vaisbourd 2023",
        gd_convex,
        "classics.gd.convex",
    ),
)
