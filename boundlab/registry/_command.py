"""Command lines to be run again: they name the files whose objects they need."""

import shlex
from pathlib import Path

from boundlab.registry._sources import files


def command_line(*words: str) -> str:
    """Return ``boundlab WORDS`` for a shell, with ``--plugin`` for each file that is in use now.

    Without them the line would end with another answer wherever BOUNDLAB_PLUGINS is not what it is here.
    Installed packages need no word.

    Examples
    --------
    >>> command_line("compare", "area.theorem8", "--set", "periods=[1,30]")
    "boundlab compare area.theorem8 --set 'periods=[1,30]'"
    """
    named = [word for path in files() for word in ("--plugin", _near(path))]
    return shlex.join(["boundlab", *named, *words])


def _near(path: Path) -> str:
    """Return a path as it is typed here."""
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)
