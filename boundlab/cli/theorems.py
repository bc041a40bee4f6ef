"""``boundlab show`` and ``boundlab eval``."""

import typer

from boundlab.cli import _options as option
from boundlab.cli.terminal import print_json
from boundlab.cli.terminal import show as show_page
from boundlab.errors import SpecError, visible


def show(
    theorem: option.Theorem, latex: option.BoundLatex = False, core: option.Core = False, as_json: option.AsJson = False
) -> None:
    """Show a theorem: assumptions, metric, step size, bound, symbols."""
    from boundlab.theorems import core as core_of
    from boundlab.theorems import load_theorem, words_of_core

    if latex and as_json:
        raise SpecError("--latex prints LaTeX, and no JSON: leave one of the two out")
    statement = load_theorem(theorem)
    if core and as_json:
        print_json(core_of(statement).as_dict())
    elif core:
        for line in words_of_core(core_of(statement)):
            typer.echo(visible(line))
    elif latex:
        typer.echo(visible(statement.latex()))
    else:
        from boundlab.pages import page

        show_page(statement, lambda: page(statement), as_json=as_json, theorem=statement)


def evaluate(
    theorem: option.Theorem,
    settings: option.Settings = None,
    terms: option.Terms = False,
    csv: option.Csv = False,
    as_json: option.AsJson = False,
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
