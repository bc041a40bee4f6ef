"""Compile for a GPU what runs would launch there, on a machine without one: Triton brings its own ptxas.

As a program it reads runs from its arguments, as JSON, and prints for each the kernels that it launched.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

CAPABILITY = 90  # of an H100


def compiled(runs: list[dict[str, Any]], folder: Path) -> list[list[dict[str, Any]]]:
    """Return the different kernels of each run; see :func:`_report`.

    Parameters
    ----------
    runs
        Options of :func:`_run`.
    folder
        Where Triton keeps what it compiles.
    """
    told = os.environ | {"TRITON_CACHE_DIR": str(folder)}
    told.pop("TRITON_INTERPRET", None)
    asked = [sys.executable, "-W", "ignore", __file__, json.dumps(runs)]
    done = subprocess.run(asked, env=told, check=True, capture_output=True, text=True)
    found: list[list[dict[str, Any]]] = json.loads(done.stdout)
    return found


def _run(problem: str, dtype: str, algorithm: str, options: dict[str, Any], iterations: int, trials: int) -> None:
    """Launch, through the executor, what a run launches."""
    import torch
    from run_makers import tape_of

    from boundlab.case import problem_from
    from boundlab.execute import lockstep
    from boundlab.execute.packing import pack
    from boundlab.simulate.tensors import tensors_of

    f, kind, here = problem_from(problem), getattr(torch, dtype), torch.device("cpu")
    program = pack([tape_of(algorithm, options, f.n, iterations, trial=trial) for trial in range(trials)])
    batched = tensors_of(f, here, kind)
    lockstep.run(program, f.x0, batched, 0, range(trials), lambda *_: None, here, kind, fused=True)


def _report(kernel: Any, assembler: str, folder: Path) -> dict[str, Any]:
    """Return which kernel it is, bytes that registers spill, and how many loads and stores move 16 bytes."""
    ptx = kernel.asm["ptx"]
    source = folder / "kernel.ptx"
    source.write_text(ptx, encoding="utf-8")
    asked = [assembler, "-v", f"--gpu-name=sm_{CAPABILITY}a", str(source), "-o", str(folder / "kernel.cubin")]
    said = subprocess.run(asked, check=True, capture_output=True, text=True).stderr
    spilled = re.findall(r"(\d+) bytes (?:stack frame|spill stores|spill loads)", said)
    if not spilled:
        raise ValueError(said)
    return {
        "id": kernel.hash,
        "spilled": sum(map(int, spilled)),
        "wide loads": len(re.findall(r"ld\.global[.\w]*\.(?:v4\.\w32|v2\.\w64)", ptx)),
        "wide stores": len(re.findall(r"st\.global[.\w]*\.(?:v4\.\w32|v2\.\w64)", ptx)),
    }


def main(runs: list[dict[str, Any]]) -> None:
    """Print what each run launches."""
    from tempfile import TemporaryDirectory

    from triton.backends.compiler import GPUTarget
    from triton.backends.nvidia.compiler import get_ptxas
    from triton.runtime.driver import driver
    from triton.runtime.jit import JITFunction

    class NoDevice:
        """What Triton asks a driver for until a kernel starts."""

        def get_current_target(self) -> GPUTarget:
            return GPUTarget("cuda", CAPABILITY, 32)

        def get_current_device(self) -> int:
            return 0

        def get_current_stream(self, _device: int) -> int:
            return 0

    launched: dict[str, Any] = {}
    real = JITFunction.run

    def run(self: JITFunction, *given: Any, grid: Any, warmup: bool, **options: Any) -> Any:
        kernel = real(self, *given, grid=grid, warmup=True, **options)
        launched[kernel.hash] = kernel
        return kernel

    driver.set_active(NoDevice())
    JITFunction.run = run
    found = []
    with TemporaryDirectory() as folder:
        for options in runs:
            launched.clear()
            _run(**options)
            found.append([_report(one, get_ptxas(CAPABILITY).path, Path(folder)) for one in launched.values()])
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
