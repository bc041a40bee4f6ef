"""AREA, Appendix B.5 as printed: the sums (29) to (33)."""

from fractions import Fraction
from typing import Any

from boundlab.prove import (
    Expr,
    Fact,
    Proof,
    Range,
    Script,
    equal,
    expr,
    finite_sum,
    power_root,
    scalar,
    telescope,
    total,
    variable,
)

_THIRD, _HALF = Fraction(1, 3), Fraction(1, 2)


def sums(proof: Proof) -> None:
    """From (29) to (33), for a > 0 and K ≥ 0."""
    kernel = proof.kernel
    declare = kernel.context.declare
    a = declare("a", Range(low=scalar(0), above=True))
    K = declare("K", Range(low=scalar(0), integer=True))
    k = declare("k", Range(low=scalar(0), integer=True))
    over = lambda of: finite_sum("k", 0, K + 1, of)
    closed = lambda of: telescope(kernel, "k", 0, K + 1, of)
    theta_1, theta_2 = 3 * a**2 / 2 + 3 * a / 2 + Fraction(1, 4), a**3 + 3 * a**2 / 2 + a / 2
    one = K**2 / 2 + (a + _HALF) * K + a
    two = K**3 / 3 + (a + _HALF) * K**2 + (a**2 + a + Fraction(1, 6)) * K + a**2
    # Σ over j < k of j, j² and j³.
    first, second, third = k * (k - 1) / 2, (k - 1) * k * (2 * k - 1) / 6, k**2 * (k - 1) ** 2 / 4
    linear = proof.step("(29)", equal(over(k + a), one), [closed(first), closed(k)], at="(29)")
    proof.step("(30), expanded", equal(over((k + a) ** 2), over(k**2 + 2 * a * k + a**2)), at="proof of (30), first =")
    proof.step("(30)", equal(over((k + a) ** 2), two), [closed(second), closed(first)], at="(30)")
    proof.step(
        "(31), expanded",
        equal(over((k + a) ** 3), over(k**3 + 3 * a * k**2 + 3 * a**2 * k + a**3)),
        at="proof of (31), first =",
    )
    parts = 3 * a * (K**3 / 3 + K**2 / 2 + K / 6) + 3 * a**2 * K * (K + 1) / 2 + a**3 * (K + 1)
    known = [closed(third), closed(second), closed(first)]
    # Σ k³ is K⁴/4 + K³/2 + K²/4: for K = 1 it is 1, and 1/4 + 1/3 + 1/4 = 5/6 is printed.
    printed = K**4 / 4 + K**3 * _THIRD + K**2 / 4 + parts
    proof.step(
        "(31), the sums of powers",
        equal(over(k**3 + 3 * a * k**2 + 3 * a**2 * k + a**3), printed),
        known,
        at="proof of (31), second = (K³/3 where it is K³/2; false for K = 1)",
    )
    cubic = K**4 / 4 + (a + _THIRD) * K**3 + theta_1 * K**2 + theta_2 * K + a**3
    proof.step("(31), collected", equal(expr(printed), cubic), at="proof of (31), third =")
    proof.step(
        "(31)", equal(over((k + a) ** 3), cubic), known, at="(31) (a + 1/3 where it is a + 1/2; false for K = 1)"
    )
    right = cubic + K**3 / 6
    cubes = proof.step(
        "(31) with 1/2", equal(over((k + a) ** 3), right), known, says="(31) with a + 1/2 in place of a + 1/3"
    )
    _roots(proof, over, (linear, one), (cubes, right), (theta_1, theta_2))


def _roots(proof: Proof, over: Any, linear: Any, cubes: Any, thetas: Any) -> None:
    kernel = proof.kernel
    a, K, k = (variable(name) for name in ("a", "K", "k"))
    length = power_root(kernel, "length", K + 1, 2, low=1)
    r = variable("length")
    each = power_root(kernel, "s", k + a, 2, "k")
    s = variable("s", k)
    cases = (
        ("(32)", "half", 1, linear[0], linear[1], ((_HALF, 2), (a + _HALF, 1), (a, 0))),
        (
            "(33)",
            "three_half",
            3,
            cubes[0],
            cubes[1],
            ((Fraction(1, 4), 4), (a + _THIRD, 3), (thetas[0], 2), (thetas[1], 1), (a**3, 0)),
        ),
    )
    for place, name, power, known, value, terms in cases:
        whole = power_root(kernel, f"whole_{name}", value, 2)
        t = variable(f"whole_{name}")
        # √x ≤ t/(2r) + r·x/(2t), summed over the K + 1 = r² terms: at most r·t.
        own = s**power
        factor = scalar(1) if power == 1 else s**4 + s**2 * (k + a) + (k + a) ** 2
        fits = kernel.combine(equal(expr(own**2), (k + a) ** power), [(factor, each)])
        weight = t / r
        below = kernel.combine(
            expr(own) <= weight / 2 + (k + a) ** power / (2 * weight),
            [(1 / (2 * weight), kernel.combine(expr((own - weight) ** 2) >= 0, [])), (-1 / (2 * weight), fits)],
        )
        proof.step(
            f"{place}, Jensen",
            over(own) <= expr(r * t),
            multipliers=[
                (1, total(kernel, below, "k", 0, K + 1)),
                (-r / (2 * t), known),
                (t / (2 * r), length),
                (r / (2 * t), whole),
            ],
            at=f"proof of {place}",
        )
        bound: Expr = expr(0)
        found = []
        for number, (inside, degree) in enumerate(terms):
            root = power_root(kernel, f"{name}_{number}", inside, 2)
            found.append((variable(f"{name}_{number}"), root, degree, inside))
            bound = bound + expr(variable(f"{name}_{number}") * r ** (degree + 1))
        total_root = sum((one * r**degree for one, _, degree, _ in found), start=scalar(0))
        squares = proof.step(
            f"{place}, √(a + b) ≤ √a + √b",
            expr(t**2) <= total_root**2,
            multipliers=[
                (-1, whole),
                *((r ** (2 * degree), root) for _, root, degree, _ in found),
                *_powers(length, terms),
            ],
            at=f"proof of {place}, last step, both sides squared",
        )
        less = kernel.by_squares(squares, t, total_root)
        jensen = proof.steps[-2].fact
        assert jensen is not None  # noqa: S101  (it was just made)
        proof.step(place, over(own) <= bound, multipliers=[(1, jensen), (r, less)], at=place)


def _powers(length: Fact, terms: Any) -> list[tuple[Any, Fact]]:
    """Return what turns r^(2·degree) into (K + 1)^degree in Σ inside·r^(2·degree)."""
    r, K = variable("length"), variable("K")
    return [
        (inside * sum((r ** (2 * e) * (K + 1) ** (degree - 1 - e) for e in range(degree)), start=scalar(0)), length)
        for inside, degree in terms
        if degree
    ]


PROOFS = (Script("area.sums", "the sums (29) to (33) as printed", "AREA, Appendix B.5", sums),)
