"""Each block of code on the pages about data, design, Python and tests is run, and prints what stands below it."""

import contextlib
import io
import re
from pathlib import Path

import pytest

ROOT = next(folder for folder in Path(__file__).parents if (folder / "pyproject.toml").exists())
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n^```\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)


@pytest.mark.sweep(4)
@pytest.mark.parametrize(
    ("page", "heading"),
    [("data", ""), ("about", "## Design"), ("questions", "## From Python"), ("plugins", "## Tests for authors")],
)
def test_the_page_shows_what_is_printed(
    page: str, heading: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    # Flower is no dependency.
    blocks = [one for one in BLOCK.findall(text[text.index(heading) :]) if "flwr" not in one[0]]
    assert len(blocks) >= 3
    for code, shown in blocks:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, f"docs/{page}.md", "exec"), names)  # noqa: S102
        assert printed.getvalue() == shown
