"""``boundlab exact``."""

from pathlib import Path
from typing import Annotated

import typer

from boundlab.cli._common import AsJson, Quiet, Verbose, alone, print_json, print_line, print_page, print_trail
from boundlab.cli._endings import epilog
from boundlab.errors import SpecError
from boundlab.verdict import ExitCode

_EXAMPLE = "exact area.theorem8"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("exact", epilog=epilog("exact", _EXAMPLE))(exact)


def exact(
    theorem: Annotated[str, typer.Argument(metavar="THEOREM", help="an id (boundlab list) or a TOML file")],
    case: Annotated[
        Path | None,
        typer.Argument(
            metavar="[CASE.json]",
            help="explicit events, or delays, server and iterations in their place; "
            "the theorem's own counterexample where it is left out",
        ),
    ] = None,
    derivation: Annotated[
        bool, typer.Option("--derivation", help="Print the way to both sides, to be checked by hand.")
    ] = False,
    latex: Annotated[bool, typer.Option("--latex", help="Print the derivation as LaTeX.")] = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    as_json: AsJson = False,
) -> ExitCode:
    """Evaluate both sides of a theorem on one case without sampling, in rational numbers where it is rational.

    The result says whether it is exact, an enclosure by intervals, or numeric (floating point).
    """
    from boundlab.api import exact as ask
    from boundlab.theorems import load_theorem

    if latex and as_json:
        raise SpecError("give --latex or --json, not both")
    alone(quiet, json=as_json, verbose=verbose, derivation=derivation, latex=latex)
    statement = load_theorem(theorem)
    result = ask(statement, case, derivation=derivation or latex or verbose)
    if (derivation or latex) and result.derivation is None:
        raise SpecError(f"there is no derivation of numbers in {result.note or 'floating point'}")
    if quiet:
        print_line(result.line())
    elif as_json:
        print_json({**result.as_dict(), **statement.links()})
    elif latex and result.derivation is not None:
        from boundlab.pages.derivation import derived
        from boundlab.pages.latex import plain_latex

        typer.echo(plain_latex(derived(result.derivation)))
    else:
        print_page(result.page())
        print_trail(statement)
    return result.verdict.exit_code
