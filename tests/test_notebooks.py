"""Notebooks run from top to bottom, and what is stored of them is fit to be read."""

import base64
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import jupytext
import nbformat
import pytest

FOLDER = Path(__file__).parents[1] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
MACHINE = re.compile(r"(?<![\w.])/(?:tmp|home|root|work|usr|opt|Users)/|\b0x[0-9a-f]{6,}\b|\bC:\\")

every_notebook = pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)


def cells(notebook: Path) -> list[dict[str, Any]]:
    return json.loads(notebook.read_text(encoding="utf-8"))["cells"]


def outputs(notebook: Path) -> list[dict[str, Any]]:
    return [output for cell in cells(notebook) for output in cell.get("outputs", ())]


def pictures(cell: dict[str, Any]) -> list[bytes]:
    found = [output.get("data", {}).get("image/png") for output in cell.get("outputs", ())]
    return [base64.b64decode(one) for one in found if one]


@pytest.mark.nightly
@pytest.mark.parametrize(
    "notebook",
    NOTEBOOKS,
    ids=lambda path: path.stem,
)
def test_a_notebook_runs_from_top_to_bottom_without_a_warning(notebook, tmp_path):
    copy = Path(shutil.copy(notebook, tmp_path))  # what it writes stays there
    there = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    command = [sys.executable, "-m", "pytest", "-q", "--nbmake", "--overwrite", "--nbmake-timeout=900"]
    plain = ["-p", "no:cacheprovider", "-p", "no:xdist", "-c", os.devnull, "--rootdir", str(tmp_path)]
    done = subprocess.run(
        [*command, *plain, str(copy)], cwd=tmp_path, env=there, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert ["".join(one["text"]) for one in outputs(copy) if one.get("name") == "stderr"] == []


@every_notebook
def test_text_and_notebook_have_the_same_cells(notebook):
    text, stored = jupytext.read(notebook.with_suffix(".py")), nbformat.read(notebook, as_version=4)
    assert [(one.cell_type, one.source) for one in text.cells] == [(one.cell_type, one.source) for one in stored.cells]


@every_notebook
def test_a_notebook_is_stored_as_it_ran_from_the_top(notebook):
    counts = [one["execution_count"] for one in cells(notebook) if one["cell_type"] == "code"]
    assert counts == list(range(1, len(counts) + 1))
    assert outputs(notebook)


@every_notebook
def test_what_is_stored_names_no_machine(notebook):
    metadata = json.loads(notebook.read_text(encoding="utf-8"))["metadata"]
    assert metadata == {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    kinds = {output["output_type"] for output in outputs(notebook)}
    assert kinds <= {"stream", "display_data", "execute_result"}
    assert {output["name"] for output in outputs(notebook) if output["output_type"] == "stream"} <= {"stdout"}
    said = [
        json.dumps({kind: text for kind, text in (output.get("data") or output).items() if kind != "image/png"})
        for output in outputs(notebook)
    ]
    assert [text for text in said if MACHINE.search(text)] == []


@every_notebook
def test_each_figure_has_a_description_after_it(notebook):
    found = cells(notebook)
    for place, cell in enumerate(found):
        drawn = len(pictures(cell))
        assert drawn <= 1, f"cell {place} draws {drawn} figures: one cell, one figure, one description"
        if drawn:
            after = "".join(found[place + 1]["source"])
            assert found[place + 1]["cell_type"] == "markdown"
            assert after.startswith("*Figure: "), f"cell {place}"
            assert len(after) > 80


@every_notebook
def test_the_figures_of_a_notebook_are_small_together(notebook):
    assert sum(len(one) for cell in cells(notebook) for one in pictures(cell)) < 1_500_000


def test_every_notebook_is_in_the_table():
    table = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert {one.stem for one in NOTEBOOKS} == set(re.findall(r"\]\((\w+)\.ipynb\)", table))
    assert {one.stem for one in FOLDER.glob("*.py")} == {one.stem for one in NOTEBOOKS}


def test_the_first_picture_of_the_readme_is_the_one_that_the_notebook_drew():
    """Five methods on one problem: docs/figures/five-papers.png is the first figure of notebook 5."""
    drawn = next(one for cell in cells(FOLDER / "05_five_papers_one_problem.ipynb") for one in pictures(cell))
    page = (FOLDER.parent / "README.md").read_text(encoding="utf-8")
    first = re.findall(r"!\[[^]]*\]\((\S+?)\)", page)[0]
    assert first == "docs/figures/five-papers.png"
    assert (FOLDER.parent / first).read_bytes() == drawn
