"""Machine code that is kept is one's own: Numba runs what it finds in a folder."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from boundlab.arithmetic import compiled
from boundlab.errors import OutputError
from boundlab.files import cache_folder


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "loop.py").write_text("def loop(): ...")
    return tmp_path / "loop.py"


def kept(source: Path) -> Path | None:
    return compiled._kept.__wrapped__((str(source),))


def test_a_folder_of_ones_own_is_taken(source: Path) -> None:
    found = kept(source)
    assert found is not None
    assert found.parent == source.parent / "__pycache__"
    assert found.stat().st_mode & 0o077 == 0
    assert kept(source) == found


def for_all(folder: Path) -> None:
    folder.chmod(0o777)


def for_a_group(folder: Path) -> None:
    folder.chmod(0o775)


def a_link(folder: Path) -> None:
    folder.rename(folder.with_name("elsewhere"))
    folder.symlink_to(folder.with_name("elsewhere"))


def a_file(folder: Path) -> None:
    folder.rmdir()
    folder.touch()


@pytest.mark.parametrize("change", [for_all, for_a_group, a_link, a_file])
def test_a_folder_that_others_may_have_filled_is_passed_over(source: Path, change: Callable[[Path], None]) -> None:
    first = kept(source)
    assert first is not None
    change(first)
    second = kept(source)
    assert second is not None
    assert second.is_relative_to(source.parent / "cache")
    change(second)
    assert kept(source) is None


def test_a_folder_of_somebody_else_is_passed_over(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert kept(source) is not None
    me = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: me + 1)
    assert kept(source) is None


def test_who_has_no_home_is_told_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", nowhere)
    with pytest.raises(OutputError, match="set XDG_CACHE_HOME"):
        cache_folder("shown")
