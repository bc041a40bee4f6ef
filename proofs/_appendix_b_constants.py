"""AREA, Appendix B.4 as printed: the simplified constants.

Roots on both sides are encoded as squares: c_5 … c_9 are not negative, nor are their bounds.
"""

from typing import Any

from boundlab.proofs._appendix_b import AppendixB
from boundlab.prove import Fact, equal, expr, scalar


def write(b: AppendixB) -> None:
    """From the condition number to c_9."""
    proof, L, mu, M, D, gamma, p, qbar = b.proof, b.L, b.mu, b.M, b.D, b.gamma, b.p_min, b.qbar
    one = scalar(1)
    kappa, delta, psi = L / mu, 1 - 1 / M, 1 + qbar
    proof.step("κ", expr(kappa) >= 1, at="B.4, κ ≥ 1")
    # γ = 2·L/(1 + κ): the two are equal where μ = 1 only. For μ = L = 2, γ = 2 and 2/(1 + 1/κ) = 1.
    gamma_is = proof.step(
        "γ by κ",
        equal(expr(gamma), 2 / (1 + 1 / kappa)),
        at="B.4, γ = 2/(1 + 1/κ) (true for μ = 1 only: for μ = L = 2 γ is 2, not 1)",
    )
    at_least = proof.step(
        "γ ≥ 1", expr(gamma) >= 1, multipliers=[(1, gamma_is)], at="B.4, γ ∈ [1, 2), left (false for μ = L = 1/2)"
    )
    proof.step(
        "γ < 2", expr(gamma) <= 2, multipliers=[(-1, gamma_is)], at="B.4, γ ∈ [1, 2), right (false for μ = L = 3)"
    )

    def over(power: int, by: Any = one) -> tuple[Any, Fact]:
        """Return by·(1 − 1/γ^power) ≥ 0."""
        return by * sum((gamma ** (e - power) for e in range(power)), start=scalar(0)), at_least

    c_zeta, c_sigma = L**2 * M * (M - 1) / 2, (1 + gamma / (4 * L)) * M
    proof.step("ĉ_ζ", expr(c_zeta) <= delta * L**2 * M**2 / 2, at="B.4, Lemma 15: ĉ_ζ")
    proof.step("ĉ_σ, first ≤", expr(c_sigma) <= (1 + mu / (2 * (mu + L))) * M, at="B.4, Lemma 15: ĉ_σ, first ≤")
    proof.step("ĉ_σ", expr((1 + mu / (2 * (mu + L))) * M) <= 3 * M / 2, at="B.4, Lemma 15: ĉ_σ, second ≤")
    # c and d by their formulas, of which the named ones are equal.
    c, d = 48 / (p * M * gamma), 48 / (p * M * gamma * D)
    Q = 4 * c * qbar * L * M + 2 * c**2 * c_zeta
    middle = 4 * 48 * qbar * L / (p * gamma) + 48**2 * delta * L**2 / (p**2 * gamma**2)
    q_bound = 48**2 * L**2 / p**2 * (delta + p * qbar / 6)
    proof.step("Q, first ≤", expr(Q) <= middle, at="B.4, Lemma 16: Q, first ≤")
    # 384·L² − 192·L/γ = 192·L·((2L − 2γ) + γ + (γ − 1/γ)).
    many = [(192 * qbar * L / p * (gamma + 1) / gamma, at_least), over(2, 48**2 * delta * L**2 / p**2)]
    proof.step("Q", expr(middle) <= q_bound, multipliers=many, at="B.4, Lemma 16: Q, second ≤")
    tilde_sigma = 1 + 2 * L * delta / mu + 4 * L**2 * delta / (M * (mu + L) ** 2)
    tilde_zeta = 2 / gamma + 2 / (mu + L)
    s_bound = 1 + 2 * delta * (kappa + 2 / M)
    proof.step("c̃_σ", expr(tilde_sigma) <= s_bound, at="B.4, Lemma 20: c̃_σ")
    proof.step("c̃_ζ", expr(tilde_zeta) <= 2 * (1 + 1 / L), multipliers=[over(1, 2 * one)], at="B.4, Lemma 20: c̃_ζ")
    c_s, c_z = 2 * M * tilde_sigma, 4 * L**4 * (M - 1) ** 3 * tilde_zeta
    proof.step("c_σ", expr(c_s) <= 2 * M + 4 * delta * (2 + kappa * M), at="B.4, Lemma 20: c_σ")
    size = 4 * L**4 * (M - 1) ** 3
    z_bound = 8 * delta**3 * M**3 * L**3 * (1 + L)
    proof.step("c_ζ", expr(c_z) <= z_bound, multipliers=[over(1, 2 * size)], at="B.4, Lemma 20: c_ζ")
    c1, c2, c3, c4 = 2 * c * L * M, 8 * c**2 * L**2 * M**2 * qbar, 2 * c**2 * c_s, 2 * c**3 * c_z
    b1, b2 = 2 * 48 * L / p, 8 * 48**2 * L**2 * qbar / p**2
    b3, b4 = 4 * 48**2 * s_bound / (p**2 * M), 16 * 48**3 * delta**3 * L**3 * (1 + L) / p**3
    proof.step("c_1", expr(c1) <= b1, multipliers=[over(1, b1)], at="B.4, Theorem 7: c_1")
    proof.step("c_2", expr(c2) <= b2, multipliers=[over(2, b2)], at="B.4, Theorem 7: c_2")
    three = proof.step(
        "c_3", expr(c3) <= b3, multipliers=[over(2, 2 * 48**2 * c_s / (p**2 * M**2))], at="B.4, Theorem 7: c_3"
    )
    # c̃_ζ meets 1/γ³, too.
    four = proof.step(
        "c_4",
        expr(c4) <= b4,
        multipliers=[over(3, 2 * 48**3 * c_z / (p**3 * M**3)), over(1, 4 * 48**3 * size / (p**3 * M**3))],
        at="B.4, Theorem 7: c_4",
    )
    b5 = 48**4 * psi / (p**4 * M**4 * D**4)
    e = 48 / (p * M * D)
    # d − 1 is not negative, at most d, and d at most 48/(p·M·D).
    flat = b.kernel.combine(expr(e**2) >= (d - 1) ** 2, [over(1, e * (e + d - 1))])
    fourth = b.kernel.combine(expr(e**4) >= (d - 1) ** 4, [(e**2 + (d - 1) ** 2, flat)])
    proof.step("c_5", expr(psi * (d - 1) ** 4) <= b5, multipliers=[(psi, fourth)], at="B.4, Theorem 7: c_5, squared")
    first = over(1, b1)
    b6 = 4 * 48**5 * psi * L / (p**5 * M**4 * D**4)
    proof.step(
        "c_6",
        expr((d - 1) ** 4 * 2 * psi * c1) <= b6,
        multipliers=[(2 * psi * c1, fourth), (2 * psi * e**4 * first[0], first[1])],
        at="B.4, Theorem 7: c_6, squared",
    )
    b7 = 48**3 * L**3 * psi * (p * qbar / 6 + delta + 8 * delta**3 * (1 + L)) / p**3
    proof.step(
        "c_7",
        expr((psi * c1 * Q + psi * c4) / 2) <= b7,
        multipliers=[
            (psi / 2, four),
            *((psi * c1 / 2 * by, fact) for by, fact in many),
            (psi * q_bound / 2 * first[0], first[1]),
        ],
        at="B.4, Theorem 7: c_7, squared",
    )
    b8 = 48 * L * psi * M / (4 * p)
    proof.step(
        "c_8",
        expr(psi * c_sigma * c1 / 12) <= b8,
        multipliers=[(psi * c_sigma / 12 * first[0], first[1])],
        at="B.4, Theorem 7: c_8, squared",
    )
    b9 = 48**2 * 4 * psi * s_bound / (3 * M * p**2)
    proof.step("c_9", expr(psi * c3 / 3) <= b9, multipliers=[(psi / 3, three)], at="B.4, Theorem 7: c_9, squared")
    _last(b, b1, b3, b4, (b5, b6, b7, b8, b9))


