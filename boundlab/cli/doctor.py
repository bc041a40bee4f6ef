"""``boundlab doctor``."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from boundlab.cli._common import AsJson, print_json, print_page, progress
from boundlab.cli._endings import epilog
from boundlab.files import schema
from boundlab.verdict import ExitCode

if TYPE_CHECKING:
    from boundlab.pages.blocks import Tone


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
    from boundlab.pages.blocks import GAP, line, table, words

    there = [(row["what"], line((row["broken"] or row["there"] or "–", _tone(row))), row["for"]) for row in rows]
    lost = [f"{one['kind']} {one['id']} of {one['from']} cannot be loaded: {one['reason']}" for one in bad]
    tables = table("", ("what", "there", "for"), there, whole=(0,))
    print_page([tables, *(words((one, "bad")) for one in lost)])
    if plugin is not None:
        for one in failed:
            print_page([GAP, words((f"{one['object']}: {one['check']}\n  {one['fails']}", "bad"))])
        objects = {one["object"] for one in checks}
        of = f"{len(objects)} object{'s' * (len(objects) > 1)}"
        summary = f"{len(checks) - len(failed)} of {len(checks)} checks of {of} pass"
        print_page([GAP, words((f"{plugin}: {summary}", "bad" if failed else "good"))])
    return code or ExitCode.STANDS


def _tone(row: Mapping[str, str]) -> "Tone":
    if row["broken"]:
        return "bad"
    return "" if row["there"] else "dim"
