"""Constants that follow from others, and the reasons why they may be missing, in one form for every family."""

import math
from dataclasses import replace

from boundlab.formulas.symbols import having
from boundlab.objective import Array, Constant, Floats, Optimum, Problem, alike
from boundlab.problems.common import EPS, clip_up, distance

SHARED = Constant(0.0, "exact", "x* is the minimiser of every client")  # as zeta
COMPARISON = "distance to the solver's point; its gap widens the comparison"  # as R, where x* is not certified
NONNEGATIVE = "f(x0) − inf f ≤ f(x0), as the loss ≥ 0"


def met(
    *,
    strongly_convex: str = "",
    smooth: str = "",
    steep: str = "",
    variance: str = "",
    spread: str = "",
    minimiser: str = "",
    below: str | None = None,
) -> dict[str, str]:
    """Return what convex functions say of the assumptions about them: each argument is a reason, or met where empty.

    Parameters
    ----------
    strongly_convex, smooth, variance, minimiser
        Why they are not that, why the oracle's variance has no bound, and why no minimiser is certified.
    steep
        Why gradients are unbounded.
    spread
        Why the clients' gradients differ by more and more.
    below
        Why f has no lower bound; by default the reason that there is for the minimiser.
    """
    return {
        "convex": "",
        "strongly-convex": strongly_convex,
        "smooth": smooth,
        **dict.fromkeys(("lipschitz", "bounded-gradients", "bounded-second-moment"), steep),
        "bounded-variance": variance,
        "bounded-heterogeneity": spread,
        "bounded-below": minimiser if below is None else below,
        "minimiser": minimiser,
    }


def of_alike(problem: Problem, found: dict[str, Constant]) -> dict[str, Constant]:
    """Return the constants with no heterogeneity where all clients have one function: none, not what rounding adds."""
    if not alike(problem):
        return found
    none = Constant(0.0, "exact", "all clients have the same function")
    return found | dict.fromkeys(found.keys() & having("heterogeneity"), none)


def smoothness(constant: Constant) -> dict[str, Constant]:
    """Return L and L_sq = L²."""
    square = Constant(clip_up(constant.value**2, 2), "upper", f"L², L by {constant.how}")
    return {"L": constant, "L_sq": square}


def noise(constant: Constant) -> dict[str, Constant]:
    """Return sigma under the names that theorems know it by."""
    return {"sigma": constant, "sigma_l": constant}


def gradients(norms: Floats, second: Floats, how: str) -> dict[str, Constant]:
    """Return G_sq and G.

    Parameters
    ----------
    norms
        Shape (n,): ‖∇f_i(w)‖ is at most this, rounded up.
    second
        Shape (n,): E‖g_i(w)‖² is at most this, rounded up.
    how
        Where the norms come from.
    """
    return {
        "G_sq": Constant(clip_up(float((norms**2).max()), 2), "upper", how),
        "G": Constant(clip_up(math.sqrt(float(second.max())), 2), "upper", f"second moment of the oracle; {how}"),
    }


def additive(norms: Floats, sigma: float, how: str) -> dict[str, Constant]:
    """Return G_sq and G where independent noise with E‖noise‖² = sigma² is added: E‖g_i‖² = ‖∇f_i‖² + sigma²."""
    found = gradients(norms, (norms**2 + sigma**2) * (1.0 + 4.0 * EPS), how)
    return found if sigma else found | {"G": replace(found["G"], value=float(norms.max()))}


def heterogeneity(each: Floats, mean: float, how: str) -> dict[str, Constant]:
    """Return sigma_g and sigma_g_mean.

    Parameters
    ----------
    each
        Shape (n,): ‖∇f_i(w) − ∇f(w)‖ is at most this, rounded up.
    mean
        √((1/n)Σ_i ‖∇f_i(w) − ∇f(w)‖²) is at most this, rounded up.
    """
    largest = float(each.max())
    return {
        "sigma_g": Constant(largest, "upper", how),
        "sigma_g_mean": Constant(min(mean, largest), "upper", how),
    }


def zeta(away: float, off: float, how: str) -> Constant:
    """Return the largest distance of a client's minimiser from x*, where it is 0 exactly so.

    Parameters
    ----------
    away
        It is at most this from the point that stands for x*, rounded up.
    off
        That point's distance from x*, rounded up.
    how
        Where both come from.
    """
    return SHARED if away == off == 0.0 else Constant(clip_up(away + off, 2), "upper", how)


def of_start(x0: Array, start: float, best: Optimum | None, floor: float | None) -> dict[str, Constant]:
    """Return R = ‖x0 − x*‖, where x* is known, and F0 = f(x0) − inf f, where f has a known lower bound.

    Parameters
    ----------
    x0
        Shape (d,).
    start
        f(x0), rounded up.
    best
        The optimum, if it is certified.
    floor
        A number that f is never below, if there is one: 0 for losses.
    """
    if best is None and floor is None:
        return {}
    certified = -math.inf if best is None else best.value - best.gap
    lower = max(certified, -math.inf if floor is None else floor)
    how = NONNEGATIVE if best is None or certified < lower else f"f(x0) − f* with f* from below: {best.how}"
    gap = max(start - lower, 0.0) + 2.0 * EPS * (abs(start) + abs(lower))
    found = {"F0": Constant(gap, "upper", how)}
    if best is not None:
        away = distance(x0, best.x, best.distance)
        unsure = Constant(away, "exact", COMPARISON)
        found["R"] = unsure if best.distance is None else Constant(away, "upper", best.how)
    return found
