"""``boundlab docs``: the pages that commands point to are there wherever boundlab is."""

import re
from pathlib import Path

import pytest
from typer.main import get_command

from boundlab.cli import invoke
from boundlab.cli._app import application
from boundlab.documentation import page_files, pointers
from boundlab.pages.theorem import related_links
from boundlab.registry import registered

SITE = "https://boundlab.example/docs"


def test_every_page_is_listed_and_printed_as_it_stands(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["docs"]) == 0
    listed = capsys.readouterr().out
    for name, path in page_files().items():
        assert re.search(rf"(?m)^{name} ", listed)
        assert invoke(["docs", name]) == 0
        assert capsys.readouterr().out == path.read_text(encoding="utf-8")


def test_every_page_and_section_that_a_theorem_points_to_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    lines = "\n".join(related_links(theorem) for theorem in registered("theorems").values())
    named = set(re.findall(r"boundlab docs (\S+)", lines))
    assert len(named) > 20
    for page in sorted(named):
        assert invoke(["docs", page]) == 0, capsys.readouterr().err
        text = capsys.readouterr().out
        assert text.startswith("#")
        assert ("#" in page) == (len(text) < len(page_files()[page.partition("#")[0]].read_text(encoding="utf-8")))


def test_a_section_ends_before_the_next_heading_that_is_as_high(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "own.md"
    page.write_text("# Own\n\n## One, two (K)\n\ntext\n\n### below\n\n```sh\n# code\n```\n\nmore\n\n## Other\n\nlast\n")
    monkeypatch.setattr("boundlab.cli.docs.page_files", lambda: {"own": page})
    assert invoke(["docs", "own#one-two-k"]) == 0
    assert capsys.readouterr().out == "## One, two (K)\n\ntext\n\n### below\n\n```sh\n# code\n```\n\nmore\n"
    assert invoke(["docs", "own#other"]) == 0
    assert capsys.readouterr().out == "## Other\n\nlast\n"
    assert invoke(["docs", "own#thre"]) == 2
    assert invoke(["docs", "verdicts"]) == 2


def printed() -> str:
    """Return what points to pages: theorems, proofs, and the help of all commands."""
    sources = [pointers(script.source) for script in registered("proofs").values()]
    top = get_command(application())
    helps = [
        *(command.get_short_help_str(400) for command in top.commands.values()),
        *(str(getattr(one, "help", "")) for command in top.commands.values() for one in command.params),
    ]
    return "\n".join([*(related_links(theorem) for theorem in registered("theorems").values()), *sources, *helps])


def test_what_points_to_a_page_is_a_command_and_no_path() -> None:
    assert not re.search(r"docs/\S*\.md", printed())
    assert "boundlab docs sweep" in printed()
    assert "boundlab docs afl_dga" in printed()


def test_a_pointer_has_the_address_of_the_page_once_there_is_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = printed()
    assert invoke(["show", "area.theorem8"]) == 0
    assert capsys.readouterr().out.endswith("\nwhy: boundlab docs area\n")
    monkeypatch.setattr("boundlab.__about__.SITE", SITE)
    assert re.sub(rf" \({SITE}/\S+\)", "", printed()) == before
    root = page_files()["tutorial"].parents[1]
    found = re.findall(rf"boundlab docs (\S+) \({SITE}/(\S+)\.html(#\S+)?\)", printed())
    assert len(found) > 60
    for name, path, anchor in found:
        assert name == Path(path).name + anchor
        assert (root / f"{path}.md").is_file()
    assert invoke(["show", "area.theorem8"]) == 0
    assert capsys.readouterr().out.endswith(f"\nwhy: boundlab docs area ({SITE}/docs/theory/area.html)\n")


def test_pages_of_ones_own_stay_as_they_are() -> None:
    for folder, name in (("docs", "mine"), ("docs", "area"), ("docs/theory", "sweep"), ("paper/docs", "sweep")):
        path = f"{folder}/{name}.md"
        assert pointers(path) == path
