"""Counter-based random numbers: Philox4x32-10, keyed by (seed, trial, stream, client, update).

No generator carries a state: the numbers of one update of one client are a function of their key alone.
So they do not depend on the order of evaluation, on the batch size or on the number of workers.

Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boundlab.errors import SpecError

# What arrays hold, for annotations everywhere.
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Array = NDArray[np.floating[Any]]  # in any precision

_MASK = np.uint64(0xFFFFFFFF)
_SHIFT = np.uint64(32)
PHILOX_MULTIPLIERS = 0xD2511F53, 0xCD9E8D57
PHILOX_WEYL = 0x9E3779B9, 0xBB67AE85
_M0, _M1 = (np.uint64(word) for word in PHILOX_MULTIPLIERS)
_CHUNK = 1 << 14  # blocks at a time: the working set of a round stays in the second-level cache
CLIENT_BITS = 24


class Stream(IntEnum):
    """Purpose of a stream of random numbers; different streams are independent."""

    DELAY = 1
    SERVER = 2
    RATE = 3
    BATCH = 4
    NOISE = 5
    PARTITION = 6
    START = 7
    BOOTSTRAP = 8
    EVENT = 9
    SCHEDULE = 10


def philox4x32(
    counter: tuple[NDArray[np.uint64], ...], key: tuple[int, int], rounds: int = 10
) -> tuple[NDArray[np.uint64], ...]:
    """Apply the Philox4x32 bijection to arrays of counters.

    Parameters
    ----------
    counter
        Four arrays of equal shape (blocks,), each holding 32-bit words in uint64.
    key
        Two 32-bit words.

    Returns
    -------
    tuple
        Four arrays of shape (blocks,), 32-bit words in uint64.
    """
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(rounds):
        p0, p1 = c0 * _M0, c2 * _M1
        c0, c2 = p1 >> _SHIFT, p0 >> _SHIFT
        c0 ^= c1
        c0 ^= np.uint64(k0)
        c2 ^= c3
        c2 ^= np.uint64(k1)
        p0 &= _MASK
        p1 &= _MASK
        c1, c3 = p1, p0
        k0, k1 = (k0 + PHILOX_WEYL[0]) & 0xFFFFFFFF, (k1 + PHILOX_WEYL[1]) & 0xFFFFFFFF
    return c0, c1, c2, c3


@dataclass(frozen=True, slots=True)
class Streams:
    """All random numbers of one trial of one seeded experiment.

    Parameters
    ----------
    seed
        0 ≤ seed < 2⁶⁴.
    trial
        0 ≤ trial < 2³².
    """

    seed: int
    trial: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.seed < 2**64:
            raise SpecError(f"seed must be an integer in [0, 2^64), got {self.seed}")
        if not 0 <= self.trial < 2**32:
            raise SpecError(f"trial must be an integer in [0, 2^32), got {self.trial}")

    def uniforms(self, stream: Stream, client: ArrayLike, update: ArrayLike, count: int) -> Floats:
        """Return uniform numbers in the open interval (0, 1) with 52 random bits.

        Parameters
        ----------
        client, update
            Integer arrays that broadcast to shape (B,), or scalars (then B = 1).
        count
            How many numbers per (client, update).

        Returns
        -------
        ndarray, shape (B, count)
        """
        clients, updates = np.broadcast_arrays(
            np.atleast_1d(np.asarray(client, dtype=np.uint64)),
            np.atleast_1d(np.asarray(update, dtype=np.uint64)),
        )
        rows, blocks = clients.shape[0], -(-count // 2)
        out = np.empty((rows, 2 * blocks))
        key = (self.seed & 0xFFFFFFFF, self.seed >> 32)
        tag = np.uint64(int(stream) << CLIENT_BITS)
        trial = np.uint64(self.trial)
        step = max(1, _CHUNK // blocks) if blocks else rows
        for row in range(0, rows, step):
            part = slice(row, min(row + step, rows))
            size = part.stop - part.start
            for first in range(0, blocks, _CHUNK):
                width = min(_CHUNK, blocks - first)
                block = np.arange(first, first + width, dtype=np.uint64)
                c0 = np.tile(block, size)
                c1 = np.repeat(updates[part], width)
                c2 = np.repeat(clients[part] | tag, width)
                words = philox4x32((c0, c1, c2, np.full_like(c0, trial)), key)
                pair = out[part, 2 * first : 2 * (first + width)].reshape(size, width, 2)
                for half in (0, 1):
                    high, low = words[2 * half], words[2 * half + 1]
                    bits = ((high << _SHIFT) | low) >> np.uint64(12)
                    pair[:, :, half] = ((bits.astype(np.float64) + 0.5) * 2.0**-52).reshape(size, width)
                out[part, 2 * first : 2 * (first + width)] = pair.reshape(size, 2 * width)
        return out[:, :count]

    def normals(self, stream: Stream, client: ArrayLike, update: ArrayLike, count: int) -> Floats:
        """Return standard normal numbers, by inversion; shapes as :meth:`uniforms`."""
        from scipy.special import ndtri

        out: Floats = ndtri(self.uniforms(stream, client, update, count))
        return out
