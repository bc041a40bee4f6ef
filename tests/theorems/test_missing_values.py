"""Who leaves values out is told all of them at once, in words that can be pasted."""

import re
from pathlib import Path

import pytest

from boundlab.cli import invoke
from boundlab.errors import BoundlabError, SymbolError, shortened
from boundlab.registry import registered
from boundlab.theorems import load_theorem
from boundlab.theorems.grid import evaluate

PASTED = re.compile(r"(\w+)=(\[…\]|…)")


def test_a_bound_that_reads_the_other_counter_is_told_which_one_to_write(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(
        'id = "mine"\nalgorithm = "gd"\nmetric = "gap"\n[step]\nalpha = "1/L"\n[terms]\nmain = "L*R**2/(2*T)"\n'
    )
    with pytest.raises(SymbolError, match="reads T, and its left side counts K; write K"):
        evaluate(load_theorem(file), ["L=1", "R=1"])


@pytest.mark.sweep(10)
@pytest.mark.parametrize("name", sorted(registered("theorems")))
def test_all_missing_values_are_named_at_once_and_are_enough(name: str) -> None:
    theorem = load_theorem(name)
    with pytest.raises(SymbolError) as error:
        evaluate(theorem, [])
    said = str(error.value)
    assert "\n" not in said
    values = [f"{one}={'[0.25,0.25]' if form != '…' else 1}" for one, form in PASTED.findall(said)]
    assert len(values) > 1
    assert f"needs {len(values)} more values" in said
    assert bool({"p", "qbar"} & set(theorem.inputs())) == any(one.startswith("p=") for one in values)
    refused = ""
    try:
        evaluate(theorem, values)
    except BoundlabError as error_of_one:  # 1 may be no value, or break a condition
        refused = str(error_of_one)
    assert " more values" not in refused
    assert "; set " not in refused


@pytest.mark.parametrize("form", ["0.5", "[0.5]", "[1/2]"])
def test_a_list_may_stand_in_brackets(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["--set", "M=50", "--set", "K=[10,20]", "--set", "B=1", "--set", "sigma=0", "--set", "R=3", "--csv"]
    assert invoke(["eval", "area.theorem8", "--set", f"p={form}", *asked]) == 0
    assert [line.partition(",")[0] for line in capsys.readouterr().out.split()] == ["K", "10.0", "20.0"]


@pytest.mark.sweep(5)
@pytest.mark.parametrize("most", range(1, 60))
def test_no_word_is_cut(most: int) -> None:
    text = "the regulariser's gradient is unbounded; try huber, lad or hinge"
    found = shortened(text, most)
    assert len(found) <= max(most, 1)
    assert found.endswith("…")
    whole = found[:-1].split()
    assert whole == text.split()[: len(whole)] or most <= len("the")
