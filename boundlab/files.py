"""Read JSON with clear messages; write whole files or nothing."""

import contextlib
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from boundlab.errors import BoundlabError, CaseError, OutputError

_LARGEST = 64 * 2**20


def read_json(path: Path, error: type[BoundlabError] = CaseError) -> Any:
    """Read a JSON file of at most 64 MiB; NaN and infinities are not JSON and are refused.

    Raises
    ------
    BoundlabError
        Of the given type, naming the file and the place of the first mistake.
    """

    def refuse(word: str) -> None:
        raise error(f"{path}: {word} is not a number that JSON knows")

    try:
        if path.stat().st_size > _LARGEST:
            raise error(f"{path} is larger than {_LARGEST >> 20} MiB")
        return json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)
    except OSError as reason:
        raise error(f"cannot read {path}: {reason.strerror}") from None
    except UnicodeDecodeError:
        raise error(f"{path} is not UTF-8 text") from None
    except RecursionError:
        raise error(f"{path} is nested too deeply") from None
    except json.JSONDecodeError as reason:
        raise error(f"{path}, line {reason.lineno}: {reason.msg}") from None


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a temporary path beside ``path`` and rename it when the block succeeds.

    A reader never sees a half-written file, and a failure leaves what was there before.

    Raises
    ------
    OutputError
        If the folder does not exist or cannot be written.
    """
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=path.suffix, dir=path.parent)
    except OSError as reason:
        raise OutputError(f"cannot write {path}: {reason.strerror}") from None
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o644)
        temporary.replace(path)
    except OSError as reason:
        raise OutputError(f"cannot write {path}: {reason.strerror}") from None
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(path: Path, value: Any) -> None:
    """Write a JSON file atomically."""
    write_text(path, json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def folder(path: Path) -> Path:
    """Create a folder for results if it does not exist, and check that it can be written."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError as reason:
        raise OutputError(f"cannot write into {path}: {reason.strerror}") from None
    return path
