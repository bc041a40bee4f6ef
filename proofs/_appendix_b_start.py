"""AREA, Appendix B.3 as printed: the end of the proof of Theorem 7, from the start of a run."""

from boundlab.proofs._appendix_b import AppendixB
from boundlab.prove import (
    Scalar,
    equal,
    expr,
    finite_sum,
    length,
    mean_norm,
    no_norm_is_negative,
    squared,
    total,
    triangle,
    variable,
)


def write(b: AppendixB) -> None:
    """From (28) to the end of the proof."""
    proof, s, kernel, i, n, M, L, p, p_s, qbar = b.proof, b.s, b.kernel, b.i, b.n, b.M, b.L, b.p, b.p_s, b.qbar
    K, zeta, R, a, G = s.symbol("K"), b.zeta, s.symbol("R"), b.a(0), b.G
    size = L * zeta
    below = [
        total(kernel, kernel.square(b.vec(name, i, K, K)), "i", 0, n, weight)
        for name, weight in zip(("xe", "ye"), b.weights(K)[:2], strict=True)
    ]
    proof.step("Λ_K from below", b.Lam(K) >= b.square("se", K) / p_s, below, at="after (28), Λ_K ≥ E‖x_s,K − x*‖²/p_s")
    h, S = s.vec("h", i), b.square("se", 0)
    first = b.vec("xe", i, 0, 0)
    start = b.vectors(
        first, b.vec("se", 0) + h * (a * M), (1, b.define("xe", i, 0, 0)), (1, s.first("x", i)), (-1, b.define("se", 0))
    )
    other = b.vectors(
        b.vec("ye", i, 0, 0),
        first,
        (1, b.define("ye", i, 0, 0)),
        (1, s.first("y", i)),
        (-1, b.define("xe", i, 0, 0)),
        (-1, s.first("x", i)),
    )
    F = b.square("xe", i, 0, 0)
    same = kernel.replace(b.square("ye", i, 0, 0), [other])
    root, over = b.root(0), lambda of: finite_sum("i", 0, n, of / (n * p))
    s0 = 1 / root + 1 / root**2
    one = proof.step(
        "Λ_0, written out",
        equal(b.Lam(0), S / p_s + over(F) * s0),
        multipliers=[(1, total(kernel, same, "i", 0, n, b.weights(0)[1]))],
        at="after (28), Λ_0, =",
    )
    four = kernel.combine(expr(4 - s0) >= 0, [])
    two = proof.step(
        "Λ_0, (17)",
        b.Lam(0) <= S / p_s + over(F) * 4,
        multipliers=[(-1, one), (1, total(kernel, kernel.scale(four, kernel.square(first)), "i", 0, n, 1 / (n * p)))],
        at="after (28), Λ_0, first ≤",
    )
    expand = kernel.replace(F, [start])
    young = kernel.combine(
        S * 2 + squared(h) * (2 * a**2 * M**2) >= F, [(-1, expand), (1, kernel.square(b.vec("se", 0) - h * (a * M)))]
    )
    begins = kernel.combine(equal(S, R**2), [(1, s.start()), (1, kernel.replace(S, [b.define("se", 0)]))])
    everywhere = total(kernel, begins, "i", 0, n, 1 / (n * p))
    three = proof.step(
        "Λ_0, (11)",
        b.Lam(0) <= over(squared(h)) * (8 * a**2 * M**2) + expr((1 / p_s + 8 * qbar) * R**2),
        multipliers=[
            (1, two),
            (4, total(kernel, young, "i", 0, n, 1 / (n * p))),
            (-1 / p_s, begins),
            (-8, everywhere),
            (8 * R**2, s.qbar()),
        ],
        at="after (28), Λ_0, second ≤",
    )
    steep = kernel.combine(squared(h) <= expr(size**2), [(-1, b.lengths), (size + G, b.known["G"])])
    four_ = 8 * a**2 * M**2
    proof.step(
        "Λ_0",
        b.Lam(0) <= expr((1 / p_s + 8 * qbar) * R**2 + four_ * size**2 * qbar),
        multipliers=[(1, three), (four_, total(kernel, steep, "i", 0, n, 1 / (n * p))), (four_ * size**2, s.qbar())],
        at="after (28), Λ_0, third ≤",
    )
    # The same with norms.
    f, N = b.norm("xe", i, 0, 0), b.norm("se", 0)
    close = mean_norm(kernel, kernel.combine(expr(R**2) >= S, [(-1, begins)]), b.vec("se", 0), R)
    equals = triangle(kernel, other)
    five = proof.step(
        "λ_0, (17)",
        b.lam(0) <= N / p_s + over(f) * 4,
        multipliers=[
            (1, total(kernel, equals, "i", 0, n, b.weights(0)[1])),
            (1, total(kernel, kernel.scale(four, no_norm_is_negative(kernel, first)), "i", 0, n, 1 / (n * p))),
        ],
        at="after (28), λ_0, first ≤",
    )
    short = kernel.combine(b.norm("h", i) <= expr(size), [(-1, length(kernel, b.lengths)), (1, b.known["G"])])
    far = kernel.combine(f <= expr(R + a * M * size), [(1, triangle(kernel, start)), (1, close), (a * M, short)])
    proof.step(
        "λ_0",
        b.lam(0) <= expr((1 / p_s + 4 * qbar) * R + 4 * a * M * size * qbar),
        multipliers=[
            (1, five),
            (1 / p_s, close),
            (4, total(kernel, far, "i", 0, n, 1 / (n * p))),
            (4 * (R + a * M * size), s.qbar()),
        ],
        at="after (28), λ_0, second ≤",
    )
    _roots(b, a * M * size)
    proof.remark(
        "the end",
        "an O(·) without constants; (28) with the bounds of Λ_0 and λ_0, times p_s",
        "after (28), last display, and Theorem 7",
    )


def _roots(b: AppendixB, move: Scalar) -> None:
    """Show √(a + b) ≤ √a + √b for the bounds of Λ_0 and λ_0."""
    proof, s, p_s, qbar, R = b.proof, b.s, b.p_s, b.qbar, b.s.symbol("R")
    big, small = s.root("big_root", 1 / p_s + 8 * qbar), s.root("small_root", 8 * qbar)
    x, y = variable("big_root"), variable("small_root")
    proof.step(
        "√Λ_0",
        expr((1 / p_s + 8 * qbar) * R**2 + 8 * qbar * move**2) <= (x * R + y * move) ** 2,
        multipliers=[(R**2, big), (move**2, small)],
        at="after (28), Λ_0^(1/2) (both sides squared)",
    )
    left = s.root("left_root", (1 / p_s + 4 * qbar) * R)
    right = s.root("right_root", 4 * move * qbar)
    proof.step(
        "√λ_0",
        expr((1 / p_s + 4 * qbar) * R + 4 * move * qbar) <= (variable("left_root") + variable("right_root")) ** 2,
        multipliers=[(1, left), (1, right)],
        at="after (28), λ_0^(1/2) (both sides squared)",
    )
