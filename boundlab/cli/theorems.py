"""``boundlab list``, ``boundlab show`` and ``boundlab eval``."""

from typing import Annotated, Any

import typer

from boundlab.cli._common import AsJson, Settings, console, print_json
from boundlab.cli._endings import epilog
from boundlab.errors import SpecError
from boundlab.options import nearest

_EXAMPLE = "eval area.theorem8 --set p=0.5 --set M=50 --set K=1:1e4:log --set B=1 --set sigma=0 --set R=3 --terms"


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("list", epilog=epilog("list", "list problems"))(list_command)
    app.command("show", epilog=epilog("show", "show area.theorem8 --latex"))(show)
    app.command("eval", epilog=epilog("eval", _EXAMPLE))(evaluate)


def list_command(
    what: Annotated[str, typer.Argument(metavar="[theorems|algorithms|problems|delays|proofs]")] = "theorems",
    as_json: AsJson = False,
) -> None:
    """List what is registered, built in or by other packages."""
    from boundlab.registry import KINDS, registered

    if what not in KINDS:
        raise SpecError(f"cannot list {what!r}; {nearest(what, KINDS)}")
    found = registered(what)
    if as_json:
        print_json([_entry(item) for item in found.values()])
        return
    from boundlab.report.tables import plain_table

    screen = console()
    if what == "theorems":
        table = plain_table("theorem", "status", "metric", "statement")
        for item in found.values():
            table.add_row(item.id, item.status, item.metric, item.title)
    else:
        from boundlab.delays import RATE_OPTIONS

        shared = RATE_OPTIONS if what == "delays" else {}
        table = plain_table(what[:-1] if what != "delays" else "delay model", "summary")
        for item in found.values():
            table.add_row(item.id, item.summary)
            for key, line in _options(item).items():
                if key not in shared:
                    table.add_row(f"    {key}", line, style="dim")
    tables = [table]
    if what == "delays":
        from boundlab.delays import POLICIES

        rates = plain_table("rates of the clients", "all models but iid and trace")
        for key, line in shared.items():
            rates.add_row(f"    {key}", line)
        policies = plain_table("server policy", "--server NAME:key=value")
        for key, line in POLICIES.items():
            policies.add_row(key, line)
        tables += [rates, policies]
    for table in tables:
        for column in table.columns:
            column.justify = "left"
        screen.print(table)
        screen.print()


def _options(item: Any) -> dict[str, str]:
    return dict(getattr(item, "options", None) or getattr(item, "parameters", None) or {})


def _entry(item: Any) -> dict[str, Any]:
    if hasattr(item, "metric"):
        return {"id": item.id, "title": item.title, "status": item.status, "metric": item.metric}
    return {"id": item.id, "summary": item.summary, "options": _options(item)}


def show(
    theorem: Annotated[str, typer.Argument(metavar="THEOREM", help="an id (boundlab list) or a TOML file")],
    latex: Annotated[bool, typer.Option("--latex", help="Print the bound as LaTeX.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show a theorem: assumptions, metric, step size, bound, symbols."""
    from boundlab.theorems import load_theorem

    statement = load_theorem(theorem)
    if latex:
        typer.echo(statement.latex())
        return
    if as_json:
        print_json(statement.as_dict())
        return
    from boundlab.report.theorem_page import theorem_page

    screen = console()
    for line in theorem_page(statement):
        screen.print(line)


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
        from boundlab.report.values_page import values_page

        for line in values_page(result, terms):
            typer.echo(line)
