"""The optimal server rate of AREA, Section 4.2, for any number of clients with any positive rates.

With Poisson arrivals, Theorem 8's bound grows with F = 1/p_s + 2q̄, where p_s = λ_s/(λ_s + Λ), p_i = λ_i/(λ_s + Λ),
q̄ = (1/n)·Σ 1/p_i, Λ = Σ λ_i and H = Σ 1/λ_i. The kernel has no derivatives: a minimum is shown as what it is, by a
square; the slope between any two points takes the place of the derivative, an inequality between three points that of
the second one. That a number is > 0 is shown by giving it a name whose range is open at 0.
"""

from dataclasses import dataclass

from boundlab.prove import Fact, Proof, Range, Scalar, Script, equal, expr, finite_sum, scalar, total, variable

_POSITIVE = Range(low=scalar(0), above=True)


@dataclass(frozen=True)
class _Rates:
    """Λ, h = 2H/n, and F as a function of the server's rate."""

    clients: Scalar
    h: Scalar

    def bound(self, rate: Scalar) -> Scalar:
        """Return F at a server rate."""
        return (rate + self.clients) * (1 / rate + self.h)


def _positive(proof: Proof, *names: str) -> list[Scalar]:
    """Declare numbers > 0."""
    return [proof.kernel.context.declare(name, _POSITIVE) for name in names]


def _strictly(proof: Proof, title: str, name: str, value: Scalar, says: str) -> None:
    """Show that a number is > 0."""
    proof.rule(title, None, lambda: proof.kernel.name(name, value, _POSITIVE), says=says)


def _what_is_bounded(proof: Proof) -> _Rates:
    """Declare n clients, their rates between two positive numbers, and show what F is."""
    kernel, here = proof.kernel, proof.kernel.context
    n = here.declare("n", Range(low=scalar(1), integer=True))
    server, low = _positive(proof, "lambda_s", "lambda_min")
    high = here.declare("lambda_max", Range(low=low))
    here.declare("rate", Range(low=low, high=high, arity=1))
    i = here.declare("i", Range(low=scalar(0), high=n - 1, integer=True))
    own = variable("rate", i)

    def defined(name: str, value: Scalar, least: Scalar) -> Fact:
        each = kernel.combine(expr(value) >= expr(least), [])
        return kernel.define(name, finite_sum("i", 0, n, value), n * least, total(kernel, each, "i", 0, n))

    proof.rule("Lambda", None, lambda: defined("Lambda", own, low), says="Λ = Σ λ_i ≥ n·λ_min")
    inverse = proof.rule("H", None, lambda: defined("H", 1 / own, 1 / high), says="H = Σ 1/λ_i ≥ n/λ_max")
    clients, whole = variable("Lambda"), server + variable("Lambda")
    qbar = whole * variable("H") / n
    mean = proof.step(
        "substitution",
        equal(finite_sum("i", 0, n, 1 / (n * (own / whole))), qbar),
        [inverse],
        says="q̄ = (1/n)·Σ 1/p_i = (λ_s + Λ)·H/n, for every n",
    )
    named = proof.rule("h", None, lambda: kernel.name("h", 2 * variable("H") / n, _POSITIVE), says="h = 2H/n > 0")
    found = _Rates(clients, variable("h"))
    proof.step(
        "short",
        equal(expr(1 / (server / whole)) + 2 * finite_sum("i", 0, n, 1 / (n * (own / whole))), found.bound(server)),
        multipliers=[(2, mean), (-whole, named)],
        says="F = 1/p_s + 2q̄ = (λ_s + Λ)(1/λ_s + h)",
    )
    return found


def _fixed_iterations(proof: Proof, rates: _Rates) -> None:
    """Show the minimum at fixed K."""
    kernel, here, F = proof.kernel, proof.kernel.context, rates.bound
    server, h, clients = variable("lambda_s"), rates.h, rates.clients
    a, b, up = _positive(proof, "a", "b", "u")
    w = here.declare("w", Range(low=scalar(0), high=scalar(1), above=True, below=True))
    slope = h - clients / (a * b)
    proof.step(
        "slope",
        equal(F(b) - F(a), expr((b - a) * slope)),
        says="F(b) − F(a) = (b − a)(h − Λ/(ab)): as b → a, F'(a) = h − Λ/a²",
    )
    root = proof.rule("the rate", None, lambda: kernel.root("best", clients / h), says="λ_s*² = Λ/h, λ_s* > 0")
    best = variable("best")
    proof.step(
        "stationarity",
        equal(expr(h - clients / best**2), 0),
        multipliers=[(h / best**2, root)],
        says="the slope at λ_s* = √(Λ/h) is 0: F'(λ_s*) = h − Λ/λ_s*²",
    )
    mixed = w * a + (1 - w) * b
    proof.step(
        "convexity",
        equal(expr(w * F(a) + (1 - w) * F(b) - F(mixed)), expr(clients * w * (1 - w) * (a - b) ** 2 / (a * b * mixed))),
        says="wF(a) + (1−w)F(b) − F(wa + (1−w)b) = Λw(1−w)(a − b)²/(ab(wa + (1−w)b))",
    )
    _strictly(
        proof,
        "strict convexity",
        "curvature",
        clients * w * (1 - w) / (a * b * mixed),
        "what (a − b)² is multiplied by is > 0 for 0 < w < 1",
    )
    square = proof.step(
        "square",
        equal(F(server) - F(best), expr(h * (server - best) ** 2 / server)),
        multipliers=[(h / best - h / server, root)],
        says="F(λ_s) − F(λ_s*) = h(λ_s − λ_s*)²/λ_s",
    )
    proof.step("global minimum", expr(F(server)) >= expr(F(best)), multipliers=[(1, square)], says="F(λ_s) ≥ F(λ_s*)")
    down = here.declare("d", Range(low=scalar(0), high=best, above=True, below=True))
    _strictly(
        proof, "no other minimum above", "more", h * up**2 / (best + up), "at λ_s = λ_s* + u, u > 0, that square is > 0"
    )
    _strictly(
        proof,
        "no other minimum below",
        "less",
        h * down**2 / (best - down),
        "at λ_s = λ_s* − d, 0 < d < λ_s*, that square is > 0",
    )
    other = kernel.root("s", clients * h)
    same = proof.rule(
        "two roots",
        None,
        lambda: kernel.by_squares(
            kernel.combine(equal(expr(variable("s") ** 2), (h * best) ** 2), [(1, other), (-h * h, root)]),
            variable("s"),
            h * best,
        ),
        says="√(Λh) = h·λ_s*",
    )
    proof.step(
        "value",
        equal(expr(F(best)), (1 + variable("s")) ** 2),
        multipliers=[(-h / best, root), (-1, other), (-2, same)],
        says="F(λ_s*) = (1 + √(Λh))²",
    )


