"""Where tensors live, and the line that says what is missing."""

from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, final

from boundlab.errors import MissingExtraError, SpecError
from boundlab.files import free_bytes

if TYPE_CHECKING:
    import torch

_INSTALL = "the torch backend needs torch: pip install 'boundlab[torch]', or leave backend out"


def load_torch(missing: str = _INSTALL) -> ModuleType:
    """Return torch.

    Parameters
    ----------
    missing
        What is said where it is not installed.

    Raises
    ------
    MissingExtraError
        If it is not installed.
    """
    try:
        import torch
    except ImportError:
        raise MissingExtraError(missing) from None
    return torch


@final
@dataclass(frozen=True, slots=True)
class Device:
    """A device and its name for people."""

    device: "torch.device"
    name: str

    @property
    def is_cuda(self) -> bool:
        """True if the device is a GPU."""
        return self.device.type == "cuda"

    def free_bytes(self) -> int | None:
        """Return the memory that is free there, or None where that is not known."""
        if self.is_cuda:
            torch = load_torch()
            return int(torch.cuda.mem_get_info(self.device)[0])
        return free_bytes()


def find_device(text: str) -> Device:
    """Return the device of ``cpu``, ``cuda`` or ``cuda:1``.

    Raises
    ------
    MissingExtraError
        If torch is not installed.
    SpecError
        If there is no such device.
    """
    torch = load_torch()
    kind, _, number = text.partition(":")
    if kind not in ("cpu", "cuda") or (number and not number.isdecimal()) or (kind == "cpu" and number):
        raise SpecError(f"device {text!r}: use cpu, cuda, or cuda:1 for the second GPU")
    if kind == "cpu":
        return Device(torch.device("cpu"), f"CPU, {torch.get_num_threads()} threads")
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    place = int(number or 0)
    if place >= count:
        what = "torch sees no GPU here" if not count else f"torch sees {count}, cuda:0 to cuda:{count - 1}"
        raise SpecError(f"device {text}: {what}; use device cpu")
    return Device(torch.device("cuda", place), torch.cuda.get_device_name(place))
