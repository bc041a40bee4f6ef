"""``boundlab docs``: the pages of the documentation, and the JSON Schemas."""

import re
from pathlib import Path
from typing import Annotated

import typer

from boundlab.cli import _options as option
from boundlab.cli.terminal import print_json, print_page
from boundlab.documentation import page_files
from boundlab.errors import SpecError, visible
from boundlab.options import nearest
from boundlab.records import published, schema_names


def docs(
    page: Annotated[
        str | None,
        option.argument("[PAGE]", "verdicts, theorems, area#anchor, …; default: a list.", option.pages),
    ] = None,
    schema: Annotated[
        bool,
        option.named("--schema", "Print the JSON Schema named instead: case, theorem, result, …; default: a list."),
    ] = False,
) -> None:
    """Print a page of the documentation, or a JSON Schema.

    A page is Markdown; PAGE#SECTION prints one section. Without a name all are listed. The schemas (draft 2020-12) are
    of files that boundlab reads or writes; TOML is read as data.
    """
    if schema:
        print_schema(page)
        return
    pages = page_files()
    if page is None:
        from boundlab.pages.blocks import table

        print_page([table("", ("page", "title"), [(name, _title(path)) for name, path in pages.items()], whole=(0,))])
        return
    name, _, anchor = page.partition("#")
    name = Path(name).stem
    if name not in pages:
        raise SpecError(f"there is no page {name!r}; {nearest(name, pages)}")
    text = pages[name].read_text(encoding="utf-8")
    for line in (_section(name, text, anchor) if anchor else text).splitlines():
        typer.echo(visible(line))


def _title(path: Path) -> str:
    """Return the first heading of a page."""
    with path.open(encoding="utf-8") as lines:
        return next((line[2:].strip() for line in lines if line.startswith("# ")), path.stem)


def _section(name: str, text: str, anchor: str) -> str:
    """Return what stands below a heading, up to the next one that is as high.

    Raises
    ------
    SpecError
        If the page has no such heading.
    """
    # Comments of code begin as headings do: letters in their place keep where all else stands.
    prose = re.sub(r"(?ms)^ *```.*?^ *```", lambda code: "x" * len(code[0]), text)
    headings = [(one.start(), len(one[1]), anchor_of(one[2])) for one in re.finditer(r"(?m)^(#+) (.+)$", prose)]
    for place, (start, depth, own) in enumerate(headings):
        if own == anchor:
            ends = [at for at, other, _ in headings[place + 1 :] if other <= depth]
            return text[start : ends[0] if ends else None].rstrip()
    raise SpecError(f"the page {name} has no section {anchor!r}; {nearest(anchor, [own for *_, own in headings])}")


def anchor_of(heading: str) -> str:
    """Return the anchor under which Markdown's readers know a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


def print_schema(name: str | None) -> None:
    """Print the JSON Schema (draft 2020-12) of that name, or list all.

    Raises
    ------
    SpecError
        If there is none of that name.
    """
    if name is None:
        from boundlab.pages.blocks import table

        rows = [(one, published(one)["description"]) for one in schema_names()]
        print_page([table("", ("schema", "of"), rows, whole=(0,))])
    elif name in schema_names():
        print_json(published(name))
    else:
        raise SpecError(f"there is no schema of {name!r}; {nearest(name, schema_names())}")
