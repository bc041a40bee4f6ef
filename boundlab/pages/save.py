"""Write results to files."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from boundlab.files import RESULT, write_folder, write_json
from boundlab.verdict import Verdict

if TYPE_CHECKING:
    from boundlab.files import Document
    from boundlab.theorems import Theorem


class Saved(Protocol):
    """Result that can be saved: a comparison, or several of one theorem."""

    @property
    def theorem(self) -> "Theorem":
        """Compared theorem."""

    @property
    def verdict(self) -> Verdict:
        """Resulting verdict."""

    @property
    def case(self) -> "Document":
        """The case file of a violation."""

    def as_dict(self) -> dict[str, Any]:
        """Return what ``result.json`` says."""


def case_name(theorem: str, kind: str = "case") -> str:
    """Return the name of the case file of a theorem's violation; ``kind``: as ``counterexample``, for a search's."""
    return f"{re.sub(r'[^A-Za-z0-9_.-]', '_', theorem)[:100]}.{kind}.json"


def files_of(result: "Saved", where: Path, *, whole: bool) -> list[Path]:
    """Return what :func:`save_comparison` (``whole``), or else :func:`save_case`, will write into a folder."""
    case = [where / case_name(result.theorem.id)] if result.verdict is Verdict.VIOLATED else []
    return [where / RESULT, *case] if whole else case


def save_case(result: "Saved", where: Path) -> list[Path]:
    """Write ``THEOREM.case.json`` into a folder if the bound is violated: a violation is never only a sentence.

    Returns
    -------
    list of Path
        What was written.

    Raises
    ------
    OutputError
        If the file cannot be written.
    """
    found = files_of(result, where, whole=False)
    for path in found:
        write_json(path, result.case)
    return found


def save_comparison(result: "Saved", where: Path, others: tuple[str, ...] = ()) -> list[Path]:
    """Write ``result.json``, and the case file if the bound is violated, in place of what the folder held of both.

    Parameters
    ----------
    others
        Names of further files in the folder that belong to the result, such as a plot.

    Returns
    -------
    list of Path
        What was written.

    Raises
    ------
    OutputError
        If a file cannot be written; files are whole or absent.
    """
    found = files_of(result, where, whole=True)
    write_folder(where, result.as_dict(), {path.name: result.case for path in found[1:]}, others)
    return found
