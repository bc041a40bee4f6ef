"""The sign of a polynomial in variables ≥ 0: coefficients, a cover by cones, z3; the first that shows it."""

import numpy as np
from sympy.polys.rings import PolyElement

from boundlab.signs._cover import covers, find_cover
from boundlab.signs._shown import SignProof
from boundlab.signs._solver import Solver

# Beyond this, neither a search for a cover nor z3 has much of a chance.
_TERMS, _VARIABLES, _DEGREE = 40, 6, 8
_TRIED = 48


def polynomial_sign(polynomial: PolyElement, solver: Solver | None) -> SignProof:
    """Return how a polynomial with rational coefficients is shown to be ≥ 0 where all its variables are ≥ 0."""
    if all(coefficient >= 0 for coefficient in polynomial.values()):
        return SignProof.BY_CERTIFICATE
    if polynomial.is_ground:
        return SignProof.NOT
    small = _reduced(polynomial)
    if len(small) > _TERMS or small.ring.ngens > _VARIABLES or max(map(sum, small)) > _DEGREE or _negative(small):
        return SignProof.NOT
    cut = find_cover(small)
    if cut is not None and covers(small, cut):
        return SignProof.BY_CERTIFICATE
    if solver is None:
        return SignProof.NOT
    terms = {powers: (int(value.numerator), int(value.denominator)) for powers, value in small.items()}
    return SignProof.BY_SOLVER if solver.nonnegative(small.ring.ngens, terms) else SignProof.NOT


def _reduced(polynomial: PolyElement) -> PolyElement:
    """Divide by a monomial where that is possible, and leave out the variables that do not occur."""
    powers = np.array(list(polynomial), dtype=np.int64)
    powers -= powers.min(axis=0)
    used = np.flatnonzero(powers.any(axis=0))
    ring = polynomial.ring.clone(symbols=[polynomial.ring.symbols[index] for index in used])
    return ring.from_dict(
        {tuple(map(int, row)): value for row, value in zip(powers[:, used], polynomial.values(), strict=True)}
    )


def _negative(polynomial: PolyElement) -> bool:
    """Return whether it is seen to be negative at some point: then no certificate is looked for."""
    powers = np.array(list(polynomial), dtype=np.float64)
    largest = max(abs(value) for value in polynomial.values())
    coefficients = np.array([float(value / largest) for value in polynomial.values()])
    points = np.random.default_rng(7).uniform(-3, 3, (_TRIED, powers.shape[1]))
    with np.errstate(all="ignore"):
        parts = np.exp(points @ powers.T * np.log(4.0)) * coefficients
        return bool((parts.sum(axis=1) < -1e-9 * np.abs(parts).sum(axis=1)).any())
