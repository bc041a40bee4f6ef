"""``boundlab schema``."""

from importlib.resources import files
from typing import Annotated

import typer

from boundlab.cli._common import print_page
from boundlab.cli._endings import epilog
from boundlab.errors import SpecError
from boundlab.verdict import ExitCode


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("schema", epilog=epilog("schema", "schema case"))(schema)


def names() -> list[str]:
    """Return what there is a schema of."""
    return sorted(one.name.removesuffix(".json") for one in files("boundlab").joinpath("schemas").iterdir())


def text_of(name: str) -> str:
    """Return one as JSON text."""
    return files("boundlab").joinpath("schemas", f"{name}.json").read_text(encoding="utf-8")


def schema(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="case, theorem, result, …; without one, all are listed.")
    ] = None,
) -> ExitCode:
    """Print the JSON Schema (draft 2020-12) of a file that boundlab reads or writes; TOML is read as data."""
    import json

    from boundlab.options import nearest

    if name is None:
        from boundlab.pages.blocks import table

        rows = [(one, json.loads(text_of(one))["description"]) for one in names()]
        print_page([table("", ("schema", "of"), rows, whole=(0,))])
    elif name in names():
        from boundlab.cli._common import print_json

        print_json(json.loads(text_of(name)))
    else:
        raise SpecError(f"there is no schema of {name!r}; {nearest(name, names())}")
    return ExitCode.STANDS
