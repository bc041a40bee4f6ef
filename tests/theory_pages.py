r"""Numbered displays of the theory pages, and which test stands for which.

An argument on a page numbers its displays, ``\tag{T8.3}``: letters, and numbers between points. A test about them
says so with :func:`shows`, and a line of a machine proof by its name; ``tests/theory/test_displays.py`` makes sure that
none is left without either.
"""

import ast
import re
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

ROOT = Path(__file__).parent.parent
PAGES = ROOT / "docs" / "theory"
_TAG = re.compile(r"\\tag\{([A-Z]+[a-z]*\d+(?:\.\d+)*)\}")
_NAMED = re.compile(r"\b([A-Z]+[a-z]*\d+(?:\.\d+)*)\b")

Test = TypeVar("Test", bound=Callable[..., object])


def below(left: ArrayLike, right: ArrayLike) -> bool:
    """Return whether left ≤ right everywhere, up to rounding."""
    left, right = np.asarray(left), np.asarray(right)
    return bool(np.all(left <= right + 1e-9 * np.abs(right) + 1e-12))


def shows(page: str, *tags: str) -> Callable[[Test], Test]:
    """Say that a test is about these displays of ``docs/theory/<page>.md``; only read, never run."""
    return lambda test: test


def displays(page: str) -> list[str]:
    """Return the numbers of a page's displays in their order, with repetitions."""
    return _TAG.findall((PAGES / f"{page}.md").read_text(encoding="utf-8"))


def decided(page: str) -> set[str]:
    """Return which displays the machine proofs name that are about a page."""
    texts = [module.read_text(encoding="utf-8") for module in (ROOT / "proofs").glob("*.py")]
    return {tag for text in texts if f"docs/theory/{page}.md" in text for tag in _NAMED.findall(text)}


def shown() -> dict[str, set[str]]:
    """Return which displays of which page the tests are about."""
    found: dict[str, set[str]] = {}
    for module in sorted((ROOT / "tests" / "theory").glob("test_*.py")):
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "shows":
                page, *tags = [entry.value for entry in node.args if isinstance(entry, ast.Constant)]
                found.setdefault(str(page), set()).update(map(str, tags))
    return found
