"""Imports point down: the floors of CONTRIBUTING.md, read from its table and held against every import.

An import inside a function and one for types only count like any other.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = next(folder for folder in Path(__file__).parents if (folder / "pyproject.toml").exists())
ROW = re.compile(r"^\| (\d+) \| `(\w+)` \|", re.MULTILINE)
FLOORS = {room: int(floor) for floor, room in ROW.findall((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))}
FACES = {"boundlab", "boundlab.__main__", "boundlab.__about__"}  # the public API, the entry point, the version
JUDGES = ("checks", "compare", "exact", "worst_case")


@dataclass(frozen=True)
class Import:
    """``importer`` imports ``module``, or ``name`` from it; ``place`` is its file and line."""

    importer: str
    module: str
    name: str
    place: str


def modules() -> dict[str, Path]:
    """Return the modules as they are installed, where problems/ and proofs/ are parts of boundlab."""
    found = {}
    for folder, package in (("boundlab", ()), ("problems", ("boundlab",)), ("proofs", ("boundlab",))):
        for path in (ROOT / folder).rglob("*.py"):
            parts = (*package, *path.relative_to(ROOT).with_suffix("").parts)
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


@cache
def imports() -> tuple[Import, ...]:
    return tuple(_read())


def _read() -> Iterator[Import]:
    for importer, path in MODULES.items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Import():
                    named = [(alias.name, "") for alias in node.names]
                case ast.ImportFrom(level=0, module=str(module)):
                    named = [(module, alias.name) for alias in node.names]
                case ast.ImportFrom():
                    pytest.fail(f"{path}:{node.lineno}: a relative import")
                case _:
                    continue
            place = f"{path.relative_to(ROOT)}:{node.lineno}"
            yield from (
                Import(importer, module, name, place) for module, name in named if module.split(".")[0] == "boundlab"
            )


def room(module: str) -> str:
    return module.split(".")[1] if "." in module else module


def target(one: Import) -> str:
    """Return the module that is read: a name may be a module of its package."""
    below = f"{one.module}.{one.name}"
    return below if below in MODULES else one.module


def across() -> list[Import]:
    return [one for one in imports() if room(one.importer) != room(target(one)) and one.importer not in FACES]


def between_rooms() -> list[Import]:
    return [one for one in across() if target(one) not in FACES]


def test_there_is_something_to_check():
    assert len(MODULES) > 150
    assert len(between_rooms()) > 500


def test_the_table_names_every_room_and_no_other():
    assert set(FLOORS) == {room(module) for module in MODULES} - {room(face) for face in FACES}


def test_every_import_names_a_module_that_exists():
    assert [one.place for one in imports() if target(one) not in MODULES] == []


def test_every_import_points_to_a_lower_floor():
    up = [f"{one.place}: {room(one.importer)} imports {room(target(one))}" for one in between_rooms() if not down(one)]
    assert up == []


def down(one: Import) -> bool:
    return target(one) in MODULES and FLOORS[room(target(one))] < FLOORS[room(one.importer)]


def test_the_judges_stand_side_by_side():
    # Rooms of one floor do not import each other.
    assert len({FLOORS[judge] for judge in JUDGES}) == 1


def test_only_the_command_line_imports_the_face_of_the_package():
    assert [one.place for one in across() if target(one) in FACES - {"boundlab.__about__"}] == []


def test_no_private_module_or_name_is_imported_across_rooms():
    names = {one.place: [*one.module.split("."), one.name] for one in across()}
    private = [place for place, parts in names.items() if any(re.match(r"_(?!_)", part) for part in parts)]
    assert private == []


def said(tree: ast.Module) -> Iterator[str]:
    """Return the texts of a module, but its documentation and what declares options; what is filled in is …."""
    inside = {id(part) for one in ast.walk(tree) if _declares(one) for part in ast.walk(one)}
    inside |= {id(part) for one in ast.walk(tree) if isinstance(one, ast.JoinedStr) for part in one.values}
    inside |= {id(one.value) for one in ast.walk(tree) if isinstance(one, ast.Expr)}
    for one in ast.walk(tree):
        if isinstance(one, (ast.JoinedStr, ast.Constant)) and id(one) not in inside:
            parts = one.values if isinstance(one, ast.JoinedStr) else [one]
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in parts)


def _declares(one: ast.AST) -> bool:
    return isinstance(one, ast.Call) and getattr(one.func, "id", "") in ("Declared", "integer", "time_limit")


def test_what_python_callers_read_names_options_of_the_command_line_only_in_a_command():
    # Pages show results as commands do. A word alone, "--set", is a part of a command.
    below = [module for module in MODULES if FLOORS.get(room(module), 99) <= FLOORS["api"] and room(module) != "pages"]
    texts = (text for module in below for text in said(ast.parse(MODULES[module].read_text(encoding="utf-8"))))
    alone = re.compile(r"(?!--[\w-]+$)((?!boundlab ).)*?(?<![\w-])--[a-z]", re.DOTALL)
    assert [text for text in texts if alone.match(text)] == []


def test_modules_have_no_circle():
    graph: dict[str, set[str]] = {module: set() for module in MODULES}
    for one in imports():
        graph[one.importer] |= {target(one)} - {one.importer}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" imports ".join(reversed(error.args[1])))
