"""Finds multipliers for the kernel to check; whatever it does, it can at worst fail.

At a point inside all ranges a linear program finds few facts that suffice; over these the multipliers are solved for in
Q(symbols). At a point on the border of a range other facts would do, and not elsewhere: so it is a generic one.
"""

import itertools
import math
import random
import warnings
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from boundlab.prove._kernel import Kernel
from boundlab.prove._scalars import FIRST, NUMBER, REFUSED, ProofError, Scalar, shape
from boundlab.prove._terms import Claim, Context, Expr, Fact, Lin, dot
from boundlab.randomness import Floats
from boundlab.recheck.kernel import ONE, ZERO, Atom, Monomial, Symbol

_ATTEMPTS = 6
_FEW = 5
_TURNS, _TINY = 10, 1e-300


def derive(kernel: Kernel, claim: Claim, facts: Sequence[Fact], context: Context | None = None) -> Fact:
    """Return the claim as a combination of facts, with multipliers that are searched for.

    Raises
    ------
    ProofError
        If none are found; it says what is left over.
    """
    here = kernel.deepest(facts, context)
    for fact in facts:
        # A fact that says it already needs no search, and no point at which its numbers may be huge.
        enough = fact.claim.equality or not claim.equality
        alike = enough and len(fact.claim.body.terms) == len(claim.body.terms)
        if alike and not (fact.claim.body - claim.body).terms:
            return kernel.combine(claim, [(1, fact)], here)
    trouble = ""
    tried: set[tuple[int, ...]] = set()
    # At a point a number may be large enough by chance: where all is numbers, the facts are to make up the claim.
    orders = (True, False) if claim.body.number is not None else (False, True)
    if claim.body.number is not None and (found := _added(kernel, claim, facts, here)) is not None:
        return found
    for exact, turn in itertools.product(orders, range(_ATTEMPTS)):
        try:
            support, left = _support(kernel, claim, facts, here, turn, exact=exact or claim.equality)
        except REFUSED as error:
            trouble = trouble or str(error)
            continue
        if support is None:
            trouble = trouble or f"no combination of the {len(facts)} facts gives it; {left}"
            continue
        if support in tried:
            continue
        tried.add(support)
        chosen = [facts[number] for number in support]
        try:
            bodies = [fact.claim.body for fact in chosen]
            parts = list(zip(solved(claim.body, bodies, exact=exact or claim.equality), chosen, strict=True))
            return kernel.combine(claim, parts, here)
        except REFUSED as error:
            trouble = f"no multipliers that suffice for all values were found: {error}"
    raise ProofError(trouble)


def _added(kernel: Kernel, claim: Claim, facts: Sequence[Fact], here: Context) -> Fact | None:
    """Return a claim about numbers as the sum of facts, equations with either sign; None where it is none.

    One equation between numbers leaves the multipliers of several facts open: the plain sum is what is mostly meant.
    """
    if not 1 < len(facts) <= _FEW:
        return None
    signs = [(1, -1) if fact.claim.equality else (1,) for fact in facts]
    for one in itertools.product(*signs):
        body = claim.body
        for sign, fact in zip(one, facts, strict=True):
            body = body - fact.claim.body * sign
        left = body.number
        if left is not None and (not left or (not claim.equality and here.nonnegative(left))):
            return kernel.combine(claim, list(zip(one, facts, strict=True)), here)
    return None


def atoms_of(bodies: Iterable[Expr]) -> list[Atom]:
    """Return all atoms but 1, in their order."""
    found = {atom for one in bodies for atom in one.terms}
    return sorted((atom for atom in found if atom != NUMBER), key=lambda atom: atom.key)


def _support(
    kernel: Kernel, claim: Claim, facts: Sequence[Fact], here: Context, turn: int, *, exact: bool
) -> tuple[tuple[int, ...] | None, str]:
    from scipy.optimize import linprog

    if not facts:
        return (), ""
    point = SearchPoint(kernel, here, turn)
    atoms = [*atoms_of([claim.body, *(fact.claim.body for fact in facts)]), NUMBER]
    rows = [[point.of(fact.claim.body.terms.get(atom)) for fact in facts] for atom in atoms]
    right = [point.of(claim.body.terms.get(atom)) for atom in atoms]
    table, goal = _balanced(np.array(rows, dtype=float), np.array(right, dtype=float))
    cost = np.array([1.0 + 0.01 * ((turn * 7 + place * 3) % 11) for place in range(len(facts))])
    # |λ| of an equation: two variables.
    signed = [place for place, fact in enumerate(facts) if fact.claim.equality]
    table, cost = np.hstack([table, -table[:, signed]]), np.concatenate([cost, cost[signed]])
    if exact:
        found = linprog(cost, A_eq=table, b_eq=goal, method="highs-ds")
    else:
        rest = {"A_ub": table[-1:], "b_ub": goal[-1:] + 1e-9}
        found = linprog(cost, **rest, A_eq=table[:-1], b_eq=goal[:-1], method="highs-ds")
    if not found.success:
        missing = [str(Expr({a: ONE})) for a, row, r in zip(atoms, rows, right, strict=True) if r and not any(row)]
        return (
            None,
            f"in none of them stands {', '.join(missing)}" if missing else "at a point of the ranges none exists",
        )
    values = found.x[: len(facts)].copy()
    for place, own in enumerate(signed):
        values[own] -= found.x[len(facts) + place]
    return tuple(int(place) for place in np.flatnonzero(np.abs(values) > 1e-9 * max(1.0, np.abs(values).max()))), ""


