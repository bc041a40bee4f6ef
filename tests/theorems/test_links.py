"""From "false" to "why" to "what is true": what theorems name is there, and every command leads to it."""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from statements import statement_file
from typer.testing import CliRunner

from boundlab.case import load_case, own_case
from boundlab.cli._app import application
from boundlab.errors import SpecError, SymbolError
from boundlab.exact import evaluate
from boundlab.pages.theorem import related_links
from boundlab.registry import registered
from boundlab.theorems import load_theorem
from boundlab.verdict import ExitCode

ROOT = next(folder for folder in Path(__file__).parents if (folder / "pyproject.toml").exists())
THEOREMS = registered("theorems")
PRINTED = [one for one in THEOREMS.values() if one.of_paper]


def own(folder: Path, **more: Any) -> Path:
    return statement_file(
        folder,
        **{
            "assumptions": "convex smooth minimiser",
            "settable": ["alpha"],
            "step": {"alpha": "1/L"},
            "terms": {"bound": "R**2/(2*alpha*K)"},
            **more,
        },
    )


@cache
def anchors(page: str) -> frozenset[str]:
    """Return the anchors that GitHub gives the headings of a page: lower case, no punctuation, hyphens for blanks."""
    headings = re.findall(r"^#+ (.*)$", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE)
    slugs = [re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings]
    earlier = [slugs[:place].count(slug) for place, slug in enumerate(slugs)]
    return frozenset(f"{slug}-{count}" if count else slug for slug, count in zip(slugs, earlier, strict=True))


def mentioned(name: str, page: str) -> bool:
    """Return whether a page has the whole id; the page of the textbook theorems leaves out their prefix."""
    text = (ROOT / page).read_text(encoding="utf-8")
    own = f"`{name.removeprefix('classics.')}`" if name.startswith("classics.") else None
    return bool(re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-]|\.\w)", text)) or bool(own and own in text)


@pytest.mark.sweep(10)
@pytest.mark.parametrize("name", sorted(THEOREMS))
def test_what_a_theorem_names_is_there(name: str) -> None:
    theorem = THEOREMS[name]
    assert theorem.page, "a registered theorem has a page"
    assert mentioned(name, theorem.page)
    if theorem.refuted_by:
        case = json.loads((ROOT / theorem.refuted_by).read_text(encoding="utf-8"))
        assert case["theorem"] == name
    for repair in theorem.repaired_by:
        assert THEOREMS[repair].status in ("repaired", "derived here")
        assert THEOREMS[repair].algorithm == theorem.algorithm
        assert THEOREMS[repair].metric == theorem.metric
    if theorem.proof:
        page, _, anchor = theorem.proof.partition("#")
        assert anchor in anchors(page)
        assert mentioned(name, page)


def test_what_is_refuted_has_a_repair_and_nothing_true_is_refuted() -> None:
    refuted = [one for one in THEOREMS.values() if one.refuted_by]
    assert all(one.of_paper for one in refuted)
    assert not any(one.shape for one in refuted)
    assert all(one.repaired_by for one in refuted)
    assert len(refuted) >= 8
    assert all(one.repaired_by for one in PRINTED)
    assert not any(one.repaired_by for one in THEOREMS.values() if not one.of_paper)


def test_the_letters_are_those_of_the_papers() -> None:
    assert dict(THEOREMS["fedcompass.theorem1"].letters) == {
        "n": "m",
        "F0": "F^*",
        "G_sq": "M",
        "eta": r"\eta_\ell",
        "speed_ratio": r"\mu",
    }
    assert dict(THEOREMS["fedfa.delta.a"].letters) == {"F0": "F^*", "G_sq": "G", "window": "K"}
    assert dict(THEOREMS["afl_dga.r1"].letters) == {"F0": r"\Delta"}
    assert not any(one.letters for name, one in THEOREMS.items() if name.startswith(("area.", "classics.")))
    for theorem in THEOREMS.values():
        read = theorem.read_by(set(theorem.inputs()) | set(theorem.step) | set(theorem.definitions))
        assert set(theorem.letters) <= read
        assert all(letter != theorem.symbols[name].latex for name, letter in theorem.letters.items())
        assert len(set(theorem.letters.values())) == len(theorem.letters)


def test_the_lines_lead_on() -> None:
    assert related_links(THEOREMS["fedstaleweight.theorem1"]) == (
        "counterexample: boundlab exact fedstaleweight.theorem1\n"
        "true instead: fedstaleweight.rf1, fedstaleweight.rf2, fedstaleweight.rf3\n"
        "step by step: boundlab prove fedstaleweight.theorem1\n"
        "why: boundlab docs fedstaleweight"
    )
    assert related_links(THEOREMS["classics.sgd.sampled"]) == "proof: boundlab docs classics#stochastic-gradients"
    assert related_links(THEOREMS["classics.ogm"]) == "page: boundlab docs classics"
    assert related_links(THEOREMS["area.theorem7"]).startswith("true instead: area.theorem7.explicit, ")


def test_a_theorem_names_the_proofs_that_decide_it_and_no_others() -> None:
    scripts = registered("proofs").values()
    same = {"area.theorem8.printed-start": "area.theorem8"}  # printed once, for a start that Algorithm 2 does not have
    for theorem in THEOREMS.values():
        known = theorem.id, same.get(theorem.id)
        own = (one.id for one in scripts if one.id in known or (theorem.id == one.proves and not one.printed))
        assert sorted(own) == sorted(theorem.proofs), theorem.id
        assert all(f"boundlab prove {name}" in related_links(theorem) for name in theorem.proofs)


