"""Models of the facts that a step cites, in which its claim is false: the step does not follow from them.

Nothing else need be true there: the vectors are any with some Gram matrix, and E f_i(u) is any number. So the claim may
still be true in the theorem's setting, by what is not cited. Numbers of clients, iterations and local steps are small,
and every cited fact holds for all values of its indices there, wherever it holds, and not only in the case of the
claim. An index without an upper end is looked at beyond all that the claim names: D[k + 2] ≤ D[k] follows from
D[k + 1] ≤ D[k] for every k, and a model that ends at D[k + 2] does not show otherwise. A semidefinite program proposes
the numbers; what it leaves open is 0, and what is returned has been checked in fractions.
"""

import itertools
import random
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias, final

import numpy as np

from boundlab.prove._instance import Name, UnfitError, named
from boundlab.prove._kernel import Kernel
from boundlab.prove._scalars import ProofError, scalar
from boundlab.prove._terms import Claim, Context, Expr, Fact, VectorFact
from boundlab.prove.models import Ball, Environment, Ground, OutsideError, Real, SymbolNumbers
from boundlab.recheck.kernel import Base, Range, Vec

# Numbers for atoms that meet linear conditions and miss one: proposed by a solver, checked in fractions.

_FEW = 24
_ROOM, _ROUND = 1e-4, (1, 2, 4, 8, 64, 4096, 1 << 20)
_LARGE, _THRIFT = 100.0, 1e-3
_ZERO = Fraction(0)
# By ("1",), ("inner", u, v) or ("value", f, i, u).
Row: TypeAlias = dict[Ground, Fraction]


def solution(goal: Row, equality: bool, rows: Sequence[tuple[Row, bool]]) -> Row | None:
    """Return numbers for atoms with which all rows hold and the goal does not, checked in fractions."""
    if equality:
        return solution(goal, False, rows) or solution({key: -one for key, one in goal.items()}, False, rows)
    keys = sorted({key for row in (goal, *(row for row, _ in rows)) for key in row if key != ("1",)}, key=str)
    vectors = sorted({name for key in keys if key[0] == "inner" for name in key[1:]})
    values = [key for key in keys if key[0] == "value"]
    if not keys:  # numbers alone
        return {("1",): Fraction(1)} if goal.get(("1",), _ZERO) < 0 else None
    if len(vectors) > _FEW:
        return None
    atoms = [("inner", u, v) for u, v in itertools.combinations_with_replacement(vectors, 2)] + values
    for room in (0.0, _ROOM):
        numbers = _proposed(goal, rows, atoms, vectors, room)
        if numbers is None:
            return None
        for below in _ROUND:
            near = [Fraction(round(one * below), below) for one in numbers]
            found = _on_equations(near, rows, atoms)
            if found is not None and _checked(found, goal, rows, vectors):
                return found
    return None


def _proposed(
    goal: Row, rows: Sequence[tuple[Row, bool]], atoms: Sequence[Ground], vectors: Sequence[Name], room: float
) -> list[float] | None:
    try:
        import cvxpy
    except ImportError:
        return None
    cp: Any = cvxpy
    place = {name: number for number, name in enumerate(vectors)}
    count = len(vectors)
    first = count * (count + 1) // 2
    gram: Any = cp.Variable((count, count), PSD=True) if count else None
    free: Any = cp.Variable(len(atoms) - first) if len(atoms) > first else None

    def of(row: Row) -> Any:
        total: Any = float(row.get(("1",), _ZERO))
        for number, key in enumerate(atoms):
            if key in row:
                total = total + float(row[key]) * (
                    gram[place[key[1]], place[key[2]]] if number < first else free[number - first]
                )
        return total

    gap = cp.Variable()
    limits = [of(goal) <= -gap, gap <= 1]
    limits += [of(row) == 0 if equation else of(row) >= room for row, equation in rows]
    size: Any = 0.0
    if gram is not None:
        limits += [cp.trace(gram) <= _LARGE, gram >> room * np.eye(count)]
        size = size + cp.trace(gram)
    if free is not None:
        limits += [cp.abs(free) <= _LARGE]
        size = size + cp.norm1(free)
    program = cp.Problem(cp.Maximize(gap - _THRIFT * size), limits)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that a solution is inaccurate: it is a proposal
            program.solve(solver=cp.CLARABEL)
    except cp.SolverError:
        return None
    if program.status not in ("optimal", "optimal_inaccurate") or gap.value is None or gap.value < 10 * _ROOM:
        return None
    numbers = [] if gram is None else [gram.value[place[key[1]], place[key[2]]] for key in atoms[:first]]
    return [float(one) for one in [*numbers, *([] if free is None else free.value)]]


