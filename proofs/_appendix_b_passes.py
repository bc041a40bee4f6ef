"""AREA, Appendix B.2 as printed: Lemma 12, the errors of one pass.

What is printed for the mean given F_k stands here in the mean; so do relations along one path.
"""

from fractions import Fraction

from boundlab.proofs._appendix_b import AppendixB
from boundlab.prove import (
    Fact,
    Scalar,
    equal,
    expr,
    finite_sum,
    lengths,
    mean_norm,
    no_norm_is_negative,
    nothing,
    power_root,
    shorter,
    split_vector,
    squared,
    telescope,
    telescope_vector,
    total,
    total_vector,
    triangle,
    variable,
)


def write(b: AppendixB) -> None:
    """From (19) to the end of Lemma 12."""
    b.proof.remark("(19)", "the definition of u_i* and of ζ = max_i ‖x* − u_i*‖", "(19)")
    _lengths(b)
    _one_long_step(b)
    _noise(b)
    _drift(b)


def _lengths(b: AppendixB) -> None:
    """‖∇f_i(x*)‖ as a number G_i, and G_i ≤ L·ζ."""
    proof, s, kernel, i = b.proof, b.s, b.kernel, b.i
    own = b.lengths = lengths(kernel, "G", "h", "i")
    G = b.G = variable("G", i)
    h, hu = s.vec("h", i), s.vec("hu", i)
    bounded = proof.step(
        "∇f_i(x*) is at most L·ζ",
        squared(h) <= expr((b.L * b.zeta) ** 2),
        [s.smooth(h, hu), s.own_minimiser(i), s.heterogeneity(i)],
        at="Lemma 14, Assumption 4 and the definition of ζ",
    )
    number = kernel.combine(expr(G**2) <= (b.L * b.zeta) ** 2, [(1, bounded), (1, own)])
    b.known["G"] = kernel.by_squares(number, G, b.L * b.zeta)


def _one_long_step(b: AppendixB) -> None:
    proof, s, kernel, i, k, m, M = b.proof, b.s, b.kernel, b.i, b.k, b.m, b.M
    a, d, g = b.a(k), s.d(i, k), s.g(i, k, m)
    begin, first = s.begin(i, k), s.g(i, k, 0)
    zero = proof.step(
        "the first gradient of a pass",
        squared(first - d) <= 0,
        [s.smooth(first, d), begin],
        says="∇f_i(z) = ∇f_i(x_s) at z = x_s",
    )
    b.pass_ = b.vectors(
        s.z(i, k, M),
        s.xs(k) - d * (a * M) + b.vec("ed", i, k) * a + b.vec("eg", i, k) * a,
        (1, total_vector(kernel, s.move(i, k, m), "m", 0, M)),
        (-1, telescope_vector(kernel, "m", 0, M, s.z(i, k, m))),
        (1, begin),
        (-a, b.define("ed", i, k)),
        (-a, b.define("eg", i, k)),
        (-a, split_vector(kernel, "m", 0, 1, M, g)),
        (-a, nothing(kernel, zero, first - d)),
    )
    whole = s.z(i, k, M) - b.pass_.right
    proof.step(
        "(20)",
        equal(squared(whole), 0),
        [kernel.against(b.pass_, v) for v in (s.z(i, k, M), s.xs(k), d, b.vec("ed", i, k), b.vec("eg", i, k))],
        says="G^M[x_s] = x_s − αM∇f_i(x_s) + α·ε^d + α·ε^g",
        at="(20) (ε^g where ε^d is printed twice; noises of G^m, 0 ≤ m < M)",
    )


def _noise(b: AppendixB) -> None:
    proof, s, kernel, i, k, m, M = b.proof, b.s, b.kernel, b.i, b.k, b.m, b.M
    e = s.e(i, k, m)
    sizes = finite_sum("m", 0, M, b.norm("e", i, k, m))
    one = proof.step(
        "Lemma 12, ε^g",
        b.norm("eg", i, k) <= sizes,
        [triangle(kernel, b.define("eg", i, k))],
        at="Lemma 12, first display of the proof, and its mean",
    )
    size = b.known["noise"] = proof.step(
        "Lemma 12, one noise",
        b.norm("e", i, k, m) <= expr(b.sigma),
        [mean_norm(kernel, s.variance(e), e, b.sigma)],
        at="Lemma 12, Jensen",
    )
    every = total(kernel, size, "m", 0, M)
    b.known["eg"] = proof.step(
        "Lemma 12, first claim", b.norm("eg", i, k) <= expr(M * b.sigma), [one, every], at="Lemma 12, first claim"
    )