def test_a_theorem_of_ones_own_says_what_it_knows(tmp_path: Path) -> None:
    path = own(tmp_path)
    assert related_links(load_theorem(str(path))) == ""
    said = {
        "refuted_by": "cases/mine.json",
        "repaired_by": ["classics.gd.ergodic"],
        "page": "notes.md",
        "proof": "notes.md#the-proof",
        "proofs": ["mine.first"],
        "letters": {"R": "D_0", "alpha": r"\gamma"},
    }
    theorem = load_theorem(str(own(tmp_path, **said)))
    assert related_links(theorem) == (
        "counterexample: cases/mine.json\ntrue instead: classics.gd.ergodic\nproof: notes.md#the-proof\n"
        "step by step: boundlab prove mine.first\nwhy: notes.md"
    )
    fields = json.loads(json.dumps(theorem.as_dict()))
    assert {key: fields[key] for key in said} == said
    assert theorem.latex().endswith(r"\text{the paper writes } D_0 \text{ for } R,\ \gamma \text{ for } \alpha")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"refuted_by": "case.txt"}, "refuted_by must be the path of a case file"),
        ({"refuted_by": "case.json", "shape": True}, "refuted_by must be empty, since a shape"),
        ({"repaired_by": ["mine"]}, "repaired_by must name other theorems, each once"),
        ({"repaired_by": ["a", "a"]}, "repaired_by must name other theorems, each once"),
        ({"repaired_by": "a"}, "repaired_by must be a list of texts"),
        ({"page": "a.md#b"}, "page must be a page without an anchor"),
        ({"proof": "a.md"}, "proof must be a page with an anchor"),
        ({"letters": {"sigma_l": "s"}}, "letters must give symbols that the theorem reads a letter; see sigma_l"),
        ({"letters": {"R": ""}}, "letters must give symbols that the theorem reads a letter; see R"),
        ({"letters": {"R": 1}}, "letters.R must be text"),
        ({"letters": {"RR": "s"}}, "unknown symbol 'RR'"),
    ],
)
def test_a_link_that_cannot_be_one_is_one_line(tmp_path: Path, more: dict[str, Any], words: str) -> None:
    with pytest.raises((SpecError, SymbolError)) as caught:
        load_theorem(str(own(tmp_path, **more)))
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_theorems_own_counterexample_is_replayed_from_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    theorem = THEOREMS["area.theorem8"]
    assert evaluate(theorem, load_case(own_case(theorem))).violated
    with pytest.raises(SpecError, match=r"area\.theorem8\.repaired names no counterexample of its own"):
        own_case(THEOREMS["area.theorem8.repaired"])
    mine = load_theorem(str(own(tmp_path, refuted_by="cases/mine.json")))
    with pytest.raises(SpecError, match="is not here"):
        own_case(mine)
    (tmp_path / "cases").mkdir()
    (tmp_path / "cases" / "mine.json").write_text("{}", encoding="utf-8")
    assert own_case(mine) == Path("cases/mine.json")


@pytest.mark.sweep(5)
@pytest.mark.parametrize(
    "command",
    [
        ["show", "area.theorem8"],
        ["check", "area.theorem8", "--only", "units"],
        ["exact", "area.theorem8"],
        ["falsify", "fedstaleweight.theorem1", "--candidates", "1", "--jobs", "1"],
        ["compare", "area.theorem8", "--problem", "lad:x0=3", "--delays", "iid:p_s=0.5", "-k", "6", "--set", "M=50"],
    ],
)
def test_every_command_about_a_theorem_leads_on(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    theorem, runner = THEOREMS[command[1]], CliRunner()
    shown = runner.invoke(application(), command).stdout
    assert f"\n\n{related_links(theorem)}\n" in shown
    below = shown.partition(related_links(theorem))[2].splitlines()
    assert len(below) <= 3  # only the files that were written
    fields = json.loads(runner.invoke(application(), [*command, "--json"]).stdout)
    assert {key: fields[key] for key in theorem.links()} == theorem.links()


def test_the_lines_keep_their_paths_on_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    found = CliRunner().invoke(application(), ["show", "fedcompass.theorem1"])
    assert found.exit_code == ExitCode.STANDS
    assert related_links(THEOREMS["fedcompass.theorem1"]) in found.stdout


def test_the_page_is_what_a_referee_reads() -> None:
    shown = CliRunner().invoke(application(), ["show", "fedcompass.theorem1"]).stdout
    for line in (
        "step size    η = 1/(2·Q_max·L) (or given)",
        "  initial: 2·γ₂·F₀/(Q_min·η·T)",
        "  γ₁ = 1 + (n − 1)/μ′",
        "  G_sq (the paper's M): bound on every ‖∇f_i‖²; ≥ 0; units (2, −2)",
        "  may be set: eta (η, the paper's η_ℓ), mu_step (μ′)",
    ):
        assert line in shown
    assert "**" not in shown
    assert "  √(A·(σ² + (M + 1)·B²/2)/(M·K))" in CliRunner().invoke(application(), ["show", "area.theorem8"]).stdout
