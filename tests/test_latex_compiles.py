"""What is written as LaTeX compiles, and stays within the line: pages of results, audits, all registered proofs."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from own_theorem import own_theorem
from page_makers import RESULTS, page_of, result_of

import boundlab as bl
from boundlab.pages.blocks import line
from boundlab.pages.latex import latex, plain_latex
from boundlab.prove import run
from boundlab.prove.latex import proof_latex
from boundlab.registry import lookup, registered

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed"),
]
WIDEST = 15.0  # points
HOSTILE = "{\\input{/etc/passwd} $x %c &d #e _f ^g ~h <i> | \u202e \x07"
HOSTILE += "é ñ x̄ σ̄ Ā ẋ ℓ ρ τ⁴ pₛ ⁻² μ′ ⌊a⌋ ∫ 𝒫 中文 ☃ Ж"


def compiled(fragment: str, packages: str, folder: Path) -> tuple[list[str], float]:
    """Return the errors of pdflatex, and by how many points the widest line is too wide."""
    head = rf"\documentclass{{article}}\usepackage{{{packages}}}\begin{{document}}"
    (folder / "page.tex").write_text(f"{head}\n{fragment}\n\\end{{document}}\n", encoding="utf-8")
    command = ["pdflatex", "-no-shell-escape", "-interaction=nonstopmode", "page.tex"]
    for _ in range(2):  # a long table has its widths at the second time
        subprocess.run(command, cwd=folder, capture_output=True, check=False, timeout=300)
    log = (folder / "page.log").read_text(encoding="utf-8", errors="replace")
    wide = [float(one) for one in re.findall(r"Overfull \\hbox \(([\d.]+)pt", log)]
    return re.findall(r"^! .*", log, re.MULTILINE), max(wide, default=0.0)


@pytest.mark.parametrize("name", registered("proofs"))
def test_the_latex_of_every_proof_compiles(name: str, tmp_path: Path) -> None:
    errors, wide = compiled(proof_latex(run(lookup("proofs", name))), "amsmath,amssymb", tmp_path)
    assert errors == []
    assert wide <= WIDEST


@pytest.mark.parametrize("name", ["area.theorem8", "fedcompass.theorem1", "classics.gd.convex", "mine"])
def test_the_latex_of_an_audit_compiles_whatever_the_theorems_text_is(name: str, tmp_path: Path) -> None:
    theorem: str | Path = name
    if name == "mine":
        theorem = tmp_path / "mine.toml"
        theorem.write_text(own_theorem(title=HOSTILE, paper=HOSTILE, note=HOSTILE), encoding="utf-8")
    found = bl.audit(theorem, candidates=10, jobs=1)
    errors, wide = compiled(found.latex(), "amsmath,amssymb,graphicx,longtable", tmp_path)
    assert errors == []
    assert wide <= WIDEST


@pytest.mark.parametrize("name", sorted({*RESULTS} - {"audit"}))
def test_the_latex_of_every_kind_of_result_compiles(name: str, tmp_path: Path) -> None:
    blocks = page_of(result_of(name))
    fitted, plain = latex(line(name), blocks), plain_latex(blocks)
    assert compiled(fitted, "amsmath,amssymb,graphicx,longtable", tmp_path)[0] == []
    assert compiled(plain, "amsmath,amssymb", tmp_path)[0] == []


@pytest.mark.parametrize("name", ["area.theorem8", "area.theorem7", "fedcompass.theorem1", "fedstaleweight.theorem1"])
def test_the_latex_of_a_theorem_compiles(name: str, tmp_path: Path) -> None:
    errors, _ = compiled(rf"\begin{{gather*}}{bl.theorem(name).latex()}\end{{gather*}}", "amsmath,amssymb", tmp_path)
    assert errors == []
