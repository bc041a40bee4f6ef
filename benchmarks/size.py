"""How much code there is, room by room: statements without docstrings, lines, and syntax nodes a statement.

python -m benchmarks.size            # beside the tables of CONTRIBUTING.md, with what has changed since
python -m benchmarks.size --write    # writes these tables anew
"""

import argparse
import ast
import re
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

from benchmarks.house import COUNTS, PRODUCT

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "CONTRIBUTING.md"
_BEGIN, _END = "<!-- size: written by make size -->\n", "<!-- end of size -->"
_WITH_DOCSTRING = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@final
@dataclass(slots=True)
class Size:
    """Of a room: statements that are no docstrings, lines, and nodes of the syntax tree."""

    statements: int = 0
    lines: int = 0
    nodes: int = 0

    def add(self, text: str) -> None:
        """Count a module."""
        self.lines += text.count("\n")
        for node in ast.walk(ast.parse(text)):
            self.nodes += 1
            self.statements += isinstance(node, ast.stmt)
            self.statements -= isinstance(node, _WITH_DOCSTRING) and ast.get_docstring(node, clean=False) is not None


def room(path: Path) -> str:
    """Return the room of a module: a folder of boundlab or a module by itself; else the folder at the top."""
    parts = path.relative_to(ROOT).parts
    return parts[1].removesuffix(".py") if parts[0] == "boundlab" else parts[0]


def sizes(folders: Sequence[str] = (*PRODUCT, "tests", "benchmarks")) -> dict[str, Size]:
    """Return the sizes by room, the largest first; tests and benchmarks last."""
    found: dict[str, Size] = defaultdict(Size)
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            found[room(path)].add(path.read_text(encoding="utf-8"))
    apart = ("tests", "benchmarks")
    return dict(sorted(found.items(), key=lambda item: (item[0] in apart, -item[1].statements)))


def table(found: dict[str, Size]) -> str:
    """Return the table in Markdown, with the sum of the product."""
    product = Size()
    for name, one in found.items():
        if name not in ("tests", "benchmarks"):
            product.statements += one.statements
            product.lines += one.lines
            product.nodes += one.nodes
    rows = [
        f"| `{name}` | {one.statements} | {one.lines} | {one.nodes / max(1, one.statements):.1f} |"
        for name, one in found.items()
    ]
    total = f"| product | {product.statements} | {product.lines} | {product.nodes / product.statements:.1f} |"
    return "\n".join(["| room | statements | lines | nodes a statement |", "|---|---|---|---|", total, *rows, ""])


def counts() -> str:
    """Return how often each concept is written down, as a table in Markdown."""
    rows = [f"| {name} | {count()} |" for name, count in COUNTS.items()]
    return "\n".join(["| what | today |", "|---|---|", *rows, ""])


def limits() -> dict[str, int]:
    """Return the first number of each row of CONTRIBUTING.md's tables, by room or concept."""
    page = PAGE.read_text(encoding="utf-8")
    inside = page[page.index(_BEGIN) : page.index(_END)]
    return {name: int(count) for name, count in re.findall(r"^\| `?([\w ]+?)`? \| (\d+) \|", inside, re.MULTILINE)}


def main() -> None:
    """Print the tables with changes since those of CONTRIBUTING.md, or write them there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    page, now, was = PAGE.read_text(encoding="utf-8"), table(sizes()) + "\n" + counts(), limits()
    before, rest = page.split(_BEGIN)
    if parser.parse_args().write:
        PAGE.write_text(before + _BEGIN + now + rest[rest.index(_END) :], encoding="utf-8")
        return
    for line in now.splitlines():
        named = re.match(r"\| `?([\w ]+?)`? \| (\d+) \|", line)
        change = int(named[2]) - was.get(named[1], 0) if named else 0
        sys.stdout.write(f"{line}{f' {change:+d}' if change else ''}\n")


if __name__ == "__main__":
    main()
