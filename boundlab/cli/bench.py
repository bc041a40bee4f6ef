"""``boundlab bench``: ratios against a floor measured in the same run."""

import contextlib
from typing import Annotated

import typer

from boundlab.cli._common import AsJson, console, print_json
from boundlab.cli._endings import epilog
from boundlab.errors import MissingExtraError, SpecError

_EXAMPLE = (
    "bench cpu --problem "
    '"softmax:data=idx:/data/mnist,clients=128,partition=dirichlet,a=0.1,batch=32,nu=1e-3,bias=yes,dtype=float32"'
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("bench", epilog=epilog("bench", _EXAMPLE))(bench)


def bench(
    device: Annotated[str, typer.Argument(metavar="[cpu]", help="what to measure on")] = "cpu",
    problem: Annotated[
        str, typer.Option("--problem", "-p", metavar="SPEC", help="A softmax problem with mini-batches.")
    ] = "softmax:clients=10,batch=32,nu=1e-3,dtype=float32",
    updates: Annotated[int, typer.Option("--updates", help="Client updates a measurement.")] = 3000,
    repeats: Annotated[int, typer.Option("--repeats", help="Measurements; the best one counts.")] = 3,
    as_json: AsJson = False,
) -> None:
    """Measure the executor and the sampler against bare loops that do only the unavoidable work."""
    from boundlab.cli._bench import measure, measure_exact

    if device != "cpu":
        raise SpecError(f"cannot measure on {device!r}; this version has cpu")
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
