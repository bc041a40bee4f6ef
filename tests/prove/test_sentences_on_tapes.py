"""What sheets say of moves is what the algorithms' own tapes do, as algebra: whatever the functions are."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from math import sqrt
from typing import Any

import pytest

from boundlab.classes import MOVE, Combination, Formal, X, own_runs
from boundlab.options import Options
from boundlab.prove import ProofError
from boundlab.prove._scalars import scalar
from boundlab.prove._terms import Lin
from boundlab.prove.models import OutsideError, SymbolNumbers
from boundlab.prove.settings import setting_of
from boundlab.registry import lookup
from boundlab.theorems import load_theorem

F = Fraction
ALPHA, LAST = F(1, 8), 5
Vectors = dict[tuple[str, tuple[int, ...]], Combination]


def passes_of(run: Formal, t: int) -> dict[int, int]:
    """Return which pass is whose, of those in update t."""
    return {run.passes[j].client: j for kind, j in run.models[t] if kind == MOVE}


def slope(j: int, size: Fraction) -> Combination:
    """Return the gradient of a pass of one step out of what it moves."""
    return {(MOVE, j): -1 / size}


def unrolled(run: Formal, value: Combination) -> Combination:
    """Return a combination of x[0] and of moves alone."""
    found = dict(value)
    while later := [name for name in found if name[0] == X and name[1]]:
        name = max(later)
        share = found.pop(name)
        for part, weight in run.models[name[1] - 1].items():
            found[part] = found.get(part, F(0)) + share * weight
    return found


def of_rounds(run: Formal, size: Any, at: str, shift: int = 0) -> Vectors:
    """Return models x[t], where passes begin, and their gradients g[i, t + shift]."""
    found: Vectors = {("x", (t,)): {(X, t): F(1)} for t in range(len(run.models) + 1)}
    found["x", (-1,)] = {(X, 0): F(1)}
    for t in range(len(run.models)):
        for i, j in passes_of(run, t).items():
            found[at, (t,)] = run.passes[j].start
            found["g", (i, t + shift)], found["e", (i, t)] = slope(j, size(t)), {}
    return found


def in_turn(run: Formal) -> tuple[Vectors, dict[str, Mapping[tuple[int, ...], Fraction]]]:
    """Return the points of passes z[t, q], gradients there, and whose they are."""
    found: Vectors = {("x", (t,)): {(X, t): F(1)} for t in range(len(run.models) + 1)}
    clients: dict[tuple[int, ...], Fraction] = {}
    for t in range(len(run.models)):
        order = sorted(passes_of(run, t).values())
        for q, j in enumerate(order):
            found["z", (t, q)], found["g", (t, q)] = run.passes[j].start, slope(j, ALPHA)
            clients[t, q] = F(run.passes[j].client)
        found["z", (t, len(order))] = {**run.passes[order[-1]].start, (MOVE, order[-1]): F(1)}
    return found, {"c": clients}


def sequence(many: int) -> list[float]:
    found = [1.0]
    while len(found) < many:
        found.append((1 + sqrt(1 + 4 * found[-1] ** 2)) / 2)
    return found


def case(name: str) -> tuple[str, dict[str, Any]]:
    alpha = str(float(ALPHA))
    return {
        "gd": ("classics.gd.convex", {"alpha": alpha}),
        "gd, c/(k + d)": ("classics.sgd.distance.decreasing", {"c": "2", "d": "3"}),
        "proximal_point": ("classics.proximal-point", {"alpha": alpha}),
        "heavy_ball": ("classics.heavy-ball", {"alpha": alpha, "beta": "0.5"}),
        "nesterov": ("classics.nesterov", {"alpha": alpha}),
        "nesterov, q": ("classics.nesterov.strongly-convex", {"alpha": alpha, "q": "0.25"}),
        "incremental": ("classics.incremental", {"alpha": alpha, "order": "shuffled"}),
    }[name]


def numbers(name: str, clients: int, families: dict[str, Any]) -> SymbolNumbers:
    values = {"n": F(clients), "alpha": ALPHA, "beta": F(1, 2), "root": F(1, 2), "mu": F(1), "L": F(2)}
    if name == "nesterov":
        families = {"t": {(k,): F(one) for k, one in enumerate(sequence(LAST + 3))}}
    return SymbolNumbers(values, families)


def value(own: SymbolNumbers, side: Lin, vectors: Vectors) -> Combination:
    """Return a side of an equation as a combination of models and moves; raise KeyError where a vector is none."""
    found: Combination = {}
    for atom, coefficient in side.terms.items():
        for weight, base, where in own._terms(atom, 0, {}):
            (vector,) = base.vectors
            total = F(own.number(coefficient, {})) * F(weight)
            for part, share in vectors[vector.name, own.whole(vector.indices, where)].items():
                found[part] = found.get(part, F(0)) + total * share
    return {part: share for part, share in found.items() if share}


def equations(s: Any) -> Iterator[tuple[str, Any]]:
    for name, own in s.sentences.said.items():
        for k in range(LAST):
            of = own.of.split(", ") if own.of else []
            if ":" in own.of or (not of and k):
                continue
            for q in range(3) if "q" in of else [0]:
                try:
                    said = s.reader.claim(own.says, {"k": scalar(k), "q": scalar(q)})
                except ProofError:
                    continue
                if isinstance(said, tuple):
                    yield name, said


@pytest.mark.sweep(3)
@pytest.mark.parametrize("clients", [1, 2, 3])
@pytest.mark.parametrize(
    "name", ["gd", "gd, c/(k + d)", "proximal_point", "heavy_ball", "nesterov", "nesterov, q", "incremental"]
)
def test_each_equation_of_a_sheet_holds_on_the_tapes_of_its_algorithm(name: str, clients: int) -> None:
    if name == "proximal_point" and clients > 1:
        pytest.skip("the proximal step of a mean is no mean of proximal steps")
    theorem, options = case(name)
    s, algorithm = setting_of(load_theorem(theorem)), lookup("algorithms", load_theorem(theorem).algorithm)
    parameters, seen = algorithm.read(Options(algorithm.id, options)), set[str]()
    for run in own_runs(algorithm, parameters, clients):
        families: dict[str, Any] = {}
        if name == "incremental":
            vectors, families = in_turn(run)
        elif name == "gd, c/(k + d)":
            # With mu = 1 and L = 2 the theorem's c and d are 2 and 3.
            vectors = of_rounds(run, lambda t: F(2, t + 3), "y")
        else:
            vectors = of_rounds(run, lambda _: ALPHA, "y", shift=int(name == "proximal_point"))
        own = numbers(name, clients, families)
        for sentence, (left, right) in equations(s):
            try:
                one, other = (unrolled(run, value(own, side, vectors)) for side in (left, right))
            except (KeyError, OutsideError):
                continue  # a vector that no tape has: an average, noise, or one beyond the end
            parts = one.keys() | other.keys()
            assert all(abs(one.get(p, F(0)) - other.get(p, F(0))) < F(1, 10**9) for p in parts), sentence
            seen.add(sentence)
    assert "move" in seen
