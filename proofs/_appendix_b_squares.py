"""AREA, Appendix B.3 as printed: Lemmas 17 to 19, the mean squares."""

from boundlab.proofs._appendix_b import AppendixB
from boundlab.prove import (
    Context,
    Expr,
    Fact,
    cauchy,
    combine_vectors,
    empty_vector,
    equal,
    expr,
    finite_sum,
    no_norm_is_negative,
    split_sum,
    squared,
    telescope,
    total,
    uncorrelated,
    variable,
)


def write(b: AppendixB) -> None:
    """From Lemma 17 to the end of Lemma 19."""
    _lemma_17(b)
    _lemma_18(b)
    _lemma_19(b)


def _lemma_17(b: AppendixB) -> None:
    proof, s, kernel, i, k, m, M, L = b.proof, b.s, b.kernel, b.i, b.k, b.m, b.M, b.L
    a, sigma, zeta = b.a(k), b.sigma, b.zeta
    d, g, e = s.d(i, k), s.g(i, k, m), s.e(i, k, m)
    b.known["eg²"] = proof.step(
        "Lemma 17, first claim",
        b.square("eg", i, k) <= expr(M * sigma**2),
        [b.define("eg", i, k), uncorrelated(kernel, e, "m", 0, M), total(kernel, s.variance(e), "m", 0, M)],
        at="Lemma 17, first claim",
    )
    few, many = kernel.split("M", 1)
    far = b.square("se", k) * (4 * a**2 * L**4 * (M - 1) ** 3 * M)
    claim = (
        b.square("ed", i, k)
        <= far + 4 * a**2 * L**4 * (M - 1) ** 3 * M * zeta**2 + 2 * a**2 * L**2 * (M - 1) ** 3 * sigma**2
    )
    none = combine_vectors(
        kernel, b.vec("ed", i, k), d * 0, [(1, b.define("ed", i, k)), (1, empty_vector(kernel, "m", 1, M, d - g, few))]
    )
    first = proof.step(
        "Lemma 17, second claim for M = 1",
        claim,
        context=few,
        multipliers=[
            (-1, kernel.replace(b.square("ed", i, k), [none])),
            (4 * a**2 * L**4 * (M - 1) ** 3 * M, kernel.square(b.vec("se", k))),
        ],
        says="both sides are 0",
    )
    # M ≥ 2
    over = lambda of: finite_sum("m", 1, M, of)
    jensen = total(kernel, kernel.square(b.vec("dg", i, k, m) * (M - 1) - b.vec("ed", i, k), many), "m", 1, M)
    one = proof.step(
        "(22), Jensen",
        b.square("ed", i, k) <= over(b.square("dg", i, k, m)) * (M - 1),
        [jensen, kernel.against(b.drift_sum, b.vec("ed", i, k))],
        at="(22), first ≤",
        context=many,
    )
    two = proof.step(
        "(22)",
        b.square("ed", i, k) <= over(b.square("de", i, k, m)) * ((M - 1) * L**2),
        [one, total(kernel, b.known["steep"], "m", 1, M)],
        at="(22), second ≤",
        context=many,
    )
    D = lambda j: b.square("de", i, k, j)
    proof.step(
        "Lemma 17, δ, first line",
        equal(D(m + 1), squared(s.z(i, k, m) - (g + e) * a - s.xs(k))),
        [b.define("de", i, k, m + 1), s.move(i, k, m)],
        at="Lemma 17, δ^m, =",
    )
    quiet = proof.step(
        "Lemma 17, δ, the noise",
        D(m + 1) <= b.square("dn", i, k, m) + a**2 * sigma**2,
        [b.quiet, s.unbiased(e, b.vec("dn", i, k, m)), s.variance(e)],
        at="Lemma 17, δ^m, first ≤",
    )
    slope = b.square("d", i, k)
    push = slope * (a**2 * M) + a**2 * sigma**2
    young = proof.step(
        "Lemma 17, δ, (11)",
        D(m + 1) <= b.square("dt", i, k, m) * (M / (M - 1)) + push,
        [quiet, kernel.replace(b.square("dn", i, k, m), [b.straight])],
        squares=[b.vec("dt", i, k, m) + d * (a * (M - 1))],
        at="Lemma 17, δ^m, second ≤",
        context=many,
    )
    third = proof.step(
        "Lemma 17, T_3, Lemma 9",
        b.square("dt", i, k, m) * (M / (M - 1)) <= D(m) * (M / (M - 1) * (1 - a * b.gamma)),
        [b.known["dt"]],
        at="Lemma 17, T_3, first ≤",
        context=many,
    )
    proof.step(
        "Lemma 17, T_3",
        D(m) * (M / (M - 1) * (1 - a * b.gamma)) <= D(m) * (M / (M - 1)),
        [kernel.square(b.vec("de", i, k, m))],
        at="Lemma 17, T_3, second ≤",
        context=many,
    )
    step = kernel.combine(
        D(m + 1) <= D(m) * (M / (M - 1)) + push,
        [(1, young), (1, third), (M / (M - 1) * a * b.gamma, kernel.square(b.vec("de", i, k, m)))],
        many,
    )
    rest = _passes(b, step, push, many)
    whole = 2 * a**2 * (M - 1)
    three = proof.step(
        "Lemma 17, ε^d, inserted in (22)",
        b.square("ed", i, k) <= slope * (whole * M * L**2 * (M - 1) ** 2) + whole * L**2 * (M - 1) ** 2 * sigma**2,
        [two, total(kernel, rest, "m", 1, M)],
        at="Lemma 17, after the recursion, first ≤",
        context=many,
    )
    toward = b.square("ue", i, k)
    four = proof.step(
        "Lemma 17, ε^d, Assumption 4",
        b.square("ed", i, k) <= toward * (whole * M * L**4 * (M - 1) ** 2) + whole * L**2 * (M - 1) ** 2 * sigma**2,
        [three, b.known["d"]],
        at="Lemma 17, after the recursion, second ≤",
        context=many,
    )
    expand = kernel.replace(toward, [b.ue])
    both = proof.step(
        "Lemma 17, (11) for u_i*",
        toward <= b.square("se", k) * 2 + b.square("zu", i) * 2,
        [expand],
        squares=[b.vec("se", k) - b.vec("zu", i)],
        at="Lemma 17, last display, first ≤",
    )
    away = proof.step(
        "Lemma 17, ζ",
        toward <= b.square("se", k) * 2 + 2 * zeta**2,
        [both, b.known["zu"]],
        at="Lemma 17, last display, second ≤",
    )
    last = proof.step(
        "Lemma 17, second claim for M ≥ 2", claim, [four, away], at="Lemma 17, second claim", context=many
    )
    b.known["ed²"] = proof.rule(
        "Lemma 17, second claim", claim, lambda: kernel.join(first, last), at="Lemma 17, second claim"
    )


