"""The constants of random problems against 60 digits: how many lie on the wrong side, and how loose they are.

python -m benchmarks.constants                    # 500 problems, the table of results/constants.md
python -m benchmarks.constants --seeds 0 20 --write

What is computed here shares nothing with the families but their options: losses, gradients and Hessians are written
down once more in mpmath, minimisers are Newton's or those of a bisection. Suprema over all x are sought at points of
many sizes, so that a constant from above is shown to be no smaller than what is found, and no more.
"""

import argparse
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, final

import mpmath
import numpy as np

from boundlab.case import build_problem
from boundlab.objective import Problem

RESULTS = Path(__file__).parent / "results" / "constants.md"
SIGNS = ("logistic", "hinge", "squared-hinge", "modified-huber")
DATA = (*SIGNS, "softmax", "lad-regression", "huber-regression", "quantile-regression", "least-squares", "poisson")
FAMILIES = (*DATA, "huber", "pseudo-huber", "lad", "quadratic", "max-affine", "smoothed-max-affine")
KINKED = {"hinge", "lad-regression", "quantile-regression", "lad", "max-affine"}  # and all that bisection treats
ON_A_LINE = KINKED | {"huber", "huber-regression", "smoothed-max-affine", "poisson"}
BENT = {"logistic", "softmax", "squared-hinge", "modified-huber"}  # Newton's method has its regulariser
SIZES = (0.0, 0.01, 0.3, 1.0, 5.0, 40.0, 1000.0)
Vector = list[Any]
Smooth = tuple[Any, Vector, Any]  # value, gradient, and Hessian, or None at a kink
Function = Callable[[Vector], Smooth]
_NEWTON, _BISECTIONS = 60, 260
_SAYS = """500 random problems of all families, by `python -m benchmarks.constants --write`. Suprema are sought at
points of many sizes: the looseness of B, G, L, sigma and sigma_g is at most what the table says. That of R, F0 and
zeta is what the certificates of minimisers leave open."""

mpmath.mp.dps = 60


@final
@dataclass
class Client:
    """f_i as the mean of functions of which an oracle draws ``batch`` at a time, and what every gradient has beside it.

    Parameters
    ----------
    rows
        The functions that are drawn.
    batch, replacement
        How; 0: all of them.
    sigma
        Of additive noise.
    """

    rows: list[Function]
    batch: int = 0
    replacement: bool = True
    sigma: Any = 0

    def at(self, x: Vector) -> Smooth:
        """Return f_i."""
        found = [row(x) for row in self.rows]
        m, d = len(found), range(len(x))
        bent = all(one[2] is not None for one in found)
        hessian = [[sum(one[2][a][b] for one in found) / m for b in d] for a in d] if bent else None
        return sum(one[0] for one in found) / m, [sum(one[1][a] for one in found) / m for a in d], hessian

    def variance(self, x: Vector) -> Any:
        """Return that of the oracle's gradient."""
        m, b = len(self.rows), self.batch
        if not b or (not self.replacement and b >= m):
            return mpmath.mpf(self.sigma) ** 2
        slopes, mean = [row(x)[1] for row in self.rows], self.at(x)[1]
        spread = sum(square(away(one, mean)) for one in slopes) / m
        return spread / b * (1 if self.replacement else mpmath.mpf(m - b) / (m - 1))


def square(x: Vector) -> Any:
    """Return ‖x‖²."""
    return mpmath.fsum(entry**2 for entry in x)


def away(x: Vector, y: Vector) -> Vector:
    """Return x − y."""
    return [a - b for a, b in zip(x, y, strict=True)]


