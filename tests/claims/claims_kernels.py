"""What docs/sweep.md#many-trials-at-once-on-a-cpu-or-a-gpu says of kernels and tiles."""

import re
from typing import Any

import pytest
from claims_limits import power
from page_numbers import ROOT, claim


def _of(module: str) -> Any:
    """Return a module that wants torch and Triton."""
    pytest.importorskip("torch")
    pytest.importorskip("triton")
    return pytest.importorskip(f"boundlab.{module}")


@claim("docs/sweep.md", "a block of up to # rounds in one launch, # coordinates of a tape in each program")
def block_of_a_kernel() -> list[str]:
    return [str(_of("execute.kernels")._ROUNDS), str(_of("execute.kernels").BLOCK)]


@claim("docs/sweep.md", "these three with more than # coordinates, # classes, or # numbers of data a step")
def reach_of_the_linear_kernel() -> list[str]:
    return [
        f"{_of('execute.kernels')._LONGEST:,}",
        str(_of("execute.kernels")._CLASSES),
        power(_of("execute.kernels")._MOST, 2),
    ]


@claim("docs/sweep.md", "multiples of # numbers: then # bytes are loaded and stored")
def alignment() -> list[str]:
    return 2 * [str(_of("execute.kernels")._ALIGNED)]


@claim("docs/sweep.md", "with Triton # or newer")
def triton() -> list[str]:
    return [".".join(map(str, _of("execute.lockstep")._TRITON))]


@claim(
    "docs/sweep.md",
    "A tile is up to # trials: as many as # MiB of registers hold, or #, and as # GiB of tapes leaves, but # at least.",
)
def tile() -> list[str]:
    most, least = _of("simulate.tensors")._MOST, _of("simulate.tensors").LEAST
    return [
        str(most),
        str(_of("simulate.tensors")._REGISTERS >> 20),
        str(2 * least),
        str(_of("simulate.tensors")._TAPES >> 30),
        str(least),
    ]


@claim("docs/sweep.md", "filled up to a multiple of # where # trials are within the # MiB")
def grain_of_a_tile() -> list[str]:
    return [
        str(_of("simulate.tensors").LEAST),
        str(_of("simulate.tensors").LEAST),
        str(_of("simulate.tensors")._REGISTERS >> 20),
    ]


@claim("docs/sweep.md", "tiles of more than # trials")
def tiles_that_no_gpu_has_seen() -> list[str]:
    return [str(_of("simulate.tensors").LEAST)]


@claim("docs/sweep.md", "leaves what NumPy leaves, up to # of the largest number")
def agreement_of_devices() -> list[str]:
    test = (ROOT / "tests" / "execute" / "test_device.py").read_text(encoding="utf-8")
    (apart,) = re.findall(r"atol=(1e-\d+) \* max", test)
    return [power(float(apart))]
