"""Certified constants of each client: at worst, what is known of all of them."""

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING

import numpy as np

from boundlab.objective._constants import EPS, Constant, Floats
from boundlab.objective._wrapped import Wrapped

if TYPE_CHECKING:
    from boundlab.objective._problem import Problem

_ROUNDED = 1e-12


def by_client(problem: "Problem", names: Collection[str]) -> dict[str, Floats]:
    """Return the vectors among some names that the problem can certify, each of shape (n,).

    Parameters
    ----------
    names
        Of ``L_i``, ``mu_i``, ``sigma_i``, ``G_star`` and ``gap_i``; others are passed over.
    """
    constants = problem.constants()
    found = {name: rule(problem, constants) for name, rule in _RULES.items() if name in names}
    return {name: value for name, value in found.items() if value is not None}


def alike(problem: "Problem") -> bool:
    """Return whether all clients surely have the same function."""
    keys = {problem.client_key(client) for client in range(problem.n)}
    return problem.n == 1 or (len(keys) == 1 and None not in keys)


def against_mean(sizes: Floats) -> Floats:
    """Return (1 − 1/n)·s_i + (1/n)Σ_{k≠i} s_k for sizes s ≥ 0, shape (n, …), rounded up; 0 for one client."""
    n = len(sizes)
    if n == 1:
        return np.zeros_like(sizes)
    out: Floats = (1.0 - 2.0 / n) * sizes + sizes.mean(axis=0)
    return out * (1.0 + (n + 8) * EPS)


def _of_all(problem: "Problem", constants: Mapping[str, Constant], name: str) -> Floats | None:
    return np.full(problem.n, constants[name].value) if name in constants else None


def _curvatures(problem: "Problem", side: str) -> Floats | None:
    while isinstance(problem, Wrapped):  # steps of one around another may be other steps, of the same f_i
        problem = problem.inner
    found = [problem.step_bounds(client) for client in range(problem.n)]
    if any(one is None or one.kinks for one in found):
        return None
    return np.array([getattr(one, side) for one in found])


def _smoothness(problem: "Problem", constants: Mapping[str, Constant]) -> Floats | None:
    most, own = _of_all(problem, constants, "L"), _curvatures(problem, "L")
    return most if most is None or own is None else np.where(own > 0, np.minimum(most, own), most)


def _strong_convexity(problem: "Problem", constants: Mapping[str, Constant]) -> Floats | None:
    least, own = _of_all(problem, constants, "mu"), _curvatures(problem, "mu")
    return least if least is None or own is None else np.maximum(least, own)


def _gaps(problem: "Problem", constants: Mapping[str, Constant]) -> Floats | None:
    """Return f_i(x*) − inf f_i from above, by ‖∇f_i(x*)‖²/(2μ_i) and L_i·zeta²/2."""
    norms, mu, L = (
        problem.gradient_norms_at_optimum(),
        *(one(problem, constants) for one in (_strong_convexity, _smoothness)),
    )
    found = []
    if norms is not None and mu is not None and (mu > 0).all():
        found.append(norms**2 / (2 * mu))
    if L is not None and "zeta" in constants:
        found.append(L * constants["zeta"].value ** 2 / 2)
    return np.min(found, axis=0) * (1 + _ROUNDED) if found else None


_RULES: Mapping[str, Callable[["Problem", Mapping[str, Constant]], Floats | None]] = {
    "L_i": _smoothness,
    "mu_i": _strong_convexity,
    "sigma_i": lambda problem, constants: _of_all(problem, constants, "sigma"),
    "G_star": lambda problem, _: problem.gradient_norms_at_optimum(),
    "gap_i": _gaps,
}
