"""The registered theorems are files: they say what is recorded, and what a user's file of the same text says."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from boundlab.assumptions import BOUNDED_RUN, DETERMINISTIC
from boundlab.errors import SpecError
from boundlab.registry import registered
from boundlab.theorems import ALONG_RUN, Theorem, core, load_theorem, read_off_runs
from boundlab.theorems._toml import of_package, read_theorem

FOLDER = Path(__file__).parents[2] / "boundlab" / "theorems"
FILES = {path.stem: path for path in FOLDER.glob("*/*.toml")}
THEOREMS: dict[str, Theorem] = registered("theorems")
RECORDED = json.loads(Path(__file__).with_name("cores.json").read_text(encoding="utf-8"))


def test_every_file_is_registered_under_its_name_and_everything_registered_has_a_file() -> None:
    assert FILES.keys() == THEOREMS.keys()
    assert all(theorem.id == name for name, theorem in THEOREMS.items())


def test_ids_order_and_hashes_of_cores_are_those_that_are_recorded() -> None:
    """Who changes a statement on purpose writes the new hash down."""
    assert [(name, core(theorem).sha256) for name, theorem in THEOREMS.items()] == list(RECORDED.items())


@pytest.mark.sweep(18)
@pytest.mark.parametrize("name", FILES)
def test_a_users_file_of_the_same_text_says_the_same(name: str) -> None:
    """It is looked up in all registries, has one reading, and no factor cancels in the formulas as they are written."""
    again, theorem = load_theorem(FILES[name]), THEOREMS[name]
    assert core(again).json == core(theorem).json
    assert again.latex() == theorem.latex()
    assert (again.note, again.letters, again.conditions) == (theorem.note, theorem.letters, theorem.conditions)


@pytest.mark.sweep(2)
@pytest.mark.parametrize("name", [name for name in THEOREMS if name.endswith(ALONG_RUN)])
def test_a_form_along_the_run_claims_the_same_with_constants_of_certain_points(name: str) -> None:
    """Where one run shows all points, it is about full gradients: of noise no run shows how large it may be."""
    form, theorem = THEOREMS[name], THEOREMS[name.removesuffix(ALONG_RUN)]
    shown = read_off_runs(form) == form.points.keys()
    more = [BOUNDED_RUN, *([DETERMINISTIC] if shown else [])]
    same = replace(
        theorem,
        id=name,
        title=f"{theorem.title}, constants along the run",
        assumptions=tuple(dict.fromkeys((*theorem.assumptions, *more))),
        points=form.points,
        proofs=tuple(f"{one}{ALONG_RUN}" for one in theorem.proofs),
    )
    assert form.points
    assert form == same


def test_a_file_is_read_when_its_theorem_is_asked_for_and_once(tmp_path: Path) -> None:
    found = of_package(tmp_path, ("late", "never"))
    assert list(found) == ["late", "never"]
    (tmp_path / "late.toml").write_text(FILES["area.theorem8"].read_text(encoding="utf-8"), encoding="utf-8")
    assert found["late"]() is found["late"]()
    assert found["late"]().source == ""
    with pytest.raises(SpecError, match=r"never\.toml"):
        found["never"]()


@pytest.mark.nightly
def test_who_asks_for_one_theorem_reads_one_file() -> None:
    program = (
        "from boundlab.theorems import _toml, load_theorem; "
        "before = _toml._load; _toml._load = lambda path: print(path.name) or before(path); "
        "load_theorem('area.theorem8.repaired')"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["area.theorem8.repaired.toml"]


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ('recursion = "ogm"', 'recursion = "gd"', "unknown recursion 'gd'"),
        ("[step]", '[terms]\nbound = "R"\n[step]', "both say what the right side is"),
        ('recursion = "ogm"', "", "terms is missing"),
        ('recursion = "ogm"', 'recursion = "area"', "needs the options start and clock"),
        ('says = "σ = 0 (full gradients)"', "says = 1", "conditions must be a list of texts"),
        ('says = "σ = 0 (full gradients)"', 'means = "σ = 0"', "unknown key 'means'"),
    ],
)
def test_a_recursion_and_words_of_conditions_are_refused_where_they_are_none(
    before: str, after: str, words: str, tmp_path: Path
) -> None:
    text = FILES["classics.ogm"].read_text(encoding="utf-8")
    (tmp_path / "mine.toml").write_text(text.replace(before, after), encoding="utf-8")
    with pytest.raises(SpecError, match=words):
        read_theorem(tmp_path / "mine.toml")
