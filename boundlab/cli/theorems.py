"""``boundlab show`` and ``boundlab eval``."""

from typing import Annotated, Any

import typer

from boundlab.cli import _options as option
from boundlab.cli.terminal import print_json, print_links, print_page
from boundlab.errors import SpecError, visible
from boundlab.files import named_file


def show(
    theorem: option.Theorem,
    latex: Annotated[bool, option.named("--latex", "Print the bound as LaTeX.")] = False,
    core: Annotated[bool, option.named("--core", "Print the complete statement and its hash.")] = False,
    as_json: option.AsJson = False,
) -> None:
    """Show a theorem: assumptions, step size, bound, symbols."""
    from boundlab.cli._kept import keep, kept, key_of

    if latex and as_json:
        raise SpecError("give --latex or --json, not both")
    asked, file = ["show", theorem, latex, core, as_json], named_file(theorem, ".toml")
    key = key_of(asked, file)
    shown = kept(key)
    if shown is None:
        shown = _shown(theorem, latex, core, as_json)
        if key == key_of(asked, file):  # nothing has changed while it was made
            keep(key, shown)
    if as_json:
        print_json(shown)
    elif core or latex:
        for line in shown:
            typer.echo(visible(line))
    else:
        from boundlab.pages.blocks import from_data

        print_page(map(from_data, shown["page"]))
        print_links(shown["links"])


def _shown(theorem: str, latex: bool, core: bool, as_json: bool) -> Any:
    """Return what is shown of a theorem, JSON-ready: a document, lines, or a page and its links."""
    from boundlab.pages import page
    from boundlab.pages.blocks import as_data
    from boundlab.pages.theorem import related_links
    from boundlab.theorems import core as core_of, load_theorem, words_of_core

    statement = load_theorem(theorem)
    if core:
        return core_of(statement).as_dict() if as_json else words_of_core(core_of(statement))
    if latex:
        return [statement.latex()]
    if as_json:
        return statement.as_dict()
    return {"page": [*map(as_data, page(statement))], "links": related_links(statement)}


def evaluate(
    theorem: option.Theorem,
    settings: option.Settings = None,
    terms: option.Terms = False,
    csv: Annotated[bool, option.named("--csv", "Print CSV instead of a table.")] = False,
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
        from boundlab.pages.theorem import values_page

        for line in values_page(result, terms):
            typer.echo(line)