def _balanced(table: Floats, right: Floats) -> tuple[Floats, Floats]:
    """Return a system whose rows and columns have largest entries near 1, so that no fact is cheap by its units.

    Each is divided by the root of its largest entry, again and again (D. Ruiz, RAL-TR-2001-034).
    """
    for _ in range(_TURNS):
        heights = np.sqrt(np.maximum(np.abs(np.column_stack([table, right])).max(axis=1), _TINY))
        table, right = table / heights[:, None], right / heights
        table = table / np.sqrt(np.maximum(np.abs(table).max(axis=0), _TINY))
    return table, right / max(float(np.abs(right).max()), _TINY)


class SearchPoint:
    """A generic point inside all ranges, in floats: for choosing, never for deciding."""

    def __init__(self, kernel: Kernel, context: Context, seed: int) -> None:
        self._kernel, self._context = kernel, context
        self._random = random.Random(f"boundlab {seed}")  # noqa: S311  (a generic point, no secret)
        self._known: dict[str, float] = {}

    def of(self, value: Scalar | None) -> float:
        """Return a number there.

        Raises
        ------
        ProofError
            If it has none, or one that is too large for a float.
        """
        if value is None:
            return 0.0
        try:
            top, factors = shape(value)
            found = self._sum(top)
            for factor, count in factors:
                found /= self._sum(shape(factor).top) ** count
        except (ZeroDivisionError, OverflowError):
            raise ProofError(f"{value} has no value at a point of the ranges") from None
        return found

    def _sum(self, top: Iterable[tuple[Monomial, Fraction]]) -> float:
        return math.fsum(
            float(value) * math.prod(self._symbol(symbol) ** power for symbol, power in powers) for powers, value in top
        )

    def _symbol(self, symbol: Symbol) -> float:
        if symbol.key not in self._known:
            self._known[symbol.key] = self._draw(symbol)
        return self._known[symbol.key]

    def _draw(self, symbol: Symbol) -> float:
        if symbol.exponent is not None:
            base, power = self._symbol(symbol.base), self.of(symbol.exponent)
            # Exponents are whole; a point may lie between.
            return float(base**power if base >= 0 else base ** round(power))
        if symbol.name in self._kernel.roots:
            return math.sqrt(max(self.of(self._kernel.roots[symbol.name]), 0.0))
        if symbol.name in self._kernel.values:
            return self.of(self._kernel.values[symbol.name])
        family = self._kernel.families.get(symbol.name) or self._kernel.exponents.get(symbol.name)
        if family is not None:
            if symbol.indices:
                family = family.put(dict.fromkeys(FIRST.names(), symbol.indices[0]))
            return math.exp(self.of(family)) if symbol.name in self._kernel.exponents else self.of(family)
        known = self._context.find(symbol.name)
        part = self._random.uniform(0.15, 0.85)
        if known is not None and known.moving and symbol.indices:
            known = known.of(symbol.indices[0])
        if known is None or (known.low is None and known.high is None):
            return part * 3 - 1.5
        low, high = (None if end is None else self.of(end) for end in (known.low, known.high))
        if low is None:
            return float(high) - 3 * part  # type: ignore[arg-type]
        if high is None:
            return low + (float(self._random.randint(2, 6)) + part * (not known.integer))
        return low + part * (high - low)


def solved(whole: Expr, parts: Sequence[Expr], *, exact: bool) -> list[Scalar]:
    """Return multipliers with which independent parts make up the whole, as quotients of polynomials.

    Parameters
    ----------
    exact
        Whether the numbers in them are to agree, too.

    Raises
    ------
    ProofError
        If there are none.
    """
    atoms = atoms_of([whole, *parts])
    if exact or not atoms or any(one.number is not None for one in parts):
        atoms.append(NUMBER)
    table = [[one.terms.get(atom) for one in parts] for atom in atoms]
    right = [whole.terms.get(atom) for atom in atoms]
    if not parts:
        return []
    rows = [[one or ZERO for one in (*row, r)] for row, r in zip(table, right, strict=True)]
    found = [ZERO] * len(parts)
    for row, column in _eliminated(rows, len(parts)):
        found[column] = row[-1]
    return found


def _eliminated(rows: list[list[Scalar]], many: int) -> list[tuple[list[Scalar], int]]:
    """Return the rows of a system that say something, each solved for the unknown of one column."""
    done: list[tuple[list[Scalar], int]] = []
    for column in range(many + 1):
        first = next((row for row in rows if row[column]), None)
        if first is None:
            continue
        if column == many:
            raise ProofError("the facts that suffice at a point do not suffice elsewhere")
        pivot = [one / first[column] for one in first]
        rows = [_less(row, pivot, column) for row in rows if row is not first]
        done = [*((_less(row, pivot, column), place) for row, place in done), (pivot, column)]
    return done


def _less(row: list[Scalar], pivot: list[Scalar], column: int) -> list[Scalar]:
    times = row[column]
    return [one - times * own for one, own in zip(row, pivot, strict=True)] if times else row


# Finds squares with which facts make up a claim: by a semidefinite program at a point, then exactly.
#
# Squares of the vectors, their sums and differences are tried first. Otherwise what is left of the claim when multiples
# of the facts are taken away is to be Σ S_ab·E⟨u_a, u_b⟩ with a matrix S ⪰ 0. At a generic point a solver says which
# facts and which entries of S are needed; these are solved for in Q(symbols), and S = Σ d_j·ℓ_j·ℓ_jᵀ gives the squares
# E‖Σ ℓ_ja·u_a‖² with weights d_j. The kernel checks all of it.

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
