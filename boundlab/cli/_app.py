"""The Typer application."""

from pathlib import Path
from typing import Annotated

import typer

from boundlab.__about__ import __version__
from boundlab.cli import (
    audit,
    check,
    compare,
    demo,
    doctor,
    exact,
    falsify,
    listing,
    new,
    optimal_rate,
    prove,
    recheck,
    runs,
    schemas,
    theorems,
    worst_case,
)
from boundlab.cli._endings import summary

app = typer.Typer(
    name="boundlab",
    help="A type-checker for convergence theorems of asynchronous and federated first-order methods.",
    epilog=summary(),
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"boundlab {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    context: typer.Context,
    _version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_show_version, is_eager=True)
    ] = False,
    plugin: Annotated[
        list[Path] | None,
        typer.Option("--plugin", metavar="FILE.py", help="Run this file and use what it registers; may be repeated."),
    ] = None,
    _debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of what was not foreseen.")] = False,
) -> None:
    if plugin:
        from boundlab.registry import using

        context.with_resource(using(plugin))


for _module in (
    listing, theorems, optimal_rate, runs, check, compare, exact, worst_case, prove, recheck, falsify, audit, demo,
    new, doctor, schemas,
):  # fmt: skip
    _module.register(app)