def of_row(kind: str, a: Vector, y: Any, nu: Any, weight: Any, heft: Any, classes: int, top: Any) -> Function:
    """Return w·(v·(loss of a row) + ν/2·‖x‖²)."""

    def of(x: Vector) -> Smooth:
        z = [mpmath.fsum(a[p] * x[p * classes + k] for p in range(len(a))) for k in range(classes)]
        value, slope, bend = loss(kind, z, y, top)
        value, slope = heft * value, [heft * one for one in slope]
        bend = bend and [[heft * one for one in row] for row in bend]
        d = len(x)
        gradient = [weight * (a[e // classes] * slope[e % classes] + nu * x[e]) for e in range(d)]
        hessian = bend and [
            [
                weight * (a[e // classes] * a[g // classes] * bend[e % classes][g % classes] + nu * (e == g))
                for g in range(d)
            ]
            for e in range(d)
        ]
        return weight * (value + nu / 2 * square(x)), gradient, hessian

    return of


def loss(kind: str, z: Vector, y: Any, top: Any) -> tuple[Any, Vector, Any]:
    """Return a loss of margins, its slopes, and its second derivatives; None where there is a kink anywhere.

    ``top`` is Poisson's largest margin on the set, the width of Huber's loss, or the quantile.
    """
    (one, *_), flat = z, [[mpmath.mpf(0)]]
    match kind:
        case "logistic":
            s = 1 / (1 + mpmath.exp(y * one))
            return mpmath.log1p(mpmath.exp(-y * one)), [-y * s], [[s * (1 - s)]]
        case "softmax":
            total = mpmath.fsum(map(mpmath.exp, z))
            q = [mpmath.exp(entry) / total for entry in z]
            bend = [[q[k] * ((k == m) - q[m]) for m in range(len(z))] for k in range(len(z))]
            return mpmath.log(total) - z[y], [entry - (k == y) for k, entry in enumerate(q)], bend
        case "hinge":
            return max(mpmath.mpf(0), 1 - y * one), [-y if y * one < 1 else mpmath.mpf(0)], None
        case "squared-hinge" | "modified-huber":
            short = max(mpmath.mpf(0), 1 - y * one)
            if kind == "modified-huber" and short > 2:
                return 4 * short - 4, [-4 * y], flat
            return short**2, [-2 * y * short], [[mpmath.mpf(2)]] if short > 0 else flat
        case "quantile-regression":
            q = mpmath.mpf(top)
            slope = 1 - q if one > y else -q if one < y else mpmath.mpf(0)
            return slope * (one - y), [slope], None
        case "huber-regression":
            value, slope, bent = phi("huber", one - y, mpmath.mpf(top))
            return value, [slope], [[mpmath.mpf(bent)]]
        case "lad-regression":
            return abs(one - y), [mpmath.sign(one - y)], None
        case "least-squares":
            return (one - y) ** 2 / 2, [one - y], [[mpmath.mpf(1)]]
    inside = min(one, top)  # poisson, with its tangent beyond the set
    grown = mpmath.exp(inside)
    return grown * (1 + one - inside) - y * one, [grown - y], [[grown]] if one < top else flat


def of_coordinates(kind: str, c: Vector, w: Vector, delta: Any) -> Function:
    """Return Σ_j w_j·φ(x_j − c_j)."""

    def of(x: Vector) -> Smooth:
        found = [phi(kind, entry, delta) for entry in away(x, c)]
        d = range(len(x))
        hessian = None if kind == "lad" else [[w[a] * found[a][2] * (a == b) for b in d] for a in d]
        return (
            mpmath.fsum(by * one[0] for by, one in zip(w, found, strict=True)),
            [w[a] * found[a][1] for a in d],
            hessian,
        )

    return of


def phi(kind: str, r: Any, delta: Any) -> tuple[Any, Any, Any]:
    """Return φ, φ′ and φ″."""
    if kind == "lad":
        return abs(r), mpmath.sign(r), 0
    if kind == "huber":
        inside = abs(r) <= delta
        return (r**2 / 2 if inside else delta * (abs(r) - delta / 2)), max(min(r, delta), -delta), int(inside)
    root = mpmath.sqrt(1 + (r / delta) ** 2)
    return delta**2 * (root - 1), r / root, 1 / root**3


def of_matrix(A: Any, b: Vector) -> Function:
    """Return ½(x − b)ᵀA(x − b)."""

    def of(x: Vector) -> Smooth:
        r = away(x, b)
        slope = [mpmath.fsum(entry * one for entry, one in zip(row, r, strict=True)) for row in A]
        return mpmath.fsum(p * q for p, q in zip(slope, r, strict=True)) / 2, slope, A

    return of


def of_pieces(a: Vector, c: Vector) -> Function:
    """Return max_j (c_j + a_j·x) on a line."""

    def of(x: Vector) -> Smooth:
        value, slope = max((offset + by * x[0], by) for by, offset in zip(a, c, strict=True))
        return value, [slope], None

    return of


def smoothed(a: Vector, c: Vector, L: Any, mu: Any) -> Function:
    """Return mu/2·x² + min_y [max_j (c_j + a_j·y) + (L − mu)/2·(x − y)²] on a line."""

    def of(x: Vector) -> Smooth:
        [at] = x
        # The minimum over y is the largest of all parabolas' minima on segments between two pieces' slopes.
        kinks = [-(c[i] - c[j]) / (a[i] - a[j]) for i, j in combinations(range(len(a)), 2) if a[i] != a[j]]
        points = [*kinks, *(at - by / (L - mu) for by in a)]
        top = of_pieces(a, c)
        value, y = min((top([one])[0] + (L - mu) / 2 * (at - one) ** 2, one) for one in points)
        return value + mu / 2 * at**2, [mu * at + (L - mu) * (at - y)], None

    return of


def drawn(seed: int) -> tuple[Problem, list[Client], Any]:
    """Return a problem, what it is in 60 digits, and the set that it lives on."""
    rng = np.random.default_rng([20261130, seed])
    kind = FAMILIES[seed % len(FAMILIES)]
    n, d = int(rng.integers(1, 4)), 1 if kind in ON_A_LINE else int(rng.integers(1, 4))
    size = 10.0 ** rng.uniform(-2, 2)
    if kind in DATA:
        return of_data(kind, rng, n, d, size)
    start, sigma = (rng.normal(size=d) * size).tolist(), float(rng.choice([0.0, 0.5]))
    head: dict[str, Any] = {"x0": start, "sigma": sigma}
    if kind == "quadratic":
        turns = [np.linalg.qr(rng.normal(size=(d, d)))[0] for _ in range(n)]
        A = np.array([(t * 10.0 ** rng.uniform(-3, 2, size=d)) @ t.T for t in turns])
        A, b = (A + A.transpose(0, 2, 1)) / 2, rng.normal(size=(n, d)) * size
        exact = [of_matrix(known(one), known(at)) for one, at in zip(A, b, strict=True)]
        head |= {"A": A.tolist(), "b": b.tolist()}
    elif "affine" in kind:
        a, c = rng.normal(size=(n, 3)), rng.normal(size=(n, 3)) * size
        a[0, :2] = np.abs(a[0, 0]), -np.abs(a[0, 1])
        a -= a.mean(axis=0).mean()
        L, mu = (float(10.0 ** rng.uniform(-1, 2)), 0.0) if rng.random() < 0.5 else (3.0, 0.25)
        soft = kind != "max-affine"
        pieces = zip(known(a), known(c), strict=True)
        exact = [smoothed(*one, mpmath.mpf(L), mpmath.mpf(mu)) if soft else of_pieces(*one) for one in pieces]
        head |= {"a": a[:, :, None].tolist(), ("c" if soft else "b"): c.tolist()} | ({"L": L, "mu": mu} if soft else {})
    else:
        c, w = rng.normal(size=(n, d)) * size, rng.uniform(0.1, 3, size=(n, d))
        delta = float(rng.uniform(0.1, 2))
        exact = [of_coordinates(kind, *one, mpmath.mpf(delta)) for one in zip(known(c), known(w), strict=True)]
        head |= {"c": c.tolist(), "w": w.tolist()} | ({} if kind == "lad" else {"delta": delta})
    return build_problem(kind, head), [Client([one], sigma=sigma) for one in exact], None


def of_data(kind: str, rng: np.random.Generator, n: int, p: int, size: float) -> tuple[Problem, list[Client], Any]:
    """Return a risk."""
    sizes = rng.integers(3, 6, size=n)
    S = int(sizes.sum())
    X, owners = (
        rng.normal(size=(S, p)) * (min(size, 3.0) if kind == "poisson" else size),
        np.repeat(np.arange(n), sizes),
    )
    classes = 3 if kind == "softmax" else 1
    y = rng.normal(size=S) * size
    if kind in (*SIGNS, "softmax"):
        y = (np.arange(S) % max(2, classes)).astype(float)
    if kind == "poisson":
        y = rng.integers(0, 5, size=S).astype(float)
    nu = float(10.0 ** rng.uniform(-4, 1)) if kind in BENT or rng.random() < 0.6 else 0.0
    batch, replacement = int(rng.choice([0, 1, 2])), bool(rng.integers(2))
    weights, end = str(rng.choice(["equal", "size", "paper"])), 0.75
    options = {
        "features": X.tolist(), "targets": y.tolist(), "owners": owners.tolist(), "nu": nu, "weights": weights,
        "batch": batch, "x0": float(rng.normal()) if kind != "poisson" else 0.5,
    }  # fmt: skip
    options |= {"replacement": "yes" if replacement else "no"} if batch else {}
    options |= {"box": [-end, end]} if kind == "poisson" else {}
    word = {"huber-regression": "delta", "quantile-regression": "quantile"}.get(kind)
    width = float(rng.uniform(0.1, 0.9))
    options |= {word: width} if word else {}
    weights_of_rows = np.where(rng.random(S) < 0.5, 1.0, rng.uniform(0.0, 5.0, size=S) * rng.integers(0, 2, size=S))
    weights_of_rows[np.cumsum(sizes) - 1] = 1.5  # every client has a row that counts
    weighted = bool(rng.integers(2))
    options |= {"sample_weight": weights_of_rows.tolist()} if weighted else {}
    clients = []
    for i in range(n):
        own = weights_of_rows[owners == i] if weighted else np.ones(sizes[i])
        mass = mpmath.fsum(known(own))
        share = mass / (mpmath.fsum(known(weights_of_rows)) if weighted else S)
        # Weights are relative to their mean, as floats, as features are once they are scaled.
        hefts = own * len(own) / float(mass)
        A, aims = X[owners == i], y[owners == i]
        if kind == "least-squares":
            A, aims, hefts = np.sqrt(hefts)[:, None] * A, np.sqrt(hefts) * aims, np.ones(len(own))
        weight = {"equal": mpmath.mpf(1), "size": n * share, "paper": share}[weights]
        rows = []
        for a, target, heft in zip(known(A), known(aims), known(hefts), strict=True):
            aim = int(target) if kind == "softmax" else 2 * target - 1 if kind in SIGNS else target
            top = mpmath.mpf(width) if word else mpmath.mpf(end) * mpmath.fsum(map(abs, a))
            rows.append(of_row(kind, a, aim, mpmath.mpf(nu), weight, heft, classes, top))
        clients.append(Client(rows, batch, replacement))
    return build_problem(kind, options), clients, (-mpmath.mpf(end), mpmath.mpf(end)) if kind == "poisson" else None


def known(data: Any) -> Any:
    """Return floats as numbers of 60 digits."""
    return [known(one) for one in data] if np.ndim(data) else mpmath.mpf(float(data))


def minimisers(f: Function, start: Vector, ends: Any) -> tuple[Vector, Vector] | None:
    """Return the ends of the set of minimisers on a line, or twice the minimiser; None: none was found."""
    if len(start) > 1:
        found = newton(f, start)
        return None if found is None else (found, found)
    low, high = ends or (-(mpmath.mpf(10) ** 8), mpmath.mpf(10) ** 8)

    def slope(x: Any) -> Any:
        return f([x])[1][0]

    if ends is None and not slope(low) < 0 < slope(high):
        return None
    found = []
    for below in (lambda s: s < -(mpmath.mpf(10) ** -45), lambda s: s <= mpmath.mpf(10) ** -45):
        left, right = low, high
        for _ in range(_BISECTIONS):
            middle = (left + right) / 2
            left, right = (middle, right) if below(slope(middle)) else (left, middle)
        found.append([(left + right) / 2])
    return found[0], found[1]


def newton(f: Function, x: Vector) -> Vector | None:
    """Return where ∇f = 0, by damped Newton steps."""
    for _ in range(_NEWTON):
        value, slope, hessian = f(x)
        if square(slope) < mpmath.mpf(10) ** -80:
            return x
        try:
            step = mpmath.lu_solve(mpmath.matrix(hessian), mpmath.matrix(slope))
        except ZeroDivisionError:
            return None
        size = mpmath.mpf(1)
        while size > 1e-6 and f([a - size * b for a, b in zip(x, step, strict=True)])[0] > value:
            size /= 2
        x = [a - size * b for a, b in zip(x, step, strict=True)]
    return x if square(f(x)[1]) < mpmath.mpf(10) ** -60 else None


def truths(problem: Problem, clients: list[Client], ends: Any, seed: int) -> Iterator[tuple[str, Any]]:
    """Yield constant after constant what it is, or what it is at least; of mu, what it is at most."""
    rng, n = np.random.default_rng(seed), len(clients)

    def f(x: Vector) -> Smooth:
        return Client([one.at for one in clients]).at(x)

    x0 = known(np.asarray(problem.x0))
    told = None if problem.why_not("minimiser") else problem.optimum()
    begin = x0 if told is None else known(np.asarray(told.x))
    best = minimisers(f, begin, ends)
    if told is not None and told.distance is None:  # R is the distance of a point whose gap the comparison allows for
        yield "R", mpmath.sqrt(square(away(x0, begin)))
    elif best is not None and not between(best, x0):
        yield "R", min(mpmath.sqrt(square(away(x0, one))) for one in best)
    if best is not None:
        yield "F0", f(x0)[0] - f(best[0])[0]
        if best[0] == best[1] or square(away(*best)) < 1e-60:
            if ends is None:
                yield from of_minimisers(clients, best[0], begin)
            yield "sigma_star", mpmath.sqrt(mpmath.fsum(one.variance(best[0]) for one in clients) / n)
    points = [begin, x0] + [
        [at + mpmath.mpf(float(by)) for at, by in zip(begin, size * rng.normal(size=len(x0)), strict=True)]
        for size in SIZES
        for _ in range(3)
    ] + [[mpmath.mpf(0)] * len(x0)]  # fmt: skip
    for x in points if ends is None else [[min(max(one, ends[0]), ends[1]) for one in x] for x in points]:
        yield from at_a_point(clients, x)


def between(ends: tuple[Vector, Vector], x: Vector) -> bool:
    """Return whether a point lies between two others."""
    return all(a <= at <= b for a, at, b in zip(ends[0], x, ends[1], strict=True))


def of_minimisers(clients: list[Client], x: Vector, begin: Vector) -> Iterator[tuple[str, Any]]:
    """Yield zeta, where every client has one minimiser."""
    own = [minimisers(one.at, begin, None) for one in clients]
    if all(one is not None and square(away(*one)) < 1e-60 for one in own):
        yield "zeta", max(mpmath.sqrt(square(away(one[0], x))) for one in own if one is not None)


def at_a_point(clients: list[Client], x: Vector) -> Iterator[tuple[str, Any]]:
    """Yield what suprema are at least, from one point."""
    found = [one.at(x) for one in clients]
    n, d = len(clients), len(x)
    mean = [mpmath.fsum(one[1][a] for one in found) / n for a in range(d)]
    sizes = [square(one[1]) for one in found]
    variances = [one.variance(x) for one in clients]
    apart = [square(away(one[1], mean)) for one in found]
    yield "B", mpmath.sqrt(max(sizes))
    yield "G_sq", max(sizes)
    yield "G", mpmath.sqrt(max(a + b for a, b in zip(sizes, variances, strict=True)))
    yield "sigma", mpmath.sqrt(max(variances))
    yield "sigma_l", mpmath.sqrt(max(variances))
    yield "sigma_g", mpmath.sqrt(max(apart))
    yield "sigma_g_mean", mpmath.sqrt(mpmath.fsum(apart) / n)
    for one, client in zip(found, clients, strict=True):
        if one[2] is None:
            return
        curved = mpmath.eigsy(mpmath.matrix(one[2]), eigvals_only=True)
        yield "L", curved[d - 1]
        yield "L_sq", curved[d - 1] ** 2
        yield "mu", curved[0]
        for row in client.rows:
            bend = row(x)[2]
            yield "L_max", mpmath.eigsy(mpmath.matrix(bend), eigvals_only=True)[d - 1]


def compared(seed: int) -> Iterator[tuple[str, str, Any]]:
    """Yield family, constant, and what the constant adds to what was found, relative to that; below 0: the wrong side.

    What 60 digits round is allowed for.
    """
    problem, clients, ends = drawn(seed)
    found: dict[str, Any] = {}
    for name, value in truths(problem, clients, ends, seed):
        found[name] = value if name not in found else (min if name == "mu" else max)(found[name], value)
    for name, constant in problem.constants().items():
        if name not in found:
            continue
        told, truth = mpmath.mpf(constant.value), found[name]
        over = truth - told if name == "mu" else told - truth
        if abs(over) <= mpmath.mpf(10) ** -30 * max(abs(told), abs(truth), mpmath.mpf(10) ** -20):
            over = mpmath.mpf(0)
        yield problem.id, name, over / max(abs(truth), mpmath.mpf(10) ** -300)


def table(rows: dict[tuple[str, str], list[Any]]) -> str:
    """Return the table in Markdown."""
    lines = [
        "| family | constant | how many | on the wrong side | median looseness | largest |",
        "|---|---|---|---|---|---|",
    ]
    for (family, name), over in sorted(rows.items()):
        wrong, size = sum(one < 0 for one in over), sorted(over)
        shown = (f"{float(one):.1e}" for one in (size[len(size) // 2], size[-1]))
        lines.append(f"| {family} | {name} | {len(over)} | {wrong} | {' | '.join(shown)} |")
    every = [one for over in rows.values() for one in over]
    return "\n".join([*lines, "", f"{len(every)} constants, {sum(one < 0 for one in every)} on the wrong side."]) + "\n"


def main() -> None:
    """Compare and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, nargs=2, default=(0, 500))
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    rows: dict[tuple[str, str], list[Any]] = defaultdict(list)
    for seed in range(*chosen.seeds):
        for family, name, over in compared(seed):
            rows[family, name].append(over)
            if over < 0:
                sys.stderr.write(f"seed {seed}: {family} {name}: {float(over):.3e}\n")
    sys.stdout.write(table(rows))
    if chosen.write:
        RESULTS.write_text(f"# Constants of random problems in 60 digits\n\n{_SAYS}\n\n{table(rows)}", encoding="utf-8")


if __name__ == "__main__":
    main()
