"""``boundlab bench``: ratios against a floor measured in the same run."""

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from boundlab.cli._common import AsJson, console, print_json
from boundlab.cli._deliver import deliver
from boundlab.cli._endings import epilog
from boundlab.errors import MissingExtraError, SpecError
from boundlab.verdict import ExitCode

_EXAMPLE = (
    "bench cpu --problem "
    '"softmax:data=idx:/data/mnist,clients=128,partition=dirichlet,a=0.1,batch=32,nu=1e-3,bias=yes,dtype=float32"'
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("bench", epilog=epilog("bench", _EXAMPLE))(bench)


def bench(
    what: Annotated[
        str, typer.Argument(metavar="[cpu|gpu]", help="cpu: the reference executor; gpu: trials in lock step")
    ] = "cpu",
    problem: Annotated[
        str, typer.Option("--problem", "-p", metavar="SPEC", help="A softmax problem with mini-batches.")
    ] = "softmax:clients=10,batch=32,nu=1e-3,dtype=float32",
    updates: Annotated[int, typer.Option("--updates", help="Client updates a measurement.")] = 3000,
    repeats: Annotated[int, typer.Option("--repeats", help="Measurements; the best one counts.")] = 3,
    device: Annotated[str, typer.Option("--device", help="Of bench gpu: cuda, cuda:1, or cpu to rehearse.")] = "cuda",
    small: Annotated[bool, typer.Option("--small", help="Of bench gpu: small sizes, to rehearse.")] = False,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Of bench gpu: write JSON, table and figure here.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure the executors and the sampler against what only does the unavoidable work."""
    from boundlab.cli._bench import measure, measure_exact

    if what == "gpu":
        _gpu(device, out, small=small, as_json=as_json)
        return
    if what != "cpu":
        raise SpecError(f"cannot measure {what!r}; there are cpu and gpu")
    from boundlab.build import problem_from
    from boundlab.cli._common import count

    count(updates, "updates", 1, 10**7)
    count(repeats, "repeats", 1, 100)
    rows = measure(problem_from(problem), updates, repeats)
    with contextlib.suppress(MissingExtraError):
        rows += measure_exact(repeats)
    if as_json:
        print_json([row.as_dict() for row in rows])
        return
    from boundlab.report.tables import figure, plain_table

    table = plain_table("what", "floor", "ours [1/s]", "floor [1/s]", "time over floor")
    table.columns[1].justify = "left"
    for row in rows:
        table.add_row(row.what, row.floor, figure(row.rate), figure(row.floor_rate), f"{row.ratio:.2f}")
    console().print(table)


def _gpu(device: str, out: Path | None, *, small: bool, as_json: bool) -> None:
    """Measure trials in lock step, saying each line as it comes."""
    from boundlab.files import folder
    from boundlab.tensors import find_device

    find_device(device)  # or say what is missing, before anything is loaded
    if out is not None:
        folder(out)
    from boundlab.cli._bench_gpu import measure, names, save, table

    screen = console()
    dimensions = (1000, 10_000) if small else (10**3, 10**4, 10**5, 10**6, 10**7)
    replicas = (1, 8) if small else (1, 8, 64, 512)
    found = measure(device, dimensions, replicas, 0.1 if small else 1.0, (lambda _: None) if as_json else screen.print)
    files = [] if out is None else names(found, out)

    def show(written: Sequence[Path]) -> None:
        if as_json:
            print_json({**found, "written": [str(path) for path in written]})
        else:
            screen.print(table(found))

    deliver(ExitCode.STANDS, files, show, lambda: save(found, files), quiet=as_json, asked=out is not None)
