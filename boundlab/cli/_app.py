"""The Typer application."""

import typer

from boundlab.__about__ import __version__
from boundlab.cli import bench, check, compare, demo, exact, falsify, optimal_rate, runs, theorems, worst_case
from boundlab.cli._endings import summary

app = typer.Typer(
    name="boundlab",
    help="A type-checker for convergence theorems of asynchronous and federated first-order methods.",
    epilog=summary(),
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
