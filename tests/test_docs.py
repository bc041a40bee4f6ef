"""What the documentation points to exists: every dotted name, every path, every link, every command and its options."""

import importlib
import json
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import get_args

import click
import typer

from boundlab.audit import _ruling as ruling
from boundlab.checks import _check as checks
from boundlab.cli import FORMER, prove
from boundlab.cli._app import application
from boundlab.formulas.symbols import DOMAINS, Role, Side
from boundlab.prove.document import Status
from boundlab.sweep.plan import UNANSWERED
from boundlab.verdict import Verdict

ROOT = next(folder for folder in Path(__file__).parents if (folder / "pyproject.toml").exists())
FOLDERS = ("boundlab", "problems", "proofs", "tests", "benchmarks", "docs", "notebooks", "website")
KINDS = (".py", ".md", ".ipynb")
TEXTS = sorted(
    [path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.suffix in KINDS]
    + [path for path in ROOT.iterdir() if path.suffix == ".md"]
)
PAGES = [path for path in TEXTS if path.suffix == ".md"]
MODULES = [path for path in TEXTS if path.suffix == ".py" and path.relative_to(ROOT).parts[0] in FOLDERS[:3]]

NAME = re.compile(r"(?<![\w./\"])boundlab(?:\.[A-Za-z_]\w*)+(?!\w*/)")
ROLE = re.compile(r":(?:mod|func|class|meth|data|attr|exc):`~?([\w.]+)`")
FILE = re.compile(r"(?<![\w./{}-])((?:[\w.-]+/)+[\w.-]+\.(?:py|md|json|ipynb))(?![\w/])")
COMMAND = re.compile(r"(?<!import )\bboundlab +((?:--[\w-]+(?: +\S+\.py)? +)*)([a-z][a-z-]*)([^`\n]*)")
OPTION = re.compile(r"(?<!\S)\[?(--[a-z][a-z-]*)")
LINK = re.compile(r"\]\(([^)#\s]+?)(?:#[\w-]+)?\)")

# Names that stand for others, and names that must not exist.
PLACEHOLDERS = {"boundlab.KIND", "boundlab.nothing", "boundlab.ALGORITHM"}
HOME = (ROOT, ROOT / "boundlab")


def words(path: Path) -> str:
    """Return a text; of a notebook, all of its cells."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        return "\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"])
    return text


def missing(paths: list[Path], look: Callable[[Path], Iterable[str]]) -> dict[str, list[str]]:
    """Return file → what it names that is not there."""
    found = {str(path.relative_to(ROOT)): sorted(set(look(path))) for path in paths}
    return {path: names for path, names in found.items() if names}


@cache
def resolves(name: str) -> bool:
    """Return whether a dotted name is a module, or something that can be reached from one."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            module = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        return reaches(module, parts[length:])
    return False


def reaches(start: object, parts: list[str]) -> bool:
    for part in parts:
        if part in getattr(start, "__annotations__", {}):
            return True
        if not hasattr(start, part):
            return False
        start = getattr(start, part)
    return True


def module_of(path: Path) -> ModuleType:
    parts = path.relative_to(ROOT).with_suffix("").parts
    package = parts if parts[0] == "boundlab" else ("boundlab", *parts)
    return importlib.import_module(".".join(package[:-1] if package[-1] == "__init__" else package))


def neighbours(module: ModuleType) -> Iterator[object]:
    """Yield where a docstring's short names are looked for: the module, its classes, and the modules beside it."""
    yield module
    yield from (value for value in vars(module).values() if isinstance(value, type))
    yield importlib.import_module(module.__name__.rpartition(".")[0] or module.__name__)


def importable(name: str) -> bool:
    """Return whether it is a module of Python's own."""
    try:
        importlib.import_module(name)
    except ModuleNotFoundError:
        return False
    return True