def _on_equations(numbers: Sequence[Fraction], rows: Sequence[tuple[Row, bool]], atoms: Sequence[Ground]) -> Row | None:
    """Return numbers near these that meet all equations exactly: each solved for one atom after the other."""
    found = dict(zip(atoms, numbers, strict=True))
    left = [dict(row) for row, equation in rows if equation]
    solved: list[tuple[Ground, Row]] = []
    while left:
        row = {key: one for key, one in left.pop().items() if one}
        free = [key for key in row if key != ("1",)]
        if not free:
            if row:
                return None
            continue
        pivot = max(free, key=lambda key: (key[0] == "value", abs(row[key]), str(key)))
        own = {key: -one / row[pivot] for key, one in row.items() if key != pivot}
        left = [_with(one, pivot, own) for one in left]
        solved = [(key, _with(one, pivot, own)) for key, one in solved]
        solved.append((pivot, own))
    for pivot, own in solved:
        found[pivot] = sum((one * (Fraction(1) if key == ("1",) else found[key]) for key, one in own.items()), _ZERO)
    return {**found, ("1",): Fraction(1)}


def _with(row: Row, pivot: Ground, own: Row) -> Row:
    weight = row.get(pivot, _ZERO)
    if not weight:
        return row
    found = {key: one for key, one in row.items() if key != pivot}
    for key, one in own.items():
        found[key] = found.get(key, _ZERO) + weight * one
    return found


def _checked(found: Row, goal: Row, rows: Sequence[tuple[Row, bool]], vectors: Sequence[Name]) -> bool:
    """Return whether the goal is < 0, all rows hold, and the Gram matrix is positive semidefinite: in fractions."""

    def at(row: Row) -> Fraction:
        return sum((one * found[key] for key, one in row.items()), _ZERO)

    if at(goal) >= 0 or any(at(row) < 0 or (equation and at(row)) for row, equation in rows):
        return False
    matrix = [[found["inner", *sorted((u, v))] for v in vectors] for u in vectors]
    return _positive_semidefinite(matrix)


def _positive_semidefinite(matrix: list[list[Fraction]]) -> bool:
    size = len(matrix)
    for pivot in range(size):
        weight = matrix[pivot][pivot]
        if weight < 0 or (not weight and any(matrix[pivot][pivot:])):
            return False
        for a in range(pivot + 1, size):
            share = matrix[a][pivot] / weight if weight else _ZERO
            for b in range(pivot + 1, size):
                matrix[a][b] -= share * matrix[pivot][b]
    return True


_TRIES, _MOST, _LAST = 8, 40, 2
# How far beyond that facts are looked at, by how many of their indices have no end; how many atoms they may have there,
# and how often what fails there is added to what the solver is told.
_BEYOND, _MOST_BEYOND, _ROUNDS = (0, 8, 4, 2), 400, 6
_SIMPLE = tuple(Fraction(*one) for one in ((1, 1), (2, 1), (1, 2), (3, 1), (0, 1), (1, 3), (1, 4), (4, 1), (3, 2)))


