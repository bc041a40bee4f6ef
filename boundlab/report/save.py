"""Write results to files."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

from boundlab.files import write_json
from boundlab.verdict import Verdict

if TYPE_CHECKING:
    from boundlab.compare.comparison import Comparison


def save_case(result: "Comparison", where: Path) -> list[Path]:
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
    if result.verdict is not Verdict.VIOLATED:
        return []
    name = re.sub(r"[^\w.-]", "_", result.plan.theorem.id)
    path = where / f"{name}.case.json"
    write_json(path, result.case())
    return [path]


def save_comparison(result: "Comparison", where: Path) -> list[Path]:
    """Write ``result.json``, and the case file if the bound is violated, into a folder.

    Returns
    -------
    list of Path
        What was written.

    Raises
    ------
    OutputError
        If a file cannot be written; files are whole or absent.
    """
    path = where / "result.json"
    write_json(path, result.as_dict())
    return [path, *save_case(result, where)]
