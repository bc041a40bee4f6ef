"""The lines of a sweep's folder, as they are, and plans of quick cells."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any


def lines_of(folder: Path) -> list[dict[str, Any]]:
    """Return the rows of all lines, repeated as they are; a torn one is none."""
    texts = (text for path in (folder / "lines").iterdir() for text in path.read_text().splitlines())
    found = []
    for text in texts:
        with suppress(ValueError):
            found.append(json.loads(text))
    return [row for row in found if "key" in row]


def plan_file(folder: Path, symbols: str, run: str = "") -> Path:
    """Write a plan of one theorem with these lines under [set] and [run]."""
    plan = folder / "plan.toml"
    plan.write_text(
        'theorems = ["area.theorem8.repaired"]\nproblems = ["lad:x0=3"]\ndelays = ["iid:p_s=0.5"]\n'
        f"[set]\n{symbols}\n[run]\niterations = 3\ntrials = 20\n{run}\n"
    )
    return plan
