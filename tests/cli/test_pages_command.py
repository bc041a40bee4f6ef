"""``boundlab docs``: the pages that commands point to are there wherever boundlab is."""

import re
from pathlib import Path

import pytest

from boundlab.cli import invoke
from boundlab.cli._complete import page_files
from boundlab.pages.related_links import related_links
from boundlab.registry import registered


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
