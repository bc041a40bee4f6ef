"""The arithmetic of tensors."""

from dataclasses import replace
from typing import Any, Final

import torch

from boundlab.arithmetic.numbers import Operations

TENSORS: Final = Operations(
    absolute=torch.abs,
    exp=torch.exp,
    sign=torch.Tensor.sign_,
    clip=lambda r, low, high: r.clamp_(low, high),
    minimum=lambda r, most: r.clamp(max=most),
    positive=lambda r: r.clamp(min=0.0),
    shrink=lambda r, by: r - r.clamp(-by, by),
    below=lambda r, bound: (r < bound).to(r.dtype),
    within=lambda r, width: r.abs() <= width,
    where=torch.where,
    slant=lambda t: torch.hypot(torch.ones_like(t), t),
    log_exp=lambda r: torch.logaddexp(torch.zeros_like(r), r),
    falling=lambda r: r.mul_(0.5).tanh_().sub_(1.0).mul_(0.5),
    columns=lambda pairs: pairs.split(1, dim=-1),
    first=lambda rows: rows.argmax(dim=-1),
    solve=lambda A, b: torch.linalg.solve(A, b.unsqueeze(-1)).squeeze(-1),
    linear=lambda A: lambda x: x @ A.T,
    project=lambda x, radius: x * (radius / x.norm(dim=-1, keepdim=True).clamp(min=radius)),
    zero_at=lambda square, size: torch.where(square <= torch.finfo(square.dtype).eps * size**2, 0.0, torch.inf),
    number=float,
    array=torch.as_tensor,
    places=torch.as_tensor,
    wide=torch.float64,
    together=1 << 24,
)


def tensors(device: torch.device, dtype: torch.dtype) -> Operations:
    """Return the arithmetic of tensors of a type on a device."""

    def array(data: Any) -> torch.Tensor:
        return torch.as_tensor(data, device=device, dtype=dtype)

    return replace(TENSORS, array=array, places=lambda data: torch.as_tensor(data, device=device))
