"""The counter-based random numbers of :mod:`boundlab.randomness` on a device: the same uniform numbers to the last bit.

Words of 32 bits stand in int64, for torch has no arithmetic of unsigned ones: products wrap around, and all bits that
are kept come out right.
"""

import numpy as np
import torch

from boundlab.randomness import CLIENT_BITS, PHILOX_MULTIPLIERS, PHILOX_WEYL, Stream

_MASK = 0xFFFFFFFF
_HALF = 2.0**-52


def philox4x32(counter: tuple[torch.Tensor, ...], key: tuple[int, int], rounds: int = 10) -> tuple[torch.Tensor, ...]:
    """Apply the bijection to tensors of 32-bit words; see :func:`boundlab.randomness.philox4x32`."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    m0, m1 = PHILOX_MULTIPLIERS
    for _ in range(rounds):
        p0, p1 = c0 * m0, c2 * m1
        c0, c1, c2, c3 = ((p1 >> 32) & _MASK) ^ c1 ^ k0, p1 & _MASK, ((p0 >> 32) & _MASK) ^ c3 ^ k1, p0 & _MASK
        k0, k1 = (k0 + PHILOX_WEYL[0]) & _MASK, (k1 + PHILOX_WEYL[1]) & _MASK
    return c0, c1, c2, c3


def uniforms(
    seed: int, trials: torch.Tensor, stream: Stream, clients: torch.Tensor, updates: torch.Tensor, count: int
) -> torch.Tensor:
    """Return uniform numbers in (0, 1), float64.

    Parameters
    ----------
    trials, clients, updates
        int64, of shapes that broadcast to one; trial t uses the key of ``Streams(seed, t)``.
    count
        How many numbers for each.

    Returns
    -------
    Tensor, shape (…, count)
    """
    blocks = -(-count // 2)
    one = np.broadcast_shapes(trials.shape, clients.shape, updates.shape)
    shape = (*one, blocks)
    block = torch.arange(blocks, device=clients.device).expand(shape)
    tagged = clients | (int(stream) << CLIENT_BITS)
    counter = (block, *(part.expand(one).unsqueeze(-1).expand(shape) for part in (updates, tagged, trials)))
    words = philox4x32(counter, (seed & _MASK, seed >> 32))
    # 52 bits of the 64: the upper word, and the upper 20 of the lower.
    pair = [((words[2 * half] << 20) | (words[2 * half + 1] >> 12)).to(torch.float64) for half in (0, 1)]
    out = torch.stack(pair, dim=-1).add_(0.5).mul_(_HALF)
    return out.reshape(*one, 2 * blocks)[..., :count]


def normals(
    seed: int, trials: torch.Tensor, stream: Stream, clients: torch.Tensor, updates: torch.Tensor, count: int
) -> torch.Tensor:
    """Return standard normal numbers, by inversion; shapes as :func:`uniforms`, the same up to rounding."""
    out: torch.Tensor = torch.special.ndtri(uniforms(seed, trials, stream, clients, updates, count))
    return out
