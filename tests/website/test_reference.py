"""The reference of the site writes itself from what is public, wherever that lies."""

import subprocess
import sys
from pathlib import Path

ROOT = next(folder for folder in Path(__file__).parents if (folder / "pyproject.toml").exists())


def test_all_that_questions_return_is_found_where_users_find_it(tmp_path: Path) -> None:
    made = (sys.executable, str(ROOT / "website" / "assemble.py"), str(tmp_path))
    done = subprocess.run(made, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "reference" / "python.md").read_text(encoding="utf-8")
    answers = [line.rpartition(" ")[2] for line in text.splitlines() if line.startswith(".. autoclass:: ")]
    assert {"boundlab.compare.Horizons", "boundlab.audit.Audit", "boundlab.Comparison"} <= {*answers}
    assert not [one for one in answers if "._" in one]
