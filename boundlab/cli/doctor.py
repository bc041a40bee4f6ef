"""``boundlab doctor``."""

from pathlib import Path
from typing import Annotated, Any

import typer

from boundlab.cli._common import AsJson, console, print_json, progress
from boundlab.cli._endings import epilog
from boundlab.files import schema
from boundlab.verdict import ExitCode


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("doctor", epilog=epilog("doctor", "doctor tests/plugin_example/example.py"))(doctor)


def doctor(
    plugin: Annotated[
        Path | None,
        typer.Argument(metavar="[PLUGIN.py]", help="A plug-in, which is run; each of its objects is asked to conform."),
    ] = None,
    as_json: AsJson = False,
) -> ExitCode:
    """Say what is installed, what is found, what cannot be loaded, and whether a plug-in keeps its promises."""
    from boundlab.cli._health import broken, conformance, installed

    rows, bad = installed(), broken()
    checks: list[dict[str, Any]] = []
    if plugin is not None:
        with progress("checks", 1) as tick:
            checks = conformance(plugin)
            tick(1)
    failed = [one for one in checks if one["fails"]]
    code = ExitCode.REFUTED if failed else ExitCode.UNDECIDED if bad or any(row["broken"] for row in rows) else None
    if as_json:
        print_json({"schema": schema("doctor"), "installed": rows, "cannot_be_loaded": bad, "conformance": checks})
        return code or ExitCode.STANDS
    from rich.text import Text

    from boundlab.report.tables import plain_table

    screen, table = console(), plain_table("what", "there", "for")
    for row in rows:
        style = "bold red" if row["broken"] else "" if row["there"] else "dim"
        table.add_row(row["what"], Text(row["broken"] or row["there"] or "–", style), row["for"])
    for column in table.columns:
        column.justify, column.overflow = "left", "fold"
    screen.print(table)
    for one in bad:
        screen.print(Text(f"{one['kind']} {one['id']} of {one['from']} cannot be loaded: {one['reason']}", "bold red"))
    if plugin is not None:
        for one in failed:
            screen.print(Text(f"\n{one['object']}: {one['check']}\n  {one['fails']}", "bold red"))
        objects = {one["object"] for one in checks}
        of = f"{len(objects)} object{'s' * (len(objects) > 1)}"
        summary = f"{len(checks) - len(failed)} of {len(checks)} checks of {of} pass"
        screen.print(Text(f"\n{plugin}: {summary}", "bold red" if failed else "bold green"))
    return code or ExitCode.STANDS