def _passes(b: AppendixB, one: Fact, push: Expr, many: Context) -> Fact:
    """E‖δ^m‖² for all steps of a pass, M ≥ 2."""
    proof, s, kernel, i, k, m, M = b.proof, b.s, b.kernel, b.i, b.k, b.m, b.M
    a, sigma, ell, D = b.a(k), b.sigma, variable("l"), lambda j: b.square("de", i, k, j)
    named = b.s.name("growth", M / (M - 1), 1, None, many)
    w = variable("growth")
    by_name = kernel.combine(D(m + 1) <= D(m) * w + push, [(1, one), (1, kernel.times(named, D(m)))], many)
    powers = lambda hi: finite_sum("l", 0, hi, push * w**ell)
    tele, last = (
        telescope(kernel, "l", 0, m, push * w**ell, many),
        split_sum(kernel, "l", 0, m, m + 1, push * w**ell, many),
    )
    recursive = proof.induction(
        "Lemma 17, δ, recursion",
        D(m) <= D(0) * w**m + powers(m),
        "m",
        [],
        lambda known: [kernel.scale(kernel.combine(expr(w) >= 0, [], known.context), known), by_name, tele, last],
        at="Lemma 17, the recursion, first ≤ (with the exponent l that is missing in the sum)",
        context=many,
    )
    share = m / (M - 1)
    cubic = lambda x: 1 + x + x**2
    more = kernel.combine(expr(cubic((m + 1) / (M - 1))) >= w * cubic(share), [(-cubic(share), named)], many)
    small = proof.induction(
        "(1 + 1/(M − 1))^m",
        expr(w**m) <= cubic(share),
        "m",
        [],
        lambda known: [kernel.scale(kernel.combine(expr(w) >= 0, [], known.context), known), more],
        says="(1 + h)^m ≤ 1 + mh + (mh)² for mh ≤ 1, in place of (1 + h)^m ≤ e",
        context=many,
    )
    three = kernel.combine(expr((M - 1) * (3 - w**m)) >= 0, [(M - 1, small)], many)
    start = b.vectors(b.vec("de", i, k, 0), s.xs(k) * 0, (1, b.define("de", i, k, 0)), (1, s.begin(i, k)))
    slope = b.vec("d", i, k)
    geometric = proof.step(
        "Lemma 17, the geometric sum",
        equal(powers(m), push * ((w**m - 1) * (M - 1))),
        multipliers=[(M - 1, tele), (1 - M, kernel.times(named, powers(m)))],
        at="Lemma 17, after the recursion, =",
        context=many,
    )
    proof.step(
        "Lemma 17, the geometric sum from above",
        expr((w**m - 1) * (M - 1)) <= 2 * (M - 1),
        [three],
        at="Lemma 17, after the recursion, (e − 1)(M − 1) ≤ 2(M − 1)",
        context=many,
    )
    return proof.step(
        "Lemma 17, δ",
        D(m) <= push * (2 * (M - 1)),
        multipliers=[
            (1, recursive),
            (-(w**m), kernel.replace(D(0), [start])),
            (-1, geometric),
            (a**2 * M, kernel.scale(three, kernel.square(slope))),
            (a**2 * sigma**2, three),
        ],
        at="Lemma 17, the recursion, second ≤",
        context=many,
    )


