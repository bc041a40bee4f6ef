"""``boundlab bench``: ratios against a floor measured in the same run."""

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from boundlab.cli._common import AsJson, console, print_json, whole_option
from boundlab.cli._deliver import deliver
from boundlab.cli._endings import epilog
from boundlab.errors import MissingExtraError, SpecError
from boundlab.files import schema
from boundlab.verdict import ExitCode

_EXAMPLE = "bench cpu --repeats 5 --out benchmarks/results"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("bench", epilog=epilog("bench", _EXAMPLE))(bench)


def bench(
    what: Annotated[
        str, typer.Argument(metavar="[cpu|gpu]", help="cpu: all that runs there; gpu: trials in lock step")
    ] = "cpu",
    share: Annotated[float, typer.Option("--share", help="Of bench cpu: of clients and updates.")] = 1.0,
    repeats: Annotated[int, whole_option("--repeats", help="Of bench cpu: the median counts.")] = 5,
    device: Annotated[str, typer.Option("--device", help="Of bench gpu: cuda, cuda:1, or cpu to rehearse.")] = "cuda",
    small: Annotated[bool, typer.Option("--small", help="Of bench gpu: small sizes, to rehearse.")] = False,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Also write JSON, table and figure here.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure executors, samplers and exact engines against what only does the unavoidable work."""
    if what == "gpu":
        _gpu(device, out, small=small, as_json=as_json)
        return
    if what != "cpu":
        raise SpecError(f"cannot measure {what!r}; there are cpu and gpu")
    from boundlab.options import count

    if not 0.0 < share <= 100.0:
        raise SpecError(f"--share must be above 0 and at most 100, got {share:g}")
    count(repeats, "--repeats", 1, 100)
    _cpu(share, repeats, out, as_json=as_json)


def _cpu(share: float, repeats: int, out: Path | None, *, as_json: bool) -> None:
    """Measure on this machine's processor, saying each line as it comes."""
    from boundlab.cli._bench_cpu import measure_compared, measure_exact, measure_sampling, names, report, save
    from boundlab.cli._bench_problems import where_from
    from boundlab.cli._bench_trials import measure_jobs, measure_trials, words
    from boundlab.files import shared_folder
    from boundlab.simulate.parallel import one_thread

    if out is not None:
        shared_folder(out)
    screen = console()

    def say(line: str) -> None:
        if not as_json:
            screen.print(line)

    with one_thread():
        rows = measure_trials(share, repeats, say)
        more = [*measure_jobs(share, repeats), *measure_sampling(repeats)]
        with contextlib.suppress(MissingExtraError):
            more += measure_exact(repeats)
        more += measure_compared(repeats)
    for row in more:
        say(words(row))
    found = report([*rows, *more], where_from())
    files = [] if out is None else names(found, out)

    def show(written: Sequence[Path]) -> None:
        if as_json:
            print_json({"schema": schema("bench"), **found, "written": [str(path) for path in written]})

    deliver(ExitCode.STANDS, files, show, lambda: save(found, files), quiet=as_json, asked=out is not None)


def _gpu(device: str, out: Path | None, *, small: bool, as_json: bool) -> None:
    """Measure trials in lock step, saying each line as it comes."""
    from boundlab.arithmetic.tensors import find_device
    from boundlab.files import shared_folder

    find_device(device)  # or say what is missing, before anything is loaded
    if out is not None:
        shared_folder(out)
    from boundlab.cli._bench_gpu import measure, names, save, table

    screen = console()
    dimensions = (1000, 10_000) if small else (10**3, 10**4, 10**5, 10**6, 10**7)
    replicas = (1, 8) if small else (1, 8, 64, 512)
    found = measure(device, dimensions, replicas, 0.1 if small else 1.0, (lambda _: None) if as_json else screen.print)
    files = [] if out is None else names(found, out)

    def show(written: Sequence[Path]) -> None:
        if as_json:
            print_json({"schema": schema("bench"), **found, "written": [str(path) for path in written]})
        else:
            screen.print(table(found))

    deliver(ExitCode.STANDS, files, show, lambda: save(found, files), quiet=as_json, asked=out is not None)
