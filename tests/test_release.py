"""What is handed out: the distributions as they are built, and what they do where nothing else of boundlab is."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
from tutorial_page import follow

import boundlab

ROOT = Path(__file__).parents[1]
# Those of .github/workflows/ci.yml. The others of a machine are on its PATH, or are not tried.
PYTHONS = ("3.11", "3.12", "3.13")
WRITTEN = re.compile(r"[\w./-]+\.(?:csv|html|ipynb|json|md|npz|png|py|tex|toml|txt)\b")
# A stub that notes how it is called, in place of all programs of an environment.
NOTE = '#!/bin/sh\necho "$(basename "$0") $*" >> "$(dirname "$0")/../calls"\n'


def run(folder: Path, *command: str | Path, allowed: Sequence[int] = (0,), **environment: str) -> str:
    """Run a program in a folder, in an environment where no checkout is found; return all that it prints."""
    inherited = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "BOUNDLAB_PLUGINS"}}
    done = subprocess.run(
        [*map(str, command)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        cwd=folder,
        env={**inherited, "COLUMNS": "200", **environment},
    )
    assert done.returncode in allowed, done.stdout
    return done.stdout


class Built(NamedTuple):
    """What ``python -m build`` makes, and what it says."""

    wheel: Path
    source: Path
    log: str


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of what is under version control, or would be: no leftover of an earlier build."""
    folder = tmp_path_factory.mktemp("checkout") / "boundlab"
    listed = run(ROOT, "git", "ls-files", "--cached", "--others", "--exclude-standard").splitlines()
    for name in filter(lambda name: (ROOT / name).is_file(), listed):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    return folder


@pytest.fixture(scope="module")
def built(checkout: Path) -> Built:
    log = run(checkout, sys.executable, "-m", "build")  # the wheel out of the source distribution, each by itself
    (wheel,) = (checkout / "dist").glob("*.whl")
    (source,) = (checkout / "dist").glob("*.tar.gz")
    return Built(wheel, source, log)


def installed(built: Built, folder: Path, extras: str = "", python: str = sys.executable) -> Path:
    """Install the wheel into a fresh environment; return the folder of its programs."""
    run(folder, python, "-m", "venv", "fresh")
    programs = folder / "fresh" / "bin"
    pinned = ("-c", ROOT / "constraints.txt")
    run(folder, programs / "python", "-m", "pip", "install", "--quiet", *pinned, f"{built.wheel}{extras}")
    run(folder, programs / "python", "-m", "pip", "check")
    return programs


@pytest.mark.nightly
def test_the_distributions_hold_what_they_should_and_building_warns_of_nothing(built: Built) -> None:
    assert not re.search(r"(?i)warn|deprecat", built.log)
    with tarfile.open(built.source) as archive:
        names = [Path(*Path(name).parts[1:]) for name in archive.getnames()]
    tops = {name.parts[0] for name in names if name.parts}
    assert {"boundlab", "problems", "proofs", "docs", "README.md", "LICENSE", "pyproject.toml"} <= tops
    assert not {"tests", "benchmarks", "notebooks", "build"} & tops
    missing = [path for folder in ("boundlab", "problems", "proofs") for path in (ROOT / folder).rglob("*.py")]
    assert {path.relative_to(ROOT) for path in missing} <= set(names)


@pytest.mark.nightly  # which packages it lists is asked in test_package.py
def test_the_wheel_works_without_extras(built: Built, tmp_path: Path) -> None:
    programs = installed(built, tmp_path)
    tool = programs / "boundlab"
    assert run(tmp_path, tool, "--version").strip() == f"boundlab {boundlab.__version__}"
    assert ": holds: " in run(tmp_path, tool, "exact", "area.theorem8.repaired", "area.theorem8", "-q")
    # What messages and pages advise needs no registered name: the extra of what is installed already.
    run(tmp_path, programs / "python", "-m", "pip", "install", "--no-index", "boundlab[exact]")
    place = run(tmp_path, programs / "python", "-c", "import boundlab; print(boundlab.__path__[0])").strip()
    assert not {"problems", "proofs", "tests", "docs"} & {path.name for path in Path(place).parent.iterdir()}