def _last(b: AppendixB, b1: Any, b3: Any, b4: Any, roots: Any) -> None:
    """Compare the terms of (28) with what the bounds of the constants give."""
    proof, L, M, D, p, psi, qbar, mu = b.proof, b.L, b.M, b.D, b.p_min, 1 + b.qbar, b.qbar, b.mu
    delta, kappa = 1 - 1 / M, L / mu
    b5, b6, b7, b8, b9 = roots
    s_bound = 1 + 2 * delta * (kappa + 2 / M)
    inner = p * qbar / 6 + delta + 8 * delta**3 * (1 + L)
    terms = (
        ("Λ_0^(1/2)", b1**2 * b5, 4 * 48**7 * psi * L**2 * p / 48 / (p**7 * M**4 * D**4)),
        ("(ζλ_0)^(1/2)", b1**2 * b6, 4 * 48**7 * psi * L**2 * 4 * L / (p**7 * M**4 * D**4)),
        ("ζ², the root", b1**2 * b7 / 4, (48**3 * L**3 / p**3) ** 2 * p * psi * inner / (48 * L)),
        ("(σζ)^(1/2)", b1**2 * b8 / 4, (2 * 48**2 * L / p**2) ** 2 / 4 * psi * p * L * (M / 4) / 48),
        ("σζ", b1**2 * b9 / 4, (2 * 48**2 * L / p**2) ** 2 / 4 * psi * 4 * s_bound / (3 * M)),
    )
    for name, left, right in terms:
        proof.step(f"(28), the term with {name}", equal(expr(left), right), at="(28), second ≤, squared")
    proof.step(
        "(28), the term with ζ²", equal(expr(b4 / 2), 48**3 * L**3 / p**3 * 8 * delta**3 * (1 + L)), at="(28), second ≤"
    )
    proof.step("(28), the term with σ²", equal(expr(b3 / 3), 4 * 48**2 * s_bound / (3 * p**2 * M)), at="(28), second ≤")
