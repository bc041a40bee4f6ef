"""AREA's Theorem 8, repaired: Appendix C with Lemma 21 inserted as it stands."""

from boundlab.proofs._along import with_forms
from boundlab.prove import Fact, Proof, Script, equal, expr, finite_sum, squared, telescope, total, variable


def _pass(proof: Proof) -> tuple[Fact, Fact]:
    """One pass of client i, whichever it is: from z[i, r, 0] to z[i, r, M]; beside it how far f_i falls."""
    s, kernel = proof.setting(), proof.kernel
    i, r, m, M, alpha, B, sigma, star = s.i, s.r, s.m, s.M, s.alpha, s.symbol("B"), s.symbol("sigma"), s.star
    z, g, e = s.z, s.g, s.e
    value = lambda u: s.part(i, u)
    D = lambda j: squared(z(i, r, j) - star)
    noise = [s.unbiased(e(i, r, m), v) for v in (z(i, r, m), g(i, r, m))]
    still = [*noise, s.unbiased(e(i, r, m), star)]
    one = proof.step(
        "T1, one local step",
        D(m + 1) <= D(m) - (value(z(i, r, m)) - value(star)) * (2 * alpha) + alpha**2 * (sigma**2 + B**2),
        [s.move(i, r, m), s.convex(g(i, r, m), star), s.lipschitz(g(i, r, m)), s.variance(e(i, r, m)), *still],
    )
    whole = proof.step(
        "T1, all local steps",
        D(M)
        <= D(0)
        - finite_sum("m", 0, M, value(z(i, r, m)) - value(star)) * (2 * alpha)
        + alpha**2 * M * (sigma**2 + B**2),
        [total(kernel, one, "m", 0, M), telescope(kernel, "m", 0, M, D(m))],
    )
    down = proof.step(
        "Lemma 21, one local step",
        value(z(i, r, m + 1)) >= value(z(i, r, m)) - alpha * B**2,
        [s.move(i, r, m), s.convex(g(i, r, m), z(i, r, m + 1)), s.lipschitz(g(i, r, m)), *noise],
    )
    far = proof.induction(
        "Lemma 21, (37)",
        value(z(i, r, m)) >= value(z(i, r, 0)) - alpha * m * B**2,
        "m",
        [],
        lambda known: [known, down],
    )
    lemma = proof.step(
        "Lemma 21",
        finite_sum("m", 0, M, value(z(i, r, m))) >= value(z(i, r, 0)) * M - alpha * M * (M - 1) / 2 * B**2,
        [total(kernel, far, "m", 0, M), telescope(kernel, "m", 0, M, m * (m - 1) / 2)],
    )
    last = proof.step(
        "a pass",
        D(M) <= D(0) - (value(z(i, r, 0)) - value(star)) * (2 * alpha * M) + alpha**2 * M * (sigma**2 + M * B**2),
        [whole, lemma],
    )
    return last, far


