"""Tensors as losses of one number need them."""

from typing import Final

import torch

from boundlab.problems.scalar import Operations

TENSORS: Final = Operations(
    absolute=torch.abs,
    exp=torch.exp,
    sign=torch.Tensor.sign_,
    clip=lambda r, width: r.clamp_(-width, width),
    minimum=lambda r, most: r.clamp(max=most),
    positive=lambda r: r.clamp(min=0.0),
    shrink=lambda r, by: r.sign() * (r.abs() - by).clamp(min=0.0),
    below=lambda r, bound: (r < bound).to(r.dtype),
    within=lambda r, width: r.abs() <= width,
    where=lambda condition, then, otherwise: torch.where(condition, then(), otherwise()),
    slant=lambda t: torch.hypot(torch.ones_like(t), t),
    log_exp=lambda r: torch.logaddexp(torch.zeros_like(r), r),
    falling=lambda r: r.mul_(0.5).tanh_().sub_(1.0).mul_(0.5),
    columns=lambda pairs: pairs.split(1, dim=-1),
)
