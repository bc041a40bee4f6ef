"""The pages of the documentation: where they lie, and how a text points to them."""

import re
from pathlib import Path

from boundlab import __about__


def page_files() -> dict[str, Path]:
    """Return the pages of the documentation by name, those of the theory last."""
    package = Path(__file__).parent  # a wheel has docs/ in the package, a checkout beside it
    folder = next((root / "docs" for root in (package, package.parent) if (root / "docs").is_dir()), package / "docs")
    return {one.stem: one for below in (folder, folder / "theory") for one in sorted(below.glob("*.md"))}


def pointers(text: str) -> str:
    """Return a text with the command that opens a page in place of its path, and the page's address once it has one.

    Pages that are not boundlab's stay as they are.

    Examples
    --------
    >>> pointers("derived for boundlab; docs/theory/classics.md#stochastic-gradients")
    'derived for boundlab; boundlab docs classics#stochastic-gradients'
    >>> pointers("notes.md#the-proof")
    'notes.md#the-proof'
    """
    pages = page_files()

    def pointer(found: re.Match[str]) -> str:
        folder, name, anchor = found.groups(default="")
        if name not in pages or (pages[name].parent.name == "theory") != bool(folder):
            return found[0]
        address = f" ({__about__.SITE}/docs/{folder}{name}.html{anchor})" if __about__.SITE else ""
        return f"boundlab docs {name}{anchor}{address}"

    return re.sub(r"(?<![\w/.-])docs/(theory/)?([\w-]+)\.md(#[\w-]+)?", pointer, text)
