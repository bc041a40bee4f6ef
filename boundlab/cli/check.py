"""``boundlab check``."""

from typing import Annotated

import typer

from boundlab.cli._common import AsJson, Quiet, alone, print_json, print_line, print_page, print_trail, verbose_option
from boundlab.cli._endings import epilog
from boundlab.verdict import ExitCode


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("check", epilog=epilog("check", "check area.theorem7 --only units"))(check)


def check(
    theorem: Annotated[str, typer.Argument(metavar="THEOREM", help="an id (boundlab list) or a TOML file")],
    only: Annotated[
        str | None,
        typer.Option(
            "--only",
            metavar="GROUPS",
            help="Some of scope, units, … (boundlab list checks).",
        ),
    ] = None,
    quiet: Quiet = False,
    verbose: Annotated[bool, verbose_option("--all")] = False,
    as_json: AsJson = False,
) -> ExitCode:
    """Check a theorem by its formula alone: scope, units, limits, known truths, relations. No simulation."""
    from boundlab.api import check as ask

    alone(quiet, json=as_json, verbose=verbose)
    found = ask(theorem, only)
    if quiet:
        print_line(found.line())
        return found.exit_code
    if as_json:
        print_json(found.as_dict())
        return found.exit_code
    print_page(found.page(verbose))
    print_trail(found.theorem)
    return found.exit_code
