"""The Typer application."""

import typer

from boundlab.__about__ import __version__
from boundlab.cli import bench, check, compare, demo, exact, falsify, optimal_rate, runs, theorems, worst_case

app = typer.Typer(
    name="boundlab",
    help="A type-checker for convergence theorems of asynchronous and federated first-order methods.",
    epilog="Exit codes: 0 holds, 1 violated, 2 bad usage or input, 3 inconclusive, 4 not applicable.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"boundlab {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(
        False, "--version", help="Print the version and exit.", callback=_version, is_eager=True
    ),
) -> None:
    pass


for _module in (theorems, optimal_rate, runs, check, compare, exact, worst_case, falsify, demo, bench):
    _module.register(app)
