"""Problems on tensors: what the executor of many tapes in lock step needs of them. Loads torch where it is first used.

A problem says in ``Problem.tensors`` what it is on tensors; what says nothing runs in a loop.
"""

from boundlab.tensors._batched import Batched as Batched
from boundlab.tensors._batched import Coordinatewise as Coordinatewise
from boundlab.tensors._batched import Ints as Ints
from boundlab.tensors._device import Device as Device
from boundlab.tensors._device import find_device as find_device
from boundlab.tensors._device import load_torch as load_torch
from boundlab.tensors._philox import normals as normals
from boundlab.tensors._philox import uniforms as uniforms