def _fixed_time(proof: Proof, rates: _Rates) -> None:
    """Show that at fixed time a faster server is always better."""
    server, h, whole = variable("lambda_s"), rates.h, variable("lambda_s") + rates.clients
    a, up, (time, small, far) = variable("a"), variable("u"), _positive(proof, "t", "epsilon", "v")
    per_time = lambda rate: (1 / rate + h) / time
    proof.step(
        "fixed time",
        equal(expr(rates.bound(server) / (whole * time)), per_time(server)),
        says="with K = (λ_s + Λ)t, F/K = (1/λ_s + h)/t",
    )
    _strictly(
        proof,
        "no optimum",
        "gain",
        per_time(a) - per_time(a + up),
        "F/K at a is above F/K at a + u, for every a and u > 0: no λ_s is optimal at fixed time",
    )
    proof.step("limit", equal(expr(time * per_time(server) - h), 1 / server), says="t·F/K − h = 1/λ_s")
    proof.step(
        "limit, how far",
        expr(time * per_time(1 / small + far) - h) <= expr(small),
        says="that is at most ε where λ_s > 1/ε",
    )


def _server_cost(proof: Proof, rates: _Rates) -> None:
    """Show the minimum at fixed time where every aggregation costs C."""
    kernel, h, server = proof.kernel, rates.h, variable("lambda_s")
    a, b, w, (cost,) = variable("a"), variable("b"), variable("w"), _positive(proof, "C")
    paid = lambda rate: (1 / rate + h) * (1 + cost * rate)
    root = proof.rule(
        "server cost, the rate", None, lambda: kernel.root("m", 1 / (h * cost)), says="m² = 1/(hC), m = 1/√(hC) > 0"
    )
    m, mixed = variable("m"), w * a + (1 - w) * b
    square = proof.step(
        "server cost, square",
        equal(expr(paid(server) - paid(m)), h * cost * (server - m) ** 2 / server),
        multipliers=[(h * cost * (1 / m - 1 / server), root)],
        says="(1/λ_s + h)(1 + Cλ_s) exceeds its value at m by hC(λ_s − m)²/λ_s",
    )
    proof.step(
        "server cost, minimum",
        expr(paid(server)) >= expr(paid(m)),
        multipliers=[(1, square)],
        says="(1/λ_s + h)(1 + Cλ_s) is smallest at λ_s = 1/√(hC)",
    )
    _strictly(
        proof,
        "server cost, no other minimum",
        "factor",
        h * cost / server,
        "what (λ_s − m)² is multiplied by is > 0: the value is reached nowhere else",
    )
    proof.step(
        "server cost, convexity",
        equal(expr(w * paid(a) + (1 - w) * paid(b) - paid(mixed)), w * (1 - w) * (a - b) ** 2 / (a * b * mixed)),
        says="for these costs P, wP(a) + (1−w)P(b) − P(wa + (1−w)b) = w(1−w)(a − b)²/(ab(wa + (1−w)b))",
    )
    _strictly(
        proof,
        "server cost, strict convexity",
        "bend",
        w * (1 - w) / (a * b * mixed),
        "what (a − b)² is multiplied by is > 0 for 0 < w < 1",
    )
    one, two = kernel.root("v_h", h), kernel.root("v_C", cost)
    u, v = variable("v_h"), variable("v_C")
    squared = [(v * v * m * m, one), (h * m * m, two), (h * cost, root)]
    unit = proof.rule(
        "server cost, roots",
        None,
        lambda: kernel.by_squares(kernel.combine(equal(expr((u * v * m) ** 2), 1), squared), u * v * m, 1),
        says="√h·√C·m = 1",
    )
    proof.step(
        "server cost, value",
        equal(expr(paid(m)), (u + v) ** 2),
        multipliers=[(h * cost / m, root), (-1, one), (-1, two), (-2 / m, unit)],
        says="the minimum is (√h + √C)²",
    )


def optimal_rate(proof: Proof) -> None:
    """Show what F is, then its minimum at fixed K, at fixed time, and where aggregations cost time."""
    rates = _what_is_bounded(proof)
    _fixed_iterations(proof, rates)
    _fixed_time(proof, rates)
    _server_cost(proof, rates)


PROOFS = (
    Script(
        "area.optimal-rate",
        "λ_s* = √(Σλ_i/((2/n)Σ1/λ_i)) is the unique minimiser at fixed K; at fixed time there is none",
        "AREA, Section 4.2, Optimal tuning of the server policy",
        optimal_rate,
    ),
)
