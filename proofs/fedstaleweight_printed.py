"""FedStaleWeight, Appendix A as printed: what the text says in formulas or in words that leave one reading.

The text at hand has lost most displayed formulas: those are remarks. Lemma 1 is that of FedBuff's paper, which the
appendix restates; the largest and the smallest weight are told in words.
"""

from typing import Any

from boundlab.prove import Context, Fact, Proof, Script, expr, split_sum, squared, total

_EXAMPLE = "one client, f Huber (x²/2 up to |x| = 1), w_0 = 0, noise ±1, b = Q = 1, η_ℓ = 1/100, η_g = 10"
_LOST = "the formula is lost in the text at hand"


def theorem1(proof: Proof) -> None:
    """From Lemma 1 to the theorem."""
    s, kernel = proof.setting(), proof.kernel
    k, j, q = s.k, s.j, s.q
    sizes = s.symbol("sigma_l") ** 2 + s.symbol("sigma_g_mean") ** 2 + s.symbol("G_sq")
    _lost(proof, "the update rule")
    proof.step(
        "Lemma 1",
        squared(s.sampled(k, j, q)) <= expr(3 * sizes),
        [s.bounded_gradient(s.g(k, j, q)), s.variance(s.e(k, j, q)), s.unbiased(s.e(k, j, q), s.g(k, j, q))],
        at="Lemma 1",
    )
    F, way = s.objective, s.w(k + 1) - s.w(k)
    down = total(kernel, s.descent(s.d(s.i, k), s.w(k + 1)), "i", 0, s.n, 1 / s.n)
    proof.step(
        "L-smoothness",
        F(s.w(k + 1)) <= F(s.w(k)) + s.dot(s.df(k), way) + squared(way) * (s.symbol("L") / 2),
        [down, kernel.against(s.whole_gradient(k), way)],
        at="by L-smoothness assumption",
    )
    _lost(
        proof,
        "the two terms",
        "the conditional expectation",
        "the identity",
        "the first expansion",
        "the second expansion",
        "steps with η_g·η_ℓ·Q ≤ 1/L",
        "the sum of four key portions",
        "L-smoothness once more",
        "the staleness error",
        "its expectation",
    )
    largest = _largest(proof)
    _lost(proof, "the staleness error, bounded", "the local drift error", "the re-weighting error")
    smallest = _smallest(proof)
    cases = kernel.split("b", 1)
    _farthest(proof, cases, largest, smallest)
    _lost(proof, "the expectation of the re-weighting error")
    proof.remark(
        "combining everything",
        f"{_LOST}. If it is what the theorem is the sum of, it is false: {_EXAMPLE}: E f(w_1) = 1/200 where it says at "
        "most η_g·η_ℓ·Q/2 · 12·η_ℓ²·2 = 3/25000",
        "combining everything",
    )
    _lost(proof, "rearranging and summing")
    last = proof.step(
        "Theorem 2",
        s.metric() <= expr(_bound(proof, sizes)),
        [],
        at=f"thus, we conclude; false: {_EXAMPLE}, T = 2: 1/200 > 3/1250",
    )
    proof.conclude(*[kernel.combine(last.claim, [(1, last)], case) for case in cases])


def _lost(proof: Proof, *places: str) -> None:
    for place in places:
        proof.remark(place, _LOST, place)


def _ends(proof: Proof) -> Any:
    """Return a_max and a_min."""
    s = proof.setting()
    b, tau = s.many, s.symbol("tau_max")
    return (b * tau + 1) / (b * (tau + 1)), 1 / ((b - 1) * (b * tau + 1) + 1)


def _around(proof: Proof, each: Fact) -> list[Fact]:
    """Return weight·Σ of a fact about every entry, over the entries before y and after it."""
    s = proof.setting()
    alpha = s.alpha(s.k, s.y)
    return [total(proof.kernel, each, "j", lo, hi, alpha) for lo, hi in ((0, s.y), (s.y + 1, s.many))]