@final
@dataclass(frozen=True)
class FreeModel:
    """Numbers for symbols and atoms: all cited facts hold, and the claim is false.

    Parameters
    ----------
    symbols, atoms
        The numbers, by text; atoms that are left out are 0.
    where
        The indices at which the claim is false.
    left, right
        Its two sides there.
    relation
        What is claimed of them.
    """

    symbols: tuple[tuple[str, Fraction], ...]
    atoms: tuple[tuple[str, Fraction], ...]
    where: tuple[tuple[str, Fraction], ...]
    left: Fraction
    right: Fraction
    relation: str

    def __str__(self) -> str:
        symbols = ", ".join(f"{name} = {value}" for name, value in self.symbols)
        atoms = ", ".join([*(f"{name} = {value}" for name, value in self.atoms), *["all others 0"] * bool(self.atoms)])
        given = f", with {'; '.join(one for one in (symbols, atoms) if one)}" if symbols or atoms else ""
        place = ", ".join(f"{name} = {value}" for name, value in self.where)
        sides = f"left = {self.left}, right = {self.right}"
        return f"all that is cited holds, and the claim does not{given}: {f'at {place}, ' if place else ''}{sides}"


def free_model(
    kernel: Kernel,
    claim: Claim,
    facts: Sequence[Fact],
    equations: Sequence[VectorFact],
    context: Context,
    *,
    seed: int = 0,
) -> FreeModel | None:
    """Return a model of facts and equations in which a claim is false; None where none is found.

    Parameters
    ----------
    context
        The case in which it is claimed.
    """
    drawn = random.Random(f"boundlab free {seed}")  # noqa: S311  (numbers to try, no secret)
    for turn in range(_TRIES):
        try:
            found = _Attempt(kernel, context, drawn, turn).model(claim, facts, equations)
        except (UnfitError, ProofError):
            continue
        if found is not None:
            return found
    return None


