"""Finds squares with which facts make up a claim: by a semidefinite program at a point, then exactly.

Squares of the vectors, their sums and differences are tried first. Otherwise what is left of the claim when multiples
of the facts are taken away is to be Σ S_ab·E⟨u_a, u_b⟩ with a matrix S ⪰ 0. At a generic point a solver says which
facts and which entries of S are needed; these are solved for in Q(symbols), and S = Σ d_j·ℓ_j·ℓ_jᵀ gives the squares
E‖Σ ℓ_ja·u_a‖² with weights d_j. The kernel checks all of it.
"""

import itertools
import warnings
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from boundlab.prove._context import Context
from boundlab.prove._errors import REFUSED, ProofError
from boundlab.prove._facts import Fact
from boundlab.prove._kernel import Kernel
from boundlab.prove._scalars import ONE, ZERO, Scalar
from boundlab.prove._search import SearchPoint, atoms_of, derive, solved
from boundlab.prove._terms import NUMBER, Claim, Expr, Lin, dot

_TRIES = 4
_SMALL = 1e-5
_ROUNDS, _SHARE = 3, 1e-3
_Pair: TypeAlias = tuple[int, int]


def with_squares(
    kernel: Kernel, claim: Claim, facts: Sequence[Fact], among: Sequence[Lin], context: Context | None = None
) -> Fact:
    """Return the claim as a combination of facts and of squares of combinations of some vectors.

    Parameters
    ----------
    among
        u_1, u_2, …

    Raises
    ------
    ProofError
        If no squares are found, or if the solver for semidefinite programs is not installed.
    """
    here = kernel.deepest(facts, context)
    if claim.equality:
        raise ProofError("squares are ≥ 0: an equation does not rest on them")
    trouble = "no squares of combinations of these vectors make it up"
    plain = [*among, *(one + sign * other for one, other in itertools.combinations(among, 2) for sign in (-1, 1))]
    try:
        return derive(kernel, claim, [*facts, *(kernel.square(one, here) for one in plain)], here)
    except REFUSED:
        pass  # squares with other coefficients, then
    for turn in range(_TRIES):
        found = _at_a_point(kernel, claim, facts, among, here, turn)
        if found is None:
            continue
        chosen, pairs = found
        try:
            return _exactly(kernel, claim, [facts[number] for number in chosen], among, pairs, here)
        except REFUSED as error:
            trouble = f"no squares that suffice for all values were found: {error}"
    raise ProofError(trouble)


def _at_a_point(
    kernel: Kernel, claim: Claim, facts: Sequence[Fact], among: Sequence[Lin], here: Context, turn: int
) -> tuple[list[int], list[_Pair]] | None:
    """Return which facts, and which entries of S, are needed at a generic point."""
    cvxpy = _solver()
    point = SearchPoint(kernel, here, turn)
    products = {pair: _product(among, pair) for pair in _pairs(len(among))}
    bodies = [claim.body, *(fact.claim.body for fact in facts), *products.values()]
    atoms = atoms_of(bodies)
    table = np.array([[point.of(one.terms.get(atom)) for one in bodies] for atom in atoms], dtype=float)
    sizes = np.maximum(np.abs(table).max(axis=1, initial=0.0), 1e-12)
    table = (table / sizes[:, None]).reshape(len(atoms), len(bodies))
    numbers = np.array([point.of(one.terms.get(NUMBER)) for one in bodies[: len(facts) + 1]], dtype=float)
    weights = cvxpy.Variable(len(facts)) if facts else None
    matrix = cvxpy.Variable((len(among), len(among)), PSD=True)
    # A pair stands in the matrix twice.
    entries = cvxpy.hstack([matrix[pair] * (1 if pair[0] == pair[1] else 2) for pair in products])
    left = table[:, 1 + len(facts) :] @ entries
    limits = []
    if weights is not None:
        left = left + table[:, 1 : len(facts) + 1] @ weights
        unsigned = [number for number, fact in enumerate(facts) if not fact.claim.equality]
        limits += [weights[unsigned] >= 0] if unsigned else []
        limits.append(numbers[1:] @ weights <= numbers[0])
    elif numbers[0] < -_SMALL:
        return None
    prices = np.ones(len(facts) + len(among))
    for _ in range(_ROUNDS):
        cost = prices[len(facts) :] @ cvxpy.diag(matrix)
        if weights is not None:
            cost = cost + prices[: len(facts)] @ cvxpy.abs(weights)
        program = cvxpy.Problem(cvxpy.Minimize(cost), [left == table[:, 0], *limits])
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that a solution is inaccurate: it is a proposal
                program.solve(solver=cvxpy.CLARABEL)
        except cvxpy.SolverError:
            return None
        if program.status not in ("optimal", "optimal_inaccurate") or matrix.value is None:
            return None
        multipliers = [] if weights is None else [float(one) for one in weights.value]
        # What is small costs more the next time: few facts leave little to choose.
        sizes = np.abs([*multipliers, *np.diag(matrix.value)])
        prices = 1.0 / (sizes + _SHARE * max(1e-9, sizes.max()))
    large = _SMALL * max(1.0, *map(abs, multipliers), float(np.abs(matrix.value).max(initial=0.0)))
    chosen = [number for number, one in enumerate(multipliers) if abs(one) > large]
    return chosen, [pair for pair in products if abs(matrix.value[pair]) > large]