def _lemma_18(b: AppendixB) -> None:
    proof, s, kernel, i, k, p_s = b.proof, b.s, b.kernel, b.i, b.k, b.p_s
    S = lambda j: b.square("se", j)
    event = proof.step(
        "Lemma 18, an aggregation",
        equal(S(k + 1), S(k) * (1 - p_s) + b.square("me", k) * p_s),
        [b.errors.event(S(k + 1), k)],
        at="Lemma 18, first display, and second display, first =",
    )
    mean, slopes = s.mean_vector(lambda one: s.y(one, k)), s.mean_vector(lambda one: s.vec("h", one))
    proof.step(
        "Lemma 18, the optimality of x*",
        equal(b.square("me", k), squared(mean - slopes * (b.a(k) * b.M) - s.star)),
        [b.define("me", k), *(kernel.against(s.optimality(), v) for v in (mean, s.star, slopes))],
        at="Lemma 18, second display, second =",
    )
    jensen = s.over_clients(kernel.square(b.vec("ye", i, k, k) - b.vec("me", k)))
    right = S(k) * (1 - p_s) + s.mean(lambda one: b.square("ye", one, k, k)) * p_s
    last = proof.step(
        "Lemma 18, Jensen",
        S(k + 1) <= right,
        [event, jensen, kernel.against(b.mean_error, b.vec("me", k))],
        at="Lemma 18, second display, ≤",
    )
    b.known["18"] = proof.step("Lemma 18", S(k + 1) <= right, [last], at="Lemma 18")