class _Attempt(SymbolNumbers):
    """Numbers for all symbols, and what the facts say at all their indices."""

    def __init__(self, kernel: Kernel, context: Context, drawn: random.Random, turn: int) -> None:
        super().__init__({}, {})
        self._kernel, self._context, self._drawn, self._turn = kernel, context, drawn, turn
        self._most = _MOST
        self._named = {*kernel.values, *kernel.roots, *kernel.exponents, *kernel.families}
        self._fixed = [name for name in context.order() if not self._is_index(name)]
        for name in self._fixed:
            known = context.find(name)
            if known is None or name in self._named:
                continue
            if known.arity:
                self.families[name] = {
                    at: self._in(known.of(scalar(at[0])) if known.moving else known)
                    for at in itertools.product(range(_LAST + 2), repeat=known.arity)
                }
            else:
                self.values[name] = self._in(known)
        self.read(kernel)

    def _is_index(self, name: str) -> bool:
        """Return whether a symbol takes all values of its range in one model: no number of the theorem."""
        known = self._context.find(name)
        own = name in self._kernel.parameters or name in self._named
        return known is not None and known.integer and not known.arity and not own

    def _in(self, known: Range) -> Fraction:
        low, high = (None if end is None else self._exact(self.number(end, {})) for end in (known.low, known.high))
        simple = list(_SIMPLE)
        if self._turn:  # first the simplest
            self._drawn.shuffle(simple)
        middle = [] if low is None or high is None or known.integer else [(low + high) / 2]
        for value in (*simple, *middle, *(end for end in (low, high) if end is not None)):
            if known.integer and (value.denominator != 1 or value > _LAST):
                continue
            if (low is None or value > low or (value == low and not known.above)) and (
                high is None or value < high or (value == high and not known.below)
            ):
                return value
        raise OutsideError("a range holds no simple number")

    def member(self, name: str, place: tuple[int, ...]) -> Real:
        """Return a member of a family; one that has no value yet gets one at an end of its range, if there is one."""
        own, known = self.families.get(name), self._context.find(name)
        if own is not None and known is not None and place not in own:
            if known.moving and place[0] < 0:
                raise OutsideError(f"{name} has no range at {place[0]}")
            here = known.of(scalar(place[0])) if known.moving else known
            low, high = (None if end is None else self._exact(self.number(end, {})) for end in (here.low, here.high))
            ends = [] if here.above or here.below else [one for one in (low, high) if one is not None]
            self.families[name] = {**own, place: ends[self._turn % len(ends)] if ends else self._in(here)}
        return super().member(name, place)

    @staticmethod
    def _exact(value: Any) -> Fraction:
        if isinstance(value, Ball):
            raise OutsideError("a number is not rational")
        return Fraction(value)

    # ------------------------------------------------------------------ what is said

    def model(self, claim: Claim, facts: Sequence[Fact], equations: Sequence[VectorFact]) -> FreeModel | None:
        """Return a model, where the semidefinite program finds one."""
        self._defined: dict[Name, dict[Name, Fraction]] = {}
        self._met = claim.names().union(
            *(one.claim.names() for one in facts), *(one.right.names() for one in equations)
        )
        cited: list[Fact | VectorFact] = [*facts, *equations]
        for fact in cited:
            self._not_about_every_number(fact)
        for equation in equations:
            self._define(equation)
        rows = [(row, one.claim.equality) for one in facts for row in self._said(one)]
        if len(rows) > _MOST * 4:
            return None
        self._most, goals = _MOST_BEYOND, [(at, self._row(claim.body, at)) for at in self._places(claim.names())]
        beyond = [(row, one.claim.equality) for one in facts for row in self._said(one, beyond=True)]
        for at, goal in goals:
            if len(goal) <= _MOST and (found := self._solved(goal, claim.equality, rows, beyond)) is not None:
                return self._told(claim, at, found)
        return None

    @staticmethod
    def _solved(goal: Row, equality: bool, rows: list[tuple[Row, bool]], beyond: list[tuple[Row, bool]]) -> Row | None:
        """Return numbers that meet all rows, those of indices beyond too: what is missed there is told the solver."""
        told = list(rows)
        for _ in range(_ROUNDS):
            found = solution(goal, equality, told)
            if found is None:
                return None
            missed = [(row, equation) for row, equation in beyond if not _met(row, equation, found)]
            if not missed:
                return found
            told += missed[:_MOST]
        return None

    def _not_about_every_number(self, fact: Fact | VectorFact) -> None:
        """Refuse a fact about vectors that holds for every value of a number: a model has one value for it."""
        if not fact.axioms:
            return  # it is algebra, and true whatever the numbers and the vectors are
        own = fact.claim.names() if isinstance(fact, Fact) else fact.left.names() | fact.right.names()
        kept = self._kernel.parameters | self._named | fact.context.checked.fixed
        if more := sorted(name for name in fact.context.closure(own) - kept if not self._is_index(name)):
            raise OutsideError(f"a fact holds for every {', '.join(more)}")

    def _said(self, fact: Fact, *, beyond: bool = False) -> Iterator[Row]:
        for at in self._places(fact.claim.names(), fact.context, beyond=beyond):
            row = self._row(fact.claim.body, at)
            if row.keys() <= {("1",)}:
                value = row.get(("1",), _ZERO)
                if value < 0 or (value and fact.claim.equality):
                    raise OutsideError("a fact about numbers is not met")
                continue
            yield row

    def _places(
        self, names: set[str], context: Context | None = None, *, beyond: bool = False
    ) -> Iterator[Environment]:
        here = context or self._context
        closed = here.closure(names)
        free = [name for name in here.order() if name in closed and self._is_index(name)]
        open_ones = sum(1 for name in free if (known := here.find(name)) is not None and known.high is None)
        more = _BEYOND[min(open_ones, len(_BEYOND) - 1)] if beyond else 0
        yield from self.each(free, {}, here, lambda low: low + _LAST + more)

    def between(self, known: Range, at: Environment) -> tuple[Fraction, Fraction | None]:
        """Return the ends of a range; raises where there is no lower one."""
        low, high = (None if end is None else self._exact(self.number(end, at)) for end in (known.low, known.high))
        if low is None:
            raise OutsideError("an index has no lowest value")
        return low, high

    def _row(self, value: Expr, at: Environment) -> Row:
        """Return what an expression is of, in atoms with numbers for indices and free vectors."""
        found: Row = {}
        for weight, atom, where in self.parts(value, at):
            for key, own in self._atoms(atom, where):
                found[key] = found.get(key, _ZERO) + self._exact(weight) * own
        if len(found) > self._most:
            raise OutsideError("there are too many atoms")
        return {key: own for key, own in found.items() if own}

    def _atoms(self, atom: Base, where: Environment) -> Iterator[tuple[Ground, Fraction]]:
        if atom.kind == "one":
            yield ("1",), Fraction(1)
        elif atom.kind == "inner":
            first, second = (self._free(self._name(one, where)) for one in atom.vectors)
            for (u, a), (v, b) in itertools.product(first.items(), second.items()):
                yield ("inner", *sorted((u, v))), a * b
        elif atom.kind == "value":
            (point,) = atom.vectors
            yield ("value", atom.function, self.whole(atom.indices, where), self._name(point, where)), Fraction(1)
        else:
            raise OutsideError(f"{atom.key} has no value in a free model")

    def _name(self, vector: Vec, where: Environment) -> Name:
        return vector.name, self.whole(vector.indices, where)

    def _free(self, name: Name) -> dict[Name, Fraction]:
        """Return a vector in terms of those that no equation defines."""
        if name not in self._defined:
            return {name: Fraction(1)}
        found: dict[Name, Fraction] = {}
        for other, weight in self._defined[name].items():
            for one, own in self._free(other).items():
                found[one] = found.get(one, _ZERO) + weight * own
        return found

    def _define(self, equation: VectorFact) -> None:
        """Take an equation u = Σ …, at all its indices, for what u is."""
        left = equation.left.vec
        if left is None:
            raise OutsideError("an equation defines no single vector")
        names = equation.left.names() | equation.right.names()
        for at in self._places(names, equation.context, beyond=True):
            name, right = self._name(left, at), self._vectors(equation, at)
            if name in self._defined or name in right or any(name in self._free(one) for one in right):
                raise OutsideError("equations go round")
            self._defined[name] = right

    def _vectors(self, equation: VectorFact, at: Environment) -> dict[Name, Fraction]:
        found: dict[Name, Fraction] = {}
        for atom, own in equation.right.terms.items():
            weight = self._exact(self.number(own, at))
            for part, base, where in self._terms(atom, 0, at):
                name = self._name(base.vectors[0], where)
                found[name] = found.get(name, _ZERO) + weight * self._exact(part)
        return found

    # ------------------------------------------------------------------ in words

    def _told(self, claim: Claim, at: Environment, found: Row) -> FreeModel:
        left, right = (
            sum((found.get(key, _ZERO) * one for key, one in self._row(side, at).items()), _ZERO)
            for side in (claim.left, claim.right)
        )
        symbols = tuple(
            (name, self._exact(self.values[name])) for name in self._fixed if name in self._met & self.values.keys()
        )
        atoms = tuple((_text(key), value) for key, value in sorted(found.items(), key=str) if value and key != ("1",))
        return FreeModel(symbols, atoms, tuple(at.items()), left, right, claim.relation)


def _met(row: Row, equation: bool, found: Row) -> bool:
    value = sum((own * found.get(key, _ZERO) for key, own in row.items()), _ZERO)
    return not value if equation else value >= 0


def _text(key: Ground) -> str:
    if key[0] == "inner":
        one, other = map(named, key[1:])
        return f"E‖{one}‖²" if one == other else f"E⟨{one}, {other}⟩"
    which = f"_{key[2][0]}" if key[2] else ""
    return f"E {key[1]}{which}({named(key[3])})"