@pytest.mark.nightly
@pytest.mark.parametrize("version", PYTHONS)
def test_the_tutorial_runs_from_the_wheel_and_what_is_printed_opens(built: Built, tmp_path: Path, version: str) -> None:
    own = sys.executable if version == f"{sys.version_info[0]}.{sys.version_info[1]}" else None
    python = own or shutil.which(f"python{version}")
    if python is None or subprocess.run([python, "--version"], capture_output=True, check=False).returncode:
        pytest.skip(f"Python {version} is not installed")
    programs, folder = installed(built, tmp_path, "[all]", python), tmp_path / "empty"
    folder.mkdir()

    def command(line: str) -> str:
        # Refuted, undecided and not applicable are answers.
        return run(folder, "/bin/sh", "-c", line, allowed=(0, 1, 3, 4), PATH=f"{programs}:{os.environ['PATH']}")

    printed = "\n".join(follow(folder, lambda text: run(folder, programs / "python", "-c", text), command))
    printed += run(folder, programs / "boundlab", "demo", "--out", "demo")
    pages = set(re.findall(r"boundlab docs ([\w#-]+)", printed))
    assert pages >= {"tutorial"}
    for page in pages:
        assert run(folder, programs / "boundlab", "docs", page).startswith("#")
    paths = sorted(set(WRITTEN.findall(printed)))
    assert len(paths) > 10, paths
    assert [path for path in paths if not (folder / path).exists()] == []


def test_an_environment_with_more_extras_is_not_made_again_for_fewer(tmp_path: Path) -> None:
    """``make demo`` asks no index after ``make test`` or ``make lint``, nor does ``make test`` after ``make lint``."""

    def made(venv: str, *targets: str) -> list[str]:
        calls = tmp_path / venv / "calls"
        calls.unlink(missing_ok=True)
        run(ROOT, "make", *targets, f"VENV={tmp_path / venv}")
        return [line for line in calls.read_text(encoding="utf-8").splitlines() if " install " in line]

    within: Mapping[str, Sequence[str]] = {"demo": (), "test": ("demo", "size"), "nightly": ("demo", "test")}
    for first, later in within.items():
        programs = tmp_path / first / "bin"
        programs.mkdir(parents=True)
        for name in ("python", "boundlab"):
            (programs / name).write_text(NOTE, encoding="utf-8")
            (programs / name).chmod(0o755)
        assert len(made(first, first)) == 1
        assert made(first, first, *later) == []
    assert len(made("demo", "test")) == 1


@pytest.mark.nightly
def test_the_demo_needs_no_index_once_it_is_installed(checkout: Path) -> None:
    run(checkout, "make", "demo", f"PYTHON={sys.executable}")
    again = run(checkout, "make", "demo", PIP_NO_INDEX="1", PIP_FIND_LINKS="")
    assert "next: boundlab audit area.theorem8" in again
    assert "pip" not in again


@pytest.mark.nightly
def test_what_is_installed_by_hashes_is_what_is_pinned_and_enough(checkout: Path, built: Built, tmp_path: Path) -> None:
    run(checkout, "make", "constraints", f"PYTHON={sys.executable}")
    hashed = checkout / "dist" / "constraints-hashed.txt"
    pins = set(re.findall(r"(?m)^([\w.-]+==\S+)", hashed.read_text(encoding="utf-8")))
    pinned = (ROOT / "constraints.txt").read_text(encoding="utf-8").lower().replace("_", "-").splitlines()
    assert len(pins) > 50
    assert pins <= set(pinned)
    run(tmp_path, sys.executable, "-m", "venv", "fresh")
    programs = tmp_path / "fresh" / "bin"
    pip = (programs / "python", "-m", "pip")
    run(tmp_path, *pip, "install", "--quiet", "--require-hashes", "-r", hashed)
    run(tmp_path, *pip, "install", "--quiet", "--no-deps", "--no-index", built.wheel)
    run(tmp_path, *pip, "check")
    assert "next: boundlab audit area.theorem8" in run(tmp_path, programs / "boundlab", "demo")
