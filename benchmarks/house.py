"""How often each concept is written down, counted in the syntax tree: limits that only fall.

CONTRIBUTING.md has the table, ``make size`` shows it beside today's counts, and a test holds the house to it.
"""

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
PRODUCT = ("boundlab", "problems", "proofs")
Module = tuple[Path, ast.Module]
_STEPS = {"DESCEND", "_DESCEND", "DescendRow"}
_OTHERS = {"AFFINE", "_AFFINE", "AffineRow", "RECORD", "_RECORD", "Op", "affine"}


@cache
def modules() -> tuple[Module, ...]:
    """Return the product's modules by their paths below the root, templates apart."""
    paths = [path for top in PRODUCT for path in sorted((ROOT / top).rglob("*.py")) if "templates" not in path.parts]
    return tuple((path.relative_to(ROOT), ast.parse(path.read_text(encoding="utf-8"))) for path in paths)


@cache
def _functions() -> tuple[tuple[Path, ast.FunctionDef], ...]:
    nodes = ((path, node) for path, tree in modules() for node in ast.walk(tree))
    return tuple((path, node) for path, node in nodes if isinstance(node, ast.FunctionDef))


def _names(nodes: Iterable[ast.AST]) -> set[str]:
    return {getattr(one, "attr", None) or getattr(one, "id", "") for one in nodes}


def _of(room: str) -> Iterator[Module]:
    return ((path, tree) for path, tree in modules() if path.parts[1:2] == (room,) or path.parts[0] == room)


def files() -> int:
    """Files of the product."""
    return len(modules())


def imports() -> int:
    """Statements that import."""
    kinds = (ast.Import, ast.ImportFrom)
    return sum(isinstance(node, kinds) for _, tree in modules() for node in ast.walk(tree))


def forms_of_a_quadratic() -> int:
    """Classes that hold a quadratic for one arithmetic or another."""
    rooms = ("problems", "objective", "arithmetic")
    nodes = (node for room in rooms for _, tree in _of(room) for node in ast.walk(tree))
    names = [node.name for node in nodes if isinstance(node, ast.ClassDef)]
    return sum(name.endswith(("Quadratic", "QuadraticForm")) for name in names)


def forms_of_area() -> int:
    """Modules that say what AREA does: its theorems and proofs apart."""
    return sum("area" in path.stem for room in ("algorithms", "expectation") for path, _ in _of(room))


def names_in_prover_and_checker() -> int:
    """Functions that ``prove`` and ``recheck`` both define under one name."""
    names = [{node.name for path, node in _functions() if path.parts[1] == room} for room in ("prove", "recheck")]
    return len(set.intersection(*names))


def loops_over_a_tape() -> int:
    """Functions outside of the algorithms that tell a step of a tape from a combination, or go through its rows."""
    found = 0
    for path, node in _functions():
        nodes = [*ast.walk(node)]
        named = _names(nodes)
        tells = bool(named & _STEPS and named & _OTHERS) and path.parts[1] != "algorithms"
        loops = [one.iter for one in nodes if isinstance(one, (ast.For, ast.comprehension))]
        found += tells or any(isinstance(one, ast.Call) and getattr(one.func, "id", "") == "rows" for one in loops)
    return found


def walks_of_a_formula() -> int:
    """Modules that tell sums, products and powers of a formula apart."""
    groups = ({"Add", "Mul", "Pow"}, {"is_Add", "is_Mul", "is_Pow"})
    names = (_names(ast.walk(tree)) for _, tree in modules())
    return sum(any(group <= own for group in groups) for own in names)


def declarations_of_an_option() -> int:
    """Functions of the doors that declare the number of trials."""
    doors = ("api", "cli", "audit", "sweep")
    given = (node.args.args + node.args.kwonlyargs for path, node in _functions() if path.parts[1] in doors)
    return sum(any(one.arg == "trials" for one in some) for some in given)


def media_of_pages() -> int:
    """Modules that put blocks of a page into a medium."""
    return sum(path.stem in ("terminal", "html", "markdown", "latex", "mathml") for path, _ in _of("pages"))


def members_of_a_problem() -> int:
    """Methods, properties and fields without a value of ``Problem``, which a plug-in may meet."""
    trees = [tree for path, tree in modules() if path.parts[1:] == ("objective", "_problem.py")]
    classes = [node for node in trees[0].body if isinstance(node, ast.ClassDef) and node.name == "Problem"]
    fields = sum(isinstance(node, ast.AnnAssign) and node.value is None for node in classes[0].body)
    return fields + sum(isinstance(node, ast.FunctionDef) for node in classes[0].body)


COUNTS: Mapping[str, Callable[[], int]] = {
    "modules": files,
    "import statements": imports,
    "forms of a quadratic": forms_of_a_quadratic,
    "forms of AREA": forms_of_area,
    "names in prover and checker": names_in_prover_and_checker,
    "loops over a tape": loops_over_a_tape,
    "walks of a formula": walks_of_a_formula,
    "declarations of an option": declarations_of_an_option,
    "media of pages": media_of_pages,
    "members of a problem": members_of_a_problem,
}