def _solver() -> Any:
    try:
        import cvxpy
    except ImportError:
        raise ProofError("squares are searched for with cvxpy, which is not installed: boundlab[solve]") from None
    return cvxpy


def _exactly(
    kernel: Kernel, claim: Claim, facts: Sequence[Fact], among: Sequence[Lin], pairs: Sequence[_Pair], here: Context
) -> Fact:
    """Solve for the multipliers and the matrix in Q(symbols), and write the matrix as squares."""
    bodies = [fact.claim.body for fact in facts]
    products = [_product(among, pair) * (1 if pair[0] == pair[1] else 2) for pair in pairs]
    trouble: Exception | None = None
    for exact in (False, True):
        try:
            found = solved(claim.body, [*bodies, *products], exact=exact)
            matrix = dict(zip(pairs, found[len(facts) :], strict=True))
            parts: list[tuple[Any, Fact]] = list(zip(found[: len(facts)], facts, strict=True))
            for weight, vector in _squares(matrix, among, here):
                parts.append((weight, kernel.square(vector, here)))
            return kernel.combine(claim, parts, here)
        except REFUSED as error:
            trouble = trouble or error
    assert trouble is not None  # noqa: S101  (for the type checker)
    raise trouble


def _squares(matrix: dict[_Pair, Scalar], among: Sequence[Lin], here: Context) -> list[tuple[Scalar, Lin]]:
    """Return d_j and Σ ℓ_ja·u_a with S = Σ d_j·ℓ_j·ℓ_jᵀ; pivots that are 0 have rows of 0."""
    size = len(among)
    left = {pair: matrix.get(pair, ZERO) for pair in _pairs(size)}
    found = []
    for pivot in range(size):
        weight = left[pivot, pivot]
        row = [left[min(pivot, other), max(pivot, other)] for other in range(size)]
        if not weight:
            if any(row[pivot:]):
                raise ProofError("what is left is no sum of squares: 0 stands on a diagonal, and not beside it")
            continue
        if not here.positive(weight):
            raise ProofError(f"what is left is not shown to be a sum of squares: {weight} > 0 is not shown")
        ratios = [ZERO if other < pivot else ONE if other == pivot else row[other] / weight for other in range(size)]
        vector = Lin({})
        for ratio, one in zip(ratios, among, strict=True):
            vector = vector + one * ratio
        found.append((weight, vector))
        for a, b in itertools.combinations_with_replacement(range(pivot + 1, size), 2):
            left[a, b] = left[a, b] - ratios[a] * row[b]
    return found


def _pairs(size: int) -> list[_Pair]:
    return list(itertools.combinations_with_replacement(range(size), 2))


def _product(among: Sequence[Lin], pair: _Pair) -> Expr:
    return dot(among[pair[0]], among[pair[1]])
