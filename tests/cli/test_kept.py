"""What is shown again is what would be shown anew: all that it depends on is in the name under which it is kept."""

import itertools
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import boundlab
from boundlab.cli import _kept, invoke, listing
from boundlab.cli._kept import keep, kept, key_of
from boundlab.registry import registered
from boundlab.verdict import ExitCode

FORMS = ([], ["--latex"], ["--core"], ["--json"], ["--core", "--json"])
OWN = """id = "mine"
metric = "gradient-norm"
algorithm = "gd"
[step]
alpha = "1/L"
[terms]
bound = "2*L*F0/K"
"""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return where pages are kept."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("BOUNDLAB_CACHE", "1")
    return tmp_path / "cache" / "boundlab" / "shown"


@pytest.fixture
def package(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder that takes the place of boundlab's, with a few files in it."""
    place = tmp_path / "boundlab"
    texts = {
        "__init__.py": "",
        "cli/_kept.py": "",
        "__about__.py": "v = '1'",
        "theorems/area/area.theorem8.toml": "K",
        "schemas/a.json": "{}",
    }
    for name, text in texts.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
    monkeypatch.setattr(_kept, "_PACKAGE", place)
    return place


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert invoke(["show", *arguments]) == ExitCode.STANDS
    return capsys.readouterr().out


def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Note which theorems are shown anew."""
    found: list[str] = []
    before = listing._shown

    def note(theorem: str, *options: bool) -> Any:
        found.append(theorem)
        return before(theorem, *options)

    monkeypatch.setattr(listing, "_shown", note)
    return found


@pytest.mark.sweep(36)
@pytest.mark.parametrize("name", registered("theorems"))
def test_every_theorem_is_shown_again_as_it_was(
    name: str, cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    anew = made(monkeypatch)
    for form in FORMS:
        monkeypatch.setenv("BOUNDLAB_CACHE", "0")
        expected = shown(capsys, name, *form)
        assert not cache.exists() or form
        monkeypatch.setenv("BOUNDLAB_CACHE", "1")
        before = len(anew)
        assert [shown(capsys, name, *form) for _ in range(3)] == 3 * [expected]
        assert len(anew) == before + 1
    assert len(list(cache.iterdir())) == len(FORMS)


@pytest.mark.nightly
def test_a_second_call_loads_no_sympy_and_no_numpy(tmp_path: Path) -> None:
    program = (
        "import sys; from boundlab.cli import invoke; code = invoke(['show', 'area.theorem8', *sys.argv[1:]]); "
        "sys.stderr.write(' '.join(name for name in ('sympy', 'numpy', 'boundlab.theorems') if name in sys.modules))"
    )
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "BOUNDLAB_CACHE": "1"}
    for form in FORMS:
        command = [sys.executable, "-c", program, *form]
        runs = [subprocess.run(command, capture_output=True, check=True, env=environment) for _ in range(2)]
        assert [run.stderr.decode().split() for run in runs] == [["sympy", "numpy", "boundlab.theorems"], []]
        assert runs[0].stdout == runs[1].stdout


class TestAllThatItDependsOn:
    """Each file, each name and each version is in the key."""

    @pytest.mark.nightly
    def test_the_files_of_boundlab_that_a_page_is_made_with_are(self, tmp_path: Path) -> None:
        program = (
            "import sys; from boundlab.cli import invoke; invoke(['show', 'area.theorem8']); sys.stderr.write("
            "'\\n'.join(str(one.__file__) for name, one in sys.modules.items() if name.split('.')[0] == 'boundlab'))"
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=tmp_path)
        names = {name for name, _ in _kept._parts([], None)}
        root = Path(boundlab.__file__).resolve().parent
        loaded = [Path(line).resolve() for line in done.stderr.split("\n")]
        assert len(loaded) > 50
        assert {str(path) for path in loaded} <= names
        assert {str(path) for path in root.rglob("*.py")} <= names

    def test_every_file_of_the_package_and_every_name(self, package: Path) -> None:
        keys = [key_of(["a"], None)]
        (package / "theorems" / "__pycache__").mkdir()
        (package / "theorems" / "__pycache__" / "area.pyc").touch()
        assert key_of(["a"], None) == keys[0]
        for path in [*package.rglob("*.*"), package / "more.py"]:
            if path.suffix != ".pyc":
                with path.open("ab") as file:
                    file.write(b"\0")
                keys.append(key_of(["a"], None))
                path.rename(path.with_name(f"other-{path.name}"))
                keys.append(key_of(["a"], None))
        assert None not in keys
        assert len(set(keys)) == len(keys)

    def test_what_a_link_leads_to(self, package: Path, tmp_path: Path) -> None:
        (package / "theorems").rename(tmp_path / "elsewhere")
        (package / "theorems").symlink_to(tmp_path / "elsewhere")
        before = key_of(["a"], None)
        (tmp_path / "elsewhere" / "area.py").write_text("M")
        assert None not in (before, key_of(["a"], None))
        assert before != key_of(["a"], None)

    def test_the_users_file_and_where_it_is(self, package: Path, tmp_path: Path) -> None:
        path, other = tmp_path / "mine.toml", tmp_path / "other.toml"
        path.write_text(OWN)
        other.write_text(OWN)
        keys = [key_of(["a"], path), key_of(["a"], other), key_of(["a"], None)]
        path.write_text(OWN.replace("2*L", "3*L"))
        keys.append(key_of(["a"], path))
        assert None not in keys
        assert len(set(keys)) == len(keys)

    def test_what_is_asked(self, package: Path) -> None:
        options = list(itertools.product((True, False), repeat=3))
        asked = [["show", name, *one] for name in ("a", "b", "a ") for one in options]
        assert len({key_of(one, None) for one in asked}) == len(asked)

    @pytest.mark.parametrize("what", ["version", "installed", "sympy", "setting", "entry point"])
    def test_python_and_what_is_installed(
        self, what: str, package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.syspath_prepend(str(tmp_path))
        before = key_of(["a"], None)
        match what:
            case "version":
                monkeypatch.setattr(sys, "version", "3.99")
            case "installed":
                (tmp_path / "thing-2.0.dist-info").mkdir()
            case "sympy":
                (tmp_path / "sympy").mkdir()
                (tmp_path / "sympy" / "__init__.py").touch()
                (tmp_path / "sympy" / "release.py").write_text("__version__ = '99'")
                monkeypatch.delitem(sys.modules, "sympy", raising=False)
            case "setting":
                monkeypatch.setenv("SYMPY_GROUND_TYPES", "python")
            case "entry point":
                monkeypatch.setattr(_kept, "only_built_in", lambda: ("boundlab.theorems: mine = mine:THEOREMS",))
        assert None is not before != key_of(["a"], None) is not None

    def test_with_a_plug_in_nothing_is_kept(
        self, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        path = tmp_path / "plugin.py"
        path.write_text("BOUNDLAB = {}\n")
        monkeypatch.setenv("BOUNDLAB_PLUGINS", str(path))
        shown(capsys, "area.theorem8")
        monkeypatch.delenv("BOUNDLAB_PLUGINS")
        assert invoke(["--plugin", str(path), "show", "area.theorem8"]) == ExitCode.STANDS
        assert not cache.exists()

    def test_with_a_package_that_registers_something_nothing_is_kept(
        self, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        place = tmp_path / "other-1.0.dist-info"
        place.mkdir()
        (place / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1.0\n")
        (place / "entry_points.txt").write_text("[boundlab.metrics]\nmine = nowhere:METRICS\n")
        assert key_of(["a"], None) is not None
        monkeypatch.syspath_prepend(str(tmp_path))
        assert key_of(["a"], None) is None

    def test_what_changes_while_it_is_made_is_not_kept(
        self, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        path = tmp_path / "mine.toml"
        path.write_text(OWN)
        before = listing._shown

        def slowly(*arguments: Any) -> Any:
            found = before(*arguments)
            path.write_text(OWN.replace("2*L", "3*L"))
            return found

        monkeypatch.setattr(listing, "_shown", slowly)
        assert "2·L" in shown(capsys, str(path)).replace(" ", "·")
        assert list(cache.iterdir()) == []
        monkeypatch.setattr(listing, "_shown", before)
        assert "3·L" in shown(capsys, str(path)).replace(" ", "·")


class TestWhatIsNotWhatWasWritten:
    """A folder that cannot be written, and an entry that was changed, are passed over in silence."""

    def test_any_changed_byte(self, cache: Path) -> None:
        key, page = "0" * 64, {"page": ["a", 1, {"b": None}], "links": "x"}
        keep(key, page)
        (path,) = cache.iterdir()
        content = path.read_bytes()
        assert kept(key) == page
        for place in range(len(content)):
            for new in {content[place] ^ 1, ord("0"), ord("}")} - {content[place]}:
                path.write_bytes(content[:place] + bytes([new]) + content[place + 1 :])
                assert kept(key) is None
            path.write_bytes(content[:place])
            assert kept(key) is None
        path.write_bytes(content)
        path.rename(path.with_name(f"{'1' * 64}.json"))
        assert kept("1" * 64) is None

    @pytest.mark.parametrize("content", ["", "null", "[]", "{}", '{"sha256": 1}', "[" * 100_000, "\ud800", "NaN"])
    def test_nonsense(self, content: str, cache: Path) -> None:
        cache.mkdir(parents=True)
        (cache / f"{'0' * 64}.json").write_bytes(content.encode("utf-8", "surrogatepass"))
        assert kept("0" * 64) is None

    @pytest.mark.parametrize("spoil", [Path.touch, lambda path: path.symlink_to(path), lambda path: path.mkdir(0o500)])
    def test_a_folder_that_cannot_be_used(
        self, spoil: Callable[[Path], None], cache: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        cache.parent.mkdir(parents=True)
        spoil(cache)
        first = shown(capsys, "area.theorem8")
        assert shown(capsys, "area.theorem8") == first
        assert capsys.readouterr().err == ""

    def test_a_pipe_is_not_waited_for(self, cache: Path) -> None:
        cache.mkdir(parents=True)
        os.mkfifo(cache / f"{'0' * 64}.json")
        assert kept("0" * 64) is None

    def test_the_oldest_goes(self, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(_kept, "_MOST", 3)
        for place in range(5):
            keep(f"{place:064}", place)
            os.utime(cache / f"{place:064}.json", (place, place))
        assert [kept(f"{place:064}") for place in range(5)] == [None, None, 2, 3, 4]


@pytest.mark.parametrize("off", ["", "0"])
def test_it_can_be_switched_off(
    off: str, cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BOUNDLAB_CACHE", off)
    shown(capsys, "area.theorem8")
    assert not cache.exists()
