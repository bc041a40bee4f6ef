"""The executor whose registers are PEPit points."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, Protocol

from boundlab.arithmetic.pepit import Exact, exact, fraction
from boundlab.tape import Initial, Op, Tape


class Oracle(Protocol):
    """Who knows the gradients: points in, points out."""

    def gradient(self, client: int, point: Any) -> Any:
        """Return a (sub)gradient of f_client at a point; the same one at the same point."""

    def proximal(self, client: int, point: Any, step_size: Exact) -> Any:
        """Return prox_{step_size·f_client}(point); the same one for the same point and step size."""


def run(tape: Tape, start: Any, oracle: Oracle, observe: Callable[[int, Any], None]) -> None:
    """Execute a tape on points.

    Parameters
    ----------
    tape
        The program; its coefficients are read as the fractions that they stand for.
    start
        The PEPit point that START registers hold.
    oracle
        Gradients, as points.
    observe
        Called as observe(m, point) for record m.
    """
    kind = type(start)
    zero = kind(is_leaf=False, decomposition_dict={})
    registers: list[Any] = [
        start if initial == Initial.START else zero if initial == Initial.ZERO else None
        for initial in tape.initial.tolist()
    ]
    affine, descend = tape.affine, tape.descend
    local = tape.local.tolist()
    implicit = tape.implicit.tolist() or [False] * len(descend.dst)
    for op, row in zip(tape.op.tolist(), tape.row.tolist(), strict=True):
        if op == Op.AFFINE:
            terms = range(affine.start[row], affine.start[row + 1])
            registers[affine.dst[row]] = combine(
                kind, [(exact(float(affine.coef[term])), registers[affine.src[term]]) for term in terms]
            )
        elif op == Op.DESCEND:
            point, client = registers[descend.src[row]], int(descend.client[row])
            size = exact(float(descend.step_size[row]))
            for step in range(descend.steps[row]):
                length = size * exact(local[step]) if local else size
                if implicit[row]:
                    point = oracle.proximal(client, point, length)
                    continue
                point = combine(kind, [(Exact(1), point), (-length, oracle.gradient(client, point))])
            registers[descend.dst[row]] = point
        else:
            observe(row, registers[tape.record.src[row]])


def combine(kind: Any, terms: list[tuple[Exact, Any]]) -> Any:
    """Return Σ coefficient·point, without the terms that cancel."""
    total: dict[Any, Fraction] = {}
    for coefficient, point in terms:
        scale = coefficient.value
        for leaf, weight in point.decomposition_dict.items():
            share = fraction(weight) if scale == 1 else scale * fraction(weight)
            total[leaf] = total[leaf] + share if leaf in total else share
    return kind(is_leaf=False, decomposition_dict={leaf: Exact(weight) for leaf, weight in total.items() if weight})


def key(point: Any) -> frozenset[tuple[int, Exact]]:
    """Return what two points have in common exactly if they are the same combination of leaves."""
    weights: Mapping[Any, Any] = point.decomposition_dict
    return frozenset((leaf.counter, weight) for leaf, weight in weights.items())