def _drift(b: AppendixB) -> None:
    proof, s, kernel, i, k, m, M, L = b.proof, b.s, b.kernel, b.i, b.k, b.m, b.M, b.L
    a, gamma, sigma = b.a(k), b.gamma, b.sigma
    d, g, e = s.d(i, k), s.g(i, k, m), s.e(i, k, m)
    over = lambda of: finite_sum("m", 1, M, of)
    parts = total_vector(kernel, b.define("dg", i, k, m), "m", 1, M)
    sum_of = b.vectors(b.vec("ed", i, k), parts.left, (1, b.define("ed", i, k)), (-1, parts))
    split = b.drift_sum = sum_of
    first = proof.step(
        "Lemma 12, ε^d",
        b.norm("ed", i, k) <= over(b.norm("dg", i, k, m)),
        [triangle(kernel, split)],
        at="Lemma 12, ε^d, and (21), first ≤",
    )
    steep = b.known["steep"] = proof.step(
        "Assumption 4 along a pass",
        b.square("dg", i, k, m) <= b.square("de", i, k, m) * L**2,
        [s.smooth(d, g), b.define("dg", i, k, m), b.define("de", i, k, m)],
    )
    one = shorter(kernel, steep, b.vec("dg", i, k, m), b.vec("de", i, k, m), L)
    far = proof.step(
        "(21)",
        b.norm("ed", i, k) <= over(b.norm("de", i, k, m)) * L,
        [first, total(kernel, one, "m", 1, M)],
        at="(21), second ≤",
    )
    move, next_ = s.move(i, k, m), b.define("de", i, k, m + 1)
    proof.step(
        "Lemma 12, δ, first line",
        equal(b.square("de", i, k, m + 1), squared(s.z(i, k, m) - (g + e) * a - s.xs(k))),
        [next_, move],
        at="Lemma 12, δ^m, first = (as squares: the two vectors are one)",
    )
    now = b.define("dn", i, k, m)
    quiet = b.quiet = b.vectors(
        b.vec("de", i, k, m + 1), b.vec("dn", i, k, m) - e * a, (1, next_), (1, move), (-1, now)
    )
    second = proof.step(
        "Lemma 12, δ, second line",
        b.norm("de", i, k, m + 1) <= b.norm("dn", i, k, m) + b.norm("e", i, k, m) * a,
        [triangle(kernel, quiet)],
        at="Lemma 12, δ^m, first ≤",
    )
    straight = b.straight = b.vectors(
        b.vec("dn", i, k, m), b.vec("dt", i, k, m) - d * a, (1, now), (-1, b.define("dt", i, k, m))
    )
    third = proof.step(
        "Lemma 12, δ, third line",
        b.norm("de", i, k, m + 1) <= b.norm("dt", i, k, m) + b.norm("d", i, k) * a + b.norm("e", i, k, m) * a,
        [second, triangle(kernel, straight)],
        at="Lemma 12, δ^m, second ≤",
    )
    slope = b.norm("d", i, k)
    fourth = proof.step(
        "Lemma 12, δ, with the noise",
        b.norm("de", i, k, m + 1) <= b.norm("dt", i, k, m) + slope * a + a * sigma,
        [third, b.known["noise"]],
        at="Lemma 12, the two relations combined, first ≤",
    )
    root = power_root(kernel, "near", 1 - a * gamma, 2, "k", high=1)
    near = variable("near", k)
    contracts = b.known["dt"] = proof.step(
        "Lemma 9 along a pass",
        b.square("dt", i, k, m) <= b.square("de", i, k, m) * (1 - a * gamma),
        [s.interpolation(d, g), s.interpolation(g, d), b.define("dt", i, k, m), b.define("de", i, k, m)],
        squares=[d - g],
    )
    by_root = kernel.combine(
        b.square("dt", i, k, m) <= b.square("de", i, k, m) * near**2,
        [(1, contracts), (1, kernel.times(root, b.square("de", i, k, m)))],
    )
    fifth = proof.step(
        "Lemma 12, δ, Lemma 9",
        b.norm("de", i, k, m + 1) <= b.norm("de", i, k, m) * near + slope * a + a * sigma,
        [fourth, shorter(kernel, by_root, b.vec("dt", i, k, m), b.vec("de", i, k, m), near)],
        at="Lemma 12, the two relations combined, second ≤",
    )
    w, named = variable("factor"), b.s.name("factor", 1 - a * gamma / 2, 0, 1)
    flat = proof.step(
        "√(1 − αγ)",
        expr(near) <= w,
        multipliers=[(Fraction(-1, 2), root), (1, named)],
        says="√(1 − αγ) ≤ 1 − αγ/2, by (10)",
    )
    positive = lambda *at: no_norm_is_negative(kernel, b.vec(*at))
    sixth = proof.step(
        "Lemma 12, δ, Bernoulli",
        b.norm("de", i, k, m + 1) <= b.norm("de", i, k, m) * w + slope * a + a * sigma,
        [fifth, kernel.scale(flat, positive("de", i, k, m))],
        at="Lemma 12, the two relations combined, third ≤",
    )
    _recursion(b, w, named, sixth, far)


