"""The lines that repeat an audit run from another shell: they name the plug-in, and the statement by its hash."""

import hashlib
import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from boundlab.audit._page import how_to_have, origins
from boundlab.cli import invoke
from boundlab.registry import registered, using
from boundlab.theorems import core, load_theorem

PLUGIN = """
from pathlib import Path
from boundlab.theorems import load_theorem
BOUNDLAB = {"theorems": (load_theorem(str(Path(__file__).with_name("mine.toml"))),)}
"""
THEOREM = """id = "mine.gd"
metric = "gap"
algorithm = "gd"
assumptions = ["convex", "smooth"]
[step]
alpha = "1/L"
[terms]
main = "L*R**2/(100*K)"
"""


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    (tmp_path / "mine.toml").write_text(THEOREM, encoding="utf-8")
    path = tmp_path / "a plug-in.py"
    path.write_text(PLUGIN, encoding="utf-8")
    return path


@pytest.mark.nightly
def test_of_a_plugins_theorem(plugin: Path, tmp_path: Path, capsys: Any, monkeypatch: Any) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    audit = ["--plugin", str(plugin), "audit", "mine.gd", "--budget", "20", "--candidates", "20"]
    code = invoke([*audit, "--json", "audit.json", "--html", "audit.html"])
    capsys.readouterr()
    page = (elsewhere / "audit.html").read_text(encoding="utf-8")
    said = json.loads((elsewhere / "audit.json").read_text(encoding="utf-8"))
    with using([plugin]):
        expected = core(registered("theorems")["mine.gd"]).sha256
    assert code == 1
    assert said["core"] == expected
    assert said["origins"] == {"theorem mine.gd": str(plugin)}
    assert expected in page
    own = hashlib.sha256(plugin.read_bytes()).hexdigest()
    assert own in page
    assert said["provenance"]["plugins"] == {str(plugin): own}
    assert "named by --plugin or in BOUNDLAB_PLUGINS" in page
    assert {shlex.split(one)[3] for one in said["commands"]} >= {"show", "check", "falsify", "compare"}
    for command in said["commands"]:
        program, option, file, *words = shlex.split(command)
        assert (program, option, file) == ("boundlab", "--plugin", str(plugin))
        code = invoke([option, file, *words])
        out = capsys.readouterr().out
        assert code == (1 if words[0] == "falsify" else code if words[0] in ("check", "compare") else 0), words
        assert code in (0, 1), words
        assert words[-1] != "--core" or expected in out


def test_a_namesake_of_a_plugins_theorem_has_no_origin(plugin: Path) -> None:
    with using([plugin]):
        assert origins(registered("theorems")["mine.gd"]) == {"theorem mine.gd": str(plugin)}
        assert origins(load_theorem(str(plugin.with_name("mine.toml")))) == {}


def test_what_is_built_in_needs_nothing_else() -> None:
    assert not any(origins(one) for one in registered("theorems").values())


def test_a_package_is_installed_and_a_file_is_named() -> None:
    assert how_to_have("mine 1.2") == "the package mine 1.2, installed with pip install mine==1.2"
    assert how_to_have("/x/y.py") == "the plug-in /x/y.py, named by --plugin or in BOUNDLAB_PLUGINS"
