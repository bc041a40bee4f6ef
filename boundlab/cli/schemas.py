"""The JSON Schemas: ``boundlab docs --schema``."""

import json
from importlib.resources import files

from boundlab.cli._complete import schema_names as names
from boundlab.cli.terminal import print_json, print_page
from boundlab.errors import SpecError
from boundlab.options import nearest


def text_of(name: str) -> str:
    """Return one as JSON text."""
    return files("boundlab").joinpath("schemas", f"{name}.json").read_text(encoding="utf-8")


def schema(name: str | None) -> None:
    """Print the JSON Schema (draft 2020-12) of that name, or list all.

    Raises
    ------
    SpecError
        If there is none of that name.
    """
    if name is None:
        from boundlab.pages.blocks import table

        rows = [(one, json.loads(text_of(one))["description"]) for one in names()]
        print_page([table("", ("schema", "of"), rows, whole=(0,))])
    elif name in names():
        print_json(json.loads(text_of(name)))
    else:
        raise SpecError(f"there is no schema of {name!r}; {nearest(name, names())}")
