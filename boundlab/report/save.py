"""Write results to files."""

from pathlib import Path
from typing import TYPE_CHECKING

from boundlab.files import write_json

if TYPE_CHECKING:
    from boundlab.compare.verdict import Comparison


def save_comparison(result: "Comparison", where: Path) -> list[Path]:
    """Write ``result.json``, and ``case.json`` if the bound is violated, into a folder.

    Returns
    -------
    list of Path
        What was written.

    Raises
    ------
    OutputError
        If a file cannot be written; files are whole or absent.
    """
    paths = [where / "result.json"]
    write_json(paths[0], result.as_dict())
    if result.verdict.value == "violated":
        paths.append(where / "case.json")
        write_json(paths[1], result.case())
    return paths
