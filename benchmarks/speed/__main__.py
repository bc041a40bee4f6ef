"""Measure, say each line as it comes, and write the tables.

python -m benchmarks.speed cpu                    # everything that runs on a processor
python -m benchmarks.speed cpu --share 0.1        # of clients and updates; --repeats 3: the median of as many
python -m benchmarks.speed gpu --device cuda      # trials in lock step; --device cpu --small rehearses them
"""

import argparse
import contextlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from boundlab.arithmetic.compiled import one_thread
from boundlab.arithmetic.tensors import find_device
from boundlab.errors import BoundlabError, MissingExtraError, OutputError, SpecError
from boundlab.files import check_writable


def main(given: Sequence[str] | None = None) -> int:
    """Run; return the exit code of the error that stops it, else 0."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", default="cpu", choices=("cpu", "gpu"))
    parser.add_argument("--share", type=float, default=1.0, help="of cpu: of clients and updates")
    parser.add_argument("--repeats", type=int, default=5, help="of cpu: the median counts")
    parser.add_argument("--device", default="cuda", help="of gpu: cuda, cuda:1, or cpu to rehearse")
    parser.add_argument("--small", action="store_true", help="of gpu: small sizes, to rehearse")
    parser.add_argument("--out", type=Path, help="a folder for JSON, table and figure")
    parser.add_argument(
        "--guard", type=Path, help="of cpu: recorded results; exit 1 where a row is slower than they say"
    )
    asked = parser.parse_args(given)
    try:
        if asked.out is not None:
            _prepare(asked.out)
        if asked.what == "gpu":
            _gpu(asked.device, asked.out, small=asked.small)
        elif not 0.0 < asked.share <= 100.0 or not 1 <= asked.repeats <= 100:
            raise SpecError("--share must be above 0 and at most 100, --repeats from 1 to 100")
        elif not _cpu(asked.share, asked.repeats, asked.out, asked.guard):
            return 1
    except BoundlabError as error:
        sys.stderr.write(f"error: {error}\n")
        return int(error.exit_code)
    return 0


def _prepare(folder: Path) -> None:
    """Create a folder if there is none, and check before the work that files can be added to what it holds."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as reason:
        raise OutputError(f"cannot write into {folder}: {reason.strerror}") from None
    check_writable(folder / "speed.json")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _cpu(share: float, repeats: int, out: Path | None, guard: Path | None) -> bool:
    """Measure, and return whether nothing is slower than a file says."""
    from benchmarks.speed import cpu
    from benchmarks.speed.cpu import names, report, save
    from benchmarks.speed.problems import where_from
    from benchmarks.speed.trials import measure_jobs, measure_trials, words

    with one_thread():
        rows = measure_trials(share, repeats, _say)
        more = [*measure_jobs(share, repeats), *cpu.measure_sampling(repeats), *cpu.measure_tapes(repeats)]
        with contextlib.suppress(MissingExtraError):
            more += cpu.measure_exact(repeats)
        more += cpu.measure_compared(repeats)
        exponents = cpu.growth(repeats)
    for row in more:
        _say(words(row))
    _say(f"exponents of growth: {exponents}")
    found = report([*rows, *more], where_from(), exponents)
    if out is not None:
        save(found, names(found, out))
    if guard is None:
        return True
    lines = cpu.worse([*rows, *more], json.loads(guard.read_text(encoding="utf-8")))
    for line in lines:
        _say(f"slower than recorded: {line}")
    return not lines


def _gpu(device: str, out: Path | None, *, small: bool) -> None:
    find_device(device)  # or say what is missing, before anything is loaded
    from benchmarks.speed.gpu import measure, names, save, table

    dimensions = (1000, 10_000) if small else (10**3, 10**4, 10**5, 10**6, 10**7)
    replicas = (1, 8) if small else (1, 8, 64, 512)
    found = measure(device, dimensions, replicas, 0.1 if small else 1.0, _say)
    _say(table(found))
    if out is not None:
        save(found, names(found, out))


if __name__ == "__main__":
    sys.exit(main())
