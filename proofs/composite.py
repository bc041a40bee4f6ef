"""Textbook theorems about F = f + H: proximal gradient steps, and projected ones."""

from boundlab.prove import Proof, Script, expr, scalar, squared, telescope, total
from boundlab.prove.potentials import Iteration, contracted


def _gap(s, u):  # type: ignore[no-untyped-def]
    return s.objective(u) - s.objective(s.star)


def proximal_gradient(proof: Proof) -> None:
    """Let ‖x_k − x*‖² + 2αk·gap(x_k) fall."""
    s, kernel = proof.setting(), proof.kernel
    i, k, K, star, alpha, x = s.i, s.k, s.symbol("K"), s.star, s.alpha, s.x
    W = lambda j: squared(x(j) - star) + _gap(s, x(j)) * (2 * alpha * j)
    go = x(k + 1) - x(k)
    short = kernel.scale(kernel.end("alpha", "high"), kernel.square(go))
    at_u = lambda u: [s.over_clients(s.convex(s.g(i, k), u)), s.simple(k + 1, u)]
    down = s.over_clients(s.descent(s.g(i, k), x(k + 1)))
    one = proof.step("one step", W(k + 1) <= W(k), [s.move(k), down, *at_u(star), *at_u(x(k)), short], squares=[go])
    falls = [total(kernel, one, "k", 0, K), telescope(kernel, "k", 0, K, W(k))]
    bound = expr(s.symbol("R") ** 2 / (2 * K * alpha))
    proof.conclude(proof.step("all steps", _gap(s, x(K)) <= bound, [*falls, s.start()], squares=[x(K) - star]))


def proximal_gradient_strongly_convex(proof: Proof) -> None:
    """Contract: a proximal step brings no two points further apart, and a gradient step contracts."""
    s, kernel = proof.setting(), proof.kernel
    i, k, star, L, mu, x, hs = s.i, s.k, s.star, s.symbol("L"), s.symbol("mu"), s.x, s.vec("hs")
    d, G, H = x(k) - star, s.gradient(k), s.mean_vector(lambda j: s.vec("h", j))
    g, h = s.g(i, k), s.vec("h", i)
    both = [s.over_clients(make(*pair)) for make in (s.interpolation,) for pair in ((g, h), (h, g))]
    jensen = s.over_clients(kernel.square(g - h - (G - H)))
    coercive = proof.step(
        "co-coercivity", s.dot(G - H, d) * (mu + L) >= squared(G - H) + squared(d) * (mu * L), [*both, jensen]
    )
    lower = [s.over_clients(s.strongly_convex(g, star)), s.over_clients(s.strongly_convex(h, x(k)))]
    upper = [s.over_clients(s.descent(g, star)), s.over_clients(s.descent(h, x(k)))]
    steep = proof.step("strong monotonicity", s.dot(G - H, d) >= squared(d) * mu, lower)
    flat = proof.step("Lipschitz gradients", s.dot(G - H, d) <= squared(d) * L, upper)
    after = x(k + 1) - star
    turn = s.vec("r", k + 1) - hs
    still = [kernel.against(s.optimality(), v) for v in (after, d, G - H, turn, s.vec("r", k + 1))]
    monotone = [s.simple(k + 1, star), s.simple_at_star(x(k + 1))]
    nearer = proof.step(
        "proximal steps bring nothing apart",
        squared(after) <= squared(d - (G - H) * s.alpha),
        [s.move(k), *monotone, *still],
        squares=[turn],
    )
    last = []
    factors = (1 - s.alpha * mu, steep), (s.alpha * L - 1, flat)
    for case, (q, use) in zip(kernel.split("alpha", 2 / (mu + L)), factors, strict=True):
        contracts, facts = squared(after) <= squared(d) * q**2, [nearer, coercive, use]
        one = proof.step(f"one step contracts, {case.why}", contracts, facts, context=case)
        last.append(contracted(proof, Iteration(proof), "distance", one, q, 2, scalar(0), case))
    proof.conclude(*last)


PROOFS = (
    Script(
        "classics.proximal-gradient",
        "proximal gradient steps on f + h",
        "Beck and Teboulle 2009, Theorem 3.1",
        proximal_gradient,
        "classics.proximal-gradient",
    ),
    Script(
        "classics.proximal-gradient.strongly-convex",
        "proximal gradient steps on f + h, f strongly convex",
        "Taylor, Hendrickx and Glineur 2018",
        proximal_gradient_strongly_convex,
        "classics.proximal-gradient.strongly-convex",
    ),
)
