"""What tests of commands share: a folder with the files that quick calls name."""

import json
import tomllib
from pathlib import Path

import pytest
from command_examples import FILES, PLAN, TRACE

from boundlab.sweep.drive import Folder


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder that a command is run in, with a case, a law and a certificate."""
    monkeypatch.chdir(tmp_path)
    for name, content in FILES.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    (tmp_path / "plan.toml").write_text(PLAN)
    (tmp_path / "trace.csv").write_text(TRACE)
    Folder.make(tmp_path / "swept", tomllib.loads(PLAN))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path
