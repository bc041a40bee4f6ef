"""The package as it is installed."""

import ast
import doctest
import importlib
import importlib.util
import os
import pkgutil
import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest

import boundlab
from boundlab.__about__ import REPOSITORY, SITE, __version__

ROOT = Path(__file__).parents[1]
FOUND = (info.name for info in pkgutil.walk_packages(boundlab.__path__, "boundlab."))
SOURCES = [path for folder in ("boundlab", "problems", "proofs") for path in (ROOT / folder).rglob("*.py")]
MODULES = sorted(name for name in FOUND if "__main__" not in name)


def has_examples(name):
    spec = importlib.util.find_spec(name)
    return ">>>" in Path(spec.origin).read_text(encoding="utf-8")


@pytest.mark.sweep(12)
@pytest.mark.parametrize("name", [*filter(has_examples, MODULES)])
def test_every_example_in_a_docstring_runs(name):
    module = importlib.import_module(name)
    question = {name.rpartition(".")[2]: module} if callable(module) else {}  # its documentation is the function's
    assert doctest.testmod(module, extraglobs=question).failed == 0


def test_every_module_can_be_imported():
    for name in MODULES:
        importlib.import_module(name)


def test_every_public_name_is_the_same_when_it_is_asked_again():
    """The import system names a subpackage in its package, which must not hide what is public there."""
    program = (
        "import boundlab as bl; before = {name: getattr(bl, name) for name in bl.__all__}; "
        "changed = [name for name in bl.__all__ if getattr(bl, name) is not before[name]]; "
        "dead = [name for name in bl.__all__ if name != '__version__' and not callable(before[name])]; "
        "assert not changed + dead, changed + dead"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_no_module_is_longer_than_900_lines():
    assert {path.name: size for path in SOURCES if (size := len(path.read_text().splitlines())) > 900} == {}


def test_no_docstring_begins_with_a_question_word():
    others = {("boundlab", "prove"), ("boundlab", "recheck")}
    folders = {path: path.relative_to(ROOT).parts for path in SOURCES}
    documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    found = [
        f"{path.relative_to(ROOT)}:{node.body[0].lineno}: {words.splitlines()[0]}"
        for path, parts in folders.items()
        if parts[0] != "proofs" and parts[:2] not in others
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, documented) and (words := ast.get_docstring(node))
        if re.match(r"(What|Who|Whose|Whether)\b", words)
    ]
    assert found == []


def test_every_folder_of_modules_is_in_the_wheel():
    setuptools = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    tops = {"boundlab": "boundlab", "problems": "boundlab.problems", "proofs": "boundlab.proofs"}
    folders = [path.parent.relative_to(ROOT) for top in tops for path in (ROOT / top).rglob("__init__.py")]
    modules = [".".join((tops[path.parts[0]], *path.parts[1:])) for path in folders]
    assert sorted(setuptools["packages"]) == sorted({*modules, *setuptools["package-data"]})


@pytest.mark.nightly
def test_two_collections_find_the_same_tests():
    """Workers collect each for itself: a name that holds a time, a process or the order of a set stops them all."""
    asked = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    first, second = (
        subprocess.run(asked, capture_output=True, text=True, check=True, env={**os.environ, "PYTHONHASHSEED": seed})
        for seed in ("1", "2")
    )
    assert first.stdout.rpartition(" in ")[0] == second.stdout.rpartition(" in ")[0]


def test_the_machinery_never_imports_problems_or_proofs():
    for path in (ROOT / "boundlab").rglob("*.py"):
        text = path.read_text()
        assert "import boundlab.problems" not in text, path
        assert "from boundlab.problems" not in text, path
        assert "from boundlab.proofs" not in text, path


def test_the_addresses_stand_wherever_they_are_needed():
    """Before they are published, nowhere; afterwards in all of these files, with the tag of this version."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = {"Repository": REPOSITORY, "Documentation": SITE}
    assert project.get("urls", {}) == {name: address for name, address in named.items() if address}
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"version: {__version__}\n" in citation
    assert re.findall(r"(?m)^repository-code: (.*)$", citation) == [f'"{REPOSITORY}"'] * bool(REPOSITORY)
    assert not any(address.endswith("/") for address in named.values())
    source = f"@ git+{REPOSITORY or 'REPOSITORY'}@v{__version__}"
    for page in ("theorem.yml", "plugins.md"):
        assert source in (ROOT / "docs" / page).read_text(encoding="utf-8")


def test_few_class_names_stand_twice() -> None:
    """The checker and what writes proofs each have a Claim, a Fact and so on: the one reads what the other writes."""
    found = Counter(
        node.name
        for path in SOURCES
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef)
    )
    assert len([name for name, count in found.items() if count > 1]) <= 12