def _recursion(b: AppendixB, w: Scalar, named: Fact, one: Fact, far: Fact) -> None:
    proof, s, kernel, i, k, m, M, L = b.proof, b.s, b.kernel, b.i, b.k, b.m, b.M, b.L
    a, gamma, sigma, zeta = b.a(k), b.gamma, b.sigma, b.zeta
    slope, start, ell = b.norm("d", i, k), b.norm("de", i, k, 0), s.index("l")
    push = (slope + sigma) * a
    powers = lambda hi: finite_sum("l", 0, hi, push * w**ell)
    tele, last = telescope(kernel, "l", 0, m, push * w**ell), s.last_term("l", 0, m, push * w**ell)
    recursive = proof.induction(
        "Lemma 12, δ, recursion",
        b.norm("de", i, k, m) <= start * w**m + powers(m),
        "m",
        [],
        lambda known: [kernel.scale(kernel.combine(expr(w) >= 0, [], known.context), known), one, tele, last],
        at="Lemma 12, the recursion, ≤",
    )
    here = b.define("de", i, k, 0)
    zero = triangle(kernel, b.vectors(b.vec("de", i, k, 0), s.xs(k) * 0, (1, here), (1, s.begin(i, k))))
    closed = push * ((1 - w**m) / (a * gamma))
    # The sum is twice what is printed: (1 − (1 − αγ/2)^m)/(αγ/2). For f_i = x²/2, M = 2, m = 1, no noise it is
    # α·|x|, and α·|x|/2 is printed.
    geometric = proof.step(
        "Lemma 12, δ, the geometric sum",
        equal(start * w**m + powers(m), closed),
        [zero, no_norm_is_negative(kernel, b.vec("de", i, k, 0)), tele, kernel.times(named, powers(m))],
        at="Lemma 12, the recursion, = (twice what is printed: for f_i = x²/2, m = 1 it is α|x|, not α|x|/2)",
    )
    base = proof.induction(
        "Bernoulli for a pass",
        expr(w**m) >= 1 - m * (1 - w),
        "m",
        [],
        lambda known: [
            kernel.scale(kernel.combine(expr(w) >= 0, [], known.context), known),
            kernel.combine(expr(m * (1 - w) ** 2) >= 0, [], known.context),
        ],
    )
    linear = kernel.combine(
        expr((m - (1 - w**m) / (a * gamma / 2)) * a / 2) >= 0, [(1 / gamma, base), (m / gamma, named)]
    )
    flat = proof.step(
        "Lemma 12, δ, Bernoulli for the sum",
        closed <= push * (m / 2),
        multipliers=[(1, kernel.scale(linear, no_norm_is_negative(kernel, b.vec("d", i, k)))), (sigma, linear)],
        at="Lemma 12, the recursion, last ≤",
    )
    delta = proof.step(
        "Lemma 12, δ",
        b.norm("de", i, k, m) <= push * (m / 2),
        [recursive, geometric, flat],
        at="Lemma 12, the recursion",
    )
    third = proof.step(
        "Lemma 12, ε^d, inserted in (21)",
        b.norm("ed", i, k) <= finite_sum("m", 1, M, push * (m / 2)) * L,
        [far, total(kernel, delta, "m", 1, M)],
        at="Lemma 12, after the recursion, first ≤",
    )
    count = telescope(kernel, "m", 1, M, push * (m * (m - 1) / 4))
    proof.step(
        "Lemma 12, ε^d, the sum of m",
        equal(finite_sum("m", 1, M, push * (m / 2)) * L, push * (L * M * (M - 1) / 4)),
        [count],
        at="Lemma 12, after the recursion, =",
    )
    fourth = kernel.combine(b.norm("ed", i, k) <= push * (L * M * (M - 1) / 4), [(1, third), (-L, count)])
    hu, ustar = s.vec("hu", i), b.define("ue", i, k)
    steep = b.known["d"] = proof.step(
        "Assumption 4 towards u_i*",
        b.square("d", i, k) <= b.square("ue", i, k) * L**2,
        [s.smooth(s.d(i, k), hu), s.own_minimiser(i), ustar],
    )
    own = shorter(kernel, steep, s.d(i, k), b.vec("ue", i, k), L)
    size = L * M * (M - 1) / 4
    proof.step(
        "Lemma 12, ε^d, Assumption 4",
        b.norm("ed", i, k) <= b.norm("ue", i, k) * (a * L * size) + 2 * a * size * sigma,
        [fourth, own],
        at="Lemma 12, after the recursion, last ≤",
    )
    zu = kernel.combine(
        b.square("zu", i) <= expr(zeta**2),
        [(1, s.heterogeneity(i)), (-1, kernel.replace(b.square("zu", i), [b.define("zu", i)]))],
    )
    b.known["zu"] = zu
    b.ue = b.vectors(
        b.vec("ue", i, k), b.vec("se", k) + b.vec("zu", i), (1, ustar), (-1, b.define("se", k)), (-1, b.define("zu", i))
    )
    away = proof.step(
        "Lemma 12, x*",
        b.norm("ue", i, k) <= b.norm("se", k) + b.norm("zu", i),
        [triangle(kernel, b.ue)],
        at="Lemma 12, last display",
    )
    b.known["ed"] = proof.step(
        "Lemma 12, second claim",
        b.norm("ed", i, k) <= b.norm("se", k) * (a * L * size) + 2 * a * L * size * zeta + a * size * sigma,
        [fourth, own, away, mean_norm(kernel, zu, b.vec("zu", i), zeta)],
        at="Lemma 12, second claim",
    )
