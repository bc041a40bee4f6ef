"""``boundlab show`` and ``boundlab eval``."""

from typing import Annotated

import typer

from boundlab.cli._common import AsJson, Settings, print_json, print_page, print_trail
from boundlab.cli._endings import epilog
from boundlab.errors import SpecError, visible

_EXAMPLE = "eval area.theorem8 --set p=0.5 --set M=50 --set K=1:1e4:log --set B=1 --set sigma=0 --set R=3 --terms"


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("show", epilog=epilog("show", "show area.theorem8 --latex"))(show)
    app.command("eval", epilog=epilog("eval", _EXAMPLE))(evaluate)


def show(
    theorem: Annotated[str, typer.Argument(metavar="THEOREM", help="an id (boundlab list) or a TOML file")],
    latex: Annotated[bool, typer.Option("--latex", help="Print the bound as LaTeX.")] = False,
    core: Annotated[
        bool, typer.Option("--core", help="Print what it says with nothing left implicit, and the hash of that.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show a theorem: assumptions, metric, step size, bound, symbols."""
    from boundlab.theorems import core as core_of
    from boundlab.theorems import load_theorem, words_of_core

    if latex and as_json:
        raise SpecError("--latex prints LaTeX, and no JSON: leave one of the two out")
    statement = load_theorem(theorem)
    if core:
        if as_json:
            print_json(core_of(statement).as_dict())
            return
        for line in words_of_core(core_of(statement)):
            typer.echo(visible(line))
        return
    if latex:
        typer.echo(visible(statement.latex()))
        return
    if as_json:
        print_json(statement.as_dict())
        return
    from boundlab.pages import page

    print_page(page(statement))
    print_trail(statement)


def evaluate(
    theorem: Annotated[str, typer.Argument(metavar="THEOREM", help="an id (boundlab list) or a TOML file")],
    settings: Settings = None,
    terms: Annotated[bool, typer.Option("--terms", help="Show the named terms of the bound.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV instead of a table.")] = False,
    as_json: AsJson = False,
) -> None:
    """Evaluate a bound at numbers, vectors and grids."""
    from boundlab.theorems import load_theorem
    from boundlab.theorems.grid import evaluate as evaluate_theorem

    if csv and as_json:
        raise SpecError("give --csv or --json, not both")
    statement = load_theorem(theorem)
    result = evaluate_theorem(statement, settings or [])
    if as_json:
        print_json(result.as_dict())
    elif csv:
        typer.echo(result.csv(terms), nl=False)
    else:
        from boundlab.pages.values import values_page

        for line in values_page(result, terms):
            typer.echo(line)
