"""``boundlab optimal-rate``."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from boundlab.cli._common import AsJson, print_json, print_page, writable
from boundlab.cli._deliver import deliver
from boundlab.cli._endings import epilog
from boundlab.verdict import ExitCode

if TYPE_CHECKING:
    pass


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        "optimal-rate",
        epilog=epilog("optimal-rate", "optimal-rate --rates 10,10,2.5 --objective per-time --server-cost 0.01"),
    )(optimal_rate)


def optimal_rate(
    rates: Annotated[
        str,
        typer.Option("--rates", metavar="LIST", help="Client rates λ_i: 10,10,2.5, or @FILE, one or more a line."),
    ],
    objective: Annotated[
        str,
        typer.Option("--objective", help="per-iteration (the paper's, fixed K) or per-time (fixed wall-clock time)."),
    ] = "per-iteration",
    server_cost: Annotated[
        float, typer.Option("--server-cost", metavar="C", help="Time per aggregation; with per-time.")
    ] = 0.0,
    epsilon: Annotated[
        float, typer.Option("--epsilon", help="per-time: how close to the limit the bound must come.")
    ] = 0.01,
    derivation: Annotated[
        bool, typer.Option("--derivation", help="Show the derivation, each step decided by the kernel of prove.")
    ] = False,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Draw the curves (png, svg, pdf).")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Find the server rate λ_s that makes AREA's Theorem 8 bound smallest."""
    from boundlab.options import number, numbers
    from boundlab.server_rate import optimal_rate as best_rate

    given = numbers(rates, "rates")
    if plot is not None:
        from boundlab.pages.plots import check_format

        check_format(plot)
    writable(plot)
    result = best_rate(given, objective, number(server_cost, "--server-cost"), number(epsilon, "--epsilon"))  # type: ignore[arg-type]
    steps = _derivation() if derivation else []

    def show(_files: Sequence[Path]) -> None:
        if as_json:
            print_json({**result.as_dict(), **({"derivation": steps} if derivation else {})})
        else:
            from boundlab.pages import page
            from boundlab.pages.blocks import words

            said = (f"{step['verdict']:>9}  {step['statement']}" for step in steps)
            print_page([*page(result), *(words(one) for one in said)])

    def write() -> None:
        from boundlab.pages.plots import plot_rates

        if plot is not None:
            plot_rates(result, plot)

    deliver(ExitCode.STANDS, [] if plot is None else [plot], show, write, quiet=as_json)


def _derivation() -> list[dict[str, Any]]:
    from boundlab.prove import run
    from boundlab.registry import lookup

    return [
        {"name": step.name, "statement": step.says, "verdict": step.status.value, "detail": step.how}
        for step in run(lookup("proofs", "area.optimal-rate")).steps
    ]
