"""docs/python.md: each block of code is run, and prints what stands below it."""

import contextlib
import io
import re
from pathlib import Path

ROOT = next(folder for folder in Path(__file__).parents if (folder / "pyproject.toml").exists())
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n^```\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)


def test_the_page_shows_what_is_printed() -> None:
    names: dict[str, object] = {}
    blocks = BLOCK.findall((ROOT / "docs" / "python.md").read_text(encoding="utf-8"))
    assert len(blocks) >= 3
    for code, shown in blocks:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "docs/python.md", "exec"), names)  # noqa: S102
        assert printed.getvalue() == shown