def _sum_over_iterations(proof: Proof) -> tuple[Fact, Fact]:
    """Show 2·alpha·M·Σ gaps ≤ V(0) + K·alpha²·M·(sigma² + M·B²); return it, and how far f_i falls."""
    s, kernel = proof.setting(), proof.kernel
    i, k, K, M, alpha, B, sigma, star = s.i, s.k, s.symbol("K"), s.M, s.alpha, s.symbol("B"), s.symbol("sigma"), s.star
    p, p_s, n = s.p(i), s.p_s, s.n
    gap = lambda u: s.objective(u) - s.objective(star)
    X = lambda j: squared(s.x(i, j) - star)
    Y = lambda j: squared(s.y(i, j) - star)
    S = lambda j: squared(s.xs(j) - star)
    local, far = _pass(proof)
    here = kernel.at(local, {"r": k})
    begin = s.begin(i, k)
    at_server = proof.step(
        "a pass from the server's model",
        squared(s.z(i, k, M) - star)
        <= S(k) - (s.part(i, s.xs(k)) - s.part(i, star)) * (2 * alpha * M) + alpha**2 * M * (sigma**2 + M * B**2),
        [here, begin],
    )
    client = proof.step(
        "(39) for one client",
        X(k + 1) / p
        <= X(k) * (1 / p - 1)
        + S(k)
        - (s.part(i, s.xs(k)) - s.part(i, star)) * (2 * alpha * M)
        + alpha**2 * M * (sigma**2 + M * B**2),
        [s.event(X(k + 1), k), at_server],
    )
    memory = proof.step("(40) for one client", equal(Y(k + 1) / p, Y(k) * (1 / p - 1) + X(k)), [s.event(Y(k + 1), k)])
    mean_y = s.mean_vector(lambda j: s.y(j, k))
    jensen = kernel.square(s.y(i, k) - mean_y)
    server = proof.step(
        "(41)",
        S(k + 1) / p_s <= S(k) * (1 / p_s - 1) + s.mean(lambda j: squared(s.y(j, k) - star)),
        [s.event(S(k + 1), k), s.over_clients(jensen)],
    )
    V = lambda j: finite_sum("i", 0, n, X(j) / (n * p)) + finite_sum("i", 0, n, Y(j) / (n * p)) + S(j) / p_s
    one = proof.step(
        "V decreases",
        V(k + 1) <= V(k) - gap(s.xs(k)) * (2 * alpha * M) + alpha**2 * M * (sigma**2 + M * B**2),
        [s.over_clients(client), s.over_clients(memory), server],
    )
    below = proof.step(
        "V is not negative",
        V(K) >= 0,
        [
            total(kernel, kernel.square(s.x(i, K) - star), "i", 0, n, 1 / (n * p)),
            total(kernel, kernel.square(s.y(i, K) - star), "i", 0, n, 1 / (n * p)),
        ],
        squares=[s.xs(K) - star],
    )
    summed = proof.step(
        "all iterations",
        finite_sum("k", 0, K, gap(s.xs(k))) * (2 * alpha * M) <= V(0) + K * alpha**2 * M * (sigma**2 + M * B**2),
        [total(kernel, one, "k", 0, K), telescope(kernel, "k", 0, K, V(k)), below],
    )
    return summed, far


def _average(proof: Proof) -> Fact:
    """Convexity: f at the average is at most the average of f."""
    s, kernel = proof.setting(), proof.kernel
    i, k, K = s.i, s.k, s.symbol("K")
    at_average = s.over_clients(s.convex(s.vec("gbar", i), s.xs(k)))
    return proof.step(
        "the average is not worse",
        s.objective(s.average()) <= finite_sum("k", 0, K, s.objective(s.xs(k))) / K,
        [
            total(kernel, at_average, "k", 0, K, 1 / K),
            kernel.against(s.averaging(), s.mean_vector(lambda j: s.vec("gbar", j))),
        ],
    )


def _fixed_step(proof: Proof) -> Fact:
    s = proof.setting()
    i, K, M, alpha, B, sigma, R = s.i, s.symbol("K"), s.M, s.alpha, s.symbol("B"), s.symbol("sigma"), s.symbol("R")
    star, n, p, qbar = s.star, s.n, s.p(i), s.symbol("qbar")
    summed, _ = _sum_over_iterations(proof)
    start = {}
    for name in ("x", "y"):
        at_start = proof.step(
            f"{name} at the start", equal(squared(s.vec(name, i, 0) - star), R**2), [s.first(name, i), s.start()]
        )
        start[name] = total(proof.kernel, at_start, "i", 0, n, 1 / (n * p))
    first = proof.step(
        "V at the start",
        equal(
            finite_sum("i", 0, n, squared(s.x(i, 0) - star) / (n * p))
            + finite_sum("i", 0, n, squared(s.y(i, 0) - star) / (n * p))
            + squared(s.xs(0) - star) / s.p_s,
            (1 / s.p_s + 2 * qbar) * R**2,
        ),
        [start["x"], start["y"], s.start(), s.qbar()],
    )
    return proof.step(
        "together",
        s.metric() <= expr((1 / s.p_s + 2 * qbar) * R**2 / (2 * alpha * M * K) + alpha * (sigma**2 + M * B**2) / 2),
        [summed, first, _average(proof)],
    )


def fixed_step(proof: Proof) -> None:
    """For any constant step."""
    proof.conclude(_fixed_step(proof))