def _parts(proof: Proof) -> list[Fact]:
    """Return Σ (1 + scale·age) over a buffer as the entries before y, y and those after it."""
    s, kernel = proof.setting(), proof.kernel
    each = expr(1 + s.scale * s.age(s.k, s.j))
    return [split_sum(kernel, "j", 0, s.y, s.many, each), split_sum(kernel, "j", s.y, s.y + 1, s.many, each)]


def _largest(proof: Proof) -> Fact:
    s, kernel = proof.setting(), proof.kernel
    k, y, b, tau = s.k, s.y, s.many, s.symbol("tau_max")
    alpha, own = s.alpha(k, y), s.scale * s.age(k, y)
    others = kernel.combine(expr(1 + s.scale * s.age(k, s.j)) >= 1, [])
    one = proof.step(
        "all other entries of staleness zero",
        expr(alpha * (b + own)) <= 1 + own,
        [s.weighting(k, y), *_parts(proof), *_around(proof, others)],
        at="the largest weight, in words",
    )
    at_most_one = kernel.combine(expr(1 - alpha) >= 0, [(1 / (b + own), one)])
    older = kernel.combine(expr(b * tau - own) >= 0, [(s.scale, s.oldest(k, y))])
    return proof.step(
        "the largest weight",
        expr(alpha) <= _ends(proof)[0],
        multipliers=[(1 / (b * (tau + 1)), one), (1 / (b * (tau + 1)), kernel.scale(at_most_one, older))],
        at="one entry of the largest staleness, all others zero",
    )


def _smallest(proof: Proof) -> Fact:
    s, kernel = proof.setting(), proof.kernel
    k, y, b, tau = s.k, s.y, s.many, s.symbol("tau_max")
    alpha, own, most = s.alpha(k, y), s.scale * s.age(k, y), b * tau + 1
    others = kernel.combine(expr(1 + s.scale * s.age(k, s.j)) <= most, [(s.scale, s.oldest(k, s.j))])
    one = proof.step(
        "all other entries of the largest staleness",
        expr(alpha * (1 + own + (b - 1) * most)) >= 1 + own,
        [s.weighting(k, y), *_parts(proof), *_around(proof, others)],
        at="the smallest weight, in words",
    )
    return proof.step(
        "the smallest weight",
        expr(alpha) >= _ends(proof)[1],
        multipliers=[(1 / (1 + own + (b - 1) * most), one)],
        at="one entry of staleness zero, all others the largest",
    )


def _farthest(proof: Proof, cases: tuple[Context, Context], largest: Fact, smallest: Fact) -> None:
    """(11): how far a weight is from 1/b."""
    s, kernel = proof.setting(), proof.kernel
    a_max, a_min = _ends(proof)
    between = kernel.scale(largest, smallest)
    for case in cases:
        U = s.formula(s.theorem.definitions["U"], case)
        proof.step(
            f"(11), {case.why}",
            expr((1 / s.many - s.alpha(s.k, s.y)) ** 2) <= U,
            multipliers=[(1, between), (a_max + a_min - 2 / s.many, largest)],
            at="(11)",
            context=case,
        )


def _bound(proof: Proof, sizes: Any) -> Any:
    """Return the printed bound; of U, (1/b − a_max)² is the larger one."""
    s = proof.setting()
    b, tau, Q = s.many, s.symbol("tau_max"), s.Q
    drift = 12 * (Q * s.step**2) * Q * s.symbol("L") ** 2 * sizes
    late = s.rate**2 * tau**2 * ((b * tau + 1) / (tau + 1)) ** 2
    first = 2 * s.symbol("F0") / (s.rate * s.step * Q * s.T)
    return first + late * drift + drift + 4 * b**2 * (1 / b - _ends(proof)[0]) ** 2 * s.symbol("G_sq")


PROOFS = (
    Script(
        "fedstaleweight.theorem1",
        "Appendix A, as far as its formulas are at hand",
        "Ma et al., FedStaleWeight, Appendix A",
        theorem1,
        "fedstaleweight.theorem1",
        printed=True,
    ),
)
