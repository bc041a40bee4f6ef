"""Linear combinations of registers on tensors: many tapes at a time, or on a CPU register by register."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, final

import numpy as np
import torch
from numpy.typing import NDArray

from boundlab.arithmetic.tensors import Batched
from boundlab.execute.packing import Combinations
from boundlab.objective import Oracle, Problem
from boundlab.randomness import Ints, Streams

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


# Operations shared by both executors on tensors: the local steps of one round, and who is shown its records.

_WIDE = 1 << 19  # bytes of a row from which a CPU does a few at a time: they stay in its caches
# Called as observe(tapes, rows, X): record rows[j] of tape tapes[j] is X[j].
Observe = Callable[[Ints, Ints, torch.Tensor], None]


def local_steps(
    problem: Batched,
    X: torch.Tensor,
    clients: torch.Tensor,
    drawn: torch.Tensor,
    sizes: torch.Tensor,
    local: torch.Tensor,
    counts: Ints,
    *,
    implicit: bool,
) -> torch.Tensor:
    """Return where the rows of X are after their local steps; X itself may be overwritten.

    A CPU does wide rows a few at a time, whoever is beside them; a GPU does all of them.

    Parameters
    ----------
    X
        Shape (places, d).
    clients, sizes, counts
        Shape (places,): step sizes, and how many steps; 0 where a place has none.
    drawn
        Shape (places, steps, …): the random numbers.
    local
        Relative sizes of the steps; empty where all are 1.
    """
    step = problem.implicit_step if implicit else problem.step
    rows = len(X)
    if X.device.type == "cpu":
        size = max(X.shape[1], problem.held) * X.element_size()
        rows = rows if size < _WIDE else min(rows, max(1, 2 * _WIDE // size))
    if rows < len(X):
        for first in range(0, len(X), rows):
            part = slice(first, first + rows)
            if counts[part].any():
                few = (clients[part], drawn[part], sizes[part], local, counts[part])
                X[part] = local_steps(problem, X[part], *few, implicit=implicit)
        return X
    most, least = (int(counts.max()), int(counts.min())) if len(counts) else (0, 0)
    for q in range(most):
        each = sizes * local[q] if len(local) else sizes
        if q < least:
            step(X, clients, drawn[:, q], each)
            continue
        # Some have ended; all are computed, for the same shapes give the same bits.
        ahead = X.clone()
        step(ahead, clients, drawn[:, q], each)
        goes_on = torch.as_tensor(counts > q, device=X.device)
        X = torch.where(goes_on.unsqueeze(1), ahead, X)
    return X


# A problem that has nothing batched: its own oracles, one tape after the other.


@final
class Loop(Batched):
    """The problem's own oracles on the host, one tape after the other.

    Parameters
    ----------
    problem
        Any problem.
    """

    how = "in a loop over the trials: this problem has no batched gradients"

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._oracles: dict[tuple[int, int], Oracle] = {}
        self._kept: dict[tuple[int, int], tuple[Any, Any]] = {}

    def draw_size(self, steps: int) -> int:
        """Return what the oracle says, 1 at least: the numbers stay with the oracles."""
        return max(1, self.problem.oracle(Streams(0)).draw_size(steps))

    def draws(
        self, seed: int, trials: torch.Tensor, clients: torch.Tensor, updates: torch.Tensor, steps: Ints
    ) -> torch.Tensor:
        """Return where the numbers are kept, shape (T, R, most steps, 3): tape, round and step."""
        who, when = clients.cpu().numpy(), updates.cpu().numpy()
        self._kept = {}
        for column, trial in enumerate(trials.tolist()):
            oracle = self._oracle(seed, trial)
            for count in np.unique(steps[:, column]).tolist():
                rows = np.flatnonzero(steps[:, column] == count)
                if count:
                    drawn = oracle.draws(who[rows, column], when[rows, column], count)
                    self._kept |= {(column, row): (oracle, drawn[place]) for place, row in enumerate(rows.tolist())}
        T, R = clients.shape
        grid = torch.meshgrid(torch.arange(T), torch.arange(R), torch.arange(int(steps.max(initial=1))), indexing="ij")
        return torch.stack((grid[1], grid[0], grid[2]), dim=-1)

    def _oracle(self, seed: int, trial: int) -> Oracle:
        if (seed, trial) not in self._oracles:
            self._oracles[seed, trial] = self.problem.oracle(Streams(seed, trial))
        return self._oracles[seed, trial]

    def step(self, X: torch.Tensor, clients: torch.Tensor, draw: torch.Tensor, sizes: torch.Tensor) -> None:
        """Do one step in each row, in place."""
        self._each(X, clients, draw, sizes, "step")

    def implicit_step(self, X: torch.Tensor, clients: torch.Tensor, draw: torch.Tensor, sizes: torch.Tensor) -> None:
        """Do one proximal step in each row, in place."""
        self._each(X, clients, draw, sizes, "implicit_step")

    def _each(self, X: torch.Tensor, clients: torch.Tensor, draw: torch.Tensor, sizes: torch.Tensor, what: str) -> None:
        host = X.cpu()
        rows = host.numpy()
        for row, client, size, (column, when, step) in zip(
            rows, clients.tolist(), sizes.tolist(), draw.tolist(), strict=True
        ):
            oracle, drawn = self._kept.get((column, when), (None, ()))
            if step < len(drawn):  # places that do nothing, and updates that have ended, are left as they are
                getattr(oracle, what)(row, client, drawn[step], size)
        if host is not X:
            X.copy_(host)

    def values(self, X: torch.Tensor) -> torch.Tensor:
        """Return f at each row."""
        return torch.as_tensor(self.problem.values(X.cpu().numpy()), device=X.device, dtype=torch.float64)

    def full_gradients(self, X: torch.Tensor) -> torch.Tensor:
        """Return a (sub)gradient of f at each row."""
        found = np.array([self.problem.full_gradient(x) for x in X.cpu().numpy()])
        return torch.as_tensor(found.reshape(X.shape), device=X.device, dtype=torch.float64)
