"""Textbook theorems whose proof is one recursion: of what falls in each iteration, or of what is below a sequence."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from boundlab.prove import Fact, Proof, Script, equal, expr, finite_sum, scalar, squared, telescope, total, variable
from boundlab.prove.potentials import Iteration


def _gap(s: Any, u: Any) -> Any:
    return s.objective(u) - s.objective(s.star)


def _convex(s: Any, k: Any, *to: Any) -> list[Fact]:
    """Return f(u) ≥ f(x) + ⟨∇f(x), u − x⟩ + μ/2·‖u − x‖² at the point of gradient k, for each u."""
    at = s.strongly_convex if "strongly-convex" in s.assumed else s.convex
    return [s.over_clients(at(s.g(s.i, k), u)) for u in to]


def _falls(proof: Proof, one: Fact, of: Any) -> list[Fact]:
    """Return of(K) ≤ of(0), from of(k + 1) ≤ of(k), as facts to be cited."""
    kernel, K = proof.kernel, proof.setting().symbol("K")
    return [total(kernel, one, "k", 0, K), telescope(kernel, "k", 0, K, of(variable("k")))]


def _at_average(proof: Proof, gaps: Any) -> Fact:
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


# ---------------------------------------------------------------------- the proximal point algorithm


def proximal_point(proof: Proof) -> None:
    """Let ‖x_k − x*‖² + 2αk·gap + α²k²·‖g_k‖² fall; one square at the end."""
    s = proof.setting()
    k, K, star, alpha, x, G = s.k, s.symbol("K"), s.star, s.alpha, s.x, s.gradient
    W = lambda j: squared(x(j) - star) + _gap(s, x(j)) * (2 * alpha * j) + squared(G(j)) * (alpha * j) ** 2
    facts = [s.move(k), *_convex(s, k + 1, x(k), star), *_convex(s, k, x(k + 1))]
    one = proof.step("one step", W(k + 1) <= W(k), facts, squares=[G(k) - G(k + 1)])
    last = proof.step(
        "one square",
        _gap(s, x(K)) <= expr(s.symbol("R") ** 2 / (4 * K * alpha)),
        [*_falls(proof, one, W), s.start(), *_convex(s, K, star)],
        squares=[x(K) - star - G(K) * (alpha * K)],
    )
    proof.conclude(last)


def proximal_point_strongly_convex(proof: Proof) -> None:
    """Contract: a step brings points nearer to x* by 1/(1 + αμ)."""
    s, kernel = proof.setting(), proof.kernel
    k, K, star, alpha, mu, x, G = s.k, s.symbol("K"), s.star, s.alpha, s.symbol("mu"), s.x, s.gradient
    D, d = lambda j: squared(x(j) - star), x(k + 1) - star
    of_star = [s.over_clients(s.strongly_convex(s.vec("h", s.i), x(k + 1))), kernel.against(s.optimality(), d)]
    one = proof.step(
        "one step",
        D(k + 1) * (1 + alpha * mu) ** 2 <= D(k),
        [s.move(k), *_convex(s, k + 1, star), *of_star],
        squares=[G(k + 1) - d * mu],
    )
    named = s.name("q", 1 + alpha * mu, low=1)
    q = variable("q")
    positive, by_q = kernel.combine(expr(q ** (2 * k)) >= 0, []), _with(proof, one, named, D(k + 1), q)
    power = proof.induction(
        "k steps", D(k) * q ** (2 * k) <= D(0), "k", [], lambda known: [known, kernel.scale(positive, by_q)]
    )
    most = expr(s.symbol("R") ** 2 / q ** (2 * K))
    last = proof.step("K steps", D(K) <= most, [kernel.at(power, {"k": K}), s.start()])
    proof.conclude(last)


def _with(proof: Proof, one: Fact, named: Fact, of: Any, q: Any) -> Fact:
    """Return a step with the name of its factor."""
    own = proof.setting().alpha * proof.setting().symbol("mu") + 1
    squares = proof.step("q²", equal(expr(q**2), own**2), multipliers=[(q + own, named)])
    return proof.step(
        "one step, by q", of * q**2 <= one.claim.right, multipliers=[(1, one), (-1, proof.kernel.times(squares, of))]
    )


# ---------------------------------------------------------------------- momentum


def heavy_ball(proof: Proof) -> None:
    """Follow a = (1 − β)·(x_k − x*) + β·(x_k − x_{k−1}), which a step moves by −α·∇f(x_k)."""
    s, kernel, known = proof.setting(), proof.kernel, Iteration(proof)
    i, k, K, star, alpha, L, R = s.i, s.k, s.symbol("K"), s.star, s.alpha, s.symbol("L"), s.symbol("R")
    x, G, beta, h = s.x, s.gradient, s.beta, s.vec("h", s.i)
    a = lambda j: (x(j) - star) * (1 - beta) + (x(j) - x(j - 1)) * beta
    W = lambda j: squared(a(j)) + _gap(s, x(j - 1)) * (2 * alpha * beta)
    short = kernel.scale(kernel.end("alpha", "high"), kernel.square(G(k)))
    facts = [s.move(k), *known.both(s.cocoercive, k, None), s.over_clients(s.convex(s.g(i, k), x(k - 1))), short]
    one = proof.step("one step", W(k + 1) <= W(k) - _gap(s, x(k)) * (2 * alpha * (1 - beta)), facts)
    first = [s.over_clients(s.descent(h, x(0))), kernel.against(s.optimality(), x(0) - star), s.start()]
    start = proof.step("the first gap", _gap(s, x(0)) <= expr(L * R**2 / 2), first)
    most = expr((1 - beta) ** 2 * R**2 + alpha * beta * L * R**2)
    begin = proof.step("the start", W(scalar(0)) <= most, [kernel.replace(W(scalar(0)), [s.first()]), start, s.start()])
    gaps = finite_sum("k", 0, K, _gap(s, x(k)))
    every = proof.step(
        "all steps",
        gaps * (2 * alpha * (1 - beta)) <= most,
        [*_falls(proof, one, W), begin, s.minimal(x(K - 1))],
        squares=[a(K)],
    )
    mean = _at_average(proof, gaps)
    bound = R**2 * (1 - beta) / (2 * K * alpha) + L * R**2 * beta / (2 * K * (1 - beta))
    proof.conclude(
        proof.step(
            "together",
            _gap(s, s.average()) <= expr(bound),
            multipliers=[(1, mean), (1 / (2 * alpha * (1 - beta) * K), every)],
        )
    )


def nesterov(proof: Proof) -> None:
    """Let ‖u_k − x*‖² + 2α(t_k² − t_k)·gap fall, where u_k = x_k + t_k·(y_k − x_k); t_k ≥ (k + 2)/2."""
    s, kernel = proof.setting(), proof.kernel
    i, k, K, star, alpha, R, t, x, y = s.i, s.k, s.symbol("K"), s.star, s.alpha, s.symbol("R"), s.t, s.x, s.y
    u, gap = lambda j: x(j) + (y(j) - x(j)) * t(j), lambda j: _gap(s, x(j))
    go = s.slope(k) + s.vec("r", k + 1) if s.composite else s.slope(k)
    after = x(k + 1) + (x(k + 1) - x(k)) * (t(k) - 1)
    W = lambda j: squared(u(j) - star) + gap(j) * (2 * alpha * (t(j) ** 2 - t(j)))
    down = [
        s.over_clients(s.descent(s.g(i, k), x(k + 1))),
        kernel.scale(kernel.end("alpha", "high"), kernel.square(go)),
    ]

    def below(name: str, point: Any) -> Fact:
        beside = [s.simple(k + 1, point)] if s.composite else []
        return proof.step(
            f"{name} and the next point",
            s.objective(x(k + 1)) <= s.objective(point) + s.dot(go, y(k) - point) - squared(go) * (alpha / 2),
            [*down, *_convex(s, k, point), *beside, s.move(k)],
        )

    one = proof.step(
        "one step",
        squared(after - star) + gap(k + 1) * (2 * alpha * t(k) ** 2) <= W(k),
        [s.move(k), below("x_k", x(k)), below("x*", star)],
    )
    same = kernel.against(s.ahead(k), u(k + 1) + after - star * 2)
    falls = proof.step("it falls", W(k + 1) <= W(k), [one, same, kernel.times(s.numbers(k), gap(k + 1))])
    ahead = [kernel.against(s.first(), v) for v in (y(0), x(0), star)]
    first = [s.start(), *ahead, kernel.times(s.first_number(), gap(0))]
    begin = proof.step("at first", W(scalar(0)) <= expr(R**2), first)
    before = proof.induction("k steps", W(k) <= expr(R**2), "k", [begin], lambda known: [known, falls])
    root = kernel.times(s.numbers(k), expr(1 / (t(k + 1) + t(k) - Fraction(1, 2))))
    grows = proof.step("t grows", expr(t(k + 1)) >= t(k) + Fraction(1, 2), multipliers=[(1, root)])
    large = proof.induction(
        "t is large", expr(t(k)) >= (k + 2) / 2, "k", [s.first_number()], lambda known: [known, grows]
    )
    squares = proof.step("its square", expr(t(k) ** 2) >= (k + 2) ** 2 / 4, multipliers=[(t(k) + (k + 2) / 2, large)])
    later = proof.step(
        "after k + 1 steps",
        gap(k + 1) <= expr(2 * R**2 / (alpha * (k + 2) ** 2)),
        [one, before, kernel.scale(squares, s.minimal(x(k + 1)))],
        squares=[after - star],
    )
    if s.composite:
        proof.conclude(kernel.at(later, {"k": K - 1}))
        return
    at_start = [s.over_clients(s.descent(s.vec("h", i), x(0))), kernel.against(s.optimality(), x(0) - star), s.start()]
    most = lambda j: expr(2 * R**2 / (alpha * (j + 1) ** 2))
    every = proof.induction("after k steps", gap(k) <= most(k), "k", at_start, lambda _: [later])
    proof.conclude(kernel.at(every, {"k": K}))


def nesterov_strongly_convex(proof: Proof) -> None:
    """Gap + ‖z_k − √q·x*‖²/(2α) falls by 1 − √q, where z_k = √q·x_k + (1 + √q)·(y_k − x_k)."""
    s, kernel = proof.setting(), proof.kernel
    k, K, star, alpha, mu, R, x, y = s.k, s.symbol("K"), s.star, s.alpha, s.symbol("mu"), s.symbol("R"), s.x, s.y
    slope, gap, root = s.slope(k), lambda j: _gap(s, x(j)), variable("root")
    size, of_root = s.step_facts[0], s.root_fact
    z = lambda j: x(j) * root + (y(j) - x(j)) * (1 + root)
    after = x(k + 1) - x(k) * (1 - root)
    V = lambda j: gap(j) + squared(z(j) - star * root) / (2 * alpha)
    # alpha is 1/L: what holds of it alone is said by its name.
    L, way = s.symbol("L"), x(k + 1) - y(k)
    far = proof.step("how far", equal(squared(way), squared(slope) * alpha**2), [s.move(k)])
    along = proof.step("which way", equal(s.dot(slope, way), squared(slope) * -alpha), [s.move(k)])
    down = proof.step(
        "a gradient step",
        s.objective(x(k + 1)) <= s.mean(lambda j: s.part(j, y(k))) - squared(slope) * (alpha / 2),
        multipliers=[
            (1, s.over_clients(s.descent(s.g(s.i, k), x(k + 1)))),
            (-L / 2, far),
            (-1, along),
            (-alpha * L / 2, kernel.times(size, squared(slope))),
        ],
    )
    narrow = proof.step("√q² = αμ", equal(expr(root**2), alpha * mu), multipliers=[(1, of_root), (-mu, size)])
    ratio = proof.step("√q² ≤ 1", expr(root**2) <= 1, multipliers=[(-1, of_root)])
    small = proof.rule("√q ≤ 1", expr(root) <= 1, lambda: kernel.by_squares(ratio, root, 1))
    (to_x,), (to_star,) = _convex(s, k, x(k)), _convex(s, k, star)
    moved = y(k) - slope * alpha - x(k) * (1 - root) - star * root
    go_on = proof.step("the new point", equal(squared(after - star * root), squared(moved)), [s.move(k)])
    one = proof.step(
        "one step",
        gap(k + 1) + squared(after - star * root) / (2 * alpha) <= V(k) * (1 - root),
        multipliers=[
            (1, down),
            (-1 / (2 * alpha), go_on),
            (1, kernel.scale(small, to_x)),
            (root, to_star),
            (root * (1 + root) / (2 * alpha), kernel.scale(small, kernel.square(y(k) - x(k)))),
            (-(1 - root) / (2 * alpha), kernel.times(narrow, squared(y(k) - x(k)))),
            (-root / (2 * alpha), kernel.times(narrow, squared(y(k) - star))),
        ],
    )
    same = kernel.against(s.ahead(k), z(k + 1) + after - star * (2 * root))
    falls = proof.step("it falls", V(k + 1) <= V(k) * (1 - root), [one, same])
    named = s.name("p", 1 - root)
    p = variable("p")
    shrinks = proof.step("by p", V(k + 1) <= V(k) * p, multipliers=[(1, falls), (1, kernel.times(named, V(k)))])
    positive = proof.step("p ≥ 0", expr(p) >= 0, [small, named])
    power = proof.induction(
        "k steps", V(k) <= V(scalar(0)) * p**k, "k", [], lambda known: [kernel.scale(positive, known), shrinks]
    )
    at_first = [kernel.against(s.first(), v) for v in (y(0), x(0), star)]
    same = proof.step("z at first", equal(squared(z(0) - star * root), squared(x(0) - star) * root**2), at_first)
    near = kernel.times(narrow, squared(x(0) - star))
    first = proof.step(
        "at first",
        V(scalar(0)) <= expr(s.symbol("F0") + R**2 * mu / 2),
        multipliers=[(1, s.start_gap(star)), (-1 / (2 * alpha), same), (-1 / (2 * alpha), near), (-mu / 2, s.start())],
    )
    powers = proof.induction("p^k ≥ 0", expr(p**k) >= 0, "k", [], lambda known: [kernel.scale(positive, known)])
    most = kernel.scale(kernel.at(powers, {"k": K}), first)
    proof.conclude(
        proof.step(
            "K steps",
            gap(K) <= expr(p**K * (s.symbol("F0") + R**2 * mu / 2)),
            [kernel.at(power, {"k": K}), most],
            squares=[z(K) - star * root],
        )
    )


# ---------------------------------------------------------------------- steps that get smaller


def sgd_diminishing(base: str) -> Callable[[Proof], None]:
    """Return a proof that D(k) ≤ V/(k + d), where V is the larger of D(0)·d and of what the noise asks for."""

    def write(proof: Proof) -> None:
        s, kernel, known = proof.setting(), proof.kernel, Iteration(proof)
        k, K, n, mu, L, sigma = s.k, s.symbol("K"), s.n, s.symbol("mu"), s.symbol("L"), s.symbol("sigma")
        size, D = s.size(k), lambda j: known.base(base, j)
        c, d = (s.formula(s.theorem.step[one]) for one in "cd")
        distance = base == "distance"
        noise = sigma**2 / n if distance else L * sigma**2 / (2 * n)
        limit = 2 / (mu + L) if distance else 1 / L
        below = kernel.combine(expr(limit - size) >= 0, [])
        short = kernel.scale(below, kernel.square(s.gradient(k)))
        facts = [known.coercive(k), known.steep(k)] if distance else [known.dominated(k), known.descent(k)]
        one = proof.step(
            "one step",
            D(k + 1) <= D(k) * (1 - size * mu) + expr(size**2 * noise),
            [*known.moves(k), *facts, short],
            squares=[s.x(k) - s.star] if distance else [],
        )
        far, near = c**2 * noise / (c * mu - 1), known.size(base) * d
        named, last = s.name("more", near - far), []
        shrinks = kernel.combine(expr(1 - size * mu) >= 0, [])
        first = proof.step("at first", D(scalar(0)) <= expr(near / d), [known.start(base, K)])
        for case, most, end, sign in zip(kernel.split("more", 0), (far, near), ("high", "low"), (0, 1), strict=True):
            bounded = kernel.end("more", end, case)
            enough = proof.step(
                f"it is large enough, {case.why}",
                expr(c**2 * noise) <= most * (c * mu - 1),
                multipliers=[((c * mu - 1) * sign, bounded), (-(c * mu - 1) * sign, named)],
                context=case,
            )
            begin = proof.step(
                f"at first, {case.why}",
                D(scalar(0)) <= expr(most / d),
                multipliers=[(1, first), ((1 - sign) / d, bounded), ((1 - sign) / d, named)],
                context=case,
            )

            def again(before: Fact, most: Any = most, enough: Fact = enough) -> list[Fact]:
                parts = [(1, one), (1, kernel.scale(shrinks, before)), (1 / (k + d) ** 2, enough)]
                return [kernel.combine(D(k + 1) <= expr(most / (k + 1 + d)), parts, before.context)]

            of_k = D(k) <= expr(most / (k + d))
            after = proof.induction(f"k steps, {case.why}", of_k, "k", [begin], again, context=case)
            last.append(kernel.at(after, {"k": K}))
        proof.conclude(*last)

    return write


# ---------------------------------------------------------------------- one client after the other


def incremental(proof: Proof) -> None:
    """Bound how far a pass goes from x_k, so that each f_i is as good as taken at x_k; then sum and average."""
    s, kernel = proof.setting(), proof.kernel
    k, q, n, K, star, alpha, B, R = s.k, s.q, s.n, s.symbol("K"), s.star, s.alpha, s.symbol("B"), s.symbol("R")
    x, z, g, c = s.x, s.z, s.g(k, q), s.c(k, q)
    way, size = z(k, q) - x(k), s.lipschitz(g)
    far = proof.induction(
        "how far a pass goes",
        squared(way) <= expr((alpha * q * B) ** 2),
        "q",
        [kernel.against(s.begin(k), v) for v in (z(k, 0), x(k))],
        lambda known: [
            known,
            size,
            kernel.norms(known, size, way, g, alpha * q * B, B, -1),
            *(kernel.against(s.move(k, q), v) for v in (z(k, q + 1), z(k, q), x(k), g)),
        ],
    )
    d = s.d(c, k)
    near = proof.step(
        "f_i there and at x_k",
        s.part(c, z(k, q)) >= s.part(c, x(k)) - alpha * q * B**2,
        [s.convex(d, z(k, q)), kernel.norms(far, s.lipschitz(d), way, d, alpha * q * B, B, -1)],
    )
    D = lambda point: squared(point - star)
    one = proof.step(
        "one client",
        D(z(k, q + 1))
        <= D(z(k, q)) - (s.part(c, x(k)) - s.part(c, star)) * (2 * alpha) + alpha**2 * B**2 * (2 * q + 1),
        [near, s.convex(g, star), size, s.move(k, q)],
    )
    ends = [kernel.against(s.begin(k), v) for v in (z(k, 0), x(k), star)]
    ends += [kernel.against(s.end(k), v) for v in (z(k, n), x(k + 1), star)]
    summed = [
        total(kernel, one, "q", 0, n),
        telescope(kernel, "q", 0, n, D(z(k, q))),
        telescope(kernel, "q", 0, n, q**2),
    ]
    passes = proof.step(
        "one pass",
        D(x(k + 1)) <= D(x(k)) - _gap(s, x(k)) * (2 * alpha * n) + (alpha * n * B) ** 2,
        [*summed, *ends, s.everyone(k, x(k)), s.everyone(k, star)],
    )
    gaps = finite_sum("k", 0, K, _gap(s, x(k)))
    every = proof.step(
        "all passes",
        gaps * (2 * alpha * n) <= expr(R**2 + K * (alpha * n * B) ** 2),
        [total(kernel, passes, "k", 0, K), telescope(kernel, "k", 0, K, D(x(k))), s.start()],
        squares=[x(K) - star],
    )
    mean = _at_average(proof, gaps)
    # a_1 = B, and α²·a_1² = R²/(K·n²).
    root, (named, step), own, rate = s.root("rate", 1 / K), s.step_facts, variable("alpha_1"), variable("rate")
    squares = proof.step(
        "both sides squared",
        equal(expr((B * R * rate) ** 2), (alpha * n * own**2) ** 2),
        multipliers=[((B * R) ** 2, root), (-((n * own) ** 2), step), (-(R**2) / K * (own + B), named)],
    )
    same = proof.rule("one number", None, lambda: kernel.by_squares(squares, B * R * rate, alpha * n * own**2))
    parts = [
        (1, mean),
        (1 / (2 * alpha * n * K), every),
        (n / (2 * alpha), step),
        (alpha * n * (own + B) / 2, named),
        (1, same),
    ]
    proof.conclude(proof.step("at this step", _gap(s, s.average()) <= expr(B * R * rate), multipliers=parts))


PROOFS = (
    Script(
        "classics.proximal-point",
        "the proximal point algorithm, the tight bound",
        "Güler 1991, and Taylor, Hendrickx and Glineur 2017",
        proximal_point,
        "classics.proximal-point",
    ),
    Script(
        "classics.proximal-point.strongly-convex",
        "the proximal point algorithm on strongly convex functions",
        "Rockafellar 1976",
        proximal_point_strongly_convex,
        "classics.proximal-point.strongly-convex",
    ),
    Script(
        "classics.heavy-ball",
        "Polyak's heavy ball on smooth convex functions",
        "Ghadimi, Feyzmahdavian and Johansson 2015, Theorem 1",
        heavy_ball,
        "classics.heavy-ball",
    ),
    Script(
        "classics.nesterov",
        "Nesterov's accelerated gradient method",
        "Beck and Teboulle 2009, Theorem 4.4",
        nesterov,
        "classics.nesterov",
    ),
    Script(
        "classics.fista",
        "FISTA: Nesterov's method with proximal steps",
        "Beck and Teboulle 2009, Theorem 4.4",
        nesterov,
        "classics.fista",
    ),
    Script(
        "classics.nesterov.strongly-convex",
        "Nesterov's accelerated gradient method on strongly convex functions",
        "Nesterov 2018, Theorem 2.2.3",
        nesterov_strongly_convex,
        "classics.nesterov.strongly-convex",
    ),
    *(
        Script(
            f"classics.sgd.{name}.decreasing",
            f"SGD on strongly convex functions with steps c/(k + d): {what}",
            "Bottou, Curtis and Nocedal 2018, Theorem 4.7",
            sgd_diminishing(base),
            f"classics.sgd.{name}.decreasing",
        )
        for name, base, what in (("distance", "distance", "the distance"), ("gap", "value", "the gap"))
    ),
    Script(
        "classics.incremental",
        "the incremental subgradient method in any order",
        "Nedić and Bertsekas 2001, Proposition 2.1",
        incremental,
        "classics.incremental",
    ),
)
