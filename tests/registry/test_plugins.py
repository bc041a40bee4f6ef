"""Built-in objects and those of plug-ins are found by their ids; a broken plug-in is a row and takes no other down."""

import json
import os
import sys
from pathlib import Path

import pytest
from own_theorem import own_theorem
from statements import statement, statement_file

from boundlab import metrics
from boundlab.assumptions import assumption
from boundlab.cli import invoke
from boundlab.errors import SpecError
from boundlab.registry import KINDS, TYPES, WORDS, beside, catalogue, find, lookup, registered, value_of
from boundlab.theorems import load_theorem

GOOD = """
import dataclasses

from boundlab.algorithms.gd import GD
from boundlab.checks import Check, group
from boundlab.delays import DelayType
from boundlab.theorems import load_theorem


@dataclasses.dataclass(frozen=True)
class Nap:
    length: "float" = 1.0


@group("mood", "the theorem is in a good mood")
def mood(view):
    yield Check("mood.today", "it is", "failed" if view.theorem.shape else "passed", "", "implies more")


THEOREM = dataclasses.replace(load_theorem("area.theorem8"), id="mine.theorem", status="user")
SLEEPY = DelayType("sleepy", "a law of a user's own", lambda options, n: None, {})
BOUNDLAB = {"delays": SLEEPY, "theorems": [THEOREM], "checks": (mood,)}
"""
# What a file may hold, and the words of the refusal.
BROKEN = {
    "import numpi": "ModuleNotFoundError: No module named 'numpi'",
    "raise SystemExit(0)": "SystemExit: 0",
    "1 / 0": "ZeroDivisionError: division by zero",
    "def (": "SyntaxError",
    "": "it must set BOUNDLAB",
    "BOUNDLAB = 3": "it must set BOUNDLAB",
    "BOUNDLAB = {'theorm': ()}": "did you mean theorems?",
    "class E(Exception):\n    def __str__(self): raise SystemExit(1)\nraise E": "E",
    "import sys; del sys.modules[__name__]; 1 / 0": "ZeroDivisionError: division by zero",
    "class O(dict):\n    def keys(self): raise SystemExit(1)\n    __iter__ = keys\nBOUNDLAB = O(a=())": "SystemExit: 1",
}
BAD_OBJECTS = {
    "3": "an int, not a DelayType",
    "(3,)": "an int, not a DelayType",
    "DelayType": "the class DelayType, not a DelayType",
    "DelayType('', 'no id', None, {})": "a DelayType without an id",
    "DelayType(None, 'no id', None, {})": "a DelayType without an id",
    "DelayType('exponential', 'taken', None, {})": "boundlab registers the same id",
}


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Return a function that lays out what pip would install: modules and their entry points."""

    def install(name: str, points: str, **modules: str) -> None:
        info = tmp_path / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(points)
        for module, text in modules.items():
            (tmp_path / f"{module}.py").write_text(text)
            monkeypatch.delitem(sys.modules, module, raising=False)
        monkeypatch.syspath_prepend(str(tmp_path))

    return install


@pytest.fixture
def file(tmp_path, monkeypatch):
    """Return a function that writes a file and names it in BOUNDLAB_PLUGINS."""

    def write(text: str, name: str = "mine.py") -> Path:
        path = tmp_path / name
        path.write_text(text)
        before = [one for one in os.environ.get("BOUNDLAB_PLUGINS", "").split(os.pathsep) if one]
        monkeypatch.setenv("BOUNDLAB_PLUGINS", os.pathsep.join([*before, str(path)]))
        return path

    return write


def test_every_kind_has_its_word_its_type_and_its_place_in_the_help(capsys):
    assert set(WORDS) == set(TYPES) == set(KINDS)
    assert invoke(["list", "--help"]) == 0
    assert f"[{'|'.join((*KINDS, 'symbols'))}]" in "".join(capsys.readouterr().out.split())


POINTS = "[boundlab.delays]\nsleepy = fine_plugin:SLEEPY\n[boundlab.theorems]\nmine = fine_plugin:THEOREM\n"


def test_a_package_with_entry_points_is_listed_and_looked_up(package):
    package("fine", POINTS, fine_plugin=GOOD)
    assert "sleepy" in registered("delays")
    assert lookup("theorems", "mine.theorem").status == "user"
    assert lookup("theorems", "area.theorem8").status == "as printed"


@pytest.mark.parametrize("kind", KINDS)
def test_every_object_is_found_by_its_id_and_none_by_another(kind):
    for name, item in registered(kind).items():
        assert find(kind, name) is item
        assert lookup(kind, name) is item
    assert find(kind, "of nobody") is None


def test_beside_a_built_in_object_stand_those_of_its_entry_point_and_of_plug_ins(package):
    package("fine", POINTS, fine_plugin=GOOD)
    every = registered("theorems")
    for name, item in every.items():
        near = beside("theorems", item)
        assert near[name] is item
        assert {"mine.theorem"} <= near.keys() <= every.keys()
    assert beside("theorems", every["mine.theorem"]) == every
    assert "fedfa.theorem1" not in beside("theorems", every["area.theorem8"])


def test_an_unknown_id_is_answered_with_the_nearest():
    with pytest.raises(SpecError, match=r"unknown delay model 'exponentiel'; did you mean exponential\?"):
        lookup("delays", "exponentiel")


def test_a_broken_entry_point_is_a_row_and_takes_no_other_down(package, capsys):
    package("broken", "[boundlab.algorithms]\nmyrennala = broken_plugin:MYRENNALA\n", broken_plugin="import numpi")
    package("fine", POINTS, fine_plugin=GOOD)
    assert "area" in registered("algorithms")
    assert invoke(["list", "algorithms"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "myrennala cannot be loaded (ModuleNotFoundError: No module named 'numpi') broken 1.0" in shown
    assert invoke(["list", "algorithms", "--json"]) == 0
    last = json.loads(capsys.readouterr().out)["entries"][-1]
    assert last["id"] == "myrennala"
    assert last["cannot_be_loaded"] == "ModuleNotFoundError: No module named 'numpi'"
    assert invoke(["run", "myrennala", "--set=alpha=1"]) == 2
    err = capsys.readouterr().err
    assert "unknown algorithm 'myrennala'" in err
    assert "myrennala: cannot be loaded (ModuleNotFoundError" in err
    assert err.count("\n") == 1


@pytest.mark.sweep(4)
@pytest.mark.parametrize("value", ["gone_module:THING", "json:nothing", "json:loads", "json", "json:dumps.nothing"])
@pytest.mark.parametrize("kind", KINDS)
def test_an_entry_point_of_every_kind_may_be_broken(kind, value, package):
    before = set(registered(kind))
    package("broken", f"[boundlab.{kind}]\nmine = {value}\n")
    assert set(registered(kind)) == before
    assert [(row.id, row.origin) for row in catalogue(kind) if row.reason] == [("mine", "broken 1.0")]
    with pytest.raises(SpecError, match=r"mine: cannot be loaded \("):
        lookup(kind, "mine.thing")


@pytest.mark.parametrize(("text", "words"), BAD_OBJECTS.items())
def test_what_is_no_object_of_its_kind_is_a_row_with_the_reason(text, words, file):
    file(f"from boundlab.delays import DelayType\nBOUNDLAB = {{'delays': {text}}}\n")
    (row,) = (row for row in catalogue("delays") if row.reason)
    assert words in row.reason


def test_the_option_loads_a_file_for_one_command(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("BOUNDLAB_PLUGINS", raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(GOOD)
    other = "from boundlab.delays import DelayType\nBOUNDLAB = {'delays': DelayType('other', 'too', None, {})}\n"
    (tmp_path / "other.py").write_text(other)
    assert invoke(["--plugin", "mine.py", "--plugin=other.py", "list", "delays", "--json"]) == 0
    found = {one["id"]: one for one in json.loads(capsys.readouterr().out)["entries"]}
    assert found["sleepy"]["from"] == str(tmp_path / "mine.py")
    assert found["other"]["from"] == str(tmp_path / "other.py")
    assert "from" not in found["exponential"]
    assert "BOUNDLAB_PLUGINS" not in os.environ
    assert invoke(["show", "mine.theorem"]) == 2


def test_a_check_of_a_plugin_takes_part_with_its_own_group(file, capsys):
    file(GOOD)
    assert invoke(["check", "area.theorem8.repaired", "--only", "mood", "-v"]) == 0
    assert "mood.today" in capsys.readouterr().out
    assert invoke(["check", "area.theorem7", "--only", "mood,units", "--json"]) == 1
    ids = [one["id"] for one in json.loads(capsys.readouterr().out)["checks"]]
    assert ids[-1] == "mood.today"
    assert ids[0].startswith("units")


@pytest.mark.sweep(4)
@pytest.mark.parametrize(("text", "words"), BROKEN.items())
def test_a_file_that_cannot_be_loaded_is_bad_input_by_option_and_a_row_by_environment(text, words, file, capsys):
    path = file(text)
    for kind in KINDS:
        (row,) = (row for row in catalogue(kind) if row.reason)
        assert row.origin == str(path)
        assert words in row.reason
    assert invoke(["list"]) == 0
    capsys.readouterr()
    assert invoke(["--plugin", str(path), "list"]) == 2
    err = capsys.readouterr().err
    assert f"the plug-in {path} cannot be loaded ({row.reason})" in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("name", ["gone.py", ".", "mine.txt", "mine.so", "mine.pyc", "~nobody/mine.py"])
def test_a_file_that_is_none_is_bad_input(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for end in ("txt", "so", "pyc"):
        (tmp_path / f"mine.{end}").write_text(GOOD)
    assert invoke(["--plugin", name, "list"]) == 2
    err = capsys.readouterr().err
    assert "cannot be loaded (" in err
    assert err.count("\n") == 1


def test_what_a_file_declares_is_asked_for_once(file, capsys):
    file("class Own(dict):\n    def __contains__(self, kind): raise SystemExit(1)\nBOUNDLAB = Own(delays=())")
    assert invoke(["list", "delays"]) == 0
    assert invoke(["list", "metrics"]) == 0
    assert "cannot be loaded" not in capsys.readouterr().out


@pytest.mark.parametrize("text", ["~nobody/mine.py", f" {os.pathsep}{os.pathsep}", "null.py/mine.py"])
def test_nonsense_in_the_variable_takes_nothing_down(text, monkeypatch, capsys):
    monkeypatch.setenv("BOUNDLAB_PLUGINS", text)
    assert invoke(["show", "area.theorem8"]) == 0
    assert capsys.readouterr().err == ""


def test_a_theorem_may_be_about_a_metric_of_a_plugin(file, tmp_path):
    with pytest.raises(SpecError, match="unknown metric 'my-gap'"):
        statement(tmp_path, metric="my-gap", terms={"x": "F0/K"})
    text = "from dataclasses import replace\nfrom boundlab.metrics import metric\n"
    file(f"{text}BOUNDLAB = {{'metrics': replace(metric('gap'), id='my-gap', label='mine')}}\n")
    assert statement(tmp_path, metric="my-gap", terms={"x": "F0/K"}).left.label == "mine"


def test_a_theorem_may_assume_what_a_plugin_says(file, tmp_path, capsys):
    theorem = statement_file(tmp_path, assumptions="smooth quasar", step={"alpha": "1/L"})
    compare = ["compare", str(theorem), "--delays=deterministic", "--iterations=5", "--trials=2"]
    assert invoke(compare) == 2
    assert "unknown assumption 'quasar'" in capsys.readouterr().err
    text = "from boundlab.assumptions import Assumption\n"
    file(f"{text}BOUNDLAB = {{'assumptions': Assumption('quasar', 'f is star-like')}}\n")
    assert invoke(compare) == 4
    assert "mine assumes quasar (f is star-like)" in capsys.readouterr().err


def test_a_file_is_run_again_only_when_it_has_changed(file):
    path = file(GOOD)
    first = lookup("delays", "sleepy")
    assert lookup("delays", "sleepy") is first
    path.write_text(GOOD.replace('"sleepy"', '"drowsy"') + "# changed\n")
    assert "sleepy" not in registered("delays")
    assert lookup("delays", "drowsy").summary == first.summary


def test_the_same_id_in_a_file_and_in_boundlab_is_refused(file):
    file(GOOD.replace("mine.theorem", "area.theorem8"))
    with pytest.raises(SpecError, match=r"two packages register theorem area\.theorem8: boundlab and .*mine\.py"):
        lookup("theorems", "area.theorem8")
    assert [row.reason for row in catalogue("theorems") if row.reason] == ["boundlab registers the same id"]


def test_a_file_that_changes_twice_within_a_second_is_read_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bytecode that Python stores knows a text by the second of its last change and its size."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    file = tmp_path / "mine.py"
    for value in (1, 2, 3):
        file.write_text(f"VALUE = {value}\n")
        os.utime(file, ns=(10**18 + value, 10**18 + value))
        assert value_of(file, "VALUE") == value
    assert not (tmp_path / "__pycache__").exists()


def test_a_file_reads_the_theorem_of_its_own_algorithm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = own_theorem().replace('algorithm = "area"', 'algorithm = "mine"')
    (tmp_path / "mine.toml").write_text(f'{own}[parameters]\nM = "M"\n', encoding="utf-8")
    text = f"""