def code(path: Path) -> Iterator[str]:
    """Yield the lines of a page that are code: in backticks, fenced or indented."""
    fenced = False
    for line in words(path).splitlines():
        fenced ^= line.startswith("```")
        if fenced or line.startswith("    "):
            yield line
        else:
            yield from re.findall(r"`([^`]+)`", line)


def test_there_is_something_to_check():
    assert len(PAGES) > 15
    assert len(MODULES) > 150
    assert sum(len(NAME.findall(words(path))) for path in PAGES) > 20
    assert sum(len(COMMAND.findall(line)) for path in PAGES for line in code(path)) > 30


def test_every_dotted_name_is_there():
    def look(path):
        return (name for name in NAME.findall(words(path)) if name not in PLACEHOLDERS and not resolves(name))

    assert missing(TEXTS, look) == {}


def test_every_reference_of_a_docstring_is_there():
    def look(path):
        places = list(neighbours(module_of(path)))
        for name in ROLE.findall(words(path)):
            if (
                not name.startswith("boundlab.")
                and not any(reaches(place, name.split(".")) for place in places)
                and not importable(name)
            ):
                yield name

    # Importing __main__ would run the command line; dotted names of boundlab are the test above.
    assert missing([path for path in MODULES if path.name != "__main__.py"], look) == {}


def test_every_path_is_there():
    def look(path):
        named = FILE.findall(words(path))
        if path.suffix == ".py":  # a test writes files of its own: only what it says of the repository is meant
            named = [name for name in named if name.split("/")[0] in FOLDERS]
        return (name for name in named if not any((place / name).exists() for place in (*HOME, path.parent)))

    assert missing(TEXTS, look) == {}


def test_every_link_is_there():
    def look(path):
        inside = (link for link in LINK.findall(words(path)) if "://" not in link)
        return (link for link in inside if not (path.parent / link).exists())

    # Links of the site's first page are held by the test of the site.
    assert missing([path for path in PAGES if path.parent.name != "website"], look) == {}


def commands() -> dict[str, set[str]]:
    """Return command → its options; those before the command under the name ''."""
    top = typer.main.get_command(application())
    assert isinstance(top, click.Group)
    own = {name: {flag for one in command.params for flag in one.opts} for name, command in top.commands.items()}
    return own | {"": {flag for one in top.params for flag in one.opts}}


def test_every_command_and_option_that_a_page_shows_is_there():
    known = commands()

    def look(path):
        for line in code(path):
            for before, name, after in COMMAND.findall(line.replace("\\|", "|")):
                if name not in known:
                    if name not in FORMER or path.name != "CHANGELOG.md":
                        yield f"boundlab {name}"
                    continue
                yield from (f"boundlab {option}" for option in OPTION.findall(before) if option not in known[""])
                own = known[name] | {"--help"}
                yield from (f"boundlab {name} {option}" for option in OPTION.findall(after) if option not in own)

    assert missing(PAGES, look) == {}


def test_what_a_new_symbol_may_be_is_listed():
    page = (ROOT / "docs" / "theorems.md").read_text(encoding="utf-8")
    paragraph = next(part for part in page.split("\n\n") if part.startswith("A new symbol"))
    for domain in DOMAINS.values():
        assert f"`{domain.id}` ({domain.rule})" in " ".join(paragraph.split())
    for word in (*get_args(Role), *get_args(Side)):
        assert f"`{word}`" in paragraph


def test_every_word_of_a_verdict_is_on_the_page_of_verdicts():
    page = (ROOT / "docs" / "verdicts.md").read_text(encoding="utf-8")
    said = {*Verdict, *get_args(checks.Verdict), *(one.value for one in Status), *prove.CODES, *get_args(ruling.Word)}
    assert {word for word in said | set(UNANSWERED) if f"`{word}`" not in page} == set()


def test_the_page_of_questions_names_every_command():
    page = (ROOT / "docs" / "questions.md").read_text(encoding="utf-8")
    assert set(re.findall(r"`boundlab ([a-z][a-z-]*)", page)) == set(commands()) - {""}
