"""``boundlab check``."""

from typing import Annotated

import typer

from boundlab.cli._common import AsJson, console, print_json, print_trail
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
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", "--all", help="Show what passed and what does not apply, too.")
    ] = False,
    as_json: AsJson = False,
) -> ExitCode:
    """Check a theorem by its formula alone: scope, units, limits, known truths, relations. No simulation."""
    from boundlab.checks import check as check_theorem
    from boundlab.checks import exit_code, read_groups
    from boundlab.theorems import load_theorem

    groups = read_groups(only)
    statement = load_theorem(theorem)
    found = check_theorem(statement, groups)
    code = exit_code(found)
    if as_json:
        rows = [one.as_dict() for one in found]
        print_json({"theorem": statement.id, **statement.links(), "exit_code": code, "checks": rows})
        return code
    from boundlab.report.check_table import check_table

    screen = console()
    for line in check_table(statement, found, verbose):
        screen.print(line)
    print_trail(statement)
    return code
