"""Lay out what Sphinx reads: the pages where they lie in the repository, and beside them what reference.py writes.

``python website/assemble.py FOLDER``. Pages keep their places, so that links between them are those of the repository.
"""

import shutil
import sys
from pathlib import Path

import reference

HERE = Path(__file__).parent
ROOT = HERE.parent
# Folders and pages of the site, and files that pages link to.
PARTS = ("docs", "notebooks", "benchmarks", "proofs/counterexamples", "tests/plugin_example")
SINGLE = ("CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "README.md", "RELEASING.md", "SECURITY.md")
KINDS = (".md", ".ipynb", ".png", ".svg", ".yml", ".json", ".py")


def assemble(target: Path) -> None:
    """Write the folder anew."""
    shutil.rmtree(target, ignore_errors=True)
    for part in PARTS:
        for path in (ROOT / part).rglob("*"):
            if path.suffix in KINDS and "__pycache__" not in path.parts:
                _copy(path, target / path.relative_to(ROOT))
    for name in SINGLE:
        _copy(ROOT / name, target / name)
    _copy(HERE / "index.md", target / "index.md")
    for name, text in reference.pages(ROOT).items():
        page = target / name
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))


def _copy(path: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(path, target)


if __name__ == "__main__":
    assemble(Path(sys.argv[1]))