def _lemma_19(b: AppendixB) -> None:
    proof, s, kernel, i, k, M, p = b.proof, b.s, b.kernel, b.i, b.k, b.M, b.p
    h, fall, G, size = s.vec("h", i), b.fall, b.G, b.L * b.zeta
    X, Y = (lambda j, r: b.square("xe", i, j, r)), (lambda j, r: b.square("ye", i, j, r))
    x, y = b.norm("xe", i, k, k), b.norm("ye", i, k, k)
    event = proof.step(
        "Lemma 19, an arrival",
        equal(Y(k + 1, k + 1), Y(k + 1, k) * (1 - p) + X(k + 1, k) * p),
        [b.errors.event(Y(k + 1, k + 1), k)],
        at="Lemma 19, first display, first =",
    )
    # x*_{i,k+1} − x*_{i,k} = (α_k − α_{k+1})·M·∇f_i(x*).
    step = h * (fall * M)
    moved = [kernel.replace(Y(k + 1, k), [b.moved["ye"]]), kernel.replace(X(k + 1, k), [b.moved["xe"]])]
    proof.step(
        "Lemma 19, expanded",
        equal(
            Y(k + 1, k + 1),
            Y(k, k) * (1 - p)
            + squared(step)
            - s.dot(b.vec("ye", i, k, k), step) * (2 * (1 - p))
            + X(k, k) * p
            - s.dot(b.vec("xe", i, k, k), step) * (2 * p),
        ),
        [event, *moved],
        at="Lemma 19, first display, second = (−2⟨·,·⟩ where + is printed)",
    )
    short = b.known["h²"] = kernel.combine(squared(h) <= expr(G**2), [(-1, b.lengths)])
    against = lambda name: kernel.scale(b.known["push"], cauchy(kernel, short, b.vec(name, i, k, k), h, G, -1))
    b.known["cauchy xe"] = against("xe")
    both = [against("ye"), b.known["cauchy xe"]]
    inner = lambda of: of * (2 * fall * M * G)
    proof.step(
        "Lemma 19, Cauchy–Schwarz",
        Y(k + 1, k + 1) <= Y(k, k) * (1 - p) + squared(step) + inner(y) * (1 - p) + X(k, k) * p + inner(x) * p,
        [event, *moved, *both],
        at="Lemma 19, first display, ≤ (‖x*_{k+1} − x*_k‖ is (α_k − α_{k+1})·M·G_i)",
    )
    third = proof.step(
        "Lemma 19, in the mean",
        Y(k + 1, k + 1) <= Y(k, k) * (1 - p) + fall**2 * M**2 * G**2 + inner(y) * (1 - p) + X(k, k) * p + inner(x) * p,
        [event, *moved, *both, b.lengths],
        at="Lemma 19, second display, first and second ≤",
    )
    squares = b.known["G²"] = kernel.scale(
        b.known["push"],
        kernel.scale(b.known["push"], kernel.combine(expr(G**2) <= size**2, [(size + G, b.known["G"])])),
    )
    longer = lambda name: kernel.scale(b.known["move"], no_norm_is_negative(kernel, b.vec(name, i, k, k)))
    b.known["longer xe"] = longer("xe")
    outer = lambda of: of * (2 * fall * M * size)
    right = Y(k, k) * (1 - p) + fall**2 * M**2 * size**2 + outer(y) * (1 - p) + X(k, k) * p + outer(x) * p
    fourth = proof.step(
        "Lemma 19, Assumption 4",
        Y(k + 1, k + 1) <= right,
        multipliers=[(1, third), (1, squares), (2 * (1 - p), longer("ye")), (2 * p, b.known["longer xe"])],
        at="Lemma 19, second display, third ≤",
    )
    b.known["19"] = proof.step("Lemma 19", Y(k + 1, k + 1) <= right, [fourth], at="Lemma 19")