from boundlab.registry import lookup
from boundlab.theorems import load_theorem
Mine = type("Mine", (type(lookup("algorithms", "area")),), {{"id": "mine"}})
BOUNDLAB = {{"algorithms": Mine(), "theorems": load_theorem({str(tmp_path / "mine.toml")!r})}}
"""
    (tmp_path / "plug.py").write_text(text, encoding="utf-8")
    with pytest.raises(SpecError, match="unknown algorithm 'mine'"):
        load_theorem(str(tmp_path / "mine.toml"))
    monkeypatch.setenv("BOUNDLAB_PLUGINS", str(tmp_path / "plug.py"))
    assert load_theorem("mine").algorithm == "mine"
    assert invoke(["check", "mine", "--only", "scope"]) == 0


@pytest.mark.parametrize(("kind", "name"), [("metrics", "gap"), ("assumptions", "convex")])
def test_the_id_of_a_built_in_metric_or_assumption_is_not_taken_without_a_word(
    kind: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = {"metrics": "boundlab.metrics import METRICS", "assumptions": "boundlab.assumptions import ASSUMPTIONS"}[kind]
    field = {"metrics": "label", "assumptions": "words"}[kind]
    file = tmp_path / "mine.py"
    text = f"import dataclasses\nfrom {own} as KNOWN\n"
    text += f'BOUNDLAB = {{"{kind}": dataclasses.replace(KNOWN["{name}"], {field}="mine")}}\n'
    file.write_text(text.replace("boundlab.metrics import", "boundlab.metrics._metric import"), encoding="utf-8")
    monkeypatch.setenv("BOUNDLAB_PLUGINS", str(file))
    with pytest.raises(SpecError, match=f"register .* {name}: boundlab and .*mine"):
        (metrics.metric if kind == "metrics" else assumption)(name)
