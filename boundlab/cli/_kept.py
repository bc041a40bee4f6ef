"""Pages that were shown before, kept in the user's cache folder, so that SymPy is not loaded to show them again.

Each stands under a hash of all that it depends on: what is asked, a file of the user's, every file of boundlab, Python,
and which packages are installed. What a plug-in does, nobody knows: with one nothing is kept. What cannot be written,
or is no longer what was written, is made anew. BOUNDLAB_CACHE=0 switches all of it off.
"""

import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from boundlab.errors import BoundlabError, SpecError
from boundlab.files import cache_folder, check_readable, write_text
from boundlab.registry import only_built_in

VARIABLE = "BOUNDLAB_CACHE"
_PACKAGE = Path(__file__).parents[1]
_FOLDER, _MOST = "shown", 500
_LARGEST = 1 << 22
_INSTALLED = (".dist-info", ".egg-info", ".egg-link", ".pth")
_TROUBLE = (BoundlabError, OSError, RuntimeError, ValueError)


def key_of(asked: Sequence[Any], file: Path | None) -> str | None:
    """Return the hash of what is shown; None where that depends on more than can be hashed.

    Parameters
    ----------
    asked
        The command and its arguments, JSON-ready.
    file
        The user's file, if it is about one.
    """
    if os.environ.get(VARIABLE, "1") in ("", "0"):
        return None
    try:
        declared = only_built_in()
        if declared is None:
            return None
        digest = sha256()
        for name, content in _parts([asked, declared], file):
            digest.update(f"{name}\0{len(content)}\0".encode("utf-8", "surrogateescape") + content)
        return digest.hexdigest()
    except _TROUBLE:
        return None


def kept(key: str | None) -> Any:
    """Return what was shown; None where it is not kept."""
    with suppress(*_TROUBLE):
        if key is not None:
            path = cache_folder(_FOLDER) / f"{key}.json"
            check_readable(path, SpecError, _LARGEST)
            found = json.loads(path.read_bytes())
            if isinstance(found, dict) and found.get("sha256") == _seal(key, found.get("shown")):
                return found["shown"]
    return None


def keep(key: str | None, shown: Any) -> None:
    """Keep what is shown; of all that is kept, the oldest goes."""
    with suppress(*_TROUBLE):
        if key is not None:
            folder = cache_folder(_FOLDER)
            write_text(folder / f"{key}.json", json.dumps({"sha256": _seal(key, shown), "shown": shown}))
            for old in sorted(folder.glob("*.json"), key=lambda path: path.stat().st_mtime)[:-_MOST]:
                old.unlink()


def _seal(key: str, shown: Any) -> str:
    return sha256(json.dumps([key, shown]).encode()).hexdigest()


def _parts(asked: Sequence[Any], file: Path | None) -> Iterator[tuple[str, bytes]]:
    """Yield all that a page depends on, each with a name."""
    yield "asked", json.dumps(asked).encode()
    settings = sorted(f"{name}={value}" for name, value in os.environ.items() if name.startswith("SYMPY_"))
    yield "python", "\0".join([sys.version, *settings]).encode("utf-8", "surrogateescape")
    for place in sys.path:
        with suppress(OSError):
            there = sorted(one.name for one in Path(place).iterdir() if one.suffix in _INSTALLED)
            yield place, "\0".join(there).encode("utf-8", "surrogateescape")
    sympy = find_spec("sympy")
    yield "sympy", Path(str(sympy and sympy.origin)).with_name("release.py").read_bytes()
    if file is not None:
        check_readable(file, SpecError, _LARGEST)
        yield str(file.absolute()), file.read_bytes()
    for folder, inside, names in os.walk(_PACKAGE.resolve(strict=True), followlinks=True):
        inside[:] = sorted(one for one in inside if one != "__pycache__")
        yield from ((f"{folder}/{name}", Path(folder, name).read_bytes()) for name in sorted(names))
