"""Run the notebooks' texts from top to bottom and store the pairs: ``python -m benchmarks.store_notebooks [NAME …]``.

A file in ``notebooks`` that ends in .py is the text; its pair, in .ipynb, is written: the same cells with what they
printed and drew, and nothing of the machine: neither paths, nor times, nor versions.
"""

import os
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import jupytext
import nbformat
from nbclient import NotebookClient

from boundlab.files import replacing

FOLDER = Path(__file__).parents[1] / "notebooks"
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
LIMIT = 900  # seconds for a cell


def executed(text: Path) -> nbformat.NotebookNode:
    """Return a text as a notebook with its outputs."""
    notebook = jupytext.read(text, fmt="py:percent")
    notebook.metadata = nbformat.from_dict({"kernelspec": KERNEL, "language_info": {"name": "python"}})
    resources = {"metadata": {"path": str(text.parent)}}
    NotebookClient(notebook, timeout=LIMIT, resources=resources, record_timing=False).execute()
    notebook.metadata = nbformat.from_dict({"kernelspec": KERNEL, "language_info": {"name": "python"}})
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"
        cell.metadata = nbformat.from_dict({})
    return notebook


def main(names: Iterable[str]) -> None:
    """Store the notebooks of these names, or all."""
    os.environ.pop("MPLBACKEND", None)  # figures go into the notebook
    chosen = set(names)
    for text in sorted(FOLDER.glob("*.py")):
        if not chosen or text.stem in chosen:
            start = time.perf_counter()
            notebook = executed(text)
            with replacing(text.with_suffix(".ipynb")) as temporary:
                nbformat.write(notebook, temporary)
            sys.stdout.write(f"{text.stem}: {time.perf_counter() - start:.0f} s\n")


if __name__ == "__main__":
    main(sys.argv[1:])
