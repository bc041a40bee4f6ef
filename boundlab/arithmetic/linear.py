"""Steps of quadratics in exact numbers and in balls."""

from collections.abc import Sequence
from typing import Any, final

from boundlab.arithmetic import numbers
from boundlab.arithmetic.numbers import Scalar
from boundlab.arithmetic.problem import InexactError, Vector


@final
class LinearSteps:
    """Local steps x ← (I − size·A_i)x + size·r_i, where each point enters once: balls shrink as the points do.

    Parameters
    ----------
    parts
        A_i, d rows of d entries, and r_i, d entries, of each client.
    """

    def __init__(self, parts: Sequence[tuple[list[Vector], Vector]]) -> None:
        self._parts = parts
        self._known: dict[int, tuple[Any, Any, Any]] = {}

    def step(self, client: int, x: Vector, size: Scalar) -> Vector:
        """Return the result of one step."""
        if isinstance(size, numbers.flint().arb):
            matrix, shift = self._balls(client, size)
            return list((matrix * numbers.flint().arb_mat(len(x), 1, x) + shift).entries())
        A, right = self._parts[client]
        out = []
        for j, entries in enumerate(A):
            total = (1 - size * entries[j]) * x[j] + size * right[j]
            for k, entry in enumerate(entries):
                if k != j and entry != 0:
                    total = total - (size * entry) * x[k]
            out.append(total)
        return out

    def implicit_step(self, client: int, x: Vector, size: Scalar) -> Vector:
        """Return the solution z of z + size·(A_i z − r_i) = x.

        Raises
        ------
        SpecError
            If the numbers have a root.
        """
        (A, right), d = self._parts[client], len(x)
        goal = [entry + size * shift for entry, shift in zip(x, right, strict=True)]
        entries = [int(j == k) + size * entry for j, row in enumerate(A) for k, entry in enumerate(row)]
        if not any(entries[j * d + k] != 0 for j in range(d) for k in range(d) if j != k):
            return [entry / entries[j * d + j] for j, entry in enumerate(goal)]
        if any(isinstance(entry, numbers.Surd) for entry in (*entries, *goal)):
            raise InexactError("proximal steps of this problem are not computed beside a root")
        balls = any(isinstance(entry, numbers.flint().arb) for entry in (*entries, *goal))
        table = numbers.flint().arb_mat if balls else numbers.flint().fmpq_mat
        return list(table(d, d, entries).solve(table(d, 1, goal)).entries())

    def _balls(self, client: int, size: Scalar) -> tuple[Any, Any]:
        """Return I − size·A_i and size·r_i, those of the last size: most runs have one."""
        key = numbers.hashable(size), numbers.flint().ctx.prec
        if client not in self._known or self._known[client][0] != key:
            A, right = self._parts[client]
            d, table = len(right), numbers.flint().arb_mat
            matrix = table(d, d, [int(j == k) - size * entry for j, row in enumerate(A) for k, entry in enumerate(row)])
            self._known[client] = key, matrix, table(d, 1, [size * entry for entry in right])
        return self._known[client][1:]