def own_step(proof: Proof) -> None:
    """For the step that is chosen for the horizon."""
    s, kernel = proof.setting(), proof.kernel
    K, M, alpha, R, qbar = s.symbol("K"), s.M, s.alpha, s.symbol("R"), s.symbol("qbar")
    fixed = _fixed_step(proof)
    size, step = s.step_facts  # size = sigma^2 + M·B^2, alpha^2·size·M·K = A
    S = variable("alpha_1")
    A = (1 / s.p_s + 2 * qbar) * R**2
    root = s.root("bound", s.formula(s.theorem.bound.terms["bound"] ** 2))
    bound = variable("bound")
    squares = proof.step(
        "both sides squared",
        equal(expr(bound**2), (alpha * S) ** 2),
        multipliers=[(1, root), (-S, step), (-A / (M * K), size)],
    )
    same = proof.rule("the bound is alpha·(sigma² + M·B²)", None, lambda: kernel.by_squares(squares, bound, alpha * S))
    halves = proof.step(
        "the two halves are equal",
        equal(expr(A / (2 * alpha * M * K)), alpha * S / 2),
        multipliers=[(-1 / (2 * alpha), step)],
    )
    last = proof.step(
        "at this step",
        s.metric() <= expr(bound),
        multipliers=[(1, fixed), (-1, halves), (alpha / 2, size), (1, same)],
    )
    proof.conclude(last)


def algorithm_start(proof: Proof) -> None:
    """For the start of Algorithm 2: the first message of every client is a pass from the common start."""
    s, kernel = proof.setting(), proof.kernel
    i, K, M, alpha, B, sigma, R = s.i, s.symbol("K"), s.M, s.alpha, s.symbol("B"), s.symbol("sigma"), s.symbol("R")
    star, n, p, qbar = s.star, s.n, s.p(i), s.symbol("qbar")
    summed, far = _sum_over_iterations(proof)
    z, g, e, m = (lambda at: s.z(i, -1, at)), s.g(i, -1, s.m), s.e(i, -1, s.m), s.m
    D = lambda at: squared(z(at) - star)
    begin = [s.broadcast(i), s.start()]
    near = proof.step("where the first pass begins", squared(z(0) - star) <= expr(R**2), begin)
    # f_i may be steep at x*: what is known of it is known on the pass alone.
    back = proof.step(
        "no step leads away by more than B·R",
        s.dot(g, z(m) - star) >= expr(-B * R - alpha * m * B**2),
        [
            s.convex(g, z(0)),
            kernel.at(far, {"r": -1}),
            kernel.norms(s.lipschitz(g), near, g, z(0) - star, B, R, -1),
        ],
    )
    noise = [s.unbiased(e, v) for v in (z(m), g, star)]
    one = proof.step(
        "the first pass, one local step",
        D(m + 1) <= D(m) + 2 * alpha * (B * R + alpha * m * B**2) + alpha**2 * (sigma**2 + B**2),
        [s.move(i, -1, m), back, s.lipschitz(g), s.variance(e), *noise],
    )
    whole = [total(kernel, one, "m", 0, M), telescope(kernel, "m", 0, M, D(m))]
    near = proof.step(
        "x at the start",
        squared(s.x(i, 0) - star) <= expr(R**2 + 2 * alpha * M * B * R + alpha**2 * M * (sigma**2 + M * B**2)),
        [*whole, telescope(kernel, "m", 0, M, m * (m - 1) / 2), near, s.first("x", i)],
    )
    held = proof.step("y at the start", equal(squared(s.y(i, 0) - star), R**2), [s.first("y", i), s.start()])
    last = proof.step(
        "together",
        s.metric()
        <= expr(
            (1 / s.p_s + 2 * qbar) * R**2 / (2 * alpha * M * K)
            + alpha * (sigma**2 + M * B**2) / 2
            + qbar * (2 * alpha * M * B * R + alpha**2 * M * (sigma**2 + M * B**2)) / (2 * alpha * M * K)
        ),
        [
            summed,
            total(kernel, near, "i", 0, n, 1 / (n * p)),
            total(kernel, held, "i", 0, n, 1 / (n * p)),
            s.start(),
            s.qbar(),
            _average(proof),
        ],
    )
    proof.conclude(last)


_SOURCE = "AREA, Appendix C, with Lemma 21 inserted as it stands"
_WRITTEN = (
    (
        "area.theorem8.repaired.fixed-step",
        "Theorem 8 with M·B² in place of (M+1)·B²/2, for any constant step",
        fixed_step,
    ),
    ("area.theorem8.repaired", "Theorem 8 with M·B² in place of (M+1)·B²/2", own_step),
    ("area.theorem8.algorithm-start", "the repaired Theorem 8 for the start of Algorithm 2", algorithm_start),
)
PROOFS = with_forms(*(Script(one, says, _SOURCE, write, one) for one, says, write in _WRITTEN))
