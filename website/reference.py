"""Pages that are written from the code: commands, Python, what is registered, schemas, and the gallery of figures."""

import ast
import base64
import importlib
import inspect
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import cast

import click
import typer

import boundlab
from boundlab import testing
from boundlab.api import _ask
from boundlab.cli._app import application
from boundlab.cli.listing import tables
from boundlab.pages.blocks import Block, line, table
from boundlab.pages.markdown import escaped, markdown
from boundlab.records import published, schema_names
from boundlab.registry import KINDS, TYPES
from boundlab.result import Result


def pages(root: Path) -> Mapping[str, str | bytes]:
    """Return name of a file → what it holds."""
    return {
        "reference/commands.md": "\n".join(_commands()),
        "reference/python.md": "\n".join(_python()),
        "reference/registered.md": "\n".join(_registered()),
        "reference/schemas.md": "\n".join(_schemas()),
        **dict(_gallery(root / "notebooks")),
    }


def _commands() -> Iterator[str]:
    top = cast("click.Group", typer.main.get_command(application()))
    whole = click.Context(top, info_name="boundlab")
    yield from ("# Commands", "", escaped(str(top.help)), "", escaped(str(top.epilog)), "", _parameters(whole))
    for name, command in top.commands.items():
        context = click.Context(command, info_name=name, parent=whole)
        usage = " ".join(command.get_usage(context).split()).removeprefix("Usage: ")
        example, _, ending = str(command.epilog).removeprefix("Example: ").partition("\n\n")
        yield from (f"## {name}", "", escaped(str(command.help)), "")
        yield from ("```text", usage, "```", "", _parameters(context))
        yield from ("Example:", "", "```text", example, "```", "", escaped(ending), "")


def _parameters(context: click.Context) -> str:
    """Return the table of a command's arguments and options, as its help describes them."""
    records = (one.get_help_record(context) for one in context.command.get_params(context))
    rows = [(line((words, "code")), meaning) for words, meaning in filter(None, records)]
    return _tables([table("", ("argument or option", "meaning"), rows)])


def _tables(blocks: Iterable[Block]) -> str:
    """Return blocks without the title of their page."""
    return markdown(line(""), blocks).partition("\n\n")[2]


def _python() -> Iterator[str]:
    """Yield the interface: the questions, what comes back, and what a plug-in may register."""
    public = {name: getattr(boundlab, name) for name in boundlab.__all__ if name != "__version__"}
    asked = [name for name, one in public.items() if not isinstance(one, type)]
    yield from (
        "# Python",
        "",
        "`import boundlab as bl`; the questions are `bl.audit(…)`, `bl.compare(…)` and so on.",
        "",
    )
    yield from ("## Questions and tools", "", *_documented(f"boundlab.{name}" for name in asked))
    yield from ("## Answers", "", *_documented(one for one in _answers(asked) if one.rpartition(".")[2] not in public))
    yield from ("## Objects", "", *_documented(f"boundlab.{name}" for name in public if name not in asked))
    yield from (
        "## Tests for authors",
        "",
        "`boundlab.testing`; [Tests for authors](../docs/plugins.md#tests-for-authors) shows them at work.",
        "",
    )
    yield from _documented(f"boundlab.testing.{name}" for name in testing.__all__)
    yield from (
        "## What can be registered",
        "",
        "The types of registered objects ([docs/plugins.md](../docs/plugins.md)).",
        "",
    )
    types = (TYPES[kind].replace(":", ".") for kind in KINDS)
    yield from _documented(one for one in types if one.rpartition(".")[2] not in public)


def _answers(asked: Iterable[str]) -> list[str]:
    """Return the classes of what questions return, as dotted names."""
    imported = [one for one in ast.walk(ast.parse(inspect.getsource(_ask))) if isinstance(one, ast.ImportFrom)]
    where = {alias.name: str(one.module) for one in imported for alias in one.names}
    found: list[str] = []
    for name in asked:
        returned = inspect.signature(getattr(boundlab, name)).return_annotation
        named = re.findall(r"\w+", returned) if isinstance(returned, str) else [returned]
        classes = [getattr(importlib.import_module(where[one]), one) if one in where else one for one in named]
        found += [_dotted(one) for one in classes if isinstance(one, type) and issubclass(one, Result)]
    return list(dict.fromkeys(found))


def _dotted(one: type) -> str:
    """Return where a class is found by users: in the package that exports it, else in the module that defines it."""
    package = one.__module__.rpartition(".")[0]
    exported = getattr(importlib.import_module(package), one.__name__, None) is one and package != "boundlab"
    return f"{package if exported else one.__module__}.{one.__name__}"


def _documented(names: Iterable[str]) -> Iterator[str]:
    for name in names:
        module, _, own = name.rpartition(".")
        one = getattr(importlib.import_module(module), own)
        kind = "class" if isinstance(one, type) else "module" if type(one) is ModuleType else "function"
        members = "" if kind == "function" else "   :members:\n   :inherited-members: Exception, str, Enum"
        yield from ("```{eval-rst}", f".. auto{kind}:: {name}", members, "```", "")


def _registered() -> Iterator[str]:
    yield from ("# What is registered", "", "Each list is what `boundlab list KIND` prints.", "")
    for what in (*KINDS, "symbols"):
        yield from (f"## {what.capitalize()}", "", _tables(tables(what)), "")


def _schemas() -> Iterator[str]:
    yield from ("# JSON schemas", "", "`boundlab docs NAME --schema` prints one (draft 2020-12).", "")
    for name in schema_names():
        schema = published(name)
        yield from (
            f"## {name}",
            "",
            escaped(schema["description"]),
            "",
            "```json",
            json.dumps(schema, indent=2, ensure_ascii=False),
            "```",
            "",
        )


def _gallery(folder: Path) -> Iterator[tuple[str, str | bytes]]:
    text = ["# Gallery", "", "Each figure is from a notebook, which has the cells that draw it.", ""]
    for path in sorted(folder.glob("*.ipynb")):
        title, heading, number = "", "", 0
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            if cell["cell_type"] == "markdown":
                headings = [one for one in "".join(cell["source"]).splitlines() if one.startswith("#")]
                heading = headings[-1].lstrip("# ") if headings else heading
                title = title or heading
            for picture in (
                one["data"]["image/png"] for one in cell.get("outputs", ()) if "image/png" in one.get("data", {})
            ):
                if not number:
                    text += [f"## {title}", "", f"[The notebook](notebooks/{path.name})", ""]
                number += 1
                name = f"gallery/{path.stem}-{number}.png"
                yield name, base64.b64decode(picture)
                text += [f"![{title}: {heading}]({name})", ""]
    yield "gallery.md", "\n".join(text)
