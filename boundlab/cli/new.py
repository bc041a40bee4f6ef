"""``boundlab new``."""

import keyword
import re
import sys
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from boundlab.cli import _options as option
from boundlab.cli.terminal import Files, Write, deliver, writable
from boundlab.errors import BoundlabError, SpecError, visible
from boundlab.files import is_file, is_folder, read_text, write_text
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
    kind: Annotated[str, option.argument("|".join(NEXT), "What to start.", option.choices(NEXT))],
    name: Annotated[str, option.argument("NAME", "Its id: letters, digits, -, _ and dots.")],
    out: Annotated[Path, option.file("--out DIR", "The folder of the two files.")] = Path(),
    latex: Annotated[
        Path | None,
        option.file("--latex FILE", "Draft a theorem from the one in a LaTeX file; you tick its assumptions."),
    ] = None,
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
    if latex is not None:
        return _draft(kind, name, out, latex)
    words = {"name": name, "module": module, "Name": "".join(part.title() for part in module.split("_") if part)}
    suffix = "toml" if kind == "theorem" else "py"
    own = out / (f"{name}.toml" if kind == "theorem" else f"{module}.py")
    templates = {own: f"{kind}.{suffix}", out / f"test_{module}.py": f"test_{kind}.py"}
    made: Files = {path: _text(_filled(name, words)) for path, name in templates.items()}
    _free(out, *made)

    def show(_files: object) -> None:
        typer.echo(f"{kind} {name}: it works as it stands, and has a test")
        typer.echo(f"next: {NEXT[kind].format(file=own, name=name)}")
        typer.echo(f"      python -m pytest {out / f'test_{module}.py'}")

    return deliver(ExitCode.STANDS, made, show)


def _text(text: str) -> Write:
    return lambda path: write_text(path, text)


def _free(out: Path, *made: Path) -> None:
    """Refuse files that exist, and folders that do not."""
    if not is_folder(out):
        raise SpecError(f"{out} is no folder; make it first")
    for path in made:
        if is_file(path) or is_folder(path):
            raise SpecError(f"{path} exists already; take another name, or another folder with --out")
    writable(dict.fromkeys(made, _text("")))


def _draft(kind: str, name: str, out: Path, latex: Path) -> ExitCode:
    """Write a draft of the theorem in a LaTeX file, and print the statement that it makes."""
    from boundlab.theorems.drafted import drafted

    if kind != "theorem":
        raise SpecError(f"--latex drafts a theorem, and no {kind}: boundlab new theorem {name} --latex {latex}")
    own = out / f"{name}.toml"
    _free(out, own)
    draft = drafted(read_text(latex, SpecError), name)

    def show(_files: object) -> None:
        typer.echo(f"theorem {name}: a draft of {latex}, for you to compare and to complete")
        _say(draft.text, name)
        for one in draft.open:
            typer.echo(f"open: {visible(one)}")
        typer.echo(f"not assumed until you tick it in {own}: {', '.join(draft.assumptions)}")
        typer.echo(f"next: settle what is open, tick the assumptions; then boundlab show {own}")

    return deliver(ExitCode.STANDS, {own: _text(draft.text)}, show)


def _say(draft: str, name: str) -> None:
    """Print what a draft says as it is written, or why it says nothing yet."""
    from boundlab.cli.terminal import print_page
    from boundlab.pages import page
    from boundlab.theorems import load_theorem

    with TemporaryDirectory() as folder:
        file = Path(folder) / f"{name}.toml"
        write_text(file, draft)
        try:
            print_page(block for block in page(load_theorem(file)) if folder not in str(block))
        except BoundlabError as reason:
            typer.echo(f"no statement yet: {visible(str(reason).replace(f'{folder}/', ''))}")


def _filled(template: str, words: dict[str, str]) -> str:
    """Return a template with its words: plain replacement, since braces are Python's as well."""
    text = (files("boundlab.cli") / "templates" / f"{template}.txt").read_text(encoding="utf-8")
    for key, word in words.items():
        text = text.replace(f"{{{key}}}", word)
    return text
