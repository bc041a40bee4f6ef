"""Problems on tensors: what the executor of many tapes in lock step needs of them. Loads torch where it is first used.

A problem says in ``Problem.tensors`` what it is on tensors; what says nothing runs in a loop.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from boundlab.arithmetic.tensors._device import Device as Device, find_device as find_device, load_torch as load_torch

if TYPE_CHECKING:
    from boundlab.arithmetic.tensors._batched import (
        TENSORS as TENSORS,
        Batched as Batched,
        Coordinatewise as Coordinatewise,
        Gathered as Gathered,
        normals as normals,
        tensors as tensors,
        uniforms as uniforms,
    )

# What imports torch: asking whether there is a torch must not need one.
_WHERE = {
    "Batched": "_batched",
    "Coordinatewise": "_batched",
    "Gathered": "_batched",
    "TENSORS": "_batched",
    "tensors": "_batched",
    "normals": "_batched",
    "uniforms": "_batched",
}


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'boundlab.arithmetic.tensors' has no attribute {name!r}")
    return getattr(import_module(f"boundlab.arithmetic.tensors.{_WHERE[name]}"), name)
