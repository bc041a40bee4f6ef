"""``boundlab new``."""

import keyword
import re
import sys
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from boundlab.cli import _options as option
from boundlab.cli.terminal import deliver, writable
from boundlab.errors import SpecError
from boundlab.files import write_text
from boundlab.options import nearest
from boundlab.verdict import ExitCode

# The kinds of objects, and the command that tries each.
NEXT = {
    "algorithm": "boundlab --plugin {file} run {name} --set alpha=0.1",
    "theorem": "boundlab check {file}",
    "problem": "boundlab --plugin {file} run gd --problem {name} --set alpha=0.1",
    "delays": "boundlab --plugin {file} run async_sgd --delays {name} --set alpha=0.1",
    "metric": "boundlab --plugin {file} list metrics {name}",
    "check": "boundlab --plugin {file} check classics.gd.convex --only {name}",
    "proof": "boundlab --plugin {file} prove {name}",
}
# What a file of that name would hide from boundlab and its test.
TAKEN = ("boundlab", "numpy", "scipy", "sympy", "flint", "typer", "rich", "pytest", "hypothesis", "torch", "matplotlib")


def new(
    kind: Annotated[str, option.argument("|".join(NEXT), "What to start.", option.complete.words(NEXT))],
    name: Annotated[str, option.argument("NAME", "Its id: letters, digits, -, _ and dots.")],
    out: Annotated[Path, option.file("--out DIR", "The folder of the two files.")] = Path(),
) -> ExitCode:
    """Start a theorem, an algorithm, … of your own.

    The file works as it stands. A test comes with it.
    """
    if kind not in NEXT:
        raise SpecError(f"cannot begin {kind!r}; {nearest(kind, NEXT)}")
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_.-]{0,60}", name):
        raise SpecError(f"{name!r} is no name: letters first, then letters, digits, -, _ and dots, as in my-method")
    module = re.sub(r"[^A-Za-z0-9_]", "_", name).lower()
    # A file beside a script is found before Python's own module of that name.
    taken = module in sys.stdlib_module_names or module in TAKEN
    if keyword.iskeyword(module) or (taken and kind != "theorem"):
        raise SpecError(f"{name!r} cannot be the name of a Python file; add a word, such as {name}-method")
    words = {"name": name, "module": module, "Name": "".join(part.title() for part in module.split("_") if part)}
    suffix = "toml" if kind == "theorem" else "py"
    own = out / (f"{name}.toml" if kind == "theorem" else f"{module}.py")
    made = {own: _filled(f"{kind}.{suffix}", words), out / f"test_{module}.py": _filled(f"test_{kind}.py", words)}
    for path in made:
        if path.exists():
            raise SpecError(f"{path} exists already; take another name, or another folder with --out")
    if not out.is_dir():
        raise SpecError(f"{out} is no folder; make it first")
    writable(*made)

    def show(_files: object) -> None:
        typer.echo(f"{kind} {name}: it works as it stands, and has a test")
        typer.echo(f"next: {NEXT[kind].format(file=own, name=name)}")
        typer.echo(f"      python -m pytest {out / f'test_{module}.py'}")

    def write() -> None:
        for path, text in made.items():
            write_text(path, text)

    return deliver(ExitCode.STANDS, list(made), show, write)


def _filled(template: str, words: dict[str, str]) -> str:
    """Return a template with its words: plain replacement, since braces are Python's as well."""
    text = (files("boundlab.cli") / "templates" / f"{template}.txt").read_text(encoding="utf-8")
    for key, word in words.items():
        text = text.replace(f"{{{key}}}", word)
    return text
