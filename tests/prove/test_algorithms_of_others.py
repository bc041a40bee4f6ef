"""A theorem about an algorithm that no setting names is proved where all its runs are in a class that is known."""

import re
from pathlib import Path
from typing import Any

import pytest

from boundlab.classes import CLASSES, outside
from boundlab.cli import invoke
from boundlab.registry import registered

ROOT = next(folder for folder in Path(__file__).parents if (folder / "pyproject.toml").exists())
PAGE = (ROOT / "docs" / "prove.md").read_text(encoding="utf-8")
PLUGIN, THEOREM = (
    re.search(rf"^```\w+ file={name}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL).group(1)  # type: ignore[union-attr]
    for name in ("capped.py", "capped.toml")
)
STEPS = "classics.delayed-sgd"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("capped.py").write_text(PLUGIN, encoding="utf-8")
    Path("capped.toml").write_text(THEOREM, encoding="utf-8")
    return tmp_path


def asked(*words: str) -> int:
    return int(invoke(["--plugin", "capped.py", "prove", "capped.toml", *words]))


def changed(old: str, new: str, name: str = "capped.py") -> None:
    text = Path(name).read_text(encoding="utf-8")
    assert old in text
    Path(name).write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.nightly
def test_a_theorem_about_a_plug_in_has_the_steps_of_a_registered_proof(here: Path, capsys: Any) -> None:
    assert asked("--with", STEPS, "--trace", "proof.json") == 0
    assert "proved: mine.capped" in capsys.readouterr().out
    assert invoke(["--plugin", "capped.py", "recheck", "proof.json"]) == 3  # the theorem is not registered
    assert "No theorem mine.capped is registered" in capsys.readouterr().out
    assert invoke(["--plugin", "capped.py", "recheck", "proof.json", "--theorem", "capped.toml"]) == 0
    assert capsys.readouterr().out.startswith("accepted: mine.capped: ")


def test_a_proof_of_another_statement_is_not_accepted(here: Path, capsys: Any) -> None:
    assert asked("--with", STEPS, "--trace", "proof.json") == 0
    changed("alpha*L*sigma**2", "alpha*L*sigma**2/2", "capped.toml")
    assert invoke(["--plugin", "capped.py", "recheck", "proof.json", "--theorem", "capped.toml"]) == 3
    assert "the statement: right of mine.capped read otherwise" in capsys.readouterr().out
    changed('"mine.capped"', '"mine.other"', "capped.toml")
    assert invoke(["--plugin", "capped.py", "recheck", "proof.json", "--theorem", "capped.toml"]) == 2
    assert "is mine.other, and the file proves mine.capped" in capsys.readouterr().err


def test_the_theorem_about_ringmaster_is_that_of_asynchronous_sgd(here: Path, capsys: Any) -> None:
    changed('"capped"', '"ringmaster"', "capped.toml")
    assert asked("--with", STEPS) == 0
    assert capsys.readouterr().out.endswith("proved: mine.capped\n")


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('settable = ["alpha"]\n', "", "states more; yours may need it, too: settable: alpha"),
        ('conditions = ["alpha <= 1/(L*(1+2*tau_max))"]', "", "states more; yours may need it, too: conditions: α ≤"),
        ('"bounded-variance"', '"deterministic"', "states more; yours may need it, too: assumptions: bounded-variance"),
    ],
)
def test_what_the_theorem_of_the_steps_states_more_is_told(
    here: Path, capsys: Any, old: str, new: str, why: str
) -> None:
    changed(old, new, "capped.toml")
    assert asked("--with", STEPS) in (1, 3)
    assert why in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("(1.0, mine + client))\n            else", "(0.5, mine + client))\n            else", "made of the passes"),
        ("client, 1, parameters.alpha)", "client, 2, parameters.alpha)", "has 2 local steps"),
        ("client, 1, parameters.alpha)", "client, 1, 0.5 * parameters.alpha)", "has steps of size"),
    ],
)
def test_a_plug_in_that_does_something_else_is_refused(here: Path, capsys: Any, old: str, new: str, why: str) -> None:
    changed(old, new)
    assert asked("--with", STEPS) == 2
    said = capsys.readouterr().err
    assert "capped does not have them: with alpha=0.02" in said
    assert why in said
    assert said.count("\n") == 1


def test_a_theorem_that_is_false_of_the_plug_in_is_not_proved(here: Path, capsys: Any) -> None:
    changed("2*F0/(alpha*T)", "F0/(alpha*T)", "capped.toml")
    assert asked("--with", STEPS) == 3
    capsys.readouterr()


def test_as_many_clients_are_looked_at_as_the_theorem_is_about(here: Path, capsys: Any) -> None:
    changed("(1.0, mine + client))\n            else", "(1.0 / clients, mine + client))\n            else")
    assert asked("--with", STEPS) == 2
    assert "2 clients it leaves the class" in capsys.readouterr().err
    changed("conditions = [", 'conditions = ["n <= 1", ', "capped.toml")
    assert asked("--with", STEPS) == 0


@pytest.mark.parametrize("name", ["ogm"])
def test_a_theorem_about_an_algorithm_of_no_class_has_no_proof(here: Path, capsys: Any, name: str) -> None:
    changed('"capped"', f'"{name}"', "capped.toml")
    assert asked("--with", STEPS) == 2
    assert "it leaves the class" in capsys.readouterr().err


def test_single_steps_that_are_added_as_they_arrive_are_what_these_algorithms_make_and_no_other() -> None:
    assert {name for name in registered("algorithms").keys() - CLASSES.keys() if not outside(name)} == {"ringmaster"}


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["prove", "--with", STEPS], "name its id, or its file"),
        (["prove", "capped.toml"], "--search looks for a proof, --with SCRIPT"),
        (["prove", "--axioms"], "about one proof: name it"),
        (["prove", STEPS, "--axioms", "--json"], "leave it out"),
        (["prove", "classics.gd.convex", "--with", "nothing"], "unknown proof"),
        (["prove", "classics.gd.convex", "--search", "--with", STEPS], "--search writes a file"),
    ],
)
def test_nonsense_gets_one_line(here: Path, capsys: Any, words: list[str], why: str) -> None:
    assert invoke(words) == 2
    said = capsys.readouterr().err
    assert why in said
    assert said.count("\n") == 1


def test_a_page_tells_all_that_a_proof_rests_on(capsys: Any) -> None:
    assert invoke(["prove", STEPS, "--axioms"]) == 0
    page = capsys.readouterr().out
    for one in ("class passes: ", "smooth ", "bounded-below, start  E f(x[0]) − E f(x[T]) ≤ F0", "rules: combine "):
        assert one in page
    assert "convex" not in page
