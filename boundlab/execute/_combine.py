"""Linear combinations of registers on tensors: many tapes at a time, or on a CPU register by register."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, final

import numpy as np
import torch
from numpy.typing import NDArray

from boundlab.execute.packing import Combinations

Combine = Callable[[], None]


@final
class Batches:
    """The combinations of a slot at a time.

    Parameters
    ----------
    of
        Combinations of all tapes.
    flat
        Shape (places·width, d): the registers of all tapes, one after the other.
    width
        Registers of a tape.
    """

    def __init__(self, of: Combinations, flat: torch.Tensor, width: int) -> None:
        self.of, self.flat, self.width = of, flat, width
        key = of.round * (int(of.slot.max(initial=0)) + 1) + of.slot
        # Where each slot of each round begins.
        self._begins = np.flatnonzero(np.diff(key, prepend=-1))
        self._ends = np.append(self._begins[1:], len(key))
        self._round = of.round[self._begins]
        if len(key):
            self._terms = np.maximum(1, np.maximum.reduceat(of.terms, self._begins))
            self._ones = np.logical_and.reduceat(of.coef == 1.0, self._begins)

    def rounds(self, begin: int, end: int) -> list[list[Combine]]:
        """Return what is done in each round of begin … end−1, one after the other."""
        out: list[list[Combine]] = [[] for _ in range(end - begin)]
        low, high = np.searchsorted(self._round, [begin, end])
        if low == high:
            return out
        of, rows, device = self.of, slice(self._begins[low], self._ends[high - 1]), self.flat.device
        most, base = int(self._terms[low:high].max()), of.tape[rows] * self.width
        sizes = (self._ends[low:high] - self._begins[low:high]).tolist()

        def parts(column: NDArray[Any]) -> Sequence[torch.Tensor]:
            return torch.split(torch.as_tensor(np.ascontiguousarray(column), device=device), sizes)

        dst = parts(of.dst[rows] + base)
        src = [parts(of.src[rows, term] + base) for term in range(most)]
        coef = [torch.as_tensor(of.coef[rows, term, None], device=device).to(self.flat.dtype) for term in range(most)]
        weights = [torch.split(one, sizes) for one in coef]
        for place, now in enumerate((self._round[low:high] - begin).tolist()):
            ones = self._ones[low + place].tolist()
            terms = [
                (src[term][place], None if ones[term] else weights[term][place])
                for term in range(int(self._terms[low + place]))
            ]
            out[now].append(_batch(self.flat, dst[place], terms))
        return out


def _batch(flat: torch.Tensor, dst: torch.Tensor, terms: Sequence[tuple[torch.Tensor, torch.Tensor | None]]) -> Combine:
    """Return what does registers[dst] ← Σ coefficient·registers[source]; no coefficients stand where all are 1."""
    (first, weight), *others = terms

    def combine() -> None:
        # Term by term and not as a product of matrices: a tape's bits do not depend on who is beside it.
        total = flat.index_select(0, first)
        if weight is not None:
            total.mul_(weight)
        for source, coef in others:
            term = flat.index_select(0, source)
            total = total.add_(term) if coef is None else total.addcmul_(term, coef)
        flat.index_copy_(0, dst, total)

    return combine


@final
class RowByRow:
    """One combination after the other, in place, by BLAS; parameters as for :class:`Batches`."""

    def __init__(self, of: Combinations, flat: torch.Tensor, width: int) -> None:
        from scipy.linalg import get_blas_funcs

        numbers = flat.numpy()
        self.of, self.width, self.d = of, width, flat.shape[1]
        self._registers = list(numbers)
        self._axpy = get_blas_funcs("axpy", dtype=numbers.dtype)

    def rounds(self, begin: int, end: int) -> list[list[Combine]]:
        """Return what is done in each round of begin … end−1."""
        of = self.of
        bounds = np.searchsorted(of.round, np.arange(begin, end + 1)).tolist()
        return [[self._some(slice(low, high))] if high > low else [] for low, high in pairwise(bounds)]

    def _some(self, rows: slice) -> Combine:
        of, registers, axpy, d = self.of, self._registers, self._axpy, self.d
        base = of.tape[rows] * self.width
        columns = (of.dst[rows] + base, of.terms[rows], of.src[rows] + base[:, None], of.coef[rows])
        dst, counts, src, coef = (column.tolist() for column in columns)

        def combine() -> None:
            for target, count, sources, weights in zip(dst, counts, src, coef, strict=True):
                out = registers[target]
                if not count:
                    out.fill(0.0)
                    continue
                # A register's own old value comes first, so that nothing reads it after it changed.
                if weights[0] != 1.0:
                    np.multiply(registers[sources[0]], weights[0], out)
                elif sources[0] != target:
                    out[:] = registers[sources[0]]
                for term in range(1, count):
                    axpy(registers[sources[term]], out, d, weights[term])

        return combine
